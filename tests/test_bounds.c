/* Bounds against rational numbers: slabs are the outward roundings of exact sums, spheres and boxes contain every point
 * exactly, the smallest sphere is that of a brute force over all supports. Overlaps are never denied where a point is
 * common. What lectures get wrong has a test each. */
#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "graze/bounds.h"
#include "support.h"

enum { MOST = 700 };

static graze_context *context;
static mpq_t term, sum, other;

static int set_up(void **unused) {
  (void)unused;
  mpq_inits(term, sum, other, NULL);
  context = test_context(2, NULL);
  return 0;
}

static int tear_down(void **unused) {
  (void)unused;
  mpq_clears(term, sum, other, NULL);
  graze_context_destroy(context);
  return 0;
}

/* ---- exact sums ---- */

/* `to` becomes p.d */
static void exact_dot(mpq_t to, const double p[3], const int d[3]) {
  mpq_set_ui(to, 0, 1);
  for (int k = 0; k < 3; k++) {
    mpq_set_d(term, p[k]);
    if (d[k] > 0) mpq_add(to, to, term);
    if (d[k] < 0) mpq_sub(to, to, term);
  }
}

/* Sign of x - q, q infinite too. */
static int compare_double(const mpq_t x, double q) {
  if (isinf(q)) return q > 0 ? -1 : 1;
  mpq_set_d(other, q);
  return mpq_cmp(x, other);
}

static void check_slabs(const double *p, uint32_t count, const graze_kdop *kdop) {
  mpq_t low, high;
  mpq_inits(low, high, NULL);
  for (uint32_t i = 0; i < GRAZE_SLABS; i++) {
    int d[3];
    graze_slab_direction(i, d);
    for (uint32_t k = 0; k < count; k++) {
      exact_dot(sum, p + 3 * (size_t)k, d);
      if (k == 0 || mpq_cmp(sum, low) < 0) mpq_set(low, sum);
      if (k == 0 || mpq_cmp(sum, high) > 0) mpq_set(high, sum);
    }
    bool good = compare_double(low, kdop->min[i]) >= 0 && compare_double(high, kdop->max[i]) <= 0 &&
                compare_double(low, nextafter(kdop->min[i], (double)INFINITY)) < 0 &&
                compare_double(high, nextafter(kdop->max[i], -(double)INFINITY)) > 0;
    if (!good)
      fail_msg("direction %u: %a .. %a, want %g .. %g", i, kdop->min[i], kdop->max[i], mpq_get_d(low), mpq_get_d(high));
  }
  mpq_clears(low, high, NULL);
}

/* ---- exact containment ---- */

/* `sum` becomes the square of the distance. */
static void exact_square(const double p[3], const double c[3]) {
  mpq_set_ui(sum, 0, 1);
  for (int k = 0; k < 3; k++) {
    mpq_set_d(term, p[k]);
    mpq_set_d(other, c[k]);
    mpq_sub(term, term, other);
    mpq_mul(term, term, term);
    mpq_add(sum, sum, term);
  }
}

static void check_sphere(const double *p, uint32_t count, const graze_sphere *s) {
  bool near_surface = s->radius == 0 || isinf(s->radius) || s->radius < 0x1p-1020;
  if (isinf(s->radius)) return;
  for (uint32_t k = 0; k < count; k++) {
    exact_square(p + 3 * (size_t)k, s->center);
    mpq_set_d(term, s->radius);
    mpq_mul(term, term, term);
    if (mpq_cmp(sum, term) > 0) fail_msg("point %u is outside of a sphere of radius %a", k, s->radius);
    mpq_set_d(term, s->radius * (1 - 0x1p-45));
    mpq_mul(term, term, term);
    near_surface = near_surface || mpq_cmp(sum, term) >= 0;
  }
  assert_true(near_surface);
}

