/* A triangle's rectangle of whole pixels: two triangles. What its pixels need is computed here, and packed: fifteen
 * vectors are what every driver passes on. */
layout(binding = 3) uniform usamplerBuffer order; /* which entries are drawn */
layout(location = 1) uniform float side;          /* of the framebuffer */
flat out uvec4 edges[9]; /* of each edge eleven numbers, and one more word: width, base, place */
flat out uvec4 rest[5];
flat out uvec2 slot;

void pack_edge(int first, visibility_edge e, uint word) {
  edges[first] = floatBitsToUint(vec4(e.a, e.b, e.c, e.low));
  edges[first + 1] = floatBitsToUint(vec4(e.high, e.up_low, e.up_high, e.down_low));
  edges[first + 2] = uvec4(floatBitsToUint(vec3(e.down_high, e.per_x, e.per_y)), word);
}

void main() {
  uvec4 entry = texelFetch(entries, int(texelFetch(order, gl_VertexID / 6).x));
  picture_fields picture = picture_of(entry.y);
  visibility_setup s = setup_of(entry.x, picture);
  pack_edge(0, s.ab, picture.width);
  pack_edge(3, s.ac, picture.base);
  pack_edge(6, s.bc, entry.z);
  rest[0] = floatBitsToUint(vec4(s.left, s.right, s.bottom, s.top));
  rest[1] = floatBitsToUint(vec4(s.ax, s.ay, s.az, s.bz));
  rest[2] = floatBitsToUint(vec4(s.cz, s.cut_x, s.cut_y, s.slope_x));
  rest[3] = floatBitsToUint(vec4(s.slope_y, s.above, s.below, s.lowest));
  rest[4] = floatBitsToUint(vec4(s.highest, s.edge_slack, s.slack, s.steady));
  slot = picture.slot;
  visibility_rectangle r = visibility_pixels(s, picture.width, picture.height);
  int corner = gl_VertexID % 6;
  uvec2 p = uvec2(corner == 0 || corner == 2 || corner == 3 ? r.left : r.right,
                  corner == 0 || corner == 1 || corner == 4 ? r.bottom : r.top);
  gl_Position = vec4(vec2(slot + p) * (2.0 / side) - 1.0, 0.0, 1.0);
}
