/* ply_ascii.c: the body of an ASCII PLY file: one element a line, blank lines apart. */
#include <stdlib.h>

#include "ply.h"
#include "table.h"
#include "text.h"

/* What a row function needs. */
typedef struct row_reader {
  const ply_file *file;
  const ply_element *element;
} row_reader;

static const char *skip_token(io_table_part *part, const char *p, const char *end) {
  p = io_skip_blanks(p, end);
  const char *last = io_find_token_end(p, end);
  if (last != p) return last;
  gz_io_fail(&part->fault, GRAZE_ERROR_FORMAT, IO_LINE, part->line,
             "the line has fewer values than its properties ask for");
  return NULL;
}

static const char *fail_corner(io_table_part *part, const row_reader *reader, const char *p, const char *end) {
  const char *last = io_find_token_end(p, end);
  if (p == last) {
    gz_io_fail(&part->fault, GRAZE_ERROR_FORMAT, IO_LINE, part->line, "the list is shorter than its count says");
  } else {
    gz_io_fail(&part->fault, GRAZE_ERROR_INDEX, IO_LINE, part->line,
               "\"%s\" is neither -1 nor the number of a vertex: there are %llu", gz_io_quote(p, last).text,
               (unsigned long long)reader->file->vertex_count);
  }
  return NULL;
}

static const char *read_strips(const row_reader *reader, io_table_part *part, uint64_t count, const char *p,
                               const char *end) {
  ply_strip strip = {0};
  for (; count > 0; count--) {
    p = io_skip_blanks(p, end);
    bool ends = end - p >= 2 && p[0] == '-' && p[1] == '1';
    uint64_t vertex = 0;
    const char *q = ends ? p + 2 : io_parse_count(p, end, &vertex);
    if (q == NULL || (q < end && !io_is_space(*q)) || (!ends && vertex >= reader->file->vertex_count))
      return fail_corner(part, reader, p, end);
    p = q;
    if (!array_reserve(part->fault.context, &part->triangles, 1, 3 * sizeof(uint32_t))) {
      gz_io_fail_memory(&part->fault);
      return NULL;
    }
    uint32_t *triangle = (uint32_t *)part->triangles.data + 3 * part->triangles.count;
    part->triangles.count += ply_strip_take(&strip, ends ? -1 : (int64_t)vertex, triangle);
  }
  return p;
}

static const char *read_list(const row_reader *reader, io_table_part *part, bool is_watched, const char *p,
                             const char *end) {
  p = io_skip_blanks(p, end);
  uint64_t count;
  const char *q = io_parse_count(p, end, &count);
  if (q == NULL || (q < end && !io_is_space(*q))) {
    gz_io_fail(&part->fault, GRAZE_ERROR_FORMAT, IO_LINE, part->line, "\"%s\" is not the count of a list",
               gz_io_quote(p, io_find_token_end(p, end)).text);
    return NULL;
  }
  if (is_watched && reader->element->role == PLY_STRIPS) return read_strips(reader, part, count, q, end);
  if (is_watched) return gz_io_table_read_polygon(part, count, reader->file->vertex_count, q, end);
  while (count-- > 0 && q != NULL) q = skip_token(part, q, end);
  return q;
}

static const char *read_row(void *user, io_table_part *part, uint64_t row, const char *p, const char *end) {
  const row_reader *reader = user;
  const ply_element *element = reader->element;
  const ply_property *properties = reader->file->properties + element->first_property;
  double *v = reader->file->geometry->vertices + (element->role == PLY_VERTEX ? 3 * row : 0);
  for (size_t i = 0; i < element->property_count && p != NULL; i++) {
    size_t k = 0;
    while (k < element->watched_count && element->watched[k] != i) k++;
    bool is_watched = k < element->watched_count;
    if (properties[i].is_list) {
      p = read_list(reader, part, is_watched, p, end);
    } else if (is_watched) {
      p = gz_io_parse_coordinate(io_skip_blanks(p, end), end, ' ', v + k, &part->written, &part->fault, part->line);
    } else {
      p = skip_token(part, p, end);
    }
  }
  return p;
}

static bool read_rows(const ply_file *file, io_table *table, io_fault *fault) {
  graze_geometry *geometry = file->geometry;
  if (!gz_io_table_open(table, fault)) return false;
  if (!gz_io_geometry_set_vertices(geometry, file->vertex_count, fault) || !gz_io_table_read(table, fault))
    return false;
  uint64_t triangles = gz_io_table_count_triangles(table, geometry);
  if (!gz_io_geometry_set_triangles(geometry, triangles, fault)) return false;
  gz_io_table_copy_triangles(fault->context, table, geometry->indices);
  return true;
}

bool gz_ply_read_ascii(const ply_file *file, io_fault *fault) {
  size_t count = file->element_count;
  io_table_section *sections = gz_new_zeroed(fault->context, count, sizeof *sections);
  row_reader *readers = gz_new_zeroed(fault->context, count, sizeof *readers);
  bool good = sections != NULL && readers != NULL;
  if (!good) gz_io_fail_memory(fault);
  for (size_t i = 0; i < count && good; i++) {
    const ply_element *element = &file->elements[i];
    readers[i] = (row_reader){file, element};
    sections[i] = (io_table_section){.name = element->name,
                                     .name_length = element->name_length,
                                     .count = element->property_count > 0 ? element->count : 0,
                                     .read = read_row,
                                     .user = &readers[i],
                                     .faces = element->role != PLY_VERTEX && element->role != PLY_SKIPPED};
  }
  io_table table = {.begin = file->body,
                    .end = file->end,
                    .line = file->body_line,
                    .part_count = file->parts,
                    .sections = sections,
                    .section_count = count};
  good = good && read_rows(file, &table, fault);
  gz_io_table_close(&table);
  gz_free(sections);
  gz_free(readers);
  return good;
}
