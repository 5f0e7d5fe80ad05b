/* A linear bounding volume hierarchy: boxes are sorted along the Morton curve by their centres; the inner nodes are the
 * common prefixes of the keys, and each finds the boxes below it by itself.
 *
 * The usual way to the boxes of inner nodes climbs from the leaves, where the second of two children to arrive goes on:
 * one group hands memory to another, of which OpenCL 1.2 says nothing. Here the sorted boxes get levels of unions first,
 * of 2, 4, 8, .. neighbours. A node is over a run of boxes, which consists of a few pieces of these levels, two of a
 * level at most; in a balanced tree that is O(1) pieces a node on average, O(log n) in any.
 * (T. Karras, "Maximizing parallelism in the construction of BVHs, octrees, and k-d trees", 2012.) */

#include "tree.h"

#define BOUND u32
#include "bounds.h"

#define AXIS_LAST 2097151 /* 21 bits an axis */

/* ---- keys ------------------------------------------------------------------------------------------------------ */

/* The bits of a number that `ordered32` made a whole number of. */
FUNCTION u32 bits_of(u32 ordered) {
  return (ordered & 0x80000000u) != 0 ? ordered & 0x7FFFFFFFu : ~ordered;
}

/* The box around the boxes that box_bounds found, to the bits of six floats. One group. */
KERNEL(256) tree_frame(GLOBAL const u32 *RESTRICT bounds, GLOBAL u32 *RESTRICT frame, u32 count) {
  SHARED u32 part[256];
  u32 least[6]; /* high ends as complements */
  for (u32 k = 0; k < 6; k++) least[k] = 0xFFFFFFFFu;
  for (u32 i = ITEM; i < count; i += 256) {
    for (u32 k = 0; k < 6; k++) {
      u32 x = k < 3 ? bounds[6 * i + k] : ~bounds[6 * i + k];
      least[k] = x < least[k] ? x : least[k];
    }
  }
  group_bounds(part, frame, least, 6);
  for (u32 k = 0; k < 6 && ITEM == 0; k++) frame[k] = bits_of(frame[k]);
}

/* Two zero bits before each of 21. */
FUNCTION u64 spread(u32 bits) {
  u64 x = bits;
  x = (x | x << 32) & 0x001F00000000FFFFu;
  x = (x | x << 16) & 0x001F0000FF0000FFu;
  x = (x | x << 8) & 0x100F00F00F00F00Fu;
  x = (x | x << 4) & 0x10C30C30C30C30C3u;
  return (x | x << 2) & 0x1249249249249249u;
}

/* frame: six floats. Cells are cubes: thin worlds are cut along their long sides first. Where the centre falls decides
 * how good the tree is, not what it finds; halves and quarters keep sums within the range of floats. */
KERNEL(256) tree_keys(GLOBAL const float *RESTRICT boxes, GLOBAL const float *RESTRICT frame, GLOBAL u64 *RESTRICT keys,
                      GLOBAL u32 *RESTRICT numbers, u32 count) {
  u32 i = GROUP * 256 + ITEM;
  if (i >= count) return;
  float reach = 0;
  for (u32 k = 0; k < 3; k++) {
    float extent = 0.5f * frame[k + 3] - 0.5f * frame[k];
    reach = extent > reach ? extent : reach;
  }
  u64 key = 0;
  for (u32 k = 0; k < 3; k++) {
    float centre = (0.25f * boxes[6 * (u64)i + k] + 0.25f * boxes[6 * (u64)i + 3 + k]) - 0.5f * frame[k];
    float cell = centre / reach * (float)(AXIS_LAST + 1);
    u32 whole = 0;
    if (cell > 0) whole = cell < (float)AXIS_LAST ? (u32)cell : AXIS_LAST; /* 0 / 0 is in cell 0 */
    key |= spread(whole) << (2 - k);
  }
  keys[i] = key;
  numbers[i] = i;
}

/* ---- levels of unions ------------------------------------------------------------------------------------------ */

FUNCTION void make_empty(tree_box *box) {
  for (u32 k = 0; k < 3; k++) {
    box->low[k] = 0xFFFFFFFFu;
    box->high[k] = 0;
  }
}

