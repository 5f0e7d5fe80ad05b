/* How near two triangles are: bounds for many pairs at once, and exactly.
 *
 * The distance is attained between two features: vertex and vertex, vertex and edge, edge and edge, or vertex and face.
 * With both nearest points strictly inside the features it is
 *     vertex-edge   |w x e| / |e|      edge-edge, vertex-face   |w . n| / |n|
 * where w leads from one to the other and n is the cross product of two edges, so its square is a quotient of
 * polynomials of degree at most 6 and 4. Each candidate's value belongs to two points of the triangles, so that no
 * wrong candidate is below the distance; near.c says why none is missing. Triangles that meet have distance 0.
 */
#ifndef GRAZE_SRC_EXACT_NEAR_H
#define GRAZE_SRC_EXACT_NEAR_H

#include "exact/real_points.h"
#include "exact/tritri_batch.h"
#include "graze/distance.h"

/* Where doubles find two triangles nearest: edge 3 i + j, of edges i of a and j of b; then corners of b over the face
 * of a, and of a over that of b. */
enum { NEAR_EDGES = 9, NEAR_NOWHERE = 15 };

/* lower[i] <= distance of pair i <= upper[i], proved, for the first `count` pairs; 0 and infinity where doubles cannot
 * tell. Room for `count` rounded up to a multiple of 8. A distance above 2^-47 of the pair's box is usually known to
 * some units of that. place[i] is a NEAR_ number. */
typedef void near_block_function(const tritri_block *block, unsigned count, double *lower, double *upper,
                                 double *place);
CPU_KERNELS(near_block_function, gz_near_block);
near_block_function *gz_near_block_best(void);

/* Wider ones for a fifth of the price: triangles are at most as far apart as their nearest corners, and at least as far
 * as along the way between their middles. */
typedef void near_rough_function(const tritri_block *block, unsigned count, double *lower, double *upper);
CPU_KERNELS(near_rough_function, gz_near_rough);

/* For decisions alone: rough bounds where they prove that a pair is nearer than `least`, or not nearer than `most`;
 * those of gz_near_block for the rest. */
void gz_near_block_outside(const tritri_block *block, unsigned count, double least, double most, double *lower,
                           double *upper);

/* Two triangles and what is known about their distance. */
typedef struct near_pair {
  real_points points; /* 0..2: corners of a, 3..5: of b */
  double lower, upper;
  int place;     /* as above; NEAR_NOWHERE: not known */
  bool is_point; /* the corners of a are one point: its first stands for all */
} near_pair;

/* Poses NULL: the corners are the points (T0, T1). The arguments must stay valid. Bounds are computed. */
void gz_near_start(near_pair *pair, const double a[9], const graze_pose *pose_a, const double b[9],
                   const graze_pose *pose_b);

/* With bounds that are known: of points that lie within the points' errors of the rounded ones. */
void gz_near_start_known(near_pair *pair, const double a[9], const graze_pose *pose_a, const double b[9],
                         const graze_pose *pose_b, double lower, double upper);

bool gz_near_meet(near_pair *pair);

/* distance < limit; -1, 0, 1 is the sign of distance - limit, limit finite and not negative. */
bool gz_near_below(near_pair *pair, double limit);
int gz_near_compare(near_pair *pair, double limit);

/* near_sum.c: a sum of doubles that a distance is held against. */
typedef struct near_sum {
  double low, high; /* low <= exact <= high */
  big exact;
} near_sum;
near_sum *gz_near_sum(near_sum *sum, const double *terms, int count);

/* The sign of distance - sum, of any sum. */
int gz_near_compare_sum(near_pair *pair, const near_sum *sum);

/* near_sum.c: the distance less a sum that it is not below or, if `turned`, the sum less the distance, which is not
 * above it: rounded to the nearest double, to even at a tie. *sign is that of the exact number less the rounded one. */
double gz_near_difference(near_pair *pair, const near_sum *sum, bool turned, int *sign);

/* near_wide.c: whether it is easily proved that the distance is above high + low, |low| at most half a unit in the last
 * place of high. For tiers T0 and T1, where the place is known. */
bool gz_near_beyond(const near_pair *pair, double high, double low);

/* near_wide.c: about the direction in which two triangles are nearest, from either to the other, given their corners, 0
 * to 2 of a and 3 to 5 of b, and the place; of length 1 to 2. False: there is none. */
bool gz_near_direction(const double corners[6][3], int place, double direction[3]);

/* The distance alone, and with the points. */
double gz_near_distance(near_pair *pair);
void gz_near_witness(near_pair *pair, graze_nearest *result);

/* The same points for less, where the rounded distance is known to be this one, above 0. */
void gz_near_witness_at(near_pair *pair, double distance, graze_nearest *result);

#endif
