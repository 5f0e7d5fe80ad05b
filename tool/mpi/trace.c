/* A line for each message; see trace.h. */
#include "mpi/trace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "diagnostics.h"
#include "output.h"

enum { TAG = 3, NUMBERS = sizeof(trace_line) / sizeof(uint64_t) };

void trace_message(void *user, uint64_t round, uint32_t from, uint32_t to, uint64_t bytes) {
  trace *t = user;
  if (t->count == t->capacity) {
    t->capacity = t->capacity > 0 ? 2 * t->capacity : 256;
    t->lines = realloc(t->lines, t->capacity * sizeof *t->lines);
    if (!t->lines) fail_out_of_memory();
  }
  t->lines[t->count++] = (trace_line){round, from, to, bytes};
}

static int compare(const void *x, const void *y) {
  const trace_line *a = x, *b = y;
  if (a->round != b->round) return a->round < b->round ? -1 : 1;
  if (a->from != b->from) return a->from < b->from ? -1 : 1;
  return a->to < b->to ? -1 : a->to > b->to;
}

/* Those of the other ranks behind one's own. */
static void collect(const job *j, trace *t) {
  for (int r = 1; r < j->ranks; r++) {
    MPI_Status status;
    int numbers = 0;
    MPI_Probe(r, TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_UINT64_T, &numbers);
    trace_line *lines = job_alloc((size_t)numbers / NUMBERS, sizeof *lines);
    MPI_Recv(lines, numbers, MPI_UINT64_T, r, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < numbers / NUMBERS; i++)
      trace_message(t, lines[i].round, (uint32_t)lines[i].from, (uint32_t)lines[i].to, lines[i].bytes);
    free(lines);
  }
}

void trace_write(const job *j, trace *t, const char *path) {
  if (j->rank != 0) {
    MPI_Send(t->lines, (int)(t->count * NUMBERS), MPI_UINT64_T, 0, TAG, MPI_COMM_WORLD);
    return;
  }
  collect(j, t);
  if (t->count > 0) qsort(t->lines, t->count, sizeof *t->lines, compare);
  output *out = output_open(path);
  gz_put_text(out, "round,from,to,bytes\n");
  for (uint64_t i = 0; i < t->count; i++) {
    const trace_line *l = &t->lines[i];
    output_print(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", l->round, l->from, l->to, l->bytes);
  }
  output_close(out);
}

void trace_free(trace *t) {
  free(t->lines);
}
