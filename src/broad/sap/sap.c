/* Incremental sweep and prune: the end points of all boxes in order along each of three axes, and the set of pairs.
 *
 * A box that moved has its end points shifted, past their neighbours, to where they belong now (insertion sort), which
 * is little work when it moved little. Two boxes begin or cease to overlap on an axis where a minimum and a maximum
 * cross:
 *
 *   what moves   which way   past a      then on this axis they   hence
 *   minimum      left        maximum     begin to overlap         the pair may begin
 *   maximum      right       minimum     begin to overlap         the pair may begin
 *   minimum      right       maximum     cease to overlap         the pair ends, if it was one
 *   maximum      left        minimum     cease to overlap         the pair ends, if it was one
 *   minimum      left        minimum     overlap as before        nothing
 *   minimum      right       minimum     overlap as before        nothing
 *   maximum      left        maximum     overlap as before        nothing
 *   maximum      right       maximum     overlap as before        nothing
 *
 * Of equal numbers the minima come first, so that boxes that touch overlap. Other equals stay in the order that they
 * had, which nothing depends on. "May begin" is confirmed, and "ends" denied, by all three axes of both boxes as they
 * are at the end of the update (view_meet): boxes are moved one after the other, and what holds between two of those
 * moves is of no interest. This is enough: a pair that changes has an axis on which it changes, hence a crossing of its
 * own that says so. And it is told once, because what was set right stays so.
 *
 * All pairs from nothing come from sort and sweep (sweep.c); end points are sorted at the first update after that
 * whose edits pay. Boxes that come and go are merged into the arrays and taken out of them in one pass each; when
 * shifting takes more than sorting would, as with boxes that jump, all pairs are found anew and compared.
 *
 * Source: Cohen, Lin, Manocha, Ponamgi, "I-COLLIDE", I3D 1995; Baraff 1992; batches: Tracy, Buss, Woods, "Efficient
 * Large-Scale Sweep and Prune Methods with AABB Insertion and Removal", VR 2009. O(e + swaps) time for e edits,
 * O(n + e log e) when boxes come or go; most end points that a box crosses are O(n^(2/3)) for motion by its own size.
 * Memory: 96 bytes a box for end points, 32 for its floats, 5 more; the manager; what sweep.c takes. */
#include "base/context.h"
#include "broad/pairs.h"
#include "broad/sweep/sweep.h"

typedef struct end_points { /* of one axis, in order */
  buffer keys;              /* uint64_t: the number, as an integer that orders in the same way */
  buffer tags;              /* uint32_t: slot * 2, + 1 for a maximum */
  buffer places;            /* uint32_t, by tag: where it is */
} end_points;

/* What a slot is to the structure. */
enum { SLOT_OUT = 0, SLOT_IN, SLOT_COMES, SLOT_GOES };

typedef struct sap_state {
  sweep_state sweep;
  pair_list pairs; /* while asleep: those of the last `find` */
  bool awake;      /* end points and the set of pairs are those of the last update */
  end_points axes[3];
  uint32_t count; /* of end points on an axis */
  uint32_t slots; /* that the arrays by slot are for */
  buffer roles;   /* uint8_t by slot */
  buffer reaches; /* by slot: hull of the box before and after the update, as floats */
  buffer indices; /* uint32_t by slot: in the list of boxes that the pass is in */
  buffer crossed; /* uint32_t: slots whose end points were crossed; lists of boxes that the pass is in */
  buffer comers;  /* end points to be merged, and room to sort them */
  pair_manager manager;
  pair_list began, ended; /* of this update */
  pair_list work[4];
  buffer scratch;
  uint64_t swaps; /* of this update */
  double swaps_an_edit;
} sap_state;

/* Nanoseconds, measured: an edit without its swaps, for each so many boxes, because less and less of what it looks at
 * is in a cache; a swap; a box in finding all pairs and in what becomes of them. */
static const double edit_cost = 300, edit_cost_boxes = 12000, swap_cost = 4.5, find_cost = 110;

/* How many times cheaper than finding all pairs the first edits must be for the end points to be sorted. */
static const double wake_factor = 4;

/* One pass of an update over its data. */
typedef struct sap_pass {
  sap_state *s;
  const broad_view *view;
  uint64_t swaps_most;
} sap_pass;

