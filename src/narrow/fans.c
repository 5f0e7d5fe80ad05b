/* Runs the proofs of fans_kernels.c on all vertices and names the corners of the bottom nodes.
 *
 * Each task takes a slice of the vertices and reads all triangles: no two tasks write to one vertex. Memory: 69 bytes a
 * vertex and 96 a node.
 */
#include "narrow/fans.h"

#include "base/cpu.h"
#include "base/parallel.h"

enum { NODES_LEAST = 1 << 10, VERTICES_LEAST = 1 << 14, AHEAD = 4 };

fan_share_function *gz_fan_share_best(void) {
  return CPU_KERNEL(gz_fan_share);
}

typedef struct finder {
  fan_slice all;
  uint32_t tasks;
  pieces nodes;
  corner_names *names;
} finder;

static void judge_slice(void *argument, uint32_t task) {
  const finder *f = argument;
  fan_slice s = f->all;
  uint64_t vertices = f->all.end;
  s.first = (uint32_t)(vertices * task / f->tasks);
  s.end = (uint32_t)(vertices * (task + 1) / f->tasks);
  CPU_KERNEL(gz_fan_judge)(&s);
}

__attribute__((always_inline)) static inline void prefetch_triangles(const graze_mesh *mesh, const bvh_node *node) {
  for (uint32_t i = 0; node->bottom && i < node->count; i++) {
    __builtin_prefetch(mesh->triangles + 3 * (size_t)node->child[i]);
  }
}

static void name_corners(void *argument, uint32_t index) {
  const finder *f = argument;
  const graze_mesh *mesh = f->all.mesh;
  for (uint64_t n = pieces_begin(&f->nodes, index), end = pieces_end(&f->nodes, index); n < end; n++) {
    const bvh_node *node = &mesh->nodes[n];
    if (n + AHEAD < end) prefetch_triangles(mesh, node + AHEAD);
    if (!node->bottom) continue;
    for (uint32_t i = 0; i < NODE_WIDTH; i++) {
      const uint32_t *corner = mesh->triangles + 3 * (size_t)node->child[i < node->count ? i : 0];
      for (uint32_t c = 0; c < 3; c++) {
        uint32_t unique = 0x80000000u + 24 * (uint32_t)n + 3 * i + c;
        f->names[n].name[c][i] = f->all.proved[corner[c]] ? corner[c] : unique;
      }
    }
  }
}

/* Names need half of all 32-bit numbers for each kind; a soup shares no vertex, and a mesh with hardly more triangles
 * than vertices is no closed surface. */
static bool gains(const graze_mesh *mesh) {
  uint64_t vertices = mesh->header->vertex_count;
  return vertices < 0x80000000u && vertices <= mesh->triangle_count && 24 * (uint64_t)mesh->node_count < 0x80000000u;
}

bool gz_fans_find(const graze_context *context, const graze_mesh *mesh, buffer *memory, const corner_names **names) {
  *names = NULL;
  if (!gains(mesh)) return true;
  size_t vertices = mesh->header->vertex_count, nodes = mesh->node_count;
  size_t bytes = vertices * (sizeof(fan_ring) + sizeof(uint32_t) + 1) + nodes * sizeof(corner_names);
  if (!gz_buffer_reserve(context, memory, bytes, 0)) return false;
  fan_ring *rings = memory->data;
  corner_names *all = (corner_names *)(rings + vertices);
  uint32_t *seen = (uint32_t *)(all + nodes);
  finder f = {.all = {mesh, 0, (uint32_t)vertices, seen, rings, (uint8_t *)(seen + vertices)}, .names = all};
  uint32_t threads = (uint32_t)gz_parallel_threads(context), most = (uint32_t)(vertices / VERTICES_LEAST) + 1;
  f.tasks = threads < most ? threads : most;
  f.nodes = pieces_of(nodes, NODES_LEAST);
  gz_parallel_each(context, f.tasks, judge_slice, &f);
  gz_parallel_each(context, f.nodes.number, name_corners, &f);
  *names = all;
  return true;
}
