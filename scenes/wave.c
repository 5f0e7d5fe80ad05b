/* The wavy plane on which Lawlor and Kale ("A voxel-based parallel collision detection algorithm", 2002) count
 * candidates: the unit square with a sum of five waves as height. Coordinates are rounded to float, as programs that
 * work in floats would hold them, so that their figures compare. */
#include "builder.h"
#include "circle.h"
#include "kinds.h"

static double height_at(double x, double y) {
  static const struct {
    double along_x, along_y, weight, phase;
  } waves[5] = {{1, 0, 1, 0}, {3, 1, 0.5, 1}, {0, 4, 0.4, 2}, {5, 5, 0.25, 3}, {8, -3, 0.15, 4}};
  const double amplitude = 0.01, turn = 0x1.921fb54442d18p+2; /* 2 pi */
  double height = 0;
  for (int k = 0; k < 5; k++)
    height += amplitude * waves[k].weight *
              circle_sine(turn * (waves[k].along_x * x + waves[k].along_y * y) + waves[k].phase);
  return height;
}

static void build_wave(builder *build, uint32_t squares) {
  builder_reserve(build, ((uint64_t)squares + 1) * (squares + 1), 2 * (uint64_t)squares * squares);
  for (uint32_t j = 0; j <= squares; j++) {
    for (uint32_t i = 0; i <= squares; i++) {
      double x = (double)i / squares, y = (double)j / squares;
      const double point[3] = {(float)x, (float)y, (float)height_at(x, y)};
      builder_vertex(build, point);
    }
  }
  for (uint32_t j = 0; j < squares; j++) {
    for (uint32_t i = 0; i < squares; i++) {
      uint32_t a = j * (squares + 1) + i, above = a + squares + 1;
      builder_quad(build, a, a + 1, above + 1, above);
    }
  }
}

bool scenes_make_wave(const scenes_request *request, scenes_scene *scene) {
  builder build = {0};
  uint32_t mesh;
  build_wave(&build, request->size);
  return scene_take_mesh(scene, &build, "wave", &mesh) && scene_add_object_at(scene, "wave", "waves", mesh, 0, 0, 0) &&
         scene_add_object_at(scene, "lifted", "waves", mesh, 0, 0, request->gap);
}
