/* Scenes: objects with generations, the order of adding, names of layers, and rules about pairs.
 *
 * Objects stand in an array of places; a freed place is used again under a new generation, so that an old id is known
 * to be stale. A list through the places keeps the order of adding. Rules are kept as they were given and turned into
 * sorted sets over ranks when a check finds that something has changed.
 */
#include "scene/scene.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "geometry/pose.h"
#include "narrow/round.h"
#include "scene/decide.h"
#include "scene/record.h"

enum { OBJECT_COOKIE = 0x6772626a };

graze_object_def graze_default_object_def(void) {
  return (graze_object_def){.pose = graze_pose_identity(), .cookie = OBJECT_COOKIE};
}

graze_status graze_scene_create(graze_context *context, graze_scene **scene) {
  if (context == NULL) return GRAZE_ERROR_ARGUMENT;
  if (scene == NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "scene: null pointer");
  graze_scene *made = gz_memory_alloc(context, sizeof *made);
  if (made == NULL) return gz_fail_memory(context, sizeof *made);
  memset(made, 0, sizeof *made);
  made->context = context;
  made->oldest = made->newest = made->free = NO_OBJECT;
  *scene = made;
  return GRAZE_OK;
}

static void release_check(graze_scene *scene) {
  const graze_context *context = scene->context;
  buffer *buffers[] = {&scene->order,      &scene->rank,   &scene->layer,    &scene->census,    &scene->outcomes,
                       &scene->clearances, &scene->asked,  &scene->schedule, &scene->all.pairs, &scene->all.points,
                       &scene->all.starts, &scene->wanted, &scene->unwanted, &scene->results,   &scene->listed};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) gz_buffer_release(context, buffers[i]);
  gz_pair_set_release(context, &scene->rules.objects);
  gz_pair_set_release(context, &scene->rules.layers);
  gz_live_release(context, scene->live);
  gz_shapes_release(context, &scene->shapes);
  graze_query_destroy(scene->query);
  gz_decide_release(scene);
}

void graze_scene_destroy(graze_scene *scene) {
  if (scene == NULL) return;
  const graze_context *context = scene->context;
  gz_record_end(context, scene->recorder);
  release_check(scene);
  for (uint32_t i = 0; i < scene->places; i++) {
    object *o = scene_object(scene, i);
    if (o->name != NULL) gz_memory_release(context, o->name, o->name_bytes);
  }
  layer_name *layers = scene->layers.data;
  for (uint32_t i = 0; i < scene->layer_count; i++) gz_memory_release(context, layers[i].name, layers[i].bytes);
  for (uint32_t i = 0; i < scene->owned_count; i++) graze_mesh_destroy(((graze_mesh **)scene->owned.data)[i]);
  gz_buffer_release(context, &scene->owned);
  gz_buffer_release(context, &scene->objects);
  gz_buffer_release(context, &scene->layers);
  gz_buffer_release(context, &scene->layer_table);
  gz_buffer_release(context, &scene->ignored);
  gz_buffer_release(context, &scene->ignored_layers);
  gz_memory_release(context, scene, sizeof *scene);
}

/* ---- layers ---- */

static bool grow_layer_table(graze_scene *scene) {
  uint32_t slots = scene->layer_slots == 0 ? 64 : scene->layer_slots * 2;
  if (!gz_buffer_reserve(scene->context, &scene->layer_table, slots * sizeof(uint32_t), 0)) return false;
  uint32_t *table = scene->layer_table.data;
  const layer_name *layers = scene->layers.data;
  memset(table, 0, slots * sizeof *table);
  for (uint32_t i = 0; i < scene->layer_count; i++) {
    uint32_t slot = (uint32_t)gz_hash_bytes(layers[i].name, layers[i].bytes, 0) & (slots - 1);
    while (table[slot] != 0) slot = (slot + 1) & (slots - 1);
    table[slot] = i + 1;
  }
  scene->layer_slots = slots;
  return true;
}

