/* The nearest point of a triangle, and the triangles of a mesh that are near one, against 113 bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "narrow/near.h"
#include "worlds.h"

/* Numbers of 113 bits, for triangles a millionth of a millionth wide. */
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

static quad quad_dot(const quad a[3], const quad b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void quad_cross(const quad a[3], const quad b[3], quad out[3]) {
  for (int k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* Least distance to the points a + s u + t v of a triangle, from its interior, its edges and its corners. */
static long double least_distance(const double corners[9], const double p[3]) {
  quad least = INFINITY, u[3], v[3], w[3], q[3], n[3], vw[3], uw[3];
  for (int i = 0; i < 3; i++) {
    const double *a = corners + 3 * i, *b = corners + 3 * ((i + 1) % 3), *c = corners + 3 * ((i + 2) % 3);
    for (int k = 0; k < 3; k++) u[k] = (quad)b[k] - a[k], v[k] = (quad)c[k] - a[k], w[k] = (quad)p[k] - a[k];
    const quad uu = quad_dot(u, u), along = quad_dot(u, w);
    if (quad_dot(w, w) < least) least = quad_dot(w, w);
    if (along > 0 && along < uu) {
      for (int k = 0; k < 3; k++) q[k] = w[k] - along / uu * u[k];
      if (quad_dot(q, q) < least) least = quad_dot(q, q);
    }
    quad_cross(u, v, n);
    quad_cross(w, v, vw);
    quad_cross(u, w, uw);
    const quad det = quad_dot(n, n), s = quad_dot(vw, n) / det, t = quad_dot(uw, n) / det;
    if (!(det > 0 && s > 0 && t > 0 && s + t < 1)) continue;
    for (int k = 0; k < 3; k++) q[k] = w[k] - s * u[k] - t * v[k];
    if (quad_dot(q, q) < least) least = quad_dot(q, q);
  }
  return sqrtl((long double)least);
}

static void random_triangle(uint64_t *state, double corners[9]) {
  const uint32_t kind = random_below(state, 5);
  const double shift = kind == 4 ? 1000 : 0;
  for (int i = 0; i < 9; i++)
    corners[i] = shift + (kind == 1 ? (double)random_below(state, 4) : 4 * random_signed(state));
  if (kind == 2) { /* a sliver, or a segment */
    const double t = 1.5 * random_signed(state),
                 thin = random_below(state, 4) == 0 ? 0 : pow(10, -16 * random_unit(state));
    for (int k = 0; k < 3; k++)
      corners[6 + k] = corners[k] + t * (corners[3 + k] - corners[k]) + thin * random_signed(state);
  }
  if (kind == 3 && random_below(state, 4) == 0) memcpy(corners + 3, corners, 3 * sizeof(double));
}

/* Over, or a little beside, a place of the triangle. */
static void put_above(uint64_t *state, const double corners[9], double p[3]) {
  const double s = 1.2 * random_unit(state) - 0.1, t = (1 - s) * random_unit(state),
               height = pow(10, -12 * random_unit(state));
  for (int k = 0; k < 3; k++)
    p[k] = corners[k] + s * (corners[3 + k] - corners[k]) + t * (corners[6 + k] - corners[k]) +
           height * random_signed(state);
}

static void test_nearest(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1);
  for (int round = 0; round < test_rounds(20000, 2000000); round++) {
    double corners[9], p[3], place[3];
    random_triangle(&state, corners);
    const bool lattice = random_below(&state, 3) == 0;
    for (int k = 0; k < 3; k++)
      p[k] = corners[k] + (lattice ? (double)random_below(&state, 5) - 2 : 5 * random_signed(&state));
    if (random_below(&state, 4) == 0) put_above(&state, corners, p);
    const near_point near = gz_triangle_nearest(corners, p);
    const long double want = least_distance(corners, p), large = 1e-16L * 2000;
    assert_near(near.distance, (double)want, (double)(large * 50));
    for (int k = 0; k < 3; k++) place[k] = p[k] - near.distance * near.normal[k];
    assert_near((double)least_distance(corners, place), 0, 1e-7 * (double)want + 1e-11);
    assert_near(
        sqrt(near.normal[0] * near.normal[0] + near.normal[1] * near.normal[1] + near.normal[2] * near.normal[2]), 1,
        1e-14);
  }
}

typedef struct seen {
  uint8_t *triangles;
  uint32_t count;
} seen;

static bool see(void *user, uint32_t triangle) {
  seen *s = user;
  assert_int_equal(s->triangles[triangle], 0);
  s->triangles[triangle] = 1;
  s->count++;
  return true;
}

static bool stop_at_third(void *user, uint32_t triangle) {
  (void)triangle;
  return ++*(uint32_t *)user < 3;
}

/* Every triangle that is near is visited, and few others; beyond the range of floats, all. */
static void test_near_triangles(void **unused) {
  (void)unused;
  enum { MOST = 3000 };
  static const int scales[] = {0, -40, 40, 70};
  uint64_t state = test_seed(2), visited = 0, needed = 0;
  double *corners = calloc(9 * MOST, sizeof *corners);
  uint8_t *marks = calloc(MOST, 1);
  for (int round = 0; round < test_rounds(24, 600); round++) {
    const uint32_t count = 1 + random_below(&state, MOST);
    const int scale = scales[round % 4];
    soup_cluttered(&state, count, 0.05, corners);
    for (uint32_t i = 0; i < 9 * count; i++) corners[i] = ldexp(corners[i], scale);
    graze_mesh *mesh = test_mesh(shared_context(1), corners, count, (graze_volumes)(round / 4 % 2));
    for (int i = 0; i < 20; i++) {
      double p[3];
      for (int k = 0; k < 3; k++) p[k] = ldexp(1.2 * random_unit(&state), scale);
      const double radius = ldexp(0.1 * random_unit(&state), scale);
      seen s = {marks, 0};
      memset(marks, 0, count);
      assert_true(gz_mesh_near(mesh, p, radius, see, &s));
      for (uint32_t t = 0; t < count; t++) {
        if (!(gz_triangle_nearest(corners + 9 * (size_t)t, p).distance <= radius)) continue;
        assert_int_equal(marks[t], 1);
        needed += scale != 70;
      }
      visited += scale != 70 ? s.count : 0;
      uint32_t stopped = 0;
      if (s.count >= 3) assert_false(gz_mesh_near(mesh, p, radius, stop_at_third, &stopped));
    }
    graze_mesh_destroy(mesh);
  }
  assert_true(visited < 4 * needed + 1000);
  free(corners);
  free(marks);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_nearest), cmocka_unit_test(test_near_triangles)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
