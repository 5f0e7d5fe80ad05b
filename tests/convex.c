/* Convex solids by trying all triples of points: slow, short, and without a thought in common with the library. */
#include "convex.h"

#include <string.h>

#include "families.h"

static void cross(const int64_t u[3], const int64_t v[3], int64_t out[3]) {
  for (int k = 0; k < 3; k++) out[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
}

static int64_t dot(const int64_t u[3], const int64_t v[3]) {
  return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

static void subtract(const int64_t u[3], const int64_t v[3], int64_t out[3]) {
  for (int k = 0; k < 3; k++) out[k] = u[k] - v[k];
}

/* ---- faces ---- */

/* The plane through points i, j, k, turned so that all points lie behind it; false: no face. */
static bool supporting(const convex *c, int i, int j, int k, convex_face *out) {
  int64_t u[3], v[3];
  int front = 0, behind = 0;
  subtract(c->at[j], c->at[i], u);
  subtract(c->at[k], c->at[i], v);
  cross(u, v, out->n);
  out->offset = dot(out->n, c->at[i]);
  out->points = 0;
  for (int p = 0; p < c->count; p++) {
    int64_t at = dot(out->n, c->at[p]) - out->offset;
    front += at > 0;
    behind += at < 0;
    if (at == 0) out->points |= 1u << p;
  }
  if ((front > 0) == (behind > 0)) return false;
  if (front > 0) {
    for (int d = 0; d < 3; d++) out->n[d] = -out->n[d];
    out->offset = -out->offset;
  }
  return true;
}

bool convex_make(convex *c) {
  c->face_count = 0;
  for (int i = 0; i < c->count; i++) {
    for (int j = i + 1; j < c->count; j++) {
      for (int k = j + 1; k < c->count; k++) {
        convex_face f;
        bool known = false;
        if (!supporting(c, i, j, k, &f)) continue;
        for (int g = 0; g < c->face_count; g++) known |= c->face[g].points == f.points;
        if (!known) c->face[c->face_count++] = f;
      }
    }
  }
  return c->face_count >= 4;
}

/* Corners of a face counterclockwise seen from outside, by going round it: from each corner to the point that has all
 * others of the face on its left, the farthest of those in line. */
static int face_corners(const convex *c, const convex_face *f, int *corners) {
  int start = -1, count = 0;
  for (int p = 0; p < c->count; p++) {
    if ((f->points >> p & 1) == 0) continue;
    bool lower = start < 0;
    for (int d = 0; d < 3 && !lower && start >= 0; d++) {
      if (c->at[p][d] != c->at[start][d]) {
        lower = c->at[p][d] < c->at[start][d];
        break;
      }
    }
    if (lower) start = p;
  }
  int at = start;
  do {
    int next = -1;
    corners[count++] = at;
    for (int p = 0; p < c->count; p++) {
      int64_t u[3], v[3], w[3];
      subtract(c->at[p], c->at[at], u);
      if ((f->points >> p & 1) == 0 || dot(u, u) == 0) continue;
      if (next < 0) {
        next = p;
        continue;
      }
      subtract(c->at[next], c->at[at], v);
      cross(v, u, w);
      int64_t turn = dot(w, f->n);
      if (turn < 0 || (turn == 0 && dot(u, u) > dot(v, v))) next = p;
    }
    at = next;
  } while (memcmp(c->at[at], c->at[start], sizeof c->at[at]) != 0);
  return count;
}

uint32_t convex_surface(const convex *c, uint64_t *state, double *corners) {
  double *out = corners;
  for (int f = 0; f < c->face_count; f++) {
    int at[CONVEX_POINTS];
    int count = face_corners(c, &c->face[f], at);
    int turn = (int)random_below(state, (uint32_t)count);
    for (int i = 1; i + 1 < count; i++) {
      const int three[3] = {at[turn], at[(turn + i) % count], at[(turn + i + 1) % count]};
      for (int k = 0; k < 9; k++) *out++ = (double)c->at[three[k / 3]][k % 3];
    }
  }
  return (uint32_t)((out - corners) / 9);
}

/* ---- the relation ---- */

/* The gap between a and b along n, with b ahead. */
static int64_t gap(const convex *a, const convex *b, const int64_t n[3]) {
  int64_t high = dot(n, a->at[0]), low = dot(n, b->at[0]);
  for (int i = 1; i < a->count; i++) high = dot(n, a->at[i]) > high ? dot(n, a->at[i]) : high;
  for (int i = 1; i < b->count; i++) low = dot(n, b->at[i]) < low ? dot(n, b->at[i]) : low;
  return low - high;
}

static void try_normal(const convex *a, const convex *b, const int64_t n[3], bool *apart, bool *touch) {
  if (dot(n, n) == 0) return;
  int64_t ahead = gap(a, b, n), back = gap(b, a, n);
  *apart |= ahead > 0 || back > 0;
  *touch |= ahead == 0 || back == 0;
}

static bool contains(const convex *outer, const convex *inner) {
  for (int f = 0; f < outer->face_count; f++) {
    for (int p = 0; p < inner->count; p++) {
      if (dot(outer->face[f].n, inner->at[p]) > outer->face[f].offset) return false;
    }
  }
  return true;
}

graze_relation convex_relation(const convex *a, const convex *b) {
  bool apart = false, touch = false;
  for (int f = 0; f < a->face_count; f++) try_normal(a, b, a->face[f].n, &apart, &touch);
  for (int f = 0; f < b->face_count; f++) try_normal(a, b, b->face[f].n, &apart, &touch);
  for (int i = 0; i < a->count * a->count && !apart; i++) {
    for (int j = 0; j < b->count * b->count && !apart; j++) {
      int64_t u[3], v[3], n[3];
      if (i / a->count >= i % a->count || j / b->count >= j % b->count) continue;
      subtract(a->at[i / a->count], a->at[i % a->count], u);
      subtract(b->at[j / b->count], b->at[j % b->count], v);
      cross(u, v, n);
      try_normal(a, b, n, &apart, &touch);
    }
  }
  if (apart) return GRAZE_SEPARATE;
  if (touch) return GRAZE_TOUCH;
  bool a_in_b = contains(b, a), b_in_a = contains(a, b);
  return a_in_b && b_in_a ? GRAZE_DUPLICATE : a_in_b ? GRAZE_A_IN_B : b_in_a ? GRAZE_B_IN_A : GRAZE_CROSS;
}
