/* The record of a world: what it is made of, then what becomes of it. */
#include "dynamics/record.h"

#include <string.h>

#include "base/context.h"

/* ---- what a world is made of ------------------------------------------------------------------------------------- */

static void put_def(archive_writer *w, const graze_world_def *def) {
  gz_archive_put(w, def->gravity, sizeof def->gravity);
  gz_archive_put_u32(w, def->integrator);
  gz_archive_put(w, def->bounds.min, sizeof def->bounds.min);
  gz_archive_put(w, def->bounds.max, sizeof def->bounds.max);
  for (int k = 0; k < 3; k++) gz_archive_put_u32(w, def->periodic[k]);
  gz_archive_put_u32(w, def->events);
  gz_archive_put_u32(w, def->precision);
}

static void put_material(archive_writer *w, const graze_material *m) {
  const double numbers[] = {m->k_n, m->young, m->poisson, m->restitution, m->eta_n,   m->gamma_n,
                            m->k_t, m->eta_t, m->gamma_t, m->friction,    m->rolling, m->spinning};
  gz_archive_put_u32(w, m->law);
  gz_archive_put_u32(w, m->ends);
  gz_archive_put_u32(w, m->tangential);
  gz_archive_put(w, numbers, sizeof numbers);
  gz_archive_put(w, m->surface_speed, sizeof m->surface_speed);
}

static void put_materials(archive_writer *w, const graze_world *world) {
  gz_archive_put_u64(w, world->materials.count);
  for (size_t i = 0; i < world->materials.count; i++) {
    gz_archive_put_text(w, WORLD_AT(world->materials, dem_material, i)->name);
    put_material(w, &WORLD_AT(world->materials, dem_material, i)->m);
  }
  gz_archive_put_u64(w, world->pairs.count);
  for (size_t i = 0; i < world->pairs.count; i++) {
    const material_pair *pair = WORLD_AT(world->pairs, material_pair, i);
    gz_archive_put_u32(w, pair->first);
    gz_archive_put_u32(w, pair->second);
    put_material(w, &pair->m);
  }
}

/* Whether no surface before has the same mesh. */
static bool is_first_of(const graze_world *world, uint32_t surface) {
  for (uint32_t i = 0; i < surface; i++) {
    if (WORLD_AT(world->surfaces, dem_surface, i)->mesh == WORLD_AT(world->surfaces, dem_surface, surface)->mesh)
      return false;
  }
  return true;
}

static void put_walls(archive_writer *w, const graze_world *world) {
  gz_archive_put_u64(w, world->walls.count);
  for (size_t i = 0; i < world->walls.count; i++) {
    const dem_wall *wall = WORLD_AT(world->walls, dem_wall, i);
    gz_archive_put(w, wall->point, sizeof wall->point);
    gz_archive_put(w, wall->given, sizeof wall->given);
    gz_archive_put_u32(w, wall->material);
  }
}

/* The number of the surface's mesh among those that differ. */
static uint32_t mesh_number(const graze_world *world, uint32_t surface) {
  const graze_mesh *mesh = WORLD_AT(world->surfaces, dem_surface, surface)->mesh;
  uint32_t number = 0;
  for (uint32_t i = 0; WORLD_AT(world->surfaces, dem_surface, i)->mesh != mesh; i++) number += is_first_of(world, i);
  return number;
}

/* Every mesh once, as its block. */
static void put_meshes(archive_writer *w, const graze_world *world) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < world->surfaces.count; i++) count += is_first_of(world, i);
  gz_archive_put_u64(w, count);
  for (uint32_t i = 0; i < world->surfaces.count; i++) {
    size_t bytes;
    if (!is_first_of(world, i)) continue;
    const void *block = graze_mesh_block(WORLD_AT(world->surfaces, dem_surface, i)->mesh, &bytes);
    gz_archive_put_u64(w, bytes);
    gz_archive_put(w, block, bytes);
  }
}

static void put_body(archive_writer *w, const graze_world *world, const dem_body *body) {
  const bool is_ball = body->surface == NO_SURFACE;
  gz_archive_put_u32(w, is_ball ? RECORD_BALL : RECORD_MESH);
  gz_archive_put_text(w, body->name);
  gz_archive_put_u32(w, WORLD_AT(world->kinds, ball_kind, body->kind)->material);
  gz_archive_put_u32(w, body->type);
  gz_archive_put_u64(w, body->user_id);
  if (!is_ball) {
    gz_archive_put_u32(w, mesh_number(world, body->surface));
    return;
  }
  gz_archive_put_double(w, world->now[world->place[body->number]].position[3]);
  gz_archive_put_double(w, body->mass);
}

