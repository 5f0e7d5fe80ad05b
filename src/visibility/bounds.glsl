/* visibility/bounds.glsl: which pixels a triangle meets, and which depths it has there, with bounds that are proved.
 *
 * One text, GLSL 4.50 core and C, which gives the same bits in both: each operation is rounded once, there is no division
 * and no root, and nothing that a compiler may contract (`precise`). In C it is read twice: for numbers (bounds.h), and for
 * vectors of them (bounds_lanes.h), for which conditions are written with SELECT, AND and OR.
 *
 * The triangle is moved so that corner a is the origin. A pixel is widened by what the corners' coordinates may be wrong
 * by, to the square Q. The triangle meets Q unless their boxes or an edge's normal separate them; no normal is
 * turned, so that slivers, edge-on triangles, segments and points are no cases of their own. The highest depth over Q is
 * that of the plane at Q's highest corner if this corner is in the triangle, else it lies on an edge, cut to Q. Where the
 * plane is ill conditioned, edges cut to Q's column and to its row bound it as well. The least depth likewise.
 *
 * docs/visibility-bounds.md has the analysis of errors: every operation may be wrong by one unit in the last place and by
 * 2^-126, so that neither the direction of rounding nor subnormal numbers are counted on. Factors below are from there.
 */
#ifndef VISIBILITY_C
#define STRUCT(name) struct name
#define FUNCTION
#define NUMBER float       /* what is computed */
#define REAL precise float /* a variable of that type, of an expression that is rounded */
#define TRUTH bool
#define UINT uint
#define N(x) (x) /* a constant where a NUMBER is wanted */
#define SELECT(condition, yes, no) ((condition) ? (yes) : (no))
#define AND &&
#define OR ||
#define BITS(x) floatBitsToInt(x)
#define FROM_BITS(x) intBitsToFloat(x)
#define TO_REAL(x) float(x)
#define TO_UINT(x) uint(x)
#define ABS(x) abs(x)
#define FLOOR(x) floor(x)
#endif

#define VISIBILITY_ULP 1.1920928955078125e-7f   /* 2^-23 */
#define VISIBILITY_LEAST 8.673617379884035e-19f /* 2^-60: no margin is smaller */
#define VISIBILITY_TINY 7.52316384526264e-37f   /* 2^-120 */
#define VISIBILITY_HUGE 4.253529586511731e37f   /* 2^125: no bound */

STRUCT(visibility_interval) {
  NUMBER lo, hi;
};

/* An edge: side(x, y) = a x + (b y + c) of the lower left corner of a pixel, relative to corner a. */
STRUCT(visibility_edge) {
  NUMBER a, b, c;
  NUMBER low, high;           /* of pixels that the edge's normal does not separate from the triangle */
  NUMBER up_low, up_high;     /* of pixels whose highest corner may be in the triangle */
  NUMBER down_low, down_high; /* of pixels whose lowest corner may be */
  NUMBER per_x, per_y;        /* 1 / b and 1 / -a, the edge being (b, -a); 0: too short */
};

/* NUMBERs only. */
STRUCT(visibility_setup) {
  NUMBER left, right, bottom, top; /* the box, with margins */
  NUMBER ax, ay, az, bz, cz;
  visibility_edge ab, ac, bc;
  NUMBER cut_x, cut_y;      /* how much wider than the pixel edges are cut */
  NUMBER slope_x, slope_y;  /* of the plane, depth a pixel */
  NUMBER above, below;      /* from the depth at a pixel's lower left corner to the bounds of the plane over it */
  NUMBER lowest, highest;   /* of the triangle, with margins */
  NUMBER edge_slack, slack; /* of depths on edges: where they stand for the inside; by themselves */
  NUMBER steady;            /* 1: the plane and the edges say it all; 0 */
};

FUNCTION NUMBER visibility_min(NUMBER a, NUMBER b) {
  return SELECT(a < b, a, b);
}

FUNCTION NUMBER visibility_max(NUMBER a, NUMBER b) {
  return SELECT(a > b, a, b);
}

