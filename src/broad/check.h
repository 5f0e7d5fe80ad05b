/* Boxes that come in: the kernel that looks whether they are boxes. */
#ifndef GRAZE_SRC_BROAD_CHECK_H
#define GRAZE_SRC_BROAD_CHECK_H

#include "base/cpu.h"
#include "broad/broad.h"

/* How many boxes from the first on are good for certain: all, or fewer than 64 before the first bad one. */
typedef uint32_t good_boxes_function(const broad_view *view);
CPU_KERNELS(good_boxes_function, gz_good_boxes);

#endif
