/* The neighbour list of a world: who may touch whom before somebody has moved half the skin. Balls are sorted by the
 * cells of uniform grids, one for each range of radii up to twice the least, and stand in that order. The edge of a cell
 * is the largest diameter of its grid and the skin. Each ball looks into its own cell and the 26 around it, and into as
 * many of every coarser grid; whom it finds there is told, for nobody looks into finer ones, where the large would have
 * to look at ever more cells. They are counted, and once there is room written and sorted by number. A contact's memory
 * goes from list to list by numbers. Any list with enough in it gives the same state.
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

KERNEL(64) world_keys(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT levels,
                      GLOBAL const real *RESTRICT position, GLOBAL u32 *RESTRICT keys, GLOBAL u32 *RESTRICT order,
                      GLOBAL u32 *RESTRICT far_away, u32 count, u32 level_count) {
  u32 i = GROUP * 64 + ITEM, key = 0, flag = 0;
  if (i >= count) return;
  grid g;
  load_grid(levels, level_of(levels, level_count, position[4 * (u64)i + 3]), &g);
  for (u32 k = 3; k-- > 0;) key = key << g.bits[k] | cell_of(&g, frame, k, position[4 * (u64)i + k], &flag);
  keys[i] = g.first + key;
  order[i] = i;
  if (flag != 0) OR_GLOBAL(far_away, flag);
}

/* Rows in their new order; `origin`: where balls are now. */
KERNEL(64) world_gather(GLOBAL const u32 *RESTRICT order, GLOBAL const real *RESTRICT position,
                        GLOBAL const real *RESTRICT velocity, GLOBAL const real *RESTRICT spin,
                        GLOBAL const u32 *RESTRICT facts, GLOBAL const double *RESTRICT dissipated,
                        GLOBAL real *RESTRICT new_position, GLOBAL real *RESTRICT new_velocity,
                        GLOBAL real *RESTRICT new_spin, GLOBAL u32 *RESTRICT new_facts,
                        GLOBAL double *RESTRICT new_dissipated, GLOBAL real *RESTRICT origin, u32 count) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  u64 from = 4 * (u64)order[i], to = 4 * (u64)i;
  for (u32 k = 0; k < 4; k++) {
    new_position[to + k] = origin[to + k] = position[from + k];
    new_velocity[to + k] = velocity[from + k];
    new_spin[to + k] = spin[from + k];
    new_facts[to + k] = facts[from + k];
  }
  new_dissipated[i] = dissipated[order[i]];
}

/* begins[cell]: the first ball of it, or of the next one that has balls; begins[cells]: their number. Nobody has
 * neighbours yet. */
KERNEL(64) world_cells(GLOBAL const u32 *RESTRICT keys, GLOBAL u32 *RESTRICT begins, GLOBAL u32 *RESTRICT counts,
                       u32 count, u32 cells) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  counts[i] = 0;
  for (u32 c = i == 0 ? 0 : keys[i - 1] + 1; c <= keys[i]; c++) begins[c] = i;
  for (u32 c = keys[i] + 1; c <= cells && i + 1 == count; c++) begins[c] = count;
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
FUNCTION u32 is_near(GLOBAL const double *frame, GLOBAL const real *position, GLOBAL const real *velocity, u32 i,
                     u32 j) {
  GLOBAL const real *a = position + 4 * (u64)i, *b = position + 4 * (u64)j;
  double distance2 = 0, reach = (double)a[3] + (double)b[3] + frame[FRAME_SKIN];
  for (u32 k = 0; k < 3; k++) {
    double d = nearest_image((double)a[k] - (double)b[k], frame[FRAME_PERIOD + k]);
    distance2 += d * d;
  }
  if (i == j || distance2 > reach * reach * (1 + 0x1p-40)) return 0;
  return velocity[4 * (u64)i + 3] != 0 || velocity[4 * (u64)j + 3] != 0;
}

/* How neighbours are found. counts: of those that a ball has, or of those that are still to be written by others. */
typedef struct search {
  GLOBAL const double *frame;
  GLOBAL const double *levels;
  GLOBAL const u32 *begins;
  GLOBAL const real *position;
  GLOBAL const real *velocity;
  GLOBAL u32 *counts;
  GLOBAL const u32 *start;
  GLOBAL u32 *partners; /* written if `write` */
  u32 level_count, write;
} search;

