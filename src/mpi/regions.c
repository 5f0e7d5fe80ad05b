/* Space cut into regions; regions.h says why. */
#include "mpi/regions.h"

#include <float.h>

/* A cut through a larger share of the boxes on its left, which the right side then has too, saves no work. */
#define CROWDED 0.5

/* Of the smaller side's weight so much may be lost, by all cuts that lead to a region together, for cuts that lie on
 * borders of voxels, */
#define SLACK 0.1

/* or for such between the boxes of different owners. */
#define OWNERS_SLACK 0.3

enum { WORTH_SHARING = 64, TILES_A_RANK = 3 };

/* Owners lie apart when less than this share of the boxes is on the side that most of their owner's are not on. */
#define APART 0.2

/* What so many samples stand for may be hidden between samples: a cut between owners, which moves nothing for sure, is
 * preferred to one that seems better by less. */
enum { HIDDEN = 4 };

/* Of a region whose work is known the sides are best known along the axis that it was cut on. */
#define NEW_AXIS 0.2

typedef struct cutting {
  mpi_cutting given;
  mpi_regions *regions;
} cutting;

typedef struct cut_choice {
  bool there;
  uint32_t axis;
  double at, crossing; /* the share of the weight that it goes through */
  double left;         /* the share on its left */
  double off;          /* the share of the weight that is on the wrong side */
  double moved;        /* the share that is not where most of its owner's is */
  double slenderness;  /* extent of the boxes against that of the region: the smaller the better */
  double cost;
} cut_choice;

/* What one of the cuts may lose. */
static double part_of_slack(const cutting *c, double slack) {
  const uint32_t levels = gz_mpi_rank_bits(c->given.ranks);
  return slack / (levels > 2 ? levels : 2);
}

static double share_of(const cutting *c, uint32_t first, uint32_t end) {
  double sum = 0;
  for (uint32_t p = first; p < end; p++) sum += c->given.shares != NULL ? c->given.shares[c->given.order[p]] : 1;
  return sum;
}

static double weight_below(const mpi_mark *marks, uint32_t count, double at) {
  double sum = 0;
  for (uint32_t i = 0; i < count; i++) sum += marks[i].at < at ? marks[i].weight : 0;
  return sum;
}

static void swap_marks(mpi_mark *a, mpi_mark *b) {
  mpi_mark t = *a;
  *a = *b;
  *b = t;
}

/* Quickselect, three ways. */
double gz_mpi_quantile(mpi_mark *marks, uint32_t count, double target) {
  double before = 0;
  while (count > 1) {
    double pivot = marks[count / 2].at, below = 0, equal = 0;
    uint32_t low = 0, i = 0, high = count;
    while (i < high) {
      if (marks[i].at < pivot) {
        below += marks[i].weight;
        swap_marks(&marks[i++], &marks[low++]);
      } else if (marks[i].at > pivot) {
        swap_marks(&marks[i], &marks[--high]);
      } else {
        equal += marks[i++].weight;
      }
    }
    if (low > 0 && before + below >= target) {
      count = low;
    } else if (high == count || before + below + equal >= target) {
      return pivot;
    } else {
      before += below + equal;
      marks += high;
      count -= high;
    }
  }
  return marks[0].at;
}

/* The border of voxels near `at`, if it divides what is between the ends about as well. */
static double on_border(const cutting *c, const mpi_mark *marks, uint32_t count, double at, const double ends[2],
                        double target, double slack) {
  double best = at, least = slack;
  double lower = floor(at / c->given.voxel) * c->given.voxel;
  for (int k = 0; k < 2; k++) {
    double border = lower + k * c->given.voxel;
    if (!(border > ends[0] && border <= ends[1])) continue;
    double off = fabs(weight_below(marks, count, border) - target);
    if (off > least) continue;
    best = border;
    least = off;
  }
  return best;
}

/* The weights of each owner on either side into the tallies; returns the share that is not with most of its owner's. */
static double tally(const cutting *c, uint32_t begin, uint32_t end, uint32_t axis, double at) {
  mpi_tally *tallies = c->given.tallies;
  const mpi_sample *samples = c->given.samples;
  double all = 0, moved = 0;
  for (uint32_t i = begin; i < end; i++) tallies[samples[i].owner] = (mpi_tally){0, 0};
  for (uint32_t i = begin; i < end; i++) {
    mpi_tally *t = &tallies[samples[i].owner];
    *(samples[i].box.min[axis] < at ? &t->left : &t->right) += samples[i].weight;
    all += samples[i].weight;
  }
  for (uint32_t i = begin; i < end; i++) {
    const mpi_tally *t = &tallies[samples[i].owner];
    moved += samples[i].weight * fmin(t->left, t->right) / (t->left + t->right);
  }
  return moved / all;
}

