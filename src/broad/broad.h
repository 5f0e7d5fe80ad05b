/* What a broad phase method sees and gives: the boxes of all slots in, pairs out.
 *
 * A slot is the index of a proxy (or, for pairs of boxes that are not added, the number of a box). A free slot has an
 * empty box, min +inf and max -inf, which meets nothing.
 */
#ifndef GRAZE_SRC_BROAD_BROAD_H
#define GRAZE_SRC_BROAD_BROAD_H

#include <string.h>

#include "broad/pairs.h"
#include "graze/broadphase.h"

typedef struct broad_view {
  const graze_context *context;
  const char *data; /* six numbers a slot: min x y z, max x y z; finite but for free slots */
  size_t stride;    /* bytes from slot to slot */
  graze_precision precision;
  uint32_t count;        /* of slots */
  bool holes;            /* some are free */
  const uint8_t *layers; /* by slot. NULL: every pair counts */
  const uint64_t *meets; /* by layer: bit m is set when pairs with layer m count; symmetric */
  graze_pair_manager manager;
} broad_view;

/* Number by number: a box that is put together and then copied makes the processor wait for its parts. */
static inline graze_box view_box(const broad_view *view, uint32_t slot) {
  graze_box box;
  const char *at = view->data + (size_t)slot * view->stride;
  if (view->precision == GRAZE_DOUBLE) {
    for (int k = 0; k < 3; k++) {
      memcpy(&box.min[k], at + k * sizeof(double), sizeof(double));
      memcpy(&box.max[k], at + (k + 3) * sizeof(double), sizeof(double));
    }
    return box;
  }
  for (int k = 0; k < 3; k++) {
    float low, high;
    memcpy(&low, at + k * sizeof low, sizeof low);
    memcpy(&high, at + (k + 3) * sizeof high, sizeof high);
    box.min[k] = (double)low;
    box.max[k] = (double)high;
  }
  return box;
}

static inline bool box_is_empty(const graze_box *box) {
  return box->min[0] > box->max[0];
}

/* graze_boxes_meet without a branch, for boxes near each other: they miss on no axis more than on another. */
static inline bool boxes_meet_branchless(const graze_box *a, const graze_box *b) {
  return (a->min[0] <= b->max[0]) & (b->min[0] <= a->max[0]) & (a->min[1] <= b->max[1]) & (b->min[1] <= a->max[1]) &
         (a->min[2] <= b->max[2]) & (b->min[2] <= a->max[2]);
}

/* Whether the layers of two slots meet. */
static inline bool view_counts(const broad_view *view, uint32_t a, uint32_t b) {
  return view->layers == NULL || (view->meets[view->layers[a]] >> view->layers[b] & 1) != 0;
}

/* Whether a slot can be in a pair at all: it is not free, and its layer meets some layer. */
static inline bool view_takes(const broad_view *view, uint32_t slot) {
  if (view->layers != NULL && view->meets[view->layers[slot]] == 0) return false;
  if (!view->holes) return true;
  graze_box box = view_box(view, slot);
  return !box_is_empty(&box);
}

/* The definition of a pair that is reported, on the caller's own numbers. */
static inline bool view_meet(const broad_view *view, uint32_t a, uint32_t b) {
  if (!view_counts(view, a, b)) return false;
  graze_box p = view_box(view, a), q = view_box(view, b);
  return graze_boxes_meet(&p, &q);
}

/* How many boxes from the first on are good for certain: all, or fewer than 64 before the first bad one. */
typedef uint32_t good_boxes_function(const broad_view *view);
CPU_KERNELS(good_boxes_function, gz_good_boxes);

/* Packed boxes. Methods that test floats instead of the caller's numbers turn every number to the nearest float. That
 * is monotone: numbers that are in order stay in order or become equal. So boxes that meet still meet as floats, and
 * floats that meet with all six comparisons strict meet for certain; only a comparison of equal floats has to be looked
 * at again, with view_meet. Nothing is to be looked at when the caller's numbers are floats. */

/* Slots whose boxes, lives or layers are not what they were when the structure was brought up to date last. */
typedef struct broad_edits {
  const uint32_t *slots; /* ascending */
  uint32_t count;
  const uint8_t *edited; /* by slot: 1 for those */
} broad_edits;

/* One line of the table. `state` points to `state_bytes` that were zero at first. */
typedef struct broad_method {
  graze_broad_method_info info;
  size_t state_bytes;
  uint32_t most_slots; /* of a view; 0: as many as there can be */

  /* Appends every pair of the view once, in any order, and forgets whatever it knew before. Methods with one of the
   * next two are ready for edits afterwards. Errors: MEMORY. */
  graze_status (*find)(void *state, const broad_view *view, pair_list *out);

  /* Methods that keep up with edits have one of the next two; the others have neither. Both bring the structure to the
   * view; an edited slot may be new to it, or free now. After an error, and when layers begin or cease to meet, the
   * next call is `find`. */

  /* Appends every pair that has an edited slot once, in any order: pairs that meet now, whether or not they did. */
  graze_status (*step)(void *state, const broad_view *view, const broad_edits *edits, pair_list *out);

  /* Appends the pairs that began and those that ended since the last call, in any order. */
  graze_status (*changes)(void *state, const broad_view *view, const broad_edits *edits, pair_list *began,
                          pair_list *ended);

  /* Whether these edits cost less than `find`; NULL: when less than a third of the slots was edited. Not asked of
   * methods with `made_anew`. */
  bool (*pays)(const void *state, const broad_view *view, const broad_edits *edits);

  /* Of methods that take any edits, and make all anew where that pays: whether the last call did, though it was no
   * `find`; it cost much more than others then. NULL of the others. */
  bool (*made_anew)(const void *state);

  void (*release)(const graze_context *context, void *state);
  size_t (*bytes)(const void *state); /* that it takes */
} broad_method;

/* The line of the table; NULL when `method` is none. That of AUTO has no functions. */
const broad_method *gz_broad_method_of(graze_broad_method method);

extern const broad_method gz_broad_brute, gz_broad_sweep, gz_broad_sap, gz_broad_grid, gz_broad_hgrid, gz_broad_hash,
    gz_broad_tree, gz_broad_bvh, gz_broad_octree, gz_broad_kdtree, gz_broad_bsp, gz_broad_subdivision, gz_broad_verlet;

#endif
