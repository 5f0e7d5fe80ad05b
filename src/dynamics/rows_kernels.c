/* Which balls are neighbours, and which rows are nearly touching, a register at a time. */
#include "base/simd_rows.h"
#include "dynamics/cells.h"
#include "dynamics/pass.h"

/* x, or its nearest image. */
static inline vd nearest(vd x, double period) {
  vd half = vd_set(0.5 * period), whole = vd_set(period);
  return vd_select(vd_gt(x, half), vd_sub(x, whole), vd_select(vd_gt(vd_neg(half), x), vd_add(x, whole), x));
}

/* ---- neighbours -------------------------------------------------------------------------------------------------- */

/* Cells along an axis that follow each other. */
typedef struct cell_run {
  uint32_t begin, end;
} cell_run;

/* The cells around c, each once; returns how many runs they are. */
static inline int runs_around(uint32_t c, uint32_t n, cell_run runs[2]) {
  runs[0] = (cell_run){c > 0 ? c - 1 : 0, c + 2 < n ? c + 2 : n};
  runs[1] = c > 0 ? (cell_run){0, 1} : (cell_run){n - 1, n};
  if (n <= 3) runs[0] = (cell_run){0, n};
  return n > 3 && (c == 0 || c == n - 1) ? 2 : 1;
}

/* A ball that looks for its neighbours. */
typedef struct cell_search {
  const ball_cells *cells;
  double period[3];
  vd at[4]; /* its centre, and its radius with the skin */
  uint32_t *found;
  uint32_t count, room;
} cell_search;

static inline void search_balls(cell_search *s, uint32_t begin, uint32_t end) {
  const ball_cells *c = s->cells;
  for (uint32_t i = begin; i < end; i += VD_LANES) {
    vd distance2 = vd_set(0);
    for (int k = 0; k < 3; k++) {
      vd d = vd_sub(vd_load(c->center[k] + i), s->at[k]);
      if (s->period[k] != 0) d = nearest(d, s->period[k]);
      distance2 = vd_add(distance2, vd_mul(d, d));
    }
    const vd reach = vd_add(vd_load(c->radius + i), s->at[3]);
    unsigned bits = vm_bits(vd_ge(vd_mul(reach, reach), distance2));
    if (end - i < VD_LANES) bits &= (1u << (end - i)) - 1;
    if (s->count + VD_LANES <= s->room) indices_pack(s->found + s->count, c->places + i, bits);
    s->count += (uint32_t)__builtin_popcount(bits);
  }
}

static inline void search_rows(cell_search *s, const cell_run *y, const cell_run *z, const cell_run *x, int x_count) {
  const uint32_t *n = s->cells->n;
  for (uint32_t k = z->begin; k < z->end; k++) {
    for (uint32_t j = y->begin; j < y->end; j++) {
      const uint32_t *begin = s->cells->begin + ((size_t)k * n[1] + j) * n[0];
      search_balls(s, begin[x[0].begin], begin[x[0].end]);
      if (x_count > 1) search_balls(s, begin[x[1].begin], begin[x[1].end]);
    }
  }
}

uint32_t KERNEL(gz_neighbours)(const graze_world *world, const ball_cells *cells, uint32_t place, uint32_t *found,
                               uint32_t room) {
  const uint32_t *n = cells->n, cell = cells->cell[place], c[3] = {cell % n[0], cell / n[0] % n[1], cell / n[0] / n[1]};
  const double *at = world->now[place].position;
  cell_run runs[3][2];
  int count[3];
  for (int k = 0; k < 3; k++) count[k] = runs_around(c[k], n[k], runs[k]);
  cell_search s = {.cells = cells,
                   .period = {world_period(world, 0), world_period(world, 1), world_period(world, 2)},
                   .at = {vd_set(at[0]), vd_set(at[1]), vd_set(at[2]), vd_set(at[3] + world->skin)},
                   .found = found,
                   .room = room};
  for (int k = 0; k < count[2]; k++) {
    for (int j = 0; j < count[1]; j++) search_rows(&s, &runs[1][j], &runs[2][k], runs[0], count[0]);
  }
  return s.count;
}

/* ---- who is close ------------------------------------------------------------------------------------------------ */

/* Neighbours are anywhere in memory. */
static inline void ask_ahead(const graze_world *world, const uint32_t *second) {
  const double *all = world->now->position;
  for (int lane = 0; lane < VD_LANES; lane++) __builtin_prefetch(all + second[lane]);
}

/* Bits of the rows whose balls are no farther from each other than `more`; `block`: the first position of it. */
static inline unsigned within(const graze_world *world, const double *block, const uint16_t *first,
                              const uint32_t *second, double more, const double period[3]) {
  vd at[2][4], distance2 = vd_set(0);
  d4 rows[VD_LANES];
  for (int lane = 0; lane < VD_LANES; lane++) rows[lane] = d4_load(block + first[lane]);
  vd_columns(at[0], rows);
  vd_load_rows(at[1], world->now->position, second);
  for (int k = 0; k < 3; k++) {
    vd d = vd_sub(at[0][k], at[1][k]);
    if (period[k] != 0) d = nearest(d, period[k]);
    distance2 = vd_add(distance2, vd_mul(d, d));
  }
  vd reach = vd_add(vd_add(at[0][3], at[1][3]), vd_set(more));
  return vm_bits(vd_gt(vd_mul(reach, reach), distance2));
}

uint32_t KERNEL(gz_close_rows)(const graze_world *world, uint32_t block, const block_rows *found) {
  const list_block *b = &world->list.blocks[block];
  const double *balls = world->now[block * BLOCK_PLACES].position;
  const uint16_t *first = world->list.first + b->row;
  const uint32_t *second = world->list.second + b->row;
  uint32_t count = 0;
  const double more = world->close.reach;
  const double period[3] = {world_period(world, 0), world_period(world, 1), world_period(world, 2)};
  for (uint32_t i = 0; i < b->rows; i += VD_LANES) {
    if (i + 9 * VD_LANES < b->rows) ask_ahead(world, second + i + 8 * VD_LANES);
    unsigned bits = within(world, balls, first + i, second + i, more, period);
    if (b->rows - i < VD_LANES) bits &= (1u << (b->rows - i)) - 1;
    shorts_pack(found->first + count, first + i, bits);
    indices_pack(found->second + count, second + i, bits);
    count += (uint32_t)__builtin_popcount(bits);
  }
  return count;
}
