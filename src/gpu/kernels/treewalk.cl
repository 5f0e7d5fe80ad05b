/* Boxes asked of a hierarchy, one a work-item: which boxes below it do they meet? The walk keeps a stack of nodes still
 * to be seen. A node has the boxes of both children, so that a visit is one read of 64 bytes, and a leaf is none.
 *
 * The stack is never full: a visit leaves at most one node on it, and a child has at least one bit more in common than
 * its parent, of the 63 of a key and the 31 of a place. Queries are asked in the order of the curve: neighbours in a
 * group see much the same nodes. */

#include "tree.h"

#define MOST_DEPTH (63 + 31)

FUNCTION u32 do_meet(tree_box a, tree_box b) {
  return a.low[0] <= b.high[0] && b.low[0] <= a.high[0] && a.low[1] <= b.high[1] && b.low[1] <= a.high[1] &&
         a.low[2] <= b.high[2] && b.low[2] <= a.high[2];
}

ORDERED(ordered64, u64)

/* Boxes a and b of doubles. */
FUNCTION u32 do_meet_exactly(GLOBAL const u64 *exact, u32 a, u32 b) {
  for (u32 k = 0; k < 3; k++) {
    if (ordered64(exact[6 * (u64)a + k]) > ordered64(exact[6 * (u64)b + 3 + k])) return 0;
    if (ordered64(exact[6 * (u64)b + k]) > ordered64(exact[6 * (u64)a + 3 + k])) return 0;
  }
  return 1;
}

/* A box that is asked of a tree: what it meets from a sorted place on. `own`: it is the tree's. */
typedef struct tree_query {
  tree_box box;
  u32 number, from, own;
} tree_query;

/* Counts the pairs of a query, and writes them from `place` on when `write` is not 0: number a shifted by shift_a, with
 * number b shifted by shift_b. a is the tree's box and b the query, or the lower and the higher number of the tree's
 * own. exact: doubles that decide about boxes of the tree when `decide` is not 0. */
FUNCTION u32 tree_walk(GLOBAL const tree_node *nodes, GLOBAL const u32 *numbers, GLOBAL const u64 *exact, u32 decide,
                       GLOBAL u64 *out, u64 place, u32 write, u32 shift_a, u32 shift_b, tree_query query) {
  u32 stack[MOST_DEPTH], waiting = 0, at = 0, found = 0;
  for (;;) {
    tree_node node = nodes[at];
    u32 inner = 0, next = 0; /* children to be seen, the last of them */
    for (u32 side = 0; side < 2; side++) {
      u32 first = side == 0 ? node.first : node.split + 1, last = side == 0 ? node.split : node.last;
      if (last < query.from || do_meet(query.box, side == 0 ? node.left : node.right) == 0) continue;
      if (first < last) {
        if (inner++ > 0) stack[waiting++] = next;
        next = node.split + side;
        continue;
      }
      if (decide != 0 && do_meet_exactly(exact, numbers[first], query.number) == 0) continue;
      if (write != 0) {
        u32 other = numbers[first], swap = query.own != 0 && query.number < other;
        u32 a = swap != 0 ? query.number : other, b = swap != 0 ? other : query.number;
        out[place + found] = (u64)a << shift_a | (u64)b << shift_b;
      }
      found++;
    }
    if (inner > 0) at = next;
    else if (waiting > 0) at = stack[--waiting];
    else return found;
  }
}

/* ---- the tree's boxes against each other ----------------------------------------------------------------------- */

/* Each pair once: from the one that comes first in the order. */
FUNCTION void ask_own(tree_query *query, GLOBAL const tree_box *leaves, GLOBAL const u32 *numbers, u32 i) {
  query->box = leaves[i];
  query->number = numbers[i];
  query->from = i + 1;
  query->own = 1;
}

/* Of the sorted places [begin, begin + some). leaves: the lowest level of unions. */
KERNEL(128) own_count(GLOBAL const tree_node *RESTRICT nodes, GLOBAL const tree_box *RESTRICT leaves,
                      GLOBAL const u32 *RESTRICT numbers, GLOBAL const u64 *RESTRICT exact, u32 decide,
                      GLOBAL u32 *RESTRICT counts, u32 begin, u32 some) {
  u32 i = GROUP * 128 + ITEM;
  if (i >= some) return;
  tree_query query;
  ask_own(&query, leaves, numbers, begin + i);
  counts[i] = tree_walk(nodes, numbers, exact, decide, 0, 0, 0, 0, 0, query);
}

/* places: the scan of counts. */
KERNEL(128) own_write(GLOBAL const tree_node *RESTRICT nodes, GLOBAL const tree_box *RESTRICT leaves,
                      GLOBAL const u32 *RESTRICT numbers, GLOBAL const u64 *RESTRICT exact, u32 decide,
                      GLOBAL const u32 *RESTRICT places, GLOBAL u64 *RESTRICT out, u32 begin, u32 some, u32 shift_a,
                      u32 shift_b) {
  u32 i = GROUP * 128 + ITEM;
  if (i >= some || places[i] == places[i + 1]) return;
  tree_query query;
  ask_own(&query, leaves, numbers, begin + i);
  tree_walk(nodes, numbers, exact, decide, out, places[i], 1, shift_a, shift_b, query);
}

/* ---- other boxes ----------------------------------------------------------------------------------------------- */

/* order: numbers of boxes, when `is_ordered` is not 0. */
FUNCTION void ask_other(tree_query *query, GLOBAL const u32 *boxes, GLOBAL const u32 *order, u32 is_ordered, u32 i) {
  query->number = is_ordered != 0 ? order[i] : i;
  read_box(&query->box, boxes, query->number);
  query->from = 0;
  query->own = 0;
}

KERNEL(128) other_count(GLOBAL const tree_node *RESTRICT nodes, GLOBAL const u32 *RESTRICT boxes,
                        GLOBAL const u32 *RESTRICT order, u32 is_ordered, GLOBAL u32 *RESTRICT counts, u32 begin,
                        u32 some) {
  u32 i = GROUP * 128 + ITEM;
  if (i >= some) return;
  tree_query query;
  ask_other(&query, boxes, order, is_ordered, begin + i);
  counts[i] = tree_walk(nodes, 0, 0, 0, 0, 0, 0, 0, 0, query);
}

KERNEL(128) other_write(GLOBAL const tree_node *RESTRICT nodes, GLOBAL const u32 *RESTRICT boxes,
                        GLOBAL const u32 *RESTRICT order, u32 is_ordered, GLOBAL const u32 *RESTRICT numbers,
                        GLOBAL const u32 *RESTRICT places, GLOBAL u64 *RESTRICT out, u32 begin, u32 some) {
  u32 i = GROUP * 128 + ITEM;
  if (i >= some || places[i] == places[i + 1]) return;
  tree_query query;
  ask_other(&query, boxes, order, is_ordered, begin + i);
  tree_walk(nodes, numbers, 0, 0, out, places[i], 1, 0, 32, query);
}
