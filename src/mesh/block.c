/* The block as bytes: layout, checksum, checks, copies, files.
 *
 * A block may come from anywhere, so nothing in it is believed: the header's offsets must be exactly those that its
 * counts imply, coordinates finite, indices in range, and the hierarchy must be a tree: every child stands behind its
 * parent, every node but the root and every triangle is the child of exactly one place, and no path is longer than
 * MESH_DEPTH_LIMIT. A query on such a block ends and reads nothing outside it. That boxes bound what they claim rests
 * on the checksum.
 */
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/mesh.h"

enum { HASH_LEAST = 1 << 18, NODES_LEAST = 1 << 10, ALIGNMENT = 64 };

/* ---- layout and checksum ---- */

static uint64_t place(uint64_t *end, uint64_t bytes) {
  uint64_t at = *end;
  *end = (at + bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return at;
}

void gz_mesh_layout(mesh_header *header) {
  uint64_t end = 0;
  uint64_t number = header->precision == GRAZE_DOUBLE ? sizeof(double) : sizeof(float);
  place(&end, sizeof *header);
  header->vertices = place(&end, 3 * number * header->vertex_count);
  header->triangles = place(&end, 12 * header->triangle_count);
  header->degenerate = place(&end, (header->triangle_count + 63) / 64 * 8);
  header->neighbours = place(&end, header->adjacency ? 12 * header->triangle_count : 0);
  if (!header->adjacency) header->neighbours = 0;
  header->nodes = place(&end, sizeof(bvh_node) * header->node_count);
  header->block_bytes = end;
}

void gz_mesh_attach(graze_mesh *mesh, mesh_header *header) {
  const char *block = (const char *)header;
  mesh->header = header;
  mesh->triangle_count = (uint32_t)header->triangle_count;
  mesh->node_count = (uint32_t)header->node_count;
  mesh->is_double = header->precision == GRAZE_DOUBLE;
  mesh->vertices_float = mesh->is_double ? NULL : (const float *)(block + header->vertices);
  mesh->vertices_double = mesh->is_double ? (const double *)(block + header->vertices) : NULL;
  mesh->triangles = (const uint32_t *)(block + header->triangles);
  mesh->degenerate = (const uint64_t *)(block + header->degenerate);
  mesh->neighbours = header->adjacency ? (const uint32_t *)(block + header->neighbours) : NULL;
  mesh->nodes = (const bvh_node *)(block + header->nodes);
}

typedef struct hashing {
  const char *bytes;
  pieces cut;
  uint64_t hashes[PARALLEL_PIECES];
} hashing;

static void hash_piece(void *argument, uint32_t index) {
  hashing *h = argument;
  uint64_t begin = pieces_begin(&h->cut, index);
  h->hashes[index] = gz_hash_bytes(h->bytes + begin, pieces_end(&h->cut, index) - begin, index);
}

uint64_t gz_mesh_hash(const graze_context *context, const void *bytes, uint64_t size, uint64_t seed) {
  hashing h = {.bytes = bytes, .cut = pieces_of(size, HASH_LEAST)};
  gz_parallel_each(context, h.cut.number, hash_piece, &h);
  return gz_hash_bytes(h.hashes, h.cut.number * sizeof h.hashes[0], seed ^ size);
}

uint64_t gz_mesh_checksum(const graze_context *context, const mesh_header *header) {
  mesh_header copy = *header;
  copy.checksum = 0;
  uint64_t head = gz_hash_bytes(&copy, sizeof copy, MESH_MAGIC);
  return gz_mesh_hash(context, header + 1, header->block_bytes - sizeof *header, head);
}

/* ---- checks ---- */

typedef struct inspection {
  const graze_mesh *mesh;
  const uint8_t *depth; /* of each node; 0: no parent */
  uint64_t *seen;       /* a bit for each triangle */
  pieces cut;
  const char *reasons[PARALLEL_PIECES];
  uint64_t where[PARALLEL_PIECES];
} inspection;

static bool header_sane(const mesh_header *h) {
  const uint64_t most = UINT32_MAX - 1;
  return h->vertex_count <= most && h->triangle_count <= most && h->node_count <= most && h->precision <= 1 &&
         h->volumes <= 1 && h->adjacency <= 1 && h->closed <= 1 && h->oriented <= 1 && h->tree_usable <= 1 &&
         h->degenerate_count <= h->triangle_count &&
         (h->triangle_count == 0 || !h->tree_usable) == (h->node_count == 0);
}

static const char *check_header(const mesh_header *h, size_t size) {
  if (size < sizeof *h) return "too short for a header";
  if (h->magic != MESH_MAGIC) return "not a mesh block: the magic number is wrong";
  if (h->version != MESH_VERSION) return "another version of the format";
  if (h->header_bytes != sizeof *h) return "the header has another size";
  if (h->block_bytes != size) return "the size is not the one in the header (cut short?)";
  if (!header_sane(h)) return "a count or flag in the header is out of range";
  mesh_header wanted = *h;
  gz_mesh_layout(&wanted);
  if (memcmp(&wanted, h, sizeof wanted) != 0) return "the arrays do not stand where the counts put them";
  return NULL;
}

static const char *check_box(const mesh_header *h) {
  for (int k = 0; k < 3; k++) {
    if (h->triangle_count == 0) continue;
    if (!isfinite(h->box_min[k]) || !isfinite(h->box_max[k]) || h->box_min[k] > h->box_max[k]) return "bad box";
  }
  return isfinite(h->magnitude) && h->magnitude >= 0 ? NULL : "bad magnitude";
}

static const char *check_bits(const graze_mesh *mesh) {
  uint64_t words = ((uint64_t)mesh->triangle_count + 63) / 64, count = 0;
  for (uint64_t i = 0; i < words; i++) count += (uint64_t)__builtin_popcountll(mesh->degenerate[i]);
  uint32_t last = mesh->triangle_count % 64;
  if (last != 0 && mesh->degenerate[words - 1] >> last != 0) return "zero-area bits beyond the last triangle";
  return count == mesh->header->degenerate_count ? NULL : "zero-area bits do not match their count";
}

static const char *check_neighbours(const graze_mesh *mesh, uint64_t *where) {
  if (mesh->neighbours == NULL) return NULL;
  uint64_t count = 3 * (uint64_t)mesh->triangle_count;
  bool bad = false;
  for (uint64_t i = 0; i < count; i++) {
    bad |= mesh->neighbours[i] >= mesh->triangle_count && mesh->neighbours[i] != NO_TRIANGLE;
  }
  if (!bad) return NULL;
  for (*where = 0; mesh->neighbours[*where] < mesh->triangle_count || mesh->neighbours[*where] == NO_TRIANGLE;)
    ++*where;
  *where /= 3;
  return "a neighbour is out of range: triangle";
}

static bool all_finite(const float *x, int count) {
  float sum = 0;
  for (int i = 0; i < count; i++) sum += x[i] * 0.0f;
  return sum == 0;
}

static const char *check_node_numbers(const bvh_node *node) {
  bool good = all_finite(&node->center[0][0], 3 * NODE_WIDTH) && all_finite(node->axis, 9) &&
              all_finite(node->origin, 3) && isfinite(node->reach) && isfinite(node->size);
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < NODE_WIDTH; k++) {
      float half = node->half[i][k];
      good &= k < node->count ? half >= 0 && half <= FLT_MAX : half == -INFINITY && node->center[i][k] == 0;
    }
  }
  return good ? NULL : "a box is not a number: node";
}

