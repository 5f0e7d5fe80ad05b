/* What the library says, and how the program shows and ends it. */
#include "session.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "diagnostics.h"
#include "graze/visibility.h"
#ifdef GRAZE_HAVE_GPU
#include "graze/gpu.h"
#endif

static void show_message(void *user, graze_log_level level, const char *message) {
  const session *run = user;
  if (level == GRAZE_LOG_PROGRESS && (run->quiet || !isatty(STDERR_FILENO))) return;
  if (level != GRAZE_LOG_ERROR) note("%s", message); /* the last error is asked for */
}

void session_begin(session *run, const common_options *common) {
  memset(run, 0, sizeof *run);
  graze_context_def def = graze_default_context_def();
  def.log = show_message;
  def.log_user = run;
  def.threads = common->threads;
  run->quiet = common->quiet;
  run->stage = -1;
  graze_status status = graze_context_create(&def, &run->context);
  if (status != GRAZE_OK) session_fail(run, NULL, status);
}

void session_end(session *run) {
#ifdef GRAZE_HAVE_GPU
  graze_gpu_destroy(run->gpu);
#endif
  graze_visibility_destroy(run->visibility);
  graze_context_destroy(run->context);
}

/* Of the call that failed with `status` last. */
static const char *message_of(const graze_context *context, graze_status status) {
  const graze_error *error = graze_last_error(context);
  return error->status == status ? error->message : graze_status_string(status);
}

_Noreturn void session_fail(const session *run, const char *what, graze_status status) {
  const char *message = message_of(run->context, status);
  if (what) fail("%s: %s", what, message);
  fail("%s", message);
}

void must(const graze_context *context, graze_status status) {
  if (status != GRAZE_OK) fail("%s", message_of(context, status));
}

/* ---- the engine ---- */

graze_visibility *session_open_visibility(const session *run, const common_options *common) {
  const bool reference = common->device && strcmp(common->device, "reference") == 0;
  graze_visibility *made = NULL;
  must(run->context,
       graze_visibility_create(run->context, reference ? GRAZE_VISIBILITY_REFERENCE : GRAZE_VISIBILITY_OPENGL, &made));
  return made;
}

void session_attach(session *run, const common_options *common) {
  if (common->engine == engine_visibility) {
    run->visibility = session_open_visibility(run, common);
    graze_visibility_def how = graze_default_visibility_def();
    how.mode = common->mode;
    if (common->resolution > 0) how.resolution = common->resolution;
    must(run->context, graze_visibility_attach(run->visibility, &how));
    return;
  }
  bool choosing = common->engine == engine_auto;
#ifdef GRAZE_HAVE_GPU
  if (common->engine != engine_gpu && !choosing) return;
  graze_status status = graze_gpu_create(run->context, common->device, &run->gpu);
  if (status == GRAZE_OK) status = graze_gpu_attach(run->gpu, choosing ? GRAZE_GPU_WHERE_FASTER : GRAZE_GPU_ALWAYS);
  if (status != GRAZE_OK && !choosing) session_fail(run, NULL, status);
  if (status != GRAZE_OK) note("%s; the processor does it all", message_of(run->context, status));
#else
  (void)run;
  if (choosing) note("this build has no engine for devices; the processor does it all");
#endif
}

const char *session_device(const session *run) {
#ifdef GRAZE_HAVE_GPU
  if (graze_gpu_get_report(run->gpu).answered > 0) return graze_gpu_get_info(run->gpu)->id;
#endif
  (void)run;
  return "";
}

const char *session_engine(const session *run) {
  if (graze_visibility_get_answered(run->visibility) > 0) return "visibility";
  return session_device(run)[0] ? "gpu" : "cpu";
}

/* ---- checks ---- */

static bool show_progress(void *user, graze_check_stage stage, uint64_t done, uint64_t total) {
  static const char *const units[] = {"files", "meshes", "pairs of objects", "pictures"};
  session *run = user;
  if (stage == GRAZE_CHECK_PAIRS) interrupts_ask();
  if ((int)stage != run->stage || done == total) {
    progress_end(&run->line);
    run->line = progress_begin(units[stage], run->quiet);
    run->stage = (int)stage;
  }
  if (done < total && (total > 1 || stage == GRAZE_CHECK_PAIRS)) progress_show(&run->line, done, total);
  return !interrupts_came();
}

/* What a user of the program can do about it. */
static const char *advice(graze_check_hint hint) {
  if (hint == GRAZE_CHECK_UNITS_DIFFER) return "; --units says what to convert to";
  if (hint == GRAZE_CHECK_TOO_FEW_OBJECTS) return "; `graze self' checks a mesh against itself";
  if (hint == GRAZE_CHECK_EMPTY_OBJECT) return ": there is nothing to check; --allow-empty passes it over";
  if (hint != GRAZE_CHECK_CAN_SPLIT) return "";
  return "; --split makes objects of the groups of a file, --split=parts of its connected parts, and `graze self' "
         "checks a mesh against itself";
}

graze_check *session_open(session *run, graze_check_def *def) {
  graze_check *check = NULL;
  graze_check_hint hint = GRAZE_CHECK_NO_HINT;
  def->progress = show_progress;
  def->progress_user = run;
  def->hint = &hint;
  graze_status status = graze_check_open(run->context, def, &check);
  progress_end(&run->line);
  if (status != GRAZE_OK) fail("%s%s", message_of(run->context, status), run->no_advice ? "" : advice(hint));
  def->hint = NULL;
  session_take_times(run, check);
  return check;
}

graze_check *session_open_meshes(session *run, const file_list *files, const graze_check_def *report) {
  graze_check_def def = *report;
  def.files = (const char *const *)files->names;
  def.file_count = files->count;
  def.joined = def.every_mesh = true;
  return session_open(run, &def);
}

void session_write_seconds(const session *run, gz_json *json) {
  gz_json_open(json, "seconds", '{');
  gz_json_double(json, "load", run->load_seconds);
  gz_json_double(json, "build", run->build_seconds);
  gz_json_double(json, "query", run->query_seconds);
  gz_json_close(json);
}

void session_write_folder(session *run, const char *folder, graze_check *check, double start) {
  graze_status status = graze_check_write_folder(check);
  uint32_t left = graze_check_get_counts(check).unpainted;
  progress_end(&run->line);
  if (status != GRAZE_OK) session_fail(run, NULL, status);
  if (left > 0)
    note("%" PRIu32 " clash%s no picture: %s", left, left == 1 ? " has" : "es have",
         interrupts_came() ? "interrupted" : "--pictures sets how many are painted");
  note("report: %s/index.html", folder);
  note("written in %.1f s", clock_now() - start);
}

void session_take_times(session *run, const graze_check *check) {
  graze_check_counts counts = graze_check_get_counts(check);
  run->load_seconds = counts.load_seconds;
  run->build_seconds = counts.build_seconds;
  run->query_seconds = counts.query_seconds;
}

/* ---- the clock ---- */

void clock_add(double *total, double start) {
  *total = round((*total + (clock_now() - start)) * 1e9) / 1e9;
}
