/* A few points of meshes at poses, and exact signs of their real-number images (tier T2). */
#ifndef GRAZE_SRC_EXACT_REAL_POINTS_H
#define GRAZE_SRC_EXACT_REAL_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "exact/big.h"
#include "exact/tritri.h"
#include "exact/wide.h"
#include "graze/math.h"

enum { REAL_POINTS = 8 };

typedef struct real_points {
  double rounded[REAL_POINTS][3]; /* the T1 image */
  double error[REAL_POINTS][3];   /* |rounded - real| is at most this */
  bool known[REAL_POINTS];        /* real[i] has been computed, */
  bool refined[REAL_POINTS];      /* and so have the next two */
  wide fine[REAL_POINTS][3];
  double fine_error[REAL_POINTS][3]; /* |fine - real| is at most this; 0: they are the same */
  const double *corner[REAL_POINTS];
  const graze_pose *pose[REAL_POINTS];
  big real[REAL_POINTS][3];
} real_points;

/* Sets point i; both pointers must stay valid. Without a pose (NULL) the corner is the point. */
void gz_real_points_set(real_points *points, int i, const double corner[3], const graze_pose *pose);

/* Sees to it that real[i] is known. */
void gz_real_points_compute(real_points *points, int i);

/* Whether two poses are the same numbers; NULL is none. */
bool gz_real_same_pose(const graze_pose *a, const graze_pose *b);

/* The sign of the determinant of the matrix: 0 where it makes solids flat. */
int gz_real_orientation(const graze_pose *pose);

/* Exact integers are computed when a sign first needs them, so one thread uses a set at a time. */
sign_source gz_real_points_signs(real_points *points);

#endif
