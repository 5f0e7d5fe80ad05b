/* Marks the places of triangles that have a pixel which passes the depth test. */
layout(early_fragment_tests) in;
layout(std430, binding = 0) writeonly buffer Flags { uint flags[]; };
flat in uint place;

void main() {
  flags[place] = 1u;
}
