/* Places along a curve through a grid of 1024 cells an axis: G. M. Morton, 1966. */
#ifndef GRAZE_SRC_BASE_MORTON_H
#define GRAZE_SRC_BASE_MORTON_H

#include <stdint.h>

#if defined(__BMI2__)
#include <immintrin.h>
#endif

/* Spreads ten bits to every third place. */
static inline uint32_t morton_spread(uint32_t x) {
#if defined(__BMI2__)
  return _pdep_u32(x, 0x09249249u);
#else
  x = (x | (x << 16)) & 0x030000FFu;
  x = (x | (x << 8)) & 0x0300F00Fu;
  x = (x | (x << 4)) & 0x030C30C3u;
  return (x | (x << 2)) & 0x09249249u;
#endif
}

/* Of a cell; coordinates below 1024. */
static inline uint32_t morton_code(uint32_t x, uint32_t y, uint32_t z) {
  return morton_spread(x) | morton_spread(y) << 1 | morton_spread(z) << 2;
}

#endif
