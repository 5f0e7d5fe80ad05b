/* The dynamic tree and the broad phase on it: the tree stays whole while leaves come and go, in any order and with
 * boxes that are all alike; updates in which few, many or all boxes leave their fat boxes tell the same events as the
 * pairs found from nothing. Looks behind the public headers, so it needs the static library. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "broad/tree/tree.h"
#include "families.h"
#include "support.h"

/* ---- the tree alone --------------------------------------------------------------------------------------------- */

enum { SLOTS = 600 };

static float boxes[SLOTS][6];

static const tree_node *node_at(const box_tree *tree, uint32_t x) {
  return (const tree_node *)tree->nodes.data + x;
}

/* Every leaf is reached once, bounds are the union of the children's, parents and numbers of leaves are right. */
static uint32_t check_part(const box_tree *tree, uint32_t x) {
  const tree_node *node = node_at(tree, x);
  if ((node->child & TREE_LEAF) != 0) {
    uint32_t slot = node->child & ~TREE_LEAF;
    assert_int_equal(((const uint32_t *)tree->leaf_of.data)[slot], x);
    assert_memory_equal(node->low, boxes[slot], sizeof node->low);
    assert_memory_equal(node->high, boxes[slot] + 3, sizeof node->high);
    return 1;
  }
  const tree_node *a = node_at(tree, node->child), *b = a + 1;
  assert_true(node->child % 2 == 0 && a->parent == x && b->parent == x);
  for (int k = 0; k < 3; k++) {
    assert_true(node->low[k] == fminf(a->low[k], b->low[k]) && node->high[k] == fmaxf(a->high[k], b->high[k]));
  }
  uint32_t leaves = check_part(tree, node->child) + check_part(tree, node->child + 1);
  assert_int_equal(((const tree_tally *)tree->tallies.data)[node->child / 2].leaves, leaves);
  return leaves;
}

static void check_query(const graze_context *context, box_tree *tree, const float box[6], buffer *hits) {
  bool hit[SLOTS] = {false};
  uint32_t count;
  assert_true(gz_tree_query(context, tree, box, hits, &count));
  for (uint32_t i = 0; i < count; i++) {
    uint32_t slot = ((const uint32_t *)hits->data)[i];
    assert_true(slot < SLOTS && !hit[slot]);
    hit[slot] = true;
  }
  for (uint32_t i = 0; i < SLOTS; i++) {
    bool meets = ((const uint32_t *)tree->leaf_of.data)[i] != TREE_NONE;
    for (int k = 0; k < 3; k++) meets = meets && boxes[i][k] <= box[3 + k] && boxes[i][3 + k] >= box[k];
    assert_true(meets == hit[i]);
  }
}

static void random_box(uint64_t *random, int kind, float box[6]) {
  for (int k = 0; k < 3; k++) {
    float low = kind == 0 ? 1 : kind == 1 ? (float)random_below(random, 4) : 20 * (float)random_signed(random);
    if (kind == 3) low = k == 0 ? (float)random_below(random, 1000) : 0; /* points on a line */
    box[k] = kind == 4 ? -INFINITY : low;
    box[3 + k] = kind == 4 ? INFINITY : kind == 3 ? low : low + (float)random_unit(random);
  }
}

static void test_tree_alone(void **state) {
  (void)state;
  graze_context *context = test_context(1, NULL);
  for (int kind = 0; kind < 5; kind++) {
    box_tree tree = {0};
    buffer hits = {0};
    uint64_t random = 5 + (uint64_t)kind;
    uint32_t live = 0, mended = 0;
    assert_true(gz_tree_reserve(context, &tree, SLOTS, 0));
    gz_tree_clear(&tree, SLOTS);
    for (int step = 0; step < 30000; step++) {
      uint32_t slot = random_below(&random, SLOTS);
      if (((const uint32_t *)tree.leaf_of.data)[slot] != TREE_NONE) {
        gz_tree_remove(&tree, slot);
        live--;
      } else if (step % 6000 < 4000 || random_below(&random, 4) == 0) { /* ebbs as well */
        random_box(&random, kind, boxes[slot]);
        assert_true(gz_tree_insert(context, &tree, slot, boxes[slot]));
        live++;
      }
      mended += tree.decayed != TREE_NONE;
      assert_true(gz_tree_mend(context, &tree));
      assert_int_equal(tree.leaves, live);
      if (step % 100 != 0 || live == 0) continue;
      float box[6];
      assert_int_equal(check_part(&tree, 0), live);
      random_box(&random, kind, box);
      check_query(context, &tree, box, &hits);
    }
    assert_true(mended > 10);
    gz_buffer_release(context, &hits);
    gz_tree_release(context, &tree);
  }
  graze_context_destroy(context);
}

/* ---- moving ----------------------------------------------------------------------------------------------------- */

typedef struct motion {
  const char *what;
  box_family family;
  uint32_t share; /* one of so many moves in a step */
  double speed;   /* in edges a step */
} motion;

