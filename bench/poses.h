/* bench/poses.h: where the second mesh of a pair stands. */
#ifndef BENCH_POSES_H
#define BENCH_POSES_H

#include "models.h"

typedef struct pose_list {
  uint32_t count;
  double matrices[BENCH_ITEMS_MAX][12];
  bool hits[BENCH_ITEMS_MAX]; /* expected answers */
  bool given;                 /* from a pose list whose answers came from elsewhere, not found by this program */
} pose_list;

/* Reads rows `mesh,case,index,qw,qx,qy,qz,tx,ty,tz,hit`. At most `most`; 0 when the file has none. */
pose_list poses_read(const char *path, const char *mesh, const char *kind, uint32_t most);

/* From the given list when it has the mesh, else from the cache in the work folder, else found now: seeded rotations;
 * `deep` overlaps near the centre; `near` is bisected to just free and interlocked; `far` is separate with world boxes
 * overlapping. */
pose_list poses_get(const bench *b, const model *m, const char *kind, uint32_t most);

/* Concentric, rotated at random. */
pose_list poses_concentric(uint32_t count, uint64_t seed);

void poses_write(const pose_list *p, const char *path);

#endif
