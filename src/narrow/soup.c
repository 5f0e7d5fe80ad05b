/* Pairs of a soup; see soup.h. Each worker has a sink of its own. What they count is added up, and what they list is
 * sorted, so that it does not matter who judged what. */
#include "narrow/soup.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "exact/tritri.h"
#include "narrow/adjacent.h"

enum { TASK_PAIRS = 4096, TASK_TRIANGLES = 1024 };

typedef struct soup_worker {
  exact_sink sink;
  adjacent_pairs adjacent;
} soup_worker;

typedef struct judging {
  const graze_context *context;
  const soup *soup;
  const graze_triangle_pair *pairs;
  uint64_t count;
  uint8_t *thin;
  soup_worker *workers;
  adjacent_judge_function *judge;
} judging;

/* Where the normal is too short to tell, the exact test does. */
bool gz_soup_is_thin(const double t[9]) {
  double u[3], w[3], longest = 0;
  for (int k = 0; k < 3; k++) {
    u[k] = t[3 + k] - t[k];
    w[k] = t[6 + k] - t[k];
    longest = fmax(longest, fmax(fabs(u[k]), fabs(w[k])));
  }
  const double bound = 1e-14 * longest * longest; /* of a sum of two products of such differences: 2e-15 */
  for (int k = 0; k < 3 && longest > 1e-100 && longest < 1e100; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    if (fabs(u[i] * w[j] - u[j] * w[i]) > bound) return false;
  }
  graze_tritri with_itself;
  gz_tritri_scalar(t, t, &with_itself);
  return with_itself.degenerate != 0;
}

static const double *corners_of(const soup *s, uint32_t place) {
  return place < s->counts[0] ? s->corners[0] + 9 * (size_t)place : s->corners[1] + 9 * (size_t)(place - s->counts[0]);
}

static void find_thin(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  const judging *j = argument;
  (void)worker;
  for (uint32_t i = begin; i < end; i++) j->thin[i] = gz_soup_is_thin(corners_of(j->soup, i));
}

static void judge_task(const judging *j, soup_worker *w, uint64_t first, uint64_t end) {
  const soup *s = j->soup;
  for (uint64_t i = first; i < end && !w->sink.stop; i++) {
    const uint32_t x = j->pairs[i].a, y = j->pairs[i].b;
    const double *a = corners_of(s, x), *b = corners_of(s, y);
    if (j->thin[x] || j->thin[y]) /* what they share does not matter */
      gz_sink_add(&w->sink, s->numbers[x], s->numbers[y], a, b, SHARES_NONE);
    else
      gz_adjacent_add(&w->adjacent, j->judge, &w->sink, s->numbers[x], s->numbers[y], a, b);
  }
}

static void judge_tasks(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  const judging *j = argument;
  const uint64_t first = (uint64_t)begin * TASK_PAIRS, last = (uint64_t)end * TASK_PAIRS;
  judge_task(j, &j->workers[worker], first, last < j->count ? last : j->count);
}

/* All hits, sorted. */
static graze_status gather(const judging *j, const graze_self_result *found, buffer *hits) {
  const uint64_t count = found->self_pairs;
  if (count > SIZE_MAX / 16 || !gz_buffer_reserve(j->context, hits, 2 * count * sizeof(uint64_t), 0))
    return gz_fail_memory(j->context, 2 * count * sizeof(uint64_t));
  uint64_t *keys = hits->data, used = 0;
  for (uint32_t k = 0; k < gz_workers(j->context); k++) {
    const exact_sink *s = &j->workers[k].sink;
    if (s->key_count > 0) memcpy(keys + used, s->keys.data, s->key_count * sizeof *keys);
    used += s->key_count;
  }
  gz_sort_keys(keys, keys + count, count);
  return GRAZE_OK;
}

static graze_status judge_all(const judging *j, graze_self_result *found, buffer *hits) {
  const uint32_t all = j->soup->counts[0] + j->soup->counts[1];
  bool failed = false;
  gz_parallel_for(j->context, all, TASK_TRIANGLES, find_thin, (void *)(uintptr_t)j);
  gz_parallel_for(j->context, (uint32_t)((j->count + TASK_PAIRS - 1) / TASK_PAIRS), 1, judge_tasks,
                  (void *)(uintptr_t)j);
  for (uint32_t k = 0; k < gz_workers(j->context); k++) {
    soup_worker *w = &j->workers[k];
    gz_adjacent_settle(&w->adjacent, j->judge, &w->sink);
    gz_sink_flush(&w->sink);
    failed |= w->sink.failed;
    const graze_self_result part = sink_self(&w->sink);
    self_add(found, &part);
  }
  if (failed) return gz_fail(j->context, GRAZE_ERROR_MEMORY, "out of memory: triangle pairs that meet");
  return hits != NULL ? gather(j, found, hits) : GRAZE_OK;
}

graze_status gz_soup_judge(graze_context *context, const soup *s, const graze_triangle_pair *pairs, uint64_t count,
                           graze_self_result *found, buffer *hits) {
  const uint32_t workers = gz_workers(context);
  const size_t all = (size_t)s->counts[0] + s->counts[1], bytes = workers * sizeof(soup_worker);
  *found = (graze_self_result){0};
  if (count / TASK_PAIRS >= UINT32_MAX) return gz_fail(context, GRAZE_ERROR_LIMIT, "too many pairs of triangles");
  judging j = {context,
               s,
               pairs,
               count,
               gz_memory_alloc(context, all + 1),
               gz_memory_alloc(context, bytes),
               gz_adjacent_judge_best()};
  graze_status status = j.thin != NULL && j.workers != NULL ? GRAZE_OK : gz_fail_memory(context, all + bytes);
  for (uint32_t k = 0; k < workers && j.workers != NULL; k++) {
    memset(&j.workers[k], 0, sizeof j.workers[k]);
    gz_sink_start(&j.workers[k].sink, context, NULL, NULL, hits != NULL ? GRAZE_FIND_ALL : GRAZE_FIND_COUNT, false,
                  true);
  }
  unsigned saved = gz_fp_enter();
  if (status == GRAZE_OK) status = judge_all(&j, found, hits);
  gz_fp_leave(saved);
  for (uint32_t k = 0; k < workers && j.workers != NULL; k++) gz_sink_release(&j.workers[k].sink);
  gz_memory_release(context, j.workers, bytes);
  gz_memory_release(context, j.thin, all + 1);
  return status;
}