/* Below 2^40, and a number. */
FUNCTION TRUTH visibility_tame(NUMBER value) {
  return (BITS(value) & 0x7FFFFFFF) < 0x53800000;
}

/* 1 / d within 5 units in the last place, for 2^-60 <= |d| <= 2^100: a guess within 13 %, improved three times. */
FUNCTION NUMBER visibility_reciprocal(NUMBER d) {
  NUMBER size = ABS(d);
  REAL r = FROM_BITS(0x7EF311C7 - BITS(size));
  REAL rest = 2.0f - size * r;
  r = r * rest;
  rest = 2.0f - size * r;
  r = r * rest;
  rest = 2.0f - size * r;
  r = r * rest;
  return SELECT(d < 0.0f, -r, r);
}

/* 0 for what is too short to be cut. */
FUNCTION NUMBER visibility_per(NUMBER d) {
  return SELECT(ABS(d) < VISIBILITY_LEAST, N(0.0f), visibility_reciprocal(d));
}

/* The edge whose side is `third` at the corner that is not on it. Q reaches from -wide to 1 + wide; error_x and error_y
 * bound the errors of sides, as distances. The plane, if there is one, rises to the right and upwards where that is said;
 * without one any corner may be inside. */
FUNCTION visibility_edge visibility_make_edge(NUMBER a, NUMBER b, NUMBER c, NUMBER third, NUMBER wide_x, NUMBER wide_y,
                                              NUMBER error_x, NUMBER error_y, NUMBER least, TRUTH plane,
                                              TRUTH right_rises, TRUTH top_rises) {
  REAL error = (ABS(a) * error_x + ABS(b) * error_y) + least;
  REAL low = visibility_min(third, N(0.0f)) - error;
  REAL high = visibility_max(third, N(0.0f)) + error;
  REAL left = -(a * wide_x);
  REAL right = a * (1.0f + wide_x);
  REAL bottom = -(b * wide_y);
  REAL top = b * (1.0f + wide_y);
  REAL most = visibility_max(left, right) + visibility_max(bottom, top);
  REAL fewest = visibility_min(left, right) + visibility_min(bottom, top);
  REAL up = SELECT(right_rises, right, left) + SELECT(top_rises, top, bottom);
  REAL down = SELECT(right_rises, left, right) + SELECT(top_rises, bottom, top);
  REAL low_most = low - most;
  REAL high_fewest = high - fewest;
  REAL up_low = low - up;
  REAL up_high = high - up;
  REAL down_low = low - down;
  REAL down_high = high - down;
  visibility_edge e;
  e.a = a;
  e.b = b;
  e.c = c;
  e.low = low_most;
  e.high = high_fewest;
  e.up_low = SELECT(plane, up_low, N(-VISIBILITY_HUGE));
  e.up_high = SELECT(plane, up_high, N(VISIBILITY_HUGE));
  e.down_low = SELECT(plane, down_low, N(-VISIBILITY_HUGE));
  e.down_high = SELECT(plane, down_high, N(VISIBILITY_HUGE));
  e.per_x = visibility_per(b);
  e.per_y = visibility_per(-a);
  return e;
}

/* The triangle with corners a, b, c in the picture that maps u, v and w by (p - low) scale to pixels and depth. Every
 * coordinate is within `error` of the true one. `margins` is 1; tests show with 0 that margins are needed. */
