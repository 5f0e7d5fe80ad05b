/* graze check: every pair of objects that meets. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "diagnostics.h"
#include "graze/graze.h"
#include "json.h"
#include "load.h"
#include "options.h"
#include "output.h"
#include "table.h"
#include "verbs.h"

typedef struct check_options {
  common_options common;
  file_list files;
  graze_exactness exactness;
  bool pairs, all, split, is_scene;
} check_options;

enum { key_exactness = 1, key_pairs, key_all, key_split };

static const struct argp_option options[] = {
    {"exactness", key_exactness, "TIER", 0,
     "t0: coordinates as given, no poses; t1 (default): after the pose, each operation rounded once; t2: the "
     "real-number image",
     0},
    {"pairs", key_pairs, NULL, 0, "list the triangle pairs that meet", 0},
    {"all", key_all, NULL, 0, "list separate pairs of objects too", 0},
    {"split", key_split, NULL, 0, "make an object of each group (OBJ 'o' record, STL solid) of a mesh file", 0},
    {0}};

static const char *const exactness_names[] = {"t1", "t0", "t2", NULL}; /* in the order of graze_exactness */

static bool has_ending(const char *path, const char *ending) {
  size_t length = strlen(path), wanted = strlen(ending);
  return length > wanted && strcasecmp(path + length - wanted, ending) == 0;
}

static bool is_scene_file(const char *path) {
  return has_ending(path, ".json");
}

/* By its name one mesh, not an assembly. */
static bool is_mesh_file(const char *path) {
  return has_ending(path, ".obj") || has_ending(path, ".stl") || has_ending(path, ".ply") || has_ending(path, ".off");
}

static void take_files(check_options *check, struct argp_state *state) {
  check->files = options_files(state, 1, UINT32_MAX);
  for (uint32_t i = 0; i < check->files.count; i++) check->is_scene |= is_scene_file(check->files.names[i]);
  if (check->is_scene && check->files.count > 1) argp_error(state, "a scene stands alone: no other files beside it");
  if (check->is_scene && check->split) argp_error(state, "--split is for mesh files");
  if (!check->is_scene && !check->split && check->files.count < 2 && is_mesh_file(check->files.names[0]))
    argp_error(state, "two meshes or more are needed; `graze self' checks one against itself");
}

