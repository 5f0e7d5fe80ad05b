/* The search for the nearest triangles of two meshes, and for those nearer than a limit.
 *
 * Both traverse the two hierarchies with lower bounds of the distances of boxes; pairs that are farther apart than two
 * triangles are known to be are left out. For the distance a first bound is found by going down with a few pairs of
 * nodes, on each level the nearest of all that the last one led to, and what they leave behind is searched with it:
 * the nearest of one pair's children alone may lead to the wrong end of the mesh. Where the triangles of two bottom
 * nodes meet them, bounds from blocks (exact/near.h) keep those that may be the nearest.
 *
 * E. Larsen, S. Gottschalk, M. Lin, D. Manocha, "Fast Proximity Queries with Swept Sphere Volumes", 1999, for search
 * with a bound, and the last nearest pair as the first.
 */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/extremes.h"
#include "exact/near.h"
#include "exact/tritri_batch.h"
#include "narrow/along.h"
#include "narrow/gap.h"

enum { WAITING = 16, SIEVE_FIRST = 256, BEAM = 16 };

/* ---- what is known ---- */

double gz_near_least_wanted(const gap_search *g, double most) {
  return larger((most - g->error) * (1 - g->share), 0);
}

/* The bounds of boxes are in floats, with an error of their own that boxes_kernels.c allows for: 2^-12 is for the
 * rounding of this, and the least float for what is below. */
void gz_near_set_most(worker *w, double most) {
  double own = (w->gap.relaxed ? gz_near_least_wanted(&w->gap, most) : most) / w->map.growth;
  w->gap.most = most;
  w->gap.most2 = (float)fmin(own * own * (1 + 0x1p-12) + 1e-37, 1e38);
  if (own > 1e18) w->gap.most2 = (float)INFINITY;
}

void gz_near_start_search(worker *w, const job *j) {
  gap_search *g = &w->gap;
  g->relaxed = false;
  if (!j->near) return;
  const double *slack = w->sink.slack;
  g->slack = 1.8 * fmax(fmax(slack[0], slack[1]), slack[2]);
  g->meet = g->directed = g->flush.known = false;
  g->lowest = j->find == GRAZE_FIND_ANY && !w->sink.real && !(j->error > 0) && !(j->share > 0);
  g->node_count = g->open_count = 0;
  g->sieve_at = SIEVE_FIRST;
  g->error = j->error;
  g->share = j->share;
  g->far2 = g->passed2 = (float)INFINITY;
  gz_near_set_most(w, j->limit);
}

void gz_near_release(worker *w) {
  gz_buffer_release(w->context, &w->gap.nodes);
  gz_buffer_release(w->context, &w->gap.open);
}

static void give_up(worker *w) {
  w->sink.failed = w->sink.stop = true;
}

/* ---- triangles ---- */

void gz_near_start_pair(const worker *w, const open_pair *o, double corners[18], near_pair *pair) {
  const side *a = w->sink.a, *b = w->sink.b;
  if (!w->sink.real) {
    gz_side_corners(a, o->first, corners);
    gz_side_corners(b, o->second, corners + 9);
    gz_near_start_known(pair, corners, NULL, corners + 9, NULL, o->lower, o->upper);
    pair->place = (int)o->place;
    return;
  }
  mesh_corners(a->mesh, o->first, corners);
  mesh_corners(b->mesh, o->second, corners + 9);
  gz_near_start_known(pair, corners, &a->pose, corners + 9, &b->pose, o->lower, o->upper);
}

bool gz_near_is_nearer(worker *w, const open_pair *o, double limit) {
  double corners[18];
  near_pair pair;
  w->sink.work.exact_tests++;
  gz_near_start_pair(w, o, corners, &pair);
  return gz_near_below(&pair, limit);
}

static bool do_meet(const worker *w, const open_pair *o) {
  double corners[18];
  near_pair pair;
  gz_near_start_pair(w, o, corners, &pair);
  return gz_near_meet(&pair);
}

/* Leaves out what is farther than the least upper bound. */
void gz_near_sieve(gap_search *g) {
  open_pair *open = g->open.data;
  size_t kept = 0;
  for (size_t i = 0; i < g->open_count; i++) {
    if (open[i].lower <= g->most) open[kept++] = open[i];
  }
  g->open_count = kept;
  g->sieve_at = 2 * kept + SIEVE_FIRST;
}

void gz_near_keep(worker *w, const open_pair *o) {
  gap_search *g = &w->gap;
  if (g->open_count >= g->sieve_at) gz_near_sieve(g);
  size_t bytes = (g->open_count + 1) * sizeof *o;
  if (bytes > g->open.bytes && !gz_buffer_reserve(w->context, &g->open, bytes + 4096, g->open_count * sizeof *o)) {
    give_up(w);
    return;
  }
  ((open_pair *)g->open.data)[g->open_count++] = *o;
}

