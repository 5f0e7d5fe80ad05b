/* The scene of a check: which meshes it needs, and the check.
 *
 * An object whose box meets no other, or whose pairs are all known from an earlier report, needs no mesh but only its
 * box. So where nothing else asks for the meshes, candidates are found first in a scene of stand-ins: of each mesh a
 * zero-area triangle between two corners of its box, which has the same box. The pairs that are left are checked in a
 * second scene, of their objects only. Both take the objects in the same order, so that the result is the one of a
 * single scene.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "diagnostics.h"
#include "progress.h"

bool check_is_lazy(const check_options *check) {
  return !check->folder && !check->all && check->open == GRAZE_OPEN_UNKNOWN;
}

/* ---- scenes ---- */

/* The objects that `taken` has (NULL: all), each with the mesh of that number. */
static graze_scene *build_scene(session *run, const model *all, const bool *taken, graze_mesh *const *meshes) {
  graze_scene *scene = NULL;
  graze_object_id *ids = malloc(((size_t)all->object_count + 1) * sizeof *ids);
  if (!ids) fail_out_of_memory();
  graze_status status = graze_scene_create(run->context, &scene);
  for (uint32_t i = 0; i < all->object_count && status == GRAZE_OK; i++) {
    if (taken && !taken[i]) continue;
    graze_object_def def = graze_default_object_def();
    def.mesh = meshes ? meshes[all->objects[i].mesh] : all->meshes[all->objects[i].mesh].mesh;
    def.pose = all->objects[i].pose;
    def.name = all->objects[i].name;
    def.layer = all->objects[i].layer;
    def.user_id = i;
    status = graze_scene_add(scene, &def, &ids[i]);
    if (status != GRAZE_OK) session_fail(run, def.name, status);
  }
  for (uint32_t i = 0; i < all->file.ignore_count && status == GRAZE_OK && !taken; i++)
    status = graze_scene_ignore(scene, ids[all->file.ignore[i][0]], ids[all->file.ignore[i][1]]);
  if (status != GRAZE_OK) session_fail(run, NULL, status);
  free(ids);
  return scene;
}

/* ---- which pairs ---- */

static bool is_wanted(void *user, uint64_t a, uint64_t b) {
  asking *ask = user;
  return rules_want(ask->selection, a, b) && !known_take(&ask->known, (uint32_t)a, (uint32_t)b);
}

/* Pairs to be checked. */
typedef struct needed_pairs {
  asking *ask;
  uint64_t *keys; /* a << 32 | b, ascending */
  uint64_t count, capacity;
  uint64_t asked; /* so many pairs were looked at */
} needed_pairs;

/* Notes the pair; none is checked in the scene of stand-ins. */
static bool note_needed(void *user, uint64_t a, uint64_t b) {
  needed_pairs *needed = user;
  needed->asked++;
  if (!is_wanted(needed->ask, a, b)) return false;
  if (needed->count == needed->capacity) {
    needed->capacity = needed->capacity ? 2 * needed->capacity : 1024;
    uint64_t *larger = realloc(needed->keys, needed->capacity * sizeof *larger);
    if (!larger) fail_out_of_memory();
    needed->keys = larger;
  }
  needed->keys[needed->count++] = a << 32 | b;
  return false;
}

