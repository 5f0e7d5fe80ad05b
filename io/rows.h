/* rows.h: what files of rows have in common, lines of fields between commas or binary records; private to io. */
#ifndef GRAZE_IO_ROWS_H
#define GRAZE_IO_ROWS_H

#include "readers.h"

/* The text of a field without the blanks around it. */
typedef struct io_field {
  const char *first, *last;
} io_field;

io_field gz_io_trim(const char *first, const char *last);

/* Behind the text of a field: at the comma, or `end`. */
static inline const char *io_find_comma(const char *p, const char *end) {
  while (p < end && *p != ',') p++;
  return p;
}

/* Reads a finite number; the fault says what `title` is instead. */
bool gz_io_read_number(io_field text, const char *title, double *number, uint64_t line, io_fault *fault);

/* Line ends, and what is behind the last of them. */
uint64_t gz_io_count_lines(const char *p, const char *end);

/* Whether so many rows can be numbered; if not, the fault is at that place. `what`: "boxes". */
bool gz_io_check_count(uint64_t count, const char *what, io_place place, uint64_t number, io_fault *fault);

/* A binary file: 8 bytes that say what it is, a count, and as many records. */
enum { IO_MAGIC_BYTES = 8, IO_RECORDS_BEGIN = 16 };

/* A little-endian word. */
static inline uint64_t io_read_word(const unsigned char *p) {
  uint64_t word = 0;
  for (int k = 7; k >= 0; k--) word = word << 8 | p[k];
  return word;
}

/* Reads the count, which the size of the file must fit. */
bool gz_io_read_count(const io_input *input, uint64_t record_bytes, const char *what, uint64_t *count, io_fault *fault);

#endif
