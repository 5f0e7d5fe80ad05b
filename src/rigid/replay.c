/* A record of rigid bodies run again: the world is made by the calls that made it, put into its state, and moved as it
 * was; after each step its hash is compared. */
#include <math.h>
#include <string.h>

#include "rigid/record.h"

struct graze_rigid_replay {
  run_replay run;
  graze_rigid *world;
};

/* ---- making the world -------------------------------------------------------------------------------------------- */

static graze_status take_def(archive_reader *r, graze_context *context, graze_rigid **world) {
  graze_rigid_def def = graze_default_rigid_def();
  if (gz_archive_take_u32(r) != RIGID_RECORD_VERSION) return gz_archive_error(r, "the record is of another version");
  gz_archive_take_doubles(r, def.gravity, 3);
  gz_archive_take_doubles(r, def.bounds.min, 3);
  gz_archive_take_doubles(r, def.bounds.max, 3);
  def.substeps = gz_archive_take_u32(r);
  def.push_speed = gz_archive_take_double(r);
  def.rebound = gz_archive_take_double(r);
  def.solver = (graze_rigid_solver)gz_archive_take_u32(r);
  def.sleep = gz_archive_take_u32(r) != 0;
  def.sleep_speed = gz_archive_take_double(r);
  def.events = gz_archive_take_u32(r) != 0;
  return graze_rigid_create(context, &def, world);
}

static graze_rigid_material take_material(archive_reader *r) {
  graze_rigid_material m = graze_default_rigid_material();
  m.friction = gz_archive_take_double(r);
  m.restitution = gz_archive_take_double(r);
  m.rolling = gz_archive_take_double(r);
  m.spinning = gz_archive_take_double(r);
  gz_archive_take_doubles(r, m.surface_speed, 3);
  return m;
}

static graze_status take_materials(archive_reader *r, graze_rigid *world) {
  graze_status status = GRAZE_OK;
  uint64_t count = gz_archive_take_count(r, 8);
  if (count == UINT64_MAX) return gz_archive_error(r, "more materials than the section has room for");
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    const graze_rigid_material m = take_material(r);
    uint32_t number;
    status = graze_rigid_add_material(world, &m, &number);
  }
  count = status == GRAZE_OK ? gz_archive_take_count(r, 8) : 0;
  if (count == UINT64_MAX) return gz_archive_error(r, "more pairs than the section has room for");
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    const uint32_t first = gz_archive_take_u32(r), second = gz_archive_take_u32(r);
    const graze_rigid_material m = take_material(r);
    status = graze_rigid_set_pair(world, first, second, &m);
  }
  return status;
}

/* What the shape is, by what was said of it. */
static void take_shape(archive_reader *r, graze_rigid_body_def *def) {
  double edges[3];
  def->radius = gz_archive_take_double(r);
  gz_archive_take_doubles(r, edges, 3);
  def->length = gz_archive_take_double(r);
  if (def->shape == GRAZE_RIGID_BOX) memcpy(def->edges, edges, sizeof def->edges);
  if (def->shape == GRAZE_RIGID_CYLINDER) def->radius = edges[0];
  def->mass = gz_archive_take_double(r);
  gz_archive_take_doubles(r, def->inertia, 6);
  if (def->type == GRAZE_BODY_DYNAMIC) return;
  def->mass = (double)NAN;
  def->inertia[0] = (double)NAN;
}

/* Points are copied, for the section need not be aligned; the copy is to be freed, whatever comes back. */
static graze_status take_points(graze_rigid_replay *replay, uint32_t count, double **points) {
  archive_reader *r = &replay->run.reader;
  const size_t bytes = 3 * (size_t)count * sizeof **points;
  *points = NULL;
  if (bytes > r->length - r->at) return gz_archive_error(r, "more points than the section has room for");
  *points = gz_new(replay->run.context, bytes + 1, 1);
  if (*points == NULL) return gz_fail_memory(replay->run.context, bytes);
  if (bytes > 0) memcpy(*points, gz_archive_take(r, bytes), bytes);
  return GRAZE_OK;
}

