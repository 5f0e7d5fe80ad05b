/* Candidate pairs: boxes of all objects, and a broad phase over those that have one. */
#include "scene/candidates.h"

#include <float.h>
#include <math.h>

#include "geometry/pose.h"

enum { BOXES_LEAST = 1024 };

/* ---- boxes ---- */

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

box_state gz_object_box(const object *o, graze_exactness exactness, graze_box *out) {
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

typedef struct boxing {
  const graze_scene *scene;
  graze_exactness exactness;
  graze_box *boxes;              /* by rank */
  pieces cut;                    /* of ranks */
  uint32_t bad[PARALLEL_PIECES]; /* first object of each piece whose posed coordinates overflow */
  bool lacks[PARALLEL_PIECES];   /* objects of the piece need their mesh */
} boxing;

static void box_piece(void *argument, uint32_t index) {
  boxing *b = argument;
  uint64_t end = pieces_end(&b->cut, index);
  b->bad[index] = NO_OBJECT;
  b->lacks[index] = false;
  for (uint64_t i = pieces_begin(&b->cut, index); i < end; i++) {
    object *o = scene_ranked(b->scene, (uint32_t)i);
    box_state state = gz_object_box(o, b->exactness, b->boxes + i);
    if (state == BOX_OVERFLOWS && b->bad[index] == NO_OBJECT) b->bad[index] = (uint32_t)i;
    if (state == BOX_NEEDS_MESH) o->needed = b->lacks[index] = true;
  }
}

static graze_status make_boxes(graze_scene *scene, graze_exactness exactness) {
  char label[96];
  boxing b = {.scene = scene, .exactness = exactness, .boxes = scene->boxes.data};
  b.cut = pieces_of(scene->count, BOXES_LEAST);
  gz_parallel_for(scene->context, b.cut.number, box_piece, &b);
  for (uint32_t i = 0; i < b.cut.number; i++) {
    if (!b.lacks[i]) continue;
    graze_status status = gz_sources_load(scene);
    return status == GRAZE_OK ? make_boxes(scene, exactness) : status;
  }
  for (uint32_t i = 0; i < b.cut.number; i++) {
    if (b.bad[i] == NO_OBJECT) continue;
    return gz_fail(scene->context, GRAZE_ERROR_NOT_FINITE, "object %s: a posed coordinate overflows",
                   gz_scene_object_label(scene, b.bad[i], label));
  }
  return GRAZE_OK;
}

graze_status gz_candidates_check_poses(const graze_scene *scene, graze_exactness exactness) {
  char label[96];
  if (exactness != GRAZE_T0) return GRAZE_OK;
  for (uint32_t i = 0; i < scene->count; i++) {
    if (graze_pose_is_identity(&scene_ranked(scene, i)->pose)) continue;
    return gz_fail(scene->context, GRAZE_ERROR_POSE, "object %s: tier T0 allows the identity pose only",
                   gz_scene_object_label(scene, i, label));
  }
  return GRAZE_OK;
}

/* ---- the search ---- */

/* Puts the boxes that are not empty side by side, with the ranks of their objects; returns how many. */
static uint32_t drop_empty(graze_box *boxes, uint32_t count, uint32_t *ranks) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (boxes[i].min[0] > boxes[i].max[0]) continue;
    boxes[kept] = boxes[i];
    ranks[kept++] = i;
  }
  return kept;
}

graze_status gz_candidates_find(graze_scene *scene, graze_exactness exactness) {
  const graze_context *context = scene->context;
  size_t bytes = (scene->count + (size_t)1) * (sizeof(graze_box) + sizeof(uint32_t)); /* never nothing */
  if (!gz_buffer_reserve(context, &scene->boxes, bytes, 0)) return gz_fail_memory(context, bytes);
  graze_status status = make_boxes(scene, exactness);
  if (status == GRAZE_OK && scene->broad == NULL) {
    status =
        graze_broadphase_create((graze_context *)context, NULL, &scene->broad); /* the context is only remembered */
  }
  if (status != GRAZE_OK) return status;

  graze_box_array boxes = {scene->boxes.data, 0, GRAZE_DOUBLE};
  uint32_t *ranks = (uint32_t *)((graze_box *)scene->boxes.data + scene->count);
  uint32_t count = drop_empty(scene->boxes.data, scene->count, ranks);
  const graze_box_pair *pairs = NULL;
  uint64_t pair_count = 0;
  status = graze_broadphase_find(scene->broad, &boxes, count, false, &pairs, &pair_count);
  if (status != GRAZE_OK) return status;

  if (!gz_buffer_reserve(context, &scene->found.keys, pair_count * sizeof(uint64_t), 0)) {
    return gz_fail_memory(context, pair_count * sizeof(uint64_t));
  }
  uint64_t *keys = scene->found.keys.data, kept = 0;
  for (uint64_t i = 0; i < pair_count; i++) {
    uint32_t a = ranks[pairs[i].a], b = ranks[pairs[i].b];
    if (!filter_ignores(&scene->rules, a, b)) keys[kept++] = pair_key(a, b);
  }
  scene->found.pairs = keys;
  scene->found.count = kept;
  return GRAZE_OK;
}
