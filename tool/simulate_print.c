/* What came of a simulation, as JSON and as a table for people. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "simulate.h"
#include "table.h"

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_sums(gz_json *writer, const char *key, const graze_world_sums *sums) {
  gz_json_open(writer, key, '{');
  gz_json_double(writer, "kinetic", sums->kinetic);
  gz_json_double(writer, "rotational", sums->rotational);
  gz_json_double(writer, "potential", sums->potential);
  gz_json_double(writer, "elastic", sums->elastic);
  gz_json_double(writer, "dissipated", sums->dissipated);
  gz_json_double(writer, "energy", sums->energy);
  gz_json_doubles(writer, "momentum", sums->momentum, 3);
  gz_json_doubles(writer, "angular_momentum", sums->angular_momentum, 3);
  gz_json_doubles(writer, "center", sums->center, 3);
  gz_json_close(writer);
}

static void put_bodies(gz_json *writer, const simulate_run *run) {
  gz_json_open(writer, "bodies", '{');
  gz_json_integer(writer, "dynamic", run->types[GRAZE_BODY_DYNAMIC]);
  gz_json_integer(writer, "static", run->types[GRAZE_BODY_STATIC]);
  gz_json_integer(writer, "kinematic", run->types[GRAZE_BODY_KINEMATIC]);
  gz_json_integer(writer, "particles", run->particles);
  gz_json_close(writer);
}

static void put_events(gz_json *writer, const simulate_run *run) {
  gz_json_open(writer, "events", '{');
  gz_json_integer(writer, "began", run->event_counts[GRAZE_CONTACT_BEGAN]);
  gz_json_integer(writer, "ended", run->event_counts[GRAZE_CONTACT_ENDED]);
  gz_json_integer(writer, "hits", run->event_counts[GRAZE_CONTACT_HIT]);
  gz_json_close(writer);
}

static void put_escaped(gz_json *writer, const simulate_run *run) {
  gz_json_open(writer, "escaped", '[');
  for (uint64_t i = 0; i < run->end.left; i++) {
    char *name = simulate_name(run, &run->left[i]);
    gz_json_text(writer, NULL, name);
    free(name);
  }
  gz_json_close(writer);
}

static void put_replay(gz_json *writer, const simulate_run *run) {
  gz_json_open(writer, "replay", '{');
  gz_json_bool(writer, "same", !run->differs);
  if (run->differs) gz_json_integer(writer, "differs_at", run->differs_at);
  gz_json_close(writer);
}

const char *simulate_engine(const simulate_run *run) {
  return run->world && graze_world_get_engine_steps(run->world) > 0 ? "gpu" : "cpu";
}

static void put_hits(gz_json *writer, const simulate_run *run) {
  gz_json_integer(writer, "seed", run->asked->seed);
  if (run->asked->seeds == 0) {
    simulate_hits_put_first(writer, run);
    return;
  }
  gz_json_integer(writer, "seeds", run->over);
  simulate_hits_put(writer, run);
}

static const char *const solver_words[] = {"auto", "soft", "newton"};

void simulate_print_json(output *out, const simulate_run *run) {
  gz_json writer = gz_json_begin_result(out);
  gz_json_text(&writer, "engine", simulate_engine(run));
  gz_json_text(&writer, "model", run->rigid ? "rigid" : "dem");
  if (run->rigid) gz_json_text(&writer, "solver", solver_words[simulate_solver(run)]);
  gz_json_text(&writer, "status", run->stopped ? "stopped" : "complete");
  gz_json_integer(&writer, "steps", run->done);
  gz_json_double(&writer, "dt", run->dt);
  gz_json_double(&writer, "time", simulate_get_time(run));
  put_bodies(&writer, run);
  put_sums(&writer, "start", &run->start);
  put_sums(&writer, "end", &run->end);
  gz_json_integer(&writer, "contacts", run->end.contacts);
  gz_json_double(&writer, "max_overlap", run->end.max_overlap);
  gz_json_integer(&writer, "asleep", graze_rigid_get_asleep_count(run->rigid));
  gz_json_integer(&writer, "left", run->end.left);
  put_escaped(&writer, run);
  put_events(&writer, run);
  if (run->asked->replay) put_replay(&writer, run);
  if (run->parts) simulate_put_parts(&writer, run);
  if (run->check) simulate_check_put(&writer, run);
  if (run->hits) put_hits(&writer, run);
  gz_json_double(&writer, "longest_dt", run->limits.longest);
  gz_json_hash(&writer, "hash", simulate_get_hash(run));
  gz_json_open(&writer, "seconds", '{');
  gz_json_double(&writer, "load", run->session.load_seconds);
  gz_json_double(&writer, "query", run->session.query_seconds);
  gz_json_close(&writer);
  gz_json_end(&writer);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void put_row(table *rows, const char *name, double start, double end) {
  char text[32];
  table_text(rows, name);
  snprintf(text, sizeof text, "%.6g", start);
  table_text(rows, text);
  snprintf(text, sizeof text, "%.6g", end);
  table_text(rows, text);
}

static void put_table(output *out, const graze_world_sums *start, const graze_world_sums *end) {
  static const table_column columns[] = {{"", true}, {"start", false}, {"end", false}};
  table rows = table_begin(columns, 3);
  put_row(&rows, "kinetic energy", start->kinetic, end->kinetic);
  put_row(&rows, "rotational energy", start->rotational, end->rotational);
  put_row(&rows, "potential energy", start->potential, end->potential);
  put_row(&rows, "elastic energy", start->elastic, end->elastic);
  put_row(&rows, "energy", start->energy, end->energy);
  put_row(&rows, "dissipated", start->dissipated, end->dissipated);
  put_row(&rows, "momentum x", start->momentum[0], end->momentum[0]);
  put_row(&rows, "momentum y", start->momentum[1], end->momentum[1]);
  put_row(&rows, "momentum z", start->momentum[2], end->momentum[2]);
  table_write_text(&rows, out);
  table_free(&rows);
}

static void put_counts(output *out, const simulate_run *run) {
  output_print(out, "%" PRIu64 " contact%s", run->end.contacts, plural(run->end.contacts));
  if (run->end.contacts > 0) output_print(out, ", overlap at most %.3g", run->end.max_overlap);
  output_print(out, "; %" PRIu64 " began, %" PRIu64 " ended, %" PRIu64 " hit%s", run->event_counts[GRAZE_CONTACT_BEGAN],
               run->event_counts[GRAZE_CONTACT_ENDED], run->event_counts[GRAZE_CONTACT_HIT],
               plural(run->event_counts[GRAZE_CONTACT_HIT]));
  gz_put_text(out, "\n");
}

/* The first few by name. */
static void put_left(output *out, const simulate_run *run) {
  enum { NAMED = 8 };
  const uint64_t count = run->end.left;
  output_print(out, "%" PRIu64 " left the bounds:", count);
  for (uint64_t i = 0; i < count && i < NAMED; i++) {
    char *name = simulate_name(run, &run->left[i]);
    output_print(out, "%s %s", i > 0 ? "," : "", name);
    free(name);
  }
  if (count > NAMED) output_print(out, " and %" PRIu64 " more", count - NAMED);
  gz_put_text(out, "\n");
}