static void check_obb(const double *p, uint32_t count, const graze_obb *b) {
  mpq_t length2;
  mpq_init(length2);
  for (int a = 0; a < 3; a++) {
    mpq_set_ui(length2, 0, 1);
    for (int k = 0; k < 3; k++) {
      mpq_set_d(term, b->axes[a][k]);
      mpq_mul(term, term, term);
      mpq_add(length2, length2, term);
    }
    mpq_set_d(term, b->half[a]);
    mpq_mul(length2, length2, term);
    for (uint32_t i = 0; i < count; i++) {
      mpq_set_ui(sum, 0, 1);
      for (int k = 0; k < 3; k++) {
        mpq_set_d(term, p[3 * i + (uint32_t)k]);
        mpq_set_d(other, b->center[k]);
        mpq_sub(term, term, other);
        mpq_set_d(other, b->axes[a][k]);
        mpq_mul(term, term, other);
        mpq_add(sum, sum, term);
      }
      mpq_abs(sum, sum);
      if (mpq_cmp(sum, length2) > 0) fail_msg("point %u is outside of the oriented box", i);
    }
  }
  mpq_clear(length2);
}

static void check_support(const double *p, const graze_bounds *b) {
  double size = b->sphere_smallest.radius;
  for (int k = 0; k < 3; k++) size = fmax(size, fabs(b->sphere_smallest.center[k]));
  assert_true(b->support_count >= 1 && b->support_count <= 4);
  for (uint32_t i = 0; i < b->support_count && size > 0x1p-400 && size < 0x1p400; i++) {
    const double *x = p + 3 * b->support[i], *c = b->sphere_smallest.center;
    double d = sqrt((x[0] - c[0]) * (x[0] - c[0]) + (x[1] - c[1]) * (x[1] - c[1]) + (x[2] - c[2]) * (x[2] - c[2]));
    if (!(fabs(d - b->sphere_smallest.radius) <= 1e-12 * size))
      fail_msg("support %u: %a, radius %a", i, d, b->sphere_smallest.radius);
  }
}

static graze_bounds check_bounds(const double *p, uint32_t count, bool odd) {
  graze_bounds b;
  const graze_points points = {.first = p, .count = count, .precision = GRAZE_DOUBLE};
  memset(&b, 0xEE, sizeof b);
  assert_int_equal(graze_bound_points(context, &points, &b), GRAZE_OK);
  check_slabs(p, count, &b.kdop);
  for (int k = 0; k < 3; k++) assert_true(b.box.min[k] == b.kdop.min[k] && b.box.max[k] == b.kdop.max[k]);
  check_sphere(p, count, &b.sphere_box);
  check_sphere(p, count, &b.sphere_ritter);
  check_sphere(p, count, &b.sphere_smallest);
  assert_true(b.sphere_smallest.radius <= b.sphere_box.radius && b.sphere_smallest.radius <= b.sphere_ritter.radius);
  if (!odd) check_support(p, &b);
  check_obb(p, count, &b.obb);
  return b;
}

static graze_bounds check_points(const double *p, uint32_t count) {
  return check_bounds(p, count, false);
}

/* ---- many points ---- */

static uint32_t make_points(uint64_t *state, int kind, double *p) {
  uint32_t count = 1 + random_below(state, random_below(state, 4) == 0 ? MOST : 12);
  for (uint32_t i = 0; i < 3 * count; i++) {
    switch (kind) {
      case 0:
        p[i] = random_signed(state);
        break;
      case 1: /* a lattice: many points at each end */
        p[i] = (double)random_below(state, 4);
        break;
      case 2: /* far away and small */
        p[i] = 1e6 + 1e-3 * random_signed(state);
        break;
      case 3: /* sums that need many bits, and cancel */
        p[i] = ldexp(random_signed(state), (int)random_below(state, 120) - 60);
        break;
      case 4: /* flat or on a line */
        p[i] = i % 3 == 2 ? 0.5 : i % 3 == 1 && count % 2 == 0 ? 0.25 : random_signed(state);
        break;
      case 5:
        p[i] = ldexp(random_signed(state), -1060);
        break;
      default:
        p[i] = ldexp(random_signed(state), 1023);
    }
  }
  for (uint32_t i = 0; kind == 0 && i < 3 * count && count % 3 == 0; i += 3) { /* on a sphere */
    double length = sqrt(p[i] * p[i] + p[i + 1] * p[i + 1] + p[i + 2] * p[i + 2]);
    for (uint32_t k = 0; k < 3; k++) p[i + k] /= length;
  }
  return count;
}

