/* Distances of points from one mesh: a line a point in, a row a point out. */
#include "distance_points.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "diagnostics.h"
#include "graze/graze.h"
#include "number_lines.h"
#include "output.h"
#include "session.h"
#include "table.h"

typedef struct measured_points {
  const graze_report *report;
  double (*points)[3];
  graze_point_distance *found;
  uint64_t count;
  uint64_t of_side[4];
} measured_points;

static void read_points(const char *path, measured_points *m) {
  number_lines lines = number_lines_open(path);
  uint64_t room = 0;
  lines.commas = true;
  while (number_lines_next(&lines)) {
    if (m->count == room) {
      room = 2 * room + 1024;
      m->points = realloc(m->points, room * sizeof *m->points);
      if (!m->points) fail_out_of_memory();
    }
    const char *message = number_lines_take_all(&lines, m->points[m->count++], 3);
    if (message) fail("%s:%" PRIu64 ": %s", lines.name, lines.line, message);
  }
  number_lines_close(&lines);
}

static void measure(session *run, const graze_check_def *def, measured_points *m) {
  const graze_report_object *object = &m->report->objects[0];
  graze_point_options how = graze_default_point_options();
  graze_query *query = NULL;
  const double start = clock_now();
  how.open = def->open;
  m->found = calloc(m->count + 1, sizeof *m->found);
  if (!m->found) fail_out_of_memory();
  must(run->context, graze_query_create(run->context, &query));
  must(run->context, graze_mesh_point_distances(query, object->mesh, &object->pose, m->points ? m->points[0] : NULL, 0,
                                                m->count, &how, m->found));
  graze_query_destroy(query);
  for (uint64_t i = 0; i < m->count; i++) m->of_side[m->found[i].side]++;
  clock_add(&run->query_seconds, start);
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static void write_json_point(gz_json *json, const double point[3], const graze_point_distance *found) {
  gz_json_open(json, NULL, '{');
  gz_json_doubles(json, "point", point, 3);
  gz_json_double(json, "distance", found->distance);
  gz_json_text(json, "side", graze_point_side_string(found->side));
  if (found->doubt != GRAZE_DOUBT_NONE) gz_json_text(json, "reason", graze_doubt_string(found->doubt));
  gz_json_doubles(json, "nearest", found->point, 3);
  gz_json_text(json, "feature", graze_feature_string(found->feature));
  gz_json_integer(json, "triangle", found->triangle);
  gz_json_close(json);
}

static void write_json(output *out, const session *run, const measured_points *m) {
  gz_json json = gz_json_begin_result(out);
  gz_json_text(&json, "engine", "cpu");
  gz_json_text(&json, "status", "complete");
  gz_json_text(&json, "units", m->report->units);
  gz_json_text(&json, "mesh", m->report->objects[0].name);
  gz_json_open(&json, "points", '[');
  for (uint64_t i = 0; i < m->count; i++) write_json_point(&json, m->points[i], &m->found[i]);
  gz_json_close(&json);
  gz_json_open(&json, "counts", '{');
  gz_json_integer(&json, "points", m->count);
  for (int k = 0; k < 4; k++) gz_json_integer(&json, graze_point_side_string((graze_point_side)k), m->of_side[k]);
  gz_json_close(&json);
  session_write_seconds(run, &json);
  gz_json_end(&json);
}

static table point_table(const measured_points *m) {
  static const table_column columns[] = {{"x", false},         {"y", false},         {"z", false},
                                         {"distance", false},  {"side", true},       {"nearest_x", false},
                                         {"nearest_y", false}, {"nearest_z", false}, {"triangle", false}};
  table rows = table_begin(columns, sizeof columns / sizeof *columns);
  for (uint64_t i = 0; i < m->count; i++) {
    const graze_point_distance *found = &m->found[i];
    for (int k = 0; k < 3; k++) table_double(&rows, m->points[i][k]);
    table_double(&rows, found->distance);
    table_text(&rows, graze_point_side_string(found->side));
    for (int k = 0; k < 3; k++) table_double(&rows, found->point[k]);
    table_integer(&rows, found->triangle);
  }
  return rows;
}

static void write_csv(output *out, const session *run, const measured_points *m) {
  (void)run;
  table rows = point_table(m);
  table_write_csv(&rows, out);
  table_free(&rows);
}

/* Why sides are unknown: all for the same reason, as there is one mesh. */
static const char *reason_of(const measured_points *m) {
  for (uint64_t i = 0; i < m->count; i++) {
    if (m->found[i].doubt != GRAZE_DOUBT_NONE) return graze_doubt_string(m->found[i].doubt);
  }
  return "";
}

static void write_text(output *out, const session *run, const measured_points *m) {
  table rows = point_table(m);
  table_write_text(&rows, out);
  table_free(&rows);
  output_print(out, "\n%" PRIu64 " point%s: %" PRIu64 " inside, %" PRIu64 " outside, %" PRIu64 " on the surface",
               m->count, plural(m->count), m->of_side[GRAZE_POINT_INSIDE], m->of_side[GRAZE_POINT_OUTSIDE],
               m->of_side[GRAZE_POINT_ON]);
  if (m->of_side[GRAZE_POINT_UNKNOWN] > 0)
    output_print(out, ", %" PRIu64 " unknown: %s", m->of_side[GRAZE_POINT_UNKNOWN], reason_of(m));
  output_print(out, " (cpu, %.3f s)\n", run->load_seconds + run->build_seconds + run->query_seconds);
}

int distance_measure_points(const char *points, const graze_check_def *def, const common_options *common) {
  static void (*const writers[])(output *, const session *, const measured_points *) = {write_text, write_json,
                                                                                        write_csv};
  const file_list files = {.names = (char **)(uintptr_t)def->files, .count = def->file_count};
  session run;
  measured_points m = {0};
  read_points(points, &m);
  output *out = output_open(common->output);
  session_begin(&run, common);
  graze_check *check = session_open_meshes(&run, &files, def);
  m.report = graze_check_report(check);
  session_take_times(&run, check);
  measure(&run, def, &m);
  progress_end(&run.line);
  writers[common->format](out, &run, &m);
  output_close(out);
  const bool found = m.of_side[GRAZE_POINT_ON] > 0;
  free(m.points);
  free(m.found);
  graze_check_destroy(check);
  session_end(&run);
  return found ? exit_found : exit_clear;
}
