/* Triangles with bounds into pictures.
 *
 * LANES triangles are set up at a time. Small ones, of about as many pixels, are drawn side by side: each lane goes
 * over the pixels of its own, and where all depths of a triangle change nothing, those at the pixel are not computed.
 * Others are drawn one by one, LANES pixels at a time, in tiles of several rows or row by row. The side of an edge is
 * monotonic along a row, also as rounded, so that the pixels of a row that meet the triangle are one run, and among
 * them those where the plane says it all; the ends of runs are found by what the plain test computes. So exactly those
 * pixels are drawn that visibility_meets has, with the bits of visibility_depth. */
#include "visibility/bounds_lanes.h"
#include "visibility/draw.h"

/* Intervals and slices of LANES pixels; empty where the triangle is not. */
typedef struct block {
  float lo[LANES], hi[LANES];
  uint32_t slices[LANES];
} block;

static inline __attribute__((always_inline)) void keep(block *b, lanes lo, lanes hi) {
  const lanes_uint slices = visibility_lanes_slices(lo, hi);
  memcpy(b->lo, &lo, sizeof lo);
  memcpy(b->hi, &hi, sizeof hi);
  memcpy(b->slices, &slices, sizeof slices);
}

static inline __attribute__((always_inline)) void fill(const visibility_lanes_setup *t, lanes column, lanes line,
                                                       bool steady, block *b) {
  const lanes_int meets = visibility_lanes_meets_at(*t, column, line);
  const visibility_lanes_interval depth = visibility_lanes_depth_at(*t, column, line, steady);
  keep(b, lanes_select(meets, depth.lo, LANES_OF(INFINITY)), lanes_select(meets, depth.hi, LANES_OF(-INFINITY)));
}

static __attribute__((noinline)) void fill_steady(const visibility_lanes_setup *t, lanes column, lanes line, block *b) {
  fill(t, column, line, true, b);
}

static __attribute__((noinline)) void fill_others(const visibility_lanes_setup *t, lanes column, lanes line, block *b) {
  fill(t, column, line, false, b);
}

static __attribute__((noinline)) void fill_plane(const visibility_lanes_setup *t, lanes column, lanes line, block *b) {
  visibility_lanes_interval depth = visibility_lanes_plane(*t, column - t->ax, line - t->ay);
  depth = visibility_lanes_sound(*t, depth.lo, depth.hi);
  keep(b, depth.lo, depth.hi);
}

/* A triangle and what it is drawn into. */
typedef struct drawing {
  const visibility_surface *surface;
  visibility_setup setup;
  visibility_lanes_setup lanes;
} drawing;

/* Lanes `from` to from + count - 1 of a block are at pixels of a row, from (x, y) on; true: the triangle is done with.
 */
static inline __attribute__((always_inline)) bool visit(const drawing *d, visibility_action action, const block *b,
                                                        uint32_t from, uint32_t x, uint32_t y, uint32_t count) {
  const size_t pixel = (size_t)y * d->surface->picture.width + x;
  float *lo = d->surface->lo + pixel, *hi = d->surface->hi + pixel;
  uint32_t *slices = d->surface->slices + pixel;
  bool found = false;
  for (uint32_t i = 0, k = from; i < count; i++, k++) switch (action) {
      case VISIBILITY_PUT:
        lo[i] = visibility_min(lo[i], b->lo[k]);
        hi[i] = visibility_max(hi[i], b->hi[k]);
        slices[i] |= b->slices[k];
        break;
      case VISIBILITY_TEST:
        found |= b->lo[k] <= hi[i] && lo[i] <= b->hi[k] && (slices[i] & b->slices[k]) != 0;
        break;
      case VISIBILITY_PUT_LEAST:
        lo[i] = visibility_min(lo[i], b->lo[k]);
        break;
      case VISIBILITY_TEST_LEAST:
        found |= b->hi[k] >= lo[i];
        break;
    }
  return found;
}

/* ---- runs ---- */

/* Pixels first <= x < last of a row. */
typedef struct run {
  uint32_t first, last;
} run;

