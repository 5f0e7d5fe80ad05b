/* html.c: the page: its fixed parts, embedded by page/embed.cmake, around the record as JSON and the meshes as base64.
 *
 * Everything is streamed. The meshes come before the record, which tells how many of their triangles are shown. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "camera.h"
#include "fault.h"
#include "page_curve.h"
#include "page_meshes.h"
#include "page_parts.h"
#include "page_record.h"

static const uint64_t default_budget = 1500000;

typedef struct page {
  const char *path;
  const graze_report *report;
  const char *snapshots;
  const graze_camera *cameras; /* one a clash */
  graze_camera *own_cameras;   /* those, when the caller gave none */
  graze_box *boxes;            /* of the objects */
  page_meshes meshes;
  graze_context *context;
  graze_status status;
} page;

static bool fail(page *p, graze_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool fail(page *p, graze_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  p->status = gz_fail_named_list(p->context, status, p->path, "", format, arguments);
  va_end(arguments);
  return false;
}

/* ---- is the record sound? ---- */

static bool check_objects(page *p) {
  for (uint32_t i = 0; i < p->report->object_count; i++) {
    for (int k = 0; k < 12; k++) {
      if (isfinite(p->report->objects[i].pose.m[k])) continue;
      return fail(p, GRAZE_ERROR_NOT_FINITE, "object %u: entry %d of its pose is not finite", i, k);
    }
  }
  return true;
}

static bool check_curve(page *p, uint32_t number) {
  const graze_report_clash *clash = p->report->clashes + number;
  if (clash->curve_count == 0) return true;
  if (clash->curve_starts == NULL || clash->curve_points == NULL) {
    return fail(p, GRAZE_ERROR_ARGUMENT, "clash %u: a curve without points", number);
  }
  for (uint32_t k = 0; k < clash->curve_count; k++) {
    if (clash->curve_starts[k] <= clash->curve_starts[k + 1]) continue;
    return fail(p, GRAZE_ERROR_ARGUMENT, "clash %u: polyline %u ends before it starts", number, k);
  }
  for (uint32_t i = clash->curve_starts[0]; i < clash->curve_starts[clash->curve_count]; i++) {
    const double *point = clash->curve_points[i];
    if (isfinite(point[0]) && isfinite(point[1]) && isfinite(point[2])) continue;
    return fail(p, GRAZE_ERROR_NOT_FINITE, "clash %u: point %u of its curve is not finite", number, i);
  }
  return true;
}

static bool check_clashes(page *p) {
  for (uint32_t i = 0; i < p->report->clash_count; i++) {
    const graze_report_clash *clash = p->report->clashes + i;
    const uint32_t groups[3] = {clash->group_object, clash->group_layers, clash->group_place};
    if (clash->a >= p->report->object_count || clash->b >= p->report->object_count) {
      return fail(p, GRAZE_ERROR_INDEX, "clash %u: objects %u and %u of %u", i, clash->a, clash->b,
                  p->report->object_count);
    }
    if (memchr(clash->id, 0, sizeof clash->id) == NULL) {
      return fail(p, GRAZE_ERROR_ARGUMENT, "clash %u: its id has no end", i);
    }
    for (int k = 0; k < 3; k++) {
      if (groups[k] == GRAZE_NO_GROUP || groups[k] < p->report->group_count) continue;
      return fail(p, GRAZE_ERROR_INDEX, "clash %u: group %u of %u", i, groups[k], p->report->group_count);
    }
    if (!check_curve(p, i)) return false;
  }
  return true;
}

/* ---- the record ---- */

static void put_counts(page_sink *sink, const graze_counts *counts) {
  gz_page_json_open(sink, "counts", '{');
  gz_page_json_count(sink, "triangle_pairs", counts->triangle_pairs);
  gz_page_json_count(sink, "points", counts->points);
  gz_page_json_count(sink, "segments", counts->segments);
  gz_page_json_count(sink, "areas", counts->areas);
  gz_page_json_count(sink, "coplanar", counts->coplanar);
  gz_page_json_count(sink, "degenerate", counts->degenerate);
  gz_page_json_hash(sink, "hash", counts->hash);
  gz_page_json_close(sink, '}');
}

static void put_group(page_sink *sink, const char *key, uint32_t group) {
  if (group != GRAZE_NO_GROUP) gz_page_json_count(sink, key, group);
}

static void put_box(page_sink *sink, const graze_box *box) {
  for (int k = 0; k < 3; k++) {
    if (box->min[k] <= box->max[k]) continue;
    gz_page_json_word(sink, "box", "null");
    return;
  }
  gz_page_json_open(sink, "box", '{');
  gz_page_json_numbers(sink, "min", box->min, 3);
  gz_page_json_numbers(sink, "max", box->max, 3);
  gz_page_json_close(sink, '}');
}

/* The view of a clash: what stands in its middle, the direction from there to the eye, and half the height of what is
 * seen there. A page has its own perspective and shape; these three it can keep. */
static void put_view(page_sink *sink, const page *p, uint32_t index) {
  const graze_report_clash *clash = p->report->clashes + index;
  const graze_camera *camera = p->cameras + index;
  camera_frame frame;
  double depth = 0, target[3], from[3];
  if (gz_camera_frame_clash(clash, &p->boxes[clash->a], &p->boxes[clash->b], &frame)) {
    for (int k = 0; k < 3; k++) depth += (frame.focus[k] - camera->eye[k]) * camera->forward[k];
  }
  double half = depth * tan(camera->field_of_view / 360 * M_PI);
  if (!(half > 0) || !isfinite(half)) {
    gz_page_json_word(sink, "view", "null");
    return;
  }
  for (int k = 0; k < 3; k++) {
    target[k] = camera->eye[k] + depth * camera->forward[k];
    from[k] = 0 - camera->forward[k]; /* never -0 */
  }
  gz_page_json_open(sink, "view", '{');
  gz_page_json_numbers(sink, "target", target, 3);
  gz_page_json_numbers(sink, "from", from, 3);
  gz_page_json_number(sink, "half", half);
  gz_page_json_close(sink, '}');
}

static void put_clash(page_sink *sink, const page *p, uint32_t index) {
  const graze_report_clash *clash = p->report->clashes + index;
  gz_page_json_open(sink, NULL, '{');
  gz_page_json_text(sink, "id", clash->id);
  gz_page_json_count(sink, "a", clash->a);
  gz_page_json_count(sink, "b", clash->b);
  gz_page_json_text(sink, "relation", graze_relation_string(clash->relation));
  if (clash->reason != NULL) gz_page_json_text(sink, "reason", clash->reason);
  gz_page_json_text(sink, "state", graze_report_state_string(clash->state));
  gz_page_json_text(sink, "mark", clash->mark);
  gz_page_json_text(sink, "comment", clash->comment);
  put_counts(sink, &clash->counts);
  put_box(sink, &clash->box);
  gz_page_json_numbers(sink, "point", clash->point, 3);
  gz_page_json_number(sink, "depth", clash->depth);
  put_view(sink, p, index);
  put_group(sink, "group_object", clash->group_object);
  put_group(sink, "group_layers", clash->group_layers);
  put_group(sink, "group_place", clash->group_place);
  gz_page_put_curve(sink, clash);
  gz_page_json_close(sink, '}');
}

static void put_record(page_sink *sink, const page *p) {
  gz_put_text(&sink->text, "<script type=\"application/json\" id=\"record\">");
  gz_page_json_open(sink, NULL, '{');
  gz_page_json_text(sink, "format", "graze report page 1");
  gz_page_put_facts(sink, p->report, &p->meshes);
  if (p->snapshots != NULL) {
    gz_page_json_text(sink, "snapshots", p->snapshots);
  } else {
    gz_page_json_word(sink, "snapshots", "null");
  }
  gz_page_put_groups_and_rules(sink, p->report);
  gz_page_put_meshes(sink, &p->meshes);
  gz_page_put_objects(sink, p->report, &p->meshes);
  gz_page_json_open(sink, "clashes", '[');
  for (uint32_t i = 0; i < p->report->clash_count; i++) {
    gz_put_text(&sink->text, "\n"); /* a line a clash, for those who search with grep */
    put_clash(sink, p, i);
  }
  gz_page_json_close(sink, ']');
  gz_page_json_close(sink, '}');
  gz_put_text(&sink->text, "</script>\n");
}

/* ---- the page ---- */

static bool put_page(page *p, page_sink *sink) {
  gz_put_bytes(&sink->text, gz_page_part_head, gz_page_part_head_size);
  gz_page_put_html(sink, p->report->title);
  gz_put_bytes(&sink->text, gz_page_part_body, gz_page_part_body_size);
  if (!gz_page_meshes_put(&p->meshes, sink)) return false;
  put_record(sink, p);
  gz_put_bytes(&sink->text, gz_page_part_tail, gz_page_part_tail_size);
  return true;
}

static bool write_page(page *p, page_sink *sink) {
  if (!gz_page_sink_open(sink, p->path)) {
    return fail(p, GRAZE_ERROR_FILE, "cannot open for writing: %s", strerror(sink->reason));
  }
  bool memory = put_page(p, sink) && !sink->text.no_memory;
  if (!memory) sink->reason = -1; /* so that the half page is removed */
  if (gz_page_sink_close(sink)) return true;
  if (!memory) return fail(p, GRAZE_ERROR_MEMORY, "out of memory");
  return fail(p, GRAZE_ERROR_FILE, "cannot write: %s", strerror(sink->reason));
}

/* What is to be known of the scene before the first byte is written. */
static bool prepare(page *p, uint64_t triangle_budget) {
  const graze_report *report = p->report;
  p->boxes = gz_camera_object_boxes(report);
  if (p->boxes == NULL) return fail(p, GRAZE_ERROR_MEMORY, "out of memory");
  if (p->cameras == NULL) {
    p->own_cameras = malloc(((size_t)report->clash_count + 1) * sizeof *p->own_cameras);
    if (p->own_cameras == NULL) return fail(p, GRAZE_ERROR_MEMORY, "out of memory");
    p->status = graze_report_cameras(p->context, report, p->own_cameras);
    if (p->status != GRAZE_OK) return false;
    p->cameras = p->own_cameras;
  }
  return gz_page_meshes_plan(&p->meshes, report, triangle_budget != 0 ? triangle_budget : default_budget) ||
         fail(p, GRAZE_ERROR_MEMORY, "out of memory");
}

graze_status graze_report_write_html(graze_context *context, const char *path, const graze_report *report,
                                     uint64_t triangle_budget, const char *snapshots, const graze_camera *cameras) {
  page p = {.context = context, .path = path, .report = report, .snapshots = snapshots, .cameras = cameras};
  page_sink sink;
  if (context == NULL || path == NULL || report == NULL) {
    fail(&p, GRAZE_ERROR_ARGUMENT, "a path and a report are needed");
  } else if (check_objects(&p) && check_clashes(&p) && prepare(&p, triangle_budget)) {
    write_page(&p, &sink);
  }
  gz_page_meshes_free(&p.meshes);
  free(p.own_cameras);
  free(p.boxes);
  return p.status;
}
