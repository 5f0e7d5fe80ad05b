/* All ranks in one process and one thread, for tests: of the protocol in every order of events, with sanitizers, and
 * with allocators that fail. */
#ifndef GRAZE_SRC_MPI_TRANSPORT_LOCAL_H
#define GRAZE_SRC_MPI_TRANSPORT_LOCAL_H

#include "mpi/transport.h"

typedef struct mpi_hub mpi_hub;

typedef struct mpi_hub_def {
  uint32_t ranks;
  uint64_t seed;    /* of the order of events */
  uint32_t slowest; /* a message or a collective is seen after at most so many questions for it; 0: at once */
  void (*trace)(void *user, uint32_t from, uint32_t to, uint32_t channel, size_t size); /* of each send; may be NULL */
  void *trace_user;
} mpi_hub_def;

/* `context` is for the hub's own memory. NULL: out of memory. */
mpi_hub *gz_mpi_hub_open(const graze_context *context, const mpi_hub_def *def);

/* The transports may be open still, and are not to be used any more. */
void gz_mpi_hub_close(mpi_hub *hub);

/* That of a rank, with its own context; closing it does nothing. */
mpi_transport *gz_mpi_hub_transport(mpi_hub *hub, uint32_t rank, const graze_context *context);

/* Messages that nobody has received. */
uint64_t gz_mpi_hub_waiting(const mpi_hub *hub);

#endif
