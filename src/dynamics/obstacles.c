/* What a pass sees of walls and surfaces: contacts of a ball with what is no ball. */
#include <string.h>

#include "dynamics/pass.h"

static void set_strain(const contact_memory *memory, obstacle *o) {
  const bool remembered = memory->springs != NULL && memory->touching[o->entry];
  for (int k = 0; k < 3; k++) o->strain[k] = remembered ? memory->springs[o->entry][k] : 0;
}

bool gz_pass_wall(const pass *p, uint64_t entry, obstacle *o, pass_result *result) {
  const graze_world *world = p->world;
  const wall_entry *e = &world->list.walls[entry];
  const dem_wall *wall = WORLD_AT(world->walls, dem_wall, e->wall);
  const double *at = world->now[e->place].position, distance = wall_distance(wall, at);
  const bool touches = distance < at[3];
  const bool remembers = world->remembers && p->mode != PASS_LOOK;
  if (!touches && !remembers) return false;
  const bool began = remembers && gz_pass_remember_wall(p, entry, touches, result);
  if (!touches) return false;
  *o = (obstacle){.place = e->place,
                  .kind = PARTNER_WALL,
                  .partner = e->wall,
                  .memory = &world->list.of_walls,
                  .entry = entry,
                  .began = began};
  o->between = law_between(world, e->place, PARTNER_WALL, e->wall);
  o->overlap = at[3] - distance;
  memcpy(o->normal, wall->normal, sizeof o->normal);
  memcpy(o->velocity, o->between->surface, sizeof o->velocity);
  if (world->has_springs) set_strain(o->memory, o);
  return true;
}

uint32_t gz_pass_surface(const pass *p, const surface_entry *e, facet_contact *found, pass_result *result) {
  const uint32_t count = gz_surface_contacts(p->world, e, false, found);
  if (p->world->remembers && p->mode != PASS_LOOK) gz_pass_remember_surface(p, e, found, count, result);
  return count;
}

obstacle gz_pass_facet(const pass *p, const surface_entry *e, const facet_contact *found, uint32_t order) {
  const graze_world *world = p->world;
  const dem_surface *surface = WORLD_AT(world->surfaces, dem_surface, e->surface);
  const facet_contact *c = &found[order];
  obstacle o = {.place = e->place,
                .kind = PARTNER_SURFACE,
                .partner = e->surface,
                .memory = &world->list.of_facets,
                .entry = (uint64_t)e->first + order,
                .order = order,
                .began = c->slot == NO_SLOT,
                .between = law_between(world, e->place, PARTNER_SURFACE, e->surface),
                .overlap = world->now[e->place].position[3] - c->distance};
  for (int k = 0; k < 3; k++) {
    o.normal[k] = c->normal[k];
    o.velocity[k] = c->velocity[k] + o.between->surface[k];
    o.spin[k] = surface->spin[k];
    o.strain[k] = c->strain[k];
  }
  return o;
}
