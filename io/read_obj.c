/* read_obj.c: Wavefront OBJ.
 *
 * Read: v (x y z, further numbers skipped), f (v, v/vt, v//vn, v/vt/vn; counted from 1, or backwards from the latest
 * vertex), o and g (groups). Texture coordinates, normals, materials, lines and points are skipped, curves too: none of
 * them has an area. Neither have statements that OBJ does not have, which are passed over; but a word that could be a
 * damaged vertex or face (it begins with f, or is no plain word) is refused, and so is a file of such words alone. What
 * has one and can't be read (surf, call, ...) is refused rather than left out. A face may use vertices that come later
 * in the file; the ranges are checked at the end. A backslash before a line end continues statements made of numbers,
 * never comments and names: a name that ends in one would swallow a line. A first line of two numbers, as some planning
 * benchmarks have it, must be the numbers of vertices and faces.
 *
 * Method: the text is cut at line ends into parts that threads read into arrays of their own, faces with the numbers
 * that they name; then the parts are put together. Only "-1"-style corners need the vertices of earlier parts: they
 * are kept in a list and resolved when the parts join.
 */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "obj.h"
#include "text.h"

typedef struct corner {
  int64_t vertex; /* from 0; relative to the part's first vertex when `relative` */
  bool relative;
} corner;

/* ---- statements ---- */

/* Blanks and continued line ends. */
static inline const char *skip(obj_part *part, const char *p) {
  for (;;) {
    p = io_skip_blanks(p, part->end);
    if (part->end - p < 2 || *p != '\\' || !io_is_line_end(p[1])) return p;
    p = io_skip_line_end(p + 1, part->end);
    part->line++;
  }
}

static inline bool at_end(const obj_part *part, const char *p) {
  return p == part->end || io_is_line_end(*p) || *p == '#';
}

static const char *fail(obj_part *part, graze_status status, const char *reason) {
  gz_io_fail(&part->fault, status, IO_LINE, part->line, "%s", reason);
  return NULL;
}

static const char *fail_token(obj_part *part, graze_status status, const char *p, const char *reason) {
  const char *last = io_find_token_end(p, part->end);
  gz_io_fail(&part->fault, status, IO_LINE, part->line, "\"%s\" %s", gz_io_quote(p, last).text, reason);
  return NULL;
}

static const char *read_vertex(obj_part *part, const char *p) {
  if (!array_reserve(part->fault.context, &part->vertices, 1, 3 * sizeof(double))) {
    gz_io_fail_memory(&part->fault);
    return NULL;
  }
  double *v = (double *)part->vertices.data + 3 * part->vertices.count;
  for (int k = 0; k < 3; k++) {
    p = skip(part, p);
    if (at_end(part, p)) return fail(part, GRAZE_ERROR_FORMAT, "a vertex needs three coordinates");
    p = gz_io_parse_coordinate(p, part->end, '\\', v + k, &part->written, &part->fault, part->line);
    if (p == NULL) return NULL;
  }
  for (p = skip(part, p); !at_end(part, p); p = skip(part, p)) { /* weight, colours */
    p = gz_io_skip_number(p, part->end, &part->fault, part->line);
    if (p == NULL) return NULL;
  }
  part->vertices.count++;
  return p;
}

/* The optional number behind a slash; texture coordinates and normals play no part, so it is only stepped over. */
static inline const char *skip_reference(const char *p, const char *end) {
  if (p < end && *p == '-' && end - p > 1 && io_is_digit(p[1])) p++;
  while (p < end && io_is_digit(*p)) p++;
  return p;
}

static inline const char *read_corner(obj_part *part, const char *p, corner *c) {
  const char *first = p;
  c->relative = *p == '-';
  uint64_t number;
  p = io_parse_count(p + c->relative, part->end, &number);
  if (p == NULL) return fail_token(part, GRAZE_ERROR_FORMAT, first, "is not a corner (v, v/vt, v//vn or v/vt/vn)");
  if (p < part->end && *p == '/') p = skip_reference(p + 1, part->end);
  if (p < part->end && *p == '/') p = skip_reference(p + 1, part->end);
  if (!at_end(part, p) && !io_is_blank(*p) && *p != '\\') {
    return fail_token(part, GRAZE_ERROR_FORMAT, first, "is not a corner (v, v/vt, v//vn or v/vt/vn)");
  }
  if (number == 0) return fail_token(part, GRAZE_ERROR_INDEX, first, "names vertex 0; vertices are counted from 1");
  if (number > IO_MOST_ELEMENTS) return fail_token(part, GRAZE_ERROR_INDEX, first, "names a vertex out of range");
  c->vertex = c->relative ? (int64_t)part->vertices.count - (int64_t)number : (int64_t)number - 1;
  return p;
}

