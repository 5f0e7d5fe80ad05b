/* bench/subdivide.c: mesh cleaning, normalisation and Loop subdivision, so that a mesh file becomes the model that the
 * pose list was made for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models.h"

static double double_area(const model *m, const uint32_t t[3]) {
  long double p[3][3], u[3], v[3], sum = 0;
  for (int k = 0; k < 3; k++)
    for (int c = 0; c < 3; c++) p[k][c] = m->vertices[3 * (size_t)t[k] + c];
  for (int c = 0; c < 3; c++) {
    u[c] = p[1][c] - p[0][c];
    v[c] = p[2][c] - p[0][c];
  }
  for (int c = 0; c < 3; c++) {
    int i = (c + 1) % 3, j = (c + 2) % 3;
    long double x = u[i] * v[j] - u[j] * v[i];
    sum += x * x;
  }
  return (double)sqrtl(sum);
}

static uint32_t table_size(size_t items) {
  uint32_t size = 16;
  while (size < 2 * items) size *= 2;
  return size;
}

static void sorted_corners(const uint32_t t[3], uint32_t out[3]) {
  memcpy(out, t, 3 * sizeof *t);
  for (int i = 0; i < 3; i++) {
    int k = i == 1 ? 1 : 0;
    if (out[k] <= out[k + 1]) continue;
    uint32_t swap = out[k];
    out[k] = out[k + 1];
    out[k + 1] = swap;
  }
}

/* True when a triangle with the same three vertices was added before. `table` holds triangle numbers plus one. */
static bool seen_before(uint32_t *table, uint32_t size, const uint32_t *indices, uint32_t number) {
  uint32_t key[3], other[3];
  sorted_corners(indices + 3 * (size_t)number, key);
  uint32_t at = (uint32_t)splitmix64(hash_of_pair(key[0], key[1]) ^ key[2]) & (size - 1);
  for (; table[at]; at = (at + 1) & (size - 1)) {
    sorted_corners(indices + 3 * (size_t)(table[at] - 1), other);
    if (!memcmp(key, other, sizeof key)) return true;
  }
  table[at] = number + 1;
  return false;
}

static void drop_unused(model *m) {
  uint32_t *renamed = must_alloc(m->vertex_count, sizeof *renamed), n = 0;
  for (size_t i = 0; i < 3 * (size_t)m->triangle_count; i++) renamed[m->indices[i]] = 1;
  for (uint32_t i = 0; i < m->vertex_count; i++) {
    if (!renamed[i]) continue;
    memmove(m->vertices + 3 * (size_t)n, m->vertices + 3 * (size_t)i, 3 * sizeof *m->vertices);
    renamed[i] = n++;
  }
  for (size_t i = 0; i < 3 * (size_t)m->triangle_count; i++) m->indices[i] = renamed[m->indices[i]];
  m->vertex_count = n;
  free(renamed);
}

void model_clean(model *m) {
  uint32_t size = table_size(m->triangle_count), *table = must_alloc(size, sizeof *table), kept = 0;
  for (uint32_t i = 0; i < m->triangle_count; i++) {
    uint32_t *to = m->indices + 3 * (size_t)kept;
    memmove(to, m->indices + 3 * (size_t)i, 3 * sizeof *to);
    if (to[0] == to[1] || to[1] == to[2] || to[0] == to[2] || !(double_area(m, to) > 0)) continue;
    if (!seen_before(table, size, m->indices, kept)) kept++;
  }
  m->triangle_count = kept;
  free(table);
  drop_unused(m);
}

void model_normalise(model *m) {
  double low[3] = {1e300, 1e300, 1e300}, high[3] = {-1e300, -1e300, -1e300}, diagonal = 0;
  for (size_t i = 0; i < 3 * (size_t)m->vertex_count; i++) {
    double x = m->vertices[i];
    low[i % 3] = fmin(low[i % 3], x);
    high[i % 3] = fmax(high[i % 3], x);
  }
  for (int k = 0; k < 3; k++) diagonal += (high[k] - low[k]) * (high[k] - low[k]);
  diagonal = sqrt(diagonal);
  for (size_t i = 0; i < 3 * (size_t)m->vertex_count; i++)
    m->vertices[i] = (float)((m->vertices[i] - 0.5 * (low[i % 3] + high[i % 3])) / diagonal);
}

/* ---- Loop's scheme (C. Loop, 1987), boundary rule on edges of other than two triangles ---- */

typedef struct loop_edge {
  uint32_t a, b, opposite[2], triangles; /* a < b */
} loop_edge;

