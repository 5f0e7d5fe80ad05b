/* gltf.h: a glTF 2.0 file while it is read; private to io.
 *
 * Source of every rule: the glTF 2.0 specification of the Khronos Group (2.0.1, ISO/IEC 12113), and for the
 * extensions their own texts (KHR_mesh_quantization, EXT_mesh_gpu_instancing, EXT_meshopt_compression,
 * KHR_draco_mesh_compression). Chapters are
 * named where a rule is used. Numbers of the file go through three steps: whole numbers below 2^53 from JSON, ranges
 * checked when the tables of buffers, views and accessors are made, elements checked when they are read.
 */
#ifndef GRAZE_IO_GLTF_H
#define GRAZE_IO_GLTF_H

#include <jansson.h>

#include "assembly.h"
#include "file.h"
#include "meshopt.h"

#define GLTF_NONE UINT32_MAX

/* What a message begins with: "mesh 3 primitive 0". */
typedef struct gltf_place {
  char text[96];
} gltf_place;

typedef struct gltf_buffer {
  const unsigned char *bytes; /* NULL: not in memory */
  bool stored;                /* in the input's file, from `at` on; else without bytes the file gives none */
  uint64_t at, size;
  void *owned; /* free() it */
} gltf_buffer;

typedef struct gltf_view {
  uint32_t buffer;
  uint64_t offset, size; /* within the buffer */
  unsigned stride;       /* 0: elements lie side by side */
  uint64_t target;       /* as in the file, 0: not said */
  bool packed;           /* its bytes are compressed (EXT_meshopt_compression): */
  meshopt_stream stream; /* so, */
  uint32_t stream_buffer;
  uint64_t stream_offset;
  unsigned char *unpacked; /* and once they are needed, here; free() it */
} gltf_view;

typedef enum gltf_component {
  GLTF_BYTE = 5120,
  GLTF_UNSIGNED_BYTE = 5121,
  GLTF_SHORT = 5122,
  GLTF_UNSIGNED_SHORT = 5123,
  GLTF_UNSIGNED_INT = 5125,
  GLTF_FLOAT = 5126
} gltf_component;

/* A run of elements within a view. */
typedef struct gltf_run {
  uint32_t view; /* GLTF_NONE: no bytes, all zeros */
  uint64_t offset;
  uint64_t component; /* a gltf_component, or a number that is not known here */
} gltf_run;

typedef struct gltf_accessor {
  gltf_run run;
  unsigned components; /* 1 to 4; 0: a matrix or a type that is not known here, which nothing here reads */
  bool normalized;
  uint64_t count;
  uint64_t sparse_count; /* 0: none */
  gltf_run sparse_indices, sparse_values;
} gltf_accessor;

typedef struct gltf_primitive {
  gltf_place place;
  uint32_t position, corners; /* accessors; corners: GLTF_NONE when the vertices come in order */
  uint64_t mode;              /* 0 to 6 */
  uint64_t corner_count;      /* of indices, or of vertices without them */
  uint64_t triangle_count;    /* 0 for points and lines */
  uint64_t first_vertex;      /* in the mesh */
} gltf_primitive;

typedef struct gltf_mesh { /* what there is to read */
  gltf_primitive *primitives;
  size_t primitive_count;
  uint64_t vertex_count, triangle_count;
  bool is_thin; /* it has points or lines */
} gltf_mesh;

/* Of the numbers of all poses: one is no float; one shows that it is. */
typedef struct gltf_digits {
  bool doubles, floats;
} gltf_digits;

