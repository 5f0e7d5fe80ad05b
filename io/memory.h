/* memory.h: growing arrays and large blocks; private to io. */
#ifndef GRAZE_IO_MEMORY_H
#define GRAZE_IO_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct io_array {
  void *data; /* free() it */
  size_t count;
  size_t capacity;
} io_array;

/* Makes room for `more` elements of `size` bytes behind `count`. False: out of memory, the array is as before. */
bool gz_io_array_grow(io_array *array, size_t more, size_t size);

static inline bool io_array_reserve(io_array *array, size_t more, size_t size) {
  return more <= array->capacity - array->count || gz_io_array_grow(array, more, size);
}

/* count * size bytes, at least one, for free(). Large blocks ask for large pages: filling a fresh block is otherwise
 * mostly page faults. NULL: out of memory. */
void *gz_io_allocate(size_t count, size_t size);

#endif
