/* Convex hulls: against hulls by all triples of points, in integers; by proof, in planes and edges with exact signs;
 * clouds of every dimension, of the ends of the exponent range, with repeated points; and large ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convex.h"
#include "exact/orient.h"
#include "families.h"
#include "support.h"

__extension__ typedef __float128 quad;

static graze_hull *hull_of(uint64_t count, const double *points) {
  graze_hull *hull = NULL;
  assert_int_equal(graze_hull_create(shared_context(1), count, points, &hull), GRAZE_OK);
  return hull;
}

static const double *corner(const graze_hull *h, uint32_t face, uint32_t i) {
  uint32_t count = h->face_first[face + 1] - h->face_first[face];
  return h->points + 3 * (size_t)h->face_corners[h->face_first[face] + i % count];
}

/* ---- proof ------------------------------------------------------------------------------------------------------ */

/* Every edge is in two faces, once in each direction, and the other lists agree. */
static void check_edges(const graze_hull *h) {
  uint32_t *uses = calloc((size_t)h->edge_count + 1, sizeof *uses);
  for (uint32_t f = 0; f < h->face_count; f++) {
    for (uint32_t c = h->face_first[f]; c < h->face_first[f + 1]; c++) {
      uint32_t next = c + 1 < h->face_first[f + 1] ? c + 1 : h->face_first[f];
      uint32_t v = h->face_corners[c], w = h->face_corners[next];
      const graze_hull_edge *e = &h->edges[h->face_edges[c]];
      assert_true(v < h->vertex_count && h->face_edges[c] < h->edge_count && v != w);
      assert_true(e->vertices[0] == (v < w ? v : w) && e->vertices[1] == (v < w ? w : v));
      assert_int_equal(e->faces[v > w], f);
      uses[h->face_edges[c]]++;
    }
  }
  for (uint32_t e = 0; e < h->edge_count; e++) assert_int_equal(uses[e], h->dimension - 1);
  assert_int_equal(h->neighbor_first[h->vertex_count], 2 * h->edge_count);
  for (uint32_t v = 0; v < h->vertex_count; v++) {
    uint32_t degree = 0;
    for (uint32_t i = h->neighbor_first[v]; i < h->neighbor_first[v + 1]; i++) {
      bool found = false;
      for (uint32_t j = h->neighbor_first[h->neighbors[i]]; j < h->neighbor_first[h->neighbors[i] + 1]; j++)
        found |= h->neighbors[j] == v;
      assert_true(found);
      degree++;
    }
    assert_true(degree >= h->dimension);
  }
  free(uses);
}

/* The ball inside is behind all faces, and no corner outside the other, in numbers twice as long. */
static void check_balls(const graze_hull *h) {
  for (uint32_t t = 0; t < h->triangle_count && h->inner_radius > 0; t++) {
    quad n[3], u[3], v[3], value = 0, square = 0, radius = h->inner_radius;
    const double *p[3];
    for (int i = 0; i < 3; i++) p[i] = h->points + 3 * (size_t)h->triangles[3 * (size_t)t + (size_t)i];
    for (int k = 0; k < 3; k++) {
      u[k] = (quad)p[1][k] - p[0][k];
      v[k] = (quad)p[2][k] - p[0][k];
    }
    for (int k = 0; k < 3; k++) {
      n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
      value += n[k] * ((quad)p[0][k] - h->center[k]);
      square += n[k] * n[k];
    }
    assert_true(value > 0 && value * value >= radius * radius * square);
  }
  for (uint32_t i = 0; i < h->vertex_count; i++) {
    quad square = 0, radius = h->outer_radius;
    for (int k = 0; k < 3; k++) {
      const quad way = (quad)h->points[3 * (size_t)i + (size_t)k] - h->center[k];
      square += way * way;
    }
    assert_true(isinf(h->outer_radius) || square <= radius * radius);
  }
  assert_true(h->dimension == 3 || h->inner_radius == 0);
}

