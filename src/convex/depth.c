/* How deep two convex sets are in each other: how far the origin is from the surface of A - B.
 *
 * G. van den Bergen's expanding polytope: a polyhedron of points of A - B grows where its surface is nearest to the
 * origin, until there is nothing more in that direction. Here its signs are exact, so that it is the hull of its points
 * at every moment: no step fails, each adds a point that was outside, and the polyhedron ends as A - B itself if not
 * before. It need not hold the origin in the beginning, as a face that has it outside is the nearest of all.
 *
 * The distance to the plane of the nearest face is a lower bound on the depth, and the width of A - B in the direction
 * of any normal an upper one. Both are in doubles with bounds on their errors; a face for which these are too wide is
 * measured again with integers.
 */
#include "convex/depth.h"

#include <math.h>
#include <string.h>

static const double TINY = 0x1p-1000;

enum { ROUGH, CLOSE, EXACT };

typedef struct depth_face {
  surface_triangle at;
  convex_plane plane;
  convex_bracket distance; /* from the origin to the plane; below 0: the origin is outside */
  int care;                /* with how much it was measured: in doubles, in short differences, in integers */
  bool is_final;           /* nothing of A - B is outside */
} depth_face;

typedef struct depth_search {
  convex_pair *pair;
  growing *surface; /* of the pair, as are: */
  gz_array *points; /* convex_point */
  gz_array *lower;  /* of each triangle the lower end of its distance; infinity: it is no longer there */
  double upper;
  bool is_sharp;
} depth_search;

static const convex_point *point(const depth_search *d, uint32_t i) {
  return (const convex_point *)d->points->data + i;
}

static depth_face *face(const depth_search *d, uint32_t i) {
  return surface_at(d->surface, i);
}

static int side_of(const depth_search *d, const depth_face *f, const convex_point *p) {
  const uint32_t *v = f->at.v;
  return gz_pair_side(d->pair, &f->plane, point(d, v[0]), point(d, v[1]), point(d, v[2]), p);
}

/* Whether four points are a parallelogram, of two vertices of A and two of B, and so in one plane. Most faces of A - B
 * are. */
static bool is_parallelogram(const depth_search *d, const depth_face *f, const convex_point *p) {
  for (int side = 0; side < 2; side++) {
    uint32_t first = p->v[side], second = first;
    for (int i = 0; i < 3; i++) {
      uint32_t v = point(d, f->at.v[i])->v[side];
      if (v == first || v == second) continue;
      if (second != first) return false;
      second = v;
    }
  }
  return true;
}

/* A product with a bound on its error; where that leaves it open, the careful way. */
static bool is_outside(const depth_search *d, const depth_face *f, const convex_point *p) {
  const double *w0 = point(d, f->at.v[0])->w, *n = f->plane.n, *off = f->plane.error, *gap = d->pair->gap;
  double value = 0, error = 0;
  for (int k = 0; k < 3; k++) {
    double way = p->w[k] - w0[k];
    value += n[k] * way;
    error += off[k] * (fabs(way) + gap[k]) + fabs(n[k]) * gap[k] + 0x1.1p-51 * fabs(n[k] * way);
  }
  if (fabs(value) > 1.01 * error + TINY) return value > 0;
  return !is_parallelogram(d, f, p) && side_of(d, f, p) > 0;
}

static bool sees(void *user, uint32_t triangle, uint32_t at) {
  const depth_search *d = user;
  return is_outside(d, face(d, triangle), point(d, at));
}

static bool add_vertex(depth_search *d, const convex_point *p) {
  if (!array_reserve(d->pair->context, d->points, 1, sizeof *p)) return false;
  ((convex_point *)d->points->data)[d->points->count++] = *p;
  return true;
}

/* ---- measures --------------------------------------------------------------------------------------------------- */

/* n . w / |n| with what n and w may be off. The plane passes through the triangle, so an error of the direction moves
 * it by as much at the nearest corner. */
convex_bracket gz_depth_distance(const convex_pair *pair, const convex_plane *plane, const double w[3]) {
  const double *n = plane->n, *off = plane->error;
  double square = 0, turn = 0, value = 0, error = 0x1p-1060; /* what underflows */
  for (int k = 0; k < 3; k++) {
    square += n[k] * n[k];
    turn += off[k];
    value += n[k] * w[k];
    error += off[k] * (fabs(w[k]) + pair->off[k]) + fabs(n[k]) * pair->off[k] + 0x1p-50 * fabs(n[k] * w[k]);
  }
  double length = sqrt(square), share = 1 / length, tilt = turn * share;
  if (!(length > 0x1p-500 && tilt < 0.25)) return (convex_bracket){-(double)INFINITY, (double)INFINITY, 0};
  double at = value * share, wide = 1.01 * error * share + 2 * (tilt + 0x1p-50) * fabs(at);
  return (convex_bracket){at - wide, at + wide, at};
}