/* ---- numbers --------------------------------------------------------------------------------------------------- */

/* Integers in the order of the numbers; -0 and 0 are one. */
static inline uint64_t key_of(double x) {
  uint64_t bits;
  x += 0.0;
  memcpy(&bits, &x, sizeof bits);
  return bits >> 63 != 0 ? ~bits : bits | (uint64_t)1 << 63;
}

static inline bool is_max(uint32_t tag) {
  return (tag & 1) != 0;
}

typedef struct reach {
  float low[3], high[3];
  float unused[2]; /* so that one is within half a cache line */
} reach;

static inline bool reaches_meet(const reach *p, const reach *q) {
  return (p->low[0] <= q->high[0]) & (q->low[0] <= p->high[0]) & (p->low[1] <= q->high[1]) & (q->low[1] <= p->high[1]) &
         (p->low[2] <= q->high[2]) & (q->low[2] <= p->high[2]);
}

static void set_reach(const sap_pass *pass, uint32_t slot) {
  reach *r = (reach *)pass->s->reaches.data + slot;
  float box[6];
  pack_box(pass->view, slot, box);
  memcpy(r->low, box, sizeof r->low);
  memcpy(r->high, box + 3, sizeof r->high);
}

static void widen_reach(const sap_pass *pass, uint32_t slot) {
  reach *r = (reach *)pass->s->reaches.data + slot;
  float box[6];
  pack_box(pass->view, slot, box);
  for (int k = 0; k < 3; k++) {
    if (box[k] < r->low[k]) r->low[k] = box[k];
    if (box[3 + k] > r->high[k]) r->high[k] = box[3 + k];
  }
}

/* ---- the set of pairs ------------------------------------------------------------------------------------------ */

static bool begin_pair(const sap_pass *pass, uint32_t a, uint32_t b) {
  sap_state *s = pass->s;
  const graze_context *c = pass->view->context;
  bool fresh;
  if (!view_meet(pass->view, a, b)) return true;
  if (!gz_pair_manager_add(c, &s->manager, pair_of(a, b), &fresh)) return false;
  return !fresh || pair_list_push(c, &s->began, a, b);
}

static bool end_pair(const sap_pass *pass, uint32_t a, uint32_t b) {
  sap_state *s = pass->s;
  if (view_meet(pass->view, a, b) || !gz_pair_manager_remove(&s->manager, pair_of(a, b))) return true;
  return pair_list_push(pass->view->context, &s->ended, a, b);
}

/* ---- shifting -------------------------------------------------------------------------------------------------- */

/* Moves the end point at a place, whose key is new, to the left; gives the number of crossings of the other kind. */
static uint32_t shift_left(sap_pass *pass, int axis, uint32_t tag, uint64_t key) {
  end_points *e = &pass->s->axes[axis];
  uint64_t *keys = e->keys.data;
  uint32_t *tags = e->tags.data, *places = e->places.data, *crossed = pass->s->crossed.data;
  uint32_t start = places[tag], i = start, n = 0;
  bool max = is_max(tag);
  for (; i > 0; i--) {
    uint32_t other = tags[i - 1];
    if (keys[i - 1] < key || (keys[i - 1] == key && (max || !is_max(other)))) break;
    keys[i] = keys[i - 1];
    tags[i] = other;
    places[other] = i;
    crossed[n] = other / 2;
    n += is_max(other) != max;
  }
  keys[i] = key;
  tags[i] = tag;
  places[tag] = i;
  pass->s->swaps += start - i;
  return n;
}

static uint32_t shift_right(sap_pass *pass, int axis, uint32_t tag, uint64_t key) {
  end_points *e = &pass->s->axes[axis];
  uint64_t *keys = e->keys.data;
  uint32_t *tags = e->tags.data, *places = e->places.data, *crossed = pass->s->crossed.data;
  uint32_t start = places[tag], i = start, n = 0, last = pass->s->count - 1;
  bool max = is_max(tag);
  for (; i < last; i++) {
    uint32_t other = tags[i + 1];
    if (keys[i + 1] > key || (keys[i + 1] == key && (!max || is_max(other)))) break;
    keys[i] = keys[i + 1];
    tags[i] = other;
    places[other] = i;
    crossed[n] = other / 2;
    n += is_max(other) != max;
  }
  keys[i] = key;
  tags[i] = tag;
  places[tag] = i;
  pass->s->swaps += i - start;
  return n;
}

