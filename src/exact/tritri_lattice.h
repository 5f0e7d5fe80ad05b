/* Stage 2 of tritri_kernels.c, the lattice stage: exact, for pairs of any shape.
 *
 * It takes the pairs whose coordinates are multiples of a power of two g, with all differences from the first corner
 * below 2^25 g, so that any two corners differ by less than 2^26 g. Then differences are exact in double, and so are
 * minors, at most 2^53 g^2, and what is computed in the plane. A determinant is the sum of three products below 2^79
 * g^3. Adding them one after the other to 1.5 * 2^82 g^3 rounds each to a multiple of 2^30 g^3, and what that leaves of
 * a product, at most 2^30 g^3, is one fused operation away. Both parts add up without loss: twelve operations a sign.
 *
 * The cases are those of tritri.c. What differs: no end points of zero-area triangles are looked for, as every rule is
 * put so that it holds with the third corner anywhere between the ends.
 */
#ifndef GRAZE_SRC_EXACT_TRITRI_LATTICE_H
#define GRAZE_SRC_EXACT_TRITRI_LATTICE_H

#include <stddef.h>
#include <string.h>

#include "exact/lane_points.h"
#include "exact/tritri_batch.h"

/* For functions that l->coarse, a constant, is to be folded into. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

typedef struct lattice_pair {
  point a[3], b[3]; /* relative to a's first corner */
  vd high;          /* 1.5 * 2^82 g^3 */
  bool coarse;      /* the grid is so coarse that no product of three is rounded: a constant where this is compiled */
} lattice_pair;

/* Pairs relative to a's first corner, and 1.5 * 2^82 g^3: for the later passes. */
typedef struct lattice_store {
  _Alignas(64) double d[15][TRITRI_BLOCK];
  _Alignas(64) double high[TRITRI_BLOCK];
} lattice_store;

/* What the first pass over a block finds. */
typedef struct lattice_words {
  sign_words a, b;
  uint64_t ok;             /* the pairs that this stage may take: the others' bits may be anything */
  uint64_t thin_a, thin_b; /* zero area */
  lattice_store store;
} lattice_words;

/* The answers: bits 0 and 1 of the kind, and the flags. */
typedef struct answer_words {
  uint64_t kind_low, kind_high, coplanar, thin_a, thin_b;
} answer_words;

/* Lanes by answer, none of the kinds: they do not meet. */
typedef struct lattice_answer {
  vm point, segment, area;
} lattice_answer;

/* ---- numbers ---- */

static inline vd point_max_abs(point p) {
  return vd_max_abs(vd_max_abs(p.x, p.y), p.z);
}

static inline vd max_abs_of(const lattice_pair *l) {
  vd a = vd_max(point_max_abs(l->a[1]), point_max_abs(l->a[2]));
  vd b = vd_max(point_max_abs(l->b[1]), point_max_abs(l->b[2]));
  return vd_max(vd_max(a, b), point_max_abs(l->b[0]));
}

/* Zero where a coordinate is a multiple of g: adding 1.5 * 2^52 g and taking it away again rounds to one. */
static inline vd off_grid(vd x, vd round) {
  return vd_sub(x, vd_sub(vd_add(x, round), round));
}

/* Bits that are all zero, but for the sign, where all coordinates are finite and on the grid. */
static inline vd any_off_grid(point p, vd round) {
  return vd_or(vd_or(off_grid(p.x, round), off_grid(p.y, round)), off_grid(p.z, round));
}

static inline void keep_point(point p, lattice_store *store, int first, unsigned at) {
  vd_store(store->d[first] + at, p.x);
  vd_store(store->d[first + 1] + at, p.y);
  vd_store(store->d[first + 2] + at, p.z);
}

static inline point kept_point(const lattice_store *store, int first, unsigned at) {
  return (point){vd_load(store->d[first] + at), vd_load(store->d[first + 1] + at), vd_load(store->d[first + 2] + at)};
}

