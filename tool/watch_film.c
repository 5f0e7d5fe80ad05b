/* The film of a run: a page, and pictures of some steps. What this machine cannot make is left out with a note. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diagnostics.h"
#include "watch.h"

enum { frame_width = 800, frame_height = 500, film_milliseconds = 100 };

static char *join(const char *folder, const char *name) {
  char *path = NULL;
  if (asprintf(&path, "%s/%s", folder, name) < 0) fail_out_of_memory();
  return path;
}

/* ---- the film ---------------------------------------------------------------------------------------------- */

/* Moves of the steps that were run, without those to the pose that the object has already. */
static void take_moves(graze_film *film, const graze_report *report, const graze_motion *motion,
                       graze_motion_move *moves) {
  graze_pose *poses = malloc(((size_t)report->object_count + 1) * sizeof *poses);
  if (!poses) fail_out_of_memory();
  for (uint32_t i = 0; i < report->object_count; i++) poses[i] = report->objects[i].pose;
  for (uint64_t i = 0; i < motion->count && motion->moves[i].step < film->step_count; i++) {
    const graze_motion_move *move = &motion->moves[i];
    if (memcmp(&poses[move->object], &move->pose, sizeof move->pose) == 0) continue;
    poses[move->object] = move->pose;
    moves[film->move_count++] = *move;
  }
  film->moves = moves;
  free(poses);
}

static graze_film_event *take_events(const watch_log *log) {
  graze_film_event *events = malloc((log->event_count + 1) * sizeof *events);
  if (!events) fail_out_of_memory();
  for (uint64_t i = 0; i < log->event_count; i++) {
    const watch_event *from = &log->events[i];
    events[i] = (graze_film_event){from->step, from->change, from->a, from->b, from->before, from->verdict.relation};
  }
  return events;
}

/* ---- frames ------------------------------------------------------------------------------------------------ */

typedef struct frame_run {
  graze_context *context;
  const watch_options *watch;
  const graze_film *film;
  graze_painter *painter;
  graze_animation *animation;
  graze_camera camera;
  graze_pose *poses;
  bool *lit;
  uint32_t *partners; /* pairs that each object takes part in */
  uint64_t next_move, next_event;
  const char *folder;
} frame_run;

/* Goes on to a step. */
static void advance(frame_run *f, uint32_t step) {
  const graze_film *film = f->film;
  for (; f->next_move < film->move_count && film->moves[f->next_move].step <= step; f->next_move++)
    f->poses[film->moves[f->next_move].object] = film->moves[f->next_move].pose;
  for (; f->next_event < film->event_count && film->events[f->next_event].step <= step; f->next_event++) {
    const graze_film_event *event = &film->events[f->next_event];
    if (event->change == GRAZE_FILM_CHANGED) continue;
    uint32_t by = event->change == GRAZE_FILM_BEGAN ? 1 : UINT32_MAX; /* one more, one less */
    f->partners[event->a] += by;
    f->partners[event->b] += by;
  }
  for (uint32_t i = 0; i < film->report->object_count; i++) f->lit[i] = f->partners[i] > 0;
}

static void paint_frames(frame_run *f, uint32_t count) {
  graze_picture picture;
  uint32_t last = f->film->step_count - 1;
  for (uint32_t i = 0; i < count; i++) {
    char name[32];
    snprintf(name, sizeof name, "%04" PRIu32 ".png", i + 1);
    advance(f, count > 1 ? (uint32_t)((uint64_t)i * last / (count - 1)) : last);
    must(f->context, graze_painter_frame(f->painter, f->poses, f->lit, &f->camera, &picture));
    char *path = join(f->folder, name);
    must(f->context, graze_picture_write_png(f->context, path, &picture));
    free(path);
    must(f->context, graze_animation_add(f->animation, &picture));
  }
}

/* What an earlier run painted shows another film. */
static void remove_old_frames(const char *folder, uint32_t first) {
  for (uint32_t i = first;; i++) {
    char name[32];
    snprintf(name, sizeof name, "%04" PRIu32 ".png", i);
    char *path = join(folder, name);
    bool removed = unlink(path) == 0;
    if (!removed && errno != ENOENT && errno != ENOTDIR) fail("%s: cannot remove: %s", path, strerror(errno));
    free(path);
    if (!removed) return;
  }
}

