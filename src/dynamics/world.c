/* Worlds: what is in them, and where. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/record.h"

enum { WORLD_COOKIE = 0x574f5231, PARTICLE_COOKIE = 0x50415231, BODY_COOKIE = 0x424f4431 };

graze_world_def graze_default_world_def(void) {
  return (graze_world_def){
      .gravity = {0, 0, -9.81}, .bounds = graze_box_empty(), .precision = GRAZE_DOUBLE, .cookie = WORLD_COOKIE};
}

graze_particle_def graze_default_particle_def(void) {
  const double none = (double)NAN;
  return (graze_particle_def){.radius = none, .mass = none, .density = none, .cookie = PARTICLE_COOKIE};
}

graze_body_def graze_default_body_def(void) {
  const double none = (double)NAN;
  return (graze_body_def){
      .radius = none, .orientation = {1, 0, 0, 0}, .mass = none, .density = none, .cookie = BODY_COOKIE};
}

static bool all_finite(const double *x, int count) {
  for (int i = 0; i < count; i++) {
    if (!isfinite(x[i])) return false;
  }
  return true;
}

/* ---- making and ending ----------------------------------------------------------------------------------------- */

static graze_status check_world(const graze_context *context, const graze_world_def *def) {
  if (def->cookie != WORLD_COOKIE || (unsigned)def->integrator > GRAZE_EULER || (unsigned)def->precision > GRAZE_DOUBLE)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "the world's definition is not initialised");
  if (!all_finite(def->gravity, 3)) return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "gravity is not finite");
  bool bounded = !graze_box_is_empty(&def->bounds);
  if (bounded && !(all_finite(def->bounds.min, 3) && all_finite(def->bounds.max, 3)))
    return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "bounds are not finite");
  for (int k = 0; k < 3; k++) {
    if (def->periodic[k] && !(bounded && def->bounds.max[k] > def->bounds.min[k]))
      return gz_fail(context, GRAZE_ERROR_ARGUMENT, "periodic %c needs bounds", "xyz"[k]);
  }
  return GRAZE_OK;
}

graze_status graze_world_create(graze_context *context, const graze_world_def *def, graze_world **world) {
  if (context == NULL || def == NULL || world == NULL) return gz_fail_null(context);
  graze_status status = check_world(context, def);
  if (status != GRAZE_OK) return status;
  graze_world *made = gz_new_zeroed(context, 1, sizeof *made);
  if (made == NULL) return gz_fail_memory(context, sizeof *made);
  made->context = context;
  made->def = *def;
  status = graze_broadphase_create(context, NULL, &made->broadphase);
  if (status != GRAZE_OK) {
    gz_free(made);
    return status;
  }
  *world = made;
  return GRAZE_OK;
}

void graze_world_destroy(graze_world *world) {
  if (world == NULL) return;
  const graze_context *context = world->context;
  gz_array *const arrays[] = {&world->materials, &world->pairs,   &world->sets,       &world->bodies,   &world->walls,
                              &world->kinds,     &world->added,   &world->body_order, &world->contacts, &world->events,
                              &world->lost,      &world->escaped, &world->surfaces};
  for (size_t i = 0; i < world->materials.count; i++) gz_free(WORLD_AT(world->materials, dem_material, i)->name);
  for (size_t i = 0; i < world->sets.count; i++) gz_free(WORLD_AT(world->sets, particle_set, i)->name);
  for (size_t i = 0; i < world->bodies.count; i++) gz_free(WORLD_AT(world->bodies, dem_body, i)->name);
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) gz_free(arrays[i]->data);
  buffer *const buffers[] = {&world->saved, &world->old_numbers, &world->met, &world->far_memory};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) gz_buffer_release(context, buffers[i]);
  for (size_t i = 0; i < sizeof world->asked / sizeof world->asked[0]; i++)
    gz_buffer_release(context, &world->asked[i]);
  gz_buffer_release(context, &world->ball_memory);
  gz_buffer_release(context, &world->now_memory);
  gz_buffer_release(context, &world->next_memory);
  gz_buffer_release(context, &world->law_memory);
  gz_list_release(world);
  gz_surfaces_release(world);
  gz_record_close(world);
  graze_broadphase_destroy(world->broadphase);
  gz_free(world);
}

