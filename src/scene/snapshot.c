/* A scene in a file and back.
 *
 * What a scene says next depends on the meshes, on objects with their ids and the order in which they came, on the
 * chain of free places (which decides the ids to come), on rules, and on what was told last; all of it is written.
 * Boxes, solids and relations are found again. Nothing in a file is believed: every number is checked against what it
 * counts.
 */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "geometry/pose.h"
#include "narrow/round.h"
#include "scene/record.h"

/* ---- numbers of meshes ---- */

typedef struct mesh_number {
  const graze_mesh *mesh; /* NULL: empty */
  uint64_t geometry_hash;
  uint32_t number;
} mesh_number;

static mesh_number *slot_of(const mesh_numbers *n, const graze_mesh *mesh) {
  mesh_number *slots = n->slots.data;
  uint32_t i = (uint32_t)splitmix64((uint64_t)(uintptr_t)mesh) & (n->capacity - 1);
  while (slots[i].mesh != NULL && slots[i].mesh != mesh) i = (i + 1) & (n->capacity - 1);
  return &slots[i];
}

static bool grow(const graze_context *context, mesh_numbers *n) {
  mesh_numbers old = *n;
  n->capacity = old.capacity > 0 ? 2 * old.capacity : 64;
  n->slots = (buffer){0};
  if (!gz_buffer_reserve(context, &n->slots, n->capacity * sizeof(mesh_number), 0)) {
    *n = old;
    return false;
  }
  memset(n->slots.data, 0, n->capacity * sizeof(mesh_number));
  const mesh_number *from = old.slots.data;
  for (uint32_t i = 0; i < old.capacity; i++) {
    if (from[i].mesh != NULL) *slot_of(n, from[i].mesh) = from[i];
  }
  gz_buffer_release(context, &old.slots);
  return true;
}

bool gz_mesh_numbers_get(const graze_context *context, mesh_numbers *n, const graze_mesh *mesh, uint32_t *number,
                         bool *fresh) {
  if (2 * n->count >= n->capacity && !grow(context, n)) return false;
  mesh_number *slot = slot_of(n, mesh);
  *fresh = slot->mesh == NULL || slot->geometry_hash != mesh->header->geometry_hash;
  n->count += slot->mesh == NULL;
  if (*fresh) *slot = (mesh_number){mesh, mesh->header->geometry_hash, n->next++};
  *number = slot->number;
  return true;
}

bool gz_mesh_numbers_is_old(const mesh_numbers *n, const graze_mesh *mesh, uint32_t number) {
  const mesh_number *slot = slot_of(n, mesh);
  return slot->number != number || slot->geometry_hash != mesh->header->geometry_hash;
}

void gz_mesh_numbers_keep(mesh_numbers *n, const graze_mesh *mesh, uint32_t number) {
  *slot_of(n, mesh) = (mesh_number){mesh, mesh->header->geometry_hash, number};
}

void gz_mesh_numbers_release(const graze_context *context, mesh_numbers *n) {
  gz_buffer_release(context, &n->slots);
}

/* ---- writing ---- */

static uint32_t count_free(const graze_scene *scene) {
  uint32_t n = 0;
  for (uint32_t place = scene->free; place != NO_OBJECT; place = scene_object(scene, place)->next) n++;
  return n;
}

void gz_record_put_id(archive_writer *w, graze_object_id id) {
  gz_archive_put_u32(w, id.index);
  gz_archive_put_u32(w, id.generation);
}

static void put_objects(const graze_scene *scene, archive_writer *w, mesh_numbers *meshes) {
  for (uint32_t place = scene->oldest; place != NO_OBJECT; place = scene_object(scene, place)->next) {
    object *o = scene_object(scene, place);
    bool fresh;
    if (!gz_mesh_numbers_get(w->context, meshes, o->mesh, &o->recorded, &fresh)) {
      w->status = gz_fail(w->context, GRAZE_ERROR_MEMORY, "out of memory: numbers of meshes");
      return;
    }
    if (fresh) gz_archive_whole_section(w, ARCHIVE_MESH, o->mesh->header, o->mesh->header->block_bytes);
    gz_record_put_id(w, (graze_object_id){place, o->generation});
    gz_archive_put_u64(w, o->serial);
    gz_archive_put_u32(w, o->recorded);
    gz_archive_put_u32(w, o->layer);
    gz_archive_put_u64(w, o->user_id);
    gz_archive_put(w, o->pose.m, sizeof o->pose.m);
    gz_archive_put_text(w, o->name);
  }
}

