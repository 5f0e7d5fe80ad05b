/* Boxes for broad phases. An interior box meets five others in the mean, so that figures of different kinds and
 * sizes compare: the domain is as large as that needs. (The wave is what it is: six.)
 *
 * Two closed boxes with edges a and b, whose centres are spread evenly, meet when their centres differ by at most
 * (a + b) / 2 on each axis: of n centres in a volume V that is n (a + b)^3 / V. The kinds solve this for the domain. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "scenes.h"

#define NEIGHBOURS 5.0
#define PI         3.14159265358979323846

static const struct {
  const char *name, *summary;
} kinds[SCENES_BOX_KINDS] = {{"uniform", "unit cubes, spread evenly in a cube"},
                             {"mixed", "cubes with edges from 1 to 1000, as many in each decade"},
                             {"clusters", "unit cubes in clusters far apart"},
                             {"flat", "unit cubes in a slab four edges thick"},
                             {"wave", "of the triangles of a wavy plane; 4 k^2 boxes"}};

const char *scenes_box_kind_name(scenes_box_kind kind) {
  return kinds[kind].name;
}

const char *scenes_box_kind_summary(scenes_box_kind kind) {
  return kinds[kind].summary;
}

bool scenes_box_kind_named(const char *name, scenes_box_kind *kind) {
  for (int k = 0; k < SCENES_BOX_KINDS; k++) {
    if (strcmp(kinds[k].name, name) != 0) continue;
    *kind = (scenes_box_kind)k;
    return true;
  }
  return false;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* Box and Muller's normal numbers, one of the two. */
static double stream_normal(random_stream *stream) {
  double radius = stream_unit(stream), turn = stream_unit(stream);
  return sqrt(-2.0 * log(radius < 1e-300 ? 1e-300 : radius)) * cos(2 * PI * turn);
}

/* Evenly over the unit sphere (Archimedes: the height is even). */
static void stream_direction(random_stream *stream, double out[3]) {
  double height = 2 * stream_unit(stream) - 1, turn = 2 * PI * stream_unit(stream);
  double radius = sqrt(1 - height * height);
  out[0] = radius * cos(turn);
  out[1] = radius * sin(turn);
  out[2] = height;
}

/* Each box draws the same number of times: the stream can begin at any box. */
static void begin_part(const scenes_boxes *boxes, random_stream *stream, uint64_t draws) {
  stream_skip(stream, draws * boxes->first);
}

static void end_part(const scenes_boxes *boxes, random_stream *stream, uint64_t draws) {
  stream_skip(stream, draws * (boxes->total - boxes->first - boxes->count));
}

static void place_evenly(scenes_boxes *boxes, random_stream *stream, const double size[3], bool mixed) {
  begin_part(boxes, stream, mixed ? 4 : 3);
  for (size_t i = 0; i < boxes->count; i++) {
    boxes->edges[i] = mixed ? exp(log(1000.0) * stream_unit(stream)) : 1;
    for (size_t k = 0; k < 3; k++) boxes->centers[3 * i + k] = size[k] * stream_unit(stream);
  }
  end_part(boxes, stream, mixed ? 4 : 3);
}

/* Of an edge x, log-uniform in [1, 1000]: E[(x + y)^3] = 2 E[x^3] + 6 E[x^2] E[x]. */
static double mean_cube_of_sums(void) {
  const double decades = log(1000.0);
  double first = (1e3 - 1) / decades, second = (1e6 - 1) / (2 * decades), third = (1e9 - 1) / (3 * decades);
  return 2 * third + 6 * second * first;
}

static bool place_in_clusters(scenes_boxes *boxes, random_stream *stream) {
  uint32_t thousands = boxes->total / 1000, number = thousands < 4 ? 4 : thousands > 64 ? 64 : thousands;
  double each = (double)boxes->total / number;
  /* m unit cubes with deviation s have 8 m / (4 pi s^2)^(3/2) neighbours in the mean */
  double deviation = sqrt(pow(8.0 * each / NEIGHBOURS, 2.0 / 3.0) / (4 * PI));
  double domain = 100.0 * deviation * cbrt(number);
  double *middles = malloc(3 * (size_t)number * sizeof *middles);
  if (middles == NULL) return false;
  for (size_t i = 0; i < 3 * (size_t)number; i++) middles[i] = domain * stream_unit(stream);
  begin_part(boxes, stream, 7);
  for (size_t i = 0; i < boxes->count; i++) {
    size_t cluster = (size_t)(stream_bits(stream) % number);
    boxes->edges[i] = 1;
    for (size_t k = 0; k < 3; k++)
      boxes->centers[3 * i + k] = middles[3 * cluster + k] + deviation * stream_normal(stream);
  }
  end_part(boxes, stream, 7);
  free(middles);
  return true;
}

