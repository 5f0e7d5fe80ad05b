/* Box and zero-area triangles.
 *
 * A triangle has zero area when all three components of (b - a) x (c - a) are zero. A filter in double settles nearly
 * all: with e1, e2 the rounded differences, p and q the two rounded products of a component and n = p - q,
 *     |n - exact| <= (3 + 16u) u (|p| + |q|) + 2^-1074,   u = 2^-53
 * (Shewchuk 1997, ccwerrboundA; the last term is for products that underflow), so one component beyond
 * 2^-51 (|p| + |q|) + 2^-1000 proves that the triangle is proper. Overflow gives infinities or NaN, which fail the
 * comparison. What is left goes to the exact predicate. Triangles pass in short runs whose coordinates are gathered
 * first, so that the arithmetic runs in vectors.
 */
#include <math.h>

#include "base/simd.h"
#include "exact/orient.h"
#include "mesh/survey.h"

static bool zero_area(const double *a, const double *b, const double *c) {
  return gz_orient2d(2, a, b, c) == 0 && gz_orient2d(0, a, b, c) == 0 && gz_orient2d(1, a, b, c) == 0;
}

/* Positive when the filter is certain that the component p - q is not zero; NaN when something overflowed. */
static inline double component_margin(double p, double q) {
  return fabs(p - q) - (0x1p-51 * (fabs(p) + fabs(q)) + 0x1p-1000);
}

/* ---- floats, first look: in floats ---- */

static inline v8 v8_size(v8 a) {
  return v8_max(a, -a); /* of NaN: NaN */
}

/* The corners of eight triangles, corner[3 * c + k]: coordinate k of corner c; the box grows by them. */
static inline void corners_of_eight(const float *vertices, uint64_t last, const uint32_t *triangles, v8 corner[9],
                                    v4 *low, v4 *high) {
  for (int c = 0; c < 3; c++) {
    v4 r[8];
    for (int i = 0; i < 8; i++) {
      uint32_t v = triangles[3 * i + c];
      const float *p = vertices + 3 * (size_t)v;
      /* One load of four numbers, but for the last vertex, behind which the array may end. */
      r[i] = v < last ? v4_load(p) : (v4){p[0], p[1], p[2], 0};
      *low = v4_min(*low, r[i]);
      *high = v4_max(*high, r[i]);
    }
    v4_transpose(r);
    v4_transpose(r + 4);
    for (int k = 0; k < 3; k++) corner[3 * c + k] = v8_join(r[k], r[k + 4]);
  }
}

/* Whether all of a full run are proper beyond doubt, by the filter above with float's u = 2^-24: one component beyond
 * 2^-22 (|p| + |q|) + 2^-140. Then the box grows by the run; else nothing happens. */
static bool all_proper(const graze_mesh *mesh, const uint32_t *triangles, summary *total) {
  const float *vertices = mesh->vertices_float;
  uint64_t last = mesh->header->vertex_count - 1;
  v4 low = v4_set(INFINITY), high = v4_set(-INFINITY);
  i8 sure = ~(i8){0};
  for (uint32_t t = 0; t < SURVEY_RUN; t += 8) {
    v8 corner[9], e[3], f[3];
    i8 proper = {0};
    corners_of_eight(vertices, last, triangles + 3 * t, corner, &low, &high);
    for (int k = 0; k < 3; k++) {
      e[k] = corner[3 + k] - corner[k];
      f[k] = corner[6 + k] - corner[k];
    }
    for (int k = 0; k < 3; k++) {
      int i = (k + 1) % 3, j = (k + 2) % 3;
      v8 p = e[i] * f[j], q = e[j] * f[i];
      /* Overflow gives infinities or NaN, which fail the comparison. */
      proper |= v8_size(p - q) > v8_set(0x1p-22f) * (v8_size(p) + v8_size(q)) + v8_set(0x1p-140f);
    }
    sure &= proper;
  }
  if (v8_lowest(v8_pick(sure, v8_set(1), v8_set(0))) == 0) return false;
  for (int k = 0; k < 3; k++) {
    if ((double)low[k] < total->low[k]) total->low[k] = (double)low[k];
    if ((double)high[k] > total->high[k]) total->high[k] = (double)high[k];
  }
  return true;
}

