/* Shapes of rigid bodies: cores, masses, extents.
 *
 * A hull is that of the caller's points, about its centre of mass. A cylinder is a prism of CYLINDER_SIDES sides, whose
 * edges lie on it, with the mass and the inertia of the cylinder. */
#include <math.h>
#include <string.h>

#include "graze/convex.h"
#include "rigid/rigid.h"
#include "rigid/vector.h"

/* What contacts have room for. */
enum { MOST_HULL = 256, MOST_FACE = 32, CYLINDER_SIDES = 24 };

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

static const uint32_t box_first[7] = {0, 4, 8, 12, 16, 20, 24};
/* Corner i has x, y and z by its bits. Faces -x +x -y +y -z +z. */
static const uint32_t box_loops[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
static const polytope_edge box_edges[12] = {{{0, 4}, {0, 2}}, {{4, 6}, {0, 5}}, {{6, 2}, {0, 3}}, {{2, 0}, {0, 4}},
                                            {{1, 3}, {1, 4}}, {{3, 7}, {1, 3}}, {{7, 5}, {1, 5}}, {{5, 1}, {1, 2}},
                                            {{0, 1}, {2, 4}}, {{5, 4}, {2, 5}}, {{6, 7}, {3, 5}}, {{3, 2}, {3, 4}}};

static void fill_box(rigid_body *b) {
  polytope *p = &b->core;
  for (uint32_t i = 0; i < 24; i++) p->corners[i / 3][i % 3] = (i / 3 >> i % 3 & 1 ? 0.5 : -0.5) * b->edges[i % 3];
  for (uint32_t f = 0; f < 6; f++) {
    p->planes[f][f / 2] = f % 2 ? 1 : -1;
    p->planes[f][3] = 0.5 * b->edges[f / 2];
  }
  p->face_first = box_first;
  p->face_corners = box_loops;
  p->edges = box_edges;
}

/* ---- hulls ------------------------------------------------------------------------------------------------------- */

static const char *find_fault(const graze_hull *hull) {
  if (hull->dimension < 3) return "its hull has no volume";
  if (hull->vertex_count > MOST_HULL || hull->face_count > MOST_HULL)
    return "its hull has more than 256 corners or faces";
  for (uint32_t f = 0; f < hull->face_count; f++) {
    if (hull->face_first[f + 1] - hull->face_first[f] > MOST_FACE) return "its hull has a face of more than 32 corners";
  }
  return NULL;
}

/* Its mass and centre, by its triangles. */
static graze_status weigh_hull(graze_context *context, const graze_hull *hull, double density, graze_mass *mass) {
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh *mesh;
  def.vertices = hull->points;
  def.vertex_count = hull->vertex_count;
  def.indices = hull->triangles;
  def.triangle_count = hull->triangle_count;
  def.precision = GRAZE_DOUBLE;
  graze_status status = graze_mesh_create(context, &def, &mesh);
  if (status != GRAZE_OK) return status;
  status = graze_mesh_get_mass(context, mesh, density, mass);
  graze_mesh_destroy(mesh);
  return status;
}

graze_status graze_rigid_find_hull_center(graze_context *context, uint32_t count, const double *points,
                                          double center[3]) {
  graze_hull *hull;
  graze_mass mass;
  if (context == NULL || points == NULL || center == NULL) return gz_fail_null(context);
  graze_status status = graze_hull_create(context, count, points, &hull);
  if (status != GRAZE_OK) return status;
  status = hull->dimension == 3 ? weigh_hull(context, hull, 1, &mass)
                                : gz_fail(context, GRAZE_ERROR_ARGUMENT, "the hull has no volume");
  if (status == GRAZE_OK) memcpy(center, mass.center, sizeof mass.center);
  graze_hull_destroy(hull);
  return status;
}

/* The corner at the tangent of a quarter of an angle: a rational point of the circle, the same everywhere. Sides are
 * almost alike: the tangents of an eighth of a turn are halved by square roots. */
static void fill_prism(double radius, double length, double (*points)[3]) {
  enum { EIGHTH = CYLINDER_SIDES / 8 };
  const double root = sqrt(0.5), cosine = sqrt(0.5 * (1 + sqrt(0.75))), sine = sqrt(0.5 * (1 - sqrt(0.75)));
  /* 0, 15, 30 degrees, and every eighth of a turn */
  const double first[EIGHTH][2] = {{1, 0}, {cosine, sine}, {sqrt(0.75), 0.5}};
  for (int i = 0; i < CYLINDER_SIDES; i++) {
    double x = first[i % EIGHTH][0], y = first[i % EIGHTH][1];
    for (int k = 0; k < i / EIGHTH; k++) {
      const double z = root * (x - y);
      y = root * (x + y);
      x = z;
    }
    for (int end = 0; end < 2; end++) {
      double *p = points[2 * i + end];
      p[0] = radius * x;
      p[1] = radius * y;
      p[2] = end == 0 ? -0.5 * length : 0.5 * length;
    }
  }
}

graze_status gz_rigid_open_shape(graze_context *context, const char *words, const graze_rigid_body_def *def,
                                 graze_hull **hull) {
  double prism[2 * CYLINDER_SIDES][3];
  const bool is_cylinder = def->shape == GRAZE_RIGID_CYLINDER;
  *hull = NULL;
  if (!is_cylinder && def->shape != GRAZE_RIGID_HULL) return GRAZE_OK;
  if (is_cylinder) fill_prism(def->radius, def->length, prism);
  const double *points = is_cylinder ? prism[0] : def->points;
  graze_status status = graze_hull_create(context, is_cylinder ? 2 * CYLINDER_SIDES : def->point_count, points, hull);
  if (status != GRAZE_OK) return status;
  const char *fault = is_cylinder ? NULL : find_fault(*hull);
  return fault == NULL ? GRAZE_OK : gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: %s", words, fault);
}

/* Everything in one piece of memory, about the centre. */
static bool copy_hull(const graze_context *context, const graze_hull *hull, const double center[3], polytope *p) {
  const size_t corners = hull->vertex_count, faces = hull->face_count, edges = hull->edge_count;
  const size_t doubles = 3 * corners + 4 * faces, words = faces + 1 + hull->corner_count;
  const size_t bytes = doubles * sizeof(double) + edges * sizeof(polytope_edge) + words * sizeof(uint32_t);
  char *memory = gz_new_zeroed(context, bytes, 1);
  if (memory == NULL) return false;
  p->corner_count = hull->vertex_count;
  p->face_count = hull->face_count;
  p->edge_count = hull->edge_count;
  p->corners = (double(*)[3])(void *)memory;
  p->planes = (double(*)[4])(void *)(memory + 3 * corners * sizeof(double));
  polytope_edge *edge = (polytope_edge *)(void *)(memory + doubles * sizeof(double));
  uint32_t *numbers = (uint32_t *)(edge + edges);
  for (size_t i = 0; i < corners; i++) sub3(hull->points + 3 * i, center, p->corners[i]);
  for (size_t f = 0; f < faces; f++) {
    memcpy(p->planes[f], hull->planes + 4 * f, sizeof p->planes[f]);
    p->planes[f][3] -= dot3(p->planes[f], center);
  }
  for (size_t e = 0; e < edges; e++) {
    memcpy(edge[e].corners, hull->edges[e].vertices, sizeof edge[e].corners);
    memcpy(edge[e].faces, hull->edges[e].faces, sizeof edge[e].faces);
  }
  memcpy(numbers, hull->face_first, (faces + 1) * sizeof *numbers);
  memcpy(numbers + faces + 1, hull->face_corners, hull->corner_count * sizeof *numbers);
  p->edges = edge;
  p->face_first = numbers;
  p->face_corners = numbers + faces + 1;
  return true;
}

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

graze_status graze_rigid_find_mesh_center(graze_context *context, const graze_mesh *mesh, double center[3]) {
  graze_mesh_facts facts;
  graze_mass mass;
  if (context == NULL || mesh == NULL || center == NULL) return gz_fail_null(context);
  memset(center, 0, 3 * sizeof *center);
  graze_mesh_get_facts(mesh, &facts);
  if (!facts.closed || !facts.oriented) return GRAZE_OK;
  graze_status status = graze_mesh_get_mass(context, mesh, 1, &mass);
  if (status == GRAZE_OK) memcpy(center, mass.center, sizeof mass.center);
  return status == GRAZE_ERROR_UNSUPPORTED ? GRAZE_OK : status;
}

static rigid_surface **find_surface(const graze_rigid *world, const graze_mesh *mesh) {
  for (size_t i = 0; i < world->surfaces.count; i++) {
    rigid_surface **s = RIGID_AT(world->surfaces, rigid_surface *, i);
    if ((*s)->mesh == mesh) return s;
  }
  return NULL;
}

graze_status gz_rigid_share_surface(graze_rigid *world, const graze_mesh *mesh, rigid_surface **surface) {
  double center[3];
  rigid_surface **shared = find_surface(world, mesh);
  graze_status status = GRAZE_OK;
  if (shared == NULL) status = graze_rigid_find_mesh_center(world->context, mesh, center);
  if (status != GRAZE_OK) return status;
  if (shared == NULL) {
    if (!array_reserve(world->context, &world->surfaces, 1, sizeof *shared))
      return gz_fail_memory(world->context, sizeof *shared);
    rigid_surface *made = gz_surface_create(world->context, mesh, center);
    if (made == NULL) return gz_fail_memory(world->context, graze_mesh_triangle_count(mesh) * sizeof(surface_face));
    shared = RIGID_AT(world->surfaces, rigid_surface *, world->surfaces.count++);
    *shared = made;
  }
  *surface = *shared;
  return GRAZE_OK;
}

/* The core of a mesh is a box around it. */
static void fill_around(rigid_body *b) {
  graze_mesh_facts facts;
  graze_mesh_get_facts(b->surface->mesh, &facts);
  for (uint32_t i = 0; i < 24; i++) {
    const uint32_t k = i % 3;
    b->core.corners[i / 3][k] = (i / 3 >> k & 1 ? facts.box.max[k] : facts.box.min[k]) - b->surface->center[k];
  }
  b->reach = b->surface->reach;
  b->least = b->surface->thickness;
}

/* ---- what is said ------------------------------------------------------------------------------------------------ */

graze_status gz_rigid_check_shape(graze_context *context, const char *words, const graze_rigid_body_def *def) {
  const bool is_box = def->shape == GRAZE_RIGID_BOX;
  if (def->shape > GRAZE_RIGID_COMPOUND)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: there is no shape %d", words, (int)def->shape);
  if (def->shape == GRAZE_RIGID_HULL) {
    if (def->points != NULL && def->point_count > 0) return GRAZE_OK;
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: its hull has no points", words);
  }
  if (def->shape == GRAZE_RIGID_MESH) {
    if (def->mesh != NULL && graze_mesh_triangle_count(def->mesh) > 0) return GRAZE_OK;
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: its mesh has no triangles", words);
  }
  if (def->shape == GRAZE_RIGID_COMPOUND) return gz_rigid_check_parts(context, words, def);
  for (int k = 0; k < (is_box ? 3 : 1); k++) {
    const double x = is_box ? def->edges[k] : def->radius;
    if (!(isfinite(x) && x > 0))
      return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: its %s is %.17g: it must be finite and above 0", words,
                     is_box ? "edge" : "radius", x);
  }
  if (def->shape == GRAZE_RIGID_CYLINDER && !(isfinite(def->length) && def->length > 0))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: its length is %.17g: it must be finite and above 0", words,
                   def->length);
  if (def->shape == GRAZE_RIGID_CAPSULE && !(isfinite(def->length) && def->length >= 0))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: its length is %.17g: it must be finite and at least 0", words,
                   def->length);
  return GRAZE_OK;
}

