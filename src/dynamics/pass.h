/* One pass over the balls: forces at the present places, and from them the next state.
 *
 * A ball looks at all its neighbours and computes its own side of each contact, so that no two threads write the same
 * number: every contact is computed twice, with bytes that differ in the sign alone, and nothing is stored of it. For a
 * ball a pass reads about 150 bytes of its own and 4 an entry of the list, and writes 104.
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

/* Which neighbours are nearly touching is kept for some passes: looking at them all costs as much as the forces of
 * those that touch. Not while contacts remember something, which wants to know of each when it ends. */
typedef enum closeness { CLOSE_NOT_KEPT, CLOSE_TO_BE_MADE, CLOSE_KEPT } closeness;

typedef struct pass {
  const graze_world *world;
  pass_mode mode;
  double dt;
  uint64_t step; /* whose places these are */
  closeness close;
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
  double moved2;        /* of the next places: the largest square of a way since the list was made */
  double speed2;        /* the largest square of a velocity with which balls drift */
  bool finite;          /* all numbers */
  bool no_memory;       /* for the events */
  facet_contact *found; /* room for those of an entry */
  gz_array events;      /* pass_event */
} pass_result;

/* Balls at the places [begin, end), at least one. */
typedef void pass_kernel(const pass *p, uint32_t begin, uint32_t end, pass_result *result);
CPU_KERNELS(pass_kernel, gz_dynamics_pass);

/* events.c: of `count` entries of a ball from `entry` on those in `bits` touch; what did not touch before begins
 * unstrained. `began` gets, contact by contact, whether it began. Tells of contacts that ended. */
void gz_pass_remember(const pass *p, uint32_t place, uint32_t entry, uint32_t count, unsigned bits, bool *began,
                      pass_result *result);
/* The same for a wall; true: it began. */
bool gz_pass_remember_wall(const pass *p, uint64_t entry, bool touches, pass_result *result);
/* The same for what gz_surface_contacts found; then contact i is in slot i. */
void gz_pass_remember_surface(const pass *p, const surface_entry *e, const facet_contact *found, uint32_t count,
                              pass_result *result);

/* With events: a contact with normal speed u_n and force f_n in this step. */
void gz_pass_follow(const pass *p, uint32_t place, uint32_t entry, bool began, double speed, double force,
                    pass_result *result);

/* A ball in contact with a wall or a surface. */
typedef struct obstacle {
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
/* The contacts with the surface of an entry, into result->found, and each of them. */
uint32_t gz_pass_surface(const pass *p, const surface_entry *e, pass_result *result);
obstacle gz_pass_facet(const pass *p, const surface_entry *e, const facet_contact *found, uint32_t order);

void gz_pass_follow_obstacle(const pass *p, uint32_t place, const obstacle *o, double speed, double force,
                             pass_result *result);

/* events.c: sorts what the pieces found and puts it into the world's events. False: no memory. */
bool gz_events_add(graze_world *world, const pass *p, pass_result *results, uint32_t count);

#endif