static void test_families(void **unused) {
  (void)unused;
  static double p[3 * MOST];
  uint64_t state = test_seed(1000);
  for (int i = 0; i < test_rounds(210, 20000); i++) {
    uint32_t count = make_points(&state, i % 7, p);
    check_bounds(p, count, i % 7 == 3); /* of those, four may be all but on a circle */
  }
}

/* Sums that miss a double by what two roundings have lost: 1 + 2^-52 - 2^-106. */
static void test_hidden_rests(void **unused) {
  (void)unused;
  const double x = 0x1p-53, y = 0x1p-53 - 0x1p-106;
  const double p[12] = {1, x, y, -1, -x, -y, 1, -x, -y, -1, x, y};
  for (int i = 0; i < 4; i++) check_points(p + 3 * (size_t)i, 1);
  check_points(p, 4);
}

/* ---- floats ---- */

enum { MANY = 30000 };

/* Whole numbers about as long as a float's digits, most near the ends, where sums of floats round them together; all
 * times a power of two, up to where sums of floats overflow. Sums of doubles are exact. */
static float draw_float(uint64_t *state, bool crowded, int power) {
  const int whole = 1 << 24;
  const int number = crowded ? whole - (int)random_below(state, 12) : (int)random_below(state, (uint32_t)whole);
  return (float)ldexp(random_below(state, 2) ? number : -number, power);
}

static void check_floats(const float *p, uint32_t count) {
  const graze_points points = {.first = p, .count = count, .precision = GRAZE_FLOAT};
  graze_kdop kdop;
  assert_int_equal(graze_bound_slabs(context, &points, 26, &kdop), GRAZE_OK);
  for (uint32_t i = 0; i < GRAZE_SLABS; i++) {
    double low = (double)INFINITY, high = -(double)INFINITY;
    int d[3];
    graze_slab_direction(i, d);
    for (uint32_t k = 0; k < count; k++) {
      double all = 0;
      for (int c = 0; c < 3; c++) all += d[c] * (double)p[3 * (size_t)k + (size_t)c];
      low = fmin(low, all);
      high = fmax(high, all);
    }
    if (kdop.min[i] != low || kdop.max[i] != high)
      fail_msg("%u points, slab %u: [%a, %a], not [%a, %a]", count, i, kdop.min[i], kdop.max[i], low, high);
  }
}

/* Floats that lie one behind the other, in several pieces: sums of floats lead to the exact ends. */
static void test_floats(void **unused) {
  (void)unused;
  static float p[3 * MANY];
  static const int powers[] = {0, -149, 40, 99, 100, 102, 103};
  uint64_t state = test_seed(1001);
  for (int i = 0; i < test_rounds(28, 4000); i++) {
    const uint32_t count = i % 4 == 3 ? 1 + random_below(&state, 40) : MANY - random_below(&state, MANY / 2);
    for (uint32_t k = 0; k < 3 * count; k++) p[k] = draw_float(&state, i % 2 == 0, powers[i % 7]);
    check_floats(p, count);
  }
}

/* The first point that is none is named, whatever lies around it. */
static void test_floats_not_finite(void **unused) {
  (void)unused;
  static float p[3 * MANY];
  static const float bad[] = {NAN, INFINITY, -INFINITY};
  uint64_t state = test_seed(1002);
  test_log log = {0};
  graze_context *c = test_context(1, &log);
  const graze_points points = {.first = p, .count = MANY, .precision = GRAZE_FLOAT};
  for (int i = 0; i < 12; i++) {
    char words[64];
    graze_kdop kdop;
    const uint32_t at = random_below(&state, MANY);
    for (uint32_t k = 0; k < 3 * MANY; k++) p[k] = draw_float(&state, false, i % 2 == 0 ? 0 : 103);
    p[3 * at + random_below(&state, 3)] = bad[i % 3];
    assert_int_equal(graze_bound_slabs(c, &points, 26, &kdop), GRAZE_ERROR_NOT_FINITE);
    snprintf(words, sizeof words, "point %u: a coordinate is not finite", at);
    assert_string_equal(log.last, words);
  }
  graze_context_destroy(c);
}

