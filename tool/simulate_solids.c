/* What rigid bodies look like in films: meshes of their shapes, each around the ball that the film has in its place. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "graze/convex.h"
#include "simulate.h"

enum { SIDES = 24, RINGS = 4 };

_Static_assert(SIMULATE_MOST_POINTS >= SIDES * 2 * (RINGS + 1) && SIMULATE_MOST_POINTS >= 256,
               "room for a capsule, a hull");

static const double pi = 3.14159265358979323846;

/* Rings of points around z: at heights, of radii. */
static uint32_t add_ring(double (*points)[3], uint32_t count, double radius, double height) {
  for (int i = 0; i < SIDES; i++) {
    points[count][0] = radius * cos(2 * pi * i / SIDES);
    points[count][1] = radius * sin(2 * pi * i / SIDES);
    points[count++][2] = height;
  }
  return count;
}

static uint32_t add_capsule(double (*points)[3], double radius, double length) {
  uint32_t count = 0;
  for (int end = -1; end <= 1; end += 2) {
    for (int ring = 0; ring <= RINGS; ring++) {
      const double angle = 0.5 * pi * ring / (RINGS + 0.5);
      count = add_ring(points, count, radius * cos(angle), end * (0.5 * length + radius * sin(angle)));
    }
  }
  return count;
}

/* Points whose hull is the shape, about the centre of mass. */
static uint32_t list_points(const graze_rigid_body_def *body, double (*points)[3]) {
  switch (body->shape) {
    case GRAZE_RIGID_BOX:
      for (int i = 0; i < 24; i++) points[i / 3][i % 3] = (i / 3 >> i % 3 & 1 ? 0.5 : -0.5) * body->edges[i % 3];
      return 8;
    case GRAZE_RIGID_CAPSULE:
      return add_capsule(points, body->radius, body->length);
    case GRAZE_RIGID_CYLINDER:
      return add_ring(points, add_ring(points, 0, body->radius, -0.5 * body->length), body->radius, 0.5 * body->length);
    case GRAZE_RIGID_HULL:
      memcpy(points, body->points, body->point_count * sizeof *points);
      return body->point_count;
    default:
      return 0;
  }
}

uint32_t simulate_list_points(const graze_rigid_body_def *body, double (*points)[3]) {
  return body->shape == GRAZE_RIGID_SPHERE ? add_capsule(points, body->radius, 0) : list_points(body, points);
}

/* The middle of the box of the points, and how far they reach from there: what films put in place of a ball. */
static double find_ball(double (*points)[3], uint32_t count, double middle[3]) {
  double most = 0;
  for (int k = 0; k < 3; k++) {
    double low = points[0][k], high = low;
    for (uint32_t i = 1; i < count; i++) {
      low = fmin(low, points[i][k]);
      high = fmax(high, points[i][k]);
    }
    middle[k] = 0.5 * (low + high);
  }
  for (uint32_t i = 0; i < count; i++) {
    double square = 0;
    for (int k = 0; k < 3; k++) square += (points[i][k] - middle[k]) * (points[i][k] - middle[k]);
    most = fmax(most, square);
  }
  return sqrt(most);
}

static graze_mesh *make_mesh(const simulate_run *run, double (*points)[3], uint32_t count) {
  graze_context *context = run->session.context;
  graze_mesh_def def = graze_default_mesh_def();
  graze_hull *hull;
  graze_mesh *mesh;
  must(context, graze_hull_create(context, count, points[0], &hull));
  def.vertices = hull->points;
  def.vertex_count = hull->vertex_count;
  def.indices = hull->triangles;
  def.triangle_count = hull->triangle_count;
  def.precision = GRAZE_DOUBLE;
  must(context, graze_mesh_create(context, &def, &mesh));
  graze_hull_destroy(hull);
  return mesh;
}

static bool parts_are_same(const graze_rigid_part *x, const graze_rigid_part *y) {
  return x->shape == y->shape && x->radius == y->radius && x->length == y->length &&
         memcmp(x->edges, y->edges, sizeof x->edges) == 0 && memcmp(x->place, y->place, sizeof x->place) == 0 &&
         memcmp(x->orientation, y->orientation, sizeof x->orientation) == 0 && x->point_count == y->point_count &&
         (x->point_count == 0 || memcmp(x->points, y->points, x->point_count * 3 * sizeof(double)) == 0);
}