typedef struct loop_edges {
  loop_edge *edges; /* in the order in which the triangles name them */
  uint32_t count;
  uint32_t *of_corner; /* edge of triangle t from corner k to k + 1, at 3 t + k */
} loop_edges;

static loop_edges find_edges(const model *m) {
  size_t corners = 3 * (size_t)m->triangle_count;
  uint32_t size = table_size(corners), *table = must_alloc(size, sizeof *table);
  loop_edges e = {must_alloc(corners, sizeof *e.edges), 0, must_alloc(corners, sizeof *e.of_corner)};
  for (size_t i = 0; i < corners; i++) {
    const uint32_t *t = m->indices + i / 3 * 3;
    uint32_t p = t[i % 3], q = t[(i + 1) % 3], opposite = t[(i + 2) % 3];
    uint32_t a = p < q ? p : q, b = p < q ? q : p;
    uint32_t at = (uint32_t)hash_of_pair(a, b) & (size - 1);
    while (table[at] && (e.edges[table[at] - 1].a != a || e.edges[table[at] - 1].b != b)) at = (at + 1) & (size - 1);
    if (!table[at]) {
      e.edges[e.count] = (loop_edge){.a = a, .b = b};
      table[at] = ++e.count;
    }
    loop_edge *edge = &e.edges[table[at] - 1];
    if (edge->triangles < 2) edge->opposite[edge->triangles] = opposite;
    edge->triangles++;
    e.of_corner[i] = table[at] - 1;
  }
  free(table);
  return e;
}

typedef struct ring { /* of one vertex: sums over its edges, and over its boundary edges */
  double sum[3], boundary_sum[3];
  uint32_t valence, boundary;
} ring;

static ring *sum_rings(const model *m, const loop_edges *e) {
  ring *rings = must_alloc(m->vertex_count, sizeof *rings);
  for (uint32_t i = 0; i < e->count; i++)
    for (int end = 0; end < 2; end++) {
      const loop_edge *edge = &e->edges[i];
      ring *r = &rings[end ? edge->b : edge->a];
      const float *other = m->vertices + 3 * (size_t)(end ? edge->a : edge->b);
      r->valence++;
      r->boundary += edge->triangles != 2;
      for (int k = 0; k < 3; k++) r->sum[k] += other[k];
      for (int k = 0; k < 3 && edge->triangles != 2; k++) r->boundary_sum[k] += other[k];
    }
  return rings;
}

static double moved_vertex(double p, const ring *r, int k) {
  if (r->boundary == 2) return 0.75 * p + 0.125 * r->boundary_sum[k];
  if (r->boundary) return p;
  double beta = r->valence == 3 ? 3.0 / 16 : 3.0 / (8.0 * r->valence);
  return (1 - r->valence * beta) * p + beta * r->sum[k];
}

static double edge_point(const model *m, const loop_edge *e, int k) {
  const float *v = m->vertices + k;
  double ends = (double)v[3 * (size_t)e->a] + v[3 * (size_t)e->b];
  if (e->triangles != 2) return 0.5 * ends;
  return 0.375 * ends + 0.125 * ((double)v[3 * (size_t)e->opposite[0]] + v[3 * (size_t)e->opposite[1]]);
}

model loop_step(const model *m) {
  loop_edges e = find_edges(m);
  ring *rings = sum_rings(m, &e);
  model out = {.vertex_count = m->vertex_count + e.count, .triangle_count = 4 * m->triangle_count};
  out.vertices = must_alloc(3 * (size_t)out.vertex_count, sizeof *out.vertices);
  out.indices = must_alloc(3 * (size_t)out.triangle_count, sizeof *out.indices);
  for (size_t i = 0; i < 3 * (size_t)m->vertex_count; i++)
    out.vertices[i] = (float)moved_vertex(m->vertices[i], &rings[i / 3], (int)(i % 3));
  for (size_t i = 0; i < 3 * (size_t)e.count; i++)
    out.vertices[3 * (size_t)m->vertex_count + i] = (float)edge_point(m, &e.edges[i / 3], (int)(i % 3));
  for (size_t t = 0; t < m->triangle_count; t++) {
    const uint32_t *v = m->indices + 3 * t, *middle = e.of_corner + 3 * t, n = m->vertex_count;
    uint32_t ab = n + middle[0], bc = n + middle[1], ca = n + middle[2];
    const uint32_t four[12] = {v[0], ab, ca, ab, v[1], bc, ca, bc, v[2], ab, bc, ca};
    memcpy(out.indices + 12 * t, four, sizeof four);
  }
  free(e.edges);
  free(e.of_corner);
  free(rings);
  return out;
}
