/* Blocks of pairs against the scalar function, of every family and all mixed: what only hits count for as well, which
 * the public calls for triangles do not ask. Looks behind the public headers, so it needs the static library. */
#include <string.h>

#include "exact/tritri.h"
#include "exact/tritri_batch.h"
#include "families.h"
#include "support.h"

typedef struct blocks {
  uint64_t state, pairs, level, open[2];
} blocks;

static bool is_level(const tritri_block *block, unsigned i) {
  for (int axis = 0; axis < 3; axis++) {
    bool same = true;
    for (int c = 0; c < 9; c += 3)
      same = same && block->a[c + axis][i] == block->a[axis][i] && block->b[c + axis][i] == block->a[axis][i];
    if (same) return true;
  }
  return false;
}

/* Of family f, or of any. */
static void fill(blocks *t, int f, tritri_block *block, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    family_pair pair;
    families[f < family_count ? (uint32_t)f : random_below(&t->state, (uint32_t)family_count)].make(&t->state, &pair);
    for (int k = 0; k < 9; k++) {
      block->a[k][i] = pair.a[k];
      block->b[k][i] = pair.b[k];
    }
    t->level += is_level(block, i);
  }
  tritri_block_fill(block, count);
}

static void check(blocks *t, int f, const tritri_block *block, unsigned count, bool hits_only) {
  uint8_t codes[TRITRI_BLOCK];
  t->open[hits_only] += gz_tritri_block_best()(block, count, hits_only, codes);
  for (unsigned i = 0; i < count; i++) {
    double a[9], b[9];
    graze_tritri want, got = tritri_from_code(codes[i]);
    for (int k = 0; k < 9; k++) {
      a[k] = block->a[k][i];
      b[k] = block->b[k][i];
    }
    gz_tritri_scalar(a, b, &want);
    if (hits_only && want.kind == GRAZE_KIND_NONE) want = (graze_tritri){0, 0, 0};
    if (memcmp(&got, &want, sizeof got) == 0) continue;
    fail_msg("family %d, pair %u of %u: kind %d %d %d, not %d %d %d", f, i, count, got.kind, got.coplanar,
             got.degenerate, want.kind, want.coplanar, want.degenerate);
  }
}

static void test_blocks(void **unused) {
  (void)unused;
  blocks t = {.state = test_seed(7100)};
  for (int round = 0; round < (test_long() ? 4000 : 40); round++) {
    for (int f = 0; f <= family_count; f++) {
      tritri_block block;
      const unsigned count = 1 + random_below(&t.state, TRITRI_BLOCK);
      fill(&t, f, &block, count);
      check(&t, f, &block, count, false);
      check(&t, f, &block, count, true);
      t.pairs += count;
    }
  }
  print_message("%llu pairs, %llu of them level, instruction set %s\n", (unsigned long long)t.pairs,
                (unsigned long long)t.level, graze_instruction_set());
  assert_true(t.level > t.pairs / 50 && t.open[0] > t.pairs / 10 && t.open[1] > t.pairs / 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
