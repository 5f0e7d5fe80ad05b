/* All pairs of boxes that meet, on a device, by home and phantom cells. */
#ifndef GRAZE_SRC_GPU_SUBDIVISION_H
#define GRAZE_SRC_GPU_SUBDIVISION_H

#include "broad/textbook/subdivision.h"
#include "gpu/boxes.h"

/* What a device keeps of a class, so that tests can look at the stages; zero-initialised. */
typedef struct gpu_subdivision {
  gpu_scratch scratch;
  gpu_pairs list;
  gpu_bounds bounds;
  gpu_buffer spheres, classes, order, objects;
  gpu_buffer frame, ids, entries, starts, marks, chosen, types, passes, cells, homes, tests;
  subdivision_grid grid;
  uint32_t begin, count, large; /* objects of the class and smaller ones; the first of them are large */
  uint32_t axis;                /* the first; others in turn */
  uint32_t entry_count, runs, cell_count, pass_count;
  uint32_t pass[9], item[9]; /* where the cells and the items of each pass begin */
  bool crowded;              /* a class had too many pairs in cells */
} gpu_subdivision;

/* The pairs go to s->list.result, as graze_broadphase_find would give them; the boxes are already in b->boxes, and the
 * device's arithmetic is exact. With s->crowded the list is worthless: the method is not for these boxes. Errors:
 * DEVICE, MEMORY. */
graze_status gz_gpu_subdivision_find(graze_gpu *gpu, gpu_subdivision *s, const gpu_boxes *b, graze_precision precision,
                                     uint32_t count, bool unsorted);

/* Most boxes: eight entries a box are sorted together. */
enum { GPU_SUBDIVISION_MOST = 1 << 28 };

void gz_gpu_subdivision_release(graze_gpu *gpu, gpu_subdivision *s);

#endif
