/* Verlet lists: the pairs of fat boxes that meet, decided again in every update.
 *
 * Each box lies in a fat box that is larger by a margin. The pairs of fat boxes that meet are listed, and while boxes
 * stay in their fat ones no other pair can meet. An update so decides a list that lies in memory in order, eight pairs
 * at a time, whatever was edited, and compares the bits with those of the last one. L. Verlet, "Computer experiments on
 * classical fluids", 1967.
 *
 * A box that leaves its fat box gets a new one, and is compared with all fat boxes; its pairs go to a second list. When
 * so many did that a part of a new list could have been made instead, all fat boxes and the list are made anew, with
 * the packed hierarchy (bvh.h).
 *
 * The margin. A box that uses up v of its margin in an update leaves after T updates if the margin is T v. With edges
 * e, s = v / e and P pairs that meet, a list has P (1 + 2 T s)^3 pairs. Making it costs as much as deciding ANEW pairs
 * a box, so an update costs P (1 + 2 T s)^3 + ANEW / T pairs a box, least where T (1 + 2 T s) = sqrt(ANEW / 6 s P). P
 * and the mean s are known from the list that is given up, v of each box from its own fat box; it falls by an eighth at
 * most from one fat box to the next, for what turns round seems slow. A margin is at most about half an edge: lists get
 * long.
 *
 * O(n) an update, and the list anew now and then; a box that leaves costs O(n) too, with a factor some 500 times
 * smaller than that of a list. Bytes of a quiet update for a box with c pairs in the list: 24 of the caller's box read
 * and 32 of the packed one written, 32 of the fat one, 8 c of the list and 32 (1 + c) of boxes read, c / 4 of bits.
 */
#include "broad/verlet/verlet.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "broad/bvh/bvh.h"

enum {
  ANEW = 160,          /* pairs that could be decided while a list is made, a box; measured 250, but lists take room */
  SEARCHES_MOST = 200, /* of all fat boxes between two lists; costs a quarter of a list */
  SEARCHES_PASS = 8,   /* that cost as much as looking through the list for pairs of what left */
  GRAIN = 1024         /* words of pairs that are worth a thread */
};

/* Pairs that are decided, and a bit for each. */
typedef struct verlet_list {
  pair_list pairs; /* up to a whole word readable, whatever they are */
  buffer alive;    /* the pair counts: neither of the two has left its fat box since */
  buffer met;      /* it met when it was decided last */
} verlet_list;

typedef struct verlet_state {
  hierarchy h;
  pair_lists parts;
  verlet_list list;      /* as made anew, in the order of the hierarchy: what is near is read together */
  verlet_list late;      /* of boxes that left their fat boxes since */
  pair_list fresh;       /* pairs that are to come to one of them */
  pair_list then, both;  /* pairs that met before; and still do */
  buffer boxes, fats;    /* verlet_box by slot */
  buffer six;            /* fat boxes as min x y z, max x y z, while a list is made */
  buffer margins, paces; /* float by slot: of the fat box; how much of one an update uses up, as far as known */
  buffer placed;         /* number of the update in which the fat box was put, by slot */
  buffer left, marks;    /* slots that left their fat boxes; by slot: it did */
  buffer hits;           /* of a search */
  buffer closed, open;   /* bits of a list: meets as floats, meets for certain */
  buffer scratch;
  uint32_t slots;    /* the arrays are for */
  uint32_t step;     /* number of the update */
  uint32_t searches; /* since the list was made */
  double horizon;    /* T: updates that margins are for */
  double edge;       /* mean of all boxes when the list was made */
  bool rounded;      /* some number was no float */
  bool anew;         /* the last update made the list */
} verlet_state;

typedef struct verlet_update {
  verlet_state *s;
  const broad_view *view;
  pair_list *began, *ended;
} verlet_update;

static verlet_box *boxes_of(const verlet_state *s) {
  return s->boxes.data;
}

static verlet_box *fats_of(const verlet_state *s) {
  return s->fats.data;
}

static bool is_free(const verlet_box *box) {
  return box->n[0] > FLT_MAX;
}

/* ---- margins ----------------------------------------------------------------------------------------------------- */

static double edge_of(const verlet_box *box) {
  double sum = 0;
  for (int k = 0; k < 3; k++) sum -= (double)box->n[k] + (double)box->n[4 + k];
  return sum / 3;
}

