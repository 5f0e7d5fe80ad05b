/* record.h: what the JSON of a report and the records of its pages have in common. Private to report. */
#ifndef GRAZE_REPORT_RECORD_H
#define GRAZE_REPORT_RECORD_H

#include "base/json.h"
#include "page_meshes.h"

void gz_record_put_counts(gz_json *json, const graze_counts *counts); /* keys of the open object */
void gz_record_put_gap(gz_json *json, const graze_gap *gap);          /* gap, clearance, nearest points, near pairs */
void gz_record_put_box(gz_json *json, const graze_box *box);          /* null when it is empty */
void gz_record_put_rules(gz_json *json, const graze_report *report);
void gz_record_put_groups(gz_json *json, const graze_report *report);
void gz_record_put_seconds(gz_json *json, const graze_report *report);

/* Of pages: begins the script element and its object with everything but clashes and events. After gz_page_meshes_put,
 * which tells how many triangles are shown. */
gz_json gz_page_begin_record(gz_text *text, const char *format, const graze_report *report, const page_meshes *plan);
void gz_page_end_record(gz_json *json);

#endif
