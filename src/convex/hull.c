/* What callers get of a hull: one piece of memory with vertices, faces, edges and triangles in an order that depends on
 * the cloud alone.
 */
#include "convex/hull.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "exact/wide.h"

/* Above so many vertices walking beats looking at all of them. */
enum { SUPPORT_ALL = 48 };

typedef struct hull_build {
  const hull_cloud *cloud;
  hull_faces faces;
  uint32_t *number;        /* of a point: its vertex, or GRAZE_HULL_NONE */
  uint64_t *keys, *sorted; /* of faces, then of edges */
  graze_hull sizes;        /* only counts */
} hull_build;

static size_t padded(uint32_t count) {
  return ((size_t)count + 7) / 8 * 8;
}

/* The arrays of a hull behind it; also counts them, with no memory. */
static size_t lay_out(graze_hull *hull, char *memory) {
  carving c = {memory, 0};
  gz_carve(&c, sizeof *hull);
  hull->points = gz_carve(&c, 3 * (size_t)hull->vertex_count * sizeof(double));
  hull->axes = gz_carve(&c, 3 * padded(hull->vertex_count) * sizeof(double));
  hull->vertices = gz_carve(&c, (size_t)hull->vertex_count * sizeof(uint32_t));
  hull->face_first = gz_carve(&c, ((size_t)hull->face_count + 1) * sizeof(uint32_t));
  hull->face_corners = gz_carve(&c, (size_t)hull->corner_count * sizeof(uint32_t));
  hull->face_edges = gz_carve(&c, (size_t)hull->corner_count * sizeof(uint32_t));
  hull->planes = gz_carve(&c, 4 * (size_t)hull->face_count * sizeof(double));
  hull->edges = gz_carve(&c, (size_t)hull->edge_count * sizeof(graze_hull_edge));
  hull->neighbor_first = gz_carve(&c, ((size_t)hull->vertex_count + 1) * sizeof(uint32_t));
  hull->neighbors = gz_carve(&c, 2 * (size_t)hull->edge_count * sizeof(uint32_t));
  hull->triangles = gz_carve(&c, 3 * (size_t)hull->triangle_count * sizeof(uint32_t));
  return c.used;
}

/* The arrays are constant for callers only. */
#define WRITABLE(array) ((void *)(uintptr_t)(array))

/* ---- vertices --------------------------------------------------------------------------------------------------- */

static void mark_vertices(hull_build *b) {
  memset(b->number, 0xff, b->cloud->count * sizeof *b->number);
  for (uint32_t c = 0; c < b->sizes.corner_count; c++) b->number[b->faces.corners[c]] = 0;
  for (uint32_t i = 0; i <= b->cloud->dimension && b->cloud->dimension < 2; i++) b->number[b->cloud->span[i]] = 0;
  for (uint32_t p = 0; p < b->cloud->count; p++) {
    if (b->number[p] == 0) b->number[p] = b->sizes.vertex_count++;
  }
}

static void write_vertices(const hull_build *b, const graze_hull *hull) {
  double(*points)[3] = WRITABLE(hull->points);
  uint32_t *vertices = WRITABLE(hull->vertices);
  for (uint32_t p = 0; p < b->cloud->count; p++) {
    uint32_t v = b->number[p];
    if (v == GRAZE_HULL_NONE) continue;
    vertices[v] = p;
    memcpy(points[v], hull_point(b->cloud, p), sizeof points[v]);
  }
  double *axes = WRITABLE(hull->axes);
  size_t all = padded(hull->vertex_count);
  for (size_t i = 0; i < 3 * all; i++) {
    size_t v = i % all;
    axes[i] = points[v < hull->vertex_count ? v : hull->vertex_count - 1][i / all];
  }
}

static void find_box(graze_hull *hull) {
  for (int k = 0; k < 3; k++) {
    hull->low[k] = hull->high[k] = hull->points[k];
    for (uint32_t v = 1; v < hull->vertex_count; v++) {
      const double x = hull->points[3 * (size_t)v + (size_t)k];
      hull->low[k] = x < hull->low[k] ? x : hull->low[k];
      hull->high[k] = x > hull->high[k] ? x : hull->high[k];
    }
  }
}

/* ---- faces ------------------------------------------------------------------------------------------------------ */

