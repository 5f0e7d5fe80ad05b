/* What a pair adds to a hash: splitmix64 of both numbers. */
FUNCTION u64 hash_of_pair(u32 first, u32 second) {
  u64 x = ((u64)first << 32 | second) + 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}
