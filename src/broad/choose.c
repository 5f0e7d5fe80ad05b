/* AUTO: which method, and why.
 *
 * A sample of the boxes says how much their sizes differ and how crowded they are; that settles which method is best
 * when all pairs are found anew. From update to update the share of edited proxies, and how far they go, say whether a
 * method that keeps up with edits can pay. Where several methods come into question, each is tried, and what they cost
 * decides. The others are tried again from time to time, for the scene may have changed; a trial builds what the method
 * needs, so it has to wait until that is a small part of what updates have cost since.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/parallel.h"
#include "broad/phase.h"

enum {
  BRUTE_MOST = 500,       /* boxes for which nothing beats looking at every pair */
  SWEEP_MOST = 3000,      /* boxes of like sizes for which making a grid does not pay for sure, */
  SWEEP_MOST_AVX2 = 2000, /* and with AVX2, which makes less of the sweep */
  SAMPLE = 512,           /* boxes that are looked at, at most, */
  SAMPLE_PART = 32,       /* and of how many one is */
  RESAMPLE = 64,          /* updates until they are looked at again */
  SETTLE = 4,             /* updates before a first trial, */
  SETTLE_KEPT = 32,       /* and when they are not all alike */
  RETRY = 64,             /* and before another one, at least */
  TRIAL = 4,              /* updates of a trial; the first one builds, of the others the least counts */
  HOPELESS_UPDATES = 2,   /* in a row that end it before: a single one may have been interrupted */
  WINDOW = 32,            /* updates that a mean is over */
  TRIAL_COUNTS = 8,       /* and for so many of them a trial counts */
  QUARTERS = 4 * 512,
  STEPS = 4096 /* of a box's own size */
};

static const double LIKE_SIZES = 2.5;   /* 95th to 5th percentile: one cell size fits */
static const double CREEPING = 0.1;     /* edges that boxes move in an update: below, neighbours stay neighbours */
static const double RESTING = 0.1;      /* share of edits below which an update should cost what was edited */
static const double ONE_CLUSTER = 0.75; /* part of all boxes that one of middle size meets: where few miss, test all */
static const double CROWDED = 16;       /* boxes of middle size that one meets: above, cells are full */
static const double LISTS_FROM = 0.02;  /* share of edits from which lists of near pairs beat a tree */
static const double LOYALTY = 0.9;      /* of the cost of the method in use: below, another one is better for certain */
static const double ANEW_GROWTH = 1.05; /* times what making all anew took last: more was an interruption */
static const double PEAK = 2;           /* times the mean is no cost of an update, but an interruption */
static const double HOPELESS = 3;       /* times the cost of the best: such updates of a trial end it early, */
static const double HOPELESS_BUILD = 25; /* and in its first one, which builds */
static const double PATIENCE = 25;       /* times the price of a trial that updates cost before the next */

/* ---- the boxes ---- */

/* Sizes in quarters of octaves: percentiles without sorting. */
typedef struct size_census {
  uint32_t boxes[QUARTERS];
  uint32_t all;
} size_census;

static void count_size(size_census *c, double size) {
  int exponent;
  double part = frexp(size < DBL_MAX ? size : DBL_MAX, &exponent); /* [0.5, 1) */
  int quarter = size > 0 ? 4 * exponent + (int)(8 * part) - 4 + QUARTERS / 2 : 0;
  if (quarter < 0) quarter = 0;
  if (quarter >= QUARTERS) quarter = QUARTERS - 1;
  c->boxes[quarter]++;
  c->all++;
}

/* The size that this part of the boxes is below, within a quarter of an octave. */
static double size_at(const size_census *c, double part) {
  double wanted = part * c->all;
  uint32_t seen = 0, quarter = 0;
  while (quarter < QUARTERS - 1 && seen + c->boxes[quarter] <= wanted) seen += c->boxes[quarter++];
  int steps = (int)quarter - QUARTERS / 2;
  return ldexp(0.5 + (steps & 3) / 8.0, (steps - (steps & 3)) / 4);
}

/* Whether low corners stand on a lattice: of numbers taken in steps of a middle size, how many fall on one that another
 * has. Boxes that touch come in such worlds, and touching makes the grid's coarse numbers equal. */
typedef struct lattice_census {
  uint8_t taken[3][STEPS / 8];
  uint32_t met[3];
} lattice_census;

