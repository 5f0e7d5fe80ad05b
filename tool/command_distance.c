/* graze distance: how far objects are from each other. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "diagnostics.h"
#include "distance_points.h"
#include "output.h"
#include "scene_options.h"
#include "session.h"
#include "table.h"
#include "verbs.h"

typedef struct distance_options {
  common_options common;
  graze_check_def def;
  const char *within; /* NULL: all pairs are listed */
  const char *points; /* NULL: objects are measured */
  bool count;
} distance_options;

enum { key_within = 1, key_count, key_points };

static const struct argp_option options[] = {
    {"within", key_within, "LENGTH", 0, "list only pairs nearer than LENGTH: a number in the check's units, or 25mm",
     0},
    {"count", key_count, NULL, 0, "with --within: count the pairs of triangles that are nearer, with their hash", 0},
    {"points", key_points, "FILE", 0,
     "measure points from one mesh: FILE, or - for standard input, has three numbers a line, in the mesh's units", 0},
    {0}};

static void check_together(struct argp_state *state, const distance_options *o) {
  if (o->points && (o->within || o->count)) argp_error(state, "--points takes neither --within nor --count");
  if (o->points && (o->def.file_count != 1 || scene_is_file(o->def.files[0])))
    argp_error(state, "--points takes one mesh");
  if (o->points && o->def.exactness == GRAZE_T2) argp_error(state, "--points has no --exactness t2");
  if (o->count && !o->within) argp_error(state, "--count needs --within");
}

static error_t parse_distance(int key, char *argument, struct argp_state *state) {
  distance_options *distance = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &distance->common;
      state->child_inputs[1] = &distance->def;
      return 0;
    case key_within:
      options_length(state, "within", argument);
      distance->within = argument;
      return 0;
    case key_count:
      distance->count = true;
      return 0;
    case key_points:
      distance->points = argument;
      return 0;
    case ARGP_KEY_ARGS:
      scene_take_files(state, &distance->def);
      return 0;
    case ARGP_KEY_NO_ARGS:
      argp_error(state, "a scene or two meshes are needed");
      return 0;
    case ARGP_KEY_END:
      check_together(state, distance);
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

/* ---- distances --------------------------------------------------------------------------------------------------- */

typedef struct measured {
  const graze_report_clash *pair; /* with the relation */
  graze_distance_result found;
} measured;

typedef struct measurement {
  const distance_options *options;
  const graze_report *report;
  double limit; /* infinite: none */
  measured *pairs;
  uint32_t count; /* listed */
} measurement;

static graze_round_side side_of(const graze_report_object *object) {
  return (graze_round_side){object->core != NULL ? object->core : object->mesh, &object->pose, object->radius, false};
}

/* Every pair that the scene's rules leave; with a limit those that are nearer. */
static void measure(session *run, measurement *m) {
  graze_distance_options how = graze_default_distance_options();
  graze_query *query = NULL;
  const double start = clock_now();
  how.limit = m->limit;
  how.exactness = m->options->def.exactness;
  if (m->options->count) how.near_pairs = GRAZE_FIND_COUNT;
  m->pairs = calloc(m->report->clash_count + 1, sizeof *m->pairs);
  if (!m->pairs) fail_out_of_memory();
  must(run->context, graze_query_create(run->context, &query));
  for (uint32_t i = 0; i < m->report->clash_count; i++) {
    measured *one = &m->pairs[m->count];
    one->pair = &m->report->clashes[i];
    const graze_report_object *a = &m->report->objects[one->pair->a], *b = &m->report->objects[one->pair->b];
    if (interrupts_came()) fail("interrupted; not every pair was measured");
    const graze_round_side sides[2] = {side_of(a), side_of(b)};
    must(run->context, graze_round_distance(query, &sides[0], &sides[1], &how, &one->found));
    m->count += one->found.found || isinf(m->limit);
  }
  graze_query_destroy(query);
  clock_add(&run->query_seconds, start);
}

static bool do_meet(const measured *one) {
  return one->found.found && one->found.upper == 0;
}

static uint32_t count_meeting(const measurement *m) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < m->count; i++) count += do_meet(&m->pairs[i]);
  return count;
}