static int compare_keys(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static bool is_needed(void *user, uint64_t a, uint64_t b) {
  const needed_pairs *needed = user;
  uint64_t key = a << 32 | b;
  return bsearch(&key, needed->keys, needed->count, sizeof key, compare_keys) != NULL;
}

/* ---- stand-ins ---- */

static graze_mesh *make_stand_in(session *run, const graze_mesh_facts *facts) {
  static const uint32_t corners[3] = {0, 1, 1};
  double ends[2][3];
  graze_mesh *mesh = NULL;
  graze_mesh_def def = graze_default_mesh_def();
  memcpy(ends[0], facts->box.min, sizeof ends[0]);
  memcpy(ends[1], facts->box.max, sizeof ends[1]);
  def.vertices = ends;
  def.precision = GRAZE_DOUBLE;
  def.vertex_count = facts->triangles > 0 ? 2 : 0;
  def.indices = corners;
  def.triangle_count = facts->triangles > 0 ? 1 : 0;
  def.no_adjacency = true;
  graze_status status = graze_mesh_create(run->context, &def, &mesh);
  if (status != GRAZE_OK) session_fail(run, NULL, status);
  return mesh;
}

/* What the rules and the earlier report leave to be checked. False: the stand-ins do not tell, as where an object's box
 * overflows and its corners may not. */
static bool find_needed(session *run, const model *all, const check_options *check, needed_pairs *needed,
                        graze_scene_check_result *totals) {
  graze_mesh **meshes = calloc((size_t)all->mesh_count + 1, sizeof *meshes);
  graze_scene_check_options how = graze_default_scene_check_options();
  if (!meshes) fail_out_of_memory();
  for (uint32_t i = 0; i < all->mesh_count; i++) meshes[i] = make_stand_in(run, &all->meshes[i].facts);
  graze_scene *scene = build_scene(run, all, NULL, meshes);
  rules_apply_layers(needed->ask->selection, scene);
  how.exactness = check->exactness;
  how.wanted = note_needed;
  how.wanted_user = needed;
  graze_status status = graze_scene_check(scene, &how, totals);
  if (status != GRAZE_OK && needed->asked > 0) session_fail(run, NULL, status);
  graze_scene_destroy(scene);
  for (uint32_t i = 0; i < all->mesh_count; i++) graze_mesh_destroy(meshes[i]);
  free(meshes);
  run->message[0] = 0;
  return status == GRAZE_OK;
}

/* ---- meshes ---- */

/* What the earlier report tells of meshes that are not baked. */
static void take_told_facts(model *all, const graze_report_previous *previous) {
  bool closed;
  for (uint32_t i = 0; previous && i < all->mesh_count; i++) {
    graze_mesh_facts *facts = &all->meshes[i].facts;
    if (facts->adjacency || !graze_report_previous_closed(previous, facts->hash, &closed)) continue;
    facts->closed = facts->oriented = closed;
    facts->adjacency = true;
  }
}

/* Bakes the meshes of the objects (NULL: of all), and finds out what is to be printed of the others. */
static void bake(session *run, model *all, const check_options *check, const bool *objects, check_record *record) {
  bool *meshes = calloc((size_t)all->mesh_count + 1, sizeof *meshes);
  if (!meshes) fail_out_of_memory();
  for (uint32_t i = 0; i < all->object_count; i++) meshes[all->objects[i].mesh] |= !objects || objects[i];
  if (objects) take_told_facts(all, record->previous);
  model_bake(run, all, meshes, check->common.format == format_json);
  for (uint32_t i = 0; i < all->object_count; i++) record->objects[i].mesh = all->meshes[all->objects[i].mesh].mesh;
  free(meshes);
}

/* ---- the check ---- */

static bool show_progress(void *user, uint64_t done, uint64_t total) {
  progress_show(user, done, total);
  return !interrupts_came();
}

static bool run_check(session *run, graze_scene *scene, const check_options *check, graze_pair_function wanted,
                      void *user, graze_scene_check_result *result) {
  progress_line line = progress_begin("pairs of objects", check->common.quiet);
  graze_scene_check_options how = graze_default_scene_check_options();
  how.find = check->pairs ? GRAZE_FIND_ALL : GRAZE_FIND_COUNT;
  how.exactness = check->exactness;
  how.open = check->open;
  how.all_pairs = check->all;
  how.outlines = check->folder || check->previous || check->common.format == format_json;
  how.wanted = wanted;
  how.wanted_user = user;
  how.progress = show_progress;
  how.progress_user = &line;
  memset(result, 0, sizeof *result);
  graze_status status = interrupts_came() ? GRAZE_CANCELLED : graze_scene_check(scene, &how, result);
  progress_end(&line);
  if (status != GRAZE_OK && status != GRAZE_CANCELLED) session_fail(run, NULL, status);
  return status == GRAZE_OK;
}

/* Everything in one scene. */
static bool check_whole(session *run, model *all, const check_options *check, asking *ask, check_record *record,
                        graze_scene **scene, graze_scene_check_result *result) {
  bake(run, all, check, NULL, record);
  double start = clock_seconds();
  *scene = build_scene(run, all, NULL, NULL);
  rules_apply_layers(ask->selection, *scene);
  bool asks = ask->known.reuse || rules_select(ask->selection);
  bool complete = run_check(run, *scene, check, asks ? is_wanted : NULL, ask, result);
  clock_add(&run->query_seconds, start);
  return complete;
}

/* The pairs that need it. */
static bool check_needed(session *run, model *all, const check_options *check, needed_pairs *needed,
                         check_record *record, graze_scene **scene, graze_scene_check_result *result) {
  bool *objects = calloc((size_t)all->object_count + 1, sizeof *objects);
  if (!objects) fail_out_of_memory();
  for (uint64_t i = 0; i < needed->count; i++)
    objects[needed->keys[i] >> 32] = objects[(uint32_t)needed->keys[i]] = true;
  bake(run, all, check, objects, record);
  double start = clock_seconds();
  *scene = build_scene(run, all, objects, NULL);
  bool complete = run_check(run, *scene, check, is_needed, needed, result);
  clock_add(&run->query_seconds, start);
  free(objects);
  return complete;
}

bool check_scene(session *run, model *all, const check_options *check, asking *ask, check_record *record,
                 graze_scene **scene, graze_scene_check_result *result) {
  needed_pairs needed = {.ask = ask};
  graze_scene_check_result totals;
  double start = clock_seconds();
  bool told = run->lazy && find_needed(run, all, check, &needed, &totals);
  clock_add(&run->query_seconds, start);
  if (!told) return check_whole(run, all, check, ask, record, scene, result);
  bool complete = check_needed(run, all, check, &needed, record, scene, result);
  result->object_pairs = totals.object_pairs + needed.count;
  result->ignored_pairs = totals.ignored_pairs;
  free(needed.keys);
  return complete;
}
