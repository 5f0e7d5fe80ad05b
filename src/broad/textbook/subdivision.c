/* Parallel spatial subdivision, on the processor: the reference for one on a graphics device.
 *
 * S. Le Grand, "Broad-phase collision detection with CUDA", GPU Gems 3, chapter 32, 2007. Every object is put into its
 * home cell, which has the centre of its bounding sphere, and into its phantom cells, the others that the sphere
 * touches. The list of (cell, object) is sorted by cell, stably, home cells having been written first; so in each cell
 * those at home stand before the guests. Cells are handled in 2^d passes, one for each type, a type being the parities
 * of a cell's coordinates: cells of one type have others between them, so that no object is in two cells of one pass
 * and the pairs of a pass may be acted on side by side. Pairs of two guests are not tested. A pair that meets in
 * several cells is tested in the first pass that has one of their home cells: d + 2^d control bits of each object say
 * of what type its home is and what types it touches, and a pair is left out when the home of one of the two is of an
 * earlier type and both touch that type.
 *
 * Two conditions make that right, each for a reason of its own:
 *
 * Radii are scaled by the square root of 2. Without it two spheres may touch near an edge of cells while neither
 * reaches the home of the other, and the rule about guests loses them. Say A's scaled sphere does not reach B's home
 * and B's not A's. On each axis on which the homes differ, the distance of the centres is the sum of the two distances
 * to the border; sums of squares then give |a - b|^2 >= (distance of a to B's home)^2 + (distance of b to A's home)^2
 * >= 2 rA^2 + 2 rB^2 >= (rA + rB)^2: such spheres do not meet.
 *
 * A cell is at least 1.5 times the diameter of the largest scaled sphere. The control bits know types, not cells. Let A
 * be at home in a cell of type T, and B touch another cell of type T, one further on: both touch type T, but they do
 * not share that cell, and leaving the pair out would lose it. With scaled radius R and cell s, b is then at least s -
 * R beyond a, while spheres that meet are at most rA + rB <= sqrt(2) R apart; s > (1 + sqrt 2) R, about 1.21 diameters,
 * makes that impossible, and 1.5 leaves room for rounding.
 *
 * Here boxes are reported, exactly; spheres around them only say where to look. A world that is flat, thinner than a
 * cell on some axis, is projected along it: d = 2. Objects much larger than the rest would make the cells useless for
 * the others, so objects are dealt out to classes by radius, each at most a quarter of the one before, the last with
 * all the rest; every class has a grid of its own, fit for its largest, into which smaller objects are put as well, and
 * in which only pairs with an object of the class are tested.
 *
 * O(c (n + t)) for c <= 8 classes that are not empty and t tests in the cells of one. Memory: 2^d entries of 12 bytes
 * an object, twice for sorting, and 131 bytes for object, sphere and cell: 323 bytes a box in space.
 */
#include "broad/textbook/subdivision.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "broad/broad.h"

/* ---- the grid -------------------------------------------------------------------------------------------------- */

static const double MOST_CELLS = 0x1p20; /* an axis; three coordinates fit into an id */
static const double SLACK = 0x1p-30;     /* in cells: more than coordinates are off by rounding */

subdivision_grid gz_subdivision_grid_of(int dimensions, const double low[3], const double high[3], double largest,
                                        double scale, double cell_factor) {
  subdivision_grid grid = {.scale = scale, .dimensions = dimensions};
  grid.cell = cell_factor * (2 * scale * largest) * (1 + SLACK);
  for (int k = 0; k < dimensions; k++) grid.cell = fmax(grid.cell, (high[k] - low[k]) / MOST_CELLS);
  for (int k = 0; k < dimensions; k++) {
    grid.origin[k] = low[k];
    grid.shift[k] = grid.bits;
    /* A cell more on each side, for phantoms. */
    uint32_t cells = (uint32_t)((high[k] - low[k]) / grid.cell) + 3;
    while (cells >> (grid.bits - grid.shift[k]) != 0) grid.bits++;
  }
  return grid;
}

static unsigned type_of(const subdivision_grid *grid, uint64_t id) {
  unsigned type = 0;
  for (int k = 0; k < grid->dimensions; k++) type |= (unsigned)(id >> grid->shift[k] & 1) << k;
  return type;
}

/* ---- 1. cell ids and control bits ------------------------------------------------------------------------------ */

