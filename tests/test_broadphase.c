/* Every broad phase gives the same pairs as looking at each pair, from nothing and after any edits.
 *
 * test_broadphase [METHOD ..]: only these methods. GRAZE_TEST_LONG=1: more seeds, 10^6 edits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "families.h"
#include "support.h"

enum { MOST = 400 };
#ifdef __SANITIZE_THREAD__ /* is slow, and sees nothing where there is one thread */
enum { FEWEST_THREADS = 3, USUAL_EDITS = 200 };
#else
enum { FEWEST_THREADS = 1, USUAL_EDITS = 800 };
#endif

static graze_broadphase *make(graze_context *context, graze_broad_method method, graze_pair_manager manager) {
  graze_broadphase_def def = graze_default_broadphase_def();
  graze_broadphase *bp = NULL;
  def.method = method;
  def.manager = manager;
  assert_int_equal(graze_broadphase_create(context, &def, &bp), GRAZE_OK);
  return bp;
}

static bool chosen(graze_broad_method method);

#define FOR_METHODS(m)                                                        \
  for (graze_broad_method m = GRAZE_BROAD_AUTO; m < GRAZE_BROAD_METHODS; m++) \
    if (chosen(m))

static const char *name_of(graze_broad_method method) {
  return graze_broad_method_describe(method)->name;
}

static void same_pairs(const char *what, const graze_box_pair *got, uint64_t got_count, const graze_box_pair *want,
                       uint64_t want_count) {
  for (uint64_t i = 0; i < got_count && i < want_count; i++) {
    if (got[i].a == want[i].a && got[i].b == want[i].b) continue;
    fail_msg("%s: pair %llu is (%u, %u), should be (%u, %u)", what, (unsigned long long)i, got[i].a, got[i].b,
             want[i].a, want[i].b);
  }
  if (got_count != want_count) {
    fail_msg("%s: %llu pairs, should be %llu", what, (unsigned long long)got_count, (unsigned long long)want_count);
  }
}

/* ---- from nothing ---------------------------------------------------------------------------------------------- */

/* As floats, which are other boxes; the answer is for those. */
static void to_floats(const graze_box *boxes, uint32_t n, float *floats, graze_box *back) {
  for (uint32_t i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      float low = (float)boxes[i].min[k], high = (float)boxes[i].max[k];
      if (!isfinite(low)) low = 0;
      if (!isfinite(high) || high < low) high = low;
      floats[6 * i + k] = low;
      floats[6 * i + 3 + k] = high;
      back[i].min[k] = (double)low;
      back[i].max[k] = (double)high;
    }
  }
}

static void check_find(graze_broadphase *bp, const char *what, const graze_box_array *array, const graze_box *boxes,
                       uint32_t n) {
  const graze_box_pair *got;
  uint64_t got_count, want_count;
  graze_box_pair *want = boxes_pairs(boxes, n, NULL, NULL, &want_count);
  assert_int_equal(graze_broadphase_find(bp, array, n, false, &got, &got_count), GRAZE_OK);
  same_pairs(what, got, got_count, want, want_count);
  free(want);
}

static void test_find(void **state) {
  (void)state;
  static graze_box boxes[MOST], back[MOST];
  static float floats[6 * MOST];
  graze_context *context = test_context(2, NULL);
  uint32_t seeds = test_long() ? 40 : 2;
  FOR_METHODS(method) {
    graze_broadphase *bp = make(context, method, GRAZE_PAIRS_HASH);
    for (int kind = 0; kind < BOXES_FAMILIES; kind++) {
      for (uint32_t seed = 0; seed < seeds; seed++) {
        uint64_t random = test_seed(1000 * (uint64_t)kind + seed);
        uint32_t n = seed == 0 ? (uint32_t)kind % 3 : 3 + random_below(&random, MOST - 3);
        char what[96];
        snprintf(what, sizeof what, "%s, %s %u, n = %u", name_of(method), box_family_name((box_family)kind), seed, n);
        boxes_make((box_family)kind, &random, n, boxes);
        check_find(bp, what, &(graze_box_array){boxes, 0, GRAZE_DOUBLE}, boxes, n);
        to_floats(boxes, n, floats, back);
        check_find(bp, what, &(graze_box_array){floats, 0, GRAZE_FLOAT}, back, n);
      }
    }
    graze_broadphase_destroy(bp);
  }
  graze_context_destroy(context);
}

