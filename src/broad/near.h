/* For each slot the slots that are near it: a list of pairs that is looked through again instead of searched again.
 *
 * L. Verlet, "Computer experiments on classical fluids", 1967. Each pair is in the lists of both its slots, with the
 * place of its other half, so that pairs come and go in constant time, whatever the lengths of the lists. One of the
 * two owns it, so that all pairs can be looked at once. An entry knows whether the boxes met when they were looked at
 * last. Memory: 16 bytes a pair and 24 a slot.
 */
#ifndef GRAZE_SRC_BROAD_NEAR_H
#define GRAZE_SRC_BROAD_NEAR_H

#include "broad/pairs.h"

#define NEAR_MET UINT32_C(0x80000000)

typedef struct near_entry {
  uint32_t partner; /* slot, and NEAR_MET */
  uint32_t place;   /* of the other half in the partner's list */
} near_entry;

/* One half of each pair is the owner's; a list has the entries that it owns first. */
typedef struct near_head {
  uint64_t start; /* in the array of entries */
  uint32_t own, count, room;
} near_head;

/* Zero-initialised. */
typedef struct near_lists {
  buffer heads; /* near_head by slot */
  buffer entries;
  uint64_t end; /* entries are below */
} near_lists;

static inline near_head *near_of(const near_lists *lists, uint32_t slot) {
  return (near_head *)lists->heads.data + slot;
}

static inline near_entry *near_entries(const near_lists *lists, const near_head *head) {
  return (near_entry *)lists->entries.data + head->start;
}

/* Lists of these pairs for slots below `slots`; those that meet have NEAR_MET in b. False: no memory. */
bool near_fill(const graze_context *context, near_lists *lists, const pair_list *pairs, uint32_t slots);

/* Empty lists for slots from `known` up. False: no memory. */
bool near_grow(const graze_context *context, near_lists *lists, uint32_t slots, uint32_t known);

/* Adds a pair that is not there; a owns it. False: no memory, and nothing has changed. */
bool near_link(const graze_context *context, near_lists *lists, uint32_t a, uint32_t b, bool met);

/* Takes out the pair at a place of a's list; entries that stand behind move up. */
void near_unlink(near_lists *lists, uint32_t a, uint32_t place);

/* Notes whether the pair at a place of a's list meets. */
void near_note(near_lists *lists, uint32_t a, uint32_t place, bool met);

/* Whether a and b are known to have met. */
bool near_met(const near_lists *lists, uint32_t a, uint32_t b);

void near_release(const graze_context *context, near_lists *lists);
size_t near_bytes(const near_lists *lists);

#endif