/* ---- the smallest sphere ---- */

/* Solves for the centre by Cramer's rule; false: degenerate. */
static bool brute_center(const double *p, const uint32_t *set, int size, long double c[3]) {
  long double v[3][3], m[3][4];
  const double *o = p + 3 * (size_t)set[0];
  int n = size - 1;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) v[i][k] = (long double)p[3 * set[i + 1] + (uint32_t)k] - o[k];
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) m[i][j] = v[i][0] * v[j][0] + v[i][1] * v[j][1] + v[i][2] * v[j][2];
    m[i][3] = m[i][i] / 2;
  }
  for (int c0 = 0; c0 < n; c0++) {
    if (!(fabsl(m[c0][c0]) > 1e-12L)) return false;
    for (int r = 0; r < n; r++) {
      if (r == c0) continue;
      long double share = m[r][c0] / m[c0][c0];
      for (int k = 0; k < 4; k++) m[r][k] -= share * m[c0][k];
    }
  }
  for (int k = 0; k < 3; k++) {
    c[k] = o[k];
    for (int i = 0; i < n; i++) c[k] += m[i][3] / m[i][i] * v[i][k];
  }
  return true;
}

static long double brute_radius(const double *p, uint32_t count) {
  long double best = (long double)INFINITY, c[3];
  uint32_t s[4];
  for (uint32_t code = 0; code < count * count * count * count; code++) {
    uint32_t rest = code;
    for (int i = 0; i < 4; i++, rest /= count) s[i] = rest % count;
    int size = 1;
    while (size < 4 && s[size] > s[size - 1]) size++;
    if (size < 4 && s[size] != 0) continue;
    if (!brute_center(p, s, size, c)) continue;
    long double far = 0;
    for (uint32_t i = 0; i < count; i++) {
      long double d = 0;
      for (int k = 0; k < 3; k++) d += (p[3 * i + (uint32_t)k] - c[k]) * (p[3 * i + (uint32_t)k] - c[k]);
      far = d > far ? d : far;
    }
    best = far < best ? far : best;
  }
  return sqrtl(best);
}

static void test_smallest(void **unused) {
  (void)unused;
  double p[3 * 9];
  uint64_t state = test_seed(1010);
  for (int i = 0; i < test_rounds(60, 4000); i++) {
    uint32_t count = 1 + random_below(&state, 9);
    for (uint32_t k = 0; k < 3 * count; k++)
      p[k] = i % 3 == 0 ? (double)random_below(&state, 3) : random_signed(&state);
    graze_bounds b = check_points(p, count);
    long double want = brute_radius(p, count);
    if (!(fabsl(b.sphere_smallest.radius - want) <= 1e-13L * (1 + want)))
      fail_msg("radius %.17g, want %.17Lg", b.sphere_smallest.radius, want);
  }
}

/* The middle of the box with the farthest vertex is not the smallest sphere, and Ritter's is not: a right angle has the
 * middle of its hypotenuse. */
static void test_lecture_spheres(void **unused) {
  (void)unused;
  const double p[15] = {0, 0, 0, 4, 0, 0, 0, 3, 0, 1, 1, 1, 1, 1, -0.25};
  graze_bounds b = check_points(p, 5);
  assert_true(fabs(b.sphere_smallest.radius - 2.5) < 1e-14 && b.support_count == 2);
  assert_true(b.support[0] + b.support[1] == 3);
  assert_true(b.sphere_box.radius > 2.5 + 1e-3);
  const graze_volume x = {.kind = GRAZE_VOLUME_SPHERE, .sphere = {{0, 0, 0}, 2}};
  graze_volume y = {.kind = GRAZE_VOLUME_SPHERE, .sphere = {{3, 4, 0}, 3}};
  assert_true(graze_volumes_may_meet(&x, &y)); /* d < r1 + r2 would deny it */
  y.sphere.radius = nextafter(3, 0);
  assert_false(graze_volumes_may_meet(&x, &y));
}

