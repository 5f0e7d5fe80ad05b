/* Living scenes: from edits to boxes, from boxes to pairs that remember their relation.
 *
 * Edits leave notes: a place that was touched, a proxy that was lost. An update turns them into boxes for the broad
 * phase, then walks the sorted pairs of the broad phase beside those of the last update: what is new gets a place in
 * the pool, what is gone gives it back, once its end was told. The walk compares lists, not events, so that an update
 * that failed halfway loses nothing. Memory: about 300 bytes a pair whose boxes meet and 60 an object.
 */
#include "scene/live.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "broad/pairs.h"
#include "geometry/pose.h"
#include "scene/record.h"

enum { NO_NUMBER = UINT32_MAX };

/* ---- notes ---- */

static graze_proxy_id *proxy_of(const live_scene *live, uint32_t place) {
  return (graze_proxy_id *)live->proxies.data + place;
}

bool gz_live_reserve(const graze_context *context, live_scene *live, uint32_t places) {
  if (live == NULL || places <= live->places) return true;
  size_t n = places > 64 ? places + places / 2 : 64, old = live->places;
  if (!gz_buffer_reserve(context, &live->proxies, n * sizeof(graze_proxy_id), old * sizeof(graze_proxy_id)) ||
      !gz_buffer_reserve(context, &live->touched, n, old) ||
      !gz_buffer_reserve(context, &live->touched_list, n * sizeof(uint32_t), live->touched_count * sizeof(uint32_t)) ||
      !gz_buffer_reserve(context, &live->travels, n * sizeof(uint32_t), live->travel_count * sizeof(uint32_t)) ||
      !gz_buffer_reserve(context, &live->lost, n * sizeof(graze_proxy_id), live->lost_count * sizeof(graze_proxy_id))) {
    return false;
  }
  memset((uint8_t *)live->touched.data + old, 0, n - old);
  memset(proxy_of(live, (uint32_t)old), 0, (n - old) * sizeof(graze_proxy_id));
  live->places = (uint32_t)n;
  return true;
}

void gz_live_touch(live_scene *live, uint32_t place) {
  if (live == NULL) return;
  uint8_t *touched = live->touched.data;
  if (touched[place]) return;
  touched[place] = 1;
  ((uint32_t *)live->touched_list.data)[live->touched_count++] = place;
}

void gz_live_forget(live_scene *live, uint32_t place) {
  if (live == NULL || proxy_of(live, place)->generation == 0) return;
  ((graze_proxy_id *)live->lost.data)[live->lost_count++] = *proxy_of(live, place);
  *proxy_of(live, place) = (graze_proxy_id){0};
}

void gz_live_depart(graze_scene *scene, uint32_t place) {
  live_scene *live = scene->live;
  object *o = scene_object(scene, place);
  if (live == NULL || !live->begun || o->travels || o->serial >= live->met) return;
  o->travels = true;
  o->then = o->pose;
  ((uint32_t *)live->travels.data)[live->travel_count++] = place;
}

static void swap_buffers(buffer *x, buffer *y) {
  buffer z = *x;
  *x = *y;
  *y = z;
}

void gz_live_arrive(graze_scene *scene) {
  live_scene *live = scene->live;
  const uint32_t *places = live->travels.data;
  for (uint32_t i = 0; i < live->travel_count; i++) scene_object(scene, places[i])->travels = false;
  if (live->travel_count > 0) { /* what was known of distances is known no more, but for what has just been found */
    swap_buffers(&live->clear[0], &live->clear[1]);
    live->clear_count[0] = live->clear_count[1];
  }
  live->clear_count[1] = 0;
  live->travel_count = 0;
  live->met = scene->serials;
}

