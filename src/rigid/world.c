/* Worlds of rigid bodies: what is in them, and what is told of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "rigid/rigid.h"
#include "rigid/vector.h"
#include "scene/blast.h"

enum { RIGID_DEF_COOKIE = 0x52494744, MATERIAL_COOKIE = 0x5249474d, BODY_COOKIE = 0x52494742, MOST_SUBSTEPS = 1000 };

/* ---- definitions ----------------------------------------------------------------------------------------------- */

graze_rigid_def graze_default_rigid_def(void) {
  return (graze_rigid_def){.gravity = {0, 0, -9.81},
                           .bounds = graze_box_empty(),
                           .substeps = 4,
                           .push_speed = 1,
                           .rebound = 0.2,
                           .solver = GRAZE_RIGID_AUTO,
                           .sleep_speed = 0.05,
                           .cookie = RIGID_DEF_COOKIE};
}

graze_rigid_material graze_default_rigid_material(void) {
  return (graze_rigid_material){.cookie = MATERIAL_COOKIE};
}

graze_rigid_body_def graze_default_rigid_body_def(void) {
  return (graze_rigid_body_def){.orientation = {1, 0, 0, 0},
                                .mass = (double)NAN,
                                .density = (double)NAN,
                                .inertia = {(double)NAN},
                                .center = {(double)NAN},
                                .cookie = BODY_COOKIE};
}

static graze_status check_def(const graze_context *context, const graze_rigid_def *def) {
  const double *g = def->gravity;
  if (def->cookie != RIGID_DEF_COOKIE)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "the definition of the world was not initialised");
  if (!(isfinite(g[0]) && isfinite(g[1]) && isfinite(g[2])))
    return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "gravity is not finite");
  if (def->substeps < 1 || def->substeps > MOST_SUBSTEPS)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "substeps is %u: it must be 1 to %d", def->substeps, MOST_SUBSTEPS);
  if (!(isfinite(def->push_speed) && def->push_speed > 0))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "push_speed is %.17g: it must be finite and above 0",
                   def->push_speed);
  if (!(isfinite(def->rebound) && def->rebound >= 0))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "rebound is %.17g: it must be finite and at least 0", def->rebound);
  if (!(isfinite(def->sleep_speed) && def->sleep_speed > 0))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "sleep_speed is %.17g: it must be finite and above 0",
                   def->sleep_speed);
  if (def->solver > GRAZE_RIGID_NEWTON)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "there is no solver %d", (int)def->solver);
  return GRAZE_OK;
}

graze_status graze_rigid_create(graze_context *context, const graze_rigid_def *def, graze_rigid **world) {
  if (context == NULL || def == NULL || world == NULL) return gz_fail_null(context);
  graze_status status = check_def(context, def);
  if (status != GRAZE_OK) return status;
  graze_rigid *made = gz_new_zeroed(context, 1, sizeof *made);
  if (made == NULL) return gz_fail_memory(context, sizeof *made);
  made->context = context;
  made->def = *def;
  made->earth = (rigid_body){.type = GRAZE_BODY_STATIC, .orientation = {1, 0, 0, 0}};
  gz_rigid_set_rotation(&made->earth);
  made->worker_count = gz_workers(context);
  made->workers = gz_new_zeroed(context, made->worker_count, sizeof *made->workers);
  status = made->workers != NULL ? graze_broadphase_create(context, NULL, &made->broadphase)
                                 : gz_fail_memory(context, made->worker_count * sizeof *made->workers);
  if (status == GRAZE_OK) status = gz_rigid_restore_sleep(made);
  if (status != GRAZE_OK) {
    graze_rigid_destroy(made);
    return status;
  }
  *world = made;
  return GRAZE_OK;
}