/* ---- adding ---------------------------------------------------------------------------------------------------- */

graze_status gz_world_check_not_begun(const graze_world *world) {
  if (world->recorder != NULL)
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "nothing can be added to a world that is being recorded");
  if (world->step == 0) return GRAZE_OK;
  return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "nothing can be added to a world that has begun to move");
}

/* Makes room in an array; MEMORY is told. */
static graze_status grow(const graze_world *world, gz_array *array, size_t more, size_t size) {
  return array_reserve(world->context, array, more, size) ? GRAZE_OK : gz_fail_memory(world->context, more * size);
}

static const double *strided(const double *numbers, size_t stride, size_t width, uint32_t i) {
  return (const double *)(const void *)((const char *)numbers + i * (stride != 0 ? stride : width * sizeof(double)));
}

static graze_status bad_number(const graze_context *context, const char *who, const char *field, double value,
                               const char *must) {
  graze_status status = isfinite(value) ? GRAZE_ERROR_ARGUMENT : GRAZE_ERROR_NOT_FINITE;
  return gz_fail(context, status, "%s: %s is %.17g: it must be finite and %s", who, field, value, must);
}

/* Fills the ball from radius and mass, or density, which have been checked to be one of the two. */
static graze_status set_mass(const graze_context *context, const char *who, double radius, double mass, double density,
                             ball_rows *ball, double *found) {
  if (!(isfinite(radius) && radius > 0)) return bad_number(context, who, "radius", radius, "above 0");
  if (!isnan(density)) {
    if (!(isfinite(density) && density > 0)) return bad_number(context, who, "density", density, "above 0");
    mass = density * (4.0 / 3 * acos(-1)) * radius * radius * radius;
  }
  if (!(isfinite(mass) && mass > 0)) return bad_number(context, who, "mass", mass, "above 0");
  double inertia = 0.4 * mass * radius * radius;
  if (!(isfinite(1 / mass) && isfinite(1 / inertia) && isfinite(inertia)))
    return bad_number(context, who, "mass", mass, "within the range of numbers, and so must be its inertia");
  *found = mass;
  ball->velocity[3] = 1 / mass;
  ball->spin[3] = 1 / inertia;
  return GRAZE_OK;
}

static graze_status check_vector(const graze_context *context, const char *who, const char *field, const double *v) {
  static const char axes[] = "xyz";
  for (int k = 0; k < 3; k++) {
    if (isfinite(v[k])) continue;
    return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "%s: %s %c is %g", who, field, axes[k], v[k]);
  }
  return GRAZE_OK;
}

static graze_status check_material_number(const graze_world *world, const char *who, uint32_t material) {
  if (material < world->materials.count) return GRAZE_OK;
  return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "%s: there is no material %u", who, material);
}

static graze_status add_kind(graze_world *world, uint32_t material, const double drag[2], uint32_t *kind) {
  graze_status status = grow(world, &world->kinds, 1, sizeof(ball_kind));
  if (status != GRAZE_OK) return status;
  if (world->kinds.count >= UINT16_MAX)
    return gz_fail(world->context, GRAZE_ERROR_LIMIT, "more than %u sets and bodies", UINT16_MAX);
  *kind = (uint32_t)world->kinds.count++;
  *WORLD_AT(world->kinds, ball_kind, *kind) = (ball_kind){material, {drag[0], drag[1]}};
  world->has_drag |= drag[0] != 0 || drag[1] != 0;
  return GRAZE_OK;
}

