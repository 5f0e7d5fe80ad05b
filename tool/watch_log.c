/* What happened in a run: a step after the other, and the events of all of them in one list. */
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "watch.h"

/* Room for one more element of an array whose capacity is the next power of two. */
static void *grow(void *array, uint64_t count, size_t size) {
  if (count & (count - 1)) return array;
  void *larger = realloc(array, (count ? 2 * (size_t)count : 1) * size);
  if (!larger) fail_out_of_memory();
  return larger;
}

void watch_log_add_step(watch_log *log, const graze_scene_update_result *events) {
  log->steps = grow(log->steps, log->step_count, sizeof *log->steps);
  log->steps[log->step_count++] = (watch_step){.hash = events->hash,
                                               .pairs = events->began_count + events->persist_count,
                                               .candidate_pairs = events->candidate_pairs,
                                               .decided_pairs = events->decided_pairs,
                                               .first_event = log->event_count};
}

watch_event *watch_log_add_event(watch_log *log) {
  log->events = grow(log->events, log->event_count, sizeof *log->events);
  return &log->events[log->event_count++];
}

void watch_event_fill(watch_event *event, const graze_scene_event *from, uint8_t change, uint32_t step) {
  *event = (watch_event){
      .step = step, .change = change, .before = from->before, .verdict = from->verdict, .counts = from->counts};
  memcpy(event->time, from->time, sizeof event->time);
}

static void add_list(const graze_scene_event *events, uint64_t count, uint8_t change, uint32_t step, watch_add *add,
                     void *user) {
  for (uint64_t i = 0; i < count; i++) {
    if (change == GRAZE_FILM_CHANGED && events[i].before == events[i].verdict.relation) continue;
    const bool doubtful = change == GRAZE_FILM_PASSED && events[i].passage == GRAZE_MOTION_UNKNOWN;
    add(user, &events[i], doubtful ? WATCH_UNKNOWN : change, step);
  }
}

void watch_each_event(const graze_scene_update_result *events, uint32_t step, watch_add *add, void *user) {
  add_list(events->began, events->began_count, GRAZE_FILM_BEGAN, step, add, user);
  add_list(events->persist, events->persist_count, GRAZE_FILM_CHANGED, step, add, user);
  add_list(events->ended, events->ended_count, GRAZE_FILM_ENDED, step, add, user);
  add_list(events->passed, events->passed_count, GRAZE_FILM_PASSED, step, add, user);
}

bool watch_found(const watch_log *log) {
  for (uint32_t i = 0; i < log->step_count; i++) {
    if (log->steps[i].pairs > 0) return true;
  }
  for (uint64_t i = 0; i < log->event_count; i++) {
    if (log->events[i].change >= GRAZE_FILM_PASSED) return true;
  }
  return false;
}

void watch_log_free(watch_log *log) {
  for (uint32_t i = 0; i < log->name_count; i++) free(log->names[i]);
  free(log->names);
  free(log->events);
  free(log->steps);
  *log = (watch_log){0};
}
