/* graze/visibility.h: culling by pictures. A library of its own (graze_visibility), above the core.
 *
 * Of many objects it finds which pairs of surfaces may meet, and which triangles of theirs, by drawing them: what is
 * seen whole before everything else meets nothing of it. Nothing is prepared, so that arrays of triangles that deform
 * or break every time serve as well as baked meshes do.
 *
 * CLOSE and RCULLIDE are reliable: a pixel holds the bounds of all that a triangle does within its square, so that no
 * pair and no triangle that meets another is ever lost, whatever the resolution, from 1 on; what is left over shrinks
 * as it rises. CULLIDE and QCULLIDE are the published methods on pixel centres and lose what falls between them: they
 * are for comparison. What cannot be judged, because posed coordinates overflow, is left. Surfaces are meant
 * throughout: a pair that is not left may still be one object inside of the other.
 *
 * The same input and device give the same result for any number of threads.
 */
#ifndef GRAZE_VISIBILITY_H
#define GRAZE_VISIBILITY_H

#include "graze/base.h"
#include "graze/broadphase.h"
#include "graze/collide.h"
#include "graze/math.h"
#include "graze/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum graze_visibility_device {
  GRAZE_VISIBILITY_OPENGL,   /* OpenGL 4.5, off-screen, loaded at run time */
  GRAZE_VISIBILITY_REFERENCE /* this library's own rasteriser, on the context's threads; always there */
} graze_visibility_device;

typedef struct graze_visibility_info {
  graze_visibility_device device;
  char name[128]; /* "reference", or "opengl: " and the driver's words */
} graze_visibility_info;

/* A device, and the memory and the last result of a cull. One thread at a time uses it. */
typedef struct graze_visibility graze_visibility;

/* OpenGL computes the bounds of a set of hard triangles first and is refused when a bit of them differs from the
 * reference. Errors: ARGUMENT, MEMORY, UNSUPPORTED (the message names OpenGL and has the reason; also when
 * GRAZE_DISABLE in the environment lists "opengl"). */
GRAZE_API graze_status graze_visibility_create(graze_context *context, graze_visibility_device device,
                                               graze_visibility **visibility);
GRAZE_API void graze_visibility_destroy(graze_visibility *visibility);

GRAZE_API const graze_visibility_info *graze_visibility_get_info(const graze_visibility *visibility);

/* ---- what is asked --------------------------------------------------------------------------------------------- */

/* An object: a baked mesh, or else arrays, which are read in place. */
typedef struct graze_visibility_object {
  const graze_mesh *mesh;
  const graze_mesh_def *arrays; /* when `mesh` is NULL: vertices, stride, counts, indices and precision; the rest does
                                   not matter. Triangles with coordinates that are not finite cannot be judged */
  const graze_pose *pose;       /* NULL: the identity */
} graze_visibility_object;

typedef enum graze_visibility_mode {
  /* Every pair of boxes that meet gets pictures of its own, of what the two boxes have in common: coarse ones first,
   * then finer ones of what is left. In turns the triangles of one are drawn, and those of the other that overlap
   * it in no pixel are gone. A view in which nothing has gone for two resolutions is left out. */
  GRAZE_VISIBILITY_CLOSE = 0,
  /* Pictures of the whole scene. Objects are taken in order, each first held against the picture and then drawn; then
   * in the reverse order. What both passes see whole is gone; again until nothing changes; then the same for the
   * triangles of what is left, never against their own object. (Govindaraju, Redon, Lin and Manocha 2003.) */
  GRAZE_VISIBILITY_CULLIDE,
  GRAZE_VISIBILITY_RCULLIDE, /* the same with bounds (Govindaraju, Lin and Manocha 2004) */
  /* As CULLIDE, with four sets that are kept over the views: what one pass has seen whole is not held against that pass
   * again, and not drawn in the other one (Govindaraju, Lin and Manocha 2005). Of one object alone every triangle is
   * held against all others of it that share no corner with it, by position. */
  GRAZE_VISIBILITY_QCULLIDE
} graze_visibility_mode;

typedef enum graze_visibility_level {
  GRAZE_VISIBILITY_TRIANGLES = 0, /* down to the triangles of objects */
  GRAZE_VISIBILITY_OBJECTS        /* objects (with CLOSE pairs of them) go whole or not at all */
} graze_visibility_level;

