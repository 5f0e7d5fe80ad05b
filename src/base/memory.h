/* Memory through the context's allocator, always aligned to a cache line. */
#ifndef GRAZE_SRC_BASE_MEMORY_H
#define GRAZE_SRC_BASE_MEMORY_H

#include "graze/base.h"

enum { MEMORY_ALIGNMENT = 64 };

/* NULL when refused; size 0 gives NULL without asking. Not cleared. */
void *gz_memory_alloc(const graze_context *context, size_t size);
void gz_memory_release(const graze_context *context, void *pointer, size_t size);

/* A piece of memory that grows and is kept: scratch that makes the steady state free of allocations. */
typedef struct buffer {
  void *data;
  size_t bytes;
} buffer;

/* Makes room for at least `bytes`; old contents are lost unless `keep` bytes are asked to survive. False: refused,
 * and the buffer is as before. Grows by half at least if something is kept, so that appending stays linear, else by an
 * eighth, so that what varies from call to call is seldom allocated. */
bool gz_buffer_reserve(const graze_context *context, buffer *b, size_t bytes, size_t keep);

/* The same, but old contents go first, so that both are never there at once. False: refused, and the buffer is empty.
 */
bool gz_buffer_renew(const graze_context *context, buffer *b, size_t bytes);
void gz_buffer_release(const graze_context *context, buffer *b);

/* One piece of memory dealt out to several arrays. With `memory` NULL it only counts: `used` says what to reserve. */
typedef struct carving {
  char *memory;
  size_t used;
} carving;

/* The next `bytes`, aligned to a cache line; NULL while nothing but the count is asked. */
static inline void *gz_carve(carving *c, size_t bytes) {
  void *array = c->memory ? c->memory + c->used : NULL;
  c->used += (bytes + MEMORY_ALIGNMENT - 1) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
  return array;
}

#endif
