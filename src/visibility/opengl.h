/* opengl.h: the inside of the OpenGL device; private to visibility.
 *
 * Pixels are kept in buffers, pages, which shaders change as images by atomic operations; nothing is attached to the
 * framebuffer, which only makes fragments. So pictures need not lie side by side in it: a picture's slot in the
 * framebuffer spreads the work, and its base in the page is where its pixels are.
 */
#ifndef GRAZE_SRC_VISIBILITY_OPENGL_H
#define GRAZE_SRC_VISIBILITY_OPENGL_H

#include "base/memory.h"
#include "gl/buffer.h"
#include "gl/context.h"
#include "gl/target.h"
#include "visibility/device.h"

enum { PIXEL_WORDS = 4 }; /* one is not used, so that a pixel is a texel */

/* What differs in tests. Zero: as usual. */
typedef struct visibility_opengl_options {
  uint32_t page_pixels; /* at most so many in a page */
  uint32_t round;       /* entries that are visited at once */
  uint32_t small;       /* pixels of a rectangle that is not left to the rasteriser */
  const char *prelude;  /* stands behind the text of the bounds in all shaders */
} visibility_opengl_options;

/* As gz_visibility_opengl_create. */
graze_status gz_visibility_opengl_create_with(graze_context *context, const visibility_opengl_options *options,
                                              visibility_device **device, char *reason, size_t size);

typedef struct opengl_picture { /* as shaders read it */
  float low[3];
  uint32_t axis;
  float scale[3];
  uint32_t width, height, base, slot_x, slot_y;
} opengl_picture;

typedef struct opengl_entry { /* as shaders read it */
  uint32_t triangle, picture, place, unused;
} opengl_entry;

typedef struct opengl_command { /* as glDrawArraysIndirect reads it */
  uint32_t count, instances, first, base;
} opengl_command;

/* What is done at pixels: a program that computes, for triangles of few pixels, and one that draws. */
typedef struct opengl_visit {
  GLuint small, large;
} opengl_visit;

typedef struct opengl_programs {
  opengl_visit put, test, behind; /* behind: marks what is not before what is there */
  GLuint centers_put, centers_test;
} opengl_programs;

/* A buffer of pixels, as words that are changed and as texels that are read. */
typedef struct opengl_page {
  gl_texels words;
  GLuint texels;
} opengl_page;

/* Pictures, and the pages that hold their pixels. */
typedef struct opengl_set {
  buffer pictures, page_of; /* opengl_picture and uint32_t for each picture */
  gl_texels texels;         /* of the pictures */
  opengl_page *pages;
  uint32_t page_count, pages_used;
} opengl_set;

typedef struct opengl_device {
  visibility_device device;
  graze_context *owner;
  visibility_opengl_options options;
  gl_context *context;
  const gl_functions *gl;
  opengl_programs programs;
  GLuint array;                      /* of vertices: none have attributes */
  gl_target bare, centers;           /* for fragments; for depth at the centers of pixels */
  gl_texels corners, entries, order; /* as in shaders/entries.glsl */
  gl_stream commands, flags;
  opengl_set kept, single;              /* the pictures of begin; that of a sequence */
  uint32_t largest_side, largest_array; /* pixels, texels */
  uint32_t page_pixels;
  buffer batch, regions, words; /* opengl_entry; opengl_command; flags and pixels that are read */
  uint32_t batch_count, region_count, round, small;
  float error; /* of corners */
  GLuint *query_names;
  uint32_t query_count;
  uint64_t queries; /* asked so far */
} opengl_device;

/* Makes the context current; all that draws is between these two. The end gives `status`, or that of the first failure
 * of the driver since. */
graze_status gz_opengl_begin(opengl_device *d);
graze_status gz_opengl_end(opengl_device *d, graze_status status);

/* Sends the pictures, each with a place in a page of the set, and clears the pages. */
graze_status gz_opengl_make_pictures(opengl_device *d, opengl_set *set, const visibility_picture *pictures,
                                     uint32_t count);
void gz_opengl_use_page(opengl_device *d, const opengl_set *set, uint32_t page);

/* Room for so many entries and regions in a batch. Then entries are appended, the list's triangles of a draw, and
 * regions end where the entries do. */
graze_status gz_opengl_reserve(opengl_device *d, uint64_t entries, uint64_t regions);
void gz_opengl_append(opengl_device *d, const visibility_draw *draw, const uint32_t *list);
void gz_opengl_end_region(opengl_device *d);

/* Sends the batch for use with pictures of the set; visits the pixels of a region's entries. */
void gz_opengl_send(opengl_device *d, const opengl_set *set);
void gz_opengl_visit(opengl_device *d, const opengl_visit *visit, uint32_t region);

/* Flags on the device, cleared; and read. */
void gz_opengl_clear_flags(opengl_device *d, uint32_t count);
graze_status gz_opengl_read_flags(opengl_device *d, uint32_t count, uint8_t *flags);

/* ---- opengl_programs.c ---- */

bool gz_opengl_programs_create(opengl_device *d, gl_message *message);
void gz_opengl_programs_destroy(opengl_device *d);

/* ---- opengl_sequence.c ---- */

graze_status gz_opengl_sequence(visibility_device *device, const visibility_picture *picture, visibility_rule rule,
                                const visibility_step *steps, uint32_t count, const uint32_t *list, uint32_t list_count,
                                uint8_t *flags);
graze_status gz_opengl_centers(visibility_device *device, const visibility_picture *picture, const uint32_t *list,
                               uint32_t count, float *depth);

#endif