static graze_status take_part(graze_rigid_replay *replay, graze_rigid_part *part) {
  archive_reader *r = &replay->run.reader;
  double *points;
  *part = graze_default_rigid_part();
  part->shape = (graze_rigid_shape)gz_archive_take_u32(r);
  part->radius = gz_archive_take_double(r);
  gz_archive_take_doubles(r, part->edges, 3);
  part->length = gz_archive_take_double(r);
  part->density = gz_archive_take_double(r);
  gz_archive_take_doubles(r, part->place, 3);
  gz_archive_take_doubles(r, part->orientation, 4);
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
  const uint64_t most = (replay->run.reader.length - replay->run.reader.at) / 8;
  const uint32_t said = gz_archive_take_u32(&replay->run.reader);
  graze_status status = GRAZE_OK;
  if (said > most) return gz_archive_error(&replay->run.reader, "more parts than the section has room for");
  *parts = gz_new_zeroed(replay->run.context, said + (size_t)1, sizeof **parts);
  if (*parts == NULL) return gz_fail_memory(replay->run.context, said * sizeof **parts);
  for (*count = 0; status == GRAZE_OK && *count < said; ++*count) status = take_part(replay, &(*parts)[*count]);
  return status;
}

/* Where it is the state says. */
static graze_status take_body(graze_rigid_replay *replay) {
  archive_reader *r = &replay->run.reader;
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
  def.linear_damping = gz_archive_take_double(r);
  def.angular_damping = gz_archive_take_double(r);
  def.point_count = gz_archive_take_u32(r);
  graze_status status = take_points(replay, def.point_count, &points);
  def.points = points;
  const uint32_t mesh = def.shape == GRAZE_RIGID_MESH ? gz_archive_take_u32(r) : 0;
  if (def.shape == GRAZE_RIGID_MESH) def.mesh = mesh < replay->run.mesh_count ? replay->run.meshes[mesh] : NULL;
  if (def.shape == GRAZE_RIGID_COMPOUND) gz_archive_take_doubles(r, def.center, 3);
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
  const uint64_t count = gz_archive_take_count(&replay->run.reader, 8);
  if (count == UINT64_MAX) return gz_archive_error(&replay->run.reader, "more bodies than the section has room for");
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) status = take_body(replay);
  return status;
}

/* With the normal as the world has it, which may be another one when it is made a unit vector again. */
static graze_status take_walls(archive_reader *r, graze_rigid *world) {
  graze_status status = GRAZE_OK;
  const uint64_t count = gz_archive_take_count(r, 8);
  if (count == UINT64_MAX) return gz_archive_error(r, "more walls than the section has room for");
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    double point[3], normal[3];
    gz_archive_take_doubles(r, point, 3);
    gz_archive_take_doubles(r, normal, 3);
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
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) *numbers[i] = gz_archive_take_double(r);
  gz_archive_take_doubles(r, j.own[0], 6);
  gz_archive_take_doubles(r, j.axis[0], 6);
  gz_archive_take_doubles(r, j.across[0], 6);
  gz_archive_take_doubles(r, j.rest, 4);
  j.length = gz_archive_take_double(r);
  return gz_rigid_adopt_joint(world, &j);
}

static graze_status take_joints(archive_reader *r, graze_rigid *world) {
  graze_status status = GRAZE_OK;
  const uint64_t count = gz_archive_take_count(r, 8);
  if (count == UINT64_MAX) return gz_archive_error(r, "more joints than the section has room for");
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) status = take_joint(r, world);
  if (status == GRAZE_OK && (r->overrun || r->at != r->length))
    return gz_archive_error(r, "the definition ends elsewhere");
  return status;
}

