/* Scans and folds of segments, which may be of any length, none included: the work is dealt out by elements, not by
 * segments, so that neither a long one nor many short ones make a group wait. As scan.cl: each group folds the tail of
 * a tile, from where its last segment begins; one group carries tails over to later tiles; then each group scans its
 * tile from there. KEY is u32 or u64. Reads 8 bytes an element of 32 bits, and 16 a segment.
 * (G. Blelloch, "Prefix sums and their applications", 1990; S. Sengupta, M. Harris, Y. Zhang, J. Owens, "Scan primitives
 * for GPU computing", 2007.) */

#define EACH 8 /* elements of an item */
#define TILE (256 * EACH)

#define FOLD_SUM 0
#define FOLD_MIN 1
#define FOLD_MAX 2

FUNCTION KEY neutral(u32 op) {
  return op == FOLD_MIN ? ~(KEY)0 : 0;
}

FUNCTION KEY fold(KEY x, KEY y, u32 op) {
  if (op == FOLD_SUM) return x + y;
  return (x < y) == (op == FOLD_MIN) ? x : y;
}

#include "search.h"
LOWER_BOUND(lower_bound, u32)

/* Of all values of the group, for all of its items. */
FUNCTION KEY fold_group(SHARED_ARG KEY *part, KEY value, u32 op) {
  u32 item = ITEM;
  part[item] = value;
  BARRIER;
  for (u32 most = 128; most > 0; most /= 2) {
    if (item < most) part[item] = fold(part[item], part[item + most], op);
    BARRIER;
  }
  KEY all = part[0];
  BARRIER;
  return all;
}

/* What the items before this one leave open, begun with `carry`: a head ends what was before it. part[255] and
 * heads[255] are then those of the group, without `carry`. */
FUNCTION KEY scan_tails(SHARED_ARG KEY *part, SHARED_ARG u32 *heads, KEY tail, u32 head, KEY carry, u32 op) {
  u32 item = ITEM;
  part[item] = tail;
  heads[item] = head;
  BARRIER;
  for (u32 reach = 1; reach < 256; reach *= 2) {
    KEY before = item >= reach ? part[item - reach] : neutral(op);
    u32 head_before = item >= reach ? heads[item - reach] : 0;
    BARRIER;
    if (heads[item] == 0) part[item] = fold(before, part[item], op);
    heads[item] |= head_before;
    BARRIER;
  }
  if (item == 0) return carry;
  return heads[item - 1] != 0 ? part[item - 1] : fold(carry, part[item - 1], op);
}

/* Makes of each element of a tile the fold of its segment up to it. marks: of each item, a bit for those of its elements
 * that begin a segment. */
FUNCTION void scan_tile(SHARED_ARG KEY *tile, SHARED_ARG KEY *part, SHARED_ARG u32 *heads, u32 marks, KEY carry,
                        u32 op) {
  u32 first = ITEM * EACH;
  KEY own[EACH], tail = neutral(op);
  for (u32 k = 0; k < EACH; k++) {
    own[k] = tile[first + k];
    tail = fold((marks >> k & 1) != 0 ? neutral(op) : tail, own[k], op);
  }
  tail = scan_tails(part, heads, tail, marks != 0, carry, op);
  for (u32 k = 0; k < EACH; k++) {
    tail = fold((marks >> k & 1) != 0 ? neutral(op) : tail, own[k], op);
    tile[first + k] = tail;
  }
  BARRIER;
}

/* tails: of tiles; each becomes what goes over to that tile. heads: whether a segment begins in the tile. One group. */
KERNEL(256) carry_tails(GLOBAL KEY *RESTRICT tails, GLOBAL const u32 *RESTRICT heads, u32 count, u32 op) {
  SHARED KEY part[256];
  SHARED u32 seen[256];
  KEY carry = neutral(op);
  for (u32 base = 0; base < count; base += 256) {
    u32 i = base + ITEM;
    KEY over = scan_tails(part, seen, i < count ? tails[i] : neutral(op), i < count ? heads[i] : 0, carry, op);
    if (i < count) tails[i] = over;
    carry = seen[255] != 0 ? part[255] : fold(carry, part[255], op);
    BARRIER;
  }
}

/* ---- segments that begin where a flag is set --------------------------------------------------------------------- */

