/* AUTO: which method, and why.
 *
 * A sample of the boxes says how much their sizes differ and how crowded they are; that settles which method is best
 * when all pairs are found anew. From update to update the share of edited proxies says whether an incremental method
 * can pay. Where two methods come into question, each is tried, and what they cost decides. The other one is tried
 * again from time to time, for the scene may have changed; a trial builds what the method needs, so it has to wait
 * until that is a small part of what updates have cost since.
 */
#include "broad/choose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  BRUTE_MOST = 160, /* boxes for which nothing beats looking at every pair */
  SAMPLE = 512,     /* boxes that are looked at */
  RESAMPLE = 64,    /* updates until they are looked at again */
  SETTLE = 8,       /* updates before a first trial */
  RETRY = 64,       /* and before another one, at least */
  TRIAL = 3         /* updates of a trial; only the last one counts: the first ones build */
};

static const double LIKE_SIZES = 4; /* 95th to 5th percentile: one cell size fits */
static const double RESTING = 0.1;  /* share of edits below which an update should cost what was edited */
static const double PATIENCE = 25;  /* times the price of a trial that updates cost before the next */

/* ---- the boxes ---- */

static int by_size(const void *p, const void *q) {
  double x = *(const double *)p, y = *(const double *)q;
  return (x > y) - (x < y);
}

typedef struct sample_facts {
  double spread;  /* of sizes: 95th to 5th percentile */
  double crowded; /* boxes that a box of middle size is expected to meet */
} sample_facts;

static sample_facts look_at(const broad_view *view, uint32_t live) {
  double sizes[SAMPLE], low[3], high[3];
  uint32_t n = 0, step = view->count / SAMPLE + 1;
  for (int k = 0; k < 3; k++) {
    low[k] = INFINITY;
    high[k] = -INFINITY;
  }
  for (uint32_t i = 0; i < view->count && n < SAMPLE; i += step) {
    graze_box box = view_box(view, i);
    if (box_is_empty(&box)) continue;
    double size = 0;
    for (int k = 0; k < 3; k++) {
      double extent = box.max[k] - box.min[k], middle = box.min[k] + extent / 2;
      if (extent > size) size = extent;
      if (middle < low[k]) low[k] = middle;
      if (middle > high[k]) high[k] = middle;
    }
    sizes[n++] = size;
  }
  if (n == 0) return (sample_facts){1, 0};
  qsort(sizes, n, sizeof *sizes, by_size);
  double small = sizes[n / 20], large = sizes[n - 1 - n / 20], middle = sizes[n / 2];
  sample_facts f = {small > 0 ? large / small : large > 0 ? INFINITY : 1, live};
  for (int k = 0; k < 3; k++) {
    double reach = high[k] - low[k];
    if (reach > 2 * middle) f.crowded *= 2 * middle / reach;
  }
  return f;
}

static void choose_by_shape(broad_choice *choice, const broad_view *view, uint32_t live) {
  sample_facts f = look_at(view, live);
  bool alike = f.spread <= LIKE_SIZES;
  choice->by_shape = alike ? GRAZE_BROAD_GRID : GRAZE_BROAD_HGRID;
  if (live <= BRUTE_MOST || f.crowded >= live / 4.0) choice->by_shape = GRAZE_BROAD_BRUTE;
  snprintf(choice->shape, sizeof choice->shape, "%u boxes, sizes %.3g : 1, about %.2g neighbours each", live, f.spread,
           f.crowded);
  choice->sampled = 1;
}

graze_broad_method choose_once(broad_choice *choice, const broad_view *view) {
  choose_by_shape(choice, view, view->count);
  choice->method = choice->by_shape;
  snprintf(choice->reason, sizeof choice->reason, "%s: %s", choice->shape, broad_method_of(choice->method)->info.name);
  return choice->method;
}

/* ---- from update to update ---- */

/* The methods that come into question, the likeliest first; returns how many. */
static int contenders(const broad_choice *choice, broad_regime regime, uint32_t live, graze_broad_method list[3]) {
  if (live <= BRUTE_MOST) {
    list[0] = GRAZE_BROAD_BRUTE;
    return 1;
  }
  if (regime == BROAD_RESTING) {
    list[0] = GRAZE_BROAD_TREE;
    list[1] = GRAZE_BROAD_SAP;
    return 2;
  }
  list[0] = choice->by_shape;
  list[1] = GRAZE_BROAD_TREE;
  return 2;
}

