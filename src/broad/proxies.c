/* Proxies: adding, moving and removing, one or many, all or nothing.
 *
 * Boxes are kept in floats for as long as every number that came was a float: half the memory to read in each update.
 * The first double turns them all into doubles. An index that becomes free is given out again only after an update, so
 * that a pair of indices means the same two proxies in `ended` and in `began`.
 */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/cpu.h"
#include "broad/phase.h"

static const float empty_float[6] = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY};
static const double empty_double[6] = {(double)INFINITY,  (double)INFINITY,  (double)INFINITY,
                                       -(double)INFINITY, -(double)INFINITY, -(double)INFINITY};

/* ---- checking what comes in ------------------------------------------------------------------------------------ */

broad_view gz_broad_view_of_array(const graze_context *context, const graze_box_array *boxes, uint32_t count) {
  size_t stride = boxes->stride != 0 ? boxes->stride : box_bytes(boxes->precision);
  return (broad_view){
      .context = context, .data = boxes->data, .stride = stride, .precision = boxes->precision, .count = count};
}

static graze_status report_box(const graze_context *context, const graze_box *box, uint32_t index) {
  static const char axes[] = "xyz";
  for (int k = 0; k < 3; k++) {
    if (!isfinite(box->min[k]) || !isfinite(box->max[k])) {
      bool low = !isfinite(box->min[k]);
      return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "box %u: %s %c is %g", index, low ? "min" : "max", axes[k],
                     low ? box->min[k] : box->max[k]);
    }
    if (box->min[k] > box->max[k]) {
      return gz_fail(context, GRAZE_ERROR_ARGUMENT, "box %u: min %c = %.17g is above max %c = %.17g", index, axes[k],
                     box->min[k], axes[k], box->max[k]);
    }
  }
  return GRAZE_OK;
}

graze_status gz_box_array_check(const graze_context *context, const graze_box_array *boxes, uint32_t count) {
  if (boxes == NULL || (boxes->data == NULL && count > 0)) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "no boxes");
  if (boxes->precision == GRAZE_FLOAT || boxes->precision == GRAZE_DOUBLE) return GRAZE_OK;
  return gz_fail(context, GRAZE_ERROR_ARGUMENT, "unknown precision %d of boxes", (int)boxes->precision);
}

graze_status gz_boxes_check(const graze_context *context, const graze_box_array *boxes, uint32_t count) {
  graze_status status = gz_box_array_check(context, boxes, count);
  if (status != GRAZE_OK) return status;
  broad_view view = gz_broad_view_of_array(context, boxes, count);
  for (uint32_t i = CPU_KERNEL(gz_good_boxes)(&view); i < count && status == GRAZE_OK; i++) {
    graze_box box = view_box(&view, i);
    status = report_box(context, &box, i);
  }
  return status;
}

static graze_status check_proxies(const graze_broadphase *bp, const graze_proxy_id *proxies, uint32_t count) {
  if (proxies == NULL && count > 0) return gz_fail(bp->context, GRAZE_ERROR_ARGUMENT, "no proxies");
  const uint32_t *generations = bp->generations.data;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t index = proxies[i].index;
    if (index >= bp->index_end || proxies[i].generation == 0 || generations[index] != proxies[i].generation) {
      return gz_fail(bp->context, GRAZE_ERROR_HANDLE, "place %u: no proxy has index %u and generation %u", i, index,
                     proxies[i].generation);
    }
  }
  return GRAZE_OK;
}

/* ---- storage --------------------------------------------------------------------------------------------------- */

static void *box_at(const graze_broadphase *bp, uint32_t index) {
  return (char *)bp->boxes.data + (size_t)index * box_bytes(bp->precision);
}

static bool reserve(graze_broadphase *bp, uint32_t capacity) {
  const graze_context *c = bp->context;
  size_t n = capacity, old = bp->index_end;
  return gz_buffer_reserve(c, &bp->boxes, n * box_bytes(bp->precision), old * box_bytes(bp->precision)) &&
         gz_buffer_reserve(c, &bp->user_ids, n * sizeof(uint64_t), old * sizeof(uint64_t)) &&
         gz_buffer_reserve(c, &bp->generations, n * sizeof(uint32_t), old * sizeof(uint32_t)) &&
         gz_buffer_reserve(c, &bp->layers, n, old) && gz_buffer_reserve(c, &bp->edited, n, old) &&
         gz_buffer_reserve(c, &bp->edit_slots, (n + 1) * sizeof(uint32_t), bp->edit_count * sizeof(uint32_t)) &&
         gz_buffer_reserve(c, &bp->free_indices, n * sizeof(uint32_t), bp->free_count * sizeof(uint32_t)) &&
         gz_buffer_reserve(c, &bp->removed, n * sizeof(uint32_t), bp->removed_count * sizeof(uint32_t));
}

