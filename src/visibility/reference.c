/* visibility/reference.c: the processor as a device. Pixels are independent of each other, so that a thread takes a
 * band of rows of a picture and does all that is asked of it there, in order: no locks, the same bytes for any threads.
 */
#include "base/context.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "visibility/bounds.h"
#include "visibility/device.h"
#include "visibility/draw.h"

typedef struct reference {
  visibility_device device; /* first */
  graze_context *context;
  visibility_triangles triangles;
  buffer surfaces, pixels;            /* of begin */
  buffer order, units, copies, least; /* of the call */
  uint32_t count;
  uint64_t queries;
} reference;

/* What one thread does of put or test: entries begin <= i < end of a picture's draws, put end to end, in the rows
 * bottom <= y < top. */
typedef struct unit {
  visibility_surface surface; /* the picture's, or a copy that is merged into it */
  uint32_t picture, bottom, top;
  uint32_t first, count; /* draws, in their order by picture */
  uint64_t begin, end;
} unit;

static reference *reference_of(visibility_device *device) {
  return (reference *)device;
}

static graze_status load(visibility_device *device, const visibility_triangles *triangles) {
  reference_of(device)->triangles = *triangles;
  return GRAZE_OK;
}

/* ---- pictures ---- */

static void clear(const visibility_surface *s) {
  const size_t pixels = (size_t)s->picture.width * s->picture.height;
  for (size_t i = 0; i < pixels; i++) s->lo[i] = INFINITY;
  if (s->slices == NULL) return;
  for (size_t i = 0; i < pixels; i++) s->hi[i] = -INFINITY;
  memset(s->slices, 0, pixels * sizeof *s->slices);
}

static void clear_one(void *argument, uint32_t index) {
  clear((const visibility_surface *)argument + index);
}

/* Pixels at `next`: where they end. */
static float *place_pixels(visibility_surface *s, float *next) {
  const size_t pixels = (size_t)s->picture.width * s->picture.height;
  s->lo = next;
  s->hi = next + pixels;
  s->slices = (uint32_t *)(next + 2 * pixels);
  return next + 3 * pixels;
}

static graze_status begin(visibility_device *device, const visibility_picture *pictures, uint32_t count) {
  reference *r = reference_of(device);
  size_t pixels = 0, bytes = 0;
  r->count = 0;
  for (uint32_t i = 0; i < count; i++) pixels += (size_t)pictures[i].width * pictures[i].height;
  bytes = pixels * (2 * sizeof(float) + sizeof(uint32_t));
  if (!gz_buffer_reserve(r->context, &r->surfaces, count * sizeof(visibility_surface), 0))
    return gz_fail_memory(r->context, count * sizeof(visibility_surface));
  if (!gz_buffer_reserve(r->context, &r->pixels, bytes, 0)) return gz_fail_memory(r->context, bytes);
  visibility_surface *s = r->surfaces.data;
  float *next = r->pixels.data;
  for (uint32_t i = 0; i < count; i++) {
    s[i].picture = pictures[i];
    next = place_pixels(&s[i], next);
  }
  r->count = count;
  gz_parallel_each(r->context, count, clear_one, s);
  return GRAZE_OK;
}

static graze_status read_picture(visibility_device *device, uint32_t picture, float *lo, float *hi) {
  reference *r = reference_of(device);
  const visibility_surface *s = (const visibility_surface *)r->surfaces.data + picture;
  const size_t bytes = (size_t)s->picture.width * s->picture.height * sizeof(float);
  memcpy(lo, s->lo, bytes);
  memcpy(hi, s->hi, bytes);
  return GRAZE_OK;
}

/* ---- pixel centers ---- */

/* A triangle at pixel centers: corners as floats, edges and depths in doubles. A center on an edge is in the triangle
 * if the edge is a left or an upper one, so that of triangles that share it one has it. */
typedef struct centers {
  double x[3], y[3], z[3];
  double area;
} centers;