static void count_step(lattice_census *c, int axis, double low, double size) {
  double at = low / size;
  if (!isfinite(at)) return;
  uint32_t step = (uint32_t)((at - floor(at)) * STEPS) & (STEPS - 1);
  uint8_t bit = (uint8_t)(1u << (step & 7)), *taken = &c->taken[axis][step / 8];
  c->met[axis] += (*taken & bit) != 0;
  *taken |= bit;
}

static bool on_lattice(const broad_view *view, uint32_t step, const size_census *sizes) {
  lattice_census census = {{{0}}, {0}};
  for (uint32_t i = 0; i < view->count; i += step) {
    graze_box box = view_box(view, i);
    if (box_is_empty(&box)) continue;
    for (int k = 0; k < 3; k++) count_step(&census, k, box.min[k], box.max[k] - box.min[k]);
  }
  uint32_t most = census.met[0] > census.met[1] ? census.met[0] : census.met[1];
  if (census.met[2] > most) most = census.met[2];
  return most > sizes->all / 3;
}

/* Middles of boxes on an axis, as they come. B. P. Welford, "Note on a method for calculating corrected sums of squares
 * and products", 1962. */
typedef struct place_census {
  double low, high, mean, squares;
} place_census;

/* The one that is number `count` from 1. */
static void count_place(place_census *c, double x, uint32_t count) {
  const double before = x - c->mean;
  if (x < c->low) c->low = x;
  if (x > c->high) c->high = x;
  c->mean += before / count;
  c->squares += before * (x - c->mean);
}

/* Boxes of this size that one of them is expected to meet, if they lie evenly in a world of these widths. */
static double crowd_of(const double widths[3], double size, uint32_t live) {
  double crowd = live;
  for (int k = 0; k < 3; k++) {
    if (!(widths[k] <= 2 * size)) crowd *= 2 * size / widths[k];
  }
  return crowd;
}

static broad_shape look_at(const broad_view *view, uint32_t live) {
  const place_census none = {INFINITY, -INFINITY, 0, 0};
  place_census axes[3] = {none, none, none};
  size_census census = {{0}, 0};
  uint32_t step = view->count / SAMPLE + 1;
  if (step < SAMPLE_PART) step = SAMPLE_PART;
  for (uint32_t i = 0; i < view->count; i += step) {
    graze_box box = view_box(view, i);
    if (box_is_empty(&box)) continue;
    double size = 0;
    for (int k = 0; k < 3; k++) {
      double extent = box.max[k] - box.min[k], middle = box.min[k] + extent / 2;
      if (extent > size) size = extent;
      count_place(&axes[k], middle, census.all + 1);
    }
    count_size(&census, size);
  }
  if (census.all == 0) return (broad_shape){.spread = 1};
  double middle = size_at(&census, 0.5);
  broad_shape f = {.spread = size_at(&census, 0.95) / size_at(&census, 0.05)};
  double reach[3], core[3]; /* core: of an even spread with this deviation; of a heap, whatever lies about it */
  for (int k = 0; k < 3; k++) {
    reach[k] = axes[k].high - axes[k].low;
    core[k] = sqrt(12 * axes[k].squares / census.all);
    f.planar |= reach[k] < 2 * middle;
  }
  f.cluster = crowd_of(reach, middle, live) >= ONE_CLUSTER * live;
  f.crowded = crowd_of(core, middle, live) > CROWDED;
  f.lattice = on_lattice(view, step, &census);
  return f;
}

static void choose_by_shape(broad_choice *choice, const broad_view *view, uint32_t live) {
  choice->sampled = 1;
  choice->by_shape = GRAZE_BROAD_BRUTE;
  if (live <= BRUTE_MOST) return;
  broad_shape f = choice->shape = look_at(view, live);
  uint32_t sweep_most = gz_cpu_best() == CPU_AVX2 ? SWEEP_MOST_AVX2 : SWEEP_MOST;
  bool gridded = live > sweep_most && f.spread <= LIKE_SIZES && !f.planar && !f.lattice && !f.crowded;
  if (!f.cluster) choice->by_shape = gridded ? GRAZE_BROAD_GRID : GRAZE_BROAD_SWEEP;
}

/* ---- from update to update ---- */

/* A candidate method and its cost, as measured on one machine. Not what decides: it tells which method deserves a trial
 * soon, and what the trial will take. */
