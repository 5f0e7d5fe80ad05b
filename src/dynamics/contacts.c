/* The contacts of a state, and sums over it. Everything goes by numbers, so that places do not show. */
#include <math.h>
#include <string.h>

#include "dynamics/world.h"
#include "exact/sphere.h"

typedef bool visitor(void *user, const dem_contact *contact);

/* ---- visiting -------------------------------------------------------------------------------------------------- */

/* The balls are closed sets: whether they meet is decided exactly. */
static bool meets_ball(const graze_world *world, uint32_t place, uint32_t partner, dem_contact *c) {
  const double *a = world->now[place].position, *b = world->now[partner].position;
  sphere first = {{a[0], a[1], a[2]}, a[3]}, second = {{0}, b[3]};
  double d[3], distance2 = 0;
  for (int k = 0; k < 3; k++) {
    d[k] = nearest_image(a[k] - b[k], world_period(world, k));
    distance2 += d[k] * d[k];
    second.center[k] = world->def.periodic[k] ? a[k] - d[k] : b[k];
  }
  if (!spheres_meet(&first, &second)) return false;
  c->distance = sqrt(distance2);
  c->overlap = a[3] + b[3] - c->distance;
  for (int k = 0; k < 3; k++) c->normal[k] = c->distance > 0 ? d[k] / c->distance : k == 2 ? -1 : 0;
  return true;
}

static bool meets_wall(const graze_world *world, uint32_t place, uint32_t number, dem_contact *c) {
  const dem_wall *wall = WORLD_AT(world->walls, dem_wall, number);
  const double *at = world->now[place].position;
  c->distance = wall_distance(wall, at);
  c->overlap = at[3] - c->distance;
  memcpy(c->normal, wall->normal, sizeof c->normal);
  return c->overlap >= 0;
}

/* The strain that a contact remembers. */
static void get_wall_strain(const contact_memory *memory, uint64_t entry, double strain[3]) {
  const bool remembered = memory->springs != NULL && memory->touching[entry];
  for (int k = 0; k < 3; k++) strain[k] = remembered ? memory->springs[entry][k] : 0;
}

static void get_strain(const graze_world *world, const close_side *s, double strain[3]) {
  const close_pairs *close = &world->close;
  const bool remembered = world->has_springs && close_touches(close, s->at);
  for (int k = 0; k < 3; k++)
    strain[k] = !remembered ? 0 : s->side ? -close->springs[k][s->at] : close->springs[k][s->at];
}

static bool visit_walls(const graze_world *world, uint32_t place, visitor *visit, void *user) {
  const neighbour_list *list = &world->list;
  dem_contact c = {.place = place, .kind = PARTNER_WALL};
  for (uint64_t e = gz_list_first_wall(list, place); e < list->wall_count && list->walls[e].place == place; e++) {
    c.partner = list->walls[e].wall;
    get_wall_strain(&list->of_walls, e, c.strain);
    if (meets_wall(world, place, c.partner, &c) && !visit(user, &c)) return false;
  }
  return true;
}

static bool visit_surfaces(const graze_world *world, uint32_t place, visitor *visit, void *user) {
  const neighbour_list *list = &world->list;
  facet_contact *found = world->met.data;
  dem_contact c = {.place = place, .kind = PARTNER_SURFACE};
  for (uint64_t e = gz_list_first_surface(list, place); e < list->surface_count; e++) {
    if (list->surfaces[e].place != place) break;
    c.partner = list->surfaces[e].surface;
    const uint32_t count = gz_surface_contacts(world, &list->surfaces[e], true, found);
    for (uint32_t i = 0; i < count; i++) {
      c.distance = found[i].distance;
      c.overlap = world->now[place].position[3] - c.distance;
      memcpy(c.normal, found[i].normal, sizeof c.normal);
      memcpy(c.strain, found[i].strain, sizeof c.strain);
      if (!visit(user, &c)) return false;
    }
  }
  return true;
}

static bool visit_ball(const graze_world *world, uint32_t number, visitor *visit, void *user) {
  dem_contact c = {.place = world->place[number]};
  close_side s;
  for (uint32_t r = gz_close_first(world, number); gz_close_at(world, number, r, &s); r++) {
    c.partner = s.partner;
    if (!meets_ball(world, c.place, c.partner, &c)) continue;
    get_strain(world, &s, c.strain);
    if (!visit(user, &c)) return false;
  }
  return visit_walls(world, c.place, visit, user) && visit_surfaces(world, c.place, visit, user);
}

graze_status gz_world_visit_contacts(graze_world *world, bool (*visit)(void *user, const dem_contact *contact),
                                     void *user) {
  graze_status status = gz_world_prepare(world);
  if (status == GRAZE_OK) status = gz_world_make_laws(world);
  if (status == GRAZE_OK) status = gz_list_update(world);
  if (status != GRAZE_OK) return status;
  const size_t bytes = world->list.most_facets * sizeof(facet_contact);
  if (!gz_buffer_reserve(world->context, &world->met, bytes, 0)) return gz_fail_memory(world->context, bytes);
  for (uint32_t n = 0; n < world->count; n++) {
    if (!visit_ball(world, n, visit, user)) return gz_fail_memory(world->context, sizeof(graze_contact));
  }
  return GRAZE_OK;
}

