/* The table of kinds, the check of a request, and the life of a scene. */
#include "scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kinds.h"

static const scenes_kind kinds[] = {
    {"forklifts", "two forklifts face to face, forks interlaced a gap apart", "tessellation level", 1, 500, false, true,
     0.03125, -0.0625, 0.125, scenes_make_forklifts},
    {"wave", "the wavy plane of the voxel paper, and the same one lifted by a gap", "squares along a side", 100, 40000,
     false, true, 0.001, -1.0, 1.0, scenes_make_wave},
    {"explosion", "a forklift blown to pieces above a floor", "tessellation level", 1, 500, true, false, 0.0, 0.0, 0.0,
     scenes_make_explosion},
    {"nested", "three spheres in each other, thin gaps between", "edges along a side of the icosahedron", 16, 8000,
     false, true, 0.001, 0.0, 1.0, scenes_make_nested},
    {"walls", "pairs of walls: in line, flush, edge to edge, crossing, twice", "squares along a side of a face", 1,
     10000, false, true, 0.0078125, 0.0, 0.5, scenes_make_walls},
    {"pipes", "seeded pipe runs; parallel, coincident, crossing, sleeved pipes", "number of runs", 8, 1000000, true,
     true, 0.0078125, 0.0, 0.0625, scenes_make_pipes},
};

const scenes_kind *scenes_kinds(uint32_t *count) {
  *count = sizeof kinds / sizeof kinds[0];
  return kinds;
}

const scenes_kind *scenes_find_kind(const char *name) {
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
  }
  return NULL;
}

scenes_request scenes_default_request(const scenes_kind *kind) {
  return (scenes_request){.size = kind->default_size, .seed = 1, .gap = kind->default_gap};
}

const char *scenes_fault(const scenes_kind *kind, const scenes_request *request) {
  if (request->size < 1) return "the size must be at least 1";
  if (request->size > kind->max_size) return "the size is too large for 32-bit indices";
  if (!kind->uses_gap) return NULL;
  if (!isfinite(request->gap)) return "the gap must be a finite number";
  if (request->gap < kind->min_gap || request->gap > kind->max_gap) return "the gap is out of range for this kind";
  if (request->gap != 0 && fabs(request->gap) < 0x1p-44) return "the gap must be 0 or at least 2^-44 (5.7e-14)";
  return NULL;
}

bool scenes_make(const scenes_kind *kind, const scenes_request *request, scenes_scene *scene, const char **reason) {
  memset(scene, 0, sizeof *scene);
  *reason = scenes_fault(kind, request);
  if (*reason) return false;
  if (!kind->make(request, scene)) {
    scenes_free(scene);
    *reason = "out of memory";
    return false;
  }
  return true;
}

void scenes_free(scenes_scene *scene) {
  for (uint32_t i = 0; i < scene->mesh_count; i++) {
    free(scene->meshes[i].vertices);
    free(scene->meshes[i].indices);
    free(scene->meshes[i].parts);
  }
  free(scene->meshes);
  free(scene->objects);
  memset(scene, 0, sizeof *scene);
}
