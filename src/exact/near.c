/* Two triangles: whether they are nearer than a number, and how far they are from each other, exactly.
 *
 * No candidate is missing: take nearest points of triangles that do not meet, each in the inside of its smallest
 * feature. The way between them is at right angles to both features. If both can be moved along without a change of the
 * distance (an edge parallel to a face or an edge, two parallel faces), move them until one comes to the rim of its
 * feature, which is a smaller one. What cannot be moved is one of the four kinds of near.h, with its feet strictly
 * inside.
 *
 * Stages: bounds from doubles (near_kernels.c); of the 42 candidates, those that doubles with running error bounds do
 * not rule out, because a foot is outside or the value above the upper bound; integers of any length for the rest.
 */
#include "exact/near.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "exact/big_vector.h"
#include "exact/tritri.h"

near_block_function *gz_near_block_best(void) {
  return CPU_KERNEL(gz_near_block);
}

static void copy_pair(const tritri_block *from, unsigned i, tritri_block *to, unsigned at) {
  for (int k = 0; k < 9; k++) {
    to->a[k][at] = from->a[k][i];
    to->b[k][at] = from->b[k][i];
  }
}

void gz_near_block_outside(const tritri_block *block, unsigned count, double least, double most, double *lower,
                           double *upper) {
  tritri_block rest;
  double rest_lower[TRITRI_BLOCK], rest_upper[TRITRI_BLOCK], place[TRITRI_BLOCK];
  uint8_t numbers[TRITRI_BLOCK];
  unsigned left = 0;
  CPU_KERNEL(gz_near_rough)(block, count, lower, upper);
  for (unsigned i = 0; i < count; i++) {
    numbers[left] = (uint8_t)i;
    left += !(upper[i] < least || lower[i] >= most);
  }
  for (unsigned i = 0; i < left; i++) copy_pair(block, numbers[i], &rest, i);
  tritri_block_fill(&rest, left);
  gz_near_block_best()(&rest, left, rest_lower, rest_upper, place);
  for (unsigned i = 0; i < left; i++) {
    lower[numbers[i]] = rest_lower[i];
    upper[numbers[i]] = rest_upper[i];
  }
}

const char *graze_feature_string(graze_feature feature) {
  static const char *const names[] = {"vertex", "edge", "face"};
  return (unsigned)feature < 3 ? names[feature] : "?";
}

/* ---- doubles with error bounds ---- */

/* A vector, off by at most `error` on each axis; no true or computed |coordinate| is above `size`. What is not finite
 * decides nothing, as comparisons with NaN are false and numbers above DECISIVE are refused. TINY covers what
 * underflowing products lose. */
typedef struct rough_vector {
  double x[3], size, error;
} rough_vector;

typedef struct rough {
  double value, error;
} rough;

static const double TINY = 0x1p-1000, DECISIVE = 0x1p1000;

static double largest(const double x[3]) {
  return fmax(fmax(fabs(x[0]), fabs(x[1])), fabs(x[2]));
}

static rough_vector rough_between(const real_points *p, int from, int to) {
  rough_vector r;
  double off = 0;
  for (int k = 0; k < 3; k++) {
    r.x[k] = p->rounded[to][k] - p->rounded[from][k];
    off = fmax(off, p->error[to][k] + p->error[from][k]);
  }
  double size = largest(r.x);
  r.error = 1.0001 * off + 0x1p-53 * size;
  r.size = 1.0001 * (size + r.error);
  return r;
}

/* Two products and a difference a coordinate: 4 u of the sizes by rounding. */
static rough_vector rough_cross(const rough_vector *a, const rough_vector *b) {
  rough_vector r;
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    r.x[k] = a->x[i] * b->x[j] - a->x[j] * b->x[i];
  }
  r.error = 2.001 * (a->error * b->size + a->size * b->error) + 0x1p-50 * a->size * b->size + TINY;
  r.size = 1.0001 * (largest(r.x) + r.error);
  return r;
}

/* Three products and two sums: 9 u of the sizes by rounding. */
static rough rough_dot(const rough_vector *a, const rough_vector *b) {
  double value = a->x[0] * b->x[0] + a->x[1] * b->x[1] + a->x[2] * b->x[2];
  double error = 3.001 * (a->error * b->size + a->size * b->error) + 0x1p-49 * a->size * b->size + TINY;
  return (rough){value, error};
}

/* 0: not known. */
static int rough_sign(rough r) {
  if (!(fabs(r.value) > r.error) || !(fabs(r.value) < DECISIVE)) return 0;
  return r.value > 0 ? 1 : -1;
}

