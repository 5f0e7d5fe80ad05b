/* From where a clash is looked at, decided by boxes alone: the camera for files that are made without graphics, and
 * the short list that the painter tries out.
 *
 * Directions are the 26 ways out of a cube: towards corners, edges and faces, listed as if z were up.
 * A direction is the better the fewer objects' boxes stand on the ray from the clash to the eye, and the sooner the ray
 * leaves the boxes of the two objects themselves: that is the side on which the clash lies. Both are shares of the
 * worst direction, so that a crowded plant and a pair of boxes are judged alike. */
#include "camera.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "history.h"

enum { CENTRING_PASSES = 4 };
#define FILLED 0.93 /* of the half width or height, by what fits into it */

static const double pi = 3.14159265358979323846;

/* Best known views first: from above over a corner, over an edge, level over a corner, from below, and last the views
 * along the axes, in which things that are built at right angles hide behind themselves. Each row: direction, and what
 * the view costs, in boxes that stand in the way. */
static const struct {
  signed char x, y, z;
  double cost;
} directions[CAMERA_DIRECTIONS] = {
    {1, -1, 1, 0.00},  {-1, -1, 1, 0.01},  {1, 1, 1, 0.02},  {-1, 1, 1, 0.03},  {0, -1, 1, 0.35},  {1, 0, 1, 0.36},
    {-1, 0, 1, 0.37},  {0, 1, 1, 0.38},    {1, -1, 0, 0.45}, {-1, -1, 0, 0.46}, {1, 1, 0, 0.47},   {-1, 1, 0, 0.48},
    {1, -1, -1, 0.70}, {-1, -1, -1, 0.71}, {1, 1, -1, 0.72}, {-1, 1, -1, 0.73}, {0, -1, -1, 0.95}, {1, 0, -1, 0.96},
    {-1, 0, -1, 0.97}, {0, 1, -1, 0.98},   {0, -1, 0, 1.10}, {1, 0, 0, 1.11},   {-1, 0, 0, 1.12},  {0, 1, 0, 1.13},
    {0, 0, 1, 1.20},   {0, 0, -1, 1.60},
};

double gz_camera_distance(double half_height) {
  return half_height / tan(CAMERA_FIELD_OF_VIEW / 360 * pi);
}

bool gz_camera_box_empty(const graze_box *box) {
  for (int k = 0; k < 3; k++) {
    if (!(box->min[k] <= box->max[k]) || !isfinite(box->min[k]) || !isfinite(box->max[k])) return true;
  }
  return false;
}

graze_box gz_camera_object_box(const graze_report_object *object) {
  graze_box box;
  return gz_report_object_box(object, &box) ? box : graze_box_empty();
}

static graze_box overlap(const graze_box *a, const graze_box *b) {
  graze_box both;
  for (int k = 0; k < 3; k++) {
    both.min[k] = fmax(a->min[k], b->min[k]);
    both.max[k] = fmin(a->max[k], b->max[k]);
    if (both.min[k] > both.max[k]) { /* apart: what lies between them */
      double swap = both.min[k];
      both.min[k] = both.max[k];
      both.max[k] = swap;
    }
  }
  return both;
}

/* Where the clash is, by the best source that the record has. */
static bool clash_box(const graze_report_clash *clash, const graze_box *a, const graze_box *b, graze_box *box) {
  *box = clash->box;
  if (!gz_camera_box_empty(box)) return true;
  bool known = gz_camera_box_empty(a) || gz_camera_box_empty(b);
  *box = known ? (gz_camera_box_empty(a) ? *b : *a) : overlap(a, b);
  if (gz_camera_box_empty(box)) return false;
  return true;
}

/* The middle one of a box's three sides: of a long pipe its thickness, of a plate its width. */
static double middle_side(const graze_box *box) {
  double side[3];
  for (int k = 0; k < 3; k++) side[k] = box->max[k] - box->min[k];
  return fmax(fmin(side[0], side[1]), fmin(fmax(side[0], side[1]), side[2]));
}

/* The longest way from a point to a box's corners. */
static double reach(const graze_box *box, const double point[3]) {
  double sum = 0;
  for (int k = 0; k < 3; k++) {
    double way = fmax(fabs(box->min[k] - point[k]), fabs(box->max[k] - point[k]));
    sum += way * way;
  }
  return sqrt(sum);
}

