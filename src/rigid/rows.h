/* What holds between two bodies, as rows: a velocity, and the impulse that it is answered with. */
#ifndef GRAZE_SRC_RIGID_ROWS_H
#define GRAZE_SRC_RIGID_ROWS_H

#include "rigid/rigid.h"
#include "rigid/solver.h"

/* PUSH: an impulse of strength (target - u), never below `least` or above `most`. DRAG: over one row or two, -strength
 * u, at most `limit` times that of the row `ruler`. */
typedef enum row_law { ROW_PUSH, ROW_DRAG } row_law;

typedef struct rigid_row {
  row_law law;
  uint32_t bodies[2]; /* in the island, or ROW_NOBODY */
  uint32_t width;     /* of a DRAG: 1 or 2; 0 in the second row of two */
  uint32_t ruler;
  double limit, bound;        /* of a DRAG; the bound is what the limit makes of the ruler's impulse */
  double least, most;         /* of a PUSH */
  bool is_once;               /* a motor or a spring, which rests while others are thrown back */
  double first[6], second[6]; /* u = first.(velocity, spin of a) + second.(those of b) + offset */
  double offset, target, strength;
  double speed;    /* u */
  double impulse;  /* as it follows from u */
  double approach; /* PUSH: u before the impact, with restitution */
} rigid_row;

#define ROW_NOBODY UINT32_MAX

/* An island as it is solved. */
typedef struct rigid_system {
  const graze_rigid *world;
  uint32_t body_count, contact_count, joint_count, row_count, most_rows;
  rigid_body **bodies;  /* the dynamic ones */
  uint32_t (*local)[2]; /* of each contact, then each joint: its bodies here, or ROW_NOBODY */
  rigid_contact **contacts;
  rigid_joint **joints;
  rigid_body *driven;  /* copies of kinematic partners, one for each contact or joint that has one */
  uint32_t *driven_of; /* of each contact, then each joint, or ROW_NOBODY */
  uint32_t driven_count;
  rigid_row *rows;
  double h;
} rigid_system;

/* How many rows the contact has for each of its points. */
uint32_t gz_rigid_count_rows(const rigid_contact *contact);

/* The bodies of a contact, or of a joint, whose numbers go on; copies of those that are driven. */
const rigid_body *gz_rigid_partner(const rigid_system *s, uint32_t link, int which);

/* The row of a direction at the arms, or, without arms, of an axis of spin. Returns how much the bodies give way. */
double gz_rigid_fill_row(rigid_row *row, const rigid_system *s, uint32_t link, const double direction[3],
                         double arms[2][3]);

/* Of a gap that must not close: the speed at which it may, or has to open. */
double gz_rigid_find_target(const rigid_system *s, double gap);

/* The rows of a joint, from `at` on; returns the end. At most MOST_JOINT_ROWS. */
enum { MOST_JOINT_ROWS = 10 };
uint32_t gz_rigid_make_joint(rigid_system *s, uint32_t joint, uint32_t at);

/* All rows, as the bodies stand; sets row_count. */
void gz_rigid_make_rows(rigid_system *s);

/* After the drift: the rows of what bounces throw back, and the others hold. False: nothing bounces. */
bool gz_rigid_make_rebounds(rigid_system *s);

/* Keeps impulses in contacts. `add`: these come on top of those of the sub-step. */
void gz_rigid_keep_impulses(rigid_system *s, bool add);

/* Keeps the forces of joints; one that is too large ends its joint. */
void gz_rigid_keep_forces(const rigid_system *s);

/* Finds the velocities `v`, six a body, that obey all rows: at first those to begin with. `free`: what they would be
 * without rows. */
void gz_rigid_solve(rigid_system *s, const double *free, double *v, const rigid_solver *solver);

#endif
