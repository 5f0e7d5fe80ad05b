/* Verlet lists. The kernels, each against the plain one, and that against the definition. And worlds in which all boxes
 * creep while some jump, grow, come, go or change their layers: events as from the pairs found by looking at each, with
 * lists that are made anew, and patched, and neither. Looks behind the public headers, so it needs the static library.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "boxes.h"
#include "broad/verlet/verlet.h"
#include "families.h"
#include "support.h"

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

typedef struct kernels {
  const char *name;
  cpu_isa isa;
  verlet_pack_function *pack;
  verlet_meet_function *meet;
  verlet_search_function *search;
} kernels;

static const kernels all_kernels[] = {
    {"scalar", CPU_SCALAR, gz_verlet_pack_scalar, gz_verlet_meet_scalar, gz_verlet_search_scalar},
#if defined(__x86_64__)
    {"avx2", CPU_AVX2, gz_verlet_pack_avx2, gz_verlet_meet_avx2, gz_verlet_search_avx2},
    {"avx512", CPU_AVX512, gz_verlet_pack_avx512, gz_verlet_meet_avx512, gz_verlet_search_avx512},
#endif
};

enum { KERNELS = sizeof all_kernels / sizeof *all_kernels, N = 203, WORDS = (N * N + 63) / 64 };

typedef struct input {
  graze_box boxes[N];
  float floats[N][6];
  verlet_box fats[N];
  graze_box_pair pairs[WORDS * VERLET_WORD];
  broad_view view;
} input;

typedef struct output {
  verlet_box boxes[N];
  uint32_t left[N + 1], left_count, hits[N][N], hit_counts[N];
  uint64_t closed[WORDS], open[WORDS];
  bool rounded;
} output;

/* Every third slot is free. */
static void make_input(input *in, box_family kind, bool floats) {
  uint64_t random = test_seed(21 + (uint64_t)kind);
  memset(in, 0, sizeof *in);
  boxes_make(kind, &random, N, in->boxes);
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < 3; k++) {
      double *low = &in->boxes[i].min[k], *high = &in->boxes[i].max[k];
      in->floats[i][k] = (float)fmax(fmin(*low, 0x1p127), -0x1p127);
      in->floats[i][3 + k] = (float)fmax(fmin(*high, 0x1p127), -0x1p127);
      if (i % 3 != 0) continue;
      *low = in->floats[i][k] = INFINITY;
      *high = in->floats[i][3 + k] = -INFINITY;
    }
  }
  in->view = (broad_view){.data = floats ? (const char *)in->floats : (const char *)in->boxes,
                          .stride = floats ? sizeof in->floats[0] : sizeof in->boxes[0],
                          .precision = floats ? GRAZE_FLOAT : GRAZE_DOUBLE,
                          .count = N,
                          .holes = true};
  for (uint32_t i = 0; i < N * N; i++) in->pairs[i] = (graze_box_pair){i / N * VERLET_PLACES, i % N * VERLET_PLACES};
}

/* The fat boxes: those of the boxes, one number of every fourth a little too large. */
static void make_fats(input *in, const output *plain) {
  for (int i = 0; i < N; i++) {
    in->fats[i] = plain->boxes[i];
    float *number = &in->fats[i].n[i % 2 * 4 + i % 3];
    if (i % 4 == 0) *number = nextafterf(*number, INFINITY);
  }
}

static void run(const input *in, const kernels *k, output *out) {
  memset(out, 0, sizeof *out);
  out->left_count = k->pack(&in->view, NULL, N, in->fats, out->boxes, out->left, &out->rounded);
  k->meet(out->boxes, in->pairs, WORDS, out->closed, out->open);
  for (uint32_t i = 0; i < N; i++) out->hit_counts[i] = k->search(out->boxes, N, &out->boxes[i], out->hits[i]);
}

static bool same_boxes(const verlet_box *a, const verlet_box *b) {
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < 8; k++) {
      if (a[i].n[k] != b[i].n[k]) return false; /* -0 is 0 */
    }
  }
  return true;
}

