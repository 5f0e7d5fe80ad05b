/* ply_binary.c: the body of a binary PLY file.
 *
 * Rows of elements without lists have one size, so they are read in parallel. So are faces as long as all rows have
 * the layout of the first one, as in a file of nothing but triangles; that is tried first. Else the rows are walked
 * one after the other. Every step is checked against the end of the file, and no room is made for more elements than
 * the remaining bytes can hold.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "ply.h"
#include "text.h"

enum { ROWS_A_STEP = 8192 };

static const unsigned char type_sizes[] = {1, 1, 2, 2, 4, 4, 4, 8};

static inline uint64_t read_bits(const char *p, unsigned size, bool big_endian) {
  uint64_t bits = 0;
  for (unsigned i = 0; i < size; i++) bits = bits << 8 | (unsigned char)p[big_endian ? i : size - 1 - i];
  return bits;
}

static inline int64_t read_integer(const char *p, ply_type type, bool big_endian) {
  switch (type) {
    case PLY_INT8:
      return (int8_t)*p;
    case PLY_UINT8:
      return (uint8_t)*p;
    case PLY_INT16:
      return (int16_t)read_bits(p, 2, big_endian);
    case PLY_UINT16:
      return (int64_t)read_bits(p, 2, big_endian);
    case PLY_INT32:
      return (int32_t)read_bits(p, 4, big_endian);
    default:
      return (int64_t)read_bits(p, 4, big_endian);
  }
}

static inline double read_number(const char *p, ply_type type, bool big_endian) {
  if (type == PLY_FLOAT) {
    uint32_t bits = (uint32_t)read_bits(p, 4, big_endian);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  if (type == PLY_DOUBLE) {
    uint64_t bits = read_bits(p, 8, big_endian);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  return (double)read_integer(p, type, big_endian);
}

static bool fail_end(const ply_file *file, const ply_element *element, uint64_t row, io_fault *fault) {
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, ply_place(file, file->end),
                    "the file ends within row %llu of %llu of element \"%s\"", (unsigned long long)row,
                    (unsigned long long)element->count, gz_ply_name(element).text);
}

bool gz_ply_lay_out(const ply_file *file, const ply_element *element, const char *p, uint64_t row, row_layout *layout,
                    io_fault *fault) {
  bool big = file->format == PLY_BIG_ENDIAN;
  const ply_property *properties = file->properties + element->first_property;
  uint64_t left = (uint64_t)(file->end - p);
  uint64_t at = 0;
  for (size_t i = 0; i < element->property_count; i++) {
    const ply_property *property = &properties[i];
    uint64_t bytes = type_sizes[property->type];
    int64_t count = 1;
    if (property->is_list) {
      uint64_t count_size = type_sizes[property->count_type];
      if (count_size > left - at) return fail_end(file, element, row, fault);
      count = read_integer(p + at, property->count_type, big);
      if (count < 0) {
        return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, ply_place(file, p + at),
                          "row %llu of element \"%s\": a list of %lld items", (unsigned long long)row,
                          gz_ply_name(element).text, (long long)count);
      }
      at += count_size;
    }
    bytes *= (uint64_t)count;
    if (bytes > left - at) return fail_end(file, element, row, fault);
    for (size_t k = 0; k < element->watched_count; k++) {
      if (element->watched[k] != i) continue;
      layout->offset[k] = at;
      layout->list_count = (uint64_t)count;
    }
    at += bytes;
  }
  layout->size = at;
  return true;
}

uint64_t gz_ply_row_size(const ply_file *file, const ply_element *element, bool *fixed) {
  uint64_t size = 0;
  *fixed = true;
  for (size_t i = 0; i < element->property_count; i++) {
    const ply_property *property = &file->properties[element->first_property + i];
    size += type_sizes[property->is_list ? property->count_type : property->type];
    if (property->is_list) *fixed = false;
  }
  return size;
}

/* ---- rows of one layout, in parallel ---- */

