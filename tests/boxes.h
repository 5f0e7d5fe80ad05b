/* tests/boxes.h: families of boxes for broad phases, the slow answer, and events held to it. */
#ifndef GRAZE_TESTS_BOXES_H
#define GRAZE_TESTS_BOXES_H

#include "graze/graze.h"

typedef enum box_family {
  BOXES_LATTICE,  /* whole numbers 0..7: touching, equal and zero-size boxes in plenty */
  BOXES_UNIFORM,  /* like sizes, about five neighbours each */
  BOXES_POINTS,   /* zero size, many at one place */
  BOXES_EQUAL,    /* a few boxes, each many times */
  BOXES_CELLS,    /* ends at multiples of powers of two, and an ulp beside: the borders of any grid */
  BOXES_NEGATIVE, /* around and below the origin, -0 among the numbers */
  BOXES_HUGE,     /* numbers up to 1e308 */
  BOXES_TINY,     /* subnormal numbers */
  BOXES_ULPS,     /* doubles that are all one float */
  BOXES_FAR,      /* small boxes at 1e9: floats are coarser than they */
  BOXES_GIANT,    /* one over all among dust */
  BOXES_DECADES,  /* sizes log-uniform over 10^6 : 1 */
  BOXES_CLUSTERS, /* three dense heaps far apart */
  BOXES_LINE,     /* along one axis, the others all the same */
  BOXES_PLATES,   /* thin and wide, in all three directions */
  BOXES_STACKED,  /* every one meets every other */
  BOXES_FAMILIES
} box_family;

const char *box_family_name(box_family family);

/* Fills `count` boxes. */
void boxes_make(box_family family, uint64_t *state, uint32_t count, graze_box *boxes);

/* One box of the family, as if it had been made among `count`. */
graze_box boxes_one(box_family family, uint64_t *state, uint32_t count);

/* Boxes one to three units wide around (2^exponent, ...), corners at whole numbers: for exponents near 52 that is a few
 * ulps. `chained`: every other one begins at a corner of the one before, where it ends. */
void boxes_make_coarse(int exponent, bool chained, uint64_t *state, uint32_t count, graze_box *boxes);

/* All pairs of boxes that meet, sorted by (a, b), found by looking at each pair; `count` gets their number. Boxes with
 * min > max meet nothing. `layers` and `meets` NULL: all count. To be freed. */
graze_box_pair *boxes_pairs(const graze_box *boxes, uint32_t n, const uint8_t *layers, const uint64_t *meets,
                            uint64_t *count);

/* Fails, with `what`, unless the events lead from the pairs before to the pairs now; all are sorted. */
void boxes_check_events(const char *what, const graze_broad_events *e, const graze_box_pair *now, uint64_t now_count,
                        const graze_box_pair *then, uint64_t then_count);

#endif
