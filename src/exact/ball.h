/* Whether two closed balls share a point: the answer is right for every finite double.
 *
 * |a - b|^2 is compared with (ra + rb)^2. Ladder: a floating-point filter with a proved error bound; expansions;
 * integers of any length for numbers at the ends of the exponent range.
 */
#ifndef GRAZE_SRC_EXACT_BALL_H
#define GRAZE_SRC_EXACT_BALL_H

#include <stdbool.h>

typedef struct ball {
  double center[3];
  double radius; /* at least 0 */
} ball;

bool balls_meet(const ball *a, const ball *b);

/* The two last stages alone, for tests. */
bool balls_meet_expansion(const ball *a, const ball *b, bool *usable);
bool balls_meet_integer(const ball *a, const ball *b);

#endif
