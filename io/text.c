/* text.c: see text.h. */
#include "text.h"

#include <math.h>
#include <string.h>

#include "decimal.h"

enum { MOST_DECIMALS = 1000 }; /* more are all as good as exact */

const char *gz_io_find_line_start(const char *begin, const char *from, const char *end) {
  for (const char *p = from;;) {
    p = io_find_line_end(p, end);
    if (p == end) return end;
    const char *mark = p > begin && *p == '\n' && p[-1] == '\r' ? p - 1 : p; /* `from` can split CR LF */
    p = io_skip_line_end(p, end);
    if (mark == begin || mark[-1] != '\\') return p;
  }
}

bool gz_io_token_is(const char *first, const char *last, const char *word) {
  for (; first < last && *word; first++, word++) {
    char c = *first >= 'A' && *first <= 'Z' ? (char)(*first + 32) : *first;
    if (c != *word) return false;
  }
  return first == last && *word == 0;
}

static bool names_no_finite_number(const char *first, const char *last) {
  if (first < last && (*first == '-' || *first == '+')) first++;
  return gz_io_token_is(first, last, "nan") || gz_io_token_is(first, last, "inf") ||
         gz_io_token_is(first, last, "infinity");
}

static const char *fail_coordinate(const char *first, const char *last, io_fault *fault, uint64_t line) {
  if (first == last) {
    gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, line, "a coordinate is missing");
  } else if (names_no_finite_number(first, last)) {
    gz_io_fail(fault, GRAZE_ERROR_NOT_FINITE, IO_LINE, line, "the coordinate \"%s\" is not finite",
               gz_io_quote(first, last).text);
  } else {
    gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, line, "\"%s\" is not a number", gz_io_quote(first, last).text);
  }
  return NULL;
}

void gz_io_geometry_set_written(graze_geometry *geometry, const io_written *written) {
  geometry->all_float = !written->not_float;
  geometry->rounding = written->decimals > 0 ? 0.5 * pow(10, -written->decimals) : 0;
}

const char *gz_io_parse_coordinate(const char *p, const char *end, char stop, double *value, io_written *written,
                                   io_fault *fault, uint64_t line) {
  int64_t exponent;
  const char *q = gz_io_parse_decimal(p, end, value, &exponent);
  if (q == NULL || (q < end && !io_is_space(*q) && *q != stop)) {
    return fail_coordinate(p, io_find_token_end(p, end), fault, line);
  }
  if (!isfinite(*value)) {
    gz_io_fail(fault, GRAZE_ERROR_NOT_FINITE, IO_LINE, line, "the coordinate \"%s\" is too large for a double",
               gz_io_quote(p, q).text);
    return NULL;
  }
  written->not_float |= !io_is_float(*value);
  if (-exponent > written->decimals) written->decimals = exponent < -MOST_DECIMALS ? MOST_DECIMALS : (int)-exponent;
  return q;
}

/* As C libraries write what is not finite: nan, inf, infinity, nan(ind), 1.#IND, 1.#QNAN, 1.#INF and so on. */
static bool is_not_finite(const char *first, const char *last) {
  if (names_no_finite_number(first, last)) return true;
  if (first < last && (*first == '-' || *first == '+')) first++;
  return (last - first > 4 && gz_io_token_is(first, first + 4, "nan(") && last[-1] == ')') ||
         (last - first > 3 && memcmp(first, "1.#", 3) == 0);
}

const char *gz_io_skip_number(const char *p, const char *end, io_fault *fault, uint64_t line) {
  double unused;
  const char *q = graze_parse_double(p, end, &unused), *last = p;
  if (q != NULL && (q == end || io_is_space(*q) || *q == '#' || *q == '\\')) return q;
  while (last < end && !io_is_space(*last) && (*last != '#' || last < p + 3)) last++; /* 1.#IND */
  if (is_not_finite(p, last) && gz_io_pass(fault, IO_NOT_FINITE, line, p, last)) return last;
  gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, line, "\"%s\" is not a number",
             gz_io_quote(p, io_find_token_end(p, end)).text);
  return NULL;
}

size_t gz_io_text_begin(const char *text, size_t size) {
  return size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}
