/* Objects of a simulation that are meshes, and how a motion file drives them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "simulate.h"

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

static simulate_mesh *new_mesh(simulate_run *run, const char *path, const graze_scene_file_object *box) {
  simulate_mesh *meshes = realloc(run->meshes, (run->mesh_count + 1) * sizeof *meshes);
  if (!meshes) fail_out_of_memory();
  run->meshes = meshes;
  meshes[run->mesh_count] = (simulate_mesh){.path = path, .box = box};
  return &meshes[run->mesh_count++];
}

/* Twelve triangles around the origin, that face outward. */
static const graze_mesh *make_box(simulate_run *run, const graze_scene_file_object *object) {
  static const uint32_t triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                         2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
  double corners[24];
  graze_mesh_def def = graze_default_mesh_def();
  for (int k = 0; k < 3; k++) {
    const double edge = object->edges[k];
    if (!(edge > 0))
      fail("%s: object '%s': \"box\" %c is %g: it must be above 0", run->asked->files.names[0], object->name, "xyz"[k],
           edge);
    for (int i = 0; i < 8; i++) corners[3 * i + k] = i >> k & 1 ? 0.5 * edge : -0.5 * edge;
  }
  def.vertices = corners;
  def.vertex_count = 8;
  def.indices = triangles;
  def.triangle_count = 12;
  def.precision = GRAZE_DOUBLE;
  simulate_mesh *made = new_mesh(run, NULL, object);
  must(run->session.context, graze_mesh_create(run->session.context, &def, &made->mesh));
  return made->mesh;
}

/* An object without triangles would let everything through. `kind` and `name`: of what has it. */
static const graze_mesh *read_mesh(simulate_run *run, const char *kind, const char *name, const char *path) {
  graze_geometry geometry;
  graze_mesh_def def = graze_default_mesh_def();
  must(run->session.context, graze_read_geometry(run->session.context, path, GRAZE_FORMAT_AUTO, 0, &geometry));
  if (geometry.triangle_count == 0)
    fail("%s: %s '%s': no triangles in %s", run->asked->files.names[0], kind, name, path);
  def.vertices = geometry.vertices;
  def.vertex_count = geometry.vertex_count;
  def.indices = geometry.indices;
  def.triangle_count = geometry.triangle_count;
  def.precision = GRAZE_DOUBLE;
  simulate_mesh *made = new_mesh(run, path, NULL);
  must(run->session.context, graze_mesh_create(run->session.context, &def, &made->mesh));
  graze_geometry_free(&geometry);
  return made->mesh;
}

static const graze_mesh *take_file(simulate_run *run, const char *kind, const char *name, const char *path) {
  for (uint32_t i = 0; i < run->mesh_count; i++) {
    if (run->meshes[i].path && strcmp(run->meshes[i].path, path) == 0) return run->meshes[i].mesh;
  }
  return read_mesh(run, kind, name, path);
}

const graze_mesh *simulate_take_file(simulate_run *run, const graze_scene_file_object *object) {
  return take_file(run, "object", object->name, object->mesh);
}

const graze_mesh *simulate_take_mesh(simulate_run *run, const graze_scene_file_object *object) {
  for (uint32_t i = 0; i < run->mesh_count && object->shape == GRAZE_SHAPE_BOX; i++) {
    if (run->meshes[i].box == object) return run->meshes[i].mesh;
  }
  return object->shape == GRAZE_SHAPE_BOX ? make_box(run, object) : simulate_take_file(run, object);
}

void simulate_find_shapes(simulate_run *run) {
  const graze_scene_file *file = &run->file;
  graze_track_set *set = run->balls.sets;
  for (uint32_t i = 0; i < run->balls.object_count; i++, set++) {
    const graze_scene_file_object *object = &file->objects[run->balls.objects[i]];
    if (object->draw && *object->draw) set->mesh = take_file(run, "object", object->name, object->draw);
  }
  for (uint32_t i = 0; i < file->particle_set_count; i++, set++) {
    const graze_scene_file_particles *particles = &file->particles[i];
    if (particles->draw && *particles->draw) set->mesh = take_file(run, "particles", particles->name, particles->draw);
  }
}

void simulate_free_meshes(simulate_run *run) {
  for (uint32_t i = 0; i < run->mesh_count; i++) graze_mesh_destroy(run->meshes[i].mesh);
  free(run->meshes);
}

