/* Topology of the hierarchy.
 *
 * 1. Triangles are sorted along a Morton curve by the centre of their box and cut into treelets of at most 512 that lie
 *    together on the curve: a cheap sort does the work of the upper levels of a top-down build.
 * 2. Inside a treelet, ranges are split top-down by the surface area heuristic along the axis on which the centres
 *    spread most: binned for long ranges (I. Wald, "On fast construction of SAH-based bounding volume hierarchies",
 *    2007), by sorting and sweeping groups of eight for short ones. Cutting at multiples of eight fills the bottom
 *    nodes, which are tested eight triangles at a time: the cost of a side is its area times its number of eights.
 * 3. Over the treelets, the same heuristic by full sweep.
 * Every node takes its up to eight parts by splitting its longest part again and again. Treelets are built in parallel;
 * the result does not depend on the number of threads.
 */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/morton.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "mesh/mesh.h"

enum { TREELET_TRIANGLES = 512, BINS = 16, SWEEP_LIMIT = 128, TREELETS_PER_TASK = 16, MORTON_BITS = 10, AHEAD = 16 };

/* A triangle's box; the fourth components hold its number and nothing. */
typedef struct prim {
  v4 low, high;
} prim;

/* In one vector. */
static inline void copy_prim(prim *to, const prim *from) {
  v8 all;
  memcpy(&all, from, sizeof all);
  memcpy(to, &all, sizeof all);
}

typedef struct box4 {
  v4 low, high;
} box4;

static inline box4 box4_empty(void) {
  return (box4){{INFINITY, INFINITY, INFINITY, 0}, {-INFINITY, -INFINITY, -INFINITY, 0}};
}

static inline void box4_add(box4 *b, v4 low, v4 high) {
  b->low = v4_min(b->low, low);
  b->high = v4_max(b->high, high);
}

static inline float box4_area(const box4 *b) {
  v4 e = b->high - b->low;
  return e[0] * e[1] + e[1] * e[2] + e[2] * e[0];
}

static inline void set_number(prim *p, uint32_t number) {
  i4 bits = (i4)p->low;
  bits[3] = (int32_t)number;
  p->low = (v4)bits;
}

static inline uint32_t prim_number(const prim *p) {
  return (uint32_t)((i4)p->low)[3];
}

/* ---- boxes and the Morton curve ---------------------------------------------------------------------------------- */

/* What is read of a mesh, where the compiler can keep it in registers. */
typedef struct corners {
  const float *floats; /* one of the two is set */
  const double *doubles;
  const uint32_t *triangles;
  uint64_t last; /* vertex */
} corners;

static inline corners corners_of(const graze_mesh *mesh) {
  return (corners){mesh->vertices_float, mesh->vertices_double, mesh->triangles, mesh->header->vertex_count - 1};
}

static inline v4 load_vertex(const corners *from, uint32_t v) {
  if (from->floats == NULL) {
    const double *p = from->doubles + 3 * (size_t)v;
    return (v4){(float)p[0], (float)p[1], (float)p[2], 0};
  }
  const float *p = from->floats + 3 * (size_t)v;
  /* One load of four numbers, but for the last vertex, behind which the array may end. */
  return v < from->last ? v4_load(p) : (v4){p[0], p[1], p[2], 0};
}

static inline prim load_prim(const corners *from, uint32_t t) {
  const uint32_t *v = from->triangles + 3 * (size_t)t;
  v4 a = load_vertex(from, v[0]), b = load_vertex(from, v[1]), c = load_vertex(from, v[2]);
  return (prim){v4_min(v4_min(a, b), c), v4_max(v4_max(a, b), c)};
}

typedef struct builder {
  const graze_mesh *mesh;
  uint64_t *keys; /* Morton code << 32 | triangle */
  uint64_t *keys2;
  uint32_t count;
  uint32_t *treelets; /* first prim of each, and the end */
  uint32_t treelet_count;
  v4 low, scale;
  struct piece *pieces; /* one per task */
  _Atomic bool failed;
} builder;

/* Nodes that one task made, and where in them each of its treelets starts. */
typedef struct piece {
  tree_node *nodes;
  uint32_t count, capacity;
  uint32_t root[TREELETS_PER_TASK];
  box4 box[TREELETS_PER_TASK];
} piece;

enum { PRIMS_PER_TASK = 65536 };

