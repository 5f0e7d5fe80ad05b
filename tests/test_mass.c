/* Mass properties against exact sums in integers, and against what geometry says. */
#include <dirent.h>
#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "graze/io.h"
#include "graze/mass.h"
#include "support.h"

/* ---- the exact sum --------------------------------------------------------------------------------------------- */

/* Coordinates are whole numbers of 2^unit; sums over tetrahedra with the origin. */
typedef struct exact {
  int unit;
  mpz_t volume, first[3], second[6]; /* times 6, 24, 120 */
} exact;

static const int seconds[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

static void exact_each(exact *e, void (*each)(mpz_ptr)) {
  each(e->volume);
  for (int k = 0; k < 3; k++) each(e->first[k]);
  for (int k = 0; k < 6; k++) each(e->second[k]);
}

static void begin_number(mpz_ptr number) {
  mpz_init(number);
}

static void end_number(mpz_ptr number) {
  mpz_clear(number);
}

static void set_whole(mpz_t out, double x, int unit) {
  int exponent;
  const double whole = ldexp(frexp(x, &exponent), 53);
  mpz_set_d(out, whole);
  const int shift = exponent - 53 - unit;
  if (shift >= 0)
    mpz_mul_2exp(out, out, (mp_bitcnt_t)shift);
  else
    mpz_tdiv_q_2exp(out, out, (mp_bitcnt_t)-shift); /* trailing zeros of the 53 bits */
}

static void add_triangle(exact *e, const double corners[9], mpz_t x[9], mpz_t det, mpz_t t, mpz_t u) {
  for (int i = 0; i < 9; i++) set_whole(x[i], corners[i], e->unit);
  mpz_set_ui(det, 0);
  for (int k = 0; k < 3; k++) {
    const int l = (k + 1) % 3, m = (k + 2) % 3;
    mpz_mul(t, x[3 + l], x[6 + m]);
    mpz_submul(t, x[3 + m], x[6 + l]);
    mpz_addmul(det, x[k], t);
  }
  mpz_add(e->volume, e->volume, det);
  for (int k = 0; k < 3; k++) {
    mpz_add(t, x[k], x[3 + k]);
    mpz_add(t, t, x[6 + k]);
    mpz_addmul(e->first[k], det, t);
  }
  for (int s = 0; s < 6; s++) {
    const int k = seconds[s][0], l = seconds[s][1];
    mpz_add(t, x[k], x[3 + k]);
    mpz_add(t, t, x[6 + k]);
    mpz_add(u, x[l], x[3 + l]);
    mpz_add(u, u, x[6 + l]);
    mpz_mul(t, t, u);
    for (int i = 0; i < 3; i++) mpz_addmul(t, x[3 * i + k], x[3 * i + l]);
    mpz_addmul(e->second[s], det, t);
  }
}

static void exact_sum(exact *e, const graze_mesh *mesh) {
  const uint32_t count = graze_mesh_triangle_count(mesh);
  double corners[9];
  mpz_t x[9], det, t, u;
  exact_each(e, begin_number);
  for (int i = 0; i < 9; i++) mpz_init(x[i]);
  mpz_inits(det, t, u, NULL);
  e->unit = 0;
  for (uint32_t i = 0; i < count; i++) {
    graze_mesh_get_triangle(mesh, i, corners);
    for (int k = 0; k < 9; k++) {
      int exponent;
      if (corners[k] == 0) continue;
      frexp(corners[k], &exponent);
      if (exponent - 53 < e->unit) e->unit = exponent - 53;
    }
  }
  for (uint32_t i = 0; i < count; i++) {
    graze_mesh_get_triangle(mesh, i, corners);
    add_triangle(e, corners, x, det, t, u);
  }
  for (int i = 0; i < 9; i++) mpz_clear(x[i]);
  mpz_clears(det, t, u, NULL);
}

/* number / (divisor) * 2^(power unit) */
static double to_double(mpq_t q, int power) {
  if (power >= 0)
    mpq_mul_2exp(q, q, (mp_bitcnt_t)power);
  else
    mpq_div_2exp(q, q, (mp_bitcnt_t)-power);
  return mpq_get_d(q);
}

/* The same properties, with density 1. */
static graze_mass exact_mass(exact *e) {
  graze_mass mass = {0};
  mpq_t volume, center[3], q, r, moments[6];
  mpq_inits(volume, q, r, NULL);
  mpq_set_z(volume, e->volume);
  mpq_set_ui(q, 6, 1);
  mpq_div(volume, volume, q);
  for (int k = 0; k < 3; k++) {
    mpq_init(center[k]);
    mpq_set_z(center[k], e->first[k]);
    mpq_set_ui(q, 24, 1);
    mpq_div(center[k], center[k], q);
    mpq_div(center[k], center[k], volume);
    mpq_set(q, center[k]);
    mass.center[k] = to_double(q, e->unit);
  }
  for (int s = 0; s < 6; s++) {
    mpq_init(moments[s]);
    mpq_set_z(moments[s], e->second[s]);
    mpq_set_ui(q, 120, 1);
    mpq_div(moments[s], moments[s], q);
    mpq_mul(r, center[seconds[s][0]], center[seconds[s][1]]);
    mpq_mul(r, r, volume);
    mpq_sub(moments[s], moments[s], r);
  }
  for (int s = 0; s < 6; s++) {
    if (s < 3)
      mpq_add(q, moments[(s + 1) % 3], moments[(s + 2) % 3]);
    else
      mpq_neg(q, moments[s]);
    mass.inertia[s] = to_double(q, 5 * e->unit);
  }
  mpq_set(q, volume);
  mass.volume = mass.mass = to_double(q, 3 * e->unit);
  for (int k = 0; k < 3; k++) mpq_clear(center[k]);
  for (int s = 0; s < 6; s++) mpq_clear(moments[s]);
  mpq_clears(volume, q, r, NULL);
  return mass;
}

/* ---- comparing -------------------------------------------------------------------------------------------------- */

static void check_near(const char *name, const char *what, double got, double want, double size) {
  if (!(fabs(got - want) <= 1e-12 * size)) fail_msg("%s: %s is %.17g, and exactly %.17g", name, what, got, want);
}

static void compare(const char *name, const graze_mass *got, const graze_mass *want, const graze_box *box) {
  check_near(name, "volume", got->volume, want->volume, want->volume);
  check_near(name, "mass", got->mass, want->mass, want->mass);
  for (int k = 0; k < 3; k++) {
    const double size = fmax(fabs(want->center[k]), 1e-3 * (box->max[k] - box->min[k]));
    check_near(name, "center", got->center[k], want->center[k], size);
    check_near(name, "moment", got->inertia[k], want->inertia[k], want->inertia[k]);
    const double off = sqrt(want->inertia[k] * want->inertia[(k + 1) % 3]);
    check_near(name, "product", got->inertia[3 + k], want->inertia[3 + k], off);
  }
}

static void check_mesh(const char *name, graze_context *context, const graze_mesh *mesh) {
  graze_mass got;
  graze_mesh_facts facts;
  exact e;
  graze_mesh_get_facts(mesh, &facts);
  exact_sum(&e, mesh);
  graze_status status = graze_mesh_get_mass(context, mesh, 1, &got);
  if (!facts.closed || !facts.oriented || mpz_sgn(e.volume) <= 0) {
    if (status != GRAZE_ERROR_UNSUPPORTED) fail_msg("%s has no inside, and a mass all the same", name);
  } else {
    if (status != GRAZE_OK) fail_msg("%s: %s", name, graze_last_error(context)->message);
    const graze_mass want = exact_mass(&e);
    compare(name, &got, &want, &facts.box);
  }
  exact_each(&e, end_number);
}

/* ---- made meshes ------------------------------------------------------------------------------------------------ */

enum { AROUND = 9, ROWS = 6, CORNERS = AROUND * ROWS + 2, TRIANGLES = 2 * AROUND * ROWS };

typedef struct star {
  double corners[3 * CORNERS];
  uint32_t triangles[3 * TRIANGLES];
} star;

static void put_triangle(star *s, uint32_t *count, uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t three[3] = {a, b, c};
  memcpy(s->triangles + 3 * (size_t)(*count)++, three, sizeof three);
}

/* A ball with a random radius at each corner. */
static void make_star(star *s, uint64_t *state) {
  uint32_t count = 0;
  const uint32_t bottom = AROUND * ROWS, top = bottom + 1;
  for (uint32_t i = 0; i < CORNERS; i++) {
    const double up = i == bottom ? -1 : i == top ? 1 : -0.9 + 1.8 * (i / AROUND) / (ROWS - 1);
    const double angle = 2 * M_PI * (i % AROUND) / AROUND, around = sqrt(fmax(0, 1 - up * up));
    const double radius = 1.5 + random_signed(state);
    const double at[3] = {around * cos(angle), around * sin(angle), up};
    for (int k = 0; k < 3; k++) s->corners[3 * i + (uint32_t)k] = i < bottom || k == 2 ? radius * at[k] : 0;
  }
  for (uint32_t i = 0; i < AROUND; i++) {
    const uint32_t next = (i + 1) % AROUND;
    put_triangle(s, &count, bottom, next, i);
    put_triangle(s, &count, top, AROUND * (ROWS - 1) + i, AROUND * (ROWS - 1) + next);
    for (uint32_t row = 0; row + 1 < ROWS; row++) {
      const uint32_t a = AROUND * row + i, b = AROUND * row + next;
      put_triangle(s, &count, a, b, b + AROUND);
      put_triangle(s, &count, a, b + AROUND, a + AROUND);
    }
  }
  assert_int_equal(count, TRIANGLES);
}

static graze_mesh *bake(graze_context *context, const double *corners, uint32_t corner_count, const uint32_t *triangles,
                        uint32_t triangle_count) {
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh *mesh;
  def.vertices = corners;
  def.vertex_count = corner_count;
  def.indices = triangles;
  def.triangle_count = triangle_count;
  def.precision = GRAZE_DOUBLE;
  assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_OK);
  return mesh;
}

