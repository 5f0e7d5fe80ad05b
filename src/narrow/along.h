/* Triangles of two bottom nodes that are far enough apart along one direction, or one of their normals. */
#ifndef GRAZE_SRC_NARROW_ALONG_H
#define GRAZE_SRC_NARROW_ALONG_H

#include "base/cpu.h"
#include "narrow/exact_sink.h"

/* Of the set bits 8 j + i, those whose triangles (place i of a, place j of b) the direction does not prove to be
 * farther than `most` from each other. |direction| <= 1. */
typedef uint64_t along_function(const posed_node *a, const posed_node *b, const double direction[3], double most,
                                uint64_t mask);
CPU_KERNELS(along_function, gz_along);

/* The same along the normals of all triangles. Pays from about NORMALS_LEAST bits on, where parts fit into each other:
 * which way the nearest are changes from place to place. */
enum { NORMALS_LEAST = 8 };
typedef uint64_t normals_function(const posed_node *a, const posed_node *b, double most, uint64_t mask);
CPU_KERNELS(normals_function, gz_along_normals);

#endif
