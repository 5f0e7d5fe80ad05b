/* Lists of pairs that a device finds: items of work count their pairs, the counts are scanned, the items write. What is
 * written has its room before; where it would not have, fewer items are asked at a time. No pair is ever cut off. */
#ifndef GRAZE_SRC_GPU_PAIRS_H
#define GRAZE_SRC_GPU_PAIRS_H

#include "base/clock.h"
#include "gpu/primitives.h"
#include "graze/broadphase.h"

/* Memory that is kept from call to call; zero-initialised. */
typedef struct gpu_pairs {
  gpu_buffer counts, places, packed, unused, pairs;
  buffer result;    /* graze_box_pair */
  buffer sort_room; /* keys, where pairs come in several pieces */
  uint64_t found;
  uint32_t pieces;                  /* that `result` was put together of */
  double upload, compute, download; /* seconds of a call */
} gpu_pairs;

/* Items that write pairs, each pair by one item. */
typedef struct gpu_pair_work {
  void *user;
  /* Puts the numbers of pairs of the items [begin, begin + some) into `counts`. */
  graze_status (*count)(graze_gpu *gpu, void *user, uint32_t begin, uint32_t some, const gpu_buffer *counts);
  /* Writes them: those of item begin + i from places[i] on. A pair is (first << pack | second) << flags, and a flag. */
  graze_status (*write)(graze_gpu *gpu, void *user, uint32_t begin, uint32_t some, const gpu_buffer *places,
                        const gpu_buffer *packed);
  /* Sees the pairs of a piece on the processor, before it is appended, and may take some out: returns how many are
   * left in front. NULL: all. */
  uint64_t (*keep)(void *user, graze_box_pair *pairs, uint64_t count);
  uint32_t items, most; /* items that are asked at a time */
  uint32_t pack;        /* bits of a number */
  uint32_t flags;       /* 1: a flag is below a packed pair, and comes back as the highest bit of its first number */
  bool unsorted;
} gpu_pair_work;

/* How many bits the numbers below `values` have. */
uint32_t gz_gpu_bits_for(uint64_t values);

/* Clears the list. */
void gz_gpu_pairs_begin(gpu_pairs *p);

/* Appends the pairs of all items. */
graze_status gz_gpu_pairs_find(graze_gpu *gpu, gpu_scratch *scratch, gpu_pairs *p, const gpu_pair_work *work);

/* Sorts the list if it was put together of several pieces. */
graze_status gz_gpu_pairs_end(graze_gpu *gpu, gpu_pairs *p, bool unsorted);

void gz_gpu_pairs_release(graze_gpu *gpu, gpu_pairs *p);

#endif
