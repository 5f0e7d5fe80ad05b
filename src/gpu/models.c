/* Meshes on a device, found by their address. */
#include "gpu/models.h"

#include <string.h>

#include "base/memory.h"

/* ---- one mesh ---------------------------------------------------------------------------------------------------- */

static graze_status upload(gpu_model *m) {
  enum { PART = 4096 };
  graze_gpu *gpu = m->gpu;
  const size_t bytes = 9 * sizeof(double);
  double *part = gz_memory_alloc(gpu->context, PART * bytes);
  if (part == NULL) return gz_fail_memory(gpu->context, PART * bytes);
  graze_status status = gz_gpu_reserve(gpu, &m->corners, m->count * bytes);
  for (uint32_t from = 0; from < m->count && status == GRAZE_OK; from += PART) {
    uint32_t some = m->count - from < PART ? m->count - from : PART;
    for (uint32_t i = 0; i < some; i++) graze_mesh_get_triangle(m->mesh, from + i, part + 9 * (size_t)i);
    status = gz_gpu_write(gpu, &m->corners, from * bytes, part, some * bytes);
  }
  gz_memory_release(gpu->context, part, PART * bytes);
  return status;
}

static void destroy(gpu_model *m) {
  if (m == NULL) return;
  gz_gpu_release(m->gpu, &m->corners);
  gz_gpu_lbvh_release(m->gpu, &m->tree);
  gz_gpu_release(m->gpu, &m->thin);
  gz_memory_release(m->gpu->context, m, sizeof *m);
}

static graze_status create(graze_gpu *gpu, const graze_mesh *mesh, gpu_model **model) {
  gpu_model *m = gz_memory_alloc(gpu->context, sizeof *m);
  if (m == NULL) return gz_fail_memory(gpu->context, sizeof *m);
  *m = (gpu_model){.gpu = gpu, .mesh = mesh, .count = graze_mesh_triangle_count(mesh)};
  graze_status status = upload(m);
  if (status == GRAZE_OK)
    *model = m;
  else
    destroy(m);
  return status;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static uint32_t place_of(const gpu_models *t, const graze_mesh *mesh) {
  uint32_t i = (uint32_t)(((uintptr_t)mesh >> 4) * 0x9E3779B97F4A7C15u >> 32) & (t->capacity - 1);
  while (t->known[i] != NULL && t->known[i]->mesh != mesh) i = (i + 1) & (t->capacity - 1);
  return i;
}

static graze_status grow(const graze_gpu *gpu, gpu_models *t) {
  const gpu_models old = *t;
  uint32_t capacity = old.capacity > 0 ? 2 * old.capacity : 64;
  gpu_model **made = gz_memory_alloc(gpu->context, capacity * sizeof *made);
  if (made == NULL) return gz_fail_memory(gpu->context, capacity * sizeof *made);
  memset(made, 0, capacity * sizeof *made);
  t->known = made;
  t->capacity = capacity;
  for (uint32_t i = 0; i < old.capacity; i++) {
    if (old.known[i] != NULL) made[place_of(t, old.known[i]->mesh)] = old.known[i];
  }
  gz_memory_release(gpu->context, old.known, old.capacity * sizeof *old.known);
  return GRAZE_OK;
}

static void drop_all(gpu_models *t) {
  for (uint32_t i = 0; i < t->capacity; i++) {
    destroy(t->known[i]);
    t->known[i] = NULL;
  }
  t->count = 0;
}

static graze_status get(graze_gpu *gpu, gpu_models *t, const graze_mesh *mesh, gpu_model **model) {
  graze_status status = 2 * (t->count + 1) > t->capacity ? grow(gpu, t) : GRAZE_OK;
  if (status != GRAZE_OK) return status;
  gpu_model **known = &t->known[place_of(t, mesh)];
  if (*known == NULL) {
    status = create(gpu, mesh, known);
    t->count += status == GRAZE_OK;
  }
  *model = *known;
  return status;
}

graze_status gz_gpu_models_get(graze_gpu *gpu, gpu_models *t, const graze_mesh *a, const graze_mesh *b,
                               gpu_model *both[2]) {
  for (int attempt = 0;; attempt++) {
    graze_status status = get(gpu, t, a, &both[0]);
    if (status == GRAZE_OK) status = get(gpu, t, b, &both[1]);
    if (status != GRAZE_ERROR_MEMORY || attempt > 0) return status;
    drop_all(t);
  }
}

/* What comes after an emptied place may belong before it. */
static void close_gap(gpu_models *t, uint32_t gap) {
  for (uint32_t i = (gap + 1) & (t->capacity - 1); t->known[i] != NULL; i = (i + 1) & (t->capacity - 1)) {
    gpu_model *moved = t->known[i];
    t->known[i] = NULL;
    t->known[place_of(t, moved->mesh)] = moved;
  }
}

void gz_gpu_models_forget(gpu_models *t, const graze_mesh *mesh) {
  if (t->count == 0) return;
  uint32_t i = place_of(t, mesh);
  if (t->known[i] == NULL) return;
  destroy(t->known[i]);
  t->known[i] = NULL;
  t->count--;
  close_gap(t, i);
}

void gz_gpu_models_release(graze_gpu *gpu, gpu_models *t) {
  drop_all(t);
  gz_memory_release(gpu->context, t->known, t->capacity * sizeof *t->known);
}
