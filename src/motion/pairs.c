/* Pairs of triangles of two objects on their ways: until when they are free, and when they first meet. */
#include <math.h>

#include "base/extremes.h"
#include "base/vector3.h"
#include "exact/near.h"
#include "geometry/pose.h"
#include "mesh/mesh.h"
#include "motion/pursuit.h"

enum { LOOKS = 64 };
static const double INWARD = 1 - 0x1p-40;

/* ---- by bounds ---- */

/* The objects at a time. */
typedef struct scene_at {
  graze_pose pose[2];
  double hub[2][3], velocity[2][3], spin[2][3]; /* rigid */
  graze_pose change[2];                         /* linear: of the pose in the whole time */
} scene_at;

static scene_at look(const pursuit *p, double t) {
  scene_at s;
  for (int i = 0; i < 2; i++) {
    const motion_path *path = &p->path[i];
    s.pose[i] = gz_path_pose(path, t);
    gz_path_hub(path, t, s.hub[i]);
    gz_path_rates(path, s.velocity[i], s.spin[i]);
    const graze_pose *from = path->backward ? &path->end : &path->start,
                     *to = path->backward ? &path->start : &path->end;
    for (int k = 0; k < 12; k++) s.change[i].m[k] = to->m[k] - from->m[k];
  }
  return s;
}

/* Of both triangles, as their meshes have them, */
static void take_corners(const pursuit *p, const graze_triangle_pair *pair, double own[6][3]) {
  mesh_corners(p->mesh[0], pair->a, own[0]);
  mesh_corners(p->mesh[1], pair->b, own[3]);
}

/* and where they are then. */
static void pose_corners(const scene_at *s, const double own[6][3], double x[6][3]) {
  for (int c = 0; c < 6; c++) {
    for (int k = 0; k < 3; k++) x[c][k] = pose_row(&s->pose[c / 3], k, own[c]);
  }
}

/* The direction in which they are nearest. False: they meet, or doubles cannot tell. */
static bool nearest_direction(const double x[6][3], double n[3]) {
  tritri_block block;
  double lower[8], upper[8], place[8];
  for (int k = 0; k < 9; k++) {
    for (int i = 0; i < 8; i++) {
      block.a[k][i] = x[k / 3][k % 3];
      block.b[k][i] = x[3 + k / 3][k % 3];
    }
  }
  gz_near_block_best()(&block, 1, lower, upper, place);
  return gz_near_direction(x, (int)place[0], n);
}

/* How fast a corner of object i moves along n: it is `own` in the mesh, and at x. */
static double speed_along(const pursuit *p, const scene_at *s, int i, const double own[3], const double x[3],
                          const double n[3]) {
  if (p->path[0].model == GRAZE_MOTION_LINEAR) {
    const graze_pose *change = &s->change[i];
    const double v[3] = {pose_row(change, 0, own), pose_row(change, 1, own), pose_row(change, 2, own)};
    return dot3(v, n);
  }
  const double *w = s->spin[i];
  double r[3];
  for (int k = 0; k < 3; k++) r[k] = x[k] - s->hub[i][k];
  const double v[3] = {w[1] * r[2] - w[2] * r[1], w[2] * r[0] - w[0] * r[2], w[0] * r[1] - w[1] * r[0]};
  return dot3(s->velocity[i], n) + dot3(v, n);
}

static double smallest(const double x[3]) {
  return smaller(smaller(x[0], x[1]), x[2]);
}

static double largest(const double x[3]) {
  return larger(larger(x[0], x[1]), x[2]);
}

/* For how long from now the triangles are apart for certain, one before the other in direction n of length 1 to 2. With
 * `gap` what is between a corner of each now, but for what has to be kept, and `closing` how fast they come nearer
 * along n, they are at time h off what that says by less than half of h^2 times turn^2 reach. */
static double free_along(const pursuit *p, const scene_at *s, const double own[6][3], const double x[6][3],
                         const double n[3]) {
  double at[6], speed[6], least = (double)INFINITY;
  for (int c = 0; c < 6; c++) {
    at[c] = dot3(x[c], n);
    speed[c] = speed_along(p, s, c / 3, own[c], x[c], n);
  }
  const double low[2] = {smallest(at), smallest(at + 3)}, high[2] = {largest(at), largest(at + 3)};
  const int first = low[1] - high[0] > low[0] - high[1] ? 0 : 3, second = 3 - first;
  const motion_path *a = &p->path[0], *b = &p->path[1];
  const double size = sqrt(dot3(n, n)) / INWARD, kept = size * (2 * p->doubt + p->keep / INWARD);
  const double stray = size * ((1 + a->turn + b->turn) * (a->strain + b->strain) + 4 * p->doubt);
  const double bend = 0.5 * size * (a->turn * a->turn * a->reach + b->turn * b->turn * b->reach) / INWARD;
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      const double gap = at[second + k] - at[first + i] - kept;
      const double closing = larger(speed[first + i] - speed[second + k] + stray, 0) / INWARD;
      if (!(gap > 0)) return 0;
      least = smaller(least, 2 * gap / (closing + sqrt(closing * closing + 4 * bend * gap)) * INWARD);
    }
  }
  return least;
}

