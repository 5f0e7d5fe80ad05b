/* graze/scene.h: many objects, every pair of them that collides.
 *
 * An object is a shared mesh at a pose, with a 64-bit user id, a layer and a name. A check finds the candidate pairs
 * by their world boxes, decides each exactly, and reports in the order in which the objects were added.
 */
#ifndef GRAZE_SCENE_H
#define GRAZE_SCENE_H

#include "graze/base.h"
#include "graze/collide.h"
#include "graze/math.h"
#include "graze/mesh.h"
#include "graze/relate.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graze_scene graze_scene;

typedef struct graze_object_id { /* generation 0 never names an object */
  uint32_t index;
  uint32_t generation;
} graze_object_id;

typedef struct graze_object_def {
  const graze_mesh *mesh; /* not copied: must live as long as the object */
  graze_pose pose;        /* default: identity */
  uint64_t user_id;
  const char *name;  /* copied; NULL = "" */
  const char *layer; /* copied; NULL = "" (no layer) */
  uint32_t cookie;
} graze_object_def;

GRAZE_API graze_object_def graze_default_object_def(void);

GRAZE_API graze_status graze_scene_create(graze_context *context, graze_scene **scene);
GRAZE_API void graze_scene_destroy(graze_scene *scene);

/* Errors: ARGUMENT, MEMORY, NOT_FINITE (pose), LIMIT. */
GRAZE_API graze_status graze_scene_add(graze_scene *scene, const graze_object_def *def, graze_object_id *object);
GRAZE_API graze_status graze_scene_remove(graze_scene *scene, graze_object_id object);
GRAZE_API graze_status graze_scene_set_pose(graze_scene *scene, graze_object_id object, const graze_pose *pose);
GRAZE_API uint32_t graze_scene_object_count(const graze_scene *scene);

/* The pair is then never reported, in either order. */
GRAZE_API graze_status graze_scene_ignore(graze_scene *scene, graze_object_id first, graze_object_id second);

/* Pairs of an object of one layer and one of the other (the same layer twice: within it) are never reported. */
GRAZE_API graze_status graze_scene_ignore_layers(graze_scene *scene, const char *first, const char *second);

typedef struct graze_object_pair {
  graze_object_id a; /* the one that was added first */
  graze_object_id b;
  uint64_t user_id_a;
  uint64_t user_id_b;
  graze_relation relation;
  graze_doubt doubt;     /* of `unknown`: why, */
  uint8_t doubt_mesh;    /* in which (0: a, 1: b), */
  double doubt_point[3]; /* and where in the world */
  graze_counts counts;
  const graze_triangle_pair *pairs; /* `find` ALL: the sorted list; else NULL */
  graze_outline outline;            /* when asked for, of pairs that are not separate; else empty */
} graze_object_pair;

/* Whether a pair is to be checked: of two objects whose boxes meet and whom no ignore rule parts; `a` was added first.
 * Called once for each such pair, in order, from the calling thread, before any exact query. With `all_pairs` for every
 * pair that no ignore rule parts. */
typedef bool (*graze_pair_function)(void *user, uint64_t user_id_a, uint64_t user_id_b);

typedef struct graze_check_options {
  graze_find find;            /* default GRAZE_FIND_COUNT; ANY: only whether surfaces meet, not how */
  graze_exactness exactness;  /* default T1 */
  graze_open_rule open;       /* default GRAZE_OPEN_UNKNOWN */
  bool outlines;              /* trace where the surfaces meet; not with ANY */
  bool all_pairs;             /* list every pair that was not ignored, also the separate ones */
  graze_pair_function wanted; /* NULL: every pair */
  void *wanted_user;
  graze_progress_function progress; /* units: candidate object pairs */
  void *progress_user;
  uint32_t cookie;
} graze_check_options;

GRAZE_API graze_check_options graze_default_check_options(void);

typedef struct graze_check_result {
  const graze_object_pair *pairs; /* sorted by the order of adding; owned by the scene, valid until its next call */
  uint64_t pair_count;
  uint64_t object_pairs; /* pairs of objects that were not ignored: n (n - 1) / 2 less the ignored and unwanted ones */
  uint64_t ignored_pairs;
  uint64_t candidate_pairs; /* of them, those whose boxes meet; an object's box is that of its mesh's posed box */
  uint64_t unwanted_pairs;  /* pairs that `wanted` took out: not in the three numbers above and below */
  uint64_t clashes;         /* pairs that are not separate */
  uint64_t relations[GRAZE_UNKNOWN + 1]; /* candidates of each relation */
  graze_work work;
} graze_check_result;

/* Checks every pair. On GRAZE_CANCELLED `result` holds the pairs finished so far and must not be read as clear.
 * Other errors: ARGUMENT, MEMORY, NOT_FINITE, POSE; `result` is then untouched. */
GRAZE_API graze_status graze_scene_check(graze_scene *scene, const graze_check_options *options,
                                         graze_check_result *result);

#ifdef __cplusplus
}
#endif
#endif
