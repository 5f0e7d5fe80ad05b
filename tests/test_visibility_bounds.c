/* Which pixels a triangle meets and how deep it is there: bounds.glsl as C against exact arithmetic.
 *
 * The oracle cuts the posed triangle by the four vertical half-spaces of a pixel, in homogeneous coordinates of whole
 * numbers (GMP); what is left has corners or none. It knows nothing of edges' normals, planes or margins. */
#include <fenv.h>
#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "support.h"
#include "visibility/bounds.h"
#include "visibility/device.h"

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

/* ---- the oracle ---- */

enum { CORNERS = 8 }; /* a triangle that is cut four times has at most 7 */

typedef struct exact_polygon {
  mpz_t at[CORNERS][4]; /* x, y, z, w: the corner is (x, y, z) / w / 2^shift, w > 0 */
  int count;
} exact_polygon;

typedef struct oracle {
  exact_polygon polygon, cut;
  mpz_t corner[3][3], line, side[CORNERS], product;
  mpq_t number, other, depth, bound;
  uint64_t shift;
} oracle;

static void oracle_init(oracle *o) {
  for (int i = 0; i < CORNERS; i++) {
    for (int k = 0; k < 4; k++) mpz_inits(o->polygon.at[i][k], o->cut.at[i][k], NULL);
    mpz_init(o->side[i]);
  }
  for (int i = 0; i < 9; i++) mpz_init(o->corner[i / 3][i % 3]);
  mpz_inits(o->line, o->product, NULL);
  mpq_inits(o->number, o->other, o->depth, o->bound, NULL);
}

static void oracle_clear(oracle *o) {
  for (int i = 0; i < CORNERS; i++) {
    for (int k = 0; k < 4; k++) mpz_clears(o->polygon.at[i][k], o->cut.at[i][k], NULL);
    mpz_clear(o->side[i]);
  }
  for (int i = 0; i < 9; i++) mpz_clear(o->corner[i / 3][i % 3]);
  mpz_clears(o->line, o->product, NULL);
  mpq_clears(o->number, o->other, o->depth, o->bound, NULL);
}

/* A triangle as posed, and as a device gets it. */
typedef struct sample {
  double posed[9], origin[3];
  float corners[9], error;
  visibility_picture picture;
} sample;

/* The posed corners in the picture, times 2^shift. */
static void oracle_place(oracle *o, const sample *s) {
  uint64_t shifts[9];
  o->shift = 0;
  for (int i = 0; i < 9; i++) {
    const uint32_t k = (s->picture.axis + 1 + (uint32_t)i % 3) % 3; /* u, v, w */
    mpq_set_d(o->number, s->posed[3 * (i / 3) + (int)k]);
    mpq_set_d(o->other, s->origin[k]);
    mpq_sub(o->number, o->number, o->other);
    mpq_set_d(o->other, s->picture.low[k]);
    mpq_sub(o->number, o->number, o->other);
    mpq_set_d(o->other, s->picture.scale[k]);
    mpq_mul(o->number, o->number, o->other);
    shifts[i] = mpz_scan1(mpq_denref(o->number), 0);
    if (shifts[i] > o->shift) o->shift = shifts[i];
    mpz_set(o->corner[i / 3][i % 3], mpq_numref(o->number));
  }
  for (int i = 0; i < 9; i++) mpz_mul_2exp(o->corner[i / 3][i % 3], o->corner[i / 3][i % 3], o->shift - shifts[i]);
}

