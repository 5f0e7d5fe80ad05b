/* graze decompose: solids in convex parts, with a proved error. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "diagnostics.h"
#include "graze/decompose.h"
#include "graze/io.h"
#include "output.h"
#include "scene_options.h"
#include "session.h"
#include "table.h"
#include "verbs.h"

typedef struct decompose_options {
  common_options common;
  graze_check_def def;
  const char *error; /* NULL: the library's own choice for each object */
  const char *obj;   /* NULL: no file */
  uint32_t most_parts;
  bool rigid;
} decompose_options;

enum { key_error = 1, key_most, key_rigid, key_obj };

static const struct argp_option options[] = {
    {"error", key_error, "LENGTH", 0,
     "parts may stick out by that: a number in the check's units, or 2mm (default: a hundredth of the object's "
     "diagonal)",
     0},
    {"most-parts", key_most, "N", 0, "parts of an object, at most (default: 64)", 0},
    {"rigid", key_rigid, NULL, 0, "parts that rigid bodies can have: no more than 256 corners and faces", 0},
    {"obj", key_obj, "FILE", 0, "write the parts as OBJ, each as an object of its own", 0},
    {0}};

static error_t parse_decompose(int key, char *argument, struct argp_state *state) {
  decompose_options *o = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &o->common;
      state->child_inputs[1] = &o->def;
      return 0;
    case key_error:
      options_length(state, "error", argument);
      o->error = argument;
      return 0;
    case key_most:
      o->most_parts = (uint32_t)options_number(state, "most-parts", argument, 1, 65536);
      return 0;
    case key_rigid:
      o->rigid = true;
      return 0;
    case key_obj:
      o->obj = argument;
      return 0;
    case ARGP_KEY_ARGS:
      scene_take_files(state, &o->def);
      return 0;
    case ARGP_KEY_NO_ARGS:
      argp_error(state, "a mesh, an assembly or a scene is needed");
      return 0;
    case ARGP_KEY_END:
      if (o->def.exactness != GRAZE_T1 || o->def.open != GRAZE_OPEN_UNKNOWN)
        argp_error(state, "decompose takes neither --exactness nor --open");
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

typedef struct decomposed {
  const graze_report_object *object;
  graze_decomposition *parts;
  double scale; /* of the object's pose: lengths in the world over those in the mesh */
} decomposed;

typedef struct decomposing {
  const graze_report *report;
  decomposed *objects;
  uint32_t count;
  uint64_t parts;
  bool reached;
} decomposing;

/* Of a pose that turns, moves and scales evenly; 0: it does something else. */
static double scale_of(const graze_pose *pose) {
  graze_pose turn = *pose;
  const double scale = sqrt(pose->m[0] * pose->m[0] + pose->m[4] * pose->m[4] + pose->m[8] * pose->m[8]);
  for (int k = 0; k < 12; k++) {
    if (k % 4 != 3) turn.m[k] /= scale;
  }
  return graze_pose_is_rigid(&turn) ? scale : 0;
}

static void decompose_all(session *run, const decompose_options *o, double error, decomposing *d) {
  graze_decompose_options how = graze_default_decompose_options();
  const double start = clock_now();
  how.most_parts = o->most_parts;
  how.rigid = o->rigid;
  d->objects = calloc(d->report->object_count + 1, sizeof *d->objects);
  if (!d->objects) fail_out_of_memory();
  for (uint32_t i = 0; i < d->report->object_count; i++) {
    decomposed *one = &d->objects[d->count++];
    one->object = &d->report->objects[i];
    one->scale = scale_of(&one->object->pose);
    if (interrupts_came()) fail("interrupted; not every object was decomposed");
    if (!(one->scale > 0)) fail("object \"%s\": its pose is neither rigid nor scales evenly", one->object->name);
    how.error = error / one->scale;
    const graze_status status = graze_mesh_decompose(run->context, one->object->mesh, &how, &one->parts);
    if (status != GRAZE_OK) session_fail(run, one->object->name, status);
    d->parts += one->parts->count;
    d->reached = d->reached && one->parts->reached;
  }
  clock_add(&run->query_seconds, start);
}

static double volume_of(const decomposed *one, uint32_t part) {
  return one->parts->volumes[part] * one->scale * one->scale * one->scale;
}

/* ---- OBJ -------------------------------------------------------------------------------------------------------- */

static void count_all(const decomposing *d, uint64_t *vertices, uint64_t *triangles) {
  *vertices = *triangles = 0;
  for (uint32_t i = 0; i < d->count; i++) {
    for (uint32_t p = 0; p < d->objects[i].parts->count; p++) {
      *vertices += d->objects[i].parts->parts[p]->vertex_count;
      *triangles += d->objects[i].parts->parts[p]->triangle_count;
    }
  }
}

/* Appends a part where its object is. */
static void append(graze_geometry *all, const decomposed *one, uint32_t part) {
  const graze_hull *hull = one->parts->parts[part];
  graze_io_group *group = &all->groups[all->group_count++];
  char *name = NULL;
  if (asprintf(&name, "%s/part%" PRIu32, one->object->name, part + 1) < 0) fail_out_of_memory();
  *group = (graze_io_group){name, (uint32_t)all->triangle_count, hull->triangle_count};
  for (uint32_t t = 0; t < 3 * hull->triangle_count; t++)
    all->indices[3 * all->triangle_count + t] = (uint32_t)all->vertex_count + hull->triangles[t];
  for (uint32_t v = 0; v < hull->vertex_count; v++)
    graze_pose_apply(&one->object->pose, hull->points + 3 * (size_t)v, all->vertices + 3 * (all->vertex_count + v));
  all->vertex_count += hull->vertex_count;
  all->triangle_count += hull->triangle_count;
}

static void write_obj(const session *run, const char *path, const decomposing *d) {
  uint64_t vertices, triangles;
  count_all(d, &vertices, &triangles);
  graze_geometry all = {.vertices = malloc((3 * vertices + 1) * sizeof *all.vertices),
                        .indices = malloc((3 * triangles + 1) * sizeof *all.indices),
                        .groups = calloc(d->parts + 1, sizeof *all.groups)};
  if (!all.vertices || !all.indices || !all.groups) fail_out_of_memory();
  for (uint32_t i = 0; i < d->count; i++) {
    for (uint32_t p = 0; p < d->objects[i].parts->count; p++) append(&all, &d->objects[i], p);
  }
  must(run->context, graze_write_obj(run->context, path, &all));
  for (uint32_t i = 0; i < all.group_count; i++) free((void *)(uintptr_t)all.groups[i].name);
  free(all.groups);
  free(all.indices);
  free(all.vertices);
}

/* ---- output ----------------------------------------------------------------------------------------------------- */

static void write_json_object(gz_json *json, const decomposed *one) {
  const graze_decomposition *d = one->parts;
  gz_json_open(json, NULL, '{');
  gz_json_text(json, "name", one->object->name);
  gz_json_double(json, "error", d->error * one->scale);
  gz_json_bool(json, "reached", d->reached);
  gz_json_open(json, "parts", '[');
  for (uint32_t p = 0; p < d->count; p++) {
    gz_json_open(json, NULL, '{');
    gz_json_integer(json, "vertices", d->parts[p]->vertex_count);
    gz_json_integer(json, "faces", d->parts[p]->face_count);
    gz_json_double(json, "volume", volume_of(one, p));
    gz_json_double(json, "error", d->errors[p] * one->scale);
    gz_json_close(json);
  }
  gz_json_close(json);
  gz_json_close(json);
}

static void write_json(output *out, const session *run, const decomposing *d) {
  gz_json json = gz_json_begin_result(out);
  gz_json_text(&json, "engine", "cpu");
  gz_json_text(&json, "status", d->reached ? "complete" : "incomplete");
  gz_json_text(&json, "units", d->report->units);
  gz_json_open(&json, "objects", '[');
  for (uint32_t i = 0; i < d->count; i++) write_json_object(&json, &d->objects[i]);
  gz_json_close(&json);
  gz_json_open(&json, "counts", '{');
  gz_json_integer(&json, "objects", d->count);
  gz_json_integer(&json, "parts", d->parts);
  gz_json_close(&json);
  session_write_seconds(run, &json);
  gz_json_end(&json);
}

static table parts_table(const decomposing *d) {
  static const table_column columns[] = {{"object", true}, {"part", false},   {"vertices", false},
                                         {"faces", false}, {"volume", false}, {"error", false}};
  table rows = table_begin(columns, sizeof columns / sizeof *columns);
  for (uint32_t i = 0; i < d->count; i++) {
    const decomposed *one = &d->objects[i];
    for (uint32_t p = 0; p < one->parts->count; p++) {
      table_text(&rows, one->object->name);
      table_integer(&rows, p + 1);
      table_integer(&rows, one->parts->parts[p]->vertex_count);
      table_integer(&rows, one->parts->parts[p]->face_count);
      table_double(&rows, volume_of(one, p));
      table_double(&rows, one->parts->errors[p] * one->scale);
    }
  }
  return rows;
}

static void write_csv(output *out, const session *run, const decomposing *d) {
  (void)run;
  table rows = parts_table(d);
  table_write_csv(&rows, out);
  table_free(&rows);
}

static void write_text(output *out, const session *run, const decomposing *d) {
  table rows = parts_table(d);
  table_write_text(&rows, out);
  table_free(&rows);
  output_print(out, "\n%" PRIu64 " part%s of %" PRIu32 " object%s (cpu, %.3f s)\n", d->parts, plural(d->parts),
               d->count, plural(d->count), run->load_seconds + run->build_seconds + run->query_seconds);
}

/* ---- the verb --------------------------------------------------------------------------------------------------- */

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {&scene_argp, 0, NULL, 0}, {0}};