/* The sphere touches at most the neighbours on the near side of each axis, a cell being wider than the sphere. */
static void mark_one(const subdivision_grid *grid, const subdivision_sphere *sphere, uint32_t object, uint32_t count,
                     uint64_t *ids, uint32_t *objects, subdivision_control *control) {
  int d = grid->dimensions;
  uint64_t home = 0, aside[3];
  double gap[3]; /* to the neighbour on the near side */
  for (int k = 0; k < d; k++) {
    double at = (sphere->center[k] - grid->origin[k]) / grid->cell;
    uint64_t cell = (uint64_t)at;
    double inside = at - (double)cell;
    bool below = inside < 0.5;
    gap[k] = below ? inside : 1 - inside;
    aside[k] = (below ? UINT64_MAX : (uint64_t)1) << grid->shift[k];
    home += (cell + 1) << grid->shift[k];
  }
  double radius = sphere->radius * grid->scale / grid->cell + SLACK;
  unsigned type = type_of(grid, home), touched = 1u << type;
  ids[object] = home;
  objects[object] = object;
  uint32_t others = (1u << d) - 1;
  for (uint32_t c = 1; c <= others; c++) {
    uint64_t id = home;
    double distance2 = 0;
    for (int k = 0; k < d; k++) {
      if ((c >> k & 1) == 0) continue;
      id += aside[k];
      distance2 += gap[k] * gap[k];
    }
    bool touches = distance2 <= radius * radius;
    size_t at = count + (size_t)object * others + (c - 1);
    ids[at] = touches ? id : (uint64_t)1 << grid->bits;
    objects[at] = object;
    if (touches) touched |= 1u << (type ^ c);
  }
  control[object] = (subdivision_control)(touched | type << SUBDIVISION_HOME);
}

void gz_subdivision_mark(const subdivision_grid *grid, const subdivision_sphere *spheres, uint32_t count,
                         uint32_t begin, uint32_t end, uint64_t *ids, uint32_t *objects, subdivision_control *control) {
  for (uint32_t i = begin; i < end; i++) mark_one(grid, &spheres[i], i, count, ids, objects, control);
}

/* ---- 2. sorting ------------------------------------------------------------------------------------------------ */

enum { DIGIT = 8 };

static void sort_digit(const uint64_t *ids, const uint32_t *objects, size_t count, unsigned shift, uint64_t *ids2,
                       uint32_t *objects2) {
  size_t next[(1 << DIGIT) + 1] = {0};
  const uint64_t mask = (1 << DIGIT) - 1;
  for (size_t i = 0; i < count; i++) next[(ids[i] >> shift & mask) + 1]++;
  for (size_t v = 0; v < mask; v++) next[v + 1] += next[v];
  for (size_t i = 0; i < count; i++) {
    size_t to = next[ids[i] >> shift & mask]++;
    ids2[to] = ids[i];
    objects2[to] = objects[i];
  }
}

void gz_subdivision_sort(uint64_t *ids, uint32_t *objects, size_t count, unsigned bits, uint64_t *ids2,
                         uint32_t *objects2) {
  for (unsigned shift = 0; shift <= bits; shift += 2 * DIGIT) {
    sort_digit(ids, objects, count, shift, ids2, objects2);
    sort_digit(ids2, objects2, count, shift + DIGIT, ids, objects);
  }
}

/* ---- 3. the list of cells -------------------------------------------------------------------------------------- */

size_t gz_subdivision_list(const subdivision_grid *grid, const uint64_t *ids, const uint32_t *objects, size_t count,
                           const subdivision_control *control, uint32_t large, subdivision_cell *cells) {
  size_t used = 0;
  for (size_t i = 0, end; i < count && ids[i] >> grid->bits == 0; i = end) {
    subdivision_cell cell = {.start = i, .type = type_of(grid, ids[i])};
    for (end = i; end < count && ids[end] == ids[i]; end++) {
      uint32_t object = objects[end];
      /* It touches one cell of each type, so its home is the one of the home's type. */
      bool home = control[object] >> SUBDIVISION_HOME == cell.type;
      cell.homes += home;
      cell.phantoms += !home;
      cell.large_homes += home && object < large;
      cell.large_phantoms += !home && object < large;
    }
    bool some = cell.large_homes + cell.large_phantoms > 0;
    if (end - i > 1 && cell.homes > 0 && some) cells[used++] = cell;
  }
  return used;
}

