/* Relations against solids of cells, whose relation is known by counting; cases that other tools get wrong; open and
 * damaged meshes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "polycubes.h"
#include "support.h"

static double room_a[9 * 12 * CELLS * CELLS * CELLS], room_b[9 * 12 * CELLS * CELLS * CELLS];

static graze_relation swapped(graze_relation r) {
  return r == GRAZE_A_IN_B ? GRAZE_B_IN_A : r == GRAZE_B_IN_A ? GRAZE_A_IN_B : r;
}

typedef struct bench {
  graze_context *context;
  graze_query *query;
} bench;

static bench bench_open(void) {
  bench b = {test_context(1, NULL), NULL};
  assert_int_equal(graze_query_create(b.context, &b.query), GRAZE_OK);
  return b;
}

static void bench_close(bench *b) {
  graze_query_destroy(b->query);
  graze_context_destroy(b->context);
}

static graze_relating relate(const bench *b, const graze_mesh *m, const graze_pose *p, const graze_mesh *n,
                             const graze_pose *q, graze_exactness exactness) {
  graze_relate_options options = graze_default_relate_options();
  graze_relating out;
  options.exactness = exactness;
  assert_int_equal(graze_relate_meshes(b->query, m, p, n, q, &options, &out), GRAZE_OK);
  return out;
}

static bool is_solid(const graze_mesh *mesh) {
  graze_mesh_facts facts;
  graze_mesh_get_facts(mesh, &facts);
  return facts.closed && facts.oriented;
}

/* An integer matrix of determinant 1 or -1, so that images of cells are exact and keep their relation. */
static void random_shear(uint64_t *state, double m[9]) {
  static const double start[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  memcpy(m, start, sizeof start);
  for (int i = 0; i < 4; i++) {
    int r = (int)(random_unit(state) * 3), s = (r + 1 + (int)(random_unit(state) * 2)) % 3;
    double f = floor(random_unit(state) * 5) - 2;
    for (int k = 0; k < 3; k++) m[3 * r + k] += f * m[3 * s + k];
  }
  if (random_unit(state) < 0.3) {
    for (int k = 0; k < 3; k++) m[k] = -m[k];
  }
}

static void transform(const double m[9], double *corners, uint32_t count) {
  for (uint32_t i = 0; i < 3 * count; i++) {
    double *p = corners + 3 * (size_t)i, q[3];
    for (int r = 0; r < 3; r++) q[r] = m[3 * r] * p[0] + m[3 * r + 1] * p[1] + m[3 * r + 2] * p[2];
    memcpy(p, q, sizeof q);
  }
}

typedef struct tally {
  uint64_t of[GRAZE_UNKNOWN + 1];
  uint64_t skipped;
} tally;

/* One pair of solids, in every way that must not matter. */
static void check_cells(const bench *b, const polycube *p, int step_p, const polycube *q, int step_q, uint64_t *state,
                        tally *t) {
  double m[9];
  graze_relation want = polycube_relation(p, q);
  uint32_t np = polycube_surface(p, step_p, state, room_a), nq = polycube_surface(q, step_q, state, room_b);
  if (np == 0 || nq == 0) return;
  random_shear(state, m);
  transform(m, room_a, np);
  transform(m, room_b, nq);
  graze_mesh *a = test_mesh(b->context, room_a, np, GRAZE_VOLUMES_ORIENTED);
  graze_mesh *c = test_mesh(b->context, room_b, nq, GRAZE_VOLUMES_ORIENTED);
  if (is_solid(a) && is_solid(c)) {
    graze_pose shift = test_translation(3, -700, 11), scale = {{0x1p-9, 0, 0, 0, 0, 0x1p-9, 0, 0, 0, 0, 0x1p-9, 0}};
    graze_pose mirror = {{-1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0}};
    const graze_pose *poses[] = {NULL, &shift, &scale, &mirror};
    for (int i = 0; i < 4; i++) {
      graze_relation got = relate(b, a, poses[i], c, poses[i], GRAZE_T1).relation;
      if (got != want) {
        fail_msg("pose %d: %s, not %s (%u and %u triangles)", i, graze_relation_string(got),
                 graze_relation_string(want), np, nq);
      }
    }
    assert_int_equal(relate(b, c, NULL, a, NULL, GRAZE_T1).relation, swapped(want));
    assert_int_equal(relate(b, a, NULL, c, NULL, GRAZE_T0).relation, want);
    if (random_unit(state) < 0.1) assert_int_equal(relate(b, a, &shift, c, &shift, GRAZE_T2).relation, want);
    t->of[want]++;
  } else {
    t->skipped++; /* edges of four triangles: no solid in the sense of the library */
  }
  graze_mesh_destroy(a);
  graze_mesh_destroy(c);
}

static void test_cells(void **unused) {
  (void)unused;
  bench b = bench_open();
  uint64_t state = 11;
  tally t = {0};
  int rounds = test_long() ? 200000 : 1500;
  for (int i = 0; i < rounds; i++) {
    static const int steps[4][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}};
    const int *step = steps[i % 4];
    polycube p, q;
    int low = (int)(random_unit(&state) * 3) * (step[0] == 2 ? 2 : 1), size = step[0] == 2 ? 6 : 3;
    if (low + size > CELLS) low = CELLS - size;
    polycube_random(&p, &state, step[0], low, low + size, 0.2 + 0.8 * random_unit(&state));
    polycube_random(&q, &state, step[1], 2, step[1] == 2 ? 8 : 5, 0.2 + 0.8 * random_unit(&state));
    bool derived = i % 3 == 0; /* often one in the other, or the same */
    for (int x = 0; derived && x < CELLS * CELLS * CELLS; x++) {
      bool *cell = &p.cell[0][0][0] + x;
      *cell = (&q.cell[0][0][0])[x] && (i % 2 == 0 || *cell);
    }
    if (i % 8 != 0) { /* some stay with edges of four triangles */
      polycube_mend(&p, derived ? 1 : step[0]);
      polycube_mend(&q, step[1]);
    }
    check_cells(&b, &p, derived ? 1 : step[0], &q, step[1], &state, &t);
  }
  print_message(
      "solids of cells: %llu separate, %llu touch, %llu cross, %llu a in b, %llu b in a, %llu duplicate; "
      "%llu left out\n",
      (unsigned long long)t.of[GRAZE_SEPARATE], (unsigned long long)t.of[GRAZE_TOUCH],
      (unsigned long long)t.of[GRAZE_CROSS], (unsigned long long)t.of[GRAZE_A_IN_B],
      (unsigned long long)t.of[GRAZE_B_IN_A], (unsigned long long)t.of[GRAZE_DUPLICATE], (unsigned long long)t.skipped);
  for (int r = 0; r <= GRAZE_DUPLICATE; r++) {
    if (r != GRAZE_CLEARANCE) assert_true(t.of[r] >= 5);
  }
  bench_close(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cells)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
