/* Pairs of features of two surfaces; see the header. */
#include "rigid/features.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "rigid/vector.h"

/* A place that is off by this part of the sizes is on the rim of a face, or at the end of an edge. */
static const double on_rim = 1e-7;

/* Squared sine of two edges that are taken for parallel: then corners tell. */
static const double parallel = 1e-6;

typedef enum touch_kind { CORNER_FACE = 1, EDGE_EDGE, CORNER_EDGE, CORNER_CORNER } touch_kind;

/* A touch in the making. */
typedef struct claim {
  feature_touch touch;
  uint64_t corner; /* of CORNER_ ones: which, of which side */
  uint32_t face;   /* of CORNER_FACE, on the other side */
  uint32_t edges[2];
  double turn;    /* of EDGE_EDGE: 1, or -1: the normal is against the cross product */
  double height;  /* of the corner over the surface: below 0 behind it */
  bool in_valley; /* beyond the rim, below the neighbour that bends up */
  bool is_blind;  /* the corner is there, but points elsewhere: it only says where the surface is */
} claim;

typedef struct finding {
  const graze_context *context;
  const feature_side *sides;
  const feature_frame *frame;
  const feature_limits *limits;
  double margin, depth, radius, slack;
  gz_array *claims;
  double corners[2][3][3]; /* of the two triangles, in the first's coordinates */
  bool no_memory;
} finding;

/* A direction of the first's coordinates, in those of a side. */
static void to_side(const finding *f, int side, const double way[3], double out[3]) {
  if (side == 0)
    memcpy(out, way, 3 * sizeof *out);
  else
    turn_back3(f->frame->rotation, way, out);
}

static void from_side(const finding *f, int side, const double way[3], double out[3]) {
  if (side == 0)
    memcpy(out, way, 3 * sizeof *out);
  else
    turn3(f->frame->rotation, way, out);
}

/* `way`: along which the side is pushed, which is also where its solid lies. */
static bool corner_faces(const finding *f, int side, uint32_t corner, const double way[3]) {
  double own[3];
  to_side(f, side, way, own);
  return gz_surface_corner_faces(f->sides[side].surface, corner, own);
}

static bool edge_faces(const finding *f, int side, uint32_t edge, const double way[3]) {
  double own[3];
  to_side(f, side, way, own);
  return gz_surface_edge_faces(f->sides[side].surface, edge, own);
}

/* `out`: the unit vector from the side `to` to the side `from`, whose feature is at `at`. */
static claim *put(finding *f, int from, const double at[3], const double foot[3], const double out[3], double height,
                  touch_kind kind, uint32_t mine, uint32_t other) {
  if (!array_reserve(f->context, f->claims, 1, sizeof(claim))) {
    f->no_memory = true;
    return NULL;
  }
  claim *c = (claim *)f->claims->data + f->claims->count++;
  memset(c, 0, sizeof *c);
  memcpy(c->touch.points[from], at, sizeof c->touch.points[from]);
  memcpy(c->touch.points[1 - from], foot, sizeof c->touch.points[from]);
  for (int k = 0; k < 3; k++) c->touch.normal[k] = from == 0 ? out[k] : -out[k];
  c->touch.gap = height - f->radius;
  c->touch.feature = (uint32_t)splitmix64(splitmix64((uint64_t)kind << 33 | (uint64_t)from << 32 | mine) + other);
  c->touch.owner = kind == CORNER_FACE ? (uint32_t)from : 0;
  c->corner = kind == EDGE_EDGE ? UINT64_MAX : (uint64_t)from << 32 | mine;
  c->height = height;
  return c;
}

/* ---- corners on faces -------------------------------------------------------------------------------------------- */

/* A point of the first's coordinates in those of a side. */
static void to_own(const feature_frame *frame, int side, const double at[3], double own[3]) {
  double way[3];
  if (side == 0) {
    memcpy(own, at, 3 * sizeof *own);
  } else {
    sub3(at, frame->place, way);
    turn_back3(frame->rotation, way, own);
  }
}

