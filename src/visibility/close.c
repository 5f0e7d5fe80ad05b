/* Close views: a picture for each pair of boxes that meet, of what the two have in common.
 *
 * A single picture of the whole scene prunes next to nothing where much stands close together; a pair's own one prunes
 * nearly everything, for a contact is where both are. What it costs is fragments, so pictures are coarse first, of
 * eight pixels a side, and then finer by four, each with what the last one has left and of no more room than that
 * needs. All pairs are drawn at once. A view that has let nothing of a pair go for two rounds is left out.
 *
 * Why nothing is lost: a common point of two triangles is in both boxes and so in the picture; in its pixel both have
 * an interval of depth that holds it, so that the two overlap. That needs no triangle but these two, so that what went
 * before does not matter. */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/parallel.h"
#include "visibility/image.h"
#include "visibility/load.h"
#include "visibility/place.h"

enum {
  COARSEST = 8, /* pixels a side */
  FINER = 4,
  PATIENCE = 2,           /* rounds */
  FRUGAL = 4,             /* pixels for each triangle that is left */
  BATCH_PIXELS = 1 << 24, /* drawn at once: at twelve bytes each */
  BATCH_TRIANGLES = 1 << 28,
  RUN = 1 << 14,   /* triangles that one thread lists at a time */
  LARGE = 1 << 15, /* triangles of a pair that are worth all threads */
};

/* Boxes are drawn at least so thick, as a share of the triangles' extent: margins grow with coordinates in pixels. */
#define SHARE 0x1p-10f

typedef struct close_side {
  uint32_t *list;          /* triangles that are left, ascending: of the object; once they are, loaded ones */
  visibility_cells *cells; /* at first: of each */
  uint32_t count;
} close_side;

typedef struct close_pair {
  uint32_t a, b;
  bool whole; /* cannot be judged and is left as it is */
  bool gone;
  bool sieved;
  uint64_t rows;      /* of the cells of its triangles */
  bool spoke;         /* the view at hand has let something go */
  visibility_box box; /* of all that the two may have in common */
  float reach;        /* the greatest side of what is drawn */
  uint8_t silent[3];  /* rounds in a row in which the view along an axis let nothing go */
  close_side side[2];
} close_pair;

typedef struct close_views {
  graze_visibility *v;
  close_pair *pairs;
  uint32_t count;
  uint32_t resolution, axis;
  int drawn; /* the side that is put; the other one is held against it */
  uint32_t put_count, test_count;
  uint32_t pictures;
  visibility_sieve *sieves; /* one for each worker */
  struct close_run *runs;
  uint32_t run_count;
  uint32_t *lists; /* of all runs; then of all sides */
  visibility_cells *cells;
} close_views;

/* Triangles of a side that are held against the pair's box, and the part of its list that is theirs. */
typedef struct close_run {
  visibility_run triangles;
  uint32_t pair, side;
  uint64_t at;
  uint32_t count;
  uint64_t rows;
} close_run;

static uint64_t count_of(const close_pair *p) {
  return (uint64_t)p->side[0].count + p->side[1].count;
}

