/* The scene of a check, and the check. An object whose box meets no other, or whose pairs are all known from an earlier
 * report, needs no mesh but only its box: in a lazy check the scene asks for meshes when it knows its candidates. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "check.h"
#include "crew.h"
#include "graze/broadphase.h"

/* ---- the scene ---- */

static graze_status add_object(graze_check *c, graze_scene *scene, uint32_t number, graze_object_id *id) {
  const check_object *o = &c->objects[number];
  check_mesh *m = &c->meshes[o->mesh];
  graze_object_def def = graze_default_object_def();
  m->source = (graze_mesh_source){m->facts, gz_check_load_mesh, m};
  def.mesh = m->core != NULL ? m->core : m->mesh;
  def.source = def.mesh == NULL ? &m->source : NULL;
  def.radius = o->radius;
  def.flat = mesh_is_cylinder(m);
  def.pose = o->pose;
  memcpy(def.center, o->center, sizeof def.center);
  def.name = o->name;
  def.layer = o->layer;
  def.user_id = number;
  bool before = gz_silence(true);
  graze_status status = graze_scene_add(scene, &def, id);
  gz_silence(before);
  if (status == GRAZE_OK) return GRAZE_OK;
  return gz_fail(c->context, status, "%s: %.400s", o->name, graze_last_error(c->context)->message);
}

/* All objects, and the rules that a scene has itself. `*scene` is to be destroyed in any case. */
static graze_status build_scene(graze_check *c, graze_object_id *ids, graze_scene **scene) {
  graze_status status = graze_scene_create(c->context, scene);
  for (uint32_t i = 0; i < c->object_count && status == GRAZE_OK; i++) status = add_object(c, *scene, i, &ids[i]);
  for (uint32_t i = 0; i < c->file.ignore_count && status == GRAZE_OK; i++)
    status = graze_scene_ignore(*scene, ids[c->file.ignore[i][0]], ids[c->file.ignore[i][1]]);
  for (uint32_t i = 0; i < c->rules.count && status == GRAZE_OK; i++) {
    const rule *one = &c->rules.list[i];
    if (one->kind == RULE_IGNORE_LAYERS) status = graze_scene_ignore_layers(*scene, one->layers[0], one->layers[1]);
  }
  return status;
}

/* ---- the check ---- */

static void want_mesh(graze_check *c, uint64_t object) {
  check_mesh *m = &c->meshes[c->objects[object].mesh];
  if (m->core != NULL) return; /* which is there */
  c->wanted_meshes += m->mesh == NULL && !m->wanted;
  m->wanted = true;
}

static bool is_wanted(void *user, uint64_t a, uint64_t b) {
  graze_check *c = user;
  if (!gz_check_rules_want(c, a, b) || gz_check_known(c, (uint32_t)a, (uint32_t)b)) return false;
  want_mesh(c, a);
  want_mesh(c, b);
  return true;
}

static bool go_on(void *user, uint64_t done, uint64_t total) {
  return gz_check_go_on(user, GRAZE_CHECK_PAIRS, done, total);
}

static graze_status run_check(graze_check *c) {
  const graze_check_def *d = &c->def;
  graze_scene_check_options how = graze_default_scene_check_options();
  how.find = d->triangles ? GRAZE_FIND_ALL : GRAZE_FIND_COUNT;
  how.exactness = d->exactness;
  how.open = d->open;
  how.all_pairs = d->relations >> GRAZE_SEPARATE & 1;
  how.outlines = d->places;
  if (c->lazy || c->earlier.reuse != NULL || gz_check_rules_select(c)) how.wanted = is_wanted;
  how.wanted_user = c;
  if (c->rules.clear) {
    how.clearance = gz_check_clearance;
    how.reach = gz_check_reach;
    how.clearance_user = c;
  }
  if (c->rules.tolerant) {
    how.roundings = gz_check_roundings;
    how.roundings_user = c;
  }
  if (d->crew != NULL) {
    how.part = d->crew->member;
    how.parts = d->crew->members;
  }
  how.progress = go_on;
  how.progress_user = c;
  graze_status status = graze_scene_check(c->scene, &how, &c->result);
  if (c->fault.error.status != GRAZE_OK) status = gz_check_tell_fault(c);
  status = gz_crew_agree(c, status, d->crew != NULL ? d->crew->member : 0);
  return status == GRAZE_OK ? gz_crew_share_pairs(c) : status;
}