static void put_set(archive_writer *w, const graze_world *world, const particle_set *set) {
  const ball_kind *kind = WORLD_AT(world->kinds, ball_kind, set->kind);
  gz_archive_put_u32(w, RECORD_SET);
  gz_archive_put_text(w, set->name);
  gz_archive_put_u32(w, kind->material);
  gz_archive_put_double(w, set->mass);
  gz_archive_put_double(w, set->density);
  gz_archive_put(w, kind->drag, sizeof kind->drag);
  gz_archive_put_u32(w, set->count);
  for (uint32_t i = 0; i < set->count; i++)
    gz_archive_put_double(w, world->now[world->place[set->number + i]].position[3]);
}

/* Sets and bodies have kinds in the order in which they were added. */
static void put_members(archive_writer *w, const graze_world *world) {
  size_t set = 0, body = 0;
  gz_archive_put_u64(w, world->kinds.count);
  for (size_t i = 0; i < world->kinds.count; i++) {
    const bool is_set = set < world->sets.count && WORLD_AT(world->sets, particle_set, set)->kind == i;
    if (is_set)
      put_set(w, world, WORLD_AT(world->sets, particle_set, set++));
    else
      put_body(w, world, WORLD_AT(world->bodies, dem_body, body++));
  }
}

static void put_definition(archive_writer *w, const graze_world *world) {
  gz_archive_put_u32(w, WORLD_RECORD_VERSION);
  put_def(w, &world->def);
  put_materials(w, world);
  put_walls(w, world);
  put_meshes(w, world);
  put_members(w, world);
  gz_archive_end_section(w, ARCHIVE_WORLD_DEFINITION);
}

/* ---- what becomes of it ------------------------------------------------------------------------------------------ */

void gz_record_flush(graze_world *world) {
  gz_run_flush(world->recorder);
}

void gz_record_step(graze_world *world) {
  if (gz_run_writer(world->recorder) != NULL) gz_run_put_step(world->recorder, world->dt, graze_world_get_hash(world));
}

void gz_record_velocity(graze_world *world, uint32_t body, const double velocity[3], const double spin[3]) {
  archive_writer *w = gz_run_writer(world->recorder);
  if (w == NULL) return;
  gz_archive_put_u32(w, CALL_VELOCITY);
  gz_archive_put_u32(w, body);
  gz_archive_put(w, velocity, 3 * sizeof(double));
  gz_archive_put(w, spin, 3 * sizeof(double));
}

void gz_record_particles(graze_world *world, uint32_t set, const graze_particle_state *state) {
  archive_writer *w = gz_run_writer(world->recorder);
  if (w == NULL) return;
  const double *const arrays[3] = {state->positions, state->velocities, state->spins};
  uint32_t given = 0;
  for (uint32_t i = 0; i < 3; i++) given |= arrays[i] != NULL ? 1U << i : 0;
  gz_archive_put_u32(w, CALL_PARTICLES);
  gz_archive_put_u32(w, set);
  gz_archive_put_u32(w, given);
  for (int i = 0; i < 3; i++) {
    if (arrays[i] != NULL)
      gz_archive_put(w, arrays[i], WORLD_AT(world->sets, particle_set, set)->count * 3 * sizeof(double));
  }
}

void gz_record_state(graze_world *world) {
  archive_writer *w = gz_run_writer(world->recorder);
  if (w == NULL) return;
  gz_record_flush(world);
  gz_world_put_state(w, world);
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

graze_status gz_record_close(graze_world *world) {
  return gz_run_close(&world->recorder);
}

graze_status graze_world_record_end(graze_world *world) {
  if (world == NULL) return gz_fail_null(NULL);
  if (world->recorder == NULL) return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "record: none is running");
  return gz_record_close(world);
}

graze_status graze_world_record(graze_world *world, const char *path) {
  if (world == NULL || path == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  const graze_context *context = world->context;
  if (world->recorder != NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "record: the world is being recorded");
  if (world->is_broken) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "record: an earlier run failed");
  graze_status status = gz_world_prepare(world);
  if (status == GRAZE_OK) status = gz_world_make_laws(world);
  if (status == GRAZE_OK && (world->kept_wait || world->carries)) status = gz_list_update(world);
  if (status != GRAZE_OK) return status;
  status = gz_run_record(context, path, ARCHIVE_WORLD_RUN, ARCHIVE_WORLD_END, &world->recorder);
  if (status != GRAZE_OK) return status;
  put_definition(&world->recorder->writer, world);
  gz_world_put_state(&world->recorder->writer, world);
  return world->recorder->writer.status == GRAZE_OK ? GRAZE_OK : gz_run_give_up(&world->recorder);
}
