/* Triangles that are exactly as far apart as their boxes: faces that lie flush along an axis, pipes side by side.
 *
 * Of flush parts thousands of pairs are equally near, and the lowest is told. Once one is known to be as near as its
 * boxes, exactly, every later pair whose boxes are no nearer is of no use, which the ends of boxes tell: differences of
 * two doubles are compared exactly, as a double and a rest.
 *
 * The distance of two triangles is that of their boxes on an axis if, seen along it, what lies on the facing sides of
 * the boxes meets: a point of each then differs on that axis alone. What lies there is a corner, an edge or a face.
 */
#include "base/extremes.h"
#include "exact/expansion.h"
#include "exact/tritri.h"
#include "narrow/along.h"
#include "narrow/gap.h"

/* The ranges of the two boxes on an axis. */
static void find_ranges(const double *a, const double *b, int k, double low[2], double high[2]) {
  low[0] = smaller(smaller(a[k], a[3 + k]), a[6 + k]), high[0] = larger(larger(a[k], a[3 + k]), a[6 + k]);
  low[1] = smaller(smaller(b[k], b[3 + k]), b[6 + k]), high[1] = larger(larger(b[k], b[3 + k]), b[6 + k]);
}

static bool is_gap_below(const boxes_gap *x, const boxes_gap *y) {
  return x->rounded < y->rounded || (x->rounded == y->rounded && x->rest < y->rest);
}

boxes_gap gz_near_boxes_gap(const double a[9], const double b[9]) {
  boxes_gap most = {.rounded = -(double)INFINITY};
  for (int k = 0; k < 3; k++) {
    double low[2], high[2];
    find_ranges(a, b, k, low, high);
    for (int turn = 0; turn < 2; turn++) {
      boxes_gap gap = {.axis = (uint8_t)k, .turned = turn == 0};
      two_diff(low[turn], high[1 - turn], &gap.rounded, &gap.rest);
      if (is_gap_below(&most, &gap)) most = gap;
    }
  }
  return most;
}

/* ---- which pairs are flush ---- */

/* The corners on the side of the triangle's box, seen along the axis: three, of which some may be the same. */
static void project_side(const double t[9], int axis, bool high, double seen[9]) {
  int first = 0;
  for (int c = 1; c < 3; c++) {
    const double *x = t + 3 * c, *y = t + 3 * first;
    if (high ? x[axis] > y[axis] : x[axis] < y[axis]) first = c;
  }
  for (int c = 0; c < 3; c++) {
    const double *from = t + 3 * (t[3 * c + axis] == t[3 * first + axis] ? c : first);
    for (int k = 0; k < 3; k++) seen[3 * c + k] = k == axis ? 0 : from[k];
  }
}

static bool is_flush(const boxes_gap *gap, const double a[9], const double b[9]) {
  double seen[2][9];
  graze_tritri t;
  project_side(a, gap->axis, !gap->turned, seen[0]);
  project_side(b, gap->axis, gap->turned, seen[1]);
  gz_tritri_scalar(seen[0], seen[1], &t);
  return t.kind != GRAZE_KIND_NONE;
}

static bool comes_before(const flush_pair *f, uint32_t first, uint32_t second) {
  return f->first < first || (f->first == first && f->second < second);
}

void gz_near_try_flush(gap_search *g, const open_pair *o, const double a[9], const double b[9]) {
  flush_pair *f = &g->flush;
  if (!(o->gap.rounded > 0) || o->gap.rounded < o->lower) return; /* the boxes are nearer than the triangles */
  if (f->known && is_gap_below(&f->gap, &o->gap)) return;
  if (!is_flush(&o->gap, a, b)) return;
  if (!f->known || f->gap.axis != o->gap.axis) g->round++;
  *f = (flush_pair){true, o->gap, o->first, o->second};
}

/* ---- what they leave out ---- */

bool gz_near_is_behind_flush(const gap_search *g, const open_pair *o) {
  const flush_pair *f = &g->flush;
  return f->known && comes_before(f, o->first, o->second) && !is_gap_below(&o->gap, &f->gap);
}