/* No corner of a face lies on a line with its neighbours, and the face turns left everywhere: in 3D, seen from outside,
 * with a point that is behind all faces but for rounding. */
static void check_face_turns(const graze_hull *h, uint32_t f, const double *inside) {
  uint32_t count = h->face_first[f + 1] - h->face_first[f];
  assert_true(count >= 3);
  for (uint32_t i = 0; i < count; i++) {
    const double *a = corner(h, f, i), *b = corner(h, f, i + 1), *c = corner(h, f, i + 2);
    assert_true(gz_orient3d(a, b, c, inside) < 0);
  }
}

/* All points of the cloud lie behind all faces, adjacent faces lie in different planes, the hull closes. */
static void check_solid(const graze_hull *h, uint64_t count, const double *points) {
  assert_int_equal(h->vertex_count + h->face_count, h->edge_count + 2);
  assert_int_equal(h->corner_count, 2 * h->edge_count);
  assert_int_equal(h->triangle_count, 2 * h->vertex_count - 4);
  for (uint32_t f = 0; f < h->face_count; f++) {
    const double *off = NULL;
    for (uint64_t p = 0; p < count; p++) {
      int side = gz_orient3d(corner(h, f, 0), corner(h, f, 1), corner(h, f, 2), points + 3 * p);
      assert_true(side <= 0);
      if (side < 0 && off == NULL) off = points + 3 * p;
    }
    assert_non_null(off);
    check_face_turns(h, f, off);
    for (uint32_t i = 3; i < h->face_first[f + 1] - h->face_first[f]; i++) {
      assert_int_equal(gz_orient3d(corner(h, f, 0), corner(h, f, 1), corner(h, f, 2), corner(h, f, i)), 0);
    }
  }
  for (uint32_t e = 0; e < h->edge_count; e++) {
    const uint32_t *faces = h->edges[e].faces;
    bool other_plane = false;
    for (uint32_t i = 0; i < h->face_first[faces[1] + 1] - h->face_first[faces[1]]; i++) {
      other_plane |= gz_orient3d(corner(h, faces[0], 0), corner(h, faces[0], 1), corner(h, faces[0], 2),
                                 corner(h, faces[1], i)) != 0;
    }
    assert_true(other_plane);
  }
}

/* A polygon: every point of the cloud is in its plane and to the left of each edge, seen from a point off the plane. */
static void check_flat(const graze_hull *h, uint64_t count, const double *points) {
  assert_int_equal(h->face_count, 1);
  assert_true(h->edge_count == h->vertex_count && h->corner_count == h->vertex_count);
  const double *a = corner(h, 0, 0), *b = corner(h, 0, 1), *c = corner(h, 0, 2);
  int axis = 0;
  while (gz_orient2d(axis, a, b, c) == 0) axis++;
  int turn = gz_orient2d(axis, a, b, c);
  for (uint64_t p = 0; p < count; p++) {
    assert_int_equal(gz_orient3d(a, b, c, points + 3 * p), 0);
    for (uint32_t i = 0; i < h->corner_count; i++)
      assert_true(gz_orient2d(axis, corner(h, 0, i), corner(h, 0, i + 1), points + 3 * p) * turn >= 0);
  }
  for (uint32_t i = 0; i < h->corner_count; i++)
    assert_true(gz_orient2d(axis, corner(h, 0, i), corner(h, 0, i + 1), corner(h, 0, i + 2)) == turn);
  assert_true(h->face_corners[0] == 0 && h->face_corners[1] < h->face_corners[h->corner_count - 1]);
}

static void check_vertices(const graze_hull *h, uint64_t count, const double *points) {
  for (uint32_t v = 0; v < h->vertex_count; v++) {
    assert_true(h->vertices[v] < count && (v == 0 || h->vertices[v - 1] < h->vertices[v]));
    assert_memory_equal(h->points + 3 * (size_t)v, points + 3 * (size_t)h->vertices[v], 3 * sizeof(double));
    for (uint32_t p = 0; p < h->vertices[v] && count < 1000; p++) {
      const double *q = points + 3 * (size_t)p, *own = h->points + 3 * (size_t)v;
      assert_false(q[0] == own[0] && q[1] == own[1] && q[2] == own[2]);
    }
  }
}

