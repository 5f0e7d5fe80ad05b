/* A bar turns about its end in quarter turns, past a thin post: prints on which piece of its path it meets the post,
 * and when. A check of the poses alone would see nothing. */
#include <graze/graze.h>
#include <graze/motion.h>
#include <stdio.h>

static const uint32_t triangles[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                          {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};

static graze_status make_box(graze_context *context, const double low[3], const double high[3], graze_mesh **mesh) {
  double corners[8][3];
  for (int i = 0; i < 8; i++) {
    for (int k = 0; k < 3; k++) corners[i][k] = i >> k & 1 ? high[k] : low[k];
  }
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = corners;
  def.vertex_count = 8;
  def.precision = GRAZE_DOUBLE;
  def.indices = triangles[0];
  def.triangle_count = 12;
  return graze_mesh_create(context, &def, mesh);
}

int main(void) {
  const double bar[2][3] = {{0, -0.05, -0.05}, {2, 0.05, 0.05}}, post[2][3] = {{-1, 1, -1}, {-0.9, 1.1, 1}};
  const uint32_t pair[1][2] = {{0, 1}};
  graze_context *context = NULL;
  graze_mesh *meshes[2] = {NULL, NULL};
  graze_pose poses[4][2]; /* of bar and post, four times */
  graze_motion_result results[3];

  for (int i = 0; i < 4; i++) {
    static const double c[4] = {1, 0, -1, 0}, s[4] = {0, 1, 0, -1};
    poses[i][0] = (graze_pose){{c[i], -s[i], 0, 0, s[i], c[i], 0, 0, 0, 0, 1, 0}};
    poses[i][1] = graze_pose_identity();
  }
  graze_status status = graze_context_create(NULL, &context);
  if (status == GRAZE_OK) status = make_box(context, bar[0], bar[1], &meshes[0]);
  if (status == GRAZE_OK) status = make_box(context, post[0], post[1], &meshes[1]);
  const graze_motion_path path = {(const graze_mesh *const *)meshes, poses[0], 2, 4, pair, 1};
  graze_motion_options options = graze_default_motion_options();
  options.model = GRAZE_MOTION_RIGID;
  if (status == GRAZE_OK) status = graze_motion_along(context, &path, &options, results);
  if (status != GRAZE_OK) {
    fprintf(stderr, "turning_bar: %s\n", graze_status_string(status));
    return 3;
  }
  for (int i = 0; i < 3; i++) {
    printf("from pose %d to %d: %s", i, i + 1, graze_motion_verdict_string(results[i].verdict));
    if (results[i].verdict != GRAZE_MOTION_FREE) printf(" at %.6f", results[i].earliest);
    printf("\n");
  }
  for (int i = 0; i < 2; i++) graze_mesh_destroy(meshes[i]);
  graze_context_destroy(context);
  return 0;
}
