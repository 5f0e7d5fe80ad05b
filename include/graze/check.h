/* graze/check.h: a whole clash check, from files to a report, as `graze check` does it. A library of its own
 * (graze_check), above the core, graze_io and graze_report.
 *
 * Open reads the files and makes objects, rules and the earlier report of them; run decides the pairs; write_folder
 * writes the report. No call ends the program or prints. What fails returns a status, and the reason goes to the
 * context: to its logger as an error, and graze_last_error gives it; what a user should know besides goes there as a
 * warning, or as info.
 *
 * The environment variable SOURCE_DATE_EPOCH, seconds since 1970, stands for the clock: the same input then gives the
 * same bytes.
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

/* What takes time. A stage begins with `done` 0, and may come more than once. */
typedef enum graze_check_stage {
  GRAZE_CHECK_FILES,  /* being opened and read */
  GRAZE_CHECK_MESHES, /* being baked */
  GRAZE_CHECK_PAIRS,  /* of objects, being decided; the first word of it comes when run begins, with `total` 0 */
  GRAZE_CHECK_PICTURES
} graze_check_stage;

/* Called from the thread that opens, runs or writes. Return false to stop. */
typedef bool (*graze_check_progress_function)(void *user, graze_check_stage stage, uint64_t done, uint64_t total);

/* A pattern of a named set of objects; a set has as many as there are entries with its name. Shell patterns (*, ?,
 * [...]) over the whole name of the object, '/' not being special; "layer:PATTERN" is one over its layer. */
typedef struct graze_check_set {
  const char *name, *pattern;
} graze_check_set;

typedef enum graze_check_rule_kind {
  GRAZE_CHECK_BETWEEN,       /* only pairs of an object of the set `first` and one of the set `second`, which may be
                                the same; several such rules add up */
  GRAZE_CHECK_IGNORE_NAMES,  /* no pairs of an object that matches the pattern `first` and one that matches `second` */
  GRAZE_CHECK_IGNORE_LAYERS, /* no pairs of an object of the layer `first` and one of `second` */
  GRAZE_CHECK_IGNORE_SAME_PARENT /* no pairs whose names have the same path before the last '/' */
} graze_check_rule_kind;

typedef struct graze_check_rule {
  graze_check_rule_kind kind;
  const char *first, *second;
} graze_check_rule;

/* Parts of a report's folder. */
enum {
  GRAZE_CHECK_JSON = 1,    /* clashes.json, with curves */
  GRAZE_CHECK_CSV = 2,     /* clashes.csv */
  GRAZE_CHECK_JUNIT = 4,   /* junit.xml: cross, a_in_b, b_in_a and duplicate are failures */
  GRAZE_CHECK_BCF = 8,     /* clashes.bcf */
  GRAZE_CHECK_HTML = 16,   /* index.html, the page */
  GRAZE_CHECK_IMAGES = 32, /* pictures/ID.png, and overview.png */
  GRAZE_CHECK_EVERY_PART = 63
};

/* Strings and arrays must live as long as the check. */
typedef struct graze_check_def {
  const char *const
      *files; /* one scene file (NAME.json), or any number of assemblies and mesh files. Each mesh file is
                 an object named after it; with several files, a file's objects are a layer of that name */
  uint32_t file_count;
  bool split;        /* an object of each group of a mesh file */
  bool joined;       /* every file, assemblies too, is one mesh and one object */
  const char *units; /* to work in: m, mm, cm, in or ft; files that say theirs are converted, others are taken to be in
                        them. NULL: as the files say, which must then agree */

  const graze_check_set *sets;
  uint32_t set_count;
  const graze_check_rule *rules;
  uint32_t rule_count;

  graze_exactness exactness; /* default T1 */
  graze_open_rule open;      /* default GRAZE_OPEN_UNKNOWN */
  unsigned relations;        /* bit 1 << relation of those that are reported; default all but separate. With separate
                                every pair is listed */
  bool triangles;            /* list the triangle pairs that meet */
  bool places;               /* default true: box, point, depth and curve of the clashes that are decided now */
  bool curves;               /* the curve of every clash, also of one that an earlier report has without it */
  bool facts;                /* default true: all facts of every mesh. Else some of those that no pair needs are not
                                known: parts, and whether it is closed and oriented */
  bool every_mesh;           /* have every mesh. Else the report has those alone that a pair needs */

  const char
      *cache; /* folder of baked meshes, made if need be: meshes are taken from there and put there. NULL: none */
  const char *previous; /* an earlier report, as JSON; NULL: none. Pairs that have not changed are taken from it,
                           unless `relations` leaves some out: then what it does not list may meet */
  const char *marks;    /* a reviewer's table for it; NULL: none */
  const char *title;    /* of the report; NULL: the first file's name */

  const char *folder; /* for graze_check_write_folder, made if need be; NULL: none. Implies places, curves, facts and
                         every_mesh */
  unsigned parts;     /* of it; default GRAZE_CHECK_EVERY_PART */
  uint32_t most_pictures; /* so many of the clashes are painted; default 1000 */

  graze_check_progress_function progress; /* NULL: nobody watches */
  void *progress_user;
  double seconds; /* after so many, from the opening on, it stops as if progress had said so; 0 = never */
  uint32_t cookie;
} graze_check_def;