/* How much of its margin a box uses up in an update: on average since it got its fat box, and not much less than was
 * thought before, for what turns round seems slow. -1: not known. */
static double pace_of(const verlet_state *s, uint32_t slot) {
  const verlet_box *box = &boxes_of(s)[slot], *fat = &fats_of(s)[slot];
  const uint32_t age = s->step - ((const uint32_t *)s->placed.data)[slot];
  double rest = INFINITY;
  if (is_free(fat) || is_free(box) || age == 0) return -1;
  for (int k = 0; k < 8; k++) {
    const double to = (double)box->n[k] - (double)fat->n[k];
    if (k % 4 != 3 && to < rest) rest = to;
  }
  const double pace = ((double)((const float *)s->margins.data)[slot] - rest) / age;
  return fmax(pace, 0.875 * (double)((const float *)s->paces.data)[slot]);
}

/* Of a box with this edge: large beside small boxes, as these have few neighbours more then. */
static double margin_most(const verlet_state *s, double edge) {
  return (edge + s->edge) / 4;
}

static double margin_for(const verlet_state *s, double edge, double pace) {
  if (pace < 0) return edge / 16;
  const double most = margin_most(s, edge), least = most / 32, margin = s->horizon * pace;
  if (margin < least || pace > most) return least; /* too fast: it will leave anyway */
  return margin < most ? margin : most;
}

static void put_fat(const verlet_state *s, uint32_t slot) {
  const verlet_box *box = &boxes_of(s)[slot];
  verlet_box *fat = &fats_of(s)[slot];
  const double edge = is_free(box) ? 0 : edge_of(box), pace = pace_of(s, slot);
  const float margin = is_free(box) ? 0 : (float)margin_for(s, edge, pace);
  for (int k = 0; k < 8; k++) {
    const float low = k % 4 == 3 ? 0 : box->n[k] - margin;
    fat->n[k] = low < -FLT_MAX ? -FLT_MAX : low;
  }
  ((float *)s->margins.data)[slot] = margin;
  ((float *)s->paces.data)[slot] = pace > 0 && pace <= margin_most(s, edge) ? (float)pace : 0; /* else it jumped */
  ((uint32_t *)s->placed.data)[slot] = s->step;
}

static uint64_t words_for(uint64_t pairs) {
  return (pairs + VERLET_WORD - 1) / VERLET_WORD;
}

static uint64_t words_of(const verlet_list *list) {
  return words_for(list->pairs.count);
}

/* The number of pairs that met. */
static uint64_t count_met(const verlet_list *list) {
  uint64_t sum = 0;
  for (uint64_t w = 0; w < words_of(list); w++)
    sum += (uint64_t)__builtin_popcountll(((const uint64_t *)list->met.data)[w]);
  return sum;
}

