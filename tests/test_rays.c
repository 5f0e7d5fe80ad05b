/* Rays and segments. Every hit against rational numbers that know no case (line_oracle.h): anywhere, along edges, in
 * planes, through corners, from corners, at the ends of the range, against soups on lattices, slivers and triangles of
 * no area, at distorting poses; lists of all and the first of them against brute force; one thread against three. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "graze/motion.h"
#include "graze/rays.h"
#include "line_oracle.h"
#include "oracle.h"
#include "support.h"

enum { MOST = 64, LINES = 40, OBJECTS = 4 };

static graze_context *context, *threaded;
static uint64_t hits_seen, doubles_seen, starts_seen;

static int set_up(void **unused) {
  (void)unused;
  context = test_context(1, NULL);
  threaded = test_context(3, NULL);
  return 0;
}

static int tear_down(void **unused) {
  (void)unused;
  graze_context_destroy(context);
  graze_context_destroy(threaded);
  return 0;
}

/* Objects, their posed corners, and lines. */
typedef struct world {
  double corners[OBJECTS][9 * MOST], posed[OBJECTS][9 * MOST];
  uint32_t counts[OBJECTS];
  graze_pose poses[OBJECTS];
  graze_mesh *meshes[OBJECTS];
  double from[3 * LINES], to[3 * LINES], most[LINES];
  bool directed, ended;
} world;

static void make_objects(uint64_t *state, world *w) {
  for (int i = 0; i < OBJECTS; i++) {
    w->counts[i] = soup_of_kind(state, (int)random_below(state, 5), 40, w->corners[i]);
    w->poses[i] = graze_pose_identity();
    if (i % 2 == 1) w->poses[i] = test_random_pose(state, 1);
    if (i == 3 && random_below(state, 2) == 0) {
      for (int k = 0; k < 12; k++) w->poses[i].m[k] = 2 * random_signed(state);
    }
    if (i == 3 && random_below(state, 8) == 0) memset(w->poses[i].m, 0, 8 * sizeof(double)); /* flat */
    oracle_pose_corners(&w->poses[i], w->corners[i], w->counts[i], w->posed[i]);
    w->meshes[i] = test_mesh(context, w->corners[i], w->counts[i],
                             random_below(state, 2) ? GRAZE_VOLUMES_ORIENTED : GRAZE_VOLUMES_ALIGNED);
  }
}

/* Corners, middles of edges, places in faces, the lattice, anywhere. */
static void make_place(uint64_t *state, const world *w, double p[3]) {
  const uint32_t object = random_below(state, OBJECTS);
  const double *t = w->posed[object] + 9 * random_below(state, w->counts[object]);
  const uint32_t kind = random_below(state, 6);
  for (int k = 0; k < 3; k++) {
    if (kind == 0) p[k] = t[k];
    if (kind == 1) p[k] = 0.5 * (t[k] + t[3 + k]);
    if (kind == 2) p[k] = 0.25 * (t[k] + t[3 + k] + 2 * t[6 + k]);
    if (kind == 3) p[k] = 0.25 * ((double)random_below(state, 13) - 4);
    if (kind == 4) p[k] = 1.5 * random_signed(state);
    if (kind == 5) p[k] = t[k] + 0x1p-50 * random_signed(state);
  }
}

static void make_lines(uint64_t *state, world *w) {
  w->directed = random_below(state, 2) == 0;
  w->ended = random_below(state, 2) == 0;
  for (int i = 0; i < LINES; i++) {
    double *from = w->from + 3 * i, *to = w->to + 3 * i;
    const uint32_t kind = random_below(state, 8);
    make_place(state, w, from);
    make_place(state, w, to);
    if (kind == 0) memcpy(to, from, 3 * sizeof *to);
    if (kind == 1) memcpy(to, from, 3 * sizeof *to), to[random_below(state, 3)] += 1;
    if (w->directed) {
      for (int k = 0; k < 3; k++) to[k] -= from[k];
    }
    const double ends[] = {0, 0.5, 1, 2, (double)INFINITY};
    w->most[i] = ends[random_below(state, 5)];
  }
}

static double end_of(const world *w, int i) {
  if (w->ended) return fmin(w->most[i], DBL_MAX);
  return w->directed ? DBL_MAX : 1;
}

