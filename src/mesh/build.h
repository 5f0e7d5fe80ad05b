/* The builder for one instruction set; see gz_mesh_build_tree in mesh.h. */
#ifndef GRAZE_SRC_MESH_BUILD_H
#define GRAZE_SRC_MESH_BUILD_H

#include "mesh/mesh.h"

typedef graze_status build_function(const graze_mesh *mesh, tree_node **nodes, uint32_t *count, size_t *bytes);
build_function gz_build_tree_base, gz_build_tree_avx2;

#endif