uint32_t gz_scene_layer_number(graze_scene *scene, const char *name) {
  if (name == NULL || name[0] == '\0') return 0;
  if (2 * (uint64_t)scene->layer_count >= scene->layer_slots && !grow_layer_table(scene)) return UINT32_MAX;
  size_t bytes = strlen(name) + 1;
  uint32_t *table = scene->layer_table.data, slot = (uint32_t)gz_hash_bytes(name, bytes, 0) & (scene->layer_slots - 1);
  layer_name *layers = scene->layers.data;
  for (; table[slot] != 0; slot = (slot + 1) & (scene->layer_slots - 1)) {
    const layer_name *l = layers + table[slot] - 1;
    if (l->bytes == bytes && memcmp(l->name, name, bytes) == 0) return table[slot];
  }
  size_t used = scene->layer_count * sizeof *layers;
  if (!gz_buffer_reserve(scene->context, &scene->layers, used + sizeof *layers, used)) return UINT32_MAX;
  char *copy = gz_memory_alloc(scene->context, bytes);
  if (copy == NULL) return UINT32_MAX;
  memcpy(copy, name, bytes);
  ((layer_name *)scene->layers.data)[scene->layer_count++] = (layer_name){copy, bytes};
  table[slot] = scene->layer_count;
  return scene->layer_count;
}

/* ---- objects ---- */

static graze_status check_pose(const graze_scene *scene, const graze_pose *pose) {
  int entry = gz_pose_first_not_finite(pose);
  if (entry == 12) return GRAZE_OK;
  return gz_fail(scene->context, GRAZE_ERROR_NOT_FINITE, "object: pose entry m%d%d is not finite", entry / 4,
                 entry % 4);
}

static graze_status check_center(const graze_scene *scene, const double center[3]) {
  for (int k = 0; k < 3; k++) {
    if (!isfinite(center[k]))
      return gz_fail(scene->context, GRAZE_ERROR_NOT_FINITE, "object: %c of the center is not finite", "xyz"[k]);
  }
  return GRAZE_OK;
}

static bool reserve_place(graze_scene *scene) {
  if (scene->free != NO_OBJECT) return true;
  size_t used = scene->places * sizeof(object);
  return gz_buffer_reserve(scene->context, &scene->objects, used + sizeof(object), used) &&
         gz_live_reserve(scene->context, scene->live, scene->places + 1);
}

/* Takes a free place, or a new one; reserve_place has made room. */
static uint32_t take_place(graze_scene *scene) {
  uint32_t place = scene->free;
  if (place != NO_OBJECT) {
    scene->free = scene_object(scene, place)->next;
  } else {
    place = scene->places++;
    scene_object(scene, place)->generation = 0;
  }
  return place;
}

static uint32_t link_newest(graze_scene *scene, object filled) {
  uint32_t place = take_place(scene);
  object *o = scene_object(scene, place);
  filled.generation = o->generation + 1;
  filled.serial = scene->serials++;
  filled.previous = scene->newest;
  filled.next = NO_OBJECT;
  *o = filled;
  if (scene->newest != NO_OBJECT) {
    scene_object(scene, scene->newest)->next = place;
  } else {
    scene->oldest = place;
  }
  scene->newest = place;
  scene->count++;
  scene->prepared = false;
  gz_live_touch(scene->live, place);
  return place;
}

static graze_status check_mesh(const graze_context *context, const graze_object_def *def) {
  const graze_mesh_source *source = def->source;
  if (source != NULL && (def->radius != 0 || def->flat))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "object: a source and a radius");
  if (source == NULL && def->mesh == NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "object: the mesh is NULL");
  if (source == NULL) return gz_round_check(context, def->mesh, def->radius, def->flat, "object");
  if (def->mesh != NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "object: both a mesh and a source");
  if (source->load == NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "object: the source cannot load");
  if (source->facts.triangles > UINT32_MAX)
    return gz_fail(context, GRAZE_ERROR_LIMIT, "object: a source of more than 2^32 - 1 triangles");
  for (int k = 0; k < 3 && source->facts.triangles > 0; k++) {
    double low = source->facts.box.min[k], high = source->facts.box.max[k];
    if (!isfinite(low) || !isfinite(high) || low > high)
      return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "object: the box of the source is none");
  }
  return GRAZE_OK;
}

graze_status graze_scene_add(graze_scene *scene, const graze_object_def *def, graze_object_id *object_id) {
  if (scene == NULL) return GRAZE_ERROR_ARGUMENT;
  const graze_context *context = scene->context;
  if (def == NULL || def->cookie != OBJECT_COOKIE) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "object: the definition was not initialised");
  }
  graze_status status = check_mesh(context, def);
  if (status == GRAZE_OK) status = check_pose(scene, &def->pose);
  if (status == GRAZE_OK) status = check_center(scene, def->center);
  if (status != GRAZE_OK) return status;
  if (scene->free == NO_OBJECT && scene->places >= NO_OBJECT - 1) {
    return gz_fail(context, GRAZE_ERROR_LIMIT, "scene: more than 2^32 - 2 objects");
  }
  const char *name = def->name != NULL ? def->name : "";
  object o = {.mesh = def->mesh,
              .source = def->source,
              .radius = def->radius,
              .flat = def->flat,
              .pose = def->pose,
              .center = {def->center[0], def->center[1], def->center[2]},
              .user_id = def->user_id,
              .name_bytes = strlen(name) + 1};
  o.layer = gz_scene_layer_number(scene, def->layer);
  if (o.layer == UINT32_MAX || !reserve_place(scene)) return gz_fail_memory(context, sizeof o);
  o.name = gz_memory_alloc(context, o.name_bytes);
  if (o.name == NULL) return gz_fail_memory(context, o.name_bytes);
  memcpy(o.name, name, o.name_bytes);
  uint32_t place = link_newest(scene, o);
  gz_record_add(scene->recorder, scene, place);
  if (object_id != NULL) *object_id = (graze_object_id){place, scene_object(scene, place)->generation};
  return GRAZE_OK;
}

