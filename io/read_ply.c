/* read_ply.c: PLY: the header, and the choice of the body's reader.
 *
 * Elements and properties may be of any number, type and order. Read are x, y, z of the element "vertex" and the list
 * "vertex_indices" or "vertex_index" of the element "face", or of the element "tristrips" triangle strips, as scans of
 * Stanford have them; everything else is stepped over exactly. A file without either is a cloud of points.
 */
#include <stdlib.h>
#include <string.h>

#include "ply.h"
#include "text.h"

/* A header line, taken apart. */
typedef struct header_line {
  const char *first, *last; /* the whole line */
  const char *p;            /* next token */
  uint64_t number;
} header_line;

typedef struct token {
  const char *first, *last;
} token;

static token next_token(header_line *line) {
  const char *first = io_skip_blanks(line->p, line->last);
  line->p = io_find_token_end(first, line->last);
  return (token){first, line->p};
}

static bool token_is(token t, const char *word) {
  size_t length = strlen(word);
  return (size_t)(t.last - t.first) == length && memcmp(t.first, word, length) == 0;
}

static bool fail_token(const header_line *line, token t, io_fault *fault, const char *reason) {
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, line->number, "\"%s\" %s", gz_io_quote(t.first, t.last).text,
                    reason);
}

gz_quoted gz_ply_name(const ply_element *element) {
  return gz_io_quote(element->name, element->name + element->name_length);
}

static bool read_type(header_line *line, ply_type *type, io_fault *fault) {
  static const struct {
    const char *word;
    ply_type type;
  } types[] = {{"char", PLY_INT8},   {"uchar", PLY_UINT8},   {"short", PLY_INT16},   {"ushort", PLY_UINT16},
               {"int", PLY_INT32},   {"uint", PLY_UINT32},   {"float", PLY_FLOAT},   {"double", PLY_DOUBLE},
               {"int8", PLY_INT8},   {"uint8", PLY_UINT8},   {"int16", PLY_INT16},   {"uint16", PLY_UINT16},
               {"int32", PLY_INT32}, {"uint32", PLY_UINT32}, {"float32", PLY_FLOAT}, {"float64", PLY_DOUBLE}};
  token t = next_token(line);
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    if (!token_is(t, types[i].word)) continue;
    *type = types[i].type;
    return true;
  }
  return fail_token(line, t, fault, "is not a type of PLY");
}

static bool read_format(ply_file *file, header_line *line, io_fault *fault) {
  token t = next_token(line);
  token version = next_token(line);
  if (token_is(t, "ascii")) {
    file->format = PLY_ASCII;
  } else if (token_is(t, "binary_little_endian")) {
    file->format = PLY_LITTLE_ENDIAN;
  } else if (token_is(t, "binary_big_endian")) {
    file->format = PLY_BIG_ENDIAN;
  } else {
    return fail_token(line, t, fault, "is not a format of PLY");
  }
  return token_is(version, "1.0") || fail_token(line, version, fault, "is not the version 1.0");
}

typedef struct header_arrays {
  gz_array elements;   /* ply_element */
  gz_array properties; /* ply_property */
} header_arrays;

static bool read_element(header_arrays *arrays, header_line *line, io_fault *fault) {
  if (!array_reserve(fault->context, &arrays->elements, 1, sizeof(ply_element))) return gz_io_fail_memory(fault);
  token name = next_token(line);
  token count = next_token(line);
  uint64_t value;
  const char *q = io_parse_count(count.first, count.last, &value);
  if (name.first == name.last) return fail_token(line, name, fault, "is not the name of an element");
  if (q == NULL || q != count.last) return fail_token(line, count, fault, "is not the number of elements");
  ((ply_element *)arrays->elements.data)[arrays->elements.count++] =
      (ply_element){.name = name.first,
                    .name_length = (size_t)(name.last - name.first),
                    .line = line->number,
                    .count = value,
                    .first_property = arrays->properties.count};
  return true;
}