static void make_keys(void *argument, uint32_t task) {
  builder *b = argument;
  uint32_t first = task * PRIMS_PER_TASK;
  uint32_t end = b->count - first < PRIMS_PER_TASK ? b->count : first + PRIMS_PER_TASK;
  const corners from = corners_of(b->mesh);
  const v4 low = b->low, scale = b->scale;
  for (uint32_t t = first; t < end; t++) {
    prim p = load_prim(&from, t);
    v4 cell = v4_min(v4_max((p.low + p.high - low) * scale, v4_set(0)), v4_set(1023));
    i4 at = __builtin_convertvector(cell, i4);
    uint32_t code = morton_code((uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2]);
    b->keys[t] = ((uint64_t)code << 32) | t;
  }
}

/* Sorts keys by their upper 30 bits, three digits of ten; stable. */
static void sort_morton(builder *b) {
  static const int shift[3] = {32, 42, 52};
  uint32_t histogram[3][1024];
  memset(histogram, 0, sizeof histogram);
  for (uint32_t i = 0, n = b->count; i < n; i++) {
    uint64_t key = b->keys[i];
    for (int d = 0; d < 3; d++) histogram[d][(key >> shift[d]) & 1023]++;
  }
  for (int d = 0; d < 3; d++) {
    uint32_t *h = histogram[d], offset = 0;
    if (h[(b->keys[0] >> shift[d]) & 1023] == b->count) continue;
    for (int v = 0; v < 1024; v++) {
      uint32_t n = h[v];
      h[v] = offset;
      offset += n;
    }
    const uint64_t *from = b->keys;
    uint64_t *to = b->keys2;
    for (uint32_t i = 0, n = b->count; i < n; i++) {
      uint64_t key = from[i];
      to[h[(key >> shift[d]) & 1023]++] = key;
    }
    b->keys2 = b->keys;
    b->keys = to;
  }
}

/* Cuts [first, end) at the Morton bit until pieces are short enough, then joins short neighbours on the curve. */
static void cut_treelets(builder *b, uint32_t first, uint32_t end, int bit) {
  while (end - first > TREELET_TRIANGLES && bit >= 0) {
    uint64_t mask = (uint64_t)1 << (32 + bit);
    uint32_t low = first, high = end; /* first key with the bit set */
    while (low < high) {
      uint32_t middle = low + (high - low) / 2;
      if (b->keys[middle] & mask)
        high = middle;
      else
        low = middle + 1;
    }
    bit--;
    if (low == first || low == end) continue;
    cut_treelets(b, first, low, bit);
    first = low;
  }
  uint32_t n = b->treelet_count;
  if (n > 0 && end - b->treelets[n - 1] <= TREELET_TRIANGLES) {
    b->treelets[n] = end;
    return;
  }
  b->treelets[n + 1] = end;
  b->treelet_count++;
}

/* ---- splitting a range of prims ---- */

static inline float eights(uint32_t n) {
  return (float)((n + 7) / 8);
}

static int widest_axis(const prim *p, uint32_t n, v4 *low, v4 *high) {
  box4 c = box4_empty(), d = c; /* two, so that they need not wait for each other */
  for (uint32_t i = 0; i + 1 < n; i += 2) {
    v4 centre = p[i].low + p[i].high, other = p[i + 1].low + p[i + 1].high;
    box4_add(&c, centre, centre);
    box4_add(&d, other, other);
  }
  v4 last = p[n - 1].low + p[n - 1].high;
  box4_add(&c, v4_min(last, d.low), v4_max(last, d.high));
  v4 e = c.high - c.low;
  *low = c.low;
  *high = c.high;
  return e[0] >= e[1] && e[0] >= e[2] ? 0 : e[1] >= e[2] ? 1 : 2;
}

/* Sorts up to SWEEP_LIMIT prims, whose centres lie in [low, high] on the axis, by counting, for each, how many go
 * before it: no branches. A key has eight bits of place and seven of the prim's number: no two are equal, and sixteen
 * fit in a vector. */
