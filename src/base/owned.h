/* Memory that goes back with its address alone, and arrays of it that grow: for what callers get and free. */
#ifndef GRAZE_SRC_BASE_OWNED_H
#define GRAZE_SRC_BASE_OWNED_H

#include "graze/base.h"

/* count * size bytes, at least one; NULL when refused. Without a context they are of the malloc family. */
void *gz_new(const graze_context *context, size_t count, size_t size);
void *gz_new_zeroed(const graze_context *context, size_t count, size_t size);
char *gz_new_text(const graze_context *context, const char *text);
__attribute__((format(printf, 2, 3))) char *gz_new_words(const graze_context *context, const char *format, ...);
void gz_free(const void *pointer);

/* `pointer`, from gz_new or NULL, in another size; NULL when refused, and it is as before. */
void *gz_resize(const graze_context *context, void *pointer, size_t count, size_t size);

/* An array that grows. */
typedef struct gz_array {
  void *data; /* gz_free() it */
  size_t count;
  size_t capacity;
} gz_array;

/* Makes room for `more` elements of `size` bytes behind `count`. False: out of memory, the array is as before. */
bool gz_array_grow(const graze_context *context, gz_array *a, size_t more, size_t size);

static inline bool array_reserve(const graze_context *context, gz_array *a, size_t more, size_t size) {
  return more <= a->capacity - a->count || gz_array_grow(context, a, more, size);
}

#endif
