/* junit.c: JUnit XML, which build servers show as test results. There is no one schema; what is written here is what
 * the Jenkins and the Apache Ant ones have in common: testsuites, testsuite, testcase with one failure, error or
 * skipped.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

typedef enum verdict { verdict_pass, verdict_failure, verdict_error, verdict_skipped } verdict;

/* A clash in the suite of its two layers. */
typedef struct suited {
  char *suite;
  uint32_t clash;
  verdict verdict;
} suited;

static verdict judge(const graze_report_clash *clash, unsigned failing) {
  if (clash->state == GRAZE_STATE_RESOLVED || clash->forgiven) return verdict_skipped;
  if (clash->relation == GRAZE_UNKNOWN) return verdict_error;
  if (clash->mark != NULL && strcmp(clash->mark, "approved") == 0) return verdict_skipped;
  return failing & 1u << clash->relation ? verdict_failure : verdict_pass;
}

static int compare_suited(const void *a, const void *b) {
  const suited *x = a, *y = b;
  int order = strcmp(x->suite, y->suite);
  return order != 0 ? order : (x->clash > y->clash) - (x->clash < y->clash);
}

static void put_attribute(gz_text *out, const char *name, uint64_t value) {
  gz_put_text(out, " ");
  gz_put_text(out, name);
  gz_put_text(out, "=\"");
  gz_put_integer(out, value);
  gz_put_text(out, "\"");
}

static void put_seconds(gz_text *out, double seconds) {
  gz_put_text(out, " time=\"");
  gz_put_finite(out, seconds >= 0 ? seconds : 0);
  gz_put_text(out, "\"");
}

static void put_length(gz_text *out, const graze_report *report, double length) {
  gz_put_finite(out, length);
  if (report->units == NULL || !*report->units) return;
  gz_put_text(out, " ");
  gz_put_xml(out, report->units);
}

/* ": gap 0.02 m, of 0.025 m" */
static void put_gap(gz_text *out, const graze_report *report, const graze_gap *gap) {
  gz_put_text(out, ": gap ");
  put_length(out, report, gap->distance);
  gz_put_text(out, ", of ");
  put_length(out, report, gap->clearance);
}

/* "cross: 12 triangle pairs near 1 2 3 m" */
static void put_message(gz_text *out, const graze_report *report, const graze_report_clash *clash) {
  gz_put_xml(out, graze_relation_string(clash->relation));
  if (clash->reason != NULL) {
    gz_put_text(out, ": ");
    gz_put_xml(out, clash->reason);
  }
  if (clash->gap.found) put_gap(out, report, &clash->gap);
  if (clash->counts.triangle_pairs == 0) return;
  gz_put_text(out, ": ");
  gz_put_integer(out, clash->counts.triangle_pairs);
  gz_put_text(out, clash->counts.triangle_pairs == 1 ? " triangle pair" : " triangle pairs");
  if (!isfinite(clash->point[0] + clash->point[1] + clash->point[2])) return;
  gz_put_text(out, " near");
  for (int k = 0; k < 3; k++) {
    gz_put_text(out, " ");
    gz_put_finite(out, clash->point[k]);
  }
  if (report->units != NULL && *report->units) {
    gz_put_text(out, " ");
    gz_put_xml(out, report->units);
  }
}

static void put_outcome(gz_text *out, const graze_report *report, const graze_report_clash *clash, verdict outcome) {
  static const char *const elements[] = {"", "failure", "error", "skipped"};
  gz_put_text(out, ">\n      <");
  gz_put_text(out, elements[outcome]);
  gz_put_text(out, " message=\"");
  if (outcome == verdict_skipped) {
    gz_put_text(out, clash->state == GRAZE_STATE_RESOLVED ? "resolved: "
                     : clash->forgiven                    ? "forgiven: "
                                                          : "approved: ");
  }
  put_message(out, report, clash);
  if (outcome != verdict_skipped) {
    gz_put_text(out, "\" type=\"");
    gz_put_text(out, graze_relation_string(clash->relation));
  }
  gz_put_text(out, "\">");
  gz_put_xml(out, clash->comment);
  gz_put_text(out, "</");
  gz_put_text(out, elements[outcome]);
  gz_put_text(out, ">\n    </testcase>\n");
}

static void put_case(gz_text *out, const graze_report *report, const suited *entry) {
  const graze_report_clash *clash = &report->clashes[entry->clash];
  gz_put_text(out, "    <testcase classname=\"");
  gz_put_xml(out, entry->suite);
  gz_put_text(out, "\" name=\"");
  gz_put_xml(out, report->objects[clash->a].name);
  gz_put_text(out, " and ");
  gz_put_xml(out, report->objects[clash->b].name);
  gz_put_text(out, " (");
  gz_put_xml(out, clash->id);
  gz_put_text(out, ")\"");
  if (entry->verdict == verdict_pass) {
    gz_put_text(out, "/>\n");
  } else {
    put_outcome(out, report, clash, entry->verdict);
  }
}

