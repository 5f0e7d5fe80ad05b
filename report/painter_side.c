/* The side from which a clash is seen best. Boxes say which few sides are worth trying (camera.c); those are drawn
 * small, with nothing but what stands around the clash, and counted:
 *   - how many points of the intersection curve are seen past the two objects, and past everything (occlusion queries),
 *   - how much is seen of the object of which less is seen,
 *   - how much is seen of the objects' insides: then the eye is in one of them, a pipe for example.
 * Counts are of fixed samples, and ties go to the more usual view, so the choice is the same every time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "painter.h"

enum { DOTS = 256, TRIAL_TRIANGLES = 3000 };

/* Colours by which trial pictures tell what is seen. */
static const float mark_a[4] = {1, 0, 0, 0}, mark_b[4] = {0, 1, 0, 0}, mark_other[4] = {0, 0, 1, 0};

bool gz_painter_sides_create(graze_painter *painter) {
  const gl_functions *gl = painter->gl;
  gl_message message = {""};
  gl->CreateQueries(GL_SAMPLES_PASSED, 2 * TRIAL_SIDES, painter->queries);
  gl->CreateVertexArrays(1, &painter->points);
  gl->EnableVertexArrayAttrib(painter->points, 0);
  gl->VertexArrayAttribFormat(painter->points, 0, 4, GL_FLOAT, GL_FALSE, 0);
  gl->VertexArrayAttribBinding(painter->points, 0, 0);
  return gz_gl_target_create(gl, TRIAL_SIDES * TRIAL_PIXELS, TRIAL_PIXELS, 1, true, &painter->trial, &message) ||
         gz_painter_fail(painter, GRAZE_ERROR_UNSUPPORTED, "%s", message.text);
}

void gz_painter_sides_destroy(graze_painter *painter) {
  painter->gl->DeleteQueries(2 * TRIAL_SIDES, painter->queries);
  painter->gl->DeleteVertexArrays(1, &painter->points);
  gz_gl_stream_destroy(painter->gl, &painter->dots);
  gz_gl_target_destroy(painter->gl, &painter->trial);
}

uint32_t gz_painter_container(const graze_report_clash *clash) {
  if (clash->relation == GRAZE_A_IN_B) return clash->b;
  if (clash->relation == GRAZE_B_IN_A) return clash->a;
  return NO_OBJECT;
}

/* ---- the few sides ---- */

typedef struct trial {
  double direction[3];
  double rating;
  painter_view view;
  uint32_t dots;
} trial;

static double distance_to_box(const graze_box *box, const double point[3]) {
  double sum = 0;
  for (int k = 0; k < 3; k++) {
    double way = fmax(0, fmax(box->min[k] - point[k], point[k] - box->max[k]));
    sum += way * way;
  }
  return sqrt(sum);
}

static int by_distance(const void *x, const void *y) {
  const painter_near *a = x, *b = y;
  if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
  return (a->object > b->object) - (a->object < b->object);
}

static void find_near(graze_painter *p, const graze_report_clash *clash, const camera_frame *frame) {
  p->near_count = 0;
  for (uint32_t i = 0; i < p->order_count; i++) {
    uint32_t object = p->order[i];
    if (object == clash->a || object == clash->b) continue;
    double distance = distance_to_box(&p->boxes[object], frame->focus);
    if (distance <= 3 * frame->context) p->near[p->near_count++] = (painter_near){distance, object};
  }
  qsort(p->near, p->near_count, sizeof *p->near, by_distance);
}

/* The best rated side that is not yet among the trials, and if there is one, more than 60 degrees from each of them:
 * boxes know little of what hides what, so the trials are to look from all around. */
static int next_side(graze_up up, const double ratings[CAMERA_DIRECTIONS], const trial *trials, int count) {
  int best[2] = {-1, -1};
  for (int i = 0; i < CAMERA_DIRECTIONS; i++) {
    double direction[3], nearest = -1;
    gz_camera_direction(up, i, direction);
    for (int t = 0; t < count; t++) {
      const double *other = trials[t].direction;
      nearest = fmax(nearest, direction[0] * other[0] + direction[1] * other[1] + direction[2] * other[2]);
    }
    if (nearest > 1 - 1e-9) continue; /* one of them */
    int apart = nearest < 0.5;
    if (best[apart] < 0 || ratings[i] < ratings[best[apart]]) best[apart] = i;
  }
  return best[1] >= 0 ? best[1] : best[0];
}

