/* graze/engine.h: how an engine takes stages of the work over from the processor. For those who write or choose
 * engines; graze/gpu.h has one.
 *
 * The processor defines every answer. An engine gives the same bytes or none: a stage that it does not have, and a
 * question that it declines, the processor does as if there were no engine. When an engine fails, the processor does
 * it too, and the logger gets a warning.
 */
#ifndef GRAZE_ENGINE_H
#define GRAZE_ENGINE_H

#include "graze/broadphase.h"
#include "graze/collide.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Stages of later versions follow: a number never changes its meaning. */
typedef enum graze_stage {
  GRAZE_STAGE_TRITRI,  /* graze_tritri_batch */
  GRAZE_STAGE_COLLIDE, /* graze_collide_meshes, tiers T0 and T1; also for graze_relate_meshes and scenes */
  GRAZE_STAGE_SELF,    /* graze_collide_self */
  GRAZE_STAGE_POSES,   /* graze_collide_poses, tier T1 */
  GRAZE_STAGE_BOXES,   /* graze_broadphase_find */
  GRAZE_STAGE_SPHERES, /* graze_broadphase_find_spheres and graze_broadphase_count_spheres */
  GRAZE_STAGES
} graze_stage;

/* ---- questions --------------------------------------------------------------------------------------------------- */

/* What a stage is asked, and then what it answers, as the calls do for which the stages are named. Pointers are not
 * NULL, numbers of choices are known ones; but coordinates of pairs of triangles, poses_b of GRAZE_STAGE_POSES, boxes
 * and spheres have not been looked at. An engine declines when it meets one that is not in order: the processor names
 * it. Lists belong to the engine and are read before `give`. `find` is ALL or COUNT: which pair is found first is to be
 * the same for all, so that ANY is the processor's. */

typedef struct graze_tritri_question { /* GRAZE_STAGE_TRITRI */
  uint64_t count;
  const double *const *a, *const *b; /* nine columns each */
  graze_tritri *results;
} graze_tritri_question;

typedef struct graze_mesh_question { /* GRAZE_STAGE_COLLIDE, with one pose of b, and GRAZE_STAGE_POSES */
  const graze_mesh *a, *b;
  const graze_pose *pose_a, *poses_b;
  uint32_t count; /* of poses_b, at least 1 */
  graze_find find;
  graze_collide_result *results; /* all zero before; with COLLIDE and ALL a list */
} graze_mesh_question;

typedef struct graze_self_question { /* GRAZE_STAGE_SELF */
  const graze_mesh *mesh;
  graze_find find;
  graze_self_result result; /* all zero before */
} graze_self_question;

typedef struct graze_broad_question { /* GRAZE_STAGE_BOXES, GRAZE_STAGE_SPHERES */
  graze_broad_method method;          /* AUTO: the engine's choice. It declines a method that it does not have */
  const graze_box_array *boxes;       /* or */
  const graze_sphere_array *spheres;
  uint32_t count;
  bool unsorted;
  bool only_count; /* of spheres: no list, but number and hash */
  const graze_box_pair *pairs;
  uint64_t pair_count, hash;
  graze_broad_method used; /* never AUTO */
  char reason[128];        /* why another method than the one asked for was used; "" */
} graze_broad_question;

/* ---- engines ----------------------------------------------------------------------------------------------------- */

/* Answers a question, which is one of the above. OK: answered, in full. UNSUPPORTED: declined. Anything else: failed;
 * what was written of the answer is not read. */
typedef graze_status (*graze_stage_function)(void *user, void *question);

/* What an engine offers. Calls come from several threads; between a `take` that gave true and `give` from one. */
typedef struct graze_engine {
  void *user;
  const graze_stage_function *stages; /* by graze_stage, NULL where there is none; outlives the engine's use */
  uint32_t stage_count;               /* GRAZE_STAGES when the engine was built: stages that came later it has not */
  /* Whether the engine wants a stage of so much work (pairs of triangles; triangles of a, and of b at all its poses;
   * triangles of the mesh; boxes or spheres; b is else 0): the calling thread then has it to itself. */
  bool (*take)(void *user, graze_stage stage, uint64_t a, uint64_t b);
  void (*give)(void *user);
  /* The mesh is about to change or to go: what is kept of it is worth nothing. Not between take and give. May be NULL
   * where nothing is kept. */
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
