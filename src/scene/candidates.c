/* Candidate pairs by a box hierarchy over the objects.
 *
 * The tree is made anew for every search (objects move) by halving at the median centre along the widest axis, which
 * cannot go wrong with any arrangement and takes O(n log n). Leaves hold eight objects. Nodes stand in depth-first
 * order with the number of the node that follows their subtree, so that a walk needs no stack: each leaf walks once and
 * meets only what stands behind it, so that every pair comes up once. Leaves are shared out to the threads; sorting the
 * pairs at the end makes their order independent of it.
 */
#include "scene/candidates.h"

#include <string.h>

#include "base/context.h"
#include "base/sort.h"

enum { LEAF_OBJECTS = 8, LEAVES_LEAST = 64 };

/* ---- pair sets ---- */

bool pair_set_add(const graze_context *context, pair_set *set, uint64_t key) {
  size_t bytes = set->count * sizeof key;
  if (!buffer_reserve(context, &set->keys, bytes + sizeof key, bytes)) return false;
  ((uint64_t *)set->keys.data)[set->count++] = key;
  return true;
}

bool pair_set_finish(const graze_context *context, pair_set *set, uint32_t limit) {
  set->limit = limit;
  if (set->count == 0) return true;
  if (!buffer_reserve(context, &set->scratch, set->count * sizeof(uint64_t), 0)) return false;
  if (!buffer_reserve(context, &set->starts, (limit + (size_t)1) * sizeof(uint64_t), 0)) return false;
  uint64_t *keys = set->keys.data, *starts = set->starts.data, count = 0;
  sort_keys(keys, set->scratch.data, set->count);
  for (uint64_t i = 0; i < set->count; i++) {
    if (count == 0 || keys[i] != keys[count - 1]) keys[count++] = keys[i];
  }
  set->count = count;
  uint64_t next = 0;
  for (uint64_t low = 0; low <= limit; low++) {
    while (next < count && keys[next] >> 32 < low) next++;
    starts[low] = next;
  }
  return true;
}

