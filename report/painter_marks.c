/* Lines and dots over the picture. Points are projected here, in double, and become strokes with round ends in pixels
 * of the picture; strokes that are drawn later lie on top, so a line with a rim is a wide dark stroke and then a
 * narrow bright one. Points of a curve that fall into the same pixel are one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "painter.h"

static const painter_mark curve_rim = {.half_width = 2.9f, .hidden = 0.0f, .colour = {0.10f, 0.02f, 0.08f, 1.0f}};
static const painter_mark curve_core = {.half_width = 1.6f, .hidden = 0.55f, .colour = {1.0f, 0.93f, 0.18f, 1.0f}};
static const painter_mark point_rim = {.half_width = 7.0f, .hidden = 1.0f, .colour = {0.10f, 0.02f, 0.08f, 1.0f}};
static const painter_mark point_core = {.half_width = 5.0f, .hidden = 1.0f, .colour = {1.0f, 0.93f, 0.18f, 1.0f}};
static const painter_mark place_rim = {.half_width = 5.5f, .hidden = 1.0f, .colour = {1.0f, 1.0f, 1.0f, 1.0f}};
static const painter_mark place_core = {.half_width = 4.0f, .hidden = 1.0f, .colour = {0.83f, 0.10f, 0.30f, 1.0f}};

void gz_painter_marks_clear(graze_painter *painter) {
  painter->drawn_marks.count = 0;
}

static bool add_mark(graze_painter *p, const float from[3], const float to[3], const painter_mark *style) {
  painter_marks *all = &p->drawn_marks;
  if (!gz_painter_grow(p, (void **)&all->marks, &all->capacity, all->count, 1, sizeof *all->marks)) return false;
  painter_mark *mark = &all->marks[all->count++];
  *mark = *style;
  for (int k = 0; k < 3; k++) {
    mark->from[k] = from[k];
    mark->to[k] = to[k];
  }
  return true;
}

static void to_view(const painter_view *view, const double point[3], double out[3]) {
  for (int r = 0; r < 3; r++) {
    out[r] = 0;
    for (int k = 0; k < 3; k++) out[r] += view->axes[r][k] * (point[k] - view->eye[k]);
  }
}

static void to_pixels(const graze_painter *p, const painter_view *view, const double place[3], float out[3]) {
  /* Far outside of the picture a stroke's pixels only have to stay finite. */
  double x = fmax(-1e4, fmin(1e4, place[0] / (place[2] * view->tan_x)));
  double y = fmax(-1e4, fmin(1e4, place[1] / (place[2] * view->tan_y)));
  out[0] = (float)((x + 1) / 2 * p->width);
  out[1] = (float)((1 - y) / 2 * p->height);
  out[2] = (float)(1 / place[2]);
}

/* False: the point is nearer than the near plane. */
static bool project(const graze_painter *p, const painter_view *view, const double point[3], float out[3]) {
  double place[3];
  to_view(view, point, place);
  if (!(place[2] >= view->nearest)) return false;
  to_pixels(p, view, place, out);
  return true;
}

bool gz_painter_mark_line(graze_painter *painter, const painter_view *view, const double from[3], const double to[3],
                          const painter_mark *style) {
  double a[3], b[3];
  to_view(view, from, a);
  to_view(view, to, b);
  if (a[2] < view->nearest && b[2] < view->nearest) return true;
  double *outside = a[2] < view->nearest ? a : b[2] < view->nearest ? b : NULL;
  const double *inside = outside == a ? b : a;
  if (outside != NULL) {
    double t = (view->nearest - outside[2]) / (inside[2] - outside[2]);
    for (int k = 0; k < 3; k++) outside[k] += t * (inside[k] - outside[k]);
    outside[2] = view->nearest;
  }
  float start[3], end[3];
  to_pixels(painter, view, a, start);
  to_pixels(painter, view, b, end);
  return add_mark(painter, start, end, style);
}

