/* Pairs of triangles of one mesh, given by corners and judged as graze_collide_self does: for who has found the
 * candidates in another way. */
#ifndef GRAZE_SRC_NARROW_SOUP_H
#define GRAZE_SRC_NARROW_SOUP_H

#include "base/memory.h"
#include "graze/collide.h"

/* Triangles in two arrays, one behind the other. */
typedef struct soup {
  const double *corners[2]; /* 9 of each triangle */
  uint32_t counts[2];
  const uint32_t *numbers; /* of all: by which pairs are told. Different ones */
} soup;

/* Whether the triangle has no area, exactly. */
bool gz_soup_is_thin(const double corners[9]);

/* Judges pairs of places in the soup; none is given twice. What counts, and the hash, is as in graze_self_result; the
 * list of `found` stays NULL. With `hits` (may be NULL) all self pairs go there, sorted, as lower << 32 | higher
 * number. Runs on the context's threads; the same for any number of them. Errors: MEMORY. */
graze_status gz_soup_judge(graze_context *context, const soup *s, const graze_triangle_pair *pairs, uint64_t count,
                           graze_self_result *found, buffer *hits);

#endif
