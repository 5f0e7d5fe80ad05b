/* What the tests of objects that move from pose to pose share: queries, boxes, answers, and random ways of two objects.
 */
#ifndef GRAZE_TESTS_JOURNEYS_H
#define GRAZE_TESTS_JOURNEYS_H

#include <math.h>
#include <string.h>

#include "families.h"
#include "graze/motion.h"
#include "support.h"

static inline graze_query *query_of(int threads) {
  graze_query *query = NULL;
  assert_int_equal(graze_query_create(shared_context(threads), &query), GRAZE_OK);
  return query;
}

static inline graze_mesh *box_mesh(double x, double y, double z) {
  double corners[108];
  const double min[3] = {-x, -y, -z}, max[3] = {x, y, z};
  soup_box(min, max, corners);
  return test_mesh(shared_context(1), corners, 12, GRAZE_VOLUMES_ORIENTED);
}

static inline graze_motion_result decide_motion(graze_query *query, const graze_motion_body *a,
                                                const graze_motion_body *b, const graze_motion_options *options) {
  graze_motion_result result;
  assert_int_equal(graze_motion_meshes(query, a, b, options, &result), GRAZE_OK);
  assert_true(result.earliest >= 0 && result.earliest <= result.latest && result.latest <= 1);
  return result;
}

/* Where a rigid way is then, as the header has it, by quaternions in another way: powers of the turn from start to end.
 */
static inline graze_pose rigid_pose(const double q0[4], const double q1[4], const double p0[3], const double p1[3],
                                    double t) {
  double dot = 0, q[4], p[3];
  for (int k = 0; k < 4; k++) dot += q0[k] * q1[k];
  const double sign = dot < 0 ? -1 : 1, angle = acos(fmin(fabs(dot), 1)), s = sin(angle);
  for (int k = 0; k < 4; k++) {
    q[k] = s > 1e-9 ? (sin((1 - t) * angle) * q0[k] + sign * sin(t * angle) * q1[k]) / s : q0[k];
  }
  for (int k = 0; k < 3; k++) p[k] = (1 - t) * p0[k] + t * p1[k];
  return graze_pose_from_quaternion(q, p);
}

static inline void random_turn(uint64_t *state, double q[4]) {
  double size = 0;
  for (int k = 0; k < 4; k++) {
    q[k] = random_signed(state);
    size += q[k] * q[k];
  }
  for (int k = 0; k < 4; k++) q[k] /= sqrt(size);
}

static inline void near_turn(uint64_t *state, const double from[4], double share, double q[4]) {
  double size = 0;
  for (int k = 0; k < 4; k++) {
    q[k] = from[k] + share * random_signed(state);
    size += q[k] * q[k];
  }
  for (int k = 0; k < 4; k++) q[k] /= sqrt(size);
}

typedef struct journey {
  double q[2][2][4], p[2][2][3]; /* of a and b; at start and end */
  graze_motion_body body[2];
} journey;

static inline void make_journey(uint64_t *state, graze_mesh *const meshes[2], journey *j) {
  const double share = random_below(state, 3) == 0 ? 1 : 0.2;
  for (int i = 0; i < 2; i++) {
    random_turn(state, j->q[i][0]);
    near_turn(state, j->q[i][0], share, j->q[i][1]);
    for (int k = 0; k < 3; k++) {
      j->p[i][0][k] = 2.5 * random_signed(state);
      j->p[i][1][k] = j->p[i][0][k] + 3 * random_signed(state);
    }
    if (i == 1 && random_below(state, 4) == 0) memcpy(j->q[1][1], j->q[1][0], sizeof j->q[1][1]);
    j->body[i] = (graze_motion_body){meshes[i], graze_pose_from_quaternion(j->q[i][0], j->p[i][0]),
                                     graze_pose_from_quaternion(j->q[i][1], j->p[i][1])};
  }
}

#endif
