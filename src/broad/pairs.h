/* Lists of pairs: collecting, sorting, comparing. */
#ifndef GRAZE_SRC_BROAD_PAIRS_H
#define GRAZE_SRC_BROAD_PAIRS_H

#include "base/cpu.h"
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

void gz_pair_list_release(const graze_context *context, pair_list *list);

/* Lists that tasks fill side by side, one each, and that become one. */
typedef struct pair_lists {
  pair_list part[PARALLEL_PIECES];
} pair_lists;

/* Appends parts 0 .. number - 1 to `out` in order and empties them. False: no memory. */
bool gz_pair_lists_join(const graze_context *context, pair_lists *lists, uint32_t number, pair_list *out);
void gz_pair_lists_release(const graze_context *context, pair_lists *lists);

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
 * of `from` are copied whole. O(from) bytes moved, O((gone + come) log from) decisions. False: no memory. */
bool gz_pair_list_edit(const graze_context *context, const pair_list *from, const pair_list *gone,
                       const pair_list *come, pair_list *out);

/* Appends the pairs of `from` with a marked slot to `out`, in order. False: no memory. */
bool gz_pair_list_marked(const graze_context *context, const pair_list *from, const uint8_t *marked, pair_list *out);

#endif
