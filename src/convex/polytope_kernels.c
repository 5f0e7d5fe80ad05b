/* Growing a polytope: a step looks along the normal of the nearest face, which takes a pass over all vertices, finds
 * the faces that see the new point, and lets new ones lead to it from the rim of what they cover, eight at a time.
 */
#include "convex/farthest.h"
#include "convex/polytope.h"

/* ---- new faces -------------------------------------------------------------------------------------------------- */

typedef struct rim {
  uint32_t count;
  uint8_t from[POLYTOPE_FACES], to[POLYTOPE_FACES]; /* edges, as the new faces have them */
} rim;

/* Eight more slots, without faces. */
static void lay_out(polytope *t) {
  for (int i = 0; i < 8; i++, t->slots++) {
    for (int k = 0; k < 3; k++) t->n[k][t->slots] = 0;
    t->height[t->slots] = t->lower[t->slots] = (double)INFINITY;
  }
}

static uint64_t free_slots(const polytope *t) {
  return ~t->there & (t->slots == POLYTOPE_FACES ? UINT64_MAX : ((uint64_t)1 << t->slots) - 1);
}

typedef struct new_faces {
  double n[3][8], height[8], lower[8];
} new_faces;

/* Of eight triangles a, b, apex. */
static inline void measure(const polytope *t, double a[3][8], double b[3][8], const double apex[3], new_faces *out) {
  for (int i = 0; i < 8; i += VD_LANES) {
    vd u[3], v[3], n[3];
    for (int k = 0; k < 3; k++) {
      u[k] = vd_sub(vd_load(a[k] + i), vd_set(apex[k]));
      v[k] = vd_sub(vd_load(b[k] + i), vd_set(apex[k]));
    }
    for (int k = 0; k < 3; k++) {
      const int j = (k + 1) % 3, l = (k + 2) % 3;
      n[k] = vd_sub(vd_mul(u[j], v[l]), vd_mul(u[l], v[j]));
      vd_store(out->n[k] + i, n[k]);
    }
    const vd length = vd_sqrt(vd_add(vd_add(vd_mul(n[0], n[0]), vd_mul(n[1], n[1])), vd_mul(n[2], n[2])));
    const vd height =
        vd_add(vd_add(vd_mul(n[0], vd_set(apex[0])), vd_mul(n[1], vd_set(apex[1]))), vd_mul(n[2], vd_set(apex[2])));
    const vd lower = vd_sub(vd_div(vd_sub(height, vd_set(t->lost)), length), vd_set(t->off));
    const vm is_wide = vd_gt(vd_mul(length, vd_set(0.25)), vd_set(t->turn));
    vd_store(out->height + i, height);
    vd_store(out->lower + i, vd_select(is_wide, lower, vd_set(-(double)INFINITY)));
  }
}

/* Faces from edges begin.. of the rim to the point, eight at most. */
static void add_eight(polytope *t, const rim *r, uint32_t begin, uint32_t apex) {
  double a[3][8], b[3][8];
  new_faces made;
  const uint32_t count = r->count - begin < 8 ? r->count - begin : 8;
  for (uint32_t i = 0; i < 8; i++) {
    const uint32_t edge = begin + (i < count ? i : 0);
    const double *from = t->p[r->from[edge]].w, *to = t->p[r->to[edge]].w;
    for (int k = 0; k < 3; k++) a[k][i] = from[k], b[k][i] = to[k];
  }
  measure(t, a, b, t->p[apex].w, &made);
  uint64_t room = free_slots(t);
  for (uint32_t i = 0; i < count; i++, room &= room - 1) {
    const int slot = __builtin_ctzll(room);
    for (int k = 0; k < 3; k++) t->n[k][slot] = made.n[k][i];
    t->height[slot] = made.height[i];
    t->lower[slot] = made.lower[i];
    t->corners[slot][0] = r->from[begin + i], t->corners[slot][1] = r->to[begin + i];
    t->corners[slot][2] = (uint8_t)apex;
    t->there |= (uint64_t)1 << slot;
  }
}

static bool add_faces(polytope *t, const rim *r, uint32_t apex) {
  while ((uint32_t)__builtin_popcountll(free_slots(t)) < r->count) {
    if (t->slots == POLYTOPE_FACES) return false;
    lay_out(t);
  }
  for (uint32_t i = 0; i < r->count; i += 8) add_eight(t, r, i, apex);
  return true;
}

static void begin(polytope *t) {
  const rim bottom = {1, {0}, {1}}, sides = {3, {0, 1, 2}, {2, 0, 1}};
  t->slots = 0;
  t->count = 4;
  for (int i = 0; i < POLYTOPE_POINTS; i++) t->edges[i] = 0;
  add_faces(t, &bottom, 2);
  add_faces(t, &sides, 3);
}

/* ---- growth ----------------------------------------------------------------------------------------------------- */