graze_status graze_rigid_get_def(const graze_rigid *world, graze_rigid_def *def) {
  if (world == NULL || def == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  *def = world->def;
  return GRAZE_OK;
}

static void free_body(rigid_body *b) {
  gz_free(b->name);
  gz_free(b->core.corners);
  gz_free(b->given);
  if (b->surface != NULL && b->surface->own != NULL) gz_surface_destroy(b->surface);
  gz_rigid_free_parts(b);
}

static void free_bodies(const gz_array *bodies) {
  for (size_t i = 0; i < bodies->count; i++) free_body(RIGID_AT(*bodies, rigid_body, i));
  gz_free(bodies->data);
}

void graze_rigid_destroy(graze_rigid *world) {
  if (world == NULL) return;
  gz_rigid_close_record(world);
  free_bodies(&world->bodies);
  free_bodies(&world->walls);
  for (size_t i = 0; i < world->surfaces.count; i++) gz_surface_destroy(*RIGID_AT(world->surfaces, rigid_surface *, i));
  for (size_t i = 0; i < world->joints.count; i++) gz_free(RIGID_AT(world->joints, rigid_joint, i)->name);
  const gz_array *const arrays[] = {
      &world->materials,     &world->pairs,         &world->contacts,      &world->before,
      &world->lost,          &world->events,        &world->left,          &world->boxes,
      &world->island_of,     &world->islands,       &world->island_bodies, &world->island_contacts,
      &world->island_joints, &world->joints,        &world->joined,        &world->slots,
      &world->soft_bodies,   &world->soft_contacts, &world->awake,         &world->resting,
      &world->ranges,        &world->spread,        &world->surfaces,      &world->impacts,
      &world->comings};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) gz_free(arrays[i]->data);
  for (uint32_t i = 0; world->workers != NULL && i < world->worker_count; i++) {
    gz_buffer_release(world->context, &world->workers[i].memory);
    gz_buffer_release(world->context, &world->workers[i].pattern);
    gz_buffer_release(world->context, &world->workers[i].pairs);
    gz_buffer_release(world->context, &world->workers[i].used);
    graze_query_destroy(world->workers[i].query);
    gz_free(world->workers[i].touches.data);
    gz_free(world->workers[i].patches.data);
    gz_free(world->workers[i].claims.data);
    gz_free(world->workers[i].boxes.data);
    gz_free(world->workers[i].olds.data);
  }
  for (int i = 0; i < 2; i++) gz_buffer_release(world->context, &world->soft[i]);
  gz_buffer_release(world->context, &world->bearings);
  gz_rigid_free_checker(world);
  gz_free(world->workers);
  graze_broadphase_destroy(world->broadphase);
  graze_broadphase_destroy(world->sleepers);
  gz_free(world);
}

/* ---- materials ------------------------------------------------------------------------------------------------- */

static graze_status check_material(const graze_context *context, const graze_rigid_material *m) {
  const struct {
    const char *name;
    double value, most;
  } fields[] = {{"friction", m->friction, (double)INFINITY},
                {"restitution", m->restitution, 1},
                {"rolling", m->rolling, (double)INFINITY},
                {"spinning", m->spinning, (double)INFINITY}};
  if (m->cookie != MATERIAL_COOKIE) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "the material was not initialised");
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    if (isfinite(fields[i].value) && fields[i].value >= 0 && fields[i].value <= fields[i].most) continue;
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s is %.17g: it must be %s", fields[i].name, fields[i].value,
                   fields[i].most == 1 ? "0 to 1" : "finite and at least 0");
  }
  for (int k = 0; k < 3; k++) {
    if (!isfinite(m->surface_speed[k])) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "surface_speed is not finite");
  }
  return GRAZE_OK;
}

