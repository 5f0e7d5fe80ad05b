/* tool/mpi/trace.h: a line for each message of a job. */
#ifndef TOOL_MPI_TRACE_H
#define TOOL_MPI_TRACE_H

#include "mpi/job.h"

typedef struct trace_line {
  uint64_t round, from, to, bytes;
} trace_line;

typedef struct trace {
  trace_line *lines; /* sent by this rank */
  uint64_t count, capacity;
} trace;

/* For graze_mpi_world_def: `user` is a trace. */
void trace_message(void *user, uint64_t round, uint32_t from, uint32_t to, uint64_t bytes);

/* Collective: rank 0 writes the lines of all ranks, sorted. */
void trace_write(const job *j, trace *t, const char *path);
void trace_free(trace *t);

#endif
