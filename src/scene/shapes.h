/* What each mesh of a scene encloses: found out once for a mesh, when a pair first needs it. */
#ifndef GRAZE_SRC_SCENE_SHAPES_H
#define GRAZE_SRC_SCENE_SHAPES_H

#include "narrow/relate.h"

typedef struct scene_shape {
  const graze_mesh *mesh;
  uint64_t geometry_hash; /* of the mesh when the solid was made: refit changes it */
  _Atomic(solid *) made;
} scene_shape;

typedef struct scene_shapes {
  scene_shape *rows; /* sorted by address of the mesh */
  uint32_t count;
} scene_shapes;

/* A slot for each mesh of the list, which is put in order; solids that are still true are kept. */
graze_status gz_shapes_update(const graze_context *context, scene_shapes *shapes, const graze_mesh **meshes,
                              uint32_t count);

/* Whether the solids are still those of the meshes as they are. O(meshes). */
bool gz_shapes_current(const scene_shapes *shapes);

_Atomic(solid *) *gz_shapes_slot(const scene_shapes *shapes, const graze_mesh *mesh);

void gz_shapes_release(const graze_context *context, scene_shapes *shapes);

#endif
