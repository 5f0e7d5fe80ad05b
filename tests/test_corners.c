/* Corners that move within their roundings: what is found must be a model of which the files are the rounding, and in
 * which the two touch or are separate; what is deeper than its roundings must not be found. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "support.h"

enum { SIDES_MOST = 40, SOUP_MOST = 9 * 8 * SIDES_MOST };

typedef struct soup {
  double corners[SOUP_MOST];
  uint32_t count; /* triangles */
} soup;

static void put(soup *s, const double a[3], const double b[3], const double c[3]) {
  double *to = s->corners + 9 * s->count++;
  for (int k = 0; k < 3; k++) {
    to[k] = a[k];
    to[3 + k] = b[k];
    to[6 + k] = c[k];
  }
}

static void put_quad(soup *s, const double a[3], const double b[3], const double c[3], const double d[3]) {
  put(s, a, b, c);
  put(s, a, c, d);
}

typedef struct ring {
  double low[SIDES_MOST][3], high[SIDES_MOST][3];
  int sides;
} ring;

static ring make_ring(int sides, const double at[2], double radius, double start, double bottom, double top) {
  ring r = {.sides = sides};
  for (int i = 0; i < sides; i++) {
    const double angle = start + 2 * 3.14159265358979323846 * i / sides;
    const double x = at[0] + radius * cos(angle), y = at[1] + radius * sin(angle);
    memcpy(r.low[i], (double[3]){x, y, bottom}, sizeof r.low[i]);
    memcpy(r.high[i], (double[3]){x, y, top}, sizeof r.high[i]);
  }
  return r;
}

static void put_plug(soup *s, const ring *r) {
  for (int i = 0; i < r->sides; i++) {
    const int j = (i + 1) % r->sides;
    put_quad(s, r->low[i], r->low[j], r->high[j], r->high[i]);
    if (i > 0 && j > 0) put(s, r->low[0], r->low[j], r->low[i]);
    if (i > 0 && j > 0) put(s, r->high[0], r->high[i], r->high[j]);
  }
}

static void put_tube(soup *s, const ring *out, const ring *in) {
  for (int i = 0; i < out->sides; i++) {
    const int j = (i + 1) % out->sides;
    put_quad(s, out->low[i], out->low[j], out->high[j], out->high[i]);
    put_quad(s, in->low[j], in->low[i], in->high[i], in->high[j]);
    put_quad(s, out->high[i], out->high[j], in->high[j], in->high[i]);
    put_quad(s, out->low[j], out->low[i], in->low[i], in->low[j]);
  }
}

/* ---- writing a model ---- */

enum { AS_FLOATS, AS_DECIMALS };
static const double UNIT = 1e-6; /* of the last decimal */

static double written(double x, int how) {
  return how == AS_FLOATS ? (double)(float)x : rint(x / UNIT) / 1e6;
}

static graze_rounding rounding_of(int how) {
  return how == AS_FLOATS ? (graze_rounding){.floats = true} : (graze_rounding){.decimals = UNIT / 2};
}

/* In its own axes, which the pose turns by a quarter about x and moves. */
static graze_mesh *write_mesh(graze_context *context, const soup *model, const double place[3], int how,
                              graze_pose *pose) {
  soup own = {.count = model->count};
  *pose = (graze_pose){{1, 0, 0, place[0], 0, 0, 1, place[1], 0, -1, 0, place[2]}};
  for (uint32_t i = 0; i < 9 * model->count; i += 3) {
    const double x = model->corners[i] - place[0], y = model->corners[i + 1] - place[1],
                 z = model->corners[i + 2] - place[2];
    own.corners[i] = written(x, how);
    own.corners[i + 1] = written(-z, how);
    own.corners[i + 2] = written(y, how);
  }
  return test_mesh(context, own.corners, own.count, GRAZE_VOLUMES_ORIENTED);
}

/* ---- what was found is such a model ---- */