/* Gives an end point its number, and does what the table at the head says. */
static bool move_end(sap_pass *pass, int axis, uint32_t tag, double x) {
  sap_state *s = pass->s;
  uint64_t key = key_of(x), old = ((uint64_t *)s->axes[axis].keys.data)[((uint32_t *)s->axes[axis].places.data)[tag]];
  if (key == old) return true;
  bool left = key < old, begins = left != is_max(tag);
  uint32_t n = left ? shift_left(pass, axis, tag, key) : shift_right(pass, axis, tag, key);
  const uint32_t *crossed = s->crossed.data;
  const reach *reaches = s->reaches.data, *own = &reaches[tag / 2];
  for (uint32_t i = 0; i < n; i++) {
    if (!reaches_meet(own, &reaches[crossed[i]])) continue;
    if (!(begins ? begin_pair : end_pair)(pass, tag / 2, crossed[i])) return false;
  }
  return true;
}

/* The end that goes away from the other one first, so that a box's own never cross. */
static bool move_box(sap_pass *pass, uint32_t slot) {
  graze_box box = view_box(pass->view, slot);
  uint32_t min = 2 * slot, max = min + 1;
  for (int k = 0; k < 3; k++) {
    const end_points *e = &pass->s->axes[k];
    uint64_t old_max = ((uint64_t *)e->keys.data)[((uint32_t *)e->places.data)[max]];
    bool max_first = key_of(box.max[k]) > old_max;
    if (max_first && !move_end(pass, k, max, box.max[k])) return false;
    if (!move_end(pass, k, min, box.min[k])) return false;
    if (!max_first && !move_end(pass, k, max, box.max[k])) return false;
  }
  return true;
}

/* ---- sorting end points ---------------------------------------------------------------------------------------- */

typedef struct end_point {
  uint64_t key;
  uint32_t tag;
} end_point;

/* Stable; the result is in `points`. */
static void sort_end_points(end_point *points, end_point *scratch, size_t count) {
  enum { BITS = 11, DIGITS = 6, VALUES = 1 << BITS };
  size_t next[VALUES];
  end_point *from = points, *to = scratch;
  for (unsigned d = 0; d < DIGITS; d++) {
    memset(next, 0, sizeof next);
    for (size_t i = 0; i < count; i++) next[from[i].key >> d * BITS & (VALUES - 1)]++;
    if (next[from[0].key >> d * BITS & (VALUES - 1)] == count) continue;
    for (size_t v = 0, sum = 0; v < VALUES; v++) {
      size_t here = next[v];
      next[v] = sum;
      sum += here;
    }
    for (size_t i = 0; i < count; i++) to[next[from[i].key >> d * BITS & (VALUES - 1)]++] = from[i];
    end_point *other = from;
    from = to;
    to = other;
  }
  if (from != points) memcpy(points, from, count * sizeof *points);
}

/* The end points of the slots with this role, sorted; minima are put in before maxima and so come before equal ones.
 * Of `edits` only, when there are any. */
static size_t collect_end_points(const sap_pass *pass, int axis, const broad_edits *edits, uint8_t role,
                                 end_point *points, size_t room) {
  const uint8_t *roles = pass->s->roles.data;
  uint32_t slots = edits != NULL ? edits->count : pass->s->slots;
  size_t count = 0;
  for (uint32_t max = 0; max < 2; max++) {
    for (uint32_t i = 0; i < slots; i++) {
      uint32_t slot = edits != NULL ? edits->slots[i] : i;
      if (roles[slot] != role) continue;
      graze_box box = view_box(pass->view, slot);
      points[count++] = (end_point){key_of(max != 0 ? box.max[axis] : box.min[axis]), 2 * slot + max};
    }
  }
  sort_end_points(points, points + room, count);
  return count;
}

/* ---- boxes that go --------------------------------------------------------------------------------------------- */

