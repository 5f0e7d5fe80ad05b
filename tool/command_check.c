/* graze check: how every pair of objects relates. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "check.h"
#include "diagnostics.h"
#include "verbs.h"

enum {
  key_relations = 1,
  key_pairs,
  key_all,
  key_curves,
  key_title,
  key_report,
  key_pictures,
  key_previous,
  key_marks,
  key_tolerance,
  key_clearance,
  key_depth
};

static const struct argp_option options[] = {
    {0, 0, 0, 0, "What is reported:", 30},
    {"relations", key_relations, "LIST", 0,
     "report only these relations, for example cross,duplicate (default: all but separate): separate, clearance, "
     "touch, "
     "cross, a_in_b, b_in_a, duplicate, unknown",
     30},
    {"clearance", key_clearance, "LENGTH", 0,
     "report objects that are nearer than LENGTH: a number in the check's units, or with its unit (25mm)", 30},
    {"tolerance", key_tolerance, "LENGTH", 0,
     "forgive touching, and overlaps that a proved translation no longer than LENGTH ends: a number in the check's "
     "units, or with its unit (2mm), or precision: what the precision of the files leaves open",
     30},
    {"depth", key_depth, NULL, 0,
     "with JSON or a report: how far the second object of each clash has to be moved out of the first, proved", 30},
    {"all", key_all, NULL, 0, "also list separate pairs", 30},
    {"pairs", key_pairs, NULL, 0, "list the triangle pairs that meet", 30},
    {"curves", key_curves, NULL, 0, "with JSON: include the curves in which surfaces meet", 30},
    {"report", key_report, "FOLDER", 0, "write a report: index.html, pictures, JSON, CSV, BCF 2.1 and JUnit XML", 30},
    {"title", key_title, "TEXT", 0,
     "title of the report (default: the name of the file, or of the folder of a scene.json)", 30},
    {"pictures", key_pictures, "N", 0, "draw the first N clashes (default 1000)", 30},
    {"previous", key_previous, "FILE", 0,
     "compare with an earlier report (JSON): clashes are new, active or resolved, marks and comments are kept, and "
     "pairs of unchanged objects are not checked again",
     30},
    {"marks", key_marks, "FILE", 0,
     "a table of id, mark (reviewed, approved) and comment for the clashes of --previous", 30},
    {0}};

static void fail_relation(struct argp_state *state, const char *word) {
  const char *names[GRAZE_UNKNOWN + 2] = {NULL};
  for (int r = 0; r <= GRAZE_UNKNOWN; r++) names[r] = graze_relation_string((graze_relation)r);
  argp_error(state, "--relations: '%s' is no relation%s", word, gz_did_you_mean_one_of(word, names).text);
}

/* Bits of the relations in a list with commas. */
static unsigned parse_relations(struct argp_state *state, char *list) {
  unsigned bits = 0;
  for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
    int r = 0;
    while (r <= GRAZE_UNKNOWN && strcmp(graze_relation_string((graze_relation)r), word) != 0) r++;
    if (r > GRAZE_UNKNOWN) fail_relation(state, word);
    bits |= 1u << r;
  }
  if (bits == 0) argp_error(state, "--relations: the list is empty");
  return bits;
}

static void check_together(const check_options *check, struct argp_state *state) {
  if (check->all && check->def.folder) argp_error(state, "separate pairs (--all) are not for reports");
  if (check->pictures_given && !check->def.folder) argp_error(state, "--pictures needs --report");
  if (check->curves && check->common.format != format_json) argp_error(state, "--curves is for --format json");
  if (check->def.marks && !check->def.previous) argp_error(state, "--marks needs --previous");
}

