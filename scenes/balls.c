/* Balls to be set in motion. Everything is measured in balls: diameter and mass are 1 and so are their units, with a
 * stiffness that gravity presses in by a ten-thousandth. Only + - * / and sqrt are used, so that bytes are the same
 * everywhere.
 *
 *   bed     a lattice, jittered by a twenty-fifth, above a floor between four walls: it falls and comes to rest. The
 *           input of bench/README.md's comparisons: stiffness, damping (restitution 0.7) and friction are theirs.
 *   gas     elastic balls on a jittered lattice in a periodic box, each with a velocity of its own; what they have in
 *           common is taken off, so that the momentum is 0.
 *   cradle  balls in a row, `gap` apart; one comes from the left and pushes the last one off. */
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "scenes.h"

static const scenes_ball_kind_facts kinds[SCENES_BALL_KINDS] = {
    {"bed", "balls that fall into a heap between four walls", "number of balls", 1024, 10000000, false, true, 0},
    {"gas", "elastic balls that fly about in a periodic box", "number of balls", 1000, 10000000, false, true, 0},
    {"cradle", "balls in a row, and one that hits them", "number of balls", 5, 1000, true, false, 0.015625},
};

const scenes_ball_kind_facts *scenes_ball_kind_describe(scenes_ball_kind kind) {
  return &kinds[kind];
}

bool scenes_ball_kind_named(const char *name, scenes_ball_kind *kind) {
  for (int k = 0; k < SCENES_BALL_KINDS; k++) {
    if (strcmp(kinds[k].name, name) != 0) continue;
    *kind = (scenes_ball_kind)k;
    return true;
  }
  return false;
}

/* The whole number nearest to the cube root, at least `least`. */
static uint32_t nearest_root(uint32_t count, uint32_t least) {
  uint64_t c = least;
  while ((2 * c + 1) * (2 * c + 1) * (2 * c + 1) < 8 * (uint64_t)count) c++;
  return (uint32_t)c;
}

static bool allocate(scenes_balls *balls) {
  balls->positions = malloc(3 * (size_t)balls->count * sizeof *balls->positions);
  balls->velocities = calloc(3 * (size_t)balls->count, sizeof *balls->velocities);
  return balls->positions && balls->velocities;
}

static void add_wall(scenes_balls *balls, int axis, double place, double direction) {
  scenes_wall *wall = &balls->walls[balls->wall_count++];
  wall->point[axis] = place;
  wall->normal[axis] = direction;
}

/* ---- bed --------------------------------------------------------------------------------------------------------- */

static void make_bed(scenes_balls *balls, random_stream *stream) {
  const double spacing = 1.1;
  const uint32_t side = nearest_root(balls->count, 2);
  const double width = side * spacing + 0.1;
  for (uint32_t i = 0; i < balls->count; i++) {
    const double cell[3] = {i % side, i / side % side, i / (side * side)};
    for (size_t k = 0; k < 3; k++) {
      double jitter = 0.08 * (stream_unit(stream) - 0.5);
      balls->positions[3 * (size_t)i + k] = 0.6 + cell[k] * spacing + jitter;
    }
  }
  for (int axis = 0; axis < 2; axis++) {
    add_wall(balls, axis, 0, 1);
    add_wall(balls, axis, width, -1);
  }
  add_wall(balls, 2, 0, 1);
  balls->gravity[2] = -9.81;
  balls->gamma_n = 100.9;
  balls->gamma_t = 50.45;
  balls->friction = 0.5;
}

/* ---- gas --------------------------------------------------------------------------------------------------------- */

static void stop_drift(scenes_balls *balls) {
  for (size_t k = 0; k < 3; k++) {
    double sum = 0;
    for (size_t i = 0; i < balls->count; i++) sum += balls->velocities[3 * i + k];
    for (size_t i = 0; i < balls->count; i++) balls->velocities[3 * i + k] -= sum / balls->count;
  }
}

static void make_gas(scenes_balls *balls, random_stream *stream) {
  const double spacing = 1.5;
  uint32_t side = nearest_root(balls->count, 3);
  while ((uint64_t)side * side * side < balls->count) side++;
  for (uint32_t i = 0; i < balls->count; i++) {
    const double cell[3] = {i % side, i / side % side, i / (side * side)};
    for (size_t k = 0; k < 3; k++) {
      balls->positions[3 * (size_t)i + k] = (cell[k] + 0.5) * spacing + stream_between(stream, -0.2, 0.2);
      balls->velocities[3 * (size_t)i + k] = stream_between(stream, -1, 1);
    }
  }
  stop_drift(balls);
  balls->periodic = true;
  for (int k = 0; k < 3; k++) balls->high[k] = side * spacing;
}

/* ---- cradle ------------------------------------------------------------------------------------------------------ */

/* The first ball starts two diameters off. */
static void make_cradle(scenes_balls *balls, double gap) {
  memset(balls->positions, 0, 3 * (size_t)balls->count * sizeof *balls->positions);
  for (size_t i = 0; i < balls->count; i++) balls->positions[3 * i] = (double)i * (1 + gap) - (i == 0 ? 1 : 0);
  balls->velocities[0] = 1;
  balls->named = true;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

bool scenes_balls_make(scenes_ball_kind kind, uint32_t count, uint64_t seed, double gap, scenes_balls *balls) {
  *balls = (scenes_balls){.kind = kind, .count = count, .radius = 0.5, .mass = 1, .k_n = 1e5};
  if (!allocate(balls)) {
    scenes_balls_free(balls);
    return false;
  }
  random_stream stream = {UINT64_C(0xDE0000) + count + (seed - 1) * UINT64_C(0xD1342543DE82EF95)};
  if (kind == SCENES_BALLS_BED) make_bed(balls, &stream);
  if (kind == SCENES_BALLS_GAS) make_gas(balls, &stream);
  if (kind == SCENES_BALLS_CRADLE) make_cradle(balls, gap);
  return true;
}

void scenes_balls_free(scenes_balls *balls) {
  free(balls->positions);
  free(balls->velocities);
  *balls = (scenes_balls){0};
}
