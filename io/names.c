/* names.c: see names.h. Texts lie in blocks of a list. */
#include "names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 16 << 10, LONGEST_NUMBER = 12 };

typedef struct text_block {
  struct text_block *next;
  size_t used, size;
  char text[];
} text_block;

/* Room for `size` bytes. A text that fills more than a block gets one of its own. */
static char *take_room(io_names *names, size_t size) {
  text_block *block = names->texts;
  if (block == NULL || size > block->size - block->used) {
    size_t capacity = size > BLOCK_SIZE ? size : BLOCK_SIZE;
    block = gz_new(names->context, 1, sizeof *block + capacity);
    if (block == NULL) return NULL;
    *block = (text_block){.next = names->texts, .size = capacity};
    names->texts = block;
  }
  char *room = block->text + block->used;
  block->used += size;
  return room;
}

char *gz_io_names_keep(io_names *names, const char *text, size_t length) {
  char *copy = take_room(names, length + 1);
  if (copy == NULL) return NULL;
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}

/* The entry's value is the next number to try behind the name. */
static const char *enter(io_names *names, const char *name, size_t length) {
  const char *copy = gz_io_names_keep(names, name, length);
  return copy != NULL && gz_text_map_add(names->context, &names->map, copy, length, 2) != NULL ? copy : NULL;
}

const char *gz_io_names_make_unique(io_names *names, const char *name, size_t length) {
  if (length > UINT32_MAX - LONGEST_NUMBER) return NULL;
  gz_text_entry *taken = gz_text_map_find(&names->map, name, length);
  if (taken == NULL) return enter(names, name, length);
  uint32_t number = taken->value;
  char *numbered = gz_new(names->context, 1, length + LONGEST_NUMBER);
  if (numbered == NULL) return NULL;
  memcpy(numbered, name, length);
  for (;; number++) {
    size_t whole = length + (size_t)snprintf(numbered + length, LONGEST_NUMBER, "#%lu", (unsigned long)number);
    if (gz_text_map_find(&names->map, numbered, whole) != NULL) continue;
    taken->value = number + 1;
    const char *entered = enter(names, numbered, whole);
    gz_free(numbered);
    return entered;
  }
}

void gz_io_names_close(io_names *names) {
  gz_text_map_close(&names->map);
}

void gz_io_texts_free(void *texts) {
  for (text_block *block = texts; block != NULL;) {
    text_block *next = block->next;
    gz_free(block);
    block = next;
  }
}
