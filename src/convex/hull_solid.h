/* Triangles of a hull that grows: between hull_solid.c, which makes them, and hull_merge.c, which joins them. */
#ifndef GRAZE_SRC_CONVEX_HULL_SOLID_H
#define GRAZE_SRC_CONVEX_HULL_SOLID_H

#include "convex/growing.h"
#include "convex/hull.h"

typedef struct hull_triangle {
  surface_triangle at;
  double normal[3];     /* (v1 - v0) x (v2 - v0) in doubles */
  double slack;         /* what the product of it and a point - v0 may be off; infinite: doubles tell nothing */
  uint32_t first, last; /* list of points that see it, in rising order; SURFACE_GONE: none */
  uint32_t farthest;    /* of those, by the product */
  uint32_t count;       /* how many there are */
  double height;        /* its product */
} hull_triangle;

/* Sign of the side of the triangle on which the point lies, 1: outside. *product: the product in doubles. */
int gz_hull_side(const hull_cloud *cloud, const hull_triangle *t, uint32_t point, double *product);

/* Joins triangles of one plane to faces and leaves out what is not a corner. False: memory was refused. */
bool gz_hull_merge(const hull_cloud *cloud, const hull_triangle *triangles, uint32_t count, hull_faces *faces);

#endif
