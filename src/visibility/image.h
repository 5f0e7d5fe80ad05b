/* image.h: pictures of passes, for the eye. */
#ifndef GRAZE_SRC_VISIBILITY_IMAGE_H
#define GRAZE_SRC_VISIBILITY_IMAGE_H

#include "visibility/cull.h"

/* What was drawn in the name of an object: entries of a list, in one of the pictures. */
typedef struct visibility_part {
  visibility_draw draw;
  uint32_t owner;
} visibility_part;

/* Draws the parts, one over the other by depth as the mode sees it, and shows the pictures side by side to the caller,
 * if it wants to see any. What the device held is gone then. */
graze_status gz_visibility_show(graze_visibility *v, const graze_visibility_pass *pass,
                                const visibility_picture *pictures, uint32_t picture_count,
                                const visibility_part *parts, uint32_t part_count, const uint32_t *list);

#endif
