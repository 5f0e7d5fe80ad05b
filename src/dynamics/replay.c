/* A record of a world run again: the world is made by the calls that made it, put into its state, and moved as it was;
 * after each step its hash is compared. */
#include <math.h>
#include <string.h>

#include "dynamics/record.h"

struct graze_world_replay {
  run_replay run;
  graze_world *world;
};

/* ---- making the world -------------------------------------------------------------------------------------------- */

static graze_status take_def(archive_reader *r, graze_context *context, graze_world **world) {
  graze_world_def def = graze_default_world_def();
  if (gz_archive_take_u32(r) != WORLD_RECORD_VERSION) return gz_archive_error(r, "the record is of another version");
  gz_archive_take_doubles(r, def.gravity, 3);
  def.integrator = (graze_integrator)gz_archive_take_u32(r);
  gz_archive_take_doubles(r, def.bounds.min, 3);
  gz_archive_take_doubles(r, def.bounds.max, 3);
  for (int k = 0; k < 3; k++) def.periodic[k] = gz_archive_take_u32(r) != 0;
  def.events = gz_archive_take_u32(r) != 0;
  def.precision = (graze_precision)gz_archive_take_u32(r);
  return graze_world_create(context, &def, world);
}

static graze_material take_material(archive_reader *r) {
  graze_material m = graze_default_material();
  double *const numbers[] = {&m.k_n, &m.young, &m.poisson, &m.restitution, &m.eta_n,   &m.gamma_n,
                             &m.k_t, &m.eta_t, &m.gamma_t, &m.friction,    &m.rolling, &m.spinning};
  m.law = (graze_normal_law)gz_archive_take_u32(r);
  m.ends = (graze_contact_end)gz_archive_take_u32(r);
  m.tangential = (graze_tangential_law)gz_archive_take_u32(r);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) *numbers[i] = gz_archive_take_double(r);
  gz_archive_take_doubles(r, m.surface_speed, 3);
  return m;
}

static graze_status take_materials(archive_reader *r, graze_world *world) {
  graze_status status = GRAZE_OK;
  uint64_t count = gz_archive_take_count(r, 8);
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    const char *name = gz_archive_take_text(r);
    uint32_t number;
    if (name == NULL) return gz_archive_error(r, "no name of a material");
    graze_material m = take_material(r);
    status = graze_world_add_material(world, name, &m, &number);
  }
  count = status == GRAZE_OK ? gz_archive_take_count(r, 8) : 0;
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    uint32_t first = gz_archive_take_u32(r), second = gz_archive_take_u32(r);
    graze_material m = take_material(r);
    status = graze_world_set_pair(world, first, second, &m);
  }
  return status;
}

static graze_status take_walls(archive_reader *r, graze_world *world) {
  graze_status status = GRAZE_OK;
  uint64_t count = gz_archive_take_count(r, 8);
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    double point[3], normal[3];
    gz_archive_take_doubles(r, point, 3);
    gz_archive_take_doubles(r, normal, 3);
    status = graze_world_add_wall(world, point, normal, gz_archive_take_u32(r));
  }
  return status;
}

static graze_status take_body(graze_world_replay *replay, record_kind kind) {
  archive_reader *r = &replay->run.reader;
  graze_body_def def = graze_default_body_def();
  graze_body_id id;
  def.name = gz_archive_take_text(r);
  if (def.name == NULL) return gz_archive_error(r, "no name of a body");
  def.material = gz_archive_take_u32(r);
  def.type = (graze_body_type)gz_archive_take_u32(r);
  def.user_id = gz_archive_take_u64(r);
  if (kind == RECORD_MESH) {
    const uint32_t mesh = gz_archive_take_u32(r);
    if (mesh >= replay->run.mesh_count) return gz_archive_error(r, "a body without a mesh");
    def.mesh = replay->run.meshes[mesh];
  } else {
    def.radius = gz_archive_take_double(r);
    def.mass = gz_archive_take_double(r);
  }
  return graze_world_add_body(replay->world, &def, &id);
}

