/* Triangles of two bottom nodes that a plane keeps apart. */
#ifndef GRAZE_SRC_NARROW_APART_H
#define GRAZE_SRC_NARROW_APART_H

#include "base/cpu.h"
#include "narrow/exact_sink.h"

/* Of the set bits 8 j + i, those whose triangles (place i of a, place j of b) are not proved to have no common point.
 * Pays from about APART_LEAST bits on, where the boxes of triangles tell little: slivers, faces in one plane. */
enum { APART_LEAST = 8 };
typedef uint64_t apart_function(const posed_node *a, const posed_node *b, uint64_t mask);
CPU_KERNELS(apart_function, gz_apart);

#endif
