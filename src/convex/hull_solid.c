/* Quickhull with exact predicates: from a tetrahedron, point by point; each triangle keeps a list of points that see
 * it, and the farthest of a list is added next.
 *
 * A point sees a triangle if it lies strictly on its outer side. Triangles of one plane are then seen together, those
 * that are seen hang together, and none of the new triangles, from the rim of what was seen to the point, is
 * degenerate: a point on the line of an edge of the rim would lie in the planes of both triangles there and see
 * neither. A point that sees a triangle that goes and is still outside sees one of the new ones: what it sees hangs
 * together too, so it sees both sides of an edge of the rim or nothing that stays, and the plane between two that it is
 * above is below it. So nothing is ever lost, whatever point is taken next; that one is chosen in doubles, and sides
 * are told by gz_hull_side.
 *
 * Bound on errors: each of the six terms of the product has at most eight roundings, as in orient.c, and a difference
 * to v0 is at most the extent of the cloud: 8.1 u of the sum of |u_i v_j| extent_k, computed with 9 u. The window keeps
 * what underflows far below that.
 */
#include "convex/hull_solid.h"

#include <math.h>
#include <string.h>

#include "base/owned.h"
#include "exact/orient.h"

typedef struct growing_hull {
  const hull_cloud *cloud;
  double extent[3]; /* of the cloud, not rounded down */
  gz_array triangles, free, waiting, seen, rim;
  uint32_t *link; /* the next point of a list */
  uint32_t *made; /* by corner: the new triangle whose edge begins there */
  uint32_t marks;
} growing_hull;

static hull_triangle *triangle(const growing_hull *h, uint32_t i) {
  return (hull_triangle *)h->triangles.data + i;
}

int gz_hull_side(const hull_cloud *cloud, const hull_triangle *t, uint32_t point, double *product) {
  const double *a = hull_point(cloud, t->v[0]), *p = hull_point(cloud, point);
  double d = t->normal[0] * (p[0] - a[0]) + t->normal[1] * (p[1] - a[1]) + t->normal[2] * (p[2] - a[2]);
  *product = d;
  if (d > t->slack) return 1;
  if (d < -t->slack) return -1;
  return gz_orient3d(a, hull_point(cloud, t->v[1]), hull_point(cloud, t->v[2]), p);
}

static void find_extent(growing_hull *h) {
  graze_box box = graze_box_empty();
  for (uint32_t i = 0; i < h->cloud->count; i++) graze_box_add_point(&box, hull_point(h->cloud, i));
  for (int k = 0; k < 3; k++) h->extent[k] = 1.0001 * (box.max[k] - box.min[k]);
}

/* ---- triangles -------------------------------------------------------------------------------------------------- */

static void find_plane(const growing_hull *h, hull_triangle *t) {
  const double *a = hull_point(h->cloud, t->v[0]), *b = hull_point(h->cloud, t->v[1]),
               *c = hull_point(h->cloud, t->v[2]);
  double u[3], v[3], sum = 0;
  for (int k = 0; k < 3; k++) {
    u[k] = b[k] - a[k];
    v[k] = c[k] - a[k];
  }
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    t->normal[k] = u[i] * v[j] - u[j] * v[i];
    sum += (fabs(u[i] * v[j]) + fabs(u[j] * v[i])) * h->extent[k];
  }
  bool in_window = sum > 1e-200 && h->extent[0] < 1e90 && h->extent[1] < 1e90 && h->extent[2] < 1e90;
  t->slack = in_window ? 9 * 0x1p-53 * sum : (double)INFINITY;
}

/* An element behind the others; NULL: memory was refused. */
static void *append(growing_hull *h, gz_array *a, size_t size) {
  if (!array_reserve(h->cloud->context, a, 1, size)) return NULL;
  return (char *)a->data + size * a->count++;
}

static bool append_number(growing_hull *h, gz_array *a, uint32_t number) {
  uint32_t *at = append(h, a, sizeof *at);
  if (at != NULL) *at = number;
  return at != NULL;
}

static uint32_t last_number(const gz_array *a) {
  return ((const uint32_t *)a->data)[a->count - 1];
}

/* A triangle with its plane and an empty list, in a place that is free; HULL_GONE: memory was refused. */
static uint32_t add_triangle(growing_hull *h, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t at = (uint32_t)h->triangles.count;
  if (h->free.count > 0) {
    at = last_number(&h->free);
    h->free.count--;
  } else if (append(h, &h->triangles, sizeof(hull_triangle)) == NULL) {
    return HULL_GONE;
  }
  hull_triangle *t = triangle(h, at);
  *t = (hull_triangle){.v = {a, b, c}, .first = HULL_GONE, .height = -(double)INFINITY};
  find_plane(h, t);
  return at;
}

/* ---- lists of points -------------------------------------------------------------------------------------------- */

/* Puts the point behind the list of the first of the triangles that it sees; a point that sees none is inside. */
static void give_point(growing_hull *h, uint32_t point, const uint32_t *triangles, size_t count) {
  for (size_t i = 0; i < count; i++) {
    hull_triangle *t = triangle(h, triangles[i]);
    double height;
    if (gz_hull_side(h->cloud, t, point, &height) <= 0) continue;
    h->link[point] = HULL_GONE;
    if (t->first == HULL_GONE) {
      t->first = t->farthest = point;
      t->height = height;
    } else {
      h->link[t->last] = point;
    }
    t->last = point;
    if (height > t->height) {
      t->height = height;
      t->farthest = point;
    }
    return;
  }
}

