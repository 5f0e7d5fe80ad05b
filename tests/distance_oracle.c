/* Distances in rational numbers: see the header. */
#include "distance_oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "oracle.h"

typedef mpq_t vector[3];

static struct workspace {
  bool ready;
  vector corner[6];
  vector u, v, r, foot[2], way;
  mpq_t uu, uv, vv, ur, vr, s, t, det, x, y, square;
} work;

static void vector_init(vector v) {
  for (int k = 0; k < 3; k++) mpq_init(v[k]);
}

static void workspace_prepare(void) {
  if (work.ready) return;
  work.ready = true;
  for (int i = 0; i < 6; i++) vector_init(work.corner[i]);
  mpq_t *const vectors[] = {work.u, work.v, work.r, work.foot[0], work.foot[1], work.way};
  for (int i = 0; i < 6; i++) vector_init(vectors[i]);
  mpq_t *const numbers[] = {&work.uu, &work.uv,  &work.vv, &work.ur, &work.vr,    &work.s,
                            &work.t,  &work.det, &work.x,  &work.y,  &work.square};
  for (int i = 0; i < 11; i++) mpq_init(*numbers[i]);
}

static void subtract(vector out, const vector a, const vector b) {
  for (int k = 0; k < 3; k++) mpq_sub(out[k], a[k], b[k]);
}

static void dot(mpq_t out, const vector a, const vector b) {
  mpq_t product, sum;
  mpq_inits(product, sum, NULL);
  for (int k = 0; k < 3; k++) {
    mpq_mul(product, a[k], b[k]);
    mpq_add(sum, sum, product);
  }
  mpq_set(out, sum);
  mpq_clears(product, sum, NULL);
}

/* out += s * v */
static void add_scaled(vector out, const mpq_t s, const vector v) {
  for (int k = 0; k < 3; k++) {
    mpq_mul(work.x, s, v[k]);
    mpq_add(out[k], out[k], work.x);
  }
}

static void copy(vector out, const vector a) {
  for (int k = 0; k < 3; k++) mpq_set(out[k], a[k]);
}

static bool within_unit(const mpq_t x) {
  return mpq_sgn(x) >= 0 && mpq_cmp_ui(x, 1, 1) <= 0;
}

static void load(const double *corners, const graze_pose *pose, vector *out) {
  for (int i = 0; i < 9; i++) {
    mpq_t *x = &out[i / 3][i % 3];
    if (pose == NULL) {
      mpq_set_d(*x, corners[i]);
      continue;
    }
    const double *row = pose->m + 4 * (i % 3);
    mpq_set_d(*x, row[3]);
    for (int k = 0; k < 3; k++) {
      mpq_set_d(work.x, row[k]);
      mpq_set_d(work.y, corners[i / 3 * 3 + k]);
      mpq_mul(work.x, work.x, work.y);
      mpq_add(*x, *x, work.x);
    }
  }
}

/* The feet in work.foot, foot[0] of a, become the answer if they are the nearest so far. */
static void offer(oracle_distance *best, bool *any) {
  subtract(work.way, work.foot[1], work.foot[0]);
  dot(work.square, work.way, work.way);
  if (*any && mpq_cmp(work.square, best->square) >= 0) return;
  *any = true;
  mpq_set(best->square, work.square);
  for (int i = 0; i < 2; i++) copy(best->points[i], work.foot[i]);
}

/* p against the segment q, r; p is of mesh `side`. */
static void offer_point_segment(const vector p, const vector q, const vector r, int side, oracle_distance *best,
                                bool *any) {
  subtract(work.u, r, q);
  subtract(work.r, p, q);
  dot(work.uu, work.u, work.u);
  dot(work.ur, work.u, work.r);
  copy(work.foot[side], p);
  copy(work.foot[1 - side], q);
  if (mpq_sgn(work.uu) > 0 && mpq_sgn(work.ur) > 0) {
    mpq_div(work.s, work.ur, work.uu);
    if (mpq_cmp_ui(work.s, 1, 1) > 0) mpq_set_ui(work.s, 1, 1);
    add_scaled(work.foot[1 - side], work.s, work.u);
  }
  offer(best, any);
}

/* s and t of the point p + s u + t v for which (.. - r) is at right angles to u and to `sign` * v; false: parallel. */
static bool solve(void) {
  dot(work.uu, work.u, work.u);
  dot(work.uv, work.u, work.v);
  dot(work.vv, work.v, work.v);
  dot(work.ur, work.u, work.r);
  dot(work.vr, work.v, work.r);
  mpq_mul(work.det, work.uu, work.vv);
  mpq_mul(work.x, work.uv, work.uv);
  mpq_sub(work.det, work.det, work.x);
  if (mpq_sgn(work.det) == 0) return false;
  mpq_mul(work.s, work.vv, work.ur);
  mpq_mul(work.x, work.uv, work.vr);
  mpq_sub(work.s, work.s, work.x);
  mpq_div(work.s, work.s, work.det);
  mpq_mul(work.t, work.uu, work.vr);
  mpq_mul(work.x, work.uv, work.ur);
  mpq_sub(work.t, work.t, work.x);
  mpq_div(work.t, work.t, work.det);
  return true;
}

static void offer_point_face(const vector p, vector *face, int side, oracle_distance *best, bool *any) {
  subtract(work.u, face[1], face[0]);
  subtract(work.v, face[2], face[0]);
  subtract(work.r, p, face[0]);
  if (!solve()) return;
  mpq_add(work.y, work.s, work.t);
  if (mpq_sgn(work.s) < 0 || mpq_sgn(work.t) < 0 || mpq_cmp_ui(work.y, 1, 1) > 0) return;
  copy(work.foot[side], p);
  copy(work.foot[1 - side], face[0]);
  add_scaled(work.foot[1 - side], work.s, work.u);
  add_scaled(work.foot[1 - side], work.t, work.v);
  offer(best, any);
}

