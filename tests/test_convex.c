/* Pairs of convex sets against integers: for points of a lattice the distance is the least over pairs of features,
 * which the plane between the nearest points proves, and the depth the least width over all normals that an edge of
 * either and another one span. Then sets of any doubles: what is told in three ways, for both orders and two tiers, has
 * to agree. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convex/quick.h"
#include "families.h"
#include "support.h"

__extension__ typedef __int128 wide_integer;
__extension__ typedef __float128 quad;

enum { MOST_POINTS = 8 };

typedef struct cloud {
  int count;
  int64_t at[MOST_POINTS][3];
} cloud;

/* The square of a distance or a depth. */
typedef struct fraction {
  wide_integer above, below;
} fraction;

typedef struct truth {
  bool hit;
  fraction square;
} truth;

/* ---- the oracle ------------------------------------------------------------------------------------------------- */

static void between(const int64_t a[3], const int64_t b[3], int64_t out[3]) {
  for (int k = 0; k < 3; k++) out[k] = b[k] - a[k];
}

static void cross(const int64_t u[3], const int64_t v[3], int64_t out[3]) {
  for (int k = 0; k < 3; k++) out[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
}

static int64_t dot(const int64_t u[3], const int64_t v[3]) {
  return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

static bool less(fraction a, fraction b) {
  return a.above * b.below < b.above * a.below;
}

/* The nearest pair of features so far, with a way from a to b at right angles to both. */
typedef struct nearest {
  fraction square;
  int64_t way[3];
} nearest;

static void offer(nearest *n, wide_integer above, wide_integer below, const int64_t way[3], int sign) {
  fraction f = {above, below};
  if (n->square.below != 0 && !less(f, n->square)) return;
  n->square = f;
  for (int k = 0; k < 3; k++) n->way[k] = sign * way[k];
}

/* A point p and the inside of an edge from q along e; `sign` is 1 when p is a's. */
static void point_edge(nearest *n, const int64_t p[3], const int64_t q[3], const int64_t r[3], int sign) {
  int64_t e[3], w[3], c[3], way[3];
  between(q, r, e);
  between(q, p, w);
  int64_t along = dot(w, e), square = dot(e, e);
  if (along <= 0 || along >= square) return;
  cross(e, w, c);
  cross(e, c, way); /* from p to the edge, times e . e: e x (e x w) = e (e.w) - w (e.e) */
  offer(n, dot(c, c), square, way, sign);
}

static void point_face(nearest *n, const int64_t p[3], const int64_t *const q[3], int sign) {
  int64_t u[3], v[3], m[3], w[3], e[3], d[3], c[3];
  between(q[0], q[1], u);
  between(q[0], q[2], v);
  cross(u, v, m);
  if (dot(m, m) == 0) return;
  for (int i = 0; i < 3; i++) {
    between(q[i], q[(i + 1) % 3], e);
    between(q[i], p, d);
    cross(e, d, c);
    if (dot(c, m) <= 0) return;
  }
  between(q[0], p, w);
  int64_t height = dot(m, w);
  offer(n, (wide_integer)height * height, dot(m, m), m, height > 0 ? -sign : sign);
}

static void edge_edge(nearest *n, const int64_t a0[3], const int64_t a1[3], const int64_t b0[3], const int64_t b1[3]) {
  int64_t u[3], v[3], w[3], m[3], c[3];
  between(a0, a1, u);
  between(b0, b1, v);
  between(a0, b0, w);
  cross(u, v, m);
  int64_t square = dot(m, m);
  if (square == 0) return;
  cross(w, v, c);
  int64_t s = dot(c, m);
  cross(w, u, c);
  int64_t t = dot(c, m);
  if (s <= 0 || s >= square || t <= 0 || t >= square) return;
  int64_t height = dot(w, m);
  offer(n, (wide_integer)height * height, square, m, height > 0 ? 1 : -1);
}

static void features_of(nearest *n, const cloud *p, const cloud *q, int sign) {
  for (int i = 0; i < p->count; i++) {
    for (int j = 0; j < q->count; j++) {
      for (int k = j + 1; k < q->count; k++) {
        point_edge(n, p->at[i], q->at[j], q->at[k], sign);
        for (int l = k + 1; l < q->count; l++) {
          const int64_t *const three[3] = {q->at[j], q->at[k], q->at[l]};
          point_face(n, p->at[i], three, sign);
        }
      }
    }
  }
}

static void extent(const cloud *c, const int64_t n[3], int64_t *low, int64_t *high) {
  *low = *high = dot(n, c->at[0]);
  for (int i = 1; i < c->count; i++) {
    int64_t at = dot(n, c->at[i]);
    if (at < *low) *low = at;
    if (at > *high) *high = at;
  }
}

static nearest nearest_features(const cloud *a, const cloud *b) {
  nearest n = {{0, 0}, {0}};
  for (int i = 0; i < a->count; i++) {
    for (int j = 0; j < b->count; j++) {
      int64_t w[3];
      between(a->at[i], b->at[j], w);
      offer(&n, dot(w, w), 1, w, 1);
    }
  }
  features_of(&n, a, b, 1);
  features_of(&n, b, a, -1);
  for (int i = 0; i < a->count; i++) {
    for (int j = i + 1; j < a->count; j++) {
      for (int k = 0; k < b->count; k++) {
        for (int l = k + 1; l < b->count; l++) edge_edge(&n, a->at[i], a->at[j], b->at[k], b->at[l]);
      }
    }
  }
  return n;
}

static int list_directions(const cloud *c, int64_t out[][3]) {
  int count = 0;
  for (int i = 0; i < c->count; i++) {
    for (int j = i + 1; j < c->count; j++) between(c->at[i], c->at[j], out[count++]);
  }
  return count;
}

static fraction least_width(const cloud *a, const cloud *b) {
  int64_t e[MOST_POINTS * MOST_POINTS][3], n[3], la, ha, lb, hb;
  int count = list_directions(a, e);
  count += list_directions(b, e + count);
  fraction least = {0, 0};
  for (int i = 0; i < count; i++) {
    for (int j = i + 1; j < count; j++) {
      cross(e[i], e[j], n);
      int64_t square = dot(n, n);
      if (square == 0) continue;
      extent(a, n, &la, &ha);
      extent(b, n, &lb, &hb);
      int64_t width = ha - lb < hb - la ? ha - lb : hb - la;
      fraction f = {(wide_integer)width * width, square};
      if (least.below == 0 || less(f, least)) least = f;
    }
  }
  return least.below == 0 ? (fraction){0, 1} : least; /* all on one line, or one point */
}

static truth find_truth(const cloud *a, const cloud *b) {
  nearest n = nearest_features(a, b);
  int64_t la, ha, lb, hb;
  extent(a, n.way, &la, &ha);
  extent(b, n.way, &lb, &hb);
  if (ha < lb) return (truth){false, n.square};
  return (truth){true, least_width(a, b)};
}

/* ---- comparison ------------------------------------------------------------------------------------------------- */

static quad root(fraction f) {
  quad square = (quad)f.above / (quad)f.below, x = sqrt((double)square);
  if (square == 0) return 0;
  for (int i = 0; i < 4; i++) x = (x + square / x) / 2;
  return x;
}

static quad magnitude(quad x) {
  return x < 0 ? -x : x;
}

typedef struct sets {
  graze_convex convex[2];
  graze_pose pose[2];
  double points[2][3 * MOST_POINTS];
} sets;

static graze_convex_result ask(const sets *s, bool swapped, graze_exactness exactness, graze_convex_ask what) {
  graze_convex_result result;
  const graze_convex_pair pair = {&s->convex[swapped], &s->convex[!swapped], &s->pose[swapped], &s->pose[!swapped]};
  assert_int_equal(graze_convex_batch(shared_context(1), 1, &pair, exactness, what, &result), GRAZE_OK);
  return result;
}

static double largest_coordinate(const sets *s) {
  double most = 0, p[3];
  for (int i = 0; i < 2; i++) {
    for (uint32_t v = 0; v < s->convex[i].count; v++) {
      graze_pose_apply(&s->pose[i], s->convex[i].points + 3 * (size_t)v, p);
      for (int k = 0; k < 3; k++) most = fmax(most, fabs(p[k]));
    }
  }
  return most;
}

static void print_sets(const sets *s) {
  for (int i = 0; i < 2; i++) {
    print_error("%u", s->convex[i].count);
    for (uint32_t k = 0; k < 3 * s->convex[i].count; k++) print_error(" %a", s->convex[i].points[k]);
    for (int k = 0; k < 12; k++) print_error(" %a", s->pose[i].m[k]);
    print_error(" radius %a\n", s->convex[i].radius);
  }
}

#define CHECK(condition)                                                                      \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      print_sets(s);                                                                          \
      print_error("%.17g in %.17g %.17g, hit %d\n", r->distance, r->lower, r->upper, r->hit); \
      assert_true(condition);                                                                 \
    }                                                                                         \
  } while (0)

