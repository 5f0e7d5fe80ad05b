/* The neighbour list of a world: who may touch whom before somebody has moved half the skin. Balls stand by the cells
 * of uniform grids, one for each range of radii up to twice the least, those of a cell in any order. The edge of a cell
 * is the largest diameter of its grid and the skin. Each ball looks into its own cell and the 26 around it, and into as
 * many of every coarser grid; whom it finds there is told, for nobody looks into finer ones, where the large would have
 * to look at ever more cells. They are counted, and once there is room written and sorted by number. Any list with
 * enough in it gives the same state.
 *
 * The list is made where the one before is. So contacts of that one end if the next one will not have them, or wait, at
 * the ball of the lower number, until both take them up by numbers.
 *
 * Cells are numbered modulo a power of two along an axis, so balls may be anywhere: who is in a cell of the same number
 * far away is looked at in vain. A periodic axis has a whole number of cells, at least two. */
#include "meeting.h"

typedef struct grid {
  double inverse[3];
  u32 bits[3], cells[3], first;
} grid;

FUNCTION void load_grid(GLOBAL const double *levels, u32 level, grid *to) {
  GLOBAL const double *from = levels + LEVEL_FIELDS * level;
  for (u32 k = 0; k < 3; k++) {
    to->inverse[k] = from[LEVEL_INVERSE + k];
    to->bits[k] = (u32)from[LEVEL_BITS + k];
    to->cells[k] = (u32)from[LEVEL_CELLS + k];
  }
  to->first = (u32)from[LEVEL_FIRST];
}

FUNCTION u32 level_of(GLOBAL const double *levels, u32 level_count, double radius) {
  u32 level = 0;
  while (level + 1 < level_count && radius > levels[LEVEL_FIELDS * level + LEVEL_RADIUS]) level++;
  return level;
}

/* The cell along an axis; beyond 2^30 of them roundings of places are no longer small against cells. */
FUNCTION u32 cell_of(const grid *g, GLOBAL const double *frame, u32 k, double x, u32 *flag) {
  double t = (x - frame[FRAME_CORNER + k]) * g->inverse[k];
  if (!(t > -0x1p30 && t < 0x1p30)) *flag = FLAG_FAR;
  if (*flag != 0) return 0;
  i64 cell = (i64)t;
  if ((double)cell > t) cell -= 1;
  if (g->cells[k] == 0) return (u32)cell & ((1u << g->bits[k]) - 1);
  return cell < 0 ? 0 : cell >= (i64)g->cells[k] ? g->cells[k] - 1 : (u32)cell;
}

/* The cell of a ball, by its number in all grids. */
FUNCTION u32 cell_of_ball(GLOBAL const double *frame, GLOBAL const double *levels, GLOBAL const real *rows, u32 place,
                          u32 level_count, u32 *flag) {
  double at[4];
  u32 cell = 0;
  grid g;
  load(rows, place, ROW_POSITION, at);
  load_grid(levels, level_of(levels, level_count, at[3]), &g);
  for (u32 k = 3; k-- > 0;) cell = cell << g.bits[k] | cell_of(&g, frame, k, at[k], flag);
  return g.first + cell;
}

KERNEL(64) world_clear(GLOBAL u32 *RESTRICT numbers, u32 count) {
  u32 i = GROUP * 64 + ITEM;
  if (i < count) numbers[i] = 0;
}

/* How many balls each cell has, and in `places` how many of them are before a ball. */
KERNEL(64) world_rank(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT levels,
                      GLOBAL const real *RESTRICT rows, GLOBAL u32 *RESTRICT begins, GLOBAL u32 *RESTRICT places,
                      GLOBAL u32 *RESTRICT found, u32 count, u32 level_count) {
  u32 i = GROUP * 64 + ITEM, flag = 0;
  if (i >= count) return;
  u32 cell = cell_of_ball(frame, levels, rows, i, level_count, &flag);
  places[i] = ADD_GLOBAL(&begins[cell], 1u);
  if (flag != 0) OR_GLOBAL(&found[FOUND_FAR], flag);
}

