/* A hierarchy of boxes, built anew each time, against itself.
 *
 * Boxes are packed in the order of a Hilbert curve (bvh.h); then pairs of blocks whose bounds meet are descended from
 * the top, both at a time, and a box is compared with 16 others in six SIMD comparisons. Nothing is tuned to sizes or
 * density: it is the method for boxes of which nothing is known. Sources: bvh.h; simultaneous descent as in S.
 * Gottschalk, M. Lin and D. Manocha, "OBBTree", 1996. O(n) to build, O(n + k) to search when boxes are spread out,
 * O(n^2) at worst. Memory: 46 bytes a box besides the pairs.
 */
#include "broad/bvh.h"

typedef struct bvh_state {
  hierarchy h;
  pair_lists lists;
} bvh_state;

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  bvh_state *s = state;
  if (!gz_hierarchy_build(&s->h, view) || !gz_hierarchy_pairs(&s->h, view, &s->lists, out)) return GRAZE_ERROR_MEMORY;
  return GRAZE_OK;
}

static void release(const graze_context *context, void *state) {
  bvh_state *s = state;
  gz_hierarchy_release(context, &s->h);
  gz_pair_lists_release(context, &s->lists);
}

static size_t bytes(const void *state) {
  const bvh_state *s = state;
  size_t sum = gz_hierarchy_bytes(&s->h);
  for (int i = 0; i < PARALLEL_PIECES; i++) sum += s->lists.part[i].memory.bytes;
  return sum;
}

const broad_method gz_broad_bvh = {
    .info = {"bvh", "bounding volume hierarchy, rebuilt each time", "O(n + k), O(n^2) at worst", false},
    .state_bytes = sizeof(bvh_state),
    .find = find,
    .release = release,
    .bytes = bytes};
