/* Points along a curve through the box of them all, so that each is near the one before. */
#ifndef GRAZE_SRC_NARROW_CURVE_H
#define GRAZE_SRC_NARROW_CURVE_H

#include <stddef.h>
#include <stdint.h>

/* The lower halves of keys[0..count) become the points' numbers in that order. Three finite doubles a point, `stride`
 * bytes from one to the next; `scratch` holds `count` keys. */
void gz_curve_order(const void *points, size_t stride, uint32_t count, uint64_t *keys, uint64_t *scratch);

#endif