/* ---- 4. the pairs of a cell ------------------------------------------------------------------------------------ */

/* Whether the home of one of the two is of an earlier type, and both touch that type. */
static inline bool handled_before(subdivision_control a, subdivision_control b, uint32_t type) {
  unsigned earlier = (1u << type) - 1;
  unsigned homes = 1u << (a >> SUBDIVISION_HOME) | 1u << (b >> SUBDIVISION_HOME);
  return (a & b & homes & earlier) != 0;
}

static inline bool traverse_cell(const subdivision_cell *cell, const uint32_t *objects,
                                 const subdivision_control *control, bool (*visit)(void *user, uint32_t a, uint32_t b),
                                 void *user) {
  const uint32_t *in = objects + cell->start;
  uint32_t all = cell->homes + cell->phantoms;
  for (uint32_t i = 0; i < cell->homes; i++) {
    bool large = i < cell->large_homes;
    uint32_t j = large ? i + 1 : cell->homes, end = large ? all : cell->homes + cell->large_phantoms;
    for (; j < end; j++) {
      if (handled_before(control[in[i]], control[in[j]], cell->type)) continue;
      if (!visit(user, in[i], in[j])) return false;
    }
  }
  return true;
}

bool gz_subdivision_traverse(const subdivision_cell *cell, const uint32_t *objects, const subdivision_control *control,
                             bool (*visit)(void *user, uint32_t a, uint32_t b), void *user) {
  return traverse_cell(cell, objects, control, visit, user);
}

/* ---- the method ------------------------------------------------------------------------------------------------ */

enum { CLASSES = 8, CLASS_RATIO = 4 };

typedef struct subdivision_object {
  graze_box box;
  uint32_t slot;
} subdivision_object;

typedef struct subdivision_state {
  buffer objects; /* by class, the largest first; then by slot */
  buffer spheres, control, classes;
  buffer ids, entries, ids2, entries2;
  buffer cells;
  pair_lists lists;
  uint32_t count;
  uint32_t start[CLASSES + 1]; /* of the classes */
} subdivision_state;

/* Everything about spheres is in units of 16, so that nothing overflows. */
static const double UNIT = 0x1p-4;

/* The sphere around the projection of a box to `dimensions` of the axes: not smaller than it. The centre is rounded, to
 * half a unit in the last place of the coordinates, of which a box may be no more than a few wide: what it is off by,
 * exactly (Knuth's sum of two), is added to the edges. */
static subdivision_sphere sphere_around(const graze_box *box, const int axis[3], int dimensions) {
  subdivision_sphere sphere = {{0}, 0};
  double half[3] = {0}, most = 0, sum = 0;
  for (int k = 0; k < dimensions; k++) {
    double low = 0.5 * UNIT * box->min[axis[k]], high = 0.5 * UNIT * box->max[axis[k]];
    double center = low + high, part = center - low;
    sphere.center[k] = center;
    half[k] = high - low + fabs((low - (center - part)) + (high - part));
    most = half[k] > most ? half[k] : most;
  }
  for (int k = 0; k < dimensions && most > 0; k++) sum += (half[k] / most) * (half[k] / most);
  sphere.radius = most * sqrt(sum) * (1 + 0x1p-40) + 0x1p-1060; /* for subnormal numbers, which lose bits above */
  return sphere;
}

static const int all_axes[3] = {0, 1, 2};

static uint8_t class_of(double radius, double largest) {
  uint8_t number = 0;
  while (number < CLASSES - 1 && radius <= largest / CLASS_RATIO) {
    largest /= CLASS_RATIO;
    number++;
  }
  return number;
}

static bool reserve(const graze_context *context, subdivision_state *s, uint32_t count) {
  size_t n = count;
  return gz_buffer_reserve(context, &s->objects, n * sizeof(subdivision_object), 0) &&
         gz_buffer_reserve(context, &s->spheres, n * sizeof(subdivision_sphere), 0) &&
         gz_buffer_reserve(context, &s->control, n * sizeof(subdivision_control), 0) &&
         gz_buffer_reserve(context, &s->classes, n, 0);
}