/* The points are as far from each other as it says, in the direction of the normal. */
static void check_shape(const sets *s, const graze_convex_result *r, double most) {
  double square = 0, along = 0, off = 1e-11 * most;
  CHECK(r->lower <= r->distance && r->distance <= r->upper);
  CHECK(r->upper - r->lower <= 0x1p-40 * most);
  CHECK(r->hit ? r->upper <= 0 : r->lower >= 0 && r->distance > 0);
  for (int k = 0; k < 3; k++) {
    double way = r->points[1][k] - r->points[0][k];
    square += r->normal[k] * r->normal[k];
    along += way * r->normal[k];
    CHECK(fabs(way - r->distance * r->normal[k]) <= off);
  }
  CHECK(fabs(along - r->distance) <= off);
  CHECK(fabs(square - 1) < 1e-14 || (square == 0 && r->distance == 0));
}

/* truth: not negative; -distance of what meets. */
static void check_result(const sets *s, const graze_convex_result *r, bool hit, quad distance) {
  double most = largest_coordinate(s) + s->convex[0].radius + s->convex[1].radius;
  quad margin = (quad)most * 0x1p-100;
  CHECK(r->hit == hit);
  CHECK(r->lower <= distance + margin && r->upper >= distance - margin);
  check_shape(s, r, most);
}