/* ---- the wavy plane: after Lawlor and Kale 2002, with a wave that runs ------------------------------------------- */

/* Squares along the short side; the long one has twice as many. */
static uint32_t wave_side(uint32_t count) {
  long side = lround(sqrt(count / 4.0));
  return side < 1 ? 1 : (uint32_t)side;
}

static double wave_column_factor(uint32_t x, double time) {
  return 0.3 * sin(0.13 * x + 0.2 * time);
}

static double wave_row_factor(uint32_t y, double time) {
  return cos(0.11 * y - 0.17 * time);
}

static void wave_point(uint32_t x, uint32_t y, double height, double out[3]) {
  out[0] = x + 0.1 * height;
  out[1] = y - 0.1 * height;
  out[2] = height;
}

static void place_on_wave(scenes_boxes *boxes) {
  uint32_t along = 2 * wave_side(boxes->total);
  for (uint32_t i = 0; i < boxes->count; i++) {
    double *center = boxes->centers + 3 * (size_t)i;
    uint32_t square = (boxes->first + i) / 2;
    boxes->edges[i] = 1.1;
    center[0] = square % along + 0.5;
    center[1] = square / along + 0.5;
    center[2] = 0;
  }
}

/* The box of three points, smaller by 1e-5 on every side, so that boxes which only touch do not count. One that this
 * would turn inside out shrinks to its middle. */
static void wave_box(const double *p, const double *q, const double *r, float out[6]) {
  const double shrink = 1e-5;
  for (int k = 0; k < 3; k++) {
    double low = fmin(p[k], fmin(q[k], r[k])), high = fmax(p[k], fmax(q[k], r[k]));
    bool flat = low + shrink > high - shrink;
    out[k] = (float)(flat ? 0.5 * (low + high) : low + shrink);
    out[3 + k] = (float)(flat ? 0.5 * (low + high) : high - shrink);
  }
}

/* The two boxes of a square; the height of a point is the product of a factor of its column and one of its row. */
static void wave_square(uint32_t x, uint32_t y, const double columns[2], const double rows[2], float out[12]) {
  double corners[4][3];
  for (uint32_t k = 0; k < 4; k++) wave_point(x + (k & 1), y + (k >> 1), columns[k & 1] * rows[k >> 1], corners[k]);
  for (uint32_t half = 0; half < 2; half++) wave_box(corners[1], corners[2], corners[3 * half], out + 6 * half);
}

static void wave_at(const scenes_boxes *boxes, double time, float *out) {
  const uint32_t along = 2 * wave_side(boxes->total), end = boxes->first + boxes->count;
  for (uint32_t square = boxes->first / 2; 2 * square < end; square++) { /* the part may begin and end inside */
    const uint32_t x = square % along, y = square / along;
    const double columns[2] = {wave_column_factor(x, time), wave_column_factor(x + 1, time)};
    const double rows[2] = {wave_row_factor(y, time), wave_row_factor(y + 1, time)};
    float both[12];
    wave_square(x, y, columns, rows, both);
    for (uint32_t half = 0; half < 2; half++) {
      uint32_t i = 2 * square + half;
      if (i < boxes->first || i >= end) continue;
      memcpy(out, both + 6 * half, 6 * sizeof *out);
      out += 6;
    }
  }
}

void scenes_wave_squares(uint32_t count, uint32_t *along, uint32_t *across) {
  *across = wave_side(count);
  *along = 2 * *across;
}

