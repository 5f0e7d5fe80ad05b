#include "narrow/curve.h"

#include "base/morton.h"
#include "base/sort.h"
#include "graze/math.h"

static const double *point_at(const void *points, size_t stride, uint32_t i) {
  return (const double *)(const void *)((const char *)points + (size_t)i * stride);
}

void gz_curve_order(const void *points, size_t stride, uint32_t count, uint64_t *keys, uint64_t *scratch) {
  graze_box box = graze_box_empty();
  for (uint32_t i = 0; i < count; i++) graze_box_add_point(&box, point_at(points, stride, i));
  for (uint32_t i = 0; i < count; i++) {
    const double *p = point_at(points, stride, i);
    uint32_t cell[3];
    for (int k = 0; k < 3; k++) {
      double share = (0.5 * p[k] - 0.5 * box.min[k]) / (0.5 * box.max[k] - 0.5 * box.min[k]);
      cell[k] = share > 0 ? (uint32_t)(share * 1023) : 0;
    }
    keys[i] = (uint64_t)morton_code(cell[0], cell[1], cell[2]) << 32 | i;
  }
  gz_sort_keys(keys, scratch, count);
}