/* ---- lattices --------------------------------------------------------------------------------------------------- */

static void make_cloud(uint64_t *state, cloud *c, uint32_t wide) {
  static const uint32_t sides[] = {1, 2, 2, 3, 3, 4, 8, 60};
  int64_t at[3];
  uint32_t side[3];
  for (int k = 0; k < 3; k++) {
    side[k] = sides[random_below(state, 8)];
    at[k] = random_below(state, wide);
  }
  c->count = 1 + (int)random_below(state, MOST_POINTS);
  for (int i = 0; i < c->count; i++) {
    for (int k = 0; k < 3; k++) c->at[i][k] = at[k] + random_below(state, side[k]);
  }
}

/* A box of a lattice, turned by a shear or not: the case in which touching and parallel features are the rule. */
static void make_box(uint64_t *state, cloud *c, uint32_t wide) {
  int64_t at[3], edge[3][3] = {{0}};
  for (int k = 0; k < 3; k++) {
    at[k] = random_below(state, wide);
    edge[k][k] = 1 + random_below(state, 4);
  }
  if (random_below(state, 3) == 0) edge[0][1] = (int64_t)random_below(state, 4);
  c->count = 8;
  for (int i = 0; i < c->count; i++) {
    for (int k = 0; k < 3; k++) {
      c->at[i][k] = at[k];
      for (int e = 0; e < 3; e++) c->at[i][k] += (i >> e & 1) * edge[e][k];
    }
  }
}

/* Points and pose whose posed points are those of the cloud times 2^power, exactly: axes exchanged and turned, a shear,
 * a shift. */
static void hide(uint64_t *state, const cloud *c, int power, graze_pose *pose, double *points) {
  int first = (int)random_below(state, 3), step = 1 + (int)random_below(state, 2);
  int64_t shear = random_below(state, 2) == 0 ? 0 : (int64_t)random_below(state, 5) - 2, shift[3], sign[3];
  int axis[3];
  memset(pose, 0, sizeof *pose);
  for (int k = 0; k < 3; k++) {
    axis[k] = (first + k * step) % 3;
    sign[k] = random_below(state, 2) == 0 ? 1 : -1;
    shift[k] = (int64_t)random_below(state, 9) - 4;
    pose->m[4 * k + axis[k]] = (double)sign[k];
    pose->m[4 * k + 3] = ldexp((double)shift[k], power);
  }
  pose->m[axis[1]] = (double)(shear * sign[1]); /* x' has shear times y' */
  for (int i = 0; i < c->count; i++) {
    int64_t x[3];
    for (int k = 0; k < 3; k++) x[k] = c->at[i][k] - shift[k];
    x[0] -= shear * x[1];
    for (int k = 0; k < 3; k++) points[3 * i + axis[k]] = ldexp((double)(sign[k] * x[k]), power);
  }
}

static void make_sets(uint64_t *state, const cloud clouds[2], int power, sets *s) {
  for (int i = 0; i < 2; i++) {
    hide(state, &clouds[i], power, &s->pose[i], s->points[i]);
    s->convex[i] = (graze_convex){.points = s->points[i], .count = (uint32_t)clouds[i].count};
  }
}

static void check_lattice(uint64_t *state, const sets *s, const truth *t, int power) {
  quad distance = root(t->square);
  distance = (t->hit ? -distance : distance) * (quad)ldexp(1, power);
  graze_exactness exactness = random_below(state, 2) == 0 ? GRAZE_T1 : GRAZE_T2;
  bool swapped = random_below(state, 2) == 0;
  graze_convex_result result = ask(s, swapped, exactness, GRAZE_CONVEX_MEET), *r = &result;
  CHECK(r->hit == t->hit);
  for (int what = GRAZE_CONVEX_MEASURE; what <= GRAZE_CONVEX_SHARP; what++) {
    result = ask(s, swapped, exactness, (graze_convex_ask)what);
    if (swapped) { /* seen from a again */
      double p[3];
      memcpy(p, result.points[0], sizeof p);
      memcpy(result.points[0], result.points[1], sizeof p);
      memcpy(result.points[1], p, sizeof p);
      for (int k = 0; k < 3; k++) result.normal[k] = -result.normal[k];
    }
    check_result(s, r, t->hit, distance);
    if (distance == 0) CHECK(r->lower == 0 && r->upper == 0);
    if (what == GRAZE_CONVEX_SHARP) CHECK(magnitude(r->distance - distance) <= 0x1.001p-53 * magnitude(distance));
  }
}