/* Writing the moved corner gives the number of the file. */
static void check_written(const graze_mesh *mesh, const graze_pose *pose, const double (*vertices)[3], int how) {
  for (uint32_t t = 0; t < graze_mesh_triangle_count(mesh); t++) {
    double stored[9];
    graze_mesh_get_triangle(mesh, t, stored);
    for (uint32_t c = 0; c < 3; c++) {
      const double *p = vertices[3 * t + c];
      const double own[3] = {p[0] - pose->m[3], -(p[2] - pose->m[11]), p[1] - pose->m[7]};
      for (uint32_t k = 0; k < 3; k++) {
        const double was = stored[3 * c + k];
        /* where the place swallows what is near zero, the check's own rounding is left */
        if (fabs(own[k] - was) <= 0x1p-50 * fabs(pose->m[3] + pose->m[7] + pose->m[11])) continue;
        if (written(own[k], how) != was) fail_msg("a corner at %.17g is moved to %.17g", was, own[k]);
      }
    }
  }
}

static void check_connected(const graze_mesh *mesh, const double (*vertices)[3]) {
  const uint32_t count = 3 * graze_mesh_triangle_count(mesh);
  for (uint32_t i = 0; i < count; i++) {
    double p[9], q[9];
    graze_mesh_get_triangle(mesh, i / 3, p);
    for (uint32_t j = 0; j < i; j++) {
      graze_mesh_get_triangle(mesh, j / 3, q);
      const bool same = memcmp(p + 3 * (i % 3), q + 3 * (j % 3), 3 * sizeof(double)) == 0;
      if (same) assert_memory_equal(vertices[i], vertices[j], sizeof vertices[i]);
    }
  }
}

typedef struct pair {
  graze_context *context;
  graze_mesh *of[2];
  graze_pose pose[2];
  int how;
} pair;

static double longest(const pair *p, const graze_moved_corners *found) {
  double most = 0;
  for (int k = 0; k < 2; k++) {
    for (uint32_t i = 0; i < 3 * graze_mesh_triangle_count(p->of[k]); i++) {
      double corners[9], square = 0;
      graze_mesh_get_triangle(p->of[k], i / 3, corners);
      const double *c = corners + 3 * (i % 3), *m = p->pose[k].m;
      for (int r = 0; r < 3; r++) {
        const double d =
            found->vertices[k][i][r] - (((m[4 * r] * c[0] + m[4 * r + 1] * c[1]) + m[4 * r + 2] * c[2]) + m[4 * r + 3]);
        square += d * d;
      }
      most = fmax(most, sqrt(square));
    }
  }
  return most;
}

/* By meshes and queries of its own. */
static void check_found(const pair *p, const graze_moved_corners *found) {
  graze_mesh *moved[2];
  graze_query *query;
  graze_relate_result again;
  graze_self_result self;
  const double length = longest(p, found);
  assert_true(found->relation == GRAZE_TOUCH || found->relation == GRAZE_SEPARATE);
  assert_true(found->corners > 0 && length <= found->length && found->length <= length * (1 + 1e-12));
  assert_int_equal(graze_query_create(p->context, &query), GRAZE_OK);
  for (int k = 0; k < 2; k++) {
    graze_mesh_facts before, after;
    check_written(p->of[k], &p->pose[k], found->vertices[k], p->how);
    check_connected(p->of[k], found->vertices[k]);
    moved[k] = test_mesh(p->context, found->vertices[k][0], graze_mesh_triangle_count(p->of[k]), GRAZE_VOLUMES_ALIGNED);
    graze_mesh_get_facts(p->of[k], &before);
    graze_mesh_get_facts(moved[k], &after);
    assert_true(after.closed && after.oriented && after.positions == before.positions);
    assert_int_equal(graze_collide_self(query, moved[k], NULL, &self), GRAZE_OK);
    assert_true(self.self_pairs == 0);
  }
  assert_int_equal(graze_relate_meshes(query, moved[0], NULL, moved[1], NULL, NULL, &again), GRAZE_OK);
  assert_int_equal(again.verdict.relation, found->relation);
  for (int k = 0; k < 2; k++) graze_mesh_destroy(moved[k]);
  graze_query_destroy(query);
}

