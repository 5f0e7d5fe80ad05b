/* All pairs of boxes that meet, by a hierarchy on a device. */
#ifndef GRAZE_SRC_GPU_TREE_FIND_H
#define GRAZE_SRC_GPU_TREE_FIND_H

#include "gpu/boxes.h"
#include "gpu/tree.h"

/* Memory that is kept from call to call; zero-initialised. */
typedef struct gpu_tree_finder {
  gpu_tree tree;
  gpu_buffer rounded; /* floats around doubles */
} gpu_tree_finder;

/* As gz_gpu_boxes_find: the pairs go to b->list.result. */
graze_status gz_gpu_tree_find(graze_gpu *gpu, gpu_tree_finder *f, gpu_boxes *b, const graze_box_array *boxes,
                              uint32_t count, bool unsorted);

void gz_gpu_tree_finder_release(graze_gpu *gpu, gpu_tree_finder *f);

#endif
