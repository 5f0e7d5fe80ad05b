/* table.h: rows of cells, written aligned for people or as CSV (RFC 4180 quoting). */
#ifndef TOOL_TABLE_H
#define TOOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output.h"

typedef struct table_column {
  const char *title; /* as in CSV; text shows '_' as a blank */
  bool left;         /* text to the left, numbers to the right */
} table_column;

typedef struct table {
  const table_column *columns;
  uint32_t column_count;
  char *text; /* cells one after another, each with its final 0 */
  size_t used, capacity;
  uint64_t cell_count;
} table;

table table_begin(const table_column *columns, uint32_t column_count);
void table_free(table *rows);

void table_text(table *rows, const char *text); /* NULL = "" */
void table_integer(table *rows, uint64_t value);
void table_hex(table *rows, uint64_t value);
void table_double(table *rows, double value);

void table_write_text(const table *rows, output *out);
void table_write_csv(const table *rows, output *out);

/* One CSV field, quoted where needed. */
void write_csv_field(output *out, const char *text);

#endif
