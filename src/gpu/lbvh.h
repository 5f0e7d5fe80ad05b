/* A bounding volume hierarchy over boxes on a device, for sizes of all kinds, and what is asked of it. Boxes are six
 * floats each, low corner and high corner, closed: those that touch meet. */
#ifndef GRAZE_SRC_GPU_LBVH_H
#define GRAZE_SRC_GPU_LBVH_H

#include "gpu/primitives.h"

/* Zero-initialised: of no boxes. Memory is kept from build to build. */
typedef struct gpu_lbvh {
  gpu_scratch scratch;
  uint32_t count;     /* boxes */
  gpu_buffer nodes;   /* kernels/tree.h; count - 1 of them, one for a single box. The root is the first */
  gpu_buffer numbers; /* u32: the boxes in the order of the leaves */
  gpu_buffer levels;  /* tree_box: the leaves, then their unions by 2, 4, 8, .. */
  gpu_buffer keys, bounds, frame, bad;
  gpu_buffer counts, places; /* of what is asked */
} gpu_lbvh;

/* Builds the tree of `count` boxes, at most 2^31, which are not needed any longer then. The same boxes give the same
 * tree. O(n log n) at worst, O(n) with a balanced one; about 150 bytes of memory a box. Errors: DEVICE, MEMORY;
 * ARGUMENT, unreported: a box that is not finite or has its low end above its high end. After an error there is no
 * tree. */
graze_status gz_gpu_lbvh_build(graze_gpu *gpu, gpu_lbvh *tree, const gpu_buffer *boxes, uint32_t count);

/* The same boxes somewhere else, as many as before, in the same tree: right always, good while neighbours stay
 * neighbours. Errors: as above. */
graze_status gz_gpu_lbvh_refit(graze_gpu *gpu, gpu_lbvh *tree, const gpu_buffer *boxes);

void gz_gpu_lbvh_release(graze_gpu *gpu, gpu_lbvh *tree);

/* What is asked of a tree: the pairs of its boxes with others, or among themselves. */
typedef struct gpu_lbvh_question {
  const gpu_buffer *boxes; /* the others; NULL: the tree's own boxes, each pair once */
  const gpu_buffer *order; /* u32: the numbers of the others in the order in which they are asked, best along a curve
                              such as the tree's; NULL: 0, 1, .. */
  uint32_t count;          /* of the others; of the tree's own all are asked */
  /* of the tree's own only: */
  const gpu_buffer *exact; /* six doubles for each box: they decide, the floats bound them. NULL: the floats decide */
  uint32_t pack;           /* a pair is a << pack | b, in 64 bits, a the lower number. 0: see below */
} gpu_lbvh_question;

/* How many queries a question has. */
uint32_t gz_gpu_lbvh_queries(const gpu_lbvh *tree, const gpu_lbvh_question *question);

/* Counts the pairs of the queries [begin, begin + some) and, when there are no more than `most`, writes them, making
 * room: two u32 each, the number of the tree's box and that of the other, or the lower and the higher number of its
 * own; sorted by query, and for each query as the tree goes. Of more than `most` none is written: ask for fewer queries
 * at a time. Errors: DEVICE, MEMORY. */
graze_status gz_gpu_lbvh_query(graze_gpu *gpu, gpu_lbvh *tree, const gpu_lbvh_question *question, uint32_t begin,
                               uint32_t some, uint64_t most, gpu_buffer *pairs, uint64_t *total);

/* The two halves of it, for tree and question of at least one box: numbers of pairs of the queries [begin, begin +
 * some), and the pairs, those of query begin + i from places[i] on, where places is the scan of the numbers. */
graze_status gz_gpu_lbvh_count(graze_gpu *gpu, const gpu_lbvh *tree, const gpu_lbvh_question *question, uint32_t begin,
                               uint32_t some, const gpu_buffer *counts);
graze_status gz_gpu_lbvh_write(graze_gpu *gpu, const gpu_lbvh *tree, const gpu_lbvh_question *question, uint32_t begin,
                               uint32_t some, const gpu_buffer *places, const gpu_buffer *pairs);

/* Takes the pairs of some queries, which stay on the device until it returns. */
typedef graze_status (*gpu_lbvh_take)(void *user, const gpu_buffer *pairs, uint32_t count);

/* All pairs of a question, in pieces of at most `most` pairs, below 2^31, or those of one query. */
graze_status gz_gpu_lbvh_each(graze_gpu *gpu, gpu_lbvh *tree, const gpu_lbvh_question *question, uint64_t most,
                              gpu_buffer *pairs, gpu_lbvh_take take, void *user);

#endif
