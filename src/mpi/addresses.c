/* Open addressing, at most half full, into a list; see addresses.h. */
#include "mpi/addresses.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 16 };

static uint32_t *places_of(const mpi_addresses *a) {
  return a->places.data;
}

/* Where the rank is, or would be. */
static uint32_t *look_up(const mpi_addresses *a, uint32_t rank) {
  uint32_t *places = places_of(a), i = (uint32_t)((uint64_t)(rank * 0x9E3779B1u) * a->capacity >> 32);
  while (places[i] != 0 && addresses_at(a, places[i] - 1)->rank != rank) i = (i + 1) & (a->capacity - 1);
  return &places[i];
}

static void place_all(mpi_addresses *a) {
  memset(a->places.data, 0, a->capacity * sizeof(uint32_t));
  for (uint32_t i = 0; i < a->count; i++) *look_up(a, addresses_at(a, i)->rank) = i + 1;
}

static bool grow(const graze_context *context, mpi_addresses *a) {
  const uint32_t capacity = a->capacity > 0 ? 2 * a->capacity : LEAST;
  if (!gz_buffer_reserve(context, &a->list, capacity / 2 * sizeof(mpi_address), a->count * sizeof(mpi_address)) ||
      !gz_buffer_renew(context, &a->places, capacity * sizeof(uint32_t))) {
    a->capacity = a->count = 0; /* the places are lost */
    return false;
  }
  a->capacity = capacity;
  place_all(a);
  return true;
}

mpi_address *gz_mpi_addresses_add(const graze_context *context, mpi_addresses *a, uint32_t rank) {
  uint32_t *place = a->capacity > 0 ? look_up(a, rank) : NULL;
  if (place == NULL || *place == 0) {
    if (2 * (a->count + 1) > a->capacity) {
      if (!grow(context, a)) return NULL;
      place = look_up(a, rank);
    }
    *addresses_at(a, a->count) = (mpi_address){.rank = rank};
    *place = ++a->count;
  }
  a->last = *place - 1;
  return addresses_at(a, a->last);
}

static int compare(const void *x, const void *y) {
  const mpi_address *a = x, *b = y;
  return (a->rank > b->rank) - (a->rank < b->rank);
}

uint64_t gz_mpi_addresses_lay_out(mpi_addresses *a) {
  bool rising = true;
  uint64_t sum = 0;
  for (uint32_t i = 1; i < a->count; i++) rising &= addresses_at(a, i - 1)->rank < addresses_at(a, i)->rank;
  if (!rising) {
    qsort(a->list.data, a->count, sizeof(mpi_address), compare);
    place_all(a);
  }
  for (uint32_t i = 0; i < a->count; i++) {
    const uint64_t count = addresses_at(a, i)->count;
    addresses_at(a, i)->count = sum;
    sum += count;
  }
  return sum;
}

void gz_mpi_addresses_clear(mpi_addresses *a) {
  if (a->count > 0) memset(a->places.data, 0, a->capacity * sizeof(uint32_t));
  a->count = a->last = 0;
}

void gz_mpi_addresses_release(const graze_context *context, mpi_addresses *a) {
  gz_buffer_release(context, &a->list);
  gz_buffer_release(context, &a->places);
  *a = (mpi_addresses){0};
}