/* Relates the two and looks for moves. */
static graze_relation look(const pair *p, graze_moved_corners *found, bool *freed) {
  graze_query *query;
  graze_relate_result now;
  graze_escape way;
  const graze_rounding rounding = rounding_of(p->how);
  assert_int_equal(graze_query_create(p->context, &query), GRAZE_OK);
  assert_int_equal(graze_relate_meshes(query, p->of[0], &p->pose[0], p->of[1], &p->pose[1], NULL, &now), GRAZE_OK);
  assert_int_equal(graze_find_escape(query, p->of[0], &p->pose[0], p->of[1], &p->pose[1], NULL, 4 * UNIT, &way),
                   GRAZE_OK);
  assert_int_equal(
      graze_find_moved_corners(query, p->of[0], &p->pose[0], &rounding, p->of[1], &p->pose[1], &rounding, NULL, found),
      GRAZE_OK);
  if (found->found) check_found(p, found);
  *freed = way.found;
  graze_query_destroy(query);
  return now.verdict.relation;
}

/* A plug whose radius is larger by `tight` than that of its bore, and as long as that or longer; both are written. */
static pair make_fit(uint64_t *state, double tight, int how) {
  soup plug = {.count = 0}, tube = {.count = 0};
  const double spread = pow(10, -1 - 2 * random_unit(state)), radius = spread * (0.1 + random_unit(state));
  const double at[2] = {random_unit(state), random_unit(state)}, start = random_unit(state),
               bottom = random_unit(state);
  const int sides = 3 + (int)random_below(state, SIDES_MOST - 3);
  const double height = radius * (0.2 + random_unit(state)), more = random_below(state, 2) * height;
  const ring in = make_ring(sides, at, radius, start, bottom, bottom + height),
             out = make_ring(sides, at, 3 * radius, start, bottom, bottom + height),
             of_plug = make_ring(sides, at, radius + tight, start, bottom, bottom + height + more);
  put_plug(&plug, &of_plug);
  put_tube(&tube, &out, &in);
  pair p = {.context = shared_context(1), .how = how};
  const bool whole = random_below(state, 2) == 0; /* each in axes of its own, or both in those of the model */
  const double origin[3] = {0, 0, 0}, center[3] = {at[0], at[1], bottom};
  p.of[0] = write_mesh(p.context, &tube, origin, how, &p.pose[0]);
  p.of[1] = write_mesh(p.context, &plug, whole ? origin : center, how, &p.pose[1]);
  if (random_below(state, 2) == 0) { /* either may be a */
    const pair q = p;
    for (int k = 0; k < 2; k++) {
      p.of[k] = q.of[1 - k];
      p.pose[k] = q.pose[1 - k];
    }
  }
  return p;
}

static void close_pair(pair *p) {
  for (int k = 0; k < 2; k++) graze_mesh_destroy(p->of[k]);
}

/* True fits, which rounding has made crossings: there always is such a model, the one that was written. */
static void test_fits(void **unused) {
  (void)unused;
  uint64_t state = test_seed(96);
  int crossing = 0, found = 0, stuck = 0, rounds = test_rounds(120, 10000);
  for (int i = 0; i < rounds; i++) {
    pair p = make_fit(&state, 0, i % 2 == 0 ? AS_FLOATS : AS_DECIMALS);
    graze_moved_corners moved;
    bool freed;
    if (look(&p, &moved, &freed) == GRAZE_CROSS) {
      crossing++;
      found += moved.found;
      stuck += moved.found && !freed;
    } else {
      assert_false(moved.found);
    }
    close_pair(&p);
  }
  print_message("%d of %d fits cross; corners free %d, %d of which no translation does\n", crossing, rounds, found,
                stuck);
  assert_true(crossing > rounds / 4 && found > crossing * 3 / 4 && stuck > crossing / 4);
}

/* What is deeper than both roundings together, no corners free. */
static void test_deeper(void **unused) {
  (void)unused;
  uint64_t state = test_seed(97);
  for (int i = test_rounds(60, 5000); i > 0; i--) {
    const int how = i % 2 == 0 ? AS_FLOATS : AS_DECIMALS; /* of numbers below 4, whose last place is 2^-22 */
    pair p = make_fit(&state, how == AS_FLOATS ? 3 * 0x1p-22 : 3 * UNIT, how);
    graze_moved_corners moved;
    bool freed;
    assert_int_equal(look(&p, &moved, &freed), GRAZE_CROSS);
    assert_false(moved.found);
    close_pair(&p);
  }
}

