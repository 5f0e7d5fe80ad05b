/* Dynamic tree of fat boxes, and the pairs of fat boxes that meet.
 *
 * Each box lies in a fat box that is a little larger; the tree holds the fat ones, and the pairs of them that meet are
 * kept in lists. A box that moves within its fat box needs no search: its pairs are in its list and are compared again,
 * on the caller's numbers, so that what is told is exact. A box that leaves gets a new fat box, a new place in the tree
 * and a new list. Where many left at once, and while nearly everything moves, all fat boxes, lists and the tree are
 * made anew with the packed hierarchy (bvh.h), which costs less a box than one search of the tree.
 *
 * The margin of a fat box is MARGIN_STEPS times the box's own speed, measured from how far it got since its fat box was
 * put and in how many updates; at most a quarter of its mean edge, for the lists get long, and a sixty-fourth at least.
 * A box too fast for that gets the least margin, as it will leave anyway. A margin at most halves from one fat box to
 * the next. Before a speed is known: a sixteenth.
 *
 * Sources: tree.h, and L. Verlet below. O(n) anew; O(e) for e edited boxes that stay in their fat boxes, O(e log n) for
 * those that leave. Memory at five neighbours each: 320 bytes a box after the first update, 820 once all were made
 * anew.
 */
#include "broad/tree/tree.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "broad/bvh/bvh.h"

/* ---- neighbour lists --------------------------------------------------------------------------------------------- */

/* For each slot the slots that are near it: a list of pairs that is looked through again instead of searched again.
 *
 * L. Verlet, "Computer experiments on classical fluids", 1967. Each pair is in the lists of both its slots, with the
 * place of its other half, so that pairs come and go in constant time, whatever the lengths of the lists. One of the
 * two owns it, so that all pairs can be looked at once. An entry knows whether the boxes met when they were looked at
 * last. Memory: 16 bytes a pair and 32 a slot.
 */
#define NEIGHBOUR_MET UINT32_C(0x80000000)

typedef struct neighbour {
  uint32_t partner; /* slot, and NEIGHBOUR_MET */
  uint32_t place;   /* of the other half in the partner's list */
} neighbour;

typedef struct neighbour_head {
  uint64_t start; /* in the array of entries */
  uint32_t count, room;
} neighbour_head;

/* One half of each pair is in the list of what a slot owns, the other in the list of what its partner does not own. */
typedef enum neighbour_side { NEIGHBOUR_OWN = 0, NEIGHBOUR_OTHER = 1 } neighbour_side;

/* Zero-initialised. */
typedef struct neighbour_lists {
  buffer heads[2]; /* by side: neighbour_head by slot */
  buffer entries[2];
  uint64_t end[2]; /* entries are below */
} neighbour_lists;

static inline neighbour_head *neighbours_of(const neighbour_lists *lists, neighbour_side side, uint32_t slot) {
  return (neighbour_head *)lists->heads[side].data + slot;
}

static inline neighbour *neighbour_entries(const neighbour_lists *lists, neighbour_side side, uint32_t slot) {
  return (neighbour *)lists->entries[side].data + neighbours_of(lists, side, slot)->start;
}

static neighbour_side opposite(neighbour_side side) {
  return side == NEIGHBOUR_OWN ? NEIGHBOUR_OTHER : NEIGHBOUR_OWN;
}

static bool reserve_entries(const graze_context *context, neighbour_lists *lists, neighbour_side side, uint64_t entries,
                            uint64_t keep) {
  return gz_buffer_reserve(context, &lists->entries[side], (size_t)entries * sizeof(neighbour),
                           (size_t)keep * sizeof(neighbour));
}

/* From counts to lists that are empty, with room for the count and a little more. */
static bool lay_out(const graze_context *context, neighbour_lists *lists, neighbour_side side, uint32_t slots) {
  neighbour_head *heads = lists->heads[side].data;
  uint64_t end = 0;
  for (uint32_t i = 0; i < slots; i++) {
    uint32_t room = heads[i].count + heads[i].count / 4 + 1; /* most come and go without a move of the list */
    heads[i] = (neighbour_head){end, 0, room};
    end += room;
  }
  lists->end[side] = 0;
  if (!reserve_entries(context, lists, side, end, 0)) return false;
  lists->end[side] = end;
  return true;
}

