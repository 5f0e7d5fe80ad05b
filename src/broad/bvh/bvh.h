/* A hierarchy of boxes without pointers: boxes in the order of a Hilbert curve, 16 to a block, blocks of 16 blocks.
 *
 * Level 0 has the boxes themselves; lane i of block b of level k + 1 is the bound of block 16 b + i of level k. So a
 * place tells its children and its parent, nothing is stored for that, and a block is tested with a box in six SIMD
 * comparisons. I. Kamel and C. Faloutsos, "On packing R-trees", 1993. Memory: 30 bytes a box, and 16 while it is built.
 *
 * Boxes are floats: the caller's numbers, less an origin when they are doubles, turned to the nearest float. That is
 * monotone (see "Packed boxes" in broad.h), so what meets still meets, and strict comparisons are certain.
 */
#ifndef GRAZE_SRC_BROAD_BVH_BVH_H
#define GRAZE_SRC_BROAD_BVH_BVH_H

#include "base/cpu.h"
#include "broad/broad.h"

enum {
  BLOCK = 16,          /* lanes */
  HIERARCHY_LEVELS = 8 /* 16^8 = 2^32 boxes */
};

typedef struct box_block {
  float bound[6][BLOCK]; /* low x y z, high x y z; NaN, which meets nothing, in lanes that are not used */
} box_block;

/* Zero-initialised. */
typedef struct hierarchy {
  buffer blocks;                        /* of all levels */
  buffer slots;                         /* by place in level 0; padded to whole blocks */
  buffer keys;                          /* scratch of building: two arrays of them */
  buffer pieces;                        /* scratch */
  uint32_t count;                       /* boxes: slots that can be in a pair */
  uint32_t levels;                      /* the top one is a single block; 0 without boxes */
  uint32_t first[HIERARCHY_LEVELS + 1]; /* block at which a level begins */
  uint32_t number[HIERARCHY_LEVELS];    /* blocks of a level */
  double origin[3];                     /* taken off doubles before they become floats; 0 for floats */
} hierarchy;

static inline const box_block *hierarchy_block(const hierarchy *h, uint32_t level, uint32_t block) {
  return (const box_block *)h->blocks.data + h->first[level] + block;
}

/* Of one number of a box or a point. */
static inline float hierarchy_float(const hierarchy *h, double x, int axis) {
  return (float)(x - h->origin[axis]);
}

/* Of all slots that view_takes. O(n). False: no memory. */
bool gz_hierarchy_build(hierarchy *h, const broad_view *view);

/* Appends all pairs of the view the hierarchy was built from. `lists` are scratch. False: no memory. */
bool gz_hierarchy_pairs(const hierarchy *h, const broad_view *view, pair_lists *lists, pair_list *out);

void gz_hierarchy_release(const graze_context *context, hierarchy *h);
size_t gz_hierarchy_bytes(const hierarchy *h);

/* ---- kernels, compiled per instruction set (bvh_kernels.c) ------------------------------------------------------ */

/* Where Hilbert keys are counted from, and cells per length; `bits` an axis. */
typedef struct key_frame {
  float origin[3], scale;
  unsigned bits;
} key_frame;

/* Keys of the centres of 16 boxes along the Hilbert curve. */
typedef void hierarchy_keys_function(const key_frame *frame, const box_block *boxes, uint64_t keys[BLOCK]);
CPU_KERNELS(hierarchy_keys_function, gz_hierarchy_keys);

/* Lanes of a block that meet a box (low x y z, high x y z). */
typedef uint32_t hierarchy_meets_function(const box_block *block, const float box[6]);
CPU_KERNELS(hierarchy_meets_function, gz_hierarchy_meets);

/* Appends the pairs of the boxes below block `a` of `level` with themselves and with all that come later. */
typedef bool hierarchy_task_function(const hierarchy *h, const broad_view *view, uint32_t level, uint32_t a,
                                     pair_list *out);
CPU_KERNELS(hierarchy_task_function, gz_hierarchy_task);

#endif