static bool set_up_centers(const visibility_triangles *t, const visibility_picture *p, uint32_t triangle,
                           centers *out) {
  const float *corner = t->corners + 9 * (size_t)triangle;
  const uint32_t w = p->axis, u = (w + 1) % 3, v = (w + 2) % 3;
  for (int i = 0; i < 3; i++, corner += 3) {
    const float x = (corner[u] - p->low[u]) * p->scale[u], y = (corner[v] - p->low[v]) * p->scale[v],
                z = (corner[w] - p->low[w]) * p->scale[w];
    if (!visibility_tame(x) || !visibility_tame(y) || !visibility_tame(z)) return false;
    out->x[i] = x, out->y[i] = y, out->z[i] = z;
  }
  const double area =
      (out->x[1] - out->x[0]) * (out->y[2] - out->y[0]) - (out->y[1] - out->y[0]) * (out->x[2] - out->x[0]);
  out->area = area;
  return area != 0;
}

/* Twice the area that the edge from corner i spans with a point, positive inside. */
static double side_of(const centers *t, int i, double x, double y) {
  const int j = (i + 1) % 3;
  const double side = (t->x[j] - t->x[i]) * (y - t->y[i]) - (t->y[j] - t->y[i]) * (x - t->x[i]);
  return t->area < 0 ? -side : side;
}

static bool has_center(const centers *t, double x, double y, float *depth) {
  double side[3];
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3;
    const double turn = t->area < 0 ? -1 : 1, dx = turn * (t->x[j] - t->x[i]), dy = turn * (t->y[j] - t->y[i]);
    side[i] = side_of(t, i, x, y);
    if (side[i] < 0 || (side[i] == 0 && !(dy < 0 || (dy == 0 && dx < 0)))) return false;
  }
  *depth = (float)((side[1] * t->z[0] + side[2] * t->z[1] + side[0] * t->z[2]) / (side[0] + side[1] + side[2]));
  return true;
}

/* Puts the triangle's centers in the rows, or tests them; true: one of them is hidden. */
static bool draw_centers(const visibility_triangles *triangles, const visibility_surface *s, uint32_t bottom,
                         uint32_t top, bool tests, uint32_t triangle) {
  centers t;
  if (!set_up_centers(triangles, &s->picture, triangle, &t)) return false;
  const double left = fmin(fmin(t.x[0], t.x[1]), t.x[2]), right = fmax(fmax(t.x[0], t.x[1]), t.x[2]),
               low = fmin(fmin(t.y[0], t.y[1]), t.y[2]), high = fmax(fmax(t.y[0], t.y[1]), t.y[2]);
  const uint32_t x0 = (uint32_t)fmin(fmax(ceil(left - 0.5), 0), s->picture.width),
                 x1 = (uint32_t)fmin(fmax(floor(right + 0.5), 0), s->picture.width),
                 y0 = (uint32_t)fmin(fmax(ceil(low - 0.5), bottom), top),
                 y1 = (uint32_t)fmin(fmax(floor(high + 0.5), bottom), top);
  for (uint32_t y = y0; y < y1; y++)
    for (uint32_t x = x0; x < x1; x++) {
      float depth, *there = &s->lo[(size_t)y * s->picture.width + x];
      if (!has_center(&t, x + 0.5, y + 0.5, &depth)) continue;
      if (tests && depth >= *there) return true;
      if (!tests && depth < *there) *there = depth;
    }
  return false;
}

/* ---- put and test ---- */

/* Of the draws of a call: for each picture where its draws end in `order`, and how many entries they have. */
typedef struct groups {
  uint32_t *ends, *order;
  uint64_t *entries;
  uint32_t drawn; /* pictures with entries */
} groups;