/* Empty lists for slots from `known` up. False: no memory. */
static bool neighbours_grow(const graze_context *context, neighbour_lists *lists, uint32_t slots, uint32_t known) {
  for (int side = 0; side < 2; side++) {
    buffer *heads = &lists->heads[side];
    if (!gz_buffer_reserve(context, heads, slots * sizeof(neighbour_head), known * sizeof(neighbour_head)))
      return false;
    for (uint32_t i = known; i < slots; i++) ((neighbour_head *)heads->data)[i] = (neighbour_head){0, 0, 0};
  }
  return true;
}

/* Lists of these pairs for slots below `slots`; those that meet have NEIGHBOUR_MET in b. False: no memory. */
static bool neighbours_fill(const graze_context *context, neighbour_lists *lists, const pair_list *pairs,
                            uint32_t slots) {
  const graze_box_pair *p = pair_list_data(pairs);
  if (!neighbours_grow(context, lists, slots, 0)) return false;
  neighbour_head *own = lists->heads[NEIGHBOUR_OWN].data, *other = lists->heads[NEIGHBOUR_OTHER].data;
  for (uint64_t i = 0; i < pairs->count; i++) {
    own[p[i].a].count++;
    other[p[i].b & ~NEIGHBOUR_MET].count++;
  }
  if (!lay_out(context, lists, NEIGHBOUR_OWN, slots) || !lay_out(context, lists, NEIGHBOUR_OTHER, slots)) return false;
  neighbour *owned = lists->entries[NEIGHBOUR_OWN].data, *others = lists->entries[NEIGHBOUR_OTHER].data;
  for (uint64_t i = 0; i < pairs->count; i++) {
    neighbour_head *a = &own[p[i].a], *b = &other[p[i].b & ~NEIGHBOUR_MET];
    owned[a->start + a->count] = (neighbour){p[i].b, b->count};
    others[b->start + b->count] = (neighbour){p[i].a | (p[i].b & NEIGHBOUR_MET), a->count};
    a->count++;
    b->count++;
  }
  return true;
}

/* Room for one more entry; a list that is full moves to the end. */
static bool make_room(const graze_context *context, neighbour_lists *lists, neighbour_side side, uint32_t slot) {
  neighbour_head *head = neighbours_of(lists, side, slot);
  if (head->count < head->room) return true;
  uint32_t room = 2 * head->room + 4;
  uint64_t end = lists->end[side];
  if (room > UINT32_MAX / 2 || !reserve_entries(context, lists, side, end + room, end)) return false;
  const neighbour *from = neighbour_entries(lists, side, slot);
  if (head->count > 0) memcpy((neighbour *)lists->entries[side].data + end, from, head->count * sizeof *from);
  head->start = end;
  head->room = room;
  lists->end[side] = end + room;
  return true;
}

/* Adds a pair that is not there; a owns it. False: no memory, and nothing has changed. */
static bool neighbours_link(const graze_context *context, neighbour_lists *lists, uint32_t a, uint32_t b, bool met) {
  if (!make_room(context, lists, NEIGHBOUR_OWN, a) || !make_room(context, lists, NEIGHBOUR_OTHER, b)) return false;
  uint32_t place_a = neighbours_of(lists, NEIGHBOUR_OWN, a)->count++,
           place_b = neighbours_of(lists, NEIGHBOUR_OTHER, b)->count++;
  uint32_t bit = met ? NEIGHBOUR_MET : 0;
  neighbour_entries(lists, NEIGHBOUR_OWN, a)[place_a] = (neighbour){b | bit, place_b};
  neighbour_entries(lists, NEIGHBOUR_OTHER, b)[place_b] = (neighbour){a | bit, place_a};
  return true;
}

/* One half: the last entry takes the place, and its other half gets to know. */
static void drop(const neighbour_lists *lists, neighbour_side side, uint32_t slot, uint32_t place) {
  neighbour *entries = neighbour_entries(lists, side, slot);
  uint32_t last = --neighbours_of(lists, side, slot)->count;
  if (place == last) return;
  neighbour moved = entries[place] = entries[last];
  neighbour_entries(lists, opposite(side), moved.partner & ~NEIGHBOUR_MET)[moved.place].place = place;
}

/* Takes out the pair at a place of a list of a's; the last entry takes the place. */
static void neighbours_unlink(neighbour_lists *lists, neighbour_side side, uint32_t a, uint32_t place) {
  neighbour entry = neighbour_entries(lists, side, a)[place];
  drop(lists, opposite(side), entry.partner & ~NEIGHBOUR_MET, entry.place);
  drop(lists, side, a, place);
}

