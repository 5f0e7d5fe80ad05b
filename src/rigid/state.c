/* States of rigid worlds, as files. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "rigid/compounds.h"
#include "rigid/patches.h"
#include "rigid/record.h"

/* Of what contacts keep: a state of another version is that of another world. */
enum { STATE_VERSION = 3 };

static uint64_t add_part(const graze_rigid_part *part, uint64_t h) {
  const double said[] = {part->radius,        part->edges[0],       part->edges[1],       part->edges[2],
                         part->length,        part->density,        part->place[0],       part->place[1],
                         part->place[2],      part->orientation[0], part->orientation[1], part->orientation[2],
                         part->orientation[3]};
  h = gz_hash_bytes(said, sizeof said, h + (uint64_t)part->shape);
  if (part->point_count > 0) h = gz_hash_bytes(part->points, 3 * part->point_count * sizeof(double), h);
  return h;
}

static uint64_t hash_surface(const rigid_surface *s, uint64_t h) {
  h = gz_hash_bytes(s->center, sizeof s->center, h);
  h = gz_hash_bytes(s->corners, s->corner_count * sizeof *s->corners, h);
  for (uint32_t t = 0; t < s->face_count; t++) h = gz_hash_bytes(s->faces[t].corners, sizeof s->faces[t].corners, h);
  return h;
}

/* What the state is of: everything that the caller has said. */
static uint64_t find_identity(const graze_rigid *world) {
  const graze_rigid_def *def = &world->def;
  const double numbers[] = {def->gravity[0],    def->gravity[1],    def->gravity[2],    def->bounds.min[0],
                            def->bounds.min[1], def->bounds.min[2], def->bounds.max[0], def->bounds.max[1],
                            def->bounds.max[2], def->push_speed,    def->rebound,       def->sleep_speed};
  uint64_t h = gz_hash_bytes(
      numbers, sizeof numbers,
      def->substeps + 4096 * (uint64_t)def->solver + 65536 * (uint64_t)def->sleep + ((uint64_t)STATE_VERSION << 32));
  for (size_t i = 0; i < world->materials.count; i++) {
    const graze_rigid_material *m = RIGID_AT(world->materials, graze_rigid_material, i);
    const double said[] = {m->friction,         m->restitution,      m->rolling,         m->spinning,
                           m->surface_speed[0], m->surface_speed[1], m->surface_speed[2]};
    h = gz_hash_bytes(said, sizeof said, h);
  }
  for (size_t i = 0; i < world->pairs.count; i++) {
    const rigid_pair *p = RIGID_AT(world->pairs, rigid_pair, i);
    const double said[] = {p->first, p->second, p->m.friction, p->m.restitution, p->m.rolling, p->m.spinning};
    h = gz_hash_bytes(said, sizeof said, h);
  }
  for (uint32_t i = 0; i < world->bodies.count + world->walls.count; i++) {
    const rigid_body *b = rigid_body_at(world, i);
    const uint32_t words[] = {(uint32_t)b->type + (b->is_sensor ? RIGID_RECORD_SENSOR : 0), (uint32_t)b->shape,
                              b->material, b->is_wall};
    h = gz_hash_bytes(words, sizeof words, h);
    const double said[] = {b->radius,     b->edges[0],   b->edges[1],   b->edges[2],   b->length,
                           b->mass,       b->inertia[0], b->inertia[1], b->inertia[2], b->inertia[3],
                           b->inertia[4], b->inertia[5], b->damping[0], b->damping[1]};
    h = gz_hash_bytes(said, sizeof said, h);
    if (b->shape == GRAZE_RIGID_MESH) h = hash_surface(b->surface, h);
    if (b->shape == GRAZE_RIGID_HULL)
      h = gz_hash_bytes(b->core.corners, b->core.corner_count * sizeof *b->core.corners, h);
    for (uint32_t k = 0; k < b->part_count; k++) h = add_part(&b->said[k], h);
    if (b->part_count > 0) h = gz_hash_bytes(b->center, sizeof b->center, h);
    if (b->is_wall) h = gz_hash_bytes(b->rotation, 3 * sizeof(double), h);
    if (b->is_wall) h = gz_hash_bytes(b->position, sizeof b->position, h);
  }
  for (size_t i = 0; i < world->joints.count; i++) {
    const rigid_joint *j = RIGID_AT(world->joints, rigid_joint, i);
    const uint32_t words[] = {(uint32_t)j->def.type, j->def.a, j->def.b};
    h = gz_hash_bytes(words, sizeof words, h);
    h = gz_hash_bytes(j->own, sizeof j->own, h);
    h = gz_hash_bytes(j->axis, sizeof j->axis, h);
    const double said[] = {j->def.limits[0], j->def.limits[1],      j->def.motor_speed, j->def.motor_most,
                           j->def.spring,    j->def.spring_damping, j->def.breaks_at,   j->length};
    h = gz_hash_bytes(said, sizeof said, h);
  }
  return h;
}

