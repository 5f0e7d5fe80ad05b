/* tests/mpi_ranks.h: the ranks of a test: all in this process, in any order of events, or, under mpiexec, this one. */
#ifndef GRAZE_TESTS_MPI_RANKS_H
#define GRAZE_TESTS_MPI_RANKS_H

#include "mpi/transport_local.h"
#include "support.h"

enum { MOST_RANKS = 64 };

typedef struct test_ranks {
  uint32_t ranks;                        /* of the job */
  uint32_t first, held;                  /* those that this process plays */
  mpi_transport *transports[MOST_RANKS]; /* NULL: whoever has it closes it */
  uint64_t random;
  mpi_hub *hub; /* NULL: MPI */
} test_ranks;

/* Whether the program was started by mpiexec; it begins MPI, if so. Call it first and end with its partner. */
bool test_ranks_begin(void);
void test_ranks_end(void);

/* `ranks` of them in this process; `seed` is that of the order of events. `contexts`: of each, or NULL. Under mpiexec:
 * those that there are, with the shared context. */
void test_ranks_open(test_ranks *r, uint32_t ranks, uint64_t seed, graze_context *const *contexts);
void test_ranks_close(test_ranks *r);

/* Calls step(user, i) for the held ranks i = 0 .. held - 1, in any order, until all have returned true. */
void test_ranks_run(test_ranks *r, bool (*step)(void *user, uint32_t i), void *user);

/* The sum of a number over the ranks, given for each of those that are held. */
uint64_t test_ranks_sum(const test_ranks *r, const uint64_t *numbers);

#endif
