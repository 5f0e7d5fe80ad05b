/* Pairs of which at least one set is the hull of two discs: a cylinder, a cone, a frustum.
 *
 * Such sets have no corners that integers could decide. What is known of them is how far they reach along a direction
 * and one point of them there, both off by no more than `off`, which bounds all roundings: of images and their centers,
 * of the vectors across the axis, of products and sums, less than 40 u of all coordinates about the center, u = 2^-53.
 * Three facts are proofs:
 *
 * - any direction bounds the signed distance from below: the gap between the sets along it, below 0 if they overlap;
 * - two places, shares of points of either set, bound it from above;
 * - if directions are divided into cones, and for each of them a part of A - B reaches at least `t` along all of its
 *   directions, every translation that parts the sets is at least `t` long.
 *
 * Searches only suggest; what they end with is measured by these.
 */
#ifndef GRAZE_SRC_CONVEX_DISCS_H
#define GRAZE_SRC_CONVEX_DISCS_H

#include "convex/pair.h"

/* Lengths and coordinates are scaled, the latter about the center of the pair. */
typedef struct disc_pair {
  convex_pair *pair;
  bool is_round[2];
  double axis[2][3];      /* of a round side: the unit vector from its first end to the second, */
  double across[2][2][3]; /* and two at right angles to it and to each other */
  double radius[2][2];    /* of the discs at its ends; other sides: 0 */
  double reach[3];        /* no point of A - B is farther along the axes */
  double size;            /* nor longer */
  double shift[3];        /* of B; no longer than a few times that */
  double off;
  double tolerance; /* a bracket that is not wider need not become narrower */
} disc_pair;

/* Of a loaded pair. */
void gz_discs_open(disc_pair *discs, convex_pair *pair, const graze_convex *const sets[2]);

/* What of a side is farthest along a direction: a vertex or a disc, and a point of it. */
typedef struct disc_support {
  double points[2][3], middles[2][3], radii[2];
} disc_support;

/* Of A along n, of B against it; how far A - B reaches along n, which has length 1. */
double gz_discs_support(const disc_pair *discs, const double n[3], disc_support *support);

/* A part of A - B: a disc like those of A and one like those of B, added at a middle. */
typedef struct disc_sum {
  double middle[3], radii[2];
} disc_sum;

/* discs_bound.c: the point of the sum farthest along n. */
void gz_discs_sum_support(const disc_pair *discs, const disc_sum *sum, const double n[3], double point[3]);

/* A lower bound, but no more than `most`, of how far the sum reaches along all directions of the cone between three
 * unit vectors, of which `n` is one, or in it; minus infinity if that is too wide. */
double gz_discs_bound(const disc_pair *discs, const disc_sum *sum, const double n[3], const double *const corners[3],
                      double most);

/* What a search between A and B found. */
typedef struct disc_gap {
  double lower;        /* of the signed distance, proved, */
  double way[3];       /* along this unit vector from a to b; */
  double upper;        /* proved, and not below 0; */
  bool overlaps;       /* as four points of A - B say, without proof, */
  bool encloses;       /* and proved */
  double places[2][3]; /* where they are nearest */
} disc_gap;

/* Goes from `first`, a unit vector, to the least distance, until that is known to be above `above` or at most `below`.
 */
void gz_discs_gap(const disc_pair *discs, const double first[3], double above, double below, disc_gap *gap);

/* A direction with a gap, also below 0, and what that is at least. */
typedef struct disc_best {
  double lower, way[3];
} disc_best;

/* A direction near `first` along which the gap is largest, if that is larger than the best one's. */
void gz_discs_climb(const disc_pair *discs, const double first[3], disc_best *best);

typedef struct disc_answer {
  double lower, upper; /* of the signed distance */
  double way[3];
  double places[2][3];
} disc_answer;

/* As narrow as it gets, or until it is above `sum` or at most that, if only this is asked. False: memory was refused.
 */
bool gz_discs_measure(const disc_pair *discs, bool measure, double sum, disc_answer *answer);

/* discs_depth.c: a lower bound of the length of the translations that part the sets, at least 0, and perhaps a better
 * direction. With `enough` it ends above that. False: memory was refused. */
bool gz_discs_depth(const disc_pair *discs, double enough, disc_best *best, double *lower);

#endif
