/* tool/mpi/job.h: what the ranks of graze-mpi do together: agreeing that something went wrong, and ending.
 *
 * Only rank 0 prints. A failure that all ranks know of ends them all with exit(3); MPI_Finalize is called on the way
 * out. One that only this rank knows of and cannot tell, such as memory of the program's own, ends the job. */
#ifndef TOOL_MPI_JOB_H
#define TOOL_MPI_JOB_H

#include <mpi.h>

#include "graze/mpi.h"

typedef struct job {
  graze_context *context;
  int rank, ranks;
} job;

/* Begins MPI, and arranges for the program to end it. */
void job_begin(job *j);

/* Between these, what ranks other than the first write is thrown away: they all say the same. */
void job_hush(const job *j);
void job_speak(const job *j);

/* From here on a failure is one of all ranks, which ends them all; and from here on it may be one of this rank alone,
 * which ends the job. */
void job_agrees(const job *j);
void job_alone(const job *j);

/* All ranks come here. If `words` are not NULL on any rank, rank 0 prints those of the first such rank, with its number
 * if `named`, and all end with exit(3). */
void job_agree(const job *j, const char *words, bool named);

/* job_agree for a call of the library that gives no error to other ranks. */
void job_must(const job *j, graze_status status);

/* Where the part of a rank begins, of `count` things that are dealt out in order; of rank P: their end. */
uint64_t job_part(uint64_t count, const job *j, int rank);

/* Memory of the program's; ends the job when it is refused. */
void *job_alloc(size_t count, size_t size);

#endif
