/* The fragments of `graze make rubble`: a block of concrete, cut by graze_hull_cut, in metres. Every fragment keeps the
 * coordinates of the block, so that neighbours have the same corners, and a blast in front of the block throws it. With
 * a plant the block stands upright on the slab of its first bay, before the rack. */
#include "make_rubble.h"

#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "graze/convex.h"
#include "graze/io.h"
#include "make_rigid.h"
#include "session.h"

static const double low[3] = {-2, -0.25, 0}, high[3] = {2, 0.25, 2.5}, density = 2400;
static const scenes_blast blast = {{0, -1.5, 0.75}, {3, 12}, 6};

/* Of the plant: the corner of its bay, whose middle frame has a post at y = 1, and how high its slab is. */
static const double corner[2] = {-6, -0.375}, slab = 0.5;
static const uint32_t plant_objects = 160;

static graze_fragments *cut_block(const session *run, uint32_t count, uint64_t seed) {
  double corners[24];
  graze_hull *hull;
  graze_fragments *fragments;
  for (int i = 0; i < 24; i++) corners[i] = i / 3 >> i % 3 & 1 ? high[i % 3] : low[i % 3];
  must(run->context, graze_hull_create(run->context, 8, corners, &hull));
  must(run->context, graze_hull_cut(run->context, hull, count, seed, &fragments));
  graze_hull_destroy(hull);
  return fragments;
}

static void write_fragment(const session *run, const char *folder, double corners[12], uint32_t number) {
  static uint32_t outward[12] = {1, 2, 3, 0, 3, 2, 0, 1, 3, 0, 2, 1};
  const graze_geometry geometry = {.vertices = corners, .vertex_count = 4, .indices = outward, .triangle_count = 4};
  const size_t length = strlen(folder);
  char *path = NULL;
  if (asprintf(&path, "%s%s%s.obj", folder, length > 0 && folder[length - 1] == '/' ? "" : "/",
               rigid_body_name(number).text) < 0)
    fail_out_of_memory();
  must(run->context, graze_write_obj(run->context, path, &geometry));
  free(path);
}

void rubble_add(const common_options *common, uint32_t count, uint64_t seed, scenes_rigid *rigid) {
  session run;
  session_begin(&run, common);
  graze_fragments *fragments = cut_block(&run, count, seed);
  scenes_body *bodies = calloc(fragments->count, sizeof *bodies);
  if (!bodies) fail_out_of_memory();
  for (uint32_t f = 0; f < fragments->count; f++) {
    double corners[12];
    for (int c = 0; c < 4; c++)
      memcpy(corners + 3 * c, fragments->points + 3 * (size_t)fragments->corners[4 * (size_t)f + (size_t)c],
             3 * sizeof *corners);
    bodies[f] =
        (scenes_body){.shape = SCENES_BODY_HULL, .pose = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, .density = density};
    write_fragment(&run, common->output, corners, f);
  }
  free(rigid->bodies);
  rigid->bodies = bodies;
  rigid->count = fragments->count;
  rigid->blast = blast;
  graze_fragments_destroy(fragments);
  session_end(&run);
}

void rubble_make_plant(uint64_t seed, scenes_rigid *rigid, scenes_scene *plant) {
  const scenes_kind *kind = scenes_find_kind("plant");
  scenes_request request = scenes_default_request(kind);
  const char *reason;
  request.size = plant_objects;
  request.seed = seed;
  request.clashes = 0;
  if (!scenes_make(kind, &request, plant, &reason)) fail("plant: %s", reason);
  for (uint32_t i = 0; i < plant->object_count; i++) {
    for (int k = 0; k < 2; k++) plant->objects[i].pose[4 * k + 3] += corner[k];
  }
  rigid->walls[0].point[2] = -slab;
}
