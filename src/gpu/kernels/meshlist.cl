/* Which triangles of surfaces each ball may touch before it or they have moved by half of what they are looked for
 * farther: the list of src/dynamics/surfaces.c. A mesh has a tree in depth-first order, whose nodes say where to go on
 * behind what is below them, so that no stack is needed. Balls count their triangles, and once there is room write them.
 *
 * What contacts remember goes from list to list, surface by surface, in the order that it has; of more contacts than
 * the next list has triangles the last ones have ended. */
#include "nearest.h"

/* How triangles are found. */
typedef struct search {
  GLOBAL const double *frame;
  GLOBAL const double *surfaces;
  GLOBAL const double *triangles;
  GLOBAL const u32 *tree;
  GLOBAL u32 *facets; /* written if `write` */
  u32 count, write;
} search;

/* Where a search stands. */
typedef struct standing {
  u32 surface, found; /* found: where the next one is written, or how many there are */
  double at[3], reach, image[3];
} standing;

FUNCTION u32 is_near_node(GLOBAL const u32 *node, const double *at, double reach) {
  double distance2 = 0, slack = 0x1p-40 * (ABS(at[0]) + ABS(at[1]) + ABS(at[2]));
  for (u32 k = 0; k < 3; k++) {
    double below = (double)AS_F32(node[k]) - at[k], above = at[k] - (double)AS_F32(node[3 + k]);
    double gap = (below > above ? below : above) - slack;
    if (gap > 0) distance2 += gap * gap;
  }
  return distance2 <= reach * reach * (1 + 0x1p-20);
}

FUNCTION void write_facet(const search *s, const standing *p, u32 triangle) {
  GLOBAL u32 *to = s->facets + FACET_FIELDS * (u64)p->found;
  to[FACET_SURFACE] = p->surface;
  to[FACET_TRIANGLE] = triangle;
  for (u32 k = 0; k < 3; k++) to[FACET_IMAGE + k] = (u32)(i64)p->image[k];
}

FUNCTION void search_image(const search *s, standing *p, const double *at) {
  GLOBAL const double *surface = s->surfaces + SURFACE_FIELDS * (u64)p->surface;
  GLOBAL const double *triangles = s->triangles + TRIANGLE_FIELDS * (u64)surface[SURFACE_TRIANGLES];
  GLOBAL const u32 *tree = s->tree + NODE_FIELDS * (u64)surface[SURFACE_TREE];
  u32 end = (u32)surface[SURFACE_TREE_END];
  near_point near;
  to_mesh(surface, s->frame, at, p->image, p->at);
  for (u32 n = 0; n < end;) {
    GLOBAL const u32 *node = tree + NODE_FIELDS * (u64)n;
    u32 triangle = node[NODE_TRIANGLE], is_near = is_near_node(node, p->at, p->reach);
    n = is_near ? n + 1 : node[NODE_SKIP];
    if (!is_near || triangle == NODE_INNER) continue;
    find_nearest(triangles + TRIANGLE_FIELDS * (u64)triangle, p->at, &near);
    if (!(near.distance <= p->reach)) continue;
    if (s->write) write_facet(s, p, triangle);
    p->found++;
  }
}

/* Which images along an axis may have the ball, at `way` from the mesh's position, within `far`. */
FUNCTION void images_along(double way, double far, double period, double *low, double *high, u32 *flag) {
  *low = *high = 0;
  if (period == 0) {
    if (ABS(way) > far) *high = -1;
    return;
  }
  *low = -whole_below(-((way - far) / period));
  *high = whole_below((way + far) / period);
  if (ABS(*low) < 0x1p31 - 1 && ABS(*high) < 0x1p31 - 1) return;
  *flag = FLAG_FAR;
  *high = *low - 1;
}

FUNCTION void search_surface(const search *s, standing *p, const double *at, u32 *flag) {
  GLOBAL const double *surface = s->surfaces + SURFACE_FIELDS * (u64)p->surface;
  double far = (surface[SURFACE_REACH] + p->reach) * (1 + 1e-9), low[3], high[3];
  for (u32 k = 0; k < 3; k++)
    images_along(at[k] - surface[SURFACE_POSITION + k], far, s->frame[FRAME_PERIOD + k], &low[k], &high[k], flag);
  for (p->image[0] = low[0]; p->image[0] <= high[0]; p->image[0] += 1) {
    for (p->image[1] = low[1]; p->image[1] <= high[1]; p->image[1] += 1) {
      for (p->image[2] = low[2]; p->image[2] <= high[2]; p->image[2] += 1) search_image(s, p, at);
    }
  }
}

/* Of a ball that moves, from entry `first` on; returns where they end. */
FUNCTION u32 search_all(const search *s, GLOBAL const real *rows, u32 i, u32 first, u32 *flag) {
  double at[4];
  standing p;
  p.found = first;
  if (rows[ROW_FIELDS * (u64)i + ROW_VELOCITY + 3] == 0) return first;
  load(rows, i, ROW_POSITION, at);
  p.reach = at[3] + s->frame[FRAME_REACH];
  for (p.surface = 0; p.surface < s->count; p.surface++) search_surface(s, &p, at, flag);
  return p.found;
}

