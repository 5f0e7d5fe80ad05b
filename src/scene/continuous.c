/* Between two updates: candidates are pairs whose boxes of all that they sweep, grown by what has to be kept clear,
 * meet, and of which something moves relative to the other. Pairs that met at the last update and meet now are left
 * alone. Of a pair that keeps its clearance before or after it is first asked whether it keeps it all the way: then
 * nothing meets, either. What a proof of freedom has found of the distance is kept for the next update, which often
 * needs no other proof. */
#include "scene/continuous.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "motion/path.h"
#include "motion/pursuit.h"
#include "scene/decide.h"

enum { JOURNEYS_PER_CALL = 256, STEPS_AHEAD = 8 };

/* A pair and a lower bound of the distance of its surfaces. */
typedef struct clear_pair {
  uint64_t first, second; /* serials */
  double apart;
} clear_pair;

/* An object of which the others may have something to fear, or that moves itself. */
typedef struct way {
  uint32_t place;
  uint64_t serial;
  bool opened;
  motion_path path; /* if opened: of what moves, and of what may be met */
} way;

/* A candidate. */
typedef struct journey {
  uint32_t a, b;          /* ways; a was added first */
  uint64_t first, second; /* their serials */
  uint64_t key;           /* of their ranks */
  told_pair *told;        /* NULL: separate before and after */
  graze_relation before, now;
  double clearance;
  double apart; /* what is known of their distance: before, then after; 0: nothing */
  graze_status status;
  graze_motion_result meeting;  /* FREE where nobody asks for it */
  graze_motion_result approach; /* to less than the clearance: likewise */
} journey;

typedef struct travel {
  graze_scene *scene;
  const graze_scene_update_options *options;
  told_pair *told;
  uint64_t told_count;
  way *ways;
  graze_box *boxes; /* of the ways */
  uint32_t way_count;
  journey *journeys;
  uint64_t count;
  uint64_t *keys;     /* of the journeys, whose meshes are loaded */
  double *clearances; /* likewise */
  clearance_asking *asking;
} travel;

/* ---- ways ---- */

/* The mesh need not be there yet. */
static graze_box box_of_mesh(const object *o, bool *empty) {
  if (o->mesh == NULL) {
    *empty = o->source->facts.triangles == 0;
    return o->source->facts.box;
  }
  graze_box box;
  memcpy(box.min, o->mesh->header->box_min, sizeof box.min);
  memcpy(box.max, o->mesh->header->box_max, sizeof box.max);
  *empty = o->mesh->triangle_count == 0;
  return box;
}

/* What overflows meets everything. */
static void keep_finite(graze_box *box) {
  for (int k = 0; k < 3; k++) {
    if (!(box->min[k] >= -DBL_MAX)) box->min[k] = -DBL_MAX;
    if (!(box->max[k] <= DBL_MAX)) box->max[k] = DBL_MAX;
  }
}

/* The ways of cores are not those of what is around them. */
static graze_status refuse_rounds(const graze_scene *scene) {
  char label[96];
  for (uint32_t i = 0; i < scene->count; i++) {
    if (scene_ranked(scene, i)->radius == 0) continue;
    return gz_fail(scene->context, GRAZE_ERROR_UNSUPPORTED,
                   "object %s: it is round, and what such an object meets between updates is not known",
                   gz_scene_object_label(scene, i, label));
  }
  return GRAZE_OK;
}

static graze_status open_way(const travel *t, way *w) {
  const object *o = scene_object(t->scene, w->place);
  bool empty;
  if (w->opened) return GRAZE_OK;
  const graze_box of_mesh = box_of_mesh(o, &empty);
  path_fault fault =
      gz_path_open(&w->path, &of_mesh, o->travels ? &o->then : &o->pose, &o->pose, t->options->continuous, o->center);
  const bool far = fault == PATH_FINE && has_center(o) && !(w->path.slack < PATH_FARTHEST);
  w->opened = fault == PATH_FINE && !far;
  if (w->opened) return GRAZE_OK;
  char label[96];
  gz_scene_object_label(t->scene, ((const uint32_t *)t->scene->rank.data)[w->place], label);
  if (far) return gz_fail(t->scene->context, GRAZE_ERROR_LIMIT, "object %s: its center is too far away", label);
  return gz_fail(t->scene->context, GRAZE_ERROR_POSE, "object %s: %s", label, gz_path_fault_string(fault));
}

