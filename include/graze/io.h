/* graze/io.h: mesh and scene files. A library of its own (graze_io), next to the core.
 *
 * Readers: OBJ, STL (ASCII and binary), PLY (ASCII, binary little- and big-endian), OFF, glTF 2.0 (.gltf, .glb), and
 * through a program of its own, graze-import, what assimp reads beside these. Numbers are the nearest double of the
 * decimal text, whatever the locale, or the exact value of a stored float or double. Triangles are numbered in file
 * order; polygons are fanned from their first corner, in order. A file with a fault is refused with one message that
 * names file and place; nothing is half-read.
 */
#ifndef GRAZE_IO_H
#define GRAZE_IO_H

#include "graze/base.h"
#include "graze/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A run of triangles that the file names as one object (OBJ `o` records, STL solids), in file order. */
typedef struct graze_io_group {
  const char *name;
  uint32_t first_triangle;
  uint32_t triangle_count;
} graze_io_group;

/* Geometry as read: coordinates as doubles (every format fits), three indices a triangle (always present; a soup
 * such as STL gets 0, 1, 2, ...). A file of points without triangles is no fault. Each group runs to the next one;
 * triangles before the first belong to no group, and a group may be empty. */
typedef struct graze_geometry {
  double *vertices; /* 3 per vertex */
  uint64_t vertex_count;
  uint32_t *indices; /* 3 per triangle */
  uint64_t triangle_count;
  graze_io_group *groups;
  uint32_t group_count;
  bool all_float; /* every coordinate is a float's value: the mesh can be baked in half the memory */
  void *memory;   /* private */
} graze_geometry;

typedef enum graze_file_format {
  GRAZE_FORMAT_AUTO = 0, /* by content, then by the file name's ending */
  GRAZE_FORMAT_OBJ,
  GRAZE_FORMAT_STL,
  GRAZE_FORMAT_PLY,
  GRAZE_FORMAT_OFF,
  GRAZE_FORMAT_GLTF,  /* .gltf and .glb */
  GRAZE_FORMAT_IMPORT /* by the program graze-import: COLLADA, 3MF, FBX and the like; found by the name's ending only */
} graze_file_format;

/* Reads a whole file, with the context's threads and memory: what is read is freed before the context is. On failure
 * `geometry` is empty, and the message, here and below, is "FILE:LINE: reason" for text and "FILE: byte N: reason" for
 * binary. Errors below.
 * A file that holds an assembly is joined: every object's triangles at the object's pose (as tier T1 poses them), in
 * the order of the objects, one group for each. Errors: ARGUMENT, FILE, FORMAT, NOT_FINITE, INDEX, LIMIT, MEMORY, POSE,
 * UNSUPPORTED (the file has geometry of a kind that is not read, such as free-form surfaces or PLY's triangle strips).
 */
GRAZE_API graze_status graze_read_geometry(graze_context *context, const char *path, graze_file_format format,
                                           graze_geometry *geometry);

/* The same from memory; `name` stands for the path in messages, its ending counts for GRAZE_FORMAT_AUTO, and what a
 * .gltf file refers to is looked for in its folder. GRAZE_FORMAT_IMPORT is UNSUPPORTED here: it needs a file. */
GRAZE_API graze_status graze_parse_geometry(graze_context *context, const void *bytes, size_t size, const char *name,
                                            graze_file_format format, graze_geometry *geometry);

GRAZE_API void graze_geometry_free(graze_geometry *geometry);

/* ---- assemblies: many named objects in one file ---- */

typedef struct graze_assembly_mesh {
  const char *name; /* as in the file; "" = none */
  graze_geometry geometry;
} graze_assembly_mesh;

/* A node of the file's tree that has triangles. */
typedef struct graze_assembly_object {
  const char *name;   /* path of the node's names from the root, "Site/Pump 3/Flange"; unique: "Bolt#2" and so on */
  const char *parent; /* path of the node above; "" = none */
  uint32_t mesh;      /* instances share one mesh */
  graze_pose pose;    /* of the node in the world: the product of the matrices above it, each operation rounded once */
} graze_assembly_object;

typedef struct graze_assembly {
  graze_assembly_mesh *meshes; /* of glTF all that the file has, in its order, used or not */
  uint32_t mesh_count;
  graze_assembly_object *objects; /* in the order of a depth-first walk */
  uint32_t object_count;
  const char *units;        /* of the file, "m", "cm" or "mm"; "" = the format or the file does not say */
  graze_file_format format; /* that was read */
  uint64_t left_out;        /* primitives of points and lines, which have no triangles */
  void *memory, *source;    /* private */
} graze_assembly;

