/* graze_motion_along: every pair of a path's objects on every piece of it, each by itself. */
#include <stdatomic.h>

#include "base/context.h"
#include "base/owned.h"
#include "base/parallel.h"
#include "graze/motion.h"

typedef struct walk {
  const graze_context *context;
  const graze_motion_path *path;
  const graze_motion_options *options;
  graze_motion_result *results;
  graze_query **queries; /* a worker's; all made before */
  _Atomic uint64_t failed;
} walk;

static graze_motion_body body_of(const graze_motion_path *path, uint32_t piece, uint32_t object) {
  const graze_pose *start = path->poses + (size_t)piece * path->object_count + object;
  return (graze_motion_body){path->meshes[object], *start, start[path->object_count]};
}

static graze_status decide(const walk *w, uint32_t item, graze_query *query) {
  const graze_motion_path *path = w->path;
  const uint32_t piece = item / path->pair_count, *pair = path->pairs[item % path->pair_count];
  const graze_motion_body a = body_of(path, piece, pair[0]), b = body_of(path, piece, pair[1]);
  return graze_motion_meshes(query, &a, &b, w->options, &w->results[item]);
}

/* Silent: the first failure is told in the end. */
static void decide_range(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  walk *w = argument;
  bool before = gz_silence(true);
  for (uint32_t i = begin; i < end; i++) {
    if (decide(w, i, w->queries[worker]) != GRAZE_OK) note_least(&w->failed, i);
  }
  gz_silence(before);
}

static graze_status tell_failure(const walk *w, uint32_t item) {
  bool before = gz_silence(true);
  graze_status status = decide(w, item, w->queries[0]);
  gz_silence(before);
  if (status == GRAZE_OK) status = GRAZE_ERROR_MEMORY; /* there was none when it was first decided */
  return gz_fail(w->context, status, "piece %u, pair %u: %s", item / w->path->pair_count, item % w->path->pair_count,
                 graze_status_string(status));
}

static graze_status run(walk *w, graze_context *context, uint32_t count) {
  uint32_t workers = gz_workers(context);
  graze_status status = GRAZE_OK;
  w->queries = gz_new_zeroed(context, workers, sizeof(graze_query *));
  if (w->queries == NULL) return gz_fail_memory(context, workers * sizeof(graze_query *));
  for (uint32_t i = 0; i < workers && status == GRAZE_OK; i++) status = graze_query_create(context, &w->queries[i]);
  if (status == GRAZE_OK) {
    gz_parallel_for(context, count, 1, decide_range, w);
    uint64_t failed = atomic_load(&w->failed);
    if (failed != UINT64_MAX) status = tell_failure(w, (uint32_t)failed);
  }
  for (uint32_t i = 0; i < workers; i++) graze_query_destroy(w->queries[i]);
  gz_free(w->queries);
  return status;
}

graze_status graze_motion_along(graze_context *context, const graze_motion_path *path,
                                const graze_motion_options *options, graze_motion_result *results) {
  if (context == NULL || path == NULL) return gz_fail_null(context);
  const uint64_t count = (uint64_t)(path->pose_count > 0 ? path->pose_count - 1 : 0) * path->pair_count;
  if (count == 0) return GRAZE_OK;
  if (path->meshes == NULL || path->poses == NULL || path->pairs == NULL || results == NULL) {
    return gz_fail_null(context);
  }
  if (count >= UINT32_MAX) return gz_fail(context, GRAZE_ERROR_LIMIT, "motion: 2^32 results or more");
  for (uint32_t i = 0; i < path->pair_count; i++) {
    if (path->pairs[i][0] < path->object_count && path->pairs[i][1] < path->object_count) continue;
    return gz_fail(context, GRAZE_ERROR_INDEX, "pair %u: object %u and %u of %u", i, path->pairs[i][0],
                   path->pairs[i][1], path->object_count);
  }
  walk w = {.context = context, .path = path, .options = options, .results = results, .failed = UINT64_MAX};
  return run(&w, context, (uint32_t)count);
}
