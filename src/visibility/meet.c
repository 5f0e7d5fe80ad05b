/* Boxes of two lists that meet: space is halved, across the longest side of what the boxes of both have in common, and
 * each half gets the boxes that reach into it, until there are few or halving parts them no more. Of a pair that is in
 * several cells the one counts that holds the lowest point that both boxes have.
 *
 * Cells are as small as the boxes in them are, as those of a grid cannot be everywhere, and nothing is kept. */
#include "visibility/meet.h"

enum { FEW = 2048, DEEPEST = 48 }; /* pairs in a cell that are compared as they are; halvings */

/* Half open; the numbers of boxes of both lists lie one behind the other in the memory. */
typedef struct cell {
  visibility_span room;
  size_t at;
  uint32_t count[2];
} cell;

static uint32_t *numbers_of(const visibility_meeting *m, const cell *c, int list) {
  return (uint32_t *)m->memory->data + c->at + (list == 0 ? 0 : c->count[0]);
}

static bool is_counted(const cell *c, const visibility_span *a, const visibility_span *b) {
  const v4 low = v4_max(a->low, b->low);
  return v4_all((low >= c->room.low) & (low < c->room.high));
}

static void compare(const visibility_meeting *m, const cell *c) {
  const uint32_t *first = numbers_of(m, c, 0), *second = numbers_of(m, c, 1);
  for (uint32_t i = 0; i < c->count[0]; i++) {
    const visibility_span a = m->boxes[0][first[i]];
    for (uint32_t j = 0; j < c->count[1]; j++) {
      const visibility_span b = m->boxes[1][second[j]];
      if (visibility_spans_meet(a, b) && is_counted(c, &a, &b)) m->take(m->user, first[i], second[j]);
    }
  }
}

static visibility_span box_of(const visibility_meeting *m, const cell *c, int list) {
  const uint32_t *numbers = numbers_of(m, c, list);
  visibility_span box = m->boxes[list][numbers[0]];
  for (uint32_t i = 1; i < c->count[list]; i++) box = visibility_spans_join(box, m->boxes[list][numbers[i]]);
  return box;
}

/* Where a cell is halved: in the middle of what both lists have in common. False: they have nothing. */
static bool choose_cut(const visibility_meeting *m, const cell *c, int *axis, float *middle) {
  const visibility_span a = box_of(m, c, 0), b = box_of(m, c, 1);
  const v4 lows = v4_max(v4_max(a.low, b.low), c->room.low), highs = v4_min(v4_min(a.high, b.high), c->room.high);
  float longest = -1;
  for (int k = 0; k < 3; k++) {
    const float low = lows[k], high = highs[k];
    if (low > high) return false;
    if (high - low <= longest) continue;
    longest = high - low;
    *axis = k;
    *middle = low + longest / 2;
  }
  return true;
}

/* One half, at a place in the memory. */
static bool make_half(const visibility_meeting *m, const cell *c, int axis, float middle, bool upper, cell *half) {
  const size_t room = half->at + c->count[0] + c->count[1], at = half->at;
  if (!gz_buffer_reserve(m->context, m->memory, room * sizeof(uint32_t), at * sizeof(uint32_t))) return false;
  uint32_t *to = (uint32_t *)m->memory->data + at;
  *half = *c;
  half->at = at;
  if (upper)
    half->room.low[axis] = middle;
  else
    half->room.high[axis] = middle;
  for (int list = 0; list < 2; list++) {
    const uint32_t *from = numbers_of(m, c, list);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->count[list]; i++) {
      const visibility_span *box = &m->boxes[list][from[i]];
      to[kept] = from[i];
      kept += upper ? box->high[axis] >= middle : box->low[axis] < middle;
    }
    half->count[list] = kept;
    to += kept;
  }
  return true;
}

static uint64_t pairs_in(const cell *c) {
  return (uint64_t)c->count[0] * c->count[1];
}

static size_t end_of(const cell *c) {
  return c->at + c->count[0] + c->count[1];
}

/* The upper half lies last and is opened first, for what is opened writes behind itself. */
static bool open_cell(const visibility_meeting *m, const cell *c, int depth) {
  int axis = 0;
  float middle = 0;
  if (pairs_in(c) == 0 || !choose_cut(m, c, &axis, &middle)) return true;
  bool parted = pairs_in(c) > FEW && depth < DEEPEST;
  if (parted) {
    cell lower = {.at = end_of(c)}, upper;
    if (!make_half(m, c, axis, middle, false, &lower)) return false;
    upper.at = end_of(&lower);
    if (!make_half(m, c, axis, middle, true, &upper)) return false;
    parted = pairs_in(&lower) + pairs_in(&upper) < pairs_in(c) - pairs_in(c) / 8; /* else most reach into both */
    if (parted) return open_cell(m, &upper, depth + 1) && open_cell(m, &lower, depth + 1);
  }
  compare(m, c);
  return true;
}

bool gz_visibility_meet(const visibility_meeting *m, uint32_t first, uint32_t end, uint32_t count) {
  cell all = {.count = {end - first, count}};
  if (!gz_buffer_reserve(m->context, m->memory, ((size_t)end - first + count) * sizeof(uint32_t), 0)) return false;
  uint32_t *numbers = m->memory->data;
  all.room = (visibility_span){v4_set(-INFINITY), v4_set(INFINITY)};
  for (uint32_t i = first; i < end; i++) *numbers++ = i;
  for (uint32_t i = 0; i < count; i++) *numbers++ = i;
  return open_cell(m, &all, 0);
}
