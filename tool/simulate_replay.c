/* A recorded simulation runs again: no scene file is needed, since the record has the world. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "simulate.h"

/* What the run asks its scene file for the world answers; its names are the world's. */
static void list_bodies(simulate_run *run) {
  const uint32_t count = graze_world_get_body_count(run->world);
  run->file.objects = calloc((size_t)count + 1, sizeof *run->file.objects);
  run->bodies = calloc((size_t)count + 1, sizeof *run->bodies);
  if (!run->file.objects || !run->bodies) fail_out_of_memory();
  run->file.object_count = count;
  must(run->session.context, graze_world_list_bodies(run->world, run->bodies));
  for (uint32_t i = 0; i < count; i++) {
    graze_body_def body;
    must(run->session.context, graze_world_get_body(run->world, run->bodies[i], &body));
    run->file.objects[i] = (graze_scene_file_object){.name = (char *)(uintptr_t)body.name,
                                                     .shape = body.mesh ? GRAZE_SHAPE_MESH : GRAZE_SHAPE_SPHERE,
                                                     .radius = body.radius};
    run->types[body.type]++;
  }
}

static void list_sets(simulate_run *run) {
  const uint32_t count = graze_world_get_set_count(run->world);
  run->file.particles = calloc((size_t)count + 1, sizeof *run->file.particles);
  if (!run->file.particles) fail_out_of_memory();
  run->file.particle_set_count = count;
  for (uint32_t i = 0; i < count; i++) {
    run->file.particles[i].name = (char *)(uintptr_t)graze_world_get_set_name(run->world, i);
    run->particles += graze_world_get_particle_count(run->world, i);
  }
}

static void open_balls(simulate_run *run) {
  graze_world_def def;
  graze_status status = graze_world_replay_open(run->session.context, run->asked->replay, &run->replay);
  if (status != GRAZE_OK) session_fail(&run->session, "--replay", status);
  run->world = graze_world_replay_get_world(run->replay);
  must(run->session.context, graze_world_get_def(run->world, &def));
  run->no_events = !def.events;
  list_bodies(run);
  list_sets(run);
}

/* Of a hull the name stands for the file that it was made of: no two of them are taken for the same. */
static void list_rigid(simulate_run *run) {
  static const graze_shape shapes[] = {
      GRAZE_SHAPE_SPHERE, GRAZE_SHAPE_BOX,  GRAZE_SHAPE_CAPSULE, GRAZE_SHAPE_CYLINDER,
      GRAZE_SHAPE_HULL,   GRAZE_SHAPE_MESH, GRAZE_SHAPE_COMPOUND}; /* graze_rigid_shape */
  const uint32_t count = graze_rigid_get_body_count(run->rigid);
  run->file.objects = calloc((size_t)count + 1, sizeof *run->file.objects);
  run->centers = calloc((size_t)count + 1, sizeof *run->centers);
  if (!run->file.objects || !run->centers) fail_out_of_memory();
  run->file.object_count = count;
  for (uint32_t i = 0; i < count; i++) {
    graze_rigid_body_def body;
    graze_scene_file_object *object = &run->file.objects[i];
    must(run->session.context, graze_rigid_get_body(run->rigid, i, &body));
    *object = (graze_scene_file_object){.name = (char *)(uintptr_t)body.name,
                                        .mesh = (char *)(uintptr_t)(body.shape == GRAZE_RIGID_HULL ? body.name : ""),
                                        .shape = shapes[body.shape],
                                        .radius = body.radius,
                                        .length = body.length};
    object->body.type = body.type;
    memcpy(object->edges, body.edges, sizeof object->edges);
    memcpy(run->centers[i], body.center, sizeof body.center);
    run->types[body.type]++;
  }
}

static void open_rigid(simulate_run *run) {
  graze_rigid_def def;
  run->rigid = graze_rigid_replay_get_world(run->rigid_replay);
  must(run->session.context, graze_rigid_get_def(run->rigid, &def));
  run->no_events = !def.events;
  list_rigid(run);
}

void simulate_replay_open(simulate_run *run) {
  double start = clock_now();
  const char *path = run->asked->replay;
  graze_status status = graze_rigid_replay_open(run->session.context, path, &run->rigid_replay);
  if (status != GRAZE_OK && status != GRAZE_ERROR_UNSUPPORTED) session_fail(&run->session, "--replay", status);
  if (status == GRAZE_OK)
    open_rigid(run);
  else
    open_balls(run);
  if (run->no_events && run->events) fail("--events: the world of %s collects none", path);
  clock_add(&run->session.load_seconds, start);
}

void simulate_replay_free(simulate_run *run) {
  free(run->file.objects);
  free(run->bodies);
  free(run->centers);
  free(run->file.particles);
  simulate_free_meshes(run);
  graze_world_replay_close(run->replay);
  graze_rigid_replay_close(run->rigid_replay);
}

/* The first step that is not as recorded; bodies go on as they do here. */
static void compare(simulate_run *run, const graze_world_replay_step *step) {
  if (step->same || run->differs) return;
  run->differs = true;
  run->differs_at = step->number;
  note("step %" PRIu64 " is not as recorded: hash %016" PRIx64 ", in the file %016" PRIx64, step->number,
       simulate_get_hash(run), step->hash);
}

graze_status simulate_replay_steps(simulate_run *run, uint64_t most) {
  for (uint64_t i = 0; i < most; i++) {
    graze_world_replay_step step;
    if (interrupts_came()) return GRAZE_CANCELLED;
    graze_status status =
        run->rigid ? graze_rigid_replay_next(run->rigid_replay, &step) : graze_world_replay_next(run->replay, &step);
    if (status != GRAZE_OK) session_fail(&run->session, "--replay", status);
    if (step.number == 0) {
      run->steps = run->done;
      return GRAZE_OK;
    }
    run->done++;
    run->dt = step.dt;
    compare(run, &step);
    simulate_take_events(run);
  }
  return GRAZE_OK;
}