/* ---- integers ---- */

static void exact_between(real_points *p, int from, int to, big_vector *r) {
  gz_real_points_compute(p, from);
  gz_real_points_compute(p, to);
  for (int k = 0; k < 3; k++) gz_big_sub(&r->x[k], &p->real[to][k], &p->real[from][k]);
}

/* ---- candidates ---- */

typedef enum candidate_kind { VERTEX_FACE, EDGE_EDGE, VERTEX_EDGE, VERTEX_VERTEX, EDGE_THROUGH_FACE } candidate_kind;

/* Points by number: vertex, then the other's; the edge of a, then that of b; for EDGE_THROUGH_FACE edge, then face. */
typedef struct candidate {
  candidate_kind kind;
  bool turned; /* the first feature is b's */
  int p[5];
} candidate;

enum { CANDIDATES = 42 };

/* Those with the most freedom first: of features with the same distance, these tell the most. */
static candidate candidate_at(int number) {
  static const int next[6] = {1, 2, 0, 4, 5, 3};
  int n = number;
  if (n < 6) return (candidate){VERTEX_FACE, n >= 3, {n, n < 3 ? 3 : 0, n < 3 ? 4 : 1, n < 3 ? 5 : 2, 0}};
  n -= 6;
  if (n < 9) return (candidate){EDGE_EDGE, false, {n / 3, next[n / 3], 3 + n % 3, next[3 + n % 3], 0}};
  n -= 9;
  if (n < 18) {
    int vertex = n / 3, edge = (n < 9 ? 3 : 0) + n % 3;
    return (candidate){VERTEX_EDGE, n >= 9, {vertex, edge, next[edge], 0, 0}};
  }
  n -= 18;
  return (candidate){VERTEX_VERTEX, false, {n / 3, 3 + n % 3, 0, 0, 0}};
}

/* Whether the candidate's feature of a is its first corner. */
static bool is_of_first_corner(int number) {
  const candidate c = candidate_at(number);
  return c.kind != EDGE_EDGE && c.turned == false && c.p[0] == 0;
}

/* One candidate under examination. The parts of its value are computed when they are first needed. */
typedef struct examination {
  real_points *points;
  candidate c;
  rough_vector normal; /* of faces and pairs of edges: u x v */
  bool known;
  big_vector exact_normal;
} examination;

/* The edges u and v of which a normal is the cross product. */
static void normal_edges(const candidate *c, int u[2], int v[2]) {
  const int *p = c->p;
  bool face = c->kind == VERTEX_FACE;
  u[0] = face ? p[1] : p[0];
  u[1] = face ? p[2] : p[1];
  v[0] = face ? p[1] : p[2];
  v[1] = p[3];
}

static const big_vector *exact_normal(examination *e) {
  if (e->known) return &e->exact_normal;
  int u[2], v[2];
  big_vector x, y;
  normal_edges(&e->c, u, v);
  exact_between(e->points, u[0], u[1], &x);
  exact_between(e->points, v[0], v[1], &y);
  gz_big_cross(&x, &y, &e->exact_normal);
  e->known = true;
  return &e->exact_normal;
}

/* Sign of ((x1 - x0) x (y1 - y0)) . n. */
static int side_sign(examination *e, int x0, int x1, int y0, int y1) {
  rough_vector x = rough_between(e->points, x0, x1), y = rough_between(e->points, y0, y1), c = rough_cross(&x, &y);
  int sign = rough_sign(rough_dot(&c, &e->normal));
  if (sign != 0) return sign;
  big_vector a, b, product;
  big value;
  exact_between(e->points, x0, x1, &a);
  exact_between(e->points, y0, y1, &b);
  gz_big_cross(&a, &b, &product);
  gz_big_dot(&product, exact_normal(e), &value);
  return value.sign;
}

/* Sign of (x1 - x0) . (y1 - y0). */
static int dot_sign(examination *e, int x0, int x1, int y0, int y1) {
  rough_vector x = rough_between(e->points, x0, x1), y = rough_between(e->points, y0, y1);
  int sign = rough_sign(rough_dot(&x, &y));
  if (sign != 0) return sign;
  big_vector a, b;
  big value;
  exact_between(e->points, x0, x1, &a);
  exact_between(e->points, y0, y1, &b);
  gz_big_dot(&a, &b, &value);
  return value.sign;
}