/* ---- listing --------------------------------------------------------------------------------------------------- */

static bool list_contact(void *user, const dem_contact *c) {
  graze_world *world = user;
  if (!array_reserve(world->context, &world->contacts, 1, sizeof(graze_contact))) return false;
  const double *at = world->now[c->place].position;
  graze_contact *out = WORLD_AT(world->contacts, graze_contact, world->contacts.count++);
  double overlap = c->overlap > 0 ? c->overlap : 0;
  *out = (graze_contact){.a = gz_world_member(world, world->number[c->place]), .overlap = overlap};
  out->b = gz_partner_member(world, c->kind, c->kind == PARTNER_BALL ? world->number[c->partner] : c->partner);
  memcpy(out->normal, c->normal, sizeof out->normal);
  for (int k = 0; k < 3; k++) out->point[k] = at[k] - (at[3] - 0.5 * overlap) * c->normal[k];
  return true;
}

graze_status graze_world_find_contacts(graze_world *world, const graze_contact **contacts, uint64_t *count) {
  if (world == NULL || contacts == NULL || count == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  unsigned saved = gz_fp_enter();
  world->contacts.count = 0;
  graze_status status = gz_world_visit_contacts(world, list_contact, world);
  gz_fp_leave(saved);
  if (status != GRAZE_OK) return status;
  *contacts = world->contacts.data;
  *count = world->contacts.count;
  return GRAZE_OK;
}

graze_status graze_world_get_events(const graze_world *world, const graze_contact_event **events, uint64_t *count) {
  if (world == NULL || events == NULL || count == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  if (!world->def.events) return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "the world collects no events");
  *events = world->events.data;
  *count = world->events.count;
  return GRAZE_OK;
}

/* ---- sums ------------------------------------------------------------------------------------------------------ */

typedef struct summing {
  const graze_world *world;
  graze_world_sums *sums;
} summing;

/* The energy of the springs of a contact. */
static double elastic_energy(const graze_world *world, const dem_contact *c) {
  const law *l = law_between(world, c->place, c->kind, c->partner);
  const double r = world->now[c->place].position[3];
  const double s = c->kind == PARTNER_BALL ? world->now[c->partner].position[3] : 0;
  double root = sqrt((c->kind == PARTNER_BALL ? r * s / (r + s) : r) * c->overlap);
  double k = l->hertz != 0 ? l->k_n * root : l->k_n, k_t = l->k_t + l->mindlin * root, strain2 = 0;
  for (int i = 0; i < 3; i++) strain2 += c->strain[i] * c->strain[i];
  return l->elastic * k * c->overlap * c->overlap + 0.5 * k_t * strain2;
}

static bool sum_contact(void *user, const dem_contact *c) {
  const summing *s = user;
  s->sums->contacts++;
  if (!(c->overlap > 0)) return true;
  s->sums->elastic += elastic_energy(s->world, c);
  s->sums->max_overlap = fmax(s->sums->max_overlap, c->overlap);
  return true;
}

static void add_cross(double sum[3], double m, const double a[3], const double b[3]) {
  for (int k = 0; k < 3; k++) {
    int l = (k + 1) % 3, o = (k + 2) % 3;
    sum[k] += m * (a[l] * b[o] - a[o] * b[l]);
  }
}

static void sum_ball(const graze_world *world, uint32_t place, graze_world_sums *sums, double *mass) {
  const double *at = world->now[place].position, *v = world->now[place].velocity, *w = world->now[place].spin;
  const double m = 1 / v[3], inertia = 1 / w[3], *g = world->def.gravity;
  sums->kinetic += 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  sums->rotational += 0.5 * inertia * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  sums->potential -= m * (g[0] * at[0] + g[1] * at[1] + g[2] * at[2]);
  sums->dissipated += world->dissipated[place];
  *mass += m;
  add_cross(sums->angular_momentum, m, at, v);
  for (int k = 0; k < 3; k++) {
    sums->momentum[k] += m * v[k];
    sums->angular_momentum[k] += inertia * w[k];
    sums->center[k] += m * at[k];
  }
  sums->left += gz_bounds_has_left(world, world->number[place]);
}

/* What balls that no force moves count of contacts is in the shares of their partners. */
graze_status graze_world_get_sums(graze_world *world, graze_world_sums *sums) {
  if (world == NULL || sums == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  graze_world_sums found = {0};
  summing s = {world, &found};
  double mass = 0;
  unsigned saved = gz_fp_enter();
  graze_status status = gz_world_visit_contacts(world, sum_contact, &s);
  for (uint32_t n = 0; status == GRAZE_OK && n < world->dynamic; n++) sum_ball(world, world->place[n], &found, &mass);
  gz_fp_leave(saved);
  if (status != GRAZE_OK) return status;
  for (int k = 0; k < 3; k++) found.center[k] = mass > 0 ? found.center[k] / mass : 0;
  found.energy = found.kinetic + found.rotational + found.potential + found.elastic;
  *sums = found;
  return GRAZE_OK;
}
