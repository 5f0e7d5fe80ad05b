/* slice.c: a mesh file that several processes read together, each a part of it, with the answer and the words of one
 * that reads all. Parts are cut so that each can be read without the others; what a part cannot know, the numbers of
 * its first vertex and line, it is told when all have been read. A file that cannot be cut so is left to one process.
 * Bytes are read at their places in the file, at most 1 GiB in a call. */
#include "slice.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(io_slice_words) <= sizeof(graze_slice_report), "the report holds the fault");

bool gz_slice_hold_vertices(io_slice *slice, uint64_t count) {
  slice->out->vertices = gz_new(slice->fault.context, count, 3 * sizeof(double));
  return slice->out->vertices != NULL || gz_io_fail_memory(&slice->fault);
}

bool gz_slice_hold_indices(io_slice *slice, uint64_t triangles) {
  slice->out->indices = gz_new(slice->fault.context, triangles, 3 * sizeof(uint32_t));
  return slice->out->indices != NULL || gz_io_fail_memory(&slice->fault);
}

/* ---- reading ---- */

static bool read_format(io_slice *slice) {
  slice->out->own.sliced = 1;
  slice->format = gz_io_detect_head(slice->head, slice->held, slice->size, slice->name);
  switch (slice->format) {
    case GRAZE_FORMAT_OBJ:
      return gz_slice_read_obj(slice);
    case GRAZE_FORMAT_PLY:
      return gz_slice_read_ply(slice);
    case GRAZE_FORMAT_STL:
      return gz_slice_read_stl(slice);
    case GRAZE_FORMAT_GLTF:
      return gz_slice_read_glb(slice);
    default:
      return slice_refuse(slice);
  }
}

/* A file that cannot be opened is left to who reads it as a whole and tells why. */
static bool read_open(io_slice *slice) {
  char *head = gz_new(slice->fault.context, SLICE_HEAD_BYTES, 1);
  size_t size = 0;
  if (head == NULL) return gz_io_fail_memory(&slice->fault);
  slice->descriptor = gz_io_file_open(slice->name, head, SLICE_HEAD_BYTES, &size);
  slice->size = size;
  slice->head = head;
  slice->held = size < SLICE_HEAD_BYTES ? size : SLICE_HEAD_BYTES;
  bool good = slice->descriptor < 0 ? slice_refuse(slice) : read_format(slice);
  if (slice->descriptor >= 0) close(slice->descriptor);
  slice->head = NULL;
  gz_free(head);
  return good;
}

/* What this process alone meets is no fault of the file. */
static bool is_own(graze_status status) {
  return status == GRAZE_ERROR_MEMORY || status == GRAZE_ERROR_FILE;
}

static graze_status tell_own(io_slice *slice, bool good) {
  if (good) slice->order = SLICE_NO_FAULT;
  return !good && is_own(slice->fault.status) ? gz_io_report(&slice->fault, slice->name) : GRAZE_OK;
}

graze_status graze_read_slice(graze_context *context, const char *path, unsigned flags, uint32_t part, uint32_t parts,
                              graze_slice *slice) {
  if (slice != NULL) *slice = (graze_slice){0};
  if (context == NULL || path == NULL || slice == NULL || part >= parts || (flags & ~(unsigned)GRAZE_READ_STRICT) != 0)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "read slice: an argument is invalid");
  io_slice *own = gz_new_zeroed(context, 1, sizeof *own);
  if (own == NULL) return gz_fail(context, GRAZE_ERROR_MEMORY, "%s: out of memory", path);
  slice->memory = own;
  own->out = slice;
  own->name = path;
  own->part = part;
  own->parts = parts;
  own->fault = (io_fault){.context = context, .strict = (flags & GRAZE_READ_STRICT) != 0};
  const graze_status status = tell_own(own, read_open(own));
  own->name = NULL; /* the caller's */
  return status;
}

/* ---- its place ---- */

/* The first part speaks for all. */
static bool check_totals(io_slice *own) {
  if (own->part > 0 || own->order != SLICE_NO_FAULT) return true;
  const bool good = gz_io_check_elements(own->out->all_vertices, "vertices", &own->fault) &&
                    gz_io_check_elements(own->out->all_triangles, "triangles", &own->fault);
  if (!good) own->order = SLICE_AT_TOTALS;
  return good;
}

static void write_report(io_slice *own) {
  io_slice_words words = {.order = own->order,
                          .lines = own->out->own.lines,
                          .vertices = own->out->own.vertices,
                          .is_obj = own->format == GRAZE_FORMAT_OBJ,
                          .fault = own->fault};
  words.fault.context = NULL;
  memset(&own->out->report, 0, sizeof own->out->report);
  memcpy(&own->out->report, &words, sizeof words);
}

graze_status graze_slice_place(graze_context *context, graze_slice *slice, const graze_slice_counts *all) {
  if (context == NULL || slice == NULL || slice->memory == NULL || all == NULL)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "place slice: an argument is invalid");
  io_slice *own = slice->memory;
  uint64_t lines = 0, faces = 0;
  slice->first_vertex = slice->first_triangle = slice->all_vertices = slice->all_triangles = 0;
  for (uint32_t i = 0; i < own->parts; i++) {
    if (i < own->part) {
      slice->first_vertex += all[i].vertices;
      slice->first_triangle += all[i].triangles;
      lines += all[i].lines;
    }
    slice->all_vertices += all[i].vertices;
    slice->all_triangles += all[i].triangles;
    faces += all[i].faces;
  }
  own->out = slice;
  const bool faulty = own->order != SLICE_NO_FAULT;
  bool good = check_totals(own);
  if (good && own->format == GRAZE_FORMAT_OBJ) good = gz_slice_place_obj(own, lines, faces);
  const graze_status status = faulty ? GRAZE_OK : tell_own(own, good);
  write_report(own);
  return status;
}

/* ---- all parts ---- */

graze_status graze_slice_judge(graze_context *context, const char *path, const graze_slice_report *all,
                               uint32_t parts) {
  if (context == NULL || path == NULL || all == NULL)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "judge slices: an argument is invalid");
  io_fault fault = {.context = context};
  uint64_t first = SLICE_NO_FAULT, lines = 0, vertices = 0;
  bool is_obj = false;
  for (uint32_t i = 0; i < parts; i++) {
    io_slice_words words;
    memcpy(&words, &all[i], sizeof words);
    if (words.order < first) {
      first = words.order;
      fault.status = words.fault.status;
      fault.place = words.fault.place;
      fault.number = words.fault.number;
      memcpy(fault.reason, words.fault.reason, sizeof fault.reason);
    }
    gz_io_pass_part(&fault, &words.fault, lines);
    lines += words.lines;
    vertices += words.vertices;
    is_obj = words.is_obj;
  }
  if (first == SLICE_NO_FAULT && is_obj) gz_obj_check_words(vertices, &fault);
  return gz_io_report(&fault, path);
}

void graze_slice_free(graze_slice *slice) {
  if (slice == NULL) return;
  io_slice *own = slice->memory;
  if (own != NULL) {
    if (own->obj.vertices.data == slice->vertices) own->obj.vertices.data = NULL;
    if (own->obj.triangles.data == slice->indices) own->obj.triangles.data = NULL;
    gz_obj_free_part(&own->obj);
    gz_free(own->text);
  }
  gz_free(slice->vertices);
  gz_free(slice->indices);
  gz_free(own);
  *slice = (graze_slice){0};
}
