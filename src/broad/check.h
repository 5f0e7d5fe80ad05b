/* Boxes that come in: the kernel that looks whether they are boxes. */
#ifndef GRAZE_SRC_BROAD_CHECK_H
#define GRAZE_SRC_BROAD_CHECK_H

#include "broad/broad.h"

/* How many boxes from the first on are good for certain: all, or fewer than 64 before the first bad one. */
uint32_t gz_good_boxes_scalar(const broad_view *view);
uint32_t gz_good_boxes_avx2(const broad_view *view);
uint32_t gz_good_boxes_avx512(const broad_view *view);

#endif
