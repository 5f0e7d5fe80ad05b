/* Two meshes of which the triangles that may meet are known: closed boxes of those, each against each, and the exact
 * test where they meet. Nothing is sorted, for lists are short; who gives longer ones waits longer, for the same
 * answer.
 */
#include <math.h>

#include "base/context.h"
#include "base/parallel.h"
#include "narrow/query.h"

typedef struct listed_triangle {
  double low[3], high[3], corners[9]; /* posed */
  uint32_t number;
} listed_triangle;

static void pose_list(const side *s, const uint32_t *list, uint32_t count, listed_triangle *out) {
  for (uint32_t i = 0; i < count; i++) {
    listed_triangle *t = &out[i];
    const double *c = t->corners;
    gz_side_corners(s, list[i], t->corners);
    t->number = list[i];
    for (int k = 0; k < 3; k++) {
      t->low[k] = fmin(fmin(c[k], c[3 + k]), c[6 + k]);
      t->high[k] = fmax(fmax(c[k], c[3 + k]), c[6 + k]);
    }
  }
}

static bool boxes_meet(const listed_triangle *a, const listed_triangle *b) {
  bool meet = true;
  for (int k = 0; k < 3; k++) meet = meet & (a->low[k] <= b->high[k]) & (b->low[k] <= a->high[k]);
  return meet;
}

static void compare(exact_sink *sink, const listed_triangle *const of[2], const uint32_t counts[2]) {
  for (uint32_t i = 0; i < counts[0]; i++) {
    const listed_triangle *a = &of[0][i];
    for (uint32_t k = 0; k < counts[1] && !sink->stop; k++) {
      const listed_triangle *b = &of[1][k];
      if (boxes_meet(a, b)) gz_sink_add(sink, a->number, b->number, a->corners, b->corners, SHARES_NONE);
    }
  }
  gz_sink_flush(sink);
}

static graze_status collide(graze_query *q, const job *j, const graze_cull_triangles *listed,
                            graze_collide_result *result) {
  const size_t bytes = ((size_t)listed->count[0] + listed->count[1]) * sizeof(listed_triangle);
  worker *w = gz_query_worker(q, 0);
  if (w == NULL || !gz_buffer_reserve(q->context, &q->sweep, bytes, 0)) return gz_fail_memory(q->context, bytes);
  listed_triangle *a = q->sweep.data, *b = a + listed->count[0];
  gz_worker_start(w, j);
  pose_list(&j->a, listed->list[0], listed->count[0], a);
  pose_list(&j->b, listed->list[1], listed->count[1], b);
  compare(&w->sink, (const listed_triangle *const[]){a, b}, listed->count);
  if (w->sink.failed) return gz_fail(q->context, GRAZE_ERROR_MEMORY, "out of memory: results of a query");
  graze_collide_result r = {.counts = w->sink.counts, .work = w->sink.work};
  r.hit = r.counts.triangle_pairs > 0;
  graze_status status = gz_query_gather(q, 1, &r.pairs);
  if (status == GRAZE_OK) *result = r;
  return status;
}

graze_status gz_query_collide_listed(graze_query *q, const side *a, const side *b, const graze_cull_triangles *listed,
                                     graze_exactness exactness, graze_collide_result *result) {
  const job j = {.a = *a, .b = *b, .exactness = exactness};
  unsigned saved = gz_fp_enter();
  graze_status status = collide(q, &j, listed, result);
  gz_fp_leave(saved);
  return status;
}
