/* Hashes: splitmix64 for result sets and numbers, a fast 64-bit hash over bytes for blocks and geometry. */
#ifndef GRAZE_SRC_BASE_HASH_H
#define GRAZE_SRC_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t splitmix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

static inline uint64_t hash_pair(uint32_t first, uint32_t second) {
  return splitmix64(((uint64_t)first << 32) | second);
}

/* Chained on: -0 is 0. */
static inline uint64_t hash_doubles(uint64_t hash, const double *numbers, int count) {
  for (int i = 0; i < count; i++) {
    const double x = numbers[i] == 0 ? 0 : numbers[i];
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    hash = splitmix64(hash ^ bits);
  }
  return hash;
}

/* Any change of one byte changes it; not cryptographic. Chain by passing the last value as seed. */
uint64_t gz_hash_bytes(const void *bytes, size_t size, uint64_t seed);

#endif
