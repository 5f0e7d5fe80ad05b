/* All pairs of boxes that meet, by a grid in levels, sorted. A box is in the cell of its low corner, in the finest level
 * in which it reaches at most into the next cell on each axis: whether it does is asked of the function that finds the
 * cell, which is monotone, so that no rounding can lose a pair. Boxes that meet one are then in its cells or one below,
 * in its level; those of coarser levels are found from the finer box. A row of cells is a run of the sorted keys.
 *
 * Whether two boxes meet is decided on whole numbers in the order of the coordinates: exact on every device, those that
 * flush subnormal numbers included. KEY is u32 for floats and u64 for doubles, of which boxes are given as bits.
 * (S. Green, "Particle simulation using CUDA", 2010, for one level; levels: B. Mirtich, 1996.) */

#define LEVELS 16

#include "numbers.h"

#define BOUND KEY
#include "bounds.h"

#if defined(KEY64)
typedef double REAL;
#define REAL_OF(bits) AS_F64(bits)
#else
typedef float REAL;
#define REAL_OF(bits) AS_F32(bits)
#endif

/* As sorted: whole numbers, the box's own number, its level. */
typedef struct grid_box {
  KEY min[3], max[3];
  u32 number, level;
} grid_box;

/* The cell of a coordinate: monotone in x. `last` is the highest cell. */
FUNCTION u32 cell_of(REAL x, REAL low, REAL inverse, u32 last) {
  REAL c = (x - low) * inverse;
  if (!(c > 0)) return 0;
  return c < (REAL)last ? (u32)c : last;
}

FUNCTION u64 row_key(u32 level, u32 z, u32 y, u32 bits_y, u32 bits_z) {
  return ((((u64)level << bits_z) + z) << bits_y) + y;
}

/* Of each group's 4096 boxes: the corners of the box around them, ordered, and the first that is not finite or has its
 * low end above its high end, else 0xFFFFFFFF. */
KERNEL(256) box_bounds(GLOBAL const KEY *RESTRICT boxes, GLOBAL KEY *RESTRICT bounds, GLOBAL u32 *RESTRICT bad,
                       u32 count) {
  SHARED KEY part[256];
  KEY least[6]; /* high ends as complements */
  const KEY infinite = ordered(KEY_INFINITE);
  u32 item = ITEM, first = 0xFFFFFFFFu;
  for (u32 k = 0; k < 6; k++) least[k] = ~(KEY)0;
  for (u32 step = 0; step < 16; step++) {
    u32 i = GROUP * 4096 + step * 256 + item;
    if (i >= count) break;
    for (u32 k = 0; k < 3; k++) {
      KEY from = ordered(boxes[6 * (u64)i + k]), to = ordered(boxes[6 * (u64)i + 3 + k]);
      if ((from > to || to >= infinite || from <= ~infinite) && i < first) first = i;
      least[k] = from < least[k] ? from : least[k];
      least[k + 3] = ~to < least[k + 3] ? ~to : least[k + 3];
    }
  }
  group_bounds(part, bounds + 6 * (u64)GROUP, least, 6);
  first = (u32)group_least(part, first);
  if (item == 0) bad[GROUP] = first;
}

/* frame: low corner of all boxes, then the inverse edge of a cell of each level; that of the last one is 0. on_level: a
 * bit for each level that has boxes. */
KERNEL(256) box_keys(GLOBAL const KEY *RESTRICT boxes, GLOBAL const REAL *RESTRICT frame, GLOBAL u64 *RESTRICT keys,
                     GLOBAL u32 *RESTRICT values, GLOBAL u32 *RESTRICT on_level, u32 count, u32 bits_x, u32 bits_y,
                     u32 bits_z, u32 levels) {
  u32 i = GROUP * 256 + ITEM;
  if (i >= count) return;
  u32 last[3], level = 0;
  last[0] = (1u << bits_x) - 1;
  last[1] = (1u << bits_y) - 1;
  last[2] = (1u << bits_z) - 1;
  u32 low[3];
  for (;; level++) {
    u32 fits = 1;
    for (u32 k = 0; k < 3; k++) {
      low[k] = cell_of(REAL_OF(boxes[6 * (u64)i + k]), frame[k], frame[3 + level], last[k]);
      u32 high = cell_of(REAL_OF(boxes[6 * (u64)i + 3 + k]), frame[k], frame[3 + level], last[k]);
      if (high > low[k] + 1) fits = 0;
    }
    if (fits != 0 || level + 1 == levels) break;
  }
  keys[i] = (row_key(level, low[2], low[1], bits_y, bits_z) << bits_x) + low[0];
  values[i] = i;
  OR_GLOBAL(on_level, 1u << level);
}

