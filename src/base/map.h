/* Maps to 32-bit numbers: of 64-bit keys, and of texts. Open addressing. */
#ifndef GRAZE_SRC_BASE_MAP_H
#define GRAZE_SRC_BASE_MAP_H

#include "base/owned.h"

/* ---- keys; a fixed number of them ---- */

typedef struct gz_map {
  uint64_t *keys;
  uint32_t *values;
  bool *used;
  uint64_t mask;
} gz_map;

/* Room for `count` keys. False: out of memory. */
bool gz_map_open(const graze_context *context, gz_map *map, uint64_t count);
void gz_map_close(gz_map *map);

/* The place of the key's value, or NULL. */
uint32_t *gz_map_find(const gz_map *map, uint64_t key);

/* The place of the key's value: made with `value` when the key was not there. */
uint32_t *gz_map_add(gz_map *map, uint64_t key, uint32_t value);

static inline uint64_t map_pair_key(uint32_t a, uint32_t b) {
  return (uint64_t)a << 32 | b;
}

/* ---- texts; any number of them ---- */

typedef struct gz_text_entry {
  const char *text; /* of `length` bytes; NULL: free */
  size_t length;
  uint32_t value;
} gz_text_entry;

typedef struct gz_text_map { /* all zero: empty */
  gz_text_entry *entries;
  size_t count, capacity;
} gz_text_map;

/* The entry of the text, valid until the next one is added: made with `value` when the text was not there. It keeps the
 * address: the text must stay, or get another address in the entry. NULL: out of memory. */
gz_text_entry *gz_text_map_add(const graze_context *context, gz_text_map *map, const char *text, size_t length,
                               uint32_t value);

/* NULL: it is not there. */
gz_text_entry *gz_text_map_find(const gz_text_map *map, const char *text, size_t length);
void gz_text_map_close(gz_text_map *map);

#endif
