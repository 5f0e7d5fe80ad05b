/* What batches and sweeps of convex sets share: whether a pair is a right one, and the answer for one. */
#ifndef GRAZE_SRC_CONVEX_ANSWER_H
#define GRAZE_SRC_CONVEX_ANSWER_H

#include "convex/pair.h"

static inline bool has_discs(const graze_convex *set) {
  return set->discs[0] > 0 || set->discs[1] > 0;
}

/* What is wrong with a set, or with its pose, which may be NULL; NULL: nothing is. */
const char *gz_convex_wrong(const graze_convex *set, const graze_pose *pose);

/* Loads a pair, whose sets are right. Beside the errors of gz_pair_load POSE: the posed ends of an axis are the same.
 */
graze_status gz_convex_load(convex_pair *pair, const graze_convex_pair *from, bool is_real, int *bad_side);

/* Of a loaded pair. False: memory was refused. */
bool gz_convex_answer(convex_pair *pair, const graze_convex_pair *from, graze_convex_ask ask,
                      graze_convex_result *result);

#endif
