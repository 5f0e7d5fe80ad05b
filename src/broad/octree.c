/* Loose octree.
 *
 * A cell of edge s may hold every box whose centre is in it and whose longest edge is at most s: such a box stays in
 * the cell blown up to 2 s, which is what "loose, looseness 2" means. So where a box goes follows from its centre and
 * size alone, and a small box that lies across a border of a large cell does not stay at the top, as it would in an
 * octree that is not loose. Boxes too long for the cells of the next level stay in the node.
 *
 * T. Ulrich, "Loose octrees", Game Programming Gems, 2000. O(n log n + k) when boxes are spread as they are in common
 * scenes; long thin boxes count as large. Memory: broad/space_tree.h.
 */
#include "broad/space_tree.h"

enum { STAY = 8 };

static void first_cell(const graze_box *box, space_room *room) {
  for (int k = 0; k < 3; k++) {
    double half = 0.5 * box->max[k] - 0.5 * box->min[k];
    room->center[k] = 0.5 * box->min[k] + 0.5 * box->max[k];
    room->half = half > room->half ? half : room->half;
  }
}

static double longest_edge(const graze_box *b) {
  double longest = 0;
  for (int k = 0; k < 3; k++) {
    double edge = b->max[k] - b->min[k];
    longest = edge > longest ? edge : longest;
  }
  return longest;
}

static uint8_t octant(const graze_box *b, const double center[3]) {
  unsigned which = 0;
  for (int k = 0; k < 3; k++) which |= (unsigned)(0.5 * b->min[k] + 0.5 * b->max[k] >= center[k]) << k;
  return (uint8_t)which;
}

static bool deal_to_octants(space_item *items, uint32_t count, const graze_box *box, const space_room *room,
                            space_cut *cut) {
  (void)box;
  double half = 0.5 * room->half; /* of a child; its edge is room->half */
  if (half == 0) return false;
  uint32_t staying = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool fits = longest_edge(&items[i].box) <= room->half;
    items[i].group = fits ? octant(&items[i].box, room->center) : STAY;
    staying += !fits;
  }
  if (staying == count) return false;
  cut->groups = STAY + 1;
  cut->room[STAY].closed = true;
  for (unsigned c = 0; c < STAY; c++) {
    space_room *child = &cut->room[c];
    child->half = half;
    for (int k = 0; k < 3; k++) child->center[k] = room->center[k] + ((c >> k & 1) != 0 ? half : -half);
  }
  return true;
}

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  return gz_space_tree_find(state, view, deal_to_octants, first_cell, out);
}

const broad_method gz_broad_octree = {
    .info = {"octree", "loose octree, looseness 2", "O(n log n + k) on common scenes", false},
    .state_bytes = sizeof(space_tree),
    .find = find,
    .release = gz_space_tree_release,
    .bytes = gz_space_tree_bytes};