/* Whether a pair of the block that bounds do not separate meets. Those that do not get the least lower bound there is:
 * their distance is above 0. */
static bool find_meeting(worker *w, double *lower) {
  exact_sink *s = &w->sink;
  uint8_t codes[TRITRI_BLOCK];
  bool asked = false;
  for (unsigned i = 0; i < s->count; i++) asked = asked || lower[i] == 0;
  if (!asked) return false;
  if (!s->real) s->decide(&s->block, s->count, true, codes);
  for (unsigned i = 0; i < s->count; i++) {
    if (lower[i] > 0) continue;
    const open_pair o = {0, (double)INFINITY, s->first[i], s->second[i], NEAR_NOWHERE, {.rounded = 0}};
    if (s->real ? do_meet(w, &o) : codes[i] != 0) return true;
    lower[i] = 0x1p-1074;
  }
  return false;
}

/* The triangles of pair i of the block are the nearest so far, and near it the direction between two triangles is much
 * the same. */
static void take_direction(worker *w, unsigned i, int place) {
  const tritri_block *block = &w->sink.block;
  double corners[6][3], length2 = 0, g[3];
  for (int k = 0; k < 9; k++) {
    corners[k / 3][k % 3] = block->a[k][i];
    corners[3 + k / 3][k % 3] = block->b[k][i];
  }
  w->gap.directed = gz_near_direction(corners, place, g);
  if (!w->gap.directed) return;
  for (int k = 0; k < 3; k++) length2 += g[k] * g[k];
  for (int k = 0; k < 3; k++) w->gap.direction[k] = g[k] / sqrt(length2) * (1 - 0x1p-50);
}

/* Pair i of the block may be the nearest: it is kept, unless it is one of many that are equally near. */
static void take_open(worker *w, unsigned i, open_pair o) {
  const tritri_block *block = &w->sink.block;
  gap_search *g = &w->gap;
  if (!w->sink.real) {
    double a[9], b[9];
    for (int k = 0; k < 9; k++) {
      a[k] = block->a[k][i];
      b[k] = block->b[k][i];
    }
    o.gap = gz_near_boxes_gap(a, b);
    if (gz_near_is_behind_flush(g, &o)) return;
    if (g->lowest) gz_near_try_flush(g, &o, a, b);
  }
  gz_near_keep(w, &o);
}

static void take_distances(worker *w, double *lower, const double *upper, const double *place) {
  exact_sink *s = &w->sink;
  gap_search *g = &w->gap;
  double least = g->most;
  unsigned nearest = 0;
  if (find_meeting(w, lower)) {
    g->meet = s->stop = true;
    return;
  }
  for (unsigned i = 0; i < s->count; i++) {
    if (!(upper[i] < least)) continue;
    least = upper[i];
    nearest = i;
  }
  if (least < g->most) {
    take_direction(w, nearest, (int)place[nearest]);
    g->relaxed = g->error > 0 || g->share > 0;
    gz_near_set_most(w, least);
  }
  for (unsigned i = 0; i < s->count && !s->stop; i++) {
    if (lower[i] > g->most) continue;
    take_open(w, i, (open_pair){lower[i], upper[i], s->first[i], s->second[i], place[i], {.rounded = 0}});
  }
}

static void take_near(worker *w, const double *lower, const double *upper) {
  exact_sink *s = &w->sink;
  for (unsigned i = 0; i < s->count && !s->stop; i++) {
    const open_pair o = {lower[i], upper[i], s->first[i], s->second[i], NEAR_NOWHERE, {.rounded = 0}};
    if (lower[i] >= w->gap.most) continue;
    if (!(upper[i] < w->gap.most) && !gz_near_is_nearer(w, &o, w->gap.most)) continue;
    s->counts.triangle_pairs++;
    gz_sink_hit(s, s->first[i], s->second[i]);
  }
}

void gz_near_flush(worker *w) {
  exact_sink *s = &w->sink;
  double lower[TRITRI_BLOCK], upper[TRITRI_BLOCK], place[TRITRI_BLOCK];
  if (s->count > 0 && !s->stop) {
    s->work.triangle_tests += s->count;
    gz_sink_fill(s);
    const double margin = s->real ? 2 * w->gap.slack : 0; /* by which rough bounds may say less than they seem to */
    if (s->find == GRAZE_FIND_ANY)
      gz_near_block_best()(&s->block, s->count, lower, upper, place);
    else
      gz_near_block_outside(&s->block, s->count, w->gap.most - margin, w->gap.most + margin, lower, upper);
    for (unsigned i = 0; i < s->count && s->real; i++) {
      lower[i] = larger(lower[i] * (1 - 0x1p-52) - w->gap.slack, 0);
      upper[i] = (upper[i] + w->gap.slack) * (1 + 0x1p-51);
    }
    if (s->find == GRAZE_FIND_ANY)
      take_distances(w, lower, upper, place);
    else
      take_near(w, lower, upper);
  }
  s->count = 0;
}

