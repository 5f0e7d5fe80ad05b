/* A ray and a box, exactly.
 *
 * Along an axis with direction d the ray is in the slab for t in [n/e, f/e], with e = |d| and n and f the signed
 * lengths to the near and the far side. Intervals of a line have a common point when each two of them have (Helly), so
 * the ray meets the box when f >= 0, n <= length e, and n e' <= f' e for every two axes. Each is the sign of a
 * polynomial in the caller's numbers: in doubles with an error bound, then with expansions (exact/expansion.h), and
 * where those could overflow with numbers of any length (exact/big.h).
 */
#include "geometry/ray.h"

#include <math.h>

#include "exact/big.h"
#include "exact/expansion.h"

/* The difference p - q, times e. */
typedef struct product {
  double p, q, e;
} product;

/* ---- the sign of a difference of products ----------------------------------------------------------------------- */

/* Whether expansions of products of two such numbers neither overflow nor lose low bits. */
static bool in_window(double x) {
  double a = fabs(x);
  return a == 0 || (a > 0x1p-400 && a < 0x1p400);
}

static int expand(const product *x, double out[4]) {
  double difference[2];
  int n = gz_expansion_difference(x->p, x->q, difference);
  return gz_expansion_scale(difference, n, x->e, out);
}

static void enlarge(const product *x, big *out) {
  big t;
  gz_big_from_double(out, x->p);
  gz_big_from_double(&t, x->q);
  gz_big_sub(out, out, &t);
  gz_big_from_double(&t, x->e);
  gz_big_mul(out, out, &t);
}

static int exact_sign(const product *x, const product *y) {
  if (in_window(x->p) && in_window(x->q) && in_window(x->e) && in_window(y->p) && in_window(y->q) && in_window(y->e)) {
    double u[4], v[4], sum[8];
    int n = expand(x, u), m = expand(y, v);
    gz_expansion_negate(v, m);
    return expansion_sign(sum, gz_expansion_sum(u, n, v, m, sum));
  }
  big u, v;
  enlarge(x, &u);
  enlarge(y, &v);
  gz_big_sub(&u, &u, &v);
  return u.sign;
}

/* Whether x <= y. Each product is off by less than 2^-51 of itself where nothing under- or overflows. */
static bool at_most(product x, product y) {
  double u = (x.p - x.q) * x.e, v = (y.p - y.q) * y.e, size = fabs(u) + fabs(v);
  if (size > 0x1p-900 && size < 0x1p900 && fabs(u - v) > size * 0x1p-50) return u < v;
  return exact_sign(&x, &y) <= 0;
}

/* ---- slabs ----------------------------------------------------------------------------------------------------- */

typedef struct slab {
  double near_p, near_q; /* n = near_p - near_q */
  double far_p, far_q;
  double e;
} slab;

/* Of an axis along which the ray runs. */
static slab slab_of(const ray *r, const graze_box *box, int k) {
  double o = r->origin[k];
  if (r->direction[k] > 0) return (slab){box->min[k], o, box->max[k], o, r->direction[k]};
  return (slab){o, box->max[k], o, box->min[k], -r->direction[k]};
}

bool gz_ray_meets(const ray *r, const graze_box *box) {
  slab slabs[3];
  int n = 0;
  for (int k = 0; k < 3; k++) {
    if (r->direction[k] == 0) {
      if (r->origin[k] < box->min[k] || r->origin[k] > box->max[k]) return false;
      continue;
    }
    slab s = slab_of(r, box, k);
    if (s.far_p < s.far_q) return false;
    slabs[n++] = s;
  }
  for (int i = 0; i < n; i++) {
    const slab *s = &slabs[i];
    bool behind = s->near_p <= s->near_q; /* entered before t = 0, and left later: fits any other such axis */
    if (behind) continue;
    if (r->length < (double)INFINITY && !at_most((product){s->near_p, s->near_q, 1}, (product){r->length, 0, s->e})) {
      return false;
    }
    for (int j = 0; j < n; j++) {
      const slab *t = &slabs[j];
      if (j != i && !at_most((product){s->near_p, s->near_q, t->e}, (product){t->far_p, t->far_q, s->e})) return false;
    }
  }
  return true;
}

double gz_ray_enter(const ray *r, const graze_box *box) {
  double enter = 0;
  for (int k = 0; k < 3; k++) {
    if (r->direction[k] == 0) continue;
    slab s = slab_of(r, box, k);
    double difference = s.near_p - s.near_q;
    double t = isfinite(difference) ? difference / s.e : (0.5 * s.near_p - 0.5 * s.near_q) / (0.5 * s.e);
    if (t > enter) enter = t;
  }
  return enter < r->length ? enter : r->length;
}

/* ---- bounds ---------------------------------------------------------------------------------------------------- */

bool gz_ray_is_tame(const ray *r) {
  for (int k = 0; k < 3; k++) {
    double d = fabs(r->direction[k]);
    if (fabs(r->origin[k]) > 0x1p500 || d > 0x1p500 || (d < 0x1p-500 && d != 0)) return false;
  }
  return true;
}

static double lowered(double t) {
  return t - (fabs(t) * 0x1p-50 + 0x1p-1000);
}

static double raised(double t) {
  return t + (fabs(t) * 0x1p-50 + 0x1p-1000);
}

bool gz_ray_may_meet(const ray *r, const graze_box *box) {
  double enter = 0, leave = r->length;
  for (int k = 0; k < 3; k++) {
    if (r->direction[k] == 0) {
      if (r->origin[k] < box->min[k] || r->origin[k] > box->max[k]) return false;
      continue;
    }
    slab s = slab_of(r, box, k);
    double in = lowered((s.near_p - s.near_q) / s.e), out = raised((s.far_p - s.far_q) / s.e);
    if (in > enter) enter = in;
    if (out < leave) leave = out;
  }
  return enter <= leave;
}
