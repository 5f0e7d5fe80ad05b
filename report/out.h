/* out.h: text in the manner of the reports' formats, on top of base/text.h, and files that appear whole or not at all;
 * private to report. */
#ifndef GRAZE_REPORT_OUT_H
#define GRAZE_REPORT_OUT_H

#include "base/file.h"
#include "base/owned.h"
#include "base/text.h"
#include "base/whole.h"
#include "fault.h"

/* The shortest text that reads back to the same double; nothing for what is no number. */
void gz_put_finite(gz_text *out, double value);

/* Text in the manner of a format. What is not UTF-8 becomes U+FFFD, and so do the characters that XML cannot carry. */
void gz_put_xml(gz_text *out, const char *text); /* for content and for attributes in double quotes */
void gz_put_csv(gz_text *out, const char *text); /* with quotes where it needs them */

typedef struct report_file {
  gz_text out;
  const char *path;
  new_file file;
  int reason; /* errno of the first failure */
} report_file;

/* Opens it after a look at the record (gz_report_check, gz_report_check_groups). */
graze_status gz_report_file_open(const graze_context *context, report_file *file, const char *path,
                                 const graze_report *report);

/* With OK: flushes, renames, and reports what failed. With another status, which has its message already, or when
 * something failed: no file. */
graze_status gz_report_file_close(const graze_context *context, report_file *file, graze_status status);

/* As gz_whole_read, of a pipe without a name too. */
graze_status gz_report_read_file(const graze_context *context, const char *path, gz_whole *file);

/* A record that contradicts itself would make files that do: names and ids there, numbers in range. */
graze_status gz_report_check(const graze_context *context, const graze_report *report, const char *name);

/* The same of the groups, which exist only when all else is done. */
graze_status gz_report_check_groups(const graze_context *context, const graze_report *report, const char *name);

/* 1 to 23 letters, digits and '-': an id may become the name of a file. */
bool gz_report_is_id(const char *id);

/* Clashes that are there now: not resolved and not separate. */
bool gz_report_is_live(const graze_report_clash *clash);

/* "pipes / steel": the two layers in the order of their bytes; gz_free() it. NULL: out of memory. */
char *gz_report_layer_pair(const graze_context *context, const char *first, const char *second);

extern const char gz_report_incomplete[]; /* the sentence that every incomplete report shows first */

#endif