void gz_live_release(const graze_context *context, live_scene *live) {
  if (live == NULL) return;
  buffer *buffers[] = {&live->proxies,     &live->touched,    &live->touched_list, &live->lost,      &live->who,
                       &live->moved,       &live->keys,       &live->states,       &live->gone,      &live->next_keys,
                       &live->next_states, &live->pool.pairs, &live->pool.free,    &live->batch,     &live->wanted,
                       &live->events[0],   &live->events[1],  &live->events[2],    &live->events[3], &live->travels,
                       &live->ways,        &live->swept,      &live->journeys,     &live->clear[0],  &live->clear[1]};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) gz_buffer_release(context, buffers[i]);
  graze_broadphase_destroy(live->broad);
  graze_broadphase_destroy(live->sweeper);
  gz_memory_release(context, live, sizeof *live);
}

static void touch_all(graze_scene *scene) {
  for (uint32_t place = scene->oldest; place != NO_OBJECT; place = scene_object(scene, place)->next) {
    gz_live_touch(scene->live, place);
  }
}

graze_status gz_live_start(graze_scene *scene) {
  if (scene->live != NULL) return GRAZE_OK;
  const graze_context *context = scene->context;
  live_scene *live = gz_memory_alloc(context, sizeof *live);
  if (live == NULL) return gz_fail_memory(context, sizeof *live);
  *live = (live_scene){0};
  graze_status status = graze_broadphase_create(scene->context, NULL, &live->broad);
  if (status == GRAZE_OK && !gz_live_reserve(context, live, scene->places)) {
    status = gz_fail(context, GRAZE_ERROR_MEMORY, "out of memory: notes about %u objects", scene->places);
  }
  if (status != GRAZE_OK) {
    gz_live_release(context, live);
    return status;
  }
  scene->live = live;
  touch_all(scene);
  return GRAZE_OK;
}

/* Touches every object whose mesh was refitted since it was looked at. */
static void find_refitted(graze_scene *scene) {
  if (scene->shapes_listed && gz_shapes_current(&scene->shapes)) return;
  for (uint32_t place = scene->oldest; place != NO_OBJECT; place = scene_object(scene, place)->next) {
    object *o = scene_object(scene, place);
    if (o->mesh == NULL || o->geometry_hash == o->mesh->header->geometry_hash) continue;
    gz_record_refit(scene->recorder, o);
    scene->live->clear_count[0] = 0;
    gz_live_touch(scene->live, place);
  }
}

/* ---- boxes ---- */

typedef enum box_state {
  BOX_MADE,
  BOX_OVERFLOWS, /* a posed coordinate does */
  BOX_NEEDS_MESH /* the box of the source overflows, and the mesh tells whether a coordinate does */
} box_state;

static bool box_finite(const graze_box *box) {
  bool finite = true;
  for (int k = 0; k < 3; k++) finite &= isfinite(box->min[k]) && isfinite(box->max[k]);
  return finite;
}

static bool posed_finite(const object *o) {
  for (uint32_t t = 0; t < o->mesh->triangle_count; t++) {
    double corners[9];
    graze_mesh_get_triangle(o->mesh, t, corners);
    for (int i = 0; i < 9; i++) {
      if (!isfinite(pose_row(&o->pose, i % 3, corners + i / 3 * 3))) return false;
    }
  }
  return true;
}

/* The box of an object in the world; empty for a mesh without triangles. Where only the box overflows, the object meets
 * every box. */
static box_state object_box(const object *o, graze_exactness exactness, graze_box *out) {
  graze_mesh_facts facts;
  if (o->mesh != NULL)
    graze_mesh_get_facts(o->mesh, &facts);
  else
    facts = o->source->facts;
  *out = facts.box;
  if (facts.triangles == 0 || exactness == GRAZE_T0) return BOX_MADE;
  *out = graze_pose_box(&o->pose, &facts.box);
  if (box_finite(out)) return BOX_MADE;
  for (int k = 0; k < 3; k++) {
    out->min[k] = -DBL_MAX;
    out->max[k] = DBL_MAX;
  }
  if (o->mesh == NULL) return BOX_NEEDS_MESH;
  return posed_finite(o) ? BOX_MADE : BOX_OVERFLOWS;
}