/* Any size, anywhere, and some as thin as a hair. */
static void test_made_meshes(void **unused) {
  (void)unused;
  graze_context *context = shared_context(1);
  uint64_t state = test_seed(1);
  for (int round = 0; round < 100; round++) {
    star s;
    make_star(&s, &state);
    const double size = pow(10, 12 * random_signed(&state)), far = round % 3 == 0 ? 0 : pow(10, 3 * (round % 3));
    const graze_pose pose = test_random_pose(&state, far);
    for (uint32_t i = 0; i < CORNERS; i++) {
      if (round % 4 == 0) s.corners[3 * i + 2] *= 1e-8;
      graze_pose_apply(&pose, s.corners + 3 * (size_t)i, s.corners + 3 * (size_t)i);
      for (int k = 0; k < 3; k++) s.corners[3 * i + (uint32_t)k] *= size;
    }
    graze_mesh *mesh = bake(context, s.corners, CORNERS, s.triangles, TRIANGLES);
    char name[32];
    snprintf(name, sizeof name, "star %d", round);
    check_mesh(name, context, mesh);
    graze_mesh_destroy(mesh);
  }
}

static void test_threads(void **unused) {
  (void)unused;
  star s;
  uint64_t state = 5;
  enum { COPIES = 64 };
  double *corners = calloc(COPIES, sizeof s.corners);
  uint32_t *triangles = calloc(COPIES, sizeof s.triangles);
  assert_true(corners != NULL && triangles != NULL);
  for (uint32_t copy = 0; copy < COPIES; copy++) {
    make_star(&s, &state);
    for (uint32_t i = 0; i < 3 * CORNERS; i++) corners[3 * CORNERS * copy + i] = s.corners[i] + 8.0 * copy;
    for (uint32_t i = 0; i < 3 * TRIANGLES; i++) triangles[3 * TRIANGLES * copy + i] = s.triangles[i] + CORNERS * copy;
  }
  graze_mass one, four;
  graze_mesh *mesh = bake(shared_context(1), corners, COPIES * CORNERS, triangles, COPIES * TRIANGLES);
  assert_int_equal(graze_mesh_get_mass(shared_context(1), mesh, 3, &one), GRAZE_OK);
  assert_int_equal(graze_mesh_get_mass(shared_context(4), mesh, 3, &four), GRAZE_OK);
  assert_memory_equal(&one, &four, sizeof one);
  check_mesh("many stars", shared_context(1), mesh);
  graze_mesh_destroy(mesh);
  free(corners);
  free(triangles);
}

