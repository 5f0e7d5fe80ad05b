/* slice_obj.c: an OBJ file from one line to another. Where the lines are is found alike by the two parts that meet
 * there: a part begins behind the first line end at or after its share of the bytes. */
#include "slice.h"

enum { LEAST_BYTES = 64 /* a part: the first one has the first line */, WINDOW = 1 << 12 };

/* The line start at or behind `at`, looked for in a window that grows. */
static bool find_cut(io_slice *slice, uint64_t at, uint64_t *cut) {
  *cut = at;
  if (at == 0 || at == slice->size) return true;
  const uint64_t from = at >= 2 ? at - 2 : 0; /* CR LF with a backslash before them */
  for (uint64_t window = WINDOW;; window *= 4) {
    const uint64_t size = window < slice->size - from ? window : slice->size - from;
    char *text = gz_new(slice->fault.context, size, 1);
    if (text == NULL) return gz_io_fail_memory(&slice->fault);
    const bool good = gz_io_file_read_at(slice->descriptor, from, size, text, &slice->fault);
    const char *found = good ? gz_io_find_line_start(text, text + (at - from), text + size) : text;
    *cut = from + (uint64_t)(found - text);
    gz_free(text);
    if (!good) return false;
    if (*cut < from + size || *cut == slice->size) return true; /* else a line end may lie across the window's */
  }
}

static bool read_text(io_slice *slice, uint64_t begin, uint64_t size) {
  slice->text = gz_new(slice->fault.context, size, 1);
  if (slice->text == NULL) return gz_io_fail_memory(&slice->fault);
  return gz_io_file_read_at(slice->descriptor, begin, size, slice->text, &slice->fault);
}

/* The part's arrays become the slice's. */
static bool take_part(io_slice *slice) {
  obj_part *part = &slice->obj;
  graze_slice *out = slice->out;
  out->own.vertices = part->vertices.count;
  out->own.triangles = part->triangles.count;
  out->own.faces = part->face_count;
  out->own.lines = part->line - 1;
  for (int kind = 0; kind < IO_ODDITIES; kind++) slice->fault.passed[kind] = part->fault.passed[kind];
  if (part->fault.status != GRAZE_OK) {
    slice->fault = part->fault;
    slice->order = part->fault.number; /* of the part: where it is in the file, it is told later */
    return false;
  }
  if (part->vertices.data == NULL && !array_reserve(slice->fault.context, &part->vertices, 1, 3 * sizeof(double)))
    return gz_io_fail_memory(&slice->fault);
  if (part->triangles.data == NULL && !array_reserve(slice->fault.context, &part->triangles, 1, 3 * sizeof(uint32_t)))
    return gz_io_fail_memory(&slice->fault);
  out->vertices = part->vertices.data;
  out->indices = part->triangles.data;
  return true;
}

bool gz_slice_read_obj(io_slice *slice) {
  uint64_t begin, end;
  if (slice->size / slice->parts < LEAST_BYTES) return slice_refuse(slice);
  if (slice->held >= 2 && ((slice->head[0] == '\xFE' && slice->head[1] == '\xFF') ||
                           (slice->head[0] == '\xFF' && slice->head[1] == '\xFE')))
    return slice_refuse(slice); /* UTF-16 */
  if (!find_cut(slice, slice_begin(slice, slice->size, slice->part), &begin) ||
      !find_cut(slice, slice_begin(slice, slice->size, slice->part + 1), &end) || !read_text(slice, begin, end - begin))
    return false;
  obj_part *part = &slice->obj;
  *part = (obj_part){.begin = slice->text,
                     .end = slice->text + (end - begin),
                     .line = 1,
                     .wanted_triangle = UINT64_MAX,
                     .fault = gz_io_fault_of_part(&slice->fault)};
  if (slice->part == 0) {
    part->begin += gz_io_text_begin(slice->text, (size_t)(end - begin));
    part->begin = gz_obj_read_counts(part->begin, part->end, &slice->counts, &part->fault);
  }
  gz_obj_read_part(part);
  return take_part(slice);
}

bool gz_slice_place_obj(io_slice *slice, uint64_t lines, uint64_t faces) {
  obj_part *part = &slice->obj;
  graze_slice *out = slice->out;
  if (slice->order != SLICE_NO_FAULT) { /* one of the contents */
    slice->fault.number += lines;
    slice->order = slice->fault.number;
    return false;
  }
  part->first_vertex = out->first_vertex;
  part->bad_triangle = gz_obj_number_corners(part, out->indices, out->all_vertices);
  if (part->bad_triangle != UINT64_MAX) {
    const uint32_t *corners = out->indices + 3 * part->bad_triangle;
    gz_obj_fail_range(part, lines + 1, corners, out->all_vertices, &slice->fault);
    slice->order = SLICE_AT_RANGES + slice->fault.number;
    return false;
  }
  slice->order = SLICE_AT_COUNTS;
  return gz_obj_check_counts(&slice->counts, out->all_vertices, faces, &slice->fault);
}
