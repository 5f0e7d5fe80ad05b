/* The folder of a report: a page, pictures, and files for other programs. What this machine cannot make is left out
 * with a warning. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { overview_width = 1280, overview_height = 800, picture_width = 640, picture_height = 480 };

static graze_status file_fault(const graze_check *c, const char *path, const char *what, int reason) {
  return gz_fail(c->context, GRAZE_ERROR_FILE, "%s: %s: %s", path, what, strerror(reason));
}

graze_status gz_check_remove(const graze_check *c, const char *path) {
  if (path == NULL) return GRAZE_ERROR_MEMORY;
  return unlink(path) == 0 || errno == ENOENT ? GRAZE_OK : file_fault(c, path, "cannot remove", errno);
}

graze_status gz_check_may_lack(const graze_check *c, graze_status status) {
  const graze_error *error = graze_last_error(c->context);
  if (status == GRAZE_OK) return GRAZE_OK;
  if (status != GRAZE_ERROR_UNSUPPORTED) return gz_fail(c->context, status, "%s", error->message);
  gz_check_note(c, GRAZE_LOG_WARNING, "left out: %s", error->message);
  return GRAZE_OK;
}

/* ---- pictures ---------------------------------------------------------------------------------------------- */

typedef struct painting {
  graze_check *check;
  graze_painter *painter;
  graze_camera *cameras; /* from where clashes were seen */
  const char *folder;
  uint32_t painted;
} painting;

static char *picture_path(const painting *p, uint32_t clash) {
  return gz_check_print(p->check, "%s/%s.png", p->folder, p->check->report.clashes[clash].id);
}

static graze_status save(graze_check *c, const char *path, const graze_picture *picture) {
  return path != NULL ? graze_picture_write_png(c->context, path, picture) : GRAZE_ERROR_MEMORY;
}

static graze_status paint_overview(graze_check *c) {
  graze_painter *painter = NULL;
  graze_picture picture;
  graze_status status = graze_painter_create(c->context, &c->report, overview_width, overview_height, &painter);
  if (status == GRAZE_OK) status = graze_painter_overview(painter, &picture);
  if (status == GRAZE_OK) status = save(c, gz_check_print(c, "%s/overview.png", c->def.folder), &picture);
  graze_painter_destroy(painter);
  return status;
}

static graze_status paint_clash(painting *p, uint32_t i) {
  graze_check *c = p->check;
  graze_picture picture;
  graze_status status = graze_painter_clash(p->painter, i, &picture, &p->cameras[i]);
  p->painted++;
  return status == GRAZE_OK ? save(c, picture_path(p, i), &picture) : status;
}

static bool has_picture(const graze_report_clash *clash) {
  return clash->state != GRAZE_STATE_RESOLVED && clash->relation != GRAZE_SEPARATE;
}

/* Pictures of the first clashes. What an earlier run painted of others shows how things were then. */
static graze_status paint_clashes(painting *p) {
  graze_check *c = p->check;
  graze_status status = GRAZE_OK;
  uint32_t count = 0;
  for (uint32_t i = 0; i < c->report.clash_count && count < c->def.most_pictures; i++)
    count += has_picture(&c->report.clashes[i]);
  for (uint32_t i = 0; i < c->report.clash_count && status == GRAZE_OK; i++) {
    if (!has_picture(&c->report.clashes[i])) continue;
    if (p->painted < c->def.most_pictures && gz_check_go_on(c, GRAZE_CHECK_PICTURES, p->painted, count)) {
      status = paint_clash(p, i);
    } else {
      c->unpainted++;
      status = gz_check_remove(c, picture_path(p, i));
    }
  }
  return status == GRAZE_OK ? paint_overview(c) : status;
}

/* Whether pictures can be painted and saved. A picture of no size is refused by every build; one without libpng says
 * that it is. */
static graze_status open_painter(painting *p, bool *possible) {
  const graze_picture none = {0};
  graze_check *c = p->check;
  bool before = gz_silence(true);
  bool can_save = graze_picture_write_png(c->context, "pictures", &none) != GRAZE_ERROR_UNSUPPORTED;
  if (!can_save) gz_check_may_lack(c, GRAZE_ERROR_UNSUPPORTED);
  graze_status status = graze_painter_create(c->context, &c->report, picture_width, picture_height, &p->painter);
  gz_silence(before);
  *possible = can_save && status == GRAZE_OK;
  return gz_check_may_lack(c, status);
}

