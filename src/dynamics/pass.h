/* One pass over the balls: forces at the present places, and from them the next state.
 *
 * Block by block. First the contacts, a register of them at a time: what each does is added to the sums of its two
 * balls, which stay in cache. The order of rows (world.h) is such that each ball adds up what its partners do in the
 * order of their numbers. Then each ball moves. A contact of two blocks is computed in both, with bytes that differ in
 * the sign alone, so that no two threads write the same number. Of a ball a pass reads 104 bytes and writes 104; a row
 * is 6 bytes that are read.
 */
#ifndef GRAZE_SRC_DYNAMICS_PASS_H
#define GRAZE_SRC_DYNAMICS_PASS_H

#include "base/cpu.h"
#include "dynamics/world.h"

/* What becomes of the accelerations. */
typedef enum pass_mode {
  PASS_LOOK, /* next: accelerations. Contacts remember nothing new */
  PASS_LAST, /* next: accelerations */
  PASS_STEP, /* two half kicks and a drift */
  PASS_EULER /* a kick and a drift */
} pass_mode;

typedef struct pass {
  const graze_world *world;
  pass_mode mode;
  double dt;
  uint64_t step; /* whose places these are */
  double period[3];
} pass;

/* What an event is made of. */
typedef struct pass_event {
  graze_contact_event_kind kind;
  uint32_t number, partner; /* partner: a ball's number, a wall's or a surface's */
  partner_kind type;
  uint32_t order; /* of the contacts of the two */
  double point[3], normal[3], speed, impulse;
  double overlap, velocity[3];
} pass_event;

typedef struct pass_result {
  double speed2;   /* the largest square of a velocity with which balls drift */
  double farthest; /* in single precision: the largest coordinate that was rounded */
  bool finite;     /* all numbers */
  bool no_memory;  /* for the events */
  gz_array events; /* pass_event */
} pass_result;

/* A contact of two balls that ends, and what it remembered. */
typedef struct row_contact {
  uint32_t first, second; /* places */
  uint32_t lower, higher; /* numbers */
  double strain[3], hit[2];
} row_contact;

/* What acts on a ball: force x y z 0; torque x y z, and what the ball counts of the energy dissipated. */
typedef struct ball_sum {
  row force, torque;
} ball_sum;

/* Of what balls run into. */
typedef struct obstacle_rows {
  row *forces, *torques;
  uint32_t *places;
} obstacle_rows;

/* Rows of one block on their way. */
typedef struct block_rows {
  uint16_t *first;
  uint32_t *second;
} block_rows;

/* What a thread works with: scratch for any block. */
typedef struct worker {
  pass_result result;
  ball_sum *sums;          /* of each place, and one that nobody needs */
  obstacle_rows obstacles; /* VD_LANES more than there are may be written */
  facet_contact *found;    /* of an entry */
  uint64_t *keys;          /* of rows, and as many again */
  block_rows rows;         /* before they are sorted, or put where they belong */
  row_contact *saved;
  gz_array near, cell_rows; /* cells.c: places; rows, two numbers each */
  double moved2, speed2;    /* of close.c: the largest squares of ways since the list was made, and of velocities */
  buffer scratch;
  gz_array ended; /* row_contact */
  bool no_memory; /* for `ended` */
} worker;

/* The close rows of a block, in the order of the list; returns how many there are. */
typedef uint32_t close_kernel(const graze_world *world, uint32_t block, const block_rows *found);
CPU_KERNELS(close_kernel, gz_close_rows);

/* A block. */
typedef void pass_kernel(const pass *p, uint32_t block, worker *w);
CPU_KERNELS(pass_kernel, gz_dynamics_pass);

/* events.c: those that are found to have ended, in any order; false: no memory. gz_rows_end puts them in the order of
 * numbers, lets go of their springs, adds the events of those that the block of `first` tells of to `events`, and
 * leaves the array empty. */
bool gz_rows_append(const graze_world *world, gz_array *ended, const row_contact *contact);
bool gz_rows_end(const graze_world *world, gz_array *ended, gz_array *events);

/* Two balls, of which the lower number tells, with normal speed u_n in this step. */
void gz_pass_tell(const pass *p, uint32_t place, uint32_t partner, graze_contact_event_kind kind, double speed,
                  double impulse, pass_result *result);

/* Of a wall: what did not touch before begins unstrained. True: it began. Tells of contacts that ended. */
bool gz_pass_remember_wall(const pass *p, uint64_t entry, bool touches, pass_result *result);
/* The same for what gz_surface_contacts found; then contact i is in slot i. */
void gz_pass_remember_surface(const pass *p, const surface_entry *e, const facet_contact *found, uint32_t count,
                              pass_result *result);

/* A ball in contact with a wall or a surface. */
typedef struct obstacle {
  uint32_t place;
  double normal[3], velocity[3], spin[3]; /* of what is there */
  double overlap;
  double strain[3]; /* of the spring */
  const law *between;
  partner_kind kind;
  uint32_t partner;
  const contact_memory *memory;
  uint64_t entry; /* of the memory */
  uint32_t order; /* of the contacts of the two */
  bool began;
} obstacle;

/* obstacles.c: the wall of an entry; false: the ball does not touch it. */
bool gz_pass_wall(const pass *p, uint64_t entry, obstacle *o, pass_result *result);
/* The contacts with the surface of an entry, and each of them. */
uint32_t gz_pass_surface(const pass *p, const surface_entry *e, facet_contact *found, pass_result *result);
obstacle gz_pass_facet(const pass *p, const surface_entry *e, const facet_contact *found, uint32_t order);

/* With events: an obstacle with normal speed u_n and force f_n in this step. */
void gz_pass_follow_obstacle(const pass *p, const obstacle *o, double speed, double force, pass_result *result);

/* events.c: sorts what was found and puts it into the world's events; leaves `found` empty. False: no memory. */
bool gz_events_add(graze_world *world, const pass *p, gz_array *found);

#endif
