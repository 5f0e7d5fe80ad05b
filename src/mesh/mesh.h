/* The inside of a baked mesh: the layout of its block, and the steps that fill it.
 *
 * The block is one run of bytes that starts with mesh_header; every array stands at an offset from its first byte,
 * aligned to 64 bytes, padding zeroed. The same bytes are saved, loaded, hashed and sent. Order of arrays: vertices,
 * triangles, degenerate bits, neighbours (when adjacency is known), nodes.
 */
#ifndef GRAZE_SRC_MESH_MESH_H
#define GRAZE_SRC_MESH_MESH_H

#include <stdatomic.h>

#include "base/memory.h"
#include "graze/mesh.h"

enum { MESH_VERSION = 1, NODE_WIDTH = 8 };
#define MESH_MAGIC  0x314853454D5A5247u /* "GRZMESH1" in little-endian bytes */
#define NO_TRIANGLE UINT32_MAX

/* Nodes on a path from the root, at most: what is read from outside is refused beyond it. */
enum { MESH_DEPTH_LIMIT = 250 };

/* One node of the hierarchy: up to eight children, each with a box in the node's own frame.
 *
 * A mesh point x has node coordinates u = axis * (x - origin), axis row-major with rows of length one to float
 * precision. Child k covers every point of its triangles: |u[i] - center[i][k]| <= half[i][k] for each of them,
 * computed outward. The children of a bottom node are single triangles; those of an inner node are nodes, all of
 * which stand behind it in the array. Unused places have half = -infinity and center = 0, so that every test against
 * them fails. Nodes stand in depth-first order; node 0 is the root. */
typedef struct bvh_node {
  float center[3][NODE_WIDTH];
  float half[3][NODE_WIDTH];
  uint32_t child[NODE_WIDTH]; /* triangle (bottom) or node; unused: UINT32_MAX */
  float axis[9];
  float origin[3];
  float reach;     /* every covered |u| is at most this */
  uint8_t count;   /* children in use, 1 to 8 */
  uint8_t bottom;  /* 1: children are triangles */
  uint8_t aligned; /* 1: axis is the identity */
  uint8_t pad;
  float size;         /* half the diagonal of the box around all children, in node coordinates */
  uint32_t triangles; /* below this node */
} bvh_node;
_Static_assert(sizeof(bvh_node) == 288, "a node is nine half cache lines");

typedef struct mesh_header {
  uint64_t magic;
  uint32_t version;
  uint32_t header_bytes; /* sizeof(mesh_header) */
  uint64_t block_bytes;
  uint64_t checksum; /* gz_hash_bytes of the block with this field zero */
  uint64_t geometry_hash;
  uint64_t vertex_count;
  uint64_t triangle_count;
  uint64_t node_count;
  uint64_t vertices;   /* offsets */
  uint64_t triangles;  /* uint32_t[3] a triangle */
  uint64_t degenerate; /* one bit a triangle, in uint64_t words */
  uint64_t neighbours; /* uint32_t[3] a triangle; 0 = adjacency not known */
  uint64_t nodes;
  uint32_t precision; /* graze_precision */
  uint32_t volumes;   /* graze_volumes */
  double box_min[3];  /* of the vertices that triangles use; min > max when there are none */
  double box_max[3];
  double magnitude;     /* largest |coordinate| among them */
  uint32_t tree_usable; /* 0: magnitude is outside [2^-60, 2^60] (and not zero): floats cannot hold the boxes, there are
                           no nodes */
  uint32_t adjacency;
  uint64_t positions;
  uint64_t degenerate_count;
  uint64_t parts;
  uint64_t open_edges;
  uint64_t nonmanifold_edges;
  uint64_t misoriented_edges;
  uint32_t closed;
  uint32_t oriented;
} mesh_header;
_Static_assert(sizeof(mesh_header) % 8 == 0, "no hidden padding at the end");

/* A node as the builder makes it, before frames and boxes. */
typedef struct tree_node {
  uint32_t child[NODE_WIDTH];
  uint32_t triangles; /* below this node */
  uint8_t count;
  uint8_t bottom;
} tree_node;

/* What another room has made of a mesh and keeps with it, in memory of the mesh's context: the first member of its own
 * structure. It goes with the mesh, and when that is refitted. */
typedef struct mesh_kept mesh_kept;
struct mesh_kept {
  void (*destroy)(const graze_context *context, mesh_kept *kept);
};

