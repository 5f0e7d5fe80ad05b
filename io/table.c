/* table.c: see table.h.
 *
 * Two passes over the text, both in parallel: the first finds the number of rows of each part, so that the second
 * knows which element each line is and can place it at once. Triangles go into arrays of the parts, because polygons
 * make their number unknown, and are joined at the end.
 */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "text.h"

/* Is the line at `p` a row? */
static inline bool is_row(const io_table *table, const char *p, const char *end) {
  p = io_skip_blanks(p, end);
  return p < end && !io_is_line_end(*p) && (*p != table->comment || *p == 0);
}

static void count_rows(void *argument, uint32_t index) {
  io_table *table = argument;
  io_table_part *part = &table->parts[index];
  const char *p = part->begin;
  bool plain = p == part->end || memchr(p, '\r', (size_t)(part->end - p)) == NULL;
  uint64_t rows = 0;
  while (p < part->end) {
    rows += is_row(table, p, part->end);
    const char *last = plain ? memchr(p, '\n', (size_t)(part->end - p)) : io_find_line_end(p, part->end);
    p = last == NULL ? part->end : io_skip_line_end(last, part->end);
  }
  part->row_count = rows;
}

/* The line of row `row`, or of the end of the text. */
static uint64_t find_row_line(const io_table *table, uint64_t row) {
  uint64_t line = table->line;
  for (const char *p = table->begin; p < table->end; line++) {
    if (is_row(table, p, table->end) && row-- == 0) return line;
    p = io_find_line_end(p, table->end);
    if (p == table->end) return line;
    p = io_skip_line_end(p, table->end);
  }
  return line;
}

static bool check_counts(const io_table *table, uint64_t rows, io_fault *fault) {
  uint64_t left = rows;
  for (size_t i = 0; i < table->section_count; i++) {
    const io_table_section *section = &table->sections[i];
    if (section->count > left) {
      return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, find_row_line(table, rows),
                        "the file ends after %llu of %llu rows of \"%s\"", (unsigned long long)left,
                        (unsigned long long)section->count,
                        gz_io_quote(section->name, section->name + section->name_length).text);
    }
    left -= section->count;
  }
  if (left == 0) return true;
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, find_row_line(table, rows - left),
                    "more lines than the header's counts say");
}

bool gz_io_table_open(io_table *table, io_fault *fault) {
  const size_t count = table->part_count;
  table->parts = gz_new_zeroed(fault->context, count, sizeof table->parts[0]);
  if (table->parts == NULL) return gz_io_fail_memory(fault);
  const char *from = table->begin;
  for (size_t i = 0; i < count; i++) {
    const char *cut = table->begin + (size_t)(table->end - table->begin) / count * (i + 1);
    if (cut < from) cut = from;
    const char *last = i + 1 == count ? table->end : gz_io_find_line_start(table->begin, cut, table->end);
    table->parts[i] = (io_table_part){.begin = from, .end = last, .line = 1, .fault = gz_io_fault_of_part(fault)};
    from = last;
  }
  gz_parallel_each(fault->context, (uint32_t)count, count_rows, table);
  uint64_t rows = 0;
  for (size_t i = 0; i < count; i++) {
    table->parts[i].first_row = rows;
    rows += table->parts[i].row_count;
  }
  return check_counts(table, rows, fault);
}

/* What stands behind a row. */
static bool pass_rest(io_table_part *part, const char *p, bool faces) {
  double unused;
  const char *last = io_find_token_end(p, part->end);
  if (!faces && graze_parse_double(p, last, &unused) == last &&
      gz_io_pass(&part->fault, IO_TOO_MUCH, part->line, p, last))
    return true;
  return gz_io_fail(&part->fault, GRAZE_ERROR_FORMAT, IO_LINE, part->line, "\"%s\" is too much on this line",
                    gz_io_quote(p, io_find_token_end(p, part->end)).text);
}

static void read_rows(void *argument, uint32_t index) {
  const io_table *table = argument;
  io_table_part *part = &table->parts[index];
  const io_table_section *section = table->sections;
  uint64_t row = part->first_row;
  for (const char *p = part->begin; p < part->end;) {
    bool faces = false;
    p = io_skip_blanks(p, part->end);
    if (is_row(table, p, part->end)) {
      for (; row >= section->count; section++) row -= section->count; /* the counts have been checked */
      p = section->read(section->user, part, row++, p, part->end);
      faces = section->faces;
      if (p == NULL) return;
      p = io_skip_blanks(p, part->end);
    }
    if (p < part->end && *p == table->comment && *p != 0) p = io_find_line_end(p, part->end);
    if (p < part->end && !io_is_line_end(*p)) {
      if (!pass_rest(part, p, faces)) return;
      p = io_find_line_end(p, part->end);
    }
    part->line += p < part->end;
    p = io_skip_line_end(p, part->end);
  }
}

