/* Queries of the proxies as they stand: boxes, points, rays, nearest ones.
 *
 * Queries have a hierarchy of their own (bvh.h), for they may come between edits and updates and with any method. It is
 * built when the second query in a row finds no edits since the first; a lone query between edits, and any query of
 * some dozen proxies, looks at all boxes, which costs less than building. The hierarchy only picks candidates, with
 * bounds that err on the wide side; every candidate is decided on the caller's numbers.
 */
#include <float.h>
#include <math.h>

#include "base/context.h"
#include "base/cpu.h"
#include "base/sort.h"
#include "broad/phase.h"
#include "geometry/ray.h"

enum {
  FEW = 48,                         /* proxies that are looked at one by one */
  STACK = HIERARCHY_LEVELS * BLOCK, /* blocks that wait: 16 a level at most */
  LEVEL_SHIFT = 28                  /* of a block in 32 bits: there are at most 2^28 */
};

/* A query on its way. */
typedef struct asking {
  const graze_broadphase *bp;
  broad_view view;
  const uint8_t *layers;
  uint64_t mask;
  bool all; /* look at all boxes */
} asking;

/* ---- getting ready --------------------------------------------------------------------------------------------- */

static graze_status no_memory(const graze_broadphase *bp) {
  return gz_fail(bp->context, GRAZE_ERROR_MEMORY, "broad phase: no memory for a query of %u boxes", bp->live);
}

static bool get_ready(graze_broadphase *bp, uint64_t layers, asking *a) {
  broad_queries *q = &bp->queries;
  *a = (asking){.bp = bp, .view = gz_broad_view_of(bp), .layers = bp->layers.data, .mask = layers};
  a->view.layers = NULL; /* which layers meet is of no account here */
  a->all = bp->live <= FEW;
  if (a->all || q->built == bp->edition) return true;
  a->all = q->asked != bp->edition;
  q->asked = bp->edition;
  if (a->all) return true;
  q->built = 0;
  if (!gz_hierarchy_build(&q->h, &a->view)) return false;
  q->built = bp->edition;
  return true;
}

/* Whether a slot is to be looked at; its box. */
static inline bool candidate_box(const asking *a, uint32_t slot, graze_box *box) {
  if ((a->mask >> a->layers[slot] & 1) == 0) return false;
  *box = view_box(&a->view, slot);
  return !box_is_empty(box);
}

static graze_status check_point(const graze_broadphase *bp, const char *what, const double point[3]) {
  for (int k = 0; k < 3; k++) {
    if (!isfinite(point[k])) {
      return gz_fail(bp->context, GRAZE_ERROR_NOT_FINITE, "query: %s %c is %g", what, "xyz"[k], point[k]);
    }
  }
  return GRAZE_OK;
}

/* Children of a block: places or blocks below `first + number`. */
static inline uint32_t children(const hierarchy *h, uint32_t level, uint32_t block) {
  uint32_t all = level > 0 ? h->number[level - 1] : h->count, first = BLOCK * block;
  return all - first < BLOCK ? all - first : BLOCK;
}

/* A box that holds what lane i of a block bounds: floats were rounded to nearest after the origin was taken off. */
static inline graze_box lane_box(const hierarchy *h, const box_block *block, unsigned i) {
  graze_box box;
  for (int k = 0; k < 3; k++) {
    float low = block->bound[k][i] < FLT_MAX ? block->bound[k][i] : FLT_MAX;
    float high = block->bound[3 + k][i] > -FLT_MAX ? block->bound[3 + k][i] : -FLT_MAX;
    double slack = fabs(h->origin[k]) * 0x1p-50 + 0x1p-140;
    box.min[k] = ((double)low + h->origin[k]) - (fabs((double)low) * 0x1p-22 + slack);
    box.max[k] = ((double)high + h->origin[k]) + (fabs((double)high) * 0x1p-22 + slack);
  }
  return box;
}

/* ---- lists of indices ------------------------------------------------------------------------------------------ */

