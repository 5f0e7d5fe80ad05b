/* The decision procedure for two closed triangles of any kind.
 *
 * Proper, not coplanar: P. Guigue, O. Devillers, "Fast and Robust Triangle-Triangle Overlap Test using Orientation
 * Predicates", 2003: six plane signs, then two edge-edge signs that compare the ends of the two intervals which the
 * triangles cut from the common line. Coplanar: separating edge lines in the projection along an axis on which the
 * triangle keeps an area. Zero-area triangles are the segment or point that they cover, each combination by itself.
 */
#include "exact/tritri.h"

#include <math.h>

#include "exact/expansion.h"
#include "exact/orient.h"

enum { NONE = GRAZE_KIND_NONE, POINT = GRAZE_KIND_POINT, SEGMENT = GRAZE_KIND_SEGMENT, AREA = GRAZE_KIND_AREA };

static int o3(const sign_source *s, int a, int b, int c, int d) {
  return s->orient3d(s->self, a, b, c, d);
}

static int o2(const sign_source *s, int axis, int a, int b, int c) {
  return s->orient2d(s->self, axis, a, b, c);
}

/* Lexicographic order of two points; along a line it is the order on the line. */
static int order(const sign_source *s, int a, int b) {
  for (int axis = 0; axis < 3; axis++) {
    int sign = s->compare(s->self, axis, a, b);
    if (sign != 0) return sign;
  }
  return 0;
}

/* An axis along which the projection of a, b, c keeps an area, and that area's sign; -1: collinear. */
static int area_axis(const sign_source *s, int a, int b, int c, int *sign) {
  for (int axis = 0; axis < 3; axis++) {
    *sign = o2(s, axis, a, b, c);
    if (*sign != 0) return axis;
  }
  return -1;
}

void gz_tritri_ends(const sign_source *s, int first, int ends[2]) {
  ends[0] = ends[1] = first;
  for (int k = first + 1; k < first + 3; k++) {
    if (order(s, k, ends[0]) < 0) ends[0] = k;
    if (order(s, k, ends[1]) > 0) ends[1] = k;
  }
}

/* Common set of [a0, a1] and [b0, b1] on one line; ends in order. */
static int overlap_on_line(const sign_source *s, int a0, int a1, int b0, int b1) {
  int low = order(s, a0, b0) >= 0 ? a0 : b0;
  int high = order(s, a1, b1) <= 0 ? a1 : b1;
  int sign = order(s, low, high);
  return sign < 0 ? SEGMENT : sign == 0 ? POINT : NONE;
}

static int overlap_unordered(const sign_source *s, int a0, int a1, int b0, int b1) {
  bool swap_a = order(s, a0, a1) > 0, swap_b = order(s, b0, b1) > 0;
  return overlap_on_line(s, swap_a ? a1 : a0, swap_a ? a0 : a1, swap_b ? b1 : b0, swap_b ? b0 : b1);
}

/* ---- both proper ------------------------------------------------------------------------------------------- */

plane_cut gz_tritri_cut(int first, const int sign[3], bool *flip) {
  int positive = 0, negative = 0;
  for (int k = 0; k < 3; k++) {
    positive += sign[k] > 0;
    negative += sign[k] < 0;
  }
  /* p is the one positive corner, else the one negative corner, else the one corner on the plane. */
  int alone_sign = positive == 1 ? 1 : negative == 1 ? -1 : 0;
  int alone = sign[0] == alone_sign ? 0 : sign[1] == alone_sign ? 1 : 2;
  *flip = alone_sign < 0 || (alone_sign == 0 && positive == 2);
  return (plane_cut){first + alone, first + (alone + 1) % 3, first + (alone + 2) % 3, alone_sign};
}

static void swap_qr(plane_cut *cut) {
  int q = cut->q;
  cut->q = cut->r;
  cut->r = q;
}

