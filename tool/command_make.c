/* graze make: writes a seeded model. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/nearest.h"
#include "diagnostics.h"
#include "graze/graze.h"
#include "make_balls.h"
#include "make_boxes.h"
#include "make_debris.h"
#include "make_rigid.h"
#include "options.h"
#include "output.h"
#include "scene_files.h"
#include "scenes.h"
#include "session.h"
#include "table.h"
#include "verbs.h"

typedef struct make_options {
  common_options common;
  const scenes_kind *kind;
  const char *size_text, *seed_text, *gap_text, *detail_text, *clashes_text,
      *gaps_text; /* read when the kind is known */
  scenes_request request;
  bool boxes, balls, rigid; /* not a kind of scene */
  bool bodies, plant;
  const char *debris_text; /* or NULL, and then: */
  uint32_t debris;
  box_request box_request;
  ball_request ball_request;
  rigid_request rigid_request;
} make_options;

enum {
  key_size = 1,
  key_seed,
  key_gap,
  key_detail,
  key_clashes,
  key_gaps,
  key_kind,
  key_step,
  key_speed,
  key_bodies,
  key_debris,
  key_plant
};

static const struct argp_option options[] = {
    {"size", key_size, "N", 0, "size of the model; its meaning depends on the kind", 0},
    {"seed", key_seed, "N", 0, "seed of everything random (default 1)", 0},
    {"gap", key_gap, "LENGTH", 0, "gap between parts that nearly touch, in metres", 0},
    {"detail", key_detail, "N", 0, "tessellation of round parts, where size is a number of objects", 0},
    {"clashes", key_clashes, "N", 0, "number of planted clashes of each type", 0},
    {"gaps", key_gaps, "N", 0, "number of planted pairs of each type whose distance is known", 0},
    {"bodies", key_bodies, NULL, 0,
     "for `graze simulate': the fragments of an explosion; gears, a nut or rings that move", 0},
    {"debris", key_debris, "N", 0,
     "N fragments that fly from an explosion at equipment, for `graze motion', and what each hits first", 0},
    {"plant", key_plant, NULL, 0, "of rubble: in a bay of a plant, whose objects stand still", 0},
    {"kind", key_kind, "KIND", 0, "kind of boxes", 0},
    {"step", key_step, "N", 0, "write the boxes at this step of their motion (default 0)", 0},
    {"speed", key_speed, "EDGES", 0, "distance that a box moves per step, in edges of the box (default 0.01)", 0},
    {0}};

static void fail_kind(struct argp_state *state, const char *name) {
  nearest n = {.wanted = name};
  uint32_t count;
  const scenes_kind *kinds = scenes_kinds(&count);
  for (uint32_t i = 0; i < count; i++) gz_nearest_offer(&n, kinds[i].name);
  gz_nearest_offer(&n, "boxes");
  for (int k = 0; k < SCENES_BALL_KINDS; k++) {
    const scenes_ball_kind_facts *facts = scenes_ball_kind_describe((scenes_ball_kind)k);
    if (facts->of_scene == NULL) gz_nearest_offer(&n, facts->name);
  }
  for (int k = 0; k < SCENES_RIGID_KINDS; k++) gz_nearest_offer(&n, scenes_rigid_describe((scenes_rigid_kind)k)->name);
  argp_error(state, "no such kind: %s%s", name, gz_did_you_mean(&n).text);
}

static void take_kind(make_options *make, struct argp_state *state) {
  const char *name = state->argv[state->next];
  if (state->argc - state->next > 1) argp_error(state, "one kind at a time");
  make->kind = scenes_find_kind(name);
  make->boxes = strcmp(name, "boxes") == 0;
  make->balls = scenes_ball_kind_named(name, &make->ball_request.kind);
  make->rigid = scenes_rigid_named(name, &make->rigid_request.kind);
  if (!make->kind && !make->boxes && !make->balls && !make->rigid) fail_kind(state, name);
}

