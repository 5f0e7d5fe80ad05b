/* page_record.h: what the records of all pages have in common: the head, rules, meshes and objects, as JSON. Private to
 * report. */
#ifndef GRAZE_REPORT_PAGE_RECORD_H
#define GRAZE_REPORT_PAGE_RECORD_H

#include "page_meshes.h"

void gz_page_put_facts(page_sink *sink, const graze_report *report, const page_meshes *plan);
void gz_page_put_groups_and_rules(page_sink *sink, const graze_report *report);

/* After gz_page_meshes_put: it tells how many triangles are shown. */
void gz_page_put_meshes(page_sink *sink, const page_meshes *plan);
void gz_page_put_objects(page_sink *sink, const graze_report *report, const page_meshes *plan);

#endif