/* `*pictures`: their folder, if they could be made. A check that was stopped is told at once, without them. */
static graze_status make_pictures(graze_check *c, graze_camera *cameras, const char **pictures) {
  bool made = false;
  if (c->def.most_pictures == 0 || !(c->def.parts & GRAZE_CHECK_IMAGES)) return GRAZE_OK;
  if (!gz_check_go_on(c, GRAZE_CHECK_PICTURES, 0, 0)) {
    gz_check_note(c, GRAZE_LOG_WARNING, "left out: pictures: interrupted");
    return GRAZE_OK;
  }
  painting p = {.check = c, .cameras = cameras, .folder = gz_check_print(c, "%s/pictures", c->def.folder)};
  graze_status status = p.folder != NULL ? open_painter(&p, &made) : GRAZE_ERROR_MEMORY;
  if (status == GRAZE_OK && made) status = graze_report_make_folder(c->context, p.folder);
  if (status == GRAZE_OK && made) status = paint_clashes(&p);
  graze_painter_destroy(p.painter);
  if (made) *pictures = p.folder;
  return status;
}

/* ---- files ------------------------------------------------------------------------------------------------- */

typedef struct writing {
  graze_check *check;
  const graze_camera *cameras;
  const char *pictures; /* their folder; NULL: there are none */
} writing;

static graze_status write_json(const writing *w, const char *path) {
  return graze_report_write_json(w->check->context, path, &w->check->report, true);
}

static graze_status write_csv(const writing *w, const char *path) {
  return graze_report_write_csv(w->check->context, path, &w->check->report);
}

static graze_status write_junit(const writing *w, const char *path) {
  const unsigned failing =
      1u << GRAZE_CLEARANCE | 1u << GRAZE_CROSS | 1u << GRAZE_A_IN_B | 1u << GRAZE_B_IN_A | 1u << GRAZE_DUPLICATE;
  return graze_report_write_junit(w->check->context, path, &w->check->report, failing);
}

static graze_status write_bcf(const writing *w, const char *path) {
  return graze_report_write_bcf(w->check->context, path, &w->check->report, w->pictures, w->cameras);
}

static graze_status write_html(const writing *w, const char *path) {
  return graze_report_write_html(w->check->context, path, &w->check->report, 0, w->pictures != NULL ? "pictures" : NULL,
                                 w->cameras);
}

/* In the order of writing. The page comes last: until then one stands there that says so. */
static const struct part {
  unsigned bit;
  const char *name;
  graze_status (*write)(const writing *w, const char *path);
} parts[] = {{GRAZE_CHECK_JSON, "clashes.json", write_json},
             {GRAZE_CHECK_CSV, "clashes.csv", write_csv},
             {GRAZE_CHECK_JUNIT, "junit.xml", write_junit},
             {GRAZE_CHECK_BCF, "clashes.bcf", write_bcf},
             {GRAZE_CHECK_HTML, "index.html", write_html}};
enum { PARTS = sizeof parts / sizeof parts[0] };

/* Files of an earlier run that would be taken for this one's if it ended half-way. clashes.json stays until the new one
 * is there: it holds the reviewers' marks. */
static graze_status remove_old(graze_check *c) {
  bool paged = c->def.parts & GRAZE_CHECK_HTML;
  graze_status status = paged ? graze_report_begin_page(c->context, c->def.folder) : GRAZE_OK;
  if (status == GRAZE_OK) status = gz_check_remove(c, gz_check_print(c, "%s/overview.png", c->def.folder));
  for (int i = paged ? PARTS - 2 : PARTS - 1; i > 0 && status == GRAZE_OK; i--)
    status = gz_check_remove(c, gz_check_print(c, "%s/%s", c->def.folder, parts[i].name));
  return status;
}

static graze_status write_parts(graze_check *c, graze_camera *cameras) {
  writing w = {.check = c, .cameras = cameras};
  graze_status status = remove_old(c);
  if (status == GRAZE_OK) status = graze_report_cameras(c->context, &c->report, cameras);
  if (status == GRAZE_OK) status = make_pictures(c, cameras, &w.pictures);
  for (int i = 0; i < PARTS && status == GRAZE_OK; i++) {
    if (!(c->def.parts & parts[i].bit)) continue;
    const char *path = gz_check_print(c, "%s/%s", c->def.folder, parts[i].name);
    bool before = gz_silence(true);
    status = path != NULL ? parts[i].write(&w, path) : GRAZE_ERROR_MEMORY;
    gz_silence(before);
    status = gz_check_may_lack(c, status);
  }
  return status;
}

graze_status graze_check_write_folder(graze_check *c) {
  if (c == NULL) return GRAZE_ERROR_ARGUMENT;
  if (c->def.folder == NULL || !c->ran)
    return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "check: %s", c->ran ? "no folder was named" : "it has not run");
  graze_camera *cameras = gz_check_alloc(c, c->report.clash_count, sizeof *cameras);
  if (cameras == NULL) return GRAZE_ERROR_MEMORY;
  c->caller = pthread_self();
  c->unpainted = 0;
  return write_parts(c, cameras);
}
