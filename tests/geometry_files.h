/* tests/geometry_files.h: what tests of the mesh readers share. */
#ifndef GRAZE_TESTS_GEOMETRY_FILES_H
#define GRAZE_TESTS_GEOMETRY_FILES_H

#include "graze/io.h"
#include "support.h"

/* Parses a copy without room behind it, so that the address sanitizer sees a read past the end. */
graze_status parse_exact(const void *data, size_t size, const char *name, graze_file_format format, int threads,
                         graze_geometry *geometry);

/* The same vertices, triangles and groups. */
void assert_same(const graze_geometry *a, const graze_geometry *b);

/* Finite vertices, indices and groups in range. */
void assert_sound(const graze_geometry *geometry);
void assert_empty(const graze_geometry *geometry);

/* A binary STL file of `facets` facets whose head claims `count`; returns its size. */
size_t make_binary_stl(unsigned char *out, const char *header, uint32_t count, uint32_t facets);

/* Vertices of an OBJ file, and the lines of a PLY header. */
#define TRI         "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
#define PLY(format) "ply\nformat " format " 1.0\n"
#define XYZ(n)      "element vertex " n "\nproperty float x\nproperty float y\nproperty float z\n"
#define FACES(n)    "element face " n "\nproperty list uchar int vertex_indices\n"
#define END         "end_header\n"

#endif
