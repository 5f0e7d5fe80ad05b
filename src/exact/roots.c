/* Polynomials over big integers: arithmetic, Sturm's chain of a cubic, signs at ratios and at roots of quadratics. */
#include "exact/roots.h"

#include <stdint.h>
#include <string.h>

static void set_zero(big *r) {
  gz_big_from_double(r, 0);
}

static void negate(big *r) {
  r->sign = -r->sign;
}

/* r = a * factor, a small number */
static void scale(big *r, const big *a, double factor) {
  big f;
  gz_big_from_double(&f, factor);
  gz_big_mul(r, a, &f);
}

static int sign_of_difference(const big *a, const big *b) {
  big difference;
  gz_big_sub(&difference, a, b);
  return difference.sign;
}

/* ---- polynomials ---------------------------------------------------------------------------------------------- */

static void trim(poly *r) {
  while (r->degree >= 0 && r->c[r->degree].sign == 0) r->degree--;
}

void gz_poly_copy(poly *r, const poly *a) {
  r->degree = a->degree;
  for (int i = 0; i <= a->degree; i++) gz_big_copy(&r->c[i], &a->c[i]);
}

static void negate_poly(poly *r) {
  for (int i = 0; i <= r->degree; i++) negate(&r->c[i]);
}

void gz_poly_line(poly *r, double from, double to) {
  gz_big_from_double(&r->c[0], from);
  gz_big_from_double(&r->c[1], to);
  gz_big_sub(&r->c[1], &r->c[1], &r->c[0]);
  r->degree = 1;
  trim(r);
}

static void combine(poly *r, const poly *a, const poly *b, void (*operation)(big *, const big *, const big *)) {
  big zero;
  set_zero(&zero);
  int na = a->degree, nb = b->degree, n = na > nb ? na : nb;
  for (int i = 0; i <= n; i++) operation(&r->c[i], i <= na ? &a->c[i] : &zero, i <= nb ? &b->c[i] : &zero);
  r->degree = n;
  trim(r);
}

void gz_poly_add(poly *r, const poly *a, const poly *b) {
  combine(r, a, b, gz_big_add);
}

void gz_poly_sub(poly *r, const poly *a, const poly *b) {
  combine(r, a, b, gz_big_sub);
}

void gz_poly_mul(poly *r, const poly *a, const poly *b) {
  int na = a->degree, nb = b->degree;
  if (na < 0 || nb < 0) {
    r->degree = -1;
    return;
  }
  big product, sum;
  /* From the highest on: what is still read of a factor that is r itself stands below what is written. */
  for (int k = na + nb; k >= 0; k--) {
    set_zero(&sum);
    for (int i = k > nb ? k - nb : 0; i <= k && i <= na; i++) {
      gz_big_mul(&product, &a->c[i], &b->c[k - i]);
      gz_big_add(&sum, &sum, &product);
    }
    gz_big_copy(&r->c[k], &sum);
  }
  r->degree = na + nb;
}

void gz_poly_derive(poly *r, const poly *f) {
  for (int i = 1; i <= f->degree; i++) scale(&r->c[i - 1], &f->c[i], i);
  r->degree = f->degree - 1;
}

/* ---- signs at points ------------------------------------------------------------------------------------------ */

/* above / below with below > 0, or a root of g = A t^2 + B t + C with A > 0: (-B + side sqrt(B^2 - 4 A C)) / 2 A. */
typedef struct point {
  const big *above, *below;
  const poly *g;
  const big *discriminant;
  int side;
} point;

static int sign_at_ratio(const poly *h, const big *above, const big *below) {
  if (h->degree < 0) return 0;
  big sum, term, power;
  gz_big_copy(&sum, &h->c[h->degree]);
  gz_big_copy(&power, below);
  for (int i = h->degree - 1; i >= 0; i--) {
    gz_big_mul(&sum, &sum, above);
    gz_big_mul(&term, &h->c[i], &power);
    gz_big_add(&sum, &sum, &term);
    gz_big_mul(&power, &power, below);
  }
  return sum.sign;
}

/* h taken modulo g, times a positive number: rest[0] + rest[1] t. */
static void reduce(big rest[2], const poly *h, const poly *g) {
  big c[4], product;
  for (int i = 0; i < 4; i++) {
    if (i <= h->degree) {
      gz_big_copy(&c[i], &h->c[i]);
    } else {
      set_zero(&c[i]);
    }
  }
  for (int top = h->degree; top >= 2; top--) {
    for (int i = 0; i < top; i++) gz_big_mul(&c[i], &c[i], &g->c[2]);
    for (int k = 0; k < 2; k++) {
      gz_big_mul(&product, &c[top], &g->c[k]);
      gz_big_sub(&c[top - 2 + k], &c[top - 2 + k], &product);
    }
  }
  gz_big_copy(&rest[0], &c[0]);
  gz_big_copy(&rest[1], &c[1]);
}

