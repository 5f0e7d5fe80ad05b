/* tool/mpi/patches.h: the boxes of ranks that are simulated, dealt out in their order or by place. */
#ifndef TOOL_MPI_PATCHES_H
#define TOOL_MPI_PATCHES_H

#include "mpi/boxes.h"
#include "mpi/making.h"

typedef enum patch_deal { DEAL_ORDER, DEAL_PLACE } patch_deal;

/* Puts boxes and ids into an order in which each rank's lie together, by halving the ranks and, across the axis on
 * which fewest of some boxes are cut, the boxes; lower corners with one coordinate stay together. Writes where the
 * boxes of each rank end. O(n log P). */
void patches_order(rank_boxes *boxes, uint32_t ranks, uint64_t *ends);

/* The patches of a wavy plane, which are rectangles of whole squares and made when they are asked for. */
typedef struct wave_patches {
  uint32_t ranks, along, across;
  float *boxes; /* room for those of any rank */
  uint64_t *ids;
} wave_patches;

wave_patches wave_patches_open(uint32_t count, uint32_t ranks);
void wave_patches_close(wave_patches *patches);

/* Valid until the next one is asked for. */
graze_mpi_boxes wave_patch(const wave_patches *patches, uint32_t rank);

#endif
