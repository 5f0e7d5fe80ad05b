/* What the items of a group of 256 do together. */

/* Sums of the values of the items before this one; all items of the group call it. sums[255] is then the sum of all,
 * and what else is in `sums` means nothing. The caller puts a barrier before `sums` is used for something else. */
#if defined(SHUFFLE_UP)

/* Each 32 items scan without shared memory; the sums of the eight of them are added up by every item for itself.
 * (CUDA C++ Programming Guide, warp shuffle functions; M. Harris, M. Garland, "Optimizing parallel prefix operations
 * for the Fermi architecture", GPU Computing Gems, 2012.) */
#define GROUP_SCAN(name, type)                            \
  FUNCTION type name(SHARED_ARG type *sums, type value) { \
    u32 item = ITEM, lane = item % 32, warp = item / 32;  \
    type sum = value, before = 0, all = 0;                \
    for (u32 reach = 1; reach < 32; reach *= 2) {         \
      type other = (type)SHUFFLE_UP(sum, reach);          \
      if (lane >= reach) sum += other;                    \
    }                                                     \
    if (lane == 31) sums[warp] = sum;                     \
    BARRIER;                                              \
    for (u32 k = 0; k < 8; k++) {                         \
      if (k == warp) before = all;                        \
      all += sums[k];                                     \
    }                                                     \
    if (item == 255) sums[255] = all;                     \
    BARRIER;                                              \
    return before + sum - value;                          \
  }

#else

#define GROUP_SCAN(name, type)                              \
  FUNCTION type name(SHARED_ARG type *sums, type value) {   \
    u32 item = ITEM;                                        \
    sums[item] = value;                                     \
    BARRIER;                                                \
    for (u32 reach = 1; reach < 256; reach *= 2) {          \
      type before = item >= reach ? sums[item - reach] : 0; \
      BARRIER;                                              \
      sums[item] += before;                                 \
      BARRIER;                                              \
    }                                                       \
    return sums[item] - value;                              \
  }

#endif
