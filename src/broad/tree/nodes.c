/* The dynamic tree itself; see tree.h. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "broad/tree/tree.h"

enum {
  PART_LEAST = 16,  /* leaves of a part that is built anew */
  PART_MOST = 1024, /* and that takes no time to speak of */
  PART_EDITS = 4,   /* a leaf, and a part has decayed */
  BINS = 8
};

typedef struct bound {
  float low[3], high[3];
} bound;

static tree_node *nodes_of(const box_tree *tree) {
  return tree->nodes.data;
}

static inline bool is_leaf(const tree_node *node) {
  return (node->child & TREE_LEAF) != 0;
}

static inline tree_tally *tally_of(const box_tree *tree, const tree_node *inner) {
  return (tree_tally *)tree->tallies.data + inner->child / 2;
}

static inline uint32_t leaves_below(const box_tree *tree, const tree_node *node) {
  return is_leaf(node) ? 1 : tally_of(tree, node)->leaves;
}

typedef struct bound4 {
  v4 low, high; /* the last lane is of no account */
} bound4;

static inline bound4 bound_of(const tree_node *node) {
  return (bound4){v4_load(node->low), v4_load(node->high)};
}

static inline bound4 join(bound4 a, bound4 b) {
  return (bound4){v4_min(a.low, b.low), v4_max(a.high, b.high)};
}

/* Half the surface. Lengths are cut off where squares would overflow: this only steers. */
static inline float surface(const box_tree *tree, bound4 b) {
  v4 e = v4_min(b.high - b.low + v4_set(tree->thickness), v4_set(1e18f));
  return e[0] * e[1] + e[1] * e[2] + e[2] * e[0];
}

static inline float surface_of(const box_tree *tree, const bound *b) {
  bound4 u = {{b->low[0], b->low[1], b->low[2], 0}, {b->high[0], b->high[1], b->high[2], 0}};
  return surface(tree, u);
}

static inline float joined_nodes(const box_tree *tree, const tree_node *a, const tree_node *b) {
  return surface(tree, join(bound_of(a), bound_of(b)));
}

/* ---- places ---------------------------------------------------------------------------------------------------- */

bool gz_tree_reserve(const graze_context *context, box_tree *tree, uint32_t slots, uint32_t known) {
  size_t pairs = (size_t)slots + 1, used = tree->end;
  return gz_buffer_reserve(context, &tree->nodes, pairs * 2 * sizeof(tree_node), used * 2 * sizeof(tree_node)) &&
         gz_buffer_reserve(context, &tree->tallies, pairs * sizeof(tree_tally), used * sizeof(tree_tally)) &&
         gz_buffer_reserve(context, &tree->leaf_of, slots * sizeof(uint32_t), known * sizeof(uint32_t));
}

void gz_tree_clear(box_tree *tree, uint32_t slots) {
  uint32_t *leaf_of = tree->leaf_of.data;
  for (uint32_t i = 0; i < slots; i++) leaf_of[i] = TREE_NONE;
  tree->end = 1;
  tree->free_pair = tree->decayed = TREE_NONE;
  tree->leaves = 0;
  tree->edits = 0;
}

/* There is room: a tree of n leaves has n - 1 pairs and the root. */
static uint32_t take_pair(box_tree *tree) {
  if (tree->free_pair == TREE_NONE) return tree->end++;
  uint32_t pair = tree->free_pair;
  tree->free_pair = nodes_of(tree)[2 * pair].parent;
  return pair;
}

static void give_pair(box_tree *tree, uint32_t pair) {
  nodes_of(tree)[2 * pair].parent = tree->free_pair;
  tree->free_pair = pair;
}

/* What points to a node is brought up to date after its content was moved to place x. */
static void settle(const box_tree *tree, uint32_t x) {
  tree_node *nodes = nodes_of(tree), *node = &nodes[x];
  if (is_leaf(node)) {
    ((uint32_t *)tree->leaf_of.data)[node->child & ~TREE_LEAF] = x;
  } else {
    nodes[node->child].parent = nodes[node->child + 1].parent = x;
  }
}

