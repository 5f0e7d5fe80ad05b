/* Spheres: the vertex-vertex model. Particles of any radii are put into boxes, the method finds the pairs of boxes, and
 * of these the pairs of spheres are kept.
 *
 * Centre minus and plus radius are rounded, to the caller's precision, so that a box may be a little too small. No pair
 * is lost by that: rounding to nearest keeps order, so where the end of one sphere on an axis is not below the
 * beginning of another it is not below it as rounded either. What is beyond the largest number ends there, which keeps
 * order as well. Pairs are decided by exact/sphere.c, in pieces side by side. O(method + pairs of boxes). Memory: that
 * of the method and 24 or 48 bytes a sphere.
 */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "broad/phase.h"
#include "broad/sphere_view.h"

/* ---- checking -------------------------------------------------------------------------------------------------- */

static graze_status report_sphere(const graze_context *context, const sphere *b, uint32_t index) {
  static const char axes[] = "xyz";
  for (int k = 0; k < 3; k++) {
    if (isfinite(b->center[k])) continue;
    return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "sphere %u: center %c is %g", index, axes[k], b->center[k]);
  }
  if (!isfinite(b->radius)) {
    return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "sphere %u: radius is %g", index, b->radius);
  }
  return gz_fail(context, GRAZE_ERROR_ARGUMENT, "sphere %u: radius %.17g is negative", index, b->radius);
}

static graze_status check_array(const graze_context *context, const graze_sphere_array *spheres, uint32_t count) {
  if (spheres == NULL || (count > 0 && (spheres->centers == NULL || spheres->radii == NULL))) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "no spheres");
  }
  if (spheres->precision != GRAZE_FLOAT && spheres->precision != GRAZE_DOUBLE) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "unknown precision %d of spheres", (int)spheres->precision);
  }
  return GRAZE_OK;
}

/* ---- boxes ----------------------------------------------------------------------------------------------------- */

typedef struct sphere_work {
  sphere_view view;
  void *boxes;
  graze_box_pair *pairs;
  pieces p;
  uint64_t result[PARALLEL_PIECES]; /* of a piece: the first bad sphere, or how many pairs are kept */
} sphere_work;

static void box_piece(void *argument, uint32_t index) {
  sphere_work *w = argument;
  w->result[index] = UINT64_MAX;
  for (uint64_t i = pieces_begin(&w->p, index); i < pieces_end(&w->p, index); i++) {
    sphere b = sphere_at(&w->view, (uint32_t)i);
    if (!sphere_is_good(&b)) {
      w->result[index] = i;
      return;
    }
    if (w->view.precision == GRAZE_DOUBLE) {
      box_of_doubles(&b, (double *)w->boxes + 6 * i);
    } else {
      box_of_floats(&b, (float *)w->boxes + 6 * i);
    }
  }
}

/* Checks the spheres and makes their boxes. */
static graze_status make_boxes(graze_broadphase *bp, sphere_work *w) {
  const sphere_view *view = &w->view;
  if (!gz_buffer_reserve(bp->context, &bp->sphere_boxes, view->count * box_bytes(view->precision), 0)) {
    return gz_broad_no_memory(bp, view->count);
  }
  w->boxes = bp->sphere_boxes.data;
  w->p = pieces_of(view->count, 4096);
  gz_parallel_each(bp->context, w->p.number, box_piece, w);
  for (uint32_t i = 0; i < w->p.number; i++) {
    if (w->result[i] == UINT64_MAX) continue;
    sphere b = sphere_at(view, (uint32_t)w->result[i]);
    return report_sphere(bp->context, &b, (uint32_t)w->result[i]);
  }
  return GRAZE_OK;
}

/* ---- pairs ----------------------------------------------------------------------------------------------------- */

enum { AHEAD = 12 }; /* pairs from a sphere's being asked for to its use: spheres of a pair are anywhere in memory */

