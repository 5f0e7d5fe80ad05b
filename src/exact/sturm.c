/* Chains of subresultants with signs, isolated roots, and what is asked of them.
 *
 * W. Brown, "The subresultant PRS algorithm", 1978, for the divisors; G. Collins, A. Akritas, "Polynomial real root
 * isolation using Descartes' rule of signs", 1976.
 */
#include "exact/sturm.h"

#include <string.h>

static void set_double(big *r, double x) {
  gz_big_from_double(r, x);
}

static int compare(const big *a, const big *b) {
  big difference;
  gz_big_sub(&difference, a, b);
  return difference.sign;
}

static void evaluate(const poly *f, const big *x, big *value) {
  set_double(value, 0);
  for (int i = f->degree; i >= 0; i--) {
    gz_big_mul(value, value, x);
    gz_big_add(value, value, &f->c[i]);
  }
}

int gz_poly_sign_at(const poly *f, const big *x) {
  big value;
  evaluate(f, x, &value);
  return value.sign;
}

/* ---- chains ---- */

/* What is left of a, times a power of b's leading coefficient, after division by b; r is not a or b. */
static void remainder_of(poly *r, const poly *a, const poly *b, int times) {
  const big *lead = &b->c[b->degree];
  big product;
  gz_poly_copy(r, a);
  for (; times > 0; times--) {
    const int shift = r->degree - b->degree;
    const bool takes = shift >= 0 && shift == times - 1;
    big top;
    if (takes) gz_big_copy(&top, &r->c[r->degree]);
    for (int i = 0; i <= r->degree; i++) gz_big_mul(&r->c[i], &r->c[i], lead);
    for (int i = 0; takes && i <= b->degree; i++) {
      gz_big_mul(&product, &top, &b->c[i]);
      gz_big_sub(&r->c[shift + i], &r->c[shift + i], &product);
    }
    while (r->degree >= 0 && r->c[r->degree].sign == 0) r->degree--;
  }
}

static void power(big *r, const big *x, int n) {
  big result;
  set_double(&result, 1);
  for (; n > 0; n--) gz_big_mul(&result, &result, x);
  gz_big_copy(r, &result);
}

/* From a and b, of which a has the higher degree and b is not zero. */
static void make_chain(sturm_chain *chain, const poly *a, const poly *b) {
  big psi, divisor;
  gz_poly_copy(&chain->link[0], a);
  gz_poly_copy(&chain->link[1], b);
  chain->links = 2;
  set_double(&psi, 1);
  set_double(&divisor, 1);
  while (chain->link[chain->links - 1].degree > 0) {
    const poly *x = &chain->link[chain->links - 2], *y = &chain->link[chain->links - 1];
    poly *next = &chain->link[chain->links];
    const int delta = x->degree - y->degree;
    remainder_of(next, x, y, delta + 1);
    if (next->degree < 0 || gz_big_overflowed()) return;
    /* Sturm's remainder is the negative of one by a positive factor. */
    const int sign = (delta + 1) % 2 != 0 && y->c[y->degree].sign < 0 ? 1 : -1;
    if (chain->links > 2) {
      big scale;
      power(&scale, &psi, delta);
      gz_big_mul(&divisor, &x->c[x->degree], &scale);
      divisor.sign = 1;
      for (int i = 0; i <= next->degree; i++) gz_big_divide(&next->c[i], &next->c[i], &divisor);
    }
    for (int i = 0; i <= next->degree; i++) next->c[i].sign *= sign;
    /* psi of the next step: lead(y)^delta / psi^(delta - 1) */
    big top, below;
    power(&top, &y->c[y->degree], delta);
    top.sign = 1;
    if (delta > 1) {
      power(&below, &psi, delta - 1);
      gz_big_divide(&psi, &top, &below);
    } else if (delta == 1) {
      gz_big_copy(&psi, &top);
    }
    chain->links++;
  }
}

static int variations_at(const sturm_chain *chain, const big *x) {
  int changes = 0, before = 0;
  for (int i = 0; i < chain->links; i++) {
    int sign = gz_poly_sign_at(&chain->link[i], x);
    changes += sign * before < 0;
    if (sign != 0) before = sign;
  }
  return changes;
}

/* Distinct roots between two numbers at which the first polynomial does not vanish. */
static int count_between(const sturm_chain *chain, const big *low, const big *high) {
  return variations_at(chain, low) - variations_at(chain, high);
}