static error_t parse_check(int key, char *argument, struct argp_state *state) {
  check_options *check = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &check->common;
      break;
    case key_exactness:
      check->exactness = (graze_exactness)options_choice(state, "exactness", argument, exactness_names);
      break;
    case key_pairs:
      check->pairs = true;
      break;
    case key_all:
      check->all = true;
      break;
    case key_split:
      check->split = true;
      break;
    case ARGP_KEY_ARGS:
      take_files(check, state);
      break;
    case ARGP_KEY_NO_ARGS:
      argp_error(state, "a scene or two meshes are needed");
      break;
    default:
      return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

/* ---- progress ---------------------------------------------------------------------------------------------- */

typedef struct progress_line {
  bool shown;
  double next;
} progress_line;

static bool show_progress(void *user, uint64_t done, uint64_t total) {
  progress_line *line = user;
  double now = clock_seconds();
  if (line->shown && now >= line->next) {
    fprintf(stderr, "\rchecking %" PRIu64 " of %" PRIu64 " pairs of objects", done, total);
    line->next = now + 0.2;
  }
  return !interrupts_came();
}

/* ---- the scene --------------------------------------------------------------------------------------------- */

static graze_scene *build_scene(session *run, const model *all) {
  graze_scene *scene = NULL;
  graze_object_id *ids = malloc((all->object_count + 1) * sizeof *ids);
  if (!ids) fail_out_of_memory();
  graze_status status = graze_scene_create(run->context, &scene);
  for (uint32_t i = 0; i < all->object_count && status == GRAZE_OK; i++) {
    graze_object_def def = graze_default_object_def();
    def.mesh = all->meshes[all->objects[i].mesh].mesh;
    def.pose = all->objects[i].pose;
    def.name = all->objects[i].name;
    def.layer = all->objects[i].layer;
    def.user_id = i;
    status = graze_scene_add(scene, &def, &ids[i]);
    if (status != GRAZE_OK) session_fail(run, def.name, status);
  }
  for (uint32_t i = 0; i < all->file.ignore_count && status == GRAZE_OK; i++)
    status = graze_scene_ignore(scene, ids[all->file.ignore[i][0]], ids[all->file.ignore[i][1]]);
  for (uint32_t i = 0; i < all->file.ignore_layer_count && status == GRAZE_OK; i++)
    status = graze_scene_ignore_layers(scene, all->file.ignore_layers[i][0], all->file.ignore_layers[i][1]);
  if (status != GRAZE_OK) session_fail(run, NULL, status);
  free(ids);
  return scene;
}

/* False when it was cancelled: `result` then has what was finished. */
static bool run_check(session *run, graze_scene *scene, const check_options *check, graze_check_result *result) {
  progress_line line = {.shown = !check->common.quiet && isatty(STDERR_FILENO)};
  graze_check_options ask = graze_default_check_options();
  ask.find = check->pairs ? GRAZE_FIND_ALL : GRAZE_FIND_COUNT;
  ask.exactness = check->exactness;
  ask.all_pairs = check->all;
  ask.progress = show_progress;
  ask.progress_user = &line;
  memset(result, 0, sizeof *result);
  double start = clock_seconds();
  graze_status status = interrupts_came() ? GRAZE_CANCELLED : graze_scene_check(scene, &ask, result);
  clock_add(&run->query_seconds, start);
  if (line.next > 0) fputs("\r\033[K", stderr);
  if (status != GRAZE_OK && status != GRAZE_CANCELLED) session_fail(run, NULL, status);
  return status == GRAZE_OK;
}

/* ---- reports ----------------------------------------------------------------------------------------------- */

typedef struct check_report {
  const check_options *options;
  const session *run;
  const model *all;
  const graze_check_result *result;
  bool complete;
} check_report;

static const char *name_of(const check_report *report, uint64_t user_id) {
  return report->all->objects[user_id].name;
}

static void write_json_object(json *writer, const check_report *report, const model_object *object) {
  const model_mesh *mesh = &report->all->meshes[object->mesh];
  json_open_object(writer);
  json_key_string(writer, "name", object->name);
  json_key_string(writer, "mesh", mesh->path);
  json_key_integer(writer, "triangles", mesh->facts.triangles);
  json_key_integer(writer, "degenerate", mesh->facts.degenerate);
  json_key_bool(writer, "closed", mesh->facts.closed && mesh->facts.oriented);
  json_close_object(writer);
}

static void write_json_pair(json *writer, const check_report *report, const graze_object_pair *pair) {
  json_open_object(writer);
  json_key_string(writer, "a", name_of(report, pair->user_id_a));
  json_key_string(writer, "b", name_of(report, pair->user_id_b));
  json_key_string(writer, "relation", graze_relation_string(pair->relation));
  json_key_integer(writer, "triangle_pairs", pair->counts.triangle_pairs);
  json_key_integer(writer, "points", pair->counts.points);
  json_key_integer(writer, "segments", pair->counts.segments);
  json_key_integer(writer, "areas", pair->counts.areas);
  json_key_integer(writer, "coplanar", pair->counts.coplanar);
  json_key_integer(writer, "degenerate", pair->counts.degenerate);
  json_key_hash(writer, "hash", pair->counts.hash);
  if (report->options->pairs) {
    json_key(writer, "triangles");
    json_open_array(writer);
    for (uint64_t i = 0; pair->pairs && i < pair->counts.triangle_pairs; i++)
      json_pair(writer, pair->pairs[i].a, pair->pairs[i].b);
    json_close_array(writer);
  }
  json_close_object(writer);
}

static void write_json(output *out, const check_report *report) {
  json writer = json_begin(out);
  json_open_object(&writer);
  json_key_string(&writer, "graze", graze_version());
  json_key_string(&writer, "engine", "cpu");
  json_key_string(&writer, "exactness", exactness_names[report->options->exactness]);
  json_key_string(&writer, "status", report->complete ? "complete" : "incomplete");
  json_key(&writer, "objects");
  json_open_array(&writer);
  for (uint32_t i = 0; i < report->all->object_count; i++) write_json_object(&writer, report, &report->all->objects[i]);
  json_close_array(&writer);
  json_key(&writer, "pairs");
  json_open_array(&writer);
  for (uint64_t i = 0; i < report->result->pair_count; i++) write_json_pair(&writer, report, &report->result->pairs[i]);
  json_close_array(&writer);
  json_key(&writer, "counts");
  json_open_object(&writer);
  json_key_integer(&writer, "objects", report->all->object_count);
  json_key_integer(&writer, "object_pairs", report->result->object_pairs);
  json_key_integer(&writer, "clashes", report->result->clashes);
  json_close_object(&writer);
  json_key(&writer, "seconds");
  json_open_object(&writer);
  json_key_double(&writer, "load", report->run->load_seconds);
  json_key_double(&writer, "build", report->run->build_seconds);
  json_key_double(&writer, "query", report->run->query_seconds);
  json_close_object(&writer);
  json_close_object(&writer);
  json_end(&writer);
}

static table pair_table(const check_report *report) {
  static const table_column columns[] = {
      {"a", true},         {"b", true},      {"relation", true},  {"triangle_pairs", false}, {"points", false},
      {"segments", false}, {"areas", false}, {"coplanar", false}, {"degenerate", false},     {"hash", false}};
  table rows = table_begin(columns, sizeof columns / sizeof columns[0]);
  for (uint64_t i = 0; i < report->result->pair_count; i++) {
    const graze_object_pair *pair = &report->result->pairs[i];
    table_text(&rows, name_of(report, pair->user_id_a));
    table_text(&rows, name_of(report, pair->user_id_b));
    table_text(&rows, graze_relation_string(pair->relation));
    table_integer(&rows, pair->counts.triangle_pairs);
    table_integer(&rows, pair->counts.points);
    table_integer(&rows, pair->counts.segments);
    table_integer(&rows, pair->counts.areas);
    table_integer(&rows, pair->counts.coplanar);
    table_integer(&rows, pair->counts.degenerate);
    table_hex(&rows, pair->counts.hash);
  }
  return rows;
}

/* One row for each pair of triangles. */
static void write_csv_triangles(output *out, const check_report *report) {
  output_text(out, "a,b,triangle_a,triangle_b\n");
  for (uint64_t i = 0; i < report->result->pair_count; i++) {
    const graze_object_pair *pair = &report->result->pairs[i];
    for (uint64_t j = 0; pair->pairs && j < pair->counts.triangle_pairs; j++) {
      write_csv_field(out, name_of(report, pair->user_id_a));
      output_text(out, ",");
      write_csv_field(out, name_of(report, pair->user_id_b));
      output_text(out, ",");
      output_integer(out, pair->pairs[j].a);
      output_text(out, ",");
      output_integer(out, pair->pairs[j].b);
      output_text(out, "\n");
    }
  }
}

/* Only of complete checks: a table cut short would look like a whole one. */
static void write_csv(output *out, const check_report *report) {
  if (report->options->pairs) {
    write_csv_triangles(out, report);
    return;
  }
  table rows = pair_table(report);
  table_write_csv(&rows, out);
  table_free(&rows);
}

static const char *plural(uint64_t count) {
  return count == 1 ? "" : "s";
}

static void write_verdict(output *out, const check_report *report) {
  const graze_check_result *result = report->result;
  uint64_t triangles = 0, meeting = 0;
  for (uint32_t i = 0; i < report->all->object_count; i++)
    triangles += report->all->meshes[report->all->objects[i].mesh].facts.triangles;
  for (uint64_t i = 0; i < result->pair_count; i++) meeting += result->pairs[i].counts.triangle_pairs;
  if (!report->complete)
    output_text(out, "INCOMPLETE, stopped before every pair was checked: ");
  else if (result->clashes == 0)
    output_text(out, "clear: ");
  if (result->clashes == 0)
    output_text(out, "no clash");
  else
    output_print(out, "%" PRIu64 " clash%s", result->clashes, result->clashes == 1 ? "" : "es");
  output_print(out, " %s %" PRIu64 " pair%s of objects", report->complete ? "among" : "so far among",
               result->object_pairs, plural(result->object_pairs));
  if (result->clashes > 0) output_print(out, ", %" PRIu64 " triangle pair%s", meeting, plural(meeting));
  output_print(out, " (%" PRIu32 " object%s, %" PRIu64 " triangles", report->all->object_count,
               plural(report->all->object_count), triangles);
  if (result->ignored_pairs > 0)
    output_print(out, ", %" PRIu64 " pair%s ignored", result->ignored_pairs, plural(result->ignored_pairs));
  output_print(out, "; cpu, %s, %.3f s)\n", exactness_names[report->options->exactness],
               report->run->load_seconds + report->run->build_seconds + report->run->query_seconds);
}

static void write_text(output *out, const check_report *report) {
  if (report->result->pair_count > 0) {
    table rows = pair_table(report);
    table_write_text(&rows, out);
    table_free(&rows);
    output_text(out, "\n");
  }
  for (uint64_t i = 0; report->options->pairs && i < report->result->pair_count; i++) {
    const graze_object_pair *pair = &report->result->pairs[i];
    if (pair->counts.triangle_pairs == 0) continue;
    output_print(out, "%s %s\n", name_of(report, pair->user_id_a), name_of(report, pair->user_id_b));
    for (uint64_t j = 0; pair->pairs && j < pair->counts.triangle_pairs; j++)
      output_print(out, "  %" PRIu32 " %" PRIu32 "\n", pair->pairs[j].a, pair->pairs[j].b);
    output_text(out, "\n");
  }
  write_verdict(out, report);
}

int command_check(int argc, char **argv) {
  static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};
  static const struct argp argp = {
      .options = options,
      .parser = parse_check,
      .children = children,
      .args_doc = "SCENE.json\nASSEMBLY\nFILE FILE...",
      .doc =
          "Finds every pair of objects whose surfaces meet. Objects come from a scene or an assembly (glTF, GLB, and "
          "with assimp COLLADA, 3MF, FBX and more), or each mesh file (OBJ, STL, PLY, OFF) is one."
          "\vExit: 0 nothing meets, 1 something does, 2 wrong usage, 3 bad input or not everything checked."};
  check_options check = {.exactness = GRAZE_T1};
  session run;
  model all;
  graze_check_result result;
  options_parse(&argp, argc, argv, &check, &check.common);
  output *out = output_open(check.common.output);
  session_begin(&run, &check.common);
  if (check.is_scene)
    model_load_scene(&run, &all, check.files.names[0]);
  else
    model_load_files(&run, &all, &check.files, check.split);
  interrupts_ask();
  graze_scene *scene = build_scene(&run, &all);
  bool complete = run_check(&run, scene, &check, &result);
  const check_report report = {&check, &run, &all, &result, complete};
  if (complete || check.common.format != format_csv) {
    static void (*const writers[])(output *, const check_report *) = {write_text, write_json, write_csv};
    writers[check.common.format](out, &report);
    output_close(out);
  }
  graze_scene_destroy(scene);
  model_free(&all);
  session_end(&run);
  if (!complete) fail("interrupted; not every pair was checked");
  return result.clashes > 0 ? exit_found : exit_clear;
}
