/* The inside of a query: workers that traverse, and the steps that share one out. */
#ifndef GRAZE_SRC_NARROW_QUERY_H
#define GRAZE_SRC_NARROW_QUERY_H

#include "narrow/adjacent.h"
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

/* Everything that one thread needs. */
typedef struct worker {
  const graze_context *context;
  exact_sink sink;
  mesh_map map;
  boxes_function *boxes;
  adjacent_append_function *append;
  adjacent_judge_function *judge;
  fan_share_function *share;
  const corner_names *names; /* self.c: by node; NULL: no fans */
  adjacent_pairs adjacent;   /* self.c: candidates that may share corners */
  unsettled_pairs unsettled;
  buffer stack; /* node_pair */
  size_t depth;
  float size_b; /* size of b's nodes in units of mesh a */
} worker;

struct graze_query {
  graze_context *context;
  worker **workers; /* made when first needed */
  uint32_t worker_capacity;
  buffer keys;        /* merged hits, then the public pairs in the same memory */
  buffer sort;        /* scratch for sorting */
  buffer sweep;       /* sweep.c */
  graze_query *rays;  /* relate.c; made when first needed, and with it: */
  graze_mesh *ray;    /* locate.c */
  graze_query *moved; /* escape.c; made when first needed */
  buffer met[2];      /* relate.c: bytes, of the parts of a and b */
  buffer outline[4];  /* outline.c */
  buffer fans;        /* fans.c */
};

/* One query, ready to run. */
typedef struct job {
  side a, b;
  mesh_map map;
  bool tree; /* both hierarchies can be used; else sweep */
  bool self;
  bool boxes_only;           /* candidates are the answer (graze_collide_self_boxes) */
  const corner_names *names; /* of `self`; NULL: no fans */
  graze_find find;
  graze_exactness exactness;
} job;

/* The worker with this number, made if need be; NULL: no memory. */
worker *gz_query_worker(graze_query *query, uint32_t number);

bool gz_worker_push(worker *w, uint32_t a, uint32_t b);

/* All cache lines of a node that will be opened soon. */
__attribute__((always_inline)) static inline void prefetch_node(const bvh_node *node) {
  for (size_t at = 0; at < sizeof *node; at += 64) __builtin_prefetch((const char *)node + at);
}

static inline void work_add(graze_work *sum, const graze_work *w) {
  sum->node_pairs += w->node_pairs;
  sum->triangle_tests += w->triangle_tests;
  sum->exact_tests += w->exact_tests;
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

/* Runs one job on one worker, start to end. */
graze_status gz_query_run_single(graze_query *query, const job *j, worker *w);

#endif
