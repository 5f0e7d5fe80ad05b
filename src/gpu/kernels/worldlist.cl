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

/* Rows in their new order; `origin`: marks of where balls are now. */
KERNEL(64) world_gather(GLOBAL const double *RESTRICT frame, GLOBAL const u32 *RESTRICT order,
                        GLOBAL const real *RESTRICT position, GLOBAL const real *RESTRICT velocity,
                        GLOBAL const real *RESTRICT spin, GLOBAL const u32 *RESTRICT facts,
                        GLOBAL const double *RESTRICT dissipated, GLOBAL real *RESTRICT new_position,
                        GLOBAL real *RESTRICT new_velocity, GLOBAL real *RESTRICT new_spin,
                        GLOBAL u32 *RESTRICT new_facts, GLOBAL double *RESTRICT new_dissipated,
                        GLOBAL u32 *RESTRICT origin, u32 count) {
  u32 i = GROUP * 64 + ITEM, flag = 0;
  if (i >= count) return;
  u64 from = order[i];
  for (u32 k = 0; k < 4; k++) {
    new_position[4 * (u64)i + k] = position[4 * from + k];
    new_velocity[4 * (u64)i + k] = velocity[4 * from + k];
    new_spin[4 * (u64)i + k] = spin[4 * from + k];
  }
  for (u32 k = 0; k < 3; k++) origin[3 * (u64)i + k] = mark_of(frame, k, position[4 * from + k], &flag);
  for (u32 k = 0; k < FACTS; k++) new_facts[FACTS * (u64)i + k] = facts[FACTS * from + k];
  new_dissipated[i] = dissipated[from];
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
  GLOBAL const double *walls;
  GLOBAL const u32 *begins;
  GLOBAL const real *position;
  GLOBAL const real *velocity;
  GLOBAL u32 *counts;
  GLOBAL const u32 *start;
  GLOBAL u32 *partners; /* written if `write` */
  u32 level_count, wall_count, write;
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

FUNCTION u32 search_walls(const search *s, u32 i, u32 found) {
  double at[3], reach = (double)s->position[4 * (u64)i + 3] + s->frame[FRAME_SKIN];
  if (s->velocity[4 * (u64)i + 3] == 0) return found;
  for (u32 k = 0; k < 3; k++) at[k] = s->position[4 * (u64)i + k];
  for (u32 n = 0; n < s->wall_count; n++) {
    if (!(wall_distance(s->walls + WALL_FIELDS * (u64)n, at) <= reach)) continue;
    if (s->write) s->partners[s->start[i] + found] = PARTNER_IS_WALL | n;
    found++;
  }
  return found;
}

/* In its own grid and coarser ones, then walls; returns how many it has found. */
FUNCTION u32 search_all(const search *s, u32 i) {
  u32 own = level_of(s->levels, s->level_count, s->position[4 * (u64)i + 3]), found = 0;
  for (u32 level = own; level < s->level_count; level++) found = search_grid(s, i, level, level > own, found);
  return search_walls(s, i, found);
}

KERNEL(64) world_count(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT levels,
                       GLOBAL const double *RESTRICT walls, GLOBAL const u32 *RESTRICT begins,
                       GLOBAL const real *RESTRICT position, GLOBAL const real *RESTRICT velocity,
                       GLOBAL u32 *RESTRICT counts, u32 count, u32 level_count, u32 wall_count) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  const search s = {frame,  levels, walls,  begins,      position,   velocity,
                    counts, counts, counts, level_count, wall_count, 0};
  u32 found = search_all(&s, i);
  ADD_GLOBAL(&counts[i], found);
}

/* start: the scan of counts, which are used up. */
KERNEL(64) world_fill(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT levels,
                      GLOBAL const double *RESTRICT walls, GLOBAL const u32 *RESTRICT begins,
                      GLOBAL const real *RESTRICT position, GLOBAL const real *RESTRICT velocity,
                      GLOBAL u32 *RESTRICT counts, GLOBAL const u32 *RESTRICT start,
                      GLOBAL u32 *RESTRICT partners, u32 count, u32 level_count, u32 wall_count) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  const search s = {frame,  levels, walls,    begins,      position,   velocity,
                    counts, start,  partners, level_count, wall_count, 1};
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

/* Partners by number, then walls: the order in which forces are added. A large ball may have thousands. */
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

FUNCTION u32 material_at(GLOBAL const double *kinds, GLOBAL const u32 *facts, u32 place) {
  return (u32)kind_of(kinds, facts, place)[KIND_MATERIAL];
}

/* The lists before and now. */
typedef struct lists {
  GLOBAL const u32 *old_facts;
  GLOBAL const u32 *old_partners;
  GLOBAL const double *old_kept;
  GLOBAL const u32 *facts;
  GLOBAL u32 *partners;
  GLOBAL double *kept;
  u32 fields;
} lists;

