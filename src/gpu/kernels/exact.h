/* Signs of determinants of doubles, in pairs of doubles, and what two triangles have in common by such signs alone.
 *
 * With u = 2^-53: a sum of two pairs is off by at most 3.1 u^2 of itself, a product by 7 u^2 (M. Joldes, J.-M. Muller,
 * V. Popescu, "Tight and rigorous error bounds for basic building blocks of double-word arithmetic", 2017).
 * Differences of coordinates are exact as pairs. With rx, ry, rz the extents of the six points a minor is off by less
 * than 21 u^2 of a product of two extents, and a determinant by less than 134 u^2 rx ry rz < 2^-98 rx ry rz. Where all
 * coordinates on an axis are multiples of a power of two, a determinant is a multiple of the product of the three: one
 * that is nearer to zero than half of that, the error included, is zero. So single precision, lattices, and whatever
 * else has few digits is decided here, zeros included. What is not is left open: the answer says so.
 *
 * The decision is that of src/exact/tritri.c. */

typedef struct dd {
  double high, low;
} dd;

FUNCTION dd quick_sum(double a, double b) {
  dd s;
  s.high = a + b;
  s.low = b - (s.high - a);
  return s;
}

FUNCTION dd two_sum(double a, double b) {
  dd s;
  s.high = a + b;
  double t = s.high - a;
  s.low = (a - (s.high - t)) + (b - t);
  return s;
}

FUNCTION dd two_product(double a, double b) {
  dd p;
  p.high = a * b;
  p.low = FMA(a, b, -p.high);
  return p;
}

FUNCTION dd dd_add(dd x, dd y) {
  dd s = two_sum(x.high, y.high), t = two_sum(x.low, y.low);
  s = quick_sum(s.high, s.low + t.high);
  return quick_sum(s.high, s.low + t.low);
}

FUNCTION dd dd_negated(dd x) {
  x.high = -x.high;
  x.low = -x.low;
  return x;
}

FUNCTION dd dd_multiply(dd x, dd y) {
  dd p = two_product(x.high, y.high);
  return quick_sum(p.high, p.low + FMA(x.high, y.low, x.low * y.high));
}

FUNCTION dd dd_minor(dd a, dd b, dd c, dd d) {
  return dd_add(dd_multiply(a, d), dd_negated(dd_multiply(b, c)));
}

/* ---- six points -------------------------------------------------------------------------------------------------- */

/* Corners 0 to 2 of the first triangle, 3 to 5 of the second. */
typedef struct six {
  double p[18];
  double extent[3];
  double bound;  /* of a determinant in doubles; 0: one extent is zero, and so is the determinant */
  u32 zero3;     /* a determinant that is not surely apart from zero is zero */
  u32 zero2[3];  /* the same in the plane that is left without an axis */
  u32 exact2[3]; /* there, products of differences do not leave the range of numbers */
  u32 open;      /* a sign was asked for that is not known */
} six;

FUNCTION double least(double x, double y) {
  return x < y ? x : y;
}

FUNCTION double most(double x, double y) {
  return x > y ? x : y;
}

/* The exponent of the lowest bit that is set; x is not zero. */
FUNCTION int lowest_bit(double x) {
  u64 bits = AS_U64(x), digits = bits & (((u64)1 << 52) - 1);
  int exponent = (int)((bits >> 52) & 0x7FF);
  if (exponent == 0)
    exponent = 1;
  else
    digits |= (u64)1 << 52;
  return exponent - 1075 + 63 - (int)LEADING_ZEROS(digits & (0 - digits));
}

/* e with x <= 2^e, and with what rounding took from x. */
FUNCTION int exponent_above(double x) {
  return (int)((AS_U64(x) >> 52) & 0x7FF) - 1022;
}