graze_status graze_rigid_add_material(graze_rigid *world, const graze_rigid_material *material, uint32_t *number) {
  if (world == NULL || material == NULL || number == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  graze_status status = check_material(world->context, material);
  if (status == GRAZE_OK) status = gz_rigid_refuse_recorded(world);
  if (status != GRAZE_OK) return status;
  if (!array_reserve(world->context, &world->materials, 1, sizeof *material))
    return gz_fail_memory(world->context, sizeof *material);
  *number = (uint32_t)world->materials.count;
  *RIGID_AT(world->materials, graze_rigid_material, world->materials.count++) = *material;
  return GRAZE_OK;
}

graze_status graze_rigid_set_pair(graze_rigid *world, uint32_t first, uint32_t second,
                                  const graze_rigid_material *material) {
  if (world == NULL || material == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  graze_status status = check_material(world->context, material);
  if (status == GRAZE_OK) status = gz_rigid_refuse_recorded(world);
  if (status != GRAZE_OK) return status;
  if (first >= world->materials.count || second >= world->materials.count)
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "there is no material %u",
                   first >= world->materials.count ? first : second);
  if (!array_reserve(world->context, &world->pairs, 1, sizeof(rigid_pair)))
    return gz_fail_memory(world->context, sizeof(rigid_pair));
  *RIGID_AT(world->pairs, rigid_pair, world->pairs.count++) = (rigid_pair){first, second, *material};
  return GRAZE_OK;
}

/* ---- bodies ---------------------------------------------------------------------------------------------------- */

typedef struct body_words {
  char text[96];
} body_words;

static body_words words_of(const char *name, uint32_t number) {
  body_words w;
  if (name != NULL && *name != 0)
    snprintf(w.text, sizeof w.text, "body '%s'", gz_quote(name, name + strlen(name), 64).text);
  else
    snprintf(w.text, sizeof w.text, "body %u", number);
  return w;
}

static graze_status check_finite(const graze_rigid *world, const char *words, const char *field, const double *x,
                                 int count) {
  for (int k = 0; k < count; k++) {
    if (!isfinite(x[k])) return gz_fail(world->context, GRAZE_ERROR_NOT_FINITE, "%s: %s is not finite", words, field);
  }
  return GRAZE_OK;
}

/* Of a compound whose centre of mass is said to be another one than that of its parts. */
static graze_status check_center(const graze_rigid *world, const char *words, const graze_rigid_body_def *def) {
  if (def->shape != GRAZE_RIGID_COMPOUND || isnan(def->center[0])) return GRAZE_OK;
  graze_status status = check_finite(world, words, "center", def->center, 3);
  if (status != GRAZE_OK || def->type != GRAZE_BODY_DYNAMIC) return status;
  if (!isnan(def->mass) && !isnan(def->inertia[0])) return GRAZE_OK;
  return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "%s: its center is given: mass and inertia are wanted, too",
                 words);
}

static graze_status check_body(const graze_rigid *world, const char *words, const graze_rigid_body_def *def) {
  const graze_context *context = world->context;
  if (def->cookie != BODY_COOKIE)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: the definition was not initialised", words);
  graze_status status = gz_rigid_check_shape(world->context, words, def);
  if (status == GRAZE_OK) status = check_finite(world, words, "position", def->position, 3);
  if (status == GRAZE_OK) status = check_finite(world, words, "orientation", def->orientation, 4);
  if (status == GRAZE_OK) status = check_finite(world, words, "velocity", def->velocity, 3);
  if (status == GRAZE_OK) status = check_finite(world, words, "spin", def->spin, 3);
  if (status == GRAZE_OK) status = check_center(world, words, def);
  if (status != GRAZE_OK) return status;
  const double *q = def->orientation;
  if (q[0] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: its orientation is 0", words);
  if (def->type > GRAZE_BODY_KINEMATIC)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: there is no type %d", words, (int)def->type);
  if (def->material >= world->materials.count)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: there is no material %u", words, def->material);
  if (!(isfinite(def->linear_damping) && def->linear_damping >= 0))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: linear_damping is %.17g: it must be finite and at least 0",
                   words, def->linear_damping);
  if (!(isfinite(def->angular_damping) && def->angular_damping >= 0))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: angular_damping is %.17g: it must be finite and at least 0",
                   words, def->angular_damping);
  if (def->sensor && def->type == GRAZE_BODY_DYNAMIC)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s is dynamic: a sensor is static or kinematic", words);
  const double *v = def->velocity, *w = def->spin;
  if (def->type == GRAZE_BODY_STATIC && (dot3(v, v) != 0 || dot3(w, w) != 0))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s is static: it has no velocity and no spin", words);
  return GRAZE_OK;
}

