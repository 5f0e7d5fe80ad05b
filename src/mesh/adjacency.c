/* Neighbours by position: which vertices are one position, which triangles share an edge, how many parts there are.
 *
 * Equal coordinates and equal edges are found by hashing, each in the same two steps: cut the items into buckets that
 * fit in cache (a counting sort whose bounds depend on the counts alone), then match inside each bucket with a small
 * open-addressing table. Against one large table that trades a cache miss per item for two sequential passes, and the
 * buckets run on all threads. Parts come from a union-find over positions that links the larger root below the
 * smaller by compare-and-swap (Anderson and Woll 1991), so that any order of unions ends in the same number of sets.
 *
 * Memory, per triangle: 36 bytes of half edges and 30 of tables, or the same for the positions (11 to 22 bytes a
 * vertex) before; one piece serves both.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/mesh.h"

enum { ITEMS_LEAST = 1 << 14, MOST_BUCKETS = 2048, VERTICES_A_BUCKET = 4096, EDGES_A_BUCKET = 8192, AHEAD = 16 };

/* A side of a proper triangle. Its lower position is `low` places behind the first of its bucket. */
typedef struct half_edge {
  uint32_t low_side; /* low * 8 + side of the triangle * 2 + 1 when it runs from the higher position to the lower */
  uint32_t high;
  uint32_t triangle;
} half_edge;

/* An edge in a bucket's table: the numbers of its first two half edges. */
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
  void *tables;
  pieces cut; /* of vertices, then of triangles */
  uint32_t buckets;
  uint32_t shift;                   /* bucket of a half edge: lower position >> shift */
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
  uint32_t *table = (uint32_t *)a->tables + vertex_slots(begin) + bucket;
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

/* Corners as positions, and the unions. */
static void join_corners(void *argument, uint32_t index) {
  adjacency *a = argument;
  uint64_t joined = 0, end = pieces_end(&a->cut, index);
  for (uint64_t t = pieces_begin(&a->cut, index); t < end; t++) {
    uint32_t p[3];
    for (size_t k = 0; k < 3; k++) {
      p[k] = a->position[a->mesh->triangles[3 * t + k]];
      a->corners[3 * t + k] = p[k];
      atomic_store_explicit(&a->used[p[k]], 1, memory_order_relaxed);
    }
    joined += unite(a->parent, p[0], p[1]);
    joined += unite(a->parent, p[0], p[2]);
  }
  a->joined[index] = joined;
}

static void find_parts(adjacency *a) {
  const graze_context *context = a->mesh->context;
  mesh_header *header = a->mesh->header;
  a->cut = pieces_of(a->vertex_count, ITEMS_LEAST);
  gz_parallel_each(context, a->cut.number, start_parents, a);
  a->cut = pieces_of(a->triangle_count, ITEMS_LEAST);
  gz_parallel_each(context, a->cut.number, join_corners, a);
  header->positions = 0;
  for (uint64_t v = 0; v < a->vertex_count; v++) {
    header->positions += atomic_load_explicit(&a->used[v], memory_order_relaxed);
  }
  header->parts = header->positions;
  for (uint32_t i = 0; i < a->cut.number; i++) header->parts -= a->joined[i];
}

/* ---- edges ---- */

static void count_edges(void *argument, uint32_t index) {
  adjacency *a = argument;
  uint64_t *cells = a->offsets + index;
  uint64_t end = pieces_end(&a->cut, index);
  for (uint32_t b = 0; b < a->buckets; b++) cells[(size_t)b * a->cut.number] = 0;
  for (uint64_t t = pieces_begin(&a->cut, index); t < end; t++) {
    if (mesh_degenerate(a->mesh, (uint32_t)t)) continue;
    for (size_t k = 0; k < 3; k++) {
      uint32_t p = a->corners[3 * t + k], q = a->corners[3 * t + (k + 1) % 3];
      uint32_t bucket = (p < q ? p : q) >> a->shift;
      cells[(size_t)bucket * a->cut.number]++;
    }
  }
}

static void scatter_edges(void *argument, uint32_t index) {
  adjacency *a = argument;
  uint64_t *cells = a->offsets + index;
  half_edge *edges = a->items;
  uint64_t end = pieces_end(&a->cut, index);
  for (uint64_t t = pieces_begin(&a->cut, index); t < end; t++) {
    if (mesh_degenerate(a->mesh, (uint32_t)t)) continue;
    for (uint32_t k = 0; k < 3; k++) {
      uint32_t p = a->corners[3 * t + k], q = a->corners[3 * t + (k + 1) % 3];
      uint32_t low = p < q ? p : q, high = p < q ? q : p, bucket = low >> a->shift;
      uint32_t place = low - (bucket << a->shift);
      edges[cells[(size_t)bucket * a->cut.number]++] =
          (half_edge){place << 3 | k << 1 | (uint32_t)(p > q), high, (uint32_t)t};
    }
  }
}

static uint64_t edge_slots(uint64_t count) {
  return count + count / 4;
}

static bool same_edge(const half_edge *x, const half_edge *y) {
  return x->high == y->high && x->low_side >> 3 == y->low_side >> 3;
}

static uint32_t hash_edge(const half_edge *e) {
  return (uint32_t)((((uint64_t)(e->low_side >> 3) << 32 | e->high) * 0x9E3779B97F4A7C15u) >> 32);
}

