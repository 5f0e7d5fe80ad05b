/* graze info: what a mesh is made of. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "diagnostics.h"
#include "graze/graze.h"
#include "json.h"
#include "options.h"
#include "output.h"
#include "session.h"
#include "table.h"
#include "verbs.h"

typedef struct info_options {
  common_options common;
  file_list files;
} info_options;

static error_t parse_info(int key, char *argument, struct argp_state *state) {
  info_options *info = state->input;
  (void)argument;
  return options_arguments(key, state, &info->common, &info->files, UINT32_MAX, "a mesh");
}

static const char *precision_name(const graze_mesh_facts *facts) {
  return facts->precision == GRAZE_FLOAT ? "float" : "double";
}

static const char *volumes_name(const graze_mesh_facts *facts) {
  return facts->volumes == GRAZE_VOLUMES_ORIENTED ? "oriented" : "aligned";
}

static const char *yes_no(bool value) {
  return value ? "yes" : "no";
}

static void write_json_corner(json *writer, const char *key, const double corner[3]) {
  json_key(writer, key);
  json_open_array(writer);
  for (int k = 0; k < 3; k++) json_double(writer, corner[k]);
  json_close_array(writer);
}

static void write_json_mesh(json *writer, const graze_report_object *object) {
  const graze_mesh_facts *facts = object->facts;
  json_open_object(writer);
  json_key_string(writer, "name", object->name);
  json_key_string(writer, "mesh", object->file);
  json_key_integer(writer, "vertices", facts->vertices);
  json_key_integer(writer, "positions", facts->positions);
  json_key_integer(writer, "triangles", facts->triangles);
  json_key_integer(writer, "degenerate", facts->degenerate);
  json_key_integer(writer, "parts", facts->parts);
  json_key_integer(writer, "open_edges", facts->open_edges);
  json_key_integer(writer, "nonmanifold_edges", facts->nonmanifold_edges);
  json_key_integer(writer, "misoriented_edges", facts->misoriented_edges);
  json_key_bool(writer, "adjacency", facts->adjacency);
  json_key_bool(writer, "closed", facts->closed);
  json_key_bool(writer, "oriented", facts->oriented);
  json_key(writer, "box");
  json_open_object(writer);
  write_json_corner(writer, "min", facts->box.min);
  write_json_corner(writer, "max", facts->box.max);
  json_close_object(writer);
  json_key_string(writer, "precision", precision_name(facts));
  json_key_string(writer, "volumes", volumes_name(facts));
  json_key_integer(writer, "bytes", facts->bytes);
  json_key_hash(writer, "hash", facts->hash);
  json_close_object(writer);
}

static void write_json(output *out, const session *run, const graze_report *all) {
  json writer = json_begin(out);
  json_open_object(&writer);
  json_key_string(&writer, "graze", graze_version());
  json_key_string(&writer, "engine", "cpu");
  json_key_string(&writer, "status", "complete");
  json_key(&writer, "meshes");
  json_open_array(&writer);
  for (uint32_t i = 0; i < all->object_count; i++) write_json_mesh(&writer, &all->objects[i]);
  json_close_array(&writer);
  json_key(&writer, "seconds");
  json_open_object(&writer);
  json_key_double(&writer, "load", run->load_seconds);
  json_key_double(&writer, "build", run->build_seconds);
  json_close_object(&writer);
  json_close_object(&writer);
  json_end(&writer);
}

static void write_csv(output *out, const session *run, const graze_report *all) {
  static const table_column columns[] = {{"name", true},
                                         {"mesh", true},
                                         {"vertices", false},
                                         {"positions", false},
                                         {"triangles", false},
                                         {"degenerate", false},
                                         {"parts", false},
                                         {"open_edges", false},
                                         {"nonmanifold_edges", false},
                                         {"misoriented_edges", false},
                                         {"adjacency", true},
                                         {"closed", true},
                                         {"oriented", true},
                                         {"min_x", false},
                                         {"min_y", false},
                                         {"min_z", false},
                                         {"max_x", false},
                                         {"max_y", false},
                                         {"max_z", false},
                                         {"precision", true},
                                         {"volumes", true},
                                         {"bytes", false},
                                         {"hash", false}};
  table rows = table_begin(columns, sizeof columns / sizeof columns[0]);
  (void)run;
  for (uint32_t i = 0; i < all->object_count; i++) {
    const graze_mesh_facts *facts = all->objects[i].facts;
    const uint64_t counts[] = {facts->vertices, facts->positions,  facts->triangles,         facts->degenerate,
                               facts->parts,    facts->open_edges, facts->nonmanifold_edges, facts->misoriented_edges};
    table_text(&rows, all->objects[i].name);
    table_text(&rows, all->objects[i].file);
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) table_integer(&rows, counts[k]);
    table_text(&rows, yes_no(facts->adjacency));
    table_text(&rows, yes_no(facts->closed));
    table_text(&rows, yes_no(facts->oriented));
    for (int k = 0; k < 6; k++) table_double(&rows, k < 3 ? facts->box.min[k] : facts->box.max[k - 3]);
    table_text(&rows, precision_name(facts));
    table_text(&rows, volumes_name(facts));
    table_integer(&rows, facts->bytes);
    table_hex(&rows, facts->hash);
  }
  table_write_csv(&rows, out);
  table_free(&rows);
}

static void write_text_box(output *out, const graze_box *box) {
  gz_put_text(out, "  box                ");
  for (int corner = 0; corner < 2; corner++) {
    for (int k = 0; k < 3; k++) {
      gz_put_text(out, k == 0 ? (corner ? " .. (" : "(") : ", ");
      gz_put_double(out, corner ? box->max[k] : box->min[k]);
    }
    gz_put_text(out, ")");
  }
  gz_put_text(out, "\n");
}

static void write_text_mesh(output *out, const graze_report_object *object) {
  const graze_mesh_facts *facts = object->facts;
  output_print(out, "%s\n", object->file);
  output_print(out, "  triangles          %" PRIu64 ", of zero area %" PRIu64 "\n", facts->triangles,
               facts->degenerate);
  output_print(out, "  vertices           %" PRIu64 " at %" PRIu64 " positions\n", facts->vertices, facts->positions);
  output_print(out, "  parts              %" PRIu64 "\n", facts->parts);
  output_print(out, "  closed             %s, open edges %" PRIu64 ", edges of three or more %" PRIu64 "\n",
               yes_no(facts->closed), facts->open_edges, facts->nonmanifold_edges);
  output_print(out, "  oriented           %s, misoriented edges %" PRIu64 "\n", yes_no(facts->oriented),
               facts->misoriented_edges);
  if (facts->triangles > 0) write_text_box(out, &facts->box);
  output_print(out, "  kept as            %s, %s volumes, %" PRIu64 " bytes\n", precision_name(facts),
               volumes_name(facts), facts->bytes);
  output_print(out, "  hash               %016" PRIx64 "\n", facts->hash);
}

static void write_text(output *out, const session *run, const graze_report *all) {
  (void)run;
  for (uint32_t i = 0; i < all->object_count; i++) write_text_mesh(out, &all->objects[i]);
}

int command_info(int argc, char **argv) {
  static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};
  static const struct argp argp = {.parser = parse_info,
                                   .children = children,
                                   .args_doc = "MESH...",
                                   .doc =
                                       "Shows facts about meshes: counts, holes, orientation, box, hash."
                                       "\vExit: 0 all were read, 2 usage error, 3 bad input."};
  info_options info = {0};
  session run;
  options_parse(&argp, argc, argv, &info, &info.common);
  output *out = output_open(info.common.output);
  session_begin(&run, &info.common);
  graze_check *check = session_open_meshes(&run, &info.files);
  static void (*const writers[])(output *, const session *, const graze_report *) = {write_text, write_json, write_csv};
  writers[info.common.format](out, &run, graze_check_report(check));
  output_close(out);
  graze_check_destroy(check);
  session_end(&run);
  return exit_clear;
}
