/* base/text.h: text on its way to a file, a pipe or memory. Part of graze_io.
 *
 * A gz_text holds one buffer and hands it to a sink whenever it is full. The put functions never fail: the first
 * failure is kept, what comes after it is dropped, and whoever began the text looks at the end.
 */
#ifndef GRAZE_SRC_BASE_TEXT_H
#define GRAZE_SRC_BASE_TEXT_H

#include "graze/base.h"

/* Takes all the bytes, or returns false: then it is not called again. */
typedef bool (*gz_text_sink)(void *user, const void *bytes, size_t size);

typedef struct gz_text {
  char *data;
  size_t used, capacity;
  gz_text_sink sink; /* NULL: everything stays in `data`, which grows */
  void *user;
  bool no_memory, refused; /* what went wrong */
  const graze_context *context;
} gz_text;

/* False: out of memory. Either way gz_text_end may be called. */
bool gz_text_begin(const graze_context *context, gz_text *text, gz_text_sink sink, void *user);

/* Hands on what is in the buffer; without a sink it does nothing. */
void gz_text_flush(gz_text *text);

/* Frees; does not flush. */
void gz_text_end(gz_text *text);

void gz_put_bytes(gz_text *text, const void *bytes, size_t size);
void gz_put_text(gz_text *text, const char *string); /* NULL = "" */
void gz_put_integer(gz_text *text, uint64_t value);
void gz_put_hex(gz_text *text, uint64_t value);  /* 16 digits */
void gz_put_double(gz_text *text, double value); /* as gz_format_double */

/* Length of the UTF-8 sequence at `text`, or minus the number of bytes that one U+FFFD stands for (overlong sequences
 * and surrogates are none). The final 0 is a sequence of length 1, and no other one goes past it. */
int gz_utf8_length(const char *text);

#define GZ_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Puts the character at `at`, or U+FFFD when there is none; returns what follows. */
const char *gz_put_character(gz_text *text, const char *at);

#endif