/* Where the balls are the state says. */
static graze_status take_set(archive_reader *r, graze_world *world) {
  graze_particle_def def = graze_default_particle_def();
  uint32_t number;
  def.name = gz_archive_take_text(r);
  if (def.name == NULL) return gz_archive_error(r, "no name of a set");
  def.material = gz_archive_take_u32(r);
  def.mass = gz_archive_take_double(r);
  def.density = gz_archive_take_double(r);
  memcpy(def.drag, gz_archive_take(r, sizeof def.drag), sizeof def.drag);
  def.count = gz_archive_take_u32(r);
  if (def.count > (r->length - r->at) / sizeof(double))
    return gz_archive_error(r, "more particles than the record has");
  double *numbers = gz_new_zeroed(world->context, (size_t)def.count * 4, sizeof(double));
  if (numbers == NULL) return gz_fail_memory(world->context, (size_t)def.count * 4 * sizeof(double));
  double *radii = numbers + (size_t)def.count * 3;
  if (def.count > 0) memcpy(radii, gz_archive_take(r, def.count * sizeof(double)), def.count * sizeof(double));
  def.positions = numbers;
  def.radii = radii;
  graze_status status = graze_world_add_particles(world, &def, &number);
  gz_free(numbers);
  return status;
}

static graze_status take_members(graze_world_replay *replay) {
  archive_reader *r = &replay->run.reader;
  graze_status status = GRAZE_OK;
  uint64_t count = gz_archive_take_count(r, 8);
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    const uint32_t kind = gz_archive_take_u32(r);
    if (kind > RECORD_MESH) return gz_archive_error(r, "the number before this byte is no kind of body");
    status = kind == RECORD_SET ? take_set(r, replay->world) : take_body(replay, (record_kind)kind);
  }
  if (status == GRAZE_OK && (r->overrun || r->at != r->length))
    return gz_archive_error(r, "the definition ends elsewhere");
  return status;
}

static graze_status take_state(graze_world_replay *replay) {
  graze_status status = gz_world_prepare(replay->world);
  if (status == GRAZE_OK) status = gz_world_make_laws(replay->world);
  gz_archive_take_u64(&replay->run.reader); /* of which world it is: of this one */
  if (status == GRAZE_OK) status = gz_world_take_state(&replay->run.reader, replay->world);
  replay->world->is_broken = status != GRAZE_OK;
  return status;
}

static graze_status make_world(graze_world_replay *replay) {
  archive_reader *r = &replay->run.reader;
  archive_type type;
  graze_status status = gz_archive_next(r, &type);
  if (status == GRAZE_OK && type != ARCHIVE_WORLD_DEFINITION)
    status = gz_archive_error(r, "no record of a world begins here");
  if (status == GRAZE_OK) status = take_def(r, replay->run.context, &replay->world);
  if (status == GRAZE_OK) status = take_materials(r, replay->world);
  if (status == GRAZE_OK) status = take_walls(r, replay->world);
  if (status == GRAZE_OK) status = gz_run_take_meshes(&replay->run);
  if (status == GRAZE_OK) status = take_members(replay);
  if (status == GRAZE_OK) status = gz_archive_next(r, &type);
  if (status == GRAZE_OK && type != ARCHIVE_WORLD) status = gz_archive_error(r, "the state is missing");
  return status == GRAZE_OK ? take_state(replay) : status;
}

graze_status graze_world_replay_open(graze_context *context, const char *path, graze_world_replay **replay) {
  if (context == NULL || path == NULL || replay == NULL) return gz_fail_null(context);
  graze_world_replay *made = gz_new_zeroed(context, 1, sizeof *made);
  if (made == NULL) return gz_fail_memory(context, sizeof *made);
  graze_status status = gz_run_open(&made->run, context, path);
  if (status == GRAZE_OK) status = make_world(made);
  if (status != GRAZE_OK) {
    graze_world_replay_close(made);
    return status;
  }
  *replay = made;
  return GRAZE_OK;
}

void graze_world_replay_close(graze_world_replay *replay) {
  if (replay == NULL) return;
  graze_world_destroy(replay->world);
  gz_run_release(&replay->run);
  gz_free(replay);
}

