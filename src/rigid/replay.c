/* A record of rigid bodies run again: the world is made by the calls that made it, put into its state, and moved as it
 * was; after each step its hash is compared. */
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "rigid/record.h"

struct graze_rigid_replay {
  graze_context *context;
  archive_reader reader;
  graze_rigid *world;
  graze_mesh **meshes; /* of its bodies */
  uint32_t mesh_count;
  char *path;
  uint64_t steps; /* of the present call, to come */
  double dt;
  bool is_over;
};

/* ---- making the world -------------------------------------------------------------------------------------------- */

static double take_double(archive_reader *r) {
  double x;
  memcpy(&x, gz_archive_take(r, sizeof x), sizeof x);
  return x;
}

static void take_numbers(archive_reader *r, double *numbers, size_t count) {
  memcpy(numbers, gz_archive_take(r, count * sizeof *numbers), count * sizeof *numbers);
}

/* Of as many things that take at least so many bytes each; UINT64_MAX: more than the section has room for. */
static uint64_t take_count(archive_reader *r, size_t least) {
  uint64_t count = gz_archive_take_u64(r);
  return count <= (r->length - r->at) / least ? count : UINT64_MAX;
}

static graze_status take_def(archive_reader *r, graze_context *context, graze_rigid **world) {
  graze_rigid_def def = graze_default_rigid_def();
  if (gz_archive_take_u32(r) != RIGID_RECORD_VERSION) return gz_archive_error(r, "the record is of another version");
  take_numbers(r, def.gravity, 3);
  take_numbers(r, def.bounds.min, 3);
  take_numbers(r, def.bounds.max, 3);
  def.substeps = gz_archive_take_u32(r);
  def.push_speed = take_double(r);
  def.rebound = take_double(r);
  def.solver = (graze_rigid_solver)gz_archive_take_u32(r);
  def.sleep = gz_archive_take_u32(r) != 0;
  def.sleep_speed = take_double(r);
  def.events = gz_archive_take_u32(r) != 0;
  return graze_rigid_create(context, &def, world);
}

static graze_rigid_material take_material(archive_reader *r) {
  graze_rigid_material m = graze_default_rigid_material();
  m.friction = take_double(r);
  m.restitution = take_double(r);
  m.rolling = take_double(r);
  m.spinning = take_double(r);
  take_numbers(r, m.surface_speed, 3);
  return m;
}

static graze_status take_materials(archive_reader *r, graze_rigid *world) {
  graze_status status = GRAZE_OK;
  uint64_t count = take_count(r, 8);
  if (count == UINT64_MAX) return gz_archive_error(r, "more materials than the section has room for");
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    const graze_rigid_material m = take_material(r);
    uint32_t number;
    status = graze_rigid_add_material(world, &m, &number);
  }
  count = status == GRAZE_OK ? take_count(r, 8) : 0;
  if (count == UINT64_MAX) return gz_archive_error(r, "more pairs than the section has room for");
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    const uint32_t first = gz_archive_take_u32(r), second = gz_archive_take_u32(r);
    const graze_rigid_material m = take_material(r);
    status = graze_rigid_set_pair(world, first, second, &m);
  }
  return status;
}

static graze_status take_mesh(graze_rigid_replay *replay, graze_mesh **mesh) {
  archive_reader *r = &replay->reader;
  const uint64_t bytes = take_count(r, 1);
  if (bytes == UINT64_MAX) return gz_archive_error(r, "a mesh that the section has no room for");
  return graze_mesh_from_block(replay->context, gz_archive_take(r, bytes), bytes, mesh);
}

static graze_status take_meshes(graze_rigid_replay *replay) {
  graze_status status = GRAZE_OK;
  const uint64_t count = take_count(&replay->reader, 8);
  if (count == UINT64_MAX) return gz_archive_error(&replay->reader, "more meshes than the section has room for");
  replay->meshes = gz_new_zeroed(replay->context, count, sizeof *replay->meshes);
  if (replay->meshes == NULL) return gz_fail_memory(replay->context, count * sizeof *replay->meshes);
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    status = take_mesh(replay, &replay->meshes[i]);
    replay->mesh_count += status == GRAZE_OK;
  }
  return status;
}