typedef enum graze_visibility_bounds {
  GRAZE_VISIBILITY_TIGHT = 0, /* of a triangle over each pixel */
  GRAZE_VISIBILITY_PUBLISHED  /* RCULLIDE: a box around the triangle's sum with a sphere of sqrt(3) pixels */
} graze_visibility_bounds;

enum { GRAZE_VISIBILITY_X = 1, GRAZE_VISIBILITY_Y = 2, GRAZE_VISIBILITY_Z = 4 };
enum { GRAZE_VISIBILITY_MOST_PIXELS = 4096 };

/* What one pass over a picture, or over one of all pairs, has done. */
typedef struct graze_visibility_pass {
  graze_visibility_level level;
  uint32_t axis;       /* 0, 1, 2: along which it looks */
  bool reverse;        /* from the last object to the first; with CLOSE: the second of a pair was drawn */
  uint32_t resolution; /* pixels along a side at most */
  uint32_t objects;    /* that it was about: those left before it */
  uint64_t triangles;  /* held against the picture */
  uint64_t pruned;     /* triangles, or with OBJECTS objects (CLOSE: pairs), that went after it */
  double seconds;
} graze_visibility_pass;

/* A pass, for the eye: its depth from 0 at the eye to 1, infinite where nothing was drawn, and the number of the object
 * that is nearest there (of one object alone: of the triangle), or UINT32_MAX; rows upwards. With CLOSE the pictures of
 * pairs side by side. Depth is that of pixel centers in CULLIDE and QCULLIDE, else the nearest bound over the pixel.
 * What the pass has pruned, and its seconds, are not known yet. */
typedef struct graze_visibility_image {
  const graze_visibility_pass *pass;
  uint32_t width, height;
  const float *depth;
  const uint32_t *owner;
} graze_visibility_image;

/* Both belong to the call. False: no more of them. */
typedef bool (*graze_visibility_image_function)(void *user, const graze_visibility_image *image);

typedef struct graze_visibility_def {
  const graze_visibility_object *objects;
  uint32_t object_count;
  const graze_box_pair *pairs; /* those to be told about, a < b; NULL: all */
  uint64_t pair_count;
  graze_visibility_mode mode;
  graze_visibility_level level;
  graze_visibility_bounds bounds;
  unsigned views;      /* GRAZE_VISIBILITY_X ...: at least one; default all three */
  uint32_t resolution; /* pixels along a side of a picture, 1 to GRAZE_VISIBILITY_MOST_PIXELS; default 128 */
  graze_progress_function progress; /* after each pass; of so many as are known of. May be NULL */
  void *progress_user;
  graze_visibility_image_function image; /* slow; NULL: no pictures */
  void *image_user;
  uint32_t cookie;
} graze_visibility_def;

GRAZE_API graze_visibility_def graze_default_visibility_def(void);

/* ---- what is left ---------------------------------------------------------------------------------------------- */

/* Numbers of triangles of an object, ascending. */
typedef struct graze_visibility_triangles {
  const uint32_t *list;
  uint32_t count;
} graze_visibility_triangles;

/* A pair whose surfaces may meet: if they do, then with these triangles. The modes of the whole scene know what is left
 * of an object and not with which other one. */
typedef struct graze_visibility_pair {
  uint32_t a, b; /* numbers of objects, a < b; a = b: an object with itself */
  graze_visibility_triangles triangles_a, triangles_b;
} graze_visibility_pair;

/* Objects (of an object alone: triangles) by what the passes in order and in reverse have seen whole. Those of the
 * first set meet nothing; those of `first` nothing before them and those of `second` nothing after them in the order,
 * but they are left. Modes that do not keep sets have the first and the last only. */
typedef struct graze_visibility_sets {
  uint64_t both, first, second, neither;
} graze_visibility_sets;

typedef struct graze_visibility_result {
  const graze_visibility_pair *pairs; /* sorted; in the modes of the whole scene all pairs of left objects with boxes
                                         that meet */
  uint64_t pair_count;
  uint64_t hash;                             /* sum of graze_pair_hash over them */
  const graze_visibility_triangles *objects; /* one for each object: its triangles in any left pair */
  uint32_t left_objects;                     /* that have some */
  uint64_t left_triangles;
  uint64_t box_pairs; /* pairs of boxes that meet: what the pictures began with */
  uint32_t unjudged;  /* objects with coordinates that are not finite once posed: all pairs of theirs are left, whole */
  bool reliable;      /* nothing that meets anything can be missing */
  graze_visibility_sets sets;
  const graze_visibility_pass *passes;
  uint32_t pass_count;
  uint64_t queries; /* occlusion queries that the published methods asked */
  double seconds;
} graze_visibility_result;

