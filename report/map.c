/* map.c: see map.h. Half full at most, so that runs stay short. */
#include "map.h"

#include <stdlib.h>

#include "graze/base.h"

bool gz_report_map_open(report_map *map, uint64_t count) {
  uint64_t size = 8;
  while (size < 2 * count) size *= 2;
  map->mask = size - 1;
  map->keys = malloc(size * sizeof *map->keys);
  map->values = malloc(size * sizeof *map->values);
  map->used = calloc(size, sizeof *map->used);
  if (map->keys != NULL && map->values != NULL && map->used != NULL) return true;
  gz_report_map_close(map);
  return false;
}

void gz_report_map_close(report_map *map) {
  free(map->keys);
  free(map->values);
  free(map->used);
  *map = (report_map){0};
}

static uint64_t slot_of(const report_map *map, uint64_t key) {
  uint64_t slot = graze_pair_hash((uint32_t)(key >> 32), (uint32_t)key) & map->mask;
  while (map->used[slot] && map->keys[slot] != key) slot = (slot + 1) & map->mask;
  return slot;
}

uint32_t *gz_report_map_find(const report_map *map, uint64_t key) {
  uint64_t slot = slot_of(map, key);
  return map->used[slot] ? &map->values[slot] : NULL;
}

uint32_t *gz_report_map_add(report_map *map, uint64_t key, uint32_t value) {
  uint64_t slot = slot_of(map, key);
  if (!map->used[slot]) {
    map->used[slot] = true;
    map->keys[slot] = key;
    map->values[slot] = value;
  }
  return &map->values[slot];
}