/* ---- meshes of the shared data ---------------------------------------------------------------------------------- */

/* Also what is packed with xz. */
static bool read_file(graze_context *context, const char *path, graze_geometry *geometry) {
  const size_t length = strlen(path);
  if (strcmp(path + length - 3, ".xz") != 0)
    return graze_read_geometry(context, path, GRAZE_FORMAT_AUTO, 0, geometry) == GRAZE_OK;
  char command[4200], name[4096];
  size_t size;
  snprintf(command, sizeof command, "xz -dc '%s'", path);
  snprintf(name, sizeof name, "%.*s", (int)length - 3, path);
  FILE *file = popen(command, "r");
  assert_non_null(file);
  char *bytes = test_read_all(file, &size);
  assert_int_equal(pclose(file), 0);
  const bool good = graze_parse_geometry(context, bytes, size, name, GRAZE_FORMAT_AUTO, 0, geometry) == GRAZE_OK;
  free(bytes);
  return good;
}

static void check_file(const char *path, uint64_t most, int *tally) {
  graze_context *context = shared_context(1);
  graze_geometry geometry;
  if (!read_file(context, path, &geometry)) return;
  if (geometry.triangle_count > 0 && geometry.triangle_count <= most) {
    graze_mesh_def def = graze_default_mesh_def();
    graze_mesh *mesh;
    def.vertices = geometry.vertices;
    def.vertex_count = geometry.vertex_count;
    def.indices = geometry.indices;
    def.triangle_count = geometry.triangle_count;
    def.precision = GRAZE_DOUBLE;
    assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_OK);
    graze_mesh_facts facts;
    graze_mesh_get_facts(mesh, &facts);
    tally[facts.closed && facts.oriented]++;
    check_mesh(path, context, mesh);
    graze_mesh_destroy(mesh);
  }
  graze_geometry_free(&geometry);
}