/* What the world keeps of a ball's numbers. */
static graze_status store_ball(const graze_world *world, const char *who, ball_rows *ball) {
  const bool moves = ball->velocity[3] != 0;
  double *const rows[] = {ball->position, ball->velocity, ball->spin};
  bool good = true;
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 4; k++) {
      rows[i][k] = stored(world, rows[i][k]);
      good &= isfinite(rows[i][k]);
    }
  }
  good &= ball->position[3] > 0 && (!moves || (ball->velocity[3] > 0 && ball->spin[3] > 0));
  if (good) return GRAZE_OK;
  return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "%s: a number is beyond the range of single precision", who);
}

static graze_status make_particle(const graze_world *world, const graze_particle_def *def, uint32_t i,
                                  ball_rows *ball) {
  const graze_context *context = world->context;
  static const double still[3] = {0, 0, 0};
  char who[96];
  double mass;
  const double *const position = strided(def->positions, def->position_stride, 3, i);
  const double *const velocity = def->velocities ? strided(def->velocities, def->velocity_stride, 3, i) : still;
  const double *const spin = def->spins ? strided(def->spins, def->spin_stride, 3, i) : still;
  double radius = def->radii ? *strided(def->radii, def->radius_stride, 1, i) : def->radius;
  snprintf(who, sizeof who, "particle %.60s/%u", def->name, i);
  memcpy(ball->position, position, 3 * sizeof(double));
  memcpy(ball->velocity, velocity, 3 * sizeof(double));
  memcpy(ball->spin, spin, 3 * sizeof(double));
  ball->position[3] = radius;
  graze_status status = check_vector(context, who, "position", position);
  if (status == GRAZE_OK) status = check_vector(context, who, "velocity", velocity);
  if (status == GRAZE_OK) status = check_vector(context, who, "spin", spin);
  if (status == GRAZE_OK) status = set_mass(context, who, radius, def->mass, def->density, ball, &mass);
  return status == GRAZE_OK ? store_ball(world, who, ball) : status;
}

static graze_status check_particles(const graze_world *world, const graze_particle_def *def) {
  const graze_context *context = world->context;
  char who[96];
  if (def->cookie != PARTICLE_COOKIE || def->name == NULL || (def->count > 0 && def->positions == NULL))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "the particles' definition is not initialised");
  snprintf(who, sizeof who, "particles '%.60s'", def->name);
  if (isnan(def->mass) == isnan(def->density))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: either mass or density must be given", who);
  for (int i = 0; i < 2; i++) {
    if (!(isfinite(def->drag[i]) && def->drag[i] >= 0))
      return bad_number(context, who, "drag", def->drag[i], "at least 0");
  }
  return check_material_number(world, who, def->material);
}

