/* A quick look at whether two sets meet, before a pair is loaded. */
#ifndef GRAZE_SRC_CONVEX_QUICK_H
#define GRAZE_SRC_CONVEX_QUICK_H

#include "convex/pair.h"

/* Of two sets with hulls and without radii, at finite poses: HIT and APART are proved, of both tiers' points (T2:
 * is_real). OPEN: it is not known. */
typedef convex_verdict quick_function(const graze_convex_pair *pair, bool is_real);
CPU_KERNELS(quick_function, gz_quick_meet);

enum { CROWD_PAIRS = 256 };

typedef struct crowd_pairs {
  const graze_convex_pair *pairs;
  const uint32_t *which; /* of them: at most CROWD_PAIRS */
  uint32_t count;
  bool is_real;
} crowd_pairs;

/* The same for all of them, several at once: verdicts[i] becomes that of pairs[i]. */
typedef void crowd_function(const crowd_pairs *from, uint8_t *verdicts);
CPU_KERNELS(crowd_function, gz_quick_crowd);

/* quick_round.c: of two sets of at most two points each; the same, of both tiers. */
convex_verdict gz_quick_round(const graze_convex_pair *pair);

#endif
