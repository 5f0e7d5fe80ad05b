/* All ranks in one process, each with a clock of its own: what a step would take on a network.
 *
 * A rank's clock goes on by the processor time that its code takes between calls, and by what the network takes after
 * the LogGP model (Alexandrov, Ionescu, Schauser, Scheiman: LogGP, SPAA 1995): a message costs the sender `overhead`,
 * leaves when the one before has gone, arrives after `latency` and `gap_per_byte` a byte, and costs the receiver
 * `overhead`. A barrier, a gathering or a sharing takes a message's time for each doubling of the ranks, a reduction
 * twice that. Looking for messages that have not come costs nothing.
 *
 * Pieces of work, from an `enter` or the end of a collective to the next call of the network, follow each other alike
 * in every step with the same boxes and regions. So what disturbs this processor can be left out (`steady`). */
#ifndef GRAZE_SRC_MPI_TRANSPORT_VIRTUAL_H
#define GRAZE_SRC_MPI_TRANSPORT_VIRTUAL_H

#include "graze/mpi.h"
#include "mpi/transport.h"

typedef struct virtual_net virtual_net;

typedef struct virtual_net_def {
  uint32_t ranks;
  graze_mpi_network network;
  double scale; /* seconds of a rank for a second of this processor */
  double noise; /* standard deviation of what a rank's work takes, as a share */
  uint64_t seed;
  bool steady; /* a piece of work takes the least that it took so far */
  /* What the rank is doing: called when a collective begins, for the phases. */
  const char *(*phase)(void *user, uint32_t rank);
  void *user;
} virtual_net_def;

/* NULL: out of memory. */
virtual_net *gz_virtual_net_open(const graze_context *context, const virtual_net_def *def);
void gz_virtual_net_close(virtual_net *net);
mpi_transport *gz_virtual_net_transport(virtual_net *net, uint32_t rank);

/* Sets all clocks and phases to 0. */
void gz_virtual_net_begin_step(virtual_net *net);

/* Pieces of work are others from now on: what they took is forgotten. */
void gz_virtual_net_forget(virtual_net *net);

/* Whether the rank has come to a collective at which all ranks are by now, so that its code will go on. */
bool gz_virtual_net_goes_on(const virtual_net *net, uint32_t rank);

/* Around each call of a rank's code. If it has waited all the time, the clock stays. */
void gz_virtual_net_enter(virtual_net *net, uint32_t rank);
void gz_virtual_net_leave(virtual_net *net, uint32_t rank);

/* The latest clock. */
double gz_virtual_net_time(const virtual_net *net);

/* What of it went by in which phase of the slowest ranks: once a step, when all are done. Returns how many phases. */
uint32_t gz_virtual_net_end_step(virtual_net *net, graze_mpi_phase phases[GRAZE_MPI_MOST_PHASES]);

#endif
