/* Every pair of a path's objects on every piece of it, or at every configuration, each by itself. */
#include <stdatomic.h>
#include <string.h>

#include "base/context.h"
#include "base/owned.h"
#include "base/parallel.h"
#include "graze/motion.h"
#include "narrow/gap.h"

typedef struct walk walk;
struct walk {
  const graze_context *context;
  const graze_motion_path *path;
  uint32_t places;   /* pieces, or configurations */
  const char *place; /* what they are, in words */
  uint32_t run; /* so many are decided one after the other by the same query, of one pair while it has places left */
  graze_status (*decide)(const walk *w, uint32_t place, uint32_t pair, graze_query *query);
  const void *options;
  void *results;         /* of the first place, all pairs, and so on */
  graze_query **queries; /* a worker's; all made before */
  _Atomic uint64_t failed;
};

/* Silent: the first failure is told in the end. */
static void decide_range(void *argument, uint32_t begin, uint32_t end, uint32_t number) {
  walk *w = argument;
  bool before = gz_silence(true);
  for (uint32_t i = begin; i < end; i++) {
    if (i % w->run == 0) gz_query_forget_nearest(w->queries[number]); /* so that the work does not depend on threads */
    const uint32_t place = i % w->places, pair = i / w->places;
    if (w->decide(w, place, pair, w->queries[number]) != GRAZE_OK)
      note_least(&w->failed, (uint64_t)place * w->path->pair_count + pair);
  }
  gz_silence(before);
}

static graze_status tell_failure(const walk *w, uint32_t result) {
  const uint32_t place = result / w->path->pair_count, pair = result % w->path->pair_count;
  bool before = gz_silence(true);
  graze_status status = w->decide(w, place, pair, w->queries[0]);
  gz_silence(before);
  if (status == GRAZE_OK) status = GRAZE_ERROR_MEMORY; /* there was none when it was first decided */
  return gz_fail(w->context, status, "%s %u, pair %u: %s", w->place, place, pair, graze_status_string(status));
}

static graze_status run(walk *w, graze_context *context, uint32_t count) {
  uint32_t workers = gz_workers(context);
  graze_status status = GRAZE_OK;
  w->queries = gz_new_zeroed(context, workers, sizeof(graze_query *));
  if (w->queries == NULL) return gz_fail_memory(context, workers * sizeof(graze_query *));
  for (uint32_t i = 0; i < workers && status == GRAZE_OK; i++) status = graze_query_create(context, &w->queries[i]);
  if (status == GRAZE_OK) {
    gz_parallel_for(context, count, w->run, decide_range, w);
    uint64_t failed = atomic_load(&w->failed);
    if (failed != UINT64_MAX) status = tell_failure(w, (uint32_t)failed);
  }
  for (uint32_t i = 0; i < workers; i++) graze_query_destroy(w->queries[i]);
  gz_free(w->queries);
  return status;
}

static graze_status run_path(walk *w, graze_context *context) {
  const graze_motion_path *path = w->path;
  const uint64_t count = (uint64_t)w->places * path->pair_count;
  if (count == 0) return GRAZE_OK;
  if (path->meshes == NULL || path->poses == NULL || path->pairs == NULL || w->results == NULL) {
    return gz_fail_null(context);
  }
  if (count >= UINT32_MAX) return gz_fail(context, GRAZE_ERROR_LIMIT, "path: 2^32 results or more");
  for (uint32_t i = 0; i < path->pair_count; i++) {
    if (path->pairs[i][0] < path->object_count && path->pairs[i][1] < path->object_count) continue;
    return gz_fail(context, GRAZE_ERROR_INDEX, "pair %u: object %u and %u of %u", i, path->pairs[i][0],
                   path->pairs[i][1], path->object_count);
  }
  return run(w, context, (uint32_t)count);
}

/* ---- motions ----------------------------------------------------------------------------------------------------- */

static graze_motion_body body_of(const graze_motion_path *path, uint32_t piece, uint32_t object) {
  const graze_pose *start = path->poses + (size_t)piece * path->object_count + object;
  return (graze_motion_body){path->meshes[object], *start, start[path->object_count]};
}

static graze_status decide_motion(const walk *w, uint32_t piece, uint32_t pair, graze_query *query) {
  const graze_motion_path *path = w->path;
  const uint32_t *objects = path->pairs[pair];
  const graze_motion_body a = body_of(path, piece, objects[0]), b = body_of(path, piece, objects[1]);
  graze_motion_options options =
      w->options != NULL ? *(const graze_motion_options *)w->options : graze_default_motion_options();
  double centers[2][3];
  graze_motion_result *results = w->results;
  if (options.cookie == graze_default_motion_options().cookie && options.centers != NULL) {
    for (int i = 0; i < 2; i++) memcpy(centers[i], options.centers[objects[i]], sizeof centers[i]);
    options.centers = (const double(*)[3])centers;
  }
  return graze_motion_meshes(query, &a, &b, &options, &results[(size_t)piece * path->pair_count + pair]);
}

graze_status graze_motion_along(graze_context *context, const graze_motion_path *path,
                                const graze_motion_options *options, graze_motion_result *results) {
  if (context == NULL || path == NULL) return gz_fail_null(context);
  walk w = {.context = context,
            .path = path,
            .places = path->pose_count > 0 ? path->pose_count - 1 : 0,
            .place = "piece",
            .run = 1,
            .decide = decide_motion,
            .options = options,
            .results = results,
            .failed = UINT64_MAX};
  return run_path(&w, context);
}

/* ---- distances --------------------------------------------------------------------------------------------------- */

static graze_status decide_distance(const walk *w, uint32_t place, uint32_t pair, graze_query *query) {
  const graze_motion_path *path = w->path;
  const graze_pose *poses = path->poses + (size_t)place * path->object_count;
  const uint32_t a = path->pairs[pair][0], b = path->pairs[pair][1];
  graze_distance_result *result = (graze_distance_result *)w->results + (size_t)place * path->pair_count + pair;
  return graze_mesh_distance(query, path->meshes[a], &poses[a], path->meshes[b], &poses[b], w->options, result);
}

graze_status graze_distances_along(graze_context *context, const graze_motion_path *path,
                                   const graze_distance_options *options, graze_distance_result *results) {
  if (context == NULL || path == NULL) return gz_fail_null(context);
  graze_distance_options own = options != NULL ? *options : graze_default_distance_options();
  if (own.near_pairs == GRAZE_FIND_ALL) own.near_pairs = GRAZE_FIND_COUNT;
  walk w = {.context = context,
            .path = path,
            .places = path->pose_count,
            .place = "configuration",
            .run = 16,
            .decide = decide_distance,
            .options = &own,
            .results = results,
            .failed = UINT64_MAX};
  return run_path(&w, context);
}