/* Bounds and units of the six points; `open` is set when products could leave the range of normal numbers. */
FUNCTION void measure(six *s) {
  int unit[3], size[3], sum = -98 + 1;
  u32 flat = 0;
  s->open = 0;
  for (u32 k = 0; k < 3; k++) {
    double low = s->p[k], high = s->p[k];
    unit[k] = 1024;
    for (u32 i = 0; i < 6; i++) {
      double x = s->p[3 * i + k];
      low = least(low, x);
      high = most(high, x);
      int bit = x == 0 ? 1024 : lowest_bit(x);
      unit[k] = bit < unit[k] ? bit : unit[k];
    }
    s->extent[k] = high - low;
    size[k] = exponent_above(s->extent[k]);
    sum += size[k] - unit[k];
    flat |= (u32)(s->extent[k] == 0) << k;
    if (s->extent[k] != 0 && !(s->extent[k] > 1e-97 && s->extent[k] < 1e100)) s->open = 1;
  }
  s->bound = 5.4e-15 * ((s->extent[0] * s->extent[1]) * s->extent[2]);
  s->zero3 = flat != 0 || sum < 0;
  for (u32 k = 0; k < 3; k++) {
    u32 i = (k + 1) % 3, j = (k + 2) % 3;
    u32 flat2 = (flat >> i & 1) | (flat >> j & 1);
    s->exact2[k] = unit[i] + unit[j] >= -1074;
    s->zero2[k] = flat2 != 0 || -100 + 1 + (size[i] - unit[i]) + (size[j] - unit[j]) < 0;
  }
}

FUNCTION u32 is_same(const six *s, u32 a, u32 b) {
  return s->p[3 * a] == s->p[3 * b] && s->p[3 * a + 1] == s->p[3 * b + 1] && s->p[3 * a + 2] == s->p[3 * b + 2];
}

FUNCTION int sign_of(double x) {
  return (x > 0) - (x < 0);
}

/* 0: equal, or all four level on one axis. */
FUNCTION u32 may_differ(const six *s, u32 a, u32 b, u32 c, u32 d) {
  for (u32 k = 0; k < 3; k++) {
    double x = s->p[3 * a + k];
    if (x == s->p[3 * b + k] && x == s->p[3 * c + k] && x == s->p[3 * d + k]) return 0;
  }
  return !(is_same(s, a, b) || is_same(s, a, c) || is_same(s, a, d) || is_same(s, b, c) || is_same(s, b, d) ||
           is_same(s, c, d));
}

FUNCTION dd difference(const six *s, u32 from, u32 to, u32 k) {
  return two_sum(s->p[3 * to + k], -s->p[3 * from + k]);
}

/* The sign of the volume of a, b, c, d: positive when d sees a, b, c turn to the left. */
CALLED int side3(six *s, u32 a, u32 b, u32 c, u32 d) {
  dd u[3], v[3], w[3];
  for (u32 k = 0; k < 3; k++) {
    u[k] = difference(s, a, b, k);
    v[k] = difference(s, a, c, k);
    w[k] = difference(s, a, d, k);
  }
  double x = u[1].high * v[2].high - u[2].high * v[1].high, y = u[2].high * v[0].high - u[0].high * v[2].high;
  double z = u[0].high * v[1].high - u[1].high * v[0].high;
  double near = (x * w[0].high + y * w[1].high) + z * w[2].high;
  if (near > s->bound || near < -s->bound) return sign_of(near);
  dd sum = dd_multiply(dd_minor(u[1], u[2], v[1], v[2]), w[0]);
  sum = dd_add(sum, dd_multiply(dd_minor(u[2], u[0], v[2], v[0]), w[1]));
  sum = dd_add(sum, dd_multiply(dd_minor(u[0], u[1], v[0], v[1]), w[2]));
  double bound = 0x1p-98 * ((s->extent[0] * s->extent[1]) * s->extent[2]);
  if (sum.high > bound || sum.high < -bound) return sign_of(sum.high);
  if (s->zero3 == 0 && may_differ(s, a, b, c, d) != 0) s->open = 1;
  return 0;
}

