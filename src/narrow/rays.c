/* Rays and segments against targets: every triangle that the search does not exclude is decided exactly. */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/extremes.h"
#include "base/owned.h"
#include "base/parallel.h"
#include "exact/pierce.h"
#include "narrow/targets.h"

static void start_line(const graze_rays *r, uint32_t i, pierce_line *line) {
  const size_t at = 3 * (size_t)i;
  const double none = r->to != NULL ? 1 : (double)INFINITY;
  gz_pierce_start(line, r->from + at, (r->to != NULL ? r->to : r->way) + at, r->to == NULL,
                  r->most != NULL ? r->most[i] : none);
}

/* ---- the first ------------------------------------------------------------------------------------------------- */

typedef struct first_search {
  pierce_line line;
  graze_target_hit best;
  double limit;
} first_search;

static double visit_first(void *user, uint32_t object, uint32_t triangle, const double corners[9]) {
  first_search *f = user;
  double time[2];
  if (!gz_pierce(&f->line, corners, f->limit, time)) return f->limit;
  const graze_target_hit hit = {time[0], time[1], object, triangle};
  if (f->best.object == GRAZE_NO_TARGET || gz_target_before(&hit, &f->best)) {
    f->best = hit;
    f->limit = time[1];
  }
  return f->limit;
}

graze_target_hit gz_targets_first(target_search *search, const pierce_line *line) {
  first_search f = {.line = *line, .best = target_missed(), .limit = line->most};
  search->ordered = true;
  search->visit = visit_first;
  search->user = &f;
  gz_targets_search(search, line->from, line->way, line->most, 0);
  return f.best;
}

/* ---- all ------------------------------------------------------------------------------------------------------- */

typedef struct found {
  uint32_t line;
  graze_target_hit hit;
} found;

typedef struct ray_batch {
  const graze_context *context;
  const graze_rays *rays;
  graze_target_hit *first; /* of each ray; NULL: all are wanted */
  gz_array *found;         /* a worker's */
  _Atomic bool refused;    /* memory */
} ray_batch;

typedef struct all_search {
  ray_batch *batch;
  gz_array *found;
  pierce_line line;
  uint32_t number;
} all_search;

static double visit_all(void *user, uint32_t object, uint32_t triangle, const double corners[9]) {
  all_search *a = user;
  double time[2];
  if (!gz_pierce(&a->line, corners, a->line.most, time)) return a->line.most;
  if (!array_reserve(a->batch->context, a->found, 1, sizeof(found))) {
    atomic_store(&a->batch->refused, true);
    return a->line.most;
  }
  ((found *)a->found->data)[a->found->count++] = (found){a->number, {time[0], time[1], object, triangle}};
  return a->line.most;
}

static void find_all(ray_batch *b, target_search *search, uint32_t i) {
  all_search a = {.batch = b, .found = &b->found[search->worker], .number = i};
  start_line(b->rays, i, &a.line);
  search->ordered = false;
  search->visit = visit_all;
  search->user = &a;
  gz_targets_search(search, a.line.from, a.line.way, a.line.most, 0);
}

/* ---- batches --------------------------------------------------------------------------------------------------- */

static void ask(void *user, target_search *search, uint32_t i) {
  ray_batch *b = user;
  if (b->first == NULL) {
    find_all(b, search, i);
    return;
  }
  pierce_line line;
  start_line(b->rays, i, &line);
  b->first[i] = gz_targets_first(search, &line);
}

static bool are_finite(const double p[3]) {
  return isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]);
}

/* What a line cannot have; the largest coordinate of them all. */
static graze_status check_rays(const graze_context *context, const graze_rays *r, double *magnitude) {
  const double *other = r->to != NULL ? r->to : r->way;
  *magnitude = 0;
  for (uint64_t i = 0; i < r->count; i++) {
    const double *from = r->from + 3 * i, *to = other + 3 * i;
    if (!are_finite(from) || !are_finite(to)) {
      return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "ray %" PRIu64 ": a coordinate is not finite", i);
    }
    if (r->most != NULL && !(r->most[i] >= 0)) {
      return gz_fail(context, GRAZE_ERROR_ARGUMENT, "ray %" PRIu64 ": its end is not a number of 0 or more", i);
    }
    for (int k = 0; k < 3; k++) {
      *magnitude = larger(*magnitude, fabs(from[k]));
      if (r->to != NULL) *magnitude = larger(*magnitude, fabs(to[k]));
    }
  }
  return GRAZE_OK;
}

