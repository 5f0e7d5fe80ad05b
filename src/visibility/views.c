/* Views of the whole scene: CULLIDE, and its successors with bounds and with sets.
 *
 * An item is what goes whole or stays: an object, then a triangle. A group is what is held against the picture before
 * any of it is drawn: the items of an object. Of an item two things can be known: that it meets nothing of the groups
 * before its own (a pass in order has seen it whole), and nothing of those behind. Of whom both is known is gone.
 *
 * Plainly both must be seen in the same view, and all that is left is drawn. With sets what is known stays known, for
 * the order does not change; then an item that meets nothing behind it need not be drawn in a pass in order, and one
 * that meets nothing before it need not be held against it; reversed alike. Less is drawn, so that more is seen whole:
 * never more is left than plainly, as both go on until a round over all views changes nothing.
 *
 * Of one object alone every triangle is a group. Triangles with a common corner are no pairs, by the doubles; pictures
 * know nothing of that, so that triangles may stay where a surface folds in the picture. */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "visibility/fat.h"
#include "visibility/image.h"
#include "visibility/load.h"

enum { FREE_BEFORE = 1, FREE_BEHIND = 2, FREE = 3, GONE = 4 };

/* Scenes are drawn at least so thick, as a share of their greatest side. */
#define SHARE 0x1p-10f

typedef struct scene_views {
  graze_visibility *v;
  bool sets, alone; /* one object: its triangles among themselves */
  graze_visibility_level level;
  visibility_rule rule;
  visibility_picture pictures[3];
  uint32_t faces; /* triangles on the device for each one */
  uint32_t groups;
  uint8_t *objects;            /* what is known of objects, */
  uint8_t *triangles;          /* and of loaded triangles */
  const graze_box_pair *pairs; /* of groups */
  uint64_t pair_count;
  bool changed; /* in this round */
} scene_views;

typedef struct scene_pass {
  bool reverse;
  visibility_step *steps;
  uint32_t *groups; /* of the steps */
  uint32_t step_count;
  uint32_t *list; /* of triangles on the device */
  uint32_t used;
  uint8_t *flags;
  graze_visibility_pass record;
} scene_pass;

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static uint32_t group_first(const scene_views *s, uint32_t group) {
  return s->alone ? group : s->v->objects[group].first;
}

static uint32_t group_size(const scene_views *s, uint32_t group) {
  return s->alone ? 1 : s->objects[group] & GONE ? 0 : s->v->objects[group].count;
}

static uint8_t *state_of(const scene_views *s, uint32_t group, uint32_t triangle) {
  return s->level == GRAZE_VISIBILITY_OBJECTS ? &s->objects[group] : &s->triangles[triangle];
}

static bool is_left(const scene_views *s, uint32_t group) {
  for (uint32_t i = 0, first = group_first(s, group); i < group_size(s, group); i++) {
    if (!(*state_of(s, group, first + i) & GONE)) return true;
  }
  return false;
}

/* ---- a pass ------------------------------------------------------------------------------------------------------ */

static bool is_held(const scene_views *s, const scene_pass *p, uint8_t state) {
  return !(state & GONE) && !(s->sets && state & (p->reverse ? FREE_BEHIND : FREE_BEFORE));
}

static bool is_put(const scene_views *s, const scene_pass *p, uint8_t state) {
  return !(state & GONE) && !(s->sets && state & (p->reverse ? FREE_BEFORE : FREE_BEHIND));
}

static uint32_t add_triangles(const scene_views *s, scene_pass *p, uint32_t group, bool held, bool put) {
  const uint32_t first = group_first(s, group), end = first + group_size(s, group), before = p->used;
  for (uint32_t t = first; t < end; t++) {
    const uint8_t state = *state_of(s, group, t);
    if (is_held(s, p, state) != held || is_put(s, p, state) != put) continue;
    for (uint32_t f = 0; f < s->faces; f++) p->list[p->used++] = t * s->faces + f;
  }
  return p->used - before;
}

