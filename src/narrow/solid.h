/* What a mesh encloses: its parts, which of them bound material, and on which side of each that lies. */
#ifndef GRAZE_SRC_NARROW_SOLID_H
#define GRAZE_SRC_NARROW_SOLID_H

#include <stdatomic.h>

#include "graze/relate.h"
#include "narrow/query.h"

/* Side of the material relative to the triangles' normals (counterclockwise corners seen from their tips). */
typedef enum material { MATERIAL_BEHIND = -1, MATERIAL_BOTH = 0, MATERIAL_IN_FRONT = 1 } material;

/* How the closed parts of a mesh meet. SIMPLE_PARTS: each is simple by itself, but they meet each other. Of a union all
 * are turned the same way besides: what lies behind any triangle is material, but what lies in front of one may be
 * material of another part. */
typedef enum simplicity { SIMPLE_NOT_KNOWN, SIMPLE_YES, SIMPLE_UNION, SIMPLE_PARTS, SIMPLE_NO } simplicity;

/* Side `edge` of a triangle. */
typedef struct edge_place {
  uint32_t triangle;
  uint32_t edge;
} edge_place;

/* A part: triangles connected through edges of exactly two triangles. Zero-area triangles belong to none. It is closed,
 * alone or together with others that share its edges of three or more triangles, when at each edge as many of its
 * triangles run one way as the other; or, by parity, when their number is even. */
typedef struct solid_part {
  uint32_t begin, end; /* its triangles are listed[begin .. end - 1], the lowest first */
  graze_doubt fault;   /* why it is not closed; NONE: it bounds material */
  edge_place fault_at;
  bool turned_over; /* its triangles do not all face one way */
  bool parity;      /* of closed parts: around them counts odd or even only, as their triangles face either way */
  uint8_t walls;    /* of those: the group that they are closed in, below 64; later ones share the last number */
  bool in_open_box; /* closed, but within the box around the open parts: it may be a cavity of what those bound */
  int turn;         /* sign of its volume, of parts closed by themselves */
  material side;    /* of closed parts; of others as their triangles face */
} solid_part;

#define NO_PART UINT32_MAX

/* A side of a triangle at an edge of three or more triangles. A closed part has two triangles there that continue each
 * other, whatever else meets them. */
typedef struct nonmanifold_edge {
  edge_place at;
  uint32_t other; /* the triangle of the same part that goes on there, or NO_TRIANGLE */
  bool unclear;   /* triangles of several parts, or too many of one, may go on here */
} nonmanifold_edge;

typedef struct solid {
  mesh_kept kept;
  uint32_t closed_count; /* of parts; those in the open box too */
  uint32_t part_count;
  uint32_t first_fault; /* a part that is not closed, the first; NO_PART: there is none */
  double open_min[3];   /* the box around the parts that are not closed, in mesh coordinates */
  double open_max[3];
  solid_part *parts;
  uint32_t *part_of; /* of each triangle, or NO_PART */
  uint32_t *listed;  /* triangles by part */
  uint32_t triangle_count;
  nonmanifold_edge *nonmanifold; /* by place */
  uint32_t nonmanifold_count, nonmanifold_room;
  uint32_t shared_edge;     /* a triangle with an edge where closed parts meet, or NO_TRIANGLE */
  bool entangled;           /* parts that are closed only together or by parity, or of no volume: never simple */
  bool two_readings;        /* what is closed by parity is not all: walls may add up, or cancel */
  bool one_way;             /* all closed parts have the same turn: nothing cancels */
  _Atomic uint32_t tangled; /* a triangle that meets others of the mesh, once it is known not to be simple */
  _Atomic int simple;       /* simplicity, found out when it is asked for */
} solid;

/* Whether a part bounds material. `strict`: not when it may be a cavity of an open part. */
static inline bool part_bounds(const solid_part *part, bool strict) {
  return part->fault == GRAZE_DOUBT_NONE && !(strict && part->in_open_box);
}

/* O(triangles), O(n log n) in edges of one or of many triangles where there are some of many, and a ray for each part
 * when there are several. `rays` is used up. */
graze_status gz_solid_create(graze_query *rays, const graze_mesh *mesh, solid **made);

/* The same without sides and turns, and without rays. */
graze_status gz_solid_create_parts(const graze_context *context, const graze_mesh *mesh, solid **made);
void gz_solid_destroy(const graze_context *context, solid *s);

/* For calls that make the solids of meshes on their own: the one that an earlier call has left with the mesh, or NULL;
 * and leaves it there, if it was made by this context, which is the mesh's, and there is none; else destroys it. */
solid *gz_solid_kept(const graze_mesh *mesh);
void gz_solid_keep(const graze_context *context, const graze_mesh *mesh, solid *s);

/* part_edges.c: faults of parts at their edges, and edges of three or more triangles. */
graze_status gz_solid_examine_edges(const graze_context *context, const graze_mesh *mesh, solid *s);

/* part_edges.c: the triangle across an edge in the same part, or NO_TRIANGLE; *unclear: others may go on there. */
uint32_t gz_solid_across(const graze_mesh *mesh, const solid *s, edge_place at, bool *unclear);

/* Whether the closed parts are free of intersections, at the price of a query of the mesh against itself the first
 * time. */
graze_status gz_solid_simplicity(graze_query *rays, const graze_mesh *mesh, solid *s, simplicity *out);

#endif
