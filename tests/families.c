/* Makers of hard triangle pairs. Most start from small integers, where every degeneracy is likely, and are then scaled,
 * stretched or shifted exactly, or perturbed and rotated with rounding, which turns exact coincidences into the nearest
 * misses there are. */
#include "families.h"

#include <float.h>
#include <math.h>
#include <string.h>

uint64_t random_next(uint64_t *state) {
  uint64_t x = *state += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

uint32_t random_below(uint64_t *state, uint32_t count) {
  return (uint32_t)((random_next(state) >> 32) * count >> 32);
}

double random_unit(uint64_t *state) {
  return (double)(random_next(state) >> 11) * 0x1p-53;
}

double random_signed(uint64_t *state) {
  return 2 * random_unit(state) - 1;
}

static int random_between(uint64_t *state, int low, int high) {
  return low + (int)random_below(state, (uint32_t)(high - low + 1));
}

static bool chance(uint64_t *state, uint32_t one_in) {
  return random_below(state, one_in) == 0;
}

/* ---- integers to doubles ----------------------------------------------------------------------------------------- */

static void flip_zeros(uint64_t *state, double corners[9]) {
  uint64_t bits = random_next(state);
  for (int i = 0; i < 9; i++) {
    if (corners[i] == 0 && (bits >> i & 1)) corners[i] = -corners[i];
  }
}

/* a = (la + shift) * 2^exponent per axis; exact as long as |la + shift| < 2^53 and the exponent is in [-1074, 960]. */
static void place(uint64_t *state, family_pair *pair, const int exponent[3], const int64_t shift[3]) {
  for (int i = 0; i < 9; i++) {
    pair->a[i] = ldexp((double)(pair->la[i] + shift[i % 3]), exponent[i % 3]);
    pair->b[i] = ldexp((double)(pair->lb[i] + shift[i % 3]), exponent[i % 3]);
  }
  pair->lattice = true;
  flip_zeros(state, pair->a);
  flip_zeros(state, pair->b);
}

static void place_plain(uint64_t *state, family_pair *pair) {
  place(state, pair, (int[3]){0, 0, 0}, (int64_t[3]){0, 0, 0});
}

/* One of: as it is, shifted, scaled, stretched. */
static void place_anyhow(uint64_t *state, family_pair *pair) {
  int e[3] = {0, 0, 0};
  int64_t shift[3] = {0, 0, 0};
  uint32_t how = random_below(state, 5);
  for (int k = 0; k < 3 && how >= 2; k++) shift[k] = random_between(state, -1000000000, 1000000000);
  if (how == 1 || how == 3) e[0] = e[1] = e[2] = random_between(state, -60, 60);
  for (int k = 0; k < 3 && how == 4; k++) e[k] = random_between(state, -60, 60);
  place(state, pair, e, shift);
}

static void lattice_corners(uint64_t *state, int side, int32_t corners[9]) {
  for (int i = 0; i < 9; i++) corners[i] = random_between(state, 0, side);
}

static void lattice_both(uint64_t *state, int side, family_pair *pair) {
  lattice_corners(state, side, pair->la);
  lattice_corners(state, side, pair->lb);
}

static void make_lattice3(uint64_t *state, family_pair *pair) {
  lattice_both(state, 3, pair);
  place_plain(state, pair);
}

static void make_lattice7(uint64_t *state, family_pair *pair) {
  lattice_both(state, 7, pair);
  place_plain(state, pair);
}

static void make_lattice20(uint64_t *state, family_pair *pair) {
  lattice_both(state, 1 << 20, pair);
  place_plain(state, pair);
}

static void make_scaled(uint64_t *state, family_pair *pair) {
  int e = random_between(state, -1000, 950);
  int64_t shift[3] = {random_between(state, -100, 100), random_between(state, -5, 5),
                      chance(state, 2) ? 0 : (int64_t)1 << random_below(state, 50)};
  lattice_both(state, chance(state, 2) ? 3 : 1000, pair);
  place(state, pair, (int[3]){e, e, e}, shift);
}

static void make_stretched(uint64_t *state, family_pair *pair) {
  int e[3];
  int reach = chance(state, 2) ? 30 : 900;
  for (int k = 0; k < 3; k++) e[k] = random_between(state, -reach, reach);
  lattice_both(state, chance(state, 2) ? 3 : 50, pair);
  place(state, pair, e, (int64_t[3]){0, 0, 0});
}

static void make_subnormal(uint64_t *state, family_pair *pair) {
  int e = -1074 + (chance(state, 2) ? 0 : random_between(state, 0, 60));
  int64_t shift = chance(state, 2) ? 0 : (int64_t)random_below(state, 1u << 30);
  lattice_both(state, chance(state, 3) ? 1 << 20 : 5, pair);
  place(state, pair, (int[3]){e, e, e}, (int64_t[3]){shift, 0, -shift});
}

static void make_huge(uint64_t *state, family_pair *pair) {
  lattice_both(state, chance(state, 2) ? 7 : 1 << 20, pair);
  int e = 1003 - random_between(state, 0, 10);
  int64_t shift[3];
  for (int k = 0; k < 3; k++) shift[k] = -(int64_t)random_below(state, 1u << 20);
  place(state, pair, (int[3]){e, e, e}, shift);
}

/* ---- pairs with something in common ------------------------------------------------------------------------------ */

static const int sides[] = {1, 2, 3, 7, 20, 300, 4000};

/* A lattice triangle whose coordinates are multiples of four, so that midpoints and quarter points exist. */
static void quarterable(uint64_t *state, family_pair *pair) {
  lattice_corners(state, sides[random_below(state, 7)], pair->la);
  for (int i = 0; i < 9; i++) pair->la[i] *= 4;
  int32_t *b = pair->lb;
  lattice_corners(state, 3 * sides[random_below(state, 6)], b);
}

/* b's corner = combination of a's corners with the weights w[0..2] / 4, which add up to 4. */
static void combine(const int32_t a[9], const int w[3], int32_t corner[3]) {
  for (int k = 0; k < 3; k++) corner[k] = (w[0] * a[k] + w[1] * a[3 + k] + w[2] * a[6 + k]) / 4;
}

static void corner_at_corner(uint64_t *state, const int32_t a[9], int32_t corner[3]) {
  memcpy(corner, a + 3 * random_below(state, 3), 3 * sizeof *corner);
}

static void corner_within(uint64_t *state, const int32_t a[9], int32_t corner[3]) {
  static const int weights[][3] = {{2, 2, 0}, {0, 2, 2}, {2, 0, 2}, {1, 3, 0}, {3, 0, 1}, {1, 1, 2}, {2, 1, 1}};
  combine(a, weights[random_below(state, 7)], corner);
}

static void corner_in_plane(uint64_t *state, const int32_t a[9], int32_t corner[3]) {
  int s = random_between(state, -8, 8), t = random_between(state, -8, 8);
  combine(a, (int[3]){4 - s - t, s, t}, corner);
}

static void rotate_corners(uint64_t *state, int32_t corners[9]) {
  int32_t copy[9];
  uint32_t turn = random_below(state, 3);
  memcpy(copy, corners, sizeof copy);
  for (uint32_t i = 0; i < 3; i++) memcpy(corners + 3 * i, copy + 3 * ((i + turn) % 3), 3 * sizeof *copy);
}

static void finish(uint64_t *state, family_pair *pair) {
  rotate_corners(state, pair->lb);
  if (chance(state, 2)) {
    int32_t swap[9];
    memcpy(swap, pair->la, sizeof swap);
    memcpy(pair->la, pair->lb, sizeof swap);
    memcpy(pair->lb, swap, sizeof swap);
  }
}

static void lattice_shared_vertex(uint64_t *state, family_pair *pair) {
  quarterable(state, pair);
  corner_at_corner(state, pair->la, pair->lb);
  if (chance(state, 3)) corner_in_plane(state, pair->la, pair->lb + 3);
  if (chance(state, 3)) corner_in_plane(state, pair->la, pair->lb + 6);
  finish(state, pair);
}

static void lattice_shared_edge(uint64_t *state, family_pair *pair) {
  quarterable(state, pair);
  memcpy(pair->lb, pair->la + 3, 6 * sizeof *pair->lb);
  if (chance(state, 2)) corner_in_plane(state, pair->la, pair->lb + 6);
  finish(state, pair);
}

static void lattice_touching(uint64_t *state, family_pair *pair) {
  quarterable(state, pair);
  corner_within(state, pair->la, pair->lb);
  if (chance(state, 3)) corner_within(state, pair->la, pair->lb + 3);
  finish(state, pair);
}

static void lattice_coplanar(uint64_t *state, family_pair *pair) {
  quarterable(state, pair);
  for (int i = 0; i < 3; i++) corner_in_plane(state, pair->la, pair->lb + 3 * i);
  if (chance(state, 3)) corner_within(state, pair->la, pair->lb);
  finish(state, pair);
}

static void lattice_identical(uint64_t *state, family_pair *pair) {
  quarterable(state, pair);
  memcpy(pair->lb, pair->la, sizeof pair->lb);
  finish(state, pair);
}

/* Flattens a triangle to a segment or a point. */
static void flatten(uint64_t *state, int32_t c[9]) {
  int how = random_between(state, 0, 3);
  if (how == 0) memcpy(c + 3, c, 3 * sizeof *c);
  if (how == 0 || how == 1) memcpy(c + 6, c, 3 * sizeof *c);
  if (how == 2) {
    for (int k = 0; k < 3; k++) c[6 + k] = 2 * c[3 + k] - c[k];
  }
  if (how == 3) memcpy(c + 6, c + 3, 3 * sizeof *c);
  rotate_corners(state, c);
}

static void lattice_degenerate(uint64_t *state, family_pair *pair) {
  quarterable(state, pair);
  if (chance(state, 2)) flatten(state, pair->la);
  if (chance(state, 2)) lattice_corners(state, 12, pair->lb);
  if (chance(state, 2)) corner_within(state, pair->la, pair->lb);
  if (chance(state, 2)) corner_in_plane(state, pair->la, pair->lb + 3);
  if (chance(state, 4)) corner_at_corner(state, pair->la, pair->lb + 3);
  if (!chance(state, 4)) flatten(state, pair->lb);
  finish(state, pair);
}

/* A segment or thin triangle through a corner or an edge point of a: what falls into a crack when signs disagree. */
static void lattice_pierced(uint64_t *state, family_pair *pair) {
  int32_t x[3];
  quarterable(state, pair);
  if (chance(state, 2)) {
    corner_at_corner(state, pair->la, x);
  } else {
    combine(pair->la, chance(state, 2) ? (int[3]){2, 2, 0} : (int[3]){0, 1, 3}, x);
  }
  for (int k = 0; k < 3; k++) {
    int d = random_between(state, -20, 20);
    pair->lb[k] = x[k] - d;
    pair->lb[3 + k] = x[k] + d * random_between(state, 1, 2);
    pair->lb[6 + k] = chance(state, 2) ? x[k] : pair->lb[k];
  }
  finish(state, pair);
}

/* ---- zero area against everything -------------------------------------------------------------------------------- */

static void any_direction(uint64_t *state, int reach, int32_t d[3]) {
  for (int k = 0; k < 3; k++) d[k] = random_between(state, -reach, reach);
}

/* Three corners start + t d on a line: a segment with the third corner anywhere in it, or a point. */
static void corners_on_line(uint64_t *state, const int32_t start[3], const int32_t d[3], int reach, int32_t c[9]) {
  int t[3];
  for (int i = 0; i < 3; i++) t[i] = random_between(state, -reach, reach);
  if (chance(state, 3)) t[1] = t[2];
  if (chance(state, 4)) t[0] = t[1] = t[2];
  for (int i = 0; i < 9; i++) c[i] = start[i % 3] + t[i / 3] * d[i % 3];
}

/* Segments and points: on one line, crossing, parallel, skew. */
static void lattice_thin_thin(uint64_t *state, family_pair *pair) {
  int32_t start[3], other[3], d[3], e[3];
  int reach = chance(state, 2) ? 2 : 100;
  any_direction(state, 3 * reach, start);
  any_direction(state, reach, d);
  any_direction(state, reach, e);
  corners_on_line(state, start, d, 4, pair->la);
  uint32_t how = random_below(state, 5);
  int along = random_between(state, -4, 4);
  for (int k = 0; k < 3; k++) other[k] = start[k] + along * d[k] + (how == 3) * e[k];
  if (how == 4) any_direction(state, 3 * reach, other);
  corners_on_line(state, other, how == 0 || how == 1 || how == 3 ? d : e, 4, pair->lb);
  finish(state, pair);
}

/* A triangle, and in its plane a segment or point: along an edge's line, or anywhere. */
static void lattice_thin_flat(uint64_t *state, family_pair *pair) {
  int32_t start[3], end[3], d[3];
  quarterable(state, pair);
  if (chance(state, 2)) {
    int edge = random_between(state, 0, 2);
    memcpy(start, pair->la + 3 * edge, sizeof start);
    for (int k = 0; k < 3; k++) d[k] = (pair->la[3 * ((edge + 1) % 3) + k] - start[k]) / 4;
  } else {
    corner_within(state, pair->la, start);
    if (chance(state, 2)) corner_at_corner(state, pair->la, start);
    corner_in_plane(state, pair->la, end);
    for (int k = 0; k < 3; k++) d[k] = end[k] - start[k];
  }
  corners_on_line(state, start, d, 8, pair->lb);
  finish(state, pair);
}

/* A triangle and a segment whose line goes through a point of it. */
static void lattice_thin_through(uint64_t *state, family_pair *pair) {
  int32_t start[3], d[3];
  quarterable(state, pair);
  corner_within(state, pair->la, start);
  if (chance(state, 3)) corner_at_corner(state, pair->la, start);
  if (chance(state, 3)) corner_in_plane(state, pair->la, start);
  any_direction(state, chance(state, 2) ? 3 : 300, d);
  corners_on_line(state, start, d, 3, pair->lb);
  finish(state, pair);
}

#define PLACED(name)                                            \
  static void make_##name(uint64_t *state, family_pair *pair) { \
    lattice_##name(state, pair);                                \
    place_anyhow(state, pair);                                  \
  }
