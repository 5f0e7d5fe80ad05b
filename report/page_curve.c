/* page_curve.c: see page_curve.h. The simplification is Douglas and Peucker's, in windows of bounded length so that
 * its time stays linear in the number of points. */
#include "page_curve.h"

#include <math.h>
#include <string.h>

#include "base64.h"

enum { WINDOW = 256 };

typedef struct curve_writer {
  base64_stream stream;
  double min[3], max[3];
  double tolerance; /* squared, of unit lengths */
  double unit;      /* longest side of the box */
  uint32_t written;
  bool counting; /* first round: how many points are there, second: write them */
} curve_writer;

/* Squared distance of p from the segment a b, in unit lengths. */
static double distance(const curve_writer *w, const double p[3], const double a[3], const double b[3]) {
  double along = 0, length = 0, far = 0;
  for (int k = 0; k < 3; k++) {
    double d = (b[k] - a[k]) / w->unit;
    along += d * ((p[k] - a[k]) / w->unit);
    length += d * d;
  }
  double part = length > 0 ? fmin(fmax(along / length, 0), 1) : 0;
  for (int k = 0; k < 3; k++) {
    double d = (p[k] - a[k]) / w->unit - part * ((b[k] - a[k]) / w->unit);
    far += d * d;
  }
  return far;
}

/* Marks the points of 0 .. last that are needed; the ends always are. */
static void choose_points(const curve_writer *w, const double (*points)[3], uint32_t last, bool *needed) {
  uint32_t ends[WINDOW + 1], depth = 0, first = 0;
  memset(needed, 0, last + 1);
  needed[0] = needed[last] = true;
  ends[depth++] = last;
  while (depth > 0) {
    uint32_t end = ends[depth - 1], farthest = first;
    double most = w->tolerance;
    for (uint32_t i = first + 1; i < end; i++) {
      double far = distance(w, points[i], points[first], points[end]);
      if (far > most) {
        most = far;
        farthest = i;
      }
    }
    if (farthest > first) {
      needed[farthest] = true;
      ends[depth++] = farthest;
    } else {
      first = end;
      depth--;
    }
  }
}

static void put_point(curve_writer *w, const double point[3]) {
  uint8_t bytes[6];
  w->written++;
  if (w->counting) return;
  for (int k = 0; k < 3; k++) {
    double extent = 0.5 * w->max[k] - 0.5 * w->min[k]; /* halves do not overflow */
    double part = extent > 0 ? (0.5 * point[k] - 0.5 * w->min[k]) / extent : 0;
    uint16_t value = (uint16_t)(part * 65535 + 0.5);
    bytes[2 * k] = (uint8_t)value;
    bytes[2 * k + 1] = (uint8_t)(value >> 8);
  }
  gz_base64_put(&w->stream, bytes, sizeof bytes);
}

static void put_polyline(curve_writer *w, const double (*points)[3], uint32_t count) {
  bool needed[WINDOW + 1];
  for (uint32_t first = 0; first + 1 < count; first += WINDOW) {
    uint32_t last = count - 1 - first < WINDOW ? count - 1 - first : WINDOW;
    choose_points(w, points + first, last, needed);
    for (uint32_t i = first > 0; i <= last; i++) {
      if (needed[i]) put_point(w, points[first + i]);
    }
  }
  if (count == 1) put_point(w, points[0]);
}

static void measure(curve_writer *w, const graze_report_clash *clash) {
  for (int k = 0; k < 3; k++) {
    w->min[k] = INFINITY;
    w->max[k] = -INFINITY;
  }
  for (uint32_t i = clash->curve_starts[0]; i < clash->curve_starts[clash->curve_count]; i++) {
    for (int k = 0; k < 3; k++) {
      w->min[k] = fmin(w->min[k], clash->curve_points[i][k]);
      w->max[k] = fmax(w->max[k], clash->curve_points[i][k]);
    }
  }
  w->unit = fmax(fmax(w->max[0] - w->min[0], w->max[1] - w->min[1]), w->max[2] - w->min[2]);
  if (!(w->unit > 0) || !isfinite(w->unit)) w->unit = 1;
  w->tolerance = 1.0 / (8192.0 * 8192.0);
}

void gz_page_put_curve(gz_json *json, const graze_report_clash *clash) {
  if (clash->curve_count == 0 || clash->curve_starts[0] == clash->curve_starts[clash->curve_count]) return;
  curve_writer w = {.stream.text = json->text, .counting = true};
  measure(&w, clash);
  gz_json_open(json, "curve", '{');
  gz_json_doubles(json, "min", w.min, 3);
  gz_json_doubles(json, "max", w.max, 3);
  gz_json_open(json, "starts", '[');
  gz_json_integer(json, NULL, 0);
  for (uint32_t k = 0; k < clash->curve_count; k++) {
    const uint32_t *starts = clash->curve_starts + k;
    put_polyline(&w, clash->curve_points + starts[0], starts[1] - starts[0]);
    gz_json_integer(json, NULL, w.written);
  }
  gz_json_close(json);
  w.counting = false;
  gz_json_word(json, "points", "\"");
  for (uint32_t k = 0; k < clash->curve_count; k++) {
    const uint32_t *starts = clash->curve_starts + k;
    put_polyline(&w, clash->curve_points + starts[0], starts[1] - starts[0]);
  }
  gz_base64_end(&w.stream);
  gz_put_bytes(json->text, "\"", 1);
  gz_json_close(json);
}
