/* Whether two closed spheres share a point: the answer is right for every finite double.
 *
 * |a - b|^2 is compared with (ra + rb)^2. Ladder: a floating-point filter with a proved error bound; expansions;
 * integers of any length for numbers at the ends of the exponent range.
 */
#ifndef GRAZE_SRC_EXACT_SPHERE_H
#define GRAZE_SRC_EXACT_SPHERE_H

#include <stdbool.h>

typedef struct sphere {
  double center[3];
  double radius; /* at least 0 */
} sphere;

/* Without the filter. */
bool gz_spheres_meet_exactly(const sphere *a, const sphere *b);

static inline bool spheres_meet(const sphere *a, const sphere *b) {
  const double margin = 1 + 0x1p-49;
  double x = a->center[0] - b->center[0], y = a->center[1] - b->center[1], z = a->center[2] - b->center[2];
  double reach = a->radius + b->radius;
  double apart2 = x * x + y * y + z * z, reach2 = reach * reach;
  bool within = (apart2 + reach2 > 0x1p-900) & (apart2 + reach2 < 0x1p1000);
  bool apart = (apart2 * margin < reach2) | (reach2 * margin < apart2);
  if (within & apart) return apart2 < reach2; /* one branch, nearly always the same way */
  return gz_spheres_meet_exactly(a, b);
}

/* Its two stages alone, for tests. */
bool gz_spheres_meet_expansion(const sphere *a, const sphere *b, bool *usable);
bool gz_spheres_meet_integer(const sphere *a, const sphere *b);

#endif
