/* One line that is written over and over, five times a second. */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "session.h"

progress_line progress_begin(const char *units, bool quiet) {
  return (progress_line){.units = units, .shown = !quiet && isatty(STDERR_FILENO), .start = clock_now()};
}

void progress_show(progress_line *line, uint64_t done, uint64_t total) {
  static const char bar[] = "########################################";
  if (!line->shown) return;
  double now = clock_now();
  if (now < line->next) return;
  double seconds = now - line->start, rate = seconds > 0 ? (double)done / seconds : 0;
  int length = total > 0 ? (int)(40 * done / total) : 40;
  fprintf(stderr, "\r[%-40.*s] %" PRIu64 " of %" PRIu64 " %s", length, bar, done, total, line->units);
  if (seconds > 0.5 && rate > 0) fprintf(stderr, ", %.0f/s, %.0f s left", rate, (double)(total - done) / rate);
  fputs("\033[K", stderr);
  line->next = now + 0.2;
}

void progress_end(const progress_line *line) {
  if (line->next > 0) fputs("\r\033[K", stderr);
}