/* Larger scenes: all methods against the sweep along x of this file. */
static int by_low(const void *p, const void *q) {
  const graze_box *const *a = p, *const *b = q;
  return ((*a)->min[0] > (*b)->min[0]) - ((*a)->min[0] < (*b)->min[0]);
}

static int by_pair(const void *p, const void *q) {
  const graze_box_pair *a = p, *b = q;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  return (a->b > b->b) - (a->b < b->b);
}

static graze_box_pair *swept_pairs(const graze_box *boxes, uint32_t n, uint64_t *count) {
  const graze_box **order = malloc(n * sizeof *order);
  uint64_t room = 16 * (uint64_t)n, used = 0;
  graze_box_pair *pairs = malloc(room * sizeof *pairs);
  for (uint32_t i = 0; i < n; i++) order[i] = &boxes[i];
  qsort(order, n, sizeof *order, by_low);
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t j = i + 1; j < n && order[j]->min[0] <= order[i]->max[0]; j++) {
      const graze_box *p = order[i], *q = order[j];
      if (p->max[1] < q->min[1] || q->max[1] < p->min[1] || p->max[2] < q->min[2] || q->max[2] < p->min[2]) continue;
      uint32_t x = (uint32_t)(p - boxes), y = (uint32_t)(q - boxes);
      assert_true(used < room);
      pairs[used++] = x < y ? (graze_box_pair){x, y} : (graze_box_pair){y, x};
    }
  }
  qsort(pairs, used, sizeof *pairs, by_pair);
  free(order);
  *count = used;
  return pairs;
}

/* `want`: of the first `n` boxes. */
static void check_large(graze_broad_method method, box_family kind, const graze_box *boxes, uint32_t n,
                        const graze_box_pair *want, uint64_t want_count) {
  for (int threads = FEWEST_THREADS; threads <= 3; threads += 2) {
    char what[96];
    snprintf(what, sizeof what, "%s, %s, %d threads", name_of(method), box_family_name(kind), threads);
    graze_context *context = test_context(threads, NULL);
    graze_broadphase *bp = make(context, method, GRAZE_PAIRS_HASH);
    const graze_box_pair *got;
    uint64_t got_count;
    assert_int_equal(graze_broadphase_find(bp, &(graze_box_array){boxes, 0, GRAZE_DOUBLE}, n, false, &got, &got_count),
                     GRAZE_OK);
    same_pairs(what, got, got_count, want, want_count);
    graze_broadphase_destroy(bp);
    graze_context_destroy(context);
  }
}

static void test_find_large(void **state) {
  (void)state;
  static const box_family kinds[] = {BOXES_UNIFORM, BOXES_DECADES, BOXES_CLUSTERS, BOXES_LINE, BOXES_GIANT};
  const uint32_t usual = test_thinned() ? 5000 : 10000, all = test_long() ? 40000 : usual;
  const uint32_t few = 3000; /* for the one that looks at all pairs */
  graze_box *boxes = malloc(all * sizeof *boxes);
  for (size_t f = 0; f < sizeof kinds / sizeof *kinds; f++) {
    uint64_t random = 77 + f, count, few_count;
    boxes_make(kinds[f], &random, all, boxes);
    graze_box_pair *want = swept_pairs(boxes, all, &count), *few_want = swept_pairs(boxes, few, &few_count);
    FOR_METHODS(method) {
      if (method == GRAZE_BROAD_BRUTE) {
        check_large(method, kinds[f], boxes, few, few_want, few_count);
      } else {
        check_large(method, kinds[f], boxes, all, want, count);
      }
    }
    free(want);
    free(few_want);
  }
  free(boxes);
}

/* ---- a world of our own that gets the same edits ---------------------------------------------------------------- */

enum { INDICES = 4 * MOST };