/* Notes whether the pair at a place of a list of a's meets. */
static void neighbours_note(neighbour_lists *lists, neighbour_side side, uint32_t a, uint32_t place, bool met) {
  neighbour *entry = &neighbour_entries(lists, side, a)[place];
  neighbour *other = &neighbour_entries(lists, opposite(side), entry->partner & ~NEIGHBOUR_MET)[entry->place];
  uint32_t bit = met ? NEIGHBOUR_MET : 0;
  entry->partner = (entry->partner & ~NEIGHBOUR_MET) | bit;
  other->partner = (other->partner & ~NEIGHBOUR_MET) | bit;
}

static void neighbours_release(const graze_context *context, neighbour_lists *lists) {
  for (int side = 0; side < 2; side++) {
    gz_buffer_release(context, &lists->heads[side]);
    gz_buffer_release(context, &lists->entries[side]);
  }
}

static size_t neighbours_bytes(const neighbour_lists *lists) {
  return lists->heads[0].bytes + lists->heads[1].bytes + lists->entries[0].bytes + lists->entries[1].bytes;
}

/* ---- the state --------------------------------------------------------------------------------------------------- */

enum { MARGIN_STEPS = 22 };

/* What becomes of a slot in an update. */
enum { SLOT_STAYS = 0, SLOT_LEFT, SLOT_DONE };

typedef struct tree_state {
  hierarchy h;
  pair_lists parts;
  pair_list pairs; /* of fat boxes, while all is made anew */
  box_tree tree;
  neighbour_lists neighbours, before; /* before: of the last start but one, kept for its memory */
  buffer fat;                         /* float[6] by slot: low x y z, high x y z; a free slot has an empty one */
  buffer placed;                      /* number of the update in which the fat box was put, by slot */
  buffer marks;                       /* by slot: partners that met, see relist */
  buffer fates;                       /* by slot */
  buffer left;                        /* slots that left their fat boxes */
  buffer hits;
  uint32_t slots; /* the arrays are for */
  uint32_t step;  /* number of the update */
  uint32_t mark;  /* last one given */
  uint32_t left_count;
  uint64_t left_since; /* all was made anew */
  bool anew;           /* the last step did that */
} tree_state;

typedef float fat_box[6];

static fat_box *fats_of(const tree_state *s) {
  return s->fat.data;
}

/* ---- fat boxes ------------------------------------------------------------------------------------------------- */

/* A float at most x, and at least x, within two units of the last place. */
static inline float float_below(double x) {
  float f = (float)(x - (fabs(x) * 0x1p-23 + 0x1p-149));
  return f < FLT_MAX ? f : FLT_MAX;
}

static inline float float_above(double x) {
  return -float_below(-x);
}

static bool has_fat(const fat_box fat) {
  return fat[0] <= fat[3];
}

static bool fat_holds(const fat_box fat, const graze_box *box) {
  bool holds = true;
  for (int k = 0; k < 3; k++) holds &= ((double)fat[k] <= box->min[k]) & ((double)fat[3 + k] >= box->max[k]);
  return holds;
}

static double margin_of(const tree_state *s, uint32_t slot, const graze_box *box) {
  const float *fat = fats_of(s)[slot];
  double extent = 0, moved = 0;
  for (int k = 0; k < 3; k++) {
    extent += (box->max[k] - box->min[k]) / 3;
    if (!has_fat(fat)) continue;
    double by = fabs((0.5 * box->min[k] + 0.5 * box->max[k]) - (0.5 * (double)fat[k] + 0.5 * (double)fat[3 + k]));
    if (by > moved) moved = by;
  }
  if (!(extent < 1e300)) return 0;
  if (!has_fat(fat)) return extent / 16;
  uint32_t steps = s->step - ((const uint32_t *)s->placed.data)[slot];
  double least = extent / 64, most = extent / 4, speed = moved / (double)(steps > 0 ? steps : 1);
  double wanted = MARGIN_STEPS * speed;
  double half = 0.25 * (((double)fat[3] - (double)fat[0]) - (box->max[0] - box->min[0])); /* of the margin so far */
  if (half > wanted) wanted = half; /* it may only just have turned round */
  if (!(wanted > least) || 4 * speed > most) return least;
  return wanted < most ? wanted : most;
}

