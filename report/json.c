/* json.c: the report for programs, and for the next check to carry on from. Keys are those of `graze check --format
 * json` and more; what is resolved stands in a list of its own, so that "pairs" is what meets now.
 */
#include <math.h>

#include "history.h"
#include "out.h"
#include "record.h"

/* ---- objects ---- */

static void put_solid(gz_json *json, const graze_solid_facts *solid) {
  gz_json_open(json, "solid", '{');
  gz_json_integer(json, "winding", solid->winding_parts);
  gz_json_integer(json, "parity", solid->parity_parts);
  gz_json_integer(json, "surface", solid->surface_parts);
  gz_json_close(json);
}

static void put_object(gz_json *json, const graze_report_object *object) {
  graze_mesh_facts facts = {0};
  gz_report_object_facts(object, &facts);
  gz_json_open(json, NULL, '{');
  gz_json_text(json, "name", object->name);
  gz_json_text(json, "mesh", object->file);
  gz_json_integer(json, "triangles", object->core == NULL ? facts.triangles : 0);
  gz_json_integer(json, "degenerate", facts.degenerate);
  gz_json_bool(json, "closed", facts.closed && facts.oriented);
  if (object->solid != NULL && object->core == NULL) put_solid(json, object->solid);
  if (object->core != NULL) gz_json_double(json, "radius", object->radius);
  gz_json_text(json, "layer", object->layer);
  gz_json_text(json, "file", object->file);
  gz_json_hash(json, "mesh_hash", facts.hash);
  gz_json_hash(json, "pose_hash", graze_report_pose_hash(&object->pose));
  gz_json_close(json);
}

/* Objects that only a resolved clash names are not in the scene. Returns the number of those that are. */
static uint64_t put_objects(gz_json *json, const graze_report *report) {
  uint64_t count = 0;
  gz_json_open(json, "objects", '[');
  for (uint32_t i = 0; i < report->object_count; i++) {
    if (!report_is_present(&report->objects[i])) continue;
    put_object(json, &report->objects[i]);
    count++;
  }
  gz_json_close(json);
  return count;
}

/* ---- clashes ---- */

static void put_triangles(gz_json *json, const graze_report_clash *clash) {
  gz_json_open(json, "triangles", '[');
  for (uint64_t i = 0; i < clash->counts.triangle_pairs; i++)
    gz_json_pair(json, clash->triangles[i].a, clash->triangles[i].b);
  gz_json_close(json);
}

static void put_curve(gz_json *json, const graze_report_clash *clash) {
  gz_json_open(json, "curve", '[');
  for (uint32_t k = 0; k < clash->curve_count; k++) {
    gz_json_open(json, NULL, '[');
    for (uint32_t i = clash->curve_starts[k]; i < clash->curve_starts[k + 1]; i++)
      gz_json_doubles(json, NULL, clash->curve_points[i], 3);
    gz_json_close(json);
  }
  gz_json_close(json);
}

static void put_place(gz_json *json, const graze_report_clash *clash) {
  if (isfinite(clash->point[0]) && isfinite(clash->point[1]) && isfinite(clash->point[2])) {
    gz_json_doubles(json, "point", clash->point, 3);
  } else {
    gz_json_word(json, "point", "null");
  }
  gz_record_put_box(json, &clash->box);
  gz_json_double(json, "depth_estimate", clash->depth);
  if (clash->way_out.known) {
    gz_json_double(json, "depth", clash->way_out.depth);
    gz_json_double(json, "depth_lower", clash->way_out.lower);
    gz_json_doubles(json, "depth_translation", clash->way_out.translation, 3);
  }
  if (clash->gap.found) gz_record_put_gap(json, &clash->gap);
  if (!clash->forgiven) return;
  gz_json_bool(json, "forgiven", true);
  if (clash->moved_corners > 0)
    gz_json_double(json, "moved_corners", clash->moved_corners);
  else
    gz_json_doubles(json, "translation", clash->translation, 3);
  if (clash->tolerance > 0) gz_json_double(json, "tolerance", clash->tolerance);
}

