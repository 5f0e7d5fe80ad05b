/* track_pictures.c: pictures of a film of balls: some of its frames, and an animation of them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "camera.h"
#include "track.h"

/* ---- the camera -------------------------------------------------------------------------------------------------- */

/* The box of a posed mesh is that of its box, posed, which is too large for what turns: also in the ball about it. */
static void cut_by_ball(const graze_report_object *object, const track_shape *shape, graze_box *box) {
  double middle[3];
  if (gz_camera_box_empty(box) || !(shape->reach > 0) || !graze_pose_is_rigid(&object->pose)) return;
  graze_pose_apply(&object->pose, shape->middle, middle);
  for (int k = 0; k < 3; k++) {
    box->min[k] = fmax(box->min[k], middle[k] - shape->reach * 1.001);
    box->max[k] = fmin(box->max[k], middle[k] + shape->reach * 1.001);
  }
}

/* Of the objects that move; NULL: nothing does, or there is no memory for it. */
static track_shape *measure_objects(const track_boxes *boxes) {
  const graze_report *report = boxes->report;
  const graze_motion_move *moves = boxes->track->moves.data;
  const size_t count = boxes->track->moves.count;
  track_shape *shapes =
      count > 0 ? gz_new_zeroed(boxes->track->context, (size_t)report->object_count + 1, sizeof *shapes) : NULL;
  for (size_t i = 0; i < count && shapes != NULL; i++) {
    const uint32_t object = moves[i].object;
    if (object < report->object_count && shapes[object].reach == 0 && report->objects[object].mesh != NULL)
      gz_track_measure(report->objects[object].mesh, &shapes[object]);
  }
  return shapes;
}

static void take_object(const graze_report_object *object, const track_shape *shape, camera_take_box *take,
                        void *user) {
  graze_box box = gz_camera_object_box(object);
  if (shape != NULL) cut_by_ball(object, shape, &box);
  if (!gz_camera_box_empty(&box)) take(user, &box);
}

void gz_track_each_box(const void *source, camera_take_box *take, void *user) {
  const track_boxes *boxes = source;
  const graze_report *report = boxes->report;
  const graze_box balls = graze_track_get_info(boxes->track).bounds;
  const graze_motion_move *moves = boxes->track->moves.data;
  track_shape *shapes = measure_objects(boxes);
  if (!gz_camera_box_empty(&balls)) take(user, &balls);
  if (!gz_camera_box_empty(&boxes->track->box)) take(user, &boxes->track->box);
  for (uint32_t i = 0; i < report->object_count; i++)
    take_object(&report->objects[i], shapes != NULL ? &shapes[i] : NULL, take, user);
  for (size_t i = 0; i < boxes->track->moves.count; i++) {
    if (moves[i].object >= report->object_count) continue;
    graze_report_object object = report->objects[moves[i].object];
    object.pose = moves[i].pose;
    take_object(&object, shapes != NULL ? &shapes[moves[i].object] : NULL, take, user);
  }
  gz_free(shapes);
}

graze_status graze_track_camera(graze_context *context, const graze_track *track, const graze_report *report,
                                double width_by_height, graze_camera *camera) {
  if (context == NULL || track == NULL || report == NULL || camera == NULL || !(width_by_height > 0) ||
      !isfinite(width_by_height))
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, "film", "", "an argument of the camera is invalid");
  const track_boxes f = {track, report};
  gz_camera_fit(report->up, width_by_height, gz_track_each_box, &f, camera);
  return GRAZE_OK;
}

/* ---- the files -------------------------------------------------------------------------------------------------- */

enum { WIDTH = 800, HEIGHT = 500, MILLISECONDS = 100 };

typedef struct painting {
  graze_context *context;
  graze_track *track;
  const char *folder;
  graze_painter *painter;
  graze_animation *animation;
  graze_camera camera;
  uint32_t pictures;
} painting;

/* gz_free() it; NULL: out of memory, which is reported. */
static char *picture_path(const painting *p, uint32_t number) {
  const char *form = number == 0 ? "%s/film.png" : "%s/frames/%04" PRIu32 ".png";
  char *path = gz_new_words(p->context, form, p->folder, number);
  if (path == NULL) gz_report_fail_memory(p->context, p->folder);
  return path;
}

static graze_status paint(painting *p, uint32_t number) {
  const uint32_t last = graze_track_get_info(p->track).frames - 1;
  const uint32_t frame = p->pictures > 1 ? (uint32_t)((uint64_t)number * last / (p->pictures - 1)) : last;
  graze_picture picture;
  char *path = picture_path(p, number + 1);
  if (path == NULL) return GRAZE_ERROR_MEMORY;
  graze_status status = graze_painter_track(p->painter, p->track, frame, &p->camera, &picture);
  if (status == GRAZE_OK) status = graze_picture_write_png(p->context, path, &picture);
  if (status == GRAZE_OK) status = graze_animation_add(p->animation, &picture);
  gz_free(path);
  return status;
}

/* Those of an earlier film show another one. */
static graze_status remove_from(const painting *p, uint32_t number) {
  for (;; number++) {
    char *path = picture_path(p, number);
    if (path == NULL) return GRAZE_ERROR_MEMORY;
    const bool removed = unlink(path) == 0, missing = !removed && (errno == ENOENT || errno == ENOTDIR);
    graze_status status = removed || missing ? GRAZE_OK : gz_file_error(p->context, path, "cannot remove");
    gz_free(path);
    if (status != GRAZE_OK || (missing && number > 0)) return status;
  }
}

static graze_status open_pictures(painting *p, const graze_report *report) {
  char frames[4096], *whole = picture_path(p, 0);
  if (whole == NULL) return GRAZE_ERROR_MEMORY;
  graze_status status = graze_painter_create(p->context, report, WIDTH, HEIGHT, &p->painter);
  if (status == GRAZE_OK) status = graze_animation_open(p->context, whole, p->pictures, MILLISECONDS, &p->animation);
  snprintf(frames, sizeof frames, "%s/frames", p->folder);
  if (status == GRAZE_OK) status = graze_report_make_folder(p->context, frames);
  gz_free(whole);
  return status;
}

graze_status graze_track_write_pictures(graze_context *context, const char *folder, graze_track *track,
                                        const graze_report *report, uint32_t count) {
  if (context == NULL || folder == NULL || track == NULL || report == NULL ||
      (count > 0 && graze_track_get_info(track).frames == 0))
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, folder, "",
                         "a folder, a film of one frame or more and a report");
  const uint32_t frames = graze_track_get_info(track).frames;
  painting p = {.context = context, .track = track, .folder = folder, .pictures = count < frames ? count : frames};
  graze_status status = remove_from(&p, 0);
  if (status != GRAZE_OK || p.pictures == 0) return status;
  status = graze_track_camera(context, track, report, (double)WIDTH / HEIGHT, &p.camera);
  if (status == GRAZE_OK) status = open_pictures(&p, report);
  for (uint32_t i = 0; i < p.pictures && status == GRAZE_OK; i++) status = paint(&p, i);
  graze_status closed = p.animation != NULL ? graze_animation_close(p.animation) : GRAZE_OK;
  graze_painter_destroy(p.painter);
  return status != GRAZE_OK ? status : closed;
}
