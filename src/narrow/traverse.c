/* Simultaneous traversal of two hierarchies.
 *
 * A pair of nodes is opened with one 8 x 8 box test. Of two inner nodes of like size both are entered; otherwise the
 * larger one only, whose children that meet any child of the other go on with it. Near the roots it is done so with
 * nodes of like size too where it saves pairs: surfaces are mostly apart then. Bottom nodes give candidate triangle
 * pairs, which the sink decides exactly in blocks.
 */
#include "narrow/query.h"

bool gz_worker_push(worker *w, uint32_t a, uint32_t b) {
  size_t bytes = (w->depth + 1) * sizeof(node_pair);
  if (bytes > w->stack.bytes && !gz_buffer_reserve(w->context, &w->stack, bytes + 4096, w->depth * sizeof(node_pair))) {
    w->sink.failed = w->sink.stop = true;
    return false;
  }
  ((node_pair *)w->stack.data)[w->depth++] = (node_pair){a, b};
  return true;
}

static void push_both(worker *w, const bvh_node *a, const bvh_node *b, uint64_t mask) {
  const bvh_node *nodes_a = w->sink.a->mesh->nodes, *nodes_b = w->sink.b->mesh->nodes;
  for (; mask != 0; mask &= mask - 1) {
    int bit = __builtin_ctzll(mask);
    prefetch_node(&nodes_a[a->child[bit & 7]]);
    prefetch_node(&nodes_b[b->child[bit >> 3]]);
    if (!gz_worker_push(w, a->child[bit & 7], b->child[bit >> 3])) return;
  }
}

/* Bits of the children of a, and how many of b, that are in a mask of pairs. */
static unsigned children_a(uint64_t mask) {
  mask |= mask >> 32;
  mask |= mask >> 16;
  return (unsigned)(mask | mask >> 8) & 0xff;
}

static int count_b(uint64_t mask) {
  const uint64_t low = 0x7f7f7f7f7f7f7f7fu;
  return __builtin_popcountll((((mask & low) + low) | mask) & ~low);
}

static void push_a(worker *w, const bvh_node *a, uint32_t b, uint64_t mask) {
  for (unsigned m = children_a(mask); m != 0; m &= m - 1) {
    uint32_t child = a->child[__builtin_ctz(m)];
    prefetch_node(&w->sink.a->mesh->nodes[child]);
    if (!gz_worker_push(w, child, b)) return;
  }
}

static void push_b(worker *w, uint32_t a, const bvh_node *b, uint64_t mask) {
  for (int j = 0; j < NODE_WIDTH; j++) {
    if (((mask >> (8 * j)) & 0xff) == 0) continue;
    prefetch_node(&w->sink.b->mesh->nodes[b->child[j]]);
    if (!gz_worker_push(w, a, b->child[j])) return;
  }
}

/* Whether a bottom node's triangles lie in one plane or nearly so. */
static bool is_flat(const bvh_node *node) {
  float least = node->size;
  for (int k = 0; k < 3; k++) {
    float most = 0;
    for (int i = 0; i < node->count; i++) most = node->half[k][i] > most ? node->half[k][i] : most;
    least = most < least ? most : least;
  }
  return least <= 0x1p-9f * node->size;
}

/* Faces that lie on each other have many pairs whose boxes meet, each of which is dear to decide. Elsewhere boxes are
 * as good. */
static uint64_t drop_apart(worker *w, node_pair pair, uint64_t mask) {
  exact_sink *s = &w->sink;
  if (__builtin_popcountll(mask) < APART_LEAST) return mask;
  if (!is_flat(&s->a->mesh->nodes[pair.a]) || !is_flat(&s->b->mesh->nodes[pair.b])) return mask;
  const posed_node *a = gz_sink_pose_node(s->a, pair.a, &s->cache_a);
  const posed_node *b = gz_sink_pose_node(s->b, pair.b, &s->cache_b);
  return worker_drop_apart(w, a, b, mask);
}

/* Of two nodes that could both be entered: only the one with fewer children left, if this saves a third of the pairs.
 * Not where many are left or far below the roots: triangles probably meet there, and deeper pairs lead to them sooner.
 */
static void choose_entered(const worker *w, node_pair pair, uint64_t mask, bool *enter_a, bool *enter_b) {
  enum { FEW = 16, LARGE = 16 };
  const graze_mesh *mesh_a = w->sink.a->mesh, *mesh_b = w->sink.b->mesh;
  if (mesh_a->nodes[pair.a].triangles < mesh_a->triangle_count / LARGE) return;
  if (mesh_b->nodes[pair.b].triangles < mesh_b->triangle_count / LARGE) return;
  const int pairs = __builtin_popcountll(mask), a = __builtin_popcount(children_a(mask)), b = count_b(mask);
  if (pairs > FEW || 2 * pairs <= 3 * (a < b ? a : b)) return;
  *enter_a = a <= b;
  *enter_b = !*enter_a;
}

void gz_traverse_open(worker *w, node_pair pair) {
  const bvh_node *a = &w->sink.a->mesh->nodes[pair.a], *b = &w->sink.b->mesh->nodes[pair.b];
  w->sink.work.node_pairs++;
  uint64_t mask = w->boxes(a, b, &w->map);
  if (mask == 0) return;
  if (a->bottom && b->bottom) {
    gz_sink_add_mask(&w->sink, pair.a, pair.b, drop_apart(w, pair, mask));
    if (w->sink.find == GRAZE_FIND_ANY) gz_sink_flush(&w->sink);
    return;
  }
  bool enter_a = enters_first(a, b, 1, w->size_b), enter_b = enters_first(b, a, w->size_b, 1);
  if (enter_a && enter_b) choose_entered(w, pair, mask, &enter_a, &enter_b);
  if (enter_a && enter_b)
    push_both(w, a, b, mask);
  else if (enter_a)
    push_a(w, a, pair.b, mask);
  else
    push_b(w, pair.a, b, mask);
}