/* The sign of the area of a, b, c seen along an axis. A product of differences that are exact is exact. */
CALLED int side2(six *s, u32 axis, u32 a, u32 b, u32 c) {
  u32 i = (axis + 1) % 3, j = (axis + 2) % 3;
  dd ui = difference(s, a, b, i), uj = difference(s, a, b, j);
  dd vi = difference(s, a, c, i), vj = difference(s, a, c, j);
  if (s->exact2[axis] != 0 && ui.low == 0 && uj.low == 0 && vi.low == 0 && vj.low == 0) {
    dd p = two_product(ui.high, vj.high), q = two_product(uj.high, vi.high);
    return p.high != q.high ? sign_of(p.high - q.high) : (p.low > q.low) - (p.low < q.low);
  }
  double area = dd_minor(ui, uj, vi, vj).high, bound = 0x1p-100 * (s->extent[i] * s->extent[j]);
  if (area > bound || area < -bound) return sign_of(area);
  if (s->zero2[axis] == 0 && !(is_same(s, a, b) || is_same(s, a, c) || is_same(s, b, c))) s->open = 1;
  return 0;
}

/* ---- the decision ------------------------------------------------------------------------------------------------ */

/* Lexicographic; along a line it is the order on the line. */
FUNCTION int order_of(const six *s, u32 a, u32 b) {
  for (u32 k = 0; k < 3; k++) {
    double x = s->p[3 * a + k], y = s->p[3 * b + k];
    if (x != y) return x > y ? 1 : -1;
  }
  return 0;
}

/* The first axis along which a, b, c have an area, and the sign of that; 3: none. */
FUNCTION u32 area_axis(six *s, u32 a, u32 b, u32 c, int *turn) {
  u32 axis = 0;
  for (; axis < 3; axis++) {
    *turn = side2(s, axis, a, b, c);
    if (*turn != 0) break;
  }
  return axis;
}

FUNCTION int overlap_on_line(const six *s, u32 a0, u32 a1, u32 b0, u32 b1) {
  u32 low = order_of(s, a0, b0) >= 0 ? a0 : b0, high = order_of(s, a1, b1) <= 0 ? a1 : b1;
  int sign = order_of(s, low, high);
  return sign < 0 ? KIND_SEGMENT : sign == 0 ? KIND_POINT : KIND_NONE;
}

FUNCTION int overlap_unordered(const six *s, u32 a0, u32 a1, u32 b0, u32 b1) {
  u32 swap_a = order_of(s, a0, a1) > 0, swap_b = order_of(s, b0, b1) > 0;
  return overlap_on_line(s, swap_a ? a1 : a0, swap_a ? a0 : a1, swap_b ? b1 : b0, swap_b ? b0 : b1);
}

/* Which corner lies alone, by the signs of all three; *flip: the other triangle is to be turned over. */
FUNCTION u32 corner_alone(const int *sign, u32 *flip) {
  int positive = 0, negative = 0;
  for (u32 k = 0; k < 3; k++) {
    positive += sign[k] > 0;
    negative += sign[k] < 0;
  }
  int wanted = positive == 1 ? 1 : negative == 1 ? -1 : 0;
  *flip = wanted < 0 || (wanted == 0 && positive == 2);
  return sign[0] == wanted ? 0 : sign[1] == wanted ? 1 : 2;
}

FUNCTION int decide_crossing(six *s, const int *sign_a, const int *sign_b) {
  u32 flip_a, flip_b, a = corner_alone(sign_a, &flip_b), b = corner_alone(sign_b, &flip_a);
  u32 aq = (a + 1 + flip_a) % 3, ar = (a + 2 - flip_a) % 3;
  u32 bq = 3 + (b + 1 + flip_b) % 3, br = 3 + (b + 2 - flip_b) % 3;
  int ik = side3(s, a, aq, 3 + b, bq);
  if (ik > 0) return KIND_NONE;
  int lj = side3(s, a, ar, br, 3 + b);
  if (lj > 0) return KIND_NONE;
  return ik == 0 || lj == 0 || sign_a[a] == 0 || sign_b[b] == 0 ? KIND_POINT : KIND_SEGMENT;
}

