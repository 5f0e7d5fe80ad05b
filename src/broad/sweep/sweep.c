/* Sort and sweep, anew each time: the boxes in the order of their minima along one axis; each is tested against those
 * behind it, a register at a time, up to the first whose minimum lies behind its maximum.
 *
 * With many boxes the runs get long, so that the boxes are first dealt out into bins, strips of the axes where that
 * saves more tests than the copies of boxes that reach into several strips cost; every bin is sorted and swept by
 * itself and stays in the cache. A pair is reported in the bin that has, on each axis, the greater of the two minima:
 * there one of the two begins, so that it comes once. (Baraff, "Dynamic Simulation of Non-Penetrating Rigid Bodies",
 * 1992, for the sweep; Dittrich and Seeger, "Data Redundancy and Duplicate Detection in Spatial Join Processing",
 * ICDE 2000, for the rule.)
 *
 * O(n log n + tests) time. About 8 + 61 c bytes a box, where c, 1 to 1.5 as a rule and 6 at most, is the mean number of
 * bins that a box reaches into. */
#include "broad/sweep/sweep.h"

#include <math.h>

#include "base/cpu.h"
#include "base/sort.h"

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

/* The plan: the axis to sweep along, and the bins.
 *
 * What decides is how many minima lie between the minimum and the maximum of a box, as a share of all: its span on an
 * axis. A sweep along the axis looks at so many boxes for each; and an axis that is cut at quantiles of the minima into
 * S strips gives the box 1 + S * span strips. The spans of a sample tell the number of copies and of tests for any
 * plan, whatever the distribution: the ratio of extent to spread, with quantiles in the place of the variance. Strips
 * are added where they save most, as long as they save.
 */
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

/* Every n-th box. */
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

/* ---- the run ----------------------------------------------------------------------------------------------------- */

enum {
  PIECE_LEAST = 1 << 13, /* boxes */
  COPIES_MOST = 6,       /* mean number of bins of a box before the bins are made coarser */
  TASKS_A_THREAD = 8,
  CROWDED = 3
};

typedef struct range { /* the bins that a box reaches */
  uint32_t bin;        /* the first */
  uint8_t more[3];     /* strips behind the first, on each axis */
  uint8_t taken;       /* 0: none at all */
} range;

typedef struct entry {
  float box[6]; /* as pack_box has it */
  uint32_t slot;
  uint32_t home; /* bit k: its minimum on axis k is in this bin's strip */
} entry;

typedef struct sweeping {
  const broad_view *view;
  const sweep_plan *plan;
  pieces p; /* of slots */
  range *ranges;
  uint32_t *starts; /* while counting: of bin k of piece i at [i * (bins + 1) + k]; the first row ends as all bins' */
  bool rounded[PARALLEL_PIECES];
  entry *entries;
  packed_rows rows;
  uint64_t total;
  uint64_t *keys; /* 2 * largest for each task */
  uint32_t largest;
  uint32_t tasks;
  bool fused; /* a task sweeps the bins that it sorts */
  packed_sweep_function *sweep;
  pair_list *lists; /* of each task */
  bool failed[PARALLEL_PIECES];
} sweeping;

/* ---- dealing out ----------------------------------------------------------------------------------------------- */

static inline range range_of(const sweep_plan *plan, const float box[6]) {
  range r = {.bin = 0, .taken = 1};
  for (int k = 0; k < 3; k++) {
    if (plan->strips[k] == 1) continue;
    uint32_t first = sweep_strip(plan, k, box[k]);
    r.bin += first * plan->bin_step[k];
    r.more[k] = (uint8_t)(sweep_strip(plan, k, box[3 + k]) - first);
  }
  return r;
}

static inline bool in_one_bin(range r) {
  return (r.more[0] | r.more[1] | r.more[2]) == 0;
}

