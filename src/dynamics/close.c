/* The close pairs: who may touch soon, and what contacts remember from step to step.
 *
 * They are rows of the list, in its order: in that each ball adds up what its partners do, so that no result depends on
 * places, blocks or when the pairs were made. A ball finds its rows by bisection, which only those ask for who look at
 * contacts between steps.
 */
#include <math.h>
#include <string.h>

#include "dynamics/pass.h"

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static uint64_t close_key(const graze_world *world, uint32_t block, uint32_t r) {
  return row_key(world, block, world->close.first[r], world->close.second[r]);
}

static uint32_t close_end(const graze_world *world, uint32_t block) {
  return world->close.blocks[block].row + world->close.blocks[block].rows;
}

/* The first row of a block with that key or a greater one, or the end. */
static uint32_t find_row(const graze_world *world, uint32_t block, uint64_t key) {
  uint32_t low = world->close.blocks[block].row, high = close_end(world, block);
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (close_key(world, block, middle) < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

uint32_t gz_close_first(const graze_world *world, uint32_t number) {
  return find_row(world, world->place[number] / BLOCK_PLACES, pair_key(number, number));
}

bool gz_close_at(const graze_world *world, uint32_t number, uint32_t at, close_side *side) {
  const uint32_t place = world->place[number], block = place / BLOCK_PLACES;
  if (at >= close_end(world, block) || close_key(world, block, at) >> 32 != number) return false;
  const uint32_t first = first_place(block, world->close.first[at]), second = row_place(world->close.second[at]);
  *side = (close_side){at, first != place, first != place ? first : second};
  return true;
}

/* What the first ball of a row remembers of it. */
static void put_memory(graze_world *world, uint32_t r, const double strain[3], const double hit[2]) {
  close_pairs *c = &world->close;
  c->touching[r / 8] |= (uint8_t)(1u << r % 8);
  for (int k = 0; k < 3 && world->has_springs; k++) c->springs[k][r] = strain[k];
  for (int k = 0; k < 2 && world->def.events; k++) c->hits[k][r] = hit[k];
}

void gz_close_recall(const graze_world *world, const close_side *s, double strain[3], double hit[2]) {
  const close_pairs *c = &world->close;
  for (int k = 0; k < 3 && world->has_springs; k++) strain[k] = s->side ? -c->springs[k][s->at] : c->springs[k][s->at];
  for (int k = 0; k < 2 && world->def.events; k++) hit[k] = c->hits[k][s->at];
}

/* Of a block, before its rows are made anew: how many contacts there are. */
static uint32_t save_block(const graze_world *world, uint32_t block, row_contact *saved) {
  const close_pairs *c = &world->close;
  uint32_t count = 0;
  for (uint32_t r = world->close.blocks[block].row; r < close_end(world, block); r++) {
    if (!close_touches(c, r)) continue;
    row_contact *to = &saved[count++];
    *to = (row_contact){.first = first_place(block, c->first[r]), .second = row_place(c->second[r])};
    gz_close_recall(world, &(close_side){.at = r}, to->strain, to->hit);
  }
  return count;
}

/* Both are in the order of rows. What finds no row any more has ended. */
static void restore_block(graze_world *world, uint32_t block, const row_contact *saved, uint32_t count, worker *w) {
  uint32_t r = world->close.blocks[block].row;
  const uint32_t end = close_end(world, block);
  for (uint32_t i = 0; i < count; i++) {
    const row_contact *at = &saved[i];
    const uint64_t key = pair_key(world->number[at->first], world->number[at->second]);
    while (r < end && close_key(world, block, r) < key) r++;
    if (r < end && close_key(world, block, r) == key)
      put_memory(world, r, at->strain, at->hit);
    else
      w->no_memory |= !gz_rows_append(world, &w->ended, at);
  }
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

typedef struct making {
  graze_world *world;
  bool was_made;
  _Atomic bool is_full;
} making;

/* Lanes that nobody needs, up to the next register. */
static void pad_block(const close_pairs *c, uint32_t block) {
  const close_block *b = &c->blocks[block];
  for (uint32_t r = b->row + b->rows; r < b->row + rows_together(b->rows); r++) {
    c->first[r] = 0;
    c->second[r] = block * BLOCK_PLACES * BALL_DOUBLES;
  }
}

/* Where there is no room the old rows stay: all that touch are among them. */
static void make_block(making *m, uint32_t block, worker *w) {
  graze_world *world = m->world;
  close_pairs *c = &world->close;
  close_block *b = &c->blocks[block];
  const uint32_t rows = CPU_KERNEL(gz_close_rows)(world, block, &w->rows);
  if (rows > b->room) {
    m->is_full = true;
    return;
  }
  const uint32_t touched = m->was_made ? save_block(world, block, w->saved) : 0;
  b->rows = rows;
  memcpy(c->first + b->row, w->rows.first, rows * sizeof *c->first);
  memcpy(c->second + b->row, w->rows.second, rows * sizeof *c->second);
  pad_block(c, block);
  if (world->remembers) memset(c->touching + b->row / 8, 0, b->room / 8);
  restore_block(world, block, w->saved, touched, w);
}

static void make_blocks(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  making *m = argument;
  for (uint32_t block = begin; block < end; block++) make_block(m, block, &m->world->workers[index]);
}

static void count_blocks(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  graze_world *world = argument;
  for (uint32_t block = begin; block < end; block++)
    world->close.blocks[block].rows = CPU_KERNEL(gz_close_rows)(world, block, &world->workers[index].rows);
}

/* Contacts that have ended, of all workers: the first one's array, which the order of blocks does not show in. */
static void end_contacts(graze_world *world) {
  gz_array *all = &world->workers[0].ended;
  for (uint32_t i = 0; i < world->worker_count; i++) {
    gz_array *from = &world->workers[i].ended;
    world->lost_memory |= world->workers[i].no_memory;
    for (size_t j = 0; i > 0 && j < from->count; j++)
      world->lost_memory |= !gz_rows_append(world, all, WORLD_AT(*from, row_contact, j));
    if (i > 0) from->count = 0;
  }
  world->lost_memory |= !gz_rows_end(world, all, &world->lost);
}

/* All in one, which is large enough for huge pages: every pass reads it. Kernels go on a little behind the ends. */
static size_t lay_out(const graze_world *world, size_t rows, void *memory, close_pairs *c) {
  carving at = {memory, 0};
  rows += ROWS_TOGETHER;
  c->first = gz_carve(&at, rows * sizeof *c->first);
  c->second = gz_carve(&at, rows * sizeof *c->second);
  if (world->remembers) c->touching = gz_carve(&at, rows / 8);
  for (int k = 0; k < 3 && world->has_springs; k++) c->springs[k] = gz_carve(&at, rows * sizeof(double));
  for (int k = 0; k < 2 && world->def.events; k++) c->hits[k] = gz_carve(&at, rows * sizeof(double));
  return at.used;
}

/* Room for all rows of the list where contacts remember nothing. Else for what is close now, a sixteenth more and a
 * quarter of a row a ball: where few are close, soon there are many more. */
static graze_status reserve(graze_world *world, close_pairs *c) {
  const size_t blocks = world_blocks(world) * sizeof *c->blocks;
  if (!gz_buffer_renew(world->context, &c->block_memory, blocks)) return gz_fail_memory(world->context, blocks);
  c->blocks = c->block_memory.data;
  if (world->remembers) gz_parallel_for(world->context, world_blocks(world), 1, count_blocks, world);
  uint32_t rows = 0;
  for (uint32_t block = 0; block < world_blocks(world); block++) {
    close_block *b = &c->blocks[block];
    const uint32_t most = world->remembers ? b->rows + b->rows / 16 + BLOCK_PLACES / 4 : world->list.blocks[block].rows;
    *b = (close_block){.row = rows, .room = rows_together(most)};
    rows += b->room;
  }
  const size_t bytes = lay_out(world, rows, NULL, &(close_pairs){0});
  if (!gz_buffer_renew(world->context, &c->memory, bytes)) return gz_fail_memory(world->context, bytes);
  lay_out(world, rows, c->memory.data, c);
  c->most_reach = world->remembers ? c->reach : (double)INFINITY;
  return GRAZE_OK;
}

static void look_at_blocks(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  const graze_world *world = argument;
  worker *w = &world->workers[index];
  const double period[3] = {world_period(world, 0), world_period(world, 1), world_period(world, 2)};
  for (uint32_t p = begin * BLOCK_PLACES; p < block_end(world, end - 1); p++) {
    const double *at = world->now[p].position, *v = world->now[p].velocity,
                 from[3] = {world_origin(world, p, 0), world_origin(world, p, 1), world_origin(world, p, 2)};
    double way[3];
    for (int k = 0; k < 3; k++) way[k] = nearest_image(at[k] - from[k], period[k]);
    const double way2 = (way[0] * way[0] + way[1] * way[1]) + way[2] * way[2];
    const double speed2 = (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2];
    w->moved2 = fmax(w->moved2, way2 < (double)INFINITY ? way2 : (double)INFINITY); /* NaN is too far as well */
    w->speed2 = speed2 > w->speed2 ? speed2 : w->speed2;
  }
}

void gz_close_look(graze_world *world) {
  double moved2 = 0, speed2 = 0;
  for (uint32_t i = 0; i < world->worker_count; i++) world->workers[i].moved2 = world->workers[i].speed2 = 0;
  gz_parallel_for(world->context, world_blocks(world), 8, look_at_blocks, world);
  for (uint32_t i = 0; i < world->worker_count; i++) {
    moved2 = fmax(moved2, world->workers[i].moved2);
    speed2 = fmax(speed2, world->workers[i].speed2);
  }
  world->moved = sqrt(moved2) + 0.002 * world->skin; /* world_origin() is a little rough */
  world->fastest = sqrt(speed2) * world->dt;
}

bool gz_close_holds(const graze_world *world) {
  const close_pairs *c = &world->close;
  return c->is_made && c->way <= 0.49 * c->reach;
}

/* Kept for about eight passes, as fast as balls are now: the farther it reaches, the more rows there are that do not
 * touch. It holds no longer than the list, of which nobody looks until then whether it does. */
static double fitting_reach(const graze_world *world) {
  const double reach = fmin(fmax(16 * world->fastest, 0.05 * world->skin), 0.6 * world->skin);
  return fmin(reach, 2 * (longest_way(world) - world->moved));
}

graze_status gz_close_make(graze_world *world) {
  close_pairs *c = &world->close;
  making m = {world, c->is_made && world->remembers, false};
  c->reach = fitting_reach(world);
  if (!c->is_made) {
    const graze_status status = reserve(world, c);
    if (status != GRAZE_OK) return status;
  }
  for (uint32_t i = 0; i < world->worker_count; i++) world->workers[i].no_memory = false;
  c->reach = fmin(c->reach, c->most_reach);
  gz_parallel_for(world->context, world_blocks(world), 1, make_blocks, &m);
  end_contacts(world);
  c->way = 0;
  c->is_made = true;
  c->is_full = m.is_full;
  return GRAZE_OK;
}

void gz_close_release(graze_world *world) {
  gz_buffer_release(world->context, &world->close.block_memory);
  gz_buffer_release(world->context, &world->close.memory);
}

/* ---- between lists ----------------------------------------------------------------------------------------------- */

/* Of a block, those of which it has the lower number; with `kept` NULL they are counted. */
static uint64_t keep_block(const graze_world *world, uint32_t block, kept_contacts *kept, uint64_t at) {
  const close_pairs *c = &world->close;
  uint64_t count = 0;
  for (uint32_t r = world->close.blocks[block].row; r < close_end(world, block); r++) {
    if (!close_touches(c, r)) continue;
    const uint64_t key = close_key(world, block, r);
    const uint32_t lower = (uint32_t)(key >> 32), place = world->place[lower];
    if (!is_of_block(place, block)) continue;
    if (kept != NULL) {
      const close_side side = {.at = r, .side = first_place(block, c->first[r]) != place};
      const uint64_t i = at + count;
      kept->pairs[i][0] = lower;
      kept->pairs[i][1] = (uint32_t)key;
      gz_close_recall(world, &side, kept->springs != NULL ? kept->springs[i] : NULL,
                      kept->hits != NULL ? kept->hits[i] : NULL);
    }
    count++;
  }
  return count;
}

static uint64_t keep_balls(const graze_world *world, kept_contacts *kept) {
  uint64_t count = 0;
  for (uint32_t block = 0; world->close.is_made && block < world_blocks(world); block++)
    count += keep_block(world, block, kept, count);
  return count;
}

static uint64_t keep_walls(const graze_world *world, kept_contacts *kept, uint64_t at) {
  const neighbour_list *list = &world->list;
  const contact_memory *m = &list->of_walls;
  uint64_t count = 0;
  for (uint64_t e = 0; e < list->wall_count; e++) {
    if (!m->touching[e]) continue;
    if (kept != NULL) {
      const uint64_t i = at + count;
      kept->pairs[i][0] = world->number[list->walls[e].place];
      kept->pairs[i][1] = list->walls[e].wall;
      if (kept->springs != NULL) memcpy(kept->springs[i], m->springs[e], sizeof kept->springs[i]);
      if (kept->hits != NULL) memcpy(kept->hits[i], m->hits[e], sizeof kept->hits[i]);
    }
    count++;
  }
  return count;
}

uint64_t gz_contacts_count(const graze_world *world) {
  return world->remembers && world->is_listed ? keep_balls(world, NULL) + keep_walls(world, NULL, 0) : 0;
}

size_t gz_contacts_lay_out(const graze_world *world, uint64_t count, void *memory, kept_contacts *kept) {
  carving at = {memory, 0};
  *kept = (kept_contacts){.pairs = gz_carve(&at, count * sizeof *kept->pairs)};
  if (world->has_springs) kept->springs = gz_carve(&at, count * sizeof *kept->springs);
  if (world->def.events) kept->hits = gz_carve(&at, count * sizeof *kept->hits);
  return at.used;
}

void gz_contacts_keep(const graze_world *world, kept_contacts *kept) {
  kept->balls = kept->count = 0;
  if (!world->remembers || !world->is_listed) return;
  kept->balls = keep_balls(world, kept);
  kept->count = kept->balls + keep_walls(world, kept, kept->balls);
}

graze_kept_contact gz_contacts_get(const kept_contacts *kept, uint64_t i) {
  graze_kept_contact c = {.number = kept->pairs[i][0],
                          .partner = kept->pairs[i][1],
                          .with = i < kept->balls ? GRAZE_PARTNER_BALL : GRAZE_PARTNER_WALL};
  if (kept->springs != NULL) memcpy(c.spring, kept->springs[i], sizeof c.spring);
  if (kept->hits != NULL) memcpy(c.hit, kept->hits[i], sizeof c.hit);
  return c;
}

static void take_wall(graze_world *world, const graze_kept_contact *at) {
  const contact_memory *m = &world->list.of_walls;
  const uint32_t place = world->place[at->number];
  const uint64_t e = gz_list_find_wall(&world->list, place, at->partner);
  if (e == UINT64_MAX) {
    gz_contact_lose(world, place, PARTNER_WALL, at, NULL);
    return;
  }
  m->touching[e] = 1;
  if (m->springs != NULL) memcpy(m->springs[e], at->spring, sizeof at->spring);
  if (m->hits != NULL) memcpy(m->hits[e], at->hit, sizeof at->hit);
}

/* The row of the block that the first ball is of. */
static void take_row(graze_world *world, const row_contact *at) {
  const uint32_t block = at->first / BLOCK_PLACES;
  const uint64_t key = pair_key(world->number[at->first], world->number[at->second]);
  const uint32_t r = find_row(world, block, key);
  if (r == close_end(world, block) || close_key(world, block, r) != key) {
    world->lost_memory |= !gz_rows_append(world, &world->workers[0].ended, at);
    return;
  }
  row_contact as_first = *at;
  for (int k = 0; k < 3 && first_place(block, world->close.first[r]) != at->first; k++)
    as_first.strain[k] = -at->strain[k];
  put_memory(world, r, as_first.strain, as_first.hit);
}

/* If they are of two blocks, both have a row of it. */
static void take_balls(graze_world *world, const graze_kept_contact *at) {
  row_contact to = {.first = world->place[at->number], .second = world->place[at->partner]};
  memcpy(to.strain, at->spring, sizeof to.strain);
  memcpy(to.hit, at->hit, sizeof to.hit);
  take_row(world, &to);
  if (at->partner >= world->dynamic || is_of_block(to.second, to.first / BLOCK_PLACES)) return;
  for (int k = 0; k < 3; k++) to.strain[k] = -to.strain[k];
  to.second = to.first;
  to.first = world->place[at->partner];
  take_row(world, &to);
}

static void take_contact(graze_world *world, const graze_kept_contact *at) {
  if (at->with == GRAZE_PARTNER_SURFACE)
    gz_surface_take(world, at);
  else if (at->with == GRAZE_PARTNER_WALL)
    take_wall(world, at);
  else if (at->number < at->partner)
    take_balls(world, at);
}

/* Those that have no row any more. */
static void end_taking(graze_world *world) {
  world->lost_memory |= !gz_rows_end(world, &world->workers[0].ended, &world->lost);
}

void gz_contacts_take(graze_world *world, const graze_kept_contact *kept, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) take_contact(world, &kept[i]);
  end_taking(world);
}

void gz_contacts_take_kept(graze_world *world) {
  for (uint64_t i = 0; i < world->kept.count; i++) {
    const graze_kept_contact at = gz_contacts_get(&world->kept, i);
    take_contact(world, &at);
  }
  end_taking(world);
}