/* The height of a point in a surface's own coordinates over the plane of a face. */
static double height_over(const rigid_surface *s, uint32_t face, const double own[3]) {
  double way[3];
  sub3(own, s->corners[s->faces[face].corners[0]], way);
  return dot3(s->faces[face].normal, way);
}

/* Whether a point is over the triangle of a side. Beyond an edge that bends up it still is as long as it is below the
 * face behind: in a valley, what has sunk into one side is still held by the other. */
static bool is_over(const finding *f, int side, const surface_face *face, uint32_t number, const double normal[3],
                    const double at[3], bool *in_valley) {
  const rigid_surface *s = f->sides[side].surface;
  *in_valley = false;
  for (int i = 0; i < 3; i++) {
    const double *from = f->corners[side][i], *to = f->corners[side][(i + 1) % 3];
    double u[3], out[3], way[3];
    sub3(to, from, u);
    cross3(u, normal, out);
    sub3(at, from, way);
    const double beyond = dot3(out, way) / length3(u);
    if (beyond <= f->slack) continue;
    const surface_edge *e = &s->edges[face->edges[i]];
    if (e->bend != BEND_VALLEY || beyond > f->depth) return false;
    const uint32_t behind = e->faces[0] == number ? e->faces[1] : e->faces[0];
    double own[3];
    to_own(f->frame, side, at, own);
    if (height_over(s, behind, own) > f->slack) return false;
    *in_valley = true;
  }
  return true;
}

static void try_corner_face(finding *f, int from, uint32_t corner, const double at[3], uint32_t number) {
  const int side = 1 - from;
  const surface_face *face = &f->sides[side].surface->faces[number];
  double normal[3], way[3], foot[3];
  bool in_valley;
  if (face->is_flat) return;
  from_side(f, side, face->normal, normal);
  sub3(at, f->corners[side][0], way);
  const double height = dot3(normal, way);
  if (height > fmax(f->margin + f->radius, f->depth) || height < -f->depth) return;
  if (!is_over(f, side, face, number, normal, at, &in_valley)) return;
  add_scaled3(at, -height, normal, foot);
  claim *c = put(f, from, at, foot, normal, height, CORNER_FACE, corner, face->region);
  if (c == NULL) return;
  c->face = number;
  c->in_valley = in_valley;
  c->is_blind = height - f->radius > f->margin || !corner_faces(f, from, corner, normal);
}

/* ---- edges across edges ------------------------------------------------------------------------------------------ */

/* Of an overlap: by how much the nearest points of lines may be beyond the ends of edges. Where two edges of a saddle
 * meet and overlap two of another, those of all four pairs are. */
static const double beyond_ends = 0.25;

/* The nearest points of two lines that are not parallel; `beyond`: by how much they are not on the segments. */
static bool meet(const double *const ends[2][2], double at[2][3], double across[3], double *beyond) {
  double u[3], v[3], w[3];
  sub3(ends[0][1], ends[0][0], u);
  sub3(ends[1][1], ends[1][0], v);
  sub3(ends[0][0], ends[1][0], w);
  const double a = dot3(u, u), b = dot3(u, v), c = dot3(v, v), d = dot3(u, w), e = dot3(v, w);
  cross3(u, v, across);
  const double det = dot3(across, across);
  if (!(det > parallel * a * c)) return false;
  const double t = (b * e - c * d) / det, z = (a * e - b * d) / det;
  *beyond = fmax(fmax(-t, t - 1) * sqrt(a), fmax(-z, z - 1) * sqrt(c));
  add_scaled3(ends[0][0], t, u, at[0]);
  add_scaled3(ends[1][0], z, v, at[1]);
  const double length = sqrt(det);
  for (int k = 0; k < 3; k++) across[k] /= length;
  return true;
}

