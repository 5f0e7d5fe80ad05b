/* tool/mpi/pairs.h: the verb. */
#ifndef TOOL_MPI_PAIRS_H
#define TOOL_MPI_PAIRS_H

#include "mpi/job.h"

/* All ranks; the ranks but the first are silent still. Returns the exit code. */
int command_mpi_pairs(job *j, int argc, char **argv);

#endif
