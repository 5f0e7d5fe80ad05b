/* Mesh distances against brute force over the proved oracle: the distance, the doubles around it, the lowest nearest
 * pair, and near pairs as a set, for limits at the distance, beside it and beyond; at rigid, scaling and shearing poses
 * and tier T2; kept witnesses, swapped meshes and threads change nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distance_oracle.h"
#include "families.h"
#include "graze/distance.h"
#include "oracle.h"
#include "support.h"

enum { MOST = 48 };

static graze_context *context;
static graze_query *query;
static oracle_distance table[MOST * MOST];
static uint32_t count_a, count_b;

static int set_up(void **unused) {
  (void)unused;
  for (int i = 0; i < MOST * MOST; i++) oracle_distance_init(&table[i]);
  context = test_context(1, NULL);
  return graze_query_create(context, &query);
}

static int tear_down(void **unused) {
  (void)unused;
  for (int i = 0; i < MOST * MOST; i++) oracle_distance_clear(&table[i]);
  graze_query_destroy(query);
  graze_context_destroy(context);
  return 0;
}

/* Two soups at two poses: the table of all distances. */
typedef struct world {
  double a[9 * MOST], b[9 * MOST];
  graze_pose pose_a, pose_b;
  graze_exactness exactness;
  graze_mesh *mesh_a, *mesh_b;
} world;

static void open_world(world *w, graze_volumes volumes) {
  double *posed = malloc(18 * MOST * sizeof *posed);
  assert_non_null(posed);
  oracle_pose_corners(&w->pose_a, w->a, count_a, posed);
  oracle_pose_corners(&w->pose_b, w->b, count_b, posed + 9 * MOST);
  bool real = w->exactness == GRAZE_T2;
  for (uint32_t i = 0; i < count_a; i++) {
    for (uint32_t j = 0; j < count_b; j++) {
      if (real)
        oracle_distance_find(w->a + 9 * i, &w->pose_a, w->b + 9 * j, &w->pose_b, &table[i * count_b + j]);
      else
        oracle_distance_find(posed + 9 * i, NULL, posed + 9 * (MOST + j), NULL, &table[i * count_b + j]);
    }
  }
  free(posed);
  w->mesh_a = test_mesh(context, w->a, count_a, volumes);
  w->mesh_b = test_mesh(context, w->b, count_b, volumes);
}

static void close_world(world *w) {
  graze_mesh_destroy(w->mesh_a);
  graze_mesh_destroy(w->mesh_b);
}

static graze_distance_result ask(const world *w, double limit, graze_find near_pairs, bool swapped) {
  graze_distance_options options = graze_default_distance_options();
  graze_distance_result r;
  options.limit = limit;
  options.near_pairs = near_pairs;
  options.exactness = w->exactness;
  memset(&r, 0xEE, sizeof r);
  if (swapped)
    assert_int_equal(graze_mesh_distance(query, w->mesh_b, &w->pose_b, w->mesh_a, &w->pose_a, &options, &r), GRAZE_OK);
  else
    assert_int_equal(graze_mesh_distance(query, w->mesh_a, &w->pose_a, w->mesh_b, &w->pose_b, &options, &r), GRAZE_OK);
  return r;
}

/* The lowest pair that rounds to d, and whether none is below. */
static graze_triangle_pair find_lowest(double d) {
  uint32_t lowest = count_a * count_b;
  for (uint32_t k = 0; k < count_a * count_b; k++) {
    if (d > 0 && oracle_distance_compare(&table[k], nextafter(d, 0)) < 0) fail_msg("a pair is nearer than %a", d);
    if (lowest == count_a * count_b && oracle_distance_rounds_to(&table[k], d)) lowest = k;
  }
  assert_true(lowest < count_a * count_b);
  return (graze_triangle_pair){lowest / count_b, lowest % count_b};
}

/* Whether a pair is nearer than the limit, or, with `or_at` 1, at it: not always the lowest of those that round alike.
 */
static bool is_any_nearer(double limit, int or_at) {
  for (uint32_t k = 0; k < count_a * count_b; k++) {
    if (oracle_distance_compare(&table[k], limit) < or_at) return true;
  }
  return false;
}

