/* Updates: from the edits to the pairs that began, persist and ended.
 *
 * Three ways, from the least work to the most: a method that tells what changed; a method that looks up the pairs of
 * the edited proxies; all pairs anew. The last one also whenever too much was edited for the others to pay.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/sort.h"
#include "broad/phase.h"

/* ---- the object ------------------------------------------------------------------------------------------------ */

enum { BROADPHASE_COOKIE = 0x62726f64 };

graze_broadphase_def graze_default_broadphase_def(void) {
  return (graze_broadphase_def){GRAZE_BROAD_AUTO, GRAZE_PAIRS_HASH, BROADPHASE_COOKIE};
}

graze_status graze_broadphase_create(graze_context *context, const graze_broadphase_def *def,
                                     graze_broadphase **broadphase) {
  if (context == NULL || broadphase == NULL) return gz_fail_null(context);
  graze_broadphase_def chosen = def != NULL ? *def : graze_default_broadphase_def();
  if (chosen.cookie != BROADPHASE_COOKIE) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "definition not initialised");
  if (gz_broad_method_of(chosen.method) == NULL) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "no broad phase has number %d", (int)chosen.method);
  }
  if ((unsigned)chosen.manager > GRAZE_PAIRS_MATRIX) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "no pair manager has number %d", (int)chosen.manager);
  }
  graze_broadphase *bp = gz_memory_alloc(context, sizeof *bp);
  if (bp == NULL) return gz_fail_memory(context, sizeof *bp);
  *bp = (graze_broadphase){.context = context, .def = chosen, .precision = GRAZE_FLOAT};
  for (int k = 0; k < GRAZE_BROAD_LAYERS; k++) bp->meets[k] = UINT64_MAX;
  bp->history.full_valid = true;
  bp->report = (graze_broad_report){.reason = "nothing was looked for yet"};
  *broadphase = bp;
  return GRAZE_OK;
}

graze_status gz_broad_instance_set(const graze_context *context, broad_instance *instance, graze_broad_method method) {
  if (instance->state != NULL && instance->method == method) return GRAZE_OK;
  gz_broad_instance_release(context, instance);
  size_t size = gz_broad_method_of(method)->state_bytes;
  void *state = gz_memory_alloc(context, size != 0 ? size : 1);
  if (state == NULL) return GRAZE_ERROR_MEMORY;
  memset(state, 0, size);
  *instance = (broad_instance){method, state, false};
  return GRAZE_OK;
}

void gz_broad_instance_release(const graze_context *context, broad_instance *instance) {
  if (instance->state == NULL) return;
  const broad_method *m = gz_broad_method_of(instance->method);
  m->release(context, instance->state);
  gz_memory_release(context, instance->state, m->state_bytes != 0 ? m->state_bytes : 1);
  *instance = (broad_instance){0};
}

void graze_broadphase_destroy(graze_broadphase *bp) {
  if (bp == NULL) return;
  const graze_context *context = bp->context;
  buffer *buffers[] = {&bp->boxes,   &bp->user_ids, &bp->generations, &bp->layers,  &bp->free_indices,
                       &bp->removed, &bp->edited,   &bp->edit_slots,  &bp->scratch, &bp->sphere_boxes};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) gz_buffer_release(context, buffers[i]);
  pair_history *h = &bp->history;
  pair_list *lists[] = {&h->full, &h->persist, &h->began, &h->ended, &bp->found};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) gz_pair_list_release(context, lists[i]);
  for (size_t i = 0; i < sizeof bp->work / sizeof *bp->work; i++) gz_pair_list_release(context, &bp->work[i]);
  gz_broad_instance_release(context, &bp->instance);
  gz_broad_instance_release(context, &bp->foreign);
  for (int m = 0; bp->stock != NULL && m < GRAZE_BROAD_METHODS; m++) gz_broad_instance_release(context, &bp->stock[m]);
  gz_memory_release(context, bp->stock, GRAZE_BROAD_METHODS * sizeof *bp->stock);
  gz_queries_release(context, &bp->queries);
  gz_memory_release(context, bp, sizeof *bp);
}

/* ---- from lists of pairs to events ----------------------------------------------------------------------------- */

static void swap_lists(pair_list *x, pair_list *y) {
  pair_list z = *x;
  *x = *y;
  *y = z;
}

