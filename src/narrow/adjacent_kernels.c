/* Shared corners of pairs of triangles.
 *
 * One shared corner v: the triangles meet only in v when some direction d has d.(x - v) < 0 for the one's other corners
 * and > 0 for the other's (d between the bisectors does for most of a fan), or when one triangle's other corners lie
 * strictly on one side of the other's plane, or past an edge of it at v, which tells slivers of one plane apart. Shared
 * edge: they do not overlap in an area when they are not coplanar, or
 * when their third corners lie on opposite sides of the edge. Signs count only beyond an error bound: with r the
 * largest |difference|, a dot product of two differences of sums is off by less than 2e-15 r^2 here, a triple product
 * by less than 5.4e-15 r^3, and a product of two normals by less than 2e-14 r^4.
 */
#include "exact/lane_points.h"
#include "narrow/adjacent.h"

static inline point point_add(point a, point b) {
  return (point){vd_add(a.x, b.x), vd_add(a.y, b.y), vd_add(a.z, b.z)};
}

static inline vm point_same(point a, point b) {
  return vm_and(vm_and(vd_eq(a.x, b.x), vd_eq(a.y, b.y)), vd_eq(a.z, b.z));
}

static inline vd largest(point a, vd so_far) {
  return vd_max(vd_max(so_far, vd_abs(a.x)), vd_max(vd_abs(a.y), vd_abs(a.z)));
}

static inline vm both_above(vd a, vd b, vd bound) {
  return vm_and(vd_gt(a, bound), vd_gt(b, bound));
}

static inline vm both_below(vd a, vd b, vd bound) {
  vd below = vd_neg(bound);
  return vm_and(vd_gt(below, a), vd_gt(below, b));
}

/* Corners as the test of fans needs them: the shared one and the two others. */
typedef struct fan {
  point v, p, q;
} fan;

/* The corner whose mask is set is v. */
static inline fan fan_at(const point t[3], const vm shared[3]) {
  return (fan){point_select(shared[0], t[0], point_select(shared[1], t[1], t[2])),
               point_select(shared[0], t[1], point_select(shared[1], t[2], t[0])),
               point_select(shared[0], t[2], point_select(shared[1], t[0], t[1]))};
}

/* Whether a fan's corners p and q, from another fan's corner v, are past the edge v, ap or the edge v, aq of that other
 * fan, whose normal is n: (ap x n) . x and (n x aq) . x are positive, where its own corners have 0 or -n . n. */
static inline vm past_edges(point n, point ap, point aq, point p, point q, vd bound) {
  vm first = both_above(point_dot(n, point_cross(p, ap)), point_dot(n, point_cross(q, ap)), bound);
  return vm_or(first, both_above(point_dot(n, point_cross(aq, p)), point_dot(n, point_cross(aq, q)), bound));
}

/* Bits of `wanted` in which a and b are not proved to meet only in their shared corner. */
static inline unsigned corner_open(const point a[3], const vm shared_a[3], const point b[3], const vm shared_b[3],
                                   unsigned wanted) {
  fan fa = fan_at(a, shared_a), fb = fan_at(b, shared_b);
  point ap = point_sub(fa.p, fa.v), aq = point_sub(fa.q, fa.v);
  point bp = point_sub(fb.p, fa.v), bq = point_sub(fb.q, fa.v);
  vd r = largest(bq, largest(bp, largest(aq, largest(ap, vd_set(0)))));
  vm usable = vm_and(vd_gt(vd_set(1e70), r), vd_gt(r, vd_set(1e-70)));
  vd r2 = vd_mul(r, r), flat = vd_mul(vd_set(2e-14), r2);
  point d = point_sub(point_add(bp, bq), point_add(ap, aq));
  vm apart = vm_and(both_below(point_dot(d, ap), point_dot(d, aq), flat),
                    both_above(point_dot(d, bp), point_dot(d, bq), flat));
  unsigned open = wanted & ~vm_bits(vm_and(usable, apart));
  if (open == 0) return 0;
  vd deep = vd_mul(vd_mul(vd_set(5.4e-15), r2), r);
  point na = point_cross(ap, aq), nb = point_cross(bp, bq);
  vd sp = point_dot(na, bp), sq = point_dot(na, bq), tp = point_dot(nb, ap), tq = point_dot(nb, aq);
  vm one_side = vm_or(vm_or(both_above(sp, sq, deep), both_below(sp, sq, deep)),
                      vm_or(both_above(tp, tq, deep), both_below(tp, tq, deep)));
  open &= ~vm_bits(vm_and(usable, one_side));
  if (open == 0) return 0;
  vd bound = vd_mul(vd_set(2e-14), vd_mul(r2, r2));
  vm past = vm_or(past_edges(na, ap, aq, bp, bq, bound), past_edges(nb, bp, bq, ap, aq, bound));
  return open & ~vm_bits(vm_and(usable, past));
}