/* A new fat box, or an empty one for a slot that can be in no pair. */
static void put_fat(tree_state *s, const broad_view *view, uint32_t slot) {
  float *fat = fats_of(s)[slot];
  if (!view_takes(view, slot)) {
    for (int k = 0; k < 3; k++) {
      fat[k] = INFINITY;
      fat[3 + k] = -INFINITY;
    }
    return;
  }
  graze_box box = view_box(view, slot);
  double margin = margin_of(s, slot, &box);
  for (int k = 0; k < 3; k++) {
    fat[k] = float_below(box.min[k] - margin);
    fat[3 + k] = float_above(box.max[k] + margin);
  }
  ((uint32_t *)s->placed.data)[slot] = s->step;
}

/* Arrays for all slots of the view; new slots have nothing. */
static bool reserve(tree_state *s, const broad_view *view) {
  const graze_context *context = view->context;
  size_t n = view->count, known = s->slots < view->count ? s->slots : view->count;
  if (!gz_buffer_reserve(context, &s->fat, n * sizeof(fat_box), known * sizeof(fat_box)) ||
      !gz_buffer_reserve(context, &s->placed, n * sizeof(uint32_t), known * sizeof(uint32_t)) ||
      !gz_buffer_reserve(context, &s->marks, n * sizeof(uint32_t), known * sizeof(uint32_t)) ||
      !gz_buffer_reserve(context, &s->fates, n, known) ||
      !gz_buffer_reserve(context, &s->left, n * sizeof(uint32_t), 0) ||
      !gz_tree_reserve(context, &s->tree, view->count, (uint32_t)known) ||
      !neighbours_grow(context, &s->neighbours, view->count, (uint32_t)known)) {
    return false;
  }
  for (size_t i = known; i < n; i++) {
    float *fat = fats_of(s)[i];
    for (int k = 0; k < 3; k++) {
      fat[k] = INFINITY;
      fat[3 + k] = -INFINITY;
    }
    ((uint32_t *)s->placed.data)[i] = s->step;
    ((uint32_t *)s->marks.data)[i] = 0;
    ((uint8_t *)s->fates.data)[i] = SLOT_STAYS;
    ((uint32_t *)s->tree.leaf_of.data)[i] = TREE_NONE;
  }
  s->slots = view->count;
  return true;
}

/* ---- all anew -------------------------------------------------------------------------------------------------- */

/* As view_meet for pairs of the lists, whose layers meet. No branch: whether two near boxes meet cannot be foretold. */
static inline bool slots_meet(const broad_view *view, uint32_t a, uint32_t b) {
  const char *p = view->data + (size_t)a * view->stride, *q = view->data + (size_t)b * view->stride;
  if (view->precision == GRAZE_FLOAT) {
    /* low x y z, high x; and low z, high x y z: two loads of four */
    const v4 low = v4_load((const float *)(const void *)q), high = v4_load((const float *)(const void *)(q + 8));
    const v4 own_low = v4_load((const float *)(const void *)p),
             own_high = v4_load((const float *)(const void *)(p + 8));
    const v4 to = {own_high[1], own_high[2], own_high[3], INFINITY};
    const v4 from = {-INFINITY, own_low[0], own_low[1], own_low[2]};
    return v4_all((low <= to) & (from <= high));
  }
  graze_box u = view_box(view, a), v = view_box(view, b);
  bool meet = true;
  for (int k = 0; k < 3; k++) meet &= (u.min[k] <= v.max[k]) & (v.min[k] <= u.max[k]);
  return meet;
}

/* New fat boxes, and in `pairs` those that meet. */
static bool pair_fat_boxes(tree_state *s, const broad_view *view) {
  for (uint32_t i = 0; i < view->count; i++) put_fat(s, view, i);
  broad_view fat = *view;
  fat.data = s->fat.data;
  fat.stride = sizeof(fat_box);
  fat.precision = GRAZE_FLOAT;
  fat.holes = true;
  s->pairs.count = 0;
  return gz_hierarchy_build(&s->h, &fat) && gz_hierarchy_pairs(&s->h, &fat, &s->parts, &s->pairs);
}

