/* The record of a run: a snapshot, then for each update the edits before it and what it told.
 *
 * Edits are written as they are made, so that replaying them gives the same ids. An error of the file must not stop the
 * scene: it is remembered, logged once, and nothing more is written.
 */
#include "scene/record.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

static bool records(const recorder *rec) {
  return rec != NULL && rec->writer.status == GRAZE_OK;
}

void record_add(recorder *rec, graze_scene *scene, uint32_t place) {
  if (!records(rec)) return;
  archive_writer *w = &rec->writer;
  object *o = scene_object(scene, place);
  const layer_name *layers = scene->layers.data;
  bool fresh;
  if (!mesh_numbers_get(w->context, &rec->meshes, o->mesh, &o->recorded, &fresh)) {
    w->status = report(w->context, GRAZE_ERROR_MEMORY, "out of memory: numbers of meshes");
    return;
  }
  if (fresh) archive_whole_section(w, ARCHIVE_MESH, o->mesh->header, o->mesh->header->block_bytes);
  archive_put_u32(w, EDIT_ADD);
  record_put_id(w, (graze_object_id){place, o->generation});
  archive_put_u32(w, o->recorded);
  archive_put_u64(w, o->user_id);
  archive_put(w, o->pose.m, sizeof o->pose.m);
  archive_put_text(w, o->name);
  archive_put_text(w, o->layer != 0 ? layers[o->layer - 1].name : "");
}

void record_remove(recorder *rec, graze_object_id id) {
  if (!records(rec)) return;
  archive_put_u32(&rec->writer, EDIT_REMOVE);
  record_put_id(&rec->writer, id);
}

void record_pose(recorder *rec, graze_object_id id, const graze_pose *pose) {
  if (!records(rec)) return;
  archive_put_u32(&rec->writer, EDIT_POSE);
  record_put_id(&rec->writer, id);
  archive_put(&rec->writer, pose->m, sizeof pose->m);
}

void record_ignore(recorder *rec, graze_object_id first, graze_object_id second) {
  if (!records(rec)) return;
  archive_put_u32(&rec->writer, EDIT_IGNORE);
  record_put_id(&rec->writer, first);
  record_put_id(&rec->writer, second);
}

void record_ignore_layers(recorder *rec, const char *first, const char *second) {
  if (!records(rec)) return;
  archive_put_u32(&rec->writer, EDIT_IGNORE_LAYERS);
  archive_put_text(&rec->writer, first);
  archive_put_text(&rec->writer, second);
}

void record_refit(recorder *rec, const object *o) {
  if (!records(rec)) return;
  archive_writer *w = &rec->writer;
  const mesh_header *h = o->mesh->header;
  if (!mesh_numbers_is_old(&rec->meshes, o->mesh, o->recorded)) return;
  mesh_numbers_keep(&rec->meshes, o->mesh, o->recorded);
  size_t size = h->vertex_count * 3 * (h->precision == GRAZE_DOUBLE ? sizeof(double) : sizeof(float));
  archive_put_u32(w, EDIT_REFIT);
  archive_put_u32(w, o->recorded);
  archive_put_u64(w, size);
  archive_put(w, (const char *)h + h->vertices, size);
}

void record_update(recorder *rec, const graze_update_options *options, const graze_scene_events *events) {
  if (rec == NULL) return;
  archive_writer *w = &rec->writer;
  archive_put_u32(w, 0); /* the edits end */
  archive_put_u32(w, options->find);
  archive_put_u32(w, options->exactness);
  archive_put_u32(w, options->open);
  archive_put_u64(w, events->hash);
  archive_put_u64(w, events->began_count);
  archive_put_u64(w, events->persist_count);
  archive_put_u64(w, events->ended_count);
  if (w->status == GRAZE_OK) archive_end_section(w, ARCHIVE_STEP);
}

graze_status record_end(const graze_context *context, recorder *rec) {
  if (rec == NULL) return GRAZE_OK;
  graze_status status = rec->writer.status;
  if (close(rec->writer.file) != 0 && status == GRAZE_OK) status = file_error(context, rec->path, "cannot write");
  mesh_numbers_release(context, &rec->meshes);
  archive_writer_release(&rec->writer);
  memory_release(context, rec->path, rec->path_bytes);
  memory_release(context, rec, sizeof *rec);
  return status;
}

graze_status graze_scene_record(graze_scene *scene, const char *path) {
  if (scene == NULL) return GRAZE_ERROR_ARGUMENT;
  const graze_context *context = scene->context;
  if (path == NULL) return report(context, GRAZE_ERROR_ARGUMENT, "record: no path");
  if (scene->recorder != NULL) return report(context, GRAZE_ERROR_ARGUMENT, "record: the scene is being recorded");
  size_t bytes = strlen(path) + 1;
  recorder *rec = memory_alloc(context, sizeof *rec);
  char *copy = memory_alloc(context, bytes);
  int file = rec != NULL && copy != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
  if (file < 0) {
    graze_status status = rec == NULL || copy == NULL ? report_memory(context, sizeof *rec + bytes)
                                                      : file_error(context, path, "cannot create");
    memory_release(context, rec, sizeof *rec);
    memory_release(context, copy, bytes);
    return status;
  }
  memcpy(copy, path, bytes);
  *rec = (recorder){.path = copy, .path_bytes = bytes};
  archive_begin(&rec->writer, context, file, copy);
  snapshot_write(scene, &rec->writer, &rec->meshes);
  if (rec->writer.status != GRAZE_OK) return record_end(context, rec);
  scene->recorder = rec;
  return GRAZE_OK;
}

graze_status graze_scene_record_end(graze_scene *scene) {
  if (scene == NULL) return GRAZE_ERROR_ARGUMENT;
  if (scene->recorder == NULL) return report(scene->context, GRAZE_ERROR_ARGUMENT, "record: none is running");
  graze_status status = record_end(scene->context, scene->recorder);
  scene->recorder = NULL;
  return status;
}
