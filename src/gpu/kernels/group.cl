/* The self-test of group scans: sums of numbers that the host chose. */

#include "group.h"
GROUP_SCAN(scan_group, u32)
GROUP_SCAN(scan_group64, u64)

/* Four results an item: the sum before it and that of its group, in 64 bits, then in 32. */
KERNEL(256) group_sums(GLOBAL const u64 *RESTRICT in, GLOBAL u64 *RESTRICT out) {
  SHARED u64 part64[256];
  SHARED u32 part[256];
  u32 i = GROUP * 256 + ITEM;
  out[4 * i] = scan_group64(part64, in[i]);
  out[4 * i + 1] = part64[255];
  out[4 * i + 2] = scan_group(part, (u32)in[i]);
  out[4 * i + 3] = part[255];
}