/* Marks the pairs of fat boxes whose boxes meet, and appends these to `out` unless it is NULL. False: no memory. */
static bool mark_met(tree_state *s, const broad_view *view, pair_list *out) {
  graze_box_pair *pairs = pair_list_data(&s->pairs);
  if (out != NULL && !pair_list_room(view->context, out, s->pairs.count)) return false;
  for (uint64_t i = 0; i < s->pairs.count; i++) {
    graze_box_pair pair = pairs[i];
    bool met = slots_meet(view, pair.a, pair.b);
    pairs[i].b |= met ? NEIGHBOUR_MET : 0;
    if (out == NULL) continue;
    pair_list_data(out)[out->count] = pair;
    out->count += met;
  }
  return true;
}

/* The tree over the fat boxes, in the order of the hierarchy. */
static void build_tree(tree_state *s, const broad_view *view) {
  gz_tree_clear(&s->tree, view->count);
  gz_tree_build(&s->tree, s->h.slots.data, s->h.count, (const float(*)[6])s->fat.data);
  s->left_since = 0;
}

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  tree_state *s = state;
  s->slots = 0; /* forgets speeds too: the boxes may be others */
  s->step = s->mark = 0;
  if (!reserve(s, view) || !pair_fat_boxes(s, view) || !mark_met(s, view, out) ||
      !neighbours_fill(view->context, &s->neighbours, &s->pairs, view->count)) {
    return GRAZE_ERROR_MEMORY;
  }
  build_tree(s, view);
  return GRAZE_OK;
}

/* ---- a step ---------------------------------------------------------------------------------------------------- */

typedef struct tree_step {
  tree_state *s;
  const broad_view *view;
  const broad_edits *edits;
  pair_list *began, *ended;
} tree_step;

/* A new mark, which no slot has. */
static uint32_t next_mark(tree_state *s) {
  if (++s->mark == 0) { /* once around: old marks must not count */
    memset(s->marks.data, 0, s->slots * sizeof(uint32_t));
    s->mark = 1;
  }
  return s->mark;
}

/* What began and ended between the lists before and now: slot by slot, for the lower slot owns a pair. */
static bool tell_changes(const tree_step *t) {
  tree_state *s = t->s;
  const graze_context *context = t->view->context;
  uint32_t *marks = s->marks.data;
  for (uint32_t a = 0; a < t->view->count; a++) {
    const neighbour *then = neighbour_entries(&s->before, NEIGHBOUR_OWN, a),
                    *now = neighbour_entries(&s->neighbours, NEIGHBOUR_OWN, a);
    const uint32_t thens = neighbours_of(&s->before, NEIGHBOUR_OWN, a)->count,
                   nows = neighbours_of(&s->neighbours, NEIGHBOUR_OWN, a)->count;
    const uint32_t mark = next_mark(s);
    for (uint32_t i = 0; i < thens; i++) {
      if ((then[i].partner & NEIGHBOUR_MET) != 0) marks[then[i].partner & ~NEIGHBOUR_MET] = mark;
    }
    for (uint32_t i = 0; i < nows; i++) {
      uint32_t b = now[i].partner & ~NEIGHBOUR_MET;
      if ((now[i].partner & NEIGHBOUR_MET) == 0) continue;
      if (marks[b] != mark && !pair_list_push(context, t->began, a, b)) return false;
      marks[b] = 0;
    }
    for (uint32_t i = 0; i < thens; i++) {
      uint32_t b = then[i].partner & ~NEIGHBOUR_MET;
      if ((then[i].partner & NEIGHBOUR_MET) == 0 || marks[b] != mark) continue;
      if (!pair_list_push(context, t->ended, a, b)) return false;
    }
  }
  return true;
}

static bool step_anew(const tree_step *t) {
  tree_state *s = t->s;
  if (!pair_fat_boxes(s, t->view) || !mark_met(s, t->view, NULL)) return false;
  neighbour_lists swap = s->neighbours;
  s->neighbours = s->before;
  s->before = swap;
  if (!neighbours_fill(t->view->context, &s->neighbours, &s->pairs, t->view->count) || !tell_changes(t)) return false;
  build_tree(s, t->view);
  return true;
}

/* Whether a slot is still in its fat box. A free slot is not. */
static inline bool stays(const tree_step *t, uint32_t slot) {
  const float *fat = fats_of(t->s)[slot];
  if (t->view->precision == GRAZE_DOUBLE) {
    graze_box box = view_box(t->view, slot);
    return fat_holds(fat, &box) && !box_is_empty(&box);
  }
  const char *at = t->view->data + (size_t)slot * t->view->stride;
  v4 low, high;
  memcpy(&low, at, sizeof low);
  memcpy(&high, at + 2 * sizeof(float), sizeof high);
  const v4 from = {fat[0], fat[1], fat[2], -INFINITY}, to = {INFINITY, fat[3], fat[4], fat[5]};
  return v4_all((from <= low) & (high <= to)) && low[0] <= low[3];
}

