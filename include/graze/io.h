/* graze/io.h: mesh and scene files. A library of its own (graze_io), next to the core.
 *
 * Readers: OBJ, STL (ASCII and binary), PLY (ASCII, binary little- and big-endian), OFF, glTF 2.0 (.gltf, .glb), and,
 * through the separate program graze-import, other formats that assimp reads. Numbers are the nearest double of the
 * decimal text, whatever the locale, or the exact value of a stored float or double. Triangles are numbered in file
 * order; polygons are fanned from their first corner, in order. A faulty file is rejected with one message that names
 * file and place; nothing is read in part. Files are written completely or not at all.
 */
#ifndef GRAZE_IO_H
#define GRAZE_IO_H

#include "graze/base.h"
#include "graze/dynamics.h"
#include "graze/math.h"
#include "graze/rigid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Consecutive triangles that the file names as one object: STL solids, OBJ `o` records, or the `g` records of an OBJ
 * file of which fewer than two `o` have triangles. */
typedef struct graze_io_group {
  const char *name;
  uint32_t first_triangle;
  uint32_t triangle_count;
} graze_io_group;

/* Geometry as read: coordinates as doubles (every format fits), three indices a triangle (always present; 0, 1,
 * 2, ... for a soup such as STL). A file of points without triangles is valid. A group ends where the next one
 * begins; triangles before the first belong to no group, and a group may be empty. */
typedef struct graze_geometry {
  double *vertices; /* 3 per vertex */
  uint64_t vertex_count;
  uint32_t *indices; /* 3 per triangle */
  uint64_t triangle_count;
  graze_io_group *groups;
  uint32_t group_count;
  bool labels;        /* groups of one name are one object (OBJ `g`); otherwise each group is one */
  bool all_float;     /* every coordinate is representable as a float: the mesh can be baked in half the memory */
  bool stored_floats; /* the file holds floats: its numbers may be rounded by half a unit in their last place */
  double rounding; /* text: half a unit of the last decimal, of the coordinate that has the most; quantized glTF: half
                      a step; joined objects: what rounding may have moved the coordinates of each by, at least; 0:
                      not known */
  void *memory;    /* private */
} graze_geometry;

typedef enum graze_file_format {
  GRAZE_FORMAT_AUTO = 0, /* by content, then by the file name's ending */
  GRAZE_FORMAT_OBJ,
  GRAZE_FORMAT_STL,
  GRAZE_FORMAT_PLY,
  GRAZE_FORMAT_OFF,
  GRAZE_FORMAT_GLTF,  /* .gltf and .glb */
  GRAZE_FORMAT_IMPORT /* through graze-import: COLLADA, 3MF, FBX and others; detected by the file name's ending only */
} graze_file_format;

/* Which axis points up. It changes no number: pictures and BCF viewpoints go by it. */
typedef enum graze_up { GRAZE_UP_UNKNOWN = 0, GRAZE_UP_Y, GRAZE_UP_Z } graze_up;

/* How a file is read. Without flags the objects of an assembly are those of a glTF file and of what graze-import gives,
 * one of every node whose mesh has triangles; of any other file a single one, named after the file. */
enum {
  GRAZE_READ_GROUPS = 1, /* such a file has an object for each group that has triangles; triangles before the first
                            group go by the file's name */
  GRAZE_READ_PARTS = 2,  /* each object, of any file, becomes one object for each of its connected parts, triangles that
                            share edges by the positions of their ends. Those of "pump" are "pump/part1", "pump/part2"
                            and so on, by their first triangles, and their parent is "pump"; an object of one part stays
                            what it is */
  GRAZE_READ_STRICT = 4  /* what is wrong in a file is an error even if no triangle depends on it: words that OBJ does
                            not have, colours that are not finite, numbers behind the last on a line. Otherwise the
                            logger is told of the first of each kind, with their number, as a warning */
};

