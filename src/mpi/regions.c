/* Space cut into regions; regions.h says why. */
#include "mpi/regions.h"

#include <float.h>

/* A cut through a larger share of the boxes on its left, which the right side then has too, saves no work. */
#define CROWDED 0.5

/* Of the smaller side's weight: so much may be lost for a cut that lies on a border of voxels. */
#define SLACK 0.05

/* Or for one between the boxes of different owners. */
#define OWNERS_SLACK 0.15

enum { WORTH_SHARING = 64, TILES_A_RANK = 3 };

/* Owners lie apart when less than this share of the boxes is on the side that most of their owner's are not on. */
#define APART 0.2

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
} cut_choice;

static double share_of(const cutting *c, uint32_t first, uint32_t end) {
  double sum = 0;
  for (uint32_t p = first; p < end; p++) sum += c->given.shares != NULL ? c->given.shares[c->regions->order[p]] : 1;
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
  at = on_border(c, marks, count, at, ends, target, SLACK * fmin(target, all - target));
  for (uint32_t i = begin; i < end; i++) {
    const mpi_sample *s = &c->given.samples[i];
    crossing += s->box.min[axis] < at && at <= s->box.max[axis] ? s->weight : 0;
  }
  double left = weight_below(marks, count, at) / all, moved = 0;
  if (c->given.tallies != NULL) moved = tally(c, begin, end, axis, at);
  if (moved > APART) moved = 0.5; /* chance decides between such */
  double slenderness = extent / count / (0.5 * ends[1] - 0.5 * ends[0]);
  return (cut_choice){true, axis, at, crossing / all, left, fabs(left - part), moved, slenderness};
}

static bool is_better(const cut_choice *a, const cut_choice *b) {
  if (!b->there || !a->there) return a->there;
  double x = a->crossing + a->off + a->moved, y = b->crossing + b->off + b->moved;
  return x != y ? x < y : a->slenderness < b->slenderness;
}

static cut_choice choose(const cutting *c, uint32_t begin, uint32_t end, double part) {
  cut_choice best = {.there = false};
  for (uint32_t axis = 0; axis < 3; axis++) {
    cut_choice choice = choose_on_axis(c, begin, end, axis, part);
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

static void add_leaf(mpi_regions *r, uint32_t first, uint32_t ranks, double objects) {
  if (objects < WORTH_SHARING) ranks = 1; /* whatever is there */
  r->nodes[r->node_count++] = (mpi_node){.axis = 3, .right = r->leaf_count};
  r->leaves[r->leaf_count++] = (mpi_leaf){first, ranks, ranks > 1 ? stripes_for(ranks, objects) : 1};
}

/* The half of the ranks at positions [first, last) that has most of its boxes on the left comes first. Ranks without
 * boxes may be anywhere. */
static void assign_sides(const cutting *c, uint32_t begin, uint32_t end, uint32_t first, uint32_t last,
                         const cut_choice *cut) {
  const mpi_tally *tallies = c->given.tallies;
  mpi_mark *marks = c->given.marks;
  uint32_t *order = c->regions->order, left = (last - first) / 2, taken = 0;
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

/* Where the owners on both sides lie apart to the last box, the cut goes between them if that divides the work nearly
 * as well: then every box stays but those that reach across. */
static void cut_between_owners(const cutting *c, uint32_t begin, uint32_t end, uint32_t first, uint32_t last,
                               cut_choice *cut) {
  const uint32_t *order = c->regions->order, middle = first + (last - first) / 2, axis = cut->axis;
  double high = -DBL_MAX, low = DBL_MAX, left = 0, all = 0;
  if (c->given.tallies == NULL || cut->moved > APART) return;
  for (uint32_t p = first; p < middle; p++) high = fmax(high, c->given.bounds[order[p]].max[axis]);
  for (uint32_t p = middle; p < last; p++) low = fmin(low, c->given.bounds[order[p]].min[axis]);
  if (!(high < low) || low == DBL_MAX) return;
  for (uint32_t i = begin; i < end; i++) {
    all += c->given.samples[i].weight;
    left += c->given.samples[i].box.min[axis] < low ? c->given.samples[i].weight : 0;
  }
  if (fabs(left / all - cut->left) <= OWNERS_SLACK * fmin(cut->left, 1 - cut->left)) cut->at = low;
}

/* Samples [begin, end) among ranks [first, last). The depth is that of halving the ranks. */
static void cut_region(const cutting *c, uint32_t begin, uint32_t end, uint32_t first, uint32_t last) {
  mpi_regions *r = c->regions;
  const uint32_t middle_rank = first + (last - first) / 2;
  double objects = 0;
  for (uint32_t i = begin; i < end; i++) objects += c->given.samples[i].objects;
  cut_choice cut = {.there = false};
  if (last - first > 1) {
    double left = share_of(c, first, middle_rank), right = share_of(c, middle_rank, last);
    if (end - begin > 1) cut = choose(c, begin, end, left / (left + right));
  }
  if (!cut.there || cut.crossing > CROWDED * cut.left) {
    add_leaf(r, first, last - first, objects);
    return;
  }
  assign_sides(c, begin, end, first, last, &cut);
  if (c->given.shares != NULL) { /* other ranks may have other shares */
    double left = share_of(c, first, middle_rank), right = share_of(c, middle_rank, last);
    cut = choose_on_axis(c, begin, end, cut.axis, left / (left + right));
  }
  cut_between_owners(c, begin, end, first, last, &cut);
  uint32_t node = r->node_count++, middle = divide(c->given.samples, begin, end, &cut);
  r->nodes[node] = (mpi_node){.cut = cut.at, .axis = cut.axis};
  cut_region(c, begin, middle, first, middle_rank);
  r->nodes[node].right = r->node_count;
  cut_region(c, middle, end, middle_rank, last);
}

void gz_mpi_regions_cut(mpi_regions *regions, const mpi_cutting *given) {
  const cutting c = {*given, regions};
  regions->ranks = given->ranks;
  regions->node_count = regions->leaf_count = 0;
  for (uint32_t p = 0; regions->order != NULL && p < given->ranks; p++) regions->order[p] = p;
  cut_region(&c, 0, given->count, 0, given->ranks);
}

uint32_t gz_mpi_regions_meet(const mpi_regions *regions, const double box[6], uint32_t *found) {
  uint32_t waiting[34], depth = 0, count = 0, n = 0; /* halving 2^32 ranks is no deeper */
  for (;;) {
    const mpi_node *node = &regions->nodes[n];
    if (node->axis < 3) {
      bool left = box[node->axis] < node->cut, right = box[3 + node->axis] >= node->cut;
      if (left && right) waiting[depth++] = node->right;
      n = left ? n + 1 : node->right;
      continue;
    }
    found[count++] = node->right;
    if (depth == 0) return count;
    n = waiting[--depth];
  }
}

uint32_t gz_mpi_regions_leaf_of_rank(const mpi_regions *regions, uint32_t rank) {
  for (uint32_t l = 0; l < regions->leaf_count; l++) {
    const mpi_leaf *leaf = &regions->leaves[l];
    for (uint32_t p = leaf->first; p < leaf->first + leaf->ranks; p++) {
      if (regions->order[p] == rank) return l;
    }
  }
  return regions->leaf_count;
}