static void choose_trials(const graze_painter *p, const graze_report_clash *clash, const camera_frame *frame,
                          trial trials[TRIAL_SIDES]) {
  double ratings[CAMERA_DIRECTIONS];
  gz_camera_rate(p->report, p->boxes, clash, frame, ratings);
  for (int i = 0; i < TRIAL_SIDES; i++) {
    int side = next_side(p->report->up, ratings, trials, i);
    trials[i] = (trial){.rating = ratings[side]};
    gz_camera_direction(p->report->up, side, trials[i].direction);
  }
}

/* The eye of the picture itself, but a view that holds the clash only. */
static void aim(graze_up up, const camera_frame *frame, trial *t) {
  graze_camera camera = gz_camera_look(up, frame->focus, t->direction, frame->context);
  double distance = gz_camera_distance(frame->context);
  t->view = gz_painter_view_of(&camera, 1);
  t->view.tan_x = t->view.tan_y = fmax(1.5 * frame->radius, 0.12 * frame->context) / distance;
  t->view.nearest = 0.02 * distance;
  t->view.farthest = distance + 2 * frame->context;
}

/* ---- drawing them ---- */

static void put_dot(const painter_view *view, const double point[3], double forgiven, float out[4]) {
  double place[3];
  for (int r = 0; r < 3; r++) {
    place[r] = 0;
    for (int k = 0; k < 3; k++) place[r] += view->axes[r][k] * (point[k] - view->eye[k]);
  }
  /* depth is near / z: as if the point were a little nearer, since it lies on the surfaces that may hide it */
  double depth = view->nearest * place[2] / fmax(place[2] - forgiven, view->nearest);
  out[0] = (float)(place[0] / view->tan_x);
  out[1] = (float)(place[1] / view->tan_y);
  out[2] = (float)depth;
  out[3] = (float)place[2];
}

/* Points of the curve, evenly over their numbers; without a curve the point of the clash. Returns how many. */
static uint32_t send_dots(graze_painter *p, const graze_report_clash *clash, const camera_frame *frame,
                          const painter_view *view) {
  float dots[DOTS][4];
  uint32_t first = clash->curve_count > 0 ? clash->curve_starts[0] : 0;
  uint32_t points = clash->curve_count > 0 ? clash->curve_starts[clash->curve_count] - first : 0;
  uint32_t count = points < DOTS ? points : DOTS;
  double forgiven = 0.12 * frame->radius; /* two pixels of the trial on a steep surface */
  for (uint32_t i = 0; i < count; i++) {
    put_dot(view, clash->curve_points[first + (uint64_t)i * points / count], forgiven, dots[i]);
  }
  if (count == 0 && isfinite(clash->point[0]) && isfinite(clash->point[1]) && isfinite(clash->point[2])) {
    put_dot(view, clash->point, forgiven, dots[count++]);
  }
  if (count > 0) gz_gl_stream_fill(p->gl, &p->dots, dots, count * sizeof dots[0]);
  return count;
}

static void count_dots(graze_painter *p, uint32_t count, GLuint query) {
  const gl_functions *gl = p->gl;
  if (count == 0) return;
  gl->UseProgram(p->programs.dots);
  gl->BindVertexArray(p->points);
  gl->VertexArrayVertexBuffer(p->points, 0, p->dots.buffer, 0, 4 * sizeof(float));
  gl->ColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
  gl->DepthMask(GL_FALSE);
  gl->BeginQuery(GL_SAMPLES_PASSED, query);
  gl->DrawArrays(GL_POINTS, 0, (GLsizei)count);
  gl->EndQuery(GL_SAMPLES_PASSED);
  gl->DepthMask(GL_TRUE);
  gl->ColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
}

static bool add_subject(graze_painter *p, const painter_view *view, uint32_t object, const float mark[4]) {
  bool inside_out = false;
  if (!gz_painter_inside_out(p, object, &inside_out)) return false;
  const float colour[4] = {mark[0], mark[1], mark[2], inside_out};
  return gz_painter_list_add(p, view, object, colour, UINT64_MAX);
}