static ALWAYS_INLINE lattice_pair kept_pair(const lattice_store *store, unsigned at, bool coarse) {
  lattice_pair l;
  l.a[0] = (point){vd_set(0), vd_set(0), vd_set(0)};
  for (int k = 1; k < 3; k++) l.a[k] = kept_point(store, 3 * k - 3, at);
  for (int k = 0; k < 3; k++) l.b[k] = kept_point(store, 3 * k + 6, at);
  l.high = vd_load(store->high + at);
  l.coarse = coarse;
  return l;
}

/* Loads the pairs, keeps them, and finds the lanes that this stage may take. */
static ALWAYS_INLINE vm load_lattice(const pair_source *source, unsigned at, lattice_pair *l, lattice_store *store) {
  point t[6];
  load_points(source->a, at, t);
  load_points(source->b, at, t + 3);
  l->a[0] = (point){vd_set(0), vd_set(0), vd_set(0)};
  for (int k = 1; k < 3; k++) keep_point(l->a[k] = point_sub(t[k], t[0]), store, 3 * k - 3, at);
  for (int k = 0; k < 3; k++) keep_point(l->b[k] = point_sub(t[k + 3], t[0]), store, 3 * k + 6, at);
  vd largest = max_abs_of(l), power = vd_power_above(largest); /* 2^25 g, coarse: 2^15 g */
  vm one_place = vd_eq(largest, vd_set(0));
  /* So large or small that a product of three overflows or underflows; six corners in one place are fine. */
  vm window = vm_and(vd_gt(vd_set(0x1p300), largest), vm_or(one_place, vd_gt(largest, vd_set(0x1p-250))));
  /* The test of the grid is sound below 2^51 g only. */
  vm near = vd_gt(vd_select(one_place, vd_set(0x1p1000), vd_mul(power, vd_set(0x1.fp25))), point_max_abs(t[0]));
  vd round = vd_mul(power, vd_set(l->coarse ? 0x1.8p37 : 0x1.8p27));
  vd off_a = vd_or(vd_or(any_off_grid(t[0], round), any_off_grid(t[1], round)), any_off_grid(t[2], round));
  vd off_b = vd_or(vd_or(any_off_grid(t[3], round), any_off_grid(t[4], round)), any_off_grid(t[5], round));
  l->high = vd_mul(vd_mul(power, vd_mul(power, power)), vd_set(0x1.8p7));
  vd_store(store->high + at, l->high);
  return vm_and(vm_and(window, near), vd_eq(vd_or(off_a, off_b), vd_set(0)));
}

/* As point_cross, for differences: exact. */
static inline point lattice_cross(point a, point b) {
  return (point){vd_product_rest(a.y, b.z, vd_mul(a.z, b.y)), vd_product_rest(a.z, b.x, vd_mul(a.x, b.z)),
                 vd_product_rest(a.x, b.y, vd_mul(a.y, b.x))};
}

/* The sign of minors . differences. */
static ALWAYS_INLINE void lattice_dot(const lattice_pair *l, point a, point b, vm *positive, vm *negative) {
  if (l->coarse) {
    vd sum = vd_product_plus(a.x, b.x, vd_product_plus(a.y, b.y, vd_mul(a.z, b.z))), zero = vd_set(0);
    *positive = vd_gt(sum, zero);
    *negative = vd_gt(zero, sum);
    return;
  }
  vd high = l->high;
  vd s = vd_product_plus(a.x, b.x, high), t = vd_product_plus(a.y, b.y, s), u = vd_product_plus(a.z, b.z, t);
  vd low_x = vd_product_rest(a.x, b.x, vd_sub(s, high)), low_y = vd_product_rest(a.y, b.y, vd_sub(t, s));
  vd low_z = vd_product_rest(a.z, b.z, vd_sub(u, t));
  vd low = vd_add(vd_add(low_x, low_y), low_z), minus_high = vd_sub(high, u);
  *positive = vd_gt(low, minus_high);
  *negative = vd_gt(minus_high, low);
}

