/* Frames of rigid bodies for other programs: their states, and their surfaces as polygons, which are those of films.
 * Round ones have corners on the surface. docs/files.md describes the files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "graze/convex.h"
#include "simulate.h"
#include "vtk.h"

enum { BODY_NUMBERS = 13, NAME_UNIT = 8 };

/* Polygons about the centre of mass, and whose they are. */
typedef struct body_surface {
  graze_rigid_body_def body;
  double *points;
  uint32_t *corners, *ends; /* of each polygon, where the next one begins */
  uint32_t point_count, corner_count, polygon_count;
} body_surface;

struct simulate_bodies {
  const simulate_run *run;
  uint32_t count;
  body_surface *surfaces; /* that differ */
  uint32_t surface_count;
  uint32_t *surface_of; /* of each body */
  uint64_t points, polygons, corners;
  /* Of a frame: centres, then corners. */
  double *positions, *velocities, *spins, *orientations, *speeds;
  int32_t *bodies;
  int64_t *numbers, *polygon_corners, *polygon_ends;
};

static void *new_array(uint64_t count, size_t size) {
  void *array = calloc((size_t)count + 1, size);
  if (!array) fail_out_of_memory();
  return array;
}

/* ---- surfaces ---------------------------------------------------------------------------------------------------- */

static bool is_same(const graze_rigid_body_def *x, const graze_rigid_body_def *y) {
  return x->shape == y->shape && x->mesh == y->mesh && x->radius == y->radius && x->length == y->length &&
         memcmp(x->edges, y->edges, sizeof x->edges) == 0 && simulate_compounds_are_same(x, y) &&
         x->point_count == y->point_count &&
         (x->point_count == 0 || memcmp(x->points, y->points, x->point_count * 3 * sizeof(double)) == 0);
}

static void make_room(body_surface *s, uint32_t points, uint32_t corners, uint32_t polygons) {
  s->points = new_array(3 * (uint64_t)points, sizeof *s->points);
  s->corners = new_array(corners, sizeof *s->corners);
  s->ends = new_array(polygons, sizeof *s->ends);
  s->point_count = points;
  s->corner_count = corners;
  s->polygon_count = polygons;
}

static void take_parts(const simulate_run *run, body_surface *s) {
  simulate_polygons polygons;
  simulate_list_polygons(run, &s->body, &polygons);
  make_room(s, polygons.point_count, polygons.corner_count, polygons.polygon_count);
  memcpy(s->points, polygons.points, 3 * (size_t)s->point_count * sizeof *s->points);
  memcpy(s->corners, polygons.corners, s->corner_count * sizeof *s->corners);
  memcpy(s->ends, polygons.ends, s->polygon_count * sizeof *s->ends);
  simulate_free_polygons(&polygons);
}

static void take_hull(const simulate_run *run, body_surface *s) {
  double points[SIMULATE_MOST_POINTS][3];
  graze_hull *hull;
  must(run->session.context,
       graze_hull_create(run->session.context, simulate_list_points(&s->body, points), points[0], &hull));
  make_room(s, hull->vertex_count, hull->corner_count, hull->face_count);
  memcpy(s->points, hull->points, 3 * (size_t)s->point_count * sizeof *s->points);
  memcpy(s->corners, hull->face_corners, s->corner_count * sizeof *s->corners);
  memcpy(s->ends, hull->face_first + 1, s->polygon_count * sizeof *s->ends);
  graze_hull_destroy(hull);
}

/* A corner of a triangle. */
typedef struct mesh_corner {
  double at[3];
  uint32_t number; /* three times the triangle, and which of it */
} mesh_corner;

static int compare_corners(const void *x, const void *y) {
  const mesh_corner *a = x, *b = y;
  for (int k = 0; k < 3; k++) {
    if (a->at[k] != b->at[k]) return a->at[k] < b->at[k] ? -1 : 1;
  }
  return a->number < b->number ? -1 : a->number > b->number;
}

static mesh_corner *list_corners(const graze_mesh *mesh, const double center[3], uint32_t triangles) {
  mesh_corner *list = new_array(3 * (uint64_t)triangles, sizeof *list);
  for (uint32_t t = 0; t < triangles; t++) {
    double corners[9];
    graze_mesh_get_triangle(mesh, t, corners);
    for (uint32_t i = 0; i < 9; i++) list[3 * (size_t)t + i / 3].at[i % 3] = corners[i] - center[i % 3];
    for (uint32_t i = 0; i < 3; i++) list[3 * (size_t)t + i].number = 3 * t + i;
  }
  qsort(list, 3 * (size_t)triangles, sizeof *list, compare_corners);
  return list;
}

