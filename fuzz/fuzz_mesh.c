/* Any bytes as mesh arrays, and as a baked block. The first byte chooses: bit 0 precision, bit 1 soup, bit 2 volumes,
 * bit 3 no adjacency, bit 4 raw coordinates (else small integers, which make degenerate and touching triangles
 * likely), bit 5 indices as they stand (else brought into range). The second byte gives the number of triangles. */
#include "check.h"
#include "graze/mesh.h"

enum { MOST = 255, LARGEST_BLOCK = 1 << 20 };

typedef struct source {
  const uint8_t *data;
  size_t size;
} source;

/* The next `size` bytes; zeros behind the end. */
static void take(source *s, void *out, size_t size) {
  size_t there = size < s->size ? size : s->size;
  memset(out, 0, size);
  memcpy(out, s->data, there);
  s->data += there;
  s->size -= there;
}

static unsigned take_byte(source *s) {
  uint8_t byte;
  take(s, &byte, 1);
  return byte;
}

static void fill_vertices(source *s, unsigned flags, void *vertices, size_t count) {
  size_t size = flags & 1 ? sizeof(double) : sizeof(float);
  for (size_t i = 0; i < count; i++) {
    char *out = (char *)vertices + i * size;
    double small = (double)(take_byte(s) % 16);
    float small_float = (float)small;
    if (flags & 16) {
      take(s, out, size);
    } else {
      memcpy(out, flags & 1 ? (void *)&small : (void *)&small_float, size);
    }
  }
}

/* Everything that a mesh can be asked without a query. */
static void ask(const graze_mesh *mesh) {
  graze_mesh_facts facts;
  graze_mesh_get_facts(mesh, &facts);
  check_that(facts.triangles == graze_mesh_triangle_count(mesh));
  uint64_t degenerate = 0;
  for (uint32_t i = 0; i < facts.triangles; i++) {
    double corners[9];
    uint32_t vertices[3], neighbours[3];
    graze_mesh_get_triangle(mesh, i, corners);
    graze_mesh_get_indices(mesh, i, vertices);
    graze_mesh_get_neighbours(mesh, i, neighbours);
    degenerate += graze_mesh_is_degenerate(mesh, i);
    for (int k = 0; k < 9; k++) check_that(isfinite(corners[k]));
    for (int k = 0; k < 3; k++) {
      check_that(vertices[k] < facts.vertices);
      check_that(neighbours[k] == UINT32_MAX || neighbours[k] < facts.triangles);
    }
  }
  check_that(degenerate == facts.degenerate);
}

/* The block of a mesh must come back as the same bytes, and damaged ones must be refused or hold together. */
static void check_block(graze_context *context, const graze_mesh *mesh, source *s) {
  size_t size;
  const void *block = graze_mesh_block(mesh, &size);
  if (size > LARGEST_BLOCK) return;
  uint8_t *copy = malloc(size);
  if (copy == NULL) return;
  memcpy(copy, block, size);
  graze_mesh *back;
  check_that(graze_mesh_from_block(context, copy, size, &back) == GRAZE_OK);
  size_t back_size;
  const void *back_block = graze_mesh_block(back, &back_size);
  check_that(back_size == size && memcmp(back_block, block, size) == 0);
  graze_mesh_destroy(back);
  for (int i = 0; i < 4 && s->size > 0; i++) {
    uint32_t place;
    take(s, &place, sizeof place);
    copy[place % size] ^= (uint8_t)take_byte(s);
  }
  size_t cut = s->size > 0 ? size - take_byte(s) % size : size;
  if (graze_mesh_from_block(context, copy, cut, &back) == GRAZE_OK) {
    ask(back);
    graze_mesh_destroy(back);
  }
  free(copy);
}

static void make_mesh(graze_context *context, source *s, unsigned flags, unsigned triangles) {
  static double vertices[3 * 3 * MOST];
  static uint32_t indices[3 * MOST];
  bool soup = flags & 2;
  size_t vertex_count = soup ? 3 * (size_t)triangles : triangles + take_byte(s) % 3;
  fill_vertices(s, flags, vertices, 3 * vertex_count);
  for (unsigned i = 0; i < 3 * triangles; i++) {
    if (flags & 32) {
      take(s, &indices[i], sizeof indices[i]);
    } else {
      indices[i] = (uint32_t)(vertex_count > 0 ? take_byte(s) % vertex_count : 0);
    }
  }
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = vertices;
  def.vertex_count = vertex_count;
  def.indices = soup ? NULL : indices;
  def.triangle_count = triangles;
  def.precision = flags & 1 ? GRAZE_DOUBLE : GRAZE_FLOAT;
  def.volumes = flags & 4 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED;
  def.no_adjacency = flags & 8;
  graze_mesh *mesh;
  graze_status status = graze_mesh_create(context, &def, &mesh);
  check_that(status == GRAZE_OK || status == GRAZE_ERROR_NOT_FINITE || status == GRAZE_ERROR_INDEX);
  if (status != GRAZE_OK) return;
  ask(mesh);
  check_block(context, mesh, s);
  graze_mesh_destroy(mesh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  graze_context_def def = graze_default_context_def();
  def.threads = 1;
  graze_context *context;
  check_that(graze_context_create(&def, &context) == GRAZE_OK);
  graze_mesh *mesh;
  if (size > 0 && graze_mesh_from_block(context, data, size, &mesh) == GRAZE_OK) {
    ask(mesh);
    graze_mesh_destroy(mesh);
  }
  source s = {data, size};
  unsigned flags = take_byte(&s);
  unsigned triangles = take_byte(&s);
  make_mesh(context, &s, flags, triangles);
  graze_context_destroy(context);
  return 0;
}