/* The factor of a column goes from square to square. */
void scenes_wave_row(uint32_t y, uint32_t x, uint32_t end, float *out) {
  const double rows[2] = {wave_row_factor(y, 0), wave_row_factor(y + 1, 0)};
  double next = wave_column_factor(x, 0);
  for (; x < end; x++, out += 12) {
    const double columns[2] = {next, wave_column_factor(x + 1, 0)};
    next = columns[1];
    wave_square(x, y, columns, rows, out);
  }
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static bool place(scenes_boxes *boxes, random_stream *stream) {
  const double n = boxes->total;
  double side = cbrt(8.0 * n / NEIGHBOURS), mixed = cbrt(n * mean_cube_of_sums() / NEIGHBOURS);
  /* across a slab of four edges two unit cubes overlap with the chance 2/4 - 1/16 */
  double slab = sqrt(n * 4.0 * (0.5 - 0.0625) / NEIGHBOURS);
  switch (boxes->kind) {
    case SCENES_BOXES_UNIFORM:
      place_evenly(boxes, stream, (const double[3]){side, side, side}, false);
      return true;
    case SCENES_BOXES_MIXED:
      place_evenly(boxes, stream, (const double[3]){mixed, mixed, mixed}, true);
      return true;
    case SCENES_BOXES_CLUSTERS:
      return place_in_clusters(boxes, stream);
    case SCENES_BOXES_FLAT:
      place_evenly(boxes, stream, (const double[3]){slab, slab, 4}, false);
      return true;
    default:
      place_on_wave(boxes);
      return true;
  }
}

static void give_motion(scenes_boxes *boxes, random_stream *stream) {
  boxes->least_edge = INFINITY;
  begin_part(boxes, stream, 3);
  for (size_t i = 0; i < boxes->count; i++) {
    stream_direction(stream, boxes->directions + 3 * i);
    boxes->phases[i] = stream_unit(stream);
    boxes->least_edge = fmin(boxes->least_edge, boxes->edges[i]);
    boxes->greatest_edge = fmax(boxes->greatest_edge, boxes->edges[i]);
  }
}

/* Two edges of swing, half an edge of box, and a quarter so that nobody's bounds are tight. */
static void bound(scenes_boxes *boxes) {
  for (int k = 0; k < 3; k++) {
    boxes->low[k] = INFINITY;
    boxes->high[k] = -INFINITY;
  }
  for (size_t i = 0; i < boxes->count; i++) {
    for (size_t k = 0; k < 3; k++) {
      boxes->low[k] = fmin(boxes->low[k], boxes->centers[3 * i + k] - 2.75 * boxes->edges[i]);
      boxes->high[k] = fmax(boxes->high[k], boxes->centers[3 * i + k] + 2.75 * boxes->edges[i]);
    }
  }
}

uint32_t scenes_boxes_total(scenes_box_kind kind, uint32_t count) {
  return kind == SCENES_BOXES_WAVE ? 4 * wave_side(count) * wave_side(count) : count;
}

bool scenes_boxes_make_part(scenes_box_kind kind, uint32_t count, uint64_t seed, uint32_t first, uint32_t end,
                            scenes_boxes *boxes) {
  *boxes = (scenes_boxes){.kind = kind, .first = first, .count = end - first, .total = scenes_boxes_total(kind, count)};
  size_t n = boxes->count > 0 ? boxes->count : 1;
  /* each kind and number has a stream of its own; seed 1 begins at numbers that are easy to write down elsewhere */
  random_stream stream = {UINT64_C(0xC0111DE0000) + UINT64_C(1000003) * kind + count +
                          (seed - 1) * UINT64_C(0xD1342543DE82EF95)};
  boxes->centers = malloc(3 * n * sizeof *boxes->centers);
  boxes->directions = malloc(3 * n * sizeof *boxes->directions);
  boxes->edges = malloc(n * sizeof *boxes->edges);
  boxes->phases = malloc(n * sizeof *boxes->phases);
  bool good = boxes->centers && boxes->directions && boxes->edges && boxes->phases && place(boxes, &stream);
  if (!good) {
    scenes_boxes_free(boxes);
    return false;
  }
  give_motion(boxes, &stream);
  bound(boxes);
  return true;
}

bool scenes_boxes_make(scenes_box_kind kind, uint32_t count, uint64_t seed, scenes_boxes *boxes) {
  return scenes_boxes_make_part(kind, count, seed, 0, scenes_boxes_total(kind, count), boxes);
}

void scenes_boxes_at(const scenes_boxes *boxes, double speed, uint32_t step, float *out) {
  if (boxes->kind == SCENES_BOXES_WAVE) {
    wave_at(boxes, step, out);
    return;
  }
  for (size_t i = 0; i < boxes->count; i++, out += 6) {
    double turn = boxes->phases[i] + step * speed / 8.0; /* there and back is eight edges */
    turn -= floor(turn);
    double way = (turn < 0.5 ? 4 * turn - 1 : 3 - 4 * turn) * 2.0 * boxes->edges[i];
    double half = 0.5 * boxes->edges[i];
    for (size_t k = 0; k < 3; k++) {
      double center = boxes->centers[3 * i + k] + boxes->directions[3 * i + k] * way;
      out[k] = (float)(center - half);
      out[3 + k] = (float)(center + half);
    }
  }
}

void scenes_boxes_free(scenes_boxes *boxes) {
  free(boxes->centers);
  free(boxes->directions);
  free(boxes->edges);
  free(boxes->phases);
  *boxes = (scenes_boxes){0};
}
