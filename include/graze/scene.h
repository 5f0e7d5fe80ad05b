/* graze/scene.h: every colliding pair among many objects.
 *
 * An object is a shared mesh at a pose, or a ball or capsule, with a 64-bit user id, a layer and a name. A check finds
 * candidate pairs by their world boxes, decides each exactly, and reports pairs in the order in which their objects
 * were added. An update does the same for a scene that changes: it decides only what has changed and reports what
 * began, persists and ended.
 */
#ifndef GRAZE_SCENE_H
#define GRAZE_SCENE_H

#include "graze/base.h"
#include "graze/collide.h"
#include "graze/math.h"
#include "graze/mesh.h"
#include "graze/motion.h"
#include "graze/relate.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graze_scene graze_scene;

typedef struct graze_object_id { /* generation 0 never names an object */
  uint32_t index;
  uint32_t generation;
} graze_object_id;

/* A mesh that is loaded when a pair of objects needs it. Of its facts the scene relies on `triangles` and `box`, and on
 * `hash` unless that is 0; a loaded mesh with others is a FORMAT error.
 *
 * `load` is called within a check or an update, and not again while the scene has an object with the source: from any
 * thread of the context, for several sources at once; those of 2^15 triangles or more come first, one after another,
 * from the thread of the call. It may use the context. The source keeps ownership of the mesh, which must outlive
 * the objects and must not be refitted. GRAZE_CANCELLED ends the call as the progress callback would. */
typedef struct graze_mesh_source {
  graze_mesh_facts facts;
  graze_status (*load)(void *user, const graze_mesh **mesh);
  void *user;
} graze_mesh_source;

typedef struct graze_object_def {
  const graze_mesh *mesh;          /* not copied: must live as long as the object. Or NULL, and instead: */
  const graze_mesh_source *source; /* likewise; objects may share it */
  double radius;                   /* default 0; else the object is round, and its mesh a core (graze/round.h), */
  bool flat;                       /* with flat ends */
  graze_pose pose;                 /* default: identity */
  double center[3];                /* default: 0 0 0; graze_scene_set_center */
  uint64_t user_id;
  const char *name;  /* copied; NULL = "" */
  const char *layer; /* copied; NULL = "" (no layer) */
  uint32_t cookie;
} graze_object_def;

GRAZE_API graze_object_def graze_default_object_def(void);

GRAZE_API graze_status graze_scene_create(graze_context *context, graze_scene **scene);
GRAZE_API void graze_scene_destroy(graze_scene *scene);

/* Errors: ARGUMENT (also for a radius that is none, or is not that of a core), MEMORY, NOT_FINITE (pose, center, or the
 * box of a source), LIMIT. */
GRAZE_API graze_status graze_scene_add(graze_scene *scene, const graze_object_def *def, graze_object_id *object);
GRAZE_API graze_status graze_scene_remove(graze_scene *scene, graze_object_id object);
GRAZE_API graze_status graze_scene_set_pose(graze_scene *scene, graze_object_id object, const graze_pose *pose);

/* The same for many, all or nothing; `poses[i]` for `objects[i]`. Messages have the index in the arrays. */
GRAZE_API graze_status graze_scene_set_poses(graze_scene *scene, const graze_object_id *objects,
                                             const graze_pose *poses, uint32_t count);

/* The point of the object, in coordinates of its mesh, that moves straight in rigid motions of `continuous` updates, as
 * `centers` of graze_motion_options: for the next update and those that follow. No answer of another kind depends on
 * it. Errors: ARGUMENT, HANDLE, NOT_FINITE. */
GRAZE_API graze_status graze_scene_set_center(graze_scene *scene, graze_object_id object, const double center[3]);

/* The object as it is now, with its mesh if that is loaded; name and layer belong to the scene and are valid until the
 * object is removed. Errors: HANDLE. */
GRAZE_API graze_status graze_scene_get_object(const graze_scene *scene, graze_object_id object, graze_object_def *def);

/* All objects in the order in which they were added; valid until the next call that is not const. Errors: MEMORY. */
GRAZE_API graze_status graze_scene_list_objects(graze_scene *scene, const graze_object_id **objects, uint32_t *count);

GRAZE_API uint32_t graze_scene_object_count(const graze_scene *scene);

/* From now on the pair, in either order, is never reported. */
GRAZE_API graze_status graze_scene_ignore(graze_scene *scene, graze_object_id first, graze_object_id second);

/* Pairs with an object in each of the two layers (or both in one, if they are the same) are never reported. */
GRAZE_API graze_status graze_scene_ignore_layers(graze_scene *scene, const char *first, const char *second);

