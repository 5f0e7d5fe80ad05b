/* Which cells the spatial hash has, and where in memory its boxes are. */
#include <string.h>

#include "broad/hash.h"

static double longest_edge(const graze_box *b) {
  double longest = 0;
  for (int k = 0; k < 3; k++) {
    double edge = b->max[k] - b->min[k];
    longest = edge > longest ? edge : longest;
  }
  return longest;
}

/* What the choice of the cell needs. */
typedef struct hash_survey {
  graze_box all;
  uint32_t boxes;
  uint32_t exponents[2048]; /* how many boxes have 1.5 times their edge in [2^(e - 1023), 2^(e - 1022)) */
} hash_survey;

static unsigned exponent_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (unsigned)(bits >> 52) & 2047;
}

static void survey(const broad_view *view, hash_survey *v) {
  const double inf = (double)INFINITY;
  *v = (hash_survey){.all = {{inf, inf, inf}, {-inf, -inf, -inf}}};
  for (uint32_t slot = 0; slot < view->count; slot++) {
    if (!view_takes(view, slot)) continue;
    graze_box b = view_box(view, slot);
    for (int k = 0; k < 3; k++) {
      v->all.min[k] = b.min[k] < v->all.min[k] ? b.min[k] : v->all.min[k];
      v->all.max[k] = b.max[k] > v->all.max[k] ? b.max[k] : v->all.max[k];
    }
    v->exponents[exponent_of(1.5 * longest_edge(&b))]++;
    v->boxes++;
  }
}

enum { CROWD_BITS = 16, CROWD_BOXES = 1 << 14 };

/* How many boxes there are in the cell of the lower corner of a box, in the mean, for cells of edge 2^exponent. Looks
 * at all boxes of some cells, so many that the counters are nearly all of one cell each. */
static double crowd(const broad_view *view, hash_state *s, uint32_t boxes, int exponent) {
  uint32_t *counters = s->codes.data;
  memset(counters, 0, sizeof *counters << CROWD_BITS);
  unsigned skip = 0;
  while (boxes >> skip > CROWD_BOXES) skip++;
  double inverse = ldexp(1, -exponent), squares = 0, seen = 1;
  for (uint32_t slot = 0; slot < view->count; slot++) {
    if (!view_takes(view, slot)) continue;
    graze_box b = view_box(view, slot);
    int64_t at[3];
    for (int k = 0; k < 3; k++) at[k] = hash_coordinate(b.min[k], inverse);
    uint64_t hash = hash_of_cell(0, at);
    if ((hash >> 24 & ((1u << skip) - 1)) != 0) continue;
    squares += 1 + 2.0 * counters[hash >> (64 - CROWD_BITS)]++;
    seen++;
  }
  return squares / seen;
}

/* How many levels above the first have boxes when the first has cells of edge 2^exponent. */
static int levels_above(const hash_survey *v, int exponent) {
  int levels = 0;
  for (int e = exponent + 1; e <= 1024; e += 2) {
    levels += v->exponents[e + 1022] != 0 || (e < 1024 && v->exponents[e + 1023] != 0);
  }
  return levels;
}

/* The finest cell. For half of the boxes it is the next power of two above 1.5 edges, so that no cell has many of the
 * rest when boxes of all sizes are spread alike; wider when the sizes are mixed and the boxes not so dense that this
 * costs more tests than it saves levels to look through. The largest number is at most 2^30 cells away, for which the
 * levels suffice. */
static int choose_exponent(const broad_view *view, hash_state *s, const hash_survey *v) {
  enum { TRIED = 8, LEVEL_COST = 10 }; /* in boxes of a crowd, roughly: 5 and 40 choose alike on common scenes */
  double farthest = 0;
  for (int k = 0; k < 3; k++) farthest = fmax(farthest, fmax(fabs(v->all.min[k]), fabs(v->all.max[k])));
  uint32_t seen = 0;
  int first = 0;
  while (first < 2047 && (seen += v->exponents[first]) < v->boxes - v->boxes / 2) first++;
  first -= 1022;
  int least = (int)exponent_of(farthest) - 1022 - 30;
  if (first < least) first = least;
  int levels = levels_above(v, first), best = first;
  double lowest = (double)INFINITY;
  for (int e = first; e < first + TRIED && e <= 1000 && levels > 0; e++) {
    levels = levels_above(v, e);
    double cost = crowd(view, s, v->boxes, e) + LEVEL_COST * levels;
    if (cost < lowest) {
      lowest = cost;
      best = e;
    }
  }
  return best;
}

