/* The loops over points, in lanes. Least and greatest do not depend on the order, so that all instruction sets give the
 * same bits. */
#include "base/simd.h"
#include "geometry/bounds.h"

static inline void load_one(const char *p, bool is_double, double out[3]) {
  if (is_double) {
    memcpy(out, p, 3 * sizeof *out);
  } else {
    float f[3];
    memcpy(f, p, sizeof f);
    for (int k = 0; k < 3; k++) out[k] = (double)f[k];
  }
}

/* Numbers one after another: loops that compilers turn into vectors. */
static void load_doubles(const double *restrict p, unsigned count, double *restrict x, double *restrict y,
                         double *restrict z) {
  for (unsigned i = 0; i < count; i++) {
    x[i] = p[3 * i];
    y[i] = p[3 * i + 1];
    z[i] = p[3 * i + 2];
  }
}

static void load_floats(const float *restrict p, unsigned count, double *restrict x, double *restrict y,
                        double *restrict z) {
  for (unsigned i = 0; i < count; i++) {
    x[i] = (double)p[3 * i];
    y[i] = (double)p[3 * i + 1];
    z[i] = (double)p[3 * i + 2];
  }
}

static void load_any(const graze_points *points, size_t stride, uint64_t first, unsigned count, bounds_block *block) {
  const char *p = (const char *)points->first + (points->chosen == NULL ? first * stride : 0);
  double at[3];
  for (unsigned i = 0; i < count; i++) {
    load_one(points->chosen != NULL ? p + points->chosen[first + i] * stride : p + i * stride,
             points->precision == GRAZE_DOUBLE, at);
    for (int k = 0; k < 3; k++) block->x[k][i] = at[k];
  }
}

void KERNEL(gz_bounds_load)(const graze_points *points, uint64_t first, unsigned count, bounds_block *block) {
  const size_t size = points->precision == GRAZE_DOUBLE ? sizeof(double) : sizeof(float);
  const size_t stride = points->stride != 0 ? points->stride : 3 * size;
  const void *packed = (const char *)points->first + first * stride;
  block->first = first;
  block->count = count;
  block->padded = (count + 7) / 8 * 8;
  if (points->chosen != NULL || stride != 3 * size || (uintptr_t)packed % size != 0)
    load_any(points, stride, first, count, block);
  else if (size == sizeof(double))
    load_doubles(packed, count, block->x[0], block->x[1], block->x[2]);
  else
    load_floats(packed, count, block->x[0], block->x[1], block->x[2]);
  for (unsigned i = count; i < block->padded; i++) {
    for (int k = 0; k < 3; k++) block->x[k][i] = block->x[k][count - 1];
  }
}

static inline double lanes_least(vd a) {
  double x[8];
  vd_store(x, a);
  for (int i = 1; i < VD_LANES; i++) x[0] = x[i] < x[0] ? x[i] : x[0];
  return x[0];
}

static inline double lanes_greatest(vd a) {
  double x[8];
  vd_store(x, a);
  for (int i = 1; i < VD_LANES; i++) x[0] = x[i] > x[0] ? x[i] : x[0];
  return x[0];
}

void KERNEL(gz_bounds_sums)(const bounds_block *block, bounds_sums *sums) {
  vd low[GRAZE_SLABS], high[GRAZE_SLABS], spoiled = vd_set(0);
  for (int k = 0; k < GRAZE_SLABS; k++) {
    low[k] = vd_set((double)INFINITY);
    high[k] = vd_set(-(double)INFINITY);
  }
  for (unsigned i = 0; i < block->padded; i += VD_LANES) {
    vd x = vd_load(block->x[0] + i), y = vd_load(block->x[1] + i), z = vd_load(block->x[2] + i);
    spoiled = vd_add(spoiled, vd_mul(x, vd_set(0)));
    spoiled = vd_add(spoiled, vd_add(vd_mul(y, vd_set(0)), vd_mul(z, vd_set(0))));
    vd plus = vd_add(x, y), minus = vd_sub(x, y);
    const vd sum[GRAZE_SLABS] = {x,
                                 y,
                                 z,
                                 vd_add(plus, z),
                                 vd_sub(plus, z),
                                 vd_add(minus, z),
                                 vd_sub(minus, z),
                                 plus,
                                 minus,
                                 vd_add(x, z),
                                 vd_sub(x, z),
                                 vd_add(y, z),
                                 vd_sub(y, z)};
    for (int k = 0; k < GRAZE_SLABS; k++) {
      low[k] = vd_min(sum[k], low[k]);
      high[k] = vd_max(sum[k], high[k]);
    }
  }
  for (int k = 0; k < GRAZE_SLABS; k++) {
    sums->min[k] = lanes_least(low[k]);
    sums->max[k] = lanes_greatest(high[k]);
  }
  double lane[8];
  vd_store(lane, spoiled);
  sums->finite = true;
  for (int i = 0; i < VD_LANES; i++) sums->finite &= lane[i] == 0;
}

/* ---- floats ---- */

typedef struct float_block {
  _Alignas(64) float x[3][BOUNDS_BLOCK];
} float_block;

typedef struct float_ends {
  vf low[GRAZE_SLABS], high[GRAZE_SLABS], spoiled;
} float_ends;