static void remove_end_points(sap_state *s, int axis) {
  end_points *e = &s->axes[axis];
  uint64_t *keys = e->keys.data;
  uint32_t *tags = e->tags.data, *places = e->places.data, n = 0;
  const uint8_t *roles = s->roles.data;
  for (uint32_t i = 0; i < s->count; i++) {
    uint32_t tag = tags[i];
    if (roles[tag / 2] == SLOT_GOES) continue;
    keys[n] = keys[i];
    tags[n] = tag;
    places[tag] = n++;
  }
}

static bool remove_boxes(sap_pass *pass, const broad_edits *edits, uint32_t going) {
  sap_state *s = pass->s;
  uint8_t *roles = s->roles.data;
  if (!gz_pair_manager_drop(pass->view->context, &s->manager, roles, SLOT_GOES, &s->ended)) return false;
  for (int k = 0; k < 3; k++) remove_end_points(s, k);
  s->count -= 2 * going;
  for (uint32_t i = 0; i < edits->count; i++) {
    if (roles[edits->slots[i]] == SLOT_GOES) roles[edits->slots[i]] = SLOT_OUT;
  }
  return true;
}

/* ---- boxes that come ------------------------------------------------------------------------------------------- */

/* From the back, so that every end point is moved once. */
static void merge_end_points(sap_state *s, int axis, const end_point *points, uint32_t more) {
  end_points *e = &s->axes[axis];
  uint64_t *keys = e->keys.data;
  uint32_t *tags = e->tags.data, *places = e->places.data;
  uint32_t i = s->count, to = s->count + more;
  while (more > 0) {
    end_point p = points[more - 1];
    bool behind = i > 0 && (keys[i - 1] > p.key || (keys[i - 1] == p.key && is_max(tags[i - 1]) && !is_max(p.tag)));
    to--;
    if (behind) {
      i--;
      keys[to] = keys[i];
      tags[to] = tags[i];
    } else {
      more--;
      keys[to] = p.key;
      tags[to] = p.tag;
    }
    places[tags[to]] = to;
  }
}

/* The boxes that the pass is in, in two lists. */
typedef struct open_boxes {
  uint32_t *slots[2]; /* those that were there, those that come */
  uint32_t count[2];
} open_boxes;

static bool meet_open(const sap_pass *pass, const open_boxes *open, int list, uint32_t slot) {
  const reach *reaches = pass->s->reaches.data, *own = &reaches[slot];
  for (uint32_t i = 0; i < open->count[list]; i++) {
    uint32_t other = open->slots[list][i];
    if (reaches_meet(own, &reaches[other]) && !begin_pair(pass, slot, other)) return false;
  }
  return true;
}

/* One pass along an axis: boxes that come against all that are open, the others against those that come. */
static bool pair_comers(const sap_pass *pass, int axis, uint32_t coming) {
  sap_state *s = pass->s;
  const uint32_t *tags = s->axes[axis].tags.data;
  const uint8_t *roles = s->roles.data;
  uint32_t *indices = s->indices.data, *lists = s->crossed.data;
  open_boxes open = {{lists, lists + s->slots}, {0, 0}};
  for (uint32_t i = 0; i < s->count && (coming > 0 || open.count[1] > 0); i++) {
    uint32_t slot = tags[i] / 2;
    int list = roles[slot] == SLOT_COMES;
    if (is_max(tags[i])) {
      uint32_t last = open.slots[list][--open.count[list]];
      open.slots[list][indices[slot]] = last;
      indices[last] = indices[slot];
      continue;
    }
    if (list == 1) coming--;
    if (!meet_open(pass, &open, 1, slot) || (list == 1 && !meet_open(pass, &open, 0, slot))) return false;
    indices[slot] = open.count[list];
    open.slots[list][open.count[list]++] = slot;
  }
  return true;
}

static bool reserve_end_points(const graze_context *c, sap_state *s, uint32_t count) {
  for (int k = 0; k < 3; k++) {
    end_points *e = &s->axes[k];
    if (!gz_buffer_reserve(c, &e->keys, count * sizeof(uint64_t), s->count * sizeof(uint64_t)) ||
        !gz_buffer_reserve(c, &e->tags, count * sizeof(uint32_t), s->count * sizeof(uint32_t))) {
      return false;
    }
  }
  return true;
}

