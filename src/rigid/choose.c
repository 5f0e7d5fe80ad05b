/* Which islands are solved softly and which directly.
 *
 * Soft contacts cost a fixed time a body, and sink by what they carry: heavy bodies on light ones and tall stacks would
 * sink too far. An island in which a contact carries more than it should is solved directly, if that is cheap enough,
 * and so is every island with joints. One that is solved softly gets more sub-steps, whose springs are stiffer, where
 * it stands high, for softer ones buckle, and where a heavy body stands on a light one. The rule looks at what the
 * state has, so that a run that is restored follows it.
 */
#include <math.h>
#include <stdlib.h>

#include "rigid/patches.h"
#include "rigid/rigid.h"
#include "rigid/soft.h"
#include "rigid/vector.h"

/* Where a contact sinks deeper than these parts of the smaller body's reach, or of half of what it is thick, it is
 * strained, until it sinks by half of it. */
static const double strain = 0.0023, thin = 0.1;

/* A normal that leans less than this carries weight: its part along gravity. */
static const double upright = 0.3;

/* Islands of so many bodies are cheap; and of so many whose contacts are few, as in stacks and chains. */
enum { FEW_BODIES = 64, MOST_BODIES = 512 };

/* Layers that the usual springs hold. Stiffness has to grow with the cube of the layers, as against buckling under its
 * own weight, and grows with the square of the sub-steps. (Pyramids of 40 rows of boxes stand with 4 sub-steps, of 100
 * fall after 6 s; with 8 they shake more and more, and stand with 16.) */
enum { USUAL_LAYERS = 40, MOST_TIMES = 8 };

/* By how many times a body may be heavier than what it stands on. */
static const double usual_ratio = 20;

static rigid_contact *contact_of(const graze_rigid *world, const rigid_island *island, uint32_t i) {
  return RIGID_AT(world->contacts, rigid_contact,
                  *RIGID_AT(world->island_contacts, uint32_t, island->first_contact + i));
}

/* ---- weights ----------------------------------------------------------------------------------------------------- */

/* A contact that carries, and how high what it carries is. What hangs, as the links of a chain of meshes, has its
 * centre below that of what carries it. */
typedef struct bearing {
  double height;
  bool hangs;
  uint32_t contact;
  uint32_t upper, lower;
} bearing;

static int compare_bearings(const void *x, const void *y) {
  const bearing *a = x, *b = y;
  if (a->hangs != b->hangs) return b->hangs ? -1 : 1;
  if (a->height != b->height) return (a->height > b->height) == a->hangs ? 1 : -1;
  return a->contact < b->contact ? -1 : a->contact > b->contact;
}

static uint32_t list_bearings(const graze_rigid *world, const rigid_island *island, double pull, bearing *list) {
  uint32_t count = 0;
  const double *gravity = world->def.gravity;
  for (uint32_t i = 0; i < island->contact_count; i++) {
    rigid_contact *c = contact_of(world, island, i);
    const double up = -dot3(c->normal, gravity) / pull; /* from b to a */
    c->weight = 0;
    if (fabs(up) < upright) continue;
    const uint32_t upper = up > 0 ? c->a : c->b;
    rigid_body *b = rigid_body_at(world, upper);
    if (b->type != GRAZE_BODY_DYNAMIC) continue;
    b->supports++;
    const uint32_t lower = up > 0 ? c->b : c->a;
    const double height = -dot3(b->position, gravity);
    const bool hangs = c->is_patch && -dot3(rigid_body_at(world, lower)->position, gravity) > height;
    list[count++] = (bearing){height, hangs, i, upper, lower};
  }
  return count;
}

/* What every contact would carry at rest, if whatever carries a body had the same share of it: from the top down, and
 * then, of what hangs, from the bottom up. */
