/* graze/report.h: the result of a check as a record, and the files made from it. A library of its own (graze_report),
 * beside the core and graze_io.
 *
 * The record only points: strings, meshes and curves belong to the caller and must outlive the call. Every writer
 * writes a complete file or none, and the same record gives the same bytes.
 */
#ifndef GRAZE_REPORT_H
#define GRAZE_REPORT_H

#include "graze/base.h"
#include "graze/io.h"
#include "graze/math.h"
#include "graze/mesh.h"
#include "graze/relate.h"
#include "graze/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAZE_NO_GROUP UINT32_MAX

typedef struct graze_report_object {
  const char *name;       /* unique in the report; in assemblies the path of the node, "Site/Pump 3/Flange" */
  const char *layer;      /* "" = none */
  const char *file;       /* where its mesh came from */
  const graze_mesh *mesh; /* NULL without facts: known by name only (an object of an earlier, resolved clash) */
  graze_pose pose;
  const graze_mesh_facts *facts; /* without a mesh: what is known about it. Views and pictures omit it */
  const char *label; /* what people call it, where the name is an identifier; the page shows both. NULL = none */
  const graze_solid_facts *solid; /* what the parts of its mesh are in a relation. NULL: not told */
  const graze_mesh *core; /* of a round object (graze/round.h), whose mesh is for pictures alone; NULL: it is a mesh */
  double radius;          /* of that */
} graze_report_object;

typedef enum graze_report_state {
  GRAZE_STATE_NONE = 0, /* no earlier report was given */
  GRAZE_STATE_NEW,
  GRAZE_STATE_ACTIVE,  /* was in the earlier report as well */
  GRAZE_STATE_RESOLVED /* was in the earlier report and is gone: kept without counts and curve */
} graze_report_state;

GRAZE_API const char *graze_report_state_string(graze_report_state state); /* "", "new", "active", "resolved" */

/* What graze_mesh_depth found. */
typedef struct graze_way_out {
  bool known;
  double depth, lower;   /* the length of the translation; no shorter one is a way out */
  double translation[3]; /* of b */
} graze_way_out;

typedef struct graze_report_clash {
  uint32_t a, b; /* indices of objects, a < b */
  char id[24];   /* stable from run to run, made from names and approximate place; letters, digits and '-' */
  graze_relation relation;
  const char *reason; /* a sentence, for UNKNOWN and for resolved clashes; else NULL */
  graze_counts counts;
  graze_box box;         /* of the common points, in the scene's units */
  double point[3];       /* a common point, or a point near one */
  double depth;          /* an upper bound on the depth, in the scene's units; 0 for touch, NaN = none */
  bool forgiven;         /* within the tolerance that was asked: no failure, and listed apart */
  double translation[3]; /* of forgiven ones: b moved by it touches a or is separate; zero for touch, and where: */
  double moved_corners;  /* above 0: corners moved within their roundings, none farther than this, do the same */
  double tolerance;      /* of forgiven ones: how long that might have been; 0: an earlier check did not say */
  graze_way_out way_out; /* if depths were asked for */
  graze_gap gap;         /* of `clearance`, and of unknown ones that are nearer than they may be; its points are the
                            curve of `clearance` */

  /* The intersection curve: polyline k has points curve_starts[k] .. curve_starts[k + 1] - 1. */
  const double (*curve_points)[3];
  const uint32_t *curve_starts; /* curve_count + 1 numbers */
  uint32_t curve_count;

  const graze_triangle_pair *triangles; /* the counts.triangle_pairs pairs, sorted; NULL = not listed. For JSON only */

  graze_report_state state;
  const char *found;                                /* `created` of the first report that had it; "" = this one */
  const char *mark;                                 /* the reviewer's: "", "reviewed" or "approved" */
  const char *comment;                              /* the reviewer's; "" = none */
  uint32_t group_object, group_layers, group_place; /* indices of groups, or GRAZE_NO_GROUP */
} graze_report_clash;

typedef enum graze_group_kind { GRAZE_GROUP_OBJECT, GRAZE_GROUP_LAYERS, GRAZE_GROUP_PLACE } graze_group_kind;

typedef struct graze_report_group {
  graze_group_kind kind;
  const char *title; /* "Pump 3", "pipes / steel", "near 12.5 3 0.8" */
  uint32_t clashes;
} graze_report_group;

