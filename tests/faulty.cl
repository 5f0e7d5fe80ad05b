/* Kernels with faults, for tests/test_host_device.c: each does what a kernel must not. */

/* Half of the items do not reach the barrier. */
KERNEL(64) half_a_barrier(GLOBAL u32 *out) {
  if (ITEM % 2 == 0) {
    BARRIER;
  }
  out[ITEM] = GROUP;
}

/* All wait, but not at one barrier. */
KERNEL(64) two_barriers(GLOBAL u32 *out) {
  if (ITEM < 32) {
    BARRIER;
  } else {
    BARRIER;
  }
  out[ITEM] = GROUP;
}

/* Reads what the next item writes: a barrier is missing. */
KERNEL(64) race(GLOBAL u32 *out) {
  SHARED u32 part[64];
  part[ITEM] = ITEM;
  out[GROUP * 64 + ITEM] = part[(ITEM + 1) % 64];
}

/* Believes that shared memory begins with zeros. */
KERNEL(64) uncleared(GLOBAL u32 *out) {
  SHARED u32 part[64];
  part[ITEM] += ITEM;
  out[GROUP * 64 + ITEM] = part[ITEM];
}

/* The element at `place`: behind the end, for a number that is too large. */
KERNEL(64) stray(GLOBAL u32 *out, u32 place) {
  if (ITEM == 0) out[place] = 1;
}

FUNCTION void put_at(SHARED_ARG u32 *part, u32 place) {
  part[place] = ITEM;
}

KERNEL(64) stray_shared(GLOBAL u32 *out, u32 place) {
  SHARED u32 part[64];
  put_at(part, ITEM + place);
  BARRIER;
  out[ITEM] = part[63 - ITEM];
}