/* Of the objects that have something rare, in a section of its own, so that versions that do not know of that refuse
 * the file. `take` writes an entry of `size` bytes; false: the object has none. */
static void put_entries(const graze_scene *scene, archive_writer *w, archive_type section, size_t size,
                        bool (*take)(const object *o, uint32_t place, void *entry)) {
  const size_t bytes = scene->count * size;
  unsigned char *list = gz_memory_alloc(w->context, bytes);
  size_t used = 0;
  if (list == NULL && bytes > 0) {
    w->status = gz_fail_memory(w->context, bytes);
    return;
  }
  for (uint32_t place = scene->oldest; place != NO_OBJECT; place = scene_object(scene, place)->next) {
    if (take(scene_object(scene, place), place, list + used)) used += size;
  }
  if (used > 0 && w->status == GRAZE_OK) gz_archive_whole_section(w, section, list, used);
  gz_memory_release(w->context, list, bytes);
}

/* A place and the radius of the object there. */
typedef struct round_place {
  uint32_t place, flat;
  double radius;
} round_place;

static bool take_round(const object *o, uint32_t place, void *entry) {
  if (o->radius > 0) *(round_place *)entry = (round_place){place, o->flat, o->radius};
  return o->radius > 0;
}

typedef struct center_place {
  uint32_t place, zero;
  double center[3];
} center_place;

static bool take_center(const object *o, uint32_t place, void *entry) {
  if (has_center(o)) *(center_place *)entry = (center_place){place, 0, {o->center[0], o->center[1], o->center[2]}};
  return has_center(o);
}

static void put_rules(const graze_scene *scene, archive_writer *w) {
  const ignored_pair *ignored = scene->ignored.data;
  for (uint64_t i = 0; i < scene->ignored_count; i++) {
    gz_record_put_id(w, ignored[i].first);
    gz_record_put_id(w, ignored[i].second);
  }
  gz_archive_put(w, scene->ignored_layers.data, scene->ignored_layer_count * sizeof(uint64_t));
}

static void put_live_object(archive_writer *w, const live_object *o) {
  gz_record_put_id(w, o->id);
  gz_archive_put_u64(w, o->user_id);
  gz_archive_put_u64(w, o->serial);
}

static uint64_t put_told(archive_writer *w, const live_scene *live, bool count_only) {
  const uint32_t *states = live->states.data;
  const numbered_pair *gone = live->gone.data;
  uint64_t n = 0;
  for (uint64_t i = 0; i < live->count + live->gone_count; i++) {
    const live_pair *pair = live_pair_at(live, i < live->count ? states[i] : gone[i - live->count].number);
    if (pair->told == GRAZE_SEPARATE) continue;
    n++;
    if (count_only) continue;
    put_live_object(w, &pair->a);
    put_live_object(w, &pair->b);
    gz_archive_put_u32(w, pair->told);
  }
  return n;
}

/* Where objects were at the last update that have been moved since, and which came later. Nothing where nothing has
 * happened since, as in files of versions that did not know of it. */
static void put_travels(archive_writer *w, const graze_scene *scene) {
  const live_scene *live = scene->live;
  const uint32_t *places = live->travels.data;
  uint32_t count = 0;
  for (uint32_t i = 0; i < live->travel_count; i++) count += scene_object(scene, places[i])->travels;
  if (count == 0 && live->met == scene->serials) return;
  gz_archive_put_u64(w, live->met);
  gz_archive_put_u32(w, count);
  for (uint32_t i = 0; i < live->travel_count; i++) {
    const object *o = scene_object(scene, places[i]);
    if (!o->travels) continue;
    gz_archive_put_u32(w, places[i]);
    gz_archive_put(w, o->then.m, sizeof o->then.m);
  }
}

