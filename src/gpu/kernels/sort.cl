/* One pass of a stable radix sort by eight bits: count the digits of each tile, scan the counts digit by digit, then
 * write each tile in order. A tile is sorted in shared memory first, by four bits and four bits, so that elements of one
 * digit are written side by side. Every item counts for itself, in a column of its own, so nothing depends on the order
 * in which items run. Reads and writes 20 bytes a pair of 32 bits and 32 bits. KEY is u32 or u64.
 * (D. Merrill, A. Grimshaw, "High performance and scalable radix sorting", 2011; N. Satish, M. Harris, M. Garland,
 * "Designing efficient sorting algorithms for manycore GPUs", 2009.) */

#define SORT_EACH 8 /* elements of an item */
#define SORT_TILE (256 * SORT_EACH)

#include "group.h"
GROUP_SCAN(scan_group, u32)

/* counts[digit * GROUPS + tile] */
KERNEL(256) sort_count(GLOBAL const KEY *RESTRICT keys, GLOBAL u32 *RESTRICT counts, u32 count, u32 shift) {
  SHARED u32 histogram[256];
  u32 item = ITEM, base = GROUP * SORT_TILE;
  histogram[item] = 0;
  BARRIER;
  for (u32 k = 0; k < SORT_EACH; k++) {
    u32 i = base + k * 256 + item;
    if (i < count) ADD_SHARED(&histogram[(u32)(keys[i] >> shift) & 255], 1u);
  }
  BARRIER;
  counts[item * GROUPS + GROUP] = histogram[item];
}

KERNEL(256) sort_write(GLOBAL const KEY *RESTRICT keys, GLOBAL const u32 *RESTRICT values, GLOBAL KEY *RESTRICT keys_out,
                       GLOBAL u32 *RESTRICT values_out, GLOBAL const u32 *RESTRICT places, u32 count, u32 shift) {
  SHARED KEY tile_keys[SORT_TILE];
  SHARED u32 tile_values[SORT_TILE], sums[256], begins[256];
  SHARED u16 counters[16 * 256];
  KEY own_keys[SORT_EACH];
  u32 own_values[SORT_EACH], item = ITEM, base = GROUP * SORT_TILE;
  u32 filled = count - base < SORT_TILE ? count - base : SORT_TILE;
  for (u32 k = 0; k < SORT_EACH; k++) {
    u32 i = k * 256 + item;
    if (i < filled) {
      tile_keys[i] = keys[base + i];
      tile_values[i] = values[base + i];
    }
  }
  BARRIER;
  for (u32 nibble = 0; nibble < 8; nibble += 4) {
    /* Elements behind the end have the highest digit, and stay behind all others, as the sort is stable. */
    for (u32 d = 0; d < 16; d++) counters[d * 256 + item] = 0;
    for (u32 k = 0; k < SORT_EACH; k++) {
      u32 i = item * SORT_EACH + k;
      own_keys[k] = i < filled ? tile_keys[i] : 0;
      own_values[k] = i < filled ? tile_values[i] : 0;
      u32 digit = i < filled ? (u32)(own_keys[k] >> (shift + nibble)) & 15 : 15;
      counters[digit * 256 + item]++;
    }
    BARRIER;
    u32 sum = 0;
    for (u32 j = 0; j < 16; j++) sum += counters[item * 16 + j];
    sum = scan_group(sums, sum);
    for (u32 j = 0; j < 16; j++) {
      u32 here = counters[item * 16 + j];
      counters[item * 16 + j] = (u16)sum;
      sum += here;
    }
    BARRIER;
    for (u32 k = 0; k < SORT_EACH; k++) {
      u32 i = item * SORT_EACH + k;
      if (i >= filled) continue;
      u32 digit = (u32)(own_keys[k] >> (shift + nibble)) & 15;
      u32 place = counters[digit * 256 + item]++;
      tile_keys[place] = own_keys[k];
      tile_values[place] = own_values[k];
    }
    BARRIER;
  }
  for (u32 k = 0; k < SORT_EACH; k++) {
    u32 i = k * 256 + item;
    if (i >= filled) continue;
    u32 digit = (u32)(tile_keys[i] >> shift) & 255;
    if (i == 0 || ((u32)(tile_keys[i - 1] >> shift) & 255) != digit) begins[digit] = i;
  }
  BARRIER;
  for (u32 k = 0; k < SORT_EACH; k++) {
    u32 i = k * 256 + item;
    if (i >= filled) continue;
    u32 digit = (u32)(tile_keys[i] >> shift) & 255;
    u32 place = places[digit * GROUPS + GROUP] + i - begins[digit];
    keys_out[place] = tile_keys[i];
    values_out[place] = tile_values[i];
  }
}
