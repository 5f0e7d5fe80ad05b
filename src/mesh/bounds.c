/* Bounds of a mesh: of the vertices that its triangles use. */
#include "graze/bounds.h"

#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "mesh/mesh.h"

/* One bit a vertex. */
static void mark(uint64_t *used, uint32_t vertex) {
  used[vertex >> 6] |= (uint64_t)1 << (vertex & 63);
}

static uint64_t mark_used(const graze_mesh *mesh, uint64_t *used, uint64_t words) {
  uint64_t count = 0;
  for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++) mark(used, mesh->triangles[i]);
  for (uint64_t i = 0; i < words; i++) count += (uint64_t)__builtin_popcountll(used[i]);
  return count;
}

static void list_used(const uint64_t *used, uint64_t words, uint32_t *list) {
  for (uint64_t i = 0; i < words; i++) {
    for (uint64_t left = used[i]; left != 0; left &= left - 1)
      *list++ = (uint32_t)(64 * i) + (uint32_t)__builtin_ctzll(left);
  }
}

graze_status graze_bound_mesh(graze_context *context, const graze_mesh *mesh, graze_bounds *bounds) {
  if (context == NULL || mesh == NULL || bounds == NULL) return gz_fail_null(context);
  if (mesh->triangle_count == 0) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "bounds: the mesh has no triangles");
  const uint64_t vertices = mesh->header->vertex_count, words = (vertices + 63) / 64;
  uint64_t *used = gz_memory_alloc(context, words * sizeof *used);
  if (used == NULL) return gz_fail_memory(context, words * sizeof *used);
  memset(used, 0, words * sizeof *used);
  graze_points points = {.count = mark_used(mesh, used, words),
                         .precision = mesh->is_double ? GRAZE_DOUBLE : GRAZE_FLOAT};
  points.first = mesh->is_double ? (const void *)mesh->vertices_double : mesh->vertices_float;
  uint32_t *list = NULL;
  graze_status status = GRAZE_OK;
  if (points.count < vertices) {
    list = gz_memory_alloc(context, points.count * sizeof *list);
    if (list == NULL)
      status = gz_fail_memory(context, points.count * sizeof *list);
    else
      list_used(used, words, list);
    points.chosen = list;
  }
  if (status == GRAZE_OK) status = graze_bound_points(context, &points, bounds);
  gz_memory_release(context, list, points.count * sizeof *list);
  gz_memory_release(context, used, words * sizeof *used);
  return status;
}
