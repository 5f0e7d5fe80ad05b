/* progress.h: a bar on the terminal, with rate and time left. */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress_line {
  const char *units; /* "pairs of objects" */
  bool shown;
  double start, next;
} progress_line;

/* `quiet`, or stderr no terminal: nothing is shown. */
progress_line progress_begin(const char *units, bool quiet);
void progress_show(progress_line *line, uint64_t done, uint64_t total);

/* Wipes the bar. */
void progress_end(const progress_line *line);

#endif
