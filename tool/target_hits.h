/* target_hits.h: what particles and rays meet of the objects of a check: the search's beginning, and rows for people
 * and programs. */
#ifndef TOOL_TARGET_HITS_H
#define TOOL_TARGET_HITS_H

#include "graze/graze.h"
#include "output.h"
#include "session.h"

/* Where hits come from and what they are called. */
typedef struct target_hits {
  const graze_report *report;
  const char *one;  /* "particle", "ray" */
  const char *when; /* in JSON: "time", "at" */
  uint64_t asked;   /* particles or rays */
  const graze_target_hit *hits;
  const uint64_t *numbers; /* whose they are; NULL: one for each that was asked, in order */
  uint64_t count;          /* of hits */
} target_hits;

/* The objects of a check without pairs, which `def` is made fit for, as targets. A failure ends the program. */
graze_check *target_hits_open(session *run, graze_check_def *def, graze_targets **targets);

/* How many of those that were asked hit something. */
uint64_t target_hits_found(const target_hits *h);

/* All of a result in one of the formats. CSV has a line for each that was asked, unless hits have numbers. `verb`:
 * "hit" or "touch". */
void target_hits_write(output *out, output_format format, const session *run, const target_hits *h, const char *verb);

#endif
