/* graze/broadphase.h: finds which of many moving boxes meet.
 *
 * A proxy is a closed axis-aligned box with a 64-bit user id and a layer. Proxies are added, moved and removed, one or
 * many at a time; an update then reports which pairs of boxes began to meet, which persist and which ended. Pairs are
 * exact for the caller's doubles, and boxes that share a single point meet: where a method stores floats, it rounds
 * them outward and tests the doubles last. The same edits give the same arrays with every method and any number of
 * threads.
 *
 * A pair names its proxies by the index of their ids, the lower one first; lists of pairs are sorted by (a, b).
 */
#ifndef GRAZE_BROADPHASE_H
#define GRAZE_BROADPHASE_H

#include "graze/base.h"
#include "graze/math.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum graze_broad_method {
  GRAZE_BROAD_AUTO = 0,    /* picks a method, and another one when measured costs say so */
  GRAZE_BROAD_BRUTE,       /* every pair, SIMD */
  GRAZE_BROAD_SWEEP,       /* sort and sweep along the best axis, from scratch each time */
  GRAZE_BROAD_SAP,         /* incremental sweep and prune on three axes */
  GRAZE_BROAD_GRID,        /* uniform grid */
  GRAZE_BROAD_HGRID,       /* hierarchical grid */
  GRAZE_BROAD_HASH,        /* spatial hash */
  GRAZE_BROAD_TREE,        /* dynamic tree of boxes */
  GRAZE_BROAD_BVH,         /* bounding volume hierarchy, rebuilt each time */
  GRAZE_BROAD_OCTREE,      /* loose octree */
  GRAZE_BROAD_KDTREE,      /* kd-tree */
  GRAZE_BROAD_BSP,         /* binary space partition */
  GRAZE_BROAD_SUBDIVISION, /* home and phantom cells with control bits */
  GRAZE_BROAD_VERLET,      /* list of near pairs, kept while boxes move little */
  GRAZE_BROAD_METHODS      /* their number */
} graze_broad_method;

typedef struct graze_broad_method_info {
  const char *name;       /* as on the command line: "grid" */
  const char *summary;    /* one line */
  const char *complexity; /* of an update of n boxes with k pairs */
  bool incremental;       /* the cost of an update depends on the edits, not on the number of proxies */
} graze_broad_method_info;

/* Static. NULL if there is no such method. */
GRAZE_API const graze_broad_method_info *graze_broad_method_describe(graze_broad_method method);

/* False if no method has this name. */
GRAZE_API bool graze_broad_method_named(const char *name, graze_broad_method *method);

/* How incremental sweep and prune keeps its pairs. */
typedef enum graze_pair_manager {
  GRAZE_PAIRS_HASH = 0, /* open addressing; default */
  GRAZE_PAIRS_SORTED,   /* a sorted list for each box */
  GRAZE_PAIRS_MATRIX    /* one bit per pair, n (n - 1) / 2 bits: for a few thousand boxes */
} graze_pair_manager;

typedef struct graze_broadphase graze_broadphase;

typedef struct graze_broadphase_def {
  graze_broad_method method;  /* default AUTO */
  graze_pair_manager manager; /* of SAP */
  uint32_t cookie;
} graze_broadphase_def;

GRAZE_API graze_broadphase_def graze_default_broadphase_def(void);

/* `def` may be NULL for the defaults. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_broadphase_create(graze_context *context, const graze_broadphase_def *def,
                                               graze_broadphase **broadphase);
GRAZE_API void graze_broadphase_destroy(graze_broadphase *broadphase);

/* ---- proxies --------------------------------------------------------------------------------------------------- */

enum { GRAZE_BROAD_LAYERS = 64 };

typedef struct graze_proxy_id { /* generation 0 never names a proxy */
  uint32_t index;               /* small: below the largest number of proxies at any one update so far */
  uint32_t generation;
} graze_proxy_id;

