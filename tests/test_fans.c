/* The proofs of fans (src/narrow/fans.h): a proved vertex has no two triangles that meet in more than they share, every
 * instruction set proves the same vertices, and the proofs do happen. Looks behind the public headers, so it needs the
 * static library. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "families.h"
#include "narrow/fans.h"
#include "support.h"

enum { most_triangles = 64, most_vertices = 40 };

/* A mesh of few vertices. */
typedef struct tent {
  double vertices[3 * most_vertices];
  uint32_t indices[3 * most_triangles], vertex_count, triangle_count;
} tent;

static graze_mesh *bake(graze_context *context, const tent *t, bool as_float) {
  float floats[3 * most_vertices];
  for (uint32_t i = 0; i < 3 * t->vertex_count; i++) floats[i] = (float)t->vertices[i];
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh *mesh = NULL;
  def.vertices = as_float ? (const void *)floats : t->vertices;
  def.precision = as_float ? GRAZE_FLOAT : GRAZE_DOUBLE;
  def.vertex_count = t->vertex_count;
  def.indices = t->indices;
  def.triangle_count = t->triangle_count;
  assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_OK);
  return mesh;
}

static void add_triangle(tent *t, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t *to = t->indices + 3 * t->triangle_count++;
  to[0] = a;
  to[1] = b;
  to[2] = c;
}

/* Two fans of `ring` triangles over one ring of corners 2, 3, ..., around the vertices 0 above and 1 below. The ring
 * goes `turns` times around. */
static tent make_tent(uint64_t *state, uint32_t ring, int turns, int up) {
  tent t = {.vertex_count = ring + 2};
  for (uint32_t v = 0; v < ring + 2; v++) {
    double *p = t.vertices + 3 * v;
    double angle = 6.283185307179586 * turns * (v + 0.3 * random_unit(state)) / ring, r = 1 + random_unit(state);
    p[up] = v == 0 ? 1.5 : v == 1 ? -1.5 : random_signed(state);
    p[(up + 1) % 3] = v < 2 ? 0 : r * cos(angle);
    p[(up + 2) % 3] = v < 2 ? 0 : r * sin(angle);
  }
  for (uint32_t k = 0; k < ring; k++) {
    uint32_t a = 2 + k, b = 2 + (k + 1) % ring;
    add_triangle(&t, 0, a, b);
    add_triangle(&t, b, a, 1);
  }
  return t;
}

/* The judgement of one kernel on all vertices, in two slices that meet at vertex `cut`. */
static void judge(fan_judge_function *kernel, const graze_mesh *mesh, uint32_t cut, uint8_t *proved) {
  uint32_t seen[most_vertices];
  fan_ring rings[most_vertices];
  memset(rings, 0xee, sizeof rings);
  fan_slice lower = {mesh, 0, cut, seen, rings, proved}, upper = lower;
  upper.first = cut;
  upper.end = (uint32_t)mesh->header->vertex_count;
  kernel(&upper);
  kernel(&lower);
}

static void judge_every_way(const graze_mesh *mesh, uint8_t *proved) {
  uint8_t other[most_vertices];
  size_t n = mesh->header->vertex_count;
  judge(gz_fan_judge_scalar, mesh, 0, proved);
  judge(gz_fan_judge_scalar, mesh, (uint32_t)n / 2, other);
  assert_memory_equal(proved, other, n);
#if defined(__x86_64__)
  if (gz_cpu_best() >= CPU_AVX2) {
    judge(gz_fan_judge_avx2, mesh, 0, other);
    assert_memory_equal(proved, other, n);
  }
  if (gz_cpu_best() >= CPU_AVX512) {
    judge(gz_fan_judge_avx512, mesh, (uint32_t)n / 2, other);
    assert_memory_equal(proved, other, n);
  }
#endif
}

static bool has_corner(const graze_mesh *mesh, uint32_t triangle, uint32_t vertex) {
  const uint32_t *v = mesh->triangles + 3 * triangle;
  return v[0] == vertex || v[1] == vertex || v[2] == vertex;
}

static int shared_positions(const double *a, const double *b) {
  int shared = 0;
  for (int i = 0; i < 9; i += 3) {
    for (int j = 0; j < 9; j += 3) shared += a[i] == b[j] && a[i + 1] == b[j + 1] && a[i + 2] == b[j + 2];
  }
  return shared;
}

/* No two triangles of the vertex may meet in more than a shared corner or edge. */
static void check_fan(const graze_mesh *mesh, uint32_t vertex) {
  for (uint32_t x = 0; x < mesh->triangle_count; x++) {
    for (uint32_t y = x + 1; y < mesh->triangle_count; y++) {
      if (!has_corner(mesh, x, vertex) || !has_corner(mesh, y, vertex)) continue;
      double a[9], b[9];
      graze_tritri r;
      mesh_corners(mesh, x, a);
      mesh_corners(mesh, y, b);
      assert_int_equal(graze_tritri_test(a, b, &r), GRAZE_OK);
      int shared = shared_positions(a, b);
      assert_int_equal(r.degenerate, 0);
      assert_true((shared == 1 && r.kind == GRAZE_KIND_POINT) || (shared == 2 && r.kind == GRAZE_KIND_SEGMENT));
    }
  }
}

