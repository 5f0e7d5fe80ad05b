/* Child boxes of two nodes against each other, 8 x 8 in one go.
 *
 * Box c' +- h' of a child of b in a's frame: c' = R c + t, h' = |R| h, where R = Fa M Fb' and t takes b's origin into
 * a's frame. An overlap test in one frame is then six comparisons of interval ends. The margin covers the rounding of
 * R, t and c' and the frames' deviation from orthonormal (all below 2^-20 of the sizes involved, see mesh_map).
 */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "narrow/boxes.h"

typedef struct frame_map {
  float r[3][3], t[3], margin;
} frame_map;

typedef struct intervals {
  v8 low[3], high[3];
} intervals;

static inline frame_map map_frames(const bvh_node *a, const bvh_node *b, const mesh_map *map) {
  frame_map f;
  float x, y, z;
  const float *p = a->axis, *q = b->axis;
  /* Columns of Fa M, then R's columns as combinations of them. */
  v4 a0 = v4_of(p[0], p[3], p[6]), a1 = v4_of(p[1], p[4], p[7]), a2 = v4_of(p[2], p[5], p[8]);
  v4 am[3] = {a0, a1, a2};
  if (map->identity) {
    x = b->origin[0] - a->origin[0];
    y = b->origin[1] - a->origin[1];
    z = b->origin[2] - a->origin[2];
  } else {
    const double *m = map->linear;
    const float *l = map->linear_float;
    double ox = (double)b->origin[0], oy = (double)b->origin[1], oz = (double)b->origin[2];
    x = (float)(m[0] * ox + m[1] * oy + m[2] * oz + map->shift[0] - (double)a->origin[0]);
    y = (float)(m[3] * ox + m[4] * oy + m[5] * oz + map->shift[1] - (double)a->origin[1]);
    z = (float)(m[6] * ox + m[7] * oy + m[8] * oz + map->shift[2] - (double)a->origin[2]);
    for (int k = 0; k < 3; k++) am[k] = a0 * v4_set(l[k]) + a1 * v4_set(l[3 + k]) + a2 * v4_set(l[6 + k]);
  }
  v4 t = a0 * v4_set(x) + a1 * v4_set(y) + a2 * v4_set(z);
  for (int j = 0; j < 3; j++) {
    v4 column = am[0] * v4_set(q[3 * j]) + am[1] * v4_set(q[3 * j + 1]) + am[2] * v4_set(q[3 * j + 2]);
    for (int i = 0; i < 3; i++) f.r[i][j] = column[i];
  }
  for (int i = 0; i < 3; i++) f.t[i] = t[i];
  float distance = fabsf(x) + fabsf(y) + fabsf(z);
  f.margin = map->relative_margin * (a->reach + b->reach + distance) + map->absolute_margin;
  return f;
}

static inline intervals own_boxes(const bvh_node *n) {
  intervals v;
  for (int k = 0; k < 3; k++) {
    v8 centre = v8_load(n->center[k]), half = v8_load(n->half[k]);
    v.low[k] = centre - half;
    v.high[k] = centre + half;
  }
  return v;
}

/* Two nodes with the mesh's axes, in one mesh: b's children in a's frame need a shift only. */
static inline intervals boxes_shifted(const bvh_node *a, const bvh_node *b, const mesh_map *map) {
  intervals v;
  float distance = 0;
  for (int k = 0; k < 3; k++) distance += fabsf(b->origin[k] - a->origin[k]);
  float margin = map->relative_margin * (a->reach + b->reach + distance) + map->absolute_margin;
  for (int k = 0; k < 3; k++) {
    v8 centre = v8_load(b->center[k]) + v8_set(b->origin[k] - a->origin[k]);
    v8 half = v8_load(b->half[k]) + v8_set(margin);
    v.low[k] = centre - half;
    v.high[k] = centre + half;
  }
  return v;
}