/* What is between the surfaces of two objects that are nearer than they may be. */
typedef struct graze_gap {
  bool found;          /* they are nearer than `clearance`, strictly; the rest is then known */
  double clearance;    /* what was asked for; 0: nothing */
  double distance;     /* the exact one, rounded once (graze/distance.h) */
  double points[2][3]; /* nearest points, of a and of b */
  uint64_t near_pairs; /* `find` ALL: triangle pairs nearer than the clearance, */
  uint64_t near_hash;  /* and the sum of their graze_pair_hash; else 0 */
} graze_gap;

typedef struct graze_object_pair {
  graze_object_id a; /* the one that was added first */
  graze_object_id b;
  uint64_t user_id_a;
  uint64_t user_id_b;
  graze_verdict verdict;
  graze_counts counts;
  const graze_triangle_pair *pairs; /* `find` ALL: the sorted list; else NULL */
  graze_outline outline;            /* if requested, of pairs that are neither separate nor `clearance`; else empty */
  graze_gap gap; /* of pairs that would be separate, which become `clearance` where they are too near,
                    and of unknown ones */
} graze_object_pair;

/* Whether to check a pair of objects whose boxes meet and which no rule ignores; `a` was added first. Called once for
 * each such pair, in order, on the calling thread, before any exact query; with `all_pairs`, for every pair that no
 * rule ignores. */
typedef bool (*graze_pair_function)(void *user, uint64_t user_id_a, uint64_t user_id_b);

/* The clearance of a pair: finite, at least 0 and at most the reach of either object. A check calls it once for each
 * pair to be decided, an update once for each whose boxes meet and which no rule ignores; on the calling thread. */
typedef double (*graze_clearance_function)(void *user, uint64_t user_id_a, uint64_t user_id_b);

/* The largest clearance that an object has with any other: finite, at least 0. Its box is grown by half of that. Called
 * once for each object. */
typedef double (*graze_reach_function)(void *user, uint64_t user_id);

/* What the meshes of two objects that cross were rounded by; `outline` says what is known of the pair. False: no moved
 * corners are looked for. Called at most once for each pair, from any thread of the context. */
typedef bool (*graze_rounding_function)(void *user, uint64_t user_id_a, uint64_t user_id_b,
                                        const graze_outline *outline, graze_rounding roundings[2]);

typedef struct graze_scene_check_options {
  graze_find find;            /* default GRAZE_FIND_COUNT; ANY: only whether surfaces meet, not how */
  graze_exactness exactness;  /* default T1 */
  graze_open_rule open;       /* default GRAZE_OPEN_UNKNOWN */
  bool outlines;              /* trace where the surfaces meet; not with ANY */
  bool all_pairs;             /* list every pair that is not ignored, separate ones included */
  graze_pair_function wanted; /* NULL: every pair */
  void *wanted_user;
  graze_clearance_function clearance; /* NULL: none; else with: */
  graze_reach_function reach;
  void *clearance_user;
  graze_rounding_function roundings; /* NULL: none; else, with `outlines`, graze_find_moved_corners is called for pairs
                                        of meshes that cross */
  void *roundings_user;
  graze_progress_function progress; /* units: candidate object pairs */
  void *progress_user;
  /* The candidates in their order are cut into so many parts, 0 or 1 for one, with about as many triangles each, and
   * this call decides part number `part`, from 0. The parts of several processes make up the whole: `pairs` and
   * `relations` are of this part; with `all_pairs`, those that are no candidates are in part 0. */
  uint32_t part, parts;
  uint32_t cookie;
} graze_scene_check_options;

GRAZE_API graze_scene_check_options graze_default_scene_check_options(void);

typedef struct graze_scene_check_result {
  const graze_object_pair *pairs; /* in the order of adding; owned by the scene, valid until its next call */
  uint64_t pair_count;
  uint64_t object_pairs; /* pairs considered: n (n - 1) / 2 minus the ignored and unwanted ones */
  uint64_t ignored_pairs;
  uint64_t candidate_pairs; /* of those, the ones whose boxes meet; an object's box bounds its mesh's posed box, and is
                               grown by half its reach */
  uint64_t unwanted_pairs;  /* pairs that `wanted` rejected; the other counts do not include them */
  uint64_t clashes;         /* pairs that are not separate */
  uint64_t decided_pairs;   /* candidates of this part, */
  uint64_t decided_weight;  /* and the triangles of their objects */
  uint64_t relations[GRAZE_UNKNOWN + 1]; /* candidates of each relation */
  graze_work work;
} graze_scene_check_result;

/* Checks every pair. Two objects that are separate, with a clearance, and nearer than it are GRAZE_CLEARANCE; what
 * touches, crosses or contains is what it is without. On GRAZE_CANCELLED `result` has the pairs finished so far and
 * must not be taken for a clear result. Other errors: ARGUMENT, MEMORY, NOT_FINITE, POSE, those of a source (the
 * message names the object); they leave `result` untouched. */
GRAZE_API graze_status graze_scene_check(graze_scene *scene, const graze_scene_check_options *options,
                                         graze_scene_check_result *result);

/* ---- scenes that change ---------------------------------------------------------------------------------------- */

