/* film_page.c: the page of a film: its fixed parts around meshes, moves and the record.
 *
 * A move is 56 bytes of base64: step and object as 32-bit numbers, then floats: nine of the matrix, and the middle of
 * the object's mesh in the world, relative to the middle of the scene. So a float's rounding is small against what is
 * seen, wherever the scene lies and wherever a mesh has its origin. Processors are taken to be little-endian, as the
 * page's are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "camera.h"
#include "film.h"
#include "page_parts.h"
#include "page_record.h"

static const uint64_t default_budget = 1500000;

typedef struct film_page {
  const graze_film *film;
  graze_box bounds;
  double origin[3];
  page_meshes meshes;
} film_page;

static void put_moves(page_sink *sink, const film_page *p) {
  page_base64 stream = {.sink = sink};
  gz_put_text(&sink->text, "<script type=\"text/plain\" id=\"moves\">");
  for (uint64_t i = 0; i < p->film->move_count; i++) {
    const graze_motion_move *move = &p->film->moves[i];
    uint32_t mesh = p->meshes.of_object[move->object], head[2] = {move->step, move->object};
    double middle[3] = {0, 0, 0};
    float numbers[12];
    for (int k = 0; k < 3 && mesh != PAGE_NO_MESH; k++)
      middle[k] = p->meshes.meshes[mesh].min[k] / 2 + p->meshes.meshes[mesh].max[k] / 2;
    graze_pose_apply(&move->pose, middle, middle);
    for (int k = 0; k < 9; k++) numbers[k] = (float)move->pose.m[k / 3 * 4 + k % 3];
    for (int k = 0; k < 3; k++) numbers[9 + k] = (float)(middle[k] - p->origin[k]);
    gz_page_base64_put(&stream, head, sizeof head);
    gz_page_base64_put(&stream, numbers, sizeof numbers);
  }
  gz_page_base64_end(&stream);
  gz_put_text(&sink->text, "</script>\n");
}

static void put_event(page_sink *sink, const graze_film_event *event) {
  static const char *const words[] = {"began", "changed", "ended"};
  gz_page_json_open(sink, NULL, '{');
  gz_page_json_count(sink, "step", event->step);
  gz_page_json_text(sink, "event", words[event->change]);
  gz_page_json_count(sink, "a", event->a);
  gz_page_json_count(sink, "b", event->b);
  gz_page_json_text(sink, "before", graze_relation_string(event->before));
  gz_page_json_text(sink, "relation", graze_relation_string(event->relation));
  gz_page_json_close(sink, '}');
}

static void put_record(page_sink *sink, const film_page *p) {
  gz_put_text(&sink->text, "<script type=\"application/json\" id=\"record\">");
  gz_page_json_open(sink, NULL, '{');
  gz_page_json_text(sink, "format", "graze film page 1");
  gz_page_put_facts(sink, p->film->report, &p->meshes);
  gz_page_put_groups_and_rules(sink, p->film->report);
  gz_page_put_meshes(sink, &p->meshes);
  gz_page_put_objects(sink, p->film->report, &p->meshes);
  gz_page_json_open(sink, "clashes", '[');
  gz_page_json_close(sink, ']');
  gz_page_json_count(sink, "steps", p->film->step_count);
  gz_page_json_numbers(sink, "origin", p->origin, 3);
  gz_page_json_open(sink, "bounds", '[');
  if (!gz_camera_box_empty(&p->bounds)) {
    gz_page_json_numbers(sink, NULL, p->bounds.min, 3);
    gz_page_json_numbers(sink, NULL, p->bounds.max, 3);
  }
  gz_page_json_close(sink, ']');
  gz_page_json_open(sink, "events", '[');
  for (uint64_t i = 0; i < p->film->event_count; i++) {
    gz_put_text(&sink->text, "\n"); /* a line an event, for those who search with grep */
    put_event(sink, &p->film->events[i]);
  }
  gz_page_json_close(sink, ']');
  gz_page_json_close(sink, '}');
  gz_put_text(&sink->text, "</script>\n");
}

static bool put_page(film_page *p, page_sink *sink) {
  gz_put_bytes(&sink->text, gz_film_part_head, gz_film_part_head_size);
  gz_page_put_html(sink, p->film->report->title);
  gz_put_bytes(&sink->text, gz_film_part_body, gz_film_part_body_size);
  if (!gz_page_meshes_put(&p->meshes, sink)) return false;
  put_moves(sink, p);
  put_record(sink, p);
  gz_put_bytes(&sink->text, gz_film_part_tail, gz_film_part_tail_size);
  return true;
}

static graze_status write_page(const graze_context *context, film_page *p, const char *path) {
  page_sink sink;
  if (!gz_page_sink_open(&sink, path))
    return gz_fail_named(context, GRAZE_ERROR_FILE, path, "", "cannot open for writing: %s", strerror(sink.reason));
  bool memory = put_page(p, &sink) && !sink.text.no_memory;
  if (!memory) sink.reason = ENOMEM; /* so that the half page is removed */
  if (gz_page_sink_close(&sink)) return GRAZE_OK;
  return memory ? gz_fail_named(context, GRAZE_ERROR_FILE, path, "", "cannot write: %s", strerror(sink.reason))
                : gz_report_fail_memory(context, path);
}

graze_status graze_film_write_html(graze_context *context, const char *path, const graze_film *film,
                                   uint64_t triangle_budget) {
  film_page p = {.film = film};
  if (context == NULL || path == NULL || film == NULL)
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, path, "", "a path and a film are needed");
  graze_status status = gz_film_check(context, film, path);
  if (status != GRAZE_OK) return status;
  graze_report plain = *film->report; /* clashes would weigh on how meshes are simplified */
  plain.clash_count = 0;
  p.bounds = gz_film_bounds(film);
  for (int k = 0; k < 3 && !gz_camera_box_empty(&p.bounds); k++)
    p.origin[k] = p.bounds.min[k] / 2 + p.bounds.max[k] / 2;
  status = gz_page_meshes_plan(&p.meshes, &plain, triangle_budget != 0 ? triangle_budget : default_budget)
               ? write_page(context, &p, path)
               : gz_report_fail_memory(context, path);
  gz_page_meshes_free(&p.meshes);
  return status;
}