/* The same sets as hulls, which take another way where only a hit is asked for. */
static void check_hulls(const sets *s, bool hit) {
  sets of_hulls = *s;
  graze_hull *hulls[2];
  for (int i = 0; i < 2; i++) {
    const graze_convex *c = &s->convex[i];
    assert_int_equal(graze_hull_create(shared_context(1), c->count, c->points, &hulls[i]), GRAZE_OK);
    of_hulls.convex[i] = graze_convex_of_hull(hulls[i], 0);
  }
  for (int k = 0; k < 4; k++) {
    const graze_convex_result one = ask(&of_hulls, k & 1, (k & 2) ? GRAZE_T2 : GRAZE_T1, GRAZE_CONVEX_MEET), *r = &one;
    CHECK(r->hit == hit);
  }
  for (int i = 0; i < 2; i++) graze_hull_destroy(hulls[i]);
}

/* Balls around points: the answer is that of the points, less the radii. */
static void check_grown(uint64_t *state, sets *s, const truth *t, int power) {
  int64_t radius[2] = {(int64_t)random_below(state, 4), 1 + (int64_t)random_below(state, 4)};
  wide_integer sum = radius[0] + radius[1];
  for (int i = 0; i < 2; i++) s->convex[i].radius = ldexp((double)radius[i], power);
  quad distance = root(t->square);
  distance = ((t->hit ? -distance : distance) - (quad)sum) * (quad)ldexp(1, power);
  bool hit = t->hit || t->square.above <= sum * sum * t->square.below;
  for (int what = GRAZE_CONVEX_MEET; what <= GRAZE_CONVEX_SHARP; what++) {
    graze_convex_result result = ask(s, false, GRAZE_T1, (graze_convex_ask)what), *r = &result;
    CHECK(r->hit == hit);
    if (what == GRAZE_CONVEX_MEET) continue;
    double most = largest_coordinate(s) + s->convex[0].radius + s->convex[1].radius;
    quad margin = (quad)most * 0x1p-100;
    CHECK(r->lower <= distance + margin && r->upper >= distance - margin);
    CHECK(r->hit ? r->upper <= 0 : r->lower >= 0);
    CHECK(r->upper - r->lower <= 0x1p-40 * most);
  }
}

static void test_lattices(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1), hits = 0, touches = 0, rounds = (uint64_t)test_rounds(10000, 1000000);
  for (uint64_t round = 0; round < rounds; round++) {
    cloud clouds[2];
    sets s;
    static const uint32_t wides[] = {1, 3, 6, 40};
    uint32_t wide = wides[random_below(&state, 4)];
    for (int i = 0; i < 2; i++) (random_below(&state, 3) == 0 ? make_box : make_cloud)(&state, &clouds[i], wide);
    int power = random_below(&state, 2) == 0 ? 0 : (int)random_below(&state, 600) - 300;
    truth t = find_truth(&clouds[0], &clouds[1]);
    make_sets(&state, clouds, power, &s);
    check_lattice(&state, &s, &t, power);
    if (round % 2 == 0) check_hulls(&s, t.hit);
    if (round % 4 == 0) check_grown(&state, &s, &t, power);
    hits += t.hit;
    touches += t.hit && t.square.above == 0;
  }
  print_message("%d of %d hit, %d touch\n", (int)hits, (int)rounds, (int)touches);
  assert_true(hits > rounds / 10 && hits < rounds && touches > 0);
}

/* ---- any doubles ------------------------------------------------------------------------------------------------ */

typedef struct large_sets {
  sets s;
  double points[2][3 * 64];
} large_sets;

static void make_large(uint64_t *state, int kind, large_sets *l) {
  double apart = kind % 3 == 0 ? 0.5 : kind % 3 == 1 ? 1.9 : 3;
  for (int i = 0; i < 2; i++) {
    uint32_t count = 1 + random_below(state, 64);
    double thin = random_below(state, 3) == 0 ? ldexp(1, -(int)random_below(state, 60)) : 1;
    for (uint32_t v = 0; v < count; v++) {
      double *p = l->points[i] + 3 * (size_t)v, square = 0;
      for (int k = 0; k < 3; k++) {
        p[k] = random_signed(state);
        square += p[k] * p[k];
      }
      for (int k = 0; k < 3; k++) p[k] /= sqrt(square);
      p[2] *= thin;
    }
    l->s.convex[i] = (graze_convex){.points = l->points[i], .count = count};
    l->s.pose[i] = test_random_pose(state, 0);
    if (kind >= 6) l->s.pose[i].m[3] = 1000;
  }
  l->s.pose[1].m[3] += apart * random_unit(state);
}

