/* bench/distances.h: contests whose answers are distances: ours must be the expected ones to the bit, those of others
 * may be off by a little. */
#ifndef BENCH_DISTANCES_H
#define BENCH_DISTANCES_H

#include "contest.h"

typedef struct distances {
  double *expected, *answers; /* of the last run of ours, and what peers have left */
  uint32_t count;
  char *path;
  const char *work; /* the note of our entries; may be filled in until they are judged */
} distances;

distances distances_make(const bench *b, uint32_t count);
void distances_free(distances *d);

/* For contest_begin: the contest judges by these. */
void distances_join(contest *c, distances *d);

#endif