/* b's children in a's frame */
static inline intervals boxes_forward(const bvh_node *b, const frame_map *f) {
  intervals v;
  for (int k = 0; k < 3; k++) {
    v8 centre = v8_load(b->center[0]) * v8_set(f->r[k][0]) + v8_load(b->center[1]) * v8_set(f->r[k][1]) +
                v8_load(b->center[2]) * v8_set(f->r[k][2]) + v8_set(f->t[k]);
    v8 half = v8_load(b->half[0]) * v8_set(fabsf(f->r[k][0])) + v8_load(b->half[1]) * v8_set(fabsf(f->r[k][1])) +
              v8_load(b->half[2]) * v8_set(fabsf(f->r[k][2])) + v8_set(f->margin);
    v.low[k] = centre - half;
    v.high[k] = centre + half;
  }
  return v;
}

/* a's children in b's frame, with the transposed matrix */
static inline intervals boxes_backward(const bvh_node *a, const frame_map *f) {
  intervals v;
  v8 x = v8_load(a->center[0]) - v8_set(f->t[0]), y = v8_load(a->center[1]) - v8_set(f->t[1]);
  v8 z = v8_load(a->center[2]) - v8_set(f->t[2]);
  for (int k = 0; k < 3; k++) {
    v8 centre = x * v8_set(f->r[0][k]) + y * v8_set(f->r[1][k]) + z * v8_set(f->r[2][k]);
    v8 half = v8_load(a->half[0]) * v8_set(fabsf(f->r[0][k])) + v8_load(a->half[1]) * v8_set(fabsf(f->r[1][k])) +
              v8_load(a->half[2]) * v8_set(fabsf(f->r[2][k])) + v8_set(f->margin);
    v.low[k] = centre - half;
    v.high[k] = centre + half;
  }
  return v;
}

#if GRAZE_ISA == 2

/* a's eight intervals twice, and b's in the lower half, from which two at a time are picked. */
typedef struct wide_intervals {
  __m512 a_low[3], a_high[3], b_low[3], b_high[3];
} wide_intervals;

static inline wide_intervals widen(const intervals *a, const intervals *b) {
  wide_intervals w;
  for (int k = 0; k < 3; k++) {
    w.a_low[k] = _mm512_broadcast_f32x8((__m256)a->low[k]);
    w.a_high[k] = _mm512_broadcast_f32x8((__m256)a->high[k]);
    w.b_low[k] = _mm512_castps256_ps512((__m256)b->low[k]);
    w.b_high[k] = _mm512_castps256_ps512((__m256)b->high[k]);
  }
  return w;
}

/* Bits 8 j + i: interval i of a meets interval j of b on all three axes; only pairs set in `in` count. */
static inline uint64_t overlaps(const intervals *a, const intervals *b, uint64_t in) {
  const wide_intervals w = widen(a, b);
  __m512i pick = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
  const __m512i two = _mm512_set1_epi32(2);
  uint64_t out = 0;
  for (int j = 0; j < 8; j += 2) {
    __mmask16 m = (__mmask16)(in >> (8 * j));
    if (m != 0) {
      for (int k = 0; k < 3; k++) {
        m = _mm512_mask_cmp_ps_mask(m, w.a_low[k], _mm512_permutexvar_ps(pick, w.b_high[k]), _CMP_LE_OQ);
        m = _mm512_mask_cmp_ps_mask(m, w.a_high[k], _mm512_permutexvar_ps(pick, w.b_low[k]), _CMP_GE_OQ);
      }
      out |= (uint64_t)m << (8 * j);
    }
    pick = _mm512_add_epi32(pick, two);
  }
  return out;
}

#elif GRAZE_ISA == 1

static inline uint64_t overlaps(const intervals *a, const intervals *b, uint64_t in) {
  uint64_t out = 0;
  for (int j = 0; j < 8; j++) {
    uint64_t wanted = (in >> (8 * j)) & 0xff;
    if (wanted == 0) continue;
    i8 m = ~(i8){0};
    for (int k = 0; k < 3; k++) m &= (a->low[k] <= v8_set(b->high[k][j])) & (a->high[k] >= v8_set(b->low[k][j]));
    out |= (v8_bits(m) & wanted) << (8 * j);
  }
  return out;
}

