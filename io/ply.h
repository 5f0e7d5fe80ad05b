/* ply.h: the header of a PLY file, shared by its readers; private to io. */
#ifndef GRAZE_IO_PLY_H
#define GRAZE_IO_PLY_H

#include "readers.h"

typedef enum ply_type {
  PLY_INT8,
  PLY_UINT8,
  PLY_INT16,
  PLY_UINT16,
  PLY_INT32,
  PLY_UINT32,
  PLY_FLOAT,
  PLY_DOUBLE
} ply_type;

typedef enum ply_format { PLY_ASCII, PLY_LITTLE_ENDIAN, PLY_BIG_ENDIAN } ply_format;

typedef struct ply_property {
  const char *name; /* in the file */
  size_t name_length;
  ply_type type;
  bool is_list;
  ply_type count_type; /* of a list */
} ply_property;

typedef enum ply_role { PLY_SKIPPED, PLY_VERTEX, PLY_FACE, PLY_STRIPS } ply_role;

typedef struct ply_element {
  const char *name; /* in the file */
  size_t name_length;
  uint64_t line; /* in the header */
  uint64_t count;
  size_t first_property, property_count;
  ply_role role;
  size_t watched[3]; /* properties that are read: x, y, z of vertices; of faces and strips the list of corners, first */
  size_t watched_count;
} ply_element;

typedef struct ply_file {
  const char *text, *end, *body;
  uint64_t text_at; /* place of `text` in the file, when it is a part of that */
  uint64_t body_line;
  ply_format format;
  ply_element *elements;
  size_t element_count;
  ply_property *properties;
  uint64_t vertex_count; /* as the header says */
  size_t parts;          /* to cut a text into */
  graze_geometry *geometry;
} ply_file;

bool gz_ply_read_header(ply_file *file, io_fault *fault);
void gz_ply_free_header(ply_file *file);

/* Triangle strips, one behind another in a list of corners; -1 ends one. */
typedef struct ply_strip {
  uint32_t corners[3]; /* the latest */
  uint64_t count;      /* in the strip */
} ply_strip;

/* Takes the next corner; true: it makes a triangle, which faces as the first of its strip does. */
static inline bool ply_strip_take(ply_strip *strip, int64_t corner, uint32_t triangle[3]) {
  if (corner < 0) {
    strip->count = 0;
    return false;
  }
  strip->corners[0] = strip->corners[1];
  strip->corners[1] = strip->corners[2];
  strip->corners[2] = (uint32_t)corner;
  if (++strip->count < 3) return false;
  const bool odd = strip->count % 2 == 0;
  triangle[0] = strip->corners[odd ? 1 : 0];
  triangle[1] = strip->corners[odd ? 0 : 1];
  triangle[2] = strip->corners[2];
  return true;
}

bool gz_ply_read_ascii(const ply_file *file, io_fault *fault);
bool gz_ply_read_binary(const ply_file *file, io_fault *fault);

/* Where a byte of the text is in the file. */
static inline uint64_t ply_place(const ply_file *file, const char *p) {
  return file->text_at + (uint64_t)(p - file->text);
}

/* Where the watched properties of a row are. */
typedef struct row_layout {
  uint64_t size;
  uint64_t offset[3];
  uint64_t list_count; /* of the list that is watched; its items begin at offset[0] */
} row_layout;

/* Lays out row number `row` of a binary file, which begins at `p`. */
bool gz_ply_lay_out(const ply_file *file, const ply_element *element, const char *p, uint64_t row, row_layout *layout,
                    io_fault *fault);

/* The least size of a row, and whether all rows have that size. */
uint64_t gz_ply_row_size(const ply_file *file, const ply_element *element, bool *fixed);

/* A vertex, or the triangles of a face, of a row at `p` that is laid out so. */
bool gz_ply_take_vertex(const ply_file *file, const ply_element *element, const char *p, const row_layout *layout,
                        uint64_t row, double *v, io_fault *fault);
bool gz_ply_take_face(const ply_file *file, const ply_element *element, const char *p, const row_layout *layout,
                      uint64_t row, uint32_t *triangles, io_fault *fault);

/* The element's name for messages. */
gz_quoted gz_ply_name(const ply_element *element);

#endif