static void fail_at(const world *w, int i, const graze_target_hit *hit, const double corners[9], const char *what) {
  for (int k = 0; k < 9; k++) print_error("%a ", corners[k]);
  for (int k = 0; k < 3; k++) print_error("%a ", w->from[3 * i + k]);
  for (int k = 0; k < 3; k++) print_error("%a ", w->to[3 * i + k]);
  fail_msg("%s: object %u, triangle %u, %a to %a; %s, end %g", what, hit->object, hit->triangle, hit->earliest,
           hit->latest, w->directed ? "directed" : "segment", end_of(w, i));
}

static bool same_hit(const graze_target_hit *a, const graze_target_hit *b) {
  return a->earliest == b->earliest && a->latest == b->latest && a->object == b->object && a->triangle == b->triangle;
}

static bool in_order(const graze_target_hit *a, const graze_target_hit *b) {
  if (a->earliest != b->earliest) return a->earliest < b->earliest;
  if (a->latest != b->latest) return a->latest < b->latest;
  return a->object != b->object ? a->object < b->object : a->triangle < b->triangle;
}

/* The hits of line i are those of all triangles that the oracle knows, and the first is the least of them. */
static void check_line(const world *w, int i, const graze_target_hit *list, uint64_t count,
                       const graze_target_hit *first) {
  mpq_t time;
  uint64_t met = 0;
  mpq_init(time);
  for (uint64_t h = 0; h + 1 < count; h++) assert_true(in_order(&list[h], &list[h + 1]));
  for (uint32_t object = 0; object < OBJECTS; object++) {
    for (uint32_t t = 0; t < w->counts[object]; t++) {
      const double *corners = w->posed[object] + 9 * t;
      const graze_target_hit *hit = NULL, none = {0, 0, object, t};
      for (uint64_t h = 0; h < count && hit == NULL; h++) {
        if (list[h].object == object && list[h].triangle == t) hit = &list[h];
      }
      const bool meets = oracle_line(w->from + 3 * i, w->to + 3 * i, w->directed, end_of(w, i), corners, time);
      met += meets;
      if (meets != (hit != NULL)) fail_at(w, i, hit ? hit : &none, corners, meets ? "missed" : "not met");
      if (meets && !oracle_enclosed(time, hit->earliest, hit->latest)) fail_at(w, i, hit, corners, "parameter");
      doubles_seen += meets && hit->earliest == hit->latest;
      starts_seen += meets && hit->latest == 0;
    }
  }
  assert_int_equal(met, count);
  const graze_target_hit none = {0, 0, GRAZE_NO_TARGET, GRAZE_NO_TARGET};
  if (!same_hit(first, count > 0 ? &list[0] : &none)) fail_at(w, i, first, w->posed[0], "the first");
  hits_seen += count;
  mpq_clear(time);
}

/* A vertex that moves along a segment, and a face that stands still: continuous collision says the same, to the bit. */
static void check_motion(const world *w, int i, const graze_target_hit *list, uint64_t count) {
  static graze_ccd_query queries[OBJECTS * MOST];
  static graze_ccd_result results[OBJECTS * MOST];
  uint64_t number = 0, met = 0;
  for (uint32_t object = 0; object < OBJECTS; object++) {
    for (uint32_t t = 0; t < w->counts[object]; t++) {
      graze_ccd_query *q = &queries[number++];
      *q = (graze_ccd_query){.kind = GRAZE_CCD_VERTEX_FACE};
      for (int e = 0; e < 2; e++) {
        memcpy(q->points[e][0], (e == 0 ? w->from : w->to) + 3 * i, sizeof q->points[e][0]);
        for (int c = 0; c < 9; c++) q->points[e][1 + c / 3][c % 3] = w->posed[object][9 * t + (uint32_t)c];
      }
    }
  }
  assert_int_equal(graze_ccd_batch(context, number, queries, results), GRAZE_OK);
  for (uint64_t k = 0; k < number; k++) met += results[k].hit;
  assert_int_equal(met, count);
  for (uint64_t h = 0; h < count; h++) {
    uint64_t k = list[h].triangle;
    for (uint32_t object = 0; object < list[h].object; object++) k += w->counts[object];
    const bool same = results[k].earliest == list[h].earliest && results[k].latest == list[h].latest;
    if (!results[k].hit || !same) fail_at(w, i, &list[h], w->posed[list[h].object] + 9 * list[h].triangle, "motion");
  }
}