/* Finds the slots that left their fat boxes, came, or went. */
static void find_left(const tree_step *t) {
  tree_state *s = t->s;
  uint32_t *left = s->left.data;
  const uint32_t *leaf_of = s->tree.leaf_of.data;
  s->left_count = 0;
  for (uint32_t i = 0; i < t->edits->count; i++) {
    uint32_t slot = t->edits->slots[i];
    if (stays(t, slot)) continue;
    if (leaf_of[slot] == TREE_NONE && !view_takes(t->view, slot)) continue;
    left[s->left_count++] = slot;
    ((uint8_t *)s->fates.data)[slot] = SLOT_LEFT;
  }
}

/* Puts a slot where it is now. */
static bool replace(const tree_step *t, uint32_t slot) {
  tree_state *s = t->s;
  const graze_context *context = t->view->context;
  if (((const uint32_t *)s->tree.leaf_of.data)[slot] != TREE_NONE) gz_tree_remove(&s->tree, slot);
  put_fat(s, t->view, slot);
  if (has_fat(fats_of(s)[slot]) && !gz_tree_insert(context, &s->tree, slot, fats_of(s)[slot])) return false;
  return gz_tree_mend(context, &s->tree);
}

/* Takes a list of a slot that left apart. Partners that met are marked; of those, the ones that do not any more are
 * told. Pairs with slots whose lists are new already stay. */
static bool unlist(const tree_step *t, neighbour_side side, uint32_t slot) {
  tree_state *s = t->s;
  uint32_t *marks = s->marks.data;
  const uint8_t *fates = s->fates.data;
  for (uint32_t i = neighbours_of(&s->neighbours, side, slot)->count; i-- > 0;) {
    uint32_t entry = neighbour_entries(&s->neighbours, side, slot)[i].partner, b = entry & ~NEIGHBOUR_MET;
    if (fates[b] == SLOT_DONE) continue;
    if ((entry & NEIGHBOUR_MET) != 0) {
      marks[b] = s->mark;
      if (!slots_meet(t->view, slot, b) && !pair_list_push(t->view->context, t->ended, slot, b)) return false;
    }
    neighbours_unlink(&s->neighbours, side, slot, i);
  }
  return true;
}

/* The new list of a slot that left. All that left have new fat boxes before the first gets its list. */
static bool relist(const tree_step *t, uint32_t slot) {
  tree_state *s = t->s;
  const graze_context *context = t->view->context;
  uint32_t *marks = s->marks.data, count;
  uint8_t *fates = s->fates.data;
  (void)next_mark(s);
  if (!unlist(t, NEIGHBOUR_OWN, slot) || !unlist(t, NEIGHBOUR_OTHER, slot)) return false;
  fates[slot] = SLOT_DONE;
  if (!has_fat(fats_of(s)[slot])) return true;
  if (!gz_tree_query(context, &s->tree, fats_of(s)[slot], &s->hits, &count)) return false;
  const uint32_t *hits = s->hits.data;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t b = hits[i];
    if (fates[b] == SLOT_DONE || !view_counts(t->view, slot, b)) continue;
    bool met = slots_meet(t->view, slot, b);
    if (!neighbours_link(context, &s->neighbours, slot < b ? slot : b, slot < b ? b : slot, met)) return false;
    if (met && marks[b] != s->mark && !pair_list_push(context, t->began, slot, b)) return false;
  }
  return true;
}

/* Compares the pair at a place of a list of a's. */
static inline bool compare_one(const tree_step *t, neighbour_side side, uint32_t a, uint32_t entry, uint32_t place) {
  uint32_t b = entry & ~NEIGHBOUR_MET;
  bool met = slots_meet(t->view, a, b);
  if (met == ((entry & NEIGHBOUR_MET) != 0)) return true;
  neighbours_note(&t->s->neighbours, side, a, place, met);
  return pair_list_push(t->view->context, met ? t->began : t->ended, a, b);
}

/* Compares the pairs of the slots that stay in their fat boxes: those that a slot owns, and those whose owners were not
 * edited. */
