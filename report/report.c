/* Words of the record, and what every writer asks of it. */
#include "graze/report.h"

#include <math.h>
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

/* NULL: nothing is wrong with it. */
static const char *check_curve(const graze_report_clash *clash) {
  if (clash->curve_count == 0) return NULL;
  if (clash->curve_points == NULL || clash->curve_starts == NULL) return "its curve has no points";
  for (uint32_t k = 0; k < clash->curve_count; k++) {
    if (clash->curve_starts[k] > clash->curve_starts[k + 1]) return "a polyline of its curve ends before it starts";
  }
  for (uint32_t i = clash->curve_starts[0]; i < clash->curve_starts[clash->curve_count]; i++) {
    const double *point = clash->curve_points[i];
    if (!isfinite(point[0]) || !isfinite(point[1]) || !isfinite(point[2])) return "a point of its curve is not finite";
  }
  return NULL;
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
  } else {
    reason = check_curve(clash);
  }
  if (reason == NULL) return GRAZE_OK;
  return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, name, "", "clashes[%lu]: %s", (unsigned long)index, reason);
}

static graze_status check_object(const graze_context *context, const graze_report *report, uint32_t index,
                                 const char *name) {
  const graze_report_object *object = &report->objects[index];
  const char *reason = object->name == NULL ? "it has no name" : NULL;
  if (!gz_report_pose_is_finite(&object->pose)) reason = "its pose is not finite";
  if (reason == NULL) return GRAZE_OK;
  return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, name, "", "objects[%lu]: %s", (unsigned long)index, reason);
}

graze_status gz_report_check(const graze_context *context, const graze_report *report, const char *name) {
  if (context == NULL || report == NULL) return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, name, "", "no report");
  bool whole =
      (report->objects != NULL || report->object_count == 0) && (report->clashes != NULL || report->clash_count == 0) &&
      (report->groups != NULL || report->group_count == 0) && (report->rules != NULL || report->rule_count == 0);
  if (!whole) return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, name, "", "the report has a count without a list");
  graze_status status = GRAZE_OK;
  for (uint32_t i = 0; i < report->object_count && status == GRAZE_OK; i++)
    status = check_object(context, report, i, name);
  for (uint32_t i = 0; i < report->clash_count && status == GRAZE_OK; i++)
    status = check_clash(context, report, i, name);
  return status;
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

char *gz_report_layer_pair(const graze_context *context, const char *first, const char *second) {
  if (first == NULL || *first == 0) first = "(no layer)";
  if (second == NULL || *second == 0) second = "(no layer)";
  bool swap = strcmp(first, second) > 0;
  return gz_new_words(context, "%s / %s", swap ? second : first, swap ? first : second);
}
