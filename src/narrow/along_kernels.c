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

static inline double largest_lane(vd x) {
  double lanes[VD_LANES], most = 0;
  vd_store(lanes, x);
  for (int k = 0; k < VD_LANES; k++) most = lanes[k] > most ? lanes[k] : most;
  return most;
}

uint64_t KERNEL(gz_along)(const posed_node *pa, const posed_node *pb, const double direction[3], double most,
                          uint64_t mask) {
  const point origin = {vd_set(pa->corner[0][0]), vd_set(pa->corner[1][0]), vd_set(pa->corner[2][0])};
  const point m = {vd_set(direction[0]), vd_set(direction[1]), vd_set(direction[2])};
  reaches a, b;
  vd size = vd_set(0);
  find_reaches(pa, origin, m, &a, &size);
  find_reaches(pb, origin, m, &b, &size);
  const double reach = largest_lane(size);
  if (!(reach < 0x1p1000)) return mask;
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

/* ---- along normals ----------------------------------------------------------------------------------------------- */

/* Of a node's triangles: corners from the common origin, normals, and what lies beyond them by more than `most`. */
typedef struct faces {
  _Alignas(64) double corner[9][NODE_WIDTH];
  double normal[3][NODE_WIDTH], above[NODE_WIDTH], below[NODE_WIDTH];
} faces;

static inline vd shift_corners(const posed_node *node, point origin, faces *f) {
  vd size = vd_set(0);
  for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
    for (int c = 0; c < 3; c++) {
      const point p = corner_at(node, c, at, origin);
      vd_store(f->corner[3 * c] + at, p.x);
      vd_store(f->corner[3 * c + 1] + at, p.y);
      vd_store(f->corner[3 * c + 2] + at, p.z);
      size = vd_max(size, max3v(vd_abs(p.x), vd_abs(p.y), vd_abs(p.z)));
    }
  }
  return size;
}

static inline point face_corner(const faces *f, int c, int at) {
  return (point){vd_load(f->corner[3 * c] + at), vd_load(f->corner[3 * c + 1] + at),
                 vd_load(f->corner[3 * c + 2] + at)};
}

/* No less than |m|: the sum of the components where their squares may have underflowed. */
static inline vd length_above(point m) {
  const vd square = point_dot(m, m), sum = vd_add(vd_add(vd_abs(m.x), vd_abs(m.y)), vd_abs(m.z));
  const vd length = vd_select(vd_gt(square, vd_set(0x1p-900)), vd_sqrt(square), sum);
  return vd_mul(length, vd_set(1 + 0x1p-48));
}

static inline void find_normals(faces *f, vd most, vd reach) {
  for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
    const point p = face_corner(f, 0, at), q = face_corner(f, 1, at), r = face_corner(f, 2, at);
    const point m = point_cross(point_sub(q, p), point_sub(r, p));
    const vd length = length_above(m);
    const vd enough = vd_add(vd_mul(length, vd_add(most, vd_mul(reach, vd_set(0x1p-48)))), vd_set(0x1p-1000));
    const vd along[3] = {point_dot(m, p), point_dot(m, q), point_dot(m, r)};
    vd_store(f->normal[0] + at, m.x);
    vd_store(f->normal[1] + at, m.y);
    vd_store(f->normal[2] + at, m.z);
    vd_store(f->above + at, vd_add(max3v(along[0], along[1], along[2]), enough));
    vd_store(f->below + at, vd_sub(min3(along[0], along[1], along[2]), enough));
  }
}

/* Lanes of f that triangle j of the other is beyond. */
static inline uint64_t beyond_faces(const faces *f, const faces *other, int j) {
  uint64_t bits = 0;
  for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
    const point m = {vd_load(f->normal[0] + at), vd_load(f->normal[1] + at), vd_load(f->normal[2] + at)};
    vd along[3];
    for (int c = 0; c < 3; c++) {
      const point p = {vd_set(other->corner[3 * c][j]), vd_set(other->corner[3 * c + 1][j]),
                       vd_set(other->corner[3 * c + 2][j])};
      along[c] = point_dot(m, p);
    }
    vm beyond = vm_or(vd_gt(min3(along[0], along[1], along[2]), vd_load(f->above + at)),
                      vd_gt(vd_load(f->below + at), max3v(along[0], along[1], along[2])));
    bits |= (uint64_t)vm_bits(beyond) << at;
  }
  return bits;
}

uint64_t KERNEL(gz_along_normals)(const posed_node *pa, const posed_node *pb, double most, uint64_t mask) {
  const point origin = {vd_set(pa->corner[0][0]), vd_set(pa->corner[1][0]), vd_set(pa->corner[2][0])};
  faces a, b;
  const vd size_a = shift_corners(pa, origin, &a), size_b = shift_corners(pb, origin, &b);
  const double reach = largest_lane(vd_max(size_a, size_b));
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