/* What is only held stands before what is both, and that before what is only drawn: two ranges that overlap. */
static void add_group(const scene_views *s, scene_pass *p, uint32_t group) {
  const uint32_t first = p->used;
  uint32_t held = add_triangles(s, p, group, true, false);
  uint32_t both = add_triangles(s, p, group, true, true);
  uint32_t put = add_triangles(s, p, group, false, true);
  if (p->used == first) return;
  p->record.objects += s->alone ? 0 : 1;
  p->record.triangles += (held + both) / s->faces;
  p->groups[p->step_count] = group;
  p->steps[p->step_count++] = (visibility_step){.test = {0, first, held + both}, .put = {0, first + held, both + put}};
}

static bool make_pass(const scene_views *s, scene_pass *p) {
  graze_visibility *v = s->v;
  const uint64_t most = (uint64_t)v->triangle_count * s->faces;
  p->steps = gz_visibility_room(v, ROOM_DRAWS, s->groups, sizeof *p->steps, 0);
  p->groups = gz_visibility_room(v, ROOM_WORK, s->groups, sizeof *p->groups, 0);
  p->list = gz_visibility_room(v, ROOM_LIST, most, sizeof *p->list, 0);
  p->flags = gz_visibility_room(v, ROOM_FLAGS, most, 1, 0);
  if (!p->steps || !p->groups || !p->list || !p->flags) return false;
  p->record.objects = s->alone;
  for (uint32_t g = 0; g < s->groups; g++) add_group(s, p, p->reverse ? s->groups - 1 - g : g);
  return true;
}

/* An item that was held, which is one question, and is nowhere hidden is free of what was drawn before it. */
static void learn_of_step(scene_views *s, const scene_pass *p, uint32_t step) {
  const visibility_draw held = p->steps[step].test;
  const uint8_t known = p->reverse ? FREE_BEHIND : FREE_BEFORE;
  const uint32_t item = s->level == GRAZE_VISIBILITY_OBJECTS ? held.count : s->faces;
  for (uint32_t i = held.first; i < held.first + held.count; i += item) {
    bool hidden = false;
    for (uint32_t j = i; j < i + item && !hidden; j++) hidden = p->flags[j] != 0;
    uint8_t *state = state_of(s, p->groups[step], p->list[i] / s->faces);
    s->changed = s->changed || (s->sets && !hidden);
    if (!hidden) *state |= known;
    s->v->result.queries++;
  }
}

/* Those of whom both is known go; plainly the others forget after the second pass what they knew. */
static void let_go(scene_views *s, scene_pass *p) {
  const bool whole = s->level == GRAZE_VISIBILITY_OBJECTS;
  uint8_t *states = whole ? s->objects : s->triangles;
  const uint32_t count = whole ? s->groups : s->v->triangle_count;
  for (uint32_t i = 0; i < count; i++) {
    if (states[i] & GONE) continue;
    if ((states[i] & FREE) == FREE) {
      states[i] |= GONE;
      p->record.pruned++;
    } else if (!s->sets && p->reverse) {
      states[i] = 0;
    }
  }
  s->changed = s->changed || p->record.pruned > 0;
}

static graze_status show(const scene_views *s, const scene_pass *p) {
  graze_visibility *v = s->v;
  if (!v->def->image) return GRAZE_OK;
  visibility_part *parts = gz_visibility_room(v, ROOM_PARTS, p->step_count, sizeof *parts, 0);
  if (!parts) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < p->step_count; i++) parts[i] = (visibility_part){p->steps[i].put, p->groups[i]};
  return gz_visibility_show(v, &p->record, &s->pictures[p->record.axis], 1, parts, p->step_count, p->list);
}

