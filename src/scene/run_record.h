/* Records of worlds that step: what is the same for balls and for rigid bodies. A world writes its definition and its
 * state; then runs follow, sections of calls, of which the first kind is steps:
 *
 *   uint32 RUN_STEPS, double dt, uint64 count, and the hash of the world after each as a uint64
 *
 * Which calls there are besides, and what they say, each world knows itself.
 */
#ifndef GRAZE_SRC_SCENE_RUN_RECORD_H
#define GRAZE_SRC_SCENE_RUN_RECORD_H

#include "graze/graze.h"
#include "scene/archive.h"

enum { RUN_STEPS = 1, RUN_MOST_HASHES = 1024 /* of steps that wait for their section */ };

/* ---- writing ---- */

typedef struct run_recorder {
  archive_writer writer;
  archive_type run, end; /* types of the sections with calls, and of the last */
  char *path;
  uint32_t steps; /* that wait for their section, all of the same dt */
  double dt;
  uint64_t hashes[RUN_MOST_HASHES];
} run_recorder;

/* Makes the file; gz_run_close ends the record. Errors: FILE, MEMORY. */
graze_status gz_run_record(const graze_context *context, const char *path, archive_type run, archive_type end,
                           run_recorder **rec);
/* Where to write; NULL when nobody records (`rec` is NULL) or writing has failed. */
archive_writer *gz_run_writer(run_recorder *rec);
/* These do nothing without a writer. */
void gz_run_put_step(run_recorder *rec, double dt, uint64_t hash);
/* Steps that wait, before a call that came after them. */
void gz_run_put_steps(run_recorder *rec);
/* What was recorded so far goes to the file. */
void gz_run_flush(run_recorder *rec);
/* Ends the record if there is one and sets *rec to NULL; the first error. */
graze_status gz_run_close(run_recorder **rec);
/* The same for a record whose beginning could not be written. Without it a record is good for nothing: a file that was
 * made for it is taken away. */
graze_status gz_run_give_up(run_recorder **rec);

/* ---- reading ---- */

typedef struct run_replay {
  graze_context *context;
  archive_reader reader;
  char *path;
  graze_mesh **meshes; /* of the world's bodies */
  uint32_t mesh_count;
  uint64_t steps; /* of the present call, to come */
  double dt;
  bool is_over;
} run_replay;

/* gz_run_release follows in any case. Errors: FILE, FORMAT, MEMORY. */
graze_status gz_run_open(run_replay *run, graze_context *context, const char *path);
void gz_run_release(run_replay *run);
/* The number of meshes, and each as its size and its block. Errors: FORMAT, MEMORY. */
graze_status gz_run_take_meshes(run_replay *run);
/* What follows RUN_STEPS, up to the hashes. */
graze_status gz_run_take_steps(run_replay *run);
/* In the last section: behind it there is nothing. */
graze_status gz_run_take_end(run_replay *run);

#endif