PLACED(shared_vertex)
PLACED(shared_edge)
PLACED(touching)
PLACED(coplanar)
PLACED(identical)
PLACED(degenerate)
PLACED(pierced)
PLACED(thin_thin)
PLACED(thin_flat)
PLACED(thin_through)

/* ---- with rounding ----------------------------------------------------------------------------------------------- */

static void lattice_any(uint64_t *state, family_pair *pair) {
  static void (*const makers[])(uint64_t *, family_pair *) = {
      lattice_shared_vertex, lattice_shared_edge, lattice_touching, lattice_coplanar,
      lattice_identical,     lattice_degenerate,  lattice_pierced,
  };
  makers[random_below(state, sizeof makers / sizeof *makers)](state, pair);
}

static double step(double value, int ulps) {
  double towards = ulps < 0 ? -DBL_MAX : DBL_MAX;
  for (int i = ulps < 0 ? -ulps : ulps; i > 0; i--) value = nextafter(value, towards);
  return value;
}

/* An exact coincidence, then one to three coordinates moved by a few ulps. */
static void make_ulp(uint64_t *state, family_pair *pair) {
  lattice_any(state, pair);
  place_anyhow(state, pair);
  for (int i = random_between(state, 1, 3); i > 0; i--) {
    double *corners = chance(state, 2) ? pair->a : pair->b;
    double *value = corners + random_below(state, 9);
    *value = step(*value, random_between(state, -2, 2));
  }
  pair->lattice = false;
}