static void check_proofs(const graze_mesh *mesh, uint8_t *proved) {
  judge_every_way(mesh, proved);
  for (uint32_t v = 0; v < mesh->header->vertex_count; v++) {
    if (proved[v]) check_fan(mesh, v);
  }
}

static void check_tent(graze_context *context, const tent *t, uint8_t *proved) {
  for (int as_float = 0; as_float < 2; as_float++) {
    graze_mesh *mesh = bake(context, t, as_float);
    check_proofs(mesh, proved);
    graze_mesh_destroy(mesh);
  }
}

/* Fans that go around once are proved, up to eight triangles of them; those that go around twice never. */
static void test_turns(void **unused) {
  (void)unused;
  graze_context *context = test_context(1, NULL);
  uint64_t state = 1;
  uint8_t proved[most_vertices];
  for (int i = 0; i < 300; i++) {
    uint32_t ring = 5 + random_below(&state, 12);
    int turns = ring >= 9 || i % 2 ? 1 + (int)random_below(&state, 2) : 1;
    tent t = make_tent(&state, ring, turns, i % 3);
    check_tent(context, &t, proved);
    assert_int_equal(proved[0], turns == 1 && ring <= FAN_ROOM);
    assert_int_equal(proved[1], proved[0]);
  }
  graze_context_destroy(context);
}

/* Faults that break the proof: a triangle left out, turned over, or there twice; and a corner that is not level with
 * the axes but on them. */
static void test_faults(void **unused) {
  (void)unused;
  graze_context *context = test_context(1, NULL);
  uint64_t state = 2;
  uint8_t proved[most_vertices];
  for (int i = 0; i < 300; i++) {
    tent t = make_tent(&state, 4 + random_below(&state, 4), 1, i % 3);
    uint32_t at = random_below(&state, t.triangle_count), *v = t.indices + 3 * at, a = v[0];
    uint32_t apex = v[0] == 0 ? 0 : 1;
    if (i % 4 == 0) {
      v[0] = v[1];
      v[1] = a;
    } else if (i % 4 == 1) {
      memcpy(v, t.indices + 3 * --t.triangle_count, 3 * sizeof *v);
      check_tent(context, &t, proved);
      assert_false(proved[apex]);
      continue;
    } else if (i % 4 == 2) {
      add_triangle(&t, v[0], v[1], v[2]);
    } else {
      v[1] = v[0];
    }
    check_tent(context, &t, proved);
    assert_false(proved[apex]);
  }
  graze_context_destroy(context);
}

/* Corners on a small lattice: rings that fold back, touch themselves, lie flat or pass through the vertex. */
static void test_lattice(void **unused) {
  (void)unused;
  graze_context *context = test_context(1, NULL);
  uint64_t state = 3;
  uint8_t proved[most_vertices];
  int proofs = 0;
  const int rounds = test_rounds(2000, 100000);
  for (int i = 0; i < rounds; i++) {
    uint32_t ring = 3 + random_below(&state, 6), side = 2 + random_below(&state, 4);
    tent t = make_tent(&state, ring, 1, 2);
    for (uint32_t k = 0; k < 3 * t.vertex_count; k++) {
      if (i % 2 == 0 || random_below(&state, 8) == 0) t.vertices[k] = random_below(&state, side);
    }
    check_tent(context, &t, proved);
    for (uint32_t v = 0; v < t.vertex_count; v++) proofs += proved[v];
  }
  assert_true(proofs > rounds / 4);
  graze_context_destroy(context);
}

/* Names: on a closed surface two triangles have one in common exactly when they share a proved vertex; every kernel
 * agrees. */
static void test_names(void **unused) {
  (void)unused;
  uint64_t state = 4;
  graze_context *context = test_context(1, NULL);
  tent t = make_tent(&state, 8, 1, 0);
  graze_mesh *mesh = bake(context, &t, true);
  uint8_t proved[most_vertices];
  buffer memory = {NULL, 0};
  const corner_names *names;
  judge_every_way(mesh, proved);
  assert_true(gz_fans_find(context, mesh, &memory, &names));
  assert_non_null(names);
  for (uint32_t p = 0; p < mesh->node_count; p++) {
    for (uint32_t q = 0; q < mesh->node_count; q++) {
      const bvh_node *a = &mesh->nodes[p], *b = &mesh->nodes[q];
      if (!a->bottom || !b->bottom) continue;
      uint64_t want = 0, in_use = 0;
      for (int bit = 0; bit < 64; bit++) {
        int i = bit & 7, j = bit >> 3;
        if (i >= a->count || j >= b->count || (p == q && i >= j)) continue;
        in_use |= (uint64_t)1 << bit;
        for (uint32_t v = 0; v < t.vertex_count; v++) {
          bool both = has_corner(mesh, a->child[i], v) && has_corner(mesh, b->child[j], v);
          if (proved[v] && both) want |= (uint64_t)1 << bit;
        }
      }
      assert_true(gz_fan_share_scalar(&names[p], &names[q], in_use) == want);
      assert_true(gz_fan_share_best()(&names[p], &names[q], in_use) == want);
    }
  }
  gz_buffer_release(context, &memory);
  graze_mesh_destroy(mesh);
  graze_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_turns), cmocka_unit_test(test_faults),
                                     cmocka_unit_test(test_lattice), cmocka_unit_test(test_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
