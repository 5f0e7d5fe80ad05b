/* graze depth: how far objects have to be moved out of each other. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "diagnostics.h"
#include "output.h"
#include "scene_options.h"
#include "session.h"
#include "table.h"
#include "verbs.h"

typedef struct depth_options {
  common_options common;
  graze_check_def def;
  bool all;
} depth_options;

enum { key_all = 1 };

static const struct argp_option options[] = {{"all", key_all, NULL, 0, "list separate pairs as well", 0}, {0}};

static error_t parse_depth(int key, char *argument, struct argp_state *state) {
  depth_options *depth = state->input;
  (void)argument;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &depth->common;
      state->child_inputs[1] = &depth->def;
      return 0;
    case key_all:
      depth->all = true;
      return 0;
    case ARGP_KEY_ARGS:
      scene_take_files(state, &depth->def);
      return 0;
    case ARGP_KEY_NO_ARGS:
      argp_error(state, "a scene or two meshes are needed");
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

/* ---- depths ---- */

typedef struct sounded {
  const graze_report_clash *pair;
  graze_depth_result found;
} sounded;

typedef struct sounding {
  const graze_report *report;
  sounded *pairs;
  uint32_t count;             /* listed */
  uint32_t overlaps, unknown; /* among them */
} sounding;

static void sound(session *run, const depth_options *depth, sounding *s) {
  graze_depth_options how = graze_default_depth_options();
  graze_query *query = NULL;
  const double start = clock_now();
  how.exactness = depth->def.exactness;
  how.open = depth->def.open;
  s->pairs = calloc(s->report->clash_count + 1, sizeof *s->pairs);
  if (!s->pairs) fail_out_of_memory();
  must(run->context, graze_query_create(run->context, &query));
  for (uint32_t i = 0; i < s->report->clash_count; i++) {
    const graze_report_clash *pair = &s->report->clashes[i];
    if (pair->relation == GRAZE_SEPARATE && !depth->all) continue;
    sounded *one = &s->pairs[s->count++];
    one->pair = pair;
    const graze_report_object *a = &s->report->objects[pair->a], *b = &s->report->objects[pair->b];
    if (interrupts_came()) fail("interrupted; not every pair was measured");
    must(run->context, graze_mesh_depth(query, a->mesh, &a->pose, b->mesh, &b->pose, &how, &one->found));
    s->overlaps += one->found.known && one->found.depth > 0;
    s->unknown += !one->found.known;
  }
  graze_query_destroy(query);
  clock_add(&run->query_seconds, start);
}

/* ---- output ---- */

static const char *name_of(const sounding *s, uint32_t object) {
  return s->report->objects[object].name;
}

static const char *relation_of(const sounded *one) {
  return graze_relation_string(one->found.verdict.relation);
}

static void write_json_pair(gz_json *json, const sounding *s, const sounded *one) {
  const graze_depth_result *found = &one->found;
  gz_json_open(json, NULL, '{');
  gz_json_text(json, "a", name_of(s, one->pair->a));
  gz_json_text(json, "b", name_of(s, one->pair->b));
  gz_json_text(json, "relation", relation_of(one));
  if (found->known) {
    gz_json_double(json, "depth", found->depth);
    gz_json_double(json, "lower", found->lower);
    gz_json_doubles(json, "translation", found->translation, 3);
    gz_json_text(json, "moved", graze_relation_string(found->relation));
    gz_json_bool(json, "convex", found->convex);
  } else {
    gz_json_text(json, "reason", graze_doubt_string(found->verdict.doubt));
  }
  gz_json_close(json);
}

static void write_json(output *out, const session *run, const sounding *s) {
  gz_json json = gz_json_begin_result(out);
  gz_json_text(&json, "engine", "cpu");
  gz_json_text(&json, "exactness", s->report->exactness);
  gz_json_text(&json, "status", "complete");
  gz_json_text(&json, "units", s->report->units);
  gz_json_open(&json, "pairs", '[');
  for (uint32_t i = 0; i < s->count; i++) write_json_pair(&json, s, &s->pairs[i]);
  gz_json_close(&json);
  gz_json_open(&json, "counts", '{');
  gz_json_integer(&json, "object_pairs", s->report->object_pairs);
  gz_json_integer(&json, "listed", s->count);
  gz_json_integer(&json, "overlaps", s->overlaps);
  gz_json_integer(&json, "unknown", s->unknown);
  gz_json_close(&json);
  session_write_seconds(run, &json);
  gz_json_end(&json);
}