static bool reserve_entries(const graze_context *context, subdivision_state *s, size_t entries) {
  return gz_buffer_reserve(context, &s->ids, entries * sizeof(uint64_t), 0) &&
         gz_buffer_reserve(context, &s->entries, entries * sizeof(uint32_t), 0) &&
         gz_buffer_reserve(context, &s->ids2, entries * sizeof(uint64_t), 0) &&
         gz_buffer_reserve(context, &s->entries2, entries * sizeof(uint32_t), 0);
}

static double radius_of_slot(const broad_view *view, uint32_t slot) {
  graze_box box = view_box(view, slot);
  return sphere_around(&box, all_axes, 3).radius;
}

/* Puts the boxes in the order of their classes. */
static void deal_to_classes(const broad_view *view, subdivision_state *s) {
  double largest = 0;
  for (uint32_t slot = 0; slot < view->count; slot++) {
    if (view_takes(view, slot)) largest = fmax(largest, radius_of_slot(view, slot));
  }
  uint8_t *classes = s->classes.data;
  uint32_t next[CLASSES + 1] = {0};
  for (uint32_t slot = 0; slot < view->count; slot++) {
    classes[slot] = CLASSES;
    if (!view_takes(view, slot)) continue;
    classes[slot] = class_of(radius_of_slot(view, slot), largest);
    next[classes[slot] + 1]++;
  }
  for (int c = 0; c < CLASSES; c++) next[c + 1] += next[c];
  memcpy(s->start, next, sizeof next);
  s->count = next[CLASSES];
  subdivision_object *objects = s->objects.data;
  for (uint32_t slot = 0; slot < view->count; slot++) {
    if (classes[slot] < CLASSES) {
      objects[next[classes[slot]]++] = (subdivision_object){view_box(view, slot), slot};
    }
  }
}

/* One class: its objects are the first `large` of `count`, the others are smaller. */
typedef struct subdivision_run {
  const broad_view *view;
  const subdivision_object *objects;
  uint32_t count, large;
  subdivision_grid grid;
  subdivision_sphere *spheres;
  subdivision_control *control;
  uint64_t *ids;
  uint32_t *entries;
  const subdivision_cell *cells;
  uint32_t type; /* of this pass */
  pieces p;
  pair_lists *lists;
  bool failed[PARALLEL_PIECES];
} subdivision_run;

/* Makes the spheres for these axes; low and high get the bounds of their centres, the result is the largest radius. */
static double make_spheres(subdivision_run *r, const int axis[3], int dimensions, double low[3], double high[3]) {
  double largest = 0;
  for (int k = 0; k < 3; k++) {
    low[k] = (double)INFINITY;
    high[k] = -(double)INFINITY;
  }
  for (uint32_t i = 0; i < r->count; i++) {
    const subdivision_sphere *sphere = &r->spheres[i];
    r->spheres[i] = sphere_around(&r->objects[i].box, axis, dimensions);
    largest = sphere->radius > largest ? sphere->radius : largest;
    for (int k = 0; k < dimensions; k++) {
      low[k] = sphere->center[k] < low[k] ? sphere->center[k] : low[k];
      high[k] = sphere->center[k] > high[k] ? sphere->center[k] : high[k];
    }
  }
  return largest;
}

/* The grid of a class; without the thinnest axis when the world is no thicker there than a cell. */
static void choose_grid(subdivision_run *r) {
  double low[3], high[3];
  double largest = make_spheres(r, all_axes, 3, low, high);
  r->grid = gz_subdivision_grid_of(3, low, high, largest, SUBDIVISION_SCALE, SUBDIVISION_CELL);
  int thin = 0;
  for (int k = 1; k < 3; k++) thin = high[k] - low[k] < high[thin] - low[thin] ? k : thin;
  if (high[thin] - low[thin] > r->grid.cell) return;
  const int axis[3] = {(thin + 1) % 3, (thin + 2) % 3, thin};
  largest = make_spheres(r, axis, 2, low, high);
  r->grid = gz_subdivision_grid_of(2, low, high, largest, SUBDIVISION_SCALE, SUBDIVISION_CELL);
}

static void mark_piece(void *argument, uint32_t index) {
  const subdivision_run *r = argument;
  gz_subdivision_mark(&r->grid, r->spheres, r->count, (uint32_t)pieces_begin(&r->p, index),
                      (uint32_t)pieces_end(&r->p, index), r->ids, r->entries, r->control);
}

