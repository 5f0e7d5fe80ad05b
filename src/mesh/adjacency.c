/* Neighbours by position: which vertices are one position, which triangles share an edge, how many parts there are.
 *
 * Equal coordinates and equal edges are found in the same two steps: cut the items into buckets that fit in cache (a
 * counting sort whose bounds depend on the counts alone), then match inside each bucket: positions with a small
 * open-addressing table, edges by another counting sort, which leaves, for each position, the list of the half edges
 * whose lower end it is: six as a rule, which are compared with each other in vectors, where a table of edges would
 * guess wrong at every second one. Against one large table that trades a cache miss per item for two sequential passes,
 * and the buckets run on all threads. Parts come from a union-find over positions that links the larger root below the
 * smaller by compare-and-swap (Anderson and Woll 1991), so that any order of unions ends in the same number of sets.
 *
 * Memory: 36 bytes a triangle of half edges, or 8 a vertex before, which whoever bakes lends; 15 bytes a vertex; and
 * the lists of the longest bucket of each group of buckets, which stay in cache.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "mesh/mesh.h"

enum { ITEMS_LEAST = 1 << 14, MOST_BUCKETS = 2048, VERTICES_A_BUCKET = 4096, EDGES_A_BUCKET = 8192, AHEAD = 16 };
enum { LONG_LIST = 32, LIST_PAD = 4 };

/* A side of a proper triangle. Its lower position is `low` places behind the first of its bucket. */
typedef struct half_edge {
  uint32_t low_side; /* low * 8 + side of the triangle * 2 + 1 when it runs from the higher position to the lower */
  uint32_t high;
  uint32_t triangle;
} half_edge;

/* What a list of half edges keeps of one: its triangle, and its side as above. */
typedef struct edge_side {
  uint32_t triangle;
  uint32_t side;
} edge_side;

/* An edge in the table of a long list: the places of its first two half edges. */
typedef struct edge_slot {
  uint32_t first;
  uint32_t second;
} edge_slot;

#define EMPTY UINT32_MAX       /* no half edge yet */
#define MANY  (UINT32_MAX - 1) /* as `second`: three or more */

typedef struct edge_counts {
  uint64_t open;
  uint64_t nonmanifold;
  uint64_t misoriented;
} edge_counts;

typedef struct adjacency {
  graze_mesh *mesh;
  uint32_t vertex_count;
  uint32_t triangle_count;
  uint32_t *corners;  /* positions of the corners of each triangle: the neighbours array before it is filled */
  uint32_t *position; /* lowest vertex with the same coordinates, for each vertex */
  _Atomic uint32_t *parent;
  _Atomic uint8_t *used; /* by position: a triangle has it */
  uint64_t *offsets;     /* [bucket][piece]: where the piece's items of the bucket start; one more at the end */
  void *items;           /* vertex records, then half edges */
  uint32_t *table;       /* of positions */
  pieces cut;            /* of vertices, then of triangles */
  uint32_t buckets;
  uint32_t shift;           /* bucket of a half edge: lower position >> shift */
  uint32_t range;           /* positions of a bucket */
  uint32_t groups;          /* of buckets, matched one after the other */
  uint64_t *places;         /* of each group's lists in highs and sides */
  uint32_t *starts, *highs; /* the lists of all groups */
  edge_side *sides;
  uint64_t joined[PARALLEL_PIECES]; /* unions that joined two sets */
  edge_counts *counts;              /* by bucket */
} adjacency;

/* ---- buckets ---- */

/* Turns counts [bucket][piece] into starting places; returns the number of items. */
static uint64_t sum_offsets(adjacency *a) {
  uint64_t sum = 0;
  size_t cells = (size_t)a->buckets * a->cut.number;
  for (size_t i = 0; i < cells; i++) {
    uint64_t count = a->offsets[i];
    a->offsets[i] = sum;
    sum += count;
  }
  a->offsets[cells] = sum;
  return sum;
}

/* After scattering, cell [bucket][piece] holds the end of its items: the bucket runs from the end of the cell before
 * its first to the end of its last. */
static uint64_t bucket_begin(const adjacency *a, uint32_t bucket) {
  return bucket == 0 ? 0 : a->offsets[(size_t)bucket * a->cut.number - 1];
}

static uint64_t bucket_end(const adjacency *a, uint32_t bucket) {
  return a->offsets[(size_t)(bucket + 1) * a->cut.number - 1];
}

