/* graze/scene.h: many objects, every pair of them that collides.
 *
 * An object is a shared mesh at a pose, with a 64-bit user id, a layer and a name. A check finds the candidate pairs
 * by their world boxes, decides each exactly, and reports in the order in which the objects were added. An update does
 * the same for a scene that lives: it decides again only what has changed, and tells what began, persists and ended.
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

/* A mesh that is loaded when a pair of objects needs it. Of its facts the scene goes by `triangles` and `box`, and by
 * `hash` unless it is 0; a mesh that comes with others is a FORMAT error.
 *
 * `load` is called within a check or an update, and not again while the scene has an object with the source: from any
 * thread of the context, for several sources at once; those of 2^15 triangles or more come first, one after another,
 * from the thread of the call. It may use the context. The mesh stays the source's, must outlive the objects and must
 * not be refitted. GRAZE_CANCELLED ends the call as its progress callback would. */
typedef struct graze_mesh_source {
  graze_mesh_facts facts;
  graze_status (*load)(void *user, const graze_mesh **mesh);
  void *user;
} graze_mesh_source;

typedef struct graze_object_def {
  const graze_mesh *mesh;          /* not copied: must live as long as the object. Or NULL, and instead: */
  const graze_mesh_source *source; /* likewise; objects may share it */
  graze_pose pose;                 /* default: identity */
  uint64_t user_id;
  const char *name;  /* copied; NULL = "" */
  const char *layer; /* copied; NULL = "" (no layer) */
  uint32_t cookie;
} graze_object_def;

GRAZE_API graze_object_def graze_default_object_def(void);

GRAZE_API graze_status graze_scene_create(graze_context *context, graze_scene **scene);
GRAZE_API void graze_scene_destroy(graze_scene *scene);

/* Errors: ARGUMENT, MEMORY, NOT_FINITE (pose, or the box of a source), LIMIT. */
GRAZE_API graze_status graze_scene_add(graze_scene *scene, const graze_object_def *def, graze_object_id *object);
GRAZE_API graze_status graze_scene_remove(graze_scene *scene, graze_object_id object);
GRAZE_API graze_status graze_scene_set_pose(graze_scene *scene, graze_object_id object, const graze_pose *pose);

/* The same for many, all or nothing; `poses[i]` for `objects[i]`. Errors name the place in the arrays. */
GRAZE_API graze_status graze_scene_set_poses(graze_scene *scene, const graze_object_id *objects,
                                             const graze_pose *poses, uint32_t count);

/* What the object is now, with the mesh if its source has been asked; name and layer are the scene's own and live until
 * it is removed. Errors: HANDLE. */
GRAZE_API graze_status graze_scene_get_object(const graze_scene *scene, graze_object_id object, graze_object_def *def);

/* All objects in the order of adding; valid until the next call that is not const. Errors: MEMORY. */
GRAZE_API graze_status graze_scene_list_objects(graze_scene *scene, const graze_object_id **objects, uint32_t *count);

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
  graze_verdict verdict;
  graze_counts counts;
  const graze_triangle_pair *pairs; /* `find` ALL: the sorted list; else NULL */
  graze_outline outline;            /* when asked for, of pairs that are not separate; else empty */
} graze_object_pair;

/* Whether a pair is to be checked: of two objects whose boxes meet and whom no ignore rule parts; `a` was added first.
 * Called once for each such pair, in order, from the calling thread, before any exact query. With `all_pairs` for every
 * pair that no ignore rule parts. */
typedef bool (*graze_pair_function)(void *user, uint64_t user_id_a, uint64_t user_id_b);

typedef struct graze_scene_check_options {
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
} graze_scene_check_options;

GRAZE_API graze_scene_check_options graze_default_scene_check_options(void);

typedef struct graze_scene_check_result {
  const graze_object_pair *pairs; /* sorted by the order of adding; owned by the scene, valid until its next call */
  uint64_t pair_count;
  uint64_t object_pairs; /* pairs of objects that were not ignored: n (n - 1) / 2 less the ignored and unwanted ones */
  uint64_t ignored_pairs;
  uint64_t candidate_pairs; /* of them, those whose boxes meet; an object's box is that of its mesh's posed box */
  uint64_t unwanted_pairs;  /* pairs that `wanted` took out: not in the three numbers above and below */
  uint64_t clashes;         /* pairs that are not separate */
  uint64_t relations[GRAZE_UNKNOWN + 1]; /* candidates of each relation */
  graze_work work;
} graze_scene_check_result;

/* Checks every pair. On GRAZE_CANCELLED `result` holds the pairs finished so far and must not be read as clear.
 * Other errors: ARGUMENT, MEMORY, NOT_FINITE, POSE, what a source says (the message names the object); `result` is then
 * untouched. */
GRAZE_API graze_status graze_scene_check(graze_scene *scene, const graze_scene_check_options *options,
                                         graze_scene_check_result *result);

/* ---- scenes that live ------------------------------------------------------------------------------------------ */

typedef struct graze_scene_update_options {
  graze_find find;                  /* default GRAZE_FIND_COUNT, or ANY: only whether surfaces meet, not how */
  graze_exactness exactness;        /* default T1 */
  graze_open_rule open;             /* default GRAZE_OPEN_UNKNOWN */
  graze_progress_function progress; /* units: pairs that are decided in this update */
  void *progress_user;
  uint32_t cookie;
} graze_scene_update_options;

GRAZE_API graze_scene_update_options graze_default_scene_update_options(void);

typedef struct graze_scene_event {
  graze_object_id a; /* the one that was added first; of an ended pair it may be gone */
  graze_object_id b;
  uint64_t user_id_a;
  uint64_t user_id_b;
  graze_relation before; /* at the last update; GRAZE_SEPARATE when it begins */
  graze_verdict verdict; /* now; GRAZE_SEPARATE when it ended */
  graze_counts counts;
} graze_scene_event;

/* What became of the pairs of objects, each list in the order of adding of a, then of b. A pair takes part while its
 * relation is not `separate`. */
typedef struct graze_scene_update_result {
  const graze_scene_event *began;
  uint64_t began_count;
  const graze_scene_event *persist; /* also when the relation changed: see `before` */
  uint64_t persist_count;
  const graze_scene_event *ended; /* apart now, ignored now, or an object is gone */
  uint64_t ended_count;
  uint64_t candidate_pairs; /* whose boxes meet and which no rule ignores */
  uint64_t decided_pairs;   /* of them, decided in this update: new, or an object's pose or mesh has changed */
  uint64_t hash;            /* of the pairs that take part: graze_scene_hash_pair of each, added up mod 2^64 */
  graze_work work;          /* of this update */
} graze_scene_update_result;

/* Brings the relations up to date with all that was done to the scene since the last update: objects added, removed,
 * moved, meshes refitted, rules given. The lists are owned by the scene and valid until its next update. Nothing is
 * told twice or lost: after an error, or GRAZE_CANCELLED, the next update tells the difference to the last one that
 * went well. Options may change from update to update. A check of the same scene gives the same relations. Errors:
 * ARGUMENT (also for GRAZE_FIND_ALL), MEMORY, LIMIT, NOT_FINITE, POSE, what a source says; `events` is then untouched.
 */
GRAZE_API graze_status graze_scene_update(graze_scene *scene, const graze_scene_update_options *options,
                                          graze_scene_update_result *events);

/* What a pair of objects adds to the hash of a scene; `a` and `b` are their numbers in the order of adding, among those
 * that are there, a < b. */
GRAZE_API uint64_t graze_scene_hash_pair(uint32_t a, uint32_t b, graze_relation relation, const graze_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
