/* The rival: collision of two low-poly models as a tutorial of OpenCL teaches it (CMSoft, Lab3D), written anew from
 * what it says. Corners and matrix are floats; every pair of triangles has an item, which tests five of the six edges
 * against the other triangle by the inverse of a matrix; where the determinant is 0 the answer is no. The tutorial
 * counts hits by `count[0]++`, which loses some of them; here the sum is atomic. Its range is of two dimensions, which
 * a driver cuts into rectangles: here a group is a square of 16 by 16 pairs. */

#if defined(__OPENCL_VERSION__)
#define ADD_ONE(p) atomic_inc(p)
#else
#define ADD_ONE(p) atomicAdd(p, 1u)
#endif

#define SQUARE 16

/* An item a number, as in the tutorial. `matrix`: nine numbers, column by column. */
KERNEL(256)
turn(GLOBAL const float *RESTRICT in, GLOBAL float *RESTRICT out, GLOBAL const float *RESTRICT matrix, u32 count) {
  u32 i = GROUP * 256 + ITEM, row = i % 3, point = i - row;
  if (i < count) out[i] = matrix[row] * in[point] + matrix[row + 3] * in[point + 1] + matrix[row + 6] * in[point + 2];
}

KERNEL(256)
move(GLOBAL const float *RESTRICT in, GLOBAL float *RESTRICT out, GLOBAL const float *RESTRICT shift, u32 count) {
  u32 i = GROUP * 256 + ITEM;
  if (i < count) out[i] = in[i] + shift[i % 3];
}

typedef struct point {
  float x, y, z;
} point;

typedef struct corners {
  point p[3];
} corners;

FUNCTION point minus(point p, point q) {
  point d;
  d.x = p.x - q.x;
  d.y = p.y - q.y;
  d.z = p.z - q.z;
  return d;
}

FUNCTION point cross_of(point p, point q) {
  point c;
  c.x = FMA(p.y, q.z, -(p.z * q.y));
  c.y = FMA(p.z, q.x, -(p.x * q.z));
  c.z = FMA(p.x, q.y, -(p.y * q.x));
  return c;
}

FUNCTION float dot_of(point p, point q) {
  return FMA(p.x, q.x, FMA(p.y, q.y, p.z * q.z));
}

/* The edge from p to q and the triangle t: solves p + d (q - p) = t0 + a (t1 - t0) + b (t2 - t0). */
FUNCTION u32 edge_meets(point p, point q, corners t) {
  point u = minus(t.p[1], t.p[0]), v = minus(t.p[2], t.p[0]), w = minus(p, q), s = minus(p, t.p[0]);
  point first = cross_of(v, w);
  float determinant = dot_of(u, first);
  if (determinant == 0) return 0;
  float inverse = 1.0f / determinant;
  float a = dot_of(first, s) * inverse, b = dot_of(cross_of(w, u), s) * inverse,
        d = dot_of(cross_of(u, v), s) * inverse;
  return a >= 0 && b >= 0 && a + b <= 1 && d >= 0 && d <= 1;
}

FUNCTION corners corners_at(GLOBAL const float *all, u32 i) {
  corners t;
  for (u32 k = 0; k < 3; k++) {
    t.p[k].x = all[9 * i + 3 * k];
    t.p[k].y = all[9 * i + 3 * k + 1];
    t.p[k].z = all[9 * i + 3 * k + 2];
  }
  return t;
}

/* The triangles of this item; 0: there are none. Squares lie row by row of b. */
FUNCTION u32 pair_of(u32 count_a, u32 count_b, u32 *i, u32 *j) {
  u32 squares = (count_a + SQUARE - 1) / SQUARE;
  *i = GROUP % squares * SQUARE + ITEM % SQUARE;
  *j = GROUP / squares * SQUARE + ITEM / SQUARE;
  return *i < count_a && *j < count_b;
}

/* As the tutorial has it: before each test a look whether somebody found one, after it the sum. A look that is late
 * only costs time. */
KERNEL(256) collide(GLOBAL const float *a, GLOBAL const float *b, GLOBAL u32 *found, u32 count_a, u32 count_b) {
  u32 i, j;
  if (pair_of(count_a, count_b, &i, &j) == 0) return;
  corners s = corners_at(a, i), t = corners_at(b, j);
  if (found[0] == 0 && edge_meets(s.p[0], s.p[1], t) != 0) ADD_ONE(found);
  if (found[0] == 0 && edge_meets(s.p[0], s.p[2], t) != 0) ADD_ONE(found);
  if (found[0] == 0 && edge_meets(s.p[1], s.p[2], t) != 0) ADD_ONE(found);
  if (found[0] == 0 && edge_meets(t.p[0], t.p[1], s) != 0) ADD_ONE(found);
  if (found[0] == 0 && edge_meets(t.p[0], t.p[2], s) != 0) ADD_ONE(found);
}

/* What it says of every pair: a byte each, row by row of b, and how many it holds for meeting. */
KERNEL(256)
judge(GLOBAL const float *RESTRICT a, GLOBAL const float *RESTRICT b, GLOBAL u32 *RESTRICT found,
      GLOBAL unsigned char *RESTRICT verdicts, u32 count_a, u32 count_b) {
  u32 i, j;
  if (pair_of(count_a, count_b, &i, &j) == 0) return;
  corners s = corners_at(a, i), t = corners_at(b, j);
  u32 hit = edge_meets(s.p[0], s.p[1], t) | edge_meets(s.p[0], s.p[2], t) | edge_meets(s.p[1], s.p[2], t) |
            edge_meets(t.p[0], t.p[1], s) | edge_meets(t.p[0], t.p[2], s);
  verdicts[(u64)j * count_a + i] = (unsigned char)hit;
  if (hit != 0) ADD_ONE(found);
}
