/* Trees that cut space into rooms: loose octree, kd-tree and BSP.
 *
 * They differ in one function, the rule by which the boxes of a node are dealt out to its children. A box is in one
 * place only. Every node knows the box around all that is below it, taken from the boxes themselves, so that leaving
 * out two nodes that are apart is exact whatever the rule computed and rounded. Pairs are found by descending into two
 * nodes at a time. Memory: 112 bytes a box while it is built, and a node of 64 bytes for every second to fourth box.
 */
#include <math.h>
#include <string.h>

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

/* ---- building -------------------------------------------------------------------------------------------------- */

static graze_box box_around(const space_item *items, uint32_t count) {
  graze_box all = graze_box_empty();
  for (uint32_t i = 0; i < count; i++) graze_box_add_box(&all, &items[i].box);
  return all;
}

static bool gather(space_tree *tree, const broad_view *view) {
  if (!gz_buffer_reserve(view->context, &tree->items, view->count * sizeof(space_item), 0)) return false;
  if (!gz_buffer_reserve(view->context, &tree->sorted, view->count * sizeof(space_item), 0)) return false;
  space_item *items = tree->items.data;
  tree->count = 0;
  for (uint32_t slot = 0; slot < view->count; slot++) {
    if (view_takes(view, slot)) items[tree->count++] = (space_item){.box = view_box(view, slot), .slot = slot};
  }
  return true;
}

/* A new leaf over [begin, end). */
static bool add_node(const graze_context *context, space_tree *tree, uint32_t begin, uint32_t end) {
  size_t used = tree->node_count * sizeof(space_node);
  if (!gz_buffer_reserve(context, &tree->nodes, used + sizeof(space_node), used)) return false;
  space_node *node = (space_node *)tree->nodes.data + tree->node_count++;
  *node = (space_node){.begin = begin, .end = end};
  node->box = box_around((const space_item *)tree->items.data + begin, end - begin);
  return true;
}

/* Puts the items of a node in the order of their groups; `start` gets where each group begins, and the end. */
static void sort_groups(space_tree *tree, const space_node *node, uint32_t groups, uint32_t start[SPACE_GROUPS + 1]) {
  space_item *items = tree->items.data, *sorted = tree->sorted.data;
  uint32_t next[SPACE_GROUPS] = {0};
  for (uint32_t i = node->begin; i < node->end; i++) next[items[i].group]++;
  start[0] = node->begin;
  for (uint32_t g = 0; g < groups; g++) {
    start[g + 1] = start[g] + next[g];
    next[g] = start[g];
  }
  for (uint32_t i = node->begin; i < node->end; i++) sorted[next[items[i].group]++] = items[i];
  memcpy(items + node->begin, sorted + node->begin, (node->end - node->begin) * sizeof *items);
}

/* At most SPACE_DEPTH deep. */
static bool split(const graze_context *context, space_tree *tree, space_rule *rule, uint32_t index,
                  const space_room *room, int depth) {
  space_node node = ((const space_node *)tree->nodes.data)[index];
  space_item *items = (space_item *)tree->items.data + node.begin;
  space_cut cut = {0};
  if (room->closed || depth == SPACE_DEPTH || node.end - node.begin <= SPACE_LEAF) return true;
  if (!rule(items, node.end - node.begin, &node.box, room, &cut)) return true;

  uint32_t start[SPACE_GROUPS + 1];
  space_room rooms[SPACE_GROUPS];
  sort_groups(tree, &node, cut.groups, start);
  node.child = tree->node_count;
  for (uint32_t g = 0; g < cut.groups; g++) {
    if (start[g] == start[g + 1]) continue;
    if (!add_node(context, tree, start[g], start[g + 1])) return false;
    rooms[node.children++] = cut.room[g];
  }
  bool both = start[0] < start[1] && start[cut.groups - 1] < start[cut.groups];
  node.apart = cut.apart && both;
  ((space_node *)tree->nodes.data)[index] = node;
  for (uint32_t c = 0; c < node.children; c++) {
    if (!split(context, tree, rule, node.child + c, &rooms[c], depth + 1)) return false;
  }
  return true;
}

/* ---- pairs ----------------------------------------------------------------------------------------------------- */

typedef struct descent {
  const broad_view *view;
  const space_item *items;
  const space_node *nodes;
  pair_list *out;
  bool failed; /* no memory */
} descent;

static void test(descent *d, const space_item *a, const space_item *b) {
  if (!boxes_meet_branchless(&a->box, &b->box) || !view_counts(d->view, a->slot, b->slot)) return;
  if (!pair_list_push(d->view->context, d->out, a->slot, b->slot)) d->failed = true;
}