bool gz_io_table_read(io_table *table, io_fault *fault) {
  gz_parallel_each(fault->context, (uint32_t)table->part_count, read_rows, table);
  uint64_t lines = table->line - 1;
  for (size_t i = 0; i < table->part_count; i++) {
    const io_table_part *part = &table->parts[i];
    if (part->fault.status != GRAZE_OK) {
      *fault = part->fault;
      fault->number += lines;
      return false;
    }
    gz_io_pass_part(fault, &part->fault, lines);
    lines += part->line - 1;
  }
  return true;
}

uint64_t gz_io_table_count_triangles(io_table *table, graze_geometry *geometry) {
  uint64_t triangles = 0;
  io_written written = {0};
  for (size_t i = 0; i < table->part_count; i++) {
    table->parts[i].first_triangle = triangles;
    triangles += table->parts[i].triangles.count;
    io_written_add(&written, &table->parts[i].written);
  }
  gz_io_geometry_set_written(geometry, &written);
  return triangles;
}

typedef struct table_copy {
  const io_table *table;
  uint32_t *indices;
} table_copy;

static void copy_part(void *argument, uint32_t index) {
  const table_copy *copy = argument;
  const io_table_part *part = &copy->table->parts[index];
  if (part->triangles.count == 0) return;
  memcpy(copy->indices + 3 * part->first_triangle, part->triangles.data, part->triangles.count * 3 * sizeof(uint32_t));
}

void gz_io_table_copy_triangles(const graze_context *context, io_table *table, uint32_t *indices) {
  table_copy copy = {table, indices};
  gz_parallel_each(context, (uint32_t)table->part_count, copy_part, &copy);
}

void gz_io_table_close(io_table *table) {
  for (size_t i = 0; table->parts != NULL && i < table->part_count; i++) gz_free(table->parts[i].triangles.data);
  gz_free(table->parts);
  table->parts = NULL;
}

static const char *fail_corner(io_table_part *part, const char *p, const char *end) {
  const char *last = io_find_token_end(p, end);
  if (p == last) {
    gz_io_fail(&part->fault, GRAZE_ERROR_FORMAT, IO_LINE, part->line,
               "a polygon has fewer corners than its count says");
  } else {
    gz_io_fail(&part->fault, *p == '-' ? GRAZE_ERROR_INDEX : GRAZE_ERROR_FORMAT, IO_LINE, part->line,
               "\"%s\" is not the number of a vertex", gz_io_quote(p, last).text);
  }
  return NULL;
}

const char *gz_io_table_read_polygon(io_table_part *part, uint64_t count, uint64_t vertices, const char *p,
                                     const char *end) {
  if (count < 3) {
    gz_io_fail(&part->fault, GRAZE_ERROR_FORMAT, IO_LINE, part->line, "a polygon of %llu corners",
               (unsigned long long)count);
    return NULL;
  }
  uint32_t corners[3];
  for (uint64_t k = 0; k < count; k++) {
    p = io_skip_blanks(p, end);
    uint64_t vertex;
    const char *q = io_parse_count(p, end, &vertex);
    if (q == NULL || (q < end && !io_is_space(*q) && *q != '#')) return fail_corner(part, p, end);
    if (vertex >= vertices) {
      gz_io_fail(&part->fault, GRAZE_ERROR_INDEX, IO_LINE, part->line, "vertex %s is out of range: there are %llu",
                 gz_io_quote(p, q).text, (unsigned long long)vertices);
      return NULL;
    }
    p = q;
    corners[k < 2 ? k : 2] = (uint32_t)vertex;
    if (k < 2) continue;
    if (!array_reserve(part->fault.context, &part->triangles, 1, sizeof corners)) {
      gz_io_fail_memory(&part->fault);
      return NULL;
    }
    memcpy((uint32_t *)part->triangles.data + 3 * part->triangles.count++, corners, sizeof corners);
    corners[1] = corners[2];
  }
  return p;
}