/* Bits of `wanted` in which a and b, which share an edge, are not proved to have no area in common. */
static inline unsigned edge_open(const point a[3], const vm shared_a[3], const point b[3], const vm shared_b[3],
                                 unsigned wanted) {
  /* The corner that is not shared, and the edge in a's order behind it. */
  vm other_a[3], other_b[3];
  for (int k = 0; k < 3; k++) {
    other_a[k] = vm_andnot(vm_all(), shared_a[k]);
    other_b[k] = vm_andnot(vm_all(), shared_b[k]);
  }
  fan fa = fan_at(a, other_a), fb = fan_at(b, other_b);
  point e = point_sub(fa.q, fa.p), pa = point_sub(fa.v, fa.p), pb = point_sub(fb.v, fa.p);
  vd r = largest(pb, largest(pa, largest(e, vd_set(0))));
  vm usable = vm_and(vd_gt(vd_set(1e70), r), vd_gt(r, vd_set(1e-70)));
  vd r2 = vd_mul(r, r);
  point na = point_cross(e, pa);
  vm bent = vd_gt(vd_abs(point_dot(na, pb)), vd_mul(vd_mul(vd_set(5.4e-15), r2), r));
  unsigned open = wanted & ~vm_bits(vm_and(usable, bent));
  if (open == 0) return 0;
  vd turn = point_dot(na, point_cross(e, pb));
  vm opposite = vd_gt(vd_neg(vd_mul(vd_set(4e-14), vd_mul(r2, r2))), turn);
  return open & ~vm_bits(vm_and(usable, opposite));
}

void KERNEL(gz_adjacent_append)(adjacent_pairs *pairs, const posed_node *pa, const posed_node *pb, int j,
                                unsigned places) {
  unsigned n = pairs->count;
  for (int k = 0; k < 9; k++) {
    unsigned to = n;
    vd b = vd_set(pb->corner[k][j]);
    for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
      unsigned here = (places >> at) & ((1u << VD_LANES) - 1);
      lanes_pack(pairs->a[k] + to, pa->corner[k] + at, here, ADJACENT_ROOM - to);
      to += (unsigned)__builtin_popcount(here);
      vd_store(pairs->b[k] + n + at, b);
    }
  }
}

static inline void load_corners(const double (*from)[ADJACENT_ROOM], unsigned at, point t[3]) {
  for (int c = 0; c < 3; c++) {
    t[c] = (point){vd_load(from[3 * c] + at), vd_load(from[3 * c + 1] + at), vd_load(from[3 * c + 2] + at)};
  }
}

static void judge_vector(const adjacent_pairs *pairs, unsigned at, uint8_t *codes) {
  point a[3], b[3];
  vm same_a[3] = {vm_none(), vm_none(), vm_none()}, same_b[3] = {vm_none(), vm_none(), vm_none()};
  load_corners(pairs->a, at, a);
  load_corners(pairs->b, at, b);
  for (int c = 0; c < 3; c++) {
    for (int d = 0; d < 3; d++) {
      vm same = point_same(a[c], b[d]);
      same_a[c] = vm_or(same_a[c], same);
      same_b[d] = vm_or(same_b[d], same);
    }
  }
  vm any = any3(same_a), all = vm_and(vm_and(same_a[0], same_a[1]), same_a[2]);
  vm two = vm_or(vm_or(vm_and(same_a[0], same_a[1]), vm_and(same_a[1], same_a[2])), vm_and(same_a[2], same_a[0]));
  unsigned shared = vm_bits(any), duplicate = vm_bits(all);
  unsigned corner = vm_bits(vm_andnot(any, two)), edge = vm_bits(vm_andnot(two, all));
  if (corner != 0) corner = corner_open(a, same_a, b, same_b, corner);
  if (edge != 0) edge = edge_open(a, same_a, b, same_b, edge);
  for (unsigned k = 0; k < VD_LANES; k++) {
    unsigned code = ((shared >> k) & 1) == 0 ? ADJACENT_NONE : ADJACENT_SETTLED;
    code += ((corner >> k) & 1) * ADJACENT_CORNER + ((edge >> k) & 1) * ADJACENT_EDGE +
            ((duplicate >> k) & 1) * ADJACENT_DUPLICATE;
    codes[at + k] = (uint8_t)code;
  }
}

void KERNEL(gz_adjacent_judge)(const adjacent_pairs *pairs, uint8_t codes[ADJACENT_ROOM]) {
  for (unsigned at = 0; at < pairs->count; at += VD_LANES) judge_vector(pairs, at, codes);
}

/* ---- boxes ---- */

static inline lane_box box_at(const posed_node *p, int at) {
  point t[3];
  for (int c = 0; c < 3; c++) {
    t[c] =
        (point){vd_load(p->corner[3 * c] + at), vd_load(p->corner[3 * c + 1] + at), vd_load(p->corner[3 * c + 2] + at)};
  }
  return box_of(t);
}

uint64_t KERNEL(gz_box_pairs)(const posed_node *pa, const posed_node *pb, uint64_t mask) {
  double low[3][NODE_WIDTH], high[3][NODE_WIDTH];
  for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
    lane_box b = box_at(pb, at);
    vd_store(low[0] + at, b.low.x);
    vd_store(low[1] + at, b.low.y);
    vd_store(low[2] + at, b.low.z);
    vd_store(high[0] + at, b.high.x);
    vd_store(high[1] + at, b.high.y);
    vd_store(high[2] + at, b.high.z);
  }
  uint64_t out = 0;
  for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
    lane_box a = box_at(pa, at);
    for (int j = 0; j < NODE_WIDTH; j++) {
      vm x = vm_and(vd_ge(vd_set(high[0][j]), a.low.x), vd_ge(a.high.x, vd_set(low[0][j])));
      vm y = vm_and(vd_ge(vd_set(high[1][j]), a.low.y), vd_ge(a.high.y, vd_set(low[1][j])));
      vm z = vm_and(vd_ge(vd_set(high[2][j]), a.low.z), vd_ge(a.high.z, vd_set(low[2][j])));
      out |= (uint64_t)vm_bits(vm_and(vm_and(x, y), z)) << (8 * j + at);
    }
  }
  return out & mask;
}
