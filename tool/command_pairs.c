/* graze pairs: which boxes of a file meet, by any broad phase. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/nearest.h"
#include "diagnostics.h"
#include "graze/graze.h"
#include "graze/io.h"
#include "options.h"
#include "output.h"
#include "session.h"
#include "table.h"
#include "verbs.h"

typedef struct pairs_options {
  common_options common;
  file_list files;
  const char *method_text;
  graze_broad_method method;
  bool list_methods, list_pairs;
} pairs_options;

typedef struct pairs_run {
  const pairs_options *asked;
  session session;
  graze_box_list boxes; /* in the order of their ids */
  graze_broadphase *broadphase;
  const char *device;          /* "" when the processor did it */
  const graze_box_pair *pairs; /* of numbers of boxes */
  uint64_t count, hash;
  graze_broad_report report;
} pairs_run;

enum { key_method = 1, key_pairs };

static const struct argp_option options[] = {
    {"method", key_method, "METHOD", 0,
     "which broad phase (default auto); `list' prints all. The engine gpu has auto, grid, hgrid, subdivision, tree and "
     "bvh; others run on the CPU",
     0},
    {"pairs", key_pairs, NULL, 0, "list the pairs by id; CSV always does", 0},
    {0}};

static void fail_method(struct argp_state *state, const char *name) {
  nearest n = {.wanted = name};
  for (int m = 0; m < GRAZE_BROAD_METHODS; m++)
    gz_nearest_offer(&n, graze_broad_method_describe((graze_broad_method)m)->name);
  const nearest_list advice = gz_did_you_mean(&n);
  argp_error(state, "--method: no method '%s'%s%s --method list prints all", name, advice.text,
             *advice.text ? "" : ";");
}

static void take_files(pairs_options *pairs, struct argp_state *state) {
  if (strcmp(pairs->method_text, "list") == 0) {
    pairs->list_methods = true;
    options_files(state, 0, 0);
    return;
  }
  if (!graze_broad_method_named(pairs->method_text, &pairs->method)) fail_method(state, pairs->method_text);
  if (state->next == state->argc) argp_error(state, "a file of boxes is needed");
  pairs->files = options_files(state, 1, 1);
}