typedef struct world {
  graze_broadphase *bp;
  char what[96];
  box_family family;
  uint64_t random;
  graze_proxy_id ids[MOST];
  uint32_t live;
  /* by index */
  graze_box boxes[INDICES];
  uint8_t layers[INDICES];
  uint64_t meets[GRAZE_BROAD_LAYERS];
  uint32_t end; /* indices given out so far */
  graze_box_pair *pairs;
  uint64_t pair_count;
} world;

static const graze_box nowhere = {{1, 1, 1}, {0, 0, 0}};

static void world_add(world *w) {
  if (w->live == MOST) return;
  graze_box box = boxes_one(w->family, &w->random, 200);
  uint8_t layer = (uint8_t)random_below(&w->random, 4);
  uint64_t user = random_next(&w->random);
  graze_proxy_id id;
  assert_int_equal(graze_broadphase_add(w->bp, &(graze_box_array){&box, 0, GRAZE_DOUBLE}, 1, &user, &layer, &id),
                   GRAZE_OK);
  assert_true(id.index < INDICES);
  assert_true(graze_broadphase_user_id(w->bp, id.index) == user);
  for (; w->end <= id.index; w->end++) w->boxes[w->end] = nowhere;
  w->boxes[id.index] = box;
  w->layers[id.index] = layer;
  w->ids[w->live++] = id;
}

static void world_remove(world *w) {
  if (w->live == 0) return;
  uint32_t i = random_below(&w->random, w->live);
  assert_int_equal(graze_broadphase_remove(w->bp, &w->ids[i], 1), GRAZE_OK);
  w->boxes[w->ids[i].index] = nowhere;
  w->ids[i] = w->ids[--w->live];
}

/* A step to the side, or a jump to anywhere. */
static void world_move(world *w) {
  if (w->live == 0) return;
  uint32_t i = random_below(&w->random, w->live), index = w->ids[i].index;
  graze_box box = boxes_one(w->family, &w->random, 200);
  if (random_below(&w->random, 4) != 0) {
    double step[3];
    box = w->boxes[index];
    for (int k = 0; k < 3; k++) step[k] = 0.1 * (box.max[k] - box.min[k]) * random_signed(&w->random);
    for (int k = 0; k < 3; k++) {
      if (!isfinite(box.min[k] + step[k]) || !isfinite(box.max[k] + step[k])) continue;
      box.min[k] += step[k];
      box.max[k] += step[k];
    }
  }
  assert_int_equal(graze_broadphase_move(w->bp, &w->ids[i], &(graze_box_array){&box, 0, GRAZE_DOUBLE}, 1), GRAZE_OK);
  w->boxes[index] = box;
}

static void world_layers(world *w) {
  uint32_t a = random_below(&w->random, 4), b = random_below(&w->random, 4);
  bool meet = random_below(&w->random, 3) != 0;
  assert_int_equal(graze_broadphase_set_layers_meet(w->bp, a, b, meet), GRAZE_OK);
  w->meets[a] = meet ? w->meets[a] | UINT64_C(1) << b : w->meets[a] & ~(UINT64_C(1) << b);
  w->meets[b] = meet ? w->meets[b] | UINT64_C(1) << a : w->meets[b] & ~(UINT64_C(1) << a);
}

/* p without q, and both; sorted lists. */
static uint64_t list_minus(const graze_box_pair *p, uint64_t p_count, const graze_box_pair *q, uint64_t q_count,
                           bool common, graze_box_pair *out) {
  uint64_t n = 0;
  for (uint64_t i = 0, j = 0; i < p_count; i++) {
    while (j < q_count && by_pair(&q[j], &p[i]) < 0) j++;
    if ((j < q_count && by_pair(&q[j], &p[i]) == 0) == common) out[n++] = p[i];
  }
  return n;
}