/* The rounded side of an edge at pixel x of a row; y is relative to corner a. */
static inline float side_at(const visibility_setup *t, const visibility_edge *e, float y, uint32_t x) {
  return visibility_side(*e, (float)(int32_t)x - t->ax, y);
}

/* The first pixel of the run, or its end, from which on the side, or its negative if it falls, is at least `bound` or,
 * if `beyond`, more. */
static inline uint32_t turn(const visibility_setup *t, const visibility_edge *e, float y, run in, float bound,
                            bool beyond) {
  const float sign = e->a > 0 ? 1.0f : -1.0f;
  const float guess = t->ax - (sign * bound - (e->b * y + e->c)) * e->per_y;
  uint32_t x = guess > (float)(int32_t)in.first ? in.last : in.first;
  if (x == in.last && guess < (float)(int32_t)in.last) x = (uint32_t)(int32_t)guess;
  for (; x > in.first; x--) {
    const float side = sign * side_at(t, e, y, x - 1);
    if (beyond ? !(side > bound) : !(side >= bound)) break;
  }
  for (; x < in.last; x++) {
    const float side = sign * side_at(t, e, y, x);
    if (beyond ? side > bound : side >= bound) break;
  }
  return x;
}

/* The pixels of the run at which the side is from `low` to `high`. */
static run narrowed(const visibility_setup *t, const visibility_edge *e, float y, run in, float low, float high) {
  if (in.first >= in.last) return in;
  const float first = side_at(t, e, y, in.first), last = side_at(t, e, y, in.last - 1);
  if (first >= low && first <= high && last >= low && last <= high) return in;
  return (run){turn(t, e, y, in, e->a > 0 ? low : -high, false), turn(t, e, y, in, e->a > 0 ? high : -low, true)};
}

static run run_that_meets(const visibility_setup *t, float y, run in) {
  in = narrowed(t, &t->ab, y, in, t->ab.low, t->ab.high);
  in = narrowed(t, &t->ac, y, in, t->ac.low, t->ac.high);
  return narrowed(t, &t->bc, y, in, t->bc.low, t->bc.high);
}

/* Of a run that meets, the pixels where the plane says it all. */
static run run_of_plane(const visibility_setup *t, float y, run in) {
  const visibility_edge *edges[] = {&t->ab, &t->ac, &t->bc};
  const run none = {in.last, in.last};
  if (!(t->steady > 0)) return none;
  for (int i = 0; i < 3; i++)
    in = narrowed(t, edges[i], y, in, visibility_max(edges[i]->up_low, edges[i]->down_low),
                  visibility_min(edges[i]->up_high, edges[i]->down_high));
  return in.first < in.last ? in : none;
}

/* ---- triangles ---- */

static inline lanes steps(void) {
  lanes step;
  for (int i = 0; i < LANES; i++) step[i] = (float)i;
  return step;
}

static inline __attribute__((always_inline)) bool draw_run(const drawing *d, visibility_action action, uint32_t y,
                                                           run in, bool plane) {
  const lanes line = LANES_OF((float)(int32_t)y);
  for (uint32_t x = in.first; x < in.last; x += LANES) {
    const lanes column = steps() + (float)(int32_t)x;
    block b;
    if (plane)
      fill_plane(&d->lanes, column, line, &b);
    else if (d->setup.steady > 0)
      fill_steady(&d->lanes, column, line, &b);
    else
      fill_others(&d->lanes, column, line, &b);
    if (visit(d, action, &b, 0, x, y, in.last - x < LANES ? in.last - x : LANES)) return true;
  }
  return false;
}

static inline __attribute__((always_inline)) bool draw_rows(const drawing *d, visibility_action action,
                                                            visibility_rectangle box) {
  for (uint32_t y = box.bottom; y < box.top; y++) {
    const float line = (float)(int32_t)y - d->setup.ay;
    const run all = run_that_meets(&d->setup, line, (run){box.left, box.right});
    const run plane = run_of_plane(&d->setup, line, all);
    if (draw_run(d, action, y, (run){all.first, plane.first}, false) || draw_run(d, action, y, plane, true) ||
        draw_run(d, action, y, (run){plane.last, all.last}, false))
      return true;
  }
  return false;
}

