/* Concentric spheres: one inside the other, everywhere close, never touching. Tools that see only surfaces call this
 * clear; tools that replace a mesh by its hull cannot tell the shells apart. All are cut alike, so that every triangle
 * lies parallel to its neighbour in the next shell. */
#include <stdio.h>

#include "builder.h"
#include "kinds.h"
#include "shapes.h"

bool scenes_make_nested(const scenes_request *request, scenes_scene *scene) {
  for (int shell = 0; shell < 3; shell++) {
    builder build = {0};
    uint32_t mesh;
    char name[32];
    snprintf(name, sizeof name, "shell_%d", shell + 1);
    shape_sphere(&build, 1 + shell * request->gap, request->size);
    builder_weld(&build);
    if (!scene_take_mesh(scene, &build, name, &mesh)) return false;
    if (!scene_add_object(scene, name, "shells", mesh, identity_pose)) return false;
  }
  return true;
}
