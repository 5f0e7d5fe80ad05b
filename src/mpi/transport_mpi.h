/* The transport over MPI 3.0, any thread level at which the calling thread may call MPI. */
#ifndef GRAZE_SRC_MPI_TRANSPORT_MPI_H
#define GRAZE_SRC_MPI_TRANSPORT_MPI_H

#include <mpi.h>

#include "mpi/transport.h"

/* Rounds after which the communicator is replaced: some 16.7 million rounds deadlock on Open MPI (its numbers of
 * collectives run out: open-mpi/ompi#11052, dealii#14405). */
enum { MPI_RENEW_AFTER = 1 << 22 };

/* Collective: duplicates the communicator, which stays the caller's. Errors: RANK, MEMORY; on every rank the same. */
graze_status gz_mpi_transport_open(const graze_context *context, MPI_Comm comm, uint32_t renew_after,
                                   mpi_transport **transport);

#endif
