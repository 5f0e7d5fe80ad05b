/* Space cut into regions, a table that all ranks compute alike from the same samples.
 *
 * A k-d tree with half-open regions: a point lies left of a cut when its coordinate is less. Comparisons of doubles
 * decide, so that a point is in exactly one region, on every rank, whatever numbers boxes have. The leaves in their
 * order are a curve through space, as Morton's is that of a regular tree, cut into parts of equal cost (weighted
 * bisection: Berger and Bokhari, A Partitioning Strategy for Nonuniform Problems on Multiprocessors, 1987). Cuts lie
 * on borders of voxels where that is balanced, so that a voxel has one rank, and inside of crowded ones.
 *
 * Which rank gets which side goes by who has the boxes, and where their owners lie apart already, as in a solver that
 * has cut space itself, cuts go between them: a box that stays costs less than one that travels.
 *
 * Where a cut would go through most of the boxes it saves nothing. Such a region is left to several ranks, and its
 * pairs are dealt out: boxes get stripes 0 .. k-1, and a tile (i, j) of stripes, i <= j, belongs to one rank.
 */
#ifndef GRAZE_SRC_MPI_REGIONS_H
#define GRAZE_SRC_MPI_REGIONS_H

#include "graze/math.h"

typedef struct mpi_sample {
  graze_box box;
  double objects; /* for how many boxes it stands */
  double weight;  /* what these cost */
  uint64_t id;
  uint32_t owner; /* the rank that has them */
} mpi_sample;

typedef struct mpi_leaf {
  uint32_t first, ranks, stripes; /* positions in `order`; ranks > 1: shared by these, in tiles */
} mpi_leaf;

typedef struct mpi_node {
  double cut;
  uint32_t axis;  /* 3: a leaf */
  uint32_t right; /* node of the right side; the left one is the next node. The number of the leaf */
} mpi_node;

typedef struct mpi_regions {
  mpi_node *nodes; /* room for 2 ranks - 1 */
  mpi_leaf *leaves;
  uint32_t *order; /* ranks; NULL: by their numbers */
  uint32_t node_count, leaf_count, ranks;
} mpi_regions;

/* A coordinate and what lies there: scratch. */
typedef struct mpi_mark {
  double at, weight;
} mpi_mark;

/* Of an owner's samples, the weight left and right of a cut: scratch. */
typedef struct mpi_tally {
  double left, right;
} mpi_tally;

/* The least coordinate at or below which `target` of the weight lies. Reorders the marks, of which there is one. */
double gz_mpi_quantile(mpi_mark *marks, uint32_t count, double target);

typedef struct mpi_cutting {
  uint32_t ranks;
  const double *shares; /* of the work, by rank; NULL: all the same */
  mpi_sample *samples;  /* are reordered */
  uint32_t count;
  double voxel;            /* a power of two */
  mpi_mark *marks;         /* room for `count`, and for `ranks` where there are tallies */
  mpi_tally *tallies;      /* room for `ranks`; NULL: owners do not matter */
  const graze_box *bounds; /* with tallies: by owner, of all its lower corners; empty: it has none */
} mpi_cutting;

/* Cuts space among ranks. */
void gz_mpi_regions_cut(mpi_regions *regions, const mpi_cutting *cutting);

/* The leaves that a box meets, written to `found`, which has room for all. */
uint32_t gz_mpi_regions_meet(const mpi_regions *regions, const double box[6], uint32_t *found);

static inline uint32_t regions_leaf_of(const mpi_regions *regions, const double point[3]) {
  uint32_t n = 0;
  while (regions->nodes[n].axis < 3) {
    const mpi_node *node = &regions->nodes[n];
    n = point[node->axis] < node->cut ? n + 1 : node->right;
  }
  return regions->nodes[n].right;
}

/* The leaf of a rank; leaf_count: it has none. */
uint32_t gz_mpi_regions_leaf_of_rank(const mpi_regions *regions, uint32_t rank);

/* The tile of two stripes, i <= j: below k (k + 1) / 2, and those with i < j first, as they are twice the work. */
static inline uint32_t leaf_tile(const mpi_leaf *leaf, uint32_t i, uint32_t j) {
  return i == j ? leaf->stripes * (leaf->stripes - 1) / 2 + i : j * (j - 1) / 2 + i;
}

/* The rank that has it. */
static inline uint32_t regions_rank(const mpi_regions *regions, const mpi_leaf *leaf, uint32_t tile) {
  return regions->order[leaf->first + tile % leaf->ranks];
}

#endif