static void test_consistent(void **unused) {
  (void)unused;
  uint64_t state = test_seed(2);
  for (int round = 0; round < test_rounds(3000, 300000); round++) {
    large_sets l;
    const sets *s = &l.s;
    make_large(&state, round % 9, &l);
    for (int tier = GRAZE_T1; tier <= GRAZE_T2; tier++) {
      graze_convex_result three[3], turned = ask(s, true, (graze_exactness)tier, GRAZE_CONVEX_MEASURE);
      for (int what = 0; what < 3; what++) three[what] = ask(s, false, (graze_exactness)tier, (graze_convex_ask)what);
      const graze_convex_result *r = &three[1], *sharp = &three[2];
      CHECK(r->hit == three[0].hit && r->hit == sharp->hit && r->hit == turned.hit);
      CHECK(r->lower <= sharp->upper && sharp->lower <= r->upper);
      CHECK(turned.lower <= sharp->upper && sharp->lower <= turned.upper);
      check_shape(s, r, largest_coordinate(s));
      check_shape(s, sharp, largest_coordinate(s));
      CHECK(sharp->upper - sharp->lower <= 0x1p-48 * fabs(sharp->distance));
    }
  }
}

/* What a hit is, where only that is asked for: as where all is. Also once b has been moved until they about touch. */
static void check_hits(sets *s) {
  for (int tier = GRAZE_T1; tier <= GRAZE_T2; tier++) {
    const graze_pose kept = s->pose[1];
    for (int step = 0; step < 3; step++) {
      const graze_convex_result sharp = ask(s, false, (graze_exactness)tier, GRAZE_CONVEX_SHARP), *r = &sharp;
      for (int swapped = 0; swapped < 2; swapped++) {
        CHECK(ask(s, swapped, (graze_exactness)tier, GRAZE_CONVEX_MEET).hit == r->hit);
      }
      for (int k = 0; k < 3; k++) s->pose[1].m[4 * k + 3] -= r->distance * r->normal[k];
    }
    s->pose[1] = kept;
  }
}

/* A hull's vertices are as good as all points, at T2, where nothing is rounded, to the bit. */
static void test_hulls_as_sets(void **unused) {
  (void)unused;
  uint64_t state = test_seed(5);
  for (int round = 0; round < test_rounds(500, 50000); round++) {
    large_sets l;
    graze_hull *hulls[2];
    make_large(&state, round % 9, &l);
    sets of_hulls = l.s;
    for (int i = 0; i < 2; i++) {
      const graze_convex *c = &l.s.convex[i];
      assert_int_equal(graze_hull_create(shared_context(1), c->count, c->points, &hulls[i]), GRAZE_OK);
      of_hulls.convex[i] = graze_convex_of_hull(hulls[i], 0);
    }
    const sets *s = &l.s;
    graze_convex_result all = ask(s, false, GRAZE_T2, GRAZE_CONVEX_SHARP), *r = &all;
    graze_convex_result few = ask(&of_hulls, false, GRAZE_T2, GRAZE_CONVEX_SHARP);
    CHECK(few.hit == r->hit);
    CHECK(few.distance == r->distance && few.lower == r->lower && few.upper == r->upper);
    check_hits(&of_hulls);
    for (int i = 0; i < 2; i++) graze_hull_destroy(hulls[i]);
  }
}

/* Two boxes on one another, thin gaps between them, and corners that touch faces of a turned one, by the least there
 * is. */
static void test_kissing(void **unused) {
  (void)unused;
  uint64_t state = test_seed(3), hits = 0;
  int rounds = test_rounds(500, 20000);
  for (int round = 0; round < rounds; round++) {
    double box[2][24], top = -INFINITY;
    sets made, *s = &made;
    for (int i = 0; i < 2; i++) {
      double half[3];
      for (int k = 0; k < 3; k++) half[k] = 0.1 + random_unit(&state);
      for (int c = 0; c < 24; c++) box[i][c] = c / 3 >> c % 3 & 1 ? half[c % 3] : -half[c % 3];
      made.convex[i] = (graze_convex){.points = box[i], .count = 8};
      made.pose[i] = test_random_pose(&state, 2);
      if (round % 2 == 0) made.pose[i] = test_translation(random_unit(&state) * 0.1, 0.1, 0);
    }
    for (int c = 0; c < 8; c++) { /* b on the highest corner of a */
      double p[3];
      graze_pose_apply(&made.pose[0], box[0] + 3 * (ptrdiff_t)c, p);
      if (p[2] <= top) continue;
      top = p[2];
      for (int k = 0; k < 3 && round % 2 != 0; k++) made.pose[1].m[4 * k + 3] = p[k];
    }
    graze_pose flat = test_translation(made.pose[1].m[3], made.pose[1].m[7], top - box[1][2]);
    made.pose[1] = flat;
    double z = made.pose[1].m[11] + box[1][2]; /* its lowest height, as it is rounded */
    graze_convex_result result = ask(s, false, GRAZE_T1, GRAZE_CONVEX_SHARP), *r = &result;
    CHECK(r->hit == (z <= top));
    CHECK(r->distance == z - top);
    hits += r->hit;
  }
  assert_true(hits > 0 && hits < (uint64_t)rounds);
}