static void count_piece(void *argument, uint32_t index) {
  sweeping *s = argument;
  const sweep_plan *plan = s->plan;
  uint32_t *counts = s->starts + (size_t)index * (plan->bins + 1);
  uint64_t sum = 0;
  bool rounded = false;
  memset(counts, 0, (plan->bins + 1) * sizeof *counts);
  for (uint64_t i = pieces_begin(&s->p, index); i < pieces_end(&s->p, index); i++) {
    if (!view_takes(s->view, (uint32_t)i)) {
      s->ranges[i].taken = 0;
      continue;
    }
    float box[6];
    rounded |= pack_box(s->view, (uint32_t)i, box);
    range r = s->ranges[i] = range_of(plan, box);
    if (in_one_bin(r)) {
      counts[r.bin]++;
      sum++;
      continue;
    }
    for (uint32_t x = 0; x <= r.more[0]; x++) {
      for (uint32_t y = 0; y <= r.more[1]; y++) {
        uint32_t row = r.bin + x * plan->bin_step[0] + y * plan->bin_step[1];
        for (uint32_t z = 0; z <= r.more[2]; z++) counts[row + z * plan->bin_step[2]]++;
        sum += r.more[2] + 1u;
      }
    }
  }
  counts[plan->bins] = sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
  s->rounded[index] = rounded;
}

/* Written in its place at once: an entry that is put together and then copied makes the processor wait. */
static inline void deal(const sweeping *s, uint32_t *next, uint32_t bin, uint32_t slot, uint32_t home) {
  entry *e = &s->entries[next[bin]++];
  __builtin_prefetch(e + 2, 1); /* the line that this bin will write to next */
  pack_box(s->view, slot, e->box);
  e->slot = slot;
  e->home = home;
}

static void deal_copies(const sweeping *s, uint32_t *next, range r, uint32_t slot) {
  const uint32_t *step = s->plan->bin_step;
  for (uint32_t x = 0; x <= r.more[0]; x++) {
    for (uint32_t y = 0; y <= r.more[1]; y++) {
      for (uint32_t z = 0; z <= r.more[2]; z++) {
        uint32_t home = (uint32_t)(x == 0) | (uint32_t)(y == 0) << 1 | (uint32_t)(z == 0) << 2;
        deal(s, next, r.bin + x * step[0] + y * step[1] + z * step[2], slot, home);
      }
    }
  }
}

static void deal_piece(void *argument, uint32_t index) {
  sweeping *s = argument;
  uint32_t *next = s->starts + (size_t)index * (s->plan->bins + 1);
  for (uint64_t i = pieces_begin(&s->p, index); i < pieces_end(&s->p, index); i++) {
    range r = s->ranges[i];
    if (!r.taken) continue;
    if (in_one_bin(r)) {
      deal(s, next, r.bin, (uint32_t)i, PACKED_HOME);
    } else {
      deal_copies(s, next, r, (uint32_t)i);
    }
  }
}

static uint64_t count_entries(sweeping *s) {
  uint64_t sum = 0;
  gz_parallel_each(s->view->context, s->p.number, count_piece, s);
  for (uint32_t i = 0; i < s->p.number; i++) sum += s->starts[(size_t)i * (s->plan->bins + 1) + s->plan->bins];
  return sum;
}

/* From counts to places: bin after bin, and in a bin piece after piece. */
static void place_entries(sweeping *s) {
  uint32_t bins = s->plan->bins, at = 0;
  s->largest = 0;
  for (uint32_t k = 0; k < bins; k++) {
    uint32_t start = at;
    for (uint32_t i = 0; i < s->p.number; i++) {
      uint32_t *cell = s->starts + (size_t)i * (bins + 1) + k;
      uint32_t count = *cell;
      *cell = at;
      at += count;
    }
    if (at - start > s->largest) s->largest = at - start;
  }
}

/* Every piece has moved its places to where the next piece's began, so that the last one's are the ends of the bins. */
static inline uint32_t bin_end(const sweeping *s, uint32_t bin) {
  return s->starts[(size_t)(s->p.number - 1) * (s->plan->bins + 1) + bin];
}

static inline uint32_t bin_begin(const sweeping *s, uint32_t bin) {
  return bin > 0 ? bin_end(s, bin - 1) : 0;
}

/* ---- sorting a bin --------------------------------------------------------------------------------------------- */

