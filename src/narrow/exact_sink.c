/* Candidates to decisions. Corners are posed once per bottom node and copied into blocks, lane by lane.
 *
 * In tier T2 what the filter leaves open is mostly flush. Where a pose only moves, or turns by right angles, what it
 * does to the corners of such triangles mostly rounds nothing: then they are decided as in T1, and so are the corners
 * as given where both meshes have the same pose. Only the rest goes to the signs of real images, one pair at a time.
 */
#include "narrow/exact_sink.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "exact/real_points.h"
#include "exact/tritri.h"

/* How far posing may move a coordinate on one axis: four roundings of what goes into it (exact/real_points.c). */
static double posing_error(const side *s, int axis) {
  const double *row = s->pose.m + 4 * axis;
  double size = (fabs(row[0]) + fabs(row[1]) + fabs(row[2])) * s->mesh->header->magnitude + fabs(row[3]);
  return 0x1.04p-51 * size + 0x1p-1060;
}

static bool only_moves(const side *s) {
  const double *m = s->pose.m;
  return row_only_moves(m) && row_only_moves(m + 4) && row_only_moves(m + 8);
}

static void start_real(exact_sink *sink) {
  const side *a = sink->a, *b = sink->b;
  for (int k = 0; k < 3; k++) {
    const double error = fmax(posing_error(a, k), posing_error(b, k));
    sink->slack[k] = 2 * error * 1.001;
    sink->reach[k] = error * 0x1p51;
  }
  sink->one_pose = gz_real_same_pose(&a->pose, &b->pose) && gz_real_orientation(&a->pose) != 0;
  sink->cache_a.looks = only_moves(a);
  sink->cache_b.looks = only_moves(b);
}

void gz_sink_start(exact_sink *sink, const graze_context *context, const side *a, const side *b, graze_find find,
                   bool real, bool self) {
  buffer keys = sink->keys;
  memset(sink, 0, offsetof(exact_sink, block));
  sink->keys = keys;
  sink->context = context;
  sink->a = a;
  sink->b = b;
  sink->find = find;
  sink->real = real;
  sink->self = self;
  sink->decide = gz_tritri_block_best();
  memset(sink->cache_a.number, 0xff, sizeof sink->cache_a.number);
  memset(sink->cache_b.number, 0xff, sizeof sink->cache_b.number);
  sink->cache_a.looks = sink->cache_b.looks = false;
  if (real) start_real(sink);
}

void gz_sink_release(exact_sink *sink) {
  gz_buffer_release(sink->context, &sink->keys);
}

void gz_side_corners(const side *s, uint32_t triangle, double corners[9]) {
  mesh_corners(s->mesh, triangle, corners);
  if (s->identity) return;
  for (double *p = corners; p < corners + 9; p += 3) {
    const double x[3] = {p[0], p[1], p[2]};
    for (int k = 0; k < 3; k++) p[k] = pose_row(&s->pose, k, x);
  }
}

static void load_floats(const graze_mesh *mesh, const bvh_node *n, posed_node *out) {
  for (uint32_t i = 0; i < n->count; i++) {
    const uint32_t *v = mesh->triangles + 3 * (size_t)n->child[i];
    for (int c = 0; c < 3; c++) {
      const float *p = mesh->vertices_float + 3 * (size_t)v[c];
      for (int k = 0; k < 3; k++) out->corner[3 * c + k][i] = (double)p[k];
    }
  }
}

static void load_doubles(const graze_mesh *mesh, const bvh_node *n, posed_node *out) {
  for (uint32_t i = 0; i < n->count; i++) {
    const uint32_t *v = mesh->triangles + 3 * (size_t)n->child[i];
    for (int c = 0; c < 3; c++) {
      const double *p = mesh->vertices_double + 3 * (size_t)v[c];
      for (int k = 0; k < 3; k++) out->corner[3 * c + k][i] = p[k];
    }
  }
}

void gz_load_bottom(const graze_mesh *mesh, uint32_t node, posed_node *out) {
  const bvh_node *n = &mesh->nodes[node];
  if (n->count < NODE_WIDTH) memset(out, 0, sizeof *out);
  if (mesh->is_double)
    load_doubles(mesh, n, out);
  else
    load_floats(mesh, n, out);
}

void gz_pose_corners(const graze_pose *pose, posed_node *out) {
  const double *m = pose->m;
  for (int c = 0; c < 9; c += 3) {
    double *x = out->corner[c], *y = out->corner[c + 1], *z = out->corner[c + 2];
    for (int i = 0; i < NODE_WIDTH; i++) {
      double px = ((m[0] * x[i] + m[1] * y[i]) + m[2] * z[i]) + m[3];
      double py = ((m[4] * x[i] + m[5] * y[i]) + m[6] * z[i]) + m[7];
      double pz = ((m[8] * x[i] + m[9] * y[i]) + m[10] * z[i]) + m[11];
      x[i] = px;
      y[i] = py;
      z[i] = pz;
    }
  }
}