static bool note_relative(obj_part *part, uint64_t place, const corner *c) {
  if (!array_reserve(part->fault.context, &part->relatives, 1, sizeof(relative_corner)))
    return gz_io_fail_memory(&part->fault);
  ((relative_corner *)part->relatives.data)[part->relatives.count++] = (relative_corner){place, c->vertex};
  return true;
}

static inline bool add_triangle(obj_part *part, const corner corners[3]) {
  if (!array_reserve(part->fault.context, &part->triangles, 1, 3 * sizeof(uint32_t)))
    return gz_io_fail_memory(&part->fault);
  if (part->triangles.count == part->wanted_triangle) {
    return gz_io_fail(&part->fault, GRAZE_ERROR_INDEX, IO_LINE, part->line, "found");
  }
  uint64_t place = 3 * part->triangles.count;
  uint32_t *triangle = (uint32_t *)part->triangles.data + place;
  for (unsigned k = 0; k < 3; k++) {
    triangle[k] = corners[k].relative ? 0 : (uint32_t)corners[k].vertex;
    if (corners[k].relative && !note_relative(part, place + k, &corners[k])) return false;
  }
  part->triangles.count++;
  return true;
}

static const char *read_face(obj_part *part, const char *p) {
  corner corners[3];
  uint64_t line = part->line; /* of the statement: a continued one has several */
  unsigned count = 0;
  for (p = skip(part, p); !at_end(part, p); p = skip(part, p)) {
    p = read_corner(part, p, &corners[count < 3 ? count : 2]);
    if (p == NULL) return NULL;
    if (count < 3) count++;
    if (count < 3) continue;
    uint64_t here = part->line;
    part->line = line;
    if (!add_triangle(part, corners)) return NULL;
    part->line = here;
    corners[1] = corners[2];
  }
  part->face_count++;
  return count == 3 ? p : fail(part, GRAZE_ERROR_FORMAT, "a face needs at least three corners");
}

/* Behind `o`, or behind `g`, whose default name is that of the specification. */
static const char *read_group(obj_part *part, const char *p, bool label) {
  if (!array_reserve(part->fault.context, &part->names, 1, sizeof(io_name))) {
    gz_io_fail_memory(&part->fault);
    return NULL;
  }
  p = io_skip_blanks(p, part->end);
  const char *last = io_find_line_end(p, part->end);
  const char *end = last;
  while (end > p && io_is_blank(end[-1])) end--;
  io_name name = {p, (size_t)(end - p), part->triangles.count, label};
  if (label && end == p) name.text = "default", name.length = 7;
  ((io_name *)part->names.data)[part->names.count++] = name;
  return last;
}

typedef enum keyword_kind { NAMES, NUMBERS, UNSUPPORTED, UNKNOWN } keyword_kind;

/* Statements that are skipped or refused; v, f, o and g are handled before. */
static const struct {
  const char *word;
  keyword_kind kind;
} keywords[] = {
    {"vt", NUMBERS},      {"vn", NUMBERS},      {"vp", NUMBERS},       {"l", NUMBERS},        {"p", NUMBERS},
    {"s", NAMES},         {"mg", NAMES},        {"usemtl", NAMES},     {"mtllib", NAMES},     {"usemap", NAMES},
    {"maplib", NAMES},    {"cstype", NUMBERS},  {"deg", NUMBERS},      {"bmat", NUMBERS},     {"step", NUMBERS},
    {"curv", NUMBERS},    {"curv2", NUMBERS},   {"parm", NUMBERS},     {"trim", NUMBERS},     {"hole", NUMBERS},
    {"scrv", NUMBERS},    {"sp", NUMBERS},      {"end", NUMBERS},      {"con", NUMBERS},      {"bevel", NAMES},
    {"c_interp", NAMES},  {"d_interp", NAMES},  {"lod", NAMES},        {"shadow_obj", NAMES}, {"trace_obj", NAMES},
    {"ctech", NUMBERS},   {"stech", NUMBERS},   {"surf", UNSUPPORTED}, {"call", UNSUPPORTED}, {"csh", UNSUPPORTED},
    {"bzp", UNSUPPORTED}, {"bsp", UNSUPPORTED}, {"cdp", UNSUPPORTED},  {"cdc", NUMBERS},      {"res", NUMBERS},
};

