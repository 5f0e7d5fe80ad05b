/* tests/oracle.h: what the library must answer, found in other ways than the library uses.
 *
 * Two independent oracles for triangle pairs:
 *   - oracle_*: GMP integers, any finite double. One shape is cut as a polygon by the half-spaces of the other,
 * exactly, in homogeneous coordinates; what is left has one, two or more corners. No case analysis on signs.
 *   - lattice_*: 128-bit integers for small integer coordinates, by collecting the candidate corners of the common set.
 *     Fast enough for 10^8 pairs; checked against the first.
 * And brute force over them for meshes. One thread at a time.
 */
#ifndef GRAZE_TESTS_ORACLE_H
#define GRAZE_TESTS_ORACLE_H

#include <gmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "graze/collide.h"

/* Exact for every finite input. */
void oracle_tritri(const double a[9], const double b[9], graze_tritri *result);

/* Tier T2: the real images under the exact matrices. */
void oracle_tritri_real(const double a[9], const graze_pose *pose_a, const double b[9], const graze_pose *pose_b,
                        graze_tritri *result);

/* The corners of the common set as exact rationals, in order; no corner lies between its neighbours. */
typedef struct oracle_corners {
  uint32_t count;
  mpq_t point[9][3];
} oracle_corners;

void oracle_corners_init(oracle_corners *corners);
void oracle_corners_clear(oracle_corners *corners);
void oracle_intersection(const double a[9], const double b[9], graze_tritri *result, oracle_corners *corners);

/* |coordinate| <= 2^20. */
void lattice_tritri(const int32_t a[9], const int32_t b[9], graze_tritri *result);

/* Tier T1: posed in double as CONTRACT says. */
void oracle_pose_point(const graze_pose *pose, const double point[3], double out[3]);
void oracle_pose_corners(const graze_pose *pose, const double *corners, uint32_t triangles, double *out);

/* Brute force over corner lists (9 doubles a triangle). Lists are malloc'ed, sorted. */
typedef struct oracle_pairs {
  graze_counts counts;
  graze_triangle_pair *pairs;
} oracle_pairs;

void oracle_mesh_pairs(const double *a, uint32_t count_a, const double *b, uint32_t count_b, oracle_pairs *out);
void oracle_mesh_pairs_real(const double *a, uint32_t count_a, const graze_pose *pose_a, const double *b,
                            uint32_t count_b, const graze_pose *pose_b, oracle_pairs *out);
void oracle_pairs_free(oracle_pairs *pairs);

/* `pairs` of `out` is malloc'ed here. */
void oracle_self_pairs(const double *corners, uint32_t count, graze_self_result *out);

/* Pairs i < j whose closed boxes meet. */
void oracle_self_boxes(const double *corners, uint32_t count, uint64_t *pairs, uint64_t *hash);

/* The hash of CONTRACT, written out a second time. */
uint64_t oracle_pair_hash(uint32_t first, uint32_t second);

#endif
