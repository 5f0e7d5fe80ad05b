/* visibility/draw.h: triangles with bounds into pictures in memory, by kernels for each instruction set, all with the
 * same bytes. */
#ifndef GRAZE_SRC_VISIBILITY_DRAW_H
#define GRAZE_SRC_VISIBILITY_DRAW_H

#include "base/cpu.h"
#include "visibility/device.h"

/* Pixels of one picture: rows upwards. A sequence has `lo` only. */
typedef struct visibility_surface {
  visibility_picture picture;
  float *lo, *hi;
  uint32_t *slices;
} visibility_surface;

/* What is done at the pixels that a triangle meets. Tests raise the triangle's flag where its interval and slices
 * overlap what is there, or, LEAST, where its hi is not before. */
typedef enum visibility_action {
  VISIBILITY_PUT,
  VISIBILITY_TEST,
  VISIBILITY_PUT_LEAST,
  VISIBILITY_TEST_LEAST
} visibility_action;

/* Triangles list[0] .. list[count - 1], in the rows bottom <= y < top of the surface; flags[i] is that of list[i], and
 * those that are raised are not tested again. NULL for what puts. */
typedef void visibility_draw_kernel(const visibility_triangles *triangles, const visibility_surface *surface,
                                    uint32_t bottom, uint32_t top, visibility_action action, const uint32_t *list,
                                    uint32_t count, uint8_t *flags);
CPU_KERNELS(visibility_draw_kernel, gz_visibility_draw);

/* Flags are raised by all threads that have rows of the picture. */
static inline void visibility_raise(uint8_t *flag) {
  __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
}

static inline bool visibility_is_raised(const uint8_t *flag) {
  return __atomic_load_n(flag, __ATOMIC_RELAXED) != 0;
}

#endif
