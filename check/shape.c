/* Shapes of scene files as meshes: a box and the hull of a mesh are bounded by triangles, so that nothing is lost. */
#include <inttypes.h>
#include <string.h>

#include "base/owned.h"
#include "check.h"
#include "graze/convex.h"

static graze_status make_room(const graze_context *context, uint64_t vertices, uint64_t triangles,
                              graze_geometry *out) {
  *out = (graze_geometry){.vertex_count = vertices, .triangle_count = triangles};
  out->vertices = gz_new(context, vertices, 3 * sizeof *out->vertices);
  out->indices = gz_new(context, triangles, 3 * sizeof *out->indices);
  if (out->vertices != NULL && out->indices != NULL) return GRAZE_OK;
  graze_geometry_free(out);
  return gz_fail_memory(context, vertices * 3 * sizeof *out->vertices);
}

/* Corner i has the upper end of axis k where bit k is set; faces are outward. */
static graze_status make_box(const graze_context *context, const double edges[3], graze_geometry *out) {
  static const uint32_t faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                        {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  graze_status status = make_room(context, 8, 12, out);
  if (status != GRAZE_OK) return status;
  for (int i = 0; i < 8; i++) {
    for (int k = 0; k < 3; k++) out->vertices[3 * i + k] = (i >> k & 1 ? 0.5 : -0.5) * edges[k];
  }
  memcpy(out->indices, faces, sizeof faces);
  return GRAZE_OK;
}

/* Of the corners of all triangles: vertices that none uses say nothing about the mesh. */
static graze_status find_hull(graze_context *context, const graze_geometry *mesh, graze_hull **hull) {
  const uint64_t count = 3 * mesh->triangle_count;
  double *points = gz_new(context, count, 3 * sizeof *points);
  if (points == NULL) return gz_fail_memory(context, count * 3 * sizeof *points);
  for (uint64_t i = 0; i < count; i++) {
    memcpy(points + 3 * i, mesh->vertices + 3 * (uint64_t)mesh->indices[i], 3 * sizeof *points);
  }
  graze_status status = graze_hull_create(context, count, points, hull);
  gz_free(points);
  return status;
}

static graze_status make_hull(graze_context *context, graze_geometry *geometry) {
  graze_hull *hull = NULL;
  graze_geometry out;
  if (geometry->triangle_count == 0) return GRAZE_OK; /* which is told as of any mesh */
  graze_status status = find_hull(context, geometry, &hull);
  if (status != GRAZE_OK) return status;
  if (hull->dimension < 3) {
    status = gz_fail(context, GRAZE_ERROR_UNSUPPORTED, "its hull is flat, and no solid");
  } else {
    status = make_room(context, hull->vertex_count, hull->triangle_count, &out);
  }
  if (status == GRAZE_OK) {
    memcpy(out.vertices, hull->points, hull->vertex_count * 3 * sizeof *out.vertices);
    memcpy(out.indices, hull->triangles, hull->triangle_count * 3 * sizeof *out.indices);
    out.all_float = geometry->all_float;
    out.stored_floats = geometry->stored_floats;
    out.rounding = geometry->rounding;
    graze_geometry_free(geometry);
    *geometry = out;
  }
  graze_hull_destroy(hull);
  return status;
}

graze_status gz_check_make_shape(graze_context *context, const graze_scene_file_object *object,
                                 graze_geometry *geometry) {
  if (object->shape == GRAZE_SHAPE_BOX) return make_box(context, object->edges, geometry);
  return object->shape == GRAZE_SHAPE_HULL ? make_hull(context, geometry) : GRAZE_OK;
}

/* ---- which are the same ------------------------------------------------------------------------------------------ */

char *gz_check_shape_name(graze_check *c, const graze_scene_file_object *object) {
  if (object->shape == GRAZE_SHAPE_HULL) return gz_check_print(c, "{\"hull\":\"%s\"}", object->mesh);
  char numbers[3][32];
  for (int k = 0; k < 3; k++) graze_format_double(object->edges[k], numbers[k]);
  return gz_check_print(c, "{\"box\":[%s,%s,%s]}", numbers[0], numbers[1], numbers[2]);
}
