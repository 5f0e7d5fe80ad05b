/* Fitting a unit: a subtree small enough that its triangles stay in the first cache. */
#ifndef GRAZE_SRC_MESH_FIT_H
#define GRAZE_SRC_MESH_FIT_H

#include "base/simd.h"
#include "mesh/mesh.h"

enum {
  UNIT_TRIANGLES = 512,           /* a unit has at most this many */
  UNIT_SLOTS = 8 * UNIT_TRIANGLES /* bottom nodes take eight slots each, however few triangles they hold */
};

/* The triangles of a bottom node as structure of arrays, relative to the unit's origin; a node with fewer than eight
 * repeats its first. corner[3 * c + k][slot]: coordinate k of corner c. */
typedef struct fit_eight {
  _Alignas(32) float corner[9][NODE_WIDTH];
  _Alignas(32) float area[3][NODE_WIDTH]; /* cross product of the edges; zero for repeated triangles */
} fit_eight;

/* The triangles of a unit, bottom nodes in depth-first order: slot s is place s % 8 of the node s / 8. A small mesh
 * touches no more memory than it has triangles for. */
typedef struct fit_unit {
  fit_eight eight[UNIT_SLOTS / NODE_WIDTH];
  float origin[3];
  uint32_t slots;
  bool aligned; /* no fitted frames */
} fit_unit;

/* A box in a node's frame; the fourth components mean nothing. */
typedef struct frame_box {
  v4 low, high;
} frame_box;

/* Slots of one node. */
typedef struct slot_range {
  uint32_t first, end;
  frame_box box; /* around them, in the frame of the node */
} slot_range;

/* Frame and child boxes of one node, from the slots of its children (bottom: its eight slots); sets the range's box. In
 * an aligned unit all nodes have one frame, and the boxes of the children are taken as they are. */
typedef void fit_node_function(const fit_unit *unit, bvh_node *node, slot_range *range, const slot_range *children);
fit_node_function gz_fit_node_scalar, gz_fit_node_avx2;

/* Area vectors of all slots: for fitted frames. */
typedef void fit_areas_function(fit_unit *unit);
fit_areas_function gz_fit_areas_scalar, gz_fit_areas_avx2;

#endif
