/* Functions of a program's own, with names that libraries of geometry like to use. Linked with an example: none of them
 * may ever be called by the library. */
#include <stdlib.h>

#define OWN(name)   \
  void name(void);  \
  void name(void) { \
    abort();        \
  }

OWN(orient2d)
OWN(orient3d)
OWN(report)
OWN(report_memory)
OWN(sort_keys)
OWN(locate)
OWN(relate)
OWN(parallel_for)
OWN(parallel_threads)
OWN(memory_alloc)
OWN(memory_release)
OWN(buffer_reserve)
OWN(buffer_release)
OWN(hash_bytes)
OWN(cpu_best)
OWN(fp_enter)
OWN(fp_leave)
OWN(file_read)
OWN(file_write)
OWN(tree_insert)
OWN(tree_build)
OWN(tree_query)
OWN(tree_remove)
OWN(grid_build)
OWN(grid_pairs)
OWN(sweep_run)
OWN(pose_box)
OWN(big_add)
OWN(big_mul)
OWN(mesh_hash)
OWN(mesh_build_tree)
OWN(traverse_open)
OWN(tritri_decide)
OWN(tritri_scalar)
OWN(solid_create)
OWN(object_box)
OWN(put_json)
OWN(worker_push)
OWN(candidates_find)