static uint32_t buckets_for(uint64_t items, uint64_t each) {
  uint64_t wanted = items / each + 1;
  return wanted < MOST_BUCKETS ? (uint32_t)wanted : MOST_BUCKETS;
}

/* `hash` brought to [0, size), without a division. */
static uint32_t reduce(uint32_t hash, uint64_t size) {
  return (uint32_t)((hash * size) >> 32);
}

/* ---- positions ---- */

static uint64_t mix(uint64_t x, uint64_t y, uint64_t z) {
  uint64_t h = x * 0x9E3779B97F4A7C15u;
  h = ((h << 29) | (h >> 35)) ^ y;
  h *= 0xBF58476D1CE4E5B9u;
  h = ((h << 29) | (h >> 35)) ^ z;
  h *= 0x94D049BB133111EBu;
  h ^= h >> 32;
  h *= 0x9FB21C651E98DF25u;
  return h ^ (h >> 29);
}

static uint64_t hash_vertex(const graze_mesh *mesh, size_t vertex) {
  uint64_t bits[3];
  for (size_t k = 0; k < 3; k++) {
    /* Adding zero makes -0 and 0 the same bits. */
    double x =
        (mesh->is_double ? mesh->vertices_double[3 * vertex + k] : (double)mesh->vertices_float[3 * vertex + k]) + 0.0;
    memcpy(bits + k, &x, sizeof x);
  }
  return mix(bits[0], bits[1], bits[2]);
}