/* ---- oriented boxes ---- */

static double volume_of(const graze_obb *b) {
  return 8 * b->half[0] * b->half[1] * b->half[2];
}

/* A turned box is found. */
static void test_turned_box(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1020);
  for (int i = 0; i < test_rounds(40, 2000); i++) {
    double p[24];
    graze_pose pose = test_random_pose(&state, 3);
    const double half[3] = {1 + random_unit(&state), 0.5 + 0.4 * random_unit(&state), 0.1 + 0.3 * random_unit(&state)};
    for (int k = 0; k < 8; k++) {
      const double corner[3] = {k & 1 ? half[0] : -half[0], k & 2 ? half[1] : -half[1], k & 4 ? half[2] : -half[2]};
      graze_pose_apply(&pose, corner, p + 3 * (size_t)k);
    }
    graze_bounds b = check_points(p, 8);
    double want = 8 * half[0] * half[1] * half[2];
    if (!(volume_of(&b.obb) <= want * 1.000001)) fail_msg("volume %g, want %g", volume_of(&b.obb), want);
  }
}

/* Along the principal axes of the vertices a box is pulled to where these are dense: a plain box, with many vertices in
 * two opposite corners. Jacobi's rotations find the axes. */
static void principal_axes(const double *p, uint32_t count, double a[3][3]) {
  double m[3][3] = {{0}}, mean[3] = {0};
  for (uint32_t i = 0; i < 3 * count; i++) mean[i % 3] += p[i] / count;
  for (uint32_t i = 0; i < count; i++) {
    for (int r = 0; r < 3; r++) {
      for (int c = 0; c < 3; c++) m[r][c] += (p[3 * i + (uint32_t)r] - mean[r]) * (p[3 * i + (uint32_t)c] - mean[c]);
    }
  }
  for (int k = 0; k < 9; k++) a[k / 3][k % 3] = k / 3 == k % 3;
  for (int sweep = 0; sweep < 60; sweep++) {
    int r = sweep % 3, c = (r + 1) % 3;
    if (m[r][c] == 0) continue;
    double angle = 0.5 * atan2(2 * m[r][c], m[r][r] - m[c][c]), s = sin(angle), t = cos(angle);
    for (int k = 0; k < 3; k++) {
      double x = m[k][r], y = m[k][c];
      m[k][r] = t * x + s * y;
      m[k][c] = t * y - s * x;
    }
    for (int k = 0; k < 3; k++) {
      double x = m[r][k], y = m[c][k], u = a[r][k], v = a[c][k];
      m[r][k] = t * x + s * y;
      m[c][k] = t * y - s * x;
      a[r][k] = t * u + s * v;
      a[c][k] = t * v - s * u;
    }
  }
}

static void test_lecture_boxes(void **unused) {
  (void)unused;
  double p[3 * 108], a[3][3], volume = 1;
  uint64_t state = test_seed(1030);
  for (int i = 0; i < 108; i++) {
    for (int k = 0; k < 3; k++) {
      double side = i < 8 ? (i >> k & 1 ? 1 : -1) : i % 2 == 0 ? 1 : -1;
      p[3 * i + k] = side * (i < 8 ? 1 : 1 - 0.1 * random_unit(&state)) * (k + 1);
    }
  }
  graze_bounds b = check_points(p, 108);
  principal_axes(p, 108, a);
  for (int r = 0; r < 3; r++) {
    double low = (double)INFINITY, high = -(double)INFINITY;
    for (int i = 0; i < 108; i++) {
      double at = a[r][0] * p[3 * i] + a[r][1] * p[3 * i + 1] + a[r][2] * p[3 * i + 2];
      low = fmin(low, at);
      high = fmax(high, at);
    }
    volume *= high - low;
  }
  assert_true(volume > 1.2 * volume_of(&b.obb));
  assert_true(volume_of(&b.obb) <= 48 * (1 + 1e-12));
}

/* ---- overlap ---- */

