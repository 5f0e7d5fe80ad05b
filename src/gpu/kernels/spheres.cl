/* All pairs of spheres that meet, by a grid of their centres in levels, sorted. A sphere is in the cell of its centre, in the
 * finest level whose reach, half the edge of a cell or a little less, is at least its radius; where radii are alike there
 * is one level. Spheres that meet one are, on each axis, at most as far from its centre as its radius and the reach of
 * their level: the cells between these two ends are looked at, in its own level the ones that come later, and in the
 * coarser levels all of them. The cell is a function of a coordinate that keeps order, and ends are rounded outward, so
 * that no rounding can lose a pair. A row of cells is a run of the sorted keys: 5 rows of 3 cells where sizes are alike.
 *
 * Squares are compared in doubles, which have to be exact. What the bound of the filter of src/exact/sphere.h does not
 * decide, and where some operation was rounded, is marked for the processor to decide. KEY is u32 for floats and u64
 * for doubles, of which spheres are given as bits. (S. Green, "Particle simulation using CUDA", 2010, for one level.) */

#include "hash.h"
#include "wide.h"

#define BOUND KEY
#include "bounds.h"

#define LEVELS 16
#define SURE   1 /* kinds of pairs */
#define UNSURE 2

/* As sorted. */
typedef struct sphere {
  KEY center[3], radius;
} sphere;

typedef struct finds {
  u32 sure, unsure;
  u64 hash; /* of the sure ones */
} finds;

/* The cell of a coordinate: monotone in x. `last` is the highest cell. */
FUNCTION u32 cell_of(double x, double low, double inverse, u32 last) {
  double c = (x - low) * inverse;
  if (!(c > 0)) return 0;
  return c < (double)last ? (u32)c : last;
}

FUNCTION u64 row_key(u32 level, u32 z, u32 y, u32 bits_y, u32 bits_z) {
  return ((((u64)level << bits_z) + z) << bits_y) + y;
}

/* Of each group's 4096 spheres: the corners of the box around the centres and the largest radius, ordered, and the first
 * that has a number that is not finite or a negative radius, else 0xFFFFFFFF. */
KERNEL(256) sphere_bounds(GLOBAL const KEY *RESTRICT centers, GLOBAL const KEY *RESTRICT radii,
                        GLOBAL KEY *RESTRICT bounds, GLOBAL u32 *RESTRICT bad, u32 count) {
  SHARED KEY part[256];
  KEY least[7]; /* high ends and the radius as complements */
  const KEY infinite = ordered(KEY_INFINITE), none = ordered(0);
  u32 item = ITEM, first = 0xFFFFFFFFu;
  for (u32 k = 0; k < 7; k++) least[k] = ~(KEY)0;
  for (u32 step = 0; step < 16; step++) {
    u32 i = GROUP * 4096 + step * 256 + item;
    if (i >= count) break;
    KEY radius = ordered(radii[i]);
    if ((radius < none || radius >= infinite) && i < first) first = i;
    least[6] = ~radius < least[6] ? ~radius : least[6];
    for (u32 k = 0; k < 3; k++) {
      KEY at = ordered(centers[3 * (u64)i + k]);
      if ((at >= infinite || at <= ~infinite) && i < first) first = i;
      least[k] = at < least[k] ? at : least[k];
      least[k + 3] = ~at < least[k + 3] ? ~at : least[k + 3];
    }
  }
  group_bounds(part, bounds + 7 * (u64)GROUP, least, 7);
  first = (u32)group_least(part, first);
  if (item == 0) bad[GROUP] = first;
}

/* frame: low corner of all centres, then the inverse edge of a cell of each level, then the reach of each level.
 * on_level: a bit for each level that has spheres. */
KERNEL(256) sphere_keys(GLOBAL const KEY *RESTRICT centers, GLOBAL const KEY *RESTRICT radii,
                      GLOBAL const double *RESTRICT frame, GLOBAL u64 *RESTRICT keys, GLOBAL u32 *RESTRICT numbers,
                      GLOBAL u32 *RESTRICT on_level, u32 count, u32 bits_x, u32 bits_y, u32 bits_z, u32 levels) {
  u32 i = GROUP * 256 + ITEM;
  if (i >= count) return;
  u32 level = 0, at[3], last[3];
  double radius = wide_of(radii[i]);
  last[0] = (1u << bits_x) - 1;
  last[1] = (1u << bits_y) - 1;
  last[2] = (1u << bits_z) - 1;
  while (level + 1 < levels && radius > frame[3 + LEVELS + level]) level++;
  for (u32 k = 0; k < 3; k++) {
    at[k] = cell_of(wide_of(centers[3 * (u64)i + k]), frame[k], frame[3 + level], last[k]);
  }
  keys[i] = (row_key(level, at[2], at[1], bits_y, bits_z) << bits_x) + at[0];
  numbers[i] = i;
  if (levels > 1) OR_GLOBAL(on_level, 1u << level);
}

