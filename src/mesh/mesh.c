/* Making, asking and moving a mesh.
 *
 * The size of a block is known only when its hierarchy has been built, so the facts and the hierarchy are computed
 * from the caller's own arrays (copied first only where they are strided or a soup), and everything is then copied
 * once into a block of the exact size. Refit works in a second block and swaps, so that a failure leaves the mesh as
 * it was and repeated refits of an animated mesh allocate nothing.
 */
#include "mesh/mesh.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/parallel.h"

enum { DEF_COOKIE = 0x67726d31, COPY_LEAST = 1 << 20, SERIAL_TRIANGLES = 1 << 15, VERTICES_LEAST = 1 << 14 };

static const uint64_t MOST = UINT32_MAX - 1;

graze_mesh_def graze_default_mesh_def(void) {
  return (graze_mesh_def){.precision = GRAZE_FLOAT, .cookie = DEF_COOKIE};
}

/* ---- copies on all threads ---- */

typedef struct copying {
  char *to;
  const char *from;
  size_t stride; /* of elements in `from` */
  size_t element;
  pieces cut;
} copying;

static void copy_piece(void *argument, uint32_t index) {
  const copying *c = argument;
  uint64_t begin = pieces_begin(&c->cut, index);
  memcpy(c->to + begin, c->from + begin, pieces_end(&c->cut, index) - begin);
}

static void copy_bytes(const graze_context *context, void *to, const void *from, uint64_t size) {
  copying c = {.to = to, .from = from, .cut = pieces_of(size, COPY_LEAST)};
  gz_parallel_each(context, c.cut.number, copy_piece, &c);
}

static void pack_piece(void *argument, uint32_t index) {
  const copying *c = argument;
  for (uint64_t i = pieces_begin(&c->cut, index), end = pieces_end(&c->cut, index); i < end; i++) {
    memcpy(c->to + i * c->element, c->from + i * c->stride, c->element);
  }
}

/* `count` elements of `element` bytes that stand `stride` bytes apart, to a packed array. */
static void copy_strided(const graze_context *context, void *to, const void *from, uint64_t count, size_t element,
                         size_t stride) {
  if (stride == element) {
    copy_bytes(context, to, from, count * element);
    return;
  }
  copying c = {.to = to, .from = from, .stride = stride, .element = element};
  c.cut = pieces_of(count, VERTICES_LEAST);
  gz_parallel_each(context, c.cut.number, pack_piece, &c);
}

/* ---- what the caller gave ---- */

static size_t vertex_bytes(uint32_t precision) {
  return 3 * (precision == GRAZE_DOUBLE ? sizeof(double) : sizeof(float));
}

/* Arrays that stand in for the block until there is one. */
typedef struct stage {
  graze_mesh mesh;
  mesh_header header;
  void *vertices; /* packed copy, when one is needed */
  size_t vertices_bytes;
  uint32_t *triangles; /* 0, 1, 2, ... of a soup */
  size_t triangles_bytes;
  uint64_t *bits;
  size_t bits_bytes;
  uint32_t *neighbours; /* of a mesh that gets no block */
  size_t neighbours_bytes;
  tree_node *nodes;
  size_t nodes_bytes;
} stage;

static void stage_release(const graze_context *context, stage *s) {
  gz_memory_release(context, s->vertices, s->vertices_bytes);
  gz_memory_release(context, s->triangles, s->triangles_bytes);
  gz_memory_release(context, s->bits, s->bits_bytes);
  gz_memory_release(context, s->neighbours, s->neighbours_bytes);
  gz_memory_release(context, s->nodes, s->nodes_bytes);
}

