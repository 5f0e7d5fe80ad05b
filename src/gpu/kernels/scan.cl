/* Exclusive prefix sums by reduce, scan, apply: each of the groups sums a tile, one group scans these sums, then each
 * group scans its tile from there. No group waits for another, which OpenCL would not promise to end. Reads and writes
 * 12 bytes an element. (M. Harris, S. Sengupta, J. Owens, "Parallel prefix sum (scan) with CUDA", GPU Gems 3, 2007.) */

#define SCAN_EACH 8 /* elements of an item */
#define SCAN_TILE (256 * SCAN_EACH)

#include "group.h"
GROUP_SCAN(scan_group, u32)
GROUP_SCAN(scan_group64, u64)

/* Sums of tiles are of 64 bits, so that a sum of all that 32 bits do not hold is seen. */
KERNEL(256) scan_reduce(GLOBAL const u32 *RESTRICT in, GLOBAL u64 *RESTRICT sums, u32 count) {
  SHARED u64 part[256];
  u32 item = ITEM, base = GROUP * SCAN_TILE;
  u64 sum = 0;
  for (u32 k = 0; k < SCAN_EACH; k++) {
    u32 i = base + k * 256 + item;
    if (i < count) sum += in[i];
  }
  part[item] = sum;
  BARRIER;
  for (u32 most = 128; most > 0; most /= 2) {
    if (item < most) part[item] += part[item + most];
    BARRIER;
  }
  if (item == 0) sums[GROUP] = part[0];
}

/* One group. */
KERNEL(256) scan_top(GLOBAL u64 *RESTRICT sums, u32 count, GLOBAL u64 *RESTRICT total) {
  SHARED u64 part[256];
  u64 carry = 0;
  for (u32 base = 0; base < count; base += 256) {
    u32 i = base + ITEM;
    u64 before = scan_group64(part, i < count ? sums[i] : 0);
    if (i < count) sums[i] = carry + before;
    carry += part[255];
    BARRIER;
  }
  if (ITEM == 0) total[0] = carry;
}

/* out[count] gets the sum of all. `in` and `out` may be the same. */
KERNEL(256) scan_apply(GLOBAL const u32 *in, GLOBAL u32 *out, GLOBAL const u64 *RESTRICT sums, u32 count) {
  SHARED u32 tile[SCAN_TILE], part[256];
  u32 item = ITEM, base = GROUP * SCAN_TILE, own[SCAN_EACH], sum = 0;
  for (u32 k = 0; k < SCAN_EACH; k++) {
    u32 i = base + k * 256 + item;
    tile[k * 256 + item] = i < count ? in[i] : 0;
  }
  BARRIER;
  for (u32 k = 0; k < SCAN_EACH; k++) {
    own[k] = tile[item * SCAN_EACH + k];
    sum += own[k];
  }
  u32 before = (u32)sums[GROUP] + scan_group(part, sum);
  for (u32 k = 0; k < SCAN_EACH; k++) {
    tile[item * SCAN_EACH + k] = before;
    before += own[k];
  }
  BARRIER;
  for (u32 k = 0; k < SCAN_EACH; k++) {
    u32 i = base + k * 256 + item;
    if (i < count) out[i] = tile[k * 256 + item];
  }
  if (item == 255 && base + SCAN_TILE >= count) out[count] = before;
}

/* ---- what is made of sums -------------------------------------------------------------------------------------- */

/* Whether an element begins a run of equal keys. */
KERNEL(256) mark_runs(GLOBAL const u32 *RESTRICT keys, GLOBAL u32 *RESTRICT marks, u32 count) {
  u32 i = GROUP * 256 + ITEM;
  if (i < count) marks[i] = i == 0 || keys[i] != keys[i - 1];
}

/* Numbers of the marked elements, in order; `places` is the scan of `marks`. */
KERNEL(256) compact(GLOBAL const u32 *RESTRICT marks, GLOBAL const u32 *RESTRICT places, GLOBAL u32 *RESTRICT out,
                    u32 count) {
  u32 i = GROUP * 256 + ITEM;
  if (i < count && marks[i] != 0) out[places[i]] = i;
}
