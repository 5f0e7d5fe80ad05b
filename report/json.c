/* json.c: the report for programs, and for the next check to carry on from. Keys are those of `graze check --format
 * json` and more; what is resolved stands in a list of its own, so that "pairs" is what meets now. Written straight
 * out: lists of triangle pairs can be larger than memory would like to hold twice.
 */
#include <math.h>
#include <string.h>

#include "history.h"
#include "out.h"

/* ---- small pieces: every key but the first of an object brings its comma ---- */

static void key(gz_text *out, const char *name) {
  gz_put_text(out, ",\"");
  gz_put_text(out, name);
  gz_put_text(out, "\":");
}

static void key_text(gz_text *out, const char *name, const char *text) {
  key(out, name);
  gz_put_json(out, text);
}

static void key_integer(gz_text *out, const char *name, uint64_t value) {
  key(out, name);
  gz_put_integer(out, value);
}

static void key_hash(gz_text *out, const char *name, uint64_t value) {
  key(out, name);
  gz_put_text(out, "\"");
  gz_put_hex(out, value);
  gz_put_text(out, "\"");
}

static void put_number(gz_text *out, double value) {
  if (isfinite(value)) {
    gz_put_finite(out, value);
  } else {
    gz_put_text(out, "null");
  }
}

static void key_number(gz_text *out, const char *name, double value) {
  key(out, name);
  put_number(out, value);
}

static void put_numbers(gz_text *out, const double *values, int count) {
  gz_put_text(out, "[");
  for (int i = 0; i < count; i++) {
    if (i > 0) gz_put_text(out, ",");
    put_number(out, values[i]);
  }
  gz_put_text(out, "]");
}

/* ---- objects ---- */

static void put_object(gz_text *out, const graze_report_object *object) {
  graze_mesh_facts facts = {0};
  gz_report_object_facts(object, &facts);
  gz_put_text(out, "{\"name\":");
  gz_put_json(out, object->name);
  key_text(out, "mesh", object->file);
  key_integer(out, "triangles", facts.triangles);
  key_integer(out, "degenerate", facts.degenerate);
  key(out, "closed");
  gz_put_text(out, facts.closed && facts.oriented ? "true" : "false");
  key_text(out, "layer", object->layer);
  key_text(out, "file", object->file);
  key_hash(out, "mesh_hash", facts.hash);
  key_hash(out, "pose_hash", graze_report_pose_hash(&object->pose));
  gz_put_text(out, "}");
}

/* Objects that only a resolved clash names are not in the scene. Returns the number of those that are. */
static uint64_t put_objects(gz_text *out, const graze_report *report) {
  uint64_t count = 0;
  key(out, "objects");
  gz_put_text(out, "[");
  for (uint32_t i = 0; i < report->object_count; i++) {
    if (!report_is_present(&report->objects[i])) continue;
    gz_put_text(out, count++ > 0 ? ",\n  " : "\n  ");
    put_object(out, &report->objects[i]);
  }
  gz_put_text(out, "]");
  return count;
}

/* ---- clashes ---- */

static void put_counts(gz_text *out, const graze_counts *counts) {
  key_integer(out, "triangle_pairs", counts->triangle_pairs);
  key_integer(out, "points", counts->points);
  key_integer(out, "segments", counts->segments);
  key_integer(out, "areas", counts->areas);
  key_integer(out, "coplanar", counts->coplanar);
  key_integer(out, "degenerate", counts->degenerate);
  key_hash(out, "hash", counts->hash);
}

static void put_triangles(gz_text *out, const graze_report_clash *clash) {
  key(out, "triangles");
  gz_put_text(out, "[");
  for (uint64_t i = 0; i < clash->counts.triangle_pairs; i++) {
    gz_put_text(out, i > 0 ? ",[" : "[");
    gz_put_integer(out, clash->triangles[i].a);
    gz_put_text(out, ",");
    gz_put_integer(out, clash->triangles[i].b);
    gz_put_text(out, "]");
  }
  gz_put_text(out, "]");
}

static void put_curve(gz_text *out, const graze_report_clash *clash) {
  key(out, "curve");
  gz_put_text(out, "[");
  for (uint32_t k = 0; k < clash->curve_count; k++) {
    gz_put_text(out, k > 0 ? ",[" : "[");
    for (uint32_t i = clash->curve_starts[k]; i < clash->curve_starts[k + 1]; i++) {
      if (i > clash->curve_starts[k]) gz_put_text(out, ",");
      put_numbers(out, clash->curve_points[i], 3);
    }
    gz_put_text(out, "]");
  }
  gz_put_text(out, "]");
}

static void put_place(gz_text *out, const graze_report_clash *clash) {
  key(out, "point");
  if (isfinite(clash->point[0]) && isfinite(clash->point[1]) && isfinite(clash->point[2])) {
    put_numbers(out, clash->point, 3);
  } else {
    gz_put_text(out, "null");
  }
  key(out, "box");
  if (clash->box.min[0] <= clash->box.max[0]) {
    gz_put_text(out, "{\"min\":");
    put_numbers(out, clash->box.min, 3);
    key(out, "max");
    put_numbers(out, clash->box.max, 3);
    gz_put_text(out, "}");
  } else {
    gz_put_text(out, "null");
  }
  key_number(out, "depth_estimate", clash->depth);
}

static void put_group_numbers(gz_text *out, const graze_report_clash *clash) {
  const uint32_t numbers[3] = {clash->group_object, clash->group_layers, clash->group_place};
  bool first = true;
  key(out, "groups");
  gz_put_text(out, "[");
  for (int k = 0; k < 3; k++) {
    if (numbers[k] == GRAZE_NO_GROUP) continue;
    if (!first) gz_put_text(out, ",");
    gz_put_integer(out, numbers[k]);
    first = false;
  }
  gz_put_text(out, "]");
}

