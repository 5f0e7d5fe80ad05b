/* Balls to be set in motion. Everything is measured in balls: diameter and mass are 1 and so are their units, with a
 * stiffness that gravity presses in by a ten-thousandth. Only + - * / and sqrt are used, so that bytes are the same
 * everywhere.
 *
 *   bed     a lattice, jittered by a twenty-fifth, above a floor between four walls: it falls and comes to rest. The
 *           input of bench/README.md's comparisons: stiffness, damping (restitution 0.7) and friction are theirs.
 *   gas     elastic balls on a jittered lattice in a periodic box, each with a velocity of its own; what they have in
 *           common is taken off, so that the momentum is 0.
 *   cradle  balls in a row, `gap` apart; one comes from the left and pushes the last one off.
 *   mixed   the lattice of the bed, of radii from a tenth of the largest up: masses differ by a thousand.
 *   heap    a column that collapses on a floor of triangles.
 *   hourglass  grains above the neck of a mesh, seven diameters wide.
 *   drum    two sizes in a mesh that turns about y, the small ones half as wide.
 *
 * But the explosion is in metres and kilograms: a forklift of sheet steel, a millimetre thick, over the ground, that a
 * blast tears into its triangles. Each is a ball of its mass and volume at its centre. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "circle.h"
#include "kinds.h"
#include "random.h"
#include "scenes.h"

static const scenes_ball_kind_facts kinds[SCENES_BALL_KINDS] = {
    {"bed", "balls that fall into a heap between four walls", "number of balls", 1024, 10000000, false, true, 0, NULL},
    {"gas", "elastic balls that fly about in a periodic box", "number of balls", 1000, 10000000, false, true, 0, NULL},
    {"cradle", "balls in a row, and one that hits them", "number of balls", 5, 1000, true, false, 0.015625, NULL},
    {"mixed", "balls of many sizes that fall between four walls", "number of balls", 1024, 10000000, false, true, 0,
     NULL},
    {"heap", "a column that collapses into a heap on a mesh", "number of balls", 1000, 10000000, false, true, 0, NULL},
    {"hourglass", "grains that run through the neck of a mesh", "number of balls", 2000, 10000000, false, true, 0,
     NULL},
    {"drum", "grains of two sizes in a mesh that turns", "number of balls", 2000, 10000000, false, true, 0, NULL},
    {"debris", "the fragments of the forklift as balls, and a blast", "tessellation level", 1, 100, false, false, 0,
     "explosion"},
};

const scenes_ball_kind_facts *scenes_ball_kind_describe(scenes_ball_kind kind) {
  return &kinds[kind];
}

bool scenes_ball_kind_named(const char *name, scenes_ball_kind *kind) {
  for (int k = 0; k < SCENES_BALL_KINDS; k++) {
    if (kinds[k].of_scene != NULL || strcmp(kinds[k].name, name) != 0) continue;
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
  if (balls->kind == SCENES_BALLS_MIXED) balls->radii = malloc(balls->count * sizeof *balls->radii);
  if (balls->kind == SCENES_BALLS_MIXED && !balls->radii) return false;
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

/* ---- mixed ------------------------------------------------------------------------------------------------------- */

static const double unit_density = 1.909859317102744; /* a ball of diameter 1 has mass 1 */

static void set_grains(scenes_balls *balls) {
  balls->gravity[2] = -9.81;
  balls->mass = 0;
  balls->density = unit_density;
  balls->gamma_n = balls->gamma_t = 0;
  balls->restitution = 0.5;
  balls->friction = 0.5;
}

static void make_mixed(scenes_balls *balls, random_stream *stream) {
  make_bed(balls, stream);
  set_grains(balls);
  for (uint32_t i = 0; i < balls->count; i++) balls->radii[i] = 0.5 / (1 + 9 * stream_unit(stream));
  balls->sets[0].radius = 0;
}

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

enum { SECTORS = 64 };

/* A point of a profile: distance from the axis, and place along it. */
typedef struct profile_point {
  double radius, along;
} profile_point;

static void add_triangle(scenes_ball_mesh *mesh, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t *corners = mesh->triangles + 3 * (size_t)mesh->triangle_count++;
  corners[0] = a;
  corners[1] = b;
  corners[2] = c;
}