static void check_folder(const char *folder, uint64_t most, int *tally) {
  DIR *list = opendir(folder);
  assert_non_null(list);
  for (const struct dirent *entry; (entry = readdir(list)) != NULL;) {
    char path[4096];
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    DIR *inner = opendir(path);
    if (inner != NULL) {
      closedir(inner);
      check_folder(path, most, tally);
    } else {
      check_file(path, most, tally);
    }
  }
  closedir(list);
}

static void test_shared_meshes(void **unused) {
  (void)unused;
  char folder[4096];
  int tally[2] = {0, 0};
  if (!test_shared()) {
    print_message("no shared data: its meshes are left out\n");
    return;
  }
  snprintf(folder, sizeof folder, "%s/data/meshes", test_shared());
  check_folder(folder, test_long() ? UINT64_MAX : 5000, tally);
  print_message("closed: %d, without an inside: %d\n", tally[1], tally[0]);
  assert_true(tally[1] > 10);
}

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

static const uint32_t box_triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                           2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

static void box_corners(const double edges[3], double corners[24]) {
  for (int i = 0; i < 24; i++) corners[i] = (i / 3 >> i % 3 & 1 ? 0.5 : -0.5) * edges[i % 3];
}

static void test_boxes(void **unused) {
  (void)unused;
  graze_context *context = shared_context(1);
  const double edges[3] = {3, 2, 1};
  double corners[24], moments[3], axes[9];
  graze_mass of_box, of_mesh;
  box_corners(edges, corners);
  graze_mesh *mesh = bake(context, corners, 8, box_triangles, 12);
  assert_int_equal(graze_box_get_mass(context, edges, 2, &of_box), GRAZE_OK);
  assert_int_equal(graze_mesh_get_mass(context, mesh, 2, &of_mesh), GRAZE_OK);
  assert_memory_equal(&of_box, &of_mesh, sizeof of_box);
  assert_true(of_box.mass == 12 && of_box.inertia[0] == 5 && of_box.inertia[1] == 10 && of_box.inertia[2] == 13);
  assert_true(graze_inertia_find_axes(of_box.inertia, moments, axes));
  assert_true(moments[0] == 5 && moments[2] == 13 && axes[0] == 1 && axes[4] == 1 && axes[8] == 1);
  graze_mesh_destroy(mesh);
}

