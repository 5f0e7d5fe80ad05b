/* graze-mpi self: where meshes meet themselves, with as many ranks as mpiexec starts. Rank 0 reads the files, as `graze
 * self' does, and hands every rank its part of the triangles. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "diagnostics.h"
#include "graze/io.h"
#include "graze/mesh.h"
#include "mpi/commands.h"
#include "mpi/facts.h"
#include "mpi/list.h"
#include "mpi/run.h"
#include "options.h"
#include "output.h"
#include "self_print.h"

enum { TAG = 4, PART = 1 << 16 /* triangles a message */ };

typedef struct self_options {
  common_options common;
  rank_options how;
  file_list files;
  unsigned reading;
  bool pairs;
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
  graze_mpi_triangles mine; /* of the mesh that is searched */
  self_row *rows;
  self_list *lists;
  graze_mpi_result boxes; /* of the last mesh */
  uint32_t count;
} self_run;

/* ---- options ---- */

enum { key_pairs = 1, key_strict };

static const struct argp_option options[] = {{"pairs", key_pairs, NULL, 0, "list the triangle pairs", 0},
                                             {"strict", key_strict, NULL, 0, OPTIONS_STRICT_HELP, 0},
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
        "more than the corners and edges they share. Rank 0 reads; the boxes of triangles travel, and corners of "
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

/* ---- reading ---- */

/* The mesh, and what `graze self' finds wrong in it, when it reads and when it bakes. */
static graze_status read_mesh(const self_run *run, const char *path, graze_geometry *geometry,
                              graze_mesh_facts *facts) {
  graze_context *context = run->job->context;
  graze_mesh_def def = graze_default_mesh_def();
  graze_status status = graze_read_geometry(context, path, GRAZE_FORMAT_AUTO, run->asked->reading, geometry);
  if (status != GRAZE_OK) return status;
  if (geometry->triangle_count == 0) note("%s: no triangles", path);
  def.vertices = geometry->vertices;
  def.precision = GRAZE_DOUBLE;
  def.vertex_count = geometry->vertex_count;
  def.indices = geometry->indices;
  def.triangle_count = geometry->triangle_count;
  def.no_adjacency = true;
  return graze_mesh_measure(context, &def, facts);
}

/* On rank 0; the others learn how many triangles there are. */
static uint64_t read_on_one(self_run *run, const char *path, graze_geometry *geometry) {
  const job *j = run->job;
  graze_mesh_facts facts = {0};
  char words[600] = "";
  graze_status status = GRAZE_OK;
  uint64_t count = 0;
  if (j->rank == 0) status = read_mesh(run, path, geometry, &facts);
  if (status != GRAZE_OK) {
    const char *message = graze_last_error(j->context)->message;
    const bool named = strncmp(message, path, strlen(path)) == 0;
    snprintf(words, sizeof words, "%s%s%s", named ? "" : path, named ? "" : ": ", message);
  }
  job_agree(j, status != GRAZE_OK ? words : NULL, false);
  count = facts.triangles;
  MPI_Bcast(&count, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  return count;
}

/* ---- handing out: rank r of P gets triangles n r / P to n (r + 1) / P ---- */

static void corners_of(const graze_geometry *g, uint64_t first, uint64_t count, double *corners) {
  for (uint64_t t = first; t < first + count; t++) {
    for (int c = 0; c < 3; c++, corners += 3)
      memcpy(corners, g->vertices + 3 * (size_t)g->indices[3 * t + (uint64_t)c], 3 * sizeof *corners);
  }
}

static void hand_out(const job *j, const graze_geometry *g, uint64_t count) {
  double *part = job_alloc((size_t)9 * PART, sizeof *part);
  for (int r = 1; r < j->ranks; r++) {
    const uint64_t end = job_part(count, j, r + 1);
    for (uint64_t at = job_part(count, j, r); at < end; at += PART) {
      const uint64_t size = end - at < PART ? end - at : PART;
      corners_of(g, at, size, part);
      MPI_Send(part, (int)(9 * size), MPI_DOUBLE, r, TAG, MPI_COMM_WORLD);
    }
  }
  free(part);
}

static void take_part(const job *j, double *corners, uint64_t count) {
  for (uint64_t at = 0; at < count; at += PART) {
    const uint64_t size = count - at < PART ? count - at : PART;
    MPI_Recv(corners + 9 * at, (int)(9 * size), MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  (void)j;
}

static void load(self_run *run, const char *path) {
  const job *j = run->job;
  graze_geometry geometry = {0};
  const double start = clock_now();
  const uint64_t count = read_on_one(run, path, &geometry), first = job_part(count, j, j->rank),
                 own = job_part(count, j, j->rank + 1) - first;
  double *corners = job_alloc((size_t)own, 9 * sizeof *corners);
  uint64_t *numbers = job_alloc((size_t)own, sizeof *numbers);
  if (j->rank == 0) {
    corners_of(&geometry, 0, own, corners);
    hand_out(j, &geometry, count);
    graze_geometry_free(&geometry);
  } else {
    take_part(j, corners, own);
  }
  for (uint64_t i = 0; i < own; i++) numbers[i] = first + i;
  run->mine = (graze_mpi_triangles){corners, numbers, (uint32_t)own};
  rank_run_loaded(&run->ranks, start);
}

/* ---- searching ---- */

static graze_status begin(void *user) {
  const self_run *run = user;
  return graze_mpi_self_begin(run->self, &run->mine);
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
  load(run, run->asked->files.names[number]);
  for (uint32_t k = 0; k < run->asked->how.repeat; k++) rank_run_search(&run->ranks, &(rank_search){begin, test, run});
  const graze_mpi_self_result result = graze_mpi_self_get_result(run->self);
  run->rows[number] = (self_row){name_of(run, number), result.triangles, result.degenerate, result.found};
  run->boxes = result.boxes;
  if (run->asked->pairs) keep_list(&run->lists[number], &result);
  free((void *)(uintptr_t)run->mine.corners);
  free((void *)(uintptr_t)run->mine.numbers);
}

static void search_all(self_run *run) {
  const graze_mpi_world_def def = rank_run_world(&run->ranks);
  job_must(run->job, graze_mpi_self_create(run->job->context, MPI_COMM_WORLD, &def, &run->self));
  run->rows = job_alloc(run->count, sizeof *run->rows);
  run->lists = job_alloc(run->count, sizeof *run->lists);
  for (uint32_t i = 0; i < run->count; i++) search_mesh(run, i);
}

/* ---- what was found: `out` is NULL on ranks but the first, which only hand over their pairs ---- */

static void put_json_pair(void *user, uint64_t a, uint64_t b) {
  gz_json_pair(user, a, b);
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
    if (run->asked->pairs) list_pairs(run->job, run->lists[i].pairs, run->lists[i].count, put_json_pair, &json);
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

typedef struct line_writer {
  output *out;
  const char *name;
} line_writer;

static void put_csv_pair(void *user, uint64_t a, uint64_t b) {
  const line_writer *w = user;
  self_put_csv_pair(w->out, w->name, a, b);
}

static void put_text_pair(void *user, uint64_t a, uint64_t b) {
  output_print(((const line_writer *)user)->out, "  %" PRIu64 " %" PRIu64 "\n", a, b);
}

static void write_csv(const self_run *run, output *out) {
  if (!run->asked->pairs) {
    if (out) self_write_table_csv(out, run->rows, run->count);
    return;
  }
  if (out) gz_put_text(out, SELF_CSV_TITLE);
  for (uint32_t i = 0; i < run->count; i++) {
    line_writer w = {out, run->rows[i].name};
    list_pairs(run->job, run->lists[i].pairs, run->lists[i].count, put_csv_pair, &w);
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
    line_writer w = {out, NULL};
    if (run->rows[i].found.self_pairs == 0) continue;
    if (out) output_print(out, "%s\n", run->rows[i].name);
    list_pairs(run->job, run->lists[i].pairs, run->lists[i].count, put_text_pair, &w);
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
