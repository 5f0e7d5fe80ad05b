/* The fragments of `graze make rubble`: a block of concrete, broken by graze_hull_break, in metres. Every fragment
 * keeps the coordinates of the block, so that neighbours have the same corners, and a blast in front of the block
 * throws it. With a plant the block stands upright on the slab of its first bay, before the rack. */
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

static graze_pieces *break_block(const session *run, uint32_t count, uint64_t seed) {
  double corners[24];
  graze_hull *hull;
  graze_pieces *pieces;
  for (int i = 0; i < 24; i++) corners[i] = i / 3 >> i % 3 & 1 ? high[i % 3] : low[i % 3];
  must(run->context, graze_hull_create(run->context, 8, corners, &hull));
  must(run->context, graze_hull_break(run->context, hull, count, seed, &pieces));
  graze_hull_destroy(hull);
  return pieces;
}

/* The place of a point among a piece's corners, a dozen or so. */
static uint32_t find_corner(const uint32_t *corners, uint32_t point) {
  uint32_t at = 0;
  while (corners[at] != point) at++;
  return at;
}

static void write_piece(const session *run, const char *folder, const graze_pieces *pieces, uint32_t number) {
  const uint32_t *corners = pieces->corners + pieces->corner_first[number];
  const uint32_t *triangles = pieces->triangles + 3 * (size_t)pieces->triangle_first[number];
  const uint32_t count = pieces->corner_first[number + 1] - pieces->corner_first[number];
  const uint32_t triangle_count = pieces->triangle_first[number + 1] - pieces->triangle_first[number];
  double *points = calloc(3 * (size_t)count, sizeof *points);
  uint32_t *indices = calloc(3 * (size_t)triangle_count, sizeof *indices);
  const size_t length = strlen(folder);
  char *path = NULL;
  if (!points || !indices) fail_out_of_memory();
  for (uint32_t c = 0; c < count; c++)
    memcpy(points + 3 * (size_t)c, pieces->points + 3 * (size_t)corners[c], 3 * sizeof *points);
  for (uint32_t i = 0; i < 3 * triangle_count; i++) indices[i] = find_corner(corners, triangles[i]);
  if (asprintf(&path, "%s%s%s.obj", folder, length > 0 && folder[length - 1] == '/' ? "" : "/",
               rigid_body_name(number).text) < 0)
    fail_out_of_memory();
  const graze_geometry geometry = {
      .vertices = points, .vertex_count = count, .indices = indices, .triangle_count = triangle_count};
  must(run->context, graze_write_obj(run->context, path, &geometry));
  free(path);
  free(points);
  free(indices);
}

void rubble_add(const common_options *common, uint32_t count, uint64_t seed, scenes_rigid *rigid) {
  session run;
  session_begin(&run, common);
  graze_pieces *pieces = break_block(&run, count, seed);
  scenes_body *bodies = calloc(pieces->count, sizeof *bodies);
  if (!bodies) fail_out_of_memory();
  for (uint32_t i = 0; i < pieces->count; i++) {
    bodies[i] =
        (scenes_body){.shape = SCENES_BODY_HULL, .pose = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, .density = density};
    write_piece(&run, common->output, pieces, i);
  }
  free(rigid->bodies);
  rigid->bodies = bodies;
  rigid->count = pieces->count;
  rigid->blast = blast;
  graze_pieces_destroy(pieces);
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
