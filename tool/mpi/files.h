/* tool/mpi/files.h: files that all ranks read. */
#ifndef TOOL_MPI_FILES_H
#define TOOL_MPI_FILES_H

#include "mpi/job.h"

/* Ends all ranks when a file that only some of them can open, or that is another one there, is named so. One that
 * nobody can open is told by who reads it. */
void files_compare(const job *j, const char *path);

/* Whether it is true on all ranks. */
bool job_all(bool mine);

#endif
