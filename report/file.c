/* file.c: the files of out.h. A report that could not be finished must not stand where the last good one stood: marks
 * and comments may live in it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

static bool write_all(void *user, const void *bytes, size_t size) {
  report_file *file = user;
  bool good = gz_file_write(file->file.descriptor, bytes, size);
  if (!good) file->reason = errno;
  return good;
}

graze_status gz_report_file_open(const graze_context *context, report_file *file, const char *path,
                                 const graze_report *report) {
  if (path == NULL) return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, "report", "", "no path");
  graze_status status = gz_report_check(context, report, path);
  if (status == GRAZE_OK) status = gz_report_check_groups(context, report, path);
  if (status != GRAZE_OK) return status;
  file->path = path;
  file->reason = 0;
  if (!gz_new_file_create(&file->file, path)) {
    return gz_fail_named(context, GRAZE_ERROR_FILE, path, "", "cannot write: %s", strerror(errno));
  }
  if (gz_text_begin(context, &file->out, write_all, file)) return GRAZE_OK;
  gz_new_file_finish(&file->file, false);
  return gz_report_fail_memory(context, path);
}

graze_status gz_report_file_close(const graze_context *context, report_file *file, graze_status status) {
  gz_text_flush(&file->out);
  if (status == GRAZE_OK && file->out.no_memory) status = gz_report_fail_memory(context, file->path);
  bool good = !file->out.refused;
  if (!gz_new_file_finish(&file->file, status == GRAZE_OK && good) && good) {
    good = false;
    file->reason = errno;
  }
  if (status == GRAZE_OK && !good) {
    status = gz_fail_named(context, GRAZE_ERROR_FILE, file->path, "", "cannot write: %s", strerror(file->reason));
  }
  gz_text_end(&file->out);
  return status;
}

graze_status gz_report_read_file(const graze_context *context, const char *path, gz_whole *file) {
  gz_reason why;
  if (gz_whole_read(context, path, true, file, &why)) return GRAZE_OK;
  return gz_fail_named(context, why.status, path, "", "%s", why.text);
}
