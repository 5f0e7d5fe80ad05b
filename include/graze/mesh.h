/* graze/mesh.h: a baked triangle mesh.
 *
 * A mesh is built once from the caller's arrays, is immutable except for refits, and can be shared by any number of
 * objects and threads. It is one relocatable block of memory: vertices in the given precision, triangles in the given
 * order, adjacency by position, facts, and a bounding volume hierarchy. The block can be saved, loaded, hashed and sent
 * as bytes.
 */
#ifndef GRAZE_MESH_H
#define GRAZE_MESH_H

#include "graze/base.h"
#include "graze/math.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graze_mesh graze_mesh;

typedef enum graze_volumes {
  GRAZE_VOLUMES_ORIENTED = 0, /* boxes in a frame fitted to each small patch: best for near misses */
  GRAZE_VOLUMES_ALIGNED = 1   /* boxes along the mesh's axes: faster to build and refit; box candidates are exact */
} graze_volumes;

typedef struct graze_mesh_def {
  const void *vertices; /* first coordinate of vertex 0: x, y, z of `precision` */
  size_t vertex_stride; /* bytes from vertex to vertex; 0 = tightly packed */
  uint64_t vertex_count;
  const uint32_t *indices; /* 3 per triangle; NULL: a soup, triangle i has vertices 3i, 3i+1, 3i+2 */
  uint64_t triangle_count; /* with indices NULL: 0 = vertex_count / 3, which must be whole */
  graze_precision precision;
  graze_volumes volumes;
  bool no_adjacency; /* skip adjacency: closed, oriented, parts and edges are then unknown */
  uint32_t cookie;
} graze_mesh_def;

GRAZE_API graze_mesh_def graze_default_mesh_def(void);

/* Bakes a mesh; the arrays are copied. Zero triangles are allowed. Errors: ARGUMENT, MEMORY, LIMIT, NOT_FINITE
 * (also for a vertex that no triangle uses), INDEX. O(n log n). */
GRAZE_API graze_status graze_mesh_create(graze_context *context, const graze_mesh_def *def, graze_mesh **mesh);
GRAZE_API void graze_mesh_destroy(graze_mesh *mesh);

/* The `hash` that the mesh's facts would have, without baking it, for finding a saved block. Reads the arrays once,
 * O(n). Errors as graze_mesh_create. */
GRAZE_API graze_status graze_mesh_hash(graze_context *context, const graze_mesh_def *def, uint64_t *hash);

/* Vertices with equal coordinates (-0 equals +0) are one position, whatever their indices. An edge is a pair of
 * distinct positions; degenerate (zero-area) triangles do not count in facts about edges. */
typedef struct graze_mesh_facts {
  uint64_t vertices;
  uint64_t positions; /* distinct positions among the vertices that triangles use */
  uint64_t triangles;
  uint64_t degenerate;        /* triangles of exactly zero area */
  uint64_t parts;             /* sets of triangles connected through shared positions */
  uint64_t open_edges;        /* edges of exactly one triangle */
  uint64_t nonmanifold_edges; /* edges of three or more triangles */
  uint64_t misoriented_edges; /* edges that both of their two triangles traverse in the same direction */
  bool adjacency;             /* false: of the counts above only `vertices`, `triangles` and `degenerate` are
                                 known, and the next two are not */
  bool closed;                /* at least one triangle, every edge has exactly two */
  bool oriented;              /* no misoriented and no nonmanifold edge */
  graze_box box;              /* of the vertices that triangles use; empty for no triangles */
  graze_precision precision;
  graze_volumes volumes;
  uint64_t bytes; /* of the whole block */
  uint64_t hash;  /* of geometry: coordinates and triangles in order, independent of the rest */
} graze_mesh_facts;

GRAZE_API void graze_mesh_get_facts(const graze_mesh *mesh, graze_mesh_facts *facts);

/* The facts that a mesh would have (with `bytes` 0), without building its hierarchy; with `no_adjacency` this takes
 * little longer than reading the arrays. For meshes of which box or hash may be all that is needed. Errors as
 * graze_mesh_create. */
GRAZE_API graze_status graze_mesh_measure(graze_context *context, const graze_mesh_def *def, graze_mesh_facts *facts);

GRAZE_API uint32_t graze_mesh_triangle_count(const graze_mesh *mesh);

/* Corners of triangle `index` (< triangle count) as 9 doubles, exactly the stored values. */
GRAZE_API void graze_mesh_get_triangle(const graze_mesh *mesh, uint32_t index, double corners[9]);

/* Vertex indices of triangle `index`. */
GRAZE_API void graze_mesh_get_indices(const graze_mesh *mesh, uint32_t index, uint32_t vertices[3]);

/* Triangles across the edges (corner 0-1, 1-2, 2-0) of triangle `index`: the other triangle of an edge of exactly
 * two, else UINT32_MAX (open, non-manifold, degenerate, or adjacency unknown). */
GRAZE_API void graze_mesh_get_neighbours(const graze_mesh *mesh, uint32_t index, uint32_t neighbours[3]);

/* True when triangle `index` has exactly zero area. */
GRAZE_API bool graze_mesh_is_degenerate(const graze_mesh *mesh, uint32_t index);

/* Gives the mesh new vertex positions (same count, precision and layout as at creation: `stride` 0 = packed) and
 * recomputes volumes, box, degenerate flags and, where present, adjacency. Triangles keep their numbers. No other
 * thread may use the mesh. O(n). The first refit makes a second block, which is kept for the next. Errors: ARGUMENT,
 * MEMORY, NOT_FINITE; on an error the mesh is unchanged. The hierarchy degrades when vertices move far relative to
 * each other; then bake again. */
GRAZE_API graze_status graze_mesh_refit(graze_mesh *mesh, const void *vertices, size_t stride);

/* The block, little-endian, versioned and checksummed; valid until the mesh is refitted or destroyed. */
GRAZE_API const void *graze_mesh_block(const graze_mesh *mesh, size_t *size);

/* Makes a mesh from a copy of a block, whose magic, version, size, checksum and indices are all verified first.
 * Errors: ARGUMENT, MEMORY, FORMAT (the message has the reason). */
GRAZE_API graze_status graze_mesh_from_block(graze_context *context, const void *block, size_t size, graze_mesh **mesh);

/* Writes the block to a file, complete or not at all (through a temporary file and rename). Errors: FILE. */
GRAZE_API graze_status graze_mesh_save(graze_context *context, const graze_mesh *mesh, const char *path);

/* Reads a saved block, with the same checks as graze_mesh_from_block. The file may change afterwards. Errors: FILE,
 * FORMAT, MEMORY. */
GRAZE_API graze_status graze_mesh_load(graze_context *context, const char *path, graze_mesh **mesh);

#ifdef __cplusplus
}
#endif
#endif
