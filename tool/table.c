/* Small tables. Cells are kept as text until all widths are known. */
#include "table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "graze/io.h"

table table_begin(const table_column *columns, uint32_t column_count) {
  return (table){.columns = columns, .column_count = column_count};
}

void table_free(table *rows) {
  free(rows->text);
  rows->text = NULL;
}

void table_text(table *rows, const char *text) {
  if (!text) text = "";
  size_t size = strlen(text) + 1;
  if (size > rows->capacity - rows->used) {
    rows->capacity += rows->capacity / 2 + size + 1024;
    char *larger = realloc(rows->text, rows->capacity);
    if (!larger) fail_out_of_memory();
    rows->text = larger;
  }
  memcpy(rows->text + rows->used, text, size);
  rows->used += size;
  rows->cell_count++;
}

void table_integer(table *rows, uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%" PRIu64, value);
  table_text(rows, text);
}

void table_hex(table *rows, uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%016" PRIx64, value);
  table_text(rows, text);
}

void table_double(table *rows, double value) {
  char text[32];
  graze_format_double(value, text);
  table_text(rows, text);
}

/* Characters, not bytes, as far as UTF-8 goes. */
static size_t width_of(const char *text) {
  size_t width = 0;
  for (; *text; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
  return width;
}

/* Control characters in names would play tricks on a terminal. */
static void write_visible(output *out, const char *text, bool blank_underscores) {
  for (; *text; text++) {
    char shown = (unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text;
    if (blank_underscores && shown == '_') shown = ' ';
    gz_put_bytes(out, &shown, 1);
  }
}

static void write_blanks(output *out, size_t count) {
  while (count-- > 0) gz_put_bytes(out, " ", 1);
}

static void write_cell(output *out, const char *text, size_t width, bool left, bool last, bool is_title) {
  size_t fill = width - width_of(text);
  if (!left) write_blanks(out, fill);
  write_visible(out, text, is_title);
  if (left && !last) write_blanks(out, fill);
  gz_put_text(out, last ? "\n" : "  ");
}

void table_write_text(const table *rows, output *out) {
  size_t *widths = malloc(rows->column_count * sizeof *widths);
  if (!widths) fail_out_of_memory();
  for (uint32_t c = 0; c < rows->column_count; c++) widths[c] = width_of(rows->columns[c].title);
  const char *cell = rows->text;
  for (uint64_t i = 0; i < rows->cell_count; i++, cell += strlen(cell) + 1) {
    size_t width = width_of(cell);
    if (width > widths[i % rows->column_count]) widths[i % rows->column_count] = width;
  }
  for (uint32_t c = 0; c < rows->column_count; c++)
    write_cell(out, rows->columns[c].title, widths[c], rows->columns[c].left, c + 1 == rows->column_count, true);
  cell = rows->text;
  for (uint64_t i = 0; i < rows->cell_count; i++, cell += strlen(cell) + 1) {
    uint32_t c = (uint32_t)(i % rows->column_count);
    write_cell(out, cell, widths[c], rows->columns[c].left, c + 1 == rows->column_count, false);
  }
  free(widths);
}

/* Blanks at the ends of a bare field are not all readers' text. */
static bool needs_quotes(const char *text) {
  const size_t length = strlen(text);
  return strpbrk(text, ",\"\r\n") || (length > 0 && (strchr(" \t", text[0]) || strchr(" \t", text[length - 1])));
}

void write_csv_field(output *out, const char *text) {
  if (!needs_quotes(text)) {
    gz_put_text(out, text);
    return;
  }
  gz_put_bytes(out, "\"", 1);
  for (; *text; text++) gz_put_bytes(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
  gz_put_bytes(out, "\"", 1);
}

void table_write_csv(const table *rows, output *out) {
  for (uint32_t c = 0; c < rows->column_count; c++) {
    gz_put_text(out, rows->columns[c].title);
    gz_put_text(out, c + 1 == rows->column_count ? "\n" : ",");
  }
  const char *cell = rows->text;
  for (uint64_t i = 0; i < rows->cell_count; i++, cell += strlen(cell) + 1) {
    write_csv_field(out, cell);
    gz_put_text(out, (i + 1) % rows->column_count == 0 ? "\n" : ",");
  }
}
