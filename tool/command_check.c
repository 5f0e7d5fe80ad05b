/* graze check: how every pair of objects lies to each other. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "check.h"
#include "diagnostics.h"
#include "verbs.h"

enum {
  key_exactness = 1,
  key_pairs,
  key_all,
  key_split,
  key_curves,
  key_open,
  key_relations,
  key_units,
  key_title,
  key_set,
  key_between,
  key_within,
  key_ignore_names,
  key_ignore_layers,
  key_same_parent,
  key_report,
  key_pictures,
  key_previous,
  key_marks,
  key_cache
};

static const struct argp_option options[] = {
    {"exactness", key_exactness, "TIER", 0,
     "t0: coordinates as given, no poses; t1 (default): after the pose, each operation rounded once; t2: the "
     "real-number image",
     1},
    {"open", key_open, "RULE", 0,
     "how to treat meshes with holes: unknown (default): the relation of whatever may be inside is unknown; surface: "
     "they have no inside",
     1},
    {"units", key_units, "UNITS", 0,
     "work in m, mm, cm, in or ft: files that state their units are converted, others are assumed to be in UNITS", 1},
    {"cache", key_cache, "FOLDER", 0,
     "keep baked meshes in FOLDER, so that the next check of the same meshes starts sooner", 1},
    {"split", key_split, NULL, 0, "make each group of a mesh file (OBJ 'o' record, STL solid) an object", 1},
    {0, 0, 0, 0, "Which pairs:", 2},
    {"set", key_set, "NAME=PATTERN", 0,
     "name a set of objects: those whose name matches the shell pattern or, with layer:PATTERN, whose layer does; "
     "repeat to add to it",
     2},
    {"between", key_between, "SET SET", 0, "only check pairs with an object in each set", 2},
    {"within", key_within, "SET", 0, "only check pairs within the set", 2},
    {"ignore-names", key_ignore_names, "PATTERN PATTERN", 0, "skip pairs of objects that match the two patterns", 2},
    {"ignore-layers", key_ignore_layers, "LAYER LAYER", 0, "skip pairs of objects on the two layers", 2},
    {"ignore-same-parent", key_same_parent, NULL, 0, "skip pairs whose names have the same path before the last '/'",
     2},
    {0, 0, 0, 0, "What is reported:", 3},
    {"relations", key_relations, "LIST", 0,
     "report only these relations, for example cross,duplicate (default: all but separate): separate, touch, cross, "
     "a_in_b, b_in_a, duplicate, unknown",
     3},
    {"all", key_all, NULL, 0, "also list separate pairs", 3},
    {"pairs", key_pairs, NULL, 0, "list the triangle pairs that meet", 3},
    {"curves", key_curves, NULL, 0, "with JSON: include the curves in which surfaces meet", 3},
    {"report", key_report, "FOLDER", 0, "write a report: index.html, pictures, JSON, CSV, BCF 2.1 and JUnit XML", 3},
    {"title", key_title, "TEXT", 0, "title of the report (default: the file's name)", 3},
    {"pictures", key_pictures, "N", 0, "draw the first N clashes (default 1000)", 3},
    {"previous", key_previous, "FILE", 0,
     "compare with an earlier report (JSON): clashes are new, active or resolved, marks and comments are kept, and "
     "pairs of unchanged objects are not checked again",
     3},
    {"marks", key_marks, "FILE", 0,
     "a table of id, mark (reviewed, approved) and comment for the clashes of --previous", 3},
    {0}};

typedef struct check_input {
  check_options options;
  rules selection;
} check_input;

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
  if (check->all) check->relations |= 1u << GRAZE_SEPARATE;
  check->files = options_files(state, 1, UINT32_MAX);
  for (uint32_t i = 0; i < check->files.count; i++) check->is_scene |= is_scene_file(check->files.names[i]);
  if (check->is_scene && check->files.count > 1) argp_error(state, "a scene stands alone: no other files beside it");
  if (check->is_scene && check->split) argp_error(state, "--split is for mesh files");
  if (check->all && check->folder) argp_error(state, "separate pairs (--all) are not for reports");
  if (check->pictures_text && !check->folder) argp_error(state, "--pictures needs --report");
  if (check->curves && check->common.format != format_json) argp_error(state, "--curves is for --format json");
  if (check->marks && !check->previous) argp_error(state, "--marks needs --previous");
  if (!check->is_scene && !check->split && check->files.count < 2 && is_mesh_file(check->files.names[0]))
    argp_error(state, "two meshes or more are needed; `graze self' checks one against itself");
}

/* Bits of the relations in a list with commas. */
static unsigned parse_relations(struct argp_state *state, char *list) {
  unsigned bits = 0;
  for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
    int r = 0;
    while (r <= GRAZE_UNKNOWN && strcmp(graze_relation_string((graze_relation)r), word) != 0) r++;
    if (r > GRAZE_UNKNOWN || r == GRAZE_CLEARANCE) argp_error(state, "--relations: '%s' is no relation", word);
    bits |= 1u << r;
  }
  if (bits == 0) argp_error(state, "--relations: the list is empty");
  return bits;
}