/* Everything about the definition that can be judged without reading the arrays; counts and stride made explicit. */
static graze_status check_def(const graze_context *context, graze_mesh_def *d) {
  const graze_status argument = GRAZE_ERROR_ARGUMENT;
  if (d->cookie != DEF_COOKIE) return gz_fail(context, argument, "mesh: the definition was not initialised");
  if (d->precision != GRAZE_FLOAT && d->precision != GRAZE_DOUBLE)
    return gz_fail(context, argument, "mesh: unknown precision");
  if (d->volumes != GRAZE_VOLUMES_ORIENTED && d->volumes != GRAZE_VOLUMES_ALIGNED) {
    return gz_fail(context, argument, "mesh: unknown kind of volumes");
  }
  if (d->vertices == NULL && d->vertex_count != 0) return gz_fail(context, argument, "mesh: vertices is NULL");
  size_t packed = vertex_bytes(d->precision);
  if (d->vertex_stride == 0) d->vertex_stride = packed;
  if (d->vertex_stride < packed) {
    return gz_fail(context, argument, "mesh: stride %zu is less than the %zu bytes of a vertex", d->vertex_stride,
                   packed);
  }
  if (d->indices == NULL && d->triangle_count == 0) {
    if (d->vertex_count % 3 != 0) {
      return gz_fail(context, argument, "mesh: a soup of %" PRIu64 " vertices is not made of whole triangles",
                     d->vertex_count);
    }
    d->triangle_count = d->vertex_count / 3;
  }
  if (d->vertex_count > MOST) return gz_fail(context, GRAZE_ERROR_LIMIT, "mesh: more than 2^32 - 2 vertices");
  if (d->triangle_count > MOST) return gz_fail(context, GRAZE_ERROR_LIMIT, "mesh: more than 2^32 - 2 triangles");
  if (d->indices == NULL && d->triangle_count > d->vertex_count / 3) {
    return gz_fail(context, GRAZE_ERROR_INDEX, "triangle %" PRIu64 " of a soup lacks vertices: there are %" PRIu64,
                   d->vertex_count / 3, d->vertex_count);
  }
  return GRAZE_OK;
}

static graze_status check_vertices(const graze_context *context, const void *vertices, bool is_double, uint64_t count) {
  uint64_t first = gz_mesh_first_not_finite(context, vertices, is_double, 3 * count);
  if (first == 3 * count) return GRAZE_OK;
  double value = is_double ? ((const double *)vertices)[first] : (double)((const float *)vertices)[first];
  return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "vertex %" PRIu64 ": %c is %s", first / 3, "xyz"[first % 3],
                 isnan(value) ? "NaN" : "infinite");
}

static graze_status check_indices(const graze_context *context, const uint32_t *indices, uint64_t triangles,
                                  uint64_t vertices) {
  uint64_t first = gz_mesh_first_bad_index(context, indices, 3 * triangles, vertices);
  if (first == 3 * triangles) return GRAZE_OK;
  return gz_fail(context, GRAZE_ERROR_INDEX,
                 "triangle %" PRIu64 ", corner %d: index %" PRIu32 " of %" PRIu64 " vertices", first / 3,
                 (int)(first % 3), indices[first], vertices);
}

static void *stage_memory(const graze_context *context, uint64_t size, size_t *bytes, graze_status *status) {
  void *pointer = gz_memory_alloc(context, size);
  if (pointer == NULL && size != 0) {
    *status = gz_fail_memory(context, size);
    return NULL;
  }
  *bytes = size;
  return pointer;
}

/* Vertices as a packed array: the caller's own where they are one. */
static graze_status stage_vertices(const graze_context *context, stage *s, const graze_mesh_def *d) {
  size_t packed = vertex_bytes(d->precision);
  const void *vertices = d->vertices;
  bool usable = d->vertex_stride == packed && (uintptr_t)vertices % (packed / 3) == 0;
  if (!usable && d->vertex_count != 0) {
    graze_status status = GRAZE_OK;
    s->vertices = stage_memory(context, d->vertex_count * packed, &s->vertices_bytes, &status);
    if (status != GRAZE_OK) return status;
    copy_strided(context, s->vertices, d->vertices, d->vertex_count, packed, d->vertex_stride);
    vertices = s->vertices;
  }
  s->mesh.is_double = d->precision == GRAZE_DOUBLE;
  s->mesh.vertices_float = s->mesh.is_double ? NULL : vertices;
  s->mesh.vertices_double = s->mesh.is_double ? vertices : NULL;
  return check_vertices(context, vertices, s->mesh.is_double, d->vertex_count);
}

