/* Closed solids. Where two patches meet, both compute the common vertices by the same operations in the same order, so
 * that they agree to the last bit and the weld closes the surface. */
#include "shapes.h"

#include <math.h>
#include <stdlib.h>

#include "circle.h"

typedef struct block_lattice {
  const double (*corners)[3];
  const uint32_t *cuts;
} block_lattice;

/* Weights are whole numbers, so that a coordinate that the corners share comes out unrounded. */
static uint32_t lattice_vertex(builder *build, const block_lattice *lattice, const uint32_t at[3]) {
  double sum[3] = {0, 0, 0}, total = 1, point[3];
  for (int axis = 0; axis < 3; axis++) total *= lattice->cuts[axis];
  for (int corner = 0; corner < 8; corner++) {
    double weight = 1;
    for (int axis = 0; axis < 3; axis++) weight *= corner >> axis & 1 ? at[axis] : lattice->cuts[axis] - at[axis];
    for (int k = 0; k < 3; k++) sum[k] += weight * lattice->corners[corner][k];
  }
  for (int k = 0; k < 3; k++) point[k] = sum[k] / total;
  return builder_vertex(build, point);
}

/* The face at the low (side 0) or high (side 1) end of `axis`. */
static void block_face(builder *build, const block_lattice *lattice, int axis, int side) {
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  uint32_t rows = lattice->cuts[v], columns = lattice->cuts[u], at[3];
  uint32_t first = (uint32_t)build->mesh.vertex_count, stride = columns + 1;
  at[axis] = side ? lattice->cuts[axis] : 0;
  for (uint32_t j = 0; j <= rows; j++) {
    for (uint32_t i = 0; i <= columns; i++) {
      at[u] = i;
      at[v] = j;
      lattice_vertex(build, lattice, at);
    }
  }
  for (uint32_t j = 0; j < rows; j++) {
    for (uint32_t i = 0; i < columns; i++) {
      uint32_t a = first + j * stride + i, b = a + 1, c = b + stride, d = a + stride;
      if (side)
        builder_quad(build, a, b, c, d);
      else
        builder_quad(build, a, d, c, b);
    }
  }
}

void shape_block(builder *build, const double corners[8][3], const uint32_t cuts[3]) {
  block_lattice lattice = {corners, cuts};
  for (int face = 0; face < 6; face++) block_face(build, &lattice, face / 2, face % 2);
}

void shape_box(builder *build, const double low[3], const double high[3], const uint32_t cuts[3]) {
  double corners[8][3];
  for (int corner = 0; corner < 8; corner++) {
    for (int axis = 0; axis < 3; axis++) corners[corner][axis] = corner >> axis & 1 ? high[axis] : low[axis];
  }
  shape_block(build, corners, cuts);
}

void shape_bar(builder *build, uint32_t section_count, const double (*sections)[4][3], const uint32_t cuts[3]) {
  static const int around[4] = {0, 1, 3, 2}; /* section corner -> y + 2 z of the block */
  for (uint32_t s = 0; s + 1 < section_count; s++) {
    double corners[8][3];
    for (int c = 0; c < 8; c++) {
      for (int k = 0; k < 3; k++) corners[2 * around[c % 4] + c / 4][k] = sections[s + c / 4][c % 4][k];
    }
    block_lattice lattice = {(const double(*)[3])corners, cuts};
    for (int face = 2; face < 6; face++) block_face(build, &lattice, face / 2, face % 2);
    if (s == 0) block_face(build, &lattice, 0, 0);
    if (s + 2 == section_count) block_face(build, &lattice, 0, 1);
  }
}

static uint32_t add_rings(builder *build, uint32_t ring_count, uint32_t count, const double (*rings)[3]) {
  uint32_t first = (uint32_t)build->mesh.vertex_count;
  for (uint64_t i = 0; i < (uint64_t)ring_count * count; i++) builder_vertex(build, rings[i]);
  return first;
}

/* Squares from the ring that starts at `lower` to the one that starts at `upper`. */
static void join_rings(builder *build, uint32_t lower, uint32_t upper, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t next = (i + 1) % count;
    builder_quad(build, lower + i, lower + next, upper + next, upper + i);
  }
}

void shape_rings(builder *build, uint32_t ring_count, uint32_t count, const double (*rings)[3],
                 const double first_pole[3], const double last_pole[3]) {
  uint32_t first = add_rings(build, ring_count, count, rings), last = first + (ring_count - 1) * count;
  uint32_t bottom = builder_vertex(build, first_pole), top = builder_vertex(build, last_pole);
  for (uint32_t r = 0; r + 1 < ring_count; r++) join_rings(build, first + r * count, first + (r + 1) * count, count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t next = (i + 1) % count;
    builder_triangle(build, bottom, first + next, first + i);
    builder_triangle(build, top, last + i, last + next);
  }
}

void shape_closed_rings(builder *build, uint32_t ring_count, uint32_t count, const double (*rings)[3]) {
  uint32_t first = add_rings(build, ring_count, count, rings);
  for (uint32_t r = 0; r < ring_count; r++)
    join_rings(build, first + r * count, first + (r + 1) % ring_count * count, count);
}

