/* Fat triangles (Govindaraju, Lin and Manocha 2004): what a picture samples at the centers of pixels must be large
 * enough that no pixel which the triangle touches is missed, and deep enough to hold there all that the triangle does
 * within the pixel. The sum of the triangle with a ball of radius sqrt(3) p / 2 is, and around it stands a box along
 * its longest edge and its normal, which is drawn as twelve triangles. As published p is twice the side of a pixel; one
 * side would do, and what is over is far more than coordinates are rounded by. */
#include "visibility/fat.h"

#include <math.h>

#include "base/context.h"
#include "base/parallel.h"
#include "base/vector3.h"

typedef struct fattening {
  const graze_visibility *v;
  float *corners;
  double radius;
} fattening;

/* The frame of a triangle: its longest edge, a normal, and what is across both. Without an edge, or without an area,
 * any that is at right angles. */
static void normalise(double x[3]) {
  double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  for (int k = 0; k < 3; k++) x[k] /= length;
}

static double square(const double a[3]) {
  return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
}

static void frame_of(const float *c, double axes[3][3]) {
  double edges[3][3], normal[3];
  int longest = 0;
  for (int e = 0; e < 3; e++) {
    for (int k = 0; k < 3; k++) edges[e][k] = (double)c[3 * ((e + 1) % 3) + k] - (double)c[3 * e + k];
    if (square(edges[e]) > square(edges[longest])) longest = e;
  }
  for (int k = 0; k < 3; k++) axes[0][k] = edges[longest][k];
  if (!(square(axes[0]) > 0x1p-100)) axes[0][0] = 1, axes[0][1] = axes[0][2] = 0;
  normalise(axes[0]);
  cross3(axes[0], edges[(longest + 1) % 3], normal);
  if (!(square(normal) > 0x1p-100)) {
    double other[3] = {0, 0, 0};
    other[fabs(axes[0][0]) < 0.6 ? 0 : 1] = 1;
    cross3(axes[0], other, normal);
  }
  normalise(normal);
  for (int k = 0; k < 3; k++) axes[1][k] = normal[k];
  cross3(axes[1], axes[0], axes[2]);
}

/* Faces of a box whose corner i is high on axis k where bit k of i is set. */
static const uint8_t faces[FAT_FACES][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                            {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};

static void fatten(const float *c, double radius, float *out) {
  double axes[3][3], low[3], high[3];
  float corners[8][3];
  frame_of(c, axes);
  for (int a = 0; a < 3; a++) {
    low[a] = INFINITY;
    high[a] = -INFINITY;
    for (int i = 0; i < 3; i++) {
      double at = 0;
      for (int k = 0; k < 3; k++) at += axes[a][k] * (double)c[3 * i + k];
      low[a] = fmin(low[a], at - radius);
      high[a] = fmax(high[a], at + radius);
    }
  }
  for (int i = 0; i < 8; i++) {
    for (int k = 0; k < 3; k++) {
      double x = 0;
      for (int a = 0; a < 3; a++) x += axes[a][k] * (i >> a & 1 ? high[a] : low[a]);
      corners[i][k] = (float)x;
    }
  }
  for (int f = 0; f < FAT_FACES; f++) {
    for (int i = 0; i < 9; i++) out[9 * f + i] = corners[faces[f][i / 3]][i % 3];
  }
}

static void fatten_range(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  const fattening *f = argument;
  (void)worker;
  for (uint32_t t = begin; t < end; t++)
    fatten(f->v->corners + 9 * (size_t)t, f->radius, f->corners + 9 * FAT_FACES * (size_t)t);
}

graze_status gz_visibility_fatten(graze_visibility *v, visibility_picture pictures[3],
                                  visibility_triangles *triangles) {
  const uint64_t count = (uint64_t)v->triangle_count * FAT_FACES;
  if (count > UINT32_MAX) return gz_fail(v->context, GRAZE_ERROR_LIMIT, "more than 2^32 - 1 faces of boxes to draw");
  fattening f = {.v = v, .corners = gz_visibility_room(v, ROOM_FAT, 9 * count, sizeof *f.corners, 0)};
  if (!f.corners) return GRAZE_ERROR_MEMORY;
  double pixel = 0;
  for (uint32_t p = 0; p < 3; p++) {
    for (uint32_t k = 1; k < 3; k++) pixel = fmax(pixel, 1 / (double)pictures[p].scale[(p + k) % 3]);
  }
  f.radius = sqrt(3) * 1.0001 * pixel;
  gz_parallel_for(v->context, v->triangle_count, 1024, fatten_range, &f);
  for (uint32_t p = 0; p < 3; p++) {
    double low = INFINITY, high = -INFINITY;
    for (uint64_t i = p; i < 9 * count; i += 3) {
      low = fmin(low, (double)f.corners[i]);
      high = fmax(high, (double)f.corners[i]);
    }
    pictures[p].low[p] = (float)(low - pixel);
    pictures[p].scale[p] = (float)(1 / (high - low + 2 * pixel));
  }
  triangles->corners = f.corners;
  triangles->count = (uint32_t)count;
  return GRAZE_OK;
}