static graze_status stage_triangles(const graze_context *context, stage *s, const graze_mesh_def *d) {
  s->mesh.triangles = d->indices;
  if (d->indices != NULL) return check_indices(context, d->indices, d->triangle_count, d->vertex_count);
  graze_status status = GRAZE_OK;
  s->triangles = stage_memory(context, 12 * d->triangle_count, &s->triangles_bytes, &status);
  if (status != GRAZE_OK) return status;
  for (uint64_t i = 0; i < 3 * d->triangle_count; i++) s->triangles[i] = (uint32_t)i;
  s->mesh.triangles = s->triangles;
  return GRAZE_OK;
}

/* The header's counts, vertices and triangles. */
static graze_status stage_geometry(const graze_context *context, stage *s, const graze_mesh_def *d) {
  s->header = (mesh_header){.magic = MESH_MAGIC, .version = MESH_VERSION, .header_bytes = sizeof s->header};
  s->header.vertex_count = d->vertex_count;
  s->header.triangle_count = d->triangle_count;
  s->header.precision = d->precision;
  s->header.volumes = d->volumes;
  s->header.adjacency = !d->no_adjacency;
  s->mesh = (graze_mesh){.context = context, .header = &s->header, .triangle_count = (uint32_t)d->triangle_count};
  graze_status status = stage_vertices(context, s, d);
  return status == GRAZE_OK ? stage_triangles(context, s, d) : status;
}

/* Zero-area bits, box and hash. */
static graze_status stage_facts(const graze_context *context, stage *s, const graze_mesh_def *d) {
  graze_status status = stage_geometry(context, s, d);
  if (status != GRAZE_OK) return status;
  s->bits = stage_memory(context, (d->triangle_count + 63) / 64 * 8, &s->bits_bytes, &status);
  if (status != GRAZE_OK) return status;
  s->mesh.degenerate = s->bits;
  gz_mesh_compute_basics(&s->mesh, s->bits);
  return GRAZE_OK;
}

/* The neighbours of a mesh that gets no block. */
static graze_status stage_neighbours(const graze_context *context, stage *s) {
  graze_status status = GRAZE_OK;
  if (!s->header.adjacency) return status;
  s->neighbours = stage_memory(context, 12 * s->header.triangle_count, &s->neighbours_bytes, &status);
  if (status != GRAZE_OK) return status;
  s->mesh.neighbours = s->neighbours;
  return gz_mesh_compute_adjacency(&s->mesh, s->neighbours, (buffer){NULL, 0});
}

static graze_status stage_fill(const graze_context *context, stage *s, const graze_mesh_def *d) {
  graze_status status = stage_facts(context, s, d);
  if (status == GRAZE_OK) {
    mesh_build_function *build_tree = CPU_KERNEL_TO_AVX2(gz_mesh_build_tree);
    status = build_tree(&s->mesh, &s->nodes, &s->mesh.node_count, &s->nodes_bytes);
  }
  s->header.node_count = s->mesh.node_count;
  return status;
}

/* ---- the block ---- */

static void clear_gap(mesh_header *header, uint64_t end_of_array) {
  uint64_t aligned = (end_of_array + 63) / 64 * 64;
  if (aligned > header->block_bytes) aligned = header->block_bytes;
  memset((char *)header + end_of_array, 0, aligned - end_of_array);
}

/* Writes the arrays of the stage, all but neighbours and nodes, to their places, with the gaps between them cleared. */
static void fill_block(const graze_context *context, mesh_header *header, const stage *s) {
  char *block = (char *)header;
  *header = s->header;
  const uint64_t vertices = header->vertex_count * vertex_bytes(header->precision);
  const uint64_t triangles = 12 * header->triangle_count, bits = (header->triangle_count + 63) / 64 * 8;
  const void *from = s->mesh.is_double ? (const void *)s->mesh.vertices_double : s->mesh.vertices_float;
  clear_gap(header, sizeof *header);
  copy_bytes(context, block + header->vertices, from, vertices);
  clear_gap(header, header->vertices + vertices);
  copy_bytes(context, block + header->triangles, s->mesh.triangles, triangles);
  clear_gap(header, header->triangles + triangles);
  copy_bytes(context, block + header->degenerate, s->mesh.degenerate, bits);
  clear_gap(header, header->degenerate + bits);
  if (header->adjacency) clear_gap(header, header->neighbours + triangles);
  clear_gap(header, header->nodes + sizeof(bvh_node) * header->node_count);
}