static bool is_live(const graze_scene *scene, graze_object_id id) {
  return id.index < scene->places && scene_object(scene, id.index)->name != NULL &&
         scene_object(scene, id.index)->generation == id.generation;
}

static graze_status check_id(const graze_scene *scene, graze_object_id id) {
  if (is_live(scene, id)) return GRAZE_OK;
  return gz_fail(scene->context, GRAZE_ERROR_HANDLE, "object id %" PRIu32 " of generation %" PRIu32 " names no object",
                 id.index, id.generation);
}

graze_status graze_scene_remove(graze_scene *scene, graze_object_id object_id) {
  if (scene == NULL) return GRAZE_ERROR_ARGUMENT;
  graze_status status = check_id(scene, object_id);
  if (status != GRAZE_OK) return status;
  object *o = scene_object(scene, object_id.index);
  gz_record_remove(scene->recorder, object_id);
  gz_live_forget(scene->live, object_id.index);
  gz_memory_release(scene->context, o->name, o->name_bytes);
  *(o->previous != NO_OBJECT ? &scene_object(scene, o->previous)->next : &scene->oldest) = o->next;
  *(o->next != NO_OBJECT ? &scene_object(scene, o->next)->previous : &scene->newest) = o->previous;
  o->mesh = NULL;
  o->source = NULL;
  o->name = NULL;
  o->travels = false;
  /* A place whose generations have run out is given up. */
  if (o->generation != UINT32_MAX) {
    o->next = scene->free;
    scene->free = object_id.index;
  }
  scene->count--;
  scene->prepared = false;
  return GRAZE_OK;
}

graze_status graze_scene_set_pose(graze_scene *scene, graze_object_id object_id, const graze_pose *pose) {
  if (scene == NULL) return GRAZE_ERROR_ARGUMENT;
  if (pose == NULL) return gz_fail(scene->context, GRAZE_ERROR_ARGUMENT, "object: the pose is NULL");
  return graze_scene_set_poses(scene, &object_id, pose, 1);
}

static graze_status check_poses(const graze_scene *scene, const graze_object_id *objects, const graze_pose *poses,
                                uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    int entry = gz_pose_first_not_finite(&poses[i]);
    if (!is_live(scene, objects[i])) {
      return gz_fail(scene->context, GRAZE_ERROR_HANDLE,
                     "place %" PRIu32 ": object id %" PRIu32 " of generation %" PRIu32 " names no object", i,
                     objects[i].index, objects[i].generation);
    }
    if (entry != 12) {
      return gz_fail(scene->context, GRAZE_ERROR_NOT_FINITE, "place %" PRIu32 ": pose entry m%d%d is not finite", i,
                     entry / 4, entry % 4);
    }
  }
  return GRAZE_OK;
}

graze_status graze_scene_set_poses(graze_scene *scene, const graze_object_id *objects, const graze_pose *poses,
                                   uint32_t count) {
  if (scene == NULL) return GRAZE_ERROR_ARGUMENT;
  if (count > 0 && (objects == NULL || poses == NULL)) {
    return gz_fail(scene->context, GRAZE_ERROR_ARGUMENT, "poses: null pointer");
  }
  graze_status status = check_poses(scene, objects, poses, count);
  for (uint32_t i = 0; i < count && status == GRAZE_OK; i++) {
    object *o = scene_object(scene, objects[i].index);
    if (memcmp(&o->pose, &poses[i], sizeof poses[i]) == 0) continue;
    gz_live_depart(scene, objects[i].index);
    o->pose = poses[i];
    gz_record_pose(scene->recorder, objects[i], &poses[i]);
    gz_live_touch(scene->live, objects[i].index);
  }
  return status;
}

