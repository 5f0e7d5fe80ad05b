/* Which folders a report may take: new and empty ones, and those of earlier reports. They have a mark, a file of their
 * own beside the page, or at least the page, which is known by its record. So nobody's own index.html is replaced. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/owned.h"
#include "fault.h"

static const char mark_text[] = "A report of Graze. The next one may replace the files of this folder.\n";

/* Every page has its record begin so, that of an unfinished report too. */
#define RECORD "id=\"record\">{\"format\":\"graze "

static const char unfinished[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"generator\" content=\"Graze\">\n<title>Unfinished report</title>\n"
    "<style>:root { color-scheme: light dark; } body { font: 16px/1.5 system-ui, sans-serif; max-width: 40em; "
    "margin: 4em auto; padding: 0 1em; }</style>\n</head>\n<body>\n<h1>This report is not finished</h1>\n"
    "<p>It is being written, or the program ended before it was. Do not rely on the files of this folder: some may be "
    "missing, and some may be of an earlier check.</p>\n"
    "<script type=\"application/json\" " RECORD "unfinished page 1\"}</script>\n</body>\n</html>\n";

enum { CHUNK = 1 << 16, OVERLAP = sizeof RECORD - 2 }; /* a record that begins in one piece and ends in the next */

/* Whether a file has the text anywhere. */
static bool has_record(int file) {
  char bytes[OVERLAP + CHUNK];
  size_t kept = 0;
  for (;;) {
    ssize_t got = read(file, bytes + kept, CHUNK);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    size_t size = kept + (size_t)got;
    if (memmem(bytes, size, RECORD, sizeof RECORD - 1) != NULL) return true;
    kept = size < OVERLAP ? size : OVERLAP;
    memmove(bytes, bytes + size - kept, kept);
  }
}

static bool is_page(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  bool found = file >= 0 && has_record(file);
  if (file >= 0) close(file);
  return found;
}

static bool exists(const char *path) {
  struct stat about;
  return lstat(path, &about) == 0;
}

static bool is_empty(const char *path) {
  DIR *folder = opendir(path);
  bool empty = folder != NULL;
  const struct dirent *entry;
  while (empty && (entry = readdir(folder)) != NULL)
    empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
  if (folder != NULL) closedir(folder);
  return empty;
}

static graze_status write_text(const graze_context *context, const char *path, const char *text, size_t size) {
  new_file file;
  if (!gz_new_file_create(&file, path)) return gz_file_error(context, path, "cannot write");
  bool good = gz_file_write(file.descriptor, text, size);
  int reason = errno;
  bool kept = gz_new_file_finish(&file, good);
  if (!good) errno = reason;
  return good && kept ? GRAZE_OK : gz_file_error(context, path, "cannot write");
}

graze_status graze_report_make_folder(graze_context *context, const char *path) {
  struct stat about;
  if (context == NULL || path == NULL)
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, path, "", "no folder is named");
  int reason = mkdir(path, 0777) == 0 ? 0 : errno;
  if (reason == EEXIST && stat(path, &about) == 0)
    reason = S_ISDIR(about.st_mode) ? (access(path, W_OK | X_OK) == 0 ? 0 : errno) : ENOTDIR;
  errno = reason;
  return reason == 0 ? GRAZE_OK : gz_file_error(context, path, "cannot be the folder of a report");
}

static graze_status claim(const graze_context *context, const char *folder, const char *mark, const char *page) {
  bool marked = exists(mark), paged = exists(page);
  if (paged && !is_page(page))
    return gz_fail(context, GRAZE_ERROR_FILE, "%s: is no page of a report of Graze and is not replaced", page);
  if (!marked && !paged && !is_empty(folder))
    return gz_fail(context, GRAZE_ERROR_FILE,
                   "%s: neither an empty folder nor one of an earlier report; its files are left alone", folder);
  return marked ? GRAZE_OK : write_text(context, mark, mark_text, sizeof mark_text - 1);
}

/* Of a file of the folder; gz_free() it. NULL: out of memory, which is reported. */
static char *path_in(const graze_context *context, const char *folder, const char *name) {
  char *path = gz_new_words(context, "%s/%s", folder, name);
  if (path == NULL) gz_report_fail_memory(context, folder);
  return path;
}

graze_status graze_report_claim_folder(graze_context *context, const char *folder) {
  graze_status status = graze_report_make_folder(context, folder);
  if (status != GRAZE_OK) return status;
  char *mark = path_in(context, folder, ".graze-report"), *page = path_in(context, folder, "index.html");
  status = mark != NULL && page != NULL ? claim(context, folder, mark, page) : GRAZE_ERROR_MEMORY;
  gz_free(mark);
  gz_free(page);
  return status;
}

graze_status graze_report_begin_page(graze_context *context, const char *folder) {
  if (context == NULL || folder == NULL)
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, folder, "", "no folder is named");
  char *page = path_in(context, folder, "index.html");
  graze_status status =
      page != NULL ? write_text(context, page, unfinished, sizeof unfinished - 1) : GRAZE_ERROR_MEMORY;
  gz_free(page);
  return status;
}