static void world_update(world *w) {
  graze_broad_events e;
  assert_int_equal(graze_broadphase_update(w->bp, &e), GRAZE_OK);
  assert_int_equal(graze_broadphase_count(w->bp), w->live);
  uint64_t count;
  graze_box_pair *now = boxes_pairs(w->boxes, w->end, w->layers, w->meets, &count);
  graze_box_pair *part = malloc((count + w->pair_count + 1) * sizeof *part);
  char what[128];
  snprintf(what, sizeof what, "%s: began", w->what);
  same_pairs(what, e.began, e.began_count, part, list_minus(now, count, w->pairs, w->pair_count, false, part));
  snprintf(what, sizeof what, "%s: persist", w->what);
  same_pairs(what, e.persist, e.persist_count, part, list_minus(now, count, w->pairs, w->pair_count, true, part));
  snprintf(what, sizeof what, "%s: ended", w->what);
  same_pairs(what, e.ended, e.ended_count, part, list_minus(w->pairs, w->pair_count, now, count, false, part));
  if (random_below(&w->random, 2) != 0) {
    const graze_box_pair *all;
    uint64_t all_count;
    assert_int_equal(graze_broadphase_pairs(w->bp, &all, &all_count), GRAZE_OK);
    snprintf(what, sizeof what, "%s: all", w->what);
    same_pairs(what, all, all_count, now, count);
  }
  free(part);
  free(w->pairs);
  w->pairs = now;
  w->pair_count = count;
}

/* How many edits come between two updates: from none to as many as there are boxes. */
static uint32_t burst(world *w) {
  static const uint32_t sizes[] = {0, 1, 2, 5, 20, 100, 400};
  return random_below(&w->random, 1 + sizes[random_below(&w->random, 7)]);
}

static void storm(graze_context *context, graze_broad_method method, graze_pair_manager manager, box_family kind,
                  uint64_t seed, uint32_t edits) {
  world *w = calloc(1, sizeof *w);
  w->bp = make(context, method, manager);
  w->family = kind;
  w->random = seed;
  for (int k = 0; k < GRAZE_BROAD_LAYERS; k++) w->meets[k] = UINT64_MAX;
  snprintf(w->what, sizeof w->what, "%s/%d, %s, seed %llu", name_of(method), (int)manager, box_family_name(kind),
           (unsigned long long)seed);
  for (uint32_t done = 0, update = 0; done < edits; update++) {
    /* Times of growth, of motion alone, of decay. */
    uint32_t adds = (update / 8) % 3 == 0 ? 6 : (update / 8) % 3 == 1 ? 0 : 1;
    uint32_t removes = (update / 8) % 3 == 2 ? 6 : (update / 8) % 3 == 1 ? 0 : 1;
    for (uint32_t i = burst(w); i-- > 0; done++) {
      uint32_t choice = random_below(&w->random, 12);
      if (choice < adds) {
        world_add(w);
      } else if (choice < adds + removes) {
        world_remove(w);
      } else {
        world_move(w);
      }
    }
    if (random_below(&w->random, 16) == 0) world_layers(w);
    world_update(w);
    done++;
  }
  graze_broadphase_destroy(w->bp);
  free(w->pairs);
  free(w);
}

static void test_storms(void **state) {
  (void)state;
  graze_context *context = test_context(2, NULL);
  uint32_t edits = test_long() ? 1000000 / BOXES_FAMILIES : USUAL_EDITS;
  FOR_METHODS(method) {
    int managers = method == GRAZE_BROAD_SAP ? 3 : 1;
    for (int manager = 0; manager < managers; manager++) {
      for (int kind = 0; kind < BOXES_FAMILIES; kind++) {
        storm(context, method, (graze_pair_manager)manager, (box_family)kind, test_seed(7 + (uint64_t)kind), edits);
      }
    }
  }
  graze_context_destroy(context);
}

