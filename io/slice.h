/* slice.h: a part of a file, while one of several processes reads it; private to io. */
#ifndef GRAZE_IO_SLICE_H
#define GRAZE_IO_SLICE_H

#include "file.h"
#include "obj.h"
#include "readers.h"

/* Which of the faults of all parts is the one that reading the whole file would have met: the first by these numbers.
 * Those of the contents come by their place, then what is judged when all has been read. */
enum { SLICE_HEAD_BYTES = 1 << 16 };
#define SLICE_NO_FAULT  UINT64_MAX
#define SLICE_AT_TOTALS ((uint64_t)1 << 60)
#define SLICE_AT_RANGES ((uint64_t)1 << 61)
#define SLICE_AT_COUNTS ((uint64_t)1 << 62)

/* What stands in a report. */
typedef struct io_slice_words {
  uint64_t order;
  uint64_t lines, vertices; /* own ones */
  bool is_obj;
  io_fault fault;
} io_slice_words;

typedef struct io_slice {
  graze_slice *out;
  const char *name;
  int descriptor;
  uint64_t size;
  const char *head; /* the first bytes of the file */
  size_t held;
  uint32_t part, parts;
  uint64_t order; /* of the fault */
  io_fault fault;
  graze_file_format format;
  /* OBJ */
  char *text;
  obj_part obj;
  obj_counts counts;
} io_slice;

/* Where a part begins, of `count` things that are dealt out in order. */
static inline uint64_t slice_begin(const io_slice *slice, uint64_t count, uint32_t part) {
  return (uint64_t)((unsigned __int128)count * part / slice->parts);
}

/* The reader's answer: the file is not for slices. */
static inline bool slice_refuse(io_slice *slice) {
  slice->out->own.sliced = 0;
  return true;
}

/* Room for the slice's vertices or indices. */
bool gz_slice_hold_vertices(io_slice *slice, uint64_t count);
bool gz_slice_hold_indices(io_slice *slice, uint64_t triangles);

/* Each reads the part. False: a fault, and `order` says where it stands among those of the other parts. */
bool gz_slice_read_glb(io_slice *slice);
bool gz_slice_read_obj(io_slice *slice);
bool gz_slice_read_ply(io_slice *slice);
bool gz_slice_read_stl(io_slice *slice);

/* What is wrong once the parts before are known, which have so many lines. */
bool gz_slice_place_obj(io_slice *slice, uint64_t lines, uint64_t faces);

#endif
