/* The common set of two triangles as points.
 *
 * Which points bound it is decided by exact signs; only then are coordinates computed, each as one quotient of exact
 * integers, so that its relative error is below 2^-50 however badly the triangles are shaped. A crossing of edge pq
 * with a plane or line is (q dp - p dq) / (dp - dq), where dp and dq are the determinants of p and q against it.
 */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "exact/big.h"
#include "exact/orient.h"
#include "exact/tritri.h"

typedef const double (*point_array)[3];

/* Determinant of d against the plane a, b, c. */
static void plane_value(point_array p, int a, int b, int c, int d, big *value) {
  big e[3][3], x, y, t;
  const int corner[3] = {b, c, d};
  for (int k = 0; k < 3; k++) {
    gz_big_from_double(&x, p[a][k]);
    for (int i = 0; i < 3; i++) {
      gz_big_from_double(&y, p[corner[i]][k]);
      gz_big_sub(&e[i][k], &y, &x);
    }
  }
  gz_big_from_double(value, 0);
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    gz_big_mul(&x, &e[0][i], &e[1][j]);
    gz_big_mul(&y, &e[0][j], &e[1][i]);
    gz_big_sub(&t, &x, &y);
    gz_big_mul(&t, &t, &e[2][k]);
    gz_big_add(value, value, &t);
  }
}

/* Determinant of c against the line a, b in the projection along `axis`. */
static void line_value(point_array p, int axis, int a, int b, int c, big *value) {
  int i = (axis + 1) % 3, j = (axis + 2) % 3;
  big e[4], x, y;
  const int corner[4] = {b, c, b, c}, coordinate[4] = {i, j, j, i};
  for (int k = 0; k < 4; k++) {
    gz_big_from_double(&x, p[corner[k]][coordinate[k]]);
    gz_big_from_double(&y, p[a][coordinate[k]]);
    gz_big_sub(&e[k], &x, &y);
  }
  gz_big_mul(&x, &e[0], &e[1]);
  gz_big_mul(&y, &e[2], &e[3]);
  gz_big_sub(value, &x, &y);
}

/* (q dp - p dq) / (dp - dq); the exact point lies between p and q, so rounding may not leave that range either. */
static void crossing(const double p[3], const double q[3], const big *dp, const big *dq, double out[3]) {
  big below, x, y;
  if (dp->sign == 0 || dq->sign == 0) {
    memcpy(out, dp->sign == 0 ? p : q, 3 * sizeof *out);
    return;
  }
  gz_big_sub(&below, dp, dq);
  for (int k = 0; k < 3; k++) {
    gz_big_from_double(&x, q[k]);
    gz_big_mul(&x, &x, dp);
    gz_big_from_double(&y, p[k]);
    gz_big_mul(&y, &y, dq);
    gz_big_sub(&x, &x, &y);
    double c = gz_big_ratio(&x, &below);
    out[k] = fmin(fmax(c, fmin(p[k], q[k])), fmax(p[k], q[k]));
  }
}

static void add_corner(point_array p, int corner, graze_intersection *result) {
  memcpy(result->points[result->count++], p[corner], sizeof result->points[0]);
}

/* ---- two proper triangles in different planes ------------------------------------------------------------------ */

static void add_edge_plane(point_array p, int from, int to, int other, graze_intersection *result) {
  big df, dt;
  plane_value(p, other, other + 1, other + 2, from, &df);
  plane_value(p, other, other + 1, other + 2, to, &dt);
  crossing(p[from], p[to], &df, &dt, result->points[result->count++]);
}

static void points_crossing(point_array p, graze_intersection *result) {
  int sign_a[3], sign_b[3];
  bool flip_a, flip_b;
  for (int k = 0; k < 3; k++) {
    sign_a[k] = gz_orient3d(p[3], p[4], p[5], p[k]);
    sign_b[k] = gz_orient3d(p[0], p[1], p[2], p[3 + k]);
  }
  plane_cut a = gz_tritri_cut(0, sign_a, &flip_b), b = gz_tritri_cut(3, sign_b, &flip_a);
  int aq = flip_a ? a.r : a.q, ar = flip_a ? a.q : a.r, bq = flip_b ? b.r : b.q, br = flip_b ? b.q : b.r;
  /* Along the common line a cuts [i, j] with its edges p-aq and p-ar, b cuts [l, k] with p-br and p-bq. */
  bool low_is_a = gz_orient3d(p[a.p], p[aq], p[b.p], p[br]) >= 0;
  bool high_is_a = gz_orient3d(p[a.p], p[ar], p[b.p], p[bq]) <= 0;
  if (low_is_a)
    add_edge_plane(p, a.p, aq, 3, result);
  else
    add_edge_plane(p, b.p, br, 0, result);
  if (result->summary.kind == GRAZE_KIND_POINT) return;
  if (high_is_a)
    add_edge_plane(p, a.p, ar, 3, result);
  else
    add_edge_plane(p, b.p, bq, 0, result);
}