static void check_near(const world *w, double limit, double distance) {
  uint64_t pairs = 0, hash = 0;
  for (uint32_t k = 0; k < count_a * count_b && limit > 0; k++) {
    if (oracle_distance_compare(&table[k], limit) >= 0) continue;
    pairs++;
    hash += oracle_pair_hash(k / count_b, k % count_b);
  }
  graze_distance_result r = ask(w, limit, GRAZE_FIND_COUNT, false);
  if (r.near_pairs != pairs || r.near_hash != hash || r.found != (pairs > 0)) {
    fail_msg("limit %a, distance %a: %d pairs, want %d", limit, distance, (int)r.near_pairs, (int)pairs);
  }
  assert_true(pairs == 0 ? r.nearest.distance == (double)INFINITY && r.lower == limit : r.nearest.distance == distance);
  r = ask(w, limit, GRAZE_FIND_ALL, false);
  assert_true(r.near_pairs == pairs && (pairs == 0 || r.pairs != NULL));
  for (uint64_t i = 0; i < pairs; i++) {
    hash -= oracle_pair_hash(r.pairs[i].a, r.pairs[i].b);
    bool in_order = i == 0 || r.pairs[i - 1].a < r.pairs[i].a ||
                    (r.pairs[i - 1].a == r.pairs[i].a && r.pairs[i - 1].b < r.pairs[i].b);
    assert_true(in_order);
  }
  assert_true(hash == 0);
}

static void check_world(world *w, graze_volumes volumes) {
  open_world(w, volumes);
  graze_distance_result r = ask(w, (double)INFINITY, GRAZE_FIND_ANY, false);
  double d = r.nearest.distance;
  assert_true(r.found);
  graze_triangle_pair lowest = find_lowest(d);
  if (r.triangles.a != lowest.a || r.triangles.b != lowest.b || !(r.lower <= d && d <= r.upper)) {
    fail_msg("distance %a at (%u, %u), want (%u, %u)", d, r.triangles.a, r.triangles.b, lowest.a, lowest.b);
  }
  assert_false(is_any_nearer(r.lower, 0));
  if (isfinite(r.upper)) assert_true(is_any_nearer(r.upper, 1));
  assert_true(r.lower == r.upper || nextafter(r.lower, (double)INFINITY) == r.upper);
  graze_distance_result again = ask(w, (double)INFINITY, GRAZE_FIND_ANY, false);
  assert_memory_equal(&again.nearest, &r.nearest, sizeof r.nearest);
  assert_true(ask(w, (double)INFINITY, GRAZE_FIND_ANY, true).nearest.distance == d);
  if (isfinite(d)) {
    const double limits[6] = {0, nextafter(d, 0), d, nextafter(d, (double)INFINITY), 1.1 * d, 3 * d};
    for (int k = 0; k < 6; k++) {
      if (isfinite(limits[k])) check_near(w, limits[k], d);
    }
  }
  close_world(w);
}

/* With an error allowed the distance is still in the bracket, which is as narrow as asked; limits stay exact. */
static void check_errors(world *w, uint64_t *state) {
  graze_distance_options options = graze_default_distance_options();
  graze_distance_result r, exact;
  open_world(w, GRAZE_VOLUMES_ORIENTED);
  exact = ask(w, (double)INFINITY, GRAZE_FIND_ANY, false);
  double d = exact.nearest.distance;
  options.exactness = w->exactness;
  options.error = random_below(state, 2) * 0.3 * random_unit(state);
  options.share = options.error == 0 || random_below(state, 2) == 0 ? 0.5 * random_unit(state) : 0;
  for (int i = 0; i < 3; i++) {
    options.limit = i == 0 ? (double)INFINITY : i == 1 ? nextafter(d, (double)INFINITY) : d;
    if (i > 0 && !isfinite(options.limit)) continue;
    assert_int_equal(graze_mesh_distance(query, w->mesh_a, &w->pose_a, w->mesh_b, &w->pose_b, &options, &r), GRAZE_OK);
    const bool nearer = d > 0 && is_any_nearer(d, 0);
    if (i == 2 ? r.found != nearer : !r.found) fail_msg("distance %a, limit %a: found %d", d, options.limit, r.found);
    if (!r.found) continue;
    assert_true(r.lower <= exact.upper && exact.lower <= r.upper && r.nearest.distance >= d);
    assert_true(r.lower >= (r.upper - options.error) * (1 - options.share) * (1 - 1e-12) - 1e-300);
    assert_true(r.nearest.distance <= r.upper && r.upper <= nextafter(r.nearest.distance, (double)INFINITY));
  }
  close_world(w);
}

