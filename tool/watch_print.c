/* What happened, as lines for people, JSON and CSV. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "check.h"
#include "table.h"
#include "watch.h"

static const char *const change_words[WATCH_CHANGES] = {"began", "changed", "ended", "passed", "unknown"};

typedef struct watch_counts {
  uint64_t of[WATCH_CHANGES];
  uint32_t steps; /* in which something takes part */
  uint64_t most;  /* pairs at a time */
} watch_counts;

static watch_counts count_all(const watch_log *log) {
  watch_counts counts = {0};
  for (uint64_t i = 0; i < log->event_count; i++) counts.of[log->events[i].change]++;
  for (uint32_t i = 0; i < log->step_count; i++) {
    counts.steps += log->steps[i].pairs > 0;
    if (log->steps[i].pairs > counts.most) counts.most = log->steps[i].pairs;
  }
  return counts;
}

/* "touch", or "touch -> cross" of a change; of an ended pair what it was. */
static void write_relation(char text[64], const watch_event *event) {
  const char *before = graze_relation_string(event->before), *now = graze_relation_string(watch_relation(event));
  if (event->change == GRAZE_FILM_CHANGED)
    snprintf(text, 64, "%s -> %s", before, now);
  else
    snprintf(text, 64, "%s", event->change == GRAZE_FILM_ENDED ? before : now);
}

/* Where only contact was asked for, there is no place to look at. */
static bool has_doubt(const watch_event *event) {
  return event->verdict.relation == GRAZE_UNKNOWN && event->verdict.doubt != GRAZE_DOUBT_NOT_ASKED;
}

/* ---- text -------------------------------------------------------------------------------------------------- */

static int number_width(uint32_t number) {
  return snprintf(NULL, 0, "%" PRIu32, number);
}

static void print_event(output *out, const watch_log *log, const watch_event *event, int step_width, int width) {
  char relation[64];
  write_relation(relation, event);
  output_print(out, "step %*" PRIu32 "  %-7s  %-*s  %s / %s", step_width, event->step, change_words[event->change],
               width, relation, log->names[event->a], log->names[event->b]);
  if (log->continuous != GRAZE_MOTION_STEPS) {
    gz_put_text(out, "  t ");
    gz_put_double(out, event->time[0]);
    if (event->time[1] > event->time[0]) gz_put_text(out, " to ");
    if (event->time[1] > event->time[0]) gz_put_double(out, event->time[1]);
  }
  if (event->change == WATCH_UNKNOWN) {
    gz_put_text(out, "  distance ");
    gz_put_double(out, event->distance[0]);
    gz_put_text(out, " to ");
    gz_put_double(out, event->distance[1]);
  }
  if (event->approach > 0) {
    gz_put_text(out, "  nearer than ");
    gz_put_double(out, event->approach);
  }
  if (event->gap.found) {
    gz_put_text(out, "  gap ");
    gz_put_double(out, event->gap.distance);
    gz_put_text(out, " of ");
    gz_put_double(out, event->gap.clearance);
  }
  if (has_doubt(event)) {
    output_print(out, ": %s: %s", log->names[event->doubt_name], graze_doubt_string(event->verdict.doubt));
    for (int k = 0; k < 3; k++) {
      gz_put_text(out, k == 0 ? "; near " : " ");
      gz_put_double(out, event->verdict.doubt_point[k]);
    }
  }
  gz_put_text(out, "\n");
}

/* Of what happens between steps. */
static void print_between(output *out, const watch_counts *counts) {
  if (counts->of[GRAZE_FILM_PASSED] > 0) output_print(out, ", %" PRIu64 " passed", counts->of[GRAZE_FILM_PASSED]);
  if (counts->of[WATCH_UNKNOWN] > 0) output_print(out, ", %" PRIu64 " unknown", counts->of[WATCH_UNKNOWN]);
  if (counts->of[GRAZE_FILM_PASSED] + counts->of[WATCH_UNKNOWN] == 0) gz_put_text(out, ", none passed");
}

static void print_smallest(output *out, const watch_gap *smallest) {
  gz_put_text(out, ", smallest gap ");
  gz_put_double(out, smallest->gap.distance);
  output_print(out, " at step %" PRIu32, smallest->step);
}

