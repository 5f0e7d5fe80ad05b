/* cull_pictures.h: a cull for the eye: passes, and the scene with what is left. */
#ifndef TOOL_CULL_PICTURES_H
#define TOOL_CULL_PICTURES_H

#include "graze/report.h"
#include "graze/visibility.h"

typedef struct cull_pictures {
  graze_context *context;
  const graze_report *all; /* of whose objects the cull is */
  const char *folder;
  uint32_t count; /* of passes so far */
} cull_pictures;

/* Makes the folder. Failures end the program. */
void cull_pictures_begin(const cull_pictures *pictures);

/* A graze_visibility_image_function on cull_pictures: writes NUMBER-LEVEL-VIEW-DIRECTION-RESOLUTION-depth.png and
 * -owners.png. */
bool cull_pictures_take(void *user, const graze_visibility_image *image);

/* Writes scene.png: what is left in colour, with a dot on each left pair, over the rest in grey. Without OpenGL a note
 * says that there is none. */
void cull_pictures_end(const cull_pictures *pictures, const graze_visibility_result *left);

#endif