typedef struct even_rows {
  const ply_file *file;
  const ply_element *element;
  const char *first;
  row_layout layout;
  _Atomic uint64_t first_bad; /* lowest row that is at fault */
  _Atomic bool not_float;
} even_rows;

static void note_bad_row(even_rows *rows, uint64_t row) {
  uint64_t lowest = rows->first_bad;
  while (row < lowest && !atomic_compare_exchange_weak(&rows->first_bad, &lowest, row)) {
  }
}

static uint64_t end_of_step(const even_rows *rows, uint32_t step) {
  uint64_t end = ((uint64_t)step + 1) * ROWS_A_STEP;
  return end < rows->element->count ? end : rows->element->count;
}

static bool run_steps(const graze_context *context, even_rows *rows, void (*body)(void *, uint32_t)) {
  rows->first_bad = UINT64_MAX;
  gz_parallel_each(context, (uint32_t)((rows->element->count + ROWS_A_STEP - 1) / ROWS_A_STEP), body, rows);
  return rows->first_bad == UINT64_MAX;
}

/* ---- vertices ---- */

/* Returns the first coordinate that is not finite, or 3. */
static inline unsigned read_vertex(const ply_file *file, const ply_element *element, const char *p,
                                   const row_layout *layout, double *v) {
  bool big = file->format == PLY_BIG_ENDIAN;
  unsigned bad = 3;
  for (unsigned k = 3; k-- > 0;) {
    v[k] =
        read_number(p + layout->offset[k], file->properties[element->first_property + element->watched[k]].type, big);
    if (!isfinite(v[k])) bad = k;
  }
  return bad;
}

static bool fail_vertex(const ply_file *file, const char *p, const row_layout *layout, uint64_t row, const double *v,
                        unsigned k, io_fault *fault) {
  return gz_io_fail(fault, GRAZE_ERROR_NOT_FINITE, IO_BYTE, ply_place(file, p) + layout->offset[k],
                    "vertex %llu: coordinate %c is %s", (unsigned long long)row, "xyz"[k],
                    isnan(v[k]) ? "NaN" : "infinite");
}

static void read_vertex_step(void *argument, uint32_t step) {
  even_rows *rows = argument;
  uint64_t end = end_of_step(rows, step);
  bool not_float = false;
  for (uint64_t i = (uint64_t)step * ROWS_A_STEP; i < end; i++) {
    double *v = rows->file->geometry->vertices + 3 * i;
    if (read_vertex(rows->file, rows->element, rows->first + i * rows->layout.size, &rows->layout, v) < 3) {
      note_bad_row(rows, i);
      return;
    }
    not_float |= !(io_is_float(v[0]) && io_is_float(v[1]) && io_is_float(v[2]));
  }
  if (not_float) rows->not_float = true;
}

static bool read_even_vertices(even_rows *rows, io_fault *fault) {
  if (!run_steps(fault->context, rows, read_vertex_step)) {
    double v[3];
    const char *p = rows->first + rows->first_bad * rows->layout.size;
    unsigned k = read_vertex(rows->file, rows->element, p, &rows->layout, v);
    return fail_vertex(rows->file, p, &rows->layout, rows->first_bad, v, k, fault);
  }
  rows->file->geometry->all_float = !rows->not_float;
  return true;
}

static bool walk_vertices(const ply_file *file, const ply_element *element, const char **body, io_fault *fault) {
  file->geometry->all_float = true;
  for (uint64_t i = 0; i < element->count; i++) {
    row_layout layout;
    if (!gz_ply_lay_out(file, element, *body, i, &layout, fault)) return false;
    double *v = file->geometry->vertices + 3 * i;
    unsigned bad = read_vertex(file, element, *body, &layout, v);
    if (bad < 3) return fail_vertex(file, *body, &layout, i, v, bad, fault);
    if (!io_is_float(v[0]) || !io_is_float(v[1]) || !io_is_float(v[2])) file->geometry->all_float = false;
    *body += layout.size;
  }
  return true;
}