static void measure(const depth_search *d, depth_face *f) {
  f->distance = gz_depth_distance(d->pair, &f->plane, point(d, f->at.v[0])->w);
}

/* The normal is then one of length 1, each part right to 2^-50. */
static void measure_exactly(const depth_search *d, depth_face *f) {
  big_vector o, u, v, n;
  big height, above, below;
  gz_pair_exact_point(d->pair, point(d, f->at.v[0]), &o);
  gz_pair_exact_point(d->pair, point(d, f->at.v[1]), &u);
  gz_pair_exact_point(d->pair, point(d, f->at.v[2]), &v);
  gz_big_between(&o, &u, &u);
  gz_big_between(&o, &v, &v);
  gz_big_cross(&u, &v, &n);
  gz_big_dot(&n, &o, &height);
  gz_big_mul(&above, &height, &height);
  gz_big_dot(&n, &n, &below);
  for (int k = 0; k < 3; k++) {
    gz_big_mul(&u.x[k], &n.x[k], &n.x[k]);
    f->plane.n[k] = n.x[k].sign * gz_big_root_ratio(&u.x[k], &below);
    f->plane.error[k] = 0x1p-50;
  }
  f->distance = gz_pair_root(d->pair, &above, &below);
  if (height.sign < 0) {
    f->distance = (convex_bracket){-f->distance.upper, -f->distance.lower, -f->distance.value};
  }
  f->care = EXACT;
}

static void set_lower(const depth_search *d, uint32_t at) {
  ((double *)d->lower->data)[at] = face(d, at)->distance.lower;
}

convex_plane gz_depth_rough_plane(const convex_pair *pair, const double p0[3], const double p1[3], const double p2[3]) {
  double u[3], v[3], sum[3];
  convex_plane plane;
  for (int k = 0; k < 3; k++) {
    u[k] = p1[k] - p0[k];
    v[k] = p2[k] - p0[k];
    sum[k] = fabs(u[k]) + fabs(v[k]);
  }
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    plane.n[k] = u[i] * v[j] - u[j] * v[i];
    plane.error[k] = 1.01 * (pair->gap[i] * sum[j] + pair->gap[j] * sum[i] + 2 * pair->gap[i] * pair->gap[j]) +
                     0x1.1p-52 * sum[i] * sum[j] + TINY;
  }
  return plane;
}

/* Of a triangle that is new. False: memory was refused. */
static bool prepare(depth_search *d, uint32_t at) {
  depth_face *f = face(d, at);
  f->plane = gz_depth_rough_plane(d->pair, point(d, f->at.v[0])->w, point(d, f->at.v[1])->w, point(d, f->at.v[2])->w);
  measure(d, f);
  if (at >= d->lower->count) {
    if (!array_reserve(d->pair->context, d->lower, at + 1 - d->lower->count, sizeof(double))) return false;
    d->lower->count = at + 1;
  }
  set_lower(d, at);
  return true;
}

static void measure_again(const depth_search *d, uint32_t at) {
  depth_face *f = face(d, at);
  if (f->care == ROUGH) {
    f->care = CLOSE;
    f->plane = gz_pair_plane(d->pair, point(d, f->at.v[0]), point(d, f->at.v[1]), point(d, f->at.v[2]));
    measure(d, f);
  } else {
    measure_exactly(d, f);
  }
  set_lower(d, at);
}

/* Of two faces with the same lower end. */
static bool comes_first(const depth_face *f, const depth_face *other) {
  if ((f->care == EXACT) != (other->care == EXACT)) return f->care != EXACT;
  return f->care == EXACT && f->distance.value < other->distance.value;
}

/* The face with the least lower end. Distances that differ by less than the gap of two doubles may share it: one that
 * is not known exactly comes first, then the one that rounds to less. */