/* A pair of which a side has nothing left is gone, but for one that cannot be judged, which has no lists. */
static void note_gone(close_pair *p) {
  p->gone = !p->whole && (p->side[0].count == 0 || p->side[1].count == 0);
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static visibility_box common_box(const graze_visibility *v, const visibility_object *a, const visibility_object *b) {
  visibility_box box;
  for (int k = 0; k < 3; k++) {
    double low = fmax(a->box.min[k], b->box.min[k]), high = fmin(a->box.max[k], b->box.max[k]);
    box.low[k] = (float)((low - v->space.origin[k]) * v->space.unit - (double)VISIBILITY_WIDEN);
    box.high[k] = (float)((high - v->space.origin[k]) * v->space.unit + (double)VISIBILITY_WIDEN);
  }
  return box;
}

static const visibility_object *object_of(const close_views *c, const close_pair *p, uint32_t side) {
  return &c->v->objects[side == 0 ? p->a : p->b];
}

/* Calls `take` for the triangles of the object in blocks that may meet the box, in pieces that it can be cut into. */
static void for_runs(close_views *c, uint32_t pair, uint32_t side, void (*take)(close_views *c, const close_run *run)) {
  const close_pair *p = &c->pairs[pair];
  const visibility_object *o = object_of(c, p, side);
  const visibility_box *blocks = c->v->blocks + o->first_block;
  close_run run = {.triangles = {o, 0, 0}, .pair = pair, .side = side};
  for (uint32_t first = 0; first < o->count;) {
    const uint32_t size = o->crowded ? VISIBILITY_BLOCK : RUN;
    const uint32_t end = o->count - first < size ? o->count : first + size;
    const bool meets = !o->crowded || visibility_boxes_meet(&blocks[first / VISIBILITY_BLOCK], &p->box);
    const bool follows = run.triangles.end == first && first - run.triangles.first < RUN;
    if (meets && follows) {
      run.triangles.end = end;
    } else if (meets) {
      if (run.triangles.end > 0) take(c, &run);
      run.triangles.first = first;
      run.triangles.end = end;
    }
    first = end;
  }
  if (run.triangles.end > 0) take(c, &run);
}

static void count_run(close_views *c, const close_run *run) {
  (void)run;
  c->run_count++;
}

static void add_run(close_views *c, const close_run *run) {
  c->runs[c->run_count++] = *run;
}

static void for_all_runs(close_views *c, void (*take)(close_views *c, const close_run *run)) {
  c->run_count = 0;
  for (uint32_t i = 0; i < c->count; i++) {
    for (uint32_t s = 0; s < 2 && !c->pairs[i].whole; s++) for_runs(c, i, s, take);
  }
}

static void list_runs(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  const close_views *c = argument;
  visibility_list_kernel *list = CPU_KERNEL_TO_AVX2(gz_visibility_list);
  (void)worker;
  for (uint32_t i = begin; i < end; i++) {
    close_run *r = &c->runs[i];
    r->count = list(&r->triangles, &c->v->space, &c->pairs[r->pair].box, c->lists + r->at, c->cells + r->at, &r->rows);
  }
}

/* Lists of runs, each at its place, become those of sides. */
static void join_runs(close_views *c) {
  uint64_t at = 0;
  for (uint32_t i = 0, r = 0; i < c->count; i++) {
    for (uint32_t s = 0; s < 2; s++) {
      close_side *side = &c->pairs[i].side[s];
      *side = (close_side){c->lists + at, c->cells + at, 0};
      for (; r < c->run_count && c->runs[r].pair == i && c->runs[r].side == s; r++) {
        const close_run *run = &c->runs[r];
        memmove(side->list + side->count, c->lists + run->at, run->count * sizeof *c->lists);
        memmove(side->cells + side->count, c->cells + run->at, run->count * sizeof *c->cells);
        side->count += run->count;
        c->pairs[i].rows += run->rows;
      }
      at += side->count;
    }
  }
}

static graze_status list_pairs(close_views *c) {
  graze_visibility *v = c->v;
  uint64_t total = 0;
  for_all_runs(c, count_run);
  c->runs = gz_visibility_room(v, ROOM_WORK, c->run_count, sizeof *c->runs, 0);
  if (!c->runs) return GRAZE_ERROR_MEMORY;
  for_all_runs(c, add_run);
  for (uint32_t i = 0; i < c->run_count; i++) {
    c->runs[i].at = total;
    total += c->runs[i].triangles.end - c->runs[i].triangles.first;
  }
  c->lists = gz_visibility_room(v, ROOM_LISTS, total, sizeof *c->lists, 0);
  c->cells = gz_visibility_room(v, ROOM_CELLS, total, sizeof *c->cells, 0);
  if (!c->lists || !c->cells) return GRAZE_ERROR_MEMORY;
  gz_parallel_for(v->context, c->run_count, 1, list_runs, c);
  join_runs(c);
  return GRAZE_OK;
}

static graze_status make_pairs(close_views *c) {
  graze_visibility *v = c->v;
  if (v->pair_count > UINT32_MAX / 2)
    return gz_fail(v->context, GRAZE_ERROR_LIMIT, "more than 2^31 - 1 pairs of boxes meet");
  c->count = (uint32_t)v->pair_count;
  c->pairs = gz_visibility_room(v, ROOM_STATES, c->count, sizeof *c->pairs, 0);
  if (!c->pairs) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < c->count; i++) {
    uint32_t a = v->pairs[i].a, b = v->pairs[i].b;
    c->pairs[i] = (close_pair){.a = a, .b = b, .whole = !v->objects[a].judged || !v->objects[b].judged};
    if (!c->pairs[i].whole) c->pairs[i].box = common_box(v, &v->objects[a], &v->objects[b]);
  }
  return list_pairs(c);
}