/* The array of a block that is still written. */
static void *array_at(mesh_header *header, uint64_t offset) {
  return (char *)header + offset;
}

/* Neighbours, nodes and checksum of an attached block whose other arrays stand; topology NULL: the nodes have it, else
 * they are scratch until they are made. */
static graze_status finish_block(graze_mesh *mesh, const tree_node *topology) {
  mesh_header *header = mesh->header;
  void *nodes = array_at(header, header->nodes);
  graze_status status = GRAZE_OK;
  buffer lent = {topology != NULL ? nodes : NULL, topology != NULL ? mesh->node_count * sizeof(bvh_node) : 0};
  if (header->adjacency) status = gz_mesh_compute_adjacency(mesh, array_at(header, header->neighbours), lent);
  if (status == GRAZE_OK && mesh->node_count != 0) status = gz_mesh_fit_tree(mesh, topology, nodes, mesh->node_count);
  if (status == GRAZE_OK) mesh->header->checksum = gz_mesh_checksum(mesh->context, mesh->header);
  return status;
}

/* The block from the stage, which is released on the way but for the topology, before the boxes are made. */
static graze_status make_block(const graze_context *context, stage *s, graze_mesh *made) {
  gz_mesh_layout(&s->header);
  mesh_header *header = gz_memory_alloc(context, s->header.block_bytes);
  if (header == NULL) return gz_fail_memory(context, s->header.block_bytes);
  fill_block(context, header, s);
  stage topology = {.nodes = s->nodes, .nodes_bytes = s->nodes_bytes};
  s->nodes = NULL;
  stage_release(context, s);
  *s = topology;
  *made = (graze_mesh){.context = context};
  gz_mesh_attach(made, header);
  graze_status status = finish_block(made, s->nodes);
  if (status != GRAZE_OK) gz_memory_release(context, header, header->block_bytes);
  return status;
}

graze_status graze_mesh_create(graze_context *context, const graze_mesh_def *def, graze_mesh **mesh) {
  if (context == NULL) return GRAZE_ERROR_ARGUMENT;
  if (def == NULL || mesh == NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "mesh: null pointer");
  graze_mesh_def d = *def;
  graze_status status = check_def(context, &d);
  if (status != GRAZE_OK) return status;
  graze_mesh *made = gz_memory_alloc(context, sizeof *made);
  if (made == NULL) return gz_fail_memory(context, sizeof *made);
  /* Waking threads for a small mesh costs more than it saves, much more on a busy machine. */
  parallel_place before = gz_serial_begin(context, d.triangle_count < SERIAL_TRIANGLES);
  unsigned saved = gz_fp_enter();
  stage s = {.nodes = NULL};
  status = stage_fill(context, &s, &d);
  if (status == GRAZE_OK) status = make_block(context, &s, made);
  stage_release(context, &s);
  gz_fp_leave(saved);
  gz_serial_end(before);
  if (status == GRAZE_OK) {
    *mesh = made;
  } else {
    gz_memory_release(context, made, sizeof *made);
  }
  return status;
}

graze_status graze_mesh_hash(graze_context *context, const graze_mesh_def *def, uint64_t *hash) {
  if (context == NULL) return GRAZE_ERROR_ARGUMENT;
  if (def == NULL || hash == NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "mesh hash: null pointer");
  graze_mesh_def d = *def;
  stage s = {.nodes = NULL};
  graze_status status = check_def(context, &d);
  if (status == GRAZE_OK) status = stage_geometry(context, &s, &d);
  if (status == GRAZE_OK) *hash = gz_mesh_geometry_hash(&s.mesh);
  stage_release(context, &s);
  return status;
}