#else

static inline uint64_t overlaps(const intervals *a, const intervals *b, uint64_t in) {
  uint64_t out = 0;
  for (uint64_t left = in; left != 0; left &= left - 1) {
    int at = __builtin_ctzll(left), i = at & 7, j = at >> 3;
    int apart = 0;
    for (int k = 0; k < 3; k++) apart |= (a->low[k][i] > b->high[k][j]) | (b->low[k][j] > a->high[k][i]);
    if (!apart) out |= (uint64_t)1 << at;
  }
  return out;
}

#endif

uint64_t KERNEL(gz_boxes)(const bvh_node *a, const bvh_node *b, const mesh_map *map) {
  if (map->identity && a->aligned && b->aligned) {
    intervals own = own_boxes(a), shifted = boxes_shifted(a, b, map);
    return overlaps(&own, &shifted, boxes_in_use(a, b));
  }
  frame_map f = map_frames(a, b, map);
  intervals own_a = own_boxes(a), moved_b = boxes_forward(b, &f);
  uint64_t out = overlaps(&own_a, &moved_b, boxes_in_use(a, b));
  if (out == 0 || !map->rigid) return out;
  intervals own_b = own_boxes(b), moved_a = boxes_backward(a, &f);
  return overlaps(&moved_a, &own_b, out);
}

/* ---- how far apart ----------------------------------------------------------------------------------------------- */

/* Squares of distances between intervals. A difference of ends rounds by 2^-24 of itself, the square and the sum by
 * little more, and axes of length one to float precision stretch by less than 2^-20. */
#define GAP_SHRINK (1 - 0x1p-16f)

/* least2[8 j + i] becomes the square for j of b and i of a, or what it is if that is larger and `known`. */
#if GRAZE_ISA == 2

static inline uint64_t gaps(const intervals *a, const intervals *b, uint64_t in, bool known, float most2,
                            float least2[64]) {
  const wide_intervals w = widen(a, b);
  __m512i pick = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
  const __m512i two = _mm512_set1_epi32(2);
  uint64_t out = 0;
  for (int j = 0; j < 8; j += 2) {
    const __mmask16 wanted = (__mmask16)(in >> (8 * j));
    if (wanted != 0) {
      __m512 square = _mm512_setzero_ps();
      for (int k = 0; k < 3; k++) {
        __m512 gap = _mm512_max_ps(_mm512_sub_ps(_mm512_permutexvar_ps(pick, w.b_low[k]), w.a_high[k]),
                                   _mm512_sub_ps(w.a_low[k], _mm512_permutexvar_ps(pick, w.b_high[k])));
        gap = _mm512_max_ps(gap, _mm512_setzero_ps());
        square = _mm512_add_ps(square, _mm512_mul_ps(gap, gap));
      }
      square = _mm512_mul_ps(square, _mm512_set1_ps(GAP_SHRINK));
      if (known) square = _mm512_max_ps(square, _mm512_loadu_ps(least2 + 8 * j));
      _mm512_storeu_ps(least2 + 8 * j, square);
      out |= (uint64_t)_mm512_mask_cmp_ps_mask(wanted, square, _mm512_set1_ps(most2), _CMP_LE_OQ) << (8 * j);
    }
    pick = _mm512_add_epi32(pick, two);
  }
  return out;
}

#else

