/* bench/reference.c: sort and sweep in stripes. The box pairs of a stripe are found by two one-way scans along x; a
 * pair belongs to the stripe in which its overlap along y begins, so that no pair is seen twice. */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

#define STRIPES 256

typedef struct box {
  double low[3], high[3];
  uint32_t number;
} box;

typedef struct corners {
  uint32_t count;
  double (*triangles)[9];
  box *boxes;
} corners;

typedef void (*found_function)(void *argument, uint32_t i, uint32_t j);

static void make_box(const double t[9], uint32_t number, box *out) {
  out->number = number;
  for (int k = 0; k < 3; k++) {
    out->low[k] = out->high[k] = t[k];
    for (int c = 1; c < 3; c++) {
      double x = t[3 * c + k];
      if (x < out->low[k]) out->low[k] = x;
      if (x > out->high[k]) out->high[k] = x;
    }
  }
}

static corners corners_of(const model *m, const double pose[12]) {
  corners c = {.count = m->triangle_count};
  c.triangles = must_alloc(c.count, sizeof *c.triangles);
  c.boxes = must_alloc(c.count, sizeof *c.boxes);
  for (uint32_t i = 0; i < c.count; i++) {
    for (int k = 0; k < 9; k++) {
      const float *p = m->vertices + 3 * (size_t)m->indices[3 * (size_t)i + (size_t)k / 3];
      const double *row = pose ? pose + 4 * (k % 3) : NULL;
      c.triangles[i][k] = row ? ((row[0] * p[0] + row[1] * p[1]) + row[2] * p[2]) + row[3] : p[k % 3];
    }
    make_box(c.triangles[i], i, &c.boxes[i]);
  }
  return c;
}

static void corners_free(corners *c) {
  free(c->triangles);
  free(c->boxes);
}

typedef struct stripes {
  double low, width;
} stripes;

static int stripe_of(const stripes *s, double y) {
  double at = s->width > 0 ? (y - s->low) / s->width : 0;
  return at < 0 ? 0 : at >= STRIPES ? STRIPES - 1 : (int)at;
}

static int by_low(const void *a, const void *b) {
  const box *x = a, *y = b;
  return (x->low[0] > y->low[0]) - (x->low[0] < y->low[0]);
}

/* Copies the boxes that reach into stripe `at`, sorted along x. */
static box *collect(const corners *c, const stripes *s, int at, uint32_t *count) {
  uint32_t n = 0;
  for (int pass = 0;; pass++) {
    box *out = pass ? must_alloc(n, sizeof *out) : NULL;
    n = 0;
    for (uint32_t i = 0; i < c->count; i++) {
      if (stripe_of(s, c->boxes[i].low[1]) > at || stripe_of(s, c->boxes[i].high[1]) < at) continue;
      if (out) out[n] = c->boxes[i];
      n++;
    }
    if (!out) continue;
    qsort(out, n, sizeof *out, by_low);
    *count = n;
    return out;
  }
}

static bool overlap(const box *a, const box *b, int k) {
  return a->low[k] <= b->high[k] && b->low[k] <= a->high[k];
}

/* Everything in `list` (sorted, from its first on) that begins within `one`. */
static void scan(const box *one, const box *list, uint32_t count, const stripes *s, int at, bool swapped,
                 found_function found, void *argument) {
  for (uint32_t k = 0; k < count && list[k].low[0] <= one->high[0]; k++) {
    if (!overlap(one, &list[k], 1) || !overlap(one, &list[k], 2)) continue;
    double begin = one->low[1] > list[k].low[1] ? one->low[1] : list[k].low[1];
    if (stripe_of(s, begin) != at) continue;
    found(argument, swapped ? list[k].number : one->number, swapped ? one->number : list[k].number);
  }
}

static stripes stripes_over(const corners *a) {
  double low = 1e300, high = -1e300;
  for (uint32_t i = 0; i < a->count; i++) {
    low = a->boxes[i].low[1] < low ? a->boxes[i].low[1] : low;
    high = a->boxes[i].high[1] > high ? a->boxes[i].high[1] : high;
  }
  return (stripes){low, (high - low) / STRIPES};
}

