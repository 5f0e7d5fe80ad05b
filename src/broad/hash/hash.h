/* A spatial hash: cells of a grid without end, of which only those that hold boxes take memory. The method `hash`, and
 * what the hierarchical grid (grid/hgrid.c) keeps for few edits. */
#ifndef GRAZE_SRC_BROAD_HASH_HASH_H
#define GRAZE_SRC_BROAD_HASH_HASH_H

#include "broad/broad.h"

enum { HASH_LEVELS = 288 }; /* floats have fewer powers of two */

/* Zero-initialised. */
typedef struct box_hash {
  buffer nodes;  /* of boxes, by place: after a build in the order of buckets */
  buffer places; /* by slot; HASH_NONE: none was given yet */
  buffer heads;  /* of each bucket: the place of its first box */
  bool valid;    /* holds the boxes of the last call */
  uint32_t slots, places_end;
  uint32_t built;  /* boxes when it was built */
  uint32_t boxes;  /* in cells */
  uint64_t edited; /* boxes since it was built */
  uint32_t mask;   /* of the number of buckets, a power of two */
  uint32_t level_count;
  uint16_t levels[HASH_LEVELS]; /* that were in use since it was built, ascending */
  uint32_t in_level[HASH_LEVELS];
  double finest;             /* edge of the cells of level 0 */
  double scale[HASH_LEVELS]; /* cells in a unit of length */
} box_hash;

/* As broad_method.step. Builds first when it is not valid. */
graze_status gz_box_hash_step(box_hash *h, const broad_view *view, const broad_edits *edits, pair_list *out);

/* Whether most boxes are others than those for which the cells were chosen. */
bool gz_box_hash_is_stale(const box_hash *h);

void gz_box_hash_release(const graze_context *context, box_hash *h);
size_t gz_box_hash_bytes(const box_hash *h);

#endif