static void facts_of(const mesh_header *h, graze_mesh_facts *facts) {
  *facts = (graze_mesh_facts){.vertices = h->vertex_count,
                              .positions = h->positions,
                              .triangles = h->triangle_count,
                              .degenerate = h->degenerate_count,
                              .parts = h->parts,
                              .open_edges = h->open_edges,
                              .nonmanifold_edges = h->nonmanifold_edges,
                              .misoriented_edges = h->misoriented_edges,
                              .adjacency = h->adjacency != 0,
                              .closed = h->closed != 0,
                              .oriented = h->oriented != 0,
                              .precision = (graze_precision)h->precision,
                              .volumes = (graze_volumes)h->volumes,
                              .bytes = h->block_bytes,
                              .hash = h->geometry_hash};
  memcpy(facts->box.min, h->box_min, sizeof facts->box.min);
  memcpy(facts->box.max, h->box_max, sizeof facts->box.max);
}

graze_status gz_mesh_measure(graze_context *context, const graze_mesh_def *def, graze_mesh_facts *facts,
                             mesh_look *look, void *user) {
  if (context == NULL) return GRAZE_ERROR_ARGUMENT;
  if (def == NULL || facts == NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "mesh measure: null pointer");
  graze_mesh_def d = *def;
  graze_status status = check_def(context, &d);
  if (status != GRAZE_OK) return status;
  parallel_place before = gz_serial_begin(context, d.triangle_count < SERIAL_TRIANGLES);
  unsigned saved = gz_fp_enter();
  stage s = {.nodes = NULL};
  status = stage_facts(context, &s, &d);
  if (status == GRAZE_OK) status = stage_neighbours(context, &s);
  if (status == GRAZE_OK && look != NULL) status = look(context, &s.mesh, user);
  if (status == GRAZE_OK) facts_of(&s.header, facts);
  stage_release(context, &s);
  gz_fp_leave(saved);
  gz_serial_end(before);
  return status;
}

graze_status graze_mesh_measure(graze_context *context, const graze_mesh_def *def, graze_mesh_facts *facts) {
  return gz_mesh_measure(context, def, facts, NULL, NULL);
}

/* What an engine has of the mesh is about to be wrong. */
static void let_engine_forget(const graze_mesh *mesh) {
  const graze_engine *engine = mesh->context->engine;
  if (engine != NULL && engine->forget != NULL) engine->forget(engine->user, mesh);
}

static void drop_kept(graze_mesh *mesh) {
  mesh_kept *kept = atomic_exchange(&mesh->kept, NULL);
  if (kept != NULL) kept->destroy(mesh->context, kept);
}

void graze_mesh_destroy(graze_mesh *mesh) {
  if (mesh == NULL) return;
  const graze_context *context = mesh->context;
  let_engine_forget(mesh);
  drop_kept(mesh);
  size_t bytes = mesh->header->block_bytes;
  gz_memory_release(context, mesh->spare, bytes);
  gz_memory_release(context, mesh->header, bytes);
  gz_memory_release(context, mesh, sizeof *mesh);
}

/* ---- refit ---- */

/* The spare block with the parts that never change: made by the first refit. */
static graze_status reserve_spare(graze_mesh *mesh) {
  if (mesh->spare != NULL) return GRAZE_OK;
  size_t bytes = mesh->header->block_bytes;
  mesh->spare = gz_memory_alloc(mesh->context, bytes);
  if (mesh->spare == NULL) return gz_fail_memory(mesh->context, bytes);
  copy_bytes(mesh->context, mesh->spare, mesh->header, bytes);
  return GRAZE_OK;
}

/* The coordinates crossed the range that hierarchies can hold: a block with, or without, nodes takes the place of the
 * old one. `next` has the new vertices. */
