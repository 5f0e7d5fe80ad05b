/* Reads two mesh files (OBJ, STL, PLY, OFF) and counts what meets. usage: read_and_check A B */
#include <graze/graze.h>
#include <graze/io.h>
#include <inttypes.h>
#include <stdio.h>

static graze_mesh *read_mesh(graze_context *context, const char *path) {
  graze_geometry geometry;
  graze_mesh *mesh = NULL;
  if (graze_read_geometry(context, path, GRAZE_FORMAT_AUTO, 0, &geometry) != GRAZE_OK) {
    fprintf(stderr, "read_and_check: %s\n",
            graze_last_error(context)->message); /* names the file and the line or byte */
    return NULL;
  }
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = geometry.vertices;
  def.vertex_count = geometry.vertex_count;
  def.precision = GRAZE_DOUBLE;
  def.indices = geometry.indices;
  def.triangle_count = geometry.triangle_count;
  graze_status status = graze_mesh_create(context, &def, &mesh);
  if (status != GRAZE_OK) fprintf(stderr, "read_and_check: %s: %s\n", path, graze_status_string(status));
  graze_geometry_free(&geometry); /* the mesh has copies */
  return mesh;
}

int main(int argc, char **argv) {
  graze_context *context = NULL;
  graze_query *query = NULL;
  graze_collide_result found;
  if (argc != 3) {
    fprintf(stderr, "usage: read_and_check A B\n");
    return 2;
  }
  if (graze_context_create(NULL, &context) != GRAZE_OK || graze_query_create(context, &query) != GRAZE_OK) return 3;
  graze_mesh *a = read_mesh(context, argv[1]), *b = a ? read_mesh(context, argv[2]) : NULL;
  bool decided = a && b && graze_collide_meshes(query, a, NULL, b, NULL, NULL, &found) == GRAZE_OK;
  if (decided)
    printf("%" PRIu64 " triangle pairs meet: %" PRIu64 " in points, %" PRIu64 " in segments, %" PRIu64 " in areas\n",
           found.counts.triangle_pairs, found.counts.points, found.counts.segments, found.counts.areas);
  graze_query_destroy(query);
  graze_mesh_destroy(a);
  graze_mesh_destroy(b);
  graze_context_destroy(context);
  return decided ? found.hit : 3;
}
