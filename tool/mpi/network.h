/* tool/mpi/network.h: the network of a prediction. */
#ifndef TOOL_MPI_NETWORK_H
#define TOOL_MPI_NETWORK_H

#include "graze/mpi.h"

typedef struct network {
  char name[128];
  graze_mpi_network times;
} network;

/* Of a file with lines `name WORDS', `latency S', `overhead S', `gap S' and `gap_per_byte S', in seconds; what stands
 * behind a # is a comment. NULL: that of bench/networks/red_storm.txt. A fault ends the program, with FILE:LINE. */
network network_read(const char *path);

#endif
