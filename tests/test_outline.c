/* Outlines of contacts: points on both surfaces, closed curves, borders of common areas, boxes, depth; the same from
 * any number of threads and instruction set. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "support.h"

enum { LEVEL = 6, BALL = 8 * LEVEL * LEVEL };

typedef struct bench {
  graze_context *context;
  graze_query *query;
  graze_query *outlines;
  uint64_t state;
} bench;

static bench bench_open(uint64_t seed) {
  bench b = {.context = test_context(1, NULL), .state = seed};
  assert_int_equal(graze_query_create(b.context, &b.query), GRAZE_OK);
  assert_int_equal(graze_query_create(b.context, &b.outlines), GRAZE_OK);
  return b;
}

static void bench_close(bench *b) {
  graze_query_destroy(b->query);
  graze_query_destroy(b->outlines);
  graze_context_destroy(b->context);
}

static graze_outline outline_of(const bench *b, const graze_mesh *m, const graze_pose *p, const graze_mesh *n,
                                const graze_pose *q, graze_relation want) {
  graze_relate_result got;
  graze_outline out;
  assert_int_equal(graze_relate_meshes(b->query, m, p, n, q, NULL, &got), GRAZE_OK);
  assert_string_equal(graze_relation_string(got.verdict.relation), graze_relation_string(want));
  assert_int_equal(graze_outline_contact(b->outlines, m, p, n, q, got.pairs, got.counts.triangle_pairs, &out),
                   GRAZE_OK);
  return out;
}

static graze_mesh *block(const bench *b, double x0, double y0, double z0, double x1, double y1, double z1) {
  double corners[108];
  soup_box((const double[3]){x0, y0, z0}, (const double[3]){x1, y1, z1}, corners);
  return test_mesh(b->context, corners, 12, GRAZE_VOLUMES_ORIENTED);
}

/* ---- measures ---- */

static double dot(const double u[3], const double v[3]) {
  return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

static void subtract(const double p[3], const double q[3], double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = p[k] - q[k];
}

static double to_segment(const double p[3], const double a[3], const double b[3]) {
  double along[3], to[3];
  subtract(b, a, along);
  subtract(p, a, to);
  double t = fmin(1, fmax(0, dot(along, to) / dot(along, along)));
  for (int k = 0; k < 3; k++) to[k] -= t * along[k];
  return sqrt(dot(to, to));
}

/* Distance from a point to a triangle: its plane where the foot lies inside, else its sides. */
static double to_triangle(const double p[3], const double c[9]) {
  double u[3], v[3], n[3], to[3];
  subtract(c + 3, c, u);
  subtract(c + 6, c, v);
  subtract(p, c, to);
  for (int k = 0; k < 3; k++) n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
  double uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), d = uu * vv - uv * uv;
  double s = (vv * dot(to, u) - uv * dot(to, v)) / d, t = (uu * dot(to, v) - uv * dot(to, u)) / d;
  if (s >= 0 && t >= 0 && s + t <= 1) return fabs(dot(to, n)) / sqrt(dot(n, n));
  return fmin(to_segment(p, c, c + 3), fmin(to_segment(p, c + 3, c + 6), to_segment(p, c + 6, c)));
}

static double to_surface(const double p[3], const graze_mesh *mesh, const graze_pose *pose) {
  graze_mesh_facts facts;
  graze_mesh_get_facts(mesh, &facts);
  double least = INFINITY;
  for (uint32_t t = 0; t < facts.triangles; t++) {
    double c[9], posed[9];
    graze_mesh_get_triangle(mesh, t, c);
    for (int k = 0; k < 9; k += 3) graze_pose_apply(pose, c + k, posed + k);
    least = fmin(least, to_triangle(p, posed));
  }
  return least;
}

static double size_of(const graze_box *box) {
  double size = 0;
  for (int k = 0; k < 3; k++) size = fmax(size, box->max[k] - box->min[k]);
  return size;
}

static bool closed_curve(const graze_outline *o, uint32_t k) {
  return memcmp(o->points[o->starts[k]], o->points[o->starts[k + 1] - 1], 3 * sizeof(double)) == 0;
}

static double length_of(const graze_outline *o) {
  double sum = 0;
  for (uint32_t k = 0; k < o->count; k++) {
    for (uint32_t i = o->starts[k]; i + 1 < o->starts[k + 1]; i++) {
      double d[3];
      subtract(o->points[i], o->points[i + 1], d);
      sum += sqrt(dot(d, d));
    }
  }
  return sum;
}

