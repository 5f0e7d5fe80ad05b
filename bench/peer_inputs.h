/* bench/peer_inputs.h: the meshes and poses of a contest, as files that peers read. */
#ifndef BENCH_PEER_INPUTS_H
#define BENCH_PEER_INPUTS_H

#include "contest.h"
#include "poses.h"

/* The paths, and the lines that tell a peer to read them. */
typedef struct peer_inputs {
  char *path[3], *line[4];
  int count;
} peer_inputs;

/* Writes mesh a, b unless it is NULL, and poses unless they are NULL, into the work folder; nothing without peers. */
peer_inputs peer_inputs_write(const bench *b, const model *x, const model *y, const pose_list *poses);
/* And points, three doubles each. */
void peer_inputs_points(peer_inputs *in, const bench *b, const double *points, uint32_t count);
void peer_inputs_remove(peer_inputs *in);

/* Adds the peers that offer `task` (contest_peers). */
void peer_inputs_join(contest *c, const char *task, bool no_hash, const peer_inputs *in);

#endif
