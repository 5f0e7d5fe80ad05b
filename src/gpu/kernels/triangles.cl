/* Triangles of two models, each with each: boxes of single precision, rounded outward, in tiles; pairs whose boxes meet
 * are the candidates of decide.cl. Nothing is built, so models may change their shape at every step. An item holds four
 * boxes of a and compares them with tiles of b from shared memory: 6 comparisons a pair and 24 bytes of shared memory
 * for four. Corners are posed as tier T1 says: a product or a sum is rounded each. */

#include "decide.h"

#define OWN  4  /* boxes of an item */
#define TILE 32 /* boxes of b that are compared before what met is written */
#define ITEMS 128

/* Down to a float: a number near zero is not left to how a device rounds what is subnormal; those beyond the range are
 * all the last one, which keeps their order. */
FUNCTION float float_below(double x) {
  if (x < -3.4028234663852886e38) return -3.4028234663852886e38f;
  if (x < 0x1p-125 && x > -0x1p-125) return -0x1p-125f;
  float f = (float)x;
  if ((double)f <= x) return f;
  u32 bits = AS_U32(f);
  return AS_F32(f > 0 ? bits - 1 : bits + 1);
}

FUNCTION float float_above(double x) {
  return -float_below(-x);
}

/* given: nine numbers a triangle. poses: twelve each, row by row. posed, boxes (low, high): of all triangles at the
 * first pose, then at the second. answer: bad ones are counted. */
KERNEL(256)
pose_triangles(GLOBAL const double *RESTRICT given, GLOBAL const double *RESTRICT poses, GLOBAL double *RESTRICT posed,
               GLOBAL float *RESTRICT boxes, GLOBAL u32 *RESTRICT answer, u32 count, u32 all) {
  u32 i = GROUP * 256 + ITEM, finite = 1;
  if (i >= all) return;
  GLOBAL const double *m = poses + 12 * (i / count), *p = given + 9 * (u64)(i % count);
  for (u32 r = 0; r < 3; r++) {
    double low = 0, high = 0;
    for (u32 k = 0; k < 3; k++) {
      double x = ((m[4 * r] * p[3 * k] + m[4 * r + 1] * p[3 * k + 1]) + m[4 * r + 2] * p[3 * k + 2]) + m[4 * r + 3];
      posed[9 * (u64)i + 3 * k + r] = x;
      low = k == 0 || x < low ? x : low;
      high = k == 0 || x > high ? x : high;
      if (!(x - x == 0)) finite = 0;
    }
    boxes[6 * (u64)i + r] = float_below(low);
    boxes[6 * (u64)i + 3 + r] = float_above(high);
  }
  if (finite == 0) ADD_GLOBAL(&answer[COUNT_BAD], 1);
}

/* Lists the set bits of met[r]: triangle first + r * ITEMS of a with triangles from .. of b. */
FUNCTION void append(GLOBAL u32 *answer, GLOBAL u32 *pairs, u32 room, u32 *met, u32 first, u32 from) {
  u32 total = 0;
  for (u32 r = 0; r < OWN; r++) total += BITS_SET(met[r]);
  if (total == 0) return;
  u32 place = ADD_GLOBAL(&answer[COUNT_CANDIDATES], total);
  for (u32 r = 0; r < OWN; r++) {
    for (; met[r] != 0 && place < room; met[r] &= met[r] - 1) {
      pairs[2 * (u64)place] = first + r * ITEMS;
      pairs[2 * (u64)place + 1] = from + 63 - LEADING_ZEROS(met[r] & (0 - met[r]));
      place++;
    }
  }
}

/* Compares boxes [begin_a, end_a) with [begin_b, end_b). Groups: tiles of a times `chunks` of b. Candidates that have no
 * room are counted only; boxes that are not there are not numbers, and meet nothing. */
KERNEL(128)
compare_boxes(GLOBAL const float *RESTRICT a, GLOBAL const float *RESTRICT b, GLOBAL u32 *RESTRICT answer,
              GLOBAL u32 *RESTRICT pairs, u32 room, u32 begin_a, u32 end_a, u32 begin_b, u32 end_b, u32 chunk,
              u32 chunks) {
  SHARED float tile[6 * TILE];
  float own[OWN][6];
  u32 first = begin_a + GROUP / chunks * (ITEMS * OWN) + ITEM, begin = begin_b + GROUP % chunks * chunk;
  u32 end = end_b - begin < chunk ? end_b : begin + chunk;
  for (u32 r = 0; r < OWN; r++) {
    u32 i = first + r * ITEMS;
    for (u32 k = 0; k < 6; k++) own[r][k] = i < end_a ? a[6 * (u64)i + k] : AS_F32(0x7FC00000u);
  }
  for (u32 from = begin; from < end; from += TILE) {
    u32 some = end - from < TILE ? end - from : TILE, met[OWN];
    BARRIER;
    for (u32 k = ITEM; k < 6 * some; k += ITEMS) tile[k] = b[6 * (u64)from + k];
    BARRIER;
    for (u32 r = 0; r < OWN; r++) met[r] = 0;
    for (u32 j = 0; j < some; j++) {
      float x0 = tile[6 * j], y0 = tile[6 * j + 1], z0 = tile[6 * j + 2];
      float x1 = tile[6 * j + 3], y1 = tile[6 * j + 4], z1 = tile[6 * j + 5];
      for (u32 r = 0; r < OWN; r++) {
        u32 meet = (u32)(own[r][0] <= x1) & (u32)(own[r][1] <= y1) & (u32)(own[r][2] <= z1) & (u32)(x0 <= own[r][3]) &
                   (u32)(y0 <= own[r][4]) & (u32)(z0 <= own[r][5]);
        met[r] |= meet << j;
      }
    }
    append(answer, pairs, room, met, first, from);
  }
}
