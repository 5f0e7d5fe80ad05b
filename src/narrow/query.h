/* The inside of a query: workers that traverse, and the steps that share one out. */
#ifndef GRAZE_SRC_NARROW_QUERY_H
#define GRAZE_SRC_NARROW_QUERY_H

#include "base/extremes.h"
#include "exact/ccd.h"
#include "graze/engine.h"
#include "narrow/adjacent.h"
#include "narrow/along.h"
#include "narrow/apart.h"
#include "narrow/boxes.h"
#include "narrow/exact_sink.h"
#include "narrow/fans.h"

typedef struct node_pair {
  uint32_t a, b;
} node_pair;

/* Pairs of triangles of one mesh that no fan settles, waiting for their coordinates. */
enum { UNSETTLED = 64 };
typedef struct unsettled_pairs {
  uint32_t first[UNSETTLED], second[UNSETTLED];
  unsigned count;
} unsettled_pairs;

/* A pair of triangles that may be the nearest. */
typedef struct open_pair {
  double lower, upper; /* of its distance */
  uint32_t first, second;
  double place;  /* a NEAR_ number */
  boxes_gap gap; /* 0 where it is not known */
} open_pair;

/* gap_flush.c: a pair of triangles that is exactly as far apart as their boxes. */
typedef struct flush_pair {
  bool known;
  boxes_gap gap;
  uint32_t first, second;
} flush_pair;

/* gap_flush.c: where the triangles below a node begin and end on an axis, exactly, and the lowest of them. */
typedef struct node_reach {
  double low, high;
  uint64_t round; /* of another round: not known */
  uint32_t node, lowest;
} node_reach;
enum { NODE_REACHES = 256 };

/* A pair of nodes with the square of their least distance. */
typedef struct near_nodes {
  uint32_t a, b;
  float least2;
} near_nodes;

/* gap.h: what a search for near triangles knows. */
typedef struct gap_search {
  double most;         /* what is farther is of no interest: the limit, or the least upper bound so far */
  float most2;         /* its square in units of mesh a, rounded up */
  double error, share; /* that the answer may be off by */
  bool relaxed;        /* they count: something is known to be nearer than the limit */
  double slack;        /* T2: by how much the images' distance may differ from that of the rounded ones */
  bool meet;           /* two triangles that meet have been seen */
  bool directed;       /* about the direction in which the nearest so far are apart, of length 1 at most */
  double direction[3];
  bool lowest;      /* of pairs that are equally near none matters but the lowest, which is open */
  flush_pair flush; /* the lowest of the nearest of them so far; if `lowest` */
  float far2;    /* boxes whose squared distance is at least this are not opened; the least of such distances counts, */
  float passed2; /* in units of mesh a */
  buffer nodes;  /* pairs of nodes to open */
  size_t node_count;
  buffer open; /* open_pair */
  size_t open_count, sieve_at;
  node_reach reaches[2][NODE_REACHES]; /* on the axis of `flush`, of nodes by the low bits of their numbers */
  uint64_t round;                      /* the axis is another one in each */
} gap_search;

/* Everything that one thread needs. */
typedef struct worker {
  const graze_context *context;
  exact_sink sink;
  mesh_map map;
  boxes_function *boxes;
  adjacent_append_function *append;
  adjacent_judge_function *judge;
  fan_share_function *share;
  apart_function *apart;
  const corner_names *names; /* self.c: by node; NULL: no fans */
  adjacent_pairs adjacent;   /* self.c: candidates that may share corners */
  unsettled_pairs unsettled;
  buffer stack; /* node_pair */
  size_t depth;
  float size_b; /* size of b's nodes in units of mesh a */
  gap_search gap;
} worker;

struct graze_query {
  graze_context *context;
  worker **workers; /* made when first needed */
  uint32_t worker_capacity;
  buffer keys;  /* merged hits, then the public pairs in the same memory */
  buffer sort;  /* scratch for sorting */
  buffer codes; /* bytes: how the public pairs meet (tritri_batch.h), if */
  bool coded;
  buffer sweep;       /* sweep.c, listed.c */
  graze_query *rays;  /* relate.c; made when first needed, and with it: */
  graze_mesh *ray;    /* locate.c */
  graze_query *moved; /* escape.c; made when first needed */
  buffer met[2];      /* relate.c: bytes, of the parts of a and b */
  buffer facts[2];    /* relate.c: of triangles of a and b that meet */
  buffer outline[4];  /* outline.c */
  buffer fans;        /* fans.c */
  buffer corners[2];  /* corners.c: vertices of a and b */
  struct {
    const graze_mesh *a, *b;
    graze_triangle_pair pair;
  } nearest;             /* gap.c: of the last call */
  ccd_scratch *crossing; /* of the room motion; made when first needed */
};

