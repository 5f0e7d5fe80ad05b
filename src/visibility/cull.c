/* The public call: a device, a definition that is checked, and the record of what passes do. */
#include "visibility/cull.h"

#include <inttypes.h>
#include <string.h>

#include "base/context.h"
#include "base/hash.h"
#include "base/owned.h"
#include "base/parallel.h"
#include "visibility/load.h"

enum { DEF_COOKIE = 0x76697369, DEFAULT_RESOLUTION = 128, EVERY_VIEW = 7 };

graze_visibility_def graze_default_visibility_def(void) {
  return (graze_visibility_def){.views = EVERY_VIEW, .resolution = DEFAULT_RESOLUTION, .cookie = DEF_COOKIE};
}

void *gz_visibility_room(graze_visibility *v, int room, uint64_t count, size_t size, uint64_t keep) {
  const uint64_t most = PTRDIFF_MAX / size;
  size_t bytes = count < most ? (size_t)count * size : PTRDIFF_MAX;
  if (gz_buffer_reserve(v->context, &v->rooms[room], bytes > 0 ? bytes : 1, (size_t)keep * size))
    return v->rooms[room].data;
  gz_fail_memory(v->context, bytes);
  return NULL;
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static graze_status open_device(graze_visibility *v) {
  char reason[256]; /* which the context has been told */
  if (v->info.device == GRAZE_VISIBILITY_REFERENCE) return gz_visibility_reference_create(v->context, &v->device);
  return gz_visibility_opengl_create(v->context, &v->device, reason, sizeof reason);
}

graze_status graze_visibility_create(graze_context *context, graze_visibility_device device,
                                     graze_visibility **visibility) {
  if (!context || !visibility) return gz_fail_null(context);
  if ((unsigned)device > GRAZE_VISIBILITY_REFERENCE)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "visibility: no such device");
  graze_visibility *v = gz_new_zeroed(context, 1, sizeof *v);
  if (!v) return gz_fail_memory(context, sizeof *v);
  v->context = context;
  v->info.device = device;
  graze_status status = graze_broadphase_create(context, NULL, &v->broad);
  if (status == GRAZE_OK) status = open_device(v);
  if (status != GRAZE_OK) {
    graze_visibility_destroy(v);
    return status;
  }
  memcpy(v->info.name, v->device->name, sizeof v->info.name);
  *visibility = v;
  return GRAZE_OK;
}

void graze_visibility_destroy(graze_visibility *v) {
  if (!v) return;
  graze_visibility_detach(v);
  if (v->device) v->device->destroy(v->device);
  gz_visibility_release_deciders(v);
  graze_broadphase_destroy(v->broad);
  for (int i = 0; i < ROOMS; i++) gz_buffer_release(v->context, &v->rooms[i]);
  gz_free(v);
}

const graze_visibility_info *graze_visibility_get_info(const graze_visibility *v) {
  return &v->info;
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

graze_status gz_visibility_passed(graze_visibility *v, const graze_visibility_pass *pass, double start) {
  const uint32_t count = v->result.pass_count;
  graze_visibility_pass *passes = gz_visibility_room(v, ROOM_PASSES, (uint64_t)count + 1, sizeof *passes, count);
  if (!passes) return GRAZE_ERROR_MEMORY;
  passes[count] = *pass;
  passes[count].seconds = round((clock_now() - start) * 1e9) / 1e9; /* prints short */
  v->result.passes = passes;
  v->result.pass_count++;
  if (!v->def->progress || v->def->progress(v->def->progress_user, v->result.pass_count, v->pass_total))
    return GRAZE_OK;
  return GRAZE_CANCELLED;
}

/* The greatest float that is not above x. */
static float not_above(double x) {
  float f = (float)x;
  return (double)f > x ? nextafterf(f, -INFINITY) : f;
}

/* Sides are widened by 2^-18 of themselves and by 2^-23: low and scale round by 2^-24 of what they are, and low is at
 * most a little above 1. */
visibility_picture gz_visibility_picture(const visibility_box *box, uint32_t axis, uint32_t width, uint32_t height,
                                         float least) {
  visibility_picture p = {.axis = axis, .width = width, .height = height};
  for (uint32_t k = 0; k < 3; k++) {
    double low = (double)box->low[k], side = (double)box->high[k] - low;
    double thicker = fmax(side, (double)least), pad = thicker * 0x1p-18 + 0x1p-23;
    double pixels = k == axis ? 1 : k == (axis + 1) % 3 ? width : height;
    p.low[k] = not_above(low - (thicker - side) / 2 - pad);
    p.scale[k] = not_above(pixels / (thicker + 2 * pad));
  }
  return p;
}

/* ---- what is left ------------------------------------------------------------------------------------------------ */

graze_status gz_visibility_list_objects(graze_visibility *v, const uint8_t *whole, const uint8_t *left) {
  const uint32_t n = v->def->object_count;
  uint64_t total = 0;
  for (uint32_t i = 0; i < v->triangle_count; i++) total += left[i];
  graze_visibility_triangles *lists = gz_visibility_room(v, ROOM_LEFT_OBJECTS, n, sizeof *lists, 0);
  uint32_t *list = gz_visibility_room(v, ROOM_LEFT_TRIANGLES, total, sizeof *list, 0);
  if (!lists || !list) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < n; i++) {
    const visibility_object *o = &v->objects[i];
    lists[i] = (graze_visibility_triangles){v->numbers, whole[i] ? o->count : 0};
    if (lists[i].count > 0 || !o->paired || !o->judged) continue;
    lists[i].list = list;
    for (uint32_t t = 0; t < o->count; t++) {
      if (left[o->first + t]) *list++ = t;
    }
    lists[i].count = (uint32_t)(list - lists[i].list);
  }
  v->result.objects = lists;
  return GRAZE_OK;
}

