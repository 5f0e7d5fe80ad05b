/* The order of elimination is that of least degree (Tinney and Walker 1967), found on a matrix of bits. */
#include "rigid/factor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Above this many bodies the matrix of bits is too large, and above this many products of blocks a body the factor. */
enum { MOST_WHOLE = 2048, MOST_PRODUCTS = 200 };

/* ---- the plan -------------------------------------------------------------------------------------------------- */

typedef struct bits {
  uint64_t *words;
  uint32_t stride;
} bits;

static uint64_t *row_of(const bits *b, uint32_t i) {
  return b->words + (size_t)i * b->stride;
}

static void join(const bits *b, uint32_t i, uint32_t j) {
  row_of(b, i)[j / 64] |= UINT64_C(1) << j % 64;
  row_of(b, j)[i / 64] |= UINT64_C(1) << i % 64;
}

static uint32_t degree_of(const bits *b, uint32_t i) {
  uint32_t degree = 0;
  for (uint32_t w = 0; w < b->stride; w++) degree += (uint32_t)__builtin_popcountll(row_of(b, i)[w]);
  return degree;
}

/* Takes i out: its neighbours become neighbours of each other. */
static void eliminate(const bits *b, uint32_t i, uint32_t *degrees) {
  const uint64_t *mine = row_of(b, i);
  for (uint32_t w = 0; w < b->stride; w++) {
    for (uint64_t left = mine[w]; left != 0; left &= left - 1) {
      const uint32_t j = 64 * w + (uint32_t)__builtin_ctzll(left);
      uint64_t *other = row_of(b, j);
      for (uint32_t v = 0; v < b->stride; v++) other[v] |= mine[v];
      other[i / 64] &= ~(UINT64_C(1) << i % 64);
      other[j / 64] &= ~(UINT64_C(1) << j % 64);
      degrees[j] = degree_of(b, j);
    }
  }
}

/* The order, and how many blocks and products of blocks the whole factor has. Rows of the bits are the neighbours that
 * are eliminated later. */
static uint64_t order_by_degree(const bits *b, uint32_t count, uint32_t *degrees, uint32_t *place, uint64_t *products) {
  uint64_t entries = 0;
  *products = 0;
  for (uint32_t i = 0; i < count; i++) {
    degrees[i] = degree_of(b, i);
    place[i] = UINT32_MAX;
  }
  for (uint32_t k = 0; k < count; k++) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
      if (place[i] == UINT32_MAX && (best == UINT32_MAX || degrees[i] < degrees[best])) best = i;
    }
    const uint64_t degree = degrees[best];
    place[best] = k;
    entries += degree;
    *products += degree * (degree + 1) / 2;
    if (*products > (uint64_t)MOST_PRODUCTS * count) return entries;
    eliminate(b, best, degrees);
  }
  return entries;
}

