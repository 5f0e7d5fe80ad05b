/* Planes between triangles, eight triangles of one node against each of the other.
 *
 * Four directions of each triangle are tried: its normal, and those that lead across an edge out of it, in its plane.
 * The latter tell triangles of one plane apart, and those whose corners rounding has moved a little off it, which no
 * sign of a plane can.
 *
 * A direction m may be any vector, so what rounding does to it is of no interest. Corners count from a corner of the
 * first node. With R the largest coordinate and |m| the sum of m's components, the scalar product of m and a corner is
 * off by less than 5 u |m| R, u = 2^-53: one rounding of the corner, one of each product, two of the sums. Two of them
 * that differ by more than 16 u |m| R differ that way in truth; the rest of it covers the bound's own roundings. The
 * constant stands for products that underflow. Where the corners are not quite the points (tier T2), a difference that
 * is off by g on each axis is so by |m| g along m.
 */
#include "narrow/apart.h"
#include "narrow/shifted.h"

enum { DIRECTIONS = 4 }; /* the normal, then across the edge from each corner to the next */

/* A node's triangles, and their directions with how far they reach along them. */
typedef struct faces {
  shifted_corners corners;
  double direction[DIRECTIONS][3][NODE_WIDTH];
  double size[DIRECTIONS][NODE_WIDTH];   /* their lengths, or more */
  double beyond[DIRECTIONS][NODE_WIDTH]; /* what is farther is past the triangle for certain, */
  double before[NODE_WIDTH];             /* and what is less along the normal behind it */
} faces;

static inline void find_directions(faces *f, double off) {
  for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
    point t[3], m[DIRECTIONS];
    load_faces(&f->corners, at, t);
    point edge[3] = {point_sub(t[1], t[0]), point_sub(t[2], t[1]), point_sub(t[0], t[2])};
    m[0] = point_cross(edge[2], edge[0]);
    for (int e = 0; e < 3; e++) m[1 + e] = point_cross(edge[e], m[0]);
    for (int k = 0; k < DIRECTIONS; k++) {
      extent own = extent_along(m[k], t);
      vd size = vd_add(vd_add(vd_abs(m[k].x), vd_abs(m[k].y)), vd_abs(m[k].z));
      vd slack = vd_add(vd_mul(vd_set(off), size), vd_set(0x1p-1060));
      vd_store(f->direction[k][0] + at, m[k].x);
      vd_store(f->direction[k][1] + at, m[k].y);
      vd_store(f->direction[k][2] + at, m[k].z);
      vd_store(f->size[k] + at, size);
      vd_store(f->beyond[k] + at, vd_add(own.high, slack));
      if (k == 0) vd_store(f->before + at, vd_sub(own.low, slack));
    }
  }
}

/* Triangles in lanes, of which the other is past one or behind it. */
static inline vm past_lanes(const faces *f, int k, int at, const point other[3]) {
  const point m = {vd_load(f->direction[k][0] + at), vd_load(f->direction[k][1] + at),
                   vd_load(f->direction[k][2] + at)};
  extent e = extent_along(m, other);
  vm past = vd_gt(e.low, vd_load(f->beyond[k] + at));
  return k == 0 ? vm_or(past, vd_gt(vd_load(f->before + at), e.high)) : past;
}

/* The other way round: lanes that are past triangle j or behind it. */
static inline vm past_one(const faces *f, int k, int j, const point lanes[3]) {
  const point m = {vd_set(f->direction[k][0][j]), vd_set(f->direction[k][1][j]), vd_set(f->direction[k][2][j])};
  extent e = extent_along(m, lanes);
  vm past = vd_gt(e.low, vd_set(f->beyond[k][j]));
  return k == 0 ? vm_or(past, vd_gt(vd_set(f->before[j]), e.high)) : past;
}

