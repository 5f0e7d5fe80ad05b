/* A mesh against itself: the hierarchy traversed against itself, and pairs told apart by the corners they share.
 *
 * Positions are compared by coordinates, so that a soup and an indexed mesh give the same answer. Neighbours, which are
 * nearly all of the candidates on a clean mesh, are settled by fans.h without a look at them where a vertex is proved,
 * else by adjacent.h without an exact test.
 */
#include "narrow/query.h"

/* Bits of places i < j of one node with itself. */
static const uint64_t UPPER = 0x7f3f1f0f07030100u;

static unsigned degenerate_places(const graze_mesh *mesh, const bvh_node *node) {
  unsigned bits = 0;
  for (unsigned i = 0; i < node->count; i++) bits |= (unsigned)mesh_degenerate(mesh, node->child[i]) << i;
  return bits;
}

/* Two bottom nodes of the mesh, or twice the same. */
typedef struct bottoms {
  const bvh_node *a, *b;
  const posed_node *posed_a, *posed_b;
} bottoms;

static bottoms open_bottoms(exact_sink *s, node_pair pair) {
  const bvh_node *nodes = s->a->mesh->nodes;
  const posed_node *a = gz_sink_pose_node(s->a, pair.a, &s->cache_a);
  const posed_node *b = pair.a == pair.b ? a : gz_sink_pose_node(s->a, pair.b, &s->cache_b);
  return (bottoms){&nodes[pair.a], &nodes[pair.b], a, b};
}

static void corners_at(const double (*from)[ADJACENT_ROOM], unsigned at, double corners[9]) {
  for (int k = 0; k < 9; k++) corners[k] = from[k][at];
}

void gz_adjacent_settle(adjacent_pairs *p, adjacent_judge_function *judge, exact_sink *s) {
  static const shared_corners shares[] = {
      [ADJACENT_NONE] = SHARES_NONE, [ADJACENT_CORNER] = SHARES_CORNER, [ADJACENT_EDGE] = SHARES_EDGE};
  uint8_t codes[ADJACENT_ROOM];
  judge(p, codes);
  for (unsigned i = 0; i < p->count && !s->stop; i++) {
    uint32_t x = p->first[i], y = p->second[i];
    if (codes[i] == ADJACENT_SETTLED) continue;
    if (codes[i] == ADJACENT_DUPLICATE) {
      s->duplicates++;
      gz_sink_hit(s, x < y ? x : y, x < y ? y : x);
      continue;
    }
    double a[9], b[9];
    corners_at((const double(*)[ADJACENT_ROOM])p->a, i, a);
    corners_at((const double(*)[ADJACENT_ROOM])p->b, i, b);
    gz_sink_add(s, x, y, a, b, shares[codes[i]]);
  }
  p->count = 0;
}

void gz_adjacent_add(adjacent_pairs *p, adjacent_judge_function *judge, exact_sink *s, uint32_t x, uint32_t y,
                     const double a[9], const double b[9]) {
  for (int k = 0; k < 9; k++) {
    p->a[k][p->count] = a[k];
    p->b[k][p->count] = b[k];
  }
  p->first[p->count] = x;
  p->second[p->count++] = y;
  if (p->count >= ADJACENT_PAIRS) gz_adjacent_settle(p, judge, s);
}

/* ---- unsettled: pairs that fans leave open, few a node, so that their triangles are fetched one by one ---- */

__attribute__((always_inline)) static inline void prefetch_vertices(const graze_mesh *mesh, uint32_t triangle) {
  const uint32_t *v = mesh->triangles + 3 * (size_t)triangle;
  for (int c = 0; c < 3; c++) {
    size_t at = 3 * (size_t)v[c];
    __builtin_prefetch(mesh->is_double ? (const void *)(mesh->vertices_double + at) : mesh->vertices_float + at);
  }
}

