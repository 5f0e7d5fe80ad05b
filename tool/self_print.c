/* Where meshes meet themselves; see self_print.h. */
#include "self_print.h"

#include <inttypes.h>

#include "diagnostics.h"
#include "table.h"

enum { COUNTS = 8 };
static const char *const count_names[COUNTS] = {"triangles",     "degenerate",  "self_pairs",    "duplicates",
                                                "edge_overlaps", "vertex_more", "disjoint_hits", "degenerate_pairs"};

static void list_counts(const self_row *row, uint64_t counts[COUNTS]) {
  const graze_self_result *f = &row->found;
  const uint64_t all[COUNTS] = {row->triangles,   row->degenerate, f->self_pairs,    f->duplicates,
                                f->edge_overlaps, f->vertex_more,  f->disjoint_hits, f->degenerate_pairs};
  for (int i = 0; i < COUNTS; i++) counts[i] = all[i];
}

uint64_t self_total(const self_row *rows, uint32_t count) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < count; i++) total += rows[i].found.self_pairs;
  return total;
}

void self_put_json(gz_json *json, const self_row *row) {
  uint64_t counts[COUNTS];
  list_counts(row, counts);
  gz_json_open(json, NULL, '{');
  gz_json_text(json, "name", row->name);
  for (int i = 0; i < COUNTS; i++) gz_json_integer(json, count_names[i], counts[i]);
  gz_json_hash(json, "hash", row->found.hash);
}

static table make_table(const self_row *rows, uint32_t count) {
  static const table_column columns[] = {{"name", true},         {"triangles", false},     {"degenerate", false},
                                         {"self_pairs", false},  {"duplicates", false},    {"edge_overlaps", false},
                                         {"vertex_more", false}, {"disjoint_hits", false}, {"degenerate_pairs", false},
                                         {"hash", false}};
  table t = table_begin(columns, sizeof columns / sizeof columns[0]);
  for (uint32_t k = 0; k < count; k++) {
    uint64_t counts[COUNTS];
    list_counts(&rows[k], counts);
    table_text(&t, rows[k].name);
    for (int i = 0; i < COUNTS; i++) table_integer(&t, counts[i]);
    table_hex(&t, rows[k].found.hash);
  }
  return t;
}

void self_write_table_csv(output *out, const self_row *rows, uint32_t count) {
  table t = make_table(rows, count);
  table_write_csv(&t, out);
  table_free(&t);
}

void self_write_table_text(output *out, const self_row *rows, uint32_t count) {
  table t = make_table(rows, count);
  table_write_text(&t, out);
  table_free(&t);
}

void self_write_verdict(output *out, const self_row *rows, uint32_t count, const char *who, double seconds) {
  const uint64_t total = self_total(rows, count);
  uint32_t empty = 0;
  for (uint32_t k = 0; k < count; k++) empty += rows[k].triangles == 0;
  if (empty == count)
    output_print(out, "nothing to check: no triangles");
  else if (total == 0)
    output_print(out, "clear: no mesh meets itself");
  else
    output_print(out, "%" PRIu64 " self pair%s", total, total == 1 ? "" : "s");
  if (empty > 0 && empty < count) output_print(out, ", %" PRIu32 " without triangles", empty);
  output_print(out, " (%" PRIu32 " mesh%s; %s, %.3f s)\n", count, count == 1 ? "" : "es", who, seconds);
}

char *self_csv_name(const char *name) {
  output text;
  if (!gz_text_begin(NULL, &text, NULL, NULL)) fail_out_of_memory();
  write_csv_field(&text, name);
  gz_put_bytes(&text, ",", 2); /* with the end of a string */
  if (text.no_memory) fail_out_of_memory();
  return text.data;
}

void self_put_csv_pair(output *out, const char *name, uint64_t a, uint64_t b) {
  gz_put_text(out, name);
  gz_put_integer(out, a);
  gz_put_text(out, ",");
  gz_put_integer(out, b);
  gz_put_text(out, "\n");
}
