/* Candidate pairs of triangles, decided: by single precision with a bound what surely lies apart, by doubles with a
 * bound what surely lies apart or surely crosses, by pairs of doubles nearly all of the rest; what is still open is
 * listed for the processor. Every pair is counted in one of them, so that the order in which items run does not show.
 *
 * The bounds: with rx, ry, rz the extents of the box around both triangles a determinant of doubles is off by less than
 * 5.4e-15 rx ry rz, as in src/exact/tritri_filter.h. In single precision, of differences to one corner that are
 * rounded from doubles, with u = 2^-24: rows are off by 3 u of an extent, which makes 54 u, and evaluating makes 28 u:
 * 100 u = 6e-6 holds. Where extents are so small or large that products leave the range of normal numbers, nothing is
 * sure. Crossing is the test of P. Guigue and O. Devillers, "Fast and Robust Triangle-Triangle Overlap Test using
 * Orientation Predicates", 2003. */

#include "decide.h"
#include "exact.h"
#include "hash.h"

typedef struct vec {
  double x, y, z;
} vec;

typedef struct triangle {
  vec p[3];
} triangle;

FUNCTION vec minus(vec a, vec b) {
  a.x -= b.x;
  a.y -= b.y;
  a.z -= b.z;
  return a;
}

FUNCTION vec plus(vec a, vec b) {
  a.x += b.x;
  a.y += b.y;
  a.z += b.z;
  return a;
}

FUNCTION vec cross_of(vec a, vec b) {
  vec n;
  n.x = a.y * b.z - a.z * b.y;
  n.y = a.z * b.x - a.x * b.z;
  n.z = a.x * b.y - a.y * b.x;
  return n;
}

