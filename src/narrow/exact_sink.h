/* The exact end of every query: takes candidate triangle pairs, decides them in blocks, counts and lists the hits. */
#ifndef GRAZE_SRC_NARROW_EXACT_SINK_H
#define GRAZE_SRC_NARROW_EXACT_SINK_H

#include "base/memory.h"
#include "exact/tritri_batch.h"
#include "geometry/pose.h"
#include "graze/collide.h"
#include "mesh/mesh.h"

/* A mesh at a pose. */
typedef struct side {
  const graze_mesh *mesh;
  graze_pose pose;
  bool identity;
} side;

/* Posed corners of the triangles of one bottom node, corner[3 * c + k][place]; unused places are zero. */
enum { ALL_PLACES = (1 << NODE_WIDTH) - 1 };
typedef struct posed_node {
  _Alignas(64) double corner[9][NODE_WIDTH];
  unsigned exact; /* bit i: the corners of the triangle at place i are known to be their real images (tier T2) */
} posed_node;

/* Bottom nodes posed lately: a traversal meets the same few again and again. Place = low bits of the node's number. */
enum { POSED_NODES = 64 };
typedef struct posed_cache {
  bool looks;                   /* exact is looked for */
  uint32_t number[POSED_NODES]; /* UINT32_MAX: empty */
  posed_node node[POSED_NODES];
} posed_cache;

/* What a pair of one mesh with itself shares; 0 for pairs of two meshes. */
typedef enum shared_corners { SHARES_NONE = 0, SHARES_CORNER = 1, SHARES_EDGE = 2 } shared_corners;

/* Bits of a code of tritri_batch.h for triangles that meet. The second mesh of a `coded` list has fewer than
 * CODED_TRIANGLES. */
enum { CODE_BITS = 5 };
#define CODED_TRIANGLES ((uint32_t)1 << (32 - CODE_BITS))

typedef struct exact_sink {
  const graze_context *context;
  const side *a, *b;
  graze_find find;
  bool real;       /* tier T2 */
  double slack[3]; /* T2: how far a difference of real coordinates may be from that of the rounded ones */
  double reach[3]; /* T2: what is added up to a coordinate is no larger than this in all */
  bool one_pose;   /* T2: both have the same pose, which makes nothing flat */
  uint64_t exact;  /* T2, bit n: the corners of candidate n are known to be their real images */
  bool self;
  bool coded;     /* hits are listed with how they meet */
  bool stop;      /* FIND_ANY has its answer, or memory was refused */
  bool failed;    /* memory was refused */
  unsigned count; /* candidates waiting */
  uint32_t first[TRITRI_BLOCK], second[TRITRI_BLOCK];
  uint8_t shares[TRITRI_BLOCK];
  tritri_block_function *decide;
  graze_counts counts;
  uint64_t vertex_more, edge_overlaps, disjoint_hits, duplicates, degenerate_pairs;
  graze_work work;
  buffer keys; /* hits as first << 32 | second; if `coded` as first << 32 | second << CODE_BITS | code */
  uint64_t key_count;
  tritri_block block;
  posed_cache cache_a, cache_b;
} exact_sink;

void gz_sink_start(exact_sink *sink, const graze_context *context, const side *a, const side *b, graze_find find,
                   bool real, bool self);

/* A point of the mesh, posed (tier T1). */
static inline void side_point(const side *s, const double local[3], double posed[3]) {
  for (int k = 0; k < 3; k++) posed[k] = s->identity ? local[k] : pose_row(&s->pose, k, local);
}

/* The triangle's posed corners (tier T1) as 9 doubles. */
void gz_side_corners(const side *s, uint32_t triangle, double corners[9]);

/* The corners of a bottom node's triangles as the mesh has them; and corners after a pose. */
void gz_load_bottom(const graze_mesh *mesh, uint32_t node, posed_node *out);
void gz_pose_corners(const graze_pose *pose, posed_node *out);

/* The posed corners of a bottom node; valid until the cache is asked for another node. */
const posed_node *gz_sink_pose_node(const side *s, uint32_t node, posed_cache *cache);

/* Adds pairs (triangle at place i of bottom node a, triangle at place j of bottom node b) for every bit 8 j + i. */
void gz_sink_add_mask(exact_sink *sink, uint32_t a, uint32_t b, uint64_t mask);

/* The same without deciding anything: puts as many pairs as there is room for and returns the bits of the others. */
uint64_t gz_sink_put_mask(exact_sink *sink, uint32_t a, uint32_t b, uint64_t mask);
void gz_sink_put(exact_sink *sink, uint32_t first, uint32_t second, const double a[9], const double b[9]);

/* Fills places behind the candidates up to a multiple of 8. */
void gz_sink_fill(exact_sink *sink);

/* Adds one pair given by coordinates. */
void gz_sink_add(exact_sink *sink, uint32_t first, uint32_t second, const double a[9], const double b[9],
                 shared_corners shares);

/* Decides what waits. */
void gz_sink_flush(exact_sink *sink);

/* Counts a hit that needs no test, and lists it; not `coded`. */
void gz_sink_hit(exact_sink *sink, uint32_t first, uint32_t second);

void gz_sink_release(exact_sink *sink);

static inline void work_add(graze_work *sum, const graze_work *w) {
  sum->node_pairs += w->node_pairs;
  sum->triangle_tests += w->triangle_tests;
  sum->exact_tests += w->exact_tests;
}

static inline void counts_add(graze_counts *sum, const graze_counts *c) {
  sum->triangle_pairs += c->triangle_pairs;
  sum->points += c->points;
  sum->segments += c->segments;
  sum->areas += c->areas;
  sum->coplanar += c->coplanar;
  sum->degenerate += c->degenerate;
  sum->hash += c->hash;
}

/* What a sink has found of a mesh with itself. */
static inline graze_self_result sink_self(const exact_sink *s) {
  return (graze_self_result){.self_pairs = s->duplicates + s->edge_overlaps + s->vertex_more + s->disjoint_hits,
                             .duplicates = s->duplicates,
                             .edge_overlaps = s->edge_overlaps,
                             .vertex_more = s->vertex_more,
                             .disjoint_hits = s->disjoint_hits,
                             .degenerate_pairs = s->degenerate_pairs,
                             .hash = s->counts.hash,
                             .work = s->work};
}

/* All but the list. */
static inline void self_add(graze_self_result *sum, const graze_self_result *s) {
  sum->self_pairs += s->self_pairs;
  sum->duplicates += s->duplicates;
  sum->edge_overlaps += s->edge_overlaps;
  sum->vertex_more += s->vertex_more;
  sum->disjoint_hits += s->disjoint_hits;
  sum->degenerate_pairs += s->degenerate_pairs;
  sum->hash += s->hash;
  work_add(&sum->work, &s->work);
}

#endif
