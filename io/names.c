/* names.c: see names.h. Texts lie in blocks of a list; the table of names is open addressing over FNV-1a hashes. */
#include "names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 16 << 10, LONGEST_NUMBER = 12, FIRST_CAPACITY = 64 };

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

static uint64_t hash_text(const char *text, size_t length) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 0x100000001B3u;
  return hash ^ hash >> 32;
}

/* The entry of the name, or the free one where it belongs. */
static io_names_entry *find(const io_names *names, const char *name, size_t length) {
  for (size_t i = hash_text(name, length);; i++) {
    io_names_entry *entry = &names->entries[i & (names->capacity - 1)];
    if (entry->name == NULL || (entry->length == length && memcmp(entry->name, name, length) == 0)) return entry;
  }
}

/* Keeps a quarter of the table free. */
static bool make_room(io_names *names) {
  if (names->entry_count < names->capacity / 4 * 3) return true;
  size_t capacity = names->capacity > 0 ? 2 * names->capacity : FIRST_CAPACITY;
  io_names larger = {.context = names->context,
                     .capacity = capacity,
                     .entries = gz_new_zeroed(names->context, capacity, sizeof larger.entries[0])};
  if (larger.entries == NULL) return false;
  for (size_t i = 0; i < names->capacity; i++) {
    const io_names_entry *entry = &names->entries[i];
    if (entry->name != NULL) *find(&larger, entry->name, entry->length) = *entry;
  }
  gz_free(names->entries);
  names->entries = larger.entries;
  names->capacity = capacity;
  return true;
}

static const char *enter(io_names *names, const char *name, size_t length) {
  if (!make_room(names)) return NULL;
  const char *copy = gz_io_names_keep(names, name, length);
  if (copy == NULL) return NULL;
  *find(names, name, length) = (io_names_entry){copy, (uint32_t)length, 2};
  names->entry_count++;
  return copy;
}

const char *gz_io_names_make_unique(io_names *names, const char *name, size_t length) {
  if (length > UINT32_MAX - LONGEST_NUMBER || !make_room(names)) return NULL;
  io_names_entry *taken = find(names, name, length);
  if (taken->name == NULL) return enter(names, name, length);
  uint32_t number = taken->number;
  char *numbered = gz_new(names->context, 1, length + LONGEST_NUMBER);
  if (numbered == NULL) return NULL;
  memcpy(numbered, name, length);
  for (;; number++) {
    size_t whole = length + (size_t)snprintf(numbered + length, LONGEST_NUMBER, "#%lu", (unsigned long)number);
    if (find(names, numbered, whole)->name != NULL) continue;
    taken->number = number + 1;
    const char *entered = enter(names, numbered, whole);
    gz_free(numbered);
    return entered;
  }
}

void gz_io_names_close(io_names *names) {
  gz_free(names->entries);
  names->entries = NULL;
  names->entry_count = names->capacity = 0;
}

void gz_io_texts_free(void *texts) {
  for (text_block *block = texts; block != NULL;) {
    text_block *next = block->next;
    gz_free(block);
    block = next;
  }
}