static void finish_request(make_options *make, struct argp_state *state) {
  scenes_request *request = &make->request;
  *request = scenes_default_request(make->kind);
  if (make->size_text)
    request->size = (uint32_t)options_number(state, "size", make->size_text, 1, make->kind->max_size);
  if (make->seed_text) request->seed = options_number(state, "seed", make->seed_text, 0, UINT64_MAX);
  if (make->gap_text) request->gap = options_decimal(state, "gap", make->gap_text);
  if (make->detail_text && make->kind->max_detail > 0)
    request->detail = (uint32_t)options_number(state, "detail", make->detail_text, 1, make->kind->max_detail);
  if (make->clashes_text && make->kind->max_clashes > 0)
    request->clashes = (uint32_t)options_number(state, "clashes", make->clashes_text, 0, make->kind->max_clashes);
  if (make->gaps_text && make->kind->max_clashes > 0)
    request->gaps = (uint32_t)options_number(state, "gaps", make->gaps_text, 0, make->kind->max_clashes);
  const char *fault = scenes_fault(make->kind, request);
  if (fault) argp_error(state, "%s", fault);
  if (!make->common.output) argp_error(state, "-o is needed: a folder, or a file that ends in .obj or .glb");
}

/* Of an explosion balls; of kinds that have bodies their own meshes, in a folder. */
static void take_bodies(make_options *make, struct argp_state *state) {
  const char *path = make->common.output;
  const size_t length = path ? strlen(path) : 0;
  if (make->kind && make->kind->has_bodies) {
    if (length > 4 && (strcmp(path + length - 4, ".obj") == 0 || strcmp(path + length - 4, ".glb") == 0))
      argp_error(state, "-o is a folder with --bodies");
    return;
  }
  if (!make->kind || strcmp(make->kind->name, "explosion") != 0)
    argp_error(state, "--bodies is for explosion, gears, bolt and rings");
  make->balls = true;
  make->ball_request.kind = SCENES_BALLS_EXPLOSION;
}

static void take_debris(make_options *make, struct argp_state *state) {
  if (!make->kind || strcmp(make->kind->name, "explosion") != 0) argp_error(state, "--debris is for explosion");
  if (make->bodies) argp_error(state, "--debris and --bodies are two models");
  make->debris = (uint32_t)options_number(state, "debris", make->debris_text, 1, 100000000);
  const char *path = make->common.output;
  const size_t length = path ? strlen(path) : 0;
  if (length == 0 || (length > 4 && (strcmp(path + length - 4, ".obj") == 0 || strcmp(path + length - 4, ".glb") == 0)))
    argp_error(state, "-o is needed: a folder");
}

static void finish(make_options *make, struct argp_state *state) {
  if (make->debris_text) take_debris(make, state);
  if (make->bodies) take_bodies(make, state);
  if (make->plant && !make->rigid) argp_error(state, "--plant is for rubble");
  make->rigid_request.plant = make->plant;
  if (make->boxes)
    box_request_finish(&make->box_request, make->size_text, make->seed_text, make->common.output, state);
  else if (make->rigid)
    rigid_request_finish(&make->rigid_request, make->size_text, make->seed_text, make->common.output, state);
  else if (make->balls)
    ball_request_finish(&make->ball_request, make->size_text, make->seed_text, make->gap_text, make->common.output,
                        state);
  else
    finish_request(make, state);
}

