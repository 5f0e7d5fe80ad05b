/* file.c: the files of out.h. A report that could not be finished must not stand where the last good one stood: marks
 * and comments may live in it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "out.h"

static bool write_all(void *user, const void *bytes, size_t size) {
  report_file *file = user;
  for (const char *at = bytes; size > 0;) {
    ssize_t written = write(file->descriptor, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      file->reason = errno;
      return false;
    }
    at += written;
    size -= (size_t)written;
  }
  return true;
}

static bool open_temporary(report_file *file) {
  static const char ending[] = ".XXXXXX";
  file->target = realpath(file->path, NULL); /* follow a link to the file that it means */
  if (file->target == NULL) file->target = strdup(file->path);
  size_t length = file->target != NULL ? strlen(file->target) : 0;
  file->temporary = malloc(length + sizeof ending);
  if (file->target == NULL || file->temporary == NULL) {
    errno = ENOMEM;
    return false;
  }
  memcpy(file->temporary, file->target, length);
  memcpy(file->temporary + length, ending, sizeof ending);
  file->descriptor = mkostemp(file->temporary, O_CLOEXEC);
  return file->descriptor >= 0;
}

graze_status gz_report_file_open(const graze_context *context, report_file *file, const char *path,
                                 const graze_report *report) {
  struct stat facts;
  if (path == NULL) return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, "report", "", "no path");
  graze_status status = gz_report_check(context, report, path);
  if (status == GRAZE_OK) status = gz_report_check_groups(context, report, path);
  if (status != GRAZE_OK) return status;
  *file = (report_file){.path = path, .descriptor = -1};
  bool in_place = stat(path, &facts) == 0 && !S_ISREG(facts.st_mode);
  if (in_place) file->descriptor = open(path, O_WRONLY | O_CLOEXEC);
  if (in_place ? file->descriptor < 0 : !open_temporary(file)) {
    status = gz_fail_named(context, GRAZE_ERROR_FILE, path, "", "cannot write: %s", strerror(errno));
  } else if (!gz_text_begin(&file->out, write_all, file)) {
    status = gz_report_fail_memory(context, path);
    close(file->descriptor);
    if (file->temporary != NULL) unlink(file->temporary);
  }
  if (status != GRAZE_OK) {
    free(file->target);
    free(file->temporary);
  }
  return status;
}

/* mkostemp makes files that only their owner may read. */
static void set_mode(const report_file *file) {
  mode_t mask = umask(0);
  umask(mask);
  if (file->temporary != NULL) fchmod(file->descriptor, 0666 & ~mask);
}

graze_status gz_report_file_close(const graze_context *context, report_file *file, graze_status status) {
  gz_text_flush(&file->out);
  bool failed = file->out.refused;
  set_mode(file);
  if (close(file->descriptor) != 0 && !failed) {
    failed = true;
    file->reason = errno;
  }
  if (status == GRAZE_OK && file->out.no_memory) status = gz_report_fail_memory(context, file->path);
  if (status == GRAZE_OK && !failed && file->temporary != NULL && rename(file->temporary, file->target) != 0) {
    failed = true;
    file->reason = errno;
  }
  if (status == GRAZE_OK && failed) {
    status = gz_fail_named(context, GRAZE_ERROR_FILE, file->path, "", "cannot write: %s", strerror(file->reason));
  }
  if (status != GRAZE_OK && file->temporary != NULL) unlink(file->temporary);
  gz_text_end(&file->out);
  free(file->target);
  free(file->temporary);
  return status;
}

graze_status gz_report_read_file(const graze_context *context, const char *path, char **bytes, size_t *size) {
  size_t capacity = 1 << 16, used = 0;
  FILE *file = fopen(path, "rb");
  if (file == NULL) return gz_fail_named(context, GRAZE_ERROR_FILE, path, "", "cannot open: %s", strerror(errno));
  char *data = malloc(capacity);
  while (data != NULL) {
    size_t room = capacity - used, got = fread(data + used, 1, room, file);
    used += got;
    if (got < room) break;
    char *more = realloc(data, capacity *= 2);
    if (more == NULL) free(data);
    data = more;
  }
  graze_status status = GRAZE_OK;
  if (data == NULL) {
    status = gz_report_fail_memory(context, path);
  } else if (ferror(file)) {
    status = gz_fail_named(context, GRAZE_ERROR_FILE, path, "", "cannot read: %s", strerror(errno));
  }
  fclose(file);
  if (status != GRAZE_OK) {
    free(data);
    return status;
  }
  *bytes = data;
  *size = used;
  return GRAZE_OK;
}
