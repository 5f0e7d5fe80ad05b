/* film.c: is a film sound, and how large is what it shows. */
#include "film.h"

#include <math.h>
#include <stdlib.h>

#include "camera.h"

static graze_status check_moves(const graze_context *context, const graze_film *film, const char *name) {
  uint32_t before = 0;
  for (uint64_t i = 0; i < film->move_count; i++) {
    const graze_motion_move *move = &film->moves[i];
    unsigned long long number = i;
    if (move->object >= film->report->object_count)
      return gz_fail_named(context, GRAZE_ERROR_INDEX, name, "", "move %llu: object %u of %u", number, move->object,
                           film->report->object_count);
    if (move->step < before || move->step >= film->step_count)
      return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, name, "", "move %llu: step %u after step %u, of %u", number,
                           move->step, before, film->step_count);
    if (!gz_report_pose_is_finite(&move->pose))
      return gz_fail_named(context, GRAZE_ERROR_NOT_FINITE, name, "", "move %llu: its pose is not finite", number);
    before = move->step;
  }
  return GRAZE_OK;
}

static graze_status check_events(const graze_context *context, const graze_film *film, const char *name) {
  uint32_t before = 0;
  for (uint64_t i = 0; i < film->event_count; i++) {
    const graze_film_event *event = &film->events[i];
    unsigned long long number = i;
    if (event->a >= film->report->object_count || event->b >= film->report->object_count)
      return gz_fail_named(context, GRAZE_ERROR_INDEX, name, "", "event %llu: objects %u and %u of %u", number,
                           event->a, event->b, film->report->object_count);
    if (event->step < before || event->step >= film->step_count || (unsigned)event->change > GRAZE_FILM_PASSED)
      return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, name, "",
                           "event %llu: step %u after step %u, of %u, or its kind", number, event->step, before,
                           film->step_count);
    before = event->step;
  }
  return GRAZE_OK;
}

graze_status gz_film_check(const graze_context *context, const graze_film *film, const char *name) {
  const graze_report *report = film->report;
  if (report == NULL || film->step_count == 0 || (film->moves == NULL && film->move_count > 0) ||
      (film->events == NULL && film->event_count > 0))
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, name, "", "a film needs a report and one step or more");
  for (uint32_t i = 0; i < report->object_count; i++) {
    if (!gz_report_pose_is_finite(&report->objects[i].pose))
      return gz_fail_named(context, GRAZE_ERROR_NOT_FINITE, name, "", "object %u: its pose is not finite", i);
  }
  graze_status status = check_moves(context, film, name);
  return status == GRAZE_OK ? check_events(context, film, name) : status;
}

/* Calls the function with the box of each object at step 0 and wherever it moves. */
static void for_each_box(const void *source, camera_take_box *call, void *user) {
  const graze_film *film = source;
  for (uint32_t i = 0; i < film->report->object_count; i++) {
    graze_box box = gz_camera_object_box(&film->report->objects[i]);
    if (!gz_camera_box_empty(&box)) call(user, &box);
  }
  for (uint64_t i = 0; i < film->move_count; i++) {
    graze_report_object object = film->report->objects[film->moves[i].object];
    object.pose = film->moves[i].pose;
    graze_box box = gz_camera_object_box(&object);
    if (!gz_camera_box_empty(&box)) call(user, &box);
  }
}

static void include(void *user, const graze_box *box) {
  graze_box_add_box(user, box);
}

graze_box gz_film_bounds(const graze_film *film) {
  graze_box all = graze_box_empty();
  for_each_box(film, include, &all);
  return all;
}

/* From the usual side, as near as all boxes of all steps fit into the view. */
graze_status graze_film_camera(graze_context *context, const graze_film *film, double width_by_height,
                               graze_camera *camera) {
  if (context == NULL || film == NULL || camera == NULL || !(width_by_height > 0) || !isfinite(width_by_height))
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, "film", "", "an argument of the camera is invalid");
  graze_status status = gz_film_check(context, film, "film");
  if (status == GRAZE_OK) gz_camera_fit(film->report->up, width_by_height, for_each_box, film, camera);
  return status;
}
