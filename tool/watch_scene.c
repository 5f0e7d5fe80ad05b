/* The scene of a run, and what its rules take out of it. Rules are worked out for the pairs that can ever meet: those
 * whose boxes, each around all places of its object in the run, do. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "diagnostics.h"
#include "watch.h"

/* ---- how far objects get ----------------------------------------------------------------------------------- */

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

/* Boxes of the objects that have triangles, with their numbers; returns how many. */
static uint32_t reach_of_objects(const model *all, const graze_motion *motion, graze_box *reach, uint32_t *objects) {
  for (uint32_t i = 0; i < all->object_count; i++) {
    reach[i] = box_at(&all->meshes[all->objects[i].mesh].facts.box, &all->objects[i].pose);
  }
  for (uint64_t i = 0; i < motion->count; i++) {
    uint32_t object = motion->moves[i].object;
    graze_box box = box_at(&all->meshes[all->objects[object].mesh].facts.box, &motion->moves[i].pose);
    graze_box_add_box(&reach[object], &box);
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < all->object_count; i++) {
    if (all->meshes[all->objects[i].mesh].facts.triangles == 0) continue;
    reach[count] = reach[i];
    objects[count++] = i;
  }
  return count;
}

/* ---- rules ------------------------------------------------------------------------------------------------- */

typedef struct scene_run {
  session *run;
  const model *all;
  const graze_motion *motion;
  graze_scene *scene;
  const graze_object_id *ids;
} scene_run;

static void must(const scene_run *s, const char *name, graze_status status) {
  if (status != GRAZE_OK) session_fail(s->run, name, status);
}

/* They are told to the scene pair by pair: then a record has them too. */
static void apply_selection(const scene_run *s, rules *selection) {
  graze_box *reach = malloc(((size_t)s->all->object_count + 1) * sizeof *reach);
  uint32_t *objects = malloc(((size_t)s->all->object_count + 1) * sizeof *objects);
  if (!reach || !objects) fail_out_of_memory();
  graze_box_array boxes = {.data = reach, .precision = GRAZE_DOUBLE};
  uint32_t count = reach_of_objects(s->all, s->motion, reach, objects);
  graze_broadphase *broadphase;
  const graze_box_pair *pairs;
  uint64_t pair_count;
  must(s, NULL, graze_broadphase_create(s->run->context, NULL, &broadphase));
  must(s, NULL, graze_broadphase_find(broadphase, &boxes, count, false, &pairs, &pair_count));
  for (uint64_t i = 0; i < pair_count; i++) {
    uint32_t a = objects[pairs[i].a], b = objects[pairs[i].b];
    if (!rules_want(selection, a, b)) must(s, NULL, graze_scene_ignore(s->scene, s->ids[a], s->ids[b]));
  }
  graze_broadphase_destroy(broadphase);
  free(reach);
  free(objects);
}

graze_scene *watch_make_scene(session *run, const model *all, const graze_motion *motion, rules *selection,
                              graze_object_id *ids) {
  scene_run s = {.run = run, .all = all, .motion = motion, .ids = ids};
  must(&s, NULL, graze_scene_create(run->context, &s.scene));
  for (uint32_t i = 0; i < all->object_count; i++) {
    graze_object_def def = graze_default_object_def();
    def.mesh = all->meshes[all->objects[i].mesh].mesh;
    def.pose = all->objects[i].pose;
    def.name = all->objects[i].name;
    def.layer = all->objects[i].layer;
    def.user_id = i;
    must(&s, def.name, graze_scene_add(s.scene, &def, &ids[i]));
  }
  for (uint32_t i = 0; i < all->file.ignore_count; i++)
    must(&s, NULL, graze_scene_ignore(s.scene, ids[all->file.ignore[i][0]], ids[all->file.ignore[i][1]]));
  rules_apply_layers(selection, s.scene);
  if (rules_select(selection)) apply_selection(&s, selection);
  return s.scene;
}