static void try_edges(finding *f, uint32_t first, const double *const a[2], uint32_t second, const double *const b[2]) {
  const double *const ends[2][2] = {{a[0], a[1]}, {b[0], b[1]}};
  double at[2][3], normal[3], way[3], beyond;
  if (!meet(ends, at, normal, &beyond)) return;
  sub3(at[0], at[1], way);
  double gap = dot3(normal, way);
  if (fabs(gap) - f->radius > f->margin && fabs(gap) > f->depth) return;
  for (int turn = 0; turn < 2; turn++) {
    const double back[3] = {-normal[0], -normal[1], -normal[2]};
    const double slack = f->slack + beyond_ends * fmax(-gap, 0);
    if (beyond <= slack && gap - f->radius <= f->margin && gap >= -f->depth && edge_faces(f, 0, first, normal) &&
        edge_faces(f, 1, second, back)) {
      claim *c = put(f, 0, at[0], at[1], normal, gap, EDGE_EDGE, first, second);
      if (c == NULL) return;
      c->edges[0] = first;
      c->edges[1] = second;
      c->turn = turn == 0 ? 1 : -1;
      return;
    }
    memcpy(normal, back, sizeof normal);
    gap = -gap;
  }
}

/* ---- round ones -------------------------------------------------------------------------------------------------- */

static void try_corner_edge(finding *f, int from, uint32_t corner, const double at[3], uint32_t edge,
                            const double *const ends[2]) {
  const int side = 1 - from;
  double u[3], way[3], foot[3], out[3];
  sub3(ends[1], ends[0], u);
  sub3(at, ends[0], way);
  const double t = dot3(way, u) / dot3(u, u);
  if (!(t > 0 && t < 1)) return;
  add_scaled3(ends[0], t, u, foot);
  sub3(at, foot, out);
  const double distance = length3(out);
  if (!(distance > f->slack) || distance - f->radius > f->margin) return;
  for (int k = 0; k < 3; k++) out[k] /= distance;
  const double back[3] = {-out[0], -out[1], -out[2]};
  if (!edge_faces(f, side, edge, back) || !corner_faces(f, from, corner, out)) return;
  put(f, from, at, foot, out, distance, CORNER_EDGE, corner, edge);
}

static void try_corners(finding *f, uint32_t first, const double a[3], uint32_t second, const double b[3]) {
  double out[3];
  sub3(a, b, out);
  const double distance = length3(out);
  if (!(distance > f->slack) || distance - f->radius > f->margin) return;
  for (int k = 0; k < 3; k++) out[k] /= distance;
  const double back[3] = {-out[0], -out[1], -out[2]};
  if (!corner_faces(f, 0, first, out) || !corner_faces(f, 1, second, back)) return;
  put(f, 0, a, b, out, distance, CORNER_CORNER, first, second);
}

/* ---- triangles --------------------------------------------------------------------------------------------------- */

static void try_pair(finding *f, const graze_triangle_pair *pair) {
  const uint32_t numbers[2] = {pair->a, pair->b};
  const surface_face *faces[2];
  const double *ends[2][3][2];
  for (int side = 0; side < 2; side++) {
    const rigid_surface *s = f->sides[side].surface;
    faces[side] = &s->faces[numbers[side]];
    for (int i = 0; i < 3; i++) {
      double *at = f->corners[side][i];
      from_side(f, side, s->corners[faces[side]->corners[i]], at);
      for (int k = 0; k < 3 && side == 1; k++) at[k] += f->frame->place[k];
      ends[side][i][0] = at;
      ends[side][i][1] = f->corners[side][(i + 1) % 3];
    }
  }
  for (int side = 0; side < 2; side++) {
    for (int i = 0; i < 3; i++) {
      if (!(faces[side]->own >> i & 1)) continue;
      const double *at = f->corners[side][i];
      try_corner_face(f, side, faces[side]->corners[i], at, numbers[1 - side]);
      for (int k = 0; k < 3 && f->radius > 0; k++) {
        if (faces[1 - side]->own >> (3 + k) & 1)
          try_corner_edge(f, side, faces[side]->corners[i], at, faces[1 - side]->edges[k], ends[1 - side][k]);
        if (side == 0 && (faces[1]->own >> k & 1))
          try_corners(f, faces[0]->corners[i], at, faces[1]->corners[k], f->corners[1][k]);
      }
    }
  }
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3 && (faces[0]->own >> (3 + i) & 1); k++) {
      if (faces[1]->own >> (3 + k) & 1) try_edges(f, faces[0]->edges[i], ends[0][i], faces[1]->edges[k], ends[1][k]);
    }
  }
}

