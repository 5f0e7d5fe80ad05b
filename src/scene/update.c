/* Updates of a living scene: what changed is decided again, and what became of every pair is told.
 *
 * Each pair keeps the relation that the caller knows (`told`) beside the one that is true (`now`). Lists of events are
 * made from the two when everything is decided, and only then becomes told what is true: an update that fails or is
 * cancelled tells nothing, and the next one tells all of it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "scene/clearance.h"
#include "scene/continuous.h"
#include "scene/decide.h"
#include "scene/record.h"

enum { UPDATE_COOKIE = 0x67727570 };

graze_scene_update_options graze_default_scene_update_options(void) {
  return (graze_scene_update_options){.find = GRAZE_FIND_COUNT, .exactness = GRAZE_T1, .cookie = UPDATE_COOKIE};
}

uint64_t graze_scene_hash_pair(uint32_t a, uint32_t b, graze_relation relation, const graze_counts *counts) {
  return splitmix64(hash_pair(a, b) ^ splitmix64(counts->hash + (uint64_t)relation));
}

static graze_status check_options(const graze_context *context, const graze_scene_update_options *o) {
  if (o->cookie != UPDATE_COOKIE) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "update: the options were not initialised");
  }
  if (o->find != GRAZE_FIND_COUNT && o->find != GRAZE_FIND_ANY) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "update: find is count or any");
  }
  if ((unsigned)o->continuous > GRAZE_MOTION_RIGID) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "update: unknown model of motion");
  }
  if (o->continuous != GRAZE_MOTION_STEPS && o->exactness == GRAZE_T2) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "update: what happens between poses is not known at tier T2");
  }
  if (!(o->bracket >= 0 && o->bracket <= 1)) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "update: the width of a bracket is not a number from 0 to 1");
  }
  if ((o->clearance == NULL) != (o->reach == NULL)) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "update: clearance and reach go together");
  }
  return gz_decide_check_question(context, "update", o->exactness, o->open);
}

/* Whether answers under the former options are answers under these. */
static bool same_question(const live_scene *live, const graze_scene_update_options *o) {
  return live->begun && live->options.find == o->find && live->options.exactness == o->exactness &&
         live->options.open == o->open;
}

/* ---- deciding ---- */

static bool takes_part(const live_pair *pair) {
  return !pair->ignored && pair->now.relation != GRAZE_SEPARATE;
}

/* Pairs by their keys, their numbers, and room for a clearance of each. */
typedef struct pair_list {
  uint64_t *keys;
  uint32_t *numbers;
  double *clearances;
  uint64_t count;
} pair_list;

static graze_status list_pairs(graze_scene *scene, bool all, pair_list *list) {
  live_scene *live = scene->live;
  size_t bytes = (live->count + 1) * (sizeof(uint64_t) + sizeof(uint32_t)); /* never nothing */
  size_t more = (live->count + 1) * sizeof(double);
  if (!gz_buffer_reserve(scene->context, &live->wanted, bytes, 0) ||
      !gz_buffer_reserve(scene->context, &scene->clearances, more, 0)) {
    return gz_fail_memory(scene->context, bytes + more);
  }
  list->keys = live->wanted.data;
  list->numbers = (uint32_t *)(list->keys + live->count);
  list->clearances = scene->clearances.data;
  list->count = gz_live_list(scene, all, list->keys, list->numbers);
  return GRAZE_OK;
}

/* Pairs of the broad phase are in the order of proxies, which depends on what was there before. */
static graze_status sort_pairs(graze_scene *scene, pair_list *list) {
  uint64_t sorted = 1;
  while (sorted < list->count && list->keys[sorted - 1] < list->keys[sorted]) sorted++;
  if (sorted >= list->count) return GRAZE_OK;
  const size_t bytes = list->count * sizeof(numbered_pair);
  if (!gz_buffer_reserve(scene->context, &scene->live->batch, bytes, 0)) return gz_fail_memory(scene->context, bytes);
  numbered_pair *pairs = scene->live->batch.data; /* by ranks, which are in the order of serials */
  for (uint64_t i = 0; i < list->count; i++)
    pairs[i] = (numbered_pair){list->keys[i] >> 32, (uint32_t)list->keys[i], list->numbers[i]};
  qsort(pairs, list->count, sizeof *pairs, gz_numbered_pairs_order);
  for (uint64_t i = 0; i < list->count; i++) {
    list->keys[i] = pair_key((uint32_t)pairs[i].a, (uint32_t)pairs[i].b);
    list->numbers[i] = pairs[i].number;
  }
  return GRAZE_OK;
}

/* Asks for the clearances of all pairs, in the order in which their objects were added; what is known of those that had
 * another one is of no use. */
