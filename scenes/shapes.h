/* shapes.h: closed, outward-oriented solids for the builder. Each needs a weld afterwards. */
#ifndef SCENES_SHAPES_H
#define SCENES_SHAPES_H

#include "builder.h"

/* A block between eight corners, corner number = x + 2 y + 4 z of the block's own axes (right-handed). Every face is a
 * grid of cuts[axis] squares. Faces whose corners agree in a coordinate are exactly plane. */
void shape_block(builder *build, const double corners[8][3], const uint32_t cuts[3]);

/* The block [low, high] along the axes. */
void shape_box(builder *build, const double low[3], const double high[3], const uint32_t cuts[3]);

/* A bar of blocks between consecutive four-cornered sections, closed at both ends. Sections are anticlockwise seen
 * against the direction of travel; cuts: along each block, along sides 0-1 and 2-3, along sides 1-2 and 3-0. */
void shape_bar(builder *build, uint32_t section_count, const double (*sections)[4][3], const uint32_t cuts[3]);

/* A solid of `ring_count` rings of `count` points each, rings[r * count + i]; the first and the last ring are drawn
 * together to the poles. Rings run anticlockwise seen from the last. */
void shape_rings(builder *build, uint32_t ring_count, uint32_t count, const double (*rings)[3],
                 const double first_pole[3], const double last_pole[3]);

/* The same without poles: the last ring joins on to the first. */
void shape_closed_rings(builder *build, uint32_t ring_count, uint32_t count, const double (*rings)[3]);

/* A frame: origin and three unit vectors (columns of a rotation), for turned shapes. */
typedef struct shape_frame {
  double origin[3];
  double x[3], y[3], z[3];
} shape_frame;

/* A solid of revolution about the frame's z: profile points (radius, height) with heights first going up outside; the
 * poles lie on the axis at the first and the last height. */
void shape_turned(builder *build, const shape_frame *frame, uint32_t profile_count, const double (*profile)[2],
                  uint32_t corners);

/* A ring about the frame's z: radius of the circle, radius of the tube. */
void shape_torus(builder *build, const shape_frame *frame, double radius, double tube, uint32_t around,
                 uint32_t corners);

/* The sphere about the origin as an icosahedron with every side cut into `cuts`: 20 cuts^2 triangles. */
void shape_sphere(builder *build, double radius, uint32_t cuts);

#endif
