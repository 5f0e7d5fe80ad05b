/* Visits a pixel of a large triangle. */
flat in uvec4 edges[9];
flat in uvec4 rest[5];
flat in uvec2 slot;

visibility_edge edge_of(int first) {
  vec4 a = uintBitsToFloat(edges[first]), b = uintBitsToFloat(edges[first + 1]);
  vec3 c = uintBitsToFloat(edges[first + 2].xyz);
  return visibility_edge(a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z);
}

visibility_setup setup_of() {
  vec4 a = uintBitsToFloat(rest[0]), b = uintBitsToFloat(rest[1]), c = uintBitsToFloat(rest[2]);
  vec4 d = uintBitsToFloat(rest[3]), e = uintBitsToFloat(rest[4]);
  return visibility_setup(a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, edge_of(0), edge_of(3), edge_of(6), c.y, c.z,
                          c.w, d.x, d.y, d.z, d.w, e.x, e.y, e.z, e.w);
}

void main() {
  uvec2 p = uvec2(gl_FragCoord.xy) - slot;
  visibility_setup s = setup_of();
  if (!visibility_meets(s, p.x, p.y)) discard;
  uint pixel = edges[5].w + p.y * edges[2].w + p.x;
  uvec3 old = words_of(pixel);
  if (may_matter(s, old)) visit(visibility_depth(s, p.x, p.y), pixel, old, edges[8].w);
}