/* Both ends of two pieces within a hair of each other, either way round. */
static void assert_nothing_twice(const graze_outline *o) {
  double hair = size_of(&o->box) * 0x1p-36;
  uint32_t count = o->count > 0 ? o->starts[o->count] : 0;
  bool *last = calloc(count + 1, sizeof *last);
  assert_non_null(last);
  for (uint32_t k = 0; k < o->count; k++) last[o->starts[k + 1] - 1] = true;
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t j = 0; j < i; j++) {
      if (last[i] || last[j]) continue;
      double d[4] = {0, 0, 0, 0};
      for (int k = 0; k < 3; k++) {
        d[0] = fmax(d[0], fabs(o->points[i][k] - o->points[j][k]));
        d[1] = fmax(d[1], fabs(o->points[i + 1][k] - o->points[j + 1][k]));
        d[2] = fmax(d[2], fabs(o->points[i][k] - o->points[j + 1][k]));
        d[3] = fmax(d[3], fabs(o->points[i + 1][k] - o->points[j][k]));
      }
      assert_false((d[0] <= hair && d[1] <= hair) || (d[2] <= hair && d[3] <= hair));
    }
  }
  free(last);
}

static void assert_within(const graze_outline *o) {
  double hair = size_of(&o->box) * 0x1p-40;
  for (uint32_t i = 0; o->count > 0 && i < o->starts[o->count]; i++) {
    for (int k = 0; k < 3; k++) {
      assert_true(o->points[i][k] >= o->box.min[k] - hair && o->points[i][k] <= o->box.max[k] + hair);
    }
  }
}

static graze_box posed_box(const graze_mesh *mesh, const graze_pose *pose) {
  graze_mesh_facts facts;
  graze_mesh_get_facts(mesh, &facts);
  graze_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (uint32_t t = 0; t < facts.triangles; t++) {
    double c[9], p[3];
    graze_mesh_get_triangle(mesh, t, c);
    for (int i = 0; i < 9; i++) {
      if (i % 3 == 0) graze_pose_apply(pose, c + i, p);
      box.min[i % 3] = fmin(box.min[i % 3], p[i % 3]);
      box.max[i % 3] = fmax(box.max[i % 3], p[i % 3]);
    }
  }
  return box;
}

/* Moved by the depth along some axis, one way or the other, the boxes overlap no longer. */
static void assert_depth_parts(const graze_outline *o, const graze_box *a, const graze_box *b) {
  bool parts = false;
  for (int k = 0; k < 3; k++) {
    parts |= b->min[k] + o->depth >= a->max[k] || b->max[k] - o->depth <= a->min[k];
  }
  assert_true(parts && o->depth >= 0);
}

/* ---- curves ---- */

/* Two balls that cross in general position: every curve comes back to its beginning. */
static void test_crossing_balls(void **unused) {
  (void)unused;
  static double corners[9 * BALL];
  bench b = bench_open(41);
  uint32_t count = soup_ball(LEVEL, 1, corners);
  graze_mesh *ball = test_mesh(b.context, corners, count, GRAZE_VOLUMES_ORIENTED);
  double worst = 0;
  uint64_t curves = 0;
  for (int i = 0; i < (test_long() ? 2000 : 60); i++) {
    graze_pose p = test_random_pose(&b.state, 100), q = test_random_pose(&b.state, 0);
    for (int k = 0; k < 3; k++) q.m[4 * k + 3] = p.m[4 * k + 3] + 0.9 * random_signed(&b.state);
    graze_outline o = outline_of(&b, ball, &p, ball, &q, GRAZE_CROSS);
    assert_true(o.count > 0);
    double size = size_of(&o.box);
    for (uint32_t k = 0; k < o.count; k++) assert_true(closed_curve(&o, k));
    for (uint32_t j = 0; j < o.starts[o.count]; j++) {
      /* What the points round to: 2^-40 of the place, and the last bits of coordinates of about a hundred. */
      double off = fmax(to_surface(o.points[j], ball, &p), to_surface(o.points[j], ball, &q));
      worst = fmax(worst, off / size);
      assert_true(off <= size * 0x1p-40 + 0x1p-44);
    }
    graze_box box_a = posed_box(ball, &p), box_b = posed_box(ball, &q);
    assert_nothing_twice(&o);
    assert_within(&o);
    assert_depth_parts(&o, &box_a, &box_b);
    curves += o.count;
  }
  print_message("%llu curves; a point is at most %g of the place off a surface\n", (unsigned long long)curves, worst);
  graze_mesh_destroy(ball);
  bench_close(&b);
}

