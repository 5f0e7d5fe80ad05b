/* slice_stl.c: facets of a binary STL file from one number to another. */
#include "slice.h"

enum { FACETS_A_READ = 4096 };

static bool read_facets(io_slice *slice, uint64_t first, uint64_t count, unsigned char *bytes) {
  for (uint64_t at = 0; at < count; at += FACETS_A_READ) {
    const uint64_t step = count - at < FACETS_A_READ ? count - at : FACETS_A_READ;
    double *vertices = slice->out->vertices + 9 * at;
    if (!gz_io_file_read_at(slice->descriptor, IO_STL_HEADER + (first + at) * IO_STL_FACET, step * IO_STL_FACET, bytes,
                            &slice->fault))
      return false;
    const uint64_t bad = gz_stl_take_facets(bytes, step, vertices);
    if (bad == UINT64_MAX) continue;
    gz_stl_fail_facet(vertices + 9 * bad, first + at + bad, &slice->fault);
    slice->order = slice->fault.number;
    return false;
  }
  return true;
}

bool gz_slice_read_stl(io_slice *slice) {
  if (!gz_io_heads_binary_stl(slice->head, slice->held, slice->size)) return slice_refuse(slice);
  const uint64_t all = (slice->size - IO_STL_HEADER) / IO_STL_FACET, first = slice_begin(slice, all, slice->part),
                 count = slice_begin(slice, all, slice->part + 1) - first;
  if (3 * all > IO_MOST_ELEMENTS) return slice_refuse(slice); /* more than can be numbered: who reads it all says so */
  slice->out->own.triangles = count;
  if (!gz_slice_hold_vertices(slice, 3 * count)) return false;
  unsigned char *bytes = gz_new(slice->fault.context, FACETS_A_READ, IO_STL_FACET);
  const bool good = bytes != NULL ? read_facets(slice, first, count, bytes) : gz_io_fail_memory(&slice->fault);
  gz_free(bytes);
  return good;
}