/* An exact coincidence under a rotation and shift that round: corners shared stay shared, planes come apart. */
static void make_rotated(uint64_t *state, family_pair *pair) {
  double angle = 6.28 * random_unit(state), c = cos(angle), s = sin(angle), shift = random_signed(state) * 1000;
  double size = ldexp(1, random_between(state, -30, 30));
  lattice_any(state, pair);
  place_plain(state, pair);
  for (int i = 0; i < 6; i++) {
    double *p = i < 3 ? pair->a + 3 * i : pair->b + 3 * (i - 3);
    double x = p[0] * size, y = p[1] * size, z = p[2] * size;
    double u = c * x - s * y, v = s * x + c * y;
    p[0] = c * u + s * z + shift;
    p[1] = v - 0.1 * shift;
    p[2] = c * z - s * u;
  }
  pair->lattice = false;
}

/* As wide a grid as the lattice stage takes, and wider: corners in one plane, or next to it. Also so far from the
 * origin that the last bits of the coordinates are those of the grid, or beyond. */
static void make_wide(uint64_t *state, family_pair *pair) {
  int bits = random_between(state, 19, 26), direction = chance(state, 2) ? 1 : -1;
  int64_t far = chance(state, 2) ? 0 : direction * ((int64_t)1 << random_between(state, 20, 51));
  bool half_steps = chance(state, 4); /* the last bit of the coordinates is half a step of the grid */
  if (half_steps) {
    bits = 27;
    far = direction * ((int64_t)3 << 51);
  }
  bool all_far = chance(state, 2);
  lattice_corners(state, 1 << (bits - 2), pair->la);
  for (int i = 0; i < 9; i++) pair->la[i] *= 4;
  for (int i = 0; i < 3 && half_steps; i++) pair->la[i] = 1 << (bits - 1); /* half as far from the others */
  for (int i = 0; i < 9; i += 3) corner_within(state, pair->la, pair->lb + i);
  if (chance(state, 2)) lattice_corners(state, 1 << bits, pair->lb);
  if (chance(state, 2)) corner_within(state, pair->la, pair->lb);
  if (chance(state, 4)) corner_at_corner(state, pair->la, pair->lb + 3);
  for (int i = random_between(state, 0, 2); i > 0; i--)
    pair->lb[random_below(state, 9)] += random_between(state, -1, 1);
  finish(state, pair);
  place(state, pair, (int[3]){0, 0, 0}, (int64_t[3]){far, all_far ? far : 0, all_far ? far : 0});
  pair->lattice = false;
}

