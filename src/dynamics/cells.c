/* Cells. A ball looks into its own and the 26 around it; a block makes its rows by itself, without pairs between. */
#include "dynamics/cells.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "dynamics/pass.h"

enum { SPARE = 8 }; /* as many as a register has lanes, at most: what kernels read and write behind the end */

/* ---- the grid ---------------------------------------------------------------------------------------------------- */

static uint64_t cell_count(const ball_cells *cells) {
  return (uint64_t)cells->n[0] * cells->n[1] * cells->n[2];
}

/* How many cells there are, where they begin, and how wide they are: a little wider than two balls reach, because
 * places are divided by the width, and that rounds. */
static void divide(const graze_world *world, const graze_box *box, double largest_radius, ball_cells *cells,
                   double low[3], double width[3]) {
  const double reach = (2 * largest_radius + world->skin) * (1 + 0x1p-16), most = 1 << 20;
  for (int k = 0; k < 3; k++) {
    const double period = world_period(world, k), length = period != 0 ? period : box->max[k] - box->min[k];
    const double whole = fmax(fmin(floor(length / reach), most), 0);
    cells->n[k] = period != 0 ? (uint32_t)fmax(whole, 1) : (uint32_t)whole + 1;
  }
  while (cell_count(cells) > 2 * (uint64_t)world->count + 64) {
    int longest = 0;
    for (int k = 1; k < 3; k++) longest = cells->n[k] > cells->n[longest] ? k : longest;
    cells->n[longest] = (cells->n[longest] + 1) / 2;
  }
  for (int k = 0; k < 3; k++) {
    const double period = world_period(world, k);
    low[k] = period != 0 ? world->def.bounds.min[k] : box->min[k];
    width[k] = period != 0 ? period / cells->n[k] : reach;
  }
}

/* Along an axis. Far away all cells are one, so that they can be numbered; who has left a periodic box by more than a
 * period is in it as well. */
static uint32_t number_along(const graze_world *world, uint32_t count, int axis, double way, double width) {
  const double period = world_period(world, axis);
  if (period == 0) return (uint32_t)fmin(way / width, 0x1p31) % count;
  const double turns = way / period, place = (turns - floor(turns)) * count;
  return (uint32_t)fmax(fmin(place, count - 1), 0);
}

static uint32_t cell_of(const graze_world *world, const ball_cells *cells, const double low[3], const double width[3],
                        const double at[3]) {
  uint32_t c[3];
  for (int k = 0; k < 3; k++) c[k] = number_along(world, cells->n[k], k, at[k] - low[k], width[k]);
  return (c[2] * cells->n[1] + c[1]) * cells->n[0] + c[0];
}

static size_t carve(const graze_world *world, void *memory, ball_cells *cells) {
  carving c = {memory, 0};
  const size_t balls = world->count + (size_t)SPARE;
  cells->begin = gz_carve(&c, (cell_count(cells) + 2) * sizeof(uint32_t));
  cells->cell = gz_carve(&c, balls * sizeof(uint32_t));
  cells->places = gz_carve(&c, balls * sizeof(uint32_t));
  for (int k = 0; k < 3; k++) cells->center[k] = gz_carve(&c, balls * sizeof(double));
  cells->radius = gz_carve(&c, balls * sizeof(double));
  return c.used;
}