static error_t parse_make(int key, char *argument, struct argp_state *state) {
  make_options *make = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &make->common;
      break;
    case key_size:
      make->size_text = argument;
      break;
    case key_seed:
      make->seed_text = argument;
      break;
    case key_gap:
      make->gap_text = argument;
      break;
    case key_detail:
      make->detail_text = argument;
      break;
    case key_clashes:
      make->clashes_text = argument;
      break;
    case key_gaps:
      make->gaps_text = argument;
      break;
    case key_bodies:
      make->bodies = true;
      break;
    case key_debris:
      make->debris_text = argument;
      break;
    case key_plant:
      make->plant = true;
      break;
    case key_kind:
      make->box_request.kind_text = argument;
      break;
    case key_step:
      make->box_request.step_text = argument;
      break;
    case key_speed:
      make->box_request.speed_text = argument;
      break;
    case ARGP_KEY_ARGS:
      take_kind(make, state);
      break;
    case ARGP_KEY_NO_ARGS:
      argp_error(state, "a kind is needed");
      break;
    case ARGP_KEY_SUCCESS:
      finish(make, state);
      break;
    default:
      return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

/* The list of kinds at the end of --help. */
static char *filter_help(int key, const char *text, void *input) {
  (void)input;
  if (key != ARGP_KEY_HELP_POST_DOC) return (char *)(uintptr_t)text; /* as argp wants it */
  char *list = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&list, &size);
  if (!stream) return NULL;
  uint32_t count;
  const scenes_kind *kinds = scenes_kinds(&count);
  fputs("Kinds, and what their options mean:\n", stream);
  for (uint32_t i = 0; i < count; i++) {
    const scenes_kind *kind = &kinds[i];
    fprintf(stream, "  %s: %s\n    size: %s (default %" PRIu32 ")\n", kind->name, kind->summary, kind->size_means,
            kind->default_size);
    if (kind->uses_gap)
      fprintf(stream, "    gap: from %g to %g (default %g)\n", kind->min_gap, kind->max_gap, kind->default_gap);
    if (kind->max_detail > 0)
      fprintf(stream, "    detail: from 1 to %" PRIu32 " (default %" PRIu32 ")\n", kind->max_detail,
              kind->default_detail);
    if (kind->max_clashes > 0)
      fprintf(stream, "    clashes: from 0 to %" PRIu32 " (default %" PRIu32 "); gaps: likewise (default 0)\n",
              kind->max_clashes, kind->default_clashes);
  }
  ball_request_help(stream);
  rigid_request_help(stream);
  box_request_help(stream);
  fputs("\nExit: 0 written, 2 usage error, 3 not written.", stream);
  fclose(stream);
  return list;
}

/* ---- what was written --------------------------------------------------------------------------------------- */

static void tell_json(output *out, const make_options *make, const scenes_scene *scene, const written *done) {
  gz_json writer = gz_json_begin_result(out);
  gz_json_text(&writer, "kind", make->kind->name);
  gz_json_integer(&writer, "size", make->request.size);
  gz_json_integer(&writer, "seed", make->request.seed);
  gz_json_double(&writer, "gap", make->request.gap);
  if (make->kind->max_detail > 0) gz_json_integer(&writer, "detail", make->request.detail);
  if (make->kind->max_clashes > 0) gz_json_integer(&writer, "clashes", make->request.clashes);
  if (make->kind->max_clashes > 0) gz_json_integer(&writer, "gaps", make->request.gaps);
  gz_json_open(&writer, "files", '[');
  const char *cell = done->files.text;
  for (uint64_t i = 0; i < done->files.cell_count; i++, cell += strlen(cell) + 1) {
    if (i % 2 == 0) gz_json_text(&writer, NULL, cell);
  }
  gz_json_close(&writer);
  gz_json_integer(&writer, "objects", scene->object_count);
  if (make->kind->max_clashes > 0) gz_json_integer(&writer, "planted_pairs", scene->pair_count);
  gz_json_integer(&writer, "triangles", done->triangles);
  gz_json_end(&writer);
}

static void tell(const make_options *make, const scenes_scene *scene, const written *done) {
  output *out = output_open(NULL);
  switch (make->common.format) {
    case format_text:
      table_write_text(&done->files, out);
      break;
    case format_json:
      tell_json(out, make, scene, done);
      break;
    case format_csv:
      table_write_csv(&done->files, out);
      break;
  }
  output_close(out);
}