static inline vm is_zero(point n) {
  return vd_eq(vd_or(vd_or(n.x, n.y), n.z), vd_set(0));
}

/* ---- in one plane ---- */

/* Two coordinates of three corners. */
typedef struct flat {
  vd u[3], v[3];
} flat;

/* Corner k of one against the line of edge e of the other, left positive; and the farthest of the three to the left. */
typedef struct flat_sides {
  vd side[3][3], reach[3];
} flat_sides;

/* The coordinates that remain when the axis of the largest normal component is dropped, in cyclic order. */
typedef struct dropped {
  vm x, y;
} dropped;

static inline dropped drop_axis(point normal) {
  vd x = vd_abs(normal.x), y = vd_abs(normal.y), z = vd_abs(normal.z);
  dropped d;
  d.x = vm_and(vd_ge(x, y), vd_ge(x, z));
  d.y = vm_andnot(vd_ge(y, z), d.x);
  return d;
}

static inline vd dropped_of(dropped d, point p) {
  return vd_select(d.x, p.x, vd_select(d.y, p.y, p.z));
}

static inline flat flatten(dropped d, const point t[3]) {
  flat f;
  for (int k = 0; k < 3; k++) {
    f.u[k] = vd_select(d.x, t[k].y, vd_select(d.y, t[k].z, t[k].x));
    f.v[k] = vd_select(d.x, t[k].z, vd_select(d.y, t[k].x, t[k].y));
  }
  return f;
}

static inline void flat_swap(vm lanes, vd *a, vd *b) {
  vd old = *a;
  *a = vd_select(lanes, *b, old);
  *b = vd_select(lanes, old, *b);
}

/* Corner k of g on edge e of f: du (gv - fv) - dv (gu - fu), with the part that is the edge's taken out. */
static inline void find_sides(const flat *f, const flat *g, flat_sides *s) {
  for (int e = 0; e < 3; e++) {
    int next = (e + 1) % 3;
    vd du = vd_sub(f->u[next], f->u[e]), dv = vd_sub(f->v[next], f->v[e]);
    vd own = vd_product_rest(du, f->v[e], vd_mul(dv, f->u[e]));
    for (int k = 0; k < 3; k++) s->side[e][k] = vd_product_rest(du, g->v[k], vd_product_plus(dv, g->u[k], own));
    s->reach[e] = max3v(s->side[e][0], s->side[e][1], s->side[e][2]);
  }
}

/* An edge without length has no line. Returns the lanes where no edge has one. */
static inline vm skip_short_edges(const flat *f, flat_sides *s) {
  vm nowhere = vm_all();
  for (int e = 0; e < 3; e++) {
    int next = (e + 1) % 3;
    vm none = vm_and(vd_eq(f->u[next], f->u[e]), vd_eq(f->v[next], f->v[e]));
    s->reach[e] = vd_select(none, vd_set(1), s->reach[e]);
    nowhere = vm_and(nowhere, none);
  }
  return nowhere;
}

/* Where the two touch along a piece of an edge of f, a triangle turned to the left: g has nothing to the left of that
 * edge, and all of it (g thin) or an edge on its line, reaching past the edge's start and past its end. That a point is
 * past the start is seen from the edge before, past the end from the edge after. */
static inline vm touch_along(const flat_sides *s, vm thin_g) {
  const vd zero = vd_set(0);
  vm along = vm_none();
  for (int e = 0; e < 3; e++) {
    const vd *before = s->side[(e + 2) % 3], *after = s->side[(e + 1) % 3];
    vm on[3], past_start[3], before_end[3];
    for (int k = 0; k < 3; k++) {
      on[k] = vd_eq(s->side[e][k], zero);
      past_start[k] = vm_and(on[k], vd_gt(before[k], zero));
      before_end[k] = vm_and(on[k], vd_gt(after[k], zero));
    }
    vm two = vm_or(vm_or(vm_and(on[0], on[1]), vm_and(on[1], on[2])), vm_and(on[2], on[0]));
    vm line = vm_and(vd_eq(s->reach[e], zero), vm_or(vm_andnot(two, thin_g), all3(on)));
    along = vm_or(along, vm_and(line, vm_and(any3(past_start), any3(before_end))));
  }
  return along;
}

