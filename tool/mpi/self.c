/* graze-mpi self: where meshes meet themselves, with as many ranks as mpiexec starts, each of which has a part of the
 * triangles. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/owned.h"
#include "diagnostics.h"
#include "graze/io.h"
#include "mpi/commands.h"
#include "mpi/facts.h"
#include "mpi/list.h"
#include "mpi/meshes.h"
#include "mpi/run.h"
#include "options.h"
#include "output.h"
#include "self_print.h"

typedef struct self_options {
  common_options common;
  rank_options how;
  file_list files;
  unsigned reading;
  bool pairs, allow_empty;
} self_options;

typedef struct self_list {
  graze_mpi_pair *pairs; /* this rank's part */
  uint64_t count;
} self_list;

typedef struct self_run {
  const self_options *asked;
  job *job;
  rank_run ranks;
  graze_mpi_self *self;
  rank_mesh mesh; /* that is searched */
  self_row *rows;
  self_list *lists;
  graze_mpi_result boxes; /* of the last mesh */
  uint32_t count;
} self_run;

/* ---- options ---- */

enum { key_pairs = 1, key_strict, key_allow_empty };

static const struct argp_option options[] = {
    {"pairs", key_pairs, NULL, 0, "list the triangle pairs", 0},
    {"strict", key_strict, NULL, 0, OPTIONS_STRICT_HELP, 0},
    {"allow-empty", key_allow_empty, NULL, 0, OPTIONS_ALLOW_EMPTY_MESHES_HELP, 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
  self_options *o = state->input;
  (void)argument;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[1] = &o->how;
      break;
    case key_pairs:
      o->pairs = true;
      return 0;
    case key_strict:
      o->reading = GRAZE_READ_STRICT;
      return 0;
    case key_allow_empty:
      o->allow_empty = true;
      return 0;
    case ARGP_KEY_END:
      if (o->pairs) o->how.world.delivery = GRAZE_MPI_SORTED;
      break;
  }
  return options_arguments(key, state, &o->common, &o->files, UINT32_MAX, "a mesh");
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {&rank_argp, 0, NULL, 0}, {0}};

static const struct argp self_argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "MESH...",
    .doc =
        "Finds where a mesh intersects itself, with the answer of `graze self': pairs of its triangles that meet in "
        "more than the corners and edges they share. Ranks read their parts of binary STL and PLY, GLB and OBJ files; "
        "the boxes of triangles travel, and corners of "
        "candidates alone. --threads is of a rank, default 1."
        "\vExit: 0 no self-intersection, 1 some, 2 usage error, 3 bad input. Only rank 0 writes. Open MPI calls exit "
        "1 a failure in several lines: mpiexec --quiet leaves them out."};

/* ---- names: as of a check, the second "part" is "part#2" ---- */

static bool is_taken(const self_row *rows, uint32_t count, const char *name) {
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(rows[i].name, name) == 0) return true;
  }
  return false;
}

static char *name_of(const self_run *run, uint32_t number) {
  const char *path = run->asked->files.names[number], *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path,
             *dot = strrchr(start, '.');
  const size_t length = dot && dot > start ? (size_t)(dot - start) : strlen(start), room = length + 16;
  char *name = job_alloc(room, 1);
  snprintf(name, room, "%.*s", (int)length, start);
  for (uint32_t k = 2; is_taken(run->rows, number, name); k++) snprintf(name + length, room - length, "#%" PRIu32, k);
  return name;
}

/* What has no triangles is not clear. */
static void need_triangles(const self_run *run, uint32_t number) {
  const char *path = run->asked->files.names[number];
  if (run->mesh.total > 0) return;
  if (run->asked->allow_empty) {
    if (run->job->rank == 0) note("%s: no triangles", path);
    return;
  }
  char words[600], *name = name_of(run, number);
  snprintf(words, sizeof words,
           "%s: object \"%s\" has no triangles: there is nothing to check; --allow-empty passes it over", path, name);
  free(name);
  job_agree(run->job, words, false);
}

static void load(self_run *run, uint32_t number) {
  const double start = clock_now();
  read_rank_mesh(run->job, run->asked->files.names[number], run->asked->reading, &run->mesh);
  need_triangles(run, number);
  rank_run_loaded(&run->ranks, start);
}

/* ---- searching ---- */

static graze_status begin(void *user) {
  const self_run *run = user;
  return graze_mpi_self_begin(run->self, &run->mesh.triangles);
}

static graze_status test(void *user, bool *done) {
  return graze_mpi_self_test(((self_run *)user)->self, done);
}

static void keep_list(self_list *list, const graze_mpi_self_result *result) {
  list->pairs = job_alloc((size_t)result->count, sizeof *list->pairs);
  list->count = result->count;
  if (result->count > 0) memcpy(list->pairs, result->list, result->count * sizeof *list->pairs);
}