/* Whole arrays that move at once, a little or far: the way of a simulation. */
static void test_move_all(void **state) {
  (void)state;
  enum { N = 300, STEPS = 12 };
  static graze_box boxes[N];
  graze_context *context = test_context(2, NULL);
  FOR_METHODS(method) {
    for (int speed = 0; speed < 2; speed++) {
      graze_broadphase *bp = make(context, method, GRAZE_PAIRS_HASH);
      uint64_t random = 5;
      boxes_make(BOXES_UNIFORM, &random, N, boxes);
      graze_box_array array = {boxes, 0, GRAZE_DOUBLE};
      assert_int_equal(graze_broadphase_add(bp, &array, N, NULL, NULL, NULL), GRAZE_OK);
      for (int step = 0; step < STEPS; step++) {
        graze_broad_events e;
        const graze_box_pair *got;
        uint64_t got_count, want_count;
        assert_int_equal(graze_broadphase_update(bp, &e), GRAZE_OK);
        assert_int_equal(graze_broadphase_pairs(bp, &got, &got_count), GRAZE_OK);
        graze_box_pair *want = boxes_pairs(boxes, N, NULL, NULL, &want_count);
        same_pairs(name_of(method), got, got_count, want, want_count);
        assert_true(e.began_count + e.persist_count == want_count);
        free(want);
        for (uint32_t i = 0; i < N; i++) {
          if (random_below(&random, 3) == 0) continue;
          for (int k = 0; k < 3; k++) {
            double by = (speed ? 3.0 : 0.03) * random_signed(&random);
            boxes[i].min[k] += by;
            boxes[i].max[k] += by;
          }
        }
        assert_int_equal(graze_broadphase_move_all(bp, &array, N), GRAZE_OK);
      }
      graze_broadphase_destroy(bp);
    }
  }
  graze_context_destroy(context);
}

/* ---- arguments -------------------------------------------------------------------------------------------------- */

static void expect(graze_status got, graze_status want, const test_log *log, const char *words) {
  assert_int_equal(got, want);
  if (strstr(log->last, words) == NULL) fail_msg("message \"%s\" should have \"%s\"", log->last, words);
}

/* Every bad number in every place of a box, of doubles and of floats; the boxes are found from nothing. */
static void test_bad_numbers(void **state) {
  (void)state;
  enum { N = 130 };
  static const uint32_t places[] = {0, 63, 64, N - 1};
  static double doubles[N][6];
  static float floats[N][6];
  const double bad[] = {NAN, INFINITY, -INFINITY};
  test_log log;
  graze_context *context = test_context(1, &log);
  graze_broadphase *bp = make(context, GRAZE_BROAD_BRUTE, GRAZE_PAIRS_HASH);
  const graze_box_pair *pairs;
  uint64_t count;
  for (int i = 0; i < 6 * N; i++) floats[i / 6][i % 6] = (float)(doubles[i / 6][i % 6] = i % 6 < 3 ? -1 : 1);
  for (int i = 0; i < 4 * 6 * 4; i++) {
    uint32_t box = places[i / 24];
    int number = i / 4 % 6, kind = i % 4;
    double good = doubles[box][number], wrong = kind < 3 ? bad[kind] : number < 3 ? 1.5 : -1.5; /* inside out */
    graze_status want = kind < 3 ? GRAZE_ERROR_NOT_FINITE : GRAZE_ERROR_ARGUMENT;
    char words[16];
    snprintf(words, sizeof words, "box %u: ", box);
    floats[box][number] = (float)(doubles[box][number] = wrong);
    graze_box_array as_doubles = {doubles, 0, GRAZE_DOUBLE}, as_floats = {floats, 0, GRAZE_FLOAT};
    expect(graze_broadphase_find(bp, &as_doubles, N, false, &pairs, &count), want, &log, words);
    expect(graze_broadphase_find(bp, &as_floats, N, false, &pairs, &count), want, &log, words);
    floats[box][number] = (float)(doubles[box][number] = good);
  }
  graze_box_array all = {doubles, 0, GRAZE_DOUBLE};
  assert_int_equal(graze_broadphase_find(bp, &all, N, false, &pairs, &count), GRAZE_OK);
  assert_int_equal(count, N * (N - 1) / 2);
  graze_broadphase_destroy(bp);
  graze_context_destroy(context);
}