static graze_volume volume_from(const graze_bounds *b, int kind) {
  static const uint32_t planes[4] = {6, 14, 18, 26};
  graze_volume v = {.kind = kind < 3 ? (graze_volume_kind)kind : GRAZE_VOLUME_KDOP};
  if (kind == 0) v.box = b->box;
  if (kind == 1) v.sphere = b->sphere_smallest;
  if (kind == 2) v.obb = b->obb;
  if (kind >= 3) v.kdop = b->kdop;
  if (kind >= 3) v.kdop.k = planes[kind - 3];
  return v;
}

/* Two clouds, with a point in common or a plane between them. */
static void make_two(uint64_t *state, bool common, double *a, double *b, uint32_t count) {
  double size = ldexp(1, (int)random_below(state, 41) - 20), gap = common ? 0 : size * 1e-6;
  double normal[3], length = 0;
  for (int k = 0; k < 3; k++) normal[k] = random_signed(state);
  for (int k = 0; k < 3; k++) length += normal[k] * normal[k];
  for (int k = 0; k < 3; k++) normal[k] = common ? normal[k] / sqrt(length) : k == 0;
  for (uint32_t i = 0; i < count; i++) {
    for (int side = 0; side < 2; side++) {
      double *p = (side == 0 ? a : b) + 3 * (size_t)i, height = 0;
      for (int k = 0; k < 3; k++) p[k] = i == 0 ? 0 : size * random_signed(state);
      for (int k = 0; k < 3; k++) height += p[k] * normal[k];
      double move = (side == 0 ? -1 : 1) * (fabs(height) + (common && i == 0 ? 0 : gap)) - height;
      for (int k = 0; k < 3; k++) p[k] += i == 0 && common ? 0 : move * normal[k];
    }
  }
}

/* Those that share a point may meet, whatever they are. With a plane between them, boxes along the axes, whose
 * directions have it, and slabs are apart. */
static void test_overlap(void **unused) {
  (void)unused;
  double a[3 * 20], b[3 * 20];
  uint64_t state = test_seed(1040), apart = 0;
  for (int i = 0; i < test_rounds(400, 40000); i++) {
    bool common = i % 2 == 0;
    make_two(&state, common, a, b, 20);
    const graze_points pa = {.first = a, .count = 20, .precision = GRAZE_DOUBLE};
    const graze_points pb = {.first = b, .count = 20, .precision = GRAZE_DOUBLE};
    graze_bounds x, y;
    assert_int_equal(graze_bound_points(context, &pa, &x), GRAZE_OK);
    assert_int_equal(graze_bound_points(context, &pb, &y), GRAZE_OK);
    for (int k = 0; k < 49; k++) {
      graze_volume u = volume_from(&x, k / 7), v = volume_from(&y, k % 7);
      bool meet = graze_volumes_may_meet(&u, &v);
      assert_true(meet == graze_volumes_may_meet(&v, &u));
      if (common && !meet) fail_msg("kinds %d and %d share a point and are told apart", k / 7, k % 7);
      bool sees_it = k / 7 != 1 && k / 7 != 2 && k % 7 != 1 && k % 7 != 2;
      if (!common && sees_it) assert_false(meet);
      apart += !meet;
    }
  }
  assert_true(apart > 0);
}

/* Every pair of kinds can tell what is far apart. */
static void test_far_apart(void **unused) {
  (void)unused;
  double a[3 * 20], b[3 * 20];
  uint64_t state = test_seed(1050);
  for (int i = 0; i < 60; i++) {
    a[i] = random_signed(&state);
    b[i] = random_signed(&state) + (i % 3 == 1 ? 9 : 0);
  }
  graze_bounds x = check_points(a, 20), y = check_points(b, 20);
  for (int k = 0; k < 49; k++) {
    graze_volume u = volume_from(&x, k / 7), v = volume_from(&y, k % 7);
    assert_false(graze_volumes_may_meet(&u, &v));
  }
}

