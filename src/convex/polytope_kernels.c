/* Growing a polytope: a step looks along the normal of the nearest face, which takes a pass over all vertices, finds
 * the faces that see the new point, and lets new ones lead to it from the rim of what they cover. Passes go over lanes.
 * New faces, some seven, are made one by one: to lay them out in lanes takes longer, as a vector that is read soon
 * after its parts were written has to wait for them.
 */
#include "base/vector3.h"
#include "convex/farthest.h"
#include "convex/polytope.h"

/* ---- faces ------------------------------------------------------------------------------------------------------ */

static void lay_out_eight(polytope *t) {
  for (int i = 0; i < 8; i++, t->slots++) {
    for (int k = 0; k < 3; k++) t->n[k][t->slots] = 0;
    t->height[t->slots] = t->lower[t->slots] = 0;
  }
}

static uint64_t free_slots(const polytope *t) {
  return ~t->there & (t->slots == POLYTOPE_FACES ? UINT64_MAX : ((uint64_t)1 << t->slots) - 1);
}

static void make_face(polytope *t, uint32_t slot, uint8_t a, uint8_t b, uint8_t c) {
  const double *w = t->p[c].w;
  double u[3], v[3], n[3];
  sub3(t->p[a].w, w, u);
  sub3(t->p[b].w, w, v);
  cross3(u, v, n);
  const double length = length3(n), height = dot3(n, w);
  const bool is_wide = 0.25 * length > t->turn;
  for (int k = 0; k < 3; k++) t->n[k][slot] = n[k];
  t->height[slot] = height;
  t->lower[slot] = is_wide ? (height - t->lost) / length - t->off : -(double)INFINITY;
  t->corners[slot][0] = a;
  t->corners[slot][1] = b;
  t->corners[slot][2] = c;
}

static void begin(polytope *t) {
  static const uint8_t corners[4][3] = {{0, 1, 2}, {0, 2, 3}, {1, 0, 3}, {2, 1, 3}};
  t->slots = 0;
  t->count = 4;
  t->there = 15;
  t->nearest = 0;
  for (int i = 0; i < POLYTOPE_POINTS; i++) t->edges[i] = 0;
  lay_out_eight(t);
  for (uint32_t i = 0; i < 4; i++) make_face(t, i, corners[i][0], corners[i][1], corners[i][2]);
}

/* The face with the least lower end, of equal ones the first. */
static uint32_t find_nearest(const polytope *t) {
  const vd infinite = vd_set((double)INFINITY);
  vd least = infinite;
  for (uint32_t i = 0; i < t->slots; i += VD_LANES) {
    least = vd_min(least, vd_select(vm_from((unsigned)(t->there >> i)), vd_load(t->lower + i), infinite));
  }
  least = vd_set(-greatest(vd_neg(least)));
  uint64_t equal = 0;
  for (uint32_t i = 0; i < t->slots; i += VD_LANES) vm_put(&equal, i, vd_eq(vd_load(t->lower + i), least));
  equal &= t->there;
  return equal != 0 ? (uint32_t)__builtin_ctzll(equal) : POLYTOPE_FACES;
}

/* ---- growth ----------------------------------------------------------------------------------------------------- */

static uint64_t find_seen(const polytope *t, const double w[3]) {
  const double *const n[3] = {t->n[0], t->n[1], t->n[2]};
  const vd at[3] = {vd_set(w[0]), vd_set(w[1]), vd_set(w[2])};
  uint64_t seen = 0;
  for (uint32_t i = 0; i < t->slots; i += VD_LANES) {
    vm_put(&seen, i, vd_gt(product_lanes(at, n, i), vd_load(t->height + i)));
  }
  return (seen & t->there) | (uint64_t)1 << t->nearest;
}

/* There is room for all edges of all faces. */
typedef struct rim {
  uint32_t count;
  uint8_t from[3 * POLYTOPE_FACES + 1], to[3 * POLYTOPE_FACES + 1];
} rim;