static graze_status find_clearances(graze_scene *scene, clearance_asking *asking) {
  live_scene *live = scene->live;
  pair_list list;
  if (asking->clearance == NULL && !live->has_clearances) return GRAZE_OK;
  graze_status status = list_pairs(scene, true, &list);
  if (status != GRAZE_OK) return status;
  if (asking->clearance != NULL) {
    status = sort_pairs(scene, &list);
    if (status == GRAZE_OK)
      status = gz_ask_clearances(scene, gz_asking_clearance, asking, list.keys, list.count, list.clearances);
  } else {
    memset(list.clearances, 0, list.count * sizeof *list.clearances);
  }
  if (status != GRAZE_OK) return status;
  for (uint64_t i = 0; i < list.count; i++) {
    live_pair *pair = live_pair_at(live, list.numbers[i]);
    pair->stale |= pair->clearance != list.clearances[i];
    pair->clearance = list.clearances[i];
  }
  live->has_clearances = true; /* for good: ignored pairs, too, may have had one */
  return GRAZE_OK;
}

static graze_status decide_stale(graze_scene *scene, const graze_scene_update_options *options,
                                 graze_scene_update_result *events) {
  live_scene *live = scene->live;
  pair_list list;
  graze_status status = list_pairs(scene, false, &list);
  if (status != GRAZE_OK) return status;
  for (uint64_t i = 0; i < list.count; i++) list.clearances[i] = live_pair_at(live, list.numbers[i])->clearance;
  deciding d = {.scene = scene,
                .pairs = list.keys,
                .count = list.count,
                .find = options->find,
                .relate = {.exactness = options->exactness, .open = options->open},
                .clearances = options->clearance != NULL ? list.clearances : NULL,
                .progress = options->progress,
                .progress_user = options->progress_user};
  status = gz_scene_decide(&d);
  if (status != GRAZE_OK && status != GRAZE_CANCELLED) return status;
  for (uint64_t i = 0; i < d.count; i++) {
    const outcome *o = d.outcomes + i;
    live_pair *pair = live_pair_at(live, list.numbers[i]);
    if (!o->finished) continue;
    pair->now = o->verdict;
    pair->counts = o->counts;
    pair->gap = o->gap;
    pair->stale = false;
  }
  events->decided_pairs = d.count;
  events->work = d.work;
  return status;
}

/* ---- telling ---- */

static void tell(const live_pair *pair, const double time[2], graze_scene_event *list, uint64_t *count) {
  graze_scene_event *e = &list[(*count)++];
  bool part = takes_part(pair);
  *e = (graze_scene_event){.a = pair->a.id,
                           .b = pair->b.id,
                           .user_id_a = pair->a.user_id,
                           .user_id_b = pair->b.user_id,
                           .before = pair->told,
                           .time = {time[0], time[1]}};
  if (!part) return;
  e->verdict = pair->now;
  e->counts = pair->counts;
  e->gap = pair->gap;
}

static void note_order(const live_scene *live, uint32_t number, told_pair *list, uint64_t *count) {
  const live_pair *pair = live_pair_at(live, number);
  if (!takes_part(pair) && pair->told == GRAZE_SEPARATE) return;
  list[(*count)++] = (told_pair){.pair = {pair->a.serial, pair->b.serial, number}};
}

/* The pairs that somebody has to hear of, sorted; they mostly are already. */
static uint64_t list_told(const live_scene *live, told_pair *list) {
  const uint32_t *states = live->states.data;
  const numbered_pair *gone = live->gone.data;
  uint64_t n = 0;
  for (uint64_t i = 0; i < live->count; i++) note_order(live, states[i], list, &n);
  for (uint32_t i = 0; i < live->gone_count; i++) note_order(live, gone[i].number, list, &n);
  for (uint64_t i = 1; i < n; i++) {
    if (gz_numbered_pairs_order(&list[i - 1], &list[i]) < 0) continue;
    qsort(list, n, sizeof *list, gz_numbered_pairs_order);
    break;
  }
  return n;
}

static uint64_t hash_gap(uint32_t a, uint32_t b, const graze_gap *gap) {
  const double numbers[8] = {gap->clearance,    gap->distance,     gap->points[0][0], gap->points[0][1],
                             gap->points[0][2], gap->points[1][0], gap->points[1][1], gap->points[1][2]};
  return hash_doubles(hash_pair(a, b), numbers, 8);
}

static void hash_and_count(const graze_scene *scene, graze_scene_update_result *events) {
  const live_scene *live = scene->live;
  const uint32_t *states = live->states.data, *rank = scene->rank.data;
  for (uint64_t i = 0; i < live->count; i++) {
    const live_pair *pair = live_pair_at(live, states[i]);
    events->candidate_pairs += !pair->ignored;
    if (!takes_part(pair)) continue;
    const uint32_t a = rank[pair->a.id.index], b = rank[pair->b.id.index];
    events->hash += graze_scene_hash_pair(a, b, pair->now.relation, &pair->counts);
    if (pair->gap.found) events->gap_hash += hash_gap(a, b, &pair->gap);
  }
}