static inline uint64_t gaps(const intervals *a, const intervals *b, uint64_t in, bool known, float most2,
                            float least2[64]) {
  uint64_t out = 0;
  for (int j = 0; j < 8; j++) {
    uint64_t wanted = (in >> (8 * j)) & 0xff;
    if (wanted == 0) continue;
    v8 square = v8_set(0);
    for (int k = 0; k < 3; k++) {
      v8 gap = v8_max(v8_set(b->low[k][j]) - a->high[k], a->low[k] - v8_set(b->high[k][j]));
      gap = v8_max(gap, v8_set(0));
      square += gap * gap;
    }
    square *= v8_set(GAP_SHRINK);
    if (known) square = v8_max(square, v8_load(least2 + 8 * j));
    memcpy(least2 + 8 * j, &square, sizeof square);
    out |= (v8_bits(square <= v8_set(most2)) & wanted) << (8 * j);
  }
  return out;
}

#endif

uint64_t KERNEL(gz_box_gaps)(const bvh_node *a, const bvh_node *b, const mesh_map *map, float most2, float least2[64]) {
  uint64_t in = boxes_in_use(a, b);
  if (map->identity && a->aligned && b->aligned) {
    intervals own = own_boxes(a), shifted = boxes_shifted(a, b, map);
    return gaps(&own, &shifted, in, false, most2, least2);
  }
  frame_map f = map_frames(a, b, map);
  intervals own_a = own_boxes(a), moved_b = boxes_forward(b, &f);
  uint64_t out = gaps(&own_a, &moved_b, in, false, most2, least2);
  if (out == 0 || !map->rigid) return out;
  intervals own_b = own_boxes(b), moved_a = boxes_backward(a, &f);
  return gaps(&moved_a, &own_b, out, true, most2, least2);
}

/* ---- on the way -------------------------------------------------------------------------------------------------- */

/* Around what two sets of intervals, of eight boxes that move, come to on a nearly straight way between them. No point
 * of a box moves by more than the sum of what its middle and its axes move by. */
static inline intervals boxes_between(const bvh_node *n, const intervals at[2], const float change[3][3], float margin,
                                      const box_bend *bend) {
  const v8 half[3] = {v8_load(n->half[0]), v8_load(n->half[1]), v8_load(n->half[2])};
  v8 twice = v8_set(8 * margin);
  intervals v;
  for (int k = 0; k < 3; k++) {
    const v8 middle = at[1].low[k] + at[1].high[k] - (at[0].low[k] + at[0].high[k]);
    const float turn = fabsf(change[0][k]) + fabsf(change[1][k]) + fabsf(change[2][k]);
    twice += v8_max(middle, -middle) + half[k] * v8_set(2 * turn);
  }
  const v8 way = twice * v8_set(0.5f);
  const v8 off = way * v8_set(bend->share) + v8_set(bend->fixed);
  for (int k = 0; k < 3; k++) {
    v.low[k] = v8_min(at[0].low[k], at[1].low[k]) - off;
    v.high[k] = v8_max(at[0].high[k], at[1].high[k]) + off;
  }
  return v;
}

uint64_t KERNEL(gz_passing_boxes)(const bvh_node *a, const bvh_node *b, const passing *p) {
  const frame_map f[2] = {map_frames(a, b, &p->map[0]), map_frames(a, b, &p->map[1])};
  const float margin = f[0].margin > f[1].margin ? f[0].margin : f[1].margin;
  float change[3][3], transposed[3][3];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) transposed[j][i] = change[i][j] = f[1].r[i][j] - f[0].r[i][j];
  }
  uint64_t out = boxes_in_use(a, b);
  if (p->known[0]) {
    const intervals at[2] = {boxes_forward(b, &f[0]), boxes_forward(b, &f[1])}, own = own_boxes(a);
    const intervals moved = boxes_between(b, at, (const float(*)[3])change, margin, &p->bend[0]);
    out = overlaps(&own, &moved, out);
  }
  if (p->known[1] && out != 0) {
    const intervals at[2] = {boxes_backward(a, &f[0]), boxes_backward(a, &f[1])}, own = own_boxes(b);
    const intervals moved = boxes_between(a, at, (const float(*)[3])transposed, margin, &p->bend[1]);
    out = overlaps(&moved, &own, out);
  }
  return out;
}
