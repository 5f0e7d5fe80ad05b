/* graze simulate: bodies that move, bump into each other and come to rest. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "diagnostics.h"
#include "simulate.h"
#include "verbs.h"

enum {
  key_steps = 1,
  key_dt,
  key_every,
  key_final,
  key_energy,
  key_events,
  key_motion,
  key_drive,
  key_save,
  key_restore,
  key_frames,
  key_record,
  key_replay,
  key_report,
  key_title,
  key_show,
  key_colour,
  key_pictures,
  key_precision,
  key_seed,
  key_seeds,
  key_hits,
  key_solver,
  key_sleep,
  key_check,
  key_slop
};

static const struct argp_option options[] = {
    {"steps", key_steps, "N", 0, "how many steps to run", 1},
    {"dt", key_dt, "SECONDS", 0,
     "length of a step, or auto: a fiftieth of the shortest contact, or 1/60 s for rigid bodies", 1},
    {"precision", key_precision, "WHAT", 0,
     "of the numbers of balls: double (default), or single, which needs half the memory on a device", 1},
    {"save", key_save, "FILE", 0, "save the last state in FILE, for --restore", 1},
    {"restore", key_restore, "FILE", 0, "go on from a state that was saved from the same scene", 1},
    {"record", key_record, "FILE", 0, "record the world and the hash of every step in FILE, for --replay", 1},
    {"replay", key_replay, "FILE", 0, "run a record again, without a scene, and check that every step is the same", 1},
    {"drive", key_drive, "FILE", 0, "how kinematic objects move: a motion file with a row a step (docs/files.md)", 1},
    {"seed", key_seed, "S", 0, "seed of the blasts of the scene (default 1)", 1},
    {"seeds", key_seeds, "N", 0, "run the seeds S to S+N-1 and tell how often what is hit", 1},
    {"solver", key_solver, "WHAT", 0, "of rigid bodies: auto (default), soft, or newton (docs/rigid.md)", 1},
    {"sleep", key_sleep, "WHAT", 0, "of rigid bodies: on, what rests sleeps until something wakes it, or off (default)",
     1},
    {"check", key_check, 0, 0,
     "of rigid bodies: decide exactly who overlaps whom, in every frame that is written and after the last step", 1},
    {"slop", key_slop, "LENGTH", 0,
     "the depth that --check forgives (default: a fiftieth of what the thinnest body measures across)", 1},
    {0, 0, 0, 0, "What is written (CSV):", 30},
    {"final", key_final, "FILE", 0, "the last state: place, orientation, velocity and spin of everything", 30},
    {"energy", key_energy, "FILE", 0, "energies, momenta and contacts as time goes by", 30},
    {"events", key_events, "FILE", 0, "contacts that begin, are deepest and end", 30},
    {"hits", key_hits, "FILE", 0, "what the blasts hit: in how many runs, and with which energy", 30},
    {"motion", key_motion, "FILE", 0, "how objects move, for `graze watch': its step k is step k K here", 30},
    {"every", key_every, "K", 0,
     "a row of energies, or a frame, every K steps (default 1), and for the first and the last; a step of the motion "
     "every K steps",
     30},
    {0, 0, 0, 0, "Frames:", 40},
    {"frames", key_frames, "FILE|FOLDER", 0,
     "every ball or rigid body at every frame: one binary file if the name ends in .gzt, or a folder of VTK files, "
     "which ParaView opens",
     40},
    {"report", key_report, "FOLDER", 0, "write a film: a page with a time line", 40},
    {"title", key_title, "TEXT", 0,
     "title of the film (default: the name of the file, or of the folder of a scene.json)", 40},
    {"pictures", key_pictures, "N", 0, "draw N frames, evenly spaced over the film, and film.png from them", 40},
    {"show", key_show, "WHAT", 0,
     "in pictures, and at first in the film: all (default), or colliding, the balls that touch something", 40},
    {"colour", key_colour, "WHAT", 0,
     "what balls are coloured by, in pictures and at first in the film: speed (default), set, or contact", 40},
    {0}};

static double read_dt(struct argp_state *state, const char *text) {
  if (strcmp(text, "auto") == 0) return 0;
  double dt = options_decimal(state, "dt", text);
  if (!(isfinite(dt) && dt > 0)) argp_error(state, "--dt: %s is not a length of time above 0", text);
  return dt;
}

static error_t parse_frames(simulate_options *simulate, int key, char *argument, struct argp_state *state) {
  static const char *const show_names[] = {"all", "colliding", NULL};
  static const char *const colour_names[] = {"speed", "set", "contact", NULL};
  switch (key) {
    case key_frames:
      if (*argument == 0) argp_error(state, "--frames: the file or folder has no name");
      simulate->frames = argument;
      return 0;
    case key_report:
      if (*argument == 0) argp_error(state, "--report: the folder has no name");
      simulate->report = argument;
      return 0;
    case key_title:
      simulate->title = argument;
      return 0;
    case key_pictures:
      simulate->pictures_given = true;
      simulate->pictures = (uint32_t)options_number(state, "pictures", argument, 0, 100000);
      return 0;
    case key_show:
      simulate->show_given = true;
      simulate->show = options_choice(state, "show", argument, show_names);
      return 0;
    case key_colour:
      simulate->colour_given = true;
      simulate->colour = (graze_track_colour)options_choice(state, "colour", argument, colour_names);
      return 0;
    default:
      return options_arguments(key, state, &simulate->common, &simulate->files, 1, "a scene");
  }
}

/* A record has it all. */
static void finish_replay(const simulate_options *simulate, struct argp_state *state) {
  if (simulate->files.count > 0) argp_error(state, "--replay has its own scene: no file beside it");
  if (simulate->steps_text || simulate->dt_text)
    argp_error(state, "--replay has its own steps: no --steps and no --dt");
  if (simulate->precision_given) argp_error(state, "--replay has its own precision: no --precision");
  if (simulate->solver >= 0 || simulate->sleep)
    argp_error(state, "--replay has its own solver: no --solver and no --sleep");
  if (simulate->seed_given || simulate->seeds > 0 || simulate->hits)
    argp_error(state, "--replay has its own balls: no --seed, --seeds and --hits");
  if (simulate->restore || simulate->record || simulate->drive)
    argp_error(state, "--replay takes no --restore, no --record and no --drive");
}