/* One query, ready to run. */
typedef struct job {
  side a, b;
  mesh_map map;
  bool tree; /* both hierarchies can be used; else sweep */
  bool self;
  bool boxes_only; /* candidates are the answer (graze_collide_self_boxes) */
  bool near;       /* triangles nearer than `limit` are the answer */
  double limit, error, share;
  const corner_names *names; /* of `self`; NULL: no fans */
  graze_find find;
  graze_exactness exactness;
} job;

/* The worker with this number, made if need be; NULL: no memory. */
worker *gz_query_worker(graze_query *query, uint32_t number);

bool gz_worker_push(worker *w, uint32_t a, uint32_t b);

/* Of the pairs of triangles of two bottom nodes, those that no plane keeps apart; the others count as tested. */
static inline uint64_t worker_drop_apart(worker *w, const posed_node *a, const posed_node *b, uint64_t mask) {
  const double *slack = w->sink.slack;
  uint64_t open = w->apart(a, b, larger(larger(slack[0], slack[1]), slack[2]), mask);
  w->sink.work.triangle_tests += (uint64_t)__builtin_popcountll(mask & ~open);
  return open;
}

/* All cache lines of a node that will be opened soon. */
__attribute__((always_inline)) static inline void prefetch_node(const bvh_node *node) {
  for (size_t at = 0; at < sizeof *node; at += 64) __builtin_prefetch((const char *)node + at);
}

/* Whether the first of two nodes is entered, given the sizes of their units: the second is not much larger, or has no
 * children. */
static inline bool enters_first(const bvh_node *first, const bvh_node *second, float unit, float other_unit) {
  const float like = 0.4f;
  return !first->bottom && (second->bottom || first->size * unit >= like * (second->size * other_unit));
}

/* map.c: how b lies relative to a, and whether hierarchies can be used. */
void gz_job_map(job *j);

/* Open one pair of nodes: hits go to the worker's sink, pairs that stay open onto its stack.
 * traverse.c: of two meshes. */
void gz_traverse_open(worker *w, node_pair pair);
/* self.c: of one mesh; a pair (n, n) stands for everything inside node n. */
void gz_self_open(worker *w, node_pair pair);
/* self.c: the same, and triangles whose closed boxes meet are the answer. */
void gz_self_box_open(worker *w, node_pair pair);

/* self.c: tells waiting candidates apart and hands the sink what needs an exact test. */
void gz_self_flush(worker *w);

/* sweep.c: without hierarchies, by sorting boxes along x; for coordinates that floats cannot hold. */
graze_status gz_sweep_run(graze_query *query, const job *j, worker *w);

/* What a search for near triangles begins with. */
void gz_worker_start(worker *w, const job *j);

/* listed.c: where the posed triangles of two meshes meet, of which only those in the lists may. Not for tier T2.
 * O(product of the lists' lengths). Errors: MEMORY. */
graze_status gz_query_collide_listed(graze_query *query, const side *a, const side *b,
                                     const graze_cull_triangles *listed, graze_exactness exactness,
                                     graze_collide_result *result);

/* Runs a job, on many threads if it pays; *workers of the query have results. */
graze_status gz_query_run(graze_query *query, const job *j, uint32_t *workers);

/* All workers' hits, sorted. */
graze_status gz_query_gather(graze_query *query, uint32_t workers, const graze_triangle_pair **pairs);

/* How the pairs of the last list meet, at its tier, a code of tritri_batch.h each; NULL: not known. */
static inline const uint8_t *gz_query_codes(const graze_query *query) {
  return query->coded ? query->codes.data : NULL;
}

/* Runs one job on one worker, start to end. */
graze_status gz_query_run_single(graze_query *query, const job *j, worker *w);

#endif