typedef struct graze_scene_update_options {
  graze_find find;                    /* default GRAZE_FIND_COUNT, or ANY: only whether surfaces meet, not how */
  graze_exactness exactness;          /* default T1 */
  graze_open_rule open;               /* default GRAZE_OPEN_UNKNOWN */
  graze_motion_model continuous;      /* default STEPS; else not with T2: what happens since the last update, too */
  double bracket;                     /* `continuous`: how wide times may be, as in graze_motion_options; default 0 */
  graze_clearance_function clearance; /* NULL: none; else with: */
  graze_reach_function reach;
  void *clearance_user;
  graze_progress_function progress; /* units: pairs decided in this update */
  void *progress_user;
  uint32_t cookie;
} graze_scene_update_options;

GRAZE_API graze_scene_update_options graze_default_scene_update_options(void);

typedef struct graze_scene_event {
  graze_object_id a; /* the one that was added first; in an ended pair it may have been removed */
  graze_object_id b;
  uint64_t user_id_a;
  uint64_t user_id_b;
  graze_relation before; /* at the last update; GRAZE_SEPARATE when it begins */
  graze_verdict verdict; /* now; GRAZE_SEPARATE when it ended */
  graze_counts counts;
  graze_gap gap; /* now; without near pairs */

  /* With `continuous`: when, from 0 at the last update to 1 at this one. Of a pair that began to meet it is around the
   * first time at which the surfaces do, of one that meets no more around the last, and likewise of one that is nearer
   * than its clearance, or no more; 0 and 1 where that is not it, as when a pair that met meets in another way; 1 and 1
   * for a pair of which nothing moved, and at the first update. */
  double time[2];
  graze_motion_verdict passage; /* of `passed`: HIT or UNKNOWN */
  double approach;              /* likewise: 0: they met; else their clearance, than which they only came nearer */
  double distance[2];           /* of UNKNOWN `passage`: bounds of the least distance in that time, as those of
                                   graze_motion_result; else 0 and 0 */
} graze_scene_event;

/* What became of the pairs of objects, each list in the order of adding of a, then of b. A pair is listed as long as
 * its relation is not `separate`. */
typedef struct graze_scene_update_result {
  const graze_scene_event *began;
  uint64_t began_count;
  const graze_scene_event *persist; /* its relation may have changed: see `before` */
  uint64_t persist_count;
  const graze_scene_event *ended; /* now separate or ignored, or an object was removed */
  uint64_t ended_count;
  const graze_scene_event *passed; /* `continuous`: separate or `clearance` at both updates, and yet they met in
                                      between; or separate at both, and they came nearer than their clearance; or it
                                      is not known (`passage`). The other lists may have the pair too */
  uint64_t passed_count;
  uint64_t candidate_pairs; /* whose boxes meet and which no rule ignores */
  uint64_t decided_pairs;   /* of those, decided in this update: new, or with a changed pose or mesh */
  uint64_t hash;            /* sum of graze_scene_hash_pair over the listed pairs, mod 2^64 */
  uint64_t time_hash;       /* `continuous`: a sum over began, ended and passed pairs and their times */
  uint64_t gap_hash;        /* a sum over the listed pairs with a gap: clearance, gap and points */
  graze_work work;          /* of this update */
} graze_scene_update_result;

/* Brings the relations up to date with all changes to the scene since the last update: objects added, removed or moved,
 * meshes refitted, rules added. With `continuous` objects move from where they were at the last update to where they
 * are, on the ways that graze/motion.h has; those that came since are where they are, and refitted ones have their new
 * shape all the way. A rigid motion needs rigid poses: else POSE, with the object; and a center that is not so far away
 * that coordinates overflow: else LIMIT, likewise. What round objects meet on their
 * ways is not known: UNSUPPORTED, with the object. The lists are owned by the scene and valid until its next update. No
 * event is reported twice or lost: after an error, or GRAZE_CANCELLED, the next update reports the difference from the
 * last one that succeeded. Options may change from update to update. A check of the same scene gives the same
 * relations.
 *
 * With clearances, pairs that are separate and nearer than theirs are GRAZE_CLEARANCE; with `continuous` they are kept
 * in between too, but for what graze_motion_options leaves open of a separation. A pair whose clearance changes is
 * decided again.
 *
 * Errors: ARGUMENT (also for GRAZE_FIND_ALL), MEMORY, LIMIT, NOT_FINITE, POSE, UNSUPPORTED, those of a source; they
 * leave `events` untouched. */
GRAZE_API graze_status graze_scene_update(graze_scene *scene, const graze_scene_update_options *options,
                                          graze_scene_update_result *events);

/* What a pair adds to the hash of a scene; a < b are the positions of its objects in the order of adding, removed ones
 * not counted. */
GRAZE_API uint64_t graze_scene_hash_pair(uint32_t a, uint32_t b, graze_relation relation, const graze_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