/* A box that is at most LANES wide, in tiles of `wide` pixels to a row. */
static inline __attribute__((always_inline)) bool draw_tiles(const drawing *d, visibility_action action,
                                                             visibility_rectangle box, uint32_t wide) {
  const uint32_t high = LANES / wide, count = box.right - box.left;
  lanes right, up;
  for (uint32_t i = 0; i < LANES; i++) right[i] = (float)(i % wide), up[i] = (float)(i / wide);
  right += (float)(int32_t)box.left;
  for (uint32_t y = box.bottom; y < box.top; y += high) {
    block b;
    if (d->setup.steady > 0)
      fill_steady(&d->lanes, right, up + (float)(int32_t)y, &b);
    else
      fill_others(&d->lanes, right, up + (float)(int32_t)y, &b);
    for (uint32_t i = 0; i < high && y + i < box.top; i++)
      if (visit(d, action, &b, i * wide, box.left, y + i, count)) return true;
  }
  return false;
}

/* Number `lane` of LANES, for each of the numbers of a set-up. */
static inline __attribute__((always_inline)) void take_lane(const visibility_lanes_setup *all, uint32_t lane,
                                                            drawing *d) {
  enum { WORDS = sizeof(visibility_setup) / sizeof(float) };
  float words[WORDS];
  for (uint32_t i = 0; i < WORDS; i++) {
    memcpy(&words[i], (const char *)all + (i * LANES + lane) * sizeof(float), sizeof(float));
    const lanes word = LANES_OF(words[i]);
    memcpy((char *)&d->lanes + i * sizeof word, &word, sizeof word);
  }
  memcpy(&d->setup, words, sizeof words);
}

/* True: a visit of the triangle's pixels found what it tests for. */
static inline __attribute__((always_inline)) bool draw_box(const drawing *d, visibility_action action,
                                                           visibility_rectangle box) {
  const uint32_t width = box.right - box.left;
  if (width <= 2) return draw_tiles(d, action, box, 2);
  if (width <= 4) return draw_tiles(d, action, box, 4);
  return width <= LANES ? draw_tiles(d, action, box, LANES) : draw_rows(d, action, box);
}

/* ---- lists of triangles ---- */

_Static_assert(sizeof(visibility_lanes_setup) == LANES * sizeof(visibility_setup), "both are of numbers only");

/* A coordinate of a corner of LANES triangles. */
typedef struct corners {
  lanes at[3][3]; /* by corner and axis */
} corners;

/* Rows of four floats become columns: of corner c the floats from 3 c on, of the last one from 5 on, so that no more is
 * read than nine floats. */
static inline __attribute__((always_inline)) corners load_corners(const visibility_triangles *t,
                                                                  const uint32_t triangles[LANES]) {
  static const int first[3] = {0, 3, 5}, x[3] = {0, 0, 1};
  corners out;
  for (int c = 0; c < 3; c++) {
    v4 rows[LANES];
    for (int i = 0; i < LANES; i++) rows[i] = v4_load(t->corners + 9 * (size_t)triangles[i] + first[c]);
    for (int i = 0; i < LANES; i += 4) v4_transpose(rows + i);
    for (int k = 0; k < 3; k++) out.at[c][k] = lanes_join(rows, x[c] + k);
  }
  return out;
}

/* LANES triangles, set up; what of it is not used is not computed. */
static inline __attribute__((always_inline)) visibility_lanes_setup set_up(const visibility_triangles *t,
                                                                           const visibility_picture *p,
                                                                           const uint32_t triangles[LANES]) {
  const uint32_t w = p->axis, u = (w + 1) % 3, v = (w + 2) % 3;
  const corners corner = load_corners(t, triangles);
  const lanes *a = corner.at[0], *b = corner.at[1], *c = corner.at[2];
  return visibility_lanes_set_up(a[u], a[v], a[w], b[u], b[v], b[w], c[u], c[v], c[w], LANES_OF(p->low[u]),
                                 LANES_OF(p->low[v]), LANES_OF(p->low[w]), LANES_OF(p->scale[u]), LANES_OF(p->scale[v]),
                                 LANES_OF(p->scale[w]), LANES_OF(t->error), LANES_OF(1.0f));
}