/* The last point is repeated, so that lanes are full. Returns how many there are then. */
static inline unsigned split_floats(const float *restrict p, unsigned count, float_block *restrict b) {
  const unsigned padded = (count + VF_LANES - 1) / VF_LANES * VF_LANES;
  for (unsigned i = 0; i < count; i++) {
    b->x[0][i] = p[3 * i];
    b->x[1][i] = p[3 * i + 1];
    b->x[2][i] = p[3 * i + 2];
  }
  for (unsigned i = count; i < padded; i++) {
    for (int k = 0; k < 3; k++) b->x[k][i] = b->x[k][count - 1];
  }
  return padded;
}

/* A sum that is not a number stays one. */
static inline void add_floats(const float_block *b, unsigned count, float_ends *e) {
  for (unsigned i = 0; i < count; i += VF_LANES) {
    const vf x = vf_load(b->x[0] + i), y = vf_load(b->x[1] + i), z = vf_load(b->x[2] + i);
    const vf plus = vf_add(x, y), minus = vf_sub(x, y);
    const vf sum[GRAZE_SLABS] = {x,
                                 y,
                                 z,
                                 vf_add(plus, z),
                                 vf_sub(plus, z),
                                 vf_add(minus, z),
                                 vf_sub(minus, z),
                                 plus,
                                 minus,
                                 vf_add(x, z),
                                 vf_sub(x, z),
                                 vf_add(y, z),
                                 vf_sub(y, z)};
    e->spoiled = vf_add(e->spoiled, vf_add(vf_sub(x, x), vf_add(vf_sub(y, y), vf_sub(z, z))));
    for (int k = 0; k < GRAZE_SLABS; k++) {
      e->low[k] = vf_min(sum[k], e->low[k]);
      e->high[k] = vf_max(sum[k], e->high[k]);
    }
  }
}

static void join_lanes(const float_ends *e, bounds_sums *sums) {
  float lane[16];
  for (int k = 0; k < GRAZE_SLABS; k++) {
    vf_store(lane, e->low[k]);
    for (int i = 1; i < VF_LANES; i++) lane[0] = lane[i] < lane[0] ? lane[i] : lane[0];
    sums->min[k] = (double)lane[0];
    vf_store(lane, e->high[k]);
    for (int i = 1; i < VF_LANES; i++) lane[0] = lane[i] > lane[0] ? lane[i] : lane[0];
    sums->max[k] = (double)lane[0];
  }
  vf_store(lane, e->spoiled);
  sums->finite = true;
  for (int i = 0; i < VF_LANES; i++) sums->finite &= lane[i] == 0;
}

void KERNEL(gz_bounds_rough)(const float *points, uint64_t count, bounds_sums *sums) {
  float_block block;
  float_ends ends = {.spoiled = vf_set(0)};
  for (int k = 0; k < GRAZE_SLABS; k++) {
    ends.low[k] = vf_set(INFINITY);
    ends.high[k] = vf_set(-INFINITY);
  }
  for (uint64_t at = 0; at < count; at += BOUNDS_BLOCK) {
    const unsigned some = count - at < BOUNDS_BLOCK ? (unsigned)(count - at) : BOUNDS_BLOCK;
    add_floats(&block, split_floats(points + 3 * at, some, &block), &ends);
  }
  join_lanes(&ends, sums);
}

double KERNEL(gz_bounds_far)(const bounds_block *block, const double center[3], double scale) {
  const vd s = vd_set(scale);
  vd most = vd_set(0), c[3];
  for (int k = 0; k < 3; k++) c[k] = vd_set(center[k]);
  for (unsigned i = 0; i < block->padded; i += VD_LANES) {
    vd d[3];
    for (int k = 0; k < 3; k++) d[k] = vd_mul(vd_sub(vd_load(block->x[k] + i), c[k]), s);
    vd square = vd_add(vd_add(vd_mul(d[0], d[0]), vd_mul(d[1], d[1])), vd_mul(d[2], d[2]));
    most = vd_max(square, most);
  }
  return lanes_greatest(most);
}

void KERNEL(gz_bounds_project)(const bounds_block *block, const double center[3], const double axes[3][3],
                               double min[3], double max[3]) {
  vd c[3], low[3], high[3];
  for (int k = 0; k < 3; k++) {
    c[k] = vd_set(center[k]);
    low[k] = vd_set((double)INFINITY);
    high[k] = vd_set(-(double)INFINITY);
  }
  for (unsigned i = 0; i < block->padded; i += VD_LANES) {
    vd d[3];
    for (int k = 0; k < 3; k++) d[k] = vd_sub(vd_load(block->x[k] + i), c[k]);
    for (int a = 0; a < 3; a++) {
      vd sum = vd_add(vd_mul(d[0], vd_set(axes[a][0])), vd_mul(d[1], vd_set(axes[a][1])));
      sum = vd_add(sum, vd_mul(d[2], vd_set(axes[a][2])));
      low[a] = vd_min(sum, low[a]);
      high[a] = vd_max(sum, high[a]);
    }
  }
  for (int a = 0; a < 3; a++) {
    min[a] = lanes_least(low[a]);
    max[a] = lanes_greatest(high[a]);
  }
}