static void check_same(const char *what, const kernels *k, const output *want, const output *got) {
  bool same = same_boxes(want->boxes, got->boxes) && want->rounded == got->rounded &&
              want->left_count == got->left_count &&
              memcmp(want->left, got->left, want->left_count * sizeof *want->left) == 0 &&
              memcmp(want->closed, got->closed, sizeof want->closed) == 0 &&
              memcmp(want->open, got->open, sizeof want->open) == 0;
  for (int i = 0; i < N && same; i++) {
    same = want->hit_counts[i] == got->hit_counts[i] &&
           memcmp(want->hits[i], got->hits[i], want->hit_counts[i] * sizeof(uint32_t)) == 0;
  }
  if (!same) fail_msg("%s, %s: not as without SIMD", what, k->name);
}

static bool is_set(const uint64_t *words, uint32_t i) {
  return (words[i / 64] >> i % 64 & 1) != 0;
}

/* The plain kernel: what meets is among `closed`, what is in `open` meets, and for floats `closed` is the answer. */
static void check_plain(const char *what, const input *in, const output *out) {
  for (uint32_t a = 0; a < N; a++) {
    uint32_t hit = 0;
    for (uint32_t b = 0; b < N; b++) {
      graze_box p = view_box(&in->view, a), q = view_box(&in->view, b);
      bool meet = p.min[0] <= p.max[0] && q.min[0] <= q.max[0] && graze_boxes_meet(&p, &q);
      bool closed = is_set(out->closed, a * N + b), open = is_set(out->open, a * N + b);
      if ((meet && !closed) || (open && !meet) || (!out->rounded && meet != closed))
        fail_msg("%s: boxes %u and %u", what, a, b);
      bool found = hit < out->hit_counts[a] && out->hits[a][hit] == b;
      if (found != closed) fail_msg("%s: box %u is not found near %u", what, b, a);
      hit += found;
    }
    assert_int_equal(hit, out->hit_counts[a]);
  }
  uint32_t left = 0;
  for (uint32_t i = 0; i < N; i++) {
    bool leaves = false;
    for (int k = 0; k < 8; k++) leaves |= !(in->fats[i].n[k] <= out->boxes[i].n[k]);
    if (leaves) assert_int_equal(out->left[left++], i);
  }
  assert_int_equal(left, out->left_count);
  assert_true(left > 0);
}

static void test_kernels(void **state) {
  (void)state;
  static input in;
  static output plain, got;
  for (int kind = 0; kind < BOXES_FAMILIES; kind++) {
    for (int floats = 0; floats < 2; floats++) {
      const char *what = box_family_name((box_family)kind);
      make_input(&in, (box_family)kind, floats != 0);
      run(&in, &all_kernels[0], &plain);
      make_fats(&in, &plain);
      run(&in, &all_kernels[0], &plain);
      check_plain(what, &in, &plain);
      assert_true(!floats || !plain.rounded);
      for (int k = 1; k < KERNELS; k++) {
        if (all_kernels[k].isa > gz_cpu_best()) continue;
        run(&in, &all_kernels[k], &got);
        check_same(what, &all_kernels[k], &plain, &got);
      }
    }
  }
}

/* Slots that are named, in any order, are packed; the others stay what they were. */
static void test_some(void **state) {
  (void)state;
  static input in;
  static output want, got;
  static const uint32_t slots[] = {200, 7, 8, 1, 100};
  enum { SOME = sizeof slots / sizeof *slots };
  make_input(&in, BOXES_UNIFORM, false);
  run(&in, &all_kernels[0], &want);
  for (int k = 0; k < KERNELS; k++) {
    if (all_kernels[k].isa > gz_cpu_best()) continue;
    memset(&got, 0, sizeof got);
    (void)all_kernels[k].pack(&in.view, slots, SOME, in.fats, got.boxes, got.left, &got.rounded);
    for (uint32_t i = 0; i < N; i++) {
      bool named = false;
      for (int j = 0; j < SOME; j++) named |= slots[j] == i;
      for (int j = 0; j < 8; j++) assert_true(got.boxes[i].n[j] == (named ? want.boxes[i].n[j] : 0));
    }
  }
}