static bool read_vertices(const ply_file *file, const ply_element *element, bool fixed, const char **body,
                          io_fault *fault) {
  if (!gz_io_geometry_set_vertices(file->geometry, element->count, fault)) return false;
  if (!fixed) return walk_vertices(file, element, body, fault);
  even_rows rows = {.file = file, .element = element, .first = *body};
  if (element->count > 0 && !gz_ply_lay_out(file, element, *body, 0, &rows.layout, fault)) return false;
  *body += element->count * rows.layout.size;
  return read_even_vertices(&rows, fault);
}

/* ---- faces ---- */

/* Writes the triangles of a polygon. False: a corner is out of range, `bad` is its place in the list. */
static inline bool read_face(const ply_file *file, ply_type type, const char *items, uint64_t count,
                             uint32_t *triangles, uint64_t *bad) {
  bool big = file->format == PLY_BIG_ENDIAN;
  uint32_t corners[3];
  for (uint64_t k = 0; k < count; k++) {
    int64_t vertex = read_integer(items + k * type_sizes[type], type, big);
    if (vertex < 0 || (uint64_t)vertex >= file->vertex_count) {
      *bad = k;
      return false;
    }
    corners[k < 2 ? k : 2] = (uint32_t)vertex;
    if (k < 2) continue;
    memcpy(triangles, corners, sizeof corners);
    triangles += 3;
    corners[1] = corners[2];
  }
  return true;
}

static ply_type corner_type(const ply_file *file, const ply_element *element) {
  return file->properties[element->first_property + element->watched[0]].type;
}

static bool fail_corner(const ply_file *file, const ply_element *element, const char *items, uint64_t row,
                        uint64_t corner, io_fault *fault) {
  ply_type type = corner_type(file, element);
  const char *p = items + corner * type_sizes[type];
  return gz_io_fail(fault, GRAZE_ERROR_INDEX, IO_BYTE, ply_place(file, p),
                    "face %llu, corner %llu: vertex %lld is out of range: there are %llu", (unsigned long long)row,
                    (unsigned long long)corner, (long long)read_integer(p, type, file->format == PLY_BIG_ENDIAN),
                    (unsigned long long)file->vertex_count);
}

static bool fail_polygon(const ply_file *file, const char *p, uint64_t row, uint64_t count, io_fault *fault) {
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, ply_place(file, p), "face %llu has %llu corners",
                    (unsigned long long)row, (unsigned long long)count);
}

static void check_layout_step(void *argument, uint32_t step) {
  even_rows *rows = argument;
  uint64_t end = end_of_step(rows, step);
  for (uint64_t i = (uint64_t)step * ROWS_A_STEP; i < end; i++) {
    row_layout layout;
    io_fault unused;
    bool same = gz_ply_lay_out(rows->file, rows->element, rows->first + i * rows->layout.size, i, &layout, &unused) &&
                layout.size == rows->layout.size && layout.offset[0] == rows->layout.offset[0] &&
                layout.list_count == rows->layout.list_count;
    if (same) continue;
    note_bad_row(rows, i);
    return;
  }
}

static void read_face_step(void *argument, uint32_t step) {
  even_rows *rows = argument;
  uint64_t end = end_of_step(rows, step);
  uint64_t count = rows->layout.list_count;
  ply_type type = corner_type(rows->file, rows->element);
  for (uint64_t i = (uint64_t)step * ROWS_A_STEP; i < end; i++) {
    const char *items = rows->first + i * rows->layout.size + rows->layout.offset[0];
    uint64_t bad;
    if (read_face(rows->file, type, items, count, rows->file->geometry->indices + 3 * (count - 2) * i, &bad)) continue;
    note_bad_row(rows, i);
    return;
  }
}

