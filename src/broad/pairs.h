/* Lists of pairs: collecting, sorting, comparing. And sets of pairs that change little by little. */
#ifndef GRAZE_SRC_BROAD_PAIRS_H
#define GRAZE_SRC_BROAD_PAIRS_H

#include "base/cpu.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "graze/broadphase.h"

/* Zero-initialised, grows, is kept from update to update. */
typedef struct pair_list {
  buffer memory;
  uint64_t count;
} pair_list;

static inline graze_box_pair *pair_list_data(const pair_list *list) {
  return list->memory.data;
}

/* By a, then by b. */
static inline uint64_t pair_order(graze_box_pair pair) {
  return (uint64_t)pair.a << 32 | pair.b;
}

static inline graze_box_pair pair_of(uint32_t x, uint32_t y) {
  return x < y ? (graze_box_pair){x, y} : (graze_box_pair){y, x};
}

/* Room for `more` pairs behind those that are there. False: no memory. */
static inline bool pair_list_room(const graze_context *context, pair_list *list, uint64_t more) {
  size_t bytes = (size_t)(list->count + more) * sizeof(graze_box_pair);
  return bytes <= list->memory.bytes ||
         gz_buffer_reserve(context, &list->memory, bytes, (size_t)list->count * sizeof(graze_box_pair));
}

/* Appends the pair of x and y, the lower one first. False: no memory. */
static inline bool pair_list_push(const graze_context *context, pair_list *list, uint32_t x, uint32_t y) {
  if (!pair_list_room(context, list, 1)) return false;
  pair_list_data(list)[list->count++] = pair_of(x, y);
  return true;
}

static inline uint64_t pairs_hash(const graze_box_pair *pairs, uint64_t count) {
  uint64_t hash = 0;
  for (uint64_t i = 0; i < count; i++) hash += hash_pair(pairs[i].a, pairs[i].b);
  return hash;
}

void gz_pair_list_release(const graze_context *context, pair_list *list);

/* Lists that tasks fill side by side, one each, and that become one. */
typedef struct pair_lists {
  pair_list part[PARALLEL_PIECES];
} pair_lists;

/* Appends parts 0 .. number - 1 to `out` in order and empties them. False: no memory. */
bool gz_pair_lists_join(const graze_context *context, pair_lists *lists, uint32_t number, pair_list *out);
void gz_pair_lists_release(const graze_context *context, pair_lists *lists);
size_t gz_pair_lists_bytes(const pair_lists *lists); /* that they take */

/* Sorts by (a, b); every a and b is below `limit`. `scratch` is working memory. O(count + limit). False: no memory. */
bool gz_pair_list_sort(const graze_context *context, pair_list *list, uint32_t limit, buffer *scratch);

/* The kernel of that: pairs up to ends[k] and from ends[k - 1] on have the same a, for k < width; sorts them by b. */
typedef void pairs_order_function(graze_box_pair *pairs, const uint32_t *ends, uint32_t width);
CPU_KERNELS(pairs_order_function, gz_pairs_order);

/* Compares two sorted lists without repetitions: what only `now` has, what both have, what only `then` has. The three
 * lists are overwritten. O(then + now). False: no memory. */
bool gz_pair_lists_compare(const graze_context *context, const pair_list *then, const pair_list *now, pair_list *began,
                           pair_list *persist, pair_list *ended);

/* out = (from without `gone`) and `come`, all sorted; `gone` are pairs of `from`, `come` are none of it. Long stretches
 * of `from` are copied whole. O(from) bytes moved; a decision for each stretch, and at most some 40 for each pair of
 * `gone` and `come`. False: no memory. */
bool gz_pair_list_edit(const graze_context *context, const pair_list *from, const pair_list *gone,
                       const pair_list *come, pair_list *out);

/* Appends the pairs of `from` with a marked slot to `out`, in order. False: no memory. */
bool gz_pair_list_marked(const graze_context *context, const pair_list *from, const uint8_t *marked, pair_list *out);

/* ---- pair managers ----------------------------------------------------------------------------------------------- */

/* A set of pairs that changes little by little, in three ways behind one interface (graze_pair_manager):
 *   hash    open addressing, robin hood, 64-bit keys, deletion by shifting back, hence no tombstones. 8 bytes a place,
 *           10 to 20 a pair. Constant time.
 *   sorted  for each slot an ascending list of the higher slots that it pairs with. 16 bytes a slot, 4 to 8 a pair.
 *           O(log + length) of a list.
 *   matrix  a bit for each pair of slots, in a triangle: n (n - 1) / 2 bits. Constant time; for some thousand slots.
 * What a manager says does not depend on its kind; the order in which it lists its pairs does. */
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