static void check_hull(const graze_hull *h, uint64_t count, const double *points) {
  check_vertices(h, count, points);
  check_edges(h);
  check_balls(h);
  if (h->dimension == 3) check_solid(h, count, points);
  if (h->dimension == 2) check_flat(h, count, points);
  if (h->dimension < 2) assert_true(h->vertex_count == h->dimension + 1 && h->edge_count == h->dimension);
}

/* ---- against all triples ---------------------------------------------------------------------------------------- */

/* Small lattices give every kind of coincidence: repeated points, many on a line, many in a plane. */
static void make_lattice(uint64_t *state, convex *c, double *points) {
  static const uint32_t sides[] = {2, 3, 3, 4, 6, 1000};
  uint32_t side[3];
  for (int k = 0; k < 3; k++) side[k] = random_below(state, 8) == 0 ? 1 : sides[random_below(state, 6)];
  c->count = 1 + (int)random_below(state, CONVEX_POINTS);
  for (int p = 0; p < c->count; p++) {
    for (int k = 0; k < 3; k++) {
      c->at[p][k] = random_below(state, side[k]);
      points[3 * p + k] = (double)c->at[p][k];
    }
  }
  if (random_below(state, 6) != 0) return;
  for (int p = 0; p < c->count; p++) { /* into a plane that is not that of two axes */
    c->at[p][2] = 2 * c->at[p][0] - 3 * c->at[p][1];
    points[3 * p + 2] = (double)c->at[p][2];
  }
}

/* The faces that the oracle found, as sets of places of the lattice, must be those of the hull. */
static void compare_faces(const convex *c, const graze_hull *h) {
  assert_int_equal(c->face_count, h->face_count);
  for (int f = 0; f < c->face_count; f++) {
    bool found = false;
    for (uint32_t g = 0; g < h->face_count; g++) {
      bool same = true;
      for (uint32_t i = h->face_first[g]; i < h->face_first[g + 1]; i++)
        same &= (c->face[f].points >> h->vertices[h->face_corners[i]] & 1) != 0;
      found |= same;
    }
    assert_true(found);
  }
}

/* A point is extreme if no other one of the faces' points stands in for it: it lies in three faces at least. */
static void compare_vertices(const convex *c, const graze_hull *h) {
  uint32_t extreme = 0;
  for (int p = 0; p < c->count; p++) {
    int faces = 0;
    bool first = true;
    for (int f = 0; f < c->face_count; f++) faces += (c->face[f].points >> p & 1) != 0;
    for (int q = 0; q < p; q++) first &= memcmp(c->at[p], c->at[q], sizeof c->at[p]) != 0;
    bool is_vertex = faces >= 3 && first;
    for (uint32_t v = 0; is_vertex && v < h->vertex_count; v++) extreme += h->vertices[v] == (uint32_t)p;
    if (is_vertex) assert_true(extreme > 0);
    for (uint32_t v = 0; !is_vertex && v < h->vertex_count; v++) assert_int_not_equal(h->vertices[v], p);
  }
  assert_int_equal(extreme, h->vertex_count);
}

static void test_lattices(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1), dimensions[4] = {0};
  for (int round = 0; round < test_rounds(10000, 1000000); round++) {
    convex c;
    double points[3 * CONVEX_POINTS];
    make_lattice(&state, &c, points);
    graze_hull *h = hull_of((uint64_t)c.count, points);
    check_hull(h, (uint64_t)c.count, points);
    assert_int_equal(h->dimension == 3, convex_make(&c));
    if (h->dimension == 3) {
      compare_faces(&c, h);
      compare_vertices(&c, h);
    }
    dimensions[h->dimension]++;
    graze_hull_destroy(h);
  }
  for (int d = 0; d < 4; d++) assert_true(dimensions[d] > 0);
}

