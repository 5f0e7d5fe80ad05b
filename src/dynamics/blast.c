/* Blasts of particles. */
#include "scene/blast.h"

#include <stdio.h>

#include "dynamics/world.h"

graze_status graze_world_blast(graze_world *world, uint32_t set, const graze_blast *blast) {
  if (world == NULL || blast == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  const graze_context *context = world->context;
  char who[96];
  if (set >= world->sets.count) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "there is no set %u", set);
  const particle_set *s = WORLD_AT(world->sets, particle_set, set);
  snprintf(who, sizeof who, "blast of '%.60s'", s->name);
  graze_status status = gz_blast_check(context, blast, who);
  if (status != GRAZE_OK) return status;
  const size_t count = s->count;
  double *numbers = gz_new(context, 9 * count, sizeof *numbers);
  if (numbers == NULL) return gz_fail_memory(context, 9 * count * sizeof *numbers);
  graze_particle_state state = {numbers, numbers + 3 * count, numbers + 6 * count};
  uint64_t first = 0;
  for (uint32_t i = 0; i < set; i++) first += WORLD_AT(world->sets, particle_set, i)->count;
  status = graze_world_get_particles(world, set, &state);
  unsigned saved = gz_fp_enter();
  for (size_t i = 0; status == GRAZE_OK && i < count; i++)
    gz_blast_throw(blast, first + i, state.positions + 3 * i, state.velocities + 3 * i, state.spins + 3 * i);
  gz_fp_leave(saved);
  state.positions = NULL;
  if (status == GRAZE_OK) status = graze_world_set_particles(world, set, &state);
  gz_free(numbers);
  return status;
}
