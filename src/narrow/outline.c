/* The curve in which two surfaces meet, chained from the segments of triangle pairs.
 *
 * Ends of segments are computed pair by pair and differ in their last bits, so they are joined on a fine grid: this is
 * for the eye, nothing is decided here. A segment that several pairs give is kept once; of the borders of common areas
 * those between two pieces of the same area come twice and go.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "exact/tritri.h"
#include "narrow/locate.h"
#include "narrow/relate.h"

/* A curve of more pairs is no help to the eye, and would take hundreds of bytes of scratch for each. */
enum { CURVE_PAIRS_MOST = 1 << 20 };

enum { SEGMENTS = 0, ENDS = 1, POINTS = 2, STARTS = 3 }; /* buffers of the query */

#define GRID 0x1p40 /* cells across the place */

typedef struct segment {
  double p[2][3];
  uint32_t node[2]; /* joined ends: the number of the first end there */
  bool border;      /* of an area */
  bool gone;
} segment;

/* An end of a segment, by its cell. */
typedef struct end {
  uint64_t cell;
  uint32_t segment;
  uint32_t which;
} end;

typedef struct tracer {
  graze_query *query;
  segment *segments;
  uint32_t count;
  end *ends; /* sorted by cell, then number: the ends at a node stand together */
  graze_box box;
  bool any;
  tritri_block_function *decide;
} tracer;

/* ---- collecting ---- */

static bool add_segment(tracer *t, const double p[3], const double q[3], bool border) {
  buffer *to = &t->query->outline[SEGMENTS];
  size_t used = t->count * sizeof(segment);
  if (!gz_buffer_reserve(t->query->context, to, used + sizeof(segment), used)) return false;
  t->segments = to->data;
  segment *s = &t->segments[t->count++];
  memset(s, 0, sizeof *s);
  memcpy(s->p[0], p, sizeof s->p[0]);
  memcpy(s->p[1], q, sizeof s->p[1]);
  s->border = border;
  return true;
}

static bool add_pair(tracer *t, const double corners[6][3], const graze_tritri *summary, bool curve) {
  graze_intersection common;
  gz_tritri_points(corners, summary, &common);
  for (uint32_t i = 0; i < common.count; i++) graze_box_add_point(&t->box, common.points[i]);
  t->any |= common.count > 0;
  if (common.count < 2 || !curve) return true;
  bool border = common.count > 2;
  for (uint32_t i = 0; i < (border ? common.count : 1); i++) {
    if (!add_segment(t, common.points[i], common.points[(i + 1) % common.count], border)) return false;
  }
  return true;
}

/* How the pairs meet is decided again, in blocks, which is cheap beside keeping it with all pairs that are ever listed.
 */
static bool collect_block(tracer *t, const side *a, const side *b, const graze_triangle_pair *pairs, unsigned count,
                          bool curve) {
  double corners[TRITRI_BLOCK][6][3];
  uint8_t codes[TRITRI_BLOCK];
  tritri_block block = {0}; /* for the compiler, which cannot know that there are pairs */
  for (unsigned i = 0; i < count; i++) {
    gz_side_corners(a, pairs[i].a, corners[i][0]);
    gz_side_corners(b, pairs[i].b, corners[i][3]);
    for (int k = 0; k < 9; k++) {
      block.a[k][i] = corners[i][k / 3][k % 3];
      block.b[k][i] = corners[i][3 + k / 3][k % 3];
    }
  }
  tritri_block_fill(&block, count);
  t->decide(&block, count, true, codes);
  for (unsigned i = 0; i < count; i++) {
    const graze_tritri summary = tritri_from_code(codes[i]);
    if (!add_pair(t, (const double(*)[3])corners[i], &summary, curve)) return false;
  }
  return true;
}

static bool collect(tracer *t, const side *a, const side *b, const graze_triangle_pair *pairs, uint64_t count) {
  t->box = graze_box_empty();
  t->decide = gz_tritri_block_best();
  for (uint64_t i = 0; i < count; i += TRITRI_BLOCK) {
    const unsigned part = count - i < TRITRI_BLOCK ? (unsigned)(count - i) : TRITRI_BLOCK;
    if (!collect_block(t, a, b, pairs + i, part, count <= CURVE_PAIRS_MOST)) return false;
  }
  return true;
}

/* ---- joining ---- */