static bool same_position(const graze_mesh *mesh, size_t v, size_t w) {
  if (mesh->is_double) {
    const double *a = mesh->vertices_double + 3 * v, *b = mesh->vertices_double + 3 * w;
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
  }
  const float *a = mesh->vertices_float + 3 * v, *b = mesh->vertices_float + 3 * w;
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static void count_vertices(void *argument, uint32_t index) {
  adjacency *a = argument;
  uint64_t *cells = a->offsets + index;
  uint64_t end = pieces_end(&a->cut, index);
  for (uint32_t b = 0; b < a->buckets; b++) cells[(size_t)b * a->cut.number] = 0;
  for (uint64_t v = pieces_begin(&a->cut, index); v < end; v++) {
    uint32_t bucket = reduce((uint32_t)(hash_vertex(a->mesh, v) >> 32), a->buckets);
    cells[(size_t)bucket * a->cut.number]++;
  }
}

static void scatter_vertices(void *argument, uint32_t index) {
  adjacency *a = argument;
  uint64_t *cells = a->offsets + index, *records = a->items;
  uint64_t end = pieces_end(&a->cut, index);
  for (uint64_t v = pieces_begin(&a->cut, index); v < end; v++) {
    uint64_t hash = hash_vertex(a->mesh, v);
    uint32_t bucket = reduce((uint32_t)(hash >> 32), a->buckets);
    records[cells[(size_t)bucket * a->cut.number]++] = (hash << 32) | v;
  }
}

/* Table slots for `count` items; the table of a bucket starts at this many for all items before it, plus one for each
 * bucket. */
static uint64_t vertex_slots(uint64_t count) {
  return count + count / 2;
}

static inline void prefetch_vertex(const adjacency *a, size_t vertex) {
  const graze_mesh *mesh = a->mesh;
  __builtin_prefetch(mesh->is_double ? (const void *)(mesh->vertices_double + 3 * vertex)
                                     : mesh->vertices_float + 3 * vertex);
  __builtin_prefetch(a->position + vertex, 1);
}

/* The records of a bucket stand in the order of their vertices, so the first of equals is the lowest. */
static void match_vertices(void *argument, uint32_t bucket) {
  adjacency *a = argument;
  uint64_t begin = bucket_begin(a, bucket), count = bucket_end(a, bucket) - begin;
  const uint64_t *records = (const uint64_t *)a->items + begin;
  uint32_t *table = a->table + vertex_slots(begin) + bucket;
  uint64_t size = vertex_slots(begin + count) - vertex_slots(begin) + 1;
  memset(table, 0xff, size * sizeof *table);
  for (uint64_t i = 0; i < count; i++) {
    /* The bucket's vertices are far apart in memory. */
    if (i + AHEAD < count) prefetch_vertex(a, (uint32_t)records[i + AHEAD]);
    uint32_t tag = (uint32_t)(records[i] >> 32), vertex = (uint32_t)records[i];
    uint64_t slot = reduce(tag, size);
    for (;; slot = slot + 1 < size ? slot + 1 : 0) {
      uint32_t other = table[slot];
      if (other == EMPTY) {
        table[slot] = (uint32_t)i;
        a->position[vertex] = vertex;
        break;
      }
      if ((uint32_t)(records[other] >> 32) == tag && same_position(a->mesh, vertex, (uint32_t)records[other])) {
        a->position[vertex] = (uint32_t)records[other];
        break;
      }
    }
  }
}

static void find_positions(adjacency *a) {
  const graze_context *context = a->mesh->context;
  a->cut = pieces_of(a->vertex_count, ITEMS_LEAST);
  a->buckets = buckets_for(a->vertex_count, VERTICES_A_BUCKET);
  gz_parallel_each(context, a->cut.number, count_vertices, a);
  sum_offsets(a);
  gz_parallel_each(context, a->cut.number, scatter_vertices, a);
  gz_parallel_each(context, a->buckets, match_vertices, a);
}

/* ---- parts ---- */

/* Ranges of positions, a power of two wide, that give about the wanted number of buckets of half edges; not so wide
 * that a place in one, and three bits more, would not fit in 32 bits. */
static void cut_edges(adjacency *a) {
  uint32_t wanted = buckets_for(3 * (uint64_t)a->triangle_count, EDGES_A_BUCKET);
  a->shift = 0;
  while (a->shift < 28 && (a->vertex_count - 1) >> a->shift >= wanted) a->shift++;
  a->buckets = ((a->vertex_count - 1) >> a->shift) + 1;
  a->range = a->buckets == 1 ? a->vertex_count : (uint32_t)1 << a->shift;
}

/* Of a half edge between two positions. */
static inline uint32_t bucket_of(const adjacency *a, uint32_t p, uint32_t q) {
  return (p < q ? p : q) >> a->shift;
}

static uint32_t find_root(_Atomic uint32_t *parent, uint32_t x) {
  for (;;) {
    uint32_t p = atomic_load_explicit(&parent[x], memory_order_relaxed);
    if (p == x) return x;
    uint32_t g = atomic_load_explicit(&parent[p], memory_order_relaxed);
    if (g == p) return p;
    /* Halving the path; a lost race only leaves it longer. */
    atomic_store_explicit(&parent[x], g, memory_order_relaxed);
    x = g;
  }
}

/* Whether two sets were joined. */
static bool unite(_Atomic uint32_t *parent, uint32_t x, uint32_t y) {
  for (;;) {
    x = find_root(parent, x);
    y = find_root(parent, y);
    if (x == y) return false;
    uint32_t low = x < y ? x : y, high = x < y ? y : x, expected = high;
    if (atomic_compare_exchange_strong(&parent[high], &expected, low)) return true;
  }
}

static void start_parents(void *argument, uint32_t index) {
  adjacency *a = argument;
  uint64_t end = pieces_end(&a->cut, index);
  for (uint64_t v = pieces_begin(&a->cut, index); v < end; v++) {
    atomic_store_explicit(&a->parent[v], (uint32_t)v, memory_order_relaxed);
    atomic_store_explicit(&a->used[v], 0, memory_order_relaxed);
  }
}

/* Corners as positions, the unions, and the number of half edges in each bucket. */
static void join_corners(void *argument, uint32_t index) {
  adjacency *a = argument;
  uint64_t joined = 0, end = pieces_end(&a->cut, index), *cells = a->offsets + index;
  for (uint32_t b = 0; b < a->buckets; b++) cells[(size_t)b * a->cut.number] = 0;
  for (uint64_t t = pieces_begin(&a->cut, index); t < end; t++) {
    uint32_t p[3];
    for (size_t k = 0; k < 3; k++) {
      p[k] = a->position[a->mesh->triangles[3 * t + k]];
      a->corners[3 * t + k] = p[k];
      atomic_store_explicit(&a->used[p[k]], 1, memory_order_relaxed);
    }
    joined += unite(a->parent, p[0], p[1]);
    joined += unite(a->parent, p[0], p[2]);
    if (mesh_degenerate(a->mesh, (uint32_t)t)) continue;
    for (size_t k = 0; k < 3; k++) cells[(size_t)bucket_of(a, p[k], p[k < 2 ? k + 1 : 0]) * a->cut.number]++;
  }
  a->joined[index] = joined;
}

static void find_parts(adjacency *a) {
  const graze_context *context = a->mesh->context;
  mesh_header *header = a->mesh->header;
  a->cut = pieces_of(a->vertex_count, ITEMS_LEAST);
  gz_parallel_each(context, a->cut.number, start_parents, a);
  a->cut = pieces_of(a->triangle_count, ITEMS_LEAST);
  cut_edges(a);
  gz_parallel_each(context, a->cut.number, join_corners, a);
  header->positions = 0;
  for (uint64_t v = 0; v < a->vertex_count; v++) {
    header->positions += atomic_load_explicit(&a->used[v], memory_order_relaxed);
  }
  header->parts = header->positions;
  for (uint32_t i = 0; i < a->cut.number; i++) header->parts -= a->joined[i];
}

/* ---- edges ---- */

static void scatter_edges(void *argument, uint32_t index) {
  adjacency *a = argument;
  uint64_t *cells = a->offsets + index;
  half_edge *edges = a->items;
  uint64_t end = pieces_end(&a->cut, index);
  for (uint64_t t = pieces_begin(&a->cut, index); t < end; t++) {
    uint32_t *corners = a->corners + 3 * t;
    if (mesh_degenerate(a->mesh, (uint32_t)t)) {
      memset(corners, 0xff, 3 * sizeof *corners); /* no neighbours */
      continue;
    }
    for (uint32_t k = 0; k < 3; k++) {
      uint32_t p = corners[k], q = corners[k < 2 ? k + 1 : 0];
      uint32_t low = p < q ? p : q, high = p < q ? q : p, bucket = low >> a->shift;
      uint32_t place = low - (bucket << a->shift);
      edges[cells[(size_t)bucket * a->cut.number]++] =
          (half_edge){place << 3 | k << 1 | (uint32_t)(p > q), high, (uint32_t)t};
    }
  }
}

/* ---- edges of one bucket ---- */

/* Half edges by their lower position: those of position p stand in [start[p - 1], start[p]). */
typedef struct edge_lists {
  uint32_t *start;
  uint32_t *high; /* LIST_PAD more can be read */
  edge_side *side;
} edge_lists;

static edge_lists lists_of(const adjacency *a, uint32_t group) {
  return (edge_lists){a->starts + (size_t)group * a->range, a->highs + a->places[group] + (size_t)group * LIST_PAD,
                      a->sides + a->places[group]};
}

static void sort_by_low(const half_edge *edges, uint32_t count, uint32_t range, edge_lists *l) {
  memset(l->start, 0, range * sizeof *l->start);
  for (uint32_t i = 0; i < count; i++) l->start[edges[i].low_side >> 3]++;
  for (uint32_t p = 0, sum = 0; p < range; p++) {
    uint32_t n = l->start[p];
    l->start[p] = sum;
    sum += n;
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = l->start[edges[i].low_side >> 3]++;
    l->high[at] = edges[i].high;
    l->side[at] = (edge_side){edges[i].triangle, edges[i].low_side & 7};
  }
}

static inline void set_neighbour(adjacency *a, const edge_side *side, uint32_t triangle) {
  a->corners[3 * (size_t)side->triangle + (side->side >> 1)] = triangle;
}

/* Side i of a list is one of `equals` on its edge; with two of them, `places` is the sum of their places. */
static inline void settle_side(adjacency *a, const uint32_t *high, const edge_side *side, uint32_t i, uint32_t equals,
                               uint32_t places, edge_counts *total) {
  if (equals == 2) {
    uint32_t other = places - i;
    set_neighbour(a, side + i, side[other].triangle);
    total->misoriented += i < other && (side[i].side & 1) == (side[other].side & 1);
    return;
  }
  set_neighbour(a, side + i, NO_TRIANGLE);
  total->open += equals == 1;
  if (equals < 3) return;
  uint32_t first = 0;
  while (high[first] != high[i]) first++;
  total->nonmanifold += first == i;
}

/* A list of a usual length: all against all, four at a time and without branches. */
static void match_short(adjacency *a, const uint32_t *high, const edge_side *side, uint32_t count, edge_counts *total) {
  for (uint32_t first = 0; first < count; first += 4) {
    i4 here, equals = {0}, places = {0}, place = {0};
    memcpy(&here, high + first, sizeof here);
    for (uint32_t j = 0; j < count; j++) {
      i4 same = here == (i4){0} + (int32_t)high[j];
      equals -= same; /* a true comparison is -1 */
      places += same & place;
      place += 1;
    }
    for (uint32_t i = first; i < count && i < first + 4; i++) {
      settle_side(a, high, side, i, (uint32_t)equals[i - first], (uint32_t)places[i - first], total);
    }
  }
}

/* The hub of a fan: a table of edges by hash. Who comes first waits, the second completes the pair, the third spoils
 * it. Of `size` slots. */
static void collect_edges(const uint32_t *high, uint32_t count, edge_slot *table, uint64_t size) {
  memset(table, 0xff, size * sizeof *table);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t slot = reduce((uint32_t)((high[i] * 0x9E3779B97F4A7C15u) >> 32), size);
    while (table[slot].first != EMPTY && high[table[slot].first] != high[i]) slot = slot + 1 < size ? slot + 1 : 0;
    edge_slot *s = table + slot;
    if (s->first == EMPTY) {
      s->first = i;
    } else {
      s->second = s->second == EMPTY ? i : MANY;
    }
  }
}

