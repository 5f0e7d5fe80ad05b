/* draco.h: what the program graze-draco and gltf_draco.c say to each other, in the machine's own byte order; for C and
 * C++, private to io.
 *
 * graze-draco SECONDS MEGABYTES reads meshes from its standard input until that ends, one behind another:
 *
 *     u32    the attribute with the positions, u32 the type that its components must have, a number of glTF
 *     u64    size, and that many bytes: a mesh as Draco compresses it
 *
 * and writes for each, in this order,
 *
 *     "GRZDRACO"
 *     u64    number of vertices, u64 number of triangles
 *            3 components a vertex, 3 u32 a triangle
 *
 * and behind the last one "GRZEND..". What is wrong with a mesh comes in its place and ends all: "GRZFAULT", u32
 * length, text.
 */
#ifndef GRAZE_IO_DRACO_H
#define GRAZE_IO_DRACO_H

#define DRACO_MESH  "GRZDRACO"
#define DRACO_FAULT "GRZFAULT"
#define DRACO_END   "GRZEND.."
enum { DRACO_MARK_SIZE = 8, DRACO_HEAD_SIZE = 16 };

#endif