static bool add_boxes(sap_pass *pass, const broad_edits *edits, uint32_t coming) {
  sap_state *s = pass->s;
  const graze_context *c = pass->view->context;
  size_t room = 2 * (size_t)coming;
  if (!reserve_end_points(c, s, s->count + 2 * coming) ||
      !gz_buffer_reserve(c, &s->comers, 2 * room * sizeof(end_point), 0)) {
    return false;
  }
  uint8_t *roles = s->roles.data;
  for (int k = 0; k < 3; k++) {
    collect_end_points(pass, k, edits, SLOT_COMES, s->comers.data, room);
    merge_end_points(s, k, s->comers.data, 2 * coming);
  }
  s->count += 2 * coming;
  bool done = pair_comers(pass, s->sweep.plan.axis, coming);
  for (uint32_t i = 0; i < edits->count; i++) {
    if (roles[edits->slots[i]] == SLOT_COMES) roles[edits->slots[i]] = SLOT_IN;
  }
  return done;
}

/* ---- from nothing ---------------------------------------------------------------------------------------------- */

/* Room for what is kept by slot. New slots are out. */
static bool reserve_slots(const graze_context *c, sap_state *s, uint32_t slots) {
  size_t n = slots, old = s->slots;
  if (n <= old) return true;
  for (int k = 0; k < 3; k++) {
    if (!gz_buffer_reserve(c, &s->axes[k].places, 2 * n * sizeof(uint32_t), 2 * old * sizeof(uint32_t))) return false;
  }
  if (!gz_buffer_reserve(c, &s->roles, n, old) ||
      !gz_buffer_reserve(c, &s->reaches, n * sizeof(reach), old * sizeof(reach)) ||
      !gz_buffer_reserve(c, &s->indices, n * sizeof(uint32_t), 0) ||
      !gz_buffer_reserve(c, &s->crossed, 2 * n * sizeof(uint32_t), 0)) {
    return false;
  }
  memset((uint8_t *)s->roles.data + old, SLOT_OUT, n - old);
  s->slots = slots;
  return true;
}

typedef struct building {
  const sap_pass *pass;
  end_point *points; /* 2 * room for each axis */
  size_t room;
} building;

static void build_axis(void *argument, uint32_t axis) {
  const building *b = argument;
  const sap_pass *pass = b->pass;
  end_points *e = &pass->s->axes[axis];
  end_point *points = b->points + 2 * b->room * axis;
  size_t count = collect_end_points(pass, (int)axis, NULL, SLOT_IN, points, b->room);
  for (size_t i = 0; i < count; i++) {
    ((uint64_t *)e->keys.data)[i] = points[i].key;
    ((uint32_t *)e->tags.data)[i] = points[i].tag;
    ((uint32_t *)e->places.data)[points[i].tag] = (uint32_t)i;
  }
}

/* Sorts the end points of all boxes and makes the set of the pairs in `now`. */
static bool build(const sap_pass *pass, const pair_list *now) {
  sap_state *s = pass->s;
  const broad_view *view = pass->view;
  const graze_context *c = view->context;
  s->count = 0;
  if (!reserve_slots(c, s, view->count)) return false;
  uint8_t *roles = s->roles.data;
  uint32_t boxes = 0;
  for (uint32_t slot = 0; slot < s->slots; slot++) {
    bool takes = slot < view->count && view_takes(view, slot);
    roles[slot] = takes ? SLOT_IN : SLOT_OUT;
    boxes += takes;
    if (takes) set_reach(pass, slot);
  }
  building b = {pass, NULL, 2 * (size_t)boxes};
  if (!reserve_end_points(c, s, 2 * boxes) || !gz_buffer_reserve(c, &s->comers, 6 * b.room * sizeof(end_point), 0)) {
    return false;
  }
  b.points = s->comers.data;
  if (boxes > 0) gz_parallel_each(c, 3, build_axis, &b);
  gz_buffer_release(c, &s->comers); /* much, for a work that is rare */
  s->count = 2 * boxes;
  if (!gz_pair_manager_reset(c, &s->manager, view->manager, s->slots, now->count)) return false;
  for (uint64_t i = 0; i < now->count; i++) {
    bool fresh;
    if (!gz_pair_manager_add(c, &s->manager, pair_list_data(now)[i], &fresh)) return false;
  }
  return true;
}

