/* The folder of a report: a page, pictures, and files for other programs. What this machine cannot make is left out
 * with a note; what cannot be written ends the program. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "diagnostics.h"

enum { overview_width = 1280, overview_height = 800, picture_width = 640, picture_height = 480 };

void make_report_folder(const char *path) {
  struct stat about;
  int reason = mkdir(path, 0777) == 0 ? 0 : errno;
  if (reason == EEXIST && stat(path, &about) == 0)
    reason = S_ISDIR(about.st_mode) ? (access(path, W_OK | X_OK) == 0 ? 0 : errno) : ENOTDIR;
  if (reason != 0) fail("%s: cannot be the folder of a report: %s", path, strerror(reason));
}

static char *join(const char *folder, const char *name, const char *ending) {
  char *path = NULL;
  if (asprintf(&path, "%s/%s%s", folder, name, ending) < 0) fail_out_of_memory();
  return path;
}

static void must(graze_status status, const graze_io_error *error) {
  if (status != GRAZE_OK) fail("%s", error->message);
}

/* ---- pictures ---------------------------------------------------------------------------------------------- */

static void save_picture(const char *folder, const char *name, const graze_picture *picture) {
  graze_io_error error;
  char *path = join(folder, name, ".png");
  must(graze_picture_write_png(path, picture, &error), &error);
  free(path);
}

/* What an earlier run painted shows how things were then. */
static void remove_picture(const char *folder, const char *name) {
  char *path = join(folder, name, ".png");
  if (unlink(path) != 0 && errno != ENOENT) fail("%s: cannot remove: %s", path, strerror(errno));
  free(path);
}

static void paint_overview(const check_record *record, const char *folder) {
  graze_io_error error;
  graze_painter *painter = NULL;
  graze_picture picture;
  must(graze_painter_create(&record->report, overview_width, overview_height, &painter, &error), &error);
  must(graze_painter_overview(painter, &picture, &error), &error);
  save_picture(folder, "overview", &picture);
  graze_painter_destroy(painter);
}

static bool has_picture(const graze_report *report, uint32_t i) {
  return report->clashes[i].state != GRAZE_STATE_RESOLVED && report->clashes[i].relation != GRAZE_SEPARATE;
}

/* A picture of no size is refused by every build; one without libpng says that it is. */
static bool can_save_pictures(void) {
  const graze_picture none = {0};
  graze_io_error error;
  if (graze_picture_write_png("pictures", &none, &error) != GRAZE_ERROR_UNSUPPORTED) return true;
  note("left out: %s", error.message);
  return false;
}

/* Pictures of the first clashes, and from where they were seen. Returns false when they cannot be painted or saved. */
static bool paint(const check_options *check, const check_record *record, const char *folder, graze_camera *cameras) {
  const graze_report *report = &record->report;
  graze_io_error error;
  graze_painter *painter = NULL;
  bool possible = can_save_pictures();
  graze_status status = graze_painter_create(report, picture_width, picture_height, &painter, &error);
  if (status == GRAZE_ERROR_UNSUPPORTED)
    note("left out: %s", error.message);
  else
    must(status, &error);
  if (!possible || status != GRAZE_OK) {
    graze_painter_destroy(painter);
    return false;
  }
  make_report_folder(folder);
  uint32_t painted = 0, left = 0;
  for (uint32_t i = 0; i < report->clash_count; i++) {
    graze_picture picture;
    if (!has_picture(report, i)) continue;
    if (painted == check->pictures || interrupts_came()) {
      left++;
      remove_picture(folder, report->clashes[i].id);
      continue;
    }
    must(graze_painter_clash(painter, i, &picture, &cameras[i], &error), &error);
    save_picture(folder, report->clashes[i].id, &picture);
    painted++;
  }
  graze_painter_destroy(painter);
  paint_overview(record, check->folder);
  if (left > 0)
    note("%" PRIu32 " clash%s no picture: %s", left, left == 1 ? " has" : "es have",
         interrupts_came() ? "interrupted" : "--pictures sets how many are painted");
  return true;
}

/* An interrupted check is told at once, without pictures. */
static bool make_pictures(const check_options *check, const check_record *record, graze_camera *cameras) {
  if (check->pictures == 0) return false;
  if (interrupts_came()) {
    note("left out: pictures: interrupted");
    return false;
  }
  char *folder = join(check->folder, "pictures", "");
  bool made = paint(check, record, folder, cameras);
  free(folder);
  return made;
}

/* ---- files ------------------------------------------------------------------------------------------------- */

/* The page comes last: a folder without one is not finished. */
static void write_files(const check_options *check, const check_record *record, const char *pictures,
                        const graze_camera *cameras) {
  const unsigned failing = 1u << GRAZE_CROSS | 1u << GRAZE_A_IN_B | 1u << GRAZE_B_IN_A | 1u << GRAZE_DUPLICATE;
  const graze_report *report = &record->report;
  graze_io_error error;
  char *json = join(check->folder, "clashes", ".json"), *csv = join(check->folder, "clashes", ".csv");
  char *junit = join(check->folder, "junit", ".xml"), *bcf = join(check->folder, "clashes", ".bcf");
  char *page = join(check->folder, "index", ".html"), *snapshots = join(check->folder, "pictures", "");
  must(graze_report_write_json(json, report, true, &error), &error);
  must(graze_report_write_csv(csv, report, &error), &error);
  must(graze_report_write_junit(junit, report, failing, &error), &error);
  graze_status status = graze_report_write_bcf(bcf, report, pictures ? snapshots : NULL, cameras, &error);
  if (status == GRAZE_ERROR_UNSUPPORTED)
    note("left out: %s", error.message);
  else
    must(status, &error);
  must(graze_report_write_html(page, report, 0, pictures, cameras, &error), &error);
  note("report: %s", page);
  free(json);
  free(csv);
  free(junit);
  free(bcf);
  free(page);
  free(snapshots);
}

/* Files of an earlier run that would be taken for this one's if it ended half-way. clashes.json stays until the new one
 * is there: it holds the reviewers' marks. */
static void remove_old(const char *folder) {
  static const char *const names[] = {"index.html", "junit.xml", "clashes.csv", "clashes.bcf", "overview.png"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char *path = join(folder, names[i], "");
    if (unlink(path) != 0 && errno != ENOENT) fail("%s: cannot remove: %s", path, strerror(errno));
    free(path);
  }
}

void write_report_folder(const check_options *check, const check_record *record) {
  const graze_report *report = &record->report;
  double start = clock_seconds();
  graze_camera *cameras = calloc((size_t)report->clash_count + 1, sizeof *cameras);
  if (!cameras) fail_out_of_memory();
  remove_old(check->folder);
  if (graze_report_cameras(report, cameras) != GRAZE_OK) fail_out_of_memory();
  bool pictures = make_pictures(check, record, cameras);
  write_files(check, record, pictures ? "pictures" : NULL, cameras);
  free(cameras);
  note("written in %.1f s", clock_seconds() - start);
}
