/* The ranks that a rank writes to in a round of messages, and how many records go to each: a table of those alone,
 * however many ranks there are.
 *
 * Records are counted rank by rank; the layout puts those for one rank behind each other, in the order of ranks; and
 * when they are written, the count of each rank goes on from where its first record lies to the end of its last. */
#ifndef GRAZE_SRC_MPI_ADDRESSES_H
#define GRAZE_SRC_MPI_ADDRESSES_H

#include "base/memory.h"

typedef struct mpi_address {
  uint32_t rank, mark; /* the user's; 0 at first */
  uint64_t count;      /* of records; after the layout the place of the next one */
} mpi_address;

typedef struct mpi_addresses { /* all zero: empty */
  buffer list;                 /* mpi_address */
  buffer places;               /* uint32_t: numbers in the list + 1, by the hash of the rank */
  uint32_t count, capacity;    /* of places, a power of two */
  uint32_t last;               /* the one that was asked for last */
} mpi_addresses;

static inline mpi_address *addresses_at(const mpi_addresses *a, uint32_t i) {
  return (mpi_address *)a->list.data + i;
}

/* That of a rank, made if it was not there; valid until the next one is made. NULL: out of memory, never for one that
 * is there, and the others are lost. O(1). */
mpi_address *gz_mpi_addresses_add(const graze_context *context, mpi_addresses *a, uint32_t rank);

/* The one that was asked for last: often the one that is asked for next. NULL: there is none. */
static inline mpi_address *addresses_last(const mpi_addresses *a) {
  return a->last < a->count ? addresses_at(a, a->last) : NULL;
}

/* Sorts them by rank and turns counts into places; returns how many records there are. O(n log n). */
uint64_t gz_mpi_addresses_lay_out(mpi_addresses *a);

/* Empties it and keeps its memory. */
void gz_mpi_addresses_clear(mpi_addresses *a);
void gz_mpi_addresses_release(const graze_context *context, mpi_addresses *a);

#endif
