/* Every pair of a path's objects on every piece of it, or at every configuration, each by itself; and when pairs first
 * meet on the whole path. */
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
  uint32_t first, places; /* pieces, or configurations */
  const char *place;      /* what they are, in words */
  const uint32_t *pairs;  /* which are decided; NULL: all */
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
    const uint32_t place = w->first + i % w->places, nth = i / w->places;
    const uint32_t pair = w->pairs != NULL ? w->pairs[nth] : nth;
    if (w->decide(w, place, pair, w->queries[number]) != GRAZE_OK)
      note_least(&w->failed, (uint64_t)place * w->path->pair_count + pair);
  }
  gz_silence(before);
}

static graze_status tell_failure(const walk *w, uint64_t result) {
  const uint32_t place = (uint32_t)(result / w->path->pair_count), pair = (uint32_t)(result % w->path->pair_count);
  bool before = gz_silence(true);
  graze_status status = w->decide(w, place, pair, w->queries[0]);
  gz_silence(before);
  if (status == GRAZE_OK) status = GRAZE_ERROR_MEMORY; /* there was none when it was first decided */
  return gz_fail(w->context, status, "%s %u, pair %u: %s", w->place, place, pair, graze_status_string(status));
}

static graze_status open_queries(walk *w, graze_context *context) {
  const uint32_t workers = gz_workers(context);
  graze_status status = GRAZE_OK;
  w->queries = gz_new_zeroed(context, workers, sizeof(graze_query *));
  if (w->queries == NULL) return gz_fail_memory(context, workers * sizeof(graze_query *));
  for (uint32_t i = 0; i < workers && status == GRAZE_OK; i++) status = graze_query_create(context, &w->queries[i]);
  return status;
}

static void close_queries(walk *w, graze_context *context) {
  for (uint32_t i = 0; w->queries != NULL && i < gz_workers(context); i++) graze_query_destroy(w->queries[i]);
  gz_free(w->queries);
}

static graze_status decide_all(walk *w, graze_context *context, uint32_t count) {
  gz_parallel_for(context, count, w->run, decide_range, w);
  const uint64_t failed = atomic_load(&w->failed);
  return failed != UINT64_MAX ? tell_failure(w, failed) : GRAZE_OK;
}

static graze_status check_path(const graze_context *context, const graze_motion_path *path, uint32_t places) {
  if (path->meshes == NULL || path->poses == NULL || path->pairs == NULL) return gz_fail_null(context);
  if ((uint64_t)places * path->pair_count >= UINT32_MAX)
    return gz_fail(context, GRAZE_ERROR_LIMIT, "path: 2^32 results or more");
  for (uint32_t i = 0; i < path->pair_count; i++) {
    if (path->pairs[i][0] < path->object_count && path->pairs[i][1] < path->object_count) continue;
    return gz_fail(context, GRAZE_ERROR_INDEX, "pair %u: object %u and %u of %u", i, path->pairs[i][0],
                   path->pairs[i][1], path->object_count);
  }
  return GRAZE_OK;
}

static graze_status run_path(walk *w, graze_context *context) {
  if (w->places == 0 || w->path->pair_count == 0) return GRAZE_OK;
  if (w->results == NULL) return gz_fail_null(context);
  graze_status status = check_path(context, w->path, w->places);
  if (status == GRAZE_OK) status = open_queries(w, context);
  if (status == GRAZE_OK) status = decide_all(w, context, w->places * w->path->pair_count);
  close_queries(w, context);
  return status;
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
  return graze_motion_meshes(query, &a, &b, &options, &results[(size_t)(piece - w->first) * path->pair_count + pair]);
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

/* ---- the first contact ------------------------------------------------------------------------------------------- */

enum { MOST_PIECES = 64, GROUP = 1 << 14 }; /* pieces of a pair, and all results, that are decided at a time */

static bool is_before(graze_motion_moment a, graze_motion_moment b) {
  return a.piece != b.piece ? a.piece < b.piece : a.time < b.time;
}

/* What the next piece adds to what is known of a pair that has not met yet. */
static void go_on(graze_motion_first *known, uint32_t piece, const graze_motion_result *r) {
  if (r->verdict == GRAZE_MOTION_FREE) return;
  if (known->verdict == GRAZE_MOTION_FREE) {
    known->earliest = (graze_motion_moment){piece, r->earliest};
    memcpy(known->distance, r->distance, sizeof known->distance);
  }
  known->latest = (graze_motion_moment){piece, r->latest};
  known->verdict = r->verdict;
  if (r->verdict == GRAZE_MOTION_HIT) memset(known->distance, 0, sizeof known->distance);
}

/* Of two pairs: whose contact is certain first, or else in doubt first. */
static bool leads(const graze_motion_first *x, const graze_motion_first *y) {
  static const int rank[] = {[GRAZE_MOTION_FREE] = 0, [GRAZE_MOTION_UNKNOWN] = 1, [GRAZE_MOTION_HIT] = 2};
  if (x->verdict != y->verdict) return rank[x->verdict] > rank[y->verdict];
  if (x->verdict != GRAZE_MOTION_HIT) return is_before(x->earliest, y->earliest);
  return is_before(x->latest, y->latest) || (!is_before(y->latest, x->latest) && is_before(x->earliest, y->earliest));
}

static graze_motion_first first_of(const graze_motion_first *pairs, uint32_t count, graze_motion_moment end) {
  graze_motion_first all = {.earliest = end, .latest = end};
  for (uint32_t i = 0; i < count; i++) {
    const graze_motion_first before = all, *one = &pairs[i];
    if (leads(one, &before)) all = *one;
    all.earliest = is_before(one->earliest, before.earliest) ? one->earliest : before.earliest;
    if (one->verdict == GRAZE_MOTION_UNKNOWN && before.verdict == GRAZE_MOTION_UNKNOWN)
      all.latest = is_before(before.latest, one->latest) ? one->latest : before.latest;
    all.decided = before.decided + one->decided;
    all.work = before.work;
    work_add(&all.work, &one->work);
  }
  return all;
}

/* The pairs that have not met yet, of which the next pieces are decided. */
typedef struct pursuit_of_pairs {
  walk w;
  graze_motion_first *known; /* of each pair */
  uint32_t *left, left_count;
  bool met; /* one of them */
} pursuit_of_pairs;

static void take_results(pursuit_of_pairs *p) {
  const graze_motion_result *results = p->w.results;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < p->left_count; i++) {
    const uint32_t pair = p->left[i];
    graze_motion_first *known = &p->known[pair];
    for (uint32_t piece = 0; piece < p->w.places; piece++) {
      const graze_motion_result *r = &results[(size_t)piece * p->w.path->pair_count + pair];
      known->decided++;
      work_add(&known->work, &r->work);
      if (known->verdict != GRAZE_MOTION_HIT) go_on(known, p->w.first + piece, r);
    }
    p->met = p->met || known->verdict == GRAZE_MOTION_HIT;
    if (known->verdict != GRAZE_MOTION_HIT) p->left[kept++] = pair;
  }
  p->left_count = kept;
}