/* Contacts of blocks, whose curves are known. */
typedef struct known {
  double low[3], high[3]; /* of the second block; the first is 0 .. 4 */
  graze_relation relation;
  double length;
  uint32_t count;
  graze_box box;
  double depth;
} known;

static void test_blocks(void **unused) {
  (void)unused;
  static const known cases[] = {
      /* through a corner: a bent hexagon */
      {{2, 2, 2}, {6, 6, 6}, GRAZE_CROSS, 12, 1, {{2, 2, 2}, {4, 4, 4}}, 2},
      /* areas in common: their border only, whatever triangles they are made of */
      {{4, 1, 1}, {6, 3, 3}, GRAZE_TOUCH, 8, 1, {{4, 1, 1}, {4, 3, 3}}, 0},
      {{4, 0, 0}, {6, 4, 4}, GRAZE_TOUCH, 16, 1, {{4, 0, 0}, {4, 4, 4}}, 0},
      {{4, 2, 2}, {6, 6, 6}, GRAZE_TOUCH, 8, 1, {{4, 2, 2}, {4, 4, 4}}, 0},
      /* an edge: one open curve; a corner: none */
      {{4, 4, 1}, {6, 6, 3}, GRAZE_TOUCH, 2, 1, {{4, 4, 1}, {4, 4, 3}}, 0},
      {{4, 4, 4}, {6, 6, 6}, GRAZE_TOUCH, 0, 0, {{4, 4, 4}, {4, 4, 4}}, 0},
      /* inside: nothing meets, and the box is that of the inner block */
      {{1, 1, 1}, {2, 2, 3}, GRAZE_B_IN_A, 0, 0, {{1, 1, 1}, {2, 2, 3}}, 2},
      {{-1, -1, -1}, {5, 5, 5}, GRAZE_A_IN_B, 0, 0, {{0, 0, 0}, {4, 4, 4}}, 5},
      /* through and through: a ring at either side */
      {{1, 1, -1}, {3, 3, 5}, GRAZE_CROSS, 16, 2, {{1, 1, 0}, {3, 3, 4}}, 3},
  };
  bench b = bench_open(42);
  const graze_pose here = graze_pose_identity();
  graze_mesh *first = block(&b, 0, 0, 0, 4, 4, 4);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const known *c = &cases[i];
    graze_mesh *second = block(&b, c->low[0], c->low[1], c->low[2], c->high[0], c->high[1], c->high[2]);
    graze_outline o = outline_of(&b, first, NULL, second, NULL, c->relation);
    graze_box box_a = posed_box(first, &here), box_b = posed_box(second, &here);
    print_message("case %u: %u curves, length %g\n", (unsigned)i, o.count, length_of(&o));
    assert_int_equal(o.count, c->count);
    assert_true(fabs(length_of(&o) - c->length) <= 1e-12);
    for (int k = 0; k < 3; k++) {
      assert_true(o.box.min[k] == c->box.min[k] && o.box.max[k] == c->box.max[k]);
      if (c->count == 0) assert_true(o.point[k] == 0.5 * (c->box.min[k] + c->box.max[k]));
    }
    assert_true(o.depth == c->depth);
    assert_nothing_twice(&o);
    assert_depth_parts(&o, &box_a, &box_b);
    /* The other way round it is the same curve. */
    graze_relation back = c->relation == GRAZE_A_IN_B   ? GRAZE_B_IN_A
                          : c->relation == GRAZE_B_IN_A ? GRAZE_A_IN_B
                                                        : c->relation;
    o = outline_of(&b, second, NULL, first, NULL, back);
    assert_int_equal(o.count, c->count);
    assert_true(fabs(length_of(&o) - c->length) <= 1e-12);
    graze_mesh_destroy(second);
  }
  graze_mesh_destroy(first);
  bench_close(&b);
}

/* Of the same solid twice every triangle is in common: there is no border. */
static void test_same_twice(void **unused) {
  (void)unused;
  bench b = bench_open(43);
  graze_mesh *m = block(&b, 0, 0, 0, 4, 4, 4), *n = block(&b, 0, 0, 0, 4, 4, 4);
  graze_outline o = outline_of(&b, m, NULL, n, NULL, GRAZE_DUPLICATE);
  assert_int_equal(o.count, 0);
  for (int k = 0; k < 3; k++) assert_true(o.box.min[k] == 0 && o.box.max[k] == 4 && o.point[k] == 2);
  graze_mesh_destroy(m);
  graze_mesh_destroy(n);
  bench_close(&b);
}

