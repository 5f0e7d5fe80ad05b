/* Shapes of scene files: a box and the hull of a mesh as the triangles that bound them, so that nothing is lost; round
 * ones as cores with a radius, and triangles near their surface for pictures alone. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/owned.h"
#include "check.h"
#include "graze/convex.h"
#include "graze/round.h"

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

/* ---- round shapes for the eye ------------------------------------------------------------------------------------ */

/* Of an octahedron whose edges are cut into so many parts. Square roots are rounded alike everywhere, as sines are not.
 */
enum { FINENESS = 8 };

typedef struct picture {
  double radius, half; /* of the segment */
  double *next;        /* vertices, three to a triangle */
} picture;

/* The point of the sphere towards a lattice point of the octahedron, on the upper or lower half of the capsule. */
static void put_point(picture *p, const int lattice[3], bool upper) {
  const double x = lattice[0], y = lattice[1], z = lattice[2], by = p->radius / sqrt(x * x + y * y + z * z);
  *p->next++ = x * by;
  *p->next++ = y * by;
  *p->next++ = z * by + (upper ? p->half : -p->half);
}

/* A triangle of octant `signs`, bit k for axis k being negative, which turns it over. */
static void put_triangle(picture *p, unsigned signs, const int corners[3][2]) {
  const bool turned = __builtin_popcount(signs) % 2 == 1;
  for (int i = 0; i < 3; i++) {
    const int *c = corners[turned ? 2 - i : i];
    const int lattice[3] = {c[0], c[1], FINENESS - c[0] - c[1]};
    int signed_lattice[3];
    for (int k = 0; k < 3; k++) signed_lattice[k] = signs >> k & 1 ? -lattice[k] : lattice[k];
    put_point(p, signed_lattice, (signs & 4) == 0);
  }
}

static void put_octant(picture *p, unsigned signs) {
  for (int a = 0; a < FINENESS; a++) {
    for (int b = 0; a + b < FINENESS; b++) {
      put_triangle(p, signs, (const int[3][2]){{a, b}, {a + 1, b}, {a, b + 1}});
      if (a + b + 1 < FINENESS) put_triangle(p, signs, (const int[3][2]){{a + 1, b}, {a + 1, b + 1}, {a, b + 1}});
    }
  }
}

/* From the lower half to the upper, beside one edge of the equator. */
static void put_side(picture *p, unsigned signs, int a) {
  const bool turned = signs == 1 || signs == 2;
  int from[3] = {a + 1, FINENESS - a - 1, 0}, to[3] = {a, FINENESS - a, 0};
  for (int k = 0; k < 2; k++) {
    from[k] = signs >> k & 1 ? -from[k] : from[k];
    to[k] = signs >> k & 1 ? -to[k] : to[k];
  }
  const int *first = turned ? to : from, *second = turned ? from : to;
  put_point(p, first, false);
  put_point(p, second, false);
  put_point(p, second, true);
  put_point(p, first, false);
  put_point(p, second, true);
  put_point(p, first, true);
}

/* A triangle of an end of a cylinder. */
static void put_lid(picture *p, unsigned signs, int a, bool upper) {
  const bool turned = (signs == 1 || signs == 2) == upper;
  int from[3] = {a + 1, FINENESS - a - 1, 0}, to[3] = {a, FINENESS - a, 0};
  for (int k = 0; k < 2; k++) {
    from[k] = signs >> k & 1 ? -from[k] : from[k];
    to[k] = signs >> k & 1 ? -to[k] : to[k];
  }
  *p->next++ = 0;
  *p->next++ = 0;
  *p->next++ = upper ? p->half : -p->half;
  put_point(p, turned ? to : from, upper);
  put_point(p, turned ? from : to, upper);
}

static graze_status make_drum(const graze_context *context, double radius, double length, graze_geometry *out) {
  const uint64_t triangles = 4 * 4 * FINENESS;
  graze_status status = make_room(context, 3 * triangles, triangles, out);
  if (status != GRAZE_OK) return status;
  picture p = {radius, 0.5 * length, out->vertices};
  for (unsigned i = 0; i < 4 * FINENESS; i++) {
    put_side(&p, i / FINENESS, (int)(i % FINENESS));
    put_lid(&p, i / FINENESS, (int)(i % FINENESS), false);
    put_lid(&p, i / FINENESS, (int)(i % FINENESS), true);
  }
  for (uint64_t i = 0; i < 3 * triangles; i++) out->indices[i] = (uint32_t)i;
  return GRAZE_OK;
}

static graze_status make_picture(const graze_context *context, double radius, double length, graze_geometry *out) {
  const uint64_t sides = length > 0 ? 4 * 2 * FINENESS : 0, triangles = 8 * FINENESS * FINENESS + sides;
  graze_status status = make_room(context, 3 * triangles, triangles, out);
  if (status != GRAZE_OK) return status;
  picture p = {radius, 0.5 * length, out->vertices};
  for (unsigned signs = 0; signs < 8; signs++) put_octant(&p, signs);
  for (unsigned i = 0; i < 4 * FINENESS && sides > 0; i++) put_side(&p, i / FINENESS, (int)(i % FINENESS));
  for (uint64_t i = 0; i < 3 * triangles; i++) out->indices[i] = (uint32_t)i;
  return GRAZE_OK;
}

