/* Memory that knows its size and where it came from. */
#include "base/owned.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"

/* What stands before the memory of gz_new. */
typedef union owned {
  struct {
    graze_allocator allocator;
    size_t bytes; /* with this */
  };
  char room[MEMORY_ALIGNMENT];
} owned;

void *gz_new(const graze_context *context, size_t count, size_t size) {
  if (count > SIZE_MAX / 2 / size) return NULL;
  size_t bytes = sizeof(owned) + (count > 0 ? count * size : 1);
  graze_allocator allocator = context != NULL ? context->allocator : gz_system_allocator();
  owned *o = allocator.alloc(allocator.user, bytes, MEMORY_ALIGNMENT);
  if (o == NULL) return NULL;
  o->allocator = allocator;
  o->bytes = bytes;
  return o + 1;
}

void *gz_new_zeroed(const graze_context *context, size_t count, size_t size) {
  void *pointer = gz_new(context, count, size);
  return pointer != NULL ? memset(pointer, 0, count * size) : NULL;
}

char *gz_new_text(const graze_context *context, const char *text) {
  size_t bytes = strlen(text) + 1;
  char *copy = gz_new(context, bytes, 1);
  return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

char *gz_new_words(const graze_context *context, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  char *text = length >= 0 ? gz_new(context, (size_t)length + 1, 1) : NULL;
  if (text != NULL) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  va_end(arguments);
  return text;
}

void gz_free(const void *pointer) {
  if (pointer == NULL) return;
  owned *o = (owned *)(uintptr_t)pointer - 1; /* who owns it may have kept it as const */
  o->allocator.release(o->allocator.user, o, o->bytes);
}

void *gz_resize(const graze_context *context, void *pointer, size_t count, size_t size) {
  void *moved = gz_new(context, count, size);
  if (moved == NULL || pointer == NULL) return moved;
  size_t bytes = ((owned *)pointer - 1)->bytes - sizeof(owned);
  memcpy(moved, pointer, bytes < count * size ? bytes : count * size);
  gz_free(pointer);
  return moved;
}

bool gz_array_grow(const graze_context *context, gz_array *a, size_t more, size_t size) {
  if (more > SIZE_MAX / 4 / size - a->count) return false;
  size_t capacity = a->count + more;
  if (capacity < 2 * a->capacity) capacity = 2 * a->capacity;
  if (capacity < 64) capacity = 64;
  void *data = gz_resize(context, a->data, capacity, size);
  if (data == NULL) return false;
  a->data = data;
  a->capacity = capacity;
  return true;
}