typedef struct graze_report_rule { /* a selection or ignore rule, and the number of object pairs it excluded or admitted
                                    */
  const char *text;
  uint64_t pairs;
} graze_report_rule;

typedef struct graze_report {
  const char *title;
  const char *created; /* ISO 8601 in UTC, the caller's clock: "2025-01-31T12:00:00Z" */
  const char *units;   /* "m", "mm", ...; "" = unknown */
  graze_up up;         /* of pages and pictures, and of BCF, which has z up; unknown is taken for z */
  const char *engine, *exactness;
  bool tolerant; /* overlaps were to be forgiven */
  bool clear;    /* clearances were to be kept */
  bool complete; /* false: stopped before every pair was checked; every writer says so in a prominent place */
  const graze_report_object *objects;
  uint32_t object_count;
  const graze_report_clash *clashes; /* in the order of the check; resolved ones last */
  uint32_t clash_count;
  const graze_report_group *groups;
  uint32_t group_count;
  const graze_report_rule *rules;
  uint32_t rule_count;
  uint64_t object_pairs; /* pairs of objects to be checked */
  uint64_t reused_pairs; /* those known to be separate from an earlier report and not checked again */
  double load_seconds, build_seconds, query_seconds;
} graze_report;

/* ---- folders ---- */

/* Makes the folder if it is not there. Errors, here and below: ARGUMENT, FILE, MEMORY. */
GRAZE_API graze_status graze_report_make_folder(graze_context *context, const char *path);

/* Takes a folder for a report, and makes it if it is not there: an empty one, or one of an earlier report, which has a
 * file .graze-report or an index.html that is a page of Graze. Anything else is a FILE error, and left alone. */
GRAZE_API graze_status graze_report_claim_folder(graze_context *context, const char *folder);

/* Writes an index.html that says that the report is not finished; the page replaces it. */
GRAZE_API graze_status graze_report_begin_page(graze_context *context, const char *folder);

/* ---- files ---- */

/* Comma-separated (RFC 4180, UTF-8): a header line and one line per clash. For an incomplete check, a line with state
 * "incomplete" and no id comes first. Errors, here and below: ARGUMENT (the record contradicts
 * itself; the message names the clash), FILE, MEMORY. */
GRAZE_API graze_status graze_report_write_csv(graze_context *context, const char *path, const graze_report *report);

/* Receives the next `size` bytes. Returns false on failure; no more are then sent. */
typedef bool (*graze_report_sink)(void *user, const void *bytes, size_t size);

/* What `graze check --format json` prints and graze_report_previous_read reads; docs/report.md describes every key.
 * `curves`: with the intersection curves. */
GRAZE_API graze_status graze_report_write_json(graze_context *context, const char *path, const graze_report *report,
                                               bool curves);

/* The same to a sink. A sink that refuses is GRAZE_ERROR_FILE. */
GRAZE_API graze_status graze_report_send_json(graze_context *context, graze_report_sink sink, void *user,
                                              const graze_report *report, bool curves);

/* JUnit XML: a test suite per pair of layers, a test case per clash. Relations in `failing` (bit 1 << relation) are
 * failures, `unknown` is an error even if approved, resolved and approved clashes are skipped, all others pass; if
 * there are none, one passing case says so. An incomplete check is an error case of its own, in the first suite. */
GRAZE_API graze_status graze_report_write_junit(graze_context *context, const char *path, const graze_report *report,
                                                unsigned failing);

/* A picture: RGB, 8 bits, rows from the top. */
typedef struct graze_picture {
  uint8_t *pixels; /* 3 * width * height */
  uint32_t width, height;
} graze_picture;

/* The view of a clash, shared by pictures, BCF viewpoints and the page. */
typedef struct graze_camera {
  double eye[3];
  double forward[3], up[3]; /* unit vectors, orthogonal */
  double field_of_view;     /* vertical, degrees */
} graze_camera;

/* Off-screen renderer (EGL and OpenGL 4.5, loaded at run time; hardware is preferred, Mesa's llvmpipe suffices).
 * Creation fails with UNSUPPORTED if there is none or if GRAZE_DISABLE in the environment lists "opengl" (the message
 * has the reason), with ARGUMENT for sides outside 16 to 16384 pixels, INDEX for a clash of objects that do not exist,
 * and MEMORY. The record and its meshes must outlive the painter. One thread at a time; each call restores the calling
 * thread's own OpenGL context. The same device paints the same bytes. */
