/* Chooses the builder. */
#include "mesh/build.h"

#include "base/cpu.h"

graze_status gz_mesh_build_tree(const graze_mesh *mesh, tree_node **nodes, uint32_t *count, size_t *bytes) {
#if defined(__x86_64__)
  if (gz_cpu_best() >= CPU_AVX2) return gz_build_tree_avx2(mesh, nodes, count, bytes);
#endif
  return gz_build_tree_base(mesh, nodes, count, bytes);
}
