/* What a rank can do for a step: send, take what has arrived, and go through collectives together. Nothing blocks:
 * whatever is begun is asked about later, so that the caller works meanwhile, and so that one thread can be all ranks
 * in turn.
 *
 * Three implementations: MPI (transport_mpi.c), all ranks in one process (transport_local.h), and such ranks with
 * clocks (transport_virtual.h). A transport belongs to one world. Its collectives are begun one at a time and in the
 * same order on every rank.
 */
#ifndef GRAZE_SRC_MPI_TRANSPORT_H
#define GRAZE_SRC_MPI_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#include "graze/base.h"

/* What one reduction does: numbers that are added up, mod 2^64, and numbers of which the greatest counts. */
enum { MPI_SUMS = 16, MPI_MAXES = 13 };
typedef struct mpi_totals {
  uint64_t sums[MPI_SUMS], maxes[MPI_MAXES];
} mpi_totals;

/* A message that has arrived and is to be received. */
typedef struct mpi_arrival {
  bool there;
  uint32_t from, channel;
  size_t size;
  void *handle; /* of the transport */
} mpi_arrival;

typedef struct mpi_transport mpi_transport;

/* Errors of all: RANK, with a message that names rank and call; after one the transport is of no use. */
typedef struct mpi_transport_calls {
  /* Called by all ranks before the messages of a round. */
  graze_status (*round)(mpi_transport *t);

  /* Begins to send. The bytes must stay until `sent`. */
  graze_status (*send)(mpi_transport *t, uint32_t to, uint32_t channel, const void *bytes, size_t size);

  /* Whether everything sent has been received, not only put on its way. */
  graze_status (*sent)(mpi_transport *t, bool *done);

  /* One message of the channel that has arrived, if there is any; it must be received before the next is asked for. */
  graze_status (*probe)(mpi_transport *t, uint32_t channel, mpi_arrival *arrival);

  /* `bytes` NULL: the message is thrown away, and its sender sees it received. */
  graze_status (*receive)(mpi_transport *t, mpi_arrival *arrival, void *bytes);

  /* Collectives begin; buffers must stay until `finished`. */
  graze_status (*barrier)(mpi_transport *t);
  graze_status (*gather)(mpi_transport *t, const void *mine, size_t size, void *all); /* `size` bytes a rank */
  graze_status (*collect)(mpi_transport *t, uint32_t to, const void *mine, size_t size, void *all); /* to one of them */
  graze_status (*reduce)(mpi_transport *t, mpi_totals *totals);                                     /* in place */
  graze_status (*share)(mpi_transport *t, uint32_t from, void *bytes, size_t size);

  /* Whether the collective begun last is done here. */
  graze_status (*finished)(mpi_transport *t, bool *done);

  void (*close)(mpi_transport *t);
} mpi_transport_calls;

struct mpi_transport {
  const mpi_transport_calls *calls;
  const graze_context *context; /* for memory and messages */
  uint32_t rank, ranks;
};

static inline void mpi_totals_add(mpi_totals *totals, const mpi_totals *more) {
  for (int k = 0; k < MPI_SUMS; k++) totals->sums[k] += more->sums[k];
  for (int k = 0; k < MPI_MAXES; k++) {
    if (totals->maxes[k] < more->maxes[k]) totals->maxes[k] = more->maxes[k];
  }
}

#endif