static void sort_short(prim *p, uint32_t n, int axis, float low, float high) {
  int16_t key[SWEEP_LIMIT], rank[SWEEP_LIMIT];
  prim copy[SWEEP_LIMIT];
  float scale = 255.9f / (high - low);
  if (!(scale < INFINITY)) scale = 0;
  for (uint32_t i = 0; i < n; i++) {
    key[i] = (int16_t)((int)((p[i].low[axis] + p[i].high[axis] - low) * scale) << 7 | (int)i);
    copy_prim(&copy[i], &p[i]);
  }
  uint32_t full = (n + 15) / 16 * 16;
  for (uint32_t i = n; i < full; i++) key[i] = INT16_MAX;
  for (uint32_t i = 0; i < full; i += 32) {
    s16 a, b, before_a = {0}, before_b = {0};
    memcpy(&a, key + i, sizeof a);
    memcpy(&b, key + (i + 16 < full ? i + 16 : i), sizeof b);
#pragma GCC unroll 4
    for (uint32_t j = 0; j < n; j++) {
      s16 other = (s16){0} + key[j];
      before_a -= other < a; /* a true comparison is -1 */
      before_b -= other < b;
    }
    memcpy(rank + i, &before_a, sizeof before_a);
    if (i + 16 < full) memcpy(rank + i + 16, &before_b, sizeof before_b);
  }
  for (uint32_t i = 0; i < n; i++) copy_prim(&p[rank[i]], &copy[i]);
}

/* 9 to 16 prims: the cut that gives two bottom nodes of least area. */
static uint32_t sweep_singles(const prim *p, uint32_t n) {
  float after[17];
  box4 box = box4_empty();
  for (uint32_t i = n; i > 1; i--) {
    box4_add(&box, p[i - 1].low, p[i - 1].high);
    after[i - 1] = box4_area(&box);
  }
  uint32_t best = n - 8;
  float least = INFINITY;
  box = box4_empty();
  for (uint32_t i = 1; i <= 8 && i < n; i++) {
    box4_add(&box, p[i - 1].low, p[i - 1].high);
    float cost = box4_area(&box) + after[i];
    if (i >= n - 8 && cost < least) {
      least = cost;
      best = i;
    }
  }
  return best;
}

/* 17 to SWEEP_LIMIT prims: cuts at multiples of eight. */
static uint32_t sweep_eights(const prim *p, uint32_t n) {
  box4 group[SWEEP_LIMIT / 8];
  float after[SWEEP_LIMIT / 8 + 1];
  uint32_t groups = (n + 7) / 8;
  for (uint32_t g = 0; g < groups; g++) {
    group[g] = box4_empty();
    for (uint32_t i = 8 * g; i < 8 * g + 8 && i < n; i++) box4_add(&group[g], p[i].low, p[i].high);
  }
  box4 box = box4_empty();
  for (uint32_t g = groups; g > 0; g--) {
    box4_add(&box, group[g - 1].low, group[g - 1].high);
    after[g - 1] = box4_area(&box) * (float)(groups - g + 1);
  }
  uint32_t best = groups / 2;
  float least = INFINITY;
  box = box4_empty();
  for (uint32_t g = 1; g < groups; g++) {
    box4_add(&box, group[g - 1].low, group[g - 1].high);
    float cost = box4_area(&box) * (float)g + after[g];
    if (cost < least) {
      least = cost;
      best = g;
    }
  }
  return 8 * best;
}

/* Moves prims whose bin is below `cut` to the front, without branches. */
static uint32_t partition_bins(prim *p, uint32_t n, int axis, float low, float scale, int cut) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < n; i++) {
    bool goes_left = (int)((p[i].low[axis] + p[i].high[axis] - low) * scale) < cut;
    prim here;
    copy_prim(&here, &p[i]);
    copy_prim(&p[i], &p[left]);
    copy_prim(&p[left], &here);
    left += goes_left;
  }
  return left;
}

