/* Fans of triangles proved to meet in nothing but their shared corners and edges: nearly all candidates of a clean mesh
 * against itself are settled by them without a look at coordinates. */
#ifndef GRAZE_SRC_NARROW_FANS_H
#define GRAZE_SRC_NARROW_FANS_H

#include "base/cpu.h"
#include "base/memory.h"
#include "mesh/mesh.h"

/* What a vertex has seen of its triangles, in one word. Bits 0 to 2: seen along axis k, all of them turn to the left
 * for certain; bits 3 to 5: to the right. From bit 8 on four bits each: number of triangles, and how many of them
 * cross from below the vertex (or level with it) to above on axis 0, 1 and 2. */
enum { FAN_SIGNS = 0x3f, FAN_COUNT = 8, FAN_CROSSINGS = 16, FAN_ROOM = 8 };

/* The corners behind and before the vertex in each of its triangles. */
typedef struct fan_ring {
  _Alignas(64) uint32_t next[FAN_ROOM];
  uint32_t previous[FAN_ROOM];
} fan_ring;

/* Vertices [first, end): one task's share. */
typedef struct fan_slice {
  const graze_mesh *mesh;
  uint32_t first, end;
  uint32_t *seen;  /* by vertex */
  fan_ring *rings; /* by vertex */
  uint8_t *proved; /* by vertex: 1 when its fan is proved */
} fan_slice;

typedef void fan_judge_function(const fan_slice *slice);
CPU_KERNELS(fan_judge_function, gz_fan_judge);

/* Names of the corners of a bottom node's triangles: the vertex when its fan is proved, else a number that no other
 * corner has. */
typedef struct corner_names {
  uint32_t name[3][NODE_WIDTH];
} corner_names;

/* Of the set bits 8 j + i, those whose triangles (place i of a, place j of b) have a name in common. */
typedef uint64_t fan_share_function(const corner_names *a, const corner_names *b, uint64_t mask);
CPU_KERNELS(fan_share_function, gz_fan_share);
fan_share_function *gz_fan_share_best(void);

/* Corner names of all bottom nodes, by node, made in `memory`; *names is NULL when the mesh is not of the kind that
 * gains from it. False: no memory. */
bool gz_fans_find(const graze_context *context, const graze_mesh *mesh, buffer *memory, const corner_names **names);

#endif