typedef struct contender {
  graze_broad_method method;
  double edit, proxy; /* seconds, for each edited proxy and for each proxy */
  double price;       /* of a trial, seconds a proxy */
} contender;

static const contender sweep_contender = {GRAZE_BROAD_SWEEP, 6e-8, 0, 3e-7};

/* When few creep. Lists are decided as a whole: for very few of many boxes that is too much. */
static void creeping_few(const broad_choice *choice, contender list[3]) {
  static const contender tree = {GRAZE_BROAD_TREE, 3e-7, 0, 6e-7}, verlet = {GRAZE_BROAD_VERLET, 4e-8, 5e-9, 3e-7},
                         sap = {GRAZE_BROAD_SAP, 4e-7, 0, 1e-6}, hash = {GRAZE_BROAD_HASH, 6e-7, 0, 8e-7};
  const bool lists = choice->share >= LISTS_FROM;
  list[0] = lists ? verlet : tree;
  list[1] = lists ? tree : sap;
  list[2] = lists ? sap : hash;
}

/* The likeliest first; returns how many. */
static int contenders(const broad_choice *choice, broad_regime regime, uint32_t live, contender list[3]) {
  static const contender brute = {GRAZE_BROAD_BRUTE, 2e-8, 0, 2e-8}, grid = {GRAZE_BROAD_GRID, 4e-8, 0, 2e-7},
                         bvh = {GRAZE_BROAD_BVH, 1e-7, 0, 4e-7}, verlet = {GRAZE_BROAD_VERLET, 1e-8, 1e-8, 3e-7};
  static const contender jumping_few[] = {{GRAZE_BROAD_HASH, 1e-6, 0, 8e-7}, {GRAZE_BROAD_TREE, 4e-6, 0, 6e-7}};
  if (live <= BRUTE_MOST) {
    list[0] = brute;
    return 1;
  }
  const bool creeping = choice->speed < CREEPING;
  if (regime == BROAD_RESTING && creeping) {
    creeping_few(choice, list);
    return 3;
  }
  if (regime == BROAD_RESTING) {
    memcpy(list, jumping_few, sizeof jumping_few);
    return 2;
  }
  const bool gridded = choice->by_shape == GRAZE_BROAD_GRID, lists = regime == BROAD_MOVING && creeping;
  const bool ahead = lists && choice->by_shape != GRAZE_BROAD_BRUTE;
  list[ahead] = gridded ? grid : choice->by_shape == GRAZE_BROAD_SWEEP ? sweep_contender : brute;
  list[1 + ahead] = choice->by_shape == GRAZE_BROAD_SWEEP ? grid : sweep_contender;
  list[ahead ? 0 : 2] = lists ? verlet : bvh;
  return 3;
}

/* Only those that can hold as many slots, or a sweep, which always can. */
static int leave_out_small(contender list[3], int count, uint32_t slots) {
  int kept = 0;
  for (int i = 0; i < count; i++) {
    const uint32_t most = gz_broad_method_of(list[i].method)->most_slots;
    if (most == 0 || slots <= most) list[kept++] = list[i];
  }
  if (kept == 0) list[kept++] = sweep_contender;
  return kept;
}

static graze_broad_method best_of(const broad_choice *choice, const contender *list, int count) {
  const broad_cost *cost = choice->cost[choice->regime];
  graze_broad_method best = list[0].method;
  double least = INFINITY;
  if (cost[best].mean <= 0) return best; /* first of all the likeliest */
  for (int i = 0; i < count; i++) {
    const graze_broad_method m = list[i].method;
    const double mean = m == choice->method ? cost[m].mean * LOYALTY : cost[m].mean;
    if (mean <= 0 || mean >= least) continue;
    least = mean;
    best = m;
  }
  return best;
}

/* Whether a method keeps up with edits: then its updates are not all alike. */
static bool keeps_up(graze_broad_method m) {
  const broad_method *method = gz_broad_method_of(m);
  return method->step != NULL || method->changes != NULL;
}

/* Whether a trial of this one is due. Of one who was never tried and is likely to be better: when it costs no more than
 * updates have. Otherwise, when it is cheap beside that. */
