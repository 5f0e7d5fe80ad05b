/* slice_ply.c: rows of a binary PLY file from one number to another, of vertices and of faces. Where the elements are
 * is known from the header if their rows have one size each: of faces, that of the first row, which every part looks
 * for in its own. */
#include <string.h>

#include "ply.h"
#include "slice.h"

enum { BYTES_A_READ = 1 << 18 };

/* Rows of an element. */
typedef struct ply_run {
  const ply_element *element;
  row_layout layout;
  uint64_t at; /* in the file */
} ply_run;

typedef struct ply_slice {
  io_slice *slice;
  ply_file file; /* `text` is what is read at a time */
  ply_run vertices, faces;
  uint64_t skipped; /* bytes before the text: a byte order mark */
  char *bytes;
  uint64_t room;
} ply_slice;

/* ---- where the rows are ---- */

/* The layout of the first row, if it is within what is read at a time. */
static bool lay_out_first(ply_slice *s, ply_run *run) {
  const uint64_t left = s->slice->size - run->at, size = left < s->room ? left : s->room;
  io_fault unused = s->slice->fault;
  if (!gz_io_file_read_at(s->slice->descriptor, run->at, size, s->bytes, &unused)) return false;
  s->file.text = s->bytes;
  s->file.end = s->bytes + size;
  return gz_ply_lay_out(&s->file, run->element, s->bytes, 0, &run->layout, &unused);
}

/* Steps over the rows of an element, which is noted if it is read. False: they have no even size, or there are too
 * few bytes. */
static bool place_element(ply_slice *s, const ply_element *element, uint64_t *at) {
  bool fixed;
  const bool vertices = element->role == PLY_VERTEX, faces = element->role == PLY_FACE;
  ply_run run = {.element = element, .at = *at};
  run.layout.size = gz_ply_row_size(&s->file, element, &fixed);
  if (element->count > 0 && (vertices || faces)) {
    if ((vertices && !fixed) || !lay_out_first(s, &run) || (faces && run.layout.list_count < 3)) return false;
  } else if (element->count > 0 && (!fixed || element->role == PLY_STRIPS)) {
    return false;
  }
  if (run.layout.size > 0 && element->count > (s->slice->size - *at) / run.layout.size) return false;
  *at += element->count * run.layout.size;
  if (vertices) s->vertices = run;
  if (faces) s->faces = run;
  return true;
}

/* Nothing but a line end may follow. */
static bool is_rest_empty(ply_slice *s, uint64_t at) {
  char rest[2] = "";
  const uint64_t left = s->slice->size - at;
  io_fault unused = s->slice->fault;
  if (left == 0) return true;
  if (left > 2 || !gz_io_file_read_at(s->slice->descriptor, at, left, rest, &unused)) return false;
  return left == 1 ? rest[0] == '\n' : rest[0] == '\r' && rest[1] == '\n';
}

static bool place_elements(ply_slice *s) {
  uint64_t at = s->skipped + ply_place(&s->file, s->file.body);
  for (size_t i = 0; i < s->file.element_count; i++) {
    if (!place_element(s, &s->file.elements[i], &at)) return false;
  }
  const ply_element *faces = s->faces.element;
  return is_rest_empty(s, at) &&
         (faces == NULL || faces->count == 0 || faces->count <= IO_MOST_ELEMENTS / (s->faces.layout.list_count - 2));
}

/* ---- reading them ---- */

/* Takes row number `row` at `p`; `out`: what becomes of it. False: a fault, or `even` is false. Behind a fault rows are
 * laid out alone. */
typedef bool (*row_taker)(ply_slice *s, const ply_run *run, const char *p, uint64_t row, void *out, bool *even);

static bool take_vertex(ply_slice *s, const ply_run *run, const char *p, uint64_t row, void *out, bool *even) {
  (void)even;
  return gz_ply_take_vertex(&s->file, run->element, p, &run->layout, row, out, &s->slice->fault);
}

static bool take_face(ply_slice *s, const ply_run *run, const char *p, uint64_t row, void *out, bool *even) {
  row_layout layout;
  io_fault unused = s->slice->fault;
  *even = gz_ply_lay_out(&s->file, run->element, p, row, &layout, &unused) && layout.size == run->layout.size &&
          layout.offset[0] == run->layout.offset[0] && layout.list_count == run->layout.list_count;
  if (!*even || s->slice->fault.status != GRAZE_OK) return *even;
  return gz_ply_take_face(&s->file, run->element, p, &layout, row, out, &s->slice->fault);
}