typedef struct graze_painter graze_painter;

GRAZE_API graze_status graze_painter_create(graze_context *context, const graze_report *report, uint32_t width,
                                            uint32_t height, graze_painter **painter);
GRAZE_API void graze_painter_destroy(graze_painter *painter);
GRAZE_API const char *graze_painter_device(const graze_painter *painter); /* "llvmpipe (LLVM 15.0.6, 256 bits)" */

/* The whole assembly in muted colours by layer, clashing objects in orange, and a dot at each clash, visible through
 * everything; resolved clashes are omitted. `picture` belongs to the painter and is valid until its next call. Errors:
 * ARGUMENT, MEMORY, UNSUPPORTED (the device failed). */
GRAZE_API graze_status graze_painter_overview(graze_painter *painter, graze_picture *picture);

/* Clash `index` from its least hidden side: object a in orange, b in blue, striped where they share a surface; the
 * nearest of the objects around them, pale and never in front of the clash; the curve on top of everything, thinner
 * where it is hidden. An object that contains the other is cut open. `camera` (may be NULL) receives the view.
 * Only what is near the clash is drawn. Errors: ARGUMENT (also: neither object has a mesh), MEMORY, UNSUPPORTED. */
GRAZE_API graze_status graze_painter_clash(graze_painter *painter, uint32_t index, graze_picture *picture,
                                           graze_camera *camera);

/* A view found without graphics: the same framing, from the direction in which the fewest boxes are in the way. Never
 * fails; for a clash without a place it looks at the origin. O(objects). */
GRAZE_API graze_camera graze_report_camera(const graze_report *report, uint32_t index);

/* The cameras of all clashes, O(clashes * objects) with a small constant. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_report_cameras(graze_context *context, const graze_report *report, graze_camera *cameras);

/* Errors: ARGUMENT, FILE, UNSUPPORTED (built without libpng). */
GRAZE_API graze_status graze_picture_write_png(graze_context *context, const char *path, const graze_picture *picture);

/* BCF 2.1 (buildingSMART): a zip with a topic, viewpoint and snapshot for each clash, naming both components.
 * Viewpoints have z up: where y is up in the record, it becomes z, and z becomes -y.
 * `snapshots`: folder with an ID.png for each clash, or NULL; a clash without a picture becomes a topic without one.
 * `cameras`: one per clash, or NULL for graze_report_camera. The GUIDs of topics are made from the clash ids, so that a
 * later export updates an earlier one. Further errors: UNSUPPORTED (built without zlib), FORMAT (a picture is no
 * PNG). */
GRAZE_API graze_status graze_report_write_bcf(graze_context *context, const char *path, const graze_report *report,
                                              const char *snapshots, const graze_camera *cameras);

/* A page that opens from disk: one file, no network access, no third-party code. 3D view (WebGL2), table, filters;
 * light and dark; PAGE#clash=ID opens a clash. If the meshes have more than `triangle_budget` triangles (0 = 1,500,000)
 * they are simplified for display, to no fewer than 12 triangles each, and the page says so; meshes that many objects
 * share are simplified further, so that at most four times the budget is drawn. `snapshots` (may be NULL): folder,
 * relative to the page, with an ID.png for each clash. `cameras`: one per clash, or NULL for graze_report_camera, so
 * that page, pictures and BCF show the same view. Other programs find the record as JSON in the element with the id
 * "record". Errors: ARGUMENT, INDEX, NOT_FINITE (the message names object or clash), FILE, MEMORY. */
GRAZE_API graze_status graze_report_write_html(graze_context *context, const char *path, const graze_report *report,
                                               uint64_t triangle_budget, const char *snapshots,
                                               const graze_camera *cameras);

/* ---- films: a moving scene ---- */

typedef enum graze_film_change {
  GRAZE_FILM_BEGAN,   /* the pair was separate at the step before */
  GRAZE_FILM_CHANGED, /* its relation was another one */
  GRAZE_FILM_ENDED,   /* it is separate now */
  GRAZE_FILM_PASSED   /* it is separate at both, and they met in between, or may have */
} graze_film_change;

typedef struct graze_film_event {
  uint32_t step;
  graze_film_change change;
  uint32_t a, b;                   /* numbers of objects */
  graze_relation before, relation; /* GRAZE_SEPARATE when it begins, and when it ended */
  double time;                     /* PASSED: within the step, from 0 at the one before to 1 */
} graze_film_event;