/* Whether the feet lie strictly inside both features. With r from p to q the lines p + s u and q + t v are nearest at
 * s = (r x v).n / n.n and t = (r x u).n / n.n; r from the other end of u gives (s - 1) n.n, of v (t - 1) n.n. */
static bool strictly_inside(examination *e) {
  const int *p = e->c.p;
  switch (e->c.kind) {
    case VERTEX_EDGE:
      return dot_sign(e, p[1], p[0], p[1], p[2]) > 0 && dot_sign(e, p[2], p[0], p[2], p[1]) > 0;
    case EDGE_EDGE:
      return side_sign(e, p[0], p[2], p[2], p[3]) > 0 && side_sign(e, p[1], p[2], p[2], p[3]) < 0 &&
             side_sign(e, p[0], p[2], p[0], p[1]) > 0 && side_sign(e, p[0], p[3], p[0], p[1]) < 0;
    case VERTEX_FACE:
      return side_sign(e, p[1], p[2], p[1], p[0]) > 0 && side_sign(e, p[2], p[3], p[2], p[0]) > 0 &&
             side_sign(e, p[3], p[1], p[3], p[0]) > 0;
    default:
      return true;
  }
}

/* Where the way of the value begins and ends. */
static int way_start(const candidate *c) {
  return c->kind == VERTEX_FACE || c->kind == VERTEX_EDGE ? c->p[1] : c->p[0];
}

static int way_end(const candidate *c) {
  return c->kind == EDGE_EDGE ? c->p[2] : c->kind == VERTEX_VERTEX ? c->p[1] : c->p[0];
}

/* The value is at least this. */
static double rough_value(const examination *e) {
  rough_vector w = rough_between(e->points, way_start(&e->c), way_end(&e->c));
  rough above, below = {1, 0};
  if (e->c.kind == VERTEX_VERTEX) {
    above = rough_dot(&w, &w);
  } else if (e->c.kind == VERTEX_EDGE) {
    rough_vector along = rough_between(e->points, e->c.p[1], e->c.p[2]), c = rough_cross(&w, &along);
    above = rough_dot(&c, &c);
    below = rough_dot(&along, &along);
  } else {
    rough height = rough_dot(&w, &e->normal);
    double least = fabs(height.value) - height.error;
    below = rough_dot(&e->normal, &e->normal);
    double value = least / sqrt(below.value + below.error) * (1 - 0x1p-49);
    return value > 0 && fabs(height.value) < DECISIVE ? value : 0;
  }
  double value = sqrt((above.value - above.error) / (below.value + below.error)) * (1 - 0x1p-49);
  return value > 0 && above.value < DECISIVE ? value : 0;
}

/* The square of the value: above / below; false: a foot is not strictly inside. */
static bool exact_value(examination *e, big *above, big *below) {
  big_vector w, along, c;
  if (!strictly_inside(e)) return false;
  exact_between(e->points, way_start(&e->c), way_end(&e->c), &w);
  if (e->c.kind == VERTEX_VERTEX) {
    gz_big_dot(&w, &w, above);
    gz_big_from_double(below, 1);
  } else if (e->c.kind == VERTEX_EDGE) {
    exact_between(e->points, e->c.p[1], e->c.p[2], &along);
    gz_big_cross(&w, &along, &c);
    gz_big_dot(&c, &c, above);
    gz_big_dot(&along, &along, below);
  } else {
    const big_vector *n = exact_normal(e);
    gz_big_dot(&w, n, above);
    gz_big_mul(above, above, above);
    gz_big_dot(n, n, below);
  }
  return true;
}

static void examine(near_pair *pair, candidate c, examination *e) {
  e->points = &pair->points;
  e->c = c;
  e->known = false;
  if (c.kind != VERTEX_FACE && c.kind != EDGE_EDGE) return;
  int u[2], v[2];
  normal_edges(&c, u, v);
  rough_vector x = rough_between(e->points, u[0], u[1]), y = rough_between(e->points, v[0], v[1]);
  e->normal = rough_cross(&x, &y);
}

/* The next candidate from *number on whose value may be at most `most`, with that value's square. */
static bool next_value(near_pair *pair, int *number, double most, examination *e, big *above, big *below) {
  while (*number < CANDIDATES) {
    if (pair->is_point && !is_of_first_corner(*number)) {
      ++*number;
      continue;
    }
    examine(pair, candidate_at((*number)++), e);
    if (rough_value(e) > most) continue;
    if (exact_value(e, above, below)) return true;
  }
  return false;
}

/* ---- roots ---- */

