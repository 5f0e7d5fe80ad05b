/* import.h: what the program graze-import and its reader say to each other; private to io.
 *
 * graze-import FILE SECONDS MEGABYTES reads a model with the assimp library and writes it to its standard output, in
 * the machine's own byte order:
 *
 *     "GRZSCENE"
 *     text   units: "m", "cm", "mm" or ""
 *     text   the axis that points up: "y", "z" or ""
 *     u64    meshes that have points or lines too
 *     u32    number of meshes; for each
 *              text   name
 *              u64    number of vertices, u64 number of triangles
 *              f64    3 a vertex, u32 3 a triangle
 *     u32    number of nodes, each after its parent; for each
 *              u32    parent, or 0xFFFFFFFF
 *              text   name
 *              f64    16, the matrix row by row
 *              u32    number of meshes, then that many u32
 *     "GRZEND.."
 *
 * or what is wrong: "GRZFAULT", u32 graze_status, text. A text is its u32 length and that many bytes.
 */
#ifndef GRAZE_IO_IMPORT_H
#define GRAZE_IO_IMPORT_H

#include <stdbool.h>

#define IMPORT_SCENE "GRZSCENE"
#define IMPORT_FAULT "GRZFAULT"
#define IMPORT_END   "GRZEND.."
enum { IMPORT_MARK_SIZE = 8 };
#define IMPORT_NO_PARENT UINT32_MAX

/* The endings that go to graze-import. */
bool gz_io_is_name_of_import(const char *name);

#endif
