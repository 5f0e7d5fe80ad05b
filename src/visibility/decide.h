/* decide.h: the exact end of a cull. */
#ifndef GRAZE_SRC_VISIBILITY_DECIDE_H
#define GRAZE_SRC_VISIBILITY_DECIDE_H

#include "visibility/cull.h"

/* What was found of a pair of lists. */
typedef struct visibility_decision {
  graze_counts counts; /* not of a mesh with itself */
  uint64_t first;      /* its triangle pairs, among all: */
  uint64_t count;
} visibility_decision;

typedef struct visibility_decisions {
  visibility_decision *list;        /* by pair */
  const graze_triangle_pair *pairs; /* sorted within a pair of lists */
  uint64_t pair_count;
  graze_self_result self; /* sums of all, but for list and hash */
} visibility_decisions;

/* Decides the pairs of triangles of the last cull's objects that `pairs` list. With `names`, which tells the numbers of
 * loaded triangles, all objects are parts of one mesh and the rules of graze_collide_self hold; a = b: a part with
 * itself. All objects in pairs must be judged and loaded. Errors: MEMORY, LIMIT. */
graze_status gz_visibility_decide(graze_visibility *v, const graze_visibility_pair *pairs, uint64_t count,
                                  const uint32_t *names, visibility_decisions *decisions);

#endif
