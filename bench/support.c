/* bench/support.c: memory that does not fail quietly, statistics, what the machine and the build are. */
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_commit.h"

void fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fprintf(stderr, "graze-bench: ");
  vfprintf(stderr, format, list);
  fprintf(stderr, "\n");
  va_end(list);
  exit(3);
}

void *must_alloc(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size ? size : 1);
  if (!memory) fail("out of memory (%zu times %zu bytes)", count, size);
  return memory;
}

void *must_grow(void *memory, size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) fail("out of memory");
  void *grown = realloc(memory, count * size > 0 ? count * size : 1);
  if (!grown) fail("out of memory (%zu times %zu bytes)", count, size);
  return grown;
}

char *text_of(const char *format, ...) {
  char *text = NULL;
  va_list list;
  va_start(list, format);
  int length = vasprintf(&text, format, list);
  va_end(list);
  if (length < 0) fail("out of memory");
  return text;
}

void must(graze_status status, const char *what) {
  if (status != GRAZE_OK) fail("%s: %s", what, graze_status_string(status));
}

double draw_signed(uint64_t *state) {
  *state += UINT64_C(0x9E3779B97F4A7C15);
  return (double)(splitmix64(*state) >> 11) * 0x1p-52 - 1;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double median_of(const double *values, size_t n) {
  if (!n) return 0;
  double *sorted = must_alloc(n, sizeof *sorted);
  memcpy(sorted, values, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, by_value);
  double median = n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
  free(sorted);
  return median;
}

double least_of(const double *values, size_t n) {
  double least = n ? values[0] : 0;
  for (size_t i = 1; i < n; i++) least = values[i] < least ? values[i] : least;
  return least;
}

double most_of(const double *values, size_t n) {
  double most = n ? values[0] : 0;
  for (size_t i = 1; i < n; i++) most = values[i] > most ? values[i] : most;
  return most;
}

double geometric_mean(const double *values, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += log(values[i]);
  return n ? exp(sum / (double)n) : 0;
}

const char *machine_cpu(void) {
  static char model[128] = "";
  char line[256];
  FILE *f = model[0] ? NULL : fopen("/proc/cpuinfo", "r");
  while (f && fgets(line, sizeof line, f)) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) || !colon) continue;
    snprintf(model, sizeof model, "%s", colon + 2);
    model[strcspn(model, "\n")] = 0;
    break;
  }
  if (f) fclose(f);
  for (char *c = model; *c; c++) *c = *c == ',' || *c == '"' ? ' ' : *c;
  return model[0] ? model : "unknown";
}

const char *build_compiler(void) {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "gcc " __VERSION__;
#else
  return "unknown";
#endif
}

const char *build_commit(void) {
  return BENCH_COMMIT;
}

void pin_to_core(int core) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set)) return;
  for (int i = CPU_SETSIZE - 1; core < 0 && i >= 0; i--)
    if (CPU_ISSET(i, &set)) core = i;
  CPU_ZERO(&set);
  CPU_SET(core < 0 ? 0 : core, &set);
  if (sched_setaffinity(0, sizeof set, &set)) fprintf(stderr, "graze-bench: cannot pin to core %d\n", core);
}