/* Pairs go into the list of the piece. */
typedef struct subdivision_visit {
  const subdivision_run *run;
  pair_list *out;
} subdivision_visit;

static bool test_pair(void *user, uint32_t a, uint32_t b) {
  const subdivision_visit *v = user;
  const broad_view *view = v->run->view;
  const subdivision_object *p = &v->run->objects[a], *q = &v->run->objects[b];
  if (!boxes_meet_branchless(&p->box, &q->box) || !view_counts(view, p->slot, q->slot)) return true;
  return pair_list_push(view->context, v->out, p->slot, q->slot);
}

static void traverse_piece(void *argument, uint32_t index) {
  subdivision_run *r = argument;
  subdivision_visit v = {r, &r->lists->part[index]};
  for (uint64_t c = pieces_begin(&r->p, index); c < pieces_end(&r->p, index) && !r->failed[index]; c++) {
    if (r->cells[c].type != r->type) continue;
    r->failed[index] = !traverse_cell(&r->cells[c], r->entries, r->control, test_pair, &v);
  }
}

/* The passes; pairs of all of them are gathered piece by piece. */
static bool traverse(subdivision_run *r, size_t cells, pair_list *out) {
  r->p = pieces_of(cells, 64);
  for (r->type = 0; r->type < 1u << r->grid.dimensions; r->type++) {
    gz_parallel_each(r->view->context, r->p.number, traverse_piece, r);
  }
  bool good = true;
  for (uint32_t i = 0; i < r->p.number; i++) good = good && !r->failed[i];
  good = good && gz_pair_lists_join(r->view->context, r->lists, r->p.number, out);
  for (uint32_t i = 0; i < r->p.number; i++) r->lists->part[i].count = 0;
  return good;
}

static bool find_in_class(subdivision_state *s, const broad_view *view, int number, pair_list *out) {
  uint32_t start = s->start[number], end = s->start[number + 1];
  if (start == end || s->count - start < 2) return true;
  subdivision_run r = {.view = view,
                       .objects = (const subdivision_object *)s->objects.data + start,
                       .count = s->count - start,
                       .large = end - start,
                       .spheres = s->spheres.data,
                       .control = s->control.data,
                       .lists = &s->lists};
  choose_grid(&r);
  size_t entries = (size_t)r.count << r.grid.dimensions;
  if (!reserve_entries(view->context, s, entries)) return false;
  r.ids = s->ids.data;
  r.entries = s->entries.data;
  r.p = pieces_of(r.count, 1024);
  gz_parallel_each(view->context, r.p.number, mark_piece, &r);
  gz_subdivision_sort(r.ids, r.entries, entries, r.grid.bits, s->ids2.data, s->entries2.data);
  if (!gz_buffer_reserve(view->context, &s->cells, r.count * sizeof(subdivision_cell), 0)) return false;
  r.cells = s->cells.data;
  size_t cells = gz_subdivision_list(&r.grid, r.ids, r.entries, entries, r.control, r.large, s->cells.data);
  return traverse(&r, cells, out);
}

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  subdivision_state *s = state;
  if (!reserve(view->context, s, view->count)) return GRAZE_ERROR_MEMORY;
  deal_to_classes(view, s);
  for (int c = 0; c < CLASSES; c++) {
    if (!find_in_class(s, view, c, out)) return GRAZE_ERROR_MEMORY;
  }
  return GRAZE_OK;
}

static void release(const graze_context *context, void *state) {
  subdivision_state *s = state;
  buffer *all[] = {&s->objects, &s->spheres, &s->control,  &s->classes, &s->ids,
                   &s->entries, &s->ids2,    &s->entries2, &s->cells};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) gz_buffer_release(context, all[i]);
  gz_pair_lists_release(context, &s->lists);
}

static size_t bytes(const void *state) {
  const subdivision_state *s = state;
  return s->objects.bytes + s->spheres.bytes + s->control.bytes + s->classes.bytes + s->ids.bytes + s->entries.bytes +
         s->ids2.bytes + s->entries2.bytes + s->cells.bytes + gz_pair_lists_bytes(&s->lists);
}

const broad_method gz_broad_subdivision = {
    .info = {"subdivision", "home and phantom cells with control bits", "O(n + k) on common scenes", false},
    .state_bytes = sizeof(subdivision_state),
    .find = find,
    .release = release,
    .bytes = bytes};
