/* Memory that lives as long as the check. What is put together from many small pieces is freed at once, so that a step
 * that fails has nothing to clean up. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { CHUNK_SIZE = 1 << 16, ALIGNMENT = 16 };

typedef struct arena_chunk {
  struct arena_chunk *next;
  size_t size, used; /* bytes, with this head */
} arena_chunk;

static const size_t HEAD = (sizeof(arena_chunk) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

static arena_chunk *add_chunk(graze_check *c, size_t bytes) {
  size_t size = HEAD + bytes > CHUNK_SIZE ? HEAD + bytes : CHUNK_SIZE;
  arena_chunk *chunk = gz_memory_alloc(c->context, size);
  if (chunk == NULL) return NULL;
  *chunk = (arena_chunk){c->chunks, size, HEAD};
  c->chunks = chunk;
  return chunk;
}

void *gz_check_alloc(graze_check *c, uint64_t count, size_t size) {
  size_t bytes = (count > 0 ? count : 1) * size;
  if (count > SIZE_MAX / 2 / size) {
    gz_fail_memory(c->context, SIZE_MAX);
    return NULL;
  }
  bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  arena_chunk *chunk = c->chunks;
  if (chunk == NULL || chunk->size - chunk->used < bytes) chunk = add_chunk(c, bytes);
  if (chunk == NULL) {
    gz_fail_memory(c->context, bytes);
    return NULL;
  }
  void *made = (char *)chunk + chunk->used;
  chunk->used += bytes;
  return memset(made, 0, bytes);
}

void *gz_check_grow(graze_check *c, void *array, uint64_t count, size_t size) {
  if (count & (count - 1)) return array;
  void *larger = gz_check_alloc(c, count > 0 ? 2 * count : 1, size);
  if (larger != NULL && count > 0) memcpy(larger, array, count * size);
  return larger;
}

static char *append(graze_check *c, const char *before, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  size_t had = strlen(before);
  int added = vsnprintf(NULL, 0, format, arguments);
  char *text = gz_check_alloc(c, had + (size_t)added + 1, 1);
  if (text != NULL) {
    memcpy(text, before, had + 1);
    vsnprintf(text + had, (size_t)added + 1, format, again);
  }
  va_end(again);
  return text;
}

char *gz_check_print(graze_check *c, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = append(c, "", format, arguments);
  va_end(arguments);
  return text;
}

char *gz_check_append(graze_check *c, const char *before, const char *format, ...) {
  if (before == NULL) return NULL;
  va_list arguments;
  va_start(arguments, format);
  char *text = append(c, before, format, arguments);
  va_end(arguments);
  return text;
}

void gz_check_release(graze_check *c) {
  while (c->chunks != NULL) {
    arena_chunk *chunk = c->chunks;
    c->chunks = chunk->next;
    gz_memory_release(c->context, chunk, chunk->size);
  }
}

/* ---- texts ---- */

uint32_t *gz_check_map_add(graze_check *c, gz_text_map *map, const char *text, size_t length, uint32_t value) {
  gz_text_entry *entry = gz_text_map_add(c->context, map, text, length, value);
  if (entry == NULL) gz_fail_memory(c->context, 2 * map->capacity * sizeof *entry);
  return entry != NULL ? &entry->value : NULL;
}
