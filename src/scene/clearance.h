/* What a caller's functions say about clearances: asked, and kept for a record. */
#ifndef GRAZE_SRC_SCENE_CLEARANCE_H
#define GRAZE_SRC_SCENE_CLEARANCE_H

#include "scene/archive.h"
#include "scene/scene.h"

/* Answers in the order of the questions, as runs of equal ones. */
typedef struct answer_runs {
  buffer runs; /* answer_run */
  uint64_t count;
} answer_runs;

/* The caller's functions, and where their answers are to be kept. */
typedef struct clearance_asking {
  const graze_context *context;
  graze_clearance_function clearance;
  graze_reach_function reach;
  void *user;
  answer_runs *reaches, *clearances; /* NULL: nowhere */
  bool failed;                       /* there was no memory to keep an answer */
} clearance_asking;

/* Functions whose `user` is a clearance_asking. */
double gz_asking_clearance(void *user, uint64_t a, uint64_t b);
double gz_asking_reach(void *user, uint64_t id);

/* The clearances of pairs, by pair_key of ranks. Errors: ARGUMENT, for one that is not of [0, the reach of either]; the
 * objects are named. */
graze_status gz_ask_clearances(const graze_scene *scene, graze_clearance_function clearance, void *user,
                               const uint64_t *pairs, uint64_t count, double *clearances);

/* ---- in a record ---- */

void gz_answers_put(archive_writer *w, const answer_runs *answers);

/* Answers that are read one after another. */
typedef struct answer_reader {
  const char *runs; /* in the reader's section */
  uint64_t count, next, used;
  bool wanting; /* more was asked for than there is */
} answer_reader;

/* False: the section has no such thing. */
bool gz_answers_take(archive_reader *r, answer_reader *answers);
/* 0 when there is none any more. */
double gz_answers_next(answer_reader *answers);
/* Whether there were as many as were asked for. */
bool gz_answers_exhausted(const answer_reader *answers);

#endif