/* Those of a cell. With the larger ones of a coarser grid (`tells`) the ball is written too, behind what they find. */
FUNCTION u32 search_cell(const search *s, u32 i, u32 cell, u32 tells, u32 found) {
  for (u32 j = s->begins[cell]; j < s->begins[cell + 1]; j++) {
    if (!is_near(s->frame, s->position, s->velocity, i, j)) continue;
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
  for (u32 k = 0; k < 3; k++) own[k] = cell_of(&g, s->frame, k, s->position[4 * (u64)i + k], &flag);
  for (u32 z = 0; z < steps_along(&g, 2); z++) {
    for (u32 y = 0; y < steps_along(&g, 1); y++) {
      u32 row = (cell_after(&g, 2, own[2], z) << g.bits[1] | cell_after(&g, 1, own[1], y)) << g.bits[0];
      for (u32 x = 0; x < steps_along(&g, 0); x++)
        found = search_cell(s, i, g.first + (row | cell_after(&g, 0, own[0], x)), tells, found);
    }
  }
  return found;
}

/* In its own grid and coarser ones; returns how many it has found. */
FUNCTION u32 search_all(const search *s, u32 i) {
  u32 own = level_of(s->levels, s->level_count, s->position[4 * (u64)i + 3]), found = 0;
  for (u32 level = own; level < s->level_count; level++) found = search_grid(s, i, level, level > own, found);
  return found;
}

KERNEL(64) world_count(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT levels,
                       GLOBAL const u32 *RESTRICT begins, GLOBAL const real *RESTRICT position,
                       GLOBAL const real *RESTRICT velocity, GLOBAL u32 *RESTRICT counts, u32 count, u32 level_count) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  const search s = {frame, levels, begins, position, velocity, counts, counts, counts, level_count, 0};
  u32 found = search_all(&s, i);
  ADD_GLOBAL(&counts[i], found);
}

/* start: the scan of counts, which are used up. */
KERNEL(64) world_fill(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT levels,
                      GLOBAL const u32 *RESTRICT begins, GLOBAL const real *RESTRICT position,
                      GLOBAL const real *RESTRICT velocity, GLOBAL u32 *RESTRICT counts,
                      GLOBAL const u32 *RESTRICT start, GLOBAL u32 *RESTRICT partners, u32 count, u32 level_count) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  const search s = {frame, levels, begins, position, velocity, counts, start, partners, level_count, 1};
  search_all(&s, i);
}

FUNCTION u32 number_of(GLOBAL const u32 *facts, u32 place) {
  return facts[FACTS * (u64)place + FACT_NUMBER];
}

FUNCTION void sort_few(GLOBAL u32 *own, u32 count, GLOBAL const u32 *facts) {
  for (u32 n = 1; n < count; n++) {
    u32 place = own[n], number = number_of(facts, place), m = n;
    for (; m > 0 && number_of(facts, own[m - 1]) > number; m--) own[m] = own[m - 1];
    own[m] = place;
  }
}

/* Puts own[root] where it belongs in the heap below it, whose greatest is on top. */
FUNCTION void sift(GLOBAL u32 *own, u32 count, u32 root, GLOBAL const u32 *facts) {
  u32 place = own[root], number = number_of(facts, place);
  for (u32 child = 2 * root + 1; child < count; child = 2 * root + 1) {
    if (child + 1 < count && number_of(facts, own[child]) < number_of(facts, own[child + 1])) child++;
    if (number_of(facts, own[child]) <= number) break;
    own[root] = own[child];
    root = child;
  }
  own[root] = place;
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

/* Partners by number: the order in which forces are added. A large ball may have thousands. */
KERNEL(64) world_order(GLOBAL const u32 *RESTRICT facts, GLOBAL const u32 *RESTRICT start,
                       GLOBAL u32 *RESTRICT partners, u32 count) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  u32 found = start[i + 1] - start[i];
  if (found <= 32)
    sort_few(partners + start[i], found, facts);
  else
    sort_many(partners + start[i], found, facts);
}

/* ---- what contacts remember -------------------------------------------------------------------------------------- */

FUNCTION void load_party(GLOBAL const real *position, GLOBAL const real *velocity, GLOBAL const u32 *facts,
                         u32 place, party *p) {
  p->number = facts[FACTS * (u64)place + FACT_NUMBER];
  for (u32 k = 0; k < 4; k++) {
    p->at[k] = position[4 * (u64)place + k];
    p->velocity[k] = velocity[4 * (u64)place + k];
  }
}

FUNCTION void carry_one(GLOBAL u32 *touching, GLOBAL double *kept, u32 entry, GLOBAL const double *old) {
  touching[entry] = 1;
  for (u32 k = 0; k < KEPT_FIELDS; k++) kept[KEPT_FIELDS * (u64)entry + k] = old[k];
}

