/* A distance and a sum of doubles, such as the radii of two balls around the points that are measured: which is the
 * larger, and by how much.
 *
 * The difference is rounded by comparing it with doubles, and last with the middle of two of them. Where the distance
 * is not much more than the sum its rounded value says little, so that the doubles are looked for in growing steps.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "exact/near.h"

near_sum *gz_near_sum(near_sum *sum, const double *terms, int count) {
  big term, one;
  gz_big_from_double(&sum->exact, 0);
  gz_big_from_double(&one, 1);
  for (int i = 0; i < count; i++) {
    gz_big_from_double(&term, terms[i]);
    gz_big_add(&sum->exact, &sum->exact, &term);
  }
  const double about = fmin(fmax(gz_big_ratio(&sum->exact, &one), -DBL_MAX), DBL_MAX);
  const double error = 0x1p-50 * fabs(about) + 0x1p-1073;
  sum->low = about - error;
  sum->high = about + error; /* perhaps infinite */
  return sum;
}

/* A difference that is asked for. */
typedef struct difference {
  near_pair *pair;
  const near_sum *sum;
  bool turned;
} difference;

/* The sign of the difference less value + half of `unit`. */
static int compare(const difference *d, double value, double unit) {
  near_sum limit;
  big half;
  const double way = d->turned ? -1 : 1;
  gz_near_sum(&limit, &(double){way * value}, 1);
  gz_big_from_double(&half, way * unit);
  half.exponent--; /* exact, also of the least double */
  gz_big_add(&limit.exact, &limit.exact, &half);
  gz_big_add(&limit.exact, &limit.exact, &d->sum->exact);
  limit.low = limit.low + fmin(way * unit, 0) + d->sum->low;
  limit.high = limit.high + fmax(way * unit, 0) + d->sum->high;
  limit.low -= 0x1p-51 * fabs(limit.low); /* of the additions */
  limit.high += 0x1p-51 * fabs(limit.high);
  if (!(limit.low <= limit.high)) { /* they overflow */
    limit.low = -INFINITY;
    limit.high = INFINITY;
  }
  return (d->turned ? -1 : 1) * gz_near_compare_sum(d->pair, &limit);
}

/* Doubles that are not negative, in their order. */
static double number(int64_t place) {
  double x;
  memcpy(&x, &place, sizeof x);
  return x;
}

static int64_t place_of(double x) {
  int64_t place;
  memcpy(&place, &x, sizeof place);
  return place;
}

/* The place of the largest double that is not above the difference, which is near `about`. */
static int64_t find_floor(const difference *d, double about) {
  const int64_t last = place_of(DBL_MAX);
  int64_t low = place_of(fmin(fmax(about, 0) + 0.0, DBL_MAX)), high = low, step = 1;
  if (compare(d, number(low), 0) >= 0) {
    do {
      low = high;
      high = last - high > step ? high + step : last + 1;
      step *= 2;
    } while (high <= last && compare(d, number(high), 0) >= 0);
  } else {
    do {
      high = low;
      low = low > step ? low - step : 0;
      step *= 2;
    } while (low > 0 && compare(d, number(low), 0) < 0);
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    if (compare(d, number(middle), 0) >= 0)
      low = middle;
    else
      high = middle;
  }
  return low;
}

double gz_near_difference(near_pair *pair, const near_sum *sum, bool turned, int *sign) {
  const difference d = {pair, sum, turned};
  const double distance = gz_near_distance(pair), about = 0.5 * sum->low + 0.5 * fmin(sum->high, DBL_MAX);
  const int64_t floor = find_floor(&d, turned ? about - distance : distance - about);
  const double below = number(floor), unit = below == DBL_MAX ? 0x1p971 : number(floor + 1) - below;
  *sign = compare(&d, below, 0);
  if (*sign == 0) return below;
  const int middle = compare(&d, below, unit);
  if (middle < 0 || (middle == 0 && floor % 2 == 0)) return below;
  *sign = -1;
  return number(floor + 1);
}
