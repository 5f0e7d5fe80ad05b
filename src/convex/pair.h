/* Two convex sets of points at poses, as the searches see them.
 *
 * What is searched is A - B, the differences of points of both: the sets meet when it holds the origin. Searches run in
 * doubles, in coordinates that are scaled to size 1 and, for products, taken about a point of A; their steps need not
 * be right. What they claim is proved: by a product with a bound on its error, or by integers.
 *
 * At tier T1 the points are the posed ones, rounded as math.h says; at T2 they are the real images, of which the
 * rounded ones are off by at most `error`.
 */
#ifndef GRAZE_SRC_CONVEX_PAIR_H
#define GRAZE_SRC_CONVEX_PAIR_H

#include "base/memory.h"
#include "convex/growing.h"
#include "convex/pair_kernels.h"
#include "exact/big_vector.h"
#include "graze/convex.h"

typedef struct convex_side {
  const double *points; /* [count][3] before the pose */
  const double *axes;   /* NULL, or the same by axis as a hull has them */
  uint32_t count;
  const graze_pose *pose; /* NULL: none */
  double *x[3];           /* the rounded image, by axis; padded with the last point to a multiple of 8, as is y */
  double *y[3];           /* scaled, about the center of the pair */
  double error[3];        /* |x - real| is at most this; T1: 0 */
  double low[3], high[3]; /* of y */
} convex_side;

/* A point of A - B: that of two vertices. */
typedef struct convex_point {
  uint32_t v[2];
  double w[3]; /* scaled; within pair->off */
} convex_point;

typedef struct convex_pair {
  const graze_context *context;
  convex_side side[2];
  double radius[2]; /* not scaled; the searches are about the points alone */
  double discs;     /* the largest radius of a disc; 0: there are none */
  bool is_real;     /* T2 */
  int power;        /* scaled is times 2^-power */
  double scale;     /* that factor */
  double center[3]; /* scaled */
  double reach[3];  /* |w| is at most this */
  double off[3];    /* what a w may be off */
  double slop[3];   /* what a product with n may be off is the sum of |n_k| slop_k */
  double gap[3];    /* what the difference of two w may be off */
  double tolerance; /* scaled: how wide a bracket may be */
  supporting support;
  support_function *find_support;
  buffer memory;              /* of x and y */
  growing surface;            /* of depth.c, */
  gz_array vertices, lower;   /* and what it keeps of vertices and triangles */
  gz_array turns, cones;      /* of discs_depth.c */
  struct exact_search *exact; /* of gjk_exact.c, once it was needed */
} convex_pair;

/* Poses the points. ARGUMENT, NOT_FINITE (a posed coordinate; *bad_side tells of which), MEMORY; no message. */
graze_status gz_pair_load(convex_pair *pair, int *bad_side);
void gz_pair_release(convex_pair *pair);

convex_point gz_pair_point(const convex_pair *pair, uint32_t a, uint32_t b);

static inline double pair_x(const convex_pair *pair, int side, uint32_t vertex, int k) {
  return pair->side[side].x[k][vertex];
}

/* The point farthest along n, and the product, which is off by at most gz_pair_slop, as is the choice. */
convex_point gz_pair_support(const convex_pair *pair, const double n[3], double *product);
double gz_pair_slop(const convex_pair *pair, const double n[3]);

/* ---- planes ---- */

/* Through three points of A - B: the normal (p1 - p0) x (p2 - p0), each part off by at most `error`. */
typedef struct convex_plane {
  double n[3], error[3];
} convex_plane;

convex_plane gz_pair_plane(const convex_pair *pair, const convex_point *p0, const convex_point *p1,
                           const convex_point *p2);

/* On which side of the plane of the three lies the fourth, or the origin (NULL)? Exact. 1: that of the normal. */
int gz_pair_side(const convex_pair *pair, const convex_plane *plane, const convex_point *p0, const convex_point *p1,
                 const convex_point *p2, const convex_point *p);

/* ---- integers (pair_exact.c), not scaled ---- */

void gz_pair_vertex(const convex_pair *pair, int side, uint32_t vertex, big_vector *out);
void gz_pair_exact_point(const convex_pair *pair, const convex_point *p, big_vector *out);
int gz_pair_exact_side(const convex_pair *pair, const convex_point *p0, const convex_point *p1, const convex_point *p2,
                       const convex_point *p);
bool gz_pair_same(const convex_pair *pair, const convex_point *p, const convex_point *q);
bool gz_pair_on_line(const convex_pair *pair, const convex_point *p, const convex_point *q, const convex_point *r);

/* ---- searches ---- */

/* Up to four points of A - B, and the share of each in the point nearest to the origin. */
typedef struct convex_simplex {
  convex_point p[4];
  double share[4];
  int count;
} convex_simplex;

/* gjk.c: keeps the corners of the simplex whose hull has the point nearest to the origin inside, with their shares;
 * four if it is the origin. That point. Whether a point is among the corners. */
void gz_simplex_nearest(convex_simplex *s);
void gz_simplex_point(const convex_simplex *s, double out[3]);
bool gz_simplex_has(const convex_simplex *s, const convex_point *p);

typedef enum convex_verdict { CONVEX_APART, CONVEX_HIT, CONVEX_OPEN } convex_verdict;

/* lower <= distance <= upper, scaled, and the best guess. */
typedef struct convex_bracket {
  double lower, upper, value;
} convex_bracket;

/* Of the root of above / below, which are not scaled: the value is rounded to nearest. */
convex_bracket gz_pair_root(const convex_pair *pair, const big *above, const big *below);

/* gjk.c: APART is proved. HIT is a guess: four points around the origin. With `measure` the bracket of a pair that is
 * apart is as narrow as doubles make it; else its lower end is above 0. */
convex_verdict gz_gjk(const convex_pair *pair, bool measure, convex_simplex *simplex, convex_bracket *distance);

/* The signs of the volumes of the origin and each face of four points whose parts are at most `reach` and off by at
 * most `off`, if doubles tell them: 1, -1: all are the same, as the whole is, so that the points enclose it. */
int gz_enclosing_sign(const double reach[3], const double off[3], const convex_point *p);

/* Whether the four points enclose the origin, closed, proved; they are put in order, for gz_growing_begin. */
bool gz_pair_encloses(const convex_pair *pair, convex_simplex *simplex);

/* gjk_exact.c: decides, from the simplex on, with integers; OPEN: memory was refused. Of a pair that is apart it gives
 * the distance within some units of its last place, a unit vector from a to b, and the exact sign of distance minus the
 * sum of the radii. */
convex_verdict gz_gjk_exact(convex_pair *pair, convex_simplex *simplex, convex_bracket *distance, double normal[3],
                            int *beyond);

/* depth.c: of a pair that meets. The simplex comes to be where the sets are deepest: three points with shares. The unit
 * normal is the direction in which b leaves a soonest. Sharp: within some units of its last place. False: memory was
 * refused. */
bool gz_depth(convex_pair *pair, bool is_sharp, convex_simplex *simplex, convex_bracket *depth, double normal[3]);

#endif
