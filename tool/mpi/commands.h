/* tool/mpi/commands.h: the verbs of graze-mpi. All ranks call one, and those but the first are silent still. They
 * return the exit code. */
#ifndef TOOL_MPI_COMMANDS_H
#define TOOL_MPI_COMMANDS_H

#include "mpi/job.h"

int command_mpi_check(job *j, int argc, char **argv);
int command_mpi_pairs(job *j, int argc, char **argv);
int command_mpi_predict(job *j, int argc, char **argv);
int command_mpi_self(job *j, int argc, char **argv);

#endif