/* The triangles' normals, and which are zero. */
typedef struct lattice_shape {
  point normal_a, normal_b;
  vm thin_a, thin_b;
} lattice_shape;

/* All corners in the plane of `normal`. Two convex shapes in a plane are apart when the line of some edge of one has
 * the other strictly outside; a segment has two edges, one for each direction. When a line only has the other outside
 * or on it, the common set is on that line. Not for two shapes on one line. */
static ALWAYS_INLINE void lattice_flat(const lattice_pair *l, const lattice_shape *shape, bool any_thin, point normal,
                                       vm lanes, lattice_answer *answer) {
  const vd zero = vd_set(0);
  vm thin = vm_or(shape->thin_a, shape->thin_b), both_thin = vm_and(shape->thin_a, shape->thin_b), point_g = vm_none();
  dropped drop = drop_axis(normal);
  flat f = flatten(drop, l->a), g = flatten(drop, l->b);
  vd turn = dropped_of(drop, normal), turn_b = dropped_of(drop, shape->normal_b);
  vm clockwise = vd_gt(zero, vd_turn(turn_b, turn));
  for (int k = 0; k < 3 && any_thin; k++) { /* f is the proper one, if there is one */
    flat_swap(shape->thin_a, &f.u[k], &g.u[k]);
    flat_swap(shape->thin_a, &f.v[k], &g.v[k]);
  }
  for (int k = 0; k < 3; k++) {
    f.u[k] = vd_turn(f.u[k], turn);
    g.u[k] = vd_turn(g.u[k], turn);
  }
  flat_swap(clockwise, &g.u[1], &g.u[2]);
  flat_swap(clockwise, &g.v[1], &g.v[2]);
  flat_sides sf, sg;
  find_sides(&f, &g, &sf);
  find_sides(&g, &f, &sg);
  if (any_thin) {
    skip_short_edges(&f, &sf);
    point_g = skip_short_edges(&g, &sg);
  }
  vd reach = vd_min(min3(sf.reach[0], sf.reach[1], sf.reach[2]), min3(sg.reach[0], sg.reach[1], sg.reach[2]));
  vm meet = vm_andnot(lanes, vd_gt(zero, reach)), inside = vm_and(meet, vd_gt(reach, zero));
  vm edge = vm_andnot(meet, inside), long_g = vm_andnot(vm_andnot(meet, both_thin), point_g);
  vm along = vm_bits(edge) != 0 ? vm_and(edge, touch_along(&sf, thin)) : edge;
  vm area = vm_andnot(inside, thin);
  vm segment = vm_and(long_g, vm_or(vm_andnot(inside, area), along));
  answer->area = vm_or(answer->area, area);
  answer->segment = vm_or(answer->segment, segment);
  answer->point = vm_or(answer->point, vm_andnot(vm_andnot(meet, area), segment));
}

/* ---- zero area ---- */

/* A direction of the line through the corners, zero where they are in one place. */
static inline point direction(const point t[3]) {
  point d = point_sub(t[1], t[0]);
  return point_select(is_zero(d), point_sub(t[2], t[0]), d);
}

/* Two shapes on one line: their boxes' common part, as on every axis the line is either monotone or constant. */
static ALWAYS_INLINE void lattice_line(const lattice_pair *l, vm lanes, lattice_answer *answer) {
  lane_box a = box_of(l->a), b = box_of(l->b);
  vd low[3] = {vd_max(a.low.x, b.low.x), vd_max(a.low.y, b.low.y), vd_max(a.low.z, b.low.z)};
  vd high[3] = {vd_min(a.high.x, b.high.x), vd_min(a.high.y, b.high.y), vd_min(a.high.z, b.high.z)};
  vm apart = vm_none(), longer = vm_none();
  for (int k = 0; k < 3; k++) {
    apart = vm_or(apart, vd_gt(low[k], high[k]));
    longer = vm_or(longer, vd_gt(high[k], low[k]));
  }
  vm meet = vm_andnot(lanes, apart);
  answer->segment = vm_or(answer->segment, vm_and(meet, longer));
  answer->point = vm_or(answer->point, vm_andnot(meet, longer));
}

