/* The same search in integers: it ends by itself, as every step comes strictly nearer and there are finitely many
 * simplices, and its end is a proof.
 *
 * A simplex is reduced to the one subset whose nearest point lies in its inside and is nearest of all: from there the
 * others lie behind a plane at right angles to the way to the origin. The way is the point itself for a vertex p,
 * e x (p x e) for an edge along e, and the normal for a triangle; four points with no such subset enclose the origin.
 */
#include <math.h>

#include "base/owned.h"
#include "convex/pair.h"

typedef struct exact_search {
  const convex_pair *pair;
  convex_simplex *s;
  big_vector w[4];  /* of the points of s */
  big_vector way;   /* from the origin; not scaled to any length */
  big above, below; /* the square of the distance */
  big_vector e, c;  /* what `way` was made of: an edge, p x e, or the normal in c */
  bool hit;
} exact_search;

/* Of the limbs in use alone. */
static void copy(big_vector *to, const big_vector *from) {
  for (int k = 0; k < 3; k++) gz_big_copy(&to->x[k], &from->x[k]);
}

static bool is_zero(const big_vector *v) {
  return v->x[0].sign == 0 && v->x[1].sign == 0 && v->x[2].sign == 0;
}

/* Sign of (w[i] - w[j]) . way. */
static int ahead(const exact_search *x, int i, int j) {
  big_vector d;
  big product;
  gz_big_between(&x->w[j], &x->w[i], &d);
  gz_big_dot(&d, &x->way, &product);
  return product.sign;
}

/* Whether no point of the simplex is nearer along the way than point j. */
static bool is_nearest(const exact_search *x, int j) {
  for (int i = 0; i < x->s->count; i++) {
    if (i != j && ahead(x, i, j) < 0) return false;
  }
  return true;
}

static bool try_vertex(exact_search *x, int i) {
  copy(&x->way, &x->w[i]);
  x->hit = is_zero(&x->way);
  if (!x->hit && !is_nearest(x, i)) return false;
  gz_big_dot(&x->way, &x->way, &x->above);
  gz_big_from_double(&x->below, 1);
  x->s->share[0] = 1;
  return true;
}

static bool try_edge(exact_search *x, int i, int j) {
  big from, to;
  gz_big_between(&x->w[i], &x->w[j], &x->e);
  gz_big_dot(&x->w[i], &x->e, &from);
  gz_big_dot(&x->w[j], &x->e, &to);
  if (from.sign >= 0 || to.sign <= 0) return false; /* the foot is not inside */
  gz_big_cross(&x->w[i], &x->e, &x->c);
  gz_big_cross(&x->e, &x->c, &x->way);
  x->hit = is_zero(&x->way);
  if (!x->hit && !is_nearest(x, i)) return false;
  gz_big_dot(&x->c, &x->c, &x->above);
  gz_big_dot(&x->e, &x->e, &x->below);
  x->s->share[0] = gz_big_ratio(&to, &x->below);
  x->s->share[1] = 1 - x->s->share[0];
  return true;
}

/* (w[i] x w[j]) . c: the share of the third corner, times c . c. */
static int corner_share(const exact_search *x, int i, int j, double *share) {
  big_vector n;
  big product;
  gz_big_cross(&x->w[i], &x->w[j], &n);
  gz_big_dot(&n, &x->c, &product);
  *share = product.sign > 0 ? gz_big_ratio(&product, &x->below) : 0;
  return product.sign;
}

static bool try_triangle(exact_search *x, int i, int j, int k) {
  big_vector u;
  big height;
  double share[3];
  gz_big_between(&x->w[i], &x->w[j], &x->e);
  gz_big_between(&x->w[i], &x->w[k], &u);
  gz_big_cross(&x->e, &u, &x->c);
  if (is_zero(&x->c)) return false;
  gz_big_dot(&x->c, &x->c, &x->below);
  if (corner_share(x, j, k, &share[0]) <= 0 || corner_share(x, k, i, &share[1]) <= 0 ||
      corner_share(x, i, j, &share[2]) <= 0) {
    return false;
  }
  gz_big_dot(&x->c, &x->w[i], &height);
  x->hit = height.sign == 0;
  copy(&x->way, &x->c);
  for (int a = 0; a < 3 && height.sign < 0; a++) x->way.x[a].sign = -x->way.x[a].sign;
  if (!x->hit && !is_nearest(x, i)) return false;
  gz_big_mul(&x->above, &height, &height);
  for (int a = 0; a < 3; a++) x->s->share[a] = share[a];
  return true;
}

static void keep(exact_search *x, int count, int a, int b, int c) {
  const int corners[3] = {a, b, c};
  for (int i = 0; i < count; i++) { /* corners rise, so nothing is overwritten before it is moved */
    x->s->p[i] = x->s->p[corners[i]];
    if (corners[i] != i) copy(&x->w[i], &x->w[corners[i]]);
  }
  x->s->count = count;
}

