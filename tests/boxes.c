/* Families of boxes; see boxes.h. */
#include "boxes.h"

#include <math.h>
#include <stdlib.h>

#include "families.h"
#include "support.h"

const char *box_family_name(box_family kind) {
  static const char *const names[BOXES_FAMILIES] = {"lattice",  "uniform", "points", "equal",  "cells", "negative",
                                                    "huge",     "tiny",    "ulps",   "far",    "giant", "decades",
                                                    "clusters", "line",    "plates", "stacked"};
  return names[kind];
}

static double lowest(double x, double y) {
  return x < y ? x : y;
}

static double highest(double x, double y) {
  return x < y ? y : x;
}

/* The box of two corners. */
static graze_box spanned(const double p[3], const double q[3]) {
  graze_box box;
  for (int k = 0; k < 3; k++) {
    box.min[k] = lowest(p[k], q[k]);
    box.max[k] = highest(p[k], q[k]);
  }
  return box;
}

static graze_box cube_at(uint64_t *state, double reach, double size) {
  graze_box box;
  for (int k = 0; k < 3; k++) {
    box.min[k] = reach * random_unit(state);
    box.max[k] = box.min[k] + size;
  }
  return box;
}

static double nudged(uint64_t *state, double x) {
  uint32_t choice = random_below(state, 4);
  return choice == 0 ? nextafter(x, -INFINITY) : choice == 1 ? nextafter(x, INFINITY) : x;
}

static double cell_border(uint64_t *state) {
  double x = ldexp((double)random_below(state, 17) - 8, (int)random_below(state, 4) - 2);
  return nudged(state, x);
}

/* Of a family whose corners are independent numbers. */
static double number_of(box_family kind, uint64_t *state) {
  switch (kind) {
    case BOXES_LATTICE:
      return random_below(state, 8);
    case BOXES_CELLS:
      return cell_border(state);
    case BOXES_NEGATIVE:
      return random_below(state, 8) == 0 ? -0.0 : random_signed(state) * 4 - 2;
    case BOXES_HUGE:
      return ldexp(random_signed(state), (int)random_below(state, 1024));
    case BOXES_TINY:
      return ldexp((double)random_below(state, 9) - 4, -1074);
    case BOXES_ULPS:
      return 1 + ldexp(random_below(state, 64), -52);
    default:
      return 0;
  }
}

static graze_box plate(uint64_t *state, double reach) {
  graze_box box = cube_at(state, reach, reach / 6);
  int axis = (int)random_below(state, 3);
  box.max[axis] = box.min[axis] + reach / 200;
  return box;
}

graze_box boxes_one(box_family kind, uint64_t *state, uint32_t count) {
  double reach = cbrt(8.0 * count / 5);
  graze_box box = {{0}, {0}};
  switch (kind) {
    case BOXES_UNIFORM:
      return cube_at(state, reach, 1);
    case BOXES_POINTS:
      for (int k = 0; k < 3; k++) box.min[k] = box.max[k] = random_below(state, 3);
      return box;
    case BOXES_EQUAL: {
      uint64_t same = random_below(state, 7);
      return cube_at(&same, 3, 1);
    }
    case BOXES_FAR:
      box = cube_at(state, reach / 1000, 0.001);
      for (int k = 0; k < 3; k++) {
        box.min[k] += 1e9;
        box.max[k] += 1e9;
      }
      return box;
    case BOXES_GIANT:
      return random_below(state, count) == 0 ? (graze_box){{-1, -1, -1}, {reach, reach, reach}}
                                             : cube_at(state, reach, 0.25 * random_unit(state));
    case BOXES_DECADES:
      return cube_at(state, 1e6, pow(10, 6 * random_unit(state) - 1));
    case BOXES_CLUSTERS: {
      double far = 1000.0 * random_below(state, 3);
      box = cube_at(state, reach / 2, 1);
      for (int k = 0; k < 3; k++) {
        box.min[k] += far;
        box.max[k] += far;
      }
      return box;
    }
    case BOXES_LINE:
      box.min[0] = count * random_unit(state);
      box.max[0] = box.min[0] + 2 * random_unit(state);
      return box;
    case BOXES_PLATES:
      return plate(state, reach);
    case BOXES_STACKED:
      for (int k = 0; k < 3; k++) {
        box.min[k] = -random_unit(state);
        box.max[k] = random_unit(state);
      }
      return box;
    default: {
      double p[3], q[3];
      for (int k = 0; k < 3; k++) {
        p[k] = number_of(kind, state);
        q[k] = number_of(kind, state);
      }
      return spanned(p, q);
    }
  }
}

