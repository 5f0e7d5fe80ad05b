/* Chooses the builder. */
#include "mesh/build.h"

#include "base/cpu.h"

graze_status mesh_build_tree(const graze_mesh *mesh, tree_node **nodes, uint32_t *count, size_t *bytes) {
#if defined(__x86_64__)
  if (cpu_best() >= CPU_AVX2) return build_tree_avx2(mesh, nodes, count, bytes);
#endif
  return build_tree_base(mesh, nodes, count, bytes);
}
