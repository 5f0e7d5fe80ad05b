/* How mesh b lies relative to mesh a, with the margins that make box tests conservative. */
#include <math.h>

#include "base/extremes.h"
#include "geometry/pose.h"
#include "narrow/query.h"

/* Largest entry of |L' L - I|. */
static double deviation(const double l[9]) {
  double worst = 0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j <= i; j++) {
      double dot = l[i] * l[j] + l[3 + i] * l[3 + j] + l[6 + i] * l[6 + j] - (i == j);
      worst = larger(worst, fabs(dot));
    }
  }
  return worst;
}

static double row_sum(const double *m, int stride) {
  double most = 0;
  for (int i = 0; i < 3; i++) {
    const double *r = m + stride * i;
    most = larger(most, fabs(r[0]) + fabs(r[1]) + fabs(r[2]));
  }
  return most;
}

/* No vector is shorter after m than this times its length before: the root of the least eigenvalue of m' m, bounded
 * by Gershgorin's circles, or by the inverse; whichever is larger. */
static double least_growth(const double m[9], const double inverse[9]) {
  double least = (double)INFINITY, squares = 0;
  for (int i = 0; i < 3; i++) {
    double row = 0;
    for (int j = 0; j < 3; j++) {
      double dot = m[i] * m[j] + m[3 + i] * m[3 + j] + m[6 + i] * m[6 + j];
      row += i == j ? dot : -fabs(dot);
    }
    least = smaller(least, row);
  }
  for (int k = 0; k < 9; k++) squares += inverse[k] * inverse[k];
  return larger(least > 0 ? sqrt(least) : 0, 1 / sqrt(squares)) * (1 - 0x1p-30);
}

/* Largest |coordinate| of the posed mesh, an upper bound. */
static double posed_magnitude(const side *s) {
  const double *m = s->pose.m;
  double shift = larger(larger(fabs(m[3]), fabs(m[7])), fabs(m[11]));
  return row_sum(m, 4) * s->mesh->header->magnitude + shift;
}

/* b's pose in a's frame and how long a's units are; false: a's pose has no useful inverse. */
static bool map_posed(const double *pa, const double *pb, mesh_map *map, double *inverse_sum) {
  double ma[9], inverse[9], d[3];
  for (int k = 0; k < 9; k++) ma[k] = pa[4 * (k / 3) + k % 3];
  if (!gz_pose_invert(ma, inverse)) return false;
  for (int k = 0; k < 3; k++) d[k] = pb[4 * k + 3] - pa[4 * k + 3];
  for (int i = 0; i < 3; i++) {
    const double *r = inverse + 3 * i;
    for (int k = 0; k < 3; k++) map->linear[3 * i + k] = r[0] * pb[k] + r[1] * pb[4 + k] + r[2] * pb[8 + k];
    map->shift[i] = r[0] * d[0] + r[1] * d[1] + r[2] * d[2];
  }
  *inverse_sum = row_sum(inverse, 3);
  map->growth = least_growth(ma, inverse);
  return true;
}

/* The same where a is not moved, of which nothing need be computed: most queries that are over soon ask this. */
static void map_still(const double *pb, mesh_map *map, double *inverse_sum) {
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) map->linear[3 * i + k] = pb[4 * i + k];
    map->shift[i] = pb[4 * i + 3];
  }
  *inverse_sum = 1;
  map->growth = 1 - 0x1p-30;
}

void gz_job_map(job *j) {
  mesh_map *map = &j->map;
  double inverse_sum;
  j->tree = false;
  if (!j->a.mesh->header->tree_usable || !j->b.mesh->header->tree_usable) return;
  double world = posed_magnitude(&j->a) + posed_magnitude(&j->b);
  if (!(world < 0x1p60)) return;
  if (j->a.identity)
    map_still(j->b.pose.m, map, &inverse_sum);
  else if (!map_posed(j->a.pose.m, j->b.pose.m, map, &inverse_sum))
    return;
  double skew = deviation(map->linear), scale = row_sum(map->linear, 3);
  if (!(scale < 0x1p30)) return;
  for (int k = 0; k < 9; k++) map->linear_float[k] = (float)map->linear[k];
  map->identity = j->self || (j->a.identity && j->b.identity);
  map->rigid = skew < 1e-3;
  map->relative_margin = (float)(0x1p-19 * larger(scale, 1) + 4 * (map->rigid ? skew : 0));
  /* Posing and the map are off by at most some 40 u of what takes part; smallest float against underflow. */
  map->absolute_margin = (float)(0x1p-46 * world * inverse_sum) + 1e-36f;
  j->tree = true;
}
