/* page_record.c: see page_record.h. */
#include "page_record.h"

void gz_page_put_meshes(page_sink *sink, const page_meshes *plan) {
  gz_page_json_open(sink, "meshes", '[');
  for (uint32_t i = 0; i < plan->count; i++) {
    const page_mesh *m = plan->meshes + i;
    gz_page_json_open(sink, NULL, '{');
    gz_page_json_count(sink, "triangles", m->triangles);
    gz_page_json_count(sink, "shown", m->shown);
    gz_page_json_count(sink, "points", m->points);
    gz_page_json_numbers(sink, "min", m->min, 3);
    gz_page_json_numbers(sink, "max", m->max, 3);
    gz_page_json_number(sink, "solid", m->solid);
    gz_page_json_close(sink, '}');
  }
  gz_page_json_close(sink, ']');
}

void gz_page_put_objects(page_sink *sink, const graze_report *report, const page_meshes *plan) {
  gz_page_json_open(sink, "objects", '[');
  for (uint32_t i = 0; i < report->object_count; i++) {
    const graze_report_object *object = report->objects + i;
    gz_page_json_open(sink, NULL, '{');
    gz_page_json_text(sink, "name", object->name);
    gz_page_json_text(sink, "layer", object->layer);
    gz_page_json_text(sink, "file", object->file);
    if (plan->of_object[i] == PAGE_NO_MESH) {
      gz_page_json_word(sink, "mesh", "null");
    } else {
      gz_page_json_count(sink, "mesh", plan->of_object[i]);
    }
    gz_page_json_numbers(sink, "pose", object->pose.m, 12);
    gz_page_json_close(sink, '}');
  }
  gz_page_json_close(sink, ']');
}

static void put_triangle_numbers(page_sink *sink, const page_meshes *plan) {
  uint64_t all = 0, shown = 0;
  for (uint32_t i = 0; i < plan->count; i++) {
    all += (uint64_t)plan->meshes[i].triangles * plan->meshes[i].instances;
    shown += (uint64_t)plan->meshes[i].shown * plan->meshes[i].instances;
  }
  gz_page_json_open(sink, "triangles", '{');
  gz_page_json_count(sink, "all", all);
  gz_page_json_count(sink, "shown", shown);
  gz_page_json_close(sink, '}');
}

void gz_page_put_facts(page_sink *sink, const graze_report *report, const page_meshes *plan) {
  gz_page_json_text(sink, "title", report->title);
  gz_page_json_text(sink, "created", report->created);
  gz_page_json_text(sink, "units", report->units);
  gz_page_json_text(sink, "engine", report->engine);
  gz_page_json_text(sink, "exactness", report->exactness);
  gz_page_json_word(sink, "complete", report->complete ? "true" : "false");
  gz_page_json_count(sink, "object_pairs", report->object_pairs);
  gz_page_json_open(sink, "seconds", '{');
  gz_page_json_number(sink, "load", report->load_seconds);
  gz_page_json_number(sink, "build", report->build_seconds);
  gz_page_json_number(sink, "query", report->query_seconds);
  gz_page_json_close(sink, '}');
  put_triangle_numbers(sink, plan);
}

void gz_page_put_groups_and_rules(page_sink *sink, const graze_report *r) {
  static const char *const kinds[] = {"object", "layers", "place"};
  gz_page_json_open(sink, "groups", '[');
  for (uint32_t i = 0; i < r->group_count; i++) {
    gz_page_json_open(sink, NULL, '{');
    gz_page_json_text(sink, "kind", (unsigned)r->groups[i].kind < 3 ? kinds[r->groups[i].kind] : "");
    gz_page_json_text(sink, "title", r->groups[i].title);
    gz_page_json_count(sink, "clashes", r->groups[i].clashes);
    gz_page_json_close(sink, '}');
  }
  gz_page_json_close(sink, ']');
  gz_page_json_open(sink, "rules", '[');
  for (uint32_t i = 0; i < r->rule_count; i++) {
    gz_page_json_open(sink, NULL, '{');
    gz_page_json_text(sink, "text", r->rules[i].text);
    gz_page_json_count(sink, "pairs", r->rules[i].pairs);
    gz_page_json_close(sink, '}');
  }
  gz_page_json_close(sink, ']');
}