static graze_status make_world(graze_rigid_replay *replay) {
  archive_reader *r = &replay->run.reader;
  archive_type type;
  graze_status status = gz_archive_next(r, &type);
  if (status == GRAZE_OK && type != ARCHIVE_RIGID_DEFINITION)
    return gz_fail(replay->run.context, GRAZE_ERROR_UNSUPPORTED, "%s: no record of rigid bodies", replay->run.path);
  if (status == GRAZE_OK) status = take_def(r, replay->run.context, &replay->world);
  if (status == GRAZE_OK) status = take_materials(r, replay->world);
  if (status == GRAZE_OK) status = gz_run_take_meshes(&replay->run);
  if (status == GRAZE_OK) status = take_bodies(replay);
  if (status == GRAZE_OK) status = take_walls(r, replay->world);
  if (status == GRAZE_OK) status = take_joints(r, replay->world);
  if (status == GRAZE_OK) status = gz_archive_next(r, &type);
  if (status == GRAZE_OK && type != ARCHIVE_RIGID) status = gz_archive_error(r, "the state is missing");
  return status == GRAZE_OK ? gz_rigid_take_state(r, replay->world) : status;
}

graze_status graze_rigid_replay_open(graze_context *context, const char *path, graze_rigid_replay **replay) {
  if (context == NULL || path == NULL || replay == NULL) return gz_fail_null(context);
  graze_rigid_replay *made = gz_new_zeroed(context, 1, sizeof *made);
  if (made == NULL) return gz_fail_memory(context, sizeof *made);
  const unsigned saved = gz_fp_enter();
  graze_status status = gz_run_open(&made->run, context, path);
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
  gz_run_release(&replay->run);
  gz_free(replay);
}

graze_rigid *graze_rigid_replay_get_world(graze_rigid_replay *replay) {
  return replay != NULL ? replay->world : NULL;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static graze_status take_velocity(archive_reader *r, graze_rigid *world) {
  double velocity[3], spin[3];
  const uint32_t body = gz_archive_take_u32(r);
  gz_archive_take_doubles(r, velocity, 3);
  gz_archive_take_doubles(r, spin, 3);
  return graze_rigid_set_velocity(world, body, velocity, spin);
}

static graze_status take_call(graze_rigid_replay *replay) {
  archive_reader *r = &replay->run.reader;
  graze_status status;
  switch (gz_archive_take_u32(r)) {
    case RUN_STEPS:
      status = gz_run_take_steps(&replay->run);
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

static graze_status take_section(graze_rigid_replay *replay) {
  archive_reader *r = &replay->run.reader;
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
      return gz_run_take_end(&replay->run);
    case ARCHIVE_END:
      r->start = r->offset;
      return gz_archive_error(r, "the record was cut off: its end is missing");
    default:
      return gz_archive_error(r, "not a part of a record of rigid bodies");
  }
}

static graze_status run_step(graze_rigid_replay *replay, graze_world_replay_step *step) {
  graze_status status = graze_rigid_step(replay->world, replay->run.dt, 1, NULL, NULL);
  if (status != GRAZE_OK) return status;
  replay->run.steps--;
  *step = (graze_world_replay_step){graze_rigid_get_step(replay->world), replay->run.dt, false, 0};
  step->hash = gz_archive_take_u64(&replay->run.reader);
  step->same = step->hash == graze_rigid_get_hash(replay->world);
  return GRAZE_OK;
}

graze_status graze_rigid_replay_next(graze_rigid_replay *replay, graze_world_replay_step *step) {
  if (replay == NULL || step == NULL) return gz_fail_null(replay != NULL ? replay->run.context : NULL);
  graze_status status = GRAZE_OK;
  while (status == GRAZE_OK && replay->run.steps == 0 && !replay->run.is_over)
    status = replay->run.reader.at < replay->run.reader.length ? take_call(replay) : take_section(replay);
  if (status == GRAZE_OK && !replay->run.is_over) return run_step(replay, step);
  *step = (graze_world_replay_step){0};
  return status;
}