void gz_snapshot_write(graze_scene *scene, archive_writer *w, mesh_numbers *meshes) {
  const live_scene *live = scene->live;
  bool begun = live != NULL && live->begun;
  const layer_name *layers = scene->layers.data;
  if (w->status == GRAZE_OK) w->status = gz_sources_load_all(scene);
  if (w->status != GRAZE_OK) return;
  gz_archive_put_u32(w, scene->places);
  gz_archive_put_u32(w, scene->count);
  gz_archive_put_u32(w, count_free(scene));
  gz_archive_put_u32(w, scene->layer_count);
  gz_archive_put_u64(w, scene->serials);
  gz_archive_put_u64(w, scene->ignored_count);
  gz_archive_put_u64(w, scene->ignored_layer_count);
  gz_archive_put_u64(w, begun ? put_told(w, live, true) : 0);
  gz_archive_put_u32(w, begun);
  gz_archive_put_u32(w, begun ? live->options.find : 0);
  gz_archive_put_exactness(w, begun ? live->options.exactness : GRAZE_T1);
  gz_archive_put_u32(w, begun ? live->options.open : 0);
  for (uint32_t i = 0; i < scene->layer_count; i++) gz_archive_put_text(w, layers[i].name);
  put_objects(scene, w, meshes);
  put_entries(scene, w, ARCHIVE_ROUND, sizeof(round_place), take_round);
  put_entries(scene, w, ARCHIVE_CENTER, sizeof(center_place), take_center);
  for (uint32_t place = scene->free; place != NO_OBJECT; place = scene_object(scene, place)->next) {
    gz_record_put_id(w, (graze_object_id){place, scene_object(scene, place)->generation});
  }
  put_rules(scene, w);
  if (begun) put_told(w, live, false);
  if (begun) put_travels(w, scene);
  gz_archive_end_section(w, ARCHIVE_SCENE);
}

graze_status graze_scene_save(graze_scene *scene, const char *path) {
  if (scene == NULL) return GRAZE_ERROR_ARGUMENT;
  if (path == NULL) return gz_fail(scene->context, GRAZE_ERROR_ARGUMENT, "scene save: no path");
  new_file out;
  graze_status status = gz_save_begin(scene->context, path, &out);
  if (status != GRAZE_OK) return status;
  archive_writer w;
  mesh_numbers meshes = {0};
  gz_archive_begin(&w, scene->context, out.descriptor, path);
  gz_snapshot_write(scene, &w, &meshes);
  gz_mesh_numbers_release(scene->context, &meshes);
  gz_archive_writer_release(&w);
  return gz_save_end(scene->context, path, &out, w.status);
}

/* ---- reading ---- */

/* What the section of the scene says that it has. */
typedef struct numbers {
  uint32_t places, count, free_count, layer_count;
  uint64_t serials, ignored_count, ignored_layer_count, told_count;
  uint32_t begun, find, open;
  graze_exactness exactness;
} numbers;

static numbers take_numbers(archive_reader *r) {
  numbers n;
  n.places = gz_archive_take_u32(r);
  n.count = gz_archive_take_u32(r);
  n.free_count = gz_archive_take_u32(r);
  n.layer_count = gz_archive_take_u32(r);
  n.serials = gz_archive_take_u64(r);
  n.ignored_count = gz_archive_take_u64(r);
  n.ignored_layer_count = gz_archive_take_u64(r);
  n.told_count = gz_archive_take_u64(r);
  n.begun = gz_archive_take_u32(r);
  n.find = gz_archive_take_u32(r);
  n.exactness = gz_archive_take_exactness(r);
  n.open = gz_archive_take_u32(r);
  return n;
}

enum { GIVEN_UP_MOST = 4096 };

/* Before anything is reserved: each of the things takes some bytes of the section, but for places that were given up
 * after 2^32 uses, of which nobody has many. */
static bool numbers_are_possible(const numbers *n, const archive_reader *r) {
  uint64_t left = r->length - r->at;
  return !r->overrun && n->places < NO_OBJECT && n->count <= n->places && n->free_count <= n->places - n->count &&
         n->places - n->count - n->free_count <= GIVEN_UP_MOST && n->layer_count <= left && n->count <= left / 128 &&
         n->free_count <= left / 8 && n->ignored_count <= left / 16 && n->ignored_layer_count <= left / 8 &&
         n->told_count <= left / 52 && n->begun <= 1 && n->find <= GRAZE_FIND_ANY &&
         (unsigned)n->exactness <= GRAZE_T2 && n->open <= GRAZE_OPEN_SURFACE;
}

graze_object_id gz_record_take_id(archive_reader *r) {
  uint32_t index = gz_archive_take_u32(r);
  return (graze_object_id){index, gz_archive_take_u32(r)};
}