/* ---- nodes ---- */

/* Of the pairs of triangles of two bottom nodes, those that may be as near as what is known. */
static uint64_t drop_far(worker *w, uint32_t a, uint32_t b, uint64_t mask) {
  exact_sink *s = &w->sink;
  const double most = w->gap.most + w->gap.slack;
  const bool many = __builtin_popcountll(mask) >= NORMALS_LEAST;
  if (mask == 0 || isinf(most) || !(many || w->gap.directed)) return mask;
  const posed_node *posed_a = gz_sink_pose_node(s->a, a, &s->cache_a);
  const posed_node *posed_b = gz_sink_pose_node(s->b, b, &s->cache_b);
  if (w->gap.directed) mask = CPU_KERNEL(gz_along)(posed_a, posed_b, w->gap.direction, most, mask);
  if (__builtin_popcountll(mask) < NORMALS_LEAST) return mask;
  return CPU_KERNEL(gz_along_normals)(posed_a, posed_b, most, mask);
}

static void add_triangles(worker *w, uint32_t a, uint32_t b, uint64_t mask) {
  mask = drop_far(w, a, b, mask);
  while (mask != 0 && !w->sink.stop) {
    mask = gz_sink_put_mask(&w->sink, a, b, mask);
    if (mask != 0 || w->sink.count >= WAITING) gz_near_flush(w);
  }
}

/* Leaves out pairs of boxes that are far enough from each other. */
static uint64_t pass_far(gap_search *g, uint64_t mask, const float least2[64]) {
  for (uint64_t rest = g->far2 < (float)INFINITY ? mask : 0; rest != 0; rest &= rest - 1) {
    int bit = __builtin_ctzll(rest);
    if (!(least2[bit] >= g->far2)) continue;
    if (least2[bit] < g->passed2) g->passed2 = least2[bit];
    mask &= ~((uint64_t)1 << bit);
  }
  return mask;
}

/* The pairs of children of two nodes that may matter, each with the square of the least distance of its boxes. */
static uint64_t near_pairs(worker *w, const bvh_node *a, const bvh_node *b, float least2[64]) {
  w->sink.work.node_pairs++;
  return pass_far(&w->gap, gz_box_gaps_best()(a, b, &w->map, w->gap.most2, least2), least2);
}

/* Of flush parts most pairs of bottom nodes are of no use. */
static void open_bottom(worker *w, uint32_t a, uint32_t b) {
  float least2[64];
  const uint64_t in = gz_near_open_to_flush(w, a, b);
  if (in == 0) return;
  add_triangles(w, a, b, in & near_pairs(w, &w->sink.a->mesh->nodes[a], &w->sink.b->mesh->nodes[b], least2));
}

/* The pairs of nodes to go on with below this one, each with the least of what its boxes come to; how many. Where both
 * are bottom nodes there are none: their triangles wait to be decided. */
static int near_children(worker *w, uint32_t in_a, uint32_t in_b, near_nodes next[64]) {
  const bvh_node *a = &w->sink.a->mesh->nodes[in_a], *b = &w->sink.b->mesh->nodes[in_b];
  float least2[64];
  int8_t at[64];
  int count = 0;
  if (a->bottom && b->bottom) {
    open_bottom(w, in_a, in_b);
    return 0;
  }
  uint64_t mask = near_pairs(w, a, b, least2);
  bool enter_a = enters_first(a, b, 1, w->size_b), enter_b = enters_first(b, a, w->size_b, 1);
  memset(at, -1, sizeof at);
  for (; mask != 0; mask &= mask - 1) {
    int bit = __builtin_ctzll(mask), i = bit & 7, j = bit >> 3, place = (enter_a ? i : 0) + (enter_b ? 8 * j : 0);
    if (at[place] < 0) {
      const uint32_t below_a = enter_a ? a->child[i] : in_a, below_b = enter_b ? b->child[j] : in_b;
      if (w->gap.flush.known && gz_near_is_past_flush(w, below_a, below_b)) continue;
      at[place] = (int8_t)count;
      next[count++] = (near_nodes){below_a, below_b, least2[bit]};
    }
    near_nodes *n = &next[at[place]];
    n->least2 = least2[bit] < n->least2 ? least2[bit] : n->least2;
  }
  return count;
}

void gz_near_open(worker *w, node_pair pair) {
  near_nodes next[64];
  int count = near_children(w, pair.a, pair.b, next);
  for (int i = 0; i < count; i++) {
    if (!gz_worker_push(w, next[i].a, next[i].b)) return;
  }
}

