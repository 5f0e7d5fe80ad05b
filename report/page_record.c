/* page_record.c: see page_record.h. */
#include "page_record.h"

void page_put_meshes(page_sink *sink, const page_meshes *plan) {
  page_json_open(sink, "meshes", '[');
  for (uint32_t i = 0; i < plan->count; i++) {
    const page_mesh *m = plan->meshes + i;
    page_json_open(sink, NULL, '{');
    page_json_count(sink, "triangles", m->triangles);
    page_json_count(sink, "shown", m->shown);
    page_json_count(sink, "points", m->points);
    page_json_numbers(sink, "min", m->min, 3);
    page_json_numbers(sink, "max", m->max, 3);
    page_json_number(sink, "solid", m->solid);
    page_json_close(sink, '}');
  }
  page_json_close(sink, ']');
}

void page_put_objects(page_sink *sink, const graze_report *report, const page_meshes *plan) {
  page_json_open(sink, "objects", '[');
  for (uint32_t i = 0; i < report->object_count; i++) {
    const graze_report_object *object = report->objects + i;
    page_json_open(sink, NULL, '{');
    page_json_text(sink, "name", object->name);
    page_json_text(sink, "layer", object->layer);
    page_json_text(sink, "file", object->file);
    if (plan->of_object[i] == PAGE_NO_MESH) {
      page_json_word(sink, "mesh", "null");
    } else {
      page_json_count(sink, "mesh", plan->of_object[i]);
    }
    page_json_numbers(sink, "pose", object->pose.m, 12);
    page_json_close(sink, '}');
  }
  page_json_close(sink, ']');
}

static void put_triangle_numbers(page_sink *sink, const page_meshes *plan) {
  uint64_t all = 0, shown = 0;
  for (uint32_t i = 0; i < plan->count; i++) {
    all += (uint64_t)plan->meshes[i].triangles * plan->meshes[i].instances;
    shown += (uint64_t)plan->meshes[i].shown * plan->meshes[i].instances;
  }
  page_json_open(sink, "triangles", '{');
  page_json_count(sink, "all", all);
  page_json_count(sink, "shown", shown);
  page_json_close(sink, '}');
}

void page_put_facts(page_sink *sink, const graze_report *report, const page_meshes *plan) {
  page_json_text(sink, "title", report->title);
  page_json_text(sink, "created", report->created);
  page_json_text(sink, "units", report->units);
  page_json_text(sink, "engine", report->engine);
  page_json_text(sink, "exactness", report->exactness);
  page_json_word(sink, "complete", report->complete ? "true" : "false");
  page_json_count(sink, "object_pairs", report->object_pairs);
  page_json_open(sink, "seconds", '{');
  page_json_number(sink, "load", report->load_seconds);
  page_json_number(sink, "build", report->build_seconds);
  page_json_number(sink, "query", report->query_seconds);
  page_json_close(sink, '}');
  put_triangle_numbers(sink, plan);
}

void page_put_groups_and_rules(page_sink *sink, const graze_report *r) {
  static const char *const kinds[] = {"object", "layers", "place"};
  page_json_open(sink, "groups", '[');
  for (uint32_t i = 0; i < r->group_count; i++) {
    page_json_open(sink, NULL, '{');
    page_json_text(sink, "kind", (unsigned)r->groups[i].kind < 3 ? kinds[r->groups[i].kind] : "");
    page_json_text(sink, "title", r->groups[i].title);
    page_json_count(sink, "clashes", r->groups[i].clashes);
    page_json_close(sink, '}');
  }
  page_json_close(sink, ']');
  page_json_open(sink, "rules", '[');
  for (uint32_t i = 0; i < r->rule_count; i++) {
    page_json_open(sink, NULL, '{');
    page_json_text(sink, "text", r->rules[i].text);
    page_json_count(sink, "pairs", r->rules[i].pairs);
    page_json_close(sink, '}');
  }
  page_json_close(sink, ']');
}
