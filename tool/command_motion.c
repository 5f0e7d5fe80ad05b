/* graze motion: a mesh that moves from one file's vertices to another's, against itself. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "diagnostics.h"
#include "graze/graze.h"
#include "graze/io.h"
#include "motion_particles.h"
#include "output.h"
#include "scene_options.h"
#include "session.h"
#include "verbs.h"

typedef struct motion_options {
  common_options common;
  graze_check_def def;
  const char *particles; /* NULL: there are two frames */
  bool pairs;
} motion_options;

enum { key_pairs = 1, key_particles };

static const struct argp_option options[] = {
    {"pairs", key_pairs, NULL, 0, "list the pairs of features", 0},
    {"particles", key_particles, "FILE", 0,
     "what points and balls that fly straight hit first: FILE has the columns x,y,z and any of r,x1,y1,z1, their "
     "radius and where they end",
     0},
    {0}};

/* Options that are for scenes alone, or for neither. */
static void check_together(struct argp_state *state, const motion_options *motion) {
  const graze_check_def none = graze_default_check_def(), *def = &motion->def;
  if (def->exactness != none.exactness || def->open != none.open)
    argp_error(state, "motion takes neither --exactness nor --open");
  if (motion->particles) {
    if (motion->pairs) argp_error(state, "--particles takes no --pairs");
    return;
  }
  if (def->file_count != 2) argp_error(state, def->file_count < 2 ? "a file is missing" : "too many files");
  if (def->units || def->file_units || def->cache || def->allow_empty || def->up != none.up ||
      (def->reading & ~(unsigned)GRAZE_READ_STRICT) != 0)
    argp_error(state, "of the options for scenes, two frames take --strict only");
}

