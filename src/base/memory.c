/* Allocation through the context's hooks. */
#include "base/memory.h"

#include <string.h>

#include "base/context.h"

void *memory_alloc(const graze_context *context, size_t size) {
  if (size == 0) return NULL;
  return context->allocator.alloc(context->allocator.user, size, MEMORY_ALIGNMENT);
}

void memory_release(const graze_context *context, void *pointer, size_t size) {
  if (pointer != NULL) context->allocator.release(context->allocator.user, pointer, size);
}

bool buffer_reserve(const graze_context *context, buffer *b, size_t bytes, size_t keep) {
  if (bytes <= b->bytes) return true;
  size_t want = b->bytes + b->bytes / 2;
  if (want < bytes) want = bytes;
  void *data = memory_alloc(context, want);
  if (data == NULL) return false;
  if (keep != 0) memcpy(data, b->data, keep);
  memory_release(context, b->data, b->bytes);
  b->data = data;
  b->bytes = want;
  return true;
}

void buffer_release(const graze_context *context, buffer *b) {
  memory_release(context, b->data, b->bytes);
  b->data = NULL;
  b->bytes = 0;
}