/* Faces that all have the layout of the first; `done` stays false when they don't. */
static bool read_even_faces(even_rows *rows, const char **body, bool *done, io_fault *fault) {
  const ply_file *file = rows->file;
  uint64_t count = rows->element->count;
  io_fault unused;
  if (count == 0 || !gz_ply_lay_out(file, rows->element, rows->first, 0, &rows->layout, &unused)) return true;
  if (rows->layout.list_count < 3 || rows->layout.size > (uint64_t)(file->end - rows->first) / count) return true;
  if (!run_steps(fault->context, rows, check_layout_step)) return true;
  *done = true;
  if (!gz_io_geometry_set_triangles(file->geometry, count * (rows->layout.list_count - 2), fault)) return false;
  *body += count * rows->layout.size;
  if (run_steps(fault->context, rows, read_face_step)) return true;
  const char *items = rows->first + rows->first_bad * rows->layout.size + rows->layout.offset[0];
  uint64_t bad = 0;
  read_face(file, corner_type(file, rows->element), items, rows->layout.list_count,
            file->geometry->indices + 3 * (rows->layout.list_count - 2) * rows->first_bad, &bad);
  return fail_corner(file, rows->element, items, rows->first_bad, bad, fault);
}

/* Counts the triangles, then reads them. */
static bool walk_faces(const ply_file *file, const ply_element *element, const char **body, io_fault *fault) {
  uint64_t triangles = 0;
  const char *p = *body;
  row_layout layout;
  for (uint64_t i = 0; i < element->count; i++) {
    if (!gz_ply_lay_out(file, element, p, i, &layout, fault)) return false;
    if (layout.list_count < 3) return fail_polygon(file, p, i, layout.list_count, fault);
    triangles += layout.list_count - 2;
    p += layout.size;
  }
  if (!gz_io_geometry_set_triangles(file->geometry, triangles, fault)) return false;
  uint32_t *out = file->geometry->indices;
  ply_type type = corner_type(file, element);
  for (uint64_t i = 0; i < element->count; i++) {
    if (!gz_ply_lay_out(file, element, *body, i, &layout, fault)) return false;
    uint64_t bad;
    const char *items = *body + layout.offset[0];
    if (!read_face(file, type, items, layout.list_count, out, &bad)) {
      return fail_corner(file, element, items, i, bad, fault);
    }
    out += 3 * (layout.list_count - 2);
    *body += layout.size;
  }
  return true;
}

/* ---- strips ---- */

/* Counts the triangles of a row; writes them when there is room. False: a corner is out of range, `bad` is its place.
 */
static bool walk_strips(const ply_file *file, ply_type type, const char *items, uint64_t count, uint32_t *triangles,
                        uint64_t *made, uint64_t *bad) {
  const bool big = file->format == PLY_BIG_ENDIAN;
  ply_strip strip = {0};
  uint32_t unused[3];
  for (*bad = 0; *bad < count; ++*bad) {
    int64_t vertex = read_integer(items + *bad * type_sizes[type], type, big);
    if (vertex < -1 || vertex >= (int64_t)file->vertex_count) return false;
    *made += ply_strip_take(&strip, vertex, triangles != NULL ? triangles + 3 * *made : unused);
  }
  return true;
}

/* Counts the triangles, then reads them. */
static bool read_strips(const ply_file *file, const ply_element *element, const char **body, io_fault *fault) {
  const ply_type type = corner_type(file, element);
  const char *p = *body;
  for (int pass = 0; pass < 2; pass++) {
    uint64_t made = 0, bad;
    p = *body;
    for (uint64_t i = 0; i < element->count; i++) {
      row_layout layout;
      if (!gz_ply_lay_out(file, element, p, i, &layout, fault)) return false;
      const char *items = p + layout.offset[0];
      uint32_t *out = pass > 0 ? file->geometry->indices : NULL;
      if (!walk_strips(file, type, items, layout.list_count, out, &made, &bad))
        return fail_corner(file, element, items, i, bad, fault);
      p += layout.size;
    }
    if (pass == 0 && !gz_io_geometry_set_triangles(file->geometry, made, fault)) return false;
  }
  *body = p;
  return true;
}

