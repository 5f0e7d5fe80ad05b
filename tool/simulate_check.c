/* What --check finds: bodies that overlap by more than is forgiven, in every frame that is written. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "diagnostics.h"
#include "simulate.h"
#include "table.h"

typedef struct found_overlap {
  uint64_t step;
  double time;
  graze_rigid_overlap overlap;
} found_overlap;

struct simulate_check {
  double slop;
  uint64_t frames, pairs, joined; /* pairs: of all frames; joined: of the last */
  uint64_t last_step;
  found_overlap deepest; /* upper 0: none */
  double depth;          /* of the deepest of the last frame, as is proved */
  found_overlap *found;
  uint64_t count, room, unknown;
};

simulate_check *simulate_check_open(const simulate_run *run) {
  if (!run->rigid)
    fail("--check: model dem has none: its balls overlap by the laws of contact; \"max_overlap\" tells how far");
  simulate_check *check = calloc(1, sizeof *check);
  if (!check) fail_out_of_memory();
  return check;
}

void simulate_check_free(simulate_check *check) {
  if (check) free(check->found);
  free(check);
}

static void add(simulate_check *check, const found_overlap *found) {
  if (check->count == check->room) {
    check->room = 2 * check->room + 16;
    check->found = realloc(check->found, check->room * sizeof *check->found);
    if (!check->found) fail_out_of_memory();
  }
  check->found[check->count++] = *found;
  check->unknown += found->overlap.unknown;
}

void simulate_check_take(const simulate_run *run) {
  simulate_check *check = run->check;
  const uint64_t step = simulate_get_step(run);
  const double time = simulate_get_time(run);
  graze_rigid_check_result result;
  if (!check || (check->frames > 0 && check->last_step == step)) return;
  simulate_must(run, graze_rigid_check(run->rigid, run->asked->slop, &result));
  check->slop = result.slop;
  check->frames++;
  check->last_step = step;
  check->pairs += result.pairs;
  check->joined = result.joined;
  check->depth = result.deepest.lower;
  const graze_rigid_overlap *most = &check->deepest.overlap, *now = &result.deepest;
  if (now->lower > most->lower || (now->lower == most->lower && now->upper > most->upper))
    check->deepest = (found_overlap){step, time, *now};
  for (uint64_t i = 0; i < result.count; i++) add(check, &(found_overlap){step, time, result.overlaps[i]});
}

double simulate_check_depth(const simulate_check *check) {
  return check ? check->depth : 0;
}

bool simulate_check_found(const simulate_check *check) {
  return check && check->count > 0;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_overlap(gz_json *writer, const char *key, const simulate_run *run, const found_overlap *found) {
  const double depth[2] = {found->overlap.lower, found->overlap.upper};
  char *a = simulate_name(run, &found->overlap.a), *b = simulate_name(run, &found->overlap.b);
  gz_json_open(writer, key, '{');
  gz_json_integer(writer, "step", found->step);
  gz_json_double(writer, "time", found->time);
  gz_json_text(writer, "a", a);
  gz_json_text(writer, "b", b);
  gz_json_doubles(writer, "depth", depth, 2);
  if (found->overlap.unknown) gz_json_bool(writer, "unknown", true);
  gz_json_close(writer);
  free(a);
  free(b);
}

void simulate_check_put(gz_json *writer, const simulate_run *run) {
  const simulate_check *check = run->check;
  gz_json_open(writer, "check", '{');
  gz_json_double(writer, "slop", check->slop);
  gz_json_integer(writer, "frames", check->frames);
  gz_json_integer(writer, "pairs", check->pairs);
  gz_json_integer(writer, "joined", check->joined);
  gz_json_integer(writer, "found", check->count);
  gz_json_integer(writer, "unknown", check->unknown);
  if (check->deepest.overlap.upper > 0) put_overlap(writer, "deepest", run, &check->deepest);
  gz_json_open(writer, "overlaps", '[');
  for (uint64_t i = 0; i < check->count; i++) put_overlap(writer, NULL, run, &check->found[i]);
  gz_json_close(writer);
  gz_json_close(writer);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* What is not known well has both ends. */
static void write_depth(const graze_rigid_overlap *overlap, char text[64]) {
  const double middle = 0.5 * (overlap->lower + overlap->upper);
  if (!isfinite(overlap->upper))
    snprintf(text, 64, "%.3g or more", overlap->lower);
  else if (overlap->unknown)
    snprintf(text, 64, "%.8g to %.8g", overlap->lower, overlap->upper);
  else if (overlap->upper - overlap->lower > 0.01 * middle)
    snprintf(text, 64, "%.3g to %.3g", overlap->lower, overlap->upper);
  else
    snprintf(text, 64, "%.4g", middle);
}

/* The first few. */
static void put_found(output *out, const simulate_run *run) {
  enum { SHOWN = 20 };
  static const table_column columns[] = {{"step", false}, {"a", true}, {"b", true}, {"depth", false}, {"", true}};
  const simulate_check *check = run->check;
  const int count = check->unknown > 0 ? 5 : 4;
  table rows = table_begin(columns, count);
  for (uint64_t i = 0; i < check->count && i < SHOWN; i++) {
    const found_overlap *found = &check->found[i];
    char *a = simulate_name(run, &found->overlap.a), *b = simulate_name(run, &found->overlap.b), step[24], depth[64];
    snprintf(step, sizeof step, "%" PRIu64, found->step);
    table_text(&rows, step);
    table_text(&rows, a);
    table_text(&rows, b);
    write_depth(&found->overlap, depth);
    table_text(&rows, depth);
    if (count == 5) table_text(&rows, found->overlap.unknown ? "unknown" : "");
    free(a);
    free(b);
  }
  table_write_text(&rows, out);
  table_free(&rows);
  if (check->count > SHOWN) output_print(out, "and %" PRIu64 " more; the JSON has all\n", check->count - SHOWN);
  gz_put_text(out, "\n");
}

static void put_deepest(output *out, const simulate_run *run) {
  const found_overlap *deepest = &run->check->deepest;
  char depth[64];
  if (!(deepest->overlap.upper > 0)) return;
  char *a = simulate_name(run, &deepest->overlap.a), *b = simulate_name(run, &deepest->overlap.b);
  write_depth(&deepest->overlap, depth);
  output_print(out, "; deepest are %s and %s, by %s at step %" PRIu64, a, b, depth, deepest->step);
  free(a);
  free(b);
}

void simulate_check_print(output *out, const simulate_run *run) {
  const simulate_check *check = run->check;
  if (check->count > 0) put_found(out, run);
  output_print(out, "checked %" PRIu64 " frame%s, %" PRIu64 " pair%s: ", check->frames, plural(check->frames),
               check->pairs, plural(check->pairs));
  if (check->count == 0)
    output_print(out, "nothing overlaps by more than %.4g", check->slop);
  else
    output_print(out, "%" PRIu64 " OVERLAP%s of more than %.4g", check->count - check->unknown,
                 check->count - check->unknown == 1 ? "" : "S", check->slop);
  if (check->unknown > 0) output_print(out, ", %" PRIu64 " unknown", check->unknown);
  put_deepest(out, run);
  if (check->joined > 0)
    output_print(out, "; %" PRIu64 " pair%s in joints left out", check->joined, plural(check->joined));
  gz_put_text(out, "\n");
}
