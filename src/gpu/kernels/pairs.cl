/* Pairs as they are handed out, from pairs as they are sorted: one number of 64 bits each. */

/* Two numbers of 32 bits from one that was packed; the flag below it, if there is one, goes to the top of the first. */
KERNEL(256) pair_unpack(GLOBAL const u64 *RESTRICT packed, GLOBAL u32 *RESTRICT pairs, u32 count, u32 pack, u32 flags) {
  u32 i = GROUP * 256 + ITEM;
  if (i >= count) return;
  u64 pair = packed[i] >> flags;
  pairs[2 * (u64)i] = (u32)(pair >> pack) | (u32)(packed[i] & flags) << 31;
  pairs[2 * (u64)i + 1] = (u32)(pair & (((u64)1 << pack) - 1));
}