/* Of the wanted lanes, those that no direction proves to be apart. */
static inline unsigned row_open(const faces *a, int at, const faces *b, int j, unsigned wanted) {
  point lanes[3], other[3];
  load_faces(&a->corners, at, lanes);
  spread_face(&b->corners, j, other);
  for (int k = 0; k < DIRECTIONS && wanted != 0; k++) {
    wanted &= ~vm_bits(past_lanes(a, k, at, other));
    if (wanted != 0) wanted &= ~vm_bits(past_one(b, k, j, lanes));
  }
  return wanted;
}

uint64_t KERNEL(gz_apart)(const posed_node *pa, const posed_node *pb, double off, uint64_t mask) {
  faces a, b;
  const double reach = shift_both(pa, pb, &a.corners, &b.corners);
  if (!(reach < 0x1p200)) return mask; /* a scalar product could overflow */
  const double all = 0x1p-49 * reach + 1.001 * off;
  find_directions(&a, all);
  find_directions(&b, all);
  uint64_t open = 0;
  for (int j = 0; j < NODE_WIDTH; j++) {
    for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
      unsigned wanted = (unsigned)(mask >> (8 * j + at)) & ((1u << VD_LANES) - 1);
      if (wanted != 0) open |= (uint64_t)row_open(&a, at, &b, j, wanted) << (8 * j + at);
    }
  }
  return open;
}

/* ---- on the way -------------------------------------------------------------------------------------------------- */

/* The triangles that move, counted from the same corner, and how far they are off the straight way at most. */
typedef struct moving_faces {
  shifted_corners at[2];
  double off[NODE_WIDTH];
} moving_faces;

static inline double shift_moving(const passing_node *node, const double origin[3], moving_faces *f) {
  const double start = shift_corners(&node->at[0], origin, &f->at[0]),
               end = shift_corners(&node->at[1], origin, &f->at[1]);
  for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
    point from[3], to[3];
    vd most = vd_set(0);
    load_faces(&f->at[0], at, from);
    load_faces(&f->at[1], at, to);
    for (int c = 0; c < 3; c++) {
      const point way = point_sub(to[c], from[c]);
      most = vd_max(most, point_dot(way, way));
    }
    vd_store(f->off + at, vd_add(vd_mul(vd_sqrt(most), vd_set(node->share)), vd_set(node->fixed)));
  }
  return start > end ? start : end;
}

/* Of the wanted lanes, those that no direction proves to be apart from triangle j at the start and at the end. */
static inline unsigned row_passing(const faces *own, int at, const moving_faces *other, int j, unsigned wanted) {
  point from[3], to[3];
  spread_face(&other->at[0], j, from);
  spread_face(&other->at[1], j, to);
  for (int k = 0; k < DIRECTIONS && wanted != 0; k++) {
    const point m = {vd_load(own->direction[k][0] + at), vd_load(own->direction[k][1] + at),
                     vd_load(own->direction[k][2] + at)};
    const extent start = extent_along(m, from), end = extent_along(m, to);
    const vd off = vd_mul(vd_set(other->off[j]), vd_load(own->size[k] + at));
    vm past = vd_gt(vd_sub(vd_min(start.low, end.low), off), vd_load(own->beyond[k] + at));
    if (k == 0) past = vm_or(past, vd_gt(vd_load(own->before + at), vd_add(vd_max(start.high, end.high), off)));
    wanted &= ~vm_bits(past);
  }
  return wanted;
}

uint64_t KERNEL(gz_passing_apart)(const posed_node *own, const passing_node *other, uint64_t mask) {
  const double origin[3] = {own->corner[0][0], own->corner[1][0], own->corner[2][0]};
  faces f;
  moving_faces moving;
  const double reach = shift_corners(own, origin, &f.corners), far = shift_moving(other, origin, &moving);
  if (!(reach < 0x1p200 && far < 0x1p200)) return mask;
  find_directions(&f, 0x1p-49 * (reach > far ? reach : far));
  uint64_t open = 0;
  for (int j = 0; j < NODE_WIDTH; j++) {
    for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
      unsigned wanted = (unsigned)(mask >> (8 * j + at)) & ((1u << VD_LANES) - 1);
      if (wanted != 0) open |= (uint64_t)row_passing(&f, at, &moving, j, wanted) << (8 * j + at);
    }
  }
  return open;
}
