/* What `graze check` prints: a table of clashes and a verdict, JSON, or CSV. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "diagnostics.h"
#include "table.h"

enum { PRINTED = 10 /* columns for people, */, GAPS = 2 /* and with clearances */, MOST_COLUMNS = 36 };

typedef struct printing {
  graze_context *context;
  const check_options *options;
  const graze_report *report;
  graze_check_counts counts;
} printing;

static const char *name_of(const printing *print, uint32_t object) {
  return print->report->objects[object].name;
}

/* Clashes of now: resolved ones are told in the verdict only. */
static bool is_listed(const graze_report_clash *clash) {
  return clash->state != GRAZE_STATE_RESOLVED;
}

static void put_numbers(table *rows, const double *values, int count) {
  for (int i = 0; i < count; i++) {
    if (isfinite(values[i]))
      table_double(rows, values[i]);
    else
      table_text(rows, "");
  }
}

static void put_gap(table *rows, const graze_gap *gap) {
  const double numbers[GAPS] = {gap->found ? gap->distance : NAN, gap->found ? gap->clearance : NAN};
  put_numbers(rows, numbers, GAPS);
}

static void put_places(table *rows, const graze_report *report, const graze_report_clash *clash) {
  static const double none[3] = {NAN, NAN, NAN};
  bool empty = clash->box.min[0] > clash->box.max[0];
  table_text(rows, clash->id);
  table_text(rows, graze_report_state_string(clash->state));
  table_text(rows, report->objects[clash->a].layer);
  table_text(rows, report->objects[clash->b].layer);
  put_numbers(rows, clash->point, 3);
  put_numbers(rows, empty ? none : clash->box.min, 3);
  put_numbers(rows, empty ? none : clash->box.max, 3);
  put_numbers(rows, &clash->depth, 1);
  table_text(rows, clash->reason);
  table_text(rows, clash->mark);
  table_text(rows, clash->comment);
  if (report->tolerant) table_text(rows, clash->forgiven ? "yes" : "");
  if (!report->clear) return;
  put_numbers(rows, clash->gap.found ? clash->gap.points[0] : none, 3);
  put_numbers(rows, clash->gap.found ? clash->gap.points[1] : none, 3);
}

static uint32_t add_columns(table_column *to, uint32_t at, const table_column *columns, uint32_t count) {
  memcpy(to + at, columns, count * sizeof *columns);
  return at + count;
}

/* The table's columns, into memory that lasts; returns how many. */
static uint32_t list_columns(const graze_report *report, bool places, table_column *columns) {
  static const table_column
      first[] = {{"a", true}, {"b", true}, {"relation", true}},
      gaps[GAPS] = {{"gap", false}, {"clearance", false}},
      counts[] = {{"triangle_pairs", false}, {"points", false},     {"segments", false}, {"areas", false},
                  {"coplanar", false},       {"degenerate", false}, {"hash", false}},
      of_places[] = {{"id", true},     {"state", true},  {"layer_a", true}, {"layer_b", true},         {"x", false},
                     {"y", false},     {"z", false},     {"min_x", false},  {"min_y", false},          {"min_z", false},
                     {"max_x", false}, {"max_y", false}, {"max_z", false},  {"depth_estimate", false}, {"reason", true},
                     {"mark", true},   {"comment", true}},
      forgiven[] = {{"forgiven", true}}, nearest[] = {{"near_ax", false}, {"near_ay", false}, {"near_az", false},
                                                      {"near_bx", false}, {"near_by", false}, {"near_bz", false}};
  uint32_t n = add_columns(columns, 0, first, 3);
  if (report->clear) n = add_columns(columns, n, gaps, GAPS);
  n = add_columns(columns, n, counts, PRINTED - 3);
  if (!places) return n;
  n = add_columns(columns, n, of_places, sizeof of_places / sizeof *of_places);
  if (report->tolerant) n = add_columns(columns, n, forgiven, 1);
  return report->clear ? add_columns(columns, n, nearest, 6) : n;
}

/* With `places` the columns of clashes.csv follow, under their names there. What is forgiven stands in a table for
 * programs, and apart from one for readers. */
static table pair_table(const printing *print, bool places, table_column columns[MOST_COLUMNS]) {
  const graze_report *report = print->report;
  table rows = table_begin(columns, list_columns(report, places, columns));
  for (uint32_t i = 0; i < report->clash_count; i++) {
    const graze_report_clash *clash = &report->clashes[i];
    if (!is_listed(clash) || (clash->forgiven && !places)) continue;
    table_text(&rows, name_of(print, clash->a));
    table_text(&rows, name_of(print, clash->b));
    table_text(&rows, graze_relation_string(clash->relation));
    if (report->clear) put_gap(&rows, &clash->gap);
    table_integer(&rows, clash->counts.triangle_pairs);
    table_integer(&rows, clash->counts.points);
    table_integer(&rows, clash->counts.segments);
    table_integer(&rows, clash->counts.areas);
    table_integer(&rows, clash->counts.coplanar);
    table_integer(&rows, clash->counts.degenerate);
    table_hex(&rows, clash->counts.hash);
    if (places) put_places(&rows, report, clash);
  }
  return rows;
}

