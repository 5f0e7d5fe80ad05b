/* tool/mpi/dealing.h: corners of triangles, where vertices and triangles are spread as they come in a file. */
#ifndef TOOL_MPI_DEALING_H
#define TOOL_MPI_DEALING_H

#include "graze/io.h"
#include "mpi/job.h"

/* Collective. The slices of all ranks, which have their places, with the counts of all; `corners`: 9 of each of this
 * rank's `count` triangles, those that job_part deals to it. */
void deal_corners(const job *j, const graze_slice *slice, const graze_slice_counts *all, uint64_t count,
                  double *corners);

#endif
