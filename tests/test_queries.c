/* Queries of a broad phase against looking at each proxy, rays against rational numbers, after any edits. */
#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "families.h"
#include "support.h"

enum { MOST = 300, INDICES = 4 * MOST };

typedef struct world {
  graze_broadphase *bp;
  char what[96];
  box_family family;
  uint64_t random;
  bool floats; /* boxes come in floats */
  graze_proxy_id ids[MOST];
  uint32_t live;
  graze_box boxes[INDICES]; /* by index */
  uint8_t layers[INDICES];
  bool alive[INDICES];
  uint32_t end;
} world;

/* ---- edits ------------------------------------------------------------------------------------------------------ */

static graze_box make_box(world *w, float f[6]) {
  graze_box box = boxes_one(w->family, &w->random, 200);
  for (int k = 0; k < 3 && w->floats; k++) {
    f[k] = (float)box.min[k];
    f[3 + k] = (float)box.max[k];
    if (!isfinite(f[k])) f[k] = 0;
    if (!isfinite(f[3 + k]) || f[3 + k] < f[k]) f[3 + k] = f[k];
    box.min[k] = (double)f[k];
    box.max[k] = (double)f[3 + k];
  }
  return box;
}

static void world_add(world *w) {
  if (w->live == MOST) return;
  float f[6];
  graze_box box = make_box(w, f);
  graze_box_array array = {w->floats ? (const void *)f : &box, 0, w->floats ? GRAZE_FLOAT : GRAZE_DOUBLE};
  uint8_t layer = (uint8_t)random_below(&w->random, 4);
  graze_proxy_id id;
  assert_int_equal(graze_broadphase_add(w->bp, &array, 1, NULL, &layer, &id), GRAZE_OK);
  assert_true(id.index < INDICES);
  w->boxes[id.index] = box;
  w->layers[id.index] = layer;
  w->alive[id.index] = true;
  w->ids[w->live++] = id;
  if (id.index >= w->end) w->end = id.index + 1;
}

static void world_edit(world *w) {
  uint32_t choice = random_below(&w->random, 4);
  if (choice == 0 || w->live == 0) {
    world_add(w);
    return;
  }
  uint32_t i = random_below(&w->random, w->live), index = w->ids[i].index;
  if (choice == 1) {
    assert_int_equal(graze_broadphase_remove(w->bp, &w->ids[i], 1), GRAZE_OK);
    w->alive[index] = false;
    w->ids[i] = w->ids[--w->live];
    return;
  }
  float f[6];
  graze_box box = make_box(w, f);
  graze_box_array array = {w->floats ? (const void *)f : &box, 0, w->floats ? GRAZE_FLOAT : GRAZE_DOUBLE};
  assert_int_equal(graze_broadphase_move(w->bp, &w->ids[i], &array, 1), GRAZE_OK);
  w->boxes[index] = box;
}

static bool looked_at(const world *w, uint32_t index, uint64_t layers) {
  return w->alive[index] && (layers >> w->layers[index] & 1) != 0;
}

static uint64_t random_layers(world *w) {
  return random_below(&w->random, 3) == 0 ? random_next(&w->random) : UINT64_MAX;
}

/* A number near those of the boxes: a side of some box, or between two. */
static double random_number(world *w, int axis) {
  const graze_box *a = &w->boxes[random_below(&w->random, w->end)], *b = &w->boxes[random_below(&w->random, w->end)];
  double x = random_below(&w->random, 2) != 0 ? a->min[axis] : a->max[axis];
  double y = random_below(&w->random, 2) != 0 ? b->min[axis] : b->max[axis];
  if (w->family == BOXES_LATTICE) return floor(0.5 * x + 0.5 * y);
  return random_below(&w->random, 2) != 0 ? x : 0.5 * x + 0.5 * y;
}

/* ---- boxes and points ------------------------------------------------------------------------------------------- */

static bool meet(const graze_box *a, const graze_box *b) {
  for (int k = 0; k < 3; k++) {
    if (a->max[k] < b->min[k] || b->max[k] < a->min[k]) return false;
  }
  return true;
}

static void same_indices(const world *w, const graze_box *box, uint64_t layers, const uint32_t *got, uint32_t count) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < w->end; i++) {
    if (!looked_at(w, i, layers) || !meet(box, &w->boxes[i])) continue;
    if (n == count || got[n] != i)
      fail_msg("%s: proxy %u meets the box and is not place %u of %u", w->what, i, n, count);
    n++;
  }
  if (n != count) fail_msg("%s: %u proxies for a box that %u meet", w->what, count, n);
}