/* What is to be told of the meshes that no pair needed: the earlier report may tell it. */
static graze_status find_facts(graze_check *c) {
  bool closed;
  graze_status status = gz_crew_share_facts(c);
  if (status != GRAZE_OK) return status;
  for (uint32_t i = 0; i < c->mesh_count; i++) {
    check_mesh *m = &c->meshes[i];
    m->next = BAKE_NOTHING;
    if (m->mesh != NULL || m->facts.adjacency || (gz_crew_shares(c) && !gz_crew_is_mine(c, i))) continue;
    if (c->earlier.report != NULL && graze_report_previous_mesh(c->earlier.report, m->facts.hash, &closed, &m->solid)) {
      m->facts.closed = m->facts.oriented = closed;
      m->facts.adjacency = m->solid_known = true;
    } else if (c->def.facts) {
      m->next = BAKE_FACTS;
    }
  }
  status = gz_check_bake(c, 0);
  return status == GRAZE_OK ? gz_crew_share_facts(c) : status;
}

graze_status gz_check_decide(graze_check *c) {
  graze_object_id *ids = gz_check_alloc(c, c->object_count, sizeof *ids);
  double start = clock_now();
  graze_status status = ids != NULL ? build_scene(c, ids, &c->scene) : GRAZE_ERROR_MEMORY;
  if (status == GRAZE_OK) status = go_on(c, 0, 0) ? run_check(c) : GRAZE_CANCELLED;
  double baked = c->bake_end - c->bake_begin; /* within the check */
  gz_check_add_time(&c->build_seconds, clock_now() - baked);
  gz_check_add_time(&c->query_seconds, start + baked);
  if (status != GRAZE_OK && status != GRAZE_CANCELLED) return status;
  graze_status facts = find_facts(c);
  gz_check_close_files(c);
  return status != GRAZE_OK || facts == GRAZE_CANCELLED ? status : facts;
}

/* ---- objects that move ----
 * Rules by name are worked out for the pairs that can ever meet: those whose boxes, each around all places of its
 * object in the run, do. */

/* Around the box at a pose; everything where that overflows, which is an error only when such a pair is decided. */
static graze_box box_at(const graze_box *box, const graze_pose *pose) {
  graze_box out = graze_pose_box(pose, box);
  for (int k = 0; k < 3; k++) {
    if (isfinite(out.min[k]) && isfinite(out.max[k])) continue;
    out.min[k] = -DBL_MAX;
    out.max[k] = DBL_MAX;
  }
  return out;
}

/* From one pose to another an object may turn about the origin of its frame, which moves straight: around all that it
 * then can reach. */
static void add_turn(graze_box *reach, const graze_box *box, const graze_pose *from, const graze_pose *to) {
  double square = 0;
  bool turns = false;
  for (int k = 0; k < 12; k++) turns = turns || (k % 4 != 3 && from->m[k] != to->m[k]);
  if (!turns) return;
  for (int k = 0; k < 3; k++) {
    double far = fmax(fabs(box->min[k]), fabs(box->max[k]));
    square += far * far;
  }
  double radius = sqrt(square) * (1 + 1e-5);
  for (int k = 0; k < 3; k++) {
    reach->min[k] = fmin(reach->min[k], fmin(from->m[4 * k + 3], to->m[4 * k + 3]) - radius);
    reach->max[k] = fmax(reach->max[k], fmax(from->m[4 * k + 3], to->m[4 * k + 3]) + radius);
  }
}

/* The scene grows it by half as much. */
static void add_reach(graze_box *box, double by) {
  for (int k = 0; k < 3; k++) {
    box->min[k] = fmax(nextafter(box->min[k] - by, -INFINITY), -DBL_MAX);
    box->max[k] = fmin(nextafter(box->max[k] + by, INFINITY), DBL_MAX);
  }
}

/* Around what an object is made of: a core and, about it, its radius. */
static graze_box box_of_object(const graze_check *c, uint32_t object, const graze_pose *pose) {
  const check_mesh *m = &c->meshes[c->objects[object].mesh];
  graze_mesh_facts facts = m->facts;
  if (m->core != NULL) graze_mesh_get_facts(m->core, &facts);
  graze_box box = box_at(&facts.box, pose);
  if (m->core != NULL) add_reach(&box, c->objects[object].radius);
  return box;
}

/* Boxes of the objects that have triangles, with their numbers; returns how many. */
static uint32_t reach_of_objects(graze_check *c, const graze_motion *motion, graze_box *reach, const graze_pose **last,
                                 uint32_t *objects) {
  for (uint32_t i = 0; i < c->object_count; i++) {
    reach[i] = box_of_object(c, i, &c->objects[i].pose);
    last[i] = &c->objects[i].pose;
  }
  for (uint64_t i = 0; motion != NULL && i < motion->count; i++) {
    uint32_t object = motion->moves[i].object;
    const graze_box *mesh = &c->meshes[c->objects[object].mesh].facts.box;
    graze_box box = box_of_object(c, object, &motion->moves[i].pose);
    graze_box_add_box(&reach[object], &box);
    add_turn(&reach[object], mesh, last[object], &motion->moves[i].pose);
    last[object] = &motion->moves[i].pose;
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < c->object_count; i++) {
    if (c->meshes[c->objects[i].mesh].facts.triangles == 0) continue;
    reach[count] = reach[i];
    if (c->rules.clear) add_reach(&reach[count], gz_check_reach(c, i));
    objects[count++] = i;
  }
  return count;
}