static bool read_faces(const ply_file *file, const ply_element *element, const char **body, io_fault *fault) {
  even_rows rows = {.file = file, .element = element, .first = *body};
  bool done = false;
  if (!read_even_faces(&rows, body, &done, fault)) return false;
  return done || walk_faces(file, element, body, fault);
}

/* ---- single rows, of a part of the file ---- */

bool gz_ply_take_vertex(const ply_file *file, const ply_element *element, const char *p, const row_layout *layout,
                        uint64_t row, double *v, io_fault *fault) {
  unsigned bad = read_vertex(file, element, p, layout, v);
  return bad == 3 || fail_vertex(file, p, layout, row, v, bad, fault);
}

bool gz_ply_take_face(const ply_file *file, const ply_element *element, const char *p, const row_layout *layout,
                      uint64_t row, uint32_t *triangles, io_fault *fault) {
  uint64_t bad;
  const char *items = p + layout->offset[0];
  return read_face(file, corner_type(file, element), items, layout->list_count, triangles, &bad) ||
         fail_corner(file, element, items, row, bad, fault);
}

/* ---- all elements ---- */

static bool skip_rows(const ply_file *file, const ply_element *element, uint64_t size, bool fixed, const char **body,
                      io_fault *fault) {
  if (fixed) {
    *body += element->count * size;
    return true;
  }
  for (uint64_t i = 0; i < element->count; i++) {
    row_layout layout;
    if (!gz_ply_lay_out(file, element, *body, i, &layout, fault)) return false;
    *body += layout.size;
  }
  return true;
}

static bool stores_floats(const ply_file *file, const ply_element *element) {
  bool floats = true;
  for (size_t k = 0; k < element->watched_count; k++)
    floats = floats && file->properties[element->first_property + element->watched[k]].type == PLY_FLOAT;
  return floats;
}

static bool read_element(const ply_file *file, const ply_element *element, const char **body, io_fault *fault) {
  bool fixed;
  uint64_t size = gz_ply_row_size(file, element, &fixed);
  uint64_t left = (uint64_t)(file->end - *body);
  if (size > 0 && element->count > left / size) {
    return fixed ? fail_end(file, element, left / size, fault)
                 : gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, ply_place(file, file->end),
                              "%llu rows of element \"%s\" need more bytes than the file has",
                              (unsigned long long)element->count, gz_ply_name(element).text);
  }
  if (element->role == PLY_VERTEX) file->geometry->stored_floats = stores_floats(file, element);
  if (element->role == PLY_VERTEX) return read_vertices(file, element, fixed, body, fault);
  if (element->role == PLY_FACE) return read_faces(file, element, body, fault);
  if (element->role == PLY_STRIPS) return read_strips(file, element, body, fault);
  return skip_rows(file, element, size, fixed, body, fault);
}

/* Bytes behind the last element mean that a count is wrong; a line end there is harmless. */
static bool check_rest(const ply_file *file, const char *body, io_fault *fault) {
  uint64_t left = (uint64_t)(file->end - body);
  if (left == 0 || (left == 1 && *body == '\n') || (left == 2 && body[0] == '\r' && body[1] == '\n')) return true;
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, ply_place(file, body),
                    "%llu bytes more than the header's counts ask for", (unsigned long long)left);
}

bool gz_ply_read_binary(const ply_file *file, io_fault *fault) {
  const char *body = file->body;
  for (size_t i = 0; i < file->element_count; i++) {
    if (!read_element(file, &file->elements[i], &body, fault)) return false;
  }
  if (!check_rest(file, body, fault)) return false;
  if (file->geometry->indices != NULL) return true;
  return gz_io_geometry_set_triangles(file->geometry, 0, fault);
}