/* Small subsets first. The shares are in the order of the corners that are kept. */
static void reduce(exact_search *x) {
  int n = x->s->count;
  for (int i = 0; i < n; i++) {
    if (try_vertex(x, i)) {
      keep(x, 1, i, 0, 0);
      return;
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = i + 1; j < n; j++) {
      if (try_edge(x, i, j)) {
        keep(x, 2, i, j, 0);
        return;
      }
    }
  }
  for (int skip = n == 4 ? 0 : 3; skip < 4; skip++) {
    if (n >= 3 && try_triangle(x, skip == 0, 1 + (skip <= 1), 2 + (skip <= 2))) {
      keep(x, 3, skip == 0, 1 + (skip <= 1), 2 + (skip <= 2));
      return;
    }
  }
  x->hit = true;
}

/* ---- support ---------------------------------------------------------------------------------------------------- */

/* Of a side's vertices the one farthest against the way (a) or along it (b): those that doubles cannot tell apart from
 * the best are compared exactly. */
static uint32_t farthest(const exact_search *x, int side, const double way[3]) {
  const convex_side *s = &x->pair->side[side];
  double best = -(double)INFINITY, sign = side == 0 ? -1 : 1, slop = 0;
  for (int k = 0; k < 3; k++) slop += fabs(way[k]) * (4 * x->pair->slop[k] + 0x1p-47 * x->pair->reach[k]);
  for (uint32_t i = 0; i < s->count; i++) {
    double value = sign * (way[0] * s->y[0][i] + way[1] * s->y[1][i] + way[2] * s->y[2][i]);
    if (value > best) best = value;
  }
  uint32_t found = s->count;
  big most, at;
  for (uint32_t i = 0; i < s->count; i++) {
    double value = sign * (way[0] * s->y[0][i] + way[1] * s->y[1][i] + way[2] * s->y[2][i]);
    if (!(value >= best - slop)) continue;
    big_vector v;
    gz_pair_vertex(x->pair, side, i, &v);
    gz_big_dot(&v, &x->way, &at);
    if (side == 0) at.sign = -at.sign;
    if (found < s->count) {
      big more;
      gz_big_sub(&more, &at, &most);
      if (more.sign <= 0) continue;
    }
    gz_big_copy(&most, &at);
    found = i;
  }
  return found;
}

/* The way in doubles, its largest part 1: within 2^-50. */
static void direction(const exact_search *x, double way[3]) {
  int top = 0;
  for (int k = 1; k < 3; k++) {
    double ratio = x->way.x[top].sign == 0 ? 2 : fabs(gz_big_ratio(&x->way.x[k], &x->way.x[top]));
    if (x->way.x[k].sign != 0 && ratio > 1) top = k;
  }
  for (int k = 0; k < 3; k++) way[k] = x->way.x[top].sign * gz_big_ratio(&x->way.x[k], &x->way.x[top]);
}

static void search(exact_search *x) {
  for (int i = 0; i < x->s->count; i++) gz_pair_exact_point(x->pair, &x->s->p[i], &x->w[i]);
  for (;;) {
    double way[3];
    reduce(x);
    if (x->hit) return;
    direction(x, way);
    int last = x->s->count;
    x->s->p[last] = gz_pair_point(x->pair, farthest(x, 0, way), farthest(x, 1, way));
    gz_pair_exact_point(x->pair, &x->s->p[last], &x->w[last]);
    if (ahead(x, last, 0) >= 0) return;
    x->s->count++;
  }
}

static void finish(const exact_search *x, convex_bracket *distance, double normal[3], int *beyond) {
  double way[3], square = 0;
  *distance = gz_pair_root(x->pair, &x->above, &x->below);
  direction(x, way);
  for (int k = 0; k < 3; k++) square += way[k] * way[k];
  for (int k = 0; k < 3; k++) normal[k] = -way[k] / sqrt(square);
  big a, b;
  gz_big_from_double(&a, x->pair->radius[0]);
  gz_big_from_double(&b, x->pair->radius[1]);
  gz_big_add(&a, &a, &b);
  *beyond = gz_big_compare_root(&x->above, &x->below, &a);
}

convex_verdict gz_gjk_exact(convex_pair *pair, convex_simplex *simplex, convex_bracket *distance, double normal[3],
                            int *beyond) {
  if (pair->exact == NULL) pair->exact = gz_new(pair->context, 1, sizeof *pair->exact);
  exact_search *x = pair->exact;
  if (x == NULL) return CONVEX_OPEN;
  x->pair = pair;
  x->s = simplex;
  x->hit = false;
  *beyond = -1;
  search(x);
  if (x->hit) return CONVEX_HIT;
  finish(x, distance, normal, beyond);
  return CONVEX_APART;
}