/* Makes `full` hold all pairs of the last update. */
static bool gather_full(graze_broadphase *bp) {
  pair_history *h = &bp->history;
  if (h->full_valid) return true;
  const pair_list none = {0};
  if (!gz_pair_list_edit(bp->context, &h->persist, &none, &h->began, &h->full)) return false;
  h->full_valid = true;
  return true;
}

/* Takes over small sorted lists of what began and what ended. */
static bool apply_changes(graze_broadphase *bp, pair_list *began, pair_list *ended) {
  pair_history *h = &bp->history;
  const graze_context *c = bp->context;
  const pair_list none = {0};
  pair_list *drop = &bp->work[3], *both = &bp->work[4], *insert = &bp->work[5];
  /* The pairs that there were are those of `base` and `pending`; of these, those that did not end go into the base. */
  const pair_list *base = h->full_valid ? &h->full : &h->persist;
  const pair_list *pending = h->full_valid ? &none : &h->began;
  if (!gz_pair_lists_compare(c, pending, ended, drop, both, insert)) return false;
  if (!gz_pair_list_edit(c, base, drop, insert, both)) return false;
  swap_lists(both, &h->persist);
  swap_lists(began, &h->began);
  swap_lists(ended, &h->ended);
  h->full_valid = false;
  return true;
}

/* Takes over all pairs, sorted. */
static bool apply_all(graze_broadphase *bp, pair_list *now) {
  pair_history *h = &bp->history;
  if (!gather_full(bp)) return false;
  if (!gz_pair_lists_compare(bp->context, &h->full, now, &h->began, &h->persist, &h->ended)) return false;
  swap_lists(now, &h->full);
  return true;
}

/* The pairs of the last update that have an edited proxy, sorted. */
static bool old_pairs_of_edited(graze_broadphase *bp, pair_list *out) {
  const pair_history *h = &bp->history;
  const uint8_t *edited = bp->edited.data;
  out->count = 0;
  if (h->full_valid) return gz_pair_list_marked(bp->context, &h->full, edited, out);
  return gz_pair_list_marked(bp->context, &h->persist, edited, out) &&
         gz_pair_list_marked(bp->context, &h->began, edited, out) &&
         gz_pair_list_sort(bp->context, out, bp->index_end, &bp->scratch);
}

/* Whether the method can hold the slots. */
static graze_status check_slots(const broad_method *m, const broad_view *view) {
  if (m->most_slots == 0 || view->count <= m->most_slots) return GRAZE_OK;
  return gz_fail(view->context, GRAZE_ERROR_LIMIT, "%s: more than %" PRIu32 " proxies", m->info.name, m->most_slots);
}

/* ---- the three ways -------------------------------------------------------------------------------------------- */

static graze_status update_anew(graze_broadphase *bp, const broad_view *view) {
  pair_list *now = &bp->work[0];
  now->count = 0;
  bp->instance.ready = false;
  const broad_method *m = gz_broad_method_of(bp->instance.method);
  graze_status status = check_slots(m, view);
  if (status == GRAZE_OK) status = m->find(bp->instance.state, view, now);
  if (status != GRAZE_OK) return status;
  if (!gz_pair_list_sort(bp->context, now, view->count, &bp->scratch) || !apply_all(bp, now)) return GRAZE_ERROR_MEMORY;
  bp->instance.ready = m->step != NULL || m->changes != NULL;
  return GRAZE_OK;
}

static graze_status update_by_step(graze_broadphase *bp, const broad_view *view, const broad_edits *edits) {
  const graze_context *c = bp->context;
  pair_list *now = &bp->work[0], *began = &bp->work[1], *ended = &bp->work[2], *then = &bp->work[3];
  pair_list *both = &bp->work[4];
  now->count = 0;
  bp->instance.ready = false;
  graze_status status = gz_broad_method_of(bp->instance.method)->step(bp->instance.state, view, edits, now);
  if (status != GRAZE_OK) return status;
  if (!gz_pair_list_sort(c, now, view->count, &bp->scratch) || !old_pairs_of_edited(bp, then) ||
      !gz_pair_lists_compare(c, then, now, began, both, ended) || !apply_changes(bp, began, ended)) {
    return GRAZE_ERROR_MEMORY;
  }
  bp->instance.ready = true;
  return GRAZE_OK;
}