/* What the shape is, by what was said of it. */
static void take_shape(archive_reader *r, graze_rigid_body_def *def) {
  double edges[3];
  def->radius = take_double(r);
  take_numbers(r, edges, 3);
  def->length = take_double(r);
  if (def->shape == GRAZE_RIGID_BOX) memcpy(def->edges, edges, sizeof def->edges);
  if (def->shape == GRAZE_RIGID_CYLINDER) def->radius = edges[0];
  def->mass = take_double(r);
  take_numbers(r, def->inertia, 6);
  if (def->type == GRAZE_BODY_DYNAMIC) return;
  def->mass = (double)NAN;
  def->inertia[0] = (double)NAN;
}

/* Points are copied, for the section need not be aligned; the copy is to be freed, whatever comes back. */
static graze_status take_points(graze_rigid_replay *replay, uint32_t count, double **points) {
  archive_reader *r = &replay->reader;
  const size_t bytes = 3 * (size_t)count * sizeof **points;
  *points = NULL;
  if (bytes > r->length - r->at) return gz_archive_error(r, "more points than the section has room for");
  *points = gz_new(replay->context, bytes + 1, 1);
  if (*points == NULL) return gz_fail_memory(replay->context, bytes);
  if (bytes > 0) memcpy(*points, gz_archive_take(r, bytes), bytes);
  return GRAZE_OK;
}

static graze_status take_part(graze_rigid_replay *replay, graze_rigid_part *part) {
  archive_reader *r = &replay->reader;
  double *points;
  *part = graze_default_rigid_part();
  part->shape = (graze_rigid_shape)gz_archive_take_u32(r);
  part->radius = take_double(r);
  take_numbers(r, part->edges, 3);
  part->length = take_double(r);
  part->density = take_double(r);
  take_numbers(r, part->place, 3);
  take_numbers(r, part->orientation, 4);
  part->point_count = gz_archive_take_u32(r);
  graze_status status = take_points(replay, part->point_count, &points);
  part->points = points;
  return status;
}

static void free_parts(graze_rigid_part *parts, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) gz_free((double *)(uintptr_t)parts[i].points);
  gz_free(parts);
}

/* To be freed, whatever comes back. */
static graze_status take_parts(graze_rigid_replay *replay, graze_rigid_part **parts, uint32_t *count) {
  const uint64_t most = (replay->reader.length - replay->reader.at) / 8;
  const uint32_t said = gz_archive_take_u32(&replay->reader);
  graze_status status = GRAZE_OK;
  if (said > most) return gz_archive_error(&replay->reader, "more parts than the section has room for");
  *parts = gz_new_zeroed(replay->context, said + (size_t)1, sizeof **parts);
  if (*parts == NULL) return gz_fail_memory(replay->context, said * sizeof **parts);
  for (*count = 0; status == GRAZE_OK && *count < said; ++*count) status = take_part(replay, &(*parts)[*count]);
  return status;
}

/* Where it is the state says. */
static graze_status take_body(graze_rigid_replay *replay) {
  archive_reader *r = &replay->reader;
  graze_rigid_body_def def = graze_default_rigid_body_def();
  graze_rigid_part *parts = NULL;
  double *points;
  uint32_t number, part_count = 0;
  def.name = gz_archive_take_text(r);
  if (def.name == NULL) return gz_archive_error(r, "no name of a body");
  const uint32_t type = gz_archive_take_u32(r);
  def.type = (graze_body_type)(type % RIGID_RECORD_SENSOR);
  def.sensor = type / RIGID_RECORD_SENSOR == 1;
  def.shape = (graze_rigid_shape)gz_archive_take_u32(r);
  def.material = gz_archive_take_u32(r);
  def.user_id = gz_archive_take_u64(r);
  take_shape(r, &def);
  def.linear_damping = take_double(r);
  def.angular_damping = take_double(r);
  def.point_count = gz_archive_take_u32(r);
  graze_status status = take_points(replay, def.point_count, &points);
  def.points = points;
  const uint32_t mesh = def.shape == GRAZE_RIGID_MESH ? gz_archive_take_u32(r) : 0;
  if (def.shape == GRAZE_RIGID_MESH) def.mesh = mesh < replay->mesh_count ? replay->meshes[mesh] : NULL;
  if (status == GRAZE_OK && def.shape == GRAZE_RIGID_COMPOUND) status = take_parts(replay, &parts, &part_count);
  def.parts = parts;
  def.part_count = part_count;
  if (status == GRAZE_OK) status = graze_rigid_add_body(replay->world, &def, &number);
  free_parts(parts, part_count);
  gz_free(points);
  return status;
}

