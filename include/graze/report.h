/* graze/report.h: what a check found, as a record, and the files that are made of it. A library of its own
 * (graze_report), beside the core and graze_io.
 *
 * The record only points: strings, meshes and curves stay the caller's and must live as long as the call. Every
 * writer writes a whole file or none (a partial file is removed), and the same record gives the same bytes.
 */
#ifndef GRAZE_REPORT_H
#define GRAZE_REPORT_H

#include "graze/base.h"
#include "graze/io.h"
#include "graze/math.h"
#include "graze/mesh.h"
#include "graze/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAZE_NO_GROUP UINT32_MAX

typedef struct graze_report_object {
  const char *name;       /* unique in the report; of assemblies the path of the node, "Site/Pump 3/Flange" */
  const char *layer;      /* "" = none */
  const char *file;       /* where its mesh came from */
  const graze_mesh *mesh; /* NULL, and no facts: known by name only (an object of an earlier run's resolved clash) */
  graze_pose pose;
  const graze_mesh_facts *facts; /* where there is no mesh: what is known of it. Views and pictures leave it out */
} graze_report_object;

typedef enum graze_report_state {
  GRAZE_STATE_NONE = 0, /* no earlier report was given */
  GRAZE_STATE_NEW,
  GRAZE_STATE_ACTIVE,  /* was in the earlier report as well */
  GRAZE_STATE_RESOLVED /* was in the earlier report and is no more: carried on without counts and curve */
} graze_report_state;

GRAZE_API const char *graze_report_state_string(graze_report_state state); /* "", "new", "active", "resolved" */

typedef struct graze_report_clash {
  uint32_t a, b; /* numbers of objects, a < b */
  char id[24];   /* stable from run to run: of names and coarse place; letters, digits and '-' */
  graze_relation relation;
  const char *reason; /* for UNKNOWN and for resolved ones, a sentence; else NULL */
  graze_counts counts;
  graze_box box;   /* of the common set; in the scene's units */
  double point[3]; /* a point of the common set, or near it */
  double depth;    /* rough estimate of the overlap depth, in the scene's units; 0 for touch, NaN = none */

  /* The intersection curve: polyline k has points curve_starts[k] .. curve_starts[k + 1] - 1. */
  const double (*curve_points)[3];
  const uint32_t *curve_starts; /* curve_count + 1 numbers */
  uint32_t curve_count;

  const graze_triangle_pair *triangles; /* the counts.triangle_pairs pairs, sorted; NULL = not listed. For JSON only */

  graze_report_state state;
  const char *found;                                /* `created` of the report that had it first; "" = this one */
  const char *mark;                                 /* the reviewer's: "", "reviewed" or "approved" */
  const char *comment;                              /* the reviewer's; "" = none */
  uint32_t group_object, group_layers, group_place; /* numbers of groups, or GRAZE_NO_GROUP */
} graze_report_clash;

typedef enum graze_group_kind { GRAZE_GROUP_OBJECT, GRAZE_GROUP_LAYERS, GRAZE_GROUP_PLACE } graze_group_kind;

typedef struct graze_report_group {
  graze_group_kind kind;
  const char *title; /* "Pump 3", "pipes / steel", "near 12.5 3 0.8" */
  uint32_t clashes;
} graze_report_group;

typedef struct graze_report_rule { /* a selection or ignore rule, and how many object pairs it took out or let in */
  const char *text;
  uint64_t pairs;
} graze_report_rule;

typedef struct graze_report {
  const char *title;
  const char *created; /* ISO 8601 in UTC, the caller's clock: "2025-01-31T12:00:00Z" */
  const char *units;   /* "m", "mm", ...; "" = not known */
  const char *engine, *exactness;
  bool complete; /* false: stopped before every pair was checked; every writer says so where it is seen first */
  const graze_report_object *objects;
  uint32_t object_count;
  const graze_report_clash *clashes; /* in the order of the check; resolved ones last */
  uint32_t clash_count;
  const graze_report_group *groups;
  uint32_t group_count;
  const graze_report_rule *rules;
  uint32_t rule_count;
  uint64_t object_pairs; /* pairs of objects that were to be checked */
  uint64_t reused_pairs; /* those of them that an earlier report says are separate, not checked again */
  double load_seconds, build_seconds, query_seconds;
} graze_report;