/* Reads a file as an assembly. glTF 2.0 (.gltf, .glb): every node whose mesh has triangles. GRAZE_FORMAT_IMPORT: the
 * same of what the importing program gives. Other formats: one object named after the file, or with `split` one for
 * each group that has triangles; triangles before the first group go by the file's name. Errors as for
 * graze_read_geometry; POSE: a node's matrix is not affine or not finite, and the message names the node. On failure
 * `assembly` is empty. */
GRAZE_API graze_status graze_read_assembly(graze_context *context, const char *path, graze_file_format format,
                                           bool split, graze_assembly *assembly);

/* The same from memory, as graze_parse_geometry. */
GRAZE_API graze_status graze_parse_assembly(graze_context *context, const void *bytes, size_t size, const char *name,
                                            graze_file_format format, bool split, graze_assembly *assembly);

/* The same, but the geometry of a GLB file stays in the file, which is open until the assembly is freed: its meshes
 * have counts and no arrays. For assemblies that are larger than memory should hold at a time. */
GRAZE_API graze_status graze_open_assembly(graze_context *context, const char *path, graze_file_format format,
                                           bool split, graze_assembly *assembly);

/* Reads the geometry of such a mesh, to be freed by the caller; of one that has its arrays already it is an ARGUMENT
 * error. Any number of threads at a time, each with a context of its own or one that they share. `path` stands in
 * messages. Other errors as graze_read_assembly. */
GRAZE_API graze_status graze_read_assembly_mesh(graze_context *context, const graze_assembly *assembly, uint32_t mesh,
                                                const char *path, graze_geometry *geometry);

GRAZE_API void graze_assembly_free(graze_assembly *assembly);

/* Writes OBJ (numbers that read back to the same doubles), with `o` records for groups. A regular file that could not
 * be written completely is removed. Errors: ARGUMENT, FILE, NOT_FINITE, INDEX, MEMORY. */
GRAZE_API graze_status graze_write_obj(graze_context *context, const char *path, const graze_geometry *geometry);

/* ---- binary glTF ---- */

/* Writes an assembly as one GLB file (glTF 2.0): a mesh with one primitive for each mesh, float positions and 32-bit
 * indices; a node for each object, with its pose as matrix, below a node for each part of its name before a '/'. The
 * objects' `parent` and the meshes' groups are not looked at; axes and lengths stay as they are (glTF reads them as y
 * up, in metres). Nothing is rounded: a coordinate that is not a float's value is an error. So is what glTF cannot
 * hold: a mesh without triangles, a pose that shears, a name that is not UTF-8, more than 4 GiB. A regular file that
 * could not be written completely is removed. Errors: ARGUMENT, FILE, NOT_FINITE, INDEX, LIMIT, MEMORY, POSE,
 * UNSUPPORTED; the message names mesh and vertex or triangle, or the object. */
GRAZE_API graze_status graze_write_glb(graze_context *context, const char *path, const graze_assembly *assembly);

/* ---- boxes ---- */

/* Axis-aligned boxes with ids, as a broad phase takes them, in file order. */
typedef struct graze_box_list {
  uint32_t *ids; /* no two alike */
  graze_box *boxes;
  uint32_t count;
} graze_box_list;

/* Reads boxes. Text: a line a box, `id,minx,miny,minz,maxx,maxy,maxz`; the first line may be these words. Binary, by
 * the first bytes: "GRZBOX1" and a zero byte, uint64 n, then n times uint64 id and 6 doubles, little-endian. Ids are
 * whole numbers below 2^32, min is at most max. Errors: ARGUMENT, FILE, FORMAT (number of fields, no number, min above
 * max, an id twice, a size that the count does not fit), NOT_FINITE, LIMIT (an id of 2^32 or more), MEMORY; the message
 * names line or byte. On failure `boxes` is empty. */
GRAZE_API graze_status graze_read_boxes(graze_context *context, const char *path, graze_box_list *boxes);

/* The same from memory; `name` stands for the path in messages, and one that ends in .gzb must be binary. */
GRAZE_API graze_status graze_parse_boxes(graze_context *context, const void *bytes, size_t size, const char *name,
                                         graze_box_list *boxes);
GRAZE_API void graze_box_list_free(graze_box_list *boxes);

/* ---- motions ---- */

/* An object's pose from a step on. */
typedef struct graze_motion_move {
  uint32_t step;
  uint32_t object; /* number in the list of names that the reader was given */
  graze_pose pose;
} graze_motion_move;