static int compare_rows(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void fill_whole(const bits *b, const uint32_t *order, factor_pattern *p) {
  uint64_t at = 0;
  for (uint32_t k = 0; k < p->count; k++) {
    p->first[k] = at;
    for (uint32_t w = 0; w < b->stride; w++) {
      for (uint64_t left = row_of(b, order[k])[w]; left != 0; left &= left - 1)
        p->rows[at++] = p->place[64 * w + (uint32_t)__builtin_ctzll(left)];
    }
    qsort(p->rows + p->first[k], at - p->first[k], sizeof *p->rows, compare_rows);
  }
  p->first[p->count] = at;
}

/* In the order of the bodies, with nothing but the pairs. */
static void fill_bare(const uint32_t (*pairs)[2], uint64_t pair_count, factor_pattern *p) {
  for (uint32_t i = 0; i < p->count; i++) p->place[i] = i;
  memset(p->first, 0, ((size_t)p->count + 1) * sizeof *p->first);
  for (uint64_t i = 0; i < pair_count; i++) p->first[pairs[i][0] + 1]++;
  for (uint32_t i = 0; i < p->count; i++) p->first[i + 1] += p->first[i];
  for (uint64_t i = 0; i < pair_count; i++) p->rows[p->first[pairs[i][0]]++] = pairs[i][1];
  uint64_t from = 0, to = 0;
  for (uint32_t i = 0; i < p->count; i++) {
    const uint64_t end = p->first[i], start = to;
    qsort(p->rows + from, end - from, sizeof *p->rows, compare_rows);
    for (; from < end; from++) {
      if (to == start || p->rows[to - 1] != p->rows[from]) p->rows[to++] = p->rows[from];
    }
    p->first[i] = start;
  }
  p->first[p->count] = p->entries = to;
  p->whole = false;
}

static void carve(factor_pattern *p, char *memory, size_t *used, uint64_t entries) {
  carving c = {memory, *used};
  p->place = gz_carve(&c, p->count * sizeof *p->place);
  p->first = gz_carve(&c, ((size_t)p->count + 1) * sizeof *p->first);
  p->rows = gz_carve(&c, (entries + 1) * sizeof *p->rows);
  *used = c.used;
}

bool gz_factor_plan(const graze_context *context, uint32_t count, const uint32_t (*pairs)[2], uint64_t pair_count,
                    buffer *memory, factor_pattern *p) {
  const bool tries = count <= MOST_WHOLE;
  const size_t stride = tries ? (count + 63) / 64 : 0, bit_bytes = count * stride * sizeof(uint64_t);
  const size_t numbers = 3 * (size_t)count * sizeof(uint32_t);
  size_t used = (bit_bytes + numbers + 63) / 64 * 64;
  uint64_t entries = pair_count;
  *p = (factor_pattern){.count = count, .whole = tries};
  if (!gz_buffer_reserve(context, memory, used, 0)) return false;
  bits b = {memory->data, (uint32_t)stride};
  uint32_t *degrees = (uint32_t *)((char *)memory->data + bit_bytes), *place = degrees + count;
  if (tries) {
    uint64_t products;
    memset(b.words, 0, bit_bytes);
    for (uint64_t i = 0; i < pair_count; i++) join(&b, pairs[i][0], pairs[i][1]);
    entries = order_by_degree(&b, count, degrees, place, &products);
    p->whole = products <= (uint64_t)MOST_PRODUCTS * count;
    if (!p->whole) entries = pair_count;
  }
  size_t end = used;
  carve(p, NULL, &end, entries);
  if (!gz_buffer_reserve(context, memory, end, used)) return false;
  b.words = memory->data;
  degrees = (uint32_t *)((char *)memory->data + bit_bytes);
  place = degrees + count;
  carve(p, memory->data, &used, entries);
  if (!p->whole) {
    fill_bare(pairs, pair_count, p);
    return true;
  }
  uint32_t *order = place + count;
  memcpy(p->place, place, count * sizeof *place);
  for (uint32_t i = 0; i < count; i++) order[place[i]] = i;
  p->entries = entries;
  fill_whole(&b, order, p);
  return true;
}

uint64_t gz_factor_find(const factor_pattern *p, uint32_t row, uint32_t column) {
  uint64_t low = p->first[column], high = p->first[column + 1];
  while (low + 1 < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (p->rows[middle] <= row)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* ---- the numbers ----------------------------------------------------------------------------------------------- */

static bool factor_block(double *m) {
  for (int j = 0; j < 6; j++) {
    double d = m[7 * j];
    const double whole = d;
    for (int k = 0; k < j; k++) d -= m[6 * j + k] * m[6 * j + k];
    if (!(d > 1e-14 * whole)) return false;
    d = sqrt(d);
    m[7 * j] = d;
    for (int i = j + 1; i < 6; i++) {
      double x = m[6 * i + j];
      for (int k = 0; k < j; k++) x -= m[6 * i + k] * m[6 * j + k];
      m[6 * i + j] = x / d;
    }
  }
  return true;
}

/* b L^-T */
static void divide_block(double *b, const double *l) {
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) {
      double x = b[6 * i + j];
      for (int k = 0; k < j; k++) x -= b[6 * i + k] * l[6 * j + k];
      b[6 * i + j] = x / l[7 * j];
    }
  }
}

/* out -= a b^T */
static void subtract_product(double *out, const double *a, const double *b) {
  for (int i = 0; i < 6; i++) {
    const double *r = a + (size_t)6 * (size_t)i;
    for (int j = 0; j < 6; j++) {
      const double *s = b + (size_t)6 * (size_t)j;
      out[6 * i + j] -= ((r[0] * s[0] + r[1] * s[1]) + (r[2] * s[2] + r[3] * s[3])) + (r[4] * s[4] + r[5] * s[5]);
    }
  }
}

/* Column k is done: what it takes from later ones. */
static void update(const factor_pattern *p, uint32_t k, block *diagonal, block *entries) {
  for (uint64_t e = p->first[k]; e < p->first[k + 1]; e++) {
    const uint32_t column = p->rows[e];
    uint64_t at = p->first[column];
    const uint64_t end = p->first[column + 1];
    subtract_product(diagonal[column], entries[e], entries[e]);
    for (uint64_t f = e + 1; f < p->first[k + 1]; f++) {
      while (at < end && p->rows[at] < p->rows[f]) at++;
      if (at == end) break;
      if (p->rows[at] == p->rows[f]) subtract_product(entries[at], entries[f], entries[e]);
    }
  }
}

bool gz_factor_make(const factor_pattern *p, block *diagonal, block *entries) {
  for (uint32_t k = 0; k < p->count; k++) {
    if (!factor_block(diagonal[k])) return false;
    for (uint64_t e = p->first[k]; e < p->first[k + 1]; e++) divide_block(entries[e], diagonal[k]);
    update(p, k, diagonal, entries);
  }
  return true;
}

void gz_factor_solve(const factor_pattern *p, const block *diagonal, const block *entries, double *x) {
  for (uint32_t k = 0; k < p->count; k++) {
    double *own = x + (size_t)6 * k;
    for (int i = 0; i < 6; i++) {
      for (int j = 0; j < i; j++) own[i] -= diagonal[k][6 * i + j] * own[j];
      own[i] /= diagonal[k][7 * i];
    }
    for (uint64_t e = p->first[k]; e < p->first[k + 1]; e++) {
      double *other = x + (size_t)6 * p->rows[e];
      for (int i = 0; i < 36; i++) other[i / 6] -= entries[e][i] * own[i % 6];
    }
  }
  for (uint32_t k = p->count; k-- > 0;) {
    double *own = x + (size_t)6 * k;
    for (uint64_t e = p->first[k]; e < p->first[k + 1]; e++) {
      const double *other = x + (size_t)6 * p->rows[e];
      for (int i = 0; i < 36; i++) own[i % 6] -= entries[e][i] * other[i / 6];
    }
    for (int i = 5; i >= 0; i--) {
      for (int j = i + 1; j < 6; j++) own[i] -= diagonal[k][6 * j + i] * own[j];
      own[i] /= diagonal[k][7 * i];
    }
  }
}

void gz_factor_multiply(const factor_pattern *p, const block *diagonal, const block *entries, const double *x,
                        double *y) {
  memset(y, 0, (size_t)6 * p->count * sizeof *y);
  for (uint32_t k = 0; k < p->count; k++) {
    const double *own = x + (size_t)6 * k;
    double *out = y + (size_t)6 * k;
    for (int i = 0; i < 36; i++) out[i / 6] += diagonal[k][i] * own[i % 6];
    for (uint64_t e = p->first[k]; e < p->first[k + 1]; e++) {
      const double *other = x + (size_t)6 * p->rows[e];
      double *there = y + (size_t)6 * p->rows[e];
      for (int i = 0; i < 36; i++) {
        there[i / 6] += entries[e][i] * own[i % 6];
        out[i % 6] += entries[e][i] * other[i / 6];
      }
    }
  }
}