/* All of it. This and what draws a queue are not inlined, for ten copies of them would cost the compiler half a minute.
 */
static __attribute__((noinline)) void set_up_whole(const visibility_triangles *t, const visibility_picture *p,
                                                   const uint32_t triangles[LANES], visibility_lanes_setup *out) {
  *out = set_up(t, p, triangles);
}

/* The boxes of LANES triangles in pixels; and their depths, for triangles that are all in one pixel. */
typedef struct boxes {
  uint32_t left[LANES], right[LANES], bottom[LANES], top[LANES];
  int32_t whole[LANES];
  block depths;
} boxes;

static __attribute__((noinline)) void find_boxes(const visibility_triangles *t, const visibility_picture *p,
                                                 const uint32_t triangles[LANES], boxes *out) {
  const visibility_lanes_setup all = set_up(t, p, triangles);
  const visibility_lanes_rectangle box =
      visibility_lanes_box(all, LANES_OF((float)(int32_t)p->width), LANES_OF((float)(int32_t)p->height));
  const lanes column = __builtin_convertvector((lanes_int)box.left, lanes),
              line = __builtin_convertvector((lanes_int)box.bottom, lanes);
  const lanes_int whole = visibility_lanes_is_whole(all, column, line);
  memcpy(out->left, &box.left, sizeof out->left);
  memcpy(out->right, &box.right, sizeof out->right);
  memcpy(out->bottom, &box.bottom, sizeof out->bottom);
  memcpy(out->top, &box.top, sizeof out->top);
  memcpy(out->whole, &whole, sizeof whole);
  keep(&out->depths, all.lowest, all.highest);
}

/* Triangles that wait for being set up, and their places in the list. */
typedef struct queue {
  uint32_t triangles[LANES], places[LANES], count;
  visibility_rectangle boxes[LANES];
} queue;

static inline void push(queue *q, uint32_t triangle, uint32_t place, visibility_rectangle box) {
  q->triangles[q->count] = triangle;
  q->places[q->count] = place;
  q->boxes[q->count++] = box;
}

/* Lanes that are not used have a triangle, too. */
static inline void fill_up(queue *q) {
  for (uint32_t k = q->count; k < LANES; k++) {
    q->triangles[k] = q->triangles[0];
    q->boxes[k] = q->boxes[0];
  }
}

static __attribute__((noinline)) void draw_each(const visibility_triangles *t, drawing *d, visibility_action action,
                                                queue *q, uint8_t *flags) {
  fill_up(q);
  visibility_lanes_setup all;
  set_up_whole(t, &d->surface->picture, q->triangles, &all);
  for (uint32_t k = 0; k < q->count; k++) {
    take_lane(&all, k, d);
    if (draw_box(d, action, q->boxes[k])) visibility_raise(&flags[q->places[k]]);
  }
  q->count = 0;
}

/* ---- side by side ------------------------------------------------------------------------------------------------ */

/* Triangles, one in each lane, and the pixels that the lanes are at. */
typedef struct group {
  visibility_lanes_setup setup;
  lanes left, right, top; /* the boxes of pixels */
  lanes column, line;
  uint32_t open; /* a bit for each lane that has pixels left */
  block whole;   /* all depths of the triangles */
} group;

static inline void begin_group(group *g, const queue *q) {
  float box[4][LANES];
  for (int k = 0; k < LANES; k++) {
    box[0][k] = (float)(int32_t)q->boxes[k].left;
    box[1][k] = (float)(int32_t)q->boxes[k].right;
    box[2][k] = (float)(int32_t)q->boxes[k].bottom;
    box[3][k] = (float)(int32_t)q->boxes[k].top;
  }
  memcpy(&g->left, box[0], sizeof g->left);
  memcpy(&g->right, box[1], sizeof g->right);
  memcpy(&g->line, box[2], sizeof g->line);
  memcpy(&g->top, box[3], sizeof g->top);
  g->column = g->left;
  g->open = (1u << q->count) - 1;
  keep(&g->whole, g->setup.lowest, g->setup.highest);
}

