/* Two forklifts face to face with their forks interlaced: close in many places, touching in none. The narrowest place
 * is between neighbouring forks, whose flat sides are exactly `gap` apart up to one rounding of the pose. */
#include <string.h>

#include "builder.h"
#include "forklift.h"
#include "kinds.h"

bool scenes_make_forklifts(const scenes_request *request, scenes_scene *scene) {
  builder build = {0};
  uint32_t mesh;
  forklift_build(&build, request->size);
  if (!scene_take_mesh(scene, &build, "forklift", &mesh)) return false;
  /* Half a turn about z. Tips stop 3/16 before the other's shanks: farther than the widest gap allowed. */
  double pose[12] = {-1, 0, 0, forklift_fork_tip + forklift_fork_shank + 0.1875, 0, -1, 0, 0, 0, 0, 1, 0};
  pose[7] = forklift_fork_width + request->gap;
  return scene_add_object(scene, "forklift_a", "forklifts", mesh, identity_pose) &&
         scene_add_object(scene, "forklift_b", "forklifts", mesh, pose);
}