static void random_corners(uint64_t *state, double size, double corners[9]) {
  for (int i = 0; i < 9; i++) corners[i] = size * random_signed(state);
}

static void make_random(uint64_t *state, family_pair *pair) {
  random_corners(state, 1, pair->a);
  random_corners(state, 1, pair->b);
  pair->lattice = false;
}

static void make_sliver(uint64_t *state, family_pair *pair) {
  random_corners(state, 1, pair->a);
  random_corners(state, 1, pair->b);
  double thin = ldexp(1, -random_between(state, 10, 60)), gap = ldexp(1, -random_between(state, 10, 60));
  double t = random_unit(state);
  for (int k = 0; k < 3; k++) {
    double along = pair->a[k] + t * (pair->a[3 + k] - pair->a[k]);
    pair->a[6 + k] = along + thin * random_signed(state);
    pair->b[k] = along + gap * random_signed(state);
    if (chance(state, 6)) pair->b[3 + k] = along - gap * random_signed(state);
  }
  pair->lattice = false;
}

/* Faces of boxes on a decimal grid: flush, coplanar in one decimal coordinate, overlapping or side by side. */
static void decimal_face(uint64_t *state, int axis, int level, double corners[9]) {
  int u0 = random_between(state, 0, 5), v0 = random_between(state, 0, 5);
  int u1 = u0 + random_between(state, 1, 4), v1 = v0 + random_between(state, 1, 4);
  int uv[3][2] = {{u0, v0}, {u1, v0}, {chance(state, 2) ? u1 : u0, v1}};
  for (int i = 0; i < 3; i++) {
    corners[3 * i + axis] = level * 0.1;
    corners[3 * i + (axis + 1) % 3] = uv[i][0] * 0.1;
    corners[3 * i + (axis + 2) % 3] = uv[i][1] * 0.1;
  }
}