/* The new triangles that have points are to be worked on. */
static bool queue(growing_hull *h, const uint32_t *triangles, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (triangle(h, triangles[i])->first != HULL_GONE && !append_number(h, &h->waiting, triangles[i])) return false;
  }
  return true;
}

/* ---- a step ----------------------------------------------------------------------------------------------------- */

/* Whether the point sees the triangle: asked at most once a step, the answer is kept in its mark. */
static bool sees(growing_hull *h, uint32_t at, uint32_t point) {
  hull_triangle *t = triangle(h, at);
  double height;
  if (t->mark / 2 != h->marks) t->mark = 2 * h->marks + (gz_hull_side(h->cloud, t, point, &height) > 0);
  return t->mark % 2 != 0;
}

/* Lists all that the point sees, from one triangle on. */
static bool find_seen(growing_hull *h, uint32_t start, uint32_t point) {
  h->seen.count = 0;
  h->marks++;
  triangle(h, start)->mark = 2 * h->marks + 1;
  if (!append_number(h, &h->seen, start)) return false;
  for (size_t i = 0; i < h->seen.count; i++) {
    const hull_triangle *t = triangle(h, ((uint32_t *)h->seen.data)[i]);
    for (int k = 0; k < 3; k++) {
      bool is_known = triangle(h, t->next[k])->mark / 2 == h->marks;
      if (sees(h, t->next[k], point) && !is_known && !append_number(h, &h->seen, t->next[k])) return false;
    }
  }
  return true;
}

/* New triangles from the rim of what is seen to the point. Corners of the rim begin one edge of it each. */
static bool build_rim(growing_hull *h, uint32_t point) {
  h->rim.count = 0;
  for (size_t i = 0; i < h->seen.count; i++) {
    uint32_t from = ((uint32_t *)h->seen.data)[i];
    for (int k = 0; k < 3; k++) {
      const hull_triangle t = *triangle(h, from);
      if (sees(h, t.next[k], point)) continue;
      uint32_t made = add_triangle(h, t.v[k], t.v[(k + 1) % 3], point);
      if (made == HULL_GONE || !append_number(h, &h->rim, made)) return false;
      hull_triangle *beyond = triangle(h, t.next[k]);
      triangle(h, made)->next[0] = t.next[k];
      beyond->next[hull_edge_to(beyond, from)] = made;
      h->made[t.v[k]] = made;
    }
  }
  for (size_t i = 0; i < h->rim.count; i++) {
    uint32_t at = ((uint32_t *)h->rim.data)[i];
    uint32_t after = h->made[triangle(h, at)->v[1]];
    triangle(h, at)->next[1] = after;
    triangle(h, after)->next[2] = at;
  }
  return true;
}

/* Gives the points of what is seen to the new triangles and frees it. */
static bool drop_seen(growing_hull *h, uint32_t point) {
  for (size_t i = 0; i < h->seen.count; i++) {
    uint32_t at = ((uint32_t *)h->seen.data)[i];
    uint32_t next, p = triangle(h, at)->first;
    for (; p != HULL_GONE; p = next) {
      next = h->link[p];
      if (p != point) give_point(h, p, h->rim.data, h->rim.count);
    }
    triangle(h, at)->v[0] = triangle(h, at)->first = HULL_GONE;
    if (!append_number(h, &h->free, at)) return false;
  }
  return queue(h, h->rim.data, h->rim.count);
}

static bool grow(growing_hull *h) {
  while (h->waiting.count > 0) {
    uint32_t at = last_number(&h->waiting);
    h->waiting.count--;
    if (triangle(h, at)->first == HULL_GONE) continue;
    uint32_t point = triangle(h, at)->farthest;
    if (!find_seen(h, at, point) || !build_rim(h, point) || !drop_seen(h, point)) return false;
  }
  return true;
}

static bool begin(growing_hull *h) {
  static const int corners[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
  static const int beyond[4][3] = {{2, 3, 1}, {0, 3, 2}, {1, 3, 0}, {2, 1, 0}};
  const uint32_t four[4] = {0, 1, 2, 3};
  uint32_t s[4];
  memcpy(s, h->cloud->span, sizeof s);
  if (gz_orient3d(hull_point(h->cloud, s[0]), hull_point(h->cloud, s[1]), hull_point(h->cloud, s[2]),
                  hull_point(h->cloud, s[3])) > 0) { /* the fourth has to be behind the first triangle */
    s[1] = h->cloud->span[2];
    s[2] = h->cloud->span[1];
  }
  for (int i = 0; i < 4; i++) {
    uint32_t at = add_triangle(h, s[corners[i][0]], s[corners[i][1]], s[corners[i][2]]);
    if (at == HULL_GONE) return false;
    for (int k = 0; k < 3; k++) triangle(h, at)->next[k] = (uint32_t)beyond[i][k];
  }
  for (uint32_t p = 0; p < h->cloud->count; p++) give_point(h, p, four, 4);
  return queue(h, four, 4);
}

bool gz_hull_solid(const hull_cloud *cloud, hull_faces *faces) {
  growing_hull h = {.cloud = cloud};
  h.link = gz_new(cloud->context, cloud->count, sizeof *h.link);
  h.made = gz_new(cloud->context, cloud->count, sizeof *h.made);
  find_extent(&h);
  bool done = h.link && h.made && begin(&h) && grow(&h);
  gz_free(h.link);
  gz_free(h.made);
  gz_array *const arrays[] = {&h.free, &h.waiting, &h.seen, &h.rim};
  for (int i = 0; i < 4; i++) gz_free(arrays[i]->data);
  done = done && gz_hull_merge(cloud, h.triangles.data, (uint32_t)h.triangles.count, faces);
  gz_free(h.triangles.data);
  return done;
}