static int by_cell(const void *p, const void *q) {
  const end *a = p, *b = q;
  if (a->cell != b->cell) return a->cell < b->cell ? -1 : 1;
  if (a->segment != b->segment) return a->segment < b->segment ? -1 : 1;
  return (a->which > b->which) - (a->which < b->which);
}

/* Same nodes in the same order stand together, then in the order of finding. */
static int by_nodes(const void *p, const void *q) {
  const segment *a = p, *b = q;
  for (int k = 0; k < 2; k++) {
    if (a->node[k] != b->node[k]) return a->node[k] < b->node[k] ? -1 : 1;
  }
  return (a->border > b->border) - (a->border < b->border);
}

static bool sort_ends(tracer *t) {
  size_t bytes = 2 * (size_t)t->count * sizeof(end);
  if (!gz_buffer_reserve(t->query->context, &t->query->outline[ENDS], bytes + 1, 0)) return false;
  t->ends = t->query->outline[ENDS].data;
  double size = 0;
  for (int k = 0; k < 3; k++) size = fmax(size, t->box.max[k] - t->box.min[k]);
  double cells = size > 0 ? GRID / size : 0;
  for (uint32_t i = 0; i < 2 * t->count; i++) {
    const double *p = t->segments[i / 2].p[i % 2];
    uint64_t cell = 0;
    for (int k = 0; k < 3; k++) cell = splitmix64(cell ^ (uint64_t)(int64_t)rint((p[k] - t->box.min[k]) * cells));
    t->ends[i] = (end){cell, i / 2, i % 2};
  }
  if (t->count > 0) qsort(t->ends, 2 * (size_t)t->count, sizeof(end), by_cell);
  return true;
}

static void number_nodes(tracer *t) {
  uint32_t node = 0;
  for (uint32_t i = 0; i < 2 * t->count; i++) {
    if (i > 0 && t->ends[i].cell != t->ends[i - 1].cell) node = i;
    t->segments[t->ends[i].segment].node[t->ends[i].which] = node;
  }
}

/* Drops segments of no length and repeated ones, and borders that two pieces of an area share. */
static void drop_repeated(tracer *t) {
  for (uint32_t i = 0; i < t->count; i++) {
    segment *s = &t->segments[i];
    if (s->node[0] <= s->node[1]) continue;
    segment turned = *s;
    for (int k = 0; k < 2; k++) {
      s->node[k] = turned.node[1 - k];
      memcpy(s->p[k], turned.p[1 - k], sizeof s->p[k]);
    }
  }
  qsort(t->segments, t->count, sizeof *t->segments, by_nodes);
  uint32_t kept = 0;
  for (uint32_t i = 0, next; i < t->count; i = next) {
    const segment *s = &t->segments[i];
    uint32_t borders = 0;
    for (next = i;
         next < t->count && t->segments[next].node[0] == s->node[0] && t->segments[next].node[1] == s->node[1];
         next++) {
      borders += t->segments[next].border;
    }
    bool inner = borders > 0 && borders % 2 == 0; /* whatever else meets there */
    if (s->node[0] != s->node[1] && !inner) t->segments[kept++] = *s;
  }
  t->count = kept;
}

/* ---- chaining ---- */

/* The ends at the node where end `i` of the sorted list stands. */
static uint32_t degree(const tracer *t, uint32_t node) {
  uint32_t n = node;
  while (n < 2 * t->count && t->ends[n].cell == t->ends[node].cell) n++;
  return n - node;
}

/* A segment at the node that is not gone; UINT32_MAX: none. */
static uint32_t next_segment(const tracer *t, uint32_t node) {
  for (uint32_t n = node; n < 2 * t->count && t->ends[n].cell == t->ends[node].cell; n++) {
    if (!t->segments[t->ends[n].segment].gone) return t->ends[n].segment;
  }
  return UINT32_MAX;
}

typedef struct chains {
  double (*points)[3];
  uint32_t *starts;
  uint32_t point_count, count;
} chains;

static void put_point(chains *c, const double p[3]) {
  memcpy(c->points[c->point_count++], p, sizeof c->points[0]);
}

/* From the node along segment `s` until a crossing, an end, or the beginning again. */
static void walk(tracer *t, chains *c, uint32_t node, uint32_t s) {
  c->starts[c->count++] = c->point_count;
  put_point(c, t->segments[s].p[t->segments[s].node[0] == node ? 0 : 1]);
  while (s != UINT32_MAX) {
    segment *at = &t->segments[s];
    int far = at->node[0] == node ? 1 : 0;
    at->gone = true;
    put_point(c, at->p[far]);
    node = at->node[far];
    s = degree(t, node) == 2 ? next_segment(t, node) : UINT32_MAX;
  }
}

