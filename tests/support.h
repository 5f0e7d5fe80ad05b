/* tests/support.h: what several tests need: contexts that remember their last message, an allocator that fails on
 * request, meshes from corner lists, the shared data. */
#ifndef GRAZE_TESTS_SUPPORT_H
#define GRAZE_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
/* cmocka.h needs those before it. */
// clang-format off
#include <cmocka.h>
// clang-format on

#include "graze/graze.h"

/* True with GRAZE_TEST_LONG=1 in the environment: as many random cases as one has patience for. */
bool test_long(void);

/* True with a sanitizer, under which a test takes ten times as long, and in a form with instructions switched off,
 * which is one of several: a test may then leave out some of a fixed row of cases. Not with GRAZE_TEST_LONG=1 or
 * GRAZE_TEST_WHOLE=1. */
bool test_thinned(void);

/* How many random cases: `most` then; else `usual`, or an eighth of it with sanitizers. A form of the test with
 * instructions switched off (GRAZE_DISABLE) has a quarter, unless GRAZE_TEST_WHOLE=1: every form has other cases. */
int test_rounds(int usual, int most);

/* GRAZE_TEST_CASES in the environment is a pattern: of every program, only test functions with such names run. */

/* Where random cases begin: another place for every `number` and in every run, so that few cases a run are many in the
 * end. The first call prints what repeats the run: GRAZE_TEST_SEED in the environment. */
uint64_t test_seed(uint64_t number);

/* Seconds of a monotonic clock. */
double test_clock(void);

/* Keeps the last error line. */
typedef struct test_log {
  int errors;
  char last[1024];
} test_log;

void test_log_write(void *user, graze_log_level level, const char *message);

/* `log` may be NULL. Fails the test when no context can be made. */
graze_context *test_context(int threads, test_log *log);

/* A context that all who ask for so many threads (0: all) share; it lasts as long as the program. */
graze_context *shared_context(int threads);

/* The calling thread's last failure with one of those. */
const graze_error *shared_error(void);

/* An allocator that counts, and refuses the request number `fail_at` and all later ones (0: never). Usable from many
 * threads. */
typedef struct test_allocator {
  uint64_t requests;
  uint64_t fail_at;
  int64_t live_blocks;
  int64_t live_bytes;
  int64_t misaligned; /* requests with a bad alignment or size; released with another size */
} test_allocator;

graze_allocator test_allocator_hooks(test_allocator *allocator);

/* Calls `use` in a context of one thread whose first request is refused with all later ones, then in one whose second
 * is, and so on until it gets all it asks for, within `most` calls. Each has to end in GRAZE_ERROR_MEMORY and to leave
 * nothing behind. Every third request, when thinned. */
void test_refuse_each(graze_status use(graze_context *context), uint64_t most);

/* A mesh of doubles from 9 numbers a triangle, as a soup. Fails the test on error. */
graze_mesh *test_mesh(graze_context *context, const double *corners, uint32_t count, graze_volumes volumes);

graze_pose test_translation(double x, double y, double z);

/* A rotation and a shift of at most `reach` per axis. */
graze_pose test_random_pose(uint64_t *state, double reach);

/* Checks that two sorted lists are the same bytes. */
void test_assert_pairs(const graze_triangle_pair *got, const graze_triangle_pair *want, uint64_t count);

/* Checks counts and hash. */
void test_assert_counts(const graze_counts *got, const graze_counts *want);
void test_assert_self(const graze_self_result *got, const graze_self_result *want);

/* The folder of shared data: $GRAZE_SHARED, else ../shared next to the sources; NULL when there is none. */
const char *test_shared(void);

/* Opens shared/data/NAME for reading; a name that ends in .xz goes through the program xz. Close with
 * test_close_data, which fails the test when xz failed. */
FILE *test_open_data(const char *name);
void test_close_data(FILE *file, const char *name);

/* All that is left of a stream, and a whole file; with a 0 behind it. free() it. */
char *test_read_all(FILE *file, size_t *size);
char *test_read_file(const char *path, size_t *size);

/* Splits a CSV line in place; returns the number of fields, at most `limit`. */
int test_split(char *line, char **fields, int limit);

#endif
