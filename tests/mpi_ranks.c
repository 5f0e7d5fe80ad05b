/* The ranks of a test; see mpi_ranks.h. */
#include "mpi_ranks.h"

#include <mpi.h>
#include <stdlib.h>

#include "families.h"
#include "mpi/transport_mpi.h"

static bool over_mpi;

bool test_ranks_begin(void) {
  over_mpi = getenv("OMPI_COMM_WORLD_SIZE") != NULL || getenv("PMI_SIZE") != NULL;
  if (over_mpi) MPI_Init(NULL, NULL);
  return over_mpi;
}

void test_ranks_end(void) {
  if (over_mpi) MPI_Finalize();
}

void test_ranks_open(test_ranks *r, uint32_t ranks, uint64_t seed, graze_context *const *contexts) {
  *r = (test_ranks){.ranks = ranks, .held = ranks, .random = seed};
  if (over_mpi) {
    /* one renewal of the communicator every few rounds */
    assert_int_equal(gz_mpi_transport_open(shared_context(1), MPI_COMM_WORLD, 5, &r->transports[0]), GRAZE_OK);
    r->ranks = r->transports[0]->ranks;
    r->first = r->transports[0]->rank;
    r->held = 1;
    return;
  }
  const mpi_hub_def def = {.ranks = ranks, .seed = random_next(&r->random), .slowest = random_below(&r->random, 9)};
  r->hub = gz_mpi_hub_open(shared_context(1), &def);
  assert_non_null(r->hub);
  for (uint32_t i = 0; i < ranks; i++)
    r->transports[i] = gz_mpi_hub_transport(r->hub, i, contexts != NULL ? contexts[i] : shared_context(1));
}

void test_ranks_close(test_ranks *r) {
  if (r->hub != NULL) assert_int_equal(gz_mpi_hub_waiting(r->hub), 0);
  for (uint32_t i = 0; i < r->held; i++) {
    if (r->transports[i] != NULL) r->transports[i]->calls->close(r->transports[i]);
  }
  gz_mpi_hub_close(r->hub);
}

void test_ranks_run(test_ranks *r, bool (*step)(void *user, uint32_t i), void *user) {
  bool done[MOST_RANKS] = {false};
  uint64_t calls = 0;
  for (uint32_t left = r->held; left > 0;) {
    uint32_t i = random_below(&r->random, r->held);
    if (done[i]) continue;
    done[i] = step(user, i);
    left -= done[i];
    if (!over_mpi && ++calls > 100000000) fail_msg("the ranks wait for each other for ever");
  }
}

uint64_t test_ranks_sum(const test_ranks *r, const uint64_t *numbers) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < r->held; i++) sum += numbers[i];
  if (over_mpi) MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}