/* ---- files ---- */

/* Comma-separated (RFC 4180, UTF-8): a header line and a line a clash. An incomplete check has a line that says so
 * before the others, with state "incomplete" and no id. Errors, here and below: ARGUMENT (the record contradicts
 * itself; the message names the clash), FILE, MEMORY. */
GRAZE_API graze_status graze_report_write_csv(graze_context *context, const char *path, const graze_report *report);

/* Takes the next `size` bytes; false = it cannot, and no more are sent. */
typedef bool (*graze_report_sink)(void *user, const void *bytes, size_t size);

/* What `graze check --format json` prints, and what graze_report_previous_read reads: docs/report.md has every key.
 * `curves`: with the intersection curves. */
GRAZE_API graze_status graze_report_write_json(graze_context *context, const char *path, const graze_report *report,
                                               bool curves);

/* The same to a sink. A sink that refuses is GRAZE_ERROR_FILE. */
GRAZE_API graze_status graze_report_send_json(graze_context *context, graze_report_sink sink, void *user,
                                              const graze_report *report, bool curves);

/* JUnit XML: a test suite a layer pair, a test case a clash. Relations in `failing` (bit 1 << relation) are failures,
 * `unknown` is an error even when it is approved, resolved and approved ones are skipped, all others pass; with nothing
 * found one passing case says so. An incomplete check is an error case of its own, in the first suite. */
GRAZE_API graze_status graze_report_write_junit(graze_context *context, const char *path, const graze_report *report,
                                                unsigned failing);

/* A picture: RGB, 8 bits, rows from the top. */
typedef struct graze_picture {
  uint8_t *pixels; /* 3 * width * height */
  uint32_t width, height;
} graze_picture;

/* From where a clash is looked at: the camera that pictures, BCF viewpoints and the page share. */
typedef struct graze_camera {
  double eye[3];
  double forward[3], up[3]; /* unit, at right angles */
  double field_of_view;     /* vertical, degrees */
} graze_camera;

/* Off-screen renderer (EGL and OpenGL 4.5, loaded at run time; Mesa's llvmpipe will do, a hardware device is taken
 * first). Create fails with UNSUPPORTED and a message with the reason where there is none, or where GRAZE_DISABLE in
 * the environment lists "opengl"; with ARGUMENT for sides outside of 16 to 16384 pixels, INDEX for a clash of objects
 * that are not there, and MEMORY. The record and its meshes must outlive it. One thread at a time; the calling thread's
 * own OpenGL context, if any, is as before after each call. The same device paints the same bytes. */
typedef struct graze_painter graze_painter;

GRAZE_API graze_status graze_painter_create(graze_context *context, const graze_report *report, uint32_t width,
                                            uint32_t height, graze_painter **painter);
GRAZE_API void graze_painter_destroy(graze_painter *painter);
GRAZE_API const char *graze_painter_device(const graze_painter *painter); /* "llvmpipe (LLVM 15.0.6, 256 bits)" */

/* The whole assembly in calm colours by layer, objects that clash in orange, a dot at each clash that shows through
 * everything; resolved clashes are left out. `picture` belongs to the painter, valid until its next call. Errors:
 * ARGUMENT, MEMORY, UNSUPPORTED (the device failed). */
GRAZE_API graze_status graze_painter_overview(graze_painter *painter, graze_picture *picture);

/* Clash `index` from its least hidden side: object a in orange, b in blue, striped where they share a surface; of what
 * stands around them the nearest, pale and never before the clash; the curve over everything, thinner where it is
 * hidden; z is up. An object that holds the other one is seen into. `camera` (may be NULL) gets where it was seen from.
 * Only what is near the clash is drawn. Errors: ARGUMENT (also: neither object has a mesh), MEMORY, UNSUPPORTED. */
