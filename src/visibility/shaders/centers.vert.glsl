/* Triangles as they are, for depth at the centers of pixels. The buffer has room for shares of depth from -3/2 to
 * 5/2, and what lies farther is taken to be there. */
invariant gl_Position;
flat out uint place;

void main() {
  uvec4 entry = texelFetch(entries, gl_VertexID / 3);
  picture_fields picture = picture_of(entry.y);
  vec3 p = (corner_of(entry.x, uint(gl_VertexID % 3), picture.axis) - picture.low) * picture.scale;
  place = entry.z;
  gl_Position = vec4(p.xy * 2.0 / vec2(picture.width, picture.height) - 1.0, 0.25 * p.z + 0.375, 1.0);
}