static void search_mesh(self_run *run, uint32_t number) {
  load(run, number);
  for (uint32_t k = 0; k < run->asked->how.repeat; k++) rank_run_search(&run->ranks, &(rank_search){begin, test, run});
  const graze_mpi_self_result result = graze_mpi_self_get_result(run->self);
  run->rows[number] = (self_row){name_of(run, number), result.triangles, result.degenerate, result.found};
  run->boxes = result.boxes;
  if (run->asked->pairs) keep_list(&run->lists[number], &result);
  rank_mesh_free(&run->mesh);
}

static void search_all(self_run *run) {
  const graze_mpi_world_def def = rank_run_world(&run->ranks);
  job_must(run->job, graze_mpi_self_create(run->job->context, MPI_COMM_WORLD, &def, &run->self));
  run->rows = job_alloc(run->count, sizeof *run->rows);
  run->lists = job_alloc(run->count, sizeof *run->lists);
  for (uint32_t i = 0; i < run->count; i++) search_mesh(run, i);
}

/* ---- what was found: `out` is NULL on ranks but the first, which only hand over their pairs ---- */

/* Ranks but the first have no output. */
static void list_mesh(const self_run *run, uint32_t i, const pair_style *style, output *out) {
  list_pairs(run->job, run->lists[i].pairs, run->lists[i].count, style, out);
}

static void write_json(self_run *run, output *out) {
  gz_json json = {0};
  if (out) {
    json = gz_json_begin_result(out);
    put_engine(&json, run->job);
    gz_json_text(&json, "status", "complete");
    gz_json_open(&json, "meshes", '[');
  }
  for (uint32_t i = 0; i < run->count; i++) {
    if (out) self_put_json(&json, &run->rows[i]);
    if (out && run->asked->pairs) gz_json_open(&json, "pairs", '[');
    if (run->asked->pairs) list_mesh(run, i, &pair_style_json, out);
    if (out && run->asked->pairs) gz_json_close(&json);
    if (out) gz_json_close(&json);
  }
  if (!out) return;
  gz_json_close(&json);
  gz_json_open(&json, "seconds", '{');
  gz_json_double(&json, "load", run->ranks.load_seconds);
  gz_json_double(&json, "build", 0);
  gz_json_double(&json, "query", run->ranks.query_seconds);
  gz_json_close(&json);
  put_mpi_facts(&json, placement_name(run->asked->how.world.placement), &run->boxes, &run->ranks);
  gz_json_end(&json);
}

static void write_csv(const self_run *run, output *out) {
  if (!run->asked->pairs) {
    if (out) self_write_table_csv(out, run->rows, run->count);
    return;
  }
  if (out) gz_put_text(out, SELF_CSV_TITLE);
  for (uint32_t i = 0; i < run->count; i++) {
    char *name = self_csv_name(run->rows[i].name);
    list_mesh(run, i, &(pair_style){"", name, ",", "\n"}, out);
    gz_free(name);
  }
}

static void write_text(const self_run *run, output *out) {
  char who[64];
  snprintf(who, sizeof who, "%d rank%s", run->job->ranks, plural((uint64_t)run->job->ranks));
  if (out) {
    self_write_table_text(out, run->rows, run->count);
    gz_put_text(out, "\n");
  }
  for (uint32_t i = 0; i < run->count && run->asked->pairs; i++) {
    if (run->rows[i].found.self_pairs == 0) continue;
    if (out) output_print(out, "%s\n", run->rows[i].name);
    list_mesh(run, i, &(pair_style){"", "  ", " ", "\n"}, out);
    if (out) gz_put_text(out, "\n");
  }
  if (out) self_write_verdict(out, run->rows, run->count, who, run->ranks.load_seconds + run->ranks.query_seconds);
}

static void write_results(self_run *run) {
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

static void close_run(self_run *run) {
  for (uint32_t i = 0; i < run->count; i++) {
    free(run->lists[i].pairs);
    free((void *)(uintptr_t)run->rows[i].name);
  }
  free(run->lists);
  free(run->rows);
  graze_mpi_self_destroy(run->self);
  rank_run_end(&run->ranks);
}

int command_mpi_self(job *j, int argc, char **argv) {
  self_options asked = {.common = {.threads = 1, .is_mpi = true}, .how = rank_options_begin()};
  asked.how.must_search = true;
  options_parse(&self_argp, argc, argv, &asked, &asked.common);
  job_speak(j);
  self_run run = {.asked = &asked, .job = j, .count = asked.files.count};
  rank_run_begin(&run.ranks, j, asked.common.threads, &asked.how, run.count * asked.how.repeat);
  search_all(&run);
  write_results(&run);
  const bool found = self_total(run.rows, run.count) > 0;
  close_run(&run);
  return found ? exit_found : exit_clear;
}