/* ---- in one plane: a path clipped by a triangle ------------------------------------------------------------------ */

/* A corner of the clipped path: an input point, or where edge from-to of the path crosses edge `line` of the clipping
 * triangle. `next` is the path edge that leaves it: the number of an input edge of the path (>= 0) or -1 - e for edge e
 * of the clipping triangle. */
typedef struct clip_corner {
  int point; /* >= 0: an input point; else a crossing */
  int from, to, line;
  int next;
} clip_corner;

typedef struct clip {
  point_array p;
  int axis, turn; /* projection and orientation of the clipping triangle */
  int triangle;   /* its first corner */
  int path[3];    /* input points of the path */
  int path_count; /* 3: a triangle, 2: a segment */
  clip_corner corner[8];
  int count;
} clip;

static void edge_value(const clip *c, int line, int point, big *value) {
  line_value(c->p, c->axis, c->triangle + line, c->triangle + (line + 1) % 3, point, value);
}

static int corner_side(const clip *c, const clip_corner *at, int line) {
  if (at->point >= 0) {
    return c->turn *
           gz_orient2d(c->axis, c->p[c->triangle + line], c->p[c->triangle + (line + 1) % 3], c->p[at->point]);
  }
  if (at->line == line) return 0;
  big df, dt, ef, et, below;
  edge_value(c, at->line, at->from, &df);
  edge_value(c, at->line, at->to, &dt);
  edge_value(c, line, at->from, &ef);
  edge_value(c, line, at->to, &et);
  gz_big_sub(&below, &df, &dt);
  gz_big_mul(&et, &et, &df);
  gz_big_mul(&ef, &ef, &dt);
  gz_big_sub(&et, &et, &ef);
  return c->turn * et.sign * below.sign;
}

static clip_corner cut_edge(const clip *c, int edge, int line, int next) {
  if (edge >= 0) return (clip_corner){-1, c->path[edge], c->path[(edge + 1) % c->path_count], line, next};
  /* Two edges of the clipping triangle meet in a corner of it. */
  int other = -1 - edge;
  int shared = (other + 1) % 3 == line ? line : other;
  return (clip_corner){c->triangle + shared, 0, 0, 0, next};
}

/* Sutherland and Hodgman's step against the closed half plane inside edge `line`. */
static void clip_by(clip *c, int line) {
  clip_corner out[8];
  int side[8], n = 0;
  bool closed = c->path_count == 3;
  for (int i = 0; i < c->count; i++) side[i] = corner_side(c, &c->corner[i], line);
  for (int i = 0; i < c->count; i++) {
    int j = (i + 1) % c->count;
    bool has_edge = closed || i + 1 < c->count;
    if (side[i] >= 0) {
      out[n] = c->corner[i];
      /* Leaving along the clipping edge when the path goes outside from a corner on it. */
      if (has_edge && closed && side[i] == 0 && side[j] < 0) out[n].next = -1 - line;
      n++;
    }
    if (!has_edge || side[i] * side[j] >= 0) continue;
    int edge = c->corner[i].next;
    out[n++] = cut_edge(c, edge, line, side[j] > 0 ? edge : -1 - line);
  }
  memcpy(c->corner, out, (size_t)n * sizeof out[0]);
  c->count = n;
}

static void points_clipped(point_array p, const int *path, int path_count, int triangle, graze_intersection *result) {
  clip c = {.p = p, .triangle = triangle, .path_count = path_count, .count = path_count};
  for (c.axis = 0; c.axis < 3; c.axis++) {
    c.turn = gz_orient2d(c.axis, p[triangle], p[triangle + 1], p[triangle + 2]);
    if (c.turn != 0) break;
  }
  for (int k = 0; k < path_count; k++) {
    c.path[k] = path[k];
    c.corner[k] = (clip_corner){path[k], 0, 0, 0, k};
  }
  for (int line = 0; line < 3; line++) clip_by(&c, line);
  for (int k = 0; k < c.count && result->count < 6; k++) {
    const clip_corner *at = &c.corner[k];
    if (at->point >= 0) {
      add_corner(p, at->point, result);
      continue;
    }
    big df, dt;
    edge_value(&c, at->line, at->from, &df);
    edge_value(&c, at->line, at->to, &dt);
    crossing(p[at->from], p[at->to], &df, &dt, result->points[result->count++]);
  }
}

/* ---- corners that lie in the other triangle: all that touching in a plane or on a line needs ---- */

static bool on_segment(point_array p, int u, int v, int x) {
  for (int axis = 0; axis < 3; axis++) {
    if (gz_orient2d(axis, p[u], p[v], p[x]) != 0) return false;
    if (p[x][axis] < fmin(p[u][axis], p[v][axis]) || p[x][axis] > fmax(p[u][axis], p[v][axis])) return false;
  }
  return true;
}