/* ---- the filter above, in doubles -------------------------------------------------------------------------------- */

/* Short runs are filled up with their first triangle, so that every loop has a fixed length. */
static void gather(const graze_mesh *mesh, const uint32_t *triangles, uint32_t count, double x[9][SURVEY_RUN]) {
  for (uint32_t i = 0; i < SURVEY_RUN; i++) {
    const uint32_t *corner = triangles + 3 * (size_t)(i < count ? i : 0);
    for (int c = 0; c < 3; c++) {
      size_t at = 3 * (size_t)corner[c];
      for (int k = 0; k < 3; k++) {
        x[3 * c + k][i] =
            mesh->is_double ? mesh->vertices_double[at + (size_t)k] : (double)mesh->vertices_float[at + (size_t)k];
      }
    }
  }
}

/* One halving: the low and high of places l and l + half, for every l below half. */
static inline void fold(const double *low, const double *high, double *restrict low_out, double *restrict high_out,
                        int half) {
  for (int l = 0; l < half; l++) {
    low_out[l] = low[l] < low[l + half] ? low[l] : low[l + half];
    high_out[l] = high[l] > high[l + half] ? high[l] : high[l + half];
  }
}

static void widen(double x[9][SURVEY_RUN], summary *total) {
  for (int k = 0; k < 9; k++) {
    double low[4][SURVEY_RUN / 2], high[4][SURVEY_RUN / 2];
    fold(x[k], x[k], low[0], high[0], 32);
    fold(low[0], high[0], low[1], high[1], 16);
    fold(low[1], high[1], low[2], high[2], 8);
    fold(low[2], high[2], low[3], high[3], 4);
    for (int l = 0; l < 4; l++) {
      if (low[3][l] < total->low[k % 3]) total->low[k % 3] = low[3][l];
      if (high[3][l] > total->high[k % 3]) total->high[k % 3] = high[3][l];
    }
  }
}

/* Fills margin: positive proves the triangle proper. Returns whether all are. ABREAST results side by side, so that the
 * compiler may use vectors without reordering anything. */
static bool judge(double x[9][SURVEY_RUN], double margin[SURVEY_RUN]) {
  enum { ABREAST = 8 };
  double open[ABREAST] = {0};
  for (int i = 0; i < SURVEY_RUN; i += ABREAST) {
    for (int l = i; l < i + ABREAST; l++) {
      double ax = x[0][l], ay = x[1][l], az = x[2][l];
      double ux = x[3][l] - ax, uy = x[4][l] - ay, uz = x[5][l] - az;
      double vx = x[6][l] - ax, vy = x[7][l] - ay, vz = x[8][l] - az;
      double mx = component_margin(uy * vz, uz * vy), my = component_margin(uz * vx, ux * vz),
             mz = component_margin(ux * vy, uy * vx);
      mx = mx > my ? mx : my;
      mx = mx > mz ? mx : mz;
      margin[l] = mx;
      open[l - i] = mx > 0 ? open[l - i] : 1;
    }
  }
  double sum = 0;
  for (int l = 0; l < ABREAST; l++) sum += open[l];
  return sum == 0;
}

uint64_t KERNEL(gz_survey)(const graze_mesh *mesh, const uint32_t *triangles, uint32_t count, summary *total) {
  if (!mesh->is_double && count == SURVEY_RUN && all_proper(mesh, triangles, total)) return 0;
  double x[9][SURVEY_RUN], margin[SURVEY_RUN];
  gather(mesh, triangles, count, x);
  widen(x, total);
  uint64_t word = 0;
  if (judge(x, margin)) return word;
  for (uint32_t i = 0; i < count; i++) {
    if (margin[i] > 0) continue;
    double p[9];
    for (int k = 0; k < 9; k++) p[k] = x[k][i];
    if (zero_area(p, p + 3, p + 6)) word |= (uint64_t)1 << i;
  }
  return word;
}
