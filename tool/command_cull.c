/* graze cull: which surfaces may meet, found by drawing them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cull_exact.h"
#include "cull_pictures.h"
#include "diagnostics.h"
#include "graze/visibility.h"
#include "options.h"
#include "output.h"
#include "scene_options.h"
#include "session.h"
#include "table.h"
#include "verbs.h"

typedef struct cull_options {
  common_options common;
  file_list files;
  graze_visibility_def def;
  const char *pictures; /* folder */
  bool triangles, exact, check, bounds_given;
} cull_options;

typedef struct cull_run {
  const cull_options *asked;
  session session;
  const graze_report *all; /* its objects are those of the cull */
  graze_visibility *visibility;
  graze_visibility_result left;
  graze_visibility_contacts contacts; /* with --exact */
  cull_exact exact;                   /* with --check */
} cull_run;

enum {
  key_mode = 1,
  key_resolution,
  key_views,
  key_level,
  key_bounds,
  key_triangles,
  key_exact,
  key_check,
  key_pictures
};

static const char *const mode_names[] = {"close", "cullide", "rcullide", "qcullide", NULL};
static const char *const level_names[] = {"triangles", "objects", NULL};
static const char *const bounds_names[] = {"tight", "published", NULL};

static const struct argp_option options[] = {
    {"mode", key_mode, "MODE", 0,
     "close (default): pictures of each pair of boxes that meet; or views of the whole scene: rcullide, with bounds; "
     "cullide and qcullide, as published, which lose what falls between pixels",
     0},
    {"resolution", key_resolution, "N", 0, "pixels along a side of a picture, 1 to 4096 (default 128)", 0},
    {"views", key_views, "AXES", 0, "along which to look, some of xyz (default all)", 0},
    {"level", key_level, "LEVEL", 0, "what goes or stays: triangles (default) or whole objects", 0},
    {"bounds", key_bounds, "BOUNDS", 0, "of rcullide: tight (default), or published: boxes around fat triangles", 0},
    {"triangles", key_triangles, NULL, 0, "list the triangles that are left", 0},
    {"exact", key_exact, NULL, 0, "decide what is left: the pairs of triangles that meet, without any hierarchy", 0},
    {"check", key_check, NULL, 0, "find the exact answer too and count what was missed and what is too much", 0},
    {"pictures", key_pictures, "FOLDER", 0,
     "write depth and owners of each pass as PNG, and the scene with what is left in colour", 0},
    {0}};

static unsigned parse_views(struct argp_state *state, const char *text) {
  unsigned views = 0;
  for (const char *at = text; *at; at++) {
    if (*at < 'x' || *at > 'z') argp_error(state, "--views: '%s' is not of x, y and z", text);
    views |= 1U << (*at - 'x');
  }
  if (views == 0) argp_error(state, "--views: at least one of x, y and z is needed");
  return views;
}

static error_t parse_cull(int key, char *argument, struct argp_state *state) {
  cull_options *cull = state->input;
  graze_visibility_def *def = &cull->def;
  switch (key) {
    case key_mode:
      def->mode = (graze_visibility_mode)options_choice(state, "mode", argument, mode_names);
      return 0;
    case key_resolution:
      def->resolution = (uint32_t)options_number(state, "resolution", argument, 1, GRAZE_VISIBILITY_MOST_PIXELS);
      return 0;
    case key_views:
      def->views = parse_views(state, argument);
      return 0;
    case key_level:
      def->level = (graze_visibility_level)options_choice(state, "level", argument, level_names);
      return 0;
    case key_bounds:
      def->bounds = (graze_visibility_bounds)options_choice(state, "bounds", argument, bounds_names);
      cull->bounds_given = true;
      return 0;
    case key_triangles:
      cull->triangles = true;
      return 0;
    case key_exact:
      cull->exact = true;
      return 0;
    case key_check:
      cull->check = true;
      return 0;
    case key_pictures:
      cull->pictures = argument;
      if (*argument == 0) argp_error(state, "--pictures: the folder has no name");
      return 0;
    case ARGP_KEY_END:
      if (cull->common.engine == engine_cpu || cull->common.engine == engine_auto)
        argp_error(state, "--engine: visibility is the only engine that culls");
      if (cull->exact && def->mode != GRAZE_VISIBILITY_CLOSE && def->mode != GRAZE_VISIBILITY_RCULLIDE)
        argp_error(state, "--exact: --mode %s loses what meets", mode_names[def->mode]);
      if (cull->bounds_given && def->mode != GRAZE_VISIBILITY_RCULLIDE)
        argp_error(state, "--bounds is for --mode rcullide");
      break;
  }
  return options_arguments(key, state, &cull->common, &cull->files, UINT32_MAX, "a scene or a mesh");
}