/* Each lane to its next pixel, row by row. */
static inline __attribute__((always_inline)) void step(group *g) {
  const lanes next = g->column + 1;
  const lanes_int over = next >= g->right;
  g->column = lanes_select(over, g->left, next);
  g->line += lanes_select(over, LANES_OF(1.0f), (lanes){0});
  g->open &= lanes_bits(g->line < g->top);
}

/* Depths at the pixels that the lanes are at. */
static __attribute__((noinline)) void fill_group(const group *g, block *b) {
  const lanes_int steady = g->setup.steady > 0;
  visibility_lanes_interval depth = visibility_lanes_depth_at(g->setup, g->column, g->line, true);
  if (lanes_bits(steady) != (1u << LANES) - 1) {
    const visibility_lanes_interval other = visibility_lanes_depth_at(g->setup, g->column, g->line, false);
    depth.lo = lanes_select(steady, depth.lo, other.lo);
    depth.hi = lanes_select(steady, depth.hi, other.hi);
  }
  keep(b, depth.lo, depth.hi);
}

/* Whether a visit with any of the depths in lane k of the block may do something. */
static inline __attribute__((always_inline)) bool may_matter(const visibility_surface *s, visibility_action action,
                                                             const block *b, uint32_t k, size_t pixel) {
  switch (action) {
    case VISIBILITY_PUT:
      return b->lo[k] < s->lo[pixel] || b->hi[k] > s->hi[pixel] || (b->slices[k] & ~s->slices[pixel]) != 0;
    case VISIBILITY_TEST:
      return b->lo[k] <= s->hi[pixel] && s->lo[pixel] <= b->hi[k] && (s->slices[pixel] & b->slices[k]) != 0;
    case VISIBILITY_PUT_LEAST:
      return b->lo[k] < s->lo[pixel];
    default:
      return b->hi[k] >= s->lo[pixel];
  }
}

/* The lanes, as bits, that a visit of their pixels found what it tests for. */
static inline __attribute__((always_inline)) uint32_t visit_group(const drawing *d, visibility_action action,
                                                                  const group *g) {
  uint32_t meets = lanes_bits(visibility_lanes_meets_at(g->setup, g->column, g->line)) & g->open, wanted = 0, found = 0;
  uint32_t x[LANES], y[LANES];
  const lanes_int column = __builtin_convertvector(g->column, lanes_int),
                  line = __builtin_convertvector(g->line, lanes_int);
  memcpy(x, &column, sizeof x);
  memcpy(y, &line, sizeof y);
  for (; meets != 0; meets &= meets - 1) {
    const uint32_t k = (uint32_t)__builtin_ctz(meets);
    const size_t pixel = (size_t)y[k] * d->surface->picture.width + x[k];
    wanted |= (uint32_t)may_matter(d->surface, action, &g->whole, k, pixel) << k;
  }
  if (wanted == 0) return 0;
  block b;
  fill_group(g, &b);
  for (; wanted != 0; wanted &= wanted - 1) {
    const uint32_t k = (uint32_t)__builtin_ctz(wanted);
    found |= (uint32_t)visit(d, action, &b, k, x[k], y[k], 1) << k;
  }
  return found;
}