/* Reads a whole file, with the context's threads and memory: what is read is freed before the context is. On failure
 * `geometry` is empty, and the message, here and below, is "FILE:LINE: reason" for text and "FILE: byte N: reason" for
 * binary. Errors below.
 * The objects of an assembly are joined: every object's triangles at the object's pose (as tier T1 poses them), in
 * object order, one group for each; of `flags` only GRAZE_READ_STRICT matters. Errors: ARGUMENT, FILE, FORMAT,
 * NOT_FINITE, INDEX, LIMIT, MEMORY, POSE, UNSUPPORTED (the file has geometry of a kind that is not read, such as
 * free-form surfaces).
 */
GRAZE_API graze_status graze_read_geometry(graze_context *context, const char *path, graze_file_format format,
                                           unsigned flags, graze_geometry *geometry);

/* The same from memory; `name` replaces the path in messages, in GRAZE_FORMAT_AUTO and for finding the files that a
 * .gltf file refers to. GRAZE_FORMAT_IMPORT is UNSUPPORTED: it needs a file. */
GRAZE_API graze_status graze_parse_geometry(graze_context *context, const void *bytes, size_t size, const char *name,
                                            graze_file_format format, unsigned flags, graze_geometry *geometry);

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
  const char
      *label; /* glTF: what the node's extras name it or, where its name is an IFC GlobalId, its mesh; NULL = none */
  graze_pose rounding; /* glTF whose poses are floats: what each number of the pose may be off by, as the nodes that
                          place this object alone were rounded; 0: not known, or not off */
} graze_assembly_object;

typedef struct graze_assembly {
  graze_assembly_mesh *meshes; /* for glTF all meshes of the file, in its order, used or not */
  uint32_t mesh_count;
  graze_assembly_object *objects; /* in the order of a depth-first walk */
  uint32_t object_count;
  const char *units;        /* "m", "cm" or "mm"; "" = neither the format nor the file says */
  graze_file_format format; /* the format that was read */
  graze_up up;              /* glTF: y, but z for files of graze_write_glb unless they say y; COLLADA: y, it is
                               turned so; FBX: as it says; others do not say */
  uint64_t left_out;        /* number of primitives without triangles (points and lines) */
  const char *hollow;       /* glTF: the first node that is no object because its mesh, without points and lines, has
                               too few corners for a triangle; NULL = none */
  void *memory, *source;    /* private */
} graze_assembly;

/* Reads a file as an assembly; `flags`: GRAZE_READ_... Errors as for graze_read_geometry; POSE: a node's matrix is not
 * affine or not finite, and the message names the node. On failure `assembly` is empty. */
GRAZE_API graze_status graze_read_assembly(graze_context *context, const char *path, graze_file_format format,
                                           unsigned flags, graze_assembly *assembly);

/* The same from memory, as graze_parse_geometry. */
GRAZE_API graze_status graze_parse_assembly(graze_context *context, const void *bytes, size_t size, const char *name,
                                            graze_file_format format, unsigned flags, graze_assembly *assembly);

/* The same, but the geometry of a GLB file stays in the file, which remains open until the assembly is freed: its
 * meshes have counts but no arrays. For assemblies that should not be in memory at once; what is compressed in the file
 * is, however, unpacked into memory. With GRAZE_READ_PARTS it is graze_read_assembly. */
GRAZE_API graze_status graze_open_assembly(graze_context *context, const char *path, graze_file_format format,
                                           unsigned flags, graze_assembly *assembly);

/* Reads the geometry of such a mesh, to be freed by the caller. May be called from any number of threads, with one
 * context or several. `path` is for messages. Errors: ARGUMENT (the mesh has its arrays already), and those of
 * graze_read_assembly. */
GRAZE_API graze_status graze_read_assembly_mesh(graze_context *context, const graze_assembly *assembly, uint32_t mesh,
                                                const char *path, graze_geometry *geometry);

GRAZE_API void graze_assembly_free(graze_assembly *assembly);

/* ---- slices: a mesh that several processes read together ---- */

