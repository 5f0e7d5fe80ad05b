/* Solids in convex parts: what is known of cells of a grid, of balls and rings; errors, limits and refused memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "polycubes.h"
#include "support.h"

static graze_decomposition *decompose(graze_context *context, const graze_mesh *mesh, double error, uint32_t most,
                                      bool rigid) {
  graze_decompose_options options = graze_default_decompose_options();
  graze_decomposition *parts = NULL;
  options.error = error;
  options.most_parts = most;
  options.rigid = rigid;
  assert_int_equal(graze_mesh_decompose(context, mesh, &options, &parts), GRAZE_OK);
  return parts;
}

static double volume_of(const graze_hull *hull) {
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh *mesh;
  graze_mass mass;
  def.vertices = hull->points;
  def.vertex_count = hull->vertex_count;
  def.indices = hull->triangles;
  def.triangle_count = hull->triangle_count;
  def.precision = GRAZE_DOUBLE;
  assert_int_equal(graze_mesh_create(shared_context(1), &def, &mesh), GRAZE_OK);
  assert_int_equal(graze_mesh_get_mass(shared_context(1), mesh, 1, &mass), GRAZE_OK);
  graze_mesh_destroy(mesh);
  return mass.volume;
}

static double volume_of_all(const graze_decomposition *parts) {
  double sum = 0;
  for (uint32_t i = 0; i < parts->count; i++) {
    const double volume = volume_of(parts->parts[i]);
    assert_true(fabs(parts->volumes[i] - volume) <= 1e-12 * (1 + volume));
    sum += volume;
  }
  return sum;
}

static bool holds(const graze_hull *hull, const double x[3], double slack) {
  for (uint32_t f = 0; f < hull->face_count; f++) {
    const double *p = hull->planes + 4 * (size_t)f;
    if (p[0] * x[0] + p[1] * x[1] + p[2] * x[2] - p[3] > slack) return false;
  }
  return true;
}

static bool some_holds(const graze_decomposition *parts, const double x[3], double slack) {
  for (uint32_t i = 0; i < parts->count; i++) {
    if (holds(parts->parts[i], x, slack)) return true;
  }
  return false;
}

static void assert_boxes_apart(const graze_decomposition *parts) {
  for (uint32_t i = 0; i < parts->count; i++) {
    for (uint32_t j = 0; j < i; j++) {
      const graze_hull *a = parts->parts[i], *b = parts->parts[j];
      bool apart = false;
      for (int k = 0; k < 3; k++) apart = apart || a->low[k] >= b->high[k] || b->low[k] >= a->high[k];
      assert_true(apart);
    }
  }
}

/* A point of the hull: the mean of its vertices with weights of chance, most of them small. */
static void random_point_of(const graze_hull *hull, uint64_t *state, double x[3]) {
  double sum = 0;
  memset(x, 0, 3 * sizeof *x);
  for (uint32_t i = 0; i < hull->vertex_count; i++) {
    const double u = random_unit(state), weight = u * u * u * u;
    for (int k = 0; k < 3; k++) x[k] += weight * hull->points[3 * i + (uint32_t)k];
    sum += weight;
  }
  for (int k = 0; k < 3; k++) x[k] /= sum;
}

/* ---- cells ------------------------------------------------------------------------------------------------------ */

/* From the nearest cell. */
static double distance_from_cells(const polycube *p, const double x[3]) {
  double least = (double)INFINITY;
  for (int i = 0; i < CELLS * CELLS * CELLS; i++) {
    const int at[3] = {i % CELLS, i / CELLS % CELLS, i / CELLS / CELLS};
    double squares = 0;
    if (!p->cell[at[0]][at[1]][at[2]]) continue;
    for (int k = 0; k < 3; k++) {
      const double off = fmax(fmax(at[k] - x[k], x[k] - at[k] - 1), 0);
      squares += off * off;
    }
    least = fmin(least, squares);
  }
  return sqrt(least);
}