/* A run of points as strokes; a point in the same pixel as the last stroke's end is passed over. */
static bool mark_polyline(graze_painter *p, const painter_view *view, const double (*points)[3], uint32_t count,
                          const painter_mark *style) {
  uint32_t last = 0;
  float from[3], to[3];
  bool visible = project(p, view, points[0], from);
  if (count == 1) return gz_painter_mark_line(p, view, points[0], points[0], style);
  for (uint32_t i = 1; i < count; i++) {
    bool ends = project(p, view, points[i], to);
    if (visible && ends) {
      if (i + 1 < count && fabsf(to[0] - from[0]) + fabsf(to[1] - from[1]) < 0.75f) continue;
      if (!add_mark(p, from, to, style)) return false;
    } else if (!gz_painter_mark_line(p, view, points[last], points[i], style)) {
      return false;
    }
    last = i;
    visible = ends;
    memcpy(from, to, sizeof from);
  }
  return true;
}

/* Where a curve is so dense that its strokes would hide what they are about (surfaces that run into each other over and
 * over), they are drawn thinner: by the share of its box in the picture that they would cover. */
static float stroke_scale(const painter_mark *marks, size_t count) {
  float low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, length = 0;
  for (size_t i = 0; i < count; i++) {
    for (int k = 0; k < 2; k++) {
      low[k] = fminf(low[k], fminf(marks[i].from[k], marks[i].to[k]));
      high[k] = fmaxf(high[k], fmaxf(marks[i].from[k], marks[i].to[k]));
    }
    length += hypotf(marks[i].to[0] - marks[i].from[0], marks[i].to[1] - marks[i].from[1]);
  }
  float area = fmaxf(high[0] - low[0], 12) * fmaxf(high[1] - low[1], 12);
  float cover = length * 2 * curve_rim.half_width / area;
  return cover > 1 ? fmaxf(1 / cover, 0.3f) : 1;
}

/* Could the curve be overlooked? */
static bool is_speck(const painter_mark *marks, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (int k = 0; k < 2; k++) {
      if (fabsf(marks[i].from[k] - marks[0].from[k]) > 6 || fabsf(marks[i].to[k] - marks[0].from[k]) > 6) return false;
    }
  }
  return true;
}

static bool mark_point(graze_painter *p, const painter_view *view, const double point[3]) {
  if (!isfinite(point[0]) || !isfinite(point[1]) || !isfinite(point[2])) return true;
  return gz_painter_mark_line(p, view, point, point, &point_rim) &&
         gz_painter_mark_line(p, view, point, point, &point_core);
}

/* The curve, first its rim and then itself; the point of a clash that has none, or one too small to see. */
bool gz_painter_mark_curve(graze_painter *painter, const painter_view *view, const graze_report_clash *clash) {
  painter_marks *all = &painter->drawn_marks;
  size_t first = all->count;
  for (uint32_t k = 0; k < clash->curve_count; k++) {
    uint32_t start = clash->curve_starts[k], count = clash->curve_starts[k + 1] - start;
    if (count > 0 && !mark_polyline(painter, view, clash->curve_points + start, count, &curve_rim)) return false;
  }
  size_t strokes = all->count - first;
  bool surfaces_meet = clash->relation == GRAZE_TOUCH || clash->relation == GRAZE_CROSS;
  if (surfaces_meet && is_speck(all->marks + first, strokes)) return mark_point(painter, view, clash->point);
  float scale = stroke_scale(all->marks + first, strokes);
  for (size_t i = 0; i < strokes; i++) {
    painter_mark rim = all->marks[first + i], core = curve_core; /* copies: the array may move */
    core.half_width *= sqrtf(scale);
    all->marks[first + i].half_width *= scale;
    if (!add_mark(painter, rim.from, rim.to, &core)) return false;
  }
  return true;
}

