/* simplify.h: meshes for looking at: coordinates of 16 bits, and fewer triangles where there are too many. Nothing but
 * the page's 3D view uses them. Private to report. */
#ifndef GRAZE_REPORT_SIMPLIFY_H
#define GRAZE_REPORT_SIMPLIFY_H

#include "graze/mesh.h"

/* No mesh is simplified below this: it is the number of triangles of a box. */
enum { SIMPLEST = 12 };

typedef struct simplify_wish {
  uint32_t triangles;
  uint32_t instances; /* objects that show the mesh, at least 1 */
  double weight;      /* how much closer than others it is looked at */
} simplify_wish;

/* Shares a budget of triangles out, shares[i] <= wishes[i].triangles: in all at most `budget`, and at most `drawn` with
 * every instance counted, unless SIMPLEST for each exceeds that already. Small meshes stay whole before large ones
 * do; the share grows with the root of the size. */
void gz_simplify_shares(const simplify_wish *wishes, uint32_t count, uint64_t budget, uint64_t drawn, uint32_t *shares);

/* Coordinate k of a point is min[k] + (max[k] - min[k]) * points[i][k] / 65535. */
typedef struct simple_mesh {
  uint16_t (*points)[3];
  uint32_t point_count;
  uint32_t (*triangles)[3];
  uint32_t triangle_count;
  double min[3], max[3];
  int solid; /* 1: closed, seen from outside corners run anticlockwise; -1: clockwise; 0: not closed or not known */
} simple_mesh;

/* Scratch memory that is used again from mesh to mesh. Start from {.context}. */
typedef struct simplifier {
  simple_mesh made; /* of the last call */
  void *memory[8];
  size_t sizes[8];
  const graze_context *context;
} simplifier;

/* Makes simplifier.made, with at most `share` triangles (at least SIMPLEST are allowed). A mesh within its share keeps
 * every triangle. The same mesh and share give the same bytes. False: out of memory. */
bool gz_simplify(simplifier *work, const graze_mesh *mesh, uint32_t share);

void gz_simplifier_free(simplifier *work);

#endif
