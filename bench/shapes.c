/* bench/shapes.c: meshes that need no file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models.h"

static model make(uint32_t vertices, uint32_t triangles) {
  model m = {.vertex_count = vertices, .triangle_count = triangles};
  m.vertices = must_alloc((size_t)vertices * 3, sizeof *m.vertices);
  m.indices = must_alloc((size_t)triangles * 3, sizeof *m.indices);
  return m;
}

static void triangle(model *m, uint32_t i, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t *t = m->indices + 3 * (size_t)i;
  t[0] = a;
  t[1] = b;
  t[2] = c;
}

/* ---- icosphere: every level splits each triangle in four, middles pushed out to the sphere ---- */

typedef struct sphere {
  double (*points)[3];
  uint32_t (*faces)[3];
  uint32_t point_count, face_count;
} sphere;

static void to_length_one(double p[3]) {
  double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  for (int k = 0; k < 3; k++) p[k] /= length;
}

static sphere icosahedron(void) {
  static const int corner[12][3] = {{-1, 2, 0},  {1, 2, 0},  {-1, -2, 0}, {1, -2, 0}, {0, -1, 2},  {0, 1, 2},
                                    {0, -1, -2}, {0, 1, -2}, {2, 0, -1},  {2, 0, 1},  {-2, 0, -1}, {-2, 0, 1}};
  static const uint32_t face[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                       {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                       {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                       {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  const double golden = (1 + sqrt(5.0)) / 2;
  sphere s = {must_alloc(12, sizeof *s.points), must_alloc(20, sizeof *s.faces), 12, 20};
  for (int i = 0; i < 12; i++) {
    for (int k = 0; k < 3; k++) s.points[i][k] = abs(corner[i][k]) == 2 ? golden * corner[i][k] / 2 : corner[i][k];
    to_length_one(s.points[i]);
  }
  memcpy(s.faces, face, sizeof face);
  return s;
}

typedef struct edge {
  uint64_t key;
  uint32_t slot; /* 3 * face + side */
} edge;

static int by_key(const void *a, const void *b) {
  const edge *x = a, *y = b;
  return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->slot > y->slot) - (x->slot < y->slot);
}

static edge *sorted_edges(const sphere *s) {
  edge *edges = must_alloc(3 * (size_t)s->face_count, sizeof *edges);
  for (uint32_t f = 0; f < s->face_count; f++)
    for (uint32_t k = 0; k < 3; k++) {
      uint32_t p = s->faces[f][k], q = s->faces[f][(k + 1) % 3];
      edges[3 * f + k] = (edge){p < q ? (uint64_t)p << 32 | q : (uint64_t)q << 32 | p, 3 * f + k};
    }
  qsort(edges, 3 * (size_t)s->face_count, sizeof *edges, by_key);
  return edges;
}

static void split(sphere *s) {
  uint32_t n = s->face_count, *middle = must_alloc(3 * (size_t)n, sizeof *middle);
  edge *edges = sorted_edges(s);
  s->points = must_grow(s->points, s->point_count + 3 * (size_t)n / 2, sizeof *s->points);
  for (uint32_t i = 0; i < 3 * n; i++) {
    if (!i || edges[i].key != edges[i - 1].key) {
      const double *p = s->points[edges[i].key >> 32], *q = s->points[(uint32_t)edges[i].key];
      for (int k = 0; k < 3; k++) s->points[s->point_count][k] = p[k] + q[k];
      to_length_one(s->points[s->point_count++]);
    }
    middle[edges[i].slot] = s->point_count - 1;
  }
  uint32_t(*faces)[3] = must_alloc(4 * (size_t)n, sizeof *faces);
  for (uint32_t f = 0; f < n; f++) {
    const uint32_t *v = s->faces[f], *m = middle + 3 * f;
    const uint32_t four[4][3] = {{v[0], m[0], m[2]}, {m[0], v[1], m[1]}, {m[2], m[1], v[2]}, {m[0], m[1], m[2]}};
    memcpy(faces[4 * (size_t)f], four, sizeof four);
  }
  free(s->faces);
  free(edges);
  free(middle);
  s->faces = faces;
  s->face_count = 4 * n;
}

static model from_sphere(sphere *s, double (*radius)(const double *, double), double scale) {
  model m = make(s->point_count, s->face_count);
  for (uint32_t i = 0; i < s->point_count; i++)
    for (int k = 0; k < 3; k++) m.vertices[3 * (size_t)i + k] = (float)(radius(s->points[i], scale) * s->points[i][k]);
  memcpy(m.indices, s->faces, sizeof(uint32_t) * 3 * s->face_count);
  free(s->points);
  free(s->faces);
  return m;
}

static double round_radius(const double *p, double scale) {
  (void)p;
  return scale;
}

model shape_icosphere(int level, double radius) {
  sphere s = icosahedron();
  while (level-- > 0) split(&s);
  return from_sphere(&s, round_radius, radius);
}

static double bumpy_radius(const double *p, double scale) {
  double r = 1 + 0.25 * sin(3 * p[0] + 1) * cos(2 * p[1]) + 0.15 * sin(5 * p[2] + 2 * p[0]);
  r += 0.06 * sin(11 * p[1] + 3) * sin(13 * p[2]) + 0.02 * sin(31 * p[0] + 17 * p[1]) * sin(29 * p[2] + 1);
  return scale * r;
}

model shape_blob(int level) {
  sphere s = icosahedron();
  while (level-- > 0) split(&s);
  return from_sphere(&s, bumpy_radius, 0.3);
}

/* ---- the wavy plane of O. Lawlor and L. Kale, "A Voxel-Based Parallel Collision Detection Algorithm", 2002 ---- */

static double wave_height(double x, double y) {
  static const double fx[5] = {1, 3, 0, 5, 8}, fy[5] = {0, 1, 4, 5, -3}, weight[5] = {1, 0.5, 0.4, 0.25, 0.15};
  double z = 0;
  for (int k = 0; k < 5; k++) z += 0.01 * weight[k] * sin(2 * 3.14159265358979323846 * (fx[k] * x + fy[k] * y) + k);
  return z;
}

model shape_plane(uint32_t n) {
  model m = make((n + 1) * (n + 1), 2 * n * n);
  for (uint32_t j = 0, at = 0; j <= n; j++)
    for (uint32_t i = 0; i <= n; i++, at += 3) {
      double x = (double)i / n, y = (double)j / n;
      m.vertices[at] = (float)x;
      m.vertices[at + 1] = (float)y;
      m.vertices[at + 2] = (float)wave_height(x, y);
    }
  for (uint32_t j = 0, at = 0; j < n; j++)
    for (uint32_t i = 0; i < n; i++, at += 2) {
      uint32_t a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
      triangle(&m, at, a, b, d);
      triangle(&m, at + 1, a, d, c);
    }
  return m;
}

/* ---- torus knot ---- */

static void knot_point(double t, double p[3]) {
  double r = 0.25 + 0.1 * cos(3 * t);
  p[0] = r * cos(2 * t);
  p[1] = r * sin(2 * t);
  p[2] = 0.15 * sin(3 * t);
}

/* A frame along the curve: tangent by a difference, one normal away from the axis of the torus. */
static void knot_frame(double t, double centre[3], double u[3], double v[3]) {
  double ahead[3], tangent[3];
  knot_point(t, centre);
  knot_point(t + 1e-4, ahead);
  for (int k = 0; k < 3; k++) tangent[k] = ahead[k] - centre[k];
  to_length_one(tangent);
  u[0] = tangent[1];
  u[1] = -tangent[0];
  u[2] = 0;
  to_length_one(u);
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    v[k] = tangent[i] * u[j] - tangent[j] * u[i];
  }
}

model shape_knot(uint32_t around, uint32_t along) {
  const double turn = 2 * 3.14159265358979323846;
  model m = make(around * along, 2 * around * along);
  for (uint32_t j = 0; j < along; j++) {
    double centre[3], u[3], v[3];
    knot_frame(turn * j / along, centre, u, v);
    for (uint32_t i = 0; i < around; i++) {
      double a = turn * i / around, radius = 0.045 * (1 + 0.1 * sin(8 * a) * sin(90 * turn * j / along));
      for (int k = 0; k < 3; k++)
        m.vertices[3 * ((size_t)j * around + i) + k] = (float)(centre[k] + radius * (cos(a) * u[k] + sin(a) * v[k]));
    }
  }
  for (uint32_t j = 0, at = 0; j < along; j++)
    for (uint32_t i = 0; i < around; i++, at += 2) {
      uint32_t i1 = (i + 1) % around, j1 = (j + 1) % along;
      uint32_t a = j * around + i, b = j * around + i1, c = j1 * around + i, d = j1 * around + i1;
      triangle(&m, at, a, b, d);
      triangle(&m, at + 1, a, d, c);
    }
  return m;
}