graze_status graze_scene_set_center(graze_scene *scene, graze_object_id object_id, const double center[3]) {
  if (scene == NULL) return GRAZE_ERROR_ARGUMENT;
  if (center == NULL) return gz_fail(scene->context, GRAZE_ERROR_ARGUMENT, "object: the center is NULL");
  graze_status status = check_id(scene, object_id);
  if (status == GRAZE_OK) status = check_center(scene, center);
  if (status != GRAZE_OK) return status;
  object *o = scene_object(scene, object_id.index);
  if (memcmp(o->center, center, sizeof o->center) == 0) return GRAZE_OK;
  memcpy(o->center, center, sizeof o->center);
  gz_record_center(scene->recorder, object_id, center);
  return GRAZE_OK;
}

graze_status graze_scene_get_object(const graze_scene *scene, graze_object_id object_id, graze_object_def *def) {
  if (scene == NULL) return GRAZE_ERROR_ARGUMENT;
  if (def == NULL) return gz_fail(scene->context, GRAZE_ERROR_ARGUMENT, "object: null pointer");
  graze_status status = check_id(scene, object_id);
  if (status != GRAZE_OK) return status;
  const object *o = scene_object(scene, object_id.index);
  const layer_name *layers = scene->layers.data;
  *def = graze_default_object_def();
  def->mesh = o->mesh;
  def->source = o->source;
  def->radius = o->radius;
  def->flat = o->flat;
  def->pose = o->pose;
  memcpy(def->center, o->center, sizeof def->center);
  def->user_id = o->user_id;
  def->name = o->name;
  def->layer = o->layer != 0 ? layers[o->layer - 1].name : "";
  return GRAZE_OK;
}

graze_status graze_scene_list_objects(graze_scene *scene, const graze_object_id **objects, uint32_t *count) {
  if (scene == NULL) return GRAZE_ERROR_ARGUMENT;
  if (objects == NULL || count == NULL) return gz_fail(scene->context, GRAZE_ERROR_ARGUMENT, "objects: null pointer");
  size_t bytes = scene->count * sizeof(graze_object_id);
  if (!gz_buffer_reserve(scene->context, &scene->listed, bytes, 0)) return gz_fail_memory(scene->context, bytes);
  graze_object_id *ids = scene->listed.data;
  uint32_t n = 0;
  for (uint32_t place = scene->oldest; place != NO_OBJECT; place = scene_object(scene, place)->next) {
    ids[n++] = (graze_object_id){place, scene_object(scene, place)->generation};
  }
  *objects = ids;
  *count = n;
  return GRAZE_OK;
}

uint32_t graze_scene_object_count(const graze_scene *scene) {
  return scene->count;
}

const char *gz_scene_object_label(const graze_scene *scene, uint32_t rank, char text[96]) {
  const object *o = scene_ranked(scene, rank);
  if (o->name[0] != '\0') {
    snprintf(text, 96, "\"%.80s\"", o->name);
  } else {
    snprintf(text, 96, "number %" PRIu32, rank);
  }
  return text;
}

/* ---- rules ---- */

static void note_rules(graze_scene *scene) {
  scene->prepared = false;
  if (scene->live != NULL) scene->live->rules_changed = true;
}

graze_status graze_scene_ignore(graze_scene *scene, graze_object_id first, graze_object_id second) {
  if (scene == NULL) return GRAZE_ERROR_ARGUMENT;
  graze_status status = check_id(scene, first);
  if (status == GRAZE_OK) status = check_id(scene, second);
  if (status != GRAZE_OK || first.index == second.index) return status;
  size_t used = scene->ignored_count * sizeof(ignored_pair);
  if (!gz_buffer_reserve(scene->context, &scene->ignored, used + sizeof(ignored_pair), used)) {
    return gz_fail_memory(scene->context, used + sizeof(ignored_pair));
  }
  ((ignored_pair *)scene->ignored.data)[scene->ignored_count++] = (ignored_pair){first, second};
  gz_record_ignore(scene->recorder, first, second);
  note_rules(scene);
  return GRAZE_OK;
}

