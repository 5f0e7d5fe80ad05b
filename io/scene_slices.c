/* scene_slices.c: where the objects of a scene file begin and end.
 *
 * A tree of all objects takes fifteen times the bytes of the text, which the system must clear first, and is made by
 * one thread. So a large list is cut into its objects, which are read each for itself, their trees in the same few
 * kilobytes, by all threads. Only strings and brackets are looked at for that, and jansson sees every byte but the
 * commas between.
 */
#include "scene_slices.h"

#include <string.h>

enum { OBJECTS_LEAST = 128 };

/* The first byte that is no white space, or `end`. */
static const char *skip_space(const char *p, const char *end) {
  while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) p++;
  return p;
}

/* Behind the string that begins at `p`; NULL: it has no end. */
static const char *skip_string(const char *p, const char *end) {
  for (p++; p < end && *p != '"'; p++) {
    if (*p == '\\' && ++p == end) return NULL;
  }
  return p < end ? p + 1 : NULL;
}

/* Behind the object that begins at `p`; NULL: it has no end. */
static const char *skip_object(const char *p, const char *end) {
  size_t depth = 0;
  while (p != NULL && p < end) {
    const char c = *p;
    if (c == '"') {
      p = skip_string(p, end);
      continue;
    }
    p++;
    depth += c == '{' || c == '[';
    if ((c == '}' || c == ']') && --depth == 0) return p;
  }
  return NULL;
}

/* Whether `"objects": [` stands at `p`: then `*list` is behind it. */
static bool begins_objects(const char *p, const char *end, const char **list) {
  static const char key[] = "\"objects\"";
  const size_t length = sizeof key - 1;
  if ((size_t)(end - p) < length || memcmp(p, key, length) != 0) return false;
  p = skip_space(p + length, end);
  if (p == end || *p != ':') return false;
  p = skip_space(p + 1, end);
  *list = p + 1;
  return p < end && *p == '[';
}

/* Behind the bracket that opens the list of objects; NULL: not found. */
static const char *find_objects(const char *p, const char *end) {
  const char *list;
  size_t depth = 0;
  while (p != NULL && p < end) {
    if (*p == '"') {
      if (depth == 1 && begins_objects(p, end, &list)) return list;
      p = skip_string(p, end);
      continue;
    }
    depth += *p == '{' || *p == '[';
    if (*p == '}' || *p == ']') {
      if (depth <= 1) return NULL;
      depth--;
    }
    p++;
  }
  return NULL;
}

/* The bracket that ends the list, whose objects are noted; NULL: it is no list of objects, or memory was refused. */
static const char *cut_objects(const graze_context *context, const char *p, const char *end, gz_array *objects,
                               bool *refused) {
  for (;;) {
    const char *begin = skip_space(p, end);
    if (begin == end || *begin != '{' || (p = skip_object(begin, end)) == NULL) return NULL;
    if (!array_reserve(context, objects, 1, sizeof(scene_slice))) {
      *refused = true;
      return NULL;
    }
    ((scene_slice *)objects->data)[objects->count++] = (scene_slice){begin, (size_t)(p - begin)};
    p = skip_space(p, end);
    if (p < end && *p == ']') return p;
    if (p == end || *p++ != ',') return NULL;
  }
}

static bool copy_rest(const graze_context *context, const char *text, const char *first, const char *last,
                      const char *end, scene_slices *slices) {
  const size_t before = (size_t)(first - text), after = (size_t)(end - last);
  slices->rest = gz_new(context, before + after, 1);
  if (slices->rest == NULL) return false;
  memcpy(slices->rest, text, before);
  memcpy(slices->rest + before, last, after);
  slices->rest_size = before + after;
  return true;
}

bool gz_scene_slices_cut(const graze_context *context, const char *text, size_t size, scene_slices *slices,
                         bool *refused) {
  const char *end = text + size, *first = find_objects(text, end), *last = NULL;
  *slices = (scene_slices){.rest = NULL};
  *refused = false;
  if (first != NULL) last = cut_objects(context, first, end, &slices->objects, refused);
  if (last == NULL || slices->objects.count < OBJECTS_LEAST || slices->objects.count >= UINT32_MAX) return false;
  *refused = !copy_rest(context, text, first, last, end, slices);
  return !*refused;
}

void gz_scene_slices_free(scene_slices *slices) {
  gz_free(slices->objects.data);
  gz_free(slices->rest);
  *slices = (scene_slices){.rest = NULL};
}
