/* Asks an engine which candidates cannot meet, before they are decided one by one. */
#include <string.h>

#include "base/context.h"
#include "graze/engine.h"
#include "scene/decide.h"

/* The question's arrays. */
typedef struct asking {
  graze_cull_object *objects; /* by rank */
  uint32_t (*pairs)[2];
  uint8_t *apart;
} asking;

static size_t lay_out(const deciding *d, asking *a, void *memory) {
  carving c = {memory, 0};
  a->objects = gz_carve(&c, d->scene->count * sizeof *a->objects);
  a->pairs = gz_carve(&c, d->count * sizeof *a->pairs);
  a->apart = gz_carve(&c, d->count);
  return c.used;
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
  memset(a->apart, 0, d->count);
}

graze_status gz_scene_cull(deciding *d) {
  graze_scene *scene = d->scene;
  asking a;
  if (d->count == 0 || !gz_engine_has(scene->context, GRAZE_STAGE_CULL)) return GRAZE_OK;
  const size_t bytes = lay_out(d, &a, NULL);
  if (!gz_buffer_reserve(scene->context, &scene->asked, bytes, 0)) return gz_fail_memory(scene->context, bytes);
  lay_out(d, &a, scene->asked.data);
  fill(d, &a);
  graze_cull_question q = {.objects = a.objects,
                           .object_count = scene->count,
                           .pairs = (const uint32_t(*)[2])a.pairs,
                           .pair_count = d->count,
                           .exactness = d->relate.exactness,
                           .apart = a.apart};
  if (!gz_engine_ask(scene->context, GRAZE_STAGE_CULL, q.object_count, q.pair_count, &q)) return GRAZE_OK;
  for (uint64_t i = 0; i < d->count; i++) { /* cores are not what is asked for */
    const bool meshes =
        scene_ranked(scene, a.pairs[i][0])->radius == 0 && scene_ranked(scene, a.pairs[i][1])->radius == 0;
    d->outcomes[i].apart = meshes && a.apart[i] != 0;
  }
  gz_engine_give(scene->context);
  return GRAZE_OK;
}
