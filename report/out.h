/* out.h: text on its way into a file, and files that appear whole or not at all; private to report.
 *
 * The put functions never fail: the first failure is kept, what comes after it is dropped, and the end reports it.
 */
#ifndef GRAZE_REPORT_OUT_H
#define GRAZE_REPORT_OUT_H

#include "fault.h"

typedef struct report_out {
  char *data;
  size_t used, capacity;
  graze_report_sink sink; /* NULL: everything stays in `data`, which grows */
  void *user;
  bool no_memory, refused;
} report_out;

/* False: out of memory. */
bool report_out_begin(report_out *out, graze_report_sink sink, void *user);
void report_out_flush(report_out *out);
void report_out_end(report_out *out); /* frees; does not flush */

void put_bytes(report_out *out, const void *bytes, size_t size);
void put_text(report_out *out, const char *text); /* NULL = "" */
void put_integer(report_out *out, uint64_t value);
void put_hex(report_out *out, uint64_t value); /* 16 digits */
/* The shortest text that reads back to the same double; nothing for what is no number. */
void put_double(report_out *out, double value);

/* Text in the manner of a format. What is not UTF-8 becomes U+FFFD, and so do the characters that XML cannot carry. */
void put_xml(report_out *out, const char *text);  /* for content and for attributes in double quotes */
void put_json(report_out *out, const char *text); /* with the quotes */
void put_csv(report_out *out, const char *text);  /* with quotes where it needs them */

/* Length of the valid UTF-8 sequence at `text`; 0 = none (overlong ones and surrogates count as none). */
size_t report_utf8_length(const char *text);

/* A file under a temporary name beside its own, renamed when it is complete; devices and pipes are written in place. */
typedef struct report_file {
  report_out out;
  const char *path;
  int descriptor;
  int reason;               /* errno of the first failure */
  char *target, *temporary; /* NULL: written in place */
} report_file;

/* Opens it after a look at the record (report_check, report_check_groups). */
graze_status report_file_open(report_file *file, const char *path, const graze_report *report, graze_io_error *error);

/* With OK: flushes, renames, and reports what failed. With another status, which has its message already, or when
 * something failed: no file. */
graze_status report_file_close(report_file *file, graze_status status, graze_io_error *error);

/* A whole file in memory; free() the bytes. */
graze_status report_read_file(const char *path, char **bytes, size_t *size, graze_io_error *error);

/* A record that contradicts itself would make files that do: names and ids there, numbers in range. */
graze_status report_check(const graze_report *report, const char *name, graze_io_error *error);

/* The same of the groups, which exist only when all else is done. */
graze_status report_check_groups(const graze_report *report, const char *name, graze_io_error *error);

/* 1 to 23 letters, digits and '-': an id may become the name of a file. */
bool report_is_id(const char *id);

/* Clashes that are there now: not resolved and not separate. */
bool report_is_live(const graze_report_clash *clash);

/* "pipes / steel": the two layers in the order of their bytes; free() it. NULL: out of memory. */
char *report_layer_pair(const char *first, const char *second);

extern const char report_incomplete[]; /* the sentence that every incomplete report shows first */

#endif