/* The edges of what is seen whose other side is not. False: an edge is there twice in one direction. */
static bool find_rim(polytope *t, uint64_t seen, rim *r) {
  uint64_t twice = 0;
  r->count = 0;
  for (uint64_t left = seen; left != 0; left &= left - 1) {
    const uint8_t *v = t->corners[__builtin_ctzll(left)];
    for (int i = 0; i < 3; i++) {
      const uint64_t bit = (uint64_t)1 << v[(i + 1) % 3];
      twice |= t->edges[v[i]] & bit;
      t->edges[v[i]] |= bit;
    }
  }
  for (uint64_t left = seen; left != 0; left &= left - 1) {
    const uint8_t *v = t->corners[__builtin_ctzll(left)];
    for (int i = 0; i < 3; i++) { /* without branches, which would go either way */
      r->from[r->count] = v[i];
      r->to[r->count] = v[(i + 1) % 3];
      r->count += ~t->edges[v[(i + 1) % 3]] >> v[i] & 1;
    }
  }
  for (uint64_t left = seen; left != 0; left &= left - 1) {
    for (int i = 0; i < 3; i++) t->edges[t->corners[__builtin_ctzll(left)][i]] = 0;
  }
  return twice == 0;
}

/* Towards a new point. The nearest face among those that stay is looked for first, while vectors of them have long been
 * written. */
static bool grow(polytope *t, const convex_point *p) {
  rim r;
  const uint64_t seen = find_seen(t, p->w);
  if (t->count == POLYTOPE_POINTS || !find_rim(t, seen, &r)) return false;
  t->there &= ~seen;
  t->known &= ~seen;
  t->p[t->count++] = *p;
  uint32_t best = find_nearest(t);
  double least = best < POLYTOPE_FACES ? t->lower[best] : (double)INFINITY;
  while ((uint32_t)__builtin_popcountll(free_slots(t)) < r.count) {
    if (t->slots == POLYTOPE_FACES) return false;
    lay_out_eight(t);
  }
  for (uint32_t i = 0; i < r.count; i++) {
    const uint32_t slot = (uint32_t)__builtin_ctzll(free_slots(t));
    make_face(t, slot, r.from[i], r.to[i], (uint8_t)(t->count - 1));
    t->there |= (uint64_t)1 << slot;
    const bool is_nearer = t->lower[slot] < least;
    least = is_nearer ? t->lower[slot] : least;
    best = is_nearer ? slot : best;
  }
  t->nearest = best;
  return best < POLYTOPE_FACES;
}

/* The point of A - B farthest along the normal of the nearest face. False: it is not beyond it. */
static bool look_beyond(polytope *t, const convex_pair *pair, convex_point *p) {
  const uint32_t at = t->nearest;
  const double n[3] = {t->n[0][at], t->n[1][at], t->n[2][at]}, against[3] = {-n[0], -n[1], -n[2]};
  const extreme a = farthest(pair->support.y[0], pair->support.lanes[0], n);
  const extreme b = farthest(pair->support.y[1], pair->support.lanes[1], against);
  const double product = a.value + b.value, length = length3(n);
  const double slop = fabs(n[0]) * pair->slop[0] + fabs(n[1]) * pair->slop[1] + fabs(n[2]) * pair->slop[2] + 0x1p-1060;
  const double upper = (product + slop) / length * (1 + 0x1p-50);
  if (upper < t->upper) t->upper = upper;
  *p = (convex_point){.v = {a.vertex, b.vertex}};
  for (int k = 0; k < 3; k++) {
    p->w[k] = pair->scale * pair_x(pair, 0, a.vertex, k) - pair->scale * pair_x(pair, 1, b.vertex, k);
  }
  for (int i = 0; i < 3; i++) {
    const uint32_t *corner = t->p[t->corners[at][i]].v;
    if (corner[0] == a.vertex && corner[1] == b.vertex) return false;
  }
  return product - t->height[at] > 0.25 * pair->tolerance * length;
}

bool KERNEL(gz_convex_polytope)(polytope *t, const convex_pair *pair) {
  convex_point p;
  if (t->there == 0) begin(t);
  t->nearest = find_nearest(t);
  while (!(t->known >> t->nearest & 1) && look_beyond(t, pair, &p)) {
    if (!grow(t, &p)) return false;
  }
  return true;
}