bool gz_camera_frame_clash(const graze_report_clash *clash, const graze_box *a, const graze_box *b,
                           camera_frame *frame) {
  graze_box box;
  if (!clash_box(clash, a, b, &box)) return false;
  double sum = 0, size = 0;
  for (int k = 0; k < 3; k++) {
    double side = box.max[k] - box.min[k];
    frame->focus[k] = box.min[k] + side / 2;
    sum += side * side;
    size = fmax(size, fabs(frame->focus[k]));
  }
  double radius = sqrt(sum) / 2;
  /* The clash takes a third of the view; less, down to a fifth, where more of the objects has to be seen to know them,
   * and least where it is next to nothing. Nothing is gained by a view that is wider than both objects. */
  double context = 3 * radius, least = 0, whole = radius;
  const graze_box *boxes[2] = {a, b};
  for (int i = 0; i < 2; i++) {
    if (gz_camera_box_empty(boxes[i])) continue;
    double side = 0.75 * middle_side(boxes[i]);
    least = least > 0 ? fmin(least, side) : side;
    whole = fmax(whole, reach(boxes[i], frame->focus));
  }
  context = fmax(context, fmin(least, fmax(5 * radius, least / 3)));
  context = fmin(context, fmax(1.1 * whole, radius));
  if (!(context > 1e-9 * size)) context = size > 0 ? 1e-9 * size : 1; /* a point on a point */
  frame->context = context;
  frame->radius = fmax(radius, context / 40);
  return isfinite(context);
}

void gz_camera_turn(graze_up up, double vector[3]) {
  if (up != GRAZE_UP_Y) return;
  double y = vector[1];
  vector[1] = vector[2];
  vector[2] = 0 - y; /* never -0 */
}

void gz_camera_direction(graze_up up, int number, double direction[3]) {
  double raw[3] = {directions[number].x, directions[number].y, directions[number].z};
  /* Slightly off the symmetric view: over the exact corner of a cube, edges fall on edges. */
  if (raw[0] != 0 && raw[1] != 0) raw[0] *= 0.8;
  if (raw[2] != 0 && (raw[0] != 0 || raw[1] != 0)) raw[2] *= 0.85;
  double length = sqrt(raw[0] * raw[0] + raw[1] * raw[1] + raw[2] * raw[2]);
  for (int k = 0; k < 3; k++) direction[k] = raw[k] / length;
  gz_camera_turn(up, direction);
}

/* Where the ray from `from` enters and leaves the box; false: it misses. */
static bool ray_box(const graze_box *box, const double from[3], const double direction[3], double *in, double *out) {
  *in = -INFINITY;
  *out = INFINITY;
  for (int k = 0; k < 3; k++) {
    if (direction[k] == 0) {
      if (from[k] < box->min[k] || from[k] > box->max[k]) return false;
      continue;
    }
    double t0 = (box->min[k] - from[k]) / direction[k], t1 = (box->max[k] - from[k]) / direction[k];
    *in = fmax(*in, fmin(t0, t1));
    *out = fmin(*out, fmax(t0, t1));
  }
  return *in <= *out && *out > 0;
}

/* How far it is out of the clash's own object, as a share of the longest way out; 0 when the focus is not in its box.
 */
static void rate_own(graze_up up, const graze_box *box, const camera_frame *frame, double ratings[CAMERA_DIRECTIONS]) {
  double ways[CAMERA_DIRECTIONS], longest = 0;
  for (int i = 0; i < CAMERA_DIRECTIONS; i++) {
    double direction[3], in, out;
    gz_camera_direction(up, i, direction);
    ways[i] = ray_box(box, frame->focus, direction, &in, &out) ? out - fmax(in, 0) : 0;
    longest = fmax(longest, ways[i]);
  }
  for (int i = 0; i < CAMERA_DIRECTIONS && longest > 0; i++) ratings[i] += ways[i] / longest;
}

/* Farther from the focus than the eye is, on some axis. */
static bool is_beyond(const graze_box *box, const double focus[3], double distance) {
  for (int k = 0; k < 3; k++) {
    if (box->min[k] > focus[k] + distance || box->max[k] < focus[k] - distance) return true;
  }
  return false;
}

static bool box_holds(const graze_box *box, const double point[3]) {
  for (int k = 0; k < 3; k++) {
    if (point[k] < box->min[k] || point[k] > box->max[k]) return false;
  }
  return true;
}

/* How many objects' boxes stand between the clash and the eye, for each direction. */
static void count_blocking(const graze_report *report, const graze_box *boxes, const graze_report_clash *clash,
                           const camera_frame *frame, double blocking[CAMERA_DIRECTIONS]) {
  double rays[CAMERA_DIRECTIONS][3], distance = gz_camera_distance(frame->context);
  for (int k = 0; k < CAMERA_DIRECTIONS; k++) {
    gz_camera_direction(report->up, k, rays[k]);
    blocking[k] = 0;
  }
  for (uint32_t i = 0; i < report->object_count; i++) {
    if (is_beyond(&boxes[i], frame->focus, distance + frame->radius)) continue;
    if (i == clash->a || i == clash->b || gz_camera_box_empty(&boxes[i])) continue;
    if (box_holds(&boxes[i], frame->focus)) continue; /* a hall around everything blocks no side more than another */
    graze_box grown = boxes[i];
    for (int k = 0; k < 3; k++) {
      grown.min[k] -= frame->radius / 2;
      grown.max[k] += frame->radius / 2;
    }
    for (int k = 0; k < CAMERA_DIRECTIONS; k++) {
      double in, out;
      blocking[k] += ray_box(&grown, frame->focus, rays[k], &in, &out) && in < distance;
    }
  }
}