static void shift_by(double *corners, uint32_t count, int axis, double by) {
  for (uint32_t i = 0; i < 9 * count; i++) corners[i] += (int)(i % 3) == axis ? by : 0;
}

static void make_world(uint64_t *state, world *w) {
  w->pose_a = w->pose_b = graze_pose_identity();
  w->exactness = GRAZE_T1;
  int kind = (int)random_below(state, 5);
  count_a = soup_of_kind(state, kind, MOST / 2, w->a);
  count_b = soup_of_kind(state, random_below(state, 2) == 0 ? kind : (int)random_below(state, 5), MOST / 2, w->b);
  shift_by(w->b, count_b, (int)random_below(state, 3), ldexp((double)random_below(state, 9), -2));
}

static void test_as_they_are(void **unused) {
  (void)unused;
  uint64_t state = test_seed(900);
  for (int i = 0; i < test_rounds(24, 2000); i++) {
    world w;
    make_world(&state, &w);
    check_world(&w, i % 2 == 0 ? GRAZE_VOLUMES_ORIENTED : GRAZE_VOLUMES_ALIGNED);
  }
}

static void test_allowed_errors(void **unused) {
  (void)unused;
  uint64_t state = test_seed(905);
  for (int i = 0; i < test_rounds(40, 3000); i++) {
    world w;
    make_world(&state, &w);
    if (i % 2 == 0) w.pose_b = test_random_pose(&state, 3);
    check_errors(&w, &state);
  }
}

/* Entries of any size: shears, mirrors, scales. */
static void distort(uint64_t *state, graze_pose *pose) {
  double scale = ldexp(1, (int)random_below(state, 21) - 10);
  for (int k = 0; k < 12; k++) pose->m[k] = random_signed(state) * (k % 4 == 3 ? 1 : scale);
  for (int k = 0; k < 12; k += 5) pose->m[k] += random_below(state, 2) == 0 ? scale : -2 * scale;
}

static void test_poses(void **unused) {
  (void)unused;
  uint64_t state = test_seed(910);
  for (int i = 0; i < test_rounds(24, 2000); i++) {
    world w;
    make_world(&state, &w);
    w.exactness = i % 2 == 0 ? GRAZE_T1 : GRAZE_T2;
    w.pose_a = test_random_pose(&state, 2);
    w.pose_b = test_random_pose(&state, 2);
    if (i % 4 < 2) distort(&state, &w.pose_a);
    if (i % 6 < 2) distort(&state, &w.pose_b);
    check_world(&w, GRAZE_VOLUMES_ORIENTED);
  }
}

/* Beyond what floats hold, and a pose without an inverse: no hierarchies. */
static void test_without_trees(void **unused) {
  (void)unused;
  static const int powers[] = {-1000, -300, 300, 900};
  uint64_t state = test_seed(920);
  for (int i = 0; i < test_rounds(10, 400); i++) {
    world w;
    make_world(&state, &w);
    count_a = count_a < 12 ? count_a : 12;
    count_b = count_b < 12 ? count_b : 12;
    if (i % 5 == 4) {
      memset(w.pose_a.m, 0, 4 * sizeof(double));
      w.exactness = i % 2 == 0 ? GRAZE_T1 : GRAZE_T2;
    } else {
      for (uint32_t k = 0; k < 9 * MOST; k++) {
        w.a[k] = k < 9 * count_a ? ldexp(w.a[k], powers[i % 5]) : 0;
        w.b[k] = k < 9 * count_b ? ldexp(w.b[k], powers[i % 5]) : 0;
      }
    }
    check_world(&w, GRAZE_VOLUMES_ORIENTED);
  }
}

/* ---- flush parts ---- */