KERNEL(256) sphere_gather(GLOBAL const KEY *RESTRICT centers, GLOBAL const KEY *RESTRICT radii,
                        GLOBAL const u32 *RESTRICT numbers, GLOBAL sphere *RESTRICT sorted, u32 count) {
  u32 i = GROUP * 256 + ITEM;
  if (i >= count) return;
  for (u32 k = 0; k < 3; k++) sorted[i].center[k] = centers[3 * (u64)numbers[i] + k];
  sorted[i].radius = radii[numbers[i]];
}

/* ---- two spheres ------------------------------------------------------------------------------------------------- */

/* What rounding took from a + b = sum. */
FUNCTION double sum_error(double a, double b, double sum) {
  double part = sum - a;
  return (a - (sum - part)) + (b - part);
}

/* Whether x * x = square was not rounded. Below 2^-450 that could not be seen. */
FUNCTION u32 square_is_exact(double x, double square) {
  return x == 0 || ((x > 0x1p-450 || x < -0x1p-450) && FMA(x, x, -square) == 0);
}

/* SURE: they meet; 0: they do not; UNSURE: that is not certain. */
FUNCTION u32 meeting_of(sphere p, sphere q) {
  const double margin = 1 + 0x1p-49;
  double a[3], b[3], d[3], s[3], r = wide_of(p.radius), t = wide_of(q.radius), reach = r + t;
  for (u32 k = 0; k < 3; k++) {
    a[k] = wide_of(p.center[k]);
    b[k] = wide_of(q.center[k]);
    d[k] = a[k] - b[k];
    s[k] = d[k] * d[k];
  }
  double two = s[0] + s[1], apart2 = two + s[2], reach2 = reach * reach;
  u32 within = apart2 + reach2 > 0x1p-900 && apart2 + reach2 < 0x1p1000;
  if (within != 0 && apart2 * margin < reach2) return SURE;
  if (within != 0 && reach2 * margin < apart2) return 0;
  if (d[0] == 0 && d[1] == 0 && d[2] == 0) return SURE;
  u32 exact = within != 0 && sum_error(r, t, reach) == 0 && square_is_exact(reach, reach2) != 0 &&
              sum_error(s[0], s[1], two) == 0 && sum_error(two, s[2], apart2) == 0;
  for (u32 k = 0; k < 3 && exact != 0; k++) {
    exact = sum_error(a[k], -b[k], d[k]) == 0 && square_is_exact(d[k], s[k]) != 0;
  }
  if (exact == 0) return UNSURE;
  return apart2 <= reach2 ? SURE : 0;
}

/* ---- pairs ----------------------------------------------------------------------------------------------------- */

#include "search.h"
LOWER_BOUND(lower_bound, u64)

/* The sorted spheres. */
typedef struct spheres {
  GLOBAL const double *frame;
  GLOBAL const u64 *keys;
  GLOBAL const u32 *numbers;
  GLOBAL const sphere *sorted;
  u32 count, levels_used, bits[3];
} spheres;

/* Finds the pairs of the sphere at place i, and writes those of the kinds in `write` from `place` on: (first << pack |
 * second) << 1, and 1 when it is not sure. */
FUNCTION finds sphere_walk(spheres all, GLOBAL u64 *out, u64 place, u32 write, u32 i, u32 pack) {
  finds found;
  sphere a = all.sorted[i];
  u64 key = all.keys[i];
  u32 own[3], number = all.numbers[i];
  for (u32 k = 0; k < 3; k++) {
    own[k] = (u32)(key & (((u64)1 << all.bits[k]) - 1));
    key >>= all.bits[k];
  }
  found.sure = found.unsure = 0;
  found.hash = 0;
  for (u32 level = (u32)key; level < LEVELS; level++) {
    if ((all.levels_used >> level & 1) == 0) continue;
    u32 low[3], high[3], later = level == (u32)key; /* in the own level only those that come later */
    double reach = (wide_of(a.radius) + all.frame[3 + LEVELS + level]) * (1 + 0x1p-40);
    for (u32 k = 0; k < 3; k++) {
      double x = wide_of(a.center[k]);
      u32 last = (1u << all.bits[k]) - 1;
      low[k] = cell_of(x - reach, all.frame[k], all.frame[3 + level], last);
      high[k] = cell_of(x + reach, all.frame[k], all.frame[3 + level], last);
    }
    for (u32 z = later != 0 ? own[2] : low[2]; z <= high[2]; z++) {
      for (u32 y = later != 0 && z == own[2] ? own[1] : low[1]; y <= high[1]; y++) {
        u64 row = row_key(level, z, y, all.bits[1], all.bits[2]) << all.bits[0];
        u32 begin = later != 0 ? i + 1 : 0, same = later != 0 && z == own[2] && y == own[1];
        u32 j = same != 0 ? begin : lower_bound(all.keys, begin, all.count, row + low[0]);
        for (; j < all.count && all.keys[j] <= row + high[0]; j++) {
          u32 kind = meeting_of(a, all.sorted[j]);
          if (kind == 0) continue;
          u32 other = all.numbers[j], first = number < other ? number : other;
          u32 second = number < other ? other : number;
          if ((write & kind) != 0) {
            out[place++] = (((u64)first << pack) + second) << 1 | (u64)(kind == UNSURE);
          }
          found.sure += kind == SURE;
          found.unsure += kind == UNSURE;
          if (kind == SURE) found.hash += hash_of_pair(first, second);
        }
      }
    }
  }
  return found;
}

