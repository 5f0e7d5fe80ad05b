/* A sorted table by mesh; a scene of many instances has few rows. */
#include "scene/shapes.h"

#include <stdlib.h>

#include "base/context.h"

static int by_address(const void *p, const void *q) {
  uintptr_t a = (uintptr_t) * (const graze_mesh *const *)p, b = (uintptr_t) * (const graze_mesh *const *)q;
  return (a > b) - (a < b);
}

/* The row of a mesh, or NULL. */
static scene_shape *find(const scene_shapes *shapes, const graze_mesh *mesh) {
  uint32_t low = 0, high = shapes->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if ((uintptr_t)shapes->rows[middle].mesh < (uintptr_t)mesh)
      low = middle + 1;
    else
      high = middle;
  }
  return low < shapes->count && shapes->rows[low].mesh == mesh ? &shapes->rows[low] : NULL;
}

_Atomic(solid *) *gz_shapes_slot(const scene_shapes *shapes, const graze_mesh *mesh) {
  return &find(shapes, mesh)->made;
}

static uint32_t sort_distinct(const graze_mesh **meshes, uint32_t count) {
  uint32_t kept = 0;
  qsort(meshes, count, sizeof *meshes, by_address);
  for (uint32_t i = 0; i < count; i++) {
    if (kept == 0 || meshes[kept - 1] != meshes[i]) meshes[kept++] = meshes[i];
  }
  return kept;
}

static bool up_to_date(const scene_shapes *shapes, const graze_mesh *const *meshes, uint32_t count) {
  if (shapes->count != count) return false;
  for (uint32_t i = 0; i < count; i++) {
    const scene_shape *row = &shapes->rows[i];
    if (row->mesh != meshes[i] || row->geometry_hash != meshes[i]->header->geometry_hash) return false;
  }
  return true;
}

graze_status gz_shapes_update(const graze_context *context, scene_shapes *shapes, const graze_mesh **meshes,
                              uint32_t count) {
  count = count == 0 ? 0 : sort_distinct(meshes, count);
  if (up_to_date(shapes, meshes, count)) return GRAZE_OK;
  scene_shapes next = {gz_memory_alloc(context, count * sizeof *next.rows), count};
  if (count > 0 && next.rows == NULL) return gz_fail_memory(context, count * sizeof *next.rows);
  for (uint32_t i = 0; i < count; i++) {
    next.rows[i].mesh = meshes[i];
    next.rows[i].geometry_hash = meshes[i]->header->geometry_hash;
    scene_shape *old = find(shapes, meshes[i]);
    bool same = old != NULL && old->geometry_hash == next.rows[i].geometry_hash;
    atomic_init(&next.rows[i].made, same ? atomic_exchange(&old->made, NULL) : NULL);
  }
  gz_shapes_release(context, shapes);
  *shapes = next;
  return GRAZE_OK;
}

bool gz_shapes_current(const scene_shapes *shapes) {
  for (uint32_t i = 0; i < shapes->count; i++) {
    if (shapes->rows[i].geometry_hash != shapes->rows[i].mesh->header->geometry_hash) return false;
  }
  return true;
}

void gz_shapes_release(const graze_context *context, scene_shapes *shapes) {
  for (uint32_t i = 0; i < shapes->count; i++) gz_solid_destroy(context, atomic_load(&shapes->rows[i].made));
  gz_memory_release(context, shapes->rows, shapes->count * sizeof *shapes->rows);
  *shapes = (scene_shapes){0};
}