/* The sign of x + y sqrt(d), d >= 0. */
static int sign_of_surd(const big *x, const big *y, const big *d) {
  if (d->sign == 0 || y->sign == 0 || x->sign == y->sign) return x->sign;
  if (x->sign == 0) return y->sign;
  big u, v;
  gz_big_mul(&u, x, x);
  gz_big_mul(&v, y, y);
  gz_big_mul(&v, &v, d);
  return x->sign * sign_of_difference(&u, &v);
}

static int sign_at_surd(const poly *h, const point *at) {
  big rest[2], x, y;
  reduce(rest, h, at->g);
  gz_big_mul(&x, &at->g->c[2], &rest[0]);
  scale(&x, &x, 2);
  gz_big_mul(&y, &at->g->c[1], &rest[1]);
  gz_big_sub(&x, &x, &y);
  scale(&y, &rest[1], at->side);
  return sign_of_surd(&x, &y, at->discriminant);
}

static int sign_at(const poly *h, const point *at) {
  return at->g != NULL ? sign_at_surd(h, at) : sign_at_ratio(h, at->above, at->below);
}

/* ---- counting roots ------------------------------------------------------------------------------------------- */

/* `end`: -1 for minus infinity, 1 for infinity. */
static int variations_at(const unit_roots *roots, int end) {
  int changes = 0, last = 0;
  for (int i = 0; i < roots->links; i++) {
    int degree = roots->chain[i].degree, sign = roots->chain[i].c[degree].sign * (degree % 2 != 0 ? end : 1);
    changes += last != 0 && sign != last;
    last = sign;
  }
  return changes;
}

/* How many real roots are at the point or before it, and whether one is at it. */
static int count_to(const unit_roots *roots, const point *at, bool *is_root) {
  int changes = 0, last = 0;
  for (int i = 0; i < roots->links; i++) {
    int sign = sign_at(&roots->chain[i], at);
    if (i == 0) *is_root = sign == 0;
    changes += sign * last < 0;
    if (sign != 0) last = sign;
  }
  return variations_at(roots, -1) - changes;
}

/* The sign of the root with this number, of all real ones, minus the point. */
static int compare(const unit_roots *roots, int number, const point *at) {
  bool is_root;
  int count = count_to(roots, at, &is_root);
  if (is_root && count == number + 1) return 0;
  return number < count ? -1 : 1;
}

/* ---- finding roots -------------------------------------------------------------------------------------------- */

/* Takes the ratio if it is in [0, 1]. */
static void take_ratio(unit_roots *roots, const big *above, const big *below) {
  big x, y;
  gz_big_copy(&x, above);
  gz_big_copy(&y, below);
  if (y.sign < 0) {
    negate(&x);
    negate(&y);
  }
  if (x.sign < 0 || sign_of_difference(&x, &y) > 0) return;
  gz_big_copy(&roots->above[roots->count], &x);
  gz_big_copy(&roots->below[roots->count++], &y);
}

static void sort_ratios(unit_roots *roots) {
  if (roots->count < 2) return;
  big x, y;
  gz_big_mul(&x, &roots->above[0], &roots->below[1]);
  gz_big_mul(&y, &roots->above[1], &roots->below[0]);
  if (sign_of_difference(&x, &y) < 0) return;
  gz_big_copy(&x, &roots->above[0]);
  gz_big_copy(&y, &roots->below[0]);
  gz_big_copy(&roots->above[0], &roots->above[1]);
  gz_big_copy(&roots->below[0], &roots->below[1]);
  gz_big_copy(&roots->above[1], &x);
  gz_big_copy(&roots->below[1], &y);
}

static void find_of_line(unit_roots *roots, const poly *f) {
  big x;
  roots->rational = true;
  gz_big_copy(&x, &f->c[0]);
  negate(&x);
  take_ratio(roots, &x, &f->c[1]);
}

/* Those of a chain that has been made. */
static void find_by_counting(unit_roots *roots) {
  big zero, one;
  set_zero(&zero);
  gz_big_from_double(&one, 1);
  bool is_root;
  roots->rational = false;
  int first = count_to(roots, &(point){.above = &zero, .below = &one}, &is_root);
  roots->first = is_root ? first - 1 : first;
  roots->count = count_to(roots, &(point){.above = &one, .below = &one}, &is_root) - roots->first;
  roots->later = variations_at(roots, -1) - variations_at(roots, 1) - roots->first - roots->count;
}

