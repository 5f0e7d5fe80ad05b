/* A set of pairs that changes little by little, in three ways behind one interface (graze_pair_manager):
 *   hash    open addressing, robin hood, 64-bit keys, deletion by shifting back, hence no tombstones. 8 bytes a place,
 *           10 to 20 a pair. Constant time.
 *   sorted  for each slot an ascending list of the higher slots that it pairs with. 16 bytes a slot, 4 to 8 a pair.
 *           O(log + length) of a list.
 *   matrix  a bit for each pair of slots, in a triangle: n (n - 1) / 2 bits. Constant time; for some thousand slots.
 * What a manager says does not depend on its kind; the order in which it lists its pairs does. */
#ifndef GRAZE_SRC_BROAD_PAIR_MANAGER_H
#define GRAZE_SRC_BROAD_PAIR_MANAGER_H

#include "broad/pairs.h"

enum { PAIR_LIST_SIZES = 32 }; /* of sorted lists: powers of two */

typedef struct pair_manager { /* zero-initialised; reset before use */
  graze_pair_manager kind;
  uint32_t slots; /* every slot is below */
  uint64_t count; /* of pairs */
  buffer table;   /* hash: keys. Sorted: a record each slot. Matrix: words */
  unsigned shift; /* hash: 64 - bits of the number of places */
  buffer numbers; /* sorted: what the lists hold */
  uint64_t numbers_used;
  uint64_t free[PAIR_LIST_SIZES]; /* sorted: lists that were given back, by size; place + 1, 0 = none */
} pair_manager;

/* Makes it empty, of this kind, for slots below `slots` and with room for some pairs. False: no memory. */
bool gz_pair_manager_reset(const graze_context *context, pair_manager *m, graze_pair_manager kind, uint32_t slots,
                           uint64_t pairs);

/* Allows more slots. False: no memory. */
bool gz_pair_manager_grow(const graze_context *context, pair_manager *m, uint32_t slots);

/* `fresh` tells whether it was not there. False: no memory, and nothing has changed. */
bool gz_pair_manager_add(const graze_context *context, pair_manager *m, graze_box_pair pair, bool *fresh);

/* Whether it was there. */
bool gz_pair_manager_remove(pair_manager *m, graze_box_pair pair);
bool gz_pair_manager_has(const pair_manager *m, graze_box_pair pair);

/* Appends all pairs, in any order. False: no memory. */
bool gz_pair_manager_list(const graze_context *context, const pair_manager *m, pair_list *out);

/* Removes the pairs with a slot whose mark is `mark` and appends them. False: no memory, and nothing has changed. */
bool gz_pair_manager_drop(const graze_context *context, pair_manager *m, const uint8_t *marks, uint8_t mark,
                          pair_list *out);

void gz_pair_manager_release(const graze_context *context, pair_manager *m);
size_t gz_pair_manager_bytes(const pair_manager *m);

#endif