/* Closed: what touches meets. */
static void test_touching(void **unused) {
  (void)unused;
  const graze_volume box = {.kind = GRAZE_VOLUME_BOX, .box = {{0, 0, 0}, {1, 1, 1}}};
  graze_volume v = {.kind = GRAZE_VOLUME_BOX, .box = {{1, 1, 1}, {2, 2, 2}}};
  assert_true(graze_volumes_may_meet(&box, &v));
  v.box.min[0] = nextafter(1, 2);
  assert_false(graze_volumes_may_meet(&box, &v));
  v = (graze_volume){.kind = GRAZE_VOLUME_SPHERE, .sphere = {{4, 5, 0.5}, 5}};
  assert_true(graze_volumes_may_meet(&box, &v) && graze_volumes_may_meet(&v, &box));
  v.sphere.radius = nextafter(5, 0);
  assert_false(graze_volumes_may_meet(&box, &v));
  v = (graze_volume){.kind = GRAZE_VOLUME_SPHERE, .sphere = {{4 * 0x1p-600, 5 * 0x1p-600, 0}, 5 * 0x1p-600}};
  graze_volume tiny = {.kind = GRAZE_VOLUME_BOX, .box = {{0, 0, 0}, {0x1p-600, 0x1p-600, 0}}};
  assert_true(graze_volumes_may_meet(&tiny, &v));
  v.sphere.radius = nextafter(v.sphere.radius, 0);
  assert_false(graze_volumes_may_meet(&tiny, &v));
}

/* One separating interval is proof, none is not: two slanted plates whose slabs along the axes overlap. */
static void test_no_separating_slab(void **unused) {
  (void)unused;
  double a[12], b[12];
  for (int i = 0; i < 4; i++) {
    double x = i & 1 ? 1 : -1, z = i & 2 ? 1 : -1;
    const double p[3] = {x, x, z}, q[3] = {x + 0.5, x - 0.5, z};
    memcpy(a + 3 * (size_t)i, p, sizeof p);
    memcpy(b + 3 * (size_t)i, q, sizeof q);
  }
  graze_bounds x = check_points(a, 4), y = check_points(b, 4);
  graze_volume u = volume_from(&x, 3), v = volume_from(&y, 3);
  assert_true(graze_volumes_may_meet(&u, &v)); /* though the plates are parallel */
  u.kdop.k = v.kdop.k = 18;
  assert_false(graze_volumes_may_meet(&u, &v));
  u.kdop.k = 14;
  assert_true(graze_volumes_may_meet(&u, &v)); /* common are the axes alone */
}

/* ---- the calls ---- */

static void check_same(const graze_bounds *a, const graze_bounds *b) {
  assert_memory_equal(a->kdop.min, b->kdop.min, sizeof a->kdop.min + sizeof a->kdop.max);
  assert_memory_equal(&a->sphere_box, &b->sphere_box, sizeof a->sphere_box);
  assert_memory_equal(&a->sphere_ritter, &b->sphere_ritter, sizeof a->sphere_ritter);
  assert_memory_equal(&a->sphere_smallest, &b->sphere_smallest, sizeof a->sphere_smallest);
  assert_memory_equal(a->support, b->support, sizeof a->support);
  assert_memory_equal(&a->obb, &b->obb, sizeof a->obb);
}

/* Floats, strides and lists are the same points; a mesh's are those that triangles use. */
static void test_forms(void **unused) {
  (void)unused;
  enum { count = 20000 };
  static float floats[4 * count];
  static double doubles[3 * count];
  static uint32_t list[count];
  uint64_t state = test_seed(1060);
  for (uint32_t i = 0; i < count; i++) {
    list[i] = count - 1 - i;
    floats[4 * i + 3] = NAN;
    for (uint32_t k = 0; k < 3; k++) doubles[3 * i + k] = (double)(floats[4 * i + k] = (float)random_signed(&state));
  }
  graze_bounds a, b;
  const graze_points packed = {.first = doubles, .count = count, .precision = GRAZE_DOUBLE};
  const graze_points strided = {.first = floats, .stride = 16, .count = count, .precision = GRAZE_FLOAT};
  const graze_points listed = {.first = floats, .stride = 16, .count = count, .precision = GRAZE_FLOAT, .chosen = list};
  memset(&a, 0, sizeof a);
  memset(&b, 0, sizeof b);
  assert_int_equal(graze_bound_points(context, &packed, &a), GRAZE_OK);
  assert_int_equal(graze_bound_points(context, &strided, &b), GRAZE_OK);
  check_same(&a, &b);
  assert_int_equal(graze_bound_points(context, &listed, &b), GRAZE_OK);
  assert_memory_equal(a.kdop.min, b.kdop.min, sizeof a.kdop.min + sizeof a.kdop.max);
  assert_true(fabs(a.sphere_smallest.radius - b.sphere_smallest.radius) < 1e-14);
  for (int threads = 1; threads <= 3; threads += 2) {
    graze_context *c = test_context(threads, NULL);
    memset(&b, 0, sizeof b);
    assert_int_equal(graze_bound_points(c, &packed, &b), GRAZE_OK);
    check_same(&a, &b);
    graze_context_destroy(c);
  }
}

