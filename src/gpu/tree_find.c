/* All pairs of boxes by a hierarchy on a device: each box asks the tree for those that come after it. Doubles are
 * rounded outward to floats for the tree; what meets there is decided on the doubles before it is counted. */
#include "gpu/tree_find.h"

enum { GROUP = 256 };

static const uint64_t MOST_PAIRS = 1u << 25; /* written together: some 32 bytes of memory each */

typedef struct taking {
  graze_gpu *gpu;
  gpu_boxes *b;
  gpu_pair_work work;
} taking;

static graze_status take(void *user, const gpu_buffer *pairs, uint32_t count) {
  taking *t = user;
  (void)pairs; /* they are in the list's `packed` */
  return gpu_pairs_take(t->gpu, &t->b->scratch, &t->b->list, &t->work, count);
}

/* Floats around the boxes: they themselves, or what doubles are rounded to. */
static graze_status bound_by_floats(graze_gpu *gpu, gpu_tree_finder *f, const gpu_boxes *b, uint32_t count) {
  graze_status status = gpu_reserve(gpu, &f->rounded, (size_t)count * 6 * sizeof(float));
  const gpu_argument arguments[] = {GPU_BUFFER(&b->boxes), GPU_BUFFER(&f->rounded), GPU_VALUE(count)};
  return status != GRAZE_OK ? status : gpu_run(gpu, "tree", "tree_round", gpu_groups(count, GROUP), arguments, 3);
}

graze_status gpu_tree_find(graze_gpu *gpu, gpu_tree_finder *f, gpu_boxes *b, const graze_box_array *boxes,
                           uint32_t count, bool unsorted) {
  uint32_t bits = gpu_bits_for(count);
  taking t = {.gpu = gpu, .b = b, .work = {.pack = bits > 0 ? bits : 1, .unsorted = unsorted}};
  bool single = boxes->precision == GRAZE_FLOAT;
  graze_status status = gpu_boxes_upload(gpu, b, boxes, count);
  if (status != GRAZE_OK || count == 0) return status;
  double start = gpu_seconds();
  if (!single) status = bound_by_floats(gpu, f, b, count);
  if (status == GRAZE_OK) status = gpu_tree_build(gpu, &f->tree, single ? &b->boxes : &f->rounded, count);
  const gpu_tree_question own = {.exact = single ? NULL : &b->boxes, .pack = t.work.pack};
  if (status == GRAZE_OK) status = gpu_tree_each(gpu, &f->tree, &own, MOST_PAIRS, &b->list.packed, take, &t);
  b->list.compute = gpu_seconds() - start - b->list.download;
  return status != GRAZE_OK ? status : gpu_pairs_end(gpu, &b->list, unsorted);
}

void gpu_tree_finder_release(graze_gpu *gpu, gpu_tree_finder *f) {
  gpu_tree_release(gpu, &f->tree);
  gpu_release(gpu, &f->rounded);
}
