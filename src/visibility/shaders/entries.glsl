/* What is drawn. An entry is a triangle in a picture; its place is where the answer goes. */
layout(binding = 0) uniform samplerBuffer corners; /* three texels a triangle */
layout(binding = 1) uniform usamplerBuffer pictures;
layout(binding = 2) uniform usamplerBuffer entries; /* triangle, picture, place, region */
layout(location = 2) uniform float error;           /* of corners */

struct picture_fields {
  vec3 low, scale; /* to the right, up, in depth */
  uint axis, width, height;
  uint base;       /* of its pixels in the page */
  uvec2 slot;      /* where it lies in the framebuffer; several may lie in one place */
};

picture_fields picture_of(uint number) {
  uvec4 a = texelFetch(pictures, int(3u * number)), b = texelFetch(pictures, int(3u * number + 1u));
  uvec4 c = texelFetch(pictures, int(3u * number + 2u));
  return picture_fields(uintBitsToFloat(a.xyz), uintBitsToFloat(b.xyz), a.w, b.w, c.x, c.y, c.zw);
}

/* A corner by the axes of the picture: to the right, up, in depth. */
vec3 corner_of(uint triangle, uint corner, uint axis) {
  vec3 p = texelFetch(corners, int(3u * triangle + corner)).xyz;
  return axis == 0u ? p.yzx : axis == 1u ? p.zxy : p;
}

visibility_setup setup_of(uint triangle, picture_fields picture) {
  vec3 a = corner_of(triangle, 0u, picture.axis), b = corner_of(triangle, 1u, picture.axis);
  vec3 c = corner_of(triangle, 2u, picture.axis);
  vec3 low = picture.low, scale = picture.scale;
  return visibility_set_up(a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z, low.x, low.y, low.z, scale.x, scale.y, scale.z,
                           error, 1.0);
}