static graze_distance_result ask_meshes(graze_query *q, const graze_mesh *a, const graze_mesh *b,
                                        const graze_pose *pose, double limit, graze_find near_pairs) {
  graze_distance_options options = graze_default_distance_options();
  graze_distance_result r;
  options.limit = limit;
  options.near_pairs = near_pairs;
  assert_int_equal(graze_mesh_distance(q, a, NULL, b, pose, &options, &r), GRAZE_OK);
  return r;
}

/* Triangles in two layers across an axis, with one to three corners on the facing planes or beside them by less than
 * their differences round to. Seen along the axis some meet, in a point often; others miss by so little that it hardly
 * tells in the distance. */
static void make_layer(uint64_t *state, int axis, bool turned, bool upper, double away, uint32_t count,
                       double *corners) {
  for (uint32_t t = 0; t < count; t++) {
    const double beside = upper ? random_below(state, 3) * 0x1p-52 : random_below(state, 5) * 0x1p-55;
    const uint32_t facing = 1 + random_below(state, 3);
    const double aside = upper && random_below(state, 2) == 0 ? (1 + random_below(state, 4)) * 0x1p-27 : 0;
    for (uint32_t c = 0; c < 3; c++) {
      double *x = corners + 9 * t + 3 * ((c + t) % 3), depth = c < facing ? beside : random_unit(state);
      for (int k = 0; k < 3; k++) x[k] = away + random_below(state, 3) + aside;
      x[axis] = upper ? 1 + depth : -depth;
      if (turned) x[axis] = -x[axis];
    }
  }
}

/* All of them, or the first half, and far away the others across another axis. */
static void make_layers(uint64_t *state, int i, bool upper, uint32_t count, double *corners) {
  const bool turned = i % 2 == 1;
  const uint32_t half = i % 4 == 0 ? count / 2 : 0;
  make_layer(state, i % 3, turned, upper, 0, count - half, corners);
  make_layer(state, (i + 1) % 3, !turned, upper, 20, half, corners + 9 * (count - half));
}

static void test_flush(void **unused) {
  (void)unused;
  uint64_t state = test_seed(930);
  for (int i = 0; i < test_rounds(40, 4000); i++) {
    world w = {.pose_a = graze_pose_identity(), .pose_b = graze_pose_identity(), .exactness = GRAZE_T1};
    const uint32_t most = i % 5 < 2 ? 18 : 3;
    count_a = 1 + random_below(&state, most);
    count_b = 1 + random_below(&state, most);
    make_layers(&state, i, false, count_a, w.a);
    make_layers(&state, i, true, count_b, w.b);
    check_world(&w, i % 4 < 2 ? GRAZE_VOLUMES_ORIENTED : GRAZE_VOLUMES_ALIGNED);
  }
}

enum { CELLS = 24, PLATE = 2 * CELLS * CELLS };

/* A square of triangles across an axis, in no order. */
static void make_plate(uint64_t *state, int axis, double at, double *corners) {
  static const int cell[6][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}};
  for (uint32_t t = 0; t < PLATE; t++) {
    const uint32_t to = random_below(state, t + 1);
    memcpy(corners + 9 * t, corners + 9 * to, 9 * sizeof *corners);
    for (uint32_t c = 0; c < 3; c++) {
      double *x = corners + 9 * to + 3 * c;
      x[axis] = at;
      x[(axis + 1) % 3] = t / 2 % CELLS + cell[3 * (t % 2) + c][0];
      x[(axis + 2) % 3] = t / 2 / CELLS + cell[3 * (t % 2) + c][1];
    }
  }
}

/* Plates with their triangles in no order: the first of one is nearest to some of the other, the lowest of which
 * counts. The second plate is shifted aside by a share of a cell. */
