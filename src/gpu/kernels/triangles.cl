/* All pairs of triangles of two models, in tiles. A pair is put aside when the boxes of the two do not meet, or when the
 * corners of one lie surely on one side of the plane of the other: the determinant is farther from zero than it can be
 * wrong. What is left goes to the processor, which decides it exactly.
 *
 * The bound: with rx, ry, rz the extents of the box around both triangles a determinant is off by less than
 * 5.4e-15 rx ry rz, as in src/exact/tritri_filter.inc; where the extents are so small or large that products leave the
 * range of normal numbers, nothing is sure. Corners are posed as tier T1 says: a product or a sum is rounded each. */

#define SIDE 64 /* triangles of a tile, items of a group */

/* Nine numbers a triangle. pose: twelve, row by row. bad: the first triangle with a corner that is not finite, else
 * 0xFFFFFFFF. */
KERNEL(256) pose_corners(GLOBAL const double *RESTRICT given, GLOBAL const double *RESTRICT pose,
                         GLOBAL double *RESTRICT posed, GLOBAL u32 *RESTRICT bad, u32 count) {
  u32 i = GROUP * 256 + ITEM, finite = 1;
  if (i >= count) return;
  for (u32 k = 0; k < 3; k++) {
    u64 at = 9 * (u64)i + 3 * k;
    double x = given[at], y = given[at + 1], z = given[at + 2];
    for (u32 r = 0; r < 3; r++) {
      double c = ((pose[4 * r] * x + pose[4 * r + 1] * y) + pose[4 * r + 2] * z) + pose[4 * r + 3];
      posed[at + r] = c;
      if (!(c - c == 0)) finite = 0;
    }
  }
  if (finite == 0) MIN_GLOBAL(bad, i);
}

typedef struct corners3 {
  double p[9];
} corners3;

FUNCTION double least3(double x, double y, double z) {
  double least = x < y ? x : y;
  return z < least ? z : least;
}

FUNCTION double most3(double x, double y, double z) {
  double most = x > y ? x : y;
  return z > most ? z : most;
}

/* The side of the corners of b at the plane of a: 1 when all lie surely on one side. */
FUNCTION u32 is_beside(corners3 a, corners3 b, double bound) {
  double ux = a.p[3] - a.p[0], uy = a.p[4] - a.p[1], uz = a.p[5] - a.p[2];
  double vx = a.p[6] - a.p[0], vy = a.p[7] - a.p[1], vz = a.p[8] - a.p[2];
  double nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  u32 above = 0, below = 0;
  for (u32 k = 0; k < 3; k++) {
    double d = (nx * (b.p[3 * k] - a.p[0]) + ny * (b.p[3 * k + 1] - a.p[1])) + nz * (b.p[3 * k + 2] - a.p[2]);
    above += d > bound;
    below += d < -bound;
  }
  return above == 3 || below == 3;
}

/* Whether two triangles may meet. */
FUNCTION u32 may_meet(corners3 a, corners3 b) {
  double extent[3];
  for (u32 k = 0; k < 3; k++) {
    double low_a = least3(a.p[k], a.p[k + 3], a.p[k + 6]), high_a = most3(a.p[k], a.p[k + 3], a.p[k + 6]);
    double low_b = least3(b.p[k], b.p[k + 3], b.p[k + 6]), high_b = most3(b.p[k], b.p[k + 3], b.p[k + 6]);
    if (low_a > high_b || low_b > high_a) return 0;
    extent[k] = (high_a > high_b ? high_a : high_b) - (low_a < low_b ? low_a : low_b);
  }
  if (least3(extent[0], extent[1], extent[2]) <= 1e-97 || most3(extent[0], extent[1], extent[2]) >= 1e100) return 1;
  double bound = 5.4e-15 * ((extent[0] * extent[1]) * extent[2]);
  return !is_beside(a, b, bound) && !is_beside(b, a, bound);
}

/* A group compares SIDE triangles of a with a chunk of b; item i counts, or writes, what its triangle may meet there.
 * counts and places are by triangle of a, then chunk, so that what is written is sorted. */
FUNCTION u32 compare_chunk(SHARED_ARG double *tile, GLOBAL const double *a, GLOBAL const double *b,
                           GLOBAL u32 *out, u64 place, u32 write, u32 i, u32 count_a, u32 begin, u32 end) {
  corners3 own, other;
  u32 found = 0;
  for (u32 k = 0; k < 9; k++) own.p[k] = i < count_a ? a[9 * (u64)i + k] : 0;
  for (u32 from = begin; from < end; from += SIDE) {
    u32 some = end - from < SIDE ? end - from : SIDE;
    BARRIER;
    for (u32 k = ITEM; k < 9 * some; k += SIDE) tile[k] = b[9 * (u64)from + k];
    BARRIER;
    for (u32 j = 0; j < some && i < count_a; j++) {
      for (u32 k = 0; k < 9; k++) other.p[k] = tile[9 * j + k];
      if (may_meet(own, other) == 0) continue;
      if (write != 0) {
        out[2 * (place + found)] = i;
        out[2 * (place + found) + 1] = from + j;
      }
      found++;
    }
  }
  return found;
}

/* Groups: tiles of a times chunks of b; `first` is the first tile of a. */
KERNEL(64) compare_count(GLOBAL const double *RESTRICT a, GLOBAL const double *RESTRICT b, GLOBAL u32 *RESTRICT counts,
                         u32 count_a, u32 count_b, u32 chunk, u32 chunks, u32 first) {
  SHARED double tile[9 * SIDE];
  u32 i = (first + GROUP / chunks) * SIDE + ITEM, c = GROUP % chunks, begin = c * chunk;
  u32 end = count_b - begin < chunk ? count_b : begin + chunk;
  u32 found = compare_chunk(tile, a, b, 0, 0, 0, i, count_a, begin, end);
  counts[((GROUP / chunks) * SIDE + ITEM) * chunks + c] = found;
}

KERNEL(64) compare_write(GLOBAL const double *RESTRICT a, GLOBAL const double *RESTRICT b,
                         GLOBAL const u32 *RESTRICT places, GLOBAL u32 *RESTRICT out, u32 count_a, u32 count_b,
                         u32 chunk, u32 chunks, u32 first) {
  SHARED double tile[9 * SIDE];
  u32 i = (first + GROUP / chunks) * SIDE + ITEM, c = GROUP % chunks, begin = c * chunk;
  u32 end = count_b - begin < chunk ? count_b : begin + chunk;
  u32 place = places[((GROUP / chunks) * SIDE + ITEM) * chunks + c];
  compare_chunk(tile, a, b, out, place, 1, i, count_a, begin, end);
}