FUNCTION spheres spheres_of(GLOBAL const double *frame, GLOBAL const u64 *keys, GLOBAL const u32 *numbers,
                        GLOBAL const sphere *sorted, u32 count, u32 levels_used, u32 bits_x, u32 bits_y, u32 bits_z) {
  spheres all;
  all.frame = frame;
  all.keys = keys;
  all.numbers = numbers;
  all.sorted = sorted;
  all.count = count;
  all.levels_used = levels_used;
  all.bits[0] = bits_x;
  all.bits[1] = bits_y;
  all.bits[2] = bits_z;
  return all;
}

/* Of the places [begin, begin + some), the pairs of the kinds. doubt: 1 when some pair is not sure. */
KERNEL(128) sphere_count(GLOBAL const double *RESTRICT frame, GLOBAL const u64 *RESTRICT keys,
                       GLOBAL const u32 *RESTRICT numbers, GLOBAL const sphere *RESTRICT sorted,
                       GLOBAL u32 *RESTRICT doubt, u32 begin, u32 some, u32 count, u32 levels_used, u32 bits_x,
                       u32 bits_y, u32 bits_z, GLOBAL u32 *RESTRICT counts, u32 kinds) {
  u32 i = GROUP * 128 + ITEM;
  if (i >= some) return;
  spheres all = spheres_of(frame, keys, numbers, sorted, count, levels_used, bits_x, bits_y, bits_z);
  finds found = sphere_walk(all, 0, 0, 0, begin + i, 0);
  counts[i] = ((kinds & SURE) != 0 ? found.sure : 0) + ((kinds & UNSURE) != 0 ? found.unsure : 0);
  if (found.unsure > 0) OR_GLOBAL(doubt, 1u);
}

/* Adds up the sure pairs of each group, and their hashes. */
KERNEL(128) sphere_sum(GLOBAL const double *RESTRICT frame, GLOBAL const u64 *RESTRICT keys,
                     GLOBAL const u32 *RESTRICT numbers, GLOBAL const sphere *RESTRICT sorted, GLOBAL u32 *RESTRICT doubt,
                     u32 begin, u32 some, u32 count, u32 levels_used, u32 bits_x, u32 bits_y, u32 bits_z,
                     GLOBAL u64 *RESTRICT sums) {
  SHARED u64 pairs[128], hashes[128];
  u32 item = ITEM, i = GROUP * 128 + item;
  pairs[item] = hashes[item] = 0;
  if (i < some) {
    spheres all = spheres_of(frame, keys, numbers, sorted, count, levels_used, bits_x, bits_y, bits_z);
    finds found = sphere_walk(all, 0, 0, 0, begin + i, 0);
    pairs[item] = found.sure;
    hashes[item] = found.hash;
    if (found.unsure > 0) OR_GLOBAL(doubt, 1u);
  }
  BARRIER;
  for (u32 most = 64; most > 0; most /= 2) {
    if (item < most) {
      pairs[item] += pairs[item + most];
      hashes[item] += hashes[item + most];
    }
    BARRIER;
  }
  if (item == 0) {
    sums[2 * GROUP] = pairs[0];
    sums[2 * GROUP + 1] = hashes[0];
  }
}

/* Writes the pairs of the kinds that were counted; places: the scan of counts. */
KERNEL(128) sphere_write(GLOBAL const double *RESTRICT frame, GLOBAL const u64 *RESTRICT keys,
                       GLOBAL const u32 *RESTRICT numbers, GLOBAL const sphere *RESTRICT sorted,
                       GLOBAL const u32 *RESTRICT places, u32 begin, u32 some, u32 count, u32 levels_used, u32 bits_x,
                       u32 bits_y, u32 bits_z, GLOBAL u64 *RESTRICT out, u32 kinds, u32 pack) {
  u32 i = GROUP * 128 + ITEM;
  if (i >= some || places[i] == places[i + 1]) return;
  spheres all = spheres_of(frame, keys, numbers, sorted, count, levels_used, bits_x, bits_y, bits_z);
  sphere_walk(all, out, places[i], kinds, begin + i, pack);
}
