/* Which children of two hierarchy nodes may meet. */
#ifndef GRAZE_SRC_NARROW_BOXES_H
#define GRAZE_SRC_NARROW_BOXES_H

#include "base/cpu.h"
#include "mesh/mesh.h"

/* How coordinates of mesh b become coordinates of mesh a, and how far that may be off. */
typedef struct mesh_map {
  double linear[9], shift[3]; /* x_a = linear * x_b + shift */
  float linear_float[9];
  float relative_margin; /* times the sizes that take part in a test */
  float absolute_margin; /* rounding of posed coordinates, in units of mesh a */
  double growth;         /* a unit of mesh a is at least so long in the world */
  bool identity;         /* x_a = x_b */
  bool rigid;            /* linear is orthonormal but for what relative_margin covers: b's axes may separate too */
} mesh_map;

/* Bit 8 j + i is set unless child i of node a (a's mesh) and child j of node b are proved apart. Tests the axes of both
 * frames: boxes of b taken into a's frame and, when the map is rigid, boxes of a taken into b's. The axes that are
 * cross products of edges are left out: G. van den Bergen, "Efficient Collision Detection of Complex Deformable Models
 * using AABB Trees", 1997, found that they rarely separate what the six do not. */
typedef uint64_t boxes_function(const bvh_node *a, const bvh_node *b, const mesh_map *map);
CPU_KERNELS(boxes_function, gz_boxes);

/* The same, for nearness: the bits of pairs of children that may be within the root of `most2` of each other, in units
 * of mesh a; least2[8 j + i] for set bits is a square that their distance is at least the root of. Where the map is
 * rigid the larger of the bounds in both frames. */
typedef uint64_t gaps_function(const bvh_node *a, const bvh_node *b, const mesh_map *map, float most2,
                               float least2[64]);
CPU_KERNELS(gaps_function, gz_box_gaps);

/* How far points are off the straight way between where they are at the start and at the end, at most: `share` of its
 * length and `fixed`. */
typedef struct box_bend {
  float share, fixed;
} box_bend;

/* Two meshes that move nearly straight past each other, seen from either: how b lies relative to a at the start and at
 * the end; whether there is a bound on the ways of points of b in the frame of a, and on those of points of a in the
 * frame of b, where both maps have to be rigid; the bounds, with what has to be kept between them. */
typedef struct passing {
  mesh_map map[2];
  bool known[2];
  box_bend bend[2];
} passing;

/* As gz_boxes, of all of the way: a set bit stands for children that may come near each other on it. */
typedef uint64_t passing_function(const bvh_node *a, const bvh_node *b, const passing *p);
CPU_KERNELS(passing_function, gz_passing_boxes);

/* Bits 8 j + i of the children that both nodes have. */
static inline uint64_t boxes_in_use(const bvh_node *a, const bvh_node *b) {
  uint64_t all = (((uint64_t)1 << a->count) - 1) * 0x0101010101010101u;
  return b->count >= NODE_WIDTH ? all : all & (((uint64_t)1 << (8 * b->count)) - 1);
}

/* The one for this machine. */
boxes_function *gz_boxes_best(void);
gaps_function *gz_box_gaps_best(void);

#endif