/* From floats to doubles, once. */
static bool widen(graze_broadphase *bp) {
  buffer wide = {0};
  if (bp->capacity > 0 && !gz_buffer_reserve(bp->context, &wide, bp->capacity * box_bytes(GRAZE_DOUBLE), 0))
    return false;
  const float *from = bp->boxes.data;
  double *to = wide.data;
  for (size_t i = 0; i < (size_t)bp->index_end * 6; i++) to[i] = (double)from[i];
  gz_buffer_release(bp->context, &bp->boxes);
  bp->boxes = wide;
  bp->precision = GRAZE_DOUBLE;
  return true;
}

/* Makes room for boxes of this precision. */
static graze_status prepare(graze_broadphase *bp, const graze_box_array *boxes, uint32_t more) {
  if (boxes->precision == GRAZE_DOUBLE && bp->precision == GRAZE_FLOAT && !widen(bp)) {
    return gz_fail_memory(bp->context, bp->capacity * box_bytes(GRAZE_DOUBLE));
  }
  uint32_t fresh = more > bp->free_count ? more - bp->free_count : 0;
  if (fresh > UINT32_MAX - 1 - bp->index_end) {
    return gz_fail(bp->context, GRAZE_ERROR_LIMIT, "more than 2^32 - 2 proxies");
  }
  uint32_t needed = bp->index_end + fresh;
  if (needed <= bp->capacity) return GRAZE_OK;
  uint32_t capacity = needed;
  if (capacity < bp->capacity + bp->capacity / 2) capacity = bp->capacity + bp->capacity / 2;
  if (!reserve(bp, capacity)) {
    return gz_fail(bp->context, GRAZE_ERROR_MEMORY, "broad phase: no memory for %u proxies", capacity);
  }
  bp->capacity = capacity;
  return GRAZE_OK;
}

/* Writes one place behind the last edit, edited or not: there is room for one more than there are indices. */
static void mark(graze_broadphase *bp, uint32_t index) {
  uint8_t *edited = bp->edited.data;
  uint32_t *slots = bp->edit_slots.data;
  slots[bp->edit_count] = index;
  bp->edit_count += edited[index] == 0;
  edited[index] = 1;
}

/* Gives an index box `i` of `from`. */
static void put_box(graze_broadphase *bp, uint32_t index, const broad_view *from, uint32_t i) {
  graze_box box = view_box(from, i); /* floats may come among doubles */
  const void *source = from->precision == bp->precision ? from->data + (size_t)i * from->stride : (const void *)&box;
  memcpy(box_at(bp, index), source, box_bytes(bp->precision));
}

/* Copies `bytes`, a constant, and tells whether they differ from what was there. */
static inline bool replaced(void *to, const void *from, size_t bytes) {
  if (memcmp(to, from, bytes) == 0) return false;
  memcpy(to, from, bytes);
  return true;
}

/* As put_box, and marks an edit when it is another box than before (-0 and 0 being two numbers for once). */
static inline void change_box(graze_broadphase *bp, uint32_t index, const broad_view *from, uint32_t i) {
  const char *source = from->data + (size_t)i * from->stride;
  bool differs;
  if (bp->precision == GRAZE_FLOAT) {
    differs = replaced((float *)bp->boxes.data + 6 * (size_t)index, source, 6 * sizeof(float));
  } else {
    graze_box box = view_box(from, i); /* floats may come among doubles */
    differs = replaced((double *)bp->boxes.data + 6 * (size_t)index, &box, sizeof box);
  }
  if (differs) mark(bp, index);
}

/* ---- edits ----------------------------------------------------------------------------------------------------- */