static void test_arguments(void **unused) {
  (void)unused;
  bench b = bench_open(44);
  graze_mesh *m = block(&b, 0, 0, 0, 4, 4, 4);
  graze_outline o;
  const graze_triangle_pair wrong = {.a = 0, .b = 12};
  assert_int_equal(graze_outline_contact(b.query, m, NULL, m, NULL, &wrong, 1, &o), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_outline_contact(b.query, m, NULL, m, NULL, NULL, 1, &o), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_outline_contact(b.query, m, NULL, m, NULL, NULL, 0, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_outline_contact(b.query, m, NULL, m, NULL, NULL, 0, &o), GRAZE_OK);
  assert_int_equal(o.count, 0);
  graze_mesh_destroy(m);
  bench_close(&b);
}

/* ---- scenes ---- */

static uint64_t mix_bytes(uint64_t hash, const void *data, size_t size) {
  const unsigned char *p = data;
  for (size_t i = 0; i < size; i++) hash = (hash ^ p[i]) * 0x100000001b3u;
  return hash;
}

/* Of every answer of a scene of balls and blocks with outlines, on so many threads. */
static uint64_t scene_digest(int threads) {
  static double corners[9 * BALL];
  graze_context *context = test_context(threads, NULL);
  graze_scene *scene = NULL;
  uint64_t state = 45, hash = 0xcbf29ce484222325u;
  double box[108];
  uint32_t count = soup_ball(LEVEL, 1, corners);
  soup_box((const double[3]){0, 0, 0}, (const double[3]){1, 1, 1}, box);
  graze_mesh *m[2] = {test_mesh(context, corners, count, GRAZE_VOLUMES_ORIENTED),
                      test_mesh(context, box, 12, GRAZE_VOLUMES_ORIENTED)};
  assert_int_equal(graze_scene_create(context, &scene), GRAZE_OK);
  for (uint64_t i = 0; i < 120; i++) {
    graze_object_def def = graze_default_object_def();
    graze_object_id id;
    def.mesh = m[i % 2];
    def.user_id = i;
    if (i % 2 == 0)
      def.pose = test_random_pose(&state, 3);
    else
      def.pose = test_translation(random_below(&state, 6), random_below(&state, 6), random_below(&state, 6));
    assert_int_equal(graze_scene_add(scene, &def, &id), GRAZE_OK);
  }
  graze_scene_check_options options = graze_default_scene_check_options();
  graze_scene_check_result result;
  options.outlines = true;
  assert_int_equal(graze_scene_check(scene, &options, &result), GRAZE_OK);
  assert_true(result.clashes > 300);
  for (uint64_t i = 0; i < result.pair_count; i++) {
    const graze_object_pair *p = &result.pairs[i];
    const graze_outline *o = &p->outline;
    const uint64_t head[4] = {p->user_id_a, p->user_id_b, (uint64_t)p->verdict.relation, o->count};
    hash = mix_bytes(hash, head, sizeof head);
    hash = mix_bytes(hash, &o->box, sizeof o->box);
    hash = mix_bytes(hash, o->point, sizeof o->point);
    hash = mix_bytes(hash, &o->depth, sizeof o->depth);
    hash = mix_bytes(hash, o->translation, sizeof o->translation);
    hash = mix_bytes(hash, o->starts, (o->count + 1) * sizeof *o->starts);
    hash = mix_bytes(hash, o->points, o->starts[o->count] * sizeof *o->points);
  }
  graze_scene_destroy(scene);
  graze_mesh_destroy(m[0]);
  graze_mesh_destroy(m[1]);
  graze_context_destroy(context);
  return hash;
}

static void test_scene_is_the_same(void **unused) {
  (void)unused;
  /* What it was once. This test runs with each instruction set. */
  const uint64_t once = 0x8bfaaeb0fae92011;
  const uint64_t digest = scene_digest(5);
  print_message("digest %016llx\n", (unsigned long long)digest);
  assert_true(digest == once);
  if (!test_thinned()) assert_true(scene_digest(1) == once && scene_digest(2) == once);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_crossing_balls),    cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_same_twice),        cmocka_unit_test(test_arguments),
      cmocka_unit_test(test_scene_is_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