typedef struct graze_film {
  const graze_report *report;     /* head, rules and objects at step 0; its clashes are ignored */
  uint32_t step_count;            /* including step 0 */
  const graze_motion_move *moves; /* ascending by step, all below step_count */
  uint64_t move_count;
  const graze_film_event *events; /* likewise */
  uint64_t event_count;
} graze_film;

/* A page like that of graze_report_write_html, with a timeline: one step at a time, colliding objects in orange,
 * events to jump to. Poses are stored where they change, as floats relative to the middle of the scene: they are for
 * display, the listed events are exact. Errors: ARGUMENT (steps that descend or do not exist), INDEX (objects),
 * NOT_FINITE, FILE, MEMORY; the message names object, move or event. */
GRAZE_API graze_status graze_film_write_html(graze_context *context, const char *path, const graze_film *film,
                                             uint64_t triangle_budget);

/* A frame: the whole scene with the objects at `poses`, one for each object of the report, the `lit` ones in orange,
 * seen by `camera`. Errors as those of graze_painter_overview, and NOT_FINITE. */
GRAZE_API graze_status graze_painter_frame(graze_painter *painter, const graze_pose *poses, const bool *lit,
                                           const graze_camera *camera, graze_picture *picture);

/* A camera that sees all objects of the film at all steps, for pictures of this aspect ratio. O(objects + moves).
 * Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_film_camera(graze_context *context, const graze_film *film, double width_by_height,
                                         graze_camera *camera);

/* An animated PNG (APNG) that shows every picture for so many milliseconds, in a loop; viewers without support show the
 * first picture. Errors of all three calls: ARGUMENT (pictures of different sizes, or not as many as announced), FILE,
 * MEMORY, UNSUPPORTED (built without libpng). Closing always frees; a file that is not complete does not appear. */
typedef struct graze_animation graze_animation;

GRAZE_API graze_status graze_animation_open(graze_context *context, const char *path, uint32_t pictures,
                                            uint32_t milliseconds, graze_animation **animation);
GRAZE_API graze_status graze_animation_add(graze_animation *animation, const graze_picture *picture);
GRAZE_API graze_status graze_animation_close(graze_animation *animation);

/* ---- the history of a clash, from report to report: identify, merge_previous, group, then write ---- */

/* Sets `id` of every clash, made from the two names in either order and, if two objects clash more than once, the
 * approximate place. Moving an object, reordering objects or changing a mesh does not change ids. Ids are unique in the
 * report. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_report_identify(graze_context *context, const graze_report_object *objects,
                                             uint32_t object_count, graze_report_clash *clashes, uint32_t clash_count);

typedef struct graze_report_groups {
  graze_report_group *groups;
  uint32_t group_count;
} graze_report_groups;

/* Groups the clashes in three ways and sets their group indices. By object: the object with the most clashes takes them
 * all, then the one with the most of the rest, and so on. By layers: the pair of layers, unless no object has a layer.
 * By place: clashes closer to each other than 1/64 of the diagonal of the objects' box, transitively. Resolved and
 * separate clashes are in no group. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_report_group_clashes(graze_context *context, const graze_report_object *objects,
                                                  uint32_t object_count, graze_report_clash *clashes,
                                                  uint32_t clash_count, graze_report_groups *groups);
GRAZE_API void graze_report_groups_free(graze_report_groups *groups);

/* An earlier report, read back. */
typedef struct graze_report_previous graze_report_previous;

typedef struct graze_report_previous_clash {
  const char *id, *a, *b; /* names of the objects, which may no longer exist */
  graze_relation relation;
  graze_counts counts; /* zero for resolved ones */
  bool placed;         /* `point` is known */
  double point[3], depth;
  bool forgiven;
  double translation[3], moved_corners, tolerance; /* as in graze_report_clash */
  graze_gap gap;
  graze_box box;
  const double (*curve_points)[3]; /* as in graze_report_clash; curve_starts NULL: the report has no curve */
  const uint32_t *curve_starts;
  uint32_t curve_count;
  graze_report_state state;
  const char *found, *mark, *comment;
} graze_report_previous_clash;

/* Reads what graze_report_write_json wrote, with marks and comments possibly edited, or the output of an older `graze
 * check --format json` without the keys of the history. Strict: unknown keys, wrong types, unknown marks and names, and
 * repeated ids are errors that name the place. Errors: ARGUMENT, FILE, FORMAT,
 * MEMORY. */