static graze_status take_bodies(graze_rigid_replay *replay) {
  graze_status status = GRAZE_OK;
  const uint64_t count = take_count(&replay->reader, 8);
  if (count == UINT64_MAX) return gz_archive_error(&replay->reader, "more bodies than the section has room for");
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) status = take_body(replay);
  return status;
}

/* With the normal as the world has it, which may be another one when it is made a unit vector again. */
static graze_status take_walls(archive_reader *r, graze_rigid *world) {
  graze_status status = GRAZE_OK;
  const uint64_t count = take_count(r, 8);
  if (count == UINT64_MAX) return gz_archive_error(r, "more walls than the section has room for");
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    double point[3], normal[3];
    take_numbers(r, point, 3);
    take_numbers(r, normal, 3);
    status = graze_rigid_add_wall(world, point, normal, gz_archive_take_u32(r));
    if (status == GRAZE_OK) memcpy(RIGID_AT(world->walls, rigid_body, i)->rotation, normal, sizeof normal);
  }
  return status;
}

static graze_status take_joint(archive_reader *r, graze_rigid *world) {
  rigid_joint j = {.def = graze_default_joint_def()};
  graze_joint_def *def = &j.def;
  double *const numbers[] = {&def->limits[0], &def->limits[1],      &def->motor_speed, &def->motor_most,
                             &def->spring,    &def->spring_damping, &def->breaks_at};
  def->name = gz_archive_take_text(r);
  if (def->name == NULL) return gz_archive_error(r, "no name of a joint");
  def->type = (graze_joint_type)gz_archive_take_u32(r);
  def->a = gz_archive_take_u32(r);
  def->b = gz_archive_take_u32(r);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) *numbers[i] = take_double(r);
  take_numbers(r, j.own[0], 6);
  take_numbers(r, j.axis[0], 6);
  take_numbers(r, j.across[0], 6);
  take_numbers(r, j.rest, 4);
  j.length = take_double(r);
  return gz_rigid_adopt_joint(world, &j);
}

static graze_status take_joints(archive_reader *r, graze_rigid *world) {
  graze_status status = GRAZE_OK;
  const uint64_t count = take_count(r, 8);
  if (count == UINT64_MAX) return gz_archive_error(r, "more joints than the section has room for");
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) status = take_joint(r, world);
  if (status == GRAZE_OK && (r->overrun || r->at != r->length))
    return gz_archive_error(r, "the definition ends elsewhere");
  return status;
}

static graze_status make_world(graze_rigid_replay *replay) {
  archive_reader *r = &replay->reader;
  archive_type type;
  graze_status status = gz_archive_next(r, &type);
  if (status == GRAZE_OK && type != ARCHIVE_RIGID_DEFINITION)
    return gz_fail(replay->context, GRAZE_ERROR_UNSUPPORTED, "%s: no record of rigid bodies", replay->path);
  if (status == GRAZE_OK) status = take_def(r, replay->context, &replay->world);
  if (status == GRAZE_OK) status = take_materials(r, replay->world);
  if (status == GRAZE_OK) status = take_meshes(replay);
  if (status == GRAZE_OK) status = take_bodies(replay);
  if (status == GRAZE_OK) status = take_walls(r, replay->world);
  if (status == GRAZE_OK) status = take_joints(r, replay->world);
  if (status == GRAZE_OK) status = gz_archive_next(r, &type);
  if (status == GRAZE_OK && type != ARCHIVE_RIGID) status = gz_archive_error(r, "the state is missing");
  return status == GRAZE_OK ? gz_rigid_take_state(r, replay->world) : status;
}

graze_status graze_rigid_replay_open(graze_context *context, const char *path, graze_rigid_replay **replay) {
  if (context == NULL || path == NULL || replay == NULL) return gz_fail_null(context);
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return gz_file_error(context, path, "cannot open");
  graze_rigid_replay *made = gz_new_zeroed(context, 1, sizeof *made);
  char *copy = gz_new_text(context, path);
  if (made == NULL || copy == NULL) {
    gz_free(made);
    gz_free(copy);
    close(file);
    return gz_fail_memory(context, sizeof *made);
  }
  made->context = context;
  made->path = copy;
  const unsigned saved = gz_fp_enter();
  graze_status status = gz_archive_open(&made->reader, context, file, copy);
  if (status == GRAZE_OK) status = make_world(made);
  gz_fp_leave(saved);
  if (status != GRAZE_OK) {
    graze_rigid_replay_close(made);
    return status;
  }
  *replay = made;
  return GRAZE_OK;
}

