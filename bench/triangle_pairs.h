/* bench/triangle_pairs.h: seeded sets of triangle pairs, all with integer coordinates times a power of two, so that the
 * right answer can be had from integer arithmetic that shares nothing with the library. */
#ifndef BENCH_TRIANGLE_PAIRS_H
#define BENCH_TRIANGLE_PAIRS_H

#include "bench.h"

#define PAIR_CLASSES 10

typedef struct pair_set {
  char name[32];
  uint32_t count;
  double *corners;        /* 18 per pair: a0 a1 a2 b0 b1 b2 */
  double *columns[18];    /* the same as structure of arrays */
  unsigned char *answers; /* the right ones */
  unsigned char *classes; /* 0 .. PAIR_CLASSES - 1 */
} pair_set;

/* Ten classes of hard pairs on the grid 0 .. grid: random, shared vertex, shared edge, coplanar, vertex on face, vertex
 * on edge, edge across edge, slivers, near misses of those, degenerate. */
pair_set pairs_hard(const char *name, int64_t grid, uint32_t per_class, uint64_t seed);

/* Random triangles in the unit cube, coordinates multiples of 2^-bits. `rejected` < 0: as they come; else that share
 * of them has one triangle strictly on one side of the other's plane. */
pair_set pairs_generic(const char *name, int bits, double rejected, uint32_t count, uint64_t seed);

void pairs_free(pair_set *p);
void pairs_write(const pair_set *p, const char *path);

/* Exact, for coordinates of at most 2^40 in size: closed sets, zero-area triangles included. */
bool integer_triangles_meet(const int64_t a[9], const int64_t b[9]);

/* True when all of b is strictly on one side of the plane of a, or the reverse. */
bool integer_plane_rejects(const int64_t a[9], const int64_t b[9]);

#endif