/* Stable, by 16 bits of the keys' high halves. */
static void sort_by_digits(uint64_t *keys, uint64_t *scratch, uint32_t count, uint32_t lowest, unsigned shift) {
  uint32_t histogram[2][256] = {{0}};
  for (uint32_t i = 0; i < count; i++) {
    uint32_t digits = ((uint32_t)(keys[i] >> 32) - lowest) >> shift;
    histogram[0][digits & 255]++;
    histogram[1][digits >> 8]++;
  }
  for (uint32_t d = 0, p = 0, q = 0; d < 256; d++) {
    uint32_t x = histogram[0][d], y = histogram[1][d];
    histogram[0][d] = p;
    histogram[1][d] = q;
    p += x;
    q += y;
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t digits = ((uint32_t)(keys[i] >> 32) - lowest) >> shift;
    scratch[histogram[0][digits & 255]++] = keys[i];
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t digits = ((uint32_t)(scratch[i] >> 32) - lowest) >> shift;
    keys[histogram[1][digits >> 8]++] = scratch[i];
  }
}

/* False: too far from sorted for this to be quick. */
static bool sort_nearly_sorted(uint64_t *keys, uint32_t count) {
  uint64_t moves = 0, most = 4 * (uint64_t)count;
  for (uint32_t i = 1; i < count; i++) {
    uint64_t key = keys[i];
    uint32_t j = i;
    for (; j > 0 && keys[j - 1] > key; j--) keys[j] = keys[j - 1];
    keys[j] = key;
    moves += i - j;
    if (moves > most) return false;
  }
  return true;
}

/* By 16 bits between the lowest and the highest, then by what little is left. */
static void sort_bin(uint64_t *keys, uint64_t *scratch, uint32_t count) {
  enum { SHORT = 32, LONG = 1 << 15 };
  if (count > SHORT && count < LONG) {
    uint32_t lowest = UINT32_MAX, highest = 0;
    for (uint32_t i = 0; i < count; i++) {
      uint32_t key = (uint32_t)(keys[i] >> 32);
      lowest = key < lowest ? key : lowest;
      highest = key > highest ? key : highest;
    }
    unsigned shift = 0;
    while ((highest - lowest) >> shift > 0xffff) shift++;
    sort_by_digits(keys, scratch, count, lowest, shift);
  }
  if (count >= LONG || !sort_nearly_sorted(keys, count)) gz_sort_keys(keys, scratch, count);
}

/* Entries of one bin, in order, into the rows. */
static void order_bin(const sweeping *s, const packed_rows *rows, uint32_t begin, uint32_t end, uint64_t *keys) {
  const entry *entries = s->entries + begin;
  uint32_t count = end - begin;
  for (uint32_t i = 0; i < count; i++) keys[i] = (uint64_t)packed_key(entries[i].box[s->plan->axis]) << 32 | i;
  sort_bin(keys, keys + s->largest, count);
  int axes[3] = {s->plan->axis, (s->plan->axis + 1) % 3, (s->plan->axis + 2) % 3};
  for (uint32_t i = 0; i < count; i++) {
    const entry *e = &entries[(uint32_t)keys[i]];
    uint32_t place = begin + i;
    for (int k = 0; k < 3; k++) {
      rows->low[k][place] = e->box[axes[k]];
      rows->high[k][place] = e->box[3 + axes[k]];
    }
    rows->slots[place] = e->slot;
    rows->home[place] = (uint8_t)e->home;
  }
}

/* ---- tasks ----------------------------------------------------------------------------------------------------- */