static void finish_run(simulate_options *simulate, struct argp_state *state) {
  if (simulate->files.count == 0) argp_error(state, "a scene is needed");
  if (!simulate->steps_text) argp_error(state, "--steps is needed");
  if (!simulate->dt_text) argp_error(state, "--dt is needed: seconds, or auto");
  simulate->steps = options_number(state, "steps", simulate->steps_text, 0, UINT64_MAX >> 12);
  simulate->dt = read_dt(state, simulate->dt_text);
}

/* What there is one of for each run. */
static void finish_seeds(const simulate_options *simulate, struct argp_state *state) {
  const struct {
    const char *given, *name;
  } single[] = {{simulate->final, "--final"},   {simulate->energy, "--energy"},  {simulate->events, "--events"},
                {simulate->motion, "--motion"}, {simulate->frames, "--frames"},  {simulate->save, "--save"},
                {simulate->record, "--record"}, {simulate->restore, "--restore"}};
  for (size_t i = 0; simulate->seeds > 0 && i < sizeof single / sizeof single[0]; i++) {
    if (single[i].given) argp_error(state, "%s is of one run: not with --seeds", single[i].name);
  }
  if (simulate->seeds > 0 && simulate->hits && simulate->common.format == format_csv)
    argp_error(state, "--format csv: that is the table of --hits; one of the two");
}

static void finish_options(simulate_options *simulate, struct argp_state *state) {
  if (simulate->replay)
    finish_replay(simulate, state);
  else
    finish_run(simulate, state);
  if ((simulate->title || simulate->show_given || simulate->colour_given || simulate->pictures_given) &&
      !simulate->report)
    argp_error(state, "--title, --show, --colour and --pictures need --report");
  if (simulate->colour_given && simulate->seeds > 0)
    argp_error(state, "--colour: with --seeds colours tell how probably something is hit");
  finish_seeds(simulate, state);
  if (!isnan(simulate->slop) && !simulate->check)
    argp_error(state, "--slop is what --check forgives: it needs --check");
  if (simulate->energy && simulate->common.format == format_csv)
    argp_error(state, "--format csv: that is the table of --energy; one of the two");
}

