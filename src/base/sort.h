/* Sorting of 64-bit keys. */
#ifndef GRAZE_SRC_BASE_SORT_H
#define GRAZE_SRC_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorts `count` keys ascending; `scratch` holds `count` keys. Least-significant-digit radix sort in bytes that skips
 * digits in which all keys agree; insertion sort when short. O(count). */
void gz_sort_keys(uint64_t *keys, uint64_t *scratch, size_t count);

#endif
