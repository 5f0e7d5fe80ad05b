/* Quickhull with exact predicates: from a tetrahedron, point by point; each triangle keeps a list of points that see
 * it, and the farthest of a list is added next.
 *
 * A point sees a triangle if it lies strictly on its outer side, so triangles of one plane are seen together. A point
 * that sees a triangle that goes and is still outside sees one of the new ones: what it sees hangs together, so it sees
 * both sides of an edge of the rim or nothing that stays, and the plane between two that it is above is below it. So
 * nothing is ever lost, whatever point is taken next; that one is chosen in doubles, and sides are told by
 * gz_hull_side.
 *
 * Bound on errors: each of the six terms of the product has at most eight roundings, as in orient.c, and a difference
 * to v0 is at most the extent of the cloud: 8.1 u of the sum of |u_i v_j| extent_k, computed with 9 u. The window keeps
 * what underflows far below that.
 */
#include "convex/hull_solid.h"

#include <math.h>
#include <string.h>

#include "exact/orient.h"

/* A list of so many points is large. */
enum { LARGE = 64 };

typedef struct growing_hull {
  const hull_cloud *cloud;
  double extent[3]; /* of the cloud, not rounded down */
  growing surface;
  gz_array large, small; /* triangles that have points, or had */
  size_t done;           /* of the large ones */
  uint32_t *link;        /* the next point of a list */
} growing_hull;

static hull_triangle *triangle(const growing_hull *h, uint32_t i) {
  return surface_at(&h->surface, i);
}

int gz_hull_side(const hull_cloud *cloud, const hull_triangle *t, uint32_t point, double *product) {
  const uint32_t *v = t->at.v;
  const double *a = hull_point(cloud, v[0]), *p = hull_point(cloud, point);
  double d = t->normal[0] * (p[0] - a[0]) + t->normal[1] * (p[1] - a[1]) + t->normal[2] * (p[2] - a[2]);
  *product = d;
  if (d > t->slack) return 1;
  if (d < -t->slack) return -1;
  return gz_orient3d(a, hull_point(cloud, v[1]), hull_point(cloud, v[2]), p);
}

static bool sees(void *user, uint32_t at, uint32_t point) {
  const growing_hull *h = user;
  double height;
  return gz_hull_side(h->cloud, triangle(h, at), point, &height) > 0;
}

static void find_extent(growing_hull *h) {
  graze_box box = graze_box_empty();
  for (uint32_t i = 0; i < h->cloud->count; i++) graze_box_add_point(&box, hull_point(h->cloud, i));
  for (int k = 0; k < 3; k++) h->extent[k] = 1.0001 * (box.max[k] - box.min[k]);
}

/* The plane, and an empty list. */
static void prepare(const growing_hull *h, uint32_t at) {
  hull_triangle *t = triangle(h, at);
  const double *a = hull_point(h->cloud, t->at.v[0]), *b = hull_point(h->cloud, t->at.v[1]),
               *c = hull_point(h->cloud, t->at.v[2]);
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
  t->first = SURFACE_GONE;
}

/* Puts the point behind the list of the first of the triangles that it sees; a point that sees none is inside. */
static void give_point(growing_hull *h, uint32_t point, const gz_array *triangles) {
  for (size_t i = 0; i < triangles->count; i++) {
    hull_triangle *t = triangle(h, surface_number(triangles, i));
    double height;
    if (gz_hull_side(h->cloud, t, point, &height) <= 0) continue;
    h->link[point] = SURFACE_GONE;
    if (t->first == SURFACE_GONE) {
      t->first = t->farthest = point;
      t->height = height;
    } else {
      h->link[t->last] = point;
    }
    t->last = point;
    t->count++;
    if (height > t->height) {
      t->height = height;
      t->farthest = point;
    }
    return;
  }
}

/* Those of the triangles that have points are to be worked on. */
static bool queue(growing_hull *h, const gz_array *triangles) {
  for (size_t i = 0; i < triangles->count; i++) {
    uint32_t at = surface_number(triangles, i), count = triangle(h, at)->count;
    if (count == 0) continue;
    if (!gz_growing_append(&h->surface, count >= LARGE ? &h->large : &h->small, at)) return false;
  }
  return true;
}

static bool add_point(growing_hull *h, uint32_t start, uint32_t point) {
  growing *s = &h->surface;
  if (!gz_growing_add(s, start, point)) return false;
  for (size_t i = 0; i < s->rim.count; i++) prepare(h, surface_number(&s->rim, i));
  for (size_t i = 0; i < s->seen.count; i++) {
    hull_triangle *t = triangle(h, surface_number(&s->seen, i));
    for (uint32_t next, p = t->first; p != SURFACE_GONE; p = next) {
      next = h->link[p];
      if (p != point) give_point(h, p, &s->rim);
    }
    t->first = SURFACE_GONE;
  }
  return gz_growing_forget(s) && queue(h, &s->rim);
}

static bool work_on(growing_hull *h, uint32_t at) {
  return triangle(h, at)->first == SURFACE_GONE || add_point(h, at, triangle(h, at)->farthest);
}

/* Large lists in the order in which they came, so that the hull is refined evenly: depth first, one end of a cylinder
 * would be finished before the other, each point of which then sees a good part of it. Small ones depth first, as their
 * neighborhoods are at hand. */
static bool grow(growing_hull *h) {
  while (h->done < h->large.count || h->small.count > 0) {
    bool is_large = h->done < h->large.count;
    if (!work_on(h, is_large ? surface_number(&h->large, h->done++) : surface_number(&h->small, --h->small.count))) {
      return false;
    }
  }
  return true;
}

static bool begin(growing_hull *h) {
  uint32_t four[4] = {0, 1, 2, 3}, s[4];
  const gz_array all = {four, 4, 4};
  memcpy(s, h->cloud->span, sizeof s);
  if (gz_orient3d(hull_point(h->cloud, s[0]), hull_point(h->cloud, s[1]), hull_point(h->cloud, s[2]),
                  hull_point(h->cloud, s[3])) > 0) {
    s[1] = h->cloud->span[2];
    s[2] = h->cloud->span[1];
  }
  if (!gz_growing_begin(&h->surface, s)) return false;
  for (uint32_t i = 0; i < 4; i++) prepare(h, i);
  for (uint32_t p = 0; p < h->cloud->count; p++) give_point(h, p, &all);
  return queue(h, &all);
}

bool gz_hull_solid(const hull_cloud *cloud, hull_faces *faces) {
  growing_hull h = {.cloud = cloud,
                    .surface = {.context = cloud->context, .size = sizeof(hull_triangle), .sees = sees}};
  h.surface.user = &h;
  h.link = gz_new(cloud->context, cloud->count, sizeof *h.link);
  find_extent(&h);
  bool done = h.link && begin(&h) && grow(&h);
  done = done && gz_hull_merge(cloud, h.surface.triangles.data, (uint32_t)h.surface.triangles.count, faces);
  gz_free(h.link);
  gz_free(h.large.data);
  gz_free(h.small.data);
  gz_growing_release(&h.surface);
  return done;
}
