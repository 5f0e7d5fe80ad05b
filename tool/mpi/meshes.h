/* tool/mpi/meshes.h: the triangles of this rank, from a mesh file. */
#ifndef TOOL_MPI_MESHES_H
#define TOOL_MPI_MESHES_H

#include "graze/io.h"
#include "mpi/job.h"

typedef struct rank_mesh {
  uint64_t total; /* of all ranks */
  graze_mpi_triangles triangles;
  double *corners; /* of them, if they are no slice's; free() */
  uint64_t *numbers;
  graze_slice slice;
} rank_mesh;

/* Rank r of P gets triangles n r / P to n (r + 1) / P. Binary STL and PLY, GLB and OBJ are read in slices, others by
 * rank 0, which says so. `reading`: GRAZE_READ_STRICT. A fault ends all ranks, with the words of `graze self`. */
void read_rank_mesh(const job *j, const char *path, unsigned reading, rank_mesh *mesh);
void rank_mesh_free(rank_mesh *mesh);

#endif