/* ---- a drive ----------------------------------------------------------------------------------------------------- */

static void check_move(const simulate_run *run, const graze_motion_move *move) {
  const graze_scene_file_object *object = &run->file.objects[move->object];
  if (object->body.type != GRAZE_BODY_KINEMATIC)
    fail("--drive: %s: object '%s' is not kinematic", run->asked->drive, object->name);
  if (!simulate_is_turned(&move->pose))
    fail("--drive: %s: step %" PRIu32 ": the pose of '%s' is not a rotation and a place", run->asked->drive, move->step,
         object->name);
}

void simulate_drive_open(simulate_run *run) {
  const graze_scene_file *file = &run->file;
  const char **names = malloc((file->object_count + 1) * sizeof *names);
  if (!names) fail_out_of_memory();
  for (uint32_t i = 0; i < file->object_count; i++) names[i] = file->objects[i].name;
  must(run->session.context,
       graze_read_motion(run->session.context, run->asked->drive, names, file->object_count, &run->drive));
  free(names);
  if (run->drive.has_centers)
    fail("--drive: %s: what is driven turns about the origin of its frame: no cx, cy, cz", run->asked->drive);
  for (uint64_t i = 0; i < run->drive.count; i++) check_move(run, &run->drive.moves[i]);
}

/* a b, of quaternions. */
static void multiply(const double a[4], const double b[4], double out[4]) {
  out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/* The spin that turns `from` into `to` in a step, in which the library adds half the angle's vector to 1 and makes a
 * rotation of that: so the vector is that of its tangent. False: more than a quarter of a turn. */
static bool spin_between(const double from[4], const double to[4], double dt, double spin[3]) {
  const double back[4] = {from[0], -from[1], -from[2], -from[3]};
  double turn[4];
  multiply(to, back, turn);
  for (int k = 0; k < 3; k++) spin[k] = 2 * turn[k + 1] / turn[0] / dt;
  return turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3] <= 0.5000001;
}

/* The body's center as it will be at a pose. */
static void center_at(const graze_body_def *body, const graze_pose *pose, double center[3]) {
  const double *q = body->orientation, w = q[0], x = q[1], y = q[2], z = q[3];
  const double now[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                         2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                         2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  double own[3];
  for (int k = 0; k < 3; k++) {
    own[k] = 0;
    for (int i = 0; i < 3; i++) own[k] += now[3 * i + k] * (body->center[i] - body->position[i]);
  }
  for (int k = 0; k < 3; k++) {
    const double *row = pose->m + 4 * k;
    center[k] = row[3] + row[0] * own[0] + row[1] * own[1] + row[2] * own[2];
  }
}

static void drive_to(simulate_run *run, uint32_t object, const graze_pose *pose) {
  graze_body_def body;
  double center[3], orientation[4], velocity[3], spin[3];
  simulate_get_body(run, object, &body);
  center_at(&body, pose, center);
  simulate_find_quaternion(pose->m, orientation);
  for (int k = 0; k < 3; k++) velocity[k] = (center[k] - body.center[k]) / run->dt;
  if (!spin_between(body.orientation, orientation, run->dt, spin))
    fail("--drive: %s: '%s' turns by more than a quarter of a turn in step %" PRIu64, run->asked->drive, body.name,
         simulate_get_step(run) + 1);
  simulate_set_velocity(run, object, velocity, spin);
}

/* The first move of a step, or where it would be. */
static uint64_t find_step(const graze_motion *drive, uint64_t step) {
  uint64_t low = 0, high = drive->count;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (drive->moves[middle].step < step)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* What moved in the step before and has no row for this one stands still. */
void simulate_drive(simulate_run *run) {
  static const double still[3] = {0, 0, 0};
  const graze_motion *drive = &run->drive;
  const uint64_t step = simulate_get_step(run);
  for (uint64_t i = find_step(drive, step); i < drive->count && drive->moves[i].step == step; i++)
    simulate_set_velocity(run, drive->moves[i].object, still, still);
  for (uint64_t i = find_step(drive, step + 1); i < drive->count && drive->moves[i].step == step + 1; i++)
    drive_to(run, drive->moves[i].object, &drive->moves[i].pose);
}
