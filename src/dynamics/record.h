/* Records and states of worlds, from inside.
 *
 * A record is a definition, a state, and then, as things happen, sections of calls and further states, and an end:
 * without it the file was cut off. What a state does not say of a ball (radius, mass) the definition says as the caller
 * did, so that a replay makes the world by the same calls.
 */
#ifndef GRAZE_SRC_DYNAMICS_RECORD_H
#define GRAZE_SRC_DYNAMICS_RECORD_H

#include "dynamics/world.h"
#include "scene/run_record.h"

enum { WORLD_RECORD_VERSION = 2 };

/* What is in a world, in the order in which it was added. */
typedef enum record_kind { RECORD_BALL, RECORD_SET, RECORD_MESH } record_kind;

/* In a section of calls, besides steps. VELOCITY: uint32 body, six doubles. PARTICLES: uint32 set, uint32 bits of what
 * is there (positions, velocities, spins), the arrays. */
typedef enum world_call { CALL_VELOCITY = RUN_STEPS + 1, CALL_PARTICLES } world_call;

/* state.c: a section with the state; and the state of the section that was read, behind its first number, which says of
 * which world it is. */
void gz_world_put_state(archive_writer *w, const graze_world *world);
graze_status gz_world_take_state(archive_reader *r, graze_world *world);

/* record.c: all of them do nothing when nobody records, and keep errors in the recorder. Calls that have succeeded. */
void gz_record_velocity(graze_world *world, uint32_t body, const double velocity[3], const double spin[3]);
void gz_record_particles(graze_world *world, uint32_t set, const graze_particle_state *state);
void gz_record_state(graze_world *world);
void gz_record_step(graze_world *world);
/* What was recorded so far goes to the file. */
void gz_record_flush(graze_world *world);
/* Ends the record if there is one; the first error. */
graze_status gz_record_close(graze_world *world);

#endif