static int decide_crossing(const sign_source *s, const int sign_a[3], const int sign_b[3]) {
  bool flip_a, flip_b;
  plane_cut a = gz_tritri_cut(0, sign_a, &flip_b);
  plane_cut b = gz_tritri_cut(3, sign_b, &flip_a);
  if (flip_a) swap_qr(&a);
  if (flip_b) swap_qr(&b);
  /* With p on the positive side of the other plane the interval [i, j] of a, on edges pq and pr, runs against the
   * interval [k, l] of b: they meet when i does not lie beyond k and l not beyond j. */
  int ik = o3(s, a.p, a.q, b.p, b.q);
  if (ik > 0) return NONE;
  int lj = o3(s, a.p, a.r, b.r, b.p);
  if (lj > 0) return NONE;
  bool one_point = ik == 0 || lj == 0 || a.sign_p == 0 || b.sign_p == 0;
  return one_point ? POINT : SEGMENT;
}

/* Tests the edge lines of triangle `f` (turn: sign of its area) against the corners of triangle `g`. Returns false
 * when an edge separates strictly; lowers *kind when one separates weakly. */
static bool edge_lines(const sign_source *s, int axis, int turn, int f, int g, int *kind) {
  for (int e = 0; e < 3; e++) {
    int p = f + e, q = f + (e + 1) % 3;
    int outside = 0, on = 0, corner[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
      int side = turn * o2(s, axis, p, q, g + k);
      outside += side < 0;
      if (side == 0) corner[on++] = g + k;
    }
    if (outside == 3) return false;
    if (outside + on < 3) continue;
    int here = on == 1 ? POINT : overlap_unordered(s, p, q, corner[0], corner[1]);
    if (here < *kind) *kind = here;
  }
  return true;
}

static int decide_coplanar(const sign_source *s) {
  int turn_a, turn_b, kind = AREA;
  int axis = area_axis(s, 0, 1, 2, &turn_a);
  turn_b = o2(s, axis, 3, 4, 5);
  if (!edge_lines(s, axis, turn_a, 0, 3, &kind)) return NONE;
  if (!edge_lines(s, axis, turn_b, 3, 0, &kind)) return NONE;
  return kind;
}

static void decide_proper(const sign_source *s, graze_tritri *result) {
  int sign_a[3], sign_b[3];
  for (int k = 0; k < 3; k++) sign_b[k] = o3(s, 0, 1, 2, 3 + k);
  if (sign_b[0] == 0 && sign_b[1] == 0 && sign_b[2] == 0) {
    result->coplanar = 1;
    result->kind = (uint8_t)decide_coplanar(s);
    return;
  }
  if (sign_b[0] != 0 && sign_b[0] == sign_b[1] && sign_b[0] == sign_b[2]) return;
  for (int k = 0; k < 3; k++) sign_a[k] = o3(s, 3, 4, 5, k);
  if (sign_a[0] != 0 && sign_a[0] == sign_a[1] && sign_a[0] == sign_a[2]) return;
  result->kind = (uint8_t)decide_crossing(s, sign_a, sign_b);
}

/* ---- a proper triangle f and a segment or point u, v -------------------------------------------------------- */

/* u, v in the plane of f, u != v. */
static int segment_in_plane(const sign_source *s, int f, int u, int v) {
  int turn, kind = SEGMENT;
  int axis = area_axis(s, f, f + 1, f + 2, &turn);
  for (int e = 0; e < 3; e++) {
    int p = f + e, q = f + (e + 1) % 3;
    int side_u = turn * o2(s, axis, p, q, u), side_v = turn * o2(s, axis, p, q, v);
    if (side_u < 0 && side_v < 0) return NONE;
    if (side_u > 0 || side_v > 0) continue;
    int here = side_u == 0 && side_v == 0 ? overlap_unordered(s, p, q, u, v) : POINT;
    if (here < kind) kind = here;
  }
  int left = 0, right = 0;
  for (int k = 0; k < 3; k++) {
    int side = o2(s, axis, u, v, f + k);
    left += side > 0;
    right += side < 0;
  }
  if (left == 3 || right == 3) return NONE;
  /* The segment's line only passes through a corner; an edge on it was seen above. */
  if ((left == 0 || right == 0) && left + right == 2 && kind == SEGMENT) kind = POINT;
  return kind;
}