void gz_camera_rate(const graze_report *report, const graze_box *boxes, const graze_report_clash *clash,
                    const camera_frame *frame, double ratings[CAMERA_DIRECTIONS]) {
  double blocking[CAMERA_DIRECTIONS], most = 0;
  for (int i = 0; i < CAMERA_DIRECTIONS; i++) ratings[i] = directions[i].cost;
  if (!gz_camera_box_empty(&boxes[clash->a])) rate_own(report->up, &boxes[clash->a], frame, ratings);
  if (!gz_camera_box_empty(&boxes[clash->b])) rate_own(report->up, &boxes[clash->b], frame, ratings);
  count_blocking(report, boxes, clash, frame, blocking);
  for (int k = 0; k < CAMERA_DIRECTIONS; k++) most = fmax(most, blocking[k]);
  for (int k = 0; k < CAMERA_DIRECTIONS && most > 0; k++) ratings[k] += 2 * blocking[k] / most;
}

graze_camera gz_camera_look(graze_up up, const double focus[3], const double direction[3], double half_height) {
  graze_camera camera = {.field_of_view = CAMERA_FIELD_OF_VIEW};
  const int axis = up == GRAZE_UP_Y ? 1 : 2, p = (axis + 1) % 3, q = (axis + 2) % 3; /* up, and the level ones */
  double distance = gz_camera_distance(half_height);
  bool steep = direction[p] == 0 && direction[q] == 0;
  double along = direction[axis], length = sqrt(direction[p] * direction[p] + direction[q] * direction[q]);
  double upright[3] = {0, 1, 0}; /* straight down */
  gz_camera_turn(up, upright);
  for (int k = 0; k < 3; k++) {
    camera.eye[k] = focus[k] + distance * direction[k];
    camera.forward[k] = -direction[k];
    camera.up[k] = steep ? upright[k] : ((k == axis) - along * direction[k]) / length; /* without its part along it */
  }
  return camera;
}

void gz_camera_axes(const graze_camera *camera, double axes[3][3]) {
  const double *f = camera->forward, *u = camera->up;
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    axes[0][k] = f[i] * u[j] - f[j] * u[i];
    axes[1][k] = u[k];
    axes[2][k] = f[k];
  }
}

static graze_camera default_camera(graze_up up) {
  double corner[3] = {0.6, -0.64, 0.48};
  const double origin[3] = {0, 0, 0};
  gz_camera_turn(up, corner);
  return gz_camera_look(up, origin, corner, 1);
}

/* ---- a view that holds everything ---- */

typedef struct edge {
  double tangent, depth; /* depth > 0: of the corner that is seen at this tangent */
} edge;

typedef struct fitting {
  double middle[3], axes[3][3]; /* right, up, forward */
  double tangents[2];           /* half the width and the height that may be filled, at distance 1 */
  double reach[2][2];   /* how far the planes of these tangents through the middle are pushed out, to both sides */
  double distance;      /* of the eye from the middle */
  edge low[2], high[2]; /* what is seen from there */
} fitting;

static void corner_place(const fitting *f, const graze_box *box, int corner, double place[3]) {
  place[0] = place[1] = place[2] = 0;
  for (int k = 0; k < 3; k++) {
    double offset = (corner >> k & 1 ? box->max[k] : box->min[k]) - f->middle[k];
    for (int r = 0; r < 3; r++) place[r] += f->axes[r][k] * offset;
  }
}

static void bound_box(void *user, const graze_box *box) {
  graze_box_add_box(user, box);
}

static void reach_box(void *user, const graze_box *box) {
  fitting *f = user;
  double place[3];
  for (int corner = 0; corner < 8; corner++) {
    corner_place(f, box, corner, place);
    for (int r = 0; r < 2; r++) {
      f->reach[r][0] = fmax(f->reach[r][0], -place[r] - f->tangents[r] * place[2]);
      f->reach[r][1] = fmax(f->reach[r][1], place[r] - f->tangents[r] * place[2]);
    }
  }
}

/* The planes that bound the view, pushed out until they hold all boxes, meet where the eye is to be. The distance is of
 * the direction that needs more; what is seen in the other one is centred afterwards. */