bool gz_painter_mark_clash_points(graze_painter *painter, const painter_view *view) {
  painter_mark styles[2] = {place_rim, place_core};
  float crowd = sqrtf(50.0f / (float)(painter->report->clash_count + 1)); /* many of them are small */
  for (int i = 0; i < 2; i++) {
    styles[i].half_width *= fmaxf(0.25f, fminf(1, crowd));
    for (uint32_t k = 0; k < painter->report->clash_count; k++) {
      const graze_report_clash *clash = &painter->report->clashes[k];
      if (clash->state == GRAZE_STATE_RESOLVED) continue;
      if (!isfinite(clash->point[0]) || !isfinite(clash->point[1]) || !isfinite(clash->point[2])) continue;
      if (!gz_painter_mark_line(painter, view, clash->point, clash->point, &styles[i])) return false;
    }
  }
  return true;
}

/* Strokes of the letters X, Y and Z in a square from -1 to 1, y up. */
static const float letters[3][3][4] = {
    {{-1, -1, 1, 1}, {-1, 1, 1, -1}, {-1, -1, 1, 1}},
    {{-1, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 0, -1}},
    {{-1, 1, 1, 1}, {1, 1, -1, -1}, {-1, -1, 1, -1}},
};

static bool mark_letter(graze_painter *p, int axis, const float middle[3], float size, const painter_mark *style) {
  for (int i = 0; i < 3; i++) {
    const float *s = letters[axis][i];
    float from[3] = {middle[0] + s[0] * size * 0.75f, middle[1] - s[1] * size, middle[2]};
    float to[3] = {middle[0] + s[2] * size * 0.75f, middle[1] - s[3] * size, middle[2]};
    if (!add_mark(p, from, to, style)) return false;
  }
  return true;
}

/* The world's axes, small, in the lower left corner. */
bool gz_painter_mark_axes(graze_painter *painter, const painter_view *view) {
  const float colours[3][4] = {{0.78f, 0.22f, 0.20f, 1}, {0.15f, 0.55f, 0.25f, 1}, {0.18f, 0.35f, 0.75f, 1}};
  float unit = (float)painter->height / 360.0f, length = 21 * unit;
  const float middle[3] = {36 * unit, (float)painter->height - 36 * unit, 1e30f};
  for (int k = 0; k < 3; k++) {
    painter_mark style = {.half_width = 1.1f * unit, .hidden = 1};
    for (int i = 0; i < 4; i++) style.colour[i] = colours[k][i];
    float x = (float)view->axes[0][k], y = -(float)view->axes[1][k];
    float end[3] = {middle[0] + x * length, middle[1] + y * length, middle[2]};
    float letter[3] = {middle[0] + x * length * 1.42f, middle[1] + y * length * 1.42f, middle[2]};
    if (!add_mark(painter, middle, end, &style)) return false;
    style.half_width = 0.75f * unit;
    if (fabsf(x) + fabsf(y) > 0.2f && !mark_letter(painter, k, letter, 3.4f * unit, &style)) return false;
  }
  return true;
}

void gz_painter_marks_draw(graze_painter *painter, const painter_view *view) {
  const gl_functions *gl = painter->gl;
  const painter_marks *all = &painter->drawn_marks;
  if (all->count == 0) return;
  GLuint program = painter->programs.marks;
  gz_gl_stream_fill(gl, &painter->marks, all->marks, all->count * sizeof *all->marks);
  gl->UseProgram(program);
  gl->ProgramUniform2f(program, 0, (float)painter->width, (float)painter->height);
  gl->ProgramUniform1f(program, 1, (float)view->nearest);
  gl->BindTextureUnit(1, painter->subject.depth);
  gl->BindVertexArray(painter->quads);
  gl->VertexArrayVertexBuffer(painter->quads, 0, painter->marks.buffer, 0, sizeof *all->marks);
  gl->Enable(GL_BLEND);
  gl->BlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  gl->DrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, (GLsizei)all->count);
  gl->Disable(GL_BLEND);
}
