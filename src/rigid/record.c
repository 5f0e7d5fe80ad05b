/* The record of a world of rigid bodies: what it is made of, then what becomes of it. */
#include "rigid/record.h"

#include <string.h>

#include "base/context.h"

/* In a section: bytes of calls with few steps between them. */
enum { MOST_CALLS = 1 << 16 };

graze_status gz_rigid_refuse_recorded(const graze_rigid *world) {
  if (world->recorder == NULL) return GRAZE_OK;
  return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "the world is being recorded: nothing can be added to it");
}

/* ---- what a world is made of ------------------------------------------------------------------------------------- */

static void put_def(archive_writer *w, const graze_rigid_def *def) {
  gz_archive_put(w, def->gravity, sizeof def->gravity);
  gz_archive_put(w, def->bounds.min, sizeof def->bounds.min);
  gz_archive_put(w, def->bounds.max, sizeof def->bounds.max);
  gz_archive_put_u32(w, def->substeps);
  gz_archive_put_double(w, def->push_speed);
  gz_archive_put_double(w, def->rebound);
  gz_archive_put_u32(w, def->solver);
  gz_archive_put_u32(w, def->sleep);
  gz_archive_put_double(w, def->sleep_speed);
  gz_archive_put_u32(w, def->events);
}

static void put_material(archive_writer *w, const graze_rigid_material *m) {
  const double numbers[] = {m->friction, m->restitution, m->rolling, m->spinning};
  gz_archive_put(w, numbers, sizeof numbers);
  gz_archive_put(w, m->surface_speed, sizeof m->surface_speed);
}

static void put_materials(archive_writer *w, const graze_rigid *world) {
  gz_archive_put_u64(w, world->materials.count);
  for (size_t i = 0; i < world->materials.count; i++)
    put_material(w, RIGID_AT(world->materials, graze_rigid_material, i));
  gz_archive_put_u64(w, world->pairs.count);
  for (size_t i = 0; i < world->pairs.count; i++) {
    const rigid_pair *pair = RIGID_AT(world->pairs, rigid_pair, i);
    gz_archive_put_u32(w, pair->first);
    gz_archive_put_u32(w, pair->second);
    put_material(w, &pair->m);
  }
}

/* Every mesh once, as its block. */
static void put_meshes(archive_writer *w, const graze_rigid *world) {
  gz_archive_put_u64(w, world->surfaces.count);
  for (size_t i = 0; i < world->surfaces.count; i++) {
    size_t bytes;
    const void *block = graze_mesh_block((*RIGID_AT(world->surfaces, rigid_surface *, i))->mesh, &bytes);
    gz_archive_put_u64(w, bytes);
    gz_archive_put(w, block, bytes);
  }
}

static uint32_t number_of_mesh(const graze_rigid *world, const rigid_surface *surface) {
  uint32_t number = 0;
  while (*RIGID_AT(world->surfaces, rigid_surface *, number) != surface) number++;
  return number;
}

static void put_part(archive_writer *w, const graze_rigid_part *part) {
  const double numbers[] = {part->radius, part->edges[0], part->edges[1], part->edges[2], part->length, part->density};
  gz_archive_put_u32(w, part->shape);
  gz_archive_put(w, numbers, sizeof numbers);
  gz_archive_put(w, part->place, sizeof part->place);
  gz_archive_put(w, part->orientation, sizeof part->orientation);
  gz_archive_put_u32(w, part->point_count);
  if (part->point_count > 0) gz_archive_put(w, part->points, 3 * part->point_count * sizeof(double));
}

static void put_body(archive_writer *w, const graze_rigid *world, const rigid_body *b) {
  const double numbers[] = {b->radius,     b->edges[0],   b->edges[1],   b->edges[2],   b->length,
                            b->mass,       b->inertia[0], b->inertia[1], b->inertia[2], b->inertia[3],
                            b->inertia[4], b->inertia[5], b->damping[0], b->damping[1]};
  gz_archive_put_text(w, b->name);
  gz_archive_put_u32(w, (uint32_t)b->type + (b->is_sensor ? RIGID_RECORD_SENSOR : 0));
  gz_archive_put_u32(w, b->shape);
  gz_archive_put_u32(w, b->material);
  gz_archive_put_u64(w, b->user_id);
  gz_archive_put(w, numbers, sizeof numbers);
  gz_archive_put_u32(w, b->given_count);
  if (b->given_count > 0) gz_archive_put(w, b->given, 3 * b->given_count * sizeof(double));
  if (b->shape == GRAZE_RIGID_MESH) gz_archive_put_u32(w, number_of_mesh(world, b->surface));
  if (b->shape == GRAZE_RIGID_COMPOUND) {
    gz_archive_put(w, b->center, sizeof b->center);
    gz_archive_put_u32(w, b->part_count);
  }
  for (uint32_t i = 0; i < b->part_count; i++) put_part(w, &b->said[i]);
}