/* Two of zero area: finishes those that are on one line. Returns those that lie in one plane, with its normal. */
static ALWAYS_INLINE vm lattice_two_thin(const lattice_pair *l, point along_a, point along_b, vm lanes, point *normal,
                                         lattice_answer *answer) {
  point n = lattice_cross(along_a, along_b);
  vm above, below;
  lattice_dot(l, n, l->b[0], &above, &below);
  vm planar = vm_andnot(vm_andnot(lanes, above), below);
  /* Parallel, or one is a point: the plane through a line and a point of the other. */
  point along = point_select(is_zero(along_a), along_b, along_a);
  *normal = point_select(is_zero(n), lattice_cross(along, l->b[0]), n);
  vm line = vm_and(planar, is_zero(*normal));
  if (vm_bits(line) != 0) lattice_line(l, line, answer);
  return planar;
}

/* A proper triangle and a segment through its plane: a point unless the segment's line passes the edges on different
 * sides. */
static ALWAYS_INLINE void lattice_pierce(const lattice_pair *l, vm thin_a, point along, vm lanes,
                                         lattice_answer *answer) {
  point start = point_select(thin_a, l->a[0], l->b[0]), p[3];
  vm left = vm_none(), right = vm_none();
  for (int k = 0; k < 3; k++) p[k] = point_sub(point_select(thin_a, l->b[k], l->a[k]), start);
  for (int e = 0; e < 3; e++) {
    vm positive, negative;
    lattice_dot(l, lattice_cross(along, p[e]), p[(e + 1) % 3], &positive, &negative);
    left = vm_or(left, positive);
    right = vm_or(right, negative);
  }
  answer->point = vm_or(answer->point, vm_andnot(lanes, vm_and(left, right)));
}

/* ---- a block ---- */

static inline point normal_of(const point t[3]) {
  return lattice_cross(point_sub(t[1], t[0]), point_sub(t[2], t[0]));
}

/* First pass. */
static ALWAYS_INLINE void lattice_signs(const pair_source *source, unsigned at, bool coarse, lattice_words *w) {
  lattice_pair l;
  l.coarse = coarse;
  vm_put(&w->ok, at, load_lattice(source, at, &l, &w->store));
  point normal_a = lattice_cross(l.a[1], l.a[2]), normal_b = normal_of(l.b);
  vm_put(&w->thin_a, at, is_zero(normal_a));
  vm_put(&w->thin_b, at, is_zero(normal_b));
  for (int k = 0; k < 3; k++) {
    vm positive, negative;
    lattice_dot(&l, normal_a, l.b[k], &positive, &negative);
    vm_put(&w->b.p[k], at, positive);
    vm_put(&w->b.n[k], at, negative);
    lattice_dot(&l, normal_b, point_sub(l.a[k], l.b[0]), &positive, &negative);
    vm_put(&w->a.p[k], at, positive);
    vm_put(&w->a.n[k], at, negative);
  }
}

/* Proper, not coplanar, each with corners on both sides of the other's plane or on it: where they do not meet, and
 * where they do in more than a point unless a lone corner is on a plane. */
static ALWAYS_INLINE void lattice_crossing(const lattice_store *store, unsigned at, bool coarse, const order_words *oa,
                                           const order_words *ob, uint64_t *no, uint64_t *yes) {
  lattice_pair l = kept_pair(store, at, coarse);
  point pa[3], pb[3];
  reorder(l.a, oa, at, pa);
  reorder(l.b, ob, at, pb);
  point u = point_sub(pb[0], pa[0]);
  vm ik_p, ik_n, lj_p, lj_n;
  lattice_dot(&l, lattice_cross(point_sub(pa[1], pa[0]), u), point_sub(pb[1], pa[0]), &ik_p, &ik_n);
  lattice_dot(&l, lattice_cross(u, point_sub(pa[2], pa[0])), point_sub(pb[2], pa[0]), &lj_p, &lj_n);
  vm_put(no, at, vm_or(ik_p, lj_p));
  vm_put(yes, at, vm_and(ik_n, lj_n));
}