FUNCTION double dot_of(vec a, vec b) {
  return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

FUNCTION u32 equal(vec a, vec b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

FUNCTION vec pick(const triangle *t, u32 corner) {
  return corner == 0 ? t->p[0] : corner == 1 ? t->p[1] : t->p[2];
}

FUNCTION triangle triangle_at(GLOBAL const double *corners, u32 i) {
  triangle t;
  for (u32 k = 0; k < 3; k++) {
    t.p[k].x = corners[9 * (u64)i + 3 * k];
    t.p[k].y = corners[9 * (u64)i + 3 * k + 1];
    t.p[k].z = corners[9 * (u64)i + 3 * k + 2];
  }
  return t;
}

FUNCTION double least3(double x, double y, double z) {
  return least(least(x, y), z);
}

FUNCTION double most3(double x, double y, double z) {
  return most(most(x, y), z);
}

/* Whether the boxes do not meet; `extent` gets those of the box around both. */
FUNCTION u32 find_extent(const triangle *a, const triangle *b, vec *extent) {
  double low_ax = least3(a->p[0].x, a->p[1].x, a->p[2].x), high_ax = most3(a->p[0].x, a->p[1].x, a->p[2].x);
  double low_ay = least3(a->p[0].y, a->p[1].y, a->p[2].y), high_ay = most3(a->p[0].y, a->p[1].y, a->p[2].y);
  double low_az = least3(a->p[0].z, a->p[1].z, a->p[2].z), high_az = most3(a->p[0].z, a->p[1].z, a->p[2].z);
  double low_bx = least3(b->p[0].x, b->p[1].x, b->p[2].x), high_bx = most3(b->p[0].x, b->p[1].x, b->p[2].x);
  double low_by = least3(b->p[0].y, b->p[1].y, b->p[2].y), high_by = most3(b->p[0].y, b->p[1].y, b->p[2].y);
  double low_bz = least3(b->p[0].z, b->p[1].z, b->p[2].z), high_bz = most3(b->p[0].z, b->p[1].z, b->p[2].z);
  extent->x = most(high_ax, high_bx) - least(low_ax, low_bx);
  extent->y = most(high_ay, high_by) - least(low_ay, low_by);
  extent->z = most(high_az, high_bz) - least(low_az, low_bz);
  return low_ax > high_bx || low_bx > high_ax || low_ay > high_by || low_by > high_ay || low_az > high_bz ||
         low_bz > high_az;
}

/* ---- single precision -------------------------------------------------------------------------------------------- */

typedef struct vec32 {
  float x, y, z;
} vec32;

FUNCTION vec32 narrow(vec a) {
  vec32 n;
  n.x = (float)a.x;
  n.y = (float)a.y;
  n.z = (float)a.z;
  return n;
}

FUNCTION vec32 minus32(vec32 a, vec32 b) {
  a.x -= b.x;
  a.y -= b.y;
  a.z -= b.z;
  return a;
}

/* Whether three corners, as differences to one of the plane, lie surely on one side of it. */
FUNCTION u32 is_beside32(vec32 u, vec32 v, vec32 p, vec32 q, vec32 r, float bound) {
  float nx = u.y * v.z - u.z * v.y, ny = u.z * v.x - u.x * v.z, nz = u.x * v.y - u.y * v.x;
  float dp = (nx * p.x + ny * p.y) + nz * p.z, dq = (nx * q.x + ny * q.y) + nz * q.z;
  float dr = (nx * r.x + ny * r.y) + nz * r.z;
  return (dp > bound && dq > bound && dr > bound) || (dp < -bound && dq < -bound && dr < -bound);
}

FUNCTION u32 is_apart32(const triangle *a, const triangle *b, vec extent) {
  if (!(least3(extent.x, extent.y, extent.z) > 1e-9 && most3(extent.x, extent.y, extent.z) < 1e12)) return 0;
  float bound = 6e-6f * (((float)extent.x * (float)extent.y) * (float)extent.z);
  vec32 zero, u = narrow(minus(a->p[1], a->p[0])), v = narrow(minus(a->p[2], a->p[0]));
  vec32 p = narrow(minus(b->p[0], a->p[0])), q = narrow(minus(b->p[1], a->p[0])), r = narrow(minus(b->p[2], a->p[0]));
  zero.x = zero.y = zero.z = 0;
  return is_beside32(u, v, p, q, r, bound) ||
         is_beside32(minus32(q, p), minus32(r, p), minus32(zero, p), minus32(u, p), minus32(v, p), bound);
}

/* ---- doubles ----------------------------------------------------------------------------------------------------- */

#define FILTER_NONE    0
#define FILTER_SEGMENT 1
#define FILTER_OPEN    2

FUNCTION int sign_beyond(double x, double bound) {
  return (x > bound) - (x < -bound);
}

FUNCTION u32 is_usable(vec extent) {
  return least3(extent.x, extent.y, extent.z) > 1e-97 && most3(extent.x, extent.y, extent.z) < 1e100;
}

/* `proper`: only pairs of which no triangle has zero area and that are not coplanar, surely, are put aside. */
FUNCTION u32 filter_pair(const triangle *a, const triangle *b, u32 proper) {
  vec extent;
  u32 apart = find_extent(a, b, &extent);
  if (proper == 0 && (apart != 0 || is_apart32(a, b, extent))) return FILTER_NONE;
  if (!is_usable(extent)) return FILTER_OPEN;
  double bound = 5.4e-15 * ((extent.x * extent.y) * extent.z);
  vec na = cross_of(minus(a->p[1], a->p[0]), minus(a->p[2], a->p[0]));
  vec nb = cross_of(minus(b->p[1], b->p[0]), minus(b->p[2], b->p[0]));
  int sign_a[3], sign_b[3], sure_a = 0, sure_b = 0;
  for (u32 k = 0; k < 3; k++) {
    sign_b[k] = sign_beyond(dot_of(na, minus(b->p[k], a->p[0])), bound);
    sign_a[k] = sign_beyond(dot_of(nb, minus(a->p[k], b->p[0])), bound);
    sure_a += sign_a[k] != 0;
    sure_b += sign_b[k] != 0;
  }
  apart |= one_side(sign_a) | one_side(sign_b);
  if (apart != 0) return proper == 0 || (sure_a > 0 && sure_b > 0) ? FILTER_NONE : FILTER_OPEN;
  if (sure_a + sure_b < 6) return FILTER_OPEN;
  u32 flip_a, flip_b, ia = corner_alone(sign_a, &flip_b), ib = corner_alone(sign_b, &flip_a);
  vec p = pick(a, ia), q = pick(a, (ia + 1 + flip_a) % 3), r = pick(a, (ia + 2 - flip_a) % 3);
  vec u = minus(pick(b, ib), p), v = minus(pick(b, (ib + 1 + flip_b) % 3), p);
  vec w = minus(pick(b, (ib + 2 - flip_b) % 3), p);
  double ik = dot_of(cross_of(minus(q, p), u), v), lj = dot_of(cross_of(minus(r, p), w), u);
  if (ik > bound || lj > bound) return FILTER_NONE;
  return ik < -bound && lj < -bound ? FILTER_SEGMENT : FILTER_OPEN;
}

/* ---- triangles of one model -------------------------------------------------------------------------------------- */

/* How many corners are shared, by their coordinates; the bits of those of a, and of b. */
FUNCTION u32 find_shared(const triangle *a, const triangle *b, u32 *of_a, u32 *of_b) {
  *of_a = *of_b = 0;
  for (u32 i = 0; i < 3; i++) {
    for (u32 j = 0; j < 3; j++) {
      u32 same = equal(a->p[i], b->p[j]);
      *of_a |= same << i;
      *of_b |= same << j;
    }
  }
  return (*of_a & 1) + (*of_a >> 1 & 1) + (*of_a >> 2);
}

FUNCTION double largest(vec a, double so_far) {
  double x = a.x < 0 ? -a.x : a.x, y = a.y < 0 ? -a.y : a.y, z = a.z < 0 ? -a.z : a.z;
  return most(most(x, y), most(z, so_far));
}

FUNCTION u32 both_beyond(double x, double y, double bound) {
  return (x > bound && y > bound) || (x < -bound && y < -bound);
}

/* Whether two proper triangles that share one corner surely meet nowhere else: a direction tells their other corners
 * apart, or the plane of one does. Bounds as in src/narrow/adjacent_kernels.c. */
FUNCTION u32 is_corner_settled(const triangle *a, const triangle *b, u32 of_a, u32 of_b) {
  u32 i = of_a >> 1, j = of_b >> 1; /* of 1, 2, 4 */
  vec v = pick(a, i), ap = minus(pick(a, (i + 1) % 3), v), aq = minus(pick(a, (i + 2) % 3), v);
  vec bp = minus(pick(b, (j + 1) % 3), v), bq = minus(pick(b, (j + 2) % 3), v);
  double r = largest(bq, largest(bp, largest(aq, largest(ap, 0)))), flat = 2e-14 * (r * r);
  if (!(r > 1e-75 && r < 1e75)) return 0;
  vec d = minus(plus(bp, bq), plus(ap, aq));
  if (dot_of(d, ap) < -flat && dot_of(d, aq) < -flat && dot_of(d, bp) > flat && dot_of(d, bq) > flat) return 1;
  double deep = (5.4e-15 * (r * r)) * r;
  vec na = cross_of(ap, aq), nb = cross_of(bp, bq);
  return both_beyond(dot_of(na, bp), dot_of(na, bq), deep) || both_beyond(dot_of(nb, ap), dot_of(nb, aq), deep);
}

/* Whether two proper triangles that share an edge surely have no area in common: they are not in one plane, or lie on
 * opposite sides of the edge. */
FUNCTION u32 is_edge_settled(const triangle *a, const triangle *b, u32 of_a, u32 of_b) {
  u32 i = (7 ^ of_a) >> 1, j = (7 ^ of_b) >> 1;
  vec p = pick(a, (i + 1) % 3), e = minus(pick(a, (i + 2) % 3), p), pa = minus(pick(a, i), p), pb = minus(pick(b, j), p);
  double r = largest(pb, largest(pa, largest(e, 0))), r2 = r * r;
  if (!(r > 1e-70 && r < 1e70)) return 0;
  vec na = cross_of(e, pa);
  double bent = dot_of(na, pb), deep = (5.4e-15 * r2) * r;
  return bent > deep || bent < -deep || dot_of(na, cross_of(e, pb)) < -(4e-14 * (r2 * r2));
}

FUNCTION u32 filter_neighbours(const triangle *a, const triangle *b, u32 shared, u32 of_a, u32 of_b) {
  u32 settled = shared == 1 ? is_corner_settled(a, b, of_a, of_b) : is_edge_settled(a, b, of_a, of_b);
  return settled != 0 ? FILTER_NONE : FILTER_OPEN;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* What a group found is added up in shared memory, for `base`, the pose of its first pair, and added to the answer at
 * the end; what belongs to another pose goes to its answer at once. */
FUNCTION void add_word(SHARED_ARG u32 *sums, GLOBAL u32 *answers, u32 pose, u32 base, u32 word, u32 value) {
  if (pose == base)
    ADD_SHARED(&sums[word], value);
  else
    ADD_GLOBAL(&answers[ANSWER_WORDS * pose + word], value);
}

/* A sum of 64 bits from sums of 32: whoever sees the lower one overflow carries. */
FUNCTION void add_hash(SHARED_ARG u32 *sums, GLOBAL u32 *answers, u32 pose, u32 base, u64 hash) {
  u32 low = (u32)hash, high = (u32)(hash >> 32);
  u32 before = pose == base ? ADD_SHARED(&sums[ANSWER_HASH_LOW], low)
                            : ADD_GLOBAL(&answers[ANSWER_WORDS * pose + ANSWER_HASH_LOW], low);
  add_word(sums, answers, pose, base, ANSWER_HASH_HIGH, high + (before + low < before));
}

/* All items of the group; the sums are ready for use, or have been added. */
FUNCTION void clear_sums(SHARED_ARG u32 *sums) {
  if (ITEM < ANSWER_WORDS) sums[ITEM] = 0;
  BARRIER;
}

FUNCTION void flush_sums(SHARED_ARG u32 *sums, GLOBAL u32 *answers, u32 base) {
  BARRIER;
  GLOBAL u32 *answer = answers + ANSWER_WORDS * base;
  if (ITEM < ANSWER_HASH_LOW && sums[ITEM] != 0) ADD_GLOBAL(&answer[ITEM], sums[ITEM]);
  if (ITEM != ANSWER_HASH_LOW || (sums[ANSWER_HASH_LOW] == 0 && sums[ANSWER_HASH_HIGH] == 0)) return;
  u32 low = sums[ANSWER_HASH_LOW], before = ADD_GLOBAL(&answer[ANSWER_HASH_LOW], low);
  ADD_GLOBAL(&answer[ANSWER_HASH_HIGH], sums[ANSWER_HASH_HIGH] + (before + low < before));
}

/* Triangle x of a and y of b, which has `per_pose` triangles at each pose, meet, as `word` says. Returns whether the
 * pair is one for the list. */
FUNCTION u32 count_hit(SHARED_ARG u32 *sums, GLOBAL u32 *answers, u32 base, u32 x, u32 y, u32 per_pose, u32 word) {
  u32 pose = y / per_pose, kind = word & 3, thin = (word & (WORD_THIN_A | WORD_THIN_B)) != 0;
  u32 slot = thin != 0             ? ANSWER_THIN
             : kind == KIND_POINT   ? ANSWER_POINTS
             : kind == KIND_SEGMENT ? ANSWER_SEGMENTS
                                    : ANSWER_AREAS;
  add_word(sums, answers, pose, base, slot, 1);
  if ((word & WORD_COPLANAR) != 0) add_word(sums, answers, pose, base, ANSWER_COPLANAR, 1);
  add_hash(sums, answers, pose, base, hash_of_pair(x, y - pose * per_pose));
  return 1;
}

/* As count_hit for two triangles of one model that share so many corners. */
FUNCTION u32 count_self_hit(SHARED_ARG u32 *sums, GLOBAL u32 *answers, u32 x, u32 y, u32 shared, u32 word) {
  u32 kind = word & 3, thin = (word & (WORD_THIN_A | WORD_THIN_B)) != 0;
  if (thin != 0) {
    add_word(sums, answers, 0, 0, ANSWER_THIN, 1);
    return 0;
  }
  if ((shared == 1 && kind == KIND_POINT) || (shared == 2 && kind != KIND_AREA)) return 0;
  u32 slot = shared == 0 ? ANSWER_DISJOINT : shared == 1 ? ANSWER_VERTEX : shared == 2 ? ANSWER_EDGE : ANSWER_DUPLICATE;
  add_word(sums, answers, 0, 0, slot, 1);
  add_hash(sums, answers, 0, 0, hash_of_pair(x, y));
  return 1;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* The candidates there are: none when they had no room, for then all is done again. */
FUNCTION u32 candidates_in(GLOBAL const u32 *counters, u32 room) {
  u32 count = counters[COUNT_CANDIDATES];
  return count <= room ? count : 0;
}

/* Any number of groups. a, b: nine numbers a triangle. pairs: two a pair, with room for `room`. thin: a bit a triangle,
 * of zero area; read with ASK_SELF only. counters: the answer. open: numbers of pairs. hits: x << shift | y. words: with
 * ASK_WORDS, in place of answers and hits. */
KERNEL(128)
decide_filter(GLOBAL const double *RESTRICT a, GLOBAL const double *RESTRICT b, GLOBAL const u32 *RESTRICT pairs,
              GLOBAL const u32 *RESTRICT thin, GLOBAL u32 *RESTRICT counters,
              GLOBAL u32 *RESTRICT open, GLOBAL u64 *RESTRICT hits, GLOBAL u32 *RESTRICT words, u32 room, u32 per_pose,
              u32 shift, u32 ask) {
  SHARED u32 sums[ANSWER_WORDS];
  GLOBAL u32 *answers = counters + COUNTERS;
  u32 count = candidates_in(counters, room), first = GROUP * 128;
  u32 base = (ask & (ASK_SELF | ASK_WORDS)) != 0 || first >= count ? 0 : pairs[2 * (u64)first + 1] / per_pose;
  clear_sums(sums);
  for (u64 at = (u64)first + ITEM; at < count; at += (u64)GROUPS * 128) {
    u32 i = (u32)at, x = (ask & ASK_WORDS) != 0 ? i : pairs[2 * at], y = (ask & ASK_WORDS) != 0 ? i : pairs[2 * at + 1];
    triangle s = triangle_at(a, x), t = triangle_at(b, y);
    u32 found, shared = 0, of_a = 0, of_b = 0, is_hit = 0;
    if ((ask & ASK_SELF) != 0 && ((thin[x >> 5] >> (x & 31) | thin[y >> 5] >> (y & 31)) & 1) != 0) {
      found = FILTER_OPEN;
    } else {
      if ((ask & ASK_SELF) != 0) shared = find_shared(&s, &t, &of_a, &of_b);
      found = shared == 0   ? filter_pair(&s, &t, ask & ASK_WORDS)
              : shared == 3 ? FILTER_SEGMENT
                            : filter_neighbours(&s, &t, shared, of_a, of_b);
    }
    if (found == FILTER_OPEN) open[ADD_GLOBAL(&counters[COUNT_OPEN], 1)] = i;
    if ((ask & ASK_WORDS) != 0) {
      words[at] = found == FILTER_SEGMENT ? KIND_SEGMENT : KIND_NONE;
    } else if (found == FILTER_SEGMENT) {
      is_hit = (ask & ASK_SELF) != 0 ? count_self_hit(sums, answers, x, y, shared, KIND_SEGMENT)
                                     : count_hit(sums, answers, base, x, y, per_pose, KIND_SEGMENT);
    }
    if (is_hit != 0 && (ask & ASK_LIST) != 0) hits[ADD_GLOBAL(&counters[COUNT_HITS], 1)] = (u64)x << shift | y;
  }
  flush_sums(sums, answers, base);
}

/* What decide_filter left open. left: the pairs that stay open. */
KERNEL(64)
decide_exact(GLOBAL const double *RESTRICT a, GLOBAL const double *RESTRICT b, GLOBAL const u32 *RESTRICT pairs,
             GLOBAL u32 *RESTRICT counters, GLOBAL const u32 *RESTRICT open,
             GLOBAL u32 *RESTRICT left, GLOBAL u64 *RESTRICT hits, GLOBAL u32 *RESTRICT words, u32 per_pose, u32 shift,
             u32 ask) {
  SHARED u32 sums[ANSWER_WORDS];
  GLOBAL u32 *answers = counters + COUNTERS;
  u32 count = counters[COUNT_OPEN], first = GROUP * 64, base = 0;
  if ((ask & (ASK_SELF | ASK_WORDS)) == 0 && first < count) base = pairs[2 * (u64)open[first] + 1] / per_pose;
  clear_sums(sums);
  for (u64 at = (u64)first + ITEM; at < count; at += (u64)GROUPS * 64) {
    u32 i = open[at], x = (ask & ASK_WORDS) != 0 ? i : pairs[2 * (u64)i];
    u32 y = (ask & ASK_WORDS) != 0 ? i : pairs[2 * (u64)i + 1], is_hit = 0;
    six s;
    for (u32 k = 0; k < 9; k++) {
      s.p[k] = a[9 * (u64)x + k];
      s.p[9 + k] = b[9 * (u64)y + k];
    }
    u32 word = decide_exactly(&s);
    if ((ask & ASK_WORDS) != 0) words[i] = word;
    if (word == WORD_OPEN) {
      u32 place = ADD_GLOBAL(&counters[COUNT_LEFT], 1);
      left[2 * (u64)place] = x;
      left[2 * (u64)place + 1] = y;
    } else if ((word & 3) != KIND_NONE && (ask & ASK_SELF) != 0) {
      triangle t = triangle_at(a, x), w = triangle_at(b, y);
      u32 of_a, of_b;
      is_hit = count_self_hit(sums, answers, x, y, find_shared(&t, &w, &of_a, &of_b), word);
    } else if ((word & 3) != KIND_NONE && (ask & ASK_WORDS) == 0) {
      is_hit = count_hit(sums, answers, base, x, y, per_pose, word);
    }
    if (is_hit != 0 && (ask & ASK_LIST) != 0) hits[ADD_GLOBAL(&counters[COUNT_HITS], 1)] = (u64)x << shift | y;
  }
  flush_sums(sums, answers, base);
}