static void count_verdicts(const suited *list, uint32_t count, uint64_t counts[4]) {
  memset(counts, 0, 4 * sizeof counts[0]);
  for (uint32_t i = 0; i < count; i++) counts[list[i].verdict]++;
}

static void open_suite(gz_text *out, const graze_report *report, const char *name, uint64_t tests,
                       const uint64_t counts[4]) {
  gz_put_text(out, "  <testsuite name=\"");
  gz_put_xml(out, name);
  gz_put_text(out, "\"");
  put_attribute(out, "tests", tests);
  put_attribute(out, "failures", counts[verdict_failure]);
  put_attribute(out, "errors", counts[verdict_error]);
  put_attribute(out, "skipped", counts[verdict_skipped]);
  if (report->created != NULL && *report->created) {
    gz_put_text(out, " timestamp=\"");
    gz_put_xml(out, report->created);
    gz_put_text(out, "\"");
  }
  gz_put_text(out, ">\n");
}

/* The suite of the check itself: that it was not finished, or that it found nothing. */
static void put_check_suite(gz_text *out, const graze_report *report) {
  const uint64_t counts[4] = {report->complete, 0, !report->complete, 0};
  open_suite(out, report, "check", 1, counts);
  gz_put_text(out, "    <testcase classname=\"check\" name=\"");
  if (report->complete) {
    gz_put_text(out, "no clash among ");
    gz_put_integer(out, report->object_pairs);
    gz_put_text(out, " pairs of objects\"/>\n");
  } else {
    gz_put_text(out, "complete\">\n      <error message=\"");
    gz_put_xml(out, gz_report_incomplete);
    gz_put_text(out, "\" type=\"incomplete\"></error>\n    </testcase>\n");
  }
  gz_put_text(out, "  </testsuite>\n");
}

static void put_suites(gz_text *out, const graze_report *report, const suited *list, bool check_suite) {
  uint64_t counts[4];
  count_verdicts(list, report->clash_count, counts);
  gz_put_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"");
  gz_put_xml(out, report->title != NULL && *report->title ? report->title : "Graze");
  gz_put_text(out, "\"");
  put_attribute(out, "tests", report->clash_count + (uint64_t)check_suite);
  put_attribute(out, "failures", counts[verdict_failure]);
  put_attribute(out, "errors", counts[verdict_error] + (check_suite && !report->complete));
  put_seconds(out, report->load_seconds + report->build_seconds + report->query_seconds);
  gz_put_text(out, ">\n");
  if (check_suite) put_check_suite(out, report);
  for (uint32_t first = 0, end = 0; first < report->clash_count; first = end) {
    while (end < report->clash_count && strcmp(list[end].suite, list[first].suite) == 0) end++;
    count_verdicts(list + first, end - first, counts);
    open_suite(out, report, list[first].suite, end - first, counts);
    for (uint32_t i = first; i < end; i++) put_case(out, report, &list[i]);
    gz_put_text(out, "  </testsuite>\n");
  }
  gz_put_text(out, "</testsuites>\n");
}

static suited *make_list(const graze_context *context, const graze_report *report, unsigned failing) {
  suited *list = gz_new_zeroed(context, (size_t)report->clash_count + 1, sizeof *list);
  bool good = list != NULL;
  for (uint32_t i = 0; good && i < report->clash_count; i++) {
    const graze_report_clash *clash = &report->clashes[i];
    char *suite = gz_report_layer_pair(context, report->objects[clash->a].layer, report->objects[clash->b].layer);
    list[i] = (suited){suite, i, judge(clash, failing)};
    good = suite != NULL;
  }
  if (good) qsort(list, report->clash_count, sizeof *list, compare_suited);
  return list; /* the entry behind the last good one has no suite */
}

graze_status graze_report_write_junit(graze_context *context, const char *path, const graze_report *report,
                                      unsigned failing) {
  report_file file;
  graze_status status = gz_report_file_open(context, &file, path, report);
  if (status != GRAZE_OK) return status;
  suited *list = make_list(context, report, failing);
  bool found = false;
  for (uint32_t i = 0; i < report->clash_count; i++) found |= gz_report_is_live(&report->clashes[i]);
  bool whole = list != NULL && (report->clash_count == 0 || list[report->clash_count - 1].suite != NULL);
  if (whole) {
    put_suites(&file.out, report, list, !found || !report->complete);
  } else {
    status = gz_report_fail_memory(context, path);
  }
  for (uint32_t i = 0; list != NULL && i < report->clash_count; i++) gz_free(list[i].suite);
  gz_free(list);
  return gz_report_file_close(context, &file, status);
}
