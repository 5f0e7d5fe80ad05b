/* track_page.c: the page of a film of balls: its fixed parts around packed frames, still meshes and the record. What a
 * frame is, track_pack.c says; groups of them are script elements, each a deflated block in base64, and the page
 * unpacks the one that it shows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "camera.h"
#include "out.h"
#include "page_parts.h"
#include "record.h"
#include "track.h"

static const uint64_t triangle_budget = 1500000;

typedef struct track_page {
  graze_track *track;
  const graze_report *report;
  page_meshes meshes;
} track_page;

/* Digits that suffice for reading. */
static void put_short(gz_json *json, double value) {
  char text[32];
  snprintf(text, sizeof text, "%.7g", value);
  gz_json_word(json, NULL, isfinite(value) ? text : "null");
}

/* ---- packed data ------------------------------------------------------------------------------------------------- */

static void put_block(gz_text *out, const char *attributes, const void *bytes, size_t size) {
  base64_stream stream = {.text = out};
  gz_put_text(out, "<script type=\"text/plain\" ");
  gz_put_text(out, attributes);
  gz_put_text(out, ">");
  gz_base64_put(&stream, bytes, size);
  gz_base64_end(&stream);
  gz_put_text(out, "</script>\n");
}

/* As floats. */
static bool put_radii(gz_text *out, const graze_track *track) {
  float *radii = gz_new(track->context, (size_t)track->balls + 1, sizeof *radii);
  size_t size = 0;
  if (radii == NULL) return false;
  for (size_t i = 0; i < track->balls; i++) radii[i] = (float)track->radii[i];
  unsigned char *packed = gz_track_deflate(track->context, radii, track->balls * sizeof *radii, &size);
  gz_free(radii);
  if (packed == NULL) return false;
  put_block(out, "id=\"radii\"", packed, size);
  gz_free(packed);
  return true;
}

static void put_groups(gz_text *out, const graze_track *track) {
  const track_group *groups = track->groups.data;
  for (size_t i = 0; i < track->groups.count; i++) put_block(out, "class=\"frames\"", groups[i].bytes, groups[i].size);
}

/* ---- the record -------------------------------------------------------------------------------------------------- */

/* Which mesh stands for the balls of a set, the middle of its box, and how far it reaches from there. */
static void put_shape(gz_json *json, const track_page *p, uint32_t set) {
  const uint32_t mesh = p->meshes.of_object[p->report->object_count + set];
  if (mesh == PAGE_NO_MESH) return;
  gz_json_integer(json, "mesh", mesh);
  gz_json_doubles(json, "middle", p->track->shapes[set].middle, 3);
  gz_json_double(json, "reach", p->track->shapes[set].reach);
}

static void put_sets(gz_json *json, const track_page *p) {
  const graze_track *track = p->track;
  gz_json_open(json, "sets", '[');
  for (uint32_t i = 0; i < track->set_count; i++) {
    gz_json_open(json, NULL, '{');
    gz_json_text(json, "name", track->sets[i].name);
    gz_json_integer(json, "count", track->sets[i].count);
    gz_json_bool(json, "alone", track->sets[i].alone);
    put_shape(json, p, i);
    gz_json_close(json);
  }
  gz_json_close(json);
  gz_json_open(json, "walls", '[');
  for (uint32_t i = 0; i < track->wall_count; i++) {
    gz_json_open(json, NULL, '{');
    gz_json_doubles(json, "point", track->walls[i].point, 3);
    gz_json_doubles(json, "normal", track->walls[i].normal, 3);
    gz_json_close(json);
  }
  gz_json_close(json);
}

static void put_box(gz_json *json, const graze_box *box) {
  if (gz_camera_box_empty(box)) return;
  gz_json_open(json, "box", '[');
  gz_json_doubles(json, NULL, box->min, 3);
  gz_json_doubles(json, NULL, box->max, 3);
  gz_json_close(json);
}

static void put_lattice(gz_json *json, const graze_track *track) {
  gz_json_double(json, "resolution", track->resolution);
  gz_json_doubles(json, "origin", track->origin, 3);
  gz_json_double(json, "slowest", gz_track_slowest(track));
  gz_json_integer(json, "top", gz_track_top_level(track));
  gz_json_open(json, "groups", '[');
  const track_group *groups = track->groups.data;
  for (size_t i = 0; i < track->groups.count; i++) gz_json_integer(json, NULL, groups[i].count);
  gz_json_close(json);
}

/* Of each frame the step, the time and the values of the curves. */
static void put_frames(gz_json *json, const graze_track *track) {
  const track_time *times = track->times.data;
  const double *values = track->values.data;
  gz_json_open(json, "curves", '[');
  for (uint32_t i = 0; i < track->curve_count; i++) {
    gz_json_open(json, NULL, '{');
    gz_json_text(json, "name", track->curves[i].name);
    gz_json_text(json, "unit", track->curves[i].unit);
    gz_json_close(json);
  }
  gz_json_close(json);
  gz_json_open(json, "frames", '[');
  for (size_t i = 0; i < track->times.count; i++) {
    gz_json_open(json, NULL, '[');
    gz_json_integer(json, NULL, times[i].step);
    put_short(json, times[i].time);
    for (uint32_t k = 0; k < track->curve_count; k++) put_short(json, values[i * track->curve_count + k]);
    gz_json_close(json);
  }
  gz_json_close(json);
}

