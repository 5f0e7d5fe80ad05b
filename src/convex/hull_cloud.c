/* The dimension of a cloud: points that are far from each other are guessed in doubles, and what the guess does not
 * show exactly is looked for point by point.
 */
#include <math.h>
#include <string.h>

#include "convex/hull.h"
#include "exact/orient.h"

static bool before(const double a[3], const double b[3]) {
  for (int k = 0; k < 3; k++) {
    if (a[k] != b[k]) return a[k] < b[k];
  }
  return false;
}

static bool on_one_line(const double a[3], const double b[3], const double c[3]) {
  for (int axis = 0; axis < 3; axis++) {
    if (gz_orient2d(axis, a, b, c) != 0) return false;
  }
  return true;
}

/* The lowest point and the highest in the order of x, then y, then z: different ones if there are any, and the ends of
 * a cloud that lies on a line. */
static void find_ends(hull_cloud *cloud) {
  uint32_t low = 0, high = 0;
  for (uint32_t i = 1; i < cloud->count; i++) {
    if (before(hull_point(cloud, i), hull_point(cloud, low))) low = i;
    if (before(hull_point(cloud, high), hull_point(cloud, i))) high = i;
  }
  cloud->span[0] = low;
  cloud->span[1] = high;
  cloud->dimension = before(hull_point(cloud, low), hull_point(cloud, high)) ? 1 : 0;
}

static void cross_from(const double a[3], const double b[3], const double c[3], double out[3]) {
  double u[3], v[3];
  for (int k = 0; k < 3; k++) {
    u[k] = b[k] - a[k];
    v[k] = c[k] - a[k];
  }
  for (int k = 0; k < 3; k++) out[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
}

static bool extends_line(const hull_cloud *cloud, uint32_t i) {
  return !on_one_line(hull_point(cloud, cloud->span[0]), hull_point(cloud, cloud->span[1]), hull_point(cloud, i));
}

static bool extends_plane(const hull_cloud *cloud, uint32_t i) {
  return gz_orient3d(hull_point(cloud, cloud->span[0]), hull_point(cloud, cloud->span[1]),
                     hull_point(cloud, cloud->span[2]), hull_point(cloud, i)) != 0;
}

/* How far off point i seems to be: from the line of the first two, or from the plane of the first three. */
static double distance_off(const hull_cloud *cloud, uint32_t i, const double normal[3]) {
  const double *a = hull_point(cloud, cloud->span[0]);
  double n[3], sum = 0;
  if (normal == NULL) {
    cross_from(a, hull_point(cloud, cloud->span[1]), hull_point(cloud, i), n);
    for (int k = 0; k < 3; k++) sum += fabs(n[k]);
    return sum;
  }
  for (int k = 0; k < 3; k++) sum += normal[k] * (hull_point(cloud, i)[k] - a[k]);
  return fabs(sum);
}

/* Adds a point that is off what the span spans so far; false: there is none. */
static bool extend(hull_cloud *cloud, const double normal[3], bool extends(const hull_cloud *, uint32_t)) {
  uint32_t farthest = 0;
  double most = -1;
  for (uint32_t i = 0; i < cloud->count; i++) {
    double off = distance_off(cloud, i, normal);
    if (!(off > most)) continue;
    most = off;
    farthest = i;
  }
  if (!extends(cloud, farthest)) {
    farthest = 0;
    while (farthest < cloud->count && !extends(cloud, farthest)) farthest++;
  }
  if (farthest == cloud->count) return false;
  cloud->span[++cloud->dimension] = farthest;
  return true;
}

void gz_hull_span(hull_cloud *cloud) {
  double normal[3];
  find_ends(cloud);
  if (cloud->dimension == 0 || !extend(cloud, NULL, extends_line)) return;
  cross_from(hull_point(cloud, cloud->span[0]), hull_point(cloud, cloud->span[1]), hull_point(cloud, cloud->span[2]),
             normal);
  extend(cloud, normal, extends_plane);
}
