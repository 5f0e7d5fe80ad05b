/* The record of a run: a snapshot, then for each update the edits before it and what it told.
 *
 * Edits are written as they are made, so that replaying them gives the same ids. An error of the file must not stop the
 * scene: it is remembered, logged once, and nothing more is written.
 */
#include "scene/record.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static bool records(const recorder *rec) {
  return rec != NULL && rec->writer.status == GRAZE_OK;
}

void gz_record_add(recorder *rec, graze_scene *scene, uint32_t place) {
  if (!records(rec)) return;
  archive_writer *w = &rec->writer;
  object *o = scene_object(scene, place);
  const layer_name *layers = scene->layers.data;
  bool fresh;
  w->status = gz_sources_load_all(scene);
  if (w->status != GRAZE_OK) return;
  if (!gz_mesh_numbers_get(w->context, &rec->meshes, o->mesh, &o->recorded, &fresh)) {
    w->status = gz_fail(w->context, GRAZE_ERROR_MEMORY, "out of memory: numbers of meshes");
    return;
  }
  if (fresh) gz_archive_whole_section(w, ARCHIVE_MESH, o->mesh->header, o->mesh->header->block_bytes);
  gz_archive_put_u32(w, o->radius > 0 ? EDIT_ADD_ROUND : EDIT_ADD);
  if (o->radius > 0) {
    gz_archive_put(w, &o->radius, sizeof o->radius);
    gz_archive_put_u32(w, o->flat);
  }
  gz_record_put_id(w, (graze_object_id){place, o->generation});
  gz_archive_put_u32(w, o->recorded);
  gz_archive_put_u64(w, o->user_id);
  gz_archive_put(w, o->pose.m, sizeof o->pose.m);
  gz_archive_put_text(w, o->name);
  gz_archive_put_text(w, o->layer != 0 ? layers[o->layer - 1].name : "");
  if (has_center(o)) gz_record_center(rec, (graze_object_id){place, o->generation}, o->center);
}

void gz_record_remove(recorder *rec, graze_object_id id) {
  if (!records(rec)) return;
  gz_archive_put_u32(&rec->writer, EDIT_REMOVE);
  gz_record_put_id(&rec->writer, id);
}

void gz_record_pose(recorder *rec, graze_object_id id, const graze_pose *pose) {
  if (!records(rec)) return;
  gz_archive_put_u32(&rec->writer, EDIT_POSE);
  gz_record_put_id(&rec->writer, id);
  gz_archive_put(&rec->writer, pose->m, sizeof pose->m);
}

void gz_record_center(recorder *rec, graze_object_id id, const double center[3]) {
  if (!records(rec)) return;
  gz_archive_put_u32(&rec->writer, EDIT_CENTER);
  gz_record_put_id(&rec->writer, id);
  gz_archive_put(&rec->writer, center, 3 * sizeof *center);
}

void gz_record_ignore(recorder *rec, graze_object_id first, graze_object_id second) {
  if (!records(rec)) return;
  gz_archive_put_u32(&rec->writer, EDIT_IGNORE);
  gz_record_put_id(&rec->writer, first);
  gz_record_put_id(&rec->writer, second);
}

void gz_record_ignore_layers(recorder *rec, const char *first, const char *second) {
  if (!records(rec)) return;
  gz_archive_put_u32(&rec->writer, EDIT_IGNORE_LAYERS);
  gz_archive_put_text(&rec->writer, first);
  gz_archive_put_text(&rec->writer, second);
}

void gz_record_refit(recorder *rec, const object *o) {
  if (!records(rec)) return;
  archive_writer *w = &rec->writer;
  const mesh_header *h = o->mesh->header;
  if (!gz_mesh_numbers_is_old(&rec->meshes, o->mesh, o->recorded)) return;
  gz_mesh_numbers_keep(&rec->meshes, o->mesh, o->recorded);
  size_t size = h->vertex_count * 3 * (h->precision == GRAZE_DOUBLE ? sizeof(double) : sizeof(float));
  gz_archive_put_u32(w, EDIT_REFIT);
  gz_archive_put_u32(w, o->recorded);
  gz_archive_put_u64(w, size);
  gz_archive_put(w, (const char *)h + h->vertices, size);
}

void gz_record_answers(recorder *rec, clearance_asking *asking) {
  if (!records(rec)) return;
  rec->reaches.count = rec->clearances.count = 0;
  asking->reaches = &rec->reaches;
  asking->clearances = &rec->clearances;
}

