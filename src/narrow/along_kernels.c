/* Triangles along a direction, eight of one node against each of the other.
 *
 * With |m| <= 1, two points are at least as far apart as their scalar products with m. Corners count from a corner of
 * the first node; R is the largest coordinate. With u = 2^-53 a product is off by less than 5 u |m|_1 R < 9 u R: one
 * rounding of the corner, one of each product, two of the sums. So a difference of two is off by less than 19 u R, with
 * its own rounding, and 2^-48 R covers that and the roundings of the bound. The constant stands for products that
 * underflow. What is not a number tells nothing.
 */
#include "exact/lane_points.h"
#include "narrow/along.h"

typedef struct reaches {
  _Alignas(64) double low[NODE_WIDTH], high[NODE_WIDTH];
} reaches;

static inline point corner_at(const posed_node *node, int c, int at, point origin) {
  const point p = {vd_load(node->corner[3 * c] + at), vd_load(node->corner[3 * c + 1] + at),
                   vd_load(node->corner[3 * c + 2] + at)};
  return point_sub(p, origin);
}

/* How far each triangle reaches; *size becomes the largest coordinate, in lanes. */
static inline void find_reaches(const posed_node *node, point origin, point direction, reaches *r, vd *size) {
  for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
    vd along[3];
    for (int c = 0; c < 3; c++) {
      const point p = corner_at(node, c, at, origin);
      along[c] = point_dot(direction, p);
      *size = vd_max(*size, max3v(vd_abs(p.x), vd_abs(p.y), vd_abs(p.z)));
    }
    vd_store(r->low + at, min3(along[0], along[1], along[2]));
    vd_store(r->high + at, max3v(along[0], along[1], along[2]));
  }
}

uint64_t KERNEL(gz_along)(const posed_node *pa, const posed_node *pb, const double direction[3], double most,
                          uint64_t mask) {
  const point origin = {vd_set(pa->corner[0][0]), vd_set(pa->corner[1][0]), vd_set(pa->corner[2][0])};
  const point m = {vd_set(direction[0]), vd_set(direction[1]), vd_set(direction[2])};
  reaches a, b;
  vd size = vd_set(0);
  find_reaches(pa, origin, m, &a, &size);
  find_reaches(pb, origin, m, &b, &size);
  double lanes[VD_LANES], reach = 0;
  vd_store(lanes, size);
  for (int k = 0; k < VD_LANES; k++) reach = lanes[k] > reach ? lanes[k] : reach;
  if (!(reach < 0x1p1000)) return mask;
  const vd enough = vd_set(most + 0x1p-48 * reach + 0x1p-1060);
  for (int j = 0; j < NODE_WIDTH; j++) {
    if ((mask >> (8 * j) & 0xff) == 0) continue;
    for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
      vd before = vd_sub(vd_set(b.low[j]), vd_load(a.high + at)),
         behind = vd_sub(vd_load(a.low + at), vd_set(b.high[j]));
      mask &= ~((uint64_t)vm_bits(vd_gt(vd_max(before, behind), enough)) << (8 * j + at));
    }
  }
  return mask;
}