GRAZE_API graze_status graze_painter_clash(graze_painter *painter, uint32_t index, graze_picture *picture,
                                           graze_camera *camera);

/* A camera without graphics: the same framing, from the direction in which the fewest objects' boxes stand in the way.
 * Never fails; for a clash that nothing places it looks at the origin. O(objects). */
GRAZE_API graze_camera graze_report_camera(const graze_report *report, uint32_t index);

/* The cameras of all clashes, O(clashes * objects) of little. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_report_cameras(graze_context *context, const graze_report *report, graze_camera *cameras);

/* Errors: ARGUMENT, FILE, UNSUPPORTED (built without libpng). */
GRAZE_API graze_status graze_picture_write_png(graze_context *context, const char *path, const graze_picture *picture);

/* BCF 2.1 (buildingSMART): a zip with a topic, viewpoint and snapshot a clash; both components named. `snapshots`:
 * folder that has ID.png for each clash, or NULL for none; a clash without a picture there becomes a topic without one.
 * cameras: one a clash, or NULL for graze_report_camera. Topics have GUIDs made from the clash ids, so that a later
 * export updates the earlier one. Further errors: UNSUPPORTED (built without minizip), FORMAT (a picture is no PNG). */
GRAZE_API graze_status graze_report_write_bcf(graze_context *context, const char *path, const graze_report *report,
                                              const char *snapshots, const graze_camera *cameras);

/* A page that opens from disk: one file, no network, no third-party code. 3D view (WebGL2), table, filters; light and
 * dark; PAGE#clash=ID leads to a clash. Meshes beyond `triangle_budget` (0 = 1,500,000) in all are simplified for view
 * only, to no less than 12 triangles each, and the page says so; those that many objects share are simplified further,
 * so that at most four times the budget is drawn. `snapshots` (may be NULL): folder, relative to the page, that has
 * ID.png for each clash. `cameras`: one a clash, or NULL for graze_report_camera; a clash that is framed is seen from
 * there, so that page, picture and BCF show one view. Other programs find the record as JSON in the element with the id
 * "record". Errors: ARGUMENT, INDEX, NOT_FINITE (the message names object or clash), FILE, MEMORY. */
GRAZE_API graze_status graze_report_write_html(graze_context *context, const char *path, const graze_report *report,
                                               uint64_t triangle_budget, const char *snapshots,
                                               const graze_camera *cameras);

/* ---- films: a scene that moves ---- */

typedef enum graze_film_change {
  GRAZE_FILM_BEGAN,   /* the pair was apart at the step before */
  GRAZE_FILM_CHANGED, /* it took part, with another relation */
  GRAZE_FILM_ENDED    /* it is apart now */
} graze_film_change;

typedef struct graze_film_event {
  uint32_t step;
  graze_film_change change;
  uint32_t a, b;                   /* numbers of objects */
  graze_relation before, relation; /* GRAZE_SEPARATE when it begins, and when it ended */
} graze_film_event;

typedef struct graze_film {
  const graze_report *report;     /* head, rules and objects, as they are at step 0; its clashes play no part */
  uint32_t step_count;            /* with step 0 */
  const graze_motion_move *moves; /* ascending by step, of no step beyond */
  uint64_t move_count;
  const graze_film_event *events; /* likewise */
  uint64_t event_count;
} graze_film;

/* A page like that of graze_report_write_html, with a time line: a step at a time, objects that take part in a
 * collision in orange, events to go to. Poses are stored where they change, as floats relative to the middle of the
 * scene: what is seen is for the eye, what is listed was decided. Errors: ARGUMENT (steps that descend or are not
 * there, INDEX for objects), NOT_FINITE, FILE, MEMORY; the message names object, move or event. */