static error_t parse_selection(check_input *in, int key, char *argument, struct argp_state *state) {
  const char *second = NULL;
  switch (key) {
    case key_set:
      rules_add_set(&in->selection, state, argument);
      return 0;
    case key_between:
      second = rules_next_argument(state, "between");
      rules_add_only(&in->selection, state, argument, second);
      return 0;
    case key_within:
      rules_add_only(&in->selection, state, argument, argument);
      return 0;
    case key_ignore_names:
      rules_add_ignored_names(&in->selection, argument, rules_next_argument(state, "ignore-names"));
      return 0;
    case key_ignore_layers:
      second = rules_next_argument(state, "ignore-layers");
      if (argument[0] == '\0' || second[0] == '\0') argp_error(state, "--ignore-layers: a layer has no name");
      rules_add_ignored_layers(&in->selection, argument, second);
      return 0;
    case key_same_parent:
      rules_add_same_parent(&in->selection);
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse_reporting(check_options *check, int key, char *argument, struct argp_state *state) {
  switch (key) {
    case key_relations:
      check->relations = parse_relations(state, argument);
      check->all |= (check->relations & 1u << GRAZE_SEPARATE) != 0;
      return 0;
    case key_pairs:
      check->pairs = true;
      return 0;
    case key_all:
      check->all = true;
      return 0;
    case key_curves:
      check->curves = true;
      return 0;
    case key_report:
      check->folder = argument;
      if (*argument == 0) argp_error(state, "--report: the folder has no name");
      return 0;
    case key_title:
      check->title = argument;
      return 0;
    case key_pictures:
      check->pictures_text = argument;
      check->pictures = (uint32_t)options_number(state, "pictures", argument, 0, UINT32_MAX);
      return 0;
    case key_previous:
      check->previous = argument;
      return 0;
    case key_marks:
      check->marks = argument;
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse_check(int key, char *argument, struct argp_state *state) {
  static const char *const open_names[] = {"unknown", "surface", NULL};
  check_input *in = state->input;
  check_options *check = &in->options;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &check->common;
      return 0;
    case key_exactness:
      check->exactness = (graze_exactness)options_choice(state, "exactness", argument, check_exactness_names);
      return 0;
    case key_open:
      check->open = (graze_open_rule)options_choice(state, "open", argument, open_names);
      return 0;
    case key_units:
      check->units = unit_names[options_choice(state, "units", argument, unit_names)];
      return 0;
    case key_split:
      check->split = true;
      return 0;
    case key_cache:
      check->cache = argument;
      return 0;
    case ARGP_KEY_ARGS:
      take_files(check, state);
      return 0;
    case ARGP_KEY_NO_ARGS:
      argp_error(state, "a scene or two meshes are needed");
      return 0;
    default:
      if (parse_selection(in, key, argument, state) == 0) return 0;
      return parse_reporting(check, key, argument, state);
  }
}

/* ---- the check --------------------------------------------------------------------------------------------- */

static int finish(const check_print *print, output *out) {
  const check_record *record = print->record;
  bool complete = record->report.complete;
  if (complete || print->options->common.format != format_csv) {
    print_check(out, print);
    output_close(out);
  }
  if (print->options->folder) write_report_folder(print->options, record);
  if (!complete) fail("interrupted; not every pair was checked");
  return record_open_clashes(record) > 0 ? exit_found : exit_clear;
}

/* The whole of a check, once the command line is understood. */
static int check_all(check_input *in, output *out) {
  check_options *check = &in->options;
  session run;
  model all;
  check_record record;
  graze_scene_check_result result;
  session_begin(&run, &check->common);
  session_attach(&run, &check->common);
  run.cache = check->cache;
  run.lazy = check_is_lazy(check);
  run.hold = run.lazy && check->previous;
  earlier_report earlier;
  earlier_begin(&earlier, check);
  if (check->is_scene)
    model_load_scene(&run, &all, check->files.names[0], check->units);
  else
    model_load_files(&run, &all, &check->files, check->split, check->units);
  rules_prepare(&in->selection, &all);
  record_begin(&record, check, &all, &in->selection);
  record_read_previous(&record, check, &earlier);
  asking ask = {.selection = &in->selection};
  known_begin(&ask.known, check, &record);
  if (check->folder) make_report_folder(check->folder);
  interrupts_ask();
  graze_scene *scene = NULL;
  bool complete = check_scene(&run, &all, check, &ask, &record, &scene, &result);
  record_finish(&record, check, &run, &all, &in->selection, &result, &ask.known, complete);
  const check_print print = {check, &run, &all, &in->selection, &result, &record};
  int code = finish(&print, out);
  record_free(&record);
  known_free(&ask.known);
  graze_scene_destroy(scene);
  model_free(&all);
  session_end(&run);
  return code;
}

/* What is asked of every pair is a rule too: it decides what a report lists. */
static void add_rules_of_options(check_input *in) {
  if (check_leaves_out(&in->options)) rules_add_relations(&in->selection, in->options.relations);
  if (in->options.open == GRAZE_OPEN_SURFACE) rules_add_open(&in->selection);
}

int command_check(int argc, char **argv) {
  static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};
  static const struct argp argp = {
      .options = options,
      .parser = parse_check,
      .children = children,
      .args_doc = "SCENE.json\nASSEMBLY\nFILE FILE...",
      .doc =
          "Finds how every two objects relate: separate, touching, crossing, one inside the other, or duplicates. The "
          "objects are those of a scene or an assembly (glTF, GLB, and with assimp COLLADA, 3MF, FBX and more), or one "
          "for each mesh file (OBJ, STL, PLY, OFF)."
          "\vExit: 0 nothing to report, or all of it approved; 1 something to report; 2 usage error; 3 bad input, or "
          "not "
          "everything was checked."};
  check_input in = {
      .options = {
          .common = {.has_gpu = true}, .exactness = GRAZE_T1, .relations = ~(1u << GRAZE_SEPARATE), .pictures = 1000}};
  options_parse(&argp, argc, argv, &in, &in.options.common);
  add_rules_of_options(&in);
  output *out = output_open(in.options.common.output);
  int code = check_all(&in, out);
  rules_free(&in.selection);
  return code;
}