/* ---- corners behind several faces -------------------------------------------------------------------------------- */

static int compare_claims(const void *x, const void *y) {
  const claim *a = x, *b = y;
  if (a->corner != b->corner) return a->corner < b->corner ? -1 : 1;
  if (a->in_valley != b->in_valley) return b->in_valley ? -1 : 1;
  if (fabs(a->height) != fabs(b->height)) return fabs(a->height) < fabs(b->height) ? -1 : 1;
  if ((a->height < 0) != (b->height < 0)) return a->height < 0 ? 1 : -1;
  return a->touch.feature < b->touch.feature ? -1 : a->touch.feature > b->touch.feature;
}

static bool is_known(const finding *f, uint32_t feature) {
  uint32_t low = 0, high = f->limits->known_count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (f->limits->known[middle] < feature)
      low = middle + 1;
    else
      high = middle;
  }
  return low < f->limits->known_count && f->limits->known[low] == feature;
}

/* Where a corner is, in the first's coordinates, or was before. */
static void find_corner(const finding *f, const feature_frame *frame, int side, uint32_t corner, double at[3]) {
  memcpy(at, f->sides[side].surface->corners[corner], 3 * sizeof *at);
  if (side == 0) return;
  turn3(frame->rotation, at, at);
  for (int k = 0; k < 3; k++) at[k] += frame->place[k];
}

/* Whether a point of a face's plane is on the face, which goes on beyond edges without a bend. */
static bool is_within(const finding *f, const rigid_surface *s, uint32_t number, const double own[3]) {
  const surface_face *face = &s->faces[number];
  for (int i = 0; i < 3; i++) {
    const double *from = s->corners[face->corners[i]], *to = s->corners[face->corners[(i + 1) % 3]];
    double u[3], out[3], way[3];
    sub3(to, from, u);
    cross3(u, face->normal, out);
    sub3(own, from, way);
    if (dot3(out, way) > f->slack * length3(u) && s->edges[face->edges[i]].bend == BEND_RIDGE) return false;
  }
  return true;
}

/* Whether a corner was in front of the face before, and went through it on the straight way since. */
static bool corner_came_through(const finding *f, const claim *c) {
  const int from = (int)(c->corner >> 32), side = 1 - from;
  const feature_frame *const frames[2] = {f->limits->before, f->frame};
  const rigid_surface *s = f->sides[side].surface;
  double own[2][3], heights[2], at[3], way[3];
  for (int i = 0; i < 2; i++) {
    find_corner(f, frames[i], from, (uint32_t)c->corner, at);
    to_own(frames[i], side, at, own[i]);
    heights[i] = height_over(s, c->face, own[i]);
  }
  if (heights[0] < -f->slack) return false;
  sub3(own[1], own[0], way);
  add_scaled3(own[0], fmax(heights[0], 0) / (fmax(heights[0], 0) - heights[1]), way, at);
  return is_within(f, s, c->face, at);
}

/* The gap of two lines along the normal across them, and how far along them it is measured, as parts of the edges. */
static bool measure_edges(const finding *f, const feature_frame *frame, const claim *c, double *gap, double parts[2]) {
  double ends[2][2][3], u[2][3], across[3], way[3];
  for (int side = 0; side < 2; side++) {
    const surface_edge *e = &f->sides[side].surface->edges[c->edges[side]];
    for (int i = 0; i < 2; i++) find_corner(f, frame, side, e->corners[i], ends[side][i]);
    sub3(ends[side][1], ends[side][0], u[side]);
  }
  cross3(u[0], u[1], across);
  sub3(ends[0][0], ends[1][0], way);
  const double a = dot3(u[0], u[0]), b = dot3(u[0], u[1]), e = dot3(u[1], u[1]), det = dot3(across, across);
  if (!(det > parallel * a * e)) return false;
  *gap = c->turn * dot3(across, way) / sqrt(det);
  parts[0] = (b * dot3(u[1], way) - e * dot3(u[0], way)) / det;
  parts[1] = (a * dot3(u[1], way) - b * dot3(u[0], way)) / det;
  return true;
}