static uint32_t split_binned(prim *p, uint32_t n, int axis, float low, float high) {
  box4 bin[2 * BINS]; /* neighbours take turns, so that they need not wait for each other */
  uint32_t in_bin[2 * BINS] = {0};
  float scale = (float)BINS * 0.99999f / (high - low);
  if (!(scale < INFINITY) || !(scale > 0)) return 0;
  for (int k = 0; k < 2 * BINS; k++) bin[k] = box4_empty();
  for (uint32_t i = 0; i < n; i++) {
    int k = (int)((p[i].low[axis] + p[i].high[axis] - low) * scale) + BINS * (int)(i & 1);
    in_bin[k]++;
    box4_add(&bin[k], p[i].low, p[i].high);
  }
  for (int k = 0; k < BINS; k++) {
    in_bin[k] += in_bin[k + BINS];
    box4_add(&bin[k], bin[k + BINS].low, bin[k + BINS].high);
  }
  float after[BINS];
  box4 box = box4_empty();
  uint32_t right = 0;
  for (int k = BINS - 1; k > 0; k--) {
    box4_add(&box, bin[k].low, bin[k].high);
    right += in_bin[k];
    after[k] = right == 0 ? 0 : box4_area(&box) * eights(right);
  }
  int best = 0;
  float least = INFINITY;
  uint32_t left = 0;
  box = box4_empty();
  for (int k = 1; k < BINS; k++) {
    box4_add(&box, bin[k - 1].low, bin[k - 1].high);
    left += in_bin[k - 1];
    if (left == 0 || left == n) continue;
    float cost = box4_area(&box) * eights(left) + after[k];
    if (cost < least) {
      least = cost;
      best = k;
    }
  }
  return best == 0 ? 0 : partition_bins(p, n, axis, low, scale, best);
}

/* Reorders n > 8 prims and returns how many go left: at least 1, fewer than n. *sorted is the axis along which they are
 * sorted, or -1, before and after. */
static uint32_t split_prims(prim *p, uint32_t n, int8_t *sorted) {
  v4 low, high;
  int axis = widest_axis(p, n, &low, &high);
  if (n <= SWEEP_LIMIT) {
    if (*sorted != axis) sort_short(p, n, axis, low[axis], high[axis]);
    *sorted = (int8_t)axis;
    return n <= 16 ? sweep_singles(p, n) : sweep_eights(p, n);
  }
  uint32_t left = split_binned(p, n, axis, low[axis], high[axis]);
  /* All centres in one place, or too far apart for float: halves, in eights. */
  return left == 0 ? (n / 2 + 7) / 8 * 8 : left;
}

/* ---- nodes ---- */

static tree_node *add_node(const graze_context *context, piece *out, uint32_t *index) {
  if (out->count == out->capacity) {
    uint32_t capacity = out->capacity * 2;
    tree_node *nodes = gz_memory_alloc(context, capacity * sizeof *nodes);
    if (nodes == NULL) return NULL;
    memcpy(nodes, out->nodes, out->count * sizeof *nodes);
    gz_memory_release(context, out->nodes, out->capacity * sizeof *nodes);
    out->nodes = nodes;
    out->capacity = capacity;
  }
  *index = out->count++;
  tree_node *node = &out->nodes[*index];
  memset(node, 0, sizeof *node);
  memset(node->child, 0xff, sizeof node->child);
  return node;
}

/* Builds the subtree of n >= 1 prims; children numbers are relative to the piece. False: no memory. */
static bool build_range(const graze_context *context, prim *p, uint32_t n, int8_t sorted, piece *out, uint32_t *index) {
  tree_node *node = add_node(context, out, index);
  if (node == NULL) return false;
  node->triangles = n;
  if (n <= NODE_WIDTH) {
    node->bottom = 1;
    node->count = (uint8_t)n;
    for (uint32_t i = 0; i < n; i++) node->child[i] = prim_number(&p[i]);
    return true;
  }
  uint32_t first[NODE_WIDTH + 1] = {0, n}, parts = 1;
  int8_t order[NODE_WIDTH + 1] = {sorted}; /* of the parts */
  while (parts < NODE_WIDTH) {
    uint32_t longest = 0;
    for (uint32_t k = 1; k < parts; k++) {
      if (first[k + 1] - first[k] > first[longest + 1] - first[longest]) longest = k;
    }
    uint32_t length = first[longest + 1] - first[longest];
    if (length <= NODE_WIDTH) break;
    uint32_t cut = first[longest] + split_prims(p + first[longest], length, &order[longest]);
    for (uint32_t k = parts; k > longest; k--) {
      first[k + 1] = first[k];
      order[k] = order[k - 1];
    }
    first[longest + 1] = cut;
    parts++;
  }
  node->count = (uint8_t)parts;
  for (uint32_t k = 0; k < parts; k++) {
    uint32_t child;
    if (!build_range(context, p + first[k], first[k + 1] - first[k], order[k], out, &child)) return false;
    out->nodes[*index].child[k] = child; /* the array may have moved */
  }
  return true;
}