/* The nearest double not above `at`, or else the nearest above, that an entry has the bits for and that parts the ends:
 * low < cut <= high. What lay right of `at` does so of the former. False: there is none. */
static bool fit_cut(const mpi_regions *r, double low, double high, double *at) {
  const uint64_t unit = ~regions_cut_mask(r) + 1;
  uint64_t bits;
  memcpy(&bits, at, sizeof bits);
  const uint64_t towards_zero = bits & regions_cut_mask(r), away = towards_zero + (bits == towards_zero ? 0 : unit);
  const uint64_t fitting[2] = {*at < 0 ? away : towards_zero, *at < 0 ? towards_zero : away};
  for (int k = 0; k < 2; k++) {
    double cut;
    memcpy(&cut, &fitting[k], sizeof cut);
    if (!(low < cut && cut <= high)) continue;
    *at = cut;
    return true;
  }
  return false;
}

static cut_choice choose_on_axis(const cutting *c, uint32_t begin, uint32_t end, uint32_t axis, double part) {
  const uint32_t count = end - begin;
  mpi_mark *marks = c->given.marks;
  double ends[2] = {DBL_MAX, -DBL_MAX}, all = 0, crossing = 0, extent = 0, next = DBL_MAX;
  for (uint32_t i = 0; i < count; i++) {
    const mpi_sample *s = &c->given.samples[begin + i];
    marks[i] = (mpi_mark){s->box.min[axis], s->weight};
    all += s->weight;
    ends[0] = fmin(ends[0], s->box.min[axis]);
    ends[1] = fmax(ends[1], s->box.min[axis]);
    extent += 0.5 * s->box.max[axis] - 0.5 * s->box.min[axis];
  }
  if (!(ends[0] < ends[1])) return (cut_choice){.there = false};
  const double target = part * all;
  double at = gz_mpi_quantile(marks, count, target);
  for (uint32_t i = 0; i < count; i++) next = marks[i].at > at && marks[i].at < next ? marks[i].at : next;
  double below = weight_below(marks, count, at);
  bool later =
      at == ends[0] || (next < DBL_MAX && fabs(weight_below(marks, count, next) - target) < fabs(below - target));
  if (later) at = next;
  at = on_border(c, marks, count, at, ends, target, part_of_slack(c, SLACK) * fmin(target, all - target));
  if (!fit_cut(c->regions, ends[0], ends[1], &at)) return (cut_choice){.there = false};
  for (uint32_t i = begin; i < end; i++) {
    const mpi_sample *s = &c->given.samples[i];
    crossing += s->box.min[axis] < at && at <= s->box.max[axis] ? s->weight : 0;
  }
  double left = weight_below(marks, count, at) / all, moved = 0;
  if (c->given.tallies != NULL) moved = tally(c, begin, end, axis, at);
  if (moved > APART) moved = 0.5; /* chance decides between such */
  double slenderness = extent / count / (0.5 * ends[1] - 0.5 * ends[0]);
  return (cut_choice){.there = true,
                      .axis = axis,
                      .at = at,
                      .crossing = crossing / all,
                      .left = left,
                      .off = fabs(left - part),
                      .moved = moved,
                      .slenderness = slenderness};
}

/* The range in which a cut parts the owners of positions [first, last) to the last box, as many on its left as there
 * are positions: high < cut <= low. False: there is none. */
static bool gap_of_owners(const cutting *c, uint32_t first, uint32_t last, uint32_t axis, double *high, double *low) {
  const uint32_t *order = c->given.order, left = (last - first) / 2;
  const graze_box *bounds = c->given.bounds;
  mpi_mark *marks = c->given.marks;
  uint32_t below = 0;
  for (uint32_t p = first; p < last; p++) {
    if (graze_box_is_empty(&bounds[order[p]])) return false; /* it may be anywhere */
    marks[p - first] = (mpi_mark){bounds[order[p]].min[axis], 1};
  }
  *low = gz_mpi_quantile(marks, last - first, left + 1);
  *high = -DBL_MAX;
  for (uint32_t p = first; p < last; p++) {
    if (!(bounds[order[p]].min[axis] < *low)) continue;
    *high = fmax(*high, bounds[order[p]].max[axis]);
    below++;
  }
  return below == left && *high < *low;
}

/* Where the owners on both sides lie apart to the last box, the cut goes between them if that divides the work nearly
 * as well: then every box stays but those that reach across. Whether it does. */