static error_t parse_check(int key, char *argument, struct argp_state *state) {
  check_options *check = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &check->common;
      state->child_inputs[1] = &check->def;
      state->child_inputs[2] = &check->rules;
      state->child_inputs[3] = &check->common;
      state->child_inputs[4] = &check->rules;
      return 0;
    case key_relations:
      check->def.relations = parse_relations(state, argument);
      check->all |= (check->def.relations & 1u << GRAZE_SEPARATE) != 0;
      return 0;
    case key_clearance:
      options_length(state, "clearance", argument);
      check->def.clearance = argument;
      return 0;
    case key_tolerance:
      if (strcmp(argument, "precision") != 0) options_length(state, "tolerance", argument);
      check->def.tolerance = argument;
      return 0;
    case key_depth:
      check->def.depth = true;
      return 0;
    case key_pairs:
      check->def.triangles = true;
      return 0;
    case key_all:
      check->all = true;
      return 0;
    case key_curves:
      check->curves = true;
      return 0;
    case key_report:
      check->def.folder = argument;
      if (*argument == 0) argp_error(state, "--report: the folder has no name");
      return 0;
    case key_title:
      check->def.title = argument;
      return 0;
    case key_pictures:
      check->pictures_given = true;
      check->def.most_pictures = (uint32_t)options_number(state, "pictures", argument, 0, UINT32_MAX);
      return 0;
    case key_previous:
      check->def.previous = argument;
      return 0;
    case key_marks:
      check->def.marks = argument;
      return 0;
    case ARGP_KEY_ARGS:
      scene_take_files(state, &check->def);
      check_together(check, state);
      return 0;
    case ARGP_KEY_NO_ARGS:
      argp_error(state, "a scene or two meshes are needed");
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

/* ---- the check --------------------------------------------------------------------------------------------- */

void check_complete(check_options *check) {
  graze_check_def *d = &check->def;
  bool json = check->common.format == format_json;
  if (check->all) d->relations |= 1u << GRAZE_SEPARATE;
  rules_complete(&check->rules, d);
  d->places = check->common.format != format_text || d->previous;
  d->curves = check->curves;
  d->facts = json;
}

/* Relations that are left out may be those of pairs that the earlier report does not list. */
static void note_left_out(const check_options *check) {
  const unsigned all = (1u << (GRAZE_UNKNOWN + 1)) - 1 - (1u << GRAZE_SEPARATE) - (1u << GRAZE_CLEARANCE);
  if (check->def.previous && !check->all && (check->def.relations & all) != all)
    note("%s: every pair is checked again: with --relations what is not listed may meet", check->def.previous);
}

static int check_all(check_options *check, output *out) {
  session run;
  session_begin(&run, &check->common);
  session_attach(&run, &check->common);
  graze_check *done = session_open(&run, &check->def);
  note_left_out(check);
  graze_status status = graze_check_run(done);
  bool complete = status == GRAZE_OK;
  progress_end(&run.line);
  if (!complete && status != GRAZE_CANCELLED) session_fail(&run, NULL, status);
  graze_check_set_engine(done, session_engine(&run));
  if (complete || check->common.format != format_csv) {
    print_check(out, &run, check, done);
    output_close(out);
  }
  if (check->def.folder) session_write_folder(&run, check->def.folder, done, clock_now());
  if (!complete) fail("interrupted; not every pair was checked");
  int code = graze_check_get_counts(done).open_clashes > 0 ? exit_found : exit_clear;
  graze_check_destroy(done);
  session_end(&run);
  return code;
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0},    {&scene_argp, 0, NULL, 0},
                                             {&rules_argp, 0, NULL, 0},     {&drawing_argp, 0, NULL, 0},
                                             {&clearance_argp, 0, NULL, 0}, {0}};

const struct argp check_argp = {
    .options = options,
    .parser = parse_check,
    .children = children,
    .args_doc = "SCENE.json\nASSEMBLY\nFILE FILE...",
    .doc =
        "Finds how every two objects relate: separate, touching, crossing, one inside the other, or duplicates. The "
        "objects are those of a scene or an assembly (glTF, GLB, and with assimp COLLADA, 3MF, FBX and more), or one "
        "for each mesh file (OBJ, STL, PLY, OFF)."
        "\vExit: 0 nothing to report, or all of it approved; 1 something to report; 2 usage error; 3 bad input, or "
        "not everything was checked."};

int command_check(int argc, char **argv) {
  check_options check = {.common = {.has_gpu = true, .has_visibility = true}, .def = graze_default_check_def()};
  options_parse(&check_argp, argc, argv, &check, &check.common);
  check_complete(&check);
  check.def.rounds = check.def.cylinders = !check.def.depth;
  output *out = output_open(check.common.output);
  int code = check_all(&check, out);
  rules_free(&check.rules);
  return code;
}