/* The triangles that follow prim i on the curve lie anywhere in memory: first their vertex numbers are asked for, then
 * the vertices. */
__attribute__((always_inline)) static inline void prefetch_prims(const corners *from, const uint64_t *keys) {
  __builtin_prefetch(from->triangles + 3 * (size_t)(uint32_t)keys[2 * AHEAD]);
  const uint32_t *v = from->triangles + 3 * (size_t)(uint32_t)keys[AHEAD];
  for (int c = 0; c < 3; c++) {
    size_t at = 3 * (size_t)v[c];
    __builtin_prefetch(from->floats != NULL ? (const void *)(from->floats + at) : from->doubles + at);
  }
}

/* Loads the prims of a treelet; returns the box around them. */
static box4 load_treelet(const builder *b, uint32_t first, uint32_t end, prim *prims) {
  box4 box = box4_empty();
  const corners from = corners_of(b->mesh);
  for (uint32_t i = first; i < end; i++) {
    uint32_t t = (uint32_t)b->keys[i];
    if (i + 2 * AHEAD < b->count) prefetch_prims(&from, b->keys + i);
    prim p = load_prim(&from, t);
    box4_add(&box, p.low, p.high);
    set_number(&p, t);
    prims[i - first] = p;
  }
  return box;
}

static bool build_treelet(const builder *b, uint32_t treelet, prim *prims, piece *out) {
  uint32_t first = b->treelets[treelet], end = b->treelets[treelet + 1], place = treelet % TREELETS_PER_TASK;
  out->box[place] = load_treelet(b, first, end, prims);
  return build_range(b->mesh->context, prims, end - first, -1, out, &out->root[place]);
}

/* The prims of one treelet at a time stand in memory of the task, which stays in cache. */
static void build_treelets(void *argument, uint32_t task) {
  builder *b = argument;
  const graze_context *context = b->mesh->context;
  piece *out = &b->pieces[task];
  uint32_t first = task * TREELETS_PER_TASK, longest = 0;
  uint32_t end = first + TREELETS_PER_TASK < b->treelet_count ? first + TREELETS_PER_TASK : b->treelet_count;
  for (uint32_t k = first; k < end; k++) {
    uint32_t n = b->treelets[k + 1] - b->treelets[k];
    longest = n > longest ? n : longest;
  }
  size_t bytes = longest * sizeof(prim);
  prim *prims = gz_memory_alloc(context, bytes);
  out->capacity = (b->treelets[end] - b->treelets[first]) / 5 + 16 * TREELETS_PER_TASK;
  out->nodes = gz_memory_alloc(context, out->capacity * sizeof *out->nodes);
  bool done = prims != NULL && out->nodes != NULL;
  for (uint32_t k = first; done && k < end; k++) done = build_treelet(b, k, prims, out);
  gz_memory_release(context, prims, bytes);
  if (!done) b->failed = true;
}

/* ---- over the treelets ---- */

typedef struct top_item {
  box4 box;
  float key, weight, after;
  uint32_t treelet;
} top_item;

static void sort_items(top_item *items, top_item *scratch, uint32_t n) {
  if (n < 2) return;
  uint32_t half = n / 2, i = 0, j = half, k = 0;
  sort_items(items, scratch, half);
  sort_items(items + half, scratch, n - half);
  memcpy(scratch, items, n * sizeof *items);
  while (i < half && j < n) items[k++] = scratch[j].key < scratch[i].key ? scratch[j++] : scratch[i++];
  while (i < half) items[k++] = scratch[i++];
  while (j < n) items[k++] = scratch[j++];
}

static uint32_t split_items(top_item *items, top_item *scratch, uint32_t n) {
  box4 c = box4_empty();
  for (uint32_t i = 0; i < n; i++) {
    v4 centre = items[i].box.low + items[i].box.high;
    box4_add(&c, centre, centre);
  }
  v4 e = c.high - c.low;
  int axis = e[0] >= e[1] && e[0] >= e[2] ? 0 : e[1] >= e[2] ? 1 : 2;
  for (uint32_t i = 0; i < n; i++) items[i].key = items[i].box.low[axis] + items[i].box.high[axis];
  sort_items(items, scratch, n);
  box4 box = box4_empty();
  float weight = 0;
  for (uint32_t i = n; i > 0; i--) {
    box4_add(&box, items[i - 1].box.low, items[i - 1].box.high);
    weight += items[i - 1].weight;
    items[i - 1].after = box4_area(&box) * weight;
  }
  uint32_t best = n / 2;
  float least = INFINITY;
  box = box4_empty();
  weight = 0;
  for (uint32_t i = 1; i < n; i++) {
    box4_add(&box, items[i - 1].box.low, items[i - 1].box.high);
    weight += items[i - 1].weight;
    float cost = box4_area(&box) * weight + items[i].after;
    if (cost < least) {
      least = cost;
      best = i;
    }
  }
  return best;
}

