/* The close pairs: who may touch soon, where a ball finds its contacts, and what they remember from step to step.
 *
 * A row is computed once for both balls (pass_kernels.c), in whatever order rows are; each ball then adds up its own in
 * the order of its partners' numbers, so that no result depends on places, blocks or when the pairs were made.
 */
#include <math.h>
#include <string.h>

#include "dynamics/pass.h"

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* False: there is no row of the two in the block of `place`. */
static bool find_side(const graze_world *world, uint32_t place, uint32_t partner, close_side *found) {
  for (uint32_t i = close_ref_begin(world, place); i < world->close.ref_end[place]; i++) {
    *found = close_side_of(world, place, world->close.refs[i]);
    if (found->partner == partner) return true;
  }
  return false;
}

/* What the ball of a place remembers of a contact. */
static bool put_memory(graze_world *world, uint32_t place, uint32_t partner, const double strain[3],
                       const double hit[2]) {
  close_pairs *c = &world->close;
  close_side s;
  if (!find_side(world, place, partner, &s)) return false;
  c->touching[s.at / 8] |= (uint8_t)(1u << s.at % 8);
  for (int k = 0; k < 3 && world->has_springs; k++) c->springs[k][s.at] = s.side ? -strain[k] : strain[k];
  for (int k = 0; k < 2 && world->def.events; k++) c->hits[k][s.at] = hit[k];
  return true;
}

void gz_close_recall(const graze_world *world, const close_side *s, double strain[3], double hit[2]) {
  const close_pairs *c = &world->close;
  for (int k = 0; k < 3 && world->has_springs; k++) strain[k] = s->side ? -c->springs[k][s->at] : c->springs[k][s->at];
  for (int k = 0; k < 2 && world->def.events; k++) hit[k] = c->hits[k][s->at];
}

/* Of a block, before its rows are made anew: how many contacts there are. */
static uint32_t save_block(const graze_world *world, uint32_t block, row_contact *saved) {
  const close_pairs *c = &world->close;
  const uint32_t begin = world->list.blocks[block].row, end = begin + c->counts[block];
  uint32_t count = 0;
  for (uint32_t r = begin; r < end; r++) {
    if (!close_touches(c, r)) continue;
    row_contact *to = &saved[count++];
    *to = (row_contact){.first = row_place(c->first[r]), .second = row_place(c->second[r])};
    gz_close_recall(world, &(close_side){.at = r}, to->strain, to->hit);
  }
  return count;
}

