/* Marks the place of a triangle that overlaps what is there. */
layout(std430, binding = 0) writeonly buffer Flags { uint flags[]; };

bool overlaps(float lo, float hi, uvec3 old) {
  return ~old.x <= ordered(hi) && ordered(lo) <= old.y && (visibility_slices(lo, hi) & old.z) != 0u;
}

bool may_matter(visibility_setup s, uvec3 old) {
  return overlaps(s.lowest, s.highest, old);
}

bool visit(visibility_interval d, uint pixel, uvec3 old, uint place) {
  bool marked = overlaps(d.lo, d.hi, old);
  if (marked) flags[place] = 1u;
  return marked;
}
