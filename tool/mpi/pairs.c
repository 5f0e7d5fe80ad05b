/* graze-mpi pairs: which boxes of a file meet, with as many ranks as mpiexec starts. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "diagnostics.h"
#include "mpi/boxes.h"
#include "mpi/commands.h"
#include "mpi/facts.h"
#include "mpi/list.h"
#include "mpi/making.h"
#include "mpi/run.h"
#include "options.h"
#include "output.h"

enum { MOST_STEPS = 1 << 20 };

typedef struct pairs_options {
  common_options common;
  file_list files; /* none: boxes are made */
  rank_options how;
  making_options make;
  const char *groups;
  bool list_pairs;
} pairs_options;

typedef struct pairs_run {
  const pairs_options *asked;
  rank_run ranks;
  job *job;
  const rank_boxes *boxes; /* of the step */
  graze_mpi_world *world;
  graze_mpi_result result; /* of the last step */
  graze_mpi_result *steps; /* one a file */
  uint32_t step_count;
  bool found;
} pairs_run;

/* ---- options ---- */

enum { key_pairs = 1, key_groups, key_deliver };

static const struct argp_option options[] = {
    {"pairs", key_pairs, NULL, 0, "list the pairs by id; CSV always does", 0},
    {"groups", key_groups, "FILE", 0, "a uint32 for each box, little-endian; boxes of one group do not meet", 0},
    {"deliver", key_deliver, "WHERE", 0, "bring the pairs to finder or owners, not only their number", 0},
    {0}};

static void finish(pairs_options *o, struct argp_state *state) {
  if (o->make.kind_text && o->files.count > 0) argp_error(state, "--make takes the place of files");
  if (!o->make.kind_text && o->files.count == 0) argp_error(state, "a file of boxes is needed");
  if (o->how.repeat > 1 && o->files.count > 1) argp_error(state, "--repeat is for one file");
  const bool lists = o->list_pairs || o->common.format == format_csv;
  if (lists && o->how.world.search == GRAZE_MPI_NO_SEARCH) argp_error(state, "--search none has no pairs to list");
  if (lists) o->how.world.delivery = GRAZE_MPI_SORTED;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  static const char *const places[] = {"finder", "owners", NULL};
  pairs_options *o = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &o->common;
      state->child_inputs[1] = &o->how;
      state->child_inputs[2] = &o->make;
      break;
    case key_pairs:
      o->list_pairs = true;
      break;
    case key_groups:
      o->groups = argument;
      break;
    case key_deliver:
      o->how.world.delivery =
          options_choice(state, "deliver", argument, places) == 0 ? GRAZE_MPI_FINDER : GRAZE_MPI_OWNERS;
      break;
    case ARGP_KEY_ARGS:
      o->files = options_files(state, 1, MOST_STEPS);
      break;
    case ARGP_KEY_END:
      finish(o, state);
      break;
    default:
      return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

static const struct argp_child children[] = {
    {&common_argp, 0, NULL, 0}, {&rank_argp, 0, NULL, 0}, {&making_argp, 0, NULL, 0}, {0}};

static const struct argp pairs_argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "BOXES...\n--make KIND:N",
    .doc =
        "Finds which boxes meet, with the answer of `graze pairs'; sharing a single point counts. Ranks read their "
        "parts of a binary file (.gzb), rank 0 reads text. Several files are steps of one world: which pairs began, "
        "persist "
        "and ended. --threads is of a rank, default 1."
        "\vExit: 0 no boxes meet, 1 some do, 2 usage error, 3 bad input. Only rank 0 writes. Open MPI calls exit 1 a "
        "failure in several lines: mpiexec --quiet leaves them out."};

/* ---- searching ---- */

static void open_world(pairs_run *run) {
  graze_mpi_world_def def = rank_run_world(&run->ranks);
  def.events = run->asked->files.count > 1;
  job_must(run->job, graze_mpi_world_create(run->job->context, MPI_COMM_WORLD, &def, &run->world));
}

static void load(pairs_run *run, uint32_t step, rank_boxes *boxes) {
  const pairs_options *o = run->asked;
  double start = clock_now();
  if (o->make.kind_text)
    make_rank_boxes(run->job, o->make.kind, o->make.size, o->make.seed, boxes);
  else
    read_rank_boxes(run->job, o->files.names[step], boxes);
  if (o->groups) read_rank_groups(run->job, o->groups, boxes);
  rank_run_loaded(&run->ranks, start);
}

static graze_status begin(void *user) {
  const pairs_run *run = user;
  if (graze_mpi_contribute(run->world, &run->boxes->boxes) != GRAZE_OK)
    fail("rank %d: %s", run->job->rank, graze_last_error(run->job->context)->message);
  return graze_mpi_begin(run->world, 0);
}

static graze_status test(void *user, bool *done) {
  return graze_mpi_test(((pairs_run *)user)->world, done);
}

static void search(pairs_run *run, const rank_boxes *boxes) {
  run->boxes = boxes;
  rank_run_search(&run->ranks, &(rank_search){begin, test, run});
  run->result = graze_mpi_get_result(run->world);
}

