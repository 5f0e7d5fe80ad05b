/* gltf_made.h: glTF files made in memory, read and compared; shared by the tests of assemblies. */
#ifndef GRAZE_TESTS_GLTF_MADE_H
#define GRAZE_TESTS_GLTF_MADE_H

#include "graze/io.h"
#include "support.h"

/* A folder of the program's own; group set-up and tear-down. */
int make_scratch(void **state);
int remove_scratch(void **state);

/* The last four paths stay valid. */
const char *scratch_path(const char *name);
void write_file(const char *name, const void *bytes, size_t size);

/* Five points: 60 bytes. */
extern const float points[15];
extern const double points_as_doubles[15];

#define VIEW_OF_POINTS "{\"buffer\":0,\"byteLength\":60}"
#define POINTS         "{\"bufferView\":0,\"componentType\":5126,\"count\":5,\"type\":\"VEC3\"}"
#define ONE_NODE       "\"nodes\":[{\"mesh\":0,\"name\":\"n\"}]"
#define ONE_MESH                                                \
  "\"bufferViews\":[" VIEW_OF_POINTS "],\"accessors\":[" POINTS \
  "],"                                                          \
  "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"

typedef struct point_file { /* the points, then indices */
  float points[15];
  unsigned char indices[24];
} point_file;

point_file with_indices(const void *indices, size_t size);

/* A .gltf with one buffer of these bytes; `rest` are the members of the root behind it. free() it. */
char *make_text(const void *bytes, size_t size, const char *rest);

/* Reads a copy without room behind it, so that the address sanitizer sees a read past the end. */
graze_status parse(const void *data, size_t size, const char *name, graze_assembly *assembly);

/* Reads the file of make_text, and fails the test unless it is read, or refused with this reason in the message. */
graze_assembly must_parse(const void *bytes, size_t size, const char *rest);
void must_fail(const void *bytes, size_t size, const char *rest, graze_status status, const char *reason);

void assert_triangles(const graze_geometry *geometry, const uint32_t *indices, uint64_t count);
void assert_vertices(const graze_geometry *geometry, const double *vertices, uint64_t count);

#endif