GRAZE_API graze_status graze_report_previous_read(graze_context *context, const char *path,
                                                  graze_report_previous **previous);
GRAZE_API graze_status graze_report_previous_parse(graze_context *context, const void *bytes, size_t size,
                                                   const char *name, graze_report_previous **previous);
GRAZE_API void graze_report_previous_destroy(graze_report_previous *previous);

/* Its clashes in the order of the file, resolved ones last. */
GRAZE_API const graze_report_previous_clash *graze_report_previous_clashes(const graze_report_previous *previous,
                                                                           uint32_t *count);

/* Whether a mesh with this hash (graze_mesh_facts.hash) is closed and oriented, and what its parts are, according to
 * the earlier report. Returns false if the report does not say both, or was made by another version. */
GRAZE_API bool graze_report_previous_mesh(const graze_report_previous *previous, uint64_t mesh_hash, bool *closed,
                                          graze_solid_facts *solid);

/* Takes marks and comments from a comma-, semicolon- or tab-separated file with a header line: columns id and mark or
 * comment or both, in any order; other columns are ignored, so an edited file of graze_report_write_csv works. Errors:
 * FORMAT (line and what is wrong: an id that the report does not have, an unknown mark), FILE, MEMORY; `previous` is
 * then as before. */
GRAZE_API graze_status graze_report_read_marks(graze_context *context, const char *path,
                                               graze_report_previous *previous);
GRAZE_API graze_status graze_report_parse_marks(graze_context *context, const void *bytes, size_t size,
                                                const char *name, graze_report_previous *previous);

/* Objects and clashes of the merged report: the current ones, followed by those kept from the earlier report. */
typedef struct graze_report_merged {
  graze_report_object *objects;
  uint32_t object_count;
  graze_report_clash *clashes;
  uint32_t clash_count;
  uint32_t new_count, active_count, resolved_count;
} graze_report_merged;

/* Compares the current report, identified but not yet grouped, with an earlier one: sets states, marks, comments and
 * `found`; a known clash keeps its earlier id. Clashes no longer found are appended as resolved or, if the current
 * check is incomplete, as `unknown`, because they may not have been checked. A resolved clash that reappears is new,
 * keeps its comment and loses its mark, as does a clash approved with another relation (see docs/report.md). The result
 * points into both: `now` and `previous` must outlive it. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_report_merge_previous(graze_context *context, const graze_report *now,
                                                   const graze_report_previous *previous, graze_report_merged *merged);
GRAZE_API void graze_report_merged_free(graze_report_merged *merged);

/* ---- pairs that need not be checked again ---- */

/* A hash of poses, as graze_mesh_facts.hash is one of meshes. */
GRAZE_API uint64_t graze_report_pose_hash(const graze_pose *pose);

typedef struct graze_report_reuse graze_report_reuse;

typedef enum graze_earlier {
  GRAZE_EARLIER_UNKNOWN = 0, /* not the same inputs, or not decided: check the pair */
  GRAZE_EARLIER_SEPARATE,    /* checked with the same inputs (or left out by the same rule), and not listed */
  GRAZE_EARLIER_LISTED       /* checked with the same inputs: the entry has relation and counts */
} graze_earlier;

/* Finds the current objects (of `now`: objects, exactness and rules; clashes are ignored) that the earlier report has
 * with the same name, layer, mesh and pose. Nothing can be reused if the earlier check was incomplete, used another
 * exactness, other rules or another version of Graze, or if its file has no hashes: `reason` (may be NULL) is then a
 * sentence, else NULL. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_report_reuse_create(graze_context *context, const graze_report *now,
                                                 const graze_report_previous *previous, graze_report_reuse **reuse,
                                                 const char **reason);
GRAZE_API void graze_report_reuse_destroy(graze_report_reuse *reuse);

/* The number of unchanged objects. */
GRAZE_API uint32_t graze_report_reuse_unchanged(const graze_report_reuse *reuse);

/* What the earlier check found for the pair of objects a < b, in O(1). `clash` (may be NULL) is set to the entry for
 * GRAZE_EARLIER_LISTED, else to NULL. May be called from any number of threads. */
GRAZE_API graze_earlier graze_report_reuse_pair(const graze_report_reuse *reuse, uint32_t a, uint32_t b,
                                                const graze_report_previous_clash **clash);

#ifdef __cplusplus
}
#endif
#endif
