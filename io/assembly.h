/* assembly.h: an assembly while it is built; private to io. */
#ifndef GRAZE_IO_ASSEMBLY_H
#define GRAZE_IO_ASSEMBLY_H

#include "names.h"
#include "readers.h"

/* A path of names longer than this is refused: a small file could otherwise ask for any amount of memory. */
enum { IO_LONGEST_PATH = 4096 };

/* As many objects are refused as too many for the same reason: instances multiply. */
enum { IO_MOST_OBJECTS = 1 << 24 };

typedef struct io_assembly {
  graze_assembly result; /* to be handed over by gz_io_assembly_finish() */
  size_t mesh_capacity, object_capacity;
  io_names names;
} io_assembly;

/* `count` empty meshes without names. */
bool gz_io_assembly_set_meshes(io_assembly *assembly, uint64_t count, io_fault *fault);

/* One more empty mesh without a name. */
bool gz_io_assembly_add_mesh(io_assembly *assembly, io_fault *fault);

/* The path of a node: "parent/name", made unique. `parent` is "" at the root. `node` is its number, for messages, and
 * for the name of a node that has none: "node7". NULL: the fault is noted. */
const char *gz_io_assembly_add_path(io_assembly *assembly, const char *parent, const char *name, uint64_t node,
                                    io_fault *fault);

/* `name` and `parent` are texts of the assembly. */
bool gz_io_assembly_add_object(io_assembly *assembly, const char *name, const char *parent, uint32_t mesh,
                               const graze_pose *pose, io_fault *fault);

/* Ends the building: `result` is the caller's, or empty when `good` is false. Returns `good`. */
bool gz_io_assembly_finish(io_assembly *assembly, bool good, graze_assembly *result);

/* Every object's triangles at its pose, one group for each object. */
bool gz_io_assembly_join(const graze_assembly *assembly, graze_geometry *geometry, io_fault *fault);

/* The vertices of the object's mesh at its pose; `all_float` becomes false if one is no float. */
bool gz_io_pose_vertices(const graze_geometry *mesh, const graze_assembly_object *object, double *out, bool *all_float,
                         io_fault *fault);

/* One object of the whole file, or with `split` one for each group; takes the geometry. */
bool gz_io_assembly_of_geometry(graze_geometry *geometry, const char *file_name, bool split, graze_assembly *assembly,
                                io_fault *fault);

/* Makes an object of each connected part of every object. */
bool gz_io_assembly_split_parts(graze_assembly *assembly, io_fault *fault);

bool gz_io_read_gltf(const io_input *input, graze_assembly *assembly, io_fault *fault);

/* The same of a stored input without geometry: `source` of the assembly, which takes the descriptor, gives that mesh by
 * mesh, to any number of threads at a time. */
bool gz_io_open_gltf(const io_input *input, graze_assembly *assembly, io_fault *fault);
bool gz_io_gltf_read_mesh(const void *source, uint32_t mesh, graze_geometry *geometry, io_fault *fault);
void gz_io_gltf_close(void *source);
bool gz_io_read_import(const io_input *input, graze_assembly *assembly, io_fault *fault);

#endif
