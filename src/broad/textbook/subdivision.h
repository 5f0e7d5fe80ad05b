/* The stages of the subdivision with home cells, phantom cells and control bits, one function each, so that another
 * implementation can be compared stage by stage and tests can run them with other factors. What the stages do and why
 * the factors are what they are is said at the head of subdivision.c.
 *
 * d is 2 or 3. The type of a cell are the parities of its coordinates: 2^d types, of which one pass handles one.
 */
#ifndef GRAZE_SRC_BROAD_TEXTBOOK_SUBDIVISION_H
#define GRAZE_SRC_BROAD_TEXTBOOK_SUBDIVISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static const double SUBDIVISION_SCALE = 0x1.6a09e667f3bcdp+0; /* of radii: the square root of 2, rounded up */
static const double SUBDIVISION_CELL = 1.5; /* cell by diameter of the largest scaled sphere, at least */

typedef struct subdivision_sphere {
  double center[3]; /* the first d count */
  double radius;
} subdivision_sphere;

typedef struct subdivision_grid {
  double origin[3];
  double cell;
  double scale;      /* of radii */
  int dimensions;    /* d */
  unsigned shift[3]; /* of the coordinates in a cell's id */
  unsigned bits;     /* of an id */
} subdivision_grid;

/* Numbers a bit for each type that an object touches, and the type of its home cell above them. */
typedef uint16_t subdivision_control;
enum { SUBDIVISION_HOME = 8 };

/* Cells with several objects, at least one of which is at home there. In the sorted lists: `homes` objects at `start`,
 * the first `large_homes` of them large, then `phantoms`, of which the first `large_phantoms` are large. */
typedef struct subdivision_cell {
  uint64_t start;
  uint32_t homes, large_homes, phantoms, large_phantoms;
  uint32_t type;
} subdivision_cell;

/* The grid for spheres of at most radius `largest` whose centres lie in [low, high]. */
subdivision_grid gz_subdivision_grid_of(int dimensions, const double low[3], const double high[3], double largest,
                                        double scale, double cell_factor);

/* 1. Cell ids and control bits of the objects [begin, end) of `count`. Home cells are written to [0, count), phantom
 * cells behind them, 2^d - 1 for each object; ids of cells that are not there have bit grid->bits set. */
void gz_subdivision_mark(const subdivision_grid *grid, const subdivision_sphere *spheres, uint32_t count,
                         uint32_t begin, uint32_t end, uint64_t *ids, uint32_t *objects, subdivision_control *control);

/* 2. Sorts ids with their objects by the lowest bits + 1 bits, stably; the two last arrays are working memory. */
void gz_subdivision_sort(uint64_t *ids, uint32_t *objects, size_t count, unsigned bits, uint64_t *ids2,
                         uint32_t *objects2);

/* 3. The cells in which pairs can be; objects below `large` are the large ones. `cells` has room for one for
 * each object. Returns how many. */
size_t gz_subdivision_list(const subdivision_grid *grid, const uint64_t *ids, const uint32_t *objects, size_t count,
                           const subdivision_control *control, uint32_t large, subdivision_cell *cells);

/* 4. Calls `visit` for the pairs of objects of one cell that are to be tested in the pass of the cell's type: one of
 * them at home, one of them large, and not handled in an earlier pass. `visit` returns false to stop, then so does
 * this. */
bool gz_subdivision_traverse(const subdivision_cell *cell, const uint32_t *objects, const subdivision_control *control,
                             bool (*visit)(void *user, uint32_t a, uint32_t b), void *user);

#endif
