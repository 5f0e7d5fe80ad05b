/* graze self: where meshes meet themselves. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/owned.h"
#include "diagnostics.h"
#include "graze/graze.h"
#include "options.h"
#include "output.h"
#include "self_print.h"
#include "session.h"
#include "verbs.h"

typedef struct self_options {
  common_options common;
  file_list files;
  bool pairs, pictures_given;
  graze_check_def def; /* of the report */
} self_options;

enum { key_pairs = 1, key_report, key_title, key_pictures, key_strict, key_up, key_allow_empty };

static const struct argp_option options[] = {
    {"pairs", key_pairs, NULL, 0, "list the triangle pairs", 0},
    {"strict", key_strict, NULL, 0, OPTIONS_STRICT_HELP, 0},
    {"allow-empty", key_allow_empty, NULL, 0, OPTIONS_ALLOW_EMPTY_MESHES_HELP, 0},
    {"report", key_report, "FOLDER", 0, "write a report of the places: index.html, pictures, JSON, CSV, BCF 2.1", 0},
    {"title", key_title, "TEXT", 0, "title of the report (default: the first file's name, and \"against itself\")", 0},
    {"up", key_up, "AXIS", 0, OPTIONS_UP_HELP, 0},
    {"pictures", key_pictures, "N", 0, "draw the first N places (default 1000)", 0},
    {0}};

static error_t parse_self(int key, char *argument, struct argp_state *state) {
  self_options *self = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[1] = &self->common;
      break;
    case key_pairs:
      self->pairs = true;
      return 0;
    case key_strict:
      self->def.reading = GRAZE_READ_STRICT;
      return 0;
    case key_allow_empty:
      self->def.allow_empty = true;
      return 0;
    case key_report:
      self->def.folder = argument;
      if (*argument == 0) argp_error(state, "--report: the folder has no name");
      return 0;
    case key_title:
      self->def.title = argument;
      return 0;
    case key_up:
      self->def.up = options_choice(state, "up", argument, up_names) == 0 ? GRAZE_UP_Y : GRAZE_UP_Z;
      return 0;
    case key_pictures:
      self->pictures_given = true;
      self->def.most_pictures = (uint32_t)options_number(state, "pictures", argument, 0, UINT32_MAX);
      return 0;
    case ARGP_KEY_END:
      if (self->pictures_given && !self->def.folder) argp_error(state, "--pictures needs --report");
      break;
  }
  return options_arguments(key, state, &self->common, &self->files, UINT32_MAX, "a mesh");
}

typedef struct self_results {
  graze_query **queries; /* own the lists */
  self_row *rows;        /* one a mesh */
} self_results;

static void run_self(session *run, const graze_report *all, const self_options *self, const self_results *results) {
  graze_collide_options ask = graze_default_collide_options();
  ask.find = self->pairs || self->def.folder ? GRAZE_FIND_ALL : GRAZE_FIND_COUNT;
  double start = clock_now();
  for (uint32_t i = 0; i < all->object_count; i++) {
    const graze_report_object *object = &all->objects[i];
    self_row *row = &results->rows[i];
    *row = (self_row){
        .name = object->name, .triangles = object->facts->triangles, .degenerate = object->facts->degenerate};
    graze_status status = graze_query_create(run->context, &results->queries[i]);
    if (status == GRAZE_OK) status = graze_collide_self(results->queries[i], object->mesh, &ask, &row->found);
    if (status != GRAZE_OK) session_fail(run, all->objects[i].file, status);
  }
  clock_add(&run->query_seconds, start);
}

static void write_json(output *out, const session *run, const self_row *rows, uint32_t count, bool pairs) {
  gz_json writer = gz_json_begin_result(out);
  gz_json_text(&writer, "engine", session_engine(run));
  gz_json_text(&writer, "status", "complete");
  gz_json_open(&writer, "meshes", '[');
  for (uint32_t i = 0; i < count; i++) {
    self_put_json(&writer, &rows[i]);
    if (pairs) gz_json_open(&writer, "pairs", '[');
    for (uint64_t k = 0; pairs && k < rows[i].found.self_pairs; k++)
      gz_json_pair(&writer, rows[i].found.pairs[k].a, rows[i].found.pairs[k].b);
    if (pairs) gz_json_close(&writer);
    gz_json_close(&writer);
  }
  gz_json_close(&writer);
  session_write_seconds(run, &writer);
  gz_json_end(&writer);
}

