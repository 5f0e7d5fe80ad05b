/* table.h: text of one element a line, as in OFF and ASCII PLY, read by several threads; private to io. */
#ifndef GRAZE_IO_TABLE_H
#define GRAZE_IO_TABLE_H

#include "readers.h"
#include "text.h"

/* What a thread works on: a run of whole lines. */
typedef struct io_table_part {
  const char *begin, *end;
  uint64_t line;      /* of the row being read; the part begins on line 1 */
  uint64_t first_row; /* number of rows before the part */
  uint64_t row_count;
  gz_array triangles; /* uint32_t[3], filled by the row functions */
  uint64_t first_triangle;
  io_written written;
  io_fault fault;
} io_table_part;

/* Reads row `row` of a section at `p` and returns the first character behind it; NULL: part->fault says why. The
 * lines end at `end`. A row never goes past its line end, which is what stops numbers and tokens. */
typedef const char *(*io_row_function)(void *user, io_table_part *part, uint64_t row, const char *p, const char *end);

typedef struct io_table_section {
  const char *name; /* of an element, for messages */
  size_t name_length;
  uint64_t count;
  io_row_function read;
  void *user; /* for `read` */
  bool faces; /* a number too much on a line may be a corner that its count forgets */
} io_table_section;

typedef struct io_table {
  const char *begin, *end; /* the text behind the header */
  uint64_t line;           /* number of the first line */
  char comment;            /* begins a comment; 0: there are none */
  size_t part_count;       /* to cut the text into */
  const io_table_section *sections;
  size_t section_count;
  io_table_part *parts; /* filled by gz_io_table_open */
} io_table;

/* Cuts the text and counts its rows: there must be as many as the sections ask for. Blank and comment lines don't
 * count. Only after this has succeeded are the counts of a header worth believing. */
bool gz_io_table_open(io_table *table, io_fault *fault);

/* Reads all rows. */
bool gz_io_table_read(io_table *table, io_fault *fault);

/* Number of triangles that the rows made; tells the geometry how the coordinates are written. */
uint64_t gz_io_table_count_triangles(io_table *table, graze_geometry *geometry);

/* Copies the triangles to `indices`, which has room for them. */
void gz_io_table_copy_triangles(const graze_context *context, io_table *table, uint32_t *indices);

void gz_io_table_close(io_table *table);

/* For row functions: a polygon of `count` corners at `p`, numbers of vertices below `vertices`, separated by blanks,
 * fanned from its first corner. */
const char *gz_io_table_read_polygon(io_table_part *part, uint64_t count, uint64_t vertices, const char *p,
                                     const char *end);

#endif
