/* fat.h: the published bounds. */
#ifndef GRAZE_SRC_VISIBILITY_FAT_H
#define GRAZE_SRC_VISIBILITY_FAT_H

#include "visibility/cull.h"

enum { FAT_FACES = 12 };

/* Boxes around fat triangles in place of the triangles: FAT_FACES triangles each, in the same order. The pictures get a
 * depth range that holds them. */
graze_status gz_visibility_fatten(graze_visibility *v, visibility_picture pictures[3], visibility_triangles *triangles);

#endif