/* ---- worlds ----------------------------------------------------------------------------------------------------- */

enum { MOST = 420, SLOTS = 1000 };

typedef struct world {
  graze_broadphase *bp;
  const char *what;
  box_family family;
  uint64_t random;
  double speed; /* in edges an update */
  bool floats;
  graze_proxy_id ids[MOST];
  uint32_t live, end;
  graze_box boxes[SLOTS];
  uint8_t layers[SLOTS];
  uint64_t meets[GRAZE_BROAD_LAYERS];
  graze_box_pair *pairs;
  uint64_t pair_count;
} world;

static const graze_box nowhere = {{1, 1, 1}, {0, 0, 0}};

/* As floats a box is what its numbers are rounded to, within their range. */
static graze_box box_in(const world *w, graze_box box) {
  for (int k = 0; k < 3 && w->floats; k++) {
    box.min[k] = (double)(float)fmax(fmin(box.min[k], 0x1p127), -0x1p127);
    box.max[k] = (double)(float)fmax(fmin(box.max[k], 0x1p127), -0x1p127);
  }
  return box;
}

static graze_status give(world *w, uint32_t count, const graze_box *boxes, const uint8_t *layers, graze_proxy_id *ids,
                         bool add) {
  static float floats[6 * MOST];
  for (uint32_t i = 0; i < 6 * count; i++)
    floats[i] = (float)(i % 6 < 3 ? boxes[i / 6].min[i % 3] : boxes[i / 6].max[i % 3]);
  graze_box_array array = {w->floats ? (const void *)floats : boxes, 0, w->floats ? GRAZE_FLOAT : GRAZE_DOUBLE};
  return add ? graze_broadphase_add(w->bp, &array, count, NULL, layers, ids)
             : graze_broadphase_move(w->bp, ids, &array, count);
}

