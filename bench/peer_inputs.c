/* bench/peer_inputs.c: peers get the same float coordinates and the same matrices as the library. */
#include "peer_inputs.h"

#include <stdio.h>
#include <stdlib.h>

static void add(peer_inputs *in, const bench *b, const char *file, const char *command) {
  in->path[in->count] = text_of("%s/%s", b->work_folder, file);
  in->line[in->count] = text_of("%s %s", command, in->path[in->count]);
  in->count++;
}

peer_inputs peer_inputs_write(const bench *b, const model *x, const model *y, const pose_list *poses) {
  peer_inputs in = {0};
  if (!b->peers) return in;
  add(&in, b, "a.mesh", "load a");
  model_write(x, in.path[0]);
  if (y) {
    add(&in, b, "b.mesh", "load b");
    model_write(y, in.path[1]);
  }
  if (poses) {
    add(&in, b, "poses.bin", "poses");
    poses_write(poses, in.path[in.count - 1]);
  }
  return in;
}

void peer_inputs_points(peer_inputs *in, const bench *b, const double *points, uint32_t count) {
  const uint32_t counts[2] = {count, 0};
  if (!b->peers) return;
  add(in, b, "points.bin", "points");
  const char *path = in->path[in->count - 1];
  FILE *f = fopen(path, "wb");
  if (!f) fail("%s: could not be opened", path);
  bool good = fwrite(BENCH_POINT_MAGIC, 1, 8, f) == 8 && fwrite(counts, 4, 2, f) == 2 &&
              fwrite(points, 3 * sizeof *points, count, f) == count;
  if (fclose(f) || !good) fail("%s: could not be written", path);
}

void peer_inputs_remove(peer_inputs *in) {
  for (int i = 0; i < in->count; i++) {
    remove(in->path[i]);
    free(in->path[i]);
    free(in->line[i]);
  }
}

void peer_inputs_join(contest *c, const char *task, bool no_hash, const peer_inputs *in) {
  contest_peers(c, task, no_hash, (const char *const *)in->line);
}
