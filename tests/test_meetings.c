/* Meetings judged from integers on a grid against the same meetings judged from doubles: the same claims, parts and
 * doubts for every pair of triangles. Looks behind the public headers, so it needs the static library. */
#include <string.h>

#include "families.h"
#include "narrow/query.h"
#include "narrow/relate/steps.h"
#include "polycubes.h"
#include "support.h"

static double room_a[9 * 12 * CELLS * CELLS * CELLS], room_b[9 * 12 * CELLS * CELLS * CELLS];

typedef struct bench {
  graze_context *context;
  graze_query *query;
  uint64_t state, meetings, claimed, on_grid, left_out;
} bench;

/* Each operand has memory of its own. */
static operand make_operand(const bench *b, const graze_mesh *mesh, const graze_pose *pose, graze_query **own) {
  _Atomic(solid *) slot = NULL;
  const relate_side from = {{mesh, *pose, graze_pose_is_identity(pose)}, &slot};
  operand made = {.box = gz_side_box(&from.place)};
  assert_int_equal(graze_query_create(b->context, own), GRAZE_OK);
  assert_int_equal(gz_operand_make(&made, *own, 0, &from, GRAZE_OPEN_UNKNOWN, 1000), GRAZE_OK);
  return made;
}

static void compare_operands(const operand *p, const operand *q) {
  assert_memory_equal(p->met, q->met, p->shape->part_count);
  assert_int_equal(p->pierces, q->pierces);
  assert_int_equal(p->first_maybe_solid, q->first_maybe_solid);
  assert_int_equal(p->first_distorted, q->first_distorted);
  assert_int_equal(p->ambiguous_edge.triangle, q->ambiguous_edge.triangle);
}

static void check_meshes(bench *b, const graze_mesh *m, const graze_mesh *n, const graze_pose *pose, double reach) {
  graze_query *own[6];
  operand fast[2] = {make_operand(b, m, pose, &own[0]), make_operand(b, n, pose, &own[1])};
  operand plain[2] = {make_operand(b, m, pose, &own[2]), make_operand(b, n, pose, &own[3])};
  operand brief[2] = {make_operand(b, m, pose, &own[4]), make_operand(b, n, pose, &own[5])};
  predicate_points grid, doubles, again;
  graze_collide_result hits;
  double origin[3] = {pose->m[3], pose->m[7], pose->m[11]};
  gz_predicate_points_clear(&grid, false);
  gz_predicate_points_clear(&doubles, false);
  gz_predicate_points_clear(&again, false);
  gz_predicate_points_lay_grid(&grid, origin, reach);
  assert_true(grid.unit > 0 && doubles.unit == 0);
  assert_int_equal(graze_collide_meshes(b->query, m, pose, n, pose, NULL, &hits), GRAZE_OK);
  const uint8_t *codes = gz_query_codes(b->query);
  assert_true(codes != NULL || hits.counts.triangle_pairs == 0);
  for (uint64_t i = 0; i < hits.counts.triangle_pairs; i++) {
    uint32_t s = hits.pairs[i].a, t = hits.pairs[i].b;
    unsigned got = gz_meeting_claims(&grid, &fast[0], s, &fast[1], t, TRITRI_OPEN);
    unsigned want = gz_meeting_claims(&doubles, &plain[0], s, &plain[1], t, TRITRI_OPEN);
    if (got != want) fail_msg("triangles %u, %u: claims %u, not %u", s, t, got, want);
    /* Only what has been claimed before may be left out. */
    unsigned left = gz_meeting_claims(&again, &brief[0], s, &brief[1], t, codes[i]);
    if ((left & ~want) != 0 || (want & ~(left | brief[0].seen)) != 0)
      fail_msg("triangles %u, %u: claims %u, not %u, after %u", s, t, left, want, brief[0].seen);
    b->left_out += left != want;
    brief[0].seen |= left;
    b->meetings++;
    b->claimed += want != 0;
    b->on_grid += (grid.off & 0x3f) == 0;
  }
  for (int k = 0; k < 2; k++) {
    compare_operands(&fast[k], &plain[k]);
    compare_operands(&brief[k], &plain[k]);
    gz_solid_destroy(b->context, fast[k].shape);
    gz_solid_destroy(b->context, brief[k].shape);
    gz_solid_destroy(b->context, plain[k].shape);
  }
  for (int k = 0; k < 6; k++) graze_query_destroy(own[k]);
}

/* Solids of cells, and soups of the grid: surfaces of every kind; some corners a little beside the grid. */
static void make_pair(bench *b, int round, uint32_t *np, uint32_t *nq) {
  if (round % 2 == 0) {
    polycube p, q;
    polycube_random(&p, &b->state, 1, 1, 4, 0.6);
    polycube_random(&q, &b->state, 1, 2, 5, 0.6);
    if (round % 4 == 0) polycube_mend(&p, 1);
    *np = polycube_surface(&p, 1, &b->state, room_a);
    *nq = polycube_surface(&q, 1, &b->state, room_b);
  } else {
    soup_lattice(&b->state, *np = 40, 4, room_a);
    soup_lattice(&b->state, *nq = 40, 4, room_b);
  }
  for (int i = 0; round % 3 == 0 && i < 4 && *np > 0; i++) {
    room_a[random_below(&b->state, 9 * *np)] += (random_unit(&b->state) - 0.5) * 0x1p-30;
  }
}

static void test_grid_and_doubles_agree(void **unused) {
  (void)unused;
  bench b = {.context = test_context(1, NULL), .state = 51};
  assert_int_equal(graze_query_create(b.context, &b.query), GRAZE_OK);
  static const graze_pose poses[] = {{{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}},
                                     {{1, 0, 0, 700.25, 0, 1, 0, -3, 0, 0, 1, 1e6}},
                                     {{0, -0.5, 0, 1, 0.5, 0, 0, 0.125, 0, 0, -0.5, 9}},
                                     {{0.6, -0.8, 0, 0.1, 0.8, 0.6, 0, 0.2, 0, 0, 1, 0.3}}};
  for (int i = 0; i < (test_long() ? 20000 : 400); i++) {
    uint32_t np, nq;
    make_pair(&b, i, &np, &nq);
    if (np == 0 || nq == 0) continue;
    graze_mesh *m = test_mesh(b.context, room_a, np, GRAZE_VOLUMES_ORIENTED);
    graze_mesh *n = test_mesh(b.context, room_b, nq, GRAZE_VOLUMES_ORIENTED);
    check_meshes(&b, m, n, &poses[i % 4], 16);
    graze_mesh_destroy(m);
    graze_mesh_destroy(n);
  }
  print_message("%llu meetings, %llu with claims, %llu on the grid\n", (unsigned long long)b.meetings,
                (unsigned long long)b.claimed, (unsigned long long)b.on_grid);
  assert_true(b.claimed > 10000 && b.on_grid > 10000 && b.meetings - b.on_grid > 10000 && b.left_out > 0);
  graze_query_destroy(b.query);
  graze_context_destroy(b.context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_grid_and_doubles_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