static bool in_triangle(point_array p, int first, const int ends[2], bool thin, int x) {
  if (thin) return on_segment(p, ends[0], ends[1], x);
  if (gz_orient3d(p[first], p[first + 1], p[first + 2], p[x]) != 0) return false;
  int turn = 0, axis = 0;
  for (; axis < 3; axis++) {
    turn = gz_orient2d(axis, p[first], p[first + 1], p[first + 2]);
    if (turn != 0) break;
  }
  for (int e = 0; e < 3; e++) {
    if (turn * gz_orient2d(axis, p[first + e], p[first + (e + 1) % 3], p[x]) < 0) return false;
  }
  return true;
}

static int point_order(point_array p, int a, int b) {
  for (int k = 0; k < 3; k++) {
    if (p[a][k] != p[b][k]) return p[a][k] < p[b][k] ? -1 : 1;
  }
  return 0;
}

/* Adds the first and the last, in lexicographic order, of the corners that lie in the other triangle. */
static void points_shared(point_array p, const int ends[2][2], const bool thin[2], graze_intersection *result) {
  int low = -1, high = -1;
  for (int x = 0; x < 6; x++) {
    int other = x < 3 ? 1 : 0;
    if (!in_triangle(p, 3 * other, ends[other], thin[other], x)) continue;
    if (low < 0 || point_order(p, x, low) < 0) low = x;
    if (high < 0 || point_order(p, x, high) > 0) high = x;
  }
  if (low < 0) return;
  add_corner(p, low, result);
  if (result->summary.kind != GRAZE_KIND_POINT) add_corner(p, high, result);
}

/* ---- which of these a pair needs ---- */

static void points_of_thin(point_array p, const int ends[2][2], const bool thin[2], graze_intersection *result) {
  const graze_tritri *s = &result->summary;
  int f = thin[0] ? 3 : 0; /* the proper one, if any */
  const int *segment = thin[0] ? ends[0] : ends[1];
  if (!(thin[0] && thin[1]) && s->coplanar && s->kind == GRAZE_KIND_SEGMENT) {
    points_clipped(p, segment, 2, f, result);
    return;
  }
  points_shared(p, ends, thin, result);
  if (result->count > 0) return;
  big du, dv;
  if (!(thin[0] && thin[1])) {
    plane_value(p, f, f + 1, f + 2, segment[0], &du);
    plane_value(p, f, f + 1, f + 2, segment[1], &dv);
  } else {
    int axis = 0;
    while (axis < 2 && gz_orient2d(axis, p[ends[1][0]], p[ends[1][1]], p[ends[0][0]]) == 0) axis++;
    line_value(p, axis, ends[1][0], ends[1][1], ends[0][0], &du);
    line_value(p, axis, ends[1][0], ends[1][1], ends[0][1], &dv);
    segment = ends[0];
  }
  crossing(p[segment[0]], p[segment[1]], &du, &dv, result->points[result->count++]);
}

static bool finite9(const double *x) {
  for (int k = 0; k < 9; k++) {
    if (!isfinite(x[k])) return false;
  }
  return true;
}

graze_status graze_tritri_intersection(const double a[9], const double b[9], graze_intersection *result) {
  if (a == NULL || b == NULL || result == NULL) return GRAZE_ERROR_ARGUMENT;
  if (!finite9(a) || !finite9(b)) return GRAZE_ERROR_NOT_FINITE;
  unsigned saved = gz_fp_enter();
  double points[6][3];
  memcpy(points[0], a, 9 * sizeof *a);
  memcpy(points[3], b, 9 * sizeof *b);
  point_array p = (point_array)points;
  memset(result, 0, sizeof *result);
  sign_source signs = gz_tritri_doubles(p);
  gz_tritri_decide(&signs, &result->summary);
  const graze_tritri *s = &result->summary;
  bool thin[2] = {(s->degenerate & 1) != 0, (s->degenerate & 2) != 0};
  int ends[2][2] = {{0, 0}, {3, 3}};
  if (thin[0]) gz_tritri_ends(&signs, 0, ends[0]);
  if (thin[1]) gz_tritri_ends(&signs, 3, ends[1]);
  if (s->kind == GRAZE_KIND_NONE) {
    /* nothing */
  } else if (thin[0] || thin[1]) {
    points_of_thin(p, (const int(*)[2])ends, thin, result);
  } else if (!s->coplanar) {
    points_crossing(p, result);
  } else if (s->kind == GRAZE_KIND_AREA) {
    const int path[3] = {0, 1, 2};
    points_clipped(p, path, 3, 3, result);
  } else {
    points_shared(p, (const int(*)[2])ends, thin, result);
  }
  gz_fp_leave(saved);
  return GRAZE_OK;
}
