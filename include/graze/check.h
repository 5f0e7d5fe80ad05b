/* graze/check.h: a whole clash check, from files to a report, as `graze check` does it. A library of its own
 * (graze_check), above the core, graze_io and graze_report.
 *
 * graze_check_open reads the files, graze_check_run decides the pairs, graze_check_write_folder writes the report. No
 * call ends the program or prints. Errors are statuses; graze_last_error and the context's logger have the reason.
 * What is not an error but worth knowing goes to the logger as a warning or as info.
 *
 * If the environment variable SOURCE_DATE_EPOCH (seconds since 1970) is set, it replaces the clock, and the same input
 * gives the same bytes.
 */
#ifndef GRAZE_CHECK_H
#define GRAZE_CHECK_H

#include "graze/base.h"
#include "graze/io.h"
#include "graze/report.h"
#include "graze/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is being done. A stage begins with `done` 0 and may occur more than once. */
typedef enum graze_check_stage {
  GRAZE_CHECK_FILES,   /* opening and reading files */
  GRAZE_CHECK_MESHES,  /* baking meshes */
  GRAZE_CHECK_PAIRS,   /* deciding pairs of objects; when graze_check_run begins, `total` is still 0 */
  GRAZE_CHECK_PICTURES /* drawing pictures */
} graze_check_stage;

/* Called on the thread that called the library. Return false to stop. */
typedef bool (*graze_check_progress_function)(void *user, graze_check_stage stage, uint64_t done, uint64_t total);

/* A pattern of a named set of objects; repeat the name to give a set several patterns. A shell pattern (*, ?, [...])
 * must match the whole name of an object, '/' not being special, or with "layer:PATTERN" its layer. */
typedef struct graze_check_set {
  const char *name, *pattern;
} graze_check_set;

typedef enum graze_check_rule_kind {
  GRAZE_CHECK_BETWEEN,       /* only pairs with an object in each of two sets, which may be the same set. Several such
                                rules add up */
  GRAZE_CHECK_IGNORE_NAMES,  /* no pairs of objects that match the two patterns */
  GRAZE_CHECK_IGNORE_LAYERS, /* no pairs of objects on the two layers */
  GRAZE_CHECK_IGNORE_SAME_PARENT, /* no pairs whose names have the same path before the last '/' */
  GRAZE_CHECK_CLEARANCE /* pairs of an object of one set and one of the other are to keep a length: the first such rule
                           that names a pair, then those of a scene file, then `clearance` of the definition */
} graze_check_rule_kind;

typedef struct graze_check_rule {
  graze_check_rule_kind kind;
  const char *first, *second; /* names of sets, patterns, or layers */
  const char *length;         /* of GRAZE_CHECK_CLEARANCE, as graze_check_def's `clearance` */
} graze_check_rule;

/* Parts of a report's folder. */
enum {
  GRAZE_CHECK_JSON = 1,    /* clashes.json, with curves */
  GRAZE_CHECK_CSV = 2,     /* clashes.csv */
  GRAZE_CHECK_JUNIT = 4,   /* junit.xml: clearance, cross, a_in_b, b_in_a and duplicate are failures */
  GRAZE_CHECK_BCF = 8,     /* clashes.bcf */
  GRAZE_CHECK_HTML = 16,   /* index.html, the page */
  GRAZE_CHECK_IMAGES = 32, /* pictures/ID.png, and overview.png */
  GRAZE_CHECK_EVERY_PART = 63
};

/* What a caller can offer to do about a check that cannot be opened (ARGUMENT). */
typedef enum graze_check_hint {
  GRAZE_CHECK_NO_HINT,
  GRAZE_CHECK_TOO_FEW_OBJECTS, /* fewer than two, so that nothing can be compared */
  GRAZE_CHECK_CAN_SPLIT,       /* the same, and `reading` may make more of mesh files */
  GRAZE_CHECK_UNITS_DIFFER,    /* `units` says what to convert to */
  GRAZE_CHECK_EMPTY_OBJECT     /* `allow_empty` passes it over */
} graze_check_hint;

/* Several processes that do one check together: each opens and runs it with the same definition but for `member`. Files
 * are read once by one of them, and again by those whose pairs need them; pairs are cut by cost; when graze_check_run
 * has returned, all have the same record. An error of one is that of all. With `relations` that list separate pairs, or
 * open meshes taken as surfaces, every member reads everything. Not with `previous`, `folder`, `joined` and
 * `every_mesh`. */
typedef struct graze_check_crew {
  uint32_t member, members; /* from 0 */
  /* Collective: everybody gets what all members give, in their order behind each other, and how many bytes each gave;
   * both are valid until the next call. An error is one of all members. */
  graze_status (*exchange)(void *user, const void *mine, uint64_t size, const void **all, const uint64_t **sizes);
  void *user;
} graze_check_crew;