KERNEL(256) flagged_tails(GLOBAL const KEY *RESTRICT in, GLOBAL const u32 *RESTRICT flags, GLOBAL KEY *RESTRICT tails,
                          GLOBAL u32 *RESTRICT heads, u32 count) {
  SHARED KEY part[256];
  u32 item = ITEM, base = GROUP * TILE, last = 0;
  KEY tail = 0;
  for (u32 k = 0; k < EACH; k++) {
    u32 i = base + k * 256 + item;
    if (i < count && flags[i] != 0) last = k * 256 + item + 1;
  }
  u32 from = (u32)fold_group(part, last, FOLD_MAX);
  for (u32 k = 0; k < EACH; k++) {
    u32 i = base + k * 256 + item;
    if (i < count && k * 256 + item + 1 >= from) tail += in[i];
  }
  tail = fold_group(part, tail, FOLD_SUM);
  if (item == 0) {
    tails[GROUP] = tail;
    heads[GROUP] = from != 0;
  }
}

/* `in` and `out` may be the same. */
KERNEL(256) flagged_scan(GLOBAL const KEY *in, GLOBAL const u32 *RESTRICT flags, GLOBAL KEY *out,
                         GLOBAL const KEY *RESTRICT carries, u32 count) {
  SHARED KEY tile[TILE], part[256];
  SHARED u32 heads[256], marks[256];
  u32 item = ITEM, base = GROUP * TILE;
  marks[item] = 0;
  BARRIER;
  for (u32 k = 0; k < EACH; k++) {
    u32 place = k * 256 + item, i = base + place;
    tile[place] = i < count ? in[i] : 0;
    if (i < count && flags[i] != 0) ADD_SHARED(&marks[place / EACH], 1u << place % EACH);
  }
  BARRIER;
  scan_tile(tile, part, heads, marks[item], carries[GROUP], FOLD_SUM);
  for (u32 k = 0; k < EACH; k++) {
    u32 place = k * 256 + item, i = base + place;
    if (i >= count) break;
    KEY before = place > 0 ? tile[place - 1] : carries[GROUP];
    out[i] = (marks[place / EACH] >> place % EACH & 1) != 0 ? 0 : before;
  }
}

/* ---- segments from one start to the next ------------------------------------------------------------------------- */

KERNEL(256) started_tails(GLOBAL const KEY *RESTRICT in, GLOBAL const u32 *RESTRICT starts, GLOBAL KEY *RESTRICT tails,
                          GLOBAL u32 *RESTRICT heads, u32 count, u32 segments, u32 op) {
  SHARED KEY part[256];
  u32 item = ITEM, base = GROUP * TILE, end = count - base < TILE ? count : base + TILE;
  u32 begun = lower_bound(starts, 0, segments, end), from = begun > 0 ? starts[begun - 1] : 0;
  KEY tail = neutral(op);
  for (u32 i = (from > base ? from : base) + item; i < end; i += 256) tail = fold(tail, in[i], op);
  tail = fold_group(part, tail, op);
  if (item == 0) {
    tails[GROUP] = tail;
    heads[GROUP] = begun > 0 && from >= base;
  }
}

/* A segment is written by the group in whose tile it ends; an empty one before all elements by the first. */
KERNEL(256) started_folds(GLOBAL const KEY *RESTRICT in, GLOBAL const u32 *RESTRICT starts, GLOBAL KEY *RESTRICT out,
                          GLOBAL const KEY *RESTRICT carries, u32 count, u32 segments, u32 op) {
  SHARED KEY tile[TILE], part[256];
  SHARED u32 heads[256], marks[256];
  u32 item = ITEM, base = GROUP * TILE, end = count - base < TILE ? count : base + TILE;
  marks[item] = 0;
  BARRIER;
  for (u32 place = item; place < TILE; place += 256) tile[place] = base + place < end ? in[base + place] : neutral(op);
  u32 begun = lower_bound(starts, 0, segments, end);
  for (u32 s = lower_bound(starts, 0, segments, base) + item; s < begun; s += 256) {
    u32 place = starts[s] - base;
    if (starts[s] != starts[s + 1]) ADD_SHARED(&marks[place / EACH], 1u << place % EACH);
  }
  BARRIER;
  scan_tile(tile, part, heads, marks[item], carries[GROUP], op);
  u32 first = lower_bound(starts, 0, segments + 1, GROUP > 0 ? base + 1 : 0);
  u32 ended = lower_bound(starts, 0, segments + 1, end + 1);
  for (u32 next = (first > 0 ? first : 1) + item; next < ended; next += 256) {
    out[next - 1] = starts[next - 1] != starts[next] ? tile[starts[next] - 1 - base] : neutral(op);
  }
}
