/* An arm of two links turns from one side to the other, past a post that its hand could come close to: prints the
 * smallest gap of each link on the way, and where. */
#include <graze/graze.h>
#include <graze/motion.h>
#include <stdio.h>

enum { arm, hand, post, objects, configurations = 181 };

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

/* Turned about z, by an angle of which cosine and sine are given, and moved. */
static graze_pose turned(double c, double s, double x, double y) {
  return (graze_pose){{c, -s, 0, x, s, c, 0, y, 0, 0, 1, 0}};
}

int main(void) {
  static const double boxes[objects][2][3] = {{{0, -0.1, 0}, {1, 0.12, 0.2}}, /* metres */
                                              {{0, -0.05, 0.05}, {0.8, 0.05, 0.15}},
                                              {{-0.1, 1.7, 0}, {0.1, 1.9, 2}}};
  static graze_pose poses[configurations][objects];
  static graze_distance_result results[configurations][2];
  static const uint32_t pairs[2][2] = {{arm, post}, {hand, post}};
  static const char *const names[2] = {"arm", "hand"};
  graze_context *context = NULL;
  graze_mesh *meshes[objects] = {NULL};
  double c = 1, s = 0;
  for (int i = 0; i < configurations; i++) { /* a degree each; the hand is bent by half a right angle */
    const double degree[2] = {0.9998476951563913, 0.01745240643728351}, half = 0.7071067811865476, before = c;
    poses[i][arm] = turned(c, s, 0, 0);
    poses[i][hand] = turned(half * (c - s), half * (s + c), c, s);
    poses[i][post] = graze_pose_identity();
    c = c * degree[0] - s * degree[1];
    s = s * degree[0] + before * degree[1];
  }
  graze_status status = graze_context_create(NULL, &context);
  for (int k = 0; k < objects && status == GRAZE_OK; k++)
    status = make_box(context, boxes[k][0], boxes[k][1], &meshes[k]);
  const graze_motion_path path = {(const graze_mesh *const *)meshes, poses[0], objects, configurations, pairs, 2};
  if (status == GRAZE_OK) status = graze_distances_along(context, &path, NULL, results[0]);
  if (status != GRAZE_OK) {
    fprintf(stderr, "robot_gap: %s\n", graze_status_string(status));
    return 3;
  }
  for (int k = 0; k < 2; k++) {
    int least = 0;
    for (int i = 1; i < configurations; i++) {
      if (results[i][k].nearest.distance < results[least][k].nearest.distance) least = i;
    }
    printf("%s: %.6f m at %d degrees\n", names[k], results[least][k].nearest.distance, least);
  }
  for (int k = 0; k < objects; k++) graze_mesh_destroy(meshes[k]);
  graze_context_destroy(context);
  return 0;
}