static void sweep(const corners *a, const corners *b, found_function found, void *argument) {
  stripes s = stripes_over(a);
  for (int at = 0; at < STRIPES; at++) {
    uint32_t n, m, i = 0, j = 0;
    box *x = collect(a, &s, at, &n), *y = collect(b, &s, at, &m);
    while (i < n && j < m) {
      if (x[i].low[0] <= y[j].low[0]) {
        scan(&x[i], y + j, m - j, &s, at, false, found, argument);
        i++;
      } else {
        scan(&y[j], x + i, n - i, &s, at, true, found, argument);
        j++;
      }
    }
    free(x);
    free(y);
  }
}

typedef struct tally {
  const corners *a, *b;
  reference all, disjoint; /* disjoint: of triangles without a common corner, of boxes with inner points in common */
} tally;

static void note(reference *r, uint32_t i, uint32_t j) {
  r->count++;
  r->hash += hash_of_pair(i, j);
}

static graze_tritri decide(const tally *t, uint32_t i, uint32_t j) {
  graze_tritri result;
  must(graze_tritri_test(t->a->triangles[i], t->b->triangles[j], &result), "scalar triangle test");
  return result;
}

static void on_candidate(void *argument, uint32_t i, uint32_t j) {
  tally *t = argument;
  if (decide(t, i, j).kind != GRAZE_KIND_NONE) note(&t->all, i, j);
}

reference reference_pairs(const model *a, const model *b, const double pose[12]) {
  corners x = corners_of(a, NULL), y = corners_of(b, pose);
  tally t = {.a = &x, .b = &y};
  sweep(&x, &y, on_candidate, &t);
  corners_free(&x);
  corners_free(&y);
  return t.all;
}

static void on_boxes(void *argument, uint32_t i, uint32_t j) {
  if (i < j) note(&((tally *)argument)->all, i, j);
}

reference reference_boxes(const model *m) {
  corners x = corners_of(m, NULL);
  tally t = {.a = &x, .b = &x};
  sweep(&x, &x, on_boxes, &t);
  corners_free(&x);
  return t.all;
}

static bool touch(const box *a, const box *b) {
  for (int k = 0; k < 3; k++)
    if (a->low[k] == b->high[k] || b->low[k] == a->high[k]) return true;
  return false;
}

static void on_float_boxes(void *argument, uint32_t i, uint32_t j) {
  tally *t = argument;
  if (i >= j) return;
  note(&t->all, i, j);
  if (!touch(&t->a->boxes[i], &t->a->boxes[j])) note(&t->disjoint, i, j);
}

reference_touching reference_float_boxes(const float *boxes, uint32_t count) {
  corners x = {.count = count, .boxes = must_alloc(count, sizeof *x.boxes)};
  for (uint32_t i = 0; i < count; i++) {
    x.boxes[i].number = i;
    for (size_t k = 0; k < 3; k++) {
      x.boxes[i].low[k] = (double)boxes[6 * (size_t)i + k];
      x.boxes[i].high[k] = (double)boxes[6 * (size_t)i + 3 + k];
    }
  }
  tally t = {.a = &x, .b = &x};
  sweep(&x, &x, on_float_boxes, &t);
  corners_free(&x);
  return (reference_touching){t.all, t.disjoint};
}

/* How many positions two triangles have in common, by value. */
static int common_corners(const double a[9], const double b[9]) {
  int n = 0;
  for (int i = 0; i < 9; i += 3)
    for (int j = 0; j < 9; j += 3) n += a[i] == b[j] && a[i + 1] == b[j + 1] && a[i + 2] == b[j + 2];
  return n;
}

static void on_self(void *argument, uint32_t i, uint32_t j) {
  tally *t = argument;
  if (i >= j) return;
  graze_tritri result = decide(t, i, j);
  if (result.degenerate) return;
  int common = common_corners(t->a->triangles[i], t->b->triangles[j]);
  bool counts = common == 0   ? result.kind != GRAZE_KIND_NONE
                : common == 1 ? result.kind > GRAZE_KIND_POINT
                : common == 2 ? result.kind == GRAZE_KIND_AREA
                              : true;
  if (!counts) return;
  note(&t->all, i, j);
  if (!common) note(&t->disjoint, i, j);
}

reference_self reference_self_pairs(const model *m) {
  corners x = corners_of(m, NULL);
  tally t = {.a = &x, .b = &x};
  sweep(&x, &x, on_self, &t);
  corners_free(&x);
  return (reference_self){t.all, t.disjoint};
}