static void test_leaves(descent *d, const space_node *a, const space_node *b) {
  for (uint32_t i = a->begin; i < a->end && !d->failed; i++) {
    if (!boxes_meet_branchless(&d->items[i].box, &b->box)) continue;
    for (uint32_t j = b->begin; j < b->end; j++) test(d, &d->items[i], &d->items[j]);
  }
}

/* Pairs of one box below `a` and one below `b`; the larger node is opened. At most 2 SPACE_DEPTH deep. */
static void join(descent *d, const space_node *a, const space_node *b) {
  if (d->failed || !boxes_meet_branchless(&a->box, &b->box)) return;
  if (a->children == 0 && b->children == 0) {
    test_leaves(d, a, b);
    return;
  }
  bool open_b = a->children == 0 || (b->children != 0 && b->end - b->begin > a->end - a->begin);
  const space_node *open = open_b ? b : a, *other = open_b ? a : b;
  for (uint32_t c = 0; c < open->children; c++) join(d, d->nodes + open->child + c, other);
}

/* Pairs of two boxes below `a`. */
static void join_self(descent *d, const space_node *a) {
  for (uint32_t i = a->begin; a->children == 0 && i < a->end && !d->failed; i++) {
    for (uint32_t j = i + 1; j < a->end; j++) test(d, &d->items[i], &d->items[j]);
  }
  const space_node *child = d->nodes + a->child;
  for (uint32_t i = 0; i < a->children; i++) {
    join_self(d, &child[i]);
    for (uint32_t j = i + 1; j < a->children; j++) {
      if (a->apart && i == 0 && j == a->children - 1u) continue;
      join(d, &child[i], &child[j]);
    }
  }
}

/* Builds the tree over the boxes of the view and appends its pairs. `first` makes the root's room from the box around
 * all. */
static graze_status find_by_rule(space_tree *tree, const broad_view *view, space_rule *rule,
                                 void (*first)(const graze_box *box, space_room *room), pair_list *out) {
  tree->node_count = 0;
  if (!gather(tree, view)) return GRAZE_ERROR_MEMORY;
  if (tree->count < 2) return GRAZE_OK;
  if (!add_node(view->context, tree, 0, tree->count)) return GRAZE_ERROR_MEMORY;
  space_room room = {0};
  first(&((const space_node *)tree->nodes.data)->box, &room);
  if (!split(view->context, tree, rule, 0, &room, 0)) return GRAZE_ERROR_MEMORY;
  descent d = {view, tree->items.data, tree->nodes.data, out, false};
  join_self(&d, d.nodes);
  return d.failed ? GRAZE_ERROR_MEMORY : GRAZE_OK;
}

static void release(const graze_context *context, void *state) {
  space_tree *tree = state;
  gz_buffer_release(context, &tree->items);
  gz_buffer_release(context, &tree->sorted);
  gz_buffer_release(context, &tree->nodes);
}

static size_t bytes(const void *state) {
  const space_tree *tree = state;
  return tree->items.bytes + tree->sorted.bytes + tree->nodes.bytes;
}

/* ---- loose octree ------------------------------------------------------------------------------------------------ */

/* Loose octree.
 *
 * A cell of edge s may hold every box whose centre is in it and whose longest edge is at most s: such a box stays in
 * the cell blown up to 2 s, which is what "loose, looseness 2" means. So where a box goes follows from its centre and
 * size alone, and a small box that lies across a border of a large cell does not stay at the top, as it would in an
 * octree that is not loose. Boxes too long for the cells of the next level stay in the node.
 *
 * T. Ulrich, "Loose octrees", Game Programming Gems, 2000. O(n log n + k) when boxes are spread as they are in common
 * scenes; long thin boxes count as large.
 */
enum { STAY = 8 };

static void first_cell(const graze_box *box, space_room *room) {
  for (int k = 0; k < 3; k++) {
    double half = 0.5 * box->max[k] - 0.5 * box->min[k];
    room->center[k] = 0.5 * box->min[k] + 0.5 * box->max[k];
    room->half = half > room->half ? half : room->half;
  }
}

static double longest_edge(const graze_box *b) {
  double longest = 0;
  for (int k = 0; k < 3; k++) {
    double edge = b->max[k] - b->min[k];
    longest = edge > longest ? edge : longest;
  }
  return longest;
}

static uint8_t octant(const graze_box *b, const double center[3]) {
  unsigned which = 0;
  for (int k = 0; k < 3; k++) which |= (unsigned)(0.5 * b->min[k] + 0.5 * b->max[k] >= center[k]) << k;
  return (uint8_t)which;
}

