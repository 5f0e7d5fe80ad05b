/* The hierarchy on a device: keys along a curve, a sort, nodes that are found one by one, then their boxes. The kernels
 * say how.
 *
 * Bytes that a build moves for each box: its bounds 24, its key 36, the sort 8 times 34, its node 20, leaves and levels
 * 76, boxes of nodes 108: 540 in all. A million boxes take 48 launches, of which the sort has 40. A refit is the last
 * two: 184 bytes in 4 launches. (T. Karras, 2012; see kernels/tree.cl.) */
#include "gpu/lbvh.h"

#include "gpu/bounds.h"

enum {
  GROUP = 256,
  WALK_GROUP = 128,
  KEY_BITS = 63,
  NODE_BYTES = 64,
  BOX_BYTES = 24,
  PIECE = 1 << 22 /* queries whose pairs are counted together, at most */
};

void gz_gpu_lbvh_release(graze_gpu *gpu, gpu_lbvh *t) {
  gpu_buffer *all[] = {&t->nodes, &t->numbers, &t->levels, &t->keys,  &t->bounds,
                       &t->frame, &t->bad,     &t->counts, &t->places};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) gz_gpu_release(gpu, all[i]);
  gz_gpu_scratch_release(gpu, &t->scratch);
  t->count = 0;
}

/* ---- build ----------------------------------------------------------------------------------------------------- */

/* Nodes: a single box has one, with an empty child. */
static uint32_t node_count(uint32_t boxes) {
  return boxes > 1 ? boxes - 1 : boxes;
}

static graze_status sort_by_key(graze_gpu *gpu, gpu_lbvh *t, const gpu_buffer *boxes) {
  uint32_t n = t->count, tiles = gpu_groups(n, GPU_BOUNDS_TILE), groups = gpu_groups(n, GROUP);
  graze_status status = gz_gpu_reserve(gpu, &t->bounds, 6 * (size_t)tiles * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &t->bad, (size_t)tiles * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &t->frame, 6 * sizeof(float));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &t->keys, n * sizeof(uint64_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &t->numbers, n * sizeof(uint32_t));
  const gpu_argument bounds[] = {GPU_BUFFER(boxes), GPU_BUFFER(&t->bounds), GPU_BUFFER(&t->bad), GPU_VALUE(n)},
                     frame[] = {GPU_BUFFER(&t->bounds), GPU_BUFFER(&t->frame), GPU_VALUE(tiles)},
                     keys[] = {GPU_BUFFER(boxes), GPU_BUFFER(&t->frame), GPU_BUFFER(&t->keys), GPU_BUFFER(&t->numbers),
                               GPU_VALUE(n)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, "boxes32", "box_bounds", tiles, bounds, 4);
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, "tree", "tree_frame", 1, frame, 3);
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, "tree", "tree_keys", groups, keys, 5);
  if (status != GRAZE_OK) return status;
  return gz_gpu_sort(gpu, &t->scratch, &t->keys, &t->numbers, n, sizeof(uint64_t), KEY_BITS);
}

static graze_status split_nodes(graze_gpu *gpu, gpu_lbvh *t) {
  uint32_t nodes = node_count(t->count);
  graze_status status = gz_gpu_reserve(gpu, &t->nodes, (size_t)nodes * NODE_BYTES);
  const gpu_argument arguments[] = {GPU_BUFFER(&t->keys), GPU_BUFFER(&t->nodes), GPU_VALUE(t->count)};
  return status != GRAZE_OK ? status : gz_gpu_run(gpu, "tree", "tree_split", gpu_groups(nodes, GROUP), arguments, 3);
}

/* ---- boxes of nodes -------------------------------------------------------------------------------------------- */

/* The level above one of so many boxes. */
static uint32_t above(uint32_t count) {
  return count / 2 + count % 2;
}

static size_t boxes_of_levels(uint32_t count) {
  size_t boxes = count;
  for (; count > 1; boxes += count) count = above(count);
  return boxes;
}

