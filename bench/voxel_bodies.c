#include "voxel_bodies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX

bool voxel_bodies_begin(voxel_bodies *v) {
  size_t cells = 1;
  for (int k = 0; k < 3; k++) {
    v->cells[k] = (uint32_t)ceil(v->high[k] / v->radius) + 2;
    cells *= v->cells[k];
  }
  v->places = malloc(cells * sizeof *v->places);
  v->forces = malloc(v->count * sizeof *v->forces);
  return v->places != NULL && v->forces != NULL;
}

void voxel_bodies_end(voxel_bodies *v) {
  free(v->places);
  free(v->forces);
}

/* The cube of a place; who is outside goes to one at the rim. */
static void find_cell(const voxel_bodies *v, const double at[3], int64_t cell[3]) {
  for (int k = 0; k < 3; k++) {
    const double g = floor(at[k] / v->radius) + 1, last = v->cells[k] - 1;
    cell[k] = (int64_t)(g < 0 ? 0 : g > last ? last : g);
  }
}

static size_t cell_number(const voxel_bodies *v, const int64_t cell[3]) {
  return ((size_t)cell[2] * v->cells[1] + (size_t)cell[1]) * v->cells[0] + (size_t)cell[0];
}

static void fill(voxel_bodies *v) {
  memset(v->places, 0xff, (size_t)v->cells[0] * v->cells[1] * v->cells[2] * sizeof *v->places);
  for (uint32_t i = 0; i < v->count; i++) {
    int64_t cell[3];
    find_cell(v, v->positions[i], cell);
    uint32_t *places = v->places[cell_number(v, cell)];
    for (int p = 0; p < VOXEL_PLACES; p++) {
      if (places[p] != NOBODY) continue;
      places[p] = i;
      break;
    }
  }
}

typedef void body_function(voxel_bodies *v, uint32_t i, uint32_t j, void *user);

/* Everybody else in the 27 cubes around body i. */
static void visit(voxel_bodies *v, uint32_t i, body_function *function, void *user) {
  int64_t own[3], cell[3];
  find_cell(v, v->positions[i], own);
  for (cell[2] = own[2] - 1; cell[2] <= own[2] + 1; cell[2]++) {
    for (cell[1] = own[1] - 1; cell[1] <= own[1] + 1; cell[1]++) {
      for (cell[0] = own[0] - 1; cell[0] <= own[0] + 1; cell[0]++) {
        bool inside = true;
        for (int k = 0; k < 3; k++) inside = inside && cell[k] >= 0 && cell[k] < v->cells[k];
        const uint32_t *places = inside ? v->places[cell_number(v, cell)] : NULL;
        for (int p = 0; inside && p < VOXEL_PLACES && places[p] != NOBODY; p++) {
          if (places[p] != i) function(v, i, places[p], user);
        }
      }
    }
  }
}

static double distance2_of(const voxel_bodies *v, uint32_t i, uint32_t j, double d[3]) {
  double sum = 0;
  for (int k = 0; k < 3; k++) {
    d[k] = v->positions[i][k] - v->positions[j][k];
    sum += d[k] * d[k];
  }
  return sum;
}

static void push(voxel_bodies *v, uint32_t i, uint32_t j, void *user) {
  double d[3], distance2 = distance2_of(v, i, j, d);
  (void)user;
  if (distance2 >= 4 * v->radius * v->radius || distance2 == 0) return;
  const double distance = sqrt(distance2), spring = v->stiffness * (2 * v->radius - distance) / distance;
  for (int k = 0; k < 3; k++)
    v->forces[i][k] += spring * d[k] + v->damping * (v->velocities[j][k] - v->velocities[i][k]);
}

/* Floor and sides, each like a body that has the same law and does not move. */
static void push_from_walls(voxel_bodies *v, uint32_t i) {
  for (int side = 0; side < 5; side++) {
    const int axis = side / 2;
    const double sign = side % 2 == 0 ? 1 : -1, at = v->positions[i][axis];
    const double overlap = v->radius - (side % 2 == 0 ? at : v->high[axis] - at);
    if (!(overlap > 0)) continue;
    v->forces[i][axis] += sign * v->stiffness * overlap;
    for (int k = 0; k < 3; k++) v->forces[i][k] -= 2 * v->damping * v->velocities[i][k];
  }
}

void voxel_bodies_step(voxel_bodies *v, double dt) {
  fill(v);
  for (uint32_t i = 0; i < v->count; i++) {
    memset(v->forces[i], 0, sizeof v->forces[i]);
    visit(v, i, push, NULL);
    push_from_walls(v, i);
  }
  for (uint32_t i = 0; i < v->count; i++) {
    for (int k = 0; k < 3; k++) {
      v->velocities[i][k] += dt * (v->forces[i][k] / v->mass + (k == 2 ? -v->gravity : 0));
      v->positions[i][k] += dt * v->velocities[i][k];
    }
  }
}

static void count_contact(voxel_bodies *v, uint32_t i, uint32_t j, void *user) {
  double d[3];
  if (i < j && distance2_of(v, i, j, d) <= 4 * v->radius * v->radius) ++*(uint64_t *)user;
}

uint64_t voxel_bodies_count(voxel_bodies *v) {
  uint64_t count = 0;
  fill(v);
  for (uint32_t i = 0; i < v->count; i++) visit(v, i, count_contact, &count);
  return count;
}
