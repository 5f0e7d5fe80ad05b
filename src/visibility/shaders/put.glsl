/* Adds bounds to a pixel. Here and in the other texts of `visit`, `old` is what was there not long ago: words only grow.
 * `may_matter`: a visit may do something, whatever the depth of the triangle is there. `visit`: true when the triangle is
 * done with. */
bool may_matter(visibility_setup s, uvec3 old) {
  return old.x < ~ordered(s.lowest) || old.y < ordered(s.highest) ||
         (visibility_slices(s.lowest, s.highest) & ~old.z) != 0u;
}

bool visit(visibility_interval d, uint pixel, uvec3 old, uint place) {
  int words = int(4u * pixel);
  uint lo = ~ordered(d.lo), hi = ordered(d.hi), slices = visibility_slices(d.lo, d.hi);
  if (old.x < lo) imageAtomicMax(pixels, words, lo);
  if (old.y < hi) imageAtomicMax(pixels, words + 1, hi);
  if ((slices & ~old.z) != 0u) imageAtomicOr(pixels, words + 2, slices);
  return false;
}