static bool cut_between_owners(const cutting *c, uint32_t begin, uint32_t end, uint32_t first, uint32_t last,
                               double part, cut_choice *cut) {
  const uint32_t axis = cut->axis;
  double high, low, left = 0, all = 0, crossing = 0;
  if (c->given.tallies == NULL || !cut->there || !gap_of_owners(c, first, last, axis, &high, &low)) return false;
  for (uint32_t i = begin; i < end; i++) {
    const mpi_sample *s = &c->given.samples[i];
    all += s->weight;
    left += s->box.min[axis] < low ? s->weight : 0;
    crossing += s->box.min[axis] < low && low <= s->box.max[axis] ? s->weight : 0;
  }
  left /= all;
  if (!(fabs(left - cut->left) <= part_of_slack(c, OWNERS_SLACK) * fmin(cut->left, 1 - cut->left)) ||
      !fit_cut(c->regions, high, low, &low))
    return false;
  cut->at = low;
  cut->left = left;
  cut->off = fabs(left - part);
  cut->crossing = crossing / all;
  cut->moved = 0;
  return true;
}

static bool is_better(const cut_choice *a, const cut_choice *b) {
  if (!b->there || !a->there) return a->there;
  return a->cost != b->cost ? a->cost < b->cost : a->slenderness < b->slenderness;
}

/* Of the former tree; 3: none. */
static uint32_t former_axis(const cutting *c, uint32_t first, uint32_t last) {
  const mpi_regions *former = c->given.former;
  return former != NULL ? entry_axis(former, former->entries[first + (last - first) / 2]) : 3;
}

static cut_choice choose(const cutting *c, uint32_t begin, uint32_t end, uint32_t first, uint32_t last, double part) {
  const double hidden = (double)HIDDEN / (end - begin);
  const uint32_t former = former_axis(c, first, last);
  cut_choice best = {.there = false};
  for (uint32_t axis = 0; axis < 3; axis++) {
    cut_choice choice = choose_on_axis(c, begin, end, axis, part);
    const bool between = cut_between_owners(c, begin, end, first, last, part, &choice);
    choice.cost = choice.crossing + choice.off + choice.moved + (between ? 0 : hidden) +
                  (former < 3 && axis != former ? NEW_AXIS : 0);
    if (is_better(&choice, &best)) best = choice;
  }
  return best;
}

/* The samples left of the cut come first; returns where the others begin. */
static uint32_t divide(mpi_sample *samples, uint32_t begin, uint32_t end, const cut_choice *cut) {
  uint32_t middle = begin;
  for (uint32_t i = begin; i < end; i++) {
    if (!(samples[i].box.min[cut->axis] < cut->at)) continue;
    mpi_sample s = samples[i];
    samples[i] = samples[middle];
    samples[middle++] = s;
  }
  return middle;
}

static uint32_t stripes_for(uint32_t ranks, double objects) {
  uint32_t k = 2;
  while (k * (k - 1) / 2 < TILES_A_RANK * ranks && 4.0 * (k + 1) <= objects) k++;
  return k;
}

static void set_entry(mpi_regions *r, uint32_t position, uint64_t bits, uint32_t axis) {
  r->entries[position] = bits | (uint64_t)axis << r->rank_bits;
}

/* Positions [first, last) are not parted. */
static void add_leaf(mpi_regions *r, uint32_t first, uint32_t last, double objects) {
  const uint32_t ranks = objects < WORTH_SHARING ? 1 : last - first; /* few: whatever is there */
  const uint64_t stripes = ranks > 1 ? stripes_for(ranks, objects) : 1;
  if (last - first > 1) set_entry(r, first + (last - first) / 2, stripes << (r->rank_bits + 2), 3);
}

static void add_cut(mpi_regions *r, uint32_t middle, const cut_choice *cut) {
  uint64_t bits;
  memcpy(&bits, &cut->at, sizeof bits);
  set_entry(r, middle, bits & regions_cut_mask(r), cut->axis);
}

/* The half of the ranks at positions [first, last) that has most of its boxes on the left comes first. Ranks without
 * boxes may be anywhere. */