graze_status gz_snapshot_read_mesh(graze_context *context, archive_reader *r, graze_scene *scene) {
  size_t used = scene->owned_count * sizeof(graze_mesh *);
  graze_mesh *mesh;
  if (!gz_buffer_reserve(context, &scene->owned, used + sizeof mesh, used)) return gz_fail_memory(context, used);
  graze_status status = graze_mesh_from_block(context, r->section.data, r->length, &mesh);
  if (status == GRAZE_ERROR_FORMAT) return gz_archive_error(r, "the mesh is not one");
  if (status == GRAZE_OK) ((graze_mesh **)scene->owned.data)[scene->owned_count++] = mesh;
  return status;
}

static graze_status take_layers(archive_reader *r, graze_scene *scene, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const char *name = gz_archive_take_text(r);
    if (name == NULL || name[0] == '\0') return gz_archive_error(r, "no name of a layer");
    uint32_t number = gz_scene_layer_number(scene, name);
    if (number == UINT32_MAX) return gz_fail(r->context, GRAZE_ERROR_MEMORY, "out of memory: names of layers");
    if (number != i + 1) return gz_archive_error(r, "the name of a layer comes twice");
  }
  return GRAZE_OK;
}

/* Places that are not in the file keep this: they were given up. */
static graze_status make_places(const archive_reader *r, graze_scene *scene, uint32_t places) {
  size_t bytes = places * sizeof(object);
  /* Every place is named, or was used 2^32 times. */
  if (!gz_buffer_reserve(r->context, &scene->objects, bytes, 0)) return gz_fail_memory(r->context, bytes);
  for (uint32_t i = 0; i < places; i++) *scene_object(scene, i) = (object){.generation = UINT32_MAX, .next = NO_OBJECT};
  scene->places = places;
  return GRAZE_OK;
}

static graze_status take_object(archive_reader *r, graze_scene *scene, const numbers *n) {
  graze_object_id id = gz_record_take_id(r);
  object o = {.generation = id.generation, .previous = scene->newest, .next = NO_OBJECT};
  o.serial = gz_archive_take_u64(r);
  uint32_t mesh = gz_archive_take_u32(r);
  o.layer = gz_archive_take_u32(r);
  o.user_id = gz_archive_take_u64(r);
  memcpy(o.pose.m, gz_archive_take(r, sizeof o.pose.m), sizeof o.pose.m);
  const char *name = gz_archive_take_text(r);
  if (name == NULL || id.index >= n->places || id.generation == 0) return gz_archive_error(r, "no object");
  const object *before = scene_object(scene, id.index);
  if (before->mesh != NULL || mesh >= scene->owned_count || o.layer > scene->layer_count ||
      gz_pose_first_not_finite(&o.pose) != 12 || o.serial >= n->serials ||
      (scene->newest != NO_OBJECT && scene_object(scene, scene->newest)->serial >= o.serial)) {
    return gz_archive_error(r, "the object before this byte cannot be");
  }
  o.mesh = ((graze_mesh *const *)scene->owned.data)[mesh];
  o.name_bytes = strlen(name) + 1;
  o.name = gz_memory_alloc(r->context, o.name_bytes);
  if (o.name == NULL) return gz_fail_memory(r->context, o.name_bytes);
  memcpy(o.name, name, o.name_bytes);
  *scene_object(scene, id.index) = o;
  *(scene->newest != NO_OBJECT ? &scene_object(scene, scene->newest)->next : &scene->oldest) = id.index;
  scene->newest = id.index;
  scene->count++;
  return GRAZE_OK;
}

static graze_status take_free(archive_reader *r, graze_scene *scene, const numbers *n) {
  uint32_t *link = &scene->free;
  for (uint32_t i = 0; i < n->free_count; i++) {
    graze_object_id id = gz_record_take_id(r);
    if (id.index >= n->places || scene_object(scene, id.index)->mesh != NULL || id.generation == UINT32_MAX ||
        scene_object(scene, id.index)->generation != UINT32_MAX) {
      return gz_archive_error(r, "the free place before this byte cannot be");
    }
    scene_object(scene, id.index)->generation = id.generation;
    *link = id.index;
    link = &scene_object(scene, id.index)->next;
  }
  return GRAZE_OK;
}