static void put_clash(gz_text *out, const graze_report *report, const graze_report_clash *clash, bool curves) {
  const char *found = clash->found != NULL && *clash->found ? clash->found : report->created;
  gz_put_text(out, "{\"a\":");
  gz_put_json(out, report->objects[clash->a].name);
  key_text(out, "b", report->objects[clash->b].name);
  key_text(out, "relation", graze_relation_string(clash->relation));
  if (clash->reason != NULL) key_text(out, "reason", clash->reason);
  if (clash->state != GRAZE_STATE_RESOLVED) put_counts(out, &clash->counts);
  key_text(out, "id", clash->id);
  key_text(out, "state", graze_report_state_string(clash->state));
  key_text(out, "found", found);
  key_text(out, "mark", clash->mark);
  key_text(out, "comment", clash->comment);
  put_place(out, clash);
  put_group_numbers(out, clash);
  if (curves && clash->curve_starts != NULL) put_curve(out, clash); /* an empty one tells that it is known */
  if (clash->triangles != NULL && clash->state != GRAZE_STATE_RESOLVED) put_triangles(out, clash);
  gz_put_text(out, "}");
}

/* Either the resolved clashes or all others. */
static void put_clashes(gz_text *out, const graze_report *report, bool resolved, bool curves) {
  bool first = true;
  key(out, resolved ? "resolved" : "pairs");
  gz_put_text(out, "[");
  for (uint32_t i = 0; i < report->clash_count; i++) {
    if ((report->clashes[i].state == GRAZE_STATE_RESOLVED) != resolved) continue;
    gz_put_text(out, first ? "\n  " : ",\n  ");
    put_clash(out, report, &report->clashes[i], curves);
    first = false;
  }
  gz_put_text(out, "]");
}

/* ---- the rest ---- */

static void put_rules(gz_text *out, const graze_report *report) {
  key(out, "rules");
  gz_put_text(out, "[");
  for (uint32_t i = 0; i < report->rule_count; i++) {
    gz_put_text(out, i > 0 ? ",{\"text\":" : "{\"text\":");
    gz_put_json(out, report->rules[i].text);
    key_integer(out, "pairs", report->rules[i].pairs);
    gz_put_text(out, "}");
  }
  gz_put_text(out, "]");
}

static void put_groups(gz_text *out, const graze_report *report) {
  static const char *const kinds[] = {"object", "layers", "place"};
  key(out, "groups");
  gz_put_text(out, "[");
  for (uint32_t i = 0; i < report->group_count; i++) {
    gz_put_text(out, i > 0 ? ",\n  {\"kind\":" : "\n  {\"kind\":");
    gz_put_json(out, kinds[report->groups[i].kind]);
    key_text(out, "title", report->groups[i].title);
    key_integer(out, "clashes", report->groups[i].clashes);
    gz_put_text(out, "}");
  }
  gz_put_text(out, "]");
}

static void put_totals(gz_text *out, const graze_report *report, uint64_t objects) {
  uint64_t clashes = 0;
  for (uint32_t i = 0; i < report->clash_count; i++) clashes += gz_report_is_live(&report->clashes[i]);
  gz_put_text(out, ",\n \"counts\":{\"objects\":");
  gz_put_integer(out, objects);
  key_integer(out, "object_pairs", report->object_pairs);
  key_integer(out, "clashes", clashes);
  if (report->reused_pairs > 0) key_integer(out, "reused_pairs", report->reused_pairs);
  gz_put_text(out, "}");
  key(out, "seconds");
  gz_put_text(out, "{\"load\":");
  put_number(out, report->load_seconds);
  key_number(out, "build", report->build_seconds);
  key_number(out, "query", report->query_seconds);
  gz_put_text(out, "}}\n");
}

static void put_report(gz_text *out, const graze_report *report, bool curves) {
  gz_put_text(out, "{\"graze\":");
  gz_put_json(out, graze_version());
  key_text(out, "engine", report->engine);
  key_text(out, "exactness", report->exactness);
  key_text(out, "status", report->complete ? "complete" : "incomplete");
  key_text(out, "title", report->title);
  key_text(out, "created", report->created);
  key_text(out, "units", report->units);
  put_rules(out, report);
  uint64_t objects = put_objects(out, report);
  put_clashes(out, report, false, curves);
  put_clashes(out, report, true, curves);
  put_groups(out, report);
  put_totals(out, report, objects);
}

graze_status graze_report_write_json(graze_context *context, const char *path, const graze_report *report,
                                     bool curves) {
  report_file file;
  graze_status status = gz_report_file_open(context, &file, path, report);
  if (status != GRAZE_OK) return status;
  put_report(&file.out, report, curves);
  return gz_report_file_close(context, &file, GRAZE_OK);
}

graze_status graze_report_send_json(graze_context *context, graze_report_sink sink, void *user,
                                    const graze_report *report, bool curves) {
  static const char name[] = "report";
  gz_text out;
  if (sink == NULL) return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, name, "", "no sink");
  graze_status status = gz_report_check(context, report, name);
  if (status == GRAZE_OK) status = gz_report_check_groups(context, report, name);
  if (status != GRAZE_OK) return status;
  if (!gz_text_begin(&out, sink, user)) return gz_report_fail_memory(context, name);
  put_report(&out, report, curves);
  gz_text_flush(&out);
  if (out.no_memory) {
    status = gz_report_fail_memory(context, name);
  } else if (out.refused) {
    status = gz_fail_named(context, GRAZE_ERROR_FILE, name, "", "the sink takes no more");
  } else {
    status = GRAZE_OK;
  }
  gz_text_end(&out);
  return status;
}
