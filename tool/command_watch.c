/* graze watch: what becomes of the pairs of objects while objects move. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "progress.h"
#include "verbs.h"
#include "watch.h"

enum {
  key_motion = 1,
  key_replay,
  key_record,
  key_find,
  key_report,
  key_title,
  key_pictures,
  key_continuous,
  key_bracket,
  key_clearance
};

static const struct argp_option options[] = {
    {"motion", key_motion, "FILE", 0,
     "how objects move: a table of steps, objects and poses, which --units converts too; see docs/files.md", 1},
    {"record", key_record, "FILE", 0, "record the run in FILE, for --replay", 1},
    {"replay", key_replay, "FILE", 0, "run a record again and check that every step gives the same answer", 1},
    {"continuous", key_continuous, "HOW", 0,
     "find out what happens between steps, too: vertices move straight (linear), or objects turn about an axis "
     "(rigid); "
     "then every event has its time within the step, from 0 to 1",
     2},
    {"bracket", key_bracket, "WIDTH", 0,
     "with --continuous: how wide the two times of a rigid motion or of a clearance may be, above 0 and up to 1, where "
     "proofs get as near (default 2^-30)",
     2},
    {"find", key_find, "WHAT", 0, "relation (default), or any: only whether surfaces meet, which is faster", 2},
    {0, 0, 0, 0, "What is reported:", 30},
    {"clearance", key_clearance, "LENGTH", 0,
     "report objects that are nearer than LENGTH at a step: a number in the check's units, or with its unit (25mm)",
     30},
    {"report", key_report, "FOLDER", 0, "write a film: a page with a timeline", 30},
    {"title", key_title, "TEXT", 0,
     "title of the film (default: the name of the file, or of the folder of a scene.json)", 30},
    {"pictures", key_pictures, "N", 0, "draw N frames, evenly spaced over the steps, and film.png from them", 30},
    {0}};

/* Options that only a run from files has. */
static void check_together(const watch_options *watch, struct argp_state *state) {
  if (watch->replay && (watch->motion || watch->record))
    argp_error(state, "--replay takes no --motion and no --record");
  if (watch->replay && watch->rules.set_count + watch->rules.rule_count > 0)
    argp_error(state, "--replay has its own pairs: no sets and rules beside it");
  if (watch->replay && watch->def.folder) argp_error(state, "--report is for runs with --motion");
  if (watch->replay && watch->continuous != GRAZE_MOTION_STEPS)
    argp_error(state, "--replay does what was recorded: no --continuous beside it");
  if (watch->replay && watch->def.clearance)
    argp_error(state, "--replay keeps the clearances that were recorded: no --clearance beside it");
  if (watch->bracket > 0 && watch->continuous == GRAZE_MOTION_STEPS)
    argp_error(state, "--bracket is for runs with --continuous");
  if (watch->continuous != GRAZE_MOTION_STEPS && watch->def.exactness == GRAZE_T2)
    argp_error(state, "--continuous is for exactness t0 and t1");
  if (watch->pictures_given && !watch->def.folder) argp_error(state, "--pictures needs --report");
}