static void print_summary(output *out, const watch_options *watch, const session *run, const watch_log *log) {
  watch_counts counts = count_all(log);
  if (!log->complete)
    output_print(out, "INCOMPLETE, stopped after %" PRIu32 " step%s: ", log->step_count, plural(log->step_count));
  else if (!watch_found(log))
    gz_put_text(out, "clear: ");
  if (counts.steps == 0)
    output_print(out, "no collision%s in %" PRIu32 " step%s", log->clear ? " or short gap" : "", log->step_count,
                 plural(log->step_count));
  else
    output_print(out,
                 "collisions%s in %" PRIu32 " of %" PRIu32 " step%s, %" PRIu64 " pair%s at most in one: %" PRIu64
                 " began, %" PRIu64 " changed, %" PRIu64 " ended",
                 log->clear ? " or short gaps" : "", counts.steps, log->step_count, plural(log->step_count),
                 counts.most, plural(counts.most), counts.of[0], counts.of[1], counts.of[2]);
  if (log->continuous != GRAZE_MOTION_STEPS) print_between(out, &counts);
  if (watch_smallest_gap(log)) print_smallest(out, watch_smallest_gap(log));
  output_print(out, " (%" PRIu64 " object%s, %" PRIu64 " triangles; %s", log->objects, plural(log->objects),
               log->triangles, session_engine(run));
  if (!watch->replay) output_print(out, ", %s", exactness_names[watch->def.exactness]);
  output_print(out, ", %.3f s)\n", run->load_seconds + run->build_seconds + run->query_seconds);
}

static void print_text(output *out, const watch_options *watch, const session *run, const watch_log *log) {
  int step_width = log->step_count > 0 ? number_width(log->step_count - 1) : 1, width = 0;
  for (uint64_t i = 0; i < log->event_count; i++) {
    char relation[64];
    write_relation(relation, &log->events[i]);
    if ((int)strlen(relation) > width) width = (int)strlen(relation);
  }
  for (uint64_t i = 0; i < log->event_count; i++) print_event(out, log, &log->events[i], step_width, width);
  if (log->event_count > 0) gz_put_text(out, "\n");
  if (watch->replay && log->complete && !log->differs)
    output_print(out, "every step is as recorded in %s\n", watch->replay);
  print_summary(out, watch, run, log);
}

/* ---- JSON -------------------------------------------------------------------------------------------------- */

static void json_gap(gz_json *writer, const graze_gap *gap) {
  gz_json_double(writer, "gap", gap->distance);
  gz_json_double(writer, "clearance", gap->clearance);
  gz_json_open(writer, "nearest", '[');
  gz_json_doubles(writer, NULL, gap->points[0], 3);
  gz_json_doubles(writer, NULL, gap->points[1], 3);
  gz_json_close(writer);
}

/* The smallest of each pair. */
static void json_gaps(gz_json *writer, const watch_log *log) {
  gz_json_open(writer, "gaps", '[');
  for (uint32_t i = 0; i < log->gap_count; i++) {
    const watch_gap *one = &log->gaps[i];
    gz_json_open(writer, NULL, '{');
    gz_json_text(writer, "a", log->names[one->a]);
    gz_json_text(writer, "b", log->names[one->b]);
    gz_json_integer(writer, "step", one->step);
    json_gap(writer, &one->gap);
    gz_json_close(writer);
  }
  gz_json_close(writer);
}

static void json_smallest(gz_json *writer, const watch_log *log) {
  const watch_gap *smallest = watch_smallest_gap(log);
  if (smallest)
    gz_json_double(writer, "smallest_gap", smallest->gap.distance);
  else
    gz_json_word(writer, "smallest_gap", "null");
}

static void json_event(gz_json *writer, const watch_log *log, const watch_event *event) {
  gz_json_open(writer, NULL, '{');
  gz_json_text(writer, "event", change_words[event->change]);
  gz_json_text(writer, "a", log->names[event->a]);
  gz_json_text(writer, "b", log->names[event->b]);
  gz_json_text(writer, "before", graze_relation_string(event->before));
  gz_json_text(writer, "relation", graze_relation_string(watch_relation(event)));
  if (has_doubt(event)) {
    gz_json_text(writer, "doubt", graze_doubt_string(event->verdict.doubt));
    gz_json_text(writer, "doubt_object", log->names[event->doubt_name]);
    gz_json_doubles(writer, "doubt_point", event->verdict.doubt_point, 3);
  }
  gz_json_integer(writer, "triangle_pairs", event->counts.triangle_pairs);
  if (log->continuous != GRAZE_MOTION_STEPS) gz_json_doubles(writer, "time", event->time, 2);
  if (event->change == WATCH_UNKNOWN) gz_json_doubles(writer, "distance", event->distance, 2);
  if (event->approach > 0) gz_json_double(writer, "clearance", event->approach);
  if (event->gap.found) json_gap(writer, &event->gap);
  gz_json_close(writer);
}