GRAZE_API graze_status graze_film_write_html(graze_context *context, const char *path, const graze_film *film,
                                             uint64_t triangle_budget);

/* A frame: the whole scene with the objects at `poses`, one for each object of the report, those that are `lit` in
 * orange, seen by `camera`. Errors as those of graze_painter_overview, and NOT_FINITE. */
GRAZE_API graze_status graze_painter_frame(graze_painter *painter, const graze_pose *poses, const bool *lit,
                                           const graze_camera *camera, graze_picture *picture);

/* The camera that sees all objects of the film at all steps, in pictures of this shape. O(objects + moves). Errors:
 * ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_film_camera(graze_context *context, const graze_film *film, double width_by_height,
                                         graze_camera *camera);

/* An animated PNG (APNG): every picture is shown for so many milliseconds, over and over. Programs that do not know it
 * show the first picture. Errors, of all three: ARGUMENT (another size, not as many pictures as were announced), FILE,
 * MEMORY, UNSUPPORTED (built without libpng). Close frees in any case; a file that is not complete is removed. */
typedef struct graze_animation graze_animation;

GRAZE_API graze_status graze_animation_open(graze_context *context, const char *path, uint32_t pictures,
                                            uint32_t milliseconds, graze_animation **animation);
GRAZE_API graze_status graze_animation_add(graze_animation *animation, const graze_picture *picture);
GRAZE_API graze_status graze_animation_close(graze_animation *animation);

/* ---- the history of a clash, from report to report: identify, carry, group, then write ---- */

/* Sets `id` of every clash: made of the two names in either order and, where two objects clash more than once, of the
 * coarse place. Moving an object, renumbering or changing the mesh changes no id. Ids are unique in the report.
 * Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_report_identify(graze_context *context, const graze_report_object *objects,
                                             uint32_t object_count, graze_report_clash *clashes, uint32_t clash_count);

typedef struct graze_report_groups {
  graze_report_group *groups;
  uint32_t group_count;
} graze_report_groups;

/* Sorts the clashes into groups, three ways, and sets their group numbers. By object: the object with most clashes
 * takes them all, then the one with most of the rest, and so on. By layers: the pair of layers, unless no object has
 * one. By place: clashes nearer to each other than 1/64 of the diagonal of the objects' box, directly or by way of
 * others. Resolved and separate ones are in no group. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_report_group_clashes(graze_context *context, const graze_report_object *objects,
                                                  uint32_t object_count, graze_report_clash *clashes,
                                                  uint32_t clash_count, graze_report_groups *groups);
GRAZE_API void graze_report_groups_free(graze_report_groups *groups);

/* An earlier report, read back. */
typedef struct graze_report_previous graze_report_previous;

typedef struct graze_report_previous_clash {
  const char *id, *a, *b; /* names of the objects, which may be gone by now */
  graze_relation relation;
  graze_counts counts; /* zero for resolved ones */
  bool placed;         /* `point` is known */
  double point[3], depth;
  graze_box box;
  const double (*curve_points)[3]; /* as in graze_report_clash; curve_starts NULL: the report does not tell the curve */
  const uint32_t *curve_starts;
  uint32_t curve_count;
  graze_report_state state;
  const char *found, *mark, *comment;
} graze_report_previous_clash;

/* Reads what graze_report_write_json wrote, its marks and comments perhaps edited, or an older `graze check --format
 * json` without the keys of the history. Strict: a key that is not known, a wrong type, a mark that is none, a name
 * that no object has, an id that stands there twice are errors that name the place. Errors: ARGUMENT, FILE, FORMAT,
 * MEMORY. */
GRAZE_API graze_status graze_report_previous_read(graze_context *context, const char *path,
                                                  graze_report_previous **previous);
GRAZE_API graze_status graze_report_previous_parse(graze_context *context, const void *bytes, size_t size,
                                                   const char *name, graze_report_previous **previous);
GRAZE_API void graze_report_previous_destroy(graze_report_previous *previous);

