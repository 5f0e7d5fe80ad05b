/* The inside of a check: what it holds, and the steps that fill it. */
#ifndef GRAZE_CHECK_CHECK_H
#define GRAZE_CHECK_CHECK_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "graze/check.h"

/* ---- memory.c: memory that is the check's until it ends; for the calling thread ---- */

/* `count` cleared elements of `size` bytes, one at least. NULL: refused, and told to the logger. */
void *gz_check_alloc(graze_check *c, uint64_t count, size_t size);

/* Room for one more element of an array whose capacity is the next power of two; NULL: refused. */
void *gz_check_grow(graze_check *c, void *array, uint64_t count, size_t size);

/* A text; one behind another. NULL: refused, or `before` is. */
char *gz_check_print(graze_check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *gz_check_append(graze_check *c, const char *before, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void gz_check_release(graze_check *c);

/* The number of the text, which is `value` if it was not there; NULL: refused. */
uint32_t *gz_check_map_add(graze_check *c, gz_text_map *map, const char *text, size_t length, uint32_t value);

/* ---- what a check holds ---- */

typedef enum bake_stage {
  BAKE_NOTHING,
  BAKE_MESH,     /* the mesh, of all triangles, with float coordinates where nothing is lost */
  BAKE_MEASURED, /* facts that need no neighbours; the geometry is kept if it is not in an open file */
  BAKE_FACTS     /* all facts and no mesh */
} bake_stage;

typedef struct check_mesh {
  graze_check *check;
  const char *path;
  const graze_scene_file_object *shape; /* NULL: the mesh as the file has it */
  bake_stage next;                      /* what is to be made of it */
  bool measured;                        /* there are facts; */
  bool wanted;                          /* a pair needs it */
  bool again;                           /* its geometry is not kept, and its file is read again when a pair needs it */
  graze_mesh *mesh;                     /* of a round shape: for pictures, */
  graze_mesh *core;                     /* and this is what is checked */
  graze_mesh_facts facts;               /* where `adjacency` is not set, not all of these are known; */
  graze_solid_facts solid;              /* known where those are and `solid_known` is set, */
  bool solid_known;                     /* as it is, of a check that tells facts, once it has run; */
  bool floats;                          /* as graze_geometry's stored_floats, */
  double rounding;                      /* and its rounding */
  const graze_assembly *assembly;       /* the geometry is in its file, */
  uint32_t number;                      /* as this mesh of it, */
  graze_geometry geometry;              /* or here */
  graze_mesh_source source;
} check_mesh;

typedef struct check_object {
  const char *name, *layer;
  uint32_t mesh;
  graze_pose pose;            /* times the factor, */
  double center[3];           /* of motion, in the mesh: not times the factor */
  double factor;              /* by which the units of its file are converted */
  double radius;              /* likewise, of a round shape; 0: it is a mesh */
  const char *label;          /* NULL: none */
  const graze_pose *rounding; /* what the numbers of the pose may be off by; NULL: nothing is known */
} check_object;

typedef struct object_set {
  const char *name; /* NULL: made of a single pattern by an ignore rule */
  const char **patterns;
  uint32_t pattern_count;
} object_set;

typedef enum rule_kind {
  RULE_ONLY,          /* check pairs of an object of one set and one of the other; several such rules add up */
  RULE_IGNORE,        /* leave out pairs of an object of one set and one of the other */
  RULE_IGNORE_LAYERS, /* the same of two layers */
  RULE_IGNORE_PAIRS,  /* pairs that the scene file lists */
  RULE_SAME_PARENT,   /* leave out objects whose names have the same path before the last '/' */
  RULE_RELATIONS,     /* pairs that are checked and, by their relation, not reported */
  RULE_OPEN,          /* open meshes are surfaces; it counts the checked pairs that it concerns */
  RULE_FORGIVE,       /* overlaps of pairs of two sets, or of all; it counts those that are forgiven */
  RULE_CLEARANCE      /* what pairs of two sets, or all, are to keep; it counts those that are nearer */
} rule_kind;

typedef struct rule {
  rule_kind kind;
  uint32_t first, second; /* sets; of RULE_FORGIVE and RULE_CLEARANCE, UINT32_MAX: all objects */
  double length;          /* of these two; infinite: the precision of the files */
  const char *layers[2];  /* of RULE_IGNORE_LAYERS */
  const char *text;       /* as a report shows it. All that selects pairs stands in it: an earlier report with the same
                             texts is an answer to the same question */
  uint64_t pairs; /* taken out or let in: of objects whose boxes meet, or of all if all are listed; of ignored layers
                     and listed pairs, wherever the objects are */
} rule;

typedef struct rules {
  object_set *sets;
  uint32_t set_count;
  rule *list;
  uint32_t count;
  bool only;           /* some rule is RULE_ONLY */
  bool tolerant;       /* some rule is RULE_FORGIVE, */
  bool clear;          /* RULE_CLEARANCE */
  uint64_t other_sets; /* pairs left out because no RULE_ONLY names them */
  uint64_t *members;   /* bit s of an object's words: it is in set s */
  uint32_t words;
  uint32_t *parents; /* number of the path before the last '/'; 0 = none */
} rules;

/* An earlier report, and what of it is an answer to the question of now. */
typedef struct known_clash { /* objects of now, and what was found */
  uint32_t a, b;
  const graze_report_previous_clash *clash;
} known_clash;

typedef struct earlier {
  pthread_t thread;
  bool started;
  graze_error error;
  graze_report_previous *report;
  graze_report_reuse *reuse; /* NULL: nothing is known */
  known_clash *clashes;      /* in the order of the check */
  uint32_t clash_count;
  uint64_t count; /* of known pairs, with those that are separate */
} earlier;

/* The error of jobs that run side by side: that of the first one in order. */
typedef struct fault {
  pthread_mutex_t mutex;
  uint64_t job;
  graze_error error;
} fault;

struct graze_check {
  graze_context *context;
  graze_check_def def;
  struct arena_chunk *chunks;
  pthread_t caller; /* of the call that is under way */
  double start;     /* when it was opened */
  _Atomic bool stopped;
  bool ran;
  bool lazy;       /* meshes in open files are measured, and baked when a pair needs them, */
  bool hold;       /* and so are those whose geometry must be in memory till then */
  bool crew_ended; /* a member has failed, and all know it */
  fault fault;

  check_mesh *meshes;
  uint32_t mesh_count;
  check_object *objects;
  uint32_t object_count;
  graze_scene_file file; /* ignore rules, and the owner of paths and layers */
  graze_up up;           /* of every file so far */
  const char *units;     /* of every coordinate after the pose; "" = not known */
  gz_text_map names;
  graze_assembly **open; /* files that still have geometry to read */
  uint32_t open_count;
  _Atomic bool told; /* that the cache takes nothing */

  rules rules;
  earlier earlier;

  graze_scene *scene;
  graze_scene_check_result result;
  uint32_t wanted_meshes, baked_meshes;
  double bake_begin, bake_end; /* of meshes that pairs needed */

  graze_report report;
  graze_report_object *report_objects;
  graze_report_clash *clashes; /* of now */
  graze_report_rule *report_rules;
  uint64_t left_out; /* pairs whose relation was not asked for */
  graze_report_groups groups;
  graze_report_merged merged;
  char created[32];
  uint32_t unpainted;
  double load_seconds, build_seconds, query_seconds;
};

/* ---- jobs.c ---- */

/* Adds the time since `start`; totals are whole nanoseconds, so that they print short. */
void gz_check_add_time(double *total, double start);

/* A line to the logger. From any thread. */
void gz_check_note(const graze_check *c, graze_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether to go on. From the calling thread only. */
bool gz_check_go_on(graze_check *c, graze_check_stage stage, uint64_t done, uint64_t total);

/* Work on one item. */
typedef graze_status (*job_body)(graze_check *c, void *item);

typedef struct check_jobs {
  graze_check *check;
  graze_check_stage stage;
  void **items;
  uint32_t count;
  bool (*is_large)(const void *item);
  job_body body;
  bool *large; /* private */
  _Atomic uint32_t done;
} check_jobs;

/* Large ones one after another, with all threads behind each, small ones side by side. */
graze_status gz_check_run_jobs(check_jobs *jobs);

/* One job; its error goes to the check's fault. */
graze_status gz_check_run_job(graze_check *c, uint64_t number, job_body body, void *item);

/* Tells what went wrong in jobs, if anything did. */
graze_status gz_check_tell_fault(const graze_check *c);

/* ---- bake.c ---- */

/* Reads the geometry of meshes `first` and on, each of a file of its own. */
graze_status gz_check_read(graze_check *c, uint32_t first);

/* In a crew that shares files, where not every member reads them: notes those without triangles. */
void gz_check_note_measured(const graze_check *c, uint32_t first);

/* Makes what each mesh from `first` on is to become next. Meshes are taken from the cache, and put there. */
graze_status gz_check_bake(graze_check *c, uint32_t first);

/* The facts of a mesh; those that are told only, into `m`. */
graze_status gz_check_know(check_mesh *m, const graze_mesh *mesh, graze_mesh_facts *facts);

/* shape.c: the geometry of a box, and that of round shapes for pictures; that of a hull from its file's, which has been
 * read. What shapes are called, and the same for the same ones; NULL: no memory. */
graze_status gz_check_make_shape(graze_context *context, const graze_scene_file_object *object,
                                 graze_geometry *geometry);
char *gz_check_shape_name(graze_check *c, const graze_scene_file_object *object);

static inline bool shape_is_round(graze_shape shape) {
  return shape == GRAZE_SHAPE_SPHERE || shape == GRAZE_SHAPE_CAPSULE || shape == GRAZE_SHAPE_CYLINDER;
}

static inline bool mesh_is_cylinder(const check_mesh *m) {
  return m->shape != NULL && m->shape->shape == GRAZE_SHAPE_CYLINDER;
}

/* What cannot be checked is refused by the name of the object; with clearances, what cannot be measured. */
graze_status gz_check_refuse_shape(const graze_check *c, const char *path, const graze_scene_file_object *object);
graze_status gz_check_refuse_clearance(const graze_check *c);

/* The cores of meshes that are round shapes. */
graze_status gz_check_make_cores(graze_check *c);

/* For the scene: a mesh_source's function; its user is a check_mesh. */
graze_status gz_check_load_mesh(void *user, const graze_mesh **mesh);

/* ---- load.c ---- */

/* From files to meshes and objects. */
graze_status gz_check_load(graze_check *c);
void gz_check_close_files(graze_check *c); /* and frees what was held of them */
bool gz_check_is_large(const char *path);  /* a file that is worth all threads */
graze_pose gz_check_scaled(const graze_pose *pose, double factor);
double gz_check_metres(const char *unit); /* in it; 0: not known here */

/* As gz_fail, with ARGUMENT and a hint for the caller. */
graze_status gz_check_hint(const graze_check *c, graze_check_hint hint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The file's name without folders and ending; NULL: refused. */
char *gz_check_stem(graze_check *c, const char *path);

/* ---- tolerance.c: overlaps that are forgiven ---- */

/* A length such as "0.5" or "0.5mm", in the units of the check; `own`: those of a plain number, or "". `name` is what
 * messages call it. Errors: ARGUMENT. */
graze_status gz_check_parse_length(const graze_check *c, const char *name, const char *text, const char *own,
                                   double *length);

/* The same of a tolerance. Infinite: "precision". */
graze_status gz_check_parse_tolerance(const graze_check *c, const char *text, const char *own, double *length);

/* For the scene, with the check as user: a graze_rounding_function. */
bool gz_check_roundings(void *user, uint64_t a, uint64_t b, const graze_outline *outline, graze_rounding roundings[2]);

/* Marks the clash when its pair is forgiven. */
void gz_check_forgive(graze_check *c, const graze_outline *outline, graze_report_clash *clash);

/* ---- rules.c ---- */

/* The rules of the definition and of the scene file, the members of every set (one without any is an error), and what
 * the ignore lists take out. */
graze_status gz_check_make_rules(graze_check *c);

/* Whether a pair is to be checked. Each pair counts for the first rule that decides it. */
bool gz_check_rules_want(graze_check *c, uint64_t a, uint64_t b);

/* Whether rules_want must be asked: it can say no, or counts. */
bool gz_check_rules_select(const graze_check *c);

/* The first rule of that kind that names the pair; NULL: there is none. */
rule *gz_check_forgiving_rule(graze_check *c, uint64_t a, uint64_t b);
rule *gz_check_clearance_rule(graze_check *c, uint64_t a, uint64_t b);

/* For the scene, with the check as user: what a pair is to keep, and the most that an object is to. */
double gz_check_clearance(void *user, uint64_t a, uint64_t b);
double gz_check_reach(void *user, uint64_t object);

/* ---- earlier.c ---- */

/* Begins to read the earlier report on a thread of its own, and ends that; then `earlier.report` is there. */
void gz_check_earlier_begin(graze_check *c);
graze_status gz_check_earlier_end(graze_check *c);

/* Finds what it answers. */
graze_status gz_check_known_begin(graze_check *c);

/* Whether it answers for objects a < b; then notes what it says. */
bool gz_check_known(graze_check *c, uint32_t a, uint32_t b);

/* Whether the definition leaves relations out. */
bool gz_check_leaves_out(const graze_check *c);

/* ---- scene.c, record.c ---- */

/* Bakes what is needed and checks. GRAZE_CANCELLED: the result has what was finished. */
graze_status gz_check_decide(graze_check *c);

/* Objects, rules and the head, before the check; clashes, ids, states and groups after it. */
graze_status gz_check_record_begin(graze_check *c);
void gz_check_record_fill(graze_check *c); /* the meshes that are there now, and how much each rule has done */
graze_status gz_check_record_finish(graze_check *c, bool complete);

/* depth.c: of the clashes that are listed, if it is asked for. */
graze_status gz_check_find_depths(graze_check *c);

/* The same where `clashes` and `objects` are filled already: those of self.c. */
graze_status gz_check_record_finish_self(graze_check *c);

/* A clash without place, curve and history. */
graze_report_clash gz_check_plain_clash(uint32_t a, uint32_t b, graze_relation relation, const graze_counts *counts);

/* ---- folder.c: for the folders of reports and films ---- */

/* A file that is not there is no error; a path that is NULL is one of memory. */
graze_status gz_check_remove(const graze_check *c, const char *path);

/* The status of a call whose error the logger has not been told: it is, but what this machine cannot make is a warning
 * only. */
graze_status gz_check_may_lack(const graze_check *c, graze_status status);

#endif
