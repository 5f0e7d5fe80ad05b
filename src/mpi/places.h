/* Where voxels are: a map from a voxel's key to a rank, which grows. */
#ifndef GRAZE_SRC_MPI_PLACES_H
#define GRAZE_SRC_MPI_PLACES_H

#include "base/memory.h"

typedef struct mpi_place {
  uint64_t key; /* 0: free */
  uint32_t rank;
  uint32_t number; /* the user's */
} mpi_place;

typedef struct mpi_places { /* all zero: empty */
  buffer memory;
  uint64_t count, capacity; /* a power of two */
} mpi_places;

/* NULL: it is not there. */
mpi_place *gz_mpi_places_find(const mpi_places *places, uint64_t key);

/* The place of the key, made with `rank` and number 0 if it was not there; valid until the next one is added. NULL: out
 * of memory. */
mpi_place *gz_mpi_places_add(const graze_context *context, mpi_places *places, uint64_t key, uint32_t rank);

/* Empties it and keeps its memory. */
void gz_mpi_places_clear(mpi_places *places);
void gz_mpi_places_release(const graze_context *context, mpi_places *places);

static inline mpi_place *places_at(const mpi_places *places, uint64_t i) {
  return (mpi_place *)places->memory.data + i;
}

#endif