/* Sign of above / below - x^2 for a dyadic x. */
/* ---- pairs ---- */

void gz_near_start_known(near_pair *pair, const double a[9], const graze_pose *pose_a, const double b[9],
                         const graze_pose *pose_b, double lower, double upper) {
  for (int i = 0; i < 3; i++) {
    gz_real_points_set(&pair->points, i, a + 3 * i, pose_a);
    gz_real_points_set(&pair->points, 3 + i, b + 3 * i, pose_b);
  }
  pair->lower = lower;
  pair->upper = upper;
  pair->place = NEAR_NOWHERE;
  pair->is_point = false;
}

void gz_near_start(near_pair *pair, const double a[9], const graze_pose *pose_a, const double b[9],
                   const graze_pose *pose_b) {
  tritri_block block;
  double lower[8], upper[8], place[8], off = 0;
  gz_near_start_known(pair, a, pose_a, b, pose_b, 0, (double)INFINITY);
  real_points *p = &pair->points;
  for (int k = 0; k < 9; k++) {
    off = fmax(off, fmax(p->error[k / 3][k % 3], p->error[3 + k / 3][k % 3]));
    for (int i = 0; i < 8; i++) {
      block.a[k][i] = p->rounded[k / 3][k % 3];
      block.b[k][i] = p->rounded[3 + k / 3][k % 3];
    }
  }
  gz_near_block_best()(&block, 1, lower, upper, place);
  /* Two points, each off by up to the root of 3 times that. */
  pair->lower = fmax(lower[0] * (1 - 0x1p-52) - 3.5 * off, 0);
  pair->upper = (upper[0] + 3.5 * off) * (1 + 0x1p-51);
  pair->place = (int)place[0];
}

bool gz_near_meet(near_pair *pair) {
  graze_tritri t;
  real_points *p = &pair->points;
  if (pair->lower > 0) return false;
  if (p->pose[0] == NULL) {
    gz_tritri_scalar(p->corner[0], p->corner[3], &t);
  } else {
    sign_source signs = gz_real_points_signs(p);
    gz_tritri_decide(&signs, &t);
  }
  return t.kind != GRAZE_KIND_NONE;
}

bool gz_near_below(near_pair *pair, double limit) {
  return gz_near_compare(pair, limit) < 0;
}

/* The limit is x, which is of [low, high] and not negative. */
static int compare(near_pair *pair, double low, double high, const big *x) {
  if (pair->lower > high) return 1;
  if (pair->upper < low) return -1;
  if (gz_near_meet(pair)) return x->sign > 0 ? -1 : 0;
  examination e;
  big above, below;
  int number = 0, least = 1;
  while (least >= 0 && next_value(pair, &number, high, &e, &above, &below)) {
    int sign = gz_big_compare_root(&above, &below, x);
    if (sign < least) least = sign;
  }
  return least;
}

int gz_near_compare(near_pair *pair, double limit) {
  big x;
  if (pair->lower > limit) return 1;
  if (pair->upper < limit) return -1;
  gz_big_from_double(&x, limit);
  return compare(pair, limit, limit, &x);
}

int gz_near_compare_sum(near_pair *pair, const near_sum *limit) {
  return limit->exact.sign < 0 ? 1 : compare(pair, limit->low, limit->high, &limit->exact);
}

/* The first of the candidates whose values round to the least. */
static double find_nearest(near_pair *pair, candidate *nearest) {
  examination e;
  big above, below;
  double least = (double)INFINITY, most = pair->upper;
  int number = 0;
  bool any = false;
  while (next_value(pair, &number, most, &e, &above, &below)) {
    double value = gz_big_round_root(&above, &below);
    if (any && !(value < least)) continue;
    *nearest = e.c;
    any = true;
    least = value;
    most = fmin(most, least * (1 + 0x1p-52));
  }
  return least;
}

double gz_near_distance(near_pair *pair) {
  candidate nearest;
  return gz_near_meet(pair) ? 0 : find_nearest(pair, &nearest);
}

/* ---- points ---- */

/* (x . y) / (z . z), within [0, 1]. */
static double exact_share(const big_vector *x, const big_vector *y, const big_vector *z) {
  big above, below;
  gz_big_dot(x, y, &above);
  gz_big_dot(z, z, &below);
  return fmin(fmax(gz_big_ratio(&above, &below), 0), 1);
}