static void put_group_numbers(gz_json *json, const graze_report_clash *clash) {
  const uint32_t numbers[3] = {clash->group_object, clash->group_layers, clash->group_place};
  gz_json_open(json, "groups", '[');
  for (int k = 0; k < 3; k++) {
    if (numbers[k] != GRAZE_NO_GROUP) gz_json_integer(json, NULL, numbers[k]);
  }
  gz_json_close(json);
}

static void put_clash(gz_json *json, const graze_report *report, const graze_report_clash *clash, bool curves) {
  gz_json_open(json, NULL, '{');
  gz_json_text(json, "a", report->objects[clash->a].name);
  gz_json_text(json, "b", report->objects[clash->b].name);
  gz_json_text(json, "relation", graze_relation_string(clash->relation));
  if (clash->reason != NULL) gz_json_text(json, "reason", clash->reason);
  if (clash->state != GRAZE_STATE_RESOLVED) gz_record_put_counts(json, &clash->counts);
  gz_json_text(json, "id", clash->id);
  gz_json_text(json, "state", graze_report_state_string(clash->state));
  gz_json_text(json, "found", clash->found != NULL && *clash->found ? clash->found : report->created);
  gz_json_text(json, "mark", clash->mark);
  gz_json_text(json, "comment", clash->comment);
  put_place(json, clash);
  put_group_numbers(json, clash);
  if (curves && clash->curve_starts != NULL) put_curve(json, clash); /* an empty one tells that it is known */
  if (clash->triangles != NULL && clash->state != GRAZE_STATE_RESOLVED) put_triangles(json, clash);
  gz_json_close(json);
}

/* Either the resolved clashes or all others. */
static void put_clashes(gz_json *json, const graze_report *report, bool resolved, bool curves) {
  gz_json_open(json, resolved ? "resolved" : "pairs", '[');
  for (uint32_t i = 0; i < report->clash_count; i++) {
    if ((report->clashes[i].state == GRAZE_STATE_RESOLVED) == resolved)
      put_clash(json, report, &report->clashes[i], curves);
  }
  gz_json_close(json);
}

/* ---- the whole ---- */

static void put_totals(gz_json *json, const graze_report *report, uint64_t objects) {
  uint64_t live[2] = {0, 0}; /* clashes, and those that are forgiven */
  for (uint32_t i = 0; i < report->clash_count; i++) {
    live[report->clashes[i].forgiven] += gz_report_is_live(&report->clashes[i]);
  }
  gz_json_open(json, "counts", '{');
  gz_json_integer(json, "objects", objects);
  gz_json_integer(json, "object_pairs", report->object_pairs);
  gz_json_integer(json, "clashes", live[0]);
  if (live[1] > 0) gz_json_integer(json, "forgiven", live[1]);
  if (report->reused_pairs > 0) gz_json_integer(json, "reused_pairs", report->reused_pairs);
  gz_json_close(json);
}

static void put_report(gz_text *out, const graze_report *report, bool curves) {
  gz_json json = gz_json_begin_result(out);
  gz_json_text(&json, "engine", report->engine);
  gz_json_text(&json, "exactness", report->exactness);
  gz_json_text(&json, "status", report->complete ? "complete" : "incomplete");
  gz_json_text(&json, "title", report->title);
  gz_json_text(&json, "created", report->created);
  gz_json_text(&json, "units", report->units);
  gz_record_put_rules(&json, report);
  uint64_t objects = put_objects(&json, report);
  put_clashes(&json, report, false, curves);
  put_clashes(&json, report, true, curves);
  gz_record_put_groups(&json, report);
  put_totals(&json, report, objects);
  gz_record_put_seconds(&json, report);
  gz_json_end(&json);
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
  if (!gz_text_begin(context, &out, sink, user)) return gz_report_fail_memory(context, name);
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