static ALWAYS_INLINE void lattice_cross_all(uint64_t lanes, bool coarse, const lattice_words *w, answer_words *answer) {
  uint64_t no = 0, yes = 0;
  alone_words alone_a = find_alone(&w->a), alone_b = find_alone(&w->b);
  order_words oa = find_order(&alone_a, alone_b.flip), ob = find_order(&alone_b, alone_a.flip);
  for (unsigned at = 0; at < TRITRI_BLOCK; at += VD_LANES) {
    if (lanes_of(lanes, at) != 0) lattice_crossing(&w->store, at, coarse, &oa, &ob, &no, &yes);
  }
  uint64_t meet = lanes & ~no, segment = meet & yes & ~alone_a.tip & ~alone_b.tip;
  answer->kind_high |= segment;
  answer->kind_low |= meet & ~segment;
}

/* Pairs in one plane, and those of a proper triangle and a segment through its plane. */
typedef struct special_words {
  uint64_t planar, pierce, thin_a, thin_b;
  uint64_t low, high, coplanar; /* answers */
} special_words;

/* `thin`: some have zero area. */
static ALWAYS_INLINE void lattice_special(const lattice_store *store, unsigned at, bool coarse, bool thin,
                                          special_words *s) {
  lattice_pair l = kept_pair(store, at, coarse);
  lattice_answer answer = {vm_none(), vm_none(), vm_none()};
  lattice_shape shape = {lattice_cross(l.a[1], l.a[2]), normal_of(l.b), vm_none(), vm_none()};
  vm planar = mask_of(s->planar, at), flat_lanes = planar;
  point normal = shape.normal_a;
  if (thin) {
    shape.thin_a = mask_of(s->thin_a, at);
    shape.thin_b = mask_of(s->thin_b, at);
    normal = point_select(shape.thin_a, shape.normal_b, normal);
    vm both = vm_and(planar, vm_and(shape.thin_a, shape.thin_b));
    point along_a = direction(l.a), along_b = direction(l.b), plane;
    if (lanes_of(s->pierce, at) != 0)
      lattice_pierce(&l, shape.thin_a, point_select(shape.thin_a, along_a, along_b), mask_of(s->pierce, at), &answer);
    if (vm_bits(both) != 0) {
      planar = vm_or(vm_andnot(planar, both), lattice_two_thin(&l, along_a, along_b, both, &plane, &answer));
      normal = point_select(both, plane, normal);
      flat_lanes = vm_andnot(planar, is_zero(normal));
    }
  }
  if (vm_bits(flat_lanes) != 0) lattice_flat(&l, &shape, thin, normal, flat_lanes, &answer);
  vm_put(&s->low, at, vm_or(answer.point, answer.area));
  vm_put(&s->high, at, vm_or(answer.segment, answer.area));
  vm_put(&s->coplanar, at, planar);
}

/* Copies pairs side by side, with what lattice_special asks of them. */
static void pack_special(const lattice_store *from, uint64_t pairs, lattice_store *packed, special_words *s) {
  unsigned to = 0;
  for (uint64_t left = pairs; left != 0; left &= left - 1, to++) {
    unsigned i = (unsigned)__builtin_ctzll(left);
    for (int k = 0; k < 15; k++) packed->d[k][to] = from->d[k][i];
    packed->high[to] = from->high[i];
  }
  s->planar = bits_extract(s->planar, pairs);
  s->pierce = bits_extract(s->pierce, pairs);
  s->thin_a = bits_extract(s->thin_a, pairs);
  s->thin_b = bits_extract(s->thin_b, pairs);
}