/* Leaves and levels; eight of them at a time. */
static graze_status unite(graze_gpu *gpu, gpu_lbvh *t, const gpu_buffer *boxes) {
  const uint32_t none = UINT32_MAX;
  uint32_t count = t->count;
  uint64_t offset = 0;
  graze_status status = gz_gpu_reserve(gpu, &t->levels, boxes_of_levels(count) * BOX_BYTES);
  if (status == GRAZE_OK) status = gz_gpu_write(gpu, &t->bad, 0, &none, sizeof none);
  const gpu_argument leaves[] = {GPU_BUFFER(boxes), GPU_BUFFER(&t->numbers), GPU_BUFFER(&t->levels),
                                 GPU_BUFFER(&t->bad), GPU_VALUE(count)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, "tree", "tree_leaves", gpu_groups(count, GROUP), leaves, 5);
  while (count > GROUP && status == GRAZE_OK) {
    for (int i = 0; i < 8; i++) {
      offset += count;
      count = above(count);
    }
    const gpu_argument levels[] = {GPU_BUFFER(&t->levels), GPU_VALUE(offset), GPU_VALUE(count)};
    status = gz_gpu_run(gpu, "tree", "tree_levels", gpu_groups(count, GROUP), levels, 3);
  }
  return status;
}

static graze_status fit(graze_gpu *gpu, gpu_lbvh *t, const gpu_buffer *boxes) {
  uint32_t bad = UINT32_MAX, groups = gpu_groups(node_count(t->count), GROUP);
  graze_status status = unite(gpu, t, boxes);
  const gpu_argument nodes[] = {GPU_BUFFER(&t->levels), GPU_BUFFER(&t->nodes), GPU_VALUE(t->count)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, "tree", "tree_fit", groups, nodes, 3);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, &bad, &t->bad, 0, sizeof bad);
  if (status == GRAZE_OK && bad != UINT32_MAX) status = GRAZE_ERROR_ARGUMENT;
  if (status != GRAZE_OK) t->count = 0;
  return status;
}

graze_status gz_gpu_lbvh_build(graze_gpu *gpu, gpu_lbvh *t, const gpu_buffer *boxes, uint32_t count) {
  t->count = count;
  if (count == 0) return GRAZE_OK;
  graze_status status = sort_by_key(gpu, t, boxes);
  if (status == GRAZE_OK) status = split_nodes(gpu, t);
  if (status == GRAZE_OK) return fit(gpu, t, boxes);
  t->count = 0;
  return status;
}

graze_status gz_gpu_lbvh_refit(graze_gpu *gpu, gpu_lbvh *t, const gpu_buffer *boxes) {
  return t->count > 0 ? fit(gpu, t, boxes) : GRAZE_OK;
}

/* ---- questions ------------------------------------------------------------------------------------------------- */

uint32_t gz_gpu_lbvh_queries(const gpu_lbvh *t, const gpu_lbvh_question *q) {
  return q->boxes != NULL ? q->count : t->count;
}

/* Where a buffer is missing another one stands, which is not looked at. */
graze_status gz_gpu_lbvh_count(graze_gpu *gpu, const gpu_lbvh *t, const gpu_lbvh_question *q, uint32_t begin,
                               uint32_t some, const gpu_buffer *counts) {
  uint32_t decide = q->exact != NULL, ordered = q->order != NULL, groups = gpu_groups(some, WALK_GROUP);
  const gpu_argument own[] = {GPU_BUFFER(&t->nodes),   GPU_BUFFER(&t->levels),
                              GPU_BUFFER(&t->numbers), GPU_BUFFER(q->exact != NULL ? q->exact : &t->levels),
                              GPU_VALUE(decide),       GPU_BUFFER(counts),
                              GPU_VALUE(begin),        GPU_VALUE(some)},
                     other[] = {GPU_BUFFER(&t->nodes),
                                GPU_BUFFER(q->boxes),
                                GPU_BUFFER(q->order != NULL ? q->order : &t->numbers),
                                GPU_VALUE(ordered),
                                GPU_BUFFER(counts),
                                GPU_VALUE(begin),
                                GPU_VALUE(some)};
  return q->boxes != NULL ? gz_gpu_run(gpu, "treewalk", "other_count", groups, other, 7)
                          : gz_gpu_run(gpu, "treewalk", "own_count", groups, own, 8);
}