static void put_bodies(archive_writer *w, const graze_rigid *world) {
  gz_archive_put_u64(w, world->bodies.count);
  for (uint32_t i = 0; i < world->bodies.count; i++) put_body(w, world, rigid_body_at(world, i));
  gz_archive_put_u64(w, world->walls.count);
  for (size_t i = 0; i < world->walls.count; i++) {
    const rigid_body *wall = RIGID_AT(world->walls, rigid_body, i);
    gz_archive_put(w, wall->position, sizeof wall->position);
    gz_archive_put(w, wall->rotation, 3 * sizeof(double));
    gz_archive_put_u32(w, wall->material);
  }
}

static void put_joints(archive_writer *w, const graze_rigid *world) {
  gz_archive_put_u64(w, world->joints.count);
  for (size_t i = 0; i < world->joints.count; i++) {
    const rigid_joint *j = RIGID_AT(world->joints, rigid_joint, i);
    const graze_joint_def *def = &j->def;
    const double numbers[] = {def->limits[0], def->limits[1],      def->motor_speed, def->motor_most,
                              def->spring,    def->spring_damping, def->breaks_at};
    gz_archive_put_text(w, j->name);
    gz_archive_put_u32(w, def->type);
    gz_archive_put_u32(w, def->a);
    gz_archive_put_u32(w, def->b);
    gz_archive_put(w, numbers, sizeof numbers);
    gz_archive_put(w, j->own, sizeof j->own);
    gz_archive_put(w, j->axis, sizeof j->axis);
    gz_archive_put(w, j->across, sizeof j->across);
    gz_archive_put(w, j->rest, sizeof j->rest);
    gz_archive_put_double(w, j->length);
  }
}

static void put_definition(archive_writer *w, const graze_rigid *world) {
  gz_archive_put_u32(w, RIGID_RECORD_VERSION);
  put_def(w, &world->def);
  put_materials(w, world);
  put_meshes(w, world);
  put_bodies(w, world);
  put_joints(w, world);
  gz_archive_end_section(w, ARCHIVE_RIGID_DEFINITION);
}

/* ---- what becomes of it ------------------------------------------------------------------------------------------ */

void gz_rigid_record_step(const graze_rigid *world) {
  if (gz_run_writer(world->recorder) != NULL) gz_run_put_step(world->recorder, world->dt, graze_rigid_get_hash(world));
}

/* Steps before a call stand before it. */
static archive_writer *begin_call(const graze_rigid *world, rigid_call call) {
  archive_writer *w = gz_run_writer(world->recorder);
  if (w == NULL) return NULL;
  if (w->used > MOST_CALLS) gz_run_flush(world->recorder);
  gz_run_put_steps(world->recorder);
  gz_archive_put_u32(w, call);
  return w;
}

void gz_rigid_record_velocity(const graze_rigid *world, uint32_t body, const double velocity[3], const double spin[3]) {
  archive_writer *w = begin_call(world, RIGID_CALL_VELOCITY);
  if (w == NULL) return;
  gz_archive_put_u32(w, body);
  gz_archive_put(w, velocity, 3 * sizeof(double));
  gz_archive_put(w, spin, 3 * sizeof(double));
}

void gz_rigid_record_wake(const graze_rigid *world, uint32_t body) {
  archive_writer *w = begin_call(world, RIGID_CALL_WAKE);
  if (w != NULL) gz_archive_put_u32(w, body);
}

void gz_rigid_record_state(const graze_rigid *world) {
  archive_writer *w = gz_run_writer(world->recorder);
  if (w == NULL) return;
  gz_run_flush(world->recorder);
  gz_rigid_put_state(w, world);
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

graze_status gz_rigid_close_record(graze_rigid *world) {
  return gz_run_close(&world->recorder);
}

graze_status graze_rigid_record_end(graze_rigid *world) {
  if (world == NULL) return gz_fail_null(NULL);
  if (world->recorder == NULL) return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "record: none is running");
  return gz_rigid_close_record(world);
}

graze_status graze_rigid_record(graze_rigid *world, const char *path) {
  if (world == NULL || path == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  const graze_context *context = world->context;
  if (world->recorder != NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "record: the world is being recorded");
  if (world->is_broken) return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "record: an earlier run failed");
  graze_status status = gz_run_record(context, path, ARCHIVE_RIGID_RUN, ARCHIVE_RIGID_END, &world->recorder);
  if (status != GRAZE_OK) return status;
  put_definition(&world->recorder->writer, world);
  gz_rigid_put_state(&world->recorder->writer, world);
  return world->recorder->writer.status == GRAZE_OK ? GRAZE_OK : gz_run_give_up(&world->recorder);
}