/* Mass, principal moments and axes of a dynamic body. */
static graze_status weigh_body(const graze_rigid *world, const char *words, const graze_rigid_body_def *def,
                               const graze_hull *hull, rigid_body *b) {
  graze_mass mass;
  const bool by_mass = !isnan(def->mass);
  const bool shared = def->shape == GRAZE_RIGID_COMPOUND && isnan(def->density) && gz_rigid_parts_are_dense(def);
  if (by_mass == !isnan(def->density) && !(shared && !by_mass))
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "%s: one of mass and density is wanted", words);
  const double given = by_mass ? def->mass : shared ? 1 : def->density;
  if (!(isfinite(given) && given > 0))
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "%s: its %s is %.17g: it must be finite and above 0", words,
                   by_mass ? "mass" : "density", given);
  graze_status status = gz_rigid_find_mass(world->context, words, def, hull, by_mass ? 1 : given, &mass);
  if (status == GRAZE_ERROR_UNSUPPORTED) {
    char why[512];
    snprintf(why, sizeof why, "%s", graze_last_error(world->context)->message);
    return gz_fail(world->context, status, "%s: %s", words, why);
  }
  if (status != GRAZE_OK) return status;
  b->mass = by_mass ? given : mass.mass;
  b->inverse_mass = 1 / b->mass;
  for (int i = 0; i < 6; i++) b->inertia[i] = by_mass ? mass.inertia[i] * (given / mass.mass) : mass.inertia[i];
  if (!isnan(def->inertia[0])) memcpy(b->inertia, def->inertia, sizeof b->inertia);
  bool finite = isfinite(b->mass) && isfinite(b->inverse_mass) && b->inverse_mass > 0;
  for (int i = 0; i < 6; i++) finite = finite && isfinite(b->inertia[i]);
  if (finite && graze_inertia_find_axes(b->inertia, b->moments, b->axes) && isfinite(1 / b->moments[0]))
    return GRAZE_OK;
  return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "%s: no body can have this %s", words,
                 finite ? "inertia" : "mass or inertia");
}

/* The hull of these is this hull: about its centre they are rounded. */
static graze_status keep_given(const graze_context *context, const graze_hull *hull, const double center[3],
                               rigid_body *b) {
  b->given = gz_new(context, 3 * (size_t)hull->vertex_count, sizeof *b->given);
  if (b->given == NULL) return gz_fail_memory(context, 3 * (size_t)hull->vertex_count * sizeof *b->given);
  memcpy(b->given, hull->points, 3 * (size_t)hull->vertex_count * sizeof *b->given);
  b->given_count = hull->vertex_count;
  memcpy(b->center, center, sizeof b->center);
  return GRAZE_OK;
}

static graze_status shape_body(graze_rigid *world, const char *words, const graze_rigid_body_def *def, rigid_body *b) {
  graze_hull *hull;
  graze_mass mass = {0};
  graze_status status = gz_rigid_open_shape(world->context, words, def, &hull);
  if (status == GRAZE_OK && b->shape == GRAZE_RIGID_MESH)
    status = gz_rigid_share_surface(world, def->mesh, &b->surface);
  if (status == GRAZE_OK && b->type == GRAZE_BODY_DYNAMIC) status = weigh_body(world, words, def, hull, b);
  if (status == GRAZE_OK && b->shape == GRAZE_RIGID_HULL)
    status = gz_rigid_find_mass(world->context, words, def, hull, 1, &mass);
  const bool is_compound = b->shape == GRAZE_RIGID_COMPOUND;
  if (status == GRAZE_OK && is_compound) status = gz_rigid_make_parts(world->context, words, def, b);
  if (status == GRAZE_OK && !is_compound && !gz_rigid_make_core(world->context, b, hull, mass.center))
    status = gz_fail_memory(world->context, sizeof *b);
  if (status == GRAZE_OK && b->shape == GRAZE_RIGID_HULL) status = keep_given(world->context, hull, mass.center, b);
  if (b->shape == GRAZE_RIGID_MESH && b->surface != NULL) memcpy(b->center, b->surface->center, sizeof b->center);
  graze_hull_destroy(hull);
  return status;
}

