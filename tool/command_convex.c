/* graze convex: pairs of convex sets, or clouds for their hulls, from text, a line each. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "diagnostics.h"
#include "graze/graze.h"
#include "number_lines.h"
#include "options.h"
#include "output.h"
#include "session.h"
#include "verbs.h"

enum { key_hull = 1, key_exactness, block_size = 256 };

typedef struct convex_options {
  common_options common;
  file_list files;
  graze_exactness exactness;
  bool hull;
} convex_options;

/* Points and pose of a set, which grow to what the lines need. */
typedef struct read_set {
  double *points;
  size_t capacity; /* in numbers */
  graze_convex convex;
  graze_pose pose;
} read_set;

typedef struct convex_run {
  session session;
  const convex_options *options;
  output *out;
  gz_json writer;
  output_format format;
  number_lines lines;
  read_set sets[block_size][2];
  graze_convex_pair pairs[block_size];
  graze_convex_result results[block_size];
  uint32_t waiting; /* pairs that were read and not decided yet */
  uint64_t answered, hits, unknown;
} convex_run;

static error_t parse_convex(int key, char *argument, struct argp_state *state) {
  static const char *const tiers[] = {"t1", "t2", NULL};
  convex_options *convex = state->input;
  switch (key) {
    case key_hull:
      convex->hull = true;
      return 0;
    case key_exactness:
      convex->exactness = options_choice(state, "exactness", argument, tiers) == 0 ? GRAZE_T1 : GRAZE_T2;
      return 0;
    default:
      return options_arguments(key, state, &convex->common, &convex->files, 1, "a file, or - for standard input,");
  }
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static void reserve_points(read_set *set, size_t numbers) {
  if (numbers <= set->capacity) return;
  free(set->points);
  set->points = malloc(numbers * sizeof *set->points);
  if (!set->points) fail_out_of_memory();
  set->capacity = numbers;
}

/* A number of points and the points. NULL when all is well; else what is wrong, as static text. */
static const char *read_points(number_lines *lines, read_set *set) {
  double count;
  if (number_lines_take(lines, &count, 1)) return "a number of points expected";
  if (!(count >= 1 && count < 0x1p29 && count == (double)(uint32_t)count)) {
    return "a number of points is not a whole number of 1 or more";
  }
  size_t numbers = 3 * (size_t)count;
  if (2 * numbers > (size_t)(lines->end - lines->text) + 1) return "a set has fewer points than it says";
  reserve_points(set, numbers);
  set->convex = (graze_convex){.points = set->points, .count = (uint32_t)count};
  return number_lines_take(lines, set->points, (int)numbers);
}

/* The ends of an axis, and the radii at both, of which those of a cylinder are the same and that of a cone's tip is 0.
 */
static const char *read_discs(number_lines *lines, read_set *set, bool is_cone, int radii) {
  double r[2] = {0, 0};
  reserve_points(set, 6);
  const char *message = number_lines_take(lines, set->points, 6);
  if (!message) message = number_lines_take(lines, r, radii);
  if (message) return message;
  if (radii == 1 && !is_cone) r[1] = r[0];
  if (!(r[0] >= 0 && r[1] >= 0 && r[0] + r[1] > 0)) return "the radius of a disc is not above 0";
  const double *p = set->points;
  if (p[0] == p[3] && p[1] == p[4] && p[2] == p[5]) return "the ends of an axis are the same";
  set->convex = (graze_convex){.points = set->points, .count = 2, .discs = {r[0], r[1]}};
  return NULL;
}

static const char *read_set_of(number_lines *lines, read_set *set) {
  if (number_lines_take_word(lines, "cylinder")) return read_discs(lines, set, false, 1);
  if (number_lines_take_word(lines, "cone")) return read_discs(lines, set, true, 1);
  if (number_lines_take_word(lines, "frustum")) return read_discs(lines, set, false, 2);
  return read_points(lines, set);
}

static const char *read_pair(number_lines *lines, read_set sets[2], graze_convex_pair *pair) {
  for (int s = 0; s < 2; s++) {
    const char *message = read_set_of(lines, &sets[s]);
    if (!message) message = (s == 0 ? number_lines_take : number_lines_take_all)(lines, sets[s].pose.m, 12);
    if (message) return message;
  }
  *pair = (graze_convex_pair){&sets[0].convex, &sets[1].convex, &sets[0].pose, &sets[1].pose};
  return NULL;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static void write_json(gz_json *json, const graze_convex_result *result) {
  gz_json_open(json, NULL, '[');
  if (result->hit == GRAZE_CONVEX_UNKNOWN) {
    gz_json_text(json, NULL, "unknown");
  } else {
    gz_json_integer(json, NULL, result->hit);
  }
  gz_json_double(json, NULL, result->distance);
  gz_json_double(json, NULL, result->lower);
  gz_json_double(json, NULL, result->upper);
  for (int s = 0; s < 2; s++) gz_json_doubles(json, NULL, result->points[s], 3);
  gz_json_close(json);
}

static void write_line(output *out, const graze_convex_result *result, char between) {
  const double values[9] = {result->distance,     result->lower,        result->upper,
                            result->points[0][0], result->points[0][1], result->points[0][2],
                            result->points[1][0], result->points[1][1], result->points[1][2]};
  static const char *const hits[] = {"0", "1", "unknown"};
  gz_put_text(out, hits[result->hit]);
  for (int i = 0; i < 9; i++) {
    gz_put_bytes(out, &between, 1);
    gz_put_double(out, values[i]);
  }
  gz_put_text(out, "\n");
}

static void write_hull(convex_run *run, const graze_hull *hull) {
  const uint32_t *t = hull->triangles;
  if (run->format == format_json) {
    gz_json_open(&run->writer, NULL, '{');
    gz_json_integer(&run->writer, "dimension", hull->dimension);
    gz_json_integer(&run->writer, "vertices", hull->vertex_count);
    gz_json_open(&run->writer, "triangles", '[');
    for (uint32_t i = 0; i < hull->triangle_count; i++, t += 3) {
      gz_json_open(&run->writer, NULL, '[');
      for (int k = 0; k < 3; k++) gz_json_integer(&run->writer, NULL, hull->vertices[t[k]]);
      gz_json_close(&run->writer);
    }
    gz_json_close(&run->writer);
    gz_json_close(&run->writer);
    return;
  }
  bool is_csv = run->format == format_csv;
  output_print(run->out, is_csv ? "%u,%u,%u," : "%u %u %u", hull->dimension, hull->vertex_count, hull->triangle_count);
  for (uint32_t i = 0; i < 3 * hull->triangle_count; i++) {
    output_print(run->out, is_csv && i == 0 ? "%u" : " %u", hull->vertices[t[i]]);
  }
  gz_put_text(run->out, "\n");
}

static void write_head(convex_run *run) {
  if (run->format == format_csv) {
    gz_put_text(run->out, run->options->hull ? "dimension,vertices,triangles,corners\n"
                                             : "hit,distance,lower,upper,ax,ay,az,bx,by,bz\n");
  }
  if (run->format != format_json) return;
  run->writer = gz_json_begin_result(run->out);
  gz_json_text(&run->writer, "engine", "cpu");
  if (!run->options->hull) gz_json_text(&run->writer, "exactness", exactness_names[run->options->exactness]);
  gz_json_open(&run->writer, run->options->hull ? "hulls" : "results", '[');
}

static void write_tail(convex_run *run) {
  if (run->format != format_json) return;
  gz_json_close(&run->writer);
  gz_json_open(&run->writer, "counts", '{');
  gz_json_integer(&run->writer, run->options->hull ? "hulls" : "pairs", run->answered);
  if (!run->options->hull) gz_json_integer(&run->writer, "hits", run->hits);
  if (!run->options->hull) gz_json_integer(&run->writer, "unknown", run->unknown);
  gz_json_close(&run->writer);
  gz_json_text(&run->writer, "status", "complete");
  gz_json_open(&run->writer, "seconds", '{');
  gz_json_double(&run->writer, "query", run->session.query_seconds);
  gz_json_close(&run->writer);
  gz_json_end(&run->writer);
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

static void finish_block(convex_run *run) {
  double start = clock_now();
  graze_status status = graze_convex_batch(run->session.context, run->waiting, run->pairs, run->options->exactness,
                                           GRAZE_CONVEX_SHARP, run->results);
  if (status != GRAZE_OK) session_fail(&run->session, run->lines.name, status);
  clock_add(&run->session.query_seconds, start);
  for (uint32_t i = 0; i < run->waiting; i++) {
    run->hits += run->results[i].hit == GRAZE_CONVEX_HIT;
    run->unknown += run->results[i].hit == GRAZE_CONVEX_UNKNOWN;
    if (run->format == format_json) {
      write_json(&run->writer, &run->results[i]);
    } else {
      write_line(run->out, &run->results[i], run->format == format_csv ? ',' : ' ');
    }
  }
  run->answered += run->waiting;
  run->waiting = 0;
}

/* What came before a bad line is still answered, in the formats of a line each. */
static _Noreturn void fail_at_line(convex_run *run, const char *message) {
  finish_block(run);
  if (run->format != format_json) gz_text_flush(run->out);
  fail("%s:%" PRIu64 ": %s", run->lines.name, run->lines.line, message);
}

static void answer_cloud(convex_run *run) {
  read_set *cloud = &run->sets[0][0];
  const char *message = read_points(&run->lines, cloud);
  if (!message && run->lines.text != run->lines.end) message = "more numbers than those of the points";
  if (message) fail_at_line(run, message);
  double start = clock_now();
  graze_hull *hull = NULL;
  graze_status status = graze_hull_create(run->session.context, cloud->convex.count, cloud->points, &hull);
  if (status != GRAZE_OK) session_fail(&run->session, run->lines.name, status);
  clock_add(&run->session.query_seconds, start);
  write_hull(run, hull);
  graze_hull_destroy(hull);
  run->answered++;
}

static void check_axis(convex_run *run, const graze_convex *set, const graze_pose *pose) {
  double ends[2][3];
  if (!(set->discs[0] > 0 || set->discs[1] > 0)) return;
  for (int e = 0; e < 2; e++) graze_pose_apply(pose, set->points + (size_t)(3 * e), ends[e]);
  if (ends[0][0] == ends[1][0] && ends[0][1] == ends[1][1] && ends[0][2] == ends[1][2])
    fail_at_line(run, "posed, the ends of an axis are the same");
}

/* A pose may take a coordinate beyond the doubles: such a pair is told by its line. */
static void check_image(convex_run *run, const graze_convex_pair *pair) {
  const graze_convex *const sets[2] = {pair->a, pair->b};
  const graze_pose *const poses[2] = {pair->pose_a, pair->pose_b};
  for (int s = 0; s < 2; s++) {
    for (uint32_t i = 0; i < sets[s]->count; i++) {
      double x[3];
      graze_pose_apply(poses[s], sets[s]->points + 3 * (size_t)i, x);
      if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) fail_at_line(run, "a posed point is not finite");
    }
    check_axis(run, sets[s], poses[s]);
  }
}

static void read_all(convex_run *run) {
  while (number_lines_next(&run->lines)) {
    if (run->options->hull) {
      answer_cloud(run);
      continue;
    }
    const char *message = read_pair(&run->lines, run->sets[run->waiting], &run->pairs[run->waiting]);
    if (message) fail_at_line(run, message);
    check_image(run, &run->pairs[run->waiting]);
    if (++run->waiting == block_size) finish_block(run);
  }
  finish_block(run);
}

static const struct argp_option options[] = {
    {"hull", key_hull, NULL, 0, "lines are clouds, n and 3 n numbers: print their hulls", 0},
    {"exactness", key_exactness, "TIER", 0, "t1: posed points rounded (default); t2: their real images", 0},
    {0}};

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};

const struct argp convex_argp = {
    .options = options,
    .parser = parse_convex,
    .children = children,
    .args_doc = "FILE\n-",
    .doc =
        "Decides pairs of convex sets, one pair per line: a number of points, three numbers for each, the twelve of a "
        "pose, and the same of the other set (decimal or C hex floats). Instead of points a set may be `cylinder', two "
        "ends of its axis and a radius, `cone', its middle below, its tip and a radius, or `frustum', two ends and two "
        "radii. Prints one line per pair: hit (0 1 unknown), the distance or minus the depth, bounds below and above "
        "it, and the nearest or deepest point of each. With --hull one line per cloud: dimension, vertices, triangles, "
        "and their corners by number."
        "\vExit: 0 no pair meets, 1 some do or may, 2 usage error, 3 bad input."};

int command_convex(int argc, char **argv) {
  convex_options convex = {.exactness = GRAZE_T1};
  options_parse(&convex_argp, argc, argv, &convex, &convex.common);
  convex_run *run = calloc(1, sizeof *run);
  if (!run) fail_out_of_memory();
  run->options = &convex;
  run->format = convex.common.format;
  run->lines = number_lines_open(convex.files.names[0]);
  run->out = output_open(convex.common.output);
  session_begin(&run->session, &convex.common);
  write_head(run);
  read_all(run);
  write_tail(run);
  output_close(run->out);
  session_end(&run->session);
  number_lines_close(&run->lines);
  int code = run->hits + run->unknown > 0 ? exit_found : exit_clear;
  for (int i = 0; i < 2 * block_size; i++) free(run->sets[i / 2][i % 2].points);
  free(run);
  return code;
}
