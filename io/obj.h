/* obj.h: a part of an OBJ file, read by itself: by a thread, or by one of several processes; private to io. */
#ifndef GRAZE_IO_OBJ_H
#define GRAZE_IO_OBJ_H

#include "readers.h"
#include "text.h"

/* A corner counted backwards: its place among the part's corners, and the vertex relative to the part's first. */
typedef struct relative_corner {
  uint64_t place;
  int64_t vertex;
} relative_corner;

typedef struct obj_part {
  const char *begin, *end;
  gz_array vertices;  /* double[3] */
  gz_array triangles; /* uint32_t[3] */
  gz_array relatives; /* relative_corner */
  gz_array names;     /* io_name */
  uint64_t line;      /* of the part, from 1; afterwards the number of lines + 1 */
  io_written written;
  uint64_t face_count;
  uint64_t wanted_triangle; /* stop before making this one: finds its line again */
  uint64_t first_vertex, first_triangle;
  uint64_t bad_triangle; /* first one with a vertex out of range, or UINT64_MAX */
  io_fault fault;
} obj_part;

/* Reads from `begin` to `end`, which are those of lines; what is wrong is in the part's fault. */
void gz_obj_read_part(obj_part *part);
void gz_obj_free_part(obj_part *part);

/* The part's corners by the numbers of the whole file, once `first_vertex` is known. Returns the first triangle with a
 * vertex out of range, or UINT64_MAX. */
uint64_t gz_obj_number_corners(const obj_part *part, uint32_t *indices, uint64_t vertices);

/* Reads the part, which begins on that line, again up to its bad triangle, to learn the line of that. */
bool gz_obj_fail_range(const obj_part *part, uint64_t line, const uint32_t *corners, uint64_t vertices,
                       io_fault *fault);

/* The first line, when it is two numbers. */
typedef struct obj_counts {
  bool there;
  uint64_t vertices, faces;
} obj_counts;

/* Returns the end of that line, or `p`. Numbers behind the two are passed over. */
const char *gz_obj_read_counts(const char *p, const char *end, obj_counts *counts, io_fault *fault);
bool gz_obj_check_counts(const obj_counts *counts, uint64_t vertices, uint64_t faces, io_fault *fault);

/* A file that has nothing of OBJ is something else. */
bool gz_obj_check_words(uint64_t vertices, io_fault *fault);

#endif
