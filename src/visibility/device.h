/* visibility/device.h: what draws for the methods of culling.
 *
 * A device draws triangles into pictures that keep, for every pixel, a bound of the depths of all triangles that meet
 * it, and holds triangles against them. What a triangle is at a pixel is defined by one text, bounds.glsl: devices give
 * the same bytes. Results do not depend on the order of triangles, nor on threads.
 *
 * A device serves one thread at a time, belongs to the context that it was made with, and takes memory from it. Errors
 * of all calls: MEMORY, and DEVICE when a driver fails; they are kept and logged by the context. After an error
 * pictures hold nothing, and flags mean nothing.
 */
#ifndef GRAZE_SRC_VISIBILITY_DEVICE_H
#define GRAZE_SRC_VISIBILITY_DEVICE_H

#include "graze/base.h"

/* Triangles as methods have them: nine floats each, relative to a point near the middle of the scene; each coordinate
 * is within `error` of the posed one (tier T1). Triangles with numbers that are not finite, or become too large in a
 * picture, meet every pixel at every depth. */
typedef struct visibility_triangles {
  const float *corners;
  uint32_t count;
  float error;
} visibility_triangles;

/* An orthographic picture along `axis` w; u = (w + 1) % 3 goes right, v = (w + 2) % 3 up. The corner p is at
 *   x = (p_u - low_u) scale_u,  y = (p_v - low_v) scale_v,  depth z = (p_w - low_w) scale_w
 * in pixels and in shares of the depth range. `low` and `scale` are by axes of the world, and are exact: they define
 * the picture; scales are positive. What is outside of [0, width] x [0, height] is not drawn; depth may be outside of
 * [0, 1]. Sides are from 1 to VISIBILITY_SIDE. */
typedef struct visibility_picture {
  uint32_t axis, width, height;
  float low[3], scale[3];
} visibility_picture;

enum { VISIBILITY_SIDE = 16384 };

/* Into or against a picture: triangles list[first] .. list[first + count - 1] of the call. Each draw has entries of its
 * own; one with count 0 does nothing. */
typedef struct visibility_draw {
  uint32_t picture, first, count;
} visibility_draw;

/* What counts as a pixel's share of a triangle: its depth at the center, by the rule of the reference device or of the
 * hardware, with errors of all kinds; or bounds that hold it over the whole closed pixel. */
typedef enum visibility_rule { VISIBILITY_CENTERS, VISIBILITY_BOUNDS } visibility_rule;

/* First `test`, then `put`; `picture` is not used. The same entries of the list may be tested and put. */
typedef struct visibility_step {
  visibility_draw test, put;
} visibility_step;

typedef struct visibility_device visibility_device;
struct visibility_device {
  char name[128]; /* "reference", or "opengl: llvmpipe (...)" */

  /* The triangles of all calls that follow. `corners` is copied or kept: it stays as it is until the next load. */
  graze_status (*load)(visibility_device *device, const visibility_triangles *triangles);

  /* Makes these pictures, empty, in place of earlier ones. */
  graze_status (*begin)(visibility_device *device, const visibility_picture *pictures, uint32_t count);

  /* Every pixel that a triangle meets gets lo = min, hi = max, slices |= of the triangle's bounds there. */
  graze_status (*put)(visibility_device *device, const visibility_draw *draws, uint32_t count, const uint32_t *list,
                      uint32_t list_count);

  /* flags[i] = 1 where triangle list[i] meets a pixel whose interval and slices its own overlap, closed; else 0. */
  graze_status (*test)(visibility_device *device, const visibility_draw *draws, uint32_t count, const uint32_t *list,
                       uint32_t list_count, uint8_t *flags);

  /* In one picture, empty at first and apart from those of begin, step by step: the triangles of `test` are held
   * against what was put by earlier steps, then those of `put` are put. flags[i] = 1 where list[i] was tested and is
   * hidden somewhere; else 0. CENTERS: pixel centers and a depth buffer that keeps the least; hidden is a triangle of
   * which a fragment is not strictly before what is there. BOUNDS: a buffer of the least lo; hidden is a triangle whose
   * hi at a pixel that it meets is not strictly before. Where nothing is, nothing is hidden. */
  graze_status (*sequence)(visibility_device *device, const visibility_picture *picture, visibility_rule rule,
                           const visibility_step *steps, uint32_t count, const uint32_t *list, uint32_t list_count,
                           uint8_t *flags);

  /* lo and hi of picture `picture` of begin, width * height each, rows upwards; +INFINITY and -INFINITY where nothing
   * is. For pictures of passes and for tests. */
  graze_status (*read)(visibility_device *device, uint32_t picture, float *lo, float *hi);

  /* The depth at pixel centers of these triangles alone, by the rule CENTERS: width * height, rows upwards; +INFINITY
   * where none is. For pictures of passes. */
  graze_status (*centers)(visibility_device *device, const visibility_picture *picture, const uint32_t *list,
                          uint32_t count, float *depth);

  /* Questions that the device has answered since it was made: one for each step of a sequence that tests something. */
  uint64_t (*queries)(const visibility_device *device);

  /* NULL is not allowed. */
  void (*destroy)(visibility_device *device);
};

/* The processor draws, with all threads of the context. Errors: MEMORY. */
graze_status gz_visibility_reference_create(graze_context *context, visibility_device **device);

/* Errors: UNSUPPORTED with the reason, of up to `size` bytes: there is no driver, it is too old, or its bits differ
 * from those of bounds.glsl in C; MEMORY. */
graze_status gz_visibility_opengl_create(graze_context *context, visibility_device **device, char *reason, size_t size);

#endif
