/* A line and a triangle: the filter, and the bracket of a plain crossing.
 *
 * Bounds, u = 2^-53. A coordinate of a corner relative to the line's beginning is off by u of itself, and so is one of
 * the way. In a determinant each of the six products has three such factors and passes through at most five further
 * roundings: it is off by 8 u of itself, with what is of second order by less than 9 u. With w_k = |way_k| and m_k the
 * largest |corner_k|, the products of [way, b, c] sum up to at most
 *     2 (w_0 m_1 m_2 + w_1 m_0 m_2 + w_2 m_0 m_1) = 2 P
 * and those of [a, b, c] to at most 6 m_0 m_1 m_2. So the determinants are certain beyond 18 u P and 54 u m_0 m_1 m_2,
 * and the sum of three of the first kind is off by less than 72 u P.
 */
#include "exact/pierce.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "exact/wide.h"

typedef enum verdict { MISS, HIT, OPEN } verdict;

static const double SIDE_FILTER = 18 * 0x1p-53, HEIGHT_FILTER = 54 * 0x1p-53, SUM_FILTER = 72 * 0x1p-53;

/* Products of three may neither vanish nor overflow. */
static const double LEAST = 0x1p-900, MOST = 0x1p900;

void gz_pierce_start(pierce_line *line, const double from[3], const double to[3], bool directed, double most) {
  memcpy(line->from, from, sizeof line->from);
  memcpy(line->to, to, sizeof line->to);
  line->directed = directed;
  line->most = smaller(most, DBL_MAX);
  for (int k = 0; k < 3; k++) line->way[k] = directed ? to[k] : to[k] - from[k];
}

/* ---- signs in doubles ----------------------------------------------------------------------------------------- */

static double determinant(const double a[3], const double b[3], const double c[3]) {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/* -1, 0, 1; 0 where it is not certain. */
static int sign_of(double x, double bound) {
  return (x > bound) - (x < -bound);
}

/* The determinants of the three sides, and of the corners. */
typedef struct heights {
  double side[3], height, side_bound, height_bound, sum_bound;
  bool usable, still; /* still: the way is 0 */
} heights;

static heights measure(const pierce_line *line, const double corners[9]) {
  heights h;
  double x[3][3], m[3] = {0, 0, 0}, w[3];
  for (int k = 0; k < 3; k++) {
    w[k] = fabs(line->way[k]);
    for (int i = 0; i < 3; i++) {
      x[i][k] = corners[3 * i + k] - line->from[k];
      m[k] = larger(m[k], fabs(x[i][k]));
    }
  }
  for (int i = 0; i < 3; i++) h.side[i] = determinant(line->way, x[(i + 1) % 3], x[(i + 2) % 3]);
  h.height = determinant(x[0], x[1], x[2]);
  const double across = w[0] * m[1] * m[2] + w[1] * m[0] * m[2] + w[2] * m[0] * m[1], volume = m[0] * m[1] * m[2];
  h.usable = across > LEAST && across < MOST && volume < MOST;
  h.still = w[0] == 0 && w[1] == 0 && w[2] == 0 && volume < MOST;
  h.side_bound = SIDE_FILTER * across;
  h.sum_bound = SUM_FILTER * across;
  h.height_bound = HEIGHT_FILTER * volume + LEAST;
  return h;
}

/* Whether the line passes inside, beside, or too near to a side; in between, its parameter. */
static verdict filter(const pierce_line *line, const heights *h, double limit) {
  if (!h->usable) return h->still && fabs(h->height) > h->height_bound ? MISS : OPEN;
  int above = 0, below = 0;
  for (int i = 0; i < 3; i++) {
    const int sign = sign_of(h->side[i], h->side_bound);
    above += sign > 0;
    below += sign < 0;
  }
  if (above > 0 && below > 0) return MISS;
  const double signed_sum = h->side[0] + h->side[1] + h->side[2], sum = fabs(signed_sum), least = sum - h->sum_bound;
  if (!(least > 0)) return OPEN;
  const double height = signed_sum > 0 ? h->height : -h->height;
  if (height < -h->height_bound) return MISS;
  if (height - h->height_bound > smaller(limit, line->most) * (sum + h->sum_bound) * (1 + 0x1p-50)) return MISS;
  if (above < 3 && below < 3) return OPEN;
  const bool within = height + h->height_bound < line->most * least * (1 - 0x1p-50);
  return height > h->height_bound && within ? HIT : OPEN;
}

/* ---- the parameter -------------------------------------------------------------------------------------------- */

static wide difference(double a, double b) {
  wide r;
  two_diff(a, b, &r.hi, &r.lo);
  return r;
}

static wide wide_determinant(const wide a[3], const wide b[3], const wide c[3]) {
  wide sum = {0, 0};
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const wide minor = wide_sub(wide_mul(b[i], c[j]), wide_mul(b[j], c[i]));
    sum = wide_add(sum, wide_mul(a[k], minor));
  }
  return sum;
}

/* The doubles around a quotient that is not one itself, of which doubles know the bounds. The sum of the three sides is
 * the determinant of the way and two edges, whose terms are at most four times as large. In pairs of doubles each
 * determinant is off by less than 2^-43 of its bound in doubles: 2^-96 of the terms. */
static bool enclose(const pierce_line *line, const double corners[9], const heights *h, double time[2]) {
  wide x[3][3], way[3], edge[2][3];
  for (int k = 0; k < 3; k++) {
    way[k] = line->directed ? (wide){line->to[k], 0} : difference(line->to[k], line->from[k]);
    for (int i = 0; i < 3; i++) x[i][k] = difference(corners[3 * i + k], line->from[k]);
    for (int i = 0; i < 2; i++) edge[i][k] = difference(corners[3 * i + 3 + k], corners[k]);
  }
  const wide sum = wide_determinant(way, edge[0], edge[1]);
  const wide t = wide_div(wide_determinant(x[0], x[1], x[2]), sum);
  const double off = (0x1p-43 * (h->height_bound + fabs(t.hi) * h->sum_bound)) / fabs(sum.hi) + 0x1p-99 * t.hi;
  if (!(t.hi > 0x1p-900 && t.hi < 0x1p900 && fabs(t.lo) > off)) return false;
  time[0] = t.lo > 0 ? t.hi : nextafter(t.hi, 0);
  time[1] = t.lo > 0 ? nextafter(t.hi, (double)INFINITY) : t.hi;
  return true;
}

bool gz_pierce(const pierce_line *line, const double corners[9], double limit, double time[2]) {
  const heights h = measure(line, corners);
  const verdict v = filter(line, &h, limit);
  if (v == MISS) return false;
  if (v == HIT && enclose(line, corners, &h, time)) return true;
  return gz_pierce_exact(line, corners, time);
}