static graze_status fill_body(graze_rigid *world, const graze_rigid_body_def *def, rigid_body *b) {
  const body_words words = words_of(def->name, (uint32_t)world->bodies.count);
  graze_status status = check_body(world, words.text, def);
  if (status != GRAZE_OK) return status;
  b->type = def->type;
  b->user_id = def->user_id;
  b->material = def->material;
  b->is_sensor = def->sensor;
  gz_rigid_set_shape(b, def);
  status = shape_body(world, words.text, def, b);
  if (status != GRAZE_OK) return status;
  b->damping[0] = def->linear_damping;
  b->damping[1] = def->angular_damping;
  memcpy(b->position, def->position, sizeof b->position);
  memcpy(b->velocity, def->velocity, sizeof b->velocity);
  memcpy(b->spin, def->spin, sizeof b->spin);
  const double *q = def->orientation;
  const double largest = fmax(fmax(fabs(q[0]), fabs(q[1])), fmax(fabs(q[2]), fabs(q[3])));
  double length = 0;
  for (int k = 0; k < 4; k++) length += q[k] / largest * (q[k] / largest);
  for (int k = 0; k < 4; k++) b->orientation[k] = length == 1 ? q[k] / largest : q[k] / largest / sqrt(length);
  b->name = gz_new_text(world->context, def->name != NULL ? def->name : "");
  if (b->name == NULL) return gz_fail_memory(world->context, sizeof *b);
  gz_rigid_set_rotation(b);
  return GRAZE_OK;
}