static uint64_t hash_times(const graze_scene_event *list, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t bits[2];
    memcpy(bits, list[i].time, sizeof bits);
    sum += splitmix64(hash_pair(list[i].a.index, list[i].b.index) ^ splitmix64(bits[0] ^ splitmix64(bits[1])));
  }
  return sum;
}

/* From here on nothing fails: told becomes what is true. */
static void settle(live_scene *live, const told_pair *list, uint64_t count, graze_scene_update_result *events) {
  graze_scene_event *began = live->events[0].data, *persist = live->events[1].data, *ended = live->events[2].data;
  for (uint64_t i = 0; i < count; i++) {
    live_pair *pair = live_pair_at(live, list[i].pair.number);
    if (!takes_part(pair)) {
      tell(pair, list[i].time, ended, &events->ended_count);
    } else if (pair->told == GRAZE_SEPARATE) {
      tell(pair, list[i].time, began, &events->began_count);
    } else {
      tell(pair, list[i].time, persist, &events->persist_count);
    }
    pair->told = takes_part(pair) ? pair->now.relation : GRAZE_SEPARATE;
  }
  const numbered_pair *gone = live->gone.data;
  for (uint32_t i = 0; i < live->gone_count; i++) gz_live_give_back(live, gone[i].number);
  live->gone_count = 0;
  events->began = began;
  events->persist = persist;
  events->ended = ended;
}

static graze_status tell_all(graze_scene *scene, const graze_scene_update_options *options, clearance_asking *asking,
                             graze_scene_update_result *events) {
  live_scene *live = scene->live;
  const graze_context *context = scene->context;
  size_t bytes = (live->count + live->gone_count) * sizeof(told_pair);
  if (!gz_buffer_reserve(context, &live->wanted, bytes, 0)) return gz_fail_memory(context, bytes);
  told_pair *list = live->wanted.data;
  uint64_t n = list_told(live, list);
  for (int k = 0; k < 3; k++) {
    if (gz_buffer_reserve(context, &live->events[k], n * sizeof(graze_scene_event), 0)) continue;
    return gz_fail_memory(context, n * sizeof(graze_scene_event));
  }
  const bool between = options->continuous != GRAZE_MOTION_STEPS;
  graze_status status = between ? gz_continuous_decide(scene, options, asking, list, n, events) : GRAZE_OK;
  if (status != GRAZE_OK) return status;
  hash_and_count(scene, events);
  settle(live, list, n, events);
  gz_live_arrive(scene);
  if (between) {
    events->time_hash = hash_times(events->began, events->began_count) +
                        hash_times(events->ended, events->ended_count) +
                        hash_times(events->passed, events->passed_count);
  }
  return GRAZE_OK;
}

/* ---- the call ---- */

static graze_status run_update(graze_scene *scene, const graze_scene_update_options *options,
                               graze_scene_update_result *events) {
  bool same = scene->live != NULL && same_question(scene->live, options);
  clearance_asking asking = {.context = scene->context,
                             .clearance = options->clearance,
                             .reach = options->reach,
                             .user = options->clearance_user};
  gz_record_answers(scene->recorder, &asking);
  graze_status status = gz_live_set_reach(scene, options->clearance != NULL ? gz_asking_reach : NULL, &asking);
  if (status == GRAZE_OK) status = gz_live_bring_up(scene, options->exactness, !same);
  if (status == GRAZE_OK) status = find_clearances(scene, &asking);
  if (status != GRAZE_OK) return status;
  scene->live->options = *options;
  scene->live->begun = true;
  status = decide_stale(scene, options, events);
  if (status == GRAZE_OK) status = tell_all(scene, options, &asking, events);
  if (asking.failed) gz_record_lacks_memory(scene->recorder);
  return status;
}

graze_status graze_scene_update(graze_scene *scene, const graze_scene_update_options *options,
                                graze_scene_update_result *events) {
  if (scene == NULL) return GRAZE_ERROR_ARGUMENT;
  if (events == NULL) return gz_fail(scene->context, GRAZE_ERROR_ARGUMENT, "update: null pointer");
  graze_scene_update_options chosen = options != NULL ? *options : graze_default_scene_update_options();
  graze_status status = check_options(scene->context, &chosen);
  if (status != GRAZE_OK) return status;
  graze_scene_update_result told = {0};
  unsigned saved = gz_fp_enter();
  status = run_update(scene, &chosen, &told);
  gz_fp_leave(saved);
  if (status == GRAZE_OK) {
    gz_record_update(scene->recorder, &chosen, &told);
    *events = told;
  }
  return status;
}
