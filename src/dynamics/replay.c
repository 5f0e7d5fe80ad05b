/* A record of a world run again: the world is made by the calls that made it, put into its state, and moved as it was;
 * after each step its hash is compared. */
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "dynamics/record.h"

struct graze_world_replay {
  graze_context *context;
  archive_reader reader;
  graze_world *world;
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

static void take_vector(archive_reader *r, double v[3]) {
  memcpy(v, gz_archive_take(r, 3 * sizeof(double)), 3 * sizeof(double));
}

/* Of as many things that take at least so many bytes each; UINT64_MAX: more than the section has room for. */
static uint64_t take_count(archive_reader *r, size_t least) {
  uint64_t count = gz_archive_take_u64(r);
  return count <= (r->length - r->at) / least ? count : UINT64_MAX;
}

static graze_status take_def(archive_reader *r, graze_context *context, graze_world **world) {
  graze_world_def def = graze_default_world_def();
  if (gz_archive_take_u32(r) != WORLD_RECORD_VERSION) return gz_archive_error(r, "the record is of another version");
  take_vector(r, def.gravity);
  def.integrator = (graze_integrator)gz_archive_take_u32(r);
  take_vector(r, def.bounds.min);
  take_vector(r, def.bounds.max);
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
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) *numbers[i] = take_double(r);
  take_vector(r, m.surface_speed);
  return m;
}

static graze_status take_materials(archive_reader *r, graze_world *world) {
  graze_status status = GRAZE_OK;
  uint64_t count = take_count(r, 8);
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    const char *name = gz_archive_take_text(r);
    uint32_t number;
    if (name == NULL) return gz_archive_error(r, "no name of a material");
    graze_material m = take_material(r);
    status = graze_world_add_material(world, name, &m, &number);
  }
  count = status == GRAZE_OK ? take_count(r, 8) : 0;
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    uint32_t first = gz_archive_take_u32(r), second = gz_archive_take_u32(r);
    graze_material m = take_material(r);
    status = graze_world_set_pair(world, first, second, &m);
  }
  return status;
}

static graze_status take_walls(archive_reader *r, graze_world *world) {
  graze_status status = GRAZE_OK;
  uint64_t count = take_count(r, 8);
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    double point[3], normal[3];
    take_vector(r, point);
    take_vector(r, normal);
    status = graze_world_add_wall(world, point, normal, gz_archive_take_u32(r));
  }
  return status;
}

static graze_status take_mesh(graze_world_replay *replay, graze_mesh **mesh) {
  archive_reader *r = &replay->reader;
  const uint64_t bytes = take_count(r, 1);
  if (bytes == UINT64_MAX) return gz_archive_error(r, "a mesh that the section has no room for");
  return graze_mesh_from_block(replay->context, gz_archive_take(r, bytes), bytes, mesh);
}