static graze_status update_by_changes(graze_broadphase *bp, const broad_view *view, const broad_edits *edits) {
  pair_list *began = &bp->work[1], *ended = &bp->work[2];
  began->count = ended->count = 0;
  bp->instance.ready = false;
  const broad_method *m = gz_broad_method_of(bp->instance.method);
  graze_status status = check_slots(m, view);
  if (status == GRAZE_OK) status = m->changes(bp->instance.state, view, edits, began, ended);
  if (status != GRAZE_OK) return status;
  if (!gz_pair_list_sort(bp->context, began, view->count, &bp->scratch) ||
      !gz_pair_list_sort(bp->context, ended, view->count, &bp->scratch) || !apply_changes(bp, began, ended)) {
    return GRAZE_ERROR_MEMORY;
  }
  bp->instance.ready = true;
  return GRAZE_OK;
}

static bool edits_pay(const graze_broadphase *bp, const broad_view *view, const broad_edits *edits) {
  const broad_method *m = gz_broad_method_of(bp->instance.method);
  if (!bp->instance.ready || bp->layers_changed) return false;
  if (m->made_anew != NULL) return true; /* it makes all anew itself where that pays */
  if (m->pays != NULL) return m->pays(bp->instance.state, view, edits);
  return edits->count < view->count / 3;
}

/* A block at a time, without a branch a slot. */
static bool are_ascending(const uint32_t *slots, uint32_t count) {
  enum { STRETCH = 256 };
  for (uint32_t begin = 1; begin < count; begin += STRETCH) {
    uint32_t end = count - begin < STRETCH ? count : begin + STRETCH, wrong = 0;
    for (uint32_t i = begin; i < end; i++) wrong |= slots[i - 1] >= slots[i];
    if (wrong != 0) return false;
  }
  return true;
}

/* Edited slots are looked through in ascending order: memory is read in order, and results do not depend on the order
 * of edits. */
static bool sort_edits(graze_broadphase *bp) {
  uint32_t *slots = bp->edit_slots.data;
  const uint8_t *edited = bp->edited.data;
  if (are_ascending(slots, bp->edit_count)) return true;
  if (bp->edit_count > bp->index_end / 16) {
    for (uint32_t i = 0, n = 0; i < bp->index_end; i++) {
      slots[n] = i;
      n += edited[i];
      if (n == bp->edit_count) break;
    }
    return true;
  }
  if (!gz_buffer_reserve(bp->context, &bp->scratch, 2 * bp->edit_count * sizeof(uint64_t), 0)) return false;
  uint64_t *keys = bp->scratch.data;
  for (uint32_t i = 0; i < bp->edit_count; i++) keys[i] = slots[i];
  gz_sort_keys(keys, keys + bp->edit_count, bp->edit_count);
  for (uint32_t i = 0; i < bp->edit_count; i++) slots[i] = (uint32_t)keys[i];
  return true;
}

/* What comes and goes is like what jumps. */
static double speed_of(const broad_motion *m) {
  return m->way < m->edge ? m->way / m->edge : 1;
}

/* `anew`: all was made anew, by `find` or by the method itself. */
static graze_status run_update(graze_broadphase *bp, bool *anew) {
  broad_view view = gz_broad_view_of(bp);
  if (!sort_edits(bp)) return GRAZE_ERROR_MEMORY;
  broad_edits edits = {bp->edit_slots.data, bp->edit_count, bp->edited.data};
  graze_broad_method method = bp->def.method;
  if (method == GRAZE_BROAD_AUTO)
    method = gz_choose_method(&bp->choice, &view, bp->edit_count, bp->live, speed_of(&bp->motion));
  graze_status status = gz_broad_instance_set(bp->context, &bp->instance, method);
  if (status != GRAZE_OK) return status;
  *anew = !edits_pay(bp, &view, &edits);
  if (*anew) return update_anew(bp, &view);
  const broad_method *m = gz_broad_method_of(method);
  status = (m->changes != NULL ? update_by_changes : update_by_step)(bp, &view, &edits);
  *anew = m->made_anew != NULL && m->made_anew(bp->instance.state);
  return status;
}

