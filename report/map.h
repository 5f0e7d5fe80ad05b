/* map.h: 64-bit keys to 32-bit numbers, open addressing; private to report. */
#ifndef GRAZE_REPORT_MAP_H
#define GRAZE_REPORT_MAP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct report_map {
  uint64_t *keys;
  uint32_t *values;
  bool *used;
  uint64_t mask;
} report_map;

/* Room for `count` keys. False: out of memory. */
bool gz_report_map_open(report_map *map, uint64_t count);
void gz_report_map_close(report_map *map);

/* The place of the key's value, or NULL. */
uint32_t *gz_report_map_find(const report_map *map, uint64_t key);

/* The place of the key's value: made with `value` when the key was not there. */
uint32_t *gz_report_map_add(report_map *map, uint64_t key, uint32_t value);

static inline uint64_t report_pair_key(uint32_t a, uint32_t b) {
  return (uint64_t)a << 32 | b;
}

#endif