static void mark(const graze_visibility *v, uint32_t object, const graze_visibility_triangles *triangles,
                 uint8_t *whole, uint8_t *left) {
  const visibility_object *o = &v->objects[object];
  whole[object] = whole[object] || triangles->count == o->count;
  for (uint32_t i = 0; i < triangles->count && !whole[object]; i++) left[o->first + triangles->list[i]] = 1;
}

graze_status gz_visibility_join_pairs(graze_visibility *v) {
  const uint64_t count = (uint64_t)v->def->object_count + v->triangle_count;
  uint8_t *whole = gz_visibility_room(v, ROOM_FLAGS, count, 1, 0);
  if (!whole) return GRAZE_ERROR_MEMORY;
  uint8_t *left = whole + v->def->object_count;
  memset(whole, 0, (size_t)count);
  for (uint64_t i = 0; i < v->result.pair_count; i++) {
    const graze_visibility_pair *p = &v->result.pairs[i];
    mark(v, p->a, &p->triangles_a, whole, left);
    mark(v, p->b, &p->triangles_b, whole, left);
  }
  return gz_visibility_list_objects(v, whole, left);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static graze_status check_def(const graze_context *context, const graze_visibility_def *d) {
  const char *fault = NULL;
  if (d->cookie != DEF_COOKIE)
    fault = "the definition was not initialised";
  else if (!d->objects && d->object_count > 0)
    fault = "there are no objects";
  else if (!d->pairs && d->pair_count > 0)
    fault = "there are no pairs";
  else if ((unsigned)d->mode > GRAZE_VISIBILITY_QCULLIDE)
    fault = "no such mode";
  else if ((unsigned)d->level > GRAZE_VISIBILITY_OBJECTS)
    fault = "no such level";
  else if ((unsigned)d->bounds > GRAZE_VISIBILITY_PUBLISHED)
    fault = "no such bounds";
  else if (d->bounds == GRAZE_VISIBILITY_PUBLISHED && d->mode != GRAZE_VISIBILITY_RCULLIDE)
    fault = "the published bounds are those of RCULLIDE";
  else if (d->views == 0 || d->views > EVERY_VIEW)
    fault = "views are none of x, y and z";
  else if (d->resolution == 0 || d->resolution > GRAZE_VISIBILITY_MOST_PIXELS)
    fault = "the resolution is out of range";
  return fault ? gz_fail(context, GRAZE_ERROR_ARGUMENT, "visibility: %s", fault) : GRAZE_OK;
}

graze_status gz_visibility_begin(graze_visibility *v, const graze_visibility_def *def) {
  graze_status status = check_def(v->context, def);
  if (status != GRAZE_OK) return status;
  v->def = def;
  v->pair_count = 0;
  v->pass_total = 0;
  v->blind = false;
  memset(&v->result, 0, sizeof v->result);
  return GRAZE_OK;
}

static void sum_up(graze_visibility *v, double start) {
  graze_visibility_result *r = &v->result;
  for (uint64_t i = 0; i < r->pair_count; i++) r->hash += hash_pair(r->pairs[i].a, r->pairs[i].b);
  for (uint32_t i = 0; i < v->def->object_count; i++) {
    r->left_objects += r->objects[i].count > 0;
    r->left_triangles += r->objects[i].count;
  }
  if (v->def->mode != GRAZE_VISIBILITY_QCULLIDE) {
    r->sets.both = v->def->object_count - r->left_objects;
    r->sets.neither = r->left_objects;
  }
  r->reliable = v->def->mode == GRAZE_VISIBILITY_CLOSE || v->def->mode == GRAZE_VISIBILITY_RCULLIDE;
  r->seconds = clock_now() - start;
}

graze_status gz_visibility_run(graze_visibility *v, const graze_visibility_def *def) {
  const double start = clock_now();
  graze_status status = gz_visibility_begin(v, def);
  if (status == GRAZE_OK) status = gz_visibility_load(v);
  if (status == GRAZE_OK)
    status = def->mode == GRAZE_VISIBILITY_CLOSE ? gz_visibility_close(v) : gz_visibility_views(v);
  if (status == GRAZE_OK) sum_up(v, start);
  return status;
}

graze_status graze_visibility_cull(graze_visibility *v, const graze_visibility_def *def,
                                   graze_visibility_result *result) {
  if (!v || !def || !result) return gz_fail_null(v ? v->context : NULL);
  unsigned saved = gz_fp_enter();
  graze_status status = gz_visibility_run(v, def);
  gz_fp_leave(saved);
  if (status == GRAZE_OK) *result = v->result;
  return status;
}
