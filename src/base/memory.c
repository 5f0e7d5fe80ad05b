/* Allocation through the context's hooks. */
#include "base/memory.h"

#include <string.h>

#include "base/context.h"

void *gz_memory_alloc(const graze_context *context, size_t size) {
  if (size == 0) return NULL;
  return context->allocator.alloc(context->allocator.user, size, MEMORY_ALIGNMENT);
}

void gz_memory_release(const graze_context *context, void *pointer, size_t size) {
  if (pointer != NULL) context->allocator.release(context->allocator.user, pointer, size);
}

bool gz_buffer_reserve(const graze_context *context, buffer *b, size_t bytes, size_t keep) {
  if (bytes <= b->bytes) return true;
  size_t want = b->bytes + b->bytes / (keep != 0 ? 2 : 8);
  if (want < bytes) want = bytes;
  void *data = gz_memory_alloc(context, want);
  if (data == NULL) return false;
  if (keep != 0) memcpy(data, b->data, keep);
  gz_memory_release(context, b->data, b->bytes);
  b->data = data;
  b->bytes = want;
  return true;
}

bool gz_buffer_renew(const graze_context *context, buffer *b, size_t bytes) {
  if (bytes <= b->bytes) return true;
  const size_t spare = b->bytes + b->bytes / 8, want = spare > bytes ? spare : bytes;
  gz_buffer_release(context, b);
  b->data = gz_memory_alloc(context, want);
  if (b->data != NULL) b->bytes = want;
  return b->data != NULL;
}

void gz_buffer_release(const graze_context *context, buffer *b) {
  gz_memory_release(context, b->data, b->bytes);
  b->data = NULL;
  b->bytes = 0;
}