/* ---- csv --------------------------------------------------------------------------------------------------- */

/* One row for each pair of triangles. */
static void print_csv_triangles(output *out, const printing *print) {
  const graze_report *report = print->report;
  gz_put_text(out, "a,b,triangle_a,triangle_b\n");
  for (uint32_t i = 0; i < report->clash_count; i++) {
    const graze_report_clash *clash = &report->clashes[i];
    for (uint64_t j = 0; clash->triangles && j < clash->counts.triangle_pairs; j++) {
      write_csv_field(out, name_of(print, clash->a));
      gz_put_text(out, ",");
      write_csv_field(out, name_of(print, clash->b));
      gz_put_text(out, ",");
      gz_put_integer(out, clash->triangles[j].a);
      gz_put_text(out, ",");
      gz_put_integer(out, clash->triangles[j].b);
      gz_put_text(out, "\n");
    }
  }
}

/* Only of complete checks: a table cut short would look like a whole one. */
static void print_csv(output *out, const printing *print) {
  if (!print->report->complete) return;
  if (print->options->def.triangles) {
    print_csv_triangles(out, print);
    return;
  }
  table_column columns[MOST_COLUMNS];
  table rows = pair_table(print, true, columns);
  table_write_csv(&rows, out);
  table_free(&rows);
}

/* ---- json -------------------------------------------------------------------------------------------------- */

static bool send_json(void *user, const void *bytes, size_t size) {
  gz_put_bytes(user, bytes, size);
  return true; /* an output that cannot take it ends the program */
}

static void print_json(output *out, const printing *print) {
  must(print->context, graze_report_send_json(print->context, send_json, out, print->report, print->options->curves));
}

/* ---- text -------------------------------------------------------------------------------------------------- */

static uint32_t count_mark(const graze_report *report, const char *mark) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < report->clash_count; i++)
    count += is_listed(&report->clashes[i]) && strcmp(report->clashes[i].mark, mark) == 0;
  return count;
}

static uint32_t count_state(const graze_report *report, graze_report_state state) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < report->clash_count; i++) count += report->clashes[i].state == state;
  return count;
}

static uint32_t count_forgiven(const graze_report *report) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < report->clash_count; i++) count += report->clashes[i].forgiven;
  return count;
}

/* "12 clashes (8 cross, 4 touch)" */
static void print_clashes(output *out, const graze_report *report) {
  uint64_t of[GRAZE_UNKNOWN + 1] = {0}, clashes = 0;
  for (uint32_t i = 0; i < report->clash_count; i++) {
    if (is_listed(&report->clashes[i]) && !report->clashes[i].forgiven) of[report->clashes[i].relation]++;
  }
  for (int r = 0; r <= GRAZE_UNKNOWN; r++) clashes += r == GRAZE_SEPARATE ? 0 : of[r];
  if (clashes == 0) {
    gz_put_text(out, "no clash");
    return;
  }
  output_print(out, "%" PRIu64 " clash%s", clashes, clashes == 1 ? "" : "es");
  const char *before = " (";
  for (int r = 0; r <= GRAZE_UNKNOWN; r++) {
    if (r == GRAZE_SEPARATE || of[r] == 0) continue;
    output_print(out, "%s%" PRIu64 " %s", before, of[r], graze_relation_string((graze_relation)r));
    before = ", ";
  }
  gz_put_text(out, ")");
}

static void print_verdict(output *out, const printing *print) {
  const graze_report *report = print->report;
  const graze_check_counts *counts = &print->counts;
  if (!report->complete)
    gz_put_text(out, "INCOMPLETE, stopped before every pair was checked: ");
  else if (counts->open_clashes == 0)
    gz_put_text(out, "clear: ");
  print_clashes(out, report);
  if (count_forgiven(report) > 0) output_print(out, ", %" PRIu32 " forgiven,", count_forgiven(report));
  output_print(out, " %s %" PRIu64 " pair%s of objects", report->complete ? "among" : "so far among",
               report->object_pairs, plural(report->object_pairs));
  output_print(out, " (%" PRIu32 " object%s, %" PRIu64 " triangles", counts->objects, plural(counts->objects),
               counts->triangles);
  if (counts->ignored_pairs > 0)
    output_print(out, ", %" PRIu64 " pair%s ignored", counts->ignored_pairs, plural(counts->ignored_pairs));
  output_print(out, "; %s, %s, %.3f s)\n", report->engine, report->exactness,
               report->load_seconds + report->build_seconds + report->query_seconds);
}

