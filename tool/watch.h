/* watch.h: the parts of `graze watch`: what was asked, the run, what happened in it, and what is made of that. */
#ifndef TOOL_WATCH_H
#define TOOL_WATCH_H

#include "output.h"
#include "rules.h"
#include "scene_options.h"
#include "session.h"

typedef struct watch_options {
  common_options common;
  rule_options rules;
  graze_check_def def; /* files, folder and the like */
  const char *motion;  /* NULL: none was given */
  const char *replay;  /* NULL: the run is made of files */
  const char *record;  /* NULL: none is written */
  uint32_t pictures;   /* frames to paint */
  bool pictures_given; /* --pictures was there */
  graze_find find;
  graze_motion_model continuous;
  double bracket; /* 0: the usual */
} watch_options;

/* What became of a pair, as the film has it; and of one that is in doubt. */
enum { WATCH_UNKNOWN = GRAZE_FILM_PASSED + 1, WATCH_CHANGES };

/* An event that is told: a pair that persists is one only when its relation changed. */
typedef struct watch_event {
  uint32_t step;
  uint8_t change; /* graze_film_change, or WATCH_UNKNOWN */
  uint32_t a, b;  /* numbers of names */
  graze_relation before;
  graze_verdict verdict;
  uint32_t doubt_name;
  graze_counts counts;
  graze_gap gap;
  double time[2];     /* within the step, in a continuous run */
  double distance[2]; /* unknown: bounds of the least in that time */
  double approach;    /* passed or unknown: 0: by meeting; else the clearance that was not kept */
} watch_event;

/* The relation that an event tells of: between two steps, that a clearance was not kept. */
static inline graze_relation watch_relation(const watch_event *event) {
  return event->approach > 0 ? GRAZE_CLEARANCE : event->verdict.relation;
}

typedef struct watch_step {
  uint64_t hash, pairs; /* that take part */
  uint64_t candidate_pairs, decided_pairs;
  uint64_t first_event; /* its events go on to those of the next step */
} watch_step;

/* The smallest gap of two objects in the run, of the steps at which they were nearer than their clearance. */
typedef struct watch_gap {
  uint32_t a, b; /* numbers of names */
  uint32_t step; /* the first that has it */
  graze_gap gap;
} watch_gap;

typedef struct watch_log {
  char **names; /* of objects */
  uint32_t name_count;
  uint64_t objects, triangles; /* in the scene at the end */
  watch_event *events;
  uint64_t event_count;
  watch_step *steps;
  uint32_t step_count; /* done */
  uint32_t wanted;     /* to be done, with step 0; when it is not known beforehand, those that were done */
  bool complete;
  graze_motion_model continuous;
  bool clear;      /* clearances were to be kept */
  watch_gap *gaps; /* by the order in which pairs had their first */
  uint32_t gap_count;
  void *gap_tree; /* of the same, to find them by */
  bool differs;   /* a replay: the answers are not those in the file, from this step on */
  uint32_t differs_at;
} watch_log;

/* The numbers of the names of an event's objects. */
typedef void watch_name(void *user, const graze_scene_event *event, uint32_t names[2]);

/* A step that was done, with its events and gaps: of pairs that persist, only those whose relation changed are events.
 */
void watch_log_add_step(watch_log *log, const graze_scene_update_result *events, watch_name *name, void *user);
/* The smallest of all, or NULL. */
const watch_gap *watch_smallest_gap(const watch_log *log);
void watch_log_free(watch_log *log);

/* Whether some pair took part in some step, or may have between two. */
bool watch_found(const watch_log *log);

/* watch_replay.c: runs the record again; faults of the file end the program. */
void watch_replay(session *run, const watch_options *watch, watch_log *log);

/* watch_print.c: the list of events on stdout. */
void watch_print(output *out, const watch_options *watch, const session *run, const watch_log *log);

/* watch_film.c: the folder of --report. */
void watch_write_film(const watch_options *watch, const session *run, graze_check *check, const graze_motion *motion,
                      const watch_log *log);

#endif