static void check_world(const world *w) {
  const graze_rays rays = {.count = LINES,
                           .from = w->from,
                           .to = w->directed ? NULL : w->to,
                           .way = w->directed ? w->to : NULL,
                           .most = w->ended ? w->most : NULL};
  graze_targets *targets = NULL;
  graze_ray_hits all, again;
  graze_target_hit first[LINES], first_again[LINES];
  assert_int_equal(graze_targets_create(context, OBJECTS, (const graze_mesh *const *)w->meshes, w->poses, &targets),
                   GRAZE_OK);
  assert_int_equal(graze_rays_all(context, targets, &rays, &all), GRAZE_OK);
  assert_int_equal(graze_rays_all(threaded, targets, &rays, &again), GRAZE_OK);
  assert_int_equal(graze_rays_first(context, targets, &rays, first), GRAZE_OK);
  assert_int_equal(graze_rays_first(threaded, targets, &rays, first_again), GRAZE_OK);
  assert_int_equal(all.count, again.count);
  assert_memory_equal(all.first, again.first, (LINES + 1) * sizeof *all.first);
  if (all.count > 0) assert_memory_equal(all.hits, again.hits, all.count * sizeof *all.hits);
  assert_memory_equal(first, first_again, sizeof first);
  assert_int_equal(all.first[LINES], all.count);
  for (int i = 0; i < LINES; i++) check_line(w, i, all.hits + all.first[i], all.first[i + 1] - all.first[i], &first[i]);
  for (int i = 0; i < LINES && !w->directed && !w->ended; i++) {
    check_motion(w, i, all.hits + all.first[i], all.first[i + 1] - all.first[i]);
  }
  graze_ray_hits_free(&all);
  graze_ray_hits_free(&again);
  graze_targets_destroy(targets);
}

static void test_lines(void **unused) {
  (void)unused;
  uint64_t state = test_seed(4100);
  static world w;
  const int rounds = test_rounds(16, 1600);
  const uint64_t hits = 50 * (uint64_t)rounds, doubles = 5 * (uint64_t)rounds;
  /* Few worlds may hold few hits: then more of them are looked at. */
  for (int round = 0; round < rounds || hits_seen <= hits || doubles_seen <= doubles || starts_seen == 0; round++) {
    assert_true(round < rounds + 100);
    make_objects(&state, &w);
    make_lines(&state, &w);
    check_world(&w);
    for (int i = 0; i < OBJECTS; i++) graze_mesh_destroy(w.meshes[i]);
  }
}

/* The same worlds at the ends of the range, where no hierarchy can be used: all times stay what they were. */
static void test_scales(void **unused) {
  (void)unused;
  uint64_t state = test_seed(4200);
  static world w;
  for (int round = 0; round < test_rounds(4, 200); round++) {
    const int scales[] = {-1000, -400, -70, 70, 400, 900};
    const double scale = ldexp(1, scales[round % 6]);
    make_objects(&state, &w);
    for (int i = 0; i < OBJECTS; i++) {
      graze_mesh_destroy(w.meshes[i]);
      for (uint32_t k = 0; k < 9 * w.counts[i]; k++) w.corners[i][k] *= scale;
      w.poses[i] = i % 2 == 0 ? graze_pose_identity() : w.poses[i];
      for (int k = 0; k < 3; k++) w.poses[i].m[4 * k + 3] *= scale;
      oracle_pose_corners(&w.poses[i], w.corners[i], w.counts[i], w.posed[i]);
      w.meshes[i] = test_mesh(context, w.corners[i], w.counts[i], GRAZE_VOLUMES_ORIENTED);
    }
    make_lines(&state, &w);
    if (w.directed && scale > 1) {
      for (int k = 0; k < 3 * LINES; k++) w.to[k] *= 0x1p-300;
    }
    check_world(&w);
    for (int i = 0; i < OBJECTS; i++) graze_mesh_destroy(w.meshes[i]);
  }
}