/* Bits 8 j + i where (triangle i of a, triangle j of b) comes after the flush pair. */
static uint64_t find_later(const flush_pair *f, const bvh_node *a, const bvh_node *b) {
  unsigned after = 0, same = 0;
  uint64_t rows = 0;
  for (unsigned i = 0; i < NODE_WIDTH; i++) {
    after |= (unsigned)(a->child[i] > f->first) << i;
    same |= (unsigned)(a->child[i] == f->first) << i;
  }
  for (unsigned j = 0; j < NODE_WIDTH; j++) rows |= (uint64_t)(b->child[j] > f->second) << (8 * j);
  return UINT64_C(0x0101010101010101) * after | rows * same;
}

uint64_t gz_near_open_to_flush(worker *w, uint32_t a, uint32_t b) {
  exact_sink *s = &w->sink;
  const flush_pair *f = &w->gap.flush;
  const bvh_node *node_a = &s->a->mesh->nodes[a], *node_b = &s->b->mesh->nodes[b];
  const uint64_t all = boxes_in_use(node_a, node_b), later = f->known ? all & find_later(f, node_a, node_b) : 0;
  if (later == 0) return all;
  const posed_node *posed_a = gz_sink_pose_node(s->a, a, &s->cache_a);
  const posed_node *posed_b = gz_sink_pose_node(s->b, b, &s->cache_b);
  return (all & ~later) | CPU_KERNEL(gz_along_axis)(posed_a, posed_b, &f->gap, later);
}

/* ---- nodes ---- */

static node_reach find_bottom_reach(worker *w, bool of_b, const bvh_node *n, uint32_t node) {
  exact_sink *s = &w->sink;
  const int axis = w->gap.flush.gap.axis;
  const posed_node *posed = gz_sink_pose_node(of_b ? s->b : s->a, node, of_b ? &s->cache_b : &s->cache_a);
  node_reach r = {(double)INFINITY, -(double)INFINITY, w->gap.round, node, UINT32_MAX};
  for (unsigned i = 0; i < n->count; i++) {
    for (int c = axis; c < 9; c += 3) {
      r.low = smaller(r.low, posed->corner[c][i]);
      r.high = larger(r.high, posed->corner[c][i]);
    }
    r.lowest = n->child[i] < r.lowest ? n->child[i] : r.lowest;
  }
  return r;
}

static void join_reaches(node_reach *r, const node_reach *below) {
  r->low = smaller(r->low, below->low);
  r->high = larger(r->high, below->high);
  r->lowest = below->lowest < r->lowest ? below->lowest : r->lowest;
}

/* Of a bottom node, or one whose children all are; of larger ones too much would have to be posed to tell. */
static node_reach reach_of(worker *w, bool of_b, uint32_t node, bool with_children) {
  node_reach *known = &w->gap.reaches[of_b][node % NODE_REACHES];
  if (known->round == w->gap.round && known->node == node) return *known;
  const bvh_node *n = &(of_b ? w->sink.b : w->sink.a)->mesh->nodes[node];
  if (n->bottom) return *known = find_bottom_reach(w, of_b, n, node);
  node_reach r = {-(double)INFINITY, (double)INFINITY, w->gap.round, node, 0};
  if (!with_children) return r;
  r = (node_reach){(double)INFINITY, -(double)INFINITY, w->gap.round, node, UINT32_MAX};
  for (unsigned i = 0; i < n->count; i++) {
    const node_reach below = reach_of(w, of_b, n->child[i], false);
    join_reaches(&r, &below);
  }
  return *known = r;
}

bool gz_near_is_past_flush(worker *w, uint32_t a, uint32_t b) {
  const flush_pair *f = &w->gap.flush;
  const node_reach reach_a = reach_of(w, false, a, true);
  if (reach_a.lowest < f->first) return false;
  const node_reach reach_b = reach_of(w, true, b, true);
  if (reach_a.lowest == f->first && reach_b.lowest <= f->second) return false;
  boxes_gap gap = {.axis = f->gap.axis};
  if (f->gap.turned)
    two_diff(reach_a.low, reach_b.high, &gap.rounded, &gap.rest);
  else
    two_diff(reach_b.low, reach_a.high, &gap.rounded, &gap.rest);
  return !is_gap_below(&gap, &f->gap);
}