static bool deal_to_octants(space_item *items, uint32_t count, const graze_box *box, const space_room *room,
                            space_cut *cut) {
  (void)box;
  double half = 0.5 * room->half; /* of a child; its edge is room->half */
  if (half == 0) return false;
  uint32_t staying = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool fits = longest_edge(&items[i].box) <= room->half;
    items[i].group = fits ? octant(&items[i].box, room->center) : STAY;
    staying += !fits;
  }
  if (staying == count) return false;
  cut->groups = STAY + 1;
  cut->room[STAY].closed = true;
  for (unsigned c = 0; c < STAY; c++) {
    space_room *child = &cut->room[c];
    child->half = half;
    for (int k = 0; k < 3; k++) child->center[k] = room->center[k] + ((c >> k & 1) != 0 ? half : -half);
  }
  return true;
}

static graze_status find_octree(void *state, const broad_view *view, pair_list *out) {
  return find_by_rule(state, view, deal_to_octants, first_cell, out);
}

const broad_method gz_broad_octree = {
    .info = {"octree", "loose octree, looseness 2", "O(n log n + k) on common scenes", false},
    .state_bytes = sizeof(space_tree),
    .find = find_octree,
    .release = release,
    .bytes = bytes};

/* ---- kd-tree ----------------------------------------------------------------------------------------------------- */

/* kd-tree over boxes.
 *
 * A node is cut by a plane across the axis on which its boxes lie apart the farthest, through the median centre. Boxes
 * wholly below go to one child, those wholly above to another; those that the plane cuts or touches go to a third,
 * which is never cut on that axis again: on it they all share a point. Boxes that share a point on all three axes meet,
 * each with each, so that a leaf without end (equal boxes) costs what its pairs cost.
 *
 * J. L. Bentley, "Multidimensional binary search trees", 1975, for points; the third child is that of an interval tree.
 * O(n log n + k) on common scenes; each step down halves the boxes, nearly, or drops an axis.
 */
enum {
  MEDIAN_SAMPLE = 63, /* boxes of which the median is taken */
  BELOW = 0,
  ACROSS,
  ABOVE
};

static void all_axes(const graze_box *box, space_room *room) {
  (void)box;
  room->axes = 7;
}

/* How far the boxes lie apart on an axis: from the lowest upper end to the highest lower end. Not above 0: they share a
 * point. */
static double spread(const space_item *items, uint32_t count, int axis) {
  double lowest = (double)INFINITY, highest = -(double)INFINITY;
  for (uint32_t i = 0; i < count; i++) {
    const graze_box *b = &items[i].box;
    lowest = b->max[axis] < lowest ? b->max[axis] : lowest;
    highest = b->min[axis] > highest ? b->min[axis] : highest;
  }
  return highest > lowest ? highest - lowest : 0; /* subnormal numbers are kept: 0 only when equal */
}

static double median_center(const space_item *items, uint32_t count, int axis) {
  double sorted[MEDIAN_SAMPLE] = {0};
  uint32_t taken = count < MEDIAN_SAMPLE ? count : MEDIAN_SAMPLE;
  for (uint32_t i = 0; i < taken; i++) {
    const graze_box *b = &items[(uint64_t)i * count / taken].box;
    double center = 0.5 * b->min[axis] + 0.5 * b->max[axis];
    uint32_t j = i;
    for (; j > 0 && sorted[j - 1] > center; j--) sorted[j] = sorted[j - 1];
    sorted[j] = center;
  }
  return sorted[taken / 2];
}

static bool cut_at_median(space_item *items, uint32_t count, const graze_box *box, const space_room *room,
                          space_cut *cut) {
  (void)box;
  double widest = 0;
  int axis = -1;
  for (int k = 0; k < 3; k++) {
    double apart = (room->axes >> k & 1) != 0 ? spread(items, count, k) : 0;
    if (apart > widest) {
      widest = apart;
      axis = k;
    }
  }
  if (axis < 0) return false; /* all meet all */
  double plane = median_center(items, count, axis);
  for (uint32_t i = 0; i < count; i++) {
    const graze_box *b = &items[i].box;
    items[i].group = b->max[axis] < plane ? BELOW : b->min[axis] > plane ? ABOVE : ACROSS;
  }
  cut->groups = 3;
  cut->apart = true;
  cut->room[BELOW].axes = cut->room[ABOVE].axes = room->axes;
  cut->room[ACROSS].axes = room->axes & ~(1u << axis);
  return true;
}

static graze_status find_kdtree(void *state, const broad_view *view, pair_list *out) {
  return find_by_rule(state, view, cut_at_median, all_axes, out);
}

const broad_method gz_broad_kdtree = {
    .info = {"kdtree", "kd-tree, boxes on a plane in a child of their own", "O(n log n + k) on common scenes", false},
    .state_bytes = sizeof(space_tree),
    .find = find_kdtree,
    .release = release,
    .bytes = bytes};

/* ---- BSP --------------------------------------------------------------------------------------------------------- */

