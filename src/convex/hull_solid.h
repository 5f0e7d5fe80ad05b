/* Triangles of a hull that grows: between hull_solid.c, which makes them, and hull_merge.c, which joins them. */
#ifndef GRAZE_SRC_CONVEX_HULL_SOLID_H
#define GRAZE_SRC_CONVEX_HULL_SOLID_H

#include "convex/hull.h"

typedef struct hull_triangle {
  uint32_t v[3];        /* counterclockwise seen from outside; v[0] == HULL_GONE: no longer there */
  uint32_t next[3];     /* the triangle across v[i], v[i + 1] */
  double normal[3];     /* (v1 - v0) x (v2 - v0) in doubles */
  double slack;         /* what the product of it and a point - v0 may be off; infinite: doubles tell nothing */
  uint32_t first, last; /* list of points that see it, in rising order; HULL_GONE: none */
  uint32_t farthest;    /* of those, by the product */
  double height;        /* its product */
  uint32_t mark;        /* of the point that asked last, and what it saw */
} hull_triangle;

#define HULL_GONE UINT32_MAX

/* Sign of the side of the triangle on which the point lies, 1: outside. *product: the product in doubles. */
int gz_hull_side(const hull_cloud *cloud, const hull_triangle *t, uint32_t point, double *product);

/* Which of its edges a triangle shares with another: there is only one, as no vertex has fewer than three edges. */
static inline int hull_edge_to(const hull_triangle *t, uint32_t other) {
  return t->next[0] == other ? 0 : t->next[1] == other ? 1 : 2;
}

/* Joins triangles of one plane to faces and leaves out what is not a corner. False: memory was refused. */
bool gz_hull_merge(const hull_cloud *cloud, const hull_triangle *triangles, uint32_t count, hull_faces *faces);

#endif