/* ((x1 - x0) x (y1 - y0)) . n / n.n */
static double side_share(examination *e, int x0, int x1, int y0, int y1) {
  big_vector x, y, product;
  exact_between(e->points, x0, x1, &x);
  exact_between(e->points, y0, y1, &y);
  gz_big_cross(&x, &y, &product);
  return exact_share(&product, exact_normal(e), exact_normal(e));
}

/* p + s (q - p) + t (r - p), from the nearer end of q. */
static void point_at(const real_points *points, int p, int q, double s, int r, double t, double out[3]) {
  const double(*x)[3] = points->rounded;
  for (int k = 0; k < 3; k++) {
    double base = s <= 0.5 ? x[p][k] + s * (x[q][k] - x[p][k]) : x[q][k] - (1 - s) * (x[q][k] - x[p][k]);
    out[k] = base + t * (x[r][k] - x[p][k]);
  }
}

/* Where the edge goes through the face: the height of one end over that of both. */
static double height_share(examination *e) {
  const int *p = e->c.p;
  big_vector u, v, n, w, way;
  big above, below;
  exact_between(e->points, p[2], p[3], &u);
  exact_between(e->points, p[2], p[4], &v);
  gz_big_cross(&u, &v, &n);
  exact_between(e->points, p[0], p[2], &w);
  exact_between(e->points, p[0], p[1], &way);
  gz_big_dot(&w, &n, &above);
  gz_big_dot(&way, &n, &below);
  return gz_big_ratio(&above, &below);
}

/* The points on the first and the second feature. */
static void candidate_points(examination *e, double first[3], double second[3]) {
  const int *p = e->c.p;
  const real_points *points = e->points;
  big_vector w, along;
  memcpy(first, points->rounded[p[0]], 3 * sizeof *first);
  memcpy(second, points->rounded[p[1]], 3 * sizeof *second);
  switch (e->c.kind) {
    case VERTEX_FACE:
      point_at(points, p[1], p[2], side_share(e, p[1], p[0], p[1], p[3]), p[3], side_share(e, p[1], p[2], p[1], p[0]),
               second);
      break;
    case EDGE_EDGE:
      point_at(points, p[0], p[1], side_share(e, p[0], p[2], p[2], p[3]), p[0], 0, first);
      point_at(points, p[2], p[3], side_share(e, p[0], p[2], p[0], p[1]), p[2], 0, second);
      break;
    case VERTEX_EDGE:
      exact_between(e->points, p[1], p[0], &w);
      exact_between(e->points, p[1], p[2], &along);
      point_at(points, p[1], p[2], exact_share(&w, &along, &along), p[1], 0, second);
      break;
    case EDGE_THROUGH_FACE:
      point_at(points, p[0], p[1], height_share(e), p[0], 0, first);
      memcpy(second, first, 3 * sizeof *second);
      break;
    default:
      break;
  }
}

static void report_candidate(near_pair *pair, candidate c, graze_nearest *result) {
  static const graze_feature features[][2] = {{GRAZE_FEATURE_VERTEX, GRAZE_FEATURE_FACE},
                                              {GRAZE_FEATURE_EDGE, GRAZE_FEATURE_EDGE},
                                              {GRAZE_FEATURE_VERTEX, GRAZE_FEATURE_EDGE},
                                              {GRAZE_FEATURE_VERTEX, GRAZE_FEATURE_VERTEX},
                                              {GRAZE_FEATURE_EDGE, GRAZE_FEATURE_FACE}};
  examination e;
  examine(pair, c, &e);
  candidate_points(&e, result->points[c.turned], result->points[!c.turned]);
  result->features[c.turned] = features[c.kind][0];
  result->features[!c.turned] = features[c.kind][1];
}

/* Of triangles that meet in no smaller features: an edge that goes through the other's inside. */
static candidate find_piercing(near_pair *pair) {
  sign_source s = gz_real_points_signs(&pair->points);
  for (int k = 0; k < 6; k++) {
    int own = k < 3 ? 0 : 3, f = 3 - own, p = k, q = own + (k - own + 1) % 3;
    int above = s.orient3d(s.self, f, f + 1, f + 2, p), below = s.orient3d(s.self, f, f + 1, f + 2, q);
    if (above * below >= 0) continue;
    int side[3], next[3] = {1, 2, 0};
    for (int i = 0; i < 3; i++) side[i] = s.orient3d(s.self, p, q, f + i, f + next[i]);
    if (side[0] == side[1] && side[1] == side[2])
      return (candidate){EDGE_THROUGH_FACE, k >= 3, {p, q, f, f + 1, f + 2}};
  }
  return (candidate){VERTEX_VERTEX, false, {0, 3, 0, 0, 0}}; /* not reached: triangles that meet do so somewhere */
}

