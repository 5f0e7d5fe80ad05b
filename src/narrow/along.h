/* Triangles of two bottom nodes that are far enough apart along one direction, or one of their normals. */
#ifndef GRAZE_SRC_NARROW_ALONG_H
#define GRAZE_SRC_NARROW_ALONG_H

#include "base/cpu.h"
#include "narrow/exact_sink.h"

/* How far the boxes of two triangles are apart along an axis, which their distance is never below: rounded, and the
 * rest to the exact number. */
typedef struct boxes_gap {
  double rounded, rest;
  uint8_t axis;
  bool turned; /* a comes after b on it */
} boxes_gap;

/* Of the set bits 8 j + i, those whose triangles (place i of a, place j of b) the direction does not prove to be
 * farther than `most` from each other. |direction| <= 1. */
typedef uint64_t along_function(const posed_node *a, const posed_node *b, const double direction[3], double most,
                                uint64_t mask);
CPU_KERNELS(along_function, gz_along);

/* Those whose boxes are nearer than the gap, exactly, on its axis and in its order. */
typedef uint64_t along_axis_function(const posed_node *a, const posed_node *b, const boxes_gap *gap, uint64_t mask);
CPU_KERNELS(along_axis_function, gz_along_axis);

/* The same along the normals of all triangles. Pays from about NORMALS_LEAST bits on, where parts fit into each other:
 * which way the nearest are changes from place to place. */
enum { NORMALS_LEAST = 8 };
typedef uint64_t normals_function(const posed_node *a, const posed_node *b, double most, uint64_t mask);
CPU_KERNELS(normals_function, gz_along_normals);

#endif
