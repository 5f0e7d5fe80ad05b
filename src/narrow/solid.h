/* What a mesh encloses: its parts, and on which side of each the material lies. */
#ifndef GRAZE_SRC_NARROW_SOLID_H
#define GRAZE_SRC_NARROW_SOLID_H

#include <stdatomic.h>

#include "graze/relate.h"
#include "narrow/query.h"

/* Side of the material relative to the triangles' normals (counterclockwise corners seen from their tips). */
typedef enum material { MATERIAL_BEHIND = -1, MATERIAL_BOTH = 0, MATERIAL_IN_FRONT = 1 } material;

/* How a mesh meets itself. Of a union every part is simple, and all are turned the same way: what lies behind any
 * triangle is material, but what lies in front of one may be material of another part. */
typedef enum simplicity { SIMPLE_NOT_KNOWN, SIMPLE_YES, SIMPLE_UNION, SIMPLE_NO } simplicity;

/* A part: triangles connected through edges of exactly two triangles. Zero-area triangles belong to none. */
typedef struct solid_part {
  uint32_t begin, end; /* its triangles are listed[begin .. end - 1], the lowest first */
  int turn;            /* sign of its volume, of closed meshes */
  material side;       /* of closed meshes */
} solid_part;

#define NO_PART UINT32_MAX

typedef struct solid {
  bool closed; /* a solid; else a surface */
  graze_doubt fault;
  double fault_point[3]; /* in mesh coordinates */
  uint32_t part_count;
  solid_part *parts;
  uint32_t *part_of; /* of each triangle, or NO_PART */
  uint32_t *listed;  /* triangles by part */
  uint32_t triangle_count;
  _Atomic uint32_t tangled; /* a triangle that meets others of the mesh, once it is known not to be simple */
  _Atomic int simple;       /* simplicity, found out when it is asked for */
} solid;

/* O(triangles), and a ray for each part when there are several. `rays` is used up. */
graze_status solid_create(graze_query *rays, const graze_mesh *mesh, solid **made);
void solid_destroy(const graze_context *context, solid *s);

/* Whether the mesh is free of self-intersections, at the price of a query of the mesh against itself the first time. */
graze_status solid_simplicity(graze_query *rays, const graze_mesh *mesh, solid *s, simplicity *out);

/* The middle of an edge of the triangle. */
void solid_edge_middle(const graze_mesh *mesh, uint32_t triangle, int edge, double out[3]);

#endif