/* The edits are done: their marks go, and indices of removed proxies become free. */
static void finish_edits(graze_broadphase *bp) {
  uint8_t *edited = bp->edited.data;
  const uint32_t *slots = bp->edit_slots.data, *removed = bp->removed.data;
  if (bp->edit_count == bp->index_end && bp->edit_count > 0) {
    memset(edited, 0, bp->index_end);
  } else {
    for (uint32_t i = 0; i < bp->edit_count; i++) edited[slots[i]] = 0;
  }
  for (uint32_t i = 0; i < bp->removed_count; i++) {
    ((uint64_t *)bp->user_ids.data)[removed[i]] = 0;
    ((uint32_t *)bp->free_indices.data)[bp->free_count++] = removed[i];
  }
  bp->edit_count = bp->removed_count = 0;
  bp->motion = (broad_motion){0, 0};
  bp->layers_changed = false;
}

/* ---- the calls ------------------------------------------------------------------------------------------------- */

graze_status gz_broad_no_memory(const graze_broadphase *bp, uint32_t boxes) {
  return gz_fail(bp->context, GRAZE_ERROR_MEMORY, "broad phase: no memory for the pairs of %u boxes", boxes);
}

void gz_broad_take_notes(graze_broadphase *bp, graze_broad_method method, const broad_choice *choice, double start) {
  bp->report.method = method;
  bp->report.by_engine = false;
  bp->chosen = bp->def.method == GRAZE_BROAD_AUTO ? choice : NULL;
  if (bp->chosen == NULL) memcpy(bp->report.reason, "asked for", sizeof "asked for");
  bp->report.seconds = clock_now() - start;
}

graze_status graze_broadphase_update(graze_broadphase *bp, graze_broad_events *events) {
  if (bp == NULL || events == NULL) return gz_fail_null(bp != NULL ? bp->context : NULL);
  const bool learns = bp->def.method == GRAZE_BROAD_AUTO;
  const double start = clock_now(), work = learns ? gz_choose_clock(bp->context) : 0;
  unsigned saved = gz_fp_enter();
  bool anew = false;
  graze_status status = run_update(bp, &anew);
  gz_fp_leave(saved);
  if (status != GRAZE_OK) return status == GRAZE_ERROR_MEMORY ? gz_broad_no_memory(bp, bp->live) : status;
  gz_broad_take_notes(bp, bp->instance.method, &bp->choice, start);
  if (learns) gz_choose_learn(&bp->choice, bp->edit_count, bp->live, gz_choose_clock(bp->context) - work, anew);
  finish_edits(bp);
  const pair_history *h = &bp->history;
  *events =
      (graze_broad_events){pair_list_data(&h->began), h->began.count, pair_list_data(&h->persist), h->persist.count,
                           pair_list_data(&h->ended), h->ended.count};
  return GRAZE_OK;
}

graze_status graze_broadphase_pairs(graze_broadphase *bp, const graze_box_pair **pairs, uint64_t *count) {
  if (bp == NULL || pairs == NULL || count == NULL) return gz_fail_null(bp != NULL ? bp->context : NULL);
  if (!gather_full(bp)) return gz_broad_no_memory(bp, bp->live);
  *pairs = pair_list_data(&bp->history.full);
  *count = bp->history.full.count;
  return GRAZE_OK;
}

static graze_status set_foreign(graze_broadphase *bp, graze_broad_method method) {
  broad_instance *now = &bp->foreign;
  if (bp->stock != NULL && now->state != NULL && now->method != method) {
    bp->stock[now->method] = *now;
    *now = bp->stock[method];
    bp->stock[method] = (broad_instance){0};
  }
  return gz_broad_instance_set(bp->context, now, method);
}

graze_status gz_broad_run_find(graze_broadphase *bp, const broad_view *view, bool unsorted) {
  graze_broad_method method = bp->def.method;
  if (method == GRAZE_BROAD_AUTO) method = gz_choose_once(&bp->once, view);
  graze_status status = set_foreign(bp, method);
  bp->found.count = 0;
  const broad_method *m = gz_broad_method_of(method);
  if (status == GRAZE_OK) status = check_slots(m, view);
  if (status == GRAZE_OK) status = m->find(bp->foreign.state, view, &bp->found);
  if (status == GRAZE_OK && !unsorted && !gz_pair_list_sort(bp->context, &bp->found, view->count, &bp->scratch)) {
    status = GRAZE_ERROR_MEMORY;
  }
  return status;
}