/* From the list before; rows and facts of its order are still there. Who touched and has gone beyond the skin since
 * touches no more. The entries of walls come behind those of balls. */
KERNEL(64) world_carry(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT laws,
                       GLOBAL const double *RESTRICT walls, GLOBAL const u32 *RESTRICT order,
                       GLOBAL const real *RESTRICT old_position,
                       GLOBAL const real *RESTRICT old_velocity, GLOBAL const u32 *RESTRICT old_facts,
                       GLOBAL const u32 *RESTRICT old_start, GLOBAL const u32 *RESTRICT old_partners,
                       GLOBAL const u32 *RESTRICT old_touching, GLOBAL const double *RESTRICT old_kept,
                       GLOBAL const u32 *RESTRICT facts, GLOBAL const u32 *RESTRICT start,
                       GLOBAL const u32 *RESTRICT partners, GLOBAL u32 *RESTRICT touching,
                       GLOBAL double *RESTRICT kept, GLOBAL double *RESTRICT dissipated, GLOBAL u64 *RESTRICT events,
                       GLOBAL u32 *RESTRICT event_count, u32 count, u32 wall_count, u32 materials, u32 features,
                       u32 old_entries, u32 entries, u32 room) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  const told t = {events, event_count, room, 0};
  u32 from = order[i], e = start[i], end = start[i + 1];
  party own, other;
  load_party(old_position, old_velocity, old_facts, from, &own);
  GLOBAL const double *own_laws = laws + LAW_FIELDS * (u64)(old_facts[FACTS * (u64)from + FACT_MATERIAL] * materials);
  for (u32 n = e; n < end; n++) touching[n] = 0;
  for (u32 o = old_start[from]; o < old_start[from + 1]; o++) {
    if (!old_touching[o]) continue;
    GLOBAL const double *memory = old_kept + KEPT_FIELDS * (u64)o;
    load_party(old_position, old_velocity, old_facts, old_partners[o], &other);
    while (e < end && facts[FACTS * (u64)partners[e] + FACT_NUMBER] < other.number) e++;
    if (e < end && facts[FACTS * (u64)partners[e] + FACT_NUMBER] == other.number) {
      carry_one(touching, kept, e, memory);
    } else {
      u32 material = old_facts[FACTS * (u64)old_partners[o] + FACT_MATERIAL];
      GLOBAL const double *law = own_laws + LAW_FIELDS * (u64)material;
      end_of_balls(&own, &other, law, memory, features, frame, t, dissipated + i);
    }
  }
  for (u32 n = 0; n < wall_count; n++) {
    u32 old = old_entries + from * wall_count + n, entry = entries + i * wall_count + n;
    GLOBAL const double *wall = walls + WALL_FIELDS * (u64)n, *memory = old_kept + KEPT_FIELDS * (u64)old;
    touching[entry] = 0;
    if (!old_touching[old]) continue;
    if (wall_distance(wall, own.at) <= own.at[3] + frame[FRAME_SKIN]) {
      carry_one(touching, kept, entry, memory);
    } else {
      GLOBAL const double *law = own_laws + LAW_FIELDS * (u64)(u32)wall[WALL_MATERIAL];
      end_at_wall(&own, n, wall, law, memory, features, t, dissipated + i);
    }
  }
}

/* The contacts that there are, side by side: `places`, the scan of what touches, says where. */
KERNEL(64) world_pack(GLOBAL const u32 *RESTRICT facts, GLOBAL const u32 *RESTRICT start,
                      GLOBAL const u32 *RESTRICT partners, GLOBAL const u32 *RESTRICT places,
                      GLOBAL const double *RESTRICT kept, GLOBAL u32 *RESTRICT parties, GLOBAL double *RESTRICT packed,
                      u32 count, u32 wall_count, u32 entries) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  u32 begin = start[i], balls = start[i + 1] - begin;
  for (u32 n = 0; n < balls + wall_count; n++) {
    u32 entry = n < balls ? begin + n : entries + i * wall_count + (n - balls), to = places[entry];
    if (places[entry + 1] == to) continue;
    parties[2 * to] = facts[FACTS * (u64)i + FACT_NUMBER];
    parties[2 * to + 1] =
        n < balls ? facts[FACTS * (u64)partners[entry] + FACT_NUMBER] : PARTNER_IS_WALL | (n - balls);
    for (u32 k = 0; k < KEPT_FIELDS; k++) packed[KEPT_FIELDS * (u64)to + k] = kept[KEPT_FIELDS * (u64)entry + k];
  }
}
