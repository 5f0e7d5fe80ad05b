/* Files of sections: type, size, bytes, and a hash that is chained from section to section.
 *
 *   file     "GRZSCEN1", then sections
 *   section  uint32 type, uint32 0, uint64 size, the bytes, uint64 hash of the bytes seeded with the hash before
 */
#ifndef GRAZE_SRC_SCENE_ARCHIVE_H
#define GRAZE_SRC_SCENE_ARCHIVE_H

#include "base/context.h"
#include "base/memory.h"

typedef enum archive_type {
  ARCHIVE_END = 0,          /* of the file: not written */
  ARCHIVE_MESH,             /* a baked mesh; they are numbered as they come */
  ARCHIVE_SCENE,            /* objects, rules, what was told */
  ARCHIVE_STEP,             /* edits and an update */
  ARCHIVE_WORLD,            /* the state of a world of balls */
  ARCHIVE_WORLD_DEFINITION, /* what such a world is made of */
  ARCHIVE_WORLD_RUN,        /* calls and steps of it */
  ARCHIVE_WORLD_END,        /* of its record */
  ARCHIVE_RIGID,            /* the state of a world of rigid bodies, */
  ARCHIVE_RIGID_DEFINITION, /* and what it is made of */
  ARCHIVE_RIGID_RUN,        /* calls and steps of it */
  ARCHIVE_RIGID_END,        /* of its record */
  ARCHIVE_ROUND,            /* before a scene: which of its objects are round, */
  ARCHIVE_CENTER            /* and which have a center of motion */
} archive_type;

/* ---- writing ---- */

typedef struct archive_writer {
  const graze_context *context;
  const char *path;
  int file;
  uint64_t chain;
  buffer section; /* being put together */
  size_t used;
  graze_status status; /* the first error; from then on nothing is written */
} archive_writer;

/* Starts a file that is open. */
void gz_archive_begin(archive_writer *w, const graze_context *context, int file, const char *path);
void gz_archive_put(archive_writer *w, const void *bytes, size_t size);
void gz_archive_put_u32(archive_writer *w, uint32_t x);
void gz_archive_put_u64(archive_writer *w, uint64_t x);
void gz_archive_put_double(archive_writer *w, double x);
void gz_archive_put_exactness(archive_writer *w, graze_exactness exactness);
void gz_archive_put_text(archive_writer *w, const char *text); /* its length and its bytes */
/* Writes what was put since the last section. */
void gz_archive_end_section(archive_writer *w, archive_type type);
/* Writes a section of these bytes; what was put so far stays for the next. */
void gz_archive_whole_section(archive_writer *w, archive_type type, const void *bytes, size_t size);
void gz_archive_writer_release(archive_writer *w);

/* ---- reading ---- */

typedef struct archive_reader {
  const graze_context *context;
  const char *path;
  int file;
  uint64_t offset, size; /* of the file */
  uint64_t chain;
  buffer section;
  uint64_t start; /* of the section's bytes in the file */
  size_t length;  /* of the section */
  size_t at;      /* next byte to be taken */
  bool overrun;   /* more was asked for than there is */
} archive_reader;

/* Checks the head of a file that is open. Errors: FILE, FORMAT. */
graze_status gz_archive_open(archive_reader *r, const graze_context *context, int file, const char *path);
/* Reads the next section whole. Errors: FILE, FORMAT, MEMORY. */
graze_status gz_archive_next(archive_reader *r, archive_type *type);
/* Bytes of the section, valid until the next; zeros behind its end, which sets `overrun`. */
const void *gz_archive_take(archive_reader *r, size_t size);
uint32_t gz_archive_take_u32(archive_reader *r);
uint64_t gz_archive_take_u64(archive_reader *r);
double gz_archive_take_double(archive_reader *r);
void gz_archive_take_doubles(archive_reader *r, double *numbers, size_t count);
/* Of as many things that take at least so many bytes each; UINT64_MAX: more than the section has room for. */
uint64_t gz_archive_take_count(archive_reader *r, size_t least);
/* Any number, which need not be one of the enumeration. */
graze_exactness gz_archive_take_exactness(archive_reader *r);
/* A text that ends with a zero byte within the section; NULL when it does not. */
const char *gz_archive_take_text(archive_reader *r);
/* FORMAT with the byte of the file at which the section's next byte is. */
graze_status gz_archive_error(const archive_reader *r, const char *what);
void gz_archive_reader_release(archive_reader *r);

#endif