/* Keeps the part of the polygon where axis 0 or 1 is at least, or at most, `line`. */
static void oracle_cut(oracle *o, int axis, uint32_t line, bool least) {
  exact_polygon *p = &o->polygon, *out = &o->cut;
  out->count = 0;
  mpz_set_ui(o->line, line);
  mpz_mul_2exp(o->line, o->line, o->shift);
  for (int i = 0; i < p->count; i++) {
    mpz_mul(o->product, o->line, p->at[i][3]);
    if (least)
      mpz_sub(o->side[i], p->at[i][axis], o->product);
    else
      mpz_sub(o->side[i], o->product, p->at[i][axis]);
  }
  for (int i = 0; i < p->count; i++) {
    const int j = (i + 1) % p->count, here = mpz_sgn(o->side[i]), there = mpz_sgn(o->side[j]);
    if (here >= 0) {
      for (int k = 0; k < 4; k++) mpz_set(out->at[out->count][k], p->at[i][k]);
      out->count++;
    }
    if (here * there >= 0) continue;
    for (int k = 0; k < 4; k++) { /* i |side j| + j |side i| */
      mpz_mul(out->at[out->count][k], p->at[i][k], o->side[j]);
      mpz_submul(out->at[out->count][k], p->at[j][k], o->side[i]);
      if (here > 0) mpz_neg(out->at[out->count][k], out->at[out->count][k]);
    }
    out->count++;
  }
  const exact_polygon swap = *p;
  *p = *out;
  *out = swap;
}

/* Cuts the placed triangle to the pixel; false: it does not meet it. */
static bool oracle_meets(oracle *o, uint32_t x, uint32_t y) {
  o->polygon.count = 3;
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) mpz_set(o->polygon.at[i][k], o->corner[i][k]);
    mpz_set_ui(o->polygon.at[i][3], 1);
  }
  oracle_cut(o, 0, x, true);
  oracle_cut(o, 0, x + 1, false);
  oracle_cut(o, 1, y, true);
  oracle_cut(o, 1, y + 1, false);
  return o->polygon.count > 0;
}

/* After oracle_meets: whether all that is left is within the interval; its range rounded. */
static bool oracle_holds(oracle *o, visibility_interval depth, double *least, double *most) {
  bool held = true;
  *least = INFINITY, *most = -INFINITY;
  for (int i = 0; i < o->polygon.count; i++) {
    mpz_set(mpq_numref(o->depth), o->polygon.at[i][2]);
    mpz_mul_2exp(mpq_denref(o->depth), o->polygon.at[i][3], o->shift);
    mpq_set_d(o->bound, depth.lo);
    held = held && mpq_cmp(o->bound, o->depth) <= 0;
    mpq_set_d(o->bound, depth.hi);
    held = held && mpq_cmp(o->bound, o->depth) >= 0;
    mpf_t rounded;
    mpf_init2(rounded, 128);
    mpf_set_q(rounded, o->depth);
    *least = fmin(*least, mpf_get_d(rounded));
    *most = fmax(*most, mpf_get_d(rounded));
    mpf_clear(rounded);
  }
  return held;
}

/* ---- families ---- */

enum { RANDOM, SMALL, SLIVER, EDGE_ON, GRID, SEGMENT, HUGE_TRIANGLE, NEEDLE, FAMILIES };
static const char *const family_names[FAMILIES] = {"random",           "small", "sliver", "edge-on", "on the grid",
                                                   "point or segment", "huge",  "needle"};

static void random_corner(uint64_t *state, double n, double corner[3]) {
  corner[0] = n * (1.5 * random_unit(state) - 0.25);
  corner[1] = n * (1.5 * random_unit(state) - 0.25);
  corner[2] = 1.5 * random_unit(state) - 0.25;
}

static void between(double t, const double *a, const double *b, double *out) {
  for (int k = 0; k < 3; k++) out[k] = a[k] + t * (b[k] - a[k]);
}