static void ask_box(world *w) {
  graze_box box;
  uint64_t layers = random_layers(w);
  for (int k = 0; k < 3; k++) {
    double x = random_number(w, k), y = random_number(w, k);
    box.min[k] = x < y ? x : y;
    box.max[k] = x < y ? y : x;
  }
  const uint32_t *got;
  uint32_t count;
  assert_int_equal(graze_broadphase_query_box(w->bp, &box, layers, &got, &count), GRAZE_OK);
  same_indices(w, &box, layers, got, count);
}

static void ask_point(world *w) {
  double p[3];
  uint64_t layers = random_layers(w);
  for (int k = 0; k < 3; k++) p[k] = random_number(w, k);
  const uint32_t *got;
  uint32_t count;
  assert_int_equal(graze_broadphase_query_point(w->bp, p, layers, &got, &count), GRAZE_OK);
  graze_box box = {{p[0], p[1], p[2]}, {p[0], p[1], p[2]}};
  same_indices(w, &box, layers, got, count);
}

/* ---- rays, in rational numbers ---------------------------------------------------------------------------------- */

typedef struct rationals {
  mpq_t near, far, in, out, t;
} rationals;

static rationals numbers;

/* (side - origin) / direction */
static void cut(mpq_t t, double side, double origin, double direction) {
  mpq_set_d(t, side);
  mpq_set_d(numbers.t, origin);
  mpq_sub(t, t, numbers.t);
  mpq_set_d(numbers.t, direction);
  mpq_div(t, t, numbers.t);
}

/* Whether the ray meets the box; numbers.in gets where it enters. */
static bool ray_meets_box(const double o[3], const double d[3], double length, const graze_box *box) {
  rationals *n = &numbers;
  bool bounded = isfinite(length);
  mpq_set_ui(n->in, 0, 1);
  if (bounded) mpq_set_d(n->out, length);
  for (int k = 0; k < 3; k++) {
    if (d[k] == 0) {
      if (o[k] < box->min[k] || o[k] > box->max[k]) return false;
      continue;
    }
    cut(n->near, d[k] > 0 ? box->min[k] : box->max[k], o[k], d[k]);
    cut(n->far, d[k] > 0 ? box->max[k] : box->min[k], o[k], d[k]);
    if (mpq_cmp(n->near, n->in) > 0) mpq_set(n->in, n->near);
    if (!bounded || mpq_cmp(n->far, n->out) < 0) mpq_set(n->out, n->far);
    bounded = true;
  }
  return !bounded || mpq_cmp(n->in, n->out) <= 0;
}

/* Whether a double is within 2^-52 of numbers.in, or as near as the ends of the range allow. */
static bool is_rounded_in(double enter) {
  rationals *n = &numbers;
  if (!isfinite(enter)) {
    mpq_set_d(n->t, 0x1.fffffffffffffp1023);
    return enter > 0 && mpq_cmp(n->in, n->t) >= 0;
  }
  mpq_set_d(n->t, enter);
  mpq_sub(n->t, n->t, n->in);
  mpq_abs(n->t, n->t);
  mpq_set_d(n->near, 0x1p-52);
  mpq_mul(n->near, n->near, n->in);
  mpq_set_d(n->far, 0x1p-1073);
  mpq_add(n->near, n->near, n->far);
  return mpq_cmp(n->t, n->near) <= 0;
}

static void same_hits(const world *w, const double o[3], const double d[3], double length, uint64_t layers,
                      const graze_ray_hit *got, uint32_t count) {
  static double enters[INDICES];
  uint32_t n = 0;
  for (uint32_t i = 0; i < w->end; i++) enters[i] = -1;
  for (uint32_t i = 0; i < count; i++) {
    assert_true(got[i].index < w->end && enters[got[i].index] == -1);
    enters[got[i].index] = got[i].enter;
    bool ordered = i == 0 || got[i - 1].enter < got[i].enter ||
                   (got[i - 1].enter == got[i].enter && got[i - 1].index < got[i].index);
    if (!ordered) fail_msg("%s: hit %u is out of order", w->what, i);
  }
  for (uint32_t i = 0; i < w->end; i++) {
    bool meets = looked_at(w, i, layers) && ray_meets_box(o, d, length, &w->boxes[i]);
    if (meets != (enters[i] != -1)) {
      fail_msg("%s: ray (%a %a %a) + t (%a %a %a), t <= %a %s proxy %u", w->what, o[0], o[1], o[2], d[0], d[1], d[2],
               length, meets ? "misses" : "should miss", i);
    }
    if (!meets) continue;
    n++;
    if (!is_rounded_in(enters[i]) || enters[i] > length) {
      fail_msg("%s: proxy %u is entered at %a, not at %a", w->what, i, mpq_get_d(numbers.in), enters[i]);
    }
  }
  assert_int_equal(n, count);
}