static void print_length(output *out, const char *before, double length) {
  char number[32];
  graze_format_double(length, number);
  output_print(out, "%s%s", before, number);
}

/* ", ends when steel moves by 0 0 3e-09: 3e-09 of 0.001", ", ends when corners move within their roundings: 3e-09" */
static void print_proof(output *out, const char *b, const graze_report_clash *clash) {
  if (clash->moved_corners > 0) {
    print_length(out, ", ends when corners move within their roundings: ", clash->moved_corners);
    return;
  }
  output_print(out, ", ends when %s moves by", b);
  for (int k = 0; k < 3; k++) print_length(out, " ", clash->translation[k]);
  print_length(out, ": ", clash->depth);
  if (clash->tolerance > 0) print_length(out, " of ", clash->tolerance);
}

/* "forgiven: pump, steel: cross, ends when steel moves by 0 0 3e-09: 3e-09 of 0.001 m" */
static void print_forgiven(output *out, const printing *print, const graze_report_clash *clash) {
  const char *b = name_of(print, clash->b), *units = print->report->units;
  output_print(out, "forgiven: %s, %s: %s", name_of(print, clash->a), b, graze_relation_string(clash->relation));
  if (clash->relation == GRAZE_CROSS) {
    print_proof(out, b, clash);
    output_print(out, "%s%s", *units ? " " : "", units);
  }
  gz_put_text(out, "\n");
}

/* Everything that the table does not say. */
static void print_notes(output *out, const printing *print) {
  const graze_report *report = print->report;
  for (uint32_t i = 0; i < report->clash_count; i++) {
    const graze_report_clash *clash = &report->clashes[i];
    if (clash->relation == GRAZE_UNKNOWN && is_listed(clash))
      output_print(out, "unknown: %s, %s: %s\n", name_of(print, clash->a), name_of(print, clash->b), clash->reason);
  }
  for (uint32_t i = 0; i < report->clash_count; i++) {
    if (report->clashes[i].forgiven) print_forgiven(out, print, &report->clashes[i]);
  }
  for (uint32_t i = 0; i < report->rule_count; i++)
    output_print(out, "rule: %s: %" PRIu64 " pair%s\n", report->rules[i].text, report->rules[i].pairs,
                 plural(report->rules[i].pairs));
  if (!print->options->def.previous) return;
  output_print(out, "since %s: %" PRIu32 " new, %" PRIu32 " active, %" PRIu32 " resolved\n",
               print->options->def.previous, count_state(report, GRAZE_STATE_NEW),
               count_state(report, GRAZE_STATE_ACTIVE), count_state(report, GRAZE_STATE_RESOLVED));
  output_print(out, "marked: %" PRIu32 " approved, %" PRIu32 " reviewed\n", count_mark(report, "approved"),
               count_mark(report, "reviewed"));
  output_print(out, "unchanged: %" PRIu64 " pair%s, not checked again\n", report->reused_pairs,
               plural(report->reused_pairs));
}

static void print_text(output *out, const printing *print) {
  const graze_report *report = print->report;
  if (report->clash_count > count_state(report, GRAZE_STATE_RESOLVED) + count_forgiven(report)) {
    table_column columns[MOST_COLUMNS];
    table rows = pair_table(print, false, columns);
    table_write_text(&rows, out);
    table_free(&rows);
    gz_put_text(out, "\n");
  }
  for (uint32_t i = 0; print->options->def.triangles && i < report->clash_count; i++) {
    const graze_report_clash *clash = &report->clashes[i];
    if (clash->counts.triangle_pairs == 0) continue;
    output_print(out, "%s %s\n", name_of(print, clash->a), name_of(print, clash->b));
    for (uint64_t j = 0; clash->triangles && j < clash->counts.triangle_pairs; j++)
      output_print(out, "  %" PRIu32 " %" PRIu32 "\n", clash->triangles[j].a, clash->triangles[j].b);
    gz_put_text(out, "\n");
  }
  print_notes(out, print);
  print_verdict(out, print);
}

void print_check(output *out, const session *run, const check_options *options, const graze_check *check) {
  static void (*const printers[])(output *, const printing *) = {print_text, print_json, print_csv};
  const printing print = {run->context, options, graze_check_report(check), graze_check_get_counts(check)};
  printers[options->common.format](out, &print);
}
