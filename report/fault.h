/* fault.h: how a writer or reader of this room complains; private to report. */
#ifndef GRAZE_REPORT_FAULT_H
#define GRAZE_REPORT_FAULT_H

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "graze/report.h"

static inline graze_status gz_report_fail_memory(const graze_context *context, const char *name) {
  return gz_fail_named(context, GRAZE_ERROR_MEMORY, name, "", "out of memory");
}

/* A piece of text for a message: printable ASCII, cut after a few words. */
static inline gz_quoted gz_report_quote(const char *text) {
  return gz_quote(text, text + strlen(text), 64);
}

static inline bool gz_report_pose_is_finite(const graze_pose *pose) {
  for (int k = 0; k < 12; k++) {
    if (!isfinite(pose->m[k])) return false;
  }
  return true;
}

#endif