graze_status graze_world_add_particles(graze_world *world, const graze_particle_def *def, uint32_t *set) {
  if (world == NULL || def == NULL || set == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  uint32_t kind = 0;
  graze_status status = gz_world_check_not_begun(world);
  if (status == GRAZE_OK) status = check_particles(world, def);
  if (status == GRAZE_OK) status = grow(world, &world->added, def->count, sizeof(ball_rows));
  if (status == GRAZE_OK) status = grow(world, &world->sets, 1, sizeof(particle_set));
  for (uint32_t i = 0; status == GRAZE_OK && i < def->count; i++)
    status = make_particle(world, def, i, WORLD_AT(world->added, ball_rows, world->added.count + i));
  if (status != GRAZE_OK) return status;
  char *name = gz_new_text(world->context, def->name);
  if (name == NULL) return gz_fail_memory(world->context, strlen(def->name));
  status = add_kind(world, def->material, def->drag, &kind);
  if (status != GRAZE_OK) {
    gz_free(name);
    return status;
  }
  *set = (uint32_t)world->sets.count++;
  *WORLD_AT(world->sets, particle_set, *set) = (particle_set){.name = name,
                                                              .count = def->count,
                                                              .mass = def->mass,
                                                              .density = def->density,
                                                              .kind = kind,
                                                              .added = world->added.count,
                                                              .is_added = true};
  world->added.count += def->count;
  return GRAZE_OK;
}

static graze_status make_body(const graze_world *world, const char *who, const graze_body_def *def, ball_rows *ball,
                              dem_body *body) {
  const graze_context *context = world->context;
  double length2 = 0;
  bool dynamic = def->type == GRAZE_BODY_DYNAMIC;
  memcpy(ball->position, def->position, sizeof def->position);
  memcpy(ball->velocity, def->velocity, sizeof def->velocity);
  memcpy(ball->spin, def->spin, sizeof def->spin);
  ball->position[3] = def->radius;
  ball->velocity[3] = ball->spin[3] = 0;
  if (dynamic && def->mesh != NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: a mesh cannot be dynamic", who);
  graze_status status = check_vector(context, who, "position", def->position);
  if (status == GRAZE_OK) status = check_vector(context, who, "velocity", def->velocity);
  if (status == GRAZE_OK) status = check_vector(context, who, "spin", def->spin);
  if (status == GRAZE_OK && dynamic)
    status = set_mass(context, who, def->radius, def->mass, def->density, ball, &body->mass);
  if (status != GRAZE_OK) return status;
  if (!dynamic && def->mesh == NULL && !(isfinite(def->radius) && def->radius > 0))
    return bad_number(context, who, "radius", def->radius, "above 0");
  if (def->type == GRAZE_BODY_STATIC)
    memset(ball->velocity, 0, sizeof ball->velocity), memset(ball->spin, 0, sizeof ball->spin);
  for (int k = 0; k < 4; k++) length2 += def->orientation[k] * def->orientation[k];
  if (!(isfinite(length2) && length2 > 0))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: orientation is no rotation", who);
  for (int k = 0; k < 4; k++) body->orientation[k] = def->orientation[k] / sqrt(length2);
  return def->mesh == NULL ? store_ball(world, who, ball) : GRAZE_OK;
}

static graze_status add_surface(graze_world *world, const graze_body_def *def, dem_body *body) {
  static const double no_drag[2] = {0, 0};
  graze_status status = gz_surface_add(world, def, body);
  if (status != GRAZE_OK) return status;
  status = add_kind(world, def->material, no_drag, &body->kind);
  if (status != GRAZE_OK) {
    world->surfaces.count--;
    return status;
  }
  body->surface = (uint32_t)world->surfaces.count - 1;
  world->is_listed = world->is_accelerated = world->has_limits = false;
  return GRAZE_OK;
}

graze_status graze_world_add_body(graze_world *world, const graze_body_def *def, graze_body_id *body) {
  static const double no_drag[2] = {0, 0};
  if (world == NULL || def == NULL || body == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  if (def->cookie != BODY_COOKIE || (unsigned)def->type > GRAZE_BODY_KINEMATIC)
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "the body's definition is not initialised");
  char who[96];
  dem_body made = {.type = def->type, .user_id = def->user_id, .surface = NO_SURFACE};
  snprintf(who, sizeof who, "body '%.60s'", def->name != NULL ? def->name : "");
  if (def->type == GRAZE_BODY_DYNAMIC && isnan(def->mass) == isnan(def->density))
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "%s: either mass or density must be given", who);
  graze_status status = gz_world_check_not_begun(world);
  if (status == GRAZE_OK) status = check_material_number(world, who, def->material);
  if (status == GRAZE_OK) status = grow(world, &world->added, 1, sizeof(ball_rows));
  if (status == GRAZE_OK) status = grow(world, &world->bodies, 1, sizeof(dem_body));
  if (status == GRAZE_OK)
    status = make_body(world, who, def, WORLD_AT(world->added, ball_rows, world->added.count), &made);
  if (status != GRAZE_OK) return status;
  made.name = gz_new_text(world->context, def->name != NULL ? def->name : "");
  if (made.name == NULL) return gz_fail_memory(world->context, 1);
  status = def->mesh != NULL ? add_surface(world, def, &made) : add_kind(world, def->material, no_drag, &made.kind);
  if (status != GRAZE_OK) {
    gz_free(made.name);
    return status;
  }
  if (def->mesh == NULL) {
    made.added = world->added.count++;
    made.is_added = true;
  }
  *body = (graze_body_id){(uint32_t)world->bodies.count, 1};
  *WORLD_AT(world->bodies, dem_body, world->bodies.count++) = made;
  return GRAZE_OK;
}

graze_status graze_world_add_wall(graze_world *world, const double point[3], const double normal[3],
                                  uint32_t material) {
  if (world == NULL || point == NULL || normal == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  char who[32];
  dem_wall wall = {.material = material};
  snprintf(who, sizeof who, "wall %zu", world->walls.count);
  graze_status status = gz_world_check_not_begun(world);
  if (status == GRAZE_OK) status = check_vector(world->context, who, "point", point);
  if (status == GRAZE_OK) status = check_vector(world->context, who, "normal", normal);
  if (status == GRAZE_OK) status = check_material_number(world, who, material);
  if (status == GRAZE_OK) status = grow(world, &world->walls, 1, sizeof wall);
  if (status != GRAZE_OK) return status;
  double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
  if (!(isfinite(length) && length > 0))
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "%s: normal has no direction", who);
  for (int k = 0; k < 3; k++) wall.point[k] = point[k], wall.normal[k] = normal[k] / length, wall.given[k] = normal[k];
  *WORLD_AT(world->walls, dem_wall, world->walls.count++) = wall;
  world->is_listed = world->is_accelerated = world->has_limits = false;
  return GRAZE_OK;
}

uint32_t graze_world_get_wall_count(const graze_world *world) {
  return world != NULL ? (uint32_t)world->walls.count : 0;
}

graze_status graze_world_get_wall(const graze_world *world, uint32_t wall, double point[3], double normal[3]) {
  if (world == NULL || point == NULL || normal == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  if (wall >= world->walls.count)
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "wall %u of %zu", wall, world->walls.count);
  const dem_wall *from = WORLD_AT(world->walls, dem_wall, wall);
  memcpy(point, from->point, sizeof from->point);
  memcpy(normal, from->given, sizeof from->given);
  return GRAZE_OK;
}

/* ---- numbers and places ---------------------------------------------------------------------------------------- */

/* The arrays of `count` balls in `memory` but for their states; with NULL: the bytes that they take. */
static size_t lay_out(graze_world *world, size_t count, void *memory) {
  carving c = {memory, 0};
  world->origin = gz_carve(&c, count * sizeof *world->origin);
  world->block_origin = gz_carve(&c, (count / BLOCK_PLACES + 1) * sizeof *world->block_origin);
  world->dissipated = gz_carve(&c, count * sizeof(double));
  world->number = gz_carve(&c, count * sizeof(uint32_t));
  world->place = gz_carve(&c, count * sizeof(uint32_t));
  world->kind = gz_carve(&c, count * sizeof(uint16_t));
  world->left = gz_carve(&c, count);
  return c.used;
}

void gz_world_wrap(const graze_world *world, double position[3]) {
  const graze_box *bounds = &world->def.bounds;
  for (int k = 0; k < 3; k++) {
    double period = world_period(world, k), x = position[k];
    if (period == 0 || (x >= bounds->min[k] && x < bounds->max[k])) continue;
    x -= period * floor((x - bounds->min[k]) / period);
    position[k] = stored(world, x >= bounds->min[k] && x < bounds->max[k] ? x : bounds->min[k]);
  }
}

/* A ball gets its number, which becomes its place. `old` is the world before, in which it was `number`, unless it comes
 * from what was added. */
static void settle(graze_world *world, const graze_world *old, const ball_rows *added, uint32_t before, uint32_t number,
                   uint32_t kind) {
  world->number[number] = world->place[number] = number;
  world->dissipated[number] = 0;
  world->left[number] = 0;
  world->kind[number] = (uint16_t)kind;
  if (added != NULL) {
    memcpy(world->now[number].position, added->position, sizeof(row));
    gz_world_wrap(world, world->now[number].position);
    memcpy(world->now[number].velocity, added->velocity, sizeof(row));
    memcpy(world->now[number].spin, added->spin, sizeof(row));
    return;
  }
  uint32_t place = old->place[before];
  memcpy(world->now[number].position, old->now[place].position, sizeof(row));
  memcpy(world->now[number].velocity, old->now[place].velocity, sizeof(row));
  memcpy(world->now[number].spin, old->now[place].spin, sizeof(row));
  world->dissipated[number] = old->dissipated[place];
}

static uint32_t settle_bodies(graze_world *world, const graze_world *old, uint32_t number, bool dynamic) {
  for (size_t i = 0; i < world->bodies.count; i++) {
    dem_body *b = WORLD_AT(world->bodies, dem_body, i);
    if ((b->type == GRAZE_BODY_DYNAMIC) != dynamic || b->surface != NO_SURFACE) continue;
    settle(world, old, b->is_added ? WORLD_AT(world->added, ball_rows, b->added) : NULL, b->number, number, b->kind);
    b->number = number++;
    b->is_added = false;
    *WORLD_AT(world->body_order, uint32_t, world->body_order.count++) = (uint32_t)i;
  }
  return number;
}

static uint32_t settle_sets(graze_world *world, const graze_world *old, uint32_t number) {
  for (size_t s = 0; s < world->sets.count; s++) {
    particle_set *set = WORLD_AT(world->sets, particle_set, s);
    for (uint32_t i = 0; i < set->count; i++) {
      const ball_rows *added = set->is_added ? WORLD_AT(world->added, ball_rows, set->added + i) : NULL;
      settle(world, old, added, set->number + i, number + i, set->kind);
    }
    set->number = number;
    set->is_added = false;
    number += set->count;
  }
  return number;
}

/* After all else, so that it is not there beside what balls were added in. */
static graze_status reserve_next(graze_world *world) {
  const size_t bytes = world->count * sizeof *world->next;
  if (world->next_memory.bytes >= bytes) return GRAZE_OK;
  if (!gz_buffer_renew(world->context, &world->next_memory, bytes)) return gz_fail_memory(world->context, bytes);
  world->next = world->next_memory.data;
  memset(world->next, 0, bytes);
  return GRAZE_OK;
}

/* Room for all, those with a number and those without. False: no memory, and the world is as before. */
static bool reserve_balls(graze_world *world, size_t count) {
  buffer memory = {0}, now = {0};
  const size_t bytes = lay_out(&(graze_world){0}, count, NULL);
  const bool good = array_reserve(world->context, &world->body_order, world->bodies.count, sizeof(uint32_t)) &&
                    gz_buffer_reserve(world->context, &memory, bytes, 0) &&
                    gz_buffer_reserve(world->context, &now, count * sizeof *world->now, 0);
  if (!good) {
    gz_buffer_release(world->context, &memory);
    return false;
  }
  world->ball_memory = memory;
  world->now_memory = now;
  world->now = now.data;
  lay_out(world, count, memory.data);
  return true;
}

graze_status gz_world_prepare(graze_world *world) {
  if (world->added.count == 0) return reserve_next(world);
  const graze_context *context = world->context;
  const uint64_t count = world->count + (uint64_t)world->added.count;
  graze_world old = *world;
  const uint32_t most = INT32_MAX / BALL_DOUBLES; /* kernels look them up by 31 bits */
  if (count > most) return gz_fail(context, GRAZE_ERROR_LIMIT, "more than %u balls", most);
  if (!reserve_balls(world, count)) return gz_fail_memory(context, count * sizeof *world->now);
  world->body_order.count = 0;
  world->dynamic_bodies = settle_bodies(world, &old, 0, true);
  world->dynamic = settle_sets(world, &old, world->dynamic_bodies);
  world->count = settle_bodies(world, &old, world->dynamic, false);
  gz_buffer_release(context, &old.ball_memory);
  gz_buffer_release(context, &old.now_memory);
  gz_buffer_release(context, &world->next_memory);
  world->next = NULL;
  gz_free(world->added.data);
  world->added = (gz_array){0};
  world->skin = 0;
  world->is_listed = world->is_accelerated = world->carries = world->has_limits = false;
  return reserve_next(world);
}

/* ---- asking ---------------------------------------------------------------------------------------------------- */

graze_member gz_world_member(const graze_world *world, uint32_t number) {
  const uint32_t *order = world->body_order.data;
  if (number < world->dynamic_bodies) return (graze_member){GRAZE_MEMBER_BODY, 0, order[number]};
  if (number >= world->dynamic)
    return (graze_member){GRAZE_MEMBER_BODY, 0, order[number - world->dynamic + world->dynamic_bodies]};
  uint32_t low = 0, high = world_sets(world) - 1; /* the last set that begins at or before it */
  while (low < high) {
    uint32_t middle = low + (high - low + 1) / 2;
    if (WORLD_AT(world->sets, particle_set, middle)->number <= number)
      low = middle;
    else
      high = middle - 1;
  }
  return (graze_member){GRAZE_MEMBER_PARTICLE, low, number - WORLD_AT(world->sets, particle_set, low)->number};
}

graze_member gz_partner_member(const graze_world *world, partner_kind kind, uint32_t partner) {
  if (kind == PARTNER_BALL) return gz_world_member(world, partner);
  if (kind == PARTNER_WALL) return (graze_member){GRAZE_MEMBER_WALL, 0, partner};
  return (graze_member){GRAZE_MEMBER_BODY, 0, WORLD_AT(world->surfaces, dem_surface, partner)->body};
}

ball_name gz_world_ball_name(const graze_world *world, uint32_t number) {
  ball_name name;
  graze_member m = gz_world_member(world, number);
  const char *body = m.kind == GRAZE_MEMBER_BODY ? WORLD_AT(world->bodies, dem_body, m.index)->name : "";
  if (m.kind == GRAZE_MEMBER_BODY && *body == 0)
    snprintf(name.text, sizeof name.text, "body %u", m.index);
  else if (m.kind == GRAZE_MEMBER_BODY)
    snprintf(name.text, sizeof name.text, "%.80s", body);
  else
    snprintf(name.text, sizeof name.text, "%.80s/%u", WORLD_AT(world->sets, particle_set, m.set)->name, m.index);
  return name;
}

static dem_body *find_body(const graze_world *world, graze_body_id id) {
  if (id.generation == 1 && id.index < world->bodies.count) return WORLD_AT(world->bodies, dem_body, id.index);
  gz_fail(world->context, GRAZE_ERROR_HANDLE, "no such body");
  return NULL;
}

graze_status graze_world_get_body(const graze_world *world, graze_body_id id, graze_body_def *def) {
  if (world == NULL || def == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  const dem_body *b = find_body(world, id);
  if (b == NULL) return GRAZE_ERROR_HANDLE;
  *def = graze_default_body_def();
  def->name = b->name;
  def->type = b->type;
  def->user_id = b->user_id;
  memcpy(def->orientation, b->orientation, sizeof def->orientation);
  if (b->surface != NO_SURFACE) {
    gz_surface_get(WORLD_AT(world->surfaces, dem_surface, b->surface), def);
    return GRAZE_OK;
  }
  const ball_rows *added = b->is_added ? WORLD_AT(world->added, ball_rows, b->added) : NULL;
  uint32_t place = added != NULL ? 0 : world->place[b->number];
  const double *position = added != NULL ? added->position : world->now[place].position;
  const double *velocity = added != NULL ? added->velocity : world->now[place].velocity;
  const double *spin = added != NULL ? added->spin : world->now[place].spin;
  def->material = WORLD_AT(world->kinds, ball_kind, b->kind)->material;
  memcpy(def->center, position, sizeof def->center);
  def->radius = position[3];
  if (b->type == GRAZE_BODY_DYNAMIC) def->mass = b->mass;
  memcpy(def->position, position, sizeof def->position);
  memcpy(def->velocity, velocity, sizeof def->velocity);
  memcpy(def->spin, spin, sizeof def->spin);
  return GRAZE_OK;
}

graze_status graze_world_set_velocity(graze_world *world, graze_body_id id, const double velocity[3],
                                      const double spin[3]) {
  if (world == NULL || velocity == NULL || spin == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  const dem_body *b = find_body(world, id);
  if (b == NULL) return GRAZE_ERROR_HANDLE;
  if (b->type != GRAZE_BODY_KINEMATIC)
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "body '%.60s' is not kinematic", b->name);
  dem_surface *surface = b->surface != NO_SURFACE ? WORLD_AT(world->surfaces, dem_surface, b->surface) : NULL;
  double v[3], w[3];
  for (int k = 0; k < 3; k++) {
    v[k] = surface != NULL ? velocity[k] : stored(world, velocity[k]);
    w[k] = surface != NULL ? spin[k] : stored(world, spin[k]);
  }
  graze_status status = check_vector(world->context, b->name, "velocity", v);
  if (status == GRAZE_OK) status = check_vector(world->context, b->name, "spin", w);
  if (status == GRAZE_OK) status = gz_world_prepare(world);
  if (status != GRAZE_OK) return status;
  memcpy(surface != NULL ? surface->velocity : world->now[world->place[b->number]].velocity, v, sizeof v);
  memcpy(surface != NULL ? surface->spin : world->now[world->place[b->number]].spin, w, sizeof w);
  if (surface == NULL) world->engine_run = 0; /* an engine is told where surfaces go each time */
  gz_record_velocity(world, id.index, velocity, spin);
  return GRAZE_OK;
}

graze_status graze_world_get_limits(graze_world *world, graze_step_limits *limits) {
  if (world == NULL || limits == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  graze_status status = gz_world_prepare(world);
  return status == GRAZE_OK ? gz_world_survey(world, limits) : status;
}

graze_status graze_world_get_def(const graze_world *world, graze_world_def *def) {
  if (world == NULL || def == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  *def = world->def;
  return GRAZE_OK;
}

uint64_t graze_world_get_step(const graze_world *world) {
  return world != NULL ? world->step : 0;
}

double graze_world_get_time(const graze_world *world) {
  return world != NULL ? world->start_time + (double)(world->step - world->start_step) * world->dt : 0;
}

uint64_t graze_world_get_engine_steps(const graze_world *world) {
  return world != NULL ? world->engine_steps : 0;
}

uint32_t graze_world_get_body_count(const graze_world *world) {
  return world != NULL ? (uint32_t)world->bodies.count : 0;
}

graze_status graze_world_list_bodies(const graze_world *world, graze_body_id *bodies) {
  if (world == NULL || bodies == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  for (uint32_t i = 0; i < world->bodies.count; i++) bodies[i] = (graze_body_id){i, 1};
  return GRAZE_OK;
}

const char *graze_world_get_set_name(const graze_world *world, uint32_t set) {
  return world != NULL && set < world->sets.count ? WORLD_AT(world->sets, particle_set, set)->name : NULL;
}

uint32_t graze_world_get_set_count(const graze_world *world) {
  return world != NULL ? world_sets(world) : 0;
}

uint32_t graze_world_get_particle_count(const graze_world *world, uint32_t set) {
  return world != NULL && set < world->sets.count ? WORLD_AT(world->sets, particle_set, set)->count : 0;
}