static void assign_sides(const cutting *c, uint32_t begin, uint32_t end, uint32_t first, uint32_t last,
                         const cut_choice *cut) {
  const mpi_tally *tallies = c->given.tallies;
  mpi_mark *marks = c->given.marks;
  uint32_t *order = c->given.order, left = (last - first) / 2, taken = 0;
  if (tallies == NULL) return;
  for (uint32_t p = first; p < last; p++) c->given.tallies[order[p]] = (mpi_tally){0, 0};
  tally(c, begin, end, cut->axis, cut->at);
  for (uint32_t p = first; p < last; p++) {
    const mpi_tally *t = &tallies[order[p]];
    marks[p - first] = (mpi_mark){t->right + t->left > 0 ? t->right / (t->right + t->left) : 0.5, 1};
  }
  const double limit = gz_mpi_quantile(marks, last - first, left);
  for (int equal = 0; equal < 2; equal++) { /* those below the limit first, then as many as there is room for at it */
    for (uint32_t p = first + taken; p < last && taken < left; p++) {
      const mpi_tally *t = &tallies[order[p]];
      double share = t->right + t->left > 0 ? t->right / (t->right + t->left) : 0.5;
      if (equal ? share != limit : !(share < limit)) continue;
      uint32_t rank = order[p];
      order[p] = order[first + taken];
      order[first + taken++] = rank;
    }
  }
}

/* Other ranks on either side may have other shares. */
static void cut_by_shares(const cutting *c, uint32_t begin, uint32_t end, uint32_t first, uint32_t last,
                          cut_choice *cut) {
  const uint32_t middle = first + (last - first) / 2;
  const double left = share_of(c, first, middle), part = left / (left + share_of(c, middle, last));
  cut_choice again = choose_on_axis(c, begin, end, cut->axis, part);
  cut_between_owners(c, begin, end, first, last, part, &again);
  if (again.there) *cut = again;
}

/* Samples [begin, end) among positions [first, last). The depth is that of halving the ranks. */
static void cut_region(const cutting *c, uint32_t begin, uint32_t end, uint32_t first, uint32_t last) {
  const uint32_t middle_rank = first + (last - first) / 2;
  double objects = 0;
  for (uint32_t i = begin; i < end; i++) objects += c->given.samples[i].objects;
  cut_choice cut = {.there = false};
  if (last - first > 1) {
    double left = share_of(c, first, middle_rank), right = share_of(c, middle_rank, last);
    if (end - begin > 1) cut = choose(c, begin, end, first, last, left / (left + right));
  }
  if (!cut.there || cut.crossing > CROWDED * cut.left) {
    add_leaf(c->regions, first, last, objects);
    return;
  }
  assign_sides(c, begin, end, first, last, &cut);
  if (c->given.shares != NULL) cut_by_shares(c, begin, end, first, last, &cut);
  const uint32_t middle = divide(c->given.samples, begin, end, &cut);
  add_cut(c->regions, middle_rank, &cut);
  cut_region(c, begin, middle, first, middle_rank);
  cut_region(c, middle, end, middle_rank, last);
}

uint32_t gz_mpi_rank_bits(uint32_t ranks) {
  uint32_t bits = 0;
  while ((uint64_t)1 << bits < ranks) bits++;
  return bits;
}

void gz_mpi_regions_cut(mpi_regions *regions, const mpi_cutting *given) {
  const cutting c = {*given, regions};
  uint32_t *order = given->order;
  regions->ranks = given->ranks;
  regions->rank_bits = order != NULL ? gz_mpi_rank_bits(given->ranks) : 0;
  memset(regions->entries, 0, given->ranks * sizeof *regions->entries);
  for (uint32_t p = 0; order != NULL && p < given->ranks; p++) order[p] = p;
  cut_region(&c, 0, given->count, 0, given->ranks);
  for (uint32_t p = 0; order != NULL && p < given->ranks; p++) regions->entries[p] |= order[p];
}

static uint32_t position_of(const mpi_regions *regions, uint32_t rank) {
  uint32_t position = 0;
  while (regions_rank_at(regions, position) != rank) position++;
  return position;
}

mpi_leaf gz_mpi_regions_leaf_of_rank(const mpi_regions *regions, uint32_t rank, graze_box *bounds) {
  const uint32_t position = position_of(regions, rank);
  uint32_t first = 0, last = regions->ranks;
  *bounds = (graze_box){{-DBL_MAX, -DBL_MAX, -DBL_MAX}, {INFINITY, INFINITY, INFINITY}};
  while (last - first > 1) {
    const uint32_t middle = first + (last - first) / 2;
    const uint64_t entry = regions->entries[middle];
    const uint32_t axis = entry_axis(regions, entry);
    if (axis == 3) {
      const mpi_leaf leaf = entry_leaf(regions, entry, first, last);
      return position < first + leaf.ranks ? leaf : (mpi_leaf){UINT32_MAX, 0, 0};
    }
    if (position < middle) {
      bounds->max[axis] = fmin(bounds->max[axis], entry_cut(regions, entry));
      last = middle;
    } else {
      bounds->min[axis] = fmax(bounds->min[axis], entry_cut(regions, entry));
      first = middle;
    }
  }
  return (mpi_leaf){first, 1, 1};
}