static double pair_free_until(pursuit *p, const graze_triangle_pair *pair, double from, double to, bool *stuck) {
  double own[6][3], t = from;
  take_corners(p, pair, own);
  for (int i = 0; i < LOOKS && t < to && p->budget > 0; i++) {
    double x[6][3], n[3];
    const scene_at s = look(p, t);
    p->budget--;
    pose_corners(&s, (const double(*)[3])own, x);
    double step = nearest_direction((const double(*)[3])x, n)
                      ? free_along(p, &s, (const double(*)[3])own, (const double(*)[3])x, n)
                      : 0;
    step *= INWARD;
    if (!(step > p->least_step && t + step > t)) {
      *stuck = true;
      return t;
    }
    t += step;
  }
  if (t < to) *stuck = false;
  return smaller(t, to);
}

double gz_pairs_free_until(pursuit *p, const graze_triangle_pair *pairs, uint64_t count, double from, double to,
                           bool *stuck) {
  *stuck = false;
  for (uint64_t i = 0; i < count && to > from; i++) to = pair_free_until(p, &pairs[i], from, to, stuck);
  return to;
}

/* ---- exactly: linear ---- */

typedef struct two_triangles {
  double x[2][6][3]; /* at the start and at the end */
} two_triangles;

static void take_query(const two_triangles *w, graze_ccd_kind kind, const int corners[4], graze_ccd_query *q) {
  q->kind = (uint8_t)kind;
  for (int e = 0; e < 2; e++) {
    for (int i = 0; i < 4; i++) {
      for (int k = 0; k < 3; k++) q->points[e][i][k] = w->x[e][corners[i]][k];
    }
  }
}

static bool improve(pursuit *p, const two_triangles *w, graze_ccd_kind kind, const int corners[4], bool *found,
                    double time[2]) {
  graze_ccd_query query;
  graze_ccd_result result;
  take_query(w, kind, corners, &query);
  p->work.exact_tests++;
  if (!gz_ccd_decide(p->context, &query, &p->query->crossing, &result)) return false;
  if (!result.hit) return true;
  if (!*found || result.earliest < time[0]) time[0] = result.earliest;
  if (!*found || result.latest < time[1]) time[1] = result.latest;
  *found = true;
  return true;
}

/* Six of a corner and a triangle, nine of two edges. */
static bool improve_pair(pursuit *p, const two_triangles *w, bool *found, double time[2]) {
  for (int c = 0; c < 6; c++) {
    const int face = c < 3 ? 3 : 0, corners[4] = {c, face, face + 1, face + 2};
    if (!improve(p, w, GRAZE_CCD_VERTEX_FACE, corners, found, time)) return false;
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      const int corners[4] = {i, (i + 1) % 3, 3 + j, 3 + (j + 1) % 3};
      if (!improve(p, w, GRAZE_CCD_EDGE_EDGE, corners, found, time)) return false;
    }
  }
  return true;
}

/* Whether the boxes of what they sweep are apart. */
static bool sweep_apart(const two_triangles *w) {
  for (int k = 0; k < 3; k++) {
    double low[2] = {(double)INFINITY, (double)INFINITY}, high[2] = {-(double)INFINITY, -(double)INFINITY};
    for (int c = 0; c < 6; c++) {
      low[c / 3] = smaller(low[c / 3], smaller(w->x[0][c][k], w->x[1][c][k]));
      high[c / 3] = larger(high[c / 3], larger(w->x[0][c][k], w->x[1][c][k]));
    }
    if (low[0] > high[1] || low[1] > high[0]) return true;
  }
  return false;
}

bool gz_pairs_first_time(pursuit *p, const graze_triangle_pair *pairs, uint64_t count, bool *found, double time[2]) {
  const scene_at ends[2] = {look(p, 0), look(p, 1)};
  for (uint64_t i = 0; i < count; i++) {
    two_triangles w;
    double own[6][3];
    take_corners(p, &pairs[i], own);
    for (int e = 0; e < 2; e++) pose_corners(&ends[e], (const double(*)[3])own, w.x[e]);
    p->work.triangle_tests++;
    if (sweep_apart(&w)) continue;
    if (!improve_pair(p, &w, found, time)) return false;
  }
  return true;
}
