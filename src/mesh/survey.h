/* Box and zero-area triangles of a run of triangles. */
#ifndef GRAZE_SRC_MESH_SURVEY_H
#define GRAZE_SRC_MESH_SURVEY_H

#include "mesh/mesh.h"

enum { SURVEY_RUN = 64 };

typedef struct summary {
  double low[3];
  double high[3];
  uint64_t degenerate;
} summary;

/* Takes up to SURVEY_RUN triangles (`triangles`: three vertex numbers each): grows the box and returns one bit for each
 * triangle of exactly zero area. */
typedef uint64_t survey_function(const graze_mesh *mesh, const uint32_t *triangles, uint32_t count, summary *total);
survey_function gz_survey_scalar, gz_survey_avx2;

#endif