static void world_add(world *w) {
  if (w->live == MOST) return;
  graze_box box = box_in(w, boxes_one(w->family, &w->random, 200));
  uint8_t layer = (uint8_t)random_below(&w->random, 3);
  graze_proxy_id id;
  assert_int_equal(give(w, 1, &box, &layer, &id, true), GRAZE_OK);
  assert_true(id.index < SLOTS);
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

static graze_box crept(world *w, graze_box box, double speed) {
  for (int k = 0; k < 3; k++) {
    double by = speed * (box.max[k] - box.min[k]) * random_signed(&w->random);
    if (!isfinite(box.min[k] + by) || !isfinite(box.max[k] + by)) continue;
    box.min[k] += by;
    box.max[k] += by;
  }
  return box;
}

/* All creep; of `odd`, one in so many jumps or grows. */
static void world_move(world *w, uint32_t odd) {
  static graze_box moved[MOST];
  for (uint32_t i = 0; i < w->live; i++) {
    graze_box box = w->boxes[w->ids[i].index];
    uint32_t what = random_below(&w->random, odd);
    if (what == 0) box = boxes_one(w->family, &w->random, 200);
    if (what == 1) box.max[i % 3] += 0.3 * fmin(box.max[i % 3] - box.min[i % 3], 1e300);
    moved[i] = w->boxes[w->ids[i].index] = box_in(w, crept(w, box, w->speed));
  }
  assert_int_equal(give(w, w->live, moved, NULL, w->ids, false), GRAZE_OK);
}

/* A number that is none is refused, and nothing has moved. */
static void world_refuse(world *w) {
  if (w->live == 0) return;
  graze_box bad = w->boxes[w->ids[0].index];
  bad.max[1] = NAN;
  assert_int_equal(give(w, 1, &bad, NULL, w->ids, false), GRAZE_ERROR_NOT_FINITE);
}

static void world_layers(world *w) {
  uint32_t a = random_below(&w->random, 3), b = random_below(&w->random, 3);
  bool meet = random_below(&w->random, 3) != 0;
  assert_int_equal(graze_broadphase_set_layers_meet(w->bp, a, b, meet), GRAZE_OK);
  w->meets[a] = meet ? w->meets[a] | UINT64_C(1) << b : w->meets[a] & ~(UINT64_C(1) << b);
  w->meets[b] = meet ? w->meets[b] | UINT64_C(1) << a : w->meets[b] & ~(UINT64_C(1) << a);
}

static void world_update(world *w) {
  graze_broad_events e;
  uint64_t count;
  assert_int_equal(graze_broadphase_update(w->bp, &e), GRAZE_OK);
  graze_box_pair *now = boxes_pairs(w->boxes, w->end, w->layers, w->meets, &count);
  boxes_check_events(w->what, &e, now, count, w->pairs, w->pair_count);
  free(w->pairs);
  w->pairs = now;
  w->pair_count = count;
}

static world *world_make(graze_context *context, box_family kind, double speed, bool floats) {
  world *w = calloc(1, sizeof *w);
  graze_broadphase_def def = graze_default_broadphase_def();
  def.method = GRAZE_BROAD_VERLET;
  w->what = box_family_name(kind);
  w->family = kind;
  w->random = test_seed(5 + (uint64_t)kind);
  w->speed = speed;
  w->floats = floats;
  for (int k = 0; k < GRAZE_BROAD_LAYERS; k++) w->meets[k] = UINT64_MAX;
  assert_int_equal(graze_broadphase_create(context, &def, &w->bp), GRAZE_OK);
  for (int i = 0; i < 400; i++) world_add(w);
  return w;
}

static void world_free(world *w) {
  graze_broadphase_destroy(w->bp);
  free(w->pairs);
  free(w);
}

/* Quiet times, times in which some do something else, and times in which most do. */
static void check_world(graze_context *context, box_family kind, double speed, bool floats, int updates) {
  static const uint32_t odd[] = {1000000, 1000000, 400, 100, 3};
  world *w = world_make(context, kind, speed, floats);
  for (int update = 0; update < updates; update++) {
    uint32_t times = (uint32_t)update / 6 % 5;
    for (uint32_t i = 0; i < times; i++) {
      world_add(w);
      world_remove(w);
    }
    world_move(w, odd[times]);
    if (times == 3) world_remove(w);
    if (times == 4) world_add(w);
    if (random_below(&w->random, 20) == 0) world_layers(w);
    if (random_below(&w->random, 10) == 0) world_refuse(w);
    world_update(w);
  }
  world_free(w);
}

static void test_worlds(void **state) {
  (void)state;
  graze_context *context = test_context(2, NULL);
  for (int kind = 0; kind < BOXES_FAMILIES; kind++) {
    const int updates = test_long() ? 600 : 42;
    check_world(context, (box_family)kind, 0.02, kind % 2 != 0, updates);
    check_world(context, (box_family)kind, 0.3, kind % 2 == 0, updates / 2);
  }
  graze_context_destroy(context);
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

enum { MANY = 30000 }; /* whose list is long enough for several threads */

static bool same_list(const graze_box_pair *a, uint64_t a_count, const graze_box_pair *b, uint64_t b_count) {
  return a_count == b_count && (a_count == 0 || memcmp(a, b, (size_t)a_count * sizeof *a) == 0);
}

/* The same bytes with one thread, with four, and as another method finds them. */
static void test_threads(void **state) {
  (void)state;
  static graze_box boxes[MANY];
  static const graze_broad_method methods[] = {GRAZE_BROAD_VERLET, GRAZE_BROAD_VERLET, GRAZE_BROAD_SWEEP};
  const graze_box_array array = {boxes, 0, GRAZE_DOUBLE};
  graze_context *contexts[3];
  graze_broadphase *phases[3];
  graze_broad_events e[3];
  uint64_t random = 31;
  boxes_make(BOXES_UNIFORM, &random, MANY, boxes);
  for (int k = 0; k < 3; k++) {
    graze_broadphase_def def = graze_default_broadphase_def();
    def.method = methods[k];
    contexts[k] = test_context(k == 1 ? 4 : 1, NULL);
    assert_int_equal(graze_broadphase_create(contexts[k], &def, &phases[k]), GRAZE_OK);
    assert_int_equal(graze_broadphase_add(phases[k], &array, MANY, NULL, NULL, NULL), GRAZE_OK);
  }
  for (int step = 0; step < 12; step++) {
    for (int k = 0; k < 3; k++) {
      assert_int_equal(graze_broadphase_move_all(phases[k], &array, MANY), GRAZE_OK);
      assert_int_equal(graze_broadphase_update(phases[k], &e[k]), GRAZE_OK);
      assert_true(same_list(e[0].began, e[0].began_count, e[k].began, e[k].began_count));
      assert_true(same_list(e[0].persist, e[0].persist_count, e[k].persist, e[k].persist_count));
      assert_true(same_list(e[0].ended, e[0].ended_count, e[k].ended, e[k].ended_count));
    }
    assert_true(e[0].began_count > 0);
    for (uint32_t i = 0; i < MANY; i++) boxes[i].min[i % 3] -= 0.02 * (boxes[i].max[i % 3] - boxes[i].min[i % 3]);
  }
  for (int k = 0; k < 3; k++) {
    graze_broadphase_destroy(phases[k]);
    graze_context_destroy(contexts[k]);
  }
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

/* Within their fat boxes boxes may move for ever, and lists are made in the memory of those before: nothing is asked
 * for. */
static void test_steady(void **state) {
  (void)state;
  static graze_box moved[MOST];
  test_allocator allocator = {0};
  graze_context_def def = graze_default_context_def();
  graze_context *context;
  graze_broad_events events;
  def.allocator = test_allocator_hooks(&allocator);
  def.threads = 1;
  assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
  world *w = world_make(context, BOXES_UNIFORM, 0, false);
  uint64_t before = 0;
  for (int step = 0; step < 400; step++) {
    assert_int_equal(graze_broadphase_update(w->bp, &events), GRAZE_OK);
    if (step == 200) before = allocator.requests;
    for (uint32_t i = 0; i < w->live; i++) moved[i] = crept(w, w->boxes[w->ids[i].index], 0.05);
    assert_int_equal(give(w, w->live, moved, NULL, w->ids, false), GRAZE_OK);
  }
  assert_true(allocator.requests - before < 4); /* a list of events may still grow by chance */
  world_free(w);
  graze_context_destroy(context);
}

/* All that updates ask for: quiet ones, with some boxes that jump, with all. */
static graze_status use(graze_context *context) {
  enum { BOXES = 60 };
  static graze_box boxes[BOXES];
  const graze_box_array array = {boxes, 0, GRAZE_DOUBLE};
  graze_broadphase_def def = graze_default_broadphase_def();
  graze_broadphase *bp;
  graze_broad_events events;
  uint64_t random = 9;
  def.method = GRAZE_BROAD_VERLET;
  boxes_make(BOXES_UNIFORM, &random, BOXES, boxes);
  graze_status status = graze_broadphase_create(context, &def, &bp);
  if (status != GRAZE_OK) return status;
  status = graze_broadphase_add(bp, &array, BOXES, NULL, NULL, NULL);
  for (int step = 0; step < 12 && status == GRAZE_OK; step++) {
    status = graze_broadphase_update(bp, &events);
    const uint32_t jump = step % 4 == 1 ? 3 : step % 4 == 3 ? BOXES : 0;
    for (uint32_t i = 0; i < jump; i++) boxes[(i + 7 * (uint32_t)step) % BOXES] = boxes_one(BOXES_UNIFORM, &random, 40);
    if (status == GRAZE_OK) status = graze_broadphase_move_all(bp, &array, BOXES);
  }
  graze_broadphase_destroy(bp);
  return status;
}

static void test_refused(void **state) {
  (void)state;
  test_refuse_each(use, 400);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels), cmocka_unit_test(test_some),
                                     cmocka_unit_test(test_worlds),  cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_steady),  cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
