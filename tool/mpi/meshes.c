/* The triangles of a rank; see meshes.h. Of a file that is read in slices the ranks have vertices and triangles as
 * these come in the file; dealing.c brings a rank the corners of its triangles. */
#include "mpi/meshes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "mpi/dealing.h"
#include "mpi/files.h"

enum { TAG = 4, PART = 1 << 16 /* triangles a message */ };

static void hold(const job *j, uint64_t total, bool corners, rank_mesh *mesh) {
  const uint64_t first = job_part(total, j, j->rank), own = job_part(total, j, j->rank + 1) - first;
  mesh->total = total;
  if (corners) mesh->corners = job_alloc((size_t)own, 9 * sizeof *mesh->corners);
  mesh->numbers = job_alloc((size_t)own, sizeof *mesh->numbers);
  for (uint64_t i = 0; i < own; i++) mesh->numbers[i] = first + i;
  mesh->triangles = (graze_mpi_triangles){mesh->corners, mesh->numbers, (uint32_t)own};
}

/* A fault with the file's name before it, unless that is there. */
static void agree_on(const job *j, const char *path, graze_status status) {
  char words[600] = "";
  if (status != GRAZE_OK) {
    const char *message = graze_last_error(j->context)->message;
    const bool named = strncmp(message, path, strlen(path)) == 0;
    snprintf(words, sizeof words, "%s%s%s", named ? "" : path, named ? "" : ": ", message);
  }
  job_agree(j, status != GRAZE_OK ? words : NULL, false);
}

/* ---- by rank 0 ---- */

/* The mesh, and what `graze self' finds wrong in it, when it reads and when it bakes. */
static graze_status read_whole(const job *j, const char *path, unsigned reading, graze_geometry *geometry) {
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh_facts facts;
  graze_status status = graze_read_geometry(j->context, path, GRAZE_FORMAT_AUTO, reading, geometry);
  if (status != GRAZE_OK) return status;
  def.vertices = geometry->vertices;
  def.precision = GRAZE_DOUBLE;
  def.vertex_count = geometry->vertex_count;
  def.indices = geometry->indices;
  def.triangle_count = geometry->triangle_count;
  def.no_adjacency = true;
  return graze_mesh_measure(j->context, &def, &facts);
}

static void corners_of(const graze_geometry *g, uint64_t first, uint64_t count, double *corners) {
  for (uint64_t t = first; t < first + count; t++) {
    for (int c = 0; c < 3; c++, corners += 3)
      memcpy(corners, g->vertices + 3 * (size_t)g->indices[3 * t + (uint64_t)c], 3 * sizeof *corners);
  }
}

static void hand_out(const job *j, const graze_geometry *g, uint64_t count) {
  double *part = job_alloc((size_t)9 * PART, sizeof *part);
  for (int r = 1; r < j->ranks; r++) {
    const uint64_t end = job_part(count, j, r + 1);
    for (uint64_t at = job_part(count, j, r); at < end; at += PART) {
      const uint64_t size = end - at < PART ? end - at : PART;
      corners_of(g, at, size, part);
      MPI_Send(part, (int)(9 * size), MPI_DOUBLE, r, TAG, MPI_COMM_WORLD);
    }
  }
  free(part);
}

static void take_part(double *corners, uint64_t count) {
  for (uint64_t at = 0; at < count; at += PART) {
    const uint64_t size = count - at < PART ? count - at : PART;
    MPI_Recv(corners + 9 * at, (int)(9 * size), MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void read_on_one(const job *j, const char *path, unsigned reading, rank_mesh *mesh) {
  graze_geometry geometry = {0};
  agree_on(j, path, j->rank == 0 ? read_whole(j, path, reading, &geometry) : GRAZE_OK);
  uint64_t count = geometry.triangle_count;
  MPI_Bcast(&count, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  hold(j, count, true, mesh);
  if (j->rank == 0) {
    corners_of(&geometry, 0, mesh->triangles.count, mesh->corners);
    hand_out(j, &geometry, count);
    graze_geometry_free(&geometry);
  } else {
    take_part(mesh->corners, mesh->triangles.count);
  }
}

/* ---- in slices ---- */

/* What all ranks have found in their slices, as rank 0 tells it. */
static void judge(const job *j, const char *path, const graze_slice *slice) {
  const int size = (int)sizeof slice->report;
  graze_slice_report *all = j->rank == 0 ? job_alloc((size_t)j->ranks, sizeof *all) : NULL;
  MPI_Gather(&slice->report, size, MPI_BYTE, all, size, MPI_BYTE, 0, MPI_COMM_WORLD);
  agree_on(j, path, j->rank == 0 ? graze_slice_judge(j->context, path, all, (uint32_t)j->ranks) : GRAZE_OK);
  free(all);
}

/* False: the file is not read so, and nothing is held. */
static bool read_slices(const job *j, const char *path, unsigned reading, rank_mesh *mesh) {
  enum { COUNTS = sizeof(graze_slice_counts) / sizeof(uint64_t) };
  graze_slice *slice = &mesh->slice;
  graze_slice_counts *all = job_alloc((size_t)j->ranks, sizeof *all);
  job_must(j, graze_read_slice(j->context, path, reading, (uint32_t)j->rank, (uint32_t)j->ranks, slice));
  MPI_Allgather(&slice->own, COUNTS, MPI_UINT64_T, all, COUNTS, MPI_UINT64_T, MPI_COMM_WORLD);
  const bool sliced = job_all(slice->own.sliced != 0);
  if (sliced) {
    job_must(j, graze_slice_place(j->context, slice, all));
    judge(j, path, slice);
    hold(j, slice->all_triangles, slice->indices != NULL, mesh);
    if (slice->indices != NULL)
      deal_corners(j, slice, all, mesh->triangles.count, mesh->corners);
    else
      mesh->triangles.corners = slice->vertices;
  }
  if (!sliced || slice->indices != NULL) graze_slice_free(slice);
  free(all);
  return sliced;
}

void read_rank_mesh(const job *j, const char *path, unsigned reading, rank_mesh *mesh) {
  *mesh = (rank_mesh){0};
  files_compare(j, path);
  if (j->ranks == 1 || !read_slices(j, path, reading, mesh)) {
    read_on_one(j, path, reading, mesh);
    if (j->rank == 0 && j->ranks > 1)
      note("%s: read by rank 0 alone; binary STL and PLY, GLB and OBJ are read by all", path);
  }
}

void rank_mesh_free(rank_mesh *mesh) {
  graze_slice_free(&mesh->slice);
  free(mesh->corners);
  free(mesh->numbers);
  *mesh = (rank_mesh){0};
}