/* ---- proved ----------------------------------------------------------------------------------------------------- */

static void fill_cloud(uint64_t *state, int kind, uint32_t count, double *points) {
  double thin = ldexp(1, -(int)random_below(state, 60));
  int power = kind == 4 ? (int)random_below(state, 1900) - 1000 : 0;
  for (uint32_t p = 0; p < count; p++) {
    double *x = points + 3 * (size_t)p, square = 0;
    for (int k = 0; k < 3; k++) {
      x[k] = random_signed(state);
      square += x[k] * x[k];
    }
    for (int k = 0; k < 3; k++) {
      if (kind == 1 || kind == 4) x[k] /= sqrt(square);             /* on a ball */
      if (kind == 2) x[k] = floor(4 * x[k]) + 1e6;                  /* a lattice far off */
      if (kind == 3) x[k] = 0.1 * floor(6 * x[k]) + 0.3;            /* tenths, which are nearly in planes */
      if (kind == 4) x[k] = ldexp(x[k], power);                     /* the ends of the range */
      if (kind == 5 && k == 2) x[k] = x[0] + x[1] + thin * x[2];    /* a sheet, up to rounding */
      if (kind == 6) x[k] = k == 0 ? x[0] : x[0] / 3 + thin * x[k]; /* a needle */
    }
  }
}

static void test_clouds_are_proved(void **unused) {
  (void)unused;
  uint64_t state = test_seed(2);
  double points[3 * 160];
  for (int round = 0; round < test_rounds(700, 50000); round++) {
    uint32_t count = 4 + random_below(&state, round % 8 == 0 ? 150 : 40);
    fill_cloud(&state, round % 7, count, points);
    graze_hull *h = hull_of(count, points);
    check_hull(h, count, points);
    graze_hull_destroy(h);
  }
}

/* The hull of 20,000 points, by planes against all of them and by Euler. */
static void test_large(void **unused) {
  (void)unused;
  uint32_t count = test_long() ? 200000 : 20000;
  double *points = malloc(3 * (size_t)count * sizeof *points);
  uint64_t state = test_seed(3);
  for (int kind = 0; kind < 4; kind++) {
    fill_cloud(&state, kind, count / (kind == 1 ? 10 : 1), points);
    graze_hull *h = hull_of(count / (kind == 1 ? 10 : 1), points);
    check_hull(h, count / (kind == 1 ? 10 : 1), points);
    for (int i = 0; i < 50; i++) {
      const double d[3] = {random_signed(&state), random_signed(&state), random_signed(&state)};
      uint32_t v = graze_hull_support(h, d, random_below(&state, h->vertex_count));
      double most = -INFINITY, at = 0;
      for (uint32_t w = 0; w < h->vertex_count; w++) {
        const double *p = h->points + 3 * (size_t)w;
        most = fmax(most, p[0] * d[0] + p[1] * d[1] + p[2] * d[2]);
      }
      for (int k = 0; k < 3; k++) at += h->points[3 * (size_t)v + (size_t)k] * d[k];
      assert_true(at >= most - 1e-15 * fabs(most));
    }
    graze_hull_destroy(h);
  }
  free(points);
}

/* A prism of so many sides that a hull that finished one end before the other would be long about it. Every point of
 * both ends is extreme but for those that rounding puts behind their neighbors. */
static void test_prism(void **unused) {
  (void)unused;
  const uint32_t sides = test_long() ? 20000 : 1500;
  double *points = malloc(6 * (size_t)sides * sizeof *points);
  for (uint32_t i = 0; i < 2 * sides; i++) {
    points[3 * i] = cos(i * M_PI / sides);
    points[3 * i + 1] = sin(i * M_PI / sides);
    points[3 * i + 2] = i % 2;
  }
  graze_hull *h = hull_of(2 * (uint64_t)sides, points);
  assert_true(h->vertex_count > 2 * sides - sides / 100 && h->face_count > sides);
  if (!test_long()) check_hull(h, 2 * (uint64_t)sides, points);
  graze_hull_destroy(h);
  free(points);
}

