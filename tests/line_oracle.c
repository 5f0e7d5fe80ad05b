#include "line_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Coefficients of u, v, t and a constant: row . (u, v, t, 1) = 0 or >= 0. */
enum { UNKNOWNS = 3, WIDTH = 4, MOST_ROWS = 256 };
typedef mpq_t row[WIDTH];

static void row_init(row r) {
  for (int k = 0; k < WIDTH; k++) mpq_init(r[k]);
}

static void row_clear(row r) {
  for (int k = 0; k < WIDTH; k++) mpq_clear(r[k]);
}

/* to += factor * from */
static void row_add(row to, const mpq_t factor, row from) {
  mpq_t product;
  mpq_init(product);
  for (int k = 0; k < WIDTH; k++) {
    mpq_mul(product, factor, from[k]);
    mpq_add(to[k], to[k], product);
  }
  mpq_clear(product);
}

typedef struct system_of_rows {
  row equal[3], least[MOST_ROWS];
  int count;
} system_of_rows;

static void set_up(system_of_rows *s, const double from[3], const double to[3], bool directed, double most,
                   const double corners[9]) {
  mpq_t x;
  mpq_init(x);
  for (int k = 0; k < 3; k++) {
    row_init(s->equal[k]);
    mpq_set_d(x, corners[k]);
    for (int i = 0; i < 2; i++) {
      mpq_set_d(s->equal[k][i], corners[3 * i + 3 + k]);
      mpq_sub(s->equal[k][i], s->equal[k][i], x);
    }
    mpq_t start;
    mpq_init(start);
    mpq_set_d(start, from[k]);
    mpq_set_d(s->equal[k][2], to[k]);
    if (!directed) mpq_sub(s->equal[k][2], s->equal[k][2], start);
    mpq_neg(s->equal[k][2], s->equal[k][2]);
    mpq_sub(s->equal[k][3], x, start);
    mpq_clear(start);
  }
  for (s->count = 0; s->count < 5; s->count++) row_init(s->least[s->count]);
  for (int k = 0; k < 3; k++) mpq_set_si(s->least[k][k], 1, 1);
  mpq_set_si(s->least[3][0], -1, 1);
  mpq_set_si(s->least[3][1], -1, 1);
  mpq_set_si(s->least[3][3], 1, 1);
  mpq_set_si(s->least[4][2], -1, 1);
  mpq_set_d(s->least[4][3], most);
  mpq_clear(x);
}

/* Takes unknown k out of a row by one in which it has a coefficient. */
static void substitute(row r, row by, int k) {
  mpq_t factor;
  if (mpq_sgn(r[k]) == 0) return;
  mpq_init(factor);
  mpq_div(factor, r[k], by[k]);
  mpq_neg(factor, factor);
  row_add(r, factor, by);
  mpq_clear(factor);
}

/* False: the equations contradict each other. */
static bool solve_equations(system_of_rows *s) {
  bool used[3] = {false, false, false};
  for (int k = 0; k < UNKNOWNS; k++) {
    int pivot = -1;
    for (int i = 0; i < 3 && pivot < 0; i++) {
      if (!used[i] && mpq_sgn(s->equal[i][k]) != 0) pivot = i;
    }
    if (pivot < 0) continue;
    used[pivot] = true;
    for (int i = 0; i < 3; i++) {
      if (!used[i]) substitute(s->equal[i], s->equal[pivot], k);
    }
    if (k == 2) { /* t is known: its bounds are one number */
      for (int sign = -1; sign <= 1; sign += 2) {
        row_init(s->least[s->count]);
        for (int c = 0; c < WIDTH; c++) {
          mpq_set(s->least[s->count][c], s->equal[pivot][c]);
          if (sign < 0) mpq_neg(s->least[s->count][c], s->least[s->count][c]);
        }
        s->count++;
      }
      continue;
    }
    for (int i = 0; i < s->count; i++) substitute(s->least[i], s->equal[pivot], k);
  }
  for (int i = 0; i < 3; i++) {
    if (!used[i] && mpq_sgn(s->equal[i][3]) != 0) return false;
  }
  return true;
}

