/* A mesh against itself: the hierarchy traversed against itself, and pairs told apart by the corners they share.
 *
 * Positions are compared by coordinates, so that a soup and an indexed mesh give the same answer. Neighbours, which are
 * nearly all of the candidates on a clean mesh, are settled by adjacent.h without an exact test.
 */
#include "base/context.h"
#include "base/hash.h"
#include "narrow/adjacent.h"
#include "narrow/query.h"

/* Bits of places i < j of one node with itself. */
static const uint64_t UPPER = 0x7f3f1f0f07030100u;

static unsigned degenerate_places(const graze_mesh *mesh, const bvh_node *node) {
  unsigned bits = 0;
  for (unsigned i = 0; i < node->count; i++) bits |= (unsigned)mesh_degenerate(mesh, node->child[i]) << i;
  return bits;
}

static void add_places(exact_sink *s, const bvh_node *a, const bvh_node *b, const posed_node *pb, int j, unsigned places,
                       shared_corners shares) {
  for (; places != 0; places &= places - 1) {
    int i = __builtin_ctz(places);
    unsigned n = s->count++;
    s->first[n] = a->child[i];
    s->second[n] = b->child[j];
    s->shares[n] = (uint8_t)shares;
    for (int k = 0; k < 9; k++) {
      s->block.a[k][n] = s->cache_a.corner[k][i];
      s->block.b[k][n] = pb->corner[k][j];
    }
    if (s->count == TRITRI_BLOCK) sink_flush(s);
  }
}

static void add_duplicates(exact_sink *s, const bvh_node *a, const bvh_node *b, int j, unsigned places) {
  for (; places != 0; places &= places - 1) {
    uint32_t x = a->child[__builtin_ctz(places)], y = b->child[j];
    s->duplicates++;
    sink_hit(s, x < y ? x : y, x < y ? y : x);
  }
}

/* Triangles of two bottom nodes, or of one (pair.a == pair.b), whose boxes meet. */
static void bottom_pair(exact_sink *s, node_pair pair, uint64_t mask) {
  const graze_mesh *mesh = s->a->mesh;
  const bvh_node *a = &mesh->nodes[pair.a], *b = &mesh->nodes[pair.b];
  adjacent_function *adjacent = adjacent_best();
  sink_pose_node(s->a, pair.a, &s->cache_a);
  const posed_node *pb = &s->cache_a;
  if (pair.a != pair.b) {
    sink_pose_node(s->a, pair.b, &s->cache_b);
    pb = &s->cache_b;
  }
  unsigned thin_a = degenerate_places(mesh, a), thin_b = degenerate_places(mesh, b);
  for (int j = 0; j < b->count; j++) {
    unsigned places = (mask >> (8 * j)) & 0xff;
    if (places == 0 || s->stop) continue;
    unsigned thin = (thin_b >> j) & 1 ? places : places & thin_a;
    places &= ~thin;
    add_places(s, a, b, pb, j, thin, SHARES_NONE);
    if (places == 0) continue;
    adjacent_masks m = adjacent(&s->cache_a, pb, j, places);
    add_duplicates(s, a, b, j, m.all);
    add_places(s, a, b, pb, j, places & ~(unsigned)m.shared, SHARES_NONE);
    add_places(s, a, b, pb, j, m.corner, SHARES_CORNER);
    add_places(s, a, b, pb, j, m.edge, SHARES_EDGE);
  }
  if (s->find == GRAZE_FIND_ANY) sink_flush(s);
}

