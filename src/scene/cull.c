/* Asks an engine which candidates cannot meet, and which triangles of the others may, before they are decided one by
 * one. */
#include <string.h>

#include "base/context.h"
#include "scene/decide.h"

enum { FEW = 4096 }; /* pairs of listed triangles */

/* The question's arrays. */
typedef struct asking {
  graze_cull_object *objects; /* by rank */
  uint32_t (*pairs)[2];
  graze_cull_triangles *triangles; /* NULL: not asked for */
  uint8_t *apart;
  uint32_t *numbers; /* of triangles in lists that are kept */
} asking;

static size_t lay_out(const deciding *d, bool triangles, uint64_t numbers, asking *a, void *memory) {
  carving c = {memory, 0};
  a->objects = gz_carve(&c, d->scene->count * sizeof *a->objects);
  a->pairs = gz_carve(&c, d->count * sizeof *a->pairs);
  a->triangles = triangles ? gz_carve(&c, d->count * sizeof *a->triangles) : NULL;
  a->apart = gz_carve(&c, d->count);
  a->numbers = gz_carve(&c, numbers * sizeof *a->numbers);
  return c.used;
}

/* Room for so many numbers behind what is there. */
static graze_status reserve(const deciding *d, bool triangles, uint64_t numbers, asking *a) {
  graze_scene *scene = d->scene;
  const size_t bytes = lay_out(d, triangles, numbers, a, NULL);
  const size_t kept = scene->asked.bytes < bytes ? scene->asked.bytes : bytes;
  if (!gz_buffer_reserve(scene->context, &scene->asked, bytes, numbers > 0 ? kept : 0))
    return gz_fail_memory(scene->context, bytes);
  lay_out(d, triangles, numbers, a, scene->asked.data);
  return GRAZE_OK;
}

static void fill(const deciding *d, const asking *a) {
  for (uint32_t i = 0; i < d->scene->count; i++) {
    const object *o = scene_ranked(d->scene, i);
    a->objects[i] = (graze_cull_object){o->mesh, &o->pose};
  }
  for (uint64_t i = 0; i < d->count; i++) {
    a->pairs[i][0] = (uint32_t)(d->pairs[i] >> 32);
    a->pairs[i][1] = (uint32_t)d->pairs[i];
  }
  if (a->triangles != NULL) memset(a->triangles, 0, d->count * sizeof *a->triangles);
  memset(a->apart, 0, d->count);
}

/* Cores of round objects are not what is asked for. */
static bool are_meshes(const deciding *d, const asking *a, uint64_t i) {
  return scene_ranked(d->scene, a->pairs[i][0])->radius == 0 && scene_ranked(d->scene, a->pairs[i][1])->radius == 0;
}

/* Short lists are sooner swept than hierarchies are asked; a list that is known of one object alone is no help. */
static bool pays(const graze_cull_triangles *t) {
  return t->list[0] != NULL && t->list[1] != NULL && (uint64_t)t->count[0] * t->count[1] <= FEW;
}

/* The engine's lists that pay, copied; others are forgotten. */
static graze_status keep_lists(deciding *d, asking *a) {
  uint64_t numbers = 0;
  for (uint64_t i = 0; i < d->count; i++) {
    graze_cull_triangles *t = &a->triangles[i];
    if (d->outcomes[i].apart || !pays(t) || !are_meshes(d, a, i)) *t = (graze_cull_triangles){{NULL, NULL}, {0, 0}};
    numbers += (uint64_t)t->count[0] + t->count[1];
  }
  if (numbers == 0) return GRAZE_OK;
  graze_status status = reserve(d, true, numbers, a);
  if (status != GRAZE_OK) return status;
  for (uint64_t i = 0; i < 2 * d->count; i++) {
    graze_cull_triangles *t = &a->triangles[i / 2];
    const uint32_t count = t->count[i % 2];
    if (count > 0) memcpy(a->numbers, t->list[i % 2], count * sizeof *a->numbers);
    if (t->list[i % 2] != NULL) t->list[i % 2] = a->numbers;
    a->numbers += count;
  }
  d->listed = a->triangles;
  return GRAZE_OK;
}

/* Images of tier T2 are not asked for by triangle, nor where one pair of triangles will do, which is to be the same. */
static bool wants_triangles(const deciding *d) {
  return d->relate.exactness != GRAZE_T2 && d->find != GRAZE_FIND_ANY;
}

graze_status gz_scene_cull(deciding *d) {
  graze_scene *scene = d->scene;
  const bool triangles = wants_triangles(d);
  asking a;
  if (d->count == 0 || !gz_engine_has(scene->context, GRAZE_STAGE_CULL)) return GRAZE_OK;
  graze_status status = reserve(d, triangles, 0, &a);
  if (status != GRAZE_OK) return status;
  fill(d, &a);
  graze_cull_question q = {.objects = a.objects,
                           .object_count = scene->count,
                           .pairs = (const uint32_t(*)[2])a.pairs,
                           .pair_count = d->count,
                           .exactness = d->relate.exactness,
                           .apart = a.apart,
                           .triangles = a.triangles};
  if (!gz_engine_ask(scene->context, GRAZE_STAGE_CULL, q.object_count, q.pair_count, &q)) return GRAZE_OK;
  for (uint64_t i = 0; i < d->count; i++) d->outcomes[i].apart = a.apart[i] != 0 && are_meshes(d, &a, i);
  if (triangles) status = keep_lists(d, &a);
  gz_engine_give(scene->context);
  return status;
}
