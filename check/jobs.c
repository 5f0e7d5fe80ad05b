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

double gz_check_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void gz_check_add_time(double *total, double start) {
  *total = round((*total + (gz_check_clock() - start)) * 1e9) / 1e9;
}

bool gz_check_go_on(graze_check *c, graze_check_stage stage, uint64_t done, uint64_t total) {
  const graze_check_def *d = &c->def;
  if (d->seconds > 0 && gz_check_clock() - c->start > d->seconds) c->stopped = true;
  if (d->progress != NULL && !d->progress(d->progress_user, stage, done, total)) c->stopped = true;
  return !c->stopped;
}

/* ---- words ---- */

static _Thread_local char *heard; /* where errors of this thread go */

static void route(void *user, graze_log_level level, const char *message) {
  const graze_check *c = user;
  if (heard != NULL && level == GRAZE_LOG_ERROR)
    snprintf(heard, MESSAGE_SIZE, "%s", message);
  else if (c->log != NULL)
    c->log(c->log_user, level, message);
}

void gz_check_listen(char *message) {
  heard = message;
}

void gz_check_enter(graze_check *c) {
  c->caller = pthread_self();
  c->log = c->context->log;
  c->log_user = c->context->log_user;
  c->context->log = route;
  c->context->log_user = c;
}

void gz_check_leave(graze_check *c) {
  c->context->log = c->log;
  c->context->log_user = c->log_user;
}

void gz_check_note(graze_check *c, graze_log_level level, const char *format, ...) {
  char line[MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  route(c, level, line);
}

graze_status gz_check_told(const graze_check *c, graze_status status, const graze_io_error *error) {
  return status == GRAZE_OK ? GRAZE_OK : gz_fail(c->context, status, "%s", error->message);
}

/* ---- jobs ---- */

static void keep_fault(fault *f, uint64_t job, graze_status status, const char *why) {
  pthread_mutex_lock(&f->mutex);
  if (f->status == GRAZE_OK || job < f->job) {
    f->job = job;
    f->status = status;
    snprintf(f->message, sizeof f->message, "%s", *why != '\0' ? why : graze_status_string(status));
  }
  pthread_mutex_unlock(&f->mutex);
}

graze_status gz_check_run_job(graze_check *c, uint64_t number, job_body body, void *item, bool large) {
  char why[MESSAGE_SIZE] = "";
  gz_check_listen(why);
  graze_status status = body(c, item, large, why);
  gz_check_listen(NULL);
  if (status != GRAZE_OK) keep_fault(&c->fault, number, status, why);
  return status;
}

static void run_job(check_jobs *jobs, uint32_t i, bool large) {
  graze_check *c = jobs->check;
  if (c->stopped) return;
  gz_check_run_job(c, i, jobs->body, jobs->items[i], large);
  uint32_t done = ++jobs->done;
  if (done < jobs->count && pthread_equal(pthread_self(), c->caller)) gz_check_go_on(c, jobs->stage, done, jobs->count);
}

static void run_small(void *argument, uint32_t i) {
  check_jobs *jobs = argument;
  if (!jobs->large[i]) run_job(jobs, i, false);
}

graze_status gz_check_run_jobs(check_jobs *jobs) {
  graze_check *c = jobs->check;
  if (!gz_check_go_on(c, jobs->stage, 0, jobs->count)) return GRAZE_CANCELLED;
  jobs->large = gz_check_alloc(c, jobs->count, sizeof *jobs->large);
  if (jobs->large == NULL) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < jobs->count; i++) jobs->large[i] = jobs->is_large(jobs->items[i]);
  for (uint32_t i = 0; i < jobs->count; i++) {
    if (jobs->large[i]) run_job(jobs, i, true);
  }
  gz_parallel_each(c->context, jobs->count, run_small, jobs);
  graze_status status = gz_check_tell_fault(c);
  if (status != GRAZE_OK) return status;
  return gz_check_go_on(c, jobs->stage, jobs->done, jobs->count) ? GRAZE_OK : GRAZE_CANCELLED;
}

graze_status gz_check_tell_fault(graze_check *c) {
  return c->fault.status == GRAZE_OK ? GRAZE_OK : gz_fail(c->context, c->fault.status, "%s", c->fault.message);
}