/* Rows that have been read; false: there is no need of others. */
static bool take_read(ply_slice *s, const ply_run *run, row_taker take, uint64_t row, uint64_t rows, char *out,
                      size_t out_bytes, bool *even) {
  io_slice *slice = s->slice;
  for (uint64_t i = 0; i < rows; i++, out += out_bytes) {
    if (take(s, run, s->bytes + i * run->layout.size, row + i, out, even)) continue;
    slice->order = slice->fault.number;
    if (!*even || run->element->role == PLY_VERTEX) return false;
  }
  return true;
}

/* The slice's share of the rows, of which each becomes `out_bytes` at `out`. */
static bool take_rows(ply_slice *s, const ply_run *run, row_taker take, char *out, size_t out_bytes, bool *even) {
  io_slice *slice = s->slice;
  const uint64_t count = run->element->count, end = slice_begin(slice, count, slice->part + 1), size = run->layout.size,
                 step = s->room / size;
  for (uint64_t row = slice_begin(slice, count, slice->part); row < end; row += step) {
    const uint64_t rows = end - row < step ? end - row : step, at = run->at + row * size;
    if (!gz_io_file_read_at(slice->descriptor, at, rows * size, s->bytes, &slice->fault)) return false;
    s->file.text = s->bytes;
    s->file.end = s->bytes + rows * size;
    s->file.text_at = at - s->skipped;
    if (!take_read(s, run, take, row, rows, out, out_bytes, even)) return false;
    out += rows * out_bytes;
  }
  return slice->fault.status == GRAZE_OK;
}

static uint64_t share(const io_slice *slice, const ply_run *run) {
  const uint64_t count = run->element != NULL ? run->element->count : 0;
  return slice_begin(slice, count, slice->part + 1) - slice_begin(slice, count, slice->part);
}

static bool take_vertices(ply_slice *s, bool *even) {
  return take_rows(s, &s->vertices, take_vertex, (char *)s->slice->out->vertices, 3 * sizeof(double), even);
}

static bool take_faces(ply_slice *s, bool *even) {
  const size_t bytes = (size_t)(s->faces.layout.list_count - 2) * 3 * sizeof(uint32_t);
  return take_rows(s, &s->faces, take_face, (char *)s->slice->out->indices, bytes, even);
}

/* In the order of the file, in which a fault is met. */
static bool read_rows(ply_slice *s) {
  io_slice *slice = s->slice;
  const bool has_faces = s->faces.element != NULL && s->faces.element->count > 0,
             faces_first = has_faces && s->faces.element < s->vertices.element;
  const uint64_t faces = has_faces ? share(slice, &s->faces) : 0;
  bool even = true;
  slice->out->own.vertices = share(slice, &s->vertices);
  slice->out->own.triangles = has_faces ? faces * (s->faces.layout.list_count - 2) : 0;
  slice->out->own.faces = faces;
  if (!gz_slice_hold_vertices(slice, slice->out->own.vertices) ||
      !gz_slice_hold_indices(slice, slice->out->own.triangles))
    return false;
  bool good = !faces_first || take_faces(s, &even);
  if (good && s->vertices.element->count > 0) good = take_vertices(s, &even);
  if (good && has_faces && !faces_first) good = take_faces(s, &even);
  return even ? good : slice_refuse(slice);
}

static bool read_body(ply_slice *s) {
  if (s->file.format == PLY_ASCII) return slice_refuse(s->slice);
  s->bytes = gz_new(s->slice->fault.context, s->room, 1);
  if (s->bytes == NULL) return gz_io_fail_memory(&s->slice->fault);
  const bool good = place_elements(s) ? read_rows(s) : slice_refuse(s->slice);
  gz_free(s->bytes);
  return good;
}

/* What is wrong with the header, or odd, is told by who reads the whole file. */
bool gz_slice_read_ply(io_slice *slice) {
  const size_t skipped = gz_io_text_begin(slice->head, slice->held);
  io_fault fault = gz_io_fault_of_part(&slice->fault);
  ply_slice s = {.slice = slice, .skipped = skipped, .room = BYTES_A_READ};
  s.file = (ply_file){.text = slice->head + skipped, .end = slice->head + slice->held};
  const bool good = gz_ply_read_header(&s.file, &fault);
  bool done = !good && fault.status == GRAZE_ERROR_MEMORY ? gz_io_fail_memory(&slice->fault) : slice_refuse(slice);
  if (good) {
    slice->out->own.sliced = 1;
    for (int kind = 0; kind < IO_ODDITIES && slice->part == 0; kind++) slice->fault.passed[kind] = fault.passed[kind];
    done = read_body(&s);
  }
  gz_ply_free_header(&s.file);
  return done;
}