static keyword_kind find_keyword(const char *first, const char *last) {
  for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
    size_t length = strlen(keywords[i].word);
    if (length == (size_t)(last - first) && memcmp(first, keywords[i].word, length) == 0) return keywords[i].kind;
  }
  return UNKNOWN;
}

static const char *skip_statement(obj_part *part, const char *p, bool continues) {
  for (;;) {
    const char *last = io_find_line_end(p, part->end);
    if (!continues || last == part->end || last == p || last[-1] != '\\') return last;
    p = io_skip_line_end(last, part->end);
    part->line++;
  }
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether a line that begins so cannot be a vertex or a face that was damaged. */
static bool is_harmless(const char *first, const char *last) {
  bool harmless = is_letter(*first) && *first != 'f' && *first != 'F' && !gz_io_token_is(first, last, "v");
  for (const char *c = first; c < last && harmless; c++)
    harmless = is_letter(*c) || *c == '_' || (c > first + 1 && io_is_digit(*c));
  return harmless;
}

static const char *read_unknown(obj_part *part, const char *p) {
  const char *last = io_find_token_end(p, part->end);
  if (is_harmless(p, last) && gz_io_pass(&part->fault, IO_UNKNOWN_WORD, part->line, p, last))
    return skip_statement(part, last, false);
  return fail_token(part, GRAZE_ERROR_FORMAT, p, "is not an OBJ statement");
}

static const char *read_other(obj_part *part, const char *p) {
  const char *last = p;
  while (last < part->end && !io_is_space(*last) && *last != '\\') last++;
  switch (find_keyword(p, last)) {
    case NAMES:
      return skip_statement(part, last, false);
    case NUMBERS:
      return skip_statement(part, last, true);
    case UNSUPPORTED:
      return fail_token(part, GRAZE_ERROR_UNSUPPORTED, p, "statements hold geometry that is not read here");
    default:
      return read_unknown(part, p);
  }
}

static inline const char *read_statement(obj_part *part, const char *p) {
  bool single = part->end - p > 1 && (io_is_blank(p[1]) || p[1] == '\\');
  if (*p == 'v' && single) return read_vertex(part, p + 1);
  if (*p == 'f' && single) return read_face(part, p + 1);
  if (*p == '#') return io_find_line_end(p, part->end);
  if ((*p == 'o' || *p == 'g') && (single || at_end(part, p + 1))) return read_group(part, p + 1, *p == 'g');
  if ((*p == 'v' || *p == 'f') && at_end(part, p + 1)) {
    return fail(part, GRAZE_ERROR_FORMAT,
                *p == 'v' ? "a vertex needs three coordinates" : "a face needs at least three corners");
  }
  return read_other(part, p);
}

void gz_obj_read_part(obj_part *part) {
  const char *p = part->begin;
  while (p < part->end) {
    p = skip(part, p);
    if (p < part->end && !io_is_line_end(*p)) {
      p = read_statement(part, p);
      if (p == NULL) return;
      if (p < part->end && *p == '#') p = io_find_line_end(p, part->end);
    }
    if (p < part->end) part->line++;
    p = io_skip_line_end(p, part->end);
  }
}

static void read_part(void *argument, uint32_t index) {
  gz_obj_read_part((obj_part *)argument + index);
}

/* ---- putting the parts together ---- */

typedef struct join {
  obj_part *parts;
  graze_geometry *geometry;
} join;

uint64_t gz_obj_number_corners(const obj_part *part, uint32_t *indices, uint64_t vertices) {
  const relative_corner *relatives = part->relatives.data;
  for (size_t i = 0; i < part->relatives.count; i++) {
    int64_t vertex = relatives[i].vertex + (int64_t)part->first_vertex;
    indices[relatives[i].place] = vertex < 0 ? UINT32_MAX : (uint32_t)vertex;
  }
  uint64_t bad = UINT64_MAX;
  uint32_t largest = 0;
  for (size_t i = 0; i < 3 * part->triangles.count; i++) largest = indices[i] > largest ? indices[i] : largest;
  if (part->triangles.count == 0 || largest < vertices) return bad;
  for (size_t i = 3 * part->triangles.count; i-- > 0;) {
    if (indices[i] >= vertices) bad = i / 3;
  }
  return bad;
}

static void join_part(void *argument, uint32_t index) {
  const join *j = argument;
  obj_part *part = &j->parts[index];
  graze_geometry *geometry = j->geometry;
  uint32_t *indices = geometry->indices + 3 * part->first_triangle;
  if (part->vertices.count > 0 && geometry->vertices != part->vertices.data) {
    memcpy(geometry->vertices + 3 * part->first_vertex, part->vertices.data, part->vertices.count * 3 * sizeof(double));
  }
  if (part->triangles.count > 0 && indices != part->triangles.data) {
    memcpy(indices, part->triangles.data, part->triangles.count * 3 * sizeof(uint32_t));
  }
  part->bad_triangle = gz_obj_number_corners(part, indices, geometry->vertex_count);
}

void gz_obj_free_part(obj_part *part) {
  gz_free(part->vertices.data);
  gz_free(part->triangles.data);
  gz_free(part->relatives.data);
  gz_free(part->names.data);
}

bool gz_obj_fail_range(const obj_part *part, uint64_t line, const uint32_t *corners, uint64_t vertices,
                       io_fault *fault) {
  obj_part again = {.begin = part->begin,
                    .end = part->end,
                    .line = line,
                    .wanted_triangle = part->bad_triangle,
                    .fault = gz_io_fault_of_part(fault)};
  gz_obj_read_part(&again);
  gz_obj_free_part(&again);
  if (again.fault.status == GRAZE_ERROR_MEMORY) return gz_io_fail_memory(fault);
  unsigned k = 0;
  while (corners[k] < vertices) k++;
  if (corners[k] == UINT32_MAX) {
    return gz_io_fail(fault, GRAZE_ERROR_INDEX, IO_LINE, again.fault.number,
                      "a corner counts back to before the first vertex");
  }
  return gz_io_fail(fault, GRAZE_ERROR_INDEX, IO_LINE, again.fault.number,
                    "a corner names vertex %llu, but the file has %llu", (unsigned long long)corners[k] + 1,
                    (unsigned long long)vertices);
}

/* A file's objects are its `o`. Where these do not tell objects apart, because fewer than two have triangles, they are
 * its `g`, of which those of one name belong together. The others are dropped. */
static void choose_names(gz_array *names, graze_geometry *geometry) {
  io_name *list = names->data;
  size_t labels = 0, filled = 0, kept = 0;
  uint64_t end = geometry->triangle_count;
  for (size_t i = names->count; i-- > 0;) {
    labels += list[i].label;
    if (list[i].label) continue;
    filled += list[i].first_triangle < end;
    end = list[i].first_triangle;
  }
  geometry->labels = labels > 0 && filled < 2;
  for (size_t i = 0; i < names->count; i++) {
    if (list[i].label == geometry->labels) list[kept++] = list[i];
  }
  names->count = kept;
}

static bool join_groups(const obj_part *parts, size_t count, graze_geometry *geometry, io_fault *fault) {
  gz_array names = {0};
  bool good = true;
  for (size_t i = 0; i < count && good; i++)
    good = gz_io_append_names(fault->context, &names, &parts[i].names, parts[i].first_triangle);
  if (good) choose_names(&names, geometry);
  good = good ? gz_io_geometry_set_groups(geometry, names.data, names.count, fault) : gz_io_fail_memory(fault);
  gz_free(names.data);
  return good;
}

/* A single part's arrays become the geometry's; of several, room for all is made. */
static bool make_room(obj_part *parts, size_t count, uint64_t vertices, uint64_t triangles, graze_geometry *geometry,
                      io_fault *fault) {
  bool take = count == 1 && vertices > 0 && triangles > 0 && vertices <= IO_MOST_ELEMENTS;
  if (!take || triangles > IO_MOST_ELEMENTS) {
    return gz_io_geometry_set_vertices(geometry, vertices, fault) &&
           gz_io_geometry_set_triangles(geometry, triangles, fault);
  }
  void *smaller = gz_resize(fault->context, parts->vertices.data, vertices, 3 * sizeof(double));
  if (smaller != NULL) parts->vertices.data = smaller;
  smaller = gz_resize(fault->context, parts->triangles.data, triangles, 3 * sizeof(uint32_t));
  if (smaller != NULL) parts->triangles.data = smaller;
  geometry->vertices = parts->vertices.data;
  geometry->indices = parts->triangles.data;
  geometry->vertex_count = vertices;
  geometry->triangle_count = triangles;
  return true;
}

static bool join_parts(obj_part *parts, size_t count, graze_geometry *geometry, io_fault *fault) {
  uint64_t vertices = 0, triangles = 0, lines = 0;
  io_written written = {0};
  for (size_t i = 0; i < count; i++) {
    if (parts[i].fault.status != GRAZE_OK) {
      *fault = parts[i].fault;
      fault->number += lines;
      return false;
    }
    gz_io_pass_part(fault, &parts[i].fault, lines);
    lines += parts[i].line - 1;
    parts[i].first_vertex = vertices;
    parts[i].first_triangle = triangles;
    vertices += parts[i].vertices.count;
    triangles += parts[i].triangles.count;
    io_written_add(&written, &parts[i].written);
  }
  gz_io_geometry_set_written(geometry, &written);
  if (!make_room(parts, count, vertices, triangles, geometry, fault)) return false;
  join j = {parts, geometry};
  gz_parallel_each(fault->context, (uint32_t)count, join_part, &j);
  lines = 0;
  for (size_t i = 0; i < count; i++) {
    if (parts[i].bad_triangle != UINT64_MAX) {
      const uint32_t *bad = geometry->indices + 3 * (parts[i].first_triangle + parts[i].bad_triangle);
      return gz_obj_fail_range(&parts[i], lines + 1, bad, geometry->vertex_count, fault);
    }
    lines += parts[i].line - 1;
  }
  return join_groups(parts, count, geometry, fault);
}

static void free_parts(obj_part *parts, size_t count, const graze_geometry *geometry) {
  for (size_t i = 0; i < count; i++) {
    if (parts[i].vertices.data != geometry->vertices) gz_free(parts[i].vertices.data);
    if (parts[i].triangles.data != geometry->indices) gz_free(parts[i].triangles.data);
    gz_free(parts[i].relatives.data);
    gz_free(parts[i].names.data);
  }
  gz_free(parts);
}

const char *gz_obj_read_counts(const char *p, const char *end, obj_counts *counts, io_fault *fault) {
  *counts = (obj_counts){0};
  const char *q = io_parse_count(io_skip_blanks(p, end), end, &counts->vertices);
  if (q == NULL || q == end || !io_is_blank(*q)) return p;
  q = io_parse_count(io_skip_blanks(q, end), end, &counts->faces);
  if (q == NULL) return p;
  q = io_skip_blanks(q, end);
  const char *more = q, *last = q;
  uint64_t unused;
  while (q < end && io_is_digit(*q)) {
    last = io_parse_count(q, end, &unused);
    q = io_skip_blanks(last, end);
  }
  counts->there = q == end || io_is_line_end(*q);
  if (counts->there && more < last) counts->there = gz_io_pass(fault, IO_TOO_MUCH, 1, more, last);
  return counts->there ? q : p;
}

bool gz_obj_check_counts(const obj_counts *counts, uint64_t vertices, uint64_t faces, io_fault *fault) {
  if (!counts->there || (counts->vertices == vertices && counts->faces == faces)) return true;
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, 1,
                    "the first line says %llu vertices and %llu faces, but there are %llu and %llu",
                    (unsigned long long)counts->vertices, (unsigned long long)counts->faces,
                    (unsigned long long)vertices, (unsigned long long)faces);
}