FUNCTION visibility_setup visibility_set_up(NUMBER au, NUMBER av, NUMBER aw, NUMBER bu, NUMBER bv, NUMBER bw, NUMBER cu,
                                            NUMBER cv, NUMBER cw, NUMBER low_u, NUMBER low_v, NUMBER low_w,
                                            NUMBER scale_u, NUMBER scale_v, NUMBER scale_w, NUMBER error,
                                            NUMBER margins) {
  REAL ax = (au - low_u) * scale_u;
  REAL ay = (av - low_v) * scale_v;
  REAL az = (aw - low_w) * scale_w;
  REAL bx = (bu - low_u) * scale_u;
  REAL by = (bv - low_v) * scale_v;
  REAL bz = (bw - low_w) * scale_w;
  REAL cx = (cu - low_u) * scale_u;
  REAL cy = (cv - low_v) * scale_v;
  REAL cz = (cw - low_w) * scale_w;
  REAL given = error + VISIBILITY_TINY;
  REAL given_x = given * scale_u;
  REAL given_y = given * scale_v;
  REAL given_z = given * scale_w;
  TRUTH tame = visibility_tame(ax) AND visibility_tame(ay) AND visibility_tame(az) AND visibility_tame(bx) AND
               visibility_tame(by) AND visibility_tame(bz) AND visibility_tame(cx) AND visibility_tame(cy) AND
               visibility_tame(cz) AND visibility_tame(given_x) AND visibility_tame(given_y) AND
               visibility_tame(given_z);
  /* If not: a point with margins that reach everything. */
  ax = SELECT(tame, ax, N(0.0f));
  ay = SELECT(tame, ay, N(0.0f));
  az = SELECT(tame, az, N(0.0f));
  bx = SELECT(tame, bx, N(0.0f));
  by = SELECT(tame, by, N(0.0f));
  bz = SELECT(tame, bz, N(0.0f));
  cx = SELECT(tame, cx, N(0.0f));
  cy = SELECT(tame, cy, N(0.0f));
  cz = SELECT(tame, cz, N(0.0f));
  given_x = SELECT(tame, given_x, N(1.099511627776e12f)); /* 2^40 */
  given_y = SELECT(tame, given_y, N(1.099511627776e12f));
  given_z = SELECT(tame, given_z, N(1.329227995784915872903807e36f)); /* 2^120 */

  /* The box, and how large coordinates become in it and relative to corner a. */
  NUMBER left = visibility_min(visibility_min(ax, bx), cx);
  NUMBER right = visibility_max(visibility_max(ax, bx), cx);
  NUMBER bottom = visibility_min(visibility_min(ay, by), cy);
  NUMBER top = visibility_max(visibility_max(ay, by), cy);
  NUMBER lowest = visibility_min(visibility_min(az, bz), cz);
  NUMBER highest = visibility_max(visibility_max(az, bz), cz);
  NUMBER size_x = visibility_max(ABS(left), ABS(right));
  NUMBER size_y = visibility_max(ABS(bottom), ABS(top));
  NUMBER size_z = visibility_max(ABS(lowest), ABS(highest));
  REAL width = right - left;
  REAL height = top - bottom;
  REAL span_x = width + (2.0f + 2.0f * (given_x + 4.0f * VISIBILITY_ULP * size_x));
  REAL span_y = height + (2.0f + 2.0f * (given_y + 4.0f * VISIBILITY_ULP * size_y));

  /* Margins: of the corners, which make the pixel Q; of sides; of cuts; of depths. */
  REAL wide_x = margins * (given_x * 1.00001f +
                           (3.0f * VISIBILITY_ULP * size_x + (4.0f * VISIBILITY_ULP * span_x + VISIBILITY_LEAST)));
  REAL wide_y = margins * (given_y * 1.00001f +
                           (3.0f * VISIBILITY_ULP * size_y + (4.0f * VISIBILITY_ULP * span_y + VISIBILITY_LEAST)));
  REAL error_x = margins * (24.0f * VISIBILITY_ULP * span_x);
  REAL error_y = margins * (24.0f * VISIBILITY_ULP * span_y);
  REAL cut_x = wide_x + (error_x + margins * (2.0f * VISIBILITY_ULP * size_x));
  REAL cut_y = wide_y + (error_y + margins * (2.0f * VISIBILITY_ULP * size_y));
  REAL slack = margins * (given_z * 1.00001f + (10.0f * VISIBILITY_ULP * size_z + VISIBILITY_LEAST));
  REAL least = margins * (VISIBILITY_LEAST * 9.5367431640625e-7f); /* 2^-80 */

  /* The plane: b and c relative to a, its slopes, and what they may be wrong by. */
  REAL px = bx - ax;
  REAL py = by - ay;
  REAL pz = bz - az;
  REAL rx = cx - ax;
  REAL ry = cy - ay;
  REAL rz = cz - az;
  REAL first = px * ry;
  REAL second = py * rx;
  REAL area = first - second;
  REAL area_size = ABS(first) + ABS(second);
  REAL area_error = area_size * 1.9073486328125e-6f;                                  /* 2^-19 */
  TRUTH plane = (ABS(area) > area_error) AND (ABS(area) > 8.881784197001252e-16f); /* 2^-50 */
  NUMBER per_area = visibility_reciprocal(SELECT(plane, area, N(1.0f)));
  REAL x_first = pz * ry;
  REAL x_second = rz * py;
  REAL y_first = rz * px;
  REAL y_second = pz * rx;
  REAL slope_x = (x_first - x_second) * per_area;
  REAL slope_y = (y_first - y_second) * per_area;
  REAL x_size = ABS(x_first) + (ABS(x_second) + (area_size * ABS(slope_x) + VISIBILITY_LEAST));
  REAL y_size = ABS(y_first) + (ABS(y_second) + (area_size * ABS(slope_y) + VISIBILITY_LEAST));
  REAL slope_x_error = 4.0f * VISIBILITY_ULP * (x_size * ABS(per_area)) + 8.0f * VISIBILITY_ULP * ABS(slope_x);
  REAL slope_y_error = 4.0f * VISIBILITY_ULP * (y_size * ABS(per_area)) + 8.0f * VISIBILITY_ULP * ABS(slope_y);
  REAL reach = ABS(slope_x) * span_x + ABS(slope_y) * span_y;
  REAL plane_error = margins * ((slope_x_error * width + slope_y_error * height) + 10.0f * VISIBILITY_ULP * reach);
  plane = plane AND visibility_tame(slope_x) AND visibility_tame(slope_y) AND visibility_tame(plane_error);
  slope_x = SELECT(plane, slope_x, N(0.0f));
  slope_y = SELECT(plane, slope_y, N(0.0f));
  slope_x_error = SELECT(plane, slope_x_error, N(0.0f));
  slope_y_error = SELECT(plane, slope_y_error, N(0.0f));
  TRUTH right_rises = slope_x > 0.0f;
  TRUTH top_rises = slope_y > 0.0f;
  REAL over_x = 1.0f + wide_x;
  REAL over_y = 1.0f + wide_y;
  REAL steps_up = slope_x * SELECT(right_rises, over_x, -wide_x) + slope_y * SELECT(top_rises, over_y, -wide_y);
  REAL steps_down = slope_x * SELECT(right_rises, -wide_x, over_x) + slope_y * SELECT(top_rises, -wide_y, over_y);
  REAL above = steps_up + (plane_error + slack);
  REAL below = (plane_error + slack) - steps_down;
  REAL across_x = 1.0f + 2.0f * wide_x;
  REAL across_y = 1.0f + 2.0f * wide_y;
  NUMBER walk_x = visibility_min(width, across_x);
  NUMBER walk_y = visibility_min(height, across_y);
  REAL edge_slack = slack + margins * (slope_x_error * walk_x + slope_y_error * walk_y);
  REAL steady_error =
      4.0f * slack +
      0.03125f * (ABS(slope_x) * (1.0f + 64.0f * wide_x) + ABS(slope_y) * (1.0f + 64.0f * wide_y));
  TRUTH steady = plane AND (plane_error <= steady_error);
  REAL box_left = left - cut_x;
  REAL box_right = right + cut_x;
  REAL box_bottom = bottom - cut_y;
  REAL box_top = top + cut_y;
  REAL z_lowest = lowest - slack;
  REAL z_highest = highest + slack;
  REAL bc_a = py - ry;
  REAL bc_b = rx - px;
  REAL bc_c = -(bc_a * px + bc_b * py);

  visibility_setup s;
  s.left = box_left;
  s.right = box_right;
  s.bottom = box_bottom;
  s.top = box_top;
  s.ax = ax;
  s.ay = ay;
  s.az = az;
  s.bz = bz;
  s.cz = cz;
  s.ab = visibility_make_edge(-py, px, N(0.0f), area, wide_x, wide_y, error_x, error_y, least, plane, right_rises,
                              top_rises);
  s.ac = visibility_make_edge(-ry, rx, N(0.0f), -area, wide_x, wide_y, error_x, error_y, least, plane, right_rises,
                              top_rises);
  s.bc = visibility_make_edge(bc_a, bc_b, bc_c, bc_c, wide_x, wide_y, error_x, error_y, least, plane, right_rises,
                              top_rises);
  s.cut_x = cut_x;
  s.cut_y = cut_y;
  s.slope_x = slope_x;
  s.slope_y = slope_y;
  s.above = SELECT(plane, above, N(VISIBILITY_HUGE));
  s.below = SELECT(plane, below, N(VISIBILITY_HUGE));
  s.lowest = z_lowest;
  s.highest = z_highest;
  s.edge_slack = edge_slack;
  s.slack = slack;
  s.steady = SELECT(steady, N(1.0f), N(0.0f));
  return s;
}