/* Of a pose that only moves, before the corners are posed: where adding its last column rounds nothing. */
static unsigned find_exact(const double *m, const posed_node *given) {
  double off[NODE_WIDTH] = {0};
  for (int k = 0; k < 9; k++) {
    const double *row = m + 4 * (k % 3), *x = given->corner[k - k % 3];
    const double move = row[3];
    for (int i = 0; i < NODE_WIDTH; i++) {
      double turned = row[0] * x[i] + row[1] * x[NODE_WIDTH + i] + row[2] * x[2 * NODE_WIDTH + i];
      double sum = turned + move, back = sum - turned;
      off[i] += fabs((turned - (sum - back)) + (move - back));
    }
  }
  unsigned exact = 0;
  for (int i = 0; i < NODE_WIDTH; i++) exact |= (unsigned)(off[i] == 0) << i;
  return exact;
}

const posed_node *gz_sink_pose_node(const side *s, uint32_t node, posed_cache *cache) {
  uint32_t place = node % POSED_NODES;
  posed_node *out = &cache->node[place];
  if (cache->number[place] == node) return out;
  cache->number[place] = node;
  gz_load_bottom(s->mesh, node, out);
  out->exact = s->identity ? ALL_PLACES : cache->looks ? find_exact(s->pose.m, out) : 0;
  if (!s->identity) gz_pose_corners(&s->pose, out);
  return out;
}

static void list_hit(exact_sink *sink, uint64_t key) {
  size_t bytes = (sink->key_count + 1) * sizeof(uint64_t);
  if (!gz_buffer_reserve(sink->context, &sink->keys, bytes, sink->key_count * sizeof(uint64_t))) {
    sink->failed = sink->stop = true;
    return;
  }
  ((uint64_t *)sink->keys.data)[sink->key_count++] = key;
}

static void hit(exact_sink *sink, uint32_t first, uint32_t second, uint64_t key) {
  if (sink->find == GRAZE_FIND_ANY) {
    sink->stop = true;
  } else {
    sink->counts.hash += hash_pair(first, second);
  }
  if (sink->find != GRAZE_FIND_COUNT) list_hit(sink, key);
}

void gz_sink_hit(exact_sink *sink, uint32_t first, uint32_t second) {
  hit(sink, first, second, (uint64_t)first << 32 | second);
}

static void take_pair(exact_sink *sink, unsigned at, graze_tritri r) {
  graze_counts *c = &sink->counts;
  c->triangle_pairs++;
  c->coplanar += r.coplanar;
  if (r.degenerate != 0)
    c->degenerate++;
  else if (r.kind == GRAZE_KIND_POINT)
    c->points++;
  else if (r.kind == GRAZE_KIND_SEGMENT)
    c->segments++;
  else
    c->areas++;
  const uint32_t first = sink->first[at], second = sink->second[at];
  const unsigned code = r.kind | (unsigned)r.coplanar << 2 | (unsigned)r.degenerate << 3;
  hit(sink, first, second, (uint64_t)first << 32 | (sink->coded ? second << CODE_BITS | code : second));
}

/* Two non-degenerate triangles that share a corner meet in more than it exactly when they meet in a segment or an area;
 * two that share an edge overlap exactly when they meet in an area. */
static void take_self_pair(exact_sink *sink, unsigned at, graze_tritri r) {
  if (r.degenerate != 0) {
    sink->degenerate_pairs++;
    return;
  }
  switch (sink->shares[at]) {
    case SHARES_CORNER:
      if (r.kind == GRAZE_KIND_POINT) return;
      sink->vertex_more++;
      break;
    case SHARES_EDGE:
      if (r.kind != GRAZE_KIND_AREA) return;
      sink->edge_overlaps++;
      break;
    default:
      sink->disjoint_hits++;
  }
  bool in_order = sink->first[at] < sink->second[at];
  gz_sink_hit(sink, in_order ? sink->first[at] : sink->second[at], in_order ? sink->second[at] : sink->first[at]);
}

/* Puts the corners of candidate `at` behind the others of a block: as they were posed, or as they were given. */
static void put_again(const exact_sink *sink, unsigned at, bool posed, tritri_block *block, unsigned to) {
  double a[9], b[9];
  if (!posed) {
    mesh_corners(sink->a->mesh, sink->first[at], a);
    mesh_corners(sink->b->mesh, sink->second[at], b);
  }
  for (int k = 0; k < 9; k++) {
    block->a[k][to] = posed ? sink->block.a[k][at] : a[k];
    block->b[k][to] = posed ? sink->block.b[k][at] : b[k];
  }
}

/* Puts the open candidates of the set into a block; returns how many. */
static unsigned put_open(const exact_sink *sink, const uint8_t *codes, uint64_t set, bool posed, tritri_block *block,
                         uint8_t at[TRITRI_BLOCK]) {
  unsigned count = 0;
  for (unsigned i = 0; i < sink->count; i++) {
    if (codes[i] != TRITRI_OPEN || !(set >> i & 1)) continue;
    put_again(sink, i, posed, block, count);
    at[count++] = (uint8_t)i;
  }
  if (count > 0) tritri_block_fill(block, count);
  return count;
}