/* Binary space partition over boxes.
 *
 * Planes have one of thirteen directions: the three axes, the six diagonals of two axes and the four of three. Boxes
 * that do not meet are always parted by the plane of a face, so that axes alone would do; a diagonal plane parts many
 * at once where things lie along a diagonal. A plane goes through a box of the node, at the end of the box in the
 * plane's direction. Of some planes for each direction the one is taken that parts the most pairs, below times above,
 * counted on a sample of the boxes: that leaves the least to be looked at. Boxes cut by the plane go to a third child
 * and are cut further with other planes.
 *
 * H. Fuchs, Z. Kedem, B. Naylor, "On visible surface generation by a priori tree structures", 1980, for the tree; the
 * directions are those of the 26-faced bounding volumes of Klosowski et al., 1998. O(n log n + k) on common scenes, two
 * to three times a kd-tree's time for the search of planes.
 *
 * The ends of a box along a diagonal are sums of two or three of its numbers, which are rounded. Rounding keeps order:
 * a point of two boxes, its numbers summed alike, is between the rounded ends of both, so that boxes held to be parted
 * by a plane are.
 */
enum {
  DIRECTIONS = 13,
  PLANE_SAMPLE = 32,
  POSITIONS = 4, /* of planes that are tried in each direction */
};

static const int8_t directions[DIRECTIONS][3] = {{1, 0, 0},  {0, 1, 0},  {0, 0, 1}, {1, 1, 0},  {1, -1, 0},
                                                 {1, 0, 1},  {1, 0, -1}, {0, 1, 1}, {0, 1, -1}, {1, 1, 1},
                                                 {1, 1, -1}, {1, -1, 1}, {-1, 1, 1}};

typedef struct bsp_span {
  double low, high;
} bsp_span;

/* From where to where a box reaches along a direction. */
static bsp_span span_of(const graze_box *box, int direction) {
  const int8_t *n = directions[direction];
  bsp_span span = {0, 0};
  for (int k = 0; k < 3; k++) {
    if (n[k] == 0) continue;
    span.low += n[k] > 0 ? box->min[k] : -box->max[k];
    span.high += n[k] > 0 ? box->max[k] : -box->min[k];
  }
  return span;
}

static uint8_t side(bsp_span s, double plane) {
  return s.high <= plane ? BELOW : s.low > plane ? ABOVE : ACROSS;
}

typedef struct bsp_plane {
  int direction;
  double at;
  uint32_t parts; /* pairs of the sample */
} bsp_plane;

/* Tries planes across one direction: through the end of the box that ends first, and of those a quarter, a half and
 * three quarters on. The first one parts something whenever a plane of this direction does. */
static void try_direction(const graze_box *sample, uint32_t taken, int direction, bsp_plane *best) {
  bsp_span spans[PLANE_SAMPLE];
  double ends[PLANE_SAMPLE];
  for (uint32_t i = 0; i < taken; i++) {
    spans[i] = span_of(&sample[i], direction);
    uint32_t j = i;
    for (; j > 0 && ends[j - 1] > spans[i].high; j--) ends[j] = ends[j - 1];
    ends[j] = spans[i].high;
  }
  for (uint32_t p = 0; p < POSITIONS; p++) {
    double plane = ends[p * taken / POSITIONS];
    uint32_t below = 0, above = 0;
    for (uint32_t i = 0; i < taken; i++) {
      below += spans[i].high <= plane;
      above += spans[i].low > plane;
    }
    if (below * above > best->parts) *best = (bsp_plane){direction, plane, below * above};
  }
}

static void anywhere(const graze_box *box, space_room *room) {
  (void)box;
  (void)room;
}

static bool cut_at_plane(space_item *items, uint32_t count, const graze_box *box, const space_room *room,
                         space_cut *cut) {
  (void)box;
  (void)room;
  graze_box sample[PLANE_SAMPLE];
  uint32_t taken = count < PLANE_SAMPLE ? count : PLANE_SAMPLE;
  for (uint32_t i = 0; i < taken; i++) sample[i] = items[(uint64_t)i * count / taken].box;
  bsp_plane plane = {0};
  for (int d = 0; d < DIRECTIONS; d++) try_direction(sample, taken, d, &plane);
  /* When not two of the sample lie apart, nearly all pairs meet. */
  if (plane.parts == 0) return false;
  for (uint32_t i = 0; i < count; i++) items[i].group = side(span_of(&items[i].box, plane.direction), plane.at);
  cut->groups = 3;
  cut->apart = true;
  return true;
}

static graze_status find_bsp(void *state, const broad_view *view, pair_list *out) {
  return find_by_rule(state, view, cut_at_plane, anywhere, out);
}

const broad_method gz_broad_bsp = {
    .info = {"bsp", "binary space partition, planes of thirteen directions", "O(n log n + k) on common scenes", false},
    .state_bytes = sizeof(space_tree),
    .find = find_bsp,
    .release = release,
    .bytes = bytes};