static const char *check_node(const inspection *s, uint32_t index) {
  const graze_mesh *mesh = s->mesh;
  const bvh_node *node = mesh->nodes + index;
  uint64_t triangles = 0;
  if (s->depth[index] == 0) return "no parent: node";
  for (uint32_t k = 0; k < NODE_WIDTH; k++) {
    uint32_t child = node->child[k];
    if (k >= node->count) {
      if (child != UINT32_MAX) return "an unused place is in use: node";
    } else if (node->bottom) {
      if (child >= mesh->triangle_count) return "triangle out of range: node";
      uint64_t bit = (uint64_t)1 << (child & 63);
      if (__atomic_fetch_or(&s->seen[child >> 6], bit, __ATOMIC_RELAXED) & bit) return "a triangle stands twice: node";
      triangles++;
    } else {
      triangles += mesh->nodes[child].triangles;
    }
  }
  return triangles == node->triangles ? check_node_numbers(node) : "a wrong number of triangles: node";
}

static void check_nodes(void *argument, uint32_t index) {
  inspection *s = argument;
  uint64_t end = pieces_end(&s->cut, index);
  s->reasons[index] = NULL;
  for (uint64_t i = pieces_begin(&s->cut, index); i < end && s->reasons[index] == NULL; i++) {
    s->reasons[index] = check_node(s, (uint32_t)i);
    s->where[index] = i;
  }
}