/* A triangle in pixels and shares of the depth, of a picture of n x n. */
static void random_triangle(uint64_t *state, int kind, double n, double c[3][3]) {
  for (int i = 0; i < 3; i++) random_corner(state, n, c[i]);
  const double tiny = pow(10, -12 * random_unit(state)) * (random_below(state, 4) != 0);
  switch (kind) {
    case SMALL:
      for (int i = 3; i < 9; i++)
        c[i / 3][i % 3] =
            c[0][i % 3] + (i % 3 == 2 ? 2 / n : 2) * pow(10, -3 * random_unit(state)) * random_signed(state);
      break;
    case SLIVER:
      between(2 * random_signed(state), c[0], c[1], c[2]);
      for (int k = 0; k < 3; k++) c[2][k] += (k == 2 ? 1 : n) * tiny * random_signed(state);
      break;
    case EDGE_ON: {
      const double z = c[2][2];
      between(2 * random_signed(state), c[0], c[1], c[2]);
      if (random_below(state, 2) == 0) c[2][0] = c[1][0] = c[0][0];
      c[2][random_below(state, 2)] += n * tiny * random_signed(state);
      c[2][2] = z;
      break;
    }
    case GRID:
      for (int i = 0; i < 9; i++) c[i / 3][i % 3] = i % 3 == 2 ? random_below(state, 5) / 4.0 : floor(c[i / 3][i % 3]);
      if (random_below(state, 2) == 0) c[2][0] = c[0][0];
      break;
    case SEGMENT:
      memcpy(c[2], c[random_below(state, 2)], sizeof c[2]);
      if (random_below(state, 4) == 0) memcpy(c[1], c[0], sizeof c[1]);
      if (random_below(state, 4) == 0) c[0][0] = floor(c[0][0]);
      break;
    case HUGE_TRIANGLE: { /* around a point of the picture, where its plane is at a depth of the picture */
      const double far = 1e5 * n * pow(10, -3 * random_unit(state)), turn = 7 * random_unit(state),
                   slope = random_signed(state) / n, other = random_signed(state) / n;
      double p[3] = {n * random_unit(state), n * random_unit(state), random_unit(state)};
      for (int i = 0; i < 3; i++) {
        const double dx = far * cos(turn + 2.1 * i), dy = far * sin(turn + 2.1 * i);
        c[i][0] = p[0] + dx, c[i][1] = p[1] + dy, c[i][2] = p[2] + slope * dx + other * dy;
      }
      break;
    }
    case NEEDLE:
      between(1e-3 * random_unit(state), c[0], c[1], c[2]);
      for (int k = 0; k < 3; k++) c[2][k] += (k == 2 ? 1 : n) * 1e-4 * tiny * random_signed(state);
      break;
    default:
      break;
  }
}

/* How flat what is seen is along u, v or w, so that in the picture triangles reach far out of it. */
static double random_stretch(uint64_t *state) {
  return random_below(state, 8) == 0 ? pow(10, 6 * random_unit(state)) : 1;
}

/* A picture of n x n, and the triangle posed in its world. */
static void random_sample(uint64_t *state, int kind, sample *s) {
  static const uint32_t sizes[] = {1, 2, 3, 7, 16, 64, 100, 256, 1024, 2048};
  const uint32_t size = sizes[random_below(state, 10)];
  const bool exact = random_below(state, 2) == 0; /* no coordinate is rounded */
  double c[3][3];
  *s = (sample){.picture = {.axis = random_below(state, 3), .width = size, .height = size}};
  random_triangle(state, kind, size, c);
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t k = (s->picture.axis + 1 + i) % 3;
    const double middle = i == 2 ? 0.5 : size / 2.0, extent = i == 2 ? 1 : size;
    const double stretch = kind == GRID ? 1 : random_stretch(state);
    s->picture.scale[k] = (float)(exact ? 0.25 * extent : extent / (5 * random_unit(state) + 0.1));
    if (kind == GRID || exact) s->picture.scale[k] = ldexpf(1, ilogbf(s->picture.scale[k]));
    s->picture.low[k] = (float)(kind == GRID ? (double)random_below(state, 9) - 4 : 10 * random_signed(state));
    s->origin[k] = exact ? 0 : random_signed(state) * pow(10, 9 * random_unit(state));
    if (kind == GRID) s->origin[k] = round(s->origin[k]);
    for (int p = 0; p < 3; p++) {
      const double local = s->picture.low[k] + (middle + stretch * (c[p][i] - middle)) / s->picture.scale[k];
      s->posed[3 * p + (int)k] = exact ? (double)(float)local : s->origin[k] + local;
    }
  }
  for (int i = 0; i < 9; i++) {
    const long double local = (long double)s->posed[i] - s->origin[i % 3];
    s->corners[i] = (float)(s->posed[i] - s->origin[i % 3]);
    const float error = (float)(1.000001L * fabsl(local - s->corners[i]));
    s->error = fmaxf(s->error, error);
  }
}