static graze_status ignore_unwanted(graze_check *c, const graze_box_array *boxes, uint32_t count,
                                    const uint32_t *objects, graze_scene *scene, const graze_object_id *ids) {
  graze_broadphase *broadphase = NULL;
  const graze_box_pair *pairs = NULL;
  uint64_t pair_count = 0;
  graze_status status = graze_broadphase_create(c->context, NULL, &broadphase);
  if (status == GRAZE_OK) status = graze_broadphase_find(broadphase, boxes, count, false, &pairs, &pair_count);
  for (uint64_t i = 0; i < pair_count && status == GRAZE_OK; i++) {
    uint32_t a = objects[pairs[i].a], b = objects[pairs[i].b];
    if (!gz_check_rules_want(c, a, b)) status = graze_scene_ignore(scene, ids[a], ids[b]);
  }
  graze_broadphase_destroy(broadphase);
  return status;
}

/* They are told to the scene pair by pair: then a record has them too. */
static graze_status apply_rules(graze_check *c, const graze_motion *motion, graze_scene *scene,
                                const graze_object_id *ids) {
  graze_box *reach = gz_check_alloc(c, c->object_count, sizeof *reach);
  uint32_t *objects = gz_check_alloc(c, c->object_count, sizeof *objects);
  const graze_pose **last = gz_check_alloc(c, c->object_count, sizeof *last);
  if (reach == NULL || objects == NULL || last == NULL) return GRAZE_ERROR_MEMORY;
  graze_box_array boxes = {.data = reach, .precision = GRAZE_DOUBLE};
  return ignore_unwanted(c, &boxes, reach_of_objects(c, motion, reach, last, objects), objects, scene, ids);
}

graze_status graze_check_make_scene(graze_check *c, const graze_motion *motion, graze_scene **scene,
                                    graze_object_id *ids) {
  if (c == NULL) return GRAZE_ERROR_ARGUMENT;
  if (scene == NULL || ids == NULL) return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "check: null pointer");
  graze_scene *made = NULL;
  c->caller = pthread_self();
  for (uint32_t i = 0; i < c->mesh_count; i++) c->meshes[i].next = c->meshes[i].mesh == NULL ? BAKE_MESH : BAKE_NOTHING;
  graze_status status = gz_check_bake(c, 0);
  if (status == GRAZE_OK) status = build_scene(c, ids, &made);
  if (status == GRAZE_OK && gz_check_rules_select(c)) status = apply_rules(c, motion, made, ids);
  if (status == GRAZE_OK && c->rules.tolerant)
    gz_check_note(c, GRAZE_LOG_WARNING, "the tolerance is for checks: where objects move nothing is forgiven");
  gz_check_record_fill(c);
  if (status == GRAZE_OK)
    *scene = made;
  else
    graze_scene_destroy(made);
  return status;
}

void graze_check_set_clearances(graze_check *c, graze_scene_update_options *options) {
  const bool clear = c != NULL && c->rules.clear;
  if (options == NULL) return;
  options->clearance = clear ? gz_check_clearance : NULL;
  options->reach = clear ? gz_check_reach : NULL;
  options->clearance_user = clear ? c : NULL;
}

graze_status graze_check_read_motion(graze_check *c, const char *path, graze_motion *motion) {
  if (c == NULL) return GRAZE_ERROR_ARGUMENT;
  const char **names = gz_check_alloc(c, c->object_count, sizeof *names);
  if (names == NULL) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < c->object_count; i++) names[i] = c->objects[i].name;
  double start = clock_now();
  graze_status status = graze_read_motion(c->context, path, names, c->object_count, motion);
  for (uint64_t i = 0; status == GRAZE_OK && i < motion->count; i++) {
    graze_motion_move *move = &motion->moves[i];
    const check_object *object = &c->objects[move->object];
    if (object->radius > 0 && !graze_pose_is_rigid(&move->pose)) {
      status = gz_fail(c->context, GRAZE_ERROR_POSE,
                       "%s: step %" PRIu32 ": object \"%s\": its pose is not rigid, and it would not stay round", path,
                       move->step, object->name);
      graze_motion_free(motion);
      return status;
    }
    move->pose = gz_check_scaled(&move->pose, c->objects[move->object].factor);
  }
  gz_check_add_time(&c->load_seconds, start);
  return status;
}