bool gz_broad_ask_engine(graze_broadphase *bp, graze_stage stage, graze_broad_question *q, graze_status *status) {
  double start = clock_now();
  q->method = bp->def.method;
  if (!gz_engine_ask(bp->context, stage, q->count, 0, q)) return false;
  uint64_t listed = q->pairs != NULL ? q->pair_count : 0;
  bp->found.count = 0;
  bool room = pair_list_room(bp->context, &bp->found, listed);
  if (room && listed > 0) memcpy(bp->found.memory.data, q->pairs, listed * sizeof *q->pairs);
  gz_engine_give(bp->context);
  *status = room ? GRAZE_OK : gz_broad_no_memory(bp, q->count);
  if (!room) return true;
  bp->found.count = listed;
  bp->chosen = NULL;
  bp->report.method = q->used;
  bp->report.by_engine = true;
  bp->report.seconds = clock_now() - start;
  snprintf(bp->report.reason, sizeof bp->report.reason, "%s", q->reason);
  return true;
}

static graze_status find_on_processor(graze_broadphase *bp, const graze_box_array *boxes, uint32_t count,
                                      bool unsorted) {
  const bool learns = bp->def.method == GRAZE_BROAD_AUTO;
  const double start = clock_now(), work = learns ? gz_choose_clock(bp->context) : 0;
  graze_status status = gz_boxes_check(bp->context, boxes, count);
  if (status != GRAZE_OK) return status;
  broad_view view = gz_broad_view_of_array(bp->context, boxes, count);
  view.manager = bp->def.manager;
  unsigned saved = gz_fp_enter();
  status = gz_broad_run_find(bp, &view, unsorted);
  gz_fp_leave(saved);
  if (status != GRAZE_OK) return status == GRAZE_ERROR_MEMORY ? gz_broad_no_memory(bp, count) : status;
  gz_broad_take_notes(bp, bp->foreign.method, &bp->once, start);
  if (learns) gz_choose_learn(&bp->once, count, count, gz_choose_clock(bp->context) - work, true);
  return GRAZE_OK;
}

graze_status graze_broadphase_find(graze_broadphase *bp, const graze_box_array *boxes, uint32_t count, bool unsorted,
                                   const graze_box_pair **pairs, uint64_t *pair_count) {
  if (bp == NULL || pairs == NULL || pair_count == NULL) return gz_fail_null(bp != NULL ? bp->context : NULL);
  graze_broad_question question = {.boxes = boxes, .count = count, .unsorted = unsorted};
  graze_status status = gz_box_array_check(bp->context, boxes, count);
  if (status == GRAZE_OK && !gz_broad_ask_engine(bp, GRAZE_STAGE_BOXES, &question, &status)) {
    status = find_on_processor(bp, boxes, count, unsorted);
  }
  if (status != GRAZE_OK) return status;
  *pairs = pair_list_data(&bp->found);
  *pair_count = bp->found.count;
  return GRAZE_OK;
}

static uint64_t bytes_kept(const broad_instance *instance) {
  if (instance->state == NULL) return 0;
  const broad_method *m = gz_broad_method_of(instance->method);
  return m->state_bytes + m->bytes(instance->state);
}

static uint64_t bytes_taken(const graze_broadphase *bp) {
  const pair_history *h = &bp->history;
  uint64_t sum = sizeof *bp + gz_queries_bytes(&bp->queries) + bp->boxes.bytes + bp->user_ids.bytes +
                 bp->generations.bytes + bp->layers.bytes + bp->free_indices.bytes + bp->removed.bytes +
                 bp->edited.bytes + bp->edit_slots.bytes + bp->scratch.bytes + bp->sphere_boxes.bytes +
                 bp->found.memory.bytes + h->full.memory.bytes + h->persist.memory.bytes + h->began.memory.bytes +
                 h->ended.memory.bytes;
  for (size_t i = 0; i < sizeof bp->work / sizeof *bp->work; i++) sum += bp->work[i].memory.bytes;
  sum += bytes_kept(&bp->instance) + bytes_kept(&bp->foreign);
  for (int m = 0; bp->stock != NULL && m < GRAZE_BROAD_METHODS; m++)
    sum += sizeof bp->stock[m] + bytes_kept(&bp->stock[m]);
  return sum;
}

graze_broad_report graze_broadphase_report(const graze_broadphase *bp) {
  graze_broad_report report = bp->report;
  report.bytes = bytes_taken(bp);
  if (bp->chosen != NULL) gz_choose_explain(bp->chosen, report.reason, sizeof report.reason);
  return report;
}
