/* Public triangle tests: checks, blocks, threads; and the choice of the instruction set. */
#include "exact/tritri_batch.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/context.h"
#include "base/cpu.h"
#include "base/parallel.h"
#include "exact/tritri.h"

tritri_block_function *tritri_block_best(void) {
  return CPU_KERNEL(tritri_block);
}

tritri_near_function *tritri_near_best(void) {
  return CPU_KERNEL(tritri_near);
}

tritri_block_function *tritri_plain_best(void) {
  return CPU_KERNEL(tritri_plain);
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
  unsigned saved = fp_enter();
  tritri_scalar(a, b, result);
  fp_leave(saved);
  return GRAZE_OK;
}

graze_status graze_tritri_test_real(const double a[9], const graze_pose *pose_a, const double b[9],
                                    const graze_pose *pose_b, graze_tritri *result) {
  if (a == NULL || b == NULL || pose_a == NULL || pose_b == NULL || result == NULL) return GRAZE_ERROR_ARGUMENT;
  if (!finite_all(a, 9) || !finite_all(b, 9) || !finite_all(pose_a->m, 12) || !finite_all(pose_b->m, 12)) {
    return GRAZE_ERROR_NOT_FINITE;
  }
  unsigned saved = fp_enter();
  tritri_real(a, pose_a, b, pose_b, result);
  fp_leave(saved);
  return GRAZE_OK;
}

typedef struct batch {
  const double *const *a;
  const double *const *b;
  graze_tritri *results;
  uint64_t count;
  tritri_block_function *decide;
  _Atomic uint64_t first_bad; /* lowest pair with a number that is not finite */
} batch;

enum { PAIRS_PER_TASK = 4096 };

static void note_bad(batch *work, uint64_t pair) {
  uint64_t known = atomic_load(&work->first_bad);
  while (pair < known && !atomic_compare_exchange_weak(&work->first_bad, &known, pair)) {
  }
}

/* Copies a block's columns, eight pairs at a time, and asks for those two blocks on: eighteen columns are more streams
 * than the processor follows by itself. */
static void load_block(const batch *work, uint64_t from, unsigned count, tritri_block *block) {
  uint64_t ahead = from + 2 * TRITRI_BLOCK;
  for (unsigned i = 0; i < count; i += 8) {
    unsigned n = count - i < 8 ? count - i : 8;
    bool more = ahead + i < work->count;
    for (int k = 0; k < 9; k++) {
      if (more) {
        __builtin_prefetch(work->a[k] + ahead + i);
        __builtin_prefetch(work->b[k] + ahead + i);
      }
      if (n == 8) {
        memcpy(block->a[k] + i, work->a[k] + from + i, 8 * sizeof(double));
        memcpy(block->b[k] + i, work->b[k] + from + i, 8 * sizeof(double));
        continue;
      }
      for (unsigned j = 0; j < 8; j++) {
        block->a[k][i + j] = j < n ? work->a[k][from + i + j] : 0;
        block->b[k][i + j] = j < n ? work->b[k][from + i + j] : 0;
      }
    }
  }
}

static void run_block(batch *work, uint64_t from, unsigned count) {
  tritri_block block;
  uint8_t codes[TRITRI_BLOCK];
  if (count == 0) return;
  load_block(work, from, count, &block);
  work->decide(&block, count, false, codes);
  for (unsigned i = 0; i < count; i++) {
    if (codes[i] == TRITRI_NOT_FINITE) note_bad(work, from + i);
    work->results[from + i] = tritri_from_code(codes[i]);
  }
}

static void run_task(void *argument, uint32_t index) {
  batch *work = argument;
  uint64_t from = (uint64_t)index * PAIRS_PER_TASK;
  uint64_t end = from + PAIRS_PER_TASK < work->count ? from + PAIRS_PER_TASK : work->count;
  for (; from < end; from += TRITRI_BLOCK) {
    run_block(work, from, end - from < TRITRI_BLOCK ? (unsigned)(end - from) : TRITRI_BLOCK);
  }
}

graze_status graze_tritri_batch(graze_context *context, uint64_t count, const double *const a[9],
                                const double *const b[9], graze_tritri *results) {
  if (context == NULL || (count > 0 && (a == NULL || b == NULL || results == NULL))) return GRAZE_ERROR_ARGUMENT;
  if (count > (uint64_t)PAIRS_PER_TASK * UINT32_MAX) return report(context, GRAZE_ERROR_LIMIT, "too many pairs");
  for (int k = 0; k < 9 && count > 0; k++) {
    if (a[k] == NULL || b[k] == NULL) return GRAZE_ERROR_ARGUMENT;
  }
  batch work = {a, b, results, count, tritri_block_best(), UINT64_MAX};
  parallel_for(context, (uint32_t)((count + PAIRS_PER_TASK - 1) / PAIRS_PER_TASK), run_task, &work);
  uint64_t bad = atomic_load(&work.first_bad);
  if (bad == UINT64_MAX) return GRAZE_OK;
  return report(context, GRAZE_ERROR_NOT_FINITE, "triangle pair %llu: a coordinate is not finite",
                (unsigned long long)bad);
}
