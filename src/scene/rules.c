/* Which pairs no rule ignores. */
#include "scene/rules.h"

#include "base/sort.h"

bool gz_pair_set_add(const graze_context *context, pair_set *set, uint64_t key) {
  size_t bytes = set->count * sizeof key;
  if (!gz_buffer_reserve(context, &set->keys, bytes + sizeof key, bytes)) return false;
  ((uint64_t *)set->keys.data)[set->count++] = key;
  return true;
}

bool gz_pair_set_finish(const graze_context *context, pair_set *set, uint32_t limit) {
  set->limit = limit;
  if (set->count == 0) return true;
  if (!gz_buffer_reserve(context, &set->scratch, set->count * sizeof(uint64_t), 0)) return false;
  if (!gz_buffer_reserve(context, &set->starts, (limit + (size_t)1) * sizeof(uint64_t), 0)) return false;
  uint64_t *keys = set->keys.data, *starts = set->starts.data, count = 0;
  gz_sort_keys(keys, set->scratch.data, set->count);
  for (uint64_t i = 0; i < set->count; i++) {
    if (count == 0 || keys[i] != keys[count - 1]) keys[count++] = keys[i];
  }
  set->count = count;
  uint64_t next = 0;
  for (uint64_t low = 0; low <= limit; low++) {
    while (next < count && keys[next] >> 32 < low) next++;
    starts[low] = next;
  }
  return true;
}

bool gz_pair_set_has(const pair_set *set, uint32_t x, uint32_t y) {
  uint64_t key = pair_key(x, y);
  const uint64_t *keys = set->keys.data, *starts = set->starts.data;
  uint64_t begin = starts[key >> 32], end = starts[(key >> 32) + 1];
  while (begin < end) {
    uint64_t middle = begin + (end - begin) / 2;
    if (keys[middle] < key) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin < set->count && keys[begin] == key;
}

void gz_pair_set_release(const graze_context *context, pair_set *set) {
  gz_buffer_release(context, &set->keys);
  gz_buffer_release(context, &set->scratch);
  gz_buffer_release(context, &set->starts);
}
