/* A solver that owns its communicator: every rank moves its own cubes and asks which cubes touch, on whatever rank,
 * while it works out where its own will be next. Start it with mpiexec, or alone: the numbers are the same.
 */
#include <graze/mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CUBES = 3000, SIDE = 20, STEPS = 4 };

/* Where cube i is: on a lattice, each swinging in its own time. */
static void place(uint64_t i, int step, double box[6]) {
  const uint64_t cell[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
  for (int k = 0; k < 3; k++) {
    const uint64_t swing = (7 * i + 5 * (uint64_t)step + 3 * (uint64_t)k) % 16; /* sixteenths of an edge */
    box[k] = 1.25 * (double)cell[k] + (double)swing / 16;
    box[3 + k] = box[k] + 1;
  }
}

typedef struct solver {
  uint64_t first, count; /* cubes of this rank */
  double *now, *next;    /* six numbers each */
  uint64_t *ids;
} solver;

static void move(solver *s, int step, double *boxes) {
  for (uint64_t i = 0; i < s->count; i++) place(s->first + i, step, boxes + 6 * i);
}

static graze_status run(graze_mpi_world *world, solver *s, int rank) {
  graze_status status = GRAZE_OK;
  move(s, 0, s->now);
  for (int step = 0; step < STEPS && status == GRAZE_OK; step++) {
    const graze_mpi_boxes boxes = {
        .boxes = {.data = s->now, .precision = GRAZE_DOUBLE}, .count = (uint32_t)s->count, .ids = s->ids};
    status = graze_mpi_contribute(world, &boxes);
    if (status == GRAZE_OK) status = graze_mpi_begin(world, 0);
    move(s, step + 1, s->next); /* the solver's own work, while boxes travel */
    if (status == GRAZE_OK) status = graze_mpi_wait(world);
    if (status != GRAZE_OK) break;
    const graze_mpi_result result = graze_mpi_get_result(world);
    if (rank == 0)
      printf("step %d: %lu contacts, %lu began, %lu ended\n", step, (unsigned long)result.pairs,
             (unsigned long)result.began, (unsigned long)result.ended);
    /* result.list has the contacts of this rank's cubes, with the partners' ranks and numbers */
    double *t = s->now;
    s->now = s->next;
    s->next = t;
  }
  return status;
}

int main(int argc, char **argv) {
  MPI_Comm solvers;
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &solvers);
  MPI_Comm_rank(solvers, &rank);
  MPI_Comm_size(solvers, &ranks);

  solver s = {.first = (uint64_t)CUBES * (uint64_t)rank / (uint64_t)ranks};
  s.count = (uint64_t)CUBES * ((uint64_t)rank + 1) / (uint64_t)ranks - s.first;
  s.now = calloc(s.count + 1, 6 * sizeof *s.now);
  s.next = calloc(s.count + 1, 6 * sizeof *s.next);
  s.ids = calloc(s.count + 1, sizeof *s.ids);
  if (!s.now || !s.next || !s.ids) MPI_Abort(solvers, 3);
  for (uint64_t i = 0; i < s.count; i++) s.ids[i] = s.first + i;

  graze_context_def threads = graze_default_context_def();
  threads.threads = 1; /* of each rank */
  graze_context *context = NULL;
  graze_mpi_world *world = NULL;
  graze_mpi_world_def def = graze_mpi_default_world_def();
  def.delivery = GRAZE_MPI_OWNERS;
  def.events = true;
  graze_status status = graze_context_create(&threads, &context);
  if (status == GRAZE_OK) status = graze_mpi_world_create(context, solvers, &def, &world);
  if (status == GRAZE_OK) status = run(world, &s, rank);
  if (status != GRAZE_OK && rank == 0)
    fprintf(stderr, "solver_ranks: %s\n", context ? graze_last_error(context)->message : graze_status_string(status));

  graze_mpi_world_destroy(world);
  graze_context_destroy(context);
  free(s.now);
  free(s.next);
  free(s.ids);
  MPI_Comm_free(&solvers);
  MPI_Finalize();
  return status == GRAZE_OK ? 0 : 3;
}
