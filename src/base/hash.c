/* A block hash in four independent lanes of multiply and rotate (so that the multiplications overlap), each word
 * mixed by steps that can be undone: two inputs that differ in one word never collide. */
#include "base/hash.h"

#include <string.h>

#include "graze/base.h"

uint64_t graze_pair_hash(uint32_t first, uint32_t second) {
  return hash_pair(first, second);
}

static uint64_t step(uint64_t state, uint64_t word) {
  state = (state ^ word) * 0x9FB21C651E98DF25u;
  return (state << 29) | (state >> 35);
}

uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed) {
  const unsigned char *p = bytes;
  uint64_t lane[4];
  for (int k = 0; k < 4; k++) lane[k] = splitmix64(seed + (uint64_t)k);
  size_t left = size;
  for (; left >= 32; left -= 32, p += 32) {
    uint64_t word[4];
    memcpy(word, p, 32);
    for (int k = 0; k < 4; k++) lane[k] = step(lane[k], word[k]);
  }
  uint64_t tail[4] = {0, 0, 0, 0};
  memcpy(tail, p, left);
  uint64_t result = size;
  for (int k = 0; k < 4; k++) result = splitmix64(result ^ step(lane[k], tail[k]));
  return result;
}