static void weigh_contacts(const graze_rigid *world, const rigid_island *island, bearing *list) {
  const double pull = length3(world->def.gravity);
  for (uint32_t i = 0; i < island->body_count; i++) {
    rigid_body *b = rigid_body_at(world, *RIGID_AT(world->island_bodies, uint32_t, island->first_body + i));
    b->carried = b->mass;
    b->supports = 0;
  }
  const uint32_t count = pull > 0 ? list_bearings(world, island, pull, list) : 0;
  if (count > 0) qsort(list, count, sizeof *list, compare_bearings);
  for (uint32_t i = 0; i < count; i++) {
    const rigid_body *upper = rigid_body_at(world, list[i].upper);
    rigid_contact *c = contact_of(world, island, list[i].contact);
    c->weight = upper->carried / upper->supports;
    rigid_body_at(world, list[i].lower)->carried += c->weight;
    c->weight *= pull;
  }
}

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

/* Meshes may come through each other also where something swings: with what force they last pressed on each other. */
static double find_force(const rigid_contact *c, bool is_meshed) {
  double sum = 0;
  for (uint32_t k = 0; k < c->count && is_meshed; k++) sum += c->points[k].pressed;
  return c->part > 0 ? sum / c->part : 0;
}

static void find_strain(const graze_rigid *world, rigid_contact *c, double dt) {
  const rigid_body *a = rigid_body_at(world, c->a), *b = rigid_body_at(world, c->b);
  const double load = fmax(c->weight, find_force(c, rigid_are_meshed(a, b))) * (a->inverse_mass + b->inverse_mass);
  const double reach = b->is_wall ? a->reach : fmin(a->reach, b->reach), least = fmin(a->least, b->least);
  const double sink = load * gz_soft_find_sink(dt / world->def.substeps);
  const double most = fmin(strain * reach, thin * least);
  if (sink > most) c->strained = true;
  if (sink < 0.5 * most) c->strained = false;
}

/* As stacks and chains are. Patches of a pair count once. */
static bool is_sparse(const graze_rigid *world, const rigid_island *island) {
  uint32_t links = island->joint_count;
  for (uint32_t i = 0; i < island->contact_count; i++) links += contact_of(world, island, i)->patch == 0;
  return links <= island->body_count * 5 / 4;
}

static bool is_cheap(const graze_rigid *world, const rigid_island *island) {
  if (island->body_count > MOST_BODIES) return false;
  return island->body_count <= FEW_BODIES || is_sparse(world, island);
}

static bool has_meshes(const graze_rigid *world, const rigid_island *island) {
  for (uint32_t i = 0; i < island->contact_count; i++) {
    const rigid_contact *c = contact_of(world, island, i);
    if (c->is_patch && rigid_are_meshed(rigid_body_at(world, c->a), rigid_body_at(world, c->b))) return true;
  }
  return false;
}