/* Boxes in the caller's memory: six numbers each, min x y z and then max x y z. */
typedef struct graze_box_array {
  const void *data; /* first number of box 0 */
  size_t stride;    /* bytes from box to box; 0 = 6 numbers */
  graze_precision precision;
} graze_box_array;

/* Adds `count` proxies, all or none. `user_ids` NULL: 0, 1, .. in this call; `layers` (each below GRAZE_BROAD_LAYERS)
 * NULL: layer 0; `proxies` receives the ids and may be NULL. Errors: ARGUMENT (a box with min > max, a layer too high),
 * NOT_FINITE (the message names box and axis), LIMIT, MEMORY. */
GRAZE_API graze_status graze_broadphase_add(graze_broadphase *broadphase, const graze_box_array *boxes, uint32_t count,
                                            const uint64_t *user_ids, const uint8_t *layers, graze_proxy_id *proxies);

/* Gives `count` proxies new boxes, all or none; if a proxy is listed twice, the last box counts. Errors: as for adding,
 * and HANDLE (the message has the index in `proxies`). */
GRAZE_API graze_status graze_broadphase_move(graze_broadphase *broadphase, const graze_proxy_id *proxies,
                                             const graze_box_array *boxes, uint32_t count);

/* Gives every proxy a new box: box i to the proxy whose index is i. Requires that no index is free, that is, that
 * `count` equals both graze_broadphase_count() and graze_broadphase_index_end(). */
GRAZE_API graze_status graze_broadphase_move_all(graze_broadphase *broadphase, const graze_box_array *boxes,
                                                 uint32_t count);

/* Their indices are not reused before the next update. */
GRAZE_API graze_status graze_broadphase_remove(graze_broadphase *broadphase, const graze_proxy_id *proxies,
                                               uint32_t count);

GRAZE_API uint32_t graze_broadphase_count(const graze_broadphase *broadphase);

/* All indices are below this number. */
GRAZE_API uint32_t graze_broadphase_index_end(const graze_broadphase *broadphase);

/* The user id of the proxy with this index, including one removed since the last update; 0 for a free index. */
GRAZE_API uint64_t graze_broadphase_user_id(const graze_broadphase *broadphase, uint32_t index);

/* Whether proxies of the two layers are tested against each other (default: all are). Pairs of layers that are not are
 * culled first; a layer that is tested against none, not even itself, costs nothing. Takes effect at the next update,
 * also for pairs that already meet. Errors: ARGUMENT. */
GRAZE_API graze_status graze_broadphase_set_layers_meet(graze_broadphase *broadphase, uint32_t first, uint32_t second,
                                                        bool meet);

/* ---- pairs ----------------------------------------------------------------------------------------------------- */

typedef struct graze_box_pair {
  uint32_t a; /* a < b */
  uint32_t b;
} graze_box_pair;

typedef struct graze_broad_events {
  const graze_box_pair *began; /* meet now but did not at the last update */
  uint64_t began_count;
  const graze_box_pair *persist; /* met at the last update and still do */
  uint64_t persist_count;
  const graze_box_pair *ended; /* no longer meet, or a proxy was removed */
  uint64_t ended_count;
} graze_broad_events;

/* Brings the pairs up to date with the edits since the last update. The arrays are owned by the broad phase and valid
 * until its next update. On an error, the pairs remain those of the last update and the edits remain pending. Errors:
 * MEMORY, LIMIT. */
GRAZE_API graze_status graze_broadphase_update(graze_broadphase *broadphase, graze_broad_events *events);

/* The pairs of the last update: began and persist in one sorted list. Valid until the next update. */
GRAZE_API graze_status graze_broadphase_pairs(graze_broadphase *broadphase, const graze_box_pair **pairs,
                                              uint64_t *count);

/* The pairs among boxes that are not added, found from scratch: a and b are indices into `boxes`. Proxies and events
 * are not affected. `unsorted` leaves the pairs in the order in which the method finds them; this saves time, but the
 * order depends on the method and the number of threads. The array is valid until the next call that returns pairs,
 * updates included. Errors: as for adding. */
