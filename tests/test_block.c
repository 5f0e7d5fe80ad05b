/* Hostile blocks: a small block is changed somewhere and then given a right checksum, as a malicious or miswritten file
 * would have. It must be refused, or the mesh must be safe to use: every query ends and reads nothing outside. Worth
 * most under the sanitizers. Uses the library's own checksum, so this test needs the static library. */
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "mesh/mesh.h"
#include "support.h"

static graze_context *context;
static graze_query *query;
static uint64_t accepted, refused;

/* All that reads a mesh. */
static void use_mesh(const graze_mesh *mesh, const graze_mesh *sound) {
  graze_mesh_facts facts;
  graze_collide_result pairs;
  graze_self_result self;
  graze_pose pose = {{0.8, -0.6, 0, 0.3, 0.6, 0.8, 0, 0.1, 0, 0, 1, 0.2}};
  volatile double sum = 0;
  graze_mesh_get_facts(mesh, &facts);
  for (uint32_t t = 0; t < graze_mesh_triangle_count(mesh); t++) {
    double corners[9];
    uint32_t numbers[3];
    graze_mesh_get_triangle(mesh, t, corners);
    graze_mesh_get_neighbours(mesh, t, numbers);
    sum = sum + corners[0] + graze_mesh_is_degenerate(mesh, t);
  }
  assert_int_equal(graze_collide_meshes(query, mesh, NULL, sound, NULL, NULL, &pairs), GRAZE_OK);
  (void)graze_collide_meshes(query, sound, &pose, mesh, NULL, NULL, &pairs);
  assert_int_equal(graze_collide_self(query, mesh, NULL, &self), GRAZE_OK);
  (void)graze_collide_self_boxes(query, mesh, NULL, &pairs);
}

static void try_block(void *bytes, size_t size, const graze_mesh *sound) {
  graze_mesh *mesh = (graze_mesh *)1;
  mesh_header *header = bytes;
  if (header->block_bytes == size) header->checksum = gz_mesh_checksum(context, header);
  graze_status status = graze_mesh_from_block(context, bytes, size, &mesh);
  if (status == GRAZE_OK) {
    accepted++;
    use_mesh(mesh, sound);
    graze_mesh_destroy(mesh);
    return;
  }
  refused++;
  assert_int_equal(status, GRAZE_ERROR_FORMAT);
  assert_ptr_equal(mesh, (graze_mesh *)1);
}

static void attack(const graze_mesh *sound) {
  static const uint64_t values[] = {0,
                                    1,
                                    2,
                                    7,
                                    8,
                                    0x7FFFFFFF,
                                    0xFFFFFFFE,
                                    0xFFFFFFFF,
                                    0x100000000,
                                    0x7F800000,
                                    0x7FF0000000000000,
                                    0x8000000000000000,
                                    UINT64_MAX};
  size_t size;
  const char *block = graze_mesh_block(sound, &size);
  char *bytes = aligned_alloc(64, (size + 63) / 64 * 64);
  assert_non_null(bytes);
  const bool thinned = test_thinned();
  for (size_t at = thinned ? 4 * (test_seed(10) % 3) : 0; at + 8 <= size; at += thinned ? 12 : 4) {
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
      memcpy(bytes, block, size);
      memcpy(bytes + at, &values[v], at % 8 || values[v] <= UINT32_MAX ? 4 : 8);
      try_block(bytes, size, sound);
    }
  }
  uint64_t state = test_seed(9);
  for (int i = test_rounds(20000, 1000000); i > 0; i--) { /* several bytes at once */
    memcpy(bytes, block, size);
    for (uint32_t k = 1 + random_below(&state, 6); k > 0; k--) {
      size_t at = random_below(&state, (uint32_t)size);
      bytes[at] = (char)(random_below(&state, 2) ? random_next(&state)
                                                 : (uint64_t)(bytes[at] ^ (1 << random_below(&state, 8))));
    }
    try_block(bytes, size, sound);
  }
  free(bytes);
}

static void test_hostile(void **unused) {
  (void)unused;
  double corners[9 * 64];
  uint64_t state = 8;
  for (int volumes = 0; volumes < 2; volumes++) {
    uint32_t count = soup_ball(1, 1, corners);
    soup_lattice(&state, 12, 3, corners + 9 * count);
    graze_mesh *mesh = test_mesh(context, corners, count + 12, (graze_volumes)volumes);
    attack(mesh);
    graze_mesh_destroy(mesh);
  }
  print_message("%d refused, %d accepted and used\n", (int)refused, (int)accepted);
  assert_true(refused > 1000 && accepted > 1000);
}

static int set_up(void **unused) {
  (void)unused;
  context = test_context(1, NULL);
  return graze_query_create(context, &query);
}

static int tear_down(void **unused) {
  (void)unused;
  graze_query_destroy(query);
  graze_context_destroy(context);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_hostile)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