/* What stands still has a box without a path. */
static graze_status add_way(travel *t, uint32_t place) {
  const object *o = scene_object(t->scene, place);
  bool empty;
  const graze_box of_mesh = box_of_mesh(o, &empty);
  if (empty) return GRAZE_OK;
  way *w = &t->ways[t->way_count];
  graze_box *box = &t->boxes[t->way_count++];
  w->place = place;
  w->serial = o->serial;
  w->opened = false;
  graze_status status = o->travels ? open_way(t, w) : GRAZE_OK;
  if (status != GRAZE_OK) return status;
  *box = o->travels ? gz_path_box(&w->path, &of_mesh) : graze_pose_box(&o->pose, &of_mesh);
  keep_finite(box);
  if (o->reach > 0) gz_live_grow_box(box, 0.5 * o->reach);
  return GRAZE_OK;
}

/* Those of all that move, and then those of the others that come near. */
static graze_status make_ways(travel *t) {
  graze_scene *scene = t->scene;
  live_scene *live = scene->live;
  if (!gz_buffer_reserve(scene->context, &live->ways, (scene->count + (size_t)1) * sizeof(way), 0) ||
      !gz_buffer_reserve(scene->context, &live->swept, (scene->count + (size_t)1) * sizeof(graze_box), 0)) {
    return gz_fail_memory(scene->context, scene->count * (sizeof(way) + sizeof(graze_box)));
  }
  t->ways = live->ways.data;
  t->boxes = live->swept.data;
  const uint32_t *places = live->travels.data;
  graze_box reach = graze_box_empty();
  graze_status status = GRAZE_OK;
  for (uint32_t i = 0; i < live->travel_count && status == GRAZE_OK; i++) {
    if (scene_object(scene, places[i])->travels) status = add_way(t, places[i]);
  }
  for (uint32_t i = 0; i < t->way_count; i++) graze_box_add_box(&reach, &t->boxes[i]);
  for (uint32_t i = 0; i < scene->count && status == GRAZE_OK && t->way_count > 0; i++) {
    uint32_t place = ((const uint32_t *)scene->order.data)[i], before = t->way_count;
    if (scene_object(scene, place)->travels) continue;
    status = add_way(t, place);
    if (t->way_count > before && !graze_boxes_meet(&t->boxes[before], &reach)) t->way_count = before;
  }
  return status;
}

/* ---- candidates ---- */

static told_pair *find_told(const travel *t, uint64_t a, uint64_t b) {
  const told_pair key = {.pair = {a, b, 0}};
  return bsearch(&key, t->told, t->told_count, sizeof key, gz_numbered_pairs_order);
}

static int journeys_order(const void *p, const void *q) {
  const journey *x = p, *y = q;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return (x->second > y->second) - (x->second < y->second);
}

static int clear_order(const void *p, const void *q) {
  const clear_pair *x = p, *y = q;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return (x->second > y->second) - (x->second < y->second);
}

/* What the last update has left. */
static double find_clear(const live_scene *live, const journey *j) {
  const clear_pair key = {j->first, j->second, 0};
  const clear_pair *found = live->clear_count[0] > 0
                                ? bsearch(&key, live->clear[0].data, live->clear_count[0], sizeof key, clear_order)
                                : NULL;
  return found != NULL ? found->apart : 0;
}

/* Unknown pairs may. */
static bool meets(graze_relation relation) {
  return relation != GRAZE_SEPARATE && relation != GRAZE_CLEARANCE;
}

static bool moves(const way *w) {
  return w->opened && w->path.moves;
}