static void put_events(gz_json *json, graze_track *track) {
  static const char *const words[] = {"began", "hit", "ended"};
  gz_track_sort_events(track);
  const track_event *events = track->events.data;
  gz_json_integer(json, "all_events", track->event_count);
  gz_json_open(json, "events", '[');
  for (size_t i = 0; i < track->events.count; i++) {
    const graze_track_event *event = &events[i].event;
    gz_json_open(json, NULL, '[');
    gz_json_integer(json, NULL, event->step);
    put_short(json, event->time);
    gz_json_text(json, NULL, words[event->kind]);
    gz_json_integer(json, NULL, event->a);
    gz_json_integer(json, NULL, event->b);
    put_short(json, event->speed);
    put_short(json, event->impulse);
    gz_json_close(json);
  }
  gz_json_close(json);
}

/* Of each member: its number, in how many runs it was hit, bounds of the probability, the largest energy. */
static void put_chances(gz_json *json, const graze_track *track) {
  const graze_track_chances *all = &track->chances;
  if (all->runs == 0) return;
  gz_json_open(json, "chances", '{');
  gz_json_integer(json, "runs", all->runs);
  gz_json_integer(json, "asked", all->asked);
  gz_json_integer(json, "seed", all->seed);
  gz_json_open(json, "of", '[');
  for (uint32_t i = 0; i < all->count; i++) {
    const graze_track_chance *chance = &all->chances[i];
    gz_json_open(json, NULL, '[');
    gz_json_integer(json, NULL, chance->member);
    gz_json_integer(json, NULL, chance->runs);
    put_short(json, chance->low);
    put_short(json, chance->high);
    put_short(json, chance->energy);
    gz_json_close(json);
  }
  gz_json_close(json);
  gz_json_close(json);
}

static void include(void *user, const graze_box *box) {
  graze_box_add_box(user, box);
}

/* The box of all balls and objects at all frames. */
static graze_box bounds_of(const track_page *p) {
  graze_box all = graze_box_empty();
  gz_track_each_box(&(track_boxes){p->track, p->report}, include, &all);
  return all;
}

static void put_record(gz_text *out, const track_page *p) {
  static const char *const colours[] = {"speed", "set", "contact"};
  gz_json record = gz_page_begin_record(out, "graze ball film page 1", p->report, &p->meshes), *json = &record;
  const graze_box bounds = bounds_of(p);
  gz_json_open(json, "clashes", '[');
  gz_json_close(json);
  gz_json_open(json, "bounds", '[');
  if (!gz_camera_box_empty(&bounds)) {
    gz_json_doubles(json, NULL, bounds.min, 3);
    gz_json_doubles(json, NULL, bounds.max, 3);
  }
  gz_json_close(json);
  gz_json_integer(json, "balls", p->track->balls);
  gz_json_text(json, "colour", colours[p->track->colour]);
  gz_json_text(json, "show", p->track->colliding ? "colliding" : "all");
  put_sets(json, p);
  put_box(json, &p->track->box);
  put_lattice(json, p->track);
  put_frames(json, p->track);
  put_events(json, p->track);
  put_chances(json, p->track);
  gz_page_end_record(json);
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

static bool put_page(track_page *p, gz_text *out) {
  gz_put_bytes(out, gz_balls_part_head, gz_balls_part_head_size);
  gz_put_xml(out, p->report->title);
  gz_put_bytes(out, gz_balls_part_body, gz_balls_part_body_size);
  if (!gz_page_meshes_put(&p->meshes, out) || !put_radii(out, p->track)) return false;
  put_groups(out, p->track);
  gz_page_put_moves(&p->meshes, p->track->moves.data, p->track->moves.count, p->track->origin, out);
  put_record(out, p);
  gz_put_bytes(out, gz_balls_part_tail, gz_balls_part_tail_size);
  return true;
}

/* Those of the objects, and behind them those of the sets. */
static bool plan_meshes(track_page *p) {
  const uint32_t objects = p->report->object_count, sets = p->track->set_count;
  graze_report_object *all = gz_new_zeroed(p->track->context, (size_t)objects + sets + 1, sizeof *all);
  uint32_t *instances = gz_new_zeroed(p->track->context, (size_t)objects + sets + 1, sizeof *instances);
  graze_report drawn = {.objects = all, .object_count = objects + sets};
  bool good = all != NULL && instances != NULL;
  for (uint32_t i = 0; good && i < objects; i++) {
    all[i] = p->report->objects[i];
    instances[i] = 1;
  }
  for (uint32_t i = 0; good && i < sets; i++) {
    all[objects + i].mesh = p->track->sets[i].count > 0 ? p->track->sets[i].mesh : NULL;
    instances[objects + i] = p->track->sets[i].count;
  }
  good = good && gz_page_meshes_plan(p->track->context, &p->meshes, &drawn, instances, triangle_budget);
  gz_free(all);
  gz_free(instances);
  return good;
}

graze_status graze_track_write_html(graze_context *context, const char *path, graze_track *track,
                                    const graze_report *report) {
  report_file file;
  if (context == NULL || path == NULL || track == NULL || report == NULL || track->times.count == 0 ||
      report->object_count != track->object_count)
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, path, "",
                         "a path, a film of one frame or more and a report with its objects");
  graze_status status = gz_track_flush(track);
  if (status != GRAZE_OK) return status;
  graze_report plain = *report; /* clashes would weigh on how meshes are simplified */
  plain.clash_count = 0;
  status = gz_report_file_open(context, &file, path, &plain);
  if (status != GRAZE_OK) return status;
  track_page p = {.track = track, .report = &plain};
  if (!plan_meshes(&p) || !put_page(&p, &file.out)) status = gz_report_fail_memory(context, path);
  gz_page_meshes_free(&p.meshes);
  return gz_report_file_close(context, &file, status);
}
