/* What the ranks of graze-mpi do together; see job.h. */
#include "mpi/job.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diagnostics.h"

static int own_rank;
static int kept_output = -1, kept_errors = -1;

/* The exit code is that of rank 0, so that mpiexec sees one verdict. */
static void end_mpi(void) {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (!begun || ended) return;
  fflush(stdout);
  signal(SIGTERM, SIG_IGN); /* mpiexec sends it to the others once rank 0 has ended with 1 */
  MPI_Finalize();
  if (own_rank != 0) _exit(0);
}

static void end_job(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
}

void job_begin(job *j) {
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &j->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &j->ranks);
  own_rank = j->rank;
  if (atexit(end_mpi) != 0) end_job(exit_incomplete);
  diagnostics_end_with(exit); /* what all ranks find wrong in the command line */
}

void job_hush(const job *j) {
  if (j->rank == 0) return;
  int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  fflush(stdout);
  kept_output = dup(1);
  kept_errors = dup(2);
  dup2(nothing, 1);
  dup2(nothing, 2);
  close(nothing);
}

void job_agrees(const job *j) {
  (void)j;
  diagnostics_end_with(exit);
}

void job_alone(const job *j) {
  (void)j;
  diagnostics_end_with(end_job);
}

void job_speak(const job *j) {
  job_alone(j);
  if (j->rank == 0) return;
  fflush(stdout);
  dup2(kept_output, 1);
  dup2(kept_errors, 2);
  close(kept_output);
  close(kept_errors);
}

void job_agree(const job *j, const char *words, bool named) {
  char line[600];
  int mine = words != NULL ? j->rank : j->ranks, first = 0;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == j->ranks) return;
  snprintf(line, sizeof line, "%s", words != NULL ? words : "");
  MPI_Bcast(line, sizeof line, MPI_CHAR, first, MPI_COMM_WORLD);
  diagnostics_end_with(exit);
  if (j->rank != 0) exit(exit_incomplete);
  if (named) fail("rank %d: %s", first, line);
  fail("%s", line);
}

void job_must(const job *j, graze_status status) {
  const graze_error *error = graze_last_error(j->context);
  const char *words = error->status == status ? error->message : graze_status_string(status);
  job_agree(j, status == GRAZE_OK ? NULL : words, true);
}

uint64_t job_part(uint64_t count, const job *j, int rank) {
  return (uint64_t)((unsigned __int128)count * (unsigned)rank / (unsigned)j->ranks);
}

void *job_alloc(size_t count, size_t size) {
  void *memory = calloc(count > 0 ? count : 1, size);
  if (memory == NULL) fail("rank %d: out of memory: %zu times %zu bytes were refused", own_rank, count, size);
  return memory;
}
