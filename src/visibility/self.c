/* A mesh against itself: it is cut into patches along a space-filling curve, and pictures are made of each two patches
 * whose boxes meet, as of objects. Triangles of two patches that share a corner meet in it, so that pictures leave
 * them; nothing need be known of neighbours. Of what is left, and within each patch, the exact kernel decides by the
 * rules of graze_collide_self. */
#include "base/context.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "visibility/decide.h"
#include "visibility/load.h"

/* Triangles; and pixels across a picture of two patches at most, for a patch has no more triangles across. */
enum { PATCH = 512, PATCH_PIXELS = 16, CURVE_BITS = 10 };

typedef struct patches {
  uint32_t *order;   /* triangles along the curve */
  uint32_t *indices; /* of their corners, in that order */
  graze_mesh_def *arrays;
  graze_visibility_object *objects;
  uint32_t count;
} patches;

typedef struct curve {
  const visibility_object *object;
  double low[3], scale[3];
  uint64_t *keys;
} curve;

/* Two zero bits between each two of the lowest ten. */
static uint32_t spread(uint32_t x) {
  x = (x | x << 16) & 0x030000ffu;
  x = (x | x << 8) & 0x0300f00fu;
  x = (x | x << 4) & 0x030c30c3u;
  return (x | x << 2) & 0x09249249u;
}

static void key_triangles(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  const curve *c = argument;
  const double most = (1 << CURVE_BITS) - 1;
  (void)worker;
  for (uint32_t t = begin; t < end; t++) {
    double corners[9];
    uint32_t place = 0;
    gz_visibility_corners(c->object, t, corners);
    for (int k = 0; k < 3; k++) {
      const double middle = (corners[k] / 3 + corners[3 + k] / 3 + corners[6 + k] / 3 - c->low[k]) * c->scale[k];
      place |= spread(middle > 0 ? (uint32_t)fmin(middle, most) : 0) << k;
    }
    c->keys[t] = (uint64_t)place << 32 | t;
  }
}

/* The range of its corners; that coordinates may be none is found later. */
static curve curve_of(const visibility_object *o) {
  curve c = {.object = o};
  for (int k = 0; k < 3; k++) {
    const double side = o->box.max[k] / 2 - o->box.min[k] / 2;
    c.low[k] = o->box.min[k];
    c.scale[k] = side > 0x1p-1000 ? (1 << (CURVE_BITS - 1)) / side : 0;
  }
  return c;
}

static graze_status order_triangles(graze_visibility *v, const visibility_object *o, patches *p) {
  const uint32_t n = o->count;
  curve c = curve_of(o);
  c.keys = gz_visibility_room(v, ROOM_KEYS, 2 * (uint64_t)n, sizeof *c.keys, 0);
  p->order = gz_visibility_room(v, ROOM_PATCH_ORDER, n, sizeof *p->order, 0);
  p->indices = gz_visibility_room(v, ROOM_PATCH_INDICES, 3 * (uint64_t)n, sizeof *p->indices, 0);
  if (!c.keys || !p->order || !p->indices) return GRAZE_ERROR_MEMORY;
  gz_parallel_for(v->context, n, 4096, key_triangles, &c);
  gz_sort_keys(c.keys, c.keys + n, n);
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t t = p->order[i] = (uint32_t)c.keys[i];
    for (uint32_t k = 0; k < 3; k++)
      p->indices[3 * (size_t)i + k] = o->indices ? o->indices[3 * (size_t)t + k] : 3 * t + k;
  }
  return GRAZE_OK;
}

/* Every patch is an object with the vertices of the mesh and indices of its own. */
static graze_status make_patches(graze_visibility *v, const graze_visibility_def *def, patches *p) {
  const visibility_object o = v->objects[0];
  graze_status status = order_triangles(v, &o, p);
  p->count = (uint32_t)(((uint64_t)o.count + PATCH - 1) / PATCH);
  p->arrays = gz_visibility_room(v, ROOM_PATCH_ARRAYS, p->count, sizeof *p->arrays, 0);
  p->objects = gz_visibility_room(v, ROOM_PATCHES, p->count, sizeof *p->objects, 0);
  if (status != GRAZE_OK || !p->arrays || !p->objects) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < p->count; i++) {
    const uint32_t first = i * PATCH;
    p->arrays[i] = (graze_mesh_def){.vertices = o.vertices,
                                    .vertex_count = UINT32_MAX + (uint64_t)1, /* indices have been checked */
                                    .vertex_stride = o.stride,
                                    .precision = o.is_double ? GRAZE_DOUBLE : GRAZE_FLOAT,
                                    .indices = p->indices + 3 * (size_t)first,
                                    .triangle_count = o.count - first < PATCH ? o.count - first : PATCH};
    p->objects[i] = (graze_visibility_object){.arrays = &p->arrays[i], .pose = def->objects[0].pose};
  }
  return GRAZE_OK;
}

/* What pictures have left, and each patch with itself. */
static graze_status decide(graze_visibility *v, const patches *p, graze_self_result *result) {
  visibility_decisions found;
  const uint64_t left = v->result.pair_count, count = left + p->count;
  graze_visibility_pair *pairs = gz_visibility_room(v, ROOM_PATCH_PAIRS, count, sizeof *pairs, 0);
  if (!pairs) return GRAZE_ERROR_MEMORY;
  if (left > 0) memcpy(pairs, v->result.pairs, (size_t)left * sizeof *pairs);
  for (uint32_t i = 0; i < p->count; i++) {
    const graze_visibility_triangles all = {v->numbers, v->objects[i].count};
    pairs[left + i] = (graze_visibility_pair){i, i, all, all};
  }
  graze_status status = gz_visibility_decide(v, pairs, count, p->order, &found);
  if (status != GRAZE_OK) return status;
  *result = found.self;
  result->pairs = found.pairs;
  return GRAZE_OK;
}

static graze_status collide(graze_visibility *v, const graze_visibility_def *def, graze_self_result *result) {
  patches p = {0};
  graze_status status = gz_visibility_begin(v, def);
  if (status == GRAZE_OK) status = gz_visibility_take(v);
  if (status == GRAZE_OK) status = gz_visibility_refuse_unjudged(v);
  if (status == GRAZE_OK) status = make_patches(v, def, &p);
  if (status != GRAZE_OK) return status;
  graze_visibility_def parts = *def;
  parts.objects = p.objects;
  parts.object_count = p.count;
  parts.image = NULL;
  if (parts.resolution > PATCH_PIXELS) parts.resolution = PATCH_PIXELS;
  if (p.count == 1) parts.mode = GRAZE_VISIBILITY_CLOSE; /* which has nothing to do */
  v->load_all = v->frugal = true;
  status = gz_visibility_run(v, &parts);
  v->load_all = v->frugal = false;
  return status == GRAZE_OK ? decide(v, &p, result) : status;
}

graze_status graze_visibility_collide_self(graze_visibility *v, const graze_visibility_def *def,
                                           graze_self_result *result) {
  graze_self_result made = {0};
  if (!v || !def || !result) return gz_fail_null(v ? v->context : NULL);
  graze_status status = gz_visibility_check_reliable(v->context, def->mode);
  if (status == GRAZE_OK && (def->object_count != 1 || def->pairs))
    status = gz_fail(v->context, GRAZE_ERROR_ARGUMENT, "visibility: one object is held against itself, without pairs");
  if (status != GRAZE_OK) return status;
  unsigned saved = gz_fp_enter();
  status = collide(v, def, &made);
  gz_fp_leave(saved);
  if (status == GRAZE_OK) *result = made;
  return status;
}