/* Cubes that touch in a face, an edge or a corner, or are the least apart: there the balls in and around hulls meet. */
static void test_balls_of_hulls(void **unused) {
  (void)unused;
  uint64_t state = test_seed(6), hits = 0;
  const int rounds = test_rounds(3000, 100000);
  sets made = {0}, *s = &made;
  graze_hull *hull;
  for (int c = 0; c < 24; c++) made.points[0][c] = c / 3 >> c % 3 & 1 ? 1 : -1;
  assert_int_equal(graze_hull_create(shared_context(1), 8, made.points[0], &hull), GRAZE_OK);
  for (int round = 0; round < rounds; round++) {
    double shift[3];
    bool hit = true;
    for (int k = 0; k < 3; k++) {
      const double end = random_below(&state, 2) == 0 ? 2 : nextafter(2, 3);
      shift[k] = random_below(&state, 3) == 0 ? 2.5 * random_unit(&state) : random_below(&state, 2) == 0 ? end : 0;
      hit = hit && shift[k] <= 2;
    }
    for (int i = 0; i < 2; i++) {
      made.convex[i] = graze_convex_of_hull(hull, 0);
      made.pose[i] = test_translation(i * shift[0], i * shift[1], i * shift[2]);
    }
    const graze_convex_result one = ask(s, round & 1, GRAZE_T2, GRAZE_CONVEX_MEET), *r = &one;
    CHECK(r->hit == hit);
    hits += hit;
  }
  assert_true(hits > 0 && hits < (uint64_t)rounds);
  graze_hull_destroy(hull);
}

/* Depths of hulls of many points, which go the quick way, against integers: the quick bracket holds the sharp one. */
static void test_quick_depths(void **unused) {
  (void)unused;
  uint64_t state = test_seed(7);
  int same = 0;
  const int rounds = test_rounds(300, 30000);
  for (int round = 0; round < rounds; round++) {
    large_sets l;
    const sets *s = &l.s;
    make_large(&state, 3 * (round % 3), &l);
    const graze_exactness tier = round % 2 == 0 ? GRAZE_T1 : GRAZE_T2;
    const graze_convex_result quick = ask(s, false, tier, GRAZE_CONVEX_MEASURE);
    const graze_convex_result sharp = ask(s, false, tier, GRAZE_CONVEX_SHARP), *r = &quick;
    CHECK(quick.hit == sharp.hit && quick.lower <= sharp.distance && sharp.distance <= quick.upper);
    CHECK(fabs(quick.distance - sharp.distance) <= 0x1p-40 * largest_coordinate(s));
    double off = 0;
    for (int k = 0; k < 3; k++) off = fmax(off, fabs(quick.normal[k] - sharp.normal[k]));
    same += off < 1e-6;
  }
  assert_true(same > rounds * 9 / 10);
}

/* ---- batches of hulls ------------------------------------------------------------------------------------------- */

enum { CROWD = 600 };

/* Pairs of which several are looked at side by side, and what is true of each at both tiers. */
typedef struct crowd {
  large_sets l[CROWD];
  graze_hull *hulls[CROWD][2];
  graze_convex_pair pairs[CROWD];
  uint8_t hit[CROWD][GRAZE_T2 + 1];
} crowd;

/* Sets of a lattice, which touch, are flat or have points in common, with the oracle's answer. */
static void make_lattice_pair(uint64_t *state, large_sets *l, uint8_t *hit) {
  cloud clouds[2];
  for (int i = 0; i < 2; i++) (random_below(state, 2) == 0 ? make_box : make_cloud)(state, &clouds[i], 6);
  make_sets(state, clouds, 0, &l->s);
  hit[GRAZE_T1] = hit[GRAZE_T2] = find_truth(&clouds[0], &clouds[1]).hit;
}

static void make_crowd(uint64_t *state, crowd *c) {
  for (int i = 0; i < CROWD; i++) {
    sets *s = &c->l[i].s;
    const bool of_lattice = random_below(state, 2) == 0;
    if (of_lattice) make_lattice_pair(state, &c->l[i], c->hit[i]);
    if (!of_lattice) make_large(state, (int)random_below(state, 9), &c->l[i]);
    const bool is_bent = random_below(state, 16) == 0, is_round = random_below(state, 16) == 0;
    if (is_bent) s->pose[1].m[4] += 3; /* lengths are not kept */
    if (is_round) s->convex[1].radius = 0.25;
    for (int tier = GRAZE_T1; tier <= GRAZE_T2; tier++) {
      if (of_lattice && !is_bent && !is_round) continue;
      c->hit[i][tier] = ask(s, false, (graze_exactness)tier, GRAZE_CONVEX_SHARP).hit;
    }
    for (int k = 0; k < 2; k++) {
      const graze_convex *from = &s->convex[k];
      assert_int_equal(graze_hull_create(shared_context(1), from->count, from->points, &c->hulls[i][k]), GRAZE_OK);
      if (random_below(state, 16) != 0) s->convex[k] = graze_convex_of_hull(c->hulls[i][k], from->radius);
    }
    c->pairs[i] = (graze_convex_pair){&s->convex[0], &s->convex[1], &s->pose[0], &s->pose[1]};
  }
}