static graze_status take_rules(archive_reader *r, graze_scene *scene, const numbers *n) {
  size_t pairs = n->ignored_count * sizeof(ignored_pair), layers = n->ignored_layer_count * sizeof(uint64_t);
  if (!gz_buffer_reserve(r->context, &scene->ignored, pairs, 0) ||
      !gz_buffer_reserve(r->context, &scene->ignored_layers, layers, 0)) {
    return gz_fail_memory(r->context, pairs + layers);
  }
  for (uint64_t i = 0; i < n->ignored_count; i++) {
    graze_object_id first = gz_record_take_id(r), second = gz_record_take_id(r);
    /* Of objects that are gone too: such rules are dropped when they are next looked at. */
    ((ignored_pair *)scene->ignored.data)[i] = (ignored_pair){first, second};
  }
  for (uint64_t i = 0; i < n->ignored_layer_count; i++) {
    uint64_t key = gz_archive_take_u64(r);
    if (key >> 32 > (uint32_t)key || (uint32_t)key > scene->layer_count || key >> 32 == 0) {
      return gz_archive_error(r, "the pair of layers before this byte cannot be");
    }
    ((uint64_t *)scene->ignored_layers.data)[i] = key;
  }
  scene->ignored_count = n->ignored_count;
  scene->ignored_layer_count = n->ignored_layer_count;
  return GRAZE_OK;
}

static live_object take_live_object(archive_reader *r) {
  graze_object_id id = gz_record_take_id(r);
  uint64_t user_id = gz_archive_take_u64(r);
  return (live_object){id, user_id, gz_archive_take_u64(r)};
}

static graze_status take_told(archive_reader *r, graze_scene *scene, const numbers *n) {
  if (!n->begun) return n->told_count == 0 ? GRAZE_OK : gz_archive_error(r, "pairs were told before an update");
  graze_status status = gz_live_start(scene);
  if (status != GRAZE_OK) return status;
  live_scene *live = scene->live;
  live->begun = true;
  live->options = graze_default_scene_update_options();
  live->options.find = (graze_find)n->find;
  live->options.exactness = n->exactness;
  live->options.open = (graze_open_rule)n->open;
  for (uint64_t i = 0; i < n->told_count; i++) {
    live_pair pair = {.a = take_live_object(r)};
    pair.b = take_live_object(r);
    pair.told = (graze_relation)gz_archive_take_u32(r);
    if (pair.a.serial >= pair.b.serial || pair.b.serial >= n->serials || pair.told <= GRAZE_SEPARATE ||
        pair.told > GRAZE_UNKNOWN) {
      return gz_archive_error(r, "the pair before this byte cannot be");
    }
    if (!gz_live_recall(r->context, live, &pair)) return gz_fail_memory(r->context, sizeof pair);
  }
  return GRAZE_OK;
}

static graze_status take_travels(archive_reader *r, graze_scene *scene) {
  live_scene *live = scene->live;
  if (live != NULL) live->met = scene->serials;
  if (live == NULL || r->at == r->length) return GRAZE_OK;
  live->met = gz_archive_take_u64(r);
  uint32_t count = gz_archive_take_u32(r);
  if (r->overrun || live->met > scene->serials || count > scene->count) {
    return gz_archive_error(r, "the numbers of what moves cannot be");
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t place = gz_archive_take_u32(r);
    graze_pose then;
    memcpy(then.m, gz_archive_take(r, sizeof then.m), sizeof then.m);
    object *o = place < scene->places ? scene_object(scene, place) : NULL;
    if (o == NULL || o->mesh == NULL || o->travels || gz_pose_first_not_finite(&then) != 12) {
      return gz_archive_error(r, "where the object before this byte was cannot be");
    }
    o->travels = true;
    o->then = then;
    ((uint32_t *)live->travels.data)[live->travel_count++] = place;
  }
  return GRAZE_OK;
}

static graze_status take_scene(archive_reader *r, graze_scene *scene) {
  numbers n = take_numbers(r);
  if (!numbers_are_possible(&n, r)) return gz_archive_error(r, "the scene's numbers cannot be");
  graze_status status = make_places(r, scene, n.places);
  if (status == GRAZE_OK) status = take_layers(r, scene, n.layer_count);
  for (uint32_t i = 0; status == GRAZE_OK && i < n.count; i++) status = take_object(r, scene, &n);
  if (status == GRAZE_OK) status = take_free(r, scene, &n);
  if (status == GRAZE_OK) status = take_rules(r, scene, &n);
  scene->serials = n.serials;
  if (status == GRAZE_OK) status = take_told(r, scene, &n);
  if (status == GRAZE_OK) status = take_travels(r, scene);
  if (status == GRAZE_OK && (r->overrun || r->at != r->length)) {
    status = gz_archive_error(r, "the scene ends early or late");
  }
  return status;
}