static void match_long(adjacency *a, const uint32_t *high, const edge_side *side, uint32_t count, edge_slot *table,
                       edge_counts *total) {
  uint64_t size = (uint64_t)count + count / 4 + 1;
  for (uint32_t i = 0; i < count; i++) set_neighbour(a, side + i, NO_TRIANGLE);
  collect_edges(high, count, table, size);
  for (uint64_t i = 0; i < size; i++) {
    edge_slot s = table[i];
    if (s.first == EMPTY) continue;
    total->open += s.second == EMPTY;
    total->nonmanifold += s.second == MANY;
    if (s.second >= MANY) continue;
    const edge_side *x = side + s.first, *y = side + s.second;
    set_neighbour(a, x, y->triangle);
    set_neighbour(a, y, x->triangle);
    total->misoriented += (x->side & 1) == (y->side & 1);
  }
}

static void match_bucket(adjacency *a, uint32_t bucket, edge_lists l) {
  uint64_t begin = bucket_begin(a, bucket), count = bucket_end(a, bucket) - begin;
  half_edge *edges = (half_edge *)a->items + begin;
  edge_counts total = {0, 0, 0};
  sort_by_low(edges, (uint32_t)count, a->range, &l);
  for (uint32_t p = 0, first = 0; p < a->range; p++) {
    uint32_t n = l.start[p] - first;
    if (n <= LONG_LIST) {
      match_short(a, l.high + first, l.side + first, n, &total);
    } else {
      /* The half edges have been copied: where they were there is room for a table of them. */
      match_long(a, l.high + first, l.side + first, n, (edge_slot *)(void *)edges, &total);
    }
    first = l.start[p];
  }
  a->counts[bucket] = total;
}

