/* The hierarchical grid's side for few edits: a hash table of cells with their boxes in linked lists. */
#ifndef GRAZE_SRC_BROAD_HGRID_H
#define GRAZE_SRC_BROAD_HGRID_H

#include "broad/broad.h"

enum { HGRID_LIVE_LEVELS = 2176 }; /* as many as doubles have powers of two */

/* Zero-initialised. */
typedef struct hgrid_live {
  buffer node_memory, head_memory;
  bool valid;     /* holds the boxes of the last call */
  uint32_t nodes; /* slots */
  uint32_t boxes; /* in cells */
  uint32_t mask;  /* of the hash table */
  double finest;  /* half the edge of the cells of level 0 */
  uint32_t level_count;
  uint16_t levels[HGRID_LIVE_LEVELS]; /* that were in use since the start, ascending */
  uint32_t in_level[HGRID_LIVE_LEVELS];
} hgrid_live;

/* As broad_method.step. Builds the table first when it is not valid. */
graze_status gz_hgrid_live_step(hgrid_live *live, const broad_view *view, const broad_edits *edits, pair_list *out);
void gz_hgrid_live_release(const graze_context *context, hgrid_live *live);
size_t gz_hgrid_live_bytes(const hgrid_live *live);

#endif
