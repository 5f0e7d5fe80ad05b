/* Convex polytopes, as contacts need them: corners, faces, edges. A point and a segment have no faces. */
#ifndef GRAZE_SRC_RIGID_POLYTOPE_H
#define GRAZE_SRC_RIGID_POLYTOPE_H

#include <stdbool.h>
#include <stdint.h>

/* Of an edge: its corners, and the faces on its left and right. */
typedef struct polytope_edge {
  uint32_t corners[2], faces[2];
} polytope_edge;

typedef struct polytope {
  uint32_t corner_count, face_count, edge_count;
  double (*corners)[3];
  double (*planes)[4];          /* outward unit normal n and d: the inside has n.x <= d */
  const uint32_t *face_first;   /* face_count + 1: into `face_corners` */
  const uint32_t *face_corners; /* counter-clockwise from outside */
  const polytope_edge *edges;
} polytope;

/* A corner of a contact patch in the making: on which side of which face it was clipped, or of which corner it is. */
typedef struct patch_point {
  double at[3];
  double gap;
  uint32_t feature;
  uint32_t owner; /* 0: a corner of the first, that lies on a face of the second; 1: the other way */
} patch_point;

enum { MOST_PATCH = 64 };

/* The direction in which two polytopes overlap least or are farthest apart: across a face of the first or the second,
 * or across an edge of each. */
typedef enum polytope_axis_kind { AXIS_NONE, AXIS_FIRST, AXIS_SECOND, AXIS_EDGES } polytope_axis_kind;

typedef struct polytope_axis {
  polytope_axis_kind kind;
  uint32_t first, second; /* a face, or edges */
  double out;             /* how far apart they are along it */
  double normal[3];       /* of EDGES: from a to b */
} polytope_axis;

/* Two polytopes with faces: the axis between them, and where they touch. `b` is at `rotation` (row-major) and `place`
 * in a's coordinates, and so are the results; the normal is from b to a, and points lie in the middle between both. An
 * axis whose kind is not NONE is taken as it is; else it is found. Returns how many points have a gap of at most
 * `margin`.
 *
 * The separating axis theorem with Gauss maps for edges (D. Gregorius, "The separating axis test between convex
 * polyhedra", GDC 2013), then clipping of the face most against the reference face (Sutherland and Hodgman 1974). */
uint32_t gz_polytope_collide(const polytope *a, const polytope *b, const double rotation[9], const double place[3],
                             double margin, polytope_axis *axis, double normal[3], patch_point points[MOST_PATCH]);

/* The face on whose outer side the point is farthest, and how far. */
uint32_t gz_polytope_find_face(const polytope *p, const double point[3], double *out);

/* The nearest point of the polytope to one outside. */
void gz_polytope_nearest(const polytope *p, const double point[3], double nearest[3]);

/* Clips a segment by the planes at the edges of a face, which stand upright on it. False: nothing is left. */
bool gz_polytope_clip_segment(const polytope *p, uint32_t face, double ends[2][3]);

#endif