/* A pixel at or next to a random point of the triangle. */
static void random_pixel(uint64_t *state, const sample *s, uint32_t pixel[2]) {
  double share[3];
  for (int i = 0; i < 3; i++) share[i] = random_below(state, 4) == 0 ? 0 : random_unit(state);
  const double sum = share[0] + share[1] + share[2];
  if (sum == 0) share[random_below(state, 3)] = 1;
  for (uint32_t i = 0; i < 2; i++) {
    const uint32_t k = (s->picture.axis + 1 + i) % 3;
    double at = 0;
    for (int p = 0; p < 3; p++) at += share[p] * (s->posed[3 * p + (int)k] - s->origin[k] - s->picture.low[k]);
    at = floor(at / (sum == 0 ? 1 : sum) * s->picture.scale[k]);
    if (random_below(state, 3) == 0) at += (double)random_below(state, 3) - 1;
    const double last = (i == 0 ? s->picture.width : s->picture.height) - 1.0;
    pixel[i] = (uint32_t)fmin(fmax(at, 0), last);
  }
}

static visibility_setup sample_setup(const sample *s, float margins) {
  const uint32_t w = s->picture.axis, u = (w + 1) % 3, v = (w + 2) % 3;
  const float *a = s->corners, *b = a + 3, *c = a + 6, *low = s->picture.low, *scale = s->picture.scale;
  return visibility_set_up(a[u], a[v], a[w], b[u], b[v], b[w], c[u], c[v], c[w], low[u], low[v], low[w], scale[u],
                           scale[v], scale[w], s->error, margins);
}

/* ---- bounds ---- */

/* How operations are rounded, and whether subnormal numbers are zero: bounds count on neither. */
typedef struct arithmetic {
  int rounding;
  bool flush;
} arithmetic;

static arithmetic random_arithmetic(uint64_t *state) {
  static const int roundings[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
  const uint32_t number = random_below(state, 8);
  return (arithmetic){roundings[number < 3 ? number : 3], random_below(state, 2) == 0};
}

/* What is said of a pixel. */
typedef struct answer {
  bool meets;
  visibility_interval depth;
  visibility_rectangle box;
} answer;

static __attribute__((noinline, noclone)) void find_answer(const sample *s, const uint32_t pixel[2], float margins,
                                                           answer *out) {
  const visibility_setup t = sample_setup(s, margins);
  out->meets = visibility_meets(t, pixel[0], pixel[1]);
  out->depth = visibility_depth(t, pixel[0], pixel[1]);
  out->box = visibility_pixels(t, s->picture.width, s->picture.height);
}

static answer answer_in(arithmetic how, const sample *s, const uint32_t pixel[2], float margins) {
  void (*volatile find)(const sample *, const uint32_t[2], float, answer *) = find_answer; /* not moved out of here */
  answer out;
  fenv_t usual;
  fegetenv(&usual);
  fesetround(how.rounding);
#ifdef __SSE2__
  if (how.flush) _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
  find(s, pixel, margins, &out);
  fesetenv(&usual);
  return out;
}

typedef struct tally {
  uint64_t met, superfluous, uncovered, outside; /* pixels; superfluous: said to meet, and they do not */
  double excess;                                 /* of intervals, in shares of the triangle's range of depth: a sum */
  uint64_t ranged;                               /* pixels in it */
  double units;                                  /* the same, in units, of triangles that are not degenerate */
  uint64_t measured, above_16, above_64;         /* units */
} tally;

/* The size of the triangle's range of depth, and what an error of 2^-23 of the largest coordinates in the picture makes
 * of depths on its plane; infinite where the angle between its edges is below a thousandth. */
static double unit_of(const sample *s, double *range) {
  double d[2][3], size[3] = {0}, least = INFINITY, most = -INFINITY;
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t k = (s->picture.axis + 1 + i) % 3;
    double at[3];
    for (int p = 0; p < 3; p++) {
      at[p] = (s->posed[3 * p + (int)k] - s->origin[k] - s->picture.low[k]) * s->picture.scale[k];
      size[i] = fmax(size[i], fabs(at[p]) + s->error * s->picture.scale[k] * 0x1p23);
      if (i == 2) least = fmin(least, at[p]), most = fmax(most, at[p]);
    }
    d[0][i] = at[1] - at[0], d[1][i] = at[2] - at[0];
  }
  *range = most - least;
  const double area = d[0][0] * d[1][1] - d[0][1] * d[1][0];
  if (!(fabs(area) > 1e-3 * hypot(d[0][0], d[0][1]) * hypot(d[1][0], d[1][1]))) return INFINITY;
  const double x = (d[0][2] * d[1][1] - d[1][2] * d[0][1]) / area, y = (d[1][2] * d[0][0] - d[0][2] * d[1][0]) / area;
  return 0x1p-23 * (size[2] + fabs(x) * size[0] + fabs(y) * size[1]);
}

