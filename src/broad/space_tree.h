/* Trees that cut space into rooms: what loose octree, kd-tree and BSP have in common.
 *
 * They differ in one function, the rule by which the boxes of a node are dealt out to its children. A box is in one
 * place only. Every node knows the box around all that is below it, taken from the boxes themselves, so that leaving
 * out two nodes that are apart is exact whatever the rule computed and rounded. Pairs are found by descending into two
 * nodes at a time. Memory: 112 bytes a box while it is built, and a node of 64 bytes for every second to fourth box.
 */
#ifndef GRAZE_SRC_BROAD_SPACE_TREE_H
#define GRAZE_SRC_BROAD_SPACE_TREE_H

#include "base/memory.h"
#include "broad/broad.h"

enum {
  SPACE_LEAF = 8,   /* boxes that are not worth dealing out */
  SPACE_GROUPS = 9, /* children of a node, at most */
  SPACE_DEPTH = 96  /* below that nothing is dealt out any more */
};

typedef struct space_item {
  graze_box box;
  uint32_t slot;
  uint8_t group; /* that the rule puts it in */
} space_item;

/* What a rule remembers of a node while its children are made. */
typedef struct space_room {
  double center[3]; /* octree: the cell */
  double half;
  unsigned axes; /* kd-tree: those on which some boxes are apart */
  bool closed;   /* stays a leaf */
} space_room;

typedef struct space_node {
  graze_box box;       /* around its items */
  uint32_t begin, end; /* of its items */
  uint32_t child;      /* the first; they are side by side */
  uint8_t children;    /* 0: a leaf */
  bool apart;          /* no box of the first child meets one of the last */
} space_node;

typedef struct space_cut {
  uint32_t groups;
  bool apart;
  space_room room[SPACE_GROUPS]; /* of each group */
} space_cut;

/* Gives every item of [0, count) a group; `box` is around them. False: leave them together. */
typedef bool space_rule(space_item *items, uint32_t count, const graze_box *box, const space_room *room,
                        space_cut *cut);

typedef struct space_tree {
  buffer items, sorted, nodes;
  uint32_t count; /* of items */
  uint32_t node_count;
} space_tree;

/* Builds the tree over the boxes of the view and appends its pairs. `first` makes the root's room from the box around
 * all. */
graze_status gz_space_tree_find(space_tree *tree, const broad_view *view, space_rule *rule,
                                void (*first)(const graze_box *box, space_room *room), pair_list *out);
void gz_space_tree_release(const graze_context *context, void *state);
size_t gz_space_tree_bytes(const void *state);

#endif
