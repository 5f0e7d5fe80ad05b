/* The pairs of all ranks in their order: rank after rank sends its list in parts when rank 0 has written all before. */
#include "mpi/list.h"

#include <stdlib.h>

enum { PART = 1 << 15, TAG = 1 };

static uint64_t fill(uint64_t *ids, const graze_mpi_pair *pairs, uint64_t count) {
  uint64_t part = count < PART ? count : PART;
  for (uint64_t i = 0; i < part; i++) {
    ids[2 * i] = pairs[i].a;
    ids[2 * i + 1] = pairs[i].b;
  }
  return part;
}

/* A part of nothing is the last one. */
static void send(const graze_mpi_pair *list, uint64_t count, uint64_t *ids) {
  uint64_t at = 0, part;
  do {
    part = fill(ids, list + at, count - at);
    MPI_Ssend(ids, (int)(2 * part), MPI_UINT64_T, 0, TAG, MPI_COMM_WORLD);
    at += part;
  } while (part > 0);
}

static void receive(int from, uint64_t *ids, void (*put)(void *user, uint64_t a, uint64_t b), void *user) {
  int count;
  do {
    MPI_Status status;
    MPI_Recv(ids, 2 * PART, MPI_UINT64_T, from, TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    for (int i = 0; i < count; i += 2) put(user, ids[i], ids[i + 1]);
  } while (count > 0);
}

void list_pairs(const job *j, const graze_mpi_pair *list, uint64_t count,
                void (*put)(void *user, uint64_t a, uint64_t b), void *user) {
  uint64_t *ids = job_alloc(2 * PART, sizeof *ids);
  if (j->rank != 0) {
    send(list, count, ids);
  } else {
    for (uint64_t i = 0; i < count; i++) put(user, list[i].a, list[i].b);
    for (int r = 1; r < j->ranks; r++) receive(r, ids, put, user);
  }
  free(ids);
}
