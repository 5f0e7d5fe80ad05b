/* Contacts as soft constraints: how they lie in memory, and the passes over them.
 *
 * Eight contacts stand side by side, none of which shares a body that a force moves, so that they are solved in the
 * lanes of a register. Velocities are scaled by the roots of masses and of tensors of inertia: (sqrt(m) v, I^1/2 w).
 * Then the same numbers tell how fast a row moves and what its impulse does, and what no force moves has only zeros. */
#ifndef GRAZE_SRC_RIGID_SOFT_H
#define GRAZE_SRC_RIGID_SOFT_H

#include "base/cpu.h"
#include "rigid/rigid.h"

enum { SOFT_LANES = 8, SOFT_STATE = 16 };

typedef double soft_lanes[SOFT_LANES];

/* What turns a, then what turns b, with its sign. */
typedef soft_lanes soft_turns[2][3];

typedef struct soft_point {
  soft_turns turns;
  soft_lanes gap;     /* at the start */
  soft_lanes drive;   /* the speed that driven bodies add */
  soft_lanes mass;    /* 1 / what an impulse of 1 changes; 0: there is no such point */
  soft_lanes lever;   /* a bound of the twist for an impulse of 1 */
  soft_lanes thrown;  /* the speed with which it flies off after an impact; 0: it does not */
  soft_lanes impulse; /* of the present sub-step */
  soft_lanes total;   /* of all */
  soft_lanes blow;    /* that throws it back */
} soft_point;

/* Friction of a patch acts at its middle, and as a twist about the normal. */
typedef struct soft_group {
  uint32_t at[2][SOFT_LANES];      /* where the states of a and b are */
  uint32_t contact[SOFT_LANES];    /* or UINT32_MAX */
  uint32_t count;                  /* of points, in the lane that has most */
  uint32_t rounds;                 /* in a pass: more of new contacts */
  bool throws, rolls, twists;      /* in any lane */
  bool parts;                      /* both bodies move, in all lanes or in none */
  soft_lanes normal[3], across[3]; /* from b to a; a unit vector across it */
  soft_lanes scale[2];             /* 1 / sqrt(m) */
  soft_lanes moment[3];            /* by which arms that stand still have erred: see soft.c */
  soft_lanes rate, softness;       /* of an overlap that goes in a second; of the impulse that it gives way */
  soft_point points[MOST_POINTS];
  soft_turns drag_turns[2], twist_turns;
  soft_lanes drag_mass[2], drag_drive[2], drag[2], friction;
  soft_lanes twist_mass, twist_drive, twist;
  soft_turns roll_turns[2];
  soft_lanes roll_mass[2], roll_drive[2], roll[2], roll_limit;
} soft_group;

/* A pass over groups that share no body. A state is u, in rows of four, and then how far it has come: the sum of h u.
 */
typedef struct soft_pass {
  soft_group *groups;
  double *states;
  double h, time; /* of a sub-step; since the start */
  double push_speed;
  bool is_relaxing; /* no overlap is pushed out */
} soft_pass;

typedef void soft_kernel(const soft_pass *pass, uint32_t begin, uint32_t end);

/* The impulses from before; a round through all rows; what bounces. */
CPU_KERNELS(soft_kernel, gz_soft_begin);
CPU_KERNELS(soft_kernel, gz_soft_solve);
CPU_KERNELS(soft_kernel, gz_soft_throw);

/* ---- soft_groups.c ---- */

/* Contacts of one color share no bodies. Of each color there are two classes: those that have impulses from before, and
 * those that are new; so that what is in a group does not depend on what else there is in the world. */
enum { SOFT_COLORS = 64, SOFT_CLASSES = 2 * (SOFT_COLORS + 1) };

/* A body while it is solved. */
typedef struct soft_body {
  uint32_t body;
  double root[9];  /* I^-1/2, along the world's axes */
  double base[8];  /* u before contacts have acted in the sub-step */
  double delta[8]; /* what they have done in it */
  double energy;   /* that has gone */
  double heaviest; /* mass of what touches it and can be moved */
} soft_body;

/* Bodies and contacts that are solved together: of any number of islands. */
typedef struct soft_system {
  const graze_rigid *world;
  uint32_t body_count, contact_count, group_count;
  soft_body *bodies;                /* from 1 on: 0 is what no force moves */
  double *states;                   /* SOFT_STATE numbers for each */
  uint32_t *contacts;               /* by class, then in order */
  uint32_t *busy;                   /* those of them that do something in this round */
  uint8_t *classes;                 /* of each contact */
  uint64_t *used;                   /* of each body: colors of its contacts */
  uint32_t first[SOFT_CLASSES + 1]; /* group of each class; those of the last color come one by one */
  uint32_t begin[SOFT_CLASSES + 1]; /* in the list of contacts */
  uint32_t place[SOFT_CLASSES + 1]; /* in the list of busy ones */
  soft_group *groups;
  double h, step; /* of a sub-step, and of all that groups last for */
} soft_system;

/* Gives every contact a color, so that those of one color share no body. */
void gz_soft_color(soft_system *s, const uint32_t *slots, const uint32_t *contacts);
/* How many groups there may be at most. */
uint32_t gz_soft_count_groups(const soft_system *s);
/* At the start of a round: the contacts that do something, and groups of them. */
void gz_soft_arrange(soft_system *s);
/* The groups [begin, end) from contacts and bodies as they stand; slots: of each body of the world, 0: none. */
void gz_soft_fill(const soft_system *s, const uint32_t *slots, uint32_t begin, uint32_t end);
/* Impulses back to the contacts. */
void gz_soft_keep(const soft_system *s, uint32_t begin, uint32_t end);

/* How far a point sinks under a force that would accelerate it by 1. */
double gz_soft_find_sink(double h);

#endif
