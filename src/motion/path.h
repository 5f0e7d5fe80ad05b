/* The way of an object from one pose to another, and bounds on how fast anything on it is.
 *
 * GRAZE_MOTION_LINEAR: posed vertices move straight, so at time t the matrix is (1 - t) M0 + t M1.
 * GRAZE_MOTION_RIGID: the origin of the object's frame or another point of the object moves straight, its hub, and the
 * frame turns about an axis that stays, at constant speed, by the least angle. With T(t) that turn, L0 and L1 the 3x3
 * parts of the two matrices,
 *     L(t) = T(t) L0 + t (L1 - T(1) L0),
 * so that the way ends where the second pose is, to the last bit. The last term, `stray`, is what rounded matrices are
 * from turns of each other; where it matters its size is both a speed and a doubt about where anything is.
 *
 * Sine and cosine are sums of powers made of + and *: libraries differ in theirs.
 */
#ifndef GRAZE_SRC_MOTION_PATH_H
#define GRAZE_SRC_MOTION_PATH_H

#include "graze/math.h"
#include "graze/motion.h"

typedef struct motion_path {
  graze_motion_model model;
  graze_pose start, end;
  bool moves, bends, turns; /* at all; the 3x3 part changes; by a turn */
  bool backward;            /* time 0 is the end's */
  double axis[3], half;     /* of the turn: a unit vector, and half of the angle, 0 to pi / 2 */
  double stray[9];
  double hub[3];                 /* in the mesh: the point that moves straight; LINEAR: 0 */
  double hub_from[3], hub_to[3]; /* where it is at the start and at the end */
  double velocity[3];            /* of the hub */
  double spin[3];                /* radians in the whole time, about the axis */
  double turn;                   /* its length */
  double center[3];              /* of the mesh's box, in its frame */
  double half_box[3];            /* and half of its edges */
  double reach;                  /* nothing is farther from the hub, */
  double around;                 /* nor from the center; both in the world */
  double strain;      /* nothing moves faster by `stray`, or is farther from where a turn alone would take it */
  double least, most; /* no vector of the mesh is shorter on the way, or longer, than so many times its length before */
  double change;      /* LINEAR: none changes by more than this times its length */
  double slack;       /* coordinates that are posed with gz_path_pose are no farther than this from the way */
  graze_box shift;    /* what points move by, from start to end */
} motion_path;

/* A hub whose `slack` is not below this is too far away. */
#define PATH_FARTHEST 0x1p900

typedef enum path_fault { PATH_FINE, PATH_START_NOT_RIGID, PATH_END_NOT_RIGID, PATH_MIRRORED } path_fault;

/* `box` is that of a mesh that has triangles; `hub` matters to rigid motions, NULL: the frame's origin. Only a rigid
 * motion that moves can have a fault. */
path_fault gz_path_open(motion_path *path, const graze_box *box, const graze_pose *start, const graze_pose *end,
                        graze_motion_model model, const double hub[3]);
const char *gz_path_fault_string(path_fault fault);

graze_pose gz_path_pose(const motion_path *path, double t);

void gz_path_hub(const motion_path *path, double t, double place[3]);

/* Velocity of the hub and the turn per unit of time, with the signs that `backward` gives them. */
void gz_path_rates(const motion_path *path, double velocity[3], double spin[3]);

/* For how long after `from`, but not beyond `to`, points stay farther than `kept` from each other for certain that are
 * `apart` more than that from each other then; all points of both. */
double gz_paths_step(const motion_path *a, const motion_path *b, double from, double to, double kept, double apart);

/* By how much points that are `apart` at `from` come nearer until `to` at most. */
double gz_paths_loss(const motion_path *a, const motion_path *b, double from, double to, double apart);

/* Points that come as near as `kept` to each other within `length` of a time of [from, to], and in it, are at that time
 * not farther from each other than that and so much more. Infinite or not a number where it overflows. */
double gz_paths_reach(const motion_path *a, const motion_path *b, double from, double to, double kept, double length);

/* In coordinates of the mesh of `frame`, points of `other` are no farther from the straight ways between where they are
 * at the start and at the end than `share` of their lengths and `fixed`, but for slack and strain. False: that is not
 * known. */
bool gz_path_bend(const motion_path *frame, const motion_path *other, double *share, double *fixed);

/* Whether all distances stay for certain: neither moves, or both move by the same matrices. */
bool gz_paths_at_rest(const motion_path *a, const motion_path *b);

/* A box of everything on the way. */
graze_box gz_path_box(const motion_path *path, const graze_box *mesh_box);

#endif
