/* csv.c: a line a clash, for spreadsheets and scripts. RFC 4180: lines end in CR LF, fields with a separator, quote,
 * line end or outer space are quoted, quotes are doubled.
 *
 * A name that begins with =, +, - or @ is written as it is, although a spreadsheet may take it for a formula: names are
 * identities, and marks come back by way of this file. docs/report.md says so to whoever opens files of strangers.
 */
#include <math.h>

#include "out.h"

static const char header[] =
    "id,state,relation,a,layer_a,b,layer_b,triangle_pairs,points,segments,areas,coplanar,degenerate,hash,x,y,z,"
    "min_x,min_y,min_z,max_x,max_y,max_z,depth_estimate,reason,mark,comment,group_object,group_layers,group_place";

static void field(gz_text *out, const char *text) {
  gz_put_text(out, ",");
  gz_put_csv(out, text);
}

static void integer(gz_text *out, uint64_t value) {
  gz_put_text(out, ",");
  gz_put_integer(out, value);
}

static void numbers(gz_text *out, const double *values, int count) {
  for (int i = 0; i < count; i++) {
    gz_put_text(out, ",");
    gz_put_finite(out, values[i]);
  }
}

static void put_counts(gz_text *out, const graze_counts *counts) {
  integer(out, counts->triangle_pairs);
  integer(out, counts->points);
  integer(out, counts->segments);
  integer(out, counts->areas);
  integer(out, counts->coplanar);
  integer(out, counts->degenerate);
  gz_put_text(out, ",");
  gz_put_hex(out, counts->hash);
}

static const char *group_title(const graze_report *report, uint32_t group) {
  return group == GRAZE_NO_GROUP ? "" : report->groups[group].title;
}

static void put_gap(gz_text *out, const graze_gap *gap) {
  const double none = NAN;
  numbers(out, gap->found ? &gap->distance : &none, 1);
  numbers(out, gap->found ? &gap->clearance : &none, 1);
  for (int k = 0; k < 2; k++) numbers(out, gap->found ? gap->points[k] : (double[3]){NAN, NAN, NAN}, 3);
}

static void put_row(gz_text *out, const graze_report *report, const graze_report_clash *clash) {
  const graze_report_object *a = &report->objects[clash->a], *b = &report->objects[clash->b];
  gz_put_csv(out, clash->id);
  field(out, graze_report_state_string(clash->state));
  field(out, graze_relation_string(clash->relation));
  field(out, a->name);
  field(out, a->layer);
  field(out, b->name);
  field(out, b->layer);
  if (clash->state == GRAZE_STATE_RESOLVED) {
    gz_put_text(out, ",,,,,,,"); /* it has no counts now, which is not the same as zero */
  } else {
    put_counts(out, &clash->counts);
  }
  bool empty = clash->box.min[0] > clash->box.max[0];
  numbers(out, clash->point, 3);
  numbers(out, empty ? (double[3]){NAN, NAN, NAN} : clash->box.min, 3);
  numbers(out, empty ? (double[3]){NAN, NAN, NAN} : clash->box.max, 3);
  numbers(out, &clash->depth, 1);
  field(out, clash->reason);
  field(out, clash->mark);
  field(out, clash->comment);
  field(out, group_title(report, clash->group_object));
  field(out, group_title(report, clash->group_layers));
  field(out, group_title(report, clash->group_place));
  if (report->tolerant) {
    field(out, clash->forgiven ? "yes" : "");
    const bool moved = clash->moved_corners > 0;
    numbers(out, clash->forgiven && !moved ? clash->translation : (double[3]){NAN, NAN, NAN}, 3);
    numbers(out, moved ? &clash->moved_corners : (double[1]){NAN}, 1);
  }
  if (report->clear) put_gap(out, &clash->gap);
  gz_put_text(out, "\r\n");
}

graze_status graze_report_write_csv(graze_context *context, const char *path, const graze_report *report) {
  report_file file;
  graze_status status = gz_report_file_open(context, &file, path, report);
  if (status != GRAZE_OK) return status;
  gz_put_text(&file.out, header);
  if (report->tolerant) gz_put_text(&file.out, ",forgiven,translation_x,translation_y,translation_z,moved_corners");
  if (report->clear) gz_put_text(&file.out, ",gap,clearance,near_ax,near_ay,near_az,near_bx,near_by,near_bz");
  gz_put_text(&file.out, "\r\n");
  if (!report->complete) {
    gz_put_text(&file.out, ",incomplete,unknown,,,,,,,,,,,,,,,,,,,,,,");
    gz_put_csv(&file.out, gz_report_incomplete);
    gz_put_text(&file.out, report->tolerant ? ",,,,,,,,,," : ",,,,,");
    gz_put_text(&file.out, report->clear ? ",,,,,,,,\r\n" : "\r\n");
  }
  for (uint32_t i = 0; i < report->clash_count; i++) put_row(&file.out, report, &report->clashes[i]);
  return gz_report_file_close(context, &file, GRAZE_OK);
}