FUNCTION void enclose(tree_box *box, tree_box more) {
  for (u32 k = 0; k < 3; k++) {
    box->low[k] = more.low[k] < box->low[k] ? more.low[k] : box->low[k];
    box->high[k] = more.high[k] > box->high[k] ? more.high[k] : box->high[k];
  }
}

/* Eight levels, or as many as there are, above the level of `count` boxes at `offset`, of which every item of the group
 * has one, those behind the end an empty one. A level of m boxes has (m + 1) / 2 above it, which follow it in memory.
 * part: 256 numbers for each of the six of a box. */
FUNCTION void unite(SHARED_ARG u32 *part, GLOBAL tree_box *levels, u64 offset, u32 count, tree_box own) {
  u32 item = ITEM;
  for (u32 most = 128; most > 0 && count > 1; most /= 2) {
    for (u32 k = 0; k < 3; k++) {
      part[256 * k + item] = own.low[k];
      part[256 * (k + 3) + item] = own.high[k];
    }
    BARRIER;
    offset += count;
    count = (count + 1) / 2;
    for (u32 k = 0; k < 3 && item < most; k++) {
      u32 x = part[256 * k + 2 * item], y = part[256 * k + 2 * item + 1];
      own.low[k] = x < y ? x : y;
      x = part[256 * (k + 3) + 2 * item];
      y = part[256 * (k + 3) + 2 * item + 1];
      own.high[k] = x > y ? x : y;
    }
    if (item < most && GROUP * most + item < count) levels[offset + GROUP * most + item] = own;
    BARRIER;
  }
}

/* The lowest level, the boxes in their order, and what is above it. bad: the least number of one that is not finite or
 * has its low end above its high end. */
KERNEL(256) tree_leaves(GLOBAL const u32 *RESTRICT boxes, GLOBAL const u32 *RESTRICT numbers,
                        GLOBAL tree_box *RESTRICT levels, GLOBAL u32 *RESTRICT bad, u32 count) {
  SHARED u32 part[6 * 256];
  u32 i = GROUP * 256 + ITEM;
  tree_box own;
  make_empty(&own);
  if (i < count) {
    const u32 infinite = ordered32(0x7F800000u);
    u32 number = numbers[i], fits = 1;
    read_box(&own, boxes, number);
    for (u32 k = 0; k < 3; k++) {
      if (own.low[k] > own.high[k] || own.high[k] >= infinite || own.low[k] <= ~infinite) fits = 0;
    }
    if (fits == 0) MIN_GLOBAL(bad, number);
    levels[i] = own;
  }
  unite(part, levels, 0, count, own);
}

/* Eight levels more, above the one of `count` boxes at `offset`. */
KERNEL(256) tree_levels(GLOBAL tree_box *levels, u64 offset, u32 count) {
  SHARED u32 part[6 * 256];
  u32 i = GROUP * 256 + ITEM;
  tree_box own;
  make_empty(&own);
  if (i < count) own = levels[offset + i];
  unite(part, levels, offset, count, own);
}

/* ---- nodes ----------------------------------------------------------------------------------------------------- */

/* How many leading bits the keys at places i and j have in common, and one; 0 when there is no place j. Behind the key
 * stands the place, so that no two are equal. */
FUNCTION u32 alike(GLOBAL const u64 *keys, u32 count, u64 key, u32 i, u32 j) {
  if (j >= count) return 0;
  u64 other = keys[j] ^ key;
  return other != 0 ? 1 + (u32)LEADING_ZEROS(other) : 65 + (u32)LEADING_ZEROS((u64)(i ^ j));
}

/* Node i of count - 1 has box i at one end of its run; the other end is on the side where the neighbour is more alike,
 * as far as boxes have more in common with i than the neighbour on the other side has. The split is where they cease to
 * have more in common than the two ends. Places before the first wrap around to large ones, which are none. */
