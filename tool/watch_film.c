/* The film of a run, from its log. */
#include <stdlib.h>

#include "diagnostics.h"
#include "watch.h"

static graze_film_event *take_events(const watch_log *log) {
  graze_film_event *events = malloc((log->event_count + 1) * sizeof *events);
  if (!events) fail_out_of_memory();
  for (uint64_t i = 0; i < log->event_count; i++) {
    const watch_event *from = &log->events[i];
    events[i] = (graze_film_event){.step = from->step,
                                   .change = from->change < GRAZE_FILM_PASSED ? from->change : GRAZE_FILM_PASSED,
                                   .a = from->a,
                                   .b = from->b,
                                   .before = from->before,
                                   .relation = watch_relation(from),
                                   .time = from->time[0]};
  }
  return events;
}

/* The head of the check's report fits a film too. With a fixed time nothing takes time. */
static graze_report report_of(const graze_check *check, const session *run, const watch_log *log) {
  const char *fixed = getenv("SOURCE_DATE_EPOCH");
  graze_report report = *graze_check_report(check);
  report.complete = log->complete;
  report.engine = session_engine(run);
  if (fixed && *fixed) return report;
  report.load_seconds = run->load_seconds;
  report.build_seconds = run->build_seconds;
  report.query_seconds = run->query_seconds;
  return report;
}

void watch_write_film(const watch_options *watch, const session *run, graze_check *check, const graze_motion *motion,
                      const watch_log *log) {
  double start = clock_now();
  const graze_report report = report_of(check, run, log);
  graze_film_event *events = take_events(log);
  const graze_film film = {.report = &report,
                           .step_count = log->step_count,
                           .moves = motion->moves,
                           .move_count = motion->count,
                           .events = events,
                           .event_count = log->event_count};
  must(run->context, graze_check_write_film(check, &film, watch->pictures));
  if (log->step_count > 0) note("film: %s/index.html", watch->def.folder);
  if (log->step_count > 0) note("written in %.1f s", clock_now() - start);
  free(events);
}