static void check_pixel(oracle *o, const sample *s, const uint32_t pixel[2], answer got, tally *sum) {
  const visibility_rectangle box = got.box;
  const visibility_interval depth = got.depth;
  double least, most;
  assert_true(depth.lo <= depth.hi);
  if (got.meets)
    assert_true(pixel[0] >= box.left && pixel[0] < box.right && pixel[1] >= box.bottom && pixel[1] < box.top);
  if (!oracle_meets(o, pixel[0], pixel[1])) {
    sum->superfluous += got.meets;
    return;
  }
  sum->met++;
  sum->uncovered += !got.meets;
  sum->outside += !oracle_holds(o, depth, &least, &most);
  double range;
  const double unit = unit_of(s, &range), excess = (least - depth.lo) + (depth.hi - most);
  if (!visibility_tame(depth.hi)) return; /* too large to be bounded */
  if (range > 0) sum->excess += excess / range, sum->ranged++;
  if (!isfinite(unit) || unit <= 0) return;
  sum->units += excess / unit;
  sum->measured++;
  sum->above_16 += excess > 16 * unit;
  sum->above_64 += excess > 64 * unit;
}

static void check_family(int kind, int triangles, tally *with, tally *without) {
  uint64_t state = test_seed((uint64_t)kind);
  oracle o;
  oracle_init(&o);
  for (int i = 0; i < triangles; i++) {
    sample s;
    random_sample(&state, kind, &s);
    oracle_place(&o, &s);
    const arithmetic how = random_arithmetic(&state);
    for (int k = 0; k < 4; k++) {
      uint32_t pixel[2];
      random_pixel(&state, &s, pixel);
      check_pixel(&o, &s, pixel, answer_in(how, &s, pixel, 1), with);
      check_pixel(&o, &s, pixel, answer_in(how, &s, pixel, 0), without);
    }
  }
  oracle_clear(&o);
}

/* Nothing uncovered and no depth outside in eight families; without margins both happen, in each of them. */
static void bounds_hold(void **unused) {
  (void)unused;
  const int triangles = test_rounds(1000000, 10000000) / (4 * FAMILIES);
  for (int kind = 0; kind < FAMILIES; kind++) {
    tally with = {0}, without = {0};
    check_family(kind, triangles, &with, &without);
    print_message(
        "%-16s %8llu met, %.2f %% superfluous, too long by %.2g of the range, %.3g units; without margins %llu fail\n",
        family_names[kind], (unsigned long long)with.met,
        100.0 * (double)with.superfluous / (double)(with.met + with.superfluous), with.excess / (double)with.ranged,
        with.units / (double)with.measured, (unsigned long long)(without.uncovered + without.outside));
    assert_int_equal(with.uncovered, 0);
    assert_int_equal(with.outside, 0);
    assert_true(without.uncovered + without.outside > 0);
  }
}

/* Nondegenerate triangles of pixels' size in the middle of pictures: intervals are longer than they must be by a few
 * times what the coordinates' own rounding makes; some 14 % by more than 16 times, 1 % by more than 64, the worst by a
 * thousand, so that a mean would hang on it. */
