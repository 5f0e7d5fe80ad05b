/* bench/triangle_pairs.c: the generators. */
#include "triangle_pairs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct maker {
  uint64_t state;
  int64_t grid;
  int64_t a[9], b[9];
} maker;

static uint64_t next(maker *m) {
  m->state += 1;
  return splitmix64(m->state);
}

/* Any of low .. high. */
static int64_t pick(maker *m, int64_t low, int64_t high) {
  return low + (int64_t)(next(m) % (uint64_t)(high - low + 1));
}

static void any_point(maker *m, int64_t *p) {
  for (int k = 0; k < 3; k++) p[k] = pick(m, 0, m->grid);
}

static void any_offset(maker *m, int64_t reach, int64_t *d) {
  for (int k = 0; k < 3; k++) d[k] = pick(m, -reach, reach);
}

static void add(int64_t *out, const int64_t *p, const int64_t *d, int64_t times) {
  for (int k = 0; k < 3; k++) out[k] = p[k] + times * d[k];
}

static void any_pair(maker *m) {
  for (int k = 0; k < 9; k += 3) {
    any_point(m, m->a + k);
    any_point(m, m->b + k);
  }
}

/* A point p that belongs to both by construction: inside the face of a (kind 0, as its centroid), in the middle of its
 * edge (1), or in the middle of an edge of both (2). */
static void touching(maker *m, int kind) {
  int64_t p[3], d[3], e[3], reach = m->grid / 2 > 0 ? m->grid / 2 : 1;
  any_pair(m);
  any_point(m, p);
  any_offset(m, reach, d);
  any_offset(m, reach, e);
  add(m->a, p, d, 1);
  add(m->a + 3, p, kind == 0 ? e : d, kind == 0 ? 1 : -1);
  if (kind == 0) {
    add(m->a + 6, p, d, -1);
    add(m->a + 6, m->a + 6, e, -1);
  }
  if (kind == 2) {
    add(m->b, p, e, 1);
    add(m->b + 3, p, e, -1);
  } else {
    memcpy(m->b, p, sizeof p);
  }
}

static void coplanar(maker *m) {
  int64_t origin[3], u[3], v[3], reach = m->grid / 4 > 0 ? m->grid / 4 : 1;
  any_point(m, origin);
  any_offset(m, reach, u);
  any_offset(m, reach, v);
  for (int k = 0; k < 6; k++) {
    int64_t *corner = k < 3 ? m->a + 3 * k : m->b + 3 * (k - 3);
    add(corner, origin, u, pick(m, -2, 2));
    add(corner, corner, v, pick(m, -2, 2));
  }
}

/* A long thin triangle: its third corner is next to a point of the line through the first two. */
static void sliver(maker *m, int64_t *t, const int64_t *from) {
  int64_t d[3], one[3], eighths = pick(m, 1, 7);
  any_offset(m, m->grid, d);
  any_offset(m, 1, one);
  memcpy(t, from, 3 * sizeof *t);
  add(t + 3, t, d, 1);
  for (int k = 0; k < 3; k++) t[6 + k] = t[k] + d[k] * eighths / 8 + one[k];
}

static void slivers(maker *m) {
  int64_t start[3], one[3];
  any_point(m, start);
  sliver(m, m->a, start);
  any_offset(m, 1, one);
  add(start, m->a + 6, one, 1);
  sliver(m, m->b, start);
  int64_t shift[3]; /* so that the slivers cross along their length, not at an end */
  for (int k = 0; k < 3; k++) shift[k] = (m->b[k] - m->b[3 + k]) * 3 / 8;
  for (int k = 0; k < 9; k += 3) add(m->b + k, m->b + k, shift, 1);
}

static void near_miss(maker *m) {
  int64_t one[3];
  touching(m, (int)pick(m, 0, 2));
  any_offset(m, 1, one);
  for (int k = 0; k < 9; k += 3) add(m->b + k, m->b + k, one, 1);
}

static void degenerate(maker *m) {
  int64_t d[3], shift[3];
  any_pair(m);
  any_offset(m, m->grid / 2 > 0 ? m->grid / 2 : 1, d);
  int64_t kind = pick(m, 0, 3);
  if (kind < 2) memcpy(m->a + 3, m->a, 3 * sizeof *m->a);
  if (kind == 0) memcpy(m->a + 6, m->a, 3 * sizeof *m->a);
  if (kind >= 2) {
    add(m->a + 3, m->a, d, 1);
    add(m->a + 6, m->a, d, pick(m, -1, 2));
  }
  if (pick(m, 0, 3) == 0) memcpy(m->b + 6, m->b, 3 * sizeof *m->b);
  if (pick(m, 0, 1) == 0) return;
  for (int k = 0; k < 3; k++) shift[k] = m->a[k] - m->b[k];
  for (int k = 0; k < 9; k += 3) add(m->b + k, m->b + k, shift, 1);
}