void simulate_print_text(output *out, const simulate_run *run) {
  uint64_t steps = run->done, bodies = run->types[0] + run->types[1] + run->types[2];
  if (run->asked->seeds > 0) {
    simulate_hits_print(out, run);
  } else {
    put_table(out, &run->start, &run->end);
    gz_put_text(out, "\n");
    if (run->hits) simulate_hits_print_first(out, run);
    put_counts(out, run);
  }
  if (run->end.left > 0 && run->asked->seeds == 0) put_left(out, run);
  if (run->parts) simulate_print_parts(out, run);
  if (run->check) simulate_check_print(out, run);
  if (run->differs) output_print(out, "NOT as recorded from step %" PRIu64 " on\n", run->differs_at);
  if (run->asked->replay && !run->differs) gz_put_text(out, "every step as recorded\n");
  if (run->stopped) output_print(out, "INCOMPLETE, stopped after ");
  output_print(out, "%" PRIu64 " step%s of ", steps, plural(steps));
  gz_put_double(out, run->dt);
  gz_put_text(out, " s to t = ");
  gz_put_double(out, simulate_get_time(run));
  output_print(out, " s; hash %016" PRIx64 " (", simulate_get_hash(run));
  if (bodies == 1) gz_put_text(out, "1 body, ");
  if (bodies > 1) output_print(out, "%" PRIu64 " bodies, ", bodies);
  if (run->particles > 0) output_print(out, "%" PRIu64 " particle%s, ", run->particles, plural(run->particles));
  output_print(out, "%s, %.3f s)\n", simulate_engine(run), run->session.load_seconds + run->session.query_seconds);
}