bool gz_obj_check_words(uint64_t vertices, io_fault *fault) {
  const io_passed *words = &fault->passed[IO_UNKNOWN_WORD];
  if (words->count == 0 || vertices > 0) return true;
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, words->line, "\"%s\" is not an OBJ statement",
                    words->text.text);
}

static uint64_t count_faces(const obj_part *parts, size_t count) {
  uint64_t faces = 0;
  for (size_t i = 0; i < count; i++) faces += parts[i].face_count;
  return faces;
}

bool gz_io_read_obj(const io_input *input, graze_geometry *geometry, io_fault *fault) {
  const char *begin = input->text + gz_io_text_begin(input->text, input->size);
  const char *end = input->text + input->size;
  obj_counts counts;
  begin = gz_obj_read_counts(begin, end, &counts, fault);
  const size_t count = input->parts;
  obj_part *parts = gz_new_zeroed(fault->context, count, sizeof *parts);
  if (parts == NULL) return gz_io_fail_memory(fault);
  const char *from = begin;
  for (size_t i = 0; i < count; i++) {
    const char *cut = begin + (size_t)(end - begin) / count * (i + 1);
    const char *last = i + 1 == count ? end : gz_io_find_line_start(begin, cut < from ? from : cut, end);
    parts[i] = (obj_part){
        .begin = from, .end = last, .line = 1, .wanted_triangle = UINT64_MAX, .fault = gz_io_fault_of_part(fault)};
    from = last;
  }
  gz_parallel_each(fault->context, (uint32_t)count, read_part, parts);
  bool good = join_parts(parts, count, geometry, fault) &&
              gz_obj_check_counts(&counts, geometry->vertex_count, count_faces(parts, count), fault) &&
              gz_obj_check_words(geometry->vertex_count, fault);
  free_parts(parts, count, geometry);
  return good;
}