static bool make_groups(reference *r, const visibility_draw *draws, uint32_t count, groups *g) {
  const size_t pictures = r->count;
  for (carving sizes = {0};; sizes = (carving){r->order.data, 0}) { /* counted, then dealt out */
    g->entries = gz_carve(&sizes, pictures * sizeof *g->entries);
    g->ends = gz_carve(&sizes, pictures * sizeof *g->ends);
    g->order = gz_carve(&sizes, count * sizeof *g->order);
    if (sizes.memory != NULL) break;
    if (!gz_buffer_reserve(r->context, &r->order, sizes.used + 1, 0)) return false;
  }
  memset(g->entries, 0, pictures * sizeof *g->entries);
  memset(g->ends, 0, pictures * sizeof *g->ends);
  g->drawn = 0;
  for (uint32_t i = 0; i < count; i++) {
    g->entries[draws[i].picture] += draws[i].count;
    if (draws[i].picture + 1 < pictures) g->ends[draws[i].picture + 1]++;
  }
  for (uint32_t i = 0; i < pictures; i++) {
    g->drawn += g->entries[i] != 0;
    if (i > 0) g->ends[i] += g->ends[i - 1];
  }
  for (uint32_t i = 0; i < count; i++)
    g->order[g->ends[draws[i].picture]++] = i; /* where they begin becomes where they end */
  return true;
}

enum {
  PART = 4096,             /* entries that are worth a thread */
  SMALL_PICTURE = 1 << 16, /* pixels that are worth a copy for each */
};

typedef struct cuts {
  uint32_t parts, bands; /* of the entries, of the rows */
} cuts;

static uint32_t least_of(uint64_t a, uint64_t b) {
  return (uint32_t)(a < b ? a : b);
}

/* Few pictures are cut for all threads: what tests by entries, what puts into small ones as well, each part into a
 * copy; into larger ones by rows. */
static cuts cuts_of(const reference *r, const visibility_picture *p, const groups *g, uint64_t entries, bool tests) {
  const uint32_t threads = (uint32_t)gz_parallel_threads(r->context), wanted = (4 * threads + g->drawn - 1) / g->drawn;
  const uint32_t parts = least_of(wanted, entries / PART + 1);
  if (threads == 1) return (cuts){1, 1};
  if (tests) return (cuts){parts, 1};
  if ((uint64_t)p->width * p->height <= SMALL_PICTURE) return (cuts){least_of(parts, threads), 1};
  return (cuts){1, least_of(wanted, (p->height + 7) / 8)};
}

static void add_units(const visibility_surface *s, uint32_t picture, const groups *g, cuts c, unit *units) {
  const uint32_t first = picture == 0 ? 0 : g->ends[picture - 1];
  const uint64_t entries = g->entries[picture], height = s->picture.height;
  for (uint64_t k = 0; k < c.parts * c.bands; k++)
    units[k] = (unit){.surface = *s,
                      .picture = picture,
                      .bottom = c.bands == 1 ? 0 : (uint32_t)(height * k / c.bands),
                      .top = c.bands == 1 ? (uint32_t)height : (uint32_t)(height * (k + 1) / c.bands),
                      .first = first,
                      .count = g->ends[picture] - first,
                      .begin = c.parts == 1 ? 0 : entries * k / c.parts,
                      .end = c.parts == 1 ? entries : entries * (k + 1) / c.parts};
}

typedef struct call {
  reference *device;
  const visibility_draw *draws;
  const uint32_t *order, *list;
  uint8_t *flags; /* NULL: put */
  const unit *units;
} call;

static bool is_copy(const call *c, const unit *u) {
  return u->surface.lo != ((const visibility_surface *)c->device->surfaces.data)[u->picture].lo;
}

static void run_unit(void *argument, uint32_t index) {
  const call *c = argument;
  const unit *u = &c->units[index];
  visibility_draw_kernel *draw_kernel = CPU_KERNEL_TO_AVX2(gz_visibility_draw);
  uint64_t at = 0;
  if (is_copy(c, u)) clear(&u->surface);
  for (uint32_t i = u->first; i < u->first + u->count; i++) {
    const visibility_draw *d = &c->draws[c->order[i]];
    const uint64_t begin = u->begin > at ? u->begin - at : 0, end = u->end > at ? least_of(u->end - at, d->count) : 0;
    at += d->count;
    if (begin >= end) continue;
    const size_t first = d->first + (size_t)begin;
    draw_kernel(&c->device->triangles, &u->surface, u->bottom, u->top, c->flags ? VISIBILITY_TEST : VISIBILITY_PUT,
                c->list + first, (uint32_t)(end - begin), c->flags ? c->flags + first : NULL);
  }
}