/* Moments of a solid of revolution by slices. */
static void check_revolution(const graze_mass *got, double radius, double length, bool capped) {
  enum { SLICES = 200000 };
  const double reach = 0.5 * length + (capped ? radius : 0), thick = 2 * reach / SLICES;
  double mass = 0, along = 0, across = 0;
  for (int i = 0; i < SLICES; i++) {
    const double z = -reach + (i + 0.5) * thick, out = fmax(0, fabs(z) - 0.5 * length);
    const double r2 = radius * radius - out * out, m = M_PI * r2 * thick;
    mass += m;
    along += m * r2 / 2;
    across += m * (r2 / 4 + z * z);
  }
  assert_true(fabs(got->mass - mass) < 1e-8 * mass && fabs(got->volume - mass) < 1e-8 * mass);
  assert_true(fabs(got->inertia[2] - along) < 1e-8 * along);
  assert_true(fabs(got->inertia[0] - across) < 1e-8 * across && got->inertia[1] == got->inertia[0]);
}

static void test_round_shapes(void **unused) {
  (void)unused;
  graze_context *context = shared_context(1);
  graze_mass mass, ball;
  assert_int_equal(graze_sphere_get_mass(context, 0.7, 1, &ball), GRAZE_OK);
  check_revolution(&ball, 0.7, 0, true);
  assert_int_equal(graze_capsule_get_mass(context, 0.7, 0, 1, &mass), GRAZE_OK);
  assert_memory_equal(&mass, &ball, sizeof mass);
  assert_int_equal(graze_capsule_get_mass(context, 0.7, 1.9, 1, &mass), GRAZE_OK);
  check_revolution(&mass, 0.7, 1.9, true);
  assert_int_equal(graze_cylinder_get_mass(context, 0.7, 1.9, 1, &mass), GRAZE_OK);
  check_revolution(&mass, 0.7, 1.9, false);
}

/* Eight boxes side by side, in any order and turned by any quarter, are one. */
static void test_compound(void **unused) {
  (void)unused;
  graze_context *context = shared_context(1);
  const double half[3] = {1.5, 1, 0.5}, whole[3] = {3, 2, 1}, away[3] = {7, -4, 2};
  graze_mass part, want, sum = {0};
  assert_int_equal(graze_box_get_mass(context, half, 2, &part), GRAZE_OK);
  assert_int_equal(graze_box_get_mass(context, whole, 2, &want), GRAZE_OK);
  for (int i = 0; i < 8; i++) {
    const graze_pose at = test_translation(away[0] + (i & 1 ? 0.75 : -0.75), away[1] + (i & 2 ? 0.5 : -0.5),
                                           away[2] + (i & 4 ? 0.25 : -0.25));
    assert_int_equal(graze_mass_add(context, &sum, &part, &at), GRAZE_OK);
  }
  assert_true(fabs(sum.mass - want.mass) < 1e-13);
  for (int k = 0; k < 3; k++) {
    assert_true(fabs(sum.center[k] - away[k]) < 1e-13);
    assert_true(fabs(sum.inertia[k] - want.inertia[k]) < 1e-12 && fabs(sum.inertia[3 + k]) < 1e-12);
  }
  const double quarter[4] = {1, 0, 0, 1}, none[3] = {0, 0, 0};
  const graze_pose turn = graze_pose_from_quaternion(quarter, none);
  graze_mass turned = {0};
  assert_int_equal(graze_mass_add(context, &turned, &want, &turn), GRAZE_OK);
  assert_true(fabs(turned.inertia[0] - want.inertia[1]) < 1e-13 && fabs(turned.inertia[1] - want.inertia[0]) < 1e-13);
}

