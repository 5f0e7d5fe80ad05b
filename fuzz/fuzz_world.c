/* States of worlds, on any bytes. The hash of the section is made right first: chance would never find the way past
 * it. Nor would it find the number that says of which world a state is: that stands in the first state. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../src/base/hash.h"
#include "check.h"
#include "graze/dynamics.h"

enum { HEAD = 8 + 16 }; /* bytes of the file before the section's: what it is, and the section's head */

static const graze_mesh *tetrahedron(void) {
  static const double corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const uint32_t sides[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  static graze_mesh *mesh;
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = corners;
  def.vertex_count = 4;
  def.precision = GRAZE_DOUBLE;
  def.indices = sides[0];
  def.triangle_count = 4;
  if (mesh == NULL) check_that(graze_mesh_create(fuzz_context(), &def, &mesh) == GRAZE_OK);
  return mesh;
}

/* A ball on another, on a wall and on a mesh that moves and turns, through a period, with springs and events. */
static graze_world *make_world(void) {
  static const double x[2][3] = {{0, 0, 0.95}, {0.5, 0, 2.8}}, floor[3] = {0, 0, 0}, up[3] = {0, 0, 1};
  graze_world_def def = graze_default_world_def();
  graze_material m = graze_default_material();
  graze_particle_def balls = graze_default_particle_def();
  graze_body_def body = graze_default_body_def(), paddle = body;
  graze_body_id id;
  graze_world *world = NULL;
  uint32_t number;
  def.events = def.periodic[1] = true;
  for (int k = 0; k < 3; k++) {
    def.bounds.min[k] = -4;
    def.bounds.max[k] = 4;
  }
  m.k_n = 1000;
  m.friction = 0.5;
  m.tangential = GRAZE_TANGENTIAL_SPRING;
  balls.name = "balls";
  balls.count = 2;
  balls.positions = x[0];
  balls.radius = balls.mass = 1;
  body.type = GRAZE_BODY_KINEMATIC;
  body.radius = 1;
  body.position[0] = 1.9;
  paddle.type = GRAZE_BODY_KINEMATIC;
  paddle.mesh = tetrahedron();
  paddle.position[0] = -1;
  paddle.position[1] = 6.5;
  paddle.position[2] = 0.5;
  paddle.velocity[1] = 5;
  paddle.spin[2] = 1;
  check_that(graze_world_create(fuzz_context(), &def, &world) == GRAZE_OK);
  check_that(graze_world_add_material(world, "stuff", &m, &number) == GRAZE_OK);
  check_that(graze_world_add_particles(world, &balls, &number) == GRAZE_OK);
  check_that(graze_world_add_body(world, &body, &id) == GRAZE_OK);
  check_that(graze_world_add_body(world, &paddle, &id) == GRAZE_OK);
  check_that(graze_world_add_wall(world, floor, up, 0) == GRAZE_OK);
  return world;
}

/* The section's size and hash are made those of the bytes there are, its first number that of this world. */
static void mend(uint8_t *bytes, size_t size, const uint8_t identity[8]) {
  uint64_t length = size - HEAD - 8;
  memcpy(bytes, "GRZSCEN1\4\0\0\0\0\0\0", 16);
  memcpy(bytes + 16, &length, 8);
  memcpy(bytes + HEAD, identity, 8);
  uint64_t hash = gz_hash_bytes(bytes + HEAD, length, 4);
  memcpy(bytes + size - 8, &hash, 8);
}

/* Of the world, as a state of it says. */
static void find_identity(uint8_t identity[8]) {
  char path[] = "/tmp/fuzz_world_XXXXXX";
  graze_world *world = make_world();
  int file = mkstemp(path);
  check_that(file >= 0 && close(file) == 0 && graze_world_save(world, path) == GRAZE_OK);
  FILE *saved = fopen(path, "rb");
  check_that(saved != NULL && fseek(saved, HEAD, SEEK_SET) == 0 && fread(identity, 1, 8, saved) == 8);
  fclose(saved);
  unlink(path);
  graze_world_destroy(world);
}

static void write_all(int file, const uint8_t *bytes, size_t size) {
  check_that(ftruncate(file, 0) == 0 && pwrite(file, bytes, size, 0) == (ssize_t)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64];
  static uint8_t identity[8];
  static bool is_known;
  graze_world_sums sums;
  graze_world *world = make_world();
  int file = memfd_create("world", 0);
  uint8_t *copy = calloc(size + HEAD + 16, 1);
  check_that(file >= 0 && copy != NULL);
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  if (!is_known) find_identity(identity);
  is_known = true;
  if (size > 0) memcpy(copy, data, size);
  if (size < HEAD + 16) size = HEAD + 16;
  mend(copy, size, identity);
  write_all(file, copy, size);
  if (graze_world_restore(world, path) == GRAZE_OK) {
    graze_world_step(world, 1e-3, 3, NULL, NULL);
    if (graze_world_step(world, 1e-3, 1, NULL, NULL) == GRAZE_OK) check_that(graze_world_get_step(world) > 0);
    graze_world_get_sums(world, &sums);
    graze_world_save(world, "/dev/null");
  } else {
    check_that(graze_world_step(world, 1e-3, 1, NULL, NULL) != GRAZE_OK);
  }
  graze_world_destroy(world);
  free(copy);
  close(file);
  return 0;
}