/* What the copies of a picture have, into it. */
static void merge(const call *c, uint32_t units) {
  for (uint32_t k = 0; k < units; k++) {
    const unit *u = &c->units[k];
    const visibility_surface *s = (const visibility_surface *)c->device->surfaces.data + u->picture;
    const size_t pixels = is_copy(c, u) ? (size_t)s->picture.width * s->picture.height : 0;
    for (size_t i = 0; i < pixels; i++) {
      s->lo[i] = visibility_min(s->lo[i], u->surface.lo[i]);
      s->hi[i] = visibility_max(s->hi[i], u->surface.hi[i]);
      s->slices[i] |= u->surface.slices[i];
    }
  }
}

static graze_status draw(reference *r, const visibility_draw *draws, uint32_t count, const uint32_t *list,
                         uint8_t *flags) {
  const visibility_surface *surfaces = r->surfaces.data;
  size_t units = 0, copied = 0, number = 0;
  groups g;
  if (!make_groups(r, draws, count, &g)) return gz_fail_memory(r->context, count * sizeof *g.order);
  for (uint32_t i = 0; i < r->count; i++) {
    if (g.entries[i] == 0) continue;
    const cuts c = cuts_of(r, &surfaces[i].picture, &g, g.entries[i], flags != NULL);
    units += c.parts * c.bands;
    if (flags == NULL) copied += (c.parts - 1) * (size_t)surfaces[i].picture.width * surfaces[i].picture.height;
  }
  if (!gz_buffer_reserve(r->context, &r->units, units * sizeof(unit), 0))
    return gz_fail_memory(r->context, units * sizeof(unit));
  if (!gz_buffer_reserve(r->context, &r->copies, 3 * copied * sizeof(float), 0))
    return gz_fail_memory(r->context, 3 * copied * sizeof(float));
  unit *all = r->units.data;
  float *next = r->copies.data;
  for (uint32_t i = 0; i < r->count; i++) {
    if (g.entries[i] == 0) continue;
    const cuts c = cuts_of(r, &surfaces[i].picture, &g, g.entries[i], flags != NULL);
    add_units(&surfaces[i], i, &g, c, all + number);
    for (uint32_t k = 1; k < c.parts && flags == NULL; k++) next = place_pixels(&all[number + k].surface, next);
    number += c.parts * c.bands;
  }
  call c = {r, draws, g.order, list, flags, all};
  gz_parallel_each(r->context, (uint32_t)units, run_unit, &c);
  if (copied != 0) merge(&c, (uint32_t)units);
  return GRAZE_OK;
}

static graze_status put(visibility_device *device, const visibility_draw *draws, uint32_t count, const uint32_t *list,
                        uint32_t list_count) {
  (void)list_count;
  return draw(reference_of(device), draws, count, list, NULL);
}

static graze_status test(visibility_device *device, const visibility_draw *draws, uint32_t count, const uint32_t *list,
                         uint32_t list_count, uint8_t *flags) {
  memset(flags, 0, list_count);
  return list_count == 0 ? GRAZE_OK : draw(reference_of(device), draws, count, list, flags);
}

/* ---- sequences ---- */

typedef struct sequence {
  const reference *device;
  visibility_surface surface; /* `lo` only */
  visibility_rule rule;
  const visibility_step *steps;
  uint32_t count, bands;
  const uint32_t *list;
  uint8_t *flags;
} sequence;

static void step_of_centers(const sequence *q, const visibility_step *step, uint32_t bottom, uint32_t top) {
  const visibility_triangles *t = &q->device->triangles;
  for (uint32_t k = step->test.first; k < step->test.first + step->test.count; k++)
    if (!visibility_is_raised(&q->flags[k]) && draw_centers(t, &q->surface, bottom, top, true, q->list[k]))
      visibility_raise(&q->flags[k]);
  for (uint32_t k = step->put.first; k < step->put.first + step->put.count; k++)
    draw_centers(t, &q->surface, bottom, top, false, q->list[k]);
}