static void search_all(pairs_run *run) {
  const pairs_options *o = run->asked;
  const uint32_t files = o->files.count > 0 ? o->files.count : 1;
  run->steps = job_alloc(files, sizeof *run->steps);
  rank_boxes boxes = {0};
  for (uint32_t step = 0; step < files; step++) {
    rank_boxes_free(&boxes);
    load(run, step, &boxes);
    for (uint32_t k = 0; k < o->how.repeat; k++) search(run, &boxes);
    run->steps[run->step_count++] = run->result;
    run->found |= run->result.pairs > 0;
  }
  rank_boxes_free(&boxes);
}

/* ---- what was found ---- */

static void put_found(gz_json *json, const graze_mpi_result *r) {
  gz_json_integer(json, "pairs", r->pairs);
  gz_json_hash(json, "hash", r->hash);
}

static void put_steps(gz_json *json, const pairs_run *run) {
  gz_json_open(json, "steps", '[');
  for (uint32_t i = 0; i < run->step_count; i++) {
    const graze_mpi_result *r = &run->steps[i];
    gz_json_open(json, NULL, '{');
    gz_json_integer(json, "n", r->objects);
    if (r->searched) {
      put_found(json, r);
      put_integers(json, (const char *const[]){"began", "persist", "ended"},
                   (const uint64_t[]){r->began, r->persist, r->ended}, 3);
    }
    gz_json_close(json);
  }
  gz_json_close(json);
}

/* Ranks but the first only hand over their pairs: `out` is NULL there. */
static void write_json(pairs_run *run, output *out) {
  const graze_mpi_result *r = &run->result;
  gz_json json = {0};
  if (out) {
    json = gz_json_begin_result(out);
    put_engine(&json, run->job);
    gz_json_text(&json, "status", r->searched ? "complete" : "not searched");
    gz_json_text(&json, "method", "auto");
    gz_json_integer(&json, "n", r->objects);
    if (r->searched) put_found(&json, r);
  }
  if (run->asked->list_pairs) {
    if (out) gz_json_open(&json, "ids", '[');
    list_pairs(run->job, r->list, r->count, &pair_style_json, out);
    if (out) gz_json_close(&json);
  }
  if (!out) return;
  if (run->step_count > 1) put_steps(&json, run);
  gz_json_open(&json, "seconds", '{');
  gz_json_double(&json, "load", run->ranks.load_seconds);
  gz_json_double(&json, "query", run->ranks.query_seconds);
  gz_json_close(&json);
  put_mpi_facts(&json, placement_name(run->asked->how.world.placement), r, &run->ranks);
  gz_json_end(&json);
}

static void write_step(output *out, const pairs_run *run, uint32_t i) {
  const graze_mpi_result *r = &run->steps[i];
  if (!r->searched) {
    output_print(out, "%" PRIu64 " boxes were not searched", r->objects);
  } else {
    output_print(out, "%" PRIu64 " pair%s of %" PRIu64 " boxes meet, hash %016" PRIx64, r->pairs, plural(r->pairs),
                 r->objects, r->hash);
  }
  if (run->step_count > 1)
    output_print(out, "; %" PRIu64 " began, %" PRIu64 " persist, %" PRIu64 " ended\n", r->began, r->persist, r->ended);
}

static void write_text(const pairs_run *run, output *out) {
  const graze_mpi_result *r = &run->result;
  const pair_style style = {"", "", " ", "\n"};
  if (run->asked->list_pairs) list_pairs(run->job, r->list, r->count, &style, out);
  if (!out) return;
  if (run->asked->list_pairs && r->pairs > 0) gz_put_text(out, "\n");
  for (uint32_t i = 0; i < run->step_count; i++) write_step(out, run, i);
  output_print(out, "%s(%d rank%s, voxels of %g; %.3f s)\n", run->step_count > 1 ? "" : " ", run->job->ranks,
               plural((uint64_t)run->job->ranks), r->voxel, run->ranks.load_seconds + run->ranks.query_seconds);
}

static void write_csv(const pairs_run *run, output *out) {
  const pair_style style = {"", "", ",", "\n"};
  if (out) gz_put_text(out, "a,b\n");
  list_pairs(run->job, run->result.list, run->result.count, &style, out);
}

static void write_results(pairs_run *run) {
  output *out = run->job->rank == 0 ? output_open(run->asked->common.output) : NULL;
  switch (run->asked->common.format) {
    case format_text:
      write_text(run, out);
      break;
    case format_json:
      write_json(run, out);
      break;
    case format_csv:
      write_csv(run, out);
      break;
  }
  if (out) output_close(out);
  rank_run_trace(&run->ranks);
}

int command_mpi_pairs(job *j, int argc, char **argv) {
  pairs_options asked = {.common = {.threads = 1, .is_mpi = true}, .how = rank_options_begin(), .make = {.seed = 1}};
  options_parse(&pairs_argp, argc, argv, &asked, &asked.common);
  job_speak(j);
  pairs_run run = {.asked = &asked, .job = j};
  const uint32_t files = asked.files.count > 0 ? asked.files.count : 1;
  rank_run_begin(&run.ranks, j, asked.common.threads, &asked.how, files * asked.how.repeat);
  open_world(&run);
  search_all(&run);
  write_results(&run);
  const bool searched = run.result.searched, found = run.found;
  free(run.steps);
  graze_mpi_world_destroy(run.world);
  rank_run_end(&run.ranks);
  return !searched ? exit_incomplete : found ? exit_found : exit_clear;
}
