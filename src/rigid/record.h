/* Records of worlds of rigid bodies, from inside.
 *
 * A record is a definition, a state, and then, as things happen, sections of calls and further states, and an end:
 * without it the file was cut off. The definition says what the caller has said, so that a replay makes the world by
 * the same calls; of joints and walls, which are kept otherwise than they were said, it has what is kept.
 */
#ifndef GRAZE_SRC_RIGID_RECORD_H
#define GRAZE_SRC_RIGID_RECORD_H

#include "rigid/rigid.h"
#include "scene/run_record.h"

enum { RIGID_RECORD_VERSION = 3 };

/* In the word that has a body's type. */
enum { RIGID_RECORD_SENSOR = 256 };

/* In a section of calls, besides steps. VELOCITY: uint32 body, six doubles. WAKE: uint32 body. */
typedef enum rigid_call { RIGID_CALL_VELOCITY = RUN_STEPS + 1, RIGID_CALL_WAKE } rigid_call;

/* state.c: a section with the state; and the state of the section that was read. */
void gz_rigid_put_state(archive_writer *w, const graze_rigid *world);
graze_status gz_rigid_take_state(archive_reader *r, graze_rigid *world);

/* joints.c: a joint as it was kept in another world with the same bodies; its name is copied. */
graze_status gz_rigid_adopt_joint(graze_rigid *world, const rigid_joint *joint);

#endif