/* Rows go to their places. begins: where the balls of a cell begin. */
KERNEL(64) world_place(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT levels,
                       GLOBAL const real *RESTRICT rows, GLOBAL const u32 *RESTRICT begins,
                       GLOBAL u32 *RESTRICT places, GLOBAL real *RESTRICT placed, u32 count, u32 level_count) {
  u32 i = GROUP * 64 + ITEM, flag = 0;
  if (i >= count) return;
  u32 place = begins[cell_of_ball(frame, levels, rows, i, level_count, &flag)] + places[i];
  places[i] = place;
  for (u32 k = 0; k < ROW_FIELDS; k++) placed[ROW_FIELDS * (u64)place + k] = rows[ROW_FIELDS * (u64)i + k];
}

/* And so does what else is known of balls, by way of `moved`. */
KERNEL(64) world_move(GLOBAL const u32 *RESTRICT places, GLOBAL const u32 *RESTRICT facts,
                      GLOBAL const double *RESTRICT dissipated, GLOBAL u64 *RESTRICT moved, u32 count) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  u64 to = 2 * (u64)places[i], from = FACTS * (u64)i;
  moved[to] = (u64)facts[from + FACT_KIND] << 32 | facts[from + FACT_NUMBER];
  moved[to + 1] = AS_U64(dissipated[i]);
}

KERNEL(64) world_moved(GLOBAL const u64 *RESTRICT moved, GLOBAL u32 *RESTRICT facts,
                       GLOBAL double *RESTRICT dissipated, u32 count) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  u64 fact = moved[2 * (u64)i];
  facts[FACTS * (u64)i + FACT_NUMBER] = (u32)fact;
  facts[FACTS * (u64)i + FACT_KIND] = (u32)(fact >> 32);
  dissipated[i] = AS_F64(moved[2 * (u64)i + 1]);
}

/* Where balls are now, as marks. */
KERNEL(64) world_mark(GLOBAL const double *RESTRICT frame, GLOBAL const real *RESTRICT rows,
                      GLOBAL u32 *RESTRICT origin, u32 count) {
  u32 i = GROUP * 64 + ITEM, flag = 0;
  if (i >= count) return;
  for (u32 k = 0; k < 3; k++)
    origin[3 * (u64)i + k] = mark_of(frame, k, rows[ROW_FIELDS * (u64)i + ROW_POSITION + k], &flag);
}

/* ---- neighbours -------------------------------------------------------------------------------------------------- */

/* How many cells along an axis are looked into, and the one after `step` of them. */
FUNCTION u32 steps_along(const grid *g, u32 k) {
  return g->cells[k] == 2 ? 2 : 3;
}

FUNCTION u32 cell_after(const grid *g, u32 k, u32 own, u32 step) {
  if (g->cells[k] == 0) return (own + step - 1) & ((1u << g->bits[k]) - 1);
  return g->cells[k] == 2 ? step : (own + step + g->cells[k] - 1) % g->cells[k];
}

/* Within reach, and one of them moves. Ways are rounded: a hair more than the skin. */
FUNCTION u32 is_near(GLOBAL const double *frame, GLOBAL const real *rows, u32 i, u32 j) {
  GLOBAL const real *a = rows + ROW_FIELDS * (u64)i, *b = rows + ROW_FIELDS * (u64)j;
  double distance2 = 0, reach = (double)a[3] + (double)b[3] + frame[FRAME_SKIN];
  for (u32 k = 0; k < 3; k++) {
    double d = nearest_image((double)a[k] - (double)b[k], frame[FRAME_PERIOD + k]);
    distance2 += d * d;
  }
  if (i == j || distance2 > reach * reach * (1 + 0x1p-40)) return 0;
  return a[ROW_VELOCITY + 3] != 0 || b[ROW_VELOCITY + 3] != 0;
}

FUNCTION u32 is_near_wall(GLOBAL const double *frame, GLOBAL const double *wall, const double *at) {
  return wall_distance(wall, at) <= at[3] + frame[FRAME_SKIN];
}

/* How neighbours are found. counts: of those that a ball has, or of those that are still to be written by others. */
typedef struct search {
  GLOBAL const double *frame;
  GLOBAL const double *levels;
  GLOBAL const double *walls;
  GLOBAL const u32 *begins;
  GLOBAL const real *rows;
  GLOBAL u32 *counts;
  GLOBAL const u32 *start;
  GLOBAL u32 *partners; /* written if `write` */
  u32 level_count, wall_count, write;
} search;

