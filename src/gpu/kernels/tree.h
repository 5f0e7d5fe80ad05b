/* What a bounding volume hierarchy consists of. Numbers of boxes are kept as whole numbers in the order of the floats,
 * so that what is compared is exact on every device, those that flush subnormal numbers included. */

#include "numbers.h"

/* Alignment lets a device read sixteen bytes at a time. */
#if defined(__CUDACC__)
#define ALIGNED(bytes) __align__(bytes)
#else
#define ALIGNED(bytes) __attribute__((aligned(bytes)))
#endif

typedef struct ALIGNED(8) tree_box {
  u32 low[3], high[3];
} tree_box;

/* Over the sorted boxes [first, last]: those up to `split` are below the left child, the others below the right one. A
 * child of one box is that leaf; else the left one is node `split`, the right one node split + 1. */
typedef struct ALIGNED(16) tree_node {
  tree_box left, right;
  u32 first, split, last, unused;
} tree_node;

ORDERED(ordered32, u32)

/* Box number i of an array of six floats each. */
FUNCTION void read_box(tree_box *box, GLOBAL const u32 *boxes, u32 i) {
  for (u32 k = 0; k < 3; k++) {
    box->low[k] = ordered32(boxes[6 * (u64)i + k]);
    box->high[k] = ordered32(boxes[6 * (u64)i + 3 + k]);
  }
}