/* Triangles share the corners that are at one place. */
static void take_mesh(body_surface *s, const double center[3]) {
  const uint32_t triangles = (uint32_t)graze_mesh_triangle_count(s->body.mesh);
  mesh_corner *list = list_corners(s->body.mesh, center, triangles);
  make_room(s, 3 * triangles, 3 * triangles, triangles);
  s->point_count = 0;
  for (size_t i = 0; i < 3 * (size_t)triangles; i++) {
    if (i == 0 || memcmp(list[i].at, list[i - 1].at, sizeof list[i].at) != 0)
      memcpy(s->points + 3 * (size_t)s->point_count++, list[i].at, sizeof list[i].at);
    s->corners[list[i].number] = s->point_count - 1;
  }
  for (uint32_t t = 0; t < triangles; t++) s->ends[t] = 3 * (t + 1);
  free(list);
}

static uint32_t find_surface(simulate_bodies *bodies, const graze_rigid_body_def *body, const double center[3]) {
  for (uint32_t i = bodies->surface_count; i-- > 0;) {
    if (is_same(&bodies->surfaces[i].body, body)) return i;
  }
  body_surface *surfaces = realloc(bodies->surfaces, (bodies->surface_count + 1) * sizeof *surfaces);
  if (!surfaces) fail_out_of_memory();
  bodies->surfaces = surfaces;
  body_surface *made = &surfaces[bodies->surface_count];
  *made = (body_surface){.body = *body};
  if (body->mesh)
    take_mesh(made, center);
  else if (body->part_count > 0)
    take_parts(bodies->run, made);
  else
    take_hull(bodies->run, made);
  return bodies->surface_count++;
}

static const body_surface *surface_of(const simulate_bodies *bodies, uint32_t body) {
  return &bodies->surfaces[bodies->surface_of[body]];
}

/* Polygons are the same in all frames. */
static void list_polygons(simulate_bodies *bodies) {
  int64_t *corner = bodies->polygon_corners = new_array(bodies->corners, sizeof *corner);
  int64_t *end = bodies->polygon_ends = new_array(bodies->polygons, sizeof *end);
  int64_t first = bodies->count, ends = 0;
  for (uint32_t i = 0; i < bodies->count; i++) {
    const body_surface *s = surface_of(bodies, i);
    for (uint32_t k = 0; k < s->corner_count; k++) *corner++ = first + s->corners[k];
    for (uint32_t k = 0; k < s->polygon_count; k++) *end++ = ends + s->ends[k];
    first += s->point_count;
    ends += s->corner_count;
  }
}

static void make_arrays(simulate_bodies *bodies) {
  bodies->positions = new_array(3 * bodies->points, sizeof(double));
  bodies->velocities = new_array(3 * bodies->points, sizeof(double));
  bodies->spins = new_array(3 * bodies->points, sizeof(double));
  bodies->orientations = new_array(4 * bodies->points, sizeof(double));
  bodies->speeds = new_array(bodies->points, sizeof(double));
  bodies->bodies = new_array(bodies->points, sizeof(int32_t));
  bodies->numbers = new_array(bodies->count, sizeof(int64_t));
  for (uint32_t i = 0; i <= bodies->count; i++) bodies->numbers[i] = i;
}

simulate_bodies *simulate_bodies_open(const simulate_run *run, bool surfaces) {
  simulate_bodies *bodies = new_array(1, sizeof *bodies);
  bodies->run = run;
  bodies->count = run->file.object_count;
  bodies->points = bodies->count;
  if (!surfaces) return bodies;
  bodies->surface_of = new_array(bodies->count, sizeof *bodies->surface_of);
  for (uint32_t i = 0; i < bodies->count; i++) {
    graze_rigid_body_def body;
    must(run->session.context, graze_rigid_get_body(run->rigid, i, &body));
    bodies->surface_of[i] = find_surface(bodies, &body, run->centers[i]);
    const body_surface *s = surface_of(bodies, i);
    bodies->points += s->point_count;
    bodies->polygons += s->polygon_count;
    bodies->corners += s->corner_count;
  }
  list_polygons(bodies);
  make_arrays(bodies);
  return bodies;
}

void simulate_bodies_free(simulate_bodies *bodies) {
  if (!bodies) return;
  for (uint32_t i = 0; i < bodies->surface_count; i++) {
    free(bodies->surfaces[i].points);
    free(bodies->surfaces[i].corners);
    free(bodies->surfaces[i].ends);
  }
  free(bodies->surfaces);
  free(bodies->surface_of);
  free(bodies->positions);
  free(bodies->velocities);
  free(bodies->spins);
  free(bodies->orientations);
  free(bodies->speeds);
  free(bodies->bodies);
  free(bodies->numbers);
  free(bodies->polygon_corners);
  free(bodies->polygon_ends);
  free(bodies);
}