void gz_record_lacks_memory(recorder *rec) {
  if (!records(rec)) return;
  rec->writer.status = gz_fail(rec->writer.context, GRAZE_ERROR_MEMORY, "out of memory: clearances of a record");
}

void gz_record_update(recorder *rec, const graze_scene_update_options *options,
                      const graze_scene_update_result *events) {
  if (rec == NULL) return;
  archive_writer *w = &rec->writer;
  gz_archive_put_u32(w, 0); /* the edits end */
  gz_archive_put_u32(w, options->find);
  gz_archive_put_exactness(w, options->exactness);
  gz_archive_put_u32(w, options->open);
  gz_archive_put_u64(w, events->hash);
  gz_archive_put_u64(w, events->began_count);
  gz_archive_put_u64(w, events->persist_count);
  gz_archive_put_u64(w, events->ended_count);
  const bool clear = options->clearance != NULL;
  if (options->continuous != GRAZE_MOTION_STEPS || clear) { /* else nothing, as from versions that know of neither */
    const bool bracket = options->bracket > 0;
    gz_archive_put_u32(w, options->continuous | (bracket ? STEP_HAS_BRACKET : 0));
    if (bracket) gz_archive_put_double(w, options->bracket);
    gz_archive_put_u64(w, events->passed_count);
    gz_archive_put_u64(w, events->time_hash);
  }
  if (clear) {
    gz_answers_put(w, &rec->reaches);
    gz_answers_put(w, &rec->clearances);
    gz_archive_put_u64(w, events->gap_hash);
  }
  if (w->status == GRAZE_OK) gz_archive_end_section(w, ARCHIVE_STEP);
}

graze_status gz_record_end(const graze_context *context, recorder *rec) {
  if (rec == NULL) return GRAZE_OK;
  graze_status status = rec->writer.status;
  if (close(rec->writer.file) != 0 && status == GRAZE_OK) status = gz_file_error(context, rec->path, "cannot write");
  gz_mesh_numbers_release(context, &rec->meshes);
  gz_buffer_release(context, &rec->reaches.runs);
  gz_buffer_release(context, &rec->clearances.runs);
  gz_archive_writer_release(&rec->writer);
  gz_memory_release(context, rec->path, rec->path_bytes);
  gz_memory_release(context, rec, sizeof *rec);
  return status;
}

/* Without its beginning a record is good for nothing: a file that was made for it is taken away. */
static graze_status give_up(const graze_context *context, recorder *rec, const char *path) {
  struct stat about;
  bool is_file = fstat(rec->writer.file, &about) == 0 && S_ISREG(about.st_mode);
  graze_status status = gz_record_end(context, rec);
  if (is_file) unlink(path);
  return status;
}

graze_status graze_scene_record(graze_scene *scene, const char *path) {
  if (scene == NULL) return GRAZE_ERROR_ARGUMENT;
  const graze_context *context = scene->context;
  if (path == NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "record: no path");
  if (scene->recorder != NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "record: the scene is being recorded");
  size_t bytes = strlen(path) + 1;
  recorder *rec = gz_memory_alloc(context, sizeof *rec);
  char *copy = gz_memory_alloc(context, bytes);
  int file = rec != NULL && copy != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
  if (file < 0) {
    graze_status status = rec == NULL || copy == NULL ? gz_fail_memory(context, sizeof *rec + bytes)
                                                      : gz_file_error(context, path, "cannot create");
    gz_memory_release(context, rec, sizeof *rec);
    gz_memory_release(context, copy, bytes);
    return status;
  }
  memcpy(copy, path, bytes);
  *rec = (recorder){.path = copy, .path_bytes = bytes};
  gz_archive_begin(&rec->writer, context, file, copy);
  gz_snapshot_write(scene, &rec->writer, &rec->meshes);
  if (rec->writer.status != GRAZE_OK) return give_up(context, rec, path);
  scene->recorder = rec;
  return GRAZE_OK;
}

graze_status graze_scene_record_end(graze_scene *scene) {
  if (scene == NULL) return GRAZE_ERROR_ARGUMENT;
  if (scene->recorder == NULL) return gz_fail(scene->context, GRAZE_ERROR_ARGUMENT, "record: none is running");
  graze_status status = gz_record_end(scene->context, scene->recorder);
  scene->recorder = NULL;
  return status;
}
