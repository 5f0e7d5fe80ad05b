/* Marks the place of a triangle that is not strictly before what is there. */
layout(std430, binding = 0) writeonly buffer Flags { uint flags[]; };

bool may_matter(visibility_setup s, uvec3 old) {
  return ~old.x <= ordered(s.highest);
}

bool visit(visibility_interval d, uint pixel, uvec3 old, uint place) {
  bool marked = ~old.x <= ordered(d.hi);
  if (marked) flags[place] = 1u;
  return marked;
}