static void discriminant_of_quadratic(big *r, const poly *f) {
  big x;
  gz_big_mul(r, &f->c[1], &f->c[1]);
  gz_big_mul(&x, &f->c[2], &f->c[0]);
  scale(&x, &x, 4);
  gz_big_sub(r, r, &x);
}

static void find_of_quadratic(unit_roots *roots, const poly *f) {
  big discriminant, x, y;
  discriminant_of_quadratic(&discriminant, f);
  if (discriminant.sign < 0) return;
  if (discriminant.sign == 0) {
    roots->rational = true;
    gz_big_copy(&x, &f->c[1]);
    negate(&x);
    scale(&y, &f->c[2], 2);
    take_ratio(roots, &x, &y);
    return;
  }
  gz_poly_copy(&roots->chain[0], f);
  gz_poly_derive(&roots->chain[1], f);
  roots->chain[2].degree = 0;
  gz_big_copy(&roots->chain[2].c[0], &discriminant);
  roots->links = 3;
  find_by_counting(roots);
}

/* The remainder of a t^3 + b t^2 + c t + d and its derivative, times 9 a and negated:
 *     2 (b^2 - 3 a c) t + (b c - 9 a d). */
static void remainder_of_cubic(poly *r, const poly *f) {
  big x;
  gz_big_mul(&r->c[1], &f->c[2], &f->c[2]);
  gz_big_mul(&x, &f->c[3], &f->c[1]);
  scale(&x, &x, 3);
  gz_big_sub(&r->c[1], &r->c[1], &x);
  scale(&r->c[1], &r->c[1], 2);
  gz_big_mul(&r->c[0], &f->c[2], &f->c[1]);
  gz_big_mul(&x, &f->c[3], &f->c[0]);
  scale(&x, &x, 9);
  gz_big_sub(&r->c[0], &r->c[0], &x);
  r->degree = 1;
  trim(r);
}

/* With r = r1 t + r0 that remainder and r1 not zero: the derivative at the root of r, times -r1^2,
 *     2 b r1 r0 - 3 a r0^2 - c r1^2,
 * which is zero where the cubic has a multiple root. */
static void last_remainder(big *value, const poly *f, const poly *r) {
  big x;
  gz_big_mul(value, &r->c[1], &r->c[0]);
  gz_big_mul(value, value, &f->c[2]);
  scale(value, value, 2);
  gz_big_mul(&x, &r->c[0], &r->c[0]);
  gz_big_mul(&x, &x, &f->c[3]);
  scale(&x, &x, 3);
  gz_big_sub(value, value, &x);
  gz_big_mul(&x, &r->c[1], &r->c[1]);
  gz_big_mul(&x, &x, &f->c[1]);
  gz_big_sub(value, value, &x);
}

/* A double root m = -r0 / r1 and a simple one, -b / a - 2 m; where r is zero, a triple one, -b / 3 a. */
static void find_of_cubic_with_multiple_root(unit_roots *roots, const poly *f, const poly *r) {
  big x, y;
  roots->rational = true;
  if (r->degree < 0) {
    gz_big_copy(&x, &f->c[2]);
    negate(&x);
    scale(&y, &f->c[3], 3);
    take_ratio(roots, &x, &y);
    return;
  }
  gz_big_copy(&x, &r->c[0]);
  negate(&x);
  take_ratio(roots, &x, &r->c[1]);
  gz_big_mul(&x, &f->c[3], &r->c[0]);
  scale(&x, &x, 2);
  gz_big_mul(&y, &f->c[2], &r->c[1]);
  gz_big_sub(&x, &x, &y);
  gz_big_mul(&y, &f->c[3], &r->c[1]);
  take_ratio(roots, &x, &y);
  sort_ratios(roots);
}

static void find_of_cubic(unit_roots *roots, const poly *f) {
  poly *r = &roots->chain[2];
  remainder_of_cubic(r, f);
  roots->links = 3;
  if (r->degree == 1) {
    last_remainder(&roots->chain[3].c[0], f, r);
    roots->chain[3].degree = 0;
    roots->links = 4;
  }
  if (r->degree < 0 || (r->degree == 1 && roots->chain[3].c[0].sign == 0)) {
    find_of_cubic_with_multiple_root(roots, f, r);
    return;
  }
  gz_poly_copy(&roots->chain[0], f);
  gz_poly_derive(&roots->chain[1], f);
  find_by_counting(roots);
}

void gz_roots_find(unit_roots *roots, poly *f) {
  roots->count = 0;
  roots->rational = true;
  if (f->degree < 1) return;
  if (f->c[f->degree].sign < 0) negate_poly(f);
  if (f->degree == 1) find_of_line(roots, f);
  if (f->degree == 2) find_of_quadratic(roots, f);
  if (f->degree == 3) find_of_cubic(roots, f);
}