/* Once the tree of nodes is known, all but the JSON stays until the last mesh has been read. */
typedef struct gltf_file {
  const io_input *input;
  io_fault *fault;
  json_t *root;
  gltf_buffer chunk; /* of a GLB file: its bytes */
  bool has_chunk, is_glb, quantized;
  bool may_extend; /* some member may be called "extensions" */
  gltf_buffer *buffers;
  gltf_view *views;
  gltf_accessor *accessors;
  uint32_t buffer_count, view_count, accessor_count, mesh_count, node_count;
  gltf_mesh *meshes;
  uint64_t zeros;        /* elements read so far that the file has no bytes for */
  uint64_t byte_count;   /* in all buffers */
  uint64_t packed_bytes; /* of views unpacked so far */
  struct gltf_pieces *pieces;
  uint32_t made_count; /* views, and accessors, made of the pieces; they stand behind those of the file */
  gltf_digits digits;
  io_assembly assembly;
} gltf_file;

/* ---- gltf_json.c: values ---- */

gltf_place gz_gltf_place_of(const char *what, uint64_t index);

/* Notes a fault and returns false. */
bool gz_gltf_fail(const gltf_file *file, graze_status status, const char *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The member `key`, a whole number of [least, most]; `absent` when there is none, or a fault when that is
 * GLTF_REQUIRED. */
#define GLTF_REQUIRED UINT64_MAX
bool gz_gltf_get_number(const gltf_file *file, const char *place, const json_t *object, const char *key, uint64_t least,
                        uint64_t most, uint64_t absent, uint64_t *value);

/* The same for a place in a table of `count`; GLTF_NONE when there is none and it is not `required`. */
bool gz_gltf_get_index(const gltf_file *file, const char *place, const json_t *object, const char *key, uint32_t count,
                       bool required, uint32_t *index);

/* An entry of an array of indices. */
bool gz_gltf_index_of(const gltf_file *file, const char *place, const char *key, const json_t *value, uint32_t count,
                      uint32_t *index);

bool gz_gltf_get_bool(const gltf_file *file, const char *place, const json_t *object, const char *key, bool *value);

/* The member, or NULL when there is none; false: it is no array, or no object. */
bool gz_gltf_get_array(const gltf_file *file, const char *place, const json_t *object, const char *key, json_t **array);
bool gz_gltf_get_object(const gltf_file *file, const char *place, const json_t *object, const char *key,
                        json_t **member);

/* Exactly `count` numbers, or untouched when there are none; `found` says which. */
bool gz_gltf_get_numbers(const gltf_file *file, const char *place, const json_t *object, const char *key, size_t count,
                         double *numbers, bool *found);

/* "name", or "". */
bool gz_gltf_get_name(const gltf_file *file, const char *place, const json_t *object, const char **name);

/* The array `key` of the root, each entry an object; NULL and 0 when there is none. An empty one is a fault. */
bool gz_gltf_get_table(const gltf_file *file, const char *key, json_t **table, uint32_t *count);

/* The object `name` among the extensions of `object`; NULL: none. */
json_t *gz_gltf_extension(const json_t *object, const char *name);

/* ---- gltf_buffer.c, gltf_uri.c: bytes ---- */

bool gz_gltf_read_buffers(gltf_file *file);

/* The bytes that a uri names, of which `wanted` are needed. */
bool gz_gltf_read_uri(const gltf_file *file, const char *place, const char *uri, uint64_t wanted, gltf_buffer *buffer);

/* `size` bytes of a buffer that has them, read from the file where they are not in memory: then `owned` is to be freed.
 * NULL: the fault is noted. */
const unsigned char *gz_gltf_get_bytes(const gltf_file *file, const char *place, uint32_t buffer, uint64_t offset,
                                       uint64_t size, void **owned);

/* ---- gltf_packed.c: views whose bytes are compressed ---- */

/* What the view's entry in the table says of its compression, if it has no bytes otherwise. */
bool gz_gltf_read_packing(const gltf_file *file, const char *place, const json_t *object, gltf_view *view);

/* Notes that so many compressed bytes are to be unpacked. */
bool gz_gltf_allow_packed(gltf_file *file, const char *place, uint64_t size);

/* Unpacks the views that an accessor has elements in; to be called before they are read. GLTF_NONE: no accessor. */
bool gz_gltf_unpack(gltf_file *file, uint32_t accessor);

/* ---- gltf_draco.c: primitives that are compressed ---- */

typedef struct gltf_pieces gltf_pieces;

/* Unpacks those whose positions are nowhere else. */
bool gz_gltf_read_pieces(gltf_file *file);

/* If the primitive is one of them, its accessors become those of what it was unpacked to. */
void gz_gltf_find_piece(const gltf_file *file, const json_t *object, gltf_primitive *primitive);
void gz_gltf_free_pieces(gltf_file *file);

/* ---- gltf_accessor.c: elements ---- */

/* Bytes of a component; 0: a type that is not known here. */
unsigned gz_gltf_component_size(uint64_t component);

bool gz_gltf_read_accessors(gltf_file *file);

/* To be called before memory is asked for: an accessor without bytes has a count that costs the file nothing, so there
 * is a limit to what all of them may give. */
bool gz_gltf_allow_zeros(gltf_file *file, const char *place, uint32_t accessor, uint64_t count);

/* `components` doubles for each element of an accessor that has that many, into `out`. Every value is finite. */
bool gz_gltf_read_vectors(const gltf_file *file, const char *place, uint32_t accessor, unsigned components,
                          double *out);

/* The first `count` elements of an accessor of unsigned whole numbers. */
bool gz_gltf_read_corners(const gltf_file *file, const char *place, uint32_t accessor, uint64_t count, uint32_t *out);

/* ---- gltf_mesh.c, gltf_primitive.c: geometry ---- */

/* Checks the primitive and finds its numbers. */
bool gz_gltf_read_primitive(const gltf_file *file, const json_t *object, gltf_primitive *primitive);

/* The triangles of the primitive, into `out`. */
bool gz_gltf_read_triangles(const gltf_file *file, const gltf_primitive *primitive, uint32_t *out);

/* Checks every mesh, used or not, and counts what it has; `meshes` of the assembly have counts and no arrays. */
bool gz_gltf_list_meshes(gltf_file *file);
void gz_gltf_free_meshes(gltf_file *file);

/* The vertices and triangles of a mesh of the list. Changes nothing in `file`. */
bool gz_gltf_read_mesh(const gltf_file *file, uint32_t mesh, graze_geometry *geometry);

/* ---- gltf_node.c, gltf_tree.c: objects ---- */

typedef struct gltf_node {
  const char *name, *label; /* label: `name` or `Name` of its extras; NULL = none */
  json_t *children;         /* array of indices that have been checked, or NULL */
  json_t *instances;        /* the attributes of EXT_mesh_gpu_instancing, or NULL */
  uint32_t mesh, parent;
  uint32_t mark;       /* of the search that met the node last */
  graze_pose pose;     /* relative to the parent */
  graze_pose rounding; /* what its numbers may be off by if the file's are floats */
} gltf_node;

bool gz_gltf_read_node(gltf_file *file, const json_t *object, const char *place, gltf_node *node);

/* The pose of a translation, a rotation (x, y, z, w) and a scale: scaled first, moved last. */
graze_pose gz_gltf_make_pose(const double translation[3], const double rotation[4], const double scale[3]);

/* The poses of the instances of a node. The caller frees them. */
bool gz_gltf_read_instances(gltf_file *file, const char *place, const json_t *attributes, graze_pose **poses,
                            uint64_t *count);

bool gz_gltf_read_tree(gltf_file *file);

/* ---- gltf_rounding.c ---- */

/* Notes whether these numbers of a pose are floats. */
void gz_gltf_look_at(gltf_digits *digits, const double *numbers, int count);

/* What each number of a matrix may be off by if it was rounded to floats, and the same of gz_gltf_make_pose(); with
 * `is_exact` the rotation is not off. */
graze_pose gz_gltf_round_matrix(const graze_pose *pose);
graze_pose gz_gltf_round_pose(const double translation[3], const double rotation[4], const double scale[3],
                              bool is_exact);

/* Adds what the product above * pose * below is off by if that pose is off by `own`. */
void gz_gltf_add_rounding(const graze_pose *above, const graze_pose *own, const graze_pose *below, graze_pose *sum);

#endif
