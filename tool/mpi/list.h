/* tool/mpi/list.h: the pairs of all ranks, in their order, into what rank 0 writes. */
#ifndef TOOL_MPI_LIST_H
#define TOOL_MPI_LIST_H

#include "mpi/job.h"
#include "output.h"

/* The text of a pair. */
typedef struct pair_style {
  const char *separator; /* between two pairs */
  const char *before, *between, *after;
} pair_style;

extern const pair_style pair_style_json; /* elements of an array that is open */

/* All ranks call it with their parts of a list that is sorted over the ranks, and rank 0 with its output, behind what
 * that has already. Into a file that all of them can open each writes its part at its place; else rank after rank
 * sends, a few thousand pairs at a time. */
void list_pairs(const job *j, const graze_mpi_pair *list, uint64_t count, const pair_style *style, output *out);

#endif
