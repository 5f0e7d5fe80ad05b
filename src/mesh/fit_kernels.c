/* Frames and boxes of the nodes of one unit, eight triangles at a time, in the compiler's vector types: the same source
 * and, as nothing is contracted, the same bits for every instruction set.
 *
 * The frame follows S. Gottschalk, M. C. Lin, D. Manocha, "OBBTree", 1996, in the cheaper form that suits surfaces: the
 * third axis is the area-weighted normal, and the first two are the principal directions of the corners in the plane
 * across it. Where normals cancel (closed bits, boxes) the largest triangle gives the third axis.
 *
 * Rounding. A corner relative to the unit's origin is rounded to float once, and its projection takes five more
 * roundings: it is off by at most 6 * 2^-24 of the sum of three products, below 2^-20 reach. Halves are enlarged by
 * 2^-19 reach, which also covers the rounding of centre and half.
 */
#include <math.h>

#include "base/simd.h"
#include "mesh/fit.h"

void KERNEL(gz_fit_areas)(fit_unit *unit) {
  for (uint32_t s = 0; s < unit->slots; s += 8) {
    v8 e[3], f[3];
    for (int k = 0; k < 3; k++) {
      v8 corner = v8_load(unit->eight[s / 8].corner[k]);
      e[k] = v8_load(unit->eight[s / 8].corner[3 + k]) - corner;
      f[k] = v8_load(unit->eight[s / 8].corner[6 + k]) - corner;
    }
    for (int k = 0; k < 3; k++) {
      int i = (k + 1) % 3, j = (k + 2) % 3;
      v8 area = e[i] * f[j] - e[j] * f[i];
      memcpy(unit->eight[s / 8].area[k], &area, sizeof area);
    }
  }
}

static inline float largest3(const float v[3]) {
  float x = fabsf(v[0]), y = fabsf(v[1]), z = fabsf(v[2]), m = x > y ? x : y;
  return m > z ? m : z;
}

static inline bool unit_vector(float v[3]) {
  float most = largest3(v), scale;
  if (!(most > 1e-30f) || !(most < 1e30f)) return false;
  if (!(most > 1e-15f) || !(most < 1e15f)) {
    /* Squares of tiny numbers lose their digits. */
    scale = 1 / most;
    for (int k = 0; k < 3; k++) v[k] *= scale;
  }
  scale = 1 / sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int k = 0; k < 3; k++) v[k] *= scale;
  return true;
}

/* The area vector of the largest triangle. */
static void largest_area(const fit_unit *unit, const slot_range *range, float normal[3]) {
  float most = -1;
  for (uint32_t s = range->first; s < range->end; s++) {
    const fit_eight *at = &unit->eight[s / 8];
    float a[3] = {at->area[0][s % 8], at->area[1][s % 8], at->area[2][s % 8]};
    float size = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
    if (size <= most) continue;
    most = size;
    memcpy(normal, a, sizeof a);
  }
}

/* The direction of the surface's normal, of length one; false when there is no telling. */
static bool fit_normal(const fit_unit *unit, const slot_range *range, float normal[3]) {
  v8 sum[3] = {v8_set(0), v8_set(0), v8_set(0)}, total = v8_set(0);
  for (uint32_t s = range->first; s < range->end; s += 8) {
    for (int k = 0; k < 3; k++) {
      v8 a = v8_load(unit->eight[s / 8].area[k]);
      sum[k] += a;
      total += v8_max(a, -a);
    }
  }
  v4 sums = v8_sums(sum[0], sum[1], sum[2], total);
  float scale = sums[3];
  for (int k = 0; k < 3; k++) normal[k] = sums[k];
  if (fabsf(normal[0]) + fabsf(normal[1]) + fabsf(normal[2]) < 0.25f * scale) largest_area(unit, range, normal);
  return scale < 1e30f && unit_vector(normal);
}