static bool push_index(const graze_context *context, buffer *keys, uint32_t *count, uint32_t slot) {
  size_t used = *count * sizeof(uint64_t);
  if (used + sizeof(uint64_t) > keys->bytes &&
      !gz_buffer_reserve(context, keys, used + BLOCK * sizeof(uint64_t), used)) {
    return false;
  }
  ((uint64_t *)keys->data)[(*count)++] = slot;
  return true;
}

static bool collect(const asking *a, const graze_box *box, buffer *keys, uint32_t *count) {
  const hierarchy *h = &a->bp->queries.h;
  const uint32_t *slots = h->slots.data;
  hierarchy_meets_function *meets = CPU_KERNEL(gz_hierarchy_meets);
  uint32_t stack[STACK], depth = 0;
  float wanted[6];
  for (int k = 0; k < 3; k++) {
    wanted[k] = hierarchy_float(h, box->min[k], k);
    wanted[3 + k] = hierarchy_float(h, box->max[k], k);
  }
  if (h->levels > 0) stack[depth++] = (h->levels - 1) << LEVEL_SHIFT;
  while (depth > 0) {
    uint32_t top = stack[--depth], level = top >> LEVEL_SHIFT, block = top & ((UINT32_C(1) << LEVEL_SHIFT) - 1);
    for (uint32_t m = meets(hierarchy_block(h, level, block), wanted); m != 0; m &= m - 1) {
      uint32_t child = BLOCK * block + (uint32_t)__builtin_ctz(m);
      graze_box found;
      if (level > 0) {
        stack[depth++] = (level - 1) << LEVEL_SHIFT | child;
      } else if (candidate_box(a, slots[child], &found) && graze_boxes_meet(box, &found)) {
        if (!push_index(a->bp->context, keys, count, slots[child])) return false;
      }
    }
  }
  return true;
}

static bool collect_all(const asking *a, const graze_box *box, buffer *keys, uint32_t *count) {
  for (uint32_t i = 0; i < a->view.count; i++) {
    graze_box found;
    if (!candidate_box(a, i, &found) || !graze_boxes_meet(box, &found)) continue;
    if (!push_index(a->bp->context, keys, count, i)) return false;
  }
  return true;
}

/* Ascending indices of proxies that meet the box, in `out`. */
static bool list_meeting(graze_broadphase *bp, const graze_box *box, uint64_t layers, buffer *out, uint32_t *count) {
  broad_queries *q = &bp->queries;
  asking a;
  *count = 0;
  if (!get_ready(bp, layers, &a) || !(a.all ? collect_all : collect)(&a, box, &q->keys, count)) return false;
  size_t n = *count;
  if (!gz_buffer_reserve(bp->context, &q->scratch, n * sizeof(uint64_t), 0) ||
      !gz_buffer_reserve(bp->context, out, n * sizeof(uint32_t), 0)) {
    return false;
  }
  if (n > 0) gz_sort_keys(q->keys.data, q->scratch.data, n);
  for (size_t i = 0; i < n; i++) ((uint32_t *)out->data)[i] = (uint32_t)((const uint64_t *)q->keys.data)[i];
  return true;
}

static graze_status query_list(graze_broadphase *bp, const graze_box *box, uint64_t layers, buffer *out,
                               const uint32_t **indices, uint32_t *count) {
  uint32_t found;
  unsigned saved = gz_fp_enter();
  bool done = list_meeting(bp, box, layers, out, &found);
  gz_fp_leave(saved);
  if (!done) return no_memory(bp);
  *indices = out->data;
  *count = found;
  return GRAZE_OK;
}

