/* Maps to numbers. Half full at most, so that runs stay short. */
#include "base/map.h"

#include <string.h>

#include "base/hash.h"

/* ---- keys ---- */

bool gz_map_open(const graze_context *context, gz_map *map, uint64_t count) {
  uint64_t size = 8;
  while (size < 2 * count) size *= 2;
  map->mask = size - 1;
  map->keys = gz_new(context, size, sizeof *map->keys);
  map->values = gz_new(context, size, sizeof *map->values);
  map->used = gz_new_zeroed(context, size, sizeof *map->used);
  if (map->keys != NULL && map->values != NULL && map->used != NULL) return true;
  gz_map_close(map);
  return false;
}

void gz_map_close(gz_map *map) {
  gz_free(map->keys);
  gz_free(map->values);
  gz_free(map->used);
  *map = (gz_map){0};
}

static uint64_t slot_of(const gz_map *map, uint64_t key) {
  uint64_t slot = splitmix64(key) & map->mask;
  while (map->used[slot] && map->keys[slot] != key) slot = (slot + 1) & map->mask;
  return slot;
}

uint32_t *gz_map_find(const gz_map *map, uint64_t key) {
  uint64_t slot = slot_of(map, key);
  return map->used[slot] ? &map->values[slot] : NULL;
}

uint32_t *gz_map_add(gz_map *map, uint64_t key, uint32_t value) {
  uint64_t slot = slot_of(map, key);
  if (!map->used[slot]) {
    map->used[slot] = true;
    map->keys[slot] = key;
    map->values[slot] = value;
  }
  return &map->values[slot];
}

/* ---- texts ---- */

/* The entry of the text, or the free one that is to become it. */
static gz_text_entry *place(const gz_text_map *map, const char *text, size_t length) {
  for (size_t i = gz_hash_bytes(text, length, 0);; i++) {
    gz_text_entry *e = &map->entries[i & (map->capacity - 1)];
    if (e->text == NULL || (e->length == length && memcmp(e->text, text, length) == 0)) return e;
  }
}

static bool widen(const graze_context *context, gz_text_map *map) {
  gz_text_map wider = {.count = map->count, .capacity = map->capacity > 0 ? 2 * map->capacity : 64};
  wider.entries = gz_new_zeroed(context, wider.capacity, sizeof *wider.entries);
  if (wider.entries == NULL) return false;
  for (size_t i = 0; i < map->capacity; i++) {
    const gz_text_entry *e = &map->entries[i];
    if (e->text != NULL) *place(&wider, e->text, e->length) = *e;
  }
  gz_free(map->entries);
  *map = wider;
  return true;
}

gz_text_entry *gz_text_map_add(const graze_context *context, gz_text_map *map, const char *text, size_t length,
                               uint32_t value) {
  if (2 * map->count >= map->capacity && !widen(context, map)) return NULL;
  gz_text_entry *e = place(map, text, length);
  if (e->text == NULL) {
    *e = (gz_text_entry){text, length, value};
    map->count++;
  }
  return e;
}

gz_text_entry *gz_text_map_find(const gz_text_map *map, const char *text, size_t length) {
  gz_text_entry *e = map->capacity > 0 ? place(map, text, length) : NULL;
  return e != NULL && e->text != NULL ? e : NULL;
}

void gz_text_map_close(gz_text_map *map) {
  gz_free(map->entries);
  *map = (gz_text_map){0};
}