/* ---- culling ----------------------------------------------------------------------------------------------------- */

/* A single mesh has nothing to meet but itself. */
static bool is_alone(const cull_options *cull) {
  return cull->def.mode == GRAZE_VISIBILITY_QCULLIDE && cull->files.count == 1 && !scene_is_file(cull->files.names[0]);
}

static graze_check *open_files(cull_run *run) {
  graze_check_def def = graze_default_check_def();
  def.files = (const char *const *)run->asked->files.names;
  def.file_count = run->asked->files.count;
  def.every_mesh = true;
  def.facts = def.places = false;
  def.joined = is_alone(run->asked);
  graze_check *check = session_open(&run->session, &def);
  run->all = graze_check_report(check);
  return check;
}

static bool show_passes(void *user, uint64_t done, uint64_t total) {
  session *run = user;
  progress_show(&run->line, done, total);
  return true;
}

static graze_visibility_object *list_objects(const graze_report *all) {
  graze_visibility_object *objects = calloc(all->object_count, sizeof *objects);
  if (!objects) fail_out_of_memory();
  for (uint32_t i = 0; i < all->object_count; i++)
    objects[i] = (graze_visibility_object){.mesh = all->objects[i].mesh, .pose = &all->objects[i].pose};
  return objects;
}

static void cull_objects(cull_run *run, cull_pictures *pictures) {
  graze_visibility_def def = run->asked->def;
  graze_visibility_object *objects = list_objects(run->all);
  double start = clock_now();
  def.objects = objects;
  def.object_count = run->all->object_count;
  def.image = run->asked->pictures ? cull_pictures_take : NULL;
  def.image_user = pictures;
  def.progress = show_passes;
  def.progress_user = &run->session;
  run->session.line = progress_begin("passes", run->session.quiet);
  graze_status status = run->asked->exact ? graze_visibility_collide(run->visibility, &def, &run->left, &run->contacts)
                                          : graze_visibility_cull(run->visibility, &def, &run->left);
  progress_end(&run->session.line);
  free(objects);
  if (status != GRAZE_OK) session_fail(&run->session, NULL, status);
  clock_add(&run->session.query_seconds, start);
  if (run->left.unjudged > 0)
    note("%" PRIu32 " object%s cannot be judged, for coordinates overflow: all pairs with %s are left",
         run->left.unjudged, plural(run->left.unjudged), run->left.unjudged == 1 ? "it" : "them");
}

/* ---- what is left ------------------------------------------------------------------------------------------------ */

static const char *name_of(const cull_run *run, uint32_t object) {
  return run->all->objects[object].name;
}

static void write_json_passes(gz_json *writer, const cull_run *run) {
  gz_json_open(writer, "passes", '[');
  for (uint32_t i = 0; i < run->left.pass_count; i++) {
    const graze_visibility_pass *p = &run->left.passes[i];
    gz_json_open(writer, NULL, '{');
    gz_json_text(writer, "level", level_names[p->level]);
    gz_json_text(writer, "view", (const char *const[]){"x", "y", "z"}[p->axis]);
    gz_json_text(writer, "direction", p->reverse ? "reverse" : "forward");
    gz_json_integer(writer, "resolution", p->resolution);
    gz_json_integer(writer, "objects", p->objects);
    gz_json_integer(writer, "triangles", p->triangles);
    gz_json_integer(writer, "pruned", p->pruned);
    gz_json_double(writer, "seconds", p->seconds);
    gz_json_close(writer);
  }
  gz_json_close(writer);
}

static void write_json_sets(gz_json *writer, const graze_visibility_sets *sets) {
  gz_json_open(writer, "sets", '{');
  gz_json_integer(writer, "both", sets->both);
  gz_json_integer(writer, "first", sets->first);
  gz_json_integer(writer, "second", sets->second);
  gz_json_integer(writer, "neither", sets->neither);
  gz_json_close(writer);
}