/* One inside the other, or nobody knows. */
static void count_hidden(const measurement *m, uint32_t *inside, uint32_t *unknown) {
  *inside = *unknown = 0;
  for (uint32_t i = 0; i < m->count; i++) {
    const graze_relation relation = m->pairs[i].pair->relation;
    *inside += !do_meet(&m->pairs[i]) && (relation == GRAZE_A_IN_B || relation == GRAZE_B_IN_A);
    *unknown += relation == GRAZE_UNKNOWN;
  }
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static const char *name_of(const measurement *m, uint32_t object) {
  return m->report->objects[object].name;
}

static void write_json_places(gz_json *writer, const graze_distance_result *found) {
  gz_json_open(writer, "nearest", '[');
  for (int k = 0; k < 2; k++) gz_json_doubles(writer, NULL, found->nearest.points[k], 3);
  gz_json_close(writer);
  gz_json_open(writer, "features", '[');
  for (int k = 0; k < 2; k++) gz_json_text(writer, NULL, graze_feature_string(found->nearest.features[k]));
  gz_json_close(writer);
  gz_json_open(writer, "triangles", '[');
  gz_json_integer(writer, NULL, found->triangles.a);
  gz_json_integer(writer, NULL, found->triangles.b);
  gz_json_close(writer);
}

static void write_json(output *out, const session *run, const measurement *m) {
  gz_json writer = gz_json_begin_result(out);
  gz_json_text(&writer, "engine", "cpu");
  gz_json_text(&writer, "exactness", m->report->exactness);
  gz_json_text(&writer, "status", "complete");
  gz_json_text(&writer, "units", m->report->units);
  if (isfinite(m->limit)) gz_json_double(&writer, "within", m->limit);
  gz_json_open(&writer, "pairs", '[');
  for (uint32_t i = 0; i < m->count; i++) {
    const graze_distance_result *found = &m->pairs[i].found;
    gz_json_open(&writer, NULL, '{');
    gz_json_text(&writer, "a", name_of(m, m->pairs[i].pair->a));
    gz_json_text(&writer, "b", name_of(m, m->pairs[i].pair->b));
    gz_json_text(&writer, "relation", graze_relation_string(m->pairs[i].pair->relation));
    gz_json_double(&writer, "distance", found->nearest.distance);
    gz_json_double(&writer, "lower", found->lower);
    gz_json_double(&writer, "upper", found->upper);
    if (found->found) write_json_places(&writer, found);
    if (m->options->count) {
      gz_json_integer(&writer, "near_pairs", found->near_pairs);
      gz_json_hash(&writer, "near_hash", found->near_hash);
    }
    gz_json_close(&writer);
  }
  gz_json_close(&writer);
  gz_json_open(&writer, "counts", '{');
  gz_json_integer(&writer, "object_pairs", m->report->object_pairs);
  gz_json_integer(&writer, "listed", m->count);
  gz_json_integer(&writer, "meeting", count_meeting(m));
  gz_json_close(&writer);
  session_write_seconds(run, &writer);
  gz_json_end(&writer);
}

static void put_places(table *rows, const graze_distance_result *found) {
  for (int i = 0; i < 6; i++) {
    if (found->found)
      table_double(rows, found->nearest.points[i / 3][i % 3]);
    else
      table_text(rows, "");
  }
}

static void put_triangles(table *rows, const graze_distance_result *found) {
  if (found->found) {
    table_integer(rows, found->triangles.a);
    table_integer(rows, found->triangles.b);
  } else {
    table_text(rows, "");
    table_text(rows, "");
  }
}

/* People see the first columns, and the last two where triangles are counted. */
static table pair_table(const measurement *m, bool places) {
  static const table_column columns[] = {
      {"a", true},           {"b", true},          {"relation", true},    {"distance", false},
      {"feature_a", true},   {"feature_b", true},  {"triangle_a", false}, {"triangle_b", false},
      {"near_pairs", false}, {"near_hash", false}, {"ax", false},         {"ay", false},
      {"az", false},         {"bx", false},        {"by", false},         {"bz", false}};
  const bool wide = places || m->options->count;
  table rows = table_begin(columns, places ? 16 : wide ? 10 : 8);
  for (uint32_t i = 0; i < m->count; i++) {
    const graze_distance_result *found = &m->pairs[i].found;
    table_text(&rows, name_of(m, m->pairs[i].pair->a));
    table_text(&rows, name_of(m, m->pairs[i].pair->b));
    table_text(&rows, graze_relation_string(m->pairs[i].pair->relation));
    table_double(&rows, found->nearest.distance);
    for (int k = 0; k < 2; k++) table_text(&rows, found->found ? graze_feature_string(found->nearest.features[k]) : "");
    put_triangles(&rows, found);
    if (wide && !m->options->count) {
      table_text(&rows, "");
      table_text(&rows, "");
    } else if (wide) {
      table_integer(&rows, found->near_pairs);
      table_hex(&rows, found->near_hash);
    }
    if (places) put_places(&rows, found);
  }
  return rows;
}

static void write_csv(output *out, const session *run, const measurement *m) {
  (void)run;
  table rows = pair_table(m, true);
  table_write_csv(&rows, out);
  table_free(&rows);
}

static void print_length(output *out, double length, const char *units) {
  char number[32];
  graze_format_double(length, number);
  output_print(out, "%s%s%s", number, *units ? " " : "", units);
}

/* Without a limit. Surfaces are what is measured: where one object lies in the other they may be far apart. */
static void print_meeting(output *out, const measurement *m) {
  const uint32_t meeting = count_meeting(m);
  uint32_t inside, unknown;
  count_hidden(m, &inside, &unknown);
  if (meeting > 0)
    output_print(out, "%" PRIu32 " pair%s", meeting, meeting == 1 ? " meets" : "s meet");
  else
    gz_put_text(out, inside + unknown > 0 ? "no surfaces meet" : "clear: no pair meets");
  if (inside > 0) output_print(out, ", %" PRIu32 " containment%s", inside, plural(inside));
  if (unknown > 0) output_print(out, ", %" PRIu32 " unknown", unknown);
}

static void write_text(output *out, const session *run, const measurement *m) {
  const graze_report *r = m->report;
  if (m->count > 0) {
    table rows = pair_table(m, false);
    table_write_text(&rows, out);
    table_free(&rows);
    gz_put_text(out, "\n");
  }
  if (isfinite(m->limit)) {
    output_print(out, "%s%" PRIu32 " pair%s nearer than ", m->count == 0 ? "clear: " : "", m->count, plural(m->count));
    print_length(out, m->limit, r->units);
  } else {
    print_meeting(out, m);
  }
  output_print(out, ", among %" PRIu64 " pair%s of objects (%" PRIu32 " object%s; cpu, %s, %.3f s)\n", r->object_pairs,
               plural(r->object_pairs), r->object_count, plural(r->object_count), r->exactness,
               run->load_seconds + run->build_seconds + run->query_seconds);
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {&scene_argp, 0, NULL, 0}, {0}};

const struct argp distance_argp = {
    .options = options,
    .parser = parse_distance,
    .children = children,
    .args_doc = "SCENE.json\nASSEMBLY\nFILE FILE...\n--points FILE MESH",
    .doc =
        "Finds how far the surfaces of every two objects are from each other: the exact distance, rounded once, with "
        "nearest points. Objects are as those of `graze check'; the processor finds distances, whatever the engine. "
        "With "
        "--points those of points from one mesh, and on which side of it they are."
        "\vExit: 0 nothing is nearer than --within or, without it, no surfaces meet; 1 something is; 2 usage error; 3 "
        "bad input."};

int command_distance(int argc, char **argv) {
  static void (*const writers[])(output *, const session *, const measurement *) = {write_text, write_json, write_csv};
  distance_options distance = {.def = graze_default_check_def()};
  session run;
  options_parse(&distance_argp, argc, argv, &distance, &distance.common);
  if (distance.points) return distance_measure_points(distance.points, &distance.def, &distance.common);
  distance.def.relations = ~0u;
  distance.def.places = distance.def.facts = false;
  distance.def.every_mesh = distance.def.rounds = true;
  output *out = output_open(distance.common.output);
  session_begin(&run, &distance.common);
  graze_check *check = session_open(&run, &distance.def);
  measurement m = {.options = &distance, .report = graze_check_report(check), .limit = (double)INFINITY};
  if (distance.within) must(run.context, graze_check_read_length(check, "within", distance.within, &m.limit));
  graze_status status = graze_check_run(check);
  progress_end(&run.line);
  if (status == GRAZE_CANCELLED) fail("interrupted; not every pair was measured");
  must(run.context, status);
  session_take_times(&run, check);
  measure(&run, &m);
  writers[distance.common.format](out, &run, &m);
  output_close(out);
  const bool found = distance.within ? m.count > 0 : count_meeting(&m) > 0;
  free(m.pairs);
  graze_check_destroy(check);
  session_end(&run);
  return found ? exit_found : exit_clear;
}