void gz_rigid_set_shape(rigid_body *b, const graze_rigid_body_def *def) {
  b->shape = def->shape;
  if (b->shape == GRAZE_RIGID_SPHERE || b->shape == GRAZE_RIGID_CAPSULE) b->radius = def->radius;
  if (b->shape == GRAZE_RIGID_CYLINDER) b->edges[0] = def->radius;
  if (b->shape == GRAZE_RIGID_BOX) memcpy(b->edges, def->edges, sizeof b->edges);
  if (b->shape == GRAZE_RIGID_CAPSULE || b->shape == GRAZE_RIGID_CYLINDER) b->length = def->length;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

graze_status gz_rigid_find_mass(graze_context *context, const char *words, const graze_rigid_body_def *def,
                                const graze_hull *hull, double density, graze_mass *mass) {
  switch (def->shape) {
    case GRAZE_RIGID_SPHERE:
      return graze_sphere_get_mass(context, def->radius, density, mass);
    case GRAZE_RIGID_BOX:
      return graze_box_get_mass(context, def->edges, density, mass);
    case GRAZE_RIGID_CAPSULE:
      return graze_capsule_get_mass(context, def->radius, def->length, density, mass);
    case GRAZE_RIGID_CYLINDER:
      return graze_cylinder_get_mass(context, def->radius, def->length, density, mass);
    case GRAZE_RIGID_HULL:
      return weigh_hull(context, hull, density, mass);
    case GRAZE_RIGID_MESH:
      return graze_mesh_get_mass(context, def->mesh, density, mass);
    case GRAZE_RIGID_COMPOUND:
      return gz_rigid_weigh_parts(context, words, def, density, mass);
  }
  return gz_fail(context, GRAZE_ERROR_ARGUMENT, "there is no shape %d", (int)def->shape);
}

static void find_extent(rigid_body *b) {
  b->reach = b->radius;
  for (uint32_t i = 0; i < b->core.corner_count; i++)
    b->reach = fmax(b->reach, b->radius + length3(b->core.corners[i]));
  b->least = b->core.face_count > 0 ? (double)INFINITY : b->radius;
  for (uint32_t f = 0; f < b->core.face_count; f++) b->least = fmin(b->least, b->core.planes[f][3]);
}

bool gz_rigid_make_core(const graze_context *context, rigid_body *b, const graze_hull *hull, const double center[3]) {
  polytope *p = &b->core;
  if (hull != NULL) {
    if (!copy_hull(context, hull, center, p)) return false;
    find_extent(b);
    return true;
  }
  const bool is_box = b->shape == GRAZE_RIGID_BOX, is_mesh = b->shape == GRAZE_RIGID_MESH;
  double *numbers = gz_new_zeroed(context, 3 * 8 + 4 * 6, sizeof *numbers);
  if (numbers == NULL) return false;
  p->corners = (double(*)[3])numbers;
  p->planes = (double(*)[4])(numbers + 24);
  p->corner_count = is_box || is_mesh ? 8 : b->shape == GRAZE_RIGID_CAPSULE ? 2 : 1;
  p->face_count = is_box ? 6 : 0;
  p->edge_count = is_box ? 12 : 0;
  if (b->shape == GRAZE_RIGID_CAPSULE) {
    p->corners[0][2] = -0.5 * b->length;
    p->corners[1][2] = 0.5 * b->length;
  }
  if (is_box) fill_box(b);
  if (is_mesh)
    fill_around(b);
  else
    find_extent(b);
  return true;
}