/* What a part has, which all parts are told. */
typedef struct graze_slice_counts {
  uint64_t sliced;   /* 0: the file is to be read as a whole, by one process */
  uint64_t vertices; /* that are numbered; 0 where triangles have corners of their own */
  uint64_t triangles, faces, lines;
} graze_slice_counts;

/* What a part has found wrong or odd, for whoever judges all parts: bytes that can be sent. */
typedef struct graze_slice_report {
  uint64_t words[96];
} graze_slice_report;

/* A part of a mesh file: of .gltf, text STL, text PLY and formats that are read by other means there is none. */
typedef struct graze_slice {
  graze_slice_counts own;
  uint64_t first_vertex, first_triangle, all_vertices, all_triangles; /* once it has its place */
  double *vertices;  /* 3 per vertex: those in this part of the file or, without indices, 3 corners of each triangle */
  uint32_t *indices; /* 3 per triangle, numbered through the whole file, once it has its place; NULL: a soup */
  graze_slice_report report;
  void *memory; /* private */
} graze_slice;

/* Reads part number `part` of `parts`: about as many bytes of OBJ as of any other part, cut at line ends; of binary STL
 * and PLY as many rows; of GLB as many triangles at the poses of their objects, with the meshes that these need. A PLY
 * file has slices if its faces have as many corners each, and its vertices no lists. Triangles come in the order of
 * graze_read_geometry. What is wrong with the contents goes to the report, since a part before may be at fault too.
 * Every part calls this, then tells its counts to all; if one of them has `sliced` 0, all are to be freed, and the file
 * be read as a whole. `flags`: GRAZE_READ_STRICT. Errors: ARGUMENT, FILE, MEMORY; `slice` is to be freed all the same.
 */
GRAZE_API graze_status graze_read_slice(graze_context *context, const char *path, unsigned flags, uint32_t part,
                                        uint32_t parts, graze_slice *slice);

/* With the counts of all parts, in their order. Then the report is ready. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_slice_place(graze_context *context, graze_slice *slice, const graze_slice_counts *all);

/* With the reports of all parts, in their order: the status and the message, or the warnings, of graze_read_geometry.
 * One process is enough. */
GRAZE_API graze_status graze_slice_judge(graze_context *context, const char *path, const graze_slice_report *all,
                                         uint32_t parts);
GRAZE_API void graze_slice_free(graze_slice *slice);

/* Writes OBJ (numbers that read back to the same doubles), with `o` records for groups. Errors: ARGUMENT, FILE,
 * NOT_FINITE, INDEX, MEMORY. */
GRAZE_API graze_status graze_write_obj(graze_context *context, const char *path, const graze_geometry *geometry);

/* ---- binary glTF ---- */

/* Writes an assembly as one GLB file (glTF 2.0): a mesh with one primitive for each mesh, float positions and 32-bit
 * indices; a node for each object, with its pose as matrix, below a node for each part of its name before a '/'. The
 * objects' `parent` and the meshes' groups are ignored; axes and lengths are written unchanged (in glTF, y is up
 * and lengths are in metres); the file says so if `up` is y, and readers of this library take z if it does not. Nothing
 * is rounded: a coordinate that is not representable as a float is an error. So is what glTF cannot represent: a mesh
 * without triangles, a pose that shears, a name that is not UTF-8, more than 4 GiB. Errors: ARGUMENT, FILE, NOT_FINITE,
 * INDEX, LIMIT, MEMORY, POSE, UNSUPPORTED; the message names mesh and vertex or triangle, or the object. */
GRAZE_API graze_status graze_write_glb(graze_context *context, const char *path, const graze_assembly *assembly);

/* ---- boxes ---- */

/* Axis-aligned boxes with ids, as a broad phase takes them, in file order. */
typedef struct graze_box_list {
  uint32_t *ids; /* all different */
  graze_box *boxes;
  uint32_t count;
} graze_box_list;

