/* scene_files.h: made scenes as files. */
#ifndef TOOL_SCENE_FILES_H
#define TOOL_SCENE_FILES_H

#include "base/json.h"
#include "graze/base.h"
#include "scenes.h"
#include "table.h"

typedef struct written {  /* what is told afterwards */
  graze_context *context; /* that writes */
  table files;            /* columns: file, triangles */
  uint64_t triangles;
} written;

/* Into one file when the path ends in .obj or .glb, else into a folder of that name, which is made. What is known of
 * the scene's pairs goes into truth.json there, or PATH.truth.json, how it moves into motion.csv or PATH.motion.csv. A
 * failure ends the program. */
void write_scene_files(const char *path, const scenes_scene *scene, written *done);

/* Parts of a folder that is written otherwise: an OBJ for each mesh, and an object of it. */
void write_scene_meshes(const char *path, const scenes_scene *scene, written *done);
void write_scene_object(gz_json *writer, const scenes_scene *scene, uint32_t number);

#endif