static double volume_of_cells(const polycube *p) {
  double sum = 0;
  for (int i = 0; i < CELLS * CELLS * CELLS; i++) sum += p->cell[i % CELLS][i / CELLS % CELLS][i / CELLS / CELLS];
  return sum;
}

static void check_cells(const polycube *p, const graze_decomposition *parts, double asked, uint64_t *state) {
  const double solid = volume_of_cells(p), all = volume_of_all(parts);
  assert_boxes_apart(parts);
  assert_true(all >= solid * (1 - 1e-12));
  assert_true(!parts->reached || parts->error <= asked);
  for (uint32_t i = 0; i < parts->count; i++) {
    assert_true(parts->errors[i] <= parts->error);
    for (int n = 0; n < 200; n++) {
      double x[3];
      random_point_of(parts->parts[i], state, x);
      if (distance_from_cells(p, x) > parts->errors[i] + 1e-12) fail_msg("part %u sticks out", i);
    }
  }
  for (int n = 0; n < 500; n++) {
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = CELLS * random_unit(state);
    if (distance_from_cells(p, x) == 0 && !some_holds(parts, x, 1e-12)) fail_msg("a point is in no part");
  }
}

/* Parts as fine as cells, parts that may fill notches, and too few parts. */
static void test_cells(void **unused) {
  (void)unused;
  uint64_t state = test_seed(31);
  double *corners = malloc(sizeof(double) * 9 * 12 * CELLS * CELLS * CELLS);
  assert_non_null(corners);
  int reached = 0, short_of = 0;
  const int rounds = test_rounds(24, 600);
  for (int round = 0; round < rounds; round++) {
    static const double errors[3] = {0.2, 0.6, 0.2};
    polycube p;
    polycube_random(&p, &state, 1, 2, 5 + (int)random_below(&state, 2), 0.6);
    polycube_mend(&p, 1);
    const uint32_t count = polycube_surface(&p, 1, &state, corners);
    if (count == 0) continue;
    graze_mesh *mesh = test_mesh(shared_context(1), corners, count, GRAZE_VOLUMES_ORIENTED);
    graze_decomposition *parts =
        decompose(shared_context(1), mesh, errors[round % 3], round % 3 == 2 ? 5 : 1000, false);
    check_cells(&p, parts, errors[round % 3], &state);
    if (round % 3 == 0) assert_true(fabs(volume_of_all(parts) - volume_of_cells(&p)) < 1e-9); /* then they are exact */
    if (round % 3 != 2) assert_true(parts->reached);
    reached += parts->reached;
    short_of += !parts->reached;
    assert_true(round % 3 != 2 || parts->count <= 5);
    graze_decomposition_destroy(parts);
    graze_mesh_destroy(mesh);
  }
  assert_true(rounds < 24 || (reached > 0 && short_of > 0));
  free(corners);
}

static void fill(polycube *p, int x0, int x1, int y0, int y1) {
  for (int x = x0; x < x1; x++) {
    for (int y = y0; y < y1; y++) p->cell[x][y][0] = true;
  }
}

/* Letters: a bar is one part, an L two, a U three, a ring four, and a comb a back and its teeth. */
static void test_letters(void **unused) {
  (void)unused;
  uint64_t state = 5;
  static const uint32_t counts[5] = {1, 2, 3, 4, 5};
  double *corners = malloc(sizeof(double) * 9 * 12 * CELLS * CELLS * CELLS);
  assert_non_null(corners);
  for (int letter = 0; letter < 5; letter++) {
    polycube p;
    memset(&p, 0, sizeof p);
    fill(&p, 0, 7, 0, 1);
    if (letter >= 1) fill(&p, 0, 1, 0, 6);
    if (letter >= 2) fill(&p, 6, 7, 0, 6);
    if (letter == 3) fill(&p, 0, 7, 5, 6);
    if (letter == 4) fill(&p, 2, 3, 0, 6);
    if (letter == 4) fill(&p, 4, 5, 0, 6);
    graze_mesh *mesh =
        test_mesh(shared_context(1), corners, polycube_surface(&p, 1, &state, corners), GRAZE_VOLUMES_ALIGNED);
    graze_decomposition *parts = decompose(shared_context(1), mesh, 0, 64, true);
    check_cells(&p, parts, 0.1, &state);
    assert_int_equal(parts->count, counts[letter]);
    assert_true(parts->reached && parts->error <= 0.1);
    graze_decomposition_destroy(parts);
    graze_mesh_destroy(mesh);
  }
  free(corners);
}