/* The face with the least lower end, of equal ones the first. */
static uint32_t find_nearest(const polytope *t) {
  vd least = vd_load(t->lower);
  for (uint32_t i = VD_LANES; i < t->slots; i += VD_LANES) least = vd_min(least, vd_load(t->lower + i));
  least = vd_set(-greatest(vd_neg(least)));
  for (uint32_t i = 0; i < t->slots; i += VD_LANES) {
    const unsigned equal = vm_bits(vd_eq(vd_load(t->lower + i), least));
    if (equal != 0) return i + (uint32_t)__builtin_ctz(equal);
  }
  return 0;
}

static uint64_t find_seen(const polytope *t, const double w[3]) {
  const double *const n[3] = {t->n[0], t->n[1], t->n[2]};
  const vd at[3] = {vd_set(w[0]), vd_set(w[1]), vd_set(w[2])};
  uint64_t seen = 0;
  for (uint32_t i = 0; i < t->slots; i += VD_LANES)
    vm_put(&seen, i, vd_gt(product_lanes(at, n, i), vd_load(t->height + i)));
  return seen;
}

/* The edges of what is seen whose other side is not. False: an edge is there twice in one direction. */
static bool find_rim(polytope *t, uint64_t seen, rim *r) {
  bool good = true;
  r->count = 0;
  for (uint64_t left = seen; left != 0; left &= left - 1) {
    const uint8_t *v = t->corners[__builtin_ctzll(left)];
    for (int i = 0; i < 3; i++) {
      const uint64_t bit = (uint64_t)1 << v[(i + 1) % 3];
      good = good && (t->edges[v[i]] & bit) == 0;
      t->edges[v[i]] |= bit;
    }
  }
  for (uint64_t left = seen; left != 0; left &= left - 1) {
    const uint8_t *v = t->corners[__builtin_ctzll(left)];
    for (int i = 0; i < 3; i++) {
      const uint8_t from = v[i], to = v[(i + 1) % 3];
      if (t->edges[to] >> from & 1) continue;
      if (r->count == POLYTOPE_FACES) return false;
      r->from[r->count] = from, r->to[r->count++] = to;
    }
  }
  for (uint64_t left = seen; left != 0; left &= left - 1) {
    for (int i = 0; i < 3; i++) t->edges[t->corners[__builtin_ctzll(left)][i]] = 0;
  }
  return good;
}

static bool grow(polytope *t, const convex_point *p) {
  rim r;
  if (t->count == POLYTOPE_POINTS) return false;
  const uint64_t seen = find_seen(t, p->w) | (uint64_t)1 << t->nearest;
  if (!find_rim(t, seen, &r)) return false;
  for (uint64_t left = seen; left != 0; left &= left - 1) {
    const int face = __builtin_ctzll(left);
    t->height[face] = t->lower[face] = (double)INFINITY;
  }
  t->there &= ~seen;
  t->known &= ~seen;
  t->p[t->count++] = *p;
  return add_faces(t, &r, t->count - 1);
}

static bool has_point(const polytope *t, const convex_point *p) {
  bool found = false;
  for (uint32_t i = 0; i < t->count; i++) found |= t->p[i].v[0] == p->v[0] && t->p[i].v[1] == p->v[1];
  return found;
}

/* The point of A - B farthest along the normal of the nearest face. False: it is not beyond it. */
static bool look_beyond(polytope *t, const convex_pair *pair, convex_point *p) {
  const uint32_t at = t->nearest;
  const double n[3] = {t->n[0][at], t->n[1][at], t->n[2][at]}, against[3] = {-n[0], -n[1], -n[2]};
  const extreme a = farthest(pair->support.y[0], pair->support.lanes[0], n);
  const extreme b = farthest(pair->support.y[1], pair->support.lanes[1], against);
  const double product = a.value + b.value, length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  const double slop = fabs(n[0]) * pair->slop[0] + fabs(n[1]) * pair->slop[1] + fabs(n[2]) * pair->slop[2] + 0x1p-1060;
  const double upper = (product + slop) / length * (1 + 0x1p-50);
  if (upper < t->upper) t->upper = upper;
  *p = (convex_point){.v = {a.vertex, b.vertex}};
  for (int k = 0; k < 3; k++) {
    p->w[k] = pair->scale * pair->side[0].x[k][a.vertex] - pair->scale * pair->side[1].x[k][b.vertex];
  }
  return product - t->height[at] > 0.25 * pair->tolerance * length && !has_point(t, p);
}

bool KERNEL(gz_convex_polytope)(polytope *t, const convex_pair *pair) {
  convex_point p;
  if (t->there == 0) begin(t);
  for (;;) {
    t->nearest = find_nearest(t);
    if (t->known >> t->nearest & 1 || !look_beyond(t, pair, &p)) return true;
    if (!grow(t, &p)) return false;
  }
}