static bool append(const graze_context *c, const pair_list *from, pair_list *to) {
  if (from->count == 0) return true;
  if (!pair_list_room(c, to, from->count)) return false;
  memcpy(pair_list_data(to) + to->count, from->memory.data, (size_t)from->count * sizeof(graze_box_pair));
  to->count += from->count;
  return true;
}

/* Finds all pairs and compares them with those that there were: both lists come out sorted, `now` new. */
static graze_status compare_anew(const sap_pass *pass, pair_list *then, pair_list *now) {
  sap_state *s = pass->s;
  const graze_context *c = pass->view->context;
  now->count = 0;
  graze_status status = gz_sweep_find(&s->sweep, pass->view, now);
  if (status != GRAZE_OK) return status;
  bool done = gz_pair_list_sort(c, then, pass->view->count, &s->scratch) &&
              gz_pair_list_sort(c, now, pass->view->count, &s->scratch) &&
              gz_pair_lists_compare(c, then, now, &s->began, &s->work[3], &s->ended);
  return done ? GRAZE_OK : GRAZE_ERROR_MEMORY;
}

/* ---- updates --------------------------------------------------------------------------------------------------- */

/* The first edits that pay since all pairs were found. */
static graze_status wake(const sap_pass *pass) {
  sap_state *s = pass->s;
  pair_list *now = &s->work[0];
  graze_status status = compare_anew(pass, &s->pairs, now);
  if (status != GRAZE_OK) return status;
  if (!build(pass, now)) return GRAZE_ERROR_MEMORY;
  s->awake = true;
  s->pairs.count = 0;
  return GRAZE_OK;
}

/* Shifting has become too much: all pairs anew, against those at the last update. */
static graze_status give_up(const sap_pass *pass) {
  sap_state *s = pass->s;
  const graze_context *c = pass->view->context;
  uint32_t limit = s->slots;
  pair_list *have = &s->work[0], *then = &s->work[1];
  have->count = 0;
  bool done = gz_pair_manager_list(c, &s->manager, have) && gz_pair_list_sort(c, have, limit, &s->scratch) &&
              gz_pair_list_sort(c, &s->began, limit, &s->scratch) &&
              gz_pair_list_sort(c, &s->ended, limit, &s->scratch) &&
              gz_pair_list_edit(c, have, &s->began, &s->ended, then);
  if (!done) return GRAZE_ERROR_MEMORY;
  s->awake = false;
  return compare_anew(pass, then, &s->pairs);
}

typedef struct tally {
  uint32_t coming, going, moving;
} tally;

/* What each edited slot is now. */
static tally sort_roles(const sap_pass *pass, const broad_edits *edits) {
  uint8_t *roles = pass->s->roles.data;
  tally t = {0, 0, 0};
  for (uint32_t i = 0; i < edits->count; i++) {
    uint32_t slot = edits->slots[i];
    bool there = roles[slot] == SLOT_IN, takes = view_takes(pass->view, slot);
    if (there && takes) {
      t.moving++;
      widen_reach(pass, slot);
    } else if (there) {
      t.going++;
      roles[slot] = SLOT_GOES;
    } else if (takes) {
      t.coming++;
      roles[slot] = SLOT_COMES;
      set_reach(pass, slot);
    }
  }
  return t;
}

/* `enough` tells that it was left off because of too many swaps. */
static bool move_boxes(sap_pass *pass, const broad_edits *edits, bool *enough) {
  const uint8_t *roles = pass->s->roles.data;
  *enough = false;
  for (uint32_t i = 0; i < edits->count; i++) {
    if (roles[edits->slots[i]] != SLOT_IN) continue;
    if (!move_box(pass, edits->slots[i])) return false;
    *enough = pass->s->swaps > pass->swaps_most;
    if (*enough) return true;
  }
  return true;
}