/* Its clashes in the order of the file, resolved ones last. */
GRAZE_API const graze_report_previous_clash *graze_report_previous_clashes(const graze_report_previous *previous,
                                                                           uint32_t *count);

/* Whether a mesh of that hash (graze_mesh_facts.hash) is closed and oriented, as the earlier report tells it. False: it
 * does not, or it was made by another version. */
GRAZE_API bool graze_report_previous_closed(const graze_report_previous *previous, uint64_t mesh_hash, bool *closed);

/* Takes marks and comments from a comma-, semicolon- or tab-separated file with a header line: columns id and mark or
 * comment or both, in any order; others are left alone, so an edited graze_report_write_csv file will do. Errors:
 * FORMAT (line and what is wrong: an id that the report does not have, an unknown mark), FILE, MEMORY; `previous` is
 * then as before. */
GRAZE_API graze_status graze_report_read_marks(graze_context *context, const char *path,
                                               graze_report_previous *previous);
GRAZE_API graze_status graze_report_parse_marks(graze_context *context, const void *bytes, size_t size,
                                                const char *name, graze_report_previous *previous);

/* Objects and clashes of the new report: those of now, and what is carried on behind them. */
typedef struct graze_report_merged {
  graze_report_object *objects;
  uint32_t object_count;
  graze_report_clash *clashes;
  uint32_t clash_count;
  uint32_t new_count, active_count, resolved_count;
} graze_report_merged;

/* Compares the report of now, identified and not yet grouped, with the earlier one: states, marks, comments, `found`; a
 * clash that was there keeps its earlier id. What is found no more is appended as resolved; when the check of now is
 * incomplete it is appended as `unknown` instead, for nobody looked. A resolved clash that is found again is new, keeps
 * its comment and loses its mark; so does an approval that was given for another relation (see docs/report.md). The
 * result points into both: `now` and `previous` must outlive it. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_report_merge_previous(graze_context *context, const graze_report *now,
                                                   const graze_report_previous *previous, graze_report_merged *merged);
GRAZE_API void graze_report_merged_free(graze_report_merged *merged);

/* ---- pairs that need no second check ---- */

/* 64 bits that tell poses apart, as graze_mesh_facts.hash tells meshes. */
GRAZE_API uint64_t graze_report_pose_hash(const graze_pose *pose);

typedef struct graze_report_reuse graze_report_reuse;

typedef enum graze_earlier {
  GRAZE_EARLIER_UNKNOWN = 0, /* not the same inputs, or not decided: check the pair */
  GRAZE_EARLIER_SEPARATE,    /* checked with the same inputs (or left out by the same rule), and not listed */
  GRAZE_EARLIER_LISTED       /* checked with the same inputs: the entry has relation and counts */
} graze_earlier;

/* Finds the objects of now (`now`: objects, exactness, rules; clashes play no part) that the earlier report had with
 * the same name, layer, mesh and pose. Nothing can be reused when the earlier check was incomplete, had another
 * exactness, other rules or another version of Graze, or when its file has no hashes: `reason` (may be
 * NULL) then gets a sentence, else NULL. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_report_reuse_create(graze_context *context, const graze_report *now,
                                                 const graze_report_previous *previous, graze_report_reuse **reuse,
                                                 const char **reason);
GRAZE_API void graze_report_reuse_destroy(graze_report_reuse *reuse);

/* Objects of now that are as they were. */
GRAZE_API uint32_t graze_report_reuse_unchanged(const graze_report_reuse *reuse);

/* What the earlier check found for the pair of objects a < b, in O(1). `clash` (may be NULL) gets the entry of
 * GRAZE_EARLIER_LISTED, else NULL. Any number of threads. */
GRAZE_API graze_earlier graze_report_reuse_pair(const graze_report_reuse *reuse, uint32_t a, uint32_t b,
                                                const graze_report_previous_clash **clash);

#ifdef __cplusplus
}
#endif
#endif