/* ---- before pictures --------------------------------------------------------------------------------------------- */

static void sieve_pair(const close_views *c, close_pair *p, uint32_t worker) {
  uint32_t counts[2] = {p->side[0].count, p->side[1].count};
  if (p->whole || !gz_visibility_is_sieved(count_of(p), p->rows)) return;
  gz_visibility_sieve(c->v->context, &c->sieves[worker], (uint32_t *const[2]){p->side[0].list, p->side[1].list},
                      (visibility_cells *const[2]){p->side[0].cells, p->side[1].cells}, counts);
  for (int s = 0; s < 2; s++) p->side[s].count = counts[s];
  p->sieved = true;
}

static bool is_large(const close_pair *p) {
  return count_of(p) >= LARGE;
}

static void sieve_pairs(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  const close_views *c = argument;
  for (uint32_t i = begin; i < end; i++) {
    if (!is_large(&c->pairs[i])) sieve_pair(c, &c->pairs[i], worker);
  }
}

static void mark_listed(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  const close_views *c = argument;
  (void)worker;
  for (uint32_t i = begin; i < end; i++) {
    close_pair *p = &c->pairs[i / 2];
    const close_side *side = &p->side[i % 2];
    uint64_t *marks = c->v->marks + object_of(c, p, i % 2)->first_block;
    if (p->gone) continue;
    for (uint32_t k = 0; k < side->count; k++) {
      uint64_t *word = &marks[side->list[k] / VISIBILITY_BLOCK], bit = (uint64_t)1 << side->list[k] % VISIBILITY_BLOCK;
      if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit)) __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
    }
  }
}

static void number_listed(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  const close_views *c = argument;
  (void)worker;
  for (uint32_t i = begin; i < end; i++) {
    close_pair *p = &c->pairs[i / 2];
    const visibility_object *o = object_of(c, p, i % 2);
    uint32_t *list = p->side[i % 2].list;
    if (p->gone) continue;
    for (uint32_t k = 0; k < p->side[i % 2].count; k++) list[k] = visibility_loaded_number(c->v, o, list[k]);
  }
}

/* Only what a sieve has left is loaded. */
static graze_status load_listed(close_views *c) {
  graze_visibility *v = c->v;
  const bool all = v->frugal && (v->load_all || v->def->level == GRAZE_VISIBILITY_OBJECTS); /* will be decided */
  for (uint32_t i = 0; i < c->count; i++) note_gone(&c->pairs[i]);
  if (all) gz_visibility_mark_all(v);
  gz_parallel_for(v->context, 2 * c->count, 1, mark_listed, c);
  graze_status status = gz_visibility_place_marked(v);
  if (status != GRAZE_OK) return status;
  gz_parallel_for(v->context, 2 * c->count, 1, number_listed, c);
  const visibility_triangles triangles = visibility_loaded(v);
  return v->device->load(v->device, &triangles);
}

static graze_status begin_pairs(close_views *c) {
  graze_visibility *v = c->v;
  c->sieves = gz_visibility_room(v, ROOM_SIEVES, gz_workers(v->context), sizeof *c->sieves, 0);
  if (!c->sieves) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < c->count; i++) {
    if (is_large(&c->pairs[i])) sieve_pair(c, &c->pairs[i], 0);
  }
  gz_parallel_for(v->context, c->count, 1, sieve_pairs, c);
  return load_listed(c);
}

/* ---- boxes of what is left --------------------------------------------------------------------------------------- */

static visibility_span side_span(const graze_visibility *v, const close_side *side) {
  visibility_span all = visibility_triangle_span(v->corners + 9 * (size_t)side->list[0]);
  for (uint32_t i = 1; i < side->count; i++)
    all = visibility_spans_join(all, visibility_triangle_span(v->corners + 9 * (size_t)side->list[i]));
  return all;
}

