/* Radix sort: stable, linear, and independent of the order in which threads delivered the keys. */
#include "base/sort.h"

#include <string.h>

static void sort_short(uint64_t *keys, size_t count) {
  for (size_t i = 1; i < count; i++) {
    uint64_t key = keys[i];
    size_t j = i;
    for (; j > 0 && keys[j - 1] > key; j--) keys[j] = keys[j - 1];
    keys[j] = key;
  }
}

void gz_sort_keys(uint64_t *keys, uint64_t *scratch, size_t count) {
  if (count < 48) {
    sort_short(keys, count);
    return;
  }
  size_t histogram[8][256];
  memset(histogram, 0, sizeof histogram);
  for (size_t i = 0; i < count; i++) {
    for (int d = 0; d < 8; d++) histogram[d][(keys[i] >> (8 * d)) & 255]++;
  }
  uint64_t *from = keys;
  uint64_t *to = scratch;
  for (int d = 0; d < 8; d++) {
    size_t *h = histogram[d];
    if (h[(from[0] >> (8 * d)) & 255] == count) continue;
    size_t offset = 0;
    for (int v = 0; v < 256; v++) {
      size_t n = h[v];
      h[v] = offset;
      offset += n;
    }
    for (size_t i = 0; i < count; i++) to[h[(from[i] >> (8 * d)) & 255]++] = from[i];
    uint64_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != keys) memcpy(keys, from, count * sizeof *keys);
}