bool simulate_compounds_are_same(const graze_rigid_body_def *x, const graze_rigid_body_def *y) {
  if (x->part_count != y->part_count) return false;
  if (x->part_count > 0 && memcmp(x->center, y->center, sizeof x->center) != 0) return false;
  for (uint32_t i = 0; i < x->part_count; i++) {
    if (!parts_are_same(&x->parts[i], &y->parts[i])) return false;
  }
  return true;
}

static void *grow(void *array, size_t count, size_t size) {
  void *grown = realloc(array, (count + 1) * size);
  if (!grown) fail_out_of_memory();
  return grown;
}

/* The faces of a part behind those that are there, about the centre of mass. */
static void add_part(const simulate_run *run, const graze_rigid_part *part, const double center[3],
                     simulate_polygons *to) {
  double points[SIMULATE_MOST_POINTS][3];
  graze_rigid_body_def body = graze_default_rigid_body_def();
  const graze_pose pose = graze_pose_from_quaternion(part->orientation, part->place);
  graze_hull *hull;
  body.shape = part->shape;
  body.radius = part->radius;
  body.length = part->length;
  memcpy(body.edges, part->edges, sizeof body.edges);
  const bool is_hull = part->shape == GRAZE_RIGID_HULL;
  const uint32_t count = is_hull ? part->point_count : simulate_list_points(&body, points);
  must(run->session.context, graze_hull_create(run->session.context, count, is_hull ? part->points : points[0], &hull));
  to->points = grow(to->points, to->point_count + hull->vertex_count, 3 * sizeof *to->points);
  to->corners = grow(to->corners, to->corner_count + hull->corner_count, sizeof *to->corners);
  to->ends = grow(to->ends, to->polygon_count + hull->face_count, sizeof *to->ends);
  for (uint32_t i = 0; i < hull->corner_count; i++)
    to->corners[to->corner_count + i] = to->point_count + hull->face_corners[i];
  for (uint32_t i = 0; i < hull->face_count; i++)
    to->ends[to->polygon_count++] = to->corner_count + hull->face_first[i + 1];
  for (uint32_t i = 0; i < hull->vertex_count; i++, to->point_count++) {
    double *at = to->points + 3 * (size_t)to->point_count;
    graze_pose_apply(&pose, hull->points + 3 * (size_t)i, at);
    for (int k = 0; k < 3; k++) at[k] -= center[k];
  }
  to->corner_count += hull->corner_count;
  graze_hull_destroy(hull);
}

void simulate_list_polygons(const simulate_run *run, const graze_rigid_body_def *body, simulate_polygons *polygons) {
  *polygons = (simulate_polygons){0};
  for (uint32_t i = 0; i < body->part_count; i++) add_part(run, &body->parts[i], body->center, polygons);
}

void simulate_free_polygons(simulate_polygons *polygons) {
  free(polygons->points);
  free(polygons->corners);
  free(polygons->ends);
}

static bool is_same(const graze_scene_file_object *x, const graze_scene_file_object *y) {
  return x->shape == y->shape && x->radius == y->radius && x->length == y->length &&
         memcmp(x->edges, y->edges, sizeof x->edges) == 0 && strcmp(x->mesh, y->mesh) == 0;
}

/* Objects of the same shape share their mesh. */
static const graze_mesh *take_mesh(simulate_run *run, const graze_scene_file_object *object, double (*points)[3],
                                   uint32_t count) {
  for (uint32_t i = 0; i < run->mesh_count; i++) {
    if (run->meshes[i].box && is_same(run->meshes[i].box, object)) return run->meshes[i].mesh;
  }
  simulate_mesh *meshes = realloc(run->meshes, (run->mesh_count + 1) * sizeof *meshes);
  if (!meshes) fail_out_of_memory();
  run->meshes = meshes;
  meshes[run->mesh_count] = (simulate_mesh){.box = object, .mesh = make_mesh(run, points, count)};
  return meshes[run->mesh_count++].mesh;
}