/* A block and one beside, on, in or through it, which is moved along x. */
static bool found_of_boxes(const double low[3], const double high[3], double by, graze_relation relation) {
  static const double zero[3] = {0, 0, 0}, one[3] = {1, 1, 1};
  double corners[2][9 * 12];
  graze_moved_corners moved;
  bool freed;
  pair p = {.context = shared_context(1), .how = AS_DECIMALS};
  soup_box(zero, one, corners[0]);
  soup_box(low, high, corners[1]);
  for (int k = 0; k < 2; k++) {
    p.pose[k] = (graze_pose){{1, 0, 0, k * by, 0, 0, 1, 0, 0, -1, 0, 0}};
    p.of[k] = test_mesh(p.context, corners[k], 12, GRAZE_VOLUMES_ORIENTED);
  }
  assert_int_equal(look(&p, &moved, &freed), relation);
  close_pair(&p);
  return moved.found;
}

/* Only what crosses is looked at, and what would have to come out of the other is not found. */
static void test_relations(void **unused) {
  (void)unused;
  static const struct {
    double low[3], high[3], by; /* in units of the last decimal */
    graze_relation relation;
    bool found;
  } rows[] = {
      {{1, 0, 0}, {2, 1, 1}, 0, GRAZE_TOUCH, false},
      {{1, 0, 0}, {2, 1, 1}, 0.5, GRAZE_SEPARATE, false},
      {{1, 0, 0}, {2, 1, 1}, -0.5, GRAZE_CROSS, true},
      {{1, 0, 0}, {2, 1, 1}, -0.99, GRAZE_CROSS, true},
      {{1, 0, 0}, {2, 1, 1}, -1.01, GRAZE_CROSS, false},
      {{0, 0, 0}, {1, 1, 1}, 0, GRAZE_DUPLICATE, false},
      {{0, 0, 0}, {1, 1, 1}, 0.25, GRAZE_CROSS, false},
      {{0.25, 0.25, 0.25}, {0.5, 0.5, 0.5}, 0, GRAZE_B_IN_A, false},
      {{0.5, 0.25, 0.25}, {1, 0.5, 0.5}, 0.5, GRAZE_CROSS, false}, /* flush in it, but for a rounding */
      {{0.25, 0.25, -1}, {0.5, 0.5, 2}, 0, GRAZE_CROSS, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const bool found = found_of_boxes(rows[i].low, rows[i].high, rows[i].by * UNIT, rows[i].relation);
    if (found != rows[i].found) fail_msg("row %zu: %s", i, found ? "found" : "not found");
  }
}

static void test_errors(void **unused) {
  (void)unused;
  bool freed;
  pair p = make_fit(&(uint64_t){1}, 0, AS_FLOATS);
  const graze_rounding good = {.floats = true}, none = {0}, bad = {.decimals = NAN}, less = {.decimals = -1};
  graze_moved_corners moved;
  graze_query *query;
  assert_int_equal(graze_query_create(p.context, &query), GRAZE_OK);
  const graze_mesh *a = p.of[0], *b = p.of[1];
  const graze_pose *at = &p.pose[0], *to = &p.pose[1];
  assert_int_equal(graze_find_moved_corners(NULL, a, at, &good, b, to, &good, NULL, &moved), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_find_moved_corners(query, a, at, NULL, b, to, &good, NULL, &moved), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_find_moved_corners(query, a, at, &good, b, to, &good, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_find_moved_corners(query, a, at, &bad, b, to, &good, NULL, &moved), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_find_moved_corners(query, a, at, &good, b, to, &less, NULL, &moved), GRAZE_ERROR_ARGUMENT);
  assert_string_equal(shared_error()->message, "moved corners: a rounding is not a length");
  while (look(&p, &moved, &freed) != GRAZE_CROSS ||
         !moved.found) { /* then with one that was not rounded, or one mesh */
    static uint64_t state = 2;
    close_pair(&p);
    p = make_fit(&state, 0, AS_FLOATS);
  }
  assert_int_equal(graze_find_moved_corners(query, p.of[0], at, &none, p.of[1], to, &none, NULL, &moved), GRAZE_OK);
  assert_false(moved.found);
  const graze_pose aside = test_translation(1e-9, 0, 0);
  assert_int_equal(graze_find_moved_corners(query, p.of[0], NULL, &good, p.of[0], &aside, &good, NULL, &moved),
                   GRAZE_OK);
  assert_false(moved.found);
  graze_query_destroy(query);
  close_pair(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fits),
      cmocka_unit_test(test_deeper),
      cmocka_unit_test(test_relations),
      cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