static graze_status run_pass(scene_views *s, uint32_t axis, bool reverse) {
  graze_visibility *v = s->v;
  const double start = clock_now();
  scene_pass p = {.reverse = reverse,
                  .record = {.level = s->level, .axis = axis, .reverse = reverse, .resolution = v->def->resolution}};
  if (!make_pass(s, &p)) return GRAZE_ERROR_MEMORY;
  if (p.record.triangles == 0) return GRAZE_OK; /* all is known already */
  graze_status status =
      v->device->sequence(v->device, &s->pictures[axis], s->rule, p.steps, p.step_count, p.list, p.used, p.flags);
  if (status == GRAZE_OK) status = show(s, &p);
  if (status != GRAZE_OK) return status;
  for (uint32_t i = 0; i < p.step_count; i++) learn_of_step(s, &p, i);
  let_go(s, &p);
  return gz_visibility_passed(v, &p.record, start);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

/* Who has nobody left to meet is gone. */
static graze_status leave_the_lonely(scene_views *s) {
  uint8_t *known = gz_visibility_room(s->v, ROOM_WORK, s->groups, 1, 0);
  if (!known) return GRAZE_ERROR_MEMORY;
  for (uint32_t g = 0; g < s->groups; g++) known[g] = is_left(s, g) ? 1 : 0;
  for (uint64_t i = 0; i < s->pair_count; i++) {
    if (known[s->pairs[i].a] && known[s->pairs[i].b]) known[s->pairs[i].a] = known[s->pairs[i].b] = 2;
  }
  for (uint32_t g = 0; g < s->groups; g++) {
    uint8_t *state = s->alone ? &s->triangles[g] : &s->objects[g];
    if (known[g] == 2 || *state & GONE) continue;
    *state |= GONE;
    s->changed = true;
  }
  return GRAZE_OK;
}

static graze_status run_level(scene_views *s, graze_visibility_level level) {
  const unsigned views = s->v->def->views;
  graze_status status = GRAZE_OK;
  s->level = level;
  for (s->changed = true; s->changed && status == GRAZE_OK;) {
    s->changed = false;
    s->v->pass_total = s->v->result.pass_count + 2 * (uint32_t)__builtin_popcount(views);
    for (uint32_t axis = 0; axis < 3; axis++) {
      if (!(views >> axis & 1)) continue;
      if (status == GRAZE_OK) status = run_pass(s, axis, false);
      if (status == GRAZE_OK) status = run_pass(s, axis, true);
    }
    if (status == GRAZE_OK) status = leave_the_lonely(s);
  }
  return status;
}

/* ---- the scene --------------------------------------------------------------------------------------------------- */

static visibility_box scene_box(const graze_visibility *v) {
  visibility_box box = visibility_box_empty();
  for (uint32_t i = 0; i < v->block_count; i++) visibility_box_add(&box, &v->blocks[i]);
  for (int k = 0; k < 3; k++) {
    box.low[k] -= VISIBILITY_WIDEN;
    box.high[k] += VISIBILITY_WIDEN;
  }
  return box;
}

static graze_status load(scene_views *s) {
  graze_visibility *v = s->v;
  const uint32_t side = v->def->resolution;
  const bool fat = v->def->bounds == GRAZE_VISIBILITY_PUBLISHED;
  visibility_box box = scene_box(v);
  float greatest = fmaxf(box.high[0] - box.low[0], fmaxf(box.high[1] - box.low[1], box.high[2] - box.low[2]));
  for (uint32_t k = 0; k < 3; k++) s->pictures[k] = gz_visibility_picture(&box, k, side, side, SHARE * greatest);
  gz_visibility_mark_all(v);
  graze_status status = gz_visibility_place_marked(v);
  if (status != GRAZE_OK) return status;
  visibility_triangles triangles = visibility_loaded(v);
  s->faces = fat ? FAT_FACES : 1;
  s->rule = v->def->mode == GRAZE_VISIBILITY_RCULLIDE && !fat ? VISIBILITY_BOUNDS : VISIBILITY_CENTERS;
  if (fat) status = gz_visibility_fatten(v, s->pictures, &triangles);
  return status == GRAZE_OK ? v->device->load(v->device, &triangles) : status;
}

static graze_status begin(scene_views *s) {
  graze_visibility *v = s->v;
  const uint32_t n = v->def->object_count;
  s->alone = n == 1;
  s->sets = v->def->mode == GRAZE_VISIBILITY_QCULLIDE;
  s->pairs = v->pairs;
  s->pair_count = v->pair_count;
  s->groups = s->alone ? v->triangle_count : n;
  s->level = s->alone ? GRAZE_VISIBILITY_TRIANGLES : GRAZE_VISIBILITY_OBJECTS;
  s->objects = gz_visibility_room(v, ROOM_STATES, (uint64_t)n + v->triangle_count, 1, 0);
  if (!s->objects) return GRAZE_ERROR_MEMORY;
  s->triangles = s->objects + n;
  memset(s->objects, 0, (size_t)n + v->triangle_count);
  for (uint32_t i = 0; i < n; i++) s->objects[i] = v->objects[i].paired ? 0 : GONE;
  return s->alone ? gz_visibility_pair_triangles(v, &s->pairs, &s->pair_count) : GRAZE_OK;
}

/* With what cannot be judged everything may meet. */
static graze_status run(scene_views *s) {
  graze_visibility *v = s->v;
  graze_status status = begin(s);
  if (status != GRAZE_OK || v->result.unjudged > 0 || v->triangle_count == 0) return status;
  status = load(s);
  if (status == GRAZE_OK) status = leave_the_lonely(s);
  if (status == GRAZE_OK && !s->alone) status = run_level(s, GRAZE_VISIBILITY_OBJECTS);
  if (status == GRAZE_OK && (s->alone || v->def->level == GRAZE_VISIBILITY_TRIANGLES))
    status = run_level(s, GRAZE_VISIBILITY_TRIANGLES);
  return status;
}

/* ---- what is left ------------------------------------------------------------------------------------------------ */

static void count_sets(const scene_views *s) {
  const uint8_t *states = s->alone ? s->triangles : s->objects;
  graze_visibility_sets *sets = &s->v->result.sets;
  for (uint32_t i = 0; i < s->groups; i++) {
    if (states[i] & GONE)
      sets->both++;
    else if (states[i] & FREE_BEFORE)
      sets->first++;
    else if (states[i] & FREE_BEHIND)
      sets->second++;
    else
      sets->neither++;
  }
}

static graze_status collect(scene_views *s) {
  graze_visibility *v = s->v;
  uint8_t *whole = s->objects; /* from here on: 1 = all of its triangles */
  const bool judged = v->result.unjudged == 0;
  count_sets(s);
  for (uint32_t i = 0; i < v->triangle_count; i++) s->triangles[i] = !(s->triangles[i] & GONE);
  graze_visibility_pair *pairs = gz_visibility_room(v, ROOM_LEFT_PAIRS, v->pair_count + 1, sizeof *pairs, 0);
  if (!pairs) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < v->def->object_count; i++) {
    bool gone = whole[i] & GONE;
    if (gone && v->objects[i].paired && judged) memset(s->triangles + v->objects[i].first, 0, v->objects[i].count);
    whole[i] =
        !gone && v->objects[i].count > 0 && (!judged || (v->def->level == GRAZE_VISIBILITY_OBJECTS && !s->alone));
  }
  graze_status status = gz_visibility_list_objects(v, whole, s->triangles);
  if (status != GRAZE_OK) return status;
  const graze_visibility_triangles *left = v->result.objects;
  for (uint64_t i = 0; i < v->pair_count; i++) {
    const uint32_t a = v->pairs[i].a, b = v->pairs[i].b;
    if (left[a].count > 0 && left[b].count > 0)
      pairs[v->result.pair_count++] = (graze_visibility_pair){a, b, left[a], left[b]};
  }
  if (s->alone && left[0].count > 0) pairs[v->result.pair_count++] = (graze_visibility_pair){0, 0, left[0], left[0]};
  v->result.pairs = pairs;
  return GRAZE_OK;
}

graze_status gz_visibility_views(graze_visibility *v) {
  scene_views s = {.v = v};
  if (v->triangle_count == 0 && v->pair_count == 0 && v->result.unjudged == 0) return gz_visibility_join_pairs(v);
  graze_status status = run(&s);
  return status == GRAZE_OK ? collect(&s) : status;
}