static void test_refusals(void **state) {
  (void)state;
  test_log log;
  graze_context *context = test_context(1, &log);
  graze_broadphase *bp = make(context, GRAZE_BROAD_BRUTE, GRAZE_PAIRS_HASH);
  graze_box boxes[3] = {{{0, 0, 0}, {1, 1, 1}}, {{0, 0, 0}, {1, 1, 1}}, {{0, 0, 0}, {1, 1, 1}}};
  graze_box_array array = {boxes, 0, GRAZE_DOUBLE};
  graze_proxy_id ids[3];
  graze_broad_events e;
  boxes[1].max[2] = NAN;
  expect(graze_broadphase_add(bp, &array, 3, NULL, NULL, ids), GRAZE_ERROR_NOT_FINITE, &log, "box 1: max z is nan");
  boxes[1].max[2] = 1;
  boxes[2].min[0] = -INFINITY;
  expect(graze_broadphase_add(bp, &array, 3, NULL, NULL, ids), GRAZE_ERROR_NOT_FINITE, &log, "box 2: min x is -inf");
  boxes[2].min[0] = 2;
  expect(graze_broadphase_add(bp, &array, 3, NULL, NULL, ids), GRAZE_ERROR_ARGUMENT, &log,
         "box 2: min x = 2 is above max x = 1");
  boxes[2].min[0] = 0;
  expect(graze_broadphase_add(bp, &array, 3, NULL, (uint8_t[]){0, 64, 0}, ids), GRAZE_ERROR_ARGUMENT, &log,
         "box 1: layer 64");
  expect(graze_broadphase_add(bp, NULL, 3, NULL, NULL, ids), GRAZE_ERROR_ARGUMENT, &log, "no boxes");
  assert_int_equal(graze_broadphase_count(bp), 0);
  assert_int_equal(graze_broadphase_add(bp, &array, 3, NULL, NULL, ids), GRAZE_OK);
  assert_int_equal(graze_broadphase_update(bp, &e), GRAZE_OK);
  assert_int_equal(e.began_count, 3);

  boxes[0].min[0] = NAN;
  expect(graze_broadphase_move(bp, ids, &array, 1), GRAZE_ERROR_NOT_FINITE, &log, "box 0: min x is nan");
  expect(graze_broadphase_move_all(bp, &array, 2), GRAZE_ERROR_ARGUMENT, &log, "2 boxes for 3 proxies");
  boxes[0].min[0] = 0;
  assert_int_equal(graze_broadphase_remove(bp, (graze_proxy_id[]){ids[1], ids[1]}, 2), GRAZE_OK);
  assert_int_equal(graze_broadphase_count(bp), 2);
  expect(graze_broadphase_remove(bp, ids, 2), GRAZE_ERROR_HANDLE, &log, "place 1: no proxy has index 1");
  expect(graze_broadphase_move(bp, &(graze_proxy_id){9, 1}, &array, 1), GRAZE_ERROR_HANDLE, &log, "index 9");
  expect(graze_broadphase_move(bp, &(graze_proxy_id){0, 0}, &array, 1), GRAZE_ERROR_HANDLE, &log, "generation 0");
  expect(graze_broadphase_move_all(bp, &array, 2), GRAZE_ERROR_ARGUMENT, &log, "2 boxes for 2 proxies");
  assert_int_equal(graze_broadphase_update(bp, &e), GRAZE_OK);
  assert_int_equal(e.ended_count, 2);
  assert_int_equal(e.persist_count, 1);

  /* The index is given out again, under another generation. */
  graze_proxy_id again;
  assert_int_equal(graze_broadphase_add(bp, &array, 1, NULL, NULL, &again), GRAZE_OK);
  assert_int_equal(again.index, ids[1].index);
  assert_int_not_equal(again.generation, ids[1].generation);
  expect(graze_broadphase_set_layers_meet(bp, 3, 64, false), GRAZE_ERROR_ARGUMENT, &log, "layer 64");
  graze_broadphase_destroy(bp);

  graze_broadphase_def def = {0};
  expect(graze_broadphase_create(context, &def, &bp), GRAZE_ERROR_ARGUMENT, &log, "not initialised");
  def = graze_default_broadphase_def();
  def.method = GRAZE_BROAD_METHODS;
  expect(graze_broadphase_create(context, &def, &bp), GRAZE_ERROR_ARGUMENT, &log, "no broad phase has number");
  graze_context_destroy(context);
}