static void make_flush(uint64_t *state, family_pair *pair) {
  int axis = random_between(state, 0, 2), level = random_between(state, 0, 5);
  decimal_face(state, axis, level, pair->a);
  decimal_face(state, chance(state, 3) ? (axis + 1) % 3 : axis, chance(state, 8) ? level + 1 : level, pair->b);
  pair->lattice = false;
}

static void swap_corners(family_pair *pair) {
  double a[9];
  memcpy(a, pair->a, sizeof a);
  memcpy(pair->a, pair->b, sizeof a);
  memcpy(pair->b, a, sizeof a);
}

/* A value of the first triangle's, or one of its own: edges along the axes, corners in one place. */
static double level_value(uint64_t *state, const double *others, int axis) {
  return chance(state, 3) ? others[3 * random_below(state, 3) + (uint32_t)axis] : random_signed(state);
}

/* The second one turned from the plane of the first into one across another axis, on which it stands or not. */
static void stand_up(uint64_t *state, int axis, int other, double height, double corners[9]) {
  for (int i = 0; i < 3; i++) {
    corners[3 * i + axis] = chance(state, 3) ? height : corners[3 * i + other];
    corners[3 * i + other] = height;
  }
}

/* In one plane across an axis, or in planes across two, on no grid: also with corners that lie next to an edge of the
 * first, and thin ones. */