static bool reserve_mesh(scenes_ball_mesh *mesh, size_t vertices, size_t triangles) {
  mesh->vertices = malloc(3 * vertices * sizeof *mesh->vertices);
  mesh->triangles = malloc(3 * triangles * sizeof *mesh->triangles);
  return mesh->vertices && mesh->triangles;
}

/* A profile turned about an axis, closed at both ends, where its radius is 0. The triangles face away from it. */
static bool make_revolved(scenes_ball_mesh *mesh, const profile_point *profile, uint32_t count, int axis) {
  const int x = (axis + 1) % 3, y = (axis + 2) % 3;
  if (!reserve_mesh(mesh, (size_t)count * SECTORS, (size_t)2 * count * SECTORS)) return false;
  for (uint32_t i = 0; i < count; i++) {
    const bool is_end = profile[i].radius == 0;
    for (uint32_t s = 0; s < (is_end ? 1 : SECTORS); s++) {
      double *corner = mesh->vertices + 3 * (size_t)mesh->vertex_count++, cosine, sine;
      circle_point(s, SECTORS, &cosine, &sine);
      corner[x] = profile[i].radius * cosine;
      corner[y] = profile[i].radius * sine;
      corner[axis] = profile[i].along;
    }
  }
  const uint32_t last = 1 + (count - 2) * SECTORS;
  for (uint32_t s = 0; s < SECTORS; s++) {
    const uint32_t next = (s + 1) % SECTORS;
    add_triangle(mesh, 0, 1 + next, 1 + s);
    for (uint32_t i = 0; i + 3 < count; i++) {
      const uint32_t ring = 1 + i * SECTORS;
      add_triangle(mesh, ring + s, ring + next, ring + SECTORS + next);
      add_triangle(mesh, ring + s, ring + SECTORS + next, ring + SECTORS + s);
    }
    add_triangle(mesh, last, last - SECTORS + s, last - SECTORS + next);
  }
  return true;
}

/* A square at z = 0, of cells with two triangles each. */
static bool make_floor(scenes_ball_mesh *mesh, double half, uint32_t cells) {
  if (!reserve_mesh(mesh, (size_t)(cells + 1) * (cells + 1), (size_t)2 * cells * cells)) return false;
  for (uint32_t j = 0; j <= cells; j++) {
    for (uint32_t i = 0; i <= cells; i++) {
      double *corner = mesh->vertices + 3 * (size_t)mesh->vertex_count++;
      corner[0] = half * (2.0 * i / cells - 1);
      corner[1] = half * (2.0 * j / cells - 1);
      corner[2] = 0;
    }
  }
  for (uint32_t j = 0; j < cells; j++) {
    for (uint32_t i = 0; i < cells; i++) {
      const uint32_t a = j * (cells + 1) + i, b = a + cells + 1;
      add_triangle(mesh, a, a + 1, b + 1);
      add_triangle(mesh, a, b + 1, b);
    }
  }
  return true;
}

/* ---- grains in meshes -------------------------------------------------------------------------------------------- */

static const double grain_spacing = 1.08;

static void put_grain(scenes_balls *balls, uint32_t i, random_stream *stream, double x, double y, double z) {
  const double at[3] = {x, y, z};
  for (size_t k = 0; k < 3; k++) balls->positions[3 * (size_t)i + k] = at[k] + 0.06 * (stream_unit(stream) - 0.5);
}

/* Layers of a lattice in a cylinder about z, from `low` up. */
static void fill_column(scenes_balls *balls, random_stream *stream, double radius, double low) {
  const int side = (int)(radius / grain_spacing) + 1;
  for (uint32_t i = 0, layer = 0; i < balls->count; layer++) {
    for (int b = -side; b <= side; b++) {
      for (int a = -side; a <= side && i < balls->count; a++) {
        const double x = a * grain_spacing, y = b * grain_spacing;
        if (x * x + y * y <= radius * radius) put_grain(balls, i++, stream, x, y, low + layer * grain_spacing);
      }
    }
  }
}

static bool make_heap(scenes_balls *balls, random_stream *stream) {
  const double radius = 0.6 * nearest_root(balls->count, 4);
  set_grains(balls);
  balls->rolling = 0.3;
  balls->mesh.name = "floor";
  fill_column(balls, stream, radius, 0.55);
  return make_floor(&balls->mesh, 4 * radius, 32);
}