static error_t parse_pairs(int key, char *argument, struct argp_state *state) {
  pairs_options *pairs = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &pairs->common;
      break;
    case key_method:
      pairs->method_text = argument;
      break;
    case key_pairs:
      pairs->list_pairs = true;
      break;
    case ARGP_KEY_ARGS:
    case ARGP_KEY_NO_ARGS:
      take_files(pairs, state);
      break;
    default:
      return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

/* ---- the methods ------------------------------------------------------------------------------------------------- */

static void list_json(output *out) {
  gz_json writer = gz_json_begin_result(out);
  gz_json_open(&writer, "methods", '[');
  for (int m = 0; m < GRAZE_BROAD_METHODS; m++) {
    const graze_broad_method_info *info = graze_broad_method_describe((graze_broad_method)m);
    if (!info) continue;
    gz_json_open(&writer, NULL, '{');
    gz_json_text(&writer, "name", info->name);
    gz_json_text(&writer, "summary", info->summary);
    gz_json_text(&writer, "complexity", info->complexity);
    gz_json_bool(&writer, "incremental", info->incremental);
    gz_json_close(&writer);
  }
  gz_json_close(&writer);
  gz_json_end(&writer);
}

static void list_csv(output *out) {
  static const table_column columns[] = {
      {"name", true}, {"summary", true}, {"complexity", true}, {"incremental", true}};
  table rows = table_begin(columns, 4);
  for (int m = 0; m < GRAZE_BROAD_METHODS; m++) {
    const graze_broad_method_info *info = graze_broad_method_describe((graze_broad_method)m);
    if (!info) continue;
    table_text(&rows, info->name);
    table_text(&rows, info->summary);
    table_text(&rows, info->complexity);
    table_text(&rows, info->incremental ? "yes" : "no");
  }
  table_write_csv(&rows, out);
  table_free(&rows);
}

/* A line a method and nothing else, so that a script can take the first words. */
static void list_text(output *out) {
  for (int m = 0; m < GRAZE_BROAD_METHODS; m++) {
    const graze_broad_method_info *info = graze_broad_method_describe((graze_broad_method)m);
    if (info) output_print(out, "%-11s  %s; %s\n", info->name, info->summary, info->complexity);
  }
}

static int list_methods(const pairs_options *pairs) {
  output *out = output_open(pairs->common.output);
  switch (pairs->common.format) {
    case format_text:
      list_text(out);
      break;
    case format_json:
      list_json(out);
      break;
    case format_csv:
      list_csv(out);
      break;
  }
  output_close(out);
  return exit_clear;
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

typedef struct keyed_box {
  uint32_t id;
  graze_box box;
} keyed_box;

static int compare_ids(const void *a, const void *b) {
  uint32_t x = ((const keyed_box *)a)->id, y = ((const keyed_box *)b)->id;
  return (x > y) - (x < y);
}

/* Pairs of box numbers are then sorted as pairs of ids are. */
static void sort_by_id(graze_box_list *list) {
  keyed_box *keyed = malloc((list->count ? list->count : 1) * sizeof *keyed);
  if (!keyed) fail_out_of_memory();
  for (uint32_t i = 0; i < list->count; i++) keyed[i] = (keyed_box){list->ids[i], list->boxes[i]};
  qsort(keyed, list->count, sizeof *keyed, compare_ids);
  for (uint32_t i = 0; i < list->count; i++) {
    list->ids[i] = keyed[i].id;
    list->boxes[i] = keyed[i].box;
  }
  free(keyed);
}

static void read_boxes(pairs_run *run) {
  double start = clock_now();
  must(run->session.context, graze_read_boxes(run->session.context, run->asked->files.names[0], &run->boxes));
  sort_by_id(&run->boxes);
  clock_add(&run->session.load_seconds, start);
}

static bool lists_pairs(const pairs_run *run) {
  return run->asked->list_pairs || run->asked->common.format == format_csv;
}

static graze_status find(pairs_run *run, const graze_box_array *boxes) {
  graze_broadphase_def def = graze_default_broadphase_def();
  def.method = run->asked->method;
  graze_status status = graze_broadphase_create(run->session.context, &def, &run->broadphase);
  if (status != GRAZE_OK) return status;
  status = graze_broadphase_find(run->broadphase, boxes, run->boxes.count, !lists_pairs(run), &run->pairs, &run->count);
  run->report = graze_broadphase_report(run->broadphase);
  run->device = session_device(&run->session);
  return status;
}

static void find_pairs(pairs_run *run) {
  const char *path = run->asked->files.names[0];
  graze_box_array boxes = {.data = run->boxes.boxes, .precision = GRAZE_DOUBLE};
  double start = clock_now();
  graze_status status = find(run, &boxes);
  if (status != GRAZE_OK) session_fail(&run->session, path, status);
  clock_add(&run->session.query_seconds, start);
  for (uint64_t i = 0; i < run->count; i++)
    run->hash += graze_pair_hash(run->boxes.ids[run->pairs[i].a], run->boxes.ids[run->pairs[i].b]);
}

/* ---- what was found ---------------------------------------------------------------------------------------------- */

static const char *method_name(graze_broad_method method) {
  return graze_broad_method_describe(method)->name;
}

static void write_json(output *out, const pairs_run *run) {
  gz_json writer = gz_json_begin_result(out);
  gz_json_text(&writer, "engine", session_engine(&run->session));
  if (run->device[0]) gz_json_text(&writer, "device", run->device);
  gz_json_text(&writer, "status", "complete");
  gz_json_text(&writer, "method", run->asked->method_text);
  bool picked = run->asked->method == GRAZE_BROAD_AUTO && !run->report.by_engine;
  if (picked) gz_json_text(&writer, "picked", method_name(run->report.method));
  if (picked || (run->report.by_engine && run->report.reason[0])) gz_json_text(&writer, "reason", run->report.reason);
  gz_json_integer(&writer, "n", run->boxes.count);
  gz_json_integer(&writer, "pairs", run->count);
  gz_json_hash(&writer, "hash", run->hash);
  if (run->asked->list_pairs) {
    gz_json_open(&writer, "ids", '[');
    for (uint64_t i = 0; i < run->count; i++)
      gz_json_pair(&writer, run->boxes.ids[run->pairs[i].a], run->boxes.ids[run->pairs[i].b]);
    gz_json_close(&writer);
  }
  gz_json_open(&writer, "seconds", '{');
  gz_json_double(&writer, "load", run->session.load_seconds);
  gz_json_double(&writer, "query", run->session.query_seconds);
  gz_json_close(&writer);
  gz_json_end(&writer);
}

static void write_pairs(output *out, const pairs_run *run, const char *between) {
  for (uint64_t i = 0; i < run->count; i++) {
    gz_put_integer(out, run->boxes.ids[run->pairs[i].a]);
    gz_put_text(out, between);
    gz_put_integer(out, run->boxes.ids[run->pairs[i].b]);
    gz_put_text(out, "\n");
  }
}

static void write_text(output *out, const pairs_run *run) {
  if (run->asked->list_pairs) write_pairs(out, run, " ");
  if (run->asked->list_pairs && run->count > 0) gz_put_text(out, "\n");
  output_print(out, "%" PRIu64 " pair%s of %" PRIu32 " boxes meet, hash %016" PRIx64 " (", run->count,
               run->count == 1 ? "" : "s", run->boxes.count, run->hash);
  if (!run->report.by_engine) {
    gz_put_text(out, method_name(run->report.method));
    if (run->asked->method == GRAZE_BROAD_AUTO) output_print(out, ": %s", run->report.reason);
    gz_put_text(out, "; ");
  }
  output_print(out, "%s, %.3f s)\n", run->device[0] ? run->device : "cpu",
               run->session.load_seconds + run->session.query_seconds);
}

static void write_results(const pairs_run *run) {
  output *out = output_open(run->asked->common.output);
  switch (run->asked->common.format) {
    case format_text:
      write_text(out, run);
      break;
    case format_json:
      write_json(out, run);
      break;
    case format_csv:
      gz_put_text(out, "a,b\n");
      write_pairs(out, run, ",");
      break;
  }
  output_close(out);
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};

const struct argp pairs_argp = {
    .options = options,
    .parser = parse_pairs,
    .children = children,
    .args_doc = "BOXES\n--method list",
    .doc =
        "Finds which boxes meet; sharing a single point counts. BOXES has a line `id,minx,miny,minz,maxx,maxy,maxz' "
        "for each box, or is binary (.gzb). A pair is listed by its ids, the lower one first."
        "\vExit: 0 no boxes meet, 1 some do, 2 usage error, 3 bad input."};

int command_pairs(int argc, char **argv) {
  pairs_options pairs = {.common = {.has_gpu = true}, .method_text = "auto"};
  options_parse(&pairs_argp, argc, argv, &pairs, &pairs.common);
  if (pairs.list_methods) return list_methods(&pairs);
  pairs_run run = {.asked = &pairs};
  session_begin(&run.session, &pairs.common);
  if (pairs.common.engine == engine_gpu) session_attach(&run.session, &pairs.common);
  read_boxes(&run);
  find_pairs(&run);
  write_results(&run);
  graze_broadphase_destroy(run.broadphase);
  graze_box_list_free(&run.boxes);
  session_end(&run.session);
  return run.count > 0 ? exit_found : exit_clear;
}
