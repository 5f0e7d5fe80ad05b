/* tool/mpi/patches.h: the boxes of ranks that are simulated, dealt out in their order or by place. */
#ifndef TOOL_MPI_PATCHES_H
#define TOOL_MPI_PATCHES_H

#include "mpi/boxes.h"
#include "mpi/making.h"

typedef enum patch_deal { DEAL_ORDER, DEAL_PLACE } patch_deal;

/* Rank r of P has boxes n r / P to n (r + 1) / P of an order, as when it reads a file. By place, the order is that of
 * halving: at each step the ranks, and along the axis on which their lower corners are furthest apart the boxes. Boxes
 * and ids are put into that order where they are. O(n log P). */
void patches_order(rank_boxes *boxes, uint32_t ranks);

/* The patches of a wavy plane, which are rectangles of whole squares and made when they are asked for. */
typedef struct wave_patches {
  uint32_t ranks, along, across;
  uint64_t total; /* boxes */
  float *boxes;
  uint64_t *ids;
  uint32_t capacity;
} wave_patches;

wave_patches wave_patches_open(uint32_t count, uint32_t ranks);
void wave_patches_close(wave_patches *patches);

/* For graze_mpi_predict_def; `user` are the patches. */
graze_mpi_boxes wave_patch(void *user, uint32_t rank);

#endif
