/* A round of messages of which no rank knows how many it will get.
 *
 * NBX (Hoefler, Siebert, Lumsdaine: Scalable Communication Protocols for Dynamic Sparse Data Exchange, PPoPP 2010): a
 * rank sends in synchronous mode, receives what comes, enters a barrier that does not block when all it sent has been
 * received, and goes on receiving until the barrier is done: then nothing is under way to anybody. No rank is told
 * counts by all others, and none waits while it could receive.
 *
 * A rank may begin the next round while another one is still in this one. So messages carry the number of their round.
 */
#ifndef GRAZE_SRC_MPI_EXCHANGE_H
#define GRAZE_SRC_MPI_EXCHANGE_H

#include "mpi/transport.h"

typedef struct mpi_parcel {
  uint32_t to;
  const void *bytes; /* whole records; must stay until the round is done */
  size_t size;
} mpi_parcel;

/* Who takes what arrives. `room` says where a message of `size` bytes goes; NULL: it is thrown away, which the caller
 * remembers. It may arrive in several pieces of whole records, each of which is a message of its own. */
typedef struct mpi_receiver {
  void *(*room)(void *user, uint32_t from, size_t size);
  void *user;
} mpi_receiver;

typedef struct mpi_exchange {
  mpi_transport *transport;
  mpi_receiver receiver;
  uint32_t channel;
  bool in_barrier;
  uint64_t messages, bytes; /* sent */
} mpi_exchange;

/* Channels are used in turn: one rank is at most one round ahead of another, so that a few are enough. */
enum { MPI_CHANNELS = 16 };

/* No message is longer: MPI counts in ints. Tests have shorter ones. */
#define MPI_LONGEST_MESSAGE ((size_t)1 << 30)

/* Sends everything. `round`: the same number on all ranks, one more each time. A parcel of more than `longest` bytes is
 * cut between records of `record` bytes. Errors: RANK. */
graze_status gz_mpi_exchange_begin(mpi_exchange *x, mpi_transport *transport, uint64_t round, const mpi_parcel *parcels,
                                   size_t count, size_t record, size_t longest, mpi_receiver receiver);

/* Receives all that has arrived. `done`: every rank has received everything. Errors: RANK. */
graze_status gz_mpi_exchange_test(mpi_exchange *x, bool *done);

#endif