static bool is_flat(const int64_t t[9]) {
  int64_t u[3], v[3];
  for (int k = 0; k < 3; k++) {
    u[k] = t[3 + k] - t[k];
    v[k] = t[6 + k] - t[k];
  }
  return u[1] * v[2] == u[2] * v[1] && u[2] * v[0] == u[0] * v[2] && u[0] * v[1] == u[1] * v[0];
}

static bool is_valid(const maker *m, int kind) {
  for (int k = 0; k < 9; k++)
    if (m->a[k] < 0 || m->a[k] > m->grid || m->b[k] < 0 || m->b[k] > m->grid) return false;
  return (is_flat(m->a) || is_flat(m->b)) == (kind == 9);
}

static void make(maker *m, int kind) {
  do {
    switch (kind) {
      case 3:
        coplanar(m);
        break;
      case 4:
      case 5:
      case 6:
        touching(m, kind - 4);
        break;
      case 7:
        slivers(m);
        break;
      case 8:
        near_miss(m);
        break;
      case 9:
        degenerate(m);
        break;
      default:
        any_pair(m);
        if (kind >= 1) memcpy(m->b, m->a, (size_t)kind * 3 * sizeof *m->a);
    }
  } while (!is_valid(m, kind));
}

/* Corners in another order, so that no test profits from where the special corner stands. */
static void turn_corners(maker *m, int64_t t[9]) {
  int64_t copy[9], first = pick(m, 0, 2), mirrored = pick(m, 0, 1);
  memcpy(copy, t, sizeof copy);
  for (int k = 0; k < 3; k++) memcpy(t + 3 * k, copy + 3 * ((first + (mirrored ? 3 - k : k)) % 3), 3 * sizeof *t);
}

static pair_set room_for(const char *name, uint32_t count) {
  pair_set p = {.count = count};
  snprintf(p.name, sizeof p.name, "%s", name);
  p.corners = must_alloc(18 * (size_t)count, sizeof *p.corners);
  p.answers = must_alloc(count, 1);
  p.classes = must_alloc(count, 1);
  for (int k = 0; k < 18; k++) p.columns[k] = must_alloc(count, sizeof(double));
  return p;
}

static void put(pair_set *p, uint32_t i, const maker *m, int kind, double scale) {
  for (int k = 0; k < 18; k++) {
    double x = scale * (double)(k < 9 ? m->a[k] : m->b[k - 9]);
    p->corners[18 * (size_t)i + k] = p->columns[k][i] = x;
  }
  p->classes[i] = (unsigned char)kind;
  p->answers[i] = integer_triangles_meet(m->a, m->b);
}

pair_set pairs_hard(const char *name, int64_t grid, uint32_t per_class, uint64_t seed) {
  maker m = {.state = splitmix64(seed), .grid = grid};
  pair_set p = room_for(name, PAIR_CLASSES * per_class);
  for (uint32_t i = 0; i < p.count; i++) {
    make(&m, (int)(i / per_class));
    turn_corners(&m, m.a);
    turn_corners(&m, m.b);
    put(&p, i, &m, (int)(i / per_class), 1);
  }
  return p;
}

pair_set pairs_generic(const char *name, int bits, double rejected, uint32_t count, uint64_t seed) {
  maker m = {.state = splitmix64(seed), .grid = (int64_t)1 << bits};
  pair_set p = room_for(name, count);
  for (uint32_t i = 0; i < count; i++) {
    bool reject = (double)(next(&m) >> 11) * 0x1p-53 < rejected;
    do any_pair(&m);
    while (rejected >= 0 && integer_plane_rejects(m.a, m.b) != reject);
    put(&p, i, &m, 0, ldexp(1, -bits));
  }
  return p;
}

void pairs_free(pair_set *p) {
  free(p->corners);
  free(p->answers);
  free(p->classes);
  for (int k = 0; k < 18; k++) free(p->columns[k]);
  *p = (pair_set){0};
}

void pairs_write(const pair_set *p, const char *path) {
  FILE *f = fopen(path, "wb");
  if (!f) fail("%s: %s", path, strerror(errno));
  uint32_t counts[2] = {p->count, 0};
  size_t n = 18 * (size_t)p->count;
  bool good = fwrite(BENCH_PAIRS_MAGIC, 1, 8, f) == 8 && fwrite(counts, 4, 2, f) == 2 &&
              fwrite(p->corners, sizeof *p->corners, n, f) == n;
  if (fclose(f) || !good) fail("%s: could not be written", path);
}