void boxes_make(box_family kind, uint64_t *state, uint32_t count, graze_box *boxes) {
  for (uint32_t i = 0; i < count; i++) boxes[i] = boxes_one(kind, state, count);
}

void boxes_make_coarse(int exponent, bool chained, uint64_t *state, uint32_t count, graze_box *boxes) {
  uint32_t reach = (uint32_t)ceil(4 * cbrt(count));
  for (uint32_t i = 0; i < count; i++) {
    for (int k = 0; k < 3; k++) {
      double from = ldexp(1, exponent) + random_below(state, reach), edge = chained ? 1 : 1 + random_below(state, 3);
      bool above = random_below(state, 2) == 0;
      if (chained && i % 2 == 1) from = above ? boxes[i - 1].max[k] : boxes[i - 1].min[k] - edge;
      boxes[i].min[k] = from;
      boxes[i].max[k] = from + edge;
    }
  }
}

/* Written apart from the library: intervals that miss each other on some axis. */
static bool miss(const graze_box *p, const graze_box *q) {
  for (int k = 0; k < 3; k++) {
    if (p->min[k] > p->max[k] || q->min[k] > q->max[k]) return true;
    if (p->max[k] < q->min[k] || q->max[k] < p->min[k]) return true;
  }
  return false;
}

graze_box_pair *boxes_pairs(const graze_box *boxes, uint32_t n, const uint8_t *layers, const uint64_t *meets,
                            uint64_t *count) {
  uint64_t room = 64, used = 0;
  graze_box_pair *pairs = malloc(room * sizeof *pairs);
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t j = i + 1; j < n; j++) {
      if (layers != NULL && (meets[layers[i]] & (UINT64_C(1) << layers[j])) == 0) continue;
      if (miss(&boxes[i], &boxes[j])) continue;
      if (used == room) pairs = realloc(pairs, (room *= 2) * sizeof *pairs);
      if (pairs == NULL) abort();
      pairs[used++] = (graze_box_pair){i, j};
    }
  }
  *count = used;
  return pairs;
}

void boxes_check_events(const char *what, const graze_broad_events *e, const graze_box_pair *now, uint64_t now_count,
                        const graze_box_pair *then, uint64_t then_count) {
  uint64_t began = 0, persist = 0, ended = 0, i = 0, j = 0;
  while (i < now_count || j < then_count) {
    uint64_t x = i < now_count ? (uint64_t)now[i].a << 32 | now[i].b : UINT64_MAX;
    uint64_t y = j < then_count ? (uint64_t)then[j].a << 32 | then[j].b : UINT64_MAX;
    uint64_t at = x == y ? persist++ : x < y ? began++ : ended++;
    const graze_box_pair *list = x == y ? e->persist : x < y ? e->began : e->ended;
    uint64_t count = x == y ? e->persist_count : x < y ? e->began_count : e->ended_count, pair = x < y ? x : y;
    if (at >= count || ((uint64_t)list[at].a << 32 | list[at].b) != pair) {
      fail_msg("%s: %s (%u, %u) is missing", what,
               x == y  ? "persist"
               : x < y ? "began"
                       : "ended",
               (uint32_t)(pair >> 32), (uint32_t)pair);
    }
    i += x <= y;
    j += y <= x;
  }
  assert_true(began == e->began_count && persist == e->persist_count && ended == e->ended_count);
}
