/* Parallel spatial subdivision: home and phantom cells, control bits, passes by the type of a cell. The head of
 * src/broad/textbook/subdivision.c says what the stages are and why the two conditions make them right; here the stages are the
 * same, number by number, with ids of 32 bits. Spheres only say where to look, in doubles, which have to be exact;
 * whether two boxes meet is decided on whole numbers in the order of the coordinates.
 * (S. Le Grand, "Broad-phase collision detection with CUDA", GPU Gems 3, chapter 32, 2007.)
 *
 * An item of a pass has one object in its home cell, not the whole cell: cells are of all sizes, objects are alike. */

#include "wide.h"

#define BOUND u64
#include "bounds.h"

#define SLACK 0x1p-30 /* in cells: more than coordinates are off by rounding */

typedef struct sphere {
  double center[3], radius;
} sphere;

/* A box in the order of classes: whole numbers, its own number; bits for the types that it touches, and the type of its
 * home above them. */
typedef struct object {
  KEY min[3], max[3];
  u32 number, control;
} object;

typedef struct cell {
  u32 start, homes, large_homes, phantoms, large_phantoms, type;
} cell;

ORDERED(ordered64, u64)

/* Around the projection of a box to `dimensions` of the axes from `axis` on, in units of 16, so that nothing
 * overflows: not smaller than it, though the centre is rounded; by how much, exactly, is added to the edges. */
FUNCTION void sphere_around(GLOBAL const KEY *box, u32 axis, u32 dimensions, sphere *s) {
  double half_edge[3], most = 0, sum = 0;
  for (u32 k = 0; k < 3; k++) s->center[k] = half_edge[k] = 0;
  for (u32 k = 0; k < dimensions; k++) {
    u32 from = (axis + k) % 3;
    double low = 0x1p-5 * wide_of(box[from]), high = 0x1p-5 * wide_of(box[from + 3]);
    double center = low + high, part = center - low;
    double off = (low - (center - part)) + (high - part);
    s->center[k] = center;
    half_edge[k] = high - low + (off < 0 ? -off : off);
    most = half_edge[k] > most ? half_edge[k] : most;
  }
  for (u32 k = 0; k < dimensions && most > 0; k++) sum += (half_edge[k] / most) * (half_edge[k] / most);
  s->radius = most * SQRT(sum) * (1 + 0x1p-40) + 0x1p-1060; /* for subnormal numbers, which lose bits above */
}

/* Of each group's 4096 objects: the corners of the box around the centres and the largest radius, ordered. `order` is
 * looked at when `dealt` is not 0. */
KERNEL(256) sub_spheres(GLOBAL const KEY *RESTRICT boxes, GLOBAL const u32 *RESTRICT order,
                        GLOBAL sphere *RESTRICT spheres, GLOBAL u64 *RESTRICT bounds, u32 begin, u32 count, u32 dealt,
                        u32 axis, u32 dimensions) {
  SHARED u64 part[256];
  u64 least[7]; /* high ends and the radius as complements */
  u32 item = ITEM;
  for (u32 k = 0; k < 7; k++) least[k] = ~(u64)0;
  for (u32 step = 0; step < 16; step++) {
    u32 i = GROUP * 4096 + step * 256 + item;
    if (i >= count) break;
    sphere s;
    sphere_around(boxes + 6 * (u64)(dealt != 0 ? order[begin + i] : i), axis, dimensions, &s);
    spheres[i] = s;
    for (u32 k = 0; k < 3; k++) {
      u64 at = ordered64(AS_U64(s.center[k]));
      least[k] = at < least[k] ? at : least[k];
      least[k + 3] = ~at < least[k + 3] ? ~at : least[k + 3];
    }
    u64 radius = ~ordered64(AS_U64(s.radius));
    least[6] = radius < least[6] ? radius : least[6];
  }
  group_bounds(part, bounds + 7 * (u64)GROUP, least, 7);
}

