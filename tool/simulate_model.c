/* A world of balls or one of rigid bodies: what both can do, and the tool asks of either. */
#include "diagnostics.h"
#include "simulate.h"

uint64_t simulate_get_step(const simulate_run *run) {
  return run->rigid ? graze_rigid_get_step(run->rigid) : graze_world_get_step(run->world);
}

double simulate_get_time(const simulate_run *run) {
  return run->rigid ? graze_rigid_get_time(run->rigid) : graze_world_get_time(run->world);
}

uint64_t simulate_get_hash(const simulate_run *run) {
  return run->rigid ? graze_rigid_get_hash(run->rigid) : graze_world_get_hash(run->world);
}

void simulate_get_body(const simulate_run *run, uint32_t object, graze_body_def *body) {
  graze_rigid_body_def rigid;
  if (!run->rigid) {
    must(run->session.context, graze_world_get_body(run->world, run->bodies[object], body));
    return;
  }
  must(run->session.context, graze_rigid_get_body(run->rigid, object, &rigid));
  *body = graze_default_body_def();
  body->name = rigid.name;
  body->type = rigid.type;
  for (int k = 0; k < 4; k++) body->orientation[k] = rigid.orientation[k];
  body->mesh = rigid.mesh;
  const graze_pose turn = graze_pose_from_quaternion(rigid.orientation, (const double[3]){0, 0, 0});
  for (int k = 0; k < 3; k++) {
    const double *row = turn.m + 4 * k, *center = run->centers[object];
    body->center[k] = rigid.position[k];
    body->position[k] = rigid.position[k] - (row[0] * center[0] + row[1] * center[1] + row[2] * center[2]);
    body->velocity[k] = rigid.velocity[k];
    body->spin[k] = rigid.spin[k];
  }
}

void simulate_set_velocity(const simulate_run *run, uint32_t object, const double velocity[3], const double spin[3]) {
  simulate_must(run, run->rigid ? graze_rigid_set_velocity(run->rigid, object, velocity, spin)
                                : graze_world_set_velocity(run->world, run->bodies[object], velocity, spin));
}

void simulate_get_sums(simulate_run *run, graze_world_sums *sums) {
  simulate_must(run, run->rigid ? graze_rigid_get_sums(run->rigid, sums) : graze_world_get_sums(run->world, sums));
}

void simulate_get_events(const simulate_run *run, const graze_contact_event **events, uint64_t *count) {
  simulate_must(run, run->rigid ? graze_rigid_get_events(run->rigid, events, count)
                                : graze_world_get_events(run->world, events, count));
}

void simulate_find_left(simulate_run *run) {
  simulate_must(run, run->rigid ? graze_rigid_find_left(run->rigid, &run->left, &run->end.left)
                                : graze_world_find_left(run->world, &run->left, &run->end.left));
}

graze_status simulate_step(simulate_run *run, uint64_t steps, graze_progress_function progress) {
  return run->rigid ? graze_rigid_step(run->rigid, run->dt, steps, progress, run)
                    : graze_world_step(run->world, run->dt, steps, progress, run);
}

graze_status simulate_save(simulate_run *run, const char *path) {
  return run->rigid ? graze_rigid_save(run->rigid, path) : graze_world_save(run->world, path);
}

graze_status simulate_restore(simulate_run *run, const char *path) {
  return run->rigid ? graze_rigid_restore(run->rigid, path) : graze_world_restore(run->world, path);
}

uint32_t simulate_get_wall_count(const simulate_run *run) {
  return run->rigid ? graze_rigid_get_wall_count(run->rigid) : graze_world_get_wall_count(run->world);
}

void simulate_get_wall(const simulate_run *run, uint32_t wall, double point[3], double normal[3]) {
  must(run->session.context, run->rigid ? graze_rigid_get_wall(run->rigid, wall, point, normal)
                                        : graze_world_get_wall(run->world, wall, point, normal));
}