static error_t parse_film(watch_options *watch, int key, char *argument, struct argp_state *state) {
  switch (key) {
    case key_report:
      watch->def.folder = argument;
      if (*argument == 0) argp_error(state, "--report: the folder has no name");
      return 0;
    case key_title:
      watch->def.title = argument;
      return 0;
    case key_pictures:
      watch->pictures_given = true;
      watch->pictures = (uint32_t)options_number(state, "pictures", argument, 0, 100000);
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse_watch(int key, char *argument, struct argp_state *state) {
  static const char *const find_names[] = {"relation", "any", NULL}, *const model_names[] = {"linear", "rigid", NULL};
  watch_options *watch = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &watch->common;
      state->child_inputs[1] = &watch->def;
      state->child_inputs[2] = &watch->rules;
      state->child_inputs[3] = &watch->common;
      state->child_inputs[4] = &watch->rules;
      return 0;
    case key_clearance:
      options_length(state, "clearance", argument);
      watch->def.clearance = argument;
      return 0;
    case key_motion:
      watch->motion = argument;
      return 0;
    case key_replay:
      watch->replay = argument;
      return 0;
    case key_record:
      watch->record = argument;
      return 0;
    case key_find:
      watch->find = options_choice(state, "find", argument, find_names) == 0 ? GRAZE_FIND_COUNT : GRAZE_FIND_ANY;
      return 0;
    case key_continuous:
      watch->continuous =
          options_choice(state, "continuous", argument, model_names) == 0 ? GRAZE_MOTION_LINEAR : GRAZE_MOTION_RIGID;
      return 0;
    case key_bracket:
      watch->bracket = options_decimal(state, "bracket", argument);
      if (!(watch->bracket > 0 && watch->bracket <= 1))
        argp_error(state, "--bracket: '%s' is not above 0 and at most 1", argument);
      return 0;
    case ARGP_KEY_ARGS:
      if (watch->replay) argp_error(state, "--replay has its own scene: no files beside it");
      scene_take_files(state, &watch->def);
      if (!watch->motion)
        argp_error(state, "--motion is needed: without it nothing moves, and `graze check' is the verb");
      return 0;
    case ARGP_KEY_NO_ARGS:
      if (!watch->replay) argp_error(state, "a scene or an assembly is needed, or --replay");
      return 0;
    case ARGP_KEY_END:
      check_together(watch, state);
      return 0;
    default:
      return parse_film(watch, key, argument, state);
  }
}

/* ---- the scene --------------------------------------------------------------------------------------------- */

typedef struct live_run {
  const watch_options *watch;
  session run;
  graze_check *check;
  graze_motion motion;
  graze_scene *scene;
  graze_object_id *ids;
  graze_scene_update_options how;
  watch_log log;
} live_run;

static void name_objects(live_run *live) {
  const graze_report *all = graze_check_report(live->check);
  watch_log *log = &live->log;
  log->names = calloc((size_t)all->object_count + 1, sizeof *log->names);
  if (!log->names) fail_out_of_memory();
  for (uint32_t i = 0; i < all->object_count; i++) {
    log->names[i] = strdup(all->objects[i].name);
    if (!log->names[i]) fail_out_of_memory();
  }
  log->name_count = all->object_count;
  log->objects = all->object_count;
  log->triangles = graze_check_get_counts(live->check).triangles;
}

static bool go_on(void *user, uint64_t done, uint64_t total) {
  (void)user, (void)done, (void)total;
  return !interrupts_came();
}

static void choose(live_run *live) {
  const watch_options *watch = live->watch;
  graze_scene_update_options *how = &live->how;
  *how = graze_default_scene_update_options();
  how->find = watch->find;
  how->exactness = watch->def.exactness;
  how->open = watch->def.open;
  how->continuous = watch->continuous;
  how->bracket = watch->bracket;
  how->progress = go_on;
  graze_check_set_clearances(live->check, how);
  live->log.clear = how->clearance != NULL;
}

static void load(live_run *live, graze_check_def *def) {
  const watch_options *watch = live->watch;
  def->every_mesh = def->rounds = def->cylinders = true;
  rules_complete(&watch->rules, def);
  live->check = session_open(&live->run, def);
  name_objects(live);
  must(live->run.context, graze_check_read_motion(live->check, watch->motion, &live->motion));
  session_take_times(&live->run, live->check);
  live->log.wanted = live->motion.last_step + 1;
  live->log.continuous = watch->continuous;
  choose(live);
  live->ids = malloc(((size_t)live->log.objects + 1) * sizeof *live->ids);
  if (!live->ids) fail_out_of_memory();
  must(live->run.context, graze_check_make_scene(live->check, &live->motion, &live->scene, live->ids));
}

/* ---- the run ----------------------------------------------------------------------------------------------- */

/* User ids are numbers of names. */
static void name_event(void *user, const graze_scene_event *event, uint32_t names[2]) {
  (void)user;
  names[0] = (uint32_t)event->user_id_a;
  names[1] = (uint32_t)event->user_id_b;
}

/* Moves what the step moves; returns where the moves of the next one begin. */
static uint64_t move_objects(live_run *live, uint64_t next, uint32_t step) {
  for (; next < live->motion.count && live->motion.moves[next].step == step; next++) {
    const graze_motion_move *move = &live->motion.moves[next];
    graze_status status = graze_scene_set_pose(live->scene, live->ids[move->object], &move->pose);
    if (status == GRAZE_OK && live->motion.has_centers)
      status = graze_scene_set_center(live->scene, live->ids[move->object], move->center);
    if (status != GRAZE_OK) session_fail(&live->run, live->log.names[move->object], status);
  }
  return next;
}

/* False when it was interrupted. */
static bool update(live_run *live, uint32_t step) {
  graze_scene_update_result events;
  graze_status status = interrupts_came() ? GRAZE_CANCELLED : graze_scene_update(live->scene, &live->how, &events);
  if (status == GRAZE_CANCELLED) return false;
  if (status == GRAZE_ERROR_POSE || status == GRAZE_ERROR_LIMIT) {
    char where[32];
    snprintf(where, sizeof where, "step %" PRIu32, step);
    session_fail(&live->run, where, status);
  }
  if (status != GRAZE_OK) session_fail(&live->run, NULL, status);
  watch_log_add_step(&live->log, &events, name_event, NULL);
  return true;
}

static void run_steps(live_run *live) {
  progress_line line = progress_begin("steps", live->watch->common.quiet);
  graze_status status = live->watch->record ? graze_scene_record(live->scene, live->watch->record) : GRAZE_OK;
  if (status != GRAZE_OK) session_fail(&live->run, NULL, status);
  double start = clock_now();
  uint64_t next = 0;
  bool more = true;
  for (uint32_t step = 0; more && step < live->log.wanted; step++) {
    next = move_objects(live, next, step);
    more = update(live, step);
    progress_show(&line, step, live->log.wanted);
  }
  clock_add(&live->run.query_seconds, start);
  progress_end(&line);
  live->log.complete = more;
  if (live->watch->record) status = graze_scene_record_end(live->scene);
  if (status != GRAZE_OK) session_fail(&live->run, NULL, status);
}

static int finish(const watch_options *watch, const session *run, const watch_log *log, output *out) {
  if (log->complete || watch->common.format != format_csv) {
    watch_print(out, watch, run, log);
    output_close(out);
  }
  if (!log->complete) fail("interrupted; not every step was run");
  if (log->differs)
    fail("%s: the answers differ from those in the file from step %" PRIu32 " on", watch->replay, log->differs_at);
  return watch_found(log) ? exit_found : exit_clear;
}

static int run_files(watch_options *watch, output *out) {
  live_run live = {.watch = watch};
  session_begin(&live.run, &watch->common);
  session_attach(&live.run, &watch->common);
  load(&live, &watch->def);
  interrupts_ask();
  run_steps(&live);
  if (watch->def.folder) watch_write_film(watch, &live.run, live.check, &live.motion, &live.log);
  int code = finish(watch, &live.run, &live.log, out);
  graze_scene_destroy(live.scene);
  graze_motion_free(&live.motion);
  watch_log_free(&live.log);
  free(live.ids);
  graze_check_destroy(live.check);
  session_end(&live.run);
  return code;
}

static int run_record(const watch_options *watch, output *out) {
  session run;
  watch_log log = {0};
  session_begin(&run, &watch->common);
  session_attach(&run, &watch->common);
  watch_replay(&run, watch, &log);
  int code = finish(watch, &run, &log, out);
  watch_log_free(&log);
  session_end(&run);
  return code;
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0},    {&scene_argp, 0, NULL, 0},
                                             {&rules_argp, 0, NULL, 0},     {&drawing_argp, 0, NULL, 0},
                                             {&clearance_argp, 0, NULL, 0}, {0}};

const struct argp watch_argp = {
    .options = options,
    .parser = parse_watch,
    .children = children,
    .args_doc = "SCENE.json --motion FILE\nASSEMBLY --motion FILE\nFILE FILE... --motion FILE\n--replay FILE",
    .doc =
        "Moves objects step by step and reports which pairs begin to touch, to cross or to contain each other, or come "
        "nearer than they may, how that changes, and when it ends."
        "\vExit: 0 nothing ever met or came too near; 1 something did; 2 usage error; 3 bad input, not every step was "
        "run, or a "
        "replay differs from its record."};

int command_watch(int argc, char **argv) {
  watch_options watch = {
      .common = {.has_gpu = true, .has_visibility = true}, .def = graze_default_check_def(), .find = GRAZE_FIND_COUNT};
  options_parse(&watch_argp, argc, argv, &watch, &watch.common);
  output *out = output_open(watch.common.output);
  int code = watch.replay ? run_record(&watch, out) : run_files(&watch, out);
  rules_free(&watch.rules);
  return code;
}
