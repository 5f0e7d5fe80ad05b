/* Binary space partition over boxes.
 *
 * Planes have one of thirteen directions: the three axes, the six diagonals of two axes and the four of three. Boxes
 * that do not meet are always parted by the plane of a face, so that axes alone would do; a diagonal plane parts many
 * at once where things lie along a diagonal. A plane goes through a box of the node, at the end of the box in the
 * plane's direction. Of some planes for each direction the one is taken that parts the most pairs, below times above,
 * counted on a sample of the boxes: that leaves the least to be looked at. Boxes cut by the plane go to a third child
 * and are cut further with other planes.
 *
 * H. Fuchs, Z. Kedem, B. Naylor, "On visible surface generation by a priori tree structures", 1980, for the tree; the
 * directions are those of the 26-faced bounding volumes of Klosowski et al., 1998. O(n log n + k) on common scenes, two
 * to three times a kd-tree's time for the search of planes. Memory: broad/space_tree.h.
 *
 * The ends of a box along a diagonal are sums of two or three of its numbers, which are rounded. Rounding keeps order:
 * a point of two boxes, its numbers summed alike, is between the rounded ends of both, so that boxes held to be parted
 * by a plane are.
 */
#include "broad/space_tree.h"

enum {
  DIRECTIONS = 13,
  SAMPLE = 32,
  POSITIONS = 4, /* of planes that are tried in each direction */
  BELOW = 0,
  ACROSS,
  ABOVE
};

static const int8_t directions[DIRECTIONS][3] = {{1, 0, 0},  {0, 1, 0},  {0, 0, 1}, {1, 1, 0},  {1, -1, 0},
                                                 {1, 0, 1},  {1, 0, -1}, {0, 1, 1}, {0, 1, -1}, {1, 1, 1},
                                                 {1, 1, -1}, {1, -1, 1}, {-1, 1, 1}};

typedef struct bsp_span {
  double low, high;
} bsp_span;

/* From where to where a box reaches along a direction. */
static bsp_span span_of(const graze_box *box, int direction) {
  const int8_t *n = directions[direction];
  bsp_span span = {0, 0};
  for (int k = 0; k < 3; k++) {
    if (n[k] == 0) continue;
    span.low += n[k] > 0 ? box->min[k] : -box->max[k];
    span.high += n[k] > 0 ? box->max[k] : -box->min[k];
  }
  return span;
}

static uint8_t side(bsp_span s, double plane) {
  return s.high <= plane ? BELOW : s.low > plane ? ABOVE : ACROSS;
}

typedef struct bsp_plane {
  int direction;
  double at;
  uint32_t parts; /* pairs of the sample */
} bsp_plane;

/* Tries planes across one direction: through the end of the box that ends first, and of those a quarter, a half and
 * three quarters on. The first one parts something whenever a plane of this direction does. */
static void try_direction(const graze_box *sample, uint32_t taken, int direction, bsp_plane *best) {
  bsp_span spans[SAMPLE];
  double ends[SAMPLE];
  for (uint32_t i = 0; i < taken; i++) {
    spans[i] = span_of(&sample[i], direction);
    uint32_t j = i;
    for (; j > 0 && ends[j - 1] > spans[i].high; j--) ends[j] = ends[j - 1];
    ends[j] = spans[i].high;
  }
  for (uint32_t p = 0; p < POSITIONS; p++) {
    double plane = ends[p * taken / POSITIONS];
    uint32_t below = 0, above = 0;
    for (uint32_t i = 0; i < taken; i++) {
      below += spans[i].high <= plane;
      above += spans[i].low > plane;
    }
    if (below * above > best->parts) *best = (bsp_plane){direction, plane, below * above};
  }
}

static void anywhere(const graze_box *box, space_room *room) {
  (void)box;
  (void)room;
}

static bool cut_at_plane(space_item *items, uint32_t count, const graze_box *box, const space_room *room,
                         space_cut *cut) {
  (void)box;
  (void)room;
  graze_box sample[SAMPLE];
  uint32_t taken = count < SAMPLE ? count : SAMPLE;
  for (uint32_t i = 0; i < taken; i++) sample[i] = items[(uint64_t)i * count / taken].box;
  bsp_plane plane = {0};
  for (int d = 0; d < DIRECTIONS; d++) try_direction(sample, taken, d, &plane);
  /* When not two of the sample lie apart, nearly all pairs meet. */
  if (plane.parts == 0) return false;
  for (uint32_t i = 0; i < count; i++) items[i].group = side(span_of(&items[i].box, plane.direction), plane.at);
  cut->groups = 3;
  cut->apart = true;
  return true;
}

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  return gz_space_tree_find(state, view, cut_at_plane, anywhere, out);
}

const broad_method gz_broad_bsp = {
    .info = {"bsp", "binary space partition, planes of thirteen directions", "O(n log n + k) on common scenes", false},
    .state_bytes = sizeof(space_tree),
    .find = find,
    .release = gz_space_tree_release,
    .bytes = gz_space_tree_bytes};
