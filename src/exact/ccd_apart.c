/* The first time at which two features are at a distance D or nearer.
 *
 * Where they are not at t = 0 the distance is D at that time, and it is between two points that lie in the inside of
 * parts of the features: vertex and vertex, vertex and edge, vertex and face, edge and edge; parts that are not
 * degenerate then, for what is degenerate has smaller parts. Between the points, lines and planes that parts lie in the
 * distance is D where a polynomial is zero,
 *     |w|^2 - D^2    |w x e|^2 - D^2 |e|^2    (w . n)^2 - D^2 |n|^2,
 * of degree 2, 4 and 6; and whether it is attained in the parts is told by signs of polynomials of degree 4 at most. So
 * the first time is the least of roots at which these signs are right. Where a polynomial is zero all the way the
 * distance D is attained from a time on at which the nearest points are on the boundaries of parts: then it is a root
 * of a smaller part's.
 */
#include "exact/ccd_apart.h"

#include <float.h>

#include "base/extremes.h"
#include "exact/sturm.h"

enum { MOST_CONDITIONS = 5 };

typedef struct vector {
  poly x[3];
} vector;

struct apart_scratch {
  vector point[4], w, e, g, n, side;
  poly square; /* of the separation */
  poly f, term, product;
  poly conditions[MOST_CONDITIONS]; /* none may be negative, and the first not zero */
  int condition_count;
  root_finder roots;
};

size_t gz_ccd_apart_scratch_size(void) {
  return sizeof(apart_scratch);
}

/* ---- before anything is computed ---- */

bool gz_ccd_apart_filter(const graze_ccd_query *query, double separation) {
  const int first = query->kind == GRAZE_CCD_VERTEX_FACE ? 1 : 2;
  for (int k = 0; k < 3; k++) {
    double low[2] = {DBL_MAX, DBL_MAX}, high[2] = {-DBL_MAX, -DBL_MAX};
    for (int e = 0; e < 2; e++) {
      for (int i = 0; i < 4; i++) {
        const double x = query->points[e][i][k];
        low[i >= first] = smaller(low[i >= first], x);
        high[i >= first] = larger(high[i >= first], x);
      }
    }
    if (larger(low[0] - high[1], low[1] - high[0]) * (1 - 0x1p-50) > separation) return true;
  }
  return false;
}

/* ---- vectors of polynomials ---- */

static void difference(const apart_scratch *s, vector *r, int from, int to) {
  for (int k = 0; k < 3; k++) gz_poly_sub(&r->x[k], &s->point[to].x[k], &s->point[from].x[k]);
}

/* r is none of the others */
static void dot(apart_scratch *s, poly *r, const vector *a, const vector *b) {
  gz_poly_mul(r, &a->x[0], &b->x[0]);
  for (int k = 1; k < 3; k++) {
    gz_poly_mul(&s->product, &a->x[k], &b->x[k]);
    gz_poly_add(r, r, &s->product);
  }
}

static void cross(apart_scratch *s, vector *r, const vector *a, const vector *b) {
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    gz_poly_mul(&r->x[k], &a->x[i], &b->x[j]);
    gz_poly_mul(&s->product, &a->x[j], &b->x[i]);
    gz_poly_sub(&r->x[k], &r->x[k], &s->product);
  }
}

/* f -= D^2 times the first condition, which is the square of a length. */
static void take_separation(apart_scratch *s) {
  gz_poly_mul(&s->term, &s->square, &s->conditions[0]);
  gz_poly_sub(&s->f, &s->f, &s->term);
}

/* ---- parts ---- */

static void vertex_and_vertex(apart_scratch *s, int p, int q) {
  difference(s, &s->w, p, q);
  dot(s, &s->f, &s->w, &s->w);
  gz_poly_sub(&s->f, &s->f, &s->square);
  s->condition_count = 0;
}

static void vertex_and_edge(apart_scratch *s, int p, int a, int b) {
  difference(s, &s->w, a, p);
  difference(s, &s->e, a, b);
  dot(s, &s->conditions[0], &s->e, &s->e);
  dot(s, &s->conditions[1], &s->w, &s->e);
  gz_poly_sub(&s->conditions[2], &s->conditions[0], &s->conditions[1]);
  s->condition_count = 3;
  cross(s, &s->n, &s->w, &s->e);
  dot(s, &s->f, &s->n, &s->n);
  take_separation(s);
}

/* (w . n)^2 - D^2 |n|^2 */
static void finish_plane(apart_scratch *s) {
  dot(s, &s->f, &s->w, &s->n);
  gz_poly_copy(&s->term, &s->f);
  gz_poly_mul(&s->f, &s->f, &s->term);
  take_separation(s);
}