/* ---- intervals ---- */

/* r(t) = f(low + (high - low) t) */
static void stretch(poly *r, const poly *f, const big *low, const big *high) {
  big width, factor, product;
  gz_poly_copy(r, f);
  for (int i = 0; i < f->degree; i++) {
    for (int j = f->degree - 1; j >= i; j--) {
      gz_big_mul(&product, low, &r->c[j + 1]);
      gz_big_add(&r->c[j], &r->c[j], &product);
    }
  }
  gz_big_sub(&width, high, low);
  gz_big_copy(&factor, &width);
  for (int i = 1; i <= f->degree; i++) {
    gz_big_mul(&r->c[i], &r->c[i], &factor);
    gz_big_mul(&factor, &factor, &width);
  }
}

/* Descartes' bound on the roots in (0, 1), of the same parity; *sign is that of f there when it is 0. f is changed. */
static int variations_inside(poly *f, int *sign) {
  const int n = f->degree;
  int changes = 0, before = 0;
  for (int i = 0; i < n - i; i++) {
    big swap;
    gz_big_copy(&swap, &f->c[i]);
    gz_big_copy(&f->c[i], &f->c[n - i]);
    gz_big_copy(&f->c[n - i], &swap);
  }
  for (int i = 0; i < n; i++) {
    for (int j = n - 1; j >= i; j--) gz_big_add(&f->c[j], &f->c[j], &f->c[j + 1]);
  }
  for (int i = 0; i <= n; i++) {
    changes += f->c[i].sign * before < 0;
    if (f->c[i].sign != 0) before = f->c[i].sign;
  }
  *sign = before;
  return changes;
}

static void between(big *r, const big *a, const big *b, double share) {
  big width, part;
  gz_big_sub(&width, b, a);
  set_double(&part, share);
  gz_big_mul(&width, &width, &part);
  gz_big_add(r, a, &width);
}

/* ---- finding roots ---- */

static void chain_up(root_finder *r) {
  if (r->chained) return;
  gz_poly_derive(&r->work[0], &r->f);
  make_chain(&r->own, &r->f, &r->work[0]);
  r->chained = true;
}

/* A number between two at which f does not vanish. */
static void choose_between(const root_finder *r, const big *low, const big *high, big *middle) {
  static const double shares[] = {0.5, 0.375, 0.625, 0.25, 0.75, 0.4375, 0.5625}; /* f vanishes at six at most */
  for (int i = 0; i < 7; i++) {
    between(middle, low, high, shares[i]);
    if (gz_poly_sign_at(&r->f, middle) != 0) return;
  }
}

/* Those between two numbers, of which there are `count`. */
static void part(root_finder *r, const big *from, const big *to, int count) {
  big low, high, middle;
  int first = 0;
  gz_big_copy(&low, from);
  gz_big_copy(&high, to);
  while (count > 1 && (first == 0 || first == count)) { /* until some are on either side */
    choose_between(r, &low, &high, &middle);
    first = count_between(&r->own, &low, &middle);
    if (gz_big_overflowed()) return;
    if (first == 0) gz_big_copy(&low, &middle);
    if (first == count) gz_big_copy(&high, &middle);
  }
  if (count == 1) {
    gz_big_copy(&r->found[r->count].low, &low);
    gz_big_copy(&r->found[r->count++].high, &high);
  } else if (count > 1) {
    part(r, &low, &middle, first);
    part(r, &middle, &high, count - first);
  }
}

/* Takes the roots at 0 and 1 away. */
static void take_ends(root_finder *r) {
  poly *f = &r->f;
  while (f->degree > 0 && f->c[0].sign == 0) {
    for (int i = 0; i < f->degree; i++) gz_big_copy(&f->c[i], &f->c[i + 1]);
    f->degree--;
  }
  while (!gz_big_overflowed()) { /* by t - 1: sums from the top */
    big sum;
    set_double(&sum, 0);
    for (int i = 0; i <= f->degree; i++) gz_big_add(&sum, &sum, &f->c[i]);
    if (f->degree < 1 || sum.sign != 0) return;
    r->has_one = true;
    for (int i = f->degree - 1; i >= 1; i--) gz_big_add(&f->c[i], &f->c[i], &f->c[i + 1]);
    for (int i = 0; i < f->degree; i++) gz_big_copy(&f->c[i], &f->c[i + 1]);
    f->degree--;
  }
}