static uint32_t nearest_face(const depth_search *d) {
  const double *lower = d->lower->data;
  uint32_t best = 0;
  for (uint32_t i = 1; i < d->lower->count; i++) {
    if (lower[i] > lower[best]) continue;
    if (lower[i] < lower[best] || (isfinite(lower[i]) && comes_first(face(d, i), face(d, best)))) best = i;
  }
  return best;
}

/* ---- the beginning ---------------------------------------------------------------------------------------------- */

/* The point if it is not in the span of those before; *count of them are known. */
static bool extends(const depth_search *d, const convex_point *p) {
  size_t count = d->points->count;
  const convex_pair *pair = d->pair;
  if (count == 0) return true;
  if (count == 1) return !gz_pair_same(pair, point(d, 0), p);
  if (count == 2) return !gz_pair_on_line(pair, point(d, 0), point(d, 1), p);
  convex_plane plane = gz_pair_plane(pair, point(d, 0), point(d, 1), point(d, 2));
  return gz_pair_side(pair, &plane, point(d, 0), point(d, 1), point(d, 2), p) != 0;
}

/* Four points of A - B that are in no plane, those of the simplex if they can be: four that enclose the origin are. All
 * of A - B is spanned by the differences to one of its points, in one side or the other. False: memory was refused;
 * fewer than four are found if A - B is flat. */
static bool find_four(depth_search *d, const convex_simplex *s) {
  for (int i = 0; i < s->count && d->points->count < 4; i++) {
    if ((s->count == 4 || extends(d, &s->p[i])) && !add_vertex(d, &s->p[i])) return false;
  }
  const uint32_t *first = s->p[0].v;
  for (int side = 0; side < 2; side++) {
    for (uint32_t i = 0; i < d->pair->side[side].count && d->points->count < 4; i++) {
      convex_point p = gz_pair_point(d->pair, side == 0 ? i : first[0], side == 1 ? i : first[1]);
      if (extends(d, &p) && !add_vertex(d, &p)) return false;
    }
  }
  return true;
}

static bool begin(depth_search *d) {
  uint32_t four[4] = {0, 1, 2, 3};
  convex_plane plane = gz_pair_plane(d->pair, point(d, 0), point(d, 1), point(d, 2));
  if (gz_pair_side(d->pair, &plane, point(d, 0), point(d, 1), point(d, 2), point(d, 3)) > 0) {
    four[1] = 2;
    four[2] = 1;
  }
  if (!gz_growing_begin(d->surface, four)) return false;
  for (uint32_t i = 0; i < 4; i++) {
    if (!prepare(d, i)) return false;
  }
  return true;
}

/* ---- growth ----------------------------------------------------------------------------------------------------- */

/* A point of A - B outside the face, exactly; false: there is none. Along the normal the extremes of A and of B are
 * found one by one, and the face's own corner has both of the face's. */
static bool find_outside(const depth_search *d, const depth_face *f, convex_point *out) {
  const uint32_t *own = point(d, f->at.v[0])->v;
  for (int side = 0; side < 2; side++) {
    for (uint32_t i = 0; i < d->pair->side[side].count; i++) {
      *out = gz_pair_point(d->pair, side == 0 ? i : own[0], side == 1 ? i : own[1]);
      if (is_outside(d, f, out)) return true;
    }
  }
  return false;
}

static bool grow(depth_search *d, uint32_t at, const convex_point *p) {
  if (!add_vertex(d, p) || !gz_growing_add(d->surface, at, (uint32_t)d->points->count - 1)) return false;
  for (size_t i = 0; i < d->surface->rim.count; i++) {
    if (!prepare(d, surface_number(&d->surface->rim, i))) return false;
  }
  for (size_t i = 0; i < d->surface->seen.count; i++) {
    ((double *)d->lower->data)[surface_number(&d->surface->seen, i)] = (double)INFINITY;
  }
  return gz_growing_forget(d->surface);
}

typedef enum progress { REFUSED, GOING, DONE } progress;

/* Works on the nearest face. */
static progress advance(depth_search *d, uint32_t at) {
  depth_face *f = face(d, at);
  double tolerance = d->pair->tolerance, product;
  if (f->care != EXACT && !(f->distance.upper - f->distance.lower <= 0.25 * tolerance)) {
    measure_again(d, at);
    return GOING;
  }
  convex_point p = gz_pair_support(d->pair, f->plane.n, &product);
  const double *n = f->plane.n;
  double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  double upper = (product + gz_pair_slop(d->pair, n)) / length * (1 + 0x1p-50);
  if (upper < d->upper) d->upper = upper;
  bool is_narrow = f->distance.lower > 0 && d->upper - f->distance.lower <= tolerance && !d->is_sharp;
  if (f->is_final || is_narrow) return DONE;
  if (!is_outside(d, f, &p)) {
    if (f->care != EXACT) {
      measure_again(d, at);
      return GOING;
    }
    f->is_final = !find_outside(d, f, &p);
    if (f->is_final) return GOING;
  }
  return grow(d, at, &p) ? GOING : REFUSED;
}

