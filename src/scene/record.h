/* Snapshots and records, from inside. */
#ifndef GRAZE_SRC_SCENE_RECORD_H
#define GRAZE_SRC_SCENE_RECORD_H

#include "graze/record.h"
#include "scene/clearance.h"
#include "scene/live.h"

/* Meshes that a file holds, numbered as they came: by address, for as long as their geometry is the same. */
typedef struct mesh_numbers {
  buffer slots; /* mesh_number; open addressing */
  uint32_t capacity, count, next;
} mesh_numbers;

/* The number of a mesh. *fresh: it has none yet, or one for another geometry, and got the next. False: no memory. */
bool gz_mesh_numbers_get(const graze_context *context, mesh_numbers *n, const graze_mesh *mesh, uint32_t *number,
                         bool *fresh);
/* Whether a mesh has another geometry than what the file holds under this number. */
bool gz_mesh_numbers_is_old(const mesh_numbers *n, const graze_mesh *mesh, uint32_t number);
/* From now on the file holds the mesh as it is under this number. */
void gz_mesh_numbers_keep(mesh_numbers *n, const graze_mesh *mesh, uint32_t number);
void gz_mesh_numbers_release(const graze_context *context, mesh_numbers *n);

/* Sections of the scene as it is: its meshes, then itself. Errors stay in the writer. */
void gz_snapshot_write(graze_scene *scene, archive_writer *w, mesh_numbers *meshes);

/* Makes a scene from the sections up to and with the one of the scene. */
graze_status gz_snapshot_read(graze_context *context, archive_reader *r, graze_scene **scene);

/* The mesh of the section that was read, as the scene's own and next in number. */
graze_status gz_snapshot_read_mesh(graze_context *context, archive_reader *r, graze_scene *scene);

/* The running record of a scene. */
struct recorder {
  archive_writer writer;
  mesh_numbers meshes;
  answer_runs reaches, clearances; /* of the update that runs */
  char *path;
  size_t path_bytes;
};

void gz_record_put_id(archive_writer *w, graze_object_id id);
graze_object_id gz_record_take_id(archive_reader *r);

/* Edits of a step. */
typedef enum record_edit {
  EDIT_ADD = 1,
  EDIT_REMOVE,
  EDIT_POSE,
  EDIT_IGNORE,
  EDIT_IGNORE_LAYERS,
  EDIT_REFIT,
  EDIT_ADD_ROUND, /* a radius, whether it ends flat, and then as EDIT_ADD */
  EDIT_CENTER     /* of an object, also right after it was added */
} record_edit;

/* Beside the model of motion of an update: a width of brackets follows. Versions that do not know it refuse the step.
 */
enum { STEP_HAS_BRACKET = 0x100 };

/* Called after the edit. `recorder` NULL: nobody records. */
void gz_record_add(recorder *recorder, graze_scene *scene, uint32_t place);
void gz_record_remove(recorder *recorder, graze_object_id id);
void gz_record_pose(recorder *recorder, graze_object_id id, const graze_pose *pose);
void gz_record_center(recorder *recorder, graze_object_id id, const double center[3]);
void gz_record_ignore(recorder *recorder, graze_object_id first, graze_object_id second);
void gz_record_ignore_layers(recorder *recorder, const char *first, const char *second);
/* The mesh of the object has another geometry than when an update last looked. */
void gz_record_refit(recorder *recorder, const object *o);
/* An update begins: the answers to its questions are to be kept. There was no memory for them. */
void gz_record_answers(recorder *recorder, clearance_asking *asking);
void gz_record_lacks_memory(recorder *recorder);
/* An update went well. */
void gz_record_update(recorder *recorder, const graze_scene_update_options *options,
                      const graze_scene_update_result *events);
/* Closes the file; the first error. */
graze_status gz_record_end(const graze_context *context, recorder *recorder);

#endif