static void test_plates(void **unused) {
  (void)unused;
  uint64_t state = test_seed(940);
  double *a = malloc(9 * PLATE * sizeof *a), *b = malloc(9 * PLATE * sizeof *b);
  assert_true(a != NULL && b != NULL);
  for (int i = 0; i < test_rounds(6, 300); i++) {
    const double low = i % 2 == 0 ? 0.1 : 0.25, high = 0.3 + 0.1 * random_below(&state, 4);
    uint32_t lowest = 0;
    graze_nearest nearest = {.distance = 0};
    make_plate(&state, i % 3, i % 2 == 0 ? low : high, a);
    make_plate(&state, i % 3, i % 2 == 0 ? high : low, b);
    for (uint32_t k = 0; k < 9 * PLATE; k++) b[k] += (int)(k % 3) == i % 3 ? 0 : 0.375;
    for (; lowest < PLATE && nearest.distance != high - low; lowest++)
      assert_int_equal(graze_tritri_distance(a, b + 9 * lowest, &nearest), GRAZE_OK);
    assert_true(nearest.distance == high - low);
    graze_mesh *mesh = test_mesh(context, a, PLATE, GRAZE_VOLUMES_ORIENTED);
    graze_mesh *other = test_mesh(context, b, PLATE, GRAZE_VOLUMES_ORIENTED);
    const graze_distance_result r = ask_meshes(query, mesh, other, NULL, (double)INFINITY, GRAZE_FIND_ANY);
    assert_true(r.triangles.a == 0 && r.triangles.b == lowest - 1);
    assert_memory_equal(&r.nearest, &nearest, sizeof nearest);
    assert_true(r.work.triangle_tests < PLATE);
    graze_mesh_destroy(mesh);
    graze_mesh_destroy(other);
  }
  free(a);
  free(b);
}

static void swap_triangles(double *x, double *y) {
  double t[9];
  memcpy(t, x, sizeof t);
  memcpy(x, y, sizeof t);
  memcpy(y, t, sizeof t);
}

/* Two plates across two axes, far from each other, whose triangles lie beside the plane by less than a distance of 1
 * rounds to; mixed. */
static void make_two_plates(uint64_t *state, int axis, double at, double beside, double *corners) {
  for (uint32_t part = 0; part < 2; part++) {
    double *x = corners + 9 * PLATE * part;
    const int across = (axis + (int)part) % 3;
    make_plate(state, across, at, x);
    for (uint32_t t = 0; t < PLATE; t++) {
      const double by = (1 + random_below(state, 3)) * beside;
      for (uint32_t k = 0; k < 9; k++) x[9 * t + k] += (int)(k % 3) == across ? by : 100 * part - 20.0;
    }
  }
  for (uint32_t t = 0; t < PLATE; t++)
    swap_triangles(corners + 9 * t, corners + 9 * (PLATE + random_below(state, PLATE)));
}

/* The double on the other side of what is found, and the lowest triangle of the first plates. */
static void check_plates(graze_query *q, const double *a, const double *b, bool swapped, double beside) {
  graze_mesh *mesh = test_mesh(context, a, 2 * PLATE, GRAZE_VOLUMES_ORIENTED);
  graze_mesh *other = test_mesh(context, b, 2 * PLATE, GRAZE_VOLUMES_ORIENTED);
  const graze_distance_result r =
      ask_meshes(q, swapped ? other : mesh, swapped ? mesh : other, NULL, (double)INFINITY, GRAZE_FIND_ANY);
  assert_true(r.nearest.distance == 1 && r.triangles.a == 0);
  assert_true(r.lower == fmin(1, beside) && r.upper == fmax(1, beside));
  graze_mesh_destroy(mesh);
  graze_mesh_destroy(other);
}

/* Of many pairs at 1 and a little more, all of which round to 1, one corner alone is nearer than 1. It is not of the
 * lowest, but the bracket knows it, whichever pairs were left out on the way, now or in the question before. */
static void test_rare(void **unused) {
  (void)unused;
  uint64_t state = test_seed(950);
  double *a = malloc(18 * PLATE * sizeof *a), *b = malloc(18 * PLATE * sizeof *b);
  assert_true(a != NULL && b != NULL);
  for (int i = 0; i < test_rounds(40, 1000); i++) {
    graze_query *q = NULL;
    assert_int_equal(graze_query_create(context, &q), GRAZE_OK);
    make_two_plates(&state, i % 3, 0, -0x1p-55, a);
    make_two_plates(&state, i % 3, 1, 0, b);
    double *rare = a + 9 * (1 + random_below(&state, 2 * PLATE - 1)) + 3 * random_below(&state, 3);
    for (int k = 0; k < 18 * PLATE && i / 2 % 2 == 1; k++) {
      a[k] = -a[k];
      b[k] = -b[k];
    }
    check_plates(q, a, b, i % 2 == 1, nextafter(1, 2));
    for (int k = 0; k < 3; k++) rare[k] = fabs(rare[k]) < 0x1p-50 ? copysign(0x1p-55, -rare[k]) : rare[k];
    check_plates(q, a, b, i % 2 == 1, nextafter(1, 0));
    graze_query_destroy(q);
  }
  free(a);
  free(b);
}

