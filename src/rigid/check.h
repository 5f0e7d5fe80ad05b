/* Exact checks of worlds, from inside: what bodies are there, and how deep they are in each other. */
#ifndef GRAZE_SRC_RIGID_CHECK_H
#define GRAZE_SRC_RIGID_CHECK_H

#include "graze/broadphase.h"
#include "graze/convex.h"
#include "rigid/rigid.h"

/* How near prisms come to a cylinder: COARSE sides are within 1.4e-4 of its radius, FINE ones within 1.4e-7. */
typedef enum check_level { CHECK_COARSE, CHECK_FINE, CHECK_LEVELS } check_level;

/* What is checked in place of a body: a convex set within it and one around it, in the body's coordinates. They are the
 * same set, which is the body, unless it is round in a way that no such set is. Of a mesh both are its hull. */
typedef struct check_form {
  graze_convex inner, outer;
  double *prisms;           /* the points of both, or NULL */
  graze_mesh *solids[2];    /* the sets as meshes, once it has met one; or [0] is the core of what is round */
  struct check_form *parts; /* of a compound; the sets are the corners of a box around it */
  uint32_t part_count;
} check_form;

/* The points are the body's own, or those of new prisms. False: memory refused. */
bool gz_check_make_form(const graze_context *context, const rigid_body *body, check_level level, check_form *form);
void gz_check_free_form(check_form *form);
static inline bool check_is_bracketed(const check_form *form) {
  return form->prisms != NULL;
}
/* Whether one of its parts, or itself, is. */
bool gz_check_has_bracketed(const check_form *form);

/* Around a set at a pose. */
void gz_check_find_box(const graze_convex *set, const graze_pose *pose, double beyond, graze_box *box);

/* A depth that lies between two numbers, and whether it is more than what is forgiven. */
typedef enum check_answer { CHECK_FORGIVEN, CHECK_OVER, CHECK_OPEN } check_answer;

typedef struct check_depth {
  double lower, upper;
  check_answer answer;
} check_depth;

/* A body in a pair. */
typedef struct check_side {
  const rigid_body *body;
  check_form *form;
  const graze_pose *pose;
} check_side;

/* How deep two bodies are in each other of which one is a mesh, or both. Of an open mesh the surface alone counts.
 * `up`: a way in which what rests comes free, of length 1, or 0. */
graze_status gz_check_meshes(graze_context *context, graze_query *query, const check_side sides[2], const double up[3],
                             double slop, check_depth *depth);

/* The same of two of which one is a compound: no less deep than two of its parts, and no deeper than a way out that is
 * tried and found free, along which parts leave each other, contacts push, or up. */
graze_status gz_check_parts(graze_rigid *world, graze_query **query, const check_side sides[2], const double up[3],
                            double slop, check_depth *depth);

/* The pose of a part. */
graze_pose gz_check_pose_part(const rigid_body *body, uint32_t part);

/* How deep a set at a pose is in what lies behind the wall. The answer is never OPEN. */
check_depth gz_check_wall(const graze_convex *set, const graze_pose *pose, const rigid_body *wall, double slop);

#endif