typedef struct graze_motion {
  graze_motion_move *moves; /* by step, and within a step in the order of the file */
  uint64_t count;
  uint32_t last_step; /* 0: nothing moves */
} graze_motion;

#define GRAZE_MOTION_MOST_STEPS 1000000

/* Reads how objects move: comma-separated text (RFC 4180 without line ends in fields) whose first line names the
 * columns: `step,object` and then the pose, either `m00,m01,m02,m03,m10,...,m23` or `x,y,z,qw,qx,qy,qz`, a unit
 * quaternion (it is normalised). A row says where an object is from that step on; step 0 is the scene as it is. Steps
 * do not descend; steps and objects that are not named stay as they are. `names`: the objects', to be different; the
 * moves have numbers in this list. Errors: ARGUMENT, FILE, FORMAT (titles, number of fields, no number, a step below
 * the one before or 0, a name that no object has, an object twice in a step, a zero quaternion), NOT_FINITE, LIMIT (a
 * step above GRAZE_MOTION_MOST_STEPS), MEMORY; the message names the line. On failure `motion` is empty. */
GRAZE_API graze_status graze_read_motion(graze_context *context, const char *path, const char *const *names,
                                         uint32_t name_count, graze_motion *motion);

/* The same from memory; `name` stands for the path in messages. */
GRAZE_API graze_status graze_parse_motion(graze_context *context, const void *bytes, size_t size, const char *name,
                                          const char *const *names, uint32_t name_count, graze_motion *motion);
GRAZE_API void graze_motion_free(graze_motion *motion);

/* ---- numbers ---- */

/* Nearest double of the decimal number at `text` (at most `end`), independent of the locale: digits, point,
 * exponent, sign. Returns the first unread character, or NULL when there is no number. Overflow gives an infinity.
 * No hex, no "nan", no "inf". */
GRAZE_API const char *graze_parse_double(const char *text, const char *end, double *value);

/* The fewest digits that read back to the same double, as "0.1", "-12" or "1e-300"; at most 25 characters with the
 * final 0; returns the length. "inf", "-inf" and "nan" for what is no number; -0 is "-0". */
GRAZE_API size_t graze_format_double(double value, char text[32]);

/* scene.json:
 *   {"graze":1, "units":"m",
 *    "objects":[{"name":"a","mesh":"a.obj","pose":[12 numbers],"layer":"steel"}],
 *    "ignore":[["a","b"]], "ignore_layers":[["steel","steel"]], "ignore_names":[["*gasket*","*"]],
 *    "ignore_same_parent":true, "sets":{"lines":["pipe*","layer:pipes"]}, "check":[["lines","lines"]]}
 * Everything but "graze", "objects", "name" and "mesh" may be left out. */
typedef struct graze_scene_file_object {
  char *name;
  char *mesh; /* path: joined to the scene file's folder unless absolute */
  graze_pose pose;
  char *layer; /* "" when absent */
} graze_scene_file_object;

/* A named set of objects: those that match one of its patterns. Patterns are shell patterns (*, ?, [...]) over the
 * whole name, '/' not being special; "layer:PATTERN" is one over the layer. */
typedef struct graze_scene_file_set {
  char *name;
  char **patterns;
  uint32_t pattern_count;
} graze_scene_file_set;

typedef struct graze_scene_file {
  char *units; /* "" when absent */
  graze_scene_file_object *objects;
  uint32_t object_count;
  uint32_t (*ignore)[2]; /* object indices */
  uint32_t ignore_count;
  char *(*ignore_layers)[2];
  uint32_t ignore_layer_count;
  char *(*ignore_names)[2]; /* patterns: pairs of an object that matches one and an object that matches the other */
  uint32_t ignore_name_count;
  bool ignore_same_parent; /* pairs whose names have the same path before the last '/' */
  graze_scene_file_set *sets;
  uint32_t set_count;
  char *(*check)[2]; /* names of sets: only pairs of an object of one and an object of the other; none = all pairs */
  uint32_t check_count;
} graze_scene_file;

/* Errors: FILE, FORMAT (unknown key, duplicate or unknown object name, wrong type: the message names key and place),
 * ARGUMENT, NOT_FINITE, MEMORY. On failure `scene` is empty. */
GRAZE_API graze_status graze_read_scene(graze_context *context, const char *path, graze_scene_file *scene);

/* The same from memory; `name` stands for the path, in messages and for the folder of the meshes. */
GRAZE_API graze_status graze_parse_scene(graze_context *context, const void *bytes, size_t size, const char *name,
                                         graze_scene_file *scene);
GRAZE_API void graze_scene_file_free(graze_scene_file *scene);

#ifdef __cplusplus
}
#endif
#endif
