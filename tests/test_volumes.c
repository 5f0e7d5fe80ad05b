/* The promises of the volume hierarchy (src/mesh/mesh.h), checked on every node of many meshes: boxes bound what they
 * say they bound, frames are orthonormal, every triangle stands below exactly one place. A wrong bound shows in queries
 * only by rare luck, for margins elsewhere hide it. Looks behind the public headers, so it needs the static library. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "mesh/mesh.h"
#include "support.h"

enum { max_soup = 600 };

typedef struct visit {
  const graze_mesh *mesh;
  uint32_t seen[max_soup];
} visit;

/* Coordinates of a point in the node's frame; long double has 11 bits more than the doubles that go in. */
static void node_coordinates(const bvh_node *node, const double point[3], long double u[3]) {
  for (int i = 0; i < 3; i++) {
    u[i] = 0;
    for (int k = 0; k < 3; k++) u[i] += (long double)node->axis[3 * i + k] * ((long double)point[k] - node->origin[k]);
  }
}

static void check_frame(const bvh_node *node) {
  static const float identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  if (node->aligned) assert_memory_equal(node->axis, identity, sizeof identity);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      long double dot = 0;
      for (int k = 0; k < 3; k++) dot += (long double)node->axis[3 * i + k] * node->axis[3 * j + k];
      if (!(fabsl(dot - (i == j)) < 0x1p-20L)) fail_msg("axes %d and %d: product %Lg", i, j, dot);
    }
  }
}

/* Child `place` of the ancestor covers the triangle. */
static void check_cover(const visit *v, const bvh_node *node, uint32_t place, uint32_t triangle) {
  double corners[9];
  mesh_corners(v->mesh, triangle, corners);
  for (int c = 0; c < 3; c++) {
    long double u[3], far = 0;
    node_coordinates(node, corners + 3 * c, u);
    for (int k = 0; k < 3; k++) {
      far += u[k] * u[k];
      if (!(fabsl(u[k] - node->center[k][place]) <= node->half[k][place])) {
        fail_msg("triangle %u sticks out by %Lg of %g", triangle,
                 fabsl(u[k] - node->center[k][place]) - node->half[k][place], (double)node->half[k][place]);
      }
    }
    if (!(far <= (long double)node->reach * node->reach))
      fail_msg("reach %g, but %Lg", (double)node->reach, sqrtl(far));
  }
}

/* Checks the triangles below `child` of `node` against a place of an ancestor. */
static void cover_below(const visit *v, const bvh_node *ancestor, uint32_t place, const bvh_node *node,
                        uint32_t child) {
  if (node->bottom) {
    check_cover(v, ancestor, place, node->child[child]);
    return;
  }
  const bvh_node *below = v->mesh->nodes + node->child[child];
  for (uint32_t c = 0; c < below->count; c++) cover_below(v, ancestor, place, below, c);
}

static uint32_t check_node(visit *v, uint32_t index) {
  const bvh_node *node = v->mesh->nodes + index;
  uint32_t triangles = 0;
  assert_true(node->count >= 1 && node->count <= NODE_WIDTH);
  check_frame(node);
  for (uint32_t c = 0; c < NODE_WIDTH; c++) {
    if (c >= node->count) {
      for (int k = 0; k < 3; k++) assert_true(node->half[k][c] == -INFINITY && node->center[k][c] == 0);
      assert_int_equal(node->child[c], UINT32_MAX);
      continue;
    }
    cover_below(v, node, c, node, c);
    if (node->bottom) {
      assert_true(node->child[c] < v->mesh->triangle_count);
      v->seen[node->child[c]]++;
      triangles++;
    } else {
      assert_true(node->child[c] > index && node->child[c] < v->mesh->node_count);
      triangles += check_node(v, node->child[c]);
    }
  }
  assert_int_equal(node->triangles, triangles);
  return triangles;
}

static uint64_t nodes_seen;

static void check_tree(const graze_mesh *mesh) {
  visit v = {.mesh = mesh};
  if (mesh->node_count == 0) return;
  assert_int_equal(check_node(&v, 0), mesh->triangle_count);
  for (uint32_t t = 0; t < mesh->triangle_count; t++) assert_int_equal(v.seen[t], 1);
  nodes_seen += mesh->node_count;
}

static void check_corners(const double *corners, uint32_t count) {
  graze_context *context = test_context(1, NULL);
  double moved[9 * max_soup];
  uint64_t state = 1;
  for (int volumes = 0; volumes < 2; volumes++) {
    graze_mesh *mesh = test_mesh(context, corners, count, (graze_volumes)volumes);
    check_tree(mesh);
    for (uint32_t i = 0; i < 9 * count; i++) moved[i] = corners[i] * (1 + 0.1 * random_unit(&state));
    assert_int_equal(graze_mesh_refit(mesh, moved, 0), GRAZE_OK);
    check_tree(mesh);
    graze_mesh_destroy(mesh);
  }
  graze_context_destroy(context);
}

/* Triangles of size 2^-size spread over a unit cube, or over a line or plane, at any scale and offset. */
static void test_spread_specks(void **unused) {
  (void)unused;
  uint64_t state = 2;
  double corners[9 * max_soup];
  for (int i = 0; i < (test_long() ? 20000 : test_thinned() ? 100 : 400); i++) {
    uint32_t count = 1 + random_below(&state, i % 5 ? 40 : max_soup);
    int scale = (int)random_below(&state, 100) - 50, flat = i % 4;
    double shift = ldexp(random_signed(&state), scale + (int)random_below(&state, 9));
    for (uint32_t t = 0; t < count; t++) {
      double centre[3], size = ldexp(1, -(int)random_below(&state, 56));
      for (int k = 0; k < 3; k++) centre[k] = flat > 1 && k == 0 ? 0 : flat > 2 && k == 1 ? 0 : random_signed(&state);
      if (random_below(&state, 3) == 0) memset(centre, 0, sizeof centre);
      for (uint32_t k = 0; k < 9; k++) {
        double wobble = flat > 1 && k % 3 == 0 ? 0 : size * random_signed(&state);
        corners[9 * t + k] = ldexp(centre[k % 3] + wobble, scale) + shift;
      }
    }
    check_corners(corners, count);
  }
  assert_true(nodes_seen > (test_thinned() ? 2500 : 10000));
}

static void test_other_meshes(void **unused) {
  (void)unused;
  uint64_t state = 3;
  double corners[9 * max_soup] = {0};
  check_corners(corners, 0);
  check_corners(corners, soup_ball(8, 1, corners));
  check_corners(corners, soup_ball(8, 0x1p-57, corners));
  check_corners(corners, soup_ball(8, 0x1p57, corners));
  for (int i = 0; i < (test_thinned() ? 25 : 100); i++) {
    uint32_t count = 1 + random_below(&state, max_soup);
    soup_lattice(&state, count, 2 + random_below(&state, 30), corners);
    check_corners(corners, count);
    soup_cluttered(&state, count, ldexp(1, -(int)random_below(&state, 30)), corners);
    check_corners(corners, count);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_spread_specks),
      cmocka_unit_test(test_other_meshes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