void gz_live_grow_box(graze_box *box, double by) {
  for (int k = 0; k < 3; k++) {
    box->min[k] = fmax(nextafter(box->min[k] - by, -INFINITY), -DBL_MAX);
    box->max[k] = fmin(nextafter(box->max[k] + by, INFINITY), DBL_MAX);
  }
}

graze_status gz_live_set_reach(graze_scene *scene, graze_reach_function reach, void *user) {
  char label[96];
  for (uint32_t place = scene->oldest; place != NO_OBJECT; place = scene_object(scene, place)->next) {
    object *o = scene_object(scene, place);
    double now = reach != NULL ? reach(user, o->user_id) : 0;
    if (!(now >= 0 && now <= DBL_MAX)) {
      graze_status status = gz_scene_prepare(scene);
      if (status != GRAZE_OK) return status;
      return gz_fail(scene->context, GRAZE_ERROR_ARGUMENT, "object %s: its reach is not a finite number of 0 or more",
                     gz_scene_object_label(scene, ((const uint32_t *)scene->rank.data)[place], label));
    }
    if (now == o->reach) continue;
    o->reach = now;
    gz_live_touch(scene->live, place);
  }
  return GRAZE_OK;
}

/* One box on its way: to a proxy, or to a new one for an object. */
typedef struct sending {
  graze_box *boxes;
  graze_proxy_id *proxies;
  uint32_t *places;
  uint32_t count;
} sending;

static graze_status report_overflow(const graze_scene *scene, uint32_t place) {
  const uint32_t *rank = scene->rank.data;
  char label[96];
  return gz_fail(scene->context, GRAZE_ERROR_NOT_FINITE, "object %s: a posed coordinate overflows",
                 gz_scene_object_label(scene, rank[place], label));
}

/* Sorts what was touched into boxes of old proxies and of new ones. */
static graze_status gather_boxes(graze_scene *scene, graze_exactness exactness, sending *moves, sending *adds) {
  live_scene *live = scene->live;
  const uint32_t *list = live->touched_list.data;
  bool lacks = false;
  moves->count = adds->count = 0;
  for (uint32_t i = 0; i < live->touched_count; i++) {
    uint32_t place = list[i];
    object *o = scene_object(scene, place);
    graze_box box;
    if (o->name == NULL) continue; /* it has gone */
    box_state state = object_box(o, exactness, &box);
    if (state == BOX_OVERFLOWS) return report_overflow(scene, place);
    if (state == BOX_NEEDS_MESH) o->needed = lacks = true;
    graze_proxy_id proxy = *proxy_of(live, place);
    if (box.min[0] > box.max[0]) { /* a mesh without triangles, for good: it cannot be refitted to have some */
      continue;
    }
    if (o->radius > 0) gz_live_grow_box(&box, o->radius);
    if (o->reach > 0) gz_live_grow_box(&box, 0.5 * o->reach);
    sending *to = proxy.generation != 0 ? moves : adds;
    to->boxes[to->count] = box;
    to->places[to->count] = place;
    to->proxies[to->count++] = proxy;
  }
  if (!lacks) return GRAZE_OK;
  graze_status status = gz_sources_load(scene);
  return status == GRAZE_OK ? gather_boxes(scene, exactness, moves, adds) : status;
}

/* Room by index of proxies, for `more` new ones at most. */
static bool reserve_indices(const graze_scene *scene, uint32_t more) {
  live_scene *live = scene->live;
  size_t n = (size_t)graze_broadphase_index_end(live->broad) + more, old = live->indices;
  if (n <= old) return true;
  n += n / 2;
  if (!gz_buffer_reserve(scene->context, &live->who, n * sizeof(live_object), old * sizeof(live_object)) ||
      !gz_buffer_reserve(scene->context, &live->moved, n, old)) {
    return false;
  }
  memset((uint8_t *)live->moved.data + old, 0, n - old);
  live->indices = (uint32_t)n;
  return true;
}