static bool is_strained(const graze_rigid *world, const rigid_island *island, double dt, bearing *list) {
  bool strained = false;
  if (world->def.solver != GRAZE_RIGID_AUTO || !is_cheap(world, island)) return false;
  /* What comes through a mesh is lost, as a link of a chain: soft contacts find out too late. */
  if (has_meshes(world, island) && is_sparse(world, island)) return true;
  weigh_contacts(world, island, list);
  for (uint32_t i = 0; i < island->contact_count; i++) {
    rigid_contact *c = contact_of(world, island, i);
    find_strain(world, c, dt);
    strained = strained || c->strained;
  }
  return strained;
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

/* A body is one layer above the lowest that it touches; what no force moves is layer 0. Whether that was news. */
static bool lay(rigid_body *b, const rigid_body *other) {
  const uint32_t below = other->type == GRAZE_BODY_DYNAMIC ? other->layer : 0;
  if (b->type != GRAZE_BODY_DYNAMIC || below == UINT32_MAX || below + 1 >= b->layer) return false;
  b->layer = below + 1;
  return true;
}

/* Over the contacts, which mostly come in the order of bodies, forth and back until nothing changes. */
static uint32_t count_layers(const graze_rigid *world, const rigid_island *island) {
  const uint32_t *bodies = RIGID_AT(world->island_bodies, uint32_t, island->first_body);
  uint32_t most = 0;
  bool news = true;
  for (uint32_t i = 0; i < island->body_count; i++) rigid_body_at(world, bodies[i])->layer = UINT32_MAX;
  for (bool forth = true; news; forth = !forth) {
    news = false;
    for (uint32_t i = 0; i < island->contact_count; i++) {
      const rigid_contact *c = contact_of(world, island, forth ? i : island->contact_count - 1 - i);
      rigid_body *a = rigid_body_at(world, c->a), *b = rigid_body_at(world, c->b);
      if (lay(a, b) || lay(b, a)) news = true;
    }
  }
  for (uint32_t i = 0; i < island->body_count; i++) {
    const uint32_t layer = rigid_body_at(world, bodies[i])->layer;
    if (layer != UINT32_MAX && layer > most) most = layer;
  }
  return most;
}

/* By how many times some body is heavier than one that it stands on; what is beside or below others does not sink into
 * them. */
static double find_ratio(const graze_rigid *world, const rigid_island *island) {
  const double pull = length3(world->def.gravity);
  double most = 1;
  for (uint32_t i = 0; i < island->contact_count && pull > 0; i++) {
    const rigid_contact *c = contact_of(world, island, i);
    const double up = -dot3(c->normal, world->def.gravity) / pull; /* from b to a */
    const rigid_body *upper = rigid_body_at(world, up > 0 ? c->a : c->b),
                     *lower = rigid_body_at(world, up > 0 ? c->b : c->a);
    if (c->count > 0 && fabs(up) >= upright) most = fmax(most, upper->mass * lower->inverse_mass);
  }
  return most;
}

/* How many times the usual number of sub-steps an island needs that is solved softly. */
static uint32_t count_times(const graze_rigid *world, const rigid_island *island) {
  const uint32_t layers = island->body_count > USUAL_LAYERS ? count_layers(world, island) : 0;
  const double higher = fmax((double)layers / USUAL_LAYERS, 1),
               heavier = fmax(find_ratio(world, island) / usual_ratio, 1);
  return (uint32_t)fmin(ceil(fmax(higher * sqrt(higher), sqrt(heavier))), MOST_TIMES);
}

static void choose(const graze_rigid *world, rigid_island *island, double dt, bearing *list) {
  uint32_t rounds = 1;
  for (uint32_t i = 0; i < island->contact_count; i++) {
    const uint32_t parts = gz_rigid_count_parts(world, contact_of(world, island, i), dt);
    if (parts > rounds) rounds = parts;
  }
  island->rounds = rounds;
  island->sub_steps = world->def.substeps;
  if (island->contact_count == 0 && island->joint_count == 0) {
    island->way = WAY_FREE;
  } else if (island->joint_count > 0 || world->def.solver == GRAZE_RIGID_NEWTON ||
             is_strained(world, island, dt, list)) {
    island->way = WAY_DIRECT;
  } else {
    if (world->def.solver == GRAZE_RIGID_AUTO) island->sub_steps *= count_times(world, island);
    island->way = island->rounds > 1 || island->sub_steps > world->def.substeps ? WAY_ALONE : WAY_SOFT;
  }
}

bool gz_rigid_choose_ways(graze_rigid *world, double dt) {
  uint32_t most = 1;
  for (size_t i = 0; i < world->islands.count; i++) {
    const rigid_island *island = RIGID_AT(world->islands, rigid_island, i);
    if (is_cheap(world, island) && island->contact_count > most) most = island->contact_count;
  }
  if (!gz_buffer_reserve(world->context, &world->bearings, most * sizeof(bearing), 0)) return false;
  for (size_t i = 0; i < world->islands.count; i++)
    choose(world, RIGID_AT(world->islands, rigid_island, i), dt, world->bearings.data);
  return true;
}