near_nodes *gz_near_room(worker *w, int count) {
  gap_search *g = &w->gap;
  const size_t used = g->node_count * sizeof(near_nodes), bytes = used + (size_t)count * sizeof(near_nodes);
  if (bytes > g->nodes.bytes && !gz_buffer_reserve(w->context, &g->nodes, bytes + 4096, used)) {
    give_up(w);
    return NULL;
  }
  near_nodes *room = (near_nodes *)g->nodes.data + g->node_count;
  g->node_count += (size_t)count;
  return room;
}

static void push_unsorted(worker *w, const near_nodes *next, int count) {
  near_nodes *to = count > 0 ? gz_near_room(w, count) : NULL;
  if (to != NULL) memcpy(to, next, (size_t)count * sizeof *next);
}

void gz_near_push(worker *w, const near_nodes *next, int count) {
  near_nodes *to = count > 0 ? gz_near_room(w, count) : NULL;
  for (int i = 0; i < count && to != NULL; i++) {
    int k = i;
    for (; k > 0 && to[k - 1].least2 < next[i].least2; k--) to[k] = to[k - 1];
    to[k] = next[i];
  }
}

/* ---- the first bound ---- */

/* Pairs of nodes of one level, the nearest first. */
typedef struct beam {
  near_nodes nodes[BEAM];
  int count;
} beam;

/* Takes the pair into the beam if it is among the nearest. True: *pair is one that has no room in it. */
static bool displaces(beam *near, near_nodes *pair) {
  const bool full = near->count == BEAM;
  const near_nodes last = near->nodes[BEAM - 1];
  if (full && pair->least2 >= last.least2) return true;
  int k = full ? BEAM - 1 : near->count++;
  for (; k > 0 && near->nodes[k - 1].least2 > pair->least2; k--) near->nodes[k] = near->nodes[k - 1];
  near->nodes[k] = *pair;
  if (full) *pair = last;
  return full;
}

/* The pair of triangles with the nearest boxes waits to be decided, for a bound; the nodes stay to be opened. */
static void try_bottom(worker *w, const near_nodes *pair) {
  float least2[64];
  uint64_t mask = near_pairs(w, &w->sink.a->mesh->nodes[pair->a], &w->sink.b->mesh->nodes[pair->b], least2);
  if (mask == 0) return;
  int nearest = __builtin_ctzll(mask);
  for (; mask != 0; mask &= mask - 1) {
    int bit = __builtin_ctzll(mask);
    if (least2[bit] < least2[nearest]) nearest = bit;
  }
  add_triangles(w, pair->a, pair->b, (uint64_t)1 << nearest);
  push_unsorted(w, pair, 1);
}

/* From both roots to bottom nodes. What is not opened on the way is left on the stack. */
static void go_down(worker *w) {
  beam now = {.nodes = {{0, 0, 0}}, .count = 1};
  while (now.count > 0 && !w->sink.stop) {
    beam below = {.count = 0};
    for (int i = 0; i < now.count; i++) {
      const near_nodes *pair = &now.nodes[i];
      near_nodes next[64];
      int left = 0;
      if (w->sink.a->mesh->nodes[pair->a].bottom && w->sink.b->mesh->nodes[pair->b].bottom) {
        try_bottom(w, pair);
        continue;
      }
      const int count = near_children(w, pair->a, pair->b, next);
      for (int k = 0; k < count; k++) {
        if (displaces(&below, &next[k])) next[left++] = next[k];
      }
      push_unsorted(w, next, left);
    }
    now = below;
  }
  gz_near_flush(w);
}

void gz_near_search(worker *w) {
  gap_search *g = &w->gap;
  go_down(w);
  while (g->node_count > 0 && !w->sink.stop) {
    near_nodes pair = ((near_nodes *)g->nodes.data)[--g->node_count];
    if (pair.least2 > g->most2 || (g->flush.known && gz_near_is_past_flush(w, pair.a, pair.b))) continue;
    near_nodes next[64];
    gz_near_push(w, next, near_children(w, pair.a, pair.b, next));
  }
  gz_near_flush(w);
}

/* ---- without hierarchies: every pair, unless its boxes are too far from each other ---- */

void gz_near_all(worker *w) {
  exact_sink *s = &w->sink;
  double a[9], b[9];
  for (uint32_t i = 0; i < s->a->mesh->triangle_count; i++) {
    gz_side_corners(s->a, i, a);
    for (uint32_t k = 0; k < s->b->mesh->triangle_count && !s->stop; k++) {
      gz_side_corners(s->b, k, b);
      if (!s->real && gz_near_boxes_gap(a, b).rounded * (1 - 0x1p-50) > w->gap.most) continue;
      gz_sink_put(s, i, k, a, b);
      if (s->count == TRITRI_BLOCK) gz_near_flush(w);
    }
  }
  gz_near_flush(w);
}
