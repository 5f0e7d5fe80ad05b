/* text.h: characters, lines and tokens of text files; private to io. Line ends are LF, CR LF and lone CR. */
#ifndef GRAZE_IO_TEXT_H
#define GRAZE_IO_TEXT_H

#include "fault.h"

static inline bool io_is_digit(char c) {
  return (unsigned char)(c - '0') < 10;
}

static inline bool io_is_line_end(char c) {
  return c == '\n' || c == '\r';
}

/* Blank within a line. */
static inline bool io_is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static inline bool io_is_space(char c) {
  return io_is_blank(c) || io_is_line_end(c);
}

static inline const char *io_skip_blanks(const char *p, const char *end) {
  while (p < end && io_is_blank(*p)) p++;
  return p;
}

/* The line end at or behind `p`, or `end`. */
static inline const char *io_find_line_end(const char *p, const char *end) {
  while (p < end && !io_is_line_end(*p)) p++;
  return p;
}

/* Steps over one line end at `p`; at `end` it stays. */
static inline const char *io_skip_line_end(const char *p, const char *end) {
  if (p < end && *p == '\r' && end - p > 1 && p[1] == '\n') return p + 2;
  return p < end ? p + 1 : p;
}

/* The end of the run of characters other than spaces. */
static inline const char *io_find_token_end(const char *p, const char *end) {
  while (p < end && !io_is_space(*p)) p++;
  return p;
}

/* Behind the first line end at or after `from` that no backslash stands before; `end` if there is none. */
const char *gz_io_find_line_start(const char *begin, const char *from, const char *end);

/* Case-insensitive comparison of the token [first, last) with a word in small letters. */
bool gz_io_token_is(const char *first, const char *last, const char *word);

/* A decimal number without sign; one that does not fit is cut down to something above 2^57. NULL: no digit at `p`. */
static inline const char *io_parse_count(const char *p, const char *end, uint64_t *value) {
  if (p == end || !io_is_digit(*p)) return NULL;
  uint64_t sum = 0;
  for (; p < end && io_is_digit(*p); p++) {
    if (sum < UINT64_MAX / 100) sum = sum * 10 + (uint64_t)(*p - '0');
  }
  *value = sum;
  return p;
}

/* How coordinates are written. Zeros: there are none yet. */
typedef struct io_written {
  bool not_float; /* the value of one is not that of a float */
  int decimals;   /* the most that one has: 3 of "1.250" and of "25e-3" */
} io_written;

static inline void io_written_add(io_written *all, const io_written *part) {
  all->not_float |= part->not_float;
  if (all->decimals < part->decimals) all->decimals = part->decimals;
}

/* Tells the geometry how all of its coordinates are written. */
void gz_io_geometry_set_written(graze_geometry *geometry, const io_written *written);

/* Reads a coordinate: a finite number that a space, a line end, `stop` or the end follows, and adds how it is written.
 * NULL: `fault` says why, with `line` as its place. */
const char *gz_io_parse_coordinate(const char *p, const char *end, char stop, double *value, io_written *written,
                                   io_fault *fault, uint64_t line);

/* Reads a number that no triangle depends on, and that a space, a line end, a backslash, '#' or the end follows: it may
 * be passed over if it is not finite, however that is written. NULL: `fault` says why. */
const char *gz_io_skip_number(const char *p, const char *end, io_fault *fault, uint64_t line);

/* Position of the first byte behind a UTF-8 byte order mark, if there is one. */
size_t gz_io_text_begin(const char *text, size_t size);

/* True when the value is the value of a float too. */
static inline bool io_is_float(double x) {
  return (double)(float)x == x;
}

#endif