static void bounds_are_tight(void **unused) {
  (void)unused;
  tally with = {0}, without = {0};
  check_family(SMALL, test_rounds(4000, 100000), &with, &without);
  assert_true(with.measured > 100);
  assert_true((double)with.above_16 < 0.3 * (double)with.measured);
  assert_true((double)with.above_64 < 0.05 * (double)with.measured);
  assert_true((double)with.superfluous < 0.02 * (double)with.met);
}

/* 1 / d within 5 units for every significand, and for the largest and least d. */
static void reciprocals_are_near(void **unused) {
  (void)unused;
  uint64_t state = test_seed(100);
  const int32_t step = test_long() ? 1 : 1 + (int32_t)random_below(&state, 64), one = visibility_bits(1.0f);
  for (int32_t bits = one; bits < one + (1 << 23); bits += step) {
    const float d = visibility_from_bits(bits);
    const int exponent = (int)random_below(&state, 161) - 60;
    const double error = 1 - (double)d * visibility_reciprocal(d);
    assert_true(fabs(error) <= 5 * 0x1p-23);
    assert_true(visibility_reciprocal(ldexpf(-d, exponent)) == ldexpf(-visibility_reciprocal(d), -exponent));
  }
}

/* What is not finite, or overflows, is everywhere and at all depths. */
static void what_is_not_bounded_is_everywhere(void **unused) {
  (void)unused;
  static const float numbers[] = {NAN, -NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e13f};
  for (int i = 0; i < 9; i++)
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
      float c[9] = {1, 2, 0.25f, 3, 1, 0.5f, 2, 4, 0.75f};
      c[i] = numbers[k];
      const visibility_setup t =
          visibility_set_up(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], 0, 0, 0, 1, 1, 1, 0, 1);
      const visibility_rectangle r = visibility_pixels(t, 2048, 1024);
      assert_true(r.left == 0 && r.right == 2048 && r.bottom == 0 && r.top == 1024);
      for (uint32_t pixel = 0; pixel < 1024; pixel += 341) {
        const visibility_interval depth = visibility_depth(t, 2 * pixel, pixel);
        assert_true(visibility_meets(t, 2 * pixel, pixel));
        assert_true(depth.lo < -1e30f && depth.hi > 1e30f);
        assert_int_equal(visibility_slices(depth.lo, depth.hi), UINT32_MAX);
      }
    }
  /* Nor is anything wrong with corners that are subnormal, or with an error that is not known. */
  const visibility_setup small = visibility_set_up(1e-44f, 0, 0, 0, 1e-44f, 0, 0, 0, 1e-44f, 0, 0, 0, 1, 1, 1, 0, 1);
  assert_true(visibility_meets(small, 0, 0) && !visibility_meets(small, 1, 0) && !visibility_meets(small, 0, 1));
  const visibility_setup unknown = visibility_set_up(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, INFINITY, 1);
  assert_true(visibility_meets(unknown, 100, 200) && visibility_depth(unknown, 100, 200).hi > 1e30f);
}

/* Intervals that share a depth share a slice, also far outside of [0, 1], where converting without care overflows. */
static void slices_hold_shared_depths(void **unused) {
  (void)unused;
  uint64_t state = test_seed(101);
  for (int i = 0; i < test_rounds(100000, 10000000); i++) {
    const double scale = pow(10, 38 * random_unit(&state) * (random_below(&state, 2)));
    const float shared = (float)(scale * random_signed(&state));
    const float lo = shared - (float)(scale * random_unit(&state)), hi = shared + (float)(scale * random_unit(&state));
    const uint32_t slices = visibility_slices(lo, hi), one = visibility_slices(shared, shared);
    assert_true(one != 0 && (one & (one - 1)) == 0 && (slices & one) == one);
    assert_int_equal(one, (uint32_t)1 << (uint32_t)fmin(fmax(floor(32.0 * shared), 0), 31));
  }
  assert_int_equal(visibility_slices(0.125f, 0.25f), 0x1f0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounds_hold),
      cmocka_unit_test(bounds_are_tight),
      cmocka_unit_test(reciprocals_are_near),
      cmocka_unit_test(what_is_not_bounded_is_everywhere),
      cmocka_unit_test(slices_hold_shared_depths),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
