/* Open addressing, at most half full; see places.h. Keys are hashes already. */
#include "mpi/places.h"

#include <string.h>

enum { LEAST = 64 };

static mpi_place *look_up(const mpi_places *p, uint64_t key) {
  uint64_t i = key & (p->capacity - 1);
  while (places_at(p, i)->key != 0 && places_at(p, i)->key != key) i = (i + 1) & (p->capacity - 1);
  return places_at(p, i);
}

mpi_place *gz_mpi_places_find(const mpi_places *p, uint64_t key) {
  if (p->count == 0) return NULL;
  mpi_place *place = look_up(p, key);
  return place->key != 0 ? place : NULL;
}

static bool grow(const graze_context *context, mpi_places *p) {
  mpi_places larger = {.capacity = p->capacity > 0 ? 2 * p->capacity : LEAST};
  if (!gz_buffer_reserve(context, &larger.memory, larger.capacity * sizeof(mpi_place), 0)) return false;
  memset(larger.memory.data, 0, larger.capacity * sizeof(mpi_place));
  for (uint64_t i = 0; i < p->capacity; i++) {
    if (places_at(p, i)->key != 0) *look_up(&larger, places_at(p, i)->key) = *places_at(p, i);
  }
  larger.count = p->count;
  gz_buffer_release(context, &p->memory);
  *p = larger;
  return true;
}

mpi_place *gz_mpi_places_add(const graze_context *context, mpi_places *p, uint64_t key, uint32_t rank) {
  mpi_place *place = gz_mpi_places_find(p, key);
  if (place != NULL) return place;
  if (2 * (p->count + 1) > p->capacity && !grow(context, p)) return NULL;
  place = look_up(p, key);
  *place = (mpi_place){key, rank, 0};
  p->count++;
  return place;
}

void gz_mpi_places_clear(mpi_places *p) {
  if (p->count > 0) memset(p->memory.data, 0, p->capacity * sizeof(mpi_place));
  p->count = 0;
}

void gz_mpi_places_release(const graze_context *context, mpi_places *p) {
  gz_buffer_release(context, &p->memory);
  *p = (mpi_places){0};
}