/* Classes by radius, each at most a quarter of the one before, the last with all the rest. */
KERNEL(256) sub_classes(GLOBAL const sphere *RESTRICT spheres, GLOBAL u32 *RESTRICT classes, GLOBAL u32 *RESTRICT order,
                        u32 count, double largest, u32 last) {
  u32 i = GROUP * 256 + ITEM, number = 0;
  if (i >= count) return;
  while (number < last && spheres[i].radius <= largest / 4) {
    largest /= 4;
    number++;
  }
  classes[i] = number;
  order[i] = i;
}

KERNEL(256) sub_gather(GLOBAL const KEY *RESTRICT boxes, GLOBAL const u32 *RESTRICT order,
                       GLOBAL object *RESTRICT objects, u32 count) {
  u32 i = GROUP * 256 + ITEM;
  if (i >= count) return;
  u32 number = order[i];
  for (u32 k = 0; k < 3; k++) {
    objects[i].min[k] = ordered(boxes[6 * (u64)number + k]);
    objects[i].max[k] = ordered(boxes[6 * (u64)number + 3 + k]);
  }
  objects[i].number = number;
  objects[i].control = 0;
}

/* The parities of a cell's coordinates. */
FUNCTION u32 type_of(u32 id, u32 shift_x, u32 shift_y, u32 shift_z, u32 dimensions) {
  u32 type = (id >> shift_x & 1) | (id >> shift_y & 1) << 1;
  return dimensions == 3 ? type | (id >> shift_z & 1) << 2 : type;
}

/* Cell ids and control bits of the objects from `begin` on. Home cells are written to [0, count), phantom cells behind
 * them, 2^d - 1 an object; ids of cells that are not there have bit `bits` set. frame: origin, cell, scale of radii. */
KERNEL(256) sub_mark(GLOBAL const sphere *RESTRICT spheres, GLOBAL const double *RESTRICT frame,
                     GLOBAL u32 *RESTRICT ids, GLOBAL u32 *RESTRICT entries, GLOBAL object *RESTRICT objects, u32 begin,
                     u32 count, u32 shift_x, u32 shift_y, u32 shift_z, u32 bits, u32 dimensions) {
  u32 i = GROUP * 256 + ITEM;
  if (i >= count) return;
  u32 shift[3], aside[3], home = 0, others = (1u << dimensions) - 1;
  double gap[3], edge = frame[3]; /* to the neighbour on the near side */
  shift[0] = shift_x;
  shift[1] = shift_y;
  shift[2] = shift_z;
  for (u32 k = 0; k < dimensions; k++) {
    double at = (spheres[i].center[k] - frame[k]) / edge;
    u32 number = (u32)at;
    double inside = at - (double)number;
    gap[k] = inside < 0.5 ? inside : 1 - inside;
    aside[k] = (inside < 0.5 ? 0xFFFFFFFFu : 1u) << shift[k];
    home += (number + 1) << shift[k];
  }
  double radius = spheres[i].radius * frame[4] / edge + SLACK;
  u32 type = type_of(home, shift_x, shift_y, shift_z, dimensions), touched = 1u << type;
  ids[i] = home;
  entries[i] = i;
  for (u32 c = 1; c <= others; c++) {
    u32 id = home, at = count + i * others + (c - 1);
    double distance2 = 0;
    for (u32 k = 0; k < dimensions; k++) {
      if ((c >> k & 1) == 0) continue;
      id += aside[k];
      distance2 += gap[k] * gap[k];
    }
    u32 touches = distance2 <= radius * radius;
    ids[at] = touches != 0 ? id : 1u << bits;
    entries[at] = i;
    if (touches != 0) touched |= 1u << (type ^ c);
  }
  objects[begin + i].control = touched | type << 8;
}

/* ---- the list of cells ----------------------------------------------------------------------------------------- */