/* A mesh is drawn as it is. */
static void take_whole(simulate_run *run, uint32_t ball, const graze_rigid_body_def *body) {
  graze_mesh_facts facts;
  double middle[3], corners[9], most = 0;
  graze_mesh_get_facts(body->mesh, &facts);
  for (int k = 0; k < 3; k++) {
    middle[k] = 0.5 * (facts.box.min[k] + facts.box.max[k]);
    run->balls.middles[3 * (size_t)ball + (size_t)k] = middle[k] - run->centers[run->balls.objects[ball]][k];
  }
  for (uint32_t t = 0; t < facts.triangles; t++) {
    graze_mesh_get_triangle(body->mesh, t, corners);
    for (int i = 0; i < 9; i += 3) {
      double square = 0;
      for (int k = 0; k < 3; k++) square += (corners[i + k] - middle[k]) * (corners[i + k] - middle[k]);
      most = fmax(most, square);
    }
  }
  run->balls.radii[ball] = sqrt(most);
  run->balls.sets[ball].mesh = body->mesh;
}

/* Faces as fans. */
static graze_mesh *make_fans(const simulate_run *run, const simulate_polygons *polygons) {
  graze_context *context = run->session.context;
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh *mesh;
  uint32_t *triangles = grow(NULL, 3 * (size_t)polygons->corner_count, sizeof *triangles), count = 0, first = 0;
  for (uint32_t i = 0; i < polygons->polygon_count; first = polygons->ends[i++]) {
    for (uint32_t k = first + 1; k + 1 < polygons->ends[i]; k++) {
      triangles[count++] = polygons->corners[first];
      triangles[count++] = polygons->corners[k];
      triangles[count++] = polygons->corners[k + 1];
    }
  }
  def.vertices = polygons->points;
  def.vertex_count = polygons->point_count;
  def.indices = triangles;
  def.triangle_count = count / 3;
  def.precision = GRAZE_DOUBLE;
  must(context, graze_mesh_create(context, &def, &mesh));
  free(triangles);
  return mesh;
}

/* A compound is drawn as all of its parts. */
static void take_parts(simulate_run *run, uint32_t ball, const graze_rigid_body_def *body) {
  simulate_polygons polygons;
  simulate_list_polygons(run, body, &polygons);
  double *middle = run->balls.middles + 3 * (size_t)ball;
  run->balls.radii[ball] = find_ball((double(*)[3])(void *)polygons.points, polygons.point_count, middle);
  for (uint32_t i = 0; i < run->mesh_count && !run->balls.sets[ball].mesh; i++) {
    graze_rigid_body_def other;
    if (run->meshes[i].compound == 0) continue;
    must(run->session.context, graze_rigid_get_body(run->rigid, run->meshes[i].compound - 1, &other));
    if (simulate_compounds_are_same(body, &other)) run->balls.sets[ball].mesh = run->meshes[i].mesh;
  }
  if (!run->balls.sets[ball].mesh) {
    run->meshes = grow(run->meshes, run->mesh_count, sizeof *run->meshes);
    run->meshes[run->mesh_count] =
        (simulate_mesh){.compound = run->balls.objects[ball] + 1, .mesh = make_fans(run, &polygons)};
    run->balls.sets[ball].mesh = run->meshes[run->mesh_count++].mesh;
  }
  simulate_free_polygons(&polygons);
}

void simulate_find_solids(simulate_run *run) {
  double points[SIMULATE_MOST_POINTS][3];
  for (uint32_t i = 0; i < run->balls.object_count; i++) {
    graze_rigid_body_def body;
    const uint32_t object = run->balls.objects[i];
    must(run->session.context, graze_rigid_get_body(run->rigid, object, &body));
    if (body.shape == GRAZE_RIGID_MESH) {
      take_whole(run, i, &body);
      continue;
    }
    if (body.shape == GRAZE_RIGID_COMPOUND) {
      take_parts(run, i, &body);
      continue;
    }
    const uint32_t count = list_points(&body, points);
    if (count == 0) {
      run->balls.radii[i] = body.radius;
      continue;
    }
    run->balls.radii[i] = find_ball(points, count, run->balls.middles + 3 * (size_t)i);
    run->balls.sets[i].mesh = take_mesh(run, &run->file.objects[object], points, count);
  }
}