static bool point_in_plane(const sign_source *s, int f, int u) {
  int turn;
  int axis = area_axis(s, f, f + 1, f + 2, &turn);
  for (int e = 0; e < 3; e++) {
    if (turn * o2(s, axis, f + e, f + (e + 1) % 3, u) < 0) return false;
  }
  return true;
}

static int decide_proper_thin(const sign_source *s, int f, int u, int v, uint8_t *coplanar) {
  int su = o3(s, f, f + 1, f + 2, u);
  int sv = order(s, u, v) == 0 ? su : o3(s, f, f + 1, f + 2, v);
  *coplanar = su == 0 && sv == 0;
  if (su * sv > 0) return NONE;
  if (*coplanar) {
    if (order(s, u, v) != 0) return segment_in_plane(s, f, u, v);
    return point_in_plane(s, f, u) ? POINT : NONE;
  }
  if (su == 0) return point_in_plane(s, f, u) ? POINT : NONE;
  if (sv == 0) return point_in_plane(s, f, v) ? POINT : NONE;
  bool left = false, right = false;
  for (int e = 0; e < 3; e++) {
    int side = o3(s, u, v, f + e, f + (e + 1) % 3);
    left |= side > 0;
    right |= side < 0;
  }
  return left && right ? NONE : POINT;
}

/* ---- two thin ones: segments or points ----------------------------------------------------------------------- */

static int decide_thin_thin(const sign_source *s, const int a[2], const int b[2], uint8_t *coplanar) {
  *coplanar = o3(s, a[0], a[1], b[0], b[1]) == 0;
  if (!*coplanar) return NONE;
  int turn;
  int axis = area_axis(s, a[0], a[1], b[0], &turn);
  if (axis < 0) axis = area_axis(s, a[0], a[1], b[1], &turn);
  if (axis < 0 && order(s, a[0], a[1]) == 0) axis = area_axis(s, b[0], b[1], a[0], &turn);
  if (axis < 0) return overlap_on_line(s, a[0], a[1], b[0], b[1]);
  int s0 = o2(s, axis, a[0], a[1], b[0]), s1 = o2(s, axis, a[0], a[1], b[1]);
  int s2 = o2(s, axis, b[0], b[1], a[0]), s3 = o2(s, axis, b[0], b[1], a[1]);
  return s0 * s1 <= 0 && s2 * s3 <= 0 ? POINT : NONE;
}

void gz_tritri_decide(const sign_source *s, graze_tritri *result) {
  int turn, ends_a[2], ends_b[2];
  *result = (graze_tritri){0, 0, 0};
  bool thin_a = area_axis(s, 0, 1, 2, &turn) < 0;
  bool thin_b = area_axis(s, 3, 4, 5, &turn) < 0;
  result->degenerate = (uint8_t)((thin_a ? 1 : 0) | (thin_b ? 2 : 0));
  if (thin_a) gz_tritri_ends(s, 0, ends_a);
  if (thin_b) gz_tritri_ends(s, 3, ends_b);
  if (!thin_a && !thin_b) {
    decide_proper(s, result);
  } else if (!thin_a) {
    result->kind = (uint8_t)decide_proper_thin(s, 0, ends_b[0], ends_b[1], &result->coplanar);
  } else if (!thin_b) {
    result->kind = (uint8_t)decide_proper_thin(s, 3, ends_a[0], ends_a[1], &result->coplanar);
  } else {
    result->kind = (uint8_t)decide_thin_thin(s, ends_a, ends_b, &result->coplanar);
  }
}

/* ---- points of doubles ---------------------------------------------------------------------------------------- */