static void test_mesh_vertices(void **unused) {
  (void)unused;
  const double vertices[15] = {100, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, -100, 0, 0};
  const uint32_t indices[3] = {1, 2, 3};
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh *mesh = NULL;
  graze_bounds b;
  def.vertices = vertices;
  def.vertex_count = 5;
  def.indices = indices;
  def.triangle_count = 1;
  def.precision = GRAZE_DOUBLE;
  assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_OK);
  assert_int_equal(graze_bound_mesh(context, mesh, &b), GRAZE_OK);
  assert_true(b.box.min[0] == 0 && b.box.max[0] == 2 && b.support_count == 2);
  assert_true(b.support[0] + b.support[1] == 5 && fabs(b.sphere_smallest.radius - sqrt(2)) < 1e-13);
  graze_mesh_destroy(mesh);
  mesh = test_mesh(context, vertices, 0, GRAZE_VOLUMES_ORIENTED);
  assert_int_equal(graze_bound_mesh(context, mesh, &b), GRAZE_ERROR_ARGUMENT);
  graze_mesh_destroy(mesh);
}

static void test_errors(void **unused) {
  (void)unused;
  test_log log = {0};
  graze_context *c = test_context(1, &log);
  double p[6] = {0, 0, 0, 0, (double)NAN, 0};
  const uint32_t second = 1;
  graze_points points = {.first = p, .count = 2, .precision = GRAZE_DOUBLE};
  graze_bounds b;
  graze_kdop kdop;
  assert_int_equal(graze_bound_points(c, &points, &b), GRAZE_ERROR_NOT_FINITE);
  assert_string_equal(log.last, "point 1: a coordinate is not finite");
  points.chosen = &second;
  points.count = 1;
  assert_int_equal(graze_bound_points(c, &points, &b), GRAZE_ERROR_NOT_FINITE);
  assert_string_equal(log.last, "point 1: a coordinate is not finite");
  p[4] = -(double)INFINITY;
  assert_int_equal(graze_bound_slabs(c, &points, 6, &kdop), GRAZE_ERROR_NOT_FINITE);
  p[4] = 0;
  assert_int_equal(graze_bound_slabs(c, &points, 7, &kdop), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_bound_slabs(c, &points, 14, &kdop), GRAZE_OK);
  assert_true(kdop.k == 14);
  points.count = 0;
  assert_int_equal(graze_bound_points(c, &points, &b), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_bound_points(c, NULL, &b), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_bound_points(NULL, &points, &b), GRAZE_ERROR_ARGUMENT);
  graze_context_destroy(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_families),
      cmocka_unit_test(test_hidden_rests),
      cmocka_unit_test(test_smallest),
      cmocka_unit_test(test_lecture_spheres),
      cmocka_unit_test(test_turned_box),
      cmocka_unit_test(test_lecture_boxes),
      cmocka_unit_test(test_overlap),
      cmocka_unit_test(test_far_apart),
      cmocka_unit_test(test_touching),
      cmocka_unit_test(test_no_separating_slab),
      cmocka_unit_test(test_forms),
      cmocka_unit_test(test_mesh_vertices),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_floats),
      cmocka_unit_test(test_floats_not_finite),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