static bool at_rest(const way *x, const way *y) {
  return (!moves(x) && !moves(y)) || (x->opened && y->opened && gz_paths_at_rest(&x->path, &y->path));
}

/* False: it is of no interest. */
static bool make_journey(const travel *t, const graze_box_pair *boxes, journey *j) {
  const uint32_t *rank = t->scene->rank.data;
  const way *x = &t->ways[boxes->a], *y = &t->ways[boxes->b];
  if (at_rest(x, y)) return false;
  const bool ordered = x->serial < y->serial;
  *j = (journey){.a = ordered ? boxes->a : boxes->b,
                 .b = ordered ? boxes->b : boxes->a,
                 .before = GRAZE_SEPARATE,
                 .now = GRAZE_SEPARATE};
  const way *a = &t->ways[j->a], *b = &t->ways[j->b];
  j->first = a->serial;
  j->second = b->serial;
  if (filter_ignores(&t->scene->rules, rank[a->place], rank[b->place])) return false;
  j->key = pair_key(rank[a->place], rank[b->place]);
  j->told = find_told(t, a->serial, b->serial);
  j->apart = find_clear(t->scene->live, j);
  if (j->told == NULL) return true;
  const live_pair *pair = live_pair_at(t->scene->live, j->told->pair.number);
  j->before = pair->told;
  if (!pair->ignored) j->now = pair->now.relation;
  return !(meets(j->before) && meets(j->now));
}

static graze_status ask_clearances(const travel *t) {
  if (t->asking->clearance == NULL) return GRAZE_OK;
  graze_status status = gz_ask_clearances(t->scene, gz_asking_clearance, t->asking, t->keys, t->count, t->clearances);
  for (uint64_t i = 0; i < t->count && status == GRAZE_OK; i++) t->journeys[i].clearance = t->clearances[i];
  return status;
}

static graze_status make_journeys(travel *t) {
  graze_scene *scene = t->scene;
  live_scene *live = scene->live;
  const graze_box_array array = {t->boxes, 0, GRAZE_DOUBLE};
  const graze_box_pair *pairs;
  uint64_t count;
  graze_status status = GRAZE_OK;
  if (live->sweeper == NULL) status = graze_broadphase_create(scene->context, NULL, &live->sweeper);
  if (status == GRAZE_OK) status = graze_broadphase_find(live->sweeper, &array, t->way_count, false, &pairs, &count);
  if (status != GRAZE_OK) return status;
  size_t bytes = (count + 1) * (sizeof(journey) + sizeof(uint64_t) + sizeof(double));
  if (!gz_buffer_reserve(scene->context, &live->journeys, bytes, 0)) return gz_fail_memory(scene->context, bytes);
  t->journeys = live->journeys.data;
  t->keys = (uint64_t *)(t->journeys + count);
  t->clearances = (double *)(t->keys + count);
  for (uint64_t i = 0; i < count && status == GRAZE_OK; i++) {
    if (!make_journey(t, &pairs[i], &t->journeys[t->count])) continue;
    status = open_way(t, &t->ways[pairs[i].a]);
    if (status == GRAZE_OK) status = open_way(t, &t->ways[pairs[i].b]);
    t->count++;
  }
  if (status != GRAZE_OK) return status;
  if (t->count > 1) qsort(t->journeys, t->count, sizeof(journey), journeys_order);
  for (uint64_t i = 0; i < t->count; i++) t->keys[i] = t->journeys[i].key;
  status = ask_clearances(t);
  return status == GRAZE_OK ? gz_sources_load_pairs(scene, t->keys, t->count) : status;
}

/* ---- deciding ---- */

typedef struct piece_of_travel {
  travel *t;
  uint64_t from;
} piece_of_travel;

/* Whether its clearance is kept at one of the two updates, and nothing meets at the other. */
static bool keeps_clear(const journey *j) {
  return j->clearance > 0 && !meets(j->before) && !meets(j->now) &&
         (j->before == GRAZE_SEPARATE || j->now == GRAZE_SEPARATE);
}