void graze_rigid_replay_close(graze_rigid_replay *replay) {
  if (replay == NULL) return;
  graze_rigid_destroy(replay->world);
  for (uint32_t i = 0; i < replay->mesh_count; i++) graze_mesh_destroy(replay->meshes[i]);
  gz_free(replay->meshes);
  close(replay->reader.file);
  gz_archive_reader_release(&replay->reader);
  gz_free(replay->path);
  gz_free(replay);
}

graze_rigid *graze_rigid_replay_get_world(graze_rigid_replay *replay) {
  return replay != NULL ? replay->world : NULL;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static graze_status take_velocity(archive_reader *r, graze_rigid *world) {
  double velocity[3], spin[3];
  const uint32_t body = gz_archive_take_u32(r);
  take_numbers(r, velocity, 3);
  take_numbers(r, spin, 3);
  return graze_rigid_set_velocity(world, body, velocity, spin);
}

static graze_status take_steps(graze_rigid_replay *replay) {
  archive_reader *r = &replay->reader;
  replay->dt = take_double(r);
  replay->steps = take_count(r, sizeof(uint64_t));
  return replay->steps != UINT64_MAX ? GRAZE_OK : gz_archive_error(r, "more steps than the section has");
}

static graze_status take_call(graze_rigid_replay *replay) {
  archive_reader *r = &replay->reader;
  graze_status status;
  switch (gz_archive_take_u32(r)) {
    case RIGID_CALL_STEPS:
      status = take_steps(replay);
      break;
    case RIGID_CALL_VELOCITY:
      status = take_velocity(r, replay->world);
      break;
    case RIGID_CALL_WAKE:
      status = graze_rigid_wake(replay->world, gz_archive_take_u32(r));
      break;
    default:
      return gz_archive_error(r, "the number before this byte is no call");
  }
  return status == GRAZE_OK && r->overrun ? gz_archive_error(r, "the section ends within a call") : status;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Behind the end there is nothing. */
static graze_status end(graze_rigid_replay *replay) {
  const archive_reader *r = &replay->reader;
  if (r->length != 0 || r->offset != r->size) return gz_archive_error(r, "the record goes on behind its end");
  replay->is_over = true;
  return GRAZE_OK;
}

static graze_status take_section(graze_rigid_replay *replay) {
  archive_reader *r = &replay->reader;
  archive_type type;
  graze_status status = gz_archive_next(r, &type);
  if (status != GRAZE_OK) return status;
  switch (type) {
    case ARCHIVE_RIGID_RUN:
      return GRAZE_OK;
    case ARCHIVE_RIGID:
      status = gz_rigid_take_state(r, replay->world);
      r->at = r->length;
      return status;
    case ARCHIVE_RIGID_END:
      return end(replay);
    case ARCHIVE_END:
      r->start = r->offset;
      return gz_archive_error(r, "the record was cut off: its end is missing");
    default:
      return gz_archive_error(r, "not a part of a record of rigid bodies");
  }
}

static graze_status run_step(graze_rigid_replay *replay, graze_world_replay_step *step) {
  graze_status status = graze_rigid_step(replay->world, replay->dt, 1, NULL, NULL);
  if (status != GRAZE_OK) return status;
  replay->steps--;
  *step = (graze_world_replay_step){graze_rigid_get_step(replay->world), replay->dt, false, 0};
  step->hash = gz_archive_take_u64(&replay->reader);
  step->same = step->hash == graze_rigid_get_hash(replay->world);
  return GRAZE_OK;
}

graze_status graze_rigid_replay_next(graze_rigid_replay *replay, graze_world_replay_step *step) {
  if (replay == NULL || step == NULL) return gz_fail_null(replay != NULL ? replay->context : NULL);
  graze_status status = GRAZE_OK;
  while (status == GRAZE_OK && replay->steps == 0 && !replay->is_over)
    status = replay->reader.at < replay->reader.length ? take_call(replay) : take_section(replay);
  if (status == GRAZE_OK && !replay->is_over) return run_step(replay, step);
  *step = (graze_world_replay_step){0};
  return status;
}