static void step_of_bounds(const sequence *q, const visibility_step *step, uint32_t bottom, uint32_t top) {
  const visibility_triangles *t = &q->device->triangles;
  visibility_draw_kernel *draw_kernel = CPU_KERNEL_TO_AVX2(gz_visibility_draw);
  draw_kernel(t, &q->surface, bottom, top, VISIBILITY_TEST_LEAST, q->list + step->test.first, step->test.count,
              q->flags + step->test.first);
  draw_kernel(t, &q->surface, bottom, top, VISIBILITY_PUT_LEAST, q->list + step->put.first, step->put.count, NULL);
}

static void run_band(void *argument, uint32_t index) {
  const sequence *q = argument;
  const uint32_t height = q->surface.picture.height;
  const uint32_t bottom = (uint32_t)((uint64_t)height * index / q->bands),
                 top = (uint32_t)((uint64_t)height * (index + 1) / q->bands);
  for (uint32_t i = 0; i < q->count; i++)
    if (q->rule == VISIBILITY_CENTERS)
      step_of_centers(q, &q->steps[i], bottom, top);
    else
      step_of_bounds(q, &q->steps[i], bottom, top);
}

static uint32_t sequence_bands(const reference *r, const visibility_picture *p) {
  const uint32_t threads = (uint32_t)gz_parallel_threads(r->context);
  return threads == 1 ? 1 : least_of(2 * threads, (p->height + 7) / 8);
}

static graze_status run_sequence(visibility_device *device, const visibility_picture *picture, visibility_rule rule,
                                 const visibility_step *steps, uint32_t count, const uint32_t *list,
                                 uint32_t list_count, uint8_t *flags) {
  reference *r = reference_of(device);
  const size_t bytes = (size_t)picture->width * picture->height * sizeof(float);
  if (!gz_buffer_reserve(r->context, &r->least, bytes, 0)) return gz_fail_memory(r->context, bytes);
  sequence q = {r,    {.picture = *picture, .lo = r->least.data}, rule, steps, count, sequence_bands(r, picture), list,
                flags};
  clear(&q.surface);
  if (list_count != 0) memset(flags, 0, list_count);
  gz_parallel_each(r->context, q.bands, run_band, &q);
  for (uint32_t i = 0; i < count; i++) r->queries += steps[i].test.count != 0;
  return GRAZE_OK;
}

static graze_status read_centers(visibility_device *device, const visibility_picture *picture, const uint32_t *list,
                                 uint32_t count, float *depth) {
  const visibility_step step = {.put = {0, 0, count}};
  graze_status status = run_sequence(device, picture, VISIBILITY_CENTERS, &step, 1, list, 0, NULL);
  if (status == GRAZE_OK)
    memcpy(depth, reference_of(device)->least.data, (size_t)picture->width * picture->height * sizeof *depth);
  return status;
}

static uint64_t queries(const visibility_device *device) {
  return ((const reference *)device)->queries;
}

static void destroy(visibility_device *device) {
  reference *r = reference_of(device);
  gz_buffer_release(r->context, &r->surfaces);
  gz_buffer_release(r->context, &r->pixels);
  gz_buffer_release(r->context, &r->order);
  gz_buffer_release(r->context, &r->units);
  gz_buffer_release(r->context, &r->copies);
  gz_buffer_release(r->context, &r->least);
  gz_memory_release(r->context, r, sizeof *r);
}

graze_status gz_visibility_reference_create(graze_context *context, visibility_device **device) {
  reference *r = gz_memory_alloc(context, sizeof *r);
  if (r == NULL) return gz_fail_memory(context, sizeof *r);
  *r = (reference){
      .device = {"reference", load, begin, put, test, run_sequence, read_picture, read_centers, queries, destroy},
      .context = context};
  *device = &r->device;
  return GRAZE_OK;
}