/* Edge lines of triangle f against the corners of g: KIND_NONE when one separates, else the kind, lowered where one
 * separates weakly. */
CALLED int edge_lines(six *s, u32 axis, int turn, u32 f, u32 g, int kind) {
  for (u32 e = 0; e < 3; e++) {
    u32 p = f + e, q = f + (e + 1) % 3, outside = 0, on = 0, corner[3] = {0, 0, 0};
    for (u32 k = 0; k < 3; k++) {
      int side = turn * side2(s, axis, p, q, g + k);
      outside += side < 0;
      if (side == 0) corner[on++] = g + k;
    }
    if (outside == 3) return KIND_NONE;
    if (outside + on < 3) continue;
    int here = on == 1 ? KIND_POINT : overlap_unordered(s, p, q, corner[0], corner[1]);
    kind = here < kind ? here : kind;
  }
  return kind;
}

FUNCTION int decide_coplanar(six *s) {
  int turn_a;
  u32 axis = area_axis(s, 0, 1, 2, &turn_a);
  if (s->open != 0) return KIND_NONE; /* else the first triangle has an area */
  int turn_b = side2(s, axis, 3, 4, 5), kind = edge_lines(s, axis, turn_a, 0, 3, KIND_AREA);
  return kind == KIND_NONE ? KIND_NONE : edge_lines(s, axis, turn_b, 3, 0, kind);
}

FUNCTION u32 one_side(const int *sign) {
  return sign[0] != 0 && sign[0] == sign[1] && sign[0] == sign[2];
}

FUNCTION int decide_proper(six *s, u32 *coplanar) {
  int sign_a[3], sign_b[3];
  for (u32 k = 0; k < 3; k++) sign_b[k] = side3(s, 0, 1, 2, 3 + k);
  if (sign_b[0] == 0 && sign_b[1] == 0 && sign_b[2] == 0) {
    *coplanar = 1;
    return decide_coplanar(s);
  }
  if (one_side(sign_b)) return KIND_NONE;
  for (u32 k = 0; k < 3; k++) sign_a[k] = side3(s, 3, 4, 5, k);
  return one_side(sign_a) ? KIND_NONE : decide_crossing(s, sign_a, sign_b);
}

/* The segment u, v in the plane of f. */
CALLED int segment_in_plane(six *s, u32 f, u32 u, u32 v) {
  int turn, kind = KIND_SEGMENT, left = 0, right = 0;
  u32 axis = area_axis(s, f, f + 1, f + 2, &turn);
  if (axis > 2) return KIND_NONE; /* open */
  for (u32 e = 0; e < 3; e++) {
    u32 p = f + e, q = f + (e + 1) % 3;
    int side_u = turn * side2(s, axis, p, q, u), side_v = turn * side2(s, axis, p, q, v);
    if (side_u < 0 && side_v < 0) return KIND_NONE;
    if (side_u > 0 || side_v > 0) continue;
    int here = side_u == 0 && side_v == 0 ? overlap_unordered(s, p, q, u, v) : KIND_POINT;
    kind = here < kind ? here : kind;
  }
  for (u32 k = 0; k < 3; k++) {
    int side = side2(s, axis, u, v, f + k);
    left += side > 0;
    right += side < 0;
  }
  if (left == 3 || right == 3) return KIND_NONE;
  /* The segment's line only passes through a corner; an edge on it was seen above. */
  return (left == 0 || right == 0) && left + right == 2 && kind == KIND_SEGMENT ? KIND_POINT : kind;
}

