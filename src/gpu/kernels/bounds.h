/* Bounds of what the items of a group of 256 have seen. BOUND is the type of the numbers, u32 or u64: in their order,
 * as numbers.h makes them, those that are to become greatest as complements. */

/* The first item gets the least of the numbers of all, the others nothing of use; all items of the group call it. What
 * was in `part`, 256 numbers, is lost; it may be used again at once. */
FUNCTION BOUND group_least(SHARED_ARG BOUND *part, BOUND own) {
  u32 item = ITEM;
  part[item] = own;
  BARRIER;
  for (u32 most = 128; most > 0; most /= 2) {
    if (item < most && part[item + most] < part[item]) part[item] = part[item + most];
    BARRIER;
  }
  return part[item]; /* of its own place, which no other item writes to */
}

/* The first item writes the bounds of `count` numbers: three low ends, then greatest ones, which are complements in
 * `least` and no longer in `bounds`. All items of the group call it. */
FUNCTION void group_bounds(SHARED_ARG BOUND *part, GLOBAL BOUND *bounds, const BOUND *least, u32 count) {
  for (u32 k = 0; k < count; k++) {
    BOUND bound = group_least(part, least[k]);
    if (ITEM == 0) bounds[k] = k < 3 ? bound : ~bound;
  }
}