/* First bucket of a group. */
static uint32_t group_begin(const adjacency *a, uint32_t group) {
  return (uint32_t)((uint64_t)a->buckets * group / a->groups);
}

/* The buckets of a group use the same lists, one after the other, so that these stay in cache. */
static void match_edges(void *argument, uint32_t group) {
  adjacency *a = argument;
  for (uint32_t b = group_begin(a, group); b < group_begin(a, group + 1); b++) match_bucket(a, b, lists_of(a, group));
}

/* Numbers within a bucket have 32 bits: more than a billion triangles on two thousandth of the positions do not fit. */
static bool buckets_fit(const adjacency *a) {
  for (uint32_t b = 0; b < a->buckets; b++) {
    uint64_t begin = a->offsets[(size_t)b * a->cut.number], end = a->offsets[(size_t)(b + 1) * a->cut.number];
    if (end - begin >= MANY) return false;
  }
  return true;
}

/* Groups, and the place of each one's lists, as long as its longest bucket; returns the end. */
static uint64_t group_buckets(adjacency *a) {
  uint32_t threads = (uint32_t)gz_parallel_threads(a->mesh->context), wanted = threads == 1 ? 1 : 8 * threads;
  a->groups = wanted < a->buckets ? wanted : a->buckets;
  uint64_t place = 0;
  for (uint32_t g = 0; g < a->groups; g++) {
    uint64_t most = 0;
    a->places[g] = place;
    for (uint32_t b = group_begin(a, g); b < group_begin(a, g + 1); b++) {
      uint64_t count = bucket_end(a, b) - bucket_begin(a, b);
      most = count > most ? count : most;
    }
    place += most;
  }
  return place;
}

static void carve_lists(adjacency *a, carving *c, uint64_t edges) {
  a->starts = gz_carve(c, sizeof(uint32_t) * a->groups * a->range);
  a->highs = gz_carve(c, sizeof(uint32_t) * (edges + (uint64_t)LIST_PAD * a->groups));
  a->sides = gz_carve(c, sizeof(edge_side) * edges);
}

