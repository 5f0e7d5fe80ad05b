/* Trees that cut space into rooms: building by a rule, and pairs by descending into two nodes at a time. */
#include "broad/space_tree.h"

#include <math.h>
#include <string.h>

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

graze_status gz_space_tree_find(space_tree *tree, const broad_view *view, space_rule *rule,
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

void gz_space_tree_release(const graze_context *context, void *state) {
  space_tree *tree = state;
  gz_buffer_release(context, &tree->items);
  gz_buffer_release(context, &tree->sorted);
  gz_buffer_release(context, &tree->nodes);
}

size_t gz_space_tree_bytes(const void *state) {
  const space_tree *tree = state;
  return tree->items.bytes + tree->sorted.bytes + tree->nodes.bytes;
}
