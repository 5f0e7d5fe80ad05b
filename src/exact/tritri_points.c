/* The common set of two triangles as points.
 *
 * Which points bound it is decided by exact signs; only then are coordinates computed (crossing.h), each the exact one
 * rounded once, however badly the triangles are shaped.
 */
#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "base/parallel.h"
#include "exact/big.h"
#include "exact/crossing.h"
#include "exact/orient.h"
#include "exact/tritri.h"

typedef const double (*point_array)[3];

static void add_corner(point_array p, int corner, graze_intersection *result) {
  memcpy(result->points[result->count++], p[corner], sizeof result->points[0]);
}

/* ---- two proper triangles in different planes ------------------------------------------------------------------ */

/* Where edge from-to meets the plane of the other triangle; `signs`: on which side of it corners are. */
static void add_edge_plane(point_array p, const int *signs, int from, int to, graze_intersection *result) {
  const int other = from < 3 ? 3 : 0;
  const cutter plane = {p[other], p[other + 1], p[other + 2], 0};
  if (signs[from] == 0 || signs[to] == 0)
    add_corner(p, signs[from] == 0 ? from : to, result);
  else
    gz_cutter_cross(&plane, p[from], p[to], result->points[result->count++]);
}

static void points_crossing(point_array p, graze_intersection *result) {
  int signs[6];
  bool flip_a, flip_b;
  for (int k = 0; k < 3; k++) {
    signs[k] = gz_orient3d(p[3], p[4], p[5], p[k]);
    signs[3 + k] = gz_orient3d(p[0], p[1], p[2], p[3 + k]);
  }
  plane_cut a = gz_tritri_cut(0, signs, &flip_b), b = gz_tritri_cut(3, signs + 3, &flip_a);
  int aq = flip_a ? a.r : a.q, ar = flip_a ? a.q : a.r, bq = flip_b ? b.r : b.q, br = flip_b ? b.q : b.r;
  /* Along the common line a cuts [i, j] with its edges p-aq and p-ar, b cuts [l, k] with p-br and p-bq. */
  bool low_is_a = gz_orient3d(p[a.p], p[aq], p[b.p], p[br]) >= 0;
  bool high_is_a = gz_orient3d(p[a.p], p[ar], p[b.p], p[bq]) <= 0;
  if (low_is_a)
    add_edge_plane(p, signs, a.p, aq, result);
  else
    add_edge_plane(p, signs, b.p, br, result);
  if (result->summary.kind == GRAZE_KIND_POINT) return;
  if (high_is_a)
    add_edge_plane(p, signs, a.p, ar, result);
  else
    add_edge_plane(p, signs, b.p, bq, result);
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

static cutter edge_line(const clip *c, int line) {
  return (cutter){c->p[c->triangle + line], c->p[c->triangle + (line + 1) % 3], NULL, c->axis};
}

/* Sign of (ef dt - et df) / (dt - df): of where edge from-to crosses line d, against line e. */
static int crossing_side(const clip *c, const clip_corner *at, int line) {
  const cutter d = edge_line(c, at->line), e = edge_line(c, line);
  const double *from = c->p[at->from], *to = c->p[at->to];
  const measure mf = gz_cutter_measure(&d, from), mt = gz_cutter_measure(&d, to), nf = gz_cutter_measure(&e, from),
                nt = gz_cutter_measure(&e, to);
  bool is_sure;
  int sign = gz_measure_sign_of_products(&nt, &mf, &nf, &mt, &is_sure);
  if (is_sure && fabs(mf.value.hi) > 2 * mf.off) return mf.value.hi > 0 ? sign : -sign;
  big df, dt, ef, et;
  gz_cutter_measure_exactly(&d, from, &df);
  gz_cutter_measure_exactly(&d, to, &dt);
  gz_cutter_measure_exactly(&e, from, &ef);
  gz_cutter_measure_exactly(&e, to, &et);
  gz_big_mul(&et, &et, &df);
  gz_big_mul(&ef, &ef, &dt);
  gz_big_sub(&et, &et, &ef);
  gz_big_sub(&df, &df, &dt);
  return et.sign * df.sign;
}

static int corner_side(const clip *c, const clip_corner *at, int line) {
  if (at->point >= 0) {
    return c->turn *
           gz_orient2d(c->axis, c->p[c->triangle + line], c->p[c->triangle + (line + 1) % 3], c->p[at->point]);
  }
  return at->line == line ? 0 : c->turn * crossing_side(c, at, line);
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
    const cutter line = edge_line(&c, at->line);
    gz_cutter_cross(&line, p[at->from], p[at->to], result->points[result->count++]);
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

/* A triangle or, where it is thin, the segment between its ends. */
typedef struct face {
  int first, axis, turn; /* projection and orientation of a triangle */
  const int *ends;       /* NULL: not thin */
  bool in_plane;         /* the others are in its plane */
} face;

static face face_of(point_array p, int first, const int *ends, bool in_plane) {
  face f = {.first = first, .ends = ends, .in_plane = in_plane};
  if (ends != NULL) return f;
  while (f.axis < 3 && (f.turn = gz_orient2d(f.axis, p[first], p[first + 1], p[first + 2])) == 0) f.axis++;
  return f;
}

static bool in_face(point_array p, const face *f, int x) {
  const double *a = p[f->first], *b = p[f->first + 1], *c = p[f->first + 2];
  if (f->ends != NULL) return on_segment(p, f->ends[0], f->ends[1], x);
  for (int k = 0; k < 3; k++) {
    if (p[x][k] < smaller(smaller(a[k], b[k]), c[k]) || p[x][k] > larger(larger(a[k], b[k]), c[k])) return false;
  }
  for (int e = 0; e < 3; e++) {
    if (f->turn * gz_orient2d(f->axis, p[f->first + e], p[f->first + (e + 1) % 3], p[x]) < 0) return false;
  }
  return f->in_plane || gz_orient3d(a, b, c, p[x]) == 0;
}

static int point_order(point_array p, int a, int b) {
  for (int k = 0; k < 3; k++) {
    if (p[a][k] != p[b][k]) return p[a][k] < p[b][k] ? -1 : 1;
  }
  return 0;
}

/* Adds the first and the last, in lexicographic order, of the corners that lie in the other triangle. */
static void points_shared(point_array p, const int ends[2][2], const bool thin[2], graze_intersection *result) {
  const bool coplanar = result->summary.coplanar;
  const face faces[2] = {face_of(p, 0, thin[0] ? ends[0] : NULL, coplanar),
                         face_of(p, 3, thin[1] ? ends[1] : NULL, coplanar)};
  int low = -1, high = -1;
  for (int x = 0; x < 6; x++) {
    if (!in_face(p, &faces[x < 3], x)) continue;
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
  cutter cut = {p[f], p[f + 1], p[f + 2], 0};
  if (thin[0] && thin[1]) {
    segment = ends[0];
    cut = (cutter){p[ends[1][0]], p[ends[1][1]], NULL, 0};
    while (cut.axis < 2 && gz_orient2d(cut.axis, cut.a, cut.b, p[segment[0]]) == 0) cut.axis++;
  }
  gz_cutter_cross(&cut, p[segment[0]], p[segment[1]], result->points[result->count++]);
}

static bool finite9(const double *x) {
  for (int k = 0; k < 9; k++) {
    if (!isfinite(x[k])) return false;
  }
  return true;
}

void gz_tritri_points(const double (*p)[3], const graze_tritri *summary, graze_intersection *result) {
  const bool thin[2] = {(summary->degenerate & 1) != 0, (summary->degenerate & 2) != 0};
  int ends[2][2] = {{0, 0}, {3, 3}};
  memset(result, 0, sizeof *result);
  result->summary = *summary;
  for (int t = 0; t < 2; t++) {
    const sign_source signs = gz_tritri_doubles(p);
    if (thin[t]) gz_tritri_ends(&signs, 3 * t, ends[t]);
  }
  if (summary->kind == GRAZE_KIND_NONE) return;
  if (thin[0] || thin[1]) {
    points_of_thin(p, (const int(*)[2])ends, thin, result);
  } else if (!summary->coplanar) {
    points_crossing(p, result);
  } else if (summary->kind == GRAZE_KIND_AREA) {
    const int path[3] = {0, 1, 2};
    points_clipped(p, path, 3, 3, result);
  } else {
    points_shared(p, (const int(*)[2])ends, thin, result);
  }
}

graze_status graze_tritri_intersection(const double a[9], const double b[9], graze_intersection *result) {
  if (a == NULL || b == NULL || result == NULL) return GRAZE_ERROR_ARGUMENT;
  if (!finite9(a) || !finite9(b)) return GRAZE_ERROR_NOT_FINITE;
  unsigned saved = gz_fp_enter();
  double points[6][3];
  memcpy(points[0], a, 9 * sizeof *a);
  memcpy(points[3], b, 9 * sizeof *b);
  const sign_source signs = gz_tritri_doubles((point_array)points);
  graze_tritri summary = {0};
  gz_tritri_decide(&signs, &summary);
  gz_tritri_points((point_array)points, &summary, result);
  gz_fp_leave(saved);
  return GRAZE_OK;
}