static error_t parse_motion(int key, char *argument, struct argp_state *state) {
  motion_options *motion = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &motion->common;
      state->child_inputs[1] = &motion->def;
      return 0;
    case key_pairs:
      motion->pairs = true;
      return 0;
    case key_particles:
      motion->particles = argument;
      return 0;
    case ARGP_KEY_ARGS:
      scene_take_files(state, &motion->def);
      return 0;
    case ARGP_KEY_NO_ARGS:
      argp_error(state, motion->particles ? "a scene or a mesh is needed"
                                          : "two files are needed: the mesh at t = 0 and at t = 1");
      return 0;
    case ARGP_KEY_END:
      check_together(state, motion);
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

/* ---- the two frames ------------------------------------------------------------------------------------------- */

static void read_frame(session *run, const motion_options *asked, uint32_t i, graze_geometry *frame) {
  const char *path = asked->def.files[i];
  graze_status status = graze_read_geometry(run->context, path, GRAZE_FORMAT_AUTO, asked->def.reading, frame);
  if (status != GRAZE_OK) session_fail(run, path, status);
}

/* One topology: the message names the first difference. */
static void check_frames(const char *const *names, const graze_geometry *start, const graze_geometry *end) {
  if (start->vertex_count != end->vertex_count) {
    fail("%s has %" PRIu64 " vertices, and %s has %" PRIu64, names[0], start->vertex_count, names[1],
         end->vertex_count);
  }
  if (start->triangle_count != end->triangle_count) {
    fail("%s has %" PRIu64 " triangles, and %s has %" PRIu64, names[0], start->triangle_count, names[1],
         end->triangle_count);
  }
  for (uint64_t i = 0; i < 3 * start->triangle_count; i++) {
    if (start->indices[i] == end->indices[i]) continue;
    fail("%s: triangle %" PRIu64 " has other vertices than in %s", names[1], i / 3, names[0]);
  }
  if (start->triangle_count == 0) fail("%s: it has no triangles", names[0]);
  if (start->vertex_count > UINT32_MAX || start->triangle_count > UINT32_MAX) fail("%s: it is too large", names[0]);
}

/* ---- output --------------------------------------------------------------------------------------------------- */

static void write_json_list(gz_json *json, const char *name, const graze_feature_pair *pairs, uint64_t count) {
  gz_json_open(json, name, '[');
  for (uint64_t i = 0; i < count; i++) gz_json_pair(json, pairs[i].a, pairs[i].b);
  gz_json_close(json);
}

static void write_json(output *out, const session *run, const graze_ccd_mesh *motion, const graze_ccd_pairs *result,
                       bool pairs) {
  gz_json json = gz_json_begin_result(out);
  gz_json_text(&json, "engine", "cpu");
  gz_json_text(&json, "status", "complete");
  gz_json_integer(&json, "vertices", motion->vertex_count);
  gz_json_integer(&json, "edges", result->edge_count);
  gz_json_integer(&json, "triangles", motion->triangle_count);
  gz_json_integer(&json, "vf", result->vertex_face_count);
  gz_json_integer(&json, "ee", result->edge_edge_count);
  gz_json_hash(&json, "vf_hash", result->vertex_face_hash);
  gz_json_hash(&json, "ee_hash", result->edge_edge_hash);
  if (result->vertex_face_count + result->edge_edge_count > 0) {
    gz_json_open(&json, "first", '[');
    gz_json_double(&json, NULL, result->earliest);
    gz_json_double(&json, NULL, result->latest);
    gz_json_close(&json);
  }
  if (pairs) {
    write_json_list(&json, "vf_list", result->vertex_face_pairs, result->vertex_face_count);
    write_json_list(&json, "ee_list", result->edge_edge_pairs, result->edge_edge_count);
  }
  gz_json_open(&json, "seconds", '{');
  gz_json_double(&json, "load", run->load_seconds);
  gz_json_double(&json, "query", run->query_seconds);
  gz_json_close(&json);
  gz_json_end(&json);
}

static void write_csv(output *out, const graze_ccd_pairs *result) {
  gz_put_text(out, "kind,a,b\n");
  for (uint64_t i = 0; i < result->vertex_face_count; i++) {
    output_print(out, "vf,%" PRIu32 ",%" PRIu32 "\n", result->vertex_face_pairs[i].a, result->vertex_face_pairs[i].b);
  }
  for (uint64_t i = 0; i < result->edge_edge_count; i++) {
    output_print(out, "ee,%" PRIu32 ",%" PRIu32 "\n", result->edge_edge_pairs[i].a, result->edge_edge_pairs[i].b);
  }
}

static void write_text(output *out, const graze_ccd_mesh *motion, const graze_ccd_pairs *result, bool pairs) {
  output_print(out, "%" PRIu32 " vertices, %" PRIu32 " edges, %" PRIu32 " triangles\n", motion->vertex_count,
               result->edge_count, motion->triangle_count);
  output_print(out, "%" PRIu64 " pair%s of a vertex and a face meet, %" PRIu64 " of two edges\n",
               result->vertex_face_count, plural(result->vertex_face_count), result->edge_edge_count);
  if (result->vertex_face_count + result->edge_edge_count == 0) return;
  const bool is_double = result->earliest == result->latest;
  gz_put_text(out, is_double ? "the first at t = " : "the first between t = ");
  gz_put_double(out, result->earliest);
  if (!is_double) {
    gz_put_text(out, " and ");
    gz_put_double(out, result->latest);
  }
  gz_put_text(out, "\n");
  if (pairs) write_csv(out, result);
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {&scene_argp, 0, NULL, 0}, {0}};

const struct argp motion_argp = {
    .options = options,
    .parser = parse_motion,
    .children = children,
    .args_doc = "FRAME0 FRAME1\n--particles FILE SCENE.json|ASSEMBLY|MESH...",
    .doc =
        "Which vertices and faces, and which edges, of a mesh meet while every vertex moves straight from its place in "
        "FRAME0 to that in FRAME1, two files with the same triangles. Vertices and triangles are numbered from 0 in "
        "file order; edges by their higher vertex, then by the lower one. With --particles: which object and triangle "
        "of a scene that stands still each particle meets first, and when."
        "\vFeatures that share a vertex, or have vertices that are in one place in both frames, are left out.\n\n"
        "Exit: 0 nothing meets, 1 something does, 2 usage error, 3 bad input."};

int command_motion(int argc, char **argv) {
  motion_options asked = {.def = graze_default_check_def()};
  options_parse(&motion_argp, argc, argv, &asked, &asked.common);
  if (asked.particles) return motion_fly_particles(asked.particles, &asked.def, &asked.common);
  session run;
  session_begin(&run, &asked.common);
  graze_geometry start, end;
  double began = clock_now();
  read_frame(&run, &asked, 0, &start);
  read_frame(&run, &asked, 1, &end);
  check_frames(asked.def.files, &start, &end);
  clock_add(&run.load_seconds, began);
  graze_ccd_mesh motion = {start.vertices, end.vertices, start.indices, (uint32_t)start.vertex_count,
                           (uint32_t)start.triangle_count};
  graze_ccd_pairs result;
  const bool list = asked.pairs || asked.common.format == format_csv;
  began = clock_now();
  graze_status status = graze_ccd_self(run.context, &motion, list, &result);
  if (status != GRAZE_OK) session_fail(&run, asked.def.files[0], status);
  clock_add(&run.query_seconds, began);
  output *out = output_open(asked.common.output);
  if (asked.common.format == format_json) write_json(out, &run, &motion, &result, asked.pairs);
  if (asked.common.format == format_csv) write_csv(out, &result);
  if (asked.common.format == format_text) write_text(out, &motion, &result, asked.pairs);
  output_close(out);
  const bool found = result.vertex_face_count + result.edge_edge_count > 0;
  graze_ccd_pairs_free(&result);
  graze_geometry_free(&start);
  graze_geometry_free(&end);
  session_end(&run);
  return found ? exit_found : exit_clear;
}
