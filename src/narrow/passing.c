/* Two meshes on nearly straight ways, with all of the way in one traversal.
 *
 * Along an axis that stays, the gap between what stands still and what moves straight is a concave function of time: it
 * is least at the start or at the end. So boxes of two nodes that one axis keeps apart at both, by more than any point
 * is off the straight way between these, never meet. Which axis that is each pair of nodes finds for itself, and near a
 * hinge, where whole objects come close, nodes are small and move little.
 */
#include "narrow/passing.h"

#include "base/context.h"
#include "base/extremes.h"
#include "narrow/apart.h"

/* The triangles of a bottom node: as their mesh has them, and, if they were asked for, as they pass the other mesh, in
 * its coordinates. */
typedef struct bottom_node {
  uint32_t number; /* UINT32_MAX: none */
  bool moves;
  posed_node own;
  passing_node moving;
} bottom_node;

/* Bottom nodes of a mesh that were needed lately, by the low bits of their numbers. */
enum { BOTTOMS = 4 };
typedef struct bottom_cache {
  const graze_mesh *mesh;
  const box_bend *bend; /* of its ways past the other */
  graze_pose pose[2];   /* in the coordinates of the other */
  double rounding;      /* of these */
  bottom_node node[BOTTOMS];
} bottom_cache;

typedef struct listing {
  worker *w;
  const graze_mesh *mesh[2];
  const passage *way;
  bottom_cache bottoms[2];
  bool mapped;
  graze_triangle_pair *pairs;
  uint32_t count, most;
} listing;

static graze_pose pose_of(const mesh_map *map) {
  graze_pose pose;
  for (int k = 0; k < 12; k++) pose.m[k] = k % 4 == 3 ? map->shift[k / 4] : map->linear[3 * (k / 4) + k % 4];
  return pose;
}

bool gz_passage_open(passage *way) {
  for (int i = 0; i < 2; i++) {
    job j = {.a = way->ends[i][0], .b = way->ends[i][1]};
    gz_job_map(&j);
    if (!j.tree) return false;
    way->boxes.map[i] = j.map;
  }
  way->boxes.known[0] = true;
  way->boxes.known[1] = way->boxes.map[0].rigid && way->boxes.map[1].rigid;
  return true;
}

static void open_bottoms(listing *l, int i, const mesh_map map[2]) {
  bottom_cache *c = &l->bottoms[i];
  c->mesh = l->mesh[i];
  c->bend = &l->way->boxes.bend[1 - i];
  c->rounding = larger((double)map[0].absolute_margin, (double)map[1].absolute_margin);
  for (int e = 0; e < 2; e++) c->pose[e] = pose_of(&map[e]);
  for (int k = 0; k < BOTTOMS; k++) c->node[k].number = UINT32_MAX;
}

/* The maps the other way round are made when triangles are first asked for. */
static void open_maps(listing *l) {
  mesh_map back[2];
  for (int e = 0; e < 2; e++) {
    job j = {.a = l->way->ends[e][1], .b = l->way->ends[e][0]};
    gz_job_map(&j);
    back[e] = j.map;
  }
  open_bottoms(l, 0, back);
  open_bottoms(l, 1, l->way->boxes.map);
  l->mapped = true;
}

static bottom_node *take_bottom(bottom_cache *c, uint32_t number) {
  bottom_node *n = &c->node[number % BOTTOMS];
  if (n->number == number) return n;
  n->number = number;
  n->moves = false;
  gz_load_bottom(c->mesh, number, &n->own);
  return n;
}

static const passing_node *take_moving(const bottom_cache *c, bottom_node *n) {
  if (n->moves) return &n->moving;
  n->moves = true;
  n->moving.share = (double)c->bend->share;
  n->moving.fixed = (double)c->bend->fixed + 4 * c->rounding;
  for (int e = 0; e < 2; e++) {
    n->moving.at[e] = n->own;
    gz_pose_corners(&c->pose[e], &n->moving.at[e]);
  }
  return &n->moving;
}