/* What finds no row any more has ended. */
static void restore_block(graze_world *world, const row_contact *saved, uint32_t count, worker *w) {
  for (uint32_t i = 0; i < count; i++) {
    const row_contact *at = &saved[i];
    if (put_memory(world, at->first, at->second, at->strain, at->hit)) continue;
    w->no_memory |= !gz_rows_append(world, &w->ended, at);
  }
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

typedef struct making {
  graze_world *world;
  bool was_made;
} making;

/* The references of the list whose rows are close, in their order. */
static void make_refs(graze_world *world, uint32_t block, const uint32_t *slots) {
  const neighbour_list *list = &world->list;
  close_pairs *c = &world->close;
  uint32_t from = list->blocks[block].ref, to = from;
  for (uint32_t p = block * BLOCK_PLACES; p < block_end(world, block); p++) {
    for (; from < list->ref_end[p]; from++) {
      const uint32_t ref = list->refs[from], slot = slots[ref / 2];
      c->refs[to] = 2 * slot - 2 + ref % 2;
      to += slot != 0;
    }
    c->ref_end[p] = to;
  }
}

static void make_block(graze_world *world, uint32_t block, bool was_made, worker *w) {
  close_pairs *c = &world->close;
  const list_block *b = &world->list.blocks[block];
  const uint32_t touched = was_made ? save_block(world, block, w->saved) : 0;
  const uint32_t rows = c->counts[block] = CPU_KERNEL(gz_close_rows)(world, block, w->slots);
  for (uint32_t r = b->row + rows; r < b->row + rows_together(rows); r++)
    c->first[r] = c->second[r] = block * BLOCK_PLACES * BALL_DOUBLES; /* lanes that nobody needs */
  make_refs(world, block, w->slots);
  if (world->remembers) memset(c->touching + b->row / 8, 0, rows_together(b->rows) / 8);
  restore_block(world, w->saved, touched, w);
}

static void make_blocks(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  const making *m = argument;
  for (uint32_t block = begin; block < end; block++)
    make_block(m->world, block, m->was_made, &m->world->workers[index]);
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
static size_t lay_out(const graze_world *world, void *memory, close_pairs *c) {
  const list_block *end = &world->list.blocks[world_blocks(world)];
  const size_t rows = end->row + (size_t)ROWS_TOGETHER;
  carving at = {memory, 0};
  c->counts = gz_carve(&at, world_blocks(world) * sizeof(uint32_t));
  c->first = gz_carve(&at, rows * sizeof(uint32_t));
  c->second = gz_carve(&at, rows * sizeof(uint32_t));
  c->refs = gz_carve(&at, (end->ref + (size_t)ROWS_TOGETHER) * sizeof(uint32_t));
  c->ref_end = gz_carve(&at, world->count * sizeof(uint32_t));
  if (world->remembers) c->touching = gz_carve(&at, rows / 8);
  for (int k = 0; k < 3 && world->has_springs; k++) c->springs[k] = gz_carve(&at, rows * sizeof(double));
  for (int k = 0; k < 2 && world->def.events; k++) c->hits[k] = gz_carve(&at, rows * sizeof(double));
  return at.used;
}

static bool reserve(const graze_world *world, close_pairs *c) {
  if (!gz_buffer_reserve(world->context, &c->memory, lay_out(world, NULL, &(close_pairs){0}), 0)) return false;
  lay_out(world, c->memory.data, c);
  return true;
}

static void look_at_blocks(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  const graze_world *world = argument;
  worker *w = &world->workers[index];
  const double period[3] = {world_period(world, 0), world_period(world, 1), world_period(world, 2)};
  for (uint32_t p = begin * BLOCK_PLACES; p < block_end(world, end - 1); p++) {
    const double *at = world->now[p].position, *v = world->now[p].velocity, *from = world->origin[p];
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
  world->moved = sqrt(moved2);
  world->fastest = sqrt(speed2) * world->dt;
}

bool gz_close_holds(const graze_world *world) {
  const close_pairs *c = &world->close;
  return c->is_made && c->way <= 0.49 * c->reach;
}

/* Kept for about eight passes, as fast as balls are now: the farther it reaches, the more rows there are that do not
 * touch. It holds no longer than the list, of which nobody looks until then whether it does. */
graze_status gz_close_make(graze_world *world) {
  close_pairs *c = &world->close;
  making m = {world, c->is_made && world->remembers};
  if (!c->is_made && !reserve(world, c)) return gz_fail_memory(world->context, world->count * sizeof(uint32_t));
  for (uint32_t i = 0; i < world->worker_count; i++) world->workers[i].no_memory = false;
  c->reach = fmin(fmax(16 * world->fastest, 0.05 * world->skin), 0.6 * world->skin);
  c->reach = fmin(c->reach, 2 * (longest_way(world) - world->moved));
  gz_parallel_for(world->context, world_blocks(world), 1, make_blocks, &m);
  end_contacts(world);
  c->way = 0;
  c->is_made = true;
  return GRAZE_OK;
}

void gz_close_release(graze_world *world) {
  gz_buffer_release(world->context, &world->close.memory);
}

/* ---- between lists ----------------------------------------------------------------------------------------------- */

/* With `kept` NULL they are counted. */
static uint64_t keep_balls(const graze_world *world, graze_kept_contact *kept) {
  uint64_t count = 0;
  for (uint32_t p = 0; world->close.is_made && p < world->count; p++) {
    for (uint32_t i = close_ref_begin(world, p); i < world->close.ref_end[p]; i++) {
      const close_side s = close_side_of(world, p, world->close.refs[i]);
      if (!close_touches(&world->close, s.at) || world->number[s.partner] < world->number[p]) continue;
      if (kept != NULL) {
        kept[count] = (graze_kept_contact){.number = world->number[p], .partner = world->number[s.partner]};
        gz_close_recall(world, &s, kept[count].spring, kept[count].hit);
      }
      count++;
    }
  }
  return count;
}

static uint64_t keep_walls(const graze_world *world, graze_kept_contact *kept) {
  const neighbour_list *list = &world->list;
  const contact_memory *m = &list->of_walls;
  uint64_t count = 0;
  for (uint64_t e = 0; e < list->wall_count; e++) {
    if (!m->touching[e]) continue;
    if (kept != NULL) {
      graze_kept_contact *to = &kept[count];
      *to = (graze_kept_contact){world->number[list->walls[e].place], list->walls[e].wall, .is_wall = true};
      if (m->springs != NULL) memcpy(to->spring, m->springs[e], sizeof to->spring);
      if (m->hits != NULL) memcpy(to->hit, m->hits[e], sizeof to->hit);
    }
    count++;
  }
  return count;
}

uint64_t gz_contacts_keep(const graze_world *world, graze_kept_contact *kept) {
  if (!world->remembers || !world->is_listed) return 0;
  const uint64_t balls = keep_balls(world, kept);
  return balls + keep_walls(world, kept != NULL ? kept + balls : NULL);
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

static void take_row(graze_world *world, const row_contact *at) {
  if (put_memory(world, at->first, at->second, at->strain, at->hit)) return;
  world->lost_memory |= !gz_rows_append(world, &world->workers[0].ended, at);
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

void gz_contacts_take(graze_world *world, const graze_kept_contact *kept, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    if (kept[i].is_wall)
      take_wall(world, &kept[i]);
    else if (kept[i].number < kept[i].partner)
      take_balls(world, &kept[i]);
  }
  world->lost_memory |= !gz_rows_end(world, &world->workers[0].ended, &world->lost);
}