/* Nodes above the treelets. A child that is a treelet is marked TREELET_CHILD | number until the pieces are joined. */
#define TREELET_CHILD 0x80000000u

static float items_weight(const top_item *items, uint32_t n) {
  float sum = 0;
  for (uint32_t i = 0; i < n; i++) sum += items[i].weight;
  return sum;
}

static bool build_top(const graze_context *context, top_item *items, top_item *scratch, uint32_t n, piece *out,
                      uint32_t *index) {
  if (n == 1) {
    *index = TREELET_CHILD | items[0].treelet;
    return true;
  }
  if (add_node(context, out, index) == NULL) return false;
  uint32_t first[NODE_WIDTH + 1] = {0, n}, parts = 1;
  while (parts < NODE_WIDTH) {
    int heaviest = -1;
    float most = 0;
    for (uint32_t k = 0; k < parts; k++) {
      float w = items_weight(items + first[k], first[k + 1] - first[k]);
      if (first[k + 1] - first[k] > 1 && w > most) {
        most = w;
        heaviest = (int)k;
      }
    }
    if (heaviest < 0) break;
    uint32_t at = (uint32_t)heaviest;
    uint32_t cut = first[at] + split_items(items + first[at], scratch, first[at + 1] - first[at]);
    memmove(first + at + 2, first + at + 1, (parts - at) * sizeof first[0]);
    first[at + 1] = cut;
    parts++;
  }
  out->nodes[*index].count = (uint8_t)parts;
  for (uint32_t k = 0; k < parts; k++) {
    uint32_t child;
    if (!build_top(context, items + first[k], scratch, first[k + 1] - first[k], out, &child)) return false;
    out->nodes[*index].child[k] = child;
  }
  return true;
}

static graze_status build_over(builder *b, piece *top, uint32_t *root) {
  const graze_context *context = b->mesh->context;
  size_t bytes = 2 * (size_t)b->treelet_count * sizeof(top_item);
  top_item *items = gz_memory_alloc(context, bytes);
  if (items == NULL) return gz_fail_memory(context, bytes);
  for (uint32_t k = 0; k < b->treelet_count; k++) {
    items[k].box = b->pieces[k / TREELETS_PER_TASK].box[k % TREELETS_PER_TASK];
    items[k].weight = (float)(b->treelets[k + 1] - b->treelets[k]);
    items[k].treelet = k;
  }
  top->capacity = b->treelet_count / 4 + 16;
  top->nodes = gz_memory_alloc(context, top->capacity * sizeof *top->nodes);
  bool done = top->nodes != NULL && build_top(context, items, items + b->treelet_count, b->treelet_count, top, root);
  gz_memory_release(context, items, bytes);
  return done ? GRAZE_OK : gz_fail_memory(context, top->capacity * sizeof *top->nodes);
}

