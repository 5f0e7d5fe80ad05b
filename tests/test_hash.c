/* The spatial hash under edits that change what its cells were chosen for: sizes, places far beyond the first, and
 * worlds without an edge. Its pairs after each update must be those of a method that knows no cells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "support.h"

enum { MOST = 6000 };

typedef struct world {
  graze_broadphase *hash, *other;
  graze_proxy_id ids[MOST], other_ids[MOST];
  graze_box boxes[MOST];
  uint32_t count;
  uint64_t random;
} world;

static graze_broadphase *make(graze_context *context, graze_broad_method method) {
  graze_broadphase_def def = graze_default_broadphase_def();
  graze_broadphase *bp = NULL;
  def.method = method;
  assert_int_equal(graze_broadphase_create(context, &def, &bp), GRAZE_OK);
  return bp;
}

static graze_box cube(uint64_t *random, double reach, double edge) {
  graze_box box;
  for (int k = 0; k < 3; k++) {
    box.min[k] = reach * random_signed(random);
    box.max[k] = box.min[k] + edge;
  }
  return box;
}

static void add(world *w, graze_box box) {
  graze_box_array array = {&box, 0, GRAZE_DOUBLE};
  assert_true(w->count < MOST);
  assert_int_equal(graze_broadphase_add(w->hash, &array, 1, NULL, NULL, &w->ids[w->count]), GRAZE_OK);
  assert_int_equal(graze_broadphase_add(w->other, &array, 1, NULL, NULL, &w->other_ids[w->count]), GRAZE_OK);
  w->boxes[w->count++] = box;
}

static void move(world *w, uint32_t i, graze_box box) {
  graze_box_array array = {&box, 0, GRAZE_DOUBLE};
  assert_int_equal(graze_broadphase_move(w->hash, &w->ids[i], &array, 1), GRAZE_OK);
  assert_int_equal(graze_broadphase_move(w->other, &w->other_ids[i], &array, 1), GRAZE_OK);
  w->boxes[i] = box;
}

static uint64_t update(world *w) {
  graze_broad_events mine, theirs;
  const graze_box_pair *a, *b;
  uint64_t a_count, b_count;
  assert_int_equal(graze_broadphase_update(w->hash, &mine), GRAZE_OK);
  assert_int_equal(graze_broadphase_update(w->other, &theirs), GRAZE_OK);
  assert_int_equal(graze_broadphase_pairs(w->hash, &a, &a_count), GRAZE_OK);
  assert_int_equal(graze_broadphase_pairs(w->other, &b, &b_count), GRAZE_OK);
  assert_int_equal(a_count, b_count);
  assert_memory_equal(a, b, (size_t)a_count * sizeof *a);
  assert_int_equal(mine.began_count, theirs.began_count);
  assert_int_equal(mine.ended_count, theirs.ended_count);
  return a_count;
}

static world *world_make(graze_context *context, uint64_t seed) {
  world *w = calloc(1, sizeof *w);
  w->hash = make(context, GRAZE_BROAD_HASH);
  w->other = make(context, GRAZE_BROAD_KDTREE);
  w->random = seed;
  return w;
}

static void world_free(world *w) {
  graze_broadphase_destroy(w->hash);
  graze_broadphase_destroy(w->other);
  free(w);
}

/* Cells are chosen for a few large boxes; then dust comes, a fifth more at a time, so that the cells are kept at first;
 * then the dust grows. */
static void test_sizes_change(void **state) {
  (void)state;
  graze_context *context = test_context(2, NULL);
  world *w = world_make(context, 1);
  uint64_t pairs = 0;
  for (int i = 0; i < 60; i++) add(w, cube(&w->random, 300, 100));
  update(w);
  while (w->count < 3000) {
    for (uint32_t more = w->count / 5; more > 0; more--) add(w, cube(&w->random, 300, 1));
    pairs += update(w);
  }
  assert_true(pairs > 1000);
  for (double edge = 1; edge < 1000; edge *= 8) {
    for (uint32_t i = 0; i < w->count / 4; i++) {
      move(w, random_below(&w->random, w->count), cube(&w->random, 300, edge * random_unit(&w->random)));
    }
    update(w);
  }
  world_free(w);
  graze_context_destroy(context);
}

/* A few boxes grow over everything and shrink again, farther out each time: past what the coarsest cells hold. */
static void test_giants_come_and_go(void **state) {
  (void)state;
  graze_context *context = test_context(2, NULL);
  world *w = world_make(context, 2);
  for (int i = 0; i < 2000; i++) add(w, cube(&w->random, 10, 1));
  for (double reach = 10; reach < 1e300; reach *= 1e12) {
    uint64_t many, few;
    for (int i = 0; i < 30; i++) {
      double r = reach * random_unit(&w->random);
      move(w, random_below(&w->random, 40), (graze_box){{-r, -r, -r}, {r, r, r}});
    }
    many = update(w);
    for (uint32_t i = 0; i < 40; i++) move(w, i, cube(&w->random, 10, 1));
    few = update(w);
    assert_true(few < many);
  }
  world_free(w);
  graze_context_destroy(context);
}

/* Clusters at places of any size, both signs, that jump: cell numbers from 0 to beyond 64 bits. */
static void test_no_edge(void **state) {
  (void)state;
  graze_context *context = test_context(2, NULL);
  world *w = world_make(context, 3);
  for (int i = 0; i < 1500; i++) add(w, cube(&w->random, 5, 1));
  update(w);
  for (int round = 0; round < 40; round++) {
    double far[3];
    for (int k = 0; k < 3; k++) far[k] = random_signed(&w->random) * pow(10, random_below(&w->random, 30));
    uint32_t first = random_below(&w->random, 1400);
    for (uint32_t i = first; i < first + 100; i++) {
      graze_box box = cube(&w->random, 2, 1);
      for (int k = 0; k < 3; k++) {
        box.min[k] += far[k];
        box.max[k] += far[k];
      }
      move(w, i, box);
    }
    assert_true(update(w) > 500);
  }
  world_free(w);
  graze_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes_change), cmocka_unit_test(test_giants_come_and_go),
                                     cmocka_unit_test(test_no_edge)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
