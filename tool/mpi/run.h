/* tool/mpi/run.h: what the verbs that search over ranks have in common: how to search, and searches that are timed. */
#ifndef TOOL_MPI_RUN_H
#define TOOL_MPI_RUN_H

#include "mpi/job.h"
#include "mpi/patience.h"
#include "mpi/trace.h"
#include "options.h"

/* --placement, --search, --voxel, --repeat, --trace, --patience. */
typedef struct rank_options {
  graze_mpi_world_def world;
  const char *trace;
  double patience;
  uint32_t repeat;
  bool must_search; /* set by a verb that has no --search none */
} rank_options;

/* A child of a verb's argp; its input is a rank_options that rank_options_begin has made. */
extern const struct argp rank_argp;
rank_options rank_options_begin(void);

typedef struct rank_run {
  job *job;
  const rank_options *how;
  patience patience;
  trace trace;
  double *seconds; /* of each search */
  uint32_t count, capacity;
  double load_seconds, query_seconds;
} rank_run;

/* Makes the context of the job, with `threads`; room for the seconds of `searches`. Collective, like the others. */
void rank_run_begin(rank_run *run, job *j, int threads, const rank_options *how, uint32_t searches);
void rank_run_end(rank_run *run);

/* The definition that the options ask for. */
graze_mpi_world_def rank_run_world(rank_run *run);

/* One search of which the time is taken once all ranks are there: begins it and tests until it is done. A failure,
 * which is one of all ranks and names its rank, ends the job. */
typedef struct rank_search {
  graze_status (*begin)(void *user);
  graze_status (*test)(void *user, bool *done);
  void *user;
} rank_search;

void rank_run_search(rank_run *run, const rank_search *search);

/* Adds the time since `start`. */
void rank_run_loaded(rank_run *run, double start);

/* Writes the trace if one was asked for. */
void rank_run_trace(rank_run *run);

#endif
