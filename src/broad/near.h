/* For each slot the slots that are near it: a list of pairs that is looked through again instead of searched again.
 *
 * L. Verlet, "Computer experiments on classical fluids", 1967. Each pair is in the lists of both its slots, with the
 * place of its other half, so that pairs come and go in constant time, whatever the lengths of the lists. One of the
 * two owns it, so that all pairs can be looked at once. An entry knows whether the boxes met when they were looked at
 * last. Memory: 16 bytes a pair and 32 a slot.
 */
#ifndef GRAZE_SRC_BROAD_NEAR_H
#define GRAZE_SRC_BROAD_NEAR_H

#include "broad/pairs.h"

#define NEAR_MET UINT32_C(0x80000000)

typedef struct near_entry {
  uint32_t partner; /* slot, and NEAR_MET */
  uint32_t place;   /* of the other half in the partner's list */
} near_entry;

typedef struct near_head {
  uint64_t start; /* in the array of entries */
  uint32_t count, room;
} near_head;

/* One half of each pair is in the list of what a slot owns, the other in the list of what its partner does not own. */
typedef enum near_side { NEAR_OWN = 0, NEAR_OTHER = 1 } near_side;

/* Zero-initialised. */
typedef struct near_lists {
  buffer heads[2]; /* by side: near_head by slot */
  buffer entries[2];
  uint64_t end[2]; /* entries are below */
} near_lists;

static inline near_head *near_of(const near_lists *lists, near_side side, uint32_t slot) {
  return (near_head *)lists->heads[side].data + slot;
}

static inline near_entry *near_entries(const near_lists *lists, near_side side, uint32_t slot) {
  return (near_entry *)lists->entries[side].data + near_of(lists, side, slot)->start;
}

/* Lists of these pairs for slots below `slots`; those that meet have NEAR_MET in b. False: no memory. */
bool gz_near_fill(const graze_context *context, near_lists *lists, const pair_list *pairs, uint32_t slots);

/* Empty lists for slots from `known` up. False: no memory. */
bool gz_near_grow(const graze_context *context, near_lists *lists, uint32_t slots, uint32_t known);

/* Adds a pair that is not there; a owns it. False: no memory, and nothing has changed. */
bool gz_near_link(const graze_context *context, near_lists *lists, uint32_t a, uint32_t b, bool met);

/* Takes out the pair at a place of a list of a's; the last entry takes the place. */
void gz_near_unlink(near_lists *lists, near_side side, uint32_t a, uint32_t place);

/* Notes whether the pair at a place of a list of a's meets. */
void gz_near_note(near_lists *lists, near_side side, uint32_t a, uint32_t place, bool met);

void gz_near_release(const graze_context *context, near_lists *lists);
size_t gz_near_bytes(const near_lists *lists);

#endif
