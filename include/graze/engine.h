/* graze/engine.h: how an engine takes work over from the CPU. For those who write or choose engines; graze/gpu.h has
 * one.
 *
 * The CPU defines every answer, and an engine returns the same bytes. Work that an engine has no stage for, and queries
 * that it declines, the CPU does as if there were no engine. If an engine fails, the CPU does the work as well, and the
 * logger gets a warning.
 */
#ifndef GRAZE_ENGINE_H
#define GRAZE_ENGINE_H

#include "graze/broadphase.h"
#include "graze/collide.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Later versions append stages; the number of a stage never changes. */
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

/* The arguments of a stage, followed by its results. They mean what they mean in the calls that the stage is named for.
 * Pointers are not NULL and enumerators are valid, but these numbers have not been checked: coordinates of
 * GRAZE_STAGE_TRITRI, poses_b of GRAZE_STAGE_POSES, boxes and spheres. An engine declines if it finds an invalid one,
 * and the CPU reports it. Lists belong to the engine and are copied before `give`. `find` is ALL or COUNT: ANY is left
 * to the CPU, so that the same pair is found everywhere. */

typedef struct graze_tritri_question { /* GRAZE_STAGE_TRITRI */
  uint64_t count;
  const double *const *a, *const *b; /* nine arrays each, as in graze_tritri_batch */
  graze_tritri *results;
} graze_tritri_question;

typedef struct graze_mesh_question { /* GRAZE_STAGE_COLLIDE, with one pose of b, and GRAZE_STAGE_POSES */
  const graze_mesh *a, *b;
  const graze_pose *pose_a, *poses_b;
  uint32_t count; /* of poses_b, at least 1 */
  graze_find find;
  graze_collide_result *results; /* zero on entry; for COLLIDE with ALL they include the list */
} graze_mesh_question;

typedef struct graze_self_question { /* GRAZE_STAGE_SELF */
  const graze_mesh *mesh;
  graze_find find;
  graze_self_result result; /* zero on entry */
} graze_self_question;

typedef struct graze_broad_question { /* GRAZE_STAGE_BOXES, GRAZE_STAGE_SPHERES */
  graze_broad_method method;          /* AUTO: the engine chooses; it declines methods that it lacks */
  const graze_box_array *boxes;       /* or */
  const graze_sphere_array *spheres;
  uint32_t count;
  bool unsorted;
  bool only_count; /* spheres: number and hash, no list */
  const graze_box_pair *pairs;
  uint64_t pair_count, hash;
  graze_broad_method used; /* never AUTO */
  char reason[128];        /* why it is not the requested method; else "" */
} graze_broad_question;

/* ---- engines ----------------------------------------------------------------------------------------------------- */

/* Answers a question, one of the structures above. OK: answered completely. UNSUPPORTED: declined. Any other status:
 * failed; results that were written are ignored. */
typedef graze_status (*graze_stage_function)(void *user, void *question);

/* Calls may come from several threads, but between a `take` that returned true and its `give` only from one. */
typedef struct graze_engine {
  void *user;
  const graze_stage_function *stages; /* by graze_stage; NULL: the CPU does it. Must outlive the engine's use */
  uint32_t stage_count;               /* GRAZE_STAGES when the engine was compiled; the CPU does later stages */
  /* Whether the engine wants work of this size; if so, the calling thread owns the engine until `give`. a, b: number of
   * pairs, 0 (TRITRI); triangles of both meshes (COLLIDE); of the mesh, 0 (SELF); of a, of b times the poses (POSES);
   * number of boxes or spheres, 0. */
  bool (*take)(void *user, graze_stage stage, uint64_t a, uint64_t b);
  void (*give)(void *user);
  /* The mesh is about to change or to be destroyed: drop what is kept of it. Not between `take` and `give`. May be
   * NULL. */
  void (*forget)(void *user, const graze_mesh *mesh);
} graze_engine;

/* Gives the context an engine, which is copied; NULL removes it. No call may be running in the context. The engine is
 * asked about meshes of this context. Errors: ARGUMENT. */
GRAZE_API graze_status graze_context_set_engine(graze_context *context, const graze_engine *engine);

#ifdef __cplusplus
}
#endif
#endif