GRAZE_API graze_check_def graze_default_check_def(void);

typedef struct graze_check graze_check;

/* Reads the files. Errors: ARGUMENT (also: a set that is not there, units that cannot be converted or differ, a single
 * object), FILE, FORMAT, NOT_FINITE, INDEX, LIMIT, MEMORY, POSE, UNSUPPORTED: the message names the file and the place.
 * GRAZE_CANCELLED: it was stopped. */
GRAZE_API graze_status graze_check_open(graze_context *context, const graze_check_def *def, graze_check **check);
GRAZE_API void graze_check_destroy(graze_check *check);

/* Decides the pairs; once for each check. GRAZE_CANCELLED: it was stopped before every pair was decided; the report
 * then says that it is incomplete, and must not be read as clear. After another error there is no result. Errors: as
 * graze_scene_check, and as the files, for meshes that are read when a pair needs them. */
GRAZE_API graze_status graze_check_run(graze_check *check);

/* What is known so far: head, rules and objects when it is open, with the clashes when it has run. The check's own. */
GRAZE_API const graze_report *graze_check_report(const graze_check *check);

typedef struct graze_check_counts {
  uint32_t objects; /* of the files: the first ones of the report, which has those of an earlier report's resolved
                       clashes behind them */
  uint64_t triangles;
  uint64_t ignored_pairs; /* by rules for layers, and by the scene file's list */
  uint32_t open_clashes;  /* of now: not separate, not approved. A mark does not approve what is unknown */
  uint32_t unpainted;     /* clashes of now that write_folder has left without a picture: there were more than
                             `most_pictures`, or it was stopped */
  double load_seconds, build_seconds, query_seconds;
} graze_check_counts;

GRAZE_API graze_check_counts graze_check_get_counts(const graze_check *check);

/* What the report calls the engine, "cpu" unless it is told: graze_gpu_get_report tells whether a device took part. Not
 * copied. */
GRAZE_API void graze_check_set_engine(graze_check *check, const char *engine);

/* Writes the parts into the folder; the page comes last, so that a folder with a page is complete. What this machine or
 * build cannot make is left out, with a warning. Stopping it leaves pictures out. Errors: ARGUMENT (no folder, or it
 * has not run), FILE, MEMORY. */
GRAZE_API graze_status graze_check_write_folder(graze_check *check);

/* ---- objects that move: the same files and rules for graze_scene_update ----------------------------------------- */

/* graze_read_motion for the objects of the check, with lengths converted as those of the objects. To be freed with
 * graze_motion_free. */
GRAZE_API graze_status graze_check_read_motion(graze_check *check, const char *path, graze_motion *motion);

/* A scene of the objects with their rules; `ids` gets one id for each object. `motion` (NULL: none) says how far they
 * get: rules by name are worked out for pairs that can meet then. The caller destroys the scene before the check.
 * Errors: as graze_scene_add and, where not every mesh was asked for, as graze_check_run. */
GRAZE_API graze_status graze_check_make_scene(graze_check *check, const graze_motion *motion, graze_scene **scene,
                                              graze_object_id *ids);

/* Writes the film of a run into the folder: the page index.html and, of `frames` of the steps (all, if there are
 * fewer), frames/NNNN.png and film.png. `film` is as for graze_film_write_html, but may have moves of later steps, and
 * moves that change nothing. What this machine or build cannot make is left out, with a warning. Errors: ARGUMENT,
 * FILE, INDEX, MEMORY, NOT_FINITE. */
GRAZE_API graze_status graze_check_write_film(graze_check *check, const graze_film *film, uint32_t frames);

#ifdef __cplusplus
}
#endif
#endif
