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
    const uint32_t count = list_points(&body, points);
    if (count == 0) {
      run->balls.radii[i] = body.radius;
      continue;
    }
    run->balls.radii[i] = find_ball(points, count, run->balls.middles + 3 * (size_t)i);
    run->balls.sets[i].mesh = take_mesh(run, &run->file.objects[object], points, count);
  }
}