static void check_crowd(const crowd *c, int first, int count, graze_exactness tier, int threads) {
  graze_convex_result results[CROWD];
  memset(results, 0x55, sizeof results);
  assert_int_equal(
      graze_convex_batch(shared_context(threads), (uint64_t)count, c->pairs + first, tier, GRAZE_CONVEX_MEET, results),
      GRAZE_OK);
  for (int i = 0; i < count; i++) {
    const sets *s = &c->l[first + i].s;
    const graze_convex_result *r = &results[i];
    CHECK(r->hit == c->hit[first + i][tier] && r->distance == 0 && r->normal[0] == 0);
  }
}

/* The looks themselves, side by side and one by one: they prove what is true, and of as many pairs. */
static void check_looks(const crowd *c, bool is_real) {
  int open = 0, open_one = 0, all = 0;
  for (uint32_t first = 0; first < CROWD; first += CROWD_PAIRS) {
    uint32_t which[CROWD_PAIRS], count = 0;
    uint8_t verdicts[CROWD_PAIRS];
    for (uint32_t i = 0; i < CROWD_PAIRS && first + i < CROWD; i++) {
      const graze_convex *two = c->l[first + i].s.convex;
      if (two[0].hull != NULL && two[1].hull != NULL && two[1].radius == 0) which[count++] = i;
    }
    const crowd_pairs from = {c->pairs + first, which, count, is_real};
    CPU_KERNEL(gz_quick_crowd)(&from, verdicts);
    for (uint32_t i = 0; i < count; i++) {
      const convex_verdict one = CPU_KERNEL(gz_quick_meet)(&c->pairs[first + which[i]], is_real);
      const convex_verdict right = c->hit[first + which[i]][is_real ? GRAZE_T2 : GRAZE_T1] ? CONVEX_HIT : CONVEX_APART;
      assert_true(one == CONVEX_OPEN || one == right);
      assert_true(verdicts[which[i]] == CONVEX_OPEN || verdicts[which[i]] == right);
      open += verdicts[which[i]] == CONVEX_OPEN;
      open_one += one == CONVEX_OPEN;
      all++;
    }
  }
  print_message("%d of %d open, one by one %d\n", open, all, open_one);
  assert_true(all > CROWD / 2 && abs(open - open_one) < all / 20);
}

/* Batches of every size about that of lanes, and longer ones, of all kinds of pairs mixed, at any place of the list. */
static void test_crowds(void **unused) {
  (void)unused;
  uint64_t state = test_seed(8);
  static crowd c;
  const int rounds = test_rounds(1, 50);
  for (int round = 0; round < rounds; round++) {
    make_crowd(&state, &c);
    for (int count = 0; count <= CROWD; count += count < 40 ? 1 : 56) {
      const int first = (int)random_below(&state, (uint32_t)(CROWD + 1 - count));
      check_crowd(&c, first, count, count & 1 ? GRAZE_T1 : GRAZE_T2, 1 + 3 * (count > 200));
    }
    for (int tier = GRAZE_T1; tier <= GRAZE_T2; tier++) check_crowd(&c, 0, CROWD, (graze_exactness)tier, 4);
    check_looks(&c, round % 2 == 0);
    for (int i = 0; i < 2 * CROWD; i++) graze_hull_destroy(c.hulls[i / 2][i % 2]);
  }
}

/* ---- balls and capsules ----------------------------------------------------------------------------------------- */

/* Of a lattice, against the oracle: many touch. */
static void check_lattice_capsules(uint64_t *state) {
  cloud clouds[2];
  sets made, *s = &made;
  int64_t sum = 0;
  for (int i = 0; i < 2; i++) {
    make_cloud(state, &clouds[i], 6);
    if (clouds[i].count > 2) clouds[i].count = 1 + clouds[i].count % 2;
  }
  make_sets(state, clouds, 0, &made);
  for (int i = 0; i < 2; i++) {
    const int64_t radius = (int64_t)random_below(state, 5);
    made.convex[i].radius = (double)radius;
    sum += radius;
  }
  const truth t = find_truth(&clouds[0], &clouds[1]);
  const bool hit = t.hit || t.square.above <= (wide_integer)(sum * sum) * t.square.below;
  for (int k = 0; k < 4; k++) {
    const graze_convex_result one = ask(s, k & 1, k & 2 ? GRAZE_T1 : GRAZE_T2, GRAZE_CONVEX_MEET), *r = &one;
    CHECK(r->hit == hit);
  }
}

