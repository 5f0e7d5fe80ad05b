/* Jobs on all threads, the clock, and how the steps of a check talk to whoever asked for it.
 *
 * The core shares large work out itself but not small meshes, of which an assembly has thousands: these go to threads
 * one by one. Of several errors the first in order is told, whichever came first.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "check.h"

/* ---- time ---- */

void gz_check_add_time(double *total, double start) {
  *total = round((*total + (clock_now() - start)) * 1e9) / 1e9;
}

bool gz_check_go_on(graze_check *c, graze_check_stage stage, uint64_t done, uint64_t total) {
  const graze_check_def *d = &c->def;
  if (d->seconds > 0 && clock_now() - c->start > d->seconds) c->stopped = true;
  if (d->progress != NULL && !d->progress(d->progress_user, stage, done, total)) c->stopped = true;
  return !c->stopped;
}

/* ---- words ---- */

void gz_check_note(const graze_check *c, graze_log_level level, const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (c->context->log != NULL) c->context->log(c->context->log_user, level, line);
}

graze_status gz_check_hint(const graze_check *c, graze_check_hint hint, const char *format, ...) {
  va_list arguments;
  if (c->def.hint != NULL) *c->def.hint = hint;
  va_start(arguments, format);
  graze_status status = gz_fail_list(c->context, GRAZE_ERROR_ARGUMENT, format, arguments);
  va_end(arguments);
  return status;
}

/* ---- jobs ---- */

static void keep_fault(fault *f, uint64_t job, graze_status status, const graze_error *error) {
  pthread_mutex_lock(&f->mutex);
  if (f->error.status == GRAZE_OK || job < f->job) {
    f->job = job;
    f->error = *error;
    f->error.status = status;
  }
  pthread_mutex_unlock(&f->mutex);
}

graze_status gz_check_run_job(graze_check *c, uint64_t number, job_body body, void *item) {
  bool before = gz_silence(true);
  graze_status status = body(c, item);
  gz_silence(before);
  if (status != GRAZE_OK) keep_fault(&c->fault, number, status, graze_last_error(c->context));
  return status;
}

static void run_job(check_jobs *jobs, uint32_t i) {
  graze_check *c = jobs->check;
  if (c->stopped) return;
  gz_check_run_job(c, i, jobs->body, jobs->items[i]);
  uint32_t done = ++jobs->done;
  if (done < jobs->count && pthread_equal(pthread_self(), c->caller)) gz_check_go_on(c, jobs->stage, done, jobs->count);
}

static void run_small(void *argument, uint32_t i) {
  check_jobs *jobs = argument;
  if (!jobs->large[i]) run_job(jobs, i);
}

graze_status gz_check_run_jobs(check_jobs *jobs) {
  graze_check *c = jobs->check;
  if (!gz_check_go_on(c, jobs->stage, 0, jobs->count)) return GRAZE_CANCELLED;
  jobs->large = gz_check_alloc(c, jobs->count, sizeof *jobs->large);
  if (jobs->large == NULL) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < jobs->count; i++) jobs->large[i] = jobs->is_large(jobs->items[i]);
  for (uint32_t i = 0; i < jobs->count; i++) {
    if (jobs->large[i]) run_job(jobs, i);
  }
  gz_parallel_each(c->context, jobs->count, run_small, jobs);
  graze_status status = gz_check_tell_fault(c);
  if (status != GRAZE_OK) return status;
  return gz_check_go_on(c, jobs->stage, jobs->done, jobs->count) ? GRAZE_OK : GRAZE_CANCELLED;
}

graze_status gz_check_tell_fault(const graze_check *c) {
  const graze_error *error = &c->fault.error;
  return error->status == GRAZE_OK ? GRAZE_OK : gz_fail(c->context, error->status, "%s", error->message);
}
