#include "number_lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "graze/io.h"

number_lines number_lines_open(const char *path) {
  bool is_standard = strcmp(path, "-") == 0;
  number_lines lines = {.file = is_standard ? stdin : fopen(path, "r"), .name = is_standard ? "standard input" : path};
  if (!lines.file) fail("%s: cannot open: %s", path, strerror(errno));
  return lines;
}

void number_lines_close(number_lines *lines) {
  fclose(lines->file);
  free(lines->memory);
}

static char *skip_blanks(const char *at) {
  while (*at == ' ' || *at == '\t' || *at == '\r') at++;
  return (char *)(uintptr_t)at;
}

bool number_lines_next(number_lines *lines) {
  errno = 0;
  ssize_t length = getline(&lines->memory, &lines->capacity, lines->file);
  if (length < 0) {
    if (!feof(lines->file)) fail("%s: cannot read: %s", lines->name, strerror(errno));
    return false;
  }
  lines->line++;
  if (length > 0 && lines->memory[length - 1] == '\n') lines->memory[--length] = 0;
  lines->end = lines->memory + length;
  lines->text = skip_blanks(lines->memory);
  return true;
}

bool number_lines_take_word(number_lines *lines, const char *word) {
  size_t length = strlen(word);
  if (strncmp(lines->text, word, length) != 0) return false;
  char *after = skip_blanks(lines->text + length);
  if (after == lines->text + length && after != lines->end) return false;
  lines->text = after;
  return true;
}

/* Decimal by the library's reader; C hex floats by strtod, which is exact and, as no locale is set, knows only '.'. */
static const char *read_number(const char *at, const char *end, double *value) {
  const char *digits = at + (*at == '-' || *at == '+');
  if (digits[0] != '0' || (digits[1] != 'x' && digits[1] != 'X')) return graze_parse_double(at, end, value);
  char *after = NULL;
  *value = strtod(at, &after);
  return after;
}

const char *number_lines_take(number_lines *lines, double *values, int count) {
  static char message[64];
  for (int k = 0; k < count; k++) {
    if (lines->text == lines->end) {
      snprintf(message, sizeof message, "%d numbers expected, %d found", count, k);
      return message;
    }
    const char *after = read_number(lines->text, lines->end, &values[k]);
    char *next = after ? skip_blanks(after) : NULL;
    if (next && lines->commas && *next == ',' && k + 1 < count) next = skip_blanks(next + 1);
    if (!after || (next == after && after != lines->end)) {
      snprintf(message, sizeof message, "number %d of %d cannot be read", k + 1, count);
      return message;
    }
    if (!isfinite(values[k])) {
      snprintf(message, sizeof message, "number %d of %d is too large for a double", k + 1, count);
      return message;
    }
    lines->text = next;
  }
  return NULL;
}

const char *number_lines_take_all(number_lines *lines, double *values, int count) {
  static char message[64];
  const char *wrong = number_lines_take(lines, values, count);
  if (wrong || lines->text == lines->end) return wrong;
  snprintf(message, sizeof message, "%d numbers expected, more found", count);
  return message;
}