static error_t parse_simulate(int key, char *argument, struct argp_state *state) {
  static const char *const precision_names[] = {"single", "double", NULL}; /* graze_precision */
  static const char *const solver_names[] = {"auto", "soft", "newton", NULL}, *const sleep_names[] = {"off", "on",
                                                                                                      NULL};
  simulate_options *simulate = state->input;
  switch (key) {
    case key_precision:
      simulate->precision_given = true;
      simulate->precision = (graze_precision)options_choice(state, "precision", argument, precision_names);
      return 0;
    case key_steps:
      simulate->steps_text = argument;
      return 0;
    case key_dt:
      simulate->dt_text = argument;
      return 0;
    case key_every:
      simulate->every = options_number(state, "every", argument, 1, UINT64_MAX >> 12);
      return 0;
    case key_final:
      simulate->final = argument;
      return 0;
    case key_energy:
      simulate->energy = argument;
      return 0;
    case key_events:
      simulate->events = argument;
      return 0;
    case key_drive:
      simulate->drive = argument;
      return 0;
    case key_motion:
      simulate->motion = argument;
      return 0;
    case key_save:
      simulate->save = argument;
      return 0;
    case key_restore:
      simulate->restore = argument;
      return 0;
    case key_seed:
      simulate->seed_given = true;
      simulate->seed = options_number(state, "seed", argument, 0, UINT64_MAX >> 1);
      return 0;
    case key_seeds:
      simulate->seeds = options_number(state, "seeds", argument, 1, UINT32_MAX);
      return 0;
    case key_hits:
      simulate->hits = argument;
      return 0;
    case key_solver:
      simulate->solver = (int)options_choice(state, "solver", argument, solver_names);
      return 0;
    case key_sleep:
      simulate->sleep = options_choice(state, "sleep", argument, sleep_names) == 1;
      return 0;
    case key_check:
      simulate->check = true;
      return 0;
    case key_slop:
      simulate->slop = options_decimal(state, "slop", argument);
      if (!(isfinite(simulate->slop) && simulate->slop >= 0))
        argp_error(state, "--slop: %s is not a length of 0 or more", argument);
      return 0;
    case key_record:
      simulate->record = argument;
      return 0;
    case key_replay:
      simulate->replay = argument;
      return 0;
    case ARGP_KEY_NO_ARGS:
      return 0;
    case ARGP_KEY_SUCCESS:
      finish_options(simulate, state);
      return 0;
    default:
      return parse_frames(simulate, key, argument, state);
  }
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

static void choose_step(simulate_run *run) {
  run->dt = run->asked->dt;
  if (run->dt > 0) return;
  if (run->rigid) {
    run->dt = 1.0 / 60;
    return;
  }
  run->dt = run->limits.duration / 50;
  if (!isfinite(run->dt)) fail("--dt auto: nothing can touch, so no contact says how long a step may be");
  char text[32];
  graze_format_double(run->dt, text);
  note("--dt %s", text);
}

/* A step that is too long is an error later on. */
static void warn_of_step(const simulate_run *run) {
  const graze_step_limits *limits = &run->limits;
  if (run->dt > limits->longest) return;
  if (run->dt > limits->damped)
    note("--dt: beyond %.3g s the dashpot of the stiffest contact shakes instead of damping", limits->damped);
  if (run->dt > limits->duration / 20)
    note("--dt: the shortest contact takes %.3g s; a step of more than a twentieth of it, %.3g s, is inaccurate",
         limits->duration, limits->duration / 20);
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static bool go_on(void *user, uint64_t done, uint64_t total) {
  simulate_run *run = user;
  (void)total;
  const uint64_t runs = run->asked->seeds > 0 ? run->asked->seeds : 1;
  progress_show(&run->line, run->over * run->steps + run->done + done, runs * run->steps);
  return !interrupts_came();
}

/* Of many runs the first one is shown. */
static bool films(const simulate_run *run) {
  return run->film && run->over == 0;
}

static bool has_frames(const simulate_run *run) {
  return run->energy || run->motion || run->frames || films(run);
}

/* Steps until the next row of energies or frame, and no more than a bit at a time: their events are in memory, about
 * one a ball every ten steps where much happens. */
static uint64_t next_steps(const simulate_run *run) {
  const uint64_t balls = run->file.object_count + run->particles + 1, share = (UINT64_C(1) << 23) / balls + 1;
  uint64_t steps = run->steps - run->done, step = simulate_get_step(run);
  uint64_t frame = run->asked->every - step % run->asked->every;
  if (steps > 1024) steps = 1024;
  if (steps > share) steps = share;
  return has_frames(run) && frame < steps ? frame : steps;
}

void simulate_take_events(simulate_run *run) {
  if (run->no_events) return;
  const graze_contact_event *events;
  uint64_t count;
  simulate_get_events(run, &events, &count);
  for (uint64_t i = 0; i < count; i++) run->event_counts[events[i].kind]++;
  if (run->events) simulate_put_events(run, events, count);
  if (films(run)) simulate_film_take_events(run->film, run, events, count);
  simulate_hits_take(run, events, count);
}

static void take_sums(simulate_run *run, bool row) {
  simulate_get_sums(run, &run->end);
  if (row && run->energy) simulate_put_energy(run->energy, run, &run->end);
}

/* Step 0 of a motion is the scene as it is. */
static void take_motion(const simulate_run *run) {
  const uint64_t step = simulate_get_step(run), every = run->asked->every;
  if (run->motion && step > 0 && step % every == 0) simulate_put_motion(run, step / every);
}

/* What a motion file cannot hold is said before the run. */
static void check_motion(const simulate_run *run) {
  const uint64_t frames = (run->first_step + run->asked->steps) / run->asked->every;
  if (!run->motion || frames <= GRAZE_MOTION_MOST_STEPS) return;
  fail("--motion: %" PRIu64 " steps of the motion, and a file can hold %u: a larger --every makes it fewer", frames,
       GRAZE_MOTION_MOST_STEPS);
}

/* The sums are those of now. */
static void take_frame(simulate_run *run) {
  if (!run->frames && !films(run)) return;
  simulate_balls_take(run, &run->balls);
  if (run->frames) simulate_frames_add(run->frames, simulate_get_step(run), simulate_get_time(run));
  if (films(run)) simulate_film_add(run->film, run);
}

static void open_frames(simulate_run *run) {
  if (!run->asked->frames && !run->asked->report) return;
  simulate_balls_list(run, &run->balls);
  if (run->asked->report && run->rigid) simulate_find_solids(run);
  if (run->asked->report && !run->rigid) simulate_find_shapes(run);
  if (run->asked->report) run->film = simulate_film_open(run, &run->balls);
  if (run->asked->frames) run->frames = simulate_frames_open(run, &run->balls);
}

/* With no steps to run, it is checked all the same whether they could be. */
static void begin_steps(simulate_run *run) {
  if (!run->asked->replay) simulate_must(run, simulate_step(run, 0, NULL));
  if (!run->asked->record) return;
  graze_status status = run->rigid ? graze_rigid_record(run->rigid, run->asked->record)
                                   : graze_world_record(run->world, run->asked->record);
  if (status != GRAZE_OK) session_fail(&run->session, "--record", status);
}

/* A bit of the run. */
static graze_status some_steps(simulate_run *run) {
  const uint64_t steps = run->asked->drive ? 1 : next_steps(run);
  if (run->asked->replay) return simulate_replay_steps(run, steps);
  if (run->asked->drive) simulate_drive(run);
  graze_status status = simulate_step(run, steps, go_on);
  run->done = simulate_get_step(run) - run->first_step;
  if (status == GRAZE_OK || status == GRAZE_CANCELLED) simulate_take_events(run);
  return status;
}

/* What was recorded can be run again however the run ended. */
static void end_steps(simulate_run *run, graze_status status) {
  graze_status recorded = GRAZE_OK;
  if (run->asked->record)
    recorded = run->rigid ? graze_rigid_record_end(run->rigid) : graze_world_record_end(run->world);
  run->stopped = status == GRAZE_CANCELLED;
  if (status != GRAZE_OK) progress_end(&run->line);
  if (!run->stopped) simulate_must(run, status);
  if (recorded != GRAZE_OK) session_fail(&run->session, "--record", recorded);
}

static void run_steps(simulate_run *run) {
  double start = clock_now();
  graze_status status = GRAZE_OK;
  begin_steps(run);
  take_sums(run, true);
  run->start = run->end;
  take_motion(run);
  if (has_frames(run)) simulate_check_take(run);
  take_frame(run);
  uint64_t framed = simulate_get_step(run);
  while (status == GRAZE_OK && run->done < run->steps) {
    const uint64_t before = run->done;
    status = some_steps(run);
    const uint64_t step = simulate_get_step(run);
    if (status == GRAZE_OK && run->done > before) take_motion(run);
    if (status != GRAZE_OK || step == framed || (run->done != run->steps && step % run->asked->every != 0)) continue;
    framed = step;
    if (run->energy || films(run)) take_sums(run, true);
    if (has_frames(run)) simulate_check_take(run);
    take_frame(run);
  }
  if (status == GRAZE_OK) simulate_check_take(run);
  end_steps(run, status);
  if (!run->energy || run->stopped) take_sums(run, false);
  simulate_find_left(run);
  clock_add(&run->session.query_seconds, start);
}

/* A run is over. */
static void end_run(simulate_run *run) {
  run->over++;
  run->left_runs += run->end.left > 0;
  if (run->hits) simulate_hits_end_run(run);
}

static void begin_again(simulate_run *run) {
  run->seed++;
  run->done = 0;
  memset(run->event_counts, 0, sizeof run->event_counts);
  simulate_hits_begin_run(run);
  simulate_make(run);
}

/* Seed after seed, each in a world of its own. */
static void run_all(simulate_run *run) {
  const uint64_t runs = run->asked->seeds > 0 ? run->asked->seeds : 1;
  run->line = progress_begin("steps", run->asked->common.quiet);
  while (!run->stopped && run->over < runs) {
    if (run->over > 0) begin_again(run);
    run_steps(run);
    if (!run->stopped) end_run(run);
  }
  progress_end(&run->line);
}

/* ---- what is written --------------------------------------------------------------------------------------------- */

static void print_result(const simulate_run *run, output *out) {
  if (run->asked->common.format == format_json) simulate_print_json(out, run);
  if (run->asked->common.format == format_text) simulate_print_text(out, run);
}

static void close_tables(simulate_run *run, output *out) {
  if (run->energy && run->energy != out) output_close(run->energy);
  if (run->events) output_close(run->events);
  if (run->motion) output_close(run->motion);
  if (run->frames) simulate_frames_close(run->frames);
}

/* Of a run that was stopped the result says so; tables, which would not, are not left behind. */
static int finish(simulate_run *run, output *out) {
  const simulate_options *asked = run->asked;
  if (run->stopped) {
    if (asked->common.format != format_csv) {
      print_result(run, out);
      output_close(out);
    }
    fail("interrupted; not every step was run");
  }
  close_tables(run, out);
  if (run->final) {
    simulate_put_final(run);
    output_close(run->final);
  }
  if (run->hits_table) {
    simulate_hits_put_csv(run->hits_table, run);
    if (run->hits_table != out) output_close(run->hits_table);
  }
  if (asked->save) must(run->session.context, simulate_save(run, asked->save));
  print_result(run, out);
  output_close(out);
  return run->left_runs > 0 || run->differs || simulate_check_found(run->check) ? exit_found : exit_clear;
}

/* Where a file cannot be written is found before the run, not after it. */
static void check_place(const char *path) {
  static new_file file;
  if (!unfinished_create(&file, path)) fail("%s: cannot create: %s", path, strerror(errno));
  gz_new_file_finish(&file, false);
  if (file.in_place) fail("%s: exists and is not a regular file", path);
  unfinished_done(&file);
}

static void load(simulate_run *run) {
  const simulate_options *asked = run->asked;
  run->seed = asked->seed;
  simulate_load(run);
  simulate_make(run);
  if (asked->drive) simulate_drive_open(run);
  run->hits = simulate_hits_open(run);
  if (!run->hits && (asked->seeds > 0 || asked->hits))
    fail("%s: no \"blast\" throws anything, which --seeds and --hits are about", asked->files.names[0]);
  if (!run->hits && asked->seed_given) note("--seed: no blast throws anything; nothing depends on it");
  if (!run->asked->restore) return;
  graze_status status = simulate_restore(run, run->asked->restore);
  if (status != GRAZE_OK) session_fail(&run->session, "--restore", status);
}

static void prepare(simulate_run *run) {
  check_motion(run);
  choose_step(run);
  warn_of_step(run);
}

static int simulate_scene(const simulate_options *asked, output *out) {
  simulate_run run = {.asked = asked, .steps = asked->replay ? UINT64_MAX : asked->steps};
  session_begin(&run.session, &asked->common);
  if (asked->common.engine == engine_gpu) session_attach(&run.session, &asked->common);
  if (asked->common.engine == engine_auto) note("a world cannot be tried on both; the processor does it all");
  if (asked->energy) run.energy = output_open(asked->energy);
  if (asked->common.format == format_csv) *(asked->seeds > 0 ? &run.hits_table : &run.energy) = out;
  if (asked->hits) run.hits_table = output_open(asked->hits);
  if (asked->events) run.events = output_open(asked->events);
  if (asked->final) run.final = output_open(asked->final);
  if (asked->motion) run.motion = output_open(asked->motion);
  if (asked->save) check_place(asked->save);
  if (run.energy) simulate_put_energy_titles(run.energy);
  if (run.events) simulate_put_event_titles(run.events);
  if (run.motion) simulate_put_motion_titles(run.motion);
  if (asked->replay)
    simulate_replay_open(&run);
  else
    load(&run);
  run.first_step = simulate_get_step(&run);
  if (asked->check) run.check = simulate_check_open(&run);
  open_frames(&run);
  if (run.world)
    simulate_must(&run, graze_world_get_limits(run.world, &run.limits));
  else
    run.limits = (graze_step_limits){(double)INFINITY, (double)INFINITY, (double)INFINITY};
  if (!asked->replay) prepare(&run);
  interrupts_ask();
  run_all(&run);
  if (asked->common.engine == engine_gpu && run.world && run.done > 0 && graze_world_get_engine_steps(run.world) == 0)
    note("no step was the device's; the processor made them all");
  if (run.film && asked->seeds > 0) simulate_film_take_hits(run.film, &run);
  if (run.film) simulate_film_close(run.film, &run);
  int code = finish(&run, out);
  simulate_balls_free(&run.balls);
  simulate_hits_free(&run);
  simulate_check_free(run.check);
  if (asked->replay)
    simulate_replay_free(&run);
  else
    simulate_free(&run);
  session_end(&run.session);
  return code;
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};

const struct argp simulate_argp = {
    .options = options,
    .parser = parse_simulate,
    .children = children,
    .args_doc = "SCENE --steps N --dt SECONDS\n--replay FILE",
    .doc =
        "Moves the bodies and particles of a scene, balls by the discrete element method or rigid bodies: step by step "
        "they fall, bump into each other and into walls, roll, stack and come to rest. The scene file says what they "
        "are and what they are made "
        "of; see docs/files.md. CSV results are the table of --energy, or of --hits with --seeds."
        "\vExit: 0 every step was run; 1 every step was run, and something left the bounds of the scene, "
        "bodies overlap by more than --slop, or a step was not as recorded; 2 usage error; 3 bad input, a step that is "
        "too long, or not every step was run."};

int command_simulate(int argc, char **argv) {
  simulate_options simulate = {
      .common = {.has_gpu = true}, .precision = GRAZE_DOUBLE, .solver = -1, .slop = (double)NAN, .every = 1, .seed = 1};
  options_parse(&simulate_argp, argc, argv, &simulate, &simulate.common);
  output *out = output_open(simulate.common.output);
  return simulate_scene(&simulate, out);
}