static void vertex_and_face(apart_scratch *s, int p, const int corners[3]) {
  difference(s, &s->e, corners[0], corners[1]);
  difference(s, &s->g, corners[0], corners[2]);
  cross(s, &s->n, &s->e, &s->g);
  dot(s, &s->conditions[0], &s->n, &s->n);
  for (int i = 0; i < 3; i++) {
    difference(s, &s->w, corners[i], p);
    difference(s, &s->e, corners[i], corners[(i + 1) % 3]);
    cross(s, &s->side, &s->e, &s->w);
    dot(s, &s->conditions[1 + i], &s->side, &s->n);
  }
  s->condition_count = 4;
  finish_plane(s);
}

static void edge_and_edge(apart_scratch *s) {
  difference(s, &s->e, 0, 1);
  difference(s, &s->g, 2, 3);
  difference(s, &s->w, 0, 2);
  cross(s, &s->n, &s->e, &s->g);
  dot(s, &s->conditions[0], &s->n, &s->n);
  cross(s, &s->side, &s->w, &s->g);
  dot(s, &s->conditions[1], &s->side, &s->n);
  cross(s, &s->side, &s->w, &s->e);
  dot(s, &s->conditions[3], &s->side, &s->n);
  gz_poly_sub(&s->conditions[2], &s->conditions[0], &s->conditions[1]);
  gz_poly_sub(&s->conditions[4], &s->conditions[0], &s->conditions[3]);
  s->condition_count = 5;
  finish_plane(s);
}

/* ---- times ---- */

static bool all_right_at(const apart_scratch *s, const big *t) {
  for (int i = 0; i < s->condition_count; i++) {
    if (gz_poly_sign_at(&s->conditions[i], t) < (i == 0)) return false;
  }
  return true;
}

static bool all_right(apart_scratch *s, int root) {
  for (int i = 0; i < s->condition_count; i++) {
    if (gz_sturm_sign(&s->roots, root, &s->conditions[i]) < (i == 0)) return false;
  }
  return true;
}

/* The least of the times: neighbours of an earlier time are not later than those of another. */
static void take(double time[2], const double other[2]) {
  time[0] = smaller(time[0], other[0]);
  time[1] = smaller(time[1], other[1]);
}

/* Of the part that has been set up. */
static void improve(apart_scratch *s, double time[2]) {
  big moment;
  if (time[1] == 0) return;
  gz_big_from_double(&moment, 0);
  if (gz_poly_sign_at(&s->f, &moment) <= 0 && all_right_at(s, &moment)) {
    time[0] = time[1] = 0;
    return;
  }
  if (s->f.degree < 1) return;
  gz_sturm_find(&s->roots, &s->f);
  for (int i = 0; i < s->roots.count; i++) {
    if (!all_right(s, i)) continue;
    double bracket[2];
    gz_sturm_bracket(&s->roots, i, bracket);
    take(time, bracket);
    return;
  }
  gz_big_from_double(&moment, 1);
  if (s->roots.has_one && all_right_at(s, &moment)) take(time, (const double[2]){1, 1});
}

static void vertex_against_edge(apart_scratch *s, int p, int a, int b, double time[2]) {
  vertex_and_edge(s, p, a, b);
  improve(s, time);
}

static void vertices(apart_scratch *s, int p, int q, double time[2]) {
  vertex_and_vertex(s, p, q);
  improve(s, time);
}

bool gz_ccd_apart_exact(const graze_ccd_query *query, double separation, apart_scratch *s, double time[2],
                        bool *too_long) {
  gz_big_clear_overflow();
  time[0] = time[1] = 2;
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 3; k++) gz_poly_line(&s->point[i].x[k], query->points[0][i][k], query->points[1][i][k]);
  }
  s->square.degree = 0;
  gz_big_from_double(&s->square.c[0], separation);
  gz_big_mul(&s->square.c[0], &s->square.c[0], &s->square.c[0]);
  if (query->kind == GRAZE_CCD_VERTEX_FACE) {
    for (int i = 1; i < 4; i++) vertices(s, 0, i, time);
    for (int i = 0; i < 3; i++) vertex_against_edge(s, 0, 1 + i, 1 + (i + 1) % 3, time);
    vertex_and_face(s, 0, (const int[3]){1, 2, 3});
  } else {
    for (int i = 0; i < 4; i++) vertices(s, i / 2, 2 + i % 2, time);
    for (int i = 0; i < 2; i++) {
      vertex_against_edge(s, i, 2, 3, time);
      vertex_against_edge(s, 2 + i, 0, 1, time);
    }
    edge_and_edge(s);
  }
  improve(s, time);
  *too_long = gz_big_overflowed();
  return time[1] <= 1;
}