static bool chain(tracer *t, chains *c) {
  const graze_context *context = t->query->context;
  buffer *points = &t->query->outline[POINTS], *starts = &t->query->outline[STARTS];
  /* Every segment gives one point, and one more to each polyline. */
  if (!gz_buffer_reserve(context, points, 2 * (size_t)t->count * sizeof c->points[0] + 1, 0) ||
      !gz_buffer_reserve(context, starts, ((size_t)t->count + 1) * sizeof *c->starts, 0)) {
    return false;
  }
  *c = (chains){points->data, starts->data, 0, 0};
  for (int loops = 0; loops < 2; loops++) {
    for (uint32_t i = 0; i < 2 * t->count; i++) {
      uint32_t s = t->ends[i].segment, node = t->segments[s].node[t->ends[i].which];
      if (t->segments[s].gone || (loops == 0 && degree(t, node) == 2)) continue;
      walk(t, c, node, s);
    }
  }
  c->starts[c->count] = c->point_count;
  return true;
}

/* ---- the rest ---- */

static void place(const tracer *t, const graze_box *a, const graze_box *b, const chains *c, graze_outline *out) {
  out->box = t->any ? t->box : graze_box_contains(b, a) ? *a : *b;
  out->depth = DBL_MAX;
  double least = DBL_MAX;
  for (int k = 0; k < 3; k++) {
    out->point[k] = 0.5 * out->box.min[k] + 0.5 * out->box.max[k];
    out->depth = fmin(out->depth, fmin(a->max[k] - b->min[k], b->max[k] - a->min[k]));
  }
  const double middle[3] = {out->point[0], out->point[1], out->point[2]};
  for (uint32_t i = 0; i < c->point_count; i++) {
    double d[3], square = 0;
    for (int k = 0; k < 3; k++) d[k] = c->points[i][k] - middle[k];
    for (int k = 0; k < 3; k++) square += d[k] * d[k];
    if (square >= least) continue;
    least = square;
    memcpy(out->point, c->points[i], sizeof out->point);
  }
}

graze_status gz_query_outline(graze_query *q, const side *a, const side *b, const graze_triangle_pair *pairs,
                              uint64_t count, graze_outline *out) {
  tracer t = {.query = q};
  chains c;
  bool good = collect(&t, a, b, pairs, count) && sort_ends(&t);
  if (good && t.count > 0) {
    number_nodes(&t);
    drop_repeated(&t);
    good = sort_ends(&t);
  }
  if (good) {
    number_nodes(&t);
    good = chain(&t, &c);
  }
  if (!good) return gz_fail(q->context, GRAZE_ERROR_MEMORY, "out of memory: the outline of a contact");
  graze_box box_a = gz_side_box(a), box_b = gz_side_box(b);
  place(&t, &box_a, &box_b, &c, out);
  out->proved = false;
  out->moved_corners = 0;
  memset(out->translation, 0, sizeof out->translation);
  out->points = (const double(*)[3])c.points;
  out->starts = c.starts;
  out->count = c.count;
  return GRAZE_OK;
}

graze_status graze_outline_contact(graze_query *q, const graze_mesh *a, const graze_pose *pose_a, const graze_mesh *b,
                                   const graze_pose *pose_b, const graze_triangle_pair *pairs, uint64_t count,
                                   graze_outline *outline) {
  if (q == NULL || a == NULL || b == NULL || outline == NULL || (count > 0 && pairs == NULL)) {
    return gz_fail_null(q != NULL ? q->context : NULL);
  }
  side sides[2];
  unsigned saved = gz_fp_enter();
  graze_status status = gz_query_side(q, a, pose_a, GRAZE_T1, "a", &sides[0]);
  if (status == GRAZE_OK) status = gz_query_side(q, b, pose_b, GRAZE_T1, "b", &sides[1]);
  for (uint64_t i = 0; i < count && status == GRAZE_OK; i++) {
    if (pairs[i].a < a->triangle_count && pairs[i].b < b->triangle_count) continue;
    status = gz_fail(q->context, GRAZE_ERROR_ARGUMENT, "outline: pair %llu names a triangle that does not exist",
                     (unsigned long long)i);
  }
  if (status == GRAZE_OK) status = gz_query_outline(q, &sides[0], &sides[1], pairs, count, outline);
  gz_fp_leave(saved);
  return status;
}
