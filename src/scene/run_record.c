/* Records of worlds that step: what is the same for balls and for rigid bodies. */
#include "scene/run_record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/owned.h"

/* ---- writing ----------------------------------------------------------------------------------------------------- */

graze_status gz_run_record(const graze_context *context, const char *path, archive_type run, archive_type end,
                           run_recorder **rec) {
  run_recorder *made = gz_new_zeroed(context, 1, sizeof *made);
  char *copy = gz_new_text(context, path);
  int file = made != NULL && copy != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
  if (file < 0) {
    graze_status status = made == NULL || copy == NULL ? gz_fail_memory(context, sizeof *made)
                                                       : gz_file_error(context, path, "cannot create");
    gz_free(made);
    gz_free(copy);
    return status;
  }
  made->path = copy;
  made->run = run;
  made->end = end;
  gz_archive_begin(&made->writer, context, file, copy);
  *rec = made;
  return GRAZE_OK;
}

archive_writer *gz_run_writer(run_recorder *rec) {
  return rec != NULL && rec->writer.status == GRAZE_OK ? &rec->writer : NULL;
}

void gz_run_put_step(run_recorder *rec, double dt, uint64_t hash) {
  if (gz_run_writer(rec) == NULL) return;
  if (rec->steps == RUN_MOST_HASHES || (rec->steps > 0 && rec->dt != dt)) gz_run_flush(rec);
  rec->dt = dt;
  rec->hashes[rec->steps++] = hash;
}

void gz_run_put_steps(run_recorder *rec) {
  archive_writer *w = gz_run_writer(rec);
  if (w == NULL || rec->steps == 0) return;
  gz_archive_put_u32(w, RUN_STEPS);
  gz_archive_put_double(w, rec->dt);
  gz_archive_put_u64(w, rec->steps);
  gz_archive_put(w, rec->hashes, rec->steps * sizeof rec->hashes[0]);
  rec->steps = 0;
}

void gz_run_flush(run_recorder *rec) {
  archive_writer *w = gz_run_writer(rec);
  if (w == NULL) return;
  gz_run_put_steps(rec);
  if (w->used > 0) gz_archive_end_section(w, rec->run);
}

graze_status gz_run_close(run_recorder **rec) {
  run_recorder *r = *rec;
  if (r == NULL) return GRAZE_OK;
  gz_run_flush(r);
  if (r->writer.status == GRAZE_OK) gz_archive_end_section(&r->writer, r->end);
  graze_status status = r->writer.status;
  if (close(r->writer.file) != 0 && status == GRAZE_OK)
    status = gz_file_error(r->writer.context, r->path, "cannot write");
  gz_archive_writer_release(&r->writer);
  gz_free(r->path);
  gz_free(r);
  *rec = NULL;
  return status;
}

graze_status gz_run_give_up(run_recorder **rec) {
  struct stat about;
  const run_recorder *r = *rec;
  if (fstat(r->writer.file, &about) == 0 && S_ISREG(about.st_mode)) unlink(r->path);
  return gz_run_close(rec);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

graze_status gz_run_open(run_replay *run, graze_context *context, const char *path) {
  *run = (run_replay){.context = context, .reader = {.context = context, .file = -1}};
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return gz_file_error(context, path, "cannot open");
  run->reader.file = file;
  run->path = gz_new_text(context, path);
  if (run->path == NULL) return gz_fail(context, GRAZE_ERROR_MEMORY, "out of memory: the path of a record");
  return gz_archive_open(&run->reader, context, file, run->path);
}

void gz_run_release(run_replay *run) {
  for (uint32_t i = 0; i < run->mesh_count; i++) graze_mesh_destroy(run->meshes[i]);
  gz_free(run->meshes);
  if (run->reader.file >= 0) close(run->reader.file);
  gz_archive_reader_release(&run->reader);
  gz_free(run->path);
}

static graze_status take_mesh(run_replay *run, graze_mesh **mesh) {
  archive_reader *r = &run->reader;
  const uint64_t bytes = gz_archive_take_count(r, 1);
  if (bytes == UINT64_MAX) return gz_archive_error(r, "a mesh that the section has no room for");
  return graze_mesh_from_block(run->context, gz_archive_take(r, bytes), bytes, mesh);
}

graze_status gz_run_take_meshes(run_replay *run) {
  graze_status status = GRAZE_OK;
  const uint64_t count = gz_archive_take_count(&run->reader, 8);
  if (count == UINT64_MAX) return gz_archive_error(&run->reader, "more meshes than the section has room for");
  run->meshes = gz_new_zeroed(run->context, count, sizeof *run->meshes);
  if (run->meshes == NULL) return gz_fail_memory(run->context, count * sizeof *run->meshes);
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    status = take_mesh(run, &run->meshes[i]);
    run->mesh_count += status == GRAZE_OK;
  }
  return status;
}

graze_status gz_run_take_steps(run_replay *run) {
  archive_reader *r = &run->reader;
  run->dt = gz_archive_take_double(r);
  run->steps = gz_archive_take_count(r, sizeof(uint64_t));
  return run->steps != UINT64_MAX ? GRAZE_OK : gz_archive_error(r, "more steps than the section has");
}

graze_status gz_run_take_end(run_replay *run) {
  const archive_reader *r = &run->reader;
  if (r->length != 0 || r->offset != r->size) return gz_archive_error(r, "the record goes on behind its end");
  run->is_over = true;
  return GRAZE_OK;
}