/* The first entry of [from, to) that is not at home in the cell, which is of this type: those at home stand in front.
 * An object touches one cell of each type, so its home is the one of the home's type. */
FUNCTION u32 first_guest(GLOBAL const u32 *entries, GLOBAL const object *objects, u32 from, u32 to, u32 type) {
  while (from < to) {
    u32 middle = from + (to - from) / 2;
    if (objects[entries[middle]].control >> 8 == type) from = middle + 1;
    else to = middle;
  }
  return from;
}

/* The first of [from, to) that is not large: large ones stand in front. */
FUNCTION u32 first_small(GLOBAL const u32 *entries, u32 from, u32 to, u32 large) {
  while (from < to) {
    u32 middle = from + (to - from) / 2;
    if (entries[middle] < large) from = middle + 1;
    else to = middle;
  }
  return from;
}

/* The cell of a run of equal ids. Objects below `large` are the large ones. */
FUNCTION void cell_of_run(GLOBAL const u32 *entries, GLOBAL const object *objects, u32 start, u32 end, u32 type,
                          u32 large, cell *c) {
  u32 guests = first_guest(entries, objects, start, end, type);
  c->start = start;
  c->homes = guests - start;
  c->large_homes = first_small(entries, start, guests, large) - start;
  c->phantoms = end - guests;
  c->large_phantoms = first_small(entries, guests, end, large) - guests;
  c->type = type;
}

/* Marks the runs that are cells with several objects, one at home and one large. `objects` begins with the large ones.
 */
KERNEL(256) sub_list(GLOBAL const u32 *RESTRICT ids, GLOBAL const u32 *RESTRICT entries,
                     GLOBAL const object *RESTRICT objects, GLOBAL const u32 *RESTRICT starts,
                     GLOBAL u32 *RESTRICT marks, u32 begin, u32 runs, u32 count, u32 large, u32 shift_x, u32 shift_y,
                     u32 shift_z, u32 bits, u32 dimensions) {
  u32 r = GROUP * 256 + ITEM;
  if (r >= runs) return;
  u32 start = starts[r], end = r + 1 < runs ? starts[r + 1] : count, id = ids[start];
  marks[r] = 0;
  if (id >> bits != 0 || end - start < 2) return;
  cell c;
  cell_of_run(entries, objects + begin, start, end, type_of(id, shift_x, shift_y, shift_z, dimensions), large, &c);
  marks[r] = c.homes > 0 && c.large_homes + c.large_phantoms > 0;
}

/* The types of the marked runs, to sort them by. */
KERNEL(256) sub_types(GLOBAL const u32 *RESTRICT ids, GLOBAL const u32 *RESTRICT starts,
                      GLOBAL const u32 *RESTRICT chosen, GLOBAL u32 *RESTRICT types, u32 count, u32 shift_x,
                      u32 shift_y, u32 shift_z, u32 dimensions) {
  u32 i = GROUP * 256 + ITEM;
  if (i < count) types[i] = type_of(ids[starts[chosen[i]]], shift_x, shift_y, shift_z, dimensions);
}

/* homes: how many objects are at home; tests: how many pairs are looked at, as far as 32 bits hold it. */
KERNEL(256) sub_cells(GLOBAL const u32 *RESTRICT entries, GLOBAL const object *RESTRICT objects,
                      GLOBAL const u32 *RESTRICT starts, GLOBAL const u32 *RESTRICT chosen,
                      GLOBAL const u32 *RESTRICT types, GLOBAL cell *RESTRICT cells, GLOBAL u32 *RESTRICT homes,
                      GLOBAL u32 *RESTRICT tests, u32 begin, u32 runs, u32 count, u32 large, u32 some) {
  u32 i = GROUP * 256 + ITEM;
  if (i >= some) return;
  cell c;
  u32 r = chosen[i], end = r + 1 < runs ? starts[r + 1] : count;
  cell_of_run(entries, objects + begin, starts[r], end, types[i], large, &c);
  u64 big = c.large_homes, all = c.homes + c.phantoms;
  u64 pairs = big * (2 * all - big - 1) / 2 + (c.homes - big) * c.large_phantoms;
  cells[i] = c;
  homes[i] = c.homes;
  tests[i] = pairs < 0xFFFFFFFFu ? (u32)pairs : 0xFFFFFFFFu;
}