static void ask_ray(world *w) {
  static const double lengths[] = {(double)INFINITY, 0, 1, 2, 0.5, 3};
  double o[3], d[3], length = lengths[random_below(&w->random, 6)];
  uint64_t layers = random_layers(w);
  bool grid = random_below(&w->random, 2) != 0;
  for (int k = 0; k < 3; k++) {
    o[k] = random_number(w, k);
    d[k] = grid ? (double)random_below(&w->random, 5) - 2 : random_number(w, k) - o[k];
    if (!isfinite(d[k])) d[k] = random_number(w, k);
  }
  if (w->family == BOXES_HUGE && grid) {
    for (int k = 0; k < 3; k++) d[k] = ldexp(d[k], (int)random_below(&w->random, 2040) - 1020);
  }
  const graze_ray_hit *got;
  uint32_t count;
  assert_int_equal(graze_broadphase_query_ray(w->bp, o, d, length, layers, &got, &count), GRAZE_OK);
  same_hits(w, o, d, length, layers, got, count);
}

/* ---- nearest ---------------------------------------------------------------------------------------------------- */

/* The square of the distance. */
static void exact_square(mpq_t sum, const double p[3], const graze_box *box) {
  rationals *n = &numbers;
  mpq_set_ui(sum, 0, 1);
  for (int k = 0; k < 3; k++) {
    if (p[k] >= box->min[k] && p[k] <= box->max[k]) continue;
    mpq_set_d(n->near, p[k]);
    mpq_set_d(n->far, p[k] < box->min[k] ? box->min[k] : box->max[k]);
    mpq_sub(n->near, n->near, n->far);
    mpq_mul(n->near, n->near, n->near);
    mpq_add(sum, sum, n->near);
  }
}

/* distance^2 within 2^-48 of the exact square; or beyond doubles, or lost below them. */
static bool is_rounded_root(double distance, const mpq_t square) {
  rationals *n = &numbers;
  if (!isfinite(distance)) {
    mpq_set_d(n->t, 0x1.fffffffffffffp1023);
    mpq_mul(n->t, n->t, n->t);
    return mpq_cmp(square, n->t) > 0;
  }
  for (int side = -1; side <= 1; side += 2) { /* (distance (1 +- 2^-50) +- 2^-1073)^2 lies beyond */
    mpq_set_d(n->t, distance);
    mpq_set_d(n->near, 1 + side * 0x1p-50);
    mpq_mul(n->t, n->t, n->near);
    mpq_set_d(n->far, side * 0x1p-1073);
    mpq_add(n->t, n->t, n->far);
    if (mpq_sgn(n->t) < 0) mpq_set_ui(n->t, 0, 1);
    mpq_mul(n->t, n->t, n->t);
    if (side * mpq_cmp(n->t, square) < 0) return false;
  }
  return true;
}

/* On the lattice squares are small whole numbers and their roots are rounded once: the list is known to the bit. */
static uint32_t lattice_nearest(const world *w, const double p[3], uint32_t wanted, uint64_t layers, graze_near *out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < w->end; i++) {
    if (!looked_at(w, i, layers)) continue;
    double sum = 0;
    for (int k = 0; k < 3; k++) {
      double d = fmax(0, fmax(w->boxes[i].min[k] - p[k], p[k] - w->boxes[i].max[k]));
      sum += d * d;
    }
    graze_near item = {sqrt(sum), i};
    uint32_t j = n++;
    for (; j > 0 && out[j - 1].distance > item.distance; j--) out[j] = out[j - 1];
    out[j] = item;
  }
  return n < wanted ? n : wanted;
}