static bool draw_trial(graze_painter *p, const graze_report_clash *clash, const camera_frame *frame, trial *t, int at) {
  uint32_t container = gz_painter_container(clash);
  p->gl->Viewport(at * TRIAL_PIXELS, 0, TRIAL_PIXELS, TRIAL_PIXELS);
  gz_painter_list_clear(p);
  if (container != clash->a && !add_subject(p, &t->view, clash->a, mark_a)) return false;
  if (container != clash->b && !add_subject(p, &t->view, clash->b, mark_b)) return false;
  gz_painter_list_draw(p, &t->view, p->programs.plain);
  t->dots = send_dots(p, clash, frame, &t->view);
  count_dots(p, t->dots, p->queries[2 * at]);
  gz_painter_list_clear(p);
  for (uint32_t i = 0; i < p->near_count && p->list.triangles < TRIAL_TRIANGLES; i++) {
    uint64_t rest = TRIAL_TRIANGLES - p->list.triangles;
    if (!gz_painter_list_add(p, &t->view, p->near[i].object, mark_other, rest)) return false;
  }
  gz_painter_list_draw(p, &t->view, p->programs.plain);
  count_dots(p, t->dots, p->queries[2 * at + 1]);
  return true;
}

/* ---- counting ---- */

/* How good the side is: at most 3.5, less for insides, unusual views and boxes in the way. */
static double weigh(graze_painter *p, const graze_report_clash *clash, const trial *t, int at, const uint8_t *pixels) {
  double past_subject = 0, past_all = 0;
  if (t->dots > 0) {
    GLuint64 seen[2] = {0, 0};
    for (int i = 0; i < 2; i++) p->gl->GetQueryObjectui64v(p->queries[2 * at + i], GL_QUERY_RESULT, &seen[i]);
    past_subject = (double)seen[0] / t->dots;
    past_all = (double)seen[1] / t->dots;
  }
  uint32_t seen_a = 0, seen_b = 0, insides = 0;
  for (int y = 0; y < TRIAL_PIXELS; y++) {
    const uint8_t *row = pixels + 4 * ((size_t)y * TRIAL_SIDES * TRIAL_PIXELS + (size_t)at * TRIAL_PIXELS);
    for (int x = 0; x < TRIAL_PIXELS; x++) {
      seen_a += row[4 * x] > 127;
      seen_b += row[4 * x + 1] > 127;
      insides += (row[4 * x] > 127 || row[4 * x + 1] > 127) && row[4 * x + 3] > 127;
    }
  }
  uint32_t container = gz_painter_container(clash);
  uint32_t least = container == clash->a ? seen_b : container == clash->b ? seen_a : seen_a < seen_b ? seen_a : seen_b;
  double all = TRIAL_PIXELS * TRIAL_PIXELS, share = fmin(1, 5 * least / all);
  return 1.5 * past_subject + 0.75 * past_all + 1.25 * share - 2 * insides / all - 0.5 * t->rating;
}

bool gz_painter_choose_side(graze_painter *painter, const graze_report_clash *clash, const camera_frame *frame,
                            double direction[3]) {
  const float nothing[4] = {0, 0, 0, 0};
  trial trials[TRIAL_SIDES];
  find_near(painter, clash, frame);
  choose_trials(painter, clash, frame, trials);
  gz_gl_target_use(painter->gl, &painter->trial);
  gz_gl_target_clear(painter->gl, &painter->trial, nothing, 0);
  for (int i = 0; i < TRIAL_SIDES; i++) {
    aim(painter->report->up, frame, &trials[i]);
    if (!draw_trial(painter, clash, frame, &trials[i], i)) return false;
  }
  uint8_t pixels[4 * TRIAL_SIDES * TRIAL_PIXELS * TRIAL_PIXELS];
  gz_gl_target_read(painter->gl, &painter->trial, pixels);
  double best = -INFINITY;
  for (int i = 0; i < TRIAL_SIDES; i++) {
    double weight = weigh(painter, clash, &trials[i], i, pixels);
    if (weight > best) memcpy(direction, trials[i].direction, sizeof trials[i].direction);
    best = fmax(best, weight);
  }
  return true;
}
