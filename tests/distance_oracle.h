/* tests/distance_oracle.h: the distance of two triangles in rational numbers, with a proof.
 *
 * Nearest points are found by clamping parameters, and then proved: both lie in the triangles by construction, and each
 * triangle lies on its side of the plane through its point at right angles to the way between them. Where that fails
 * the triangles must meet, which oracle_tritri has to confirm.
 */
#ifndef GRAZE_TESTS_DISTANCE_ORACLE_H
#define GRAZE_TESTS_DISTANCE_ORACLE_H

#include <gmp.h>
#include <stdbool.h>

#include "graze/math.h"

typedef struct oracle_distance {
  mpq_t square;
  mpq_t points[2][3]; /* of a, of b; not set for triangles that meet */
} oracle_distance;

void oracle_distance_init(oracle_distance *distance);
void oracle_distance_clear(oracle_distance *distance);

/* Poses NULL: the corners as they are. */
void oracle_distance_find(const double a[9], const graze_pose *pose_a, const double b[9], const graze_pose *pose_b,
                          oracle_distance *distance);

/* Sign of the root minus limit, limit >= 0. */
int oracle_distance_compare(const oracle_distance *distance, double limit);

/* Whether q is the double nearest to the root, to even at a tie; infinity beyond the largest. */
bool oracle_distance_rounds_to(const oracle_distance *distance, double q);

/* The square of the distance from a point of doubles to a triangle, rounded; without an exception at the ends of the
 * range. */
double oracle_point_square(const double p[3], const double corners[9], const graze_pose *pose);

#endif