static void ask_nearest(world *w) {
  static graze_near want[INDICES];
  static bool listed[INDICES];
  double p[3];
  uint64_t layers = random_layers(w);
  uint32_t wanted = random_below(&w->random, 3) == 0 ? random_below(&w->random, 2 * MOST) : random_below(&w->random, 8);
  for (int k = 0; k < 3; k++) p[k] = random_number(w, k);
  const graze_near *got;
  uint32_t count, there = 0;
  assert_int_equal(graze_broadphase_query_nearest(w->bp, p, wanted, layers, &got, &count), GRAZE_OK);
  memset(listed, 0, sizeof listed);
  for (uint32_t i = 0; i < w->end; i++) there += looked_at(w, i, layers);
  assert_int_equal(count, there < wanted ? there : wanted);
  mpq_t square;
  mpq_init(square);
  for (uint32_t i = 0; i < count; i++) {
    assert_true(got[i].index < w->end && looked_at(w, got[i].index, layers) && !listed[got[i].index]);
    listed[got[i].index] = true;
    assert_true(i == 0 || got[i - 1].distance < got[i].distance ||
                (got[i - 1].distance == got[i].distance && got[i - 1].index < got[i].index));
    exact_square(square, p, &w->boxes[got[i].index]);
    if (!is_rounded_root(got[i].distance, square)) fail_msg("%s: distance of proxy %u", w->what, got[i].index);
  }
  for (uint32_t i = 0; i < w->end && count > 0 && isfinite(got[count - 1].distance); i++) {
    if (!looked_at(w, i, layers) || listed[i]) continue;
    exact_square(square, p, &w->boxes[i]); /* not nearer than the last one listed, but for rounding */
    mpq_set_d(numbers.t, fmax(0, got[count - 1].distance * (1 - 0x1p-49) - 0x1p-1073));
    mpq_mul(numbers.t, numbers.t, numbers.t);
    if (mpq_cmp(square, numbers.t) < 0) fail_msg("%s: proxy %u is nearer than what is listed", w->what, i);
  }
  mpq_clear(square);
  if (w->family != BOXES_LATTICE) return;
  assert_int_equal(lattice_nearest(w, p, wanted, layers, want), count);
  for (uint32_t i = 0; i < count; i++) {
    assert_true(got[i].distance == want[i].distance && got[i].index == want[i].index);
  }
}

/* ---- storms ----------------------------------------------------------------------------------------------------- */

static void ask(world *w) {
  switch (random_below(&w->random, 4)) {
    case 0:
      ask_box(w);
      break;
    case 1:
      ask_point(w);
      break;
    case 2:
      ask_ray(w);
      break;
    default:
      ask_nearest(w);
  }
}

static void storm(graze_context *context, graze_broad_method method, box_family kind, bool floats, int rounds) {
  static world w;
  memset(&w, 0, sizeof w);
  graze_broadphase_def def = graze_default_broadphase_def();
  def.method = method;
  assert_int_equal(graze_broadphase_create(context, &def, &w.bp), GRAZE_OK);
  w.family = kind;
  w.floats = floats;
  w.random = 31 + 64 * (uint64_t)kind + (uint64_t)method;
  snprintf(w.what, sizeof w.what, "%s, %s, %s", graze_broad_method_describe(method)->name, box_family_name(kind),
           floats ? "floats" : "doubles");
  for (int i = 0; i < 20; i++) world_add(&w);
  for (int round = 0; round < rounds; round++) {
    /* A lone query looks at all boxes, the next ones use the hierarchy. */
    for (uint32_t i = random_below(&w.random, 7); i-- > 0;) ask(&w);
    if (round == rounds / 3) {
      while (w.live < MOST) world_add(&w);
    }
    for (uint32_t i = random_below(&w.random, 12); i-- > 0;) world_edit(&w);
    if (random_below(&w.random, 3) == 0) {
      graze_broad_events events;
      assert_int_equal(graze_broadphase_update(w.bp, &events), GRAZE_OK);
    }
  }
  graze_broadphase_destroy(w.bp);
}

static void test_storms(void **state) {
  (void)state;
  graze_context *context = test_context(2, NULL);
  int rounds = test_long() ? 1500 : 60;
  for (graze_broad_method method = GRAZE_BROAD_AUTO; method < GRAZE_BROAD_METHODS; method++) {
    if (graze_broad_method_describe(method) != NULL) storm(context, method, BOXES_LATTICE, method % 2 != 0, rounds / 2);
  }
  for (int kind = 0; kind < BOXES_FAMILIES; kind++) {
    for (int floats = 0; floats < 2; floats++) {
      storm(context, GRAZE_BROAD_BRUTE, (box_family)kind, floats != 0, kind == BOXES_LATTICE ? 4 * rounds : rounds);
    }
  }
  graze_context_destroy(context);
}