/* Puts the top nodes and then the pieces behind each other and turns child numbers into final ones. */
static graze_status join_pieces(builder *b, const piece *top, uint32_t piece_count, tree_node **nodes, uint32_t *count,
                                size_t *bytes) {
  const graze_context *context = b->mesh->context;
  uint64_t total = top->count;
  for (uint32_t k = 0; k < piece_count; k++) total += b->pieces[k].count;
  if (total >= TREELET_CHILD) return gz_fail(context, GRAZE_ERROR_LIMIT, "the hierarchy has too many nodes");
  *bytes = total * sizeof(tree_node);
  tree_node *all = gz_memory_alloc(context, *bytes);
  if (all == NULL) return gz_fail_memory(context, *bytes);
  if (top->count > 0) memcpy(all, top->nodes, top->count * sizeof *all);
  uint32_t offset = top->count;
  for (uint32_t k = 0; k < piece_count; k++) {
    piece *p = &b->pieces[k];
    memcpy(all + offset, p->nodes, p->count * sizeof *all);
    for (uint32_t i = offset; i < offset + p->count; i++) {
      if (all[i].bottom) continue;
      for (int c = 0; c < all[i].count; c++) all[i].child[c] += offset;
    }
    for (int r = 0; r < TREELETS_PER_TASK; r++) p->root[r] += offset;
    offset += p->count;
  }
  for (uint32_t i = 0; i < top->count; i++) {
    for (int c = 0; c < all[i].count; c++) {
      uint32_t child = all[i].child[c];
      if ((child & TREELET_CHILD) == 0) continue;
      uint32_t treelet = child & ~TREELET_CHILD;
      all[i].child[c] = b->pieces[treelet / TREELETS_PER_TASK].root[treelet % TREELETS_PER_TASK];
    }
  }
  for (uint32_t i = top->count; i-- > 0;) {
    for (int c = 0; c < all[i].count; c++) all[i].triangles += all[all[i].child[c]].triangles;
  }
  *nodes = all;
  *count = (uint32_t)total;
  return GRAZE_OK;
}

/* ---- all of it ---- */

static graze_status build_pieces(builder *b, tree_node **nodes, uint32_t *count, size_t *bytes) {
  const graze_context *context = b->mesh->context;
  uint32_t piece_count = (b->treelet_count + TREELETS_PER_TASK - 1) / TREELETS_PER_TASK;
  size_t piece_bytes = piece_count * sizeof(piece);
  b->pieces = gz_memory_alloc(context, piece_bytes);
  if (b->pieces == NULL) return gz_fail_memory(context, piece_bytes);
  memset(b->pieces, 0, piece_bytes);
  gz_parallel_each(context, piece_count, build_treelets, b);
  piece top = {0};
  uint32_t root = 0;
  graze_status status = b->failed ? gz_fail(context, GRAZE_ERROR_MEMORY, "out of memory: nodes") : GRAZE_OK;
  if (status == GRAZE_OK && b->treelet_count > 1) status = build_over(b, &top, &root);
  if (status == GRAZE_OK) status = join_pieces(b, &top, piece_count, nodes, count, bytes);
  gz_memory_release(context, top.nodes, top.capacity * sizeof *top.nodes);
  for (uint32_t k = 0; k < piece_count; k++) {
    gz_memory_release(context, b->pieces[k].nodes, b->pieces[k].capacity * sizeof *top.nodes);
  }
  gz_memory_release(context, b->pieces, piece_bytes);
  return status;
}

/* The centre grid: cell = (low + high of the triangle's box - 2 * box low) * scale. */
static void set_grid(builder *b) {
  const mesh_header *h = b->mesh->header;
  for (int k = 0; k < 3; k++) {
    float low = (float)h->box_min[k], extent = (float)(h->box_max[k] - h->box_min[k]);
    b->low[k] = 2 * low;
    b->scale[k] = extent > 0 && extent < INFINITY ? 512.0f / extent : 0;
  }
}

graze_status KERNEL(gz_mesh_build_tree)(const graze_mesh *mesh, tree_node **nodes, uint32_t *count, size_t *bytes) {
  *nodes = NULL;
  *count = 0;
  *bytes = 0;
  if (mesh->triangle_count == 0 || !mesh->header->tree_usable) return GRAZE_OK;
  size_t n = mesh->triangle_count;
  builder b = {.mesh = mesh, .count = mesh->triangle_count};
  size_t size = n * 2 * sizeof(uint64_t) + (n + 2) * sizeof(uint32_t);
  char *memory = gz_memory_alloc(mesh->context, size);
  if (memory == NULL) return gz_fail_memory(mesh->context, size);
  b.keys = (uint64_t *)memory;
  b.keys2 = b.keys + n;
  b.treelets = (uint32_t *)(b.keys2 + n);
  set_grid(&b);
  gz_parallel_each(mesh->context, (b.count + PRIMS_PER_TASK - 1) / PRIMS_PER_TASK, make_keys, &b);
  sort_morton(&b);
  b.treelets[0] = 0;
  cut_treelets(&b, 0, b.count, 3 * MORTON_BITS - 1);
  graze_status status = build_pieces(&b, nodes, count, bytes);
  gz_memory_release(mesh->context, memory, size);
  return status;
}
