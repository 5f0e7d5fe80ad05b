/* graze tritri: pairs of triangles from text, decided in blocks. Input of any length runs in bounded memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "diagnostics.h"
#include "graze/graze.h"
#include "number_lines.h"
#include "options.h"
#include "output.h"
#include "session.h"
#include "verbs.h"

enum { block_size = 1 << 14 };

typedef struct tritri_options {
  common_options common;
  file_list files;
} tritri_options;

typedef struct block { /* structure of arrays: coordinate k of pair i */
  double values[18][block_size];
  graze_tritri results[block_size];
  uint32_t count;
} block;

typedef struct tritri_run {
  session session;
  output *out;
  gz_json writer;
  output_format format;
  number_lines lines;
  block *block;
  uint64_t pairs, hits;
} tritri_run;

static error_t parse_tritri(int key, char *argument, struct argp_state *state) {
  tritri_options *tritri = state->input;
  (void)argument;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &tritri->common;
      break;
    case ARGP_KEY_ARGS:
      tritri->files = options_files(state, 1, 1);
      break;
    case ARGP_KEY_NO_ARGS:
      argp_error(state, "a file is needed, or - for standard input");
      break;
    default:
      return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

/* NULL when the line is good; else what is wrong with it. */
static const char *read_line(number_lines *lines, block *into) {
  double values[18];
  const char *message = number_lines_take_all(lines, values, 18);
  for (int k = 0; !message && k < 18; k++) into->values[k][into->count] = values[k];
  return message;
}

static void write_results(tritri_run *run) {
  for (uint32_t i = 0; i < run->block->count; i++) {
    const graze_tritri *result = &run->block->results[i];
    bool hit = result->kind != GRAZE_KIND_NONE;
    run->hits += hit;
    if (run->format == format_json) {
      gz_json_open(&run->writer, NULL, '[');
      gz_json_integer(&run->writer, NULL, hit);
      gz_json_integer(&run->writer, NULL, result->kind);
      gz_json_integer(&run->writer, NULL, result->coplanar);
      gz_json_close(&run->writer);
    } else {
      const char between = run->format == format_csv ? ',' : ' ';
      const char line[6] = {
          (char)('0' + hit), between, (char)('0' + result->kind), between, (char)('0' + result->coplanar), '\n'};
      gz_put_bytes(run->out, line, sizeof line);
    }
  }
}

static void finish_block(tritri_run *run) {
  const double *a[9], *b[9];
  for (int k = 0; k < 9; k++) {
    a[k] = run->block->values[k];
    b[k] = run->block->values[9 + k];
  }
  double start = clock_now();
  graze_status status = graze_tritri_batch(run->session.context, run->block->count, a, b, run->block->results);
  if (status != GRAZE_OK) session_fail(&run->session, run->lines.name, status);
  clock_add(&run->session.query_seconds, start);
  write_results(run);
  run->pairs += run->block->count;
  run->block->count = 0;
}

/* The head; for JSON engine and status come last, when they are known. */
static void write_head(tritri_run *run) {
  if (run->format == format_csv) gz_put_text(run->out, "hit,kind,coplanar\n");
  if (run->format != format_json) return;
  run->writer = gz_json_begin_result(run->out);
  gz_json_open(&run->writer, "results", '[');
}

static void write_tail(tritri_run *run) {
  if (run->format != format_json) return;
  gz_json_close(&run->writer);
  gz_json_text(&run->writer, "engine", session_engine(&run->session));
  gz_json_open(&run->writer, "counts", '{');
  gz_json_integer(&run->writer, "pairs", run->pairs);
  gz_json_integer(&run->writer, "hits", run->hits);
  gz_json_close(&run->writer);
  gz_json_text(&run->writer, "status", "complete");
  gz_json_open(&run->writer, "seconds", '{');
  gz_json_double(&run->writer, "query", run->session.query_seconds);
  gz_json_close(&run->writer);
  gz_json_end(&run->writer);
}

/* What came before a bad line is still answered, in the formats of a line a pair. */
static _Noreturn void fail_at_line(tritri_run *run, const char *message) {
  finish_block(run);
  if (run->format != format_json) gz_text_flush(run->out);
  fail("%s:%" PRIu64 ": %s", run->lines.name, run->lines.line, message);
}

static void read_all(tritri_run *run) {
  while (number_lines_next(&run->lines)) {
    const char *message = read_line(&run->lines, run->block);
    if (message) fail_at_line(run, message);
    if (++run->block->count == block_size) finish_block(run);
  }
  finish_block(run);
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};

const struct argp tritri_argp = {
    .parser = parse_tritri,
    .children = children,
    .args_doc = "FILE\n-",
    .doc =
        "Tests pairs of triangles, one pair per line: 18 numbers a0 a1 a2 b0 b1 b2 (decimal or C hex floats). Prints "
        "one line per pair: hit (0 1), kind (0 none, 1 point, 2 segment, 3 area), coplanar (0 1)."
        "\vExit: 0 no pair meets, 1 some do, 2 usage error, 3 bad input."};

int command_tritri(int argc, char **argv) {
  tritri_options tritri = {.common = {.has_gpu = true}};
  options_parse(&tritri_argp, argc, argv, &tritri, &tritri.common);
  tritri_run run = {.format = tritri.common.format, .lines = number_lines_open(tritri.files.names[0])};
  run.block = calloc(1, sizeof *run.block);
  if (!run.block) fail_out_of_memory();
  run.out = output_open(tritri.common.output);
  session_begin(&run.session, &tritri.common);
  session_attach(&run.session, &tritri.common);
  write_head(&run);
  read_all(&run);
  write_tail(&run);
  output_close(run.out);
  session_end(&run.session);
  number_lines_close(&run.lines);
  free(run.block);
  return run.hits > 0 ? exit_found : exit_clear;
}
