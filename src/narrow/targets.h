/* Meshes where they stand, and the search for the triangles that a straight line may meet. */
#ifndef GRAZE_SRC_NARROW_TARGETS_H
#define GRAZE_SRC_NARROW_TARGETS_H

#include "exact/pierce.h"
#include "graze/rays.h"
#include "narrow/exact_sink.h"
#include "narrow/point_boxes.h"

/* The nodes are a hierarchy over the objects' boxes in the world: children of bottom nodes are objects, and the root is
 * the last one. Without nodes every object is searched. */
struct graze_targets {
  const graze_context *context;
  uint32_t count;
  side *sides;
  double magnitude; /* no posed coordinate is larger */
  graze_box box;    /* of all */
  bvh_node *nodes;
  uint32_t node_count;
};

/* Targets for lines whose coordinates are bounded: how the world becomes coordinates of each mesh. */
typedef struct target_view {
  const graze_targets *targets;
  segment_boxes_function *meets;
  mesh_map world; /* for the nodes above the meshes */
  bool tree;      /* these can be used */
  mesh_map *maps;
  bool *trees;
} target_view;

/* A triangle that the line may meet, by its posed corners. What comes back is the parameter behind which nothing is of
 * interest any more. */
typedef double target_visit(void *user, uint32_t object, uint32_t triangle, const double corners[9]);

enum { TARGET_STACK = 2048, TARGET_LEVELS = 96 };
typedef struct target_search {
  const target_view *view;
  uint32_t worker;
  double from[3], unit[3]; /* the way, as long as its largest coordinate is 1, and */
  double scale;            /* how long it was */
  double most, end;        /* the last parameter of interest, and how long the way to it is */
  double radius;
  bool ordered; /* what is likely to be met first is visited first */
  target_visit *visit;
  void *user;
  uint32_t object;
  uint32_t above[TARGET_LEVELS], stack[TARGET_STACK];
} target_search;

/* Visits each triangle that a ball of the radius may meet on its way from + t way, t of [0, most], and perhaps others;
 * `visit`, `user`, and `ordered` are set. Coordinates are within the view's bound. */
void gz_targets_search(target_search *s, const double from[3], const double way[3], double most, double radius);

/* Calls body(user, search, i) for all i < count on the context's threads, with a search for lines whose beginnings and,
 * if they end, ends have coordinates of at most `magnitude`; in the order of their places, three doubles each: ends,
 * or beginnings where ends are NULL. */
typedef void target_body(void *user, target_search *search, uint32_t line);
graze_status gz_targets_run(const graze_context *context, const graze_targets *targets, double magnitude,
                            const double *beginnings, const double *ends, uint32_t count, target_body *body,
                            void *user);

/* rays.c: the first triangle that the line meets, for a search that is ready otherwise. */
graze_target_hit gz_targets_first(target_search *search, const pierce_line *line);

/* By parameter, object, triangle. */
bool gz_target_before(const graze_target_hit *a, const graze_target_hit *b);

static inline graze_target_hit target_missed(void) {
  return (graze_target_hit){0, 0, GRAZE_NO_TARGET, GRAZE_NO_TARGET};
}

#endif