/* The two u32 of a pair are the halves of a number of 64 bits, the first of them the lower one. */
graze_status gz_gpu_lbvh_write(graze_gpu *gpu, const gpu_lbvh *t, const gpu_lbvh_question *q, uint32_t begin,
                               uint32_t some, const gpu_buffer *places, const gpu_buffer *pairs) {
  uint32_t decide = q->exact != NULL, ordered = q->order != NULL, groups = gpu_groups(some, WALK_GROUP);
  uint32_t shift_a = q->pack, shift_b = q->pack > 0 ? 0 : 32;
  const gpu_argument
      own[] = {GPU_BUFFER(&t->nodes),   GPU_BUFFER(&t->levels),
               GPU_BUFFER(&t->numbers), GPU_BUFFER(q->exact != NULL ? q->exact : &t->levels),
               GPU_VALUE(decide),       GPU_BUFFER(places),
               GPU_BUFFER(pairs),       GPU_VALUE(begin),
               GPU_VALUE(some),         GPU_VALUE(shift_a),
               GPU_VALUE(shift_b)},
      other[] = {GPU_BUFFER(&t->nodes), GPU_BUFFER(q->boxes),    GPU_BUFFER(q->order != NULL ? q->order : &t->numbers),
                 GPU_VALUE(ordered),    GPU_BUFFER(&t->numbers), GPU_BUFFER(places),
                 GPU_BUFFER(pairs),     GPU_VALUE(begin),        GPU_VALUE(some)};
  return q->boxes != NULL ? gz_gpu_run(gpu, "treewalk", "other_write", groups, other, 9)
                          : gz_gpu_run(gpu, "treewalk", "own_write", groups, own, 11);
}

graze_status gz_gpu_lbvh_query(graze_gpu *gpu, gpu_lbvh *t, const gpu_lbvh_question *q, uint32_t begin, uint32_t some,
                               uint64_t most, gpu_buffer *pairs, uint64_t *total) {
  *total = 0;
  if (t->count == 0 || some == 0) return GRAZE_OK;
  graze_status status = gz_gpu_reserve(gpu, &t->counts, some * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &t->places, (some + (size_t)1) * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_lbvh_count(gpu, t, q, begin, some, &t->counts);
  if (status == GRAZE_OK) status = gz_gpu_scan(gpu, &t->scratch, &t->counts, &t->places, some);
  if (status == GRAZE_OK) status = gz_gpu_scan_total(gpu, &t->scratch, total);
  if (status != GRAZE_OK || *total == 0 || *total > most) return status;
  status = gz_gpu_reserve(gpu, pairs, *total * 2 * sizeof(uint32_t));
  return status != GRAZE_OK ? status : gz_gpu_lbvh_write(gpu, t, q, begin, some, &t->places, pairs);
}

/* Pieces are cut to what the last ones gave, so that few of them are counted twice. The limit is raised for one query
 * whose pairs are more: it is met with each box once at most, so that 32 bits hold their number. */
graze_status gz_gpu_lbvh_each(graze_gpu *gpu, gpu_lbvh *t, const gpu_lbvh_question *q, uint64_t most, gpu_buffer *pairs,
                              gpu_lbvh_take take, void *user) {
  uint32_t count = gz_gpu_lbvh_queries(t, q), some = PIECE;
  for (uint32_t begin = 0; begin < count;) {
    uint64_t total;
    if (some > count - begin) some = count - begin;
    graze_status status = gz_gpu_lbvh_query(gpu, t, q, begin, some, some > 1 ? most : UINT32_MAX, pairs, &total);
    if (status == GRAZE_OK && total > most && some > 1) {
      some /= 2;
      continue;
    }
    if (status == GRAZE_OK && total > 0) status = take(user, pairs, (uint32_t)total);
    if (status != GRAZE_OK) return status;
    begin += some;
    if (total < most / 4 && some < PIECE) some *= 2;
  }
  return GRAZE_OK;
}