/* ---- many boxes: the hierarchy has levels, and one outlier must not make a crowd of all others ------------------- */

static void test_many(void **state) {
  (void)state;
  enum { N = 20000 };
  graze_box *boxes = malloc(N * sizeof *boxes);
  graze_context *context = test_context(2, NULL);
  graze_broadphase *bp;
  graze_broadphase_def def = graze_default_broadphase_def();
  def.method = GRAZE_BROAD_BRUTE;
  assert_int_equal(graze_broadphase_create(context, &def, &bp), GRAZE_OK);
  uint64_t random = 9;
  boxes_make(BOXES_UNIFORM, &random, N, boxes);
  boxes[77].min[0] = boxes[77].max[0] = 1e12;
  assert_int_equal(graze_broadphase_add(bp, &(graze_box_array){boxes, 0, GRAZE_DOUBLE}, N, NULL, NULL, NULL), GRAZE_OK);
  for (int query = 0; query < 40; query++) {
    const graze_box *box = &boxes[random_below(&random, N)];
    const uint32_t *got;
    uint32_t count, n = 0;
    assert_int_equal(graze_broadphase_query_box(bp, box, UINT64_MAX, &got, &count), GRAZE_OK);
    for (uint32_t i = 0; i < N; i++) {
      if (!meet(box, &boxes[i])) continue;
      assert_true(n < count && got[n] == i);
      n++;
    }
    assert_int_equal(n, count);
    const graze_near *near;
    assert_int_equal(graze_broadphase_query_nearest(bp, box->min, 1, UINT64_MAX, &near, &count), GRAZE_OK);
    const graze_box point = {{box->min[0], box->min[1], box->min[2]}, {box->min[0], box->min[1], box->min[2]}};
    for (n = 0; !meet(&point, &boxes[n]);) n++;
    assert_true(count == 1 && near[0].distance == 0 && near[0].index == n);
    const graze_ray_hit *hits;
    double direction[3] = {1e12 - box->min[0], 0, 0};
    assert_int_equal(graze_broadphase_query_ray(bp, box->min, direction, 1, UINT64_MAX, &hits, &count), GRAZE_OK);
    n = 0;
    for (uint32_t i = 0; i < N; i++) n += ray_meets_box(box->min, direction, 1, &boxes[i]);
    assert_int_equal(n, count);
  }
  graze_broadphase_destroy(bp);
  graze_context_destroy(context);
  free(boxes);
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static void expect(graze_status got, graze_status want, const test_log *log, const char *words) {
  assert_int_equal(got, want);
  if (strstr(log->last, words) == NULL) fail_msg("message \"%s\" should have \"%s\"", log->last, words);
}

static void test_refusals(void **state) {
  (void)state;
  test_log log;
  graze_context *context = test_context(1, &log);
  graze_broadphase *bp;
  const uint32_t *indices = NULL;
  const graze_ray_hit *hits = NULL;
  const graze_near *near = NULL;
  uint32_t count = 7;
  assert_int_equal(graze_broadphase_create(context, NULL, &bp), GRAZE_OK);
  graze_box box = {{0, 0, 0}, {1, 1, 1}};
  const double zero[3] = {0, 0, 0}, bad[3] = {0, NAN, 0}, far[3] = {0, 0, (double)INFINITY};
  assert_int_equal(graze_broadphase_query_box(bp, NULL, 1, &indices, &count), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_broadphase_query_point(bp, zero, 1, NULL, &count), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_broadphase_query_ray(bp, zero, NULL, 1, 1, &hits, &count), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_broadphase_query_nearest(NULL, zero, 1, 1, &near, &count), GRAZE_ERROR_ARGUMENT);
  box.max[1] = NAN;
  expect(graze_broadphase_query_box(bp, &box, 1, &indices, &count), GRAZE_ERROR_NOT_FINITE, &log, "max y is nan");
  box.max[1] = -1;
  expect(graze_broadphase_query_box(bp, &box, 1, &indices, &count), GRAZE_ERROR_ARGUMENT, &log,
         "min y = 0 is above max y = -1");
  expect(graze_broadphase_query_point(bp, far, 1, &indices, &count), GRAZE_ERROR_NOT_FINITE, &log, "point z is inf");
  expect(graze_broadphase_query_ray(bp, bad, zero, 1, 1, &hits, &count), GRAZE_ERROR_NOT_FINITE, &log,
         "origin y is nan");
  expect(graze_broadphase_query_ray(bp, zero, far, 1, 1, &hits, &count), GRAZE_ERROR_NOT_FINITE, &log,
         "direction z is inf");
  expect(graze_broadphase_query_ray(bp, zero, zero, (double)NAN, 1, &hits, &count), GRAZE_ERROR_NOT_FINITE, &log,
         "length is nan");
  expect(graze_broadphase_query_ray(bp, zero, zero, -1, 1, &hits, &count), GRAZE_ERROR_ARGUMENT, &log,
         "length -1 is negative");
  expect(graze_broadphase_query_nearest(bp, bad, 1, 1, &near, &count), GRAZE_ERROR_NOT_FINITE, &log, "point y is nan");
  assert_true(count == 7 && indices == NULL && hits == NULL && near == NULL);
  assert_int_equal(graze_broadphase_query_nearest(bp, zero, 3, UINT64_MAX, &near, &count), GRAZE_OK);
  assert_int_equal(count, 0);
  graze_broadphase_destroy(bp);
  graze_context_destroy(context);
}

/* All queries twice, so that the second ones build the hierarchy. */
static graze_status ask_all(graze_broadphase *bp, uint32_t counts[4]) {
  const uint32_t *indices;
  const graze_ray_hit *hits;
  const graze_near *near;
  const graze_box box = {{-1e3, -1e3, -1e3}, {1e3, 1e3, 1e3}};
  const double p[3] = {1, 1, 1}, d[3] = {1, 0.5, 0.25};
  graze_status status = GRAZE_OK;
  for (int i = 0; i < 2 && status == GRAZE_OK; i++) {
    status = graze_broadphase_query_box(bp, &box, UINT64_MAX, &indices, &counts[0]);
    if (status == GRAZE_OK) status = graze_broadphase_query_point(bp, p, UINT64_MAX, &indices, &counts[1]);
    if (status == GRAZE_OK) {
      status = graze_broadphase_query_ray(bp, p, d, (double)INFINITY, UINT64_MAX, &hits, &counts[2]);
    }
    if (status == GRAZE_OK) status = graze_broadphase_query_nearest(bp, p, 50, UINT64_MAX, &near, &counts[3]);
  }
  return status;
}

static void test_memory(void **state) {
  (void)state;
  static graze_box boxes[MOST];
  uint64_t random = 3;
  boxes_make(BOXES_STACKED, &random, MOST, boxes);
  uint32_t want[4], got[4];
  for (uint64_t fail_at = 0;; fail_at++) {
    test_allocator allocator = {0};
    graze_context_def def = graze_default_context_def();
    def.allocator = test_allocator_hooks(&allocator);
    def.threads = 1;
    graze_context *context;
    graze_broadphase *bp;
    assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
    assert_int_equal(graze_broadphase_create(context, NULL, &bp), GRAZE_OK);
    assert_int_equal(graze_broadphase_add(bp, &(graze_box_array){boxes, 0, GRAZE_DOUBLE}, MOST, NULL, NULL, NULL),
                     GRAZE_OK);
    if (fail_at > 0) allocator.fail_at = allocator.requests + fail_at;
    graze_status status = ask_all(bp, got);
    bool done = fail_at > 0 && allocator.requests < allocator.fail_at;
    assert_int_equal(status, fail_at == 0 || done ? GRAZE_OK : GRAZE_ERROR_MEMORY);
    allocator.fail_at = 0;
    assert_int_equal(ask_all(bp, got), GRAZE_OK);
    if (fail_at == 0) memcpy(want, got, sizeof want);
    assert_memory_equal(got, want, sizeof want);
    uint64_t before = allocator.requests; /* the steady state asks for none */
    assert_int_equal(ask_all(bp, got), GRAZE_OK);
    assert_true(allocator.requests == before);
    graze_broadphase_destroy(bp);
    graze_context_destroy(context);
    assert_int_equal(allocator.live_blocks, 0);
    if (done) break;
  }
  assert_int_equal(want[0], MOST);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_refusals), cmocka_unit_test(test_memory),
                                     cmocka_unit_test(test_many), cmocka_unit_test(test_storms)};
  mpq_inits(numbers.near, numbers.far, numbers.in, numbers.out, numbers.t, NULL);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  mpq_clears(numbers.near, numbers.far, numbers.in, numbers.out, numbers.t, NULL);
  return failed;
}