graze_status graze_rigid_add_body(graze_rigid *world, const graze_rigid_body_def *def, uint32_t *body) {
  rigid_body b = {0};
  if (world == NULL || def == NULL || body == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  if (world->bodies.count + world->walls.count >= UINT32_MAX - 1)
    return gz_fail(world->context, GRAZE_ERROR_LIMIT, "too many bodies");
  const unsigned saved = gz_fp_enter();
  const size_t surfaces = world->surfaces.count;
  graze_status status = gz_rigid_refuse_recorded(world);
  if (status == GRAZE_OK) status = fill_body(world, def, &b);
  gz_fp_leave(saved);
  if (status == GRAZE_OK && !array_reserve(world->context, &world->bodies, 1, sizeof b))
    status = gz_fail_memory(world->context, sizeof b);
  if (status != GRAZE_OK) {
    free_body(&b);
    if (world->surfaces.count > surfaces) /* the caller may let go of a mesh that was refused */
      gz_surface_destroy(*RIGID_AT(world->surfaces, rigid_surface *, --world->surfaces.count));
    return status;
  }
  world->has_compounds = world->has_compounds || b.shape == GRAZE_RIGID_COMPOUND;
  for (size_t i = 0; i < world->contacts.count; i++) { /* walls have the numbers behind those of bodies */
    rigid_contact *c = RIGID_AT(world->contacts, rigid_contact, i);
    c->b += c->b >= world->bodies.count;
  }
  for (size_t i = 0; i < world->resting.count; i++) {
    rigid_contact *c = RIGID_AT(world->resting, rigid_contact, i);
    c->b += c->b >= world->bodies.count;
  }
  world->list_is_old = true;
  *body = (uint32_t)world->bodies.count;
  *RIGID_AT(world->bodies, rigid_body, world->bodies.count++) = b;
  return GRAZE_OK;
}

uint32_t graze_rigid_get_body_count(const graze_rigid *world) {
  return world != NULL ? (uint32_t)world->bodies.count : 0;
}

static graze_status check_number(const graze_rigid *world, uint32_t body) {
  if (body < world->bodies.count) return GRAZE_OK;
  return gz_fail(world->context, GRAZE_ERROR_HANDLE, "there is no body %u", body);
}

graze_status graze_rigid_get_body(const graze_rigid *world, uint32_t body, graze_rigid_body_def *def) {
  if (world == NULL || def == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  graze_status status = check_number(world, body);
  if (status != GRAZE_OK) return status;
  const rigid_body *b = rigid_body_at(world, body);
  *def = graze_default_rigid_body_def();
  def->name = b->name;
  def->type = b->type;
  def->shape = b->shape;
  def->radius = b->shape == GRAZE_RIGID_CYLINDER ? b->edges[0] : b->radius;
  if (b->shape == GRAZE_RIGID_BOX) memcpy(def->edges, b->edges, sizeof def->edges);
  def->length = b->length;
  if (b->shape == GRAZE_RIGID_HULL) {
    def->points = b->core.corners[0];
    def->point_count = b->core.corner_count;
  }
  if (b->shape == GRAZE_RIGID_MESH) def->mesh = b->surface->mesh;
  def->parts = b->said;
  def->part_count = b->part_count;
  memcpy(def->center, b->center, sizeof def->center);
  memcpy(def->position, b->position, sizeof def->position);
  memcpy(def->orientation, b->orientation, sizeof def->orientation);
  memcpy(def->velocity, b->velocity, sizeof def->velocity);
  memcpy(def->spin, b->spin, sizeof def->spin);
  if (b->type == GRAZE_BODY_DYNAMIC) {
    def->mass = b->mass;
    memcpy(def->inertia, b->inertia, sizeof def->inertia);
  }
  def->linear_damping = b->damping[0];
  def->angular_damping = b->damping[1];
  def->material = b->material;
  def->sensor = b->is_sensor;
  def->user_id = b->user_id;
  return GRAZE_OK;
}

graze_status graze_rigid_set_velocity(graze_rigid *world, uint32_t body, const double velocity[3],
                                      const double spin[3]) {
  if (world == NULL || velocity == NULL || spin == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  graze_status status = check_number(world, body);
  if (status != GRAZE_OK) return status;
  rigid_body *b = rigid_body_at(world, body);
  const body_words words = words_of(b->name, body);
  if (b->type == GRAZE_BODY_STATIC)
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "%s is static: it has no velocity", words.text);
  status = check_finite(world, words.text, "velocity", velocity, 3);
  if (status == GRAZE_OK) status = check_finite(world, words.text, "spin", spin, 3);
  const bool other =
      memcmp(b->velocity, velocity, sizeof b->velocity) != 0 || memcmp(b->spin, spin, sizeof b->spin) != 0;
  if (status == GRAZE_OK && other)
    status = b->type == GRAZE_BODY_DYNAMIC ? gz_rigid_wake(world, body) : gz_rigid_wake_riders(world, body);
  if (status != GRAZE_OK) return status;
  memcpy(b->velocity, velocity, sizeof b->velocity);
  memcpy(b->spin, spin, sizeof b->spin);
  gz_rigid_record_velocity(world, body, velocity, spin);
  return GRAZE_OK;
}

graze_status graze_rigid_blast(graze_rigid *world, uint32_t body, const graze_blast *blast) {
  if (world == NULL || blast == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  graze_status status = check_number(world, body);
  if (status != GRAZE_OK) return status;
  const rigid_body *b = rigid_body_at(world, body);
  const body_words words = words_of(b->name, body);
  char who[sizeof words.text + 16];
  double velocity[3], spin[3];
  if (b->type != GRAZE_BODY_DYNAMIC)
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "%s is not dynamic: no blast throws it", words.text);
  snprintf(who, sizeof who, "blast of %s", words.text);
  status = gz_blast_check(world->context, blast, who);
  if (status != GRAZE_OK) return status;
  const unsigned saved = gz_fp_enter();
  gz_blast_throw(blast, body, b->position, velocity, spin);
  gz_fp_leave(saved);
  return graze_rigid_set_velocity(world, body, velocity, spin);
}

/* ---- walls ----------------------------------------------------------------------------------------------------- */

graze_status graze_rigid_add_wall(graze_rigid *world, const double point[3], const double normal[3],
                                  uint32_t material) {
  if (world == NULL || point == NULL || normal == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  rigid_body wall = {.type = GRAZE_BODY_STATIC, .is_wall = true, .material = material};
  char words[32];
  snprintf(words, sizeof words, "wall %zu", world->walls.count);
  graze_status status = gz_rigid_refuse_recorded(world);
  if (status == GRAZE_OK) status = check_finite(world, words, "point", point, 3);
  if (status == GRAZE_OK) status = check_finite(world, words, "normal", normal, 3);
  if (status != GRAZE_OK) return status;
  const double largest = fmax(fabs(normal[0]), fmax(fabs(normal[1]), fabs(normal[2])));
  if (!(largest > 0)) return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "%s: its normal is 0", words);
  if (material >= world->materials.count)
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "%s: there is no material %u", words, material);
  if (!array_reserve(world->context, &world->walls, 1, sizeof wall)) return gz_fail_memory(world->context, sizeof wall);
  for (int k = 0; k < 3; k++) wall.rotation[k] = normal[k] / largest;
  const double length = length3(wall.rotation);
  for (int k = 0; k < 3; k++) {
    wall.rotation[k] /= length;
    wall.position[k] = point[k];
  }
  wall.least = (double)INFINITY;
  *RIGID_AT(world->walls, rigid_body, world->walls.count++) = wall;
  return gz_rigid_wake_all(world);
}

graze_status graze_rigid_get_wall(const graze_rigid *world, uint32_t wall, double point[3], double normal[3]) {
  if (world == NULL || point == NULL || normal == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  if (wall >= world->walls.count) return gz_fail(world->context, GRAZE_ERROR_HANDLE, "there is no wall %u", wall);
  const rigid_body *w = RIGID_AT(world->walls, rigid_body, wall);
  memcpy(point, w->position, sizeof w->position);
  memcpy(normal, w->rotation, 3 * sizeof *normal);
  return GRAZE_OK;
}

uint32_t graze_rigid_get_wall_count(const graze_rigid *world) {
  return world != NULL ? (uint32_t)world->walls.count : 0;
}

/* ---- what is told ---------------------------------------------------------------------------------------------- */

static void add_body_sums(const graze_rigid *world, const rigid_body *b, graze_world_sums *sums, double *mass) {
  double momentum[3], turned[3], around[3];
  turn3(b->world_inertia, b->spin, turned);
  for (int k = 0; k < 3; k++) {
    momentum[k] = b->mass * b->velocity[k];
    sums->momentum[k] += momentum[k];
    sums->center[k] += b->mass * b->position[k];
  }
  cross3(b->position, momentum, around);
  for (int k = 0; k < 3; k++) sums->angular_momentum[k] += around[k] + turned[k];
  sums->kinetic += 0.5 * dot3(momentum, b->velocity);
  sums->rotational += 0.5 * dot3(turned, b->spin);
  sums->potential -= b->mass * dot3(world->def.gravity, b->position);
  *mass += b->mass;
}

static double find_least_gap(const graze_rigid *world, const rigid_contact *c) {
  const rigid_body *a = rigid_body_at(world, c->a), *b = rigid_body_at(world, c->b);
  double least = (double)INFINITY;
  for (uint32_t k = 0; k < c->count; k++) least = fmin(least, gz_rigid_find_gap(a, b, c, &c->points[k], NULL));
  return least;
}

/* Pairs that touch now, wherever steps have found contacts or not. */
static void add_contact_sums(const graze_rigid *world, const gz_array *contacts, graze_world_sums *sums) {
  const rigid_contact *list = contacts->data;
  for (size_t i = 0, count; i < contacts->count; i += count) {
    double least = (double)INFINITY;
    count = gz_rigid_count_patches(&list[i], list + contacts->count);
    if (rigid_is_sensed(world, &list[i])) continue;
    for (size_t k = 0; k < count; k++) least = fmin(least, find_least_gap(world, &list[i + k]));
    sums->contacts += least <= 0;
    sums->max_overlap = fmax(sums->max_overlap, -least);
  }
}

/* Contacts of a world that has made no step yet. */
static graze_status look_first(graze_rigid *world) {
  if (world->step > 0) return GRAZE_OK;
  graze_status status = gz_rigid_find_contacts(world, 0);
  return status;
}

graze_status graze_rigid_get_sums(graze_rigid *world, graze_world_sums *sums) {
  if (world == NULL || sums == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  double mass = 0;
  const unsigned saved = gz_fp_enter();
  graze_status status = look_first(world);
  memset(sums, 0, sizeof *sums);
  for (uint32_t i = 0; i < world->bodies.count; i++) {
    const rigid_body *b = rigid_body_at(world, i);
    sums->left += b->left;
    if (b->type == GRAZE_BODY_DYNAMIC) add_body_sums(world, b, sums, &mass);
  }
  for (int k = 0; k < 3 && mass > 0; k++) sums->center[k] /= mass;
  if (status == GRAZE_OK) add_contact_sums(world, &world->contacts, sums);
  if (status == GRAZE_OK) add_contact_sums(world, &world->resting, sums);
  sums->dissipated = world->dissipated;
  sums->energy = sums->kinetic + sums->rotational + sums->potential;
  gz_fp_leave(saved);
  return status;
}

void graze_rigid_find_touching(const graze_rigid *world, bool *touching) {
  if (world == NULL || touching == NULL) return;
  const gz_array *const lists[2] = {&world->contacts, &world->resting};
  memset(touching, 0, world->bodies.count * sizeof *touching);
  for (int k = 0; k < 2; k++) {
    for (size_t i = 0; i < lists[k]->count; i++) {
      const rigid_contact *c = RIGID_AT(*lists[k], rigid_contact, i);
      if (!c->touches || rigid_is_sensed(world, c)) continue;
      touching[c->a] = true;
      if (c->b < world->bodies.count) touching[c->b] = true;
    }
  }
}

graze_status graze_rigid_find_left(graze_rigid *world, const graze_member **bodies, uint64_t *count) {
  if (world == NULL || bodies == NULL || count == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  world->left.count = 0;
  for (uint32_t i = 0; i < world->bodies.count; i++) {
    if (!rigid_body_at(world, i)->left) continue;
    if (!array_reserve(world->context, &world->left, 1, sizeof(graze_member)))
      return gz_fail_memory(world->context, sizeof(graze_member));
    *RIGID_AT(world->left, graze_member, world->left.count++) = (graze_member){GRAZE_MEMBER_BODY, 0, i};
  }
  *bodies = world->left.data;
  *count = world->left.count;
  return GRAZE_OK;
}

graze_status graze_rigid_get_events(const graze_rigid *world, const graze_contact_event **events, uint64_t *count) {
  if (world == NULL || events == NULL || count == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  if (!world->def.events) return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "the world collects no events");
  *events = world->events.data;
  *count = world->events.count;
  return GRAZE_OK;
}

uint64_t graze_rigid_get_hash(const graze_rigid *world) {
  uint64_t sum = 0, number = 0;
  for (uint32_t i = 0; world != NULL && i < world->bodies.count; i++) {
    const rigid_body *b = rigid_body_at(world, i);
    if (b->type != GRAZE_BODY_DYNAMIC) continue;
    const uint64_t place = hash_doubles(hash_doubles(number++, b->position, 3), b->orientation, 4);
    sum += hash_doubles(hash_doubles(place, b->velocity, 3), b->spin, 3);
  }
  return sum;
}

uint64_t graze_rigid_get_step(const graze_rigid *world) {
  return world != NULL ? world->step : 0;
}

double graze_rigid_get_time(const graze_rigid *world) {
  return world != NULL ? world->start_time + (double)(world->step - world->start_step) * world->dt : 0;
}