static void note_sent(graze_scene *scene, const sending *sent) {
  live_scene *live = scene->live;
  live_object *who = live->who.data;
  for (uint32_t i = 0; i < sent->count; i++) {
    uint32_t place = sent->places[i];
    object *o = scene_object(scene, place);
    *proxy_of(live, place) = sent->proxies[i];
    who[sent->proxies[i].index] = (live_object){{place, o->generation}, o->user_id, o->serial};
    ((uint8_t *)live->moved.data)[sent->proxies[i].index] = 1;
    if (o->mesh != NULL) o->geometry_hash = o->mesh->header->geometry_hash;
  }
}

static graze_status send_boxes(graze_scene *scene, sending *moves, sending *adds) {
  live_scene *live = scene->live;
  graze_box_array moved = {moves->boxes, 0, GRAZE_DOUBLE}, added = {adds->boxes, 0, GRAZE_DOUBLE};
  graze_status status = graze_broadphase_remove(live->broad, live->lost.data, live->lost_count);
  if (status != GRAZE_OK) return status;
  live->lost_count = 0;
  status = graze_broadphase_move(live->broad, moves->proxies, &moved, moves->count);
  if (status != GRAZE_OK) return status;
  note_sent(scene, moves);
  status = graze_broadphase_add(live->broad, &added, adds->count, NULL, NULL, adds->proxies);
  if (status == GRAZE_OK) note_sent(scene, adds);
  return status;
}

/* Gives the broad phase the boxes of what was touched or lost. What was touched stays so after an error. */
static graze_status sync_boxes(graze_scene *scene, graze_exactness exactness) {
  live_scene *live = scene->live;
  bool plain = exactness == GRAZE_T0; /* boxes are those of the meshes, not rounded outward */
  if (live->plain != plain) touch_all(scene);
  live->plain = plain;
  size_t most = live->touched_count,
         bytes = (2 * most + 1) * (sizeof(graze_box) + sizeof(graze_proxy_id) + sizeof(uint32_t));
  if (!gz_buffer_reserve(scene->context, &live->batch, bytes, 0) || !reserve_indices(scene, (uint32_t)most)) {
    return gz_fail_memory(scene->context, bytes);
  }
  graze_box *boxes = live->batch.data;
  graze_proxy_id *proxies = (graze_proxy_id *)(boxes + 2 * most);
  uint32_t *places = (uint32_t *)(proxies + 2 * most);
  sending moves = {boxes, proxies, places, 0}, adds = {boxes + most, proxies + most, places + most, 0};
  graze_status status = gather_boxes(scene, exactness, &moves, &adds);
  if (status == GRAZE_OK) status = send_boxes(scene, &moves, &adds);
  if (status != GRAZE_OK) return status;
  for (uint32_t i = 0; i < live->touched_count; i++) {
    ((uint8_t *)live->touched.data)[((const uint32_t *)live->touched_list.data)[i]] = 0;
  }
  live->touched_count = 0;
  return GRAZE_OK;
}

/* ---- pairs ---- */

/* Room for `more` pairs, so that taking a number cannot fail. */
static bool reserve_pool(const graze_context *context, live_pool *pool, uint64_t more) {
  size_t n = pool->count + (size_t)more;
  return gz_buffer_reserve(context, &pool->pairs, n * sizeof(live_pair), pool->count * sizeof(live_pair)) &&
         gz_buffer_reserve(context, &pool->free, n * sizeof(uint32_t), pool->free_count * sizeof(uint32_t));
}

static uint32_t take_number(live_pool *pool) {
  return pool->free_count > 0 ? ((uint32_t *)pool->free.data)[--pool->free_count] : pool->count++;
}

void gz_live_give_back(live_scene *live, uint32_t number) {
  ((uint32_t *)live->pool.free.data)[live->pool.free_count++] = number;
}

static bool same_objects(const live_pair *pair, const live_object *x, const live_object *y) {
  return (pair->a.serial == x->serial && pair->b.serial == y->serial) ||
         (pair->a.serial == y->serial && pair->b.serial == x->serial);
}

int gz_numbered_pairs_order(const void *p, const void *q) {
  const numbered_pair *x = p, *y = q;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return (x->b > y->b) - (x->b < y->b);
}

