/* The film of objects that moved: a page, and pictures of some steps. What this machine cannot make is left out with a
 * warning. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { frame_width = 800, frame_height = 500, film_milliseconds = 100 };

typedef struct filming {
  graze_check *check;
  graze_film film;
  uint32_t frames;    /* to be painted */
  const char *folder; /* of the frames */
  const char *whole;  /* film.png */
  graze_painter *painter;
  graze_animation *animation;
  graze_camera camera;
  graze_pose *poses;
  bool *lit;
  uint32_t *partners; /* pairs that each object takes part in */
  uint64_t next_move, next_event;
} filming;

/* Leaves out moves of steps that were not run, and those to the pose that the object has already. */
static graze_status take_moves(filming *f) {
  graze_film *film = &f->film;
  graze_motion_move *moves = gz_check_alloc(f->check, film->move_count, sizeof *moves);
  if (moves == NULL) return GRAZE_ERROR_MEMORY;
  uint64_t count = 0;
  for (uint64_t i = 0; i < film->move_count && film->moves[i].step < film->step_count; i++) {
    const graze_motion_move *move = &film->moves[i];
    if (memcmp(&f->poses[move->object], &move->pose, sizeof move->pose) == 0) continue;
    f->poses[move->object] = move->pose;
    moves[count++] = *move;
  }
  film->moves = moves;
  film->move_count = count;
  return GRAZE_OK;
}

static void go_to_start(filming *f) {
  for (uint32_t i = 0; i < f->film.report->object_count; i++) f->poses[i] = f->film.report->objects[i].pose;
}

/* Goes on to a step. */
static void advance(filming *f, uint32_t step) {
  const graze_film *film = &f->film;
  for (; f->next_move < film->move_count && film->moves[f->next_move].step <= step; f->next_move++)
    f->poses[film->moves[f->next_move].object] = film->moves[f->next_move].pose;
  for (; f->next_event < film->event_count && film->events[f->next_event].step <= step; f->next_event++) {
    const graze_film_event *event = &film->events[f->next_event];
    if (event->change == GRAZE_FILM_CHANGED || event->change == GRAZE_FILM_PASSED) continue;
    uint32_t by = event->change == GRAZE_FILM_BEGAN ? 1 : UINT32_MAX; /* one more, one less */
    f->partners[event->a] += by;
    f->partners[event->b] += by;
  }
  for (uint32_t i = 0; i < film->report->object_count; i++) f->lit[i] = f->partners[i] > 0;
}

/* ---- frames ------------------------------------------------------------------------------------------------ */

static char *frame_path(const filming *f, uint32_t number) {
  return gz_check_print(f->check, "%s/%04" PRIu32 ".png", f->folder, number);
}

static graze_status paint_frame(filming *f, uint32_t i) {
  graze_picture picture;
  uint32_t last = f->film.step_count - 1;
  const char *path = frame_path(f, i + 1);
  if (path == NULL) return GRAZE_ERROR_MEMORY;
  advance(f, f->frames > 1 ? (uint32_t)((uint64_t)i * last / (f->frames - 1)) : last);
  graze_status status = graze_painter_frame(f->painter, f->poses, f->lit, &f->camera, &picture);
  if (status == GRAZE_OK) status = graze_picture_write_png(f->check->context, path, &picture);
  return status == GRAZE_OK ? graze_animation_add(f->animation, &picture) : status;
}

/* What an earlier run painted shows another film. */
static graze_status remove_frames(const filming *f, uint32_t first) {
  graze_status status = GRAZE_OK;
  bool there = true;
  for (uint32_t i = first; there && status == GRAZE_OK; i++) {
    const char *path = frame_path(f, i);
    there = path != NULL && access(path, F_OK) == 0;
    if (there || path == NULL) status = gz_check_remove(f->check, path);
  }
  return status;
}

/* `*open`: there can be pictures. */
static graze_status open_pictures(filming *f, bool *open) {
  graze_context *context = f->check->context;
  bool before = gz_silence(true);
  graze_status status = graze_painter_create(context, f->film.report, frame_width, frame_height, &f->painter);
  if (status == GRAZE_OK) status = graze_animation_open(context, f->whole, f->frames, film_milliseconds, &f->animation);
  gz_silence(before);
  *open = status == GRAZE_OK;
  return gz_check_may_lack(f->check, status);
}

static graze_status paint_frames(filming *f) {
  graze_check *c = f->check;
  go_to_start(f);
  graze_status status = graze_report_make_folder(c->context, f->folder);
  for (uint32_t i = 0; i < f->frames && status == GRAZE_OK; i++) status = paint_frame(f, i);
  graze_status closed = graze_animation_close(f->animation);
  if (status == GRAZE_OK) status = closed;
  if (status != GRAZE_OK) return status;
  gz_check_note(c, GRAZE_LOG_INFO, "%" PRIu32 " frames: %s/0001.png to %04" PRIu32 ".png, %s", f->frames, f->folder,
                f->frames, f->whole);
  return remove_frames(f, f->frames + 1);
}

static graze_status make_pictures(filming *f) {
  bool open = false;
  graze_status status = f->frames > 0 ? open_pictures(f, &open) : GRAZE_OK;
  if (open) {
    status = paint_frames(f);
  } else if (status == GRAZE_OK) {
    status = remove_frames(f, 1);
    if (status == GRAZE_OK) status = gz_check_remove(f->check, f->whole);
  }
  graze_painter_destroy(f->painter);
  return status;
}

/* ---- the folder -------------------------------------------------------------------------------------------- */

static graze_status prepare(filming *f) {
  graze_check *c = f->check;
  uint32_t objects = f->film.report->object_count;
  f->folder = gz_check_print(c, "%s/frames", c->def.folder);
  f->whole = gz_check_print(c, "%s/film.png", c->def.folder);
  f->poses = gz_check_alloc(c, objects, sizeof *f->poses);
  f->lit = gz_check_alloc(c, objects, sizeof *f->lit);
  f->partners = gz_check_alloc(c, objects, sizeof *f->partners);
  if (!f->folder || !f->whole || !f->poses || !f->lit || !f->partners) return GRAZE_ERROR_MEMORY;
  go_to_start(f);
  graze_status status = take_moves(f);
  return status == GRAZE_OK ? graze_film_camera(c->context, &f->film, (double)frame_width / frame_height, &f->camera)
                            : status;
}

graze_status graze_check_write_film(graze_check *c, const graze_film *film, uint32_t frames) {
  if (c == NULL) return GRAZE_ERROR_ARGUMENT;
  if (film == NULL || film->report == NULL || c->def.folder == NULL)
    return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "check: a film needs a folder and a report");
  filming f = {.check = c, .film = *film, .frames = frames < film->step_count ? frames : film->step_count};
  const char *page = gz_check_print(c, "%s/index.html", c->def.folder);
  graze_status status = page != NULL ? graze_report_begin_page(c->context, c->def.folder) : GRAZE_ERROR_MEMORY;
  if (status == GRAZE_OK && film->step_count == 0) {
    gz_check_note(c, GRAZE_LOG_WARNING, "left out: the film: no step was run");
    return GRAZE_OK;
  }
  if (status == GRAZE_OK) status = prepare(&f);
  if (status == GRAZE_OK) status = make_pictures(&f);
  return status == GRAZE_OK ? graze_film_write_html(c->context, page, &f.film, 0) : status;
}
