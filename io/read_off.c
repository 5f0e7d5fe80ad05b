/* read_off.c: OFF.
 *
 * The header word [ST][C][N]OFF may be missing, and the counts may follow it on the same line; the number of edges
 * may be missing too. One vertex a line: three coordinates, of which further numbers (normals, colours, texture
 * coordinates) may follow. One polygon a line: the number of corners, the corners, and colours. "#" begins a comment.
 * Homogeneous (4OFF) and n-dimensional (nOFF) files and the binary form are refused.
 */
#include <string.h>

#include "readers.h"
#include "table.h"
#include "text.h"

typedef struct off_header {
  const char *p; /* behind it */
  uint64_t line;
  uint64_t vertices, faces;
} off_header;

/* ---- header ---- */

/* To the next thing that is no space and no comment. */
static void skip_to_token(off_header *header, const char *end) {
  const char *p = header->p;
  while (p < end && (io_is_space(*p) || *p == '#')) {
    if (*p == '#') {
      p = io_find_line_end(p, end);
    } else if (io_is_line_end(*p)) {
      header->line++;
      p = io_skip_line_end(p, end);
    } else {
      p++;
    }
  }
  header->p = p;
}

static bool fail_header(const off_header *header, io_fault *fault, const char *reason) {
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, header->line, "%s", reason);
}

/* The header word, which may be missing or run into the first count. */
static bool read_word(off_header *header, const char *end, io_fault *fault) {
  const char *p = header->p;
  if (p < end && io_is_digit(*p) && (end - p < 2 || (p[1] != 'O' && p[1] != 'n'))) return true;
  if (end - p >= 2 && memcmp(p, "ST", 2) == 0) p += 2;
  if (p < end && *p == 'C') p++;
  if (p < end && *p == 'N') p++;
  bool flat = p == end || (*p != '4' && *p != 'n');
  if (!flat) p++;
  if (!flat && p < end && *p == 'n') p++;
  if (end - p < 3 || memcmp(p, "OFF", 3) != 0) return fail_header(header, fault, "no OFF header and no counts");
  p += 3;
  if (p < end && !io_is_space(*p) && !io_is_digit(*p) && *p != '#') {
    return fail_header(header, fault, "the word OFF runs on");
  }
  header->p = p;
  if (!flat)
    return gz_io_fail(fault, GRAZE_ERROR_UNSUPPORTED, IO_LINE, header->line, "only plain three-dimensional OFF");
  const char *q = io_skip_blanks(p, end);
  if (gz_io_token_is(q, io_find_token_end(q, end), "binary")) {
    return gz_io_fail(fault, GRAZE_ERROR_UNSUPPORTED, IO_LINE, header->line, "binary OFF is not read");
  }
  return true;
}

static bool read_count(off_header *header, const char *end, uint64_t *count, io_fault *fault, const char *what) {
  const char *q = io_parse_count(header->p, end, count);
  if (q != NULL && (q == end || io_is_space(*q) || *q == '#')) {
    header->p = q;
    if (*count <= IO_MOST_ELEMENTS) return true;
    return gz_io_fail(fault, GRAZE_ERROR_LIMIT, IO_LINE, header->line, "%llu %s: more than 32-bit numbers allow",
                      (unsigned long long)*count, what);
  }
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, header->line, "\"%s\" is not the number of %s",
                    gz_io_quote(header->p, io_find_token_end(header->p, end)).text, what);
}

static bool read_header(off_header *header, const char *end, io_fault *fault) {
  skip_to_token(header, end);
  if (!read_word(header, end, fault)) return false;
  skip_to_token(header, end);
  if (!read_count(header, end, &header->vertices, fault, "vertices")) return false;
  header->p = io_skip_blanks(header->p, end);
  if (!read_count(header, end, &header->faces, fault, "faces")) return false;
  header->p = io_skip_blanks(header->p, end);
  uint64_t edges;
  if (header->p < end && !io_is_line_end(*header->p) && *header->p != '#' &&
      !read_count(header, end, &edges, fault, "edges")) {
    return false;
  }
  header->p = io_skip_blanks(header->p, end);
  if (header->p < end && !io_is_line_end(*header->p) && *header->p != '#') {
    const char *last = io_find_token_end(header->p, end);
    if (io_parse_count(header->p, end, &edges) != last ||
        !gz_io_pass(fault, IO_TOO_MUCH, header->line, header->p, last))
      return fail_header(header, fault, "more than three counts");
  }
  header->p = io_find_line_end(header->p, end);
  if (header->p < end) header->line++;
  header->p = io_skip_line_end(header->p, end);
  return true;
}

/* ---- body ---- */

/* Numbers behind the ones that count. */
static const char *skip_numbers(io_table_part *part, const char *p, const char *end) {
  for (;;) {
    p = io_skip_blanks(p, end);
    if (p == end || io_is_line_end(*p) || *p == '#') return p;
    p = gz_io_skip_number(p, end, &part->fault, part->line);
    if (p == NULL) return NULL;
  }
}

static const char *read_vertex(void *user, io_table_part *part, uint64_t row, const char *p, const char *end) {
  const graze_geometry *geometry = user;
  double *v = geometry->vertices + 3 * row;
  for (int k = 0; k < 3; k++) {
    p = gz_io_parse_coordinate(io_skip_blanks(p, end), end, '#', v + k, &part->written, &part->fault, part->line);
    if (p == NULL) return NULL;
  }
  return skip_numbers(part, p, end);
}

static const char *read_face(void *user, io_table_part *part, uint64_t row, const char *p, const char *end) {
  (void)row;
  const graze_geometry *geometry = user;
  uint64_t count;
  const char *q = io_parse_count(p, end, &count);
  if (q == NULL || (q < end && !io_is_space(*q) && *q != '#')) {
    gz_io_fail(&part->fault, GRAZE_ERROR_FORMAT, IO_LINE, part->line, "\"%s\" is not a number of corners",
               gz_io_quote(p, io_find_token_end(p, end)).text);
    return NULL;
  }
  q = gz_io_table_read_polygon(part, count, geometry->vertex_count, q, end);
  return q == NULL ? NULL : skip_numbers(part, q, end);
}

static bool read_body(io_table *table, graze_geometry *geometry, io_fault *fault) {
  if (!gz_io_table_open(table, fault)) return false;
  uint64_t vertices = table->sections[0].count;
  if (!gz_io_geometry_set_vertices(geometry, vertices, fault) || !gz_io_table_read(table, fault)) return false;
  uint64_t triangles = gz_io_table_count_triangles(table, geometry);
  if (!gz_io_geometry_set_triangles(geometry, triangles, fault)) return false;
  gz_io_table_copy_triangles(fault->context, table, geometry->indices);
  return true;
}

bool gz_io_read_off(const io_input *input, graze_geometry *geometry, io_fault *fault) {
  const char *end = input->text + input->size;
  off_header header = {.p = input->text + gz_io_text_begin(input->text, input->size), .line = 1};
  if (!read_header(&header, end, fault)) return false;
  io_table_section sections[] = {{"vertex", 6, header.vertices, read_vertex, geometry, false},
                                 {"face", 4, header.faces, read_face, geometry, true}};
  io_table table = {.begin = header.p,
                    .end = end,
                    .line = header.line,
                    .comment = '#',
                    .part_count = input->parts,
                    .sections = sections,
                    .section_count = 2};
  bool good = read_body(&table, geometry, fault);
  gz_io_table_close(&table);
  return good;
}