/* The upper cone is half as steep again as a slope of one in one, so that nothing stays on it. */
static bool make_hourglass(scenes_balls *balls, random_stream *stream) {
  const double neck = 3.5, radius = neck + 0.5 * nearest_root(balls->count, 8), cone = 1.5 * (radius - neck);
  const double area = 3 * radius * radius / (grain_spacing * grain_spacing);
  const double high = cone + 4 + grain_spacing * balls->count / area;
  const profile_point profile[] = {{0, -high},     {radius, -high}, {radius, -cone}, {neck, 0},
                                   {radius, cone}, {radius, high},  {0, high}};
  set_grains(balls);
  balls->mesh.name = "glass";
  fill_column(balls, stream, radius - 0.7, cone + 0.7);
  return make_revolved(&balls->mesh, profile, sizeof profile / sizeof profile[0], 2);
}

/* Layers from below up to two fifths of the drum, the two sizes at random. */
static bool make_drum(scenes_balls *balls, random_stream *stream) {
  const double half = 3, radius = 3 + 0.45 * sqrt(balls->count), inside = radius - 0.7;
  const profile_point profile[] = {{0, -half}, {radius, -half}, {radius, half}, {0, half}};
  const uint32_t large = balls->count / 2;
  uint32_t next[2] = {0, large};
  set_grains(balls);
  balls->mesh.name = "drum";
  balls->mesh.spin[1] = 0.2;
  balls->set_count = 2;
  balls->sets[0] = (scenes_ball_set){"large", large, 0.5};
  balls->sets[1] = (scenes_ball_set){"small", balls->count - large, 0.25};
  const int side = (int)(inside / grain_spacing) + 1;
  for (int c = -side; next[0] < large || next[1] < balls->count; c++) {
    for (int a = -side; a <= side; a++) {
      for (int b = -2; b <= 2 && (next[0] < large || next[1] < balls->count); b++) {
        const double x = a * grain_spacing, y = b * grain_spacing, z = c * grain_spacing;
        if (x * x + z * z > inside * inside) continue;
        const bool small = next[0] == large || (next[1] < balls->count && stream_unit(stream) < 0.5);
        put_grain(balls, next[small]++, stream, x, y, z);
      }
    }
  }
  return make_revolved(&balls->mesh, profile, sizeof profile / sizeof profile[0], 1);
}

/* ---- explosion --------------------------------------------------------------------------------------------------- */

static bool make_explosion(scenes_balls *balls) {
  if (!scenes_make_fragments(balls->count, balls)) return false;
  add_wall(balls, 2, -0.03125, 1); /* lower than the wheels stand, since balls are thicker than sheets */
  balls->gravity[2] = -9.81;
  balls->k_n = 1e4;
  balls->restitution = 0.3;
  balls->friction = 0.5;
  balls->sets[0] = (scenes_ball_set){kinds[balls->kind].name, balls->count, 0};
  return true;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

bool scenes_balls_make(scenes_ball_kind kind, uint32_t count, uint64_t seed, double gap, scenes_balls *balls) {
  *balls = (scenes_balls){.kind = kind, .count = count, .radius = 0.5, .mass = 1, .k_n = 1e5, .set_count = 1};
  balls->sets[0] = (scenes_ball_set){kinds[kind].name, count, 0.5};
  if (!(kind == SCENES_BALLS_EXPLOSION ? make_explosion(balls) : allocate(balls))) {
    scenes_balls_free(balls);
    return false;
  }
  random_stream stream = {UINT64_C(0xDE0000) + count + (seed - 1) * UINT64_C(0xD1342543DE82EF95)};
  if (kind == SCENES_BALLS_BED) make_bed(balls, &stream);
  if (kind == SCENES_BALLS_GAS) make_gas(balls, &stream);
  if (kind == SCENES_BALLS_CRADLE) make_cradle(balls, gap);
  if (kind == SCENES_BALLS_MIXED) make_mixed(balls, &stream);
  bool made = true;
  if (kind == SCENES_BALLS_HEAP) made = make_heap(balls, &stream);
  if (kind == SCENES_BALLS_HOURGLASS) made = make_hourglass(balls, &stream);
  if (kind == SCENES_BALLS_DRUM) made = make_drum(balls, &stream);
  if (!made) scenes_balls_free(balls);
  return made;
}

void scenes_balls_free(scenes_balls *balls) {
  free(balls->positions);
  free(balls->velocities);
  free(balls->radii);
  free(balls->mesh.vertices);
  free(balls->mesh.triangles);
  *balls = (scenes_balls){0};
}