static void frame_point(const shape_frame *frame, double x, double y, double z, double point[3]) {
  for (int k = 0; k < 3; k++) point[k] = frame->origin[k] + (x * frame->x[k] + y * frame->y[k] + z * frame->z[k]);
}

void shape_turned(builder *build, const shape_frame *frame, uint32_t profile_count, const double (*profile)[2],
                  uint32_t corners) {
  double(*rings)[3] = malloc((size_t)profile_count * corners * sizeof *rings), poles[2][3];
  if (!rings) {
    build->failed = true;
    return;
  }
  for (uint32_t p = 0; p < profile_count; p++) {
    for (uint32_t i = 0; i < corners; i++) {
      double cosine, sine;
      circle_point(i, corners, &cosine, &sine);
      frame_point(frame, profile[p][0] * cosine, profile[p][0] * sine, profile[p][1], rings[p * corners + i]);
    }
  }
  frame_point(frame, 0, 0, profile[0][1], poles[0]);
  frame_point(frame, 0, 0, profile[profile_count - 1][1], poles[1]);
  shape_rings(build, profile_count, corners, (const double(*)[3])rings, poles[0], poles[1]);
  free(rings);
}

void shape_torus(builder *build, const shape_frame *frame, double radius, double tube, uint32_t around,
                 uint32_t corners) {
  double(*rings)[3] = malloc((size_t)around * corners * sizeof *rings);
  if (!rings) {
    build->failed = true;
    return;
  }
  for (uint32_t j = 0; j < corners; j++) {
    double out, up;
    circle_point(j, corners, &out, &up);
    for (uint32_t i = 0; i < around; i++) {
      double cosine, sine, from_axis = radius + tube * out;
      circle_point(i, around, &cosine, &sine);
      frame_point(frame, from_axis * cosine, from_axis * sine, tube * up, rings[j * around + i]);
    }
  }
  shape_closed_rings(build, corners, around, (const double(*)[3])rings);
  free(rings);
}

/* The point of a side of the icosahedron at whole barycentric weights, pushed out to the sphere. A weight of zero adds
 * nothing, and two summands commute, so that both sides of an edge find the same bits. */
static uint32_t sphere_vertex(builder *build, const double *const corner[3], const uint32_t weight[3], double radius) {
  double point[3], square = 0;
  for (int k = 0; k < 3; k++) {
    point[k] = (weight[0] * corner[0][k] + weight[1] * corner[1][k]) + weight[2] * corner[2][k];
    square += point[k] * point[k];
  }
  double scale = radius / sqrt(square);
  for (int k = 0; k < 3; k++) point[k] *= scale;
  return builder_vertex(build, point);
}

static void sphere_side(builder *build, const double *const corner[3], double radius, uint32_t cuts) {
  uint32_t row = (uint32_t)build->mesh.vertex_count; /* row j: weight j of corner 2, cuts - j + 1 vertices */
  for (uint32_t j = 0; j <= cuts; j++) {
    for (uint32_t i = 0; i <= cuts - j; i++)
      sphere_vertex(build, corner, (const uint32_t[3]){cuts - j - i, i, j}, radius);
  }
  for (uint32_t j = 0; j < cuts; j++) {
    uint32_t above = row + cuts - j + 1;
    for (uint32_t i = 0; i < cuts - j; i++) {
      builder_triangle(build, row + i, row + i + 1, above + i);
      if (i + 1 < cuts - j) builder_triangle(build, row + i + 1, above + i + 1, above + i);
    }
    row = above;
  }
}

/* Corner c: 0 along axis c / 4, +-golden along the next, +-1 along the one after. Neighbours are 2 apart. */
static void icosahedron_corners(double corners[12][3]) {
  const double golden = (1 + sqrt(5.0)) / 2;
  for (int c = 0; c < 12; c++) {
    int axis = c / 4;
    corners[c][axis] = 0;
    corners[c][(axis + 1) % 3] = c & 1 ? -golden : golden;
    corners[c][(axis + 2) % 3] = c & 2 ? -1 : 1;
  }
}

static bool are_neighbours(const double a[3], const double b[3]) {
  double square = 0;
  for (int k = 0; k < 3; k++) square += (a[k] - b[k]) * (a[k] - b[k]);
  return square > 3.5 && square < 4.5;
}

static double determinant(const double a[3], const double b[3], const double c[3]) {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

void shape_sphere(builder *build, double radius, uint32_t cuts) {
  double corners[12][3];
  icosahedron_corners(corners);
  for (int a = 0; a < 12; a++) {
    for (int b = a + 1; b < 12; b++) {
      for (int c = b + 1; c < 12; c++) {
        const double *side[3] = {corners[a], corners[b], corners[c]};
        if (!are_neighbours(side[0], side[1]) || !are_neighbours(side[1], side[2]) || !are_neighbours(side[0], side[2]))
          continue;
        if (determinant(side[0], side[1], side[2]) < 0) {
          side[1] = corners[c];
          side[2] = corners[b];
        }
        sphere_side(build, side, radius, cuts);
      }
    }
  }
}