/* Turns the list of corners so that the lowest one comes first; a flat hull may also be turned over. */
static void rotate_face(hull_build *b, uint32_t *corners, uint32_t count, uint32_t *scratch) {
  uint32_t lowest = 0;
  for (uint32_t i = 0; i < count; i++) {
    corners[i] = b->number[corners[i]];
    if (corners[i] < corners[lowest]) lowest = i;
  }
  bool over = b->cloud->dimension == 2 && corners[(lowest + 1) % count] > corners[(lowest + count - 1) % count];
  for (uint32_t i = 0; i < count; i++) scratch[i] = corners[(lowest + (over ? count - i : i)) % count];
  memcpy(corners, scratch, count * sizeof *corners);
}

/* A face is the only one in which its second corner follows its first, so these two order the faces. They are found
 * again by the first, in the table of faces that begin there. */
static void sort_faces(hull_build *b, uint32_t *scratch) {
  for (uint32_t f = 0; f < b->sizes.face_count; f++) {
    uint32_t *corners = b->faces.corners + b->faces.first[f];
    rotate_face(b, corners, b->faces.first[f + 1] - b->faces.first[f], scratch);
    b->keys[f] = map_pair_key(corners[0], corners[1]);
  }
  gz_sort_keys(b->keys, b->sorted, b->sizes.face_count);
}

static const double *vertex(const graze_hull *hull, uint32_t v) {
  return hull->points + 3 * (size_t)v;
}

/* Newell's normal about the first corner, in pairs of doubles, of coordinates brought to size 1, so that thin faces far
 * off have one too. */
static void write_plane(const graze_hull *hull, uint32_t face, double plane[4]) {
  const uint32_t *corners = hull->face_corners + hull->face_first[face];
  uint32_t count = hull->face_first[face + 1] - hull->face_first[face];
  const double *origin = vertex(hull, corners[0]);
  double largest = 0;
  for (uint32_t i = 0; i < count; i++) {
    for (int k = 0; k < 3; k++) largest = fmax(largest, fabs(vertex(hull, corners[i])[k] / 2 - origin[k] / 2));
  }
  int power;
  frexp(largest, &power);
  wide n[3] = {{0, 0}, {0, 0}, {0, 0}};
  for (uint32_t i = 1; i + 1 < count; i++) {
    wide u[3], v[3];
    for (int k = 0; k < 3; k++) {
      const double o = ldexp(origin[k], -power);
      two_diff(ldexp(vertex(hull, corners[i])[k], -power), o, &u[k].hi, &u[k].lo);
      two_diff(ldexp(vertex(hull, corners[i + 1])[k], -power), o, &v[k].hi, &v[k].lo);
    }
    for (int k = 0; k < 3; k++) {
      int p = (k + 1) % 3, q = (k + 2) % 3;
      n[k] = wide_add(n[k], wide_sub(wide_mul(u[p], v[q]), wide_mul(u[q], v[p])));
    }
  }
  double top = fmax(fmax(fabs(n[0].hi), fabs(n[1].hi)), fabs(n[2].hi)), square = 0, offset = 0;
  for (int k = 0; k < 3; k++) plane[k] = top > 0 ? n[k].hi / top : 0;
  for (int k = 0; k < 3; k++) square += plane[k] * plane[k];
  for (int k = 0; k < 3; k++) {
    plane[k] = square > 0 ? plane[k] / sqrt(square) : 0;
    offset += plane[k] * origin[k];
  }
  plane[3] = offset;
}

/* Where the face lies that begins with these two corners. */
static uint32_t find_face(const hull_build *b, const uint32_t *by_first, uint64_t key) {
  uint32_t f = by_first[key >> 32];
  while (b->faces.corners[b->faces.first[f] + 1] != (uint32_t)key) f = b->number[f];
  return f;
}

/* From here on the table of points is one of faces: the next one that begins with the same corner. There are at most
 * as many as corners, and so points: twice the vertices less four. */
static void write_faces(hull_build *b, const graze_hull *hull, uint32_t *by_first) {
  uint32_t *first = WRITABLE(hull->face_first), *corners = WRITABLE(hull->face_corners);
  double *planes = WRITABLE(hull->planes);
  for (uint32_t f = 0; f < hull->face_count; f++) {
    uint32_t corner = b->faces.corners[b->faces.first[f]];
    b->number[f] = by_first[corner];
    by_first[corner] = f;
  }
  first[0] = 0;
  for (uint32_t f = 0; f < hull->face_count; f++) {
    uint32_t from = find_face(b, by_first, b->keys[f]);
    uint32_t count = b->faces.first[from + 1] - b->faces.first[from];
    memcpy(corners + first[f], b->faces.corners + b->faces.first[from], count * sizeof *corners);
    first[f + 1] = first[f] + count;
    write_plane(hull, f, planes + 4 * (size_t)f);
  }
}