graze_status graze_broadphase_query_box(graze_broadphase *bp, const graze_box *box, uint64_t layers,
                                        const uint32_t **indices, uint32_t *count) {
  if (bp == NULL || box == NULL || indices == NULL || count == NULL)
    return gz_fail_null(bp != NULL ? bp->context : NULL);
  graze_status status = check_point(bp, "min", box->min);
  if (status == GRAZE_OK) status = check_point(bp, "max", box->max);
  for (int k = 0; k < 3 && status == GRAZE_OK; k++) {
    if (box->min[k] <= box->max[k]) continue;
    status = gz_fail(bp->context, GRAZE_ERROR_ARGUMENT, "query: min %c = %.17g is above max %c = %.17g", "xyz"[k],
                     box -> min[k], "xyz"[k], box -> max[k]);
  }
  if (status != GRAZE_OK) return status;
  return query_list(bp, box, layers, &bp->queries.in_box, indices, count);
}

graze_status graze_broadphase_query_point(graze_broadphase *bp, const double point[3], uint64_t layers,
                                          const uint32_t **indices, uint32_t *count) {
  if (bp == NULL || point == NULL || indices == NULL || count == NULL)
    return gz_fail_null(bp != NULL ? bp->context : NULL);
  graze_status status = check_point(bp, "point", point);
  if (status != GRAZE_OK) return status;
  graze_box box = {{point[0], point[1], point[2]}, {point[0], point[1], point[2]}};
  return query_list(bp, &box, layers, &bp->queries.at_point, indices, count);
}

/* ---- heaps ----------------------------------------------------------------------------------------------------- */

/* An index with a number that it is ordered by. */
typedef struct ranked {
  double value;
  uint32_t index;
} ranked;

static inline bool before(ranked a, ranked b) {
  return a.value < b.value || (a.value == b.value && a.index < b.index);
}