/* Whether edges were on their own sides of each other before, and crossed since, and not their lines elsewhere. */
static bool edges_came_through(const finding *f, const claim *c) {
  double gaps[2], parts[2][2];
  if (!measure_edges(f, f->limits->before, c, &gaps[0], parts[0])) return false;
  if (!measure_edges(f, f->frame, c, &gaps[1], parts[1]) || gaps[0] < -f->slack) return false;
  const double when = fmax(gaps[0], 0) / (fmax(gaps[0], 0) - gaps[1]);
  for (int side = 0; side < 2; side++) {
    const double part = parts[0][side] + when * (parts[1][side] - parts[0][side]);
    if (!(part > -beyond_ends && part < 1 + beyond_ends)) return false;
  }
  return true;
}

static bool came_through(const finding *f, const claim *c) {
  if (f->limits->before == NULL) return false;
  return c->corner == UINT64_MAX ? edges_came_through(f, c) : corner_came_through(f, c);
}

/* Of a corner that is in front of the surface at its nearest place no other face is pierced: it is the far side of
 * something thin, or another fold. `nearest`: how far behind that place it is, or below 0. */
static bool holds(const finding *f, const claim *c, double nearest) {
  if (c->is_blind) return false;
  if (c->height >= -f->slack || is_known(f, c->touch.feature)) return true;
  if (c->corner == UINT64_MAX || c->in_valley) return c->height >= -f->limits->slight || came_through(f, c);
  if (c->height >= -f->limits->sudden && -c->height <= nearest + f->slack) return true;
  return came_through(f, c);
}

/* How far a corner is behind the nearest place of the surface by which it may leave; below 0: it is nearer to one that
 * it is in front of. */
static double find_nearest(const claim *first, const claim *end) {
  double before = (double)INFINITY, behind = (double)INFINITY;
  for (const claim *c = first; c < end && c->corner == first->corner; c++) {
    if (c->height < 0 && !c->is_blind) behind = fmin(behind, -c->height);
    if (c->height >= 0 && !c->in_valley) before = fmin(before, c->height);
  }
  return before <= behind ? -(double)INFINITY : behind;
}

static bool keep_claims(finding *f, gz_array *touches) {
  claim *all = f->claims->data;
  const size_t count = f->claims->count;
  if (count == 0) return true;
  qsort(all, count, sizeof *all, compare_claims);
  if (!array_reserve(f->context, touches, count, sizeof(feature_touch))) return false;
  double nearest = 0;
  for (size_t i = 0; i < count; i++) {
    const claim *c = &all[i];
    if (i == 0 || all[i - 1].corner != c->corner) nearest = find_nearest(c, all + count);
    const bool again = i > 0 && all[i - 1].corner == c->corner && all[i - 1].touch.feature == c->touch.feature;
    if (!(again && c->corner != UINT64_MAX) && holds(f, c, nearest))
      ((feature_touch *)touches->data)[touches->count++] = c->touch;
  }
  return true;
}

/* Of the coordinates, what rounding and soft contacts may not decide. */
static double find_slack(const finding *f) {
  return on_rim *
         fmin(f->sides[0].surface->reach + f->sides[0].radius, f->sides[1].surface->reach + f->sides[1].radius);
}

bool gz_features_find(const graze_context *context, const feature_side sides[2], const feature_frame *frame,
                      const graze_triangle_pair *pairs, uint64_t count, const feature_limits *limits, gz_array *claims,
                      gz_array *touches) {
  finding f = {context, sides, frame, limits, .margin = limits->margin, .depth = limits->depth, .claims = claims};
  claims->count = 0;
  f.radius = sides[0].radius + sides[1].radius;
  f.slack = find_slack(&f);
  for (uint64_t i = 0; i < count && !f.no_memory; i++) try_pair(&f, &pairs[i]);
  return !f.no_memory && keep_claims(&f, touches);
}
