/* What the items of a group of 256 do together. */

/* Sums of the values of the items before this one; all items of the group call it. sums[255] is then the sum of all. */
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