KERNEL(256) box_gather(GLOBAL const KEY *RESTRICT boxes, GLOBAL const u64 *RESTRICT keys,
                       GLOBAL const u32 *RESTRICT values, GLOBAL grid_box *RESTRICT sorted, u32 count, u32 level_shift) {
  u32 i = GROUP * 256 + ITEM;
  if (i >= count) return;
  u32 number = values[i];
  for (u32 k = 0; k < 3; k++) {
    sorted[i].min[k] = ordered(boxes[6 * (u64)number + k]);
    sorted[i].max[k] = ordered(boxes[6 * (u64)number + 3 + k]);
  }
  sorted[i].number = number;
  sorted[i].level = (u32)(keys[i] >> level_shift);
}

#include "search.h"
LOWER_BOUND(lower_bound, u64)

/* Counts the pairs of the box at place i, and writes them from `place` on when `write` is not 0. */
FUNCTION u32 box_walk(GLOBAL const KEY *boxes, GLOBAL const REAL *frame, GLOBAL const u64 *keys,
                      GLOBAL const grid_box *sorted, GLOBAL u64 *out, u64 place, u32 write, u32 i, u32 count,
                      u32 levels_used, u32 bits_x, u32 bits_y, u32 bits_z, u32 pack) {
  grid_box a = sorted[i];
  u32 found = 0;
  for (u32 level = a.level; level < LEVELS; level++) {
    if ((levels_used >> level & 1) == 0) continue;
    u32 low[3], high[3], bits[3];
    bits[0] = bits_x;
    bits[1] = bits_y;
    bits[2] = bits_z;
    for (u32 k = 0; k < 3; k++) {
      u32 last = (1u << bits[k]) - 1;
      low[k] = cell_of(REAL_OF(boxes[6 * (u64)a.number + k]), frame[k], frame[3 + level], last);
      high[k] = cell_of(REAL_OF(boxes[6 * (u64)a.number + 3 + k]), frame[k], frame[3 + level], last);
      low[k] -= low[k] > 0;
    }
    for (u32 z = low[2]; z <= high[2]; z++) {
      for (u32 y = low[1]; y <= high[1]; y++) {
        u64 row = row_key(level, z, y, bits_y, bits_z) << bits_x;
        u32 j = lower_bound(keys, 0, count, row + low[0]);
        if (level == a.level && j <= i) { /* each pair of a level once: from the one that comes first */
          if (keys[i] > row + high[0]) continue;
          j = i + 1;
        }
        for (; j < count && keys[j] <= row + high[0]; j++) {
          grid_box b = sorted[j];
          if (a.min[0] > b.max[0] || b.min[0] > a.max[0] || a.min[1] > b.max[1] || b.min[1] > a.max[1] ||
              a.min[2] > b.max[2] || b.min[2] > a.max[2])
            continue;
          if (write != 0) {
            u32 first = a.number < b.number ? a.number : b.number, second = a.number < b.number ? b.number : a.number;
            out[place + found] = ((u64)first << pack) + second;
          }
          found++;
        }
      }
    }
  }
  return found;
}

/* Of the places [begin, begin + some). */
KERNEL(128) box_count(GLOBAL const KEY *RESTRICT boxes, GLOBAL const REAL *RESTRICT frame,
                      GLOBAL const u64 *RESTRICT keys, GLOBAL const grid_box *RESTRICT sorted,
                      GLOBAL u32 *RESTRICT counts, u32 begin, u32 some, u32 count, u32 levels_used, u32 bits_x,
                      u32 bits_y, u32 bits_z) {
  u32 i = GROUP * 128 + ITEM;
  if (i >= some) return;
  counts[i] = box_walk(boxes, frame, keys, sorted, 0, 0, 0, begin + i, count, levels_used, bits_x, bits_y, bits_z, 0);
}

/* places: the scan of counts. A pair is first << pack | second. */
KERNEL(128) box_write(GLOBAL const KEY *RESTRICT boxes, GLOBAL const REAL *RESTRICT frame,
                      GLOBAL const u64 *RESTRICT keys, GLOBAL const grid_box *RESTRICT sorted,
                      GLOBAL const u32 *RESTRICT places, GLOBAL u64 *RESTRICT out, u32 begin, u32 some, u32 count,
                      u32 levels_used, u32 bits_x, u32 bits_y, u32 bits_z, u32 pack) {
  u32 i = GROUP * 128 + ITEM;
  if (i >= some || places[i] == places[i + 1]) return;
  box_walk(boxes, frame, keys, sorted, out, places[i], 1, begin + i, count, levels_used, bits_x, bits_y, bits_z, pack);
}
