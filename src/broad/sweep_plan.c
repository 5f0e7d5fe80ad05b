/* Sort and sweep: the axis to sweep along, and the bins.
 *
 * What decides is how many minima lie between the minimum and the maximum of a box, as a share of all: its span on an
 * axis. A sweep along the axis looks at so many boxes for each; and an axis that is cut at quantiles of the minima into
 * S strips gives the box 1 + S * span strips. The spans of a sample tell the number of copies and of tests for any
 * plan, whatever the distribution: the ratio of extent to spread, with quantiles in the place of the variance. Strips
 * are added where they save most, as long as they save.
 */
#include <math.h>

#include "base/sort.h"
#include "broad/sweep.h"

enum {
  SAMPLE_MOST = 512, /* boxes */
  SAMPLE_LEAST = 24,
  SAMPLE_PART = 32,  /* a box of so many */
  JUDGED_MOST = 128, /* of them in the judgement of a plan */
  BIN_LEAST = 24,    /* boxes for each bin that may be made */
  BIN_CACHED = 4096  /* entries of a bin that stay in the second-level cache */
};

/* Measured, in nanoseconds: an entry dealt, sorted and started; a test of a follower; what an entry costs more for each
 * doubling of a bin that is out of the cache; a bin. */
static const double entry_cost = 10, test_cost = 0.12, spill_cost = 1, bin_cost = 100;

typedef struct sample {
  uint32_t count;
  float box[SAMPLE_MOST][6];
  float lows[3][SAMPLE_MOST]; /* sorted */
  float span[SAMPLE_MOST][3];
} sample;

/* Every so-maniest box. */
static void take_sample(const broad_view *view, sample *s) {
  uint32_t wanted = view->count / SAMPLE_PART;
  if (wanted < SAMPLE_LEAST) wanted = SAMPLE_LEAST;
  if (wanted > SAMPLE_MOST) wanted = SAMPLE_MOST;
  if (wanted > view->count) wanted = view->count;
  s->count = 0;
  for (uint32_t i = 0; i < wanted; i++) {
    uint32_t slot = (uint32_t)((uint64_t)i * view->count / wanted);
    if (view_takes(view, slot)) pack_box(view, slot, s->box[s->count++]);
  }
}