/* Reads boxes. Text: one line per box, `id,minx,miny,minz,maxx,maxy,maxz`; the first line may be these words. Binary,
 * by the first bytes: "GRZBOX1" and a zero byte, uint64 n, then n times uint64 id and 6 doubles, little-endian. Ids are
 * whole numbers below 2^32, min is at most max. Errors: ARGUMENT, FILE, FORMAT (number of fields, not a number, min
 * above max, a repeated id, a size that contradicts the count), NOT_FINITE, LIMIT (an id of 2^32 or more), MEMORY; the
 * message names line or byte. On failure `boxes` is empty. */
GRAZE_API graze_status graze_read_boxes(graze_context *context, const char *path, graze_box_list *boxes);

/* The same from memory; `name` replaces the path in messages; if it ends in .gzb, the boxes must be binary. */
GRAZE_API graze_status graze_parse_boxes(graze_context *context, const void *bytes, size_t size, const char *name,
                                         graze_box_list *boxes);
GRAZE_API void graze_box_list_free(graze_box_list *boxes);

/* ---- particles ---- */

/* Balls that move, in file order. Arrays of three numbers each; NULL: the file has no such columns. */
typedef struct graze_particle_list {
  uint32_t count;
  double *positions, *velocities, *spins;
  double *ends; /* of particles that fly: where they are at t = 1 */
  double *radii;
} graze_particle_list;

/* Reads particles. Text: the first line names the columns, `x,y,z` and then any of `r,vx,vy,vz,wx,wy,wz` in any order
 * (speeds that are not named are 0); then one line per particle. Binary, by the first bytes: "GRZPART" and a zero byte,
 * uint64 n, then n times the ten doubles x y z r vx vy vz wx wy wz, little-endian; radii that are all 0 are none.
 * Errors: ARGUMENT, FILE, FORMAT (titles, number of fields, not a number, a size that contradicts the count),
 * NOT_FINITE, LIMIT, MEMORY; the message names the line or byte, and the column. On failure `particles` is empty. */
GRAZE_API graze_status graze_read_particles(graze_context *context, const char *path, graze_particle_list *particles);

/* The same from memory; `name` replaces the path in messages; if it ends in .gzp, the particles must be binary. */
GRAZE_API graze_status graze_parse_particles(graze_context *context, const void *bytes, size_t size, const char *name,
                                             graze_particle_list *particles);

/* Reads particles that fly straight, as text: the first line names the columns, `x,y,z` and then any of `r,x1,y1,z1` in
 * any order, where x1, y1, z1 are where a particle ends; without these it stands still. Errors: as
 * graze_read_particles; a binary file is FORMAT. */
GRAZE_API graze_status graze_read_flights(graze_context *context, const char *path, graze_particle_list *particles);
GRAZE_API graze_status graze_parse_flights(graze_context *context, const void *bytes, size_t size, const char *name,
                                           graze_particle_list *particles);

/* Writes particles, binary if the path ends in .gzp and otherwise as text that reads back to the same numbers. What is
 * NULL is 0 in a binary file, and no column of a text; a binary file takes no ends (ARGUMENT). Errors: ARGUMENT,
 * NOT_FINITE (the message has the particle), MEMORY, FILE. */
GRAZE_API graze_status graze_write_particles(graze_context *context, const char *path,
                                             const graze_particle_list *particles);
GRAZE_API void graze_particle_list_free(graze_particle_list *particles);

/* ---- frames ---- */

typedef struct graze_frames_set { /* an object that is a ball, or a set of particles */
  char *name;
  uint32_t count;
} graze_frames_set;

/* Every ball, or rigid body, at many times, as `graze simulate --frames FILE.gzt` writes them; docs/files.md describes
 * the file. */
typedef struct graze_frames {
  graze_frames_set *sets; /* balls are numbered set by set */
  uint32_t set_count, balls;
  double *radii;    /* NULL: of rigid bodies, each of which is a set of its own */
  uint32_t numbers; /* of a state: 9, or 13 of a rigid body */
  uint64_t count;   /* frames */
  uint64_t *steps;  /* of each frame, ascending */
  double *times;
  double *states; /* of each frame, of each ball: x y z vx vy vz wx wy wz; of each body: x y z qw qx qy qz vx ... */
} graze_frames;

