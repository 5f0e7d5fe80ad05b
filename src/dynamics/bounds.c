/* Balls that leave the bounds. Whoever was outside at the end of a step has left, whether it comes back or not: so each
 * step looks at all places, and a mark stays. */
#include "dynamics/world.h"

typedef struct marking {
  graze_world *world;
  pieces pieces;
} marking;

static bool is_outside(const graze_world *world, const double position[3]) {
  const graze_box *bounds = &world->def.bounds;
  bool inside = true;
  for (int k = 0; k < 3; k++) inside &= position[k] >= bounds->min[k] && position[k] <= bounds->max[k];
  return !inside;
}

static void mark_piece(void *argument, uint32_t index) {
  const marking *m = argument;
  graze_world *world = m->world;
  const uint64_t end = pieces_end(&m->pieces, index);
  for (uint64_t p = pieces_begin(&m->pieces, index); p < end; p++) {
    if (is_outside(world, world->now[p].position)) world->left[world->number[p]] = 1;
  }
}

void gz_bounds_mark(graze_world *world) {
  const bool *periodic = world->def.periodic;
  if (graze_box_is_empty(&world->def.bounds) || (periodic[0] && periodic[1] && periodic[2])) return;
  marking m = {world, pieces_of(world->count, 4096)};
  gz_parallel_each(world->context, m.pieces.number, mark_piece, &m);
}

bool gz_bounds_has_left(const graze_world *world, uint32_t number) {
  return world->left[number] != 0 ||
         (!graze_box_is_empty(&world->def.bounds) && is_outside(world, world->now[world->place[number]].position));
}

graze_status graze_world_find_left(graze_world *world, const graze_member **balls, uint64_t *count) {
  if (world == NULL || balls == NULL || count == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  graze_status status = gz_world_prepare(world);
  if (status != GRAZE_OK) return status;
  world->escaped.count = 0;
  for (uint32_t n = 0; n < world->dynamic; n++) {
    if (!gz_bounds_has_left(world, n)) continue;
    if (!array_reserve(world->context, &world->escaped, 1, sizeof(graze_member)))
      return gz_fail_memory(world->context, sizeof(graze_member));
    *WORLD_AT(world->escaped, graze_member, world->escaped.count++) = gz_world_member(world, n);
  }
  *balls = world->escaped.data;
  *count = world->escaped.count;
  return GRAZE_OK;
}