GRAZE_API graze_status graze_broadphase_find(graze_broadphase *broadphase, const graze_box_array *boxes, uint32_t count,
                                             bool unsorted, const graze_box_pair **pairs, uint64_t *pair_count);

/* Spheres in the caller's memory. */
typedef struct graze_sphere_array {
  const void *centers;  /* x, y, z of sphere 0 */
  const void *radii;    /* of sphere 0; at least 0 */
  size_t center_stride; /* bytes; 0 = 3 numbers */
  size_t radius_stride; /* bytes; 0 = 1 number */
  graze_precision precision;
} graze_sphere_array;

/* As graze_broadphase_find, for closed spheres: two meet when the distance between their centres is at most the sum of
 * their radii, which is decided exactly. Errors: as for boxes, and ARGUMENT for a negative radius. */
GRAZE_API graze_status graze_broadphase_find_spheres(graze_broadphase *broadphase, const graze_sphere_array *spheres,
                                                     uint32_t count, bool unsorted, const graze_box_pair **pairs,
                                                     uint64_t *pair_count);

/* Counts the pairs of spheres that meet and sums their graze_pair_hash. An engine (graze/engine.h) may do so without a
 * list of pairs, which can take gigabytes; the CPU makes the list. Errors: the same. */
GRAZE_API graze_status graze_broadphase_count_spheres(graze_broadphase *broadphase, const graze_sphere_array *spheres,
                                                      uint32_t count, uint64_t *pair_count, uint64_t *hash);

/* ---- queries: of the proxies as they are now, pending edits included ------------------------------------------- */

/* Bit i of `layers` selects the proxies of layer i. A list is valid until the next query of the same kind. */

/* Proxies whose boxes meet `box`, in ascending order. */
GRAZE_API graze_status graze_broadphase_query_box(graze_broadphase *broadphase, const graze_box *box, uint64_t layers,
                                                  const uint32_t **indices, uint32_t *count);

/* Proxies whose boxes contain the point, in ascending order. */
GRAZE_API graze_status graze_broadphase_query_point(graze_broadphase *broadphase, const double point[3],
                                                    uint64_t layers, const uint32_t **indices, uint32_t *count);

typedef struct graze_ray_hit {
  double enter; /* parameter at which the ray enters the box, within 2^-52 of itself; 0 when it starts inside */
  uint32_t index;
} graze_ray_hit;

/* Proxies whose boxes contain origin + t direction for some t in [0, length], which is decided exactly. Sorted by
 * (enter, index). A zero direction queries the point. `length` may be infinite. Errors: NOT_FINITE, ARGUMENT (a
 * negative length). */
GRAZE_API graze_status graze_broadphase_query_ray(graze_broadphase *broadphase, const double origin[3],
                                                  const double direction[3], double length, uint64_t layers,
                                                  const graze_ray_hit **hits, uint32_t *count);

typedef struct graze_near {
  double distance; /* from the point to the box, within four units of the last place; 0 inside */
  uint32_t index;
} graze_near;

/* The `wanted` proxies nearest to the point, or all if there are fewer, sorted by (distance, index). Rounded distances
 * are compared; ties go to the lower index. */
GRAZE_API graze_status graze_broadphase_query_nearest(graze_broadphase *broadphase, const double point[3],
                                                      uint32_t wanted, uint64_t layers, const graze_near **found,
                                                      uint32_t *count);

/* ---- statistics ------------------------------------------------------------------------------------------------ */

typedef struct graze_broad_report {
  graze_broad_method method; /* at the last update or find; never AUTO */
  bool by_engine;            /* the engine of the context found the pairs (graze/engine.h) */
  char reason[256]; /* one line: why AUTO chose it, otherwise "asked for"; by_engine: why the engine did not use
                       the requested method, or "" */
  uint64_t bytes;   /* held by proxies, pairs and the method's own structures */
  double seconds;   /* of the last update or find */
} graze_broad_report;

GRAZE_API graze_broad_report graze_broadphase_report(const graze_broadphase *broadphase);

#ifdef __cplusplus
}
#endif
#endif