/* Errors: ARGUMENT, FILE, FORMAT (the message has the byte), NOT_FINITE, LIMIT, MEMORY. On failure `frames` is empty.
 */
GRAZE_API graze_status graze_read_frames(graze_context *context, const char *path, graze_frames *frames);

/* The same from memory; `name` replaces the path in messages. */
GRAZE_API graze_status graze_parse_frames(graze_context *context, const void *bytes, size_t size, const char *name,
                                          graze_frames *frames);
GRAZE_API void graze_frames_free(graze_frames *frames);

/* ---- motions ---- */

/* The pose of an object from this step on. */
typedef struct graze_motion_move {
  uint32_t step;
  uint32_t object; /* index in the list of names given to the reader */
  graze_pose pose;
  double center[3]; /* of rigid motions, to this pose and on; in the object's own coordinates, before the pose */
} graze_motion_move;

typedef struct graze_motion {
  graze_motion_move *moves; /* by step, within a step in file order */
  uint64_t count;
  uint32_t last_step; /* 0: nothing moves */
  bool has_centers;   /* the file has them; else they are 0 0 0, and say nothing */
} graze_motion;

#define GRAZE_MOTION_MOST_STEPS 1000000

/* Reads how objects move: comma-separated text (RFC 4180 without line ends in fields) whose first line names the
 * columns: `step,object` and then the pose, either `m00,m01,m02,m03,m10,...,m23` or `x,y,z,qw,qx,qy,qz`, a unit
 * quaternion (it is normalised); then perhaps `cx,cy,cz`, the point that moves straight in a rigid motion. A row gives
 * the pose of an object from that step on; step 0 is the initial scene. Steps must not descend; objects without a row
 * for a step stay where they are. `names`: of the objects, all different; moves have indices into this list. Errors:
 * ARGUMENT, FILE, FORMAT (titles, number of fields, not a number, a step that is 0 or below the one before, an unknown
 * name, an object twice in a step, a zero quaternion), NOT_FINITE, LIMIT (a step above GRAZE_MOTION_MOST_STEPS),
 * MEMORY; the message names the line. On failure `motion` is empty. */
GRAZE_API graze_status graze_read_motion(graze_context *context, const char *path, const char *const *names,
                                         uint32_t name_count, graze_motion *motion);

/* The same from memory; `name` replaces the path in messages. */
GRAZE_API graze_status graze_parse_motion(graze_context *context, const void *bytes, size_t size, const char *name,
                                          const char *const *names, uint32_t name_count, graze_motion *motion);
GRAZE_API void graze_motion_free(graze_motion *motion);

/* ---- numbers ---- */

/* Nearest double of the decimal number at `text` (at most `end`), independent of the locale: digits, point,
 * exponent, sign. Returns the first unread character, or NULL if there is no number. Overflow gives an infinity.
 * No hex, "nan" or "inf". */
GRAZE_API const char *graze_parse_double(const char *text, const char *end, double *value);

/* The fewest digits that read back as the same double, such as "0.1", "-12" or "1e-300"; at most 25 characters with the
 * final 0. Returns the length. Infinities and NaN are "inf", "-inf" and "nan"; -0 is "-0". */
GRAZE_API size_t graze_format_double(double value, char text[32]);