static table depth_table(const sounding *s) {
  static const table_column columns[] = {{"a", true},      {"b", true},      {"relation", true},
                                         {"depth", false}, {"lower", false}, {"x", false},
                                         {"y", false},     {"z", false},     {"moved", true}};
  table rows = table_begin(columns, sizeof columns / sizeof *columns);
  for (uint32_t i = 0; i < s->count; i++) {
    const graze_depth_result *found = &s->pairs[i].found;
    table_text(&rows, name_of(s, s->pairs[i].pair->a));
    table_text(&rows, name_of(s, s->pairs[i].pair->b));
    table_text(&rows, relation_of(&s->pairs[i]));
    const double numbers[5] = {found->depth, found->lower, found->translation[0], found->translation[1],
                               found->translation[2]};
    for (int k = 0; k < 5; k++) {
      if (found->known)
        table_double(&rows, numbers[k]);
      else
        table_text(&rows, "");
    }
    table_text(&rows, found->known ? graze_relation_string(found->relation) : "");
  }
  return rows;
}

static void write_csv(output *out, const session *run, const sounding *s) {
  (void)run;
  table rows = depth_table(s);
  table_write_csv(&rows, out);
  table_free(&rows);
}

static void write_text(output *out, const session *run, const sounding *s) {
  const graze_report *r = s->report;
  if (s->count > 0) {
    table rows = depth_table(s);
    table_write_text(&rows, out);
    table_free(&rows);
    gz_put_text(out, "\n");
  }
  if (s->overlaps == 0 && s->unknown == 0)
    gz_put_text(out, "clear: no pair overlaps");
  else
    output_print(out, "%" PRIu32 " pair%s", s->overlaps, s->overlaps == 1 ? " overlaps" : "s overlap");
  if (s->unknown > 0) output_print(out, ", %" PRIu32 " unknown", s->unknown);
  output_print(out, ", among %" PRIu64 " pair%s of objects (%" PRIu32 " object%s; cpu, %s, %.3f s)\n", r->object_pairs,
               plural(r->object_pairs), r->object_count, plural(r->object_count), r->exactness,
               run->load_seconds + run->build_seconds + run->query_seconds);
}

/* ---- the verb ---- */

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {&scene_argp, 0, NULL, 0}, {0}};

const struct argp depth_argp = {
    .options = options,
    .parser = parse_depth,
    .children = children,
    .args_doc = "SCENE.json\nASSEMBLY\nFILE FILE...",
    .doc =
        "Finds how far the second of every two objects that overlap has to be moved out of the first: the length of a "
        "translation after which they touch or are separate, as `graze check' says, and a proved lower bound. For "
        "convex "
        "solids both are the same but for rounding. Objects are as those of `graze check'."
        "\vExit: 0 no pair overlaps; 1 some do, or it is unknown; 2 usage error; 3 bad input."};

int command_depth(int argc, char **argv) {
  static void (*const writers[])(output *, const session *, const sounding *) = {write_text, write_json, write_csv};
  depth_options depth = {.def = graze_default_check_def()};
  session run;
  options_parse(&depth_argp, argc, argv, &depth, &depth.common);
  depth.def.relations = ~0u;
  depth.def.places = depth.def.facts = false;
  depth.def.every_mesh = true;
  output *out = output_open(depth.common.output);
  session_begin(&run, &depth.common);
  graze_check *check = session_open(&run, &depth.def);
  sounding s = {.report = graze_check_report(check)};
  graze_status status = graze_check_run(check);
  progress_end(&run.line);
  if (status == GRAZE_CANCELLED) fail("interrupted; not every pair was measured");
  must(run.context, status);
  session_take_times(&run, check);
  sound(&run, &depth, &s);
  writers[depth.common.format](out, &run, &s);
  output_close(out);
  const bool found = s.overlaps > 0 || s.unknown > 0;
  free(s.pairs);
  graze_check_destroy(check);
  session_end(&run);
  return found ? exit_found : exit_clear;
}