/* ---- saving ---------------------------------------------------------------------------------------------------- */

static void put_stand(archive_writer *w, const rigid_stand *stand) {
  gz_archive_put(w, stand->place, sizeof stand->place);
  gz_archive_put(w, stand->turn, sizeof stand->turn);
}

static void put_cache(archive_writer *w, const rigid_cache *c) {
  gz_archive_put_u32(w, c->axis.kind);
  gz_archive_put_u32(w, c->axis.first);
  gz_archive_put_u32(w, c->axis.second);
  gz_archive_put(w, &c->axis.out, sizeof c->axis.out);
  gz_archive_put(w, c->axis.normal, sizeof c->axis.normal);
  put_stand(w, &c->at_axis);
  put_stand(w, &c->at_points);
  gz_archive_put(w, &c->margin, sizeof c->margin);
  gz_archive_put(w, c->normal, sizeof c->normal);
}

static bool is_of_parts(const graze_rigid *world, const rigid_contact *c) {
  return c->is_patch && rigid_are_compound(rigid_body_at(world, c->a), rigid_body_at(world, c->b));
}

static void put_contact(archive_writer *w, const graze_rigid *world, const rigid_contact *c) {
  gz_archive_put_u32(w, c->a);
  gz_archive_put_u32(w, c->b);
  gz_archive_put_u32(w, c->count);
  gz_archive_put_u32(w, c->is_patch ? c->patch + 1 : 0);
  gz_archive_put_u32(w, c->touches);
  if (is_of_parts(world, c)) gz_archive_put(w, c->parts, sizeof c->parts);
  gz_archive_put(w, c->normal, sizeof c->normal);
  gz_archive_put(w, &c->speed, sizeof c->speed);
  gz_archive_put(w, &c->impulse, sizeof c->impulse);
  gz_archive_put(w, &c->part, sizeof c->part);
  gz_archive_put(w, c->dragged, sizeof c->dragged);
  gz_archive_put(w, c->rolled, sizeof c->rolled);
  gz_archive_put(w, &c->twisted, sizeof c->twisted);
  gz_archive_put_u32(w, c->strained);
  gz_archive_put(w, &c->stiffened, sizeof c->stiffened);
  put_cache(w, &c->cache);
  for (uint32_t i = 0; i < c->count; i++) {
    const rigid_point *p = &c->points[i];
    gz_archive_put_u32(w, p->feature);
    gz_archive_put_u32(w, p->owner);
    gz_archive_put(w, p->own, sizeof p->own);
    gz_archive_put(w, &p->gap, sizeof p->gap);
    gz_archive_put(w, &p->pressed, sizeof p->pressed);
  }
}

void gz_rigid_put_state(archive_writer *w, const graze_rigid *world) {
  gz_archive_put_u64(w, find_identity(world));
  gz_archive_put_u64(w, world->step);
  gz_archive_put_u64(w, world->start_step);
  gz_archive_put(w, &world->dt, sizeof world->dt);
  gz_archive_put(w, &world->start_time, sizeof world->start_time);
  gz_archive_put(w, &world->dissipated, sizeof world->dissipated);
  for (uint32_t i = 0; i < world->bodies.count; i++) {
    const rigid_body *b = rigid_body_at(world, i);
    gz_archive_put(w, b->position, sizeof b->position);
    gz_archive_put(w, b->orientation, sizeof b->orientation);
    gz_archive_put(w, b->velocity, sizeof b->velocity);
    gz_archive_put(w, b->spin, sizeof b->spin);
    gz_archive_put_u32(w, b->left);
    gz_archive_put_u32(w, b->asleep);
    gz_archive_put_u32(w, b->nap);
    gz_archive_put(w, &b->rested, sizeof b->rested);
  }
  for (size_t i = 0; i < world->joints.count; i++) {
    const rigid_joint *j = RIGID_AT(world->joints, rigid_joint, i);
    gz_archive_put_u32(w, j->broken);
    gz_archive_put(w, &j->force, sizeof j->force);
  }
  const gz_array *const lists[2] = {&world->contacts, &world->resting};
  for (int k = 0; k < 2; k++) {
    gz_archive_put_u64(w, lists[k]->count);
    for (size_t i = 0; i < lists[k]->count; i++) put_contact(w, world, RIGID_AT(*lists[k], rigid_contact, i));
  }
  gz_archive_end_section(w, ARCHIVE_RIGID);
}

