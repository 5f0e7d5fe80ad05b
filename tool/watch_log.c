/* What happened in a run: a step after the other, and the events of all of them in one list. */
#include <search.h>
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

/* ---- events ---- */

static void add_event(watch_log *log, const graze_scene_event *from, uint8_t change, const uint32_t names[2]) {
  log->events = grow(log->events, log->event_count, sizeof *log->events);
  watch_event *event = &log->events[log->event_count++];
  *event = (watch_event){.step = log->step_count - 1,
                         .change = change,
                         .a = names[0],
                         .b = names[1],
                         .before = from->before,
                         .verdict = from->verdict,
                         .doubt_name = names[from->verdict.doubt_mesh != 0],
                         .counts = from->counts,
                         .gap = from->gap,
                         .approach = change >= GRAZE_FILM_PASSED ? from->approach : 0};
  memcpy(event->time, from->time, sizeof event->time);
  memcpy(event->distance, from->distance, sizeof event->distance);
}

/* ---- gaps ---- */

/* An entry of the tree: a pair, and the number of its gap. */
typedef struct gap_entry {
  uint32_t names[2], number;
} gap_entry;

static int compare_entries(const void *p, const void *q) {
  const gap_entry *x = p, *y = q;
  if (x->names[0] != y->names[0]) return x->names[0] < y->names[0] ? -1 : 1;
  return (x->names[1] > y->names[1]) - (x->names[1] < y->names[1]);
}

/* Where the gap of the two is kept; a new one has no gap yet. */
static watch_gap *gap_of(watch_log *log, const uint32_t names[2]) {
  const gap_entry wanted = {{names[0], names[1]}, log->gap_count};
  gap_entry **found = tfind(&wanted, &log->gap_tree, compare_entries);
  if (found) return &log->gaps[(*found)->number];
  gap_entry *entry = malloc(sizeof *entry);
  if (entry) *entry = wanted;
  if (!entry || !tsearch(entry, &log->gap_tree, compare_entries)) fail_out_of_memory();
  log->gaps = grow(log->gaps, log->gap_count, sizeof *log->gaps);
  log->gaps[log->gap_count] = (watch_gap){.a = names[0], .b = names[1]};
  return &log->gaps[log->gap_count++];
}

static void note_gap(watch_log *log, const graze_gap *gap, const uint32_t names[2]) {
  watch_gap *smallest = gap_of(log, names);
  if (smallest->gap.found && smallest->gap.distance <= gap->distance) return;
  smallest->step = log->step_count - 1;
  smallest->gap = *gap;
}

const watch_gap *watch_smallest_gap(const watch_log *log) {
  const watch_gap *smallest = NULL;
  for (uint32_t i = 0; i < log->gap_count; i++) {
    const watch_gap *one = &log->gaps[i];
    if (!smallest || one->gap.distance < smallest->gap.distance ||
        (one->gap.distance == smallest->gap.distance && one->step < smallest->step))
      smallest = one;
  }
  return smallest;
}

/* ---- steps ---- */

typedef struct naming {
  watch_name *name;
  void *user;
} naming;

static void add_list(watch_log *log, const graze_scene_event *events, uint64_t count, uint8_t change, const naming *n) {
  for (uint64_t i = 0; i < count; i++) {
    const graze_scene_event *event = &events[i];
    const bool same = change == GRAZE_FILM_CHANGED && event->before == event->verdict.relation;
    const bool doubtful = change == GRAZE_FILM_PASSED && event->passage == GRAZE_MOTION_UNKNOWN;
    uint32_t names[2];
    if (same && !event->gap.found) continue;
    n->name(n->user, event, names);
    if (event->gap.found) note_gap(log, &event->gap, names);
    if (!same) add_event(log, event, doubtful ? WATCH_UNKNOWN : change, names);
  }
}

void watch_log_add_step(watch_log *log, const graze_scene_update_result *events, watch_name *name, void *user) {
  const naming n = {name, user};
  log->steps = grow(log->steps, log->step_count, sizeof *log->steps);
  log->steps[log->step_count++] = (watch_step){.hash = events->hash,
                                               .pairs = events->began_count + events->persist_count,
                                               .candidate_pairs = events->candidate_pairs,
                                               .decided_pairs = events->decided_pairs,
                                               .first_event = log->event_count};
  add_list(log, events->began, events->began_count, GRAZE_FILM_BEGAN, &n);
  add_list(log, events->persist, events->persist_count, GRAZE_FILM_CHANGED, &n);
  add_list(log, events->ended, events->ended_count, GRAZE_FILM_ENDED, &n);
  add_list(log, events->passed, events->passed_count, GRAZE_FILM_PASSED, &n);
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
  free(log->gaps);
  tdestroy(log->gap_tree, free);
  *log = (watch_log){0};
}
