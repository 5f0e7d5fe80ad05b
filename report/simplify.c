/* simplify.c: vertex clustering (Rossignac and Borrel 1993): the box is cut into cells, the vertices of a cell become
 * the one that is nearest to their mean, and triangles that lose a corner vanish. It needs no neighbours, opens no gaps
 * (every vertex goes to one place, whichever triangle asks) and takes linear time, which counts more here than the last
 * bit of likeness. How fine the cells may be for the share is found on a sample and then made sure of.
 *
 * All of it is done on the 16-bit coordinates, in integers, so that every machine makes the same mesh. */
#include "simplify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"

enum { SAMPLE = 4096, FINEST = 65536, NO_CLUSTER = -1 };
#define NO_POINT UINT32_MAX
enum {
  SLOT_SOURCE,
  SLOT_CORNERS,
  SLOT_CLUSTER_OF,
  SLOT_KEYS,
  SLOT_NUMBERS,
  SLOT_CLUSTERS,
  SLOT_POINTS,
  SLOT_TRIANGLES
};

/* ---- shares ---- */

static uint32_t share_at(const simplify_wish *wish, double level, double per) {
  double share = floor(level * wish->weight * sqrt(wish->triangles / per));
  if (share < SIMPLEST) share = SIMPLEST;
  return share < wish->triangles ? (uint32_t)share : wish->triangles;
}

/* Raises the level as far as the budget goes. `drawn`: instances count, and those seldom used get more. */
static void fill_to_level(const simplify_wish *wishes, uint32_t count, uint64_t budget, bool drawn, uint32_t *shares) {
  double low = 0, high = UINT32_MAX;
  for (int step = 0; step < 64; step++) {
    double level = step == 0 ? high : 0.5 * (low + high); /* first: does everything fit as it is? */
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
      uint32_t share = share_at(wishes + i, level, drawn ? wishes[i].instances : 1);
      if (share > shares[i]) share = shares[i];
      total += drawn ? (uint64_t)share * wishes[i].instances : share;
    }
    if (total <= budget) low = level;
    if (total > budget) high = level;
    if (low >= high) break;
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t share = share_at(wishes + i, low, drawn ? wishes[i].instances : 1);
    if (share < shares[i]) shares[i] = share;
  }
}

void gz_simplify_shares(const simplify_wish *wishes, uint32_t count, uint64_t budget, uint64_t drawn,
                        uint32_t *shares) {
  for (uint32_t i = 0; i < count; i++) shares[i] = wishes[i].triangles;
  fill_to_level(wishes, count, budget, false, shares);
  fill_to_level(wishes, count, drawn, true, shares);
}

/* ---- the mesh in 16 bits ---- */

static void *slot(simplifier *work, int which, size_t count, size_t size) {
  size_t bytes = (count + 1) * size;
  if (work->sizes[which] < bytes) {
    gz_free(work->memory[which]);
    work->memory[which] = gz_new(work->context, bytes + bytes / 4, 1);
    work->sizes[which] = work->memory[which] != NULL ? bytes + bytes / 4 : 0;
  }
  return work->memory[which];
}

void gz_simplifier_free(simplifier *work) {
  for (int i = 0; i < 8; i++) gz_free(work->memory[i]);
  *work = (simplifier){.context = work->context};
}

typedef struct source {
  uint32_t triangle_count;
  uint32_t vertex_count;
  uint16_t (*points)[3]; /* by vertex of the mesh; of unused ones without meaning */
  uint32_t (*corners)[3];
  int32_t *cluster_of; /* by vertex: NO_CLUSTER until a triangle has used it, 0 afterwards */
} source;

/* Halves, so that a box of the widest doubles does not overflow. */
static uint16_t quantised(double x, double min, double max) {
  double extent = 0.5 * max - 0.5 * min;
  double part = extent > 0 ? (0.5 * x - 0.5 * min) / extent : 0;
  return (uint16_t)(part * 65535 + 0.5);
}

static bool read_source(simplifier *work, const graze_mesh *mesh, const graze_mesh_facts *facts, source *from) {
  from->triangle_count = (uint32_t)facts->triangles;
  from->vertex_count = (uint32_t)facts->vertices;
  from->points = slot(work, SLOT_SOURCE, from->vertex_count, sizeof *from->points);
  from->corners = slot(work, SLOT_CORNERS, from->triangle_count, sizeof *from->corners);
  from->cluster_of = slot(work, SLOT_CLUSTER_OF, from->vertex_count, sizeof *from->cluster_of);
  if (from->points == NULL || from->corners == NULL || from->cluster_of == NULL) return false;
  memset(from->cluster_of, 0xFF, from->vertex_count * sizeof *from->cluster_of);
  for (uint32_t t = 0; t < from->triangle_count; t++) {
    uint32_t *corner = from->corners[t];
    double at[9];
    graze_mesh_get_indices(mesh, t, corner);
    if ((from->cluster_of[corner[0]] | from->cluster_of[corner[1]] | from->cluster_of[corner[2]]) >= 0) continue;
    graze_mesh_get_triangle(mesh, t, at);
    for (int c = 0; c < 3; c++) {
      if (from->cluster_of[corner[c]] >= 0) continue;
      from->cluster_of[corner[c]] = 0;
      for (int k = 0; k < 3; k++) {
        from->points[corner[c]][k] = quantised(at[3 * c + k], work->made.min[k], work->made.max[k]);
      }
    }
  }
  return true;
}