/* Moves what is at `from`, with all that is below, to place `to`, whose parent stays. */
static void put_content(const box_tree *tree, uint32_t to, tree_node content) {
  tree_node *node = &nodes_of(tree)[to];
  content.parent = node->parent;
  *node = content;
  settle(tree, to);
}

static void swap_contents(const box_tree *tree, uint32_t x, uint32_t y) {
  tree_node saved = nodes_of(tree)[x];
  put_content(tree, x, nodes_of(tree)[y]);
  put_content(tree, y, saved);
}

/* Bound and number of leaves of an inner node from its children. */
static inline void refit(const box_tree *tree, uint32_t x) {
  tree_node *nodes = nodes_of(tree), *node = &nodes[x];
  const tree_node *a = &nodes[node->child], *b = a + 1;
  for (int k = 0; k < 3; k++) {
    node->low[k] = a->low[k] < b->low[k] ? a->low[k] : b->low[k];
    node->high[k] = a->high[k] > b->high[k] ? a->high[k] : b->high[k];
  }
  tally_of(tree, node)->leaves = leaves_below(tree, a) + leaves_below(tree, b);
}

/* ---- building -------------------------------------------------------------------------------------------------- */

typedef struct range_task {
  uint32_t node, begin, end;
} range_task;

static void put_leaf(const box_tree *tree, uint32_t x, uint32_t slot, const float box[6]) {
  tree_node *node = &nodes_of(tree)[x];
  memcpy(node->low, box, sizeof node->low);
  memcpy(node->high, box + 3, sizeof node->high);
  node->child = slot | TREE_LEAF;
  ((uint32_t *)tree->leaf_of.data)[slot] = x;
}

/* Makes x an inner node. Returns its first child. */
static uint32_t divide(box_tree *tree, uint32_t x) {
  uint32_t pair = take_pair(tree);
  tree_node *nodes = nodes_of(tree);
  nodes[x].child = 2 * pair;
  nodes[2 * pair].parent = nodes[2 * pair + 1].parent = x;
  ((tree_tally *)tree->tallies.data)[pair] = (tree_tally){0, 0};
  return 2 * pair;
}

void gz_tree_build(box_tree *tree, const uint32_t *order, uint32_t count, const float (*boxes)[6]) {
  range_task stack[64]; /* halves: as deep as a number has bits */
  unsigned depth = 0;
  tree->leaves = count;
  tree->thickness = 0;
  if (count > 0) stack[depth++] = (range_task){0, 0, count};
  while (depth > 0) {
    range_task t = stack[--depth];
    if (t.end - t.begin == 1) {
      put_leaf(tree, t.node, order[t.begin], boxes[order[t.begin]]);
      continue;
    }
    uint32_t child = divide(tree, t.node), half = t.begin + (t.end - t.begin) / 2;
    stack[depth++] = (range_task){child + 1, half, t.end};
    stack[depth++] = (range_task){child, t.begin, half};
  }
  /* Children have higher numbers than their parents: none was free before. */
  for (uint32_t x = 2 * tree->end; x-- > 0;) {
    if (x != 1 && count > 0 && !is_leaf(&nodes_of(tree)[x])) refit(tree, x);
  }
  if (count == 0) return;
  const tree_node *root = nodes_of(tree);
  float extent = 0;
  for (int k = 0; k < 3; k++) extent += root->high[k] - root->low[k];
  tree->thickness = extent < 1e18f ? 1e-4f * extent : 0;
}

/* ---- a descent's stack ------------------------------------------------------------------------------------------ */

typedef struct candidate {
  uint32_t node;
  float inherited; /* surface that the nodes above grow by */
  float direct;    /* of the parent of this node and the new leaf */
} candidate;

static inline bool push(const graze_context *context, box_tree *tree, size_t *depth, candidate c) {
  size_t bytes = (*depth + 1) * sizeof(candidate);
  if (bytes > tree->stack.bytes) {
    size_t room = bytes < 1024 ? 1024 : bytes;
    if (!gz_buffer_reserve(context, &tree->stack, room, *depth * sizeof(candidate))) return false;
  }
  ((candidate *)tree->stack.data)[(*depth)++] = c;
  return true;
}

