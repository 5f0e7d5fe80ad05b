/* kd-tree over boxes.
 *
 * A node is cut by a plane across the axis on which its boxes lie apart the farthest, through the median centre. Boxes
 * wholly below go to one child, those wholly above to another; those that the plane cuts or touches go to a third,
 * which is never cut on that axis again: on it they all share a point. Boxes that share a point on all three axes meet,
 * each with each, so that a leaf without end (equal boxes) costs what its pairs cost.
 *
 * J. L. Bentley, "Multidimensional binary search trees", 1975, for points; the third child is that of an interval tree.
 * O(n log n + k) on common scenes; each step down halves the boxes, nearly, or drops an axis. Memory:
 * broad/space_tree.h.
 */
#include <math.h>

#include "broad/space_tree.h"

enum {
  SAMPLE = 63, /* boxes of which the median is taken */
  BELOW = 0,
  ACROSS,
  ABOVE
};

static void all_axes(const graze_box *box, space_room *room) {
  (void)box;
  room->axes = 7;
}

/* How far the boxes lie apart on an axis: from the lowest upper end to the highest lower end. Not above 0: they share a
 * point. */
static double spread(const space_item *items, uint32_t count, int axis) {
  double lowest = (double)INFINITY, highest = -(double)INFINITY;
  for (uint32_t i = 0; i < count; i++) {
    const graze_box *b = &items[i].box;
    lowest = b->max[axis] < lowest ? b->max[axis] : lowest;
    highest = b->min[axis] > highest ? b->min[axis] : highest;
  }
  return highest > lowest ? highest - lowest : 0; /* subnormal numbers are kept: 0 only when equal */
}

static double median_center(const space_item *items, uint32_t count, int axis) {
  double sorted[SAMPLE] = {0};
  uint32_t taken = count < SAMPLE ? count : SAMPLE;
  for (uint32_t i = 0; i < taken; i++) {
    const graze_box *b = &items[(uint64_t)i * count / taken].box;
    double center = 0.5 * b->min[axis] + 0.5 * b->max[axis];
    uint32_t j = i;
    for (; j > 0 && sorted[j - 1] > center; j--) sorted[j] = sorted[j - 1];
    sorted[j] = center;
  }
  return sorted[taken / 2];
}

static bool cut_at_median(space_item *items, uint32_t count, const graze_box *box, const space_room *room,
                          space_cut *cut) {
  (void)box;
  double widest = 0;
  int axis = -1;
  for (int k = 0; k < 3; k++) {
    double apart = (room->axes >> k & 1) != 0 ? spread(items, count, k) : 0;
    if (apart > widest) {
      widest = apart;
      axis = k;
    }
  }
  if (axis < 0) return false; /* all meet all */
  double plane = median_center(items, count, axis);
  for (uint32_t i = 0; i < count; i++) {
    const graze_box *b = &items[i].box;
    items[i].group = b->max[axis] < plane ? BELOW : b->min[axis] > plane ? ABOVE : ACROSS;
  }
  cut->groups = 3;
  cut->apart = true;
  cut->room[BELOW].axes = cut->room[ABOVE].axes = room->axes;
  cut->room[ACROSS].axes = room->axes & ~(1u << axis);
  return true;
}

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  return gz_space_tree_find(state, view, cut_at_median, all_axes, out);
}

const broad_method gz_broad_kdtree = {
    .info = {"kdtree", "kd-tree, boxes on a plane in a child of their own", "O(n log n + k) on common scenes", false},
    .state_bytes = sizeof(space_tree),
    .find = find,
    .release = gz_space_tree_release,
    .bytes = gz_space_tree_bytes};