/* Two smaller features that meet, the smallest first. */
static candidate find_meeting(near_pair *pair) {
  examination e;
  big above, below;
  for (int number = CANDIDATES - 1; number >= 0; number--) {
    examine(pair, candidate_at(number), &e);
    if (rough_value(&e) == 0 && exact_value(&e, &above, &below) && above.sign == 0) return e.c;
  }
  return find_piercing(pair);
}

void gz_near_witness_at(near_pair *pair, double distance, graze_nearest *result) {
  examination e;
  big above, below;
  int number = 0;
  const double most = nextafter(distance, (double)INFINITY);
  while (next_value(pair, &number, most, &e, &above, &below)) {
    if (gz_big_round_root(&above, &below) <= distance) break;
  }
  result->distance = distance;
  report_candidate(pair, e.c, result);
}

void gz_near_witness(near_pair *pair, graze_nearest *result) {
  candidate nearest;
  if (gz_near_meet(pair)) {
    nearest = find_meeting(pair);
    result->distance = 0;
  } else {
    result->distance = find_nearest(pair, &nearest);
  }
  report_candidate(pair, nearest, result);
}

/* ---- public ---- */

static bool finite_all(const double *x, int count) {
  double sum = 0;
  for (int k = 0; k < count; k++) sum += 0 * x[k];
  return sum == 0;
}

static graze_status check_pair(const double *a, const graze_pose *pose_a, const double *b, const graze_pose *pose_b) {
  if (a == NULL || b == NULL) return GRAZE_ERROR_ARGUMENT;
  if (!finite_all(a, 9) || !finite_all(b, 9)) return GRAZE_ERROR_NOT_FINITE;
  if (pose_a != NULL && !finite_all(pose_a->m, 12)) return GRAZE_ERROR_NOT_FINITE;
  if (pose_b != NULL && !finite_all(pose_b->m, 12)) return GRAZE_ERROR_NOT_FINITE;
  return GRAZE_OK;
}

static graze_status find_distance(const double *a, const graze_pose *pose_a, const double *b, const graze_pose *pose_b,
                                  graze_nearest *result) {
  near_pair pair;
  graze_status status = result == NULL ? GRAZE_ERROR_ARGUMENT : check_pair(a, pose_a, b, pose_b);
  if (status != GRAZE_OK) return status;
  unsigned saved = gz_fp_enter();
  gz_near_start(&pair, a, pose_a, b, pose_b);
  gz_near_witness(&pair, result);
  gz_fp_leave(saved);
  return GRAZE_OK;
}

static graze_status find_nearer(const double *a, const graze_pose *pose_a, const double *b, const graze_pose *pose_b,
                                double limit, bool *nearer) {
  near_pair pair;
  graze_status status = nearer == NULL ? GRAZE_ERROR_ARGUMENT : check_pair(a, pose_a, b, pose_b);
  if (status == GRAZE_OK && !isfinite(limit)) status = GRAZE_ERROR_NOT_FINITE;
  if (status != GRAZE_OK) return status;
  unsigned saved = gz_fp_enter();
  *nearer = false;
  if (limit > 0) {
    gz_near_start(&pair, a, pose_a, b, pose_b);
    *nearer = gz_near_below(&pair, limit);
  }
  gz_fp_leave(saved);
  return GRAZE_OK;
}

graze_status graze_tritri_distance(const double a[9], const double b[9], graze_nearest *result) {
  return find_distance(a, NULL, b, NULL, result);
}

graze_status graze_tritri_distance_real(const double a[9], const graze_pose *pose_a, const double b[9],
                                        const graze_pose *pose_b, graze_nearest *result) {
  if (pose_a == NULL || pose_b == NULL) return GRAZE_ERROR_ARGUMENT;
  return find_distance(a, pose_a, b, pose_b, result);
}

graze_status graze_tritri_nearer(const double a[9], const double b[9], double limit, bool *nearer) {
  return find_nearer(a, NULL, b, NULL, limit, nearer);
}

graze_status graze_tritri_nearer_real(const double a[9], const graze_pose *pose_a, const double b[9],
                                      const graze_pose *pose_b, double limit, bool *nearer) {
  if (pose_a == NULL || pose_b == NULL) return GRAZE_ERROR_ARGUMENT;
  return find_nearer(a, pose_a, b, pose_b, limit, nearer);
}