static void write_json_left(gz_json *writer, const cull_run *run) {
  gz_json_open(writer, "left", '{');
  gz_json_open(writer, "objects", '[');
  for (uint32_t i = 0; i < run->all->object_count; i++) {
    const graze_visibility_triangles *t = &run->left.objects[i];
    if (t->count == 0) continue;
    gz_json_open(writer, NULL, '{');
    gz_json_text(writer, "name", name_of(run, i));
    gz_json_integer(writer, "count", t->count);
    if (run->asked->triangles) {
      gz_json_open(writer, "triangles", '[');
      for (uint32_t j = 0; j < t->count; j++) gz_json_integer(writer, NULL, t->list[j]);
      gz_json_close(writer);
    }
    gz_json_close(writer);
  }
  gz_json_close(writer);
  gz_json_open(writer, "pairs", '[');
  for (uint64_t i = 0; i < run->left.pair_count; i++) {
    gz_json_open(writer, NULL, '[');
    gz_json_text(writer, NULL, name_of(run, run->left.pairs[i].a));
    gz_json_text(writer, NULL, name_of(run, run->left.pairs[i].b));
    gz_json_close(writer);
  }
  gz_json_close(writer);
  gz_json_hash(writer, "hash", run->left.hash);
  gz_json_close(writer);
}

static void write_json_exact(gz_json *writer, const cull_run *run) {
  const graze_visibility_contacts *found = &run->contacts;
  gz_json_open(writer, "exact", '{');
  gz_json_open(writer, "pairs", '[');
  for (uint64_t i = 0; i < found->count; i++) {
    const graze_visibility_contact *c = &found->list[i];
    gz_json_open(writer, NULL, '{');
    gz_json_text(writer, "a", name_of(run, c->a));
    gz_json_text(writer, "b", name_of(run, c->b));
    gz_json_integer(writer, "triangle_pairs", c->counts.triangle_pairs);
    gz_json_hash(writer, "hash", c->counts.hash);
    gz_json_close(writer);
  }
  gz_json_close(writer);
  gz_json_integer(writer, "triangle_pairs", found->triangle_pairs);
  gz_json_hash(writer, "hash", found->hash);
  gz_json_double(writer, "seconds", found->seconds);
  gz_json_close(writer);
}

static void write_json(output *out, const cull_run *run) {
  gz_json writer = gz_json_begin_result(out);
  gz_json_text(&writer, "engine", "visibility");
  gz_json_text(&writer, "device", graze_visibility_get_info(run->visibility)->name);
  gz_json_text(&writer, "mode", mode_names[run->asked->def.mode]);
  gz_json_bool(&writer, "reliable", run->left.reliable);
  gz_json_text(&writer, "status", "complete");
  gz_json_integer(&writer, "box_pairs", run->left.box_pairs);
  gz_json_integer(&writer, "queries", run->left.queries);
  write_json_passes(&writer, run);
  write_json_sets(&writer, &run->left.sets);
  write_json_left(&writer, run);
  if (run->asked->exact) write_json_exact(&writer, run);
  if (run->asked->check) {
    gz_json_open(&writer, "check", '{');
    gz_json_integer(&writer, "missed_pairs", run->exact.missed_pairs);
    gz_json_integer(&writer, "missed_triangles", run->exact.missed_triangles);
    gz_json_integer(&writer, "superfluous_pairs", run->exact.superfluous_pairs);
    if (run->asked->exact) gz_json_integer(&writer, "differing_pairs", run->exact.differing_pairs);
    gz_json_double(&writer, "seconds", run->exact.seconds);
    gz_json_close(&writer);
  }
  gz_json_double(&writer, "seconds", run->session.query_seconds);
  gz_json_end(&writer);
}

/* With --exact how many pairs of triangles meet, of all that are left. */
static table pair_table(const cull_run *run) {
  static const table_column columns[] = {
      {"a", true}, {"b", true}, {"triangles_a", false}, {"triangles_b", false}, {"triangle_pairs", false}};
  table rows = table_begin(columns, run->asked->exact ? 5 : 4);
  const graze_visibility_contact *next = run->contacts.list;
  for (uint64_t i = 0; i < run->left.pair_count; i++) {
    const graze_visibility_pair *p = &run->left.pairs[i];
    table_text(&rows, name_of(run, p->a));
    table_text(&rows, name_of(run, p->b));
    table_integer(&rows, p->triangles_a.count);
    table_integer(&rows, p->triangles_b.count);
    if (!run->asked->exact) continue;
    bool meet = next < run->contacts.list + run->contacts.count && next->a == p->a && next->b == p->b;
    table_integer(&rows, meet ? next++->counts.triangle_pairs : 0);
  }
  return rows;
}

static void write_triangles(output *out, const cull_run *run, bool csv) {
  for (uint32_t i = 0; i < run->all->object_count; i++) {
    const graze_visibility_triangles *t = &run->left.objects[i];
    if (!csv && t->count > 0) output_print(out, "%s\n ", name_of(run, i));
    for (uint32_t j = 0; j < t->count; j++) {
      if (csv) write_csv_field(out, name_of(run, i));
      output_print(out, csv ? ",%" PRIu32 "\n" : " %" PRIu32, t->list[j]);
    }
    if (!csv && t->count > 0) gz_put_text(out, "\n\n");
  }
}

