/* The inside of graze_find_moved_corners. */
#ifndef GRAZE_SRC_NARROW_CORNERS_H
#define GRAZE_SRC_NARROW_CORNERS_H

#include "narrow/depth.h"

/* One of the two meshes, and its vertices as they are moved. */
typedef struct corner_side {
  const side *place;
  graze_rounding rounding;
  double (*at)[3];   /* posed and moved */
  double (*move)[3]; /* in the mesh's own coordinates; of the first vertex at a position */
  uint32_t *first;   /* of a vertex: the first one at its position, with which it moves */
  int8_t facing;     /* 1: its triangles face outwards; -1: inwards; 0: not known */
} corner_side;

/* Four corners whose tetrahedron is not to be turned inside out: three of a triangle and one that is to be in front of
 * it, or two edges that are to pass each other on their sides. */
typedef struct corner_push {
  uint32_t vertex[4];
  uint8_t side[4];
  bool edges; /* two and two of them */
} corner_push;

/* What parts two triangles. */
typedef struct corner_parting {
  corner_push pushes[3];
  uint32_t count;
  double need; /* how much it takes of what the corners can move; 0: nothing; above 1: more than there is */
} corner_parting;

/* Sets `at` of a vertex that is the first at its position. */
void gz_corner_place(const corner_side *s, uint32_t vertex);

/* What parts the two triangles with the least moves: one of their planes, or else one through an edge of each. What
 * they are no deeper in each other than `ignored` is left out; below 0: nothing. `at` may be NULL. */
corner_parting gz_corners_part(const corner_side sides[2], uint32_t a, uint32_t b, double ignored);

/* Moves corners until all pushes are satisfied with `slack` to spare, or nothing more is gained. */
void gz_corners_push(const corner_side sides[2], const corner_push *pushes, uint64_t count, double slack);

/* The whole of graze_find_moved_corners for two that cross, in these pairs, which may be the query's own. */
graze_status gz_query_move_corners(graze_query *query, const side *a, const side *b,
                                   const graze_relate_options *options, const graze_triangle_pair *pairs,
                                   uint64_t count, const graze_rounding roundings[2], graze_moved_corners *out);

#endif