/* scene.json:
 *   {"graze":1, "units":"m",
 *    "objects":[{"name":"a","mesh":"a.obj","pose":[12 numbers],"layer":"steel"}],
 *    "ignore":[["a","b"]], "ignore_layers":[["steel","steel"]], "ignore_names":[["*gasket*","*"]],
 *    "ignore_same_parent":true, "sets":{"lines":["pipe*","layer:pipes"]}, "check":[["lines","lines"]],
 *    "tolerance":[["lines","lines","2mm"]], "clearance":[["lines","lines",0.025]],
 *    "simulation":{"model":"dem","gravity":[0,0,-9.81],"integrator":"leapfrog","bounds":[6 numbers],"periodic":[0,0,0],
 *     "materials":{"glass":{"k_n":1e5}},"pairs":[["glass","glass",{"k_n":1e6}]],
 *     "walls":[{"point":[0,0,0],"normal":[0,0,1],"material":"glass"}]},
 *    "particles":[{"name":"bed","file":"bed.csv","radius":0.5,"mass":1,"material":"glass"}]}
 * All keys but "graze", "objects", "name" and "mesh" are optional. An object has a mesh or a shape, {"sphere":radius},
 * {"box":[x,y,z]}, {"capsule":[radius,length]}, {"cylinder":[radius,length]}, {"hull":"a.obj"}, {"compound":[...]},
 * whose parts have one of these shapes, a "pose" and a "density" each, or {"parts":"a.obj","error":length}, and perhaps
 * a "body"; with "particles" there need not be "objects".
 */

#define GRAZE_NO_MATERIAL UINT32_MAX

typedef enum graze_shape {
  GRAZE_SHAPE_MESH,
  GRAZE_SHAPE_SPHERE,
  GRAZE_SHAPE_BOX,
  GRAZE_SHAPE_CAPSULE,
  GRAZE_SHAPE_CYLINDER,
  GRAZE_SHAPE_HULL,     /* the convex hull of a mesh */
  GRAZE_SHAPE_COMPOUND, /* several of those above but meshes, each at its own place */
  GRAZE_SHAPE_PARTS     /* convex parts of a mesh, which stick out of it by so much at most */
} graze_shape;

/* As scene files call it: "mesh", "sphere" and so on. */
GRAZE_API const char *graze_shape_name(graze_shape shape);

/* Of a simulation: balls by the discrete element method, or rigid bodies. */
typedef enum graze_scene_model { GRAZE_MODEL_DEM, GRAZE_MODEL_RIGID } graze_scene_model;

/* As graze_blast has it. */
typedef struct graze_scene_file_blast {
  bool given;
  double center[3], speed[2], spin;
} graze_scene_file_blast;

/* Of an object without "body": static. NaN: not given. */
typedef struct graze_scene_file_body {
  graze_body_type type;
  double mass, density;
  double velocity[3], spin[3];
  double inertia[6]; /* xx yy zz xy xz yz; inertia[0] NaN: not given */
  double linear_damping, angular_damping;
  uint32_t material; /* number, or GRAZE_NO_MATERIAL */
  bool sensor;
  graze_scene_file_blast blast; /* RIGID */
} graze_scene_file_body;

/* Of a compound, said as for an object; `pose` is in the object's coordinates. NaN: not given. */
typedef struct graze_scene_file_part {
  graze_shape shape;
  char *mesh; /* HULL; else "" */
  double radius, length, edges[3];
  graze_pose pose;
  double density;
} graze_scene_file_part;

typedef struct graze_scene_file_object {
  char *name;
  graze_shape shape;
  char *mesh;                   /* MESH, HULL, PARTS: path, relative to the scene file's folder unless absolute; "" =
                                 * none */
  double radius;                /* SPHERE, CAPSULE, CYLINDER */
  double length;                /* CAPSULE: without its caps, along z; CYLINDER */
  double edges[3];              /* BOX: its whole edges, along the axes of the pose, which is that of its middle */
  graze_scene_file_part *parts; /* COMPOUND */
  uint32_t part_count;
  double error;        /* PARTS: that is allowed, a length above 0 in the mesh's coordinates */
  uint32_t most_parts; /* PARTS: 0 = not given */
  graze_pose pose;
  double center[3]; /* of rigid motions, in the object's own coordinates, before the pose; 0 0 0 when absent */
  char *layer;      /* "" when absent */
  graze_scene_file_body body;
  char *draw; /* path of the mesh that films show in place of a SPHERE, as that of `mesh`; "" = none */
} graze_scene_file_object;

