/* For tier T2: the real images of triangles under their matrices in pairs of doubles, of which tritri_level.h decides
 * those that lie in one plane across an axis, and tritri_square.h those in planes across two.
 *
 * An image's coordinate is a sum of three products and the matrix' last column. In pairs of doubles each product is
 * exact, and each of the three sums is off by less than 2^-102 of the sum M of what goes into it: 2^-100 M in all.
 * Where one coordinate alone counts, and that with 1 or -1, the sum of two doubles is exact, too. Products that
 * underflow lose more: on neither axis may M and the extent of the corners be tiny together, however large they are on
 * the other.
 */
#ifndef GRAZE_SRC_EXACT_TRITRI_IMAGES_H
#define GRAZE_SRC_EXACT_TRITRI_IMAGES_H

#include "exact/tritri_level.h"

/* A double of a pair in lanes, and what it lacks. */
typedef struct lane_pair {
  vd hi, lo;
} lane_pair;

static inline lane_pair pair_join(vd hi, vd lo) {
  const vd sum = vd_add(hi, lo);
  return (lane_pair){sum, vd_sub(lo, vd_sub(sum, hi))};
}

/* As wide_add. */
static inline lane_pair pair_add(lane_pair a, lane_pair b) {
  const vd s = vd_add(a.hi, b.hi), t = vd_add(a.lo, b.lo);
  const lane_pair r = pair_join(s, vd_add(sum_rest(a.hi, b.hi, s), t));
  return pair_join(r.hi, vd_add(r.lo, sum_rest(a.lo, b.lo, t)));
}

static inline lane_pair image_on(const double row[4], bool moved, const vd x[3]) {
  if (moved) {
    const vd turned =
        vd_add(vd_add(vd_mul(vd_set(row[0]), x[0]), vd_mul(vd_set(row[1]), x[1])), vd_mul(vd_set(row[2]), x[2]));
    const vd sum = vd_add(turned, vd_set(row[3]));
    return (lane_pair){sum, sum_rest(turned, vd_set(row[3]), sum)};
  }
  lane_pair sum = {vd_set(row[3]), vd_set(0)};
  for (int c = 0; c < 3; c++) {
    const vd m = vd_set(row[c]), product = vd_mul(m, x[c]);
    sum = pair_add(sum, (lane_pair){product, vd_product_rest(m, x[c], product)});
  }
  return sum;
}

/* Of the pairs from place `at` on: the corners become their images. */
static inline void make_images(const graze_pose *pose, const bool moved[3], unsigned at, double corner[9][TRITRI_BLOCK],
                               double rest[9][TRITRI_BLOCK]) {
  for (int c = 0; c < 9; c += 3) {
    const vd x[3] = {vd_load(corner[c] + at), vd_load(corner[c + 1] + at), vd_load(corner[c + 2] + at)};
    for (int k = 0; k < 3; k++) {
      const lane_pair image = image_on(pose->m + 4 * k, moved[k], x);
      vd_store(corner[c + k] + at, image.hi);
      vd_store(rest[c + k] + at, image.lo);
    }
  }
}

static inline vm same_pair(lane_pair a, lane_pair b) {
  return vm_and(vd_eq(a.hi, b.hi), vd_eq(a.lo, b.lo));
}

/* Where all six corners have one coordinate. */
static inline vm level_on(const vd at[6], const vd rest[6]) {
  vm level = vm_all();
  for (int k = 1; k < 6; k++)
    level = vm_and(level, same_pair((lane_pair){at[0], rest[0]}, (lane_pair){at[k], rest[k]}));
  return level;
}

static inline vm level_across(const point a[3], const point b[3], const point ra[3], const point rb[3], int axis) {
  vd at[6], rest[6];
  for (int k = 0; k < 3; k++) {
    at[k] = axis == 0 ? a[k].x : axis == 1 ? a[k].y : a[k].z;
    at[3 + k] = axis == 0 ? b[k].x : axis == 1 ? b[k].y : b[k].z;
    rest[k] = axis == 0 ? ra[k].x : axis == 1 ? ra[k].y : ra[k].z;
    rest[3 + k] = axis == 0 ? rb[k].x : axis == 1 ? rb[k].y : rb[k].z;
  }
  return level_on(at, rest);
}

/* `exact`: the axes on which images are exactly their pairs; reach: what M is at most on each. */
static inline void image_lanes(const pair_source *source, const pair_source *rest, unsigned at, const bool exact[3],
                               const double reach[3], level_words *w) {
  point a[3], b[3], ra[3], rb[3];
  load_points(source->a, at, a);
  load_points(source->b, at, b);
  load_points(rest->a, at, ra);
  load_points(rest->b, at, rb);
  vm flat_on[3], left = vm_all(), level = vm_none();
  for (int k = 0; k < 3; k++) {
    flat_on[k] = exact[k] ? vm_and(left, level_across(a, b, ra, rb, k)) : vm_none();
    left = vm_andnot(left, flat_on[k]);
    level = vm_or(level, flat_on[k]);
  }
  if (vm_bits(level) == 0) return;
  const dropped drop = {flat_on[0], flat_on[1]};
  const level_face f = {flatten(drop, a), flatten(drop, ra)}, g = {flatten(drop, b), flatten(drop, rb)};
  const lane_box box_a = box_of(a), box_b = box_of(b);
  const point r = box_extent(&box_a, &box_b), most = {vd_set(reach[0]), vd_set(reach[1]), vd_set(reach[2])};
  const vd x = vd_add(first_left(&drop, r), first_left(&drop, most));
  const vd y = vd_add(last_left(&drop, r), last_left(&drop, most)), size = vd_mul(x, y);
  const vm all = vm_all(), none = vm_none(),
           e[3] = {exact[0] ? all : none, exact[1] ? all : none, exact[2] ? all : none};
  const vm whole = vm_or(vm_or(vm_and(flat_on[0], vm_and(e[1], e[2])), vm_and(flat_on[1], vm_and(e[2], e[0]))),
                         vm_and(flat_on[2], vm_and(e[0], e[1])));
  const vd least = vd_set(1e-200), most_size = vd_set(1e120);
  const vm ordinary =
      vm_and(vm_and(vd_gt(x, least), vd_gt(y, least)), vm_and(vd_gt(size, vd_set(1e-120)), vd_gt(most_size, size)));
  vm_put(&w->usable, at, vm_and(level, ordinary));
  put_level_signs(&f, &g, LEVEL_PAIRS, whole, vd_mul(vd_set(0x1p-96), size), at, w);
}

#endif
