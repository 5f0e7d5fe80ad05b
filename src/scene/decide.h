/* Deciding many candidates: an exact query for each. */
#ifndef GRAZE_SRC_SCENE_DECIDE_H
#define GRAZE_SRC_SCENE_DECIDE_H

#include "graze/engine.h"
#include "scene/scene.h"

typedef struct deciding {
  graze_scene *scene;    /* prepared */
  const uint64_t *pairs; /* pair_key of the ranks of each candidate, ascending */
  uint64_t count;
  graze_find find;
  graze_relate_options relate;
  bool outlines;
  graze_rounding_function roundings; /* with `outlines`; NULL: none */
  void *roundings_user;
  const double *clearances; /* of the candidates; NULL: none */
  graze_progress_function progress;
  void *progress_user;

  const graze_cull_triangles
      *listed; /* cull.c: of the candidates, which triangles to decide (both lists, or none); NULL: all */

  outcome *outcomes; /* out: one for each candidate; what they list is in the scene's `all` */
  graze_work work;   /* out: of all together */

  /* inside */
  const uint64_t *schedule;
  uint32_t first[PARALLEL_PIECES + 1]; /* tasks of a batch, as ranges of the schedule */
} deciding;

/* Whether the values are known ones. Errors: ARGUMENT, in the words of `call`. */
graze_status gz_decide_check_question(const graze_context *context, const char *call, graze_exactness exactness,
                                      graze_open_rule open);

/* What the pair with this key costs, about: the triangles of its objects. */
uint64_t gz_decide_weight(const graze_scene *scene, uint64_t key);

/* cull.c: has the context's engine mark the candidates whose surfaces are apart, and tell which triangles of the others
 * may meet. Errors: MEMORY. */
graze_status gz_scene_cull(deciding *d);

/* Sees to it that there are workers; their queries come when first needed. Errors: MEMORY. */
graze_status gz_decide_workers(graze_scene *scene);

/* What the workers have. */
void gz_decide_release(graze_scene *scene);

/* Decides all. On GRAZE_CANCELLED some outcomes are not finished. Errors: those of the queries, MEMORY, LIMIT; the
 * outcomes are then of no use. */
graze_status gz_scene_decide(deciding *d);

#endif