static bool is_due(const broad_choice *choice, const contender *c, double best, uint32_t edits, uint32_t live) {
  if (choice->updates < (keeps_up(choice->method) ? SETTLE_KEPT : SETTLE)) return false;
  double price = choice->price[choice->regime][c->method];
  if (price <= 0) price = c->price * live;
  bool known = choice->cost[choice->regime][c->method].mean > 0;
  if (!known && 1.25 * (c->edit * edits + c->proxy * live) < best * live) return choice->seconds >= price;
  return choice->updates >= RETRY && choice->seconds >= PATIENCE * price;
}

/* The method to try now; AUTO: none. */
static graze_broad_method to_try(const broad_choice *choice, const contender *list, int count, graze_broad_method best,
                                 uint32_t edits, uint32_t live) {
  double least = choice->cost[choice->regime][best].mean;
  if (least <= 0) return GRAZE_BROAD_AUTO; /* first of all the likeliest */
  for (int i = 0; i < count; i++) {
    if (list[i].method != best && is_due(choice, &list[i], least, edits, live)) return list[i].method;
  }
  return GRAZE_BROAD_AUTO;
}

static graze_broad_method choose_in(broad_choice *choice, broad_regime regime, uint32_t slots, uint32_t edits,
                                    uint32_t live) {
  contender list[3];
  int count = leave_out_small(list, contenders(choice, regime, live, list), slots);
  if (regime != choice->regime) choice->trial = GRAZE_BROAD_AUTO;
  choice->regime = regime;
  graze_broad_method best = best_of(choice, list, count);
  if (choice->trial == GRAZE_BROAD_AUTO) {
    choice->trial = to_try(choice, list, count, best, edits, live);
    choice->trial_updates = choice->hopeless_updates = 0;
    choice->to_beat = choice->cost[regime][best].mean;
  }
  choice->before = choice->method;
  choice->on_trial = choice->trial != GRAZE_BROAD_AUTO;
  choice->method = choice->on_trial ? choice->trial : best;
  choice->edits = edits;
  choice->live = live;
  return choice->method;
}

graze_broad_method gz_choose_once(broad_choice *choice, const broad_view *view) {
  graze_broad_method before = choice->by_shape;
  uint32_t live = view->count;
  choose_by_shape(choice, view, live);
  /* Costs are of boxes like these only. */
  if (before != choice->by_shape || live > 2 * choice->live || choice->live > 2 * live) {
    memset(choice->cost, 0, sizeof choice->cost);
    choice->trial = GRAZE_BROAD_AUTO;
    choice->updates = 0;
  }
  return choose_in(choice, BROAD_ANEW, live, live, live);
}

graze_broad_method gz_choose_method(broad_choice *choice, const broad_view *view, uint32_t edits, uint32_t live,
                                    double speed) {
  double now = live > 0 && edits < live ? (double)edits / live : 1;
  bool fresh = choice->method == GRAZE_BROAD_AUTO || choice->before == GRAZE_BROAD_AUTO; /* at first all are added */
  choice->share = fresh ? now : 0.75 * choice->share + 0.25 * now;
  choice->speed = fresh ? speed : 0.75 * choice->speed + 0.25 * speed;
  if (choice->sampled == 0 || choice->sampled > RESAMPLE) choose_by_shape(choice, view, live);
  choice->sampled++;
  return choose_in(choice, choice->share < RESTING ? BROAD_RESTING : BROAD_MOVING, view->count, edits, live);
}

/* To the clock, an update in which others had the processor looks like one in which much was done: what is far above
 * the mean counts as PEAK times it, so that it takes many to move the mean. Down it goes fast: nothing makes updates
 * look cheaper than they are. */
static void average(double *mean, double now, double weight) {
  if (*mean <= 0) *mean = now;
  if (now < *mean / PEAK) weight = 0.5;
  *mean += weight * (fmin(now, PEAK * *mean) - *mean);
}

/* Making all anew, of a method that otherwise keeps up: too seldom for a mean, and always about as much. */
static void learn_anew(broad_cost *c, double now) {
  c->anew = c->anew > 0 ? fmin(now, ANEW_GROWTH * c->anew) : now;
}

static void sum_up(broad_cost *c) {
  c->mean = c->share * c->anew + (1 - c->share) * c->usual;
}

/* Of an update outside trials. */
static void learn_cost(broad_cost *c, double now, bool anew, bool keeps) {
  c->updates++;
  const double weight = 1.0 / (c->updates < WINDOW ? c->updates : WINDOW);
  if (anew && keeps) {
    learn_anew(c, now);
  } else {
    average(anew ? &c->anew : &c->usual, now, weight);
  }
  c->share += weight * (anew - c->share);
  sum_up(c);
}

