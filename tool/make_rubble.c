/* The fragments of `graze make rubble`: a block of concrete, cut by graze_hull_cut, in metres. Every fragment keeps the
 * coordinates of the block, so that neighbours have the same corners, and flies away from a blast in front of the block
 * as particles of a `blast` do: its middle along the line from there, at a speed of its own, turning. */
#include "make_rubble.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "graze/convex.h"
#include "graze/io.h"
#include "make_rigid.h"
#include "random.h"
#include "session.h"

static const double low[3] = {-2, -0.25, 0}, high[3] = {2, 0.25, 2.5}, blast[3] = {0, -1.5, 0.75};
static const double least_speed = 3, most_speed = 12, most_spin = 6, density = 2400;

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

static void throw_fragment(scenes_body *body, const double corners[12], random_stream *stream) {
  double way[3], length2 = 0;
  for (int k = 0; k < 3; k++) {
    way[k] = 0.25 * (corners[k] + corners[3 + k] + corners[6 + k] + corners[9 + k]) - blast[k];
    length2 += way[k] * way[k];
  }
  const double speed = stream_between(stream, least_speed, most_speed);
  for (int k = 0; k < 3; k++) {
    body->velocity[k] = speed * way[k] / sqrt(length2);
    body->spin[k] = stream_between(stream, -most_spin, most_spin);
  }
}

void rubble_add(const common_options *common, uint32_t count, uint64_t seed, scenes_rigid *rigid) {
  session run;
  random_stream stream = {seed};
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
    throw_fragment(&bodies[f], corners, &stream);
    write_fragment(&run, common->output, corners, f);
  }
  free(rigid->bodies);
  rigid->bodies = bodies;
  rigid->count = fragments->count;
  graze_fragments_destroy(fragments);
  session_end(&run);
}