/* Indices removed and added again between updates, and boxes wide apart in memory. */
static void test_strides(void **state) {
  (void)state;
  struct {
    double other, box[6], more[2];
  } records[4] = {{.box = {0, 0, 0, 1, 1, 1}},
                  {.box = {1, 1, 1, 2, 2, 2}},
                  {.box = {5, 5, 5, 6, 6, 6}},
                  {.box = {2, 0, 0, 3, 1, 1}}};
  graze_context *context = test_context(1, NULL);
  graze_broadphase *bp = make(context, GRAZE_BROAD_AUTO, GRAZE_PAIRS_HASH);
  graze_box_array array = {records[0].box, sizeof records[0], GRAZE_DOUBLE};
  const graze_box_pair *pairs;
  uint64_t count;
  assert_int_equal(graze_broadphase_find(bp, &array, 4, false, &pairs, &count), GRAZE_OK);
  same_pairs("strided", pairs, count, (graze_box_pair[]){{0, 1}, {1, 3}}, 2);
  graze_broadphase_destroy(bp);
  graze_context_destroy(context);
}

/* Every refusal of memory is an error, leaves the pairs as they were, and the next update is right. */
static void test_memory(void **state) {
  (void)state;
  enum { N = 200 };
  static graze_box boxes[N];
  FOR_METHODS(method) {
    for (uint64_t fail_at = 1;; fail_at++) {
      test_allocator allocator = {0};
      graze_context_def def = graze_default_context_def();
      def.allocator = test_allocator_hooks(&allocator);
      def.threads = 1;
      graze_context *context;
      assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
      uint64_t random = 3, want_count, before = allocator.requests;
      boxes_make(BOXES_UNIFORM, &random, N, boxes);
      graze_broadphase_def bdef = graze_default_broadphase_def();
      bdef.method = method;
      graze_broadphase *bp = NULL;
      allocator.fail_at = before + fail_at;
      graze_status status = graze_broadphase_create(context, &bdef, &bp);
      graze_box_array array = {boxes, 0, GRAZE_DOUBLE};
      graze_broad_events e;
      if (status == GRAZE_OK) status = graze_broadphase_add(bp, &array, N, NULL, NULL, NULL);
      if (status == GRAZE_OK) status = graze_broadphase_update(bp, &e);
      for (int step = 0; step < 3 && status == GRAZE_OK; step++) {
        for (int i = 0; i < 20; i++) boxes[i].max[0] += 0.5;
        status = graze_broadphase_move_all(bp, &array, N);
        if (status == GRAZE_OK) status = graze_broadphase_update(bp, &e);
      }
      bool done = allocator.requests < allocator.fail_at;
      if (!done) assert_int_equal(status, GRAZE_ERROR_MEMORY);
      allocator.fail_at = 0;
      if (bp != NULL && graze_broadphase_count(bp) == N) {
        graze_box_pair *want = boxes_pairs(boxes, N, NULL, NULL, &want_count);
        const graze_box_pair *got;
        uint64_t got_count;
        assert_int_equal(graze_broadphase_move_all(bp, &array, N), GRAZE_OK);
        assert_int_equal(graze_broadphase_update(bp, &e), GRAZE_OK);
        assert_int_equal(graze_broadphase_pairs(bp, &got, &got_count), GRAZE_OK);
        same_pairs(name_of(method), got, got_count, want, want_count);
        free(want);
      }
      graze_broadphase_destroy(bp);
      graze_context_destroy(context);
      assert_int_equal(allocator.live_blocks, 0);
      assert_int_equal(allocator.misaligned, 0);
      if (done) break;
    }
  }
}

static char **wanted;
static int wanted_count;

static bool chosen(graze_broad_method method) {
  if (graze_broad_method_describe(method) == NULL) return false;
  for (int i = 0; i < wanted_count; i++) {
    if (strcmp(wanted[i], name_of(method)) == 0) return true;
  }
  return wanted_count == 0;
}

int main(int argc, char **argv) {
  wanted = argv + 1;
  wanted_count = argc - 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refusals),   cmocka_unit_test(test_bad_numbers), cmocka_unit_test(test_strides),
      cmocka_unit_test(test_find),       cmocka_unit_test(test_storms),      cmocka_unit_test(test_move_all),
      cmocka_unit_test(test_find_large), cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