/* Every lower bound of unknown k with every upper one. */
static void eliminate(system_of_rows *s, int k) {
  static row kept[MOST_ROWS];
  int count = 0;
  for (int i = 0; i < s->count; i++) {
    for (int j = 0; j < s->count; j++) {
      const bool pair = mpq_sgn(s->least[i][k]) > 0 && mpq_sgn(s->least[j][k]) < 0;
      const bool free = i == j && mpq_sgn(s->least[i][k]) == 0;
      if (!pair && !free) continue;
      if (count == MOST_ROWS) abort();
      row_init(kept[count]);
      for (int c = 0; c < WIDTH; c++) mpq_set(kept[count][c], s->least[i][c]);
      if (pair) {
        mpq_t factor;
        mpq_init(factor);
        mpq_div(factor, s->least[i][k], s->least[j][k]);
        mpq_neg(factor, factor);
        row_add(kept[count], factor, s->least[j]);
        mpq_clear(factor);
      }
      count++;
    }
  }
  for (int i = 0; i < s->count; i++) row_clear(s->least[i]);
  memcpy(s->least, kept, (size_t)count * sizeof *kept);
  s->count = count;
}

/* The least t that all rows allow. */
static bool least_time(const system_of_rows *s, mpq_t time) {
  bool bounded = false, above = false, possible = true;
  mpq_t bound, most;
  mpq_init(bound);
  mpq_init(most);
  for (int i = 0; i < s->count; i++) {
    const int sign = mpq_sgn(s->least[i][2]);
    if (sign == 0) {
      possible &= mpq_sgn(s->least[i][3]) >= 0;
      continue;
    }
    mpq_div(bound, s->least[i][3], s->least[i][2]);
    mpq_neg(bound, bound);
    if (sign > 0 && (!bounded || mpq_cmp(bound, time) > 0)) mpq_set(time, bound), bounded = true;
    if (sign < 0 && (!above || mpq_cmp(bound, most) < 0)) mpq_set(most, bound), above = true;
  }
  if (!bounded || !above) abort(); /* t >= 0 and t <= most are among the rows */
  possible &= mpq_cmp(time, most) <= 0;
  mpq_clear(bound);
  mpq_clear(most);
  return possible;
}

bool oracle_line(const double from[3], const double to[3], bool directed, double most, const double corners[9],
                 mpq_t time) {
  static system_of_rows s;
  set_up(&s, from, to, directed, most, corners);
  bool meets = solve_equations(&s);
  if (meets) {
    eliminate(&s, 0);
    eliminate(&s, 1);
    meets = least_time(&s, time);
  }
  for (int k = 0; k < 3; k++) row_clear(s.equal[k]);
  for (int i = 0; i < s.count; i++) row_clear(s.least[i]);
  return meets;
}

bool oracle_enclosed(const mpq_t number, double low, double high) {
  mpq_t x;
  mpq_init(x);
  mpq_set_d(x, low);
  const int above = mpq_cmp(number, x);
  mpq_set_d(x, high);
  const int below = mpq_cmp(x, number);
  mpq_clear(x);
  return low == high ? above == 0 : above > 0 && below > 0 && nextafter(low, (double)INFINITY) == high;
}

/* ---- a point and a triangle ------------------------------------------------------------------------------------- */

typedef mpq_t point[3];

static void point_init(point p) {
  for (int k = 0; k < 3; k++) mpq_init(p[k]);
}

static void point_clear(point p) {
  for (int k = 0; k < 3; k++) mpq_clear(p[k]);
}

static void between(point from, point to, point out) {
  for (int k = 0; k < 3; k++) mpq_sub(out[k], to[k], from[k]);
}

