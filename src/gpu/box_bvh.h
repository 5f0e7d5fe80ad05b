/* All pairs of boxes that meet, by a hierarchy on a device. */
#ifndef GRAZE_SRC_GPU_BOX_BVH_H
#define GRAZE_SRC_GPU_BOX_BVH_H

#include "gpu/boxes.h"
#include "gpu/lbvh.h"

/* Memory that is kept from call to call; zero-initialised. */
typedef struct gpu_box_bvh {
  gpu_lbvh tree;
  gpu_buffer rounded; /* floats around doubles */
} gpu_box_bvh;

/* As gz_gpu_boxes_find: the pairs go to b->list.result. */
graze_status gz_gpu_box_bvh_find(graze_gpu *gpu, gpu_box_bvh *f, gpu_boxes *b, const graze_box_array *boxes,
                                 uint32_t count, bool unsorted);

void gz_gpu_box_bvh_release(graze_gpu *gpu, gpu_box_bvh *f);

#endif
