/* Words of the record, and what every writer asks of it. */
#include "graze/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

const char gz_report_incomplete[] = "INCOMPLETE: the check was stopped before every pair of objects was checked";

const char *graze_report_state_string(graze_report_state state) {
  static const char *const words[] = {"", "new", "active", "resolved"};
  return (unsigned)state < sizeof words / sizeof words[0] ? words[state] : "";
}

bool gz_report_is_live(const graze_report_clash *clash) {
  return clash->state != GRAZE_STATE_RESOLVED && clash->relation != GRAZE_SEPARATE;
}

bool gz_report_is_id(const char *id) {
  size_t length = strspn(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-");
  return length > 0 && length < sizeof((graze_report_clash *)0)->id && id[length] == 0;
}

static bool is_group(const graze_report *report, uint32_t group, graze_group_kind kind) {
  return group == GRAZE_NO_GROUP || (group < report->group_count && report->groups[group].kind == kind);
}

static graze_status check_clash(const graze_context *context, const graze_report *report, uint32_t index,
                                const char *name) {
  const graze_report_clash *clash = &report->clashes[index];
  const char *reason = NULL;
  if (clash->a >= clash->b || clash->b >= report->object_count) {
    reason = "its objects are not two of the report, a before b";
  } else if (*clash->id && (memchr(clash->id, 0, sizeof clash->id) == NULL || !gz_report_is_id(clash->id))) {
    reason = "its id is not of letters, digits and '-'";
  } else if (clash->relation > GRAZE_UNKNOWN || clash->state > GRAZE_STATE_RESOLVED) {
    reason = "its relation or state is none";
  } else if (clash->curve_count > 0 && (clash->curve_points == NULL || clash->curve_starts == NULL)) {
    reason = "its curve has no points";
  }
  if (reason == NULL) return GRAZE_OK;
  return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, name, "", "clashes[%lu]: %s", (unsigned long)index, reason);
}

graze_status gz_report_check(const graze_context *context, const graze_report *report, const char *name) {
  if (context == NULL || report == NULL) return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, name, "", "no report");
  bool whole =
      (report->objects != NULL || report->object_count == 0) && (report->clashes != NULL || report->clash_count == 0) &&
      (report->groups != NULL || report->group_count == 0) && (report->rules != NULL || report->rule_count == 0);
  if (!whole) return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, name, "", "the report has a count without a list");
  for (uint32_t i = 0; i < report->object_count; i++) {
    if (report->objects[i].name != NULL) continue;
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, name, "", "objects[%lu] has no name", (unsigned long)i);
  }
  for (uint32_t i = 0; i < report->clash_count; i++) {
    graze_status status = check_clash(context, report, i, name);
    if (status != GRAZE_OK) return status;
  }
  return GRAZE_OK;
}

graze_status gz_report_check_groups(const graze_context *context, const graze_report *report, const char *name) {
  for (uint32_t i = 0; i < report->clash_count; i++) {
    const graze_report_clash *clash = &report->clashes[i];
    if (is_group(report, clash->group_object, GRAZE_GROUP_OBJECT) &&
        is_group(report, clash->group_layers, GRAZE_GROUP_LAYERS) &&
        is_group(report, clash->group_place, GRAZE_GROUP_PLACE)) {
      continue;
    }
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, name, "", "clashes[%lu]: the report does not have its groups",
                         (unsigned long)i);
  }
  return GRAZE_OK;
}

char *gz_report_layer_pair(const char *first, const char *second) {
  if (first == NULL || *first == 0) first = "(no layer)";
  if (second == NULL || *second == 0) second = "(no layer)";
  bool swap = strcmp(first, second) > 0;
  char *text = NULL;
  return asprintf(&text, "%s / %s", swap ? second : first, swap ? first : second) < 0 ? NULL : text;
}