/* ---- VTK --------------------------------------------------------------------------------------------------------- */

/* A point that moves with its body. */
static void put_point(simulate_bodies *bodies, uint64_t to, uint32_t number, const graze_body_def *body,
                      const double at[3]) {
  const double arm[3] = {at[0] - body->center[0], at[1] - body->center[1], at[2] - body->center[2]};
  const double *w = body->spin;
  const double turn[3] = {w[1] * arm[2] - w[2] * arm[1], w[2] * arm[0] - w[0] * arm[2], w[0] * arm[1] - w[1] * arm[0]};
  double square = 0;
  for (int k = 0; k < 3; k++) {
    const double velocity = body->velocity[k] + turn[k];
    bodies->positions[3 * to + (uint64_t)k] = at[k];
    bodies->velocities[3 * to + (uint64_t)k] = velocity;
    bodies->spins[3 * to + (uint64_t)k] = body->spin[k];
    square += velocity * velocity;
  }
  memcpy(bodies->orientations + 4 * to, body->orientation, sizeof body->orientation);
  bodies->speeds[to] = sqrt(square);
  bodies->bodies[to] = (int32_t)number;
}

static void place_points(simulate_bodies *bodies) {
  uint64_t next = bodies->count;
  for (uint32_t i = 0; i < bodies->count; i++) {
    const body_surface *s = surface_of(bodies, i);
    graze_body_def body;
    simulate_get_body(bodies->run, i, &body);
    const graze_pose pose = graze_pose_from_quaternion(body.orientation, body.center);
    put_point(bodies, i, i, &body, body.center);
    for (uint32_t v = 0; v < s->point_count; v++) {
      double at[3];
      graze_pose_apply(&pose, s->points + 3 * (size_t)v, at);
      put_point(bodies, next++, i, &body, at);
    }
  }
}

void simulate_bodies_put_vtk(simulate_bodies *bodies, output *out, double time) {
  const size_t n = (size_t)bodies->points, number = n * sizeof(double);
  const vtk_array arrays[] = {{"body", "Int32", 1, bodies->bodies, n * sizeof(int32_t)},
                              {"velocity", "Float64", 3, bodies->velocities, 3 * number},
                              {"spin", "Float64", 3, bodies->spins, 3 * number},
                              {"orientation", "Float64", 4, bodies->orientations, 4 * number},
                              {"speed", "Float64", 1, bodies->speeds, number}};
  place_points(bodies);
  vtk_write(out, &(vtk_frame){.time = time,
                              .point_count = bodies->points,
                              .vert_count = bodies->count,
                              .polygon_count = bodies->polygons,
                              .corner_count = bodies->corners,
                              .points = bodies->positions,
                              .numbers = bodies->numbers,
                              .corners = bodies->polygon_corners,
                              .ends = bodies->polygon_ends,
                              .arrays = arrays,
                              .array_count = sizeof arrays / sizeof arrays[0]});
}

/* ---- one file ---------------------------------------------------------------------------------------------------- */

static void put_word(output *out, uint64_t word) {
  gz_put_bytes(out, &word, sizeof word);
}

/* As that of balls, each a set of its own, without radii. */
void simulate_bodies_put_head(const simulate_bodies *bodies, output *out) {
  static const char zeros[NAME_UNIT] = {0};
  gz_put_text(out, "GRZPOSES");
  put_word(out, bodies->count);
  put_word(out, bodies->count);
  for (uint32_t i = 0; i < bodies->count; i++) {
    const char *name = bodies->run->file.objects[i].name;
    const size_t length = strlen(name);
    put_word(out, 1);
    put_word(out, length);
    gz_put_bytes(out, name, length);
    gz_put_bytes(out, zeros, (NAME_UNIT - length % NAME_UNIT) % NAME_UNIT);
  }
}

void simulate_bodies_put_frame(const simulate_bodies *bodies, output *out, uint64_t step, double time) {
  put_word(out, step);
  gz_put_bytes(out, &time, sizeof time);
  for (uint32_t i = 0; i < bodies->count; i++) {
    double row[BODY_NUMBERS];
    graze_body_def body;
    simulate_get_body(bodies->run, i, &body);
    memcpy(row, body.center, 3 * sizeof *row);
    memcpy(row + 3, body.orientation, 4 * sizeof *row);
    memcpy(row + 7, body.velocity, 3 * sizeof *row);
    memcpy(row + 10, body.spin, 3 * sizeof *row);
    gz_put_bytes(out, row, sizeof row);
  }
}