static void make_level(uint64_t *state, family_pair *pair) {
  const int axis = random_between(state, 0, 2), u = (axis + 1) % 3, v = (axis + 2) % 3;
  const double size = chance(state, 8) ? ldexp(1, random_between(state, -400, 300)) : 1;
  random_corners(state, 1, pair->a);
  for (int i = 0; i < 3; i++) {
    double *corner = pair->b + 3 * i;
    const double *p = pair->a + 3 * i, *q = pair->a + 3 * ((i + 1) % 3), t = 1.5 * random_unit(state);
    const bool beside = chance(state, 4);
    corner[u] = beside ? p[u] + t * (q[u] - p[u]) : level_value(state, pair->a, u);
    corner[v] = beside ? p[v] + t * (q[v] - p[v]) : level_value(state, pair->a, v);
    if (chance(state, 6)) memcpy(corner, p, 3 * sizeof *corner);
  }
  if (chance(state, 8)) memcpy(pair->b, pair->b + 3, 3 * sizeof *pair->b);
  const double height = random_signed(state);
  for (int i = 0; i < 9; i++) {
    pair->a[i] = i % 3 == axis ? height : pair->a[i];
    pair->b[i] = i % 3 == axis ? height : pair->b[i];
  }
  if (chance(state, 2)) stand_up(state, axis, chance(state, 2) ? u : v, height, pair->b);
  if (chance(state, 2)) swap_corners(pair);
  for (int i = 0; i < 9; i++) {
    pair->a[i] *= size;
    pair->b[i] *= size;
  }
  pair->lattice = false;
}

/* Float values: a rotated lattice pair as a float file would hold it. */
static void make_float32(uint64_t *state, family_pair *pair) {
  if (chance(state, 3)) {
    make_random(state, pair);
  } else {
    make_rotated(state, pair);
  }
  for (int i = 0; i < 9; i++) {
    volatile float a = (float)pair->a[i], b = (float)pair->b[i];
    pair->a[i] = a;
    pair->b[i] = b;
  }
}

/* Every coordinate with an exponent of its own, some corners shared. */
static void make_spread(uint64_t *state, family_pair *pair) {
  int reach = chance(state, 2) ? 40 : chance(state, 2) ? 300 : 1000;
  for (int i = 0; i < 9; i++) {
    pair->a[i] = ldexp(random_signed(state), random_between(state, -reach, reach));
    pair->b[i] = ldexp(random_signed(state), random_between(state, -reach, reach));
  }
  if (chance(state, 2)) memcpy(pair->b, pair->a, 3 * sizeof *pair->b);
  if (chance(state, 4)) memcpy(pair->b + 3, pair->a + 6, 3 * sizeof *pair->b);
  if (chance(state, 4)) {
    for (int i = 0; i < 3; i++) pair->b[3 * i] = pair->a[3 * i] = pair->a[0];
  }
  pair->lattice = false;
}

/* Limits of the format: the largest and smallest doubles, their neighbours, and ordinary numbers, mixed. */
static void make_extreme(uint64_t *state, family_pair *pair) {
  static const double values[] = {DBL_MAX,  -DBL_MAX, 0x1p1023, -0x1p1023, 0x1p-1074, -0x1p-1074,           DBL_MIN,
                                  -DBL_MIN, 0.0,      -0.0,     1.0,       -1.0,      0x1.fffffffffffffp-1, 0x1p500};
  uint32_t count = sizeof values / sizeof *values;
  uint32_t from = chance(state, 3) ? 0 : random_below(state, count - 4), span = from ? 4 : count;
  for (int i = 0; i < 9; i++) {
    pair->a[i] = values[from + random_below(state, span)];
    pair->b[i] = values[from + random_below(state, span)];
  }
  pair->lattice = false;
}

/* A large triangle and a tiny one at its corner, edge or face. */
static void make_tiny_on_large(uint64_t *state, family_pair *pair) {
  random_corners(state, 1, pair->a);
  double size = ldexp(1, -random_between(state, 20, 53));
  double s = chance(state, 3) ? 0 : random_unit(state), t = chance(state, 2) ? 0 : (1 - s) * random_unit(state);
  for (int k = 0; k < 3; k++) {
    double at = pair->a[k] + s * (pair->a[3 + k] - pair->a[k]) + t * (pair->a[6 + k] - pair->a[k]);
    for (int i = 0; i < 3; i++) pair->b[3 * i + k] = at + size * random_signed(state);
  }
  pair->lattice = false;
}