/* Strings and arrays are not copied: they must live as long as the check. Pointers may be NULL, except `files`. */
typedef struct graze_check_def {
  /* One scene file (NAME.json), or any number of assemblies and mesh files. A mesh file is one object named after it.
   * With several files, the objects of each are on a layer named after the file. */
  const char *const *files;
  uint32_t file_count;
  unsigned reading; /* bits of graze/io.h: GRAZE_READ_GROUPS makes each group of a mesh file an object,
                       GRAZE_READ_PARTS each connected part of a mesh (neither of the meshes of a scene file, nor with
                       `joined`); GRAZE_READ_STRICT holds for all files */
  bool allow_empty; /* objects and files without triangles, about which a check says nothing, are no error */
  bool joined;      /* make each file one mesh and one object, assemblies too */

  /* The units to work in: m, mm, cm, in or ft. Files that state their units are converted, others are assumed to be in
   * these. NULL: those of the files, which must then agree. */
  const char *units;
  const char *file_units; /* the units of the numbers in the files, whatever the format or the scene file says; NULL: as
                             they say. Without `units` the check works in them, and nothing is converted */

  graze_up up; /* of the report; unknown: y if all files say that y is up, else z */

  const graze_check_set *sets;
  uint32_t set_count;
  const graze_check_rule *rules;
  uint32_t rule_count;

  graze_exactness exactness; /* default T1 */
  graze_open_rule open;      /* default GRAZE_OPEN_UNKNOWN */
  /* Overlaps to forgive: a length such as "0.5" (in the units of the check) or "0.5mm", or "precision": what the floats
   * or the decimals of the files leave open of the two objects. NULL: none. A clash is forgiven when the objects touch,
   * or when they cross and a translation of one, no longer than this, was proved to end it (graze_find_escape); with
   * "precision" also when corners within their roundings were (graze_find_moved_corners). A scene file may have lengths
   * for pairs of sets, of which the first that names a pair goes before this one. */
  const char *tolerance;
  /* What all pairs are to keep: a length such as "0.025" or "25mm". Objects that would be separate and are nearer than
   * that, strictly, are `clearance`. NULL: nothing. A scene file may have lengths for pairs of sets, which go before
   * this. */
  const char *clearance;
  bool depth; /* find how far objects that overlap have to be moved (graze_mesh_depth), each pair after the check;
                 implies every_mesh */
  unsigned relations; /* bits 1 << relation of those to report; default: all but GRAZE_SEPARATE, which
                         lists every other pair as well */

  bool triangles;  /* list the triangle pairs that meet */
  bool places;     /* default true: find box, point, depth and curve of each clash that is decided now */
  bool curves;     /* have the curve of every clash: those that the earlier report has without one are decided again */
  bool facts;      /* default true: find all facts of every mesh. Otherwise, of meshes that no pair needs, it may be
                      unknown how many parts they have and whether they are closed and oriented */
  bool every_mesh; /* bake every mesh, not only those that a pair needs */
  bool alone;      /* one object is no error: pairs are not what is asked for */
  /* Balls and capsules of a scene file are taken, and cylinders. Their meshes in the report are for pictures: who goes
   * by meshes must leave this out, and they are refused. Not with `depth` and a crew, and cylinders not with
   * clearances. */
  bool rounds, cylinders;

  const char *cache; /* folder of baked meshes, created if necessary */

  /* An earlier report, as JSON. Pairs that have not changed are taken from it, unless `relations` leaves some out:
   * pairs that it does not list may then meet. */
  const char *previous;
  const char *marks; /* a table of a reviewer's marks for the clashes of `previous` */
  const char *title; /* of the report; NULL: the name of the first file, or of the folder of a scene.json */

  /* For graze_check_write_folder; created by graze_check_open if necessary. FILE if it is neither empty nor that of an
   * earlier report. Implies places, curves, facts, every_mesh. */
  const char *folder;
  unsigned parts;         /* what to write; default GRAZE_CHECK_EVERY_PART */
  uint32_t most_pictures; /* draw the first so many clashes; default 1000 */

  const graze_check_crew *crew; /* NULL: this process alone */

  graze_check_progress_function progress;
  void *progress_user;
  graze_check_hint *hint; /* gets the hint when graze_check_open fails */
  double seconds;         /* stop so long after graze_check_open was called; default 0: never */
  uint32_t cookie;
} graze_check_def;

GRAZE_API graze_check_def graze_default_check_def(void);

typedef struct graze_check graze_check;

/* Reads the files. Errors: ARGUMENT (also for a set that does not exist or has no objects, units that differ or cannot
 * be converted, an object without triangles, unless `allow_empty`, and fewer than two objects, unless `joined`), FILE,
 * FORMAT, NOT_FINITE, INDEX, LIMIT, MEMORY, POSE, UNSUPPORTED; the message names file and place. GRAZE_CANCELLED: it
 * was stopped. */