/* The first bin that begins at or behind a place. */
static uint32_t bin_behind(const sweeping *s, uint64_t place) {
  uint32_t low = 0, high = s->plan->bins;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (bin_begin(s, middle) < place) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* A task that sweeps what it sorts has rows that lie a register away from those of the task before. The kernel loads
 * whole registers: behind the end of a bin they hold boxes of the next, or what was there before, which it drops, but
 * nothing that another thread is writing. */
static packed_rows rows_of(const sweeping *s, uint32_t task) {
  packed_rows rows = s->rows;
  size_t ahead = s->fused ? (size_t)task * PACKED_LANES : 0;
  for (int k = 0; k < 3; k++) {
    rows.low[k] += ahead;
    rows.high[k] += ahead;
  }
  rows.slots += ahead;
  rows.home += ahead;
  return rows;
}

/* The bins that begin in an equal share of the entries. */
static void bins_task(void *argument, uint32_t index) {
  sweeping *s = argument;
  const packed_rows rows = rows_of(s, index);
  uint32_t to = index + 1 < s->tasks ? bin_behind(s, s->total * (index + 1) / s->tasks) : s->plan->bins;
  for (uint32_t bin = bin_behind(s, s->total * index / s->tasks); bin < to; bin++) {
    uint32_t begin = bin_begin(s, bin), end = bin_end(s, bin);
    order_bin(s, &rows, begin, end, s->keys + 2 * (size_t)s->largest * index);
    if (s->fused && !s->failed[index]) {
      s->failed[index] = !s->sweep(&rows, begin, end, end, s->view, &s->lists[index]);
    }
  }
}

/* An equal share of the entries, whatever bins they are in. */
static void sweep_task(void *argument, uint32_t index) {
  sweeping *s = argument;
  uint32_t begin = (uint32_t)(s->total * index / s->tasks), to = (uint32_t)(s->total * (index + 1) / s->tasks);
  uint32_t bin = bin_behind(s, (uint64_t)begin + 1);
  if (bin > 0) bin--; /* the one that has the place */
  for (; begin < to && !s->failed[index]; bin++) {
    uint32_t last = bin_end(s, bin), end = last < to ? last : to;
    if (begin < end) s->failed[index] = !s->sweep(&s->rows, begin, end, last, s->view, &s->lists[index]);
    if (begin < end) begin = end;
  }
}

/* ---- the method ------------------------------------------------------------------------------------------------ */

/* How many times as many boxes a box has beside it in its bin as it would have if all bins had the same. */
static double crowding(const sweeping *s) {
  uint32_t bins = s->plan->bins;
  double squares = 0;
  for (uint32_t k = 0; k < bins; k++) {
    double count = 0;
    for (uint32_t i = 0; i < s->p.number; i++) count += s->starts[(size_t)i * (bins + 1) + k];
    squares += count * count;
  }
  return s->total == 0 ? 1 : squares * bins / ((double)s->total * (double)s->total);
}

static bool count_bins(sweep_state *state, sweeping *s) {
  size_t counters = (size_t)s->p.number * (s->plan->bins + 1);
  if (!gz_buffer_reserve(s->view->context, &state->starts, counters * sizeof(uint32_t), 0)) return false;
  s->starts = state->starts.data;
  s->total = count_entries(s);
  return true;
}

/* Chooses bins and counts what falls into them. Where boxes crowd in few of the bins, as the axes by themselves did not
 * tell, the choice is made again in that knowledge. */
static bool count_boxes(sweep_state *state, sweeping *s) {
  const graze_context *c = s->view->context;
  size_t slots = s->view->count;
  s->plan = &state->plan;
  s->p = pieces_of(slots, PIECE_LEAST);
  if (!gz_sweep_choose(s->view, 1, &state->scratch, &state->plan) ||
      !gz_buffer_reserve(c, &state->ranges, slots * sizeof(range), 0)) {
    return false;
  }
  s->ranges = state->ranges.data;
  if (!count_bins(state, s)) return false;
  double crowd = s->plan->bins > 1 ? crowding(s) : 1;
  if (crowd > CROWDED) {
    if (!gz_sweep_choose(s->view, crowd, &state->scratch, &state->plan) || !count_bins(state, s)) return false;
  }
  while (s->total > COPIES_MOST * (uint64_t)slots || s->total > UINT32_MAX - PACKED_LANES) {
    if (s->plan->bins == 1) return false;
    gz_sweep_coarsen(&state->plan);
    s->total = count_entries(s);
  }
  return true;
}

static void lay_rows(sweeping *s, void *memory, size_t room) {
  float *at = memory;
  for (int k = 0; k < 3; k++) {
    s->rows.low[k] = at + (size_t)k * room;
    s->rows.high[k] = at + (size_t)(3 + k) * room;
  }
  s->rows.slots = (uint32_t *)(at + 6 * room);
  s->rows.home = (uint8_t *)(at + 7 * room);
}

static bool lay_out(sweep_state *state, sweeping *s) {
  const graze_context *c = s->view->context;
  int threads = gz_parallel_threads(c);
  s->tasks = threads == 1 ? 1 : (uint32_t)threads * TASKS_A_THREAD;
  if (s->tasks > PARALLEL_PIECES) s->tasks = PARALLEL_PIECES;
  if (s->tasks > s->plan->bins) s->tasks = s->plan->bins;
  s->fused = (uint64_t)s->largest * 2 * (uint32_t)threads <= s->total || threads == 1;
  size_t behind = (s->fused ? s->tasks : 1) * (size_t)PACKED_LANES;
  size_t room = ((size_t)s->total + behind + PACKED_LANES - 1) / PACKED_LANES * PACKED_LANES;
  size_t keys = 2 * (size_t)s->largest * s->tasks * sizeof(uint64_t);
  if (!gz_buffer_reserve(c, &state->entries, s->total * sizeof(entry), 0) ||
      !gz_buffer_reserve(c, &state->rows, 7 * room * sizeof(float) + room, 0) ||
      !gz_buffer_reserve(c, &state->scratch, keys, 0)) {
    return false;
  }
  s->entries = state->entries.data;
  s->keys = state->scratch.data;
  lay_rows(s, state->rows.data, room);
  return true;
}

static bool run_tasks(sweep_state *state, sweeping *s, pair_list *out) {
  const graze_context *c = s->view->context;
  s->lists = s->tasks == 1 ? out : state->parts.part;
  gz_parallel_each(c, s->tasks, bins_task, s);
  if (!s->fused) {
    s->tasks = (uint32_t)gz_parallel_threads(c) * TASKS_A_THREAD;
    if (s->tasks > PARALLEL_PIECES) s->tasks = PARALLEL_PIECES;
    s->lists = state->parts.part;
    gz_parallel_each(c, s->tasks, sweep_task, s);
  }
  bool failed = false;
  for (uint32_t i = 0; i < s->tasks; i++) failed |= s->failed[i];
  if (s->lists == out) return !failed;
  if (failed) {
    for (uint32_t i = 0; i < s->tasks; i++) state->parts.part[i].count = 0;
    return false;
  }
  return gz_pair_lists_join(c, &state->parts, s->tasks, out);
}

graze_status gz_sweep_find(sweep_state *state, const broad_view *view, pair_list *out) {
  if (view->count < 2) return GRAZE_OK;
  sweeping s = {.view = view, .sweep = CPU_KERNEL(gz_packed_sweep)};
  if (!count_boxes(state, &s)) return GRAZE_ERROR_MEMORY;
  place_entries(&s);
  if (!lay_out(state, &s)) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < s.p.number; i++) s.rows.rounded |= s.rounded[i];
  gz_parallel_each(view->context, s.p.number, deal_piece, &s);
  return run_tasks(state, &s, out) ? GRAZE_OK : GRAZE_ERROR_MEMORY;
}

void gz_sweep_release(const graze_context *context, sweep_state *s) {
  buffer *buffers[] = {&s->ranges, &s->starts, &s->entries, &s->rows, &s->scratch};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) gz_buffer_release(context, buffers[i]);
  gz_pair_lists_release(context, &s->parts);
}

size_t gz_sweep_bytes(const sweep_state *s) {
  return s->ranges.bytes + s->starts.bytes + s->entries.bytes + s->rows.bytes + s->scratch.bytes +
         gz_pair_lists_bytes(&s->parts);
}

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  return gz_sweep_find(state, view, out);
}

static void release(const graze_context *context, void *state) {
  gz_sweep_release(context, state);
}

static size_t bytes(const void *state) {
  return gz_sweep_bytes(state);
}

const broad_method gz_broad_sweep = {
    .info = {"sweep", "sort along the best axis and sweep, in bins", "O(n log n + tests)", false},
    .state_bytes = sizeof(sweep_state),
    .find = find,
    .release = release,
    .bytes = bytes};