/* A pair of two proxies that did not meet; or did, left and came back before anybody was told: then it is one of the
 * first `carried` that are gone, which are sorted. */
static uint32_t begin_pair(live_scene *live, const live_object *x, const live_object *y, uint32_t carried) {
  bool ordered = x->serial < y->serial;
  const live_object *a = ordered ? x : y, *b = ordered ? y : x;
  numbered_pair key = {a->serial, b->serial, 0};
  numbered_pair *back =
      carried > 0 ? bsearch(&key, live->gone.data, carried, sizeof key, gz_numbered_pairs_order) : NULL;
  if (back != NULL) {
    uint32_t number = back->number;
    back->number = NO_NUMBER;
    live_pair *pair = live_pair_at(live, number);
    pair->a = *a; /* one from a file is believed its serials only */
    pair->b = *b;
    pair->stale = true;
    return number;
  }
  uint32_t number = take_number(&live->pool);
  *live_pair_at(live, number) = (live_pair){.a = *a, .b = *b, .stale = true};
  return number;
}

static void push_gone(live_scene *live, uint32_t number) {
  const live_pair *pair = live_pair_at(live, number);
  ((numbered_pair *)live->gone.data)[live->gone_count++] = (numbered_pair){pair->a.serial, pair->b.serial, number};
}

static void end_pair(live_scene *live, uint32_t number) {
  live_pair *pair = live_pair_at(live, number);
  if (pair->told == GRAZE_SEPARATE) {
    gz_live_give_back(live, number);
    return;
  }
  pair->now = (graze_verdict){.relation = GRAZE_SEPARATE};
  pair->counts = (graze_counts){0};
  pair->gap = (graze_gap){0};
  pair->stale = false;
  push_gone(live, number);
}

/* Drops from the gone ones those that came back. */
static void drop_returned(live_scene *live) {
  numbered_pair *gone = live->gone.data;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < live->gone_count; i++) {
    if (gone[i].number != NO_NUMBER) gone[kept++] = gone[i];
  }
  live->gone_count = kept;
}

bool gz_live_recall(const graze_context *context, live_scene *live, const live_pair *pair) {
  size_t used = live->gone_count * sizeof(numbered_pair);
  if (!reserve_pool(context, &live->pool, 1) ||
      !gz_buffer_reserve(context, &live->gone, used + sizeof(numbered_pair), used)) {
    return false;
  }
  uint32_t number = take_number(&live->pool);
  *live_pair_at(live, number) = *pair;
  push_gone(live, number);
  return true;
}

/* Walks the old pairs beside the new ones. */
static void walk_pairs(live_scene *live, const graze_box_pair *now, uint64_t count) {
  const graze_box_pair *then = live->keys.data;
  const uint32_t *old = live->states.data;
  const live_object *who = live->who.data;
  graze_box_pair *keys = live->next_keys.data;
  uint32_t *states = live->next_states.data;
  uint64_t i = 0;
  uint32_t carried = live->gone_count;
  if (carried > 1) qsort(live->gone.data, carried, sizeof(numbered_pair), gz_numbered_pairs_order);
  for (uint64_t j = 0; j < count; j++) {
    for (; i < live->count && pair_order(then[i]) < pair_order(now[j]); i++) end_pair(live, old[i]);
    const live_object *x = &who[now[j].a], *y = &who[now[j].b];
    bool met = i < live->count && pair_order(then[i]) == pair_order(now[j]);
    if (met && !same_objects(live_pair_at(live, old[i]), x, y)) { /* an index that was given out again */
      end_pair(live, old[i]);
      met = false;
      i++;
    }
    keys[j] = now[j];
    states[j] = met ? old[i++] : begin_pair(live, x, y, carried);
  }
  for (; i < live->count; i++) end_pair(live, old[i]);
  drop_returned(live);
}