/* ---- insertion ------------------------------------------------------------------------------------------------- */

/* The node whose sibling the new leaf becomes: least sum of the new parent's surface and what nodes above grow by. A
 * part is left out when even a parent as small as the leaf itself would cost more than the best so far. */
static bool best_sibling(const graze_context *context, box_tree *tree, const float box[6], uint32_t *best) {
  const tree_node *nodes = nodes_of(tree);
  const bound4 leaf = {{box[0], box[1], box[2], 0}, {box[3], box[4], box[5], 0}};
  const float own = surface(tree, leaf);
  float least = INFINITY;
  size_t depth = 0;
  *best = 0;
  if (!push(context, tree, &depth, (candidate){0, 0, surface(tree, join(bound_of(nodes), leaf))})) return false;
  while (depth > 0) {
    candidate c = ((candidate *)tree->stack.data)[--depth];
    if (own + c.inherited >= least) continue;
    const tree_node *node = &nodes[c.node];
    if (c.direct + c.inherited < least) {
      least = c.direct + c.inherited;
      *best = c.node;
    }
    if (is_leaf(node)) continue;
    float inherited = c.inherited + c.direct - surface(tree, bound_of(node));
    if (own + inherited >= least) continue;
    candidate a = {node->child, inherited, surface(tree, join(bound_of(&nodes[node->child]), leaf))};
    candidate b = {node->child + 1, inherited, surface(tree, join(bound_of(&nodes[node->child + 1]), leaf))};
    bool second = b.direct < a.direct;
    if (!push(context, tree, &depth, second ? a : b) || !push(context, tree, &depth, second ? b : a)) return false;
  }
  return true;
}

/* Swaps a child of x with a child of its sibling when that makes the sibling smaller. */
static void rotate(const box_tree *tree, uint32_t x) {
  const tree_node *nodes = nodes_of(tree);
  uint32_t first = nodes[x].child, best_up = 0, best_down = 0;
  float gain = 0;
  for (uint32_t side = 0; side < 2; side++) {
    const tree_node *inner = &nodes[first + side], *other = &nodes[first + 1 - side];
    if (is_leaf(inner)) continue;
    float now = surface(tree, bound_of(inner));
    for (uint32_t i = 0; i < 2; i++) { /* grandchild i goes up, the other one stays */
      float g = now - joined_nodes(tree, other, &nodes[inner->child + 1 - i]);
      if (g <= gain) continue;
      gain = g;
      best_up = inner->child + i;
      best_down = first + 1 - side;
    }
  }
  if (!(gain > 0)) return;
  swap_contents(tree, best_up, best_down);
  refit(tree, best_down ^ 1);
}

/* From x up: bounds, numbers, swaps; notes the largest part that decayed. */
static void repair_up(box_tree *tree, uint32_t x, bool rotations) {
  for (;; x = nodes_of(tree)[x].parent) {
    if (rotations) rotate(tree, x);
    refit(tree, x);
    tree_tally *tally = tally_of(tree, &nodes_of(tree)[x]);
    tally->edits++;
    if (tally->edits > PART_EDITS * tally->leaves && tally->leaves >= PART_LEAST && tally->leaves <= PART_MOST)
      tree->decayed = x;
    if (x == 0) return;
  }
}

bool gz_tree_insert(const graze_context *context, box_tree *tree, uint32_t slot, const float box[6]) {
  if (tree->leaves == 0) {
    put_leaf(tree, 0, slot, box);
    tree->leaves = 1;
    return true;
  }
  uint32_t sibling;
  if (!best_sibling(context, tree, box, &sibling)) return false;
  tree_node saved = nodes_of(tree)[sibling];
  uint32_t child = divide(tree, sibling);
  put_content(tree, child, saved);
  put_leaf(tree, child + 1, slot, box);
  tree->leaves++;
  tree->edits++;
  repair_up(tree, sibling, true);
  return true;
}

