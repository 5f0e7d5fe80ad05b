/* graze_ccd_batch: queries in order, each by the filter or else exactly. */
#include <float.h>
#include <math.h>
#include <stdatomic.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/owned.h"
#include "base/parallel.h"
#include "exact/ccd.h"
#include "exact/ccd_apart.h"
#include "exact/ccd_filter.h"

enum { QUERIES_PER_TASK = 256 };

typedef struct batch {
  const graze_context *context;
  const graze_ccd_query *queries;
  graze_ccd_result *results;
  uint64_t count;
  double separation;
  ccd_scratch **scratch; /* a worker's, once it needs it */
  apart_scratch **apart; /* likewise */
  _Atomic uint64_t first_bad, first_long;
  _Atomic bool refused; /* memory */
} batch;

static bool is_finite(const graze_ccd_query *query) {
  const double *x = &query->points[0][0][0];
  double sum = 0;
  for (int i = 0; i < 24; i++) sum += x[i] * 0;
  return sum == 0;
}

bool gz_ccd_decide(const graze_context *context, const graze_ccd_query *query, ccd_scratch **scratch,
                   graze_ccd_result *result) {
  *result = (graze_ccd_result){0};
  double time[2];
  ccd_verdict verdict = gz_ccd_filter(query, time);
  if (verdict == CCD_OPEN) {
    if (*scratch == NULL) *scratch = gz_memory_alloc(context, gz_ccd_scratch_size());
    if (*scratch == NULL) return false;
    verdict = gz_ccd_exact(query, *scratch, time) ? CCD_HIT : CCD_APART;
  }
  if (verdict == CCD_HIT) *result = (graze_ccd_result){.earliest = time[0], .latest = time[1], .hit = 1};
  return true;
}

void gz_ccd_release(const graze_context *context, ccd_scratch *scratch) {
  gz_memory_release(context, scratch, gz_ccd_scratch_size());
}

/* With a separation above 0. False: memory was refused. */
static bool decide_apart(batch *work, uint64_t i, apart_scratch **scratch) {
  const graze_ccd_query *query = &work->queries[i];
  double time[2];
  work->results[i] = (graze_ccd_result){0};
  if (gz_ccd_apart_filter(query, work->separation)) return true;
  if (*scratch == NULL) *scratch = gz_memory_alloc(work->context, gz_ccd_apart_scratch_size());
  if (*scratch == NULL) return false;
  bool too_long = false;
  const bool hit = gz_ccd_apart_exact(query, work->separation, *scratch, time, &too_long);
  if (too_long) {
    note_least(&work->first_long, i);
  } else if (hit) {
    work->results[i] = (graze_ccd_result){.earliest = time[0], .latest = time[1], .hit = 1};
  }
  return true;
}

static void decide(batch *work, uint64_t i, uint32_t worker) {
  if (!is_finite(&work->queries[i])) {
    note_least(&work->first_bad, i);
  } else if (work->separation > 0) {
    if (!decide_apart(work, i, &work->apart[worker])) atomic_store(&work->refused, true);
  } else if (!gz_ccd_decide(work->context, &work->queries[i], &work->scratch[worker], &work->results[i])) {
    atomic_store(&work->refused, true);
  }
}

static void decide_range(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  batch *work = argument;
  uint64_t last = (uint64_t)end * QUERIES_PER_TASK;
  if (last > work->count) last = work->count;
  for (uint64_t i = (uint64_t)begin * QUERIES_PER_TASK; i < last; i++) decide(work, i, worker);
}

static graze_status decide_all(batch *work) {
  uint32_t workers = gz_workers(work->context);
  work->scratch = gz_new_zeroed(work->context, workers, sizeof *work->scratch);
  work->apart = gz_new_zeroed(work->context, workers, sizeof *work->apart);
  if (work->scratch == NULL || work->apart == NULL) {
    gz_free(work->scratch);
    gz_free(work->apart);
    return gz_fail_memory(work->context, workers * sizeof *work->scratch);
  }
  gz_parallel_for(work->context, (uint32_t)((work->count + QUERIES_PER_TASK - 1) / QUERIES_PER_TASK), 1, decide_range,
                  work);
  for (uint32_t i = 0; i < workers; i++) {
    gz_ccd_release(work->context, work->scratch[i]);
    gz_memory_release(work->context, work->apart[i], gz_ccd_apart_scratch_size());
  }
  gz_free(work->scratch);
  gz_free(work->apart);
  return atomic_load(&work->refused) ? gz_fail_memory(work->context, gz_ccd_scratch_size()) : GRAZE_OK;
}

graze_status graze_ccd_batch(graze_context *context, uint64_t count, const graze_ccd_query *queries,
                             graze_ccd_result *results) {
  return graze_ccd_batch_apart(context, 0, count, queries, results);
}

graze_status graze_ccd_batch_apart(graze_context *context, double separation, uint64_t count,
                                   const graze_ccd_query *queries, graze_ccd_result *results) {
  if (context == NULL || (count > 0 && (queries == NULL || results == NULL))) return gz_fail_null(context);
  if (count > (uint64_t)QUERIES_PER_TASK * UINT32_MAX) return gz_fail(context, GRAZE_ERROR_LIMIT, "too many queries");
  for (uint64_t i = 0; i < count; i++) {
    if (queries[i].kind <= GRAZE_CCD_EDGE_EDGE) continue;
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "query %llu: its kind is %d", (unsigned long long)i, queries[i].kind);
  }
  if (!(separation >= 0 && separation <= DBL_MAX)) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "the separation is not a finite number of 0 or more");
  }
  batch work = {.context = context,
                .queries = queries,
                .results = results,
                .count = count,
                .separation = separation,
                .first_bad = UINT64_MAX,
                .first_long = UINT64_MAX};
  graze_status status = decide_all(&work);
  uint64_t bad = atomic_load(&work.first_bad), too_long = atomic_load(&work.first_long);
  if (status != GRAZE_OK) return status;
  if (bad != UINT64_MAX)
    return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "query %llu: a coordinate is not finite", (unsigned long long)bad);
  if (too_long == UINT64_MAX) return GRAZE_OK;
  return gz_fail(context, GRAZE_ERROR_LIMIT, "query %llu: coordinates and separation differ too much in size",
                 (unsigned long long)too_long);
}