/* Table of edges by hash: who comes first waits, the second completes the pair, the third spoils it. */
static void collect_edges(const half_edge *edges, uint64_t count, edge_slot *table, uint64_t size) {
  memset(table, 0xff, size * sizeof *table);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t slot = reduce(hash_edge(edges + i), size);
    while (table[slot].first != EMPTY && !same_edge(edges + table[slot].first, edges + i)) {
      slot = slot + 1 < size ? slot + 1 : 0;
    }
    edge_slot *s = table + slot;
    if (s->first == EMPTY) {
      s->first = i;
    } else {
      s->second = s->second == EMPTY ? i : MANY;
    }
  }
}

static void match_edges(void *argument, uint32_t bucket) {
  adjacency *a = argument;
  uint64_t begin = bucket_begin(a, bucket), count = bucket_end(a, bucket) - begin;
  const half_edge *edges = (const half_edge *)a->items + begin;
  edge_slot *table = (edge_slot *)a->tables + edge_slots(begin) + bucket;
  uint64_t size = edge_slots(begin + count) - edge_slots(begin) + 1;
  uint32_t *neighbours = a->corners;
  edge_counts total = {0, 0, 0};
  collect_edges(edges, count, table, size);
  for (uint64_t i = 0; i < size; i++) {
    edge_slot s = table[i];
    if (s.first == EMPTY) continue;
    if (s.second == EMPTY) {
      total.open++;
    } else if (s.second == MANY) {
      total.nonmanifold++;
    } else {
      const half_edge *x = edges + s.first, *y = edges + s.second;
      neighbours[3 * (size_t)x->triangle + (x->low_side >> 1 & 3)] = y->triangle;
      neighbours[3 * (size_t)y->triangle + (y->low_side >> 1 & 3)] = x->triangle;
      total.misoriented += (x->low_side & 1) == (y->low_side & 1);
    }
  }
  a->counts[bucket] = total;
}

static void clear_neighbours(void *argument, uint32_t index) {
  adjacency *a = argument;
  uint64_t begin = pieces_begin(&a->cut, index);
  memset(a->corners + 3 * begin, 0xff, 12 * (pieces_end(&a->cut, index) - begin));
}

/* Numbers within a bucket have 32 bits: more than a billion triangles on two thousandth of the positions do not fit. */
static bool buckets_fit(const adjacency *a) {
  for (uint32_t b = 0; b < a->buckets; b++) {
    uint64_t begin = a->offsets[(size_t)b * a->cut.number], end = a->offsets[(size_t)(b + 1) * a->cut.number];
    if (end - begin >= MANY) return false;
  }
  return true;
}

static graze_status find_edges(adjacency *a) {
  const graze_context *context = a->mesh->context;
  mesh_header *header = a->mesh->header;
  /* Ranges of positions, a power of two wide, that give about the wanted number of buckets. */
  uint32_t wanted = buckets_for(3 * (uint64_t)a->triangle_count, EDGES_A_BUCKET);
  a->shift = 0;
  while (((uint64_t)(a->vertex_count - 1) >> a->shift) >= wanted) a->shift++;
  a->buckets = ((a->vertex_count - 1) >> a->shift) + 1;
  a->cut = pieces_of(a->triangle_count, ITEMS_LEAST);
  gz_parallel_each(context, a->cut.number, count_edges, a);
  uint64_t edges = sum_offsets(a);
  if (!buckets_fit(a)) return gz_fail(context, GRAZE_ERROR_LIMIT, "adjacency: too many triangles share few positions");
  gz_parallel_each(context, a->cut.number, scatter_edges, a);
  gz_parallel_each(context, a->cut.number, clear_neighbours, a);
  gz_parallel_each(context, a->buckets, match_edges, a);
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

static size_t carve(size_t *end, uint64_t bytes) {
  size_t at = *end;
  *end += (bytes + MEMORY_ALIGNMENT - 1) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
  return at;
}

/* All scratch in one piece, asked for before anything is written. */
static char *reserve(adjacency *a, size_t *bytes) {
  uint64_t v = a->vertex_count, e = 3 * (uint64_t)a->triangle_count;
  uint64_t items = 8 * v > sizeof(half_edge) * e ? 8 * v : sizeof(half_edge) * e;
  uint64_t slots_v = sizeof(uint32_t) * (vertex_slots(v) + MOST_BUCKETS);
  uint64_t slots_e = sizeof(edge_slot) * (edge_slots(e) + MOST_BUCKETS);
  size_t end = 0;
  size_t position = carve(&end, 4 * v), parent = carve(&end, 4 * v), used = carve(&end, v);
  size_t counts = carve(&end, MOST_BUCKETS * sizeof(edge_counts));
  size_t offsets = carve(&end, 8 * ((size_t)MOST_BUCKETS * PARALLEL_PIECES + 1));
  size_t records = carve(&end, items), tables = carve(&end, slots_v > slots_e ? slots_v : slots_e);
  char *memory = gz_memory_alloc(a->mesh->context, end);
  *bytes = end;
  if (memory == NULL) return NULL;
  a->position = (uint32_t *)(void *)(memory + position);
  a->parent = (_Atomic uint32_t *)(void *)(memory + parent);
  a->used = (_Atomic uint8_t *)(void *)(memory + used);
  a->counts = (edge_counts *)(void *)(memory + counts);
  a->offsets = (uint64_t *)(void *)(memory + offsets);
  a->items = memory + records;
  a->tables = memory + tables;
  return memory;
}

graze_status gz_mesh_compute_adjacency(graze_mesh *mesh, uint32_t *neighbours) {
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
  char *memory = reserve(&a, &bytes);
  if (memory == NULL) return gz_fail_memory(mesh->context, bytes);
  find_positions(&a);
  find_parts(&a);
  graze_status status = find_edges(&a);
  gz_memory_release(mesh->context, memory, bytes);
  return status;
}
