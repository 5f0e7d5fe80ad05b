/* scene_value.h: the values of a scene file, and what is wrong with them; private to io. */
#ifndef GRAZE_IO_SCENE_VALUE_H
#define GRAZE_IO_SCENE_VALUE_H

#include <jansson.h>
#include <string.h>

#include "base/owned.h"
#include "fault.h"

/* Where a value stands: `objects[2] ("pump").body`. */
typedef struct scene_place {
  char text[128];
} scene_place;

/* `list[index]` and, if the element has one, its name. */
scene_place gz_scene_element(const char *list, size_t index, const json_t *element);

/* `place.key`, or `place ("name")`. */
scene_place gz_scene_member(const char *place, const char *key);
scene_place gz_scene_named(const char *place, const char *name);

static inline gz_quoted scene_quote(const char *text) {
  return gz_io_quote(text, text + strlen(text));
}

/* Notes a fault, FORMAT if not said, as "PLACE: reason", and returns false. */
bool gz_scene_fail(io_fault *fault, const char *place, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool gz_scene_fail_as(io_fault *fault, graze_status status, const char *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The keys up to NULL are known; of those up to NULL in `later`, which may be NULL, the message says so. */
bool gz_scene_check_keys(json_t *object, const char *const *known, const char *const *later, const char *place,
                         io_fault *fault);

/* Of a value that may be missing: "" then. */
bool gz_scene_copy_text(const json_t *value, const char *key, const char *place, char **text, io_fault *fault);

/* Of a value that is there and not "". */
bool gz_scene_copy_name(const json_t *value, const char *key, const char *place, char **text, io_fault *fault);

/* As it stands when absolute, else joined to the folder of the scene file. */
bool gz_scene_join_path(const char *scene_path, char **path, io_fault *fault);

/* Of object[key], which may be missing: then `number` stays as it is. */
bool gz_scene_read_number(const json_t *object, const char *key, const char *place, double *number, io_fault *fault);

/* The same of an array of `count` numbers. */
bool gz_scene_read_numbers(const json_t *object, const char *key, const char *place, size_t count, double *numbers,
                           io_fault *fault);

/* The same of a word, one of those up to NULL. */
bool gz_scene_read_word(const json_t *object, const char *key, const char *place, const char *const *words,
                        unsigned *word, io_fault *fault);

/* `array`, the value of `key` that may be missing, is one of fewer than UINT32_MAX elements: `*(void **)elements` gets
 * room for them, zeroed. */
bool gz_scene_make_array(const json_t *array, const char *place, const char *key, size_t size, void *elements,
                         io_fault *fault);

/* Names and what they are of, sorted by name and then by index, for look-ups. */
typedef struct scene_name {
  const char *name;
  uint32_t index;
} scene_name;

typedef struct scene_names {
  scene_name *names; /* gz_free() it */
  uint32_t count;
} scene_names;

/* Room for so many. */
bool gz_scene_names_begin(scene_names *names, uint32_t most, io_fault *fault);
void gz_scene_names_sort(scene_names *names);
bool gz_scene_names_find(const scene_names *names, const char *name, uint32_t *index);

/* "no WHAT has the name", with a did-you-mean. */
bool gz_scene_fail_unknown(const scene_names *names, const char *what, const char *name, const char *place,
                           io_fault *fault);

#endif