/* Turns u, v in their plane to the principal directions of the corners. */
static void turn_in_plane(const fit_unit *unit, const slot_range *range, float u[3], float v[3]) {
  v8 su = v8_set(0), sv = su, suu = su, suv = su, svv = su;
  for (uint32_t s = range->first; s < range->end; s += 8) {
    for (int c = 0; c < 9; c += 3) {
      v8 x = v8_load(unit->eight[s / 8].corner[c]), y = v8_load(unit->eight[s / 8].corner[c + 1]),
         z = v8_load(unit->eight[s / 8].corner[c + 2]);
      v8 pu = x * v8_set(u[0]) + y * v8_set(u[1]) + z * v8_set(u[2]);
      v8 pv = x * v8_set(v[0]) + y * v8_set(v[1]) + z * v8_set(v[2]);
      su += pu;
      sv += pv;
      suu += pu * pu;
      suv += pu * pv;
      svv += pv * pv;
    }
  }
  float n = 3.0f * (float)(range->end - range->first), mu = v8_sum(su) / n, mv = v8_sum(sv) / n;
  float difference = (v8_sum(suu) / n - mu * mu) - (v8_sum(svv) / n - mv * mv);
  float twice = 2 * (v8_sum(suv) / n - mu * mv);
  float most = fabsf(difference) > fabsf(twice) ? fabsf(difference) : fabsf(twice);
  if (!(most > 1e-30f) || !(most < 1e30f)) return;
  difference /= most;
  twice /= most;
  /* Half the angle whose cosine and sine are difference and twice. */
  float length = sqrtf(difference * difference + twice * twice);
  float cosine = sqrtf(0.5f * (1 + fabsf(difference) / length));
  float sine = 0.5f * twice / (length * cosine);
  if (difference < 0) {
    float swap = cosine;
    cosine = fabsf(sine);
    sine = sine < 0 ? -swap : swap;
  }
  for (int k = 0; k < 3; k++) {
    float old = u[k];
    u[k] = cosine * old + sine * v[k];
    v[k] = cosine * v[k] - sine * old;
  }
}

/* The box tests rely on it. */
static bool orthonormal(const float axis[9]) {
  float worst = 0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j <= i; j++) {
      const float *p = axis + 3 * i, *q = axis + 3 * j;
      float off = fabsf(p[0] * q[0] + p[1] * q[1] + p[2] * q[2] - (i == j ? 1.0f : 0.0f));
      worst = off > worst ? off : worst;
    }
  }
  return worst < 1e-6f;
}

static bool fit_frame(const fit_unit *unit, const slot_range *range, float axis[9]) {
  float *u = axis, *v = axis + 3, *n = axis + 6;
  if (unit->aligned || !fit_normal(unit, range, n)) return false;
  int small = fabsf(n[0]) <= fabsf(n[1]) && fabsf(n[0]) <= fabsf(n[2]) ? 0 : fabsf(n[1]) <= fabsf(n[2]) ? 1 : 2;
  float e[3] = {0, 0, 0};
  e[small] = 1;
  for (int k = 0; k < 3; k++) u[k] = n[(k + 1) % 3] * e[(k + 2) % 3] - n[(k + 2) % 3] * e[(k + 1) % 3];
  if (!unit_vector(u)) return false;
  for (int k = 0; k < 3; k++) v[k] = n[(k + 1) % 3] * u[(k + 2) % 3] - n[(k + 2) % 3] * u[(k + 1) % 3];
  /* Boxes of single triangles gain nothing from it. */
  if (range->end - range->first > NODE_WIDTH) turn_in_plane(unit, range, u, v);
  return orthonormal(axis);
}

/* Lowest and highest projection of the three corners of eight slots on one axis. */
static inline void project(const fit_unit *unit, uint32_t s, const float *axis, v8 *low, v8 *high) {
  v8 p[3];
  for (int c = 0; c < 3; c++) {
    p[c] = v8_load(unit->eight[s / 8].corner[3 * c]) * v8_set(axis[0]) +
           v8_load(unit->eight[s / 8].corner[3 * c + 1]) * v8_set(axis[1]) +
           v8_load(unit->eight[s / 8].corner[3 * c + 2]) * v8_set(axis[2]);
  }
  *low = v8_min(v8_min(p[0], p[1]), p[2]);
  *high = v8_max(v8_max(p[0], p[1]), p[2]);
}