static void fit(fitting *f, camera_boxes *boxes, const void *source) {
  for (int r = 0; r < 2; r++) f->reach[r][0] = f->reach[r][1] = -INFINITY;
  boxes(source, reach_box, f);
  for (int r = 0; r < 2; r++) {
    f->distance = fmax(f->distance, (f->reach[r][0] + f->reach[r][1]) / (2 * f->tangents[r]));
    for (int k = 0; k < 3; k++) f->middle[k] += f->axes[r][k] * (f->reach[r][1] - f->reach[r][0]) / 2;
  }
}

static void see_box(void *user, const graze_box *box) {
  fitting *f = user;
  double place[3];
  for (int corner = 0; corner < 8; corner++) {
    corner_place(f, box, corner, place);
    double depth = fmax(f->distance + place[2], 1e-9 * f->distance);
    for (int r = 0; r < 2; r++) {
      if (place[r] / depth < f->low[r].tangent) f->low[r] = (edge){place[r] / depth, depth};
      if (place[r] / depth > f->high[r].tangent) f->high[r] = (edge){place[r] / depth, depth};
    }
  }
}

/* Moves the middle so that opposite edges of what is seen are equally far from it. Perspective has moved them: what is
 * nearer looks larger. */
static void centre(fitting *f, camera_boxes *boxes, const void *source) {
  for (int r = 0; r < 2; r++) {
    f->low[r] = (edge){INFINITY, 1};
    f->high[r] = (edge){-INFINITY, 1};
  }
  boxes(source, see_box, f);
  for (int r = 0; r < 2; r++) {
    edge low = f->low[r], high = f->high[r];
    double way = (low.tangent + high.tangent) / (1 / low.depth + 1 / high.depth);
    for (int k = 0; k < 3; k++) f->middle[k] += f->axes[r][k] * way;
  }
}

void gz_camera_fit(graze_up up, double aspect, camera_boxes *boxes, const void *source, graze_camera *camera) {
  graze_box all = graze_box_empty();
  double direction[3];
  boxes(source, bound_box, &all);
  fitting f = {.distance = 0};
  bool empty = gz_camera_box_empty(&all);
  for (int k = 0; k < 3 && !empty; k++) f.middle[k] = all.min[k] / 2 + all.max[k] / 2;
  gz_camera_direction(up, 0, direction);
  *camera = gz_camera_look(up, f.middle, direction, 1);
  if (empty) return;
  gz_camera_axes(camera, f.axes);
  f.tangents[1] = FILLED / gz_camera_distance(1);
  f.tangents[0] = f.tangents[1] * aspect;
  fit(&f, boxes, source);
  for (int pass = 0; pass < CENTRING_PASSES && f.distance > 0; pass++) centre(&f, boxes, source);
  *camera = gz_camera_look(up, f.middle, direction, f.distance > 0 ? f.distance / gz_camera_distance(1) : 1);
}

/* ---- the views of clashes ---- */

static graze_camera choose(const graze_report *report, const graze_box *boxes, const graze_report_clash *clash) {
  camera_frame frame;
  if (!gz_camera_frame_clash(clash, &boxes[clash->a], &boxes[clash->b], &frame)) return default_camera(report->up);
  double ratings[CAMERA_DIRECTIONS], direction[3];
  int best = 0;
  gz_camera_rate(report, boxes, clash, &frame, ratings);
  for (int i = 1; i < CAMERA_DIRECTIONS; i++) {
    if (ratings[i] < ratings[best]) best = i;
  }
  gz_camera_direction(report->up, best, direction);
  return gz_camera_look(report->up, frame.focus, direction, frame.context);
}

graze_box *gz_camera_object_boxes(const graze_context *context, const graze_report *report) {
  graze_box *boxes = gz_new(context, (size_t)report->object_count + 1, sizeof *boxes);
  for (uint32_t i = 0; boxes != NULL && i < report->object_count; i++) {
    boxes[i] = gz_camera_object_box(&report->objects[i]);
  }
  return boxes;
}

graze_camera graze_report_camera(const graze_report *report, uint32_t index) {
  graze_box *boxes = index < report->clash_count ? gz_camera_object_boxes(NULL, report) : NULL;
  graze_camera camera = boxes != NULL ? choose(report, boxes, &report->clashes[index]) : default_camera(report->up);
  gz_free(boxes);
  return camera;
}

graze_status graze_report_cameras(graze_context *context, const graze_report *report, graze_camera *cameras) {
  if (context == NULL || report == NULL || (cameras == NULL && report->clash_count > 0)) return gz_fail_null(context);
  graze_box *boxes = gz_camera_object_boxes(context, report);
  if (boxes == NULL) return gz_report_fail_memory(context, "report");
  for (uint32_t i = 0; i < report->clash_count; i++) cameras[i] = choose(report, boxes, &report->clashes[i]);
  gz_free(boxes);
  return GRAZE_OK;
}
