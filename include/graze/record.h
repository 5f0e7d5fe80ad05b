/* graze/record.h: a scene in a file, and a run in a file that can be run again.
 *
 * A snapshot holds everything that decides what a scene says next: meshes (as baked), objects with their ids, rules,
 * and what the last update told. A record is a snapshot followed by steps: the edits between two updates, the options
 * of the update, and the hash of what it told. Replaying runs the same edits through the library at hand, step by step,
 * and tells where its answers differ from those in the file.
 *
 * The files are little-endian; every section carries a hash that is chained from section to section, so that damage,
 * and a file that ends early, are found and named by byte.
 */
#ifndef GRAZE_RECORD_H
#define GRAZE_RECORD_H

#include "graze/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the scene to a file, complete or not at all (through a temporary file and rename). Errors: ARGUMENT, MEMORY,
 * FILE. */
GRAZE_API graze_status graze_scene_save(graze_scene *scene, const char *path);

/* Makes a scene from a snapshot, or from the beginning of a record. Ids given out before the snapshot are those of the
 * same objects now, and the next update tells the difference to the last one before the snapshot. The scene owns its
 * meshes; they live as long as it does. Errors: ARGUMENT, MEMORY, FILE, FORMAT. */
GRAZE_API graze_status graze_scene_load(graze_context *context, const char *path, graze_scene **scene);

/* From here on every update that goes well is appended to the file, after a snapshot of the scene as it is. An error of
 * the record (a full disk, no memory) does not disturb the scene: it is logged once, and graze_scene_record_end returns
 * it; what the file holds up to there can be replayed. Meshes that were refitted are recorded with the objects that
 * have them. Errors: ARGUMENT (the scene is being recorded already), MEMORY, FILE. */
GRAZE_API graze_status graze_scene_record(graze_scene *scene, const char *path);

/* Ends the record; edits since the last update are not in it. graze_scene_destroy does the same, silently. */
GRAZE_API graze_status graze_scene_record_end(graze_scene *scene);

typedef struct graze_replay graze_replay;

typedef struct graze_replay_step {
  uint64_t number; /* from 1 on; 0 when the record has ended */
  bool same;       /* hash and numbers of events are those in the file */
  uint64_t hash;   /* in the file; that of this run is in the events */
  uint64_t began_count;
  uint64_t persist_count;
  uint64_t ended_count;
} graze_replay_step;

/* Opens a record and makes its scene. Errors: ARGUMENT, MEMORY, FILE, FORMAT. */
GRAZE_API graze_status graze_replay_open(graze_context *context, const char *path, graze_replay **replay);
GRAZE_API void graze_replay_close(graze_replay *replay);

/* The scene as the last step left it; owned by the replay, not to be edited. */
GRAZE_API graze_scene *graze_replay_scene(graze_replay *replay);

/* Runs the next step: its edits, then an update with the recorded options. `events` are those of this run. At the end
 * `step->number` is 0. Errors: FILE, FORMAT (damaged, or ended within a step: the message has the byte), and those of
 * an update. */
GRAZE_API graze_status graze_replay_next(graze_replay *replay, graze_scene_update_result *events,
                                         graze_replay_step *step);

#ifdef __cplusplus
}
#endif
#endif