static bool read_property(header_arrays *arrays, header_line *line, io_fault *fault) {
  if (!array_reserve(fault->context, &arrays->properties, 1, sizeof(ply_property))) return gz_io_fail_memory(fault);
  if (arrays->elements.count == 0) {
    return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, line->number, "a property before the first element");
  }
  ply_property property = {0};
  const char *back = line->p;
  property.is_list = token_is(next_token(line), "list");
  if (!property.is_list) line->p = back;
  if (property.is_list && !read_type(line, &property.count_type, fault)) return false;
  if (property.is_list && property.count_type >= PLY_FLOAT) {
    return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, line->number, "the count of a list is no integer");
  }
  if (!read_type(line, &property.type, fault)) return false;
  token name = next_token(line);
  if (name.first == name.last) return fail_token(line, name, fault, "is not the name of a property");
  property.name = name.first;
  property.name_length = (size_t)(name.last - name.first);
  ((ply_property *)arrays->properties.data)[arrays->properties.count++] = property;
  ((ply_element *)arrays->elements.data)[arrays->elements.count - 1].property_count++;
  return true;
}

/* One line after "ply". `done` is set by end_header. */
static bool read_line(ply_file *file, header_arrays *arrays, header_line *line, bool *has_format, bool *done,
                      io_fault *fault) {
  token t = next_token(line);
  if (t.first == t.last || token_is(t, "comment") || token_is(t, "obj_info")) return true;
  if (token_is(t, "format")) {
    if (*has_format) return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, line->number, "a second format");
    *has_format = true;
    if (!read_format(file, line, fault)) return false;
  } else if (token_is(t, "element")) {
    if (!read_element(arrays, line, fault)) return false;
  } else if (token_is(t, "property")) {
    if (!read_property(arrays, line, fault)) return false;
  } else if (token_is(t, "end_header")) {
    *done = true;
    if (!*has_format) return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, line->number, "the header has no format");
  } else {
    return fail_token(line, t, fault, "is not a statement of a PLY header");
  }
  bool counts = token_is(t, "element");
  t = next_token(line);
  uint64_t number;
  if (t.first == t.last || (counts && io_parse_count(t.first, t.last, &number) == t.last &&
                            gz_io_pass(fault, IO_TOO_MUCH, line->number, t.first, t.last)))
    return true;
  return fail_token(line, t, fault, "is too much on this line");
}

/* Behind end_header. Where lines end with a lone CR, an LF that follows belongs to the body. */
static const char *find_body(const ply_file *file, const char *p) {
  const char *first = io_find_line_end(file->text, file->end);
  bool lone = first < file->end && *first == '\r' && (file->end - first < 2 || first[1] != '\n');
  return lone && p < file->end && *p == '\r' ? p + 1 : io_skip_line_end(p, file->end);
}

static bool read_lines(ply_file *file, header_arrays *arrays, io_fault *fault) {
  header_line line = {.first = file->text};
  bool has_format = false, done = false;
  while (!done) {
    line.number++;
    line.p = line.first;
    line.last = io_find_line_end(line.first, file->end);
    if (line.number == 1) {
      token t = next_token(&line);
      if (!token_is(t, "ply")) return fail_token(&line, t, fault, "where \"ply\" should stand");
    } else if (!read_line(file, arrays, &line, &has_format, &done, fault)) {
      return false;
    }
    if (line.last == file->end && !done) {
      return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, line.number, "the file ends within the header");
    }
    line.first = done ? find_body(file, line.last) : io_skip_line_end(line.last, file->end);
  }
  file->body = line.first;
  file->body_line = line.number + 1;
  return true;
}

/* ---- meaning ---- */

static bool element_is(const ply_element *element, const char *word) {
  return token_is((token){element->name, element->name + element->name_length}, word);
}

/* Watches the property of that name; a second one of the same name is a fault. */
static bool watch(const ply_file *file, ply_element *element, const char *name, bool is_list, io_fault *fault) {
  size_t found = 0;
  for (size_t i = 0; i < element->property_count; i++) {
    const ply_property *property = &file->properties[element->first_property + i];
    if (!token_is((token){property->name, property->name + property->name_length}, name)) continue;
    if (property->is_list != is_list || found++ > 0) {
      return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, element->line, "element \"%s\": property \"%s\" %s",
                        gz_ply_name(element).text, name,
                        found > 1 ? "occurs twice"
                        : is_list ? "is not a list"
                                  : "is a list");
    }
    element->watched[element->watched_count++] = i;
  }
  return true;
}

