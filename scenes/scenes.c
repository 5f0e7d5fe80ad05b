/* The table of kinds, the check of a request, and the life of a scene. */
#include "scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kinds.h"

static const scenes_kind kinds[] = {
    {.name = "forklifts",
     .summary = "two forklifts face to face, their forks interlaced with a gap",
     .size_means = "tessellation level",
     .default_size = 1,
     .max_size = 500,
     .uses_gap = true,
     .default_gap = 0.03125,
     .min_gap = -0.0625,
     .max_gap = 0.125,
     .make = scenes_make_forklifts},
    {.name = "wave",
     .summary = "the wavy plane of Lawlor and Kale 2002, and a copy lifted by a gap",
     .size_means = "squares along a side",
     .default_size = 100,
     .max_size = 40000,
     .uses_gap = true,
     .default_gap = 0.001,
     .min_gap = -1.0,
     .max_gap = 1.0,
     .make = scenes_make_wave},
    {.name = "explosion",
     .summary = "a forklift blown to pieces above a floor",
     .size_means = "tessellation level",
     .default_size = 1,
     .max_size = 500,
     .uses_seed = true,
     .make = scenes_make_explosion},
    {.name = "nested",
     .summary = "three nested spheres with thin gaps between them",
     .size_means = "edges along a side of the icosahedron",
     .default_size = 16,
     .max_size = 8000,
     .uses_gap = true,
     .default_gap = 0.001,
     .max_gap = 1.0,
     .make = scenes_make_nested},
    {.name = "walls",
     .summary = "pairs of walls: in line, flush, edge to edge, crossing, duplicated",
     .size_means = "squares along a side of a face",
     .default_size = 1,
     .max_size = 10000,
     .uses_gap = true,
     .default_gap = 0.0078125,
     .max_gap = 0.5,
     .make = scenes_make_walls},
    {.name = "pipes",
     .summary = "random pipe runs: parallel, coincident, crossing and sleeved pipes",
     .size_means = "number of runs",
     .default_size = 8,
     .max_size = 1000000,
     .uses_seed = true,
     .uses_gap = true,
     .default_gap = 0.0078125,
     .max_gap = 0.0625,
     .make = scenes_make_pipes},
    {.name = "plant",
     .summary = "a process plant of separate objects, and planted clashes and gaps",
     .size_means = "number of objects, not counting the planted ones",
     .default_size = 300,
     .max_size = 1000000,
     .default_detail = 1,
     .max_detail = 32,
     .default_clashes = 2,
     .max_clashes = 10000,
     .uses_seed = true,
     .make = scenes_make_plant},
    {.name = "peg",
     .summary = "a round peg in its hole",
     .size_means = "corners around, at least 3",
     .default_size = 96,
     .max_size = 1000000,
     .uses_gap = true,
     .default_gap = 0x1p-12,
     .max_gap = 0x1p-8,
     .make = scenes_make_peg},
    {.name = "gears",
     .summary = "two gears of 20 involute teeth in mesh",
     .size_means = "edges along a flank",
     .default_size = 6,
     .max_size = 1000000,
     .uses_gap = true,
     .has_bodies = true,
     .default_gap = 0x1p-12,
     .max_gap = 0x1p-10,
     .make = scenes_make_gears},
    {.name = "bolt",
     .summary = "a nut on a bolt with a metric thread, M16",
     .size_means = "corners around, at least 3",
     .default_size = 32,
     .max_size = 1000000,
     .uses_gap = true,
     .has_bodies = true,
     .default_gap = 0x1p-13,
     .max_gap = 0x1p-11,
     .make = scenes_make_bolt},
    {.name = "rings",
     .summary = "rings that hang in each other, around a radius of 1 and 0.2 thick from their middle",
     .size_means = "number of rings",
     .default_size = 5,
     .max_size = 10000,
     .has_bodies = true,
     .make = scenes_make_rings},
    {.name = "robot",
     .summary = "a robot cell and its motion, in which some cycles go wrong",
     .size_means = "number of parts, 128 steps each",
     .default_size = 4,
     .max_size = 50,
     .uses_seed = true,
     .make = scenes_make_robot},
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
  return (scenes_request){.size = kind->default_size,
                          .detail = kind->default_detail,
                          .clashes = kind->default_clashes,
                          .seed = 1,
                          .gap = kind->default_gap};
}

const char *scenes_fault(const scenes_kind *kind, const scenes_request *request) {
  if (request->size < 1) return "the size must be at least 1";
  if (request->size > kind->max_size) return "the size is too large for 32-bit indices";
  if (kind->max_detail > 0 && request->detail < 1) return "the detail must be at least 1";
  if (kind->max_detail > 0 && request->detail > kind->max_detail) return "the detail is out of range for this kind";
  if (kind->max_clashes > 0 && request->clashes > kind->max_clashes) return "too many clashes are asked for";
  if (kind->max_clashes > 0 && request->gaps > kind->max_clashes) return "too many gaps are asked for";
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
  free(scene->pairs);
  free(scene->moves);
  free(scene->meetings);
  free(scene->run.starts);
  memset(scene, 0, sizeof *scene);
}
