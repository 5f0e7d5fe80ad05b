/* scene_plain.h: an object of a scene file that is a mesh at a pose and nothing else; private to io. */
#ifndef GRAZE_IO_SCENE_PLAIN_H
#define GRAZE_IO_SCENE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

/* A text within that of the file, without escapes. */
typedef struct plain_text {
  const char *text; /* NULL: not given */
  size_t length;
} plain_text;

typedef struct plain_object {
  plain_text name, mesh, layer; /* the first two are given, and not empty */
  double pose[12];
  bool posed; /* else the identity */
} plain_object;

/* False where there is anything else in the text, or something may be wrong with it: that is for jansson to say. */
bool gz_scene_read_plain(const char *text, size_t size, plain_object *object);

#endif