/* ---- cells ---- */

typedef struct cells {
  uint32_t along[3]; /* number along each axis, 1 .. 65536; 65536 on all of them: a cell for each place */
} cells;

/* Cubes as far as whole numbers allow, `finest` of them along the longest side. */
static cells cells_of(const simple_mesh *made, uint32_t finest) {
  cells grid;
  double longest = 0;
  for (int k = 0; k < 3; k++) longest = fmax(longest, 0.5 * made->max[k] - 0.5 * made->min[k]);
  for (int k = 0; k < 3; k++) {
    double part = longest > 0 ? (0.5 * made->max[k] - 0.5 * made->min[k]) / longest : 0;
    grid.along[k] = finest == FINEST ? FINEST : (uint32_t)(part * finest) + 1;
  }
  return grid;
}

static uint64_t cell_key(const cells *grid, const uint16_t point[3]) {
  uint64_t key = 0;
  for (int k = 0; k < 3; k++) key = key << 16 | (uint64_t)point[k] * grid->along[k] >> 16;
  return key;
}

/* Triangles of every `stride` that keep three corners. */
static uint64_t count_left(const source *from, const cells *grid, uint32_t stride) {
  uint64_t left = 0;
  for (uint32_t t = 0; t < from->triangle_count; t += stride) {
    const uint32_t *corner = from->corners[t];
    uint64_t a = cell_key(grid, from->points[corner[0]]), b = cell_key(grid, from->points[corner[1]]);
    uint64_t c = cell_key(grid, from->points[corner[2]]);
    left += a != b && b != c && c != a;
    if (from->triangle_count - t <= stride) break;
  }
  return left;
}

/* The finest grid that leaves at most `share` triangles; 0 when none but the empty one does. */
static uint32_t choose_grid(const simple_mesh *made, const source *from, uint32_t share) {
  uint32_t stride = 1 + from->triangle_count / SAMPLE, low = 0, high = FINEST - 1;
  while (high - low > 1 + low / 64) {
    uint32_t middle = low + (high - low) / 2;
    cells grid = cells_of(made, middle);
    if (count_left(from, &grid, stride) * stride <= share) {
      low = middle;
    } else {
      high = middle;
    }
  }
  for (uint32_t finest = low; finest > 0; finest -= 1 + finest / 16) { /* the sample may have flattered */
    cells grid = cells_of(made, finest);
    if (count_left(from, &grid, 1) <= share) return finest;
  }
  return 0;
}

/* ---- clusters ---- */

typedef struct table {
  uint64_t *keys; /* key + 1; 0 = free */
  int32_t *numbers;
  uint64_t mask;
} table;

static bool make_table(simplifier *work, uint32_t vertices, table *t) {
  uint64_t size = 64;
  while (size < 2 * (uint64_t)vertices) size *= 2;
  t->mask = size - 1;
  t->keys = slot(work, SLOT_KEYS, size, sizeof *t->keys);
  t->numbers = slot(work, SLOT_NUMBERS, size, sizeof *t->numbers);
  if (t->keys == NULL || t->numbers == NULL) return false;
  memset(t->keys, 0, size * sizeof *t->keys);
  return true;
}

/* The place of the key, which is free when the key is new. */
static uint64_t find_place(const table *t, uint64_t key) {
  uint64_t place = (key * UINT64_C(0x9E3779B97F4A7C15)) >> 20 & t->mask;
  while (t->keys[place] != 0 && t->keys[place] != key + 1) place = (place + 1) & t->mask;
  return place;
}

typedef struct cluster {
  uint64_t sum[3], count; /* of its vertices */
  uint64_t nearest;       /* squared distance of the chosen vertex from the mean */
  uint32_t chosen;        /* vertex */
  uint32_t point;         /* number in the made mesh, or NO_POINT */
} cluster;

/* Gives every used vertex the number of its cluster, and sums the clusters up. */
static bool gather_clusters(simplifier *work, const source *from, const cells *grid, cluster **clusters,
                            uint32_t *count) {
  table t;
  *count = 0;
  *clusters = slot(work, SLOT_CLUSTERS, from->vertex_count, sizeof **clusters);
  if (*clusters == NULL || !make_table(work, from->vertex_count, &t)) return false;
  for (uint32_t v = 0; v < from->vertex_count; v++) {
    if (from->cluster_of[v] == NO_CLUSTER) continue;
    uint64_t key = cell_key(grid, from->points[v]), place = find_place(&t, key);
    if (t.keys[place] == 0) {
      t.keys[place] = key + 1;
      t.numbers[place] = (int32_t)*count;
      (*clusters)[(*count)++] = (cluster){.nearest = UINT64_MAX, .point = NO_POINT};
    }
    cluster *c = *clusters + t.numbers[place];
    for (int k = 0; k < 3; k++) c->sum[k] += from->points[v][k];
    c->count++;
    from->cluster_of[v] = t.numbers[place];
  }
  return true;
}