/* Of the open candidates those that T1 decides as T2 does, and then those in one plane across an axis. */
static void decide_flush(const exact_sink *sink, uint8_t codes[TRITRI_BLOCK]) {
  tritri_block block;
  uint8_t at[TRITRI_BLOCK], got[TRITRI_BLOCK];
  const uint64_t all = ~(uint64_t)0;
  unsigned count = put_open(sink, codes, sink->one_pose ? all : sink->exact, !sink->one_pose, &block, at);
  if (count > 0) sink->decide(&block, count, true, got);
  for (unsigned i = 0; i < count; i++) codes[at[i]] = got[i];
  count = put_open(sink, codes, all, false, &block, at);
  if (count > 0) gz_tritri_images_best()(&block, count, &sink->a->pose, &sink->b->pose, sink->reach, got);
  for (unsigned i = 0; i < count; i++) codes[at[i]] = got[i];
}

static void decide_real(exact_sink *sink) {
  uint8_t codes[TRITRI_BLOCK];
  sink->work.exact_tests += gz_tritri_near_best()(&sink->block, sink->count, sink->slack, codes);
  decide_flush(sink, codes);
  for (unsigned i = 0; i < sink->count && !sink->stop; i++) {
    graze_tritri r = tritri_from_code(codes[i]);
    if (codes[i] == TRITRI_OPEN) {
      double a[9], b[9];
      mesh_corners(sink->a->mesh, sink->first[i], a);
      mesh_corners(sink->b->mesh, sink->second[i], b);
      gz_tritri_real(a, &sink->a->pose, b, &sink->b->pose, &r);
    }
    if (r.kind != GRAZE_KIND_NONE) take_pair(sink, i, r);
  }
}

void gz_sink_fill(exact_sink *sink) {
  tritri_block_fill(&sink->block, sink->count);
}

void gz_sink_flush(exact_sink *sink) {
  if (sink->count == 0 || sink->stop) {
    sink->count = 0;
    return;
  }
  sink->work.triangle_tests += sink->count;
  gz_sink_fill(sink);
  if (sink->real) {
    decide_real(sink);
    sink->count = 0;
    sink->exact = 0;
    return;
  }
  uint8_t codes[TRITRI_BLOCK];
  sink->work.exact_tests += sink->decide(&sink->block, sink->count, true, codes);
  for (unsigned i = 0; i < sink->count && !sink->stop; i++) {
    if (codes[i] == 0) continue;
    if (sink->self)
      take_self_pair(sink, i, tritri_from_code(codes[i]));
    else
      take_pair(sink, i, tritri_from_code(codes[i]));
  }
  sink->count = 0;
}

void gz_sink_put(exact_sink *sink, uint32_t first, uint32_t second, const double a[9], const double b[9]) {
  unsigned n = sink->count++;
  sink->first[n] = first;
  sink->second[n] = second;
  for (int k = 0; k < 9; k++) {
    sink->block.a[k][n] = a[k];
    sink->block.b[k][n] = b[k];
  }
}

void gz_sink_add(exact_sink *sink, uint32_t first, uint32_t second, const double a[9], const double b[9],
                 shared_corners shares) {
  sink->shares[sink->count] = (uint8_t)shares;
  gz_sink_put(sink, first, second, a, b);
  if (sink->count == TRITRI_BLOCK) gz_sink_flush(sink);
}

uint64_t gz_sink_put_mask(exact_sink *sink, uint32_t a, uint32_t b, uint64_t mask) {
  const bvh_node *node_a = &sink->a->mesh->nodes[a], *node_b = &sink->b->mesh->nodes[b];
  const posed_node *posed_a = gz_sink_pose_node(sink->a, a, &sink->cache_a);
  const posed_node *posed_b = gz_sink_pose_node(sink->b, b, &sink->cache_b);
  for (; mask != 0 && sink->count < TRITRI_BLOCK; mask &= mask - 1) {
    int bit = __builtin_ctzll(mask), i = bit & 7, j = bit >> 3;
    unsigned n = sink->count++;
    if (sink->real) sink->exact |= (uint64_t)(posed_a->exact >> i & posed_b->exact >> j & 1) << n;
    sink->first[n] = node_a->child[i];
    sink->second[n] = node_b->child[j];
    for (int k = 0; k < 9; k++) {
      sink->block.a[k][n] = posed_a->corner[k][i];
      sink->block.b[k][n] = posed_b->corner[k][j];
    }
  }
  return mask;
}

void gz_sink_add_mask(exact_sink *sink, uint32_t a, uint32_t b, uint64_t mask) {
  while (mask != 0) {
    mask = gz_sink_put_mask(sink, a, b, mask);
    if (sink->count == TRITRI_BLOCK) gz_sink_flush(sink);
  }
}