/* Neighbours and counts from the half edges of all buckets. */
static graze_status match_buckets(adjacency *a) {
  const graze_context *context = a->mesh->context;
  uint64_t edges = group_buckets(a);
  carving c = {NULL, 0};
  carve_lists(a, &c, edges);
  size_t bytes = c.used;
  c = (carving){gz_memory_alloc(context, bytes), 0};
  if (c.memory == NULL) return gz_fail_memory(context, bytes);
  carve_lists(a, &c, edges);
  gz_parallel_each(context, a->groups, match_edges, a);
  gz_memory_release(context, c.memory, bytes);
  return GRAZE_OK;
}

static graze_status find_edges(adjacency *a) {
  const graze_context *context = a->mesh->context;
  mesh_header *header = a->mesh->header;
  uint64_t edges = sum_offsets(a);
  if (!buckets_fit(a)) return gz_fail(context, GRAZE_ERROR_LIMIT, "adjacency: too many triangles share few positions");
  gz_parallel_each(context, a->cut.number, scatter_edges, a);
  graze_status status = match_buckets(a);
  if (status != GRAZE_OK) return status;
  edge_counts total = {0, 0, 0};
  for (uint32_t b = 0; b < a->buckets; b++) {
    total.open += a->counts[b].open;
    total.nonmanifold += a->counts[b].nonmanifold;
    total.misoriented += a->counts[b].misoriented;
  }
  header->open_edges = total.open;
  header->nonmanifold_edges = total.nonmanifold;
  header->misoriented_edges = total.misoriented;
  header->closed = edges != 0 && total.open == 0 && total.nonmanifold == 0;
  header->oriented = total.misoriented == 0 && total.nonmanifold == 0;
  return GRAZE_OK;
}

/* ---- memory ---- */

/* Places of the items of all buckets: of vertices, then of half edges. */
static uint64_t cells_for(adjacency *a) {
  uint64_t vertices =
      (uint64_t)buckets_for(a->vertex_count, VERTICES_A_BUCKET) * pieces_of(a->vertex_count, ITEMS_LEAST).number;
  cut_edges(a);
  uint64_t edges = (uint64_t)a->buckets * pieces_of(a->triangle_count, ITEMS_LEAST).number;
  return (vertices > edges ? vertices : edges) + 1;
}

static void carve_all(adjacency *a, carving *c, const buffer *lent) {
  uint64_t v = a->vertex_count, e = 3 * (uint64_t)a->triangle_count;
  uint64_t items = 8 * v > sizeof(half_edge) * e ? 8 * v : sizeof(half_edge) * e;
  a->position = gz_carve(c, 4 * v);
  a->parent = gz_carve(c, 4 * v);
  a->used = gz_carve(c, v);
  a->offsets = gz_carve(c, 8 * cells_for(a));
  a->counts = gz_carve(c, a->buckets * sizeof(edge_counts));
  a->places = gz_carve(c, a->buckets * sizeof(uint64_t));
  a->table = gz_carve(c, sizeof(uint32_t) * (vertex_slots(v) + MOST_BUCKETS));
  a->items = items <= lent->bytes ? lent->data : gz_carve(c, items);
}

static char *reserve(adjacency *a, const buffer *lent, size_t *bytes) {
  carving c = {NULL, 0};
  carve_all(a, &c, lent);
  *bytes = c.used;
  c = (carving){gz_memory_alloc(a->mesh->context, *bytes), 0};
  if (c.memory != NULL) carve_all(a, &c, lent);
  return c.memory;
}

graze_status gz_mesh_compute_adjacency(graze_mesh *mesh, uint32_t *neighbours, buffer lent) {
  mesh_header *header = mesh->header;
  if (mesh->triangle_count == 0) {
    header->positions = header->parts = header->open_edges = header->nonmanifold_edges = header->misoriented_edges = 0;
    header->closed = 0;
    header->oriented = 1;
    return GRAZE_OK;
  }
  adjacency a = {.mesh = mesh, .vertex_count = (uint32_t)header->vertex_count, .triangle_count = mesh->triangle_count};
  a.corners = neighbours;
  size_t bytes;
  char *memory = reserve(&a, &lent, &bytes);
  if (memory == NULL) return gz_fail_memory(mesh->context, bytes);
  find_positions(&a);
  find_parts(&a);
  graze_status status = find_edges(&a);
  gz_memory_release(mesh->context, memory, bytes);
  return status;
}