void gz_tree_remove(box_tree *tree, uint32_t slot) {
  uint32_t *leaf_of = tree->leaf_of.data, x = leaf_of[slot];
  leaf_of[slot] = TREE_NONE;
  tree->leaves--;
  tree->edits++;
  if (x == 0) return;
  uint32_t parent = nodes_of(tree)[x].parent;
  if ((tree->decayed | 1) == (x | 1)) tree->decayed = TREE_NONE; /* its place goes */
  put_content(tree, parent, nodes_of(tree)[x ^ 1]);
  give_pair(tree, x / 2);
  if (parent != 0) repair_up(tree, nodes_of(tree)[parent].parent, false);
}

/* ---- a part anew ----------------------------------------------------------------------------------------------- */

typedef struct part_leaf {
  float box[6];
  uint32_t slot;
} part_leaf;

/* Takes the leaves below x out into `leaves` and frees the pairs. At most PART_MOST. */
static uint32_t take_apart(box_tree *tree, uint32_t x, part_leaf *leaves) {
  uint32_t stack[PART_MOST], depth = 0, count = 0;
  stack[depth++] = x;
  while (depth > 0) {
    const tree_node *node = &nodes_of(tree)[stack[--depth]];
    if (is_leaf(node)) {
      memcpy(leaves[count].box, node->low, sizeof node->low);
      memcpy(leaves[count].box + 3, node->high, sizeof node->high);
      leaves[count++].slot = node->child & ~TREE_LEAF;
    } else {
      stack[depth++] = node->child;
      stack[depth++] = node->child + 1;
    }
    if (node != &nodes_of(tree)[x] && (node - nodes_of(tree)) % 2 == 1)
      give_pair(tree, (uint32_t)(node - nodes_of(tree)) / 2);
  }
  return count;
}

static inline float middle(const part_leaf *leaf, int axis) {
  return 0.5f * leaf->box[axis] + 0.5f * leaf->box[3 + axis];
}

typedef struct bins {
  int axis;
  float low, scale;
  uint32_t count[BINS];
  bound bounds[BINS];
} bins;

static inline unsigned bin_of(const bins *b, const part_leaf *leaf) {
  float at = (middle(leaf, b->axis) - b->low) * b->scale;
  return at > 0 ? at < BINS - 1 ? (unsigned)at : BINS - 1 : 0;
}

static void grow(bound *b, const float low[3], const float high[3]) {
  for (int k = 0; k < 3; k++) {
    b->low[k] = low[k] < b->low[k] ? low[k] : b->low[k];
    b->high[k] = high[k] > b->high[k] ? high[k] : b->high[k];
  }
}

static const bound no_bound = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

/* Along the axis on which the middles are spread widest. */
static void fill_bins(bins *b, const part_leaf *leaves, uint32_t count) {
  float spread = -1;
  for (int k = 0; k < 3; k++) {
    float low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < count; i++) {
      float m = middle(&leaves[i], k);
      low = m < low ? m : low;
      high = m > high ? m : high;
    }
    if (!(high - low > spread)) continue;
    spread = high - low;
    b->axis = k;
    b->low = low;
  }
  b->scale = spread > 0 ? BINS / spread : 0;
  for (int i = 0; i < BINS; i++) {
    b->count[i] = 0;
    b->bounds[i] = no_bound;
  }
  for (uint32_t i = 0; i < count; i++) {
    unsigned at = bin_of(b, &leaves[i]);
    b->count[at]++;
    grow(&b->bounds[at], leaves[i].box, leaves[i].box + 3);
  }
}

/* The number of bins on the left of the cheapest cut; 0 when all leaves are in one bin. */
static unsigned best_cut(const box_tree *tree, const bins *b) {
  float right[BINS], least = INFINITY;
  bound u = no_bound;
  uint32_t n = 0;
  unsigned best = 0;
  for (int i = BINS - 1; i > 0; i--) {
    n += b->count[i];
    grow(&u, b->bounds[i].low, b->bounds[i].high);
    right[i] = n > 0 ? (float)n * surface_of(tree, &u) : INFINITY;
  }
  u = no_bound;
  n = 0;
  for (unsigned i = 1; i < BINS; i++) {
    n += b->count[i - 1];
    grow(&u, b->bounds[i - 1].low, b->bounds[i - 1].high);
    float cost = n > 0 ? (float)n * surface_of(tree, &u) + right[i] : INFINITY;
    if (cost >= least) continue;
    least = cost;
    best = i;
  }
  return best;
}