static void json_steps(gz_json *writer, const watch_log *log) {
  uint64_t next = 0;
  gz_json_open(writer, "steps", '[');
  for (uint32_t i = 0; i < log->step_count; i++) {
    const watch_step *step = &log->steps[i];
    gz_json_open(writer, NULL, '{');
    gz_json_integer(writer, "step", i);
    gz_json_hash(writer, "hash", step->hash);
    gz_json_integer(writer, "pairs", step->pairs);
    gz_json_integer(writer, "candidate_pairs", step->candidate_pairs);
    gz_json_integer(writer, "decided_pairs", step->decided_pairs);
    gz_json_open(writer, "events", '[');
    for (; next < log->event_count && log->events[next].step == i; next++) json_event(writer, log, &log->events[next]);
    gz_json_close(writer);
    gz_json_close(writer);
  }
  gz_json_close(writer);
}

static void json_totals(gz_json *writer, const session *run, const watch_log *log) {
  watch_counts counts = count_all(log);
  gz_json_open(writer, "counts", '{');
  gz_json_integer(writer, "objects", log->objects);
  gz_json_integer(writer, "triangles", log->triangles);
  gz_json_integer(writer, "steps", log->step_count);
  gz_json_integer(writer, "steps_with_pairs", counts.steps);
  gz_json_integer(writer, "most_pairs", counts.most);
  gz_json_integer(writer, "began", counts.of[0]);
  gz_json_integer(writer, "changed", counts.of[1]);
  gz_json_integer(writer, "ended", counts.of[2]);
  if (log->continuous != GRAZE_MOTION_STEPS) {
    gz_json_integer(writer, "passed", counts.of[GRAZE_FILM_PASSED]);
    gz_json_integer(writer, "unknown", counts.of[WATCH_UNKNOWN]);
  }
  if (log->clear) json_smallest(writer, log);
  gz_json_close(writer);
  session_write_seconds(run, writer);
}

static void print_json(output *out, const watch_options *watch, const session *run, const watch_log *log) {
  gz_json writer = gz_json_begin_result(out);
  gz_json_text(&writer, "engine", session_engine(run));
  if (!watch->replay) gz_json_text(&writer, "exactness", exactness_names[watch->def.exactness]);
  if (log->continuous != GRAZE_MOTION_STEPS) {
    gz_json_text(&writer, "continuous", log->continuous == GRAZE_MOTION_LINEAR ? "linear" : "rigid");
  }
  gz_json_text(&writer, "status", log->complete ? "complete" : "incomplete");
  if (watch->replay) gz_json_bool(&writer, "as_recorded", !log->differs);
  if (log->differs) gz_json_integer(&writer, "differs_from_step", log->differs_at);
  json_steps(&writer, log);
  if (log->clear) json_gaps(&writer, log);
  json_totals(&writer, run, log);
  gz_json_end(&writer);
}

/* ---- CSV --------------------------------------------------------------------------------------------------- */

static void put_number(table *rows, bool is_there, double number) {
  if (is_there)
    table_double(rows, number);
  else
    table_text(rows, "");
}

static void put_gap(table *rows, const watch_event *event) {
  put_number(rows, event->gap.found, event->gap.distance);
  put_number(rows, event->gap.found || event->approach > 0, event->gap.found ? event->gap.clearance : event->approach);
}

static void print_csv(output *out, const watch_options *watch, const session *run, const watch_log *log) {
  static const table_column always[] = {{"step", false}, {"event", true},  {"a", true},
                                        {"b", true},     {"before", true}, {"relation", true}};
  static const table_column times[] = {{"earliest", false}, {"latest", false}},
                            gaps[] = {{"gap", false}, {"clearance", false}};
  const bool continuous = log->continuous != GRAZE_MOTION_STEPS;
  table_column columns[10];
  uint32_t count = 6;
  (void)watch, (void)run;
  memcpy(columns, always, sizeof always);
  if (continuous) memcpy(columns + count, times, sizeof times);
  if (continuous) count += 2;
  if (log->clear) memcpy(columns + count, gaps, sizeof gaps);
  if (log->clear) count += 2;
  table rows = table_begin(columns, count);
  for (uint64_t i = 0; i < log->event_count; i++) {
    const watch_event *event = &log->events[i];
    table_integer(&rows, event->step);
    table_text(&rows, change_words[event->change]);
    table_text(&rows, log->names[event->a]);
    table_text(&rows, log->names[event->b]);
    table_text(&rows, graze_relation_string(event->before));
    table_text(&rows, graze_relation_string(watch_relation(event)));
    if (continuous) table_double(&rows, event->time[0]);
    if (continuous) table_double(&rows, event->time[1]);
    if (log->clear) put_gap(&rows, event);
  }
  table_write_csv(&rows, out);
  table_free(&rows);
}

void watch_print(output *out, const watch_options *watch, const session *run, const watch_log *log) {
  static void (*const printers[])(output *, const watch_options *, const session *, const watch_log *) = {
      print_text, print_json, print_csv};
  printers[watch->common.format](out, watch, run, log);
}
