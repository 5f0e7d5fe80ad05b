/* A point, or a segment, against the eight child boxes of a node.
 *
 * Numbers become floats in the node's frame, off by less than 2^-21 of what takes part, which the map's relative margin
 * covers with room. A segment is held against a box along the axes of the box and their cross products with its own
 * direction: C. Ericson, "Real-Time Collision Detection", 2005, 5.3.3.
 */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "narrow/point_boxes.h"

/* In the node's frame, and by how much each coordinate may be off. */
typedef struct framed {
  float u[3], margin;
} framed;

static inline void turn(const bvh_node *n, const float x[3], float u[3]) {
  const float *a = n->axis;
  for (int k = 0; k < 3; k++) u[k] = (a[3 * k] * x[0] + a[3 * k + 1] * x[1]) + a[3 * k + 2] * x[2];
}

static inline framed into_frame(const bvh_node *n, const double x[3], const mesh_map *map) {
  framed f;
  float way[3];
  for (int k = 0; k < 3; k++) way[k] = (float)(x[k] - (double)n->origin[k]);
  turn(n, way, f.u);
  float distance = fabsf(way[0]) + fabsf(way[1]) + fabsf(way[2]);
  f.margin = map->relative_margin * (n->reach + distance) + map->absolute_margin;
  return f;
}

static inline v8 v8_abs(v8 a) {
  return v8_max(a, -a);
}

/* Sums of squares round by 2^-22 of themselves, and axes of length one to float precision stretch by less than 2^-20:
 * 2^-16 covers both. */
unsigned KERNEL(gz_point_gaps)(const bvh_node *node, const double x[3], const mesh_map *map, float most2,
                               float least2[8]) {
  framed f = into_frame(node, x, map);
  v8 sum = v8_set(0);
  for (int k = 0; k < 3; k++) {
    v8 gap = v8_abs(v8_load(node->center[k]) - v8_set(f.u[k])) - (v8_load(node->half[k]) + v8_set(f.margin));
    gap = v8_max(gap, v8_set(0));
    sum += gap * gap;
  }
  sum *= v8_set(1 - 0x1p-16f);
  memcpy(least2, &sum, sizeof sum);
  return v8_bits(sum <= v8_set(most2)) & ((1u << node->count) - 1);
}

unsigned KERNEL(gz_segment_boxes)(const bvh_node *node, const double middle[3], const double half[3],
                                  const mesh_map *map) {
  framed m = into_frame(node, middle, map);
  const float way[3] = {(float)half[0], (float)half[1], (float)half[2]};
  float h[3], reach[3];
  turn(node, way, h);
  /* What the half way is off by, the margin of its length covers. */
  float margin = m.margin + map->relative_margin * (fabsf(way[0]) + fabsf(way[1]) + fabsf(way[2]));
  v8 d[3], size[3];
  i8 apart = {0};
  for (int k = 0; k < 3; k++) {
    d[k] = v8_abs(v8_load(node->center[k]) - v8_set(m.u[k]));
    size[k] = v8_load(node->half[k]) + v8_set(margin);
    reach[k] = fabsf(h[k]);
    apart |= d[k] > size[k] + v8_set(reach[k]);
    d[k] = v8_load(node->center[k]) - v8_set(m.u[k]);
  }
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    v8 across = v8_abs(v8_set(h[i]) * d[j] - v8_set(h[j]) * d[i]);
    apart |= across > size[i] * v8_set(reach[j] + margin) + size[j] * v8_set(reach[i] + margin) +
                          v8_set(margin * (reach[i] + reach[j]));
  }
  return ~v8_bits(apart) & ((1u << node->count) - 1);
}