/* Keeps the pairs of spheres that meet at the front of the piece. */
static void keep_piece(void *argument, uint32_t index) {
  sphere_work *w = argument;
  graze_box_pair *pairs = w->pairs + pieces_begin(&w->p, index);
  uint64_t count = pieces_end(&w->p, index) - pieces_begin(&w->p, index), kept = 0;
  for (uint64_t i = 0; i < count; i++) {
    graze_box_pair pair = pairs[i], soon = pairs[i + AHEAD < count ? i + AHEAD : i];
    __builtin_prefetch(w->view.centers + soon.a * w->view.center_stride);
    __builtin_prefetch(w->view.centers + soon.b * w->view.center_stride);
    sphere a = sphere_at(&w->view, pair.a), b = sphere_at(&w->view, pair.b);
    pairs[kept] = pair;
    kept += spheres_meet(&a, &b);
  }
  w->result[index] = kept;
}

static void keep_spheres(const graze_context *context, sphere_work *w, pair_list *list) {
  w->pairs = pair_list_data(list);
  w->p = pieces_of(list->count, 1024);
  gz_parallel_each(context, w->p.number, keep_piece, w);
  list->count = 0;
  for (uint32_t i = 0; i < w->p.number; i++) {
    memmove(w->pairs + list->count, w->pairs + pieces_begin(&w->p, i), (size_t)w->result[i] * sizeof *w->pairs);
    list->count += w->result[i];
  }
}

static graze_status find_spheres(graze_broadphase *bp, sphere_work *w, bool unsorted) {
  graze_status status = make_boxes(bp, w);
  if (status != GRAZE_OK) return status;
  graze_box_array boxes = {w->boxes, 0, w->view.precision};
  broad_view view = gz_broad_view_of_array(bp->context, &boxes, w->view.count);
  view.manager = bp->def.manager;
  status = gz_broad_run_find(bp, &view, true);
  if (status == GRAZE_ERROR_MEMORY) return gz_broad_no_memory(bp, view.count);
  if (status != GRAZE_OK) return status;
  keep_spheres(bp->context, w, &bp->found);
  bool sorted = unsorted || gz_pair_list_sort(bp->context, &bp->found, view.count, &bp->scratch);
  return sorted ? GRAZE_OK : gz_broad_no_memory(bp, view.count);
}

/* Finds them, into bp->found, or counts them. */
static graze_status ask_about_spheres(graze_broadphase *bp, graze_broad_question *q) {
  double start = clock_now();
  graze_status status = check_array(bp->context, q->spheres, q->count);
  if (status != GRAZE_OK || gz_broad_ask_engine(bp, GRAZE_STAGE_SPHERES, q, &status)) return status;
  sphere_work work = {.view = sphere_view_of(q->spheres, q->count)};
  unsigned saved = gz_fp_enter();
  status = find_spheres(bp, &work, q->unsorted);
  gz_fp_leave(saved);
  if (status != GRAZE_OK) return status;
  gz_broad_take_notes(bp, bp->foreign.method, &bp->once, start);
  q->pair_count = bp->found.count;
  if (q->only_count) q->hash = pairs_hash(pair_list_data(&bp->found), bp->found.count);
  return GRAZE_OK;
}

graze_status graze_broadphase_find_spheres(graze_broadphase *bp, const graze_sphere_array *spheres, uint32_t count,
                                           bool unsorted, const graze_box_pair **pairs, uint64_t *pair_count) {
  if (bp == NULL || pairs == NULL || pair_count == NULL) return gz_fail_null(bp != NULL ? bp->context : NULL);
  graze_broad_question question = {.spheres = spheres, .count = count, .unsorted = unsorted};
  graze_status status = ask_about_spheres(bp, &question);
  if (status != GRAZE_OK) return status;
  *pairs = pair_list_data(&bp->found);
  *pair_count = bp->found.count;
  return GRAZE_OK;
}

graze_status graze_broadphase_count_spheres(graze_broadphase *bp, const graze_sphere_array *spheres, uint32_t count,
                                            uint64_t *pair_count, uint64_t *hash) {
  if (bp == NULL || pair_count == NULL || hash == NULL) return gz_fail_null(bp != NULL ? bp->context : NULL);
  graze_broad_question question = {.spheres = spheres, .count = count, .unsorted = true, .only_count = true};
  graze_status status = ask_about_spheres(bp, &question);
  if (status != GRAZE_OK) return status;
  *pair_count = question.pair_count;
  *hash = question.hash;
  return GRAZE_OK;
}