static void keep_in_box(const graze_visibility *v, close_side *side, const visibility_box *box) {
  const visibility_span common = visibility_span_of_box(box);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < side->count; i++) {
    const uint32_t t = side->list[i];
    side->list[kept] = t;
    kept += visibility_spans_meet(visibility_triangle_span(v->corners + 9 * (size_t)t), common);
  }
  side->count = kept;
}

static void narrow_pair(const graze_visibility *v, close_pair *p) {
  const visibility_box a = visibility_box_of(side_span(v, &p->side[0])),
                       b = visibility_box_of(side_span(v, &p->side[1]));
  p->reach = 0;
  for (int k = 0; k < 3; k++) {
    p->reach = fmaxf(p->reach, fmaxf(a.high[k] - a.low[k], b.high[k] - b.low[k]));
    p->box.low[k] = fmaxf(p->box.low[k], fmaxf(a.low[k], b.low[k]) - VISIBILITY_WIDEN);
    p->box.high[k] = fminf(p->box.high[k], fminf(a.high[k], b.high[k]) + VISIBILITY_WIDEN);
  }
  for (int s = 0; s < 2; s++) keep_in_box(v, &p->side[s], &p->box);
  note_gone(p);
}

static void narrow_pairs(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  close_views *c = argument;
  (void)worker;
  for (uint32_t i = begin; i < end; i++) {
    close_pair *p = &c->pairs[i];
    uint64_t before = 0;
    for (int again = 0; again < 2 && !p->whole && !p->gone && before != count_of(p); again++) {
      before = count_of(p);
      narrow_pair(c->v, p);
    }
  }
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

static visibility_picture picture_of(const close_views *c, const close_pair *p) {
  float least = fmaxf(SHARE * p->reach, 8 * VISIBILITY_ERROR * (float)c->resolution);
  return gz_visibility_picture(&p->box, c->axis, c->resolution, c->resolution, least);
}

/* What a view has not told of a pair in two rounds, by four times as many pixels a side, it does not tell in the third;
 * and a sieve tells what coarser pictures do. What is decided exactly in the end needs no finer pictures than its
 * triangles are. */
static bool is_drawn(const close_views *c, const close_pair *p) {
  if (p->sieved && c->resolution < SIEVE_SIDE && c->resolution < c->v->def->resolution) return false;
  const uint64_t pixels = (uint64_t)c->resolution * c->resolution;
  if (c->v->frugal && c->resolution > COARSEST && pixels > FRUGAL * count_of(p)) return false;
  return !p->whole && !p->gone && p->silent[c->axis] < PATIENCE;
}

/* How far a batch that begins with pair `first` goes. */
static uint32_t batch_end(close_views *c, uint32_t first) {
  uint64_t pixels = 0, triangles = 0;
  uint32_t i = first;
  c->pictures = c->put_count = c->test_count = 0;
  for (; i < c->count; i++) {
    const close_pair *p = &c->pairs[i];
    if (!is_drawn(c, p)) continue;
    pixels += (uint64_t)c->resolution * c->resolution;
    triangles += count_of(p);
    if (c->pictures > 0 && (pixels > BATCH_PIXELS || triangles > BATCH_TRIANGLES)) break;
    c->pictures++;
    c->put_count += p->side[c->drawn].count;
    c->test_count += p->side[!c->drawn].count;
  }
  return i;
}

typedef struct close_batch {
  visibility_picture *pictures;
  visibility_draw *put, *test;
  uint32_t *list; /* what is put, and behind it what is tested */
  uint8_t *flags;
} close_batch;

static void add_draw(visibility_draw *draw, uint32_t picture, uint32_t *list, uint32_t *used, const close_side *side) {
  *draw = (visibility_draw){picture, *used, side->count};
  memcpy(list + *used, side->list, side->count * sizeof *list);
  *used += side->count;
}

static bool make_batch(close_views *c, uint32_t first, uint32_t end, close_batch *b) {
  graze_visibility *v = c->v;
  b->pictures = gz_visibility_room(v, ROOM_PICTURES, c->pictures, sizeof *b->pictures, 0);
  b->put = gz_visibility_room(v, ROOM_DRAWS, 2 * (uint64_t)c->pictures, sizeof *b->put, 0);
  b->list = gz_visibility_room(v, ROOM_LIST, (uint64_t)c->put_count + c->test_count, sizeof *b->list, 0);
  b->flags = gz_visibility_room(v, ROOM_FLAGS, c->test_count, 1, 0);
  if (!b->pictures || !b->put || !b->list || !b->flags) return false;
  b->test = b->put + c->pictures;
  uint32_t put = 0, test = 0, number = 0;
  for (uint32_t i = first; i < end; i++) {
    const close_pair *p = &c->pairs[i];
    if (!is_drawn(c, p)) continue;
    b->pictures[number] = picture_of(c, p);
    add_draw(&b->put[number], number, b->list, &put, &p->side[c->drawn]);
    add_draw(&b->test[number], number, b->list + c->put_count, &test, &p->side[!c->drawn]);
    number++;
  }
  return true;
}

/* Keeps what was flagged; with the level OBJECTS all of a pair of which anything was. Returns how much has gone. */
static uint64_t keep_flagged(const close_views *c, close_pair *p, const uint8_t *flags) {
  close_side *side = &p->side[!c->drawn];
  uint32_t kept = 0, before = side->count;
  for (uint32_t i = 0; i < before; i++) kept += flags[i] != 0;
  p->gone = kept == 0;
  if (kept < before) p->spoke = true;
  if (c->v->def->level == GRAZE_VISIBILITY_OBJECTS) return p->gone;
  side->count = 0;
  for (uint32_t i = 0; i < before; i++) {
    if (flags[i]) side->list[side->count++] = side->list[i];
  }
  return before - kept;
}

/* Both sides of each pair, in the picture of the pair. */
static graze_status show_batch(const close_views *c, uint32_t first, uint32_t end, const graze_visibility_pass *pass,
                               const close_batch *b) {
  graze_visibility *v = c->v;
  if (!v->def->image) return GRAZE_OK;
  visibility_part *parts = gz_visibility_room(v, ROOM_PARTS, 2 * (uint64_t)c->pictures, sizeof *parts, 0);
  uint32_t count = 0;
  if (!parts) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = first; i < end; i++) {
    const close_pair *p = &c->pairs[i];
    if (!is_drawn(c, p)) continue;
    const uint32_t number = count / 2, objects[2] = {p->a, p->b};
    parts[count++] = (visibility_part){b->put[number], objects[c->drawn]};
    parts[count] = (visibility_part){b->test[number], objects[!c->drawn]};
    parts[count++].draw.first += c->put_count;
  }
  return gz_visibility_show(v, pass, b->pictures, c->pictures, parts, count, b->list);
}

