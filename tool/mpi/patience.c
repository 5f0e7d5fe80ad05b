/* Waiting for other ranks; see patience.h. */
#include "mpi/patience.h"

#include <stdlib.h>

#include "base/clock.h"
#include "diagnostics.h"

enum { TAG = 2 };

static void listen(const patience *p, int rank) {
  MPI_Irecv(NULL, 0, MPI_BYTE, rank, TAG, p->comm, &p->coming[rank]);
}

void patience_begin(patience *p, const job *j, double seconds) {
  *p = (patience){.job = j, .seconds = seconds, .comm = MPI_COMM_NULL};
  if (seconds <= 0) return;
  MPI_Comm_dup(MPI_COMM_WORLD, &p->comm);
  p->heard = job_alloc((size_t)j->ranks, sizeof *p->heard);
  p->going = job_alloc((size_t)j->ranks, sizeof(MPI_Request));
  p->coming = job_alloc((size_t)j->ranks, sizeof(MPI_Request));
  for (int r = 0; r < j->ranks; r++) {
    p->going[r] = MPI_REQUEST_NULL;
    listen(p, r);
  }
}

void patience_end(patience *p) {
  if (p->seconds <= 0) return;
  for (int r = 0; r < p->job->ranks; r++) MPI_Cancel(&p->coming[r]);
  MPI_Waitall(p->job->ranks, p->coming, MPI_STATUSES_IGNORE);
  MPI_Waitall(p->job->ranks, p->going, MPI_STATUSES_IGNORE);
  MPI_Comm_free(&p->comm);
  free(p->heard);
  free(p->going);
  free(p->coming);
}

/* One that stands still takes nothing: a word that has not gone yet will do. */
static void tell_all(const patience *p) {
  for (int r = 0; r < p->job->ranks; r++) {
    int gone = 0;
    MPI_Test(&p->going[r], &gone, MPI_STATUS_IGNORE);
    if (gone && r != p->job->rank) MPI_Isend(NULL, 0, MPI_BYTE, r, TAG, p->comm, &p->going[r]);
  }
}

static void hear_all(const patience *p, double now) {
  for (int r = 0; r < p->job->ranks; r++) {
    int there = 0;
    MPI_Test(&p->coming[r], &there, MPI_STATUS_IGNORE);
    if (there) p->heard[r] = now;
    if (there) listen(p, r);
  }
}

static void name_the_silent(const patience *p, double now) {
  int silent = -1;
  for (int r = 0; r < p->job->ranks; r++) {
    const bool speaks = r == p->job->rank || now - p->heard[r] <= p->seconds;
    if (speaks && r < p->job->rank) return; /* that one tells it */
    if (!speaks && silent < 0) silent = r;
  }
  if (silent >= 0) fail("rank %d has been silent for %g seconds", silent, p->seconds);
}

void patience_wait(patience *p, bool (*is_done)(void *user), void *user) {
  const double start = p->seconds > 0 ? clock_now() : 0;
  double told = start;
  while (!is_done(user)) {
    if (p->seconds <= 0) continue;
    const double now = clock_now();
    if (now - start > p->seconds / 2) hear_all(p, now);
    if (now - told > p->seconds / 4) {
      tell_all(p);
      told = now;
    }
    if (now - start > 1.5 * p->seconds) name_the_silent(p, now);
  }
}