/* A cube whose faces are grids, turned so that they are flat no longer but for rounding, has its planes as faces while
 * it is not turned. Order of points and repetition change nothing but numbers. */
static void test_grid_cube(void **unused) {
  (void)unused;
  enum { SIDE = 9 };
  double points[3 * SIDE * SIDE * SIDE];
  for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
    const int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
    for (int k = 0; k < 3; k++) points[3 * i + k] = at[k] * 0.1;
  }
  graze_hull *h = hull_of(SIDE * SIDE * SIDE, points);
  assert_true(h->vertex_count == 8 && h->face_count == 6 && h->edge_count == 12 && h->triangle_count == 12);
  assert_true(h->inner_radius > 0.36 && h->inner_radius < 0.4 + 1e-15 && h->outer_radius < 0.75);
  for (uint32_t f = 0; f < 6; f++) {
    const double *n = h->planes + 4 * (size_t)f;
    assert_true(fabs(n[0]) + fabs(n[1]) + fabs(n[2]) == 1);
    assert_true(n[3] == 0 || n[3] == 8 * 0.1);
  }
  graze_hull_destroy(h);
}

static void test_few_points(void **unused) {
  (void)unused;
  const double same[12] = {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3};
  const double line[15] = {2, 2, 2, 0, 0, 0, 1, 1, 1, 3, 3, 3, 0, -0.0, 0};
  const double square[18] = {0, 0, 5, 1, 1, 5, 0, 1, 5, 1, 0, 5, 0.5, 0.5, 5, 0.5, 0, 5};
  graze_hull *h = hull_of(4, same);
  assert_true(h->dimension == 0 && h->vertex_count == 1 && h->vertices[0] == 0 && h->triangle_count == 0);
  graze_hull_destroy(h);
  h = hull_of(5, line);
  assert_true(h->dimension == 1 && h->vertices[0] == 1 && h->vertices[1] == 3 && h->edge_count == 1);
  assert_true(h->edges[0].faces[0] == GRAZE_HULL_NONE && h->edges[0].faces[1] == GRAZE_HULL_NONE);
  graze_hull_destroy(h);
  h = hull_of(6, square);
  assert_true(h->dimension == 2 && h->vertex_count == 4 && h->face_count == 1 && h->triangle_count == 2);
  assert_true(fabs(h->planes[2]) == 1 && h->planes[3] == 5 * h->planes[2]);
  graze_hull_destroy(h);
}

static void test_errors(void **unused) {
  (void)unused;
  graze_context *context = shared_context(1);
  graze_hull *h = NULL;
  double points[9] = {0, 0, 0, 1, NAN, 0, INFINITY, 0, 0};
  assert_int_equal(graze_hull_create(context, 0, points, &h), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_hull_create(context, 3, points, &h), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(shared_error()->message, "point 1: y"));
  points[4] = 0;
  assert_int_equal(graze_hull_create(context, 3, points, &h), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(shared_error()->message, "point 2: x"));
  assert_int_equal(graze_hull_create(context, UINT64_C(1) << 31, points, &h), GRAZE_ERROR_LIMIT);
  assert_int_equal(graze_hull_create(NULL, 3, points, &h), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_hull_create(context, 3, NULL, &h), GRAZE_ERROR_ARGUMENT);
  assert_null(h);
  graze_hull_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lattices),  cmocka_unit_test(test_clouds_are_proved),
                                     cmocka_unit_test(test_large),     cmocka_unit_test(test_prism),
                                     cmocka_unit_test(test_grid_cube), cmocka_unit_test(test_few_points),
                                     cmocka_unit_test(test_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