bool pair_set_has(const pair_set *set, uint32_t x, uint32_t y) {
  uint64_t key = pair_key(x, y);
  const uint64_t *keys = set->keys.data, *starts = set->starts.data;
  uint64_t begin = starts[key >> 32], end = starts[(key >> 32) + 1];
  while (begin < end) {
    uint64_t middle = begin + (end - begin) / 2;
    if (keys[middle] < key) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin < set->count && keys[begin] == key;
}

void pair_set_release(const graze_context *context, pair_set *set) {
  buffer_release(context, &set->keys);
  buffer_release(context, &set->scratch);
  buffer_release(context, &set->starts);
}

/* ---- the tree ---- */

typedef struct item {
  double center[3];
  uint32_t object;
} item;

typedef struct node {
  graze_box box;
  uint32_t first; /* items below */
  uint32_t end;
  uint32_t after; /* the node behind the subtree; the next one for leaves */
  bool leaf;
} node;

typedef struct search {
  const graze_context *context;
  const filter *rules;
  candidates *out;
  const graze_box *given; /* by object */
  item *items;            /* in the order of the tree */
  graze_box *boxes;       /* of the items */
  node *nodes;
  uint32_t count;
  uint32_t node_count;
  pieces cut; /* of nodes */
  _Atomic bool failed;
} search;

static bool meet(const graze_box *a, const graze_box *b) {
  return (a->min[0] <= b->max[0]) & (b->min[0] <= a->max[0]) & (a->min[1] <= b->max[1]) & (b->min[1] <= a->max[1]) &
         (a->min[2] <= b->max[2]) & (b->min[2] <= a->max[2]);
}

static int widest_axis(const item *items, uint32_t count) {
  double low[3], high[3];
  for (int k = 0; k < 3; k++) low[k] = high[k] = items[0].center[k];
  for (uint32_t i = 1; i < count; i++) {
    for (int k = 0; k < 3; k++) {
      low[k] = items[i].center[k] < low[k] ? items[i].center[k] : low[k];
      high[k] = items[i].center[k] > high[k] ? items[i].center[k] : high[k];
    }
  }
  int axis = 0;
  for (int k = 1; k < 3; k++) {
    if (0.5 * high[k] - 0.5 * low[k] > 0.5 * high[axis] - 0.5 * low[axis]) axis = k;
  }
  return axis;
}

static double middle_of_three(double x, double y, double z) {
  double low = x < y ? x : y, high = x < y ? y : x;
  return z < low ? low : z > high ? high : z;
}

/* Hoare's selection: items before place `k` are not greater than the one there, items behind not less. */
static void select_item(item *items, uint32_t count, uint32_t k, int axis) {
  int64_t low = 0, high = (int64_t)count - 1;
  while (low < high) {
    double pivot =
        middle_of_three(items[low].center[axis], items[low + (high - low) / 2].center[axis], items[high].center[axis]);
    int64_t i = low, j = high;
    while (i <= j) {
      while (items[i].center[axis] < pivot) i++;
      while (items[j].center[axis] > pivot) j--;
      if (i > j) break;
      item swap = items[i];
      items[i++] = items[j];
      items[j--] = swap;
    }
    if (k <= j) {
      high = j;
    } else if (k >= i) {
      low = i;
    } else {
      return;
    }
  }
}

static void grow(graze_box *box, const graze_box *other) {
  for (int k = 0; k < 3; k++) {
    if (other->min[k] < box->min[k]) box->min[k] = other->min[k];
    if (other->max[k] > box->max[k]) box->max[k] = other->max[k];
  }
}

static const graze_box *build(search *s, uint32_t first, uint32_t end) {
  node *n = s->nodes + s->node_count++;
  *n = (node){.first = first, .end = end, .leaf = end - first <= LEAF_OBJECTS};
  if (n->leaf) {
    for (uint32_t i = first; i < end; i++) s->boxes[i] = s->given[s->items[i].object];
    n->box = s->boxes[first];
    for (uint32_t i = first + 1; i < end; i++) grow(&n->box, s->boxes + i);
  } else {
    /* A whole number of full leaves goes left. */
    uint32_t leaves = (end - first + LEAF_OBJECTS - 1) / LEAF_OBJECTS, left = leaves / 2 * LEAF_OBJECTS;
    select_item(s->items + first, end - first, left, widest_axis(s->items + first, end - first));
    n->box = *build(s, first, first + left);
    grow(&n->box, build(s, first + left, end));
  }
  n->after = s->node_count;
  return &n->box;
}

/* ---- pairs ---- */

static bool emit(search *s, uint32_t piece, uint32_t x, uint32_t y) {
  uint32_t a = s->items[x].object, b = s->items[y].object;
  if (filter_ignores(s->rules, a, b)) return true;
  buffer *found = s->out->found + piece;
  size_t bytes = s->out->found_count[piece] * sizeof(uint64_t);
  if (!buffer_reserve(s->context, found, bytes + sizeof(uint64_t), bytes)) return false;
  ((uint64_t *)found->data)[s->out->found_count[piece]++] = pair_key(a, b);
  return true;
}

/* Items of `leaf` against items of `other`, which stands behind it or is it. */
static bool pair_leaves(search *s, uint32_t piece, const node *leaf, const node *other) {
  for (uint32_t x = leaf->first; x < leaf->end; x++) {
    if (!meet(s->boxes + x, &other->box)) continue;
    for (uint32_t y = other == leaf ? x + 1 : other->first; y < other->end; y++) {
      if (meet(s->boxes + x, s->boxes + y) && !emit(s, piece, x, y)) return false;
    }
  }
  return true;
}

static bool walk(search *s, uint32_t piece, uint32_t leaf_index) {
  const node *leaf = s->nodes + leaf_index;
  if (!pair_leaves(s, piece, leaf, leaf)) return false;
  for (uint32_t i = leaf->after; i < s->node_count;) {
    const node *n = s->nodes + i;
    if (!meet(&leaf->box, &n->box)) {
      i = n->after;
      continue;
    }
    if (n->leaf && !pair_leaves(s, piece, leaf, n)) return false;
    i++;
  }
  return true;
}

static void walk_piece(void *argument, uint32_t index) {
  search *s = argument;
  uint64_t end = pieces_end(&s->cut, index);
  s->out->found_count[index] = 0;
  for (uint64_t i = pieces_begin(&s->cut, index); i < end && !s->failed; i++) {
    if (s->nodes[i].leaf && !walk(s, index, (uint32_t)i)) s->failed = true;
  }
}

static graze_status merge(search *s) {
  candidates *c = s->out;
  uint64_t count = 0;
  for (uint32_t i = 0; i < s->cut.number; i++) count += c->found_count[i];
  if (count == 0) return GRAZE_OK;
  size_t bytes = count * sizeof(uint64_t);
  if (!buffer_reserve(s->context, &c->merged, 2 * bytes, 0)) return report_memory(s->context, 2 * bytes);
  uint64_t *pairs = c->merged.data;
  uint64_t at = 0;
  for (uint32_t i = 0; i < s->cut.number; i++) {
    if (c->found_count[i] != 0) memcpy(pairs + at, c->found[i].data, c->found_count[i] * sizeof *pairs);
    at += c->found_count[i];
  }
  sort_keys(pairs, pairs + count, count);
  c->pairs = pairs;
  c->count = count;
  return GRAZE_OK;
}

graze_status candidates_find(const graze_context *context, candidates *c, const graze_box *boxes, uint32_t count,
                             const filter *rules) {
  c->pairs = NULL;
  c->count = 0;
  if (count < 2) return GRAZE_OK;
  /* All leaves but the last are full, and there is one node fewer above them than leaves. */
  size_t nodes = 2 * ((size_t)count / LEAF_OBJECTS + 1);
  if (!buffer_reserve(context, &c->items, count * sizeof(item), 0) ||
      !buffer_reserve(context, &c->boxes, count * sizeof(graze_box), 0) ||
      !buffer_reserve(context, &c->nodes, nodes * sizeof(node), 0)) {
    return report_memory(context, count * (sizeof(item) + sizeof(graze_box)) + nodes * sizeof(node));
  }
  search s = {.context = context, .rules = rules, .out = c, .given = boxes, .items = c->items.data};
  s.boxes = c->boxes.data;
  s.nodes = c->nodes.data;
  for (uint32_t i = 0; i < count; i++) {
    if (boxes[i].min[0] > boxes[i].max[0]) continue;
    item *it = s.items + s.count++;
    for (int k = 0; k < 3; k++) it->center[k] = 0.5 * boxes[i].min[k] + 0.5 * boxes[i].max[k];
    it->object = i;
  }
  if (s.count < 2) return GRAZE_OK;
  build(&s, 0, s.count);
  s.cut = pieces_of(s.node_count, LEAVES_LEAST);
  parallel_for(context, s.cut.number, walk_piece, &s);
  if (s.failed) return report(context, GRAZE_ERROR_MEMORY, "out of memory: too many pairs of objects whose boxes meet");
  return merge(&s);
}

void candidates_release(const graze_context *context, candidates *c) {
  buffer_release(context, &c->items);
  buffer_release(context, &c->boxes);
  buffer_release(context, &c->nodes);
  buffer_release(context, &c->merged);
  for (int i = 0; i < PARALLEL_PIECES; i++) buffer_release(context, c->found + i);
}
