/* Signs of A - B in integers. */
#include <math.h>

#include "convex/pair.h"

void gz_pair_vertex(const convex_pair *pair, int side, uint32_t vertex, big_vector *out) {
  const convex_side *s = &pair->side[side];
  const double *corner = s->points + 3 * (size_t)vertex;
  for (int k = 0; k < 3; k++) {
    big x, y, *sum = &out->x[k];
    if (!pair->is_real || s->pose == NULL) {
      gz_big_from_double(sum, pair_x(pair, side, vertex, k));
      continue;
    }
    const double *row = s->pose->m + 4 * k;
    gz_big_from_double(sum, row[3]);
    for (int c = 0; c < 3; c++) {
      gz_big_from_double(&x, row[c]);
      gz_big_from_double(&y, corner[c]);
      gz_big_mul(&x, &x, &y);
      gz_big_add(sum, sum, &x);
    }
  }
}

void gz_pair_exact_point(const convex_pair *pair, const convex_point *p, big_vector *out) {
  big_vector b;
  gz_pair_vertex(pair, 0, p->v[0], out);
  gz_pair_vertex(pair, 1, p->v[1], &b);
  gz_big_between(&b, out, out);
}

int gz_pair_exact_side(const convex_pair *pair, const convex_point *p0, const convex_point *p1, const convex_point *p2,
                       const convex_point *p) {
  big_vector o, u, v, n;
  big value;
  gz_pair_exact_point(pair, p0, &o);
  gz_pair_exact_point(pair, p1, &u);
  gz_pair_exact_point(pair, p2, &v);
  gz_big_between(&o, &u, &u);
  gz_big_between(&o, &v, &v);
  gz_big_cross(&u, &v, &n);
  if (p == NULL) { /* seen from p0, the origin is at -p0 */
    gz_big_dot(&n, &o, &value);
    return -value.sign;
  }
  gz_pair_exact_point(pair, p, &u);
  gz_big_between(&o, &u, &u);
  gz_big_dot(&n, &u, &value);
  return value.sign;
}

static bool is_zero(const big_vector *v) {
  return v->x[0].sign == 0 && v->x[1].sign == 0 && v->x[2].sign == 0;
}

bool gz_pair_same(const convex_pair *pair, const convex_point *p, const convex_point *q) {
  big_vector x, y;
  if (p->v[0] == q->v[0] && p->v[1] == q->v[1]) return true;
  for (int k = 0; k < 3; k++) {
    if (fabs(p->w[k] - q->w[k]) > pair->gap[k]) return false;
  }
  gz_pair_exact_point(pair, p, &x);
  gz_pair_exact_point(pair, q, &y);
  gz_big_between(&x, &y, &y);
  return is_zero(&y);
}

bool gz_pair_on_line(const convex_pair *pair, const convex_point *p, const convex_point *q, const convex_point *r) {
  big_vector o, u, v, n;
  convex_plane plane = gz_pair_plane(pair, p, q, r);
  for (int k = 0; k < 3; k++) {
    if (plane.n[k] > plane.error[k] || -plane.n[k] > plane.error[k]) return false;
  }
  gz_pair_exact_point(pair, p, &o);
  gz_pair_exact_point(pair, q, &u);
  gz_pair_exact_point(pair, r, &v);
  gz_big_between(&o, &u, &u);
  gz_big_between(&o, &v, &v);
  gz_big_cross(&u, &v, &n);
  return is_zero(&n);
}

convex_bracket gz_pair_root(const convex_pair *pair, const big *above, const big *below) {
  double root = gz_big_round_root(above, below), value = ldexp(root, -pair->power);
  double lost = value < 0x1p-1000 && above->sign != 0 ? 0x1p-1070 : 0; /* by what underflowed */
  if (isinf(root)) return (convex_bracket){ldexp(0x1.fffffffffffffp1023, -pair->power), root, root};
  big x;
  gz_big_from_double(&x, root);
  int side = gz_big_compare_root(above, below, &x); /* where the number lies, seen from the double */
  double low = side < 0 ? nextafter(value, 0) : value, high = side > 0 ? nextafter(value, (double)INFINITY) : value;
  return (convex_bracket){low > lost ? low - lost : 0, high + lost, value};
}
