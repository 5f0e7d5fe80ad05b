/* A dynamic tree of boxes: one leaf a slot, two children a node, kept good while leaves come and go.
 *
 * Insertion looks for the sibling that adds the least surface by branch and bound; on the way back up each node may
 * swap a child with a grandchild; parts in which four times as many leaves came and went as there are get built anew,
 * top down with bins. J. Goldsmith and J. Salmon, "Automatic creation of object hierarchies for ray tracing", 1987; E.
 * Catto, "Dynamic bounding volume hierarchies", 2019; I. Wald, "On fast construction of SAH-based bounding volume
 * hierarchies", 2007. Siblings lie side by side in one cache line, so a node needs its parent and its first child only.
 */
#ifndef GRAZE_SRC_BROAD_TREE_TREE_H
#define GRAZE_SRC_BROAD_TREE_TREE_H

#include "broad/pairs.h"

#define TREE_LEAF UINT32_C(0x80000000)
#define TREE_NONE UINT32_MAX

typedef struct tree_node {
  float low[3];
  uint32_t parent; /* of a free pair: the next one */
  float high[3];
  uint32_t child; /* number of the first of two; of a leaf: its slot and TREE_LEAF */
} tree_node;

/* Of an inner node, kept by the number of its pair of children. */
typedef struct tree_tally {
  uint32_t leaves;
  uint32_t edits; /* leaves that came or went since this part was built */
} tree_tally;

/* Zero-initialised, then gz_tree_clear. The root is node 0; node 1 is not used. */
typedef struct box_tree {
  buffer nodes, tallies;
  buffer leaf_of; /* by slot; TREE_NONE: not in the tree */
  buffer stack;   /* of a descent; grows */
  buffer parts;   /* scratch of building a part */
  uint32_t end;   /* pairs of nodes in use are below */
  uint32_t free_pair;
  uint32_t leaves;
  uint64_t edits;   /* since the whole was built */
  float thickness;  /* added to what counts as surface, so that flat boxes differ */
  uint32_t decayed; /* inner node to be built anew; TREE_NONE */
} box_tree;

/* Room for slots below `slots`, of which `known` are there. False: no memory. */
bool gz_tree_reserve(const graze_context *context, box_tree *tree, uint32_t slots, uint32_t known);

/* Forgets all leaves of slots below `slots`. */
void gz_tree_clear(box_tree *tree, uint32_t slots);

/* A balanced tree over slots in an order in which neighbours are near. `boxes`: low x y z, high x y z by slot. */
void gz_tree_build(box_tree *tree, const uint32_t *order, uint32_t count, const float (*boxes)[6]);

/* O(log n) as a rule. False: no memory, and the tree is as before. */
bool gz_tree_insert(const graze_context *context, box_tree *tree, uint32_t slot, const float box[6]);
void gz_tree_remove(box_tree *tree, uint32_t slot);

/* Builds the part anew that decayed last, if one did. False: no memory. */
bool gz_tree_mend(const graze_context *context, box_tree *tree);

/* Slots of all leaves that meet the box, in `hits`; `count` gets their number. False: no memory. */
bool gz_tree_query(const graze_context *context, box_tree *tree, const float box[6], buffer *hits, uint32_t *count);

void gz_tree_release(const graze_context *context, box_tree *tree);
size_t gz_tree_bytes(const box_tree *tree);

#endif
