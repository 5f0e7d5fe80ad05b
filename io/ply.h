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

/* The element's name for messages. */
gz_quoted gz_ply_name(const ply_element *element);

#endif