typedef const double (*point_array)[3];

static int doubles_orient3d(const void *self, int a, int b, int c, int d) {
  point_array p = self;
  return gz_orient3d(p[a], p[b], p[c], p[d]);
}

static int doubles_orient2d(const void *self, int axis, int a, int b, int c) {
  point_array p = self;
  return gz_orient2d(axis, p[a], p[b], p[c]);
}

static int doubles_compare(const void *self, int axis, int a, int b) {
  point_array p = self;
  return (p[a][axis] > p[b][axis]) - (p[a][axis] < p[b][axis]);
}

sign_source gz_tritri_doubles(const double (*points)[3]) {
  return (sign_source){doubles_orient3d, doubles_orient2d, doubles_compare, points};
}

/* ---- points of integers ------------------------------------------------------------------------------------------ */

/* Corners relative to the first, in units of a power of two, below 2^29: minors fit 64 bits, determinants 128. */
typedef struct lattice {
  int64_t p[6][3];
} lattice;

/* False unless every difference is computed without rounding and is a multiple of the unit. */
static bool lattice_from(const double (*points)[3], lattice *out) {
  double d[6][3], most = 0;
  for (int i = 0; i < 6; i++) {
    for (int k = 0; k < 3; k++) {
      double error;
      two_diff(points[i][k], points[0][k], &d[i][k], &error);
      if (error != 0) return false;
      most = fmax(most, fabs(d[i][k]));
    }
  }
  if (!(most > 0x1p-900) || !(most < 0x1p900)) return false;
  double unit = ldexp(1, 28 - ilogb(most));
  for (int i = 0; i < 6; i++) {
    for (int k = 0; k < 3; k++) {
      double scaled = d[i][k] * unit; /* exact, but for underflow */
      out->p[i][k] = (int64_t)scaled;
      if ((double)out->p[i][k] != scaled || (scaled == 0 && d[i][k] != 0)) return false;
    }
  }
  return true;
}

static int lattice_orient3d(const void *self, int a, int b, int c, int d) {
  const lattice *l = self;
  int64_t u[3], v[3], w[3];
  for (int k = 0; k < 3; k++) {
    u[k] = l->p[b][k] - l->p[a][k];
    v[k] = l->p[c][k] - l->p[a][k];
    w[k] = l->p[d][k] - l->p[a][k];
  }
  __int128 det = (__int128)(u[1] * v[2] - u[2] * v[1]) * w[0] + (__int128)(u[2] * v[0] - u[0] * v[2]) * w[1] +
                 (__int128)(u[0] * v[1] - u[1] * v[0]) * w[2];
  return (det > 0) - (det < 0);
}

static int lattice_orient2d(const void *self, int axis, int a, int b, int c) {
  const lattice *l = self;
  int i = (axis + 1) % 3, j = (axis + 2) % 3;
  int64_t det =
      (l->p[b][i] - l->p[a][i]) * (l->p[c][j] - l->p[a][j]) - (l->p[b][j] - l->p[a][j]) * (l->p[c][i] - l->p[a][i]);
  return (det > 0) - (det < 0);
}

static int lattice_compare(const void *self, int axis, int a, int b) {
  const lattice *l = self;
  return (l->p[a][axis] > l->p[b][axis]) - (l->p[a][axis] < l->p[b][axis]);
}

void gz_tritri_scalar(const double a[9], const double b[9], graze_tritri *result) {
  double points[6][3];
  for (int k = 0; k < 9; k++) {
    points[k / 3][k % 3] = a[k];
    points[3 + k / 3][k % 3] = b[k];
  }
  lattice grid;
  sign_source s = gz_tritri_doubles((const double(*)[3])points);
  if (lattice_from((const double(*)[3])points, &grid)) {
    s = (sign_source){lattice_orient3d, lattice_orient2d, lattice_compare, &grid};
  }
  gz_tritri_decide(&s, result);
}
