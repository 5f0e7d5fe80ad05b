/* Public triangle tests: checks, blocks, threads; and the choice of the instruction set. */
#include "exact/tritri_batch.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/context.h"
#include "base/cpu.h"
#include "base/parallel.h"
#include "exact/tritri.h"

tritri_block_function *gz_tritri_block_best(void) {
  return CPU_KERNEL(gz_tritri_block);
}

tritri_columns_function *gz_tritri_columns_best(void) {
  return CPU_KERNEL(gz_tritri_columns);
}

tritri_near_function *gz_tritri_near_best(void) {
  return CPU_KERNEL(gz_tritri_near);
}

tritri_images_function *gz_tritri_images_best(void) {
  return CPU_KERNEL(gz_tritri_images);
}

tritri_block_function *gz_tritri_plain_best(void) {
  return CPU_KERNEL(gz_tritri_plain);
}

static bool finite_all(const double *x, int count) {
  /* 0 * x is NaN exactly for NaN and infinities. */
  double sum = 0;
  for (int k = 0; k < count; k++) sum += 0 * x[k];
  return sum == 0;
}

graze_status graze_tritri_test(const double a[9], const double b[9], graze_tritri *result) {
  if (a == NULL || b == NULL || result == NULL) return GRAZE_ERROR_ARGUMENT;
  if (!finite_all(a, 9) || !finite_all(b, 9)) return GRAZE_ERROR_NOT_FINITE;
  unsigned saved = gz_fp_enter();
  gz_tritri_scalar(a, b, result);
  gz_fp_leave(saved);
  return GRAZE_OK;
}

graze_status graze_tritri_test_real(const double a[9], const graze_pose *pose_a, const double b[9],
                                    const graze_pose *pose_b, graze_tritri *result) {
  if (a == NULL || b == NULL || pose_a == NULL || pose_b == NULL || result == NULL) return GRAZE_ERROR_ARGUMENT;
  if (!finite_all(a, 9) || !finite_all(b, 9) || !finite_all(pose_a->m, 12) || !finite_all(pose_b->m, 12)) {
    return GRAZE_ERROR_NOT_FINITE;
  }
  unsigned saved = gz_fp_enter();
  gz_tritri_real(a, pose_a, b, pose_b, result);
  gz_fp_leave(saved);
  return GRAZE_OK;
}

typedef struct batch {
  const double *const *a;
  const double *const *b;
  graze_tritri *results;
  uint64_t count;
  tritri_columns_function *decide;
  tritri_block_function *decide_last;
  _Atomic uint64_t first_bad; /* lowest pair with a number that is not finite */
} batch;

enum { PAIRS_PER_TASK = 4096 };

/* The result of each code, and a byte to fill up four. */
#define RESULT(code) \
  { (code) & 3, (code) >> 2 & 1, (code) >> 3, 0 }
#define RESULTS(code) RESULT(code), RESULT((code) + 1), RESULT((code) + 2), RESULT((code) + 3)
static const uint8_t results_of[32][4] = {RESULTS(0),  RESULTS(4),  RESULTS(8),  RESULTS(12),
                                          RESULTS(16), RESULTS(20), RESULTS(24), RESULTS(28)};
_Static_assert(sizeof(graze_tritri) == 3, "three bytes a result");

/* Four bytes are written faster than three: the fourth is the next result's first, which comes after it. */
static void write_results(const uint8_t *codes, unsigned count, graze_tritri *results) {
  for (unsigned i = 0; i + 1 < count; i++) memcpy((uint8_t *)results + 3 * i, results_of[codes[i] & 31], 4);
  results[count - 1] = tritri_from_code(codes[count - 1]);
}

/* Fewer pairs than a block holds: nothing behind the columns' ends may be read. */
static void decide_last(const batch *work, uint64_t from, unsigned count, uint8_t *codes) {
  tritri_block block;
  for (int k = 0; k < 9; k++) {
    memset(block.a[k], 0, sizeof block.a[k]);
    memset(block.b[k], 0, sizeof block.b[k]);
    memcpy(block.a[k], work->a[k] + from, count * sizeof(double));
    memcpy(block.b[k], work->b[k] + from, count * sizeof(double));
  }
  work->decide_last(&block, count, false, codes);
}

static void run_block(batch *work, uint64_t from, unsigned count, tritri_trend *trend) {
  enum { AHEAD = 2 * TRITRI_BLOCK };
  uint8_t codes[TRITRI_BLOCK], all = 0;
  if (count == TRITRI_BLOCK) {
    work->decide(work->a, work->b, from, work->count - from >= AHEAD + TRITRI_BLOCK ? AHEAD : 0, trend, codes);
  } else {
    decide_last(work, from, count, codes);
  }
  write_results(codes, count, work->results + from);
  for (unsigned i = 0; i < count; i++) all |= codes[i];
  if ((all & TRITRI_NOT_FINITE) == 0) return;
  for (unsigned i = 0; i < count; i++) {
    if (codes[i] == TRITRI_NOT_FINITE) note_least(&work->first_bad, from + i);
  }
}

static void run_task(void *argument, uint32_t index) {
  batch *work = argument;
  tritri_trend trend = {false, false};
  uint64_t from = (uint64_t)index * PAIRS_PER_TASK;
  uint64_t end = from + PAIRS_PER_TASK < work->count ? from + PAIRS_PER_TASK : work->count;
  for (; from < end; from += TRITRI_BLOCK) {
    run_block(work, from, end - from < TRITRI_BLOCK ? (unsigned)(end - from) : TRITRI_BLOCK, &trend);
  }
}

graze_status graze_tritri_batch(graze_context *context, uint64_t count, const double *const a[9],
                                const double *const b[9], graze_tritri *results) {
  if (context == NULL || (count > 0 && (a == NULL || b == NULL || results == NULL))) return gz_fail_null(context);
  if (count > (uint64_t)PAIRS_PER_TASK * UINT32_MAX) return gz_fail(context, GRAZE_ERROR_LIMIT, "too many pairs");
  for (int k = 0; k < 9 && count > 0; k++) {
    if (a[k] == NULL || b[k] == NULL) return gz_fail_null(context);
  }
  graze_tritri_question question = {count, a, b, results};
  if (gz_engine_ask(context, GRAZE_STAGE_TRITRI, count, 0, &question)) {
    gz_engine_give(context);
    return GRAZE_OK;
  }
  batch work = {a, b, results, count, gz_tritri_columns_best(), gz_tritri_block_best(), UINT64_MAX};
  gz_parallel_each(context, (uint32_t)((count + PAIRS_PER_TASK - 1) / PAIRS_PER_TASK), run_task, &work);
  uint64_t bad = atomic_load(&work.first_bad);
  if (bad == UINT64_MAX) return GRAZE_OK;
  return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "triangle pair %llu: a coordinate is not finite",
                 (unsigned long long)bad);
}