KERNEL(64) mesh_count(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT surfaces,
                      GLOBAL const double *RESTRICT triangles, GLOBAL const u32 *RESTRICT tree,
                      GLOBAL const real *RESTRICT rows, GLOBAL u32 *RESTRICT counts, GLOBAL u32 *RESTRICT found,
                      u32 count, u32 surface_count) {
  u32 i = GROUP * 64 + ITEM, flag = 0;
  if (i >= count) return;
  const search s = {frame, surfaces, triangles, tree, counts, surface_count, 0};
  counts[i] = search_all(&s, rows, i, 0, &flag);
  if (counts[i] != 0) ADD_GLOBAL(&found[FOUND_NEAR], 1u);
  if (flag != 0) OR_GLOBAL(&found[FOUND_FAR], flag);
}

/* near: the balls that have triangles, and where they are now. FOUND_NEAR of them are still to be written. */
KERNEL(64) mesh_fill(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT surfaces,
                     GLOBAL const double *RESTRICT triangles, GLOBAL const u32 *RESTRICT tree,
                     GLOBAL const real *RESTRICT rows, GLOBAL const u32 *RESTRICT start, GLOBAL u32 *RESTRICT facets,
                     GLOBAL u32 *RESTRICT near, GLOBAL double *RESTRICT near_at, GLOBAL u32 *RESTRICT found, u32 count,
                     u32 surface_count) {
  u32 i = GROUP * 64 + ITEM, flag = 0;
  if (i >= count || start[i] == start[i + 1]) return;
  const search s = {frame, surfaces, triangles, tree, facets, surface_count, 1};
  search_all(&s, rows, i, start[i], &flag);
  u32 n = ADD_GLOBAL(&found[FOUND_NEAR], ~0u) - 1;
  near[n] = i;
  for (u32 k = 0; k < 3; k++) near_at[3 * (u64)n + k] = rows[ROW_FIELDS * (u64)i + ROW_POSITION + k];
}

/* ---- what contacts remember -------------------------------------------------------------------------------------- */

/* Contacts of the list before go to the one that there is now. places: of balls, by places in the list before, which
 * are those of facts, energies and old_start, too. */
KERNEL(64) mesh_carry(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT laws,
                      GLOBAL const double *RESTRICT kinds, GLOBAL const double *RESTRICT surfaces,
                      GLOBAL const real *RESTRICT rows, GLOBAL const u32 *RESTRICT facts,
                      GLOBAL const u32 *RESTRICT places, GLOBAL const u32 *RESTRICT old_start,
                      GLOBAL const u32 *RESTRICT old_facets, GLOBAL const double *RESTRICT old_kept,
                      GLOBAL const u32 *RESTRICT start, GLOBAL u32 *RESTRICT facets, GLOBAL double *RESTRICT kept,
                      GLOBAL double *RESTRICT dissipated, GLOBAL u64 *RESTRICT events,
                      GLOBAL u32 *RESTRICT event_count, u32 count, u32 materials, u32 features, u32 room) {
  u32 i = GROUP * 64 + ITEM, fields = FACET_KEPT_FIELDS(features), slot = 0, at = 0, end = 0;
  if (i >= count || old_start[i] == old_start[i + 1]) return;
  const told t = {events, event_count, room, 0};
  u32 place = places[i], old = 0;
  party own;
  own.number = facts[FACTS * (u64)i + FACT_NUMBER];
  load(rows, place, ROW_POSITION, own.at);
  load(rows, place, ROW_VELOCITY, own.velocity);
  for (u32 e = old_start[i]; e < old_start[i + 1]; e++, slot++) {
    u32 number = surface_of(old_facets, e);
    if (e == old_start[i] || number != old) { /* where the surface's entries are now */
      old = number;
      slot = 0;
      for (at = start[place]; at < start[place + 1] && surface_of(facets, at) != number;) at++;
      end = at < start[place + 1] ? surface_end(facets, at, start[place + 1]) : at;
    }
    if (!facet_touches(old_facets, e)) continue;
    GLOBAL const double *from = old_kept + fields * (u64)e;
    if (at + slot < end) {
      facets[FACET_FIELDS * (u64)(at + slot) + FACET_SURFACE] |= FACET_TOUCHES;
      for (u32 k = 0; k < fields; k++) kept[fields * (u64)(at + slot) + k] = from[k];
    } else {
      GLOBAL const double *surface = surfaces + SURFACE_FIELDS * (u64)number;
      u32 first = (u32)kind_of(kinds, facts, i)[KIND_MATERIAL], second = (u32)surface[SURFACE_MATERIAL];
      GLOBAL const double *law = laws + LAW_FIELDS * (u64)(first * materials + second);
      dissipated[i] += end_at_surface(&own, surface, frame, number, slot, law, from, features, t);
    }
  }
}