/* A mean would lie inside what bulges outwards, and make pipes simplifier than they are: real vertices do not. */
static void choose_vertices(const source *from, cluster *clusters) {
  for (uint32_t v = 0; v < from->vertex_count; v++) {
    if (from->cluster_of[v] == NO_CLUSTER) continue;
    cluster *c = clusters + from->cluster_of[v];
    uint64_t far = 0;
    for (int k = 0; k < 3; k++) {
      int64_t d = (int64_t)from->points[v][k] - (int64_t)(c->sum[k] / c->count);
      far += (uint64_t)(d * d);
    }
    if (far >= c->nearest) continue;
    c->nearest = far;
    c->chosen = v;
  }
}

/* Points are numbered as the triangles come to them. */
static uint32_t point_number(simple_mesh *made, const source *from, cluster *c) {
  if (c->point == NO_POINT) {
    c->point = made->point_count++;
    memcpy(made->points[c->point], from->points[c->chosen], sizeof *made->points);
  }
  return c->point;
}

static void emit_triangles(simple_mesh *made, const source *from, cluster *clusters, bool all) {
  for (uint32_t t = 0; t < from->triangle_count; t++) {
    const uint32_t *corner = from->corners[t];
    int32_t a = from->cluster_of[corner[0]], b = from->cluster_of[corner[1]], c = from->cluster_of[corner[2]];
    if (!all && (a == b || b == c || c == a)) continue;
    uint32_t *to = made->triangles[made->triangle_count++];
    to[0] = point_number(made, from, clusters + a);
    to[1] = point_number(made, from, clusters + b);
    to[2] = point_number(made, from, clusters + c);
  }
}

/* What is too fine to cluster within its share is shown as its box. */
static void emit_box(simple_mesh *made) {
  static const uint32_t faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                        {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  for (uint32_t i = 0; i < 8; i++) {
    for (int k = 0; k < 3; k++) made->points[i][k] = i >> k & 1 ? 65535 : 0;
  }
  memcpy(made->triangles, faces, sizeof faces);
  made->point_count = 8;
  made->triangle_count = 12;
}

/* Six times the enclosed volume in box units; its sign says which way the triangles face. */
static double signed_volume(const source *from) {
  double volume = 0;
  for (uint32_t t = 0; t < from->triangle_count; t++) {
    double p[3][3];
    for (int c = 0; c < 3; c++) {
      for (int k = 0; k < 3; k++) p[c][k] = from->points[from->corners[t][c]][k] - 32768.0;
    }
    volume += p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) + p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
              p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
  }
  return volume;
}

static bool make_clusters(simplifier *work, const source *from, uint32_t finest) {
  cells grid = cells_of(&work->made, finest);
  cluster *clusters;
  uint32_t count;
  if (!gather_clusters(work, from, &grid, &clusters, &count)) return false;
  choose_vertices(from, clusters);
  uint64_t triangles = finest == FINEST ? from->triangle_count : count_left(from, &grid, 1);
  work->made.points = slot(work, SLOT_POINTS, count, sizeof *work->made.points);
  work->made.triangles = slot(work, SLOT_TRIANGLES, triangles, sizeof *work->made.triangles);
  if (work->made.points == NULL || work->made.triangles == NULL) return false;
  emit_triangles(&work->made, from, clusters, finest == FINEST);
  return true;
}

bool gz_simplify(simplifier *work, const graze_mesh *mesh, uint32_t share) {
  graze_mesh_facts facts;
  source from;
  graze_mesh_get_facts(mesh, &facts);
  work->made = (simple_mesh){0};
  if (facts.triangles == 0) return true;
  memcpy(work->made.min, facts.box.min, sizeof work->made.min);
  memcpy(work->made.max, facts.box.max, sizeof work->made.max);
  if (!read_source(work, mesh, &facts, &from)) return false;
  if (share < SIMPLEST) share = SIMPLEST;
  uint32_t finest = from.triangle_count <= share ? FINEST : choose_grid(&work->made, &from, share);
  if (finest > 0 && !make_clusters(work, &from, finest)) return false;
  double volume = facts.adjacency && facts.closed && facts.oriented ? signed_volume(&from) : 0;
  work->made.solid = (volume > 0) - (volume < 0);
  if (work->made.triangle_count == 0) {
    work->made.points = slot(work, SLOT_POINTS, 8, sizeof *work->made.points);
    work->made.triangles = slot(work, SLOT_TRIANGLES, 12, sizeof *work->made.triangles);
    if (work->made.points == NULL || work->made.triangles == NULL) return false;
    emit_box(&work->made);
    work->made.solid = 1;
  }
  return true;
}