graze_status graze_broadphase_add(graze_broadphase *bp, const graze_box_array *boxes, uint32_t count,
                                  const uint64_t *user_ids, const uint8_t *layers, graze_proxy_id *proxies) {
  if (bp == NULL) return GRAZE_ERROR_ARGUMENT;
  graze_status status = gz_boxes_check(bp->context, boxes, count);
  for (uint32_t i = 0; layers != NULL && status == GRAZE_OK && i < count; i++) {
    if (layers[i] >= GRAZE_BROAD_LAYERS) {
      status = gz_fail(bp->context, GRAZE_ERROR_ARGUMENT, "box %u: layer %u is not below %d", i, layers[i],
                       GRAZE_BROAD_LAYERS);
    }
  }
  if (status == GRAZE_OK) status = prepare(bp, boxes, count);
  if (status != GRAZE_OK) return status;
  broad_view view = gz_broad_view_of_array(bp->context, boxes, count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t index;
    if (bp->free_count > 0) {
      index = ((uint32_t *)bp->free_indices.data)[--bp->free_count];
    } else {
      index = bp->index_end++;
      ((uint32_t *)bp->generations.data)[index] = 0;
      ((uint8_t *)bp->edited.data)[index] = 0;
    }
    uint32_t *generation = (uint32_t *)bp->generations.data + index;
    (*generation)++; /* odd: alive; a free index has an even one */
    ((uint64_t *)bp->user_ids.data)[index] = user_ids != NULL ? user_ids[i] : i;
    ((uint8_t *)bp->layers.data)[index] = layers != NULL ? layers[i] : 0;
    put_box(bp, index, &view, i);
    mark(bp, index);
    if (proxies != NULL) proxies[i] = (graze_proxy_id){index, *generation};
  }
  bp->live += count;
  bp->edition++;
  return GRAZE_OK;
}

/* Before boxes are moved, `proxies` NULL: all of them; looks at a few. */
static void sample_motion(graze_broadphase *bp, const graze_proxy_id *proxies, const broad_view *to) {
  enum { SAMPLE = 64 };
  if (bp->def.method != GRAZE_BROAD_AUTO) return;
  broad_view from = gz_broad_view_of(bp);
  uint32_t step = to->count / SAMPLE + 1;
  for (uint32_t i = 0; i < to->count; i += step) {
    graze_box before = view_box(&from, proxies != NULL ? proxies[i].index : i), after = view_box(to, i);
    double way = 0, edge = 0;
    for (int k = 0; k < 3; k++) {
      way = fmax(way, fabs(after.min[k] - before.min[k]));
      edge = fmax(edge, after.max[k] - after.min[k]);
    }
    if (way == 0 || !isfinite(way + edge)) continue;
    bp->motion.way += way;
    bp->motion.edge += edge;
  }
}

graze_status graze_broadphase_move(graze_broadphase *bp, const graze_proxy_id *proxies, const graze_box_array *boxes,
                                   uint32_t count) {
  if (bp == NULL) return GRAZE_ERROR_ARGUMENT;
  graze_status status = gz_boxes_check(bp->context, boxes, count);
  if (status == GRAZE_OK) status = check_proxies(bp, proxies, count);
  if (status == GRAZE_OK) status = prepare(bp, boxes, 0);
  if (status != GRAZE_OK) return status;
  broad_view view = gz_broad_view_of_array(bp->context, boxes, count);
  sample_motion(bp, proxies, &view);
  for (uint32_t i = 0; i < count; i++) {
    change_box(bp, proxies[i].index, &view, i);
  }
  bp->edition++;
  return GRAZE_OK;
}

/* All boxes at once, of `bytes` bytes on both sides: as change_box, without a branch a box, and with a size that is
 * known to the compiler. */
static inline __attribute__((always_inline)) void change_all(graze_broadphase *bp, const broad_view *from,
                                                             size_t bytes) {
  uint8_t *edited = bp->edited.data;
  uint32_t *slots = bp->edit_slots.data, edits = bp->edit_count;
  char *to = bp->boxes.data;
  for (uint32_t i = 0; i < from->count; i++, to += bytes) {
    const char *at = from->data + (size_t)i * from->stride;
    uint64_t differ = 0;
    for (size_t k = 0; k < bytes; k += sizeof differ) { /* word by word: in registers */
      uint64_t now, then;
      memcpy(&now, at + k, sizeof now);
      memcpy(&then, to + k, sizeof then);
      memcpy(to + k, &now, sizeof now);
      differ |= now ^ then;
    }
    uint8_t fresh = (uint8_t)((differ != 0) & (edited[i] == 0));
    slots[edits] = i;
    edits += fresh;
    edited[i] |= fresh;
  }
  bp->edit_count = edits;
}

