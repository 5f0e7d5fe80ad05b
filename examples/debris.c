/* Fragments fly at a table: prints which of them hit it, and when; and how high a ray from each is above the floor. */
#include <graze/graze.h>
#include <stdio.h>

enum { FRAGMENTS = 4, OBJECTS = 2 };

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
  static const double boxes[OBJECTS][2][3] = {{{-5, -5, -1}, {5, 5, 0}}, {{-1, -1, 0.75}, {1, 1, 0.875}}};
  static const char *const names[OBJECTS] = {"floor", "table"};
  static const double start[FRAGMENTS][3] = {{0, 0, 2}, {3, 0, 2}, {-3, 0, 0.8125}, {0, 3, 2}};
  static const double end[FRAGMENTS][3] = {{0, 0, 0}, {3, 0, 1}, {3, 0, 0.8125}, {0, 3, -2}};
  static const double radius[FRAGMENTS] = {0, 0.125, 0.0625, 0.25};
  static const double down[FRAGMENTS][3] = {{0, 0, -1}, {0, 0, -1}, {0, 0, -1}, {0, 0, -1}};
  graze_context *context = NULL;
  graze_mesh *meshes[OBJECTS] = {NULL, NULL};
  graze_targets *targets = NULL;
  graze_target_hit hits[FRAGMENTS], below[FRAGMENTS];

  graze_status status = graze_context_create(NULL, &context);
  for (int i = 0; i < OBJECTS && status == GRAZE_OK; i++)
    status = make_box(context, boxes[i][0], boxes[i][1], &meshes[i]);
  if (status == GRAZE_OK)
    status = graze_targets_create(context, OBJECTS, (const graze_mesh *const *)meshes, NULL, &targets);
  const graze_particles fragments = {.count = FRAGMENTS, .start = start[0], .end = end[0], .radius = radius};
  const graze_rays rays = {.count = FRAGMENTS, .from = start[0], .way = down[0]};
  if (status == GRAZE_OK) status = graze_motion_particles(context, targets, &fragments, hits);
  if (status == GRAZE_OK) status = graze_rays_first(context, targets, &rays, below);
  if (status != GRAZE_OK) {
    fprintf(stderr, "debris: %s\n", graze_status_string(status));
    return 3;
  }
  for (int i = 0; i < FRAGMENTS; i++) {
    printf("fragment %d: %.4g above the %s, ", i, below[i].earliest, names[below[i].object]);
    if (hits[i].object == GRAZE_NO_TARGET)
      printf("hits nothing\n");
    else
      printf("hits the %s at %.6f\n", names[hits[i].object], hits[i].earliest);
  }
  graze_targets_destroy(targets);
  for (int i = 0; i < OBJECTS; i++) graze_mesh_destroy(meshes[i]);
  graze_context_destroy(context);
  return 0;
}
