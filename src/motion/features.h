/* The vertices, edges and triangles of a mesh that moves, each with one triangle that stands for it.
 *
 * Two features can meet only where their triangles' swept boxes do. Every vertex and every edge belongs to one of the
 * triangles that have it, so that a search over pairs of triangles comes to each pair of features once (the
 * representative triangles of S. Curtis, R. Tamstorf, D. Manocha, "Fast collision detection for deformable models using
 * representative-triangles", 2008).
 */
#ifndef GRAZE_SRC_MOTION_FEATURES_H
#define GRAZE_SRC_MOTION_FEATURES_H

#include "graze/base.h"
#include "graze/motion.h"

/* What a point, an edge or a triangle sweeps: least x, y, z, then greatest. */
typedef struct swept_box {
  double low[3], high[3];
} swept_box;

typedef struct motion_features {
  const graze_context *context;
  const graze_ccd_mesh *motion;
  uint32_t edge_count;
  uint32_t (*edges)[2];          /* vertices, the lower one first; sorted by the higher one, then by the lower */
  uint32_t (*triangle_edges)[3]; /* edge i goes from corner i to the next; NO_EDGE where they are the same vertex */
  uint8_t *stands_for;           /* of a triangle: bits 0 to 2 its corners, bits 3 to 5 its edges */
  uint32_t *position;            /* the lowest vertex that is in the same two places */
  swept_box *boxes, *edge_boxes, *vertex_boxes; /* the first of triangles */
} motion_features;

#define NO_EDGE UINT32_MAX

/* Errors: MEMORY. Close it in any case. */
graze_status gz_features_open(motion_features *f, const graze_context *context, const graze_ccd_mesh *motion);
void gz_features_close(motion_features *f);

static inline bool do_boxes_meet(const swept_box *a, const swept_box *b) {
  for (int k = 0; k < 3; k++) {
    if (a->low[k] > b->high[k] || b->low[k] > a->high[k]) return false;
  }
  return true;
}

#endif
