/* A record runs again. Its scene may have objects that come and go, so names are kept from when an object was seen
 * first: of a pair that ended, one may be gone. */
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "progress.h"
#include "watch.h"

typedef struct known_object {
  graze_object_id id;
  uint32_t name; /* its number */
} known_object;

typedef struct replay_run {
  session *run;
  watch_log *log;
  graze_scene *scene;
  void *known; /* search tree of known_object */
} replay_run;

static int compare_ids(const void *a, const void *b) {
  const graze_object_id *x = &((const known_object *)a)->id, *y = &((const known_object *)b)->id;
  if (x->index != y->index) return x->index < y->index ? -1 : 1;
  return (x->generation > y->generation) - (x->generation < y->generation);
}

/* Objects without a name go by their user id, and so do those that were gone when the record began: the first step can
 * still tell that their pairs ended. */
static char *make_name(const replay_run *r, graze_object_id id, uint64_t user_id) {
  graze_object_def def;
  char *name = NULL;
  bool is_there = graze_scene_get_object(r->scene, id, &def) == GRAZE_OK;
  if (is_there && *def.name)
    name = strdup(def.name);
  else if (asprintf(&name, "object %" PRIu64, user_id) < 0)
    name = NULL;
  if (!name) fail_out_of_memory();
  return name;
}

static uint32_t name_of(replay_run *r, graze_object_id id, uint64_t user_id) {
  known_object *wanted = malloc(sizeof *wanted);
  if (!wanted) fail_out_of_memory();
  *wanted = (known_object){id, r->log->name_count};
  known_object **found = tsearch(wanted, &r->known, compare_ids);
  if (!found) fail_out_of_memory();
  if (*found != wanted) {
    free(wanted);
    return (*found)->name;
  }
  watch_log *log = r->log;
  char **names = realloc(log->names, ((size_t)log->name_count + 1) * sizeof *names);
  if (!names) fail_out_of_memory();
  log->names = names;
  names[log->name_count] = make_name(r, id, user_id);
  return log->name_count++;
}

static void name_objects(void *user, const graze_scene_event *event, uint32_t names[2]) {
  names[0] = name_of(user, event->a, event->user_id_a);
  names[1] = name_of(user, event->b, event->user_id_b);
}

/* Notes what is there now, of objects that came with the step too. */
static void meet_objects(replay_run *r) {
  const graze_object_id *objects;
  uint32_t count;
  if (graze_scene_list_objects(r->scene, &objects, &count) != GRAZE_OK) fail_out_of_memory();
  r->log->objects = count;
  r->log->triangles = 0;
  for (uint32_t i = 0; i < count; i++) {
    graze_object_def def;
    if (graze_scene_get_object(r->scene, objects[i], &def) != GRAZE_OK) continue;
    name_of(r, objects[i], def.user_id);
    if (def.radius == 0) r->log->triangles += graze_mesh_triangle_count(def.mesh);
  }
}

/* False when the record has ended. */
static bool replay_step(replay_run *r, graze_replay *replay) {
  graze_scene_update_result events;
  graze_replay_step step;
  graze_status status = graze_replay_next(replay, &events, &step);
  if (status != GRAZE_OK) session_fail(r->run, NULL, status);
  if (step.number == 0) return false;
  uint32_t number = r->log->step_count;
  watch_log_add_step(r->log, &events, name_objects, r);
  if (step.continuous != GRAZE_MOTION_STEPS) r->log->continuous = step.continuous;
  r->log->clear |= step.clearances;
  if (!step.same && !r->log->differs) {
    r->log->differs = true;
    r->log->differs_at = number;
    note("step %" PRIu32 " is not as recorded: hash %016" PRIx64 ", %" PRIu64 " began, %" PRIu64 " persist, %" PRIu64
         " ended; in the file %016" PRIx64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64,
         number, events.hash, events.began_count, events.persist_count, events.ended_count, step.hash, step.began_count,
         step.persist_count, step.ended_count);
  }
  return true;
}

void watch_replay(session *run, const watch_options *watch, watch_log *log) {
  graze_replay *replay = NULL;
  double start = clock_now();
  graze_status status = graze_replay_open(run->context, watch->replay, &replay);
  if (status != GRAZE_OK) session_fail(run, NULL, status);
  clock_add(&run->load_seconds, start);
  replay_run r = {.run = run, .log = log, .scene = graze_replay_scene(replay)};
  start = clock_now();
  meet_objects(&r);
  interrupts_ask();
  bool more = true;
  while (more && !interrupts_came()) more = replay_step(&r, replay);
  meet_objects(&r);
  clock_add(&run->query_seconds, start);
  log->complete = !more;
  log->wanted = log->step_count;
  tdestroy(r.known, free);
  graze_replay_close(replay);
}
