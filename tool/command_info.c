/* graze info: what a mesh is made of. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "diagnostics.h"
#include "graze/graze.h"
#include "graze/mass.h"
#include "info_bounds.h"
#include "options.h"
#include "output.h"
#include "session.h"
#include "table.h"
#include "verbs.h"

typedef struct info_options {
  common_options common;
  graze_check_def def;
  file_list files;
  bool mass, bounds;
} info_options;

enum { key_strict = 1, key_mass, key_bounds };

static const struct argp_option options[] = {
    {"strict", key_strict, NULL, 0, OPTIONS_STRICT_HELP, 0},
    {"mass", key_mass, NULL, 0,
     "also volume, centre of mass and inertia at density 1 of what closed meshes enclose (text and JSON)", 0},
    {"bounds", key_bounds, NULL, 0,
     "also spheres, an oriented box and slabs around the vertices, each proved to contain them (text and JSON)", 0},
    {0}};

static error_t parse_info(int key, char *argument, struct argp_state *state) {
  info_options *info = state->input;
  if (key == key_strict) {
    info->def.reading = GRAZE_READ_STRICT;
    return 0;
  }
  if (key == key_mass) {
    info->mass = true;
    return 0;
  }
  if (key == key_bounds) {
    info->bounds = true;
    return 0;
  }
  if (key == ARGP_KEY_SUCCESS && info->bounds && info->common.format == format_csv)
    argp_error(state, "--bounds has no CSV form: text or json");
  if (key == ARGP_KEY_SUCCESS && info->mass && info->common.format == format_csv)
    argp_error(state, "--mass has no CSV form: text or json");
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

/* What is known about the inside of a mesh, or why it has none. */
typedef struct inside {
  bool given;
  graze_mass mass;
  double moments[3], axes[9];
  const char *reason; /* NULL: there is one */
} inside;

static inside find_inside(const session *run, const graze_report_object *object) {
  inside found = {.given = true};
  if (graze_mesh_get_mass(run->context, object->mesh, 1, &found.mass) == GRAZE_OK)
    graze_inertia_find_axes(found.mass.inertia, found.moments, found.axes);
  else
    found.reason = graze_last_error(run->context)->message;
  return found;
}

/* NULL: they are not asked for, or there are no vertices. */
static const graze_bounds *find_bounds(const session *run, const info_options *info, const graze_report_object *object,
                                       graze_bounds *bounds) {
  if (!info->bounds || object->facts->triangles == 0) return NULL;
  must(run->context, graze_bound_mesh(run->context, object->mesh, bounds));
  return bounds;
}

static void write_json_inside(gz_json *writer, const inside *in) {
  gz_json_open(writer, "mass", '{');
  if (in->reason) {
    gz_json_text(writer, "reason", in->reason);
  } else {
    gz_json_double(writer, "volume", in->mass.volume);
    gz_json_doubles(writer, "center", in->mass.center, 3);
    gz_json_doubles(writer, "inertia", in->mass.inertia, 6);
    gz_json_doubles(writer, "principal", in->moments, 3);
    gz_json_doubles(writer, "axes", in->axes, 9);
  }
  gz_json_close(writer);
}

static void write_json_mesh(gz_json *writer, const graze_report_object *object, const inside *in,
                            const graze_bounds *bounds) {
  const graze_mesh_facts *facts = object->facts;
  const graze_solid_facts *solid = object->solid;
  gz_json_open(writer, NULL, '{');
  gz_json_text(writer, "name", object->name);
  gz_json_text(writer, "mesh", object->file);
  gz_json_integer(writer, "vertices", facts->vertices);
  gz_json_integer(writer, "positions", facts->positions);
  gz_json_integer(writer, "triangles", facts->triangles);
  gz_json_integer(writer, "degenerate", facts->degenerate);
  gz_json_integer(writer, "parts", facts->parts);
  gz_json_integer(writer, "open_edges", facts->open_edges);
  gz_json_integer(writer, "nonmanifold_edges", facts->nonmanifold_edges);
  gz_json_integer(writer, "misoriented_edges", facts->misoriented_edges);
  gz_json_bool(writer, "adjacency", facts->adjacency);
  gz_json_bool(writer, "closed", facts->closed);
  gz_json_bool(writer, "oriented", facts->oriented);
  gz_json_open(writer, "solid", '{');
  gz_json_integer(writer, "winding", solid->winding_parts);
  gz_json_integer(writer, "parity", solid->parity_parts);
  gz_json_integer(writer, "surface", solid->surface_parts);
  gz_json_close(writer);
  gz_json_open(writer, "box", '{');
  gz_json_doubles(writer, "min", facts->box.min, 3);
  gz_json_doubles(writer, "max", facts->box.max, 3);
  gz_json_close(writer);
  if (in->given) write_json_inside(writer, in);
  if (bounds) info_write_json_bounds(writer, bounds);
  gz_json_text(writer, "precision", precision_name(facts));
  gz_json_text(writer, "volumes", volumes_name(facts));
  gz_json_integer(writer, "bytes", facts->bytes);
  gz_json_hash(writer, "hash", facts->hash);
  gz_json_close(writer);
}

