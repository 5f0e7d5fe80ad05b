#include "target_hits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "diagnostics.h"
#include "table.h"

graze_check *target_hits_open(session *run, graze_check_def *def, graze_targets **targets) {
  def->places = def->facts = false;
  def->every_mesh = def->alone = true;
  graze_check *check = session_open(run, def);
  const graze_report *r = graze_check_report(check);
  session_take_times(run, check);
  const double start = clock_now();
  const graze_mesh **meshes = calloc(r->object_count + 1, sizeof *meshes);
  graze_pose *poses = calloc(r->object_count + 1, sizeof *poses);
  if (!meshes || !poses) fail_out_of_memory();
  for (uint32_t i = 0; i < r->object_count; i++) {
    meshes[i] = r->objects[i].mesh;
    poses[i] = r->objects[i].pose;
  }
  must(run->context, graze_targets_create(run->context, r->object_count, meshes, poses, targets));
  clock_add(&run->build_seconds, start);
  free(meshes);
  free(poses);
  return check;
}

static bool is_hit(const graze_target_hit *hit) {
  return hit->object != GRAZE_NO_TARGET;
}

static uint64_t number_of(const target_hits *h, uint64_t i) {
  return h->numbers ? h->numbers[i] : i;
}

uint64_t target_hits_found(const target_hits *h) {
  uint64_t found = 0;
  for (uint64_t i = 0; i < h->count; i++)
    found += is_hit(&h->hits[i]) && (i == 0 || number_of(h, i) != number_of(h, i - 1));
  return found;
}

/* ---- JSON, CSV --------------------------------------------------------------------------------------------------- */

static const char *name_of(const target_hits *h, const graze_target_hit *hit) {
  return h->report->objects[hit->object].name;
}

/* Those that hit something. */
static void write_json(output *out, const session *run, const target_hits *h) {
  gz_json json = gz_json_begin_result(out);
  char plurals[16];
  snprintf(plurals, sizeof plurals, "%ss", h->one);
  gz_json_text(&json, "engine", "cpu");
  gz_json_text(&json, "status", "complete");
  gz_json_text(&json, "units", h->report->units);
  gz_json_open(&json, "hits", '[');
  for (uint64_t i = 0; i < h->count; i++) {
    const graze_target_hit *hit = &h->hits[i];
    if (!is_hit(hit)) continue;
    gz_json_open(&json, NULL, '{');
    gz_json_integer(&json, h->one, number_of(h, i));
    gz_json_text(&json, "object", name_of(h, hit));
    gz_json_integer(&json, "triangle", hit->triangle);
    gz_json_doubles(&json, h->when, (const double[]){hit->earliest, hit->latest}, 2);
    gz_json_close(&json);
  }
  gz_json_close(&json);
  gz_json_open(&json, "counts", '{');
  gz_json_integer(&json, "objects", h->report->object_count);
  gz_json_integer(&json, plurals, h->asked);
  gz_json_integer(&json, "hits", target_hits_found(h));
  gz_json_close(&json);
  session_write_seconds(run, &json);
  gz_json_end(&json);
}

/* Without a table: there may be millions. */
static void write_csv(output *out, const target_hits *h) {
  output_print(out, "%s,object,triangle,earliest,latest\n", h->numbers ? h->one : "hit");
  for (uint64_t i = 0; i < h->count; i++) {
    const graze_target_hit *hit = &h->hits[i];
    if (!is_hit(hit)) {
      gz_put_text(out, "0,,,,\n");
      continue;
    }
    gz_put_integer(out, h->numbers ? h->numbers[i] : 1);
    gz_put_text(out, ",");
    write_csv_field(out, name_of(h, hit));
    gz_put_text(out, ",");
    gz_put_integer(out, hit->triangle);
    gz_put_text(out, ",");
    gz_put_double(out, hit->earliest);
    gz_put_text(out, ",");
    gz_put_double(out, hit->latest);
    gz_put_text(out, "\n");
  }
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void write_rows(output *out, const target_hits *h) {
  const table_column columns[] = {
      {h->one, false}, {"object", true}, {"triangle", false}, {"earliest", false}, {"latest", false}};
  table rows = table_begin(columns, sizeof columns / sizeof *columns);
  for (uint64_t i = 0; i < h->count; i++) {
    const graze_target_hit *hit = &h->hits[i];
    if (!is_hit(hit)) continue;
    table_integer(&rows, number_of(h, i));
    table_text(&rows, name_of(h, hit));
    table_integer(&rows, hit->triangle);
    table_double(&rows, hit->earliest);
    table_double(&rows, hit->latest);
  }
  table_write_text(&rows, out);
  table_free(&rows);
  gz_put_text(out, "\n");
}

static void write_text(output *out, const session *run, const target_hits *h, const char *verb) {
  const uint64_t found = target_hits_found(h);
  const char *ending = strcmp(verb, "touch") == 0 ? "es" : "s";
  if (found > 0) {
    write_rows(out, h);
    output_print(out, "%" PRIu64 " of %" PRIu64 " %s%s %s%s something", found, h->asked, h->one, plural(h->asked), verb,
                 found == 1 ? ending : "");
  } else {
    output_print(out, "clear: no %s of %" PRIu64 " %s%s anything", h->one, h->asked, verb, ending);
  }
  output_print(out, " (%" PRIu32 " object%s; cpu, %.3f s)\n", h->report->object_count, plural(h->report->object_count),
               run->load_seconds + run->build_seconds + run->query_seconds);
}

void target_hits_write(output *out, output_format format, const session *run, const target_hits *h, const char *verb) {
  if (format == format_json)
    write_json(out, run, h);
  else if (format == format_csv)
    write_csv(out, h);
  else
    write_text(out, run, h, verb);
}