static graze_broad_method best_of(const broad_choice *choice, const graze_broad_method *list, int count) {
  const double *cost = choice->cost[choice->regime];
  graze_broad_method best = list[0];
  for (int i = 1; i < count; i++) {
    if (cost[list[i]] > 0 && cost[best] > 0 && cost[list[i]] < cost[best]) best = list[i];
  }
  return best;
}

/* Whom to try now. AUTO: nobody. */
static graze_broad_method to_try(const broad_choice *choice, const graze_broad_method *list, int count,
                                 graze_broad_method best) {
  const double *cost = choice->cost[choice->regime], *price = choice->price[choice->regime];
  if (cost[best] <= 0 || choice->updates < SETTLE) return GRAZE_BROAD_AUTO;
  for (int i = 0; i < count; i++) {
    if (list[i] == best) continue;
    bool known = cost[list[i]] > 0;
    if (!known || (choice->updates >= RETRY && choice->seconds >= PATIENCE * price[list[i]])) return list[i];
  }
  return GRAZE_BROAD_AUTO;
}

static void explain(broad_choice *choice, const graze_broad_method *list, int count, uint32_t edits, uint32_t live) {
  const double *cost = choice->cost[choice->regime];
  char costs[64] = "";
  size_t used = 0;
  for (int i = 0; i < count && used < sizeof costs; i++) {
    if (cost[list[i]] <= 0) continue;
    int n = snprintf(costs + used, sizeof costs - used, ", %s %.0f ns a box", broad_method_of(list[i])->info.name,
                     1e9 * cost[list[i]]);
    used += n > 0 ? (size_t)n : 0;
  }
  snprintf(choice->reason, sizeof choice->reason, "%s, %.0f %% edited%s: %s%s", choice->shape,
           live > 0 ? 100.0 * edits / live : 0.0, costs, broad_method_of(choice->method)->info.name,
           choice->trial != GRAZE_BROAD_AUTO ? " on trial" : "");
}

graze_broad_method choose_method(broad_choice *choice, const broad_view *view, uint32_t edits, uint32_t live) {
  double now = live > 0 && edits < live ? (double)edits / live : 1;
  choice->share = choice->method == GRAZE_BROAD_AUTO ? now : 0.75 * choice->share + 0.25 * now;
  broad_regime regime = choice->share < RESTING ? BROAD_RESTING : BROAD_MOVING;
  if (choice->sampled == 0 || choice->sampled > RESAMPLE) choose_by_shape(choice, view, live);
  choice->sampled++;
  graze_broad_method list[3];
  int count = contenders(choice, regime, live, list);
  if (regime != choice->regime) choice->trial = GRAZE_BROAD_AUTO;
  choice->regime = regime;
  graze_broad_method best = best_of(choice, list, count);
  if (choice->trial == GRAZE_BROAD_AUTO) {
    choice->trial = to_try(choice, list, count, best);
    choice->trial_updates = 0;
    choice->trial_seconds = 0;
  }
  choice->before = choice->method;
  choice->method = choice->trial != GRAZE_BROAD_AUTO ? choice->trial : best;
  explain(choice, list, count, edits, live);
  return choice->method;
}

void choose_learn(broad_choice *choice, uint32_t edits, uint32_t live, double seconds) {
  double *cost = &choice->cost[choice->regime][choice->method], now = live > 0 ? seconds / live : 0;
  if (edits == 0 || live == 0) return; /* nothing was done */
  choice->updates++;
  choice->seconds += seconds;
  if (choice->trial == GRAZE_BROAD_AUTO) {
    bool built = choice->before == choice->method;
    if (built) *cost = *cost > 0 ? 0.8 * *cost + 0.2 * now : now;
    return;
  }
  choice->trial_seconds += seconds;
  if (++choice->trial_updates < TRIAL) return;
  *cost = now;
  choice->price[choice->regime][choice->method] = choice->trial_seconds;
  choice->trial = GRAZE_BROAD_AUTO;
  choice->updates = 0;
  choice->seconds = 0;
}