/* While awake. */
static graze_status update(sap_pass *pass, const broad_edits *edits) {
  sap_state *s = pass->s;
  const graze_context *c = pass->view->context;
  if (!reserve_slots(c, s, pass->view->count) || !gz_pair_manager_grow(c, &s->manager, s->slots)) {
    return GRAZE_ERROR_MEMORY;
  }
  s->swaps = 0;
  tally t = sort_roles(pass, edits);
  if (t.going > 0 && !remove_boxes(pass, edits, t.going)) return GRAZE_ERROR_MEMORY;
  bool enough;
  if (!move_boxes(pass, edits, &enough)) return GRAZE_ERROR_MEMORY;
  if (t.moving > 0) s->swaps_an_edit = (double)s->swaps / t.moving;
  if (enough) return give_up(pass);
  if (t.coming > 0 && !add_boxes(pass, edits, t.coming)) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < edits->count; i++) {
    if (((uint8_t *)s->roles.data)[edits->slots[i]] == SLOT_IN) set_reach(pass, edits->slots[i]);
  }
  return GRAZE_OK;
}

static graze_status changes(void *state, const broad_view *view, const broad_edits *edits, pair_list *began,
                            pair_list *ended) {
  sap_state *s = state;
  sap_pass pass = {s, view, (uint64_t)(find_cost / swap_cost * (s->count / 2 + 64))};
  s->began.count = s->ended.count = 0;
  graze_status status = s->awake ? update(&pass, edits) : wake(&pass);
  if (status != GRAZE_OK) return status;
  const graze_context *c = view->context;
  return append(c, &s->began, began) && append(c, &s->ended, ended) ? GRAZE_OK : GRAZE_ERROR_MEMORY;
}

/* Swaps of the last edits foretell those of the next. */
static bool pays(const void *state, const broad_view *view, const broad_edits *edits) {
  const sap_state *s = state;
  double far = view->count / edit_cost_boxes;
  double cost = edits->count * (edit_cost * (far > 1 ? far : 1) + s->swaps_an_edit * swap_cost);
  return (s->awake ? cost : cost * wake_factor) < find_cost * view->count;
}

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  sap_state *s = state;
  s->awake = false;
  s->pairs.count = 0;
  s->swaps_an_edit *= 0.75; /* what was too much is tried again some day */
  graze_status status = gz_sweep_find(&s->sweep, view, &s->pairs);
  if (status != GRAZE_OK) return status;
  return append(view->context, &s->pairs, out) ? GRAZE_OK : GRAZE_ERROR_MEMORY;
}

static void release(const graze_context *context, void *state) {
  sap_state *s = state;
  buffer *buffers[] = {&s->roles, &s->reaches, &s->indices, &s->crossed, &s->comers, &s->scratch};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) gz_buffer_release(context, buffers[i]);
  for (int k = 0; k < 3; k++) {
    gz_buffer_release(context, &s->axes[k].keys);
    gz_buffer_release(context, &s->axes[k].tags);
    gz_buffer_release(context, &s->axes[k].places);
  }
  for (size_t i = 0; i < sizeof s->work / sizeof *s->work; i++) gz_pair_list_release(context, &s->work[i]);
  gz_pair_list_release(context, &s->pairs);
  gz_pair_list_release(context, &s->began);
  gz_pair_list_release(context, &s->ended);
  gz_pair_manager_release(context, &s->manager);
  gz_sweep_release(context, &s->sweep);
}

static size_t bytes(const void *state) {
  const sap_state *s = state;
  size_t sum = s->roles.bytes + s->reaches.bytes + s->indices.bytes + s->crossed.bytes + s->comers.bytes +
               s->scratch.bytes + s->pairs.memory.bytes + s->began.memory.bytes + s->ended.memory.bytes;
  for (int k = 0; k < 3; k++) sum += s->axes[k].keys.bytes + s->axes[k].tags.bytes + s->axes[k].places.bytes;
  for (size_t i = 0; i < sizeof s->work / sizeof *s->work; i++) sum += s->work[i].memory.bytes;
  return sum + gz_pair_manager_bytes(&s->manager) + gz_sweep_bytes(&s->sweep);
}

const broad_method gz_broad_sap = {
    .info = {"sap", "incremental sweep and prune on three axes", "O(edits + swaps of end points)", true},
    .state_bytes = sizeof(sap_state),
    .most_slots = INT32_MAX,
    .find = find,
    .changes = changes,
    .pays = pays,
    .release = release,
    .bytes = bytes};