/* Goes on in the entries of a ball from e to end, in which partners have the same order; false: not there. */
FUNCTION u32 carry_one(const lists *l, u32 old, u32 *e, u32 end) {
  u32 key = key_of(l->old_facts, l->old_partners[old]);
  while (*e < end && key_of(l->facts, l->partners[*e]) < key) ++*e;
  if (*e == end || key_of(l->facts, l->partners[*e]) != key) return 0;
  l->partners[*e] |= PARTNER_TOUCHES;
  for (u32 k = 0; k < l->fields; k++) l->kept[l->fields * (u64)*e + k] = l->old_kept[l->fields * (u64)old + k];
  return 1;
}

/* From the list before; rows and facts of its order are still there. Who touched and has gone beyond the skin since
 * touches no more. */
KERNEL(64) world_carry(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT laws,
                       GLOBAL const double *RESTRICT kinds, GLOBAL const double *RESTRICT walls,
                       GLOBAL const u32 *RESTRICT order, GLOBAL const real *RESTRICT old_position,
                       GLOBAL const real *RESTRICT old_velocity, GLOBAL const u32 *RESTRICT old_facts,
                       GLOBAL const u32 *RESTRICT old_start, GLOBAL const u32 *RESTRICT old_partners,
                       GLOBAL const double *RESTRICT old_kept, GLOBAL const u32 *RESTRICT facts,
                       GLOBAL const u32 *RESTRICT start, GLOBAL u32 *RESTRICT partners,
                       GLOBAL double *RESTRICT kept, GLOBAL double *RESTRICT dissipated, GLOBAL u64 *RESTRICT events,
                       GLOBAL u32 *RESTRICT event_count, u32 count, u32 materials, u32 features, u32 room) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  const told t = {events, event_count, room, 0};
  const lists l = {old_facts, old_partners, old_kept, facts, partners, kept, KEPT_FIELDS(features)};
  u32 from = order[i], e = start[i];
  party own, other;
  load_party(old_position, old_velocity, old_facts, from, &own);
  GLOBAL const double *own_laws = laws + LAW_FIELDS * (u64)(material_at(kinds, old_facts, from) * materials);
  for (u32 o = old_start[from]; o < old_start[from + 1]; o++) {
    u32 partner = old_partners[o], place = place_of(partner);
    if ((partner & PARTNER_TOUCHES) == 0 || carry_one(&l, o, &e, start[i + 1])) continue;
    GLOBAL const double *memory = old_kept + l.fields * (u64)o;
    if (is_wall(partner)) {
      GLOBAL const double *wall = walls + WALL_FIELDS * (u64)place;
      GLOBAL const double *law = own_laws + LAW_FIELDS * (u64)(u32)wall[WALL_MATERIAL];
      end_at_wall(&own, place, wall, law, memory, features, t, dissipated + i);
    } else {
      GLOBAL const double *law = own_laws + LAW_FIELDS * (u64)material_at(kinds, old_facts, place);
      load_party(old_position, old_velocity, old_facts, place, &other);
      end_of_balls(&own, &other, law, memory, features, frame, t, dissipated + i);
    }
  }
}

/* How many contacts each ball has. */
KERNEL(64) world_touching(GLOBAL const u32 *RESTRICT start, GLOBAL const u32 *RESTRICT partners,
                          GLOBAL u32 *RESTRICT counts, u32 count) {
  u32 i = GROUP * 64 + ITEM, found = 0;
  if (i >= count) return;
  for (u32 e = start[i]; e < start[i + 1]; e++) found += (partners[e] & PARTNER_TOUCHES) != 0;
  counts[i] = found;
}

/* The contacts that there are, side by side, with the numbers of partners: `places`, the scan of how many there are,
 * says where. */
KERNEL(64) world_pack(GLOBAL const u32 *RESTRICT facts, GLOBAL const u32 *RESTRICT start,
                      GLOBAL const u32 *RESTRICT partners, GLOBAL const double *RESTRICT kept,
                      GLOBAL const u32 *RESTRICT places, GLOBAL u32 *RESTRICT keys, GLOBAL double *RESTRICT packed,
                      u32 count, u32 features) {
  u32 i = GROUP * 64 + ITEM, fields = KEPT_FIELDS(features);
  if (i >= count) return;
  u32 to = places[i];
  for (u32 e = start[i]; e < start[i + 1]; e++) {
    if ((partners[e] & PARTNER_TOUCHES) == 0) continue;
    keys[to] = key_of(facts, partners[e]);
    for (u32 k = 0; k < fields; k++) packed[fields * (u64)to + k] = kept[fields * (u64)e + k];
    to++;
  }
}
