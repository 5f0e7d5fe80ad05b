/* graze ccd: moving vertices, faces and edges from text, decided in blocks. Input of any length runs in bounded memory.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "diagnostics.h"
#include "graze/graze.h"
#include "number_lines.h"
#include "options.h"
#include "output.h"
#include "session.h"
#include "verbs.h"

enum { block_size = 1 << 12, key_separation = 1 };

static const struct argp_option options[] = {
    {"separation", key_separation, "D", 0, "when do they first come as near as D? default 0: when do they meet", 1},
    {0}};

typedef struct ccd_options {
  common_options common;
  double separation;
  file_list files;
} ccd_options;

typedef struct ccd_run {
  session session;
  output *out;
  gz_json writer;
  output_format format;
  number_lines lines;
  double separation;
  graze_ccd_query queries[block_size];
  graze_ccd_result results[block_size];
  uint32_t waiting; /* queries that were read and not decided yet */
  uint64_t decided, hits;
} ccd_run;

static error_t parse_ccd(int key, char *argument, struct argp_state *state) {
  ccd_options *ccd = state->input;
  if (key == key_separation) {
    char *end;
    ccd->separation = strtod(argument, &end);
    if (end == argument || *end || !(ccd->separation >= 0 && ccd->separation < INFINITY))
      argp_error(state, "--separation: '%s' is not a finite number of 0 or more", argument);
    return 0;
  }
  return options_arguments(key, state, &ccd->common, &ccd->files, 1, "a file, or - for standard input,");
}

/* NULL when the line is good; else what is wrong with it. */
static const char *read_query(number_lines *lines, graze_ccd_query *query) {
  if (number_lines_take_word(lines, "vf")) {
    query->kind = GRAZE_CCD_VERTEX_FACE;
  } else if (number_lines_take_word(lines, "ee")) {
    query->kind = GRAZE_CCD_EDGE_EDGE;
  } else {
    return "vf or ee expected, and 24 numbers";
  }
  return number_lines_take_all(lines, &query->points[0][0][0], 24);
}

static void write_json(gz_json *json, const graze_ccd_result *result) {
  gz_json_open(json, NULL, '[');
  gz_json_integer(json, NULL, result->hit);
  if (result->hit) {
    gz_json_double(json, NULL, result->earliest);
    gz_json_double(json, NULL, result->latest);
  }
  gz_json_close(json);
}

static void write_line(output *out, const graze_ccd_result *result, char between) {
  gz_put_text(out, result->hit ? "1" : "0");
  for (int i = 0; i < 2 && (result->hit || between == ','); i++) {
    gz_put_bytes(out, &between, 1);
    if (result->hit) gz_put_double(out, i == 0 ? result->earliest : result->latest);
  }
  gz_put_text(out, "\n");
}

static void finish_block(ccd_run *run) {
  double start = clock_now();
  graze_status status =
      graze_ccd_batch_apart(run->session.context, run->separation, run->waiting, run->queries, run->results);
  if (status != GRAZE_OK) session_fail(&run->session, run->lines.name, status);
  clock_add(&run->session.query_seconds, start);
  for (uint32_t i = 0; i < run->waiting; i++) {
    run->hits += run->results[i].hit;
    if (run->format == format_json) {
      write_json(&run->writer, &run->results[i]);
    } else {
      write_line(run->out, &run->results[i], run->format == format_csv ? ',' : ' ');
    }
  }
  run->decided += run->waiting;
  run->waiting = 0;
}

static void write_head(ccd_run *run) {
  if (run->format == format_csv) gz_put_text(run->out, "hit,earliest,latest\n");
  if (run->format != format_json) return;
  run->writer = gz_json_begin_result(run->out);
  gz_json_text(&run->writer, "engine", "cpu");
  gz_json_open(&run->writer, "results", '[');
}

static void write_tail(ccd_run *run) {
  if (run->format != format_json) return;
  gz_json_close(&run->writer);
  gz_json_open(&run->writer, "counts", '{');
  gz_json_integer(&run->writer, "queries", run->decided);
  gz_json_integer(&run->writer, "hits", run->hits);
  gz_json_close(&run->writer);
  gz_json_text(&run->writer, "status", "complete");
  gz_json_open(&run->writer, "seconds", '{');
  gz_json_double(&run->writer, "query", run->session.query_seconds);
  gz_json_close(&run->writer);
  gz_json_end(&run->writer);
}

/* What came before a bad line is still answered, in the formats of a line a query. */
static void read_all(ccd_run *run) {
  while (number_lines_next(&run->lines)) {
    const char *message = read_query(&run->lines, &run->queries[run->waiting]);
    if (message) {
      finish_block(run);
      if (run->format != format_json) gz_text_flush(run->out);
      fail("%s:%" PRIu64 ": %s", run->lines.name, run->lines.line, message);
    }
    if (++run->waiting == block_size) finish_block(run);
  }
  finish_block(run);
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};

const struct argp ccd_argp = {
    .options = options,
    .parser = parse_ccd,
    .children = children,
    .args_doc = "FILE\n-",
    .doc =
        "Tests features that move straight from t = 0 to t = 1, one query per line: vf and 24 numbers v f0 f1 f2 at 0, "
        "then at "
        "1, of a vertex and a face; or ee and a0 a1 b0 b1 of two edges (decimal or C hex floats). Prints one line per "
        "query: 0, "
        "or 1 and the two doubles next to the first time at which they meet, equal where it is a double."
        "\vExit: 0 no query hits, 1 some do, 2 usage error, 3 bad input."};

int command_ccd(int argc, char **argv) {
  ccd_options ccd = {0};
  options_parse(&ccd_argp, argc, argv, &ccd, &ccd.common);
  ccd_run *run = calloc(1, sizeof *run);
  if (!run) fail_out_of_memory();
  run->format = ccd.common.format;
  run->separation = ccd.separation;
  run->lines = number_lines_open(ccd.files.names[0]);
  run->out = output_open(ccd.common.output);
  session_begin(&run->session, &ccd.common);
  write_head(run);
  read_all(run);
  write_tail(run);
  output_close(run->out);
  session_end(&run->session);
  number_lines_close(&run->lines);
  int code = run->hits > 0 ? exit_found : exit_clear;
  free(run);
  return code;
}
