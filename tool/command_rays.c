/* graze rays: what rays or segments meet of a scene. */
#include <inttypes.h>
#include <stdlib.h>

#include "diagnostics.h"
#include "number_lines.h"
#include "scene_options.h"
#include "target_hits.h"
#include "verbs.h"

typedef struct rays_options {
  common_options common;
  graze_check_def def;
  const char *rays;
  bool all, segments;
} rays_options;

enum { key_all = 1, key_segments };

static const struct argp_option options[] = {
    {"all", key_all, NULL, 0, "list every triangle that a ray meets, not only the first", 0},
    {"segments", key_segments, NULL, 0, "the second three numbers of a line are where it ends, not where it leads", 0},
    {0}};

/* The first argument has the rays. */
static void take_files(struct argp_state *state, rays_options *rays) {
  if (state->argc - state->next < 2) argp_error(state, "a scene or a mesh is needed");
  rays->rays = state->argv[state->next++];
  scene_take_files(state, &rays->def);
  state->next = state->argc;
}

static error_t parse_rays(int key, char *argument, struct argp_state *state) {
  rays_options *rays = state->input;
  (void)argument;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &rays->common;
      state->child_inputs[1] = &rays->def;
      return 0;
    case key_all:
      rays->all = true;
      return 0;
    case key_segments:
      rays->segments = true;
      return 0;
    case ARGP_KEY_ARGS:
      take_files(state, rays);
      return 0;
    case ARGP_KEY_NO_ARGS:
      argp_error(state, "a file of rays, and a scene or a mesh are needed");
      return 0;
    case ARGP_KEY_END:
      if (rays->def.exactness != GRAZE_T1 || rays->def.open != GRAZE_OPEN_UNKNOWN)
        argp_error(state, "rays takes neither --exactness nor --open");
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

/* ---- the lines --------------------------------------------------------------------------------------------------- */

typedef struct line_list {
  double *from, *to;
  uint64_t count;
} line_list;

static line_list read_lines(const char *path) {
  number_lines lines = number_lines_open(path);
  line_list list = {0};
  uint64_t room = 0;
  lines.commas = true;
  while (number_lines_next(&lines)) {
    if (list.count == room) {
      room = 2 * room + 1024;
      list.from = realloc(list.from, 3 * room * sizeof *list.from);
      list.to = realloc(list.to, 3 * room * sizeof *list.to);
      if (!list.from || !list.to) fail_out_of_memory();
    }
    double numbers[6];
    const char *message = number_lines_take_all(&lines, numbers, 6);
    if (message) fail("%s:%" PRIu64 ": %s", lines.name, lines.line, message);
    for (uint64_t k = 0; k < 3; k++) {
      list.from[3 * list.count + k] = numbers[k];
      list.to[3 * list.count + k] = numbers[3 + k];
    }
    list.count++;
  }
  number_lines_close(&lines);
  return list;
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

/* What is to be freed. */
typedef struct ray_results {
  graze_target_hit *first;
  graze_ray_hits all;
  uint64_t *numbers;
} ray_results;

static target_hits find_first(const session *run, const graze_targets *targets, const graze_rays *rays,
                              ray_results *results) {
  results->first = calloc(rays->count + 1, sizeof *results->first);
  if (!results->first) fail_out_of_memory();
  must(run->context, graze_rays_first(run->context, targets, rays, results->first));
  return (target_hits){.hits = results->first, .count = rays->count};
}

static target_hits find_all(const session *run, const graze_targets *targets, const graze_rays *rays,
                            ray_results *results) {
  must(run->context, graze_rays_all(run->context, targets, rays, &results->all));
  results->numbers = calloc(results->all.count + 1, sizeof *results->numbers);
  if (!results->numbers) fail_out_of_memory();
  for (uint64_t i = 0; i < rays->count; i++) {
    for (uint64_t k = results->all.first[i]; k < results->all.first[i + 1]; k++) results->numbers[k] = i;
  }
  return (target_hits){.hits = results->all.hits, .numbers = results->numbers, .count = results->all.count};
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {&scene_argp, 0, NULL, 0}, {0}};

const struct argp rays_argp = {
    .options = options,
    .parser = parse_rays,
    .children = children,
    .args_doc = "RAYS SCENE.json|ASSEMBLY|MESH...",
    .doc =
        "Which object and triangle each ray meets first, and where along it. RAYS, or - for standard input, has six "
        "numbers a line, in the units of the scene: where a ray begins, and its direction, whose length is the unit of "
        "`earliest' and `latest'. Every decision is exact, and what touches meets."
        "\vExit: 0 no ray meets anything, 1 some do, 2 usage error, 3 bad input."};

int command_rays(int argc, char **argv) {
  rays_options asked = {.def = graze_default_check_def()};
  options_parse(&rays_argp, argc, argv, &asked, &asked.common);
  session run;
  graze_targets *targets = NULL;
  ray_results results = {0};
  line_list lines = read_lines(asked.rays);
  output *out = output_open(asked.common.output);
  session_begin(&run, &asked.common);
  graze_check *check = target_hits_open(&run, &asked.def, &targets);
  const graze_rays rays = {.count = lines.count,
                           .from = lines.from,
                           .to = asked.segments ? lines.to : NULL,
                           .way = asked.segments ? NULL : lines.to};
  const double start = clock_now();
  target_hits h = (asked.all ? find_all : find_first)(&run, targets, &rays, &results);
  clock_add(&run.query_seconds, start);
  progress_end(&run.line);
  h.report = graze_check_report(check);
  h.one = asked.segments ? "segment" : "ray";
  h.when = "at";
  h.asked = lines.count;
  target_hits_write(out, asked.common.format, &run, &h, "hit");
  output_close(out);
  const bool found = target_hits_found(&h) > 0;
  free(results.first);
  free(results.numbers);
  graze_ray_hits_free(&results.all);
  free(lines.from);
  free(lines.to);
  graze_targets_destroy(targets);
  graze_check_destroy(check);
  session_end(&run);
  return found ? exit_found : exit_clear;
}