static void write_triangles(const graze_hull *hull) {
  uint32_t *out = WRITABLE(hull->triangles);
  for (uint32_t f = 0; f < hull->face_count; f++) {
    const uint32_t *corners = hull->face_corners + hull->face_first[f];
    for (uint32_t i = 1; i + 1 < hull->face_first[f + 1] - hull->face_first[f]; i++) {
      *out++ = corners[0];
      *out++ = corners[i];
      *out++ = corners[i + 1];
    }
  }
}

/* ---- edges ------------------------------------------------------------------------------------------------------ */

static uint32_t next_corner(const graze_hull *hull, uint32_t face, uint32_t corner) {
  return corner + 1 < hull->face_first[face + 1] ? corner + 1 : hull->face_first[face];
}

static void list_edges(hull_build *b, const graze_hull *hull) {
  graze_hull_edge *edges = WRITABLE(hull->edges);
  size_t count = 0;
  for (uint32_t f = 0; f < hull->face_count; f++) {
    for (uint32_t c = hull->face_first[f]; c < hull->face_first[f + 1]; c++) {
      uint32_t v = hull->face_corners[c], w = hull->face_corners[next_corner(hull, f, c)];
      if (v < w || hull->dimension == 2) b->keys[count++] = v < w ? map_pair_key(v, w) : map_pair_key(w, v);
    }
  }
  if (hull->dimension == 1) b->keys[count++] = map_pair_key(0, 1);
  gz_sort_keys(b->keys, b->sorted, count);
  for (uint32_t e = 0; e < hull->edge_count; e++) {
    edges[e] =
        (graze_hull_edge){{(uint32_t)(b->keys[e] >> 32), (uint32_t)b->keys[e]}, {GRAZE_HULL_NONE, GRAZE_HULL_NONE}};
  }
}