/* ---- round ------------------------------------------------------------------------------------------------------ */

/* Of `sides` by `around` quads. */
static uint32_t make_ring(double radius, double thick, int sides, int around, double *corners) {
  uint32_t count = 0;
  for (int i = 0; i < sides; i++) {
    for (int j = 0; j < around; j++) {
      double x[4][3];
      for (int c = 0; c < 4; c++) {
        const double a = 2 * acos(-1) * ((i + (c == 1 || c == 2)) % sides) / sides;
        const double b = 2 * acos(-1) * ((j + (c >= 2)) % around) / around, r = radius + thick * cos(b);
        x[c][0] = r * cos(a);
        x[c][1] = r * sin(a);
        x[c][2] = thick * sin(b);
      }
      static const int turn[6] = {0, 1, 2, 0, 2, 3};
      for (int c = 0; c < 6; c++) memcpy(corners + 18 * (size_t)(i * around + j) + 3 * c, x[turn[c]], sizeof x[0]);
      count += 2;
    }
  }
  return count;
}

/* A ball is one part, or several if rigid bodies are to have it; a ring has a hole left and few more parts than its
 * arcs need: one of angle a is off a chord by 1 - cos(a / 2). Points of parts are near the circle in its middle. */
static void test_round_solids(void **unused) {
  (void)unused;
  enum { SIDES = 48, AROUND = 16 };
  static double corners[18 * SIDES * AROUND > 9 * 2048 ? 18 * SIDES * AROUND : 9 * 2048];
  uint64_t state = test_seed(8);
  graze_mesh *ball = test_mesh(shared_context(1), corners, soup_ball(12, 1, corners), GRAZE_VOLUMES_ORIENTED);
  graze_decomposition *parts = decompose(shared_context(1), ball, 0.05, 64, false);
  assert_true(parts->count == 1 && parts->reached);
  graze_decomposition_destroy(parts);
  parts = decompose(shared_context(1), ball, 0.05, 64, true);
  assert_true(parts->count > 1 && parts->reached);
  for (uint32_t i = 0; i < parts->count; i++) assert_true(parts->parts[i]->face_count <= 256);
  assert_boxes_apart(parts);
  graze_decomposition_destroy(parts);
  graze_mesh_destroy(ball);
  graze_mesh *ring =
      test_mesh(shared_context(1), corners, make_ring(1, 0.25, SIDES, AROUND, corners), GRAZE_VOLUMES_ORIENTED);
  parts = decompose(shared_context(1), ring, test_thinned() ? 0.1 : 0.05, 64, false);
  assert_true(parts->reached && parts->count >= 4 && parts->count <= 20);
  assert_boxes_apart(parts);
  for (uint32_t i = 0; i < parts->count; i++) {
    for (int n = 0; n < 300; n++) {
      double x[3];
      random_point_of(parts->parts[i], &state, x);
      assert_true(hypot(hypot(x[0], x[1]) - 1, x[2]) <= 0.25 + parts->errors[i] + 1e-9);
    }
  }
  graze_decomposition_destroy(parts);
  graze_mesh_destroy(ring);
}