static void write_json(output *out, const session *run, const graze_report *all, const info_options *info) {
  gz_json writer = gz_json_begin_result(out);
  gz_json_text(&writer, "engine", "cpu");
  gz_json_text(&writer, "status", "complete");
  gz_json_open(&writer, "meshes", '[');
  for (uint32_t i = 0; i < all->object_count; i++) {
    const inside in = info->mass ? find_inside(run, &all->objects[i]) : (inside){0};
    graze_bounds bounds;
    write_json_mesh(&writer, &all->objects[i], &in, find_bounds(run, info, &all->objects[i], &bounds));
  }
  gz_json_close(&writer);
  gz_json_open(&writer, "seconds", '{');
  gz_json_double(&writer, "load", run->load_seconds);
  gz_json_double(&writer, "build", run->build_seconds);
  gz_json_close(&writer);
  gz_json_end(&writer);
}

static void write_csv(output *out, const session *run, const graze_report *all, const info_options *info) {
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
                                         {"winding_parts", false},
                                         {"parity_parts", false},
                                         {"surface_parts", false},
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
  (void)info;
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
    const graze_solid_facts *solid = all->objects[i].solid;
    table_integer(&rows, solid->winding_parts);
    table_integer(&rows, solid->parity_parts);
    table_integer(&rows, solid->surface_parts);
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

static void write_text_numbers(output *out, const char *name, const double *numbers, int count) {
  output_print(out, "  %-18s ", name);
  for (int k = 0; k < count; k++) {
    gz_put_text(out, k == 0 ? "(" : ", ");
    gz_put_double(out, numbers[k]);
  }
  gz_put_text(out, ")\n");
}

static void write_text_inside(output *out, const inside *in) {
  if (in->reason) {
    output_print(out, "  mass               none: %s\n", in->reason);
    return;
  }
  gz_put_text(out, "  volume             ");
  gz_put_double(out, in->mass.volume);
  gz_put_text(out, "\n");
  write_text_numbers(out, "centre of mass", in->mass.center, 3);
  write_text_numbers(out, "inertia", in->mass.inertia, 6);
  write_text_numbers(out, "principal moments", in->moments, 3);
}

static void write_text_mesh(output *out, const graze_report_object *object, const inside *in,
                            const graze_bounds *bounds) {
  const graze_mesh_facts *facts = object->facts;
  const graze_solid_facts *solid = object->solid;
  output_print(out, "%s\n", object->file);
  output_print(out, "  triangles          %" PRIu64 ", of zero area %" PRIu64 "\n", facts->triangles,
               facts->degenerate);
  output_print(out, "  vertices           %" PRIu64 " at %" PRIu64 " positions\n", facts->vertices, facts->positions);
  output_print(out, "  parts              %" PRIu64 "\n", facts->parts);
  output_print(out, "  closed             %s, open edges %" PRIu64 ", edges of three or more %" PRIu64 "\n",
               yes_no(facts->closed), facts->open_edges, facts->nonmanifold_edges);
  output_print(out, "  oriented           %s, misoriented edges %" PRIu64 "\n", yes_no(facts->oriented),
               facts->misoriented_edges);
  output_print(
      out, "  solid              parts by winding number %" PRIu32 ", by parity %" PRIu32 ", surfaces %" PRIu32 "\n",
      solid->winding_parts, solid->parity_parts, solid->surface_parts);
  if (facts->triangles > 0) write_text_box(out, &facts->box);
  if (in->given) write_text_inside(out, in);
  if (bounds) info_write_text_bounds(out, bounds);
  output_print(out, "  kept as            %s, %s volumes, %" PRIu64 " bytes\n", precision_name(facts),
               volumes_name(facts), facts->bytes);
  output_print(out, "  hash               %016" PRIx64 "\n", facts->hash);
}

static void write_text(output *out, const session *run, const graze_report *all, const info_options *info) {
  for (uint32_t i = 0; i < all->object_count; i++) {
    const inside in = info->mass ? find_inside(run, &all->objects[i]) : (inside){0};
    graze_bounds bounds;
    write_text_mesh(out, &all->objects[i], &in, find_bounds(run, info, &all->objects[i], &bounds));
  }
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};

const struct argp info_argp = {.options = options,
                               .parser = parse_info,
                               .children = children,
                               .args_doc = "MESH...",
                               .doc =
                                   "Shows facts about meshes: counts, holes, orientation, box, mass, hash."
                                   "\vExit: 0 all were read, 2 usage error, 3 bad input."};

int command_info(int argc, char **argv) {
  info_options info = {.def = graze_default_check_def()};
  info.def.allow_empty = true; /* a fact like others */
  session run;
  options_parse(&info_argp, argc, argv, &info, &info.common);
  output *out = output_open(info.common.output);
  session_begin(&run, &info.common);
  graze_check *check = session_open_meshes(&run, &info.files, &info.def);
  static void (*const writers[])(output *, const session *, const graze_report *, const info_options *) = {
      write_text, write_json, write_csv};
  writers[info.common.format](out, &run, graze_check_report(check), &info);
  output_close(out);
  graze_check_destroy(check);
  session_end(&run);
  return exit_clear;
}