/* Culls. The result belongs to `visibility` until its next cull; the input is not needed after the call. One object
 * alone has no pair, but in QCULLIDE. Takes 41 bytes for each triangle that is drawn, 432 more with PUBLISHED, and what
 * the device takes: with CLOSE 12 bytes a pixel, of at most 2^24 pixels at a time or of one picture. Drawn are those of
 * objects whose boxes meet another one; with CLOSE what is left of them by boxes, found in 12 bytes for each triangle
 * of each pair. O(triangles) per pass, and the pixels that they meet. Errors: ARGUMENT (the message says what: also
 * PUBLISHED in another mode than RCULLIDE), INDEX (object, triangle and corner are named), LIMIT (more than 2^32 - 1
 * triangles), MEMORY, DEVICE. GRAZE_CANCELLED: `progress` asked for it. Then there is no result. */
GRAZE_API graze_status graze_visibility_cull(graze_visibility *visibility, const graze_visibility_def *def,
                                             graze_visibility_result *result);

/* ---- the exact answer ------------------------------------------------------------------------------------------ */

/* Two objects whose surfaces meet, a < b. */
typedef struct graze_visibility_contact {
  uint32_t a, b;
  graze_counts counts;
  const graze_triangle_pair *pairs; /* counts.triangle_pairs of them, sorted */
} graze_visibility_contact;

typedef struct graze_visibility_contacts {
  const graze_visibility_contact *list; /* sorted by a, then b */
  uint64_t count;
  uint64_t triangle_pairs; /* of all */
  uint64_t hash;           /* sum of all hashes */
  graze_work work;         /* no nodes */
  double seconds;          /* of deciding, without the cull */
} graze_visibility_contacts;

/* Culls, with a mode that is reliable, and decides what is left: the pairs of triangles of different objects that meet,
 * at tier T1, as graze_collide_meshes finds them. No hierarchy is made: candidates are found by halving space until few
 * triangles share a cell. With CLOSE, pairs whose pictures would have more than four pixels for each triangle get no
 * finer ones. Containment is no contact. `left` (may be NULL) is what a cull gives. All belongs to `visibility` until
 * its next call. Takes 104 bytes for each triangle left of a pair, besides. Errors: those of a cull, and NOT_FINITE
 * (object and triangle are named). */
GRAZE_API graze_status graze_visibility_collide(graze_visibility *visibility, const graze_visibility_def *def,
                                                graze_visibility_result *left, graze_visibility_contacts *contacts);

/* Decides where the one object of `def` meets itself, as graze_collide_self does: of posed coordinates (T1). Patches of
 * some hundred triangles are held against each other as objects are; those with a corner in common meet, and stay. The
 * list belongs to `visibility` until its next call; there are no pictures for the eye. Takes about 320 bytes a
 * triangle. Errors: as above, and ARGUMENT for more objects than one or for pairs. */
GRAZE_API graze_status graze_visibility_collide_self(graze_visibility *visibility, const graze_visibility_def *def,
                                                     graze_self_result *result);

/* ---- the engine of a context ----------------------------------------------------------------------------------- */

/* From now on scenes of the context ask, before they decide pairs of objects, which of them are apart, and which
 * triangles of the others are left. Of the former the processor finds out only whether one object contains the other,
 * of the latter it decides short lists by themselves; and graze_collide_self is answered by the call above: the same
 * answers. It pays where nothing is prepared, and hardly ever where hierarchies are at hand. `def` says how to cull:
 * mode, which must be reliable, level, bounds, views and resolution; NULL: the defaults. Pairs of tier T2 are the
 * processor's. Until it is detached or destroyed, which must not happen during a call of the context, `visibility` is
 * the engine's. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_visibility_attach(graze_visibility *visibility, const graze_visibility_def *def);
GRAZE_API void graze_visibility_detach(graze_visibility *visibility);

/* Questions that it has answered since it was attached. */
GRAZE_API uint64_t graze_visibility_get_answered(const graze_visibility *visibility);

#ifdef __cplusplus
}
#endif
#endif