typedef struct graze_scene_file_material {
  char *name;
  graze_material material;
} graze_scene_file_material;

typedef struct graze_scene_file_pair {
  uint32_t first, second; /* materials */
  graze_material material;
} graze_scene_file_pair;

typedef struct graze_scene_file_wall {
  double point[3], normal[3];
  uint32_t material; /* number, or GRAZE_NO_MATERIAL */
} graze_scene_file_wall;

/* Numbers that are NaN were not given. */
typedef struct graze_scene_file_joint {
  char *name;
  graze_joint_type type;
  uint32_t a, b; /* objects; b may be GRAZE_NO_BODY: the world */
  double point[3], other[3], axis[3];
  double limits[2];
  double motor_speed, motor_most, spring, spring_damping, breaks_at;
} graze_scene_file_joint;

/* "simulation". Only that numbers are finite has been looked at: what they may be, graze_world_create and the calls
 * that fill a world say. */
typedef struct graze_scene_file_simulation {
  bool given;
  graze_scene_model model;
  uint32_t substeps;         /* RIGID; 0: not given */
  graze_rigid_solver solver; /* the same */
  double gravity[3];
  graze_integrator integrator;
  graze_box bounds; /* empty when absent */
  bool periodic[3];
  graze_scene_file_material *materials; /* in file order */
  uint32_t material_count;
  graze_scene_file_pair *pairs;
  uint32_t pair_count;
  graze_scene_file_wall *walls;
  uint32_t wall_count;
  graze_scene_file_joint *joints; /* RIGID */
  uint32_t joint_count;
} graze_scene_file_simulation;

typedef struct graze_scene_file_particles {
  char *name;                   /* no other set and no object has it */
  char *file;                   /* path, as that of a mesh; graze_read_particles reads it */
  double radius, mass, density; /* NaN: not given */
  uint32_t material;            /* number, or GRAZE_NO_MATERIAL */
  char *layer;                  /* "" when absent */
  double drag[2];
  graze_scene_file_blast blast;
  char *draw; /* as that of an object */
} graze_scene_file_particles;

/* A named set of objects: those that match one of its patterns. These are shell patterns (*, ?, [...]) for the whole
 * name, in which '/' is not special; "layer:PATTERN" is one for the layer. */
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
  char *(*ignore_names)[2]; /* patterns: pairs of objects of which one matches each */
  uint32_t ignore_name_count;
  bool ignore_same_parent; /* pairs whose names have the same path before the last '/' */
  graze_scene_file_set *sets;
  uint32_t set_count;
  char *(*check)[2]; /* names of sets: only pairs with an object in each; none = all pairs */
  uint32_t check_count;
  char *(*tolerance)[3]; /* names of two sets, and a length as graze_check_def takes it; numbers are in `units` */
  uint32_t tolerance_count;
  char *(*clearance)[3]; /* likewise */
  uint32_t clearance_count;
  graze_scene_file_simulation simulation;
  graze_scene_file_particles *particles; /* sets */
  uint32_t particle_set_count;
} graze_scene_file;

/* Errors: FILE, FORMAT (unknown key, duplicate or unknown name, wrong type: the message names key and place),
 * ARGUMENT, NOT_FINITE, UNSUPPORTED (a shape, model or key of simulations that cannot be simulated yet), MEMORY. On
 * failure `scene` is empty. */
GRAZE_API graze_status graze_read_scene(graze_context *context, const char *path, graze_scene_file *scene);

/* The same from memory; `name` replaces the path in messages and for finding the meshes. */
GRAZE_API graze_status graze_parse_scene(graze_context *context, const void *bytes, size_t size, const char *name,
                                         graze_scene_file *scene);
GRAZE_API void graze_scene_file_free(graze_scene_file *scene);

#ifdef __cplusplus
}
#endif
#endif