/* Which pairs a rule parts, and which have to be decided. */
static void mark_pairs(graze_scene *scene, bool all_stale) {
  live_scene *live = scene->live;
  const graze_box_pair *keys = live->keys.data;
  const uint32_t *states = live->states.data, *rank = scene->rank.data;
  const uint8_t *moved = live->moved.data;
  for (uint64_t i = 0; i < live->count; i++) {
    live_pair *pair = live_pair_at(live, states[i]);
    pair->stale |= all_stale || moved[keys[i].a] != 0 || moved[keys[i].b] != 0;
    if (!pair->stale && !live->rules_changed) continue;
    bool ignored = filter_ignores(&scene->rules, rank[pair->a.id.index], rank[pair->b.id.index]);
    if (pair->ignored && !ignored) pair->stale = true;
    pair->ignored = ignored;
  }
  live->rules_changed = false;
  if (live->indices > 0) memset(live->moved.data, 0, live->indices);
}

/* Brings the pairs to those of the broad phase; can be called again after an error. */
static graze_status pair_up(graze_scene *scene, bool all_stale) {
  live_scene *live = scene->live;
  const graze_context *context = scene->context;
  graze_broad_events events;
  const graze_box_pair *pairs;
  uint64_t count;
  graze_status status = graze_broadphase_update(live->broad, &events);
  if (status == GRAZE_OK) status = graze_broadphase_pairs(live->broad, &pairs, &count);
  if (status != GRAZE_OK) return status;
  if (count > UINT32_MAX / 2) {
    return gz_fail(context, GRAZE_ERROR_LIMIT, "scene: more than 2^31 pairs of objects whose boxes meet");
  }
  if (!gz_buffer_reserve(context, &live->next_keys, count * sizeof(graze_box_pair), 0) ||
      !gz_buffer_reserve(context, &live->next_states, count * sizeof(uint32_t), 0) ||
      !reserve_pool(context, &live->pool, count) ||
      !gz_buffer_reserve(context, &live->gone, (live->gone_count + (size_t)live->count) * sizeof(numbered_pair),
                         live->gone_count * sizeof(numbered_pair))) {
    return gz_fail(context, GRAZE_ERROR_MEMORY, "out of memory: %llu pairs of objects whose boxes meet",
                   (unsigned long long)count);
  }
  walk_pairs(live, pairs, count);
  swap_buffers(&live->keys, &live->next_keys);
  swap_buffers(&live->states, &live->next_states);
  live->count = count;
  mark_pairs(scene, all_stale);
  return GRAZE_OK;
}

/* ---- both ---- */

/* Tier T0 takes identity poses only. */
static graze_status check_poses(const graze_scene *scene, graze_exactness exactness) {
  char label[96];
  if (exactness != GRAZE_T0) return GRAZE_OK;
  for (uint32_t i = 0; i < scene->count; i++) {
    if (graze_pose_is_identity(&scene_ranked(scene, i)->pose)) continue;
    return gz_fail(scene->context, GRAZE_ERROR_POSE, "object %s: tier T0 allows the identity pose only",
                   gz_scene_object_label(scene, i, label));
  }
  return GRAZE_OK;
}

graze_status gz_live_bring_up(graze_scene *scene, graze_exactness exactness, bool all_stale) {
  graze_status status = gz_scene_prepare(scene);
  if (status == GRAZE_OK) status = check_poses(scene, exactness);
  if (status == GRAZE_OK) status = gz_live_start(scene);
  if (status != GRAZE_OK) return status;
  find_refitted(scene);
  status = sync_boxes(scene, exactness);
  return status == GRAZE_OK ? pair_up(scene, all_stale) : status;
}

uint64_t gz_live_list(const graze_scene *scene, bool all, uint64_t *keys, uint32_t *numbers) {
  const live_scene *live = scene->live;
  const uint32_t *states = live->states.data, *rank = scene->rank.data;
  uint64_t n = 0;
  for (uint64_t i = 0; i < live->count; i++) {
    const live_pair *pair = live_pair_at(live, states[i]);
    if (pair->ignored || !(all || pair->stale)) continue;
    if (numbers != NULL) numbers[n] = states[i];
    keys[n++] = pair_key(rank[pair->a.id.index], rank[pair->b.id.index]);
  }
  return n;
}
