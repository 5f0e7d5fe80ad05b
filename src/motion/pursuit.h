/* Two objects on their ways: what the files that find their first meeting share. */
#ifndef GRAZE_SRC_MOTION_PURSUIT_H
#define GRAZE_SRC_MOTION_PURSUIT_H

#include "motion/path.h"
#include "narrow/query.h"

typedef struct pursuit {
  const graze_context *context;
  graze_query *query;
  const graze_mesh *mesh[2];
  motion_path path[2];
  double doubt;      /* by how much distances of posed meshes may be off those on the way */
  double keep;       /* a distance that counts as none: 0, or all but a 2^24th of the separation */
  double least_step; /* a pair of triangles is stuck where it gets no farther than this */
  graze_work work;
  uint64_t budget; /* rigid: looks at pairs of triangles that are left */
} pursuit;

/* An object on its way; its poses are finite, and so are coordinates posed by them. */
typedef struct pursued {
  const graze_mesh *mesh;
  const motion_path *path;
} pursued;

/* graze_motion_meshes with what is known of the distance of the surfaces, posed: `apart` is a lower bound of it at t =
 * 0, or 0, and becomes one at t = 1, or 0. It is looked for up to `ahead` times what they can come nearer. The options
 * are not checked, and the paths are of their model. */
graze_status gz_motion_meshes(graze_query *query, pursued a, pursued b, const graze_motion_options *options,
                              double ahead, double *apart, graze_motion_result *result);

/* Proves of pairs of triangles that they are farther from each other than `keep` from time `from` on, one by one, for
 * as long as it can; the least of the times until which that was, at most `to`. *stuck: there is no way on from there;
 * else it was only long. */
double gz_pairs_free_until(pursuit *p, const graze_triangle_pair *pairs, uint64_t count, double from, double to,
                           bool *stuck);

/* LINEAR: the first time at which one of the pairs meets, if that is before `time`, which it then becomes; exact.
 * False: memory was refused. */
bool gz_pairs_first_time(pursuit *p, const graze_triangle_pair *pairs, uint64_t count, bool *found, double time[2]);

#endif
