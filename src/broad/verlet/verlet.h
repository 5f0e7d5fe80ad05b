/* What the kernels of the Verlet lists (verlet.c) work on.
 *
 * A box is eight floats, two registers of four: min x y z and 0, -max x y z and 0. So a box lies in a fat one when no
 * number is below that of the fat one, and it meets another when none is above the limits of that, which are its halves
 * exchanged and with other signs: max x y z and 0, -min x y z and 0. Either takes one comparison of eight lanes.
 * Numbers that are no floats are turned to the nearest one (see "Packed boxes" in broad.h). A free slot has +inf in all
 * six, and meets nothing.
 */
#ifndef GRAZE_SRC_BROAD_VERLET_VERLET_H
#define GRAZE_SRC_BROAD_VERLET_VERLET_H

#include "base/cpu.h"
#include "broad/broad.h"

enum {
  VERLET_WORD = 64,      /* pairs of which a word tells whether they meet */
  VERLET_PLACES = 4,     /* slots in lists are multiplied by this: then an address takes no shift */
  VERLET_SLOTS = 1 << 30 /* at most */
};

typedef struct verlet_box {
  float n[8];
} verlet_box;

/* Writes the boxes of these slots, `slots` NULL: of the first `count`. Those that do not lie in their fat boxes are
 * appended to `left`, which has room for count + 1. Returns their number. `rounded` is set when a number was. */
typedef uint32_t verlet_pack_function(const broad_view *view, const uint32_t *slots, uint32_t count,
                                      const verlet_box *fats, verlet_box *boxes, uint32_t *left, bool *rounded);
CPU_KERNELS(verlet_pack_function, gz_verlet_pack);

/* A bit for each of VERLET_WORD * words pairs of places: whether it meets as floats. And, with `open` not NULL, whether
 * it does with no two numbers equal, so that it meets for certain. */
typedef void verlet_meet_function(const verlet_box *boxes, const graze_box_pair *pairs, uint64_t words,
                                  uint64_t *closed, uint64_t *open);
CPU_KERNELS(verlet_meet_function, gz_verlet_meet);

/* Writes the indices below `count` of boxes that meet this one, ascending, into `hits`, which has room for `count`.
 * Returns their number. */
typedef uint32_t verlet_search_function(const verlet_box *boxes, uint32_t count, const verlet_box *box, uint32_t *hits);
CPU_KERNELS(verlet_search_function, gz_verlet_search);

#endif