static void shift(graze_box *box, uint64_t *random, double speed) {
  for (int k = 0; k < 3; k++) {
    double by = speed * (box->max[k] - box->min[k]) * random_signed(random);
    box->min[k] += by;
    box->max[k] += by;
  }
}

static void check_motion(const motion *m, bool floats) {
  enum { N = 1000, STEPS = 50 };
  static graze_box now[N];
  static float f[6 * N];
  graze_context *context = test_context(2, NULL);
  graze_broadphase *bp, *other;
  graze_broadphase_def def = graze_default_broadphase_def();
  def.method = GRAZE_BROAD_TREE;
  assert_int_equal(graze_broadphase_create(context, &def, &bp), GRAZE_OK);
  def.method = GRAZE_BROAD_BRUTE;
  assert_int_equal(graze_broadphase_create(context, &def, &other), GRAZE_OK);
  uint64_t random = 11, then_count = 0;
  graze_box_pair *then = NULL;
  boxes_make(m->family, &random, N, now);
  graze_box_array array = {floats ? (const void *)f : now, 0, floats ? GRAZE_FLOAT : GRAZE_DOUBLE};
  for (int step = 0; step < STEPS; step++) {
    graze_broad_events events;
    const graze_box_pair *pairs;
    uint64_t count;
    for (uint32_t i = 0; i < 6 * N; i++) f[i] = (float)(i % 6 < 3 ? now[i / 6].min[i % 3] : now[i / 6].max[i % 3]);
    assert_int_equal(
        step == 0 ? graze_broadphase_add(bp, &array, N, NULL, NULL, NULL) : graze_broadphase_move_all(bp, &array, N),
        GRAZE_OK);
    assert_int_equal(graze_broadphase_update(bp, &events), GRAZE_OK);
    assert_int_equal(graze_broadphase_find(other, &array, N, false, &pairs, &count), GRAZE_OK);
    boxes_check_events(m->what, &events, pairs, count, then, then_count);
    free(then);
    then = malloc((size_t)(count + 1) * sizeof *then);
    if (count > 0) memcpy(then, pairs, (size_t)count * sizeof *then);
    then_count = count;
    for (uint32_t i = 0; i < N; i++) {
      if (random_below(&random, m->share) == 0) shift(&now[i], &random, m->speed);
    }
  }
  free(then);
  graze_broadphase_destroy(bp);
  graze_broadphase_destroy(other);
  graze_context_destroy(context);
}

static void test_motions(void **state) {
  (void)state;
  static const motion motions[] = {
      {"all, a little", BOXES_UNIFORM, 1, 0.02},     {"all, far", BOXES_UNIFORM, 1, 2},
      {"few, a little", BOXES_UNIFORM, 100, 0.02},   {"few, far", BOXES_UNIFORM, 100, 2},
      {"half, a little", BOXES_DECADES, 2, 0.05},    {"few, one is a giant", BOXES_GIANT, 20, 0.5},
      {"few, in clusters", BOXES_CLUSTERS, 30, 0.3}, {"few, plates", BOXES_PLATES, 50, 0.1},
  };
  for (size_t i = 0; i < sizeof motions / sizeof *motions; i++) {
    check_motion(&motions[i], i % 2 != 0);
    if (test_long()) check_motion(&motions[i], i % 2 == 0);
  }
}

/* Within their fat boxes boxes may move for ever: a step asks for no memory. */
static void test_steady(void **state) {
  (void)state;
  enum { N = 500 };
  static graze_box now[N], moved[N];
  test_allocator allocator = {0};
  graze_context_def def = graze_default_context_def();
  def.allocator = test_allocator_hooks(&allocator);
  def.threads = 1;
  graze_context *context;
  graze_broadphase *bp;
  graze_broadphase_def bdef = graze_default_broadphase_def();
  graze_broad_events events;
  bdef.method = GRAZE_BROAD_TREE;
  assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
  assert_int_equal(graze_broadphase_create(context, &bdef, &bp), GRAZE_OK);
  uint64_t random = 4, before = 0;
  boxes_make(BOXES_UNIFORM, &random, N, now);
  assert_int_equal(graze_broadphase_add(bp, &(graze_box_array){now, 0, GRAZE_DOUBLE}, N, NULL, NULL, NULL), GRAZE_OK);
  for (int step = 0; step < 400; step++) {
    assert_int_equal(graze_broadphase_update(bp, &events), GRAZE_OK);
    if (step == 200) before = allocator.requests;
    memcpy(moved, now, sizeof now);
    for (uint32_t i = 0; i < N; i++) shift(&moved[i], &random, 0.01);
    assert_int_equal(graze_broadphase_move_all(bp, &(graze_box_array){moved, 0, GRAZE_DOUBLE}, N), GRAZE_OK);
  }
  assert_true(allocator.requests - before < 4); /* a list of events may still grow by chance */
  graze_broadphase_destroy(bp);
  graze_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_tree_alone), cmocka_unit_test(test_motions),
                                     cmocka_unit_test(test_steady)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