/* Those of a cell. With the larger ones of a coarser grid (`tells`) the ball is written too, behind what they find. */
FUNCTION u32 search_cell(const search *s, u32 i, u32 cell, u32 tells, u32 found) {
  for (u32 j = s->begins[cell]; j < s->begins[cell + 1]; j++) {
    if (!is_near(s->frame, s->rows, i, j)) continue;
    if (s->write) s->partners[s->start[i] + found] = j;
    found++;
    if (!tells) continue;
    u32 before = ADD_GLOBAL(&s->counts[j], s->write ? ~0u : 1u);
    if (s->write) s->partners[s->start[j] + before - 1] = i;
  }
  return found;
}

FUNCTION u32 search_grid(const search *s, u32 i, u32 level, u32 tells, u32 found) {
  grid g;
  u32 own[3], flag = 0;
  load_grid(s->levels, level, &g);
  for (u32 k = 0; k < 3; k++) own[k] = cell_of(&g, s->frame, k, s->rows[ROW_FIELDS * (u64)i + k], &flag);
  for (u32 z = 0; z < steps_along(&g, 2); z++) {
    for (u32 y = 0; y < steps_along(&g, 1); y++) {
      u32 row = (cell_after(&g, 2, own[2], z) << g.bits[1] | cell_after(&g, 1, own[1], y)) << g.bits[0];
      for (u32 x = 0; x < steps_along(&g, 0); x++)
        found = search_cell(s, i, g.first + (row | cell_after(&g, 0, own[0], x)), tells, found);
    }
  }
  return found;
}

FUNCTION u32 search_walls(const search *s, u32 i, u32 found) {
  double at[4];
  if (s->rows[ROW_FIELDS * (u64)i + ROW_VELOCITY + 3] == 0) return found;
  load(s->rows, i, ROW_POSITION, at);
  for (u32 n = 0; n < s->wall_count; n++) {
    if (!is_near_wall(s->frame, s->walls + WALL_FIELDS * (u64)n, at)) continue;
    if (s->write) s->partners[s->start[i] + found] = PARTNER_IS_WALL | n;
    found++;
  }
  return found;
}

/* In its own grid and coarser ones, then walls; returns how many it has found. */
FUNCTION u32 search_all(const search *s, u32 i) {
  u32 own = level_of(s->levels, s->level_count, s->rows[ROW_FIELDS * (u64)i + 3]), found = 0;
  for (u32 level = own; level < s->level_count; level++) found = search_grid(s, i, level, level > own, found);
  return search_walls(s, i, found);
}

/* counts: all 0 before. */
KERNEL(64) world_count(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT levels,
                       GLOBAL const double *RESTRICT walls, GLOBAL const u32 *RESTRICT begins,
                       GLOBAL const real *RESTRICT rows, GLOBAL u32 *RESTRICT counts, u32 count, u32 level_count,
                       u32 wall_count) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  const search s = {frame, levels, walls, begins, rows, counts, counts, counts, level_count, wall_count, 0};
  u32 found = search_all(&s, i);
  ADD_GLOBAL(&counts[i], found);
}

/* start: the scan of counts, which are used up. */
KERNEL(64) world_fill(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT levels,
                      GLOBAL const double *RESTRICT walls, GLOBAL const u32 *RESTRICT begins,
                      GLOBAL const real *RESTRICT rows, GLOBAL u32 *RESTRICT counts,
                      GLOBAL const u32 *RESTRICT start, GLOBAL u32 *RESTRICT partners, u32 count, u32 level_count,
                      u32 wall_count) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  const search s = {frame, levels, walls, begins, rows, counts, start, partners, level_count, wall_count, 1};
  search_all(&s, i);
}

FUNCTION void sort_few(GLOBAL u32 *own, u32 count, GLOBAL const u32 *facts) {
  for (u32 n = 1; n < count; n++) {
    u32 partner = own[n], key = key_of(facts, partner), m = n;
    for (; m > 0 && key_of(facts, own[m - 1]) > key; m--) own[m] = own[m - 1];
    own[m] = partner;
  }
}

