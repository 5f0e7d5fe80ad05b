/* memory.c: see memory.h. */
#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LARGE_PAGE = 2 << 20 };

static void ask_for_large_pages(void *block, size_t bytes) {
#ifdef MADV_HUGEPAGE
  uintptr_t first = ((uintptr_t)block + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
  uintptr_t last = ((uintptr_t)block + bytes) & ~(uintptr_t)(LARGE_PAGE - 1);
  if (first < last) madvise((void *)first, last - first, MADV_HUGEPAGE);
#else
  (void)block;
  (void)bytes;
#endif
}

bool gz_io_array_grow(io_array *array, size_t more, size_t size) {
  if (more > SIZE_MAX / 4 / size - array->count) return false;
  size_t capacity = array->count + more;
  if (capacity < 2 * array->capacity) capacity = 2 * array->capacity;
  if (capacity < 64) capacity = 64;
  void *data = realloc(array->data, capacity * size);
  if (data == NULL) return false;
  array->data = data;
  array->capacity = capacity;
  if (capacity * size >= 2 * LARGE_PAGE) ask_for_large_pages(data, capacity * size);
  return true;
}

void *gz_io_allocate(size_t count, size_t size) {
  if (count > SIZE_MAX / 2 / size) return NULL;
  size_t bytes = count * size;
  if (bytes < 2 * LARGE_PAGE) return malloc(bytes > 0 ? bytes : 1);
  bytes = (bytes + LARGE_PAGE - 1) & ~(size_t)(LARGE_PAGE - 1);
  void *block = aligned_alloc(LARGE_PAGE, bytes);
  if (block != NULL) ask_for_large_pages(block, bytes);
  return block;
}