struct graze_mesh {
  const graze_context *context;
  uint32_t triangle_count;
  uint32_t node_count;
  bool is_double;
  mesh_header *header;         /* = the block */
  const float *vertices_float; /* exactly one of these two is set */
  const double *vertices_double;
  const uint32_t *triangles;
  const uint64_t *degenerate;
  const uint32_t *neighbours; /* NULL: not known */
  const bvh_node *nodes;
  mesh_header *spare;        /* refit works here and swaps: a block of the same size; NULL before the first */
  _Atomic(mesh_kept *) kept; /* NULL: nothing yet */
};

/* A vertex as doubles. */
static inline void mesh_vertex(const graze_mesh *mesh, uint32_t vertex, double p[3]) {
  const size_t at = 3 * (size_t)vertex;
  for (size_t k = 0; k < 3; k++)
    p[k] = mesh->is_double ? mesh->vertices_double[at + k] : (double)mesh->vertices_float[at + k];
}

/* Corner coordinates of one triangle as doubles: 9 values. */
static inline void mesh_corners(const graze_mesh *mesh, uint32_t triangle, double corners[9]) {
  const uint32_t *v = mesh->triangles + 3 * (size_t)triangle;
  for (int c = 0; c < 3; c++) mesh_vertex(mesh, v[c], corners + 3 * c);
}

static inline bool mesh_degenerate(const graze_mesh *mesh, uint32_t triangle) {
  return (mesh->degenerate[triangle >> 6] >> (triangle & 63)) & 1;
}

/* mesh.c: graze_mesh_measure. `look` (NULL: none) gets the mesh while it is there, with all but nodes; what it returns,
 * this returns. */
typedef graze_status mesh_look(const graze_context *context, const graze_mesh *mesh, void *user);
graze_status gz_mesh_measure(graze_context *context, const graze_mesh_def *def, graze_mesh_facts *facts,
                             mesh_look *look, void *user);

/* ---- steps of baking; each says in which file it stands ---- */

/* facts.c: box, magnitude, degenerate bits and count, geometry hash, into the header and the bits. Needs vertices
 * and triangles in place. Coordinates are known to be finite. */
void gz_mesh_compute_basics(graze_mesh *mesh, uint64_t *degenerate);

/* facts.c: the hash of the coordinates and triangles of a mesh with both in place, and its header's counts. */
uint64_t gz_mesh_geometry_hash(const graze_mesh *mesh);

/* facts.c: number of the first coordinate of `count` that is NaN or infinite, or `count`. */
uint64_t gz_mesh_first_not_finite(const graze_context *context, const void *coordinates, bool is_double,
                                  uint64_t count);

/* facts.c: place of the first of `count` indices that is not below `limit`, or `count`. */
uint64_t gz_mesh_first_bad_index(const graze_context *context, const uint32_t *indices, uint64_t count, uint64_t limit);

/* adjacency.c: positions by equal coordinates, edges, parts; writes the neighbours array and the header's facts. `lent`
 * is scratch that it may use, so that less is asked for; aligned to a cache line. */
graze_status gz_mesh_compute_adjacency(graze_mesh *mesh, uint32_t *neighbours, buffer lent);

/* build_kernels.c: the hierarchy's topology: for `mesh` with vertices and triangles in place gives an array of nodes
 * (made with the context's allocator; *bytes of it). No triangles, or a tree that is not usable: no nodes. */
typedef graze_status mesh_build_function(const graze_mesh *mesh, tree_node **nodes, uint32_t *count, size_t *bytes);
mesh_build_function gz_mesh_build_tree_scalar, gz_mesh_build_tree_avx2;

/* fit.c: frames and boxes of all nodes, bottom up. Their topology is taken from `topology` on the way, or is in the
 * nodes already (NULL). Every field of the nodes is set. count 0: nothing. */
graze_status gz_mesh_fit_tree(const graze_mesh *mesh, const tree_node *topology, bvh_node *nodes, uint32_t count);

/* block.c: fills the header's offsets and block_bytes from its counts, precision and adjacency. */
void gz_mesh_layout(mesh_header *header);

/* block.c: sets the pointers of `mesh` from its header. */
void gz_mesh_attach(graze_mesh *mesh, mesh_header *header);

/* block.c: the checksum over the whole block as it stands. */
uint64_t gz_mesh_checksum(const graze_context *context, const mesh_header *header);

/* block.c: gz_hash_bytes over pieces on the context's threads, then over the pieces' hashes. */
uint64_t gz_mesh_hash(const graze_context *context, const void *bytes, uint64_t size, uint64_t seed);

#endif
