/* bench/reference.h: answers got in another way than the library's hierarchy: a sweep over all triangle boxes, then the
 * scalar triangle test. Slow; it says whether a row is right. */
#ifndef BENCH_REFERENCE_H
#define BENCH_REFERENCE_H

#include "models.h"

typedef struct reference {
  uint64_t count, hash;
} reference;

/* Meeting triangle pairs of a and of b at a pose (NULL: as it stands). */
reference reference_pairs(const model *a, const model *b, const double pose[12]);

/* Pairs i < j of one mesh whose closed boxes meet. */
reference reference_boxes(const model *m);

/* Pairs i < j of boxes, six floats each. `open`: without those that only touch, that is share no inner point. */
typedef struct reference_touching {
  reference closed, open;
} reference_touching;

reference_touching reference_float_boxes(const float *boxes, uint32_t count);

typedef struct reference_self {
  reference all;      /* duplicates, edge overlaps, more than a shared corner, and disjoint hits */
  reference disjoint; /* the last of them only */
} reference_self;

reference_self reference_self_pairs(const model *m);

#endif
