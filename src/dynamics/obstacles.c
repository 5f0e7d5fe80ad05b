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
  const double *at = world->now.position[e->place], distance = wall_distance(wall, at);
  const bool touches = distance < at[3];
  *o = (obstacle){.kind = PARTNER_WALL, .partner = e->wall, .memory = &world->list.of_walls, .entry = entry};
  if (world->remembers && p->mode != PASS_LOOK) o->began = gz_pass_remember_wall(p, entry, touches, result);
  if (!touches) return false;
  o->between = law_between(world, e->place, PARTNER_WALL, e->wall);
  o->overlap = at[3] - distance;
  memcpy(o->normal, wall->normal, sizeof o->normal);
  memcpy(o->velocity, o->between->surface, sizeof o->velocity);
  if (world->has_springs) set_strain(o->memory, o);
  return true;
}

uint32_t gz_pass_surface(const pass *p, const surface_entry *e, pass_result *result) {
  const uint32_t count = gz_surface_contacts(p->world, e, false, result->found);
  if (p->world->remembers && p->mode != PASS_LOOK) gz_pass_remember_surface(p, e, result->found, count, result);
  return count;
}

obstacle gz_pass_facet(const pass *p, const surface_entry *e, const facet_contact *found, uint32_t order) {
  const graze_world *world = p->world;
  const dem_surface *surface = WORLD_AT(world->surfaces, dem_surface, e->surface);
  const facet_contact *c = &found[order];
  obstacle o = {.kind = PARTNER_SURFACE,
                .partner = e->surface,
                .memory = &world->list.of_facets,
                .entry = (uint64_t)e->first + order,
                .order = order,
                .began = c->slot == NO_SLOT,
                .between = law_between(world, e->place, PARTNER_SURFACE, e->surface),
                .overlap = world->now.position[e->place][3] - c->distance};
  for (int k = 0; k < 3; k++) {
    o.normal[k] = c->normal[k];
    o.velocity[k] = c->velocity[k] + o.between->surface[k];
    o.spin[k] = surface->spin[k];
    o.strain[k] = c->strain[k];
  }
  return o;
}