static uint32_t count_at_most(const float *sorted, uint32_t count, float x) {
  uint32_t low = 0;
  while (count > 0) {
    uint32_t half = count / 2;
    if (sorted[low + half] <= x) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

static void measure_axis(sample *s, int axis, uint64_t *keys) {
  for (uint32_t i = 0; i < s->count; i++) keys[i] = (uint64_t)packed_key(s->box[i][axis]) << 32 | i;
  gz_sort_keys(keys, keys + s->count, s->count);
  for (uint32_t i = 0; i < s->count; i++) s->lows[axis][i] = s->box[(uint32_t)keys[i]][axis];
  for (uint32_t i = 0; i < s->count; i++) {
    uint32_t box = (uint32_t)keys[i];
    uint32_t reach = count_at_most(s->lows[axis], s->count, s->box[box][3 + axis]);
    s->span[box][axis] = (float)(reach > i ? reach - i - 1 : 0) / (float)s->count;
  }
}

/* ---- judging --------------------------------------------------------------------------------------------------- */

static double judge(const sample *s, double boxes, double crowding, int axis, const uint32_t strips[3]) {
  double copies = 0, tests = 0, bins = 1, across = 1;
  uint32_t step = s->count / JUDGED_MOST + 1, judged = 0;
  for (uint32_t i = 0; i < s->count; i += step, judged++) {
    double mine = 1;
    for (int k = 0; k < 3; k++) mine *= 1 + (double)(strips[k] - 1) * (double)s->span[i][k];
    copies += mine;
    tests += mine * (double)s->span[i][axis];
  }
  for (int k = 0; k < 3; k++) {
    bins *= strips[k];
    if (k != axis) across *= strips[k];
  }
  double entries = boxes * copies / judged, spilled = entries / bins / BIN_CACHED;
  double looked_at = boxes * tests / judged * entries / across * crowding;
  double handling = entry_cost + (spilled > 1 ? spill_cost * log2(spilled) : 0);
  return entries * handling + looked_at * test_cost + bins * bin_cost;
}

static uint32_t more_strips(uint32_t strips) {
  return strips < 3 ? strips + 1 : strips + strips / 3;
}

static void choose_strips(const sample *s, double boxes, double crowding, sweep_plan *plan) {
  uint32_t *strips = plan->strips;
  double best = judge(s, boxes, crowding, plan->axis, strips);
  double most = boxes / BIN_LEAST < SWEEP_BINS ? boxes / BIN_LEAST : SWEEP_BINS;
  for (;;) {
    int chosen = -1;
    for (int k = 0; k < 3; k++) {
      uint32_t tried[3] = {strips[0], strips[1], strips[2]};
      tried[k] = more_strips(tried[k]);
      if (plan->scale[k] == 0 || tried[k] > SWEEP_STRIPS || (double)tried[0] * tried[1] * tried[2] > most) continue;
      double cost = judge(s, boxes, crowding, plan->axis, tried);
      if (cost >= best) continue;
      best = cost;
      chosen = k;
    }
    if (chosen < 0) return;
    strips[chosen] = more_strips(strips[chosen]);
  }
}

/* ---- cutting --------------------------------------------------------------------------------------------------- */

/* The cells of an axis lie between the minima that are nearly the first and nearly the last: a box far out must not
 * make them wide. */
static void lay_cells(const sample *s, int axis, sweep_plan *plan) {
  uint32_t edge = s->count / 64;
  float start = s->lows[axis][edge], width = s->lows[axis][s->count - 1 - edge] - start;
  float scale = SWEEP_CELLS / width;
  bool usable = isfinite(start) && isfinite(width) && width > 0 && isnormal(scale);
  plan->start[axis] = usable ? start : 0;
  plan->scale[axis] = usable ? scale : 0;
}

static void cut(const sample *s, int axis, sweep_plan *plan) {
  uint32_t strips = plan->strips[axis], strip = 0, cell = 0;
  uint8_t *table = plan->strip_of[axis];
  if (strips == 1) plan->scale[axis] = 0;
  memset(table, 0, SWEEP_CELLS);
  while (++strip < strips) {
    float border = s->lows[axis][(uint64_t)strip * s->count / strips];
    float x = (border - plan->start[axis]) * plan->scale[axis];
    uint32_t to = x < 0 ? 0 : x < SWEEP_CELLS ? (uint32_t)x : SWEEP_CELLS;
    for (; cell < to; cell++) table[cell] = (uint8_t)(strip - 1);
  }
  for (; cell < SWEEP_CELLS; cell++) table[cell] = (uint8_t)(strips - 1);
}

static void number_bins(sweep_plan *plan) {
  plan->bin_step[2] = 1;
  plan->bin_step[1] = plan->strips[2];
  plan->bin_step[0] = plan->strips[1] * plan->strips[2];
  plan->bins = plan->strips[0] * plan->bin_step[0];
}

void gz_sweep_coarsen(sweep_plan *plan) {
  int widest = 0;
  for (int k = 1; k < 3; k++) {
    if (plan->strips[k] > plan->strips[widest]) widest = k;
  }
  plan->strips[widest] = (plan->strips[widest] + 1) / 2;
  number_bins(plan);
  for (int i = 0; i < SWEEP_CELLS; i++) plan->strip_of[widest][i] /= 2;
}

bool gz_sweep_choose(const broad_view *view, double crowding, buffer *scratch, sweep_plan *plan) {
  size_t keys = 2 * SAMPLE_MOST * sizeof(uint64_t);
  if (!gz_buffer_reserve(view->context, scratch, keys + sizeof(sample), 0)) return false;
  sample *s = (sample *)((char *)scratch->data + keys);
  take_sample(view, s);
  *plan = (sweep_plan){.strips = {1, 1, 1}, .bins = 1};
  if (s->count < SAMPLE_LEAST) return true;
  double least = 0;
  for (int k = 0; k < 3; k++) {
    double sum = 0;
    measure_axis(s, k, scratch->data);
    lay_cells(s, k, plan);
    for (uint32_t i = 0; i < s->count; i++) sum += (double)s->span[i][k];
    if (k > 0 && sum >= least) continue;
    least = sum;
    plan->axis = k;
  }
  choose_strips(s, view->count, crowding, plan);
  for (int k = 0; k < 3; k++) cut(s, k, plan);
  number_bins(plan);
  return true;
}
