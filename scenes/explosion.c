/* A forklift blown to pieces above a floor. Every triangle leaves outwards from the middle at a speed of its own,
 * tumbling, so that the debris is a soup without shared vertices that meets itself in many places; pieces that flew
 * downwards stick in the floor. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "builder.h"
#include "forklift.h"
#include "kinds.h"
#include "random.h"
#include "shapes.h"

static const double middle[3] = {-0.125, 0, 0.875};

static void throw_fragment(builder *debris, const scenes_mesh *model, uint64_t triangle, random_stream *random) {
  const double *corners[3];
  double centre[3] = {0, 0, 0}, rotation[9];
  for (int c = 0; c < 3; c++) {
    corners[c] = model->vertices + 3 * (uint64_t)model->indices[3 * triangle + c];
    for (int k = 0; k < 3; k++) centre[k] += corners[c][k] / 3;
  }
  stream_rotation(random, rotation);
  double flight = stream_between(random, 0.25, 2);
  uint32_t numbers[3];
  for (int c = 0; c < 3; c++) {
    double point[3];
    for (int k = 0; k < 3; k++) {
      const double *row = rotation + 3 * k;
      double turned = row[0] * (corners[c][0] - centre[0]) + row[1] * (corners[c][1] - centre[1]) +
                      row[2] * (corners[c][2] - centre[2]);
      point[k] = centre[k] + (centre[k] - middle[k]) * flight + turned;
    }
    numbers[c] = builder_vertex(debris, point);
  }
  builder_triangle(debris, numbers[0], numbers[1], numbers[2]);
}

static bool add_debris(const scenes_request *request, scenes_scene *scene) {
  builder model = {0}, debris = {0};
  random_stream random = {request->seed};
  scenes_scene holder = {0}; /* only so that the model is freed like any other */
  uint32_t mesh;
  forklift_build(&model, request->size);
  if (!scene_take_mesh(&holder, &model, "model", &mesh)) return false;
  uint64_t count = holder.meshes[0].triangle_count;
  builder_reserve(&debris, 3 * count, count);
  for (uint64_t t = 0; t < count; t++) throw_fragment(&debris, &holder.meshes[0], t, &random);
  scenes_free(&holder);
  return scene_take_mesh(scene, &debris, "debris", &mesh) &&
         scene_add_object(scene, "debris", "debris", mesh, identity_pose);
}

static bool add_floor(const scenes_request *request, scenes_scene *scene) {
  const double low[3] = {-6, -4, -0.25}, high[3] = {6, 4, 0};
  const uint32_t cuts[3] = {6 * request->size, 4 * request->size, 1};
  builder floor = {0};
  uint32_t mesh;
  shape_box(&floor, low, high, cuts);
  builder_weld(&floor);
  return scene_take_mesh(scene, &floor, "floor", &mesh) &&
         scene_add_object(scene, "floor", "building", mesh, identity_pose);
}

/* ---- as balls ---------------------------------------------------------------------------------------------------- */

/* Newton's iteration from above, so that only + - * / and sqrt are used. */
static double cube_root(double x) {
  double root = x < 1 ? sqrt(sqrt(x)) : x;
  for (int i = 0; i < 64; i++) root -= (root * root * root - x) / (3 * root * root);
  return root;
}

/* Of a ball with the volume of a triangle of sheet metal. */
static double fragment_radius(const double *const corners[3]) {
  const double thickness = 0.001, pi = 3.141592653589793;
  double u[3], v[3], twice2 = 0;
  for (int k = 0; k < 3; k++) u[k] = corners[1][k] - corners[0][k], v[k] = corners[2][k] - corners[0][k];
  for (int k = 0; k < 3; k++) {
    const int l = (k + 1) % 3, m = (k + 2) % 3;
    const double n = u[l] * v[m] - u[m] * v[l];
    twice2 += n * n;
  }
  return cube_root(0.75 / pi * thickness * (0.5 * sqrt(twice2)));
}

static void take_fragments(const scenes_mesh *model, scenes_balls *balls) {
  for (uint64_t t = 0; t < model->triangle_count; t++) {
    const double *corners[3];
    for (int c = 0; c < 3; c++) corners[c] = model->vertices + 3 * (uint64_t)model->indices[3 * t + (uint64_t)c];
    for (int k = 0; k < 3; k++)
      balls->positions[3 * t + (uint64_t)k] = (corners[0][k] + corners[1][k] + corners[2][k]) / 3;
    balls->radii[t] = fragment_radius(corners);
  }
}

bool scenes_make_fragments(uint32_t size, scenes_balls *balls) {
  builder model = {0};
  scenes_scene holder = {0};
  uint32_t mesh;
  forklift_build(&model, size);
  if (!scene_take_mesh(&holder, &model, "model", &mesh)) return false;
  const size_t count = (size_t)holder.meshes[0].triangle_count;
  balls->count = (uint32_t)count;
  balls->positions = malloc(3 * count * sizeof *balls->positions);
  balls->velocities = calloc(3 * count, sizeof *balls->velocities);
  balls->radii = malloc(count * sizeof *balls->radii);
  const bool good = balls->positions && balls->velocities && balls->radii;
  if (good) take_fragments(&holder.meshes[0], balls);
  scenes_free(&holder);
  balls->blast = (scenes_blast){.speed = {2, 15}, .spin = 50};
  for (int k = 0; k < 3; k++) balls->blast.center[k] = middle[k];
  balls->mass = 0;
  balls->density = 7850;
  return good;
}

/* ---- as meshes --------------------------------------------------------------------------------------------------- */

bool scenes_make_explosion(const scenes_request *request, scenes_scene *scene) {
  return add_debris(request, scene) && add_floor(request, scene);
}
