/* tool/mpi/list.h: the pairs of all ranks, in their order, for rank 0 to write. */
#ifndef TOOL_MPI_LIST_H
#define TOOL_MPI_LIST_H

#include "mpi/job.h"

/* All ranks call it with their parts of a list that is sorted over the ranks. On rank 0, put(user, a, b) is called for
 * each pair of all ranks; a few thousand are there at a time. */
void list_pairs(const job *j, const graze_mpi_pair *list, uint64_t count,
                void (*put)(void *user, uint64_t a, uint64_t b), void *user);

#endif