graze_status graze_rigid_save(graze_rigid *world, const char *path) {
  archive_writer w;
  new_file file;
  if (world == NULL || path == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  if (world->is_broken)
    return gz_fail(world->context, GRAZE_ERROR_NOT_FINITE, "the world is broken: a step has failed");
  graze_status status = gz_save_begin(world->context, path, &file);
  if (status != GRAZE_OK) return status;
  gz_archive_begin(&w, world->context, file.descriptor, path);
  gz_rigid_put_state(&w, world);
  gz_archive_writer_release(&w);
  return gz_save_end(world->context, path, &file, w.status);
}

/* ---- restoring ------------------------------------------------------------------------------------------------- */

static void take(archive_reader *r, void *to, size_t size) {
  memcpy(to, gz_archive_take(r, size), size);
}

static void take_stand(archive_reader *r, rigid_stand *stand) {
  take(r, stand->place, sizeof stand->place);
  take(r, stand->turn, sizeof stand->turn);
}

/* False: an axis of what the two bodies have not. */
static bool take_cache(archive_reader *r, const polytope *a, const polytope *b, rigid_cache *c) {
  const uint32_t kind = gz_archive_take_u32(r);
  c->axis.kind = (polytope_axis_kind)kind;
  c->axis.first = gz_archive_take_u32(r);
  c->axis.second = gz_archive_take_u32(r);
  take(r, &c->axis.out, sizeof c->axis.out);
  take(r, c->axis.normal, sizeof c->axis.normal);
  take_stand(r, &c->at_axis);
  take_stand(r, &c->at_points);
  take(r, &c->margin, sizeof c->margin);
  take(r, c->normal, sizeof c->normal);
  if (kind == AXIS_NONE) return true;
  if (kind == AXIS_EDGES) return c->axis.first < a->edge_count && c->axis.second < b->edge_count;
  return kind <= AXIS_EDGES && c->axis.first < (kind == AXIS_FIRST ? a : b)->face_count;
}

/* The body itself if it has no parts; NULL: there is no such part. */
static const rigid_body *part_of(const rigid_body *body, uint32_t part) {
  if (body->part_count == 0) return part == 0 ? body : NULL;
  return part < body->part_count ? &body->parts[part] : NULL;
}

/* Which parts of the two, if they have any; those of nothing have radii of nothing. */
static bool take_parts(archive_reader *r, rigid_contact *c, const rigid_body *sides[2]) {
  take(r, c->parts, sizeof c->parts);
  if (c->count == 0 && c->parts[0] == NO_PART && c->parts[1] == NO_PART) return true;
  for (int i = 0; i < 2; i++) sides[i] = part_of(sides[i], c->parts[i]);
  return sides[0] != NULL && sides[1] != NULL;
}

static bool take_contact(archive_reader *r, const graze_rigid *world, rigid_contact *c) {
  memset(c, 0, sizeof *c);
  c->a = gz_archive_take_u32(r);
  c->b = gz_archive_take_u32(r);
  c->count = gz_archive_take_u32(r);
  const uint32_t patch = gz_archive_take_u32(r);
  c->is_patch = patch > 0;
  c->patch = patch > 0 ? patch - 1 : 0;
  c->touches = gz_archive_take_u32(r) != 0;
  if (c->a >= world->bodies.count || c->b >= world->bodies.count + world->walls.count || c->b <= c->a ||
      c->count > MOST_POINTS)
    return false;
  const rigid_body *sides[2] = {rigid_body_at(world, c->a), rigid_body_at(world, c->b)};
  if (c->is_patch != (rigid_are_meshed(sides[0], sides[1]) || rigid_are_compound(sides[0], sides[1]))) return false;
  if (is_of_parts(world, c) && !take_parts(r, c, sides)) return false;
  for (int i = 0; i < 2; i++) c->radii[i] = sides[i]->radius;
  take(r, c->normal, sizeof c->normal);
  take(r, &c->speed, sizeof c->speed);
  take(r, &c->impulse, sizeof c->impulse);
  take(r, &c->part, sizeof c->part);
  take(r, c->dragged, sizeof c->dragged);
  take(r, c->rolled, sizeof c->rolled);
  take(r, &c->twisted, sizeof c->twisted);
  c->strained = gz_archive_take_u32(r) != 0;
  take(r, &c->stiffened, sizeof c->stiffened);
  if (!take_cache(r, &sides[0]->core, &sides[1]->core, &c->cache)) return false;
  for (uint32_t i = 0; i < c->count; i++) {
    rigid_point *p = &c->points[i];
    p->feature = gz_archive_take_u32(r);
    p->owner = gz_archive_take_u32(r) != 0;
    take(r, p->own, sizeof p->own);
    take(r, &p->gap, sizeof p->gap);
    take(r, &p->pressed, sizeof p->pressed);
  }
  return true;
}

static graze_status take_contacts(archive_reader *r, graze_rigid *world, gz_array *to) {
  const uint64_t count = gz_archive_take_u64(r);
  if (count > r->length / 16) return gz_archive_error(r, "more contacts than the file can hold");
  to->count = 0;
  if (!array_reserve(world->context, to, count + 1, sizeof(rigid_contact)))
    return gz_fail_memory(world->context, count * sizeof(rigid_contact));
  for (uint64_t i = 0; i < count; i++) {
    if (!take_contact(r, world, RIGID_AT(*to, rigid_contact, i)))
      return gz_archive_error(r, "a contact of what is not there");
    to->count++;
  }
  return GRAZE_OK;
}

static graze_status take_state(archive_reader *r, graze_rigid *world) {
  world->step = gz_archive_take_u64(r);
  world->start_step = gz_archive_take_u64(r);
  take(r, &world->dt, sizeof world->dt);
  take(r, &world->start_time, sizeof world->start_time);
  take(r, &world->dissipated, sizeof world->dissipated);
  for (uint32_t i = 0; i < world->bodies.count; i++) {
    rigid_body *b = rigid_body_at(world, i);
    take(r, b->position, sizeof b->position);
    take(r, b->orientation, sizeof b->orientation);
    take(r, b->velocity, sizeof b->velocity);
    take(r, b->spin, sizeof b->spin);
    b->left = gz_archive_take_u32(r) != 0;
    b->asleep = gz_archive_take_u32(r) != 0 && b->type == GRAZE_BODY_DYNAMIC;
    b->nap = gz_archive_take_u32(r);
    take(r, &b->rested, sizeof b->rested);
    gz_rigid_set_rotation(b);
  }
  for (size_t i = 0; i < world->joints.count; i++) {
    rigid_joint *j = RIGID_AT(world->joints, rigid_joint, i);
    j->broken = gz_archive_take_u32(r) != 0;
    take(r, &j->force, sizeof j->force);
  }
  graze_status listed = gz_rigid_list_joined(world);
  if (listed == GRAZE_OK) listed = gz_rigid_restore_sleep(world);
  if (listed == GRAZE_OK) listed = take_contacts(r, world, &world->contacts);
  if (listed == GRAZE_OK) listed = take_contacts(r, world, &world->resting);
  if (listed != GRAZE_OK) return listed;
  return r->overrun || r->at != r->length ? gz_archive_error(r, "the state ends elsewhere") : GRAZE_OK;
}

graze_status gz_rigid_take_state(archive_reader *r, graze_rigid *world) {
  if (gz_archive_take_u64(r) != find_identity(world)) return gz_archive_error(r, "the state is that of another world");
  world->is_broken = true;
  graze_status status = take_state(r, world);
  world->is_broken = status != GRAZE_OK;
  return status;
}

static graze_status restore_from(archive_reader *r, graze_rigid *world) {
  archive_type type;
  graze_status status = gz_archive_next(r, &type);
  if (status != GRAZE_OK) return status;
  if (type != ARCHIVE_RIGID) return gz_archive_error(r, "no state of a world of rigid bodies");
  return gz_rigid_take_state(r, world);
}

graze_status graze_rigid_restore(graze_rigid *world, const char *path) {
  archive_reader r;
  if (world == NULL || path == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return gz_file_error(world->context, path, "cannot open");
  const unsigned saved = gz_fp_enter();
  graze_status status = gz_archive_open(&r, world->context, file, path);
  if (status == GRAZE_OK) status = restore_from(&r, world);
  gz_fp_leave(saved);
  gz_archive_reader_release(&r);
  close(file);
  if (status == GRAZE_OK) gz_rigid_record_state(world);
  return status;
}