/* From all boxes and their fat ones: mean edge, and for how many updates margins are to be; see above. */
static void plan_margins(verlet_state *s) {
  double edges = 0, moving_edges = 0, pace = 0;
  uint32_t live = 0;
  for (uint32_t i = 0; i < s->slots; i++) {
    if (is_free(&boxes_of(s)[i])) continue;
    const double edge = edge_of(&boxes_of(s)[i]), own = pace_of(s, i);
    live++;
    edges += edge;
    if (own < 0 || own > margin_most(s, edge)) continue;
    moving_edges += edge;
    pace += own;
  }
  const double met = (double)(count_met(&s->list) + count_met(&s->late));
  const double speed = moving_edges > 0 ? pace / moving_edges : 0, pairs = live > 0 ? fmax(met / live, 0.25) : 1;
  const double k = speed > 0 ? sqrt(ANEW / (6 * speed * pairs)) : 0;
  s->edge = live > 0 ? edges / live : 0;
  s->horizon = speed > 0 ? (sqrt(1 + 8 * speed * k) - 1) / (4 * speed) : 0;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static inline graze_box_pair slots_of(graze_box_pair places) {
  return (graze_box_pair){places.a / VERLET_PLACES, places.b / VERLET_PLACES};
}

static inline graze_box_pair places_of(graze_box_pair slots) {
  return (graze_box_pair){slots.a * VERLET_PLACES, slots.b * VERLET_PLACES};
}

static inline void set_bit(const buffer *words, uint64_t i, bool value) {
  ((uint64_t *)words->data)[i / VERLET_WORD] |= (uint64_t)value << i % VERLET_WORD;
}

/* Room for more pairs and a word of readable ones behind them, and bits for all, those from word `known` on 0. False:
 * no memory. */
static bool make_room(const graze_context *context, verlet_list *list, uint64_t known, uint64_t more) {
  const uint64_t count = list->pairs.count + more;
  const size_t keep = known * sizeof(uint64_t), bytes = words_for(count) * sizeof(uint64_t);
  if (!pair_list_room(context, &list->pairs, more + VERLET_WORD) ||
      !gz_buffer_reserve(context, &list->alive, bytes, keep) || !gz_buffer_reserve(context, &list->met, bytes, keep))
    return false;
  memset(pair_list_data(&list->pairs) + count, 0, VERLET_WORD * sizeof(graze_box_pair));
  if (bytes <= keep) return true;
  memset((uint64_t *)list->alive.data + known, 0, bytes - keep);
  memset((uint64_t *)list->met.data + known, 0, bytes - keep);
  return true;
}

/* Appends pairs to a list. Of those that met before, the ones among them are met; the others have ended, for their fat
 * boxes do not meet. Both are in order. False: no memory. */
static bool append(const verlet_update *t, verlet_list *list, const pair_list *fresh, const pair_list *then) {
  const graze_context *context = t->view->context;
  const graze_box_pair *f = pair_list_data(fresh), *p = pair_list_data(then);
  uint64_t j = 0;
  if (!make_room(context, list, words_of(list), fresh->count)) return false;
  for (uint64_t i = 0; i < fresh->count; i++) {
    for (; j < then->count && pair_order(p[j]) < pair_order(f[i]); j++) {
      if (!pair_list_push(context, t->ended, p[j].a, p[j].b)) return false;
    }
    const bool met = j < then->count && pair_order(p[j]) == pair_order(f[i]);
    const uint64_t at = list->pairs.count++;
    pair_list_data(&list->pairs)[at] = places_of(f[i]);
    set_bit(&list->alive, at, true);
    set_bit(&list->met, at, met);
    j += met;
  }
  for (; j < then->count; j++) {
    if (!pair_list_push(context, t->ended, p[j].a, p[j].b)) return false;
  }
  return true;
}

/* Appends the pairs that met to `out`. False: no memory. */
static bool list_met(const graze_context *context, const verlet_list *list, pair_list *out) {
  const graze_box_pair *pairs = pair_list_data(&list->pairs);
  const uint64_t *met = list->met.data;
  if (!pair_list_room(context, out, count_met(list))) return false;
  for (uint64_t w = 0; w < words_of(list); w++) {
    for (uint64_t bits = met[w]; bits != 0; bits &= bits - 1)
      pair_list_data(out)[out->count++] = slots_of(pairs[w * VERLET_WORD + (uint64_t)__builtin_ctzll(bits)]);
  }
  return true;
}

/* Takes out the pairs of slots that are marked; those that met are appended to `then`. False: no memory. */
static bool take_out(verlet_state *s, const graze_context *context, verlet_list *list) {
  const graze_box_pair *pairs = pair_list_data(&list->pairs);
  const uint8_t *marks = s->marks.data;
  uint64_t *alive = list->alive.data, *met = list->met.data;
  for (uint64_t i = 0; i < list->pairs.count; i++) {
    const graze_box_pair pair = slots_of(pairs[i]);
    if ((marks[pair.a] | marks[pair.b]) == 0) continue;
    const uint64_t w = i / VERLET_WORD, bit = UINT64_C(1) << i % VERLET_WORD;
    if ((met[w] & bit) != 0 && !pair_list_push(context, &s->then, pair.a, pair.b)) return false;
    alive[w] &= ~bit;
    met[w] &= ~bit;
  }
  return true;
}

/* ---- deciding ---------------------------------------------------------------------------------------------------- */

typedef struct decide_job {
  const verlet_state *s;
  const verlet_list *list;
} decide_job;

static void decide_range(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  const decide_job *job = argument;
  const verlet_state *s = job->s;
  (void)worker;
  CPU_KERNEL(gz_verlet_meet)
  (s->boxes.data, pair_list_data(&job->list->pairs) + (uint64_t)begin * VERLET_WORD, end - begin,
   (uint64_t *)s->closed.data + begin, s->rounded ? (uint64_t *)s->open.data + begin : NULL);
}

/* Of pairs that meet as floats, some numbers of which are equal: those that meet. */
static uint64_t decide_exactly(const broad_view *view, const graze_box_pair *pairs, uint64_t bits) {
  uint64_t meet = 0;
  for (; bits != 0; bits &= bits - 1) {
    const unsigned k = (unsigned)__builtin_ctzll(bits);
    meet |= (uint64_t)view_meet(view, pairs[k].a / VERLET_PLACES, pairs[k].b / VERLET_PLACES) << k;
  }
  return meet;
}

/* Decides all pairs of a list, into `closed`. False: no memory. */
static bool decide(verlet_state *s, const broad_view *view, const verlet_list *list) {
  const graze_context *context = view->context;
  const uint64_t words = words_of(list), *alive = list->alive.data;
  if (words == 0) return true;
  if (words > UINT32_MAX || !gz_buffer_reserve(context, &s->closed, words * sizeof(uint64_t), 0) ||
      (s->rounded && !gz_buffer_reserve(context, &s->open, words * sizeof(uint64_t), 0)))
    return false;
  decide_job job = {s, list};
  gz_parallel_for(context, (uint32_t)words, GRAIN, decide_range, &job);
  uint64_t *closed = s->closed.data;
  for (uint64_t w = 0; w < words; w++) {
    closed[w] &= alive[w];
    if (!s->rounded) continue;
    const uint64_t certain = closed[w] & ((const uint64_t *)s->open.data)[w];
    const graze_box_pair *pairs = pair_list_data(&list->pairs) + w * VERLET_WORD;
    closed[w] = certain | decide_exactly(view, pairs, closed[w] & ~certain);
  }
  return true;
}

/* Decides a list, and tells the pairs of which the answer is another one than before. False: no memory. */
static bool decide_and_tell(const verlet_update *t, verlet_list *list) {
  verlet_state *s = t->s;
  uint64_t *met = list->met.data;
  if (!decide(s, t->view, list)) return false;
  for (uint64_t w = 0; w < words_of(list); w++) {
    const graze_box_pair *pairs = pair_list_data(&list->pairs) + w * VERLET_WORD;
    const uint64_t now = ((const uint64_t *)s->closed.data)[w];
    for (uint64_t bits = now ^ met[w]; bits != 0; bits &= bits - 1) {
      const unsigned k = (unsigned)__builtin_ctzll(bits);
      pair_list *out = (now >> k & 1) != 0 ? t->began : t->ended;
      const graze_box_pair pair = slots_of(pairs[k]);
      if (!pair_list_push(t->view->context, out, pair.a, pair.b)) return false;
    }
    met[w] = now;
  }
  return true;
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

/* Arrays for all slots of the view; new slots are free. False: no memory. */
static bool reserve(verlet_state *s, const broad_view *view) {
  const graze_context *c = view->context;
  const size_t n = view->count, known = s->slots < view->count ? s->slots : view->count;
  if (!gz_buffer_reserve(c, &s->boxes, n * sizeof(verlet_box), known * sizeof(verlet_box)) ||
      !gz_buffer_reserve(c, &s->fats, n * sizeof(verlet_box), known * sizeof(verlet_box)) ||
      !gz_buffer_reserve(c, &s->margins, n * sizeof(float), known * sizeof(float)) ||
      !gz_buffer_reserve(c, &s->paces, n * sizeof(float), known * sizeof(float)) ||
      !gz_buffer_reserve(c, &s->placed, n * sizeof(uint32_t), known * sizeof(uint32_t)) ||
      !gz_buffer_reserve(c, &s->marks, n, known) || !gz_buffer_reserve(c, &s->left, (n + 1) * sizeof(uint32_t), 0) ||
      !gz_buffer_reserve(c, &s->hits, n * sizeof(uint32_t), 0))
    return false;
  for (size_t i = known; i < n; i++) {
    const float free = INFINITY;
    boxes_of(s)[i] = fats_of(s)[i] = (verlet_box){{free, free, free, 0, free, free, free, 0}};
    ((float *)s->margins.data)[i] = ((float *)s->paces.data)[i] = 0;
    ((uint32_t *)s->placed.data)[i] = s->step;
    ((uint8_t *)s->marks.data)[i] = 0;
  }
  s->slots = view->count;
  return true;
}

/* All pairs of fat boxes that meet, into `fresh`, in the order of the hierarchy: what is near is read together. */
static bool find_fresh(verlet_state *s, const broad_view *view) {
  if (!gz_buffer_reserve(view->context, &s->six, (size_t)s->slots * 6 * sizeof(float), 0)) return false;
  float(*six)[6] = s->six.data;
  for (uint32_t i = 0; i < s->slots; i++) {
    for (int k = 0; k < 3; k++) {
      six[i][k] = fats_of(s)[i].n[k];
      six[i][3 + k] = -fats_of(s)[i].n[4 + k];
    }
  }
  broad_view fat = *view;
  fat.data = s->six.data;
  fat.stride = sizeof *six;
  fat.precision = GRAZE_FLOAT;
  fat.holes = true;
  s->fresh.count = 0;
  return gz_hierarchy_build(&s->h, &fat) && gz_hierarchy_pairs(&s->h, &fat, &s->parts, &s->fresh);
}

/* New fat boxes for all and a new list, decided. False: no memory. */
static bool make_list(verlet_state *s, const broad_view *view) {
  plan_margins(s);
  for (uint32_t i = 0; i < s->slots; i++) put_fat(s, i);
  if (!find_fresh(s, view)) return false;
  const pair_list swap = s->list.pairs;
  s->list.pairs = s->fresh;
  s->fresh = swap;
  s->late.pairs.count = s->searches = 0;
  if (!make_room(view->context, &s->list, 0, 0)) return false;
  const uint64_t count = s->list.pairs.count, words = words_of(&s->list);
  uint64_t *alive = s->list.alive.data;
  for (uint64_t w = 0; w < words; w++) alive[w] = UINT64_MAX;
  graze_box_pair *pairs = pair_list_data(&s->list.pairs);
  for (uint64_t i = 0; i < count; i++) pairs[i] = places_of(pairs[i]);
  if (count % VERLET_WORD != 0) alive[words - 1] >>= VERLET_WORD - count % VERLET_WORD;
  if (!decide(s, view, &s->list)) return false;
  if (words > 0) memcpy(s->list.met.data, s->closed.data, words * sizeof(uint64_t));
  return true;
}

/* A new list, and what began and ended since the last one. */
static bool make_anew(const verlet_update *t) {
  verlet_state *s = t->s;
  const graze_context *context = t->view->context;
  pair_list *now = &s->fresh;
  s->then.count = 0;
  if (!list_met(context, &s->list, &s->then) || !list_met(context, &s->late, &s->then) ||
      !gz_pair_list_sort(context, &s->then, s->slots, &s->scratch) || !make_list(s, t->view))
    return false;
  now->count = 0;
  return list_met(context, &s->list, now) && gz_pair_list_sort(context, now, s->slots, &s->scratch) &&
         gz_pair_lists_compare(context, &s->then, now, t->began, &s->both, t->ended);
}

/* Appends the pairs of a slot that left to `fresh`: with marked slots, which left too, those with higher ones. */
static bool search(verlet_state *s, const broad_view *view, uint32_t slot) {
  uint32_t *hits = s->hits.data;
  const uint8_t *marks = s->marks.data;
  const uint32_t count = CPU_KERNEL(gz_verlet_search)(s->fats.data, s->slots, &fats_of(s)[slot], hits);
  if (!pair_list_room(view->context, &s->fresh, count)) return false;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t other = hits[i];
    if (other == slot || (marks[other] != 0 && other < slot) || !view_counts(view, slot, other)) continue;
    pair_list_data(&s->fresh)[s->fresh.count++] = pair_of(slot, other);
  }
  return true;
}

/* New fat boxes and pairs for those that left theirs. */
static bool replace_left(const verlet_update *t, uint32_t count) {
  verlet_state *s = t->s;
  const graze_context *context = t->view->context;
  const uint32_t *left = s->left.data;
  uint8_t *marks = s->marks.data;
  s->then.count = s->fresh.count = 0;
  for (uint32_t i = 0; i < count; i++) {
    marks[left[i]] = 1;
    put_fat(s, left[i]);
  }
  if (!take_out(s, context, &s->list) || !take_out(s, context, &s->late)) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (!search(s, t->view, left[i])) return false;
  }
  for (uint32_t i = 0; i < count; i++) marks[left[i]] = 0;
  return gz_pair_list_sort(context, &s->then, s->slots, &s->scratch) &&
         gz_pair_list_sort(context, &s->fresh, s->slots, &s->scratch) && append(t, &s->late, &s->fresh, &s->then);
}