const struct argp decompose_argp = {
    .options = options,
    .parser = parse_decompose,
    .children = children,
    .args_doc = "SCENE.json\nASSEMBLY\nFILE...",
    .doc =
        "Finds convex parts of solids, for programs that need such. Together they hold the solid and stick out of it "
        "by "
        "no more than the error, which is proved; their boxes along the axes have no inside in common. The listed "
        "errors "
        "are those that were proved, at most what was asked for."
        "\vExit: 0 every object is in parts that are good enough; 2 usage error; 3 bad input, an object without an "
        "inside, or too few parts for the error (what there is was written)."};

int command_decompose(int argc, char **argv) {
  static void (*const writers[])(output *, const session *, const decomposing *) = {write_text, write_json, write_csv};
  decompose_options o = {.def = graze_default_check_def(), .most_parts = 64};
  double error = 0;
  session run;
  options_parse(&decompose_argp, argc, argv, &o, &o.common);
  o.def.places = o.def.facts = false;
  o.def.every_mesh = o.def.alone = true;
  output *out = output_open(o.common.output);
  session_begin(&run, &o.common);
  graze_check *check = session_open(&run, &o.def);
  decomposing d = {.report = graze_check_report(check), .reached = true};
  if (o.error) must(run.context, graze_check_read_length(check, "error", o.error, &error));
  session_take_times(&run, check);
  decompose_all(&run, &o, error, &d);
  writers[o.common.format](out, &run, &d);
  output_close(out);
  if (o.obj) write_obj(&run, o.obj, &d);
  progress_end(&run.line);
  if (!d.reached) note("some parts stick out by more than was asked for: more of them are needed (--most-parts)");
  for (uint32_t i = 0; i < d.count; i++) graze_decomposition_destroy(d.objects[i].parts);
  free(d.objects);
  graze_check_destroy(check);
  session_end(&run);
  return d.reached ? exit_clear : exit_incomplete;
}
