/* Triangles of two bottom nodes that a plane keeps apart, where they are or on a way. */
#ifndef GRAZE_SRC_NARROW_APART_H
#define GRAZE_SRC_NARROW_APART_H

#include "base/cpu.h"
#include "narrow/exact_sink.h"

/* Of the set bits 8 j + i, those whose triangles (place i of a, place j of b) are not proved to have no common point,
 * where differences of their corners are off by `off` on each axis.
 * Pays from about APART_LEAST bits on, where the boxes of triangles tell little: slivers, faces in one plane. */
enum { APART_LEAST = 8 };
typedef uint64_t apart_function(const posed_node *a, const posed_node *b, double off, uint64_t mask);
CPU_KERNELS(apart_function, gz_apart);

/* Where the triangles of a node that moves nearly straight are at the start and at the end, in the coordinates of those
 * of another; points are off the straight way between these by `share` of its length and `fixed` at most, roundings of
 * the coordinates included. */
typedef struct passing_node {
  posed_node at[2];
  double share, fixed;
} passing_node;

/* Of the set bits 8 j + i, those whose triangles (place i of own, place j of the one that moves) may meet on the way.
 */
typedef uint64_t passing_apart_function(const posed_node *own, const passing_node *other, uint64_t mask);
CPU_KERNELS(passing_apart_function, gz_passing_apart);

#endif