/* Sorts the balls by cells. */
static void fill(const graze_world *world, const double low[3], const double width[3], ball_cells *cells) {
  uint32_t *at = cells->begin + 1; /* where the next ball of a cell goes; in the end where it ends */
  memset(cells->begin, 0, (cell_count(cells) + 2) * sizeof(uint32_t));
  for (uint32_t p = 0; p < world->count; p++) {
    cells->cell[p] = cell_of(world, cells, low, width, world->now[p].position);
    at[cells->cell[p] + 1]++;
  }
  for (uint64_t c = 0; c < cell_count(cells); c++) at[c + 1] += at[c];
  for (uint32_t p = 0; p < world->count; p++) {
    const uint32_t i = at[cells->cell[p]]++;
    cells->places[i] = p;
    for (int k = 0; k < 3; k++) cells->center[k][i] = world->now[p].position[k];
    cells->radius[i] = world->now[p].position[3];
  }
  for (uint32_t i = world->count; i < world->count + SPARE; i++) {
    for (int k = 0; k < 3; k++) cells->center[k][i] = 0;
    cells->radius[i] = 0;
  }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

typedef struct making {
  graze_world *world;
  const ball_cells *cells;
  uint64_t room;         /* of the list's rows */
  _Atomic uint64_t rows; /* of blocks so far, wherever they are: no result depends on it */
  _Atomic bool no_memory;
} making;

/* Those that the ball of the place may touch, in w->near. False: no memory. */
static bool find_neighbours(const making *m, uint32_t place, worker *w) {
  uint32_t count = 0, room = 0;
  w->near.count = 0;
  do {
    if (!array_reserve(m->world->context, &w->near, count + SPARE, sizeof(uint32_t))) return false;
    room = (uint32_t)w->near.capacity;
    count = CPU_KERNEL(gz_neighbours)(m->world, m->cells, place, w->near.data, room);
  } while (count + SPARE > room);
  w->near.count = count;
  return true;
}

/* The rows of a ball, of which it is the first: where both are of the block and move, those with higher places. */
static void add_rows(const graze_world *world, uint32_t block, uint32_t place, worker *w) {
  const uint32_t *near = w->near.data;
  uint32_t *rows = WORLD_AT(w->cell_rows, uint32_t, 2 * w->cell_rows.count), count = 0;
  for (size_t i = 0; i < w->near.count; i++) {
    const uint32_t partner = near[i];
    const bool both = is_of_block(partner, block) && world->number[partner] < world->dynamic;
    const bool is_here = partner != place && !(both && partner < place);
    rows[2 * count] = first_ball(place);
    rows[2 * count + 1] = partner * BALL_DOUBLES;
    count += is_here;
  }
  w->cell_rows.count += count;
}

static bool find_rows(const making *m, uint32_t block, worker *w) {
  graze_world *world = m->world;
  list_block *b = &world->list.blocks[block];
  *b = (list_block){0};
  w->cell_rows.count = 0;
  for (uint32_t p = block * BLOCK_PLACES; p < block_end(world, block); p++) {
    if (world->number[p] >= world->dynamic) continue;
    if (!find_neighbours(m, p, w)) return false;
    if (!array_reserve(world->context, &w->cell_rows, w->near.count + 1, 2 * sizeof(uint32_t))) return false;
    add_rows(world, block, p, w);
  }
  b->rows = (uint32_t)w->cell_rows.count;
  return true;
}

static void make_blocks(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  making *m = argument;
  worker *w = &m->world->workers[index];
  const neighbour_list *list = &m->world->list;
  for (uint32_t block = begin; block < end; block++) {
    if (!find_rows(m, block, w)) {
      m->no_memory = true;
      return;
    }
    list_block *b = &list->blocks[block];
    const uint64_t at = atomic_fetch_add_explicit(&m->rows, rows_together(b->rows), memory_order_relaxed);
    const uint32_t *from = w->cell_rows.data;
    b->row = (uint32_t)at;
    for (uint32_t r = 0; at + b->rows <= m->room && r < b->rows; r++) {
      list->first[at + r] = (uint16_t)from[2 * r];
      list->second[at + r] = from[2 * r + 1];
    }
  }
}

static uint64_t list_room(const neighbour_list *list) {
  const buffer *b = list->row_buffers;
  const uint64_t firsts = b[0].bytes / sizeof *list->first, seconds = b[1].bytes / sizeof *list->second;
  const uint64_t room = firsts < seconds ? firsts : seconds;
  return room > ROWS_TOGETHER ? room - ROWS_TOGETHER : 0;
}

/* As often as the list has to grow, which is seldom. */
static graze_status make_rows(graze_world *world, const ball_cells *cells) {
  making m = {.world = world, .cells = cells};
  graze_status status = gz_rows_begin(world);
  for (;;) {
    m.room = list_room(&world->list);
    m.rows = 0;
    m.no_memory = false;
    if (status != GRAZE_OK) return status;
    gz_parallel_for(world->context, world_blocks(world), 1, make_blocks, &m);
    if (m.no_memory) return gz_fail_memory(world->context, BLOCK_PLACES * sizeof(uint32_t));
    if (m.rows > UINT32_MAX / 4)
      return gz_fail(world->context, GRAZE_ERROR_LIMIT, "more than %u neighbours", UINT32_MAX / 8);
    world->list.blocks[world_blocks(world)] = (list_block){.row = (uint32_t)m.rows};
    if (m.rows <= m.room && world->list.second != NULL) return GRAZE_OK;
    status = gz_rows_reserve(world, m.rows);
  }
}

static graze_status enclose(const graze_world *world, graze_box *box) {
  *box = graze_box_empty();
  for (uint32_t p = 0; p < world->count; p++) {
    const double *at = world->now[p].position;
    if (!(isfinite(at[0]) && isfinite(at[1]) && isfinite(at[2])))
      return gz_fail(world->context, GRAZE_ERROR_NOT_FINITE, "%s: its position is not finite",
                     gz_world_ball_name(world, world->number[p]).text);
    graze_box_add_point(box, at);
  }
  return GRAZE_OK;
}

graze_status gz_cells_make_rows(graze_world *world, double largest_radius) {
  ball_cells cells;
  graze_box box;
  double low[3], width[3];
  graze_status status = enclose(world, &box);
  if (status != GRAZE_OK) return status;
  divide(world, &box, largest_radius, &cells, low, width);
  const size_t bytes = carve(world, NULL, &cells);
  void *memory = gz_list_scratch(world, bytes);
  if (memory == NULL) return gz_fail_memory(world->context, bytes);
  carve(world, memory, &cells);
  fill(world, low, width, &cells);
  status = make_rows(world, &cells);
  return status == GRAZE_OK ? gz_rows_finish(world) : status;
}
