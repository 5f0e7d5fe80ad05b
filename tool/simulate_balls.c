/* All balls of a world in arrays: what frames and films are made of. */
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "simulate.h"

/* An object that is a ball is a set of its own. */
static void list_sets(const simulate_run *run, simulate_balls *balls) {
  const graze_scene_file *file = &run->file;
  balls->sets = calloc((size_t)file->object_count + file->particle_set_count + 1, sizeof *balls->sets);
  balls->objects = calloc((size_t)file->object_count + 1, sizeof *balls->objects);
  if (!balls->sets || !balls->objects) fail_out_of_memory();
  for (uint32_t i = 0; i < file->object_count; i++) {
    const bool is_mesh = file->objects[i].shape == GRAZE_SHAPE_MESH;
    if (run->rigid ? is_mesh && file->objects[i].body.type != GRAZE_BODY_DYNAMIC
                   : file->objects[i].shape != GRAZE_SHAPE_SPHERE)
      continue;
    balls->objects[balls->object_count++] = i;
    balls->sets[balls->set_count++] = (graze_track_set){file->objects[i].name, 1, true, NULL};
  }
  for (uint32_t i = 0; i < file->particle_set_count; i++)
    balls->sets[balls->set_count++] =
        (graze_track_set){file->particles[i].name, graze_world_get_particle_count(run->world, i), false, NULL};
  for (uint32_t i = 0; i < balls->set_count; i++) balls->count += balls->sets[i].count;
}

static double *new_numbers(const simulate_balls *balls, size_t each) {
  double *numbers = malloc((each * (size_t)balls->count + 1) * sizeof *numbers);
  if (!numbers) fail_out_of_memory();
  return numbers;
}

void simulate_balls_list(const simulate_run *run, simulate_balls *balls) {
  *balls = (simulate_balls){0};
  list_sets(run, balls);
  balls->radii = new_numbers(balls, 1);
  balls->positions = new_numbers(balls, 3);
  balls->velocities = new_numbers(balls, 3);
  balls->spins = new_numbers(balls, 3);
  balls->orientations = new_numbers(balls, 4);
  for (uint64_t i = 0; i < 4 * balls->count; i++) balls->orientations[i] = i % 4 == 0;
  if (run->rigid) balls->middles = calloc(3 * (size_t)balls->count + 1, sizeof *balls->middles);
  if (run->rigid && !balls->middles) fail_out_of_memory();
  double *radii = balls->radii;
  for (uint32_t i = 0; i < balls->object_count; i++) *radii++ = run->file.objects[balls->objects[i]].radius;
  for (uint32_t i = 0; i < run->file.particle_set_count; i++) {
    must(run->session.context, graze_world_get_radii(run->world, i, radii));
    radii += graze_world_get_particle_count(run->world, i);
  }
}

/* To the middle of what is shown, from the centre of mass. */
static void shift(graze_body_def *body, const double middle[3]) {
  const graze_pose pose = graze_pose_from_quaternion(body->orientation, body->center);
  for (int k = 0; k < 3; k++) {
    const double *row = pose.m + 4 * k;
    body->position[k] = row[3] + row[0] * middle[0] + row[1] * middle[1] + row[2] * middle[2];
  }
}

void simulate_balls_take(const simulate_run *run, const simulate_balls *balls) {
  graze_particle_state at = {balls->positions, balls->velocities, balls->spins};
  for (uint32_t i = 0; i < balls->object_count; i++) {
    graze_body_def body;
    simulate_get_body(run, balls->objects[i], &body);
    if (balls->middles) shift(&body, balls->middles + 3 * (size_t)i);
    memcpy(balls->orientations + 4 * (size_t)i, body.orientation, sizeof body.orientation);
    for (int k = 0; k < 3; k++) {
      *at.positions++ = body.position[k];
      *at.velocities++ = body.velocity[k];
      *at.spins++ = body.spin[k];
    }
  }
  for (uint32_t i = 0; i < run->file.particle_set_count; i++) {
    const size_t numbers = 3 * (size_t)graze_world_get_particle_count(run->world, i);
    must(run->session.context, graze_world_get_particles(run->world, i, &at));
    at = (graze_particle_state){at.positions + numbers, at.velocities + numbers, at.spins + numbers};
  }
}

void simulate_balls_free(simulate_balls *balls) {
  free(balls->sets);
  free(balls->objects);
  free(balls->radii);
  free(balls->positions);
  free(balls->velocities);
  free(balls->spins);
  free(balls->orientations);
  free(balls->middles);
}