/* Rows become columns. */
static uint64_t transpose(uint64_t m) {
  uint64_t t = (m ^ (m >> 7)) & 0x00aa00aa00aa00aau;
  m ^= t ^ (t << 7);
  t = (m ^ (m >> 14)) & 0x0000cccc0000ccccu;
  m ^= t ^ (t << 14);
  t = (m ^ (m >> 28)) & 0x00000000f0f0f0f0u;
  return m ^ t ^ (t << 28);
}

/* The triangles of two bottom nodes that no plane of one of them keeps apart are listed. False: there are too many. */
static bool list_triangles(listing *l, node_pair pair, uint64_t mask) {
  const bvh_node *a = &l->mesh[0]->nodes[pair.a], *b = &l->mesh[1]->nodes[pair.b];
  const bool *known = l->way->boxes.known;
  if (mask == 0) return true;
  if (!l->mapped) open_maps(l);
  bottom_cache *of = l->bottoms;
  bottom_node *in_a = take_bottom(&of[0], pair.a), *in_b = take_bottom(&of[1], pair.b);
  if (known[0]) mask = CPU_KERNEL(gz_passing_apart)(&in_a->own, take_moving(&of[1], in_b), mask);
  if (known[1] && mask != 0)
    mask = transpose(CPU_KERNEL(gz_passing_apart)(&in_b->own, take_moving(&of[0], in_a), transpose(mask)));
  for (; mask != 0; mask &= mask - 1) {
    const int bit = __builtin_ctzll(mask);
    if (l->count == l->most) return false;
    l->pairs[l->count++] = (graze_triangle_pair){a->child[bit & 7], b->child[bit >> 3]};
  }
  return true;
}

static void push_children(listing *l, node_pair pair, uint64_t mask) {
  const bvh_node *a = &l->mesh[0]->nodes[pair.a], *b = &l->mesh[1]->nodes[pair.b];
  const bool enter_a = enters_first(a, b, 1, l->w->size_b), enter_b = enters_first(b, a, l->w->size_b, 1);
  uint64_t pushed = 0;
  for (; mask != 0; mask &= mask - 1) {
    const int bit = __builtin_ctzll(mask), i = enter_a ? bit & 7 : 0, j = enter_b ? bit >> 3 : 0;
    if (pushed >> (8 * j + i) & 1) continue;
    pushed |= (uint64_t)1 << (8 * j + i);
    if (!gz_worker_push(l->w, enter_a ? a->child[i] : pair.a, enter_b ? b->child[j] : pair.b)) return;
  }
}

static bool open_nodes(listing *l, node_pair pair) {
  const bvh_node *a = &l->mesh[0]->nodes[pair.a], *b = &l->mesh[1]->nodes[pair.b];
  const uint64_t mask = CPU_KERNEL(gz_passing_boxes)(a, b, &l->way->boxes);
  if (a->bottom && b->bottom) return list_triangles(l, pair, mask);
  push_children(l, pair, mask);
  return true;
}

graze_status gz_passage_list(graze_query *query, const passage *way, uint32_t budget, uint32_t most,
                             graze_triangle_pair *pairs, uint32_t *count, bool *settled, graze_work *work) {
  worker *w = gz_query_worker(query, 0);
  if (w == NULL) return gz_fail_memory(query->context, sizeof *w);
  listing l; /* not cleared: the nodes of its caches are large */
  l.w = w;
  for (int i = 0; i < 2; i++) l.mesh[i] = way->ends[0][i].mesh;
  l.way = way;
  l.mapped = false;
  l.pairs = pairs;
  l.count = 0;
  l.most = most;
  w->size_b = 1;
  w->depth = 0;
  w->sink.failed = w->sink.stop = false;
  *settled = gz_worker_push(w, 0, 0);
  for (; *settled && w->depth > 0 && !w->sink.failed; budget--, work->node_pairs++)
    *settled = budget > 0 && open_nodes(&l, ((node_pair *)w->stack.data)[--w->depth]);
  *count = l.count;
  return w->sink.failed ? gz_fail(query->context, GRAZE_ERROR_MEMORY, "out of memory: results of a query") : GRAZE_OK;
}