/* Many objects, of which a ray passes few: a grid of unit triangles, seen from far away. */
static void test_many_objects(void **unused) {
  (void)unused;
  enum { SIDE = 40 };
  static const double corners[9] = {0, 0, 0, 0.75, 0, 0, 0, 0.75, 0};
  const graze_mesh *meshes[SIDE * SIDE];
  graze_pose poses[SIDE * SIDE];
  double from[3 * SIDE * SIDE], way[3 * SIDE * SIDE];
  graze_target_hit hits[SIDE * SIDE];
  graze_targets *targets = NULL;
  graze_mesh *mesh = test_mesh(context, corners, 1, GRAZE_VOLUMES_ORIENTED);
  for (int i = 0; i < SIDE * SIDE; i++) {
    meshes[i] = mesh;
    poses[i] = test_translation(i % SIDE, i / SIDE, (i * 7) % 11);
    const double start[3] = {i % SIDE + 0.125, i / SIDE + 0.125, 4096}, down[3] = {0, 0, -2};
    memcpy(from + 3 * i, start, sizeof start);
    memcpy(way + 3 * i, down, sizeof down);
  }
  const graze_rays rays = {.count = SIDE * SIDE, .from = from, .way = way};
  assert_int_equal(graze_targets_create(context, SIDE * SIDE, meshes, poses, &targets), GRAZE_OK);
  assert_int_equal(graze_rays_first(context, targets, &rays, hits), GRAZE_OK);
  for (int i = 0; i < SIDE * SIDE; i++) {
    const double t = (4096 - (i * 7) % 11) / 2.0;
    assert_true(hits[i].earliest == t && hits[i].latest == t);
    assert_int_equal(hits[i].object, i);
  }
  graze_targets_destroy(targets);
  graze_mesh_destroy(mesh);
}

static void test_errors(void **unused) {
  (void)unused;
  static const double corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  graze_mesh *mesh = test_mesh(context, corners, 1, GRAZE_VOLUMES_ORIENTED);
  const graze_mesh *meshes[2] = {mesh, mesh};
  graze_pose poses[2] = {graze_pose_identity(), graze_pose_identity()};
  graze_targets *targets = (graze_targets *)1;
  double from[6] = {0, 0, 1, 0, 0, 1}, to[6] = {0, 0, -1, 0, 0, -1}, most[2] = {1, 1};
  graze_target_hit hits[2];
  graze_rays rays = {.count = 2, .from = from, .to = to, .most = most};
  poses[1].m[5] = (double)NAN;
  assert_int_equal(graze_targets_create(context, 2, meshes, poses, &targets), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(graze_last_error(context)->message, "mesh 1"));
  assert_int_equal(graze_targets_create(context, 1, (const graze_mesh *[]){NULL}, NULL, &targets),
                   GRAZE_ERROR_ARGUMENT);
  assert_ptr_equal(targets, (graze_targets *)1);
  assert_int_equal(graze_targets_create(context, 2, meshes, NULL, &targets), GRAZE_OK);
  assert_int_equal(graze_rays_first(context, targets, &rays, hits), GRAZE_OK);
  assert_true(hits[1].earliest == 0.5 && hits[1].latest == 0.5 && hits[1].object == 0);
  most[1] = (double)NAN;
  assert_int_equal(graze_rays_first(context, targets, &rays, hits), GRAZE_ERROR_ARGUMENT);
  assert_non_null(strstr(graze_last_error(context)->message, "ray 1"));
  most[1] = 1;
  to[4] = (double)INFINITY;
  assert_int_equal(graze_rays_first(context, targets, &rays, hits), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(graze_last_error(context)->message, "ray 1"));
  rays.way = to;
  assert_int_equal(graze_rays_first(context, targets, &rays, hits), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_rays_first(NULL, targets, &rays, hits), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_rays_all(context, targets, &rays, NULL), GRAZE_ERROR_ARGUMENT);
  rays = (graze_rays){.count = 0};
  assert_int_equal(graze_rays_first(context, targets, &rays, NULL), GRAZE_OK);
  graze_targets_destroy(targets);
  assert_int_equal(graze_targets_create(context, 0, NULL, NULL, &targets), GRAZE_OK);
  rays = (graze_rays){.count = 1, .from = from, .way = from};
  assert_int_equal(graze_rays_first(context, targets, &rays, hits), GRAZE_OK);
  assert_int_equal(hits[0].object, GRAZE_NO_TARGET);
  graze_targets_destroy(targets);
  graze_mesh_destroy(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lines),
      cmocka_unit_test(test_scales),
      cmocka_unit_test(test_many_objects),
      cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