static __attribute__((noinline)) void draw_together(const visibility_triangles *t, const drawing *d,
                                                    visibility_action action, queue *q, uint8_t *flags) {
  fill_up(q);
  group g;
  set_up_whole(t, &d->surface->picture, q->triangles, &g.setup);
  for (begin_group(&g, q); g.open != 0; step(&g)) {
    uint32_t found = visit_group(d, action, &g);
    g.open &= ~found;
    for (; found != 0; found &= found - 1) visibility_raise(&flags[q->places[__builtin_ctz(found)]]);
  }
  q->count = 0;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

/* Queues by how many pixels their triangles have at most; behind them that of larger ones. */
enum { CLASSES = 8, MOST_PIXELS = 36 };
static const uint8_t class_pixels[CLASSES] = {2, 4, 6, 9, 12, 16, 25, MOST_PIXELS};

static inline uint32_t class_of(visibility_rectangle box) {
  const uint64_t pixels = (uint64_t)(box.right - box.left) * (box.top - box.bottom);
  uint32_t class = 0;
  while (class < CLASSES && pixels > class_pixels[class]) class ++;
  return class;
}

/* Whether the triangle, with any of its depths at any pixel of its box, may be found. */
static inline __attribute__((always_inline)) bool box_may_matter(const visibility_surface *s, visibility_action action,
                                                                 const block *b, uint32_t k, visibility_rectangle box) {
  for (uint32_t y = box.bottom; y < box.top; y++) {
    for (uint32_t x = box.left; x < box.right; x++)
      if (may_matter(s, action, b, k, (size_t)y * s->picture.width + x)) return true;
  }
  return false;
}

/* What is left in the queues, the smallest first. */
static inline __attribute__((always_inline)) void draw_rest(const visibility_triangles *t, drawing *d,
                                                            visibility_action action, queue queues[CLASSES + 1],
                                                            uint8_t *flags) {
  queue rest = {.count = 0};
  for (uint32_t c = 0; c < CLASSES; c++) {
    for (uint32_t k = 0; k < queues[c].count; k++) {
      push(&rest, queues[c].triangles[k], queues[c].places[k], queues[c].boxes[k]);
      if (rest.count == LANES) draw_together(t, d, action, &rest, flags);
    }
  }
  if (rest.count > 0) draw_together(t, d, action, &rest, flags);
  if (queues[CLASSES].count > 0) draw_each(t, d, action, &queues[CLASSES], flags);
}

/* A triangle that is all in one pixel meets it, with all of its depths; others, if they are in the rows, are queued. */
static inline __attribute__((always_inline)) void draw_list(const visibility_triangles *t,
                                                            const visibility_surface *surface, uint32_t bottom,
                                                            uint32_t top, visibility_action action,
                                                            const uint32_t *list, uint32_t count, uint8_t *flags) {
  drawing d = {.surface = surface};
  queue queues[CLASSES + 1];
  for (uint32_t c = 0; c <= CLASSES; c++) queues[c].count = 0;
  for (uint32_t i = 0; i < count; i += LANES) {
    const uint32_t number = count - i < LANES ? count - i : LANES;
    uint32_t triangles[LANES];
    boxes b;
    for (uint32_t k = 0; k < LANES; k++) triangles[k] = list[i + (k < number ? k : 0)];
    find_boxes(t, &surface->picture, triangles, &b);
    for (uint32_t k = 0; k < number; k++) {
      const visibility_rectangle box = {b.left[k], b.right[k], b.bottom[k] < bottom ? bottom : b.bottom[k],
                                        b.top[k] > top ? top : b.top[k]};
      if (box.left >= box.right || box.bottom >= box.top || (flags != NULL && visibility_is_raised(&flags[i + k])))
        continue;
      if (b.whole[k]) {
        if (visit(&d, action, &b.depths, k, box.left, box.bottom, 1)) visibility_raise(&flags[i + k]);
        continue;
      }
      const uint32_t class = class_of(box);
      if (flags != NULL && class < CLASSES && !box_may_matter(surface, action, &b.depths, k, box)) continue;
      push(&queues[class], triangles[k], i + k, box);
      if (queues[class].count < LANES) continue;
      if (class < CLASSES)
        draw_together(t, &d, action, &queues[class], flags);
      else
        draw_each(t, &d, action, &queues[class], flags);
    }
  }
  draw_rest(t, &d, action, queues, flags);
}

void KERNEL(gz_visibility_draw)(const visibility_triangles *triangles, const visibility_surface *surface,
                                uint32_t bottom, uint32_t top, visibility_action action, const uint32_t *list,
                                uint32_t count, uint8_t *flags) {
  switch (action) {
    case VISIBILITY_PUT:
      draw_list(triangles, surface, bottom, top, VISIBILITY_PUT, list, count, NULL);
      break;
    case VISIBILITY_TEST:
      draw_list(triangles, surface, bottom, top, VISIBILITY_TEST, list, count, flags);
      break;
    case VISIBILITY_PUT_LEAST:
      draw_list(triangles, surface, bottom, top, VISIBILITY_PUT_LEAST, list, count, NULL);
      break;
    case VISIBILITY_TEST_LEAST:
      draw_list(triangles, surface, bottom, top, VISIBILITY_TEST_LEAST, list, count, flags);
      break;
  }
}