/* ---- what is asked of a root ---------------------------------------------------------------------------------- */

static int sign_of_line(const unit_roots *roots, int i, const poly *g) {
  big x, y;
  gz_big_copy(&x, &g->c[0]);
  gz_big_copy(&y, &g->c[1]);
  negate(y.sign < 0 ? &y : &x);
  return g->c[1].sign * compare(roots, roots->first + i, &(point){.above = &x, .below = &y});
}

static int sign_of_quadratic(unit_roots *roots, int i, const poly *g) {
  poly *upward = &roots->work[0];
  big discriminant;
  int sign = g->c[2].sign;
  discriminant_of_quadratic(&discriminant, g);
  if (discriminant.sign < 0) return sign;
  gz_poly_copy(upward, g);
  if (sign < 0) negate_poly(upward);
  for (int side = -1; side <= 1; side += 2) {
    sign *= compare(roots, roots->first + i, &(point){.g = upward, .discriminant = &discriminant, .side = side});
  }
  return sign;
}

int gz_roots_sign(unit_roots *roots, int i, const poly *g) {
  if (g->degree < 0) return 0;
  if (g->degree == 0) return g->c[0].sign;
  if (roots->rational) return sign_at_ratio(g, &roots->above[i], &roots->below[i]);
  return g->degree == 1 ? sign_of_line(roots, i, g) : sign_of_quadratic(roots, i, g);
}

/* The sign of root i minus x. */
static int compare_double(const unit_roots *roots, int i, double x) {
  big value, one;
  gz_big_from_double(&value, x);
  if (roots->rational) {
    gz_big_mul(&value, &value, &roots->below[i]);
    return sign_of_difference(&roots->above[i], &value);
  }
  gz_big_from_double(&one, 1);
  return compare(roots, roots->first + i, &(point){.above = &value, .below = &one});
}

static double from_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint64_t to_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* About where the only root in [0, 1] is; any double of [0, 1] will do, but a near one saves time. */
static double guess(const unit_roots *roots) {
  if (roots->rational) {
    double ratio = gz_big_ratio(&roots->above[0], &roots->below[0]);
    return ratio > 1 ? 1 : ratio;
  }
  const poly *f = &roots->chain[0];
  double c[4], low = 0, high = 1;
  for (int i = 0; i <= f->degree; i++) c[i] = gz_big_ratio(&f->c[i], &f->c[f->degree]);
  for (int step = 0; step < 60; step++) {
    double t = 0.5 * (low + high), value = c[f->degree], start = c[0];
    for (int i = f->degree - 1; i >= 0; i--) value = value * t + c[i];
    if ((value > 0) == (start > 0)) {
      low = t;
    } else {
      high = t;
    }
  }
  return 0.5 * (low + high);
}

/* The same of an x in [0, 1]. For the only root there the polynomial's sign will do: to the right of all real roots it
 * is positive, and it changes at each, for they are simple. */
static int compare_within(const unit_roots *roots, int i, double x) {
  if (roots->rational || roots->count > 1) return compare_double(roots, i, x);
  big value, one;
  gz_big_from_double(&value, x);
  gz_big_from_double(&one, 1);
  int sign = sign_at_ratio(&roots->chain[0], &value, &one);
  return roots->later % 2 == 0 ? -sign : sign;
}

/* ---- the doubles next to a root: those that are not negative are ordered as their bits are --------------------- */

typedef struct range { /* low <= root < high */
  uint64_t low, high;
} range;

static int narrow(const unit_roots *roots, int i, uint64_t at, range *r) {
  double x = from_bits(at);
  int sign = compare_within(roots, i, x);
  if (sign >= 0) r->low = at;
  if (sign <= 0) r->high = sign == 0 ? at + 1 : at;
  return sign;
}

/* From the guess, by steps that double, until the root has been passed. */
static void close_in(const unit_roots *roots, range *r) {
  int side = narrow(roots, 0, to_bits(guess(roots)), r), sign = side;
  for (uint64_t step = 1; sign == side && r->high - r->low > step; step *= 2) {
    sign = narrow(roots, 0, side > 0 ? r->low + step : r->high - step, r);
  }
}

void gz_roots_bracket(unit_roots *roots, int i, double bracket[2]) {
  range r = {0, to_bits(1) + 1};
  if (roots->count == 1) close_in(roots, &r);
  while (r.high - r.low > 1) narrow(roots, i, r.low + (r.high - r.low) / 2, &r);
  bracket[0] = from_bits(r.low);
  bracket[1] = compare_within(roots, i, bracket[0]) == 0 ? bracket[0] : from_bits(r.high);
}