/* False: this machine has no pictures. */
static bool open_painter(frame_run *f) {
  graze_status status = graze_painter_create(f->context, f->film->report, frame_width, frame_height, &f->painter);
  if (status == GRAZE_OK) return true;
  if (status != GRAZE_ERROR_UNSUPPORTED) must(f->context, status);
  note("left out: %s", graze_last_error(f->context)->message);
  return false;
}

static bool open_animation(frame_run *f, const char *path, uint32_t count) {
  graze_status status = graze_animation_open(f->context, path, count, film_milliseconds, &f->animation);
  if (status == GRAZE_OK) return true;
  if (status != GRAZE_ERROR_UNSUPPORTED) must(f->context, status);
  note("left out: %s", graze_last_error(f->context)->message);
  return false;
}

static void paint(graze_context *context, const watch_options *watch, const graze_film *film) {
  uint32_t count = watch->pictures < film->step_count ? watch->pictures : film->step_count;
  size_t objects = (size_t)film->report->object_count + 1;
  char *folder = join(watch->def.folder, "frames"), *path = join(watch->def.folder, "film.png");
  frame_run f = {.context = context, .watch = watch, .film = film, .folder = folder};
  f.poses = calloc(objects, sizeof *f.poses);
  f.lit = calloc(objects, sizeof *f.lit);
  f.partners = calloc(objects, sizeof *f.partners);
  if (!f.poses || !f.lit || !f.partners) fail_out_of_memory();
  must(context, graze_film_camera(context, film, (double)frame_width / frame_height, &f.camera));
  for (uint32_t i = 0; i < film->report->object_count; i++) f.poses[i] = film->report->objects[i].pose;
  if (count > 0 && open_painter(&f) && open_animation(&f, path, count)) {
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
      fail("%s: cannot be the folder of a report: %s", folder, strerror(errno));
    paint_frames(&f, count);
    must(context, graze_animation_close(f.animation));
    note("%" PRIu32 " frames: %s/0001.png to %04" PRIu32 ".png, %s", count, folder, count, path);
    remove_old_frames(folder, count + 1);
  } else {
    remove_old_frames(folder, 1);
    if (unlink(path) != 0 && errno != ENOENT) fail("%s: cannot remove: %s", path, strerror(errno));
  }
  graze_painter_destroy(f.painter);
  free(f.poses);
  free(f.lit);
  free(f.partners);
  free(folder);
  free(path);
}

/* ---- the folder -------------------------------------------------------------------------------------------- */

/* The head of the check's report fits a film too. With a fixed time nothing takes time. */
static graze_report report_of(const graze_report *head, const session *run, const watch_log *log) {
  const char *fixed = getenv("SOURCE_DATE_EPOCH");
  graze_report report = *head;
  report.complete = log->complete;
  if (fixed && *fixed) return report;
  report.load_seconds = run->load_seconds;
  report.build_seconds = run->build_seconds;
  report.query_seconds = run->query_seconds;
  return report;
}

void watch_write_film(const watch_options *watch, const session *run, const graze_report *head,
                      const graze_motion *motion, const watch_log *log) {
  double start = clock_seconds();
  char *page = join(watch->def.folder, "index.html");
  if (unlink(page) != 0 && errno != ENOENT) fail("%s: cannot remove: %s", page, strerror(errno));
  if (log->step_count == 0) { /* interrupted before the first step */
    note("left out: the film: no step was run");
    free(page);
    return;
  }
  const graze_report report = report_of(head, run, log);
  graze_motion_move *moves = malloc((motion->count + 1) * sizeof *moves);
  if (!moves) fail_out_of_memory();
  graze_film_event *events = take_events(log);
  graze_film film = {
      .report = &report, .step_count = log->step_count, .events = events, .event_count = log->event_count};
  take_moves(&film, &report, motion, moves);
  paint(run->context, watch, &film);
  must(run->context, graze_film_write_html(run->context, page, &film, 0));
  note("film: %s", page);
  note("written in %.1f s", clock_seconds() - start);
  free(events);
  free(moves);
  free(page);
}