GRAZE_API graze_status graze_check_open(graze_context *context, const graze_check_def *def, graze_check **check);
GRAZE_API void graze_check_destroy(graze_check *check);

/* Decides the pairs. To be called once. GRAZE_CANCELLED: it was stopped before every pair was decided; the report says
 * that it is incomplete and must not be read as clear. After any other error there is no result. Errors: those of
 * graze_scene_check and, since meshes are baked when a pair needs them, those of graze_check_open. */
GRAZE_API graze_status graze_check_run(graze_check *check);

/* In place of graze_check_run, for a check that was opened with `joined`: the report is of the meshes against
 * themselves. `results`: one of each object, of graze_collide_self with GRAZE_FIND_ALL. Self pairs that share triangles
 * are one clash; its objects are two new ones, "NAME/place 1a" and "NAME/place 1b", of the triangles of either side,
 * and the mesh's own keeps the rest. Errors: ARGUMENT (not listed, or it has run), MEMORY. */
GRAZE_API graze_status graze_check_take_self(graze_check *check, const graze_self_result *results);

/* The record. It belongs to the check: head, rules and objects once it is open, clashes once it has run. */
GRAZE_API const graze_report *graze_check_report(const graze_check *check);

typedef struct graze_check_counts {
  uint32_t objects;   /* in the files. The record lists them first, and behind them those that only an earlier report
                         knows */
  uint64_t triangles; /* of these objects; round ones have none */
  uint64_t ignored_pairs; /* by rules for layers and by the list of a scene file */
  uint32_t open_clashes;  /* neither separate nor resolved nor forgiven nor approved; unknown ones cannot be approved */
  uint32_t unpainted;     /* clashes that graze_check_write_folder left without a picture: there were more than
                             `most_pictures`, or it was stopped */
  double load_seconds, build_seconds, query_seconds;
  /* Of this member of a crew: meshes that it has read for pairs, pairs that it decided, and the triangles of these. */
  uint64_t read_meshes, decided_pairs, decided_triangles;
} graze_check_counts;

GRAZE_API graze_check_counts graze_check_get_counts(const graze_check *check);

/* A length such as "0.5", in the units of the check, or "0.5mm", as a number in these units: the decimal is rounded to
 * a double, and the conversion once more. `name` is what messages call it. Errors: ARGUMENT (not a finite length of 0
 * or more, or of a unit that is not known or cannot be converted). */
GRAZE_API graze_status graze_check_read_length(const graze_check *check, const char *name, const char *text,
                                               double *length);

/* Sets the engine that the report names; "cpu" by default. graze_gpu_get_report tells whether a device took part. The
 * text is not copied. */
GRAZE_API void graze_check_set_engine(graze_check *check, const char *engine);

/* Writes the parts into the folder, the page last; until then a page says that the report is not finished. What this
 * machine or build cannot make is left out, with a warning; when it is stopped, pictures are left out. Errors: ARGUMENT
 * (no folder, or the check has not run), FILE, MEMORY, and those of the writers. */
GRAZE_API graze_status graze_check_write_folder(graze_check *check);

/* ---- objects that move: the same files and rules for graze_scene_update ----------------------------------------- */

/* graze_read_motion for the objects of the check, with lengths converted like theirs. Free it with graze_motion_free.
 */
GRAZE_API graze_status graze_check_read_motion(graze_check *check, const char *path, graze_motion *motion);

/* Makes a scene of the objects, with their rules; `ids` gets one id for each object. Rules by name are applied to the
 * pairs that can meet, or come nearer than they may, during `motion` (NULL: where the objects are); what overlaps is
 * not forgiven, and a warning says so where there are tolerances. Destroy the scene before the check. Errors: those of
 * graze_scene_add and, if not every mesh is baked yet, of graze_check_run. */
GRAZE_API graze_status graze_check_make_scene(graze_check *check, const graze_motion *motion, graze_scene **scene,
                                              graze_object_id *ids);

/* Has updates of that scene keep the clearances of the check, which must outlive them: sets `clearance`, `reach` and
 * `clearance_user`, to NULL where none is asked for. */
GRAZE_API void graze_check_set_clearances(graze_check *check, graze_scene_update_options *options);

/* Writes the film of a run into the folder: the page index.html and, for `frames` steps spread evenly over the run,
 * frames/NNNN.png and film.png. `film` is as for graze_film_write_html, but may contain moves of later steps and moves
 * that change nothing. What this machine or build cannot make is left out, with a warning. Errors: ARGUMENT, FILE,
 * INDEX, MEMORY, NOT_FINITE. */
GRAZE_API graze_status graze_check_write_film(graze_check *check, const graze_film *film, uint32_t frames);

#ifdef __cplusplus
}
#endif
#endif