void gz_sturm_find(root_finder *r, const poly *f) {
  big zero, one;
  int sign;
  set_double(&zero, 0);
  set_double(&one, 1);
  r->count = 0;
  r->has_one = r->chained = false;
  gz_poly_copy(&r->f, f);
  take_ends(r);
  if (r->f.degree < 1) return;
  gz_poly_copy(&r->work[0], &r->f);
  int most = variations_inside(&r->work[0], &sign);
  if (most > 1) {
    chain_up(r);
    most = count_between(&r->own, &zero, &one);
  }
  part(r, &zero, &one, most);
}

/* ---- what is asked of a root ---- */

static bool is_known(const lone_root *root) {
  return compare(&root->low, &root->high) == 0;
}

/* The sign of the root minus x, for x within its interval. */
static int side_of(root_finder *r, const lone_root *root, const big *x) {
  const int at = gz_poly_sign_at(&r->f, x), low = gz_poly_sign_at(&r->f, &root->low);
  if (at == 0) return 0;
  if (low != gz_poly_sign_at(&r->f, &root->high)) return at == low ? 1 : -1;
  chain_up(r);
  return count_between(&r->own, &root->low, x) > 0 ? -1 : 1;
}

static void halve(root_finder *r, lone_root *root) {
  big middle;
  between(&middle, &root->low, &root->high, 0.5);
  int side = side_of(r, root, &middle);
  if (side >= 0) gz_big_copy(&root->low, &middle);
  if (side <= 0) gz_big_copy(&root->high, &middle);
}

/* Whether g vanishes at the root. */
static bool is_zero_at(root_finder *r, const lone_root *root, const poly *g) {
  const bool first = r->f.degree > g->degree;
  if (first) {
    make_chain(&r->other, &r->f, g);
  } else if (g->degree > r->f.degree) {
    make_chain(&r->other, g, &r->f);
  } else {
    remainder_of(&r->work[1], g, &r->f, 1);
    if (r->work[1].degree < 0) return true;
    make_chain(&r->other, &r->f, &r->work[1]);
  }
  const poly *common = &r->other.link[r->other.links - 1];
  if (common->degree < 1) return false;
  if (gz_poly_sign_at(common, &root->low) * gz_poly_sign_at(common, &root->high) < 0) return true;
  gz_poly_copy(&r->work[1], common);
  gz_poly_derive(&r->work[2], common);
  make_chain(&r->last, &r->work[1], &r->work[2]);
  return count_between(&r->last, &root->low, &root->high) > 0;
}

int gz_sturm_sign(root_finder *r, int i, const poly *g) {
  lone_root *root = &r->found[i];
  int sign;
  if (g->degree < 0) return 0;
  if (g->degree == 0) return g->c[0].sign;
  if (is_known(root)) return gz_poly_sign_at(g, &root->low);
  stretch(&r->work[0], g, &root->low, &root->high);
  if (variations_inside(&r->work[0], &sign) == 0) return sign;
  if (is_zero_at(r, root, g)) return 0;
  while (!gz_big_overflowed()) {
    halve(r, root);
    if (is_known(root)) return gz_poly_sign_at(g, &root->low);
    stretch(&r->work[0], g, &root->low, &root->high);
    if (variations_inside(&r->work[0], &sign) == 0) return sign;
  }
  return 0;
}

/* The sign of the root minus a double of [0, 1]. */
static int compare_root(root_finder *r, const lone_root *root, double x) {
  big value;
  set_double(&value, x);
  if (is_known(root)) return compare(&root->low, &value);
  if (compare(&value, &root->low) <= 0) return 1;
  if (compare(&value, &root->high) >= 0) return -1;
  return side_of(r, root, &value);
}

void gz_sturm_bracket(root_finder *r, int i, double bracket[2]) {
  uint64_t low = 0, high;
  double x = 1;
  memcpy(&high, &x, sizeof high);
  bracket[0] = 0;
  bracket[1] = 1;
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    memcpy(&x, &middle, sizeof x);
    const int side = compare_root(r, &r->found[i], x);
    if (side >= 0) bracket[0] = x;
    if (side <= 0) bracket[1] = x;
    if (side == 0) return;
    if (side > 0) low = middle;
    if (side < 0) high = middle;
  }
}
