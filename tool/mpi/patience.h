/* tool/mpi/patience.h: waiting for other ranks, but not for ever.
 *
 * Ranks that wait tell each other so from time to time. One of which nothing is heard for the given time, by somebody
 * who has waited half as long again, is named by the first of those that are heard, and the job ends. How far a rank
 * has come does not matter: one may be held up in a barrier that another has left. */
#ifndef TOOL_MPI_PATIENCE_H
#define TOOL_MPI_PATIENCE_H

#include "mpi/job.h"

typedef struct patience {
  const job *job;
  double seconds; /* 0: no end */
  MPI_Comm comm;
  double *heard;               /* by rank: when, last */
  MPI_Request *going, *coming; /* words to and from each rank */
} patience;

/* Collective. */
void patience_begin(patience *p, const job *j, double seconds);
void patience_end(patience *p);

/* Calls is_done(user) until it is true. Every rank comes here as often as the others. */
void patience_wait(patience *p, bool (*is_done)(void *user), void *user);

#endif