/* Triangles across an axis, wide apart: those of one mesh, and those of the other, `gap` beyond. They are long, in one
 * mesh in one direction and in the other in the other, and every other one stands higher by `step`: boxes of several
 * then meet, or are nearer than any two triangles. */
typedef struct field {
  int axis;
  uint32_t count;
  double at[3], gap, step;
} field;

static uint32_t put_field(const field *f, bool beyond, double *corners) {
  for (uint32_t t = 0; t < f->count; t++) {
    for (uint32_t c = 0; c < 3; c++) {
      double *x = corners + 9 * t + 3 * c, to[3];
      to[0] = (beyond ? f->gap : 0) + t % 2 * f->step;
      to[1 + beyond] = 4 * t + (c == 1);
      to[2 - beyond] = c * 2.0 * f->count;
      for (int k = 0; k < 3; k++) x[(f->axis + k) % 3] = f->at[(f->axis + k) % 3] + to[k];
    }
  }
  return f->count;
}

enum { FIELDS = 3, FIELD_MOST = 200 };

/* The nearest of all pairs, one by one. */
static graze_triangle_pair find_nearest(const double *a, const double *b, uint32_t count, double *distance) {
  graze_triangle_pair found = {0, 0};
  graze_nearest nearest;
  *distance = INFINITY;
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t j = 0; j < count; j++) {
      assert_int_equal(graze_tritri_distance(a + 9 * i, b + 9 * j, &nearest), GRAZE_OK);
      if (!(nearest.distance < *distance)) continue;
      *distance = nearest.distance;
      found = (graze_triangle_pair){i, j};
    }
  }
  return found;
}

/* Fields across two axes. That whose boxes are nearest is looked at first, and has the highest numbers; by the time it
 * is known to be flush, others wait to be opened, among them the nearest. One with lower numbers than that is flush
 * across the other axis, and what is then known of nodes on the first axis tells nothing of the second. */
static void test_axes(void **unused) {
  (void)unused;
  double a[9 * FIELD_MOST], b[9 * FIELD_MOST];
  for (int i = 0; i < 12; i++) {
    const int x = i % 3, y = (x + 1 + i / 6) % 3;
    const bool other = i / 3 % 2 == 1;
    field fields[FIELDS] = {{.axis = y, .count = 16, .gap = 1.5, .step = 4},
                            {.axis = y, .count = 4, .gap = 1, .step = 0},
                            {.axis = x, .count = 128, .gap = 2, .step = 5}};
    uint32_t count = 0;
    double distance;
    for (int k = 0; k < 2; k++) {
      for (int axis = 0; axis < 3; axis++) fields[k].at[axis] = 4000 + (axis == (other ? y : x)) * 1000;
      fields[k].at[3 - x - y] += 100 * k;
    }
    for (int k = 0; k < FIELDS; k++) {
      put_field(&fields[k], true, a + 9 * count);
      count += put_field(&fields[k], false, b + 9 * count);
    }
    const graze_triangle_pair nearest = find_nearest(other ? b : a, other ? a : b, count, &distance);
    graze_mesh *mesh = test_mesh(context, other ? b : a, count, GRAZE_VOLUMES_ALIGNED);
    graze_mesh *second = test_mesh(context, other ? a : b, count, GRAZE_VOLUMES_ALIGNED);
    graze_query *q = NULL;
    assert_int_equal(graze_query_create(context, &q), GRAZE_OK);
    const graze_distance_result r = ask_meshes(q, mesh, second, NULL, INFINITY, GRAZE_FIND_ANY);
    graze_query_destroy(q);
    assert_true(r.nearest.distance == distance && distance == 1);
    assert_true(r.triangles.a == nearest.a && r.triangles.b == nearest.b);
    graze_mesh_destroy(mesh);
    graze_mesh_destroy(second);
  }
}

