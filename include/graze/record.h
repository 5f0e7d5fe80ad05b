/* graze/record.h: saves a scene to a file, and records a run that can be replayed.
 *
 * A snapshot holds everything that determines a scene's next answers: baked meshes, objects with their ids, rules, and
 * the result of the last update. A record is a snapshot followed by steps: the edits between two updates, the options
 * of the update with the reaches and clearances that its functions gave, and the hash of its result. A replay runs the
 * same edits through this version of the library, step by step, and shows where its answers differ from those in the
 * file.
 *
 * Files are little-endian. Every section has a hash chained to that of the section before, so that damage and
 * truncation are detected and reported with their byte offset.
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

/* Makes a scene from a snapshot, or from the beginning of a record. Ids given out before the snapshot name the same
 * objects, and the next update reports the difference from the last one before the snapshot. The scene owns its meshes;
 * they live as long as it does. Errors: ARGUMENT, MEMORY, FILE, FORMAT. */
GRAZE_API graze_status graze_scene_load(graze_context *context, const char *path, graze_scene **scene);

/* Starts a record: a snapshot of the scene, to which every update that succeeds is appended. An error of the record (a
 * full disk, no memory) does not disturb the scene: it is logged once and returned by graze_scene_record_end; the part
 * written before it can be replayed; without a snapshot the file is removed. Refitted meshes are recorded with the
 * objects that use them. Errors: ARGUMENT (the scene is being recorded already), MEMORY, FILE. */
GRAZE_API graze_status graze_scene_record(graze_scene *scene, const char *path);

/* Ends the record, without the edits since the last update. graze_scene_destroy does the same but reports no error. */
GRAZE_API graze_status graze_scene_record_end(graze_scene *scene);

typedef struct graze_replay graze_replay;

typedef struct graze_replay_step {
  uint64_t number; /* counts from 1; 0 at the end of the record */
  bool same;       /* hashes and event counts equal those in the file */
  uint64_t hash;   /* as recorded; that of this run is in the events */
  uint64_t began_count;
  uint64_t persist_count;
  uint64_t ended_count;
  graze_motion_model continuous;
  double bracket;        /* of the update's options */
  uint64_t passed_count; /* with `continuous`, and the hash of times; else 0 */
  uint64_t time_hash;
  bool clearances; /* they were asked for */
  uint64_t gap_hash;
} graze_replay_step;

/* Opens a record and loads its scene. Errors: ARGUMENT, MEMORY, FILE, FORMAT. */
GRAZE_API graze_status graze_replay_open(graze_context *context, const char *path, graze_replay **replay);
GRAZE_API void graze_replay_close(graze_replay *replay);

/* The scene after the last step; owned by the replay, which alone may edit it. */
GRAZE_API graze_scene *graze_replay_scene(graze_replay *replay);

/* Runs the next step: its edits, then an update with the recorded options. `events` are those of this run;
 * `step->number` is 0 at the end. Errors: FILE, FORMAT (damaged, or ended within a step: the message has the byte), and
 * those of an update. */
GRAZE_API graze_status graze_replay_next(graze_replay *replay, graze_scene_update_result *events,
                                         graze_replay_step *step);

#ifdef __cplusplus
}
#endif
#endif