static graze_status rebuild(graze_mesh *mesh, const graze_mesh *next) {
  const mesh_header *header = next->header;
  graze_mesh_def d = graze_default_mesh_def();
  d.vertices = next->is_double ? (const void *)next->vertices_double : next->vertices_float;
  d.vertex_stride = vertex_bytes(header->precision);
  d.vertex_count = header->vertex_count;
  d.indices = next->triangles;
  d.triangle_count = header->triangle_count;
  d.precision = (graze_precision)header->precision;
  d.volumes = (graze_volumes)header->volumes;
  d.no_adjacency = !header->adjacency;
  stage s = {.nodes = NULL};
  graze_mesh made;
  graze_status status = stage_fill(mesh->context, &s, &d);
  if (status == GRAZE_OK) status = make_block(mesh->context, &s, &made);
  stage_release(mesh->context, &s);
  if (status != GRAZE_OK) return status;
  gz_memory_release(mesh->context, mesh->spare, mesh->header->block_bytes);
  gz_memory_release(mesh->context, mesh->header, mesh->header->block_bytes);
  *mesh = made;
  return GRAZE_OK;
}

static graze_status refit_into_spare(graze_mesh *mesh, const void *vertices, size_t stride) {
  size_t packed = vertex_bytes(mesh->header->precision);
  graze_mesh next = {.context = mesh->context};
  gz_mesh_attach(&next, mesh->spare);
  char *to = (char *)mesh->spare + mesh->spare->vertices;
  copy_strided(mesh->context, to, vertices, mesh->header->vertex_count, packed, stride);
  graze_status status = check_vertices(mesh->context, to, mesh->is_double, mesh->header->vertex_count);
  if (status != GRAZE_OK) return status;
  gz_mesh_compute_basics(&next, array_at(next.header, next.header->degenerate));
  if (next.header->tree_usable != mesh->header->tree_usable) return rebuild(mesh, &next);
  status = finish_block(&next, NULL);
  if (status != GRAZE_OK) return status;
  next.spare = mesh->header;
  *mesh = next;
  return GRAZE_OK;
}

graze_status graze_mesh_refit(graze_mesh *mesh, const void *vertices, size_t stride) {
  if (mesh == NULL) return GRAZE_ERROR_ARGUMENT;
  const graze_context *context = mesh->context;
  size_t packed = vertex_bytes(mesh->header->precision);
  if (vertices == NULL && mesh->header->vertex_count != 0) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "refit: vertices is NULL");
  }
  if (stride == 0) stride = packed;
  if (stride < packed) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "refit: stride %zu is less than the %zu bytes of a vertex", stride,
                   packed);
  }
  let_engine_forget(mesh);
  drop_kept(mesh);
  unsigned saved = gz_fp_enter();
  bool first = mesh->spare == NULL;
  graze_status status = reserve_spare(mesh);
  if (status == GRAZE_OK) status = refit_into_spare(mesh, vertices, stride);
  if (status != GRAZE_OK && first) {
    gz_memory_release(context, mesh->spare, mesh->header->block_bytes);
    mesh->spare = NULL;
  }
  gz_fp_leave(saved);
  return status;
}

/* ---- getters ---- */

void graze_mesh_get_facts(const graze_mesh *mesh, graze_mesh_facts *facts) {
  facts_of(mesh->header, facts);
}

uint32_t graze_mesh_triangle_count(const graze_mesh *mesh) {
  return mesh->triangle_count;
}

void graze_mesh_get_triangle(const graze_mesh *mesh, uint32_t index, double corners[9]) {
  mesh_corners(mesh, index, corners);
}

void graze_mesh_get_indices(const graze_mesh *mesh, uint32_t index, uint32_t vertices[3]) {
  memcpy(vertices, mesh->triangles + 3 * (size_t)index, 3 * sizeof vertices[0]);
}

void graze_mesh_get_neighbours(const graze_mesh *mesh, uint32_t index, uint32_t neighbours[3]) {
  for (size_t e = 0; e < 3; e++) {
    neighbours[e] = mesh->neighbours != NULL ? mesh->neighbours[3 * (size_t)index + e] : NO_TRIANGLE;
  }
}

bool graze_mesh_is_degenerate(const graze_mesh *mesh, uint32_t index) {
  return mesh_degenerate(mesh, index);
}