/* By bisection in the edges that begin with the vertex. */
static uint32_t find_edge(const graze_hull *hull, uint32_t v, uint32_t w) {
  uint32_t low = 0, high = hull->edge_count - 1;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const uint32_t *at = hull->edges[middle].vertices;
    if (at[0] < v || (at[0] == v && at[1] < w)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static void write_edges(hull_build *b, const graze_hull *hull) {
  graze_hull_edge *edges = WRITABLE(hull->edges);
  uint32_t *of_corner = WRITABLE(hull->face_edges);
  list_edges(b, hull);
  for (uint32_t f = 0; f < hull->face_count; f++) {
    for (uint32_t c = hull->face_first[f]; c < hull->face_first[f + 1]; c++) {
      uint32_t v = hull->face_corners[c], w = hull->face_corners[next_corner(hull, f, c)];
      of_corner[c] = find_edge(hull, v < w ? v : w, v < w ? w : v);
      edges[of_corner[c]].faces[v > w] = f;
    }
  }
}

static void write_neighbors(const graze_hull *hull) {
  uint32_t *first = WRITABLE(hull->neighbor_first), *neighbors = WRITABLE(hull->neighbors);
  memset(first, 0, ((size_t)hull->vertex_count + 1) * sizeof *first);
  for (uint32_t e = 0; e < hull->edge_count; e++) {
    for (int i = 0; i < 2; i++) first[hull->edges[e].vertices[i] + 1]++;
  }
  for (uint32_t v = 0; v < hull->vertex_count; v++) first[v + 1] += first[v];
  for (uint32_t e = 0; e < hull->edge_count; e++) {
    for (int i = 0; i < 2; i++) neighbors[first[hull->edges[e].vertices[i]]++] = hull->edges[e].vertices[1 - i];
  }
  for (uint32_t v = hull->vertex_count; v > 0; v--) first[v] = first[v - 1]; /* each was moved to its end */
  first[0] = 0;
}

/* ---- public ----------------------------------------------------------------------------------------------------- */

static void count_edges(hull_build *b) {
  graze_hull *sizes = &b->sizes;
  sizes->dimension = b->cloud->dimension;
  sizes->face_count = b->faces.count;
  sizes->corner_count = b->faces.count > 0 ? b->faces.first[b->faces.count] : 0;
  sizes->triangle_count = sizes->corner_count - 2 * sizes->face_count;
  sizes->edge_count = sizes->dimension == 3 ? sizes->corner_count / 2 : sizes->corner_count;
  if (sizes->dimension == 1) sizes->edge_count = 1;
}

static graze_status assemble(hull_build *b, graze_hull **out) {
  const graze_context *context = b->cloud->context;
  count_edges(b);
  size_t most = (size_t)b->sizes.corner_count + 1, points = (size_t)b->cloud->count;
  b->number = gz_new(context, points > most ? points : most, sizeof *b->number);
  b->keys = gz_new(context, 2 * most, sizeof *b->keys);
  uint32_t *scratch = gz_new(context, most, sizeof *scratch);
  if (!b->number || !b->keys || !scratch) {
    gz_free(scratch);
    return gz_fail_memory(context, most * sizeof *b->keys);
  }
  b->sorted = b->keys + most;
  mark_vertices(b);
  size_t bytes = lay_out(&b->sizes, NULL);
  graze_hull *hull = gz_new(context, bytes, 1);
  if (hull != NULL) {
    *hull = b->sizes;
    lay_out(hull, (char *)hull);
    write_vertices(b, hull);
    find_box(hull);
    sort_faces(b, scratch);
    memset(scratch, 0xff, most * sizeof *scratch);
    write_faces(b, hull, scratch);
    write_triangles(hull);
    write_edges(b, hull);
    write_neighbors(hull);
    gz_hull_balls(hull);
  }
  gz_free(scratch);
  *out = hull;
  return hull != NULL ? GRAZE_OK : gz_fail_memory(context, bytes);
}

static graze_status make_hull(hull_cloud *cloud, graze_hull **hull) {
  hull_build b = {.cloud = cloud};
  gz_hull_span(cloud);
  bool found =
      cloud->dimension < 2 || (cloud->dimension == 2 ? gz_hull_flat(cloud, &b.faces) : gz_hull_solid(cloud, &b.faces));
  graze_status status = found ? assemble(&b, hull) : gz_fail_memory(cloud->context, cloud->count);
  const void *const memory[] = {b.faces.corners, b.faces.first, b.number, b.keys};
  for (int i = 0; i < 4; i++) gz_free(memory[i]);
  return status;
}

static graze_status check_points(const graze_context *context, uint64_t count, const double *points) {
  if (count == 0) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "a hull needs a point at least");
  if (count >= (uint64_t)1 << 31) return gz_fail(context, GRAZE_ERROR_LIMIT, "a hull of 2^31 points or more");
  for (uint64_t i = 0; i < 3 * count; i++) {
    if (isfinite(points[i])) continue;
    return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "point %llu: %c is not finite", (unsigned long long)(i / 3),
                   (int)('x' + i % 3));
  }
  return GRAZE_OK;
}

graze_status graze_hull_create(graze_context *context, uint64_t count, const double *points, graze_hull **hull) {
  if (context == NULL || points == NULL || hull == NULL) return gz_fail_null(context);
  graze_status status = check_points(context, count, points);
  if (status != GRAZE_OK) return status;
  hull_cloud cloud = {.context = context, .points = points, .count = (uint32_t)count};
  graze_hull *made = NULL;
  unsigned saved = gz_fp_enter();
  status = make_hull(&cloud, &made);
  gz_fp_leave(saved);
  if (status == GRAZE_OK) *hull = made;
  return status;
}

void graze_hull_destroy(graze_hull *hull) {
  gz_free(hull);
}

static double along(const graze_hull *hull, uint32_t v, const double d[3]) {
  const double *p = hull->points + 3 * (size_t)v;
  return p[0] * d[0] + p[1] * d[1] + p[2] * d[2];
}

uint32_t graze_hull_support(const graze_hull *hull, const double direction[3], uint32_t start) {
  uint32_t best = start < hull->vertex_count && hull->vertex_count > SUPPORT_ALL ? start : 0;
  double most = along(hull, best, direction);
  if (hull->vertex_count <= SUPPORT_ALL) {
    for (uint32_t v = 1; v < hull->vertex_count; v++) {
      double value = along(hull, v, direction);
      if (value > most) {
        most = value;
        best = v;
      }
    }
    return best;
  }
  for (uint32_t from = GRAZE_HULL_NONE; from != best;) {
    from = best;
    for (uint32_t i = hull->neighbor_first[from]; i < hull->neighbor_first[from + 1]; i++) {
      double value = along(hull, hull->neighbors[i], direction);
      if (value > most) {
        most = value;
        best = hull->neighbors[i];
      }
    }
  }
  return best;
}
