/* Surfaces of bodies, as contacts of meshes need them: corners, edges and triangles, and which of them stand out. */
#ifndef GRAZE_SRC_RIGID_SURFACE_H
#define GRAZE_SRC_RIGID_SURFACE_H

#include "graze/mesh.h"

#define NO_FACE UINT32_MAX

/* How the two triangles at an edge meet. RIDGE: the solid is on the inside of the bend, as at the edges of a box; the
 * rim of an open mesh is one, too. VALLEY: it is on the outside. FLAT: there is no bend, or more than two triangles
 * meet, or they face different ways. */
typedef enum surface_bend { BEND_FLAT, BEND_RIDGE, BEND_VALLEY } surface_bend;

typedef struct surface_edge {
  uint32_t corners[2];
  uint32_t faces[2]; /* on the left, seen from outside, and on the right; the latter may be NO_FACE */
  surface_bend bend;
} surface_edge;

/* Each corner, and each edge that is a ridge, belongs to one of its triangles, so that pairs of triangles name pairs of
 * features once. Corners within a flat face or along a straight edge belong to none: they add nothing to these. */
typedef struct surface_face {
  uint32_t corners[3];
  uint32_t edges[3]; /* from corner i to the next */
  uint8_t own;       /* bits 0 to 2: corners; 3 to 5: edges */
  bool is_flat;      /* it has no area, and no normal */
  uint32_t region;   /* the lowest of the faces that it makes one flat face with */
  double normal[3];
} surface_face;

typedef struct rigid_surface {
  const graze_mesh *mesh; /* triangles are numbered as there */
  graze_mesh *own;        /* the same, if it was made for the surface alone; else NULL */
  double center[3];       /* what is the origin here, in the mesh's coordinates */
  uint32_t corner_count, edge_count, face_count;
  double (*corners)[3]; /* no two are at one place */
  surface_edge *edges;
  surface_face *faces;
  uint32_t *star_first; /* corner_count + 1: into `stars`, */
  double (*stars)[3];   /* unit vectors along the edges that leave the corner */
  uint32_t *face_of;    /* of each corner: one with an area, or NO_FACE */
  bool *stands_out;     /* of each corner: it is not within a flat face or along a straight edge */
  double thickness;     /* of a closed one: volume over area; else infinite */
  double reach;         /* of the farthest corner */
} rigid_surface;

/* Of a mesh that outlives the surface, about a point. Closed and oriented meshes have a thickness. NULL: memory
 * refused. O(n log n). */
rigid_surface *gz_surface_create(const graze_context *context, const graze_mesh *mesh, const double center[3]);

/* Takes a mesh that was made for it, whatever comes back. */
rigid_surface *gz_surface_adopt(const graze_context *context, graze_mesh *mesh);
void gz_surface_destroy(rigid_surface *surface);

/* Whether the surface lies on one side of a plane through the corner, or the edge, across the unit vector `way`, along
 * which the solid may lie: that is, whether the feature can touch something that pushes it along `way`. */
bool gz_surface_corner_faces(const rigid_surface *s, uint32_t corner, const double way[3]);
bool gz_surface_edge_faces(const rigid_surface *s, uint32_t edge, const double way[3]);

#endif