/* Of any doubles: as where all is asked for. */
static void check_any_capsules(uint64_t *state, int kind) {
  large_sets l;
  sets *s = &l.s;
  make_large(state, kind, &l);
  for (int i = 0; i < 2; i++) {
    if (s->convex[i].count > 2) s->convex[i].count = 1 + s->convex[i].count % 2;
  }
  const double distance = fmax(0, ask(s, false, GRAZE_T1, GRAZE_CONVEX_SHARP).distance);
  for (int step = 0; step < 4; step++) { /* radii that just about reach from one to the other, and others */
    s->convex[0].radius = step == 3 ? random_unit(state) : 0;
    s->convex[1].radius = step == 0   ? distance
                          : step == 3 ? random_unit(state)
                                      : nextafter(distance, step == 1 ? 0 : 9);
    for (int tier = GRAZE_T1; tier <= GRAZE_T2; tier++) {
      const graze_convex_result sharp = ask(s, false, (graze_exactness)tier, GRAZE_CONVEX_SHARP), *r = &sharp;
      CHECK(ask(s, step & 1, (graze_exactness)tier, GRAZE_CONVEX_MEET).hit == r->hit);
    }
  }
}

static void test_capsules(void **unused) {
  (void)unused;
  uint64_t state = test_seed(9);
  for (int round = 0; round < test_rounds(2000, 200000); round++) {
    check_lattice_capsules(&state);
    check_any_capsules(&state, round % 9);
  }
}

static void test_batches_and_errors(void **unused) {
  (void)unused;
  enum { COUNT = 300 };
  static large_sets l[COUNT];
  graze_convex_pair pairs[COUNT];
  static graze_convex_result one[COUNT], four[COUNT];
  uint64_t state = test_seed(4);
  for (int i = 0; i < COUNT; i++) {
    make_large(&state, i % 9, &l[i]);
    pairs[i] =
        (graze_convex_pair){&l[i].s.convex[0], &l[i].s.convex[1], &l[i].s.pose[0], i % 2 ? NULL : &l[i].s.pose[1]};
  }
  graze_context *context = shared_context(4);
  assert_int_equal(graze_convex_batch(shared_context(1), COUNT, pairs, GRAZE_T1, GRAZE_CONVEX_MEASURE, one), GRAZE_OK);
  assert_int_equal(graze_convex_batch(context, COUNT, pairs, GRAZE_T1, GRAZE_CONVEX_MEASURE, four), GRAZE_OK);
  for (int i = 0; i < COUNT; i++) {
    assert_true(one[i].hit == four[i].hit && one[i].lower == four[i].lower && one[i].upper == four[i].upper);
    assert_memory_equal(one[i].points, four[i].points, sizeof one[i].points);
    assert_memory_equal(one[i].normal, four[i].normal, sizeof one[i].normal);
  }
  assert_int_equal(graze_convex_batch(context, 0, NULL, GRAZE_T1, GRAZE_CONVEX_MEET, NULL), GRAZE_OK);
  assert_int_equal(graze_convex_batch(NULL, 1, pairs, GRAZE_T1, GRAZE_CONVEX_MEET, one), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_convex_batch(context, 1, pairs, (graze_exactness)9, GRAZE_CONVEX_MEET, one),
                   GRAZE_ERROR_ARGUMENT);
  l[70].s.convex[1].radius = -1;
  assert_int_equal(graze_convex_batch(context, COUNT, pairs, GRAZE_T1, GRAZE_CONVEX_MEET, one), GRAZE_ERROR_ARGUMENT);
  assert_non_null(strstr(shared_error()->message, "pair 70, b: its radius"));
  l[70].s.convex[1].radius = 0;
  l[80].points[1][0] = NAN;
  l[90].points[1][0] = INFINITY;
  assert_int_equal(graze_convex_batch(context, COUNT, pairs, GRAZE_T1, GRAZE_CONVEX_MEET, one), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(shared_error()->message, "pair 80, b: a coordinate"));
  l[60].s.convex[0].count = 0;
  assert_int_equal(graze_convex_batch(context, COUNT, pairs, GRAZE_T1, GRAZE_CONVEX_MEET, one), GRAZE_ERROR_ARGUMENT);
  assert_non_null(strstr(shared_error()->message, "pair 60, a: it has no points"));
  l[50].s.pose[0].m[5] = INFINITY; /* the first of all is told */
  assert_int_equal(graze_convex_batch(context, COUNT, pairs, GRAZE_T1, GRAZE_CONVEX_MEET, one), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(shared_error()->message, "pair 50, a: its pose"));
  pairs[40].b = NULL;
  assert_int_equal(graze_convex_batch(context, COUNT, pairs, GRAZE_T1, GRAZE_CONVEX_MEET, one), GRAZE_ERROR_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lattices),
                                     cmocka_unit_test(test_consistent),
                                     cmocka_unit_test(test_hulls_as_sets),
                                     cmocka_unit_test(test_kissing),
                                     cmocka_unit_test(test_balls_of_hulls),
                                     cmocka_unit_test(test_quick_depths),
                                     cmocka_unit_test(test_crowds),
                                     cmocka_unit_test(test_capsules),
                                     cmocka_unit_test(test_batches_and_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