static bool fail_element(const ply_element *element, graze_status status, io_fault *fault, const char *reason) {
  return gz_io_fail(fault, status, IO_LINE, element->line, "element \"%s\" %s", gz_ply_name(element).text, reason);
}

static bool watch_vertex(ply_file *file, ply_element *element, io_fault *fault) {
  static const char *const names[] = {"x", "y", "z"};
  element->role = PLY_VERTEX;
  for (size_t k = 0; k < 3; k++) {
    if (!watch(file, element, names[k], false, fault)) return false;
    if (element->watched_count != k + 1) {
      return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, element->line, "element \"vertex\" has no property \"%s\"",
                        names[k]);
    }
  }
  file->vertex_count = element->count;
  return true;
}

/* Faces or strips. */
static bool watch_corners(const ply_file *file, ply_element *element, ply_role role, io_fault *fault) {
  element->role = role;
  if (!watch(file, element, "vertex_indices", true, fault)) return false;
  if (!watch(file, element, "vertex_index", true, fault)) return false;
  if (element->watched_count > 1) {
    return fail_element(element, GRAZE_ERROR_FORMAT, fault, "has both \"vertex_indices\" and \"vertex_index\"");
  }
  if (element->watched_count == 0) {
    if (element->count > 0) return fail_element(element, GRAZE_ERROR_FORMAT, fault, "has no list \"vertex_indices\"");
    element->role = PLY_SKIPPED;
    return true;
  }
  if (file->properties[element->first_property + element->watched[0]].type < PLY_FLOAT) return true;
  return fail_element(element, GRAZE_ERROR_FORMAT, fault, "has corners that are no integers");
}

static bool find_roles(ply_file *file, io_fault *fault) {
  bool has_vertices = false, has_faces = false, has_strips = false;
  for (size_t i = 0; i < file->element_count; i++) {
    ply_element *element = &file->elements[i];
    bool is_vertex = element_is(element, "vertex");
    bool is_strips = element_is(element, "tristrips") && element->count > 0;
    bool is_face = element_is(element, "face") || is_strips;
    if ((is_vertex && has_vertices) || (is_face && has_faces)) {
      return fail_element(element, GRAZE_ERROR_FORMAT, fault,
                          is_strips || has_strips ? "stands beside other faces" : "occurs twice");
    }
    has_vertices |= is_vertex;
    has_faces |= is_face;
    has_strips |= is_strips;
    if ((is_vertex || is_face) && element->count > IO_MOST_ELEMENTS) {
      return fail_element(element, GRAZE_ERROR_LIMIT, fault, "has more rows than 32-bit numbers allow");
    }
    if (is_vertex && !watch_vertex(file, element, fault)) return false;
    if (is_face && !watch_corners(file, element, is_strips ? PLY_STRIPS : PLY_FACE, fault)) return false;
  }
  if (has_vertices) return true;
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, file->body_line - 1, "the header has no element \"vertex\"");
}

bool gz_ply_read_header(ply_file *file, io_fault *fault) {
  header_arrays arrays = {0};
  bool good = read_lines(file, &arrays, fault);
  file->elements = arrays.elements.data;
  file->element_count = arrays.elements.count;
  file->properties = arrays.properties.data;
  return good && find_roles(file, fault);
}

void gz_ply_free_header(ply_file *file) {
  gz_free(file->elements);
  gz_free(file->properties);
}

bool gz_io_read_ply(const io_input *input, graze_geometry *geometry, io_fault *fault) {
  ply_file file = {.text = input->text + gz_io_text_begin(input->text, input->size),
                   .end = input->text + input->size,
                   .parts = input->parts,
                   .geometry = geometry};
  bool good = gz_ply_read_header(&file, fault) &&
              (file.format == PLY_ASCII ? gz_ply_read_ascii(&file, fault) : gz_ply_read_binary(&file, fault));
  gz_ply_free_header(&file);
  return good;
}
