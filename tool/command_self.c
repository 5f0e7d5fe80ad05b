/* graze self: where meshes meet themselves. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "diagnostics.h"
#include "graze/graze.h"
#include "options.h"
#include "output.h"
#include "session.h"
#include "table.h"
#include "verbs.h"

typedef struct self_options {
  common_options common;
  file_list files;
  bool pairs, pictures_given;
  graze_check_def def; /* of the report */
} self_options;

enum { key_pairs = 1, key_report, key_title, key_pictures, key_strict, key_up };

static const struct argp_option options[] = {
    {"pairs", key_pairs, NULL, 0, "list the triangle pairs", 0},
    {"strict", key_strict, NULL, 0, OPTIONS_STRICT_HELP, 0},
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

typedef struct self_result {
  graze_query *query; /* owns the list */
  graze_self_result found;
} self_result;

static void run_self(session *run, const graze_report *all, const self_options *self, self_result *results) {
  graze_collide_options ask = graze_default_collide_options();
  ask.find = self->pairs || self->def.folder ? GRAZE_FIND_ALL : GRAZE_FIND_COUNT;
  double start = clock_now();
  for (uint32_t i = 0; i < all->object_count; i++) {
    graze_status status = graze_query_create(run->context, &results[i].query);
    if (status == GRAZE_OK)
      status = graze_collide_self(results[i].query, all->objects[i].mesh, &ask, &results[i].found);
    if (status != GRAZE_OK) session_fail(run, all->objects[i].file, status);
  }
  clock_add(&run->query_seconds, start);
}

static void write_json_mesh(gz_json *writer, const graze_report_object *object, const graze_self_result *found,
                            bool pairs) {
  const graze_mesh_facts *facts = object->facts;
  gz_json_open(writer, NULL, '{');
  gz_json_text(writer, "name", object->name);
  gz_json_integer(writer, "triangles", facts->triangles);
  gz_json_integer(writer, "degenerate", facts->degenerate);
  gz_json_integer(writer, "self_pairs", found->self_pairs);
  gz_json_integer(writer, "duplicates", found->duplicates);
  gz_json_integer(writer, "edge_overlaps", found->edge_overlaps);
  gz_json_integer(writer, "vertex_more", found->vertex_more);
  gz_json_integer(writer, "disjoint_hits", found->disjoint_hits);
  gz_json_integer(writer, "degenerate_pairs", found->degenerate_pairs);
  gz_json_hash(writer, "hash", found->hash);
  if (pairs) {
    gz_json_open(writer, "pairs", '[');
    for (uint64_t i = 0; i < found->self_pairs; i++) gz_json_pair(writer, found->pairs[i].a, found->pairs[i].b);
    gz_json_close(writer);
  }
  gz_json_close(writer);
}

static void write_json(output *out, const session *run, const graze_report *all, const self_result *results,
                       bool pairs) {
  gz_json writer = gz_json_begin_result(out);
  gz_json_text(&writer, "engine", session_engine(run));
  gz_json_text(&writer, "status", "complete");
  gz_json_open(&writer, "meshes", '[');
  for (uint32_t i = 0; i < all->object_count; i++) write_json_mesh(&writer, &all->objects[i], &results[i].found, pairs);
  gz_json_close(&writer);
  gz_json_open(&writer, "seconds", '{');
  gz_json_double(&writer, "load", run->load_seconds);
  gz_json_double(&writer, "build", run->build_seconds);
  gz_json_double(&writer, "query", run->query_seconds);
  gz_json_close(&writer);
  gz_json_end(&writer);
}

static table mesh_table(const graze_report *all, const self_result *results) {
  static const table_column columns[] = {{"name", true},         {"triangles", false},     {"degenerate", false},
                                         {"self_pairs", false},  {"duplicates", false},    {"edge_overlaps", false},
                                         {"vertex_more", false}, {"disjoint_hits", false}, {"degenerate_pairs", false},
                                         {"hash", false}};
  table rows = table_begin(columns, sizeof columns / sizeof columns[0]);
  for (uint32_t i = 0; i < all->object_count; i++) {
    const graze_self_result *found = &results[i].found;
    table_text(&rows, all->objects[i].name);
    table_integer(&rows, all->objects[i].facts->triangles);
    table_integer(&rows, all->objects[i].facts->degenerate);
    table_integer(&rows, found->self_pairs);
    table_integer(&rows, found->duplicates);
    table_integer(&rows, found->edge_overlaps);
    table_integer(&rows, found->vertex_more);
    table_integer(&rows, found->disjoint_hits);
    table_integer(&rows, found->degenerate_pairs);
    table_hex(&rows, found->hash);
  }
  return rows;
}

static void write_csv_triangles(output *out, const graze_report *all, const self_result *results) {
  gz_put_text(out, "name,triangle_a,triangle_b\n");
  for (uint32_t i = 0; i < all->object_count; i++) {
    for (uint64_t j = 0; j < results[i].found.self_pairs; j++) {
      write_csv_field(out, all->objects[i].name);
      gz_put_text(out, ",");
      gz_put_integer(out, results[i].found.pairs[j].a);
      gz_put_text(out, ",");
      gz_put_integer(out, results[i].found.pairs[j].b);
      gz_put_text(out, "\n");
    }
  }
}

static void write_csv(output *out, const graze_report *all, const self_result *results, bool pairs) {
  if (pairs) {
    write_csv_triangles(out, all, results);
    return;
  }
  table rows = mesh_table(all, results);
  table_write_csv(&rows, out);
  table_free(&rows);
}

static void write_text(output *out, const session *run, const graze_report *all, const self_result *results,
                       bool pairs) {
  uint64_t total = 0;
  table rows = mesh_table(all, results);
  table_write_text(&rows, out);
  table_free(&rows);
  gz_put_text(out, "\n");
  for (uint32_t i = 0; i < all->object_count; i++) {
    total += results[i].found.self_pairs;
    if (!pairs || results[i].found.self_pairs == 0) continue;
    output_print(out, "%s\n", all->objects[i].name);
    for (uint64_t j = 0; j < results[i].found.self_pairs; j++)
      output_print(out, "  %" PRIu32 " %" PRIu32 "\n", results[i].found.pairs[j].a, results[i].found.pairs[j].b);
    gz_put_text(out, "\n");
  }
  if (total == 0)
    output_print(out, "clear: no mesh meets itself");
  else
    output_print(out, "%" PRIu64 " self pair%s", total, total == 1 ? "" : "s");
  output_print(out, " (%" PRIu32 " mesh%s; %s, %.3f s)\n", all->object_count, all->object_count == 1 ? "" : "es",
               session_engine(run), run->load_seconds + run->build_seconds + run->query_seconds);
}

static uint64_t write_report(const session *run, const graze_report *all, const self_result *results,
                             const self_options *self, output *out) {
  switch (self->common.format) {
    case format_text:
      write_text(out, run, all, results, self->pairs);
      break;
    case format_json:
      write_json(out, run, all, results, self->pairs);
      break;
    case format_csv:
      write_csv(out, all, results, self->pairs);
      break;
  }
  uint64_t total = 0;
  for (uint32_t i = 0; i < all->object_count; i++) total += results[i].found.self_pairs;
  return total;
}

static void write_folder(session *run, const self_options *self, graze_check *check, const self_result *results) {
  double start = clock_now();
  uint32_t count = graze_check_report(check)->object_count;
  graze_self_result *found = calloc(count, sizeof *found);
  if (!found) fail_out_of_memory();
  for (uint32_t i = 0; i < count; i++) found[i] = results[i].found;
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
  self_result *results = calloc(all->object_count, sizeof *results);
  if (!results) fail_out_of_memory();
  run_self(&run, all, &self, results);
  uint64_t total = write_report(&run, all, results, &self, out);
  output_close(out);
  uint32_t meshes = all->object_count;
  if (self.def.folder) write_folder(&run, &self, check, results);
  for (uint32_t i = 0; i < meshes; i++) graze_query_destroy(results[i].query);
  free(results);
  graze_check_destroy(check);
  session_end(&run);
  return total > 0 ? exit_found : exit_clear;
}