const family families[] = {
    {"lattice3", make_lattice3},
    {"lattice7", make_lattice7},
    {"lattice20", make_lattice20},
    {"scaled", make_scaled},
    {"stretched", make_stretched},
    {"subnormal", make_subnormal},
    {"huge", make_huge},
    {"shared_vertex", make_shared_vertex},
    {"shared_edge", make_shared_edge},
    {"touching", make_touching},
    {"coplanar", make_coplanar},
    {"identical", make_identical},
    {"degenerate", make_degenerate},
    {"pierced", make_pierced},
    {"ulp", make_ulp},
    {"rotated", make_rotated},
    {"random", make_random},
    {"sliver", make_sliver},
    {"flush", make_flush},
    {"float32", make_float32},
    {"spread", make_spread},
    {"extreme", make_extreme},
    {"tiny_on_large", make_tiny_on_large},
    {"wide", make_wide},
    {"thin_thin", make_thin_thin},
    {"thin_flat", make_thin_flat},
    {"thin_through", make_thin_through},
    {"level", make_level},
};
const int family_count = sizeof families / sizeof *families;

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

void soup_lattice(uint64_t *state, uint32_t count, uint32_t side, double *corners) {
  for (size_t i = 0; i < 9 * (size_t)count; i++) corners[i] = random_below(state, side);
}

void soup_cluttered(uint64_t *state, uint32_t count, double size, double *corners) {
  for (uint32_t i = 0; i < count; i++) {
    double centre[3];
    for (int k = 0; k < 3; k++) centre[k] = random_unit(state);
    for (int k = 0; k < 9; k++) corners[9 * (size_t)i + k] = centre[k % 3] + size * random_signed(state);
  }
}

/* u and v count steps; the third coordinate is exact, so that neighbouring faces make the same points. */
static void ball_point(int face, uint32_t u, uint32_t v, uint32_t level, double radius, double out[3]) {
  double p[3] = {u, v, level - u - v};
  double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  for (int k = 0; k < 3; k++) out[k] = (face >> k & 1 ? -1 : 1) * radius * (p[k] / length);
}

/* An octahedron, each face cut into level^2 and blown up. */
uint32_t soup_ball(uint32_t level, double radius, double *corners) {
  uint32_t count = 0;
  for (int face = 0; face < 8; face++) {
    bool mirrored = (face & 1) ^ (face >> 1 & 1) ^ (face >> 2 & 1);
    for (uint32_t i = 0; i < level; i++) {
      for (uint32_t j = 0; i + j < level; j++) {
        for (int upper = 0; upper < (i + j + 1 < level ? 2 : 1); upper++) {
          double *t = corners + 9 * (size_t)count++;
          int second = mirrored ? 6 : 3, third = mirrored ? 3 : 6;
          uint32_t up = (uint32_t)upper;
          ball_point(face, i + up, j + up, level, radius, t);
          ball_point(face, i + 1 - up, j + up, level, radius, t + second);
          ball_point(face, i + up, j + 1 - up, level, radius, t + third);
        }
      }
    }
  }
  return count;
}

void soup_box(const double min[3], const double max[3], double corners[108]) {
  static const int quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  static const int fan[6] = {0, 1, 2, 0, 2, 3};
  for (int q = 0; q < 6; q++) {
    for (int i = 0; i < 6; i++) {
      int corner = quads[q][fan[i]];
      double *to = corners + 18 * q + 3 * i;
      for (int k = 0; k < 3; k++) to[k] = corner >> k & 1 ? max[k] : min[k];
    }
  }
}

uint32_t soup_of_kind(uint64_t *state, int kind, uint32_t most, double *corners) {
  uint32_t count = 1 + random_below(state, most);
  switch (kind) {
    case 0:
      soup_lattice(state, count, 5, corners);
      for (uint32_t i = 0; i < 9 * count; i++) corners[i] *= 0.25;
      return count;
    case 1:
      soup_cluttered(state, count, 0.3, corners);
      return count;
    case 2:
      return soup_ball(2, 0.5, corners);
    case 3:
      soup_lattice(state, count, 6, corners);
      for (uint32_t i = 0; i < 9 * count; i++) corners[i] *= i % 3 == 2 ? 0 : 0.25;
      return count;
    default:
      soup_cluttered(state, count, 0.5, corners);
      for (uint32_t i = 0; i < 9 * count; i += 9) {
        for (int k = 0; k < 3; k++) corners[i + 6 + k] = corners[i + k] + random_signed(state) * 0x1p-40;
      }
      return count;
  }
}