/* Lowest and highest projections of the slots on the three axes. */
static inline frame_box project_slots(const fit_unit *unit, const float *axis, const slot_range *range) {
  v8 low[3], high[3], l, h;
  for (int k = 0; k < 3; k++) {
    low[k] = v8_set(INFINITY);
    high[k] = v8_set(-INFINITY);
  }
  for (uint32_t s = range->first; s < range->end; s += 8) {
    for (int k = 0; k < 3; k++) {
      project(unit, s, axis + 3 * k, &l, &h);
      low[k] = v8_min(low[k], l);
      high[k] = v8_max(high[k], h);
    }
  }
  return (frame_box){v8_lowests(low), v8_highests(high)};
}

/* Boxes of the children before they are widened, and the box around them. */
typedef struct child_boxes {
  v8 center[3], half[3];
  frame_box all;
} child_boxes;

static child_boxes triangle_boxes(const fit_unit *unit, const float *axis, uint32_t first) {
  child_boxes b;
  v8 low[3], high[3];
  for (int k = 0; k < 3; k++) {
    project(unit, first, axis + 3 * k, &low[k], &high[k]);
    b.center[k] = v8_set(0.5f) * (low[k] + high[k]);
    b.half[k] = v8_set(0.5f) * (high[k] - low[k]);
  }
  b.all = (frame_box){v8_lowests(low), v8_highests(high)};
  return b;
}

static child_boxes node_boxes(const fit_unit *unit, const bvh_node *node, const slot_range *children) {
  float center[3][NODE_WIDTH] = {{0}}, half[3][NODE_WIDTH] = {{0}};
  child_boxes b;
  b.all = (frame_box){v4_set(INFINITY), v4_set(-INFINITY)};
  for (int c = 0; c < node->count; c++) {
    frame_box box = unit->aligned ? children[c].box : project_slots(unit, node->axis, children + c);
    b.all.low = v4_min(b.all.low, box.low);
    b.all.high = v4_max(b.all.high, box.high);
    for (int k = 0; k < 3; k++) {
      center[k][c] = 0.5f * (box.low[k] + box.high[k]);
      half[k][c] = 0.5f * (box.high[k] - box.low[k]);
    }
  }
  memcpy(b.center, center, sizeof center);
  memcpy(b.half, half, sizeof half);
  return b;
}

static inline float square_sum(v4 a) {
  v4 square = a * a;
  return (square[0] + square[1]) + square[2];
}

static void set_reach(bvh_node *node, const frame_box *all) {
  v4 far = v4_max(v4_max(all->low, -all->low), v4_max(all->high, -all->high));
  node->reach = sqrtf(square_sum(far)) * 1.00001f + 1e-37f;
  node->size = 0.5f * sqrtf(square_sum(all->high - all->low));
}

/* Stores the boxes, widened by the margin; unused places get what every test fails against. */
static void set_boxes(bvh_node *node, const child_boxes *b) {
  const i8 used = (i8){0, 1, 2, 3, 4, 5, 6, 7} < (i8){0} + (int32_t)node->count;
  v8 margin = v8_set(0x1p-19f * node->reach + 1e-37f);
  for (int k = 0; k < 3; k++) {
    v8 center = v8_pick(used, b->center[k], v8_set(0)), half = v8_pick(used, b->half[k] + margin, v8_set(-INFINITY));
    memcpy(node->center[k], &center, sizeof center);
    memcpy(node->half[k], &half, sizeof half);
  }
}

void KERNEL(gz_fit_node)(const fit_unit *unit, bvh_node *node, slot_range *range, const slot_range *children) {
  static const float identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  node->aligned = !fit_frame(unit, range, node->axis);
  if (node->aligned) memcpy(node->axis, identity, sizeof identity);
  memcpy(node->origin, unit->origin, sizeof node->origin);
  child_boxes boxes = node->bottom ? triangle_boxes(unit, node->axis, range->first) : node_boxes(unit, node, children);
  range->box = boxes.all;
  set_reach(node, &boxes.all);
  set_boxes(node, &boxes);
}