/* Lets the first of n sink in a heap that has the last one on top. */
static void sink(ranked *heap, uint32_t n) {
  ranked item = heap[0];
  uint32_t i = 0;
  for (;;) {
    uint32_t child = 2 * i + 1;
    if (child >= n) break;
    if (child + 1 < n && before(heap[child], heap[child + 1])) child++;
    if (!before(item, heap[child])) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = item;
}

/* Lets the last of n rise. */
static void rise(ranked *heap, uint32_t n) {
  uint32_t i = n - 1;
  ranked item = heap[i];
  for (; i > 0 && before(heap[(i - 1) / 2], item); i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
  heap[i] = item;
}

static ranked take_top(ranked *heap, uint32_t *n) {
  ranked top = heap[0];
  heap[0] = heap[--*n];
  if (*n > 0) sink(heap, *n);
  return top;
}

static bool push_ranked(const graze_context *context, buffer *heap, uint32_t *count, ranked item) {
  size_t used = *count * sizeof item;
  if (used + sizeof item > heap->bytes && !gz_buffer_reserve(context, heap, used + BLOCK * sizeof item, used)) {
    return false;
  }
  ((ranked *)heap->data)[(*count)++] = item;
  rise(heap->data, *count);
  return true;
}

/* From a heap to a sorted list. */
static void sort_heap(ranked *heap, uint32_t n) {
  while (n > 1) {
    ranked top = take_top(heap, &n);
    heap[n] = top;
  }
}

/* ---- rays ------------------------------------------------------------------------------------------------------ */

static bool try_ray(const asking *a, const ray *r, uint32_t slot, buffer *hits, uint32_t *count) {
  graze_box box;
  if (!candidate_box(a, slot, &box) || !gz_ray_meets(r, &box)) return true;
  return push_ranked(a->bp->context, hits, count, (ranked){gz_ray_enter(r, &box), slot});
}

static bool shoot(const asking *a, const ray *r, buffer *hits, uint32_t *count) {
  const hierarchy *h = &a->bp->queries.h;
  uint32_t stack[STACK], depth = 0;
  if (h->levels > 0) stack[depth++] = (h->levels - 1) << LEVEL_SHIFT;
  while (depth > 0) {
    uint32_t top = stack[--depth], level = top >> LEVEL_SHIFT, block = top & ((UINT32_C(1) << LEVEL_SHIFT) - 1);
    for (uint32_t i = 0, n = children(h, level, block); i < n; i++) {
      graze_box bound = lane_box(h, hierarchy_block(h, level, block), i);
      if (!gz_ray_may_meet(r, &bound)) continue;
      uint32_t child = BLOCK * block + i;
      if (level > 0) {
        stack[depth++] = (level - 1) << LEVEL_SHIFT | child;
      } else if (!try_ray(a, r, ((const uint32_t *)h->slots.data)[child], hits, count)) {
        return false;
      }
    }
  }
  return true;
}

static bool shoot_all(const asking *a, const ray *r, buffer *hits, uint32_t *count) {
  for (uint32_t i = 0; i < a->view.count; i++) {
    if (!try_ray(a, r, i, hits, count)) return false;
  }
  return true;
}

static bool list_hits(graze_broadphase *bp, const ray *r, uint64_t layers, buffer *out, uint32_t *count) {
  asking a;
  *count = 0;
  if (!get_ready(bp, layers, &a)) return false;
  bool all = a.all || !gz_ray_is_tame(r);
  for (int k = 0; k < 3; k++) all |= fabs(bp->queries.h.origin[k]) > 0x1p500;
  if (!(all ? shoot_all : shoot)(&a, r, out, count)) return false;
  ranked *list = out->data;
  sort_heap(list, *count);
  for (uint32_t i = 0; i < *count; i++) {
    ranked one = list[i];
    ((graze_ray_hit *)out->data)[i] = (graze_ray_hit){one.value, one.index};
  }
  return true;
}

graze_status graze_broadphase_query_ray(graze_broadphase *bp, const double origin[3], const double direction[3],
                                        double length, uint64_t layers, const graze_ray_hit **hits, uint32_t *count) {
  if (bp == NULL || origin == NULL || direction == NULL || hits == NULL || count == NULL)
    return gz_fail_null(bp != NULL ? bp->context : NULL);
  graze_status status = check_point(bp, "origin", origin);
  if (status == GRAZE_OK) status = check_point(bp, "direction", direction);
  if (status == GRAZE_OK && isnan(length)) {
    status = gz_fail(bp->context, GRAZE_ERROR_NOT_FINITE, "query: length is %g", length);
  }
  if (status == GRAZE_OK && length < 0) {
    status = gz_fail(bp->context, GRAZE_ERROR_ARGUMENT, "query: length %.17g is negative", length);
  }
  if (status != GRAZE_OK) return status;
  ray r = {.length = length};
  memcpy(r.origin, origin, sizeof r.origin);
  memcpy(r.direction, direction, sizeof r.direction);
  uint32_t found;
  unsigned saved = gz_fp_enter();
  bool done = list_hits(bp, &r, layers, &bp->queries.on_ray, &found);
  gz_fp_leave(saved);
  if (!done) return no_memory(bp);
  *hits = bp->queries.on_ray.data;
  *count = found;
  return GRAZE_OK;
}

/* ---- nearest --------------------------------------------------------------------------------------------------- */

/* Within four units of the last place; infinite where that is beyond doubles. */
static double distance_to(const double point[3], const graze_box *box) {
  double d[3], most = 0;
  for (int k = 0; k < 3; k++) {
    d[k] = point[k] < box->min[k] ? box->min[k] - point[k] : point[k] > box->max[k] ? point[k] - box->max[k] : 0;
    if (d[k] > most) most = d[k];
  }
  if (most == 0 || !isfinite(most)) return most;
  if (most > 0x1p-480 && most < 0x1p480) return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  int exponent; /* squares would under- or overflow */
  (void)frexp(most, &exponent);
  for (int k = 0; k < 3; k++) d[k] = ldexp(d[k], -exponent);
  return ldexp(sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), exponent);
}

typedef struct nearest {
  const asking *a;
  const double *point;
  uint32_t wanted;
  buffer *found; /* heap, the worst on top */
  uint32_t count;
} nearest;

static bool try_near(nearest *n, uint32_t slot) {
  graze_box box;
  if (!candidate_box(n->a, slot, &box)) return true;
  ranked item = {distance_to(n->point, &box), slot};
  if (n->count < n->wanted) return push_ranked(n->a->bp->context, n->found, &n->count, item);
  ranked *heap = n->found->data;
  if (before(item, heap[0])) {
    heap[0] = item;
    sink(heap, n->count);
  }
  return true;
}

static bool nearest_of_all(nearest *n) {
  for (uint32_t i = 0; i < n->a->view.count; i++) {
    if (!try_near(n, i)) return false;
  }
  return true;
}

/* Best first: blocks wait in a heap that has the nearest on top, by the negative of a distance that is never too large.
 * A block that is farther than the worst found ends it. */
static bool nearest_first(nearest *n, buffer *waiting) {
  const hierarchy *h = &n->a->bp->queries.h;
  const graze_context *context = n->a->bp->context;
  uint32_t depth = 0;
  if (h->levels == 0) return true;
  if (!push_ranked(context, waiting, &depth, (ranked){0, (h->levels - 1) << LEVEL_SHIFT})) return false;
  while (depth > 0) {
    ranked top = take_top(waiting->data, &depth);
    const ranked *worst = n->found->data;
    if (n->count == n->wanted && -top.value > worst->value) return true;
    uint32_t level = top.index >> LEVEL_SHIFT, block = top.index & ((UINT32_C(1) << LEVEL_SHIFT) - 1);
    for (uint32_t i = 0, lanes = children(h, level, block); i < lanes; i++) {
      uint32_t child = BLOCK * block + i;
      if (level == 0) {
        if (!try_near(n, ((const uint32_t *)h->slots.data)[child])) return false;
        continue;
      }
      graze_box bound = lane_box(h, hierarchy_block(h, level, block), i);
      double least = distance_to(n->point, &bound) * (1 - 0x1p-49);
      if (n->count == n->wanted && least > ((const ranked *)n->found->data)->value) continue;
      if (!push_ranked(context, waiting, &depth, (ranked){-least, (level - 1) << LEVEL_SHIFT | child})) return false;
    }
  }
  return true;
}

static bool list_nearest(graze_broadphase *bp, const double point[3], uint32_t wanted, uint64_t layers,
                         uint32_t *count) {
  asking a;
  nearest n = {&a, point, wanted, &bp->queries.near, 0};
  *count = 0;
  if (wanted == 0) return true;
  if (!get_ready(bp, layers, &a) || !(a.all ? nearest_of_all(&n) : nearest_first(&n, &bp->queries.keys))) return false;
  ranked *list = bp->queries.near.data;
  sort_heap(list, n.count);
  for (uint32_t i = 0; i < n.count; i++) {
    ranked one = list[i];
    ((graze_near *)bp->queries.near.data)[i] = (graze_near){one.value, one.index};
  }
  *count = n.count;
  return true;
}

graze_status graze_broadphase_query_nearest(graze_broadphase *bp, const double point[3], uint32_t wanted,
                                            uint64_t layers, const graze_near **found, uint32_t *count) {
  if (bp == NULL || point == NULL || found == NULL || count == NULL)
    return gz_fail_null(bp != NULL ? bp->context : NULL);
  graze_status status = check_point(bp, "point", point);
  if (status != GRAZE_OK) return status;
  uint32_t n;
  unsigned saved = gz_fp_enter();
  bool done = list_nearest(bp, point, wanted, layers, &n);
  gz_fp_leave(saved);
  if (!done) return no_memory(bp);
  *found = bp->queries.near.data;
  *count = n;
  return GRAZE_OK;
}

/* ---- the object ------------------------------------------------------------------------------------------------ */

void gz_queries_release(const graze_context *context, broad_queries *q) {
  gz_hierarchy_release(context, &q->h);
  buffer *buffers[] = {&q->in_box, &q->at_point, &q->on_ray, &q->near, &q->keys, &q->scratch};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) gz_buffer_release(context, buffers[i]);
}

size_t gz_queries_bytes(const broad_queries *q) {
  return gz_hierarchy_bytes(&q->h) + q->in_box.bytes + q->at_point.bytes + q->on_ray.bytes + q->near.bytes +
         q->keys.bytes + q->scratch.bytes;
}