/* Puts own[root] where it belongs in the heap below it, whose greatest is on top. */
FUNCTION void sift(GLOBAL u32 *own, u32 count, u32 root, GLOBAL const u32 *facts) {
  u32 partner = own[root], key = key_of(facts, partner);
  for (u32 child = 2 * root + 1; child < count; child = 2 * root + 1) {
    if (child + 1 < count && key_of(facts, own[child]) < key_of(facts, own[child + 1])) child++;
    if (key_of(facts, own[child]) <= key) break;
    own[root] = own[child];
    root = child;
  }
  own[root] = partner;
}

FUNCTION void sort_many(GLOBAL u32 *own, u32 count, GLOBAL const u32 *facts) {
  for (u32 n = count / 2; n-- > 0;) sift(own, count, n, facts);
  for (u32 n = count; n-- > 1;) {
    u32 last = own[n];
    own[n] = own[0];
    own[0] = last;
    sift(own, n, 0, facts);
  }
}

/* Partners by number, then walls: the order in which forces are added. A large ball may have thousands; those with more
 * than `most` are listed, in any order. */
KERNEL(64) world_order(GLOBAL const u32 *RESTRICT facts, GLOBAL const u32 *RESTRICT start,
                       GLOBAL u32 *RESTRICT partners, GLOBAL u32 *RESTRICT large, GLOBAL u32 *RESTRICT found, u32 count,
                       u32 most) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  u32 number = start[i + 1] - start[i];
  if (number > most) large[ADD_GLOBAL(&found[FOUND_LARGE], 1u)] = i;
  if (number <= 32)
    sort_few(partners + start[i], number, facts);
  else
    sort_many(partners + start[i], number, facts);
}

/* ---- what contacts remember -------------------------------------------------------------------------------------- */

/* The list before the next one is made, and rows of its order. */
typedef struct old_list {
  GLOBAL const double *frame;
  GLOBAL const double *laws;
  GLOBAL const double *kinds;
  GLOBAL const double *walls;
  GLOBAL const real *rows;
  GLOBAL const u32 *facts;
  GLOBAL double *dissipated;
  told events;
  u32 materials, features;
} old_list;

FUNCTION GLOBAL const double *law_of(const old_list *l, u32 place, u32 second_material) {
  u32 first = (u32)kind_of(l->kinds, l->facts, place)[KIND_MATERIAL];
  return l->laws + LAW_FIELDS * (u64)(first * l->materials + second_material);
}

/* Whether the next list has the contact as well; otherwise it has ended. */
FUNCTION u32 goes_on(const old_list *l, u32 i, const party *own, u32 partner, GLOBAL const double *memory) {
  u32 other = place_of(partner);
  if (is_wall(partner)) {
    GLOBAL const double *wall = l->walls + WALL_FIELDS * (u64)other;
    if (is_near_wall(l->frame, wall, own->at)) return 1;
    GLOBAL const double *law = law_of(l, i, (u32)wall[WALL_MATERIAL]);
    l->dissipated[i] += end_at_wall(own, other, wall, law, memory, l->features, l->events);
  } else {
    if (is_near(l->frame, l->rows, i, other)) return 1;
    GLOBAL const double *law = law_of(l, i, (u32)kind_of(l->kinds, l->facts, other)[KIND_MATERIAL]);
    party second;
    load_party(l->rows, l->facts, other, &second);
    l->dissipated[i] += end_of_balls(own, &second, law, memory, l->features, l->frame, l->events);
  }
  return 0;
}

/* Contacts that the next list will not have end; of the others each ball counts those that wait at it, by its next
 * place. */
