/* self_print.h: where meshes meet themselves, as `graze self' and `graze-mpi self' tell it. */
#ifndef TOOL_SELF_PRINT_H
#define TOOL_SELF_PRINT_H

#include "base/json.h"
#include "graze/collide.h"
#include "output.h"

typedef struct self_row {
  const char *name;
  uint64_t triangles, degenerate;
  graze_self_result found;
} self_row;

uint64_t self_total(const self_row *rows, uint32_t count); /* self pairs */

/* Opens the mesh's object and puts all but its pairs. */
void self_put_json(gz_json *json, const self_row *row);

void self_write_table_csv(output *out, const self_row *rows, uint32_t count);
void self_write_table_text(output *out, const self_row *rows, uint32_t count);

/* The last line; `who` did it. */
void self_write_verdict(output *out, const self_row *rows, uint32_t count, const char *who, double seconds);

#define SELF_CSV_TITLE "name,triangle_a,triangle_b\n"
char *self_csv_name(const char *name); /* the first column; gz_free() it */
void self_put_csv_pair(output *out, const char *csv_name, uint64_t a, uint64_t b);

#endif