static graze_status take_meshes(graze_world_replay *replay) {
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

static graze_status take_body(graze_world_replay *replay, record_kind kind) {
  archive_reader *r = &replay->reader;
  graze_body_def def = graze_default_body_def();
  graze_body_id id;
  def.name = gz_archive_take_text(r);
  if (def.name == NULL) return gz_archive_error(r, "no name of a body");
  def.material = gz_archive_take_u32(r);
  def.type = (graze_body_type)gz_archive_take_u32(r);
  def.user_id = gz_archive_take_u64(r);
  if (kind == RECORD_MESH) {
    const uint32_t mesh = gz_archive_take_u32(r);
    if (mesh >= replay->mesh_count) return gz_archive_error(r, "a body without a mesh");
    def.mesh = replay->meshes[mesh];
  } else {
    def.radius = take_double(r);
    def.mass = take_double(r);
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
  def.mass = take_double(r);
  def.density = take_double(r);
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
  archive_reader *r = &replay->reader;
  graze_status status = GRAZE_OK;
  uint64_t count = take_count(r, 8);
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
  gz_archive_take_u64(&replay->reader); /* of which world it is: of this one */
  if (status == GRAZE_OK) status = gz_world_take_state(&replay->reader, replay->world);
  replay->world->is_broken = status != GRAZE_OK;
  return status;
}

static graze_status make_world(graze_world_replay *replay) {
  archive_reader *r = &replay->reader;
  archive_type type;
  graze_status status = gz_archive_next(r, &type);
  if (status == GRAZE_OK && type != ARCHIVE_WORLD_DEFINITION)
    status = gz_archive_error(r, "no record of a world begins here");
  if (status == GRAZE_OK) status = take_def(r, replay->context, &replay->world);
  if (status == GRAZE_OK) status = take_materials(r, replay->world);
  if (status == GRAZE_OK) status = take_walls(r, replay->world);
  if (status == GRAZE_OK) status = take_meshes(replay);
  if (status == GRAZE_OK) status = take_members(replay);
  if (status == GRAZE_OK) status = gz_archive_next(r, &type);
  if (status == GRAZE_OK && type != ARCHIVE_WORLD) status = gz_archive_error(r, "the state is missing");
  return status == GRAZE_OK ? take_state(replay) : status;
}

graze_status graze_world_replay_open(graze_context *context, const char *path, graze_world_replay **replay) {
  if (context == NULL || path == NULL || replay == NULL) return gz_fail_null(context);
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return gz_file_error(context, path, "cannot open");
  graze_world_replay *made = gz_new_zeroed(context, 1, sizeof *made);
  char *copy = gz_new_text(context, path);
  if (made == NULL || copy == NULL) {
    gz_free(made);
    gz_free(copy);
    close(file);
    return gz_fail_memory(context, sizeof *made);
  }
  made->context = context;
  made->path = copy;
  graze_status status = gz_archive_open(&made->reader, context, file, copy);
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
  for (uint32_t i = 0; i < replay->mesh_count; i++) graze_mesh_destroy(replay->meshes[i]);
  gz_free(replay->meshes);
  close(replay->reader.file);
  gz_archive_reader_release(&replay->reader);
  gz_free(replay->path);
  gz_free(replay);
}

graze_world *graze_world_replay_get_world(graze_world_replay *replay) {
  return replay != NULL ? replay->world : NULL;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static graze_status take_velocity(archive_reader *r, graze_world *world) {
  double velocity[3], spin[3];
  uint32_t body = gz_archive_take_u32(r);
  take_vector(r, velocity);
  take_vector(r, spin);
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

static graze_status take_steps(graze_world_replay *replay) {
  archive_reader *r = &replay->reader;
  replay->dt = take_double(r);
  replay->steps = take_count(r, sizeof(uint64_t));
  return replay->steps != UINT64_MAX ? GRAZE_OK : gz_archive_error(r, "more steps than the section has");
}

static graze_status take_call(graze_world_replay *replay) {
  archive_reader *r = &replay->reader;
  graze_status status;
  switch (gz_archive_take_u32(r)) {
    case CALL_STEPS:
      status = take_steps(replay);
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

/* Behind the end there is nothing. */
static graze_status end(graze_world_replay *replay) {
  const archive_reader *r = &replay->reader;
  if (r->length != 0 || r->offset != r->size) return gz_archive_error(r, "the record goes on behind its end");
  replay->is_over = true;
  return GRAZE_OK;
}

static graze_status take_section(graze_world_replay *replay) {
  archive_reader *r = &replay->reader;
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
      return end(replay);
    case ARCHIVE_END:
      r->start = r->offset;
      return gz_archive_error(r, "the record was cut off: its end is missing");
    default:
      return gz_archive_error(r, "not a part of a world's record");
  }
}

static graze_status run_step(graze_world_replay *replay, graze_world_replay_step *step) {
  graze_status status = graze_world_step(replay->world, replay->dt, 1, NULL, NULL);
  if (status != GRAZE_OK) return status;
  replay->steps--;
  *step = (graze_world_replay_step){graze_world_get_step(replay->world), replay->dt, false, 0};
  step->hash = gz_archive_take_u64(&replay->reader);
  step->same = step->hash == graze_world_get_hash(replay->world);
  return GRAZE_OK;
}

graze_status graze_world_replay_next(graze_world_replay *replay, graze_world_replay_step *step) {
  if (replay == NULL || step == NULL) return gz_fail_null(replay != NULL ? replay->context : NULL);
  graze_status status = GRAZE_OK;
  while (status == GRAZE_OK && replay->steps == 0 && !replay->is_over)
    status = replay->reader.at < replay->reader.length ? take_call(replay) : take_section(replay);
  if (status == GRAZE_OK && !replay->is_over) return run_step(replay, step);
  *step = (graze_world_replay_step){0};
  return status;
}