/* A section of what some objects have, as it is: it comes before the objects. */
typedef struct kept_section {
  buffer list;
  size_t bytes;
} kept_section;

static graze_status keep_section(archive_reader *r, size_t size, const char *what, kept_section *kept) {
  if (kept->list.data != NULL || r->length == 0 || r->length % size != 0) return gz_archive_error(r, what);
  if (!gz_buffer_reserve(r->context, &kept->list, r->length, 0)) return gz_fail_memory(r->context, r->length);
  memcpy(kept->list.data, r->section.data, r->length);
  kept->bytes = r->length;
  return GRAZE_OK;
}

static graze_status set_centers(const archive_reader *r, const graze_scene *scene, const kept_section *centers) {
  const center_place *list = centers->list.data;
  for (size_t i = 0; i < centers->bytes / sizeof *list; i++) {
    object *o = list[i].place < scene->places ? scene_object(scene, list[i].place) : NULL;
    const double *c = list[i].center;
    if (o == NULL || o->name == NULL || !(isfinite(c[0]) && isfinite(c[1]) && isfinite(c[2])))
      return gz_archive_error(r, "a center of motion cannot be");
    memcpy(o->center, c, sizeof o->center);
  }
  return GRAZE_OK;
}

static graze_status make_round(const archive_reader *r, const graze_scene *scene, const kept_section *rounds) {
  const round_place *list = rounds->list.data;
  for (size_t i = 0; i < rounds->bytes / sizeof *list; i++) {
    object *o = list[i].place < scene->places ? scene_object(scene, list[i].place) : NULL;
    const bool before = gz_silence(true);
    const bool good = o != NULL && o->name != NULL && list[i].radius > 0 && list[i].flat <= 1 &&
                      gz_round_check(r->context, o->mesh, list[i].radius, list[i].flat == 1, "object") == GRAZE_OK;
    gz_silence(before);
    if (!good) return gz_archive_error(r, "a round object cannot be");
    o->radius = list[i].radius;
    o->flat = list[i].flat == 1;
  }
  return GRAZE_OK;
}

/* The sections up to that of the scene, and the scene. */
static graze_status take_sections(graze_context *context, archive_reader *r, kept_section *rounds,
                                  kept_section *centers, graze_scene *made) {
  archive_type type = ARCHIVE_MESH;
  graze_status status = GRAZE_OK;
  while (status == GRAZE_OK && (type == ARCHIVE_MESH || type == ARCHIVE_ROUND || type == ARCHIVE_CENTER)) {
    status = gz_archive_next(r, &type);
    if (status != GRAZE_OK) return status;
    if (type == ARCHIVE_MESH) status = gz_snapshot_read_mesh(context, r, made);
    if (type == ARCHIVE_ROUND)
      status = keep_section(r, sizeof(round_place), "the list of round objects cannot be", rounds);
    if (type == ARCHIVE_CENTER)
      status = keep_section(r, sizeof(center_place), "the list of centers of motion cannot be", centers);
  }
  if (status != GRAZE_OK) return status;
  if (type != ARCHIVE_SCENE) return gz_archive_error(r, "the scene is missing");
  status = take_scene(r, made);
  if (status == GRAZE_OK) status = make_round(r, made, rounds);
  return status == GRAZE_OK ? set_centers(r, made, centers) : status;
}

graze_status gz_snapshot_read(graze_context *context, archive_reader *r, graze_scene **scene) {
  graze_scene *made;
  kept_section rounds = {0}, centers = {0};
  graze_status status = graze_scene_create(context, &made);
  if (status != GRAZE_OK) return status;
  status = take_sections(context, r, &rounds, &centers, made);
  gz_buffer_release(context, &rounds.list);
  gz_buffer_release(context, &centers.list);
  if (status == GRAZE_OK) {
    *scene = made;
  } else {
    graze_scene_destroy(made);
  }
  return status;
}

graze_status graze_scene_load(graze_context *context, const char *path, graze_scene **scene) {
  if (context == NULL) return GRAZE_ERROR_ARGUMENT;
  if (path == NULL || scene == NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "scene load: null pointer");
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return gz_file_error(context, path, "cannot open");
  archive_reader r;
  graze_status status = gz_archive_open(&r, context, file, path);
  if (status == GRAZE_OK) status = gz_snapshot_read(context, &r, scene);
  gz_archive_reader_release(&r);
  close(file);
  return status;
}