/* Of a trial, whose first update made all anew. It is too short to tell how often that happens: what is known from
 * before holds, but less each time, lest what was wrong, or is long past, stays. */
static void learn_from_trial(broad_cost *c, double first, double least, bool keeps) {
  if (keeps) learn_anew(c, first);
  *(keeps ? &c->usual : &c->anew) = least;
  c->share = keeps ? c->share * 2 / 3 : 1;
  c->updates = TRIAL_COUNTS;
  sum_up(c);
}

static void end_trial(broad_choice *choice) {
  double *price = &choice->price[choice->regime][choice->method];
  const double took = choice->live * (choice->trial_first + choice->trial_least * (choice->trial_updates - 1));
  learn_from_trial(&choice->cost[choice->regime][choice->method], choice->trial_first, choice->trial_least,
                   keeps_up(choice->method));
  *price = *price > 0 ? fmin(took, 2 * *price) : took;
  choice->trial = GRAZE_BROAD_AUTO;
  choice->updates = 0;
  choice->seconds = 0;
}

double gz_choose_clock(const graze_context *context) {
  struct timespec t;
  if (gz_parallel_threads(context) > 1 || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0) return clock_now();
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void gz_choose_learn(broad_choice *choice, uint32_t edits, uint32_t live, double seconds, bool anew) {
  if (edits == 0 || live == 0) return; /* nothing was done */
  const double now = seconds / live;
  choice->updates++;
  choice->seconds += seconds;
  if (choice->trial == GRAZE_BROAD_AUTO) {
    if (choice->before == choice->method) /* else it was not in use, and asked for memory */
      learn_cost(&choice->cost[choice->regime][choice->method], now, anew, keeps_up(choice->method));
    return;
  }
  choice->trial_updates++;
  if (choice->trial_updates == 1) choice->trial_first = now;
  if (choice->trial_updates <= 2 || now < choice->trial_least) choice->trial_least = now;
  const bool hopeless = now > (choice->trial_updates == 1 ? HOPELESS_BUILD : HOPELESS) * choice->to_beat;
  choice->hopeless_updates = hopeless ? choice->hopeless_updates + 1 : 0;
  if (choice->trial_updates >= TRIAL || choice->hopeless_updates >= HOPELESS_UPDATES) end_trial(choice);
}

/* ---- in words ---- */

/* Those that were compared. */
static void explain_costs(const broad_choice *choice, char *text, size_t room) {
  contender list[3];
  int count = contenders(choice, choice->regime, choice->live, list), known = 0;
  const broad_cost *cost = choice->cost[choice->regime];
  text[0] = 0;
  for (int i = 0; i < count; i++) known += cost[list[i].method].mean > 0;
  if (known < 2) return;
  for (int i = 0; i < count; i++) {
    graze_broad_method m = list[i].method;
    if (cost[m].mean <= 0) continue;
    int n = snprintf(text, room, ", %s %.0f ns a box", gz_broad_method_of(m)->info.name, 1e9 * cost[m].mean);
    if (n < 0 || (size_t)n >= room) return;
    text += n;
    room -= (size_t)n;
  }
}

void gz_choose_explain(const broad_choice *choice, char *text, size_t room) {
  char shape[64] = "", edited[48] = "", costs[128];
  if (choice->live > BRUTE_MOST) {
    const broad_shape *f = &choice->shape;
    const char *world = f->cluster   ? " in one cluster"
                        : f->lattice ? " on a lattice"
                        : f->planar  ? " in a plane"
                        : f->crowded ? " crowded"
                                     : "";
    snprintf(shape, sizeof shape, "%s, sizes %.2g : 1", world, f->spread);
  }
  if (choice->regime != BROAD_ANEW) {
    snprintf(edited, sizeof edited, ", %.0f %% edited, by %.2g edges",
             choice->live > 0 ? 100.0 * choice->edits / choice->live : 0.0, choice->speed);
  }
  explain_costs(choice, costs, sizeof costs);
  snprintf(text, room, "%u boxes%s%s%s: %s%s", choice->live, shape, edited, costs,
           gz_broad_method_of(choice->method)->info.name, choice->on_trial ? " on trial" : "");
}