FUNCTION NUMBER visibility_side(visibility_edge e, NUMBER x, NUMBER y) {
  REAL row = e.b * y + e.c;
  REAL side = e.a * x + row;
  return side;
}

FUNCTION TRUTH visibility_edge_meets(visibility_edge e, NUMBER side) {
  return (side >= e.low) AND (side <= e.high);
}

FUNCTION TRUTH visibility_up(visibility_edge e, NUMBER side) {
  return (side >= e.up_low) AND (side <= e.up_high);
}

FUNCTION TRUTH visibility_down(visibility_edge e, NUMBER side) {
  return (side >= e.down_low) AND (side <= e.down_high);
}

/* Whether the triangle meets the closed square [column, column + 1] x [line, line + 1]; never no if it does. */
FUNCTION TRUTH visibility_meets_at(visibility_setup s, NUMBER column, NUMBER line) {
  REAL x = column - s.ax;
  REAL y = line - s.ay;
  return (column + 1.0f >= s.left) AND (column <= s.right) AND (line + 1.0f >= s.bottom) AND (line <= s.top) AND
         visibility_edge_meets(s.ab, visibility_side(s.ab, x, y)) AND
         visibility_edge_meets(s.ac, visibility_side(s.ac, x, y)) AND
         visibility_edge_meets(s.bc, visibility_side(s.bc, x, y));
}