static graze_status run(graze_context *context, const graze_targets *targets, ray_batch *b) {
  const graze_rays *r = b->rays;
  double magnitude;
  if (r->count > 0 && (r->from == NULL || (r->to == NULL) == (r->way == NULL))) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "rays: there are beginnings, and either ends or directions");
  }
  if (r->count > UINT32_MAX - 256) return gz_fail(context, GRAZE_ERROR_LIMIT, "more rays than one call takes");
  graze_status status = check_rays(context, r, &magnitude);
  if (status != GRAZE_OK || r->count == 0) return status;
  const unsigned saved = gz_fp_enter();
  status = gz_targets_run(context, targets, magnitude, r->from, r->to, (uint32_t)r->count, ask, b);
  gz_fp_leave(saved);
  if (status == GRAZE_OK && atomic_load(&b->refused)) status = gz_fail_memory(context, sizeof(found));
  return status;
}

graze_status graze_rays_first(graze_context *context, const graze_targets *targets, const graze_rays *rays,
                              graze_target_hit *hits) {
  if (context == NULL || targets == NULL || rays == NULL || (hits == NULL && rays->count > 0)) {
    return gz_fail_null(context);
  }
  ray_batch b = {.context = context, .rays = rays, .first = hits};
  return run(context, targets, &b);
}

/* ---- the list -------------------------------------------------------------------------------------------------- */

static int compare_hits(const void *a, const void *b) {
  const graze_target_hit *x = a, *y = b;
  return gz_target_before(y, x) - gz_target_before(x, y);
}

/* What the workers found, by line. */
static graze_status collect(const graze_context *context, const ray_batch *b, uint32_t workers, graze_ray_hits *out) {
  const uint64_t lines = b->rays->count;
  for (uint32_t w = 0; w < workers; w++) out->count += b->found[w].count;
  out->first = gz_new_zeroed(context, lines + 2, sizeof *out->first);
  out->hits = gz_new(context, out->count, sizeof *out->hits);
  if (out->first == NULL || out->hits == NULL) return gz_fail_memory(context, out->count * sizeof *out->hits);
  uint64_t *end = out->first + 1; /* of the line before, and then of the line itself */
  for (uint32_t w = 0; w < workers; w++) {
    const found *f = b->found[w].data;
    for (size_t i = 0; i < b->found[w].count; i++) end[f[i].line + 1]++;
  }
  for (uint64_t i = 0; i < lines; i++) end[i + 1] += end[i];
  for (uint32_t w = 0; w < workers; w++) {
    const found *f = b->found[w].data;
    for (size_t i = 0; i < b->found[w].count; i++) out->hits[end[f[i].line]++] = f[i].hit;
  }
  for (uint64_t i = 0; i < lines; i++) {
    qsort(out->hits + out->first[i], out->first[i + 1] - out->first[i], sizeof *out->hits, compare_hits);
  }
  return GRAZE_OK;
}

graze_status graze_rays_all(graze_context *context, const graze_targets *targets, const graze_rays *rays,
                            graze_ray_hits *hits) {
  if (hits != NULL) *hits = (graze_ray_hits){0};
  if (context == NULL || targets == NULL || rays == NULL || hits == NULL) return gz_fail_null(context);
  const uint32_t workers = gz_workers(context);
  ray_batch b = {.context = context, .rays = rays};
  b.found = gz_new_zeroed(context, workers, sizeof *b.found);
  if (b.found == NULL) return gz_fail_memory(context, workers * sizeof *b.found);
  graze_status status = run(context, targets, &b);
  if (status == GRAZE_OK) status = collect(context, &b, workers, hits);
  for (uint32_t w = 0; w < workers; w++) gz_free(b.found[w].data);
  gz_free(b.found);
  if (status != GRAZE_OK) graze_ray_hits_free(hits);
  return status;
}

void graze_ray_hits_free(graze_ray_hits *hits) {
  if (hits == NULL) return;
  gz_free(hits->hits);
  gz_free(hits->first);
  *hits = (graze_ray_hits){0};
}