/* ---- passes ---------------------------------------------------------------------------------------------------- */

/* Whether the home of one of the two is of an earlier type, and both touch that type. */
FUNCTION u32 handled_before(u32 a, u32 b, u32 type) {
  u32 homes = 1u << (a >> 8) | 1u << (b >> 8);
  return (a & b & homes & ((1u << type) - 1)) != 0;
}

/* The cell of an item: the last of [from, to) whose items do not begin behind it. */
FUNCTION u32 cell_of_item(GLOBAL const u32 *first, u32 from, u32 to, u32 item) {
  while (to - from > 1) {
    u32 middle = from + (to - from) / 2;
    if (first[middle] <= item) from = middle;
    else to = middle;
  }
  return from;
}

/* Counts the pairs that one object has in its home cell, and writes them from `place` on when `write` is not 0. */
FUNCTION u32 sub_walk(GLOBAL const cell *cells, GLOBAL const u32 *first, GLOBAL const u32 *entries,
                      GLOBAL const object *objects, GLOBAL u64 *out, u64 place, u32 write, u32 item, u32 from, u32 to,
                      u32 pack) {
  u32 number = cell_of_item(first, from, to, item), i = item - first[number], found = 0;
  cell c = cells[number];
  u32 large = i < c.large_homes, j = large != 0 ? i + 1 : c.homes;
  u32 end = c.homes + (large != 0 ? c.phantoms : c.large_phantoms);
  object a = objects[entries[c.start + i]];
  for (; j < end; j++) {
    object b = objects[entries[c.start + j]];
    if (handled_before(a.control, b.control, c.type) || a.min[0] > b.max[0] || b.min[0] > a.max[0] ||
        a.min[1] > b.max[1] || b.min[1] > a.max[1] || a.min[2] > b.max[2] || b.min[2] > a.max[2])
      continue;
    if (write != 0) {
      u32 low = a.number < b.number ? a.number : b.number, high = a.number < b.number ? b.number : a.number;
      out[place + found] = ((u64)low << pack) + high;
    }
    found++;
  }
  return found;
}

/* One pass: of the items from `item` on, which are in the cells [from, to), all of one type. Counts go to [at, at +
 * some). */
KERNEL(128) sub_count(GLOBAL const cell *RESTRICT cells, GLOBAL const u32 *RESTRICT first,
                      GLOBAL const u32 *RESTRICT entries, GLOBAL const object *RESTRICT objects,
                      GLOBAL u32 *RESTRICT counts, u32 begin, u32 item, u32 some, u32 at, u32 from, u32 to) {
  u32 i = GROUP * 128 + ITEM;
  if (i >= some) return;
  counts[at + i] = sub_walk(cells, first, entries, objects + begin, 0, 0, 0, item + i, from, to, 0);
}

/* places: the scan of counts. A pair is first << pack | second. */
KERNEL(128) sub_write(GLOBAL const cell *RESTRICT cells, GLOBAL const u32 *RESTRICT first,
                      GLOBAL const u32 *RESTRICT entries, GLOBAL const object *RESTRICT objects,
                      GLOBAL const u32 *RESTRICT places, GLOBAL u64 *RESTRICT out, u32 begin, u32 item, u32 some,
                      u32 at, u32 from, u32 to, u32 pack) {
  u32 i = GROUP * 128 + ITEM;
  if (i >= some || places[at + i] == places[at + i + 1]) return;
  sub_walk(cells, first, entries, objects + begin, out, places[at + i], 1, item + i, from, to, pack);
}
