/* Which children of a hierarchy node are near a point, or on a ray. */
#ifndef GRAZE_SRC_NARROW_POINT_BOXES_H
#define GRAZE_SRC_NARROW_POINT_BOXES_H

#include "narrow/boxes.h"

/* Bit i is set unless child i is proved to be farther than the root of `most2` from the point x, in coordinates of the
 * mesh that are off by at most the map's absolute margin; least2[i] is a square that its distance is at least the root
 * of. */
typedef unsigned point_gaps_function(const bvh_node *node, const double x[3], const mesh_map *map, float most2,
                                     float least2[8]);
CPU_KERNELS(point_gaps_function, gz_point_gaps);

/* Bit i is set unless child i is proved not to meet the segment from middle - half to middle + half, in the same
 * coordinates. */
typedef unsigned segment_boxes_function(const bvh_node *node, const double middle[3], const double half[3],
                                        const mesh_map *map);
CPU_KERNELS(segment_boxes_function, gz_segment_boxes);

/* The ones for this machine. */
point_gaps_function *gz_point_gaps_best(void);
segment_boxes_function *gz_segment_boxes_best(void);

#endif