static void append_unsettled(worker *w, uint32_t x, uint32_t y) {
  const graze_mesh *mesh = w->sink.a->mesh;
  double a[9], b[9];
  mesh_corners(mesh, x, a);
  mesh_corners(mesh, y, b);
  if (mesh->header->degenerate_count != 0 && (mesh_degenerate(mesh, x) || mesh_degenerate(mesh, y))) {
    gz_sink_add(&w->sink, x, y, a, b, SHARES_NONE);
    return;
  }
  gz_adjacent_add(&w->adjacent, w->judge, &w->sink, x, y, a, b);
}

static void fetch_unsettled(worker *w) {
  const graze_mesh *mesh = w->sink.a->mesh;
  const unsettled_pairs *s = &w->unsettled;
  for (unsigned i = 0; i < s->count; i++) {
    prefetch_vertices(mesh, s->first[i]);
    prefetch_vertices(mesh, s->second[i]);
  }
  for (unsigned i = 0; i < s->count && !w->sink.stop; i++) append_unsettled(w, s->first[i], s->second[i]);
  w->unsettled.count = 0;
}

static void queue_unsettled(worker *w, node_pair pair, uint64_t mask) {
  const graze_mesh *mesh = w->sink.a->mesh;
  const bvh_node *a = &mesh->nodes[pair.a], *b = &mesh->nodes[pair.b];
  unsettled_pairs *s = &w->unsettled;
  for (; mask != 0; mask &= mask - 1) {
    int bit = __builtin_ctzll(mask);
    uint32_t x = a->child[bit & 7], y = b->child[bit >> 3];
    __builtin_prefetch(mesh->triangles + 3 * (size_t)x);
    __builtin_prefetch(mesh->triangles + 3 * (size_t)y);
    s->first[s->count] = x;
    s->second[s->count++] = y;
    if (s->count == UNSETTLED) fetch_unsettled(w);
  }
}

void gz_self_flush(worker *w) {
  fetch_unsettled(w);
  gz_adjacent_settle(&w->adjacent, w->judge, &w->sink);
}

/* ---- bottom nodes ---- */

/* Pairs of the set places of a with place j of b, none of them degenerate. */
static void append_places(worker *w, const bottoms *t, int j, unsigned places) {
  adjacent_pairs *p = &w->adjacent;
  w->append(p, t->posed_a, t->posed_b, j, places);
  for (; places != 0; places &= places - 1) {
    p->first[p->count] = t->a->child[__builtin_ctz(places)];
    p->second[p->count++] = t->b->child[j];
  }
  if (p->count >= ADJACENT_PAIRS) gz_adjacent_settle(p, w->judge, &w->sink);
}

/* Pairs with a degenerate triangle: what they share does not matter. */
static void add_thin(exact_sink *s, const bottoms *t, int j, unsigned places) {
  for (; places != 0; places &= places - 1) {
    int i = __builtin_ctz(places);
    double a[9], b[9];
    for (int k = 0; k < 9; k++) {
      a[k] = t->posed_a->corner[k][i];
      b[k] = t->posed_b->corner[k][j];
    }
    gz_sink_add(s, t->a->child[i], t->b->child[j], a, b, SHARES_NONE);
  }
}

