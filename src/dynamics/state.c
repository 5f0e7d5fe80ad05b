/* The state of a world, in and out: particles in bulk, its hash, and files that a run goes on from. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "dynamics/record.h"

/* ---- particles ------------------------------------------------------------------------------------------------- */

static const particle_set *find_set(const graze_world *world, uint32_t set) {
  if (set < world->sets.count) return WORLD_AT(world->sets, particle_set, set);
  gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "there is no set %u", set);
  return NULL;
}

/* Position, velocity or spin. */
static double *field_of(ball_rows *ball, int what) {
  return what == 0 ? ball->position : what == 1 ? ball->velocity : ball->spin;
}

/* Of a particle, wherever it is. */
static const double *row_of(const graze_world *world, const particle_set *set, uint32_t i, int what) {
  if (set->is_added) {
    return field_of(WORLD_AT(world->added, ball_rows, set->added + i), what);
  }
  return field_of(&world->now[world->place[set->number + i]], what);
}

graze_status graze_world_get_radii(const graze_world *world, uint32_t set, double *radii) {
  if (world == NULL || radii == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  const particle_set *s = find_set(world, set);
  if (s == NULL) return GRAZE_ERROR_ARGUMENT;
  for (uint32_t i = 0; i < s->count; i++) radii[i] = row_of(world, s, i, 0)[3];
  return GRAZE_OK;
}

graze_status graze_world_get_masses(const graze_world *world, uint32_t set, double *masses) {
  if (world == NULL || masses == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  const particle_set *s = find_set(world, set);
  if (s == NULL) return GRAZE_ERROR_ARGUMENT;
  for (uint32_t i = 0; i < s->count; i++) masses[i] = isnan(s->mass) ? 1 / row_of(world, s, i, 1)[3] : s->mass;
  return GRAZE_OK;
}

graze_status graze_world_get_particles(const graze_world *world, uint32_t set, const graze_particle_state *state) {
  if (world == NULL || state == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  double *const to[3] = {state->positions, state->velocities, state->spins};
  const particle_set *s = find_set(world, set);
  if (s == NULL) return GRAZE_ERROR_ARGUMENT;
  for (int what = 0; what < 3; what++) {
    for (uint32_t i = 0; to[what] != NULL && i < s->count; i++)
      memcpy(to[what] + 3 * (size_t)i, row_of(world, s, i, what), 3 * sizeof(double));
  }
  return GRAZE_OK;
}

static void store(const graze_world *world, double to[3], const double from[3]) {
  for (int k = 0; k < 3; k++) to[k] = stored(world, from[k]);
}

graze_status graze_world_set_particles(graze_world *world, uint32_t set, const graze_particle_state *state) {
  static const char *const words[3] = {"position", "velocity", "spin"};
  if (world == NULL || state == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  const double *const from[3] = {state->positions, state->velocities, state->spins};
  const particle_set *s = find_set(world, set);
  if (s == NULL) return GRAZE_ERROR_ARGUMENT;
  for (int what = 0; what < 3; what++) {
    for (uint64_t i = 0; from[what] != NULL && i < 3 * (uint64_t)s->count; i++) {
      if (isfinite(stored(world, from[what][i]))) continue;
      return gz_fail(world->context, GRAZE_ERROR_NOT_FINITE, "particle %.60s/%u: %s %c is %g", s->name,
                     (uint32_t)(i / 3), words[what], "xyz"[i % 3], from[what][i]);
    }
  }
  graze_status status = gz_world_prepare(world);
  if (status != GRAZE_OK) return status;
  for (int what = 0; what < 3; what++) {
    for (uint32_t i = 0; from[what] != NULL && i < s->count; i++)
      store(world, field_of(&world->now[world->place[s->number + i]], what), from[what] + 3 * (size_t)i);
  }
  for (uint32_t i = 0; from[0] != NULL && i < s->count; i++)
    gz_world_wrap(world, world->now[world->place[s->number + i]].position);
  world->is_accelerated = false;
  world->engine_run = 0;
  if (from[0] != NULL) world->close.way = (double)INFINITY;
  gz_record_particles(world, set, state);
  return GRAZE_OK;
}

/* ---- hash ------------------------------------------------------------------------------------------------------ */

static uint64_t hash_ball(uint64_t number, const double *at, const double *q, const double *v, const double *w) {
  return hash_doubles(hash_doubles(hash_doubles(hash_doubles(number, at, 3), q, 4), v, 3), w, 3);
}

static const double unturned[4] = {1, 0, 0, 0};

/* Of balls that have no number yet the hash is the same as when they have one. */
static uint64_t hash_by_number(const graze_world *world) {
  uint64_t sum = 0, number = 0;
  for (size_t i = 0; i < world->bodies.count; i++) {
    const dem_body *b = WORLD_AT(world->bodies, dem_body, i);
    if (b->type != GRAZE_BODY_DYNAMIC) continue;
    const ball_rows *added = b->is_added ? WORLD_AT(world->added, ball_rows, b->added) : NULL;
    uint32_t p = added != NULL ? 0 : world->place[b->number];
    sum += hash_ball(number++, added != NULL ? added->position : world->now[p].position, b->orientation,
                     added != NULL ? added->velocity : world->now[p].velocity,
                     added != NULL ? added->spin : world->now[p].spin);
  }
  for (size_t s = 0; s < world->sets.count; s++) {
    const particle_set *set = WORLD_AT(world->sets, particle_set, s);
    for (uint32_t i = 0; i < set->count; i++)
      sum +=
          hash_ball(number++, row_of(world, set, i, 0), unturned, row_of(world, set, i, 1), row_of(world, set, i, 2));
  }
  return sum;
}

typedef struct hashing {
  const graze_world *world;
  pieces pieces;
  uint64_t sums[PARALLEL_PIECES];
} hashing;

static void hash_piece(void *argument, uint32_t index) {
  hashing *h = argument;
  const graze_world *world = h->world;
  const uint32_t *order = world->body_order.data;
  const uint64_t end = pieces_end(&h->pieces, index);
  uint64_t sum = 0;
  for (uint64_t p = pieces_begin(&h->pieces, index); p < end; p++) {
    const uint32_t n = world->number[p];
    if (n >= world->dynamic) continue;
    const double *q = n < world->dynamic_bodies ? WORLD_AT(world->bodies, dem_body, order[n])->orientation : unturned;
    sum += hash_ball(n, world->now[p].position, q, world->now[p].velocity, world->now[p].spin);
  }
  h->sums[index] = sum;
}

/* By place: in the order of memory, and on all threads. */
uint64_t graze_world_get_hash(const graze_world *world) {
  if (world == NULL) return 0;
  if (world->added.count > 0) return hash_by_number(world);
  hashing h = {.world = world, .pieces = pieces_of(world->count, 512)};
  gz_parallel_each(world->context, h.pieces.number, hash_piece, &h);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < h.pieces.number; i++) sum += h.sums[i];
  return sum;
}

/* ---- saving ---------------------------------------------------------------------------------------------------- */

/* What the state is of: everything that the caller has said. */
static uint64_t world_identity(const graze_world *world) {
  uint64_t h = gz_hash_bytes(world->def.gravity, sizeof world->def.gravity, world->def.integrator);
  const uint64_t counts[] = {world->count,           world->dynamic,        world->sets.count,
                             world->bodies.count,    world->walls.count,    world->kinds.count,
                             world->materials.count, world->def.events,     world->def.periodic[0],
                             world->def.periodic[1], world->def.periodic[2]};
  h = gz_hash_bytes(counts, sizeof counts, h + (world->def.precision == GRAZE_FLOAT));
  h = gz_hash_bytes(&world->def.bounds, sizeof world->def.bounds, h);
  for (size_t i = 0; i < world->kinds.count; i++) {
    const ball_kind *kind = WORLD_AT(world->kinds, ball_kind, i);
    h = gz_hash_bytes(kind->drag, sizeof kind->drag, h + kind->material);
  }
  for (size_t i = 0; i < world->walls.count; i++) {
    const dem_wall *wall = WORLD_AT(world->walls, dem_wall, i);
    h = gz_hash_bytes(wall->point, sizeof wall->point, h + wall->material);
    h = gz_hash_bytes(wall->normal, sizeof wall->normal, h);
  }
  for (size_t i = 0; i < world->surfaces.count; i++) {
    const dem_surface *s = WORLD_AT(world->surfaces, dem_surface, i);
    const dem_body *b = WORLD_AT(world->bodies, dem_body, s->body);
    graze_mesh_facts facts;
    graze_mesh_get_facts(s->mesh, &facts);
    h = gz_hash_bytes(&facts.hash, sizeof facts.hash, h + s->material + b->type);
  }
  h = gz_hash_bytes(world->laws, world->materials.count * world->materials.count * sizeof(law), h);
  for (uint32_t n = 0; n < world->count; n++) {
    uint32_t p = world->place[n];
    const double constants[3] = {world->now[p].position[3], world->now[p].velocity[3], world->now[p].spin[3]};
    h = gz_hash_bytes(constants, sizeof constants, h + world->kind[p]);
  }
  return h;
}

static void put_contact(archive_writer *w, const graze_world *world, uint32_t number, uint32_t partner,
                        const double strain[3], const double hit[2]) {
  gz_archive_put_u32(w, number);
  gz_archive_put_u32(w, partner);
  if (world->has_springs) gz_archive_put(w, strain, sizeof(spring));
  if (world->def.events) gz_archive_put(w, hit, 2 * sizeof(double));
}

static void put_entry(archive_writer *w, const graze_world *world, const contact_memory *m, uint64_t entry,
                      uint32_t number, uint32_t partner) {
  put_contact(w, world, number, partner, m->springs != NULL ? m->springs[entry] : NULL,
              m->hits != NULL ? m->hits[entry] : NULL);
}

static uint64_t count_touching(const contact_memory *m, uint64_t count) {
  uint64_t touching = 0;
  for (uint64_t i = 0; m->touching != NULL && i < count; i++) touching += m->touching[i];
  return touching;
}

/* Each by its lower number; with `w` NULL they are counted. */
static uint64_t put_balls(archive_writer *w, const graze_world *world) {
  uint64_t count = 0;
  for (uint32_t n = 0; n < world->count; n++) {
    close_side s;
    for (uint32_t r = gz_close_first(world, n); gz_close_at(world, n, r, &s); r++) {
      double strain[3], hit[2];
      if (!close_touches(&world->close, r)) continue;
      count++;
      if (w == NULL) continue;
      gz_close_recall(world, &s, strain, hit);
      put_contact(w, world, n, world->number[s.partner], strain, hit);
    }
  }
  return count;
}

static void put_contacts(archive_writer *w, const graze_world *world) {
  const neighbour_list *list = &world->list;
  const bool remembers = world->remembers && world->is_listed && world->close.is_made;
  gz_archive_put_u64(w, remembers ? put_balls(NULL, world) : 0);
  if (remembers) put_balls(w, world);
  gz_archive_put_u64(w, remembers ? count_touching(&list->of_walls, list->wall_count) : 0);
  for (uint64_t e = 0; remembers && e < list->wall_count; e++) {
    if (list->of_walls.touching[e])
      put_entry(w, world, &list->of_walls, e, world->number[list->walls[e].place], list->walls[e].wall);
  }
  gz_archive_put_u64(w, remembers ? gz_surfaces_keep(world, NULL) : 0);
  for (uint64_t i = 0; remembers && i < list->surface_count; i++) {
    const surface_entry *e = &list->surfaces[i];
    for (uint32_t slot = e->first; slot < e->first + e->count && list->of_facets.touching[slot]; slot++) {
      put_entry(w, world, &list->of_facets, slot, world->number[e->place], e->surface);
      gz_archive_put(w, list->facet_normals[slot], sizeof(spring));
    }
  }
}

static void put_surfaces(archive_writer *w, const graze_world *world) {
  for (size_t i = 0; i < world->surfaces.count; i++) {
    const dem_surface *s = WORLD_AT(world->surfaces, dem_surface, i);
    const double *const vectors[] = {s->position, s->velocity, s->spin};
    for (int k = 0; k < 3; k++) gz_archive_put(w, vectors[k], sizeof s->position);
  }
}

static void put_left(archive_writer *w, const graze_world *world) {
  uint64_t count = 0;
  for (uint32_t n = 0; n < world->count; n++) count += world->left[n];
  gz_archive_put_u64(w, count);
  for (uint32_t n = 0; n < world->count; n++) {
    if (world->left[n]) gz_archive_put_u32(w, n);
  }
}

void gz_world_put_state(archive_writer *w, const graze_world *world) {
  gz_archive_put_u64(w, world_identity(world));
  gz_archive_put_u64(w, world->step);
  gz_archive_put_u64(w, world->start_step);
  gz_archive_put(w, &world->dt, sizeof world->dt);
  gz_archive_put(w, &world->start_time, sizeof world->start_time);
  gz_archive_put_u32(w, world->is_accelerated);
  for (uint32_t n = 0; n < world->count; n++) {
    uint32_t p = world->place[n];
    const ball_rows *now = &world->now[p], *next = &world->next[p];
    const row none = {0};
    const double *const rows[] = {now->position, now->velocity, now->spin,
                                  world->is_accelerated ? next->velocity : none,
                                  world->is_accelerated ? next->spin : none};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) gz_archive_put(w, rows[i], 3 * sizeof(double));
    gz_archive_put(w, &world->dissipated[p], sizeof(double));
  }
  for (size_t i = 0; i < world->bodies.count; i++)
    gz_archive_put(w, WORLD_AT(world->bodies, dem_body, i)->orientation, 4 * sizeof(double));
  put_surfaces(w, world);
  put_contacts(w, world);
  put_left(w, world);
  gz_archive_end_section(w, ARCHIVE_WORLD);
}

graze_status graze_world_save(graze_world *world, const char *path) {
  archive_writer w;
  new_file file;
  if (world == NULL || path == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  if (world->is_broken)
    return gz_fail(world->context, GRAZE_ERROR_NOT_FINITE, "the world has a number that is not finite");
  graze_status status = gz_world_prepare(world);
  if (status == GRAZE_OK) status = gz_world_make_laws(world);
  if (status == GRAZE_OK && (world->kept_wait || world->carries)) status = gz_list_update(world);
  if (status == GRAZE_OK) status = gz_save_begin(world->context, path, &file);
  if (status != GRAZE_OK) return status;
  gz_archive_begin(&w, world->context, file.descriptor, path);
  gz_world_put_state(&w, world);
  gz_archive_writer_release(&w);
  return gz_save_end(world->context, path, &file, w.status);
}

/* ---- restoring ------------------------------------------------------------------------------------------------- */

static void take_ball(archive_reader *r, graze_world *world, uint32_t n) {
  uint32_t p = world->place[n];
  ball_rows *now = &world->now[p], *next = &world->next[p];
  double *const rows[] = {now->position, now->velocity, now->spin, next->velocity, next->spin};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    memcpy(rows[i], gz_archive_take(r, 3 * sizeof(double)), 3 * sizeof(double));
  world->dissipated[p] = gz_archive_take_double(r);
}

static bool take_contact(archive_reader *r, graze_world *world, partner_kind kind) {
  const size_t most[] = {world->count, world->walls.count, world->surfaces.count};
  graze_kept_contact c = {.with = (graze_partner)kind};
  c.number = gz_archive_take_u32(r);
  c.partner = gz_archive_take_u32(r);
  if (world->has_springs) memcpy(c.spring, gz_archive_take(r, sizeof c.spring), sizeof c.spring);
  if (world->def.events) memcpy(c.hit, gz_archive_take(r, sizeof c.hit), sizeof c.hit);
  if (kind == PARTNER_SURFACE) memcpy(c.normal, gz_archive_take(r, sizeof c.normal), sizeof c.normal);
  if (c.number >= world->count || c.partner >= most[kind]) return false;
  gz_contacts_take(world, &c, 1);
  return true;
}

static graze_status take_contacts(archive_reader *r, graze_world *world) {
  graze_status status = gz_list_update(world);
  for (int kind = PARTNER_BALL; status == GRAZE_OK && kind <= PARTNER_SURFACE; kind++) {
    uint64_t count = gz_archive_take_u64(r);
    if (count > r->length / 8) return gz_archive_error(r, "more contacts than the file can hold");
    for (uint64_t i = 0; i < count; i++) {
      if (!world->remembers || !take_contact(r, world, (partner_kind)kind))
        return gz_archive_error(r, "a contact of what is not there");
    }
  }
  return status;
}

static graze_status take_left(archive_reader *r, graze_world *world) {
  uint64_t count = gz_archive_take_u64(r);
  if (count > world->count) return gz_archive_error(r, "more balls have left than there are");
  for (uint32_t n = 0; n < world->count; n++) world->left[n] = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint32_t number = gz_archive_take_u32(r);
    if (number >= world->count) return gz_archive_error(r, "a ball has left that is not there");
    world->left[number] = 1;
  }
  return GRAZE_OK;
}

static void take_surfaces(archive_reader *r, graze_world *world) {
  for (size_t i = 0; i < world->surfaces.count; i++) {
    dem_surface *s = WORLD_AT(world->surfaces, dem_surface, i);
    double *const vectors[] = {s->position, s->velocity, s->spin};
    for (int k = 0; k < 3; k++) memcpy(vectors[k], gz_archive_take(r, sizeof s->position), sizeof s->position);
    gz_surface_set_rotation(s, WORLD_AT(world->bodies, dem_body, s->body)->orientation);
  }
}

graze_status gz_world_take_state(archive_reader *r, graze_world *world) {
  uint64_t least = 8 * 5 + 4 + world->count * (uint64_t)(16 * sizeof(double)) +
                   world->bodies.count * 4 * sizeof(double) + world->surfaces.count * 9 * sizeof(double) + 32;
  if (r->length < least) return gz_archive_error(r, "the state ends too early");
  world->step = gz_archive_take_u64(r);
  world->start_step = gz_archive_take_u64(r);
  world->dt = gz_archive_take_double(r);
  world->start_time = gz_archive_take_double(r);
  world->is_accelerated = gz_archive_take_u32(r) != 0;
  for (uint32_t n = 0; n < world->count; n++) take_ball(r, world, n);
  for (size_t i = 0; i < world->bodies.count; i++) {
    double *q = WORLD_AT(world->bodies, dem_body, i)->orientation;
    memcpy(q, gz_archive_take(r, 4 * sizeof(double)), 4 * sizeof(double));
  }
  take_surfaces(r, world);
  world->is_listed = world->close.is_made = world->carries = world->kept_wait = false;
  world->engine_run = 0;
  world->lost.count = 0;
  graze_status status = take_contacts(r, world);
  if (status == GRAZE_OK) status = take_left(r, world);
  if (status == GRAZE_OK && (r->overrun || r->at != r->length)) return gz_archive_error(r, "the state ends elsewhere");
  return status;
}

graze_status graze_world_restore(graze_world *world, const char *path) {
  archive_reader r;
  archive_type type;
  if (world == NULL || path == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  graze_status status = gz_world_prepare(world);
  if (status == GRAZE_OK) status = gz_world_make_laws(world);
  if (status != GRAZE_OK) return status;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return gz_file_error(world->context, path, "cannot open");
  status = gz_archive_open(&r, world->context, file, path);
  if (status == GRAZE_OK) status = gz_archive_next(&r, &type);
  if (status == GRAZE_OK && type != ARCHIVE_WORLD) status = gz_archive_error(&r, "no state of a world");
  if (status == GRAZE_OK) {
    if (gz_archive_take_u64(&r) != world_identity(world))
      status = gz_archive_error(&r, "the state is that of another world");
    else
      status = gz_world_take_state(&r, world);
    world->is_broken = status != GRAZE_OK;
  }
  if (status == GRAZE_OK) gz_record_state(world);
  gz_archive_reader_release(&r);
  close(file);
  return status;
}