static void set_cells(hash_state *s, int exponent) {
  for (int level = 0; level < HASH_LEVELS; level++) {
    int e = exponent + 2 * level;
    e = e < -1022 ? -1022 : e > 1023 ? 1023 : e;
    s->size[level] = ldexp(1, e);
    s->inverse[level] = 1 / s->size[level];
  }
}

enum { CODE_BITS = 5, CODES = 1 << 3 * CODE_BITS, NO_CODE = CODES };

/* The coarse place of a box among all: of 32 parts an axis, the bits of the three axes in turn. */
static uint16_t code_of(const graze_box *b, const graze_box *all, const double scale[3]) {
  unsigned code = 0;
  for (int k = 0; k < 3; k++) {
    unsigned part = (unsigned)((0.5 * b->min[k] - 0.5 * all->min[k]) * scale[k]);
    if (part >= 1u << CODE_BITS) part = (1u << CODE_BITS) - 1;
    for (int bit = 0; bit < CODE_BITS; bit++) code |= (part >> bit & 1) << (3 * bit + k);
  }
  return (uint16_t)code;
}

/* Gives the boxes their places, in the order of their codes: a counting sort. */
static bool place_boxes(const broad_view *view, hash_state *s, const hash_survey *v) {
  const graze_context *context = view->context;
  if (!gz_buffer_reserve(context, &s->places, view->count * sizeof(uint32_t), 0)) return false;
  if (!gz_buffer_reserve(context, &s->boxes, v->boxes * sizeof(hash_box), 0)) return false;
  size_t code_bytes = (view->count * sizeof(uint16_t) + 63) / 64 * 64;
  if (!gz_buffer_reserve(context, &s->codes, code_bytes + (CODES + 1) * sizeof(uint32_t), 0)) return false;
  uint16_t *codes = s->codes.data;
  uint32_t *next = (uint32_t *)((char *)s->codes.data + code_bytes), *places = s->places.data;
  memset(next, 0, (CODES + 1) * sizeof *next);
  double scale[3];
  for (int k = 0; k < 3; k++) {
    double half = 0.5 * v->all.max[k] - 0.5 * v->all.min[k];
    scale[k] = half > 1e-290 ? (1 << CODE_BITS) / half : 0;
  }
  for (uint32_t slot = 0; slot < view->count; slot++) {
    codes[slot] = NO_CODE;
    places[slot] = HASH_NONE;
    if (!view_takes(view, slot)) continue;
    graze_box box = view_box(view, slot);
    codes[slot] = code_of(&box, &v->all, scale);
    next[codes[slot] + 1]++;
  }
  for (int code = 0; code < CODES; code++) next[code + 1] += next[code];
  hash_box *boxes = s->boxes.data;
  for (uint32_t slot = 0; slot < view->count; slot++) {
    if (codes[slot] == NO_CODE) continue;
    graze_box box = view_box(view, slot);
    places[slot] = next[codes[slot]]++;
    boxes[places[slot]] = hash_packed(&box, slot);
  }
  s->box_end = v->boxes;
  s->slot_count = view->count;
  return true;
}

bool gz_hash_plan(const broad_view *view, hash_state *s) {
  hash_survey v;
  survey(view, &v);
  if (!gz_buffer_reserve(view->context, &s->codes, sizeof(uint32_t) << CROWD_BITS, 0)) return false;
  set_cells(s, choose_exponent(view, s, &v));
  return place_boxes(view, s, &v);
}
