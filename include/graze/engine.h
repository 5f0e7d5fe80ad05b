/* graze/engine.h: how an engine takes stages of the work over from the processor. For those who write or choose
 * engines; graze/gpu.h has one.
 *
 * The processor defines every answer. An engine gives the same bytes or none: what it returns with another status than
 * OK, the processor does as if there were no engine.
 */
#ifndef GRAZE_ENGINE_H
#define GRAZE_ENGINE_H

#include "graze/collide.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum graze_stage {
  GRAZE_STAGE_TRITRI,  /* graze_tritri_batch */
  GRAZE_STAGE_COLLIDE, /* graze_collide_meshes, tiers T0 and T1; also for graze_relate_meshes and scenes */
  GRAZE_STAGE_SELF,    /* graze_collide_self */
  GRAZE_STAGES
} graze_stage;

/* What an engine offers. Calls come from several threads; between a `take` that gave true and `give` from one. */
typedef struct graze_engine {
  void *user;
  /* Whether the engine wants a stage of so much work (pairs of triangles; triangles of a and of b, or of the mesh and
   * 0): the calling thread then has it to itself. */
  bool (*take)(void *user, graze_stage stage, uint64_t a, uint64_t b);
  void (*give)(void *user);
  /* As the calls that the stages are named for; what was asked is known to be in order. `find` is ALL or COUNT: which
   * pair is found first is to be the same for all, so that ANY is the processor's. Lists are read before `give`. */
  graze_status (*tritri)(void *user, uint64_t count, const double *const a[9], const double *const b[9],
                         graze_tritri *results);
  graze_status (*collide)(void *user, const graze_mesh *a, const graze_pose *pose_a, const graze_mesh *b,
                          const graze_pose *pose_b, graze_find find, graze_collide_result *result);
  graze_status (*self)(void *user, const graze_mesh *mesh, graze_find find, graze_self_result *result);
  /* The mesh is about to change or to go: what is kept of it is worth nothing. Not between take and give. */
  void (*forget)(void *user, const graze_mesh *mesh);
} graze_engine;

/* Gives the context an engine, which is copied; NULL takes it away. Nothing may be at work with the context.
 * The engine is asked about meshes of this context, and of those that share its engine. Errors: ARGUMENT. */
GRAZE_API graze_status graze_context_set_engine(graze_context *context, const graze_engine *engine);

/* `context` has the engine of `from` from now on, whatever that is at a time; `from` outlives it. For meshes that are
 * made with one context and asked about with another. To be called before anything is made with `context`, and not
 * again. Errors: ARGUMENT. */
GRAZE_API graze_status graze_context_share_engine(graze_context *context, const graze_context *from);

#ifdef __cplusplus
}
#endif
#endif