static void write_text(output *out, const cull_run *run) {
  const graze_visibility_result *left = &run->left;
  if (left->pair_count > 0) {
    table rows = pair_table(run);
    table_write_text(&rows, out);
    table_free(&rows);
    gz_put_text(out, "\n");
  }
  if (run->asked->triangles) write_triangles(out, run, false);
  if (run->asked->exact)
    output_print(out, "%" PRIu64 " pair%s of triangles of %" PRIu64 " pair%s of objects meet (exact, %.3f s)\n",
                 run->contacts.triangle_pairs, plural(run->contacts.triangle_pairs), run->contacts.count,
                 plural(run->contacts.count), run->contacts.seconds);
  if (run->asked->exact && run->asked->check)
    output_print(out, "exact answer: %" PRIu64 " pair%s differ%s\n", run->exact.differing_pairs,
                 plural(run->exact.differing_pairs), run->exact.differing_pairs == 1 ? "s" : "");
  if (run->asked->check)
    output_print(out,
                 "exact answer: %" PRIu64 " pair%s and %" PRIu64 " triangle%s missed, %" PRIu64
                 " pair%s too many (%.3f s)\n",
                 run->exact.missed_pairs, plural(run->exact.missed_pairs), run->exact.missed_triangles,
                 plural(run->exact.missed_triangles), run->exact.superfluous_pairs,
                 plural(run->exact.superfluous_pairs), run->exact.seconds);
  output_print(out,
               "%" PRIu64 " pair%s of %" PRIu64 " left: %" PRIu32 " object%s, %" PRIu64 " triangle%s (%s at %" PRIu32
               ", %s; %s, %.3f s)\n",
               left->pair_count, plural(left->pair_count), left->box_pairs, left->left_objects,
               plural(left->left_objects), left->left_triangles, plural(left->left_triangles),
               mode_names[run->asked->def.mode], run->asked->def.resolution,
               left->reliable ? "reliable" : "not reliable", graze_visibility_get_info(run->visibility)->name,
               run->session.query_seconds);
}

static void write_csv(output *out, const cull_run *run) {
  if (run->asked->triangles) {
    gz_put_text(out, "object,triangle\n");
    write_triangles(out, run, true);
    return;
  }
  table rows = pair_table(run);
  table_write_csv(&rows, out);
  table_free(&rows);
}

static void write_results(output *out, const cull_run *run) {
  switch (run->asked->common.format) {
    case format_text:
      write_text(out, run);
      break;
    case format_json:
      write_json(out, run);
      break;
    case format_csv:
      write_csv(out, run);
      break;
  }
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};

const struct argp cull_argp = {
    .options = options,
    .parser = parse_cull,
    .children = children,
    .args_doc = "SCENE|FILE...",
    .doc =
        "Finds which surfaces may meet, and which of their triangles, by drawing them: what is seen whole before "
        "everything else meets nothing. Nothing is lost in the modes close and rcullide. One mesh file alone, with "
        "--mode qcullide, is held against itself. Rules of a scene file do not count here."
        "\vExit: 0 nothing is left, 1 something is, 2 usage error, 3 bad input, or no OpenGL."};

int command_cull(int argc, char **argv) {
  cull_options cull = {.common = {.engine = engine_visibility, .has_visibility = true},
                       .def = graze_default_visibility_def()};
  options_parse(&cull_argp, argc, argv, &cull, &cull.common);
  cull_run run = {.asked = &cull};
  session_begin(&run.session, &cull.common);
  run.session.no_advice = true;
  graze_check *check = open_files(&run);
  run.visibility = session_open_visibility(&run.session, &cull.common);
  output *out = output_open(cull.common.output);
  cull_pictures pictures = {.context = run.session.context, .all = run.all, .folder = cull.pictures};
  if (cull.pictures) cull_pictures_begin(&pictures);
  cull_objects(&run, &pictures);
  if (cull.check)
    run.exact = cull_hold_against_exact(run.session.context, run.all, &run.left, cull.exact ? &run.contacts : NULL);
  write_results(out, &run);
  output_close(out);
  if (cull.pictures) cull_pictures_end(&pictures, &run.left);
  bool any = run.left.pair_count > 0;
  graze_visibility_destroy(run.visibility);
  graze_check_destroy(check);
  session_end(&run.session);
  return any ? exit_found : exit_clear;
}