static void write_csv(output *out, const self_row *rows, uint32_t count, bool pairs) {
  if (!pairs) {
    self_write_table_csv(out, rows, count);
    return;
  }
  gz_put_text(out, SELF_CSV_TITLE);
  for (uint32_t i = 0; i < count; i++) {
    const graze_self_result *found = &rows[i].found;
    char *name = self_csv_name(rows[i].name);
    for (uint64_t j = 0; j < found->self_pairs; j++) self_put_csv_pair(out, name, found->pairs[j].a, found->pairs[j].b);
    gz_free(name);
  }
}

static void write_text(output *out, const session *run, const self_row *rows, uint32_t count, bool pairs) {
  self_write_table_text(out, rows, count);
  gz_put_text(out, "\n");
  for (uint32_t i = 0; i < count; i++) {
    const graze_self_result *found = &rows[i].found;
    if (!pairs || found->self_pairs == 0) continue;
    output_print(out, "%s\n", rows[i].name);
    for (uint64_t j = 0; j < found->self_pairs; j++)
      output_print(out, "  %" PRIu32 " %" PRIu32 "\n", found->pairs[j].a, found->pairs[j].b);
    gz_put_text(out, "\n");
  }
  self_write_verdict(out, rows, count, session_engine(run),
                     run->load_seconds + run->build_seconds + run->query_seconds);
}

static void write_results(const session *run, const self_row *rows, uint32_t count, const self_options *self,
                          output *out) {
  switch (self->common.format) {
    case format_text:
      write_text(out, run, rows, count, self->pairs);
      break;
    case format_json:
      write_json(out, run, rows, count, self->pairs);
      break;
    case format_csv:
      write_csv(out, rows, count, self->pairs);
      break;
  }
}

static void write_folder(session *run, const self_options *self, graze_check *check, const self_row *rows) {
  double start = clock_now();
  uint32_t count = graze_check_report(check)->object_count;
  graze_self_result *found = calloc(count, sizeof *found);
  if (!found) fail_out_of_memory();
  for (uint32_t i = 0; i < count; i++) found[i] = rows[i].found;
  graze_check_set_engine(check, session_engine(run));
  must(run->context, graze_check_take_self(check, found));
  free(found);
  session_write_folder(run, self->def.folder, check, start);
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {&drawing_argp, 0, NULL, 0}, {0}};

const struct argp self_argp = {.options = options,
                               .parser = parse_self,
                               .children = children,
                               .args_doc = "MESH...",
                               .doc =
                                   "Finds where a mesh intersects itself: pairs of its triangles that meet in more "
                                   "than the corners and edges they share."
                                   "\vExit: 0 no self-intersection, 1 some, 2 usage error, 3 bad input."};

int command_self(int argc, char **argv) {
  self_options self = {.common = {.has_gpu = true, .has_visibility = true}, .def = graze_default_check_def()};
  session run;
  options_parse(&self_argp, argc, argv, &self, &self.common);
  output *out = output_open(self.common.output);
  session_begin(&run, &self.common);
  session_attach(&run, &self.common);
  graze_check *check = session_open_meshes(&run, &self.files, &self.def);
  const graze_report *all = graze_check_report(check);
  const uint32_t meshes = all->object_count;
  const self_results results = {calloc(meshes, sizeof *results.queries), calloc(meshes, sizeof *results.rows)};
  if (!results.queries || !results.rows) fail_out_of_memory();
  run_self(&run, all, &self, &results);
  const uint64_t total = self_total(results.rows, meshes);
  write_results(&run, results.rows, meshes, &self, out);
  output_close(out);
  if (self.def.folder) write_folder(&run, &self, check, results.rows);
  for (uint32_t i = 0; i < meshes; i++) graze_query_destroy(results.queries[i]);
  free(results.queries);
  free(results.rows);
  graze_check_destroy(check);
  session_end(&run);
  return total > 0 ? exit_found : exit_clear;
}