/* Parts the leaves in two; neither is empty. Returns how many come first. */
static uint32_t part(const box_tree *tree, part_leaf *leaves, uint32_t count) {
  bins b = {0};
  fill_bins(&b, leaves, count);
  unsigned cut = best_cut(tree, &b);
  uint32_t left = 0;
  for (uint32_t i = 0; cut > 0 && i < count; i++) {
    if (bin_of(&b, &leaves[i]) >= cut) continue;
    part_leaf swap = leaves[i];
    leaves[i] = leaves[left];
    leaves[left++] = swap;
  }
  return left > 0 && left < count ? left : count / 2;
}

static void refit_part(const box_tree *tree, const uint32_t *order, uint32_t count) {
  while (count-- > 0) refit(tree, order[count]);
}

bool gz_tree_mend(const graze_context *context, box_tree *tree) {
  uint32_t top = tree->decayed;
  tree->decayed = TREE_NONE;
  if (top == TREE_NONE || is_leaf(&nodes_of(tree)[top])) return true;
  if (leaves_below(tree, &nodes_of(tree)[top]) > PART_MOST) return true;
  if (!gz_buffer_reserve(context, &tree->parts, PART_MOST * sizeof(part_leaf), 0)) return false;
  part_leaf *leaves = tree->parts.data;
  range_task stack[PART_MOST];
  uint32_t inner[PART_MOST], inner_count = 0, depth = 0;
  uint32_t count = take_apart(tree, top, leaves);
  stack[depth++] = (range_task){top, 0, count};
  while (depth > 0) {
    range_task t = stack[--depth];
    if (t.end - t.begin == 1) {
      put_leaf(tree, t.node, leaves[t.begin].slot, leaves[t.begin].box);
      continue;
    }
    uint32_t child = divide(tree, t.node), cut = t.begin + part(tree, leaves + t.begin, t.end - t.begin);
    inner[inner_count++] = t.node;
    stack[depth++] = (range_task){child, t.begin, cut};
    stack[depth++] = (range_task){child + 1, cut, t.end};
  }
  refit_part(tree, inner, inner_count);
  return true;
}

/* ---- descent --------------------------------------------------------------------------------------------------- */

static inline bool node_meets(const tree_node *node, bound4 box) {
  i4 last = {0, 0, 0, -1};
  bound4 b = bound_of(node);
  return v4_all(((b.low <= box.high) & (box.low <= b.high)) | last);
}

bool gz_tree_query(const graze_context *context, box_tree *tree, const float box[6], buffer *hits, uint32_t *count) {
  const tree_node *nodes = nodes_of(tree);
  const bound4 wanted = {{box[0], box[1], box[2], 0}, {box[3], box[4], box[5], 0}};
  size_t depth = 0;
  *count = 0;
  if (tree->leaves == 0) return true;
  if (!push(context, tree, &depth, (candidate){0, 0, 0})) return false;
  while (depth > 0) {
    const tree_node *node = &nodes[((candidate *)tree->stack.data)[--depth].node];
    if (!node_meets(node, wanted)) continue;
    if (is_leaf(node)) {
      size_t used = *count * sizeof(uint32_t);
      if (!gz_buffer_reserve(context, hits, used + sizeof(uint32_t), used)) return false;
      ((uint32_t *)hits->data)[(*count)++] = node->child & ~TREE_LEAF;
    } else if (!push(context, tree, &depth, (candidate){node->child, 0, 0}) ||
               !push(context, tree, &depth, (candidate){node->child + 1, 0, 0})) {
      return false;
    }
  }
  return true;
}

void gz_tree_release(const graze_context *context, box_tree *tree) {
  buffer *buffers[] = {&tree->nodes, &tree->tallies, &tree->leaf_of, &tree->stack, &tree->parts};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) gz_buffer_release(context, buffers[i]);
}

size_t gz_tree_bytes(const box_tree *tree) {
  return tree->nodes.bytes + tree->tallies.bytes + tree->leaf_of.bytes + tree->stack.bytes + tree->parts.bytes;
}