double gz_depth_foot(const double n[3], convex_simplex *s) {
  double square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2], sum = 0, foot[3], found = 0;
  s->count = 3;
  const double *w = s->p[0].w;
  double height = (n[0] * w[0] + n[1] * w[1] + n[2] * w[2]) / square;
  for (int k = 0; k < 3; k++) foot[k] = height * n[k];
  for (int i = 0; i < 3; i++) {
    const double *p = s->p[(i + 1) % 3].w, *q = s->p[(i + 2) % 3].w;
    s->share[i] = 0;
    for (int k = 0; k < 3; k++) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      s->share[i] += n[k] * ((p[a] - foot[a]) * (q[b] - foot[b]) - (p[b] - foot[b]) * (q[a] - foot[a]));
    }
    s->share[i] = s->share[i] > 0 ? s->share[i] : 0;
    sum += s->share[i];
  }
  for (int i = 0; i < 3; i++) s->share[i] = sum > 0 ? s->share[i] / sum : i == 0;
  for (int k = 0; k < 3; k++) {
    double at = s->share[0] * s->p[0].w[k] + s->share[1] * s->p[1].w[k] + s->share[2] * s->p[2].w[k];
    found += at * at;
  }
  return found;
}

/* A face of A - B may be several triangles: the foot is in one of them. Gives its normal. */
static void find_deepest(const depth_search *d, const convex_bracket *depth, convex_simplex *s, double normal[3]) {
  double least = (double)INFINITY;
  for (uint32_t i = 0; i < d->surface->triangles.count; i++) {
    const depth_face *f = face(d, i);
    if (f->at.v[0] == SURFACE_GONE || f->distance.lower > depth->upper) continue;
    convex_simplex other;
    for (int c = 0; c < 3; c++) other.p[c] = *point(d, f->at.v[c]);
    double square = gz_depth_foot(f->plane.n, &other);
    if (square >= least) continue;
    const double *n = f->plane.n, length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3; k++) normal[k] = n[k] / length;
    least = square;
    *s = other;
  }
}

static bool search(depth_search *d, convex_simplex *simplex, convex_bracket *depth, double normal[3]) {
  progress state = GOING;
  uint32_t at = SURFACE_GONE;
  if (!begin(d)) return false;
  while (state == GOING) {
    at = nearest_face(d);
    state = advance(d, at);
  }
  if (state == REFUSED) return false;
  const depth_face *f = face(d, at);
  *depth = f->distance;
  if (d->upper < depth->upper || !f->is_final) depth->upper = d->upper;
  find_deepest(d, depth, simplex, normal);
  return true;
}

/* Of a flat A - B, which the sets leave without moving through each other. */
static void find_flat_normal(const depth_search *d, double normal[3]) {
  double square = 0;
  memset(normal, 0, 3 * sizeof *normal);
  if (d->points->count < 3) return;
  convex_plane plane = gz_pair_plane(d->pair, point(d, 0), point(d, 1), point(d, 2));
  for (int k = 0; k < 3; k++) square += plane.n[k] * plane.n[k];
  for (int k = 0; k < 3 && square > 0; k++) normal[k] = plane.n[k] / sqrt(square);
}

bool gz_depth(convex_pair *pair, bool is_sharp, convex_simplex *simplex, convex_bracket *depth, double normal[3]) {
  if (!is_sharp && simplex->count == 4 && gz_depth_quick(pair, simplex, depth, normal)) return true;
  depth_search d = {pair, &pair->surface, &pair->vertices, &pair->lower, (double)INFINITY, is_sharp};
  d.surface->context = pair->context;
  d.surface->size = sizeof(depth_face);
  d.surface->sees = sees;
  d.surface->user = &d;
  d.points->count = d.lower->count = 0;
  *depth = (convex_bracket){0, 0, 0};
  if (!find_four(&d, simplex)) return false;
  if (d.points->count == 4) return search(&d, simplex, depth, normal);
  find_flat_normal(&d, normal);
  return true;
}