graze_world *graze_world_replay_get_world(graze_world_replay *replay) {
  return replay != NULL ? replay->world : NULL;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static graze_status take_velocity(archive_reader *r, graze_world *world) {
  double velocity[3], spin[3];
  uint32_t body = gz_archive_take_u32(r);
  gz_archive_take_doubles(r, velocity, 3);
  gz_archive_take_doubles(r, spin, 3);
  return graze_world_set_velocity(world, (graze_body_id){body, 1}, velocity, spin);
}

/* The arrays are copied, for the section need not be aligned. */
static graze_status take_particles(archive_reader *r, graze_world *world) {
  uint32_t set = gz_archive_take_u32(r), given = gz_archive_take_u32(r);
  size_t count = (size_t)3 * graze_world_get_particle_count(world, set), bytes = count * sizeof(double);
  double *numbers = gz_new(world->context, 3 * count, sizeof(double)), *arrays[3] = {NULL, NULL, NULL};
  if (numbers == NULL) return gz_fail_memory(world->context, 3 * bytes);
  graze_status status = GRAZE_OK;
  for (uint32_t i = 0; status == GRAZE_OK && i < 3; i++) {
    if ((given >> i & 1) == 0) continue;
    if (bytes > r->length - r->at) status = gz_archive_error(r, "the section ends within a call");
    arrays[i] = numbers + i * count;
    if (status == GRAZE_OK && bytes > 0) memcpy(arrays[i], gz_archive_take(r, bytes), bytes);
  }
  const graze_particle_state state = {arrays[0], arrays[1], arrays[2]};
  if (status == GRAZE_OK) status = graze_world_set_particles(world, set, &state);
  gz_free(numbers);
  return status;
}

static graze_status take_call(graze_world_replay *replay) {
  archive_reader *r = &replay->run.reader;
  graze_status status;
  switch (gz_archive_take_u32(r)) {
    case RUN_STEPS:
      status = gz_run_take_steps(&replay->run);
      break;
    case CALL_VELOCITY:
      status = take_velocity(r, replay->world);
      break;
    case CALL_PARTICLES:
      status = take_particles(r, replay->world);
      break;
    default:
      return gz_archive_error(r, "the number before this byte is no call");
  }
  return status == GRAZE_OK && r->overrun ? gz_archive_error(r, "the section ends within a call") : status;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static graze_status take_section(graze_world_replay *replay) {
  archive_reader *r = &replay->run.reader;
  archive_type type;
  graze_status status = gz_archive_next(r, &type);
  if (status != GRAZE_OK) return status;
  switch (type) {
    case ARCHIVE_WORLD_RUN:
      return GRAZE_OK;
    case ARCHIVE_WORLD:
      status = take_state(replay);
      r->at = r->length;
      return status;
    case ARCHIVE_WORLD_END:
      return gz_run_take_end(&replay->run);
    case ARCHIVE_END:
      r->start = r->offset;
      return gz_archive_error(r, "the record was cut off: its end is missing");
    default:
      return gz_archive_error(r, "not a part of a world's record");
  }
}

static graze_status run_step(graze_world_replay *replay, graze_world_replay_step *step) {
  graze_status status = graze_world_step(replay->world, replay->run.dt, 1, NULL, NULL);
  if (status != GRAZE_OK) return status;
  replay->run.steps--;
  *step = (graze_world_replay_step){graze_world_get_step(replay->world), replay->run.dt, false, 0};
  step->hash = gz_archive_take_u64(&replay->run.reader);
  step->same = step->hash == graze_world_get_hash(replay->world);
  return GRAZE_OK;
}

graze_status graze_world_replay_next(graze_world_replay *replay, graze_world_replay_step *step) {
  if (replay == NULL || step == NULL) return gz_fail_null(replay != NULL ? replay->run.context : NULL);
  graze_status status = GRAZE_OK;
  while (status == GRAZE_OK && replay->run.steps == 0 && !replay->run.is_over)
    status = replay->run.reader.at < replay->run.reader.length ? take_call(replay) : take_section(replay);
  if (status == GRAZE_OK && !replay->run.is_over) return run_step(replay, step);
  *step = (graze_world_replay_step){0};
  return status;
}
