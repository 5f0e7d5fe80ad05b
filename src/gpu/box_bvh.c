/* All pairs of boxes by a hierarchy on a device: each box asks the tree for those that come after it. Doubles are
 * rounded outward to floats for the tree; what meets there is decided on the doubles before it is counted. */
#include "gpu/box_bvh.h"

enum { GROUP = 256, PIECE = 1 << 22 /* boxes whose pairs are counted together, at most */ };

typedef struct walk {
  const gpu_lbvh *tree;
  gpu_lbvh_question own;
} walk;

static graze_status count_pairs(graze_gpu *gpu, void *user, uint32_t begin, uint32_t some, const gpu_buffer *counts) {
  const walk *w = user;
  return gz_gpu_lbvh_count(gpu, w->tree, &w->own, begin, some, counts);
}

static graze_status write_pairs(graze_gpu *gpu, void *user, uint32_t begin, uint32_t some, const gpu_buffer *places,
                                const gpu_buffer *packed) {
  const walk *w = user;
  return gz_gpu_lbvh_write(gpu, w->tree, &w->own, begin, some, places, packed);
}

/* Floats around the boxes: they themselves, or what doubles are rounded to. */
static graze_status bound_by_floats(graze_gpu *gpu, gpu_box_bvh *f, const gpu_boxes *b, uint32_t count) {
  graze_status status = gz_gpu_reserve(gpu, &f->rounded, (size_t)count * 6 * sizeof(float));
  const gpu_argument arguments[] = {GPU_BUFFER(&b->boxes), GPU_BUFFER(&f->rounded), GPU_VALUE(count)};
  return status != GRAZE_OK ? status : gz_gpu_run(gpu, "tree", "tree_round", gpu_groups(count, GROUP), arguments, 3);
}

graze_status gz_gpu_box_bvh_find(graze_gpu *gpu, gpu_box_bvh *f, gpu_boxes *b, const graze_box_array *boxes,
                                 uint32_t count, bool unsorted) {
  double bounds[6];
  bool single = boxes->precision == GRAZE_FLOAT;
  gz_gpu_pairs_begin(&b->list);
  if (count == 0) return GRAZE_OK;
  graze_status status = gz_gpu_boxes_upload(gpu, b, boxes, count, bounds);
  double start = clock_now();
  if (status == GRAZE_OK && !single) status = bound_by_floats(gpu, f, b, count);
  if (status == GRAZE_OK) status = gz_gpu_lbvh_build(gpu, &f->tree, single ? &b->boxes : &f->rounded, count);
  b->list.compute += clock_now() - start;
  uint32_t bits = gz_gpu_bits_for(count), pack = bits > 0 ? bits : 1; /* 0 has a meaning of its own */
  walk w = {&f->tree, {.exact = single ? NULL : &b->boxes, .pack = pack}};
  const gpu_pair_work work = {.user = &w,
                              .count = count_pairs,
                              .write = write_pairs,
                              .items = count,
                              .most = PIECE,
                              .pack = pack,
                              .unsorted = unsorted};
  if (status == GRAZE_OK) status = gz_gpu_pairs_find(gpu, &b->scratch, &b->list, &work);
  return status != GRAZE_OK ? status : gz_gpu_pairs_end(gpu, &b->list, unsorted);
}

void gz_gpu_box_bvh_release(graze_gpu *gpu, gpu_box_bvh *f) {
  gz_gpu_lbvh_release(gpu, &f->tree);
  gz_gpu_release(gpu, &f->rounded);
}