/* Triangles of two bottom nodes, or of one (pair.a == pair.b), whose boxes meet. */
static void bottom_pair(worker *w, node_pair pair, uint64_t mask) {
  if (w->names != NULL) mask &= ~w->share(&w->names[pair.a], &w->names[pair.b], mask);
  if (mask == 0) return; /* as for most nodes of a clean mesh: every pair shares a corner */
  bool many = __builtin_popcountll(mask) >= APART_LEAST;
  if (w->names != NULL && !many) {
    queue_unsettled(w, pair, mask);
    return;
  }
  exact_sink *s = &w->sink;
  const graze_mesh *mesh = s->a->mesh;
  bottoms t = open_bottoms(s, pair);
  if (many) mask = worker_drop_apart(w, t.posed_a, t.posed_b, mask);
  bool any_thin = mesh->header->degenerate_count != 0;
  unsigned thin_a = any_thin ? degenerate_places(mesh, t.a) : 0, thin_b = any_thin ? degenerate_places(mesh, t.b) : 0;
  for (int j = 0; j < t.b->count; j++) {
    unsigned places = (mask >> (8 * j)) & 0xff;
    if (places == 0 || s->stop) continue;
    unsigned thin = (thin_b >> j) & 1 ? places : places & thin_a;
    add_thin(s, &t, j, thin);
    append_places(w, &t, j, places & ~thin);
  }
  if (s->find == GRAZE_FIND_ANY) {
    gz_self_flush(w);
    gz_sink_flush(s);
  }
}

/* Pushes what a pair of inner nodes leaves open; shared by the two kinds of search. */
static void descend(worker *w, node_pair pair, uint64_t mask) {
  const bvh_node *nodes = w->sink.a->mesh->nodes, *a = &nodes[pair.a], *b = &nodes[pair.b];
  bool enter_a = !a->bottom && (b->bottom || a->size >= 0.4f * b->size);
  bool enter_b = !b->bottom && (a->bottom || b->size >= 0.4f * a->size);
  for (int j = 0; j < b->count; j++) {
    unsigned row = (mask >> (8 * j)) & 0xff;
    if (row == 0) continue;
    if (enter_b) prefetch_node(&nodes[b->child[j]]);
    if (!enter_a) {
      if (!gz_worker_push(w, pair.a, b->child[j])) return;
    } else if (enter_b) {
      for (; row != 0; row &= row - 1) {
        if (!gz_worker_push(w, a->child[__builtin_ctz(row)], b->child[j])) return;
      }
    }
  }
  if (enter_a && !enter_b) {
    mask |= mask >> 32;
    mask |= mask >> 16;
    mask |= mask >> 8;
    for (unsigned row = mask & 0xff; row != 0; row &= row - 1) {
      if (!gz_worker_push(w, a->child[__builtin_ctz(row)], pair.b)) return;
    }
  }
}

/* The box test of a pair, for bottom nodes only if asked; for one node with itself only places i < j. Inner nodes are
 * entered. */
static uint64_t open_boxes(worker *w, node_pair pair, bool test_bottoms) {
  const bvh_node *nodes = w->sink.a->mesh->nodes, *a = &nodes[pair.a], *b = &nodes[pair.b];
  bool bottoms_both = a->bottom && b->bottom;
  w->sink.work.node_pairs++;
  uint64_t mask = bottoms_both && !test_bottoms ? boxes_in_use(a, b) : w->boxes(a, b, &w->map);
  if (pair.a == pair.b) mask &= UPPER;
  if (bottoms_both) return mask;
  descend(w, pair, mask);
  for (int c = 0; pair.a == pair.b && c < a->count; c++) gz_worker_push(w, a->child[c], a->child[c]);
  return 0;
}

void gz_self_open(worker *w, node_pair pair) {
  uint64_t mask = open_boxes(w, pair, true);
  if (mask != 0) bottom_pair(w, pair, mask);
}

/* ---- candidate boxes only ---- */

void gz_self_box_open(worker *w, node_pair pair) {
  exact_sink *s = &w->sink;
  uint64_t mask = open_boxes(w, pair, false); /* the exact test is as cheap */
  if (mask == 0) return;
  bottoms t = open_bottoms(s, pair);
  for (mask = gz_box_pairs_best()(t.posed_a, t.posed_b, mask); mask != 0 && !s->stop; mask &= mask - 1) {
    int bit = __builtin_ctzll(mask);
    uint32_t x = t.a->child[bit & 7], y = t.b->child[bit >> 3];
    s->counts.triangle_pairs++;
    gz_sink_hit(s, x < y ? x : y, x < y ? y : x);
  }
}