/* Whatever is added at a free slot has left its fat box: it may have another layer. */
static void forget_free(const verlet_state *s, const broad_edits *edits) {
  for (uint32_t i = 0; i < edits->count; i++) {
    const uint32_t slot = edits->slots[i];
    if (is_free(&boxes_of(s)[slot])) fats_of(s)[slot] = boxes_of(s)[slot];
  }
}

static graze_status changes(void *state, const broad_view *view, const broad_edits *edits, pair_list *began,
                            pair_list *ended) {
  verlet_state *s = state;
  const verlet_update t = {s, view, began, ended};
  s->step++;
  if (!reserve(s, view)) return GRAZE_ERROR_MEMORY;
  const uint32_t *slots = edits->count < view->count ? edits->slots : NULL; /* all are edited: they are in order */
  const uint32_t left =
      CPU_KERNEL(gz_verlet_pack)(view, slots, edits->count, s->fats.data, s->boxes.data, s->left.data, &s->rounded);
  if (view->holes) forget_free(s, edits);
  bool done = true;
  s->anew = false;
  if (left > 0) {
    const uint64_t searches = (uint64_t)s->searches + left + SEARCHES_PASS;
    s->anew = searches > SEARCHES_MOST;
    if (s->anew) return make_anew(&t) ? GRAZE_OK : GRAZE_ERROR_MEMORY;
    s->searches = (uint32_t)searches;
    done = replace_left(&t, left);
  }
  return done && decide_and_tell(&t, &s->list) && decide_and_tell(&t, &s->late) ? GRAZE_OK : GRAZE_ERROR_MEMORY;
}

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  verlet_state *s = state;
  s->slots = s->step = 0; /* forgets speeds too: the boxes may be others */
  s->list.pairs.count = s->late.pairs.count = 0;
  s->rounded = false;
  if (!reserve(s, view)) return GRAZE_ERROR_MEMORY;
  (void)CPU_KERNEL(gz_verlet_pack)(view, NULL, view->count, s->fats.data, s->boxes.data, s->left.data, &s->rounded);
  return make_list(s, view) && list_met(view->context, &s->list, out) ? GRAZE_OK : GRAZE_ERROR_MEMORY;
}

