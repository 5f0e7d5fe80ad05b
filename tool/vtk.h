/* vtk.h: frames as XML VTK files (PolyData), which ParaView opens. */
#ifndef TOOL_VTK_H
#define TOOL_VTK_H

#include <stddef.h>
#include <stdint.h>

#include "output.h"

/* An array of a file: its bytes lie behind the text, after their number. */
typedef struct vtk_array {
  const char *name, *type;
  int components;
  const void *data;
  size_t bytes;
} vtk_array;

/* Points that are cells of their own, the first ones, and polygons. Numbers of corners and where each cell ends are
 * Int64. */
typedef struct vtk_frame {
  double time;
  uint64_t point_count, vert_count, polygon_count, corner_count;
  const double *points;    /* [point_count][3] */
  const int64_t *numbers;  /* [vert_count + 1]: 0, 1, 2 ... */
  const int64_t *corners;  /* [corner_count] points */
  const int64_t *ends;     /* [polygon_count] of each polygon, in the corners */
  const vtk_array *arrays; /* of the points */
  int array_count;
} vtk_frame;

/* The arrays "speed" and "velocity" are what ParaView shows at first. */
void vtk_write(output *out, const vtk_frame *frame);

#endif