graze_status graze_scene_ignore_layers(graze_scene *scene, const char *first, const char *second) {
  if (scene == NULL) return GRAZE_ERROR_ARGUMENT;
  if (first == NULL || second == NULL || first[0] == '\0' || second[0] == '\0') {
    return gz_fail(scene->context, GRAZE_ERROR_ARGUMENT, "ignore layers: a layer has no name");
  }
  uint32_t a = gz_scene_layer_number(scene, first), b = a == UINT32_MAX ? a : gz_scene_layer_number(scene, second);
  size_t used = scene->ignored_layer_count * sizeof(uint64_t);
  if (b == UINT32_MAX || !gz_buffer_reserve(scene->context, &scene->ignored_layers, used + sizeof(uint64_t), used)) {
    return gz_fail_memory(scene->context, used + sizeof(uint64_t));
  }
  ((uint64_t *)scene->ignored_layers.data)[scene->ignored_layer_count++] = pair_key(a, b);
  gz_record_ignore_layers(scene->recorder, first, second);
  note_rules(scene);
  return GRAZE_OK;
}

/* ---- ranks and sets ---- */

static bool rank_objects(graze_scene *scene) {
  const graze_context *context = scene->context;
  size_t layers = scene->layer_count + (size_t)1;
  if (!gz_buffer_reserve(context, &scene->order, (scene->count + (size_t)1) * sizeof(uint32_t), 0) ||
      !gz_buffer_reserve(context, &scene->layer, (scene->count + (size_t)1) * sizeof(uint32_t), 0) ||
      !gz_buffer_reserve(context, &scene->rank, (scene->places + (size_t)1) * sizeof(uint32_t), 0) ||
      !gz_buffer_reserve(context, &scene->census, layers * sizeof(uint64_t), 0)) {
    return false;
  }
  uint32_t *order = scene->order.data, *layer = scene->layer.data, *rank = scene->rank.data, n = 0;
  uint64_t *census = scene->census.data;
  memset(census, 0, layers * sizeof *census);
  for (uint32_t place = scene->oldest; place != NO_OBJECT; place = scene_object(scene, place)->next) {
    order[n] = place;
    rank[place] = n;
    layer[n] = scene_object(scene, place)->layer;
    census[layer[n++]]++;
  }
  scene->rules.layer = layer;
  return true;
}

/* Rules of objects that have gone are dropped on the way. */
static bool collect_rules(graze_scene *scene) {
  const graze_context *context = scene->context;
  filter *rules = &scene->rules;
  const uint32_t *rank = scene->rank.data;
  ignored_pair *ignored = scene->ignored.data;
  uint64_t kept = 0;
  rules->objects.count = rules->layers.count = 0;
  for (uint64_t i = 0; i < scene->ignored_count; i++) {
    if (!is_live(scene, ignored[i].first) || !is_live(scene, ignored[i].second)) continue;
    ignored[kept++] = ignored[i];
    uint64_t key = pair_key(rank[ignored[i].first.index], rank[ignored[i].second.index]);
    if (!gz_pair_set_add(context, &rules->objects, key)) return false;
  }
  scene->ignored_count = kept;
  const uint64_t *layers = scene->ignored_layers.data;
  for (uint64_t i = 0; i < scene->ignored_layer_count; i++) {
    if (!gz_pair_set_add(context, &rules->layers, layers[i])) return false;
  }
  return gz_pair_set_finish(context, &rules->objects, scene->count) &&
         gz_pair_set_finish(context, &rules->layers, scene->layer_count + 1);
}

/* Pairs ruled out by layers, by the number of objects in each, and the others that are ruled out one by one. */
static void count_pairs(graze_scene *scene) {
  const filter *rules = &scene->rules;
  const uint64_t *keys = rules->layers.keys.data, *census = scene->census.data, n = scene->count;
  uint64_t ignored = 0;
  for (uint64_t i = 0; i < rules->layers.count; i++) {
    uint64_t a = keys[i] >> 32, b = (uint32_t)keys[i];
    ignored += a != b ? census[a] * census[b] : census[a] == 0 ? 0 : census[a] * (census[a] - 1) / 2;
  }
  keys = rules->objects.keys.data;
  for (uint64_t i = 0; i < rules->objects.count; i++) {
    uint32_t a = rules->layer[keys[i] >> 32], b = rules->layer[(uint32_t)keys[i]];
    if (rules->layers.count == 0 || !gz_pair_set_has(&rules->layers, a, b)) ignored++;
  }
  scene->ignored_pairs = ignored;
  scene->object_pairs = (n == 0 ? 0 : n * (n - 1) / 2) - ignored;
}

graze_status gz_scene_prepare(graze_scene *scene) {
  if (scene->prepared) return GRAZE_OK;
  if (!rank_objects(scene) || !collect_rules(scene)) {
    return gz_fail(scene->context, GRAZE_ERROR_MEMORY, "out of memory: the scene's lists of objects and rules");
  }
  count_pairs(scene);
  scene->shapes_listed = false;
  scene->prepared = true;
  return GRAZE_OK;
}