/* Parents stand before their children, so one pass gives every depth and finds every second parent. */
static const char *check_shape(const graze_mesh *mesh, uint8_t *depth, uint64_t *where) {
  memset(depth, 0, mesh->node_count);
  depth[0] = 1;
  for (uint32_t i = 0; i < mesh->node_count; i++) {
    const bvh_node *node = mesh->nodes + i;
    *where = i;
    if (node->count < 1 || node->count > NODE_WIDTH || node->bottom > 1 || node->aligned > 1) return "bad counts: node";
    for (uint32_t k = 0; !node->bottom && k < node->count; k++) {
      uint32_t child = node->child[k];
      if (child <= i || child >= mesh->node_count) return "a child does not stand behind its parent: node";
      if (depth[child] != 0) return "two parents: a child of node";
      if (depth[i] >= MESH_DEPTH_LIMIT) return "too deep: node";
      depth[child] = (uint8_t)(depth[i] + 1);
    }
  }
  return NULL;
}

static const char *check_tree(const graze_mesh *mesh, uint8_t *depth, uint64_t *seen, uint64_t *where) {
  const char *reason = check_shape(mesh, depth, where);
  if (reason != NULL) return reason;
  uint64_t words = ((uint64_t)mesh->triangle_count + 63) / 64, covered = 0;
  memset(seen, 0, 8 * words);
  inspection s = {.mesh = mesh, .depth = depth, .seen = seen, .cut = pieces_of(mesh->node_count, NODES_LEAST)};
  gz_parallel_each(mesh->context, s.cut.number, check_nodes, &s);
  for (uint32_t i = 0; i < s.cut.number; i++) {
    *where = s.where[i];
    if (s.reasons[i] != NULL) return s.reasons[i];
  }
  for (uint64_t i = 0; i < words; i++) covered += (uint64_t)__builtin_popcountll(seen[i]);
  *where = mesh->triangle_count - covered;
  return *where == 0 ? NULL : "triangles that no node holds:";
}

/* Contents behind a good header and checksum. `where` is the element that the reason ends with. */
static const char *check_contents(const graze_mesh *mesh, uint8_t *depth, uint64_t *seen, uint64_t *where) {
  const mesh_header *h = mesh->header;
  const void *vertices = mesh->is_double ? (const void *)mesh->vertices_double : mesh->vertices_float;
  *where = gz_mesh_first_not_finite(mesh->context, vertices, mesh->is_double, 3 * h->vertex_count) / 3;
  if (*where < h->vertex_count) return "a coordinate is not finite: vertex";
  *where = gz_mesh_first_bad_index(mesh->context, mesh->triangles, 3 * h->triangle_count, h->vertex_count) / 3;
  if (*where < h->triangle_count) return "an index is out of range: triangle";
  const char *reason = check_neighbours(mesh, where);
  if (reason != NULL || h->node_count == 0) return reason;
  return check_tree(mesh, depth, seen, where);
}

/* Checks the block that starts at `header` and has `size` bytes; `name` stands in messages. */
static graze_status check_block(const graze_context *context, mesh_header *header, size_t size, const char *name) {
  const char *reason = check_header(header, size);
  if (reason == NULL && gz_mesh_checksum(context, header) != header->checksum) reason = "the checksum is wrong";
  if (reason == NULL) reason = check_box(header);
  graze_mesh mesh = {.context = context};
  if (reason == NULL) {
    gz_mesh_attach(&mesh, header);
    reason = check_bits(&mesh);
  }
  if (reason != NULL) return gz_fail(context, GRAZE_ERROR_FORMAT, "%s: %s", name, reason);

  size_t depth_bytes = (mesh.node_count + (size_t)7) / 8 * 8, seen_bytes = (mesh.triangle_count + (size_t)63) / 64 * 8;
  if (depth_bytes + seen_bytes == 0) seen_bytes = 64; /* never a null pointer */
  uint64_t *scratch = gz_memory_alloc(context, depth_bytes + seen_bytes);
  if (scratch == NULL) return gz_fail_memory(context, depth_bytes + seen_bytes);
  uint64_t where = 0;
  reason = check_contents(&mesh, (uint8_t *)scratch + seen_bytes, scratch, &where);
  gz_memory_release(context, scratch, depth_bytes + seen_bytes);
  if (reason == NULL) return GRAZE_OK;
  return gz_fail(context, GRAZE_ERROR_FORMAT, "%s: %s %llu", name, reason, (unsigned long long)where);
}

