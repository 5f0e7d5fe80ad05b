/* graze/text.h: text on its way to a file, a pipe or memory. Part of graze_io.
 *
 * A graze_text holds one buffer and hands it to a sink whenever it is full. The put functions never fail: the first
 * failure is kept, what comes after it is dropped, and whoever began the text looks at the end.
 */
#ifndef GRAZE_TEXT_H
#define GRAZE_TEXT_H

#include "graze/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Takes all the bytes, or returns false: then it is not called again. */
typedef bool (*graze_text_sink)(void *user, const void *bytes, size_t size);

typedef struct graze_text {
  char *data;
  size_t used, capacity;
  graze_text_sink sink; /* NULL: everything stays in `data`, which grows */
  void *user;
  bool no_memory, refused; /* what went wrong */
} graze_text;

/* False: out of memory. Either way graze_text_end may be called. */
GRAZE_API bool graze_text_begin(graze_text *text, graze_text_sink sink, void *user);

/* Hands on what is in the buffer; without a sink it does nothing. */
GRAZE_API void graze_text_flush(graze_text *text);

/* Frees; does not flush. */
GRAZE_API void graze_text_end(graze_text *text);

GRAZE_API void graze_put_bytes(graze_text *text, const void *bytes, size_t size);
GRAZE_API void graze_put_text(graze_text *text, const char *string); /* NULL = "" */
GRAZE_API void graze_put_integer(graze_text *text, uint64_t value);
GRAZE_API void graze_put_hex(graze_text *text, uint64_t value);  /* 16 digits */
GRAZE_API void graze_put_double(graze_text *text, double value); /* as graze_format_double */

/* Length of the valid UTF-8 sequence at `text`; 0 = none (overlong ones and surrogates count as none). The final 0 is a
 * sequence of length 1. */
GRAZE_API size_t graze_utf8_length(const char *text);

#ifdef __cplusplus
}
#endif
#endif
