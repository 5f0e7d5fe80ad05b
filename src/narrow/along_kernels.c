/* Triangles along a direction, eight of one node against each of the other.
 *
 * With |m| <= 1, two points are at least as far apart as their scalar products with m. Corners count from a corner of
 * the first node; R is the largest coordinate. With u = 2^-53 a product is off by less than 5 u |m|_1 R < 9 u R: one
 * rounding of the corner, one of each product, two of the sums. So a difference of two is off by less than 19 u R, with
 * its own rounding, and 2^-48 R covers that and the roundings of the bound. The constant stands for products that
 * underflow. What is not a number tells nothing.
 *
 * A normal m is whatever its computation gives, of length |m|: along it they are as far apart as that many times the
 * distance. Then a product is off by less than 5 u |m|_1 R < 9 u |m| R, and all is in units of |m|.
 */
#include "narrow/along.h"
#include "narrow/shifted.h"

typedef struct reaches {
  _Alignas(64) double low[NODE_WIDTH], high[NODE_WIDTH];
} reaches;

static inline void find_reaches(const shifted_corners *corners, point direction, reaches *r) {
  for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
    point t[3];
    load_faces(corners, at, t);
    const extent e = extent_along(direction, t);
    vd_store(r->low + at, e.low);
    vd_store(r->high + at, e.high);
  }
}

uint64_t KERNEL(gz_along)(const posed_node *pa, const posed_node *pb, const double direction[3], double most,
                          uint64_t mask) {
  const point m = {vd_set(direction[0]), vd_set(direction[1]), vd_set(direction[2])};
  shifted_corners corners_a, corners_b;
  reaches a, b;
  const double reach = shift_both(pa, pb, &corners_a, &corners_b);
  if (!(reach < 0x1p1000)) return mask;
  find_reaches(&corners_a, m, &a);
  find_reaches(&corners_b, m, &b);
  const vd enough = vd_set(most + 0x1p-48 * reach + 0x1p-1060);
  for (int j = 0; j < NODE_WIDTH; j++) {
    if ((mask >> (8 * j) & 0xff) == 0) continue;
    for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
      vd before = vd_sub(vd_set(b.low[j]), vd_load(a.high + at));
      vd behind = vd_sub(vd_load(a.low + at), vd_set(b.high[j]));
      mask &= ~((uint64_t)vm_bits(vd_gt(vd_max(before, behind), enough)) << (8 * j + at));
    }
  }
  return mask;
}

/* ---- along an axis, exactly ---- */

static inline void find_axis_reaches(const posed_node *node, int axis, reaches *r) {
  for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
    const vd p = vd_load(node->corner[axis] + at), q = vd_load(node->corner[3 + axis] + at);
    const vd s = vd_load(node->corner[6 + axis] + at);
    vd_store(r->low + at, min3(p, q, s));
    vd_store(r->high + at, max3v(p, q, s));
  }
}

/* x - y >= gap: the rounded difference tells, unless it is that of the gap; then what rounding took does. */
static inline vm is_gap_reached(vd x, vd y, vd rounded, vd rest) {
  const vd d = vd_sub(x, y), y_back = vd_sub(x, d), x_back = vd_add(d, y_back);
  const vd took = vd_add(vd_sub(x, x_back), vd_sub(y_back, y));
  return vm_or(vd_gt(d, rounded), vm_and(vd_eq(d, rounded), vd_ge(took, rest)));
}

uint64_t KERNEL(gz_along_axis)(const posed_node *pa, const posed_node *pb, const boxes_gap *gap, uint64_t mask) {
  const vd rounded = vd_set(gap->rounded), rest = vd_set(gap->rest);
  reaches a, b;
  find_axis_reaches(pa, gap->axis, &a);
  find_axis_reaches(pb, gap->axis, &b);
  for (int j = 0; j < NODE_WIDTH; j++) {
    if ((mask >> (8 * j) & 0xff) == 0) continue;
    for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
      const vd x = gap->turned ? vd_load(a.low + at) : vd_set(b.low[j]);
      const vd y = gap->turned ? vd_set(b.high[j]) : vd_load(a.high + at);
      mask &= ~((uint64_t)vm_bits(is_gap_reached(x, y, rounded, rest)) << (8 * j + at));
    }
  }
  return mask;
}

/* ---- along normals ----------------------------------------------------------------------------------------------- */

/* A node's triangles, their normals, and what lies beyond them by more than `most`. */
typedef struct faces {
  shifted_corners corners;
  double normal[3][NODE_WIDTH], above[NODE_WIDTH], below[NODE_WIDTH];
} faces;

/* No less than |m|: the sum of the components where their squares may have underflowed. */
static inline vd length_above(point m) {
  const vd square = point_dot(m, m), sum = vd_add(vd_add(vd_abs(m.x), vd_abs(m.y)), vd_abs(m.z));
  const vd length = vd_select(vd_gt(square, vd_set(0x1p-900)), vd_sqrt(square), sum);
  return vd_mul(length, vd_set(1 + 0x1p-48));
}

static inline void find_normals(faces *f, vd most, vd reach) {
  for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
    point t[3];
    load_faces(&f->corners, at, t);
    const point m = point_cross(point_sub(t[1], t[0]), point_sub(t[2], t[0]));
    const vd length = length_above(m);
    const vd enough = vd_add(vd_mul(length, vd_add(most, vd_mul(reach, vd_set(0x1p-48)))), vd_set(0x1p-1000));
    const extent own = extent_along(m, t);
    vd_store(f->normal[0] + at, m.x);
    vd_store(f->normal[1] + at, m.y);
    vd_store(f->normal[2] + at, m.z);
    vd_store(f->above + at, vd_add(own.high, enough));
    vd_store(f->below + at, vd_sub(own.low, enough));
  }
}

/* Lanes of f that triangle j of the other is beyond. */
static inline uint64_t beyond_faces(const faces *f, const faces *other, int j) {
  uint64_t bits = 0;
  point t[3];
  spread_face(&other->corners, j, t);
  for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
    const point m = {vd_load(f->normal[0] + at), vd_load(f->normal[1] + at), vd_load(f->normal[2] + at)};
    const extent e = extent_along(m, t);
    vm beyond = vm_or(vd_gt(e.low, vd_load(f->above + at)), vd_gt(vd_load(f->below + at), e.high));
    bits |= (uint64_t)vm_bits(beyond) << at;
  }
  return bits;
}

uint64_t KERNEL(gz_along_normals)(const posed_node *pa, const posed_node *pb, double most, uint64_t mask) {
  faces a, b;
  const double reach = shift_both(pa, pb, &a.corners, &b.corners);
  if (!(reach < 0x1p200)) return mask; /* a scalar product could overflow */
  find_normals(&a, vd_set(most), vd_set(reach));
  find_normals(&b, vd_set(most), vd_set(reach));
  for (int j = 0; j < NODE_WIDTH; j++) mask &= ~(beyond_faces(&a, &b, j) << (8 * j));
  for (int i = 0; i < NODE_WIDTH; i++) {
    uint64_t column = mask >> i & 0x0101010101010101;
    if (column == 0) continue;
    for (uint64_t bits = beyond_faces(&b, &a, i); bits != 0; bits &= bits - 1)
      mask &= ~((uint64_t)1 << (8 * __builtin_ctzll(bits) + i));
  }
  return mask;
}
