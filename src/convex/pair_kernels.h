/* The loops over all points of a set, for every instruction set. Of equal values the lowest number wins, and no
 * operation is fused, so that all give the same bytes.
 */
#ifndef GRAZE_SRC_CONVEX_PAIR_KERNELS_H
#define GRAZE_SRC_CONVEX_PAIR_KERNELS_H

#include <stdint.h>

#include "base/cpu.h"

/* Coordinates by axis. `lanes` is a multiple of 8; what is behind the points repeats the last one. */
typedef struct posing {
  const double *in[3];
  double *x[3], *y[3];
  const double *pose; /* NULL: none */
  double center[3];
  uint32_t lanes;
  double low[3], high[3]; /* of y */
  double size[3];         /* the largest |x|; NaN if one is not finite */
} posing;

/* x = the pose of `in`, y = x - center. */
typedef void pose_function(posing *p);
CPU_KERNELS(pose_function, gz_convex_pose);

typedef struct extreme {
  double value;
  uint32_t vertex;
} extreme;

/* The points with the largest product: best[0] of the first set with n, best[1] of the second with m. */
typedef struct supporting {
  const double *y[2][3];
  uint32_t lanes[2];
} supporting;
typedef void support_function(const supporting *s, const double n[3], const double m[3], extreme best[2]);
CPU_KERNELS(support_function, gz_convex_support);

#endif
