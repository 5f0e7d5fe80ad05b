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

#include <string.h>

#include "graze/math.h"

typedef struct mpi_sample {
  graze_box box;
  double objects; /* for how many boxes it stands */
  double weight;  /* what these cost */
  uint64_t id;
  uint32_t owner; /* the rank that has them */
} mpi_sample;

typedef struct mpi_leaf {
  uint32_t first, ranks, stripes; /* positions along the curve; ranks > 1: shared by these, in tiles */
} mpi_leaf;

/* The tree in 8 bytes a rank. Ranges of positions along the curve are halved, so that the cut that parts a range is
 * known by the position in its middle, where the right side begins. Entry p has, from its highest bits on,
 *
 *   the cut, a double without its lowest bits, or the stripes of a range that is not cut
 *   its axis, 2 bits; 3: the range is not cut
 *   the rank at position p, in as many bits as the number of ranks takes
 *
 * Cuts are chosen among the doubles that have so few bits: all floats are, up to 2^26 ranks. */
typedef struct mpi_regions {
  uint64_t *entries;
  uint32_t ranks, rank_bits;
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
  double voxel;              /* a power of two */
  mpi_mark *marks;           /* room for `count`, and for `ranks` where there are tallies */
  mpi_tally *tallies;        /* room for `ranks`; NULL: owners do not matter */
  const graze_box *bounds;   /* with tallies: by owner, of all its lower corners; empty: it has none */
  uint32_t *order;           /* room for `ranks`, scratch; NULL: ranks lie along the curve by their numbers */
  const mpi_regions *former; /* of as many ranks: weights are known by its regions; NULL: they are guessed */
} mpi_cutting;

/* Cuts space among ranks. `regions` has room for an entry for each. */
void gz_mpi_regions_cut(mpi_regions *regions, const mpi_cutting *cutting);

/* The number of bits of an entry that are the rank's. */
uint32_t gz_mpi_rank_bits(uint32_t ranks);

static inline uint64_t regions_cut_mask(const mpi_regions *regions) {
  return UINT64_MAX << (regions->rank_bits + 2);
}

static inline uint32_t entry_axis(const mpi_regions *regions, uint64_t entry) {
  return (uint32_t)(entry >> regions->rank_bits) & 3;
}

static inline double entry_cut(const mpi_regions *regions, uint64_t entry) {
  const uint64_t bits = entry & regions_cut_mask(regions);
  double cut;
  memcpy(&cut, &bits, sizeof cut);
  return cut;
}

/* The leaf of a range that is not cut. */
static inline mpi_leaf entry_leaf(const mpi_regions *regions, uint64_t entry, uint32_t first, uint32_t last) {
  const uint32_t stripes = (uint32_t)(entry >> (regions->rank_bits + 2));
  return (mpi_leaf){first, stripes > 1 ? last - first : 1, stripes};
}

/* A walk through the leaves that a box meets, in their order. */
typedef struct mpi_walk {
  const mpi_regions *regions;
  const double *box;
  uint32_t depth;          /* of the ranges that wait; 0: there is no further leaf */
  uint32_t waiting[34][2]; /* halving 2^32 ranks is no deeper */
} mpi_walk;

static inline void walk_begin(mpi_walk *walk, const mpi_regions *regions, const double box[6]) {
  walk->regions = regions;
  walk->box = box;
  walk->depth = 1;
  walk->waiting[0][0] = 0;
  walk->waiting[0][1] = regions->ranks;
}

/* The next leaf; there is one as long as the depth is not 0. */
static inline mpi_leaf walk_next(mpi_walk *walk) {
  const mpi_regions *r = walk->regions;
  const double *box = walk->box;
  uint32_t first = walk->waiting[--walk->depth][0], last = walk->waiting[walk->depth][1];
  while (last - first > 1) {
    const uint32_t middle = first + (last - first) / 2;
    const uint64_t entry = r->entries[middle];
    const uint32_t axis = entry_axis(r, entry);
    if (axis == 3) return entry_leaf(r, entry, first, last);
    const double cut = entry_cut(r, entry);
    const bool left = box[axis] < cut;
    if (left && box[3 + axis] >= cut) {
      walk->waiting[walk->depth][0] = middle;
      walk->waiting[walk->depth++][1] = last;
    }
    if (left)
      last = middle;
    else
      first = middle;
  }
  return (mpi_leaf){first, 1, 1};
}

/* The first position of the leaf that a point is in, which names it. */
static inline uint32_t regions_leaf_of(const mpi_regions *regions, const double point[3]) {
  uint32_t first = 0, last = regions->ranks;
  while (last - first > 1) {
    const uint32_t middle = first + (last - first) / 2, axis = entry_axis(regions, regions->entries[middle]);
    if (axis == 3) return first;
    if (point[axis] < entry_cut(regions, regions->entries[middle]))
      last = middle;
    else
      first = middle;
  }
  return first;
}

/* The leaf of a rank; ranks 0: it has none. `bounds`, half-open, are those of the leaf among finite numbers: of a box
 * with min >= bounds->min and max < bounds->max it is the only leaf. */
mpi_leaf gz_mpi_regions_leaf_of_rank(const mpi_regions *regions, uint32_t rank, graze_box *bounds);

/* The tile of two stripes, i <= j: below k (k + 1) / 2, and those with i < j first, as they are twice the work. */
static inline uint32_t leaf_tile(const mpi_leaf *leaf, uint32_t i, uint32_t j) {
  return i == j ? leaf->stripes * (leaf->stripes - 1) / 2 + i : j * (j - 1) / 2 + i;
}

static inline uint32_t regions_rank_at(const mpi_regions *regions, uint32_t position) {
  return (uint32_t)(regions->entries[position] & (((uint64_t)1 << regions->rank_bits) - 1));
}

/* The rank that has it. */
static inline uint32_t regions_rank(const mpi_regions *regions, const mpi_leaf *leaf, uint32_t tile) {
  return regions_rank_at(regions, leaf->first + tile % leaf->ranks);
}

#endif
