/* tool/mpi/boxes.h: the boxes of this rank, from a file or made. */
#ifndef TOOL_MPI_BOXES_H
#define TOOL_MPI_BOXES_H

#include "mpi/job.h"
#include "scenes.h"

typedef struct rank_boxes {
  uint64_t total; /* of all ranks */
  uint64_t first; /* number of the first one that is here */
  graze_mpi_boxes boxes;
  void *memory[3]; /* boxes, ids, groups: free() them */
} rank_boxes;

/* Reads a file, .gzb in slices, text by rank 0. A fault ends all ranks, with the words of `graze pairs`. */
void read_rank_boxes(const job *j, const char *path, rank_boxes *boxes);

/* Makes this rank's part of what `graze make boxes` makes. */
void make_rank_boxes(const job *j, scenes_box_kind kind, uint32_t count, uint64_t seed, rank_boxes *boxes);

/* Reads a group for each box, uint32, little-endian. */
void read_rank_groups(const job *j, const char *path, rank_boxes *boxes);

void rank_boxes_free(rank_boxes *boxes);

#endif
