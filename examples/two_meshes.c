/* A tetrahedron against a copy of itself that was moved: prints the pairs of triangles that meet. */
#include <graze/graze.h>
#include <stdio.h>

int main(void) {
  const double corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const uint32_t triangles[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  const graze_pose moved = {{1, 0, 0, 0.25, 0, 1, 0, 0.25, 0, 0, 1, -0.25}};
  graze_context *context = NULL;
  graze_mesh *mesh = NULL;
  graze_query *query = NULL;
  graze_collide_result found;

  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = corners;
  def.vertex_count = 4;
  def.precision = GRAZE_DOUBLE;
  def.indices = triangles[0];
  def.triangle_count = 4;

  graze_status status = graze_context_create(NULL, &context);
  if (status == GRAZE_OK) status = graze_mesh_create(context, &def, &mesh);
  if (status == GRAZE_OK) status = graze_query_create(context, &query);
  if (status == GRAZE_OK) status = graze_collide_meshes(query, mesh, NULL, mesh, &moved, NULL, &found);
  if (status != GRAZE_OK) {
    fprintf(stderr, "two_meshes: %s\n", graze_status_string(status));
    return 3;
  }
  for (uint64_t i = 0; i < found.counts.triangle_pairs; i++)
    printf("triangle %u meets triangle %u\n", found.pairs[i].a, found.pairs[i].b);
  graze_query_destroy(query);
  graze_mesh_destroy(mesh);
  graze_context_destroy(context);
  return found.hit;
}
