/* record.c: see record.h. */
#include "record.h"

#include "camera.h"

void gz_record_put_counts(gz_json *json, const graze_counts *counts) {
  gz_json_integer(json, "triangle_pairs", counts->triangle_pairs);
  gz_json_integer(json, "points", counts->points);
  gz_json_integer(json, "segments", counts->segments);
  gz_json_integer(json, "areas", counts->areas);
  gz_json_integer(json, "coplanar", counts->coplanar);
  gz_json_integer(json, "degenerate", counts->degenerate);
  gz_json_hash(json, "hash", counts->hash);
}

void gz_record_put_gap(gz_json *json, const graze_gap *gap) {
  gz_json_double(json, "gap", gap->distance);
  gz_json_double(json, "clearance", gap->clearance);
  gz_json_open(json, "nearest", '[');
  for (int k = 0; k < 2; k++) gz_json_doubles(json, NULL, gap->points[k], 3);
  gz_json_close(json);
  if (gap->near_pairs == 0) return;
  gz_json_integer(json, "near_pairs", gap->near_pairs);
  gz_json_hash(json, "near_hash", gap->near_hash);
}

void gz_record_put_box(gz_json *json, const graze_box *box) {
  if (gz_camera_box_empty(box)) {
    gz_json_word(json, "box", "null");
    return;
  }
  gz_json_open(json, "box", '{');
  gz_json_doubles(json, "min", box->min, 3);
  gz_json_doubles(json, "max", box->max, 3);
  gz_json_close(json);
}

void gz_record_put_rules(gz_json *json, const graze_report *report) {
  gz_json_open(json, "rules", '[');
  for (uint32_t i = 0; i < report->rule_count; i++) {
    gz_json_open(json, NULL, '{');
    gz_json_text(json, "text", report->rules[i].text);
    gz_json_integer(json, "pairs", report->rules[i].pairs);
    gz_json_close(json);
  }
  gz_json_close(json);
}

void gz_record_put_groups(gz_json *json, const graze_report *report) {
  static const char *const kinds[] = {"object", "layers", "place"};
  gz_json_open(json, "groups", '[');
  for (uint32_t i = 0; i < report->group_count; i++) {
    const graze_report_group *group = &report->groups[i];
    gz_json_open(json, NULL, '{');
    gz_json_text(json, "kind", (unsigned)group->kind < 3 ? kinds[group->kind] : "");
    gz_json_text(json, "title", group->title);
    gz_json_integer(json, "clashes", group->clashes);
    gz_json_close(json);
  }
  gz_json_close(json);
}

void gz_record_put_seconds(gz_json *json, const graze_report *report) {
  gz_json_open(json, "seconds", '{');
  gz_json_double(json, "load", report->load_seconds);
  gz_json_double(json, "build", report->build_seconds);
  gz_json_double(json, "query", report->query_seconds);
  gz_json_close(json);
}

/* ---- pages ---- */

static void put_meshes(gz_json *json, const page_meshes *plan) {
  gz_json_open(json, "meshes", '[');
  for (uint32_t i = 0; i < plan->count; i++) {
    const page_mesh *m = plan->meshes + i;
    gz_json_open(json, NULL, '{');
    gz_json_integer(json, "triangles", m->triangles);
    gz_json_integer(json, "shown", m->shown);
    gz_json_integer(json, "points", m->points);
    gz_json_doubles(json, "min", m->min, 3);
    gz_json_doubles(json, "max", m->max, 3);
    gz_json_double(json, "solid", m->solid);
    gz_json_close(json);
  }
  gz_json_close(json);
}

static void put_objects(gz_json *json, const graze_report *report, const page_meshes *plan) {
  gz_json_open(json, "objects", '[');
  for (uint32_t i = 0; i < report->object_count; i++) {
    const graze_report_object *object = report->objects + i;
    gz_json_open(json, NULL, '{');
    gz_json_text(json, "name", object->name);
    if (object->label != NULL && *object->label != 0) gz_json_text(json, "label", object->label);
    gz_json_text(json, "layer", object->layer);
    gz_json_text(json, "file", object->file);
    if (plan->of_object[i] == PAGE_NO_MESH) {
      gz_json_word(json, "mesh", "null");
    } else {
      gz_json_integer(json, "mesh", plan->of_object[i]);
    }
    gz_json_doubles(json, "pose", object->pose.m, 12);
    gz_json_close(json);
  }
  gz_json_close(json);
}

static void put_triangle_numbers(gz_json *json, const page_meshes *plan) {
  uint64_t all = 0, shown = 0;
  for (uint32_t i = 0; i < plan->count; i++) {
    all += (uint64_t)plan->meshes[i].triangles * plan->meshes[i].instances;
    shown += (uint64_t)plan->meshes[i].shown * plan->meshes[i].instances;
  }
  gz_json_open(json, "triangles", '{');
  gz_json_integer(json, "all", all);
  gz_json_integer(json, "shown", shown);
  gz_json_close(json);
}

gz_json gz_page_begin_record(gz_text *text, const char *format, const graze_report *report, const page_meshes *plan) {
  gz_put_text(text, "<script type=\"application/json\" id=\"record\">");
  gz_json record = gz_json_begin(text, true), *json = &record;
  gz_json_text(json, "format", format);
  gz_json_text(json, "title", report->title);
  gz_json_text(json, "created", report->created);
  gz_json_text(json, "units", report->units);
  gz_json_text(json, "up", report->up == GRAZE_UP_Y ? "y" : "z");
  gz_json_text(json, "engine", report->engine);
  gz_json_text(json, "exactness", report->exactness);
  gz_json_bool(json, "complete", report->complete);
  gz_json_integer(json, "object_pairs", report->object_pairs);
  gz_record_put_seconds(json, report);
  put_triangle_numbers(json, plan);
  gz_record_put_groups(json, report);
  gz_record_put_rules(json, report);
  put_meshes(json, plan);
  put_objects(json, report, plan);
  return record;
}

void gz_page_end_record(gz_json *json) {
  gz_json_end(json);
  gz_put_text(json->text, "</script>\n");
}