KERNEL(256) tree_split(GLOBAL const u64 *RESTRICT keys, GLOBAL tree_node *RESTRICT nodes, u32 count) {
  u32 i = GROUP * 256 + ITEM;
  if (i + 1 >= count && i > 0) return;
  u64 key = keys[i];
  u32 after = alike(keys, count, key, i, i + 1), before = alike(keys, count, key, i, i - 1);
  u32 step = after >= before ? 1u : 0xFFFFFFFFu, least = after >= before ? before : after;
  u32 most = 2, length = 0;
  while (alike(keys, count, key, i, i + most * step) > least) most *= 2;
  for (u32 t = most / 2; t > 0; t /= 2) {
    if (alike(keys, count, key, i, i + (length + t) * step) > least) length += t;
  }
  u32 end = i + length * step, way = 0;
  u32 common = count > 1 ? alike(keys, count, key, i, end) : 0;
  for (u32 t = most / 2; t > 0; t /= 2) {
    if (way + t < length && alike(keys, count, key, i, i + (way + t) * step) > common) way += t;
  }
  nodes[i].first = step == 1 ? i : end;
  nodes[i].last = step == 1 ? end : i;
  nodes[i].split = step == 1 ? i + way : i - way - 1;
}

/* Adds the sorted boxes [begin, end) to a box, as the largest pieces that lie within. */
FUNCTION void enclose_run(tree_box *box, GLOBAL const tree_box *levels, u32 count, u32 begin, u32 end) {
  u64 offset = 0;
  while (begin < end) {
    if ((begin & 1) != 0) enclose(box, levels[offset + begin++]);
    if ((end & 1) != 0) enclose(box, levels[offset + --end]);
    begin /= 2;
    end /= 2;
    offset += count;
    count = (count + 1) / 2;
  }
}

/* The boxes of the children of every node. count: boxes. Of one box there is one node, whose right child is empty. */
KERNEL(256) tree_fit(GLOBAL const tree_box *RESTRICT levels, GLOBAL tree_node *RESTRICT nodes, u32 count) {
  u32 i = GROUP * 256 + ITEM;
  if (i + 1 >= count && i > 0) return;
  u32 first = nodes[i].first, split = nodes[i].split, last = nodes[i].last;
  tree_box left, right;
  make_empty(&left);
  make_empty(&right);
  enclose_run(&left, levels, count, first, split + 1);
  enclose_run(&right, levels, count, split + 1, last + 1);
  nodes[i].left = left;
  nodes[i].right = right;
}

/* ---- doubles --------------------------------------------------------------------------------------------------- */

/* The bits of the float next to a finite double, toward zero or, with `away` 1, away from it; at most the largest one.
 * Found on whole numbers: devices without doubles can do it, and none flushes what is small. */
FUNCTION u32 rounded(u64 bits, u32 away) {
  u64 magnitude = bits & ~((u64)1 << 63), rest;
  u32 exponent = (u32)(magnitude >> 52), near;
  if (exponent >= 1151) { /* 2^128 and above */
    near = 0x7F7FFFFFu;
    rest = 0;
  } else if (exponent >= 897) { /* normal as a float */
    near = (u32)((magnitude >> 29) - ((u64)896 << 23));
    rest = magnitude & 0x1FFFFFFFu;
  } else { /* in units of 2^-149 */
    u64 digits = (magnitude & 0xFFFFFFFFFFFFFu) | (u64)1 << 52;
    near = exponent > 873 ? (u32)(digits >> (926 - exponent)) : 0;
    rest = exponent > 873 ? digits & (((u64)1 << (926 - exponent)) - 1) : magnitude;
  }
  if (rest != 0 && away != 0 && near < 0x7F7FFFFFu) near++;
  return near | (u32)(bits >> 63) << 31;
}

/* Six finite doubles to six floats that bound them, as far as floats reach: a number beyond them becomes the largest, in
 * every box, so that boxes that meet still do. */
KERNEL(256) tree_round(GLOBAL const u64 *RESTRICT boxes, GLOBAL u32 *RESTRICT floats, u32 count) {
  u32 i = GROUP * 256 + ITEM;
  if (i >= count) return;
  for (u32 k = 0; k < 3; k++) {
    u64 low = boxes[6 * (u64)i + k], high = boxes[6 * (u64)i + 3 + k];
    floats[6 * (u64)i + k] = rounded(low, (u32)(low >> 63));
    floats[6 * (u64)i + 3 + k] = rounded(high, (u32)(high >> 63) ^ 1);
  }
}
