/* scene_slices.h: the objects of a large scene file as texts of their own; private to io. */
#ifndef GRAZE_IO_SCENE_SLICES_H
#define GRAZE_IO_SCENE_SLICES_H

#include <jansson.h>

#include "base/owned.h"

/* How all JSON of scene files is read. */
enum { SCENE_JSON_FLAGS = JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL };

/* The text of one object within that of the file. */
typedef struct scene_slice {
  const char *text;
  size_t size;
} scene_slice;

typedef struct scene_slices {
  gz_array objects; /* of scene_slice */
  char *rest;       /* the text of the file with no objects in their list; gz_free() it */
  size_t rest_size;
} scene_slices;

/* Cuts out what "objects" of the root lists. They are not looked into: if each is an object of JSON and so is the rest,
 * the whole is JSON, too. False: there are fewer than are worth it, or what is found is not such a list; or memory was
 * refused, which `refused` tells. */
bool gz_scene_slices_cut(const graze_context *context, const char *text, size_t size, scene_slices *slices,
                         bool *refused);
void gz_scene_slices_free(scene_slices *slices);

#endif
