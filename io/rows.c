/* Rows: see rows.h. */
#include "rows.h"

#include <math.h>

#include "text.h"

io_field gz_io_trim(const char *first, const char *last) {
  first = io_skip_blanks(first, last);
  while (last > first && io_is_blank(last[-1])) last--;
  return (io_field){first, last};
}

bool gz_io_read_number(io_field text, const char *title, double *number, uint64_t line, io_fault *fault) {
  const char *sign = text.first + (text.first < text.last && (*text.first == '-' || *text.first == '+'));
  const char *q = graze_parse_double(text.first, text.last, number), *wrong = NULL;
  graze_status status = GRAZE_ERROR_NOT_FINITE;
  if (gz_io_token_is(sign, text.last, "nan") || gz_io_token_is(sign, text.last, "inf") ||
      gz_io_token_is(sign, text.last, "infinity")) {
    wrong = "is not finite";
  } else if (q == NULL || q != text.last) {
    wrong = "is not a number";
    status = GRAZE_ERROR_FORMAT;
  } else if (!isfinite(*number)) {
    wrong = "is too large for a double";
  }
  if (wrong == NULL) return true;
  return gz_io_fail(fault, status, IO_LINE, line, "%s \"%s\" %s", title, gz_io_quote(text.first, text.last).text,
                    wrong);
}

uint64_t gz_io_count_lines(const char *p, const char *end) {
  uint64_t lines = 0;
  for (; p < end; lines++) p = io_skip_line_end(io_find_line_end(p, end), end);
  return lines;
}

bool gz_io_check_count(uint64_t count, const char *what, io_place place, uint64_t number, io_fault *fault) {
  if (count <= IO_MOST_ELEMENTS) return true;
  return gz_io_fail(fault, GRAZE_ERROR_LIMIT, place, number, "%llu %s: more than 32-bit numbers allow",
                    (unsigned long long)count, what);
}

bool gz_io_read_count(const io_input *input, uint64_t record_bytes, const char *what, uint64_t *count,
                      io_fault *fault) {
  if (input->size < IO_RECORDS_BEGIN) {
    return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, input->size,
                      "the file ends within the %d bytes before the %s", IO_RECORDS_BEGIN, what);
  }
  *count = io_read_word((const unsigned char *)input->text + IO_MAGIC_BYTES);
  const uint64_t behind = input->size - IO_RECORDS_BEGIN, held = behind / record_bytes, odd = behind % record_bytes;
  if (*count == held && odd == 0) return gz_io_check_count(*count, what, IO_BYTE, IO_MAGIC_BYTES, fault);
  const uint64_t place = *count > held ? input->size : IO_RECORDS_BEGIN + *count * record_bytes;
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, place,
                    "the count is %llu, but the %llu bytes behind it are %llu times %llu%s", (unsigned long long)*count,
                    (unsigned long long)behind, (unsigned long long)held, (unsigned long long)record_bytes,
                    odd ? " and some" : "");
}