/* Where such pairs are few, packing them saves vectors, and branches that nobody can predict. */
static ALWAYS_INLINE void lattice_special_all(uint64_t planar, uint64_t pierce, bool coarse, bool thin,
                                              const lattice_words *w, answer_words *answer) {
  lattice_store packed;
  const lattice_store *store = &w->store;
  uint64_t pairs = planar | pierce, places = ~(uint64_t)0;
  special_words s = {planar, pierce, w->thin_a, w->thin_b, 0, 0, 0};
  if (__builtin_popcountll(pairs) < TRITRI_BLOCK / 2) {
    pack_special(store, pairs, &packed, &s);
    store = &packed;
    places = pairs;
    pairs = first_bits((unsigned)__builtin_popcountll(pairs));
  }
  for (unsigned at = 0; at < TRITRI_BLOCK; at += VD_LANES) {
    if (lanes_of(pairs, at) != 0) lattice_special(store, at, coarse, thin, &s);
  }
  answer->kind_low |= bits_deposit(s.low, places);
  answer->kind_high |= bits_deposit(s.high, places);
  answer->coplanar |= bits_deposit(s.coplanar, places);
}

/* Adds the answers of the wanted pairs that this stage may take, and returns these; in *zero those of them where a sign
 * against a plane was zero and mattered. With a coarse grid all or nothing. */
static ALWAYS_INLINE uint64_t lattice_grid(const pair_source *source, uint64_t wanted, unsigned ahead, bool coarse,
                                           answer_words *answer, uint64_t *zero) {
  lattice_words w;
  memset(&w, 0, offsetof(lattice_words, store));
  for (unsigned at = 0; at < TRITRI_BLOCK; at += VD_LANES) {
    if (lanes_of(wanted, at) == 0) continue;
    ask_ahead(source, at, ahead);
    lattice_signs(source, at, coarse, &w);
  }
  uint64_t known = w.ok & wanted;
  if (coarse && known != wanted) return 0;
  uint64_t thin = w.thin_a | w.thin_b, apart = one_side(&w.a) | one_side(&w.b);
  /* Signs against the plane of a thin one, which has none, are zero. */
  uint64_t off_plane = any_sign(&w.a) | any_sign(&w.b), through = known & off_plane & ~apart;
  uint64_t planar = known & ~off_plane, cross = through & ~thin, pierce = through & thin;
  *zero = known & ~apart & ~(all_signs(&w.a) & all_signs(&w.b));
  answer->thin_a |= known & w.thin_a;
  answer->thin_b |= known & w.thin_b;
  if (cross != 0) lattice_cross_all(cross, coarse, &w, answer);
  uint64_t thin_special = (planar & thin) | pierce;
  if ((planar & ~thin) != 0) lattice_special_all(planar & ~thin, 0, coarse, false, &w, answer);
  if (thin_special != 0) lattice_special_all(planar & thin, pierce, coarse, true, &w, answer);
  return known;
}

static __attribute__((noinline)) uint64_t lattice_coarse(const pair_source *source, uint64_t wanted, unsigned ahead,
                                                         answer_words *answer, uint64_t *zero) {
  return lattice_grid(source, wanted, ahead, true, answer, zero);
}

static __attribute__((noinline)) uint64_t lattice_fine(const pair_source *source, uint64_t wanted, unsigned ahead,
                                                       answer_words *answer, uint64_t *zero) {
  return lattice_grid(source, wanted, ahead, false, answer, zero);
}

/* As lattice_grid, on the coarse grid unless the trend has left it. */
static inline uint64_t lattice_block(const pair_source *source, uint64_t wanted, unsigned ahead, tritri_trend *trend,
                                     answer_words *answer, uint64_t *zero) {
  if (!trend->fine) {
    uint64_t known = lattice_coarse(source, wanted, ahead, answer, zero);
    if (known != 0) return known;
    trend->fine = true;
    ahead = 0;
  }
  return lattice_fine(source, wanted, ahead, answer, zero);
}

#endif