static bool made_anew(const void *state) {
  return ((const verlet_state *)state)->anew;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

enum { BUFFERS = 16, PAIR_LISTS = 5 };

static void buffers_of(verlet_state *s, buffer *buffers[BUFFERS], pair_list *lists[PAIR_LISTS]) {
  buffer *all[BUFFERS] = {&s->list.alive, &s->list.met, &s->late.alive, &s->late.met, &s->boxes, &s->fats,
                          &s->six,        &s->margins,  &s->placed,     &s->left,     &s->marks, &s->hits,
                          &s->closed,     &s->open,     &s->scratch,    &s->paces};
  pair_list *of_pairs[PAIR_LISTS] = {&s->list.pairs, &s->late.pairs, &s->fresh, &s->then, &s->both};
  memcpy(buffers, all, sizeof all);
  memcpy(lists, of_pairs, sizeof of_pairs);
}

static void release(const graze_context *context, void *state) {
  verlet_state *s = state;
  buffer *buffers[BUFFERS];
  pair_list *lists[PAIR_LISTS];
  buffers_of(s, buffers, lists);
  for (int i = 0; i < BUFFERS; i++) gz_buffer_release(context, buffers[i]);
  for (int i = 0; i < PAIR_LISTS; i++) gz_pair_list_release(context, lists[i]);
  gz_hierarchy_release(context, &s->h);
  gz_pair_lists_release(context, &s->parts);
}

static size_t bytes(const void *state) {
  verlet_state s = *(const verlet_state *)state;
  buffer *buffers[BUFFERS];
  pair_list *lists[PAIR_LISTS];
  size_t sum = gz_hierarchy_bytes(&s.h) + gz_pair_lists_bytes(&s.parts);
  buffers_of(&s, buffers, lists);
  for (int i = 0; i < BUFFERS; i++) sum += buffers[i]->bytes;
  for (int i = 0; i < PAIR_LISTS; i++) sum += lists[i]->memory.bytes;
  return sum;
}

const broad_method gz_broad_verlet = {
    .info = {"verlet", "list of the pairs of fat boxes that meet, decided again in each update",
             "O(n + k), a list from nothing now and then", false},
    .state_bytes = sizeof(verlet_state),
    .most_slots = VERLET_SLOTS,
    .find = find,
    .changes = changes,
    .made_anew = made_anew,
    .release = release,
    .bytes = bytes};
