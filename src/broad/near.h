/* For each slot the slots that are near it: a list of pairs that is looked through again instead of searched again.
 *
 * L. Verlet, "Computer experiments on classical fluids", 1967. Each pair is in the lists of both its slots, with the
 * place of its other half, so that pairs come and go in constant time, whatever the lengths of the lists. An entry
 * knows whether the boxes met when they were looked at last. Memory: 8 bytes an entry and 24 a slot.
 */
#ifndef GRAZE_SRC_BROAD_NEAR_H
#define GRAZE_SRC_BROAD_NEAR_H

#include "broad/pairs.h"

#define NEAR_MET UINT32_C(0x80000000)

typedef struct near_head {
  uint64_t start; /* in the arrays of entries */
  uint32_t count, room;
} near_head;

/* Zero-initialised. */
typedef struct near_lists {
  buffer heads;            /* near_head by slot */
  buffer partners, places; /* entries: slot and NEAR_MET; place of the other half in the partner's list */
  uint64_t end;            /* entries are below */
} near_lists;

static inline near_head *near_of(const near_lists *lists, uint32_t slot) {
  return (near_head *)lists->heads.data + slot;
}

static inline uint32_t *near_partners(const near_lists *lists, const near_head *head) {
  return (uint32_t *)lists->partners.data + head->start;
}

static inline uint32_t *near_places(const near_lists *lists, const near_head *head) {
  return (uint32_t *)lists->places.data + head->start;
}

/* Lists of these pairs for slots below `slots`; those that meet have NEAR_MET in b. False: no memory. */
bool near_fill(const graze_context *context, near_lists *lists, const pair_list *pairs, uint32_t slots);

/* Empty lists for slots from `known` up. False: no memory. */
bool near_grow(const graze_context *context, near_lists *lists, uint32_t slots, uint32_t known);

/* Adds a pair that is not there. False: no memory, and nothing has changed. */
bool near_link(const graze_context *context, near_lists *lists, uint32_t a, uint32_t b, bool met);

/* Takes out the pair at a place of a's list; the last entry takes the place. */
void near_unlink(near_lists *lists, uint32_t a, uint32_t place);

/* Notes whether the pair at a place of a's list meets. */
void near_note(near_lists *lists, uint32_t a, uint32_t place, bool met);

/* Whether a and b are known to have met. */
bool near_met(const near_lists *lists, uint32_t a, uint32_t b);

void near_release(const graze_context *context, near_lists *lists);
size_t near_bytes(const near_lists *lists);

#endif