/* The lines' nearest points, where they lie in both segments: s u - t v = r. */
static void offer_lines(const vector p, const vector p2, const vector q, const vector q2, oracle_distance *best,
                        bool *any) {
  subtract(work.u, p2, p);
  subtract(work.v, q, q2); /* backward, so that both have a plus */
  subtract(work.r, q, p);
  if (!solve() || !within_unit(work.s) || !within_unit(work.t)) return;
  copy(work.foot[0], p);
  add_scaled(work.foot[0], work.s, work.u);
  copy(work.foot[1], q);
  mpq_neg(work.t, work.t);
  add_scaled(work.foot[1], work.t, work.v);
  offer(best, any);
}

static void find(oracle_distance *best) {
  vector *a = work.corner, *b = work.corner + 3;
  bool any = false;
  for (int i = 0; i < 3; i++) {
    offer_point_face(a[i], b, 0, best, &any);
    offer_point_face(b[i], a, 1, best, &any);
    for (int j = 0; j < 3; j++) {
      offer_point_segment(a[i], b[j], b[(j + 1) % 3], 0, best, &any);
      offer_point_segment(b[i], a[j], a[(j + 1) % 3], 1, best, &any);
      offer_lines(a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3], best, &any);
    }
  }
}

/* a behind the plane through its point, b before that through its own. */
static bool is_proved(const oracle_distance *best) {
  subtract(work.way, best->points[1], best->points[0]);
  for (int i = 0; i < 6; i++) {
    subtract(work.r, work.corner[i], best->points[i / 3]);
    dot(work.x, work.r, work.way);
    if (i < 3 ? mpq_sgn(work.x) > 0 : mpq_sgn(work.x) < 0) return false;
  }
  return true;
}

void oracle_distance_init(oracle_distance *distance) {
  mpq_init(distance->square);
  for (int i = 0; i < 2; i++) vector_init(distance->points[i]);
}

void oracle_distance_clear(oracle_distance *distance) {
  mpq_clear(distance->square);
  for (int i = 0; i < 6; i++) mpq_clear(distance->points[i / 3][i % 3]);
}

void oracle_distance_find(const double a[9], const graze_pose *pose_a, const double b[9], const graze_pose *pose_b,
                          oracle_distance *distance) {
  workspace_prepare();
  load(a, pose_a, work.corner);
  load(b, pose_b, work.corner + 3);
  find(distance);
  if (mpq_sgn(distance->square) > 0 && is_proved(distance)) return;
  graze_tritri t;
  const graze_pose same = graze_pose_identity();
  if (pose_a == NULL && pose_b == NULL)
    oracle_tritri(a, b, &t);
  else
    oracle_tritri_real(a, pose_a != NULL ? pose_a : &same, b, pose_b != NULL ? pose_b : &same, &t);
  if (t.kind == GRAZE_KIND_NONE) {
    fprintf(stderr, "no proof of the distance of triangles that do not meet\n");
    abort();
  }
  mpq_set_ui(distance->square, 0, 1);
}

/* Sign of the root minus x. */
static int compare(const mpq_t square, const mpq_t x) {
  mpq_mul(work.y, x, x);
  return mpq_cmp(square, work.y);
}

int oracle_distance_compare(const oracle_distance *distance, double limit) {
  workspace_prepare();
  mpq_set_d(work.x, limit);
  int sign = compare(distance->square, work.x);
  return (sign > 0) - (sign < 0);
}

/* Sign of the root minus the middle of q and what follows it; behind the largest double follows 2^1024. */
static int compare_middle(const oracle_distance *distance, double q) {
  double next = nextafter(q, (double)INFINITY), unit = isfinite(next) ? next - q : 0x1p971;
  mpq_set_d(work.x, unit);
  mpq_div_2exp(work.x, work.x, 1);
  mpq_set_d(work.y, q);
  mpq_add(work.x, work.x, work.y);
  int sign = compare(distance->square, work.x);
  return (sign > 0) - (sign < 0);
}

bool oracle_distance_rounds_to(const oracle_distance *distance, double q) {
  workspace_prepare();
  if (isnan(q) || q < 0) return false;
  int exponent;
  bool even = isinf(q) || fmod(ldexp(frexp(q, &exponent), 53), 2) == 0;
  if (q > 0 && q < 0x1p-1021) even = fmod(ldexp(q, 1074), 2) == 0; /* subnormal, or the first that is not */
  if (!isinf(q)) {
    int above = compare_middle(distance, q);
    if (above > 0 || (above == 0 && !even)) return false;
  }
  if (q == 0) return true;
  int below = compare_middle(distance, nextafter(q, 0));
  return below > 0 || (below == 0 && even);
}

double oracle_point_square(const double p[3], const double corners[9], const graze_pose *pose) {
  oracle_distance best;
  bool any = false;
  workspace_prepare();
  oracle_distance_init(&best);
  load(corners, pose, work.corner + 3);
  for (int k = 0; k < 3; k++) mpq_set_d(work.corner[0][k], p[k]);
  offer_point_face(work.corner[0], work.corner + 3, 0, &best, &any);
  for (int j = 0; j < 3; j++) {
    offer_point_segment(work.corner[0], work.corner[3 + j], work.corner[3 + (j + 1) % 3], 0, &best, &any);
  }
  double square = mpq_get_d(best.square);
  oracle_distance_clear(&best);
  return square;
}