/* A cavity is kept: the solid between two balls. */
static void test_cavity(void **unused) {
  (void)unused;
  static double corners[2 * 9 * 512];
  const uint32_t outer = soup_ball(3, 1, corners), inner = soup_ball(2, 0.6, corners + 9 * outer);
  for (uint32_t t = outer; t < outer + inner; t++) { /* it faces the other way */
    for (int k = 0; k < 3; k++) {
      const double x = corners[9 * t + (uint32_t)k];
      corners[9 * t + (uint32_t)k] = corners[9 * t + 3 + (uint32_t)k];
      corners[9 * t + 3 + (uint32_t)k] = x;
    }
  }
  graze_mesh *mesh = test_mesh(shared_context(1), corners, outer + inner, GRAZE_VOLUMES_ORIENTED);
  graze_decomposition *parts = decompose(shared_context(1), mesh, 0.15, 200, false);
  assert_true(parts->reached && parts->count > 4);
  assert_false(some_holds(parts, (const double[3]){0, 0, 0}, 0));
  graze_decomposition_destroy(parts);
  graze_mesh_destroy(mesh);
}

/* ---- the call --------------------------------------------------------------------------------------------------- */

static graze_mesh *letter_u(graze_context *context, bool open) {
  static double corners[9 * 12 * CELLS * CELLS * CELLS];
  uint64_t state = 3;
  polycube p;
  memset(&p, 0, sizeof p);
  fill(&p, 0, 4, 0, 1);
  fill(&p, 0, 1, 0, 3);
  fill(&p, 3, 4, 0, 3);
  return test_mesh(context, corners, polycube_surface(&p, 1, &state, corners) - open, GRAZE_VOLUMES_ORIENTED);
}

static void expect(const graze_mesh *mesh, double error, uint32_t most, graze_status status, const char *words) {
  graze_decompose_options options = graze_default_decompose_options();
  graze_decomposition *parts = (graze_decomposition *)&options;
  options.error = error;
  options.most_parts = most;
  assert_int_equal(graze_mesh_decompose(shared_context(1), mesh, &options, &parts), status);
  assert_null(parts);
  assert_non_null(strstr(shared_error()->message, words));
}

static void test_refusals(void **unused) {
  (void)unused;
  graze_mesh *u = letter_u(shared_context(1), false), *open = letter_u(shared_context(1), true);
  graze_decomposition *parts;
  expect(u, (double)NAN, 64, GRAZE_ERROR_NOT_FINITE, "error");
  expect(u, -1, 64, GRAZE_ERROR_ARGUMENT, "error");
  expect(u, 1, 0, GRAZE_ERROR_ARGUMENT, "most_parts");
  expect(u, 1e-4, 64, GRAZE_ERROR_LIMIT, "too small");
  expect(open, 0.1, 64, GRAZE_ERROR_UNSUPPORTED, "open");
  assert_int_equal(graze_mesh_decompose(shared_context(1), NULL, NULL, &parts), GRAZE_ERROR_ARGUMENT);
  graze_decomposition_destroy(NULL);
  graze_mesh_destroy(u);
  graze_mesh_destroy(open);
}

static void test_threads(void **unused) {
  (void)unused;
  graze_mesh *mesh = letter_u(shared_context(1), false);
  graze_decomposition *wanted = decompose(shared_context(1), mesh, 0.2, 8, false);
  for (int threads = 2; threads < 4; threads++) {
    graze_decomposition *got = decompose(shared_context(threads), mesh, 0.2, 8, false);
    assert_int_equal(got->count, wanted->count);
    for (uint32_t i = 0; i < got->count; i++) {
      assert_int_equal(got->parts[i]->vertex_count, wanted->parts[i]->vertex_count);
      assert_memory_equal(got->parts[i]->points, wanted->parts[i]->points,
                          got->parts[i]->vertex_count * sizeof(double[3]));
      assert_true(got->errors[i] == wanted->errors[i]);
    }
    graze_decomposition_destroy(got);
  }
  graze_decomposition_destroy(wanted);
  graze_mesh_destroy(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cells),  cmocka_unit_test(test_letters),  cmocka_unit_test(test_round_solids),
      cmocka_unit_test(test_cavity), cmocka_unit_test(test_refusals), cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