/* The part of an edge, as shares 0 to 1 of it, whose coordinate from + share * extent is in [low, high]; none: lo > hi. */
FUNCTION visibility_interval visibility_cut(NUMBER from, NUMBER extent, NUMBER per, NUMBER low, NUMBER high) {
  REAL to = from + extent;
  REAL first = (low - from) * per;
  REAL last = (high - from) * per;
  TRUTH uncut = per == 0.0f;
  TRUTH beside = (visibility_min(from, to) > high) OR (visibility_max(from, to) < low);
  visibility_interval t;
  t.lo = SELECT(uncut, SELECT(beside, N(1.0f), N(0.0f)), visibility_max(visibility_min(first, last), N(0.0f)));
  t.hi = SELECT(uncut, SELECT(beside, N(0.0f), N(1.0f)), visibility_min(visibility_max(first, last), N(1.0f)));
  return t;
}

/* `sum`, and the depths of the part t of an edge from `from` to `to`. */
FUNCTION visibility_interval visibility_join(visibility_interval sum, visibility_interval t, NUMBER from, NUMBER to) {
  REAL rise = to - from;
  REAL first = from + t.lo * rise;
  REAL last = from + t.hi * rise;
  TRUTH some = t.lo <= t.hi;
  visibility_interval r;
  r.lo = SELECT(some, visibility_min(sum.lo, visibility_min(first, last)), sum.lo);
  r.hi = SELECT(some, visibility_max(sum.hi, visibility_max(first, last)), sum.hi);
  return r;
}

/* Depths of the edges within a column, a row, and both. */
STRUCT(visibility_depths) {
  visibility_interval column, row, both;
};