static graze_status decide_journey(const travel *t, graze_query *query, journey *j) {
  const way *a = &t->ways[j->a], *b = &t->ways[j->b];
  const pursued first = {scene_object(t->scene, a->place)->mesh, &a->path};
  const pursued second = {scene_object(t->scene, b->place)->mesh, &b->path};
  graze_motion_options options = graze_default_motion_options();
  double apart = j->apart;
  options.model = t->options->continuous;
  options.bracket = t->options->bracket;
  if (keeps_clear(j)) {
    options.separation = j->clearance;
    options.last = j->before != GRAZE_SEPARATE;
    graze_status status = gz_motion_meshes(query, first, second, &options, STEPS_AHEAD, &j->apart, &j->approach);
    if (status != GRAZE_OK || j->approach.verdict == GRAZE_MOTION_FREE) return status;
  }
  options.separation = 0;
  options.last = meets(j->before);
  graze_status status = gz_motion_meshes(query, first, second, &options, STEPS_AHEAD, &apart, &j->meeting);
  j->apart = apart;
  return status;
}

static void decide_range(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  const piece_of_travel *piece = argument;
  scene_worker *w = piece->t->scene->workers + index;
  bool before = gz_silence(true);
  graze_status status = GRAZE_OK;
  if (w->query == NULL) status = graze_query_create(piece->t->scene->context, &w->query);
  for (uint32_t i = begin; i < end; i++) {
    journey *j = &piece->t->journeys[piece->from + i];
    j->status = status == GRAZE_OK ? decide_journey(piece->t, w->query, j) : status;
  }
  gz_silence(before);
}

static graze_status check_journeys(const travel *t, uint64_t from, uint64_t count) {
  char a[96], b[96];
  for (uint64_t i = from; i < from + count; i++) {
    if (t->journeys[i].status == GRAZE_OK) continue;
    return gz_fail(t->scene->context, t->journeys[i].status, "objects %s and %s: %s",
                   gz_scene_object_label(t->scene, (uint32_t)(t->keys[i] >> 32), a),
                   gz_scene_object_label(t->scene, (uint32_t)t->keys[i], b),
                   graze_status_string(t->journeys[i].status));
  }
  return GRAZE_OK;
}

static graze_status decide_journeys(travel *t) {
  const graze_scene_update_options *o = t->options;
  graze_status status = gz_decide_workers(t->scene);
  for (uint64_t from = 0; from < t->count && status == GRAZE_OK; from += JOURNEYS_PER_CALL) {
    uint64_t count = t->count - from < JOURNEYS_PER_CALL ? t->count - from : JOURNEYS_PER_CALL;
    if (o->progress != NULL && !o->progress(o->progress_user, from, t->count)) return GRAZE_CANCELLED;
    gz_parallel_for(t->scene->context, (uint32_t)count, 1, decide_range, &(piece_of_travel){t, from});
    status = check_journeys(t, from, count);
  }
  return status;
}

/* ---- telling ---- */

/* Pairs that have no time of their own. */
static void set_times(const travel *t) {
  for (uint64_t i = 0; i < t->told_count; i++) {
    const live_pair *pair = live_pair_at(t->scene->live, t->told[i].pair.number);
    const object *a = scene_object(t->scene, pair->a.id.index), *b = scene_object(t->scene, pair->b.id.index);
    bool moved = (a->serial == pair->a.serial && a->travels) || (b->serial == pair->b.serial && b->travels);
    t->told[i].time[0] = moved ? 0 : 1;
    t->told[i].time[1] = 1;
  }
}

