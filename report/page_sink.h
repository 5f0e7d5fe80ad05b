/* page_sink.h: where the page's bytes go: a file that remembers its first failure, with JSON, HTML and base64 on top of
 * base/text.h. Private to report. */
#ifndef GRAZE_REPORT_PAGE_SINK_H
#define GRAZE_REPORT_PAGE_SINK_H

#include "base/file.h"
#include "base/text.h"

typedef struct page_sink {
  gz_text text;
  new_file file;
  int reason; /* errno of the first failure; 0 = none. Later writes are ignored */
  bool more;  /* JSON: something stands before in the innermost array or object */
} page_sink;

/* False: `reason` says why. */
bool gz_page_sink_open(page_sink *sink, const char *path);

/* Writes out what is buffered, closes and frees. False: something was not written, and there is no page. */
bool gz_page_sink_close(page_sink *sink);

/* Text between tags: & < > become entities, bytes that are not UTF-8 become U+FFFD. */
void gz_page_put_html(page_sink *sink, const char *text);

/* JSON that may stand in a script element: `<` is written as an escape, so that no name can end the element. `key` is
 * plain ASCII, or NULL for an element of an array. Text NULL counts as ""; bytes that are not UTF-8 become U+FFFD.
 * Doubles read back to the same value; one that is not finite is null. */
void gz_page_json_open(page_sink *sink, const char *key, char bracket);
void gz_page_json_close(page_sink *sink, char bracket);
void gz_page_json_text(page_sink *sink, const char *key, const char *text);
void gz_page_json_hash(page_sink *sink, const char *key, uint64_t value); /* as text: a double would lose bits */
void gz_page_json_count(page_sink *sink, const char *key, uint64_t value);
void gz_page_json_number(page_sink *sink, const char *key, double value);
void gz_page_json_numbers(page_sink *sink, const char *key, const double *values, int count);
void gz_page_json_word(page_sink *sink, const char *key, const char *word); /* true, false, null */

/* Base64 of a stream that comes in pieces. */
typedef struct page_base64 {
  page_sink *sink;
  uint32_t rest; /* bytes that wait for their group of three */
  int rest_count;
} page_base64;

void gz_page_base64_put(page_base64 *stream, const void *bytes, size_t size);
void gz_page_base64_end(page_base64 *stream);

#endif