/* `sum`, and those of an edge from (x, y, from) to (x + b, y - a, to). */
FUNCTION visibility_depths visibility_add_edge(visibility_depths sum, visibility_edge e, NUMBER x, NUMBER y, NUMBER from,
                                               NUMBER to, NUMBER left, NUMBER right, NUMBER bottom, NUMBER top,
                                               bool steady) {
  visibility_interval column = visibility_cut(x, e.b, e.per_x, left, right);
  visibility_interval row = visibility_cut(y, -e.a, e.per_y, bottom, top);
  visibility_interval both;
  both.lo = visibility_max(column.lo, row.lo);
  both.hi = visibility_min(column.hi, row.hi);
  sum.both = visibility_join(sum.both, both, from, to);
  if (!steady) {
    sum.column = visibility_join(sum.column, column, from, to);
    sum.row = visibility_join(sum.row, row, from, to);
  }
  return sum;
}

FUNCTION visibility_depths visibility_edges(visibility_setup s, NUMBER x, NUMBER y, bool steady) {
  REAL left = x - s.cut_x;
  REAL right = x + (1.0f + s.cut_x);
  REAL bottom = y - s.cut_y;
  REAL top = y + (1.0f + s.cut_y);
  visibility_depths sum;
  sum.both.lo = N(VISIBILITY_HUGE);
  sum.both.hi = N(-VISIBILITY_HUGE);
  sum.column = sum.both;
  sum.row = sum.both;
  sum = visibility_add_edge(sum, s.ab, N(0.0f), N(0.0f), s.az, s.bz, left, right, bottom, top, steady);
  sum = visibility_add_edge(sum, s.ac, N(0.0f), N(0.0f), s.az, s.cz, left, right, bottom, top, steady);
  return visibility_add_edge(sum, s.bc, s.ab.b, -s.ab.a, s.bz, s.cz, left, right, bottom, top, steady);
}

/* The interval, or all depths of the triangle if bounds contradict each other: there is nothing of it here. */
FUNCTION visibility_interval visibility_sound(visibility_setup s, NUMBER lo, NUMBER hi) {
  visibility_interval r;
  r.lo = SELECT(lo > hi, s.lowest, lo);
  r.hi = SELECT(lo > hi, s.highest, hi);
  return r;
}

/* The bounds of the plane over a pixel whose corner is (x, y) relative to corner a. */
FUNCTION visibility_interval visibility_plane(visibility_setup s, NUMBER x, NUMBER y) {
  REAL row = s.slope_y * y + s.az;
  REAL z = s.slope_x * x + row;
  REAL highest = z + s.above;
  REAL lowest = z - s.below;
  visibility_interval r;
  r.lo = visibility_max(s.lowest, lowest);
  r.hi = visibility_min(s.highest, highest);
  return r;
}

/* Whether all of the triangle is in the pixel at (column, line). */
FUNCTION TRUTH visibility_is_whole(visibility_setup s, NUMBER column, NUMBER line) {
  return (s.left >= column) AND (s.right <= column + 1.0f) AND (s.bottom >= line) AND (s.top <= line + 1.0f);
}

/* visibility_depth of the pixel at (column, line), without branches; `steady` is as in the set-up. */
FUNCTION visibility_interval visibility_depth_at(visibility_setup s, NUMBER column, NUMBER line, bool steady) {
  REAL x = column - s.ax;
  REAL y = line - s.ay;
  NUMBER ab = visibility_side(s.ab, x, y);
  NUMBER ac = visibility_side(s.ac, x, y);
  NUMBER bc = visibility_side(s.bc, x, y);
  TRUTH up = visibility_up(s.ab, ab) AND visibility_up(s.ac, ac) AND visibility_up(s.bc, bc);
  TRUTH down = visibility_down(s.ab, ab) AND visibility_down(s.ac, ac) AND visibility_down(s.bc, bc);
  visibility_interval plane = visibility_plane(s, x, y);
  visibility_depths sum = visibility_edges(s, x, y, steady);
  REAL edge_hi = sum.both.hi + s.edge_slack;
  REAL edge_lo = sum.both.lo - s.edge_slack;
  NUMBER hi = visibility_min(s.highest, SELECT(up, plane.hi, edge_hi));
  NUMBER lo = visibility_max(s.lowest, SELECT(down, plane.lo, edge_lo));
  if (!steady) {
    REAL slab_hi = visibility_min(sum.column.hi, sum.row.hi) + s.slack;
    REAL slab_lo = visibility_max(sum.column.lo, sum.row.lo) - s.slack;
    hi = visibility_min(hi, slab_hi);
    lo = visibility_max(lo, slab_lo);
  }
  TRUTH whole = visibility_is_whole(s, column, line);
  return visibility_sound(s, SELECT(whole, s.lowest, lo), SELECT(whole, s.highest, hi));
}