/* Of a pair that meets neither before nor after. */
static void tell_passage(const travel *t, const journey *j, graze_scene_event *e) {
  const bool meets_between = j->meeting.verdict != GRAZE_MOTION_FREE;
  const graze_motion_result *r = meets_between ? &j->meeting : &j->approach;
  const object *a = scene_object(t->scene, t->ways[j->a].place), *b = scene_object(t->scene, t->ways[j->b].place);
  *e = (graze_scene_event){.a = {t->ways[j->a].place, a->generation},
                           .b = {t->ways[j->b].place, b->generation},
                           .user_id_a = a->user_id,
                           .user_id_b = b->user_id,
                           .time = {r->earliest, r->latest},
                           .passage = r->verdict,
                           .approach = meets_between ? 0 : j->clearance,
                           .distance = {r->distance[0], r->distance[1]}};
  if (j->told == NULL) return;
  const live_pair *pair = live_pair_at(t->scene->live, j->told->pair.number);
  e->before = pair->told;
  if (pair->ignored) return;
  e->verdict = pair->now;
  e->gap = pair->gap;
}

/* For the next update. */
static graze_status keep_clear(const travel *t) {
  live_scene *live = t->scene->live;
  size_t bytes = (t->count + 1) * sizeof(clear_pair);
  if (!gz_buffer_reserve(t->scene->context, &live->clear[1], bytes, 0)) return gz_fail_memory(t->scene->context, bytes);
  clear_pair *pairs = live->clear[1].data;
  live->clear_count[1] = 0;
  for (uint64_t i = 0; i < t->count; i++) {
    const journey *j = &t->journeys[i];
    if (j->apart > 0) pairs[live->clear_count[1]++] = (clear_pair){j->first, j->second, j->apart};
  }
  return GRAZE_OK;
}

/* When a pair that is told began to meet, or to be too near, or ceased to. */
static void tell_time(const journey *j) {
  const bool meets_once = meets(j->before) != meets(j->now), near_once = keeps_clear(j) && j->before != j->now;
  const graze_motion_result *r = meets_once ? &j->meeting : &j->approach;
  if (!(meets_once || near_once) || r->verdict == GRAZE_MOTION_FREE) return;
  j->told->time[0] = r->earliest;
  j->told->time[1] = r->latest;
}

static bool passes(const journey *j) {
  if (meets(j->before) || meets(j->now)) return false;
  return j->meeting.verdict != GRAZE_MOTION_FREE || (j->before == j->now && j->approach.verdict != GRAZE_MOTION_FREE);
}

static graze_status tell(travel *t, graze_scene_update_result *events) {
  live_scene *live = t->scene->live;
  uint64_t passed = 0, kept = 0;
  for (uint64_t i = 0; i < t->count; i++) {
    journey *j = &t->journeys[i];
    work_add(&events->work, &j->meeting.work);
    work_add(&events->work, &j->approach.work);
    if (j->told != NULL) tell_time(j);
    if (passes(j)) t->journeys[kept++] = *j;
  }
  size_t bytes = (kept + 1) * sizeof(graze_scene_event);
  if (!gz_buffer_reserve(t->scene->context, &live->events[3], bytes, 0)) {
    return gz_fail_memory(t->scene->context, bytes);
  }
  graze_scene_event *list = live->events[3].data;
  for (uint64_t i = 0; i < kept; i++) tell_passage(t, &t->journeys[i], &list[passed++]);
  events->passed = list;
  events->passed_count = passed;
  return GRAZE_OK;
}

graze_status gz_continuous_decide(graze_scene *scene, const graze_scene_update_options *options,
                                  clearance_asking *asking, told_pair *told, uint64_t count,
                                  graze_scene_update_result *events) {
  travel t = {.scene = scene, .options = options, .asking = asking, .told = told, .told_count = count};
  graze_status status = refuse_rounds(scene);
  if (status != GRAZE_OK) return status;
  set_times(&t);
  if (scene->live->travel_count == 0) return GRAZE_OK;
  status = make_ways(&t);
  if (status == GRAZE_OK && t.way_count > 1) status = make_journeys(&t);
  if (status == GRAZE_OK && t.count > 0) status = decide_journeys(&t);
  if (status == GRAZE_OK) status = keep_clear(&t);
  return status == GRAZE_OK ? tell(&t, events) : status;
}
