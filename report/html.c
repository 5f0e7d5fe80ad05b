/* html.c: the page: its fixed parts, embedded by page/embed.cmake, around the record as JSON and the meshes as base64.
 *
 * Everything is streamed. The meshes come before the record, which tells how many of their triangles are shown. */
#include <math.h>
#include <stdlib.h>

#include "camera.h"
#include "out.h"
#include "page_curve.h"
#include "page_parts.h"
#include "record.h"

static const uint64_t default_budget = 1500000;

typedef struct page {
  const graze_report *report;
  const char *snapshots;
  const graze_camera *cameras; /* one a clash */
  graze_camera *own_cameras;   /* those, when the caller gave none */
  graze_box *boxes;            /* of the objects */
  page_meshes meshes;
} page;

static void put_group(gz_json *json, const char *key, uint32_t group) {
  if (group != GRAZE_NO_GROUP) gz_json_integer(json, key, group);
}

/* The view of a clash: what stands in its middle, the direction from there to the eye, and half the height of what is
 * seen there. A page has its own perspective and shape; these three it can keep. */
static void put_view(gz_json *json, const page *p, uint32_t index) {
  const graze_report_clash *clash = p->report->clashes + index;
  const graze_camera *camera = p->cameras + index;
  camera_frame frame;
  double depth = 0, target[3], from[3];
  if (gz_camera_frame_clash(clash, &p->boxes[clash->a], &p->boxes[clash->b], &frame)) {
    for (int k = 0; k < 3; k++) depth += (frame.focus[k] - camera->eye[k]) * camera->forward[k];
  }
  double half = depth * tan(camera->field_of_view / 360 * M_PI);
  if (!(half > 0) || !isfinite(half)) {
    gz_json_word(json, "view", "null");
    return;
  }
  for (int k = 0; k < 3; k++) {
    target[k] = camera->eye[k] + depth * camera->forward[k];
    from[k] = 0 - camera->forward[k]; /* never -0 */
  }
  gz_json_open(json, "view", '{');
  gz_json_doubles(json, "target", target, 3);
  gz_json_doubles(json, "from", from, 3);
  gz_json_double(json, "half", half);
  gz_json_close(json);
}

static void put_clash(gz_json *json, const page *p, uint32_t index) {
  const graze_report_clash *clash = p->report->clashes + index;
  gz_json_open(json, NULL, '{');
  gz_json_text(json, "id", clash->id);
  gz_json_integer(json, "a", clash->a);
  gz_json_integer(json, "b", clash->b);
  gz_json_text(json, "relation", graze_relation_string(clash->relation));
  if (clash->reason != NULL) gz_json_text(json, "reason", clash->reason);
  gz_json_text(json, "state", clash->forgiven ? "forgiven" : graze_report_state_string(clash->state));
  gz_json_text(json, "mark", clash->mark);
  gz_json_text(json, "comment", clash->comment);
  gz_json_open(json, "counts", '{');
  gz_record_put_counts(json, &clash->counts);
  gz_json_close(json);
  gz_record_put_box(json, &clash->box);
  gz_json_doubles(json, "point", clash->point, 3);
  gz_json_double(json, "depth", clash->depth);
  if (clash->forgiven && clash->moved_corners > 0)
    gz_json_double(json, "moved_corners", clash->moved_corners);
  else if (clash->forgiven)
    gz_json_doubles(json, "translation", clash->translation, 3);
  if (clash->forgiven && clash->tolerance > 0) gz_json_double(json, "tolerance", clash->tolerance);
  if (clash->gap.found) gz_record_put_gap(json, &clash->gap);
  put_view(json, p, index);
  put_group(json, "group_object", clash->group_object);
  put_group(json, "group_layers", clash->group_layers);
  put_group(json, "group_place", clash->group_place);
  gz_page_put_curve(json, clash);
  gz_json_close(json);
}

static void put_record(gz_text *out, const page *p) {
  gz_json json = gz_page_begin_record(out, "graze report page 1", p->report, &p->meshes);
  if (p->snapshots != NULL) {
    gz_json_text(&json, "snapshots", p->snapshots);
  } else {
    gz_json_word(&json, "snapshots", "null");
  }
  gz_json_open(&json, "clashes", '[');
  for (uint32_t i = 0; i < p->report->clash_count; i++) put_clash(&json, p, i);
  gz_json_close(&json);
  gz_page_end_record(&json);
}

/* ---- the page ---- */

static bool put_page(page *p, gz_text *out) {
  gz_put_bytes(out, gz_page_part_head, gz_page_part_head_size);
  gz_put_xml(out, p->report->title);
  gz_put_bytes(out, gz_page_part_body, gz_page_part_body_size);
  if (!gz_page_meshes_put(&p->meshes, out)) return false;
  put_record(out, p);
  gz_put_bytes(out, gz_page_part_tail, gz_page_part_tail_size);
  return true;
}

/* What is to be known of the scene before the first byte is written. */
static graze_status prepare(graze_context *context, page *p, const char *path, uint64_t triangle_budget) {
  const graze_report *report = p->report;
  p->boxes = gz_camera_object_boxes(context, report);
  if (p->boxes == NULL || !gz_page_meshes_plan(context, &p->meshes, report, NULL,
                                               triangle_budget != 0 ? triangle_budget : default_budget)) {
    return gz_report_fail_memory(context, path);
  }
  if (p->cameras != NULL) return GRAZE_OK;
  p->own_cameras = gz_new(context, (size_t)report->clash_count + 1, sizeof *p->own_cameras);
  if (p->own_cameras == NULL) return gz_report_fail_memory(context, path);
  p->cameras = p->own_cameras;
  return graze_report_cameras(context, report, p->own_cameras);
}

graze_status graze_report_write_html(graze_context *context, const char *path, const graze_report *report,
                                     uint64_t triangle_budget, const char *snapshots, const graze_camera *cameras) {
  page p = {.report = report, .snapshots = snapshots, .cameras = cameras};
  report_file file;
  graze_status status = gz_report_file_open(context, &file, path, report);
  if (status != GRAZE_OK) return status;
  status = prepare(context, &p, path, triangle_budget);
  if (status == GRAZE_OK && !put_page(&p, &file.out)) status = gz_report_fail_memory(context, path);
  gz_page_meshes_free(&p.meshes);
  gz_free(p.own_cameras);
  gz_free(p.boxes);
  return gz_report_file_close(context, &file, status);
}