/* ---- what is checked --------------------------------------------------------------------------------------------- */

graze_status gz_check_make_shape(graze_context *context, const graze_scene_file_object *object,
                                 graze_geometry *geometry) {
  switch (object->shape) {
    case GRAZE_SHAPE_BOX:
      return make_box(context, object->edges, geometry);
    case GRAZE_SHAPE_HULL:
      return make_hull(context, geometry);
    case GRAZE_SHAPE_SPHERE:
      return make_picture(context, object->radius, 0, geometry);
    case GRAZE_SHAPE_CAPSULE:
      return make_picture(context, object->radius, object->length, geometry);
    case GRAZE_SHAPE_CYLINDER:
      return make_drum(context, object->radius, object->length, geometry);
    default:
      return GRAZE_OK;
  }
}

graze_status gz_check_make_cores(graze_check *c) {
  graze_status status = GRAZE_OK;
  for (uint32_t i = 0; i < c->mesh_count && status == GRAZE_OK; i++) {
    check_mesh *m = &c->meshes[i];
    if (m->shape == NULL || !shape_is_round(m->shape->shape)) continue;
    const double half = m->shape->shape == GRAZE_SHAPE_SPHERE ? 0 : 0.5 * m->shape->length;
    const double ends[2][3] = {{0, 0, -half}, {0, 0, half}};
    status = graze_round_create_core(c->context, ends, &m->core);
  }
  return status;
}

/* A length that is too small. */
static graze_status refuse_length(const graze_check *c, const char *path, const graze_scene_file_object *object,
                                  double length, bool or_zero) {
  if (length > 0 || (or_zero && length == 0)) return GRAZE_OK;
  return gz_fail(c->context, GRAZE_ERROR_FORMAT, "%s: object \"%s\": \"%s\" is %g: it must be %s 0", path, object->name,
                 graze_shape_name(object->shape), length, or_zero ? "at least" : "above");
}

static graze_status refuse_round(const graze_check *c, const char *path, const graze_scene_file_object *object) {
  graze_status status = refuse_length(c, path, object, object->radius, false);
  if (status == GRAZE_OK && object->shape != GRAZE_SHAPE_SPHERE)
    status = refuse_length(c, path, object, object->length, object->shape == GRAZE_SHAPE_CAPSULE);
  if (status != GRAZE_OK || graze_pose_is_rigid(&object->pose)) return status;
  return gz_fail(c->context, GRAZE_ERROR_POSE, "%s: object \"%s\": its pose is not rigid, and a %s would not stay one",
                 path, object->name, graze_shape_name(object->shape));
}

graze_status gz_check_refuse_shape(const graze_check *c, const char *path, const graze_scene_file_object *object) {
  const graze_shape shape = object->shape;
  const bool bounded = shape == GRAZE_SHAPE_MESH || shape == GRAZE_SHAPE_BOX || shape == GRAZE_SHAPE_HULL;
  const bool taken = shape == GRAZE_SHAPE_CYLINDER ? c->def.cylinders : c->def.rounds && shape_is_round(shape);
  if (!bounded && !taken) {
    return gz_fail(c->context, GRAZE_ERROR_UNSUPPORTED, "%s: object \"%s\": %s \"%s\" cannot be %s yet", path,
                   object->name, c->def.depth ? "the depth of shape" : "shape", graze_shape_name(shape),
                   c->def.depth ? "found" : "checked");
  }
  if (!bounded) return refuse_round(c, path, object);
  graze_status status = GRAZE_OK;
  for (int k = 0; k < 3 && shape == GRAZE_SHAPE_BOX && status == GRAZE_OK; k++)
    status = refuse_length(c, path, object, object->edges[k], false);
  return status;
}

graze_status gz_check_refuse_clearance(const graze_check *c) {
  for (uint32_t i = 0; i < c->object_count && c->rules.clear; i++) {
    if (!mesh_is_cylinder(&c->meshes[c->objects[i].mesh])) continue;
    return gz_fail(c->context, GRAZE_ERROR_UNSUPPORTED,
                   "%s: object \"%s\": the clearance of shape \"cylinder\" cannot be checked yet", c->def.files[0],
                   c->objects[i].name);
  }
  return GRAZE_OK;
}

/* ---- which are the same ------------------------------------------------------------------------------------------ */

char *gz_check_shape_name(graze_check *c, const graze_scene_file_object *object) {
  if (object->shape == GRAZE_SHAPE_HULL) return gz_check_print(c, "{\"hull\":\"%s\"}", object->mesh);
  char numbers[3][32];
  if (shape_is_round(object->shape)) {
    graze_format_double(object->radius, numbers[0]);
    graze_format_double(object->length, numbers[1]);
    return object->shape == GRAZE_SHAPE_SPHERE
               ? gz_check_print(c, "{\"sphere\":%s}", numbers[0])
               : gz_check_print(c, "{\"%s\":[%s,%s]}", graze_shape_name(object->shape), numbers[0], numbers[1]);
  }
  for (int k = 0; k < 3; k++) graze_format_double(object->edges[k], numbers[k]);
  return gz_check_print(c, "{\"box\":[%s,%s,%s]}", numbers[0], numbers[1], numbers[2]);
}