graze_status graze_broadphase_move_all(graze_broadphase *bp, const graze_box_array *boxes, uint32_t count) {
  if (bp == NULL) return GRAZE_ERROR_ARGUMENT;
  if (count != bp->live || count != bp->index_end) {
    return gz_fail(bp->context, GRAZE_ERROR_ARGUMENT, "%u boxes for %u proxies with indices below %u", count, bp->live,
                   bp->index_end);
  }
  graze_status status = gz_boxes_check(bp->context, boxes, count);
  if (status == GRAZE_OK) status = prepare(bp, boxes, 0);
  if (status != GRAZE_OK) return status;
  broad_view view = gz_broad_view_of_array(bp->context, boxes, count);
  sample_motion(bp, NULL, &view);
  if (view.precision == GRAZE_FLOAT && bp->precision == GRAZE_FLOAT) {
    change_all(bp, &view, 6 * sizeof(float));
  } else if (view.precision == GRAZE_DOUBLE) {
    change_all(bp, &view, 6 * sizeof(double));
  } else {
    for (uint32_t i = 0; i < count; i++) change_box(bp, i, &view, i);
  }
  bp->edition++;
  return GRAZE_OK;
}

graze_status graze_broadphase_remove(graze_broadphase *bp, const graze_proxy_id *proxies, uint32_t count) {
  if (bp == NULL) return GRAZE_ERROR_ARGUMENT;
  graze_status status = check_proxies(bp, proxies, count);
  if (status != GRAZE_OK) return status;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t index = proxies[i].index;
    uint32_t *generation = (uint32_t *)bp->generations.data + index;
    if (*generation != proxies[i].generation) continue; /* named twice */
    (*generation)++;
    memcpy(box_at(bp, index), bp->precision == GRAZE_DOUBLE ? (const void *)empty_double : (const void *)empty_float,
           box_bytes(bp->precision));
    mark(bp, index);
    ((uint32_t *)bp->removed.data)[bp->removed_count++] = index;
    bp->live--;
  }
  bp->edition++;
  return GRAZE_OK;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

broad_view gz_broad_view_of(const graze_broadphase *bp) {
  return (broad_view){.context = bp->context,
                      .data = bp->boxes.data,
                      .stride = box_bytes(bp->precision),
                      .precision = bp->precision,
                      .count = bp->index_end,
                      .holes = bp->live != bp->index_end,
                      .layers = bp->layers_matter ? bp->layers.data : NULL,
                      .meets = bp->meets,
                      .manager = bp->def.manager};
}

uint32_t graze_broadphase_count(const graze_broadphase *bp) {
  return bp->live;
}

uint32_t graze_broadphase_index_end(const graze_broadphase *bp) {
  return bp->index_end;
}

uint64_t graze_broadphase_user_id(const graze_broadphase *bp, uint32_t index) {
  return index < bp->index_end ? ((const uint64_t *)bp->user_ids.data)[index] : 0;
}

graze_status graze_broadphase_set_layers_meet(graze_broadphase *bp, uint32_t first, uint32_t second, bool meet) {
  if (bp == NULL) return GRAZE_ERROR_ARGUMENT;
  if (first >= GRAZE_BROAD_LAYERS || second >= GRAZE_BROAD_LAYERS) {
    return gz_fail(bp->context, GRAZE_ERROR_ARGUMENT, "layer %u is not below %d", first > second ? first : second,
                   GRAZE_BROAD_LAYERS);
  }
  uint64_t bit = UINT64_C(1) << second, other = UINT64_C(1) << first;
  if (((bp->meets[first] & bit) != 0) == meet) return GRAZE_OK;
  bp->meets[first] = meet ? bp->meets[first] | bit : bp->meets[first] & ~bit;
  bp->meets[second] = meet ? bp->meets[second] | other : bp->meets[second] & ~other;
  bp->layers_changed = true;
  bp->layers_matter = false;
  for (int k = 0; k < GRAZE_BROAD_LAYERS; k++) bp->layers_matter |= bp->meets[k] != UINT64_MAX;
  return GRAZE_OK;
}
