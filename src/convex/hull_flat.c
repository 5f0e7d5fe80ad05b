/* The hull of points of one plane: a chain from the lowest point to the highest and one back, of the points in order.
 *
 * A. M. Andrew, "Another efficient algorithm for convex hulls in two dimensions", 1979. In the projection along an axis
 * in which the plane does not become a line; there the points differ where they differ in space.
 */
#include <string.h>

#include "base/memory.h"
#include "base/owned.h"
#include "convex/hull.h"
#include "exact/orient.h"

typedef struct flat {
  const hull_cloud *cloud;
  int axis; /* that is dropped */
  uint32_t *chain;
  uint32_t length;
} flat;

static bool at_or_before(const flat *f, uint32_t a, uint32_t b) {
  const double *p = hull_point(f->cloud, a), *q = hull_point(f->cloud, b);
  int i = (f->axis + 1) % 3, j = (f->axis + 2) % 3;
  return p[i] != q[i] ? p[i] < q[i] : p[j] <= q[j];
}

static bool equal(const flat *f, uint32_t a, uint32_t b) {
  return at_or_before(f, a, b) && at_or_before(f, b, a);
}

/* Merge sort from runs of one: stable, so of equal points the first comes first. The result is in `order`. */
static void sort_points(const flat *f, uint32_t *order, uint32_t *scratch) {
  uint32_t count = f->cloud->count;
  for (uint32_t i = 0; i < count; i++) order[i] = i;
  for (uint32_t width = 1; width < count; width *= 2) {
    for (uint32_t begin = 0; begin < count; begin += 2 * width) {
      uint32_t middle = count - begin < width ? count : begin + width;
      uint32_t end = count - middle < width ? count : middle + width;
      uint32_t a = begin, b = middle;
      for (uint32_t to = begin; to < end; to++) {
        bool first = b >= end || (a < middle && at_or_before(f, order[a], order[b]));
        scratch[to] = first ? order[a++] : order[b++];
      }
    }
    memcpy(order, scratch, count * sizeof *order);
  }
}

/* Appends the next point of a half that begins at `floor`: whatever no longer turns left goes. */
static void append(flat *f, uint32_t floor, uint32_t point) {
  if (f->length > floor && equal(f, f->chain[f->length - 1], point)) return;
  while (f->length >= floor + 2 &&
         gz_orient2d(f->axis, hull_point(f->cloud, f->chain[f->length - 2]),
                     hull_point(f->cloud, f->chain[f->length - 1]), hull_point(f->cloud, point)) <= 0) {
    f->length--;
  }
  f->chain[f->length++] = point;
}

static uint32_t walk_around(flat *f, const uint32_t *order) {
  uint32_t count = f->cloud->count;
  for (uint32_t i = 0; i < count; i++) append(f, 0, order[i]);
  uint32_t top = f->length - 1;
  for (uint32_t i = count - 1; i > 0; i--) {
    /* Of equal points the chain has the first of the order: seen backwards, the last. */
    if (!equal(f, order[i], order[i - 1])) append(f, top, order[i]);
  }
  append(f, top, order[0]);
  return f->length - 1; /* the first one again */
}

static int projection_axis(const hull_cloud *cloud) {
  for (int axis = 0; axis < 2; axis++) {
    if (gz_orient2d(axis, hull_point(cloud, cloud->span[0]), hull_point(cloud, cloud->span[1]),
                    hull_point(cloud, cloud->span[2])) != 0) {
      return axis;
    }
  }
  return 2;
}

bool gz_hull_flat(const hull_cloud *cloud, hull_faces *faces) {
  flat f = {.cloud = cloud, .axis = projection_axis(cloud)};
  uint32_t *order = gz_new(cloud->context, 2 * (size_t)cloud->count, sizeof *order);
  f.chain = faces->corners = gz_new(cloud->context, 2 * (size_t)cloud->count, sizeof *faces->corners);
  faces->first = gz_new(cloud->context, 2, sizeof *faces->first);
  bool ready = order && faces->corners && faces->first;
  if (ready) {
    sort_points(&f, order, order + cloud->count);
    faces->count = 1;
    faces->first[0] = 0;
    faces->first[1] = walk_around(&f, order);
  }
  gz_free(order);
  return ready;
}