CALLED int point_in_plane(six *s, u32 f, u32 u) {
  int turn;
  u32 axis = area_axis(s, f, f + 1, f + 2, &turn);
  if (axis > 2) return KIND_NONE; /* open */
  for (u32 e = 0; e < 3; e++) {
    if (turn * side2(s, axis, f + e, f + (e + 1) % 3, u) < 0) return KIND_NONE;
  }
  return KIND_POINT;
}

/* A proper triangle f and a thin one from u to v. */
CALLED int decide_proper_thin(six *s, u32 f, u32 u, u32 v, u32 *coplanar) {
  u32 is_point = order_of(s, u, v) == 0;
  int su = side3(s, f, f + 1, f + 2, u), sv = is_point ? su : side3(s, f, f + 1, f + 2, v);
  *coplanar = su == 0 && sv == 0;
  if (su * sv > 0) return KIND_NONE;
  if (*coplanar != 0 && is_point == 0) return segment_in_plane(s, f, u, v);
  if (su == 0) return point_in_plane(s, f, u);
  if (sv == 0) return point_in_plane(s, f, v);
  u32 left = 0, right = 0;
  for (u32 e = 0; e < 3; e++) {
    int side = side3(s, u, v, f + e, f + (e + 1) % 3);
    left |= side > 0;
    right |= side < 0;
  }
  return left != 0 && right != 0 ? KIND_NONE : KIND_POINT;
}

CALLED int decide_thin_thin(six *s, u32 a0, u32 a1, u32 b0, u32 b1, u32 *coplanar) {
  *coplanar = side3(s, a0, a1, b0, b1) == 0;
  if (*coplanar == 0) return KIND_NONE;
  int turn;
  u32 axis = area_axis(s, a0, a1, b0, &turn);
  if (axis > 2) axis = area_axis(s, a0, a1, b1, &turn);
  if (axis > 2 && order_of(s, a0, a1) == 0) axis = area_axis(s, b0, b1, a0, &turn);
  if (axis > 2) return overlap_on_line(s, a0, a1, b0, b1);
  int s0 = side2(s, axis, a0, a1, b0), s1 = side2(s, axis, a0, a1, b1);
  int s2 = side2(s, axis, b0, b1, a0), s3 = side2(s, axis, b0, b1, a1);
  return s0 * s1 <= 0 && s2 * s3 <= 0 ? KIND_POINT : KIND_NONE;
}

/* The ends of the thin triangle `first`. */
FUNCTION void find_ends(const six *s, u32 first, u32 *low, u32 *high) {
  *low = *high = first;
  for (u32 k = first + 1; k < first + 3; k++) {
    if (order_of(s, k, *low) < 0) *low = k;
    if (order_of(s, k, *high) > 0) *high = k;
  }
}

/* The word of a pair of triangles, as in decide.h, or WORD_OPEN. */
FUNCTION u32 decide_exactly(six *s) {
  int turn, kind;
  u32 coplanar = 0, a0, a1, b0, b1;
  measure(s);
  if (s->open != 0) return WORD_OPEN;
  u32 thin_a = area_axis(s, 0, 1, 2, &turn) > 2, thin_b = area_axis(s, 3, 4, 5, &turn) > 2;
  if (s->open != 0) return WORD_OPEN;
  find_ends(s, 0, &a0, &a1);
  find_ends(s, 3, &b0, &b1);
  if (thin_a == 0 && thin_b == 0)
    kind = decide_proper(s, &coplanar);
  else if (thin_a == 0)
    kind = decide_proper_thin(s, 0, b0, b1, &coplanar);
  else if (thin_b == 0)
    kind = decide_proper_thin(s, 3, a0, a1, &coplanar);
  else
    kind = decide_thin_thin(s, a0, a1, b0, b1, &coplanar);
  if (s->open != 0) return WORD_OPEN;
  return (u32)kind | (coplanar != 0 ? WORD_COPLANAR : 0) | (thin_a != 0 ? WORD_THIN_A : 0) |
         (thin_b != 0 ? WORD_THIN_B : 0);
}
