/* One mesh at many poses in one call: a cube slides past another one, first apart, then touching, then overlapping. */
#include <graze/graze.h>
#include <inttypes.h>
#include <stdio.h>

enum { pose_count = 7 };

static graze_status make_cube(graze_context *context, graze_mesh **mesh) {
  static const float corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                                      {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
  static const uint32_t triangles[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                            {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = corners;
  def.vertex_count = 8;
  def.indices = triangles[0];
  def.triangle_count = 12;
  return graze_mesh_create(context, &def, mesh);
}

int main(void) {
  graze_context *context = NULL;
  graze_mesh *cube = NULL;
  graze_query *query = NULL;
  graze_pose poses[pose_count];
  graze_collide_result results[pose_count];
  for (int i = 0; i < pose_count; i++) {
    poses[i] = graze_pose_identity();
    poses[i].m[3] = 1.5 - 0.25 * i; /* x */
  }
  graze_status status = graze_context_create(NULL, &context);
  if (status == GRAZE_OK) status = make_cube(context, &cube);
  if (status == GRAZE_OK) status = graze_query_create(context, &query);
  if (status == GRAZE_OK) status = graze_collide_poses(query, cube, NULL, cube, poses, pose_count, NULL, results);
  if (status != GRAZE_OK) {
    fprintf(stderr, "poses: %s\n", graze_status_string(status));
    return 3;
  }
  for (int i = 0; i < pose_count; i++)
    printf("x = %5.2f: %" PRIu64 " triangle pairs\n", poses[i].m[3], results[i].counts.triangle_pairs);
  graze_query_destroy(query);
  graze_mesh_destroy(cube);
  graze_context_destroy(context);
  return 0;
}
