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

static uint64_t load_word(const unsigned char *p) {
  uint64_t word;
  memcpy(&word, p, sizeof word);
  return word;
}

uint64_t gz_hash_bytes(const void *bytes, size_t size, uint64_t seed) {
  const unsigned char *p = bytes;
  uint64_t lane[4];
  for (int k = 0; k < 4; k++) lane[k] = splitmix64(seed + (uint64_t)k);
  size_t left = size;
  /* Four variables, as the compiler would keep an array in memory. */
  uint64_t a = lane[0], b = lane[1], c = lane[2], d = lane[3];
  for (; left >= 32; left -= 32, p += 32) {
    a = step(a, load_word(p));
    b = step(b, load_word(p + 8));
    c = step(c, load_word(p + 16));
    d = step(d, load_word(p + 24));
  }
  lane[0] = a;
  lane[1] = b;
  lane[2] = c;
  lane[3] = d;
  uint64_t tail[4] = {0, 0, 0, 0};
  if (left > 0) memcpy(tail, p, left);
  uint64_t result = size;
  for (int k = 0; k < 4; k++) result = splitmix64(result ^ step(lane[k], tail[k]));
  return result;
}
