/* A mesh against itself: a strip of three triangles, folded so that the last one comes back through the first. */
#include <graze/graze.h>
#include <inttypes.h>
#include <stdio.h>

int main(void) {
  const double corners[5][3] = {{0, 0, 0}, {4, 0, 0}, {2, 3, 0}, {2, 3, 2}, {2, 1, -1}};
  const uint32_t triangles[3][3] = {{0, 1, 2}, {1, 3, 2}, {2, 3, 4}};
  graze_context *context = NULL;
  graze_mesh *mesh = NULL;
  graze_query *query = NULL;
  graze_self_result found;

  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = corners;
  def.vertex_count = 5;
  def.precision = GRAZE_DOUBLE;
  def.indices = triangles[0];
  def.triangle_count = 3;

  graze_status status = graze_context_create(NULL, &context);
  if (status == GRAZE_OK) status = graze_mesh_create(context, &def, &mesh);
  if (status == GRAZE_OK) status = graze_query_create(context, &query);
  if (status == GRAZE_OK) status = graze_collide_self(query, mesh, NULL, &found);
  if (status != GRAZE_OK) {
    fprintf(stderr, "self: %s\n", graze_status_string(status));
    return 3;
  }
  for (uint64_t i = 0; i < found.self_pairs; i++)
    printf("triangles %u and %u meet in more than they share\n", found.pairs[i].a, found.pairs[i].b);
  graze_query_destroy(query);
  graze_mesh_destroy(mesh);
  graze_context_destroy(context);
  return found.self_pairs > 0;
}