KERNEL(64) world_part(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT laws,
                      GLOBAL const double *RESTRICT kinds, GLOBAL const double *RESTRICT walls,
                      GLOBAL const real *RESTRICT rows, GLOBAL const u32 *RESTRICT facts,
                      GLOBAL const u32 *RESTRICT start, GLOBAL u32 *RESTRICT partners,
                      GLOBAL const double *RESTRICT kept, GLOBAL const u32 *RESTRICT places,
                      GLOBAL u32 *RESTRICT counts, GLOBAL double *RESTRICT dissipated, GLOBAL u64 *RESTRICT events,
                      GLOBAL u32 *RESTRICT event_count, u32 count, u32 materials, u32 features, u32 room) {
  u32 i = GROUP * 64 + ITEM, found = 0;
  if (i >= count) return;
  const told t = {events, event_count, room, 0};
  const old_list l = {frame, laws, kinds, walls, rows, facts, dissipated, t, materials, features};
  party own;
  load_party(rows, facts, i, &own);
  for (u32 e = start[i]; e < start[i + 1]; e++) {
    u32 partner = partners[e];
    if ((partner & PARTNER_TOUCHES) == 0) continue;
    if (goes_on(&l, i, &own, partner, kept + KEPT_FIELDS(features) * (u64)e))
      found += key_of(facts, partner) > own.number;
    else
      partners[e] = partner & ~PARTNER_TOUCHES;
  }
  counts[places[i]] = found;
}

/* Those that wait, side by side, of each ball by key. waits: where they begin, by next places. */
KERNEL(64) world_wait(GLOBAL const u32 *RESTRICT facts, GLOBAL const u32 *RESTRICT start,
                      GLOBAL const u32 *RESTRICT partners, GLOBAL const double *RESTRICT kept,
                      GLOBAL const u32 *RESTRICT places, GLOBAL const u32 *RESTRICT waits,
                      GLOBAL double *RESTRICT waiting, u32 count, u32 features) {
  u32 i = GROUP * 64 + ITEM, fields = KEPT_FIELDS(features);
  if (i >= count) return;
  u32 own = facts[FACTS * (u64)i + FACT_NUMBER];
  GLOBAL double *to = waiting + WAITING_FIELDS(features) * (u64)waits[places[i]];
  for (u32 e = start[i]; e < start[i + 1]; e++) {
    u32 key = key_of(facts, partners[e]);
    if ((partners[e] & PARTNER_TOUCHES) == 0 || key < own) continue;
    for (u32 k = 0; k < fields; k++) to[k] = kept[fields * (u64)e + k];
    to[WAITING_KEY(features)] = key;
    to += WAITING_FIELDS(features);
  }
}

/* The one with the key, of those of [from, to), or `to`. */
FUNCTION u32 find_waiting(GLOBAL const double *waiting, u32 features, u32 from, u32 to, u32 key) {
  u32 end = to;
  while (from < to) {
    u32 middle = from + (to - from) / 2;
    double there = waiting[WAITING_FIELDS(features) * (u64)middle + WAITING_KEY(features)];
    if (there == key) return middle;
    if (there < key)
      from = middle + 1;
    else
      to = middle;
  }
  return end;
}

/* Both balls of a contact that waits take it up, that of the higher number with the spring as it is from its side. What
 * events are told of is the lower one's. */
KERNEL(64) world_take(GLOBAL const u32 *RESTRICT facts, GLOBAL const u32 *RESTRICT start, GLOBAL u32 *RESTRICT partners,
                      GLOBAL double *RESTRICT kept, GLOBAL const u32 *RESTRICT waits,
                      GLOBAL const double *RESTRICT waiting, u32 count, u32 features) {
  u32 i = GROUP * 64 + ITEM, springs = KEPT_SPRINGS(features), fields = KEPT_FIELDS(features);
  if (i >= count) return;
  u32 own = facts[FACTS * (u64)i + FACT_NUMBER];
  for (u32 e = start[i]; e < start[i + 1]; e++) {
    u32 key = key_of(facts, partners[e]), is_lower = own < key, at = is_lower ? i : place_of(partners[e]);
    u32 found = find_waiting(waiting, features, waits[at], waits[at + 1], is_lower ? key : own);
    if (found == waits[at + 1]) continue;
    GLOBAL const double *from = waiting + WAITING_FIELDS(features) * (u64)found;
    GLOBAL double *to = kept + fields * (u64)e;
    partners[e] |= PARTNER_TOUCHES;
    for (u32 k = 0; k < springs; k++) to[k] = is_lower ? from[k] : -from[k];
    for (u32 k = springs; k < fields; k++) to[k] = is_lower ? from[k] : 0;
  }
}