static void dot(point a, point b, mpq_t out) {
  mpq_t product;
  mpq_init(product);
  mpq_set_si(out, 0, 1);
  for (int k = 0; k < 3; k++) {
    mpq_mul(product, a[k], b[k]);
    mpq_add(out, out, product);
  }
  mpq_clear(product);
}

static void cross(point a, point b, point out) {
  mpq_t product;
  mpq_init(product);
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    mpq_mul(out[k], a[i], b[j]);
    mpq_mul(product, a[j], b[i]);
    mpq_sub(out[k], out[k], product);
  }
  mpq_clear(product);
}

static void take_least(mpq_t least, const mpq_t x) {
  if (mpq_cmp(x, least) < 0) mpq_set(least, x);
}

/* From p to the segment of a and b, at the clamped foot. */
static void segment_square(point p, point a, point b, mpq_t least) {
  point edge, way;
  mpq_t along, length, one;
  point_init(edge);
  point_init(way);
  mpq_inits(along, length, one, NULL);
  mpq_set_si(one, 1, 1);
  between(a, b, edge);
  between(a, p, way);
  dot(edge, edge, length);
  dot(edge, way, along);
  if (mpq_sgn(length) > 0) {
    mpq_div(along, along, length);
    if (mpq_sgn(along) < 0) mpq_set_si(along, 0, 1);
    if (mpq_cmp(along, one) > 0) mpq_set(along, one);
    for (int k = 0; k < 3; k++) {
      mpq_mul(edge[k], edge[k], along);
      mpq_sub(way[k], way[k], edge[k]);
    }
  }
  dot(way, way, length);
  take_least(least, length);
  point_clear(edge);
  point_clear(way);
  mpq_clears(along, length, one, NULL);
}

/* From p to the plane, where the foot lies inside. */
static void face_square(point p, point x[3], mpq_t least) {
  point u, v, normal, way, side;
  mpq_t height, length;
  point *all[] = {&u, &v, &normal, &way, &side};
  for (int i = 0; i < 5; i++) point_init(*all[i]);
  mpq_inits(height, length, NULL);
  between(x[0], x[1], u);
  between(x[0], x[2], v);
  cross(u, v, normal);
  dot(normal, normal, length);
  bool inside = mpq_sgn(length) > 0;
  for (int i = 0; i < 3 && inside; i++) {
    between(x[i], x[(i + 1) % 3], u);
    between(x[i], p, way);
    cross(normal, u, side);
    dot(side, way, height);
    inside = mpq_sgn(height) >= 0;
  }
  if (inside) {
    between(x[0], p, way);
    dot(normal, way, height);
    mpq_mul(height, height, height);
    mpq_div(height, height, length);
    take_least(least, height);
  }
  for (int i = 0; i < 5; i++) point_clear(*all[i]);
  mpq_clears(height, length, NULL);
}

int oracle_flight(const double from[3], const double to[3], double t, double r, const double corners[9]) {
  point p, x[3];
  mpq_t time, end, square;
  mpq_inits(time, end, square, NULL);
  point_init(p);
  mpq_set_d(time, t);
  for (int k = 0; k < 3; k++) {
    mpq_set_d(p[k], from[k]);
    mpq_set_d(end, to[k]);
    mpq_sub(end, end, p[k]);
    mpq_mul(end, end, time);
    mpq_add(p[k], p[k], end);
  }
  for (int i = 0; i < 3; i++) {
    point_init(x[i]);
    for (int k = 0; k < 3; k++) mpq_set_d(x[i][k], corners[3 * i + k]);
  }
  point way;
  point_init(way);
  between(x[0], p, way);
  dot(way, way, square);
  for (int i = 0; i < 3; i++) segment_square(p, x[i], x[(i + 1) % 3], square);
  face_square(p, x, square);
  mpq_set_d(time, r);
  mpq_mul(time, time, time);
  const int sign = mpq_cmp(square, time);
  point_clear(way);
  point_clear(p);
  for (int i = 0; i < 3; i++) point_clear(x[i]);
  mpq_clears(time, end, square, NULL);
  return (sign > 0) - (sign < 0);
}