static graze_status draw_batch(close_views *c, uint32_t first, uint32_t end, graze_visibility_pass *pass) {
  visibility_device *d = c->v->device;
  close_batch b;
  if (!make_batch(c, first, end, &b)) return GRAZE_ERROR_MEMORY;
  graze_status status = d->begin(d, b.pictures, c->pictures);
  if (status == GRAZE_OK) status = d->put(d, b.put, c->pictures, b.list, c->put_count);
  if (status == GRAZE_OK) status = d->test(d, b.test, c->pictures, b.list + c->put_count, c->test_count, b.flags);
  if (status == GRAZE_OK) status = show_batch(c, first, end, pass, &b);
  if (status != GRAZE_OK) return status;
  pass->triangles += c->test_count;
  const uint8_t *flags = b.flags;
  for (uint32_t i = first; i < end; i++) {
    if (!is_drawn(c, &c->pairs[i])) continue;
    uint32_t count = c->pairs[i].side[!c->drawn].count;
    pass->pruned += keep_flagged(c, &c->pairs[i], flags);
    flags += count;
  }
  return GRAZE_OK;
}

static graze_status count_objects(const close_views *c, uint32_t *count) {
  uint8_t *seen = gz_visibility_room(c->v, ROOM_WORK, c->v->def->object_count, 1, 0);
  if (!seen) return GRAZE_ERROR_MEMORY;
  memset(seen, 0, c->v->def->object_count);
  for (uint32_t i = 0; i < c->count; i++) {
    if (is_drawn(c, &c->pairs[i])) seen[c->pairs[i].a] = seen[c->pairs[i].b] = 1;
  }
  for (uint32_t i = 0; i < c->v->def->object_count; i++) *count += seen[i];
  return GRAZE_OK;
}

