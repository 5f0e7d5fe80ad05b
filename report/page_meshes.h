/* page_meshes.h: the distinct meshes of a record: which object shows which, how far each is simplified, and their
 * bytes. Private to report. */
#ifndef GRAZE_REPORT_PAGE_MESHES_H
#define GRAZE_REPORT_PAGE_MESHES_H

#include "base64.h"
#include "graze/report.h"

#define PAGE_NO_MESH UINT32_MAX

typedef struct page_mesh { /* what the page's record says of a mesh */
  const graze_mesh *mesh;
  uint32_t instances;
  uint32_t triangles; /* of the mesh itself */
  uint32_t shown;
  uint32_t points;
  double min[3], max[3];
  int solid;
} page_mesh;

typedef struct page_meshes {
  page_mesh *meshes; /* in the order of their first object */
  uint32_t count;
  uint32_t *of_object; /* number of the mesh, or PAGE_NO_MESH */
  uint32_t *shares;
  const graze_context *context;
} page_meshes;

/* `instances`: how often each object is drawn; NULL: once. False: out of memory. Free it either way. */
bool gz_page_meshes_plan(const graze_context *context, page_meshes *plan, const graze_report *report,
                         const uint32_t *instances, uint64_t budget);

/* Writes a script element for each mesh: base64 of its points (three 16-bit numbers each, padded to a multiple of 4
 * bytes) and of its triangles (three numbers of a point each, 16 bits, or 32 with more than 65,536 points), all
 * little-endian; and notes in the plan what was written. False: out of memory. */
bool gz_page_meshes_put(page_meshes *plan, gz_text *out);

/* A script element of moves of objects. One is 56 bytes of base64: step and object as 32-bit numbers, then floats: nine
 * of the matrix, and the middle of the object's mesh in the world, relative to `origin`, which is in the middle of the
 * scene. So a float's rounding is small against what is seen, wherever the scene lies and wherever a mesh has its
 * origin. Processors are taken to be little-endian, as the page's are. */
void gz_page_put_moves(const page_meshes *plan, const graze_motion_move *moves, uint64_t count, const double origin[3],
                       gz_text *out);

void gz_page_meshes_free(page_meshes *plan);

#endif