/* ---- shapes with known distances ---- */

/* Two plates, one over the other: all 2 n^2 triangles of one are near some of the other, at a gap that is no power of
 * two. One inside a box: the distance of the surfaces. */
static void test_shapes(void **unused) {
  (void)unused;
  double box[108], inner[108];
  const double low[3] = {0, 0, 0}, high[3] = {4, 4, 4}, in_low[3] = {1, 1, 0.75}, in_high[3] = {2, 2, 2};
  soup_box(low, high, box);
  soup_box(in_low, in_high, inner);
  graze_mesh *a = test_mesh(context, box, 12, GRAZE_VOLUMES_ORIENTED);
  graze_mesh *b = test_mesh(context, inner, 12, GRAZE_VOLUMES_ORIENTED);
  assert_true(ask_meshes(query, a, b, NULL, (double)INFINITY, GRAZE_FIND_ANY).nearest.distance == 0.75);
  graze_pose away = test_translation(7.1, 0, 0);
  assert_true(ask_meshes(query, a, b, &away, (double)INFINITY, GRAZE_FIND_ANY).nearest.distance == 1 + 7.1 - 4);
  away = test_translation(0, 0, 2.25); /* touches from inside */
  graze_distance_result r = ask_meshes(query, a, b, &away, 1, GRAZE_FIND_COUNT);
  assert_true(r.found && r.nearest.distance == 0 && r.lower == 0 && r.upper == 0 && r.near_pairs >= 2);
  r = ask_meshes(query, a, b, NULL, 0, GRAZE_FIND_COUNT);
  assert_true(!r.found && r.near_pairs == 0 && r.lower == 0);
  graze_mesh_destroy(a);
  graze_mesh_destroy(b);
  a = test_mesh(context, box, 0, GRAZE_VOLUMES_ORIENTED);
  b = test_mesh(context, box, 12, GRAZE_VOLUMES_ORIENTED);
  assert_false(ask_meshes(query, a, b, NULL, (double)INFINITY, GRAZE_FIND_ANY).found);
  graze_mesh_destroy(a);
  graze_mesh_destroy(b);
}

/* Two pairs whose distances round to 1: the lower is told, and the bracket is that of the nearer. */
static void test_rounded_alike(void **unused) {
  (void)unused;
  const double off[3] = {0x1p-56, 0, -0x1p-56}; /* how much farther than 1 a pair is: too little for a double */
  for (int i = 0; i < 27; i++) {
    double a[18], b[18];
    const double first = off[i / 3 % 3], second = off[i % 3];
    for (int k = 0; k < 6; k++) {
      const double at[3] = {(k % 3 == 1) + 10 * (k / 3), k % 3 == 2, k < 3 ? -first : -second};
      memcpy(a + 3 * k, at, sizeof at);
      memcpy(b + 3 * k, at, sizeof at);
      b[3 * k + 2] = 1 + (i / 9 == 1 ? k % 3 == 1 : i / 9 == 2 ? k % 3 != 0 : 0); /* faces, corners and edges */
    }
    graze_mesh *mesh = test_mesh(context, a, 2, GRAZE_VOLUMES_ORIENTED);
    graze_mesh *other = test_mesh(context, b, 2, GRAZE_VOLUMES_ORIENTED);
    const graze_distance_result r = ask_meshes(query, mesh, other, NULL, (double)INFINITY, GRAZE_FIND_ANY);
    const double least = fmin(first, second);
    assert_true(r.nearest.distance == 1 && r.triangles.a == 0 && r.triangles.b == 0);
    assert_true(r.lower == (least < 0 ? nextafter(1, 0) : 1) && r.upper == (least > 0 ? nextafter(1, 2) : 1));
    graze_mesh_destroy(mesh);
    graze_mesh_destroy(other);
  }
}