static graze_status run_pass(close_views *c) {
  const double start = clock_now();
  graze_visibility_pass pass = {
      .level = c->v->def->level, .axis = c->axis, .reverse = c->drawn == 1, .resolution = c->resolution};
  graze_status status = count_objects(c, &pass.objects);
  for (uint32_t first = 0; status == GRAZE_OK && first < c->count;) {
    uint32_t end = batch_end(c, first);
    if (c->pictures > 0) status = draw_batch(c, first, end, &pass);
    first = end;
  }
  if (status != GRAZE_OK || pass.objects == 0) return status;
  return gz_visibility_passed(c->v, &pass, start);
}

static void note_silence(close_views *c) {
  for (uint32_t i = 0; i < c->count; i++) {
    uint8_t *silent = &c->pairs[i].silent[c->axis];
    if (is_drawn(c, &c->pairs[i])) *silent = c->pairs[i].spoke ? 0 : (uint8_t)(*silent + 1);
    c->pairs[i].spoke = false;
  }
}

static graze_status run_round(close_views *c) {
  graze_status status = GRAZE_OK;
  gz_parallel_for(c->v->context, c->count, 1, narrow_pairs, c);
  for (c->axis = 0; c->axis < 3; c->axis++) {
    if (!(c->v->def->views >> c->axis & 1)) continue;
    for (c->drawn = 0; c->drawn < 2 && status == GRAZE_OK; c->drawn++) status = run_pass(c);
    note_silence(c);
  }
  return status;
}

static graze_status run_rounds(close_views *c) {
  const uint32_t finest = c->v->def->resolution;
  uint32_t rounds = 1;
  for (uint32_t r = COARSEST; r < finest; r *= FINER) rounds++;
  c->v->pass_total = 2 * rounds * (uint32_t)__builtin_popcount(c->v->def->views);
  graze_status status = GRAZE_OK;
  for (uint32_t r = COARSEST; status == GRAZE_OK; r *= FINER) {
    c->resolution = r < finest ? r : finest;
    status = run_round(c);
    if (r >= finest) break;
  }
  gz_parallel_for(c->v->context, c->count, 1, narrow_pairs, c);
  return status;
}

/* ---- what is left ------------------------------------------------------------------------------------------------ */

/* Triangles by their numbers in the object. */
static graze_visibility_triangles left_of(const close_views *c, const close_pair *p, int side) {
  const visibility_object *o = object_of(c, p, (uint32_t)side);
  if (p->whole || c->v->def->level == GRAZE_VISIBILITY_OBJECTS)
    return (graze_visibility_triangles){c->v->numbers, o->count};
  uint32_t *list = p->side[side].list;
  for (uint32_t i = 0; i < p->side[side].count; i++) list[i] = c->v->loaded[list[i]];
  return (graze_visibility_triangles){list, p->side[side].count};
}

static graze_status collect(close_views *c) {
  graze_visibility *v = c->v;
  uint64_t count = 0;
  for (uint32_t i = 0; i < c->count; i++) count += !c->pairs[i].gone;
  graze_visibility_pair *pairs = gz_visibility_room(v, ROOM_LEFT_PAIRS, count, sizeof *pairs, 0);
  if (!pairs) return GRAZE_ERROR_MEMORY;
  count = 0;
  for (uint32_t i = 0; i < c->count; i++) {
    const close_pair *p = &c->pairs[i];
    if (!p->gone) pairs[count++] = (graze_visibility_pair){p->a, p->b, left_of(c, p, 0), left_of(c, p, 1)};
  }
  v->result.pairs = pairs;
  v->result.pair_count = count;
  return gz_visibility_join_pairs(v);
}

graze_status gz_visibility_close(graze_visibility *v) {
  close_views c = {.v = v};
  graze_status status = make_pairs(&c);
  if (status == GRAZE_OK) status = begin_pairs(&c);
  if (status == GRAZE_OK) status = run_rounds(&c);
  return status == GRAZE_OK ? collect(&c) : status;
}
