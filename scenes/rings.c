/* Rings that hang in each other, each turned by a quarter against the one above it: what no convex shape can do. */
#include <stdio.h>

#include "builder.h"
#include "circle.h"
#include "kinds.h"

enum { around = 48, across = 24 };
static const double ring_radius = 1, ring_thickness = 0.2;

/* From one to the next; where they hang it is twice the inner radius, 1.6. */
static const double apart = 1.5625;

static void build_ring(builder *build) {
  for (uint32_t i = 0; i < around; i++) {
    double cosine, sine;
    circle_point(i, around, &cosine, &sine);
    for (uint32_t k = 0; k < across; k++) {
      double out, up;
      circle_point(k, across, &out, &up);
      const double from_axis = ring_radius + ring_thickness * out;
      builder_vertex(build, (const double[3]){from_axis * cosine, from_axis * sine, ring_thickness * up});
    }
  }
  for (uint32_t i = 0; i < around; i++) {
    const uint32_t ring = i * across, next = (i + 1) % around * across;
    for (uint32_t k = 0; k < across; k++) {
      const uint32_t above = (k + 1) % across;
      builder_quad(build, ring + k, next + k, next + above, ring + above);
    }
  }
}

bool scenes_make_rings(const scenes_request *request, scenes_scene *scene) {
  builder build = {0};
  uint32_t mesh;
  build_ring(&build);
  if (!scene_take_mesh(scene, &build, "ring", &mesh)) return false;
  for (uint32_t i = 0; i < request->size; i++) {
    const double z = -apart * i;
    const double flat[12] = {1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, z}, turned[12] = {0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, z};
    char name[32];
    snprintf(name, sizeof name, "ring_%u", i + 1);
    if (!scene_add_object(scene, name, "ring", mesh, i % 2 == 0 ? flat : turned)) return false;
  }
  if (!scene_start_bodies(scene, 0.3)) return false;
  scene->run.starts[0].type = SCENES_START_STATIC;
  return true;
}