static graze_status pursue_pairs(pursuit_of_pairs *p, graze_context *context, uint32_t piece_count, uint32_t most,
                                 bool all_pairs) {
  graze_status status = open_queries(&p->w, context);
  p->w.pairs = p->left;
  for (uint32_t from = 0, size = 1; status == GRAZE_OK && from < piece_count; from += p->w.places) {
    if (p->left_count == 0 || (p->met && !all_pairs)) break;
    p->w.first = from;
    p->w.places = size < piece_count - from ? size : piece_count - from;
    status = decide_all(&p->w, context, p->w.places * p->left_count);
    if (status == GRAZE_OK) take_results(p);
    size = 2 * size < most ? 2 * size : most;
  }
  close_queries(&p->w, context);
  return status;
}

static graze_status find_first(graze_context *context, const graze_motion_path *path,
                               const graze_motion_options *options, graze_motion_first *pairs,
                               graze_motion_first *first) {
  const uint32_t piece_count = path->pose_count > 0 ? path->pose_count - 1 : 0, count = path->pair_count;
  const uint32_t most = count < GROUP / MOST_PIECES ? MOST_PIECES : count < GROUP ? GROUP / count : 1;
  const graze_motion_moment end = {piece_count > 0 ? piece_count - 1 : 0, piece_count > 0 ? 1 : 0};
  pursuit_of_pairs p = {.w = {.context = context, .path = path, .place = "piece", .run = 1, .decide = decide_motion}};
  p.w.options = options;
  p.w.failed = UINT64_MAX;
  p.known = gz_new(context, count, sizeof *p.known);
  p.left = gz_new(context, count, sizeof *p.left);
  p.w.results = gz_new(context, (size_t)most * count, sizeof(graze_motion_result));
  graze_status status = GRAZE_OK;
  if (p.known == NULL || p.left == NULL || p.w.results == NULL) {
    status = gz_fail_memory(context, count * (sizeof *p.known + most * sizeof(graze_motion_result)));
  } else {
    for (uint32_t i = 0; i < count; i++) {
      p.known[i] = (graze_motion_first){.earliest = end, .latest = end, .pair = i};
      p.left[p.left_count++] = i;
    }
    status = pursue_pairs(&p, context, piece_count, most, pairs != NULL);
  }
  if (status == GRAZE_OK && first != NULL) *first = first_of(p.known, count, end);
  if (status == GRAZE_OK && pairs != NULL) memcpy(pairs, p.known, count * sizeof *pairs);
  gz_free(p.known);
  gz_free(p.left);
  gz_free(p.w.results);
  return status;
}

graze_status graze_motion_first_along(graze_context *context, const graze_motion_path *path,
                                      const graze_motion_options *options, graze_motion_first *pairs,
                                      graze_motion_first *first) {
  if (context == NULL || path == NULL || (pairs == NULL && first == NULL)) return gz_fail_null(context);
  if (options != NULL && options->last)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "path: its first contact is found, not the last");
  graze_status status = GRAZE_OK;
  if (path->pose_count > 1 && path->pair_count > 0) status = check_path(context, path, 1);
  return status == GRAZE_OK ? find_first(context, path, options, pairs, first) : status;
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