static bool compare(const tree_step *t) {
  const neighbour_lists *neighbours = &t->s->neighbours;
  const broad_edits *edits = t->edits;
  const uint8_t *fates = t->s->fates.data;
  const bool all = edits->count == t->view->count;
  for (uint32_t e = 0; e < edits->count; e++) {
    uint32_t a = edits->slots[e];
    if (fates[a] != SLOT_STAYS) continue;
    const neighbour *entries = neighbour_entries(neighbours, NEIGHBOUR_OWN, a);
    for (uint32_t i = 0, n = neighbours_of(neighbours, NEIGHBOUR_OWN, a)->count; i < n; i++) {
      if (!compare_one(t, NEIGHBOUR_OWN, a, entries[i].partner, i)) return false;
    }
    if (all) continue;
    entries = neighbour_entries(neighbours, NEIGHBOUR_OTHER, a);
    for (uint32_t i = 0, n = neighbours_of(neighbours, NEIGHBOUR_OTHER, a)->count; i < n; i++) {
      if (edits->edited[entries[i].partner & ~NEIGHBOUR_MET]) continue;
      if (!compare_one(t, NEIGHBOUR_OTHER, a, entries[i].partner, i)) return false;
    }
  }
  return true;
}

/* Whether it costs less to make all anew than to search for those that left. A search costs some
 * twelve times as much as a box does anew; while most boxes move they all leave soon, and a new start spares all these
 * searches at once. */
static bool anew_pays(const tree_step *t) {
  const tree_state *s = t->s;
  uint64_t all = t->view->count, left = s->left_count;
  return 12 * left > all || (2 * (uint64_t)t->edits->count > all && 64 * s->left_since > all) ||
         s->tree.edits > 8 * all;
}

static bool step_some(const tree_step *t) {
  tree_state *s = t->s;
  const uint32_t *left = s->left.data;
  for (uint32_t i = 0; i < s->left_count; i++) {
    if (!replace(t, left[i])) return false;
  }
  for (uint32_t i = 0; i < s->left_count; i++) {
    if (!relist(t, left[i])) return false;
  }
  return compare(t);
}

static graze_status changes(void *state, const broad_view *view, const broad_edits *edits, pair_list *began,
                            pair_list *ended) {
  tree_state *s = state;
  tree_step t = {s, view, edits, began, ended};
  s->step++;
  if (!reserve(s, view)) return GRAZE_ERROR_MEMORY;
  find_left(&t);
  s->left_since += s->left_count;
  s->anew = anew_pays(&t);
  bool done = (s->anew ? step_anew : step_some)(&t);
  for (uint32_t i = 0; i < s->left_count; i++) ((uint8_t *)s->fates.data)[((uint32_t *)s->left.data)[i]] = SLOT_STAYS;
  return done ? GRAZE_OK : GRAZE_ERROR_MEMORY;
}

/* Where many edits were made, `changes` makes all anew as `find` does, and spares the sorting of all pairs. */
static bool made_anew(const void *state) {
  return ((const tree_state *)state)->anew;
}

static void release(const graze_context *context, void *state) {
  tree_state *s = state;
  gz_hierarchy_release(context, &s->h);
  gz_pair_lists_release(context, &s->parts);
  gz_pair_list_release(context, &s->pairs);
  gz_tree_release(context, &s->tree);
  neighbours_release(context, &s->neighbours);
  neighbours_release(context, &s->before);
  buffer *buffers[] = {&s->fat, &s->placed, &s->marks, &s->fates, &s->left, &s->hits};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) gz_buffer_release(context, buffers[i]);
}

static size_t bytes(const void *state) {
  const tree_state *s = state;
  return gz_hierarchy_bytes(&s->h) + s->pairs.memory.bytes + gz_tree_bytes(&s->tree) +
         neighbours_bytes(&s->neighbours) + neighbours_bytes(&s->before) + s->fat.bytes + s->placed.bytes +
         s->marks.bytes + s->fates.bytes + s->left.bytes + s->hits.bytes + gz_pair_lists_bytes(&s->parts);
}

const broad_method gz_broad_tree = {
    .info = {"tree", "dynamic tree of fat boxes, and the pairs of them that meet", "O(e log n + k) for e edits", true},
    .state_bytes = sizeof(tree_state),
    .most_slots = INT32_MAX,
    .find = find,
    .changes = changes,
    .made_anew = made_anew,
    .release = release,
    .bytes = bytes};