/* Pushes what a pair of inner nodes leaves open; shared by the two kinds of search. */
static void descend(worker *w, node_pair pair, uint64_t mask) {
  const bvh_node *nodes = w->sink.a->mesh->nodes, *a = &nodes[pair.a], *b = &nodes[pair.b];
  bool enter_a = !a->bottom && (b->bottom || a->size >= 0.4f * b->size);
  bool enter_b = !b->bottom && (a->bottom || b->size >= 0.4f * a->size);
  for (int j = 0; j < b->count; j++) {
    unsigned row = (mask >> (8 * j)) & 0xff;
    if (row == 0) continue;
    if (!enter_a) {
      if (!worker_push(w, pair.a, b->child[j])) return;
    } else if (enter_b) {
      for (; row != 0; row &= row - 1) {
        if (!worker_push(w, a->child[__builtin_ctz(row)], b->child[j])) return;
      }
    }
  }
  if (enter_a && !enter_b) {
    mask |= mask >> 32;
    mask |= mask >> 16;
    mask |= mask >> 8;
    for (unsigned row = mask & 0xff; row != 0; row &= row - 1) {
      if (!worker_push(w, a->child[__builtin_ctz(row)], pair.b)) return;
    }
  }
}

/* The box test of a pair; for one node with itself only places i < j. Inner nodes are entered. */
static uint64_t open_boxes(worker *w, node_pair pair) {
  const bvh_node *nodes = w->sink.a->mesh->nodes, *a = &nodes[pair.a], *b = &nodes[pair.b];
  w->sink.work.node_pairs++;
  uint64_t mask = w->boxes(a, b, &w->map);
  if (pair.a == pair.b) mask &= UPPER;
  if (a->bottom && b->bottom) return mask;
  descend(w, pair, mask);
  for (int c = 0; pair.a == pair.b && c < a->count; c++) worker_push(w, a->child[c], a->child[c]);
  return 0;
}

void self_open(worker *w, node_pair pair) {
  uint64_t mask = open_boxes(w, pair);
  if (mask != 0) bottom_pair(&w->sink, pair, mask);
}

/* ---- candidate boxes only ------------------------------------------------------------------------------------------ */

/* Closed boxes of a bottom node's triangles, exact: low and high per axis and place. */
typedef struct triangle_boxes {
  double low[3][NODE_WIDTH], high[3][NODE_WIDTH];
} triangle_boxes;

static void boxes_of(const posed_node *p, triangle_boxes *out) {
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < NODE_WIDTH; i++) {
      double x = p->corner[k][i], y = p->corner[3 + k][i], z = p->corner[6 + k][i];
      double low = x < y ? x : y, high = x < y ? y : x;
      out->low[k][i] = low < z ? low : z;
      out->high[k][i] = high > z ? high : z;
    }
  }
}

static unsigned meeting_places(const triangle_boxes *a, const triangle_boxes *b, int j) {
  unsigned char apart[NODE_WIDTH] = {0};
  for (int k = 0; k < 3; k++) {
    double low = b->low[k][j], high = b->high[k][j];
    for (int i = 0; i < NODE_WIDTH; i++) apart[i] |= (a->low[k][i] > high) | (low > a->high[k][i]);
  }
  unsigned bits = 0;
  for (int i = 0; i < NODE_WIDTH; i++) bits |= (unsigned)(!apart[i]) << i;
  return bits;
}

void self_box_open(worker *w, node_pair pair) {
  exact_sink *s = &w->sink;
  uint64_t mask = open_boxes(w, pair);
  if (mask == 0) return;
  const bvh_node *a = &s->a->mesh->nodes[pair.a], *b = &s->a->mesh->nodes[pair.b];
  triangle_boxes box_a, box_b;
  sink_pose_node(s->a, pair.a, &s->cache_a);
  sink_pose_node(s->a, pair.b, &s->cache_b);
  boxes_of(&s->cache_a, &box_a);
  boxes_of(&s->cache_b, &box_b);
  for (int j = 0; j < b->count; j++) {
    unsigned places = (mask >> (8 * j)) & 0xff;
    if (places == 0) continue;
    for (places &= meeting_places(&box_a, &box_b, j); places != 0; places &= places - 1) {
      uint32_t x = a->child[__builtin_ctz(places)], y = b->child[j];
      s->counts.triangle_pairs++;
      sink_hit(s, x < y ? x : y, x < y ? y : x);
      if (s->stop) return;
    }
  }
}