static void note_unused_of_rigid(const make_options *make) {
  const scenes_rigid_facts *kind = scenes_rigid_describe(make->rigid_request.kind);
  const box_request *boxes = &make->box_request;
  if (boxes->kind_text || boxes->step_text || boxes->speed_text)
    note("--kind, --step and --speed are for boxes: they change nothing in %s", kind->name);
  if (make->seed_text && !kind->uses_seed) note("nothing is random in %s: --seed changes nothing", kind->name);
  if (make->gap_text || make->detail_text || make->clashes_text || make->gaps_text)
    note("--gap, --detail, --clashes and --gaps change nothing in %s", kind->name);
}

/* What the kind has no use for. */
static void note_unused(const make_options *make) {
  if (make->rigid) {
    note_unused_of_rigid(make);
    return;
  }
  const scenes_ball_kind_facts *balls = make->balls ? scenes_ball_kind_describe(make->ball_request.kind) : NULL;
  const char *name = make->boxes ? "boxes" : balls && !balls->of_scene ? balls->name : make->kind->name;
  const box_request *boxes = &make->box_request;
  if (!make->boxes && (boxes->kind_text || boxes->step_text || boxes->speed_text))
    note("--kind, --step and --speed are for boxes: they change nothing in %s", name);
  if (make->boxes && (make->gap_text || make->detail_text || make->clashes_text || make->gaps_text))
    note("--gap, --detail, --clashes and --gaps change nothing in boxes");
  if (make->boxes) return;
  const scenes_kind *kind = make->kind;
  if (make->seed_text && !(balls ? balls->uses_seed : kind->uses_seed))
    note("nothing is random in %s: --seed changes nothing", name);
  if (make->gap_text && !(balls ? balls->uses_gap : kind->uses_gap)) note("%s has no gap: --gap changes nothing", name);
  if (make->detail_text && (balls || kind->max_detail == 0)) note("%s has no detail: --detail changes nothing", name);
  if (make->clashes_text && (balls || kind->max_clashes == 0))
    note("nothing is planted in %s: --clashes changes nothing", name);
  if (make->gaps_text && (balls || kind->max_clashes == 0))
    note("nothing is planted in %s: --gaps changes nothing", name);
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};

const struct argp make_argp = {
    .options = options,
    .parser = parse_make,
    .children = children,
    .args_doc = "KIND",
    .doc =
        "Generates a model: in the folder given by -o, an OBJ for each mesh and a scene.json for `graze check'; or, "
        "if -o ends in .obj or .glb, one file with all objects. The planted clashes and gaps are listed in truth.json "
        "(or "
        "FILE.truth.json), a motion is in motion.csv (or FILE.motion.csv). The kind `boxes' makes a file for `graze "
        "pairs', .csv or .gzb; `bed' and those below it make folders for `graze simulate'.\v ",
    .help_filter = filter_help};

int command_make(int argc, char **argv) {
  static const table_column columns[] = {{"file", true}, {"triangles", false}};
  make_options make = {0};
  options_parse(&make_argp, argc, argv, &make, &make.common);
  note_unused(&make);
  if (make.boxes) return make_boxes(&make.box_request, &make.common);
  if (make.rigid) return make_rigid(&make.rigid_request, &make.common);
  if (make.balls) return make_balls(&make.ball_request, &make.common);
  if (make.debris > 0) return make_debris(make.debris, make.request.size, make.request.seed, &make.common);
  scenes_scene scene;
  const char *reason;
  if (!scenes_make(make.kind, &make.request, &scene, &reason)) fail("%s: %s", make.kind->name, reason);
  session run;
  session_begin(&run, &make.common);
  written done = {.context = run.context, .files = table_begin(columns, 2)};
  if (!make.bodies) { /* objects, not bodies */
    free(scene.run.starts);
    scene.run.starts = NULL;
  }
  write_scene_files(make.common.output, &scene, &done);
  tell(&make, &scene, &done);
  table_free(&done.files);
  session_end(&run);
  scenes_free(&scene);
  return exit_clear;
}