/* R diag(m) R^T gives back m, and axes that are those of R. */
static void test_principal_axes(void **unused) {
  (void)unused;
  uint64_t state = test_seed(2);
  for (int round = 0; round < 1000; round++) {
    const graze_pose p = test_random_pose(&state, 0);
    double want[3] = {2 + random_signed(&state), 0, 0}, inertia[6], moments[3], axes[9];
    want[1] = want[0] + (round % 3 == 0 ? 0 : fabs(random_signed(&state)));
    want[2] = want[1] + (round % 2 == 0 ? 0 : 0.9 * (want[0] + fabs(random_signed(&state)) * 0));
    for (int i = 0; i < 6; i++) {
      inertia[i] = 0;
      for (int k = 0; k < 3; k++) inertia[i] += want[k] * p.m[4 * seconds[i][0] + k] * p.m[4 * seconds[i][1] + k];
    }
    assert_true(graze_inertia_find_axes(inertia, moments, axes));
    for (int k = 0; k < 3; k++) {
      assert_true(fabs(moments[k] - want[k]) < 1e-13 * want[2]);
      for (int i = 0; i < 3; i++) {
        double turned = 0;
        for (int l = 0; l < 3; l++) turned += inertia[i == l ? i : 2 + i + l] * axes[3 * k + l];
        assert_true(fabs(turned - moments[k] * axes[3 * k + i]) < 1e-13 * want[2]);
      }
    }
  }
  const double impossible[6] = {1, 1, 2.1, 0, 0, 0}, negative[6] = {1, 1, 1, 1.5, 0, 0};
  double moments[3], axes[9];
  assert_false(graze_inertia_find_axes(impossible, moments, axes));
  assert_false(graze_inertia_find_axes(negative, moments, axes));
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static void refuse(const uint32_t *triangles, uint32_t count, double scale, double density, graze_status want,
                   const char *words) {
  graze_context *context = shared_context(1);
  const double edges[3] = {scale, 2 * scale, scale};
  double corners[24];
  graze_mass mass;
  box_corners(edges, corners);
  graze_mesh *mesh = bake(context, corners, 8, triangles, count);
  assert_int_equal(graze_mesh_get_mass(context, mesh, density, &mass), want);
  if (strstr(graze_last_error(context)->message, words) == NULL)
    fail_msg("'%s' is not in: %s", words, graze_last_error(context)->message);
  graze_mesh_destroy(mesh);
}

static void test_refusals(void **unused) {
  (void)unused;
  uint32_t triangles[39];
  memcpy(triangles, box_triangles, sizeof box_triangles);
  refuse(triangles, 11, 1, 1, GRAZE_ERROR_UNSUPPORTED, "edges of one triangle: 3");
  refuse(triangles, 0, 1, 1, GRAZE_ERROR_UNSUPPORTED, "without triangles");
  refuse(triangles, 12, 1, 0, GRAZE_ERROR_ARGUMENT, "density");
  refuse(triangles, 12, 1, (double)NAN, GRAZE_ERROR_ARGUMENT, "density");
  refuse(triangles, 12, 1e100, 1, GRAZE_ERROR_NOT_FINITE, "too large");
  refuse(triangles, 12, 1e-120, 1, GRAZE_ERROR_NOT_FINITE, "too small");
  memcpy(triangles + 36, box_triangles, 3 * sizeof *triangles);
  refuse(triangles, 13, 1, 1, GRAZE_ERROR_UNSUPPORTED, "three or more triangles: 3");
  triangles[0] = 2;
  triangles[1] = 0;
  refuse(triangles, 12, 1, 1, GRAZE_ERROR_UNSUPPORTED, "face either way");
  for (int i = 0; i < 36; i += 3) {
    triangles[i] = box_triangles[i + 1];
    triangles[i + 1] = box_triangles[i];
    triangles[i + 2] = box_triangles[i + 2];
  }
  refuse(triangles, 12, 1, 1, GRAZE_ERROR_UNSUPPORTED, "inside out");
  const uint32_t sheet[6] = {0, 1, 2, 0, 2, 1};
  refuse(sheet, 2, 1, 1, GRAZE_ERROR_UNSUPPORTED, "no volume");
}

static void test_refused_memory(void **unused) {
  (void)unused;
  for (uint64_t fail_at = 1;; fail_at++) {
    test_allocator allocator = {0};
    graze_context_def def = graze_default_context_def();
    graze_context *context;
    const double edges[3] = {1, 1, 1};
    double corners[24];
    graze_mass mass;
    def.allocator = test_allocator_hooks(&allocator);
    def.threads = 1;
    assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
    box_corners(edges, corners);
    graze_mesh *mesh = bake(context, corners, 8, box_triangles, 12);
    allocator.fail_at = allocator.requests + fail_at;
    graze_status status = graze_mesh_get_mass(context, mesh, 1, &mass);
    assert_int_equal(status, fail_at == 1 ? GRAZE_ERROR_MEMORY : GRAZE_OK);
    graze_mesh_destroy(mesh);
    graze_context_destroy(context);
    assert_int_equal(allocator.live_blocks, 0);
    if (status == GRAZE_OK) break;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_made_meshes),    cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_shared_meshes),  cmocka_unit_test(test_boxes),
                                     cmocka_unit_test(test_round_shapes),   cmocka_unit_test(test_compound),
                                     cmocka_unit_test(test_principal_axes), cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_refused_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
