/* A thousand balls, or as many as is asked for, fall into a tray and come to rest. */
#include <graze/dynamics.h>
#include <stdio.h>
#include <stdlib.h>

enum { EDGE = 10, COUNT = EDGE * EDGE * EDGE };

static void place(double positions[3 * COUNT]) {
  for (int i = 0; i < COUNT; i++) {
    double *at = &positions[3 * i];
    at[0] = 0.011 * (i % EDGE) + 0.0002 * (i / 100 % 2);
    at[1] = 0.011 * (i / EDGE % EDGE) + 0.0002 * (i / 10 % 2);
    at[2] = 0.02 + 0.011 * (i / (EDGE * EDGE));
  }
}

/* A tray from -1 cm to 11 cm on both axes; lengths in metres, masses in kilograms. */
static graze_status build(graze_world *world, int count) {
  const double points[5][3] = {{0, 0, 0}, {-0.01, 0, 0}, {0.11, 0, 0}, {0, -0.01, 0}, {0, 0.11, 0}};
  const double normals[5][3] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
  static double positions[3 * COUNT];
  graze_material glass = graze_default_material();
  graze_particle_def balls = graze_default_particle_def();
  uint32_t material, set;
  glass.k_n = 1e4;
  glass.restitution = 0.6;
  glass.tangential = GRAZE_TANGENTIAL_DASHPOT;
  glass.friction = 0.3;
  graze_status status = graze_world_add_material(world, "glass", &glass, &material);
  for (int i = 0; i < 5 && status == GRAZE_OK; i++)
    status = graze_world_add_wall(world, points[i], normals[i], material);
  if (status != GRAZE_OK) return status;
  place(positions);
  balls.name = "balls";
  balls.count = (uint32_t)count;
  balls.positions = positions;
  balls.radius = 0.005;
  balls.density = 2500;
  balls.material = material;
  return graze_world_add_particles(world, &balls, &set);
}

int main(int argc, char **argv) {
  long count = argc > 1 ? strtol(argv[1], NULL, 10) : COUNT;
  graze_context *context = NULL;
  graze_world *world = NULL;
  graze_step_limits limits;
  graze_world_sums sums;
  graze_world_def def = graze_default_world_def();
  if (count < 1 || count > COUNT) {
    fprintf(stderr, "usage: falling_balls [balls, at most %d]\n", COUNT);
    return 2;
  }
  graze_status status = graze_context_create(NULL, &context);
  if (status == GRAZE_OK) status = graze_world_create(context, &def, &world);
  if (status == GRAZE_OK) status = build(world, (int)count);
  if (status == GRAZE_OK) status = graze_world_get_limits(world, &limits);
  for (int tenth = 0; tenth <= 5 && status == GRAZE_OK; tenth++) {
    double dt = limits.duration / 40;
    if (tenth > 0) status = graze_world_step(world, dt, (uint64_t)(0.1 / dt), NULL, NULL);
    if (status == GRAZE_OK) status = graze_world_get_sums(world, &sums);
    if (status == GRAZE_OK)
      printf("%.1f s: mean height %4.1f mm, %4llu contacts, kinetic energy %7.3f mJ\n", graze_world_get_time(world),
             1000 * sums.center[2], (unsigned long long)sums.contacts, 1000 * sums.kinetic);
  }
  if (status != GRAZE_OK) fprintf(stderr, "falling_balls: %s\n", graze_last_error(context)->message);
  graze_world_destroy(world);
  graze_context_destroy(context);
  return status == GRAZE_OK ? 0 : 3;
}