static void test_threads(void **unused) {
  (void)unused;
  enum { level = 40 };
  double *ball = malloc(8 * level * level * 9 * sizeof *ball);
  assert_non_null(ball);
  uint32_t count = soup_ball(level, 1, ball);
  graze_distance_result first = {0}, r;
  graze_pose pose = test_translation(2.01, 0.3, 0.1);
  for (int threads = 1; threads <= 4; threads++) {
    graze_context *c = test_context(threads, NULL);
    graze_query *q = NULL;
    assert_int_equal(graze_query_create(c, &q), GRAZE_OK);
    graze_mesh *mesh = test_mesh(c, ball, count, GRAZE_VOLUMES_ORIENTED);
    r = ask_meshes(q, mesh, mesh, &pose, 0.1, GRAZE_FIND_ALL);
    assert_true(r.near_pairs > 100);
    if (threads == 1) {
      first = r;
    } else {
      assert_memory_equal(&r.nearest, &first.nearest, sizeof r.nearest);
      assert_true(r.near_pairs == first.near_pairs && r.near_hash == first.near_hash);
    }
    uint64_t hash = 0;
    for (uint64_t i = 0; i < r.near_pairs; i++) hash += oracle_pair_hash(r.pairs[i].a, r.pairs[i].b);
    assert_true(hash == r.near_hash);
    graze_mesh_destroy(mesh);
    graze_query_destroy(q);
    graze_context_destroy(c);
  }
  free(ball);
}

static void test_errors(void **unused) {
  (void)unused;
  test_log log = {0};
  graze_context *c = test_context(1, &log);
  graze_query *q = NULL;
  assert_int_equal(graze_query_create(c, &q), GRAZE_OK);
  double corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  graze_mesh *mesh = test_mesh(c, corners, 1, GRAZE_VOLUMES_ORIENTED);
  graze_distance_options options = graze_default_distance_options();
  graze_distance_result r;
  graze_pose bad = graze_pose_identity();
  assert_int_equal(graze_mesh_distance(q, NULL, NULL, mesh, NULL, NULL, &r), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mesh_distance(q, mesh, NULL, mesh, NULL, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  options.limit = -1;
  assert_int_equal(graze_mesh_distance(q, mesh, NULL, mesh, NULL, &options, &r), GRAZE_ERROR_ARGUMENT);
  options.limit = (double)NAN;
  assert_int_equal(graze_mesh_distance(q, mesh, NULL, mesh, NULL, &options, &r), GRAZE_ERROR_ARGUMENT);
  options = graze_default_distance_options();
  options.share = 1;
  assert_int_equal(graze_mesh_distance(q, mesh, NULL, mesh, NULL, &options, &r), GRAZE_ERROR_ARGUMENT);
  options.share = 0;
  options.error = -1;
  assert_int_equal(graze_mesh_distance(q, mesh, NULL, mesh, NULL, &options, &r), GRAZE_ERROR_ARGUMENT);
  options.error = 0;
  options.near_pairs = GRAZE_FIND_COUNT;
  assert_int_equal(graze_mesh_distance(q, mesh, NULL, mesh, NULL, &options, &r), GRAZE_ERROR_ARGUMENT);
  assert_string_equal(log.last, "distance options: near pairs need a finite limit");
  options = (graze_distance_options){0};
  assert_int_equal(graze_mesh_distance(q, mesh, NULL, mesh, NULL, &options, &r), GRAZE_ERROR_ARGUMENT);
  bad.m[3] = (double)NAN;
  assert_int_equal(graze_mesh_distance(q, mesh, NULL, mesh, &bad, NULL, &r), GRAZE_ERROR_NOT_FINITE);
  bad.m[3] = 1;
  options = graze_default_distance_options();
  options.exactness = GRAZE_T0;
  assert_int_equal(graze_mesh_distance(q, mesh, NULL, mesh, &bad, &options, &r), GRAZE_ERROR_POSE);
  graze_mesh_destroy(mesh);
  graze_query_destroy(q);
  graze_context_destroy(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_allowed_errors), cmocka_unit_test(test_as_they_are), cmocka_unit_test(test_poses),
      cmocka_unit_test(test_without_trees),  cmocka_unit_test(test_shapes),      cmocka_unit_test(test_rounded_alike),
      cmocka_unit_test(test_flush),          cmocka_unit_test(test_plates),      cmocka_unit_test(test_rare),
      cmocka_unit_test(test_axes),           cmocka_unit_test(test_threads),     cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