/* Takes the block over; if it is not good, it is released. */
static graze_status adopt(graze_context *context, mesh_header *header, size_t size, const char *name,
                          graze_mesh **mesh) {
  unsigned saved = gz_fp_enter();
  graze_status status = check_block(context, header, size, name);
  gz_fp_leave(saved);
  graze_mesh *made = status == GRAZE_OK ? gz_memory_alloc(context, sizeof *made) : NULL;
  if (status == GRAZE_OK && made == NULL) status = gz_fail_memory(context, sizeof *made);
  if (status != GRAZE_OK) {
    gz_memory_release(context, header, size);
    return status;
  }
  *made = (graze_mesh){.context = context};
  gz_mesh_attach(made, header);
  *mesh = made;
  return GRAZE_OK;
}

graze_status graze_mesh_from_block(graze_context *context, const void *block, size_t size, graze_mesh **mesh) {
  if (context == NULL) return GRAZE_ERROR_ARGUMENT;
  if (block == NULL || mesh == NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "mesh from block: null pointer");
  if (size < sizeof(mesh_header)) return gz_fail(context, GRAZE_ERROR_FORMAT, "block: too short for a header");
  mesh_header *header = gz_memory_alloc(context, size);
  if (header == NULL) return gz_fail_memory(context, size);
  memcpy(header, block, size);
  return adopt(context, header, size, "block", mesh);
}

const void *graze_mesh_block(const graze_mesh *mesh, size_t *size) {
  if (size != NULL) *size = mesh->header->block_bytes;
  return mesh->header;
}

/* ---- files ---- */

graze_status graze_mesh_save(graze_context *context, const graze_mesh *mesh, const char *path) {
  if (context == NULL) return GRAZE_ERROR_ARGUMENT;
  if (mesh == NULL || path == NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "mesh save: null pointer");
  new_file out;
  graze_status status = gz_save_begin(context, path, &out);
  if (status != GRAZE_OK) return status;
  bool written = gz_file_write(out.descriptor, mesh->header, mesh->header->block_bytes);
  if (!written) status = gz_file_error(context, path, "cannot write");
  return gz_save_end(context, path, &out, status);
}

/* A file that somebody else cuts off would end the program if it were mapped: the bytes are copied, by all threads,
 * which costs a fraction of the checks that follow. */
typedef struct copying {
  const graze_context *context;
  const char *path;
  int file;
  char *bytes;
  size_t size;
  _Atomic bool failed;
} copying;

enum { COPY_PIECE = 4 << 20 };

static void copy_pieces(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  copying *c = argument;
  size_t at = (size_t)begin * COPY_PIECE, last = (size_t)end * COPY_PIECE;
  (void)worker;
  if (last > c->size) last = c->size;
  if (gz_file_read_at(c->file, c->bytes + at, last - at, at)) return;
  atomic_store(&c->failed, true);
  if (errno != 0)
    gz_file_error(c->context, c->path, "cannot read");
  else
    gz_fail(c->context, GRAZE_ERROR_FILE, "%s: it became shorter while it was read", c->path);
}

static graze_status copy_file(const graze_context *context, const char *path, int file, size_t size,
                              mesh_header **header) {
  copying c = {context, path, file, gz_memory_alloc(context, size), size, false};
  if (c.bytes == NULL) return gz_fail_memory(context, size);
  gz_parallel_for(context, (uint32_t)((size - 1) / COPY_PIECE + 1), 1, copy_pieces, &c);
  *header = (mesh_header *)c.bytes;
  if (!c.failed) return GRAZE_OK;
  gz_memory_release(context, c.bytes, size);
  return GRAZE_ERROR_FILE;
}

static graze_status read_block(const graze_context *context, const char *path, mesh_header **header, size_t *size) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return gz_file_error(context, path, "cannot open");
  struct stat state;
  graze_status status = GRAZE_OK;
  if (fstat(file, &state) != 0) {
    status = gz_file_error(context, path, "cannot read");
  } else if (!S_ISREG(state.st_mode)) {
    status = gz_fail(context, GRAZE_ERROR_FILE, "%s: not a regular file", path);
  } else if ((uint64_t)state.st_size < sizeof(mesh_header)) {
    status = gz_fail(context, GRAZE_ERROR_FORMAT, "%s: too short for a header", path);
  } else {
    *size = (size_t)state.st_size;
    status = copy_file(context, path, file, *size, header);
  }
  close(file);
  return status;
}

graze_status graze_mesh_load(graze_context *context, const char *path, graze_mesh **mesh) {
  if (context == NULL) return GRAZE_ERROR_ARGUMENT;
  if (path == NULL || mesh == NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "mesh load: null pointer");
  mesh_header *header = NULL;
  size_t size = 0;
  graze_status status = read_block(context, path, &header, &size);
  return status == GRAZE_OK ? adopt(context, header, size, path, mesh) : status;
}