/* The slices of [0, 1], cut into 32, that an interval meets; what is outside is in the outermost ones. */
FUNCTION UINT visibility_slices(NUMBER lo, NUMBER hi) {
  REAL first = lo * 32.0f;
  REAL last = hi * 32.0f;
  UINT below = TO_UINT(visibility_min(visibility_max(first, N(0.0f)), N(31.0f)));
  UINT above = TO_UINT(visibility_min(visibility_max(last, N(0.0f)), N(31.0f)));
  return (0xFFFFFFFFu << below) & (0xFFFFFFFFu >> (31u - above));
}

/* Pixels left <= x < right, bottom <= y < top. */
STRUCT(visibility_rectangle) {
  UINT left, right, bottom, top;
};

/* The pixels of a picture of wide x high that the box meets; none: left >= right or bottom >= top. */
FUNCTION visibility_rectangle visibility_box(visibility_setup s, NUMBER wide, NUMBER high) {
  REAL left = -FLOOR(-s.left) - 1.0f;
  REAL right = FLOOR(s.right) + 1.0f;
  REAL bottom = -FLOOR(-s.bottom) - 1.0f;
  REAL top = FLOOR(s.top) + 1.0f;
  visibility_rectangle r;
  r.left = TO_UINT(visibility_min(visibility_max(left, N(0.0f)), wide));
  r.right = TO_UINT(visibility_min(visibility_max(right, N(0.0f)), wide));
  r.bottom = TO_UINT(visibility_min(visibility_max(bottom, N(0.0f)), high));
  r.top = TO_UINT(visibility_min(visibility_max(top, N(0.0f)), high));
  return r;
}

#ifndef VISIBILITY_LANES

FUNCTION visibility_rectangle visibility_pixels(visibility_setup s, UINT width, UINT height) {
  return visibility_box(s, TO_REAL(width), TO_REAL(height));
}

/* Whether the triangle meets the closed square of a pixel. */
FUNCTION bool visibility_meets(visibility_setup s, UINT pixel_x, UINT pixel_y) {
  return visibility_meets_at(s, TO_REAL(pixel_x), TO_REAL(pixel_y));
}

/* Whether the plane says it all at the pixel at (column, line). */
FUNCTION bool visibility_is_plane(visibility_setup s, float column, float line) {
  REAL x = column - s.ax;
  REAL y = line - s.ay;
  float ab = visibility_side(s.ab, x, y);
  float ac = visibility_side(s.ac, x, y);
  float bc = visibility_side(s.bc, x, y);
  return s.steady > 0.0f && visibility_up(s.ab, ab) && visibility_up(s.ac, ac) && visibility_up(s.bc, bc) &&
         visibility_down(s.ab, ab) && visibility_down(s.ac, ac) && visibility_down(s.bc, bc);
}

/* lo <= every depth of the triangle over the pixel's closed square <= hi; lo <= hi also where it has none. */
FUNCTION visibility_interval visibility_depth(visibility_setup s, UINT pixel_x, UINT pixel_y) {
  float column = TO_REAL(pixel_x);
  float line = TO_REAL(pixel_y);
  if (visibility_is_whole(s, column, line)) return visibility_sound(s, s.lowest, s.highest);
  if (visibility_is_plane(s, column, line)) {
    REAL x = column - s.ax;
    REAL y = line - s.ay;
    visibility_interval plane = visibility_plane(s, x, y);
    return visibility_sound(s, plane.lo, plane.hi);
  }
  return visibility_depth_at(s, column, line, s.steady > 0.0f);
}

#endif
