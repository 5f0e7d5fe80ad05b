/* film_page.c: the page of a film: its fixed parts around meshes, moves and the record. */
#include "camera.h"
#include "film.h"
#include "out.h"
#include "page_parts.h"
#include "record.h"

static const uint64_t default_budget = 1500000;

typedef struct film_page {
  const graze_film *film;
  graze_box bounds;
  double origin[3];
  page_meshes meshes;
} film_page;

static void put_event(gz_json *json, const graze_film_event *event) {
  static const char *const words[] = {"began", "changed", "ended", "passed"};
  gz_json_open(json, NULL, '{');
  gz_json_integer(json, "step", event->step);
  gz_json_text(json, "event", words[event->change]);
  gz_json_integer(json, "a", event->a);
  gz_json_integer(json, "b", event->b);
  gz_json_text(json, "before", graze_relation_string(event->before));
  gz_json_text(json, "relation", graze_relation_string(event->relation));
  if (event->change == GRAZE_FILM_PASSED) gz_json_double(json, "time", event->time);
  gz_json_close(json);
}

static void put_record(gz_text *out, const film_page *p) {
  gz_json record = gz_page_begin_record(out, "graze film page 1", p->film->report, &p->meshes), *json = &record;
  gz_json_open(json, "clashes", '[');
  gz_json_close(json);
  gz_json_integer(json, "steps", p->film->step_count);
  gz_json_doubles(json, "origin", p->origin, 3);
  gz_json_open(json, "bounds", '[');
  if (!gz_camera_box_empty(&p->bounds)) {
    gz_json_doubles(json, NULL, p->bounds.min, 3);
    gz_json_doubles(json, NULL, p->bounds.max, 3);
  }
  gz_json_close(json);
  gz_json_open(json, "events", '[');
  for (uint64_t i = 0; i < p->film->event_count; i++) put_event(json, &p->film->events[i]);
  gz_json_close(json);
  gz_page_end_record(json);
}

static bool put_page(film_page *p, gz_text *out) {
  gz_put_bytes(out, gz_film_part_head, gz_film_part_head_size);
  gz_put_xml(out, p->film->report->title);
  gz_put_bytes(out, gz_film_part_body, gz_film_part_body_size);
  if (!gz_page_meshes_put(&p->meshes, out)) return false;
  gz_page_put_moves(&p->meshes, p->film->moves, p->film->move_count, p->origin, out);
  put_record(out, p);
  gz_put_bytes(out, gz_film_part_tail, gz_film_part_tail_size);
  return true;
}

graze_status graze_film_write_html(graze_context *context, const char *path, const graze_film *film,
                                   uint64_t triangle_budget) {
  film_page p = {.film = film};
  report_file file;
  if (context == NULL || path == NULL || film == NULL)
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, path, "", "a path and a film are needed");
  graze_status status = gz_film_check(context, film, path);
  if (status != GRAZE_OK) return status;
  graze_report plain = *film->report; /* clashes would weigh on how meshes are simplified */
  plain.clash_count = 0;
  status = gz_report_file_open(context, &file, path, &plain);
  if (status != GRAZE_OK) return status;
  p.bounds = gz_film_bounds(film);
  for (int k = 0; k < 3 && !gz_camera_box_empty(&p.bounds); k++)
    p.origin[k] = p.bounds.min[k] / 2 + p.bounds.max[k] / 2;
  if (!gz_page_meshes_plan(context, &p.meshes, &plain, NULL, triangle_budget != 0 ? triangle_budget : default_budget) ||
      !put_page(&p, &file.out)) {
    status = gz_report_fail_memory(context, path);
  }
  gz_page_meshes_free(&p.meshes);
  return gz_report_file_close(context, &file, status);
}
