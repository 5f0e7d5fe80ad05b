/* tests/mpi_scenes.h: boxes on ranks, worlds that search them, and the slow answer. */
#ifndef GRAZE_TESTS_MPI_SCENES_H
#define GRAZE_TESTS_MPI_SCENES_H

#include "boxes.h"
#include "graze/mpi.h"
#include "mpi_ranks.h"

/* Boxes that are awkward for ranks, besides the families of boxes.h. */
typedef enum mpi_family {
  MPI_NONE = BOXES_FAMILIES,
  MPI_FEW,       /* fewer than ranks */
  MPI_SAME,      /* one box, many times */
  MPI_NEEDLES,   /* giants and needles over dust */
  MPI_TOUCHING,  /* a lattice of cubes that touch on borders of cells */
  MPI_FAR_HEAPS, /* two heaps, 1e12 apart */
  MPI_TWELVE,    /* twelve decades of sizes */
  MPI_ENDS,      /* 1e300 and 1e-300, -0 */
  MPI_FAMILIES
} mpi_family;

const char *mpi_family_name(int kind);

typedef enum mpi_distribution { BY_BLOCKS, BY_PLACE, SHUFFLED, ALL_ON_ONE, MPI_DISTRIBUTIONS } mpi_distribution;

typedef struct mpi_scene {
  uint32_t n;
  graze_box *boxes;
  uint64_t *ids;
  uint32_t *groups; /* NULL: none */
  uint32_t *owners; /* ranks */
} mpi_scene;

/* To be freed. `wide`: ids beyond 32 bits among them. */
mpi_scene mpi_scene_make(int kind, uint64_t *random, uint32_t n, uint32_t ranks, mpi_distribution how, bool grouped,
                         bool wide);
void mpi_scene_free(mpi_scene *scene);

/* What is right: ids, the lower one first, sorted. */
typedef struct mpi_truth {
  graze_mpi_pair *pairs;
  uint64_t count, hash;
} mpi_truth;

mpi_truth mpi_truth_find(const mpi_scene *scene);
void mpi_truth_free(mpi_truth *truth);

/* Worlds on the held ranks. */
typedef struct mpi_crew {
  test_ranks ranks;
  graze_mpi_world_def def;
  graze_mpi_world *worlds[MOST_RANKS];
  graze_status statuses[MOST_RANKS];
  bool begun[MOST_RANKS];
  const mpi_scene *scene;
  struct mpi_hand *hands[MOST_RANKS]; /* what each contributes */
  uint32_t clients;                   /* a rank, at most */
  double load[MOST_RANKS];
} mpi_crew;

/* `contexts`: as for test_ranks_open. */
void mpi_crew_open(mpi_crew *crew, uint32_t ranks, uint64_t seed, const graze_mpi_world_def *def,
                   graze_context *const *contexts);
void mpi_crew_close(mpi_crew *crew);

/* A step with the boxes of the scene; statuses are left in the crew. */
void mpi_crew_step(mpi_crew *crew, const mpi_scene *scene);

/* The answer of the last step is `truth`, and what changed since `before` (NULL: nothing was there); `what` is for
 * messages. */
void mpi_crew_check(mpi_crew *crew, const mpi_truth *truth, const mpi_truth *before, const char *what);

#endif
